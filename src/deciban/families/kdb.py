"""Columns that depend on the class and up to k others (KDB, Sahami 1996): log p(x | c) = Σ_j log θ_j[x_j | c, parents].

Columns are ordered by their information about the class, I(X_j; C). Each takes as parents the k columns before it with
the largest I(X_i; X_j | C) > 0 whose table has at most `MOST` cells; ties go to the first. A column whose missing cells
depend on the level of another is no parent of it: rows that have both cells would be a biased sample. Missing cells are
summed out exactly by variable elimination, for each pattern of missing cells: the cost grows with the levels of parents
that are missing together.

Tally: `DistinctRows`. Estimate: θ(x | c, p, q) backs off to θ(x | c, p), that to θ(x | c), θ(x) and the uniform
distribution, dropping the least informative parent first (see `networks.tables`); with strength 0 it is (n + alpha) /
(sum + alpha · levels). A row that lacks a cell of a table is not counted in it.

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> x = Codes(np.array([[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]]))  # the third is whether the others differ
>>> f = Kdb(strength=0.0, order=((), (0,), (0, 1)))
>>> p = f.estimate(f.tally(x, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(f.loglik(p, Codes(np.array([[0, 0, 0], [0, -1, 0]])))).round(3).tolist()  # ½ · ½ · ⅔; ½ · (½ · ⅔ + ½ · ⅓)
[[0.167], [0.25]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.left_out import LeftOut
from deciban.estimation.missingness import dependent
from deciban.networks.dependence import class_information, conditional_information
from deciban.networks.graph import Parents
from deciban.networks.network import free_entries
from deciban.networks.search import MOST, counts, marginal, table_sizes
from deciban.networks.tables import BackedOffTables, BackoffSmoothing
from deciban.tallies import DistinctRows
from deciban.tallies.crosstab import pair_cells


@dataclass(frozen=True)
class Kdb(Family):
    most: int = 1  # largest number of parents, without the class
    alpha: float = 1.0
    strength: float | str | tuple = "auto"  # of the back-off: one number, "auto", or those of each column
    order: Parents | None = None  # the parents of each column, where they are given
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False  # a joint density of all columns
    structured = True  # the evidence of a column depends on other columns

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """How many numbers the search for parents holds; the tally holds the distinct rows."""
        return k * (pair_cells(levels) + int(levels.sum()))

    def tally(self, x: Codes, y, w, k: int) -> DistinctRows:
        return DistinctRows.of(x.values, y, w, k)

    def parents(self, t: DistinctRows) -> Parents:
        if self.order is not None:
            return self.order
        pairs = ops.pairs(Codes(t.rows), t.y, t.w, t.k, t.levels)
        own, shared = class_information(pairs.crosstab()), conditional_information(pairs)
        shared = np.where(dependent(t), 0.0, shared)
        before: list[int] = []
        out: list[tuple[int, ...]] = [()] * t.d
        for j in np.argsort(-own, kind="stable").tolist():
            information = np.array([shared[i, j] for i in before])
            best = [before[at] for at in np.argsort(-information, kind="stable") if information[at] > 0]
            out[j] = self._few_enough(t, j, best)
            before.append(j)
        return tuple(out)

    def _few_enough(self, t: DistinctRows, j: int, best: list[int]) -> tuple[int, ...]:
        """The first of these parents, skipping those that would make the table of column j too large."""
        sizes = table_sizes(t)
        out: list[int] = []
        for i in best:
            if len(out) < self.most and t.k * prod(sizes[p] for p in (*out, i, j)) <= MOST:
                out.append(i)
        return tuple(out)

    def estimate(self, t: DistinctRows) -> BackedOffTables:
        return self._smoothing().estimate(t, self.parents(t))

    def _smoothing(self) -> BackoffSmoothing:
        return BackoffSmoothing(self.strength, self.alpha)

    def fixed(self, p: BackedOffTables) -> Kdb:
        """The family with these parents and strengths fixed, independent of the counts."""
        return replace(self, order=p.parents, strength=p.strengths)

    def loglik(self, p: BackedOffTables, x: Codes) -> np.ndarray:
        return p.loglik(p.known(x))

    def parts(self, p: BackedOffTables, x: Codes) -> np.ndarray:
        return p.parts(p.known(x))

    def quotients(self, t: DistinctRows, p: BackedOffTables) -> list[Quotients]:
        return self._smoothing().quotients(t, p)

    def cell_factors(self, t: DistinctRows, p: BackedOffTables, x: Codes) -> Factors:
        return self._smoothing().cell_factors(t, p, p.known(x))

    def leave_one_out(self, t: DistinctRows, x: Codes, y, w, p: BackedOffTables | None = None, lone=None) -> np.ndarray:
        """Parents and strengths stay; a `lone` (n, d) level, which no other row has, is removed with its row."""
        p = self.estimate(t) if p is None else p
        return self._smoothing().leave_one_out(t, p, p.known(x), y, w, lone)

    def loglik_without(self, t: DistinctRows, p: BackedOffTables, out: LeftOut, x: Codes) -> np.ndarray:
        return self._smoothing().loglik_without(t, p, p.known(out.x), out, p.known(x))

    def evidence(self, t: DistinctRows) -> np.ndarray:
        """log marginal likelihood (k,) of each class's rows given the parents, under a Dirichlet(alpha) prior for each
        column at each combination of its parents' levels."""
        return sum((marginal(counts(t, j, own), self.alpha) for j, own in enumerate(self.parents(t))), np.zeros(t.k))

    def n_parameters(self, p: BackedOffTables, k: int, d: int) -> int:
        return free_entries(p.tables)

    def sample(self, p: BackedOffTables, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return p.network.sample(len(y), rng, {len(p.parents): y})[:, :-1]


FAMILY = Kdb
