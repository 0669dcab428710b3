"""Firth's estimate against direct maximisation, exact cases and its invariances."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from deciban import LogisticRegression
from deciban.errors import SingularError
from deciban.logistic.firth import firth


def penalised(theta, a, y, w, k):
    """log-likelihood + ½ log det of the information, term by term."""
    scores = np.column_stack([np.zeros(len(a)), a @ theta.reshape(k - 1, -1).T])
    logs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    p = np.exp(logs)[:, 1:]
    spread = np.einsum("nc,cd->ncd", p, np.eye(k - 1)) - p[:, :, None] * p[:, None, :]
    information = np.einsum("n,ncd,ni,nj->cidj", w, spread, a, a).reshape(theta.size, theta.size)
    return float((w * logs[np.arange(len(y)), y]).sum()) + 0.5 * np.linalg.slogdet(information)[1]


def rows_of(k, seed, separated):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, 2))
    x[:, 1] = x[:, 1] > 0.3
    y = np.argsort(np.argsort(x[:, 0])) * k // 30 if separated else rng.integers(0, k, 30)
    return x, y, rng.integers(1, 4, 30).astype(float)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("separated", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_maximum_that_a_general_optimiser_finds(k, separated, intercept):
    x, y, w = rows_of(k, k, separated)
    a = np.column_stack([np.ones(len(x)), x]) if intercept else x
    fit = firth(x, y, w, fit_intercept=intercept)
    assert fit.reason == "converged"
    assert fit.penalised == pytest.approx(penalised(fit.theta.ravel(), a, y, w, k))
    start = np.zeros(fit.theta.size)
    other = minimize(lambda t: -penalised(t, a, y, w, k), start, jac="3-point", options={"gtol": 1e-7})
    assert fit.penalised >= -other.fun - 1e-9
    np.testing.assert_allclose(fit.theta.ravel(), other.x, rtol=2e-3, atol=2e-3)
    polished = minimize(
        lambda t: -penalised(t, a, y, w, k),
        fit.theta.ravel(),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxfev": 1000},
    )
    assert -polished.fun <= fit.penalised + 1e-10


def test_two_by_two_tables_get_half_a_row_in_every_cell():
    x = np.repeat([0.0, 0.0, 1.0, 1.0], [5, 0, 3, 4])[:, None]
    y = np.repeat([0, 1, 0, 1], [5, 0, 3, 4])
    fit = firth(x, y)
    assert fit.intercept_[0] == pytest.approx(np.log(0.5 / 5.5), abs=1e-8)
    assert fit.coef_[0, 0] == pytest.approx(np.log(4.5 / 3.5) - np.log(0.5 / 5.5), abs=1e-8)


def test_an_intercept_alone_gets_half_a_row_in_every_class():
    fit = firth(np.empty((7, 0)), np.array([0, 0, 0, 1, 1, 1, 1]))
    assert fit.intercept_[0] == pytest.approx(np.log(4.5 / 3.5), abs=1e-8)


@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_repetitions_and_sparse_rows_are_rows(k):
    x, y, w = rows_of(k, 7, separated=True)
    at = np.repeat(np.arange(len(y)), w.astype(int))
    fit = firth(x, y, w)
    np.testing.assert_allclose(firth(x[at], y[at]).theta, fit.theta, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(firth(sparse.csr_matrix(x), y, w).theta, fit.theta, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_units_shifts_and_the_order_of_classes_do_not_matter(k):
    x, y, w = rows_of(k, 3, separated=True)
    fit = firth(x, y, w)
    moved = firth(x * [1e5, 1e-4] + [3e5, 2.0], y, w)
    np.testing.assert_allclose(moved.coef_ * [1e5, 1e-4], fit.coef_, rtol=1e-4, atol=1e-5)
    turned = firth(x, k - 1 - y, w)
    sign = -1.0 if k == 2 else 1.0
    np.testing.assert_allclose(sign * turned.coef_[::-1], fit.coef_, rtol=1e-4, atol=1e-5)


def test_the_class_fits_it_without_a_warning_and_predicts_within_reason():
    x = np.arange(10.0)[:, None]
    y = np.array(["low", "high"])[(x[:, 0] < 5).astype(int)]
    model = LogisticRegression("jeffreys").fit(x, y)
    assert model.predict(x).tolist() == y.tolist()
    assert 0.001 < model.predict_proba([[0.0]]).min() < 0.2
    np.testing.assert_allclose(model.coef_, firth(x, (y == "low").astype(int)).coef_)
    assert model.summary().std_error.shape == (1, 2)
    three = LogisticRegression("jeffreys").fit(x, np.arange(10) // 4)
    assert three.coef_.shape == (3, 1)
    np.testing.assert_allclose(three.coef_.sum(axis=0), 0.0, atol=1e-12)


def test_columns_that_cannot_be_told_apart_are_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 2))
    y = rng.integers(0, 2, 20)
    for bad in (np.column_stack([x, x[:, 0]]), np.column_stack([x, np.full(20, 3.0)]), rng.normal(size=(20, 30))):
        with pytest.raises(SingularError, match="hint: leave some of them out"):
            LogisticRegression("jeffreys").fit(bad, y)
    with pytest.raises(SingularError, match=r"\['x0', 'x2'\]"):
        LogisticRegression("jeffreys").fit(np.column_stack([x, x[:, 0]]), y)


def test_other_solvers_do_not_take_the_penalty():
    with pytest.raises(ValueError, match="jeffreys"):
        LogisticRegression("jeffreys", solver="lbfgs").fit([[0.0], [1.0]], [0, 1])


def test_missing_and_infinite_cells_are_refused_as_with_any_penalty():
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinit"):
            LogisticRegression("jeffreys").fit([[0.0], [1.0], [bad]], [0, 1, 1])
