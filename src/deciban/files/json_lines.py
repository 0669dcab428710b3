"""JSON lines: one object a line; its keys are the columns, a key that is not there is a missing cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from deciban.errors import DataError
from deciban.files.compressed import Bytes
from deciban.files.delimited import GROWTH
from deciban.files.reading import Source

ROWS = 1 << 13


def read(opened: Callable[[], Bytes], name: str, size: int | None) -> Source:
    stream = opened()
    rows = _rows(stream, name)
    first = _batch(list(islice(rows, ROWS)), name, None)
    kinds = first.schema

    def batches() -> Iterator[pa.RecordBatch]:
        yield first
        while chunk := list(islice(rows, ROWS)):
            yield _batch(chunk, name, kinds)

    done = lambda: stream.consumed / size if size else None  # noqa: E731
    return Source(name, "JSON lines", kinds, batches, done, bulk=(size or 0) * GROWTH[stream.kind])


def _rows(stream: Bytes, name: str) -> Iterator[tuple[int, dict]]:
    for number, line in enumerate(_lines(stream), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(
                f"{name}, line {number}: no JSON ({error})\n\nhint: put one object {{…}} on each line"
            ) from None
        if not isinstance(row, dict):
            raise DataError(
                f"{name}, line {number}: a {type(row).__name__}, not an object\n\n"
                'hint: put one object on each line, such as {"sky": "grey", "wind": 3}'
            )
        yield number, row


def _lines(stream: Bytes) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(1 << 20):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    yield rest


def _batch(rows: list[tuple[int, dict]], name: str, schema: pa.Schema | None) -> pa.RecordBatch:
    """Rows as a batch; a column is numbers, texts or truth values all through, as in the first rows."""
    if not rows:
        raise DataError(f"{name} is empty\n\nhint: put one object on each line")
    names = list(dict.fromkeys(key for _, row in rows for key in row)) if schema is None else schema.names
    columns = [_column(rows, key, name, None if schema is None else schema.field(key).type) for key in names]
    return pa.record_batch(columns, names=names)


def _column(rows: list[tuple[int, dict]], key: str, name: str, kind: Any) -> pa.Array:
    cells = [row.get(key) for _, row in rows]
    found = {type(cell) for cell in cells if cell is not None}
    if kind is None and found == {int, float}:
        kind = pa.float64()
    try:
        return pa.array(cells, type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
        kinds = sorted(one.__name__ for one in found)
        raise DataError(
            f"{name}, lines {rows[0][0]} to {rows[-1][0]}: `{key}` mixes {' and '.join(kinds)}"
            f"{'' if kind is None else f' where earlier lines have {kind}'}\n\n"
            "hint: make it all numbers or all text; leave it out or write null where it is missing"
        ) from None
