"""Logistic and softmax loss over rows: value, gradient and curvature in one pass. `ops.spec` defines them.

Sparse rows take and give parameters by column (`ready`, `plain`), where all classes of a column lie side by side.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32)
>>> slope(x, y, None, np.zeros((1, 2)), 1)[1].tolist()
[[-1.0, 0.0]]
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.ops import spec
from deciban.ops.packed import Packed

SMALL = 1024  # columns up to which our own Hessian beats a call into BLAS


def pack(x: Reals | Counts, coef: np.ndarray) -> np.ndarray:
    """Parameters (m, p) as the operations take them for these rows."""
    if isinstance(x, Reals) or ops.core() is None:
        return np.ascontiguousarray(coef)
    return np.ascontiguousarray(coef.T) if len(coef) == 1 else Packed.of(coef).rows


def unpack(x: Reals | Counts, a: np.ndarray, m: int) -> np.ndarray:
    """Results of the operations as (m, p)."""
    return a if isinstance(x, Reals) or ops.core() is None else np.ascontiguousarray(a[:, :m].T)


def slope(x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray, m: int) -> tuple[float, np.ndarray]:
    """(loss, gradient)."""
    core = ops.core()
    if core is None:
        return spec.slope(x, y, w, coef)
    gradient = np.zeros(coef.shape)
    if isinstance(x, Reals):
        return core.logistic_slope(x.values, y, w, coef, gradient), gradient
    return core.csr_logistic_slope(*ops.csr(x), x.d, y, w, coef, m, gradient), gradient


def product(x: Reals | Counts, w: np.ndarray | None, coef: np.ndarray, v: np.ndarray, m: int) -> np.ndarray:
    """The Hessian times v."""
    core = ops.core()
    if core is None:
        return spec.product(x, w, coef, v)
    out = np.zeros(coef.shape)
    if isinstance(x, Reals):
        core.logistic_product(x.values, w, coef, v, out)
    else:
        core.csr_logistic_product(*ops.csr(x), x.d, w, coef, v, m, out)
    return out


def diagonal(
    x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray, m: int
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """(loss, gradient, Σ curvature[c, c] x, Σ curvature[c, c] x²)."""
    core = ops.core()
    if core is None:
        return spec.diagonal(x, y, w, coef)
    sums = tuple(np.zeros(coef.shape) for _ in range(3))
    if isinstance(x, Reals):
        return core.logistic_diagonal(x.values, y, w, coef, *sums), *sums
    return core.csr_logistic_diagonal(*ops.csr(x), x.d, y, w, coef, m, *sums), *sums


def curve(
    x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """(loss, gradient (m, p), Hessian (m (m + 1) / 2, p, p): its blocks a ≤ b), for coef (m, p)."""
    core, (m, p) = ops.core(), coef.shape
    if core is None or isinstance(x, Counts) or p > SMALL:
        value, gradient = slope(x, y, w, pack(x, coef), m)
        return value, unpack(x, gradient, m), spec.blocks(x, w, coef)
    gradient, blocks = np.zeros((m, p)), np.empty((m * (m + 1) // 2, p, p))
    return core.logistic_curve(x.values, y, w, coef, gradient, blocks), gradient, blocks


def along(z: np.ndarray, turn: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The loss's first and second derivative (2,) where margins z (n, m), which are overwritten, go on by `turn`."""
    if ops.core() is None or z.shape[1] == 1:
        return np.array(spec.along(z, turn, y, w))
    prob = ops.posterior(z, logs=False)
    square = prob * turn
    mean = np.einsum("nm->n", square)
    square *= turn
    spread = np.einsum("nm->n", square) - mean**2
    mean -= turn[np.arange(len(z)), y]
    return np.array([mean.sum(), spread.sum()] if w is None else [w @ mean, w @ spread])


def assembled(blocks: np.ndarray, m: int) -> np.ndarray:
    """The whole Hessian (m · p, m · p) from its blocks a ≤ b."""
    p = blocks.shape[-1]
    if m == 1:
        return blocks[0]
    out = np.empty((m, p, m, p))
    for block, (a, b) in zip(blocks, combinations_with_replacement(range(m), 2), strict=True):
        out[a, :, b] = out[b, :, a] = block
    return out.reshape(m * p, m * p)


def lasso_descent(h, g, w, lasso, tol: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(d, H d) of least g·d + ½ dᵀHd + Σ lasso |w + d|, by coordinate descent in at most so many rounds."""
    core = ops.core()
    if core is None:
        return spec.lasso_descent(h, g, w, lasso, tol, most)
    d, turn = np.zeros_like(g), np.zeros_like(g)
    core.lasso_descent(np.ascontiguousarray(h), g, w, lasso, tol, most, d, turn)
    return d, turn


def lasso_columns(x, q, share, g, w, lasso, ridge, order, least: float, most: int) -> tuple[np.ndarray, float]:
    """(d, dᵀHd) of least g·d + ½ dᵀHd + Σ lasso |w + d|, by coordinate descent on columns x (n, p) in CSC; `q`,
    `share` (m, n) make the Hessian, and only the parameters in `order` move."""
    core = ops.core()
    if core is None or x.indices.dtype != np.int32:
        return spec.lasso_columns(x, q, share, g, w, lasso, ridge, order, least, most)
    d, u, mean = np.zeros_like(g), np.zeros(q.shape), np.zeros(q.shape[1])
    indptr, rows = x.indptr.astype(np.int64), core.CheckedColumns(x.indices, len(mean))
    bent = core.lasso_columns(indptr, rows, x.data, q, share, g, w, lasso, ridge, order, least, most, u, mean, d)
    return d, bent


def online(
    x: Reals | Counts, y, w, speed: float, decay: np.ndarray, coef: np.ndarray, mean: np.ndarray, past: np.ndarray
) -> None:
    """The online rule, row by row, into coef, its running mean, and past = {rows, Σ |x|²}."""
    core = ops.core()
    if isinstance(x, Counts):
        x = Reals(x.dense())
    if core is None:
        spec.online(x, y, w, speed, decay, coef, mean, past)
    else:
        core.logistic_online(x.values, y, w, speed, decay, coef, mean, past)
