"""The likelihood of a logistic (softmax) model: score, information and covariance of its coefficients.

    log-likelihood   ℓ = Σ w log P(y | x)             P(c | x) ∝ exp θ_c·a,  θ_0 = 0,  a = (1, x)
    score            ∂ℓ/∂θ = Σ w r ⊗ a                r_c = [y = c] − P(c | x),  c = 1 … k − 1
    information      H = Σ w V ⊗ a aᵀ                 V = diag(P) − P Pᵀ
    meat             M = Σ w (r ⊗ a)(r ⊗ a)ᵀ
    covariance       (H + Λ)⁻¹, or robust (H + Λ)⁻¹ M (H + Λ)⁻¹; Λ is the precision of the prior, the L2 penalty

All of them are sums over rows; a weight counts like so many rows. With k > 2 classes the L2 penalty is on all k vectors
of coefficients, which for their k − 1 differences, each column by itself, is the precision (I − 11ᵀ/k)/C.

>>> import numpy as np
>>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
>>> rows = Design.of(x, y, None, k=2)
>>> seen = LikelihoodExpansion.at(rows, np.array([[-1.0, 0.5]]))
>>> round(seen.log_likelihood, 4), seen.spread().matrix.shape
(-2.4546, (2, 2))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from deciban.errors import DataError
from deciban.logistic.design import Design

__all__ = ["Design", "LikelihoodExpansion", "Prior", "StandardErrors", "reference_coding"]

MOST = 12_000  # largest number of parameters, whose covariance has its square of numbers
NULL = 1e-11  # smaller eigenvalues of the information in standard columns count as 0


def reference_coding(coef: np.ndarray, intercept: np.ndarray, fit_intercept: bool) -> np.ndarray:
    """`coef_` (1 or k, d) and `intercept_` as differences from the first class, (m, p), the intercept in front.

    >>> reference_coding(np.array([[1.0], [2.0], [4.0]]), np.array([0.0, 1.0, 1.0]), True).tolist()
    [[1.0, 1.0], [1.0, 3.0]]
    """
    coef = np.asarray(coef, dtype=np.float64)
    whole = np.column_stack([np.broadcast_to(intercept, len(coef)), coef]) if fit_intercept else coef
    return whole.astype(np.float64) if len(coef) == 1 else whole[1:] - whole[0]


@dataclass(frozen=True)
class Prior:
    """The Gaussian prior that corresponds to an L2 penalty: variance C of every coefficient, divided by the squares of
    `scales` (d,), if there are any; `bias` is the precision of the intercept, 0 if it has no penalty."""

    C: float = np.inf
    bias: float = 0.0
    scales: np.ndarray | None = field(default=None, compare=False)

    def precision(self, m: int, p: int, intercept: bool) -> np.ndarray:
        """Λ of the differences, (q, q) with q = m p."""
        each = np.full(p, 0.0 if np.isinf(self.C) else 1.0 / self.C)
        if self.scales is not None:
            each[int(intercept) :] *= self.scales**2
        each[: int(intercept)] = self.bias
        return np.kron(shared(m), np.diag(each))

    def log_density(self, theta: np.ndarray, intercept: bool) -> float:
        """log p(θ); the flat density of intercepts counts as 1."""
        m, p = theta.shape
        square = float(theta.ravel() @ self.precision(m, p, intercept) @ theta.ravel())
        proper = p if self.bias > 0 or not intercept else p - 1
        scale = (p - intercept) * np.log(self.C) - (0.0 if self.scales is None else 2 * np.log(self.scales).sum())
        scale -= np.log(self.bias) if proper == p and intercept else 0.0
        return 0.5 * (proper * np.linalg.slogdet(shared(m))[1] - m * (proper * np.log(2 * np.pi) + scale) - square)


FLAT = Prior()


def shared(m: int) -> np.ndarray:
    """The precision, for C = 1, of the m differences from the first class, from the penalty on all classes."""
    return np.eye(m) - (1.0 / (m + 1) if m > 1 else 0.0)


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """A covariance of coefficients, and which of them the data (and prior) do not determine."""

    matrix: np.ndarray  # (q, q), of the columns themselves, classes first
    determined: np.ndarray  # (q,)
    log_det: float  # of the precision, in the columns themselves
    effective: float  # number of parameters: trace of H (H + Λ)⁻¹

    @property
    def errors(self) -> np.ndarray:
        """Standard errors (q,), NaN where not determined."""
        return np.sqrt(np.where(self.determined, np.maximum(np.diag(self.matrix), 0.0), np.nan))


@dataclass(frozen=True, eq=False)
class LikelihoodExpansion:
    """The likelihood around θ, in standard columns."""

    theta: np.ndarray  # (m, p), of the columns themselves
    log_likelihood: float
    null_log_likelihood: float
    n: float  # Σ w
    score: np.ndarray  # (q,)
    information: np.ndarray  # (q, q)
    meat: np.ndarray  # (q, q)
    back: np.ndarray  # (p, p)
    intercept: bool

    @classmethod
    def at(cls, design: Design, theta: np.ndarray) -> LikelihoodExpansion:
        check_size(design.m * design.p)
        standard = design.standard(theta)
        value, weight, score, information, meat = design.total(lambda a, y, w: _sums(standard, a, y, w))
        null = float(np.sum(weight * np.log(np.where(weight > 0, weight, 1.0) / weight.sum())))
        if not design.intercept:
            null = -float(weight.sum() * np.log(design.k))
        return cls(
            theta,
            float(value),
            null,
            float(weight.sum()),
            score.ravel(),
            information,
            meat,
            design.back,
            design.intercept,
        )

    @cached_property
    def backs(self) -> np.ndarray:
        """From all parameters of standard columns to those of the columns themselves, (q, q)."""
        return block_diag(*[self.back] * len(self.theta))

    def precision(self, prior: Prior) -> np.ndarray:
        """H + Λ, in standard columns."""
        m, p = self.theta.shape
        return self.information + self.backs.T @ prior.precision(m, p, self.intercept) @ self.backs

    def spread(self, prior: Prior = FLAT, robust: bool = False) -> StandardErrors:
        """The covariance of the coefficients; if a combination of them is not determined, that of the others."""
        precision = self.precision(prior)
        size = np.sqrt(np.maximum(np.diag(precision), 0.0))
        unit = 1.0 / np.where(size > 0, size, 1.0)
        values, vectors = np.linalg.eigh(precision * np.outer(unit, unit))
        known = values > NULL
        root = (unit[:, None] * vectors[:, known]) / np.sqrt(values[known])
        inverse = root @ root.T
        effective = float(np.sum(inverse * self.information))
        matrix = inverse @ self.meat @ inverse if robust else inverse
        blind = self.backs @ (unit[:, None] * vectors[:, ~known])
        determined = (np.abs(blind) <= 1e-7 * (np.abs(self.backs) @ unit)[:, None]).all(axis=1)
        rates = np.log(np.diag(self.backs)).sum()
        log_det = float(np.log(values[known]).sum() - 2 * np.log(unit).sum() - 2 * rates) if known.all() else -np.inf
        return StandardErrors(self.backs @ matrix @ self.backs.T, determined, log_det, effective)

    def distance(self, prior: Prior = FLAT) -> float:
        """Distance of θ from the optimum: the gain of log-likelihood that a Newton step predicts, in nats."""
        m, p = self.theta.shape
        slope = self.score - self.backs.T @ prior.precision(m, p, self.intercept) @ self.theta.ravel()
        precision = self.precision(prior)
        step = np.linalg.lstsq(precision, slope, rcond=NULL)[0]
        return float(0.5 * slope @ step)


def check_size(q: int) -> None:
    if q > MOST:
        raise DataError(
            f"the covariance of {q} coefficients is {8e-9 * q * q:.0f} GB of numbers\n\n"
            f"hint: choose fewer columns, {MOST} coefficients (columns × classes but one) at most"
        )


def probabilities(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Margins (n, m) against the first class → (P of all classes (n, k), log of the sum (n,))."""
    top = np.maximum(margins.max(axis=1, initial=0.0), 0.0)
    part = np.exp(np.column_stack([-top, margins - top[:, None]]))
    whole = part.sum(axis=1)
    return part / whole[:, None], top + np.log(whole)


def information(a: np.ndarray, proba: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Σ w (diag(P) − P Pᵀ) ⊗ a aᵀ over the classes except the first, (q, q)."""
    m, p = proba.shape[1] - 1, a.shape[1]
    out = np.empty((m, p, m, p))
    for b in range(m):
        for c in range(b + 1):
            share = w * proba[:, b + 1] * ((b == c) - proba[:, c + 1])
            out[b, :, c] = a.T @ (a * share[:, None])
            out[c, :, b] = out[b, :, c].T
    return out.reshape(m * p, m * p)


def _sums(standard: np.ndarray, a: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple:
    """(ℓ, weight of each class (k,), score (m, p), information, meat) of a chunk."""
    margins = a @ standard.T
    proba, level = probabilities(margins)
    k = proba.shape[1]
    right = np.where(y > 0, np.take_along_axis(margins, np.maximum(y - 1, 0)[:, None], 1)[:, 0], 0.0)
    rest = (y[:, None] == np.arange(1, k)) - proba[:, 1:]
    scores = (rest[:, :, None] * a[:, None, :]).reshape(len(a), -1)
    meat = scores.T @ (scores * w[:, None])
    weight = np.bincount(y, w, minlength=k)
    return np.sum(w * (right - level)), weight, (w[:, None] * rest).T @ a, information(a, proba, w), meat
