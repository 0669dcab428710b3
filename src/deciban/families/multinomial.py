"""Word counts: log p(x | c) = Σ_j x_j log θ_j, the probability of the words in their order.

Tally: `Sums` of the counts, dense or sparse. Estimate: θ = (total + alpha) / (all words of the class + Σ alpha).

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> m = Multinomial(alpha=1.0)
>>> spam = Reals(np.array([[0, 3, 0], [0, 3, 3], [3, 0, 0], [2, 3, 0.0]]))
>>> p = m.estimate(m.tally(spam, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(p.log_theta).round(3).tolist()
[[0.3, 0.5, 0.2]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.leave_one_out import (
    log_factorials,
    log_left,
    remaining,
    row_totals,
    set_own,
    taken_cells,
)
from deciban.estimation.left_out import LeftOut
from deciban.estimation.linear import Linear
from deciban.estimation.parameters import Parameter, log_slope
from deciban.estimation.ranges import counts_up_to
from deciban.estimation.sensitivity import WordShares
from deciban.tallies import Sums
from deciban.tallies.basic import divide, subtract


@dataclass(frozen=True)
class Params:
    linear: Linear
    length: np.ndarray  # (k,), mean number of words per row

    @property
    def log_theta(self) -> np.ndarray:
        """(k, d)"""
        return self.linear.present()


@dataclass(frozen=True)
class Multinomial(Family):
    alpha: float | np.ndarray = 1.0
    coefficient: bool = False  # whether the likelihood is that of the counts, not of the words in their order
    block, support = "counts", "count"
    separate = True
    measure = "words in their order"
    columnwise = False  # a joint density of all columns
    parameters = {
        "feature_prob": Parameter(values="probabilities", sums=True),
        "length": Parameter("k", "not negative", optional=True),
    }

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        words = t.total.sum(axis=1) if t.n.ndim == 1 else divide(t.total, t.n).sum(axis=1)
        return Params(Linear.of(*self.log_terms(t)), divide(words, t.n) if t.n.ndim == 1 else words)

    def parameters_from(  # type: ignore[override]
        self, weights: np.ndarray, *, feature_prob: np.ndarray, length: np.ndarray | None = None
    ) -> Params:
        k, d = feature_prob.shape
        with np.errstate(divide="ignore"):
            return Params(Linear.of(np.log(feature_prob)), np.full(k, float(d)) if length is None else length)

    def gradient(self, t: Sums, p: Params) -> dict[str, np.ndarray]:
        return {"feature_prob": log_slope(t.total, np.exp(p.log_theta))}

    def carrier(self, p: Params, x: Reals | Counts) -> np.ndarray | None:
        """The multinomial coefficient, log N! − Σ log x_j!"""
        return gammaln(row_totals(x) + 1.0) - log_factorials(x) if self.coefficient else None

    def log_terms(self, t: Sums) -> tuple[Any, None]:
        """(log θ (k, d), None): what a word adds to the log likelihood; an absent one adds nothing. As sparse as t."""
        counts, whole = t.total, t.total.sum(axis=1, keepdims=True) + np.broadcast_to(self.alpha, t.d).sum()
        empty = whole <= 0  # no counts and no pseudo-counts: uniform
        if empty.any():
            counts, whole = counts + empty, np.where(empty, max(1, t.d), whole)
        out = self.log_counts(counts)
        out -= np.log(whole)
        return out, None

    def log_counts(self, counts: Any) -> Any:
        """log(count + alpha)"""
        out = counts + self.alpha
        with np.errstate(divide="ignore"):
            return np.log(out, out=out) if isinstance(out, np.ndarray) else np.log(out)

    def quotients(self, t: Sums, p: Params) -> list[Quotients]:
        alpha = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), t.d)
        whole = t.total.sum(axis=1, keepdims=True) + alpha.sum()
        numerator = np.where(whole > 0, t.total + alpha, 1.0)
        whole = np.broadcast_to(np.where(whole > 0, whole, float(t.d)), numerator.shape)
        return [Quotients(t.total[:, [j]], numerator[:, [j]], whole[:, [j]], names=("",)) for j in range(t.d)]

    def cell_factors(self, t: Sums | None, p: Params, x: Reals | Counts) -> Factors:
        """θ to the power of each count."""
        times = x.dense()
        if t is None:
            logs = np.broadcast_to(p.log_theta, (x.n, *p.log_theta.shape))
            return replace(Factors.from_logs(logs, np.isnan(times)), power=times)
        entries = np.where(np.isnan(times), -1, 0)
        return Factors.from_quotients(self.quotients(t, p), entries, power=times)

    def never_seen(self, t: Sums) -> dict[str, np.ndarray]:
        if np.min(self.alpha) > 0:
            return {}
        return {"present": (np.broadcast_to(self.alpha, t.d) == 0) & (t.total.sum(axis=0) <= 0)}

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x)

    def linear_terms(self, p: Params) -> Linear:
        return p.linear

    def sensitivity(self, t: Sums, p: Params) -> WordShares:
        return WordShares.from_counts(np.asarray(t.total, dtype=np.float64), self.alpha)

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        out = self.loglik(self.estimate(t), x)
        words = row_totals(x)
        assumed = np.broadcast_to(self.alpha, x.d).sum()
        whole = subtract(t.total.sum(axis=1)[y], words if w is None else words * w) + assumed
        own = log_left(t.total, self.alpha, x, y, w) - words * np.log(np.where(whole > 0, whole, 1.0))
        set_own(out, y, np.where((whole > 0) | np.isnan(own), own, -words * np.log(max(1, x.d))))
        return out

    def loglik_without(self, t: Sums, p: Params, out: LeftOut, x: Reals | Counts) -> np.ndarray:
        """Only the words of x, and how many there are, matter."""
        cells, alpha = np.nan_to_num(x.dense()), np.broadcast_to(self.alpha, x.d)
        used = np.flatnonzero(cells.any(axis=0))
        times, found = cells[:, used], np.repeat(self.loglik(p, x)[:, None], out.groups, axis=1)
        left = remaining(t.total[:, used][out.y], taken_cells(out, used))
        rest = remaining(t.total.sum(axis=1)[out.y], out.sums(row_totals(out.x))) + alpha.sum()
        with np.errstate(divide="ignore"):
            logs = np.log(left + alpha[used])
            share = np.where(times[:, None] > 0, times[:, None] * logs, 0.0).sum(axis=2)
            own = share - times.sum(axis=1)[:, None] * np.log(rest)
        own[:, np.isnan(left).any(axis=1) | ~(rest > 0)] = np.nan
        found[:, out.group, out.y] = own
        return found

    def evidence(self, t: Sums) -> np.ndarray:
        """log marginal likelihood (k,) of each class's words in their order, under a Dirichlet(alpha) prior of θ."""
        if np.min(self.alpha) <= 0:
            raise DataError("`alpha` of 0 is no prior: nothing can be averaged over it\n\nhint: use alpha > 0")
        assumed = np.broadcast_to(self.alpha, t.total.shape[1]).sum()
        terms = gammaln(t.total + self.alpha) - gammaln(self.alpha)
        return terms.sum(axis=1) + gammaln(assumed) - gammaln(assumed + t.total.sum(axis=1))

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return counts_up_to(np.exp(p.log_theta) * p.length[:, None])

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * (d - 1)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows whose number of words is Poisson with the class's mean length."""
        theta = np.exp(p.log_theta)
        theta /= theta.sum(axis=1, keepdims=True)
        return rng.multinomial(rng.poisson(p.length[y]), theta[y]).astype(np.float64)


FAMILY = Multinomial
