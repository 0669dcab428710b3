"""L1 and elastic net of sparse rows: proximal Newton steps, solved by coordinate descent on the stored cells alone.

    step:  d = argmin  g·d + ½ dᵀHd + Σ lasso |w + d|,   then w ← w + t d with the objective lower

As `coordinate`, but no Hessian is made: a coordinate costs the cells of its column, however many are in use. Far from
the minimum a step is solved for roughly, as the next one starts from better curvature anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.losses import loss_ops
from deciban.solvers.base import State
from deciban.solvers.coordinate import Coordinate, shrunk_search, violation

ROUNDS = 100  # of coordinate descent in one step


@dataclass(frozen=True)
class Columnwise(Coordinate):
    least: float = 1e-3  # of the first round's largest gain: no more than that is left of a step

    def step(self, objective: Any, state: State) -> State:
        ahead, gain = self._direction(objective, state)
        there = shrunk_search(objective, state, ahead, gain)
        if there is None:
            return replace(state, gain=gain, stuck=True)
        w, value, gradient = there
        left, after = state.kept[1], float(violation(objective, w, gradient).max())
        share = min(1.0, after / left) if left > 0 else 0.0  # steps solved roughly shrink what is left in proportion
        return State(w, value, gradient, ahead, gain * share, kept=(None, after, left))

    def _direction(self, objective: Any, state: State) -> tuple[np.ndarray, float]:
        """(step, how much lower the model is there)."""
        w, g, m = state.w, state.gradient, objective.m
        held = np.tile(objective.lasso, m)
        order = np.flatnonzero((w != 0) | (held == 0) | (violation(objective, w, g) > 0)).astype(np.int64)
        q, share = curvature(objective, w)
        d, bent = loss_ops.lasso_columns(
            objective.by_column, q, share, g, w, objective.lasso, objective.ridge, order, self.least, ROUNDS
        )
        return d, -float(g @ d + 0.5 * bent + held @ (np.abs(w + d) - np.abs(w)))


def curvature(objective: Any, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(weight · p, p) of softmax, (weight · p (1 − p), 0) of one margin; (m, n) each."""
    z = np.ascontiguousarray((objective.by_column @ objective.table(w).T).T)
    weight = 1.0 if objective.rows.w is None else objective.rows.w
    if objective.m == 1:
        small = np.exp(-np.abs(z))
        return weight * small / (1.0 + small) ** 2, np.zeros_like(z)
    p = np.exp(z - z.max(axis=0))
    p /= p.sum(axis=0)
    return weight * p, p
