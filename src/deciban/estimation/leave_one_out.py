"""Leave-one-out sums: subtract each of many rows from the sums that contain it.

Each row i leaves the sums of its own class y[i] with its own weight. What rounding alone leaves behind is nothing, as
where tallies are subtracted.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.array([[1.0, 2.0], [3.0, 0.0]])), np.array([0, 0], dtype=np.int32)
>>> log_left(np.array([[4.0, 2.0]]), 1.0, x, y, None).round(3).tolist()  # 1 log(4 − 1 + 1) + 2 log(2 − 2 + 1), 3 log 2
[1.386, 2.079]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from weakref import ref

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.left_out import LeftOut
from deciban.tallies import Moments
from deciban.tallies.basic import NOTHING, RoundedMoments, column, divide, mean_slack, subtract
from deciban.tallies.exact_tables import in_columns

BLOCK = 1 << 16  # cells a block of rows has: arrays of them stay in cache, and calls are few
LEAST = 16  # rows a block has, at least
LITTLE = 1e-5  # of a sum of squares: where a row leaves less, its leaving is computed exactly
EXACTLY = 1 << 10  # cells at a time that leave exactly


def blocks(x: Reals | Counts, size: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Runs of rows and their cells as doubles, (m, d), to read and not to write."""
    step = max(LEAST, (size or BLOCK) // max(1, x.d))
    for start in range(0, x.n, step):
        stop = min(x.n, start + step)
        yield slice(start, stop), x.rows(start, stop).dense()


def weight(w: np.ndarray | None, rows: slice | np.ndarray) -> np.ndarray:
    """The weights of some rows, shaped to multiply their cells, (m, 1), or 1, ()."""
    return np.ones(()) if w is None else w[rows, None]


def class_weight(y: np.ndarray, w: np.ndarray | None, k: int) -> np.ndarray | None:
    """The weight (k, 1) that all these rows of a class have; None where rows of one class have different weights."""
    if w is None:
        return np.ones((k, 1))
    out = np.zeros(k)
    out[y] = w
    return out[:, None] if np.array_equal(out[y], w) else None


def set_own(out: np.ndarray, y: np.ndarray, own: np.ndarray, rows: slice = slice(None)) -> None:
    """Put own (m,) where some rows meet their own classes."""
    part = out[rows]
    part[np.arange(len(part)), y[rows]] = own


def sums_of_others(a: np.ndarray) -> np.ndarray:
    """Of each class the sum over the others, (k, …), by additions alone.

    >>> sums_of_others(np.array([[1e30], [1.0], [2.0]])).tolist()
    [[3.0], [1e+30], [1e+30]]
    """
    nothing = np.zeros_like(a[:1])
    before = np.concatenate([nothing, np.cumsum(a[:-1], axis=0)])
    after = np.concatenate([np.cumsum(a[:0:-1], axis=0)[::-1], nothing])
    return before + after


def row_sums(a: np.ndarray) -> np.ndarray:
    return np.einsum("ij->i", a)


def row_totals(x: Reals | Counts) -> np.ndarray:
    """Σ_j x[i, j] without the missing cells, (n,)."""
    if isinstance(x, Counts):
        return x.map(lambda cell: np.asarray(cell, dtype=np.float64))
    out = np.einsum("ij->i", x.values, dtype=np.float64)
    return np.asarray(np.nansum(x.values, axis=1, dtype=np.float64)) if np.isnan(out).any() else out


def log_factorials(x: Reals | Counts) -> np.ndarray:
    """Σ_j log x[i, j]! without the missing cells, (n,)."""
    return x.map(lambda cell: gammaln(np.asarray(cell, dtype=np.float64) + 1.0))


def powers(x: Reals | Counts, exponent: int) -> Reals | Counts:
    """x^exponent, cell by cell; exponent ≥ 1."""
    cells = x.dense() if isinstance(x, Reals) else np.asarray(x.stored, dtype=np.float64)
    out = cells
    for _ in range(exponent - 1):
        out = out * cells
    return Reals(out) if isinstance(x, Reals) else Counts(x.indptr - x.indptr[0], x.column_of(), out, x.d)


def remaining(whole: np.ndarray, part: np.ndarray) -> np.ndarray:
    """whole − part of sums ≥ 0, where what rounding leaves is nothing."""
    left = whole - part
    if not left.min(initial=1.0) > NOTHING * whole.max(initial=0.0):
        settle(left, np.broadcast_to(whole, left.shape))
    return left


def settle(left: np.ndarray, whole: np.ndarray) -> None:
    """In place: what rounding leaves of sums is nothing; what is below zero cannot be left, and is NaN."""
    small = np.nonzero(left <= NOTHING * whole)
    left[small] = np.where(left[small] < -1e-9 * whole[small], np.nan, 0.0)


def log_left(total: np.ndarray, plus: float | np.ndarray, x: Reals | Counts, y, w) -> np.ndarray:
    """Σ_j x_j log(total[y, j] − w x_j + plus_j), the sums without the row itself; cells of 0 count 0. → (n,)"""
    if isinstance(x, Counts):
        row, col = x.row_of(), x.column_of()
        v = np.nan_to_num(np.asarray(x.stored, dtype=np.float64))
        whole = total.ravel().take(y.astype(np.int64)[row] * x.d + col)
        plus = plus if np.ndim(plus) == 0 else np.asarray(plus)[col]
        return np.bincount(row, stored_log_left(whole, plus, v, v if w is None else v * w[row]), minlength=x.n)
    out, dust = np.empty(x.n), NOTHING * total.max(initial=0.0)
    for rows, cells in blocks(x):
        left = total.take(y[rows], axis=0)
        left -= cells if w is None else cells * w[rows, None]
        if not left.min(initial=1.0) > dust:  # or some cells are missing
            settle(left, total.take(y[rows], axis=0))
        left += plus
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.einsum("ij,ij->i", cells, np.log(left, out=left))
        odd = np.flatnonzero(~np.isfinite(own))  # a cell is missing, or 0 · log 0
        if len(odd):
            v = np.nan_to_num(cells[odd])
            own[odd] = np.where(v > 0, v * left[odd], 0.0).sum(axis=1)
        out[rows] = own
    return out


def stored_log_left(
    total: np.ndarray, plus: float | np.ndarray, x: np.ndarray, removed: float | np.ndarray
) -> np.ndarray:
    """x log(total − removed + plus) of stored cells, each with the sum of its own class and column, (cells,)."""
    left = total - removed
    settle(left, total)
    left += plus
    return times_log(x, left)


def times_log(x: np.ndarray, left: np.ndarray) -> np.ndarray:
    """x log(left), 0 where x is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, x * np.log(left), 0.0)


def moments_left(
    t: Moments | RoundedMoments, cells: np.ndarray, y: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, ...]:
    """(n, mean, m2): the moments of each row's class without that row, as subtracting the row's own tally leaves them;
    where a cell is missing, as they are. (m, d) each; n may be (m, 1). An m2 below zero: the row is not in the sums.
    Where a row carries nearly all of a sum of squares, it is taken out of the exact sums."""
    mean, m2 = t.mean.take(y, axis=0), t.m2.take(y, axis=0)
    n = column(t.n).take(y, axis=0)
    delta = mean - cells
    missing = np.isnan(delta)
    if missing.any():
        w, delta[missing] = ~missing * w, 0.0
    left = subtract(n, w)
    mean += delta * divide(w, left)
    delta *= delta
    delta *= w * divide(n, left)
    square = m2 - delta
    mean *= left > 0
    row, at = np.nonzero((square <= LITTLE * m2) & (m2 > 0) & ~missing)
    if len(row):
        taken = np.broadcast_to(w, cells.shape)[row, at]
        mean[row, at], square[row, at] = exactly_left(t, at, cells[row, at], y[row], taken)
    square[np.broadcast_to(left <= 0, square.shape) & (square > 0)] = 0.0
    return left, mean, square


def moments_without(t: Moments | RoundedMoments, out: LeftOut, tally: Callable[..., Moments]) -> RoundedMoments:
    """The moments of the class of each part without it; n is (p, 1) or (p, d). `tally` makes the moments of rows."""
    if out.row_part is not None:
        assert isinstance(t, Moments)  # groups are taken out of sums alone
        left = t.take(out.y) - out.tally(tally)
        n, mean, m2 = column(left.n), left.mean, left.m2
    else:
        n, mean, m2 = moments_left(t, out.x.dense(), out.y, weight(out.w, slice(None)))
    return RoundedMoments(n, mean, m2)


def taken_cells(out: LeftOut, columns: np.ndarray) -> np.ndarray:
    """Σ w x of some columns of each part, (p, columns); missing cells count 0."""
    x = out.x
    if isinstance(x, Reals):
        return out.sums(np.nan_to_num(np.asarray(x.values[:, columns], dtype=np.float64)))
    place = np.full(x.d, -1)
    place[columns] = np.arange(len(columns))
    at = place[x.column_of()]
    here = at >= 0
    cells = np.zeros((x.n, len(columns)))
    cells[x.row_of()[here], at[here]] = np.nan_to_num(np.asarray(x.stored, dtype=np.float64)[here])
    return out.sums(cells)


def exactly_left(
    t: Moments | RoundedMoments, j: np.ndarray, x: np.ndarray, y: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(mean, m2) (m,) of column j[i] and class y[i] without one cell x[i] of weight w[i], each rounded once. Where sums
    are known in doubles alone, what rounding leaves is nothing."""
    if isinstance(t, RoundedMoments):
        return _left_of_rounded(t, j, x, y, w)
    mean, m2 = np.empty(len(x)), np.empty(len(x))
    for start in range(0, len(x), EXACTLY):
        own = slice(start, start + EXACTLY)
        m = len(x[own])
        cell = Counts(np.arange(m + 1), np.arange(m), x[own], m)  # a row, and a column, for each cell
        one = Counts(np.arange(m + 1), np.arange(m), np.ones(m), m)
        removed = ops.moments(cell, y[own], w[own], t.k)
        n = t.weight if len(t.weight.shape) == 2 else in_columns(t.weight, t.d)
        taken = Moments(ops.sums(one, y[own], w[own], t.k).sums, removed.sums, removed.squares)
        left = (Moments(n, t.sums, t.squares).part(j[own]) - taken).rounded
        mean[own], m2[own] = left.mean[y[own], np.arange(m)], left.m2[y[own], np.arange(m)]
    return mean, m2


def _left_of_rounded(
    t: RoundedMoments, j: np.ndarray, x: np.ndarray, y: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n = np.broadcast_to(column(t.n), t.mean.shape)[y, j]
    before, m2, left = t.mean[y, j], t.m2[y, j], subtract(n, w)
    delta, scale = before - x, w * divide(n, left)
    square = m2 - delta * delta * scale
    square[(np.abs(square) <= 1e-9 * m2) | (left <= 0)] = 0.0
    near = (square < 0) & (square >= -mean_slack(before, delta, scale))
    return (before + delta * divide(w, left)) * (left > 0), np.where(near, 0.0, square)


def exceeding(total: np.ndarray, x: Reals | Counts, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """Which rows (n,) have a cell larger than the sum of their class: they are not among its rows."""
    most = total * (1 + 1e-9)
    if isinstance(x, Counts):
        row, v = x.row_of(), np.asarray(x.stored, dtype=np.float64)
        more = (v if w is None else v * w[row]) > most.ravel().take(y.astype(np.int64)[row] * x.d + x.column_of())
        return np.bincount(row[more], minlength=x.n) > 0
    out = np.empty(x.n, dtype=bool)
    for rows, cells in blocks(x):
        out[rows] = (cells * weight(w, rows) > most.take(y[rows], axis=0)).any(axis=1)
    return out


def not_in_sums(m2: np.ndarray) -> np.ndarray:
    """Which rows (m,) cannot be among those of the sums, from what they would leave of the squares (m, d)."""
    return np.asarray((m2 < 0).any(axis=1)) if m2.min(initial=0.0) < 0 else np.zeros(len(m2), dtype=bool)


_plans: dict[tuple[int, int], tuple[Any, Any, Any]] = {}  # (family, tally, what was made of them), by weak reference
MOST_PLANS = 256  # more than most tables have columns: a table of numbers has a tally for each


def cached_plan(family: Any, t: Any, make: Callable[[Any], Any]) -> Any:
    """make(t), once for all chunks of rows that the same family is asked about with the same tally."""
    key = id(family), id(t)
    found = _plans.get(key)
    if found is not None and found[0]() is family and found[1]() is t:
        return found[2]
    made = make(t)
    if len(_plans) >= MOST_PLANS:
        _plans.clear()
    _plans[key] = ref(family), ref(t, partial(_forget_plan, key)), made
    return made


def _forget_plan(key: tuple[int, int], _: Any, plans: dict = _plans) -> None:  # holds the plans: at exit names go first
    plans.pop(key, None)
