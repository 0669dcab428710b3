"""decide, likelihood_ratio and adapt_priors on every classifier: laws, and the ways users may write them."""

import numpy as np
import pytest

from deciban import (
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from deciban.classifiers.base import AdaptedPriors
from deciban.errors import DataError

from .support.models import MODELS, each, every_model, fitted, rows_for

CLASSES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def three():
    """(model, X): three classes that overlap, so that posteriors are anything."""
    x, y = rows_for(GaussianNB(), n=300)
    return fitted(GaussianNB(), x, y), x


# laws over all classifiers


@every_model
def test_nothing_to_weigh_is_predict(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    decided = model.decide(x)
    np.testing.assert_array_equal(decided, model.predict(x))
    assert decided.dtype == model.classes_.dtype
    np.testing.assert_array_equal(model.decide(x, priors=[0.8, 0.1, 0.1]), model.predict(x, priors=[0.8, 0.1, 0.1]))


@every_model
def test_decisions_are_the_cheapest_of_all_answers(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    costs, reject = np.array([[0, 1, 4.0], [2, 0.5, 1], [1, 1, 0]]), 0.6
    for p, answer in zip(model.predict_proba(x), model.decide(x, costs, reject=reject), strict=True):
        each = [sum(p[t] * costs[t, c] for t in range(3)) for c in range(3)]
        paid = reject if answer is None else each[CLASSES.index(answer)]
        assert paid <= min([*each, reject]) + 1e-9


@every_model
def test_posterior_odds_are_prior_odds_times_the_likelihood_ratio(model):
    x, y = rows_for(model)
    model, priors = fitted(model, x, y), np.array([0.5, 0.2, 0.3])
    ratio = model.likelihood_ratio(x, "a", "b", log=True)
    odds = np.diff(model.predict_log_proba(x, priors=priors)[:, [1, 0]])[:, 0]
    np.testing.assert_allclose(odds, np.log(0.5 / 0.2) + ratio, rtol=1e-9, atol=1e-9)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(model.likelihood_ratio(x, "a", "b"), np.exp(ratio), rtol=1e-12)


@every_model
def test_adapted_priors_are_the_mean_of_their_own_posterior(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    adapted = model.adapt_priors(x[y != "c"], tol=1e-9, max_iter=100_000)
    np.testing.assert_allclose(adapted.posterior(x[y != "c"]).mean(axis=0), adapted.priors, atol=1e-6)
    assert adapted.priors.sum() == pytest.approx(1)
    assert (adapted.why, adapted.classes.tolist()) == ("converged", CLASSES)


@each([model for model in MODELS if not isinstance(model, QuadraticDiscriminantAnalysis | FisherDiscriminant)])
def test_one_class_has_one_answer(model):
    x, _ = rows_for(model)
    model = fitted(model, x, np.zeros(len(x), dtype=int))
    assert model.decide(x, reject=0.5, rejected=-1).tolist() == [0] * len(x)
    assert model.adapt_priors(x).priors.tolist() == [1.0]


# ways to write them


def test_costs_may_be_named(three):
    model, x = three
    matrix = np.array([[0, 1, 7.0], [1, 0, 1], [3, 1, 0]])
    expected = model.decide(x, matrix)
    assert (expected != model.predict(x)).any()
    for costs in ({("a", "c"): 7, ("c", "a"): 3}, {"a": {"c": 7}, "c": {"a": 3}}, matrix.tolist()):
        np.testing.assert_array_equal(model.decide(x, costs), expected)


def test_thresholds_may_be_one_or_each_or_named(three):
    model, x = three
    proba, best = model.predict_proba(x), model.predict(x)
    top = proba.max(axis=1)
    one = model.decide(x, thresholds=0.7)
    np.testing.assert_array_equal(one == None, top < 0.7)  # noqa: E711
    np.testing.assert_array_equal(one[top >= 0.7], best[top >= 0.7])
    named = model.decide(x, thresholds={"b": 0.7})
    np.testing.assert_array_equal(named == None, (best == "b") & (top < 0.7))  # noqa: E711
    np.testing.assert_array_equal(named, model.decide(x, thresholds=[0, 0.7, 0]))
    both = model.decide(x, reject=0.45, thresholds={"b": 0.7})
    np.testing.assert_array_equal(both == None, (top < 0.55) | ((best == "b") & (top < 0.7)))  # noqa: E711


def test_uniform_priors_are_maximum_likelihood():
    x, y = rows_for(GaussianNB(), n=300)
    model = fitted(GaussianNB(priors=[0.98, 0.01, 0.01]), x, y)
    loglik = model.predict_joint_log_proba(x) - np.log([0.98, 0.01, 0.01])
    np.testing.assert_array_equal(model.decide(x, priors="uniform"), model.classes_[loglik.argmax(axis=1)])
    even = model.decide(x, reject=0.3, priors="uniform")
    np.testing.assert_array_equal(even, model.decide(x, reject=0.3, priors=np.full(3, 1 / 3)))
    ratio = model.likelihood_ratio(x, "b", "a", log=True)
    np.testing.assert_allclose(ratio, loglik[:, 1] - loglik[:, 0])


@pytest.mark.parametrize(
    ("labels", "rejected", "dtype"),
    [
        ([0, 1], None, object),
        ([0, 1], -1, np.int64),
        ([0, 1], "?", object),
        ([0, 1], np.nan, object),
        (["no", "yes"], "unsure", "<U6"),
        (["no", "yes"], None, object),
        ([False, True], None, object),
        ([0.0, 1.0], np.nan, np.float64),
    ],
)
def test_a_reject_is_the_value_the_user_chose(labels, rejected, dtype):
    y = np.array(labels)[[0, 0, 1, 1]]
    model = GaussianNB().fit(np.array([[0.0], [2], [3], [5]]), y)
    out = model.decide(np.array([[1.0], [2.5], [4]]), reject=0.1, rejected=rejected)
    assert out.dtype == dtype
    assert [out[0], out[2]] == labels
    assert out[1] is rejected or out[1] == rejected or np.isnan(out[1])
    assert model.decide(np.array([[1.0]]), rejected=rejected).dtype == y.dtype


def test_float32_and_frames_decide_too(three):
    pd = pytest.importorskip("pandas")
    model, x = three
    np.testing.assert_array_equal(model.decide(x.astype(np.float32), reject=0.3), model.decide(x, reject=0.3))
    _, y = rows_for(GaussianNB(), n=300)
    frame = pd.DataFrame(x, columns=list("pqrs"))
    framed = GaussianNB().fit(frame, y)
    np.testing.assert_array_equal(framed.decide(frame, reject=0.3), model.decide(x, reject=0.3))
    np.testing.assert_allclose(framed.adapt_priors(frame).priors, model.adapt_priors(x).priors)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"costs": np.zeros((2, 2))}, r"shape \(2, 2\).*3 classes"),
        ({"costs": 3.0}, "shape"),
        ({"costs": [[0, 1, 1], [np.nan, 0, 1], [1, 1, 0]]}, "cost of 'a' for 'b' is nan"),
        ({"costs": [[0, 1, -1], [1, 0, 1], [1, 1, 0]]}, "cost of 'c' for 'a' is -1"),
        ({"costs": {("a", "b"): np.inf}}, "inf"),
        ({"costs": {("a", "x"): 1}}, "names 'x'"),
        ({"costs": {"a": 1}}, "key 'a'"),
        ({"costs": {("a", "b"): [1, 2]}}, r"is \[1, 2\]"),
        ({"costs": "cheap"}, "costs is 'cheap'"),
        ({"costs": [[1], [2, 3]]}, "costs is"),
        ({"reject": -0.1}, "reject is -0.1"),
        ({"reject": np.nan}, "reject is nan"),
        ({"reject": "no"}, "reject is 'no'"),
        ({"thresholds": [0.5, 0.5]}, r"shape \(2,\)"),
        ({"thresholds": 1.5}, "threshold of 'a' is 1.5"),
        ({"thresholds": {"b": np.nan}}, "threshold of 'b' is nan"),
        ({"thresholds": {"x": 0.5}}, "names 'x'"),
        ({"priors": "even"}, "`priors` is 'even'"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_with_a_cure(three, wrong, what):
    model, x = three
    with pytest.raises(DataError, match=f"(?s){what}.*hint: "):
        model.decide(x, **wrong)


def test_unknown_classes_have_no_likelihood_ratio(three):
    model, x = three
    with pytest.raises(DataError, match="'z'"):
        model.likelihood_ratio(x, "z", "a")


# priors of deployment


def simulated(share: float, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes, of which the second has this share."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 5)) + y[:, None], y


@pytest.mark.parametrize("model", [GaussianNB(), LinearDiscriminantAnalysis(), GaussianNB(priors=[0.3, 0.7])], ids=repr)
def test_priors_of_deployment_are_found_without_labels(model):
    model = fitted(model, *simulated(0.5, 5_000, seed=0))
    x, y = simulated(0.1, 5_000, seed=1)
    priors, posterior = model.adapt_priors(x)
    assert priors[1] == pytest.approx(y.mean(), abs=0.02)
    true = np.arange(len(y)), y
    assert -np.log(posterior(x)[true]).mean() < -model.predict_log_proba(x)[true].mean() - 0.05


def test_adapted_says_how_it_came_about():
    model = fitted(GaussianNB(), *simulated(0.5, 200, seed=0))
    x, _ = simulated(0.1, 200, seed=1)
    adapted = model.adapt_priors(x, max_iter=1)
    assert isinstance(adapted, AdaptedPriors)
    assert (adapted.steps, adapted.why) == (1, "max_iter")
    assert model.adapt_priors(x).why == "converged"
    assert "GaussianNB" not in repr(adapted)


def test_a_class_without_prior_keeps_none():
    x, y = rows_for(GaussianNB(), n=200)
    model = fitted(GaussianNB(priors=[0.5, 0.5, 0.0]), x, y)
    priors = model.adapt_priors(x).priors
    assert priors[2] == 0
    assert priors.sum() == pytest.approx(1)
    uneven = fitted(MultinomialNB(class_prior=[2.0, 1.0, 0.0]), *rows_for(MultinomialNB()))
    assert uneven.adapt_priors(rows_for(MultinomialNB())[0], max_iter=0).priors == pytest.approx([2 / 3, 1 / 3, 0])
