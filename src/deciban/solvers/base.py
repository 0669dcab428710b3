"""The loop of all solvers, their state, and the reason they stop.

A solver has three methods:

    init(objective, w)            → state
    step(objective, state)        → state
    done(objective, state, tol)   → reason to stop, or None

By default a solver stops if no component of the mean gradient exceeds `tol`, and the next step is predicted to decrease
the value by less than a thousandth of `tol` times the value.

>>> import numpy as np
>>> from deciban.logistic.objective import Objective
>>> from deciban.solvers.newton import Newton
>>> from deciban.data.blocks import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> answer = solve(Newton(), Objective.of(rows, l2=1.0), np.zeros(2), tol=1e-9, max_iter=50)
>>> answer.reason, answer.w.round(4).tolist()
('gradient', [0.6748, -1.3497])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

EPS = np.finfo(np.float64).eps
CONVERGED = ("gradient", "precision")  # reasons of a solver that is at the minimum


@dataclass(frozen=True)
class State:
    """The state of a solver after a step."""

    w: np.ndarray
    value: float
    gradient: np.ndarray
    ahead: np.ndarray  # the next step: to w + ahead
    gain: float  # predicted decrease of the value by the next step
    stuck: bool = False  # whether the line search found no lower point
    internal: Any = field(default=None, repr=False)  # further state of the solver itself

    @property
    def steepness(self) -> float:
        """Largest component of the gradient."""
        return float(np.abs(self.gradient).max(initial=0.0))


@dataclass(frozen=True)
class Solution:
    w: np.ndarray
    reason: str  # "gradient", "precision" (rounding prevents further decrease), "stuck", "diverged" or "max_iter"
    n_iter: int
    value: float
    gradient: np.ndarray = field(repr=False)
    internal: Any = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        return self.reason in CONVERGED


class Solver(Protocol):
    def init(self, objective: Any, w: np.ndarray) -> State: ...
    def step(self, objective: Any, state: State) -> State: ...
    def done(self, objective: Any, state: State, tol: float) -> str | None: ...


class Smooth:
    """Base of the solvers that follow the gradient."""

    def worth(self, state: State) -> float:
        """A step is taken if its predicted decrease exceeds this share of tol · value."""
        return 1e-3

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        size = max(abs(state.value), EPS * objective.weight)  # the loss of separated classes tends to 0
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
    """Step until done; `watch(n_iter, state)` is called at the start and after each step."""
    state, n_iter = solver.init(objective, w), 0
    if watch is not None:
        watch(n_iter, state)
    while (reason := solver.done(objective, state, tol)) is None and n_iter < max_iter:
        state, n_iter = solver.step(objective, state), n_iter + 1
        if watch is not None:
            watch(n_iter, state)
    return Solution(state.w, reason or "max_iter", n_iter, state.value, state.gradient, state.internal)
