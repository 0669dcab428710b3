"""Minimisation of the objective: choice of the solver, starting point and scaling of columns.

Rows in memory: the solver follows from the shape of the rows. Rows that are read in batches: as few passes as possible.
The minimum of a sample, which is in memory, is the starting point. If the Hessian is small compared with the rows,
Newton's method follows; the pass for a gradient computes the Hessian too, so that a step is one pass. Otherwise L-BFGS
follows, preconditioned by the Hessian of the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.data.blocks import Counts, Reals
from deciban.logistic.objective import BatchObjective, Objective, ReducedObjective
from deciban.solvers.auto import MOST, RoughNewton, SubsampledLbfgs
from deciban.solvers.base import EPS, Solution, Solver, State, solve
from deciban.solvers.coordinate import Columnwise, Coordinate
from deciban.solvers.gradient import Gradient, Sgd
from deciban.solvers.lbfgs import Lbfgs, Memory
from deciban.solvers.newton import Metric, Newton, NewtonCg

FEW = 1 << 26  # largest number of multiplications of a Hessian for which Newton's method is used
MANY = 1 << 34  # largest number of multiplications of a Hessian by which an estimate without penalty is refined
LAST = 5  # largest number of Newton steps that refine a solution; two are usual, as each doubles the digits
NARROW = 512  # largest number of parameters for which a pass for the Hessian takes little longer than for the gradient
DIGITS = 1e-9  # tolerance of Newton's method over batches: each pass doubles the digits


def by_shape(objective: Any) -> Solver:
    """The solver for the shape and place of the rows: coordinate descent for a lasso; Newton's method if its Hessian
    costs little; else L-BFGS with the Hessian of a sample."""
    if objective.lasso.any():
        return by_storage(objective)
    if not objective.in_memory:
        return Newton() if objective.size <= NARROW else SampleStartLbfgs()
    return Newton() if is_small(objective) else SubsampledLbfgs()


def is_small(objective: Any) -> bool:
    """Whether the Hessian costs little."""
    n, size = objective.n, objective.size
    return size <= 512 and (n + size) * size**2 <= FEW and (objective.dense or objective.d <= 64)


def by_storage(objective: Any) -> Solver:
    """Coordinate descent: with a Hessian, or on the stored cells of sparse rows."""
    return Coordinate() if objective.dense else Columnwise()


BY_SHAPE = ("auto", "liblinear", "sag", "saga")
REFINED = (*BY_SHAPE, "newton", "newton-cholesky")  # solvers whose solutions are refined by Newton steps
SOLVERS: dict[str, Callable[[Any], Solver]] = {
    "auto": by_shape,
    "newton": lambda _: Newton(),
    "newton-cg": lambda _: NewtonCg(),
    "lbfgs": lambda _: Lbfgs(),
    "coordinate": by_storage,
    "gradient": lambda _: Gradient(),
    "sgd": lambda _: Sgd(),
    # scikit-learn's names of solvers that are the same here, or have the same minimum
    "newton-cholesky": lambda _: Newton(),
    **dict.fromkeys(BY_SHAPE[1:], by_shape),
}


def minimise(name: str, objective: Any, w: np.ndarray | None, tol: float, max_iter: int, watch: Any = None) -> Solution:
    """The minimum of the objective by the solver of this name, from w (None: see `starting_point`);
    `watch(n_iter, state)` is called at the start and after each step."""
    solver = SOLVERS[name](objective)
    if not objective.in_memory and isinstance(solver, Newton) and objective.size <= NARROW:
        objective = replace(objective, with_hessian=True)
        tol = min(tol, DIGITS) if name in REFINED else tol
    w = starting_point(objective) if w is None else w
    folded = _reduction(name, objective)
    if folded is None:
        return _centred(objective, solve(solver, objective, w, tol, max_iter, watch))
    reduced = folded.objective
    unfolded = None if watch is None else lambda n_iter, state: watch(n_iter, _unfolded(folded, state))
    answer = _centred(reduced, solve(SOLVERS[name](reduced), reduced, folded.fold(w), tol, max_iter, unfolded))
    return replace(answer, w=folded.unfold(answer.w), gradient=folded.unfold_gradient(answer.gradient), internal=None)


def _unfolded(folded: Scaled | ReducedObjective, state: State) -> State:
    """A state of an equivalent objective, as one of the objective itself."""
    return replace(state, w=folded.unfold(state.w), gradient=folded.unfold_gradient(state.gradient))


def follow(rule: Solver, objective: Any, w: np.ndarray | None, tol: float, max_iter: int, watch: Any) -> Solution:
    """The steps of a plain rule (`solvers.update_rules`) from w (None: zeros): the objective is not replaced by an
    equivalent one, and the result is neither centred nor refined."""
    with np.errstate(all="ignore"):
        return solve(rule, objective, np.zeros(objective.size) if w is None else w, tol, max_iter, watch)


def _reduction(name: str, objective: Any) -> Scaled | ReducedObjective | None:
    """An equivalent objective that is easier to minimise, if there is one."""
    if not objective.in_memory:
        return None
    d, penalty = objective.d, objective.ridge + objective.lasso
    if name == "sgd" or (np.ptp(penalty[:d]) > 0 and not penalty[d:].any()):  # columns are scaled by the penalty
        return Scaled.of(objective)
    return ReducedObjective.where_it_pays(objective)


def _centred(objective: Any, answer: Solution) -> Solution:
    return replace(answer, w=objective.centred(answer.w))


def starting_point(objective: Any) -> np.ndarray:
    """Zeros; for batches the minimum of the sample, unless that does not exist, costs more than it saves, or is worse
    for all rows."""
    zeros = np.zeros(objective.size)
    if objective.in_memory or objective.size > MOST or objective.lasso.any():
        return zeros
    with np.errstate(all="ignore"):
        w = solve(RoughNewton(), objective.sample, zeros, 1e-4, 30).w
    if not np.isfinite(w).all():
        return zeros
    uniform = objective.weight * np.log(objective.k)  # the loss of equal probabilities
    return w if objective.slope(w)[0] < uniform else zeros


def refine(name: str, objective: Any, answer: Solution, max_iter: int, watch: Any = None) -> Solution:
    """A solution within `tol`, refined to rounding by a few Newton steps: if the Hessian costs little, or if there is
    no penalty and it is affordable, since maximum-likelihood estimates are compared digit by digit. Solutions of other
    solvers, and of rows in batches, are returned as they are."""
    if name not in REFINED or not objective.in_memory or objective.lasso.any() or not answer.converged:
        return answer
    affordable = not objective.ridge.any() and objective.dense and objective.n * objective.size**2 <= MANY
    if not (affordable or is_small(objective)):
        return answer
    metric = answer.internal
    if isinstance(metric, Metric) and metric.gain(answer.gradient) <= EPS**1.25 * abs(answer.value):
        return answer
    left = min(LAST, max_iter - answer.n_iter)
    count = None if watch is None else lambda n_iter, state: n_iter and watch(answer.n_iter + n_iter, state)
    more = solve(Newton(), objective, answer.w, 0.0, left, count)
    if more.n_iter == 0 or not more.value <= answer.value + abs(answer.value) * 1e-12:
        return answer
    return replace(more, w=objective.centred(more.w), reason=answer.reason, n_iter=answer.n_iter + more.n_iter)


@dataclass(frozen=True)
class Scaled:
    """An equivalent objective with scaled columns: divided by the root of their curvature (without penalty their
    standard deviation). If there is an intercept and rows are dense, their means are subtracted first. Loss and penalty
    do not change."""

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
        x, d, w = objective.x, objective.d, objective.rows.w
        share = np.full(x.n, 1.0 / x.n) if w is None else w / w.sum()
        penalty = 4.0 * objective.ridge[:d] / objective.weight  # relative to the curvature of a row, at most x² / 4
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
        """Parameters of the scaled columns, from those of the columns themselves."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, d:] += (table[:, :d] @ self.mean)[:, None]
        table[:, :d] *= self.scale
        return table.ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the columns themselves, from those of the scaled columns."""
        table, d = self.objective.table(w).copy(), len(self.mean)
        table[:, :d] /= self.scale
        table[:, d:] -= (table[:, :d] @ self.mean)[:, None]
        return table.ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient for the columns themselves, from that for the scaled columns."""
        table, d = self.objective.table(gradient).copy(), len(self.mean)
        table[:, :d] *= self.scale
        if self.objective.intercept:
            table[:, :d] += table[:, d:] * self.mean
        return table.ravel()


def _positive_root(variance: np.ndarray, size: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The scale of each column: 1 if it has neither variance nor penalty."""
    total = np.where(variance > 1e-24 * size, variance, 0.0) + penalty
    return np.where(total > 0, np.sqrt(total), 1.0)


@dataclass(frozen=True)
class SampleStartLbfgs(SubsampledLbfgs):
    """L-BFGS over batches: preconditioned by the Hessian of the sample at the starting point."""

    whole: int = 1 << 10  # a Hessian of 8 MB from each partition

    def init(self, objective: BatchObjective, w: np.ndarray) -> State:
        some = objective.sample
        if objective.size > MOST or not w.any():
            return super().init(objective, w)
        metric = Metric.of(some.curve(w)[2] * (objective.weight / some.weight), objective.m, objective.ridge == 0)
        value, gradient = objective.slope(w)
        return self._state(w, value, Memory.start(metric, False, gradient))
