"""Waiting times and other numbers ≥ 0: log p(x | c) = Σ_j log rate − rate · x_j.

Tally: `Sums`. Estimate: the mean of a Gamma posterior, rate = (n + shape) / (total + shape · mean): `shape` pseudo-rows
of the given mean, by default the mean of all rows, so that units do not matter. shape = 0 gives maximum likelihood.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f = Exponential(shape=0.0)
>>> x, y = Reals(np.array([[1.0], [3.0], [10.0]])), np.array([0, 0, 1], dtype=np.int32)
>>> p = f.estimate(f.tally(x, y, None, 2))
>>> p.rate.tolist(), f.loglik(p, Reals(np.array([[2.0]]))).round(4).tolist()
([[0.5], [0.1]], [[-1.6931, -2.5026]])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.dependence import both_ways
from deciban.estimation.family import Family, known_parts
from deciban.estimation.leave_one_out import blocks, powers, remaining, set_own, weight
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.linear import Linear
from deciban.estimation.sensitivity import LogRates
from deciban.ops.packed import Packed
from deciban.tallies import Sums
from deciban.tallies.basic import column, divide, subtract

LINEAR = 1e-6  # for relative changes of a rate up to this, the score is linear to double precision
FLOOR = 1e-290  # lower bound of the sum of a column: a class of zeros has a finite rate


@dataclass(frozen=True)
class Params:
    rate: np.ndarray  # (k, d)
    linear: Linear


@dataclass(frozen=True)
class Exponential(Family):
    shape: float = 1.0
    mean: float | np.ndarray | None = None
    block, support = "reals", "nonnegative"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        n = np.broadcast_to(column(t.n), t.total.shape)
        rate = self._rates(n, t.total, self._mean(n.sum(axis=0), t.total.sum(axis=0)))
        share = np.log(rate)
        return Params(rate, Linear(Packed.of(-rate), share.sum(axis=1), share))

    def _mean(self, n: np.ndarray, total: np.ndarray) -> float | np.ndarray:
        """Mean of the pseudo-rows: that of all rows; NaN without rows."""
        if self.mean is not None:
            return self.mean
        mean = total * divide(np.ones(1), n)
        return mean if (n > 0).all() else np.where(n > 0, mean, np.nan)

    def _rates(self, n: np.ndarray, total: np.ndarray, mean: float | np.ndarray) -> np.ndarray:
        rate = (n + self.shape) / (total + self.shape * mean + FLOOR)
        if self.shape > 0 and not np.isnan(mean).any():
            return rate
        return np.where(np.isnan(rate) | (n <= 0), 1.0, rate)  # no rows and no pseudo-rows

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x)

    def linear_terms(self, p: Params) -> Linear:
        return p.linear

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        """Leaving a row out also changes the mean of all rows, and so the pseudo-rows of every class."""
        out = self.loglik(self.estimate(t), x)
        n = np.broadcast_to(column(t.n), t.total.shape)
        moves = self.mean is None and self.shape > 0 and not self._add_change(out, t, x, w)
        for rows, cells in blocks(x):
            taken, removed = weight(w, rows), cells
            if np.isnan(cells).any():
                taken, removed = ~np.isnan(cells) * taken, np.nan_to_num(cells)
            removed = removed * taken
            mean = self._mean(subtract(n.sum(axis=0), taken), remaining(t.total.sum(axis=0), removed))
            for c in range(t.k if moves else 0):
                out[rows, c] = _score(self._rates(n[c], t.total[c], mean), cells)
            seen, total = subtract(column(t.n).take(y[rows], axis=0), taken), t.total.take(y[rows], axis=0)
            left = remaining(total, removed)
            own = _score(self._rates(seen, left, mean), cells)
            set_own(out, y, np.where(np.isnan(left).any(axis=1), np.nan, own), rows)
        return out

    def parts_without(self, t: Sums, p: Params, out: LeftOut, x: Reals | Counts) -> PartsLeft | None:
        n, taken = np.broadcast_to(column(t.n), t.total.shape), out.tally(self.tally)
        left = t.take(out.y) - taken
        seen, cells = np.broadcast_to(column(left.n), left.total.shape), x.dense()
        known = known_parts(left)
        mean: Any = self.mean
        if mean is None:
            rest = subtract(n.sum(axis=0), out.by_group(np.broadcast_to(column(taken.n), left.total.shape)))
            mean = subtract(t.total.sum(axis=0), out.by_group(taken.total)) * divide(np.ones(1), rest)
        moves = self.mean is None and self.shape > 0
        own = _parts(self._rates(seen, left.total, mean[out.group] if moves else mean), cells[:, None, :])
        own[:, ~known] = np.nan
        if not moves:
            return PartsLeft(own)
        whole = _parts(self._rates(n, t.total, mean[:, None, :]), cells[:, None, None, :])
        whole[:, out.group, out.y] = own
        return PartsLeft(None, whole)

    def _add_change(self, out: np.ndarray, t: Sums, x: Reals | Counts, w) -> bool:
        """Add the effect of the changed mean on each score, to first order in the change (mean − x) / (n − 1). False,
        and nothing added, where the second order is not negligible, weights differ or cells are missing."""
        if w is not None or t.n.ndim == 2 or t.n.sum() < 2:
            return False
        mean, rest = t.total.sum(axis=0) / t.n.sum(), t.n.sum() - 1.0
        mass = t.total + self.shape * mean + FLOOR
        top = np.max(x.values if isinstance(x, Reals) else x.stored, initial=0.0)
        if not self.shape * max(top, mean.max(initial=0.0)) / rest <= LINEAR * mass.min(initial=np.inf):
            return False
        # d score / d mean · change = s / mass · (rate x − 1) · (mean − x) / rest, a polynomial in x
        rate, part = (t.n[:, None] + self.shape) / mass, self.shape / (rest * mass)
        out += ops.affine(x, part * (1.0 + rate * mean), -(part * mean).sum(axis=1))
        out -= ops.affine(powers(x, 2), part * rate, np.zeros(t.k))
        return True

    def evidence(self, t: Sums) -> np.ndarray:
        """log marginal likelihood (k,) of each class's cells under a Gamma(shape, shape · mean) prior for each rate."""
        return self._evidences(t).sum(axis=1)

    def _evidences(self, t: Sums) -> np.ndarray:
        """The same by column, (k, d)."""
        if self.shape <= 0:
            raise DataError("`shape` of 0 is no prior: nothing can be averaged over it\n\nhint: use shape > 0")
        n = np.broadcast_to(column(t.n), t.total.shape)
        mass = self.shape * np.nan_to_num(self._mean(n.sum(axis=0), t.total.sum(axis=0))) + FLOOR
        after = self.shape + n
        return gammaln(after) - gammaln(self.shape) + self.shape * np.log(mass) - after * np.log(t.total + mass)

    def sensitivity(self, t: Sums, p: Params) -> LogRates:
        n = np.broadcast_to(column(t.n), t.total.shape)
        return LogRates.of(p.rate, np.where(n > 0, n + self.shape, 0.0), times=True)

    def evidence_by_column(self, t: Sums, p: Params | None) -> np.ndarray:
        return both_ways(self._evidences, t)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.exponential(1.0 / p.rate[y])


def _parts(rate: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """log rate − rate · x, 0 for a missing cell."""
    out = np.log(rate) - rate * cells
    return np.where(np.isnan(cells), 0.0, out) if np.isnan(cells).any() else out


def _score(rate: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Σ_j log rate − rate · x (m,), each row with its own rates."""
    logs = np.log(rate)
    logs -= rate * cells
    out = np.einsum("ij->i", logs)
    return np.nansum(logs, axis=1) if np.isnan(out).any() else out


FAMILY = Exponential
