"""EM: joint Gaussians learned from rows with missing cells (Dempster, Laird and Rubin 1977).

    start → Gaussians → expected tally of the rows with holes + tally of the others → Gaussians → …

Each step is one `total` of the engine over the rows with holes; complete rows are tallied once. It ends when the
objective grows by less than `TOLERANCE` a row, or after `STEPS`. The state is then the expected tally: parameters are
estimated from it as from any other.

Cells are filled in by regression on the other cells of the row, and with few rows (or collinear columns) the likeliest
regressions are wild: the likelihood may have no upper bound. So the covariances that fill in, and they alone, are those
of all rows and d + 1 more, which have the usual variances V and no correlation: (n Σ + (d + 1) V) / (n + d + 1). These
rows are an inverse-Wishart prior. The objective is the log likelihood of the cells that are there, plus that prior's
logarithm; no step lowers it where Σ is the plain estimate. With a shrunk or blended Σ, EM fills in by that.

The first Gaussians are those of the complete rows where these are plenty; else each class has its mean over the cells
that are there, and V. A column that a class never shows has the mean of the column over all classes, and V.

>>> import numpy as np
>>> from deciban import QuadraticDiscriminantAnalysis
>>> X = np.array([[0.0, 0], [1, 1], [2, 2.5], [3, np.nan], [5, 0], [6, 2], [7, 3], [np.nan, 1]])
>>> model = QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
>>> model.means_.round(1).tolist(), model.n_iter_ > 1
([[1.5, 1.4], [5.9, 1.5]], True)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import ingest, ops
from deciban.covariance import shrink
from deciban.engines import threads
from deciban.errors import DataError
from deciban.gaussian.expectation import Expected, Gaussians, batches, expected
from deciban.table import Table, borders
from deciban.tallies import Moments, RowScatter, Scatter
from deciban.tallies.base import column, over

STEPS = 100
TOLERANCE = 1e-6
LARGEST = 1 << 26  # numbers in the covariances of all classes: beyond, cells are not filled in
CHUNK = 1 << 21  # cells


@dataclass(frozen=True)
class Learned:
    tally: Scatter  # expected statistics of all rows
    path: tuple[float, ...]  # the objective before each step
    done: bool

    @property
    def steps(self) -> int:
        return len(self.path)


def workable(k: int, d: int) -> bool:
    return k * d * d <= LARGEST


def learn(family: Any, table: Table, complete: Scatter | RowScatter, extra: float | None = None) -> Learned:
    """EM, from the tally of the complete rows on; the family has a `blend` and `gaussians(tally)` → means, covariances.

    `extra` is how many rows without correlation are added before cells are filled in, d + 1 by default.
    """
    whole: Scatter = complete.dense()  # type: ignore[assignment]
    seen = checked(available(table), table)
    parts = batches(table.x.rows(0, table.n), table.y, table.w, table.k)  # type: ignore[arg-type]
    n = ops.class_weights(table.y, table.w, table.k)
    return settle(
        family, whole, seen, n, lambda g: threads.total(parts, partial(expected, g=g, pooled=whole.pooled)), extra
    )


def settle(
    family: Any,
    whole: Scatter,
    seen: Moments,
    n: np.ndarray,
    fill: Callable[[Gaussians], Expected],
    extra: float | None,
) -> Learned:
    """The steps. `whole` is of the complete rows, `seen` of all cells that are there, n (k,) of all rows; `fill` makes
    one pass over the rows with holes."""
    usual, extra = within(seen), seen.mean.shape[1] + 1.0 if extra is None else extra
    tally, path, done = start(whole, seen, n), [], False  # type: ignore[var-annotated]
    while not done and len(path) < STEPS:
        mean, covs = family.gaussians(tally)
        weights = (1 - family.blend) * n + family.blend * n.sum()  # all alike where classes share a covariance
        smooth = [shrink(cov, float(extra / (w + extra)), usual) for cov, w in zip(covs, weights, strict=False)]
        g = Gaussians.of(mean, np.stack([cov.dense() for cov in smooth]))
        e = fill(g)
        tally = whole + e.tally
        path.append(e.loglik + g.loglik(whole) + extra * g.prior(usual))
        done = len(path) > 1 and abs(path[-1] - path[-2]) <= TOLERANCE * n.sum()
    if not done:
        warnings.warn(
            f"EM for missing cells has not settled after {STEPS} steps: the log likelihood of a row still changes by "
            f"{abs(path[-1] - path[-2]) / n.sum():.1g}\n\n"
            "hint: shrink the covariances, pool them (LDA), or leave out columns that are mostly missing",
            ConvergenceWarning,
            stacklevel=7,
        )
    return Learned(tally, tuple(path), done)


def available(table: Table) -> Moments:
    """Mean and squares of each column over the cells that are there."""

    def of(span: tuple[int, int]) -> Moments:
        rows = table.rows(*span)
        return ops.moments(rows.x, rows.y, rows.w, rows.k)  # type: ignore[arg-type]

    with np.errstate(all="ignore"):
        return threads.total(borders(table.n, table.x.cells, CHUNK), of)


def checked(seen: Moments, table: Table | None = None) -> Moments:
    """The same, if every column has cells and all are numbers."""
    if not seen.finite():
        if table is not None:
            ingest.refuse(table.x)
        raise DataError("some cells are past all numbers\n\nhint: look for infinities, and for cells beyond 1e154")
    bare = np.broadcast_to(column(seen.n), seen.mean.shape).sum(axis=0) <= 0
    if bare.any():
        raise DataError(
            f"column {int(np.flatnonzero(bare)[0])} has no cell in any row: nothing can be learned of it\n\n"
            "hint: leave it out"
        )
    return seen


def within(seen: Moments) -> np.ndarray:
    """The variance within classes of each column, (d,); one that is 0 is replaced by the mean of the others."""
    n = np.broadcast_to(column(seen.n), seen.m2.shape)
    variance = over(seen.m2.sum(axis=0), n.sum(axis=0))
    return np.where(variance > 0, variance, max(float(variance.mean()), 1e-280))


def start(complete: Scatter, seen: Moments, n: np.ndarray) -> Scatter:
    """A tally of all rows to make the first Gaussians of."""
    k, d = seen.mean.shape
    rows = complete.n.sum(keepdims=True) - k if complete.pooled else complete.n
    if (rows >= 2 * (d + 1)).all() and (complete.n > 0).all():
        return complete
    shown = np.broadcast_to(column(seen.n), (k, d)) > 0
    weights = n.sum(keepdims=True) if complete.pooled else n
    scatter = weights[:, None, None] * np.diag(within(seen))
    return Scatter(n, np.where(shown, seen.mean, seen.collapse().mean), scatter, complete.pooled)
