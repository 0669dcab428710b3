"""Coefficients of logistic regression: scikit-learn's at the tightest tolerance, statsmodels' without penalty."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

from deciban import LogisticRegression

from ..support.data import heart

SMOOTH = ["auto", "newton", "lbfgs", "newton-cg", "sag", "saga", "newton-cholesky"]


def iris(classes: int):
    X, y = load_iris(return_X_y=True)
    return (X, y) if classes == 3 else (X[50:], y[50:])


def theirs(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Theirs(solver="newton-cholesky", tol=1e-12, max_iter=1000, **settings).fit(X, y)


def assert_same(model, other, atol=1e-6):
    """Equal up to what all classes' intercepts share, which no probability depends on."""
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=atol)
    shift = 0.0 if len(model.classes_) == 2 else other.intercept_.mean() - model.intercept_.mean()
    np.testing.assert_allclose(model.intercept_ + shift, other.intercept_, rtol=1e-6, atol=atol)


@pytest.mark.parametrize("solver", SMOOTH)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_solver_finds_the_coefficients_of_iris(solver, C, classes):
    X, y = iris(classes)
    model = LogisticRegression(C=C, solver=solver, tol=1e-10, max_iter=3000).fit(X, y)
    assert_same(model, theirs(X, y, C=C))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default = Theirs(C=C, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), default.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_columns_of_very_different_units_converge(solver, C):
    X, y = heart()
    X = X * np.geomspace(1e-3, 1e6, X.shape[1])
    model = LogisticRegression(C=C, solver=solver, tol=1e-10, max_iter=3000).fit(X, y)
    if np.inf == C:
        units = np.geomspace(1e-3, 1e6, X.shape[1])
        assert_same(LogisticRegression(C=C, tol=1e-12).fit(X / units, y), _scaled(model, units))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        LogisticRegression(C=C, solver=solver).fit(X, y)


def _scaled(model, units):
    model.coef_ = model.coef_ * units
    return model


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "newton-cg", "gradient"])
def test_heart_disease_as_scikit_learn(solver):
    X, y = heart()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression(solver=solver, tol=1e-9, max_iter=5000).fit(X, y)
    assert_same(model, theirs(X, y))


def test_unpenalised_coefficients_of_heart_disease_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y = heart()
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    want = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-12).params
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("weighed", [False, True])
def test_sparse_rows_floats_and_weights_have_the_same_minimum(weighed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.4)
    for k in (2, 4):
        y = (X @ rng.normal(size=(12, k)) + rng.gumbel(size=(300, k))).argmax(axis=1)
        w = rng.integers(0, 4, 300).astype(float) if weighed else None
        for C, intercept in ((1.0, True), (0.1, False)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = Theirs(C=C, fit_intercept=intercept, tol=1e-12, max_iter=10_000).fit(X, y, sample_weight=w)
            for form in (X, np.asfortranarray(X), sparse.csr_array(X), sparse.csc_matrix(X)):
                got = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-11).fit(form, y, sample_weight=w)
                assert_same(got, want, atol=1e-5)


@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("C", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("k", [2, 3])
def test_lasso_and_elastic_net_as_saga(C, ratio, k):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 15))
    y = (X[:, :3] @ rng.normal(size=(3, k)) + rng.gumbel(size=(200, k))).argmax(axis=1)
    model = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = Theirs(C=C, l1_ratio=ratio, solver="saga", tol=1e-10, max_iter=50_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, want.coef_, atol=2e-5)
    np.testing.assert_array_equal(model.coef_ == 0, np.abs(want.coef_) < 1e-9)


def test_lasso_of_many_sparse_columns_leaves_no_gradient_over_the_penalty():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 3000), density=0.01, rng=rng, format="csr")
    y = (X[:, :20] @ rng.normal(size=20) * 3 + rng.normal(size=400) > 0).astype(int)
    model = LogisticRegression(C=1.0, l1_ratio=1.0, tol=1e-8).fit(X, y)
    f = model.objective(X, y)
    g = f.slope(np.append(model.coef_, model.intercept_))[1][:-1]
    used = model.coef_[0] != 0
    assert 0 < used.sum() < 400
    assert np.abs(g).max() <= 1.0 + 1e-5
    np.testing.assert_allclose(g[used], -np.sign(model.coef_[0][used]), atol=1e-5)
