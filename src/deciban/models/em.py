"""EM: joint Gaussians learned from rows with missing cells (Dempster, Laird and Rubin 1977).

    start → Gaussians → expected tally of incomplete rows + tally of complete rows → Gaussians → …

Each step is one `total` of the engine over the incomplete rows; complete rows are tallied once. It ends when the
objective grows by less than `TOLERANCE` per row, or after `STEPS` steps. The state is then the expected tally:
parameters are estimated from it as from any other.

Missing cells are filled in by regression on the other cells of the row. With few rows or collinear columns the maximum
likelihood regression is unstable, and the likelihood may be unbounded. The covariances used to fill in cells (and only
these) are therefore shrunk by d + 1 pseudo-rows with the usual variances V and no correlation: (n Σ + (d + 1) V) / (n +
d + 1). This is an inverse-Wishart prior. The objective is the log likelihood of the known cells plus the log prior; no
step lowers it where Σ is the plain estimate. With a shrunk or blended Σ, EM uses that Σ.

The first Gaussians are those of the complete rows if there are enough of them; else each class has the mean of its
known cells, and V. A column of which a class has no cell gets the mean of the column over all classes, and V.

>>> import numpy as np
>>> from deciban import QuadraticDiscriminantAnalysis
>>> X = np.array([[0.0, 0], [1, 1], [2, 2.5], [3, np.nan], [5, 0], [6, 2], [7, 3], [np.nan, 1]])
>>> model = QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
>>> model.means_.round(1).tolist(), model.n_iter_ > 1
([[1.5, 1.4], [5.9, 1.5]], True)

EM on data of any size: each step is one pass, in which every batch fills in its own incomplete rows.

>>> import pyarrow as pa
>>> from deciban import LinearDiscriminantAnalysis
>>> a, b = [0.0, 1.0, 2.0, 5.0, 6.0, 7.5], [1.0, 0.0, None, 1.0, None, 3.0]
>>> rows = pa.table({"a": a, "b": b, "label": list("xxxyyy")})
>>> LinearDiscriminantAnalysis().fit_on(rows).n_iter_ > 1
True

The E-step: the expected statistics of incomplete rows.

Let N(μ, Σ) be the Gaussian of the row's class and K = Σ⁻¹. Given the known cells o, the missing cells m have the mean
μ_m − K_mm⁻¹ K_mo (x_o − μ_o) and the covariance K_mm⁻¹. The row adds the statistics of the row with these means filled
in, plus K_mm⁻¹ to the scatter, and log N(x_o; μ_o, Σ_oo) to the log likelihood. All of these are sums over rows.

Rows with the same number of missing cells form a batch whose small inverses are one call; rows with the same class and
the same missing columns (a pattern) share an inverse. Patterns with many rows are reduced to their mean and scatter
once: the filled-in cells are linear in the known cells, so a step costs no more for more such rows.

>>> import numpy as np
>>> x, y = Reals(np.array([[1.0, np.nan], [np.nan, np.nan]])), np.zeros(2, dtype=np.int32)
>>> g = ClassGaussians.of(np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]))
>>> one, two = (expected(batch, g) for batch in batches(x, y, None, 1))
>>> e = one + two  # of (1, ½) and (0, 0), plus ¾ and Σ in the scatter
>>> e.tally.mean.tolist(), e.tally.scatter.tolist()
([[0.5, 0.25]], [[[1.5, 0.75], [0.75, 1.875]]])
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy import linalg
from sklearn.exceptions import ConvergenceWarning

from deciban import ops
from deciban.data.blocks import Reals, Table
from deciban.engines import threads
from deciban.errors import DataError, levels_up
from deciban.gaussian.covariance import shrink
from deciban.gaussian.joint import LOG_2PI
from deciban.models.model import State
from deciban.rows import inputs
from deciban.rows.rows import ArrayRows, Rows
from deciban.tallies import Bundle, CentredScatter, Moments, Scatter
from deciban.tallies.basic import column, divide
from deciban.tallies.exact_tables import in_columns

BATCH = 1 << 20  # largest number of entries in the inverses of a batch, one inverse per row
MANY = 8  # times the columns: a pattern with this many rows is kept as its mean and scatter


@dataclass(frozen=True)
class ClassGaussians:
    """A Gaussian for each class, given by its inverse correlation matrix; all classes may share one covariance."""

    mean: np.ndarray  # (k, d)
    deviation: np.ndarray  # (k or 1, d)
    inverse: np.ndarray  # (k or 1, d, d)
    logdet: np.ndarray  # (k or 1,), of the covariance

    @classmethod
    def of(cls, mean: np.ndarray, matrices: np.ndarray) -> ClassGaussians:
        """From covariance matrices, (k or 1, d, d)."""
        deviation = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
        correlation = matrices / deviation[:, :, None] / deviation[:, None, :]
        logdet = linalg.slogdet(correlation)[1] + 2 * np.log(deviation).sum(axis=1)
        return cls(mean, deviation, linalg.inv(correlation), logdet)

    @property
    def shared(self) -> bool:
        return len(self.inverse) < len(self.mean)

    def at(self, y: np.ndarray) -> np.ndarray:
        """Index of the covariance of each class in y."""
        return np.zeros_like(y) if self.shared else y

    def loglik(self, t: Scatter) -> float:
        """Σ w log N(x; μ, Σ) of complete rows, from their tally."""
        n, d = t.n, t.mean.shape[1]
        where = self.at(np.arange(len(n)))
        delta = (t.mean - self.mean) / self.deviation[where]
        scale = self.deviation[: len(t.scatter)]
        within = np.broadcast_to(self.inverse, t.scatter.shape) * (t.scatter / scale[:, :, None] / scale[:, None, :])
        between = np.einsum("c,ci,cij,cj->", n, delta, self.inverse[where], delta)
        return -0.5 * float(n @ self.logdet[where] + n.sum() * d * LOG_2PI + within.sum() + between)

    def prior(self, variances: np.ndarray) -> float:
        """−½ Σ (log |Σ| + tr Σ⁻¹ V) over the covariances: the log likelihood, up to a constant, of one pseudo-row with
        these variances and no correlation."""
        scaled = np.diagonal(self.inverse, axis1=1, axis2=2) * variances / self.deviation**2
        return -0.5 * float(self.logdet.sum() + scaled.sum())


@dataclass(frozen=True)
class IncompleteRows:
    """Rows with the same number m of missing cells, grouped by pattern: class and missing columns. With `scatter`, each
    row is the mean of many rows of one pattern, and `scatter` their scatter about it (0 where cells are missing)."""

    cells: np.ndarray  # (r, d)
    y: np.ndarray  # (r,)
    w: np.ndarray  # (r,)
    pattern: np.ndarray  # (r,)
    missing: np.ndarray  # (patterns, m): column numbers
    y_pattern: np.ndarray  # (patterns,)
    w_pattern: np.ndarray  # (patterns,)
    k: int
    scatter: np.ndarray | None = None  # (r, d, d)

    @classmethod
    def of(
        cls, cells: np.ndarray, y: np.ndarray, w: np.ndarray, pattern: np.ndarray, k: int, scatter=None
    ) -> IncompleteRows:
        _, first, pattern = np.unique(pattern, return_index=True, return_inverse=True)
        missing = np.nonzero(np.isnan(cells[first]))[1].reshape(len(first), -1)
        return cls(cells, y, w, pattern.ravel(), missing, y[first], np.bincount(pattern.ravel(), w), k, scatter)


@dataclass(frozen=True)
class _Rows:
    """Incomplete rows of all patterns, before they are split into batches."""

    cells: np.ndarray
    y: np.ndarray
    w: np.ndarray
    pattern: np.ndarray
    k: int
    scatter: np.ndarray | None = None

    def cut(self, numbers: int) -> list[IncompleteRows]:
        """Batches of about this many numbers, by how many cells are missing."""
        missing, d = np.isnan(self.cells).sum(axis=1), self.cells.shape[1]
        order = np.lexsort((self.pattern, self.y, missing))
        out = []
        for m in np.unique(missing):
            rows = order[missing[order] == m]
            step = max(1, numbers // (int(m) ** 2 + d + (0 if self.scatter is None else 2 * d * d)))
            for part in np.split(rows, range(step, len(rows), step)):
                scatter = None if self.scatter is None else self.scatter[part]
                out.append(
                    IncompleteRows.of(self.cells[part], self.y[part], self.w[part], self.pattern[part], self.k, scatter)
                )
        return out


@dataclass(frozen=True)
class ExpectedStatistics:
    """Expected statistics and the log likelihood of the known cells; adds like a tally."""

    tally: Scatter
    loglik: float

    def __add__(self, other: ExpectedStatistics) -> ExpectedStatistics:
        return ExpectedStatistics(self.tally + other.tally, self.loglik + other.loglik)


def batches(x: Reals, y: np.ndarray, w: np.ndarray | None, k: int) -> list[IncompleteRows]:
    """The incomplete rows of positive weight, by number of missing cells."""
    some = np.isnan(x.values).any(axis=1)
    rows = np.flatnonzero(some if w is None else some & (w > 0))
    cells = np.array(x.values[rows], dtype=np.float64)
    y, w = y[rows].astype(np.intp), np.ones(len(rows)) if w is None else w[rows]
    keys = np.hstack([y[:, None].view(np.uint8), np.packbits(np.isnan(cells), axis=1)])
    _, pattern, count = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_inverse=True, return_counts=True)
    pattern, numbers = pattern.ravel(), max(BATCH, 4 * k * x.d**2)
    few = count[pattern] < MANY * x.d
    out = _Rows(cells[few], y[few], w[few], pattern[few], k).cut(numbers) if few.any() else []
    if not few.all():
        out += _pattern_means(cells[~few], y[~few], w[~few], pattern[~few], k).cut(numbers)
    return out


def _pattern_means(cells: np.ndarray, y: np.ndarray, w: np.ndarray, pattern: np.ndarray, k: int) -> _Rows:
    """One row for each pattern: the mean of its rows, with their weight and scatter."""
    order = np.argsort(pattern, kind="stable")
    means, classes, weights, scatters = [], [], [], []
    for rows in np.split(order, np.flatnonzero(np.diff(pattern[order])) + 1):
        mean = w[rows] @ cells[rows] / w[rows].sum()
        centred = np.nan_to_num(cells[rows] - mean, nan=0.0)
        means.append(mean)
        classes.append(y[rows[0]])
        weights.append(w[rows].sum())
        scatters.append((centred * w[rows, None]).T @ centred)
    return _Rows(np.array(means), np.array(classes), np.array(weights), np.arange(len(means)), k, np.array(scatters))


def expected(batch: IncompleteRows, g: ClassGaussians, pooled: bool = False) -> ExpectedStatistics:
    """Expected statistics of a batch, given the Gaussians; `pooled`: one scatter for all classes."""
    y, d = batch.y, batch.cells.shape[1]
    deviation = g.deviation[g.at(y)]
    z = np.nan_to_num((batch.cells - g.mean[y]) / deviation, nan=0.0)
    weighted = _times_inverse(z, y, g)
    pattern, missing, where = batch.pattern, batch.missing, g.at(batch.y_pattern)
    inner = g.inverse[where[:, None, None], missing[:, :, None], missing[:, None, :]]
    left = linalg.inv(inner)  # the covariance of the missing cells, in units of their deviations
    mine = missing[pattern]
    weighted_missing = np.take_along_axis(weighted, mine, axis=1)
    filled = -np.matmul(left[pattern], weighted_missing[:, :, None])[:, :, 0]
    norms = np.einsum("ij,ij->i", z, weighted) + np.einsum("ij,ij->i", weighted_missing, filled)
    np.put_along_axis(z, mine, filled, axis=1)
    spread = g.deviation[where[:, None], missing]
    logdet = g.logdet[where] + linalg.slogdet(inner)[1] - 2 * np.log(spread).sum(axis=1)  # of Σ_oo
    logdet += (d - missing.shape[1]) * LOG_2PI
    loglik = -0.5 * float(batch.w @ norms + batch.w_pattern @ logdet)
    # known cells are used unchanged: mean + (cell − mean) would lose digits far from zero
    cells = np.where(np.isnan(batch.cells), g.mean[y] + z * deviation, batch.cells)
    tally: CentredScatter = ops.scatter(Reals(cells), y.astype(np.int32), batch.w, batch.k, pooled).dense()  # type: ignore[assignment]
    scatter = tally.scatter + _placed(left * batch.w_pattern[:, None, None] * _outer(spread), batch, pooled)
    if batch.scatter is not None:
        within = _lifted(batch, g, left)
        loglik -= 0.5 * float((g.inverse[where] * within).sum())
        group = np.zeros_like(batch.y_pattern) if pooled else batch.y_pattern
        np.add.at(scatter, group, within * _outer(g.deviation[where]))
    return ExpectedStatistics(replace(tally, scatter=scatter, rest=np.zeros_like(scatter)), loglik)


def _outer(scale: np.ndarray) -> np.ndarray:
    return scale[:, :, None] * scale[:, None, :]


def _lifted(batch: IncompleteRows, g: ClassGaussians, left: np.ndarray) -> np.ndarray:
    """Scatter of the rows about their means with cells filled in, in units of the deviations, (patterns, d, d)."""
    where = g.at(batch.y_pattern)
    lift = np.tile(np.eye(batch.cells.shape[1]), (len(where), 1, 1))
    slope = -left @ g.inverse[where[:, None], batch.missing]
    np.put_along_axis(lift, batch.missing[:, :, None], slope, axis=1)
    return lift @ (batch.scatter / _outer(g.deviation[where])) @ lift.transpose(0, 2, 1)


def _times_inverse(z: np.ndarray, y: np.ndarray, g: ClassGaussians) -> np.ndarray:
    """K z of each row, by the K of its class."""
    if g.shared or len(g.inverse) == 1:
        return z @ g.inverse[0]
    out = np.empty_like(z)
    for c in np.unique(y):
        mine = y == c
        out[mine] = z[mine] @ g.inverse[c]
    return out


def _placed(left: np.ndarray, batch: IncompleteRows, pooled: bool) -> np.ndarray:
    """Sum of the patterns' (m, m) matrices, at their columns, (k or 1, d, d)."""
    d, groups = batch.cells.shape[1], 1 if pooled else batch.k
    group = np.zeros_like(batch.y_pattern) if pooled else batch.y_pattern
    at = ((group[:, None] * d + batch.missing)[:, :, None] * d + batch.missing[:, None, :]).ravel()
    return np.bincount(at, left.ravel(), minlength=groups * d * d).reshape(groups, d, d)


STEPS = 100
TOLERANCE = 1e-6
LARGEST = 1 << 26  # numbers in the covariances of all classes; with more, cells are not filled in
CHUNK = 1 << 21  # cells


@dataclass(frozen=True)
class EMResult:
    tally: Scatter  # expected statistics of all rows
    path: tuple[float, ...]  # the objective before each step
    done: bool

    @property
    def steps(self) -> int:
        return len(self.path)


def fits_in_memory(k: int, d: int) -> bool:
    return k * d * d <= LARGEST


def fill_missing(state: State, rows: Rows) -> State:
    """The state with the expected statistics of incomplete rows, if its settings allow EM and there are such rows."""
    family = state.spec.fill_missing(state.family, state.known) if state.spec.fill_missing is not None else None
    t = state.tally.parts[1]
    if family is None or left_out(state.tally) == 0 or not rows.repeats or not fits_in_memory(*t.mean.shape):
        return state
    whole: Scatter = t.dense()
    with rows.several() as again:
        seen = checked(again.total(Available()), again)
        patterns = again.mapped(Patterns(), CHUNK, keep=again.in_memory)
        learned = run_em(family, whole, seen, state.n, lambda g: patterns(Expected(g, whole.pooled, *whole.mean.shape)))
    tally = Bundle((state.tally.parts[0], learned.tally))
    return replace(state, tally=tally, known=replace(state.known, steps=learned.steps))


def left_out(tally: Bundle) -> float:
    """Weight of the incomplete rows, which a tally of complete rows lacks."""
    seen, complete = tally.parts[0].n.sum(), tally.parts[1].n.sum()
    return float(seen - complete) if complete < seen * (1 - 1e-9) else 0.0


@dataclass(frozen=True)
class Available:
    """rows → the moments of the known cells, each column with its own n."""

    def __call__(self, table: Table) -> Moments:
        with np.errstate(all="ignore"):
            found = ops.moments(table.x, table.y, table.w, table.k)  # type: ignore[arg-type]
        cells = found.weight if len(found.weight.shape) == 2 else in_columns(found.weight, found.d)
        return replace(found, weight=cells)


@dataclass(frozen=True)
class Patterns:
    """rows → the incomplete ones, by number of missing cells."""

    def __call__(self, table: Table) -> list[IncompleteRows]:
        return batches(table.x.rows(0, table.n), table.y, table.w, table.k)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Expected:
    """Incomplete rows → their expected statistics."""

    g: ClassGaussians
    pooled: bool
    k: int
    d: int

    def __call__(self, patterns: list[IncompleteRows]) -> ExpectedStatistics:
        nothing = CentredScatter.from_means(
            np.zeros(self.k),
            np.zeros((self.k, self.d)),
            np.zeros((1 if self.pooled else self.k, self.d, self.d)),
            self.pooled,
        )
        each = threads.map_ordered(patterns, lambda batch: expected(batch, self.g, self.pooled))
        return reduce(add, each, ExpectedStatistics(nothing, 0.0))


def run_em(
    family: Any,
    whole: Scatter,
    seen: Moments,
    n: np.ndarray,
    fill: Callable[[ClassGaussians], ExpectedStatistics],
    extra: float | None = None,
) -> EMResult:
    """Run EM. `whole` is the tally of the complete rows, `seen` of all known cells, n (k,) the weight of all rows.
    `fill` makes one pass over the incomplete rows. `extra` is the number of uncorrelated pseudo-rows in the covariances
    that fill in cells, d + 1 by default. The family has a `blend` and `gaussians(tally)` → means, covariances."""
    usual, extra = within_class_variance(seen), seen.mean.shape[1] + 1.0 if extra is None else extra
    tally, path, done = start(whole, seen, n), [], False  # type: ignore[var-annotated]
    while not done and len(path) < STEPS:
        g = _filling(family, tally, n, usual, extra)
        e = fill(g)
        tally = whole + e.tally
        path.append(e.loglik + g.loglik(whole) + extra * g.prior(usual))
        done = len(path) > 1 and abs(path[-1] - path[-2]) <= TOLERANCE * n.sum()
    if not done:
        warnings.warn(
            f"EM for missing cells has not converged after {STEPS} steps: the log likelihood per row still changes by "
            f"{abs(path[-1] - path[-2]) / n.sum():.1g}\n\n"
            "hint: shrink the covariances, pool them (LDA), or leave out columns that are mostly missing",
            ConvergenceWarning,
            stacklevel=levels_up(),
        )
    return EMResult(tally, tuple(path), done)


def gaussians_of(state: State) -> ClassGaussians:
    """The Gaussians that the next step would fill in cells by, of a state after EM."""
    family, t, n = state.spec.fill_missing(state.family, state.known), state.tally.parts[1], state.n
    squares = np.diagonal(t.scatter, axis1=1, axis2=2)
    seen = Moments(
        np.broadcast_to(n[:, None], t.mean.shape), t.mean, np.broadcast_to(squares / (t.k / len(squares)), t.mean.shape)
    )
    return _filling(family, t, n, within_class_variance(seen), t.mean.shape[1] + 1.0)


def _filling(family: Any, tally: Scatter, n: np.ndarray, usual: np.ndarray, extra: float) -> ClassGaussians:
    """The Gaussians that fill in cells, from a tally; `usual` variances (d,), of so many uncorrelated pseudo-rows."""
    mean, covs = family.gaussians(tally)
    weights = (1 - family.blend) * n + family.blend * n.sum()  # equal where classes share a covariance
    smooth = [shrink(cov, float(extra / (w + extra)), usual) for cov, w in zip(covs, weights, strict=False)]
    return ClassGaussians.of(mean, np.stack([cov.dense() for cov in smooth]))


def checked(seen: Moments, rows: Rows) -> Moments:
    """The moments, if every column has known cells and all are finite; else an error."""
    names = rows.reader.names
    if not seen.finite():
        if isinstance(rows, ArrayRows):
            inputs.raise_not_finite(rows.table.x, names)
        raise DataError("some cells are infinite or too large\n\nhint: look for infinities, and for cells beyond 1e154")
    bare = np.broadcast_to(column(seen.n), seen.mean.shape).sum(axis=0) <= 0
    if bare.any():
        raise DataError(
            f"{inputs.called(int(np.flatnonzero(bare)[0]), names)} is missing in every row, so nothing can be learned "
            "from it\n\nhint: leave it out"
        )
    return seen


def within_class_variance(seen: Moments) -> np.ndarray:
    """Variance within classes of each column, (d,); a variance of 0 is replaced by the mean variance."""
    n = np.broadcast_to(column(seen.n), seen.m2.shape)
    variance = divide(seen.m2.sum(axis=0), n.sum(axis=0))
    return np.where(variance > 0, variance, max(float(variance.mean()), 1e-280))


def start(complete: Scatter, seen: Moments, n: np.ndarray) -> Scatter:
    """The tally that the first Gaussians are estimated from."""
    k, d = seen.mean.shape
    rows = complete.n.sum(keepdims=True) - k if complete.pooled else complete.n
    if (rows >= 2 * (d + 1)).all() and (complete.n > 0).all():
        return complete
    shown = np.broadcast_to(column(seen.n), (k, d)) > 0
    weights = n.sum(keepdims=True) if complete.pooled else n
    scatter = weights[:, None, None] * np.diag(within_class_variance(seen))
    return CentredScatter.from_means(n, np.where(shown, seen.mean, seen.collapse().mean), scatter, complete.pooled)
