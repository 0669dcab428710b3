"""Event counts whose rate is averaged out: a negative binomial in each column.

Under a Gamma(shape, exposure) prior, with a = total + shape and b = n + exposure, log p(x | c) =
Σ_j log Γ(a + x_j) − log Γ(a) − log x_j! + a log(b / (b + 1)) − x_j log(b + 1). Tally: `Sums`, as `poisson`. The
factorials are the same for all classes; they are in `carrier`.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f = GammaPoisson(shape=1.0, exposure=1.0)
>>> p = f.estimate(f.tally(Reals(np.array([[1.0]])), np.zeros(1, dtype=np.int32), None, 1))
>>> np.exp(f.loglik(p, Reals(np.array([[0.0], [1.0]])))).round(4).tolist()  # (2/3)², 2 (2/3)² / 3
[[0.4444], [0.2963]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.dependence import both_ways, gamma_evidence
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import blocks, log_factorials, remaining, set_own, weight
from deciban.estimation.sensitivity import LogRates
from deciban.tallies import Sums
from deciban.tallies.basic import column, subtract


@dataclass(frozen=True)
class Params:
    events: np.ndarray  # (k, d), a
    rows: np.ndarray  # (k, d), b


@dataclass(frozen=True)
class GammaPoisson(Family):
    shape: float = 1.0
    exposure: float = 1.0
    block, support = "counts", "count"
    separate = True
    measure = "counts"
    shared_tally = "whole"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        if self.shape <= 0 or self.exposure <= 0:
            raise DataError("a rate without a prior cannot be averaged out\n\nhint: use shape > 0 and exposure > 0")
        return Params(t.total + self.shape, np.broadcast_to(column(t.n) + self.exposure, t.total.shape))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        out = np.empty((x.n, len(p.events)))
        for rows, cells in blocks(x):
            for c in range(len(p.events)):
                out[rows, c] = np.nansum(_terms(p.events[c], p.rows[c], cells), axis=1)
        return out

    def carrier(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return -log_factorials(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return np.nan_to_num(_terms(p.events, p.rows, x.dense()[:, None, :]), nan=0.0, neginf=-np.inf)

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        out = self.loglik(self.estimate(t), x)
        n = np.broadcast_to(column(t.n), t.total.shape)
        for rows, cells in blocks(x):
            taken = ~np.isnan(cells) * weight(w, rows)
            left = remaining(t.total.take(y[rows], axis=0), np.nan_to_num(cells) * taken)
            seen = subtract(n.take(y[rows], axis=0), taken) + self.exposure
            own = np.nansum(_terms(left + self.shape, seen, cells), axis=1)
            set_own(out, y, np.where(np.isnan(left).any(axis=1), np.nan, own), rows)
        return out

    def sensitivity(self, t: Sums, p: Params) -> LogRates:
        events = np.where(column(t.n) > 0, p.events, 0.0)
        return LogRates.of(p.events / p.rows, events, times=False, averaged=p.rows)

    def evidence_by_column(self, t: Sums, p: Params | None) -> np.ndarray:
        """Evidences under the family's Gamma(shape, exposure) prior of each rate."""
        return both_ways(lambda sums: gamma_evidence(sums, self.shape, self.exposure), t)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(rng.standard_gamma(p.events[y]) / p.rows[y]).astype(np.float64)


def _terms(events: np.ndarray, rows: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Log likelihood of each cell; NaN where it is missing."""
    grown = gammaln(events + cells) - gammaln(events)
    return grown - events * np.log1p(1.0 / rows) - cells * np.log1p(rows)


FAMILY = GammaPoisson
