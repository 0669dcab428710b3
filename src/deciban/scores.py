"""How good probabilities are: log loss, Brier score, accuracy, calibration, confusion.

Class codes y (n,) and probabilities (n, k) in, numbers out; weights w (n,) count like repetitions.

>>> import numpy as np
>>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
>>> round(log_loss(y, np.log(proba)), 4), round(brier(y, proba), 4), round(accuracy(y, proba), 4)
(0.646, 0.46, 0.6667)
"""

from __future__ import annotations

import numpy as np

TIE = 1e-9  # relative difference of (log) probabilities that is rounding


def log_loss(y: np.ndarray, log_proba: np.ndarray, w: np.ndarray | None = None, floor: float = -np.inf) -> float:
    """Mean of −log P(true class). A true class of probability 0 makes it ∞, unless log probabilities are cut off at
    `floor` (scikit-learn's is log 2.2e-16).

    >>> y, log_proba = np.array([1]), np.array([[0.0, -np.inf]])
    >>> log_loss(y, log_proba), log_loss(y, log_proba, floor=-9)
    (inf, 9.0)
    """
    true = np.take_along_axis(log_proba, y[:, None], axis=1)[:, 0]
    return 0.0 - _mean(np.maximum(true, floor), w)


def shares_log_loss(y: np.ndarray) -> float:
    """The log loss of one who knows how common each class is, and nothing of the rows.

    >>> round(shares_log_loss(np.array([0, 1, 1, 1])), 4)
    0.5623
    """
    share = np.bincount(y) / max(len(y), 1)
    share = share[share > 0]
    return 0.0 - float((share * np.log(share)).sum())


def brier(y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None) -> float:
    """Mean of Σ_c (P(c) − [c is true])², 0 … 2. (For two classes scikit-learn's is half of it.)

    >>> brier(np.array([0]), np.array([[0.0, 1.0]]))
    2.0
    """
    return _mean(((proba - np.eye(proba.shape[1])[y]) ** 2).sum(axis=1), w)


def accuracy(y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None) -> float:
    """Share of the rows whose most probable class (or largest log probability) is the true one; where m classes share
    the largest, a row counts 1/m if the true one is among them.

    >>> accuracy(np.array([0, 0]), np.array([[0.6, 0.4], [0.3, 0.7]])), accuracy(np.array([1]), np.array([[0.5, 0.5]]))
    (0.5, 0.5)
    """
    return _mean(hits(y, proba), w)


def hits(y: np.ndarray, proba: np.ndarray) -> np.ndarray:
    """Of each row, what it adds to the accuracy: 1, 0, or 1/m where m classes share the largest probability. (n,)

    >>> hits(np.array([0, 2]), np.array([[0.4, 0.4, 0.2], [0.4, 0.4, 0.2]])).tolist()
    [0.5, 0.0]
    """
    top = proba.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # −∞ in all classes
        first = (proba >= top - TIE * np.maximum(np.abs(top), 1.0)) | (proba == top)
    return np.take_along_axis(first, y[:, None], axis=1)[:, 0] / np.maximum(first.sum(axis=1), 1)


def expected_calibration_error(
    y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None, bins: int = 15, equal_mass: bool = False
) -> float:
    """Mean over rows of |share of hits − mean confidence| in the row's bin, of the most probable class.

    Bins cut the confidence 0 … 1 into pieces of even width, or hold even numbers of rows (`equal_mass`; rows of one
    confidence stay together).

    >>> proba = np.array([[0.9, 0.1]] * 10)
    >>> round(expected_calibration_error(np.array([0] * 7 + [1] * 3), proba), 4)
    0.2
    """
    confidence, hit = proba.max(axis=1), proba.argmax(axis=1) == y
    inner = np.arange(1, bins) / bins
    edges = np.quantile(confidence, inner) if equal_mass else inner
    place = np.searchsorted(edges, confidence, side="left")  # a bin holds its upper edge
    w = np.ones(len(y)) if w is None else w
    gap = np.bincount(place, w * (hit - confidence), minlength=bins)
    return float(np.abs(gap).sum() / w.sum())


def confusion(y: np.ndarray, decided: np.ndarray, k: int, w: np.ndarray | None = None) -> np.ndarray:
    """How much weight of each true class (rows) was decided as each class (columns). (k, k)

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return np.bincount(y * k + decided, w, minlength=k * k).astype(np.float64).reshape(k, k)


def _mean(values: np.ndarray, w: np.ndarray | None) -> float:
    """Rows of weight 0 count for nothing, even where they are infinite; the mean of nothing is NaN."""
    if w is None:
        return float(values.mean()) if len(values) else np.nan
    some = w > 0
    return float(values[some] @ w[some] / w[some].sum()) if some.any() else np.nan
