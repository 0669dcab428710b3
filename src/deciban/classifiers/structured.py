"""The base of classifiers whose columns depend on each other: every column is coded as levels first.

Texts, booleans and categories are levels by label. Numbers are cut into intervals that tell the classes apart (see
`structure.intervals`); the cuts are learned with the first rows and then kept. A subclass names its family:

    class TreeAugmentedNB(Structured):
        def _structure(self): return Tree(…)     # a family of a block of codes: tally, estimate, loglik, parts, …

Its tally (of `Pairs`, `Patterns` or any other that has `levels`, `relevel(levels, index)` and `crosstab()`) adds up
over rows, levels come and go with their rows, and models of other levels and classes merge by label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from deciban import frames, ops
from deciban.classifiers.base import Generative
from deciban.classifiers.cutting_on_data import CuttingOnData
from deciban.classifiers.explaining_mixed import ExplainingMixed
from deciban.classifiers.given_priors import CLASS_WEIGHT, PRIORS, GivenPriors
from deciban.classifiers.reading_frames import COLUMNS, ReadingFrames, some
from deciban.coded import Coded, Cuts, kept_levels
from deciban.engines import threads
from deciban.errors import DataError, MergeError
from deciban.families.categorical import Categorical
from deciban.families.histogram import Histogram
from deciban.ranges import STEPS
from deciban.schema import Field, Schema
from deciban.structure import intervals
from deciban.table import Codes, Mixed, Table, borders
from deciban.tallies import Bundle, Cells, Labels
from deciban.tallies.cells import cell_borders

MOST = 1 << 28  # numbers that tables of counts may hold: 2 GiB
LEVELS, NUMBERS = Categorical(), Histogram()  # what a schema calls the two kinds of columns


class Structured(CuttingOnData, ExplainingMixed, ReadingFrames, GivenPriors, Generative):
    """Base: needs `_structure()`, and the settings `cuts`, `missing`, `priors` and `calibrate`."""

    _reads = "mixed"
    _parameter_constraints: dict = {
        "cuts": [StrOptions({"mdl"}), Mapping, Sequence, np.ndarray, None],
        "missing": [StrOptions({"ignore", "informative"})],
        "priors": PRIORS,
        "calibrate": ["boolean"],
        **CLASS_WEIGHT,
        **COLUMNS,
    }
    cuts: Any
    missing: str
    _cuts: tuple[Cuts | None, ...] | None  # of each column; None: not known yet

    def _structure(self) -> Any:
        """The family of the coded columns, from the settings."""
        raise NotImplementedError

    # reading

    def _new_schema(self, columns: list[frames.Column]) -> Schema:
        names = [column.name for column in columns]
        strange = [name for name in self._given_cuts() if name not in names]
        if strange:
            raise DataError(
                f"cuts name {some(strange)}, but the columns are {some(names)}\n\n"
                "hint: name columns as X has them, by number (0, 1, …) if X is an array"
            )
        texts = [column.name for column in columns if column.levels and column.name in self._given_cuts()]
        if texts:
            raise DataError(f"column {some(texts)} has levels, which cannot be cut\n\nhint: leave it out of `cuts`")
        self._cuts = None
        fields = []
        for column in columns:
            if column.levels is None and self.cuts is not None:
                fields.append(Field(column.name, NUMBERS))
            else:
                fields.append(Field(column.name, LEVELS, tuple(column.as_levels().levels or ())))
        return Schema(tuple(fields), reserve=True)  # a level never seen is not a missing cell

    def _numbers_are_levels(self, name: Any) -> bool:
        return self.cuts is None

    def _given_cuts(self) -> dict[Any, Any]:
        return dict(self.cuts) if isinstance(self.cuts, Mapping) else {}

    def _check_fit(self, table: Table, whole: bool) -> None:
        super()._check_fit(table, whole)
        if self._cuts is None:
            self._cuts = self._found_cuts(table)
        self._check_memory(table.k)

    def _found_cuts(self, table: Table) -> tuple[Cuts | None, ...]:
        """The cuts of each column of numbers: those given, or those that the rows choose."""
        return self._cuts_of(self._grid(table))

    def _grid(self, table: Table) -> Cells:
        """All columns of numbers on the grid that cuts are found on."""
        groups = [b for b, (family, _) in enumerate(self._schema.groups) if family == NUMBERS]
        n = ops.class_weights(table.y, table.w, table.k)
        return _cells(table, groups[0]) if groups else Cells(n, (), np.zeros((table.k, 0)))

    def _cuts_of(self, cells: Cells) -> tuple[Cuts | None, ...]:
        out: list[Cuts | None] = [None] * len(self._schema.fields)
        for at in [at for family, at in self._schema.groups if family == NUMBERS]:
            for j, keys, table in zip(at, cells.keys, cells.columns(), strict=True):
                low, high = cell_borders(keys) if len(keys) else (np.array([np.nan]), np.array([np.nan]))
                given = self._checked_cuts(self._schema.fields[j])
                cuts = given if given is not None else intervals.between(keys, table) if self._learns_cuts() else []
                out[j] = Cuts(tuple(cuts), float(low[0]), float(high[-1]), given is None)
        return tuple(out)

    def _learns_cuts(self) -> bool:
        return isinstance(self.cuts, str | Mapping)

    def _checked_cuts(self, field: Field) -> list[float] | None:
        """The cuts that were given for a column, ascending; None: the rows choose."""
        given = None if isinstance(self.cuts, str) else self.cuts
        if isinstance(given, Mapping):
            given = given.get(field.name)
        if given is None:
            return None
        numbers = all(isinstance(cut, Real) for cut in given)
        at = np.array(given, dtype=np.float64) if numbers else np.zeros((0, 0))
        if at.ndim != 1 or not np.isfinite(at).all() or (np.diff(at) <= 0).any():
            raise DataError(
                f"the cuts of column {field.named} are {given!r}\n\n"
                "hint: give ascending numbers, such as [0.5, 1.5]; an empty list makes one interval of all"
            )
        return at.tolist()

    def _check_memory(self, k: int) -> None:
        """Refuse tables of counts that would not fit, before they are made."""
        family = self._family()
        size = family.size(k, len(family.levels))
        if size <= MOST:
            return
        wide = np.argsort(family.levels)[::-1][:3]
        names = ", ".join(f"{self._schema.fields[j].named} ({family.levels[j]} levels)" for j in wide)
        raise DataError(
            f"the counts of {len(family.levels)} columns with {sum(family.levels)} levels and {k} classes would take "
            f"{size * 8 / 2**30:.3g} GiB, more than {MOST * 8 / 2**30:g}; the widest columns are {names}\n\n"
            "hint: leave out columns that name their rows (ids, dates), lump rare levels together, or use MixedNB"
        )

    # learning

    def _family(self, tally: Bundle | None = None) -> Coded:
        fields, cuts = self._schema.fields, self._cuts or (None,) * len(self._schema.fields)
        levels = tuple(len(f.levels or ()) if c is None else len(c.at) + 1 for f, c in zip(fields, cuts, strict=True))
        return Coded(self._structure(), tuple(at for _, at in self._schema.groups), cuts, levels, self._missing())

    def _missing(self) -> str:
        """How missing cells are read."""
        return self.missing

    def _tally_chunk(self, family: Coded, chunk: Table) -> Bundle:
        tally = family.tally(chunk.x, chunk.y, chunk.w, chunk.k)  # type: ignore[arg-type]
        return Bundle((Labels(ops.class_weights(chunk.y, chunk.w, chunk.k)), tally))

    def _nominal(self) -> list[bool]:
        return [field.levels is not None for field in self._schema.fields]

    def _set(self, tally: Bundle, calibration: Any = None) -> None:
        """The levels that no row has are left out, of the tally and of the schema."""
        labels, counts = tally.parts
        places = kept_levels(counts.crosstab(), self._nominal())
        if places is not None:
            counts = counts.relevel(np.array([(at >= 0).sum() for at in places]), places)
            self._schema = replace(self._schema, fields=tuple(map(_with, self._schema.fields, places)))
        super()._set(Bundle((labels, counts)), calibration)

    def _aligned(self, other: Any, mine: Bundle, theirs: Bundle) -> tuple[Bundle, Bundle]:
        self._schema, *places = self._schema.merged(other._schema)
        levels = np.array(self._family().levels)
        out = []
        for tally, at in zip((mine, theirs), places, strict=True):
            labels, counts = tally.parts
            named = [p if nominal else np.arange(n) for p, n, nominal in zip(at, levels, self._nominal(), strict=True)]
            out.append(Bundle((labels, counts.relevel(levels, named))))
        return out[0], out[1]

    def _in_column_order(self, tally: Bundle, order: list[int]) -> Bundle:
        self._schema = self._schema.reordered(order)
        self._cuts = None if self._cuts is None else tuple(self._cuts[j] for j in order)
        return super()._in_column_order(tally, order)

    def _check_mergeable(self, other: Any) -> None:
        super()._check_mergeable(other)
        for field, *both in zip(self._schema.fields, self._cuts or (), other._cuts, strict=True):
            if any(cut is not None and cut.learned for cut in both):
                raise MergeError(
                    f"column {field.named} was cut as the rows of each model had it, so their counts do not add up\n\n"
                    "hint: give one model's cuts to the other, `cuts=model.cuts_`, and the same to every model"
                )

    def forget(self, X, y, sample_weight=None) -> Self:
        with self._alone(), self._unchanged_on_failure():
            return super().forget(X, y, sample_weight)

    # leaving out

    def _leave_one_out(self, family: Coded, tally: Bundle, chunk: Table) -> np.ndarray:
        assert isinstance(chunk.x, Mixed)
        return family.leave_one_out(self._fitted.params, chunk.x, chunk.y, chunk.w, np.array(self._nominal()))

    def _without(self, family: Coded, tally: Bundle, row: Table) -> np.ndarray:
        assert isinstance(row.x, Mixed)
        left = (tally - self._tally_chunk(family, row)).parts[1]
        settled, codes = family.settled(self._fitted.params), np.array(family.codes(row.x).values)
        places = kept_levels(left.crosstab(), self._nominal())
        if places is not None:
            left = left.relevel(np.array([(at >= 0).sum() for at in places]), places)
            gone = left.levels  # the code of a level that is known no more
            moved = [np.where(at < 0, n, at) for at, n in zip(places, gone, strict=True)]
            codes = np.column_stack([np.append(at, -1)[code] for at, code in zip(moved, codes.T, strict=True)])
        return settled.scores(settled.estimate(left), Codes(codes))

    # telling

    @property
    def evidence_(self) -> float:
        """log p(X | y), the structure being given and its tables averaged out, each drawn from a Dirichlet(alpha)."""
        fitted = self._check_is_fitted()
        if not hasattr(fitted.family.family, "evidence"):
            averages = getattr(fitted.family.family, "averages", False)
            why = "is an average of models" if averages else "has tables that were given, not learned from rows"
            raise AttributeError(
                f"{type(self).__name__} {why}: no evidence in closed form\n\n"
                "hint: compare models by `leave_one_out` or `deciban.cross_validate`"
            )
        try:
            return float(fitted.family.evidence(fitted.params).sum())
        except DataError as none:  # no prior
            raise AttributeError(str(none)) from None

    @property
    def missing_(self) -> list[Any]:
        """The columns whose missing cells are a level of their own, by name."""
        gaps = self._check_is_fitted().params.gaps
        return [name for name, gap in zip(self._schema.names, gaps, strict=True) if gap]

    @property
    def cuts_(self) -> dict[Any, list[float]]:
        """Where each column of numbers is cut, by name: what `cuts` of another model may be."""
        self._check_is_fitted()
        pairs = zip(self._schema.names, self._cuts or (), strict=True)
        return {name: list(cut.at) for name, cut in pairs if cut is not None}

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels: (X, y), where X is a frame or an array as in training. A number is drawn evenly
        from its interval."""
        codes, y = super().sample(n_samples, random_state)
        rng = np.random.default_rng(codes.sum() + n_samples)
        columns = []
        for field, cut, values in zip(self._schema.fields, self._cuts or (), codes.T, strict=True):
            named = np.array([*(field.levels or ()), None], dtype=object)[values] if cut is None else None
            columns.append(frames.Column(field.name, cut.drawn(values, rng) if named is None else named))  # type: ignore[union-attr]
        return frames.assembled(columns, self._library), y

    def _parted(self) -> bool:
        return True

    def _splits(self) -> bool:
        return self.n_features_in_ == 1  # of more, a column's part depends on what the others hold

    def _candidates(self) -> list[np.ndarray]:
        return [
            np.array([*field.levels, ""], dtype=object)[:-1]
            if field.levels is not None
            else np.linspace(cut.edges[0], cut.edges[-1], STEPS)  # type: ignore[union-attr]
            for field, cut in zip(self._schema.fields, self._cuts or (), strict=True)
        ]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _with(field: Field, places: np.ndarray) -> Field:
    """A field with the levels that have a place."""
    if field.levels is None:
        return field
    return replace(field, levels=tuple(level for level, at in zip(field.levels, places, strict=False) if at >= 0))


def _cells(table: Table, block: int) -> Cells:
    """The numbers of one block of a table on the grid that cuts are found on."""

    def of(span: tuple[int, int]) -> Cells:
        chunk = table.rows(*span)
        assert isinstance(chunk.x, Mixed)
        return NUMBERS.tally(chunk.x.blocks[block], chunk.y, chunk.w, chunk.k)  # type: ignore[arg-type]

    return reduce(add, threads.each(borders(table.n, table.x.cells, Generative._chunk), of))
