"""Counts on a grid that does not depend on the data, so that any two tallies of it add.

The cells are floating-point numbers that agree in sign, exponent and the leading `BITS` bits of the mantissa: 4,096
cells between any power of two and the next; those next to 0, of either sign, are one. Only cells that hold something
are kept, by their key. Rows may wait to be counted: many at once are cheaper than a few many times.

>>> import numpy as np
>>> x = np.array([-3.0, 1.0, 1.0001, 1.5])
>>> low, high = cell_borders(cell_of(x))
>>> low.tolist(), bool(((low <= x) & (high >= x)).all())
([-3.00048828125, 1.0, 1.0, 1.5], True)
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, Protocol, Self

import numpy as np

from deciban.tallies.basic import Tally, any_cell, doubles
from deciban.tallies.exact_tables import (
    ExactTable,
    are_finite,
    as_doubles,
    columns_of,
    few_bits,
    is_negative,
    is_nonzero,
    minus,
    placed,
    plus,
    relabelled,
    times,
)

BITS = 12
MISSING = 0x7FFFFF  # the key of no number
_SHIFT = 52 - BITS
_SPAN = 1 << (BITS + 12)  # between the lowest key and the highest there are fewer


def cell_of(x: np.ndarray) -> np.ndarray:
    """The key of each number's cell; keys are ordered as numbers are. int64"""
    bits = np.ascontiguousarray(x, dtype=np.float64).view(np.int64)
    size = (bits & np.int64(0x7FFFFFFFFFFFFFFF)) >> _SHIFT
    return np.where(bits < 0, -size, size)


def cell_borders(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high): between which numbers each cell lies."""
    size = np.abs(key).astype(np.int64)
    near, far = (size << _SHIFT).view(np.float64), ((size + 1) << _SHIFT).view(np.float64)
    return np.where(key <= 0, -far, near), np.where(key < 0, -near, far)


class PendingRows(Protocol):
    """Rows that wait to be counted."""

    @property
    def d(self) -> int: ...

    @property
    def shares(self) -> bool:
        """Whether `plus` works in its memory."""

    def plus(self, other: Self | GridCounts) -> Self:
        """The sum, maybe in this one's memory."""

    def relabel(self, index: np.ndarray, k: int) -> Self: ...

    def finite(self) -> bool: ...

    def counted(self) -> GridCounts: ...


@dataclass(frozen=True)
class GridCounts(Tally):
    """Per class how much weight each cell of each column holds; column j's are at offset[j] … offset[j + 1]. Keys and
    table of rows that wait are computed on demand."""

    keys: tuple[np.ndarray, ...]  # of each column, ascending
    counts: ExactTable  # (k, all cells)

    @cached_property
    def table(self) -> np.ndarray:
        """The counts in doubles."""
        return as_doubles(self.counts)

    @classmethod
    def of_keys(cls, weight: ExactTable, found: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> GridCounts:
        """Of the keys (d, n) of rows."""
        nothing = np.zeros(weight.shape)
        parts = (cls._of_keys(nothing, found, y, part) for part in few_bits(w))
        return replace(reduce(add, parts), weight=weight)

    @classmethod
    def _of_keys(cls, n: np.ndarray, found: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> GridCounts:
        """The same, where sums of the weights are doubles."""
        k, keys, tables = len(n), [], []
        if len(found) > len(y):  # more columns than rows: all columns at once
            here = found != MISSING
            line = (found + np.arange(len(found))[:, None] * _SPAN)[here]
            line, at = np.unique(line, return_inverse=True)
            row = np.nonzero(here)[1]
            table = _by_class(at.ravel(), y[row], None if w is None else w[row], k, len(line))
            out = cls(n, _by_column(line, len(found)), table)
            return out if w is None else out._without_empty()
        for own in found.astype(np.int64):
            here = own != MISSING
            some = slice(None) if here.all() else here
            known, table = _counted(own[some], y[some], None if w is None else w[some], k)
            tables.append(table)
            keys.append(known)
        out = cls(n, tuple(keys), np.hstack(tables) if tables else np.zeros((k, 0)))
        return out if w is None else out._without_empty()

    @classmethod
    def none(cls, k: int, d: int) -> GridCounts:
        """Of no rows."""
        return cls(np.zeros(k), (np.zeros(0, dtype=np.int64),) * d, np.zeros((k, 0)))

    @classmethod
    def later(cls, weight: ExactTable, waiting: PendingRows) -> GridCounts:
        """From buffered rows, which are counted on demand."""
        out = object.__new__(cls)
        out.__dict__.update(weight=weight, _waiting=waiting)
        return out

    def __getattr__(self, name: str) -> Any:
        waiting = self.__dict__.get("_waiting")
        if name in ("keys", "counts") and waiting is not None:
            counted = waiting.counted()
            self.__dict__.update(keys=counted.keys, counts=counted.counts, _waiting=None)
        if name in self.__dict__:
            return self.__dict__[name]
        if name == "_waiting":
            return None
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def offset(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([len(key) for key in self.keys])]).astype(np.int64)

    def columns(self) -> list[np.ndarray]:
        """The table of each column, (k, its cells)."""
        return [self.table[:, a:b] for a, b in pairwise(self.offset.tolist())]

    def part(self, columns) -> GridCounts:
        """Of some of the columns."""
        ends = self.offset
        at = np.concatenate([np.arange(ends[j], ends[j + 1]) for j in columns])
        return GridCounts(self.weight, tuple(self.keys[j] for j in columns), columns_of(self.counts, at))

    def finite(self) -> bool:
        if self._waiting is not None:
            return self._waiting.finite()
        largest = cell_of(np.array([np.inf]))[0]
        cells = all(len(key) == 0 or max(-key[0], key[-1]) < largest for key in self.keys)
        return cells and are_finite(self.weight) and are_finite(self.counts)

    @property
    def d(self) -> int:
        return len(self.keys) if self._waiting is None else self._waiting.d

    def sound(self) -> bool:
        ordered = all(key.dtype == np.int64 and key.ndim == 1 and _ascending(key) for key in self.keys)
        shapes = (self.weight.shape, self.counts.shape) == ((self.k,), (self.k, self.offset[-1]))
        return ordered and shapes and doubles(self.weight, self.counts)

    def short(self) -> np.ndarray:
        return super().short() | any_cell(is_negative(self.counts))

    def _line(self) -> np.ndarray:
        """All keys in one ascending line, those of each column beyond those of the one before."""
        lines = [key + j * _SPAN for j, key in enumerate(self.keys)]
        return np.concatenate(lines) if lines else np.zeros(0, dtype=np.int64)

    def _with(self, other: GridCounts) -> tuple[tuple[np.ndarray, ...], ExactTable, ExactTable]:
        """(keys of both, these counts, the other's), each with a column for every key. Two sorted lines are merged by a
        stable sort in one run."""
        if all(map(np.array_equal, self.keys, other.keys)):
            return self.keys, self.counts, other.counts
        both = np.concatenate([self._line(), other._line()])
        order = np.argsort(both, kind="stable")
        both = both[order]
        new = np.diff(both, prepend=both[0] - 1) > 0
        at = np.empty(len(both), dtype=np.int64)
        at[order] = np.cumsum(new) - 1
        line = both[new]
        size, mine = len(line), self.counts.shape[1]
        tables = placed(self.counts, at[:mine], size), placed(other.counts, at[mine:], size)
        return _by_column(line, self.d), *tables

    def __add__(self, other: GridCounts) -> GridCounts:
        if self._waiting is not None and self._waiting.shares:
            return replace(self) + other
        return self.__iadd__(other)

    def __iadd__(self, other: GridCounts) -> GridCounts:
        """The same, maybe in this tally's memory: for sums with a single owner."""
        mine, theirs = self._waiting, other._waiting
        weight = plus(self.weight, other.weight)
        if mine is not None:
            return GridCounts.later(weight, mine.plus(theirs or other))
        if theirs is not None:
            return other + self
        if not self.counts.shape[1] or not other.counts.shape[1]:
            return replace(self if self.counts.shape[1] else other, weight=weight)
        keys, mine, theirs = self._with(other)
        return GridCounts(weight, keys, plus(mine, theirs))

    def __sub__(self, other: GridCounts) -> GridCounts:
        keys, mine, theirs = self._with(other)
        return GridCounts(minus(self.weight, other.weight), keys, minus(mine, theirs))._without_empty()

    def _without_empty(self) -> GridCounts:
        some = np.asarray(is_nonzero(self.counts).any(axis=0))
        parts = [some[a:b] for a, b in pairwise(self.offset.tolist())]
        keys = tuple(key[part] for key, part in zip(self.keys, parts, strict=True))
        return GridCounts(self.weight, keys, columns_of(self.counts, np.flatnonzero(some)))

    def __mul__(self, scale: float) -> GridCounts:
        return GridCounts(times(self.weight, scale), self.keys, times(self.counts, scale))

    def relabel(self, index: np.ndarray, k: int) -> GridCounts:
        if self._waiting is not None:
            return GridCounts.later(relabelled(self.weight, index, k), self._waiting.relabel(index, k))
        return replace(self, weight=relabelled(self.weight, index, k), counts=relabelled(self.counts, index, k))


def _ascending(key: np.ndarray) -> bool:
    return len(key) == 0 or bool((key[1:] > key[:-1]).all() and key[0] > -_SPAN // 2 and key[-1] < _SPAN // 2)


def _by_column(line: np.ndarray, d: int) -> tuple[np.ndarray, ...]:
    """The keys of each column, from those of all columns in one ascending line."""
    starts = np.arange(d + 1) * _SPAN - _SPAN // 2
    column = np.searchsorted(starts, line, side="right") - 1
    keys = line - column * _SPAN
    return tuple(keys[a:b] for a, b in pairwise(np.searchsorted(line, starts).tolist()))


def _counted(key: np.ndarray, y: np.ndarray, w: np.ndarray | None, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(sorted distinct keys, what each class has of them), without sorting where their range is short: zero has no
    neighbours on this grid, so the keys below and above it are moved next to it."""
    if len(key) == 0:
        return key, np.zeros((k, 0))
    size = np.abs(key)
    gap = int(size.min(where=size > 0, initial=_SPAN)) - 1
    place = key - gap * np.sign(key)
    low = int(place.min())
    span = int(place.max()) - low + 1
    if k * span > 8 * len(key) + (1 << 16):
        known, at = np.unique(key, return_inverse=True)
        return known, _by_class(at.ravel(), y, w, k, len(known))
    table = _by_class(place - low, y, w, k, span)
    seen = np.flatnonzero((table != 0).any(axis=0))
    place = seen + low
    return place + gap * np.sign(place), table[:, seen]


def _by_class(at: np.ndarray, y: np.ndarray, w: np.ndarray | None, k: int, size: int) -> np.ndarray:
    return np.bincount(y * np.int64(size) + at, w, minlength=k * size).reshape(k, size).astype(np.float64)
