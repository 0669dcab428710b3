"""Conditional probability tables of columns given their parents and the class: looked up for complete rows,
marginalised for rows with missing cells.

>>> import numpy as np
>>> t = Tables(((), (0,)), (np.array([[0.5, 0.5]]), np.array([[[0.9, 0.1], [0.2, 0.8]]])), np.array([2, 2]))
>>> np.exp(t.loglik(np.array([[0, 1], [-1, 1], [0, -1]]))).round(3).tolist()
[[0.05], [0.45], [0.5]]

`BackoffSmoothing` estimates tables of columns given their parents, each smoothed towards the table with one parent
less: θ(x | c, p, q) towards θ(x | c, p), that towards θ(x | c), θ(x) and the uniform distribution; the last parent is
dropped first.

>>> import numpy as np
>>> t = DistinctRows.of(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.zeros(4, dtype=np.int32), None, 1)
>>> for strength in (0.0, 4.0):
...     BackoffSmoothing(strength).estimate(t, ((), (0,))).tables[1].round(3).tolist()
[[[0.75, 0.25], [0.25, 0.75]]]
[[[0.625, 0.375], [0.375, 0.625]]]

`shares` computes these probabilities:

    θ(x)         = (n(x) + alpha) / (n + alpha · levels)
    θ(x | c)     = (n(x, c) + m · θ(x) + alpha) / (n(c) + m + alpha · levels)
    θ(x | c, p)  = (n(x, c, p) + m · θ(x | c) + alpha) / (n(c, p) + m + alpha · levels)     and so on.

A table has the shape (conditions …, levels); the next one has one more condition before the levels. The strengths m are
given, one for each step, or chosen from a grid by the leave-one-out likelihood of the rows. So is alpha, or it is one
number for all tables. With m = 0 there is no smoothing towards another table: alpha = 1 is Laplace's rule.

>>> import numpy as np
>>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
>>> shares(tables, 1.0, (2.0,))[1].round(3).tolist()  # a level that a class never had: (2 · 0.3 + 1) / (4 + 2 + 2)
[[0.8, 0.2], [0.55, 0.45]]
>>> shares(tables, 1.0, (0.0,))[1].round(3).tolist()
[[0.833, 0.167], [0.5, 0.5]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.left_out import LeftOut
from deciban.networks.graph import Parents, topological
from deciban.networks.network import Network
from deciban.networks.query import Column, Left
from deciban.networks.search import assumed, counts
from deciban.ops.packed import Packed
from deciban.tallies import DistinctRows
from deciban.tallies.basic import subtract


@dataclass(frozen=True)
class Tables:
    parents: Parents  # of each column, in addition to the class
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

    @cached_property
    def strides(self) -> np.ndarray:
        """How far a level of a column moves the place in the table of another one, (d, d)."""
        out = np.zeros((len(self.parents), len(self.parents)), dtype=np.int64)
        for j, own in enumerate(self.parents):
            sizes = self.tables[j].shape[1:]
            for i, column in enumerate((*own, j)):
                out[column, j] = int(np.prod(sizes[i + 1 :]))
        return out

    def known(self, x: Codes) -> np.ndarray:
        """The codes (n, d), −1 for a level that no row had."""
        values = np.asarray(x.values, dtype=np.int64)
        return np.where((values >= 0) & (values < self.levels), values, -1)

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Where in its column's table each cell stands, with its parents' cells; −1 where one of these is missing."""
        if len(rows) == 1:
            place = rows @ self.strides
            return place if rows.min(initial=0) >= 0 else np.where((rows < 0) @ (self.strides > 0), -1, place)
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


Alpha = float | Sequence[float]  # of all tables, or of each

GRID = np.array([0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])
TINY = 1e-300


def even(table: np.ndarray) -> np.ndarray:
    """The same share for every level."""
    return np.full(table.shape[-1], 1.0 / max(table.shape[-1], 1))


def backed(table: np.ndarray, base: np.ndarray, m: float, alpha: float) -> np.ndarray:
    """(n + m · base + alpha) / (sum + m + alpha · levels), `base` without the last condition; `base` itself where there
    is neither count nor pseudo-count."""
    base = np.broadcast_to(base[..., None, :], table.shape)
    whole = table.sum(axis=-1, keepdims=True) + m + alpha * table.shape[-1]
    return np.divide(table + m * base + alpha, whole, out=base.copy(), where=whole > 0)


def shares(tables: Sequence[np.ndarray], alpha: Alpha, strengths: Sequence[float]) -> list[np.ndarray]:
    """θ of each table, the coarsest first."""
    first, *alphas = np.broadcast_to(alpha, len(tables))
    out = [backed(tables[0][None], even(tables[0]), 0.0, first)[0]]
    for table, m, own in zip(tables[1:], strengths, alphas, strict=True):
        out.append(backed(table, out[-1], m, own))
    return out


def less_one(table: np.ndarray, base: np.ndarray, m: float, alpha: float) -> np.ndarray:
    """The same shares of each level without one of the rows that have it.

    >>> less_one(np.array([[2.0, 1.0]]), np.array([0.5, 0.5]), 0.0, 1.0).tolist()
    [[0.5, 0.25]]
    """
    base = np.broadcast_to(base[..., None, :], table.shape)
    whole = np.maximum(table.sum(axis=-1, keepdims=True) - 1.0, 0.0) + m + alpha * table.shape[-1]
    return np.divide(np.maximum(table - 1.0, 0.0) + m * base + alpha, whole, out=base.copy(), where=whole > 0)


def held_out(n: np.ndarray, rest: np.ndarray, base: np.ndarray, levels: np.ndarray | int, m: float, alpha: float):
    """n · log θ of cells with n rows, one of them taken out; `rest` is the sum over their levels, itself among it."""
    one, rest = np.maximum(n - 1.0, 0.0), np.maximum(rest - 1.0, 0.0)
    return n * (np.log(one + m * base + alpha + TINY) - np.log(rest + m + alpha * levels + TINY))


def best_strengths(tables: Sequence[np.ndarray], alpha: Alpha) -> tuple[float, ...]:
    """For each table but the first the strength of the grid under which held-out rows are most probable.

    >>> alike, apart = np.array([[4.0, 4.0], [4.0, 4.0]]), np.array([[8.0, 0.0], [0.0, 8.0]])
    >>> [best_strengths([t.sum(axis=0), t], 1.0)[0] for t in (alike, apart)]
    [1024.0, 0.0]
    """
    first, *alphas = np.broadcast_to(alpha, len(tables))
    left = less_one(tables[0][None], even(tables[0]), 0.0, first)[0]
    out = []
    for table, own in zip(tables[1:], alphas, strict=True):
        some = table > 0
        rest = np.broadcast_to(table.sum(axis=-1, keepdims=True), table.shape)[some]
        base = np.broadcast_to(left[..., None, :], table.shape)[some]
        n = table[some]
        scores = [held_out(n, rest, base, table.shape[-1], m, own).sum() for m in GRID]
        out.append(float(GRID[int(np.argmax(scores))]))
        left = less_one(table, left, out[-1], own)
    return tuple(out)


def left_out(
    tables: Sequence[np.ndarray],
    alpha: Alpha,
    strengths: Sequence[float],
    x: np.ndarray,
    given: Sequence[np.ndarray],
    y: np.ndarray,
    w: np.ndarray | None,
) -> np.ndarray:
    """θ(x_i | c, given_i) of each row and class (n, k), row i taken out of the counts. `tables` go from the coarsest to
    (k, *given, levels); x (n,) and the conditions (n,) are levels.

    >>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
    >>> left_out(tables, 1.0, (0.0,), np.array([0]), [], np.array([1]), None).round(3).tolist()
    [[0.833, 0.4]]
    """
    levels, k = max(tables[0].shape[-1], 1), tables[1].shape[0]
    weight = np.ones((len(y), 1)) if w is None else w[:, None]
    mine = weight * (y[:, None] == np.arange(k))
    steps = [(tables[0][x][:, None], np.full((len(y), 1), tables[0].sum()), weight)]
    for depth, table in enumerate(tables[1:]):
        at: tuple = (slice(None), *given[:depth])
        steps.append((table[(*at, x)].T, table.sum(axis=-1)[at].T if depth else table.sum(axis=-1)[None], mine))
    out = np.full((len(y), 1), 1.0 / levels)
    for (count, whole, own), m, a in zip(steps, (0.0, *strengths), np.broadcast_to(alpha, len(steps)), strict=True):
        count, whole = np.maximum(subtract(count, own), 0.0), np.maximum(subtract(whole, own), 0.0)
        base, whole = np.broadcast_to(out, count.shape), whole + m + a * levels
        out = np.divide(count + m * base + a, whole, out=base.copy(), where=whole > 0)
    return out


def first_of_each(cells: Sequence[np.ndarray], shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(the first of the rows that are in each cell of a table, which of these stands for each row (n,)) of rows with
    these places on each of its axes.

    >>> [at.tolist() for at in first_of_each([np.array([1, 0, 1])], [2])]
    [[0, 1], [0, 1, 0]]
    """
    place = np.ravel_multi_index(tuple(cells), tuple(shape))
    rows = np.arange(len(place))
    first = np.empty(prod(shape), dtype=np.intp)  # only entries that are written are read
    first[place[::-1]] = rows[::-1]
    some = np.flatnonzero(first[place] == rows)
    which = np.empty(len(place), dtype=np.intp)
    which[some] = np.arange(len(some))
    return some, which[first[place]]


def log_shares_without(
    tables: Sequence[np.ndarray],
    alpha: Alpha,
    strengths: Sequence[float],
    cell: int,
    given: Sequence[int],
    rows: np.ndarray,
    conditions: Sequence[np.ndarray],
    out: LeftOut,
) -> np.ndarray:
    """log θ(cell | c, given) of each class, (groups, k), without each group of rows, whose levels are `rows` (m,) and
    `conditions` (each (m,)); −1: missing. `tables` as in `left_out`; the cell and its conditions are known.

    >>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
    >>> one = LeftOut.of(None, np.array([1]), None, None)
    >>> np.exp(log_shares_without(tables, 1.0, (0.0,), 0, [], np.array([0]), [], one)).round(3).tolist()
    [[0.833, 0.4]]
    """
    found = [(rows == cell, rows >= 0)]  # by depth: which rows are in the count, and in its sum
    for depth in range(1, len(tables) - 1):
        alike = conditions[depth - 1] == given[depth - 1]
        found.append((found[-1][0] & alike, found[-1][1] & alike))
    if out.row_part is not None or out.w is not None:
        return _log_shares_without(tables, alpha, strengths, cell, given, found, out)
    # rows of weight 1 are in the same counts if class, cell and the number of first conditions that agree are the same
    kind = out.y.astype(np.int64) * len(found) + sum(seen.astype(np.int64) for _, seen in found[1:])
    kind = 3 * kind + found[0][0] + found[0][1]
    first = np.zeros(kind.max(initial=-1) + 1, dtype=np.intp)
    first[kind] = np.arange(len(kind))
    kinds = np.flatnonzero(np.bincount(kind))
    some = LeftOut.of(None, out.y[first[kinds]], None, None)
    each = [(here[first[kinds]], seen[first[kinds]]) for here, seen in found]
    place = np.zeros(len(first), dtype=np.intp)
    place[kinds] = np.arange(len(kinds))
    return _log_shares_without(tables, alpha, strengths, cell, given, each, some)[place[kind]]


def _log_shares_without(
    tables: Sequence[np.ndarray],
    alpha: Alpha,
    strengths: Sequence[float],
    cell: int,
    given: Sequence[int],
    found: Sequence[tuple[np.ndarray, np.ndarray]],
    out: LeftOut,
) -> np.ndarray:
    """The same, with the rows (m,) that are in the count of the cell and in its sum, at each depth."""
    levels, k = max(tables[0].shape[-1], 1), tables[1].shape[0]
    sums = [(out.sums(here), out.sums(seen)) for here, seen in found]
    here, seen = (out.by_group(own)[:, None] for own in sums[0])
    steps = [(subtract(tables[0][cell], here), subtract(tables[0].sum(), seen))]
    for depth, (table, (here, seen)) in enumerate(zip(tables[1:], sums, strict=True)):
        at: tuple = (slice(None), *given[:depth])
        count = np.repeat(table[(*at, cell)][None], out.groups, axis=0)
        whole = np.repeat(table[at].sum(axis=-1)[None], out.groups, axis=0)
        count[out.group, out.y] = subtract(count[out.group, out.y], here)
        whole[out.group, out.y] = subtract(whole[out.group, out.y], seen)
        steps.append((count, whole))
    share = np.full((out.groups, 1), 1.0 / levels)
    short = np.zeros(out.groups, dtype=bool)
    for (count, whole), m, a in zip(steps, (0.0, *strengths), np.broadcast_to(alpha, len(steps)), strict=True):
        short |= (count < 0).any(axis=1)
        count, whole = np.maximum(count, 0.0), np.maximum(whole, 0.0) + m + a * levels
        base = np.broadcast_to(share, count.shape)
        share = np.divide(count + m * base + a, whole, out=base.copy(), where=whole > 0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.broadcast_to(share, (out.groups, k)))
    return np.where(short[:, None], np.nan, logs)


Strengths = tuple[float, ...]


@dataclass(frozen=True)
class BackedOffTables(Tables):
    strengths: tuple[Strengths, ...]  # of each column's back-off

    def chains_of(self, t: DistinctRows) -> list[list[np.ndarray]]:
        """The counts of every column by its parents, of the tally that these are estimated from: found once."""
        known = self.__dict__.get("_chains")
        if known is None or known[0] is not t:
            known = self.keep_chains(t, [_chain(t, j, own) for j, own in enumerate(self.parents)])
        return known[1]

    def keep_chains(self, t: DistinctRows, chains: list[list[np.ndarray]]) -> tuple[DistinctRows, list]:
        """Remember them."""
        self.__dict__["_chains"] = t, chains
        return t, chains


@dataclass(frozen=True)
class BackoffSmoothing:
    strength: float | str | tuple  # of the back-off: one number, or those of each column
    alpha: float | None = 1.0  # of every cell; None: `prior` rows of each class, spread evenly over a table (BDeu)
    prior: float = 1.0

    def estimate(self, t: DistinctRows, parents: Parents) -> BackedOffTables:
        tables, strengths = [], []
        chains = [_chain(t, j, own) for j, own in enumerate(parents)]
        for j, chain in enumerate(chains):
            strengths.append(self._strengths(j, chain))
            tables.append(shares(chain, self._alphas(chain), strengths[-1])[-1])
        out = BackedOffTables(parents, tuple(tables), t.levels, tuple(strengths))
        out.keep_chains(t, chains)
        return out

    def _alphas(self, chain: list[np.ndarray]) -> list[float]:
        if self.alpha is not None:
            return [self.alpha] * len(chain)
        return [self.prior / chain[0].size, *(assumed(table, self.prior) for table in chain[1:])]

    def _strengths(self, j: int, chain: list[np.ndarray]) -> Strengths:
        if isinstance(self.strength, tuple):
            return self.strength[j]
        if isinstance(self.strength, str):
            return best_strengths(chain, self._alphas(chain))
        return (float(self.strength),) * (len(chain) - 1)

    def quotients(self, t: DistinctRows, p: BackedOffTables) -> list[Quotients]:
        """θ of each column as quotients; the back-off adds its strength to the denominator."""
        out = []
        for j, (own, table, m) in enumerate(zip(p.parents, p.tables, p.strengths, strict=True)):
            chain = _chain(t, j, own)
            added = m[-1] + self._alphas(chain)[-1] * chain[-1].shape[-1]
            out.append(Quotients.from_table(table, chain[-1], added, own))
        return out

    def cell_factors(self, t: DistinctRows, p: BackedOffTables, rows: np.ndarray) -> Factors:
        """Of known codes. A cell whose parents are missing has the probability that sums these out."""
        return Factors.from_quotients(self.quotients(t, p), p.places(rows), logs=p.parts(rows))

    def leave_one_out(
        self, t: DistinctRows, p: BackedOffTables, rows: np.ndarray, y: np.ndarray, w, lone=None
    ) -> np.ndarray:
        """log p(x | c) (n, k) of known codes. Parents and strengths stay; the row leaves the counts, also those that
        back other classes, and takes along the levels of its `lone` (n, d) cells."""
        chains = p.chains_of(t)
        lone = np.zeros(rows.shape, dtype=bool) if lone is None else lone
        hard = (rows < 0).any(axis=1) | lone.any(axis=1)
        out, easy = np.zeros((len(rows), p.k)), np.flatnonzero(~hard)
        alike = w is None or (len(w) > 0 and bool((w == w[0]).all()))
        for j, (parents, chain) in enumerate(zip(p.parents, chains, strict=True)):
            # rows of the same weight that are in the same cell of the table score the same
            cells = [y[easy], *(rows[easy, i] for i in parents), rows[easy, j]]
            some, which = first_of_each(cells, chain[-1].shape) if alike else (slice(None), slice(None))
            own_y, *given, own = (values[some] for values in cells)
            with np.errstate(divide="ignore"):
                weight = None if w is None else w[easy][some]
                shares_left = left_out(chain, self._alphas(chain), p.strengths[j], own, given, own_y, weight)
                out[easy] += np.log(shares_left)[which]
        if hard.any():
            at = np.flatnonzero(hard)
            left = Left([Column(*one) for one in zip(p.parents, chains, p.strengths, strict=True)], self._alpha)
            out[at] = left.scores(rows[at], y[at], None if w is None else w[at], lone[at])
        return out

    def loglik_without(
        self, t: DistinctRows, p: BackedOffTables, rows: np.ndarray, out: LeftOut, x: np.ndarray
    ) -> np.ndarray:
        """log p(x | c) (q, groups, k) of known codes without each group of rows; NaN for rows x with missing cells."""
        found = np.zeros((len(x), out.groups, p.k))
        for j, (parents, chain) in enumerate(zip(p.parents, p.chains_of(t), strict=True)):
            conditions = [rows[:, i] for i in parents]
            alphas = self._alphas(chain)
            for own, cells in zip(found, x, strict=True):
                if (cells < 0).any():
                    own[:] = np.nan
                    continue
                given = [int(cells[i]) for i in parents]
                own += log_shares_without(
                    chain, alphas, p.strengths[j], int(cells[j]), given, rows[:, j], conditions, out
                )
        return found

    def _alpha(self, sizes: Sequence[int]) -> float:
        """The pseudo-count of a cell of a table of so many levels of parents and column."""
        return self.prior / prod(sizes) if self.alpha is None else self.alpha


def _chain(t: DistinctRows, j: int, parents: tuple[int, ...]) -> list[np.ndarray]:
    """Counts of column j's levels: of all rows, by class, by class and the first parent, and so on."""
    tables = [np.maximum(counts(t, j, parents[:many]), 0.0) for many in range(len(parents) + 1)]
    return [tables[0].sum(axis=0), *tables]
