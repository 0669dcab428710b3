"""Structure learning: greedy search for the edges between columns, with the class as a parent of every column.

Score of a column given its parents (BDeu: the marginal likelihood under a Dirichlet of `prior` rows a class, spread
evenly over its table): Σ_rows-of-the-table log Γ(A) / Γ(N + A) + Σ_cells log Γ(n + a) / Γ(a). Starting from no edge,
the edge whose addition, removal or reversal gains most is changed, until nothing gains. Edges a → b and b → a often
gain the same: the first column is then the parent, so that the same counts always give the same graph.

Where cells are missing, a score is that of the rows that have them all, times the rows that have the column over these:
so scores are compared at equal numbers of rows. Those rows must not be chosen by the column itself: a column whose
missing cells depend on the level of another one is no parent of it.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> a, b = rng.integers(0, 2, (2, 200))
>>> t = DistinctRows.of(np.stack([a, b, a], axis=1), np.zeros(200, dtype=np.int32), None, 1)
>>> search(t)
((), (), (0,))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from scipy.special import gammaln

from deciban.errors import DataError
from deciban.estimation.missingness import dependent
from deciban.networks.graph import Parents
from deciban.tallies import DistinctRows

MOST = 1 << 22  # cells of a table that is considered


def table_sizes(t: DistinctRows) -> list[int]:
    """How many levels a table has for each column: at least one."""
    return np.maximum(t.levels, 1).tolist()


def check_cells(k: int, columns: Sequence[str], levels: Sequence[int]) -> None:
    """Raise DataError for a table that is too large; the last column is the one that depends on the others."""
    cells = k * prod(levels)
    if len(columns) > 1 and cells > MOST:
        *parents, own = [f"{name} ({many} levels)" for name, many in zip(columns, levels, strict=True)]
        raise DataError(
            f"{own}, given {', '.join(parents)} and {k} classes, has a table of {float(cells):.1e} cells, more than "
            f"{float(MOST):.1e}\n\nhint: leave out an edge to it, or lump rare levels together"
        )


def counts(t: DistinctRows, node: int, parents: tuple[int, ...]) -> np.ndarray:
    """(k, levels of the parents …, own levels); rows that miss a cell of these count for nothing."""
    size = table_sizes(t)
    shape = (t.k, *(size[p] for p in parents), size[node])
    check_cells(t.k, [f"column {j}" for j in (*parents, node)], shape[1:])
    out = t.counts([*parents, node])
    return out if out.shape == shape else np.zeros(shape)


def assumed(table: np.ndarray, prior: float) -> float:
    """What each cell of a table (k, …) is assumed to have beforehand: every class has `prior` rows, spread evenly."""
    return prior / (table.size // len(table))


def bdeu(table: np.ndarray, prior: float) -> np.ndarray:
    """log marginal likelihood (k,) of the counts of a column, (k, …, own levels), class by class."""
    return marginal(table, assumed(table, prior))


def marginal(table: np.ndarray, cell: float) -> np.ndarray:
    """The same with shares drawn from a Dirichlet that has `cell` for every level.

    >>> np.exp(marginal(np.array([[2.0, 0.0]]), 1.0)).round(4).tolist()  # ½ · ⅔
    [0.3333]
    """
    if not cell > 0:
        raise DataError("`alpha` of 0 is no prior: nothing can be averaged over it\n\nhint: use alpha > 0")
    row = cell * max(table.shape[-1], 1)
    rows = gammaln(row) - gammaln(table.sum(axis=-1) + row)
    cells = gammaln(table + cell) - gammaln(cell)
    return rows.reshape(len(table), -1).sum(axis=1) + cells.reshape(len(table), -1).sum(axis=1)


@dataclass
class _Scores:
    """Scores of columns given parents, each found once."""

    t: DistinctRows
    prior: float
    known: dict = field(default_factory=dict)

    def __call__(self, node: int, parents: frozenset[int]) -> float:
        key = node, parents
        if key not in self.known:
            self.known[key] = self._score(node, tuple(sorted(parents)))
        return self.known[key]

    def _score(self, node: int, parents: tuple[int, ...]) -> float:
        size = table_sizes(self.t)
        if self.t.k * prod(size[p] for p in (*parents, node)) > MOST:
            return -np.inf
        table = counts(self.t, node, parents)
        score, seen = float(bdeu(table, self.prior).sum()), table.sum()
        if not parents or seen <= 0:
            return score if not parents else -np.inf
        return score * float(counts(self.t, node, ()).sum() / seen)


def search(t: DistinctRows, prior: float = 1.0, max_parents: int = 2) -> Parents:
    """The parents of each column in addition to the class; at most so many."""
    climb = _Climb(_Scores(t, prior), [frozenset() for _ in range(t.d)], max_parents, dependent(t))
    while climb.step():
        pass
    return tuple(tuple(sorted(own)) for own in climb.parents)


class _Climb:
    """State of the search: the graph, and the gain of changing each edge."""

    def __init__(self, score: _Scores, parents: list[frozenset[int]], most: int, never: np.ndarray):
        self.score, self.parents, self.most, self.never = score, parents, most, never
        d = len(parents)
        self.gain = np.full((d, d), -np.inf)  # of edge a → b: adding it, or taking it away
        if most > 0:
            for b in range(d):
                self._look(b)

    def _look(self, b: int) -> None:
        """What changing each edge to b gains."""
        own = self.parents[b]
        now = self.score(b, own)
        for a in range(len(self.parents)):
            if a != b:
                barred = a not in own and (len(own) >= self.most or self.never[a, b])
                self.gain[a, b] = -np.inf if barred else self.score(b, own ^ {a}) - now

    def _swapped(self, a: int, b: int) -> float:
        """What an edge a → b gains that becomes b → a."""
        if len(self.parents[a]) >= self.most:
            return -np.inf
        return self.gain[a, b] + self.gain[b, a]

    def _reach(self) -> np.ndarray:
        """[a, b]: whether edges lead from a to b."""
        d = len(self.parents)
        out = np.zeros((d, d), dtype=bool)
        done: set[int] = set()

        def up(b: int) -> None:
            for a in self.parents[b]:
                if a not in done:
                    up(a)
                out[:, b] |= out[:, a]
                out[a, b] = True
            done.add(b)

        for b in range(d):
            if b not in done:
                up(b)
        return out

    def step(self) -> bool:
        """Make the change that gains most; whether there was any."""
        reach, edge = self._reach(), np.zeros(self.gain.shape, dtype=bool)
        for b, own in enumerate(self.parents):
            edge[list(own), b] = True
        single = np.where(edge | ~reach.T, self.gain, -np.inf)  # a → b is no new edge where b leads to a
        swaps = {}
        for a, b in zip(*np.nonzero(edge), strict=True):
            if not any(reach[a, other] for other in self.parents[b] if other != a):
                swaps[int(a), int(b)] = self._swapped(int(a), int(b))
        best = max(single.max(initial=-np.inf), max(swaps.values(), default=-np.inf))
        least = 1e-9 * (1.0 + abs(best)) if np.isfinite(best) else 0.0
        if not best > least:
            return False
        if single.max() >= best - least:
            a, b = (int(i) for i in np.argwhere(single >= best - least)[0])
            changed = [(b, self.parents[b] ^ {a})]
        else:
            a, b = next(pair for pair, gain in swaps.items() if gain >= best - least)
            changed = [(b, self.parents[b] - {a}), (a, self.parents[a] | {b})]
        for node, own in changed:
            self.parents[node] = own
        for node, _ in changed:
            self._look(node)
        return True
