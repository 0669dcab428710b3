"""What a logistic model would say of each row had it not learned from it: approximate leave-one-out.

A fit is the minimum of F(θ) = Σ w loss(θ·a, y) + penalty. Without row i, one Newton step away from it leads to

    z̃ = z + u (I − u Q V)⁻¹ Q r        z = θ·a, the row's margins        r = P − [y], its pull on the margins
                                       V = diag(P) − P Pᵀ                Q_bc = aᵀ [H⁻¹]_bc a,  H the Hessian of F
    two classes:  z̃ = z + u q r / (1 − h)                               h = u q P (1 − P), the row's leverage

for all rows from one pass, with no fit but the one. (A. Beirami, M. Razaviyayn, S. Shahrampour, V. Tarokh 2017; K. Rad
and A. Maleki 2020, who show it right also where columns are as many as rows.) u is the weight that leaves: that of one
row, so that a row of weight 3 is three rows of which one leaves, and a row of weight ½ leaves as a whole.

>>> import numpy as np

from deciban.engines import threads
>>> x, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 1, 0, 1, 1])
>>> theta = np.array([[-1.9176, 0.7671]])  # the fit with C = 1, which gives its own third row a chance of 0.41
>>> chance = np.exp(Leverage.of(x, y, None, k=2).without(theta, Prior(C=1.0)))
>>> round(float(chance[2, 1]), 2)  # a fit without that row says 0.2
0.24
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban.engines import threads
from deciban.inference.likelihood import Prior, check_size, information, probabilities, shared
from deciban.losses.design import Design
from deciban.solvers.newton import Metric

(_trtri,) = get_lapack_funcs(("trtri",), dtype=np.float64)
LEAST = 1e-12  # of 1 − h, which is over 0 but for rounding


@dataclass(frozen=True, eq=False)
class Leverage:
    """Rows of a fit. In `learned` weights are those of the fit, in `leaving` what leaves with one row."""

    learned: Design
    leaving: Design

    @classmethod
    def of(
        cls,
        X: Any,
        y: np.ndarray,
        w: np.ndarray | None,
        k: int,
        intercept: bool = True,
        times: np.ndarray | None = None,
    ) -> Leverage:
        """`times` (n,) says how many rows each row stands for: its part of w that is not a class's weight."""
        design = Design.of(X, y, w, k, intercept)
        if times is None or w is None or not (times > 1).any():
            return cls(design, design)
        return cls(design, replace(design, w=design.w / np.maximum(times, 1.0)))

    def without(self, theta: np.ndarray, prior: Prior) -> np.ndarray:
        """log P(class | x) of each row, (n, k), by the fit θ (m, p), of this L2 penalty, without the row."""
        design = self.learned
        standard = design.standard(theta)
        roots = self._root(standard, prior).reshape(design.m, design.p, -1)

        def left(a: np.ndarray, y: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
            margins = a @ standard.T
            margins = margins + _step(a, y, u, probabilities(margins)[0][:, 1:], roots)
            whole = np.column_stack([np.zeros(len(a)), margins])
            return [whole - probabilities(margins)[1][:, None]]

        return np.concatenate(self.leaving.total(left))

    def _root(self, standard: np.ndarray, prior: Prior) -> np.ndarray:
        """R with R Rᵀ = H⁻¹, in standard columns, (q, q)."""
        design = self.learned
        check_size(design.m * design.p)
        hessian = design.total(lambda a, y, w: information(a, probabilities(a @ standard.T)[0], w))
        each = design.back.T @ prior.precision(1, design.p, design.intercept) @ design.back
        with threads.one_blas_thread():
            metric = Metric.of(hessian + np.kron(shared(design.m), each), 1, np.zeros(0))
            half = np.tril(_trtri(metric.factor, lower=True)[0])
        return metric.scale[:, None] * half.T


def _step(a: np.ndarray, y: np.ndarray, u: np.ndarray, chance: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """u (I − u Q V)⁻¹ Q r of each row, (n, m); chances (n, m) are those of the classes but the first."""
    m = chance.shape[1]
    pull = chance - (y[:, None] == np.arange(1, m + 1))
    lever = np.einsum("np,mpq->nmq", a, roots, optimize=True)
    if m == 1:
        q = u * np.einsum("nmq,nmq->n", lever, lever)
        curved = chance[:, 0] * (1.0 - chance[:, 0])
        return (q * pull[:, 0] / np.maximum(1.0 - q * curved, LEAST))[:, None]
    reach = u[:, None, None] * (lever @ lever.transpose(0, 2, 1))
    curved = reach * chance[:, None, :] - (reach @ chance[:, :, None]) * chance[:, None, :]
    return np.linalg.solve((1.0 + LEAST) * np.eye(m) - curved, reach @ pull[:, :, None])[:, :, 0]
