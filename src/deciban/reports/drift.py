"""Whether rows still look like those that were learned from: column by column, by the share of rows that moved.

Numbers are cut at the tenths of the first rows, levels are themselves (rare ones together), and missing cells are a
group of their own. The distance is half the sum of the differences of the groups' shares (total variation): 0 … 1, the
least share of rows that must have changed. Chance is ruled out by Pearson's test of the two rows of counts.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> found = drift(rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + [0, 2])
>>> [(one.column, round(one.distance, 1)) for one in found]
[('x1', 0.7)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import chi2

from deciban import frames

TENTHS = np.arange(1, 10) / 10
LEVELS = 30  # that are a group of their own
FAR = 0.1  # of a distance that is worth a word
CHANCE = 0.001  # that is ruled out, over all columns together
NONE = -1


@dataclass(frozen=True)
class Drift:
    """A column that moved."""

    column: str
    distance: float
    words: str


def drift(before: Any, after: Any) -> list[Drift]:
    """The columns (of the same names, or places) whose cells moved, the furthest first.

    >>> drift([[1.0], [2.0]], [[1.0], [2.0]])
    []
    """
    if sparse.issparse(before) or sparse.issparse(after):
        return []
    old, new = ({c.name: c for c in _columns(X)} for X in (before, after))
    both = [name for name in old if name in new]
    found = [_moved(old[name], new[name], CHANCE / max(len(both), 1)) for name in both]
    return sorted((one for one in found if one is not None), key=lambda one: -one.distance)


def shares_moved(before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """(distance, probability of such counts by chance) of two rows of counts of the same groups.

    >>> [round(float(v), 3) for v in shares_moved(np.array([50, 50]), np.array([80, 20]))]
    [0.3, 0.0]
    """
    counts = np.stack([before, after]).astype(np.float64)
    counts = counts[:, counts.sum(axis=0) > 0]
    rows = counts.sum(axis=1, keepdims=True)
    if counts.shape[1] < 2 or (rows == 0).any():
        return 0.0, 1.0
    expected = rows * counts.sum(axis=0) / rows.sum()
    distance = float(np.abs(np.diff(counts / rows, axis=0)).sum() / 2)
    return distance, float(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.shape[1] - 1))


def _columns(X: Any) -> list[frames.Column]:
    return frames.columns(X if frames.is_frame(X) else np.asarray(X))


def _moved(old: frames.Column, new: frames.Column, chance: float) -> Drift | None:
    if (old.levels is None) != (new.levels is None):
        old, new = old.as_levels(), new.as_levels()
    numbers = old.levels is None
    a, b, groups, strange = _tenths(old, new) if numbers else _levels(old, new)
    distance, by_chance = shares_moved(np.bincount(a, minlength=groups), np.bincount(b, minlength=groups))
    if distance < FAR or by_chance > chance:
        return None
    name = f"x{old.name}" if isinstance(old.name, int) else str(old.name)
    words = f"`{name}`: at least {100 * distance:.0f} % of the rows lie elsewhere than in training"
    if numbers:
        words += f" (median {np.nanmedian(old.values):.4g} → {np.nanmedian(new.values):.4g})" if _some(old, new) else ""
    elif strange:
        words += f" ({100 * strange:.0f} % have a level that training never had)"
    return Drift(name, distance, words)


def _some(*columns: frames.Column) -> bool:
    return all(not np.isnan(column.values).all() for column in columns)


def _tenths(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups of both columns' cells, their number, and 0."""
    values = [np.asarray(column.values, dtype=np.float64) for column in (old, new)]
    known = values[0][~np.isnan(values[0])]
    cuts = np.unique(np.quantile(known, TENTHS)) if len(known) else np.zeros(0)
    if len(cuts) and len(np.unique(known)) <= len(cuts) + 1:
        cuts = np.unique(known)  # few values: each is its own group
    a, b = (np.where(np.isnan(v), 2 * len(cuts) + 1, _place(cuts, v)) for v in values)
    return a, b, 2 * len(cuts) + 2, 0.0


def _place(cuts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Between which cuts, or on which: a value that many rows have is a group of its own."""
    return np.searchsorted(cuts, values, side="left") + np.searchsorted(cuts, values, side="right")


def _levels(old: frames.Column, new: frames.Column) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Groups: the commonest levels, all others that training had, those that it never had, missing cells."""
    assert old.levels is not None
    assert new.levels is not None
    order = np.argsort(-np.bincount(old.values[old.values >= 0], minlength=len(old.levels)), kind="stable")
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = np.minimum(np.arange(len(order)), LEVELS)
    rank[NONE] = LEVELS + 2
    place = {level: i for i, level in enumerate(old.levels)}
    there = np.array([rank[place[level]] if level in place else LEVELS + 1 for level in new.levels] + [LEVELS + 2])
    b = there[new.values]
    return rank[old.values], b, LEVELS + 3, float((b == LEVELS + 1).mean())
