"""For each column the one of several families that says most of the class of rows it has not seen.

Tally: what the candidates need of the same cells (see `cell_ops`), and how many cells each support does not have. The
choice is part of the estimate, so it is made from the rows that the tally stands for: updated, merged and forgotten
like any other.

A column is judged by its `GridCounts`: all its values and how often each class has them. They are dealt into five
folds, in an order that only depends on the counts; every candidate learns four folds and predicts the classes of the
fifth from this column alone. Cuts and smoothing are chosen in the four folds too. Candidates whose log loss is clearly
more than the least (by CLEAR standard errors) are out. Naive Bayes counts what several columns say alike several times,
so the others are compared as if this column's evidence counted 1 + ½ log2 d times among d columns: being seldom wrong
is then worth more than being strongly right. A histogram of one interval is no choice; a column of one value has
nothing to choose. Where the grid is too coarse to tell a column's rows apart (large numbers that hardly differ), the
first candidate has it.

What one cell of a density may say is limited: log p(x | a) − log p(x | b) ≤ log(2 n_b + distinct values), n_b being the
rows of class b. That is what a level never seen in n_b rows says with half a pseudo-count; the tails of a density have
seen no more than that.

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
DEALS = 2  # times that few rows are dealt,
FEW = 256  # up to so many
ENOUGH = 4096  # rows to judge a column by,
RUNS = 256  # and values
COARSE = 0.5  # a grid whose cells are wider than this share of the deviation cannot judge
MOST_VALUES = 20  # distinct numbers that may be levels
CLEAR = 4.0  # standard errors of all rows that are no accident,
SEEN = 2.0  # and of the rows that were dealt
EACH = 5  # rows that a level of numbers needs,
EXACT = 1 << (BITS + 1)  # whole numbers below that have a cell of their own
SHARED = 2  # and an interval that shares them with its neighbours


@dataclass(frozen=True)
class Params:
    families: tuple[Any, ...]  # of each column
    product: Product
    inner: tuple
    limits: tuple[Limits | None, ...]  # of each factor
    cells: GridCounts

    def limits_left(self, j: int, n: np.ndarray, x: Reals, y: np.ndarray, w: np.ndarray | None) -> Limits:
        """Limits (rows, k) of column j, whose classes have n rows, without each row of x."""
        values = np.asarray(x.values, dtype=np.float64)[:, 0]
        weight = np.where(np.isnan(values), 0.0, 1.0 if w is None else w)
        keys, table = self.cells.keys[j], self.cells.columns()[j].sum(axis=0)
        lone = table[places(keys, values)] <= weight * (1 + 1e-9) if len(keys) else np.zeros(x.n, dtype=bool)
        rest = np.repeat(n[None, :], x.n, axis=0)
        rest[np.arange(x.n), y] -= weight
        rest[rest < 1e-12] = 0.0
        return Limits.of(rest, (len(keys) - (lone & (weight > 0)))[:, None])

    @cached_property
    def crossed(self) -> dict[int, Crossed]:
        """What rows left out need of the columns whose cuts were chosen on few rows, by class."""
        by_class = [
            j for j, family in enumerate(self.families) if family.shared_tally == "cells" and family.cuts == "mdl"
        ]
        each = {j: self.cells.part([j]) for j in by_class}
        few = {j: cells for j, cells in each.items() if cells.table.sum() <= ENOUGH and len(cells.keys[0]) > 1}
        return {j: Crossed.of(self.families[j], cells) for j, cells in few.items()}


@dataclass(frozen=True)
class BestOf(Family):
    candidates: tuple[Any, ...]  # families that say by `shared_tally` which tally of the same cells is theirs
    columns: int = 1  # of the table, whose evidence is added up
    settled: tuple[int, ...] | None = None  # which candidate each column has, where that is known
    block, support = "dense", "real"
    chooses = True  # parameters are dear: whoever has them hands them to `leave_one_out`

    def tally(self, x: Reals, y, w, k: int) -> Bundle:
        found = cell_ops.shared(x, y, w, k)
        wrong = [found.wrong[support] for support in self._supports()]
        total = np.hstack(wrong) if wrong else np.zeros((k, 0))
        return Bundle((Sums(found.cells.n, total), *(getattr(found, name) for name in self._shared())))

    def _supports(self) -> list[str]:
        """The supports that not every number is in."""
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
        """The same with the families that these parameters have, for whichever rows."""
        return replace(self, settled=tuple(self.candidates.index(family) for family in p.families))

    def _choose(self, fit: list[int], cells: GridCounts, moments: Moments | None) -> int:
        """Which of the candidates `fit` has the column."""
        intervals = [i for i in fit if self.candidates[i].shared_tally == "cells"]
        spread = deviation(moments)
        if len(cells.keys[0]) <= 1:
            return intervals[0] if intervals and not spread else fit[0]
        rows = Rows.of(cells)
        if len(fit) == 1 or not rows.tells_apart(spread):
            return fit[0]
        fit = [i for i in fit if self._able(self.candidates[i], cells)]
        ranked = rows.ranked([self.candidates[i] for i in fit], 1.0 + 0.5 * np.log2(max(self.columns, 1)))
        return next((fit[at] for at in ranked if self._tells(self.candidates[fit[at]], cells)), fit[0])

    def _able(self, family: Any, cells: GridCounts) -> bool:
        """Whether there are rows enough for a family of levels or intervals; two values may always be levels."""
        if family.shared_tally != "cells" or family.cuts == "mdl":
            return True
        n = float(cells.table.sum())
        if family.cuts == "values":
            return len(cells.keys[0]) <= max(2.0, min(n / EACH, MOST_VALUES))
        return family.cuts <= n / SHARED

    def _tells(self, family: Any, cells: GridCounts) -> bool:
        """Whether it is no histogram of one interval."""
        return family.shared_tally != "cells" or len(family.places(cells.table)) > 0

    def chosen(self, p: Params, t: Bundle) -> Bundle:
        """The tallies of the chosen families, each of its own columns."""
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

    def leave_one_out(self, t: Bundle, x: Reals, y, w, p: Params | None = None) -> np.ndarray:
        """The choice of families stays; cuts are those of the folds that the row is not in."""
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
                elif place in p.crossed:
                    out += p.crossed[place].leave_one_out(f, one, y, w)
                else:
                    out += f.leave_one_out(part.part([j]), one, y, w, params.part([j]))
        return out

    def evidence(self, t: Bundle) -> np.ndarray:
        raise AttributeError(
            f"densities that the rows chose have no evidence in closed form ({len(self._tallies(t)['cells'].keys)} of "
            f"{self.columns} columns)\n\nhint: families='student' or 'categorical' has one"
        )

    def evidence_by_column(self, t: Bundle, p: Params) -> np.ndarray:
        return p.product.evidence_by_column(self.chosen(p, t), p.inner)

    def pooled(self, t: Bundle, p: Params) -> Params:
        """The families that were chosen by class; there is nothing to limit between classes."""
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
        """As the chosen families have it, but not beyond the cells."""
        own = p.product.grid(p.inner, k)
        return [_values_within(values, keys) for values, keys in zip(own, p.cells.keys, strict=True)]

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.empty((len(y), p.product.d))
        for drawn, at in zip(p.product.sample(p.inner, y, rng), p.product.columns, strict=True):
            out[:, list(at)] = drawn
        return out


def _values_within(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """What a density ranges over, as far as there are cells; the cells themselves where they are few whole numbers."""
    if len(keys) == 0:  # nothing but missing cells
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
    """Some columns; one at a time is several times faster than all by a list of their numbers."""
    out = np.empty((len(values), len(at)), dtype=values.dtype)
    for j, place in enumerate(at):
        out[:, j] = values[:, place]
    return out


def places(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where the cells of numbers stand among known ones; anywhere for a missing one."""
    return np.minimum(np.searchsorted(keys, cell_of(np.nan_to_num(values))), len(keys) - 1)


# limits


def _rows_of(t: Any, columns: list[int]) -> np.ndarray:
    """How many rows of each class have these columns, (k, columns)."""
    return np.broadcast_to(column(t.part(columns).n), (t.k, len(columns)))


@dataclass(frozen=True)
class Limits:
    """What a cell may say for and against each class, (k, columns), or (rows, k) of one column."""

    most: np.ndarray  # against it, in nats
    seen: np.ndarray  # whether the class has any cell of the column

    @classmethod
    def of(cls, n: np.ndarray, distinct: np.ndarray) -> Limits:
        """Of classes with n rows, in columns of so many distinct values."""
        return cls(np.log(np.maximum(2.0 * n + distinct, 1.0)), np.broadcast_to(n, np.shape(2.0 * n + distinct)) > 0)

    def apply(self, parts: np.ndarray) -> np.ndarray:
        """Log densities (n, k, columns), or (n, k): none is further below the greatest of any class than its limit; a
        class without cells, whose density is that of all rows, is not above it."""
        every = bool(self.seen.all())
        among = parts if every else np.where(self.seen, parts, -np.inf)
        top = reduce(np.maximum, np.moveaxis(among, 1, 0))[:, None]  # along a short axis, `max` is slow
        out = np.maximum(parts, top - self.most)
        return out if every else np.where(self.seen | ~np.isfinite(top), out, np.minimum(out, top))


def _limited_sum(family: Any, p: Any, x: Reals, limits: Limits) -> np.ndarray:
    out = np.empty((x.n, len(limits.most)))
    for rows, cells in blocks(x):
        parts = limits.apply(family.parts(p, Reals(cells)))
        out[rows] = parts[:, :, 0] if parts.shape[2] == 1 else parts.sum(axis=2)
    return out


@dataclass(frozen=True)
class Crossed:
    """A histogram of one column, cut five times: each time without the rows of one fold, whose cells it then scores."""

    keys: np.ndarray  # (m,)
    share: np.ndarray  # (folds, k, m): which part of a cell's rows is in each fold
    params: tuple  # of each fold: its cuts, all rows

    @classmethod
    def of(cls, family: Any, cells: GridCounts) -> Crossed:
        rows = Rows.of(cells, deals=1, most=len(cells.keys[0]))
        total = rows.held.sum(axis=0)
        share = np.divide(rows.held, total, out=np.full(rows.held.shape, 1.0 / FOLDS), where=total > 0)
        params = []
        for learned in rows.learned:
            at = family.places(learned)
            params.append(replace(family, cuts=tuple(at)).estimate(cells))
        return cls(rows.keys, share, tuple(params))

    def leave_one_out(self, family: Any, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        at = places(self.keys, np.asarray(x.values, dtype=np.float64)[:, 0])
        out = np.zeros((x.n, self.share.shape[1]))
        for p, share in zip(self.params, self.share, strict=True):
            out += share[y, at][:, None] * family.leave_one_out(None, x, y, w, p=p)
        return out


# judging


@dataclass(frozen=True)
class Rows:
    """A column's values, and how many rows of each class have them, dealt into folds."""

    keys: np.ndarray  # (m,)
    values: np.ndarray  # (m,)
    width: np.ndarray  # (m,) of the cells that they stand for
    held: np.ndarray  # (folds, k, m), weight
    learned: np.ndarray  # (folds, k, m), of the other folds
    n: float  # rows, of which some were dealt
    cut: dict = field(default_factory=dict)  # intervals of the folds, by the rule of their cuts

    @classmethod
    def of(cls, cells: GridCounts, deals: int | None = None, most: int = RUNS) -> Rows:
        keys = cells.keys[0]
        table = np.maximum(cells.table, 0.0)
        table = table[table.any(axis=1)]  # a class without rows has no say
        low, high = cell_borders(keys)
        near = np.where(low < 0, high, low)  # the border next to 0, where a whole number stands
        values = np.where(np.round(near) == near, near, (low + high) / 2)
        deals = (DEALS if table.sum() <= FEW else 1) if deals is None else deals
        held = np.concatenate([dealt(keys, table, seed) for seed in range(deals)])
        first = runs(held.sum(axis=(0, 1)), most)  # neighbouring values of many are taken together
        if len(first) < len(keys):
            count = held.sum(axis=(0, 1))
            weight = np.maximum(np.add.reduceat(count, first), 1e-300)
            values = np.add.reduceat(values * count, first) / weight
            held = np.add.reduceat(held, first, axis=2)
        whole = held.reshape(deals, FOLDS, *held.shape[1:]).sum(axis=1, keepdims=True)
        learned = (whole - held.reshape(deals, FOLDS, *held.shape[1:])).reshape(held.shape)
        return cls(keys[first], values, (high - low)[first], held, learned, float(table.sum()))

    def tells_apart(self, spread: float) -> bool:
        """Whether the cells are narrow compared with the standard deviation of the column."""
        return spread == 0 or float(np.average(self.width, weights=self.held.sum(axis=(0, 1)))) <= COARSE * spread

    def ranked(self, families: list[Any], times: float) -> list[int]:
        """First the families whose held-out log loss is not clearly more than the least, in the order of their log loss
        where the evidence counts several times."""
        with np.errstate(all="ignore"):
            parts = np.stack([self._held_out(family) for family in families])  # (families, folds, m, k)
            prior = np.log(self.learned.sum(axis=2) + 0.5)[:, None, :]
            weight = self.held.transpose(0, 2, 1).ravel()
            asked = np.flatnonzero(weight)
            weight = weight[asked]
            logs = _log_posteriors(parts + prior)[:, asked]  # of the classes that rows have
            once = _known(logs @ weight)
            lead = logs[np.argmax(once)] - logs
            clear = self._clearly_less(lead @ weight, (lead * lead) @ weight, float(weight.sum()))
            often = np.full(len(parts), -np.inf)
            often[~clear] = _known(_log_posteriors(times * parts[~clear] + prior)[:, asked] @ weight)
        return np.lexsort((-once, -often, clear)).tolist()

    def _clearly_less(self, total: np.ndarray, square: np.ndarray, n: float) -> np.ndarray:
        """Whether differences of log probabilities, with these sums and sums of squares over the rows that were dealt,
        are no accident of the rows."""
        deals = len(self.held) / FOLDS
        total, square, n = total / deals, square / deals, n / deals
        errors = max(SEEN, CLEAR * np.sqrt(n / self.n))
        return ~(total <= errors * np.sqrt(np.maximum(square - total * total / n, 0.0)))

    def _held_out(self, family: Any) -> np.ndarray:
        """log p(value | class) (folds, m, k) by the other folds, up to what is the same for all classes."""
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
        """What the folds have learned of a density, each as a column."""
        n = self.learned.sum(axis=2).T  # (k, folds)
        values = np.log(self.values) if name == "log_moments" else self.values
        mean = (self.learned @ values).T / np.maximum(n, 1e-300)
        if name == "whole":
            return Sums(n, mean * n)
        m2 = np.einsum("fkm,fkm->kf", self.learned, (values - mean.T[:, :, None]) ** 2)
        return Moments(n, mean, m2)


def runs(count: np.ndarray, most: int) -> np.ndarray:
    """Where runs of like weight begin among values that are held so often: each value, or `most` of more."""
    some = np.flatnonzero(count)
    if len(some) <= most:
        return some if len(some) else np.zeros(1, dtype=np.int64)
    below = np.cumsum(count[some])
    return some[np.unique(np.searchsorted(below, below[-1] * np.arange(most) / most, side="right"))]


def deviation(moments: Moments | None) -> float:
    """The standard deviation of a column; 0 where it is unknown, or but rounding."""
    if moments is None:
        return 0.0
    whole = moments.collapse()
    found = float(np.sqrt(whole.m2[0, 0] / max(float(np.ravel(whole.n)[0]), 1e-300)))
    return found if found > 4 * np.finfo(float).eps * abs(float(whole.mean[0, 0])) else 0.0


def _log_posteriors(joint: np.ndarray) -> np.ndarray:
    """From log joints (families, folds, m, k), in place; (families, folds · m · k)."""
    return ops.posterior(joint.reshape(-1, joint.shape[-1]), logs=True).reshape(len(joint), -1)


def _known(sums: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(sums), sums, -np.inf)


def dealt(keys: np.ndarray, table: np.ndarray, seed: int) -> np.ndarray:
    """Counts (k, m) of values in folds (FOLDS, k, m): each class's rows go round in an order that hangs on the values
    and their number alone. Of many rows, ENOUGH are dealt."""
    k, m = table.shape
    names = (keys.astype(np.uint64) * np.uint64(k))[None, :] + np.arange(k, dtype=np.uint64)[:, None]
    share = ENOUGH / max(float(table.sum()), 1.0)
    if share < 1.0:
        table = np.floor(table * share + _uniform(names, seed))
    whole = np.floor(table + 1e-9)
    rest = np.where(table - whole > 1e-9, table - whole, 0.0)  # of weights: a row by itself
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
    """A number in [0, 1) for each name."""
    return (_mixed(names, seed) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mixed(names: np.ndarray, seed: int) -> np.ndarray:
    """64 bits for each name, by the mixing steps of SplitMix64 (Steele, Lea and Flood 2014)."""
    z = names + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
