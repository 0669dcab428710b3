"""ARFF, Weka's format: attributes with their types, then rows, dense or sparse; `?` is a missing cell.

>>> import io
>>> text = b"@relation r\\n@attribute 'sky cover' {grey, 'light blue'}\\n@attribute wind real\\n@data\\ngrey, 3\\n?, 1"
>>> from deciban.io.compression import Bytes
>>> source = read(lambda: Bytes.of(io.BytesIO(text), "r.arff"), "r.arff", None)
>>> source.target, source.table().to_pylist()
('wind', [{'sky cover': 'grey', 'wind': 3.0}, {'sky cover': None, 'wind': 1.0}])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from deciban.errors import DataError
from deciban.io.arrow import pa
from deciban.io.compression import Bytes
from deciban.io.csv import GROWTH, decode_head
from deciban.io.source import Source

ROWS = 1 << 13
TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'\s*|"((?:[^"\\]|\\.)*)"\s*|([^,]*))(,|\Z)""")
NAME = re.compile(r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s+(.*)$""", re.IGNORECASE)
NUMBERS = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    name: str
    numeric: bool
    levels: tuple[str, ...] | None  # None: any text

    @property
    def default(self) -> str:
        """The value of a cell that a sparse row does not list."""
        return "0" if self.levels is None else self.levels[0]


def read(opened: Callable[[], Bytes], name: str, size: int | None) -> Source:
    stream = opened()
    lines = enumerate(_lines(stream, name), 1)
    attributes = _header(lines, name)
    schema = pa.schema([(one.name, pa.float64() if one.numeric else pa.string()) for one in attributes])

    def batches() -> Iterator[pa.RecordBatch]:
        rows = (_row(line, number, attributes, name) for number, line in lines if line and line[0] != "%")
        while chunk := list(islice(rows, ROWS)):
            cells = zip(*chunk, strict=True)
            yield pa.record_batch([pa.array(c, f.type) for c, f in zip(cells, schema, strict=True)], schema)

    named = [one.name for one in attributes if one.name.lower() == "class"]
    return Source(
        name,
        "ARFF",
        schema,
        batches,
        lambda: stream.consumed / size if size else None,
        named[0] if named else attributes[-1].name,
        bulk=(size or 0) * GROWTH[stream.kind],
    )


def _lines(stream: Bytes, name: str) -> Iterator[str]:
    encoding = decode_head(stream.head(1 << 16), name)[1]
    return (line.decode(encoding, errors="replace").strip() for line in stream.lines())


def _header(lines: Iterator[tuple[int, str]], name: str) -> list[Attribute]:
    out: list[Attribute] = []
    for number, line in lines:
        if line.lower().startswith("@data"):
            if out:
                return out
            break
        if line.lower().startswith("@attribute"):
            out.append(one := _attribute(line, number, name))
            if any(one.name == other.name for other in out[:-1]):
                raise DataError(
                    f"{name}, line {number}: two attributes are named {one.name!r}\n\n"
                    "hint: give every attribute a name of its own"
                )
    raise DataError(f"{name} has no @attribute lines before @data\n\nhint: check that the ARFF file is complete")


def _attribute(line: str, number: int, name: str) -> Attribute:
    found = NAME.match(line.replace("{", " {", 1) if "{" in line else line)
    if found is None:
        raise DataError(f"{name}, line {number}: {line[:60]!r} names no attribute\n\nhint: @attribute NAME TYPE")
    title, kind = _plain(found.groups()[:3]), found[4].strip()
    if kind.startswith("{"):
        return Attribute(title, False, tuple(_fields(kind.strip("{} \t"))))
    return Attribute(title, kind.lower().split()[0] in NUMBERS, None)


def _row(line: str, number: int, attributes: list[Attribute], name: str) -> list:
    if line.startswith("{"):
        cells = [one.default for one in attributes]
        for part in _fields(line.strip("{} \t")):
            at, _, value = part.partition(" ")
            if not at.isdecimal() or len(at) > 9 or int(at) >= len(attributes):
                raise DataError(
                    f"{name}, line {number}: no attribute {at!r}\n\nhint: sparse rows are {{NUMBER VALUE, …}}"
                )
            cells[int(at)] = _fields(value.strip())[0]
    else:
        cells = _fields(line)
    if len(cells) != len(attributes):
        raise DataError(
            f"{name}, line {number}: {len(cells)} fields instead of {len(attributes)}\n\n"
            "hint: quote cells that hold a comma: 'a, b'"
        )
    return [_cell(cell, one, number, name) for cell, one in zip(cells, attributes, strict=True)]


def _cell(cell: str, attribute: Attribute, number: int, name: str) -> str | float | None:
    if cell == "?":
        return None
    if not attribute.numeric:
        return cell
    try:
        return float(cell)
    except ValueError:
        raise DataError(
            f"{name}, line {number}: `{attribute.name}` is {cell!r}, but it is declared as a number\n\n"
            "hint: write ? where it is missing"
        ) from None


def _fields(line: str) -> list[str]:
    out: list[str] = []
    for found in TOKEN.finditer(line):
        out.append(_plain(found.groups()[:3]))
        if not found[4]:
            break
    return out


def _plain(groups: tuple[str | None, ...]) -> str:
    single, double, bare = groups
    quoted = single if single is not None else double
    return (bare or "").strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
