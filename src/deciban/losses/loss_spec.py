"""The specification of logistic and softmax loss: NumPy, read it to know what `loss_ops` computes.

Rows x, class codes y (n,), weights w (n,) or None, parameters coef (m, p): one margin (m = 1) for two classes, else one
score for each class. Where p = d + 1, the column after the last of x is 1: the intercept.

    m = 1:  loss = Σ w log(1 + e^−sz), s = ±1          curvature = w P(1) P(0)
    m ≥ 2:  loss = Σ w (log Σ_c e^z_c − z_y)           curvature[a, b] = w (p_a [a = b] − p_a p_b)

>>> import numpy as np
>>> from deciban.table import Reals
>>> x, y = Reals(np.array([[0.0], [0.0]])), np.array([0, 1], dtype=np.int32)
>>> bool(slope(x, y, None, np.zeros((1, 2)))[0] == 2 * np.log(2))
True
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from deciban.table import Counts, Reals


def cells(x: Reals | Counts, p: int):
    """(n, p): x, and 1 where there is an intercept; sparse where x is."""
    if isinstance(x, Reals):
        return np.hstack([x.dense(), np.ones((x.n, p - x.d))])
    start, width = x.indptr[0], p - x.d
    row = np.concatenate([x.row_of(), np.repeat(np.arange(x.n), width)])
    column = np.concatenate([x.column_of(), np.full(x.n * width, x.d)])
    stored = np.concatenate([np.asarray(x.values[start : x.indptr[-1]], dtype=np.float64), np.ones(x.n * width)])
    return csr_array((stored, (row, column)), shape=(x.n, p))


def weights(w: np.ndarray | None, n: int) -> np.ndarray:
    return np.ones(n) if w is None else w


def probabilities(x: Reals | Counts, coef: np.ndarray) -> np.ndarray:
    """P(class 1) (n, 1) where m = 1, else P(class) (n, m)."""
    z = cells(x, coef.shape[1]) @ coef.T
    if len(coef) == 1:
        return np.exp(-np.logaddexp(0.0, -z))
    return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))


def slope(x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray) -> tuple[float, np.ndarray]:
    """(loss, gradient (m, p))."""
    a, w = cells(x, coef.shape[1]), weights(w, x.n)
    z = a @ coef.T
    if len(coef) == 1:
        side = np.where(y > 0, 1.0, -1.0)
        loss = w @ np.logaddexp(0.0, -side * z[:, 0])
        rest = -(w * side * np.exp(-np.logaddexp(0.0, side * z[:, 0])))[:, None]
    else:
        log_sum = np.logaddexp.reduce(z, axis=1)
        loss = w @ (log_sum - z[np.arange(x.n), y])
        rest = w[:, None] * (np.exp(z - log_sum[:, None]) - np.eye(len(coef))[y])
    return float(loss), np.asarray((a.T @ rest).T)


def product(x: Reals | Counts, w: np.ndarray | None, coef: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The Hessian times v, (m, p)."""
    a, prob = cells(x, coef.shape[1]), probabilities(x, coef)
    turn = a @ v.T
    turn = (1.0 - prob) * turn if len(coef) == 1 else turn - (prob * turn).sum(axis=1, keepdims=True)
    return np.asarray((a.T @ (weights(w, x.n)[:, None] * prob * turn)).T)


def diagonal(
    x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """(loss, gradient, Σ curvature[c, c] x, Σ curvature[c, c] x²), (m, p) each: the last is the Hessian's diagonal."""
    a, prob = cells(x, coef.shape[1]), probabilities(x, coef)
    curvature = weights(w, x.n)[:, None] * prob * (1.0 - prob)
    return *slope(x, y, w, coef), np.asarray((a.T @ curvature).T), np.asarray(((a * a).T @ curvature).T)


def along(z: np.ndarray, turn: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> tuple[float, float]:
    """The loss's first and second derivative where margins z (n, m) go on by `turn`."""
    w = weights(w, len(z))
    if z.shape[1] == 1:
        prob, u = expit(z[:, 0]), turn[:, 0]
        return float(w @ ((prob - (y > 0)) * u)), float(w @ (prob * (1.0 - prob) * u**2))
    prob = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    mean = (prob * turn).sum(axis=1)
    spread = (prob * turn**2).sum(axis=1) - mean**2
    return float(w @ (mean - turn[np.arange(len(z)), y])), float(w @ spread)


def blocks(x: Reals | Counts, w: np.ndarray | None, coef: np.ndarray) -> np.ndarray:
    """The Hessian's blocks of classes a ≤ b, each symmetric, (m (m + 1) / 2, p, p)."""
    m, p = coef.shape
    a, prob, w = cells(x, p), probabilities(x, coef), weights(w, x.n)
    out = np.empty((m * (m + 1) // 2, p, p))
    for at, (one, two) in enumerate(zip(*np.triu_indices(m), strict=True)):
        out[at] = _gram(a, w * prob[:, one] * (1.0 - prob[:, one] if one == two else -prob[:, two]))
    return out


def _gram(a, share: np.ndarray) -> np.ndarray:
    if not isinstance(a, np.ndarray):
        return np.asarray((a.multiply(share[:, None]).T @ a).todense())
    half = a * np.sqrt(np.abs(share))[:, None]
    return half.T @ half if share.sum() >= 0 else -(half.T @ half)  # all shares have one sign


def lasso_descent(h, g, w, lasso, tol: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(d, H d) of least g·d + ½ dᵀHd + Σ lasso |w + d|, one coordinate at a time."""
    d, turn = np.zeros_like(g), np.zeros_like(g)
    for _ in range(most):
        gained = 0.0
        for j in np.flatnonzero(h.diagonal() > 0):
            aim, edge = w[j] + d[j] - (g[j] + turn[j]) / h[j, j], lasso[j] / h[j, j]
            step = np.sign(aim) * max(abs(aim) - edge, 0.0) - w[j] - d[j]
            d[j] += step
            turn += step * h[j]
            gained = max(gained, h[j, j] * step**2)
        if gained <= tol:
            break
    return d, turn


def lasso_columns(x, q, share, g, w, lasso, ridge, order, least: float, most: int) -> tuple[np.ndarray, float]:
    """(d, dᵀHd) of least g·d + ½ dᵀHd + Σ lasso |w + d| over the parameters in `order`, one at a time, until a round's
    largest gain is `least` of the first one's. x is CSC (n, p); H = Σ q (1 − share) … as `loss_ops` says."""
    d, u, mean, p = np.zeros_like(g), np.zeros(q.shape), np.zeros(q.shape[1]), x.shape[1]
    enough = 0.0
    for done in range(most):
        gained = 0.0
        for at in order:
            c, j = divmod(int(at), p)
            cut = slice(x.indptr[j], x.indptr[j + 1])
            i, v = x.indices[cut], x.data[cut]
            curve = float(q[c, i] * (1.0 - share[c, i]) @ v**2) + ridge[j]
            if not curve > 0:
                continue
            aim = w[at] + d[at] - (g[at] + ridge[j] * d[at] + (q[c, i] * v) @ (u[c, i] - mean[i])) / curve
            step = np.sign(aim) * max(abs(aim) - lasso[j] / curve, 0.0) - w[at] - d[at]
            d[at] += step
            u[c, i] += step * v
            mean[i] += share[c, i] * step * v
            gained = max(gained, curve * step**2)
        enough = least * gained if done == 0 else enough
        if gained <= enough:
            break
    return d, float((q * u * (u - mean)).sum() + np.tile(ridge, len(q)) @ d**2)


def online(
    x: Reals, y, w, speed: float, decay: np.ndarray, coef: np.ndarray, mean: np.ndarray, past: np.ndarray
) -> None:
    """coef ← coef + rate (w (y − p) x − decay coef) row by row, `mean` weighs row t by t;
    rate = speed / (mean |x|² (1 + rows / 1000)^⅓)."""
    a, w = cells(x, coef.shape[1]), weights(w, x.n)
    for i in range(x.n):
        past += 1.0, a[i] @ a[i]
        rate = speed * past[0] / (past[1] * np.cbrt(1.0 + 1e-3 * past[0])) if past[1] > 0 else 0.0
        prob = probabilities(Reals(a[i : i + 1]), coef)[0]
        own = np.array([float(y[i] > 0)]) if len(coef) == 1 else np.eye(len(coef))[y[i]]
        coef += rate * (w[i] * np.multiply.outer(own - prob, a[i]) - decay * coef)
        mean += 2.0 / (past[0] + 1.0) * (coef - mean)
