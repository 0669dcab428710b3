"""Training rows that are left out in groups, one group at a time, and what that does to the scores of other rows.

The rows of a group that have one class are a *part* of it: leaving the group out takes each part from the sums of its
class. A row by itself is a group of one part. Sums of parts are computed as if every part were a class, by the same
functions that tally rows.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.array([[1.0], [2.0], [4.0]])), np.array([0, 1, 1], dtype=np.int32)
>>> out = LeftOut.of(x, y, None, np.array([0, 0, 1]))  # the first two rows together
>>> out.y.tolist(), out.group.tolist(), out.sums(x.values).tolist(), out.by_group(out.weight).tolist()
([0, 1, 1], [0, 0, 1], [[1.0], [2.0], [4.0]], [2.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class LeftOut:
    """m rows in groups that are left out one at a time; p parts."""

    x: Any  # a block of the rows
    w: np.ndarray | None  # (m,)
    row_y: np.ndarray  # (m,), classes of the rows
    row_part: np.ndarray | None  # (m,), the part of each row; None: every row is a part
    y: np.ndarray  # (p,), the class of each part
    group: np.ndarray  # (p,), in ascending order
    groups: int
    prunes: bool = False  # whether levels that no row has are no levels

    @classmethod
    def of(cls, x: Any, y: np.ndarray, w: np.ndarray | None, group: np.ndarray | None) -> LeftOut:
        """Of rows with these classes and groups 0, 1, … (None: every row is a group)."""
        if group is None:
            return cls(x, w, y, None, y, np.arange(len(y)), len(y))
        k = int(y.max(initial=0)) + 1
        key, part = np.unique(group.astype(np.int64) * k + y, return_inverse=True)
        return cls(x, w, y, part.ravel(), (key % k).astype(np.int32), key // k, int(group.max(initial=-1)) + 1)

    @property
    def parts(self) -> int:
        return len(self.y)

    @property
    def row_weights(self) -> np.ndarray:
        """(m,)"""
        return np.ones(len(self.row_y)) if self.w is None else self.w

    @cached_property
    def weight(self) -> np.ndarray:
        """The weight of each part, (p,)."""
        w = self.row_weights
        return w if self.row_part is None else np.bincount(self.row_part, w, minlength=self.parts)

    @cached_property
    def row_group(self) -> np.ndarray:
        """The group of each row, (m,)."""
        return self.group if self.row_part is None else self.group[self.row_part]

    def of_block(self, x: Any) -> LeftOut:
        """The same rows with the cells of another block."""
        return replace(self, x=x)

    def tally(self, f: Callable[[Any, np.ndarray, np.ndarray | None, int], Any]) -> Any:
        """A tally of the rows, with every part as a class: f(x, parts, w, number of parts)."""
        part = np.arange(self.parts) if self.row_part is None else self.row_part
        return f(self.x, part.astype(np.int32), self.w, self.parts)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Σ w · values (m, …) of each part, (p, …)."""
        if self.w is not None:
            values = values * self.w.reshape(-1, *([1] * (values.ndim - 1)))
        elif values.dtype != np.float64:
            values = values.astype(np.float64)
        return values if self.row_part is None else _added(values, self.row_part, self.parts)

    def by_group(self, values: np.ndarray) -> np.ndarray:
        """Σ of parts (p, …) in each group, (groups, …)."""
        return values if self.row_part is None else _added(values, self.group, self.groups)

    def of_groups(self) -> LeftOut:
        """The same with all classes as one: the parts are the groups."""
        if self.row_part is None:
            return replace(self, row_y=np.zeros_like(self.row_y), y=np.zeros_like(self.y))
        none = np.zeros(self.groups, dtype=np.int32)
        at = np.arange(self.groups)
        return replace(self, row_y=np.zeros_like(self.row_y), row_part=self.row_group, y=none, group=at)

    def emptied(self, key: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """Which of the rows (m,) have a key (−1: none) of which their group has all the weight there is, whole[key]."""
        w, safe = self.row_weights, np.maximum(key, 0)
        total = whole[safe] if len(whole) else np.full(len(key), np.inf)
        if self.row_part is not None:
            both = self.row_group.astype(np.int64) * (len(whole) + 1) + key
            _, at = np.unique(both, return_inverse=True)
            w = np.bincount(at.ravel(), w)[at.ravel()]
        return (key >= 0) & (w > 0) & (total <= w * (1 + 1e-9))


def not_counted(table: np.ndarray, out: LeftOut, key: np.ndarray) -> np.ndarray:
    """Which of the rows that are left out (m,) have a level, by its place in the table (m, d), −1: none, that their
    class does not have: they are not among the rows of this table (k, places)."""
    heaviest = out.row_weights.max(initial=0.0) * (1 - 1e-9)
    if table.min(initial=np.inf) >= heaviest or not table.size:
        return np.zeros(len(key), dtype=bool)
    light = np.append((table < heaviest), np.zeros((len(table), 1), dtype=bool), axis=1)  # the last is of no level
    some = light[out.row_y[:, None], key].any(axis=1)
    at = np.flatnonzero(some)
    own = np.append(table, np.full((len(table), 1), np.inf), axis=1)[out.row_y[at][:, None], key[at]]
    some[at] = (own < out.row_weights[at][:, None] * (1 - 1e-9)).any(axis=1)
    return some


def _added(values: np.ndarray, at: np.ndarray, many: int) -> np.ndarray:
    out = np.zeros((many, *values.shape[1:]))
    if values.ndim == 1:
        return np.bincount(at, values, minlength=many)
    order = np.argsort(at, kind="stable")
    starts = np.flatnonzero(np.diff(at[order], prepend=-1))
    if len(starts):
        out[at[order][starts]] = np.add.reduceat(values[order], starts, axis=0)
    return out


def columns_at(places: Sequence[int]) -> Any:
    """An index of these columns: a slice, which needs no copy, where they are neighbours."""
    first, many = (places[0], len(places)) if len(places) else (0, 0)
    return slice(first, first + many) if list(places) == list(range(first, first + many)) else list(places)


@dataclass(frozen=True, eq=False)
class PartsLeft:
    """Scores by column of q rows, without each of the groups. NaN: there is no closed form for the group."""

    own: np.ndarray | None  # (q, p, d), under the class of each part, where others do not change
    all: np.ndarray | None = None  # (q, groups, k, d), under every class

    def without_closed_form(self, out: LeftOut, rows: np.ndarray) -> PartsLeft:
        """The same, with NaN for the groups of these rows (m,)."""
        if rows.any():
            group = np.unique(out.row_group[rows])
            if self.own is not None:
                self.own[:, np.isin(out.group, group)] = np.nan
            if self.all is not None:
                self.all[:, group] = np.nan
        return self

    def filled(self, out: LeftOut, base: np.ndarray) -> np.ndarray:
        """Under every class, (q, groups, k, d), from those by all rows (q, k, d)."""
        if self.all is not None:
            return self.all
        assert self.own is not None
        whole = np.repeat(base[:, None], out.groups, axis=1)
        whole[:, out.group, out.y] = self.own
        return whole

    def scores(self, out: LeftOut, base: np.ndarray) -> np.ndarray:
        """Their sums over the columns, (q, groups, k), from those by all rows (q, k)."""
        if self.all is not None:
            return np.einsum("qgkd->qgk", self.all)
        assert self.own is not None
        whole = np.repeat(base[:, None], out.groups, axis=1)
        whole[:, out.group, out.y] = np.einsum("qpd->qp", self.own)
        return whole
