"""Gradient descent: on all rows at once, and online, one row at a time.

`Gradient` is batch gradient descent, w ← w − α · gradient, with α by line search. It is for teaching and comparison:
`Newton` and `Lbfgs` need far fewer passes.

`OnlineAverage` is the online rule θ ← θ + α (y − h(x)) x, one row at a time; its result is the running average of θ
(Polyak and Juditsky 1992). The step α is `speed` divided by the mean square length of the rows, so that a common unit
of the columns does not matter. `logistic.minimisation.Scaled` gives columns of different units the same spread first. α
decreases slowly, by (1 + rows / 1000)^−⅓: a constant step leaves a bias in the average, and with one that decreases
faster the start has influence for too long if columns are correlated (Bach and Moulines 2011).

`Sgd` makes several passes of the online rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.data.blocks import Counts, Reals, Table
from deciban.ops import logistic
from deciban.solvers.base import Smooth, State
from deciban.solvers.line_search import search


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
        return State(w, value, gradient, ahead, -0.5 * float(gradient @ ahead), internal=rate)


SPARSE = 1 << 20  # cells of sparse rows spread out at a time


@dataclass(frozen=True)
class OnlineAverage:
    """The state of the online rule: parameters, their average, and {rows, Σ |x|²} so far."""

    coef: np.ndarray  # (m, p)
    mean: np.ndarray
    past: np.ndarray

    @classmethod
    def start(cls, coef: np.ndarray) -> OnlineAverage:
        return cls(coef.copy(), coef.copy(), np.zeros(2))

    def read(self, rows: Table, decay: np.ndarray, speed: float = 1.0) -> OnlineAverage:
        """The state after these rows."""
        coef, mean, past = (np.array(a, order="C") for a in (self.coef, self.mean, self.past))
        for chunk in _spread(rows):
            logistic.online(chunk.x, chunk.y, chunk.w, speed, decay, coef, mean, past)
        return OnlineAverage(coef, mean, past)


def squared_lengths(rows: Table, intercept: bool) -> np.ndarray:
    """|x|² of each row, (n,), with the 1 of an intercept."""
    x = rows.x
    if isinstance(x, Counts):
        return np.bincount(x.row_of(), np.asarray(x.stored, dtype=np.float64) ** 2, minlength=x.n) + intercept
    assert isinstance(x, Reals)
    return np.square(np.asarray(x.values, dtype=np.float64)).sum(axis=1) + intercept


def _spread(rows: Table):
    """Sparse rows in small chunks, since the rule makes them dense."""
    if isinstance(rows.x, Reals):
        yield rows
        return
    assert isinstance(rows.x, Counts)
    many = max(1, SPARSE // rows.d)
    for start in range(0, rows.n, many):
        yield rows.rows(start, min(start + many, rows.n))


@dataclass(frozen=True)
class Sgd(Smooth):
    """Passes of the online rule over shuffled rows; one step is one pass.

    The result is the average of the parameters at the ends of passes, with weight t for pass t. The step of the rule
    decreases by passes^−⅓, slowly enough for directions of little curvature. The mean square length of all rows is
    known from the start: with that of the rows so far, the first rows of a pass would have steps that depend on their
    own lengths, and the limit would be another point than the minimum.
    """

    speed: float = 1.0
    seed: int = 0

    def init(self, objective: Any, w: np.ndarray) -> State:
        rows, intercept = objective.rows, objective.p > objective.d
        past = np.array([rows.n, squared_lengths(rows, intercept).sum()])
        return self._state(objective, w, objective.table(w), 0, past)

    def step(self, objective: Any, state: State) -> State:
        rows, (coef, passes, past) = objective.rows, state.internal
        order = np.random.default_rng([self.seed, passes]).permutation(rows.n)
        shuffled = Table(rows.x.take(order), rows.y[order], None if rows.w is None else rows.w[order], rows.k)
        decay, speed = objective.ridge / objective.weight, self.speed / np.cbrt(1.0 + passes)
        coef = OnlineAverage(coef, coef, past).read(shuffled, decay, speed).coef
        return self._state(objective, state.w + 2.0 / (passes + 2.0) * (coef.ravel() - state.w), coef, passes + 1, past)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        return "gradient" if state.steepness <= tol * objective.weight else None

    def _state(self, objective: Any, w: np.ndarray, coef: np.ndarray, passes: int, past: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return State(w, value, gradient, np.zeros_like(w), np.inf, internal=(coef, passes, past))
