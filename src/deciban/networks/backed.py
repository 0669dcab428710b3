"""Tables of columns given their parents, each backed by those with fewer parents (see `backoff`): θ(x | c, p, q) by
θ(x | c, p), that by θ(x | c), θ(x) and even shares; the last parent is dropped first.

>>> import numpy as np
>>> t = Patterns.of(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.zeros(4, dtype=np.int32), None, 1)
>>> for strength in (0.0, 4.0):
...     Smoothing(strength).estimate(t, ((), (0,))).tables[1].round(3).tolist()
[[[0.75, 0.25], [0.25, 0.75]]]
[[[0.625, 0.375], [0.375, 0.625]]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban.networks.graph import Parents
from deciban.networks.search import assumed, counts
from deciban.networks.tables import Tables
from deciban.structure import backoff
from deciban.tallies import Patterns
from deciban.tallies.base import less

Strengths = tuple[float, ...]


@dataclass(frozen=True)
class Backed(Tables):
    strengths: tuple[Strengths, ...]  # of each column's back-off


@dataclass(frozen=True)
class Smoothing:
    strength: float | str | tuple  # of the back-off: one number, or those of each column
    alpha: float | None = 1.0  # of every cell; None: `prior` rows of each class, spread evenly over a table (BDeu)
    prior: float = 1.0

    def estimate(self, t: Patterns, parents: Parents) -> Backed:
        tables, strengths = [], []
        for j, own in enumerate(parents):
            chain = _chain(t, j, own)
            strengths.append(self._strengths(j, chain))
            tables.append(backoff.shares(chain, self._alphas(chain), strengths[-1])[-1])
        return Backed(parents, tuple(tables), t.levels, tuple(strengths))

    def _alphas(self, chain: list[np.ndarray]) -> list[float]:
        if self.alpha is not None:
            return [self.alpha] * len(chain)
        return [self.prior / chain[0].size, *(assumed(table, self.prior) for table in chain[1:])]

    def _strengths(self, j: int, chain: list[np.ndarray]) -> Strengths:
        if isinstance(self.strength, tuple):
            return self.strength[j]
        if isinstance(self.strength, str):
            return backoff.best_strengths(chain, self._alphas(chain))
        return (float(self.strength),) * (len(chain) - 1)

    def leave_one_out(self, t: Patterns, p: Backed, rows: np.ndarray, y: np.ndarray, w) -> np.ndarray:
        """log p(x | c) (n, k) of known codes. Parents and strengths stay; the row leaves the counts, also those that
        back other classes. NaN where a missing cell meets a probability of 0."""
        before, places = p.loglik(rows), p.places(rows)
        chains = [_chain(t, j, parents) for j, parents in enumerate(p.parents)]
        out = before.copy()
        for j, (parents, chain) in enumerate(zip(p.parents, chains, strict=True)):
            at = np.flatnonzero(places[:, j] >= 0)
            given, own = [rows[at, i] for i in parents], None if w is None else w[at]
            with np.errstate(divide="ignore"):
                left = backoff.left_out(chain, self._alphas(chain), p.strengths[j], rows[at, j], given, y[at], own)
                had = np.log(p.tables[j].reshape(p.k, -1).T[places[at, j]])
                out[at] += np.log(left) - np.where(np.isneginf(had), 0.0, had)
        # of a row that has a column, but not all its parents, coarser tables are left, and with them whole slices
        partly = (rows >= 0) & (places < 0) & np.array([any(m) for m in p.strengths])
        weight = np.ones(len(rows)) if w is None else w
        for i in np.flatnonzero(partly.any(axis=1)).tolist():
            tables = list(p.tables)
            for j in np.flatnonzero(partly[i]).tolist():
                tables[j] = self._table_without(chains[j], p, j, rows[i], y[i], weight[i])
            with np.errstate(invalid="ignore"):
                out[i] += (replace(p, tables=tuple(tables)).summed(rows[i : i + 1]) - before[i])[0]
        return out

    def _table_without(
        self, chain: list[np.ndarray], p: Backed, j: int, row: np.ndarray, y: int, w: np.ndarray
    ) -> np.ndarray:
        """θ of column j without a row of weight w that misses some of its parents."""
        given, left = (y, *(row[i] for i in p.parents[j])), []
        for depth, table in enumerate(chain):
            if min(given[:depth], default=0) >= 0:
                at, table = (*given[:depth], row[j]), table.copy()
                table[at] = np.maximum(less(table[at], w), 0.0)
            left.append(table)
        return backoff.shares(left, self._alphas(chain), p.strengths[j])[-1]


def _chain(t: Patterns, j: int, parents: tuple[int, ...]) -> list[np.ndarray]:
    """Counts of column j's levels: of all rows, by class, by class and the first parent, and so on."""
    tables = [np.maximum(counts(t, j, parents[:many]), 0.0) for many in range(len(parents) + 1)]
    return [tables[0].sum(axis=0), *tables]
