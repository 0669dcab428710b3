"""Where we and scikit-learn differ by more than 1e-9: whose digits are right.

One case: unscaled breast cancer (variances from 1e-6 to 1e5) with solver "lsqr". Referees are arithmetic in
extended precision, scikit-learn on standardised columns (the units do not matter) and its own "eigen" solver.
"""

import numpy as np
import pytest
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Theirs
from sklearn.preprocessing import StandardScaler

from deciban import LinearDiscriminantAnalysis as Ours

from ..support.data import reals

HARSH = {
    "plain": {},
    "priors": {"priors": [1 / 3, 2 / 3]},
    "auto": {"shrinkage": "auto"},
    "estimator": {"covariance_estimator": OAS()},
}


def distance(one, other) -> float:
    """The largest difference between two sets of log odds, as a share of the largest."""
    return float(np.abs(one - other).max() / np.abs(other).max())


def solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """matrix⁻¹ right, by elimination in extended precision (a positive definite matrix needs no pivots)."""
    a, b = matrix.astype(np.longdouble), right.astype(np.longdouble)
    for i in range(len(b)):
        factor = a[i + 1 :, i] / a[i, i]
        a[i + 1 :] -= factor[:, None] * a[i]
        b[i + 1 :] -= factor * b[i]
    for i in reversed(range(len(b))):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return b


def extended_direction(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """w = Σ⁻¹(μ₁ − μ₀) with the pooled covariance, all in extended precision."""
    x = x.astype(np.longdouble)
    mean = np.stack([x[y == c].mean(axis=0) for c in (0, 1)])
    centred = x - mean[y]
    return solved(centred.T @ centred / len(y), mean[1] - mean[0])


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no extended precision on this machine")
def test_least_squares_on_unscaled_columns_is_right_here_and_loses_digits_there():
    x, y = reals("cancer")
    right = extended_direction(x, y)
    ours, theirs = Ours(solver="lsqr").fit(x, y), Theirs(solver="lsqr").fit(x, y)
    np.testing.assert_allclose(ours.coef_[0], right.astype(np.float64), rtol=1e-9)
    worst = [np.abs(model.coef_[0] / right - 1).max() for model in (ours, theirs)]
    assert 100 * worst[0] < worst[1]


@pytest.mark.parametrize("how", ["plain", "priors", "auto"])
def test_units_of_columns_change_nothing_here(how):
    x, y = reals("cancer")
    z = StandardScaler().fit_transform(x)
    referee = Theirs(solver="lsqr", **HARSH[how]).fit(z, y).decision_function(z)
    ours = Ours(solver="lsqr", **HARSH[how]).fit(x, y)
    theirs = Theirs(solver="lsqr", **HARSH[how]).fit(x, y)
    assert distance(ours.decision_function(x), referee) < 1e-9
    assert distance(theirs.decision_function(x), referee) > 100 * distance(ours.decision_function(x), referee)
    np.testing.assert_allclose(ours.predict_proba(x)[:, 1], 1 / (1 + np.exp(-referee)), atol=1e-9)


@pytest.mark.parametrize("how", HARSH)
def test_other_solver_of_scikit_learn_agrees_with_ours(how):
    x, y = reals("cancer")
    ours = Ours(solver="lsqr", **HARSH[how]).fit(x, y)
    referee = Theirs(solver="eigen", **HARSH[how]).fit(x, y)
    assert distance(ours.decision_function(x), referee.decision_function(x)) < 1e-9
    np.testing.assert_allclose(ours.predict_proba(x), referee.predict_proba(x), atol=1e-9)
