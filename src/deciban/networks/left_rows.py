"""Scores of rows that leave the counts, where a level leaves with its only row, or cells are missing.

A level that only this row has is gone with the row: its column has one level less, the cell counts as missing, and the
columns below are summed over the levels that are left. Only the parts of tables that a row needs are made, for all rows
with the same cells missing at once.

>>> import numpy as np
>>> chain = [np.array([2.0, 1.0]), np.array([[2.0, 1.0]])]  # two rows with the first level, one with the second
>>> column = Column((), chain, (0.0,))
>>> left = Left([column], lambda sizes: 1.0)
>>> rows, y = np.array([[0], [1]]), np.zeros(2, dtype=np.int32)
>>> np.exp(left.scores(rows, y, None, np.array([[False], [True]]))).round(3).tolist()  # (2 − 1 + 1) / (2 + 2); nothing
[[0.5], [1.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from deciban.networks.elimination import Factor, eliminate, plan
from deciban.networks.graph import above
from deciban.tallies.base import less

CELLS = 1 << 22  # numbers in the tables of several rows, about


@dataclass(frozen=True)
class Column:
    """One column: its parents, the counts of its levels (of all rows, by class, by class and the first parent, …), and
    how strongly each table is drawn to the one before."""

    parents: tuple[int, ...]
    chain: Sequence[np.ndarray]
    strengths: Sequence[float]

    @cached_property
    def sums(self) -> list[np.ndarray]:
        return [table.sum(axis=-1) for table in self.chain]

    @property
    def levels(self) -> int:
        return self.chain[0].shape[-1]


@dataclass(frozen=True)
class Left:
    columns: Sequence[Column]
    alpha: Callable[[Sequence[int]], float]  # the pseudo-count of a cell, from the levels of the parents and the column

    @property
    def k(self) -> int:
        return len(self.columns[0].chain[1])

    def scores(self, rows: np.ndarray, y: np.ndarray, w: np.ndarray | None, lone: np.ndarray) -> np.ndarray:
        """log p(x | c), (n, k), of known codes (n, d), −1 = missing, each row taken out of the counts; `lone` (n, d)
        are the cells whose level leaves with the row."""
        weight = np.ones(len(rows)) if w is None else w
        state = np.where(lone, 2, (rows >= 0).astype(np.int8))
        patterns, which = np.unique(state, axis=0, return_inverse=True)
        out = np.zeros((len(rows), self.k))
        for at, pattern in enumerate(patterns):
            own = np.flatnonzero(which.ravel() == at)
            out[own] = self._alike(rows[own], y[own], weight[own], pattern)
        return out

    def _alike(self, rows: np.ndarray, y: np.ndarray, w: np.ndarray, state: np.ndarray) -> np.ndarray:
        """The same of rows with the same cells missing and leaving."""
        seen, d = set(np.flatnonzero(state == 1).tolist()), len(self.columns)
        parents = tuple(column.parents for column in self.columns)
        sizes = [max(column.levels, 1) for column in self.columns] + [self.k]
        nodes = sorted(above(parents, seen))
        free = {j: tuple(i for i in (*parents[j], j) if i not in seen) for j in nodes}
        hard = [j for j in nodes if free[j]]
        order = plan([(d, *free[j]) for j in hard], sizes, [d])
        step = max(1, CELLS // max(order.largest, *(self.k * prod(sizes[i] for i in free[j]) for j in nodes), 1))
        out = np.zeros((len(rows), self.k))
        for start in range(0, len(rows), step):
            span = slice(start, start + step)
            part = rows[span], y[span], w[span], state
            with np.errstate(divide="ignore"):
                for j in nodes:
                    if not free[j]:
                        out[span] += np.log(self._shares(j, *part))
                if hard:
                    factors: list[Factor] = [((d, *free[j]), self._shares(j, *part)) for j in hard]
                    table, scale = eliminate(factors, [d], order.order)
                    out[span] += np.log(table) + scale[:, None]
        return out

    def _shares(self, j: int, rows: np.ndarray, y: np.ndarray, w: np.ndarray, state: np.ndarray) -> np.ndarray:
        """θ of column j without the row, (rows, k, levels of parents that are not seen …, own levels if not seen)."""
        column, own_seen = self.columns[j], state[j] == 1
        sizes = [max(self.columns[i].levels - (state[i] == 2), 1) for i in (*column.parents, j)]
        mine = w[:, None] * (y[:, None] == np.arange(self.k))
        out = np.full((1, 1) if own_seen else (1, 1, max(column.levels, 1)), 1.0 / sizes[-1])
        for depth, m in enumerate((0.0, *column.strengths)):
            given = column.parents[: max(depth - 1, 0)]
            count, whole = self._sliced(column, depth, given, j, rows, state)
            if depth > 1 and state[given[-1]] != 1:  # one more condition
                out = out[..., None] if own_seen else out[..., None, :]
            # a row counts where it has all cells; those of levels that are gone do not matter
            if state[j] > 0 and all(state[i] == 1 or (state[i] == 2 and self.columns[i].levels == 1) for i in given):
                leaves = (mine if depth else w[:, None]).reshape(len(rows), -1, *(1,) * (whole.ndim - 2))
                whole = np.maximum(less(whole, leaves), 0.0)
                if own_seen:
                    count = np.maximum(less(count, leaves), 0.0)
            alpha = self.alpha([*sizes[: len(given)], sizes[-1]])
            whole = whole + m + alpha * sizes[-1]
            whole = whole if own_seen else whole[..., None]
            if (whole > 0).all():
                out = _divided((count + alpha) + m * out, whole)
            else:  # neither count nor pseudo-count: as the table before has it
                base = np.broadcast_to(out, np.broadcast_shapes(out.shape, count.shape, whole.shape))
                out = np.divide(count + m * base + alpha, whole, out=base.copy(), where=whole > 0)
        if out.shape[0] < len(rows):
            out = np.repeat(out, len(rows), axis=0)
        if state[j] == 2 and column.levels > 1:
            out[np.arange(len(rows)), ..., rows[:, j]] = 0.0
        return out

    def _sliced(self, column: Column, depth: int, given: Sequence[int], j: int, rows: np.ndarray, state: np.ndarray):
        """(counts, sums over the levels) of a table at what the rows have: (rows, k, conditions not seen …, own levels
        if not seen), and without the own levels."""
        table, whole = column.chain[depth], column.sums[depth]
        if depth == 0:
            count = table[rows[:, j]][:, None] if state[j] == 1 else table[None, None]
            return count, whole.reshape(1, 1)
        known = [a for a, i in enumerate(given) if state[i] == 1]
        free = [a for a, i in enumerate(given) if state[i] != 1]
        at = tuple(rows[:, given[a]] for a in known)
        whole = whole.transpose(*(1 + a for a in known), 0, *(1 + a for a in free))
        own = 1 + len(given)
        if state[j] == 1:
            count = table.transpose(*(1 + a for a in known), own, 0, *(1 + a for a in free))[(*at, rows[:, j])]
        else:
            count = table.transpose(*(1 + a for a in known), 0, *(1 + a for a in free), own)
            count = count[at] if at else count[None]
        return count, whole[at] if at else whole[None]


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, in the memory of a where it is large enough."""
    return np.divide(a, b, out=a) if np.broadcast_shapes(a.shape, b.shape) == a.shape else a / b
