"""Rows as CSV text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv


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
