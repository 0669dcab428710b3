"""Minimisation of the objective: choice of the solver, scaling of columns, and starting point.

Rows that are not in memory are read in as few passes as possible: a sample is in memory, and its minimum is the start.
Then Newton's method where the Hessian is small compared with the rows (the pass for the gradient brings it along, so a
step is one pass), else L-BFGS in the metric of the sample's Hessian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.data.blocks import Counts, Reals
from deciban.logistic.objective import Objective, ObjectiveElsewhere, ReducedObjective
from deciban.solvers.auto import MOST, RoughNewton, SubsampledLbfgs, dense
from deciban.solvers.base import EPS, Solution, Solver, State, solve
from deciban.solvers.coordinate import Columnwise, Coordinate
from deciban.solvers.gradient import Gradient, Sgd
from deciban.solvers.lbfgs import Lbfgs, Memory
from deciban.solvers.newton import Metric, Newton, NewtonCg

FEW = 1 << 26  # multiplications of a Hessian up to which Newton's method is at once done
MANY = 1 << 34  # multiplications of a Hessian up to which an estimate without penalty is finished by Newton's method
LAST = 5  # Newton steps that finish an answer, at most; two are usual, as each doubles the digits


def by_shape(objective: Any) -> Solver:
    """Coordinate descent for a lasso, Newton's method where its Hessian costs next to nothing, else
    `SubsampledLbfgs`."""
    if objective.lasso.any():
        return by_storage(objective)
    return Newton() if small(objective) else SubsampledLbfgs()


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
    """The solver of this name, run on the objective from w; `watch(n_iter, state)` is called after each step."""
    folded = Scaled.of(objective) if name == "sgd" else ReducedObjective.where_it_pays(objective)
    if folded is not None:
        objective, w = folded.objective, folded.fold(w)
    answer = solve(SOLVERS[name](objective), objective, w, tol, max_iter, watch)
    answer = replace(answer, w=objective.centred(answer.w))
    if folded is None:
        return answer
    return replace(answer, w=folded.unfold(answer.w), gradient=folded.unfold_gradient(answer.gradient), internal=None)


def finish(name: str, objective: Any, answer: Solution, max_iter: int, watch: Any = None) -> Solution:
    """An answer that is within `tol`, taken on to rounding by a few Newton steps: where the Hessian costs little, or
    where there is no penalty and it is affordable, as estimates by maximum likelihood are compared digit by digit.
    Answers of other solvers, which may be meant to stop where they do, are returned as they are."""
    rows, size = objective.rows, objective.size
    free = not objective.ridge.any() and dense(objective) and rows.n * size**2 <= MANY
    left = min(LAST, max_iter - answer.n_iter)
    if name not in FINISHED or objective.lasso.any() or not answer.converged or not (free or small(objective)):
        return answer
    if isinstance(answer.internal, Metric) and answer.internal.gain(answer.gradient) <= EPS**1.25 * abs(answer.value):
        return answer
    on = None if watch is None else lambda n_iter, state: watch(answer.n_iter + n_iter, state)
    more = solve(Newton(), objective, answer.w, 0.0, left, on)
    if more.n_iter == 0 or not more.value <= answer.value + abs(answer.value) * 1e-12:
        return answer
    return replace(more, w=objective.centred(more.w), reason=answer.reason, n_iter=answer.n_iter + more.n_iter)


@dataclass(frozen=True)
class Scaled:
    """The objective of columns that are divided by the root of their curvature (their standard deviation, where there
    is no penalty), after their mean is taken away where an intercept makes up for it and every cell is stored. The loss
    and the penalty stay the same numbers."""

    objective: Objective
    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)

    @classmethod
    def of(cls, objective: Objective) -> Scaled:
        """
        >>> from deciban.data.blocks import Table
        >>> rows = Table(Reals(np.array([[100.0], [300.0]])), np.array([0, 1], dtype=np.int32), None, 2)
        >>> scaled = Scaled.of(Objective.of(rows))
        >>> scaled.objective.x.dense().tolist(), scaled.unfold(np.array([1.0, 0.5])).tolist()
        ([[-1.0], [1.0]], [0.01, -1.5])
        """
        x, d, w = objective.x, objective.rows.d, objective.rows.w
        share = np.full(x.n, 1.0 / x.n) if w is None else w / w.sum()
        penalty = (
            4.0 * objective.ridge[:d] / objective.weight
        )  # as curvature: a row has a quarter of its square at most
        if isinstance(x, Reals):
            cells = np.asarray(x.values, dtype=np.float64)
            mean = share @ cells if objective.intercept else np.zeros(d)
            scale = _positive_root(share @ (cells - mean) ** 2, mean**2, penalty)
            scaled: Reals | Counts = Reals((cells - mean) / scale)
        else:
            cells, columns, mean = np.asarray(x.stored, dtype=np.float64), x.column_of(), np.zeros(d)
            scale = _positive_root(np.bincount(columns, share[x.row_of()] * cells**2, minlength=d), mean, penalty)
            scaled = Counts(x.indptr - x.indptr[0], columns, cells / scale[columns], d)
        by = np.append(scale, 1.0) if objective.intercept else scale
        rows = replace(objective.rows, x=scaled)
        return cls(Objective(rows, objective.ridge / by**2, objective.lasso / by), mean, scale)

    def fold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the columns as they are as those of the scaled columns."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, d:] += (table[:, :d] @ self.mean)[:, None]
        table[:, :d] *= self.scale
        return table.ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the scaled columns as those of the columns as they are."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, :d] /= self.scale
        table[:, d:] -= (table[:, :d] @ self.mean)[:, None]
        return table.ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by parameters of the scaled columns as that by those of the columns as they are."""
        table, d = self.objective.table(gradient).copy(), len(self.mean)
        table[:, :d] *= self.scale
        if self.objective.intercept:
            table[:, :d] += table[:, d:] * self.mean
        return table.ravel()


def _positive_root(variance: np.ndarray, size: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """What a column is divided by: 1 where it has neither spread nor penalty."""
    total = np.where(variance > 1e-24 * size, variance, 0.0) + penalty
    return np.where(total > 0, np.sqrt(total), 1.0)


NARROW = 512  # parameters up to which a pass for the Hessian takes little longer than one for the gradient
DIGITS = 1e-9  # Newton's method doubles the digits with each pass: one more settles them


@dataclass(frozen=True)
class SampleStartLbfgs(SubsampledLbfgs):
    whole: int = 1 << 10  # 8 MB from every partition

    def init(self, objective: ObjectiveElsewhere, w: np.ndarray) -> State:
        some = objective.sample
        if objective.size > MOST or not w.any():
            return super().init(objective, w)
        metric = Metric.of(some.curve(w)[2] * (objective.weight / some.weight), objective.m, objective.ridge == 0)
        value, gradient = objective.slope(w)
        return self._state(w, value, Memory.start(metric, False, gradient))


def started(far: ObjectiveElsewhere) -> np.ndarray:
    """The sample's minimum; zeros where it has none, costs more than it saves, or is worse for all rows."""
    zeros = np.zeros(far.size)
    if far.size > MOST or far.lasso.any():
        return zeros
    with np.errstate(all="ignore"):
        w = solve(RoughNewton(), far.sample, zeros, 1e-4, 30).w
    if not np.isfinite(w).all():
        return zeros
    even = far.weight * np.log(far.rows.k)  # the loss where nothing is known
    return w if far.slope(w)[0] < 0.9 * even else zeros


def minimise_elsewhere(name: str, far: ObjectiveElsewhere, tol: float, max_iter: int, watch: Any = None) -> Solution:
    """The minimum over rows that lie elsewhere; `name` as in `solvers`, "auto" takes what needs the fewest passes."""
    if far.lasso.any():
        answer = solve(Coordinate(), far, np.zeros(far.size), tol, max_iter, watch)
    elif name not in ("auto", "liblinear", "sag", "saga"):
        answer = solve(SOLVERS[name](far), far, started(far), tol, max_iter, watch)
    elif far.size <= NARROW:
        far = replace(far, bent=True)
        answer = solve(Newton(), far, started(far), min(tol, DIGITS), max_iter, watch)
    else:
        answer = solve(SampleStartLbfgs(), far, started(far), tol, max_iter, watch)
    return replace(answer, w=far.centred(answer.w))
