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

import numpy as np

from deciban.networks.graph import Parents, parents_of
from deciban.networks.search import assumed, bdeu, counts, search
from deciban.networks.tables import Tables
from deciban.table import Codes
from deciban.tallies import Patterns
from deciban.tallies.base import less


@dataclass(frozen=True)
class Params(Tables):
    counts: tuple[np.ndarray, ...]  # that the tables were estimated from


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
        seen = tuple(counts(t, j, own) for j, own in enumerate(parents))
        return Params(parents, tuple(map(self._shares, seen)), t.levels, seen)

    def _shares(self, count: np.ndarray) -> np.ndarray:
        cell = assumed(count, self.prior)
        return (count + cell) / (count.sum(axis=-1, keepdims=True) + cell * count.shape[-1])

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        return p.loglik(p.known(x))

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        """What each column adds to those that come before it, parents first."""
        return p.parts(p.known(x))

    def leave_one_out(self, t: Patterns, x: Codes, y, w, p: Params | None = None) -> np.ndarray:
        """Log likelihoods with each row taken out of its own class's counts; the graph stays."""
        p = self.estimate(t) if p is None else p
        rows = p.known(x)
        out, places, at = p.loglik(rows), p.places(rows), np.arange(len(rows))
        weight = np.ones(len(rows)) if w is None else w
        change = np.zeros(len(rows))
        for j, count in enumerate(p.counts):
            cell, own = assumed(count, self.prior), count.shape[-1]
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
