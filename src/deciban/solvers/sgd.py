"""The online rule θ ← θ + α (y − h(x)) x, a row at a time, with the running average of θ as the answer.

The step α is `speed` over the rows' mean square length, so that the columns' common unit does not matter; `Scaled`
makes their spreads equal first, since one step cannot suit columns of different units. Averaging (Polyak and Juditsky
1992) lets it shrink slowly, by (1 + rows / 1000)^−⅓: a step that stays leaves a bias of its own size in the average,
one that shrinks faster forgets the start too late where columns are correlated (Bach and Moulines 2011).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.losses import loss_ops
from deciban.losses.objectives import Objective
from deciban.solvers.base import Smooth, State
from deciban.table import Counts, Reals, Table

SPARSE = 1 << 20  # cells of sparse rows spread out at a time


@dataclass(frozen=True)
class Stream:
    """Where the rule is: the parameters, their average, and {rows, Σ |x|²} so far."""

    coef: np.ndarray  # (m, p)
    mean: np.ndarray
    past: np.ndarray

    @classmethod
    def start(cls, coef: np.ndarray) -> Stream:
        return cls(coef.copy(), coef.copy(), np.zeros(2))

    def read(self, rows: Table, decay: np.ndarray, speed: float = 1.0) -> Stream:
        """After these rows."""
        coef, mean, past = (np.array(a, order="C") for a in (self.coef, self.mean, self.past))
        for chunk in _spread(rows):
            loss_ops.online(chunk.x, chunk.y, chunk.w, speed, decay, coef, mean, past)
        return Stream(coef, mean, past)


def _spread(rows: Table):
    """Sparse rows a few at a time, since the rule takes them dense."""
    if isinstance(rows.x, Reals):
        yield rows
        return
    assert isinstance(rows.x, Counts)
    many = max(1, SPARSE // rows.d)
    for start in range(0, rows.n, many):
        yield rows.rows(start, min(start + many, rows.n))


@dataclass(frozen=True)
class Scaled:
    """The objective of columns that are divided by the root of their curvature (their standard deviation, where there
    is no penalty), after their mean is taken away where an intercept makes up for it and every cell is stored. The loss
    and the penalty stay the same numbers."""

    objective: Objective
    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)

    @classmethod
    def of(cls, objective: Objective) -> Scaled:
        """
        >>> rows = Table(Reals(np.array([[100.0], [300.0]])), np.array([0, 1], dtype=np.int32), None, 2)
        >>> scaled = Scaled.of(Objective.of(rows))
        >>> scaled.objective.x.dense().tolist(), scaled.unfold(np.array([1.0, 0.5])).tolist()
        ([[-1.0], [1.0]], [0.01, -1.5])
        """
        x, d, w = objective.x, objective.rows.d, objective.rows.w
        share = np.full(x.n, 1.0 / x.n) if w is None else w / w.sum()
        penalty = (
            4.0 * objective.ridge[:d] / objective.weight
        )  # as curvature: a row has a quarter of its square at most
        if isinstance(x, Reals):
            cells = np.asarray(x.values, dtype=np.float64)
            mean = share @ cells if objective.intercept else np.zeros(d)
            scale = _positive_root(share @ (cells - mean) ** 2, mean**2, penalty)
            scaled: Reals | Counts = Reals((cells - mean) / scale)
        else:
            cells, columns, mean = np.asarray(x.stored, dtype=np.float64), x.column_of(), np.zeros(d)
            scale = _positive_root(np.bincount(columns, share[x.row_of()] * cells**2, minlength=d), mean, penalty)
            scaled = Counts(x.indptr - x.indptr[0], columns, cells / scale[columns], d)
        by = np.append(scale, 1.0) if objective.intercept else scale
        rows = replace(objective.rows, x=scaled)
        return cls(Objective(rows, objective.ridge / by**2, objective.lasso / by), mean, scale)

    def fold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the columns as they are as those of the scaled columns."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, d:] += (table[:, :d] @ self.mean)[:, None]
        table[:, :d] *= self.scale
        return table.ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the scaled columns as those of the columns as they are."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, :d] /= self.scale
        table[:, d:] -= (table[:, :d] @ self.mean)[:, None]
        return table.ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by parameters of the scaled columns as that by those of the columns as they are."""
        table, d = self.objective.table(gradient).copy(), len(self.mean)
        table[:, :d] *= self.scale
        if self.objective.intercept:
            table[:, :d] += table[:, d:] * self.mean
        return table.ravel()


def _positive_root(variance: np.ndarray, size: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """What a column is divided by: 1 where it has neither spread nor penalty."""
    total = np.where(variance > 1e-24 * size, variance, 0.0) + penalty
    return np.where(total > 0, np.sqrt(total), 1.0)


@dataclass(frozen=True)
class Sgd(Smooth):
    """Passes over the rows, each a step and in an order of its own. The answer is the average of the parameters at the
    ends of the passes, pass t weighing t: there the pulls of single rows have nearly cancelled. The rule's step shrinks
    by passes^−⅓, slowly enough for directions of little curvature."""

    speed: float = 1.0
    seed: int = 0

    def init(self, objective: Any, w: np.ndarray) -> State:
        return self._state(objective, w, objective.table(w), 0)

    def step(self, objective: Any, state: State) -> State:
        rows, (coef, passes) = objective.rows, state.kept
        order = np.random.default_rng([self.seed, passes]).permutation(rows.n)
        shuffled = Table(rows.x.take(order), rows.y[order], None if rows.w is None else rows.w[order], rows.k)
        decay, speed = objective.ridge / objective.weight, self.speed / np.cbrt(1.0 + passes)
        coef = Stream.start(coef).read(shuffled, decay, speed).coef
        return self._state(objective, state.w + 2.0 / (passes + 2.0) * (coef.ravel() - state.w), coef, passes + 1)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        return "gradient" if state.steepness <= tol * objective.weight else None

    def _state(self, objective: Any, w: np.ndarray, coef: np.ndarray, passes: int) -> State:
        value, gradient = objective.slope(w)
        return State(w, value, gradient, np.zeros_like(w), np.inf, kept=(coef, passes))
