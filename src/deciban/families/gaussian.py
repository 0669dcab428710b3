"""Independent Gaussians: log p(x | c) = Σ_j log N(x_j; mean, var).

Tally: `Moments`. Estimate: the mean, and var = m2 / (n − ddof) + smoothing · (largest variance of any column over all
rows). `ddof=1` is the sample variance. A missing cell is integrated out: it adds nothing.

>>> import numpy as np
>>> from deciban.table import Reals
>>> g = Gaussian(smoothing=0)
>>> x, y = Reals(np.array([[1.0], [3.0], [10.0], [14.0]])), np.array([0, 0, 1, 1], dtype=np.int32)
>>> p = g.estimate(g.tally(x, y, None, 2))
>>> p.mean.tolist(), p.var.tolist()
([[2.0], [12.0]], [[1.0], [4.0]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.table import Counts, Reals
from deciban.tallies import Moments
from deciban.tallies.base import column, over

FLOOR = 1e-290  # the least variance: its root can still divide, its log is finite


@dataclass(frozen=True)
class Params:
    mean: np.ndarray  # (k, d)
    var: np.ndarray  # (k, d)
    scale: np.ndarray  # (k, d), 1 / deviation
    share: np.ndarray  # (k, d), log of the density at the mean
    bias: np.ndarray  # (k,), its sum


@dataclass(frozen=True)
class Gaussian:
    smoothing: float = 1e-9
    ddof: float = 0.0
    block, support = "reals", "real"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Moments:
        return ops.moments(x, y, w, k)

    def epsilon(self, everything: Moments) -> float:
        """What is added to every variance, from the moments of all rows as one class."""
        variance = over(everything.m2, column(everything.n))
        return self.smoothing * float(variance.max(initial=0.0))

    def estimate(self, t: Moments, epsilon: float | None = None) -> Params:
        epsilon = self.epsilon(t.collapse()) if epsilon is None else epsilon
        free = np.maximum(column(t.n) - self.ddof, 0.0)
        var = over(np.maximum(t.m2, 0.0), np.broadcast_to(free, t.m2.shape)) + epsilon
        var = np.maximum(var, FLOOR)
        share = -0.5 * np.log(2.0 * np.pi * var)
        return Params(t.mean, var, 1.0 / np.sqrt(var), share, share.sum(axis=1))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return ops.quadratic_diagonal(x, p.mean, p.scale, p.bias, p.share)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        z = (x.dense()[:, None, :] - p.mean) * p.scale
        return np.where(np.isnan(z), 0.0, p.share - 0.5 * z**2)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.normal(p.mean[y], np.sqrt(p.var[y]))


FAMILY = Gaussian
