"""Counts of the categories of coded columns, by class.

Level counts of coded columns and of every two of them together, by class.

Pairs of columns i < j stand in the order (0, 1), (0, 2), …, (1, 2), …; the counts of levels a, b of one are at
start + a · levels[j] + b. A pair counts where both cells are there.

>>> import numpy as np
>>> t = Pairs(np.array([3.0]), np.array([[1.0, 2.0, 3.0]]), np.array([2, 1]), np.array([[1.0, 2.0]]))
>>> t.pair(0, 1).tolist(), t.pair(1, 0).tolist(), (t + t).pair(0, 1).tolist()
([[[1.0], [2.0]]], [[[1.0, 2.0]]], [[[2.0], [4.0]]])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.tallies.basic import Tally, any_cell, doubles, subtract
from deciban.tallies.exact_tables import (
    ExactTable,
    are_finite,
    as_doubles,
    collapsed,
    columns_of,
    is_negative,
    minus,
    placed,
    plus,
    relabelled,
    times,
)


@dataclass(frozen=True)
class Crosstab(Tally):
    """Per class how often each level of each column was seen; column j's levels stand at offset[j] … offset[j + 1]."""

    counts: ExactTable  # (k, sum of levels)
    levels: np.ndarray  # (d,)

    @cached_property
    def table(self) -> np.ndarray:
        """The counts in doubles."""
        return as_doubles(self.counts)

    @property
    def offset(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.levels)])

    def columns(self) -> list[np.ndarray]:
        """The table of each column, (k, levels[j])."""
        return np.split(self.table, self.offset[1:-1], axis=1)

    def part(self, columns) -> Crosstab:
        """Of some of the columns."""
        ends = self.offset
        at = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(ends[j], ends[j + 1]) for j in columns)])
        return Crosstab(columns_of(self.weight, columns), columns_of(self.counts, at), self.levels[list(columns)])

    def collapse(self) -> Crosstab:
        """All classes as one, k = 1."""
        return Crosstab(collapsed(self.weight), collapsed(self.counts), self.levels)

    def relevel(self, levels: np.ndarray, index: list[np.ndarray] | None = None) -> Crosstab:
        """The same counts in columns of `levels` levels, where level l of column j stands at index[j][l] (or at l)."""
        levels = np.asarray(levels, dtype=np.int64)
        if index is None and np.array_equal(levels, self.levels):
            return self
        places = index or [np.arange(count) for count in self.levels]
        offset = np.concatenate([[0], np.cumsum(levels)])
        moved = (offset[j] + np.asarray(p, dtype=np.int64) for j, p in enumerate(places))
        new = np.concatenate([np.zeros(0, dtype=np.int64), *moved])
        return Crosstab(self.weight, placed(self.counts, new, int(offset[-1])), levels)

    def without_levels(self, columns, but: int = 0) -> Crosstab:
        """The same columns, some of which have no levels and no counts, but for their last levels."""
        levels = np.where(np.isin(np.arange(self.d), list(columns)), but, self.levels)
        place = np.arange(self.levels.sum()) - np.repeat(self.offset[:-1], self.levels)
        at = np.flatnonzero(place >= np.repeat(self.levels - levels, self.levels))
        return Crosstab(self.weight, columns_of(self.counts, at), levels)

    def _aligned(self, other: Crosstab) -> tuple[Crosstab, Crosstab]:
        levels = np.maximum(self.levels, other.levels)
        return self.relevel(levels), other.relevel(levels)

    @property
    def d(self) -> int:
        return len(self.levels)

    def sound(self) -> bool:
        whole = self.levels.dtype.kind == "i" and self.levels.ndim == 1 and (self.levels >= 0).all()
        fits = whole and self.counts.shape == (self.k, self.levels.sum()) and doubles(self.weight, self.counts)
        return bool(fits) and self.weight.shape in ((self.k,), (self.k, self.d))

    def finite(self) -> bool:
        return are_finite(self.n) and are_finite(self.table)

    def short(self) -> np.ndarray:
        return super().short() | any_cell(is_negative(self.counts))

    def __add__(self, other: Crosstab) -> Crosstab:
        a, b = self._aligned(other)
        return Crosstab(plus(a.weight, b.weight), plus(a.counts, b.counts), a.levels)

    def __sub__(self, other: Crosstab) -> Crosstab:
        a, b = self._aligned(other)
        return Crosstab(minus(a.weight, b.weight), minus(a.counts, b.counts), a.levels)

    def __mul__(self, scale: float) -> Crosstab:
        return Crosstab(times(self.weight, scale), times(self.counts, scale), self.levels)

    def relabel(self, index: np.ndarray, k: int) -> Crosstab:
        return Crosstab(relabelled(self.weight, index, k), relabelled(self.counts, index, k), self.levels)


@dataclass(frozen=True)
class Layout:
    """Where the pairs of columns with so many levels stand."""

    first: np.ndarray  # (p,), the columns i
    second: np.ndarray  # (p,), the columns j > i
    start: np.ndarray  # (p + 1,)

    @classmethod
    def of(cls, levels: np.ndarray) -> Layout:
        levels = np.asarray(levels, dtype=np.int64)
        first, second = np.triu_indices(len(levels), 1)
        return cls(first, second, np.concatenate([[0], np.cumsum(levels[first] * levels[second])]).astype(np.int64))

    def cells(self, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(pair, level a of its first column, level b of its second) of each count."""
        pair = np.repeat(np.arange(len(self.first)), np.diff(self.start))
        within, wide = np.arange(self.start[-1]) - self.start[pair], levels[self.second[pair]]
        return pair, within // np.maximum(wide, 1), within % np.maximum(wide, 1)


def pair_cells(levels: np.ndarray) -> int:
    """How many counts of pairs a class has: Σ_(i < j) levels[i] · levels[j].

    >>> pair_cells(np.array([2, 3, 4]))
    26
    """
    levels = np.asarray(levels, dtype=object)  # whole numbers of any size
    return int(levels.sum() ** 2 - (levels**2).sum()) // 2


@dataclass(frozen=True)
class Pairs(Crosstab):
    """A `Crosstab` with the joint counts of the categories of every two columns."""

    pair_counts: ExactTable  # (k, Σ_(i < j) levels[i] · levels[j])

    @cached_property
    def pairs(self) -> np.ndarray:
        """The counts of pairs in doubles."""
        return as_doubles(self.pair_counts)

    @cached_property
    def layout(self) -> Layout:
        return Layout.of(self.levels)

    def crosstab(self) -> Crosstab:
        """The counts of each column by itself."""
        return Crosstab(self.weight, self.counts, self.levels)

    def pair(self, i: int, j: int) -> np.ndarray:
        """Counts (k, levels[i], levels[j]) of two columns."""
        low, high = min(i, j), max(i, j)
        at = low * (2 * self.d - low - 1) // 2 + high - low - 1
        cut = self.pairs[:, self.layout.start[at] : self.layout.start[at + 1]]
        out = cut.reshape(self.k, self.levels[low], self.levels[high])
        return out if i < j else out.transpose(0, 2, 1)

    def missing(self, j: int) -> np.ndarray:
        """The weight (k,) of the rows that lack column j."""
        return np.maximum(subtract(self.n, self.table[:, self.offset[j] : self.offset[j + 1]].sum(axis=1)), 0.0)

    def lacking(self, j: int) -> np.ndarray:
        """The level counts (k, sum of levels) of the rows that lack column j: pairs count where both cells are there,
        so what the others have beyond them is without j."""
        out = np.zeros_like(self.table)
        for i in range(self.d):
            if i != j:
                own = slice(self.offset[i], self.offset[i + 1])
                out[:, own] = np.maximum(subtract(self.table[:, own], self.pair(i, j).sum(axis=2)), 0.0)
        return out

    def with_missing(self, columns: np.ndarray) -> Pairs:
        """The same counts where the missing cells of these columns (d,) are a level of their own, the last one."""
        if not np.any(columns):
            return self
        out = Pairs(self.n, self.table, self.levels, self.pairs)  # in doubles, and changed below
        out = out.relevel(self.levels + np.asarray(columns, dtype=np.int64))
        missing = {j: self.missing(j) for j in np.flatnonzero(columns).tolist()}
        lacking = {j: self.lacking(j) for j in missing}
        for j, rows in missing.items():
            out.table[:, out.offset[j + 1] - 1] = rows
            for i in range(self.d):
                if i == j:
                    continue
                pair, alone = out.pair(i, j), lacking[j][:, self.offset[i] : self.offset[i + 1]]
                pair[:, : self.levels[i], -1] = alone
                if i in missing:
                    pair[:, -1, -1] = np.maximum(subtract(rows, alone.sum(axis=1)), 0.0)
        return out

    def relevel(self, levels: np.ndarray, index: list[np.ndarray] | None = None) -> Pairs:
        """The same counts in columns of `levels` levels, where level l of column j stands at index[j][l] (or at l);
        those at −1 are left out."""
        levels = np.asarray(levels, dtype=np.int64)
        if index is None and np.array_equal(levels, self.levels):
            return self
        places = [np.asarray(p, dtype=np.int64) for p in index or map(np.arange, self.levels)]
        at = np.concatenate([*places, np.zeros(0, dtype=np.int64)])
        known, column = at >= 0, np.repeat(np.arange(self.d), self.levels)
        offset = np.concatenate([[0], np.cumsum(levels)])
        moved = np.where(known, offset[column] + at, -1)
        old, new = self.layout, Layout.of(levels)
        pair, a, b = old.cells(self.levels)
        a, b = at[self.offset[old.first[pair]] + a], at[self.offset[old.second[pair]] + b]
        both = np.where((a >= 0) & (b >= 0), new.start[pair] + a * levels[old.second[pair]] + b, -1)
        counts = placed(self.counts, moved, int(offset[-1]))
        return Pairs(self.weight, counts, levels, placed(self.pair_counts, both, int(new.start[-1])))

    def part(self, columns) -> Pairs:
        """Of some of the columns."""
        columns = list(columns)
        alone = super().part(columns)
        places = np.arange(self.layout.start[-1])[None]
        every = Pairs(np.zeros(1), np.zeros((1, self.offset[-1])), self.levels, places)  # the place of each count
        both = [every.pair(i, j).ravel() for place, i in enumerate(columns) for j in columns[place + 1 :]]
        cells = np.concatenate([np.zeros(0, dtype=np.int64), *both])
        return Pairs(self.weight, alone.counts, alone.levels, columns_of(self.pair_counts, cells))

    def sound(self) -> bool:
        if not super().sound() or len(self.weight.shape) != 1:
            return False
        return self.pair_counts.shape == (self.k, pair_cells(self.levels)) and doubles(self.pair_counts)

    def finite(self) -> bool:
        return super().finite() and are_finite(self.pairs)

    def short(self) -> np.ndarray:
        return super().short() | any_cell(is_negative(self.pair_counts))

    def _both(self, other: Crosstab) -> tuple[Pairs, Pairs]:
        levels = np.maximum(self.levels, other.levels)
        return self.relevel(levels), other.relevel(levels)  # type: ignore[return-value]

    def __add__(self, other: Crosstab) -> Pairs:
        a, b = self._both(other)
        pairs = plus(a.pair_counts, b.pair_counts)
        return Pairs(plus(a.weight, b.weight), plus(a.counts, b.counts), a.levels, pairs)

    def __sub__(self, other: Crosstab) -> Pairs:
        a, b = self._both(other)
        pairs = minus(a.pair_counts, b.pair_counts)
        return Pairs(minus(a.weight, b.weight), minus(a.counts, b.counts), a.levels, pairs)

    def __mul__(self, scale: float) -> Pairs:
        n, counts, pairs = (times(a, scale) for a in (self.weight, self.counts, self.pair_counts))
        return Pairs(n, counts, self.levels, pairs)

    def relabel(self, index: np.ndarray, k: int) -> Pairs:
        n, counts, pairs = (relabelled(a, index, k) for a in (self.weight, self.counts, self.pair_counts))
        return Pairs(n, counts, self.levels, pairs)
