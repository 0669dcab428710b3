"""Level counts of coded columns, by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.tallies.base import Tally, doubles, less, place


@dataclass(frozen=True)
class Crosstab(Tally):
    """Per class how often each level of each column was seen; column j's levels stand at offset[j] … offset[j + 1]."""

    table: np.ndarray  # (k, sum of levels)
    levels: np.ndarray  # (d,)

    @property
    def offset(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self.levels)])

    def columns(self) -> list[np.ndarray]:
        """The table of each column, (k, levels[j])."""
        return np.split(self.table, self.offset[1:-1], axis=1)

    def part(self, columns) -> Crosstab:
        """Of some of the columns."""
        tables = self.columns()
        table = np.hstack([tables[j] for j in columns]) if len(columns) else np.zeros((self.k, 0))
        return Crosstab(self.n if self.n.ndim == 1 else self.n[:, columns], table, self.levels[list(columns)])

    def collapse(self) -> Crosstab:
        """All classes as one, k = 1."""
        return Crosstab(self.n.sum(axis=0, keepdims=True), self.table.sum(axis=0, keepdims=True), self.levels)

    def relevel(self, levels: np.ndarray, index: list[np.ndarray] | None = None) -> Crosstab:
        """The same counts in columns of `levels` levels, where level l of column j stands at index[j][l] (or at l)."""
        levels = np.asarray(levels, dtype=np.int64)
        if index is None and np.array_equal(levels, self.levels):
            return self
        places = index or [np.arange(count) for count in self.levels]
        offset = np.concatenate([[0], np.cumsum(levels)])
        table = np.zeros((self.k, offset[-1]))
        if places:
            at = np.concatenate([offset[j] + np.asarray(p, dtype=np.int64) for j, p in enumerate(places)])
            table[:, at] = self.table
        return Crosstab(self.n, table, levels)

    def _aligned(self, other: Crosstab) -> tuple[Crosstab, Crosstab]:
        levels = np.maximum(self.levels, other.levels)
        return self.relevel(levels), other.relevel(levels)

    @property
    def d(self) -> int:
        return len(self.levels)

    def sound(self) -> bool:
        whole = self.levels.dtype.kind == "i" and self.levels.ndim == 1 and (self.levels >= 0).all()
        fits = whole and self.table.shape == (self.k, self.levels.sum()) and doubles(self.n, self.table)
        return bool(fits) and self.n.shape in ((self.k,), (self.k, self.d))

    def short(self) -> np.ndarray:
        return super().short() | (self.table < 0).any(axis=1)

    def __add__(self, other: Crosstab) -> Crosstab:
        a, b = self._aligned(other)
        return Crosstab(a.n + b.n, a.table + b.table, a.levels)

    def __sub__(self, other: Crosstab) -> Crosstab:
        a, b = self._aligned(other)
        return Crosstab(less(a.n, b.n), less(a.table, b.table), a.levels)

    def __mul__(self, scale: float) -> Crosstab:
        return Crosstab(self.n * scale, self.table * scale, self.levels)

    def relabel(self, index: np.ndarray, k: int) -> Crosstab:
        return Crosstab(place(self.n, index, k), place(self.table, index, k), self.levels)
