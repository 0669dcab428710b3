"""L-BFGS: steps from the last few changes of the gradient, with a preconditioner (metric) M.

By default the metric holds the scale and the weighted mean of each column, so that convergence does not depend on the
units of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deciban.solvers.base import Smooth, State
from deciban.solvers.line_search import axpy_many, dot, dot_many, search


@dataclass(frozen=True)
class Columns:
    """A metric: the curvature of each column alone, after its correlation with the intercept is removed."""

    diagonal: np.ndarray  # (m, p)
    place: np.ndarray | None  # (m, d), the weighted mean of each column; None without an intercept

    @classmethod
    def of(cls, first: np.ndarray, second: np.ndarray, intercept: bool) -> Columns:
        """From Σ curvature · x and Σ curvature · x²."""
        if not intercept:
            return cls(_positive(second), None)
        mass = np.maximum(first[:, -1:], 1e-300)
        place = first[:, :-1] / mass
        inner = np.maximum(second[:, :-1] - place**2 * mass, 1e-12 * second[:, :-1])
        return cls(_positive(np.hstack([inner, second[:, -1:]])), place)

    def solve(self, g: np.ndarray) -> np.ndarray:
        g = g.reshape(self.diagonal.shape)
        if self.place is None:
            return (g / self.diagonal).ravel()
        out = np.empty_like(g)
        np.multiply(self.place, -g[:, -1:], out=out[:, :-1])
        out[:, :-1] += g[:, :-1]
        out[:, -1] = g[:, -1]
        out /= self.diagonal
        out[:, -1] -= np.einsum("cj,cj->c", self.place, out[:, :-1])
        return out.ravel()


def _positive(a: np.ndarray) -> np.ndarray:
    return np.where(a > 0, a, 1.0)


class Memory(NamedTuple):
    """The last few steps s, oldest first, with z = M⁻¹ y for the change y of the gradient in each, and the inner
    products of these with each other and with the gradient g. The recursion of L-BFGS needs only these numbers (Chen,
    Wang and Zhou 2014): two sweeps over the vectors for each step, however many there are."""

    metric: Any  # M
    scaled: bool  # whether the last change gives the metric's scale
    steps: int = 0
    renewed: int = 0  # how often the metric was replaced
    vectors: tuple[np.ndarray, ...] = ()  # s and z in turn
    along: np.ndarray = np.zeros((0, 0))  # s_i · y_j, i ≤ j
    bend: np.ndarray = np.zeros((0, 0))  # y_i · z_j
    gradient: np.ndarray = np.zeros(0)
    turned: np.ndarray = np.zeros(0)  # M⁻¹ g
    ahead: np.ndarray = np.zeros(0)  # (2 · changes,): s_i · g and z_i · g in turn
    gains: tuple[float, ...] = ()  # predicted decrease of the last few steps

    @classmethod
    def start(cls, metric: Any, scaled: bool, gradient: np.ndarray, steps: int = 0, renewed: int = 0) -> Memory:
        return cls(metric, scaled, steps, renewed, gradient=gradient, turned=metric.solve(gradient))

    def after(self, s: np.ndarray, gradient: np.ndarray, most: int) -> Memory:
        """The memory after a step s to a point with this gradient."""
        turned = self.metric.solve(gradient)
        y, z = gradient - self.gradient, turned - self.turned
        ahead = dot_many(self.vectors, gradient)
        size, bend = dot_many((s, z), y)
        here = self._replace(steps=self.steps + 1, gradient=gradient, turned=turned, ahead=ahead)
        if not size > 0:
            return here
        change = ahead - self.ahead  # s_i · y and z_i · y
        return here._replace(
            vectors=(*self.vectors, s, z)[-2 * most :],
            along=_grown(self.along, change[::2], size)[-most:, -most:],
            bend=_grown(self.bend, change[1::2], bend)[-most:, -most:],
            ahead=np.append(ahead, dot_many((s, z), gradient))[-2 * most :],
        )

    def direction(self) -> np.ndarray:
        k, along, sg, zg = len(self.along), self.along, self.ahead[::2], self.ahead[1::2]
        share, more = np.zeros(k), np.zeros(k)
        for i in reversed(range(k)):
            share[i] = (sg[i] - along[i, i + 1 :] @ share[i + 1 :]) / along[i, i]
        scale = along[-1, -1] / self.bend[-1, -1] if self.scaled and k else 1.0
        for i in range(k):
            rest = scale * (zg[i] - self.bend[i] @ share) + along[:i, i] @ more[:i]
            more[i] = share[i] - rest / along[i, i]
        factors = np.column_stack([-more, scale * share]).ravel()
        return axpy_many(-scale * self.turned, factors, self.vectors)


def _grown(a: np.ndarray, edge: np.ndarray, corner: float) -> np.ndarray:
    """a with one more row and column: the edge, and the corner of both."""
    out = np.empty((len(a) + 1, len(a) + 1))
    out[:-1, :-1], out[:-1, -1], out[-1, :-1], out[-1, -1] = a, edge, edge, corner
    return out


SEEN = 6  # steps from which the rate of convergence is estimated
WIDE = 1 << 17  # parameters above which vectors cost more than passes over the rows: half the memory is used


@dataclass(frozen=True)
class Lbfgs(Smooth):
    memory: int = 12

    def worth(self, state: State) -> float:
        """The predicted decrease of one step is a share 1 − rate of the distance to the minimum; before the rate is
        estimated, the metric of single columns underestimates that distance."""
        memory: Memory = state.internal
        if not memory.scaled:
            return 5e-4
        if len(memory.gains) < SEEN or not memory.gains[0] > state.gain:
            return 1e-5
        return 1e-4 * (1.0 - (state.gain / memory.gains[0]) ** (1 / SEEN))

    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient, first, second = objective.slope_and_diagonal(w)
        metric = Columns.of(first, second, objective.intercept)
        return self._state(w, value, Memory.start(metric, True, gradient))

    def step(self, objective: Any, state: State) -> State:
        memory: Memory = state.internal
        there = search(objective, state.w, state.value, state.gradient, state.ahead, objective.along)
        if there is None:
            if memory.vectors:  # clear the memory before giving up
                fresh = Memory.start(memory.metric, memory.scaled, state.gradient, memory.steps, memory.renewed)
                return self._state(state.w, state.value, fresh)
            return replace(state, stuck=True)
        most = self.memory if len(state.w) <= WIDE else self.memory // 2
        after = memory.after(there.w - state.w, there.gradient, most)
        return self._state(there.w, there.value, after._replace(gains=(*memory.gains, state.gain)[-SEEN:]))

    def _state(self, w: np.ndarray, value: float, memory: Memory) -> State:
        ahead, gradient = memory.direction(), memory.gradient
        return State(w, value, gradient, ahead, -0.5 * dot(ahead, gradient), internal=memory)
