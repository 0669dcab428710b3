"""Levels that hang on each other: log p(x | c) = Σ_j log θ_j[x_j | parents of x_j, c], the class above every column.

Tally: `Patterns`, the distinct rows, from which any table can be counted. Graph: given as edges between columns, or
found by greedy search for the largest marginal likelihood. Estimate: θ = (count + a) / (count of the row + a · levels),
where a is `prior` over the cells of the table, so that every table assumes `prior` rows of each class (BDeu). Rows that
miss a cell of a table count nothing in it; scoring sums missing cells out exactly.

>>> import numpy as np
>>> f, x = Graph(edges=((0, 1),)), Codes(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]))
>>> p = f.estimate(f.tally(x, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(f.loglik(p, Codes(np.array([[0, 0], [0, 1], [-1, 1]])))).round(3).tolist()
[[0.45], [0.05], [0.5]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deciban import ops
from deciban.networks.graph import Parents, parents_of, topological
from deciban.networks.network import Network
from deciban.networks.search import assumed, bdeu, counts, search
from deciban.packed import Packed
from deciban.table import Codes
from deciban.tallies import Patterns
from deciban.tallies.base import less


@dataclass(frozen=True)
class Params:
    """Tables θ of each column, (k, levels of its parents …, own levels), and what they were estimated from."""

    parents: Parents
    counts: tuple[np.ndarray, ...]
    levels: np.ndarray  # (d,), those that rows had: others are missing
    prior: float

    @property
    def k(self) -> int:
        return len(self.counts[0])

    @cached_property
    def tables(self) -> list[np.ndarray]:
        out = []
        for count in self.counts:
            cell = assumed(count, self.prior)
            out.append((count + cell) / (count.sum(axis=-1, keepdims=True) + cell * count.shape[-1]))
        return out

    @cached_property
    def network(self) -> Network:
        """The class as node d, which weighs nothing: P(x, c) of it is P(x | c)."""
        d = len(self.parents)
        levels = (*(tuple(range(table.shape[-1])) for table in self.tables), tuple(range(self.k)))
        parents = (*((d, *own) for own in self.parents), ())
        return Network((*range(d), "class"), levels, parents, (*self.tables, np.ones(self.k)))

    @cached_property
    def packed(self) -> Packed:
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
        out = np.empty_like(rows)
        for j, own in enumerate(self.parents):
            place, here = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=bool)
            for column, size in zip((*own, j), self.counts[j].shape[1:], strict=True):
                place = place * size + rows[:, column]
                here &= rows[:, column] >= 0
            out[:, j] = np.where(here, place, -1)
        return out


@dataclass(frozen=True)
class Graph:
    edges: tuple[tuple[int, int], ...] | None = None  # (parent, child), by column number; None: found by search
    prior: float = 1.0
    max_parents: int = 2  # beside the class, of a graph that is searched for
    block, support = "codes", "level"
    columnwise = False  # the columns of a row have a density together
    structured = True  # what one of them says depends on the others

    def size(self, levels: np.ndarray, k: int) -> int:
        """Numbers that a tally of few rows has: those of more are as many as there are distinct rows."""
        return k * int(levels.sum())

    def settled(self, p: Params) -> Graph:
        """The family that would have this graph whatever the counts."""
        return replace(self, edges=tuple((a, b) for b, own in enumerate(p.parents) for a in own))

    def tally(self, x: Codes, y, w, k: int) -> Patterns:
        return Patterns.of(x.values, y, w, k)

    def parents(self, t: Patterns) -> Parents:
        if self.edges is not None:
            return parents_of(range(t.d), self.edges)
        return search(t, self.prior, self.max_parents)

    def estimate(self, t: Patterns) -> Params:
        parents = self.parents(t)
        return Params(parents, tuple(counts(t, j, own) for j, own in enumerate(parents)), t.levels, self.prior)

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        return self._loglik(p, p.known(x))

    def _loglik(self, p: Params, rows: np.ndarray) -> np.ndarray:
        places = p.places(rows)
        out = ops.lookup(Codes(places), p.offset, p.packed, np.zeros(p.k))
        gaps = np.flatnonzero((places < 0).any(axis=1))
        if len(gaps):
            out[gaps] = self._joint(p, rows[gaps])
        return out

    def _joint(self, p: Params, rows: np.ndarray) -> np.ndarray:
        """log p(x | c) (n, k) of rows with missing cells."""
        return p.network.log_joint(np.append(rows, np.full((len(rows), 1), -1), axis=1), [len(p.parents)])

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        """What each column adds to those that come before it, parents first: log p(x_j | x_before, c), (n, k, d). Given
        all its parents, the others before it do not matter; where one is missing, they do."""
        rows = p.known(x)
        places, out = p.places(rows), np.zeros((x.n, p.k, len(p.parents)))
        before = np.full_like(rows, -1)
        for j in topological(p.parents):
            full = places[:, j] >= 0
            out[full, :, j] = np.log(p.tables[j].reshape(p.k, -1).T[places[full, j]])
            hard = np.flatnonzero((rows[:, j] >= 0) & ~full)
            without = self._joint(p, before[hard]) if len(hard) else None
            before[:, j] = rows[:, j]
            if without is not None:
                out[hard, :, j] = self._joint(p, before[hard]) - without
        return out

    def leave_one_out(self, t: Patterns, x: Codes, y, w, p: Params | None = None) -> np.ndarray:
        """Log likelihoods with each row taken out of its own class's counts; the graph stays."""
        p = self.estimate(t) if p is None else p
        rows = p.known(x)
        out, places, at = self._loglik(p, rows), p.places(rows), np.arange(len(rows))
        weight = np.ones(len(rows)) if w is None else w
        change = np.zeros(len(rows))
        for j, count in enumerate(p.counts):
            cell, own = assumed(count, p.prior), count.shape[-1]
            table = count.reshape(p.k, -1)
            here, place = places[:, j] >= 0, np.maximum(places[:, j], 0)
            cells, sums = table[y, place], count.sum(axis=-1).reshape(p.k, -1)[y, place // own]
            left = np.maximum(less(cells, weight), 0.0) + cell, np.maximum(less(sums, weight), 0.0) + cell * own
            logs = np.log(left[0] / left[1]) - np.log(p.tables[j].reshape(p.k, -1)[y, place])
            change += np.where(here, logs, 0.0)
        out[at, y] += change
        return out

    def evidence(self, t: Patterns) -> np.ndarray:
        """log marginal likelihood (k,) of the levels given the graph (BDeu); a row counts in the tables that it has all
        cells of."""
        tables = [counts(t, j, own) for j, own in enumerate(self.parents(t))]
        return sum((bdeu(table, self.prior) for table in tables), np.zeros(t.k))

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return p.network.sample(len(y), rng, {len(p.parents): y})[:, :-1]


FAMILY = Graph
