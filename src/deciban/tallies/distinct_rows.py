"""Distinct rows with their weights: the statistic for structure learning where pair counts are not enough.

A row of codes (−1 = missing) and its class make a key; keys are ascending, and each has its weight. So equal rows in
any order are equal bits, and the counts of any columns together can be made from it. Its memory is that of the distinct
rows: never more than that of all rows.

>>> import numpy as np
>>> t = DistinctRows.of(np.array([[0, 1], [0, 1], [1, -1]]), np.array([0, 0, 1]), None, 2)
>>> t.rows.tolist(), t.y.tolist(), t.w.tolist()
([[0, 1], [1, -1]], [0, 1], [2.0, 1.0])
>>> t.counts([0]).tolist(), t.counts([0, 1]).shape
([[2.0, 0.0], [0.0, 1.0]], (2, 2, 2))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from deciban.errors import ModelFileError
from deciban.tallies.basic import Tally, doubles, subtract
from deciban.tallies.crosstab import Crosstab
from deciban.tallies.exact_tables import ExactTable, minus, plus, relabelled, times, weight_by_class

_FULL = 1 << 62  # keys of one word stay below this


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the distinct rows of whole numbers ≥ −1 (n, d), in ascending order; which of them each row is, (n,)).

    >>> found, which = distinct_rows(np.array([[1, -1], [0, 2], [1, -1]]))
    >>> found.tolist(), which.tolist()
    ([[0, 2], [1, -1]], [1, 0, 1])
    """
    if len(rows) <= 1:
        return rows, np.zeros(len(rows), dtype=np.int64)
    key, size = np.zeros(len(rows), dtype=np.int64), 1
    for column, base in zip(rows.T, (rows.max(axis=0).astype(np.int64) + 2).tolist(), strict=True):
        if size * base >= _FULL:
            values, key = np.unique(key, return_inverse=True)
            size = len(values)
        key = key * base + column + 1
        size *= base
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    return rows[first], which


@dataclass(frozen=True)
class KeyedRows(Tally, ABC):
    """Rows with a key and a weight, in ascending order of their keys: what adds and removes rows by key.

    A subclass has `y` and `w`, the class and the weight of each row, and names its arrays of one entry a row.
    """

    ROWWISE: ClassVar[tuple[str, ...]] = ("y", "w")

    y: np.ndarray  # (m,), int32
    w: np.ndarray  # (m,)

    @abstractmethod
    def _words(self) -> list[np.ndarray]:
        """The keys, as whole numbers: the first counts most."""

    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        """(order of the keys, ascending, equal ones as they were; where in it a new key starts)."""
        words = self._words()
        # a stable sort of numbers finds runs that are sorted already, so that merging two tallies is one pass
        order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any([np.diff(word[order]) != 0 for word in words], axis=0)
        return order, np.flatnonzero(new)

    def _picked(self, at: Any, w: np.ndarray | None = None) -> Self:
        """These rows, or these with other weights, without those that weigh nothing."""
        rows = {name: getattr(self, name)[at] for name in self.ROWWISE}
        if w is not None:
            some = w != 0
            rows = {name: rows[name][some] for name in rows} | {"w": w[some]}
        return replace(self, **rows)

    def _joined(self) -> Self:
        """In order, the weights of equal rows added."""
        if len(self.w) == 0:
            return self
        order, start = self._order()
        return self._picked(order[start], np.add.reduceat(self.w[order], start))

    def _with(self, other: Self, weight: ExactTable) -> Self:
        """The rows of both, one after the other."""
        both = {name: np.concatenate([getattr(t, name) for t in (self, other)]) for name in self.ROWWISE}
        return replace(self, weight=weight, **both)

    def __add__(self, other: Self) -> Self:
        return self._with(other, plus(self.weight, other.weight))._joined()

    def __sub__(self, other: Self) -> Any:
        both = self._with(other, minus(self.weight, other.weight))
        if len(both.w) == 0:
            return both
        order, start = both._order()
        mine = order < len(self.w)
        had, removed = (np.add.reduceat(np.where(whose, both.w[order], 0.0), start) for whose in (mine, ~mine))
        return both._picked(order[start], subtract(had, removed))

    def __mul__(self, scale: float) -> Self:
        out = replace(self, weight=times(self.weight, scale), w=self.w * scale)
        return out if scale else out._picked(slice(0))

    def relabel(self, index: np.ndarray, k: int) -> Self:
        index = np.asarray(index)
        moved = replace(self, weight=relabelled(self.weight, index, k), y=index.astype(np.int32)[self.y])
        return moved if (np.diff(index) > 0).all() else moved._joined()

    def sound(self) -> bool:
        m = len(self.w)
        shapes = (self.weight.shape, self.y.shape, self.w.shape) == ((self.k,), (m,), (m,)) and self.y.dtype == np.int32
        if not (shapes and doubles(self.weight, self.w) and (self.w != 0).all()):
            return False
        return bool(((self.y >= 0) & (self.y < self.k)).all())

    def in_order(self) -> bool:
        """Whether keys are distinct and ascending."""
        order, start = self._order() if len(self.w) else (self.y, self.y)
        return len(start) == len(self.w) and bool((np.diff(order) > 0).all())

    def short(self) -> np.ndarray:
        return super().short() | (np.bincount(self.y[self.w < 0], minlength=self.k) > 0)


@dataclass(frozen=True)
class DistinctRows(KeyedRows):
    """Distinct coded rows of each class and their weights, in ascending order of row, then class."""

    ROWWISE = ("rows", "y", "w")

    rows: np.ndarray  # (m, d), int32
    levels: np.ndarray  # (d,), int64

    @classmethod
    def of(cls, rows, y, w, k: int, levels: np.ndarray | None = None) -> DistinctRows:
        """Of codes (n, d) with classes y; negative codes are missing. `levels`: the least number of levels to list."""
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        if (rows < -1).any():
            rows = np.maximum(rows, -1)
        seen = rows.max(axis=0, initial=-1).astype(np.int64) + 1
        levels = seen if levels is None else np.maximum(seen, levels)
        own = np.ones(len(rows)) if w is None else np.asarray(w, dtype=np.float64)
        return cls(weight_by_class(y, w, k), np.asarray(y, dtype=np.int32), own, rows, levels)._joined()

    def _words(self) -> list[np.ndarray]:
        """Keys in as few whole numbers as hold them, the first counts most; the class counts least."""
        out: list[np.ndarray] = []
        size = _FULL
        digits = [(column, int(base) + 1) for column, base in zip(self.rows.T, self.levels, strict=True)]
        for digit, base in [*digits, (self.y - 1, self.k)]:  # a column's missing cells come first, with digit 0
            if size * base >= _FULL:
                out.append(np.zeros(len(self.w), dtype=np.int64))
                size = 1
            out[-1] *= base
            out[-1] += digit
            out[-1] += 1
            size *= base
        return out

    def _with(self, other: DistinctRows, weight: ExactTable) -> DistinctRows:
        return replace(super()._with(other, weight), levels=np.maximum(self.levels, other.levels))

    def relevel(self, levels: np.ndarray, index: list[np.ndarray] | None = None) -> DistinctRows:
        """The same rows in columns of `levels` levels, where level l of column j is now index[j][l] (or l); levels that
        meet are one, those at −1 are missing."""
        levels = np.asarray(levels, dtype=np.int64)
        if index is None:
            return self if np.array_equal(levels, self.levels) else replace(self, levels=levels)
        rows = np.empty_like(self.rows)
        for j, at in enumerate(index):
            rows[:, j] = np.append(np.asarray(at, dtype=np.int32), np.int32(-1))[self.rows[:, j]]
        return replace(self, rows=rows, levels=levels)._joined()

    def missing(self, j: int) -> np.ndarray:
        """The weight (k,) of the rows that lack column j."""
        missing = self._columns[j] < 0
        return np.bincount(self.y[missing], self.w[missing], minlength=self.k)

    def lacking(self, j: int) -> np.ndarray:
        """The level counts (k, sum of levels) of the rows that lack column j."""
        missing = self._columns[j] < 0
        return self._picked(missing).crosstab().table

    def with_missing(self, columns: np.ndarray) -> DistinctRows:
        """The same rows where the missing cells of these columns (d,) are a level of their own, the last one."""
        if not np.any(columns):
            return self
        last = np.where(columns, self.levels, -1)
        rows = np.where(self.rows < 0, last, self.rows).astype(np.int32)
        return replace(self, rows=rows, levels=self.levels + np.asarray(columns, dtype=np.int64))._joined()

    def part(self, columns) -> DistinctRows:
        """Of some of the columns."""
        columns = list(columns)
        return replace(self, rows=self.rows[:, columns], levels=self.levels[columns])._joined()

    @cached_property
    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.rows.T)

    def places(self, columns) -> tuple[np.ndarray, np.ndarray | None]:
        """Where in the flat table of `counts` each row is counted, (m,), and which rows have all these cells, (m,);
        None: all have."""
        key, here = self.y.astype(np.int64), None
        for j in columns:
            key = key * self.levels[j] + self._columns[j]
            if self._gaps[j]:
                some = self._columns[j] >= 0
                here = some if here is None else here & some
        return key, here

    def counts(self, columns) -> np.ndarray:
        """How much weight each class × combination of levels has, (k, levels of the first column, of the second, …);
        rows that miss one of these cells count for nothing."""
        shape = (self.k, *(int(self.levels[j]) for j in columns))
        key, here = self.places(columns)
        w = self.w if here is None else self.w[here]
        return np.bincount(key if here is None else key[here], w, minlength=prod(shape)).reshape(shape)

    @cached_property
    def _gaps(self) -> np.ndarray:
        """Whether some row lacks each column, (d,)."""
        return np.asarray((self._columns < 0).any(axis=1))

    def crosstab(self) -> Crosstab:
        """The counts of each column by itself."""
        return self._crosstab

    @cached_property
    def _crosstab(self) -> Crosstab:
        tables = [self.counts([j]) for j in range(self.d)]
        return Crosstab(self.n, np.hstack(tables) if tables else np.zeros((self.k, 0)), self.levels)

    @property
    def d(self) -> int:
        return len(self.levels)

    @property
    def rows_kept(self) -> int:
        """How many training rows can be read from it, as codes."""
        return len(self.w)

    def without_rows(self) -> Any:
        raise ModelFileError(
            "the state of this model is its distinct training rows: there is none without rows\n\n"
            "hint: save it with rows=True, or fit TreeAugmentedNB or AODE, which keep counts of pairs of columns"
        )

    def sound(self) -> bool:
        levels = self.levels
        whole = (self.rows.dtype, levels.dtype, levels.ndim) == (np.int32, np.int64, 1)
        if not (super().sound() and whole and self.rows.shape == (len(self.w), self.d) and (levels >= 0).all()):
            return False
        return bool((self.rows >= -1).all() and (self.rows < levels).all()) and self.in_order()
