"""Drift: columns whose distribution differs between two sets of rows.

It is measured by groups of cells. Numbers are cut at the deciles of the first rows, levels are their own groups (rare
ones together), and missing cells are a group. The distance is half the sum of the absolute differences of the groups'
shares (total variation), 0 … 1: the least share of rows that must have changed. A column is named if the distance is
large and Pearson's test of the two rows of counts rules out chance.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> found = drift(rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + [0, 2])
>>> [(one.column, round(one.distance, 1)) for one in found]
[('x1', 0.7)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2_contingency

from deciban.data import frames

CHANCE = 0.001  # probability of chance that is ruled out, over all columns or words together
DISTANCE = 0.1  # smallest change of a column, or of the share of texts with a word
DECILES = np.arange(1, 10) / 10
LEVELS = 30  # that are a group of their own
NONE = -1


@dataclass(frozen=True)
class Drift:
    """A column whose distribution changed."""

    column: str
    distance: float
    words: str


def drift(before: Any, after: Any) -> list[Drift]:
    """The columns (of equal names, or positions) whose distribution changed, the largest distance first.

    >>> drift([[1.0], [2.0]], [[1.0], [2.0]])
    []
    """
    if sparse.issparse(before) or sparse.issparse(after):
        return []
    return drift_of_columns(_columns(before), _columns(after))


def drift_of_columns(
    before: Sequence[frames.Column],
    after: Sequence[frames.Column],
    than: str = "training",
    row: str = "training row",
    chance: float = CHANCE,
) -> list[Drift]:
    """The same of columns; `than` and `row`: what the rows before are called, `chance`: the probability ruled out."""
    old, new = ({c.name: c for c in columns} for columns in (before, after))
    both = [name for name in old if name in new]
    found = [_compare(old[name], new[name], chance / max(len(both), 1), than, row) for name in both]
    return sorted((one for one in found if one is not None), key=lambda one: -one.distance)


def shares_moved(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """(distance, p-value of Pearson's test) of two rows of counts of the same groups.

    >>> [round(float(v), 3) for v in shares_moved(np.array([50, 50]), np.array([80, 20]))]
    [0.3, 0.0]
    """
    counts = np.stack([before, after]).astype(np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    rows = counts.sum(axis=1, keepdims=True)
    if counts.shape[1] < 2 or (rows == 0).any():
        return 0.0, 1.0
    distance = float(np.abs(np.diff(counts / rows, axis=0)).sum() / 2)
    return distance, float(chi2_contingency(counts, correction=False).pvalue)


def _columns(X: Any) -> list[frames.Column]:
    return frames.columns(X if frames.is_frame(X) else np.asarray(X))


def _compare(old: frames.Column, new: frames.Column, chance: float, than: str, row: str) -> Drift | None:
    if (old.levels is None) != (new.levels is None):
        old, new = old.as_levels(), new.as_levels()
    numbers = old.levels is None
    a, b, groups, unknown = _groups_of_numbers(old, new) if numbers else _groups_of_levels(old, new)
    distance, p = shares_moved(np.bincount(a, minlength=groups), np.bincount(b, minlength=groups))
    if distance < DISTANCE or p > chance:
        return None
    words = f"`{old.label}` differs from {than} in at least {100 * distance:.0f} % of the rows"
    if numbers and not (np.isnan(old.values).all() or np.isnan(new.values).all()):
        words += f" (median {np.nanmedian(old.values):.4g} → {np.nanmedian(new.values):.4g})"
    elif unknown:
        words += f" ({100 * unknown:.0f} % have a category that no {row} has)"
    return Drift(old.label, distance, words)


def _groups_of_numbers(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups of the cells of both columns, their number, and 0."""
    values = [np.asarray(column.values, dtype=np.float64) for column in (old, new)]
    known = values[0][~np.isnan(values[0])]
    cuts = np.unique(np.quantile(known, DECILES)) if len(known) else np.zeros(0)
    if len(cuts) and len(np.unique(known)) <= len(cuts) + 1:
        cuts = np.unique(known)  # few values: each is its own group
    a, b = (np.where(np.isnan(v), 2 * len(cuts) + 1, _group(cuts, v)) for v in values)
    return a, b, 2 * len(cuts) + 2, 0.0


def _group(cuts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Between which cuts, or on which: a value that many rows have is a group of its own."""
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def _groups_of_levels(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups (the commonest levels, all others of training, those that are not in training, missing cells) of both
    columns, their number, and the share of levels that are not in training."""
    assert old.levels is not None
    assert new.levels is not None
    order = np.argsort(-np.bincount(old.values[~old.missing], minlength=len(old.levels)), kind="stable")
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.minimum(np.arange(len(order)), LEVELS)
    rank[NONE] = LEVELS + 2
    place = {level: i for i, level in enumerate(old.levels)}
    ranks = np.array([rank[place[level]] if level in place else LEVELS + 1 for level in new.levels] + [LEVELS + 2])
    b = ranks[new.values]
    return rank[old.values], b, LEVELS + 3, float((b == LEVELS + 1).mean())
