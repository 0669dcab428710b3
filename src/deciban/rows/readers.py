"""Readers: convert X and y, as a user passes them, to blocks and labels, and predictions back.

A reader is made from the settings of a classifier. `training` reads training rows and returns a reader that knows their
columns; the model itself does not change before it has learned.

`ArrayReader` takes tables of numbers, as scikit-learn's classifiers do; `TableReader` takes frames with other columns,
too, by a `Coding`; `ColumnReader` takes frames and arrays whose columns have types, names and levels. `ArrayKind` is
the type of an array (its dtype, and its library if that is not NumPy), so that predictions can be returned in the same
type.

>>> import numpy as np
>>> reader, x, y, _ = ArrayReader("GaussianNB").training(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))
>>> reader.d, reader.read(np.array([[5.0, 6.0]])).values.tolist()
(2, [[5.0, 6.0]])
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from deciban.data import frames
from deciban.data.blocks import Block, Codes, Mixed, Reals
from deciban.data.frames import Column, column_label, column_labels
from deciban.display import format_list, is_missing
from deciban.engines import threads
from deciban.errors import ColumnWarning, DataError, closest, did_you_mean, levels_up
from deciban.rows import inputs
from deciban.rows.coding import LINEAR, Coding, CodingRule, is_plain
from deciban.rows.inputs import column_notes, missing_labels_named, raise_missing_labels
from deciban.rows.labels import several_types
from deciban.rows.row_cells import CellReader
from deciban.rows.rows import ColumnRoles
from deciban.rows.schema import Field, Schema

READY = inputs._READY
LONG = 1024  # rows from which columns are read in threads
SMALL = 1 << 16  # largest number of cells of whole numbers that are converted in one call
NAMED_AFTER = "means_"  # the attribute that messages about array libraries name


class Training(NamedTuple):
    """Training rows, read."""

    reader: Any  # that knows their columns
    x: Block
    y: np.ndarray | Column  # labels
    notes: Callable[[np.ndarray, np.ndarray], list[str]] | None = None  # (codes, classes) → notes on suspicious columns


class Reader:
    """What readers have in common; a subclass overrides what differs."""

    d: Any  # number of columns of the model
    names: np.ndarray | None
    columns: Any  # names of the columns of the model
    cells: Callable[[Any, Block], np.ndarray]
    block: str = "mixed"  # type of the block of rows
    texts: Sequence = ()  # the columns that may hold texts

    @property
    def n_features(self) -> int:
        """Number of columns that a user gives."""
        return self.d

    @property
    def feature_names(self) -> np.ndarray | None:
        """Their names, if they have any, as `feature_names_in_`."""
        return self.names

    @property
    def scales(self) -> np.ndarray | None:
        """The standard deviations that a penalty of coefficients divides columns by, (d,); None: it does not."""
        return None

    @property
    def levels(self) -> dict[Any, list] | None:
        """The levels of columns of categories, by name; None: there are only numbers."""
        return None

    @property
    def units(self) -> dict[Any, str]:
        """The units of columns of dates and durations, by name."""
        return {}

    @property
    def level_names(self) -> list[Sequence] | None:
        """The levels of each column of the model; None: codes have no names."""
        return None

    @property
    def fills_columns(self) -> bool:
        """Whether columns that rows lack count as missing in every row."""
        return False

    @property
    def shown_columns(self) -> list[str]:
        """Names of the columns that evidence is shown of."""
        return self.columns

    def shown_parts(self, parts: np.ndarray) -> np.ndarray:
        """Evidence (n, k, d) by these columns."""
        return parts

    def model_cells(self, X: Any, x: Block) -> np.ndarray:
        """The cells of the model's columns, (n, d)."""
        return self.cells(X, x)

    def coding_rule(self, roles: ColumnRoles) -> CodingRule | None:
        """How columns of data elsewhere are coded; None: they are not."""
        return None

    def output(self, X: Any) -> ArrayKind:
        """The type of array that predictions for X are returned as."""
        return ArrayKind.plain

    def view(self, a: np.ndarray) -> Any:
        """A fitted attribute in the array type of the training rows."""
        return a


@dataclass(frozen=True, eq=False)
class ArrayReader(Reader):
    """Tables of numbers: arrays, sparse matrices, frames of numbers."""

    model: str  # name of the classifier, for messages
    block: str = "reals"  # type of the block: reals, dense, counts or codes
    keeps_kind: bool = False  # whether predictions have the dtype and library of X
    least: int = 1  # least rows for a fit
    d: int = 0
    names: np.ndarray | None = None  # (d,), texts
    labels: tuple = ()  # column names of a frame, if they are not texts
    ignored: tuple[str, ...] = ()  # columns of frames that are ignored without a warning
    target: str | None = None  # name of the label column
    origin: ArrayKind = field(default_factory=lambda: ArrayKind.plain)
    schema: ClassVar[None] = None
    coding: Coding | None = field(default=None, init=False)
    library: str | None = field(default=None, init=False)  # None: frames are read as arrays
    LEARNED: ClassVar[tuple[str, ...]] = ("d", "names", "labels", "ignored", "target", "origin")

    def training(self, X: Any, y: Any, first: bool = True) -> Training:
        """Rows and labels to learn from; `first`: the columns are not known yet."""
        checked = inputs.stand_in(self.model) if first else self._checked()
        x, labels = inputs.training(checked, X, y, self.block, first, self.least if first else 1)
        if not first:
            return Training(self, x, labels)
        known = vars(checked)
        found = replace(
            self,
            d=known["n_features_in_"],
            names=known.get("feature_names_in_"),
            labels=tuple(known.get("_frame_names", ())),
            ignored=(),
            target=frames.target_name(y),
            origin=ArrayKind.of(X),
        )
        return Training(found, x, labels)

    def read(self, X: Any, method: str = "predict") -> Block:
        """Rows to score, for a method of that name. A NumPy array with the right number of columns needs no further
        checks."""
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[1] == self.d
            and self.names is None
            and X.dtype in READY
            and X.size
            and self.origin.library is None
        ):
            if self.block == "codes":
                return Codes(X, floor=0)
            return Reals(X if X.dtype.kind == "f" or X.size > SMALL else X.astype(np.float64))
        if isinstance(X, Block):
            return X
        return self._read_other(X, method)

    def _read_other(self, X: Any, method: str) -> Block:
        """Rows to score that are not a plain array."""
        self._check_library(X, method)
        return inputs.features(self._checked(), X, self.block)

    def read_batch(self, batch: Any, columns: Sequence[str]) -> Block:
        """These columns of Arrow rows."""
        from deciban.io import batches

        if self.block == "codes":
            return Codes(batches.codes(batch, columns), floor=0)
        return batches.numbers(batch, columns)

    def learning_batch(self, batch: Any, roles: ColumnRoles) -> Block:
        """The rows of a batch to learn from."""
        return self.read_batch(batch, roles.features)

    def of_batch(self, batch: Any, roles: ColumnRoles) -> tuple[ArrayReader, tuple[str, ...]]:
        """(the reader of these rows only, type of each column)."""
        return self, ()

    def of_columns(self, roles: ColumnRoles) -> ArrayReader:
        """The reader that knows the columns of data elsewhere."""
        names = np.array(roles.features, dtype=object)
        return replace(
            self, d=len(names), names=names, labels=(), ignored=(), target=roles.target, origin=ArrayKind.plain
        )

    def with_schema(self, schema: None) -> ArrayReader:
        return self

    def cell_reader(self, columns: Sequence[str]) -> CellReader | None:
        """A reader of the cells of single rows in these columns; None: there is none. Absent columns raise an error,
        or a warning where they count as missing."""
        if self.names is None:
            return None
        absent = [name for name in self.names if name not in set(columns)]
        if absent:
            hint = did_you_mean(absent[0], columns) or f"the columns of training are {format_list(self.columns)}"
            raise DataError(f"{format_list(absent)} {_is(absent)} not among the columns\n\nhint: {hint}")
        new = [name for name in columns if name not in set(self.names)]
        warn_of_columns([], new, self.columns, {self.target, *self.ignored}, False)
        if self.block == "codes":
            return None
        return CellReader.of_numbers(self.names.tolist(), columns, 0.0 if self.block == "counts" else -np.inf)

    def output(self, X: Any) -> ArrayKind:
        return ArrayKind.of(X) if self.keeps_kind else ArrayKind.plain

    def view(self, a: np.ndarray) -> Any:
        return self.origin.send(a) if self.keeps_kind else a

    def reordered(self, other: ArrayReader, order: Sequence[int]) -> ArrayReader:
        """The same reader with its columns in the order of another reader."""
        return replace(self, names=other.names, labels=other.labels)

    @property
    def digested_names(self) -> np.ndarray | None:
        """The names by which the columns of a block count in the digests of rows; None: they have none, or a schema."""
        return self.names

    @property
    def columns(self) -> list[str]:
        """Names of the columns of the model: those of the training frame, or x0, x1, …"""
        named = self.labels if self.names is None else self.names
        return [str(name) for name in named] if len(named) else column_labels(self.d)

    def cells(self, X: Any, x: Block) -> np.ndarray:
        """The cells (n, d) as in X; NaN is missing."""
        if isinstance(x, Codes):
            return np.where(x.values < 0, np.nan, x.values.astype(np.float64))
        assert not isinstance(x, Mixed)
        return x.dense()

    def candidates(self, grid: list[np.ndarray]) -> list[np.ndarray]:
        """Values of each column at which scales are drawn, as in X."""
        return grid

    def block_of(self, columns: list[np.ndarray]) -> Block:
        """Columns of candidate values, all of one length, as rows."""
        cells = np.column_stack(columns)
        return Codes(cells) if self.block == "codes" else Reals(cells)

    def _checked(self) -> Any:
        return inputs.stand_in(self.model, self.d, self.names, self.ignored)

    def _check_library(self, X: Any, method: str) -> None:
        """Raise an error if X is of another array library than in training (under scikit-learn's array API
        dispatch)."""
        if not self.keeps_kind or not get_config()["array_api_dispatch"]:
            return
        fitted = inputs.stand_in(self.model)
        setattr(fitted, NAMED_AFTER, self.origin.send(np.zeros(1)))
        inputs.array_api().check_same_namespace(X, fitted, attribute=NAMED_AFTER, method=method)


@dataclass(frozen=True, eq=False)
class ColumnReader(Reader):
    """Frames and arrays whose columns have different types."""

    model: str
    make: Callable[[list[Column]], Schema]  # makes the schema of the first training columns
    numbers_are_levels: Callable[[Any], bool]  # whether the settings treat the numbers of a column as levels
    strict: bool = False  # whether missing or additional columns are an error
    least: int = 1
    schema: Schema | None = None
    names: np.ndarray | None = None  # (d,), as `feature_names_in_`; None: X was an array
    library: str | None = None  # of the training frame; None: an array
    ignored: tuple[str, ...] = ()
    target: str | None = None
    has_words: Callable[[Field], bool] | None = None  # whether a column may hold texts; None: none is read as words
    origin: ClassVar[ArrayKind]
    coding: ClassVar[None] = None
    keeps_kind: ClassVar[bool] = False
    LEARNED: ClassVar[tuple[str, ...]] = ("schema", "names", "library", "ignored", "target")

    @property
    def d(self) -> int:
        return 0 if self.schema is None else len(self.schema.fields)

    @property
    def digested_names(self) -> None:
        return None

    @property
    def levels(self) -> dict[Any, list] | None:
        return {field.name: list(field.levels) for field in self.fields if field.levels is not None}

    @property
    def units(self) -> dict[Any, str]:
        return {field.name: field.unit for field in self.fields if field.unit}

    @property
    def level_names(self) -> list[Sequence] | None:
        return [field.levels or () for field in self.fields]

    @property
    def fills_columns(self) -> bool:
        return not self.strict

    @property
    def fields(self) -> tuple:
        assert self.schema is not None
        return self.schema.fields

    def training(self, X: Any, y: Any, first: bool = True) -> Training:
        target = frames.target_name(y)
        X, y = frames.take_target(X, y)
        reader = replace(self, schema=None, names=None, library=None, ignored=(), target=target) if first else self
        columns, n, new, names, library = reader._columns(X, reader.least if first else 1)
        called, labels = getattr(y, "name", None), read_labels(y, reader.model)
        check_length(n, labels)
        if first:
            reader = replace(reader, schema=reader.make(columns), names=names, library=library)
        else:
            reader._check_grown(columns)
            reader = replace(reader, schema=reader.known.grown(columns))
        x, absent = reader.known.read(columns, n, learning=True)
        reader._warn_of_columns(absent, new)
        texts = set(reader.texts)
        noted = [column for column in columns if column.name not in texts]
        return Training(reader, x, labels, partial(column_notes, noted, target=called) if first else None)

    @property
    def known(self) -> Schema:
        assert self.schema is not None
        return self.schema

    def read(self, X: Any, method: str = "predict") -> Block:
        if isinstance(X, Mixed):
            return X
        columns, n, new, *_ = self._columns(X, 1)
        assert self.schema is not None
        x, absent = self.schema.read(columns, n, texts=self.texts)
        if absent or new:
            self._warn_of_columns(absent, new)
        return x

    def read_batch(self, batch: Any, columns: Sequence[str]) -> Block:
        from deciban.io import batches

        found = batches.columns(batch, columns)
        named = by_position(found, self.known.names, self.model) if self._unnamed else found
        return self.known.read(named, batch.num_rows, texts=self.texts)[0]

    def of_batch(self, batch: Any, roles: ColumnRoles) -> tuple[ColumnReader, tuple[str, ...]]:
        from deciban.io import batches

        kinds = dict(zip(roles.features, roles.kinds, strict=False))
        found = tuple(
            batches.column_kind_or(batches.column_of(batch, name), kinds.get(name)) for name in roles.features
        )
        return replace(self, schema=self.make(batches.columns(batch, roles.features, kinds))), found

    def learning_batch(self, batch: Any, roles: ColumnRoles) -> Block:
        """The rows of a batch to learn from; cells outside the support of the families raise an error."""
        from deciban.io import batches

        kinds = dict(zip(roles.features, roles.kinds, strict=False))
        columns = batches.columns(batch, roles.features, kinds)
        return self.known.read(columns, batch.num_rows, learning=True)[0]

    @cached_property
    def texts(self) -> list:  # type: ignore[override]
        """The columns that may hold texts."""
        return [] if self.has_words is None else [field.name for field in self.fields if self.has_words(field)]

    def cell_reader(self, columns: Sequence[str]) -> CellReader | None:
        if self._unnamed or self.texts:
            return None
        known = self.known.names
        absent = [name for name in known if name not in set(columns)]
        self._warn_of_columns(absent, [name for name in columns if name not in set(known)])
        return CellReader.of_schema(self.known, columns)

    def of_columns(self, roles: ColumnRoles) -> ColumnReader:
        names = np.array(roles.features, dtype=object)
        return replace(self, schema=None, names=names, library="pyarrow", ignored=(), target=roles.target)

    def with_schema(self, schema: Schema) -> ColumnReader:
        return self if schema is self.schema else replace(self, schema=schema)

    def reordered(self, other: ColumnReader, order: Sequence[int]) -> ColumnReader:
        return replace(self, schema=self.known.reordered(order), names=other.names)

    @property
    def columns(self) -> list[str]:
        return [column_label(name) for name in self.known.names]

    def cells(self, X: Any, x: Block) -> np.ndarray:
        out = np.full((x.n, self.d), None, dtype=object)
        if isinstance(X, Block):
            return out
        given = {column.name: column for column in self._columns(X, 1)[0]}
        for j, one in enumerate(self.fields):
            if one.name in given:
                out[:, j] = given[one.name].shown()
        return out

    def candidates(self, grid: list[np.ndarray]) -> list[np.ndarray]:
        """Values of each column; levels by name, with a missing cell as a level where that is evidence."""
        none = [None] if self.known.gaps is not None else []
        return [
            values
            if one.levels is None
            else np.array([*(one.levels[code] for code in values if code < len(one.levels)), *none, ""], dtype=object)[
                :-1
            ]
            for one, values in zip(self.fields, grid, strict=True)
        ]

    def block_of(self, columns: list[np.ndarray]) -> Block:
        named = [_column(one, values) for one, values in zip(self.fields, columns, strict=True)]
        return self.known.read(named, len(columns[0]))[0]

    # inside

    def _check_grown(self, columns: list[frames.Column]) -> None:
        """Raise an error for numbers in a column that was empty so far and therefore read as levels."""
        empty = {field.name for field in self.fields if field.levels == ()}
        for column in columns:
            numbers = column.name in empty and column.levels is None and not column.missing.all()
            if numbers and not self.numbers_are_levels(column.name):
                raise DataError(
                    f"column `{column.name}` was empty in the rows so far, was read as levels, and holds numbers "
                    "now\n\nhint: `fit` on all rows; or begin with a column of numbers (NaN in every row)"
                )

    def _columns(self, X: Any, least: int) -> tuple[list[Column], int, list, np.ndarray | None, str | None]:
        """(columns, number of rows, names of unknown columns, which are not read, names of all columns, library of the
        frame)."""
        X = frames.records(X)
        first = self.schema is None
        if not frames.is_frame(X):
            checked = inputs.stand_in(self.model, self.d, self.names)
            columns, n = array_columns(checked, X, first, least)
            columns = columns if first else by_position(columns, self.known.names, self.model)
            return columns, n, [], vars(checked).get("feature_names_in_"), None
        known = None if first or self._unnamed else self.known.names
        columns, names, new = named_columns(X, known, least, self.model)
        if not first and self._unnamed:
            columns = by_position(columns, self.known.names, self.model)
        return columns, len(X), new, np.array(names, dtype=object), frames.library(X)

    @property
    def _unnamed(self) -> bool:
        """Whether the model learned from an array."""
        return isinstance(self.fields[0].name, int)

    def _warn_of_columns(self, absent: list, new: list) -> None:
        """Warn of (or, if strict, raise an error for) missing and additional columns."""
        warn_of_columns(absent, new, self.known.names, {self.target, *self.ignored}, self.strict)


@dataclass(frozen=True, eq=False)
class TableReader(ArrayReader):
    """Tables of numbers, as `ArrayReader` takes them, and frames with categories, dates and missing cells, which become
    columns of numbers by a coding. `d`, `names` and `columns` are those of the model, after coding."""

    rule: CodingRule = LINEAR
    complete: bool = False  # whether frames with missing numbers are coded, too
    coding: Coding | None = None  # None: there is none, rows are tables of numbers
    library: str | None = None
    LEARNED: ClassVar[tuple[str, ...]] = (*ArrayReader.LEARNED, "coding", "library")

    def training(self, X: Any, y: Any, first: bool = True, w: Any = None) -> Training:
        """Rows and labels to learn from; w: weights of the rows."""
        rows, labels = frames.take_target(frames.records(X), y)
        if self.coding is None and (not first or is_plain(rows, self.complete)):
            return super().training(X, y, first)
        columns, n, new = self._columns(rows, self.least if first else 1)
        found = read_labels(labels, self.model)
        check_length(n, found)
        reader, notes = self, list[str]()
        if first:
            weights = inputs.weights(w, np.zeros(n))
            coding, notes = Coding.of(columns, self.rule, weights, lambda: inputs.labels(found, None)[1])
            reader = replace(self.of_coding(coding), target=frames.target_name(y), library=frames.library(rows))
        x, absent = reader.coded.read(columns, n, learning=True)
        reader._warn_of_columns(absent, new)
        return Training(reader, x, found, (lambda codes, classes: notes) if notes else None)

    def coding_rule(self, roles: ColumnRoles) -> CodingRule | None:
        return None if roles.plain else self.rule

    def of_coding(self, coding: Coding) -> TableReader:
        """The reader with a coding, and its columns."""
        return replace(self, coding=coding, d=coding.d, names=coding.label_array)

    @property
    def coded(self) -> Coding:
        assert self.coding is not None
        return self.coding

    @property
    def scales(self) -> np.ndarray | None:
        return None if self.coding is None else self.coding.scales

    def _read_other(self, X: Any, method: str) -> Block:
        if self.coding is None:
            return super()._read_other(X, method)
        columns, n, new = self._columns(frames.records(X), 1)
        x, absent = self.coding.read(columns, n)
        if absent or new:
            self._warn_of_columns(absent, new)
        return x

    def read_batch(self, batch: Any, columns: Sequence[str]) -> Block:
        from deciban.io import batches

        if self.coding is None:
            return super().read_batch(batch, columns)
        return self.coding.read(batches.columns(batch, columns), batch.num_rows)[0]

    def learning_batch(self, batch: Any, roles: ColumnRoles) -> Block:
        from deciban.io import batches

        if self.coding is None:
            return super().learning_batch(batch, roles)
        return self.coding.read(batches.columns(batch, roles.features), batch.num_rows, learning=True)[0]

    def cell_reader(self, columns: Sequence[str]) -> CellReader | None:
        if self.coding is None:
            return super().cell_reader(columns)
        absent = [code.name for code in self.coding.columns if code.used and code.name not in set(columns)]
        self._warn_of_columns(absent, [name for name in columns if name not in set(self.coding.names)])
        return CellReader.of_coding(self.coding, columns)

    def reordered(self, other: ArrayReader, order: Sequence[int]) -> ArrayReader:
        return replace(super().reordered(other, order), coding=other.coding)

    @property
    def n_features(self) -> int:
        return self.d if self.coding is None else len(self.coding.columns)

    @property
    def feature_names(self) -> np.ndarray | None:
        return self.names if self.coding is None else np.array(self.coding.names, dtype=object)

    @property
    def levels(self) -> dict[Any, list] | None:
        return None if self.coding is None else self.coding.levels

    @property
    def units(self) -> dict[Any, str]:
        return {} if self.coding is None else {code.name: code.unit for code in self.coding.columns if code.unit}

    @property
    def level_names(self) -> list[Sequence] | None:
        if self.coding is None or self.block != "codes":
            return None
        return [one.level_names for code, _ in self.coding.groups for one in (code, *code.parts)]

    @property
    def fills_columns(self) -> bool:
        return self.coding is not None

    @property
    def shown_columns(self) -> list[str]:
        return self.columns if self.coding is None else [code.name for code, _ in self.coding.groups]

    def shown_parts(self, parts: np.ndarray) -> np.ndarray:
        return parts if self.coding is None else self.coding.summed(parts)

    def cells(self, X: Any, x: Block) -> np.ndarray:
        if self.coding is None:
            return super().cells(X, x)
        out = np.full((x.n, len(self.coding.groups)), None, dtype=object)
        if isinstance(X, Block):
            return out
        given = {column.name: column for column in self._columns(frames.records(X), 1)[0]}
        for j, (code, _) in enumerate(self.coding.groups):
            if code.name in given:
                out[:, j] = given[code.name].shown()
        return out

    def model_cells(self, X: Any, x: Block) -> np.ndarray:
        if self.coding is None or self.block != "codes":
            return super().cells(X, x)
        shown, each = self.cells(X, x), self.coding.groups
        widths = [code.width for code, _ in each]
        out = np.repeat(shown, widths, axis=1)
        for column, (code, at) in enumerate(each):
            for j, part in enumerate(code.parts, start=at.start + 1):
                levels = np.array([*part.level_names, None], dtype=object)
                out[:, j] = levels[x.values[:, j]] if isinstance(x, Codes) else shown[:, column]
        return out

    def candidates(self, grid: list[np.ndarray]) -> list[np.ndarray]:
        if self.coding is None:
            return grid
        return [code.candidates(grid[at.start]) for code, at in self.coding.groups]

    def block_of(self, columns: list[np.ndarray]) -> Block:
        if self.coding is None:
            return super().block_of(columns)
        named = [_column(code, values) for (code, _), values in zip(self.coding.groups, columns, strict=True)]
        return self.coding.read(named, len(columns[0]))[0]

    def _columns(self, X: Any, least: int) -> tuple[list[Column], int, list[str]]:
        """(columns, number of rows, names of unknown columns, which are not read)."""
        known = None if self.coding is None else self.coding.names
        if frames.is_frame(X):
            columns, _, new = named_columns(X, known, least, self.model, [] if known is None else self._unused)
            return columns, len(X), new
        assert known is not None
        checked = inputs.stand_in(self.model, self.n_features, self.feature_names)
        columns, n = array_columns(checked, X, False, least)
        return by_position(columns, known, self.model), n, []

    @property
    def _unused(self) -> list[str]:
        return [code.name for code in self.coded.columns if not code.used]

    def _warn_of_columns(self, absent: list, new: list) -> None:
        used = [code.name for code in self.coded.columns if code.used]
        warn_of_columns(absent, new, used, {self.target, *self.ignored}, False)


def read_labels(y: Any, model: str) -> np.ndarray | Column:
    """Labels of any library and type as an array (a series of texts as levels); missing labels raise an error."""
    if type(y) is np.ndarray and y.ndim == 1 and len(y) and y.dtype.kind in "iub":
        return y
    texts = frames.texts(y)
    if texts is not None and len(texts.values) and texts.values.min() >= 0:
        return texts
    if isinstance(y, (list, tuple)):
        raise_missing_labels(y)
    with missing_labels_named(y):
        if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
            y = np.asarray(y)
        y = inputs.check_label_array(y, multi_output=False, estimator=inputs.stand_in(model))
        if y.dtype.kind not in "iubOU":
            check_classification_targets(y)
        if y.dtype.kind == "O" and any(v is None or v != v for v in dict.fromkeys(y.tolist())):
            raise ValueError("Input y contains NaN")
    if y.dtype.kind == "O":
        labels = y.tolist()
        known = list(dict.fromkeys(labels))
        is_text = [isinstance(label, str) for label in known]
        if known and all(is_text):
            place = {label: code for code, label in enumerate(known)}
            codes = np.fromiter(map(place.__getitem__, labels), dtype=np.int32, count=len(labels))
            return Column("y", codes, known)
        if any(is_text):
            raise several_types(known)
    return y


def check_length(n: int, labels: np.ndarray | Column) -> None:
    """Raise an error if there are not as many labels as rows."""
    given = labels.values if isinstance(labels, Column) else labels
    if len(given) != n:  # scikit-learn's check of its own takes long
        check_consistent_length(range(n), given)


def named_columns(
    X: Any, known: Sequence | None, least: int, model: str, unread: Sequence = ()
) -> tuple[list[Column], list[str], list[str]]:
    """(columns of a frame, names of all of them, names of those that are not known); only known columns are read,
    without the `unread` ones; None: all are."""
    names, n = frames.names(X), len(X)
    if n < least or not names:
        hint = "check whether a filter removed the rows" if names else "the frame has no columns; give it some"
        raise DataError(
            f"Found array with {n} sample(s) and {len(names)} feature(s) while a minimum of {max(least, 1)} is "
            f"required by {model}.\n\nhint: {hint}"
        )
    each = threads.in_threads if n >= LONG else map
    if known is None:
        return frames.columns(X, each), names, []
    have = set(known)
    return frames.columns(X, each, have - set(unread)), names, [name for name in names if name not in have]


def array_columns(checked: Any, X: Any, first: bool, least: int) -> tuple[list[Column], int]:
    """(columns of an array or of lists, number of rows), after scikit-learn's checks of this stand-in."""
    if inputs.is_ready(X, None if first else checked) and len(X) >= least:
        return frames.columns(X, threads.in_threads), len(X)
    if isinstance(X, (list, tuple)) and np.ndim(X) == 2 and np.asarray(X).dtype.kind in "US":
        X = np.array(X, dtype=object)  # in a mixed list, numbers stay numbers
    X = validate_data(checked, X, reset=first, dtype=None, ensure_all_finite=False, ensure_min_samples=least)
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: X has complex numbers\n\nhint: split them into columns")
    return frames.columns(X, threads.in_threads), X.shape[0]


def by_position(columns: list[Column], names: Sequence, model: str) -> list[Column]:
    """Columns with the names of training, by position."""
    if len(columns) != len(names):
        raise DataError(
            f"X has {len(columns)} features, but {model} is expecting {len(names)} features "
            "as input\n\nhint: give the columns of training, in their order"
        )
    return [Column(name, c.values, c.levels, c.unit) for name, c in zip(names, columns, strict=True)]


def warn_of_columns(absent: list, new: list, known: Sequence, passed: set, strict: bool) -> None:
    """Warn of (or, if strict, raise an error for) missing and additional columns; `passed` ones may be there."""
    new = [name for name in new if name not in passed]
    frames.check_unicode_forms(absent, new)
    if len(absent) == len(known):
        raise DataError(
            f"none of the columns {format_list(known)} is in X, which has {format_list(new)}\n\n"
            "hint: name the columns as in training"
        )
    if strict and (absent or new):
        raise _other_columns(absent, new, known)
    messages = [f"{format_list(absent)} not in X: taken as missing in every row"] if absent else []
    messages += [f"{format_list(new)} not known from training: ignored"] if new else []
    if messages:
        warnings.warn("; ".join(messages), UserWarning, stacklevel=levels_up())


def _other_columns(absent: list, new: list, known: Sequence) -> DataError:
    messages = [f"{format_list(absent)} {_is(absent)} not in X"] if absent else []
    messages += [f"{format_list(new)} {_is(new)} not known from training"] if new else []
    meant = [f"`{near}` for `{name}`" for name in new if (near := closest(name, absent))]
    hint = f"did you mean {', '.join(meant)}?" if meant else f"the columns of training are {format_list(known)}"
    return DataError(f"{'; '.join(messages)} (columns='strict')\n\nhint: {hint}")


def warn_of_odd_columns(notes: list[str]) -> None:
    """Warn of columns that are probably not meant to be learned from."""
    warnings.warn(
        f"{'; '.join(notes)}\n\nhint: leave out what does not belong to X; "
        "warnings.simplefilter('ignore', deciban.errors.ColumnWarning) silences this",
        ColumnWarning,
        stacklevel=levels_up(),
    )


def _column(one: Any, values: np.ndarray) -> Column:
    """Candidate values as a column of a frame."""
    if one.levels is None:
        return Column(one.name, np.asarray(values, dtype=np.float64), unit=one.unit)
    levels = list(dict.fromkeys(value for value in values if not is_missing(value)))
    codes = [-1 if is_missing(value) else levels.index(value) for value in values]
    return Column(one.name, np.array(codes, dtype=np.int32), levels)


def _is(names: list) -> str:
    return "is" if len(names) == 1 else "are"


@dataclass(frozen=True)
class ArrayKind:
    dtype: Any = None  # NumPy's; None: leave as it is
    library: str | None = None  # the array API namespace, by name: models stay picklable
    device: Any = None

    plain: ClassVar[ArrayKind]

    @classmethod
    def of(cls, X: Any) -> ArrayKind:
        """The type of X: its floating dtype (whole numbers become doubles), and its library under dispatch."""
        if type(X) is np.ndarray:
            return _ORIGINS.get(X.dtype, cls.plain)
        if hasattr(X, "__array_namespace__") and get_config()["array_api_dispatch"]:
            api = inputs.array_api()
            xp, _, device = api.get_namespace_and_device(X)
            name = str(api._find_matching_floating_dtype(X, xp=xp)).rsplit(".", 1)[-1]
            return cls(np.dtype(name), xp.__name__, device)
        dtype = getattr(X, "dtype", None)
        return _ORIGINS.get(dtype, cls.plain) if isinstance(dtype, np.dtype) else cls.plain

    @property
    def coarse(self) -> bool:
        """Whether predictions are rounded to less than double precision."""
        return self.dtype is not None and self.dtype.itemsize < 8

    def send(self, a: np.ndarray) -> Any:
        """A prediction or parameter in the dtype and library of X."""
        if self.dtype is not None and a.dtype != self.dtype:
            a = a.astype(self.dtype)
        return self._leave(a)

    def send_logs(self, logs: np.ndarray) -> Any:
        """Log probabilities, changed in place: a probability that rounds to 1 in the dtype of X has the logarithm 0."""
        if self.coarse:
            logs[logs > -np.finfo(self.dtype).eps / 4] = 0.0
        return self.send(logs)

    def send_labels(self, labels: np.ndarray) -> Any:
        """Labels in the library of X, unless they are strings, which only NumPy holds."""
        return labels if labels.dtype.kind in "OUST" else self._leave(labels)

    def _leave(self, a: np.ndarray) -> Any:
        return a if self.here else importlib.import_module(str(self.library)).asarray(a, device=self.device)

    @property
    def here(self) -> bool:
        """Whether the library is NumPy."""
        return self.library is None or self.library.endswith("numpy")


ArrayKind.plain = ArrayKind()
ColumnReader.origin = ArrayKind.plain
_ORIGINS = {
    np.dtype(np.float32): ArrayKind(np.dtype(np.float32)),
    np.dtype(np.float64): ArrayKind(np.dtype(np.float64)),
}
