"""Class weights, and per-class sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.tallies.base import NOTHING, Tally, column, less, level


@dataclass(frozen=True)
class Labels(Tally):
    """How much weight each class has: n (k,)."""

    def __add__(self, other: Labels) -> Labels:
        return Labels(self.n + other.n)

    def __sub__(self, other: Labels) -> Labels:
        return Labels(less(self.n, other.n))

    def __mul__(self, scale: float) -> Labels:
        return Labels(self.n * scale)


@dataclass(frozen=True)
class Sums(Tally):
    """Per class n and Σ w x, for x ≥ 0."""

    total: np.ndarray  # (k, d)

    def part(self, columns) -> Sums:
        """Of some of the columns."""
        return Sums(self.n if self.n.ndim == 1 else self.n[:, columns], self.total[:, columns])

    def collapse(self) -> Sums:
        """All classes as one, k = 1."""
        return Sums(self.n.sum(axis=0, keepdims=True), self.total.sum(axis=0, keepdims=True))

    def filled(self) -> Sums:
        """Where a class has nothing of a column, the sums of all classes."""
        n = np.broadcast_to(column(self.n), self.total.shape)
        empty = n <= 0
        if not empty.any():
            return self
        return Sums(np.where(empty, n.sum(axis=0), n), np.where(empty, self.total.sum(axis=0), self.total))

    def short(self) -> np.ndarray:
        return super().short() | (self.total < 0).any(axis=1)

    def __add__(self, other: Sums) -> Sums:
        a, b = level(self.n, other.n)
        return Sums(a + b, self.total + other.total)

    def __iadd__(self, other: Sums) -> Sums:
        """The same, into this tally's memory: for sums of large tables that nobody else holds."""
        a, b = level(self.n, other.n)
        return Sums(a + b, np.add(self.total, other.total, out=self.total))

    def __sub__(self, other: Sums) -> Sums:
        a, b = level(self.n, other.n)
        total = self.total - other.total
        return Sums(less(a, b), np.where(np.abs(total) <= NOTHING * np.abs(self.total), 0.0, total))

    def __mul__(self, scale: float) -> Sums:
        return Sums(self.n * scale, self.total * scale)
