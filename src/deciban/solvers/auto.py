"""L-BFGS, preconditioned by the Hessian of a sample of the rows where that pays.

The relative error of the Hessian of a sample is about √(parameters / rows). With it as preconditioner, a step reduces
the distance to the minimum by about that factor. It is used only if it costs no more than a few passes over all rows.
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
    """Newton's method on a sample. It stops early: the sampling error of the minimum is larger than the rest."""

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        return "gradient" if state.gain <= 0.02 * len(state.w) else super().done(objective, state, tol)


MOST = 4000  # largest number of parameters whose Hessian is factorised
LEAST = 1 << 13  # rows of a sample
PATIENCE = 40  # steps after which L-BFGS counts as slow


@dataclass(frozen=True)
class SubsampledLbfgs(Lbfgs):
    """L-BFGS that is preconditioned by the Hessian of a sample.

    If the minimum of the sample costs no more than a few passes over all rows, it is the start. Otherwise plain L-BFGS
    runs first, and the preconditioner is computed once L-BFGS has taken as long, and is predicted to take far longer.
    While convergence is slow, it is replaced by the Hessian at the present point, of rows that have most of the
    curvature there (`Objective.hessian_estimate`): of so many, then of four times as many, at last of all rows. If
    there are too many parameters for a Hessian, Newton's method by conjugate gradients takes over.
    """

    cheap: float = 6.0  # largest cost of the minimum of a sample, in passes over all rows
    whole: int = MOST  # largest number of parameters for which the Hessian of all rows is computed
    samples: int = 3  # how many samples, each four times as large, come before the Hessian of all rows

    def init(self, objective: Any, w: np.ndarray) -> State:
        rows = sample_size(objective)
        if 2 * rows > objective.n or 5 * hessian_cost(objective, rows) > self.cheap:
            return super().init(objective, w)
        some = objective.subsample(rows)
        start = solve(RoughNewton(), some, w, tol=1e-4, max_iter=30)
        metric: Metric | None = start.internal
        if metric is None or not np.isfinite(start.value):
            return super().init(objective, w)
        scale = metric.scale / np.sqrt(objective.weight / some.weight)
        metric = replace(metric, scale=scale)
        value, gradient = objective.slope(start.w)
        return self._state(start.w, value, Memory.start(metric, False, gradient))

    def worth(self, state: State) -> float:
        return NewtonCg().worth(state) if state.internal is None else super().worth(state)

    def step(self, objective: Any, state: State) -> State:
        if state.internal is None:
            return NewtonCg().step(objective, state)
        state = super().step(objective, state)
        memory = state.internal
        gains, scaled, renewed = memory.gains, memory.scaled, memory.renewed
        rows = objective.n if renewed >= self.samples else min(objective.n, sample_size(objective) << 2 * renewed)
        if 2 * rows >= objective.n and not scaled and objective.size > self.whole:
            return state
        cost = 1.0 + hessian_cost(objective, rows)
        if cost == np.inf and memory.steps >= PATIENCE and steps_left(state, gains) > PATIENCE / 2:
            return replace(state, internal=None)
        if memory.steps < max(10.0, cost) or steps_left(state, gains) < 2 * (SEEN + cost):
            return state
        metric = Metric.of(objective.hessian_estimate(state.w, rows), objective.m, objective.ridge == 0)
        return self._state(state.w, state.value, Memory.start(metric, False, state.gradient, memory.steps, renewed + 1))


def steps_left(state: State, gains: tuple[float, ...]) -> float:
    """The number of further steps if the predicted decrease continues to shrink at the same rate. 0 if the rate is not
    known yet, and far from the minimum, where no preconditioner helps."""
    size = abs(state.value)
    enough = 1e-10 * size
    if len(gains) < SEEN or not enough < state.gain < 0.1 * size:
        return 0.0
    rate = np.log(gains[0] / state.gain) / len(gains)
    return np.log(state.gain / enough) / rate if rate > 0 else np.inf


def sample_size(objective: Any) -> int:
    """Number of rows of a sample whose Hessian is accurate enough."""
    return max(LEAST, 8 * objective.size, objective.n // 16 if objective.m == 1 else 0)


def hessian_cost(objective: Any, rows: int) -> float:
    """The cost of the Hessian of so many rows, in passes over all rows."""
    if objective.size > MOST or not objective.dense:
        return np.inf
    return min(rows, objective.n) / objective.n * objective.size / (15 if objective.m == 1 else 7)
