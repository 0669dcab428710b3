"""Newton's method without the Hessian: its products with vectors suffice to solve for the step (conjugate gradients).

As far from the minimum as the gradient says, a rough step does; near it the step is solved for the better (Eisenstat
and Walker 1996).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.solvers.base import Smooth, State
from deciban.solvers.lbfgs import Columns
from deciban.solvers.search import search
from deciban.vectors import dot


def conjugate(product: Any, metric: Any, g: np.ndarray, share: float, most: int) -> np.ndarray:
    """d with |H d + g| ≤ share · |g|, or where most steps have led."""
    d, rest = np.zeros_like(g), -g
    z = metric.solve(rest)
    ahead, size = z, dot(rest, z)
    enough = share**2 * size
    for _ in range(most):
        turned = product(ahead)
        bend = dot(ahead, turned)
        if not bend > 0:
            return d if d.any() else z
        t = size / bend
        d, rest = d + t * ahead, rest - t * turned
        z = metric.solve(rest)
        size, before = dot(rest, z), size
        if size <= enough:
            break
        ahead = z + (size / before) * ahead
    return d


@dataclass(frozen=True)
class NewtonCg(Smooth):
    most: int = 200  # products for one step

    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return State(w, value, gradient, np.zeros_like(w), np.inf)

    def step(self, objective: Any, state: State) -> State:
        first, second = objective.diagonal(state.w)
        metric = Columns.of(first, second, objective.intercept)
        size = 0.5 * dot(state.gradient, metric.solve(state.gradient))
        share = min(0.3, np.sqrt(size / max(abs(state.value), 1e-300)))
        ahead = conjugate(lambda v: objective.product(state.w, v), metric, state.gradient, share, self.most)
        gain = -0.5 * dot(state.gradient, ahead)
        there = search(objective, state.w, state.value, state.gradient, ahead)
        if there is None:
            return replace(state, gain=gain, stuck=True)
        # the metric sees too little curvature or too much; the last step tells how much
        seen = 0.5 * dot(there.gradient, metric.solve(there.gradient)) * max(1.0, gain / max(size, 1e-300))
        return State(*there, ahead, seen)
