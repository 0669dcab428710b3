"""Decisions from arrays: every rule against a loop over all rows and all answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from deciban import decision


@st.composite
def posteriors(draw) -> np.ndarray:
    """(n, k), with certainties and ties among them."""
    k = draw(st.integers(1, 5))
    parts = st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 7]), min_size=k, max_size=k).filter(any)
    rows = np.array(draw(st.lists(parts, min_size=1, max_size=6)), dtype=np.float64)
    return rows / rows.sum(axis=1, keepdims=True)


def squares(k: int) -> st.SearchStrategy:
    cell = st.sampled_from([0.0, 0.5, 1.0, 2.0, 10.0])
    return st.lists(st.lists(cell, min_size=k, max_size=k), min_size=k, max_size=k).map(np.array)


def cost_of(answer: int, p: np.ndarray, costs: np.ndarray, reject: float) -> float:
    if answer == decision.REJECT:
        return reject
    return sum(p[true] * costs[true, answer] for true in range(len(p)))


def test_likelihood_ratio_of_the_lecture():
    loglik = np.log([[3.5e-5, 7.4e-6]])
    assert np.exp(decision.log_likelihood_ratio(loglik, 0, 1))[0] == pytest.approx(4.73, abs=5e-3)
    assert decision.likelihood_ratio_test(loglik, 0, 1).tolist() == [True]
    assert decision.likelihood_ratio_test(loglik, 0, 1, threshold=4.72).tolist() == [True]
    assert decision.likelihood_ratio_test(loglik, 0, 1, threshold=4.74).tolist() == [False]
    assert decision.maximum_likelihood(loglik).tolist() == [0]


def test_posterior_odds_are_prior_odds_times_the_likelihood_ratio():
    rng = np.random.default_rng(0)
    loglik, log_prior = rng.normal(size=(20, 3)), np.log([0.2, 0.5, 0.3])
    ratio = np.exp(decision.log_likelihood_ratio(loglik, 2, 0))
    odds = np.exp(decision.log_odds(loglik + log_prior, against=0)[:, 2])
    np.testing.assert_allclose(odds, 0.3 / 0.2 * ratio, rtol=1e-12)


def test_map_is_maximum_likelihood_where_priors_are_even():
    loglik = np.random.default_rng(1).normal(size=(50, 4))
    best = decision.maximum_posterior(loglik, np.log(np.full(4, 0.25)))
    np.testing.assert_array_equal(best, decision.maximum_likelihood(loglik))
    certain = decision.maximum_posterior(loglik, np.log([1e-9, 1 - 3e-9, 1e-9, 1e-9]))
    assert certain.tolist() == [1] * 50


def test_ratios_of_what_cannot_be():
    loglik = np.array([[0.0, -np.inf], [-np.inf, 0.0], [-np.inf, -np.inf]])
    assert decision.log_likelihood_ratio(loglik, 0, 1).tolist() == [np.inf, -np.inf, 0.0]
    assert decision.likelihood_ratio_test(loglik, 0, 1, threshold=0.0).tolist() == [True, True, True]


@given(st.data())
def test_no_answer_costs_less_than_the_one_chosen(data):
    proba = data.draw(posteriors())
    costs = data.draw(squares(proba.shape[1]))
    reject = data.draw(st.sampled_from([0.0, 0.1, 0.3, 1.0, np.inf]))
    decided = decision.least_cost(proba, costs, reject)
    answers = range(-1, proba.shape[1])
    for p, answer in zip(proba, decided, strict=True):
        least = min(cost_of(other, p, costs, reject) for other in answers)
        assert cost_of(answer, p, costs, reject) <= least + 1e-12


@given(posteriors(), st.sampled_from([0.05, 0.125, 0.3, 0.45, 0.6]))
def test_chows_rule_rejects_where_the_best_guess_is_wrong_too_often(proba, reject):
    decided = decision.least_cost(proba, decision.zero_one(proba.shape[1]), reject)
    for p, answer in zip(proba, decided, strict=True):
        wrong = 1 - p.max()
        if abs(wrong - reject) > 1e-12:
            assert (answer == decision.REJECT) == (wrong > reject)
        if answer != decision.REJECT:
            assert p[answer] == pytest.approx(p.max())


def test_a_guess_as_dear_as_abstaining_is_made():
    assert decision.least_cost(np.array([[0.75, 0.25]]), decision.zero_one(2), reject=0.25).tolist() == [0]


@given(st.data())
def test_thresholds_reject_exactly_the_answers_under_them(data):
    proba = data.draw(posteriors())
    k = proba.shape[1]
    least = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=k, max_size=k)))
    first = decision.least_cost(proba, decision.zero_one(k), data.draw(st.sampled_from([0.4, np.inf])))
    for p, before, after in zip(proba, first, decision.over_threshold(first, proba, least), strict=True):
        keeps = before != decision.REJECT and p[before] >= least[before]
        assert after == (before if keeps else decision.REJECT)


def test_adapted_priors_are_those_of_highest_likelihood():
    rng = np.random.default_rng(2)
    loglik = rng.normal(size=(200, 3)) * 2 + np.array([1.0, 0.0, -0.5])
    priors, steps, rest = decision.adapted_priors(loglik, np.full(3, 1 / 3), 1e-10, 100_000)

    def minus(free):
        log_prior = np.append(free, 0.0) - np.logaddexp.reduce(np.append(free, 0.0))
        return -np.logaddexp.reduce(loglik + log_prior, axis=1).sum()

    best = np.append(minimize(minus, np.zeros(2), tol=1e-12, method="Nelder-Mead").x, 0.0)
    np.testing.assert_allclose(priors, np.exp(best) / np.exp(best).sum(), atol=1e-6)
    assert rest
    assert steps > 1


@given(st.integers(0, 2**16), st.integers(1, 5))
def test_adapted_priors_are_the_mean_posterior_under_themselves(seed, k):
    rng = np.random.default_rng(seed)
    loglik = 3 * rng.normal(size=(40, k))
    priors, _, rest = decision.adapted_priors(loglik, rng.dirichlet(np.ones(k)), 1e-9, 100_000)
    posterior = np.exp(loglik) * priors
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior.mean(axis=0), priors, atol=1e-8)
    assert rest
    assert priors.sum() == pytest.approx(1)


def test_a_prior_of_zero_stays_and_rows_it_alone_explains_count_for_nothing():
    loglik = np.array([[0.0, 0.0, -np.inf], [0.0, -1.0, 0.0], [-np.inf, -np.inf, 0.0], [-np.inf] * 3])
    priors, _, _ = decision.adapted_priors(loglik, np.array([0.5, 0.5, 0.0]), 1e-9, 100_000)
    fewer, _, _ = decision.adapted_priors(loglik[:2, :2], np.array([0.5, 0.5]), 1e-9, 100_000)
    np.testing.assert_allclose(priors, [*fewer, 0.0])


def test_rows_that_say_nothing_leave_the_priors_as_they_were():
    prior = np.array([0.3, 0.7])
    for loglik in (np.full((5, 2), -np.inf), np.zeros((5, 2))):
        np.testing.assert_allclose(decision.adapted_priors(loglik, prior, 1e-9, 100)[0], prior)


def test_em_says_when_it_was_cut_short():
    loglik = np.random.default_rng(0).normal(size=(50, 2))
    _, steps, rest = decision.adapted_priors(loglik, np.array([0.5, 0.5]), 1e-12, 2)
    assert (steps, rest) == (2, False)
