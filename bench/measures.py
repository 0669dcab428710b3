"""Four numbers for a table of probabilities (n, k) and the true class codes (n,).

Accuracy: share of rows whose most probable class is the true one.
Log loss: mean −ln p(true class), p cut off at 2.2e−16 as scikit-learn does: a certain mistake costs 36 and not ∞.
Brier: mean Σ_c (p_c − 1[c is true])², from 0 to 2.
Expected calibration error: rows fall into 15 equally wide bins by their highest probability; the mean over rows of
|share right − mean probability| in their bin.

>>> measure(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1])).accuracy
0.5
"""

from dataclasses import dataclass

import numpy as np

BINS = 15
LEAST = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Measures:
    rows: int
    hits: int  # accuracy × rows: whole, so that ties are ties
    log_loss: float
    brier: float
    ece: float

    @property
    def accuracy(self) -> float:
        return self.hits / self.rows


def measure(proba: np.ndarray, y: np.ndarray) -> Measures:
    if not np.isfinite(proba).all():
        row = int(np.flatnonzero(~np.isfinite(proba).all(axis=1))[0])
        raise ValueError(f"row {row} has a probability that is no number\n\nhint: a model that does this has no score")
    right = proba.argmax(axis=1) == y
    true = proba[np.arange(len(y)), y]
    return Measures(
        rows=len(y),
        hits=int(right.sum()),
        log_loss=float(-np.log(np.clip(true, LEAST, 1)).mean()),
        brier=float((np.square(proba).sum(axis=1) - 2 * true + 1).mean()),
        ece=calibration_error(proba.max(axis=1), right),
    )


def calibration_error(confidence: np.ndarray, right: np.ndarray, bins: int = BINS) -> float:
    """
    >>> calibration_error(np.array([0.9, 0.9, 0.5]), np.array([True, False, True])).__round__(3)
    0.433
    """
    # A bin holds its upper edge: (0, 1/15], (1/15, 2/15], …
    which = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gap = np.bincount(which, weights=right - confidence, minlength=bins)
    return float(np.abs(gap).sum() / len(right))
