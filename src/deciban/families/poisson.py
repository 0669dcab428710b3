"""Event counts: log p(x | c) = Σ_j x_j log rate − rate − log x_j!.

Tally: `Sums`. Estimate: the mean of a Gamma posterior, rate = (total + shape) / (n + exposure); 0 and 0 give maximum
likelihood. The factorials are the same for all classes, and stand in `carrier`.

>>> import numpy as np
>>> from deciban.table import Reals
>>> f = Poisson(shape=0.0, exposure=0.0)
>>> p = f.estimate(f.tally(Reals(np.array([[1.0], [3.0]])), np.zeros(2, dtype=np.int32), None, 1))
>>> p.rate.tolist(), (f.loglik(p, Reals(np.array([[2.0]]))) + f.carrier(p, Reals(np.array([[2.0]])))).round(4).tolist()
([[2.0]], [[-1.3069]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.params import Linear
from deciban.table import Counts, Reals
from deciban.tallies import Sums
from deciban.tallies.base import column, over


@dataclass(frozen=True)
class Params:
    rate: np.ndarray  # (k, d)
    linear: Linear


@dataclass(frozen=True)
class Poisson:
    shape: float = 1.0
    exposure: float = 1.0
    block, support = "counts", "count"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        rate = over(t.total + self.shape, np.broadcast_to(column(t.n) + self.exposure, t.total.shape))
        with np.errstate(divide="ignore"):
            return Params(rate, Linear.of(np.log(rate) - rate, -rate))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x)

    def carrier(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return -x.map(lambda cell: gammaln(np.asarray(cell, dtype=np.float64) + 1.0))

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x)

    def linear(self, p: Params) -> tuple[np.ndarray, np.ndarray]:
        return p.linear.weights()

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(p.rate[y]).astype(np.float64)


FAMILY = Poisson
