"""Levels that hang on each other: log p(x | c) = Σ_j log θ_j[x_j | parents of x_j, c], the class above every column.

Tally: `DistinctRows`, the distinct rows, from which any table can be counted. Graph: given as edges between columns, or
found by greedy search for the largest marginal likelihood (BDeu: every table assumes `prior` rows of each class, spread
evenly). Estimate: θ(x | c, p, q) is backed by θ(x | c, p), that by θ(x | c), θ(x) and even shares (see `backoff`); with
strength 0 it is (count + a) / (count of the row + a · levels), where a is `alpha`, or BDeu's share of `prior`. Rows
that miss a cell of a table count nothing in it; scoring sums missing cells out exactly.

>>> import numpy as np
>>> f, x = Graph(((0, 1),), strength=0.0, alpha=None), Codes(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]))
>>> p = f.estimate(f.tally(x, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(f.loglik(p, Codes(np.array([[0, 0], [0, 1], [-1, 1]])))).round(3).tolist()
[[0.45], [0.05], [0.5]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban.data.blocks import Codes
from deciban.estimation.family import Family
from deciban.networks.graph import Parents, parents_of
from deciban.networks.search import bdeu, counts, marginal, search
from deciban.networks.tables import BackedOffTables, BackoffSmoothing
from deciban.tallies import DistinctRows


@dataclass(frozen=True)
class Graph(Family):
    edges: tuple[tuple[int, int], ...] | None = None  # (parent, child), by column number; None: found by search
    prior: float = 1.0
    max_parents: int = 2  # beside the class, of a graph that is searched for
    strength: float | str | tuple = "auto"  # of the back-off: one number, or those of each column
    alpha: float | None = 1.0  # of every cell of every table; None: `prior`, spread evenly
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False  # the columns of a row have a density together
    structured = True  # what one of them says depends on the others

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """Numbers that a tally of few rows has: those of more are as many as there are distinct rows."""
        return k * int(levels.sum())

    def fixed(self, p: BackedOffTables) -> Graph:
        """The family that would have this graph and these strengths whatever the counts."""
        edges = tuple((a, b) for b, own in enumerate(p.parents) for a in own)
        return replace(self, edges=edges, strength=p.strengths)

    def tally(self, x: Codes, y, w, k: int) -> DistinctRows:
        return DistinctRows.of(x.values, y, w, k)

    def parents(self, t: DistinctRows) -> Parents:
        if self.edges is not None:
            return parents_of(range(t.d), self.edges)
        return search(t, self.prior, self.max_parents)

    def estimate(self, t: DistinctRows) -> BackedOffTables:
        return self._smoothing().estimate(t, self.parents(t))

    def _smoothing(self) -> BackoffSmoothing:
        return BackoffSmoothing(self.strength, self.alpha, self.prior)

    def loglik(self, p: BackedOffTables, x: Codes) -> np.ndarray:
        return p.loglik(p.known(x))

    def parts(self, p: BackedOffTables, x: Codes) -> np.ndarray:
        """What each column adds to those that come before it, parents first."""
        return p.parts(p.known(x))

    def leave_one_out(self, t: DistinctRows, x: Codes, y, w, p: BackedOffTables | None = None, lone=None) -> np.ndarray:
        """The graph and the strengths stay; a `lone` (n, d) level leaves with its row."""
        p = self.estimate(t) if p is None else p
        return self._smoothing().leave_one_out(t, p, p.known(x), y, w, lone)

    def evidence(self, t: DistinctRows) -> np.ndarray:
        """log marginal likelihood (k,) of the levels given the graph: each column's shares, at each combination of its
        parents' levels, drawn from a Dirichlet of `alpha` for every level, or of `prior` spread evenly (BDeu) where
        that is None. A row counts in the tables that it has all cells of."""
        out = np.zeros(t.k)
        for j, own in enumerate(self.parents(t)):
            table = counts(t, j, own)
            out += bdeu(table, self.prior) if self.alpha is None else marginal(table, self.alpha)
        return out

    def sample(self, p: BackedOffTables, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return p.network.sample(len(y), rng, {len(p.parents): y})[:, :-1]


FAMILY = Graph
