"""What a batch of rows contributes to a model, and how contributions add: classes and levels by their labels.

A part names the classes and levels that its rows have, so parts of any batches add up, in one pass, whatever each of
them lacks:

    part(batch a) + part(batch b) = part(a and b)

>>> import numpy as np
>>> from deciban.tallies import Bundle, ClassWeights
>>> a = LabelledTally(np.array(["rain"], dtype=object), np.array([2]), Bundle((ClassWeights(np.array([2.0])),)))
>>> b = LabelledTally(np.array(["sun"], dtype=object), np.array([1]), Bundle((ClassWeights(np.array([1.0])),)))
>>> (b + a).classes.tolist(), (b + a).rows.tolist(), (LabelledTally.nothing() + a).rows.tolist()
(['rain', 'sun'], [2, 1], [2])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import add, iadd
from typing import Any

import numpy as np

from deciban.data.blocks import Table
from deciban.data.frames import sort_levels
from deciban.errors import DataError, DecibanError, relocate
from deciban.rows.labels import label_codes
from deciban.rows.levels import moved
from deciban.rows.schema import Schema
from deciban.tallies import Bundle

WORDS = {"number": "numbers", "level": "texts or truth values", "neither": "neither numbers nor texts"}


@dataclass(frozen=True, eq=False)
class LabelledTally:
    classes: np.ndarray  # (k,), in order
    rows: np.ndarray  # (k,), how many each has
    tally: Any = None  # None: there were no rows
    schema: Schema | None = None  # of columns that have levels
    kinds: tuple[str, ...] = ()  # what each column was taken for; "": it is missing in all rows
    again: bool = False  # nothing was added up: the rows are to be read again, with the kinds that are known now

    @classmethod
    def nothing(cls) -> LabelledTally:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def __add__(self, other: LabelledTally) -> LabelledTally:
        return self._plus(other, add)

    def __iadd__(self, other: LabelledTally) -> LabelledTally:
        """The same, maybe into this part's memory: for sums that nobody else holds."""
        return self._plus(other, iadd)

    def _plus(self, other: LabelledTally, plus: Callable) -> LabelledTally:
        if other.tally is None or self.tally is None:
            return self if other.tally is None else other
        if self.kinds != other.kinds or self.again or other.again:
            return self._unlike(other)
        a, b = self._together(other)
        return replace(a, rows=a.rows + b.rows, tally=plus(a.tally, b.tally))

    def _together(self, other: LabelledTally) -> tuple[LabelledTally, LabelledTally]:
        """Both in the classes and levels of both."""
        a, b = self, other
        if not np.array_equal(a.classes, b.classes):
            classes = united(a.classes, b.classes)
            a, b = a._in_classes(classes), b._in_classes(classes)
        if a.schema is not None and b.schema is not None and a.schema != b.schema:
            schema, here, there = a.schema.merged(b.schema)
            a, b = a._in_levels(schema, here), b._in_levels(schema, there)
        return a, b

    def _in_classes(self, classes: np.ndarray) -> LabelledTally:
        if np.array_equal(self.classes, classes):
            return replace(self, classes=classes)
        at, k = np.searchsorted(classes, self.classes), len(classes)
        rows = np.zeros(k, dtype=np.int64)
        rows[at] = self.rows
        return replace(self, classes=classes, rows=rows, tally=self.tally.relabel(at, k))

    def _in_levels(self, schema: Schema, places: list[np.ndarray]) -> LabelledTally:
        return replace(self, schema=schema, tally=moved(schema, self.tally, places))

    def _unlike(self, other: LabelledTally) -> LabelledTally:
        """Of a column that one part has nothing of, the other knows better; what both know must agree."""
        assert self.schema is not None
        for name, mine, theirs in zip(self.schema.names, self.kinds, other.kinds, strict=True):
            if mine and theirs and mine != theirs:
                raise DataError(
                    f"column `{name}` holds {WORDS[mine]} in some parts of the data and {WORDS[theirs]} in others\n\n"
                    "hint: write it as the same type in all of them"
                )
        kinds = tuple(a or b for a, b in zip(self.kinds, other.kinds, strict=True))
        return replace(self, kinds=kinds, again=True, tally=Bundle(()))

    def ordered(self) -> LabelledTally:
        """Levels in an order of their own: the same for any borders between the parts."""
        if self.schema is None:
            return self
        fields = []
        for field in self.schema.fields:
            order = sort_levels(field.levels or ())
            levels = None if field.levels is None else tuple(field.levels[i] for i in order)
            fields.append(replace(field, levels=levels))
        schema = replace(self.schema, fields=tuple(fields))
        return self if schema == self.schema else self._in_levels(schema, schema.merged(self.schema)[2])


def united(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All classes of both, in order. Texts and numbers do not mix."""
    kinds = [array.dtype.kind in "OU" for array in (a, b)]
    if kinds[0] != kinds[1]:
        raise DataError(
            f"some labels are texts, others numbers, such as {a.tolist()[:2]} and {b.tolist()[:2]}\n\n"
            "hint: write the target as the same type in all parts of the data"
        )
    return np.union1d(a, b)


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a batch are what."""

    features: tuple[str, ...]
    target: str
    weight: str | None = None
    kinds: tuple[str, ...] = ()  # of the features, where known: "number", "level", or ""
    texts: bool = False  # whether the feature is read as a text, not as levels

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are to be read."""
        return tuple(dict.fromkeys((*self.features, self.target, *((self.weight,) if self.weight else ()))))

    def labels(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        """(classes of the batch, the code of each row's)."""
        from deciban.io import batches

        return label_codes(batches.labels(batch, self.target))

    def codes(self, batch: Any, classes: np.ndarray) -> np.ndarray:
        """The code of each row's class, where the classes are known from a pass before."""
        from deciban.io import batches

        _, y = label_codes(batches.labels(batch, self.target), classes)
        if len(y) and y.min() < 0:
            raise DataError(
                "a class turned up that was not there in the pass before\n\nhint: do not change the data during a fit"
            )
        return y

    def table(self, batch: Any, classes: np.ndarray | None = None) -> tuple[np.ndarray, Table]:
        """(classes, the rows), columns of numbers alone; the classes are those of the batch, or known from before."""
        from deciban.io import batches

        x = batches.numbers(batch, self.features)
        classes, y = self.labels(batch) if classes is None else (classes, self.codes(batch, classes))
        return classes, Table(x, y, self.weights(batch), len(classes))

    def weights(self, batch: Any) -> np.ndarray | None:
        from deciban.io import batches

        return batches.weights(batch, self.weight)


@dataclass(frozen=True)
class TallyBatch:
    """batch → Part, for an engine to add up; it goes to workers as it is."""

    model: Any  # settings, and no state
    reading: ColumnRoles

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    @property
    def coded(self) -> tuple[str, ...]:
        """Columns of texts that may come as codes."""
        reading = self.reading
        known = zip(reading.features, reading.kinds, strict=False)
        return () if reading.texts else tuple(name for name, kind in known if kind == "level")

    def __call__(self, batch: Any) -> LabelledTally:
        if batch.num_rows == 0:
            return LabelledTally.nothing()
        try:
            return self.model._part(batch, self.reading)
        except DecibanError as wrong:
            raise relocate(wrong, names=self.reading.features) from None


def rows_of(table: Table) -> np.ndarray:
    """How many rows of a weight above 0 each class has, (k,); one of weight 3 counts like three."""
    if table.w is None:
        return np.bincount(table.y, minlength=table.k)
    real = np.bincount(table.y[table.w > 0], minlength=table.k)
    return np.maximum(real, np.bincount(table.y, table.w, minlength=table.k).astype(np.int64))
