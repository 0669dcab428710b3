"""Newton's method (iteratively reweighted least squares): solve Hessian · step = −gradient by Cholesky, with a line
search.

With k > 2 classes, adding the same number to all scores does not change the probabilities, so without a penalty the
Hessian is singular in that direction. A positive term is added there; the gradient is 0 in that direction, so the step
does not change.

`NewtonCg` forms no Hessian: conjugate gradients need only its products with vectors. Far from the minimum the step is
solved roughly, near it more precisely (Eisenstat and Walker 1996).
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban.engines import threads
from deciban.solvers.base import Smooth, State
from deciban.solvers.lbfgs import Columns
from deciban.solvers.line_search import dot, search

SMALL, LARGE = 64, 1500  # numbers of parameters between which BLAS is faster with one thread

_potrf, _potrs = get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)


@dataclass(frozen=True)
class Metric:
    """A positive definite matrix as the Cholesky factor of its scaled form, which has a diagonal of ones."""

    factor: np.ndarray
    scale: np.ndarray  # (size,)

    @classmethod
    def of(cls, matrix: np.ndarray, m: int, free: np.ndarray) -> Metric:
        """From a Hessian (m · p, m · p); `free` (p,): whether each parameter of a margin has no penalty."""
        size, p = len(matrix), len(matrix) // m
        root = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
        root[~(root > 0)] = 1.0
        scale = 1.0 / root
        matrix = matrix * scale[:, None] * scale
        if m > 1:
            for j in np.flatnonzero(free):
                together = root[j::p] / np.sqrt(root[j::p] @ root[j::p])
                matrix[j::p, j::p] += np.multiply.outer(together, together)
        more = 0.0
        while True:
            if more:
                matrix.flat[:: size + 1] += more
            with threads.one_blas_thread() if SMALL <= size < LARGE else nullcontext():
                factor, failed = _potrf(matrix, lower=True, clean=False)
            if not failed and factor.diagonal().min() > 1e-8:
                return cls(factor, scale)
            if not np.isfinite(factor.diagonal()).all() and not np.isfinite(matrix).all():
                return cls(np.eye(size), scale)
            more = max(1e-10, 10 * more)

    def solve(self, g: np.ndarray) -> np.ndarray:
        return self.scale * _potrs(self.factor, self.scale * g, lower=True)[0]

    def gain(self, g: np.ndarray) -> float:
        """The predicted decrease of the value by a step where the gradient is g."""
        return 0.5 * float(g @ self.solve(g))


@dataclass(frozen=True)
class Newton(Smooth):
    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return State(w, value, gradient, np.zeros_like(w), np.inf)

    def step(self, objective: Any, state: State) -> State:
        _, _, hessian = objective.curve(state.w)
        metric = Metric.of(hessian, objective.m, objective.ridge == 0)
        ahead = -metric.solve(state.gradient)
        there = search(objective, state.w, state.value, state.gradient, ahead)
        if there is None:
            return replace(state, gain=-0.5 * float(state.gradient @ ahead), stuck=True)
        # the decrease that the last Hessian predicts for the next step
        return State(*there, ahead, metric.gain(there.gradient), internal=metric)


def solve_by_conjugate_gradients(product: Any, metric: Any, g: np.ndarray, share: float, most: int) -> np.ndarray:
    """d with |H d + g| ≤ share · |g|, after at most `most` steps."""
    d, rest = np.zeros_like(g), -g
    z = metric.solve(rest)
    ahead, size = z, dot(rest, z)
    enough = share**2 * size
    for _ in range(most):
        product_ahead = product(ahead)
        curvature = dot(ahead, product_ahead)
        if not curvature > 0:
            return d if d.any() else z
        t = size / curvature
        d, rest = d + t * ahead, rest - t * product_ahead
        z = metric.solve(rest)
        size, before = dot(rest, z), size
        if size <= enough:
            break
        ahead = z + (size / before) * ahead
    return d


@dataclass(frozen=True)
class NewtonCg(Smooth):
    most: int = 200  # largest number of products with the Hessian in one step

    def init(self, objective: Any, w: np.ndarray) -> State:
        value, gradient = objective.slope(w)
        return State(w, value, gradient, np.zeros_like(w), np.inf)

    def step(self, objective: Any, state: State) -> State:
        first, second = objective.diagonal(state.w)
        metric = Columns.of(first, second, objective.intercept)
        size = 0.5 * dot(state.gradient, metric.solve(state.gradient))
        share = min(0.3, np.sqrt(size / max(abs(state.value), 1e-300)))
        ahead = solve_by_conjugate_gradients(
            lambda v: objective.product(state.w, v), metric, state.gradient, share, self.most
        )
        gain = -0.5 * dot(state.gradient, ahead)
        there = search(objective, state.w, state.value, state.gradient, ahead)
        if there is None:
            return replace(state, gain=gain, stuck=True)
        # the metric may under- or overestimate the curvature; the last step shows by how much
        seen = 0.5 * dot(there.gradient, metric.solve(there.gradient)) * max(1.0, gain / max(size, 1e-300))
        return State(*there, ahead, seen)
