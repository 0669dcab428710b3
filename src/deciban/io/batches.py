"""Arrow batches → what classifiers take: blocks of numbers, columns by name, class codes, weights.

Columns are found by name, so that their order, the widths of their numbers and batches without rows make no difference.

>>> batch = pa.record_batch({"a": [1, None], "sky": ["grey", "blue"], "y": [True, False]})
>>> numbers(batch, ["a"]).values.tolist(), labels(batch, "y").tolist()
([[1.0], [nan]], [True, False])
>>> columns(batch, ["sky"])[0].levels
['blue', 'grey']

Also: selection of columns and rows of batches, separation of labels, appending of predictions.

`LabelledSource` skips and counts the rows without a label, and keeps a uniform sample of the others, with at least a
few of every class. The sample depends only on row positions, not on thread scheduling.

>>> from deciban.io.source import of
>>> table = pa.table({"a": list(range(100)), "y": [*["no", "yes"] * 49, None, None]})
>>> rows = LabelledSource(of(table), "y", 30)
>>> sum(batch.num_rows for piece in rows.source.pieces() for batch in piece()), rows.skipped
(98, 2)
>>> X, y = rows.kept()
>>> X.num_rows, len(y), X.column_names
(30, 30, ['a'])
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.data.blocks import ColumnBlock
from deciban.data.frames import Column, arrow_levels, empty, unsupported_dtype_error
from deciban.display import format_list
from deciban.errors import DataError
from deciban.io.arrow import pa
from deciban.io.csv import Amount
from deciban.io.source import Piece, Source

NUMBER, LEVEL = "number", "level"  # what a column may hold
DOUBLE = pa.float64()


def kind(given: pa.DataType) -> str | None:
    """What a column of that type holds; None: not known yet."""
    if pa.types.is_dictionary(given):
        return kind(given.value_type) and LEVEL
    if pa.types.is_null(given):
        return None
    if _numeric(given) or _timed(given):
        return NUMBER
    return LEVEL if pa.types.is_boolean(given) or _text(given) else "neither"


def is_plain(given: pa.DataType) -> bool:
    """Whether cells of that type are numbers or truth values, which need no coding."""
    return _numeric(given) or pa.types.is_boolean(given) or pa.types.is_null(given)


def column_kind_or(column: pa.Array, known: str | None) -> str:
    """What a column holds; "" if unknown: a column without values may be of any type, as empty ones of pandas are."""
    if column.null_count == len(column) and known is not None:
        return known
    return kind(column.type) or ""


def _numeric(given: pa.DataType) -> bool:
    return pa.types.is_integer(given) or pa.types.is_floating(given) or pa.types.is_decimal(given)


def _timed(given: pa.DataType) -> bool:
    """Whether cells are dates or durations."""
    return pa.types.is_date(given) or pa.types.is_timestamp(given) or pa.types.is_duration(given)


def _text(given: pa.DataType) -> bool:
    return pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given)


def column_of(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    at = batch.schema.get_field_index(name)
    if at < 0:
        raise DataError(
            f"column `{name}` not found among {format_list(batch.schema.names)}\n\n"
            "hint: all parts of the data need the same column names"
        )
    column = batch.column(at)
    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def numbers(batch: pa.RecordBatch, names: Sequence[str]) -> ColumnBlock:
    """These columns as a block, without a copy where all have one type; a missing value is NaN."""
    return ColumnBlock([to_numpy(column_of(batch, name), name) for name in names])


def codes(batch: pa.RecordBatch, names: Sequence[str]) -> np.ndarray:
    """These columns of codes 0, 1, … as one array: integers, or floats with NaN where a value is missing."""
    found = [column_of(batch, name) for name in names]
    if any(column.null_count or not pa.types.is_integer(column.type) for column in found):
        return numbers(batch, names).values
    out = np.empty((len(found), batch.num_rows), dtype=np.int64)
    for row, column in zip(out, found, strict=True):
        row[:] = column.to_numpy(zero_copy_only=False)
    return out.T


def to_numpy(column: pa.Array, name: str) -> np.ndarray:
    """A numeric column; integers stay integers where no value is missing, a missing value is NaN."""
    given = column.type
    if given == DOUBLE and not column.null_count:
        return column.to_numpy()
    if pa.types.is_null(given) or column.null_count == len(column) > 0:
        return np.full(len(column), np.nan)
    if pa.types.is_dictionary(given):
        return to_numpy(column.dictionary_decode(), name)
    if pa.types.is_boolean(given):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(given) or pa.types.is_float16(given):
        column = column.cast(pa.float64())
    elif not _numeric(given):
        raise _not_numeric_error(column, name)
    return column.to_numpy(zero_copy_only=False)


def _not_numeric_error(column: pa.Array, name: str) -> DataError:
    row = int(np.argmax(column.is_valid().to_numpy(zero_copy_only=False)))
    if not _text(column.type) and not _timed(column.type):
        return unsupported_dtype_error(name, str(column.type))
    what = "text" if _text(column.type) else frames.in_words(str(column.type))[0]
    return DataError(
        f"column `{name}` holds {what}, {column[row].as_py()!r} in row {row}\n\n"
        "hint: MixedNB takes such columns, and so do all models but those of counts; or exclude it: features=[…]"
    )


def columns(batch: pa.RecordBatch, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> list[Column]:
    """These columns, numeric or categorical by their types, or by `kinds` where all values are missing."""
    return [_column(column_of(batch, name), name, (kinds or {}).get(name)) for name in names]


def _column(column: pa.Array, name: str, wanted: str | None) -> Column:
    found = kind(column.type)
    if column.null_count == len(column) and wanted != found and wanted is not None:
        if wanted == NUMBER:
            return Column(name, np.full(len(column), np.nan))
        return empty(name, len(column))
    if found is None:
        return empty(name, len(column))
    if found == LEVEL:
        return arrow_levels(name, column)
    if _timed(column.type):
        unit = "duration" if pa.types.is_duration(column.type) else "date"
        if column.null_count == len(column):
            return Column(name, np.full(len(column), np.nan), unit=unit)
        return frames.columns(pa.table({name: column}))[0]
    return Column(name, np.asarray(to_numpy(column, name), dtype=np.float64))


def labels(batch: pa.RecordBatch, name: str) -> np.ndarray | Column:
    """The labels: texts as categories, numbers and truth values unchanged. None may be missing."""
    column = column_of(batch, name)
    if column.null_count:
        raise DataError(
            f"the label in row {_first_null(column)} is missing (column `{name}`)\n\n"
            "hint: remove the rows without a label"
        )
    if pa.types.is_boolean(column.type):
        return column.to_numpy(zero_copy_only=False)
    if kind(column.type) == LEVEL:
        return arrow_levels(name, column)
    values = to_numpy(column, name)
    if values.dtype.kind == "f":
        _check_amounts(values, name)
        return values
    return values.astype(np.int64, copy=False)


def _first_null(column: pa.Array) -> int:
    return int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))


def _check_amounts(values: np.ndarray, name: str) -> None:
    wrong = ~(np.floor(values) == values)
    if wrong.any():
        row = int(wrong.argmax())
        example = f"the label in row {row} is missing" if np.isnan(values[row]) else f"{values[row]:g} in row {row}"
        raise DataError(
            f"column `{name}` looks continuous, not like classes: {example}\n\n"
            "hint: name a column of classes as `target`, or bin the numbers, for example into low and high"
        )


def weights(batch: pa.RecordBatch, name: str | None) -> np.ndarray | None:
    """Weights ≥ 0 as doubles."""
    if name is None:
        return None
    values = np.array(to_numpy(column_of(batch, name), name), dtype=np.float64)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"the weight in row {row} is {values[row]:g} (column `{name}`), but weights are numbers ≥ 0\n\n"
            "hint: a row of weight 0 is ignored"
        )
    return values


def strings(batch: pa.RecordBatch, name: str) -> Any:
    """A column of texts, a missing one empty."""
    column = column_of(batch, name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not _text(column.type):
        raise DataError(
            f"column `{name}` holds {column.type}, not text\n\nhint: name the column of the texts: features=…"
        )
    return column.fill_null("")


TEXT = pa.string()


def table_from_dict(columns: Mapping[str, Any]) -> pa.Table:
    """Columns by name as a table.

    >>> table_from_dict({"sky": ["grey", "blue"]}).num_rows
    2
    """
    return pa.table({name: pa.array(list(cells)) for name, cells in columns.items()})


def column_type(levels: list | None, unit: str | None = None) -> str:
    """What a column with these levels, or numbers of this unit, holds: "number", "date", "truth" or "text".

    >>> column_type(None), column_type(["a"]), column_type(None, "date")
    ('number', 'text', 'date')
    """
    if unit == "date":
        return "date"
    if levels is None:
        return "number"
    if not levels:  # no categories yet, or all forgotten, or the column is not used
        return "text"
    return "truth" if isinstance(levels[0], bool) else "text" if isinstance(levels[0], str) else "number"


def arrow_types(columns: Mapping[str, str]) -> dict[str, pa.DataType]:
    """Arrow types for columns that are "number", "date", "truth" or "text".

    >>> arrow_types({"wind": "number"})["wind"]
    DataType(double)
    """
    texts = pa.dictionary(pa.int32(), pa.string())
    kinds = {"number": pa.float64(), "date": pa.timestamp("us"), "truth": pa.bool_(), "text": texts}
    return {name: kinds[kind] for name, kind in columns.items()}


def types_named(names: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Arrow types by column, from their names.

    >>> types_named([("wind", "double")])["wind"]
    DataType(double)
    """
    return {name: Amount.named(kind) if kind.startswith("amount ") else pa.type_for_alias(kind) for name, kind in names}


def split(rows: pa.RecordBatch | pa.Table, target: str) -> tuple[pa.Table, Any, int]:
    """(the other columns, the labels as an array, the number of rows skipped because they have no label).

    >>> X, y, skipped = split(pa.table({"a": [1, 2], "y": ["no", None]}), "y")
    >>> X.to_pydict(), y.tolist(), skipped
    ({'a': [1]}, ['no'], 1)
    """
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    skipped = table[target].null_count
    if skipped:
        table = table.filter(table[target].is_valid())
    labels = table[target].combine_chunks() if table[target].num_chunks != 1 else table[target].chunk(0)
    if pa.types.is_dictionary(labels.type):
        labels = labels.dictionary_decode()
    return table.drop_columns([target]), labels.to_numpy(zero_copy_only=False), skipped


def with_free_names(columns: Mapping[str, Any], taken: Sequence[str]) -> pa.Table:
    """New columns (arrays, by name); a name that is taken gets a `_`.

    >>> with_free_names({"p": [0.5]}, ["p"]).column_names
    ['p_']
    """
    names = []
    for name in columns:
        while name in taken or name in names:
            name += "_"
        names.append(name)
    return pa.table([pa.array(values) for values in columns.values()], names=names)


def prediction_columns(classes: np.ndarray, proba: np.ndarray, taken: Sequence[str]) -> pa.Table:
    """Columns of predictions: the most probable class, `predicted`, and the probability `p_…` of each class.

    >>> prediction_columns(np.array(["no", "yes"]), np.array([[0.2, 0.8]]), ["a"]).to_pylist()
    [{'predicted': 'yes', 'p_no': 0.2, 'p_yes': 0.8}]
    """
    labels = pa.array(classes.tolist())
    predicted = labels.take(pa.array(proba.argmax(axis=1))) if len(proba) else labels[:0]
    probabilities = {f"p_{label}": proba[:, c] for c, label in enumerate(classes.tolist())}
    return with_free_names({"predicted": predicted, **probabilities}, taken)


def set_column(classes: np.ndarray, sets: np.ndarray, lists: bool) -> pa.Array:
    """Sets of classes, bool (n, k), as lists of labels or as texts. A text is a line of CSV with the delimiter `|`, so
    that a label with a `|` is in quotes; an empty set is an empty text.

    >>> sets = np.array([[True, False], [True, True], [False, False]])
    >>> set_column(np.array(["a|b", "c"]), sets, lists=False).to_pylist()
    ['"a|b"', '"a|b"|c', '']
    >>> set_column(np.array([1, 2]), sets, lists=True).to_pylist()
    [[1], [1, 2], []]
    """
    if lists:
        labels = pa.array(classes.tolist())
        rows, columns = np.nonzero(sets)
        start = np.searchsorted(rows, np.arange(len(sets) + 1)).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(start), labels.take(pa.array(columns)))
    found, which = np.unique(sets, axis=0, return_inverse=True)
    names = [str(label) for label in classes.tolist()]
    texts = pa.array([_line_of([name for name, inside in zip(names, one, strict=True) if inside]) for one in found])
    return texts.cast(pa.string()).take(pa.array(which.ravel()))


def _line_of(labels: list[str]) -> str:
    """Labels as a line of CSV."""
    out = StringIO()
    if labels:
        csv.writer(out, delimiter="|", lineterminator="").writerow(labels)
    return out.getvalue()


def append_to_batch(rows: pa.RecordBatch, more: pa.Table) -> pa.RecordBatch:
    """A batch with more columns at its end.

    >>> append_to_batch(pa.record_batch({"a": [1]}), pa.table({"b": [2]})).schema.names
    ['a', 'b']
    """
    new = [
        pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type) for column in more.columns
    ]
    return pa.record_batch([*rows.columns, *new], names=[*rows.schema.names, *more.column_names])


def append_columns(rows: pa.RecordBatch | pa.Table, more: pa.Table) -> pa.Table:
    """Rows with more columns at their end."""
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    return pa.table([*table.columns, *more.columns], names=[*table.column_names, *more.column_names])


def or_empty(tables: Iterator[Any], empty: Callable[[], Any]) -> Iterator[Any]:
    """The tables, or where there are none the empty one, so that a file without rows has its columns.

    >>> list(or_empty(iter([]), lambda: "no rows")), list(or_empty(iter(["some"]), lambda: "no rows"))
    (['no rows'], ['some'])
    """
    first = next(tables, None)
    yield empty() if first is None else first
    yield from tables


def concat(pieces: Sequence[tuple[pa.Table, Any]]) -> tuple[pa.Table, Any]:
    """Concatenate (rows, labels) pairs.

    >>> X, y = concat([(pa.table({"a": [1]}), np.array(["no"])), (pa.table({"a": [2]}), np.array(["yes"]))])
    >>> X.num_rows, y.tolist()
    (2, ['no', 'yes'])
    """
    if not pieces:
        raise DataError("there are no rows with a label\n\nhint: check that the file has more than a header")
    tables = pa.concat_tables([X for X, _ in pieces], promote_options="permissive")
    return tables, np.concatenate([y for _, y in pieces])


def selected(rows: pa.RecordBatch | pa.Table, columns: Sequence[str]) -> pa.Table:
    """These columns only."""
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    return table.select(list(columns))


def with_missing(table: pa.Table, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """Add columns that are missing in every row.

    >>> with_missing(pa.table({"a": [1]}), {"b": pa.string()}).to_pylist()
    [{'a': 1, 'b': None}]
    """
    for name, kind in columns.items():
        table = table.append_column(name, pa.nulls(table.num_rows, kind))
    return table


def array(table: pa.Table) -> np.ndarray:
    """The cells as an array: numbers, or objects where a column holds others.

    >>> array(pa.table({"a": [1, None], "b": [2.5, 3.0]})).tolist()
    [[1.0, 2.5], [nan, 3.0]]
    """
    number = all(pa.types.is_integer(field.type) or pa.types.is_floating(field.type) for field in table.schema)
    out = np.empty((table.num_rows, table.num_columns), dtype=np.float64 if number else object)
    for j, column in enumerate(table.columns):
        out[:, j] = column.to_numpy()
    return out


def some_rows(source: Source, start: int, count: int) -> pa.Table:
    """`count` rows from `start` on; nothing after them is read."""
    found, before = [], 0
    for batch in source.batches():
        here = batch.slice(max(start - before, 0), max(0, start + count - before - max(start - before, 0)))
        found += [here] if here.num_rows else []
        before += batch.num_rows
        if before >= start + count:
            break
    if not found:
        raise DataError(f"{source.name} has {before:,} rows, none with number {start}\n\nhint: the first row is 0")
    return pa.Table.from_batches(found)


PRUNE = 2  # times as many rows as wanted may be held before some are let go
LEAST = 10  # rows of each class that are kept in addition to those with the lowest random numbers


class LabelledSource:
    """A source without the rows that have no label; after it was read, `kept` returns a sample of up to `most` rows."""

    def __init__(self, source: Source, target: str, most: int):
        self.target, self.most = target, most
        self.rows, self.skipped = 0, 0
        self._held: list[tuple[np.ndarray, pa.Table]] = []
        self._below = 1.0  # draws that may be among the lowest
        self._class_below: dict[Any, float] = {}  # and among the lowest of their class
        self._new_class = 1.0  # and of a class that was not met yet
        self._lock = Lock()
        self.first, inner = _peeked(source)
        self.source = replace(source, batches=lambda: self._all(inner), cut=partial(self._cut, inner))

    def _all(self, inner: Source) -> Iterator[pa.RecordBatch]:
        for piece in self._cut(inner, None, ()):
            yield from piece()

    def _cut(self, inner: Source, columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        for number, piece in enumerate(inner.pieces(columns, coded)):
            yield partial(self._passing, number, piece)

    def _passing(self, number: int, piece: Piece) -> Iterator[pa.RecordBatch]:
        for place, batch in enumerate(piece()):
            column = batch.column(batch.schema.get_field_index(self.target))
            some = batch.filter(column.is_valid()) if column.null_count else batch
            self._hold(some, np.random.default_rng((number, place)).random(some.num_rows), column.null_count)
            yield some

    def _hold(self, batch: pa.RecordBatch, draw: np.ndarray, skipped: int) -> None:
        """Keep the rows with the lowest random numbers, of all rows and of each class."""
        classes, code = self._classes(batch.column(batch.schema.get_field_index(self.target)))
        limits = np.array([max(self._below, self._class_below.get(label, self._new_class)) for label in classes])
        low = np.flatnonzero(draw < limits[code]) if len(classes) else np.zeros(0, dtype=np.int64)
        some = pa.Table.from_batches([_plain(batch.take(pa.array(low)))])
        with self._lock:
            self.rows += batch.num_rows
            self.skipped += skipped
            self._held.append((draw[low], some))
            most = self.most + LEAST * len(self._class_below)
            if sum(len(draws) for draws, _ in self._held) > PRUNE * most:
                self._held = [self._lowest()]

    def _lowest(self) -> tuple[np.ndarray, pa.Table]:
        """The kept rows, in the order of their random numbers; updates the limits for later rows."""
        draws = np.concatenate([draws for draws, _ in self._held])
        whole = pa.concat_tables([rows for _, rows in self._held], promote_options="permissive")
        classes, code = self._classes(whole[self.target])
        order = np.argsort(draws, kind="stable")
        by_class = order[np.argsort(code[order], kind="stable")]
        many = np.bincount(code, minlength=len(classes))
        least = LEAST if LEAST * len(classes) <= self.most else 0  # labels that name rows are no classes
        self._new_class = 1.0 if least else 0.0
        rank = np.arange(len(order)) - np.repeat(np.cumsum(many) - many, many)
        self._class_below = {
            label: float(draws[by_class[end - n + least - 1]])
            for label, n, end in zip(classes, many, np.cumsum(many), strict=True)
            if 0 < least <= n
        }
        if len(order) > self.most:
            self._below = float(draws[order[self.most - 1]])
        keep = np.zeros(len(order), dtype=bool)
        keep[order[: self.most]] = keep[by_class[rank < least]] = True
        order = order[keep[order]]
        return draws[order], whole.take(pa.array(order))

    def _classes(self, column: pa.Array | pa.ChunkedArray) -> tuple[list, np.ndarray]:
        """The distinct labels of a column, and the index of each row's label among them."""
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        return coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    def kept(self) -> tuple[pa.Table, np.ndarray]:
        """(rows, labels)."""
        X, y, _ = split(self._lowest()[1], self.target) if self._held else (None, None, 0)
        return concat([(X, y)] if X is not None else [])


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Decode dictionary columns: each batch has its own dictionary."""
    coded = [pa.types.is_dictionary(column.type) for column in batch.columns]
    if not any(coded):
        return batch
    columns = [c.dictionary_decode() if d else c for c, d in zip(batch.columns, coded, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _peeked(source: Source) -> tuple[pa.RecordBatch | None, Source]:
    """(the first batch, the source from its beginning)."""
    if source.cut is not None:
        return next((batch for piece in source.pieces() for batch in piece()), None), source
    batches = source.batches()
    first = next(batches, None)
    return first, replace(source, batches=lambda: chain([] if first is None else [first], batches))
