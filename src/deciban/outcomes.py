"""Labels and probabilities as yes or no: was it this class, and how probable was that said to be?

>>> import numpy as np
>>> for one in against_rest(["a", "b", "b"], np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])):
...     print(one.label, one.hit.tolist(), one.score.tolist())
b [False, True, True] [0.1, 0.8, 0.4]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.errors import DataError


@dataclass(frozen=True, eq=False)
class Outcome:
    """One class against the rest."""

    label: Any
    place: int  # of the class among all
    hit: np.ndarray  # (n,), bool
    score: np.ndarray  # (n,), the probability that it was said to have


def codes_of(y: Any, classes: np.ndarray) -> np.ndarray:
    """The places of labels among the classes; all must be there."""
    y, order = np.asarray(y), np.argsort(classes)
    at = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(classes) - 1)]
    strange = classes[at] != y
    if strange.any():
        raise DataError(
            f"class {np.unique(y[strange]).tolist()} is not among {classes.tolist()}\n\n"
            "hint: give `classes`, the classes of the columns of `proba`, in their order (a model's `classes_`)"
        )
    return at


def checked(y: Any, proba: Any, classes: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(classes (k,), y as codes (n,), proba (n, k)); probabilities (n,) are those of the second of two classes."""
    try:
        y, proba = np.asarray(y), np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "what should be probabilities are no numbers\n\nhint: pass `model.predict_proba(X)`, or (model, X, y)"
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


def against_rest(y: Any, proba: Any, classes: Any = None, of: Any = None) -> list[Outcome]:
    """Every class against the rest; of two classes the second alone; or the class `of`."""
    known, codes, proba = checked(y, proba, classes)
    every = [1] if len(known) == 2 else list(range(len(known)))
    if of is not None and of not in known.tolist():
        raise DataError(f"class {of!r} is not among {known.tolist()}\n\nhint: `of` is one of these")
    places = every if of is None else codes_of([of], known).tolist()
    return [Outcome(known[c], c, codes == c, proba[:, c]) for c in places]


def roc(hit: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of misses and of hits that score at least as much, for every distinct score from the top; from (0, 0).

    >>> [line.tolist() for line in roc(np.array([True, False]), np.array([0.9, 0.2]))]
    [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    """
    hits, taken = _taken(hit, score)
    misses = taken - hits
    return misses / max(misses[-1], 1), hits / max(hits[-1], 1)


def precision_recall(hit: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(recall, precision, average precision) for every distinct score from the top.

    >>> recall, precision, average = precision_recall(np.array([True, False, True]), np.array([0.9, 0.5, 0.2]))
    >>> recall.tolist(), precision.round(2).tolist(), round(average, 3)
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.67], 0.833)
    """
    hits, taken = (a[1:] for a in _taken(hit, score))
    recall, precision = hits / max(hits[-1], 1), hits / taken
    return recall, precision, float((np.diff(recall, prepend=0.0) * precision).sum())


def _taken(hit: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hits, and all rows, that score at least as much as each distinct score, from the top; 0 first."""
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.r_[np.diff(score[order]) != 0, True]) if len(order) else np.zeros(0, int)
    return np.r_[0, np.cumsum(hit[order])[ends]], np.r_[0, ends + 1]
