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
from math import prod

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Codes
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


class _Scores:
    """Scores of columns given parents, each found once. The tables of one column with the same parents and one more are
    counted together for every one more: so a search takes a pass over the rows for each change of parents."""

    def __init__(self, t: DistinctRows, prior: float):
        self.t, self.prior, self.size = t, prior, table_sizes(t)
        self.codes, self.w = Codes(t.rows), None if (t.w == 1).all() else t.w
        self.seen = [float(t.counts([j]).sum()) for j in range(t.d)]
        self.known: dict[tuple[int, frozenset[int]], float] = {}

    def __call__(self, node: int, parents: frozenset[int]) -> float:
        key = node, parents
        if key not in self.known:
            if parents:
                self.with_one_more(node, parents - {max(parents)})
            else:
                self.known[key] = float(bdeu(counts(self.t, node, ()), self.prior).sum())
        return self.known[key]

    def with_one_more(self, node: int, parents: frozenset[int]) -> np.ndarray:
        """The score of the column given these parents and each column in turn; −inf for one of themselves."""
        out = np.full(self.t.d, -np.inf)
        self._score(node, tuple(sorted(parents)), out)
        for a, one in enumerate(out.tolist()):
            # the score that was found first stays, to the last bit: else a search could go round in circles
            out[a] = -np.inf if a == node or a in parents else self.known.setdefault((node, parents | {a}), one)
        return out

    def _score(self, node: int, parents: tuple[int, ...], out: np.ndarray) -> None:
        """The same, but for columns that make a table too large, into `out` (d,)."""
        shape = [self.t.k, *(self.size[p] for p in parents), self.size[node]]
        cells = prod(shape)
        if cells > MOST:
            return
        place, here = self.t.places((*parents, node))
        place = (place if here is None else np.where(here, place, cells)).astype(np.int32)  # missing: after the others
        for columns in _runs(np.array(self.size) * cells, MOST):
            codes = self.codes if len(columns) == self.t.d else Codes(self.t.rows[:, columns])
            levels = np.array([self.size[j] for j in columns])
            table = ops.crosstab(codes, place, self.w, cells + (here is not None), levels).table[:cells]
            start, cell = np.cumsum(levels) - levels, self.prior / (cells // self.t.k * levels)
            table = table.reshape(-1, shape[-1], table.shape[1])
            rows = table.sum(axis=1)
            score = _gained(table.reshape(-1, table.shape[2]), cell, levels)
            score -= _gained(rows, cell * shape[-1], levels)
            seen = np.add.reduceat(rows.sum(axis=0), start)
            with np.errstate(divide="ignore", invalid="ignore"):
                out[columns] = np.where(seen > 0, score * (self.seen[node] / seen), -np.inf)


def _gained(table: np.ndarray, cell: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Σ log Γ(n + cell) / Γ(cell) over the counts (…, sum of levels) of each column (d,)."""
    column = np.repeat(np.arange(len(levels)), levels)
    rows, at = np.nonzero(table)  # most cells of large tables have no row, and add nothing
    own = column[at]
    return np.bincount(own, gammaln(table[rows, at] + cell[own]) - gammaln(cell)[own], minlength=len(levels))


def _runs(sizes: np.ndarray, most: int) -> list[list[int]]:
    """Columns in runs whose sizes add up to at most so much; those that are larger by themselves are in none.

    >>> _runs(np.array([2, 3, 9, 4, 1]), 5)
    [[0, 1], [3, 4]]
    """
    out: list[list[int]] = []
    left = 0
    for j, size in enumerate(sizes.tolist()):
        if size <= most:
            if size > left:
                out.append([])
                left = most
            out[-1].append(j)
            left -= size
    return out


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
        self.edge, self.reach = np.zeros((2, d, d), dtype=bool)  # whether an edge, or several, lead from a to b
        if most > 0:
            for b in range(d):
                self._look(b)

    def _look(self, b: int) -> None:
        """What changing each edge to b gains."""
        own = self.parents[b]
        now = self.score(b, own)
        self.gain[:, b] = -np.inf
        if len(own) < self.most:
            free = ~self.never[:, b]
            self.gain[free, b] = self.score.with_one_more(b, own)[free] - now
        for a in own:
            self.gain[a, b] = self.score(b, own - {a}) - now

    def _change(self, b: int, own: frozenset[int]) -> None:
        """Column b has these parents from now on."""
        before, self.parents[b] = self.parents[b], own
        self.edge[:, b] = False
        self.edge[list(own), b] = True
        if before <= own:
            new = [[a, b] for a in own - before]
        else:  # an edge was removed: what it made reachable is found again
            self.reach[:] = False
            new = np.argwhere(self.edge).tolist()
        for start, end in new:
            to_start, from_end = self.reach[:, start].copy(), self.reach[end].copy()
            to_start[start] = from_end[end] = True
            self.reach |= to_start[:, None] & from_end

    def step(self) -> bool:
        """Make the change that gains most; whether there was any."""
        single = np.where(self.edge | ~self.reach.T, self.gain, -np.inf)  # a → b is no new edge where b leads to a
        tail, head = np.nonzero(self.edge)
        around = (self.reach[tail] & self.edge[:, head].T).any(axis=1)  # whether it leads to another parent of the head
        full = self.edge.sum(axis=0)[tail] >= self.most
        swapped = np.where(around | full, -np.inf, self.gain[tail, head] + self.gain[head, tail])
        best = max(single.max(initial=-np.inf), swapped.max(initial=-np.inf))
        least = 1e-9 * (1.0 + abs(best)) if np.isfinite(best) else 0.0
        if not best > least:
            return False
        if single.max() >= best - least:
            a, b = (int(i) for i in np.argwhere(single >= best - least)[0])
            changed = {b: self.parents[b] ^ {a}}
        else:
            at = int(np.argmax(swapped >= best - least))
            a, b = int(tail[at]), int(head[at])
            changed = {b: self.parents[b] - {a}, a: self.parents[a] | {b}}
        for node, own in changed.items():
            self._change(node, own)
        for node in changed:
            self._look(node)
        return True
