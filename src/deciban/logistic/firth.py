"""Firth's logistic regression: the likelihood times Jeffreys' prior, finite for every data set, separated ones too.

    maximise   ℓ(θ) + ½ log det H(θ)
    score      Σ w r ⊗ a + ½ Σ w V (diag Q − 2 Q P) ⊗ a        Q_bc = aᵀ [H⁻¹]_bc a
    two classes: Σ [w (y − P) + h (½ − P)] a                   h = w P (1 − P) aᵀ H⁻¹ a, the row's leverage

(D. Firth 1993; G. Heinze and M. Schemper 2002 for separation.) The prior does not depend on the units, the shift of
columns or the class that others are compared with. Fisher scoring, corrected by what the last steps did to the slope,
with step halving; every step is a sum over rows.

One row of each kind, and one more of the first: the estimate adds half a row to every cell of the table.

>>> import numpy as np
>>> fit = firth(np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1]))
>>> np.allclose(fit.intercept_ , np.log(0.5 / 2.5)), np.allclose(fit.intercept_ + fit.coef_[0], np.log(1.5 / 0.5))
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from deciban.data.blocks import Table
from deciban.data.frames import column_labels
from deciban.errors import SingularError
from deciban.logistic.design import Design
from deciban.logistic.likelihood import NULL, check_size, information, probabilities
from deciban.progress import ProgressCallback
from deciban.solvers.base import Solution

MEMORY = 10  # steps from which the curvature of the prior is estimated
MOST_STEPS = 1000  # of Fisher scoring in a fit; few are needed


@dataclass(frozen=True, eq=False)
class FirthFit:
    """The result of Fisher scoring: θ (m, p) of the columns themselves, and the reason it stopped."""

    theta: np.ndarray
    log_likelihood: float
    penalised: float  # with ½ log det H
    n_iter: int
    reason: str  # "converged", "max_iter", "stuck", or "watch"

    @property
    def coef_(self) -> np.ndarray:
        """(1, d) for two classes; else (k, d) that sum to 0."""
        return self._all[:, self._first :]

    @property
    def intercept_(self) -> np.ndarray:
        return self._all[:, 0] if self._first else np.zeros(len(self._all))

    intercept: bool = True

    @property
    def _first(self) -> int:
        return int(self.intercept)

    @property
    def _all(self) -> np.ndarray:
        return centred(self.theta)


def centred(theta: np.ndarray) -> np.ndarray:
    """Differences from the first class (…, m, p) → as `coef_` has them: themselves if m = 1, else k that sum to 0."""
    if theta.shape[-2] == 1:
        return theta
    whole = np.concatenate([np.zeros_like(theta[..., :1, :]), theta], axis=-2)
    return whole - whole.mean(axis=-2, keepdims=True)


def firth(
    X: Any,
    y: np.ndarray,
    w: np.ndarray | None = None,
    *,
    fit_intercept: bool = True,
    k: int | None = None,
    tol: float = 1e-16,
    max_iter: int = 200,
    columns: Sequence[str] | None = None,
    watch: Callable[[np.ndarray, float], bool] | None = None,
) -> FirthFit:
    """Fit codes y (0 … k − 1) by the columns of X; weights count like repeated rows."""
    design = Design.of(X, y, w, int(np.max(y)) + 1 if k is None else k, fit_intercept)
    check_collinear(design, columns)
    return fisher_scoring(design, jeffreys=True, tol=tol, max_iter=max_iter, watch=watch)


def minimise_jeffreys(rows: Table, intercept: bool, columns: Sequence[str], advance: ProgressCallback) -> Solution:
    """Firth's estimate, with parameters in the order of an objective (intercepts last); advance(n_iter, slope=…) after
    each step."""
    step = count(1)

    def watch(theta: np.ndarray, gain: float) -> bool:
        advance(next(step), slope=gain)
        return False

    fit = firth(
        rows.x, rows.y, rows.w, fit_intercept=intercept, k=rows.k, columns=columns, max_iter=MOST_STEPS, watch=watch
    )
    w = np.column_stack([fit.coef_, fit.intercept_]) if intercept else fit.coef_
    reason = "gradient" if fit.reason == "converged" else fit.reason
    return Solution(w.ravel(), reason, fit.n_iter, -fit.penalised, np.zeros(w.size))


def fisher_scoring(
    design: Design,
    *,
    jeffreys: bool,
    tol: float = 1e-16,
    max_iter: int = 200,
    watch: Callable[[np.ndarray, float], bool] | None = None,
    start: np.ndarray | None = None,
    held: np.ndarray | None = None,
) -> FirthFit:
    """Fisher scoring from 0 (or `start`) until the predicted gain of a step is below `tol` nats, or `watch(θ, gain)`
    is true.

    `start` and `held` are in standard columns, (m, p): steps do not change `held` · parameters.
    """
    check_size(design.m * design.p)
    here = np.zeros((design.m, design.p)) if start is None else start
    at = _value(design, here, jeffreys)
    slope, changes = _slope(design, here, at, jeffreys), _Changes(())
    # the curvature of the prior is about that of p rows, spread over all of them
    shorter = 1.0 / np.sqrt(1.0 + design.p / design.weight) if jeffreys else 1.0
    reason, n_iter = "max_iter", 0
    while n_iter < max_iter:
        step = changes.ahead(slope, shorter * at.root)
        if held is not None:
            along = changes.ahead(held, shorter * at.root)
            step = step - np.sum(held * step) / np.sum(held * along) * along
        gain = 0.5 * float(np.sum(slope * step))
        if gain <= tol:
            reason = "converged"
            break
        if watch is not None and watch(here @ design.back.T, gain):
            reason = "watch"
            break
        n_iter += 1
        step, there = _halved(design, here, step, at, jeffreys)
        if there is None:
            if changes.pairs:  # the estimate of the curvature is wrong here
                changes = _Changes(())
                continue
            reason = "stuck"
            break
        here, at, before = here + step, there, slope
        slope = _slope(design, here, at, jeffreys)
        if jeffreys:
            changes = changes.with_(step, before - slope)
    return FirthFit(here @ design.back.T, at.log_likelihood, at.penalised(design), n_iter, reason, design.intercept)


def _halved(
    design: Design, here: np.ndarray, step: np.ndarray, at: _Point, jeffreys: bool
) -> tuple[Any, _Point | None]:
    """The first of step, step / 2, step / 4, … that does not decrease the value."""
    for _ in range(40):
        there = _value(design, here + step, jeffreys)
        if there.value >= at.value - 1e-12 * abs(at.value):
            return step, there
        step = step / 2
    return step, None


@dataclass(frozen=True)
class _Changes:
    """The last steps and the changes of the slope in them. H lacks the curvature of the prior, without which Fisher
    scoring may oscillate; these estimate it (L-BFGS around H)."""

    pairs: tuple[tuple[np.ndarray, np.ndarray, float], ...]

    def with_(self, step: np.ndarray, change: np.ndarray) -> _Changes:
        along = float(np.sum(step * change))
        return _Changes((*self.pairs, (step, change, 1.0 / along))[-MEMORY:]) if along > 1e-300 else self

    def ahead(self, slope: np.ndarray, root: np.ndarray) -> np.ndarray:
        shares, out = [], slope.copy()
        for step, change, over in reversed(self.pairs):
            shares.append(over * float(np.sum(step * out)))
            out -= shares[-1] * change
        out = (root @ (root.T @ out.ravel())).reshape(slope.shape)
        for (step, change, over), share in zip(self.pairs, reversed(shares), strict=True):
            out += (share - over * float(np.sum(change * out))) * step
        return out


@dataclass(frozen=True, eq=False)
class _Point:
    log_likelihood: float
    log_det: float  # of the information in standard columns
    value: float  # to be maximised
    score: np.ndarray  # (m, p)
    root: np.ndarray  # (q, ·), root rootᵀ = H⁻¹

    def penalised(self, design: Design) -> float:
        return self.log_likelihood + 0.5 * self.log_det - design.m * float(np.log(np.diag(design.back)).sum())


def _value(design: Design, standard: np.ndarray, jeffreys: bool) -> _Point:
    def sums(a, y, w):
        margins = np.column_stack([np.zeros(len(a)), a @ standard.T])
        proba, level = probabilities(margins[:, 1:])
        right = np.take_along_axis(margins, y[:, None].astype(np.intp), 1)[:, 0]
        rest = (y[:, None] == np.arange(1, design.k)) - proba[:, 1:]
        return np.sum(w * (right - level)), (w[:, None] * rest).T @ a, information(a, proba, w)

    log_likelihood, score, matrix = design.total(sums)
    size = np.sqrt(np.diag(matrix))
    unit = 1.0 / np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(matrix * np.outer(unit, unit))
    known = values > 1e-14 * len(values)
    root = (unit[:, None] * vectors[:, known]) / np.sqrt(values[known])
    log_det = float(np.log(values[known]).sum() - 2 * np.log(unit).sum()) if known.all() else -np.inf
    value = float(log_likelihood) + (0.5 * log_det if jeffreys else 0.0)
    return _Point(float(log_likelihood), log_det, value, score, root)


def _slope(design: Design, standard: np.ndarray, at: _Point, jeffreys: bool) -> np.ndarray:
    return at.score + (_pull(design, standard, at.root) if jeffreys else 0.0)


def _pull(design: Design, standard: np.ndarray, root: np.ndarray) -> np.ndarray:
    """½ ∂ log det H / ∂θ, (m, p)."""
    roots = root.reshape(design.m, design.p, -1)

    def sums(a, y, w):
        proba = probabilities(a @ standard.T)[0][:, 1:]
        lever = np.einsum("np,mpq->nmq", a, roots, optimize=True)
        size = np.einsum("nmq,nmq->nm", lever, lever)  # diag Q
        across = np.einsum("nmq,nq->nm", lever, np.einsum("nmq,nm->nq", lever, proba))  # Q P
        push = proba * (size - 2 * across)
        push -= proba * push.sum(axis=1, keepdims=True)
        return (0.5 * w[:, None] * push).T @ a

    return design.total(sums)


def check_collinear(design: Design, columns: Sequence[str] | None = None) -> None:
    """Raise an error if a column is a linear combination of others: Jeffreys' prior does not exist then."""
    gram = design.total(lambda a, y, w: a.T @ (a * w[:, None]))
    size = np.sqrt(np.diag(gram))
    unit = 1.0 / np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    blind = np.abs(vectors[:, values <= NULL]).max(axis=1, initial=0.0) > 1e-6
    blind = blind[int(design.intercept) :]
    if not (values <= NULL).any():
        return
    names = column_labels(len(blind)) if columns is None else columns
    named = [str(name) for name, out in zip(names, blind, strict=True) if out]
    raise SingularError(
        f"penalty='jeffreys' has no answer: {design.x.n} rows do not distinguish columns {named[:6]}"
        f"{' and more' if len(named) > 6 else ''} (constant, repeated, or a combination of others)\n\n"
        "hint: leave some of them out, or use an L2 penalty (a finite C)"
    )
