"""Piecewise-constant densities: log p(x | c) = Σ_j log P(interval of x_j | c) + log q(x_j | interval).

Cuts are placed where they separate the classes (`"mdl"`, Fayyad and Irani 1993), so that a given number of intervals
have equal weight, or between any two distinct values. Inside an interval all classes share a finer histogram q, which
cancels in posteriors: it is the `carrier`. Beyond the outermost data the evidence is that of the end interval, and q
has an exponential tail.

Tally: `GridCounts`, counts on a grid that does not depend on the data, so histograms can be merged and rows removed;
the cuts are part of the estimate. P = (count + alpha) / (n + alpha · intervals); alpha = "auto" is the value of a grid
that maximises the likelihood of held-out rows. `smooth` is how many times each interval gives a quarter of its count to
either neighbour: a density that changes slowly is then learned from fewer rows.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> h, x = Histogram(alpha=1.0), Reals(np.r_[np.arange(20.0), np.arange(40.0, 60.0)][:, None])
>>> p = h.estimate(h.tally(x, np.repeat([0, 1], 20).astype(np.int32), None, 2))
>>> p.cuts[0].round(1).tolist(), np.exp(h.loglik(p, Reals(np.array([[3.0]])))).round(3).tolist()
([29.5], [[0.955, 0.045]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Codes, Reals
from deciban.estimation import discretise
from deciban.estimation.dependence import alphas_of, level_dependence_left_out, level_evidence
from deciban.estimation.dirichlet import best_alpha, log_shares, own_held_out, shares_without
from deciban.estimation.family import Family
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.sensitivity import LevelShares
from deciban.ops import cells as cell_ops
from deciban.ops.packed import Packed
from deciban.tallies import GridCounts
from deciban.tallies.grid import cell_borders

PIECES = 64  # largest number of pieces of the finer histogram in one interval


@dataclass(frozen=True)
class Shape:
    """One column's density within its intervals, the same for all classes."""

    edges: np.ndarray  # (p + 1,), of the pieces
    log_density: np.ndarray  # (p,), of a piece given its interval
    log_tails: tuple[float, float]  # log probability beyond the first and the last edge, given the end interval

    @classmethod
    def of(cls, keys: np.ndarray, counts: np.ndarray, start: np.ndarray) -> Shape:
        """From the cells, their weights (m,), and the indices 0, … of the first cell of each interval."""
        if len(keys) == 0:
            return cls(np.array([0.0, 1.0]), np.log([0.5]), (np.log(0.25), np.log(0.25)))
        walls = _borders(*cell_borders(keys))
        interval = np.repeat(np.arange(len(start)), np.diff(start, append=len(keys)))  # of each cell
        total = np.maximum(np.add.reduceat(counts, start), 1e-300)
        before = np.cumsum(counts) - counts
        share = (before - before[start][interval]) / total[interval]  # of the interval's weight, below each cell
        run = np.floor(share * np.minimum(PIECES, np.sqrt(total).astype(np.int64) + 1)[interval])
        first = np.flatnonzero(np.r_[True, (np.diff(interval) != 0) | (np.diff(run) != 0)])  # cells that begin a piece
        mass, owner = np.add.reduceat(counts, first), interval[first]
        ends = np.zeros(len(start))  # how many tails an interval has
        np.add.at(ends, [0, len(start) - 1], 1.0)
        tail = np.where(ends > 0, 1.0 / (total + 2.0), 0.0)
        log_width = np.log(np.diff(walls[np.r_[first, len(keys)]])) - np.log1p(-tail)[owner]
        spare = 0.5 * np.bincount(owner)
        log_density = np.log(mass + 0.5) - np.log(total + spare)[owner] - log_width
        low, high = (float(np.log(tail[b] / ends[b])) for b in (0, -1))
        return cls(walls[np.r_[first, len(keys)]], log_density, (low, high))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """log q of numbers (n,); 0 for NaN."""
        low, high = self.edges[0], self.edges[-1]
        piece = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.log_density) - 1)
        beyond = np.maximum(np.maximum(low - x, x - high), 0.0) / (high - low)
        tail = np.where(x < low, *self.log_tails) - np.log(high - low) - beyond
        return np.where(np.isnan(x), 0.0, np.where(beyond > 0, tail, self.log_density[piece]))


def _borders(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Borders (m + 1,) halfway between neighbouring cells; an outer border is as far out as the nearest inner one."""
    between = high[:-1] / 2 + low[1:] / 2
    if len(between) == 0:
        size = max(abs(low[0]), abs(high[0]))
        room = size / 2 if size > 1e-300 else 0.5
        return np.array([low[0] - room, high[0] + room])
    return np.concatenate([[low[0] - (between[0] - low[0])], between, [high[-1] + (high[-1] - between[-1])]])


@dataclass(frozen=True)
class Params:
    cuts: tuple[np.ndarray, ...]  # of each column
    counts: np.ndarray  # (k, sum of intervals), smoothed
    kept: np.ndarray  # (sum of intervals,): share of its own count that an interval keeps
    offset: np.ndarray  # (d + 1,)
    alpha: np.ndarray  # (d,)
    packed: Packed  # log P of an interval, (k, sum of intervals)
    cells: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]  # keys, weights and first cells for `shapes`

    @property
    def table(self) -> np.ndarray:
        return self.packed.table

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        return tuple(Shape.of(*cells) for cells in self.cells)

    def part(self, columns) -> Params:
        """Parameters of some columns."""
        at = [np.arange(self.offset[j], self.offset[j + 1]) for j in columns]
        cut = np.concatenate(at) if at else np.zeros(0, dtype=np.int64)
        offset = np.concatenate([[0], np.cumsum([len(a) for a in at])]).astype(np.int64)
        table = Packed.of(np.ascontiguousarray(self.table[:, cut]))
        cuts, cells = tuple(self.cuts[j] for j in columns), tuple(self.cells[j] for j in columns)
        return Params(cuts, self.counts[:, cut], self.kept[cut], offset, self.alpha[columns], table, cells)

    @cached_property
    def _cut_lists(self) -> list[list[float]]:
        return [at.tolist() for at in self.cuts]

    def codes(self, x: Reals) -> np.ndarray:
        """The interval of every cell, (n, d); −1 for a missing one."""
        values = np.asarray(x.values)
        if len(values) == 1:  # calls take longer than arithmetic
            (row,) = values.tolist()
            return np.array([list(map(discretise.interval, row, self._cut_lists))], dtype=np.int32)
        out = np.empty(values.shape, dtype=np.int32, order="F")
        for j, at in enumerate(self.cuts):
            out[:, j] = discretise.intervals(values[:, j], at)
        return out


@dataclass(frozen=True)
class Intervals:
    """Intervals of several tables of counts of the same values, each table like a column."""

    counts: np.ndarray  # (k, sum of intervals), smoothed
    offset: np.ndarray  # (tables + 1,)
    at: np.ndarray  # (tables, m): index of the interval of each value


@dataclass(frozen=True)
class Histogram(Family):
    alpha: float | str | np.ndarray = "auto"
    cuts: str | int | tuple[int, ...] = "mdl"  # "mdl", "values", a number of intervals, or indices of values
    smooth: int = 0  # how many times intervals share their counts with their neighbours
    borders: tuple[np.ndarray, ...] | None = None  # of each column's intervals; None: `cuts` of the estimate
    block, support = "dense", "real"
    chooses = True  # the estimate is costly: callers pass it to `leave_one_out`
    shared_tally = "cells"

    def sound(self) -> bool:
        return super().sound() and (not isinstance(self.cuts, str) or self.cuts in ("mdl", "values"))

    def tally(self, x: Reals, y, w, k: int) -> GridCounts:
        return cell_ops.cells(x, y, w, k)

    def held(self, t: GridCounts, p: Params) -> Histogram:
        return replace(self, alpha=p.alpha, borders=p.cuts)

    def estimate(self, t: GridCounts) -> Params:
        if self.borders is not None:
            return self._estimate_between(self.borders, t)
        table, values = np.maximum(t.table, 0.0), np.diff(t.offset)
        first = np.zeros(table.shape[1], dtype=bool)  # cells that begin an interval
        for m in np.unique(values[values > 0]):  # columns with as many cells at once
            start = t.offset[:-1][values == m]
            if len(start) == 1:  # a slice: no copy
                first[start[0] : start[0] + m] = self.begins(table[None, :, start[0] : start[0] + m])[0]
            else:
                at = start[:, None] + np.arange(m)
                first[at] = self.begins(table[:, at].transpose(1, 0, 2))
        begin = np.flatnonzero(first)
        column = np.repeat(np.arange(t.d), values)[begin]
        many = np.maximum(np.bincount(column, minlength=t.d), 1)  # a column without cells has one interval
        offset = np.concatenate([[0], np.cumsum(many)]).astype(np.int64)
        whole = np.zeros((t.k, offset[-1]))
        if len(begin):
            whole[:, np.repeat(values > 0, many)] = np.add.reduceat(table, begin, axis=1)
        for _ in range(self.smooth):
            whole = shared_with_neighbours(whole, offset)
        kept = np.concatenate([own_part(n, self.smooth) for n in many.tolist()]) if t.d else np.zeros(0)
        keys = np.concatenate(t.keys) if t.d else np.zeros(0, dtype=np.int64)
        border = cell_borders(keys[begin - 1])[1] / 2 + cell_borders(keys[begin])[0] / 2
        border = np.where(border < 0, np.nextafter(border, np.inf), border)  # a cell contains its end nearer to 0
        ends = np.concatenate([[0], np.cumsum(many * (values > 0))]).tolist()
        start, weight = begin - t.offset[:-1][column], table.sum(axis=0)
        each = list(pairwise(ends))
        cells = zip(t.keys, each, t.offset.tolist()[:-1], strict=True)
        return self.smoothed(
            tuple(border[a + 1 : b] for a, b in each),
            whole,
            kept,
            offset,
            tuple((keys, weight[at : at + len(keys)], start[a:b]) for keys, (a, b), at in cells),
        )

    def _estimate_between(self, borders: tuple[np.ndarray, ...], t: GridCounts) -> Params:
        """Parameters of intervals with known borders."""
        offset = np.concatenate([[0], np.cumsum([len(at) + 1 for at in borders])]).astype(np.int64)
        whole, cells = np.zeros((t.k, offset[-1])), []
        for j, (keys, table, at) in enumerate(zip(t.keys, t.columns(), borders, strict=True)):
            low, high = cell_borders(keys)
            code = np.searchsorted(at, low / 2 + high / 2, side="right")
            for own, counts in zip(whole, np.maximum(table, 0.0), strict=True):
                own[offset[j] : offset[j + 1]] = np.bincount(code, counts, minlength=len(at) + 1)
            cells.append((keys, table.sum(axis=0), np.flatnonzero(np.diff(code, prepend=-1))))
        for _ in range(self.smooth):
            whole = shared_with_neighbours(whole, offset)
        kept = np.concatenate([np.zeros(0), *(own_part(len(at) + 1, self.smooth) for at in borders)])
        return self.smoothed(borders, whole, kept, offset, tuple(cells))

    def smoothed(
        self, borders: tuple, counts: np.ndarray, kept: np.ndarray, offset: np.ndarray, cells: tuple
    ) -> Params:
        """Parameters from known cuts and counts, smoothed by alpha."""
        alpha = self._alpha(counts, offset)
        return Params(borders, counts, kept, offset, alpha, Packed.of(log_shares(counts, offset, alpha)), cells)

    def _alpha(self, counts: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """alpha of each column, (d,)."""
        if isinstance(self.alpha, str):
            return best_alpha(counts, offset, np.inf)
        return np.array(np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), len(offset) - 1))

    def intervals(self, tables: np.ndarray) -> Intervals:
        """Intervals of tables (t, k, m) of the same ordered values, each cut by its own counts."""
        t, k, m = tables.shape
        first = self.begins(tables)
        counts = np.add.reduceat(tables.transpose(1, 0, 2).reshape(k, t * m), np.flatnonzero(first), axis=1)
        offset = np.concatenate([[0], np.cumsum(first.sum(axis=1))])
        for _ in range(self.smooth):
            counts = shared_with_neighbours(counts, offset)
        return Intervals(counts, offset, np.cumsum(first).reshape(t, m) - 1)

    def shares(self, cut: Intervals) -> np.ndarray:
        """log P(interval | class) of each value, (t, m, k)."""
        return log_shares(cut.counts, cut.offset, self._alpha(cut.counts, cut.offset)).T[cut.at]

    def begins(self, tables: np.ndarray) -> np.ndarray:
        """Whether each of m ordered values is the first of an interval, (t, m), from the counts by class (t, k, m) of
        one value or more."""
        if self.cuts == "mdl":
            out = discretise.supervised_of_each(tables)
        elif self.cuts == "values":
            out = np.ones(tables.shape[::2], dtype=bool)
        elif isinstance(self.cuts, tuple):
            out = np.zeros(tables.shape[::2], dtype=bool)
            out[:, list(self.cuts)] = True
        else:
            out = discretise.even_of_each(tables.sum(axis=1), int(self.cuts))
        out[:, 0] = True
        return out

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        return self._loglik(p, p.codes(x))

    @staticmethod
    def _loglik(p: Params, codes: np.ndarray) -> np.ndarray:
        return ops.lookup(Codes(codes), p.offset, p.packed, np.zeros(p.packed.k))

    def parts(self, p: Params, x: Reals) -> np.ndarray:
        codes = p.codes(x)
        out = p.table.T[p.offset[:-1] + np.maximum(codes, 0)]  # (n, d, k)
        out[codes < 0] = 0.0
        return out.transpose(0, 2, 1)

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return self.carrier_parts(p, x).sum(axis=1)

    def carrier_parts(self, p: Params, x: Reals) -> np.ndarray:
        values = np.asarray(x.values, dtype=np.float64)
        return np.stack([shape(values[:, j]) for j, shape in enumerate(p.shapes)], axis=1)

    def sensitivity(self, t: GridCounts, p: Params) -> LevelShares:
        def shared(counts: np.ndarray) -> np.ndarray:
            for _ in range(self.smooth):
                counts = shared_with_neighbours(counts, p.offset)
            return counts

        return LevelShares.from_counts(p.counts, p.offset, p.alpha, p.codes, shared if self.smooth else None)

    def leave_one_out(self, t: GridCounts, x: Reals, y, w, p: Params | None = None) -> np.ndarray:
        """Cuts and alpha stay; the row is taken out of the counts."""
        p = self.estimate(t) if p is None else p
        codes = p.codes(x)
        out = self._loglik(p, codes)
        out[np.arange(x.n), y] = own_held_out(p.counts, p.offset, p.alpha, codes, y, w, p.kept)
        if t is not None:
            ends = [cell_borders(keys[[0, -1]]) if len(keys) else ([-np.inf], [np.inf]) for keys in t.keys]
            low, high = np.array([one[0][0] for one in ends]), np.array([one[1][-1] for one in ends])
            out[((x.values < low) | (x.values > high)).any(axis=1)] = np.nan  # not in the counts
        return out

    def parts_without(self, t: GridCounts, p: Params, out: LeftOut, x: Reals) -> PartsLeft:
        """Cuts and alpha stay. A row is part of the counts of its interval's neighbours too, where these are shared."""
        rows, there = p.codes(out.x), ~np.isnan(np.asarray(out.x.values))

        def part_of(cell: np.ndarray) -> np.ndarray:
            if not self.smooth:
                return rows == cell
            share = np.zeros((1, p.offset[-1]))
            share[0, (p.offset[:-1] + cell)[cell >= 0]] = 1.0
            for _ in range(self.smooth):
                share = shared_with_neighbours(share, p.offset)
            return np.where(there, share[0].take(p.offset[:-1] + np.maximum(rows, 0)), 0.0)

        return shares_without(p.counts, p.offset, p.alpha, out, p.codes(x), part_of, there)

    def evidence_by_column(self, t: GridCounts, p: Params) -> np.ndarray:
        """Evidence with intervals as levels, less the logarithm of how many sets of cuts were searched."""
        chosen = self._log_number_of_cuts(t, p)
        return level_evidence(p.counts, p.offset, alphas_of(self.alpha)) - np.stack([chosen, np.zeros_like(chosen)])

    def dependence_left_out(self, t: GridCounts, p: Params, x: Reals, y, w) -> np.ndarray:
        odds = level_dependence_left_out(p.counts, alphas_of(self.alpha), p.codes(x)[:, 0], y, w)
        return odds - self._log_number_of_cuts(t, p)[0]

    def _log_number_of_cuts(self, t: GridCounts, p: Params) -> np.ndarray:
        """log of the number of possible sets of cuts of each column (d,), where the class labels determined them."""
        if self.cuts != "mdl":
            return np.zeros(len(p.cuts))
        cuts = np.array([len(at) for at in p.cuts])
        places = np.maximum(np.diff(t.offset) - 1, cuts)
        return gammaln(places + 1) - gammaln(cuts + 1) - gammaln(places - cuts + 1)

    def of_columns(self, t: GridCounts, p: Params) -> list[Family]:
        return [replace(self, alpha=float(alpha)) for alpha in p.alpha] if self.alpha == "auto" else [self] * t.d

    def pooled(self, t: GridCounts, p: Params) -> Params:
        """With the same cuts, so that the density within intervals cancels."""
        counts = p.counts.sum(axis=0, keepdims=True)
        alpha = best_alpha(counts, p.offset, np.inf) if self.alpha == "auto" else p.alpha
        return replace(p, counts=counts, alpha=alpha, packed=Packed.of(log_shares(counts, p.offset, alpha)))

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(y), len(p.shapes)))
        for j, shape in enumerate(p.shapes):
            if not p.counts[:, p.offset[j] : p.offset[j + 1]].any():
                out[:, j] = np.nan
                continue
            share = np.exp(p.table[:, p.offset[j] : p.offset[j + 1]])
            middle = (shape.edges[:-1] + shape.edges[1:]) / 2
            interval = np.searchsorted(p.cuts[j], middle, side="right")
            mass = share[:, interval] * np.exp(shape.log_density) * np.diff(shape.edges)
            below = np.cumsum(mass / mass.sum(axis=1, keepdims=True), axis=1)[y]
            piece = np.minimum((rng.random((len(y), 1)) >= below).sum(axis=1), len(middle) - 1)
            out[:, j] = rng.uniform(shape.edges[piece], shape.edges[piece + 1])
        return out


def shared_with_neighbours(counts: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Counts (k, sum of intervals) after each interval of a column gave a quarter to either neighbour; an end interval
    keeps the quarter that has no neighbour.

    >>> shared_with_neighbours(np.array([[4.0, 0.0, 0.0, 8.0]]), np.array([0, 3, 4])).tolist()
    [[3.0, 1.0, 0.0, 8.0]]
    """
    first, last = offset[:-1], offset[1:] - 1
    down, up = counts / 4, counts / 4
    out = counts / 2
    out[:, first] += down[:, first]
    out[:, last] += up[:, last]
    down[:, first], up[:, last] = 0.0, 0.0
    out[:, :-1] += down[:, 1:]
    out[:, 1:] += up[:, :-1]
    return out


@lru_cache(maxsize=256)
def own_part(intervals: int, times: int) -> np.ndarray:
    """Share of its own count that each interval of a column keeps, (intervals,)."""
    counts = np.eye(intervals)
    for _ in range(times):
        counts = shared_with_neighbours(counts, np.array([0, intervals]))
    return counts.diagonal().copy()


FAMILY = Histogram
