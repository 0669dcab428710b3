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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from deciban import ops
from deciban.composites.product import Product
from deciban.data.blocks import Mixed, Reals
from deciban.estimation import ranges
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import blocks
from deciban.ops import cells as cell_ops
from deciban.tallies import Bundle, GridCounts, Moments, Sums
from deciban.tallies.basic import column
from deciban.tallies.grid import BITS, cell_borders, cell_of

FOLDS = 5
REPEATS = 2  # repetitions of the split into folds, for few rows
FEW = 256  # rows up to which the split is repeated
ENOUGH = 4096  # rows of a column that are split into folds, at most
RUNS = 256  # distinct values of a column that are compared, at most
COARSE = 0.5  # a grid is too coarse if its cells are wider than this share of the standard deviation
MOST_VALUES = 20  # distinct numbers that may be levels
CLEAR = 4.0  # standard errors of a significant difference, if all rows were compared
SEEN = 2.0  # least standard errors of a significant difference among the compared rows
EACH = 5  # rows per level that treating numbers as levels needs
EXACT = 1 << (BITS + 1)  # whole numbers below this have a cell of their own
SHARED = 2  # rows per interval that a smoothed histogram needs


@dataclass(frozen=True)
class Params:
    families: tuple[Any, ...]  # of each column
    product: Product
    inner: tuple
    limits: tuple[Limits | None, ...]  # of each factor
    cells: GridCounts

    def limits_left(self, j: int, n: np.ndarray, x: Reals, y: np.ndarray, w: np.ndarray | None) -> Limits:
        """Limits (rows, k) of column j, whose classes have n rows, with each row of x left out."""
        values = np.asarray(x.values, dtype=np.float64)[:, 0]
        weight = np.where(np.isnan(values), 0.0, 1.0 if w is None else w)
        keys, table = self.cells.keys[j], self.cells.columns()[j].sum(axis=0)
        lone = table[places(keys, values)] <= weight * (1 + 1e-9) if len(keys) else np.zeros(x.n, dtype=bool)
        rest = np.repeat(n[None, :], x.n, axis=0)
        rest[np.arange(x.n), y] -= weight
        rest[rest < 1e-12] = 0.0
        return Limits.of(rest, (len(keys) - (lone & (weight > 0)))[:, None])

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
class BestOf(Family):
    candidates: tuple[Any, ...]  # families; `shared_tally` names the tally that each uses
    columns: int = 1  # number of columns of the table
    settled: tuple[int, ...] | None = None  # index of the candidate of each column; None: chosen by the estimate
    block, support = "dense", "real"
    chooses = True  # the estimate is costly: callers pass it to `leave_one_out`

    def tally(self, x: Reals, y, w, k: int) -> Bundle:
        found = cell_ops.shared(x, y, w, k)
        wrong = [found.wrong[support] for support in self._supports()]
        total = np.hstack(wrong) if wrong else np.zeros((k, 0))
        return Bundle((Sums(found.cells.n, total), *(getattr(found, name) for name in self._shared())))

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
        bad = dict(zip(self._supports(), (t.parts[0].total > 0).any(axis=0).reshape(-1, d), strict=True))
        choice = np.zeros(d, dtype=np.int64) if self.settled is None else np.array(self.settled, dtype=np.int64)
        for j in range(d if self.settled is None else 0):
            fit = [i for i, f in enumerate(self.candidates) if f.support not in bad or not bad[f.support][j]]
            moments = tallies["moments"].part([j]) if "moments" in tallies else None
            choice[j] = self._choose(fit, cells.part([j]), moments)
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

    def _choose(self, fit: list[int], cells: GridCounts, moments: Moments | None) -> int:
        """Index of the candidate chosen for a column, among those whose support `fit`s."""
        intervals = [i for i in fit if self.candidates[i].shared_tally == "cells"]
        spread = deviation(moments)
        if len(cells.keys[0]) <= 1:
            return intervals[0] if intervals and not spread else fit[0]
        rows = FoldedColumn.of(cells)
        if len(fit) == 1 or not rows.resolves(spread):
            return fit[0]
        fit = [i for i in fit if self._has_enough_rows(self.candidates[i], cells)]
        ranked = rows.ranked([self.candidates[i] for i in fit], 1.0 + 0.5 * np.log2(max(self.columns, 1)))
        return next((fit[at] for at in ranked if self._has_intervals(self.candidates[fit[at]], cells)), fit[0])

    def _has_enough_rows(self, family: Any, cells: GridCounts) -> bool:
        """Whether there are enough rows for a family of levels or intervals; two values may always be levels."""
        if family.shared_tally != "cells" or family.cuts == "mdl":
            return True
        n = float(cells.table.sum())
        if family.cuts == "values":
            return len(cells.keys[0]) <= max(2.0, min(n / EACH, MOST_VALUES))
        return family.cuts <= n / SHARED

    def _has_intervals(self, family: Any, cells: GridCounts) -> bool:
        """Whether the family is not a histogram of one interval."""
        return family.shared_tally != "cells" or len(family.places(cells.table)) > 0

    def chosen(self, p: Params, t: Bundle) -> Bundle:
        """The tally of each chosen family, of the columns that it was chosen for."""
        tallies = self._tallies(t)
        both = zip(p.product.factors, p.product.columns, strict=True)
        return Bundle(tuple(tallies[f.shared_tally].part(list(at)) for f, at in both))

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
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
        chosen = zip(self._each(p, x), self.chosen(p, t).parts, p.product.columns, strict=True)
        for (f, params, cells, limits), part, at in chosen:
            for j, place in enumerate(at):
                one = Reals(np.ascontiguousarray(np.asarray(cells.values)[:, [j]]))
                if limits is not None:
                    left = f.leave_one_out(part.part([j]), one, y, w)
                    n = _rows_of(part, [j])[:, 0]
                    out += p.limits_left(place, n, one, y, w).apply(left)
                elif place in p.cross_fitted:
                    out += p.cross_fitted[place].leave_one_out(f, one, y, w)
                else:
                    out += f.leave_one_out(part.part([j]), one, y, w, params.part([j]))
        return out

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

    def apply(self, parts: np.ndarray) -> np.ndarray:
        """Limited log densities (n, k, columns), or (n, k): at most the limit below the largest of any class. A class
        without values, whose density is that of all rows, is not above the largest."""
        every = bool(self.seen.all())
        among = parts if every else np.where(self.seen, parts, -np.inf)
        top = reduce(np.maximum, np.moveaxis(among, 1, 0))[:, None]  # faster than `max` along a short axis
        out = np.maximum(parts, top - self.most)
        return out if every else np.where(self.seen | ~np.isfinite(top), out, np.minimum(out, top))


def _limited_sum(family: Any, p: Any, x: Reals, limits: Limits) -> np.ndarray:
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
        rows = FoldedColumn.of(cells, repeats=1, most=len(cells.keys[0]))
        total = rows.held.sum(axis=0)
        share = np.divide(rows.held, total, out=np.full(rows.held.shape, 1.0 / FOLDS), where=total > 0)
        params = []
        for learned in rows.learned:
            at = family.places(learned)
            params.append(replace(family, cuts=tuple(at)).estimate(cells))
        return cls(rows.keys, share, tuple(params))

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


@dataclass(frozen=True)
class FoldedColumn:
    """The values of a column, and how many rows of each class have them, by fold."""

    keys: np.ndarray  # (m,)
    values: np.ndarray  # (m,)
    width: np.ndarray  # (m,), of the grid cells of the values
    held: np.ndarray  # (folds, k, m), weight of the rows in the fold
    learned: np.ndarray  # (folds, k, m), weight of the rows in the other folds
    n: float  # all rows, of which a sample is in folds
    cut: dict = field(default_factory=dict)  # intervals of the folds, by how they are cut

    @classmethod
    def of(cls, cells: GridCounts, repeats: int | None = None, most: int = RUNS) -> FoldedColumn:
        keys = cells.keys[0]
        table = np.maximum(cells.table, 0.0)
        table = table[table.any(axis=1)]  # without classes that have no rows
        low, high = cell_borders(keys)
        near = np.where(low < 0, high, low)  # the border nearer to 0: whole numbers are there
        values = np.where(np.round(near) == near, near, (low + high) / 2)
        repeats = (REPEATS if table.sum() <= FEW else 1) if repeats is None else repeats
        held = np.concatenate([split_into_folds(keys, table, seed) for seed in range(repeats)])
        first = run_starts(held.sum(axis=(0, 1)), most)  # neighbouring values are merged if there are many
        if len(first) < len(keys):
            count = held.sum(axis=(0, 1))
            weight = np.maximum(np.add.reduceat(count, first), 1e-300)
            values = np.add.reduceat(values * count, first) / weight
            held = np.add.reduceat(held, first, axis=2)
        whole = held.reshape(repeats, FOLDS, *held.shape[1:]).sum(axis=1, keepdims=True)
        learned = (whole - held.reshape(repeats, FOLDS, *held.shape[1:])).reshape(held.shape)
        return cls(keys[first], values, (high - low)[first], held, learned, float(table.sum()))

    def resolves(self, spread: float) -> bool:
        """Whether the cells are narrow compared with the standard deviation of the column."""
        weight = self.held.sum(axis=(0, 1))  # 0 where rows have so little weight that no fold counts them
        return spread == 0 or bool(weight.any() and np.average(self.width, weights=weight) <= COARSE * spread)

    def ranked(self, families: list[Any], times: float) -> list[int]:
        """Indices of the families, best first: those whose held-out log loss is not significantly above the smallest,
        in the order of their log loss with the evidence multiplied by `times`; then the others."""
        with np.errstate(all="ignore"):
            parts = np.stack([self._held_out(family) for family in families])  # (families, folds, m, k)
            prior = np.log(self.learned.sum(axis=2) + 0.5)[:, None, :]
            weight = self.held.transpose(0, 2, 1).ravel()
            present = np.flatnonzero(weight)
            weight = weight[present]
            logs = _log_posteriors(parts + prior)[:, present]  # of the true classes
            once = _finite(logs @ weight)
            lead = logs[np.argmax(once)] - logs
            clear = self._clearly_less(lead @ weight, (lead * lead) @ weight, float(weight.sum()))
            often = np.full(len(parts), -np.inf)
            often[~clear] = _finite(_log_posteriors(times * parts[~clear] + prior)[:, present] @ weight)
        return np.lexsort((-once, -often, clear)).tolist()

    def _clearly_less(self, total: np.ndarray, square: np.ndarray, n: float) -> np.ndarray:
        """Whether differences of log probabilities, with these sums and sums of squares over the compared rows, are
        significant."""
        repeats = len(self.held) / FOLDS
        total, square, n = total / repeats, square / repeats, n / repeats
        errors = max(SEEN, CLEAR * np.sqrt(n / self.n))
        return ~(total <= errors * np.sqrt(np.maximum(square - total * total / n, 0.0)))

    def _held_out(self, family: Any) -> np.ndarray:
        """log p(value | class) (folds, m, k) learned from the other folds, up to a term that all classes share."""
        if family.shared_tally == "cells":
            rule = family.cuts, family.smooth
            if rule not in self.cut:
                self.cut[rule] = family.intervals(self.learned)
            return family.shares(self.cut[rule])
        n = self.learned.sum(axis=2)  # (folds, k)
        p = family.estimate(self._tally(family.shared_tally))
        parts = family.parts(p, Reals(np.repeat(self.values[:, None], len(n), axis=1)))  # (m, k, folds)
        return Limits.of(n.T, np.full(len(n), len(self.values))).apply(parts).transpose(2, 0, 1)

    def _tally(self, name: str) -> Any:
        """The tally of the other folds, with one column for each fold."""
        n = self.learned.sum(axis=2).T  # (k, folds)
        values = np.log(self.values) if name == "log_moments" else self.values
        mean = (self.learned @ values).T / np.maximum(n, 1e-300)
        if name == "whole":
            return Sums(n, mean * n)
        m2 = np.einsum("fkm,fkm->kf", self.learned, (values - mean.T[:, :, None]) ** 2)
        return Moments(n, mean, m2)


def run_starts(count: np.ndarray, most: int) -> np.ndarray:
    """First index of each run of values of about equal weight, from their counts: every value, or at most `most`
    runs."""
    some = np.flatnonzero(count)
    if len(some) <= most:
        return some if len(some) else np.zeros(1, dtype=np.int64)
    below = np.cumsum(count[some])
    return some[np.unique(np.searchsorted(below, below[-1] * np.arange(most) / most, side="right"))]


def deviation(moments: Moments | None) -> float:
    """Standard deviation of a column; 0 where it is unknown or within rounding error."""
    if moments is None:
        return 0.0
    whole = moments.collapse()
    found = float(np.sqrt(whole.m2[0, 0] / max(float(np.ravel(whole.n)[0]), 1e-300)))
    return found if found > 4 * np.finfo(float).eps * abs(float(whole.mean[0, 0])) else 0.0


def _log_posteriors(joint: np.ndarray) -> np.ndarray:
    """Log posteriors (families, folds · m · k) from log joints (families, folds, m, k), which are overwritten."""
    return ops.posterior(joint.reshape(-1, joint.shape[-1]), logs=True).reshape(len(joint), -1)


def _finite(sums: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(sums), sums, -np.inf)


def split_into_folds(keys: np.ndarray, table: np.ndarray, seed: int) -> np.ndarray:
    """Split counts (k, m) of values into folds (FOLDS, k, m), class by class, in an order that depends only on the
    values and their counts. Of more than ENOUGH rows, a sample of about ENOUGH is used."""
    k, m = table.shape
    names = (keys.astype(np.uint64) * np.uint64(k))[None, :] + np.arange(k, dtype=np.uint64)[:, None]
    share = ENOUGH / max(float(table.sum()), 1.0)
    if share < 1.0:
        table = np.floor(table * share + _uniform(names, seed))
    whole = np.floor(table + 1e-9)
    rest = np.where(table - whole > 1e-9, table - whole, 0.0)  # the fractional part of a weight is one more row
    times = (whole + (rest > 0)).astype(np.int64)
    y, at = np.nonzero(times)
    times = times[y, at]
    row_y, row_at = np.repeat(y, times), np.repeat(at, times)
    number = np.arange(len(row_y)) - np.repeat(np.cumsum(times) - times, times)
    weight = np.where(number < whole[row_y, row_at], 1.0, rest[row_y, row_at])
    mixed = _mixed(names[row_y, row_at] ^ (number.astype(np.uint64) << np.uint64(40)), seed + 101)
    order = np.argsort((row_y.astype(np.uint64) << np.uint64(48)) | (mixed >> np.uint64(16)))
    rows = np.bincount(row_y, minlength=k)
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = (np.arange(len(order)) + np.repeat(np.arange(k) - (np.cumsum(rows) - rows), rows)) % FOLDS
    return np.bincount((fold * k + row_y) * m + row_at, weight, minlength=FOLDS * k * m).reshape(FOLDS, k, m)


def _uniform(names: np.ndarray, seed: int) -> np.ndarray:
    """A pseudo-random number in [0, 1) for each key."""
    return (_mixed(names, seed) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mixed(names: np.ndarray, seed: int) -> np.ndarray:
    """64 pseudo-random bits for each key, by the mixing steps of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = names + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
