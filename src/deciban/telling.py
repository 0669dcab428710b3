"""Columns that alone tell a class from all others, by their range in each class.

>>> import numpy as np
>>> found = telling(Reals(np.array([[1.0, 5.0], [2.0, 9.0], [4.0, 7.0]])), np.array([0, 0, 1]), 2, intercept=True)
>>> [one.text(["dose", "age"], ["no", "yes"]) for one in found]
['dose > 3 in every row of yes and no other']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.table import Counts, Reals
from deciban.wording import short


@dataclass(frozen=True)
class Telling:
    """A column that alone tells a class from all others: no cell of it is on the other side of the cut."""

    column: int
    label: int
    below: bool  # which side the class is on
    cut: float
    strict: bool  # whether no cell at all is at the cut
    reaches: bool  # whether the class goes past the cut; else only the others do

    def text(self, names: Sequence[str], labels: Any) -> str:
        name, label = short(names[self.column], 40), labels[self.label]
        side = "<" if self.below == (self.strict or self.reaches) else ">"
        much = "in every row of {} and no other" if self.strict else "only in {}" if self.reaches else "never in {}"
        return f"{name} {side} {self.cut:.4g} {much.format(label)}"


def telling(x: Reals | Counts, y: np.ndarray, k: int, intercept: bool) -> list[Telling]:
    """All of them, strict ones first."""
    least, most = _ranges(x, y, k)
    found = []
    for c in range(1 if k == 2 else 0, k):
        others = np.arange(k) != c
        low, high = least[others].min(axis=0), most[others].max(axis=0)
        for below, upper, lower in ((True, most[c], low), (False, high, least[c])):
            cut = upper + (lower - upper) / 2 if intercept else np.zeros(x.d)
            strict = (upper < cut) & (cut < lower)
            reaches = least[c] < cut if below else most[c] > cut
            spread = np.maximum(high, most[c]) > np.minimum(low, least[c])
            for j in np.flatnonzero((upper <= cut) & (cut <= lower) & spread):
                found.append(Telling(int(j), c, below, float(cut[j]), bool(strict[j]), bool(reaches[j])))
    return sorted(found, key=lambda one: not one.strict)


def _ranges(x: Reals | Counts, y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest cell of each class and column, (k, d) each."""
    least, most = np.empty((k, x.d)), np.empty((k, x.d))
    for c in range(k):
        rows = x.take(np.flatnonzero(y == c))
        if isinstance(rows, Reals):
            least[c], most[c] = rows.values.min(axis=0), rows.values.max(axis=0)
            continue
        full = np.bincount(rows.column_of(), minlength=x.d) == rows.n  # a column without a single zero
        least[c], most[c] = np.where(full, np.inf, 0.0), np.where(full, -np.inf, 0.0)
        np.minimum.at(least[c], rows.column_of(), rows.stored)
        np.maximum.at(most[c], rows.column_of(), rows.stored)
    return least, most
