"""Event counts: log p(x | c) = Σ_j x_j log rate − rate − log x_j!.

Tally: `Sums`. Estimate: the mean of a Gamma posterior, rate = (total + shape) / (n + exposure); 0 and 0 give maximum
likelihood. A class with no value of a column uses the sums of all rows there. The factorials are the same for all
classes; they are in `carrier`.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f = Poisson(shape=0.0, exposure=0.0)
>>> p = f.estimate(f.tally(Reals(np.array([[1.0], [3.0]])), np.zeros(2, dtype=np.int32), None, 1))
>>> p.rate.tolist(), (f.loglik(p, Reals(np.array([[2.0]]))) + f.carrier(p, Reals(np.array([[2.0]])))).round(4).tolist()
([[2.0]], [[-1.3069]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.dependence import both_ways, gamma_evidence
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import blocks, log_factorials, log_left, row_totals, set_own, times_log, weight
from deciban.estimation.left_out import LeftOut
from deciban.estimation.linear import Linear
from deciban.estimation.parameters import Parameter, log_slope
from deciban.estimation.ranges import counts_up_to
from deciban.estimation.sensitivity import LogRates
from deciban.tallies import Sums
from deciban.tallies.basic import column, divide, subtract


@dataclass(frozen=True)
class Params:
    rate: np.ndarray  # (k, d)
    linear: Linear


@dataclass(frozen=True)
class Poisson(Family):
    shape: float = 1.0
    exposure: float = 1.0
    block, support = "counts", "count"
    separate = True
    measure = "counts"
    shared_tally = "whole"
    parameters = {"rate": Parameter(values="not negative")}

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        own = t.filled()
        rate = divide(own.total + self.shape, np.broadcast_to(column(own.n) + self.exposure, own.total.shape))
        return self.parameters_from(own.n, rate=rate)

    def parameters_from(self, weights: np.ndarray, *, rate: np.ndarray) -> Params:  # type: ignore[override]
        with np.errstate(divide="ignore"):
            return Params(rate, Linear.of(np.log(rate) - rate, -rate))

    def gradient(self, t: Sums, p: Params) -> dict[str, np.ndarray]:
        return {"rate": log_slope(t.total, p.rate) - column(t.n)}

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x)

    def carrier(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return -log_factorials(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x)

    def estimates(self, p: Params) -> dict[str, np.ndarray]:
        return {"mean": p.rate}

    def linear_terms(self, p: Params) -> Linear:
        return p.linear

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        out = self.loglik(self.estimate(t), x)
        n = np.broadcast_to(column(t.n), t.total.shape)
        borrows = np.flatnonzero((n <= 0).any(axis=1))  # classes that use the sums of all rows in some column
        if t.n.ndim == 1:
            set_own(out, y, self._own_complete(t, x, y, w))
            lone = subtract(t.n[y], np.ones(len(y)) if w is None else w) <= 0
            if not lone.any() and not len(borrows):
                return out
        for rows, cells in blocks(x):
            here, v = ~np.isnan(cells), np.nan_to_num(cells)
            taken = here * weight(w, rows)
            every = subtract(n.sum(axis=0), taken), subtract(t.total.sum(axis=0), v * taken)
            for c in borrows:
                out[rows, c] = self._score(n[c], t.total[c], every, here, v)
            own = subtract(n.take(y[rows], axis=0), taken), subtract(t.total.take(y[rows], axis=0), v * taken)
            set_own(out, y, self._score(*own, every, here, v), rows)
        return out

    def _score(self, n: np.ndarray, total: np.ndarray, every: tuple[np.ndarray, np.ndarray], here, v) -> np.ndarray:
        """Log likelihood (m,) of the present cells of v, each row with its own sums; `every`: sums of all rows, for a
        class that has none."""
        n, total = np.where(n > 0, n, every[0]), np.where(n > 0, total, every[1])
        rate = divide(total + self.shape, n + self.exposure)
        return np.where(here, times_log(v, rate) - rate, 0.0).sum(axis=1)

    def _own_complete(self, t: Sums, x: Reals | Counts, y, w) -> np.ndarray:
        """Leave-one-out log likelihood (n,), under their own class, of rows without missing cells: the sum of rates is
        that of the class less that of the row."""
        events = row_totals(x)
        seen = subtract(t.n[y], np.ones(()) if w is None else w) + self.exposure
        rates = divide(subtract(t.total.sum(axis=1)[y], events if w is None else events * w) + x.d * self.shape, seen)
        own = log_left(t.total, self.shape, x, y, w) - events * np.log(np.where(seen > 0, seen, 1.0)) - rates
        return np.where(seen > 0, own, np.where(events > 0, -np.inf, 0.0))

    def estimate_without(self, t: Sums, out: LeftOut) -> tuple[Params, np.ndarray] | None:
        return None if (t.n <= 0).any() else super().estimate_without(t, out)  # a class uses the sums of all rows

    def sensitivity(self, t: Sums, p: Params) -> LogRates:
        return LogRates.of(p.rate, np.where(column(t.n) > 0, t.total + self.shape, 0.0), times=False)

    def evidence_by_column(self, t: Sums, p: Params | None) -> np.ndarray:
        """Evidences under the family's Gamma(shape, exposure) prior of each rate."""
        return both_ways(lambda sums: gamma_evidence(sums, self.shape, self.exposure), t)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return counts_up_to(p.rate)

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * d

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(p.rate[y]).astype(np.float64)


FAMILY = Poisson
