"""Presence and absence: log p(x | c) = Σ_j x_j log p + (1 − x_j) log(1 − p), where x_j = [cell > above] if that is set.

Tally: `Sums` of the presences, dense or sparse. Estimate: p = (total + alpha) / (n + 2 alpha), two pseudo-rows of
weight alpha. Leaving a row out subtracts 1 from `total` where it has the feature and from n − total where it does not,
independent of its other cells: leave-one-out is a score with other weights.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> b = Bernoulli(alpha=1.0)
>>> spam = Reals(np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0.0]]))
>>> p = b.estimate(b.tally(spam, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(p.log_present).round(3).tolist()
[[0.5, 0.667, 0.333]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.dependence import both_ways
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.leave_one_out import blocks, class_weight, set_own, weight
from deciban.estimation.linear import Linear
from deciban.estimation.parameters import Parameter, log_slope
from deciban.estimation.sensitivity import PresenceShares
from deciban.tallies import Sums
from deciban.tallies.basic import column, subtract

NEVER = -1e200  # nats: what a cell adds to the score of a class that has no such cell to leave out


@dataclass(frozen=True)
class Params:
    linear: Linear

    @property
    def log_present(self) -> np.ndarray:
        """(k, d)"""
        return self.linear.present()


@dataclass(frozen=True)
class Bernoulli(Family):
    alpha: float | np.ndarray = 1.0
    above: float | None = 0.0
    block, support = "reals", "real"
    separate = True
    measure = "presences"
    parameters = {"feature_prob": Parameter(values="probabilities")}

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k, self.above)

    def estimate(self, t: Sums) -> Params:
        return Params(Linear.of(*self.log_terms(t)))

    def parameters_from(self, weights: np.ndarray, *, feature_prob: np.ndarray) -> Params:  # type: ignore[override]
        with np.errstate(divide="ignore"):
            return Params(Linear.of(np.log(feature_prob), np.log1p(-feature_prob)))

    def gradient(self, t: Sums, p: Params) -> dict[str, np.ndarray]:
        chance = np.exp(p.log_present)
        return {"feature_prob": log_slope(t.total, chance) - log_slope(column(t.n) - t.total, 1.0 - chance)}

    def log_terms(self, t: Sums) -> tuple[Any, Any]:
        """log probability of presence and of absence, (k, d) each. As sparse as t, if alpha is one number."""
        n = column(t.n)
        return self.log_probability(t.total, n), self.log_probability(n - t.total, n)

    def log_probability(self, count: Any, n: np.ndarray) -> Any:
        """log((count + alpha) / (n + 2 alpha)): of presence or absence, observed `count` times in n rows."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(count + self.alpha)
            logs -= np.log(n + 2.0 * self.alpha)
        if isinstance(logs, np.ndarray) and np.isnan(logs.sum()):
            logs[np.isnan(logs)] = np.log(0.5)  # no rows and no pseudo-counts, or cells above 1 that are not presences
        return logs

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x, self.above)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x, self.above)

    def quotients(self, t: Sums, p: Params) -> list[Quotients]:
        n, alpha = np.broadcast_to(column(t.n), t.total.shape), np.broadcast_to(self.alpha, t.d)
        pairs = np.stack([n - t.total, t.total], axis=2)  # (k, d, 2)
        each = (Quotients.from_counts(pairs[:, j], float(alpha[j])) for j in range(t.d))
        return [replace(one, names=("absent", "present")) for one in each]

    def cell_factors(self, t: Sums | None, p: Params, x: Reals | Counts) -> Factors:
        if t is None:
            return super().cell_factors(t, p, x)
        cells = self.tallied_cells(x)
        entries = np.where((cells == 0) | (cells == 1), cells, -1)
        return Factors.from_quotients(self.quotients(t, p), entries.astype(np.int64), logs=self.parts(p, x))

    def never_seen(self, t: Sums) -> dict[str, np.ndarray]:
        if np.min(self.alpha) > 0:
            return {}
        n, total = np.broadcast_to(column(t.n), t.total.shape).sum(axis=0), t.total.sum(axis=0)
        free = np.broadcast_to(self.alpha, t.d) == 0
        return {"present": free & (total <= 0) & (n > 0), "absent": free & (total >= n) & (n > 0)}

    def linear_terms(self, p: Params) -> Linear:
        return p.linear

    def sensitivity(self, t: Sums, p: Params) -> PresenceShares:
        present = np.asarray(t.total, dtype=np.float64)
        return PresenceShares.from_counts(
            present, np.broadcast_to(column(t.n), present.shape), self.alpha, self.tallied_cells
        )

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        out = self.loglik(self.estimate(t), x)
        alike = class_weight(y, w, t.k)
        if alike is not None and (self.above is not None or _binary(x)):
            n, at = subtract(column(t.n), alike), np.arange(x.n)
            left, absent = subtract(t.total, alike), np.maximum(n - t.total, 0.0)
            present = self.log_probability(np.maximum(left, 0.0), n)
            if self.above is not None:  # cells may be negative else
                present = np.where(left < -1e-9 * alike, NEVER, present)
            own = Linear.of(present, self.log_probability(absent, n)).loglik(x, self.above)[at, y]
            own[(own < NEVER / 2) & (own > -np.inf)] = np.nan
            set_own(out, y, own)
            return out
        for rows, cells in blocks(x):
            set_own(out, y, self._own(t, cells, y[rows], weight(w, rows)), rows)
        return out

    def _own(self, t: Sums, cells: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Log likelihood (m,) of rows of any weights under their own classes without them."""
        here = ~np.isnan(cells)
        x = np.where(here, cells if self.above is None else cells > self.above, 0.0)
        n = subtract(np.broadcast_to(column(t.n).take(y, axis=0), x.shape), here * w)
        total = subtract(t.total.take(y, axis=0), x * w)
        present, absent = self.log_probability(total, n), self.log_probability(np.maximum(n - total, 0.0), n)
        with np.errstate(invalid="ignore"):
            terms = np.where(x != 0, x * present, 0.0) + np.where(x != 1, (1.0 - x) * absent, 0.0)
        over = (total < 0) & (self.above is not None)  # the row is not in the sums
        return np.where(over, np.nan, np.where(here, terms, 0.0)).sum(axis=1)

    def evidence(self, t: Sums) -> np.ndarray:
        """log marginal likelihood (k,) of each class's rows, every chance drawn from a Beta(alpha, alpha)."""
        return self._evidences(t).sum(axis=1)

    def _evidences(self, t: Sums) -> np.ndarray:
        """The same by column, (k, d)."""
        if np.min(self.alpha) <= 0:
            raise DataError("`alpha` of 0 is no prior: nothing can be averaged over it\n\nhint: use alpha > 0")
        return betaln(t.total + self.alpha, column(t.n) - t.total + self.alpha) - betaln(self.alpha, self.alpha)

    def evidence_by_column(self, t: Sums, p: Params | None) -> np.ndarray:
        return both_ways(self._evidences, t)

    def tallied_cells(self, x: Reals | Counts) -> np.ndarray:
        cells = x.dense()
        return cells if self.above is None else np.where(np.isnan(cells), np.nan, cells > self.above)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return [np.array([0.0, self._present])] * p.log_present.shape[1]

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * d

    def n_parameters_joint(self, p: Params, k: int, d: int) -> int:
        return k * (2**d - 1)

    @property
    def _present(self) -> float:
        """A number that counts as presence."""
        return 1.0 if self.above is None or self.above < 1 else self.above + 1.0

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        chance = np.exp(p.log_present)[y]
        return np.where(rng.random(chance.shape) < chance, self._present, 0.0)


def _binary(x: Reals | Counts) -> bool:
    """Whether all cells are 0, 1 or missing."""
    values = x.values if isinstance(x, Reals) else x.stored
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


FAMILY = Bernoulli
