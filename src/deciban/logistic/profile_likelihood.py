"""Profile-likelihood intervals of coefficients.

    { b :  2 (max ℓ − max over θ with θ_j = b of ℓ) ≤ χ²(level) }

with ½ log det H added to ℓ for Firth's estimate (G. Heinze and M. Schemper 2002). Unlike coef ± errors they need not be
symmetric, and they are valid if an estimate is far from normal: few rows, or separated classes.

One row of 0 and two of 1, without columns: all probabilities whose likelihood is at least exp(−χ²/2) of the largest.

>>> import numpy as np
>>> design = Design.of(np.zeros((3, 0)), np.array([0, 1, 1]), None, k=2)
>>> low, high = ends(design, np.log([[2.0]]), np.eye(1), 0.95, jeffreys=False)
>>> proba = 1 / (1 + np.exp(-np.array([low[0, 0], high[0, 0]])))
>>> (proba * (1 - proba) * proba * 27 / 4).round(4).tolist(), round(float(np.exp(-3.8415 / 2)), 4)
([0.1465, 0.1465], 0.1465)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from deciban.errors import DataError
from deciban.logistic.design import Design
from deciban.logistic.firth import fisher_scoring
from deciban.logistic.separation import certified
from deciban.logistic.summary import check_level, relevel_classes

NOTE = "intervals by profile likelihood; z and p by the errors"
MOST = 100  # largest number of coefficients; each takes about thirty fits
TWICE = 30  # steps after which an end counts as infinite


def intervals(
    design: Design, theta: np.ndarray, classes: np.ndarray, how: str, kind: str, level: float, reference: Any
) -> np.ndarray:
    """Both ends, (2, m, p), for each class against the reference; `kind` is that of the penalty."""
    check_level(level)
    if how != "profile":
        raise DataError(f"`intervals` is {how!r}\n\nhint: 'wald' (coef ± errors) or 'profile'")
    if kind not in ("none", "jeffreys"):
        raise DataError(
            "profile likelihood needs an estimate without penalty, or Firth's\n\nhint: C=np.inf or penalty='jeffreys'"
        )
    if kind == "none" and not certified(design, theta):
        raise DataError(
            "the classes are separated, or the fit is not at the maximum of the likelihood: there is nothing to profile"
            "\n\nhint: penalty='jeffreys' has finite estimates; or fit with a smaller tol"
        )
    if theta.size > MOST:
        raise DataError(f"{theta.size} coefficients are too many to profile\n\nhint: intervals='wald'")
    return ends(design, theta, relevel_classes(np.asarray(classes), reference)[0], level, kind == "jeffreys")


def ends(design: Design, theta: np.ndarray, turn: np.ndarray, level: float, jeffreys: bool) -> np.ndarray:
    """Both ends (2, m, p) of the intervals of turn · θ, where θ (m, p) is the estimate."""
    best = fisher_scoring(design, jeffreys=jeffreys, start=design.standard(theta))
    top = best.penalised if jeffreys else best.log_likelihood
    out = np.empty((2, *theta.shape))
    for c in range(len(theta)):
        for j in range(theta.shape[1]):
            held = np.outer(turn[c], design.back[j])
            middle = float(turn[c] @ best.theta[:, j])
            for side, sign in enumerate((-1.0, 1.0)):
                root = _root(design, best.theta, top, sign * held, jeffreys)
                out[side, c, j] = middle + sign * crossing(root, level)
    return out


def _root(design: Design, theta: np.ndarray, top: float, held: np.ndarray, jeffreys: bool) -> Callable[[float], float]:
    """t → √(2 (max ℓ − max ℓ with `held` · parameters changed by t)); each maximisation starts from the last."""
    best = design.standard(theta)
    way = held / np.sum(held**2)
    # symmetric rows have saddle points, where a slope of exactly 0 would stop the maximisation
    aside = 1e-2 * np.cos(np.arange(best.size)).reshape(best.shape)
    aside -= np.sum(aside * held) * way

    def root(t: float) -> float:
        nonlocal way
        if t == 0.0:
            return 0.0
        found = fisher_scoring(design, jeffreys=jeffreys, tol=1e-12, start=best + t * way + aside, held=held)
        way = (design.standard(found.theta) - best) / t
        return float(np.sqrt(2.0 * max(top - (found.penalised if jeffreys else found.log_likelihood), 0.0)))

    return root


def crossing(root: Callable[[float], float], level: float) -> float:
    """The t > 0 at which the root of the likelihood ratio reaches the quantile of the level; ∞ if it never does."""
    enough = float(ndtri((1 + level) / 2))
    t, seen = 1e-3, 0.0
    for _ in range(TWICE):
        before, seen = seen, root(t)
        if seen >= enough:
            return float(brentq(lambda t: root(t) - enough, 0.0, t, xtol=1e-9 * t, rtol=1e-9))
        # nearly linear: go a little beyond the linear extrapolation, unless it flattens out
        t *= min(max(1.1 * enough / max(seen, 1e-9), 1.5), 1e3) if seen > before else 2.0
    return np.inf
