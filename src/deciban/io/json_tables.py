"""JSON: lines with one object each, an array of objects, or columns by name, as pandas and others write them. Keys are
the columns; an absent key is a missing value.

>>> in_columns(json.loads('{"x": {"0": 1, "1": 2}, "y": {"0": "a"}}'), "it", ())
{'x': [1, 2], 'y': ['a', None]}
>>> in_columns([{"x": 1}, {"x": 2, "y": "b"}], "it", ())
{'x': [1, 2], 'y': [None, 'b']}
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from deciban.data.frames import column_labels
from deciban.errors import DataError
from deciban.io.arrow import pa
from deciban.io.compression import Bytes
from deciban.io.csv import GROWTH, ColumnTypeChanged
from deciban.io.source import Source

ROWS = 1 << 13
HEAD = 1 << 16
HINT = 'hint: give one object a line, such as {"sky": "grey", "wind": 3}, an array of such, or an object of columns'

INVALID = (ValueError, RecursionError)  # of a text that is no JSON, or deeper than Python can read
TOO_DEEP = "arrays and objects are nested too deep"
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # half of a character, as JSON writes it
KEY = re.compile(rb'"\s*:')  # the end of a key, or of the same in a text

Numbered = tuple[int, dict]  # a line and its object


def read(
    opened: Callable[[], Bytes],
    name: str,
    size: int | None,
    types: Mapping[str, Any],
    fixed: bool = False,
    expected: Collection[str] = (),
) -> Source:
    """`types` are of known columns; `fixed`: they must be that."""
    stream = opened()
    if not _by_lines(stream.head(HEAD)):
        table = _table(stream, name, expected)
        bulk = (size or 0) * GROWTH[stream.kind]
        return Source(name, "JSON", table.schema, lambda: iter(table.to_batches(max_chunksize=ROWS)), bulk=bulk)
    rows = _rows(stream, name)
    chunk = list(islice(rows, ROWS))
    if not chunk:
        raise DataError(f"{name} is empty\n\n{HINT}")
    names = dict.fromkeys(chain((key for _, row in chunk for key in row), () if fixed else types))
    first = pa.record_batch([_column(chunk, key, name, None, types.get(key)) for key in names], names=list(names))

    def batches() -> Iterator[pa.RecordBatch]:
        yield first
        while chunk := list(islice(rows, ROWS)):
            yield _batch(chunk, name, first.schema, types, fixed)

    done = lambda: stream.consumed / size if size else None  # noqa: E731
    return Source(name, "JSON lines", first.schema, batches, done, bulk=(size or 0) * GROWTH[stream.kind])


def _by_lines(head: bytes) -> bool:
    """Whether the first line is a whole object, and more follow or it is a row."""
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    try:
        first = json.loads(lines[0])
    except (*INVALID, IndexError):
        return len(lines) > 1 and lines[0].lstrip().startswith(b"{") and lines[1].lstrip().startswith(b"{")
    return isinstance(first, dict) and (len(lines) > 1 or not any(isinstance(v, dict | list) for v in first.values()))


def _table(stream: Bytes, name: str, expected: Collection[str]) -> pa.Table:
    """A whole document as a table."""
    try:
        content = stream.read()
        found = list(_values(content.decode("utf-8-sig")))
        _check_characters(content, found)
    except ValueError as error:
        raise DataError(f"{name} is not a valid JSON document ({error})\n\n{HINT}") from None
    columns = in_columns(found[0] if len(found) == 1 else found, name, expected)
    rows = list(enumerate(({key: cells[i] for key, cells in columns.items()} for i in range(_length(columns))), 1))
    if not rows:
        raise DataError(f"{name} has no rows\n\n{HINT}")
    return pa.table([_column(rows, key, name, None, None, "rows") for key in columns], names=list(columns))


def _check_characters(content: bytes, found: Any) -> None:
    """Raise ValueError if a text of a document has half of a character."""
    if SURROGATE.search(content):
        json.dumps(found, ensure_ascii=False).encode()


def _length(columns: Mapping[str, Sequence]) -> int:
    return max(map(len, columns.values()), default=0)


def _values(text: str) -> Iterator[Any]:
    """The documents in a text, one after the other."""
    decoder, at = json.JSONDecoder(object_pairs_hook=_pairs), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except RecursionError:
            raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: {TOO_DEEP}") from None
        yield value


def _key_ends(line: bytes) -> int:
    """How many keys end in a line, at most."""
    apart = b'" ' in line or b'"\t' in line or b'"\r' in line  # a blank may be before the colon
    return len(KEY.findall(line)) if apart else line.count(b'":')


def _unique_keys(line: bytes) -> None:
    """Raise ValueError if an object has a key twice."""
    json.loads(line.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=_pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {twice!r} is in one object twice")
    return out


def in_columns(found: Any, name: str, expected: Collection[str]) -> dict[str, list]:
    """A document as columns. `expected` are names that some columns would have."""
    if isinstance(found, dict):
        if isinstance(found.get("data"), list):  # pandas: orient="split", orient="table"
            data, names = found["data"], found.get("columns")
            index = found["schema"].get("primaryKey", []) if isinstance(found.get("schema"), dict) else []
            if names is not None and all(isinstance(row, list) for row in data):
                data = [dict(zip(map(str, names), row, strict=False)) for row in data]
            return _of_rows([{k: v for k, v in row.items() if k not in index} for row in _checked(data, name)])
        lists = [value for value in found.values() if isinstance(value, list) and _are(value, dict)]
        if len(lists) == 1:
            return _of_rows(lists[0])
        if found and _are(list(found.values()), dict):
            return _of_dicts(found, expected)
        if found and _are(list(found.values()), list):
            if len({len(cells) for cells in found.values()}) > 1:
                raise DataError(f"{name}: the columns have different lengths\n\n{HINT}")
            return {str(key): list(cells) for key, cells in found.items()}
        if found and not any(isinstance(value, dict | list) for value in found.values()):
            return {str(key): [value] for key, value in found.items()}
        raise DataError(f"{name}: an object that is neither a row nor columns\n\n{HINT}")
    if isinstance(found, list) and found and _are(found, list):
        return _of_lists(found, expected)
    return _of_rows(_checked(found, name))


def _are(values: Sequence[Any], kind: type) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)


def _checked(data: Any, name: str) -> list[dict]:
    wrong = next((i for i, row in enumerate(data) if not isinstance(row, dict)), None) if isinstance(data, list) else 0
    if wrong is not None:
        what = type(data[wrong] if isinstance(data, list) else data).__name__
        raise DataError(f"{name}: a {what} in row {wrong}, not an object\n\n{HINT}")
    return data


def _of_rows(rows: list[dict]) -> dict[str, list]:
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _of_dicts(found: dict[str, dict], expected: Collection[str]) -> dict[str, list]:
    """{column: {row: cell}} or {row: {column: cell}}, by the names that are expected, or by what looks like numbers."""
    inner = list(dict.fromkeys(key for one in found.values() for key in one))
    if expected:
        by_row = any(one in inner for one in expected) and not any(one in found for one in expected)
    else:
        by_row = all(key.isdigit() for key in found) and not all(key.isdigit() for key in inner)
    if by_row:
        return _of_rows(list(found.values()))
    return {column: [cells.get(row) for row in inner] for column, cells in found.items()}


def _of_lists(rows: list[list], expected: Collection[str]) -> dict[str, list]:
    """Rows as arrays; the first may hold the names."""
    first, wide = rows[0], max(map(len, rows))
    named = _are(first, str) and len(first) == wide
    if named and not any(name in first for name in expected):
        named = any(not isinstance(cell, str) and cell is not None for row in rows[1:] for cell in row)
    names = first if named else column_labels(wide)
    body = rows[1:] if named else rows
    return {name: [row[j] if j < len(row) else None for row in body] for j, name in enumerate(names)}


def _rows(stream: Bytes, name: str) -> Iterator[Numbered]:
    for number, line in enumerate(stream.lines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            if not isinstance(row, dict):
                raise DataError(
                    f"{name}, line {number}: a {type(row).__name__}, not an object\n\n"
                    'hint: put one object on each line, such as {"sky": "grey", "wind": 3}'
                )
            _check_characters(line, row)
            if line.count(b":") != len(row) != _key_ends(line):
                _unique_keys(line)
        except DataError:
            raise
        except INVALID as error:
            why = TOO_DEEP if isinstance(error, RecursionError) else error
            raise DataError(
                f"{name}, line {number}: not valid JSON ({why})\n\nhint: put one object {{…}} on each line"
            ) from None
        yield number, row


def _batch(rows: list[Numbered], name: str, schema: pa.Schema, types: Mapping[str, Any], fixed: bool) -> pa.RecordBatch:
    """Later rows; `ColumnTypeChanged` where one has a key that none had before."""
    new = {key: number for number, row in reversed(rows) for key in row if key not in schema.names}
    if new and not fixed:
        raise ColumnTypeChanged({**types, **{key: _column(rows, key, name, None, None).type for key in new}})
    late = next((key for key in new if key in types), None)
    if late is not None:
        raise DataError(
            f"{name}, line {new[late]}: `{late}` appears for the first time\n\n"
            "hint: write it in the first line too, as null where it is missing"
        )
    columns = [_column(rows, key, name, schema.field(key).type, types.get(key), types=types) for key in schema.names]
    return pa.record_batch(columns, names=schema.names)


def _column(
    rows: list[Numbered],
    key: str,
    name: str,
    kind: Any,
    known: Any,
    unit: str = "lines",
    types: Mapping[str, Any] | None = None,
) -> pa.Array:
    """A column, numbers, texts or truth values all through. kind: what it was before; known: what it is to be."""
    cells = [row.get(key) for _, row in rows]
    found = {type(cell) for cell in cells if cell is not None}
    if kind is None and found <= {int, float} and (float in found or known == pa.float64()):
        kind = pa.float64()
    elif kind is None and known is not None and not found:
        kind = known.value_type if pa.types.is_dictionary(known) else known
    try:
        if kind is not None and _whole(kind) and float in found:  # which Arrow would cut off
            raise TypeError
        return pa.array(cells, type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError):
        wider = pa.float64() if found <= {int, float} else None
        if kind is not None and pa.types.is_null(kind):
            wider = _column(rows, key, name, None, None).type
        if types is not None and wider is not None and wider != kind and (pa.types.is_null(kind) or _whole(kind)):
            raise ColumnTypeChanged({**types, key: wider}) from None
        kinds = sorted(one.__name__ for one in found)
        raise DataError(
            f"{name}, {unit} {rows[0][0]} to {rows[-1][0]}: `{key}` mixes {' and '.join(kinds)}"
            f"{'' if kind is None else f' where earlier lines have {kind}'}\n\n"
            "hint: make it all numbers or all text; leave it out or write null where it is missing"
        ) from None


def _whole(kind: Any) -> bool:
    return pa.types.is_integer(kind)
