"""Columns that know too much: one that alone nearly decides the class, by its cells or by whether they are there.

Such a column is often written down after the outcome (the lifeboat of a passenger, the day of a discharge), and a model
with it is good only on the rows it learned from. Two signs:

    skill = 1 − (log loss of the column alone, leaving rows out) / (log loss of the class shares)  ≥ 0.8
    given (or missing) cells are nearly all of one class, far more of them than its share explains

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.arange(200) % 2
>>> later = np.where((y == 1) & (rng.random(200) < 0.5), 1.0, np.nan)
>>> X = np.column_stack([rng.normal(size=200), y + 0.01 * rng.normal(size=200), later])
>>> for leak in leaks(X, y):
...     print(leak)
`1` alone tells the class of 100.0 % of the rows
`2` is given in 43 rows, and 100.0 % of them are `1` (50.0 % of all rows are)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import frames, ingest, scores
from deciban.classifiers.mixed import MixedNB

SKILL = 0.8
PURE = 0.98  # share of one class among the rows that have a cell, or have none
SURE = 25.0  # nats by which the class's own share fails to explain that
ROWS = 20_000  # that are looked at, evenly spaced


@dataclass(frozen=True)
class Leak:
    """A column that may know the outcome."""

    column: str
    words: str
    share: float  # of rows that are told right by it

    def __str__(self) -> str:
        return f"`{self.column}` {self.words}"


def leaks(X: Any, y: Any) -> list[Leak]:
    """The suspicious columns of a frame or an array, most telling first.

    >>> leaks([[0.0], [1.0], [0.5]], ["a", "b", "a"])  # too few rows to suspect anything
    []
    """
    classes, codes = ingest.labels(np.asarray(y), None)
    n, k = len(codes), len(classes)
    if n < 20 or k < 2:
        return []
    at = np.linspace(0, n - 1, min(n, ROWS)).astype(np.int64)
    codes = codes[at]
    names, columns = _columns(X, at)
    prior = np.bincount(codes, minlength=k) / len(codes)
    base = scores.shares_log_loss(codes)
    found = []
    for name, column in zip(names, columns, strict=True):
        leak = _alone(name, column, codes, base) or _by_absence(name, column, codes, prior, classes)
        found += [leak] if leak else []
    return sorted(found, key=lambda leak: -leak.share)


def _columns(X: Any, at: np.ndarray) -> tuple[list[str], list[np.ndarray]]:
    """Names, and columns of plain cells, of some of the rows."""
    found = frames.columns(X if frames.is_frame(X) else np.asarray(X))
    return [str(c.name) for c in found], [frames.Column(c.name, c.values[at], c.levels).named() for c in found]


def _alone(name: str, column: np.ndarray, y: np.ndarray, base: float) -> Leak | None:
    cells = column[:, None]
    if len(np.unique(y)) < 2 or _nothing(column).all():
        return None
    log_proba = MixedNB(missing="informative").fit(cells, y).leave_one_out(cells, y)
    if 1.0 - scores.log_loss(y, log_proba) / base < SKILL:
        return None
    right = scores.accuracy(y, log_proba)
    return Leak(name, f"alone tells the class of {100 * right:.1f} % of the rows", right)


def _by_absence(name: str, column: np.ndarray, y: np.ndarray, prior: np.ndarray, classes: np.ndarray) -> Leak | None:
    gone = _nothing(column)
    for word, rows in (("given", ~gone), ("missing", gone)):
        if not rows.any() or rows.all():
            continue
        count = np.bincount(y[rows], minlength=len(prior))
        top = int(count.argmax())
        share = count[top] / count.sum()
        surprise = count.sum() * np.log(share / prior[top]) if share > 0 else 0.0
        if share >= PURE and prior[top] < 0.95 and surprise > SURE:
            return Leak(
                name,
                f"is {word} in {count.sum():,} rows, and {100 * share:.1f} % of them are `{classes[top]}` "
                f"({100 * prior[top]:.1f} % of all rows are)",
                float(share * rows.mean()),
            )
    return None


def _nothing(column: np.ndarray) -> np.ndarray:
    """Which cells are missing."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array([cell is None or cell != cell for cell in column])
