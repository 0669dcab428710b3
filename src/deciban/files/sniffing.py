"""What a text table looks like: delimiter, encoding, decimal mark, and which line has the names of the columns.

Lines before the table (blank ones, a title, comments, `sep=;`) are skipped. A first column without a name whose cells
are all different is an index of the rows; a last one without a name and without cells comes from a delimiter at the end
of each line. Neither is a column to learn from.

>>> look = Look.at(b"size;sky\\n1,5;grey\\n2,5;blue\\n")
>>> look.delimiter, look.decimal, look.names, look.header
(';', ',', ('size', 'sky'), 1)
>>> Look.at(b"1,2\\n3,4\\n").names
('x0', 'x1')
>>> look = Look.at(b"# by me\\n,1,y\\n0,5,a\\n1,6,b\\n", expected=("y",))
>>> look.names, look.header, look.skip
(('1', 'y'), 2, 2)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deciban.errors import DataError
from deciban.files import amounts
from deciban.files.arrow import pa
from deciban.files.splitting import LINES, Row, best_delimiter, names_first, rows
from deciban.wording import option, short

ABOVE = 50  # lines among which the names are looked for
COMMENT = ("#", "%", "//")
BLANKS = tuple(" " * size for size in range(17))  # cells that hold nothing
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", *BLANKS[1:])
FORMATS = "CSV, TSV, Parquet, Arrow / Feather, JSON, ARFF, mbox, or a folder of texts"
SEP = re.compile(r"\s*sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Look:
    delimiter: str
    encoding: str
    skip: int  # lines before the first row
    names: tuple[str, ...]  # of the columns that hold data
    columns: tuple[str, ...]  # of all cells of a line; those that are not in `names` stand for nothing
    heads: tuple[str, ...]  # the same as the file has them
    header: int | None  # the line with the names, from 1; None: there is none
    decimal: str = "."
    start: str = ""  # the line that was taken for the names, or for the first row
    notes: tuple[str, ...] = ()

    @classmethod
    def at(
        cls,
        head: bytes,
        name: str = "it",
        delimiter: str | None = None,
        header: int | None = None,
        expected: Collection[str] = (),
    ) -> Look:
        """From the first bytes of a file; what is given is taken as given. header: the line with the names, 0: there
        is none; expected: names that the header would have."""
        text, encoding = decoded(head, name)
        lines = universal(text).split("\n")
        if len(head) >= 1 << 16 and len(lines) > 2:
            lines = lines[:-1]  # cut off
        if not any(line.strip() for line in lines):
            raise DataError(f"{name} is empty\n\nhint: see whether whatever wrote it came to its end")
        declared = _declared(lines)
        delimiter = delimiter or (declared and declared[1]) or best_delimiter(_body(lines)[:LINES])
        found = rows("\n".join(lines), delimiter, declared[0] if declared else 0)
        return _look(found, name, delimiter, encoding, header, expected)


def _declared(lines: Sequence[str]) -> tuple[int, str] | None:
    """(how many lines, the delimiter) where Excel's `sep=;` stands above the table."""
    at = next(i for i, line in enumerate(lines) if line.strip())
    found = SEP.fullmatch(lines[at])
    return (at + 1, found[1]) if found else None


def _body(lines: Sequence[str]) -> list[str]:
    """The lines without blank ones and comments, unless all are comments."""
    filled = [line for line in lines if line.strip()]
    return [line for line in filled if not line.lstrip().startswith(COMMENT)] or filled


def _look(
    found: list[Row], name: str, delimiter: str, encoding: str, header: int | None, expected: Collection[str]
) -> Look:
    found = found[next((i for i, row in enumerate(found) if not row.blank), 0) :]
    if not found:
        raise DataError(f"{name} is empty\n\nhint: see whether whatever wrote it came to its end")
    width = _width(found)
    if header:
        at = next((i for i, row in enumerate(found) if row.first == header), None)
        if at is None:
            raise DataError(
                f"{name} has no names of columns in line {header}\n\n"
                f"hint: the first line that is not blank is {found[0].first}"
            )
        has = True
    elif header == 0:
        at, has = 0, False
    else:
        at, has = _start(found, width, expected)
    table = [row for row in (found[at + 1 :] if has else found[at:]) if not row.blank]
    width = _width(table) if table else len(found[at].cells)
    heads = _heads(found[at].cells, table, width, expected) if has else tuple(f"x{j}" for j in range(width))
    columns, hidden, notes = _named(heads, table)
    if has and len(found[at].cells) == width - 1 and not heads[0]:
        notes = (f"line {found[at].first} has a name less than the rows have cells: the first is the row's own name",)
    decimal, example = _decimal(table, delimiter)
    if decimal != ".":
        plain = example.replace(".", "").replace(",", ".")
        notes = (*notes, f"numbers have a decimal comma: {example} is read as {plain}")
    twice = [one for one, times in Counter(columns).items() if times > 1]
    if twice:
        raise DataError(
            f"{name}, line {found[at].first}: two columns are named {twice[0]!r}\n\n"
            "hint: give every column a name of its own; if that line does not hold the names, pass "
            f"{option('header=LINE', '--header LINE')}, or {option('header=False', '--no-header')} if none does"
        )
    return Look(
        delimiter,
        encoding,
        found[at].last if has else found[at].first - 1,
        tuple(one for one in columns if one not in hidden),
        columns,
        heads,
        found[at].first if has else None,
        decimal,
        short(delimiter.join(found[at].cells), 60),
        notes,
    )


def _width(found: Sequence[Row]) -> int:
    """The number of cells that most lines have."""
    return max(Counter(len(row.cells) for row in found).items(), key=lambda item: (item[1], item[0]))[0]


def _start(found: Sequence[Row], width: int, expected: Collection[str]) -> tuple[int, bool]:
    """(the row that the table starts with, whether it holds the names)."""
    for at, row in enumerate(found[:ABOVE]):
        if _matches(row, expected) and abs(len(row.cells) - width) <= 1:
            if all(_above(before, width) for before in found[:at]):
                return at, True
            break
    at = 0
    while at + 1 < len(found) and (_comment(found[at]) or len(found[at].cells) < width - 1):
        at += 1
    if len(found[at].cells) != width - 1:
        return at, names_first([row.cells for row in found[at:]])
    if at + 1 < len(found) and names_first([row.cells for row in found[at + 1 :]]):
        return at + 1, True  # a title
    return at, True  # names of all columns but that of the rows' own names


def _matches(row: Row, expected: Collection[str]) -> bool:
    """Whether at least half of the names that are looked for are there."""
    here = {name for cell in row.cells for name in (cell, cell.strip(), cell.lstrip("#").strip())}
    return bool(expected) and 2 * sum(one in here for one in expected) >= len(expected)


def _comment(row: Row) -> bool:
    return row.cells[0].lstrip().startswith(COMMENT) if row.cells else True


def _above(row: Row, width: int) -> bool:
    """Whether a line may stand above a table: a comment, a title (in one cell of many)."""
    return _comment(row) or len(row.cells) < width or 2 * sum(not cell.strip() for cell in row.cells) >= width


def _heads(cells: Sequence[str], table: Sequence[Row], width: int, expected: Collection[str]) -> tuple[str, ...]:
    """The names for all cells of a line, "" where one has none; spaces around them are kept where that is expected."""
    found = [cell if cell in expected else cell.strip() for cell in cells]
    if cells and cells[0].startswith("#") and cells[0] not in expected:
        found[0] = cells[0].lstrip("#").strip()
    while len(found) > width and not found[-1]:
        found.pop()
    if len(found) == width - 1:
        ends = all(not row.cells[-1].strip() for row in table if len(row.cells) == width)
        found = [*found, ""] if ends and found[-1] else ["", *found]
    return tuple(found)


def _named(heads: Sequence[str], table: Sequence[Row]) -> tuple[tuple[str, ...], set[str], tuple[str, ...]]:
    """(a name for each column, those that stand for nothing, notes)."""
    names, hidden, notes = list(heads), set(), []
    for j, head in enumerate(heads):
        if head:
            continue
        below = [row.cells[j].strip() for row in table if len(row.cells) == len(heads)]
        if j == len(heads) - 1 and j and not any(below):
            names[j] = f"(end {j})"
            hidden.add(names[j])
        elif j == 0 and len(heads) > 1 and len(set(below)) == len(below):
            names[j] = "(index)"
            hidden.add(names[j])
            if not _counts(below):
                notes.append("the first column has no name and other cells in each row: taken for names of the rows")
        else:
            names[j] = next(f"x{k}" for k in range(j, j + len(heads) + 1) if f"x{k}" not in heads)
            notes.append(f"column {j + 1} has no name: it is called `{names[j]}`")
    return tuple(names), hidden, tuple(notes)


def _counts(cells: Sequence[str]) -> bool:
    """Whether they are 0, 1, 2 … or 1, 2, 3 …"""
    return any(list(cells) == [str(start + i) for i in range(len(cells))] for start in (0, 1))


def _decimal(table: Sequence[Row], delimiter: str) -> tuple[str, str]:
    """(the decimal mark of the file, a cell that has it): a comma where some column cannot be read otherwise, or, where
    neither mark is certain, where one may be and the delimiter is a semicolon."""
    if delimiter == "," or not table:
        return ".", ""
    width, may_be = len(table[0].cells), ""
    for column in zip(*(row.cells for row in table if len(row.cells) == width), strict=True):
        marked = [cell.strip() for cell in column if "," in cell]
        if not marked and not any("." in cell for cell in column):
            continue
        cells = pa.array(column)
        comma, point = amounts.find(cells, ","), amounts.find(cells, ".")
        if comma and not point:
            return ",", min(marked or [max(column, key=len)], key=lambda cell: cell.count("."))
        if point and not comma:
            return ".", ""
        may_be = marked[0] if marked and comma else may_be
    return (",", may_be) if may_be and delimiter == ";" else (".", "")


def universal(text: str) -> str:
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def decoded(head: bytes, name: str) -> tuple[str, str]:
    """(text, encoding): UTF-8 if it can be, UTF-16 by its mark, else Latin-1 unless it is no text at all."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if head.startswith(mark):
            return head[: len(head) // 2 * 2].decode(encoding, errors="ignore"), encoding.replace("-sig", "")
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise DataError(f"{name} is an Excel or another office file\n\nhint: save the sheet as CSV, and give that")
    control = sum(head.count(bytes([c])) for c in range(32) if c not in (9, 10, 12, 13))
    if b"\0" in head or control > len(head) / 100:
        raise DataError(f"{name} holds binary data that is no table I know\n\nhint: give {FORMATS}")
    try:
        return head.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:  # a letter cut in two by the end of what was read
            return head[: error.start].decode("utf-8"), "utf-8"
        return head.decode("latin-1"), "latin-1"
