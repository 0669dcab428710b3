"""Parts that make an objective small: each gives `init`, `step` and `done`; `base.solve` is the one loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.losses.folded import Folded
from deciban.solvers.auto import Auto, dense
from deciban.solvers.base import EPS, Solution, Solver, solve
from deciban.solvers.columnwise import Columnwise
from deciban.solvers.coordinate import Coordinate
from deciban.solvers.gradient import Gradient
from deciban.solvers.lbfgs import Lbfgs
from deciban.solvers.newton import Metric, Newton
from deciban.solvers.newton_cg import NewtonCg
from deciban.solvers.sgd import Scaled, Sgd

FEW = 1 << 26  # multiplications of a Hessian up to which Newton's method is at once done
MANY = 1 << 34  # multiplications of a Hessian up to which an estimate without penalty is finished by Newton's method
LAST = 5  # Newton steps that finish an answer, at most; two are usual, as each doubles the digits


def by_shape(objective: Any) -> Solver:
    """Coordinate descent for a lasso, Newton's method where its Hessian costs next to nothing, else `Auto`."""
    if objective.lasso.any():
        return by_storage(objective)
    return Newton() if small(objective) else Auto()


def small(objective: Any) -> bool:
    """Whether the Hessian costs next to nothing."""
    rows, size = objective.rows, objective.size
    return size <= 512 and (rows.n + size) * size**2 <= FEW and (dense(objective) or rows.d <= 64)


def by_storage(objective: Any) -> Solver:
    """Coordinate descent with a Hessian, or on the stored cells where most are not."""
    return Coordinate() if dense(objective) else Columnwise()


BY_SHAPE = ("auto", "liblinear", "sag", "saga")
FINISHED = (*BY_SHAPE, "newton", "newton-cholesky")  # solvers whose answers Newton steps finish
SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "auto": by_shape,
    "newton": lambda _: Newton(),
    "newton-cg": lambda _: NewtonCg(),
    "lbfgs": lambda _: Lbfgs(),
    "coordinate": by_storage,
    "gradient": lambda _: Gradient(),
    "sgd": lambda _: Sgd(),
    # scikit-learn's names for what is the same here, or has the same minimum
    "newton-cholesky": lambda _: Newton(),
    **dict.fromkeys(BY_SHAPE[1:], by_shape),
}


def minimise(name: str, objective: Any, w: np.ndarray, tol: float, max_iter: int, watch: Any = None) -> Solution:
    """The solver of this name, run on the objective from w; `watch(steps, state)` is called after each step."""
    folded = Scaled.of(objective) if name == "sgd" else Folded.where_it_pays(objective)
    if folded is not None:
        objective, w = folded.objective, folded.fold(w)
    answer = solve(SOLVERS[name](objective), objective, w, tol, max_iter, watch)
    answer = replace(answer, w=objective.centred(answer.w))
    if folded is None:
        return answer
    return replace(answer, w=folded.unfold(answer.w), gradient=folded.unfold_gradient(answer.gradient), kept=None)


def finish(name: str, objective: Any, answer: Solution, max_iter: int, watch: Any = None) -> Solution:
    """An answer that is within `tol`, taken on to rounding by a few Newton steps: where the Hessian costs little, or
    where there is no penalty and it is affordable, as estimates by maximum likelihood are compared digit by digit.
    Answers of other solvers, which may be meant to stop where they do, are returned as they are."""
    rows, size = objective.rows, objective.size
    free = not objective.ridge.any() and dense(objective) and rows.n * size**2 <= MANY
    left = min(LAST, max_iter - answer.steps)
    if name not in FINISHED or objective.lasso.any() or not answer.converged or not (free or small(objective)):
        return answer
    if isinstance(answer.kept, Metric) and answer.kept.gain(answer.gradient) <= EPS**1.25 * abs(answer.value):
        return answer
    on = None if watch is None else lambda steps, state: watch(answer.steps + steps, state)
    more = solve(Newton(), objective, answer.w, 0.0, left, on)
    if more.steps == 0 or not more.value <= answer.value + abs(answer.value) * 1e-12:
        return answer
    return replace(more, w=objective.centred(more.w), why=answer.why, steps=answer.steps + more.steps)
