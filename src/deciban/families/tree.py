"""A tree of columns (TAN): log p(x | c) = Σ_j log θ_j[x_j | c, level of j's parent]. Missing cells are summed out.

The tree maximises the total information I(X_i; X_j | C) between parents and children (Chow and Liu 1968; Friedman,
Geiger and Goldszmidt 1997). Its root is the column with the most information about all others; ties go to the first.
Edges without information are left out, so that there may be several trees. A column whose missing cells depend on the
level of another is no parent of it: rows that have both cells would be a biased sample.

Tally: `Pairs`; a pair counts where both cells are present. Estimate: θ(x | c, p) backs off to θ(x | c), that to θ(x),
that to the uniform distribution (see `networks.tables`); with strength 0 it is (n + alpha) / (sum + alpha · levels).

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> f, x = Tree(alpha=1.0, strength=0.0), Codes(np.array([[0, 0], [1, 1], [1, 1], [0, 1]]))
>>> p = f.estimate(f.tally(x, np.zeros(4, dtype=np.int32), None, 1))
>>> p.parents, np.exp(p.tables[1][0]).tolist()  # (1 + 1) / (2 + 2), …
((-1, 0), [[0.5, 0.5], [0.25, 0.75]])
>>> f.loglik(p, Codes(np.array([[-1, 1], [-1, -1]]))).round(3).tolist()  # log(½ · 0.5 + ½ · 0.75)
[[-0.47], [0.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes
from deciban.estimation.discretise import sequential_parts
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors, Quotients
from deciban.estimation.left_out import LeftOut
from deciban.estimation.missingness import dependent
from deciban.networks import tables as backoff
from deciban.networks.dependence import conditional_information, spanning_tree
from deciban.networks.network import Network, free_entries
from deciban.networks.query import Column, Left
from deciban.networks.search import marginal
from deciban.networks.tables import Tables
from deciban.ops.packed import Packed
from deciban.tallies import Pairs
from deciban.tallies.crosstab import pair_cells

BATCH = 1 << 20  # largest number of entries in the messages of one column

Own = Callable[[int, np.ndarray], np.ndarray]  # column, rows → log θ of its cells given the parent's cells, (rows, k)
Over = Callable[[int, np.ndarray], np.ndarray]  # the same given every level of a missing parent, (rows, k, levels)


@dataclass(frozen=True)
class Params:
    parents: tuple[int, ...]  # of each column; −1: none
    order: tuple[int, ...]  # parents before children
    levels: np.ndarray  # (d,)
    strengths: tuple[tuple[float, ...], ...]  # of each column's back-off
    tables: tuple[np.ndarray, ...]  # log θ, (k, levels of the parent, levels); the root's parent has one level
    information: np.ndarray  # (d, d)

    @cached_property
    def packed(self) -> tuple[np.ndarray, Packed]:
        """Start of each column's table, and all tables in the layout of the kernel."""
        flat = [table.reshape(len(table), -1) for table in self.tables]
        start = np.concatenate([[0], np.cumsum([table.shape[1] for table in flat])]).astype(np.int64)
        return start, Packed.of(np.hstack(flat) if flat else np.zeros((1, 0)))

    @property
    def k(self) -> int:
        return self.tables[0].shape[0]

    @property
    def network(self) -> Network:
        """The tree as a network whose last node is the class."""
        parents = tuple(() if parent < 0 else (parent,) for parent in self.parents)
        shares = (np.exp(t[:, 0] if not own else t) for t, own in zip(self.tables, parents, strict=True))
        shares = (s if s.shape[-1] else np.ones((*s.shape[:-1], 1)) for s in shares)
        return Tables(parents, tuple(shares), self.levels).network

    def known(self, x: Codes) -> np.ndarray:
        """The cells (n, d), −1 where missing or of a level that is not in the training rows."""
        codes = np.asarray(x.values)
        unseen = (codes < -1) | (codes >= self.levels)
        return np.where(unseen, -1, codes) if unseen.any() else codes


@dataclass(frozen=True)
class Tree(Family):
    alpha: float = 1.0
    strength: float | str | tuple = "auto"  # of the back-off: one number, "auto", or those of each column
    root: int | None = None
    parents: tuple[int, ...] | None = None  # a tree that is given
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False  # a joint density of all columns
    structured = True  # the evidence of a column depends on other columns

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """How many numbers a tally holds."""
        return k * (pair_cells(levels) + int(levels.sum()))

    def tally(self, x: Codes, y, w, k: int) -> Pairs:
        return ops.pairs(x, y, w, k)

    def estimate(self, t: Pairs) -> Params:
        weight = conditional_information(t)
        if self.parents is None:
            parents, order = spanning_tree(np.where(dependent(t), 0.0, weight), self.root)
        else:
            parents, order = self.parents, _topological(self.parents)
        chains = [_chain(t, j, parent) for j, parent in enumerate(parents)]
        strengths = tuple(self._strengths(j, chain) for j, chain in enumerate(chains))
        with np.errstate(divide="ignore"):
            tables = [
                np.log(backoff.shares(chain, self.alpha, m)[-1]) for chain, m in zip(chains, strengths, strict=True)
            ]
        tables = [table if table.ndim == 3 else table[:, None, :] for table in tables]
        return Params(parents, order, t.levels, strengths, tuple(tables), weight)

    def fixed(self, p: Params) -> Tree:
        """The family with this tree and these strengths fixed, independent of the counts."""
        return replace(self, parents=p.parents, strength=p.strengths)

    def _strengths(self, j: int, chain: list[np.ndarray]) -> tuple[float, ...]:
        if isinstance(self.strength, tuple):
            return self.strength[j]
        if isinstance(self.strength, str):
            return backoff.best_strengths(chain, self.alpha)
        return (float(self.strength),) * (len(chain) - 1)

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        codes = p.known(x)
        return _scores(p, codes, lambda rows: _complete_scores(p, codes[rows]), *_terms(p, codes))

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        """log θ of each column given its parent, (n, k, d). With missing cells: what the log likelihood gains as
        columns are added one by one in the order of the tree."""
        codes = p.known(x)
        out, whole = np.zeros((x.n, p.k, x.d)), (codes >= 0).all(axis=1)
        for j, parent in enumerate(p.parents):
            at = 0 if parent < 0 else codes[whole, parent]
            out[whole, :, j] = p.tables[j].transpose(1, 2, 0)[at, codes[whole, j]]
        if not whole.all():
            out[~whole] = sequential_parts(lambda shown: self.loglik(p, shown), codes[~whole], p.order, p.k)
        return out

    def quotients(self, t: Pairs, p: Params) -> list[Quotients]:
        out = []
        for j, (parent, table, m) in enumerate(zip(p.parents, p.tables, p.strengths, strict=True)):
            count = _chain(t, j, parent)[-1]
            added = m[-1] + self.alpha * count.shape[-1]
            share = np.exp(table).reshape(count.shape)
            out.append(Quotients.from_table(share, count, added, () if parent < 0 else (parent,)))
        return out

    def cell_factors(self, t: Pairs, p: Params, x: Codes) -> Factors:
        codes = p.known(x)
        entries = np.array(codes, dtype=np.int64)
        for j, parent in enumerate(p.parents):
            if parent >= 0:
                both = (codes[:, j] >= 0) & (codes[:, parent] >= 0)
                entries[:, j] = np.where(both, codes[:, parent] * p.levels[j] + codes[:, j], -1)
        return Factors.from_quotients(self.quotients(t, p), entries, logs=self.parts(p, x))

    def leave_one_out(self, t: Pairs, x: Codes, y, w, p: Params | None = None, lone=None) -> np.ndarray:
        """The tree and the strengths stay; the row is taken out of the counts, also of those that other classes back
        off to. A `lone` (n, d) level, which no other row has, is removed with its row."""
        p = self.estimate(t) if p is None else p
        codes, some = p.known(x), np.zeros(x.n, dtype=bool) if lone is None else lone.any(axis=1)
        out, at = np.empty((x.n, p.k)), np.flatnonzero(some)
        if len(at):
            own = [(() if parent < 0 else (parent,), _chain(t, j, parent)) for j, parent in enumerate(p.parents)]
            columns = [Column(*one, m) for one, m in zip(own, p.strengths, strict=True)]
            left = Left(columns, lambda sizes: self.alpha)
            out[at] = left.scores(codes[at], y[at], None if w is None else w[at], lone[at])
        at = np.flatnonzero(~some)
        out[at] = self._without_lone(t, p, codes[at], y[at], None if w is None else w[at])
        return out

    def loglik_without(self, t: Pairs, p: Params, out: LeftOut, x: Codes) -> np.ndarray:
        """NaN for rows x with missing cells."""
        rows, found = p.known(out.x), np.zeros((x.n, out.groups, p.k))
        for j, parent in enumerate(p.parents):
            chain, given = _chain(t, j, parent), [parent] if parent >= 0 else []
            for own, cells in zip(found, p.known(x), strict=True):
                if (cells < 0).any():
                    own[:] = np.nan
                    continue
                at, conditions = [int(cells[i]) for i in given], [rows[:, i] for i in given]
                own += backoff.log_shares_without(
                    chain, self.alpha, p.strengths[j], int(cells[j]), at, rows[:, j], conditions, out
                )
        return found

    def _without_lone(self, t: Pairs, p: Params, codes: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Leave-one-out scores of rows without lone levels."""
        left = _LeaveOneOut(self.alpha, t, p, codes, y, w)

        def whole(rows: np.ndarray) -> np.ndarray:
            return sum((left.own(j, rows) for j in range(codes.shape[1])), np.zeros((len(rows), p.k)))

        return _scores(p, codes, whole, left.own, left.over)

    def evidence(self, t: Pairs) -> np.ndarray:
        """log marginal likelihood (k,) of each class's rows, the tree being given: each column's shares, at each level
        of its parent, drawn from a Dirichlet(alpha)."""
        parents = self.estimate(t).parents if self.parents is None else self.parents
        tables = [_chain(t, j, parent)[-1] for j, parent in enumerate(parents)]
        return sum((marginal(table, self.alpha) for table in tables), np.zeros(t.k))

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return free_entries(p.tables)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.zeros((len(y), len(p.parents)), dtype=np.int64)
        for j in p.order:
            parent = p.parents[j]
            below = np.cumsum(np.exp(p.tables[j]), axis=2)[y, 0 if parent < 0 else out[:, parent]]
            if below.shape[1]:
                u = rng.random((len(y), 1)) * below[:, -1:]
                out[:, j] = np.minimum((u >= below).sum(axis=1), below.shape[1] - 1)
            else:
                out[:, j] = -1
        return out


def _chain(t: Pairs, j: int, parent: int) -> list[np.ndarray]:
    """Counts of column j's levels: of all rows, by class, and by class and the parent's level."""
    alone = np.maximum(t.table[:, t.offset[j] : t.offset[j + 1]], 0.0)
    given = [np.maximum(t.pair(parent, j), 0.0)] if parent >= 0 else []
    return [alone.sum(axis=0), alone, *given]


def _topological(parents: tuple[int, ...]) -> tuple[int, ...]:
    order: list[int] = []
    while len(order) < len(parents):
        order += [j for j, p in enumerate(parents) if j not in order and (p < 0 or p in order)]
    return tuple(order)


def _complete_scores(p: Params, codes: np.ndarray) -> np.ndarray:
    """Scores of rows without missing cells, looked up by the codes of parent and child together."""
    both = np.array(codes, order="F")
    for j, parent in enumerate(p.parents):
        if parent >= 0:
            both[:, j] += codes[:, parent] * codes.dtype.type(p.levels[j])
    start, packed = p.packed
    return ops.lookup(Codes(both), start, packed, np.zeros(p.k))


def _terms(p: Params, codes: np.ndarray) -> tuple[Own, Over]:
    def own(j: int, rows: np.ndarray) -> np.ndarray:
        parent = p.parents[j]
        return p.tables[j].transpose(1, 2, 0)[0 if parent < 0 else codes[rows, parent], codes[rows, j]]

    def over(j: int, rows: np.ndarray) -> np.ndarray:
        return p.tables[j].transpose(2, 0, 1)[codes[rows, j]]

    return own, over


def _scores(
    p: Params, codes: np.ndarray, whole: Callable[[np.ndarray], np.ndarray], own: Own, over: Over
) -> np.ndarray:
    """log p(x | c), (n, k): of complete rows by `whole`, of rows with missing cells by messages from leaves to
    roots."""
    gaps = (codes < 0).any(axis=1)
    if not gaps.any():
        return whole(np.arange(len(codes)))
    out = np.zeros((len(codes), p.k))
    rows = np.flatnonzero(~gaps)
    out[rows] = whole(rows)
    rows = np.flatnonzero(gaps)
    step = max(1, BATCH // (p.k * max(int(p.levels.max(initial=1)), 1)))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        out[part] = _messages(p, codes, part, own, over)
    return out


def _messages(p: Params, codes: np.ndarray, rows: np.ndarray, own: Own, over: Over) -> np.ndarray:
    """Message passing: a missing cell with children is summed over its levels; the subtree below a known cell is a
    factor."""
    out, missing = np.zeros((len(rows), p.k)), codes[rows] < 0
    under: dict[int, np.ndarray] = {}  # log probability of the subtree below each level of a column, (rows, k, levels)
    for j in reversed(p.order):
        parent = p.parents[j]
        up = missing[:, parent] if parent >= 0 else np.zeros(len(rows), dtype=bool)
        if up.any() and parent not in under:
            under[parent] = np.zeros((len(rows), p.k, int(p.levels[parent])))
        here = np.flatnonzero(~missing[:, j] & ~up)
        out[here] += own(j, rows[here])
        here = np.flatnonzero(~missing[:, j] & up)
        if len(here):
            under[parent][here] += over(j, rows[here])
        if j not in under:
            continue
        below = under.pop(j)
        for sure in (True, False):
            here = np.flatnonzero(missing[:, j] & (up != sure))
            if len(here) == 0:
                continue
            top = below[here].max(axis=2, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            share, each = np.exp(p.tables[j]), np.exp(below[here] - top)
            with np.errstate(divide="ignore"):
                if sure:
                    level = np.zeros(len(here), dtype=np.int64) if parent < 0 else codes[rows[here], parent]
                    total = np.einsum("rkl,rkl->rk", each, share.transpose(1, 0, 2)[level])
                    out[here] += np.log(total) + top[:, :, 0]
                else:
                    under[parent][here] += np.log(np.einsum("rkl,kpl->rkp", each, share)) + top
    return out


@dataclass(frozen=True)
class _LeaveOneOut:
    """Terms of the score of each row, with the row taken out of the counts of the columns that it has."""

    alpha: float
    t: Pairs
    p: Params
    codes: np.ndarray
    y: np.ndarray
    w: np.ndarray | None

    def _share(self, j: int, rows: np.ndarray, tables: list[np.ndarray], given: list[np.ndarray]) -> np.ndarray:
        m, w = self.p.strengths[j][: len(tables) - 1], None if self.w is None else self.w[rows]
        return backoff.left_out(tables, self.alpha, m, self.codes[rows, j], given, self.y[rows], w)

    def own(self, j: int, rows: np.ndarray) -> np.ndarray:
        parent = self.p.parents[j]
        given = [self.codes[rows, parent]] if parent >= 0 else []
        with np.errstate(divide="ignore"):
            return np.log(self._share(j, rows, _chain(self.t, j, parent), given))

    def over(self, j: int, rows: np.ndarray) -> np.ndarray:
        tables, m = _chain(self.t, j, self.p.parents[j]), self.p.strengths[j][1]
        count = tables[2].transpose(2, 0, 1)[self.codes[rows, j]]
        base = np.broadcast_to(self._share(j, rows, tables[:2], [])[:, :, None], count.shape)
        whole = np.broadcast_to(tables[2].sum(axis=2), count.shape) + m + self.alpha * self.t.levels[j]
        with np.errstate(divide="ignore"):
            return np.log(np.divide(count + m * base + self.alpha, whole, out=base.copy(), where=whole > 0))


FAMILY = Tree
