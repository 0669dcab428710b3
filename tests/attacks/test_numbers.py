"""Cells that were taken for other numbers than they are, and numbers at the end of the range of doubles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import deciban as d
from deciban.errors import DataError

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
