"""Leave-one-out scores under joint Gaussians: one covariance for each class, or one for all.

>>> import numpy as np
>>> from deciban.tallies import CentredScatter
>>> x, y = np.array([[0.0], [2.0], [4.0], [9.0], [11.0], [16.0]]), np.repeat([0, 1], 3).astype(np.int32)
>>> t = CentredScatter.from_means(np.array([3.0, 3.0]), np.array([[2.0], [12.0]]), np.array([[[8.0]], [[26.0]]]))
>>> Separate.of(t, t.n).scores(Reals(x), y, None)[1].round(3).tolist()  # 2 among {0, 4}: log 1 / deviation 2
[-0.693, -6.849]

`DowndateBatch`: Gaussians without one of their rows, in closed form. A row of class a with weight w is removed: δ = x −
mean_a, the scatter of a loses g δδᵀ, g = n_a w / (n_a − w), and its mean moves by −w δ / (n_a − w). A covariance C =
keep · A / whole + base · I, whose A loses h g δδᵀ and whose whole falls to whole / τ, becomes τ (E − φ δδᵀ) in
coordinates where C = I: φ = keep h g / whole, and E = θ + (1 − θ) σ is diagonal: θ is the share of A in C along each
axis, τ σ what is left of the base. Then Sherman–Morrison and the determinant lemma, with lever = 1 − φ δᵀE⁻¹δ, give
every log density. A row that could leave a matrix without inverse behind is not answered: NaN.

>>> import numpy as np
>>> stack = DowndateBatch.of(np.array([[[8.0]]]), np.array([3.0]), shrinkage=0.0)  # {0, 2, 4}
>>> two = RowsOut(0, np.zeros(1), np.array([[2.0]]), np.ones(1), 3.0)
>>> left = stack.without(two, np.array([2.0]), np.array([[[12.0]]]), np.ones((1, 1)), np.ones((1, 1)))
>>> left.norms.round(3).tolist(), np.exp(left.logdet).round(3).tolist()  # (2 − 12)² / 4, in the variance of {0, 4}
([[[25.0]]], [[4.0]])

`PairsLeft`: Fisher's rule for pairs of classes, each row of the first class left out in turn. Without a row of weight
v, δ = x − mean_a, the covariance of a is τ Σ_a − φ δδᵀ and its mean mean_a − c δ, with τ = n / (n − v), c = v / (n − v)
and φ = τ c. With B = (τ Σ_a + Σ_b)⁻¹, Sherman and Morrison's formula makes the direction w = (Σ_a + Σ_b)⁻¹ (mean_a −
mean_b) a sum r + s p of r = B (mean_a − mean_b) and p = B δ: everything else is products of r, p, δ and the
covariances. Coordinates in which Σ_a + Σ_b = I and Σ_a is diagonal make B diagonal too, for every v and for both
classes: one product with a matrix for each row and pair.

>>> import numpy as np
>>> x, mean = np.array([[0.0], [2.0], [4.0]]), np.array([[2.0], [10.0]])
>>> pairs = PairsLeft.of(np.array([3.0, 9.0]), mean, np.array([[[8 / 3]], [[1.0]]]))
>>> pairs.odds(0, np.array([1]), x[2:], None).round(6).tolist()  # without 4: mean 1, variance 1
[[13.5]]

`students`: normal columns whose mean and variance are integrated out, each row left out of its class and of the prior.
The prior comes from all rows, so that each row changes every class; the constants are these changes for rows of weight
1, and one pass over the rows applies them.

>>> import numpy as np
>>> from deciban.tallies import Moments
>>> t = Moments(np.array([3.0]), np.array([[2.0]]), np.array([[8.0]]))  # {0, 2, 4}; without 4: mean 1, m2 = 2
>>> prior = GivenPrior(np.array([0.0]), np.array([1.0]), kappa=1.0, shape=1.0)
>>> students(t, prior).left[3].tolist(), students(t, prior).moves[:2, 0].tolist()
([2.5], [0.5, 0.75])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy import linalg
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Reals
from deciban.gaussian.covariance import DenseCovariance
from deciban.ops import leave_one_out
from deciban.ops.spec import FisherPairs, Shrunk, Students
from deciban.tallies import Moments, Scatter

SAFE = 1e-10  # a correlation eigenvalue must stay above this for the answer to be exact
LEVER = 1e-5  # and this share of the variance along δ must stay


@dataclass(frozen=True)
class RowsOut:
    """Rows, to be removed one at a time: of one class, or of all."""

    a: Any  # their class, an int or (m,)
    at: np.ndarray  # (m,), where they were
    x: np.ndarray  # (m, d)
    w: np.ndarray  # (m,), or (1,) where all weigh the same
    n: Any  # of their class, a float or (m,)

    @classmethod
    def of_all(cls, x: Reals, y: np.ndarray, w: np.ndarray | None, n: np.ndarray) -> RowsOut:
        cells = np.asarray(x.values, dtype=np.float64)
        return cls(y, np.arange(x.n), cells, np.ones(1) if w is None else w, n[y])

    @property
    def left(self) -> np.ndarray:
        rest = self.n - self.w
        return np.where(rest > 1e-9 * self.n, rest, np.nan)

    @property
    def pull(self) -> np.ndarray:
        """g"""
        return self.n * self.w / self.left


def by_class(x: Reals, y: np.ndarray, w: np.ndarray | None, n: np.ndarray) -> Iterator[RowsOut]:
    narrow = y.astype(np.int16) if len(n) < 1 << 15 else y  # short numbers are sorted without comparing
    order = np.argsort(narrow, kind="stable")
    cells = np.asarray(np.take(x.values, order, axis=0), dtype=np.float64, order="C")
    ends = np.searchsorted(y[order], np.arange(len(n) + 1))
    for a in np.flatnonzero(np.diff(ends)):
        rows = order[ends[a] : ends[a + 1]]
        weight = np.ones(1) if w is None else w[rows]
        yield RowsOut(int(a), rows, cells[ends[a] : ends[a + 1]], weight, float(n[a]))


@dataclass(frozen=True)
class Downdated:
    """What f covariances are to p means each, without each of m rows."""

    norms: np.ndarray  # (f, p, m), of x − mean; as if the mean of the row's own class had stayed
    logdet: np.ndarray  # (f, m)
    lever: np.ndarray  # (m,), the least
    least: np.ndarray  # (m,): correlation eigenvalues are at least this

    def sure(self, bound: float) -> np.ndarray:
        """Which rows (m,) leave inverses behind them, to the accuracy of numbers."""
        return (self.lever > LEVER) & (self.least > max(2.0 * bound, SAFE))


@dataclass(frozen=True)
class DowndateBatch:
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
    more: np.ndarray  # (f,), a variance of every column that stays

    @classmethod
    def of(
        cls, a: np.ndarray, whole: np.ndarray, shrinkage: float, ridge: float = 0.0, more: np.ndarray | None = None
    ) -> DowndateBatch:
        f, d = a.shape[:2]
        trace, more = np.trace(a, axis1=1, axis2=2), np.zeros(f) if more is None else more
        keep, base = (1 - ridge) * (1 - shrinkage) / whole, (1 - ridge) * shrinkage * trace / (d * whole) + ridge + more
        covs = [
            DenseCovariance(matrix * scale).plus_diagonal(plus)
            for matrix, scale, plus in zip(a, keep, base, strict=True)
        ]
        least = np.array([cov.least_correlation() for cov in covs])
        lower, logdet, sure = np.zeros_like(a), np.full(f, np.nan), np.flatnonzero(least > SAFE)
        for c in sure:
            lower[c], logdet[c] = covs[c].triangle()
        if shrinkage == 0 and ridge == 0 and not more.any():
            return cls(lower, lower, None, logdet, least, trace, whole, shrinkage, ridge, more)
        white, share = np.zeros_like(a), np.ones((f, d))
        for c in sure:
            root = np.sqrt(base[c]) * lower[c]
            rest, turn = linalg.eigh(root @ root.T)
            white[c], share[c] = turn.T @ lower[c], np.clip(1.0 - rest, 0.0, 1.0)
        return cls(lower, white, share, logdet, least, trace, whole, shrinkage, ridge, more)

    def only(self, c: int) -> DowndateBatch:
        of = slice(c, c + 1)
        share = None if self.share is None else self.share[of]
        first = (self.lower[of], self.white[of], share, self.logdet[of], self.least[of])
        return DowndateBatch(*first, self.trace[of], self.whole[of], self.shrinkage, self.ridge, self.more[of])

    def without(self, rows: RowsOut, mean: np.ndarray, means: np.ndarray, h: np.ndarray, lost: np.ndarray) -> Downdated:
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
            return Downdated(norms, logdet, lever.min(axis=0), (self.least[:, None] * lever).min(axis=0))
        removed = self._removed(_squares(rows.x, mean), pull, tau, len(mean))
        shrunk = Shrunk(mean, self.white, self.share - 1.0, t)
        norms, lever, volume = leave_one_out.loo_shrunk(rows.x, shrunk, phi, tau, removed)
        volume *= lever
        least = (1.0 - removed) * lever * self.least[:, None]  # E lies between σ and 1
        least *= volume > 1e-290
        return Downdated(norms, logdet + np.log(volume), lever.min(axis=0), least.min(axis=0))

    def norms_without(
        self, rows: RowsOut, mean: np.ndarray, apart: np.ndarray, own: np.ndarray, h: np.ndarray, lost: np.ndarray
    ) -> Downdated:
        """The same norms of other points without each of the rows, `apart` (f, p, d) from the means of classes; `own`
        (f, p): whether the class is that of the rows, whose mean moves."""
        whole, pull = self.whole[:, None], h * rows.pull
        phi = (1 - self.ridge) * (1 - self.shrinkage) * pull / whole
        tau = whole / (whole - lost)
        delta, move = rows.x - mean, rows.w / rows.left
        norms = np.empty((*apart.shape[:2], len(rows.x)))
        lever, volume = np.empty((len(apart), len(rows.x))), np.ones((len(apart), len(rows.x)))
        removed: Any = np.zeros((len(apart), 1))
        if self.share is not None:
            removed = self._removed(_squares(rows.x, mean), pull, tau, len(mean))
        for f, white in enumerate(self.white):
            row, point = delta @ white.T, apart[f] @ white.T
            if self.share is None:
                across, length = point @ row.T, np.square(point).sum(axis=1)[:, None]
                squares = np.einsum("ij,ij->i", row, row)
            else:
                diagonal = 1.0 + (self.share[f] - 1.0) * np.broadcast_to(removed[f], len(row))[:, None]
                scaled = row / diagonal
                across, length = point @ scaled.T, np.square(point) @ (1.0 / diagonal).T
                squares = np.einsum("ij,ij->i", row, scaled)
                volume[f] = np.exp(np.log(diagonal).sum(axis=1))
            here = own[f][:, None]
            length = np.where(here, length + move * (2.0 * across + move * squares), length)
            across = np.where(here, across + move * squares, across)
            lever[f] = 1.0 - phi[f] * squares
            norms[f] = (length + phi[f] / lever[f] * across * across) / tau[f]
        volume *= lever
        logdet = self.logdet[:, None] + len(mean) * np.log(tau) + np.log(volume)
        least = (1.0 - removed) * lever * self.least[:, None]
        least *= volume > 1e-290
        return Downdated(norms, logdet, lever.min(axis=0), least.min(axis=0))

    def _removed(self, squares: np.ndarray, pull: np.ndarray, tau: np.ndarray, d: int) -> np.ndarray:
        """1 − σ, (f, m): what the base loses with each row, in units in which the rest of the covariance stays."""
        base, fixed = (1 - self.ridge) * self.shrinkage / (d * self.whole[:, None]), self.ridge + self.more[:, None]
        full = base * self.trace[:, None] + fixed
        full = np.where(full > 0, full, 1.0)
        out = base * pull / full * squares
        return out + (1.0 - 1.0 / tau) * (fixed / full) if fixed.any() else out

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


@dataclass(frozen=True)
class Separate:
    """A covariance for each class: ((1 − blend) S_c + blend S) / ((1 − blend) n_c + blend n), shrunk and ridged, in
    units of columns that suit what is added to it."""

    mean: np.ndarray  # (k, d)
    n: np.ndarray  # (k,)
    free: np.ndarray  # (k,), degrees of freedom
    blend: float
    bound: float  # correlation eigenvalues up to this are no inverse
    stack: DowndateBatch
    unit: np.ndarray | None = None  # (d,), None: 1 each

    @classmethod
    def of(
        cls,
        t: Scatter,
        free: np.ndarray,
        blend: float = 0.0,
        shrinkage: float = 0.0,
        ridge: float = 0.0,
        bound: float = 0.0,
        more: np.ndarray | None = None,
    ) -> Separate:
        """`more` (k, d): variances that are added to covariances, the same or 0 for each class, where they are neither
        shrunk nor ridged."""
        a = (1 - blend) * t.scatter + blend * t.scatter.sum(axis=0)
        whole = np.maximum((1 - blend) * free + blend * free.sum(), 1e-300)
        if more is None or shrinkage > 0 or ridge > 0:  # then they are singular to rounding alone
            return cls(t.mean, t.n, free, blend, bound, DowndateBatch.of(a, whole, shrinkage, ridge))
        unit = np.sqrt(more.max(axis=0))
        stack = DowndateBatch.of(a / unit[:, None] / unit, whole, 0.0, more=np.where(more.any(axis=1), 1.0, 0.0))
        return cls(t.mean / unit, t.n, free, blend, bound, stack, unit)

    @classmethod
    def around(cls, t: Scatter, prior: np.ndarray, rows: float) -> Separate:
        """Covariances (S_c + rows · prior) / (n_c + rows); the prior (d, d) stays as rows are left out."""
        return cls(t.mean, t.n, t.n, 0.0, 0.0, DowndateBatch.of(t.scatter + rows * prior, t.n + rows, 0.0))

    def scores(self, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Log densities (n, k) up to a constant, of each row without itself."""
        if (self.free <= 0).any() or not (self.stack.least > max(self.bound, SAFE)).all():
            return np.full((x.n, len(self.n)), np.nan)
        if self.unit is not None:
            x = Reals(np.asarray(x.values, dtype=np.float64) / self.unit)
        if self.blend == 0 and self.stack.share is None:
            return self._plain(x, y, w)
        if self.blend == 0:  # only the row's own class changes
            out = ops.quadratic_full(x, self.mean, self.stack.lower, -0.5 * self.stack.logdet)
            for rows in by_class(x, y, w, self.n):
                own = slice(rows.a, rows.a + 1)
                self._put(out, rows, self.stack.only(rows.a), own, np.ones((1, 1)))
            return out
        out = np.empty((x.n, len(self.n)))
        for rows in by_class(x, y, w, self.n):
            h = np.full((len(self.n), 1), self.blend)
            h[rows.a] = 1.0
            self._put(out, rows, self.stack, slice(None), h)
        return out

    def _plain(self, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """The scores where each class has its own covariance, not shrunk: rows of all classes at once."""
        rows, at = RowsOut.of_all(x, y, w, self.n), np.arange(x.n)
        out = ops.quadratic_full(x, self.mean, self.stack.lower, np.zeros(len(self.n)))
        own, whole = -2.0 * out[at, y], self.stack.whole[y]
        tau = whole / (whole - rows.w)
        lever = 1.0 - rows.pull / whole * own
        own *= (rows.n / rows.left) ** 2 / (lever * tau)
        out[at, y] = -0.5 * (own + x.d * np.log(tau) + np.log(lever))
        out -= 0.5 * self.stack.logdet
        sure = (lever > LEVER) & (self.stack.least[y] * lever > max(2.0 * self.bound, SAFE)) & (rows.w < self.free[y])
        out[~sure] = np.nan
        return out

    def scores_of(self, x: np.ndarray, rows: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """The same of other points x (q, d) without each of the rows, (q, rows, k)."""
        q, k = len(x), len(self.n)
        out = np.full((q, rows.n, k), np.nan)
        if (self.free <= 0).any() or not (self.stack.least > max(self.bound, SAFE)).all():
            return out
        apart = x[None] - self.mean[:, None]
        if self.blend == 0:
            norms = -2.0 * ops.quadratic_full(Reals(x), self.mean, self.stack.lower, np.zeros(k))
            out[:] = -0.5 * (norms + self.stack.logdet)[:, None]
        for part in by_class(rows, y, w, self.n):
            a = part.a
            classes = slice(a, a + 1) if self.blend == 0 else slice(None)
            stack = self.stack.only(a) if self.blend == 0 else self.stack
            mine = (np.arange(k) == a)[classes]
            h = np.where(mine, 1.0, self.blend)[:, None]
            own = np.repeat(mine[:, None], q, axis=1)
            left = stack.norms_without(part, self.mean[a], apart[classes], own, h, h * part.w)
            sure = left.sure(self.bound) & (part.w < self.free[a])
            found = np.where(sure, -0.5 * (left.norms + left.logdet[:, None]), np.nan)
            out[:, part.at, classes] = found.transpose(1, 2, 0)
            out[:, part.at[~sure]] = np.nan
        return out

    def _put(self, out: np.ndarray, rows: RowsOut, stack: DowndateBatch, classes: slice, h: np.ndarray) -> None:
        left = stack.without(rows, self.mean[rows.a], self.mean[classes, None], h, h * rows.w)
        norms = left.norms[:, 0]
        norms[rows.a if len(norms) > 1 else 0] *= (rows.n / rows.left) ** 2
        norms += left.logdet
        norms *= -0.5
        out[rows.at, classes] = norms.T
        out[rows.at[~(left.sure(self.bound) & (rows.w < self.free[rows.a]))]] = np.nan


@dataclass(frozen=True)
class Shared:
    """One covariance for all classes, shrunk: that of all rows about the means of their classes, or Σ_c mix[c] Σ_c."""

    mean: np.ndarray  # (k, d)
    n: np.ndarray  # (k,)
    scatter: np.ndarray  # (k, d, d), or (1, d, d) where pooled
    free: np.ndarray  # (k,), degrees of freedom
    mix: np.ndarray | None
    bound: float
    stack: DowndateBatch  # one
    known: dict[tuple[int, float], DowndateBatch] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, t: Scatter, free: np.ndarray, shrinkage=0.0, mix=None, bound=0.0) -> Shared:
        return cls(t.mean, t.n, t.scatter, free, mix, bound, cls._stack(t.scatter, free, mix, shrinkage))

    @classmethod
    def around(cls, t: Scatter, scatter: np.ndarray) -> Shared:
        """Of a pooled scatter (d, d) that is more than that of the rows; the difference stays as rows are left out."""
        stack = DowndateBatch.of(scatter[None], t.n.sum(keepdims=True), 0.0)
        return cls(t.mean, t.n, t.scatter, t.n, None, 0.0, stack)

    @staticmethod
    def _stack(scatter: np.ndarray, free: np.ndarray, mix: np.ndarray | None, shrinkage: float) -> DowndateBatch:
        if mix is None:
            whole = np.maximum(free.sum(keepdims=True), 1e-300)
            return DowndateBatch.of(scatter.sum(axis=0)[None], whole, shrinkage)
        return DowndateBatch.of(np.tensordot(mix / np.maximum(free, 1e-300), scatter, 1)[None], np.ones(1), shrinkage)

    def scores(self, x: Reals, y: np.ndarray, w: np.ndarray | None, span: Span | None = None) -> np.ndarray:
        """Log densities (n, k) up to a term that all classes share, of each row without itself."""
        few = self.mix is not None and bool(((self.free <= 0) & (self.n > 0)).any())
        if few or not self.stack.least[0] > max(self.bound, SAFE):
            return np.full((x.n, len(self.n)), np.nan)
        held = None if span is None else Held.of(span, float(self.stack.whole[0]), self.mean, self.stack.lower[0])
        if self.mix is None and self.stack.share is None:
            return self._plain(x, y, w, held)
        out = np.full((x.n, len(self.n)), np.nan)
        for rows in by_class(x, y, w, self.n):
            for part in [rows] if self.mix is None else alike(rows):
                stack, h, lost = self._without(part)
                left = stack.without(part, self.mean[part.a], self.mean[None], h, lost)
                norms = left.norms[0]
                norms[part.a] *= (part.n / part.left) ** 2
                norms *= -0.5
                sure = left.sure(self.bound) & (part.w < self.free[part.a])
                if held is not None:
                    sure &= held.stays(part, left.lever)
                norms[:, ~sure] = np.nan
                out[part.at] = norms.T
        return out

    def _plain(self, x: Reals, y: np.ndarray, w: np.ndarray | None, held: Held | None) -> np.ndarray:
        """The scores under the covariance of all rows, not shrunk: rows of all classes at once."""
        rows = RowsOut.of_all(x, y, w, self.n)
        own, whole = rows.w, self.stack.whole[0]
        norms, lever = leave_one_out.loo_shared(
            rows.x, y, self.mean, self.stack.lower[0], rows.pull / whole, whole / (whole - own)
        )
        norms[np.arange(x.n), y] *= (rows.n / rows.left) ** 2
        norms *= -0.5
        sure = (lever > LEVER) & (self.stack.least[0] * lever > max(2.0 * self.bound, SAFE)) & (own < self.free[y])
        if held is not None:
            sure &= held.stays(rows, lever)
        norms[~sure] = np.nan
        return norms

    def scores_of(
        self, x: np.ndarray, rows: Reals, y: np.ndarray, w: np.ndarray | None, span: Span | None = None
    ) -> np.ndarray:
        """The same of other points x (q, d) without each of the rows, (q, rows, k)."""
        q, k = len(x), len(self.n)
        out = np.full((q, rows.n, k), np.nan)
        few = self.mix is not None and bool(((self.free <= 0) & (self.n > 0)).any())
        if few or not self.stack.least[0] > max(self.bound, SAFE):
            return out
        held = None if span is None else Held.of(span, float(self.stack.whole[0]), self.mean, self.stack.lower[0])
        apart = (x[:, None] - self.mean).reshape(1, q * k, -1)
        for every in by_class(rows, y, w, self.n):
            for part in [every] if self.mix is None else alike(every):
                stack, h, lost = self._without(part)
                own = np.tile(np.arange(k) == part.a, q)[None]
                left = stack.norms_without(part, self.mean[part.a], apart, own, h, lost)
                sure = left.sure(self.bound) & (part.w < self.free[part.a])
                if held is not None:
                    sure &= held.stays(part, left.lever)
                found = np.where(sure, -0.5 * left.norms[0], np.nan)
                out[:, part.at] = found.reshape(q, k, -1).transpose(0, 2, 1)
        return out

    def _without(self, rows: RowsOut) -> tuple[DowndateBatch, np.ndarray, np.ndarray]:
        """(covariance, h, what its whole loses)."""
        if self.mix is None:
            return self.stack, np.ones((1, 1)), rows.w[None]
        key = rows.a, float(rows.w[0])
        if key not in self.known:  # what stays of the class weighs more: Σ_a is its scatter over a smaller n
            free = self.free.copy()
            free[rows.a] -= rows.w[0]
            self.known[key] = self._stack(self.scatter, free, self.mix, self.stack.shrinkage)
        return self.known[key], np.full((1, 1), self.mix[rows.a] / (self.free[rows.a] - rows.w[0])), np.zeros((1, 1))


def alike(rows: RowsOut, most: int = 16) -> Iterator[RowsOut]:
    """Rows of one weight each, if there are only so many weights: else none."""
    weights = np.unique(rows.w)
    if len(weights) > most:
        return
    for weight in weights[rows.n - weights > 1e-9 * rows.n]:
        here = slice(None) if len(weights) == 1 else np.flatnonzero(rows.w == weight)
        yield replace(rows, at=rows.at[here], x=rows.x[here], w=np.array([weight]))


@dataclass(frozen=True)
class Span:
    """A rule confined to the axes along which the class means spread, those under `tol` of the first dropped."""

    tol: float
    n: np.ndarray  # (k,), class weights or, where these do not change with the rows, priors
    fixed: bool


@dataclass(frozen=True)
class Held:
    """The spread of the means, G = Σ_c π_c m_c m_cᵀ, and whether a row's leaving may let one of its axes fall.

    The spread of the other classes stays: with f = mean_a − (mean of the others), G / (1 − π_a) changes by
    −π_a ffᵀ + π_a' f'f'ᵀ. Relative to G the least eigenvalue after that is at least
    1 − |p|² + (p·q)² / (1 + |q|²), p and q being f and f' in units of G, and f' lies at most `step` from f.
    """

    span: Span
    total: float  # degrees of freedom of the covariance
    priors: np.ndarray  # (k,)
    size: np.ndarray  # (r,), singular values: √ of the eigenvalues of G in units of the covariance
    apart: np.ndarray  # (k,), |f| in units of G
    reach: np.ndarray  # (k,), |f| in units of the covariance

    @classmethod
    def of(cls, span: Span, total: float, mean: np.ndarray, lower: np.ndarray) -> Held:
        priors = span.n / span.n.sum()
        centred = (mean - priors @ mean) @ lower.T
        _, size, turn = linalg.svd(np.sqrt(priors)[:, None] * centred, full_matrices=False)
        r = min(int((priors > 0).sum()) - 1, mean.shape[1])
        f = centred / np.maximum(1.0 - priors, 1e-300)[:, None]
        apart = linalg.norm(f @ turn[:r].T / np.maximum(size[:r], 1e-300), axis=1)
        return cls(span, total, priors, size[:r], apart, linalg.norm(f, axis=1))

    def stays(self, rows: RowsOut, lever: np.ndarray) -> np.ndarray:
        """Which rows (m,) surely leave all axes as they are."""
        if len(self.size) < 2:
            return np.full(len(lever), self.span.tol < 1)
        n, prior, f = self.span.n, self.priors[rows.a], self.apart[rows.a]
        then = prior if self.span.fixed else (n[rows.a] - rows.w) / (n.sum() - rows.w)
        move = np.sqrt(rows.w / rows.left * np.maximum(1.0 - lever, 0.0) * self.total / rows.n)
        step = move / self.size[-1]
        before, now = prior * (1 - prior), then * (1 - prior)
        near, far = f * np.maximum(f - step, 0.0), f + step
        least = np.minimum(1.0 - before * f * f + before * now * near**2 / (1.0 + now * far**2), 1.0)
        most = self.size[0] ** 2 + now * (self.reach[rows.a] + move) ** 2
        return least * self.size[-1] ** 2 * lever > 4.0 * self.span.tol**2 * most


SAFE_PAIR = 1e-6  # and of the variances along a direction, which are differences
RANK = 1e-7  # and what of every correlation eigenvalue
KEPT = 1 << 24  # numbers that coordinates are kept of, between chunks of rows
RUN = 1 << 20  # and numbers of those in use at a time

Axes = tuple[np.ndarray, np.ndarray, np.ndarray]  # turn (q, d, d), part (q, d), least (q,)


@dataclass(frozen=True)
class PairsLeft:
    """Classes by pairs; coordinates are found once for a < b."""

    n: np.ndarray  # (k,)
    mean: np.ndarray  # (k, d)
    covs: np.ndarray  # (k, d, d)
    known: dict[int, Axes] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, n: np.ndarray, mean: np.ndarray, covs: np.ndarray) -> PairsLeft:
        out = cls(n, mean, covs)
        k, d = mean.shape
        if k * k * d * d <= 2 * KEPT:
            out.known.update({a: _axes(covs[a], covs[a + 1 :]) for a in range(k - 1)})
        return out

    def odds(self, a: int, others: np.ndarray, cells: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Log odds (q, m) of rows of class a, of weights w (m,) or 1 each, against the others, the row itself
        left out; NaN where digits would be lost."""
        found = [leave_one_out.loo_pairs(cells, w, pairs, SAFE_PAIR) for pairs in self._pairs(a, others)]
        return np.concatenate([np.empty((0, len(cells))), *found])

    def _pairs(self, a: int, others: np.ndarray) -> Iterator[FisherPairs]:
        size = max(1, RUN // self.mean.shape[1] ** 2)
        for start in range(0, len(others), size):
            some = others[start : start + size]
            turn, part, least = self._between(a, some)
            apart = np.einsum("qij,qj->qi", turn, self.mean[a] - self.mean[some])
            yield FisherPairs(float(self.n[a]), self.mean[a], turn, part, apart, np.maximum(LEVER, RANK / least))

    def _between(self, a: int, others: np.ndarray) -> Axes:
        """The coordinates of the pairs a : b, `part` being that of a."""
        if not self.known:
            return _axes(self.covs[a], self.covs[others])
        found = []
        for b in others:
            turn, part, least = (of[abs(b - a) - 1] for of in self.known[min(a, b)])
            found.append((turn, part if a < b else 1.0 - part, least))
        return tuple(np.stack(of) for of in zip(*found, strict=True))  # type: ignore[return-value]


def _axes(cov: np.ndarray, others: np.ndarray) -> Axes:
    """Coordinates in which cov + other = I and cov is diagonal, and the least correlation eigenvalue of the sum: NaN
    where it is next to none."""
    both = cov + others
    deviation = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    deviation = np.where(deviation > 0, deviation, 1.0)
    values, vectors = linalg.eigh(both / (deviation[:, :, None] * deviation[:, None]))
    least = values.min(axis=1, initial=1.0)
    sure = least > RANK
    root = np.sqrt(np.where(sure[:, None], values, 1.0))
    white = (vectors / root[:, None]).transpose(0, 2, 1) / deviation[:, None]
    part, turn = linalg.eigh(white @ cov @ white.transpose(0, 2, 1))
    return turn.transpose(0, 2, 1) @ white, np.clip(part, 0.0, 1.0), np.where(sure, least, np.nan)


DEEP = 1e-4  # what must stay of a sum of squares, or rounding would show


@dataclass(frozen=True)
class GivenPrior:
    """Normal–inverse-gamma; of what comes from all rows, how it follows them."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    kappa: float
    shape: float
    floor: float = 0.0  # of the scale
    smoothing: float = 0.0
    moves_mean: bool = False  # whether the mean is that of all rows
    moves_scale: bool = False  # whether the scale is shape · (variance within + smoothing · variance of all rows)


def students(t: Moments, prior: GivenPrior) -> Students:
    """What rows of t need to be left out; no class is empty, n is (k,)."""
    every = t.collapse()
    total, half = every.n[0], 0.5 * t.m2
    kappa = prior.kappa + t.n
    apart = t.mean - prior.mean
    scale = prior.scale + half + (0.5 * prior.kappa * t.n / kappa)[:, None] * apart**2
    with np.errstate(all="ignore"):
        rest = np.where(t.n > 1.0 + 1e-9, t.n - 1.0, np.nan)
        others = total - 1.0
        base, share, part = prior.scale, np.zeros(t.k), 0.0
        if prior.moves_scale:
            unit = prior.shape / others
            base = unit * (t.m2.sum(axis=0) + prior.smoothing * every.m2[0]) + prior.floor
            share, part = unit * t.n / rest, unit * prior.smoothing * total / others
        return Students(
            mean=np.ascontiguousarray(t.mean),
            half=half,
            inverse=1.0 / scale,
            whole=_weighing(t.n, scale, prior),
            left=_weighing(rest, scale, prior),
            moves=np.stack([1.0 / rest, 0.5 * t.n / rest, share]),
            prior=np.stack([prior.mean, every.mean[0], base]),
            sway=float(1.0 / others) if prior.moves_mean else 0.0,
            part=float(part),
        )


def _weighing(n: np.ndarray, scale: np.ndarray, prior: GivenPrior) -> np.ndarray:
    """(5, k): see `Students.whole`."""
    kappa, shape = prior.kappa + n, prior.shape + 0.5 * n
    wide = (kappa + 1.0) / kappa
    peak = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * wide)
    bias = scale.shape[1] * peak - 0.5 * np.log(scale).sum(axis=1)
    return np.stack([n / kappa, 0.5 * prior.kappa * n / kappa, 0.5 / wide, shape + 0.5, bias])
