"""Counts on a grid that does not depend on the data, so that any two tallies of it add.

The cells are floating-point numbers that agree in sign, exponent and the leading `BITS` bits of the mantissa: 4,096
cells between any power of two and the next; those next to 0, of either sign, are one. Only cells that hold something
are kept, by their key.

>>> import numpy as np
>>> x = np.array([-3.0, 1.0, 1.0001, 1.5])
>>> low, high = cell_borders(cell_of(x))
>>> low.tolist(), bool(((low <= x) & (high >= x)).all())
([-3.00048828125, 1.0, 1.0, 1.5], True)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from deciban.tallies.base import Tally, doubles, less, place

BITS = 12
_SHIFT = 52 - BITS


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


@dataclass(frozen=True)
class Cells(Tally):
    """Per class how much weight each cell of each column holds; column j's are at offset[j] … offset[j + 1]."""

    keys: tuple[np.ndarray, ...]  # of each column, ascending
    table: np.ndarray  # (k, all cells)

    @classmethod
    def of(cls, n: np.ndarray, x: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> Cells:
        """Of rows x (n, d); NaN counts for nothing."""
        k, keys, tables = len(n), [], []
        for values in np.asarray(x, dtype=np.float64).T:
            here = ~np.isnan(values)
            some = here.all()
            key = cell_of(values if some else values[here])
            known, code = _codes(key)
            at = (y if some else y[here]).astype(np.int64) * len(known) + code
            weight = w if w is None or some else w[here]
            tables.append(np.bincount(at, weight, minlength=k * len(known)).reshape(k, -1).astype(np.float64))
            keys.append(known)
        out = cls(n, tuple(keys), np.hstack(tables) if tables else np.zeros((k, 0)))
        return out if w is None else out._without_empty()

    @property
    def offset(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([len(key) for key in self.keys])]).astype(np.int64)

    def columns(self) -> list[np.ndarray]:
        """The table of each column, (k, its cells)."""
        return np.split(self.table, self.offset[1:-1], axis=1)

    def part(self, columns) -> Cells:
        """Of some of the columns."""
        tables = self.columns()
        return Cells(self.n, tuple(self.keys[j] for j in columns), np.hstack([tables[j] for j in columns]))

    def finite(self) -> bool:
        largest = cell_of(np.array([np.inf]))[0]
        return all(len(key) == 0 or max(-key[0], key[-1]) < largest for key in self.keys) and super().finite()

    @property
    def d(self) -> int:
        return len(self.keys)

    def sound(self) -> bool:
        ordered = all(key.dtype == np.int64 and key.ndim == 1 and (np.diff(key) > 0).all() for key in self.keys)
        shapes = (self.n.shape, self.table.shape) == ((self.k,), (self.k, self.offset[-1]))
        return ordered and shapes and doubles(self.n, self.table)

    def short(self) -> np.ndarray:
        return super().short() | (self.table < 0).any(axis=1)

    def _on(self, keys: list[np.ndarray]) -> np.ndarray:
        """The table with a column for each of these keys."""
        tables = []
        for table, mine, all_keys in zip(self.columns(), self.keys, keys, strict=True):
            out = np.zeros((self.k, len(all_keys)))
            out[:, np.searchsorted(all_keys, mine)] = table
            tables.append(out)
        return np.hstack(tables) if tables else self.table

    def __add__(self, other: Cells) -> Cells:
        keys = [reduce(np.union1d, pair) for pair in zip(self.keys, other.keys, strict=True)]
        return Cells(self.n + other.n, tuple(keys), self._on(keys) + other._on(keys))

    def __sub__(self, other: Cells) -> Cells:
        keys = [reduce(np.union1d, pair) for pair in zip(self.keys, other.keys, strict=True)]
        left = Cells(less(self.n, other.n), tuple(keys), less(self._on(keys), other._on(keys)))
        return left._without_empty()

    def _without_empty(self) -> Cells:
        some = (self.table != 0).any(axis=0)
        parts = np.split(some, self.offset[1:-1])
        keys = tuple(key[part] for key, part in zip(self.keys, parts, strict=True))
        return Cells(self.n, keys, self.table[:, some])

    def __mul__(self, scale: float) -> Cells:
        return Cells(self.n * scale, self.keys, self.table * scale)

    def relabel(self, index: np.ndarray, k: int) -> Cells:
        return replace(self, n=place(self.n, index, k), table=place(self.table, index, k))


def _codes(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(sorted distinct keys, the place of each among them), without sorting where their ranges are short: zero has no
    neighbours on this grid, so the keys below, at and above it are counted apart."""
    if len(key) == 0:
        return key, key
    known: list[np.ndarray] = []
    code = np.empty(len(key), dtype=np.int64)
    for some in (key < 0, key == 0, key > 0):
        some = slice(None) if some.all() else some
        part = key[some]
        if len(part):
            mine, at = _dense_codes(part)
            code[some] = at + sum(map(len, known))
            known.append(mine)
    return np.concatenate(known), code


def _dense_codes(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = int(key.min()), int(key.max())
    if high - low > 8 * len(key) + (1 << 16):
        known, code = np.unique(key, return_inverse=True)
        return known, code.ravel()
    key = key - low
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[key] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[key]
