"""Chooses for each column the candidate family that predicts the class of held-out rows best.

Tally: the tallies that the candidates need (see `ops.cells`), and how many cells are outside each support. The choice
is part of the estimate: it is made from the tally, also after rows were added, merged or removed.

The comparison uses the `GridCounts` of a column: its values and their counts by class. They are split into five folds,
in an order that depends only on the counts. Each candidate is trained on four folds, cuts and smoothing included, and
predicts the classes of the fifth from this column alone. Candidates whose log loss exceeds the smallest by more than
CLEAR standard errors are dropped. Naive Bayes counts evidence that several columns share several times; the remaining
candidates are therefore compared with the evidence of this column multiplied by 1 + ½ log2 d for d columns, which
favours few confident errors over high confidence. A histogram of one interval is not chosen. A column of one value
needs no choice. Where the grid is too coarse to separate a column's values (large numbers that differ little), the
first candidate is taken.

The evidence of one cell is bounded: log p(x | a) − log p(x | b) ≤ log(2 n_b + distinct values), where n_b is the number
of rows of class b. This is the evidence of a level that does not occur in n_b rows, with half a pseudo-count; the tail
of a density is supported by no more data than that.

>>> import numpy as np
>>> from deciban.families.histogram import Histogram
>>> from deciban.families.student import Student
>>> from deciban.data.blocks import Reals
>>> rng, y = np.random.default_rng(0), np.arange(400, dtype=np.int32) % 2
>>> x = np.stack([rng.normal(5 + y / 2), rng.integers(0, 2, 400) * (1 + 2 * (rng.random(400) < y))], axis=1)
>>> f = BestOf((Student(), Histogram(cuts="values")))
>>> [type(family).__name__ for family in f.estimate(f.tally(Reals(x), y, None, 2)).families]
['Student', 'Histogram']
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from deciban import ops
from deciban.composites.product import Product
from deciban.data.blocks import Mixed, Reals
from deciban.engines import threads
from deciban.estimation import ranges
from deciban.estimation.dirichlet import column_sums
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import blocks
from deciban.estimation.left_out import LeftOut, PartsLeft, columns_at
from deciban.estimation.sensitivity import JoinedSensitivity
from deciban.ops import cells as cell_ops
from deciban.tallies import Bundle, GridCounts, Sums
from deciban.tallies.basic import RoundedMoments, RoundedSums, column
from deciban.tallies.exact_tables import concatenated_columns
from deciban.tallies.grid import BITS, cell_borders, cell_of

FOLDS = 5
REPEATS = 2  # repetitions of the split into folds, for few rows
FEW = 256  # rows up to which the split is repeated
ENOUGH = 4096  # rows of a column that are split into folds, at most
AT_ONCE = 8192  # cells of columns that are compared at once, about
MANY = 1 << 16  # counts of a table from which its columns are compared in threads
RUNS = 256  # distinct values of a column that are compared, at most
COARSE = 0.5  # a grid is too coarse if its cells are wider than this share of the standard deviation
MOST_VALUES = 20  # distinct numbers that may be levels
CLEAR = 4.0  # standard errors of a significant difference, if all rows were compared
SEEN = 2.0  # least standard errors of a significant difference among the compared rows
EACH = 5  # rows per level that treating numbers as levels needs
EXACT = 1 << (BITS + 1)  # whole numbers below this have a cell of their own
SINGLE = 8  # rows of a table for which calls take longer than arithmetic
SHARED = 2  # rows per interval that a smoothed histogram needs


@dataclass(frozen=True)
class Params:
    families: tuple[Any, ...]  # of each column
    product: Product
    inner: tuple
    limits: tuple[Limits | None, ...]  # of each factor
    cells: GridCounts
    known: dict = field(default_factory=dict, compare=False, repr=False)  # what chunks of rows need of single columns

    @cached_property
    def of_one(self) -> OneRow:
        """How single rows are scored."""
        return OneRow.of(self)

    def by_column(self, t: Bundle, find: Callable[[], Any]) -> Any:
        """find() of the tally t that these parameters are estimated from: found once for all chunks of rows."""
        if "columns" not in self.known or self.known["columns"][0] is not t:
            self.known["columns"] = t, find()
        return self.known["columns"][1]

    def _weights_of_cells(self, j: int) -> np.ndarray:
        """The weight of all rows in each cell of column j."""
        if j not in self.known:
            self.known[j] = self.cells.part([j]).table.sum(axis=0)
        return self.known[j]

    def limits_left(self, j: int, n: np.ndarray, x: Reals, y: np.ndarray, w: np.ndarray | None) -> Limits:
        """Limits (rows, k) of column j, whose classes have n rows, with each row of x left out."""
        values = np.asarray(x.values, dtype=np.float64)[:, 0]
        seen, keys, table = ~np.isnan(values), self.cells.keys[j], self._weights_of_cells(j)
        weight = seen * (1.0 if w is None else w)
        lone = table[places(keys, values)] <= weight * (1 + 1e-9) if len(keys) else np.zeros(x.n, dtype=bool)
        lone &= weight > 0
        if w is None:  # rows of one class are alike, but for whether the cell is missing, or has no other row
            rest = np.tile(np.concatenate([n - np.eye(len(n)), n[None]]), (2, 1))
            limits = Limits.of(np.maximum(rest, 0.0), len(keys) - np.repeat([0, 1], len(n) + 1)[:, None])
            return limits.take(np.where(seen, y, len(n)) + (len(n) + 1) * lone)
        rest = np.repeat(n[None, :], x.n, axis=0)
        rest[np.arange(x.n), y] -= weight
        rest[rest < 1e-12] = 0.0
        return Limits.of(rest, (len(keys) - lone)[:, None])

    def limits_without(self, columns: list[int], n: np.ndarray, out: LeftOut) -> Limits:
        """Limits (groups, k, columns) of these columns, whose classes have n (k, columns) rows, without each group."""
        values = np.asarray(out.x.values, dtype=np.float64)
        seen, distinct = ~np.isnan(values), np.array([len(self.cells.keys[j]) for j in columns])
        lost = [self._cells_emptied(j, values[:, at], seen[:, at], out) for at, j in enumerate(columns)]
        if out.row_part is None and out.w is None and seen.all():  # rows of a class are alike, but for lost cells
            rest = np.maximum(n[None] - np.eye(len(n))[:, :, None], 0.0)
            limits = Limits.of(rest, distinct)
            most, n_left = limits.most.take(out.y, axis=0), rest.take(out.y, axis=0)
            for at, groups in enumerate(lost):
                if len(groups):
                    most[groups, :, at] = np.log(np.maximum(2.0 * n_left[groups, :, at] + distinct[at] - 1.0, 1.0))
            return Limits(most, limits.seen.take(out.y, axis=0) if not limits.seen.all() else limits.seen)
        left = np.repeat(n[None], out.groups, axis=0)
        left[out.group, out.y] -= out.sums(seen)
        left[left < 1e-12] = 0.0
        many = np.repeat(distinct[None].astype(np.float64), out.groups, axis=0)
        for at, groups in enumerate(lost):
            many[:, at] -= np.bincount(groups, minlength=out.groups)
        return Limits.of(left, many[:, None, :])

    def _cells_emptied(self, j: int, values: np.ndarray, seen: np.ndarray, out: LeftOut) -> np.ndarray:
        """The groups that have all rows of a cell of column j, as often as there are such cells."""
        heaviest = out.row_weights.max(initial=0.0) if out.row_part is None else out.by_group(out.weight).max(initial=0)
        known, weight, marks = self._light_cells(j, float(heaviest))
        if not len(known):
            return np.zeros(0, dtype=np.intp)
        keys = cell_of(np.where(seen, values, 0.0))
        rows = np.flatnonzero(marks.take(_mark(keys)) & seen)  # few more than there are such cells
        place = np.minimum(np.searchsorted(known, keys[rows]), len(known) - 1)
        key = np.full(len(keys), -1)
        key[rows] = np.where(known[place] == keys[rows], place, -1)
        if out.row_part is None:
            own = rows[key[rows] >= 0]
            return own[weight[key[own]] <= out.row_weights[own] * (1 + 1e-9)]
        rows = np.flatnonzero(out.emptied(key, weight))
        return np.unique(np.stack([out.row_group[rows], key[rows]]), axis=1)[0]

    def _light_cells(self, j: int, most: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(keys of the cells of column j with no more weight than this, their weights, marks of these keys)"""
        name = j, most
        if name not in self.known:
            whole = self._weights_of_cells(j)
            few = np.flatnonzero((whole <= most * (1 + 1e-9)) & (whole > 0))
            marks = np.zeros(1 << MARKS, dtype=bool)
            marks[_mark(self.cells.keys[j][few])] = True
            self.known[name] = self.cells.keys[j][few], whole[few], marks
        return self.known[name]

    @cached_property
    def cross_fitted(self) -> dict[int, CrossFitted]:
        """Cross-fitted histograms, by column, for leave-one-out of columns whose cuts depend on the class labels."""
        by_class = [
            j for j, family in enumerate(self.families) if family.shared_tally == "cells" and family.cuts == "mdl"
        ]
        each = {j: self.cells.part([j]) for j in by_class}
        few = {j: cells for j, cells in each.items() if cells.table.sum() <= ENOUGH and len(cells.keys[0]) > 1}
        return {j: CrossFitted.of(self.families[j], cells) for j, cells in few.items()}


@dataclass(frozen=True)
class OneRow:
    """Log likelihoods of single rows: the intervals of all histograms are looked up at once."""

    cuts: tuple[tuple[int, list[float], int], ...]  # column, cuts and first interval of each column of a histogram
    shares: np.ndarray  # (intervals, k), log P of the intervals
    others: tuple[tuple[Any, Any, np.ndarray | slice, Limits | None], ...]  # family, parameters, columns, limits

    @classmethod
    def of(cls, p: Params) -> OneRow:
        cuts, shares, others, first = [], [], [], 0
        for f, params, at, limits in zip(p.product.factors, p.inner, p.product.columns, p.limits, strict=True):
            if f.shared_tally != "cells":
                columns = columns_at(at)
                others.append((f, params, columns if isinstance(columns, slice) else np.array(columns), limits))
                continue
            for j, own, start in zip(at, params.cuts, params.offset.tolist()[:-1], strict=True):
                cuts.append((j, own.tolist(), first + start))
            shares.append(params.table.T)
            first += len(shares[-1])
        return cls(tuple(cuts), np.concatenate(shares or [np.zeros((0, 1))]), tuple(others))

    def loglik(self, x: Reals) -> np.ndarray:
        """(1, k)"""
        cells = np.asarray(x.values, dtype=np.float64)
        (row,) = cells.tolist()
        at = [first + bisect_right(cuts, row[j]) for j, cuts, first in self.cuts if row[j] == row[j]]
        out = np.add.reduce(self.shares.take(at, axis=0), axis=0, keepdims=True)
        for f, params, columns, limits in self.others:
            own = Reals(cells[:, columns])
            out = out + (f.loglik(params, own) if limits is None else _limited_sum(f, params, own, limits))
        return out


@dataclass(frozen=True)
class BestOf(Family):
    candidates: tuple[Any, ...]  # families; `shared_tally` names the tally that each uses
    columns: int = 1  # number of columns of the table
    settled: tuple[int, ...] | None = None  # index of the candidate of each column; None: chosen by the estimate
    block, support = "dense", "real"
    chooses = True  # the estimate is costly: callers pass it to `leave_one_out`

    def tally(self, x: Reals, y, w, k: int) -> Bundle:
        found = cell_ops.shared(x, y, w, k, threads.in_threads)
        wrong = [found.wrong[support] for support in self._supports()]
        total = concatenated_columns(wrong) if wrong else np.zeros((k, 0))
        return Bundle((Sums(found.cells.weight, total), *(getattr(found, name) for name in self._shared())))

    def _supports(self) -> list[str]:
        """The supports that do not contain every number."""
        return list(dict.fromkeys(f.support for f in self.candidates if f.support != "real"))

    def _shared(self) -> list[str]:
        """The names of the tallies that the candidates need."""
        return list(dict.fromkeys(["cells", *(f.shared_tally for f in self.candidates)]))

    def _tallies(self, t: Bundle) -> dict[str, Any]:
        return dict(zip(self._shared(), t.parts[1:], strict=True))

    def estimate(self, t: Bundle) -> Params:
        tallies = self._tallies(t)
        cells = tallies["cells"]
        d = len(cells.keys)
        choice = self._choose(t) if self.settled is None else np.array(self.settled, dtype=np.int64)
        at = [np.flatnonzero(choice == i).tolist() for i in range(len(self.candidates))]
        used = [i for i, columns in enumerate(at) if columns]
        product = Product(tuple(self.candidates[i] for i in used), tuple(tuple(at[i]) for i in used), d)
        inner = tuple(self.candidates[i].estimate(tallies[self.candidates[i].shared_tally].part(at[i])) for i in used)
        distinct = np.array([len(keys) for keys in cells.keys])
        limits = tuple(
            None
            if self.candidates[i].shared_tally == "cells"
            else Limits.of(_rows_of(tallies[self.candidates[i].shared_tally], at[i]), distinct[at[i]])
            for i in used
        )
        return Params(tuple(self.candidates[i] for i in choice), product, inner, limits, cells)

    def fixed(self, p: Params) -> BestOf:
        """The same with the chosen families fixed, independent of the rows."""
        return replace(self, settled=tuple(self.candidates.index(family) for family in p.families))

    def held(self, t: Bundle, p: Params) -> BestOf:
        each = zip(p.product.factors, self.chosen(p, t).parts, p.inner, strict=True)
        known = {self.candidates.index(f): f.held(part, own) for f, part, own in each}
        fixed = self.fixed(p)
        return replace(fixed, candidates=tuple(known.get(i, f) for i, f in enumerate(self.candidates)))

    def parts_without(self, t: Bundle, p: Params, out: LeftOut, x: Reals) -> PartsLeft | None:
        """The choice of families stays, and so do cuts."""
        rows, tallies = split(p, out.x), self._tallies(t)
        whole: Any = None
        for b, ((f, params, cells, limits), at) in enumerate(zip(self._each(p, x), p.product.columns, strict=True)):
            some = out.of_block(rows.blocks[b])
            # histograms have their counts in the parameters
            own_tally = None if f.shared_tally == "cells" else tallies[f.shared_tally].part(list(at))
            found = f.parts_without(own_tally, params, some, cells)
            if found is None:
                return None
            if limits is None and found.all is None and whole is None and len(p.product.columns) == 1:
                return found
            parts = found.filled(some, f.parts(params, cells))
            if limits is not None:
                left = p.limits_without(list(at), _rows_of(own_tally, list(range(len(at)))), some)
                parts = np.stack([np.where(np.isnan(own), np.nan, left.apply(own)) for own in parts])
            if whole is None:
                whole = np.empty((*parts.shape[:3], p.product.d))
            whole[:, :, :, columns_at(at)] = parts
        return PartsLeft(None, whole)

    def _choose(self, t: Bundle) -> np.ndarray:
        """Index of the candidate of each column, (d,)."""
        tallies = self._tallies(t)
        cells = tallies["cells"]
        values, n, spread = np.diff(cells.offset), column_sums(cells.table, cells.offset), deviation(tallies, cells.d)
        bad = dict(zip(self._supports(), (t.parts[0].total > 0).any(axis=0).reshape(-1, cells.d), strict=True))
        fit = np.stack([~bad.get(f.support, np.zeros(cells.d, dtype=bool)) for f in self.candidates])
        intervals = np.array([f.shared_tally == "cells" for f in self.candidates])[:, None] & fit
        one = (values <= 1) & (spread == 0) & intervals.any(axis=0)
        out = np.where(one, intervals.argmax(axis=0), fit.argmax(axis=0))
        some = np.flatnonzero((values > 1) & (fit.sum(axis=0) > 1))
        enough = np.stack([self._has_enough_rows(f, values, n.sum(axis=0)) for f in self.candidates])

        def choose(alike: np.ndarray) -> None:
            rows = FoldedColumns.of(cells, alike)
            fine = rows.resolves(spread[alike])
            if fine.any():
                able = np.flatnonzero((fit & enough)[:, alike[0]])
                best = self._best(able, rows, cells)
                out[alike[fine]] = best[fine]

        each = threads.in_threads if cells.table.size >= MANY else map
        deque(each(choose, _alike(some, values, n, fit & enough)), maxlen=0)
        return out

    def _best(self, fit: np.ndarray, rows: FoldedColumns, cells: GridCounts) -> np.ndarray:
        """Index of the candidate of each column, among those that `fit`: the first in the order of `ranked` that is not
        a histogram of one interval."""
        ranked = rows.ranked([self.candidates[i] for i in fit], 1.0 + 0.5 * np.log2(max(self.columns, 1)))
        whole, out = _tables(cells, rows.columns), np.zeros(len(ranked), dtype=np.intp)
        undecided = np.arange(len(ranked))
        for at in ranked.T:  # the first is nearly always taken: counts of all rows are cut only where asked
            left = []
            for i in np.unique(at[undecided]):
                family, columns = self.candidates[fit[i]], undecided[at[undecided] == i]
                if family.shared_tally == "cells":
                    cut = family.begins(whole[columns])[:, 1:].any(axis=1)
                    left.append(columns[~cut])
                    columns = columns[cut]
                out[columns] = i
            undecided = np.concatenate([undecided[:0], *left])
            if len(undecided) == 0:
                break
        return fit[out]

    def _has_enough_rows(self, family: Any, values: np.ndarray, n: np.ndarray) -> np.ndarray:
        """Whether columns have enough rows for a family of levels or intervals, (d,); two values may be levels."""
        if family.shared_tally != "cells" or family.cuts == "mdl":
            return np.ones(len(n), dtype=bool)
        if family.cuts == "values":
            return values <= np.maximum(2.0, np.minimum(n / EACH, MOST_VALUES))
        return family.cuts <= n / SHARED

    def chosen(self, p: Params, t: Bundle) -> Bundle:
        """The tally of each chosen family, of the columns that it was chosen for."""
        tallies = self._tallies(t)
        both = zip(p.product.factors, p.product.columns, strict=True)
        return Bundle(tuple(tallies[f.shared_tally].part(list(at)) for f, at in both))

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        if x.n == 1:
            return p.of_one.loglik(x)
        out: Any = 0.0
        for f, params, cells, limits in self._each(p, x):
            out = out + (f.loglik(params, cells) if limits is None else _limited_sum(f, params, cells, limits))
        return out

    def parts(self, p: Params, x: Reals) -> np.ndarray:
        out: Any = None
        for (f, params, cells, limits), at in zip(self._each(p, x), p.product.columns, strict=True):
            parts = f.parts(params, cells)
            if out is None:
                out = np.zeros((x.n, parts.shape[1], p.product.d))
            out[:, :, list(at)] = parts if limits is None else limits.apply(parts)
        return out

    def _each(self, p: Params, x: Reals) -> list[tuple]:
        return list(zip(p.product.factors, p.inner, split(p, x).blocks, p.limits, strict=True))

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return p.product.carrier(p.inner, split(p, x))

    def carrier_parts(self, p: Params, x: Reals) -> np.ndarray:
        return p.product.carrier_parts(p.inner, split(p, x))

    def estimates(self, p: Params) -> dict[str, np.ndarray]:
        return p.product.estimates(p.inner)

    def leave_one_out(self, t: Bundle, x: Reals, y, w, p: Params | None = None) -> np.ndarray:
        """The choice of families stays; cuts come from the folds that do not contain the row."""
        p = self.estimate(t) if p is None else p
        out = np.zeros((x.n, t.k))
        columns = p.by_column(t, lambda: self._columns_left(p, t))
        for (f, _, cells, limits), own, at in zip(self._each(p, x), columns, p.product.columns, strict=True):
            for j, place in enumerate(at):
                tally, params, n = own[j]
                one = Reals(np.ascontiguousarray(np.asarray(cells.values)[:, [j]]))
                if limits is not None:
                    out += p.limits_left(place, n, one, y, w).apply(f.leave_one_out(tally, one, y, w))
                elif place in p.cross_fitted:
                    out += p.cross_fitted[place].leave_one_out(f, one, y, w)
                else:
                    out += f.leave_one_out(tally, one, y, w, params)
        return out

    def _columns_left(self, p: Params, t: Bundle) -> list[list[tuple[Any, Any, np.ndarray]]]:
        """(tally, parameters where they are used, weight of each class) of each column, by factor."""
        each = zip(p.inner, p.limits, self.chosen(p, t).parts, p.product.columns, strict=True)
        return [
            [
                (
                    part.part([j]),
                    params.part([j]) if limits is None and place not in p.cross_fitted else None,
                    _rows_of(part, [j])[:, 0],
                )
                for j, place in enumerate(at)
            ]
            for params, limits, part, at in each
        ]

    def sensitivity(self, t: Bundle, p: Params) -> LimitedSensitivity | None:
        found = p.product.sensitivity(self.chosen(p, t), p.inner)
        if found is None:
            return None
        own = JoinedSensitivity.of(found.parts, p.product.columns, lambda x: split(p, x).blocks)
        return LimitedSensitivity(own.owner, own.columns, own.counted, own.coded, own.parts, own.blocks_of, self, p)

    def evidence(self, t: Bundle) -> np.ndarray:
        raise AttributeError(
            f"densities chosen from the rows have no evidence in closed form ({len(self._tallies(t)['cells'].keys)} of "
            f"{self.columns} columns)\n\nhint: families='student' or 'categorical' has one"
        )

    def evidence_by_column(self, t: Bundle, p: Params) -> np.ndarray:
        return p.product.evidence_by_column(self.chosen(p, t), p.inner)

    def pooled(self, t: Bundle, p: Params) -> Params:
        """Parameters of the chosen families for all classes as one; evidence between classes needs no limit."""
        inner = p.product.pooled(self.chosen(p, t), p.inner)
        return replace(p, inner=inner, limits=(None,) * len(inner))

    def of_columns(self, t: Bundle, p: Params) -> list[Family]:
        out = list(p.families)
        each = zip(p.product.factors, p.product.columns, p.inner, self.chosen(p, t).parts, strict=True)
        for f, at, own, part in each:
            for j, one in zip(at, f.of_columns(part, own), strict=True):
                out[j] = one
        return out

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        """The values of the chosen families, within the range of the data."""
        own = p.product.grid(p.inner, k)
        return [_values_within(values, keys) for values, keys in zip(own, p.cells.keys, strict=True)]

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(y), p.product.d))
        for drawn, at in zip(p.product.sample(p.inner, y, rng), p.product.columns, strict=True):
            out[:, list(at)] = drawn
        return out


def _values_within(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The values within the range of the cells; the cells themselves where they are few whole numbers."""
    if len(keys) == 0:  # all cells are missing
        return np.zeros(0)
    low, high = cell_borders(keys)
    near = np.where(keys > 0, low, np.where(keys < 0, high, 0.0))  # the end next to 0
    if len(keys) <= ranges.FEW and (near == np.rint(near)).all() and np.abs(near).max() < EXACT:
        return near
    least = max(float(values.min()), 0.0 if keys[0] == 0 else float(low[0]))
    most = min(float(values.max()), 0.0 if keys[-1] == 0 else float(high[-1]))
    return np.linspace(least, most, ranges.STEPS) if least < most else values


def split(p: Params, x: Reals) -> Mixed:
    """The columns of each chosen family."""
    if len(p.product.columns) == 1:
        return Mixed((x,), x.n)
    values = np.asarray(x.values)
    if x.n <= SINGLE:
        return Mixed(tuple(Reals(values[:, at]) for at in p.product.columns), x.n)
    return Mixed(tuple(Reals(_taken(values, at)) for at in p.product.columns), x.n)


def _taken(values: np.ndarray, at: Sequence[int]) -> np.ndarray:
    """Some columns. Copying one column at a time is several times faster than indexing by a list."""
    out = np.empty((len(values), len(at)), dtype=values.dtype)
    for j, place in enumerate(at):
        out[:, j] = values[:, place]
    return out


def places(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Index of the cell of each number among known cells; arbitrary for a missing number."""
    return np.minimum(np.searchsorted(keys, cell_of(np.nan_to_num(values))), len(keys) - 1)


MARKS = 17  # bits


def _mark(keys: np.ndarray) -> np.ndarray:
    """A number of MARKS bits for each key, by multiplication."""
    return (keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(64 - MARKS)).astype(np.int64)


# limits of the evidence of a cell


def _rows_of(t: Any, columns: list[int]) -> np.ndarray:
    """How many rows of each class have a value in these columns, (k, columns)."""
    return np.broadcast_to(column(t.part(columns).n), (t.k, len(columns)))


@dataclass(frozen=True)
class Limits:
    """Bounds of the evidence of a cell, (k, columns), or (rows, k) of one column."""

    most: np.ndarray  # largest evidence against each class, in nats
    seen: np.ndarray  # whether the class has any value of the column

    @classmethod
    def of(cls, n: np.ndarray, distinct: np.ndarray) -> Limits:
        """Limits of classes with n rows, in columns with this number of distinct values."""
        return cls(np.log(np.maximum(2.0 * n + distinct, 1.0)), np.broadcast_to(n, np.shape(2.0 * n + distinct)) > 0)

    @cached_property
    def _every(self) -> bool:
        return bool(self.seen.all())

    def take(self, index: np.ndarray) -> Limits:
        return Limits(self.most.take(index, axis=0), self.seen.take(index, axis=0))

    def apply(self, parts: np.ndarray) -> np.ndarray:
        """Limited log densities (n, k, columns), or (n, k): at most the limit below the largest of any class. A class
        without values, whose density is that of all rows, is not above the largest."""
        every = self._every
        among = parts if every else np.where(self.seen, parts, -np.inf)
        if len(parts) <= SINGLE:
            top = np.maximum.reduce(among, axis=1, keepdims=True)
        else:
            top = reduce(np.maximum, np.moveaxis(among, 1, 0))[:, None]  # faster along a short axis
        out = np.maximum(parts, top - self.most)
        return out if every else np.where(self.seen | ~np.isfinite(top), out, np.minimum(out, top))


@dataclass(frozen=True, eq=False)
class LimitedSensitivity(JoinedSensitivity):
    """Of chosen families, whose parts are limited: a part at its limit follows that of the best class."""

    family: BestOf
    params: Params

    @property
    def moves(self) -> bool:
        return any(limits is not None for limits in self.params.limits)

    def moved(self, x: Reals, coef: np.ndarray) -> np.ndarray:
        out, at = coef.copy(), 0
        for f, params, cells, limits in self.family._each(self.params, x):
            here = slice(at, at := at + cells.d)
            if limits is None:
                continue
            parts = f.parts(params, cells)
            among = np.where(limits.seen, parts, -np.inf)
            top = among.argmax(axis=1)
            bounded = limits.apply(parts) != parts
            own = out[:, :, here]
            lost = np.where(bounded, own, 0.0)
            own -= lost
            row, column = np.indices(top.shape)
            own[row, top, column] += lost.sum(axis=1)
        return out


def _limited_sum(family: Any, p: Any, x: Reals, limits: Limits) -> np.ndarray:
    if x.n <= SINGLE:
        return np.add.reduce(limits.apply(family.parts(p, x)), axis=2)
    out = np.empty((x.n, len(limits.most)))
    for rows, cells in blocks(x):
        parts = limits.apply(family.parts(p, Reals(cells)))
        out[rows] = parts[:, :, 0] if parts.shape[2] == 1 else parts.sum(axis=2)
    return out


@dataclass(frozen=True)
class CrossFitted:
    """Histograms of one column, one per fold: the cuts come from the other folds, the cells of the fold are scored."""

    keys: np.ndarray  # (m,)
    share: np.ndarray  # (folds, k, m): share of a cell's rows in each fold
    params: tuple  # of each fold: its cuts, counts of all rows

    @classmethod
    def of(cls, family: Any, cells: GridCounts) -> CrossFitted:
        rows = FoldedColumns.of(cells, np.array([0]), repeats=1, most=len(cells.keys[0]))
        held = rows.held[0]
        total = held.sum(axis=0)
        share = np.full((len(held), cells.k, held.shape[2]), 1.0 / FOLDS)
        learned = (cells.columns()[0] > 0).any(axis=1)  # `held` has only the classes with rows
        share[:, learned] = np.divide(held, total, out=share[:, learned], where=total > 0)
        cuts = [tuple(np.flatnonzero(first).tolist()) for first in family.begins(rows.learned[0])]
        return cls(rows.keys[0], share, tuple(replace(family, cuts=at).estimate(cells) for at in cuts))

    def leave_one_out(self, family: Any, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        cells = np.asarray(x.values, dtype=np.float64)[:, 0]
        at = places(self.keys, cells)
        out = np.zeros((x.n, self.share.shape[1]))
        low, high = cell_borders(self.keys[[0, -1]])
        out[(cells < low[0]) | (cells > high[1])] = np.nan  # not in the counts
        for p, share in zip(self.params, self.share, strict=True):
            out += share[y, at][:, None] * family.leave_one_out(None, x, y, w, p=p)
        return out


# comparison of candidates


def _alike(some: np.ndarray, values: np.ndarray, n: np.ndarray, fit: np.ndarray) -> Iterator[np.ndarray]:
    """Columns that can be compared at once: with as many values, the same classes and the same candidates. The others,
    whose values may be sampled or merged, come one by one. `n` (k, d): rows of each class."""
    total = n.sum(axis=0)
    alone = (values > RUNS) | (total > ENOUGH) | (n != np.rint(n)).any(axis=0)
    yield from some[alone[some]][:, None]
    some = some[~alone[some]]
    if len(some) == 0:
        return
    kinds = np.concatenate([values[None], (total <= FEW)[None], n > 0, fit])[:, some]
    order = np.lexsort(kinds)
    starts = np.flatnonzero(np.diff(kinds[:, order], axis=1).any(axis=0)) + 1
    for group in np.split(some[order], starts):
        most = max(1, AT_ONCE // int(values[group[0]] * len(n)))
        yield from np.split(group, np.arange(most, len(group), most))


def _tables(cells: GridCounts, columns: np.ndarray) -> np.ndarray:
    """The counts of columns with as many values each, (columns, k, m)."""
    if len(columns) == 1:
        return cells.table[None, :, cells.offset[columns[0]] : cells.offset[columns[0] + 1]]
    many = cells.offset[columns[0] + 1] - cells.offset[columns[0]]
    return cells.table[:, cells.offset[columns][:, None] + np.arange(many)].transpose(1, 0, 2)


@dataclass(frozen=True)
class FoldedColumns:
    """The values of columns that have as many each, and how many rows of each class have them, by fold."""

    columns: np.ndarray  # (c,), in the table
    keys: np.ndarray  # (c, m)
    values: np.ndarray  # (c, m)
    width: np.ndarray  # (c, m), of the grid cells of the values
    held: np.ndarray  # (c, folds, k, m), weight of the rows in the fold
    learned: np.ndarray  # (c, folds, k, m), weight of the rows in the other folds
    n: np.ndarray  # (c,): all rows, of which a sample is in folds
    cut: dict = field(default_factory=dict)  # intervals of the folds, by how they are cut

    @classmethod
    def of(cls, cells: GridCounts, columns: np.ndarray, repeats: int | None = None, most: int = RUNS) -> FoldedColumns:
        """Of columns that are alike; more than `most` values are merged."""
        keys = np.stack([cells.keys[j] for j in columns])
        table = _tables(cells, columns)
        if table.min() < 0.0:  # rounding errors of removed rows
            table = np.maximum(table, 0.0)
        if not (some := table[0].any(axis=1)).all():  # classes that have no rows
            table = table[:, some]
        n = table.sum(axis=(1, 2))
        if len(columns) == 1 and n[0] > ENOUGH:
            keys, table = sample_of_counts(keys, table)
        low, high = cell_borders(keys)
        near = np.where(low < 0, high, low)  # the border nearer to 0: whole numbers are there
        values = np.where(np.round(near) == near, near, (low + high) / 2)
        repeats = (REPEATS if n[0] <= FEW else 1) if repeats is None else repeats
        held = np.concatenate([split_into_folds(keys, table, seed) for seed in range(repeats)], axis=1)
        if len(columns) == 1:  # values without rows are left out, and neighbouring values merged if there are many
            count = held.sum(axis=(0, 1, 2))
            first = run_starts(count, most)
            if len(first) < keys.shape[1]:
                weight = np.maximum(np.add.reduceat(count, first), 1e-300)
                values = (np.add.reduceat(values[0] * count, first) / weight)[None]
                held = np.add.reduceat(held, first, axis=3)
            keys, low, high = keys[:, first], low[:, first], high[:, first]
        folds = held.reshape(len(columns), repeats, FOLDS, *held.shape[2:])
        learned = (folds.sum(axis=2, keepdims=True) - folds).reshape(held.shape)
        return cls(columns, keys, values, high - low, held, learned, n)

    def resolves(self, spread: np.ndarray) -> np.ndarray:
        """Whether the cells are narrow compared with the standard deviation of the column, (c,)."""
        weight = self.held.sum(axis=(1, 2))  # 0 where rows have so little weight that no fold counts them
        total = weight.sum(axis=1)
        return (spread == 0) | ((total > 0) & ((self.width * weight).sum(axis=1) <= COARSE * spread * total))

    def ranked(self, families: list[Any], times: float) -> np.ndarray:
        """Indices of the families, best first, (c, families): those whose held-out log loss is not significantly above
        the smallest, in the order of their log loss with the evidence multiplied by `times`; then the others."""
        with np.errstate(all="ignore"):
            parts = np.stack([self._held_out(family) for family in families])  # (families, c, folds, m, k)
            prior = np.log(self.learned.sum(axis=3) + 0.5)[:, :, None, :]
            weight = self.held.transpose(0, 1, 3, 2).reshape(len(self.columns), -1)
            logs = _log_posteriors(parts + prior, weight)  # of the true classes
            once = _finite(_total(logs, weight))
            best = np.take_along_axis(logs, once.argmax(axis=0)[None, :, None], axis=0)
            lead = best - logs
            clear = self._clearly_less(_total(lead, weight), _total(lead * lead, weight), weight.sum(axis=1))
            some = ~clear.all(axis=1)  # families that a column may have
            often = np.full(clear.shape, -np.inf)
            often[some] = _finite(_total(_log_posteriors(times * parts[some] + prior, weight), weight))
            often[clear] = -np.inf
        return np.lexsort((-once, -often, clear), axis=0).T

    def _clearly_less(self, total: np.ndarray, square: np.ndarray, n: np.ndarray) -> np.ndarray:
        """Whether differences of log probabilities, with these sums and sums of squares over the compared rows, are
        significant."""
        repeats = self.held.shape[1] / FOLDS
        total, square, n = total / repeats, square / repeats, n / repeats
        errors = np.maximum(SEEN, CLEAR * np.sqrt(n / self.n))
        return ~(total <= errors * np.sqrt(np.maximum(square - total * total / n, 0.0)))

    def _held_out(self, family: Any) -> np.ndarray:
        """log p(value | class) (c, folds, m, k) learned from the other folds, up to a term that all classes share."""
        c, folds, k, m = self.learned.shape
        if family.shared_tally == "cells":
            rule = family.cuts, family.smooth
            if rule not in self.cut:
                self.cut[rule] = family.intervals(self.learned.reshape(c * folds, k, m))
            return family.shares(self.cut[rule]).reshape(c, folds, m, k)
        n = self.learned.sum(axis=3).reshape(c * folds, k)
        p = family.estimate(self._tally(family.shared_tally))
        parts = family.parts(p, Reals(np.repeat(self.values.T, folds, axis=1)))  # (m, k, c · folds)
        parts = Limits.of(n.T, np.full(len(n), m)).apply(parts)
        return parts.transpose(2, 0, 1).reshape(c, folds, m, k)

    def _tally(self, name: str) -> Any:
        """The tally of the other folds, with one column for each fold of each column."""
        c, folds, k, _ = self.learned.shape
        n = self.learned.sum(axis=3)  # (c, folds, k)
        values = np.log(self.values) if name == "log_moments" else self.values
        mean = (self.learned @ values[:, None, :, None])[..., 0] / np.maximum(n, 1e-300)
        n, flat = n.reshape(c * folds, k).T, mean.reshape(c * folds, k).T
        if name == "whole":
            return RoundedSums(n, flat * n)
        m2 = np.einsum("cfkm,cfkm->cfk", self.learned, (values[:, None, None, :] - mean[..., None]) ** 2)
        return RoundedMoments(n, flat, m2.reshape(c * folds, k).T)


def run_starts(count: np.ndarray, most: int) -> np.ndarray:
    """First index of each run of values of about equal weight, from their counts: every value, or at most `most`
    runs."""
    some = np.flatnonzero(count)
    if len(some) <= most:
        return some if len(some) else np.zeros(1, dtype=np.int64)
    below = np.cumsum(count[some])
    return some[np.unique(np.searchsorted(below, below[-1] * np.arange(most) / most, side="right"))]


def deviation(tallies: dict[str, Any], d: int) -> np.ndarray:
    """Standard deviation of each column, (d,); 0 where it is unknown or within rounding error."""
    if "moments" not in tallies:
        return np.zeros(d)
    whole = tallies["moments"].collapse()
    found = np.sqrt(whole.m2[0] / np.maximum(column(whole.n)[0], 1e-300))
    return np.where(found > 4 * np.finfo(float).eps * np.abs(whole.mean[0]), found, 0.0)


def _log_posteriors(joint: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Log posteriors (families, c, folds · m · k) from log joints (families, c, folds, m, k), which are overwritten; 0
    where no row has the value."""
    logs = ops.posterior(joint.reshape(-1, joint.shape[-1]), logs=True).reshape(*joint.shape[:2], -1)
    return np.where(weight > 0, logs, 0.0)


def _total(logs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sums over the rows, (families, c)."""
    return np.einsum("fcr,cr->fc", logs, weight)


def _finite(sums: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(sums), sums, -np.inf)


def sample_of_counts(keys: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(keys (1, m'), counts (1, k, m')) of about ENOUGH rows of a column of more rows, from its keys (1, m) and counts
    (1, k, m). The sample depends only on the values and their counts."""
    _, k, m = table.shape
    some = np.flatnonzero(table)
    y, at = np.divmod(some, m)
    count = table.ravel()[some]
    sampled = np.floor(count * (ENOUGH / count.sum()) + _uniform(_names(keys[0, at], y, k), 0))
    taken = np.flatnonzero(sampled)
    if len(taken) == 0:  # the sum of the counts is infinite
        return keys[:, :1], np.zeros((1, k, 1))
    values, place = np.unique(at[taken], return_inverse=True)
    out = np.bincount(y[taken] * len(values) + place, sampled[taken], minlength=k * len(values))
    return keys[:, values], out.reshape(1, k, len(values))


def split_into_folds(keys: np.ndarray, table: np.ndarray, seed: int) -> np.ndarray:
    """Split counts (c, k, m) of the values of columns into folds (c, FOLDS, k, m), class by class, in an order that
    depends only on the values and their counts."""
    c, k, m = table.shape
    some = np.flatnonzero(table)
    y, at = np.divmod(some, m)  # y: the class, of its column
    count = table.ravel()[some]
    whole = np.floor(count + 1e-9)
    rest = np.where(count - whole > 1e-9, count - whole, 0.0)  # the fractional part of a weight is one more row
    times = (whole + (rest > 0)).astype(np.int64)
    of = np.repeat(np.arange(len(times)), times)  # the cell of each row
    row_y, row_at = y[of], at[of]
    number = np.arange(len(of)) - (np.cumsum(times) - times)[of]
    weight = np.where(number < whole[of], 1.0, rest[of])
    names = _names(keys[y // k, at], y % k, k)
    mixed = _mixed(names[of] ^ (number.astype(np.uint64) << np.uint64(40)), seed + 101)
    order = np.argsort((row_y.astype(np.uint64) << np.uint64(48)) | (mixed >> np.uint64(16)))
    rows = np.bincount(row_y, minlength=c * k)
    fold = np.empty(len(order), dtype=np.int64)
    first = np.tile(np.arange(k), c) - (np.cumsum(rows) - rows)
    fold[order] = (np.arange(len(order)) + np.repeat(first, rows)) % FOLDS
    place = ((row_y // k * FOLDS + fold) * k + row_y % k) * m + row_at
    return np.bincount(place, weight, minlength=c * FOLDS * k * m).reshape(c, FOLDS, k, m)


def _names(keys: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """A number for each value and class."""
    return keys.astype(np.uint64) * np.uint64(k) + y.astype(np.uint64)


def _uniform(names: np.ndarray, seed: int) -> np.ndarray:
    """A pseudo-random number in [0, 1) for each key."""
    return (_mixed(names, seed) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mixed(names: np.ndarray, seed: int) -> np.ndarray:
    """64 pseudo-random bits for each key, by the mixing steps of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = names + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
