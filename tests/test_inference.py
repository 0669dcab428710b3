"""Errors, tests and intervals of logistic models: laws, brute force, and definitions."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr

from deciban import LogisticRegression
from deciban.errors import DataError
from deciban.logistic.firth import fisher_scoring
from deciban.logistic.likelihood import Design, LikelihoodExpansion, Prior, reference_coding
from deciban.logistic.summary import Summary
from deciban.logistic.training_rows import HELD

CLASSES = (2, 3, 4)


def rows_of(k, n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * [1.0, 30.0, 1e-3][:d] + [0.0, 500.0, 0.0][:d]
    z = (x - x.mean(0)) / x.std(0)
    scores = z @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k)) * 1.5
    return x, scores.argmax(axis=1)


def optimum(x, y, w=None, intercept=True):
    """(rows, curvature at the maximum of the likelihood)."""
    design = Design.of(x, y, w, int(y.max()) + 1, intercept)
    return design, LikelihoodExpansion.at(design, fisher_scoring(design, jeffreys=False).theta)


def log_likelihood(theta, x, y, w, intercept):
    a = np.column_stack([np.ones(len(x)), x]) if intercept else x
    scores = np.column_stack([np.zeros(len(a)), a @ theta.T])
    logs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    return float((w * logs[np.arange(len(y)), y]).sum())


def hessian_by_differences(f, at, steps):
    q = len(at)
    out = np.empty((q, q))
    for i in range(q):
        for j in range(q):
            e, g = np.eye(q)[i] * steps, np.eye(q)[j] * steps
            out[i, j] = (f(at + e + g) - f(at + e - g) - f(at - e + g) + f(at - e - g)) / (4 * steps[i] * steps[j])
    return out


@pytest.mark.parametrize("k", CLASSES)
@pytest.mark.parametrize("intercept", [True, False])
def test_information_is_the_curvature_of_the_log_likelihood(k, intercept):
    x, y = rows_of(k)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    _, found = optimum(x, y, w, intercept)
    shape = found.theta.shape
    steps = np.tile(1e-3 / np.concatenate([[1.0] * intercept, np.abs(x).max(axis=0)]), shape[0])
    numeric = -hessian_by_differences(
        lambda t: log_likelihood(t.reshape(shape), x, y, w, intercept), found.theta.ravel(), steps
    )
    ours = np.linalg.inv(found.backs).T @ found.information @ np.linalg.inv(found.backs)
    size = np.sqrt(np.diag(ours))
    assert np.abs((ours - numeric) / np.outer(size, size)).max() < 1e-4
    assert found.log_likelihood == pytest.approx(log_likelihood(found.theta, x, y, w, intercept))
    assert found.distance() < 1e-12


@pytest.mark.parametrize("k", CLASSES)
def test_a_weight_counts_like_so_many_rows(k):
    x, y = rows_of(k)
    w = np.random.default_rng(2).integers(0, 4, len(y)).astype(float)
    w[[np.flatnonzero(y == c)[0] for c in range(k)]] = 1.0
    repeated = np.repeat(np.arange(len(y)), w.astype(int))
    _, weighted = optimum(x, y, w)
    _, long = optimum(x[repeated], y[repeated])
    for robust in (False, True):
        np.testing.assert_allclose(weighted.spread(robust=robust).errors, long.spread(robust=robust).errors, rtol=1e-6)
    assert weighted.log_likelihood == pytest.approx(long.log_likelihood, abs=1e-9)
    assert weighted.null_log_likelihood == pytest.approx(long.null_log_likelihood, abs=1e-9)


@pytest.mark.parametrize("k", CLASSES)
def test_sparse_rows_say_what_dense_rows_say(k):
    x, y = rows_of(k)
    x[np.abs(x) < 0.3] = 0.0
    theta = np.random.default_rng(0).normal(size=(k - 1, 4)) / [1.0, 1.0, 500.0, 1e-3]
    dense = LikelihoodExpansion.at(Design.of(x, y, None, k), theta)
    thin = LikelihoodExpansion.at(Design.of(sparse.csr_matrix(x), y, None, k), theta)
    np.testing.assert_allclose(thin.spread().errors, dense.spread().errors, rtol=1e-9)


@pytest.mark.parametrize("k", CLASSES)
def test_units_and_shifts_of_columns_change_errors_only_by_the_unit(k):
    x, y = rows_of(k)
    _, here = optimum(x, y)
    scale, shift = np.array([1e6, 1e-5, 3.0]), np.array([7e6, -3.0, 1e5])
    _, there = optimum(x * scale + shift, y)
    ours, theirs = (f.spread().errors.reshape(k - 1, -1)[:, 1:] for f in (here, there))
    np.testing.assert_allclose(theirs * scale, ours, rtol=1e-4)  # shifts alone cost digits of x
    assert there.log_likelihood == pytest.approx(here.log_likelihood, abs=1e-6)


def test_the_penalty_on_all_classes_is_a_prior_on_their_differences():
    x, y = rows_of(3)
    model = LogisticRegression(C=0.7, tol=1e-12, max_iter=500).fit((x - x.mean(0)) / x.std(0), y)
    found = model._observed.curvature
    assert found.distance(Prior(0.7)) < 1e-10
    assert found.distance(Prior(7.0)) > 1e-3
    rng = np.random.default_rng(0)
    coef = rng.normal(0.0, np.sqrt(0.7), size=(200_000, 3))
    gaps = coef[:, 1:] - coef[:, :1]
    np.testing.assert_allclose(np.linalg.inv(np.cov(gaps.T)), Prior(0.7).precision(2, 1, False), atol=0.02)


def test_effective_parameters_fall_from_all_to_the_intercept():
    x, y = rows_of(2)
    _, found = optimum(x, y)
    assert found.spread().effective == pytest.approx(4.0)
    assert found.spread(Prior(1e-20)).effective == pytest.approx(1.0, abs=1e-6)
    shares = [found.spread(Prior(C)).effective for C in (1e-6, 1e-3, 1.0, 1e3, 1e9)]
    assert shares == sorted(shares)


def test_coefficients_that_rows_do_not_determine_are_named_and_the_others_keep_their_errors():
    x, y = rows_of(2, d=2)
    _, plain = optimum(x, y)
    more = np.column_stack([x, x[:, 0] * 2, np.full(len(x), 3.0), np.zeros(len(x))])
    design = Design.of(more, y, None, 2)
    theta = np.column_stack([plain.theta, np.zeros((1, 3))])
    spread = LikelihoodExpansion.at(design, theta).spread()
    assert spread.determined.tolist() == [False, False, True, False, False, False]
    assert spread.errors[2] == pytest.approx(plain.spread().errors[2])
    table = Summary.of(LikelihoodExpansion.at(design, theta), np.array([0, 1]), list("abcde"))
    assert "`intercept`, `a`, `c`, `d`, `e`" in table.notes[0]
    assert "–" in table.text()
    assert np.isfinite(LikelihoodExpansion.at(design, theta).spread(Prior(1.0)).errors).all()


def test_any_class_can_be_the_reference():
    x, y = rows_of(3)
    _, found = optimum(x, y)
    names = np.array(["a", "b", "c"])
    first = Summary.of(found, names, ["x", "y", "z"])
    last = Summary.of(found, names, ["x", "y", "z"], reference="c")
    _, turned = optimum(x, np.array([1, 2, 0])[y])  # c is the first class there
    again = Summary.of(turned, np.array(["c", "a", "b"]), ["x", "y", "z"])
    assert (last.reference, last.classes, first.reference, first.classes) == ("c", ("a", "b"), "a", ("b", "c"))
    np.testing.assert_allclose(last.coef, again.coef, rtol=1e-5)
    np.testing.assert_allclose(last.std_error, again.std_error, rtol=1e-5)
    np.testing.assert_allclose(last.coef[0], -first.coef[1])
    with pytest.raises(DataError, match="not among"):
        Summary.of(found, names, ["x", "y", "z"], reference="d")


def test_measures_follow_their_definitions():
    x, y = rows_of(2)
    _, found = optimum(x, y)
    s = Summary.of(found, np.array([0, 1]), ["a", "b", "c"], level=0.9)
    n, ll, null = len(y), found.log_likelihood, found.null_log_likelihood
    share = y.mean()
    assert null == pytest.approx(n * (share * np.log(share) + (1 - share) * np.log(1 - share)))
    assert (s.aic, s.bic) == pytest.approx((8 - 2 * ll, 4 * np.log(n) - 2 * ll))
    assert s.mcfadden == pytest.approx(1 - ll / null)
    assert s.cox_snell == pytest.approx(1 - np.exp(2 * (null - ll) / n))
    assert s.nagelkerke == pytest.approx(s.cox_snell / (1 - np.exp(2 * null / n)))
    np.testing.assert_allclose(s.p_value, 2 * (1 - ndtr(np.abs(s.coef / s.std_error))), atol=1e-12)
    np.testing.assert_allclose(s.high - s.low, 2 * 1.6448536269514722 * s.std_error)
    assert 0 < s.likelihood_ratio_p < 1e-3
    with pytest.raises(DataError, match="level"):
        Summary.of(found, np.array([0, 1]), ["a", "b", "c"], level=95)


def test_a_summary_prints_frames_and_escapes():
    x, y = rows_of(3)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(x, np.array(["<a>", "b", "c"])[y])
    table = model.summary()
    text = repr(table)
    assert text.count("against <a>") == 2
    assert "<a>" not in table._repr_html_()
    widths = {len(line) for line in text.split("\n\n")[0].split("\n")[1:]}
    assert len(widths) == 1
    frame = table.to_frame()
    assert frame.shape == (8, 11)
    assert frame["column"].tolist()[:2] == ["intercept", "x0"]
    np.testing.assert_allclose(frame["coef"], table.coef.ravel())
    wide = Summary.of(optimum(x, y)[1], np.array([0, 1, 2]), ["a", "b", "c"]).text(most=2)
    assert "and 2 more columns" in wide


def test_the_kind_of_penalty_is_said():
    x, y = rows_of(2)
    x = (x - x.mean(0)) / x.std(0)
    assert LogisticRegression(C=np.inf, tol=1e-10).fit(x, y).summary().notes == ()
    assert "prior of variance C = 0.5" in LogisticRegression(C=0.5, tol=1e-10).fit(x, y).summary().notes[0]
    assert "Firth" in LogisticRegression("jeffreys").fit(x, y).summary().notes[0]
    robust = LogisticRegression(C=np.inf, tol=1e-10).fit(x, y).summary(robust=True)
    assert "sandwich" in robust.notes[0]
    weighted = LogisticRegression(C=np.inf, tol=1e-10, class_weight="balanced").fit(x, y).summary()
    assert "class weights" in weighted.notes[0]


def test_coefficients_short_of_the_optimum_are_said_to_be():
    x, y = rows_of(2)
    x = (x - x.mean(0)) / x.std(0)
    model = LogisticRegression(C=1.0, tol=1e-10).fit(x, y)
    x[:, 0] = -x[:, 0]  # the rows change behind the model's back
    assert any("not at the optimum" in note for note in model.summary().notes)


def test_an_l1_penalty_has_coefficients_without_errors():
    x, y = rows_of(2)
    x = (x - x.mean(0)) / x.std(0)
    model = LogisticRegression(C=0.05, l1_ratio=1.0, solver="saga").fit(x, y)
    table = model.summary()
    assert np.isnan(table.std_error).all()
    assert "L1" in table.notes[0]
    assert table.parameters == np.count_nonzero(table.coef)
    with pytest.raises(DataError, match="corner"):
        model.predict_proba(x, posterior="laplace")
    with pytest.raises(AttributeError, match="L2"):
        _ = model.evidence_


def test_a_pickled_model_keeps_what_the_rows_said_but_not_the_rows():
    x, y = rows_of(2, n=2000)
    model = LogisticRegression(C=1.0).fit(x, y)
    told = pickle.dumps(model)
    assert len(told) < x.nbytes // 4
    again = pickle.loads(told)
    np.testing.assert_array_equal(again.summary().std_error, model.summary().std_error)
    with pytest.raises(DataError, match=r"summary\(X, y\)"):
        again.separation()
    assert not again.separation(x, y)


def test_large_rows_are_known_only_while_somebody_holds_them():
    n = HELD // (8 * 8) + 1
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 8))
    y = (x[:, 0] + rng.logistic(size=n) > 0).astype(int)
    model, other = (LogisticRegression(C=1.0).fit(x, y) for _ in range(2))
    known = model.summary()
    kept = x.copy()
    del x
    with pytest.raises(DataError, match="rows are not available"):
        other.summary()
    assert model.summary().log_likelihood == known.log_likelihood
    assert other.summary(kept, y).log_likelihood == known.log_likelihood
    assert np.isfinite(other.evidence_)


def test_other_rows_can_be_summarised():
    x, y = rows_of(2)
    model = LogisticRegression(C=1.0).fit(x, y)
    assert model.summary(x[:50], y[:50]).n == 50
    assert model.summary(x[:50], y[:50], np.full(50, 2.0)).n == 100
    with pytest.raises(DataError, match="pass both"):
        model.summary(x)


def test_contrasts_of_two_classes_are_the_coefficients():
    assert reference_coding(np.array([[1.0, 2.0]]), np.array([3.0]), True).tolist() == [[3.0, 1.0, 2.0]]
    assert reference_coding(np.array([[1.0, 2.0]]), np.array([0.0]), False).tolist() == [[1.0, 2.0]]


def test_a_model_learned_in_pieces_asks_for_rows():
    x, y = rows_of(2)
    x = (x - x.mean(0)) / x.std(0)
    model = LogisticRegression().fit(x, y)
    model.summary()
    model.partial_fit(x, y)
    with pytest.raises(DataError, match=r"summary\(X, y\)"):
        model.summary()
    np.testing.assert_array_equal(model.summary(x, y).coef[0, 1:], model.coef_[0])
    fresh = LogisticRegression().partial_fit(x, y, classes=[0, 1])
    with pytest.raises(DataError, match="were streamed"):
        fresh.predict_proba(x, posterior="laplace")
