"""Rows as CSV text."""

from __future__ import annotations

from typing import Any

from deciban.files.arrow import arrow_csv, pa


def text_of(table: pa.Table, delimiter: str) -> pa.Buffer:
    """Rows as CSV; texts have quotes only if some of them need it."""
    try:
        return _written(table, delimiter, "none")
    except pa.ArrowInvalid:  # a cell holds a delimiter, a quote or a line end
        return _written(table, delimiter, "needed")


def _written(table: pa.Table, delimiter: str, quoting: Any) -> pa.Buffer:
    out = pa.BufferOutputStream()
    arrow_csv.write_csv(
        table, out, arrow_csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoting)
    )
    return out.getvalue()


def cell_texts(column: pa.ChunkedArray, delimiter: str) -> pa.Array:
    """Cells as CSV has them; null stays null.

    >>> cell_texts(pa.chunked_array([["a, b", "c", None]]), ",").to_pylist()
    ['"a, b"', 'c', None]
    """
    one = column.combine_chunks()
    if not pa.types.is_string(one.type):
        return one.cast(pa.string())
    coded = one.dictionary_encode()
    levels = [_quoted(level, delimiter) for level in coded.dictionary.to_pylist()]
    return pa.array(levels, pa.string()).take(coded.indices)


def _quoted(text: str, delimiter: str) -> str:
    plain = not any(mark in text for mark in (delimiter, '"', "\n", "\r"))
    return text if plain else '"' + text.replace('"', '""') + '"'
