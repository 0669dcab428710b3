"""Batch gradient descent: w ← w − α · gradient, the rule of the lectures; α is searched for, and kept while it does.

For teaching and comparison: `newton` and `lbfgs` need far fewer passes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.solvers.base import Smooth, State
from deciban.solvers.search import search


@dataclass(frozen=True)
class Gradient(Smooth):
    def init(self, objective: Any, w: np.ndarray) -> State:
        _, second = objective.diagonal(w)
        value, gradient = objective.slope(w)
        return self._state(w, value, gradient, 1.0 / max(float(second.sum(axis=1).max()), 1e-300))

    def step(self, objective: Any, state: State) -> State:
        there = search(objective, state.w, state.value, state.gradient, state.ahead)
        if there is None:
            return replace(state, stuck=True)
        moved = float(np.linalg.norm(there.w - state.w)) / max(float(np.linalg.norm(state.gradient)), 1e-300)
        return self._state(*there, 1.5 * moved)

    def _state(self, w: np.ndarray, value: float, gradient: np.ndarray, rate: float) -> State:
        ahead = -rate * gradient
        return State(w, value, gradient, ahead, -0.5 * float(gradient @ ahead), kept=rate)
