"""Batches of rows cut to what is asked of them: some columns, some rows, labels apart, answers appended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from deciban.errors import DataError
from deciban.files.amounts import Amount
from deciban.files.arrow import pa
from deciban.files.reading import Source

TEXT = pa.string()


def frame(columns: Mapping[str, Any]) -> pa.Table:
    """Columns by name as a table.

    >>> frame({"sky": ["grey", "blue"]}).num_rows
    2
    """
    return pa.table({name: pa.array(list(cells)) for name, cells in columns.items()})


def kinds_for(columns: Mapping[str, str]) -> dict[str, pa.DataType]:
    """Arrow types for columns that are "number", "truth" or "text".

    >>> kinds_for({"wind": "number"})["wind"]
    DataType(double)
    """
    kinds = {"number": pa.float64(), "truth": pa.bool_(), "text": pa.dictionary(pa.int32(), pa.string())}
    return {name: kinds[kind] for name, kind in columns.items()}


def types_named(names: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Arrow types by column, from their names.

    >>> types_named([("wind", "double")])["wind"]
    DataType(double)
    """
    return {name: Amount.named(kind) if kind.startswith("amount ") else pa.type_for_alias(kind) for name, kind in names}


def split(rows: pa.RecordBatch | pa.Table, target: str) -> tuple[pa.Table, Any, int]:
    """(the other columns, the labels as an array, how many rows were left out because they have no label).

    >>> X, y, gone = split(pa.table({"a": [1, 2], "y": ["no", None]}), "y")
    >>> X.to_pydict(), y.tolist(), gone
    ({'a': [1]}, ['no'], 1)
    """
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    gone = table[target].null_count
    if gone:
        table = table.filter(table[target].is_valid())
    labels = table[target].combine_chunks() if table[target].num_chunks != 1 else table[target].chunk(0)
    if pa.types.is_dictionary(labels.type):
        labels = labels.dictionary_decode()
    return table.drop_columns([target]), labels.to_numpy(zero_copy_only=False), gone


def answers(columns: Mapping[str, Any], taken: Sequence[str]) -> pa.Table:
    """New columns (arrays, by name); a name that is taken gets a `_`.

    >>> answers({"p": [0.5]}, ["p"]).column_names
    ['p_']
    """
    names = []
    for name in columns:
        while name in taken or name in names:
            name += "_"
        names.append(name)
    return pa.table([pa.array(values) for values in columns.values()], names=names)


def told(classes: np.ndarray, proba: np.ndarray, taken: Sequence[str]) -> pa.Table:
    """What a model says of rows: the most probable class, `predicted`, and the probability `p_…` of each, (n, k).

    >>> told(np.array(["no", "yes"]), np.array([[0.2, 0.8]]), ["a"]).to_pylist()
    [{'predicted': 'yes', 'p_no': 0.2, 'p_yes': 0.8}]
    """
    labels = pa.array(classes.tolist())
    predicted = labels.take(pa.array(proba.argmax(axis=1))) if len(proba) else labels[:0]
    said = {f"p_{label}": proba[:, c] for c, label in enumerate(classes.tolist())}
    return answers({"predicted": predicted, **said}, taken)


def widened(rows: pa.RecordBatch, more: pa.Table) -> pa.RecordBatch:
    """A batch with more columns at its end.

    >>> widened(pa.record_batch({"a": [1]}), pa.table({"b": [2]})).schema.names
    ['a', 'b']
    """
    new = [
        pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type) for column in more.columns
    ]
    return pa.record_batch([*rows.columns, *new], names=[*rows.schema.names, *more.column_names])


def appended(rows: pa.RecordBatch | pa.Table, more: pa.Table) -> pa.Table:
    """Rows with more columns at their end."""
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    return pa.table([*table.columns, *more.columns], names=[*table.column_names, *more.column_names])


def joined(pieces: Sequence[tuple[pa.Table, Any]]) -> tuple[pa.Table, Any]:
    """Pieces (rows, labels) as one.

    >>> X, y = joined([(pa.table({"a": [1]}), np.array(["no"])), (pa.table({"a": [2]}), np.array(["yes"]))])
    >>> X.num_rows, y.tolist()
    (2, ['no', 'yes'])
    """
    if not pieces:
        raise DataError("there are no rows with a label\n\nhint: see whether the file has more than its header")
    tables = pa.concat_tables([X for X, _ in pieces], promote_options="permissive")
    return tables, np.concatenate([y for _, y in pieces])


def selected(rows: pa.RecordBatch | pa.Table, columns: Sequence[str]) -> pa.Table:
    """Those columns alone."""
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    return table.select(list(columns))


def with_missing(table: pa.Table, columns: Mapping[str, pa.DataType]) -> pa.Table:
    """The table with these columns too, missing in every row.

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
    """Rows from `start` on, and nothing after them is read."""
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
