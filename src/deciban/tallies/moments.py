"""Mean and centred sum of squares of every column, by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.tallies.base import Tally, column, less, level, negligible, over


@dataclass(frozen=True)
class Moments(Tally):
    """Per class n, mean and Σ w (x − mean)². Merged by the pairwise update, never through Σ x²."""

    mean: np.ndarray  # (k, d)
    m2: np.ndarray  # (k, d)

    def __add__(self, other: Moments) -> Moments:
        a, b = level(self.n, other.n)
        share = over(column(b), column(a + b))
        delta = other.mean - self.mean
        return Moments(a + b, self.mean + delta * share, self.m2 + other.m2 + (delta * (column(a) * share)) * delta)

    def __sub__(self, other: Moments) -> Moments:
        a, b = level(self.n, other.n)
        n = less(a, b)
        some = column(n) > 0
        mean = np.where(some, self.mean + (self.mean - other.mean) * over(column(b), column(n)), 0.0)
        delta = mean - other.mean
        m2 = self.m2 - other.m2 - (delta * (column(n) * over(column(b), column(a)))) * delta
        return Moments(n, mean, np.where(some & ~negligible(m2, self.m2), m2, 0.0))

    def short(self) -> np.ndarray:
        return super().short() | (self.m2 < 0).any(axis=1)

    def __mul__(self, scale: float) -> Moments:
        return Moments(self.n * scale, self.mean, self.m2 * scale)

    def part(self, columns) -> Moments:
        """Of some of the columns."""
        n = self.n if self.n.ndim == 1 else self.n[:, columns]
        return Moments(n, self.mean[:, columns], self.m2[:, columns])

    def filled(self) -> Moments:
        """Where a class has nothing of a column, the moments of all classes."""
        n = np.broadcast_to(column(self.n), self.mean.shape)
        empty = n <= 0
        if not empty.any():
            return self
        whole = self.collapse()
        parts = (column(whole.n), n), (whole.mean, self.mean), (whole.m2, self.m2)
        return Moments(*(np.where(empty, every, own) for every, own in parts))

    def collapse(self) -> Moments:
        """All classes as one, k = 1."""
        n = column(self.n)
        total = n.sum(0, keepdims=True)
        start = self.mean[:1]
        mean = start + over((n * (self.mean - start)).sum(0, keepdims=True), total)
        m2 = (self.m2 + n * (self.mean - mean) ** 2).sum(0, keepdims=True)
        return Moments(total if self.n.ndim == 2 else total[:, 0], mean, m2)
