"""Calibration finds the temperature and the biases that scores lack, and makes naive Bayes honest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from deciban import BernoulliNB, GaussianNB, LinearDiscriminantAnalysis, MixedNB, MultinomialNB, metrics
from deciban.decision import log_prior
from deciban.models.calibration import FEW, PENALTY, Calibration

from .support.models import CLASSES, each, rows_for

EVEN = np.log(np.full(3, 1 / 3))
CALIBRATED = [model(calibrate=True) for model in CLASSES if "calibrate" in model().get_params()]


def honest(n: int = 20_000, k: int = 3, seed: int = 0, prior: np.ndarray = EVEN) -> tuple[np.ndarray, np.ndarray]:
    """(log likelihoods up to a constant, labels drawn from their posterior)."""
    rng = np.random.default_rng(seed)
    loglik = rng.normal(size=(n, k)) * 1.5
    joint = loglik + prior
    p = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    return loglik, (rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(0, k - 1)


def log_loss(calibration: Calibration, loglik, prior, y) -> float:
    joint = calibration.apply(loglik.copy()) + prior
    return -float((joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))[np.arange(len(y)), y].mean())


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0, 20.0])
def test_known_temperature_is_recovered(factor):
    loglik, y = honest()
    found = Calibration.fit(loglik * factor, EVEN, y)
    assert found.temperature == pytest.approx(1 / factor, rel=0.05)
    np.testing.assert_allclose(found.bias - found.bias.mean(), 0.0, atol=0.06)


def test_known_biases_are_recovered():
    loglik, y = honest()
    found = Calibration.fit(2.0 * loglik - [1.0, 0.0, -2.0], EVEN, y)
    assert found.temperature == pytest.approx(0.5, rel=0.05)
    want = 0.5 * np.array([1.0, 0.0, -2.0])
    np.testing.assert_allclose(found.bias - found.bias.mean(), want - want.mean(), atol=0.08)


def test_honest_scores_stay_as_they_are():
    prior = np.log([0.7, 0.2, 0.1])
    loglik, y = honest(prior=prior)
    found = Calibration.fit(loglik, prior, y)
    assert found.temperature == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(found.bias, 0.0, atol=0.08)


@pytest.mark.parametrize("weighed", [False, True])
def test_fit_is_the_least_of_the_penalised_log_loss(weighed):
    loglik, y = honest(300, seed=3)
    loglik, prior = 4 * loglik, np.log([0.5, 0.3, 0.2])
    w = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 300) if weighed else None
    weight = np.ones(300) if w is None else w

    def loss(theta: np.ndarray) -> float:
        joint = theta[0] * loglik + theta[1:] + prior
        own = joint[np.arange(300), y] - np.logaddexp.reduce(joint, axis=1)
        pull = PENALTY + (FEW / weight.sum()) ** 2
        return -float(weight @ own) + 0.5 * pull * float((theta[0] - 1) ** 2 + theta[1:] @ theta[1:])

    found = Calibration.fit(loglik, prior, y, w)
    best = minimize(
        loss, np.r_[1.0, 0, 0, 0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 9999}
    )
    assert loss(np.r_[found.temperature, found.bias]) <= best.fun + 1e-6
    np.testing.assert_allclose(np.r_[found.temperature, found.bias], best.x, atol=1e-3)


def test_weight_is_repetition():
    loglik, y = honest(400)
    times = np.random.default_rng(1).integers(0, 4, 400)
    weighed = Calibration.fit(3 * loglik, EVEN, y, times.astype(float))
    again = Calibration.fit(3 * np.repeat(loglik, times, axis=0), EVEN, np.repeat(y, times))
    assert weighed.temperature == pytest.approx(again.temperature, rel=1e-6)
    np.testing.assert_allclose(weighed.bias, again.bias, atol=1e-6)


def test_prior_may_differ_from_row_to_row():
    loglik, y = honest(500)
    prior = np.tile(np.log([0.5, 0.3, 0.2]), (500, 1))
    a, b = Calibration.fit(loglik, prior, y), Calibration.fit(loglik, prior[0], y)
    assert a.temperature == b.temperature


@pytest.mark.parametrize(
    "scores",
    [
        np.array([[0.0, -np.inf]] * 5 + [[-np.inf, 0.0]] * 5),
        np.array([[-np.inf, -np.inf]] * 10),
        np.array([[0.0, -1e300]] * 5 + [[-1e300, 0.0]] * 5),
        np.array([[-1e9, -1e9 - 1]] * 10),
        np.zeros((10, 2)),
    ],
    ids=["sure", "impossible", "huge", "far from zero", "flat"],
)
def test_scores_past_all_numbers_have_a_calibration(scores):
    for y in (np.arange(10) % 2, np.repeat([0, 1], 5), np.repeat([1, 0], 5)):
        found = Calibration.fit(scores, np.log([0.5, 0.5]), y)
        assert np.isfinite(found.temperature)
        assert found.temperature > 0
        assert np.isfinite(found.bias).all()


def test_one_class_needs_no_calibration():
    found = Calibration.fit(np.zeros((4, 1)), np.zeros(1), np.zeros(4, dtype=int))
    assert (found.temperature, found.bias.tolist()) == (1.0, [0.0])


def test_class_without_rows_has_a_finite_bias():
    loglik, _ = honest(100)
    found = Calibration.fit(loglik, EVEN, np.zeros(100, dtype=int))
    assert np.isfinite(found.bias).all()


# classifiers


@pytest.mark.parametrize("seed", range(5))
def test_naive_bayes_becomes_honest_on_breast_cancer(seed):
    x, y = load_breast_cancer(return_X_y=True)
    x, x_new, y, y_new = train_test_split(x, y, test_size=0.4, random_state=seed)
    losses = []
    for calibrate in (False, True):
        proba = GaussianNB(calibrate=calibrate).fit(x, y).predict_proba(x_new)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        losses.append(
            (metrics.log_loss(y_new, np.log(proba + 1e-300)), metrics.expected_calibration_error(y_new, proba))
        )
    assert losses[1][0] < 0.5 * losses[0][0]
    assert losses[1][1] < losses[0][1]


@each(CALIBRATED)
def test_probabilities_sum_to_one_and_temperature_is_that_of_held_out_rows(model):
    x, y = rows_for(model, n=120)
    fitted = clone(model).fit(x, y)
    np.testing.assert_allclose(fitted.predict_proba(x).sum(axis=1), 1.0)
    plain = clone(model).set_params(calibrate=False).fit(x, y)
    found = fitted._state.calibration
    left = fitted.leave_one_out(x, y)
    codes = np.searchsorted(fitted.classes_, y)
    own = left[np.arange(len(y)), codes].mean()
    assert own >= plain.leave_one_out(x, y)[np.arange(len(y)), codes].mean() - 1e-9  # nothing is lost on held-out rows
    assert found.temperature > 0


@each([m for m in CALIBRATED if type(m).__name__ != "ComplementNB"])
def test_priors_still_replace_the_prior(model):
    x, y = rows_for(model, n=120)
    fitted = clone(model).fit(x, y)
    base, other = np.full(3, 1 / 3), np.array([0.7, 0.2, 0.1])
    shift = np.log(other) - np.log(base)
    odds = [fitted.log_odds(x, against="a", priors=p)[:, 1] for p in (base, other)]
    np.testing.assert_allclose(odds[1] - odds[0], shift[1] - shift[0], rtol=1e-7, atol=1e-9)
    learned = fitted.predict_proba(x, priors=np.exp(log_prior(np.unique(y, return_counts=True)[1].astype(float))))
    np.testing.assert_allclose(learned, fitted.predict_proba(x), rtol=1e-7, atol=1e-9)


@each(CALIBRATED)
def test_explanations_of_calibrated_models_sum_to_their_log_odds(model):
    x, y = rows_for(model, n=120)
    fitted = clone(model).fit(x, y)
    why = fitted.explain(x[:9]).of("a").against("b")
    np.testing.assert_allclose(
        why.prior + why.decibans.sum(axis=1), fitted.decibans(x[:9], against="b")[:, 0], rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize(
    "model", [GaussianNB(calibrate=True), MultinomialNB(calibrate=True), BernoulliNB(calibrate=True)]
)
def test_weights_count_like_repetitions_in_calibration(model):
    """Rows of one weight: leaving a row out of many of its kind is leaving one of them out."""
    x, y = rows_for(model, n=60)
    weighed = clone(model).fit(x, y, sample_weight=np.full(60, 1.0))
    plain = clone(model).fit(x, y)
    np.testing.assert_allclose(weighed.predict_proba(x), plain.predict_proba(x), rtol=1e-8)
    heavy = clone(model).fit(x, y, sample_weight=np.where(np.arange(60) < 30, 1e-9, 1.0))
    rest = clone(model).fit(x[30:], y[30:])
    if isinstance(model, MultinomialNB | BernoulliNB):  # smoothing of GaussianNB refers to all rows, unweighted
        np.testing.assert_allclose(heavy.predict_proba(x), rest.predict_proba(x), rtol=1e-4, atol=1e-6)


def test_biases_help_where_one_class_is_scored_unfairly():
    """The rare class is a spike with outliers, which no bell fits: no temperature mends that."""
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.1).astype(int)
    spike = np.where(rng.random((6000, 1)) < 0.8, 0.2, 3.0) * rng.normal(size=(6000, 4)) + 1.5
    x = np.where(y[:, None] == 1, spike, rng.normal(size=(6000, 4)))
    old, new = slice(0, 3000), slice(3000, 6000)
    model, plain = GaussianNB(calibrate=True).fit(x[old], y[old]), GaussianNB().fit(x[old], y[old])
    found = model._state.calibration
    assert np.ptp(found.bias) > 0.5
    loglik, prior = plain.predict_log_proba(x[new], priors=[0.5, 0.5]), np.log(plain.class_prior_)
    alone = min(
        log_loss(Calibration(t, np.zeros(2)), loglik, prior, y[new]) for t in np.geomspace(0.02, 2, 200)
    )  # the best temperature for the new rows themselves
    assert log_loss(found, loglik, prior, y[new]) < alone - 0.002
    share = model.predict_proba(x[new])[:, 1].mean()
    assert share == pytest.approx(y[new].mean(), abs=0.02)  # the rare class is as rare as it is


def test_models_that_are_right_are_left_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    x = rng.normal(size=(3000, 3)) + y[:, None]
    for model in (GaussianNB(calibrate=True), LinearDiscriminantAnalysis(calibrate=True), MixedNB(calibrate=True)):
        found = model.fit(x, y)._state.calibration
        assert found.temperature == pytest.approx(1.0, abs=0.15)


def test_calibrating_by_some_of_very_many_rows_is_almost_calibrating_by_all():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    x = np.repeat(rng.normal(size=(6000, 1)) + y[:, None], 5, axis=1) + 0.2 * rng.normal(size=(6000, 5))
    whole = GaussianNB(calibrate=True).fit(x, y)._state.calibration
    some = GaussianNB(calibrate=True, keep_rows=1500).fit(x, y)._state.calibration
    assert some.temperature == pytest.approx(whole.temperature, rel=0.2)  # a quarter of the rows, at random
    assert some.temperature != whole.temperature


def test_few_rows_do_not_take_a_model_for_worthless():
    scores = np.log(np.tile([[0.9, 0.1], [0.1, 0.9]], (7, 1)))
    y = np.tile([0, 1, 1, 0], 4)[:14]  # right in half of the rows
    assert 0.5 < Calibration.fit(scores, np.log([0.5, 0.5]), y).temperature < 1.0
    many = Calibration.fit(np.tile(scores, (100, 1)), np.log([0.5, 0.5]), np.tile(y, 100))
    assert many.temperature < 0.2
