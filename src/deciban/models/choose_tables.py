"""The choice of joint tables and of all weights (`interactions="auto"`), from held-out rows.

The rows of a sample are in ten folds; the evidence of a row comes from all rows but those of the sample that are in its
fold. Copies of a row are in several folds: if all were held out together, the rest would lack exactly its cells, and
rules such as XOR, of few distinct rows, could not be learned. (Evidence that leaves out one row alone would point away
from its class in sparse cells, and a second stage learns to invert that.)

Sets are chosen in rounds. A candidate's gain is that of the first Newton step of its weight, slope² / (curvature + 1).
Sets are taken whose gain is above the price `PRICE` + 2 log(candidates), at most `ROUND` of them. A set must gain
`PRICE` more than a part of it that pays, and no set of a round contains another. Then all weights are fitted
(`models.feature_weights`), and sets whose weight is not positive are dropped. Candidates are finer cells of numbers,
pairs, sets of three and four columns as far as there are no more than `SETS` of each, and every chosen set with one
more column. A set of three or more has at most n / 2 cells. Few rows do not pay the price of any set.

The first cells of a column of numbers are of equal mass, or these with cells of their own for values of much weight, or
cuts that separate the classes: whichever has the least held-out loss.

>>> import numpy as np
>>> from deciban import MixedNB
>>> X = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(float)
>>> model = MixedNB(interactions="auto").fit(X, X[:, 0] != X[:, 2])
>>> [columns for columns, _ in model.interactions_]
[(0, 2)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from math import comb, log, prod
from operator import add
from typing import Any

import numpy as np

from deciban import decision, ops
from deciban.data.blocks import Codes, Mixed, Reals, Table
from deciban.engines import threads
from deciban.estimation import discretise
from deciban.models import feature_weights as weighing
from deciban.models.feature_evidence import DenseEvidence
from deciban.models.feature_weights import FeatureWeights, Objective, WeightedRows
from deciban.models.joint_tables import (
    CELLS,
    MOST,
    CellCode,
    JointTables,
    TableReader,
    TableSets,
    _column,
    alone_of,
    cell_numbers,
    level_shares,
    linear_evidence,
    linear_terms,
)
from deciban.models.learn_feature_weights import distinct_rows, warn_unconverged
from deciban.models.model import State
from deciban.rows.rows import Rows
from deciban.rows.sample import SelectedRows
from deciban.rows.schema import Schema
from deciban.tallies import Bundle

FOLDS = 10
DISTINCT = 10  # numbers of a column that are levels each
COARSE, FINE = 8, 24  # cells of equal mass
PRICE, ROUND, ROUNDS = 10.0, 20, 8  # nats; sets in a round; rounds
ORDER, PAIRED, SETS = 4, 80, 1500  # columns of a set; codes among which all pairs are tried; sets of three, and of four
BY_CLASS = 400  # pairs of a class and a table that have their own weights, at most
BATCH = 64  # sets that a thread tries at a time
LOOKED, STEPS = 40, 6  # sets whose gain is computed in a round, and those that they contain; steps of their weights
LEAST_WEIGHT = 1e-3


def with_tables(state: State, rows: SelectedRows) -> State:
    """The state with joint tables: with the settled ones, or those that the rows choose."""
    assert state.sample is not None
    prior, kept, chosen = decision.log_prior(state.n), KeptRows.of(rows), state.known.tables
    weights = None
    if chosen is not None:
        tally = state.tally.parts[2]
    else:
        chosen, weights = choose(kept, prior)
        tally = chosen.tally(state.sample.all_rows())
    if weights is None or state.sample.table.n > rows.table.n:
        weights = kept.held_out(chosen, tally).weights(chosen, prior)
    return state.adjusted(tables=JointTables(chosen, tally, warn_unconverged(weights)))


def settled(state: State, chosen: TableSets, rows: Rows | None = None) -> State:
    """The state with these tables, counted in the rows, or in the sample that holds all of them."""
    if state.known.tables is not None:
        return state
    assert state.sample is not None
    size = chosen.size * len(state.classes)
    tally = chosen.tally(state.sample.all_rows()) if rows is None else rows.total(chosen.tally, size)
    return replace(state.with_known(tables=chosen), tally=Bundle((*state.tally.parts[:2], tally)))


def chosen_by(state: State) -> TableSets:
    """The tables that the sample of a state chooses, or that are settled."""
    if state.known.tables is not None:
        return state.known.tables
    assert state.sample is not None
    return choose(KeptRows.of(state.sample.selected(state.n)), decision.log_prior(state.n))[0]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of a sample in folds; a row of weight w is in up to w successive folds, in equal shares."""

    table: Table  # distinct rows, in the order of classes and contents
    row: np.ndarray  # (m,), of each share
    fold: np.ndarray  # (m,)
    y: np.ndarray  # (m,)
    w: np.ndarray  # (m,), in counts
    mass: np.ndarray  # (m,), in losses

    @classmethod
    def of(cls, rows: SelectedRows) -> KeptRows:
        table, _, factor = distinct_rows(rows)
        weight = table.weights()
        shares = np.clip(np.floor(weight), 1, FOLDS).astype(np.int64)
        row = np.repeat(np.arange(table.n), shares)
        fold, w = np.arange(len(row)) % FOLDS, (weight / shares)[row]
        return cls(table, row, fold.astype(np.int32), table.y[row], w, w * factor[row])

    @property
    def k(self) -> int:
        return self.table.k

    @property
    def schema(self) -> Schema:
        assert self.table.schema is not None
        return self.table.schema

    def cells(self, j: int) -> np.ndarray:
        """The cells of a column of the distinct rows."""
        assert isinstance(self.table.x, Mixed)
        b, c = TableReader.places_in(self.schema)[j]
        return _column(self.table.x.blocks[b], c)

    def held_out(self, chosen: TableSets, tally: Bundle | None = None, columns: Sequence[NumberColumn] = ()) -> HeldOut:
        """The rows read for these tables; with the tally of all rows, where these are more, or the columns of numbers
        whose cuts are found without each fold."""
        assert isinstance(self.table.x, Mixed)
        codes, z = TableReader(chosen, self.schema)(self.table.x)
        own = {one.column: one for one in columns}
        return HeldOut(self, chosen, np.asfortranarray(codes[self.row]), z[self.row], tally, own)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out evidence of rows in folds."""

    rows: KeptRows
    chosen: TableSets
    codes: np.ndarray  # (m, codes)
    z: np.ndarray  # (m, q)
    tally: Bundle | None = None  # of all rows; None: there are no others
    columns: Mapping[int, NumberColumn] = field(default_factory=dict)  # whose cuts are found without each fold

    @property
    def levels(self) -> np.ndarray:
        """The number of levels of each code."""
        return self.chosen.levels

    def counts_without(self, own: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """(counts (folds, k, cells) of a table by all rows but those of a fold, the cell of each row)"""
        rows, k = self.rows, self.rows.k
        cell, size = cell_numbers(self.codes, own, self.levels), int(np.prod(self.levels[list(own)]))
        here = cell >= 0
        at = (rows.fold[here].astype(np.int64) * k + rows.y[here]) * size + cell[here]
        n = np.bincount(at, rows.w[here], minlength=FOLDS * k * size).reshape(FOLDS, k, size)
        return np.maximum(self._all(own, n) - n, 0.0), cell

    def _all(self, own: Sequence[int], n: np.ndarray) -> np.ndarray:
        """Counts of all rows."""
        if self.tally is None:
            return n.sum(axis=0)
        t = self.chosen.tables.index(tuple(own))
        return self.tally.parts[0].total[:, self.chosen.offset[t] : self.chosen.offset[t + 1]]

    @cached_property
    def shares(self) -> list[np.ndarray]:
        """P(level | class) of each code without each fold, (folds, k, levels)."""
        return [level_shares(self.counts_without((j,))[0]) for j in range(len(self.levels))]

    @cached_property
    def theta(self) -> tuple[np.ndarray, np.ndarray]:
        """(where the levels of each code begin, their shares (folds, all levels, k)), as the kernel takes them."""
        offset = np.concatenate([[0], np.cumsum(self.levels)]).astype(np.int64)
        return offset, np.ascontiguousarray(np.concatenate(self.shares, axis=2).transpose(0, 2, 1))

    def evidence(self, own: Sequence[int]) -> np.ndarray:
        """What a set of codes says, (m, k)."""
        if len(own) == 1 and self.columns and self.chosen.cells[own[0]].supervised:
            return self._supervised(own[0])
        n, cell = self.counts_without(own)
        table = ops.spec.joint_evidence(n, alone_of(self.shares, own, self.levels), len(own), MOST)
        out = table[self.rows.fold, :, np.maximum(cell, 0)]
        out[cell < 0] = 0.0
        return out

    def _supervised(self, j: int) -> np.ndarray:
        """The evidence of cells that separate the classes, where cuts too are found without each fold: cuts that have
        seen a row make its evidence too strong, where rows are few."""
        rows, column = self.rows, self.columns[self.chosen.cells[j].column]
        cells = rows.cells(column.column)[rows.row]
        out = np.zeros((len(rows.y), rows.k))
        for f in range(FOLDS):
            code = column.code(column.separating[f])
            at = np.flatnonzero(rows.fold == f)
            cell, rest = code.of_numbers(cells), np.flatnonzero(rows.fold != f)
            n = np.bincount(rows.y[rest] * code.size + cell[rest], rows.w[rest], minlength=rows.k * code.size)
            table = ops.spec.joint_evidence(n, level_shares(n.reshape(rows.k, code.size)), 1, MOST)
            out[at] = table.T[cell[at]]
        return out

    @cached_property
    def linear(self) -> np.ndarray:
        """Evidence of numbers as they are, (m, k, q)."""
        out, rows = np.empty((len(self.z), self.rows.k, self.z.shape[1])), self.rows
        folds = [np.flatnonzero(rows.fold == f) for f in range(FOLDS)]
        each = [ops.moments(Reals(self.z[at]), rows.y[at], rows.w[at], rows.k) for at in folds]
        every = reduce(add, each) if self.tally is None else self.tally.parts[1]
        for at, own in zip(folds, each, strict=True):
            out[at] = linear_evidence(linear_terms(every - own), self.z[at])
        return out

    def terms(self, d: int, sets: Sequence[Sequence[int]]) -> np.ndarray:
        """All evidence, (m, k, d + q + sets)."""
        singles = [self.evidence((j,)) for j in range(d)]
        joint = [self.evidence(own) for own in sets]
        empty = np.zeros((len(self.codes), self.rows.k, 0))
        parts = [np.stack(each, axis=2) if each else empty for each in (singles, joint)]
        return np.concatenate([parts[0], self.linear, parts[1]], axis=2)

    def weights(self, chosen: TableSets, prior: np.ndarray) -> FeatureWeights:
        d = len(self.rows.schema.fields)
        return Fit.of(self.rows, self.terms(d, chosen.sets), d, prior).found


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted weights of evidence."""

    rows: KeptRows
    terms: np.ndarray  # (m, k, t)
    objective: Objective
    theta: np.ndarray
    found: FeatureWeights

    @classmethod
    def of(cls, rows: KeptRows, terms: np.ndarray, d: int, prior: np.ndarray, before: Fit | None = None) -> Fit:
        """The weights of terms, the first d of which are of single columns; the first ones may be fitted before."""
        t = terms.shape[2]
        piece = WeightedRows(DenseEvidence(_Parts(terms), None, True), rows.y, rows.mass)  # type: ignore[arg-type]
        objective = weighing.problem([piece], prior, t, d, BY_CLASS)
        if before is None:
            start = weighing.fit_temperature(objective)
        else:
            old = before.objective.layout
            kept = np.where(np.arange(t) < old.d, np.arange(t), -1)
            start = objective.layout.start_from(old, before.theta, kept)
        answer = weighing.minimise(objective, start)
        return cls(rows, terms, objective, answer.w, weighing.found(objective, answer))

    @cached_property
    def logs(self) -> np.ndarray:
        """log P(class) of the rows, (m, k)."""
        scores = np.einsum("nkt,kt->nk", self.terms, self.found.table) + self.found.bias + self.objective.prior
        return ops.posterior(np.ascontiguousarray(scores), logs=True)

    @cached_property
    def loss(self) -> float:
        return -float(self.rows.mass @ self.logs[np.arange(len(self.logs)), self.rows.y])


@dataclass(frozen=True)
class _Parts:
    """Evidence that is there already."""

    values: np.ndarray

    def parts(self, x: Any) -> np.ndarray:
        return self.values


def choose(rows: KeptRows, prior: np.ndarray) -> tuple[TableSets, FeatureWeights]:
    """The tables that pay for themselves, and all weights."""
    columns = [NumberColumn.of(j, rows) for j, one in enumerate(rows.schema.fields) if one.levels is None]
    every = coded(rows, columns)
    d, held = len(rows.schema.fields), rows.held_out(every, columns=columns)
    fit = Fit.of(rows, held.terms(d, ()), d, prior)
    sets: list[tuple[int, ...]] = []
    pool = candidates(every, held, d, prior) if len(prior) > 1 else []
    for _ in range(ROUNDS):
        price = PRICE + 2.0 * log(max(len(pool), 1))
        taken = set(sets)
        new = worth([own for own in pool if own not in taken], held, np.exp(fit.logs), price)
        trial = None
        while new:
            terms = [fit.terms, *(held.evidence(own)[:, :, None] for own in new)]
            trial = Fit.of(rows, np.concatenate(terms, axis=2), d, prior, fit)
            weight = trial.found.table.mean(axis=0)[-len(new) :]
            if (weight > LEAST_WEIGHT).all():
                break
            new = [own for own, w in zip(new, weight.tolist(), strict=True) if w > LEAST_WEIGHT]
        if not new or trial is None or fit.loss - trial.loss < price / 2:
            break
        fit, sets = trial, [*sets, *new]
        known = set(pool)
        pool += extended(every, [own for own in sets if len(own) < ORDER], d, len(rows.y), known)
    return trimmed(every, sets, d), fit.found


def worth(pool: list, held: HeldOut, p: np.ndarray, price: float) -> list[tuple[int, ...]]:
    """The sets that are worth their price, the best first; none contains another."""
    offset, theta = held.theta
    rows, codes = held.rows, Codes(held.codes)

    def gains(part: list) -> np.ndarray:
        slope, bend = ops.table_gains(codes, rows.y, rows.fold, rows.w, rows.mass, p, offset, theta, part, MOST).T
        return np.where(slope > 0, slope**2 / (bend + 1.0), 0.0)

    parts = [pool[i : i + BATCH] for i in range(0, len(pool), BATCH)]
    gain = np.concatenate([*threads.map_ordered(parts, gains), np.zeros(0)])
    best = np.argsort(-gain, kind="stable")[: int((gain > price).sum())]
    paying = [pool[i] for i in best.tolist()]
    near = set(paying[:LOOKED])  # with the sets that these contain
    near |= {part for own in paying[:LOOKED] for size in range(1, len(own)) for part in combinations(own, size)}
    looked = [own for own in paying if own in near]
    exact = threads.map_ordered(looked, lambda own: gain_of(held.evidence(own), p, rows.y, rows.mass))
    value = {own: found for own, found in zip(looked, exact, strict=True) if found > price / 2}
    out: list[tuple[int, ...]] = []
    for own in sorted(value, key=lambda own: -value[own]):
        some = (part for size in range(1, len(own)) for part in combinations(own, size))
        enough = any(value.get(part, 0.0) > value[own] - PRICE / 2 for part in some)
        if not enough and not any(set(own) <= set(other) or set(other) <= set(own) for other in out):
            out.append(own)
    return out[:ROUND]


def gain_of(evidence: np.ndarray, p: np.ndarray, y: np.ndarray, mass: np.ndarray) -> float:
    """The log likelihood that rows gain by evidence (m, k) with its best weight; p (m, k) is P(class) without it.

    A score test alone would prefer tables of many cells: it takes the gain for quadratic, which that of strong evidence
    is not.

    >>> own = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> round(gain_of(own, np.full((3, 2), 0.5), np.array([0, 1, 1]), np.ones(3)), 3)  # right in two of three
    0.17
    """
    weight, best, own = 0.0, 0.0, evidence[np.arange(len(y)), y]
    for _ in range(STEPS):
        q = p * np.exp(weight * (evidence - own[:, None]))
        total = q.sum(axis=1)
        best = max(best, -float(mass @ np.log(total)))
        q /= total[:, None]
        mean = np.einsum("nk,nk->n", q, evidence)
        slope = float(mass @ (own - mean))
        bend = float(mass @ (np.einsum("nk,nk->n", q, evidence**2) - mean**2))
        weight = float(np.clip(weight + slope / (bend + 1.0), 0.0, 2.0 * weight + 1.0))
    return best


def candidates(every: TableSets, held: HeldOut, d: int, prior: np.ndarray) -> list[tuple[int, ...]]:
    """Finer cells, pairs, and sets of three and four of the columns that say most alone."""
    rows, codes = held.rows, range(len(every.cells))
    says = []
    for j in codes:
        logs = ops.posterior(np.ascontiguousarray(held.evidence((j,)) + prior), logs=True)
        says.append(-float(rows.mass @ logs[np.arange(len(logs)), rows.y]))
    ranked = sorted(codes, key=lambda j: says[j])
    out: list[tuple[int, ...]] = [(j,) for j in codes if j >= d]
    paired = sorted(ranked[:PAIRED], key=lambda j: every.cells[j].column)
    out += [own for own in combinations(paired, 2) if fits(every, own, len(rows.y))]
    first = [j for j in ranked if j < d]
    for size in range(3, ORDER + 1):
        most = max(m for m in range(d + 1) if comb(m, size) <= SETS)
        out += [own for own in combinations(sorted(first[:most]), size) if fits(every, own, len(rows.y))]
    return out


def extended(every: TableSets, sets: list, d: int, n: int, known: set) -> list[tuple[int, ...]]:
    """Sets of several columns, each with one more column; in the order of the columns."""
    more = {
        tuple(sorted((*own, j), key=lambda i: every.cells[i].column)) for own in sets for j in range(d) if j not in own
    }
    return sorted(own for own in more - known if fits(every, own, n))[:SETS]


def fits(every: TableSets, own: tuple[int, ...], n: int) -> bool:
    """Whether the codes are of different columns, and their table is not too large."""
    cells = prod(every.cells[j].size for j in own)
    return len({every.cells[j].column for j in own}) == len(own) and cells <= (
        CELLS if len(own) < 3 else min(CELLS, n // 2)
    )


def trimmed(every: TableSets, sets: list, d: int) -> TableSets:
    """Only with the codes that are in use."""
    used = [*range(d), *sorted({j for own in sets for j in own if j >= d})]
    place = {j: at for at, j in enumerate(used)}
    return replace(
        every,
        cells=tuple(every.cells[j] for j in used),
        sets=tuple(tuple(place[j] for j in own) for own in sets),
    )


# codes


def coded(rows: KeptRows, columns: Sequence[NumberColumn]) -> TableSets:
    """The first codes of the columns, finer ones of numbers, and no sets."""
    price = 1.0 + log(max(len(columns), 1))  # of many columns, some other code is better by chance
    first = {one.column: one.best(price) for one in columns}
    for j, own in enumerate(rows.schema.fields):
        if own.levels is not None:
            first[j] = CellCode(j, tuple(own.levels), (), bool((rows.cells(j) == -1).any()))
    finer = [one.finer() for one in columns if len(one.values) > DISTINCT]
    linear = [one for one in columns if len(one.values) > 1]
    mean, deviation = np.ascontiguousarray(np.array([one.spread() for one in linear]).reshape(-1, 2).T)
    return TableSets(
        (*(first[j] for j in range(len(first))), *finer), (), tuple(one.column for one in linear), mean, deviation
    )


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """The numbers of a column, and how often each is there."""

    column: int
    values: np.ndarray  # (v,), distinct and ascending
    missing: bool  # whether some cells are missing
    counts: np.ndarray  # (folds, k, v)

    @classmethod
    def of(cls, column: int, rows: KeptRows) -> NumberColumn:
        cells = rows.cells(column)
        missing = np.isnan(cells)
        values, at = np.unique(cells, return_inverse=True)  # NaN is the last
        v, place = len(values), (rows.fold.astype(np.int64) * rows.k + rows.y) * len(values) + at[rows.row]
        counts = np.bincount(place, rows.w, minlength=FOLDS * rows.k * v).reshape(FOLDS, rows.k, v)
        gap = bool(missing.any())
        return cls(column, values[: v - gap], gap, counts[:, :, : v - gap])

    def code(self, borders: Sequence[int], supervised: bool = False) -> CellCode:
        """With cuts before these values."""
        return CellCode(self.column, None, cuts_at(self.values, borders), self.missing, supervised)

    def finer(self) -> CellCode:
        return self.code(discretise.even(self.counts.sum(axis=(0, 1)), FINE))

    def spread(self) -> tuple[float, float]:
        """(mean, standard deviation or 1)"""
        n = self.counts.sum(axis=(0, 1))
        mean = float(n @ self.values / n.sum())
        return mean, float(np.sqrt(n @ (self.values - mean) ** 2 / n.sum())) or 1.0

    def best(self, price: float) -> CellCode:
        """The first code: cells of equal mass, unless another has a held-out loss that is less by the price. Cuts that
        separate the classes are found without the fold that they are judged by."""
        if len(self.values) <= DISTINCT:
            return self.code(range(1, len(self.values)))
        whole = self.counts.sum(axis=0)
        weight = whole.sum(axis=0)
        mass, heavy = discretise.even(weight, COARSE), even_but_heavy(weight, COARSE)
        trials = [(self.loss([mass] * FOLDS), self.code(mass))]
        if heavy != mass:
            trials.append((self.loss([heavy] * FOLDS) + price, self.code(heavy)))
        separating = self.code(discretise.chosen(whole), supervised=True)
        trials.append((self.loss(self.separating) + price, separating))
        return min(trials, key=lambda one: one[0])[1]

    @cached_property
    def separating(self) -> list[list[int]]:
        """Cuts that separate the classes, found without each fold."""
        whole = self.counts.sum(axis=0)
        return [discretise.chosen(np.maximum(whole - own, 0.0)) for own in self.counts]

    def loss(self, borders: Sequence[Sequence[int]]) -> float:
        """The log loss of the rows of each fold by this column alone, with cuts and counts without the fold."""
        whole, out = self.counts.sum(axis=0), 0.0
        for own, cuts in zip(self.counts, borders, strict=True):
            start = [0, *cuts]
            others, here = (np.maximum(np.add.reduceat(n, start, axis=1), 0.0) for n in (whole - own, own))
            joint = level_shares(others) * (others.sum(axis=1, keepdims=True) + 0.5)
            out -= float((here * np.log(joint / joint.sum(axis=0))).sum())
        return out


def even_but_heavy(weight: np.ndarray, parts: int) -> list[int]:
    """Cut before these of m ordered values, (m,): those of more than 1 / parts of the weight are alone, and the others
    are in as many parts of like weight.

    >>> even_but_heavy(np.array([90.0, 1, 1, 1, 1]), 2)
    [1, 3]
    """
    heavy = weight * parts > weight.sum()
    out = set(np.flatnonzero(heavy).tolist()) | set((np.flatnonzero(heavy) + 1).tolist())
    rest = weight[~heavy].sum()
    runs = np.flatnonzero(np.diff(np.concatenate([[1], heavy, [1]])) != 0)
    for start, stop in zip(runs[::2].tolist(), runs[1::2].tolist(), strict=True):
        some = max(round(parts * float(weight[start:stop].sum() / rest)), 1)
        out |= {start + at for at in discretise.even(weight[start:stop], some)}
    return sorted(out - {0, len(weight)})


def cuts_at(values: np.ndarray, borders: Sequence[int]) -> tuple[float, ...]:
    """Cuts in the middle between ascending numbers, before each of these positions."""
    middle = [values[i - 1] / 2 + values[i] / 2 for i in borders]
    return tuple(float(at if at > values[i - 1] else values[i]) for at, i in zip(middle, borders, strict=True))
