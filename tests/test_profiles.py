"""Intervals by profile likelihood: at their ends the likelihood ratio is that of the level, by direct maximisation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from deciban import LogisticRegression
from deciban.errors import DataError

CHI2 = 3.841458820694124  # 0.95, one degree of freedom
RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2)) * [1.0, 30.0] + [0.0, 100.0]
Y = {2: (X[:, 0] + RNG.logistic(size=40) > 0).astype(int), 3: RNG.integers(0, 3, 40)}
SEPARATED = (
    np.array([[0, 0], [0, 1], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [1, 0]], dtype=float),
    np.repeat([0, 1], 4),
)


def likelihood(theta, x, y, k, jeffreys):
    """ℓ, and ½ log det H with it, of differences from the first class (k − 1, p), the long way."""
    a = np.column_stack([np.ones(len(x)), x])
    scores = np.column_stack([np.zeros(len(x)), a @ theta.reshape(k - 1, -1).T])
    log_p = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    value = log_p[np.arange(len(y)), y].sum()
    if not jeffreys:
        return value
    p = np.exp(log_p[:, 1:])
    curved = p[:, :, None] * np.eye(k - 1) - p[:, :, None] * p[:, None, :]
    return value + 0.5 * np.linalg.slogdet(np.einsum("nbc,ni,nj->bicj", curved, a, a).reshape([theta.size] * 2))[1]


def ratio(at, place, best, x, y, k, jeffreys):
    """2 (ℓ at its best − ℓ at its best with one coefficient held)."""
    others = np.delete(np.arange(best.size), place)
    size = np.abs(best) + 0.01

    def of(free):
        whole = np.empty(best.size)
        whole[others], whole[place] = free * size[others], at
        return -likelihood(whole, x, y, k, jeffreys)

    found = minimize(
        of, best[others] / size[others], method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-7, "fatol": 1e-10}
    )
    found = minimize(of, found.x, method="BFGS")
    return 2 * (likelihood(best, x, y, k, jeffreys) + found.fun)


@pytest.mark.parametrize(
    ("x", "y", "jeffreys"), [(X, Y[2], True), (X, Y[2], False), (X, Y[3], True), (*SEPARATED, True)]
)
def test_ends_are_where_the_likelihood_ratio_is_that_of_the_level(x, y, jeffreys):
    penalty = {"penalty": "jeffreys"} if jeffreys else {"C": np.inf}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = LogisticRegression(tol=1e-10, **penalty).fit(x, y).summary(intervals="profile")
    assert (found.low < found.coef).all()
    assert (found.coef < found.high).all()
    assert "profile" in str(found)
    k, best = y.max() + 1, found.coef.ravel()
    for place in range(0, best.size, 1 + (k > 2)):
        for end in (found.low.ravel()[place], found.high.ravel()[place]):
            assert ratio(end, place, best, x, y, k, jeffreys) == pytest.approx(CHI2, abs=2e-3)


def test_reference_turns_intervals_around():
    model = LogisticRegression(penalty="jeffreys").fit(X, Y[3])
    first, second = (model.summary(intervals="profile", reference=c) for c in (0, 1))
    np.testing.assert_allclose(first.low[0], -second.high[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(first.high[0], -second.low[0], rtol=1e-5, atol=1e-6)


def test_what_cannot_be_profiled_says_so():
    model = LogisticRegression().fit(X, Y[2])
    with pytest.raises(DataError, match="without penalty"):
        model.summary(intervals="profile")
    with pytest.raises(DataError, match="wald"):
        model.summary(intervals="exact")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        apart = LogisticRegression(C=np.inf).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(DataError, match="jeffreys"):
        apart.summary(intervals="profile")
