"""Weighted joint tables: evidence of single columns, of numbers as they are, and of columns together.

    score_c(x) = log prior_c + bias_c + Σ_j w_cj e_j(x_j, c) + Σ_j w'_cj l_j(x_j, c) + Σ_S w_cS g_S(x_S, c)

    e_j = log θ_j(x_j | c),   θ = (n_c(level) + √levels · share of the level) / (n_c + √levels)
    l_j = log N(x_j; mean_c, variance of all classes)
    g_S = log [ (n_c(cell) / Π_(j∈S) θ_j(x_j | c) + m) / (n_c + m) ],   m = 2 (|S| − 1)

g is what the columns of a set S say together beyond what each says alone: 0 for a cell without rows, and by the prior
of m rows the columns are independent. With weights of 1 on the edges of a tree it is TAN. All evidence is centred over
the classes and limited (`MOST` nats, and `FAR` for numbers).

Texts and categories are levels; numbers are cut into cells; a missing cell is a level of its own in columns where rows
of training lack cells. A level that no row had is no evidence, in any table. Counts are of all rows. Which sets there
are, and all weights, are learned from held-out rows (`models.choose_tables`).

>>> import numpy as np
>>> a, b = np.array([0, 0, 1, 1] * 8), np.array([0, 1] * 16)  # the class is whether they differ
>>> table = np.bincount((a ^ b) * 4 + 2 * a + b, minlength=8).reshape(2, 4).astype(float)
>>> ops.spec.joint_evidence(table, np.full((2, 4), 0.25), 2, MOST).round(2)[1].tolist()
[-1.42, 1.42, 1.42, -1.42]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod
from typing import Any, ClassVar

import numpy as np

from deciban import ops
from deciban.data.blocks import Codes, ColumnBlock, Mixed, Reals, Table
from deciban.data.frames import unit_text
from deciban.decision import DECIBAN
from deciban.display import MISSING_LEVEL, cell_text
from deciban.estimation.discretise import interval_names, intervals
from deciban.estimation.leave_one_out import moments_without
from deciban.estimation.left_out import LeftOut
from deciban.models.feature_weights import FeatureWeights
from deciban.ops.packed import Packed
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, Moments, Sums
from deciban.tallies.basic import column, subtract

MOST, FAR = 8.0, 20.0  # nats of evidence of a table, and of a number as it is
WIDE = 1e9  # deviations from the middle of a column, which numbers further out are taken for
CELLS = 6000  # of a table of several columns, at most
ROUNDING = 1e-6
FEW = 64  # rows
JOIN = " × "  # between the names of columns


@dataclass(frozen=True)
class CellCode:
    """How the cells of a column are coded: its levels by name, or numbers by cuts."""

    column: int
    levels: tuple | None  # of a nominal column
    cuts: tuple[float, ...]  # of numbers, ascending
    missing: bool  # whether the last code is of missing cells
    supervised: bool = False  # whether the cuts separate the classes

    @property
    def size(self) -> int:
        return max((len(self.cuts) + 1 if self.levels is None else len(self.levels)) + self.missing, 1)

    def sound(self, schema: Schema) -> bool:
        """Whether it is a code of a column: a check of model files."""
        if not (isinstance(self.column, int) and 0 <= self.column < len(schema.fields)):
            return False
        if (self.levels is None) != (schema.fields[self.column].levels is None) or not isinstance(self.missing, bool):
            return False
        at = np.array(self.cuts, dtype=np.float64)
        fine = bool(np.isfinite(at).all() and (np.diff(at) > 0).all())
        return fine and (self.levels is None or (not self.cuts and len(set(self.levels)) == len(self.levels)))

    @cached_property
    def _cuts(self) -> np.ndarray:
        return np.array(self.cuts)

    def of_numbers(self, values: np.ndarray) -> np.ndarray:
        """The code of each number; of NaN the last, or −1 where missing cells are no evidence."""
        if len(values) < FEW:  # a search has less overhead than a comparison for each cut
            code = np.where(np.isnan(values), -1, np.searchsorted(self._cuts, values, side="right"))
        else:
            code = intervals(values, self._cuts)
        return np.where(code < 0, self.size - 1, code) if self.missing else code

    def places(self, levels: Sequence) -> np.ndarray:
        """The codes of these levels of a schema, of levels that it does not have (two places), and of missing cells."""
        assert self.levels is not None
        own = {level: code for code, level in enumerate(self.levels)}
        gap = self.size - 1 if self.missing else -1
        return np.array([*(own.get(level, -1) for level in levels), -1, -1, gap], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class TableSets:
    """What is chosen: codes of the columns, and sets of them that are looked at together."""

    cells: tuple[CellCode, ...]  # the first d: one of each column, in the order of the columns; then others
    sets: tuple[tuple[int, ...], ...]  # positions in `cells`; a set of one is another code of a column
    numbers: tuple[int, ...]  # columns with evidence of numbers as they are
    shift: np.ndarray  # (q,), of these columns
    scale: np.ndarray

    @cached_property
    def levels(self) -> np.ndarray:
        return np.array([one.size for one in self.cells])

    @cached_property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """All tables that are counted: of each code, and of each set of several."""
        return (*((j,) for j in range(len(self.cells))), *(own for own in self.sets if len(own) > 1))

    @cached_property
    def offset(self) -> np.ndarray:
        """Where the cells of each counted table begin."""
        return np.concatenate([[0], np.cumsum([int(np.prod(self.levels[list(own)])) for own in self.tables])])

    @cached_property
    def joint(self) -> tuple[tuple[int, ...], ...]:
        """The sets of several columns."""
        return tuple(own for own in self.sets if len(own) > 1)

    def columns_of(self, own: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.cells[i].column for i in own)

    @cached_property
    def together(self) -> list[tuple[int, ...]]:
        """Columns that are looked at together; a pair may be there by several codes."""
        return list(dict.fromkeys(map(self.columns_of, self.joint)))

    def sound(self, schema: Schema) -> bool:
        """Whether these are codes and sets of columns: a check of model files."""
        d, codes = len(schema.fields), len(self.cells)
        if not all(isinstance(one, CellCode) and one.sound(schema) for one in self.cells):
            return False
        if sorted(one.column for one in self.cells[:d]) != list(range(d)):
            return False
        for own in self.sets:
            if not own or not all(isinstance(j, int) and 0 <= j < codes for j in own):
                return False
            if len(set(self.columns_of(own))) < len(own) or prod(self.cells[j].size for j in own) > CELLS:
                return False
        numbers = [j for j, field in enumerate(schema.fields) if field.levels is None]
        q = (len(self.numbers),)
        fine = set(self.numbers) <= set(numbers) and len(set(self.numbers)) == len(self.numbers)
        return fine and _is_finite(self.shift, q) and _is_finite(self.scale, q) and bool((self.scale > 0).all())

    def counted(self, codes: np.ndarray) -> np.ndarray:
        """The cell of each row in each counted table, (n, tables); −1: none."""
        if not self.joint:
            return codes
        out = np.empty((len(self.tables), len(codes)), dtype=np.int32)
        out[: len(self.cells)] = codes.T
        for at, own in zip(out[len(self.cells) :], self.joint, strict=True):
            at[:] = cell_numbers(codes, own, self.levels)
        return out.T

    def tally(self, table: Table) -> Bundle:
        """Counts of all cells, and moments of the numbers, of rows."""
        assert isinstance(table.x, Mixed)
        assert table.schema is not None
        codes, z = TableReader(self, table.schema)(table.x)
        counts = ops.crosstab(Codes(self.counted(codes)), table.y, table.w, table.k, np.diff(self.offset))
        return Bundle((Sums(counts.weight, counts.counts), ops.moments(Reals(z), table.y, table.w, table.k)))

    @property
    def size(self) -> int:
        """Numbers of a class in a tally."""
        return int(self.offset[-1]) + 3 * len(self.numbers)

    def in_column_order(self, order: Sequence[int]) -> TableSets:
        """The same with column order[j] at position j."""
        place = {old: new for new, old in enumerate(order)}
        cells = tuple(replace(one, column=place[one.column]) for one in self.cells)
        return replace(self, cells=cells, numbers=tuple(place[j] for j in self.numbers))

    def equals(self, other: TableSets) -> bool:
        """Whether counts by both add up."""
        same = (self.cells, self.sets, self.numbers) == (other.cells, other.sets, other.numbers)
        return same and np.array_equal(self.shift, other.shift) and np.array_equal(self.scale, other.scale)


@dataclass(frozen=True, eq=False)
class TableReader:
    """rows → (codes (n, cells), −1 where a cell is no evidence; standardised numbers (n, q), NaN where missing)"""

    chosen: TableSets
    schema: Schema

    @staticmethod
    def places_in(schema: Schema) -> list[tuple[int, int]]:
        """(block, position in it) of each column."""
        at = {}
        for b, (family, columns) in enumerate(schema.groups):
            if family is not schema.gaps:
                at.update({j: (b, c) for c, j in enumerate(columns)})
        return [at[j] for j in range(len(schema.fields))]

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        return self.places_in(self.schema)

    @cached_property
    def _levels(self) -> list[np.ndarray | None]:
        """The codes of the levels of the schema; None: numbers."""
        fields = self.schema.fields
        return [
            None if one.levels is None else one.places(fields[one.column].levels or ()) for one in self.chosen.cells
        ]

    def __call__(self, x: Mixed) -> tuple[np.ndarray, np.ndarray]:
        chosen, values = self.chosen, [_column(x.blocks[b], c) for b, c in self._places]
        codes = np.empty((len(chosen.cells), x.n), dtype=np.int32)
        for one, levels, out in zip(chosen.cells, self._levels, codes, strict=True):
            out[:] = one.of_numbers(values[one.column]) if levels is None else levels[values[one.column]]
        numbers = [values[j] for j in chosen.numbers]
        z = (np.stack(numbers, axis=1) - chosen.shift) / chosen.scale if numbers else np.zeros((x.n, 0))
        return codes.T, np.clip(z, -WIDE, WIDE)


def _column(block: Any, c: int) -> np.ndarray:
    return block.columns[c] if isinstance(block, ColumnBlock) else np.asarray(block.values)[:, c]


def cell_numbers(codes: np.ndarray, own: Sequence[int], levels: np.ndarray) -> np.ndarray:
    """The cell (n,) of some columns of codes together, −1 where one of them is missing."""
    out = np.array(codes[:, own[0]], dtype=np.int32)
    for j in own[1:]:
        code = codes[:, j]
        out = np.where((out < 0) | (code < 0), -1, out * np.int32(levels[j]) + code)
    return out


def level_shares(n: np.ndarray) -> np.ndarray:
    """P(level | class) from counts (…, k, levels), shrunk towards the shares of the levels in all classes."""
    levels = n.shape[-1]
    m = np.sqrt(levels)
    share = (n.sum(axis=-2, keepdims=True) + 1.0) / (n.sum(axis=(-2, -1), keepdims=True) + levels)
    return (n + m * share) / (n.sum(axis=-1, keepdims=True) + m)


def linear_terms(m: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept (k, q) of the evidence of numbers: means by class, shrunk towards that of all by one row, and
    one variance."""
    return terms_of(np.broadcast_to(column(m.n), m.mean.shape), m.mean, m.m2)


def terms_of(n: np.ndarray, own: np.ndarray, m2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same from n, mean and squares (…, k, q)."""

    def total(a: np.ndarray) -> np.ndarray:
        return a.sum(axis=-2, keepdims=True)

    every = np.maximum(total(n), 1.0)
    mean = (n * own + total(n * own) / every) / (n + 1.0)
    variance = total(m2 + n * (own - mean) ** 2) / every
    variance = variance + 1e-12 + 1e-6 * total(m2 + n * own**2) / every
    slope, start = mean / variance, -(mean**2) / (2 * variance)
    return slope - slope.mean(axis=-2, keepdims=True), start - start.mean(axis=-2, keepdims=True)


def linear_evidence(terms: tuple[np.ndarray, np.ndarray], z: np.ndarray) -> np.ndarray:
    """(n, k, q) of standardised numbers; 0 where one is missing."""
    slope, start = terms
    out = np.clip(z[:, None, :] * slope + start, -FAR, FAR)
    out[np.broadcast_to(np.isnan(z)[:, None, :], out.shape)] = 0.0
    return out


@dataclass(frozen=True, eq=False)
class JointTables:
    """The tables with their weights: those of the columns, of their numbers, of the sets."""

    chosen: TableSets
    tally: Bundle  # of all rows, see `TableSets.tally`
    weights: FeatureWeights

    @property
    def counts(self) -> np.ndarray:
        """(k, all cells)"""
        return self.tally.parts[0].total

    def count(self, t: int) -> np.ndarray:
        """The counts of a table, (k, cells)."""
        return self.counts[:, self.chosen.offset[t] : self.chosen.offset[t + 1]]

    @cached_property
    def shares(self) -> list[np.ndarray]:
        """P(level | class) of each code, (k, levels)."""
        return [level_shares(self.count(j)) for j in range(len(self.chosen.cells))]

    @cached_property
    def evidence(self) -> list[np.ndarray]:
        """The evidence of each counted table, (k, cells)."""
        chosen = self.chosen
        return [
            ops.spec.joint_evidence(self.count(t), alone_of(self.shares, own, chosen.levels), len(own), MOST)
            for t, own in enumerate(chosen.tables)
        ]

    @cached_property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        return linear_terms(self.tally.parts[1])

    @cached_property
    def _places(self) -> tuple[list[int], dict[int, np.ndarray]]:
        """(tables that have weights, the weight (k,) of each)"""
        chosen, table = self.chosen, self.weights.table
        d = table.shape[1] - len(chosen.numbers) - len(chosen.sets)
        weight = {j: table[:, j] for j in range(d)}
        several = len(chosen.cells)
        for s, own in enumerate(chosen.sets):
            at = own[0] if len(own) == 1 else several
            several += len(own) > 1
            weight[at] = table[:, d + len(chosen.numbers) + s]
        return sorted(weight), weight

    @cached_property
    def packed(self) -> tuple[list[int], np.ndarray, Packed]:
        """(tables that have weights, where their cells begin, weighted evidence) in the layout of the kernel."""
        used, weight = self._places
        each = [self.evidence[t] * weight[t][:, None] for t in used]
        start = np.concatenate([[0], np.cumsum([table.shape[1] for table in each])]).astype(np.int64)
        return used, start, Packed.of(np.hstack(each) if each else np.zeros((len(self.counts), 0)))

    @cached_property
    def linear_weights(self) -> np.ndarray:
        """(k, q)"""
        end = self.weights.table.shape[1] - len(self.chosen.sets)
        return self.weights.table[:, end - len(self.chosen.numbers) : end]

    def scores(self, codes: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(n, k), without priors, of rows as a `TableReader` reads them."""
        used, start, packed = self.packed
        cells = Codes(np.asfortranarray(self.chosen.counted(codes)[:, used]))
        out = ops.lookup(cells, start, packed, self.weights.bias)
        if len(self.chosen.numbers):
            out += np.einsum("nkq,kq->nk", linear_evidence(self.linear, z), self.linear_weights)
        return out

    def scores_without(
        self, codes: np.ndarray, z: np.ndarray, out: LeftOut, rows: np.ndarray, numbers: np.ndarray
    ) -> np.ndarray:
        """The same (groups, k) of one row, codes (cells,) and z (q,), without each group of rows, whose codes are
        `rows` (m, cells) and numbers (m, q). NaN for a group that has all rows with a level of the row."""
        chosen, weight = self.chosen, self._places[1]
        found = np.repeat(self.weights.bias[None], out.groups, axis=0)
        lost = np.zeros(out.groups, dtype=bool)
        own: dict[int, np.ndarray] = {}  # P(level | class) of each code, (groups, k)
        for j, one in enumerate(chosen.cells):
            if codes[j] < 0:
                continue
            own[j], left = self._share_without(j, int(codes[j]), out, rows[:, j])
            lost |= (left < 0).any(axis=1)
            named = one.levels is not None and not (one.missing and codes[j] == one.size - 1)
            lost |= named & (left.sum(axis=1) <= 0)
        for t, w in weight.items():
            cell = chosen.tables[t]
            if (codes[list(cell)] < 0).any():
                continue
            evidence = self._evidence_without(t, codes, out, rows, own)
            found += evidence * w
        if len(chosen.numbers):
            terms, short = self._terms_without(out, numbers)
            found += np.einsum("gkq,kq->gk", linear_evidence(terms, z[None]), self.linear_weights)
            lost |= short
        found[lost] = np.nan
        return found

    def _share_without(self, j: int, level: int, out: LeftOut, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(P(level | class) of a code without each group, the count of the level) (groups, k)"""
        table, levels = self.count(j), int(self.chosen.levels[j])
        n, whole = (np.repeat(a[None], out.groups, axis=0) for a in (table[:, level], table.sum(axis=1)))
        at = out.group, out.y
        n[at] = subtract(n[at], out.sums(np.asarray(rows == level)))
        whole[at] = subtract(whole[at], out.sums(rows >= 0))
        m = np.sqrt(levels)
        share = (n.sum(axis=1, keepdims=True) + 1.0) / (whole.sum(axis=1, keepdims=True) + levels)
        return (n + m * share) / (whole + m), n

    def _evidence_without(
        self, t: int, codes: np.ndarray, out: LeftOut, rows: np.ndarray, shares: dict[int, np.ndarray]
    ) -> np.ndarray:
        """The evidence of the cell of a table that a row has, (groups, k)."""
        own = list(self.chosen.tables[t])
        alone = reduce(np.multiply, (shares[j] for j in own))
        if len(own) == 1:
            found = np.log(alone)
        else:
            levels = self.chosen.levels[own]
            table, cell = self.count(t), int(np.ravel_multi_index(tuple(codes[own].tolist()), tuple(levels.tolist())))
            n, whole = (np.repeat(a[None], out.groups, axis=0) for a in (table[:, cell], table.sum(axis=1)))
            at, there = (out.group, out.y), rows[:, own]
            n[at] = subtract(n[at], out.sums(np.asarray((there == codes[own]).all(axis=1))))
            whole[at] = subtract(whole[at], out.sums(np.asarray((there >= 0).all(axis=1))))
            m = 2.0 * (len(own) - 1)
            found = np.log((n / alone + m) / (whole + m))
        found = np.clip(found, -MOST, MOST)
        return np.asarray(found - found.mean(axis=1, keepdims=True))

    def _terms_without(self, out: LeftOut, numbers: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
        """(`linear` without each group, (groups, k, q) each, which groups have more than there is)"""
        t: Moments = self.tally.parts[1]
        left = moments_without(t, out.of_block(Reals(numbers)), ops.moments)
        each = [
            np.repeat(a[None], out.groups, axis=0) for a in (np.broadcast_to(column(t.n), t.mean.shape), t.mean, t.m2)
        ]
        for whole, part in zip(each, (left.n, left.mean, left.m2), strict=True):
            whole[out.group, out.y] = part
        return terms_of(*each), np.asarray(((each[0] < 0) | (each[2] < 0)).any(axis=(1, 2)))

    def parts(self, codes: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scores by column (n, k, d), and by columns that are looked at together (n, k, together)."""
        cells, weight = self.chosen.counted(codes), self._places[1]
        n, k, several = len(codes), len(self.counts), len(self.chosen.cells)
        alone = np.zeros((n, k, self.column_weights.shape[1]))
        joint = np.zeros((n, k, len(self.chosen.together)))
        for t, w in weight.items():
            here = cells[:, t] >= 0
            part = self.evidence[t].T[cells[here, t]] * w
            if t < several:
                alone[here, :, self.chosen.cells[t].column] += part
            else:
                columns = self.chosen.columns_of(self.chosen.tables[t])
                joint[here, :, self.chosen.together.index(columns)] += part
        if len(self.chosen.numbers):
            alone[:, :, list(self.chosen.numbers)] += linear_evidence(self.linear, z) * self.linear_weights
        return alone, joint

    def joint_cells(self, cells: np.ndarray) -> np.ndarray:
        """The cells of columns that are looked at together, as texts, from the cells (n, d) of rows."""
        out = np.empty((len(cells), len(self.chosen.together)), dtype=object)
        for s, columns in enumerate(self.chosen.together):
            out[:, s] = [", ".join(cell_text(cell) for cell in row) for row in cells[:, list(columns)].tolist()]
        return out

    @property
    def column_weights(self) -> np.ndarray:
        """The weight of the table of each column by class, (k, d)."""
        d = self.weights.table.shape[1] - len(self.chosen.numbers) - len(self.chosen.sets)
        return self.weights.table[:, np.argsort([one.column for one in self.chosen.cells[:d]])]

    @property
    def set_weights(self) -> np.ndarray:
        """The mean weight of each set, (sets,)."""
        return self.weights.table.mean(axis=0)[self.weights.table.shape[1] - len(self.chosen.sets) :]

    def sound(self, schema: Schema, k: int) -> bool:
        """Whether weights are those of columns and k classes: a check of model files."""
        if not (isinstance(self.chosen, TableSets) and self.chosen.sound(schema)):
            return False
        width = len(schema.fields) + len(self.chosen.numbers) + len(self.chosen.sets)
        return _is_finite(self.weights.table, (k, width)) and _is_finite(self.weights.bias, (k,))


def _is_finite(a: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(a, np.ndarray) and a.shape == shape and a.dtype == np.float64 and bool(np.isfinite(a).all())


@dataclass(frozen=True)
class InteractionTable:
    """What columns say together for a class, beyond what each says alone."""

    columns: list[str]
    levels: list[list[str]]  # of each column
    of: Any  # the class
    against: Any  # the other one of two classes; None: the mean of all
    decibans: np.ndarray  # (levels of the first column, …)
    rows: np.ndarray  # weight of the training rows in each cell, as far as they are counted together


def interaction_table(
    tables: JointTables, schema: Schema, columns: tuple[int, ...], c: int, classes: np.ndarray
) -> InteractionTable:
    """The weighted evidence for class number c, in decibans, of columns that are looked at together."""
    chosen, weight = tables.chosen, tables._places[1]
    used = [t for t in weight if chosen.columns_of(chosen.tables[t]) == columns and len(chosen.tables[t]) > 1]
    grids = [_grid(schema.fields[j], [chosen.cells[own[i]] for own in map(chosen.tables.__getitem__, used)])
             for i, j in enumerate(columns)]  # fmt: skip
    shape = tuple(len(names) for names, _ in grids)
    evidence, rows = np.zeros((len(classes), *shape)), np.zeros(shape)
    for t in used:
        own = chosen.tables[t]
        places = np.ix_(*(codes[chosen.cells[j]] for j, (_, codes) in zip(own, grids, strict=True)))
        sizes = tuple(chosen.levels[list(own)].tolist())
        evidence += (tables.evidence[t] * weight[t][:, None]).reshape(-1, *sizes)[(slice(None), *places)]
        rows = tables.count(t).sum(axis=0).reshape(sizes)[places]
    other = 1 - c if len(classes) == 2 else None
    gain = evidence[c] - (evidence[other] if other is not None else evidence.mean(axis=0))
    labels = classes.tolist()
    return InteractionTable(
        [str(schema.fields[j].name) for j in columns], [names for names, _ in grids],
        labels[c], None if other is None else labels[other], gain * DECIBAN, rows,
    )  # fmt: skip


def _grid(field: Field, codes: list[CellCode]) -> tuple[list[str], dict[CellCode, np.ndarray]]:
    """(the levels of a column in the finest of its codes, the place of each in every code)"""
    gap = [MISSING_LEVEL] * codes[0].missing
    if field.levels is not None:
        return [*map(str, codes[0].levels or ()), *gap], {one: np.arange(one.size) for one in codes}
    cuts = sorted({cut for one in codes for cut in one.cuts})
    inside = np.array([-np.inf, *cuts] + [np.nan] * len(gap))  # a cut belongs to what is above it
    names = interval_names(cuts, lambda cut: str(unit_text(cut, field.unit)) if field.unit else f"{cut:.4g}")
    return [*names, *gap], {one: one.of_numbers(inside) for one in codes}


def alone_of(shares: Sequence[np.ndarray], own: Sequence[int], levels: np.ndarray) -> np.ndarray:
    """Π P(level | class) of the columns of each cell, (…, k, cells), from those of each column (…, k, levels)."""
    at = np.unravel_index(np.arange(int(np.prod(levels[list(own)]))), tuple(levels[list(own)].tolist()))
    out = shares[own[0]][..., at[0]]
    for j, i in zip(own[1:], at[1:], strict=True):
        out = out * shares[j][..., i]
    return out


@dataclass(frozen=True, eq=False)
class JointScores:
    """Scores by joint tables; densities are those of naive Bayes."""

    plain: Any  # `posterior.FamilyScores`
    tables: JointTables
    schema: Schema
    finite: ClassVar[bool] = True
    has_parts: ClassVar[bool] = True
    setting: ClassVar[str] = "interactions"

    @cached_property
    def read(self) -> TableReader:
        return TableReader(self.tables.chosen, self.schema)

    def __call__(self, x: Any) -> np.ndarray:
        return self.tables.scores(*self.read(x))

    def shared(self, x: Any) -> np.ndarray | None:
        return self.plain.shared(x)

    def log_density(self, x: Any) -> np.ndarray:
        return self.plain.log_density(x)

    @property
    def bias(self) -> np.ndarray:
        return self.tables.weights.bias

    def parts(self, x: Any) -> np.ndarray:
        return self.tables.parts(*self.read(x))[0]

    def joint_parts(self, x: Any) -> np.ndarray:
        """Scores by columns that are looked at together, (n, k, together)."""
        return self.tables.parts(*self.read(x))[1]

    def linear(self, degree: int = 1) -> None:
        return None
