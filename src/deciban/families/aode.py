"""Averaged one-dependence (A1DE, Webb, Boughton and Wang 2005): every column in turn is the parent of all others,

    p(x | c) = mean over i of  θ_i[x_i | c] · Π_(j ≠ i) θ_j[x_j | c, x_i]

over the columns i whose level x_i occurs in at least `least` rows; without any such column, naive Bayes. A missing cell
is neither a parent nor a factor.

Tally: `Pairs`; a pair counts where both cells are present. Estimate: θ(x | c, p) backs off to θ(x | c), that to θ(x),
that to the uniform distribution (see `networks.tables`); with strength 0 it is (n + alpha) / (sum + alpha · levels).

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> f, x = Aode(strength=0.0), Codes(np.array([[0, 0], [1, 1], [1, 1], [0, 1]]))
>>> p = f.estimate(f.tally(x, np.zeros(4, dtype=np.int32), None, 1))
>>> np.exp(f.loglik(p, Codes(np.array([[1, 1], [-1, 1]])))).round(4).tolist()  # (3/6 · 3/4 + 4/6 · 3/5) / 2; 4/6
[[0.3875], [0.6667]]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes
from deciban.estimation.discretise import sequential_parts
from deciban.estimation.family import Family
from deciban.estimation.left_out import LeftOut
from deciban.networks import dependence
from deciban.networks import tables as backoff
from deciban.networks.dependence import OneDependenceTables
from deciban.tallies import Pairs
from deciban.tallies.crosstab import pair_cells


@dataclass(frozen=True)
class Params:
    levels: np.ndarray  # (d,)
    strengths: np.ndarray  # (d + 1, d): of each column given each other one, and without any
    parents: OneDependenceTables  # log θ in the layout of the kernel


@dataclass(frozen=True)
class Aode(Family):
    alpha: float = 1.0
    strength: float | str | np.ndarray = "auto"  # of the back-off: one number, "auto", or chosen numbers (d + 1, d)
    least: float = 1.0  # rows that must have a level for it to be a parent
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False  # a joint density of all columns
    structured = True  # the evidence of a column depends on other columns
    averages = True  # rows sampled from the average do not recover the averaged models

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """How many numbers a tally or the parameters hold."""
        return k * pair_cells(levels) + OneDependenceTables.width(k) * int(levels.sum()) * (int(levels.sum()) + 1)

    def tally(self, x: Codes, y, w, k: int) -> Pairs:
        return ops.pairs(x, y, w, k)

    def estimate(self, t: Pairs) -> Params:
        counts = [np.maximum(table, 0.0) for table in t.columns()]
        m = self._strengths(t, counts)
        alone = [
            backoff.shares([table.sum(axis=0), table], self.alpha, (m[-1, j],))[-1] for j, table in enumerate(counts)
        ]
        size, offset = int(t.offset[-1]), t.offset
        shares = np.ones((t.k, size, size))
        for j, share in enumerate(alone):
            own = np.arange(offset[j], offset[j + 1])
            shares[:, own, own] = share
            for i in range(t.d):
                if i != j:
                    pair = np.maximum(t.pair(i, j), 0.0)
                    given = backoff.backed(pair, share, m[i, j], self.alpha)
                    shares[:, offset[i] : offset[i + 1], offset[j] : offset[j + 1]] = given
        seen = np.concatenate([[], *(table.sum(axis=0) for table in counts)]) >= max(self.least, backoff.TINY) * (
            1 - 1e-9
        )
        with np.errstate(divide="ignore"):
            return Params(t.levels, m, OneDependenceTables.of(np.log(shares, out=shares), offset, seen))

    def fixed(self, p: Params) -> Aode:
        """The family with these strengths fixed, independent of the counts."""
        return replace(self, strength=p.strengths)

    def _strengths(self, t: Pairs, counts: list[np.ndarray]) -> np.ndarray:
        if isinstance(self.strength, np.ndarray):
            return self.strength
        if not isinstance(self.strength, str):
            return np.full((t.d + 1, t.d), float(self.strength))
        alone = [backoff.best_strengths([table.sum(axis=0), table], self.alpha)[0] for table in counts]
        return np.vstack([_pair_strengths(t, counts, alone, self.alpha), np.reshape(alone, (1, t.d))])

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        return dependence.scores(p.parents, x)

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        """Evidence of each column, (n, k, d): what the log likelihood gains as columns are added one by one, averaged
        over the orders first to last and last to first. (An average of products is not a sum over columns.)"""
        codes = np.asarray(x.values)
        codes = np.where((codes >= 0) & (codes < p.levels), codes, -1)
        ways = [sequential_parts(lambda shown: self.loglik(p, shown), codes, way, p.parents.k) for way in _orders(x.d)]
        return (ways[0] + ways[1]) / 2

    def leave_one_out(self, t: Pairs, x: Codes, y, w, p: Params | None = None, lone=None) -> np.ndarray:
        """The strengths stay; the row is taken out of the counts, also of those that other classes back off to. A
        `lone` (n, d) level, which no other row has, is treated as a missing cell."""
        p = self.estimate(t) if p is None else p
        counts, m = [np.maximum(table, 0.0) for table in t.columns()], p.strengths
        codes = np.asarray(x.values)
        here = (codes >= 0) & (codes < t.levels) & ~(np.zeros(codes.shape, dtype=bool) if lone is None else lone)
        each, alone = np.zeros((x.n, x.d, t.k)), np.zeros((x.n, t.k))
        used = np.zeros((x.n, x.d), dtype=bool)
        weight = np.ones(x.n) if w is None else w

        def logs(tables: list, steps: tuple, j: int, given: list, rows: np.ndarray) -> np.ndarray:
            own, chosen = None if w is None else w[rows], [m[i, j] for i in steps]
            with np.errstate(divide="ignore"):
                return np.log(backoff.left_out(tables, self.alpha, chosen, codes[rows, j], given, y[rows], own))

        for j, table in enumerate(counts):
            chain, rows = [table.sum(axis=0), table], np.flatnonzero(here[:, j])
            term = logs(chain, (-1,), j, [], rows)
            each[rows, j] += term
            alone[rows] += term
            left = chain[0][codes[rows, j]] - weight[rows]
            used[rows, j] = left >= max(self.least, backoff.TINY) * (1 - 1e-9)
            for i in range(x.d):
                if i != j:
                    both = rows[here[rows, i]]
                    pair = [*chain, np.maximum(t.pair(i, j), 0.0)]
                    each[both, i] += logs(pair, (-1, i), j, [codes[both, i]], both)
        return dependence.averaged(each, used, alone)

    def loglik_without(self, t: Pairs, p: Params, out: LeftOut, x: Codes) -> np.ndarray:
        """The strengths stay. Missing cells of x are no evidence."""
        rows = np.asarray(out.x.values)
        rows = np.where((rows >= 0) & (rows < t.levels), rows, -1)
        return np.stack([self._left_of(t, p, out, rows, cells) for cells in np.asarray(x.values)])

    def _left_of(self, t: Pairs, p: Params, out: LeftOut, rows: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """The same of one row of cells (d,), (groups, k)."""
        counts, m = [np.maximum(table, 0.0) for table in t.columns()], p.strengths
        here = np.flatnonzero((cells >= 0) & (cells < t.levels))
        each, alone = np.zeros((out.groups, t.d, t.k)), np.zeros((out.groups, t.k))
        used = np.zeros((out.groups, t.d), dtype=bool)
        for j in here.tolist():
            chain, cell = [counts[j].sum(axis=0), counts[j]], int(cells[j])
            term = backoff.log_shares_without(chain, self.alpha, [m[-1, j]], cell, [], rows[:, j], [], out)
            each[:, j] += term
            alone += term
            left = chain[0][cell] - out.by_group(out.sums(rows[:, j] == cell))
            used[:, j] = left >= max(self.least, backoff.TINY) * (1 - 1e-9)
            for i in here[here != j].tolist():
                pair, both = [*chain, np.maximum(t.pair(i, j), 0.0)], [m[-1, j], m[i, j]]
                each[:, i] += backoff.log_shares_without(
                    pair, self.alpha, both, cell, [int(cells[i])], rows[:, j], [rows[:, i]], out
                )
        return dependence.averaged(each, used, alone)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A parent is drawn for each row, then its level, then the others."""
        offset, table, k = p.parents.offset, p.parents.table, p.parents.k
        out, parent = np.full((len(y), len(p.levels)), -1), rng.integers(0, len(p.levels), len(y))
        for i in range(len(p.levels)):
            rows = np.flatnonzero(parent == i)
            own = slice(offset[i], offset[i + 1])
            out[rows, i] = _draw_levels(np.exp(p.parents.alone[own, :k].T)[y[rows]], rng)
            for j in range(len(p.levels)):
                if j != i and p.levels[i]:
                    given = table[own, offset[j] : offset[j + 1], :k]
                    out[rows, j] = _draw_levels(np.exp(given[out[rows, i], :, y[rows]]), rng)
        return out


def _orders(d: int) -> tuple[range, range]:
    return range(d), range(d - 1, -1, -1)


def _draw_levels(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a level for each row from its probabilities (n, levels); −1 where there are no levels."""
    if shares.shape[1] == 0:
        return np.full(len(shares), -1)
    below = np.cumsum(shares, axis=1)
    return np.minimum((rng.random((len(shares), 1)) * below[:, -1:] >= below).sum(axis=1), shares.shape[1] - 1)


def _pair_strengths(t: Pairs, counts: list[np.ndarray], alone: list[float], alpha: float) -> np.ndarray:
    """The strength for each parent and child (d, d) that maximises the likelihood of held-out rows."""
    left = np.hstack(
        [np.zeros((t.k, 0)), *(_leave_one_out_shares(c, m, alpha) for c, m in zip(counts, alone, strict=True))]
    )
    pair, a, b = t.layout.cells(t.levels)
    owner, cell = np.nonzero(t.pairs > 0)
    n, sides = t.pairs[owner, cell], (t.layout.first, t.layout.second)
    out, many = np.ones((t.d, t.d)), len(t.layout.first)
    for parent, level, child, mine in ((0, a, 1, b), (1, b, 0, a)):
        start = np.cumsum(t.levels[sides[parent]]) - t.levels[sides[parent]]
        key = (start[pair] + level)[cell] * t.k + owner
        rest = np.bincount(key, n)[key] if len(key) else n
        own = sides[child][pair][cell]
        base, levels = left[owner, t.offset[own] + mine[cell]], t.levels[own]
        terms = (backoff.held_out(n, rest, base, levels, m, alpha) for m in backoff.GRID)
        best = np.argmax([np.bincount(pair[cell], term, minlength=many) for term in terms], axis=0)
        out[sides[parent], sides[child]] = backoff.GRID[best]
    return out


def _leave_one_out_shares(table: np.ndarray, m: float, alpha: float) -> np.ndarray:
    """Probability of each level in each class (k, levels), estimated without one row that has it."""
    pooled = table.sum(axis=0)
    base = backoff.less_one(pooled[None], backoff.even(pooled), 0.0, alpha)[0]
    return backoff.less_one(table, base, m, alpha)


FAMILY = Aode
