"""Laplace approximation: the posterior of the coefficients as a Gaussian, and approximate leave-one-out.

`LaplacePosterior` is the Gaussian around the mode of the posterior:

    θ | data ≈ N(θ̂, S)            S = (H + Λ)⁻¹, Λ the precision of the Gaussian prior that the L2 penalty is
    margin of a row: N(μ, s²)      μ = a·θ̂, s² = aᵀ S a
    two classes   P(1 | x) = ∫ σ(t) N(t; μ, s²) dt ≈ σ(μ / √(1 + π s²/8))        (D. MacKay 1992; within 0.02)
    more classes  the mean of the softmax of 512 scores, drawn from N(μ, S_x) by a fixed low-discrepancy sequence
    evidence      log p(y | X) ≈ ℓ(θ̂) + log p(θ̂) + (q/2) log 2π − ½ log det(H + Λ)

With more than two classes, formulas like MacKay's have a mean error of 0.05 if margins have a standard deviation of 2.
The error of the fixed sequence is 0.01 for 10 classes and less for fewer, and the result is always the same for the
same rows. In the evidence, the flat prior of the intercepts counts as density 1: compare models that all have one.

`Leverage` gives the probabilities of each row by the fit without it. A fit is the minimum of
F(θ) = Σ w loss(θ·a, y) + penalty. Without row i, one Newton step from it leads to the margins

    z̃ = z + u (I − u Q V)⁻¹ Q r        z = θ·a, the margins of the row      r = P − [y], its residual
                                       V = diag(P) − P Pᵀ                Q_bc = aᵀ [H⁻¹]_bc a,  H the Hessian of F
    two classes:  z̃ = z + u q r / (1 − h)                               h = u q P (1 − P), the leverage of the row

for all rows in one pass, from one fit (A. Beirami, M. Razaviyayn, S. Shahrampour, V. Tarokh 2017; K. Rad and A. Maleki
2020, who prove it for as many columns as rows too). u is the weight that is left out, that of one row: of a row of
weight 3, one of three rows is left out; a row of weight ½ is left out as a whole.

>>> import numpy as np
>>> from deciban.logistic.likelihood import LikelihoodExpansion, Design, Prior
>>> x, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([0, 1, 0, 1])
>>> mode = LikelihoodExpansion.at(Design.of(x, y, None, k=2), np.array([[0.0, 0.6748]]))
>>> posterior = LaplacePosterior.from_expansion(mode, Prior(C=1.0))
>>> posterior.proba(np.array([[0.0], [4.0]])).round(3).tolist()  # 4 is far from all rows; the mode gives 0.937
[[0.5, 0.5], [0.245, 0.755]]
>>> x, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array([0, 0, 1, 0, 1, 1])
>>> theta = np.array([[-1.9176, 0.7671]])  # the fit with C = 1, by which the third row has probability 0.41
>>> proba = np.exp(Leverage.of(x, y, None, k=2).without(theta, Prior(C=1.0)))
>>> round(float(proba[2, 1]), 2)  # a fit without that row gives 0.2
0.24
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.special import ndtri

from deciban.data.blocks import Counts, Reals, borders
from deciban.engines import threads
from deciban.errors import SingularError
from deciban.logistic.design import Design, as_block
from deciban.logistic.firth import centred
from deciban.logistic.likelihood import LikelihoodExpansion, Prior, check_size, information, probabilities, shared
from deciban.solvers.newton import Metric

CHUNK = 1 << 18  # least number of cells of a chunk of rows
BLOCK = 1 << 16  # cells at a time that stay in cache
DRAWS = 512  # for more than two classes


@dataclass(frozen=True, eq=False)
class LaplacePosterior:
    """θ (m, p) ~ N(mode, covariance); differences from the first class, the intercept in front."""

    mode: np.ndarray  # (m, p)
    covariance: np.ndarray  # (m p, m p)
    intercept: bool
    evidence: float  # −∞ where the prior is flat

    @classmethod
    def from_expansion(cls, found: LikelihoodExpansion, prior: Prior) -> LaplacePosterior:
        """The posterior with this prior, from the likelihood at the mode."""
        spread = found.spread(prior)
        if not spread.determined.all():
            raise SingularError(
                f"{int((~spread.determined).sum())} of {spread.determined.size} coefficients are not determined by the "
                "rows, so their posterior has no spread\n\n"
                "hint: an L2 penalty (a finite C) gives them a prior; or leave out repeated and constant columns"
            )
        q = found.theta.size
        evidence = found.log_likelihood + 0.5 * (q * np.log(2 * np.pi) - spread.log_det)
        evidence += -np.inf if np.isinf(prior.C) else prior.log_density(found.theta, found.intercept)
        return cls(found.theta, spread.matrix, found.intercept, float(evidence))

    def proba(self, X: Any) -> np.ndarray:
        """P(class | x) averaged over the posterior, (n, k)."""
        x = as_block(X)
        m, p = self.mode.shape
        spans = borders(x.n, x.n * p * m, CHUNK)
        with threads.one_blas_thread():
            return np.concatenate(list(threads.map_ordered(spans, lambda span: self._proba(x.rows(*span)))))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n draws of θ, (n, m, p)."""
        values, vectors = np.linalg.eigh(_unit(self.covariance)[0])
        root = _unit(self.covariance)[1][:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
        return self.mode + (rng.standard_normal((n, self.mode.size)) @ root.T).reshape(n, *self.mode.shape)

    def _proba(self, x: Reals | Counts) -> np.ndarray:
        a = _nearer(x.dense())
        if not len(a):
            return np.empty((0, len(self.mode) + 1))
        if self.intercept:
            a = np.column_stack([np.ones(len(a)), a])
        m, p = self.mode.shape
        blocks = self.covariance.reshape(m, p, m, p)
        shared = np.empty((len(a), m, m))
        for b in range(m):
            for c in range(b + 1):
                shared[:, b, c] = shared[:, c, b] = np.einsum("np,np->n", a @ blocks[b, :, c], a)
        return averaged(a @ self.mode.T, shared)


FAR = 1e150  # cells whose squares are finite


def _nearer(a: np.ndarray) -> np.ndarray:
    """Rows (n, d) with cells up to FAR: further out in the same direction the probabilities stay the same."""
    top = np.abs(a).max(axis=1, initial=0.0, keepdims=True)
    far = (top > FAR) & (top < np.inf)
    return np.where(far, a / np.where(far, top, 1.0) * FAR, a) if far.any() else a


def averaged(margins: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """Probabilities (n, k) from means of margins against the first class (n, m) and their covariances (n, m, m).

    >>> averaged(np.array([[2.0]]), np.zeros((1, 1, 1))).round(4).tolist()
    [[0.1192, 0.8808]]
    """
    n, m = margins.shape
    if m == 1:
        margins = margins / np.sqrt(1.0 + np.pi / 8 * np.maximum(shared[:, :, 0], 0.0))
        return probabilities(margins)[0]
    values, vectors = np.linalg.eigh(shared)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    out = np.zeros((n, m + 1))
    for point in _points(m):
        turn = root @ point
        out += probabilities(margins + turn)[0] + probabilities(margins - turn)[0]
    return out / out.sum(axis=1, keepdims=True)


@cache
def _points(m: int) -> np.ndarray:
    """Half of the draws from N(0, 1) in m dimensions, (256, m); the others are these with the other sign."""
    from scipy.stats import qmc

    even = qmc.Sobol(m, scramble=False).random(DRAWS // 2)
    shifted = (even + np.random.default_rng(0).random(m)) % 1.0  # away from the corner where the sequence starts
    return ndtri(np.clip(shifted, 1e-9, 1 - 1e-9))


def as_coef(theta: np.ndarray, intercept: bool, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draws (…, m, p) in the form of (`coef_`, `intercept_`), with the given mean over classes (p,)."""
    whole = centred(theta)
    if theta.shape[-2] > 1:
        whole = whole + middle
    return (whole[..., 1:], whole[..., 0]) if intercept else (whole, np.zeros(whole.shape[:-1]))


def _unit(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A covariance as correlations and standard deviations."""
    size = np.sqrt(np.diag(matrix))
    rate = 1.0 / np.where(size > 0, size, 1.0)
    return matrix * np.outer(rate, rate), size


(_trtri,) = get_lapack_funcs(("trtri",), dtype=np.float64)
LEAST = 1e-12  # of 1 − h, which is over 0 but for rounding


@dataclass(frozen=True, eq=False)
class Leverage:
    """Rows of a fit. Weights in `learned` are those of the fit, in `leaving` those that are left out with one row."""

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
        """`times` (n,): the number of rows that each row stands for, its weight without that of its class."""
        design = Design.of(X, y, w, k, intercept)
        if times is None or w is None or not (times > 1).any():
            return cls(design, design)
        return cls(design, replace(design, w=design.w / np.maximum(times, 1.0)))

    def leaving_only(self, at: np.ndarray) -> Leverage:
        """The same, where only these rows are left out."""
        rows = self.leaving
        if len(at) == rows.x.n:
            return self
        w = None if rows.w is None else rows.w[at]
        return replace(self, leaving=replace(rows, x=rows.x.take(at), y=rows.y[at], w=w))

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

    def without_groups(
        self, theta: np.ndarray, prior: Prior, group: np.ndarray, groups: int, points: Any
    ) -> np.ndarray:
        """log P(class | x) of other rows (groups, q, k) by one Newton step from θ (m, p) without each group of rows:

        θ̃ = θ + (H − H_g)⁻¹ Σ_g w r ⊗ a;  of a single row the margins move by w Q_x (I − w V Q)⁻¹ r, Q_x = x H⁻¹ a
        """
        design = self.leaving
        standard = design.standard(theta)
        at = replace(design, x=as_block(points), y=np.zeros(as_block(points).n, dtype=np.int32), w=None)
        x = at.rows(0, at.x.n)
        if groups < len(group):
            moved = self._steps(standard, prior, group, groups)
            margins = np.einsum("qp,gmp->gqm", x, moved)
        else:
            roots = self._root(standard, prior).reshape(design.m, design.p, -1)
            reach = np.einsum("qp,mpr->qmr", x, roots, optimize=True)

            def left(a: np.ndarray, y: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
                return [_moved(a, y, u, probabilities(a @ standard.T)[0][:, 1:], roots, reach)]

            margins = np.concatenate(design.total(left)) + (x @ standard.T)
        flat = margins.reshape(-1, margins.shape[-1])
        whole = np.column_stack([np.zeros(len(flat)), flat]) - probabilities(flat)[1][:, None]
        return whole.reshape(*margins.shape[:2], -1)

    def _steps(self, standard: np.ndarray, prior: Prior, group: np.ndarray, groups: int) -> np.ndarray:
        """θ in standard columns after a Newton step without each group, (groups, m, p)."""
        design, out = self.leaving, np.empty((groups, *standard.shape))
        precision = self._precision(standard, prior)
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(groups + 1))
        for g in range(groups):
            some = order[ends[g] : ends[g + 1]]
            part = replace(
                design, x=design.x.take(some), y=design.y[some], w=None if design.w is None else design.w[some]
            )
            a, u = part.rows(0, len(some)), np.ones(len(some)) if part.w is None else part.w
            proba = probabilities(a @ standard.T)[0]
            pull = (proba[:, 1:] - (part.y[:, None] == np.arange(1, design.k))) * u[:, None]
            slope, curved = (pull.T @ a).ravel(), information(a, proba, u)
            step = np.linalg.lstsq(precision - curved, slope, rcond=1e-12)[0]
            out[g] = standard + step.reshape(standard.shape)
        return out

    def _precision(self, standard: np.ndarray, prior: Prior) -> np.ndarray:
        """H + Λ in standard columns, (q, q)."""
        design = self.learned
        check_size(design.m * design.p)
        hessian = design.total(lambda a, y, w: information(a, probabilities(a @ standard.T)[0], w))
        each = design.back.T @ prior.precision(1, design.p, design.intercept) @ design.back
        return np.asarray(hessian + np.kron(shared(design.m), each))

    def _root(self, standard: np.ndarray, prior: Prior) -> np.ndarray:
        """R with R Rᵀ = H⁻¹, in standard columns, (q, q)."""
        with threads.one_blas_thread():
            metric = Metric.of(self._precision(standard, prior), 1, np.zeros(0))
            half = np.tril(_trtri(metric.factor, lower=True)[0])
        return metric.scale[:, None] * half.T


def _step(a: np.ndarray, y: np.ndarray, u: np.ndarray, proba: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """u (I − u Q V)⁻¹ Q r of each row, (n, m); proba (n, m): of the classes except the first."""
    m = proba.shape[1]
    pull = proba - (y[:, None] == np.arange(1, m + 1))
    reach = u[:, None, None] * _own_reach(a, roots)
    if m == 1:
        q, curved = reach[:, 0, 0], proba[:, 0] * (1.0 - proba[:, 0])
        return (q * pull[:, 0] / np.maximum(1.0 - q * curved, LEAST))[:, None]
    curved = reach * proba[:, None, :] - (reach @ proba[:, :, None]) * proba[:, None, :]
    return np.linalg.solve((1.0 + LEAST) * np.eye(m) - curved, reach @ pull[:, :, None])[:, :, 0]


def _own_reach(a: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """Q of each row, (n, m, m), from the roots (m, p, q) of H⁻¹: in blocks of rows that stay in cache."""
    m, p, q = roots.shape
    side, out = roots.transpose(1, 0, 2).reshape(p, m * q), np.empty((len(a), m, m))
    step = max(1, BLOCK // (m * q))
    for start in range(0, len(a), step):
        lever = (a[start : start + step] @ side).reshape(-1, m, q)
        np.matmul(lever, lever.transpose(0, 2, 1), out=out[start : start + step])
    return out


def _moved(
    a: np.ndarray, y: np.ndarray, u: np.ndarray, proba: np.ndarray, roots: np.ndarray, reach: np.ndarray
) -> np.ndarray:
    """u Q_x (I − u V Q)⁻¹ r of each row for points of this reach (q, m, r), (n, q, m)."""
    m = proba.shape[1]
    pull = proba - (y[:, None] == np.arange(1, m + 1))
    lever = np.einsum("np,mpq->nmq", a, roots, optimize=True)
    if m == 1:
        q = u * np.einsum("nmq,nmq->n", lever, lever)
        left = np.maximum(1.0 - q * proba[:, 0] * (1.0 - proba[:, 0]), LEAST)
        return ((lever[:, 0] @ reach[:, 0].T) * (u * pull[:, 0] / left)[:, None])[:, :, None]
    own = lever @ lever.transpose(0, 2, 1)
    curved = proba[:, :, None] * own - proba[:, :, None] * (proba[:, None, :] @ own)
    share = np.linalg.solve((1.0 + LEAST) * np.eye(m) - u[:, None, None] * curved, (u[:, None] * pull)[:, :, None])
    return np.einsum("qmr,nsr,ns->nqm", reach, lever, share[:, :, 0], optimize=True)
