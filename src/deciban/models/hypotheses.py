"""Weights of hypotheses h, and predictions by them. Arrays in, arrays out: m hypotheses, n rows, k classes.

    posterior      P(h | D) ∝ P(D | h) P(h)
    MAP            argmax_h P(h | D)
    MDL            argmin_h −log₂ P(D | h) − log₂ P(h), in bits: the same hypothesis
    Bayes-optimal  P(c | x) = Σ_h P(c | x, h) P(h | D); may differ from every single h
    Gibbs          one h drawn by P(h | D): wrong at most twice as often, on average over concepts drawn from the prior
                   (Haussler, Kearns and Schapire 1994)
    temperature    of a mean: probabilities that are right become too cautious where they are averaged (Ranjan and
                   Gneiting 2010)
    stacking       weights that maximise the likelihood of held-out rows, argmax Σ_i log Σ_h w_h p_h(y_i)
                   (Yao, Vehtari, Simpson and Gelman 2018): concave, so EM finds the global maximum

Evidences P(D | h) compare only if they are probabilities of the same data D. A generative model has p(X | y), which
with p(y) (a uniform Dirichlet prior over the class shares, the same for all models) is p(X, y); a discriminative one
has p(y | X). Densities of numbers do not compare with probabilities of levels, nor transformed columns with others.

>>> votes = np.log([[[1.0, 1e-300]], [[1e-300, 1.0]], [[1e-300, 1.0]]])  # of three hypotheses about one row: +, −, −
>>> np.exp(bayes_optimal(votes, np.array([0.4, 0.3, 0.3]))).round(9).tolist()
[[0.4, 0.6]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from deciban import decision
from deciban.errors import DataError
from deciban.estimation.dirichlet import log_evidence

HELD_OUT = "compare models by held-out rows instead: 'loo'"
BIT = np.log(2.0)  # nats in a bit
TOLERANCE = 1e-7  # EM stops when no weight changes by more
STEPS = 2000
LOST = 700.0  # nats: log probabilities are clipped here where a temperature is found
STRONGEST = 2.0  # largest logarithm of a temperature


class NoEvidenceError(DataError):
    """A model has no evidence, or evidences are not of the same data."""


def check_same_data(kinds: Sequence[str], names: Sequence[str], by: str = "evidence") -> None:
    """Raise an error for probabilities of different data; `kinds` says of what each is the probability, `by` is the
    setting that compares them."""
    if len(set(kinds)) > 1:
        each = "; ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
        raise NoEvidenceError(f"{by} would compare probabilities of different data ({each})\n\nhint: {HELD_OUT}")


def class_evidence(n: np.ndarray) -> float:
    """log p(y) of so many rows of each class (k,), with a uniform Dirichlet prior over the class shares.

    >>> round(np.exp(-class_evidence(np.array([1.0, 1.0]))))  # 1/2 · 1/3
    6
    """
    counts = np.asarray(n, dtype=np.float64)[None]
    return float(log_evidence(counts, np.array([0, counts.shape[1]]), 1.0)[0, 0])


def log_weights(weights: Any, names: Sequence[str]) -> np.ndarray:
    """log of the weights of models, scaled to sum 1, (m,): from numbers in the order of the names or by name; None:
    equal weights.

    >>> np.exp(log_weights({"b": 3, "a": 1}, ["a", "b"])).round(9).tolist()
    [0.25, 0.75]
    """
    if weights is None:
        return np.full(len(names), -np.log(len(names)))
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise DataError(f"prior names {list(weights)}, but the models are {list(names)}\n\nhint: name each once")
        weights = [weights[name] for name in names]
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (len(names),) or not (np.isfinite(given) & (given >= 0)).all() or not given.sum() > 0:
        raise DataError(
            f"weights of models are {weights!r}, and there are {len(names)} models\n\n"
            "hint: give a number ≥ 0 for each, not all of them 0"
        )
    return decision.log_prior(given)


def posterior(log_evidence: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """P(h | D) (m,) from log P(D | h) and log P(h), either up to a constant.

    >>> posterior(np.log([0.2, 0.1]), np.log([0.25, 0.5])).round(9).tolist()
    [0.5, 0.5]
    """
    joint = log_evidence + log_prior
    share = np.exp(joint - joint.max())  # its sum is exact where evidences are so large that that of the logs is not
    return share / share.sum()


def description_length(log_evidence: np.ndarray, log_prior: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(−log₂ P(D | h), −log₂ P(h), their sum), (m,) each: bits of the data given h, of h, and of both.

    >>> [a.tolist() for a in description_length(np.log([0.5, 0.125]), np.log([0.25, 0.5]))]
    [[1.0, 3.0], [2.0, 1.0], [3.0, 4.0]]
    """
    data, own = -log_evidence / BIT, -log_prior / BIT
    return data, own, data + own


def bayes_optimal(log_proba: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """log Σ_h w_h P(c | x, h) (n, k), from log P(c | x, h) (m, n, k). Where a hypothesis has NaN for a row, the others
    share its weight.

    >>> np.exp(bayes_optimal(np.log([[[0.9, 0.1]], [[np.nan, np.nan]]]), np.array([0.2, 0.8]))).round(9).tolist()
    [[0.9, 0.1]]
    """
    undefined = np.isnan(log_proba).any(axis=2)
    each = np.broadcast_to(weights[:, None], undefined.shape)
    if undefined.any():
        log_proba = np.where(undefined[:, :, None], -np.inf, log_proba)
        each = np.where(undefined, 0.0, each)
        each = np.where(each.sum(axis=0) > 0, each, ~undefined)
        each = each / each.sum(axis=0)
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(np.log(each)[:, :, None] + log_proba, axis=0)


def gibbs(log_proba: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Log probabilities (n, k) by the hypothesis drawn for each row (n,).

    >>> gibbs(np.log([[[0.9, 0.1]] * 2, [[0.2, 0.8]] * 2]), np.array([1, 0])).round(2).tolist()
    [[-1.61, -0.22], [-0.11, -2.3]]
    """
    return log_proba[drawn, np.arange(len(drawn))]


def draws(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n hypotheses drawn by their weights, (n,)."""
    return rng.choice(len(weights), size=n, p=weights / weights.sum())


def sharpened(log_proba: np.ndarray, log_prior: np.ndarray, temperature: float) -> np.ndarray:
    """log P(c | x) ∝ log prior_c + temperature · (log proba_c − log prior_c), (n, k): evidence of another strength.

    >>> np.exp(sharpened(np.log([[0.8, 0.2]]), np.log([0.5, 0.5]), 2.0)).round(3).tolist()
    [[0.941, 0.059]]
    """
    if temperature == 1.0:
        return log_proba
    base = np.where(np.isfinite(log_prior), log_prior, 0.0)
    out = base + temperature * (log_proba - base)
    top = out.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        out = out - top
        out -= np.log(np.exp(out).sum(axis=1, keepdims=True))
    return np.where(np.isfinite(top), out, log_proba)


def best_temperature(log_proba: np.ndarray, log_prior: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """The temperature by which `sharpened` held-out probabilities (n, k) make the classes y most probable.

    Its logarithm has a standard normal prior. Rows whose class has probability 0 are ignored.

    >>> y = np.tile([0, 0, 0, 0, 1], 40)  # a mean of two forecasts that are right says too little
    >>> round(best_temperature(np.log(np.tile([[0.7, 0.3]], (200, 1))), np.log([0.5, 0.5]), y, np.ones(200)), 1)
    1.6
    """
    rows = np.arange(len(y))
    fine = log_proba[rows, y] > -np.inf
    logs, y, w, rows = np.maximum(log_proba[fine], -LOST), y[fine], w[fine], rows[: int(fine.sum())]

    def loss(log_temperature: float) -> float:
        out = sharpened(logs, log_prior, float(np.exp(log_temperature)))
        return float(0.5 * log_temperature**2 - w @ out[rows, y])

    return float(np.exp(minimize_scalar(loss, bounds=(-STRONGEST, STRONGEST), method="bounded").x))


def stacking_weights(
    log_proba: np.ndarray, prior: np.ndarray, w: np.ndarray | None = None, prior_rows: float = 1.0
) -> np.ndarray:
    """Weights (m,) that maximise the likelihood of the rows, from held-out log probabilities of the true classes (m,
    n); `prior` counts as `prior_rows` rows. Rows to which every model gives probability 0 are ignored.

    >>> stacking_weights(np.log([[0.9, 0.9, 0.2], [0.5, 0.5, 0.5]]), np.array([0.5, 0.5])).round(2).tolist()
    [0.55, 0.45]
    >>> stacking_weights(np.log([[0.9, 0.9, 0.9], [0.5, 0.5, 0.5]]), np.array([0.5, 0.5])).round(2).tolist()
    [0.77, 0.23]
    """
    best = log_proba.max(axis=0)
    fine = best > -np.inf
    likelihood = np.exp(log_proba[:, fine] - best[fine])  # up to a factor for each row
    weight = np.ones(likelihood.shape[1]) if w is None else w[fine]
    now = prior / prior.sum()
    more, whole = prior_rows * now, weight.sum() + prior_rows
    for _ in range(STEPS):
        new = (now * (likelihood @ (weight / (now @ likelihood))) + more) / whole
        moved, now = np.abs(new - now).max(), new
        if moved <= TOLERANCE:
            break
    return now / now.sum()
