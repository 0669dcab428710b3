"""Levels: log p(x | c) = Σ_j log θ_j[x_j]. Missing and unseen levels add nothing.

Tally: `Crosstab`. Estimate: θ = (count + alpha) / (count of all levels + alpha · levels); alpha = "auto" takes for each
column the value of a grid that maximises the likelihood of held-out rows.

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> f = Categorical(alpha=1.0)
>>> p = f.estimate(f.tally(Codes(np.array([[0], [0], [1]])), np.zeros(3, dtype=np.int32), None, 1))
>>> np.exp(p.table).round(6).tolist()
[[0.6, 0.4]]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes
from deciban.estimation.dependence import alphas_of, level_dependence_left_out, level_evidence
from deciban.estimation.dirichlet import (
    best_alpha,
    column_sums,
    log_evidence,
    log_shares,
    own_held_out,
    shares_without,
    spread,
)
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.leave_one_out import cached_plan, class_weight, set_own
from deciban.estimation.left_out import LeftOut, PartsLeft, not_counted
from deciban.estimation.linear import LinearScores, Term, zero_probabilities
from deciban.estimation.parameters import Parameter, log_slope
from deciban.estimation.sensitivity import LevelShares
from deciban.ops.packed import Packed
from deciban.tallies import Crosstab
from deciban.tallies.basic import subtract


@dataclass(frozen=True)
class Params:
    packed: Packed  # (k, sum of levels), log θ
    offset: np.ndarray  # (d + 1,)

    @property
    def table(self) -> np.ndarray:
        return self.packed.table

    def columns(self) -> list[np.ndarray]:
        """log θ of each column, (k, levels[j])."""
        return np.split(np.ascontiguousarray(self.table), self.offset[1:-1], axis=1)


@dataclass(frozen=True)
class Categorical(Family):
    alpha: float | str = 1.0
    least: tuple[int, ...] = ()  # least number of levels of each column; (): as many as there are codes
    block, support = "codes", "level"
    measure = "levels"
    parameters = {"feature_prob": Parameter("kl", "probabilities", sums=True)}

    def tally(self, x: Codes, y, w, k: int) -> Crosstab:
        out = ops.crosstab(x, y, w, k)
        return out.relevel(np.maximum(out.levels, self.least)) if self.least else out

    def estimate(self, t: Crosstab) -> Params:
        return Params(Packed.of(log_shares(t.table, t.offset, self.pseudo_counts(t))), t.offset)

    def parameters_from(self, weights: np.ndarray, *, feature_prob: list[np.ndarray]) -> Params:  # type: ignore[override]
        offset = np.concatenate([[0], np.cumsum([table.shape[1] for table in feature_prob])])
        with np.errstate(divide="ignore"):
            return Params(Packed.of(np.log(np.hstack(feature_prob))), offset)

    def gradient(self, t: Crosstab, p: Params) -> dict[str, list[np.ndarray]]:
        counts = t.relevel(np.maximum(t.levels, np.diff(p.offset))).columns()
        both = zip(counts, p.columns(), strict=True)
        return {"feature_prob": [log_slope(own[:, : logs.shape[1]], np.exp(logs)) for own, logs in both]}

    def pseudo_counts(self, t: Crosstab) -> float | np.ndarray:
        """alpha: one number, or one for each column."""
        return best_alpha(t.table, t.offset) if isinstance(self.alpha, str) else self.alpha

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        return ops.lookup(x, p.offset, p.packed, np.zeros(p.packed.k))

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        out = np.zeros((x.n, len(p.table), x.d))
        for j in range(x.d):
            code = x.values[:, j]
            known = (code >= 0) & (code < p.offset[j + 1] - p.offset[j])
            out[known, :, j] = p.table.T[p.offset[j] + code[known]]
        return out

    def linear(self, p: Params, degree: int = 1) -> LinearScores:
        """A column of two levels is whether it has the second one; of more, whether it has each of them."""
        if not np.isfinite(p.table).all():
            raise zero_probabilities()
        coef, share, terms = [], [], []
        for j, logs in enumerate(p.columns()):
            levels = logs.shape[1]
            two = levels == 2
            coef.append(logs[:, 1:] - logs[:, :1] if two else logs)
            share.append(logs[:, :1] if two else np.zeros_like(logs))
            terms += [Term((j,), level=level, levels=levels) for level in range(int(two), levels)]
        parts = np.hstack(share)
        return LinearScores(np.hstack(coef), parts.sum(axis=1), parts, tuple(terms))

    def quotients(self, t: Crosstab, p: Params) -> list[Quotients]:
        alphas = np.broadcast_to(np.asarray(self.pseudo_counts(t), dtype=np.float64), t.d)
        return [Quotients.from_counts(table, alpha) for table, alpha in zip(t.columns(), alphas.tolist(), strict=True)]

    def cell_factors(self, t: Crosstab | None, p: Params, x: Codes) -> Factors:
        if t is None:
            return super().cell_factors(t, p, x)
        codes = np.asarray(x.values)
        return Factors.from_quotients(self.quotients(t, p), np.where(codes < t.levels, codes, -1))

    def sensitivity(self, t: Crosstab, p: Params) -> LevelShares:
        return LevelShares.from_counts(t.table, t.offset, self.pseudo_counts(t))

    def leave_one_out(self, t: Crosstab, x: Codes, y, w, p=None) -> np.ndarray:
        """Log likelihoods with each row taken out of its own class's counts; alpha stays."""
        alpha = self.pseudo_counts(t)
        out = self.loglik(Params(Packed.of(log_shares(t.table, t.offset, alpha)), t.offset), x)
        alike = class_weight(y, w, t.k)
        if alike is None:
            set_own(out, y, own_held_out(t.table, t.offset, alpha, np.asarray(x.values), y, w))
        else:
            own = ops.lookup(x, t.offset, Packed.of(self._left(t, alpha, alike)), np.zeros(t.k))
            set_own(out, y, own[np.arange(x.n), y])
        if t.d and x.values.max(initial=-1) >= t.levels.min():
            out[(np.asarray(x.values) >= t.levels).any(axis=1)] = np.nan  # not in the counts
        return out

    def held(self, t: Crosstab, p: Params) -> Categorical:
        return replace(self, alpha=self.pseudo_counts(t)) if isinstance(self.alpha, str) else self  # type: ignore[arg-type]

    def parts_without(self, t: Crosstab, p: Params, out: LeftOut, x: Codes) -> PartsLeft:
        rows, cells, alpha = np.asarray(out.x.values), np.asarray(x.values), cached_plan(self, t, self.pseudo_counts)
        there = (rows >= 0) & (rows < t.levels)
        key, lost, lone = np.where(there, t.offset[:-1] + rows, -1), None, None
        if out.prunes:
            lost, lone = _emptied(t, out, key, cells)
        found = shares_without(t.table, t.offset, alpha, out, cells, lambda cell: rows == cell, there, lost, lone)
        return found.without_closed_form(out, not_counted(t.table, out, key))

    def _left(self, t: Crosstab, alpha: float | np.ndarray, alike: np.ndarray) -> np.ndarray:
        """log θ (k, sum of levels) of each level without one row that has it, where all rows of a class have the same
        weight (k, 1). It does not depend on the other cells of the row. NaN: no such row is in the counts."""
        alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), t.levels.shape)
        rest = np.maximum(subtract(column_sums(t.table, t.offset), alike), 0.0) + alpha * t.levels
        even = spread(-np.log(np.maximum(t.levels, 1)), t.offset)
        left = subtract(t.table, alike)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(np.maximum(left, 0.0) + spread(alpha, t.offset))
            logs = np.where(spread(rest, t.offset) > 0, logs - spread(np.log(rest), t.offset), even)
        return np.where(left < -1e-9 * alike, np.nan, logs)

    def evidence(self, t: Crosstab) -> np.ndarray:
        """log marginal likelihood (k,) of each class's levels under a Dirichlet(alpha) prior for each column."""
        return self._evidences(t).sum(axis=1)

    def _evidences(self, t: Crosstab) -> np.ndarray:
        """The same by column, (k, d)."""
        return log_evidence(t.table, t.offset, self.pseudo_counts(t))

    def evidence_by_column(self, t: Crosstab, p: Params | None) -> np.ndarray:
        return level_evidence(t.table, t.offset, alphas_of(self.alpha))

    def dependence_left_out(self, t: Crosstab, p: Params | None, x: Codes, y, w) -> np.ndarray:
        return level_dependence_left_out(t.table, alphas_of(self.alpha), x.values[:, 0], y, w)

    def of_columns(self, t: Crosstab, p: Params) -> list[Family]:
        if self.alpha != "auto":
            return [self] * t.d
        return [replace(self, alpha=float(alpha)) for alpha in np.broadcast_to(self.pseudo_counts(t), t.d)]

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return [np.arange(levels) for levels in np.diff(p.offset)]

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * int((np.diff(p.offset) - 1).sum())

    def n_parameters_joint(self, p: Params, k: int, d: int) -> int:
        return k * (math.prod(np.diff(p.offset).tolist()) - 1)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.zeros((len(y), len(p.offset) - 1), dtype=np.int64)
        for j, logs in enumerate(p.columns()):
            below = np.cumsum(np.exp(logs), axis=1)[y]
            u = rng.random((len(y), 1)) * below[:, -1:]
            out[:, j] = np.minimum((u >= below).sum(axis=1), logs.shape[1] - 1)
        return out


def _emptied(t: Crosstab, out: LeftOut, key: np.ndarray, cells: np.ndarray) -> tuple[Any, Any]:
    """(how many levels of each column end with each group (groups, d), whether one of them is that of cells (q, d):
    (q, groups)), or None: no level does."""
    whole = t.table.sum(axis=0)
    heaviest = out.row_weights.max(initial=0.0) if out.row_part is None else out.by_group(out.weight).max(initial=0.0)
    if not (whole[whole > 0] <= heaviest * (1 + 1e-9)).any():
        return None, None
    lost, lone = np.zeros((out.groups, t.d)), np.zeros((len(cells), out.groups), dtype=bool)
    for j in range(t.d):
        at = np.flatnonzero(out.emptied(key[:, j], whole))
        pairs = np.unique(np.stack([out.row_group[at], key[at, j]]), axis=1)
        np.add.at(lost[:, j], pairs[0], 1.0)
        for q, code in enumerate(cells[:, j]):
            lone[q, pairs[0][pairs[1] == t.offset[j] + code]] = True
    return (lost, lone) if lost.any() else (None, None)


FAMILY = Categorical
