"""Bayesian network of levels: log p(x | c) = Σ_j log θ_j[x_j | parents of x_j, c].

The class is a parent of every column.

Tally: `DistinctRows`, from which any table can be counted. Graph: given as edges between columns, or found by greedy
search for the largest marginal likelihood (BDeu: every table assumes `prior` rows of each class, spread evenly).
Estimate: θ(x | c, p, q) backs off to θ(x | c, p), that to θ(x | c), θ(x) and the uniform distribution (see
`networks.tables`); with strength 0 it is (count + a) / (count of the row + a · levels), where a is `alpha`, or BDeu's
share of `prior`. A row that lacks a cell of a table is not counted in it; scoring sums missing cells out exactly.

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
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.left_out import LeftOut
from deciban.networks.graph import Parents, parents_of
from deciban.networks.network import free_entries
from deciban.networks.search import bdeu, counts, marginal, search
from deciban.networks.tables import BackedOffTables, BackoffSmoothing
from deciban.tallies import DistinctRows


@dataclass(frozen=True)
class Graph(Family):
    edges: tuple[tuple[int, int], ...] | None = None  # (parent, child), by column number; None: found by search
    prior: float = 1.0
    max_parents: int = 2  # without the class, of a graph that is searched for
    strength: float | str | tuple = "auto"  # of the back-off: one number, "auto", or those of each column
    alpha: float | None = 1.0  # of every cell of every table; None: `prior`, spread evenly
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False  # a joint density of all columns
    structured = True  # the evidence of a column depends on other columns

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """How many numbers a tally of few rows holds; with more rows it grows with the number of distinct rows."""
        return k * int(levels.sum())

    def fixed(self, p: BackedOffTables) -> Graph:
        """The family with this graph and these strengths fixed, independent of the counts."""
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
        """What the log likelihood gains as columns are added one by one, parents first."""
        return p.parts(p.known(x))

    def quotients(self, t: DistinctRows, p: BackedOffTables) -> list[Quotients]:
        return self._smoothing().quotients(t, p)

    def cell_factors(self, t: DistinctRows, p: BackedOffTables, x: Codes) -> Factors:
        return self._smoothing().cell_factors(t, p, p.known(x))

    def leave_one_out(self, t: DistinctRows, x: Codes, y, w, p: BackedOffTables | None = None, lone=None) -> np.ndarray:
        """The graph and the strengths stay; a `lone` (n, d) level, which no other row has, is removed with its row."""
        p = self.estimate(t) if p is None else p
        return self._smoothing().leave_one_out(t, p, p.known(x), y, w, lone)

    def loglik_without(self, t: DistinctRows, p: BackedOffTables, out: LeftOut, x: Codes) -> np.ndarray:
        return self._smoothing().loglik_without(t, p, p.known(out.x), out, p.known(x))

    def evidence(self, t: DistinctRows) -> np.ndarray:
        """log marginal likelihood (k,) of the levels given the graph, under a Dirichlet prior for each column at each
        combination of its parents' levels: `alpha` for every level, or `prior` spread evenly (BDeu) if alpha is None.
        A row counts in the tables of which it has all cells."""
        out = np.zeros(t.k)
        for j, own in enumerate(self.parents(t)):
            table = counts(t, j, own)
            out += bdeu(table, self.prior) if self.alpha is None else marginal(table, self.alpha)
        return out

    def n_parameters(self, p: BackedOffTables, k: int, d: int) -> int:
        return free_entries(p.tables)

    def sample(self, p: BackedOffTables, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return p.network.sample(len(y), rng, {len(p.parents): y})[:, :-1]


FAMILY = Graph
