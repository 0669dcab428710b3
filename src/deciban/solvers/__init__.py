"""Parts that make an objective small: each gives `init`, `step` and `done`; `base.solve` is the one loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.solvers.auto import Auto, dense
from deciban.solvers.base import Solution, Solver, solve
from deciban.solvers.lbfgs import Lbfgs
from deciban.solvers.newton import Newton

FEW = 1 << 26  # multiplications of a Hessian up to which Newton's method is at once done


def by_shape(objective: Any) -> Solver:
    """Newton's method where its Hessian costs next to nothing, else `Auto`."""
    rows = objective.rows
    if objective.size <= 512 and (rows.n + objective.size) * objective.size**2 <= FEW and (dense(objective) or rows.d <= 64):
        return Newton()
    return Auto()


SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "auto": by_shape,
    "newton": lambda _: Newton(),
    "lbfgs": lambda _: Lbfgs(),
    "newton-cholesky": lambda _: Newton(),
    "liblinear": by_shape,
    "sag": by_shape,
    "saga": by_shape,
}


def minimise(name: str, objective: Any, w: np.ndarray, tol: float, max_iter: int, random_state: Any = None) -> Solution:
    """The solver of this name, run on the objective from w."""
    answer = solve(SOLVERS[name](objective), objective, w, tol, max_iter)
    return replace(answer, w=objective.centred(answer.w))
