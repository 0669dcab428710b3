"""Text cut into cells: which character does it, where each row stands, and whether the first one holds names.

>>> best_delimiter(["a;b", "1,5;2", "2,5;3"])
';'
>>> rows('a,b\\n1,"x\\ny"\\n', ",")[1]
Row(first=2, last=3, cells=('1', 'x\\ny'))
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deciban.files import amounts

DELIMITERS = ",\t;|"
LINES = 200  # that are looked at


@dataclass(frozen=True)
class Row:
    """Cells of a line, or of several if a cell goes over them; lines count from 1."""

    first: int
    last: int
    cells: tuple[str, ...]

    @property
    def blank(self) -> bool:
        return not any(cell.strip() for cell in self.cells)


def rows(text: str, delimiter: str, skip: int = 0) -> list[Row]:
    """The first rows of a text, those of the first lines left out."""
    out: list[Row] = []
    source = io.StringIO(text, newline="\n")
    for _ in range(skip):
        next(source)
    reader = csv.reader(source, delimiter=delimiter)
    last = 0
    try:
        for cells in reader:
            out.append(Row(skip + last + 1, skip + reader.line_num, tuple(cells)))
            last = reader.line_num
            if len(out) >= LINES:
                break
    except csv.Error:  # a quote that is never closed
        pass
    return out


def fields(text: str, delimiter: str) -> list[tuple[str, ...]]:
    return [row.cells for row in rows(text, delimiter) if row.cells]


def best_delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of fields; of several, the one with the most fields. A comma
    inside of numbers is no delimiter where there is another one; a space is one where no other cuts anything."""
    found = []
    for delimiter in DELIMITERS:
        counts = Counter(len(row) for row in fields("\n".join(lines), delimiter))
        if not counts:
            continue
        size, times = max(counts.items(), key=lambda item: (item[1], item[0]))
        if size > 1:
            even = times / sum(counts.values()) > 0.9
            found.append((even, times / sum(counts.values()) * (size - 1), delimiter))
            if even and delimiter != "," and _commas_in_numbers(fields("\n".join(lines), delimiter)):
                return delimiter
    if not found and _by_spaces(lines):
        return " "
    return max(found, default=(False, 0.0, ","), key=lambda one: one[:2])[2]


def _commas_in_numbers(table: Sequence[Sequence[str]]) -> bool:
    with_comma = [cell for row in table for cell in row if "," in cell]
    written = (amounts.Amount(",", unit) for unit in ("", *amounts.UNITS))
    return bool(with_comma) and any(all(one.reads(cell) for cell in with_comma) for one in written)


def _by_spaces(lines: Sequence[str]) -> bool:
    """Whether single spaces cut all lines alike, and some column holds numbers. The first line may have a cell less if
    it has quotes or several cells: else it is the name of a column of texts."""
    table = fields("\n".join(lines), " ")
    if len(table) < 2:
        return False
    width = len(table[1])
    if width < 2 or any(len(row) != width for row in table[1:]) or len(table[0]) not in (width - 1, width):
        return False
    if len(table[0]) == 1 and '"' not in lines[0]:
        return False
    return any(all(map(is_number, column)) for column in zip(*table[1:], strict=True))


def names_first(table: Sequence[Sequence[str]]) -> bool:
    """Whether the first line holds names: no number, no gap but at an end, and over words alone nothing twice or again
    below."""
    first, rest = table[0], table[1:]
    below = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    if any(is_number(cell) for cell in first) or any(
        not cell.strip() and not _nameless(j, len(first), below) for j, cell in enumerate(first)
    ):
        return False
    if any(any(map(is_number, column)) for column in below):
        return True
    return len(set(first)) == len(first) and not any(cell in column for cell, column in zip(first, below, strict=False))


def _nameless(j: int, width: int, below: Sequence[Sequence[str]]) -> bool:
    """Whether column j needs no name: it is first and its cells are all different, or last and has none."""
    if not below or width < 2:
        return False
    return (j == 0 and len(set(below[0])) == len(below[0])) or (j == width - 1 and not any(map(str.strip, below[-1])))


def is_number(cell: str) -> bool:
    """
    >>> is_number("1e3"), is_number("1.234,5"), is_number("nan"), is_number("x1")
    (True, True, False, False)
    """
    cell = cell.strip()
    return any(character.isdigit() for character in cell) and any(
        one.reads(cell) for one in (amounts.Amount("."), amounts.Amount(","))
    )


def line_where(block: bytes, delimiter: str, fits: Callable[[list[str]], bool]) -> tuple[int, list[str]] | None:
    """(the line that the first such row of a text ends in, its cells)."""
    reader = csv.reader(io.StringIO(block.decode("utf-8", "replace")), delimiter=delimiter)
    try:
        return next(((reader.line_num, row) for row in reader if fits(row)), None)
    except csv.Error:
        return None
