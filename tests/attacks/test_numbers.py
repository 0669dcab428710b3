"""Cells that were taken for other numbers than they are, and numbers at the end of the range of doubles."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Linear

import deciban as d
from deciban.errors import DataError, ForgetError, MergeError
from deciban.models.hypotheses import posterior

FEW, OF = [[0.0, 1], [1, 0], [2, 1], [3, 3]], [0, 0, 1, 1]


@pytest.mark.parametrize("model", [d.GaussianNB, d.LinearDiscriminantAnalysis, d.CategoricalNB, d.MultinomialNB])
def test_i4_masked_cells_are_missing(model: type) -> None:
    rng = np.random.default_rng(0)
    X, y, hidden = rng.integers(0, 4, (40, 2)), np.arange(40) % 2, rng.random((40, 2)) < 0.2
    masked = np.ma.masked_array(np.where(hidden, 3, X), mask=hidden)
    plain = np.where(hidden, np.nan, X)
    a, b = model().fit(masked, y), model().fit(plain, y)
    assert np.array_equal(a.predict_proba(masked), b.predict_proba(plain))
    assert np.array_equal(a.predict_proba(plain), b.predict_proba(masked))


def test_i4_masked_cells_are_refused_where_missing_ones_are() -> None:
    with pytest.raises(ValueError, match="NaN"):
        d.LogisticRegression().fit(np.ma.masked_array(FEW, mask=np.eye(4, 2)), OF)
    whole = d.LogisticRegression().fit(np.ma.masked_array(FEW), OF)
    assert np.array_equal(whole.coef_, d.LogisticRegression().fit(FEW, OF).coef_)


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
@pytest.mark.parametrize("model", [d.GaussianNB, d.LogisticRegression, d.LinearDiscriminantAnalysis, d.CategoricalNB])
def test_i5_dates_are_no_numbers(model: type, kind: str) -> None:
    with pytest.raises(DataError, match="X holds"):
        model().fit(np.array([[1], [2], [3], ["NaT"]]).astype(kind), OF)


@pytest.mark.parametrize("rows", [1, 2000])
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
def test_n1_scores_that_overflow_have_a_sign(make, rows: int) -> None:
    model = d.LogisticRegression().fit(FEW, OF)
    far = make(np.array([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]] * rows))
    assert np.array_equal(model.predict_proba(far), [[0.0, 1.0], [1.0, 0.0]] * rows)
    assert model.predict(far).tolist() == [1, 0] * rows
    assert np.isfinite(model.predict_log_proba(far)).all()
    three = d.LogisticRegression().fit(np.vstack([FEW, [[9.0, 0.0], [8.0, 1.0]]]), [*OF, 2, 2])
    found = three.predict_proba(far)
    assert np.isfinite(found).all()
    assert np.array_equal(found.argmax(axis=1), three.predict(far))


def test_n1_opposite_coefficients_do_not_cancel_into_nan() -> None:
    model = d.LogisticRegression.from_parameters(coef=[[3.0, -2.0]], intercept=[0.0])
    assert model.predict_proba([[1e308, 1e308], [1e308, 1.7e308]]).tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_n2_the_averaged_posterior_has_a_limit() -> None:
    model = d.LogisticRegression().fit(FEW, OF)
    near = model.predict_proba([[1e20, 1e20]], posterior="laplace")
    for size in (1e154, 1e155, 1.7e308):
        assert np.allclose(model.predict_proba([[size, size]], posterior="laplace"), near, rtol=0, atol=1e-12)
    three = d.LogisticRegression().fit(np.vstack([FEW, [[9.0, 0.0], [8.0, 1.0]]]), [*OF, 2, 2])
    near = three.predict_proba([[1e20, -1e20]], posterior="laplace")
    assert np.allclose(three.predict_proba([[1e200, -1e200]], posterior="laplace"), near, rtol=0, atol=1e-12)


SOLVERS = [("svd", None), *((solver, how) for solver in ("lsqr", "eigen") for how in (None, "auto", 0.3))]


@pytest.mark.parametrize("priors", [None, [0.7, 0.2, 0.1]])
@pytest.mark.parametrize(("solver", "shrinkage"), SOLVERS)
def test_n3_the_covariance_is_that_of_scikit_learn(solver: str, shrinkage, priors) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(70) % 7 % 3
    X = rng.normal(size=(70, 3)) * (1 + y[:, None]) + y[:, None] * [1.0, 0.0, -1.0]
    settings = {"solver": solver, "shrinkage": shrinkage, "priors": priors}
    theirs = Linear(store_covariance=True, **settings).fit(X, y)
    for stored in (False, True):
        ours = d.LinearDiscriminantAnalysis(store_covariance=stored, **settings).fit(X, y)
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=0, atol=1e-10)
    pieces = d.LinearDiscriminantAnalysis(**settings).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(pieces.covariance_, theirs.covariance_, rtol=0, atol=1e-10)
    for probabilities in (ours.predict_proba(X), ours.as_logistic().predict_proba(X)):
        np.testing.assert_allclose(probabilities, theirs.predict_proba(X), rtol=0, atol=1e-10)


def test_n3_the_covariance_of_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 3 % 2
    X, settings = rng.normal(size=(20, 30)) * (1 + y[:, None]), {"priors": [0.9, 0.1], "store_covariance": True}
    ours, theirs = d.LinearDiscriminantAnalysis(**settings).fit(X, y), Linear(**settings).fit(X, y)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)


def nearly_twice(seed: int, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes whose third column is the first up to eps."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3 % 2
    X[y == 1] *= 3
    return np.column_stack([X, X[:, 0] + eps * rng.normal(size=60)]), y


def exact_probabilities(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P(1) of linear discriminant analysis in rational arithmetic, but for the last exponential."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    groups = [[row for row, c in zip(rows, y, strict=True) if c == k] for k in (0, 1)]
    means = [[sum(column) / len(group) for column in zip(*group, strict=True)] for group in groups]
    parts = [[a - b for a, b in zip(row, means[k], strict=True)] for k in (0, 1) for row in groups[k]]
    d, apart = X.shape[1], [b - a for a, b in zip(*means, strict=True)]
    system = [[sum(p[i] * p[j] for p in parts) / len(parts) for j in range(d)] + [apart[i]] for i in range(d)]
    for i in range(d):  # Gauss and Jordan
        for j in range(d):
            if j != i:
                factor = system[j][i] / system[i][i]
                system[j] = [a - factor * b for a, b in zip(system[j], system[i], strict=True)]
    coef = [system[i][d] / system[i][i] for i in range(d)]
    middle = sum(c * (a + b) / 2 for c, a, b in zip(coef, *means, strict=True))
    scores = [float(sum(c * x for c, x in zip(coef, row, strict=True)) - middle) for row in rows]
    return expit(np.array(scores) + np.log(len(groups[1]) / len(groups[0])))


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("eps", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7])
def test_n4_a_nearly_singular_covariance_is_solved_as_well_as_by_scikit_learn(eps: float, solver: str) -> None:
    """The least eigenvalue of the covariance is about eps²; rounding of its entries (1e-16) changes coefficients, and
    so the probabilities of both libraries, by up to 1e-16 / eps²."""
    errors, residuals = [], []
    for seed in range(20):
        X, y = nearly_twice(seed, eps)
        models = d.LinearDiscriminantAnalysis(solver=solver).fit(X, y), Linear(solver="lsqr").fit(X, y)
        apart, right = models[1].means_[1] - models[1].means_[0], exact_probabilities(X, y)
        residuals.append([np.abs(model.covariance_ @ model.coef_[0] - apart).max() for model in models])
        errors.append([np.abs(model.predict_proba(X)[:, 1] - right).max() for model in models])
        assert errors[-1][0] <= max(1e-6, 5e-15 / eps**2)
    ours, theirs = np.median(errors, axis=0)
    assert ours <= 2 * theirs or eps < 1e-6  # there the covariance that either has rounded knows no more of it
    ours, theirs = np.median(residuals, axis=0)
    assert ours <= theirs or ours < 1e-14


def test_n4_an_exactly_singular_covariance() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = nearly_twice(seed, 0.0)
        wide = rng.normal(size=(200, 30))
        for rows, of in [
            (X, y),
            (np.column_stack([X, np.full(60, 0.1)]), y),
            (np.column_stack([wide, wide @ rng.normal(size=30), wide.sum(axis=1)]), np.arange(200) % 3),
        ]:
            ours, theirs = (
                d.LinearDiscriminantAnalysis(solver="lsqr").fit(rows, of),
                Linear(solver="lsqr").fit(rows, of),
            )
            np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-10)
            assert np.abs(ours.coef_).max() < 100  # no direction of rounding alone


def test_n5_rows_that_were_never_learned_cannot_be_left_out() -> None:
    """For all classifiers: tests/laws/test_never_learned.py."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = d.GaussianNB().fit(X, y)
    assert np.isfinite(model.leave_one_out(X, y)).all()
    for wrong in (X + 100, np.vstack([X[:7], [[0.0, 9.0]]]), X - [0, 30]):
        with pytest.raises(ForgetError, match="never learned"):
            model.leave_one_out(wrong, y[: len(wrong)])


@pytest.mark.parametrize("model", [d.GaussianNB, d.LinearDiscriminantAnalysis, d.QuadraticDiscriminantAnalysis])
def test_constants_whose_squares_overflow_are_refused(model: type) -> None:
    with pytest.raises(DataError, match="overflow"):
        model().fit([[1e160, 1.0], [1e160, 2.0], [1e160, 3.0], [1e160, 4.5]], OF)


def test_rows_that_are_too_far_apart_leave_the_model_as_it_was() -> None:
    model = d.GaussianNB().fit([[1e153, 1.0], [1e153, 2.0], [1e153, 3.0], [1e153, 4.5]], OF)
    before = model.var_.copy()
    with pytest.raises(DataError, match="overflow"):
        model.partial_fit([[-1e154, 0.0]] * 200, [0, 1] * 100)
    assert np.array_equal(model.var_, before)


@pytest.mark.parametrize("weight", [1e-310, 1e300])
@pytest.mark.parametrize("model", [d.GaussianNB, d.MixedNB, d.LogisticRegression])
def test_weights_out_of_range_are_refused(model: type, weight: float) -> None:
    with pytest.raises(DataError, match="row 2"):
        model().fit(FEW, OF, sample_weight=[1.0, 0.0, weight, 1.0])


def test_small_weights_are_weights() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    proba = d.MixedNB().fit(X, y, sample_weight=np.full(30, 1e-9)).predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "model", [d.ComplementNB(alpha=10**400), d.PoissonNB(shape=10**400), d.KDependenceBayes(alpha=1e308)]
)
def test_settings_beyond_doubles_are_refused(model) -> None:
    with pytest.raises(DataError, match="double"):
        model.fit(FEW, OF)


def test_tables_of_levels_that_no_memory_holds_are_refused() -> None:
    with pytest.raises(DataError, match="min_categories"):
        d.CategoricalNB(min_categories=2**31).fit([[0], [1]], [0, 1])


def test_little_weight_leaves_no_degrees_of_freedom() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    model = d.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1, ddof=1)
    proba = model.fit(X, y, sample_weight=np.full(30, 1e-9)).predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1.0)


def test_settings_that_hold_arrays_can_be_compared() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
    cuts = lambda at: {"cuts": {0: np.array([0.0, at]), 1: np.array([0.5])}}  # noqa: E731
    a, b = (d.TreeAugmentedNB(**cuts(1.0)).fit(X, y) for _ in range(2))
    assert (a + b).class_count_.sum() == 60
    with pytest.raises(MergeError, match="cuts"):
        a + d.TreeAugmentedNB(**cuts(2.0)).fit(X, y)


@pytest.mark.parametrize("model", [d.GaussianNB, d.LinearDiscriminantAnalysis])
@pytest.mark.parametrize("weight", [1e15, 1e18, 1e40, 1e99])
def test_large_weights_leave_calibration_its_answer(model: type, weight: float) -> None:
    """The penalty has no influence on either model."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2.0, (60, 3)), np.arange(60) % 3
    for w in (np.ones(60), 1.0 + np.arange(60) % 4):
        large, enough = (model(calibrate=True).fit(X, y, sample_weight=w * size) for size in (weight, 1e10))
        np.testing.assert_allclose(large.predict_proba(X), enough.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("settings", [{"calibrate": True}, {"weights": "discriminative"}])
@pytest.mark.parametrize("model", [d.MultinomialNB, d.CategoricalNB, d.BernoulliNB, d.ComplementNB, d.PoissonNB])
def test_large_weights_of_counts_can_be_calibrated(model: type, settings: dict) -> None:
    X, y = np.random.default_rng(0).poisson(2.0, (60, 3)), np.arange(60) % 3
    for weight in (1e15, 1e17, 1e40, 1e99):
        proba = model(**settings).fit(X, y, sample_weight=weight * (1.0 + np.arange(60) % 4)).predict_proba(X)
        assert np.allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("weight", [1e15, 1e40, 1e99])
def test_large_weights_are_more_rows_than_classes(weight: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    for model in (d.LinearDiscriminantAnalysis, d.QuadraticDiscriminantAnalysis, d.FisherDiscriminant):
        plain, large = model().fit(X, y), model().fit(X, y, sample_weight=np.full(60, weight))
        np.testing.assert_allclose(large.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weight", [1e-3, 1e-6, 1e-12, 1e-15, 1e-20, 1e-90])
def test_little_weight_leaves_the_mode_of_the_prior_of_jeffreys(weight: float, k: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 3)).astype(float), np.arange(60) % k
    for w in (np.ones(60), 1.0 + np.arange(60) % 4):
        model = d.LogisticRegression(penalty="jeffreys").fit(X, y, sample_weight=w * weight)
        assert model.n_iter_[0] < 30
        assert np.abs(model.predict_proba(X) - 1 / k).max() < 100 * weight + 1e-7


@pytest.mark.parametrize("scale", [1e-155, 1e-154, 1e-150])
@pytest.mark.parametrize(
    "model",
    [
        d.LinearDiscriminantAnalysis(),
        d.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
        d.QuadraticDiscriminantAnalysis(),
        d.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.3),
        d.RegularizedDiscriminantAnalysis(),
    ],
)
def test_columns_of_tiny_numbers_can_be_left_out(model, scale: float) -> None:
    """Rounding is more than that of usual numbers, as squares of 1e-155 have fewer digits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    plain = model.fit(X, y).leave_one_out(X, y)
    np.testing.assert_allclose(model.fit(X * scale, y).leave_one_out(X * scale, y), plain, rtol=0, atol=1e-4)


@pytest.mark.parametrize("scale", [1e77, 1e140])
@pytest.mark.parametrize("model", [d.LinearDiscriminantAnalysis, d.QuadraticDiscriminantAnalysis])
def test_covariances_of_an_estimator_that_overflows_are_refused(model: type, scale: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    for estimator in (LedoitWolf(), LedoitWolf(store_precision=False)):
        with pytest.raises(DataError, match="LedoitWolf"):
            model(solver="eigen", covariance_estimator=estimator).fit(X * scale, y)


@pytest.mark.parametrize("model", [d.MultinomialNB, d.ComplementNB])
def test_evidence_whose_squares_overflow_cannot_be_weighed(model: type) -> None:
    X, y = np.random.default_rng(0).poisson(2.0, (60, 3)) * 1e154, np.arange(60) % 3
    with pytest.raises(DataError):
        model(weights="discriminative").fit(X, y)


def test_members_of_an_ensemble_that_overflow_are_left_out() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)) * 1e154, np.arange(60) % 3
    with pytest.raises(DataError, match="overflow"):
        d.BayesOptimal(weights="loo").fit(X, y)


def test_columns_of_tiny_numbers_have_a_grid_of_penalties() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)) * 1e-156, np.arange(60) % 3
    proba = d.LogisticRegression(C="auto").fit(X, y).predict_proba(X)
    assert np.allclose(proba, 1 / 3)


@pytest.mark.parametrize("evidence", [-1e12, -1e15, -1e20, 1e100])
def test_weights_of_models_add_up_to_one(evidence: float) -> None:
    assert posterior(np.full(2, evidence), np.log([0.5, 0.5])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("settings", [{}, {"estimate": "bayes"}, {"variances": "shared"}, {"calibrate": True}])
@pytest.mark.parametrize("scale", [1.0, 1e100])
def test_variances_smoothed_without_limit_leave_the_priors(scale: float, settings: dict) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)) * scale, np.arange(60) % 3
    model = d.GaussianNB(var_smoothing=1e300, **settings).fit(X, y)
    assert np.allclose(model.predict_proba(X), 1 / 3)
    assert d.top_evidence(model) is not None


def test_evidence_that_overflows_is_infinite() -> None:
    model = d.LogisticRegression.from_parameters(coef=[[3.0, -2.0]], intercept=[0.0])
    evidence = model.explain([[1.7e308, 0.0]])
    assert evidence.decibans.tolist() == [[np.inf, 0.0]]
    assert evidence.probability.tolist() == [1.0]
    assert "certain" in evidence.text()
    three = d.LogisticRegression.from_parameters(coef=[[3.0], [2.0], [1.0]], intercept=[0.0, 0.0, 0.0])
    assert three.explain([[1.7e308]]).probability.sum() <= 1.0


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", [{}, {"learning_rate": 0.1}, {"learning_rate": 1e300}], ids=str)
def test_plain_steps_give_finite_coefficients_or_an_error(settings):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    model = d.LogisticRegression(solver="online", **settings)
    for weight in (1e-8, 1e-9, 1e-12, 1.0):
        for learn in (model.fit, partial(clone(model).partial_fit, classes=[0, 1])):
            try:
                found = learn(X, y, sample_weight=np.full(30, weight))
            except DataError as error:
                assert "diverged" in str(error)
            else:
                assert np.isfinite(found.coef_).all()
                assert np.isfinite(found.predict_proba(X)).all()


def test_times_beyond_microseconds_are_an_error_not_another_date():
    far = np.array([0, 10**14, -(10**15)], dtype="M8[s]")
    frames = [pd.DataFrame({"t": far}), pd.DataFrame({"t": far - far[0]}), pa.table({"t": pa.array(far)}), far[:, None]]
    frames += [pd.DataFrame({"t": pd.Series(list(far), dtype=object)}), np.array([[0], [10**9]], dtype="M8[Y]")]
    for frame in frames:
        with pytest.raises(DataError, match="292,000 years"):
            d.MixedNB().fit(frame, np.arange(len(frame)) % 2)
    near = pd.DataFrame({"t": np.array([0, 10**9, 10**12, 5], dtype="M8[s]")})
    assert np.isfinite(d.MixedNB().fit(near, [0, 1, 0, 1]).predict_proba(near)).all()
