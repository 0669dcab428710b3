"""What a text table looks like: its delimiter, its encoding, and whether its first line has the names.

>>> look = Look.at(b"size;sky\\n1,5;grey\\n2,5;blue\\n")
>>> look.delimiter, look.names, look.header
(';', ('size', 'sky'), True)
>>> Look.at(b"1,2\\n3,4\\n").names
('x0', 'x1')
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from deciban.errors import DataError

DELIMITERS = ",\t;|"
LINES = 200  # that are looked at
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A")
FORMATS = "CSV, TSV, Parquet, Arrow / Feather, JSON lines, ARFF, mbox, or a folder of texts"


@dataclass(frozen=True)
class Look:
    delimiter: str
    encoding: str
    header: bool
    names: tuple[str, ...]

    @classmethod
    def at(cls, head: bytes, name: str = "it", delimiter: str | None = None, header: bool | None = None) -> Look:
        """From the first bytes of a file; what is given is taken as given."""
        text, encoding = decoded(head, name)
        lines = [line for line in text.splitlines(keepends=True) if line.strip()]
        if not lines:
            raise DataError(f"{name} is empty\n\nhint: see whether whatever wrote it came to its end")
        if len(head) >= 1 << 16 and len(lines) > 1:
            lines = lines[:-1]  # cut off
        delimiter = delimiter or best_delimiter(lines[:LINES])
        rows = [row for row in fields("".join(lines[:LINES]), delimiter) if row]
        has = names_first(rows) if header is None else header
        names = rows[0] if has else [f"x{j}" for j in range(len(rows[0]))]
        twice = [one for one, times in Counter(names).items() if times > 1]
        if twice:
            raise DataError(
                f"{name}: two columns are named {twice[0]!r}\n\n"
                "hint: give every column a name of its own, or say --no-header if the first line is no header"
            )
        return cls(delimiter, encoding, has, tuple(names))


def decoded(head: bytes, name: str) -> tuple[str, str]:
    """(text, encoding): UTF-8 if it can be, UTF-16 by its mark, else Latin-1 unless it is no text at all."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if head.startswith(mark):
            return head[: len(head) // 2 * 2].decode(encoding, errors="ignore"), encoding.replace("-sig", "")
    strange = sum(head.count(bytes([c])) for c in range(32) if c not in (9, 10, 12, 13))
    if b"\0" in head or strange > len(head) / 100:
        raise DataError(f"{name} holds binary data that is no table I know\n\nhint: give {FORMATS}")
    try:
        return head.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:  # a letter cut in two by the end of what was read
            return head[: error.start].decode("utf-8"), "utf-8"
        return head.decode("latin-1"), "latin-1"


def fields(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def best_delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of fields; of several, the one with the most fields."""
    found = []
    for delimiter in DELIMITERS:
        counts = Counter(len(row) for row in fields("".join(lines), delimiter) if row)
        size, times = max(counts.items(), key=lambda item: (item[1], item[0]))
        if size > 1:
            found.append((times / sum(counts.values()) > 0.9, times / sum(counts.values()) * (size - 1), delimiter))
    return max(found, default=(False, 0.0, ","), key=lambda one: one[:2])[2]


def names_first(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line holds names: no number, no gap, and over words alone nothing twice or again below."""
    first, rest = rows[0], rows[1:]
    if any(not cell.strip() or is_number(cell) for cell in first):
        return False
    below = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    if any(any(map(is_number, column)) for column in below):
        return True
    return len(set(first)) == len(first) and not any(cell in column for cell, column in zip(first, below, strict=False))


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().lower() not in ("nan", "inf", "infinity")
