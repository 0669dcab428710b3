"""L-BFGS: a step from the last few changes of the gradient, in a metric of the objective's own.

The metric is what one knows of the curvature beforehand: here the scale and the place of every column, so that columns
of any unit converge alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deciban.solvers.base import Smooth, State
from deciban.solvers.search import search


@dataclass(frozen=True)
class Columns:
    """The curvature of one column at a time, after what it shares with the intercept."""

    diagonal: np.ndarray  # (m, p)
    place: np.ndarray | None  # (m, d), the weighted mean of each column; None without an intercept

    @classmethod
    def of(cls, objective: Any, w: np.ndarray) -> Columns:
        first, second = objective.diagonal(w)
        if not objective.intercept:
            return cls(_positive(second), None)
        mass = np.maximum(first[:, -1:], 1e-300)
        place = first[:, :-1] / mass
        second[:, :-1] = np.maximum(second[:, :-1] - place**2 * mass, 1e-12 * second[:, :-1])
        return cls(_positive(second), place)

    def solve(self, g: np.ndarray) -> np.ndarray:
        g = g.reshape(self.diagonal.shape)
        if self.place is None:
            return (g / self.diagonal).ravel()
        out = g.copy()
        out[:, :-1] -= self.place * g[:, -1:]
        out /= self.diagonal
        out[:, -1] -= np.einsum("cj,cj->c", self.place, out[:, :-1])
        return out.ravel()


def _positive(a: np.ndarray) -> np.ndarray:
    return np.where(a > 0, a, 1.0)


class Memory(NamedTuple):
    metric: Any
    scaled: bool  # whether the last change tells the metric's size
    changes: tuple  # (step, change of the gradient, 1 / their product), the oldest first
    steps: int = 0

    def direction(self, g: np.ndarray) -> np.ndarray:
        shares, g = [], g.copy()
        for s, y, over in reversed(self.changes):
            share = over * float(s @ g)
            g -= share * y
            shares.append(share)
        out = self.metric.solve(g)
        if self.scaled and self.changes:
            _, y, over = self.changes[-1]
            out *= 1.0 / (over * float(y @ self.metric.solve(y)))
        for (s, y, over), share in zip(self.changes, reversed(shares), strict=True):
            out += (share - over * float(y @ out)) * s
        return -out


@dataclass(frozen=True)
class Lbfgs(Smooth):
    memory: int = 12

    def worth(self, state: State) -> float:
        return (
            1e-5 if state.kept.scaled else 5e-4
        )  # a metric of single columns sees too little of what there is to gain

    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return self._state(w, value, gradient, Memory(Columns.of(objective, w), True, ()))

    def step(self, objective: Any, state: State) -> State:
        memory: Memory = state.kept
        there = search(objective, state.w, state.value, state.gradient, state.ahead)
        if there is None:
            if memory.changes:  # start the memory anew before giving up
                return self._state(state.w, state.value, state.gradient, memory._replace(changes=()))
            return replace(state, stuck=True)
        s, y = there.w - state.w, there.gradient - state.gradient
        along, changes = float(s @ y), memory.changes
        if along > 0:
            changes = (*changes, (s, y, 1.0 / along))[-self.memory :]
        return self._state(*there, memory._replace(changes=changes, steps=memory.steps + 1))

    def _state(self, w: np.ndarray, value: float, gradient: np.ndarray, memory: Memory) -> State:
        ahead = memory.direction(gradient)
        return State(w, value, gradient, ahead, -0.5 * float(gradient @ ahead), kept=memory)
