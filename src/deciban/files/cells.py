"""Batches of Arrow as what classifiers learn from: a block of numbers, columns by name, class codes, weights.

Columns are found by name, so that their order, the widths of their numbers and batches without rows make no difference.

>>> batch = pa.record_batch({"a": [1, None], "sky": ["grey", "blue"], "y": [True, False]})
>>> numbers(batch, ["a"]).values.tolist(), labels(batch, "y").tolist()
([[1.0], [nan]], [True, False])
>>> columns(batch, ["sky"])[0].levels
['blue', 'grey']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deciban.errors import DataError
from deciban.files.arrow import pa
from deciban.frames import Column, arrow_levels, empty, some, unfit
from deciban.table import Apart

NUMBER, LEVEL = "number", "level"  # what a column may hold
DOUBLE = pa.float64()


def kind(given: pa.DataType) -> str | None:
    """What a column of that type holds; None: nothing that is known yet."""
    if pa.types.is_dictionary(given):
        return kind(given.value_type) and LEVEL
    if pa.types.is_null(given):
        return None
    if _numeric(given):
        return NUMBER
    return LEVEL if pa.types.is_boolean(given) or _text(given) else "neither"


def taken_for(column: pa.Array, known: str | None) -> str:
    """What a column holds, "" where nothing tells: one without a cell may be of any type, as pandas' empty ones are."""
    if column.null_count == len(column) and known is not None:
        return known
    return kind(column.type) or ""


def _numeric(given: pa.DataType) -> bool:
    return pa.types.is_integer(given) or pa.types.is_floating(given) or pa.types.is_decimal(given)


def _text(given: pa.DataType) -> bool:
    return pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given)


def column_of(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    at = batch.schema.get_field_index(name)
    if at < 0:
        raise DataError(
            f"there is no column `{name}` among {some(batch.schema.names)}\n\n"
            "hint: all parts of the data need the same names of columns"
        )
    column = batch.column(at)
    if not isinstance(column, pa.ChunkedArray):
        return column
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)


def numbers(batch: pa.RecordBatch, names: Sequence[str]) -> Apart:
    """Those columns, where Arrow has them unless they are of another type than most; a missing cell is NaN."""
    return Apart([plain(column_of(batch, name), name) for name in names])


def codes(batch: pa.RecordBatch, names: Sequence[str]) -> np.ndarray:
    """Those columns of levels 0, 1, … as one array; whole numbers where no cell is missing, else NaN is."""
    found = [column_of(batch, name) for name in names]
    if any(column.null_count or not pa.types.is_integer(column.type) for column in found):
        return numbers(batch, names).values
    out = np.empty((len(found), batch.num_rows), dtype=np.int64)
    for row, column in zip(out, found, strict=True):
        row[:] = column.to_numpy(zero_copy_only=False)
    return out.T


def plain(column: pa.Array, name: str) -> np.ndarray:
    """A column of numbers, whole ones as they are where none is missing; NaN where one is."""
    given = column.type
    if given == DOUBLE and not column.null_count:
        return column.to_numpy()
    if pa.types.is_null(given) or column.null_count == len(column) > 0:
        return np.full(len(column), np.nan)
    if pa.types.is_dictionary(given):
        return plain(column.dictionary_decode(), name)
    if pa.types.is_boolean(given):
        column = column.cast(pa.int8())
    elif pa.types.is_decimal(given) or pa.types.is_float16(given):
        column = column.cast(pa.float64())
    elif not _numeric(given):
        raise _no_number(column, name)
    return column.to_numpy(zero_copy_only=False)


def _no_number(column: pa.Array, name: str) -> DataError:
    row = int(np.argmax(column.is_valid().to_numpy(zero_copy_only=False)))
    if not _text(column.type):
        return unfit(name, str(column.type))
    return DataError(
        f"column `{name}` holds text, {column[row].as_py()!r} in row {row}\n\n"
        "hint: MixedNB takes such columns; or make numbers of them, or leave the column out: features=[…]"
    )


def columns(batch: pa.RecordBatch, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> list[Column]:
    """Those columns, numbers or levels as their types say, or (all missing) as `kinds` do."""
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
    return Column(name, np.asarray(plain(column, name), dtype=np.float64))


def labels(batch: pa.RecordBatch, name: str) -> np.ndarray | Column:
    """The labels: texts as levels, numbers and truth values as they are. None may be missing."""
    column = column_of(batch, name)
    if column.null_count:
        raise DataError(
            f"the label in row {_first_null(column)} is missing (column `{name}`)\n\n"
            "hint: leave out rows without a label"
        )
    if pa.types.is_boolean(column.type):
        return column.to_numpy(zero_copy_only=False)
    if kind(column.type) == LEVEL:
        return arrow_levels(name, column)
    values = plain(column, name)
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
        told = f"the label in row {row} is missing" if np.isnan(values[row]) else f"{values[row]:g} in row {row}"
        raise DataError(
            f"column `{name}` holds amounts, not classes: {told}\n\n"
            "hint: name a column of classes as `target`, or cut the amount into some, such as low and high"
        )


def weights(batch: pa.RecordBatch, name: str | None) -> np.ndarray | None:
    """Weights ≥ 0 as doubles."""
    if name is None:
        return None
    values = np.array(plain(column_of(batch, name), name), dtype=np.float64)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"the weight in row {row} is {values[row]:g} (column `{name}`), but weights are numbers ≥ 0\n\n"
            "hint: a row of weight 0 counts for nothing"
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
