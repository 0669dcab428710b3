"""The columns of a table: their names, the family of each, the levels of nominal columns.

Columns of equal families form one block. Frames are read by name: a reordered frame is aligned, an absent column is
missing in every row, an unknown column is ignored.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.data.frames import Column
>>> schema = Schema((Field("sky", Categorical(), ("grey", "red")),))
>>> block, absent = schema.read([Column("sky", np.array([0, -1], dtype=np.int32), ["red"])], 2)
>>> block.blocks[0].values.tolist(), absent
([[1], [-1]], [])
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deciban import ops
from deciban.data.blocks import Codes, ColumnBlock, Mixed, NewTexts, Reals, TextCodes
from deciban.data.frames import UNITS, Column, Name, sort_levels
from deciban.data.support import NEEDS, outside
from deciban.engines import threads
from deciban.errors import DataError, MergeError, SupportError
from deciban.rows.unused_columns import FEW, LONG, OWN

UNSEEN = -2  # the code of a level that is not in the schema, where it is no evidence; −1 is missing
MANY = 1 << 18  # cells of a table from which its columns are read in threads
HUGE = 1e150  # squares of larger numbers overflow in sums


@dataclass(frozen=True)
class Field:
    """One column: its family, and its levels in the order of their codes if it is nominal."""

    name: Name
    family: Any
    levels: tuple | None = None
    unit: str = ""  # of numbers, as in `frames.Column`
    vocabulary: tuple[str, ...] | None = None  # the words of texts that are not kept, and are no levels; None: all are

    @property
    def named(self) -> str:
        """The name, quoted for messages."""
        return str(self.name) if isinstance(self.name, int) else f"`{self.name}`"

    @cached_property
    def place(self) -> dict[Any, int]:
        """The code of each level."""
        return {level: code for code, level in enumerate(self.levels or ())}

    @cached_property
    def may_be_texts(self) -> bool:
        """Whether the levels are as many and as long as texts."""
        if self.vocabulary is not None:
            return True
        levels = self.levels or ()
        if len(levels) <= FEW or not all(isinstance(level, str) for level in levels):
            return False
        return sum(map(len, levels)) > LONG * len(levels)

    def holds_texts(self, rows: float) -> bool:
        """Whether the levels are texts, of which most of so many rows have one of their own."""
        return self.may_be_texts and len(self.levels or ()) > OWN * rows

    @cached_property
    def words(self) -> LevelWords:
        """The words of the levels, or of texts that were."""
        if self.vocabulary is not None:
            place = {word: j for j, word in enumerate(self.vocabulary)}
            return LevelWords(place, csr_array((0, len(place))))
        return LevelWords.of([str(level) for level in self.levels or ()])

    def without_texts(self) -> Field:
        """The field with the words of its levels instead of the levels."""
        return replace(self, levels=(), vocabulary=tuple(self.words.place))

    def grown(self, levels: Sequence) -> Field:
        """The field with new levels appended."""
        if self.levels is None:
            return self
        known = set(self.levels)
        return replace(self, levels=(*self.levels, *(level for level in levels if level not in known)))


@dataclass(frozen=True, eq=False)
class LevelWords:
    """How often each word occurs in each of some texts.

    >>> words = LevelWords.of(["so it goes", "it goes on and on"])
    >>> list(words.place), words.counts_of(["it may be so", ""]).toarray().tolist()
    (['and', 'goes', 'it', 'on', 'so'], [[0.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    """

    place: dict[str, int]  # the column of each word
    counts: csr_array  # (texts, words)

    @classmethod
    def of(cls, texts: list[str]) -> LevelWords:
        from deciban.text.features import Features  # tables without texts do not wait for it

        terms, counts = Features.from_settings("words").fit_counts(texts)
        return cls(terms.columns(), csr_array(counts))

    def counts_of(self, texts: list[str]) -> csr_array:
        """The counts of these words in other texts."""
        own = LevelWords.of(texts)
        place = np.array([self.place.get(word, -1) for word in own.place], dtype=np.int64)
        cells = own.counts.tocoo()
        row, word, x = cells.coords[0], place[cells.coords[1]], cells.data
        here = word >= 0
        return csr_array((x[here], (row[here], word[here])), shape=(len(texts), len(self.place)))


@dataclass(frozen=True)
class Schema:
    fields: tuple[Field, ...]
    gaps: Any = None  # the family of whether a cell is missing, where that is evidence
    reserve: bool = False  # whether unseen levels have a code, after the last one

    def __post_init__(self) -> None:
        if self.gaps is not None and any(field.family is self.gaps for field in self.fields):
            object.__setattr__(self, "gaps", copy(self.gaps))  # files store equal families once

    @cached_property
    def groups(self) -> list[tuple[Any, tuple[int, ...]]]:
        """(family, columns) of each block."""
        groups: dict[Any, list[int]] = {}
        last, own = None, []
        for j, field in enumerate(self.fields):
            if field.family is not last:  # families are costly to hash
                last, own = field.family, groups.setdefault(field.family, [])
            own.append(j)
        out = [(family, tuple(columns)) for family, columns in groups.items()]
        return out if self.gaps is None else [*out, (self.gaps, tuple(range(len(self.fields))))]

    @cached_property
    def names(self) -> list[Name]:
        return [field.name for field in self.fields]

    def grown(self, columns: list[Column]) -> Schema:
        """The schema with the new levels of these columns appended."""
        given = {column.name: column for column in columns}
        fields = [
            field.grown(given[field.name].as_levels().levels or ())
            if field.levels is not None and field.name in given
            else field
            for field in self.fields
        ]
        return replace(self, fields=tuple(fields))

    def read(
        self, columns: list[Column], n: int, learning: bool = False, texts: Collection[Name] = ()
    ) -> tuple[Mixed, list[Name]]:
        """(rows, names of absent columns). Columns that are not in the schema are ignored. `texts`: columns whose new
        levels are read as words."""
        given = {column.name: column for column in columns}
        if n * len(self.fields) < MANY:
            cells = [self._cells(field, given.get(field.name), n, learning) for field in self.fields]
        else:
            read = partial(self._cells, n=n, learning=learning)
            cells = list(threads.in_threads(lambda field: read(field, given.get(field.name)), self.fields))
        blocks: list[Reals | Codes] = []
        for family, at in self.groups:
            if family is self.gaps:
                each = (given.get(field.name) for field in self.fields)
                missing = [np.ones(n, dtype=bool) if c is None else c.missing for c in each]
                blocks.append(Codes(np.stack(missing).astype(np.int32).T))
            elif family.block == "codes":
                own = Codes(_side_by_side([cells[j] for j in at], n))
                blocks.append(self._with_new_texts(own, at, given, texts) if texts and not learning else own)
            else:
                blocks.append(ColumnBlock([cells[j] for j in at]))
        return Mixed(tuple(blocks), n), [name for name in self.names if name not in given]

    def _with_new_texts(self, x: Codes, at: Sequence[int], given: dict, texts: Collection[Name]) -> Codes:
        """Codes with the words of the texts that have no level, in some columns."""
        values, more = x.values, {}
        for c, field in enumerate(self.fields[j] for j in at):
            column = given.get(field.name)
            if field.name not in texts or column is None:
                continue
            coded = column.as_levels()
            new = {level: i for i, level in enumerate(one for one in coded.levels or () if one not in field.place)}
            if new:
                first = len(field.place) + self.reserve
                table = np.array([*(first + new[one] if one in new else -1 for one in coded.levels), -1])[coded.values]
                values = np.array(values)
                values[table >= 0, c] = table[table >= 0]
                unknown = len(field.place) if self.reserve else UNSEEN
                more[c] = NewTexts(field.words.counts_of([str(one) for one in new]), first, unknown)
        return TextCodes(values, x.floor, more=more) if more else x

    def _cells(self, field: Field, column: Column | None, n: int, learning: bool) -> np.ndarray:
        """The cells of a column in the format of its block."""
        if field.levels is None:
            if column is None:
                return np.full(n, np.nan)
            values = number_cells(field, column, learning)
            return values if field.family.support == "real" else _in_support(field, values, learning)
        if column is None:
            return np.full(n, -1, dtype=np.int32)
        return self._codes(field, column)

    def _codes(self, field: Field, column: Column) -> np.ndarray:
        return level_codes(field, column, len(field.place) if self.reserve else UNSEEN)

    def merged(self, other: Schema) -> tuple[Schema, list[np.ndarray], list[np.ndarray]]:
        """The schema of both, and the codes in it of each one's levels: for all columns with levels, in order."""
        if [f.name for f in self.fields] != [f.name for f in other.fields]:
            raise MergeError(
                "the columns of the models have different names\n\nhint: fit both on frames with the same columns"
            )
        for a, b in zip(self.fields, other.fields, strict=True):
            if (a.levels is None) != (b.levels is None):
                raise MergeError(
                    f"column {a.named} holds {_held(a)} in one model and {_held(b)} in the other\n\n"
                    "hint: make the column all numbers or all texts, and fit both models again"
                )
            if a.unit != b.unit:
                raise MergeError(
                    f"column {a.named} holds {UNITS[a.unit]} in one model and {UNITS[b.unit]} in the other\n\n"
                    "hint: give the column one type, and fit both models again"
                )
            if a.family != b.family:
                raise MergeError(
                    f"column {a.named} is {_family_name(a.family, b.family)} in one model and "
                    f"{_family_name(b.family, a.family)} in the other\n\n"
                    "hint: fit both with the same `families={...}`; the first model's are in `families_`"
                )
        both = replace(
            self, fields=tuple(a.grown(b.levels or ()) for a, b in zip(self.fields, other.fields, strict=True))
        )
        return both, both.places(self), both.places(other)

    def ordered(self) -> Schema:
        """The schema with sorted levels: the one of a fit on all rows at once."""
        fields = []
        for one in self.fields:
            order = sort_levels(one.levels or ())
            fields.append(one if one.levels is None else replace(one, levels=tuple(one.levels[i] for i in order)))
        return replace(self, fields=tuple(fields))

    def reordered(self, order: Sequence[int]) -> Schema:
        """The schema with column order[j] at position j."""
        return replace(self, fields=tuple(self.fields[j] for j in order))

    def places(self, part: Schema) -> list[np.ndarray]:
        """The codes of the levels of another schema, which has no others, for all columns in order."""
        out = []
        for mine, theirs in zip(self.fields, part.fields, strict=True):
            place = {level: code for code, level in enumerate(mine.levels or ())}
            out.append(np.array([place[level] for level in theirs.levels or ()], dtype=np.int64))
        return out


def _held(field: Field) -> str:
    if field.levels is None:
        return "numbers"
    return f"levels (such as {field.levels[0]!r})" if field.levels else "levels"


def _family_name(family: Any, other: Any) -> str:
    """Name of a family in a message that names another too: with its settings only if the names are equal."""
    return str(family) if type(family) is type(other) else type(family).__name__.lower()


def _side_by_side(columns: list[np.ndarray], n: int) -> np.ndarray:
    """Columns of codes as one array (n, d), each column contiguous."""
    out = np.empty((len(columns), n), dtype=np.int32)
    for at, column in zip(out, columns, strict=True):
        at[:] = column
    return out.T


def _texts(levels: Sequence) -> bool:
    return isinstance(levels[0], (str, bytes))


def level_codes(field: Any, column: Column, unknown: int) -> np.ndarray:
    """The codes of a column's cells in a field (its `named`, `levels` and their `place`), −1 where one is missing, and
    `unknown` where it is a level that the field does not have."""
    coded = column.as_levels()
    levels = coded.levels or []
    if tuple(levels) == field.levels:
        return coded.values
    if levels and field.levels and _texts(levels) != _texts(field.levels):
        raise DataError(
            f"column {field.named} holds {type(levels[0]).__name__} (such as {levels[0]!r}), but was learned from "
            f"{type(field.levels[0]).__name__} (such as {field.levels[0]!r})\n\n"
            "hint: convert it to the type that it had in training"
        )
    table = np.array([*(field.place.get(level, unknown) for level in levels), -1], dtype=np.int32)
    return table[coded.values]


def number_cells(field: Any, column: Column, learning: bool) -> np.ndarray:
    """The cells of a column in a field of numbers (its `named` and `unit`). Texts, another unit, infinities and, in
    learning, magnitudes whose squares overflow raise an error."""
    if column.levels is not None:
        if not column.levels:  # all missing
            return np.full(len(column.values), np.nan)
        what = UNITS[field.unit]
        raise DataError(
            f"column {field.named} holds {type(column.levels[0]).__name__} (such as {column.levels[0]!r}), but was "
            f"learned as {what}\n\nhint: convert it to {what}, missing cells as NaN or None"
        )
    values = column.values
    if column.unit != field.unit and not column.missing.all():
        raise DataError(
            f"column {field.named} holds {UNITS[column.unit]}, but was learned as {UNITS[field.unit]}\n\n"
            f"hint: give {UNITS[field.unit]}, as in training"
        )
    largest = ops.max_abs(values)
    if largest == np.inf:
        infinite = np.isinf(values)
        raise SupportError(
            f"Input X contains infinity ({values[infinite][0]} in row {infinite.argmax()}, column {field.named})\n\n"
            "hint: put NaN there (a missing cell is ignored), or leave the row out"
        )
    if learning and largest > HUGE:
        row = int(np.nanargmax(np.abs(values)))
        raise SupportError(
            f"Input X holds magnitudes up to {largest:.3g} (row {row}, column {field.named}), whose "
            "squares overflow float64\n\nhint: divide the column by a power of ten first"
        )
    return values


def _in_support(field: Field, values: np.ndarray, learning: bool) -> np.ndarray:
    """Numbers in the support of their family: others raise an error in learning, and are no evidence in scoring."""
    wrong = outside(values, field.family.support)
    if not wrong.any():
        return values
    if learning:
        row, family = int(wrong.argmax()), type(field.family).__name__.lower()
        raise SupportError(
            f"column {field.named} has {values[row]:g} in row {row}, but `{family}` needs "
            f"{NEEDS[field.family.support]}\n\nhint: use another family for `{field.name}`, such as `gaussian` or "
            "`histogram`, or correct the cell"
        )
    return np.where(wrong, np.nan, values)
