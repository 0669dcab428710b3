"""The loop of all solvers, its state, and its stopping reason.

A part has `init(objective, w) → state`, `step(objective, state) → state`, `done(objective, state, tol) → why | None`.
By default a state is done when no cell of the mean gradient is over `tol` and the step ahead promises to gain less than
a thousandth of `tol` of the value.

>>> import numpy as np
>>> from deciban.logistic.objective import Objective
>>> from deciban.solvers.newton import Newton
>>> from deciban.data.blocks import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> answer = solve(Newton(), Objective.of(rows, l2=1.0), np.zeros(2), tol=1e-9, max_iter=50)
>>> answer.why, answer.w.round(4).tolist()
('gradient', [0.6748, -1.3497])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

EPS = np.finfo(np.float64).eps
CONVERGED = ("gradient", "precision")  # reasons that mean: at the minimum


@dataclass(frozen=True)
class State:
    """Where a solver is. `ahead` (w + ahead is where it goes next) and the gain expected there; `kept` is its own."""

    w: np.ndarray
    value: float
    gradient: np.ndarray
    ahead: np.ndarray
    gain: float
    stuck: bool = False
    kept: Any = field(default=None, repr=False)

    @property
    def steepness(self) -> float:
        return float(np.abs(self.gradient).max(initial=0.0))


@dataclass(frozen=True)
class Solution:
    w: np.ndarray
    why: str  # "gradient", "precision" (no more digits to gain), "stuck" or "max_iter"
    steps: int
    value: float
    gradient: np.ndarray = field(repr=False)
    kept: Any = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        return self.why in CONVERGED


class Solver(Protocol):
    def init(self, objective: Any, w: np.ndarray) -> State: ...
    def step(self, objective: Any, state: State) -> State: ...
    def done(self, objective: Any, state: State, tol: float) -> str | None: ...


class Smooth:
    """Base of the solvers that follow the gradient."""

    def worth(self, state: State) -> float:
        """The share of tol · value that a step must promise to be taken."""
        return 1e-3

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        size = max(abs(state.value), EPS * objective.weight)  # separated classes have a loss of 0 in the end
        if state.steepness <= tol * objective.weight and state.gain <= self.worth(state) * tol * size:
            return "gradient"
        if state.gain <= EPS**1.25 * size or (state.stuck and state.gain <= 1e-11 * size):
            return "precision"
        return "stuck" if state.stuck else None


def solve(
    solver: Solver,
    objective: Any,
    w: np.ndarray,
    tol: float,
    max_iter: int,
    watch: Callable[[int, State], Any] | None = None,
) -> Solution:
    """Step until done; `watch(steps, state)` is called after each."""
    state, steps = solver.init(objective, w), 0
    while (why := solver.done(objective, state, tol)) is None and steps < max_iter:
        state, steps = solver.step(objective, state), steps + 1
        if watch is not None:
            watch(steps, state)
    return Solution(state.w, why or "max_iter", steps, state.value, state.gradient, state.kept)
