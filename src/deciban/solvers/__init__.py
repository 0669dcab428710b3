"""Parts that make an objective small: each gives `init`, `step` and `done`; `base.solve` is the one loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.losses.folded import Folded
from deciban.solvers.auto import Auto, dense
from deciban.solvers.base import Solution, Solver, solve
from deciban.solvers.columnwise import Columnwise
from deciban.solvers.coordinate import Coordinate
from deciban.solvers.gradient import Gradient
from deciban.solvers.lbfgs import Lbfgs
from deciban.solvers.newton import Newton
from deciban.solvers.newton_cg import NewtonCg
from deciban.solvers.sgd import Sgd

FEW = 1 << 26  # multiplications of a Hessian up to which Newton's method is at once done


def by_shape(objective: Any) -> Solver:
    """Coordinate descent for a lasso, Newton's method where its Hessian costs next to nothing, else `Auto`."""
    rows, size = objective.rows, objective.size
    if objective.lasso.any():
        return by_storage(objective)
    if size <= 512 and (rows.n + size) * size**2 <= FEW and (dense(objective) or rows.d <= 64):
        return Newton()
    return Auto()


def by_storage(objective: Any) -> Solver:
    """Coordinate descent with a Hessian, or on the stored cells where most are not."""
    return Coordinate() if dense(objective) else Columnwise()


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
    "liblinear": by_shape,
    "sag": by_shape,
    "saga": by_shape,
}


def minimise(name: str, objective: Any, w: np.ndarray, tol: float, max_iter: int, watch: Any = None) -> Solution:
    """The solver of this name, run on the objective from w; `watch(steps, state)` is called after each step."""
    small = Folded.where_it_pays(objective)
    if small is not None:
        objective, w = small.objective, small.fold(w)
    answer = solve(SOLVERS[name](objective), objective, w, tol, max_iter, watch)
    answer = replace(answer, w=objective.centred(answer.w))
    if small is None:
        return answer
    return replace(answer, w=small.unfold(answer.w), gradient=small.unfold(answer.gradient), kept=None)
