"""Gaussians without one of their rows, in closed form.

A row of class a with weight w leaves: δ = x − mean_a, the scatter of a loses g δδᵀ, g = n_a w / (n_a − w), and its mean
moves by −w δ / (n_a − w). A covariance C = keep · A / whole + base · I, whose A loses h g δδᵀ and whose whole falls to
whole / τ, becomes τ (E − φ δδᵀ) in coordinates where C = I: φ = keep h g / whole, and E = θ + (1 − θ) σ is diagonal: θ
is the share of A in C along each axis, τ σ what is left of the base. Then Sherman–Morrison and the determinant lemma,
with lever = 1 − φ δᵀE⁻¹δ, give every log density. A row that could leave a matrix without inverse behind is not
answered: NaN.

>>> import numpy as np
>>> stack = Stack.of(np.array([[[8.0]]]), np.array([3.0]), shrinkage=0.0)  # {0, 2, 4}
>>> two = Leaving(0, np.zeros(1), np.array([[2.0]]), np.ones(1), 3.0)
>>> left = stack.without(two, np.array([2.0]), np.array([[[12.0]]]), np.ones((1, 1)), np.ones((1, 1)))
>>> left.norms.round(3).tolist(), np.exp(left.logdet).round(3).tolist()  # (2 − 12)² / 4, in the variance of {0, 4}
([[[25.0]]], [[4.0]])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy import linalg

from deciban import ops
from deciban.covariance import Full
from deciban.leaving import left_ops
from deciban.leaving.left_spec import Shrunk
from deciban.table import Reals

SAFE = 1e-10  # a correlation eigenvalue must stay above this for the answer to be exact
LEVER = 1e-5  # and this share of the variance along δ must stay


@dataclass(frozen=True)
class Leaving:
    """Rows of one class, to be taken away one at a time."""

    a: int
    at: np.ndarray  # (m,), where they were
    x: np.ndarray  # (m, d)
    w: np.ndarray  # (m,), or (1,) where all weigh the same
    n: float  # of the class

    @property
    def left(self) -> np.ndarray:
        rest = self.n - self.w
        return np.where(rest > 1e-9 * self.n, rest, np.nan)

    @property
    def pull(self) -> np.ndarray:
        """g"""
        return self.n * self.w / self.left


def by_class(x: Reals, y: np.ndarray, w: np.ndarray | None, n: np.ndarray) -> Iterator[Leaving]:
    narrow = y.astype(np.int16) if len(n) < 1 << 15 else y  # short numbers are sorted without comparing
    order = np.argsort(narrow, kind="stable")
    cells = np.asarray(np.take(x.values, order, axis=0), dtype=np.float64, order="C")
    ends = np.searchsorted(y[order], np.arange(len(n) + 1))
    for a in np.flatnonzero(np.diff(ends)):
        rows = order[ends[a] : ends[a + 1]]
        weight = np.ones(1) if w is None else w[rows]
        yield Leaving(int(a), rows, cells[ends[a] : ends[a + 1]], weight, float(n[a]))


@dataclass(frozen=True)
class Left:
    """What f covariances are to p means each, without each of m rows."""

    norms: np.ndarray  # (f, p, m), of x − mean; as if the mean of the row's own class had stayed
    logdet: np.ndarray  # (f, m)
    lever: np.ndarray  # (m,), the least
    least: np.ndarray  # (m,): correlation eigenvalues are at least this

    def sure(self, bound: float) -> np.ndarray:
        """Which rows (m,) leave inverses behind them, to the accuracy of numbers."""
        return (self.lever > LEVER) & (self.least > max(2.0 * bound, SAFE))


@dataclass(frozen=True)
class Stack:
    """f covariances keep · A / whole + base · I, with axes along which each is the identity and its parts diagonal."""

    lower: np.ndarray  # (f, d, d), triangular, lowerᵀ lower = C⁻¹
    white: np.ndarray  # (f, d, d), the same turned to the axes
    share: np.ndarray | None  # (f, d), θ; None: base = 0
    logdet: np.ndarray  # (f,)
    least: np.ndarray  # (f,), eigenvalue of the correlation matrix
    trace: np.ndarray  # (f,), of A
    whole: np.ndarray  # (f,)
    shrinkage: float
    ridge: float

    @classmethod
    def of(cls, a: np.ndarray, whole: np.ndarray, shrinkage: float, ridge: float = 0.0) -> Stack:
        f, d = a.shape[:2]
        trace = np.trace(a, axis1=1, axis2=2)
        keep, base = (1 - ridge) * (1 - shrinkage) / whole, (1 - ridge) * shrinkage * trace / (d * whole) + ridge
        covs = [Full(matrix * scale).plus_diagonal(plus) for matrix, scale, plus in zip(a, keep, base, strict=True)]
        least = np.array([cov.least_correlation() for cov in covs])
        lower, white, share, logdet = np.zeros_like(a), np.zeros_like(a), np.ones((f, d)), np.full(f, np.nan)
        for c in np.flatnonzero(least > SAFE):
            lower[c], logdet[c] = covs[c].triangle()
            rest, turn = linalg.eigh(base[c] * (lower[c] @ lower[c].T))
            white[c], share[c] = turn.T @ lower[c], np.clip(1.0 - rest, 0.0, 1.0)
        if shrinkage == 0 and ridge == 0:
            return cls(lower, lower, None, logdet, least, trace, whole, shrinkage, ridge)
        return cls(lower, white, share, logdet, least, trace, whole, shrinkage, ridge)

    def only(self, c: int) -> Stack:
        of = slice(c, c + 1)
        share = None if self.share is None else self.share[of]
        first = (self.lower[of], self.white[of], share, self.logdet[of], self.least[of])
        return Stack(*first, self.trace[of], self.whole[of], self.shrinkage, self.ridge)

    def without(self, rows: Leaving, mean: np.ndarray, means: np.ndarray, h: np.ndarray, lost: np.ndarray) -> Left:
        """mean (d,) is that of the rows' class, means (f, p, d); A loses h (f, 1) · g δδᵀ and whole loses `lost`
        (f, m or 1)."""
        whole, pull = self.whole[:, None], h * rows.pull
        phi = (1 - self.ridge) * (1 - self.shrinkage) * pull / whole
        tau = whole / (whole - lost)
        t = (mean - means) @ self.white.transpose(0, 2, 1)
        logdet = self.logdet[:, None] + len(mean) * np.log(tau)
        if self.share is None:
            norms, lever = self._plain(rows.x, mean, t, phi, tau)
            logdet = logdet + np.log(lever)
            return Left(norms, logdet, lever.min(axis=0), (self.least[:, None] * lever).min(axis=0))
        base = (1 - self.ridge) * self.shrinkage / (len(mean) * whole)
        full = base * self.trace[:, None] + self.ridge
        gone = base * pull / full * _squares(rows.x, mean)
        if self.ridge:
            gone += (1.0 - 1.0 / tau) * (self.ridge / full)
        shrunk = Shrunk(mean, self.white, self.share - 1.0, t)
        norms, lever, volume = left_ops.left_shrunk(rows.x, shrunk, phi, tau, gone)
        volume *= lever
        least = (1.0 - gone) * lever * self.least[:, None]  # E lies between σ and 1
        least *= volume > 1e-290
        return Left(norms, logdet + np.log(volume), lever.min(axis=0), least.min(axis=0))

    def _plain(self, x: np.ndarray, mean: np.ndarray, t: np.ndarray, phi, tau) -> tuple[np.ndarray, np.ndarray]:
        """(norms (f, p, m), lever (f, m)) where E is the identity."""
        f, p, d = t.shape
        uu = np.ascontiguousarray(ops.quadratic_full(Reals(x), np.tile(mean, (f, 1)), self.lower, np.zeros(f)).T)
        uu *= -2.0
        lever = 1.0 - phi * uu
        coef = (t @ self.lower).reshape(f * p, d)
        near = np.ascontiguousarray(ops.affine(Reals(x), coef, -(coef @ mean), strict=True).T).reshape(f, p, -1)
        near += uu[:, None]
        norms = near * (phi / lever)[:, None]
        norms += 2.0
        norms *= near
        norms -= uu[:, None]
        norms += (t * t).sum(axis=2)[:, :, None]
        norms /= tau[:, None]
        return norms, lever


def _squares(x: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """|x − mean|², (m,)."""
    delta = x - mean
    return np.einsum("ij,ij->i", delta, delta)
