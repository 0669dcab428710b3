"""The online rule θ ← θ + α (y − h(x)) x, a row at a time, with the running average of θ as the answer.

The step α is `speed` over the rows' mean square length, and does not shrink: averaging does what shrinking would (Polyak and
Juditsky 1992; Bach and Moulines 2013), and the answer does not depend on the columns' common unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import loss_ops
from deciban.solvers.base import Smooth, State
from deciban.table import Counts, Reals, Table

SPARSE = 1 << 20  # cells of sparse rows spread out at a time


@dataclass(frozen=True)
class Stream:
    """Where the rule is: the parameters, their average, and {rows, Σ |x|²} so far."""

    coef: np.ndarray  # (m, p)
    mean: np.ndarray
    past: np.ndarray

    @classmethod
    def start(cls, coef: np.ndarray) -> Stream:
        return cls(coef.copy(), coef.copy(), np.zeros(2))

    def read(self, rows: Table, decay: np.ndarray, speed: float = 1.0) -> Stream:
        """After these rows."""
        coef, mean, past = (np.array(a, order="C") for a in (self.coef, self.mean, self.past))
        for chunk in _spread(rows):
            loss_ops.online(chunk.x, chunk.y, chunk.w, speed, decay, coef, mean, past)  # type: ignore[arg-type]
        return Stream(coef, mean, past)


def _spread(rows: Table):
    """Sparse rows a few at a time, since the rule takes them dense."""
    if isinstance(rows.x, Reals):
        yield rows
        return
    assert isinstance(rows.x, Counts)
    many = max(1, SPARSE // rows.d)
    for start in range(0, rows.n, many):
        yield rows.rows(start, min(start + many, rows.n))


@dataclass(frozen=True)
class Sgd(Smooth):
    """Passes over the rows in a random order, each a step."""

    speed: float = 1.0
    seed: Any = None

    def init(self, objective: Any, w: np.ndarray) -> State:
        order = np.random.default_rng(self.seed).permutation(objective.rows.n)
        return self._state(objective, Stream.start(objective.table(w)), order, self.speed, w)

    def step(self, objective: Any, state: State) -> State:
        stream, order, speed = state.kept
        rows = objective.rows
        shuffled = Table(rows.x.take(order), rows.y[order], None if rows.w is None else rows.w[order], rows.k)
        stream = Stream(stream.mean, stream.mean, np.zeros(2)).read(shuffled, objective.ridge / objective.weight, speed)
        there = self._state(objective, stream, order, speed, stream.mean.ravel())
        if there.value < state.value:
            return there
        return replace(state, kept=(state.kept[0], order[::-1], 0.5 * speed), stuck=speed < 1e-3 * self.speed)

    def _state(self, objective: Any, stream: Stream, order: np.ndarray, speed: float, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return State(
            w, value, gradient, np.zeros_like(w), 0.0 if not gradient.any() else np.inf, kept=(stream, order, speed)
        )

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if state.steepness <= tol * objective.weight:
            return "gradient"
        return "precision" if state.stuck else None
