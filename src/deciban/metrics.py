"""Scores of predicted probabilities: log loss, Brier score, accuracy, calibration, confusion; their intervals.

Class codes y (n,) and probabilities (n, k) in, numbers out; weights w (n,) count like repetitions.

>>> import numpy as np
>>> y, proba = np.array([0, 1, 1]), np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
>>> round(log_loss(y, np.log(proba)), 4), round(brier(y, proba), 4), round(accuracy(y, proba), 4)
(0.646, 0.46, 0.6667)

One-versus-rest outcomes: whether each row is of a class, and its predicted probability.

>>> import numpy as np
>>> for one in one_vs_rest_outcomes(["a", "b", "b"], np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])):
...     print(one.label, one.hit.tolist(), one.score.tolist())
b [False, True, True] [0.1, 0.8, 0.4]

95 % intervals:

    shares   Wilson: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), good for few rows and for 0 and 1
    means    mean ± z · deviation / √n
    others   bootstrap: the middle 95 % of resampled values, shifted so that its middle is the value (the calibration
             error of resampled rows is biased upwards)

>>> estimate = proportion_interval(9, 10)
>>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
(0.9, 0.596, 0.982)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.errors import DataError

TIE = 1e-9  # relative difference of (log) probabilities that is rounding


def log_loss(y: np.ndarray, log_proba: np.ndarray, w: np.ndarray | None = None, floor: float = -np.inf) -> float:
    """Mean of −log P(true class). A true class of probability 0 makes it ∞, unless log probabilities are cut off at
    `floor` (scikit-learn's is log 2.2e-16).

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.
    log_proba : array of shape (n, k)
        The logarithms of the predicted probabilities.
    w : array of shape (n,), or None
        The weights of the rows.
    floor : float
        The least log probability that counts.

    Returns
    -------
    float
        The mean over the rows.

    See Also
    --------
    brier : Squared errors of probabilities.

    Examples
    --------
    >>> y, log_proba = np.array([1]), np.array([[0.0, -np.inf]])
    >>> log_loss(y, log_proba), log_loss(y, log_proba, floor=-9)
    (inf, 9.0)
    """
    true = np.take_along_axis(log_proba, y[:, None], axis=1)[:, 0]
    return 0.0 - _mean(np.maximum(true, floor), w)


def prior_log_loss(y: np.ndarray) -> float:
    """Log loss of always predicting the class frequencies.

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.

    Returns
    -------
    float
        The mean over the rows.

    See Also
    --------
    log_loss : Log loss of predictions.

    Examples
    --------
    >>> round(prior_log_loss(np.array([0, 1, 1, 1])), 4)
    0.5623
    """
    share = np.bincount(y) / max(len(y), 1)
    share = share[share > 0]
    return 0.0 - float((share * np.log(share)).sum())


def brier(y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None) -> float:
    """Mean of Σ_c (P(c) − [c is true])², 0 … 2; for two classes scikit-learn's is half of it.

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.
    proba : array of shape (n, k)
        The predicted probabilities.
    w : array of shape (n,), or None
        The weights of the rows.

    Returns
    -------
    float
        The mean over the rows.

    See Also
    --------
    log_loss : Log loss of predictions.

    Examples
    --------
    >>> brier(np.array([0]), np.array([[0.0, 1.0]]))
    2.0
    """
    return _mean(((proba - np.eye(proba.shape[1])[y]) ** 2).sum(axis=1), w)


def accuracy(y: np.ndarray, proba: np.ndarray, w: np.ndarray | None = None) -> float:
    """Share of the rows whose most probable class (or largest log probability) is the true one; where m classes share
    the largest, a row counts 1/m if the true one is among them.

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.
    proba : array of shape (n, k)
        The predicted probabilities.
    w : array of shape (n,), or None
        The weights of the rows.

    Returns
    -------
    float
        The mean over the rows.

    See Also
    --------
    log_loss : Log loss of predictions.

    Examples
    --------
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
    """Mean over rows of `|share of hits − mean confidence|` in the row's bin, of the most probable class.

    Bins cut the confidence 0 … 1 into pieces of even width, or hold even numbers of rows (`equal_mass`; rows of one
    confidence stay together).

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.
    proba : array of shape (n, k)
        The predicted probabilities.
    w : array of shape (n,), or None
        The weights of the rows.
    bins : int
        The number of bins.
    equal_mass : bool
        Whether bins have equal numbers of rows, not equal widths.

    Returns
    -------
    float
        The mean over the rows.

    See Also
    --------
    brier : Squared errors of probabilities.

    Examples
    --------
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
    """How much weight of each true class (rows) was decided as each class (columns).

    Parameters
    ----------
    y : array of shape (n,)
        The class codes, 0 to k − 1.
    decided : array of shape (n,)
        The codes of the predicted classes.
    k : int
        The number of classes.
    w : array of shape (n,), or None
        The weights of the rows.

    Returns
    -------
    ndarray of shape (k, k)
        The weight of the rows of each true class (rows) predicted as each class (columns).

    See Also
    --------
    accuracy : Share of correct predictions.

    Examples
    --------
    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    return np.bincount(y * k + decided, w, minlength=k * k).astype(np.float64).reshape(k, k)


def fisher_ratio(X: Any, y: Any, w: Any) -> float | np.ndarray:
    """Fisher's ratio of a direction: variance between two classes over variance within them,
    (w·(μ_k − μ_l))² / (w·(Σ_k + Σ_l)w), with covariances over n.

    Parameters
    ----------
    X, y : rows and labels
        Rows (n, d) and their labels.
    w : array of shape (d,) or (pairs, d)
        A direction; or one for each pair of classes, as `coef_` of a `FisherDiscriminant`, which maximise the ratio.

    Returns
    -------
    float or ndarray of shape (pairs,)
        Of two classes a number; of more, one for each pair of classes (1 : 0, 2 : 0, …, 2 : 1, …).

    See Also
    --------
    accuracy : Share of correct predictions.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [2.0, 0.0], [4.0, 1.0], [6.0, 1.0]], [0, 0, 1, 1]
    >>> fisher_ratio(X, y, [1.0, 0.0]), fisher_ratio(X, y, [1.0, 1.0])
    (8.0, 12.5)
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    w = np.atleast_2d(np.asarray(w, dtype=np.float64))
    pairs = [(a, b) for a in range(len(classes)) for b in range(a + 1, len(classes))]
    X = np.asarray(X, dtype=np.float64)
    if not pairs or len(w) not in (1, len(pairs)) or w.shape[1:] != X.shape[1:]:
        raise DataError(
            f"`w` has the shape {w.shape}, X has {X.shape[-1]} columns and y {len(classes)} classes\n\n"
            "hint: give one direction, or one for each pair of classes, in rows of two classes or more"
        )
    z = X @ w.T  # (n, 1 or pairs)
    mean, var = (np.stack([f(z[codes == c], axis=0) for c in range(len(classes))]) for f in (np.mean, np.var))
    a, b = np.array(pairs).T
    at = np.arange(len(pairs)) % len(w)
    with np.errstate(invalid="ignore", divide="ignore"):
        out = (mean[a, at] - mean[b, at]) ** 2 / (var[a, at] + var[b, at])
    return float(out[0]) if len(pairs) == 1 else out


def total(values: np.ndarray, w: np.ndarray | None = None) -> float:
    """Σ w · value, each product rounded by itself and their sum rounded once: it depends on no order and no threads.

    >>> total(np.array([1e16, 1.0, -1e16])), total(np.array([3.0, np.inf]), np.array([2.0, 0.5]))
    (1.0, inf)
    """
    terms = np.asarray(values if w is None else values * w, dtype=np.float64)
    return math.fsum(terms.tolist()) if np.isfinite(terms).all() else float(terms.sum())


def _mean(values: np.ndarray, w: np.ndarray | None) -> float:
    """Rows of weight 0 count for nothing, even where they are infinite; the mean of nothing is NaN."""
    if w is None:
        return total(values) / len(values) if len(values) else np.nan
    some = w > 0
    return total(values[some], w[some]) / total(w[some]) if some.any() else np.nan


@dataclass(frozen=True, eq=False)
class Outcome:
    """One class against the rest."""

    label: Any
    place: int  # of the class among all
    hit: np.ndarray  # (n,), bool
    score: np.ndarray  # (n,), the predicted probability of the class


def codes_of(y: Any, classes: np.ndarray) -> np.ndarray:
    """The places of labels among the classes; all must be there."""
    y, order = np.asarray(y), np.argsort(classes)
    at = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
    unknown = classes[at] != y
    if unknown.any():
        raise DataError(
            f"class {np.unique(y[unknown]).tolist()} is not among {classes.tolist()}\n\n"
            "hint: give `classes`, the classes of the columns of `proba`, in their order (a model's `classes_`)"
        )
    return at


def checked(y: Any, proba: Any, classes: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(classes (k,), y as codes (n,), proba (n, k)); probabilities (n,) are those of the second of two classes."""
    try:
        y, proba = np.asarray(y), np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "the probabilities are not numeric\n\nhint: pass `model.predict_proba(X)`, or (model, X, y)"
        ) from None
    if y.ndim != 1:
        raise DataError(f"y has shape {y.shape}\n\nhint: give (y, proba), or (model, X, y)")
    known = np.unique(y) if classes is None else np.asarray(classes)
    if proba.ndim == 1:
        proba = np.column_stack([1 - proba, proba])
    if proba.shape != (len(y), len(known)):
        raise DataError(
            f"probabilities of {len(y)} rows and {len(known)} classes should be {(len(y), len(known))}, "
            f"not {proba.shape}\n\nhint: pass `model.predict_proba(X)` and classes=model.classes_"
        )
    return known, codes_of(y, known), proba


def one_vs_rest_outcomes(y: Any, proba: Any, classes: Any = None, of: Any = None) -> list[Outcome]:
    """Every class against the rest; of two classes the second alone; or the class `of`."""
    known, codes, proba = checked(y, proba, classes)
    every = [1] if len(known) == 2 else list(range(len(known)))
    if of is not None and of not in known.tolist():
        raise DataError(f"class {of!r} is not among {known.tolist()}\n\nhint: `of` is one of these")
    places = every if of is None else codes_of([of], known).tolist()
    return [Outcome(known[c], c, codes == c, proba[:, c]) for c in places]


def reliability_outcome(y: Any, proba: Any, classes: Any = None, of: Any = None) -> Outcome:
    """What a reliability diagram shows: the class `of`, or the second of two classes, or the most probable class of
    each row (without a label)."""
    known, codes, proba = checked(y, proba, classes)
    if of is None and len(known) > 2:
        return Outcome(None, -1, proba.argmax(axis=1) == codes, proba.max(axis=1))
    return one_vs_rest_outcomes(y, proba, known, of)[0]


def reliability_bins(hit: np.ndarray, score: np.ndarray, bins: int = 10) -> list[tuple[float, int, int] | None]:
    """(mean score, hits, rows) of each of `bins` bins of equal width; None where a bin is empty.

    >>> reliability_bins(np.array([False, True, True]), np.array([0.1, 0.75, 1.0]), 2)
    [(0.1, 0, 1), (0.875, 2, 2)]
    """
    place = np.minimum((score * bins).astype(int), bins - 1)
    inside = [place == b for b in range(bins)]
    return [(float(score[i].mean()), int(hit[i].sum()), int(i.sum())) if i.any() else None for i in inside]


def roc(hit: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates for every distinct score as a threshold, from the largest; first (0, 0). Without
    positives (or negatives) their rate is 0.

    >>> [line.tolist() for line in roc(np.array([True, False]), np.array([0.9, 0.2]))]
    [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    from sklearn.metrics import roc_curve  # slow to import

    with _undefined_ignored():
        false, true, _ = roc_curve(hit, score, pos_label=True, drop_intermediate=False)
    return np.nan_to_num(false), np.nan_to_num(true)


def precision_recall(hit: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(recall, precision, average precision) for every distinct score as a threshold, from the largest. Without
    positives recall and average precision are 0.

    >>> recall, precision, average = precision_recall(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]))
    >>> recall.tolist(), precision.round(2).tolist(), round(average, 3)
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.67], 0.833)
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    with _undefined_ignored():
        precision, recall, _ = precision_recall_curve(hit, score, pos_label=True)
        average = float(average_precision_score(hit, score)) if hit.any() else 0.0
    return recall[-2::-1] * hit.any(), precision[-2::-1], average  # without the point that scikit-learn adds


@contextmanager
def _undefined_ignored() -> Iterator[None]:
    """No warning of a rate of no rows."""
    from sklearn.exceptions import UndefinedMetricWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.filterwarnings("ignore", "No positive class found")
        yield


Z = 1.959963984540054
DRAWS = 200


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that it is good for; NaN where the rows say nothing."""

    value: float
    low: float
    high: float


def proportion_interval(hits: float, n: float) -> Estimate:
    """A share of n rows, by Wilson's interval. Hits need not be an integer (a tie of two classes is half a hit), which
    `scipy.stats.binomtest` does not allow.

    >>> proportion_interval(0, 0)
    Estimate(value=nan, low=0.0, high=1.0)
    """
    if n <= 0:
        return Estimate(np.nan, 0.0, 1.0)
    p = hits / n
    middle, half = p + Z * Z / (2 * n), Z * np.sqrt(p * (1 - p) / n + (Z / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)
    return Estimate(float(p), float(max(low, 0.0)), float(min(high, 1.0)))


def mean(values: np.ndarray, low: float = -np.inf, high: float = np.inf) -> Estimate:
    """The mean of one number a row, which lies within `low` and `high` by nature.

    >>> mean(np.array([1.0, 3.0])).value
    2.0
    """
    centre = float(values.mean())
    if len(values) < 2 or not np.isfinite(centre):
        return Estimate(centre, low, high)
    off = Z * float(values.std(ddof=1)) / np.sqrt(len(values))
    return Estimate(centre, max(centre - off, low), min(centre + off, high))


def area(hit: np.ndarray, score: np.ndarray) -> Estimate:
    """P(a hit scores above a miss), ties half: the area under the ROC curve, its error by DeLong et al. (1988).

    >>> area(np.array([False, True, True]), np.array([0.1, 0.4, 0.1])).value
    0.75
    """
    from scipy.stats import rankdata  # slow to import

    hits, misses = int(hit.sum()), int((~hit).sum())
    if not hits or not misses:
        return Estimate(np.nan, 0.0, 1.0)
    rank = rankdata(score)
    above = (rank[hit] - rankdata(score[hit])) / misses  # of each hit, the share of misses below it
    below = 1 - (rank[~hit] - rankdata(score[~hit])) / hits
    value = float(above.mean())
    error = np.sqrt(sum(v.var(ddof=1) / len(v) for v in (above, below) if len(v) > 1))
    return Estimate(value, max(0.0, value - Z * error), min(1.0, value + Z * error))


def bootstrap(statistic: Callable[[np.ndarray], float], n: int, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """A number of weighted rows, statistic(w), and how it scatters when rows are drawn again.

    >>> values = np.array([1.0, 2.0, 3.0])
    >>> estimate = bootstrap(lambda w: float(values @ w / w.sum()), 3)
    >>> estimate.value, 1.0 <= estimate.low < 2.0 < estimate.high <= 3.0
    (2.0, True)
    """
    rng = np.random.default_rng(seed)
    drawn = [statistic(np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)) for _ in range(draws)]
    value, (low, middle, high) = statistic(np.ones(n)), np.quantile(drawn, [0.025, 0.5, 0.975])
    return Estimate(value, value + float(low - middle), value + float(high - middle))
