"""A family of levels over columns of any kind: a number becomes the level of the interval that it falls in.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.data.blocks import Codes, Mixed, Reals
>>> both = Discretised(Categorical(alpha=1.0), ((1,), (0,)), (ColumnCuts((2.5,), 0.0, 5.0), None), (2, 3))
>>> x = Mixed((Codes(np.array([[2], [0]])), Reals(np.array([[1.0], [3.0]]))), 2)
>>> both.codes(x).values.tolist()
[[0, 2], [1, 0]]
>>> p = both.estimate(both.tally(x, np.array([0, 1], dtype=np.int32), None, 2))
>>> np.exp(both.loglik(p, x)).round(3).tolist()  # ⅔ · ½, ⅓ · ¼
[[0.333, 0.083], [0.083, 0.333]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deciban.data.blocks import Codes, Mixed
from deciban.estimation import discretise, missingness, ranges
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors
from deciban.estimation.left_out import LeftOut, not_counted
from deciban.tallies import Crosstab
from deciban.tallies.distinct_rows import distinct_rows

SURE = 2.0  # standard errors by which levels for missing cells must improve held-out rows
USUAL = 64  # patterns of missing cells that are compared, at most
LOST = 700.0  # nats: loss of a held-out row with probability 0


@dataclass(frozen=True)
class ColumnCuts:
    """Cuts of a column of numbers, and the range of its cells; NaN where it has none."""

    at: tuple[float, ...]
    low: float
    high: float
    learned: bool = False  # whether the cuts come from the rows

    @property
    def edges(self) -> np.ndarray:
        """Ends of the intervals, (len(at) + 2,); the outer ones are moved outwards where cuts are outside the range."""
        if not self.at:
            return np.array([self.low, self.high], dtype=np.float64)
        inner = np.array(self.at, dtype=np.float64)
        room = float(np.diff(inner).mean()) if len(inner) > 1 else max(abs(self.at[0]), 1.0)
        low = self.low if self.low < inner[0] else inner[0] - room
        high = self.high if self.high > inner[-1] else inner[-1] + room
        return np.array([low, *inner, high], dtype=np.float64)

    def drawn(self, interval: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A uniform random number from each interval (n,); NaN for −1."""
        edges = self.edges
        at = np.maximum(interval, 0)
        out = rng.uniform(edges[at], edges[at + 1])
        return np.where(interval < 0, np.nan, np.clip(out, edges[at], np.nextafter(edges[at + 1], -np.inf)))


@dataclass(frozen=True)
class Learned:
    """Parameters of a family of levels, and which columns have a level for missing cells, after the last one."""

    params: Any  # of the family
    levels: np.ndarray  # (d,), without levels for missing cells
    gaps: np.ndarray  # (d,), whether a missing cell is a level
    counts: Any = field(repr=False)  # the tally with those levels

    def codes(self, x: Codes) -> Codes:
        """Rows as codes of the family: an unseen level is missing (−1), a missing cell may be a level."""
        if not self.gaps.any():
            return x
        values = np.asarray(x.values)
        known = np.where(values < self.levels, values, -1)
        return Codes(np.asfortranarray(np.where((values < 0) & self.gaps, self.levels, known), dtype=np.int32))


@dataclass(frozen=True)
class Discretised(Family):
    family: Any  # of a block of codes
    columns: tuple[tuple[int, ...], ...]  # column numbers, in the table, of each block's columns
    cuts: tuple[ColumnCuts | None, ...]  # of each column; None: it has levels
    levels: tuple[int, ...]  # number of levels of each column
    missing: str | tuple[bool, ...] = "ignore"  # which columns' missing cells are a level; "auto": see `estimate`
    block, support = "mixed", "real"

    @property
    def log_prior(self) -> Any:
        return self.family.log_prior

    def codes(self, x: Mixed) -> Codes:
        """Rows as levels (n, d), in column-major order."""
        out = np.empty((len(self.cuts), x.n), dtype=np.int32)
        for block, columns in zip(x.blocks, self.columns, strict=True):
            for values, j in zip(np.asarray(block.values).T, columns, strict=True):
                cut = self.cuts[j]
                if cut is None:
                    out[j] = values
                elif x.n == 1:
                    out[j] = discretise.interval(float(values[0]), cut.at)
                else:
                    out[j] = discretise.intervals(values, np.array(cut.at))
        return Codes(out.T)

    def tally_size(self, k: int, d: int) -> int:
        """How many numbers a tally holds."""
        return self.family.level_tally_size(np.array(self.levels), k)

    def tally(self, x: Mixed, y, w, k: int) -> Any:
        tally = self.family.tally(self.codes(x), y, w, k)
        return tally.relevel(np.maximum(tally.levels, self.levels))

    def estimate(self, t: Any) -> Learned:
        if self.missing != "auto":
            return self._learned(t, self._missing_levels(t))
        plain, informative = self._learned(t, np.zeros(len(t.levels), dtype=bool)), missingness.informative(t)
        if not informative.any():
            return plain
        other, at = self._learned(t, informative), _usual_rows(t)
        gain, w = self._held_out(other, t, at) - self._held_out(plain, t, at), t.w[at]
        return other if w @ gain > SURE * np.sqrt(w @ gain**2) else plain

    def _learned(self, t: Any, gaps: np.ndarray) -> Learned:
        counts = t.with_missing(gaps) if gaps.any() else t
        return Learned(self.family.estimate(counts), np.asarray(t.levels), gaps, counts)

    def _missing_levels(self, t: Any) -> np.ndarray:
        """(d,), whether missing cells are a level of each column: only where some row lacks the cell."""
        if self.missing == "ignore":
            return np.zeros(len(t.levels), dtype=bool)
        asked = (True,) * len(t.levels) if isinstance(self.missing, str) else self.missing
        return np.array([ask and bool(t.missing(j).any()) for j, ask in enumerate(asked)], dtype=bool)

    def _held_out(self, p: Learned, t: Any, at: np.ndarray) -> np.ndarray:
        """Leave-one-out log P(own class) of the rows `at` of a tally (`DistinctRows`)."""
        y, w = t.y[at], np.minimum(t.w[at], 1.0)
        codes = p.codes(Codes(t.rows[at]))
        nominal = np.array([cut is None for cut in self.cuts])
        with np.errstate(divide="ignore"):
            logs = self.family.leave_one_out(p.counts, codes, y, w, p.params, self._lone(p, codes, w, nominal))
            logs = logs + np.log(np.maximum(t.n - w[:, None] * (y[:, None] == np.arange(t.k)), 0.0))
            own = logs[np.arange(len(logs)), y] - np.logaddexp.reduce(logs, axis=1)
        return np.maximum(np.nan_to_num(own, nan=-LOST), -LOST)

    def fixed(self, p: Learned) -> Discretised:
        """The same with the choices of `p` fixed, independent of the counts."""
        return replace(self, family=self.family.fixed(p.params), missing=tuple(p.gaps.tolist()))

    def held(self, t: Any, p: Learned) -> Discretised:
        return replace(self, family=self.family.held(p.counts, p.params), missing=tuple(p.gaps.tolist()))

    def loglik_without(self, t: Any, p: Learned, out: LeftOut, x: Mixed) -> np.ndarray | None:
        """NaN for a group that has all rows of a level of a column without cuts, or of missing cells."""
        rows, nominal = p.codes(self.codes(out.x)), np.array([cut is None for cut in self.cuts])
        found = self.family.loglik_without(p.counts, p.params, out.of_block(rows), p.codes(self.codes(x)))
        if found is not None:
            t, codes = p.counts.crosstab(), np.asarray(rows.values)
            whole = t.table.sum(axis=0)
            for j in range(codes.shape[1]):
                code = codes[:, j]
                counted = (code >= 0) & (code < t.levels[j]) & (nominal[j] | (code >= p.levels[j]))
                lone = out.emptied(np.where(counted, t.offset[j] + code, -1), whole)
                found[:, out.row_group[lone]] = np.nan
            there = (codes >= 0) & (codes < t.levels)
            lost = not_counted(t.table, out, np.where(there, t.offset[:-1] + codes, -1))
            found[:, out.row_group[lost]] = np.nan
        return found

    def loglik(self, p: Learned, x: Mixed) -> np.ndarray:
        return self.scores(p, self.codes(x))

    def scores(self, p: Learned, x: Codes) -> np.ndarray:
        """`loglik` of rows that are levels already."""
        return self.family.loglik(p.params, p.codes(x))

    def parts(self, p: Learned, x: Mixed) -> np.ndarray:
        return self.family.parts(p.params, p.codes(self.codes(x)))

    @property
    def factorises(self) -> bool:
        return self.family.factorises

    def cell_factors(self, t: Any, p: Learned, x: Mixed) -> Factors:
        return self.family.cell_factors(p.counts, p.params, p.codes(self.codes(x)))

    def quotients(self, t: Any, p: Learned) -> list[Any]:
        return self.family.quotients(p.counts, p.params)

    def leave_one_out(self, t: Any, x: Mixed, y, w, p: Learned | None = None) -> np.ndarray:
        """Leave-one-out of the family; the rows are among those that `p` was learned from. A level of a column without
        cuts, or of missing cells, is removed with its row if no other row has it."""
        p = self.estimate(t) if p is None else p
        nominal, codes = np.array([cut is None for cut in self.cuts]), p.codes(self.codes(x))
        out = self.family.leave_one_out(p.counts, codes, y, w, p.params, self._lone(p, codes, w, nominal))
        t, levels = p.counts.crosstab(), np.asarray(codes.values)
        known = (levels >= 0) & (levels < t.levels)
        own = t.table.ravel().take((y.astype(np.int64) * t.table.shape[1])[:, None] + known * (t.offset[:-1] + levels))
        short = (own * (1 + 1e-9) < (1.0 if w is None else w[:, None])) & known
        if short.any():
            out[short.any(axis=1)] = np.nan  # not in the counts
        return out

    def _lone(self, p: Learned, x: Codes, w, nominal: np.ndarray) -> np.ndarray:
        """Which cells (n, d) have a level that no other row has."""
        t, codes = p.counts.crosstab(), np.asarray(x.values)
        weight = np.ones((1, 1)) if w is None else w[:, None]
        pooled = np.append(t.table.sum(axis=0), np.inf)
        counted = (codes >= 0) & (codes < t.levels) & (nominal | (codes >= p.levels))
        return pooled[np.where(counted, t.offset[:-1] + codes, -1)] <= weight * (1 + 1e-9)

    def evidence(self, t: Any, p: Learned | None = None) -> np.ndarray | None:
        """log marginal likelihood (k,) of each class's rows given the structure; `p` are the parameters of t."""
        p = self.estimate(t) if p is None else p
        return self.family.fixed(p.params).evidence(p.counts)

    def grid(self, p: Learned, k: int) -> list[np.ndarray]:
        """Codes of levels; numbers within the range of a column."""
        return [
            np.arange(levels) if cut is None else np.linspace(cut.edges[0], cut.edges[-1], ranges.STEPS)
            for cut, levels in zip(self.cuts, self.levels, strict=True)
        ]

    def n_parameters(self, p: Learned, k: int, d: int) -> int | None:
        return self.family.n_parameters(p.params, k, d)

    def sample(self, p: Learned, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Levels (n, d); −1 is missing."""
        out = self.family.sample(p.params, y, rng)
        return np.where(out < p.levels, out, -1)


def _usual_rows(t: Any) -> np.ndarray:
    """Indices of the rows of a tally (`DistinctRows`) that have one of the `USUAL` most frequent patterns of missing
    cells. The result does not depend on the order of rows or levels."""
    ways, which = distinct_rows(t.rows < 0)
    weight = np.bincount(which, t.w, minlength=len(ways))
    order = np.lexsort([*ways.T, -np.round(weight, 9)])[:USUAL]
    return np.flatnonzero(np.isin(which, order))


def used_levels(t: Crosstab, nominal: Sequence[bool]) -> list[np.ndarray] | None:
    """New codes of each column's levels without those levels of nominal columns that no row has; −1: removed.

    None if no level is removed.

    >>> t = Crosstab(np.array([2.0]), np.array([[0.0, 2.0, 0.0, 2.0]]), np.array([2, 2]))
    >>> [at.tolist() for at in used_levels(t, [True, False])]
    [[-1, 0], [0, 1]]
    """
    out = []
    for table, named in zip(t.columns(), nominal, strict=True):
        some = (table != 0).any(axis=0) | (not named)
        out.append(np.where(some, np.cumsum(some) - 1, -1))
    return None if all((at >= 0).all() for at in out) else out
