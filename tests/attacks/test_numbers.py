"""Cells that were taken for other numbers than they are, and numbers at the end of the range of doubles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import deciban as d
from deciban.errors import DataError, MergeError

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


@pytest.mark.parametrize("model", [d.ComplementNB(alpha=10**400), d.PoissonNB(shape=10**400)])
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
