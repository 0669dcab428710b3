"""A Scatter with the mixed fourth moments that Ledoit–Wolf shrinkage asks for, so that it too can be updated.

Per class, with a = x − mean:  p11[j, l] = Σ w a_j a_l,  p21[j, l] = Σ w a_j² a_l,  p22[j, l] = Σ w a_j² a_l².
Moving the centre by t mixes lower moments into higher ones; adding is moving both to the common mean first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.tallies.base import Tally, doubles, less, over


def negative_squares(scatter: np.ndarray) -> np.ndarray:
    """Which of the matrices (k, d, d) have sums of squares below zero, more than rounding leaves. (k,)"""
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    reach = np.abs(scatter).max(axis=(1, 2), initial=0.0)
    return np.asarray((squares < -1e-9 * reach[:, None]).any(axis=1))


@dataclass(frozen=True)
class Quartic(Tally):
    mean: np.ndarray  # (k, d)
    p11: np.ndarray  # (k, d, d)
    p21: np.ndarray  # (k, d, d)
    p22: np.ndarray  # (k, d, d)

    @property
    def scatter(self) -> np.ndarray:
        return self.p11

    pooled, every_row = False, False

    def sound(self) -> bool:
        sums = (self.p11, self.p21, self.p22)
        shapes = (self.n.shape, self.mean.shape) == ((self.k,), (self.k, self.d))
        return shapes and {p.shape for p in sums} == {(self.k, self.d, self.d)} and doubles(self.n, self.mean, *sums)

    def dense(self) -> Quartic:
        return self

    def short(self) -> np.ndarray:
        return super().short() | negative_squares(self.p11)

    def part(self, columns) -> Quartic:
        """Of some of the columns."""
        sums = (p[:, columns][:, :, columns] for p in (self.p11, self.p21, self.p22))
        return Quartic(self.n, self.mean[:, columns], *sums)

    def about(self, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three sums with a = x − centre."""
        t = self.mean - centre
        tj, tl = t[:, :, None], t[:, None, :]
        n = self.n[:, None, None]
        square = np.diagonal(self.p11, axis1=1, axis2=2)
        sj, sl = square[:, :, None], square[:, None, :]
        swapped = self.p21.transpose(0, 2, 1)
        p11 = self.p11 + n * tj * tl
        p21 = self.p21 + sj * tl + 2 * tj * self.p11 + n * tj**2 * tl
        p22 = (
            self.p22
            + 2 * (self.p21 * tl + swapped * tj)
            + sj * tl**2
            + sl * tj**2
            + 4 * tj * tl * self.p11
            + n * tj**2 * tl**2
        )
        return p11, p21, p22

    def __add__(self, other) -> Quartic:
        other = other.dense()
        n = self.n + other.n
        mean = self.mean + (other.mean - self.mean) * over(other.n, n)[:, None]
        return Quartic(n, mean, *(a + b for a, b in zip(self.about(mean), other.about(mean), strict=True)))

    def __sub__(self, other) -> Quartic:
        other = other.dense()
        n = less(self.n, other.n)
        mean = self.mean + (self.mean - other.mean) * over(other.n, n)[:, None]
        some = n[:, None] > 0
        mean = np.where(some, mean, 0.0)
        pairs = zip(self.about(mean), other.about(mean), strict=True)
        return Quartic(n, mean, *(np.where(some[:, None], a - b, 0.0) for a, b in pairs))

    def __mul__(self, scale: float) -> Quartic:
        return Quartic(self.n * scale, self.mean, self.p11 * scale, self.p21 * scale, self.p22 * scale)

    def collapse(self) -> Quartic:
        """All classes as one, k = 1."""
        n = self.n.sum(keepdims=True)
        mean = over(self.n @ self.mean, n)[None]
        return Quartic(n, mean, *(p.sum(0, keepdims=True) for p in self.about(mean)))
