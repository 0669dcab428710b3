"""Fisher's rule for pairs of classes, each row of the first of them left out in turn.

Without a row of weight v, δ = x − mean_a, the covariance of a is τ Σ_a − φ δδᵀ and its mean mean_a − c δ, with
τ = n / (n − v), c = v / (n − v) and φ = τ c. With B = (τ Σ_a + Σ_b)⁻¹, Sherman and Morrison's formula makes the
direction w = (Σ_a + Σ_b)⁻¹ (mean_a − mean_b) a sum r + s p of r = B (mean_a − mean_b) and p = B δ: everything else is
products of r, p, δ and the covariances. Coordinates in which Σ_a + Σ_b = I and Σ_a is diagonal make B diagonal too, for
every v and for both classes: one product with a matrix for each row and pair.

>>> import numpy as np
>>> x, mean = np.array([[0.0], [2.0], [4.0]]), np.array([[2.0], [10.0]])
>>> pairs = PairsLeft.of(np.array([3.0, 9.0]), mean, np.array([[[8 / 3]], [[1.0]]]))
>>> pairs.odds(0, np.array([1]), x[2:], None).round(6).tolist()  # without 4: mean 1, variance 1
[[13.5]]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy import linalg

from deciban.leaving import left_ops
from deciban.leaving.left_spec import Pairs

LEVER = 1e-5  # what must be left of a covariance along a row, to keep all digits
SAFE = 1e-6  # and of the variances along a direction, which are differences
RANK = 1e-7  # and what of every correlation eigenvalue
KEPT = 1 << 24  # numbers that coordinates are kept of, between chunks of rows
RUN = 1 << 20  # and numbers of those in use at a time

Axes = tuple[np.ndarray, np.ndarray, np.ndarray]  # turn (q, d, d), part (q, d), least (q,)


@dataclass(frozen=True)
class PairsLeft:
    """Classes by pairs; coordinates are found once for a < b."""

    n: np.ndarray  # (k,)
    mean: np.ndarray  # (k, d)
    covs: np.ndarray  # (k, d, d)
    known: dict[int, Axes] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, n: np.ndarray, mean: np.ndarray, covs: np.ndarray) -> PairsLeft:
        out = cls(n, mean, covs)
        k, d = mean.shape
        if k * k * d * d <= 2 * KEPT:
            out.known.update({a: _axes(covs[a], covs[a + 1 :]) for a in range(k - 1)})
        return out

    def odds(self, a: int, others: np.ndarray, cells: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Log odds (q, m) of rows of class a, of weights w (m,) or 1 each, against the others, the row itself
        left out; NaN where digits would be lost."""
        found = [left_ops.left_pairs(cells, w, pairs, SAFE) for pairs in self._pairs(a, others)]
        return np.concatenate([np.empty((0, len(cells))), *found])

    def _pairs(self, a: int, others: np.ndarray) -> Iterator[Pairs]:
        size = max(1, RUN // self.mean.shape[1] ** 2)
        for start in range(0, len(others), size):
            some = others[start : start + size]
            turn, part, least = self._between(a, some)
            apart = np.einsum("qij,qj->qi", turn, self.mean[a] - self.mean[some])
            yield Pairs(float(self.n[a]), self.mean[a], turn, part, apart, np.maximum(LEVER, RANK / least))

    def _between(self, a: int, others: np.ndarray) -> Axes:
        """The coordinates of the pairs a : b, `part` being that of a."""
        if not self.known:
            return _axes(self.covs[a], self.covs[others])
        found = []
        for b in others:
            turn, part, least = (of[abs(b - a) - 1] for of in self.known[min(a, b)])
            found.append((turn, part if a < b else 1.0 - part, least))
        return tuple(np.stack(of) for of in zip(*found, strict=True))  # type: ignore[return-value]


def _axes(cov: np.ndarray, others: np.ndarray) -> Axes:
    """Coordinates in which cov + other = I and cov is diagonal, and the least correlation eigenvalue of the sum: NaN
    where it is next to none."""
    both = cov + others
    deviation = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    deviation = np.where(deviation > 0, deviation, 1.0)
    values, vectors = linalg.eigh(both / (deviation[:, :, None] * deviation[:, None]))
    least = values.min(axis=1, initial=1.0)
    sure = least > RANK
    root = np.sqrt(np.where(sure[:, None], values, 1.0))
    white = (vectors / root[:, None]).transpose(0, 2, 1) / deviation[:, None]
    part, turn = linalg.eigh(white @ cov @ white.transpose(0, 2, 1))
    return turn.transpose(0, 2, 1) @ white, np.clip(part, 0.0, 1.0), np.where(sure, least, np.nan)
