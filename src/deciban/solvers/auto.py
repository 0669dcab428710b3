"""L-BFGS, where worthwhile in the metric of the Hessian of a subsample of the rows.

A sample's Hessian is off by √(parameters / rows), so in its metric the objective is nearly round, and a step shrinks
the distance to the minimum by about that factor. Its cost is that of a few passes over all rows, or it is not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.solvers.base import State, solve
from deciban.solvers.lbfgs import SEEN, Lbfgs, Memory
from deciban.solvers.newton import Metric, Newton, NewtonCg


@dataclass(frozen=True)
class RoughNewton(Newton):
    """Newton on a sample: its minimum is off by chance anyway, so half a degree of freedom is near enough."""

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        return "gradient" if state.gain <= 0.02 * len(state.w) else super().done(objective, state, tol)


MOST = 4000  # parameters whose full Hessian is worth a factor
LEAST = 1 << 13  # rows of a sample
PATIENCE = 40  # steps after which L-BFGS is known to be slow


@dataclass(frozen=True)
class SubsampledLbfgs(Lbfgs):
    """L-BFGS in the metric of a sample's Hessian: from the start, at the sample's minimum, where that costs no more
    than a few passes over all rows; else only when L-BFGS alone has taken as long, and would take far longer yet. Where
    that is slow too, as few rows bend more than all others do, the Hessian of all rows is the metric. Where there are
    too many parameters for a Hessian, Newton's method by conjugate gradients goes on then."""

    cheap: float = 6.0  # passes over all rows that a sample's minimum may cost
    whole: int = MOST  # parameters up to which the Hessian of all rows may be asked for

    def init(self, objective: Any, w: np.ndarray) -> State:
        rows = sample_rows(objective)
        if 2 * rows > objective.rows.n or 5 * price(objective, rows) > self.cheap:
            return super().init(objective, w)
        some = objective.thin(rows)
        start = solve(RoughNewton(), some, w, tol=1e-4, max_iter=30)
        metric: Metric | None = start.kept
        if metric is None or not np.isfinite(start.value):
            return super().init(objective, w)
        scale = metric.scale / np.sqrt(objective.weight / some.weight)
        metric = replace(metric, scale=scale)
        value, gradient = objective.slope(start.w)
        return self._state(start.w, value, Memory.start(metric, False, gradient))

    def worth(self, state: State) -> float:
        return NewtonCg().worth(state) if state.kept is None else super().worth(state)

    def step(self, objective: Any, state: State) -> State:
        if state.kept is None:
            return NewtonCg().step(objective, state)
        state = super().step(objective, state)
        gains, scaled = state.kept.gains, state.kept.scaled
        if not scaled and objective.size > self.whole:
            return state
        rows = sample_rows(objective) if scaled else objective.rows.n  # what some rows do not know, all of them do
        cost = price(objective, rows)
        if cost == np.inf and state.kept.steps >= PATIENCE and steps_left(state, gains) > PATIENCE / 2:
            return replace(state, kept=None)
        early = state.kept.steps < max(10.0, cost)  # gains go up and down: steps taken are surer than steps foretold
        if early or steps_left(state, gains) < 2 * (SEEN + cost):
            return state
        some = objective.thin(rows) if 2 * rows < objective.rows.n else objective
        hessian = some.curve(state.w)[2] * (objective.weight / some.weight)
        metric = Metric.of(hessian, objective.m, objective.ridge == 0)
        return self._state(state.w, state.value, Memory.start(metric, False, state.gradient, state.kept.steps))


def steps_left(state: State, gains: tuple[float, ...]) -> float:
    """The number of further steps if the predicted decrease continues to shrink at the same rate. 0 where that is not
    known, as far from the minimum, where a step may gain nearly all there is and no metric helps."""
    size = abs(state.value)
    enough = 1e-10 * size
    if len(gains) < SEEN or not enough < state.gain < 0.1 * size:
        return 0.0
    rate = np.log(gains[0] / state.gain) / len(gains)
    return np.log(state.gain / enough) / rate if rate > 0 else np.inf


def sample_rows(objective: Any) -> int:
    """Rows enough to know the Hessian by."""
    return max(LEAST, 8 * objective.size, objective.rows.n // 16 if objective.m == 1 else 0)


def price(objective: Any, rows: int) -> float:
    """What the Hessian of so many rows costs, in passes over all rows."""
    if objective.size > MOST or not dense(objective):
        return np.inf
    return min(rows, objective.rows.n) / objective.rows.n * objective.size / (15 if objective.m == 1 else 7)


def dense(objective: Any) -> bool:
    """Whether every cell is stored."""
    x = objective.rows.x
    return x.cells == x.n * x.d
