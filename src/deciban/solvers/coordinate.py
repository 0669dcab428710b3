"""L1 and elastic net: proximal Newton steps, each solved by coordinate descent.

    step:  d = argmin  g·d + ½ dᵀHd + Σ lasso |w + d|,   then w ← w + t d with the objective lower

`Coordinate` is for dense rows: it forms the Hessian of a working set of columns. A column whose coefficient is 0 stays
out of the working set while its gradient is smaller than the lasso. The Hessian, first that of a sample of rows, is
kept as long as steps with it converge fast enough.

`Columnwise` is for sparse rows: it forms no Hessian, and reads only the stored cells of a column. Far from the minimum
a step is solved roughly, since the curvature changes with the next step anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deciban.ops import logistic
from deciban.solvers.base import EPS, State

MOST = 2000  # largest number of parameters of a working set


class Model(NamedTuple):
    columns: np.ndarray  # in the working set
    hessian: np.ndarray  # of their parameters, (m · columns, m · columns)
    exact: bool  # of all rows


@dataclass(frozen=True)
class Coordinate:
    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        left = violation(objective, w, gradient)
        return State(
            w, value + penalty(objective, w), gradient, np.zeros_like(w), np.inf, internal=(None, left.max(), np.inf)
        )

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        size, left = abs(state.value), state.internal[1]
        if left <= tol * objective.weight and (state.gain <= 1e-4 * tol * size or left == 0):
            return "gradient"
        if state.gain <= EPS**1.25 * size or (state.stuck and state.gain <= 1e-11 * size):
            return "precision"
        return "stuck" if state.stuck else None

    def step(self, objective: Any, state: State) -> State:
        model, left, before = state.internal
        columns = working_set(objective, state.w, state.gradient)
        if model is None or (left > 0.2 * before) or not np.isin(columns, model.columns).all():
            model = make_model(objective, state.w, columns, model is None)
        ahead, gain = direction(objective, model, state)
        there = shrunk_search(objective, state, ahead, gain)
        if there is None:
            if not model.exact:  # retry with the Hessian of all rows
                return replace(
                    state, internal=(make_model(objective, state.w, columns, False), left, np.inf), gain=np.inf
                )
            return replace(state, gain=gain, stuck=True)
        w, value, gradient = there
        after = float(violation(objective, w, gradient).max())
        # steps with one Hessian converge at a constant rate, which predicts the next decrease
        share = min(1.0, (after / left) ** 2) if left > 0 else 0.0
        return State(w, value, gradient, ahead, gain * share, internal=(model, after, left))


def penalty(objective: Any, w: np.ndarray) -> float:
    return float((np.abs(objective.table(w)) @ objective.lasso).sum())


def violation(objective: Any, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Distance of 0 from the subgradient of each parameter, (m · p,); 0 at the minimum."""
    coef, g = objective.table(w), objective.table(gradient)
    at_zero = np.maximum(np.abs(g) - objective.lasso, 0.0)
    return np.where(coef == 0, at_zero, np.abs(g + objective.lasso * np.sign(coef))).ravel()


def working_set(objective: Any, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Columns with coefficients other than 0, and those that violate the optimality condition most."""
    left = objective.table(violation(objective, w, gradient)).max(axis=0)
    used = (objective.table(w) != 0).any(axis=0) | (objective.lasso == 0)
    wanted = np.flatnonzero(~used & (left > 0))
    most = max(MOST // objective.m - int(used.sum()), 10)
    if len(wanted) > most:
        wanted = wanted[np.argpartition(-left[wanted], most)[:most]]
    return np.union1d(np.flatnonzero(used), wanted)


def make_model(objective: Any, w: np.ndarray, columns: np.ndarray, rough: bool) -> Model:
    some = objective
    rows = max(2048, 4 * objective.m * len(columns))
    if rough and 4 * rows < objective.n:
        some = objective.subsample(rows)
    if len(columns) < 0.8 * objective.p:
        some = some.columns(columns)
    else:
        columns = np.arange(objective.p)
    part = objective.table(w)[:, columns].ravel()
    hessian = some.curve(part)[2] * (objective.weight / some.weight)
    return Model(columns, hessian, some.n == objective.n)


def direction(objective: Any, model: Model, state: State) -> tuple[np.ndarray, float]:
    """(step, decrease of the quadratic model)."""
    at, m = model.columns, objective.m
    g, w = (np.ascontiguousarray(objective.table(a)[:, at].ravel()) for a in (state.gradient, state.w))
    lasso = np.tile(objective.lasso[at], m)
    d, turn = logistic.lasso_descent(model.hessian, g, w, lasso, 1e-24 * abs(state.value) + EPS**2, 2000)
    ahead = np.zeros((m, objective.p))
    ahead[:, at] = d.reshape(m, -1)
    gain = -float(g @ d + 0.5 * turn @ d + lasso @ (np.abs(w + d) - np.abs(w)))
    return ahead.ravel(), gain


def shrunk_search(objective: Any, state: State, ahead: np.ndarray, gain: float) -> tuple | None:
    """The first of w + ahead, w + ahead / 2, … where the value has decreased enough."""
    noise, t = 16 * EPS * abs(state.value), 1.0
    if not gain > 0:
        return None
    for _ in range(30):
        w = state.w + t * ahead
        value, gradient = objective.slope(w)
        value += penalty(objective, w)
        if value <= state.value - 1e-3 * t * gain or (gain <= 4 * noise and value <= state.value + noise):
            return w, value, gradient
        t *= 0.5
    return None


ROUNDS = 100  # of coordinate descent in one step


@dataclass(frozen=True)
class Columnwise(Coordinate):
    least: float = 1e-3  # a step is solved until the largest decrease of a round is this share of the first round's

    def step(self, objective: Any, state: State) -> State:
        ahead, gain = self._direction(objective, state)
        there = shrunk_search(objective, state, ahead, gain)
        if there is None:
            return replace(state, gain=gain, stuck=True)
        w, value, gradient = there
        left, after = state.internal[1], float(violation(objective, w, gradient).max())
        share = min(1.0, after / left) if left > 0 else 0.0  # rough steps converge linearly
        return State(w, value, gradient, ahead, gain * share, internal=(None, after, left))

    def _direction(self, objective: Any, state: State) -> tuple[np.ndarray, float]:
        """(step, decrease of the quadratic model)."""
        w, g, m = state.w, state.gradient, objective.m
        held = np.tile(objective.lasso, m)
        order = np.flatnonzero((w != 0) | (held == 0) | (violation(objective, w, g) > 0)).astype(np.int64)
        q, share = curvature(objective, w)
        d, bent = logistic.lasso_columns(
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
