"""Scores of rows under Gaussians estimated without them: one covariance for each class, or one for all.

>>> import numpy as np
>>> x, y = np.array([[0.0], [2.0], [4.0], [9.0], [11.0], [16.0]]), np.repeat([0, 1], 3).astype(np.int32)
>>> t = Scatter(np.array([3.0, 3.0]), np.array([[2.0], [12.0]]), np.array([[[8.0]], [[26.0]]]))
>>> Separate.of(t).scores(Reals(x), y, None)[1].round(3).tolist()  # 2 among {0, 4}: log 1 / deviation 2
[-0.693, -6.849]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ref

import numpy as np
from numpy import linalg

from deciban import ops
from deciban.leaving.rankone import SAFE, Leaving, Stack, by_class
from deciban.table import Reals
from deciban.tallies import Scatter


@dataclass(frozen=True)
class Separate:
    """A covariance for each class: ((1 − blend) S_c + blend S) / ((1 − blend) n_c + blend n), shrunk and ridged."""

    mean: np.ndarray  # (k, d)
    n: np.ndarray  # (k,)
    blend: float
    bound: float  # correlation eigenvalues up to this are no inverse
    stack: Stack

    @classmethod
    def of(cls, t: Scatter, blend=0.0, shrinkage=0.0, ridge=0.0, bound=0.0) -> Separate:
        a = (1 - blend) * t.scatter + blend * t.scatter.sum(axis=0)
        whole = (1 - blend) * t.n + blend * t.n.sum()
        return cls(t.mean, t.n, blend, bound, Stack.of(a, np.maximum(whole, 1e-300), shrinkage, ridge))

    def scores(self, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Log densities (n, k) up to a constant, of each row without itself."""
        if (self.n <= 0).any() or not (self.stack.least > max(self.bound, SAFE)).all():
            return np.full((x.n, len(self.n)), np.nan)
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

    def _put(self, out: np.ndarray, rows: Leaving, stack: Stack, classes: slice, h: np.ndarray) -> None:
        left = stack.without(rows, self.mean[rows.a], self.mean[classes, None], h, h * rows.w)
        norms = left.norms[:, 0]
        norms[rows.a if len(norms) > 1 else 0] *= (rows.n / rows.left) ** 2
        norms += left.logdet
        norms *= -0.5
        out[rows.at, classes] = norms.T
        out[rows.at[~left.sure(self.bound)]] = np.nan


@dataclass(frozen=True)
class Shared:
    """One covariance for all classes, shrunk: that of all rows about the means of their classes, or Σ_c mix[c] Σ_c."""

    t: Scatter
    mix: np.ndarray | None
    bound: float
    stack: Stack  # one
    known: dict[tuple[int, float], Stack] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, t: Scatter, shrinkage=0.0, mix=None, bound=0.0) -> Shared:
        return cls(t, mix, bound, cls._stack(t, t.n, mix, shrinkage))

    @staticmethod
    def _stack(t: Scatter, n: np.ndarray, mix: np.ndarray | None, shrinkage: float) -> Stack:
        if mix is None:
            return Stack.of(t.scatter.sum(axis=0)[None], n.sum(keepdims=True), shrinkage)
        return Stack.of(np.tensordot(mix / np.maximum(n, 1e-300), t.scatter, 1)[None], np.ones(1), shrinkage)

    def scores(self, x: Reals, y: np.ndarray, w: np.ndarray | None, span: Span | None = None) -> np.ndarray:
        """Log densities (n, k) up to a term that all classes share, of each row without itself."""
        out = np.full((x.n, self.t.k), np.nan)
        if not self.stack.least[0] > max(self.bound, SAFE):
            return out
        held = None if span is None else Held.of(span, self.t.n.sum(), self.t.mean, self.stack.lower[0])
        for rows in by_class(x, y, w, self.t.n):
            for part in [rows] if self.mix is None else alike(rows):
                stack, h, lost = self._without(part)
                left = stack.without(part, self.t.mean[part.a], self.t.mean[None], h, lost)
                norms = left.norms[0]
                norms[part.a] *= (part.n / part.left) ** 2
                norms *= -0.5
                sure = left.sure(self.bound)
                if held is not None:
                    sure &= held.stays(part, left.lever)
                norms[:, ~sure] = np.nan
                out[part.at] = norms.T
        return out

    def _without(self, rows: Leaving) -> tuple[Stack, np.ndarray, np.ndarray]:
        """(covariance, h, what its whole loses)."""
        if self.mix is None:
            return self.stack, np.ones((1, 1)), rows.w[None]
        key = rows.a, float(rows.w[0])
        if key not in self.known:  # what stays of the class weighs more: Σ_a is its scatter over a smaller n
            n = self.t.n.copy()
            n[rows.a] = rows.left[0]
            self.known[key] = self._stack(self.t, n, self.mix, self.stack.shrinkage)
        return self.known[key], np.full((1, 1), self.mix[rows.a] / rows.left[0]), np.zeros((1, 1))


def alike(rows: Leaving, most: int = 16) -> Iterator[Leaving]:
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
    total: float  # Σ w of all rows
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

    def stays(self, rows: Leaving, lever: np.ndarray) -> np.ndarray:
        """Which rows (m,) surely leave all axes as they are."""
        if len(self.size) < 2:
            return np.full(len(rows.at), self.span.tol < 1)
        n, prior, f = self.span.n, self.priors[rows.a], self.apart[rows.a]
        then = prior if self.span.fixed else (n[rows.a] - rows.w) / (n.sum() - rows.w)
        move = np.sqrt(rows.w / rows.left * np.maximum(1.0 - lever, 0.0) * self.total / rows.n)
        step = move / self.size[-1]
        before, now = prior * (1 - prior), then * (1 - prior)
        near, far = f * np.maximum(f - step, 0.0), f + step
        least = np.minimum(1.0 - before * f * f + before * now * near**2 / (1.0 + now * far**2), 1.0)
        most = self.size[0] ** 2 + now * (self.reach[rows.a] + move) ** 2
        return least * self.size[-1] ** 2 * lever > 4.0 * self.span.tol**2 * most


_latest: list[tuple[Any, Any, Any]] = []  # (family, tally, what was made of them), the objects by weak reference


def _clear(gone: Any, held: list = _latest) -> None:  # holds the list: at exit the module's names are gone
    held.clear()


def remembered(family: Any, t: Any, make: Callable[[Any], Any]) -> Any:
    """make(t), once for all chunks of rows that the same family is asked about with the same tally."""
    for whose, of, made in _latest:
        if whose() is family and of() is t:
            return made
    made = make(t)
    _latest[:] = [(ref(family), ref(t, _clear), made)]
    return made
