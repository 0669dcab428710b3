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

EM on data of any size: each step is a pass, in which every batch fills in its own rows with missing cells.

>>> import pyarrow as pa
>>> from deciban import LinearDiscriminantAnalysis
>>> a, b = [0.0, 1.0, 2.0, 5.0, 6.0, 7.5], [1.0, 0.0, None, 1.0, None, 3.0]
>>> rows = pa.table({"a": a, "b": b, "label": list("xxxyyy")})
>>> LinearDiscriminantAnalysis().fit_on(rows).n_iter_ > 1
True

What rows with missing cells are expected to add to the tally of a joint Gaussian: the E-step of EM.

Let N(μ, Σ) be the Gaussian of the row's class and K = Σ⁻¹. Given the cells o that are there, those missing, m, have the
mean μ_m − K_mm⁻¹ K_mo (x_o − μ_o) and the covariance K_mm⁻¹. So the row adds what it would add with these means filled
in, and K_mm⁻¹ to the scatter; and log N(x_o; μ_o, Σ_oo) to the log likelihood. All of it is a sum over rows.

Rows with the same number of missing cells are one batch: its small inverses are one call, and rows of one kind (class
and pattern) share theirs. Nearly every row may be of a kind of its own. Many rows of one kind are tallied once: what is
filled in is linear in what is there, so their mean and scatter say all, and a step takes no longer for more of them.

>>> import numpy as np
>>> x, y = Reals(np.array([[1.0, np.nan], [np.nan, np.nan]])), np.zeros(2, dtype=np.int32)
>>> g = ClassGaussians.of(np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]))
>>> one, two = (expected(holes, g) for holes in batches(x, y, None, 1))
>>> e = one + two  # of (1, ½) and (0, 0), with ¾ and Σ left over
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
from deciban.tallies import Bundle, Moments, Scatter
from deciban.tallies.basic import column, divide

BATCH = 1 << 20  # numbers that the inverses of a batch may take, gathered row by row
CROWD = 8  # times the columns: so many rows of one kind are kept as their mean and scatter


@dataclass(frozen=True)
class ClassGaussians:
    """A Gaussian for each class, by the inverse of its correlations; one covariance may serve all classes."""

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
        """Where the covariance of each class in y stands."""
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
        """−½ Σ (log |Σ| + tr Σ⁻¹ V) over the covariances: what a row of these variances and no correlation adds to the
        log likelihood, up to a constant."""
        scaled = np.diagonal(self.inverse, axis1=1, axis2=2) * variances / self.deviation**2
        return -0.5 * float(self.logdet.sum() + scaled.sum())


@dataclass(frozen=True)
class MissingPattern:
    """Rows that miss the same number m of cells each, and the kinds among them: class and pattern. Where `scatter` is
    there, each row is the mean of many of one kind, and that is their scatter about it (0 where cells are missing)."""

    cells: np.ndarray  # (r, d)
    y: np.ndarray  # (r,)
    w: np.ndarray  # (r,)
    kind: np.ndarray  # (r,)
    gone: np.ndarray  # (kinds, m): which columns
    y_kind: np.ndarray  # (kinds,)
    w_kind: np.ndarray  # (kinds,)
    k: int
    scatter: np.ndarray | None = None  # (r, d, d)

    @classmethod
    def of(
        cls, cells: np.ndarray, y: np.ndarray, w: np.ndarray, kind: np.ndarray, k: int, scatter=None
    ) -> MissingPattern:
        _, first, kind = np.unique(kind, return_index=True, return_inverse=True)
        gone = np.nonzero(np.isnan(cells[first]))[1].reshape(len(first), -1)
        return cls(cells, y, w, kind.ravel(), gone, y[first], np.bincount(kind.ravel(), w), k, scatter)


@dataclass(frozen=True)
class _Rows:
    """Rows of all kinds with missing cells, before they are cut into batches."""

    cells: np.ndarray
    y: np.ndarray
    w: np.ndarray
    kind: np.ndarray
    k: int
    scatter: np.ndarray | None = None

    def cut(self, numbers: int) -> list[MissingPattern]:
        """Batches of about so many numbers, by how many cells are missing."""
        missing, d = np.isnan(self.cells).sum(axis=1), self.cells.shape[1]
        order = np.lexsort((self.kind, self.y, missing))
        out = []
        for m in np.unique(missing):
            rows = order[missing[order] == m]
            step = max(1, numbers // (int(m) ** 2 + d + (0 if self.scatter is None else 2 * d * d)))
            for part in np.split(rows, range(step, len(rows), step)):
                scatter = None if self.scatter is None else self.scatter[part]
                out.append(
                    MissingPattern.of(self.cells[part], self.y[part], self.w[part], self.kind[part], self.k, scatter)
                )
        return out


@dataclass(frozen=True)
class ExpectedStatistics:
    """Expected statistics and the log likelihood of what was seen; adds like a tally."""

    tally: Scatter
    loglik: float

    def __add__(self, other: ExpectedStatistics) -> ExpectedStatistics:
        return ExpectedStatistics(self.tally + other.tally, self.loglik + other.loglik)


def batches(x: Reals, y: np.ndarray, w: np.ndarray | None, k: int) -> list[MissingPattern]:
    """The rows with missing cells (and some weight), by how many they miss."""
    some = np.isnan(x.values).any(axis=1)
    rows = np.flatnonzero(some if w is None else some & (w > 0))
    cells = np.array(x.values[rows], dtype=np.float64)
    y, w = y[rows].astype(np.intp), np.ones(len(rows)) if w is None else w[rows]
    keys = np.hstack([y[:, None].view(np.uint8), np.packbits(np.isnan(cells), axis=1)])
    _, kind, count = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_inverse=True, return_counts=True)
    kind, numbers = kind.ravel(), max(BATCH, 4 * k * x.d**2)
    few = count[kind] < CROWD * x.d
    out = _Rows(cells[few], y[few], w[few], kind[few], k).cut(numbers) if few.any() else []
    if not few.all():
        out += _crowds(cells[~few], y[~few], w[~few], kind[~few], k).cut(numbers)
    return out


def _crowds(cells: np.ndarray, y: np.ndarray, w: np.ndarray, kind: np.ndarray, k: int) -> _Rows:
    """A row for each kind: its mean, with its weight and scatter."""
    order = np.argsort(kind, kind="stable")
    means, classes, weights, scatters = [], [], [], []
    for rows in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
        mean = w[rows] @ cells[rows] / w[rows].sum()
        centred = np.nan_to_num(cells[rows] - mean, nan=0.0)
        means.append(mean)
        classes.append(y[rows[0]])
        weights.append(w[rows].sum())
        scatters.append((centred * w[rows, None]).T @ centred)
    return _Rows(np.array(means), np.array(classes), np.array(weights), np.arange(len(means)), k, np.array(scatters))


def expected(holes: MissingPattern, g: ClassGaussians, pooled: bool = False) -> ExpectedStatistics:
    """What a batch adds, given the Gaussians; `pooled`: the scatter of all classes as one."""
    y, d = holes.y, holes.cells.shape[1]
    deviation = g.deviation[g.at(y)]
    z = np.nan_to_num((holes.cells - g.mean[y]) / deviation, nan=0.0)
    pull = _weighed(z, y, g)
    kind, gone, where = holes.kind, holes.gone, g.at(holes.y_kind)
    inner = g.inverse[where[:, None, None], gone[:, :, None], gone[:, None, :]]
    left = linalg.inv(inner)  # the covariance of the missing cells, in units of their deviations
    mine = gone[kind]
    pulled = np.take_along_axis(pull, mine, axis=1)
    filled = -np.matmul(left[kind], pulled[:, :, None])[:, :, 0]
    norms = np.einsum("ij,ij->i", z, pull) + np.einsum("ij,ij->i", pulled, filled)
    np.put_along_axis(z, mine, filled, axis=1)
    spread = g.deviation[where[:, None], gone]
    logdet = g.logdet[where] + linalg.slogdet(inner)[1] - 2 * np.log(spread).sum(axis=1)  # of Σ_oo
    logdet += (d - gone.shape[1]) * LOG_2PI
    loglik = -0.5 * float(holes.w @ norms + holes.w_kind @ logdet)
    # observed cells go in as they came: mean + (cell − mean) would lose digits far from zero
    cells = np.where(np.isnan(holes.cells), g.mean[y] + z * deviation, holes.cells)
    tally: Scatter = ops.scatter(Reals(cells), y.astype(np.int32), holes.w, holes.k, pooled).dense()  # type: ignore[assignment]
    scatter = tally.scatter + _placed(left * holes.w_kind[:, None, None] * _outer(spread), holes, pooled)
    if holes.scatter is not None:
        within = _lifted(holes, g, left)
        loglik -= 0.5 * float((g.inverse[where] * within).sum())
        group = np.zeros_like(holes.y_kind) if pooled else holes.y_kind
        np.add.at(scatter, group, within * _outer(g.deviation[where]))
    return ExpectedStatistics(replace(tally, scatter=scatter), loglik)


def _outer(scale: np.ndarray) -> np.ndarray:
    return scale[:, :, None] * scale[:, None, :]


def _lifted(holes: MissingPattern, g: ClassGaussians, left: np.ndarray) -> np.ndarray:
    """The scatter of the rows about their means once cells are filled in, in units of the deviations, (kinds, d, d)."""
    where = g.at(holes.y_kind)
    lift = np.tile(np.eye(holes.cells.shape[1]), (len(where), 1, 1))
    slope = -left @ g.inverse[where[:, None], holes.gone]
    np.put_along_axis(lift, holes.gone[:, :, None], slope, axis=1)
    return lift @ (holes.scatter / _outer(g.deviation[where])) @ lift.transpose(0, 2, 1)


def _weighed(z: np.ndarray, y: np.ndarray, g: ClassGaussians) -> np.ndarray:
    """K z of each row, by the K of its class."""
    if g.shared or len(g.inverse) == 1:
        return z @ g.inverse[0]
    out = np.empty_like(z)
    for c in np.unique(y):
        mine = y == c
        out[mine] = z[mine] @ g.inverse[c]
    return out


def _placed(left: np.ndarray, holes: MissingPattern, pooled: bool) -> np.ndarray:
    """Σ of the kinds' (m, m) matrices at their places, (k or 1, d, d)."""
    d, groups = holes.cells.shape[1], 1 if pooled else holes.k
    group = np.zeros_like(holes.y_kind) if pooled else holes.y_kind
    at = ((group[:, None] * d + holes.gone)[:, :, None] * d + holes.gone[:, None, :]).ravel()
    return np.bincount(at, left.ravel(), minlength=groups * d * d).reshape(groups, d, d)


STEPS = 100
TOLERANCE = 1e-6
LARGEST = 1 << 26  # numbers in the covariances of all classes: beyond, cells are not filled in
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
    """The state with what rows with missing cells are expected to add, where its settings allow EM and some rows have
    missing cells."""
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
    """The weight of the rows that a tally of complete rows is short of."""
    seen, complete = tally.parts[0].n.sum(), tally.parts[1].n.sum()
    return float(seen - complete) if complete < seen * (1 - 1e-9) else 0.0


@dataclass(frozen=True)
class Available:
    """rows → the moments of the cells that are there, each cell with its own n."""

    def __call__(self, table: Table) -> Moments:
        with np.errstate(all="ignore"):
            found = ops.moments(table.x, table.y, table.w, table.k)  # type: ignore[arg-type]
        return replace(found, n=np.array(np.broadcast_to(column(found.n), found.mean.shape)))


@dataclass(frozen=True)
class Patterns:
    """rows → those with missing cells, by how many they miss."""

    def __call__(self, table: Table) -> list[MissingPattern]:
        return batches(table.x.rows(0, table.n), table.y, table.w, table.k)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Expected:
    """Rows with missing cells → what they are expected to add."""

    g: ClassGaussians
    pooled: bool
    k: int
    d: int

    def __call__(self, patterns: list[MissingPattern]) -> ExpectedStatistics:
        nothing = Scatter(
            np.zeros(self.k),
            np.zeros((self.k, self.d)),
            np.zeros((1 if self.pooled else self.k, self.d, self.d)),
            self.pooled,
        )
        each = threads.map_ordered(patterns, lambda holes: expected(holes, self.g, self.pooled))
        return reduce(add, each, ExpectedStatistics(nothing, 0.0))


def run_em(
    family: Any,
    whole: Scatter,
    seen: Moments,
    n: np.ndarray,
    fill: Callable[[ClassGaussians], ExpectedStatistics],
    extra: float | None = None,
) -> EMResult:
    """The steps. `whole` is of the complete rows, `seen` of all cells that are there, n (k,) of all rows; `fill`
    makes one pass over the rows with holes; `extra` is how many rows without correlation are added before cells are
    filled in, d + 1 by default. The family has a `blend` and `gaussians(tally)` → means, covariances."""
    usual, extra = within_class_variance(seen), seen.mean.shape[1] + 1.0 if extra is None else extra
    tally, path, done = start(whole, seen, n), [], False  # type: ignore[var-annotated]
    while not done and len(path) < STEPS:
        mean, covs = family.gaussians(tally)
        weights = (1 - family.blend) * n + family.blend * n.sum()  # all alike where classes share a covariance
        smooth = [shrink(cov, float(extra / (w + extra)), usual) for cov, w in zip(covs, weights, strict=False)]
        g = ClassGaussians.of(mean, np.stack([cov.dense() for cov in smooth]))
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
            stacklevel=levels_up(),
        )
    return EMResult(tally, tuple(path), done)


def checked(seen: Moments, rows: Rows) -> Moments:
    """The same, if every column has cells and all are numbers."""
    names = rows.reader.names
    if not seen.finite():
        if isinstance(rows, ArrayRows):
            inputs.raise_not_finite(rows.table.x, names)
        raise DataError("some cells are past all numbers\n\nhint: look for infinities, and for cells beyond 1e154")
    bare = np.broadcast_to(column(seen.n), seen.mean.shape).sum(axis=0) <= 0
    if bare.any():
        raise DataError(
            f"{inputs.called(int(np.flatnonzero(bare)[0]), names)} has no cell in any row: nothing can be learned of "
            "it\n\nhint: leave it out"
        )
    return seen


def within_class_variance(seen: Moments) -> np.ndarray:
    """The variance within classes of each column, (d,); one that is 0 is replaced by the mean of the others."""
    n = np.broadcast_to(column(seen.n), seen.m2.shape)
    variance = divide(seen.m2.sum(axis=0), n.sum(axis=0))
    return np.where(variance > 0, variance, max(float(variance.mean()), 1e-280))


def start(complete: Scatter, seen: Moments, n: np.ndarray) -> Scatter:
    """A tally of all rows to make the first Gaussians of."""
    k, d = seen.mean.shape
    rows = complete.n.sum(keepdims=True) - k if complete.pooled else complete.n
    if (rows >= 2 * (d + 1)).all() and (complete.n > 0).all():
        return complete
    shown = np.broadcast_to(column(seen.n), (k, d)) > 0
    weights = n.sum(keepdims=True) if complete.pooled else n
    scatter = weights[:, None, None] * np.diag(within_class_variance(seen))
    return Scatter(n, np.where(shown, seen.mean, seen.collapse().mean), scatter, complete.pooled)
