"""Leave-one-out scores in one pass over the rows; `ops.spec` defines the operations.

>>> import numpy as np
>>> x, y = np.array([[0.0], [2.0]]), np.zeros(2, dtype=np.int32)  # e = x² / 16
>>> one = np.ones(1)
>>> loo_normal(x, y, np.zeros((1, 1)), np.full((1, 1), 0.25), 0 * one, one, 0.0).round(4).tolist()
[0.0, -0.0228]
"""

from __future__ import annotations

import numpy as np

from deciban import ops
from deciban.ops import spec
from deciban.ops.spec import FisherPairs, Shrunk, Students

SMALL = 256  # columns up to which our own matrix kernels beat a call into BLAS


def loo_normal(cells: np.ndarray, y, mean, scale, bias, far, deep: float) -> np.ndarray:
    """Rows (n, d) of doubles under their own normals without them: bias − ½ (Σ log r + far Σ e / r), r = 1 − e,
    e = (scale (x − mean))²; NaN where Π r is not above `deep`. (n,)"""
    core = ops.core()
    if core is None or cells.strides[1:] != (8,):
        return spec.loo_normal(cells, y, mean, scale, bias, far, deep)
    own = np.empty(len(cells))
    core.left_normals(cells, y, mean, scale, bias, far, deep, own)
    return own


def loo_pairs(cells: np.ndarray, w: np.ndarray | None, p: FisherPairs, safe: float) -> np.ndarray:
    """Log odds (q, m) of rows of class a, weights w (m,) or 1 each, against q others, each row left out of a.
    NaN where less than `least` stays along the row, or `safe` of the variances along the direction."""
    core = ops.core()
    if core is None or cells.shape[1] > SMALL:
        return spec.loo_pairs(cells, w, p, safe)
    out = np.empty((len(p.part), len(cells)))
    core.left_pairs(cells, w, p.mean, p.n, p.turn, p.part, p.apart, p.least, safe, out)
    return out


def loo_shared(cells: np.ndarray, y, mean, white, phi, tau) -> tuple[np.ndarray, np.ndarray]:
    """(norms (n, k), lever (n,)) of rows under classes that share a covariance, each row out of its own class; phi and
    tau are (n,) or less."""
    phi, tau = (np.ascontiguousarray(np.broadcast_to(a, len(cells))) for a in (phi, tau))
    core = ops.core()
    if core is None or cells.shape[1] > SMALL:
        return spec.loo_shared(cells, y, mean, white, phi, tau)
    norms, lever = np.empty((len(cells), len(mean))), np.empty(len(cells))
    core.left_shared(cells, y, mean, white, phi, tau, norms, lever)
    return norms, lever


def loo_shrunk(x: np.ndarray, s: Shrunk, phi, tau, removed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(norms (f, p, m), lever (f, m), det E (f, m)) of rows x (m, d); phi, tau and removed are (f, m) or less."""
    phi, tau, removed = (np.ascontiguousarray(np.broadcast_to(a, (len(s.t), len(x)))) for a in (phi, tau, removed))
    core = ops.core()
    if core is None or x.shape[1] > SMALL:
        return spec.loo_shrunk(x, s, phi, tau, removed)
    norms, lever, volume = np.empty((*s.t.shape[:2], len(x))), np.empty(phi.shape), np.empty(phi.shape)
    core.left_shrunk(x, s.mean, s.white, s.rest, s.t, s.t * s.t, phi, tau, removed, norms, lever, volume)
    return norms, lever, volume


def loo_students(cells: np.ndarray, y: np.ndarray, s: Students, deep: float) -> np.ndarray:
    """Log densities (n, k) of rows under each class, the row out of its own class y and out of the prior; NaN
    where less than `deep` stays of a scale, or a number is too large."""
    core = ops.core()
    if core is None:
        return spec.loo_students(cells, y, s, deep)
    out = np.empty((len(cells), len(s.mean)))
    core.left_students(
        cells, y, s.mean, s.half, s.inverse, s.whole, s.left, s.moves, s.prior, s.sway, s.part, deep, out
    )
    return out


def series(cells: np.ndarray, w: np.ndarray | None, coef: np.ndarray) -> np.ndarray:
    """Σ_m Σ_j coef[m − 1, c, j] x (w x)^m, m from 1, (n, k): how scores change with a row's own cells."""
    core = ops.core()
    if core is None or coef[0].size > SMALL**2:
        return spec.series(cells, w, coef)
    out = np.empty((len(cells), coef.shape[1]))
    core.series(cells, w, coef, out)
    return out
