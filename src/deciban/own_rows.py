"""Taking a row out of the sums that it went into, for many rows at once: what leave-one-out is made of.

Each row i leaves the sums of its own class y[i] with its own weight. What rounding alone leaves behind is nothing, as where
tallies are subtracted.

>>> import numpy as np
>>> from deciban.table import Reals
>>> x, y = Reals(np.array([[1.0, 2.0], [3.0, 0.0]])), np.array([0, 0], dtype=np.int32)
>>> log_left(np.array([[4.0, 2.0]]), 1.0, x, y, None).round(3).tolist()  # 1 log(4 − 1 + 1) + 2 log(2 − 2 + 1), 3 log 2
[1.386, 2.079]
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deciban.table import Counts, Reals
from deciban.tallies import Moments
from deciban.tallies.base import NOTHING, column, less, negligible, over

BLOCK = 1 << 13  # cells a block of rows has: several arrays of them stay in cache
LEAST = 16  # rows a block has, at least


def blocks(x: Reals | Counts) -> Iterator[tuple[slice, np.ndarray]]:
    """Runs of rows and their cells as doubles, (m, d), to read and not to write."""
    step = max(LEAST, BLOCK // max(1, x.d))
    for start in range(0, x.n, step):
        stop = min(x.n, start + step)
        yield slice(start, stop), x.rows(start, stop).dense()


def weight(w: np.ndarray | None, rows: slice | np.ndarray) -> np.ndarray | float:
    """The weights of some rows beside their cells, (m, 1), or 1."""
    return 1.0 if w is None else w[rows, None]


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


def row_sums(a: np.ndarray) -> np.ndarray:
    return np.einsum("ij->i", a)


def row_totals(x: Reals | Counts) -> np.ndarray:
    """Σ_j x[i, j] without the missing cells, (n,)."""
    return x.map(lambda cell: np.asarray(cell, dtype=np.float64))


def log_left(total: np.ndarray, plus: float | np.ndarray, x: Reals | Counts, y, w) -> np.ndarray:
    """Σ_j x_j log(total[y, j] − w x_j + plus_j), the sums without the row itself; cells of 0 count 0. → (n,)"""
    if isinstance(x, Counts):
        row, col = x.row_of(), x.column_of()
        v = np.nan_to_num(np.asarray(x.stored, dtype=np.float64))
        left = less(total[y[row], col], v if w is None else v * w[row])
        left += plus if np.ndim(plus) == 0 else np.asarray(plus)[col]
        return np.bincount(row, times_log(v, left), minlength=x.n)
    out = np.empty(x.n)
    for rows, cells in blocks(x):
        whole = total.take(y[rows], axis=0)
        left = whole - (cells if w is None else cells * w[rows, None])
        if not left.min(initial=1.0) > NOTHING * whole.max(initial=0.0):  # or some cells are missing
            left[left <= NOTHING * whole] = 0.0
        left += plus
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.einsum("ij,ij->i", cells, np.log(left))
        odd = np.flatnonzero(~np.isfinite(own))  # a cell is missing, or 0 · log 0
        if len(odd):
            own[odd] = times_log(np.nan_to_num(cells[odd]), left[odd]).sum(axis=1)
        out[rows] = own
    return out


def times_log(x: np.ndarray, left: np.ndarray) -> np.ndarray:
    """x log(left), 0 where x is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0, x * np.log(left), 0.0)


def moments_left(t: Moments, cells: np.ndarray, y: np.ndarray, w: np.ndarray | float) -> tuple[np.ndarray, ...]:
    """(n, mean, m2), each (m, d): the moments of each row's class without that row, as subtracting the row's own tally
    leaves them; where a cell is missing, as they are."""
    here = ~np.isnan(cells)
    mean, m2 = t.mean.take(y, axis=0), t.m2.take(y, axis=0)
    n = np.broadcast_to(column(t.n).take(y, axis=0), cells.shape)
    w = here * w
    left = less(n, w)
    some = left > 0
    delta = np.where(here, mean - cells, 0.0)
    square = m2 - delta * (w * over(n, left)) * delta
    mean = np.where(some, mean + delta * over(w, left), 0.0)
    return left, mean, np.where(some & ~negligible(square, m2), square, 0.0)
