"""Presence and absence: log p(x | c) = Σ_j x_j log p + (1 − x_j) log(1 − p), where x_j = [cell > above] if that is set.

Tally: `Sums` of the presences. Estimate: p = (total + alpha) / (n + 2 alpha), two pseudo-rows of weight alpha.

>>> import numpy as np
>>> from deciban.table import Reals
>>> b = Bernoulli(alpha=1.0)
>>> spam = Reals(np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0.0]]))
>>> p = b.estimate(b.tally(spam, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(p.log_present).round(3).tolist()
[[0.5, 0.667, 0.333]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.params import Linear
from deciban.table import Counts, Reals
from deciban.tallies import Sums
from deciban.tallies.base import column


@dataclass(frozen=True)
class Params:
    linear: Linear

    @property
    def log_present(self) -> np.ndarray:
        """(k, d)"""
        return self.linear.present()


@dataclass(frozen=True)
class Bernoulli:
    alpha: float | np.ndarray = 1.0
    above: float | None = 0.0
    block, support = "reals", "real"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k, self.above)

    def estimate(self, t: Sums) -> Params:
        n = column(t.n)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.log(n + 2.0 * self.alpha)
            present = np.log(t.total + self.alpha) - whole
            absent = np.log(n - t.total + self.alpha) - whole
        empty = np.log(0.5)  # nothing seen and nothing assumed
        for logs in (present, absent):
            if np.isnan(logs.sum()):
                logs[np.isnan(logs)] = empty
        return Params(Linear.of(present, absent))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x, self.above)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x, self.above)

    def linear(self, p: Params) -> tuple[np.ndarray, np.ndarray]:
        return p.linear.weights()

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        chance = np.exp(p.log_present)[y]
        present = 1.0 if self.above is None or self.above < 1 else self.above + 1.0
        return np.where(rng.random(chance.shape) < chance, present, 0.0)


FAMILY = Bernoulli
