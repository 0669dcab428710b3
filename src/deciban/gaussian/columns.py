"""Independent normal densities of columns: scores, and leave-one-out scores.

The variance of a class is m2 / (n − ddof) + epsilon, epsilon = smoothing · (variance of all rows, of the column itself
or the largest of any column); shared by all classes, it is Σ m2 / Σ (n − ddof) + epsilon. A class without any cell of a
column has the moments of all rows there, so that the column is no evidence for or against it; a column without any cell
at all is no evidence. Without row i of class c the squares of c fall by n / (n − 1) · (x − mean)², and epsilon moves
for every class.

>>> import numpy as np
>>> from deciban import ops
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.array([[1.0], [3.0], [8.0]])), np.zeros(3, dtype=np.int32)
>>> t = ops.moments(x, y, None, 1)
>>> leave_one_out(t, x, y, None).round(3).tolist()  # the last: 8 under mean 2, variance 1
[[-3.455], [-2.264], [-18.919]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.dependence import both_ways
from deciban.estimation.leave_one_out import (
    LITTLE,
    blocks,
    exactly_left,
    moments_left,
    moments_without,
    not_in_sums,
    row_sums,
    set_own,
    sums_of_others,
    weight,
)
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.ops import leave_one_out as left_ops
from deciban.tallies import Moments
from deciban.tallies.basic import RoundedMoments, column, divide, subtract

FLOOR = 1e-290  # the least variance: its root can still divide, its log is finite
LARGEST = 1e300  # what smoothing adds to a variance, at most: sums with it are doubles
LARGE = 1 << 22  # cells per block where few temporaries are needed: a call into NumPy costs more on many cores
NOTICED = 1e-12  # a relative change of a variance that is less is not looked at
LINEAR = 1e-6  # and one up to here changes the score in proportion: what that leaves out is less than NOTICED
AnyMoments = Moments | RoundedMoments
Moved = tuple[np.ndarray, ...]  # n, mean, m2 of each row: its class, or all rows, without it
LEAST = -745.0  # log of the least positive double, about
DEEP = -9.0  # log of what is left of the variances, below which rounding would show: the row is taken out cell by cell


@dataclass(frozen=True)
class NormalColumns:
    mean: np.ndarray  # (k, d)
    var: np.ndarray  # (k, d)
    scale: np.ndarray  # (k, d), 1 / deviation
    share: np.ndarray  # (k, d), log of the density at the mean
    bias: np.ndarray  # (k,), sum of `share` over columns

    @classmethod
    def of(cls, t: AnyMoments, epsilon: float | np.ndarray, ddof: float = 0.0, shared: bool = False) -> NormalColumns:
        within, t = t, t.filled()
        var = variances(pooled_within(within, ddof), 0.0) if shared else variances(t, ddof)
        out = cls.from_parameters(t.mean, np.maximum(np.broadcast_to(var + epsilon, t.mean.shape), FLOOR))
        if (t.n <= 0).any():
            never = np.broadcast_to(column(t.n) <= 0, out.var.shape)
            var, share, scale = (np.where(never, a, b) for a, b in ((1.0, out.var), (0.0, out.share), (0.0, out.scale)))
            return cls(t.mean, var, scale, share, share.sum(axis=1))
        return out

    @classmethod
    def from_parameters(cls, mean: np.ndarray, var: np.ndarray) -> NormalColumns:
        share = -0.5 * np.log(2.0 * np.pi * var)
        return cls(mean, var, 1.0 / np.sqrt(var), share, share.sum(axis=1))

    def gradient(self, t: AnyMoments) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the log density of rows with these moments, by mean and by variance, (k, d) each."""
        apart = t.mean - self.mean
        squares = t.m2 + column(t.n) * apart**2
        return column(t.n) * apart / self.var, 0.5 * (squares / self.var - column(t.n)) / self.var

    def loglik(self, x: Reals | Counts) -> np.ndarray:
        return ops.quadratic_diagonal(x, self.mean, self.scale, self.bias, self.share)

    def parts(self, x: Reals | Counts) -> np.ndarray:
        z = (x.dense()[:, None, :] - self.mean) * self.scale
        return np.where(np.isnan(z), 0.0, self.share - 0.5 * z**2)


def pooled_within(t: AnyMoments, ddof: float) -> RoundedMoments:
    """The squares of all classes about their own means, and n − ddof of each: k = 1, with means of 0."""
    n = np.maximum(np.broadcast_to(column(t.n), t.mean.shape) - ddof, 0.0).sum(axis=0, keepdims=True)
    return RoundedMoments(n, np.zeros_like(n), np.maximum(t.m2, 0.0).sum(axis=0, keepdims=True))


def variances(t: AnyMoments, ddof: float) -> np.ndarray:
    """m2 / (n − ddof), (k, d)."""
    free = np.maximum(column(t.n) - ddof, 0.0)
    return divide(np.maximum(t.m2, 0.0), free)


def variance_smoothing(everything: AnyMoments, smoothing: float, each: bool = False) -> Any:
    """What is added to every variance, from the moments of all rows as one class: a number, or one for each column."""
    spread = divide(everything.m2, column(everything.n))
    with np.errstate(over="ignore"):
        return np.minimum(smoothing * (spread[0] if each else float(spread.max(initial=0.0))), LARGEST)


def prior_scale(n: np.ndarray, m2: np.ndarray, within: np.ndarray, shape: float, smoothing: float) -> np.ndarray:
    """The scale of an inverse gamma prior of variances, worth 2 · shape rows of the variance within classes; n, m2 of
    all rows, `within` the squares within classes."""
    with np.errstate(over="ignore"):
        return np.minimum(shape * divide(np.maximum(within, 0.0) + smoothing * m2, n), LARGEST) + FLOOR


def normal_gamma_evidence(t: AnyMoments, mean: Any, scale: Any, kappa: float, shape: float) -> np.ndarray:
    """log marginal likelihood (k, d) of cells: variance ~ 1 / Gamma(shape, scale), mean ~ N(mean, variance / kappa)."""
    n, delta = column(t.n), t.mean - mean
    after = scale + 0.5 * t.m2 + (0.5 * kappa * n / (kappa + n)) * delta * delta
    flat = gammaln(shape + 0.5 * n) - gammaln(shape) + 0.5 * np.log(kappa / (kappa + n)) - 0.5 * n * np.log(2.0 * np.pi)
    return flat + shape * np.log(scale) - (shape + 0.5 * n) * np.log(after)


def dependence_evidence(t: AnyMoments) -> np.ndarray:
    """log evidence that normal columns depend on the class, and that they do not (2, d), by a prior worth one row."""

    def evidence(t: AnyMoments) -> np.ndarray:
        pooled = t.collapse()
        scale = prior_scale(column(pooled.n)[0], pooled.m2[0], t.m2.sum(axis=0), 0.5, 1e-9)
        return normal_gamma_evidence(t, pooled.mean[0], scale, 1.0, 0.5)

    return both_ways(evidence, t)


def leave_one_out(
    t: AnyMoments,
    x: Reals | Counts,
    y,
    w,
    smoothing: float = 0.0,
    ddof: float = 0.0,
    everything: AnyMoments | None = None,
    each: bool = False,
) -> np.ndarray:
    """Log likelihoods (n, k) of rows under t without the row itself. `everything`: the moments of all rows, unweighted,
    that epsilon comes from; by default those of t. `each`: whether every column is smoothed by its own variance."""
    pooled, among = (t.collapse(), w) if everything is None else (everything, None)
    added = variance_smoothing(pooled, smoothing, each)
    p = NormalColumns.of(t, added, ddof)
    out = p.loglik(x)
    left = np.empty((x.n, x.d if each else 1))  # epsilon without the row
    left[:] = added
    if smoothing:
        of = variances_left if each else largest_left
        for rows, cells in blocks(x, LARGE):
            left[rows] = smoothing * of(pooled, cells, weight(among, rows))
        _move(out, p, variances(t.filled(), ddof), x, left - added, left)
    everyone, empty = t.collapse(), np.broadcast_to(column(t.n) <= 0, t.mean.shape)
    for c in np.flatnonzero(empty.any(axis=1)):  # has the moments of all rows somewhere, and they move
        for rows, cells in blocks(x):
            mine = column(t.n)[c], t.mean[c], t.m2[c]
            moments = _instead(empty[c], _left_of_all(everyone, cells, weight(w, rows)), mine)
            out[rows, c] = _density(moments, cells, left[rows], ddof)
    quick = Quick.of(t, added, ddof) if w is None and t.n.ndim == 1 else None
    for rows, cells in blocks(x, LARGE):
        own = np.full(len(cells), np.nan) if quick is None else quick(cells, y[rows], left[rows] - added)
        rest = np.flatnonzero(np.isnan(own))
        if len(rest):
            at = rest + rows.start
            moments = moments_left(t, cells[rest], y[at], weight(w, at))
            if (moments[0] <= 0).any():
                moments = _instead(moments[0] <= 0, _left_of_all(everyone, cells[rest], weight(w, at)), moments)
            own[rest] = np.where(not_in_sums(moments[2]), np.nan, _density(moments, cells[rest], left[at], ddof))
        set_own(out, y, own, rows)
    return out


def leave_one_out_shared(
    t: AnyMoments,
    x: Reals | Counts,
    y,
    w,
    smoothing: float = 0.0,
    ddof: float = 0.0,
    everything: AnyMoments | None = None,
    each: bool = False,
) -> np.ndarray:
    """`leave_one_out` where all classes share the variances: each row moves those of all classes."""
    pooled, among = (t.collapse(), w) if everything is None else (everything, None)
    everyone, n = t.collapse(), np.broadcast_to(column(t.n), t.mean.shape)
    others = sums_of_others(np.maximum(t.m2, 0.0)), sums_of_others(np.maximum(n - ddof, 0.0))  # (k, d) each
    of = variances_left if each else largest_left
    out = np.empty((x.n, t.k))
    for rows, cells in blocks(x):
        code, own = y[rows], weight(w, rows)
        left, mean, m2 = moments_left(t, cells, code, own)
        mine = np.broadcast_to(left, cells.shape)
        squares = others[0].take(code, axis=0) + np.maximum(m2, 0.0)
        free = others[1].take(code, axis=0) + np.maximum(mine - ddof, 0.0)
        added = smoothing * of(pooled, cells, weight(among, rows)) if smoothing else 0.0
        var = np.maximum(divide(squares, free) + added, FLOOR)
        rest, middle, _ = _left_of_all(everyone, cells, own)
        flat = np.where(rest > 0, np.log(2.0 * np.pi * var), 0.0)
        for c in range(t.k):
            here = (code == c)[:, None]
            centre = np.where(here, mean, t.mean[c])
            centre = np.where(np.where(here, mine, n[c]) > 0, centre, middle)
            square = np.where(rest > 0, (cells - centre) ** 2 / var, 0.0)
            out[rows, c] = -0.5 * np.nansum(np.where(np.isnan(cells), np.nan, flat + square), axis=1)
        out[rows][not_in_sums(m2)] = np.nan
    return out


def parts_without(
    t: AnyMoments,
    out: LeftOut,
    cells: np.ndarray,
    smoothing: float = 0.0,
    ddof: float = 0.0,
    shared: bool = False,
    everything: AnyMoments | None = None,
    each: bool = False,
) -> PartsLeft | None:
    """Scores of cells (q, d) by column, without each group of the rows `out`; settings as in `leave_one_out`."""
    if (column(t.n) <= 0).any():  # a class uses the moments of all rows
        return None
    before = variance_smoothing(t.collapse() if everything is None else everything, smoothing, each)
    after = smoothing_without(t, out, smoothing, everything, each)
    left = moments_without(t, out, ops.moments)
    lost = ((left.n <= 0) | (left.m2 < 0)).any(axis=1)
    square = np.maximum(left.m2, 0.0)
    free, bare = np.maximum(left.n - ddof, 0.0), variances(t, ddof)
    if shared:
        rest = np.maximum(column(t.n) - ddof, 0.0)
        whole = np.broadcast_to(rest, t.mean.shape).sum(axis=0) - out.by_group(rest[out.y] - free)
        within = t.m2.sum(axis=0) - out.by_group(t.m2[out.y] - square)
        var = np.maximum(divide(within, np.broadcast_to(whole, within.shape)) + after, FLOOR)
        own, moves = var[out.group], True
    else:
        own = np.maximum(divide(square, np.broadcast_to(free, square.shape)) + after[out.group], FLOOR)
        moves = bool((np.abs(after - before).max(axis=0, initial=0.0) > NOTICED * (bare + before)).any())
    found = normal_scores(cells[:, None, :], left.mean, own)
    found[:, lost] = np.nan
    if not moves:
        return PartsLeft(found)
    if not shared:
        var = np.maximum(bare + after[:, None, :], FLOOR)
        every = normal_scores(cells[:, None, None, :], t.mean, var)
    else:
        every = normal_scores(cells[:, None, None, :], t.mean, var[:, None, :])
    every[:, out.group, out.y] = found
    return PartsLeft(None, every)


def normal_scores(cells: np.ndarray, mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """log N(cell; mean, var), 0 for a missing cell."""
    z = cells - mean
    z *= z
    z = z / var
    z += np.log(2.0 * np.pi * var)
    z *= -0.5
    return np.nan_to_num(z, copy=False, nan=0.0, posinf=np.inf, neginf=-np.inf) if np.isnan(cells).any() else z


def smoothing_without(
    t: AnyMoments, out: LeftOut, smoothing: float, everything: AnyMoments | None, each: bool
) -> np.ndarray:
    """What is added to every variance without each group, (groups, 1), or (groups, d) of each column."""
    pooled = t.collapse() if everything is None else everything
    if not smoothing:
        return np.zeros((out.groups, 1))
    rows = replace(out, w=out.w if everything is None else None)
    if out.row_part is None:
        of = variances_left if each else largest_left
        spread = of(pooled, out.x.dense(), weight(rows.w, slice(None)))
    else:
        left = moments_without(pooled, rows.of_groups(), ops.moments)
        spread = divide(left.m2, np.broadcast_to(column(left.n), left.m2.shape))
        spread = spread if each else spread.max(axis=1, initial=0.0, keepdims=True)
    return np.minimum(smoothing * spread, LARGEST)


def variances_left(pooled: AnyMoments, cells: np.ndarray, w: np.ndarray, j: Any = slice(None)) -> np.ndarray:
    """The variances of columns j without each of the rows, (m, columns)."""
    n = np.broadcast_to(column(pooled.n), pooled.mean.shape)[0, j]
    mean, m2 = pooled.mean[0, j], pooled.m2[0, j]
    square = cells[:, j] - mean
    square *= square
    missing = np.isnan(square)
    some = missing.any()
    taken = w * ~missing if some else w
    rest = subtract(n, taken)
    square *= taken * divide(n, rest)
    if some:
        square[missing] = 0.0
    np.subtract(m2, square, out=square)
    row, at = np.nonzero((square <= LITTLE * m2) & (m2 > 0) & (taken > 0))
    if len(row):
        own = np.arange(pooled.d)[j][at]
        leaving = np.broadcast_to(taken, square.shape)[row, at]
        square[row, at] = exactly_left(pooled, own, cells[row, own], np.zeros(len(row), dtype=np.int32), leaving)[1]
    np.maximum(square, 0.0, out=square)
    square *= divide(np.ones(1), rest)
    return square


def largest_left(pooled: AnyMoments, cells: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The largest variance of any column without each of the rows, (m, 1)."""
    n, m2 = np.broadcast_to(column(pooled.n), pooled.mean.shape)[0], pooled.m2[0]
    if len(cells) == 0 or len(n) == 0:
        return np.zeros((len(cells), 1))
    top = int(divide(m2, n).argmax())
    out = variances_left(pooled, cells, w, [top])
    # a row that leaves takes squares along: no column can end above all its squares over the rest of its weight
    rest = n - np.max(w)
    near = (rest <= 0) | (divide(m2, np.maximum(rest, 0.0)) >= out.min())
    near[top] = False
    if near.any():
        others = variances_left(pooled, cells, w, np.flatnonzero(near))
        np.maximum(out, others.max(axis=1, keepdims=True), out=out)
    return out


def _move(out: np.ndarray, p: NormalColumns, bare: np.ndarray, x, change: np.ndarray, left: np.ndarray) -> None:
    """Score under epsilon + change = left (n, 1 or d) instead of epsilon, in place: in proportion where that is exact
    enough and all columns move alike."""
    most = (np.abs(change).max(axis=0, initial=0.0) / p.var).max(axis=1, initial=0.0)  # (k,)
    small = most <= (LINEAR if change.shape[1] == 1 else NOTICED)
    if (small & (most > NOTICED)).any():
        steep = np.where(small[:, None], 1.0 / p.var, 0.0)
        slope = ops.quadratic_diagonal(x, p.mean, steep, 0.5 * steep.sum(axis=1), 0.5 * steep)
        out -= slope * change
    for c in np.flatnonzero(~small):
        for rows, cells in blocks(x):
            var = np.maximum(bare[c] + left[rows], FLOOR)
            terms = -0.5 * (np.log(2.0 * np.pi * var) + (cells - p.mean[c]) ** 2 / var)
            out[rows, c] = np.nansum(terms, axis=1)


def _instead(here: np.ndarray, these: Moved, of: Moved) -> Moved:
    return tuple(np.where(here, a, b) for a, b in zip(these, of, strict=True))


def _left_of_all(everyone: AnyMoments, cells: np.ndarray, w: np.ndarray) -> Moved:
    """The moments of all rows without each of these."""
    return moments_left(everyone, cells, np.zeros(len(cells), dtype=np.int32), w)


def _density(moments: Moved, cells: np.ndarray, left: np.ndarray, ddof: float) -> np.ndarray:
    """Log likelihood (m,) of rows that have moments of their own, cell by cell; no moments, no evidence."""
    n, mean, m2 = moments
    var = np.maximum(divide(np.maximum(m2, 0.0), np.maximum(n - ddof, 0.0)) + left, FLOOR)
    terms = -0.5 * (np.log(2.0 * np.pi * var) + (cells - mean) ** 2 / var)
    return np.nansum(np.where(n > 0, terms, 0.0), axis=1)


@dataclass(frozen=True)
class Quick:
    """Own-class scores of complete rows of weight 1, in a few passes over the cells. With free = n − 1 − ddof,
    V = m2 / free + epsilon, g = n / (n − 1) / free and e = g (x − mean)² / V, the variance left is V (1 − e), and the
    squared distance n · free / (n − 1) · e / (1 − e)."""

    mean: np.ndarray  # (k, d)
    scale: np.ndarray  # (k, d), √(g / V)
    inverse: np.ndarray  # (k, d), 1 / V
    bias: np.ndarray  # (k,)
    far: np.ndarray  # (k,)

    @classmethod
    def of(cls, t: AnyMoments, added: float | np.ndarray, ddof: float) -> Quick:
        rest = t.n - 1.0
        free = rest - ddof
        with np.errstate(all="ignore"):
            free = np.where(free > 1e-6, free, np.nan)  # NaN: no quick way for this class
            var = np.maximum(t.m2, 0.0) / free[:, None] + added
            var = np.where(var > 1e10 * FLOOR, var, np.nan)
            scale = np.sqrt((t.n / rest / free)[:, None] / var)
            return cls(t.mean, scale, 1.0 / var, -0.5 * np.log(2.0 * np.pi * var).sum(axis=1), t.n * free / rest)

    def __call__(self, cells: np.ndarray, y: np.ndarray, change: np.ndarray) -> np.ndarray:
        """(m,); NaN for a row that has to be taken out cell by cell."""
        if np.abs(change).max(initial=0.0) * self.inverse.max(initial=0.0) <= NOTICED:
            return left_ops.loo_normal(cells, y, self.mean, self.scale, self.bias, self.far, np.exp(DEEP))
        e = cells - self.mean.take(y, axis=0)
        e *= self.scale.take(y, axis=0)
        e *= e
        rest = 1.0 - e
        moved = self.inverse.take(y, axis=0)
        moved *= change
        rest += moved
        e /= rest
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = row_sums(np.log(rest, out=rest))
        own = self.bias[y] - 0.5 * (logs + self.far[y] * row_sums(e))
        own[~(logs > DEEP)] = np.nan
        return own


def logs(x: Reals | Counts) -> Reals:
    """log of each cell, by the same steps on every machine; NaN, like a missing one, where there is none."""
    return ops.logs(x)


def log_jacobian(x: Reals | Counts) -> np.ndarray:
    """−Σ log x of each row (n,), what turns a density of logarithms into one of x; LEAST for what has no logarithm."""
    return np.nansum(np.where(x.dense() <= 0, LEAST, -logs(x).values), axis=1)
