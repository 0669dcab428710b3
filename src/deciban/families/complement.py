"""Word counts scored by the complement of each class (Rennie et al. 2003): a rule, not a density.

score(x | c) = −Σ_j x_j log θ̃_j, θ̃ = (counts of all other classes + alpha) over their sum; `norm` divides the weights
by their sum. Tally: `Sums`, dense or sparse. Rows are drawn from the multinomial that the same counts define.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, y = Complement(), np.array([0, 1], dtype=np.int32)
>>> p = f.estimate(f.tally(Reals(np.array([[3.0, 0.0], [0.0, 1.0]])), y, None, 2))
>>> p.weights.round(2).tolist()
[[1.1, 0.41], [0.22, 1.61]]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import (
    blocks,
    exceeding,
    log_left,
    powers,
    remaining,
    row_totals,
    set_own,
    taken_cells,
    weight,
)
from deciban.estimation.left_out import LeftOut
from deciban.estimation.linear import Linear
from deciban.estimation.parameters import Parameter
from deciban.estimation.ranges import counts_up_to
from deciban.ops import leave_one_out
from deciban.tallies import Sums
from deciban.tallies.basic import column, divide, subtract

TINY = 1e-12  # a term of the series is dropped below this share of the first


@dataclass(frozen=True)
class Params:
    log_complement: np.ndarray  # (k, d), log θ̃
    weights: np.ndarray  # (k, d)
    theta: np.ndarray  # (k, d), word probabilities of the class itself
    length: np.ndarray  # (k,)
    linear: Linear


@dataclass(frozen=True)
class Complement(Family):
    alpha: float | np.ndarray = 1.0
    norm: bool = False
    block, support = "counts", "count"
    measure = "scores of a rule"
    columnwise = False  # a joint density of all columns
    parameters = {
        "complement_prob": Parameter(values="probabilities", sums=True),
        "feature_prob": Parameter(values="probabilities", sums=True),
        "length": Parameter("k", "not negative", optional=True),
    }
    density, uses_prior = False, False  # scores are not normalised; a prior is added only if given

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        logs = self._log_shares(t.total.sum(axis=0) - t.total)
        own = t.total + self.alpha
        even = np.full_like(own, 1.0 / max(1, own.shape[1]))
        theta = np.divide(own, own.sum(1, keepdims=True), out=even, where=own.sum(1, keepdims=True) > 0)
        length = divide(t.total, np.broadcast_to(column(t.n), t.total.shape)).sum(axis=1)
        return self._params(logs, theta, length)

    def parameters_from(  # type: ignore[override]
        self,
        weights: np.ndarray,
        *,
        complement_prob: np.ndarray,
        feature_prob: np.ndarray,
        length: np.ndarray | None = None,
    ) -> Params:
        k, d = feature_prob.shape
        with np.errstate(divide="ignore"):
            logs = np.log(complement_prob)
        return self._params(logs, feature_prob, np.full(k, float(d)) if length is None else length)

    def _params(self, logs: np.ndarray, theta: np.ndarray, length: np.ndarray) -> Params:
        weights = self._weighted(logs)
        return Params(logs, weights, theta, length, Linear.of(weights))

    def log_terms(self, t: Sums) -> tuple[Any, None]:
        """(−log θ̃ (k, d), None): what a word adds to the score; an absent one adds nothing. As sparse as t."""
        return self._weights(t.total.sum(axis=0) - t.total), None

    def log_counts(self, counts: Any) -> Any:
        """log(count + alpha)"""
        return np.log(counts + self.alpha)

    def _weights(self, others: Any) -> Any:
        """Weight of each word (k, d), from the word counts of the other classes (k, d)."""
        return self._weighted(self._log_shares(others))

    def _log_shares(self, others: Any) -> Any:
        """log θ̃, (k, d)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = others.sum(axis=1, keepdims=True) + np.broadcast_to(self.alpha, others.shape[1]).sum()
            logs = self.log_counts(others)
            logs -= np.log(whole)
        return logs

    def _weighted(self, logs: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        if np.isfinite(weights.sum()):
            return weights
        return np.nan_to_num(weights, nan=0.0, posinf=-np.log(np.finfo(np.float64).tiny))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.loglik(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.linear.parts(x)

    def linear_terms(self, p: Params) -> Linear:
        return p.linear

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        """A row is in the complement of every class but its own; the score of its own class does not change."""
        out = self.loglik(self.estimate(t), x)
        own = out[np.arange(x.n), y]
        others = t.total.sum(axis=0) - t.total
        heavy = 1.0 if w is None else float(w.max(initial=0.0))
        top = heavy * np.nanmax(x.values if isinstance(x, Reals) else x.stored, initial=0.0)
        if not self.norm and not self._add_change(out, others + self.alpha, x, w, top):
            out[:] = self._scores_left(others, x, w)
        odd = np.arange(x.n) if self.norm else np.flatnonzero(~np.isfinite(out).all(axis=1))
        for rows, cells in blocks(x.take(odd)):
            v, taken = np.nan_to_num(cells), weight(w, odd[rows])
            for c in range(t.k):
                left = subtract(others[c], v * taken)
                out[odd[rows], c] = np.einsum("ij,ij->i", v, self._weights(left))
        set_own(out, y, own)
        if top > t.total.min(initial=np.inf):
            out[exceeding(t.total, x, y, w)] = np.nan
        return out

    def loglik_without(self, t: Sums, p: Params, out: LeftOut, x: Reals | Counts) -> np.ndarray | None:
        """A group is in the complement of every class but those of its rows. Only the words of x, and how many there
        are, matter, unless weights are normed."""
        if self.norm:
            return None
        cells, alpha = np.nan_to_num(x.dense()), np.broadcast_to(self.alpha, x.d)
        used = np.flatnonzero(cells.any(axis=0))
        taken, words = taken_cells(out, used), out.sums(row_totals(out.x))
        others = t.total.sum(axis=0) - t.total
        lost = np.repeat(out.by_group(taken)[:, None], t.k, axis=1)  # (groups, k, used), of the complement
        fewer = np.repeat(out.by_group(words)[:, None], t.k, axis=1)
        lost[out.group, out.y] -= taken
        fewer[out.group, out.y] -= words
        left = subtract(others[:, used], lost)
        whole = subtract(others.sum(axis=1), fewer) + alpha.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(left + alpha[used]) - np.log(whole)[:, :, None]
            found = -np.einsum("qj,gkj->qgk", cells[:, used], logs)
        unknown = np.isnan(remaining(t.total[:, used][out.y], taken)).any(axis=1)  # not in the counts
        found[:, ~np.isfinite(logs).all(axis=(1, 2))] = np.nan
        found[:, out.group[unknown]] = np.nan
        return found

    def _add_change(self, out: np.ndarray, others: np.ndarray, x: Reals | Counts, w, top: float) -> bool:
        """Add the change of each score when the row is left out, −Σ_j x_j log(1 − w x_j / others_j) + N log(1 − w N /
        Σ others), as a power series. False, and nothing added, where the row is too large a part of the counts.
        top: the largest cell, times its weight."""
        words = row_totals(x)
        part = top / max(others.min(initial=np.inf), 1e-300)
        terms = next((m for m in (1, 2, 3) if part ** (m + 1) <= TINY), None)
        if terms is None:
            return False
        whole = others.sum(axis=1, keepdims=True)
        out -= leave_one_out.series(words[:, None], w, np.stack([whole**-m / m for m in range(1, terms + 1)]))
        steps = [others**-m / m for m in range(1, terms + 1)]
        if isinstance(x, Reals):
            out += leave_one_out.series(x.dense(), w, np.stack(steps))
            return True
        for m, coef in enumerate(steps, start=1):
            change = ops.affine(powers(x, m + 1), coef, np.zeros(len(others)))
            out += change if w is None else change * w[:, None] ** m
        return True

    def _scores_left(self, others: np.ndarray, x: Reals | Counts, w) -> np.ndarray:
        """−Σ_j x_j log θ̃_j (n, k) with each row left out; not finite for a word that no other row has."""
        words, out = row_totals(x), np.empty((x.n, len(others)))
        nobody = np.zeros(x.n, dtype=np.int32)
        assumed = np.broadcast_to(self.alpha, x.d).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            for c, each in enumerate(others):
                whole = subtract(each.sum(), words if w is None else words * w) + assumed
                out[:, c] = words * np.log(whole) - log_left(each[None], self.alpha, x, nobody, w)
        return out

    def log_density(self, p: Params, x: Reals | Counts) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return Linear.of(np.log(p.theta)).loglik(x)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return counts_up_to(p.theta * p.length[:, None])

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.multinomial(rng.poisson(p.length[y]), p.theta[y]).astype(np.float64)


FAMILY = Complement
