"""Logistic regression and the discriminants: wrong answers and raw errors that users met."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from deciban import LogisticRegression

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared(name: str) -> pd.DataFrame:
    if not (SHARED / name).exists():
        pytest.skip(f"shared data set {name} is not beside this checkout")
    return pd.read_csv(SHARED / name)


def three_classes():
    rng = np.random.default_rng(0)
    place = np.repeat([0.0, 1, 2], 24)
    return rng.normal(size=(72, 3)) + place[:, None], np.repeat(["a", "b", "c"], 24)


@pytest.mark.parametrize("solver", ["auto", "newton", "newton-cholesky"])
def test_b28_the_maximum_of_the_likelihood_is_reached_at_default_tol(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sm = pytest.importorskip("statsmodels.api")
    rows = shared("saheart/saheart.csv")
    y = rows.pop("chd")
    y = (y == y.max()) * 1
    X = rows.assign(famhist=rows.famhist == "Present").astype(float)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=200, tol=1e-14).params
    for settings in ({"C": np.inf}, {"penalty": None}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            ours = LogisticRegression(solver=solver, **settings).fit(X, y)
        assert ours.intercept_[0] == pytest.approx(theirs.iloc[0], abs=1e-8)
        np.testing.assert_allclose(ours.coef_[0], theirs.iloc[1:], atol=1e-8)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("k", [2, 3])
def test_b28_the_gradient_is_at_rounding(C, k):
    X, y = three_classes()
    X, y = X[y != "abc"[k:]], y[y != "abc"[k:]]
    model = LogisticRegression(C=C).fit(X * [1, 100, 0.01], y)
    at = np.hstack([model.coef_, model.intercept_[:, None]]).ravel()
    objective = model.objective(X * [1, 100, 0.01], y)
    gradient, hessian = objective.slope(at)[1], objective.hessian(at)
    assert gradient @ np.linalg.pinv(hessian) @ gradient < 1e-16


def test_coverage_05_sgd_on_columns_as_they_are():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0][:, :2], y[y > 0]
    model = LogisticRegression(C=np.inf, solver="sgd", max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.902, 0.405]], atol=0.01)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf, solver="sgd").fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.902, 0.405]], atol=0.05)
    with pytest.warns(ConvergenceWarning):  # units of the columns make no difference
        other = LogisticRegression(C=np.inf, solver="sgd").fit(X * [1e4, 1e-4] + [0, 5], y)
    np.testing.assert_allclose(other.coef_ * [1e4, 1e-4], model.coef_, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"C": np.inf}, {"l1_ratio": 1.0}, {"solver": "lbfgs"}], ids=str)
def test_d10_fit_and_fit_on_agree_to_tol(settings):
    """A named exception of the law that `fit` is `fit_on`: solvers stop within `tol`, so compare at a small one."""
    X, y = three_classes()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})
    one, other = (LogisticRegression(tol=1e-10, max_iter=1000, **settings) for _ in range(2))
    np.testing.assert_allclose(one.fit(X, y).coef_, other.fit_on(table).coef_, atol=1e-8)
