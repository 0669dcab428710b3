"""Few passes over rows that lie elsewhere: a sample of them is here, and its minimum is where to start.

Newton's method where the Hessian is small beside the rows (the pass for the gradient brings it along, so a step is one
pass), else L-BFGS in the metric of the sample's Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.losses.far import Far
from deciban.solvers.auto import MOST, Auto, Rough
from deciban.solvers.base import Solution, State, solve
from deciban.solvers.coordinate import Coordinate
from deciban.solvers.lbfgs import Memory
from deciban.solvers.newton import Metric, Newton

NARROW = 512  # parameters up to which a pass for the Hessian takes little longer than one for the gradient
DIGITS = 1e-9  # Newton's method doubles the digits with each pass: one more settles them


@dataclass(frozen=True)
class BySample(Auto):
    whole: int = 1 << 10  # 8 MB from every partition

    def init(self, objective: Far, w: np.ndarray) -> State:
        some = objective.sample
        if objective.size > MOST or not w.any():
            return super().init(objective, w)
        metric = Metric.of(some.curve(w)[2] * (objective.weight / some.weight), objective.m, objective.ridge == 0)
        value, gradient = objective.slope(w)
        return self._state(w, value, Memory.start(metric, False, gradient))


def started(far: Far) -> np.ndarray:
    """The sample's minimum; zeros where it has none, costs more than it saves, or is worse for all rows."""
    zeros = np.zeros(far.size)
    if far.size > MOST or far.lasso.any():
        return zeros
    with np.errstate(all="ignore"):
        w = solve(Rough(), far.sample, zeros, 1e-4, 30).w
    if not np.isfinite(w).all():
        return zeros
    even = far.weight * np.log(far.rows.k)  # the loss where nothing is known
    return w if far.slope(w)[0] < 0.9 * even else zeros


def minimise(name: str, far: Far, tol: float, max_iter: int, watch: Any = None) -> Solution:
    """The minimum over rows that lie elsewhere; `name` as in `solvers`, "auto" takes what needs the fewest passes."""
    from deciban import solvers

    if far.lasso.any():
        answer = solve(Coordinate(), far, np.zeros(far.size), tol, max_iter, watch)
    elif name not in ("auto", "liblinear", "sag", "saga"):
        answer = solve(solvers.SOLVERS[name](far), far, started(far), tol, max_iter, watch)
    elif far.size <= NARROW:
        far = replace(far, bent=True)
        answer = solve(Newton(), far, started(far), min(tol, DIGITS), max_iter, watch)
    else:
        answer = solve(BySample(), far, started(far), tol, max_iter, watch)
    return replace(answer, w=far.centred(answer.w))
