"""Columns given their parents and the class, as rows are scored by them: looked up where all cells are there, summed
out where some are missing.

>>> import numpy as np
>>> t = Tables(((), (0,)), (np.array([[0.5, 0.5]]), np.array([[[0.9, 0.1], [0.2, 0.8]]])), np.array([2, 2]))
>>> np.exp(t.loglik(np.array([[0, 1], [-1, 1], [0, -1]]))).round(3).tolist()
[[0.05], [0.45], [0.5]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban import ops
from deciban.networks.graph import Parents, topological
from deciban.networks.network import Network
from deciban.packed import Packed
from deciban.table import Codes


@dataclass(frozen=True)
class Tables:
    parents: Parents  # of each column, beside the class
    tables: tuple[np.ndarray, ...]  # θ, (k, levels of the parents …, own levels)
    levels: np.ndarray  # (d,), those that rows had: others are missing

    @property
    def k(self) -> int:
        return len(self.tables[0])

    @cached_property
    def network(self) -> Network:
        """The class as node d, which weighs nothing: P(x, c) of it is P(x | c)."""
        d = len(self.parents)
        levels = (*(tuple(range(table.shape[-1])) for table in self.tables), tuple(range(self.k)))
        parents = (*((d, *own) for own in self.parents), ())
        return Network((*range(d), "class"), levels, parents, (*self.tables, np.ones(self.k)))

    @cached_property
    def order(self) -> list[int]:
        return topological(self.parents)

    @cached_property
    def packed(self) -> Packed:
        with np.errstate(divide="ignore"):
            return Packed.of(np.log(np.hstack([table.reshape(self.k, -1) for table in self.tables])))

    @cached_property
    def offset(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum([table.size // self.k for table in self.tables])]).astype(np.int64)

    def known(self, x: Codes) -> np.ndarray:
        """The codes (n, d), −1 for a level that no row had."""
        values = np.asarray(x.values, dtype=np.int64)
        return np.where((values >= 0) & (values < self.levels), values, -1)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Where in its column's table each cell stands, with its parents' cells; −1 where one of these is missing."""
        out = np.empty(rows.shape, dtype=np.int64, order="F")
        for j, own in enumerate(self.parents):
            place, here = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=bool)
            for column, size in zip((*own, j), self.tables[j].shape[1:], strict=True):
                place = place * size + rows[:, column]
                here &= rows[:, column] >= 0
            out[:, j] = np.where(here, place, -1)
        return out

    def loglik(self, rows: np.ndarray) -> np.ndarray:
        """log p(x | c), (n, k), of known codes."""
        places = self.places(rows)
        out = ops.lookup(Codes(places), self.offset, self.packed, np.zeros(self.k))
        gaps = np.flatnonzero((places < 0).any(axis=1))
        if len(gaps):
            out[gaps] = self.summed(rows[gaps])
        return out

    def summed(self, rows: np.ndarray) -> np.ndarray:
        """The same by the network, which sums missing cells out."""
        return self.network.log_joint(np.append(rows, np.full((len(rows), 1), -1), axis=1), [len(self.parents)])

    def parts(self, rows: np.ndarray) -> np.ndarray:
        """What each column adds to those that come before it, parents first: log p(x_j | x_before, c), (n, k, d). Given
        all its parents, the others before it do not matter; where one is missing, they do."""
        places, out = self.places(rows), np.zeros((len(rows), self.k, len(self.parents)))
        before = np.full_like(rows, -1)
        for j in self.order:
            full = np.flatnonzero(places[:, j] >= 0)
            out[full, :, j] = self.packed.table.T[self.offset[j] + places[full, j]]
            hard = np.flatnonzero((rows[:, j] >= 0) & (places[:, j] < 0))
            without = self.summed(before[hard]) if len(hard) else None
            before[:, j] = rows[:, j]
            if without is not None:
                out[hard, :, j] = self.summed(before[hard]) - without
        return out
