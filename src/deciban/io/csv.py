"""CSV and TSV: delimiter, header, decimal mark and encoding are detected; column types come from the first rows and are
revised where later rows differ. A row with too many or too few fields is an error that names its line.

A numeric column may hold amounts with units and thousands separators (`Amount`), blanks and `-`; a column of codes with
leading zeros stays text.

`CsvDialect`: delimiter, encoding, decimal mark, and the line with the column names.

Lines before the table (blank ones, a title, comments, `sep=;`) are skipped. A first column without a name whose cells
are all different is an index of the rows; a last one without a name and without cells comes from a delimiter at the end
of each line. Neither is a feature.

>>> look = CsvDialect.at(b"size;sky\\n1,5;grey\\n2,5;blue\\n")
>>> look.delimiter, look.decimal, look.names, look.header
(';', ',', ('size', 'sky'), 1)
>>> CsvDialect.at(b"1,2\\n3,4\\n").names
('x0', 'x1')
>>> look = CsvDialect.at(b"# by me\\n,1,y\\n0,5,a\\n1,6,b\\n", expected=("y",))
>>> look.names, look.header, look.skip
(('1', 'y'), 2, 2)

For predictions, rows are parsed for the needed columns only, and their original text is written again with the
predictions appended to each line.

`best_delimiter`, `has_header`: the delimiter of a text, and whether its first row holds column names.

>>> best_delimiter(["a;b", "1,5;2", "2,5;3"])
';'
>>> rows('a,b\\n1,"x\\ny"\\n', ",")[1]
Row(first=2, last=3, cells=('1', 'x\\ny'))

Numbers as people write them: `1,234.5`, `1.234,5`, `$12.00`, `12%`, and `-`, `.`, `missing` or `none` where there is
none.

>>> Amount(".", "$").numbers(pa.array(["$1,234.50", "-", " 7 "])).to_pylist()
[1234.5, None, 7.0]
>>> find(pa.array(["1.234,5", "2"]), ",."), find(pa.array(["low", "7"]), ".")
(Amount(decimal=',', unit=''), None)
"""

from __future__ import annotations

import csv
import io
import re
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count
from threading import Event
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.frames import column_label, column_labels
from deciban.data.memory import address_space_left
from deciban.display import option, truncate
from deciban.errors import DataError
from deciban.io.arrow import arrow_csv, compute, pa
from deciban.io.compression import LONGEST, MOST, Bytes, Utf8
from deciban.io.source import Piece, Source

csv.field_size_limit(max(csv.field_size_limit(), MOST))  # characters of a cell in the first lines
UNITS = "$€£¥₹%"
NO_NUMBER = ("", "-", "--", "–", "—", ".", "..", "missing", "none", "unknown", "na", "n/a", "n.a.", "nan", "null", "?")
TRIED = 100  # cells that are tried before the full column is parsed
APART = {".": ",'\u00a0\u202f", ",": ".'\u00a0\u202f"}  # what stands between thousands, by the decimal mark


class Unread(Exception):
    """A cell that is not a number."""

    def __init__(self, cell: str, row: int, column: str = ""):
        super().__init__(cell)
        self.cell, self.row, self.column = cell, row, column


@dataclass(frozen=True)
class Amount:
    """The number format of a column: decimal mark and unit. A currency is optional in a cell, % is not."""

    decimal: str = "."
    unit: str = ""
    example: str = field(default="", compare=False, repr=False)  # a cell that shows how they are written

    def __str__(self) -> str:
        return f"amount {self.decimal}{self.unit} {self.example}"

    @classmethod
    def named(cls, text: str) -> Amount:
        """
        >>> Amount.named(str(Amount(",", "€", "5 €"))).in_words("price")
        "`price` holds numbers; '5 €' is read as 5, '-' or 'none' as missing"
        """
        written, _, example = text[7:].partition(" ")
        return cls(written[0], written[1:], example)

    def in_words(self, column: str) -> str:
        """A note on how an example cell is read."""
        value = self.numbers(pa.array([self.example]))[0].as_py()
        if value is None:
            return f"`{column}` holds numbers; cells such as {self.example!r} are read as missing"
        return f"`{column}` holds numbers; {self.example!r} is read as {value:.12g}, '-' or 'none' as missing"

    @cached_property
    def pattern(self) -> str:
        point = re.escape(self.decimal)
        whole = rf"(?:[1-9]\d{{0,2}}(?:[{APART[self.decimal]}]\d{{3}})+|\d+)"
        digits = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?"
        unit = re.escape(self.unit)
        if self.unit == "%":
            return rf"^[-+−]?{digits}\s*%$"
        return rf"^(?:[-+−]?(?:{unit})?\s*|(?:{unit})\s*[-+−]){digits}\s*(?:{unit})?$"

    def reads(self, cell: str) -> bool:
        """Whether a cell is a number or marks a missing one."""
        return is_none(cell) or re.match(self.pattern, cell.strip()) is not None

    def numbers(self, cells: pa.Array) -> pa.Array:
        """Texts as doubles; raises `Unread`."""
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        text = compute.utf8_trim_whitespace(cells.cast(pa.string()))
        none = compute.is_in(compute.utf8_lower(text), pa.array(NO_NUMBER))
        fits = compute.or_(compute.match_substring_regex(text, self.pattern), none)
        if not compute.all(fits, skip_nulls=True, min_count=0).as_py():
            row = compute.index(fits, False).as_py()
            raise Unread(cells[row].as_py(), row)
        text = compute.if_else(none, None, text)
        text = compute.replace_substring_regex(text, f"[{re.escape(UNITS)}{APART[self.decimal]}\\s]", "")
        text = compute.replace_substring(text, "−", "-")
        if self.decimal != ".":
            text = compute.replace_substring(text, self.decimal, ".")
        return text.cast(pa.float64())


def is_none(cell: str) -> bool:
    """Whether a cell marks a missing number."""
    return cell.strip().lower() in NO_NUMBER


def unit_of(cell: str) -> str:
    """
    >>> unit_of("12 €"), unit_of("twelve")
    ('€', '')
    """
    return next((mark for mark in cell if mark in UNITS), "")


def find(cells: pa.Array, decimals: str) -> Amount | None:
    """The format of all cells, by the first of these decimal marks that fits; None: they are not all numbers."""
    first = [cell for cell in cells.drop_null()[:TRIED].to_pylist() if not is_none(cell)]
    units = {unit_of(cell) for cell in first} - {""}
    if not first or len(units) > 1:
        return None
    for decimal in decimals:
        start = Amount(decimal, "".join(units))
        if not all(start.reads(cell) for cell in first):
            continue
        tried: Amount | None = start
        while tried is not None:
            try:
                tried.numbers(cells)
                return tried
            except Unread as wrong:
                tried = with_unit(tried, wrong.cell)
    return None


def with_unit(given: Amount, cell: str) -> Amount | None:
    """The same with the unit of a cell, if it reads that cell then."""
    unit = unit_of(cell)
    if given.unit or not unit or unit == "%":
        return None
    more = Amount(given.decimal, unit)
    return more if more.reads(cell) else None


def following(given: Amount | None, cell: str, decimals: str) -> Amount | None:
    """The next way to read a column after one that does not read this cell; None: it is text.

    >>> following(None, "1,5", ".,"), following(Amount("."), "$2", ".,"), following(None, "low", ".,")
    (Amount(decimal=',', unit=''), Amount(decimal='.', unit='$'), None)
    """
    if given is None:
        ahead, unit = decimals, ""
    else:
        more = with_unit(given, cell)
        if more is not None:
            return more
        ahead, unit = decimals[decimals.find(given.decimal) + 1 :], given.unit
    for decimal in ahead:
        plain = Amount(decimal, unit)
        found = plain if plain.reads(cell) else with_unit(plain, cell)
        if found is not None:
            return found
    return None


def numeric(batch: pa.RecordBatch | pa.Table, types: Mapping[str, Any]) -> pa.RecordBatch | pa.Table:
    """The batch with those of its text columns as numbers whose type is an `Amount`; raises `Unread`."""
    for at, name in enumerate(batch.schema.names):
        given = types.get(name)
        if isinstance(given, Amount):
            column = batch.column(at)
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
                column = column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)
            try:
                batch = batch.set_column(at, pa.field(name, pa.float64()), given.numbers(column))
            except Unread as wrong:
                raise Unread(wrong.cell, wrong.row, name) from None
    return batch


def parsed_as(given: object) -> object:
    """The Arrow type that a column has while it is parsed."""
    return pa.string() if isinstance(given, Amount) else given


def held_as(given: object) -> object:
    """The Arrow type that it has afterwards."""
    return pa.float64() if isinstance(given, Amount) else given


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
    inside of numbers is not a delimiter if there is another one; a space is one only if no other splits lines."""
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
    written = (Amount(",", unit) for unit in ("", *UNITS))
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


def has_header(table: Sequence[Sequence[str]]) -> bool:
    """Whether the first line holds column names.

    It does if no cell is a number, and either a column below it has numbers, or its cells are distinct and none recurs
    in its column. Where a cell is empty (except an unnamed first or last column), a column that is all numbers must be
    below one that is not.
    """
    first, rest = table[0], table[1:]
    below = list(zip(*(row for row in rest if len(row) == len(first)), strict=True))
    if any(is_number(cell) for cell in first):
        return False
    if any(not cell.strip() and not _nameless(j, len(first), below) for j, cell in enumerate(first)):
        return any(not is_none(cell) and _numbers(column) for cell, column in zip(first, below, strict=False))
    if any(any(map(is_number, column)) for column in below):
        return True
    return len(set(first)) == len(first) and not any(cell in column for cell, column in zip(first, below, strict=False))


def _numbers(cells: Sequence[str]) -> bool:
    """Whether all cells that are there are numbers."""
    return any(map(is_number, cells)) and all(is_number(cell) or is_none(cell) for cell in cells)


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
    return any(character.isdigit() for character in cell) and any(one.reads(cell) for one in (Amount("."), Amount(",")))


def line_where(block: bytes, delimiter: str, fits: Callable[[list[str]], bool]) -> tuple[int, list[str]] | None:
    """(the line that the first such row of a text ends in, its cells)."""
    reader = csv.reader(io.StringIO(block.decode("utf-8", "replace")), delimiter=delimiter)
    try:
        return next(((reader.line_num, row) for row in reader if fits(row)), None)
    except csv.Error:
        return None


ABOVE = 50  # lines among which the names are looked for
COMMENT = ("#", "%", "//")
BLANKS = tuple(" " * size for size in range(17))  # cells that hold nothing
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "#N/A", "<NA>", *BLANKS[1:])
FORMATS = "CSV, TSV, Parquet, Arrow / Feather, JSON, ARFF, mbox, or a folder of texts"
SEP = re.compile(r"\s*sep=(.)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class CsvDialect:
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
    ) -> CsvDialect:
        """From the first bytes of a file; what is given is taken as given. header: the line with the names, 0: there
        is none; expected: names that the header would have."""
        text, encoding = decode_head(head, name)
        lines = universal(text).split("\n")
        if len(head) >= 1 << 16 and len(lines) > 2:
            lines = lines[:-1]  # cut off
        if not any(line.strip() for line in lines):
            raise DataError(f"{name} is empty\n\nhint: check that the program that wrote it has finished")
        declared = _declared(lines)
        delimiter = delimiter or (declared and declared[1]) or best_delimiter(_body(lines)[:LINES])
        if not delimiter.isascii() or delimiter in '"\n\r\0':
            raise DataError(f"{name}: {delimiter!r} is no delimiter\n\nhint: one of , ; | or tab is usual")
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
) -> CsvDialect:
    found = found[next((i for i, row in enumerate(found) if not row.blank), 0) :]
    if not found:
        raise DataError(f"{name} is empty\n\nhint: check that the program that wrote it has finished")
    width = _width(found)
    if header:
        at = next((i for i, row in enumerate(found) if row.first == header), None)
        if at is None:
            raise DataError(
                f"{name} has no column names in line {header}\n\n"
                f"hint: the first line that is not blank is {found[0].first}"
            )
        has = True
    elif header == 0:
        at, has = 0, False
    else:
        at, has = _start(found, width, expected)
    table = [row for row in (found[at + 1 :] if has else found[at:]) if not row.blank]
    width = _width(table) if table else len(found[at].cells)
    heads = _heads(found[at].cells, table, width, expected) if has else tuple(column_labels(width))
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
    return CsvDialect(
        delimiter,
        encoding,
        found[at].last if has else found[at].first - 1,
        tuple(one for one in columns if one not in hidden),
        columns,
        heads,
        found[at].first if has else None,
        decimal,
        truncate(delimiter.join(found[at].cells), 60),
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
        return at, has_header([row.cells for row in found[at:]])
    if at + 1 < len(found) and has_header([row.cells for row in found[at + 1 :]]):
        return at + 1, True  # a title
    return at, True  # names of all columns but that of the rows' own names


def _matches(row: Row, expected: Collection[str]) -> bool:
    """Whether at least half of the expected names occur."""
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
            names[j] = next(name for name in map(column_label, count(j)) if name not in heads)
            notes.append(f"column {j + 1} has no name: it is called `{names[j]}`")
    return tuple(names), hidden, tuple(notes)


def _counts(cells: Sequence[str]) -> bool:
    """Whether the cells are 0, 1, 2 … or 1, 2, 3 …"""
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
        comma, point = find(cells, ","), find(cells, ".")
        if comma and not point:
            return ",", min(marked or [max(column, key=len)], key=lambda cell: cell.count("."))
        if point and not comma:
            return ".", ""
        may_be = marked[0] if marked and comma else may_be
    return (",", may_be) if may_be and delimiter == ";" else (".", "")


def universal(text: str) -> str:
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def decode_head(head: bytes, name: str) -> tuple[str, str]:
    """(text, encoding): UTF-8 if valid, UTF-16 by its byte order mark, else Latin-1 unless the data is binary."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if head.startswith(mark):
            return head[: len(head) // 2 * 2].decode(encoding, errors="ignore"), encoding.replace("-sig", "")
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise DataError(f"{name} is an office file, such as Excel\n\nhint: export the sheet as CSV")
    control = sum(head.count(bytes([c])) for c in range(32) if c not in (9, 10, 12, 13))
    if b"\0" in head or control > len(head) / 100:
        raise DataError(f"{name} is a binary file of unknown format\n\nhint: give {FORMATS}")
    try:
        return head.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:  # a letter cut in two by the end of what was read
            return head[: error.start].decode("utf-8"), "utf-8"
        return head.decode("latin-1"), "latin-1"


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


LINES_BLOCK = 8 << 20  # bytes that are parsed at a time
_UNUSED_CHAR = "\x1f"  # a character that tables do not have
COLUMN_BYTES = 18_000  # that Arrow's parser needs for a column of few rows
TRIES = 100  # line ends that are looked at for the end of a row

LinesPiece = tuple[pa.Table, pa.Array]  # the columns that were asked for, and the rows' lines
Numbered = tuple[int, bytes]  # how many lines come before, and some text
Parse = Callable[[Numbered], pa.Table]


def pieces(found: Iterator[Numbered], parse: Parse) -> Iterator[LinesPiece]:
    """Rows from the beginning; a block is parsed while the one before is used."""
    with ThreadPoolExecutor(1, thread_name_prefix="deciban-csv") as pool:
        ahead: Future | None = None
        while True:
            following = pool.submit(_next, found, parse)
            if ahead is not None:
                piece = ahead.result()
                if piece is None:
                    return
                yield piece
            ahead = following


def _next(found: Iterator[Numbered], parse: Parse) -> LinesPiece | None:
    block = next(found, None)
    return None if block is None else _with_lines(block[1], parse(block))


def parsed(
    block: bytes, look: CsvDialect, types: Mapping[str, Any], columns: Sequence[str], use_threads: bool = True
) -> pa.Table:
    """Those columns of the rows in a block of text; raises ArrowInvalid or `Unread`."""
    _check_memory(len(columns))
    wrapped = b'"' in block and any(line.count(b'"') % 2 for line in block.split(b"\n"))
    table = _read_block(
        block,
        read_options=arrow_csv.ReadOptions(
            column_names=list(look.columns),
            block_size=1 << 20 if use_threads else max(LINES_BLOCK, len(block)),
            use_threads=use_threads,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=look.delimiter, newlines_in_values=wrapped),
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: parsed_as(kind) for name, kind in types.items()},
            include_columns=list(columns),
            null_values=MISSING,
            strings_can_be_null=True,
            decimal_point=look.decimal,
        ),
    )
    return numeric(table, types)


def _check_memory(columns: int) -> None:
    """Raise DataError if columns need more memory than the process may have: Arrow would end it by a signal."""
    need, room = columns * COLUMN_BYTES, address_space_left()
    if need > room:
        raise DataError(
            f"{columns:,} columns of CSV need about {need / 1e9:.1f} GB of memory to be parsed, and the limit of "
            f"this process leaves {room / 1e9:.1f} GB\n\nhint: raise the limit (`ulimit -v`), or write fewer columns"
        )


RELEASE = 5.0  # seconds that a failed parser has to let go of its block


def _read_block(block: bytes, **options: Any) -> pa.Table:
    """A block of text as a table. After a failure or Ctrl-C threads of Arrow may still hold the block. They are waited
    for: one that lets go of an object of Python while the interpreter exits ends the process by a signal."""
    held, released = np.frombuffer(block, dtype=np.uint8), Event()
    weakref.finalize(held, released.set).atexit = False
    try:
        return arrow_csv.read_csv(pa.BufferReader(pa.py_buffer(held)), **options)
    except BaseException:
        del held
        released.wait(RELEASE)
        raise


def _with_lines(block: bytes, table: pa.Table) -> LinesPiece:
    lines = _lines(block)
    if len(lines) != table.num_rows:
        lines = _rejoined(block)
    if len(lines) != table.num_rows:
        raise DataError(
            f"{len(lines):,} lines hold {table.num_rows:,} rows: some quotes in the file do not match\n\n"
            "hint: write to .parquet or .jsonl instead"
        )
    return table, lines


def _lines(block: bytes) -> pa.Array:
    """The lines of a text that are not empty, without a copy of each: as a table of one column and no delimiter."""
    if _UNUSED_CHAR.encode() in block:
        return pa.array([line.removesuffix(b"\r") for line in block.split(b"\n") if line.strip(b"\r")], pa.binary())
    return (
        _read_block(
            block,
            read_options=arrow_csv.ReadOptions(column_names=["line"], block_size=1 << 20),
            parse_options=arrow_csv.ParseOptions(delimiter=_UNUSED_CHAR, quote_char=False),
            convert_options=arrow_csv.ConvertOptions(column_types={"line": pa.binary()}, null_values=[]),
        )
        .column(0)
        .combine_chunks()
    )


def _rejoined(block: bytes) -> pa.Array:
    """The same where a row may go over several lines: as long as a quote is open."""
    out: list[bytes] = []
    opened = False
    for line in block.replace(b"\r\n", b"\n").split(b"\n"):
        if opened:
            out[-1] += b"\n" + line
        else:
            out.append(line)
        opened ^= bool(line.count(b'"') % 2)
    return pa.array([line for line in out if line], pa.binary())


def blocks(stream: Any, name: str, skip: int, size: int) -> Iterator[Numbered]:
    """The text in pieces that end with a row, with the number of lines before each; the first lines are left out."""
    rest, before = stream.read(size), 0
    while rest:
        more = stream.read(size)
        cut = _last_row(rest) if more else len(rest)
        if not cut and len(rest) > LONGEST:
            raise _endless_row(name)
        block, rest = rest[:cut], rest[cut:] + more
        if before < skip:
            at = _end_of_lines(block, skip - before)
            before += block.count(b"\n", 0, at)
            block = block[at:]
        if block:
            yield before, block
            before += block.count(b"\n")


def _endless_row(name: str) -> DataError:
    return DataError(
        f"{name} has a quoted cell that does not end, or a row longer than {BLOCK >> 20} MB\n\n"
        'hint: look for a single " in it; two of them ("") are one inside of a cell'
    )


def _end_of_lines(block: bytes, count: int) -> int:
    """Where so many lines end, or the block."""
    at = 0
    for _ in range(count):
        at = block.find(b"\n", at) + 1
        if not at:
            return len(block)
    return at


def _last_row(block: bytes) -> int:
    """Where the last whole row ends; 0 if there is none."""
    at = block.rfind(b"\n")
    if block.count(b'"', 0, max(at, 0)) % 2:  # inside of quotes: the row begins before the last of them
        at = block.rfind(b"\n", 0, block.rfind(b'"', 0, at))
        for _ in range(TRIES):
            if at < 0 or block.count(b'"', 0, at) % 2 == 0:
                break
            at = block.rfind(b"\n", 0, at)
        at = block.rfind(b"\n") if at < 0 else at  # a quote that means nothing
    return at + 1


def join_predictions(names: Sequence[str], found: Iterable[tuple[pa.Array, pa.Table]], delimiter: str) -> Iterator[Any]:
    """The text of (lines, predictions), joined line by line, with a header."""
    first = True
    for lines, answers in found:
        if first:
            header = pa.table({str(at): [name] for at, name in enumerate([*names, *answers.column_names])})
            yield text_of(header, delimiter)
            first = False
        if len(lines):
            yield _join_lines(lines, answers, delimiter)


def _join_lines(lines: pa.Array, answers: pa.Table, delimiter: str) -> memoryview:
    """Join lines and predictions column-wise, without a Python object per row."""
    cells = [cell_texts(column, delimiter).cast(pa.binary()) for column in answers.columns]
    end = compute.binary_join_element_wise(cells[-1], b"", b"\n", null_handling="replace", null_replacement=b"")
    rows = compute.binary_join_element_wise(
        lines, *cells[:-1], end, delimiter.encode(), null_handling="replace", null_replacement=b""
    )
    rows = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
    _, offsets, text = rows.buffers()
    size = memoryview(offsets).cast("i")[len(rows)]
    return memoryview(text)[:size]


BLOCK = 4 << 20  # bytes that are parsed at a time
TARGET_NAMES = ("class", "label", "target", "y", "outcome")  # names of a column of classes
CODED = pa.dictionary(pa.int32(), pa.string())
CODE = r"^\s*[-+]?0[\dxX]"  # a number that begins with 0 is a name
WHOLE = r"^\s*[-+]?\d+\s*$"
GROWTH = {None: 4.0, "gzip": 20.0, "bz2": 30.0, "xz": 40.0, "zstd": 20.0}  # bytes in memory for one in the file
FAILED = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to ([\w\[\]]+)")


def read(
    opened: Callable[[], Bytes],
    name: str,
    size: int | None,
    types: Mapping[str, Any],
    rest: Any = None,
    delimiter: str | None = None,
    header: int | None = None,
    expected: Sequence[str] = (),
) -> Source:
    """`opened` gives the bytes from their beginning (a pipe does so once); `types` are of known columns, `rest`
    that of all others (None: as they look, and `types` are what was found so far)."""
    stream = opened()
    head = stream.first_lines()
    look = CsvDialect.at(head, name, delimiter, header, expected)
    known = {column: types.get(column, rest) for column in look.names}
    table = _Table(opened, stream, name, look, {c: kind for c, kind in known.items() if kind is not None}, head)
    if rest is None:
        table.labels = set(expected) or set(TARGET_NAMES)
        schema = table.infer()
    else:
        table.fixed = set(table.types)
        schema = pa.schema([(column, held_as(kind)) for column, kind in table.types.items()])
    return Source(
        name,
        {"\t": "TSV"}.get(look.delimiter, "CSV") if look.delimiter in ",\t" else f"CSV with {look.delimiter!r}",
        schema,
        partial(table.batches, schema),
        lambda: table.stream.consumed / size if size else None,
        bulk=(size or 0) * GROWTH[stream.kind],
        notes=table.notes,
        delimiter=look.delimiter,
        lines=table.lines if rest is not None else None,
        cut=partial(table.cut, schema) if size is not None else None,
        heads=look.heads,
        header=_in_words(look),
        named=look.header is not None,
    )


def _in_words(look: CsvDialect) -> str:
    if look.header is None:
        return f"line {look.skip + 1} ({look.start!r}) was taken for a row, and no line for the names of the columns"
    return f"line {look.header} ({look.start!r}) was taken for the names of the columns"


class _Table:
    """Reads a text table; restarts where a column turns out not to have the type of its first rows."""

    def __init__(
        self,
        opened: Callable[[], Bytes],
        stream: Bytes,
        name: str,
        look: CsvDialect,
        types: dict[str, Any],
        head: bytes,
    ):
        self.opened, self.stream, self.name, self.look, self.types = opened, stream, name, look, types
        self.old_mac = b"\r" in head and b"\n" not in head and look.encoding != "utf-16"
        self.fixed: set[str] = set()  # columns that must be what they are known to be
        self.labels: set[str] = set()  # columns of classes, where `none` is one
        self.notes = [f"{name} is not UTF-8: read as Latin-1"] if look.encoding == "latin-1" else []
        self.notes += [f"{name}: {note}" for note in look.notes]
        self.decimals = look.decimal if look.delimiter == "," else {".": ".,", ",": ",."}[look.decimal]
        self.ahead: Numbered | None = None  # a block that was read already
        self.left: Iterator[Numbered] | None = None  # the blocks after it

    def blocks(self, size: int) -> Iterator[Numbered]:
        """The text from its beginning."""
        if self.ahead is not None and self.left is not None and self.stream.count:
            ahead, left, self.ahead, self.left = self.ahead, self.left, None, None
            return chain([ahead], left)
        if self.stream.count:
            self.stream = self.opened()
        return blocks(Utf8(self.stream, self.look.encoding, self.old_mac), self.name, self.look.skip, size)

    def infer(self) -> pa.Schema:
        """The types of the columns, by the first rows and what is known already."""
        self.left = self.blocks(BLOCK)
        self.ahead = next((block for block in self.left if block[1].strip()), None)
        if self.ahead is None:
            raise DataError(f"{self.name} has a header but no rows\n\nhint: give some rows")
        for column, kind in self.types.items():
            self._note(column, kind)
        while True:
            try:
                found = parsed(self.ahead[1], self.look, self.types, self.look.names)
            except (pa.ArrowInvalid, Unread) as error:
                self.learn(error, self.ahead)
                continue
            more = self._as_written(found)
            if not more:
                return found.schema
            self.types |= more

    def _as_written(self, found: pa.Table) -> dict[str, Any]:
        """Column types that differ from Arrow's: dates and codes are text, amounts are numbers."""
        more: dict[str, Any] = {}
        for column in found.schema:
            if column.name in self.types:
                continue
            if pa.types.is_temporal(column.type):
                more[column.name] = pa.string()
            elif pa.types.is_string(column.type):
                cells = found[column.name].combine_chunks()
                amount = None if column.name in self.labels else find(cells, self.decimals)
                if amount is not None:
                    more[column.name] = self._with_example(amount, cells.drop_null().to_pylist())
                    self._note(column.name, more[column.name])
        whole = [column.name for column in found.schema if pa.types.is_integer(column.type)]
        whole = [name for name in whole if name not in self.types]
        if self.ahead is not None:
            more |= dict.fromkeys(_columns_of_codes(self.ahead[1], self.look, whole), pa.string())
        return more | dict.fromkeys(self._identifiers(found), pa.string())

    def _identifiers(self, found: pa.Table) -> list[str]:
        """Columns of whole numbers that are doubles only because some have too many digits for integers."""
        large = [
            name
            for name, column in zip(found.schema.names, found.columns, strict=True)
            if name not in self.types and pa.types.is_float64(column.type) and _beyond_doubles(column)
        ]
        if not large or self.ahead is None:
            return []
        texts = parsed(self.ahead[1], self.look, dict.fromkeys(large, pa.string()), large)
        whole = {name: compute.all(compute.match_substring_regex(texts[name], WHOLE)).as_py() for name in large}
        return [name for name in large if whole[name]]

    def _with_example(self, amount: Amount, cells: Sequence[str]) -> Amount:
        """The formats, with an example cell that a plain reader would not parse."""
        plain = Amount(self.look.decimal)
        odd = [cell for cell in cells if is_none(cell) or not plain.reads(cell)]
        odd = odd or [cell for cell in cells if any(mark in cell for mark in APART[amount.decimal])]
        return replace(amount, example=odd[0].strip() if odd else "")

    def _note(self, column: str, kind: Any) -> None:
        """Add a note on how such a cell is read."""
        note = f"{self.name}: {kind.in_words(column)}" if isinstance(kind, Amount) and kind.example else ""
        if note and note not in self.notes:
            self.notes.append(note)

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """All columns, block by block."""
        kinds = {field.name: field.type for field in schema}
        for block in self.blocks(BLOCK):
            yield from (batch for batch in self.parse(self.look.names, block, kinds).to_batches() if batch.num_rows)

    def lines(self, columns: Sequence[str]) -> Iterator[tuple[pa.Table, pa.Array]]:
        """Those columns of the rows, and the text of their lines."""
        return pieces(self.blocks(LINES_BLOCK), partial(self.parse, columns))

    def cut(self, schema: pa.Schema, columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        """The rows in blocks of text, which threads parse."""
        kinds = {field.name: field.type for field in schema}
        kinds |= {name: CODED for name in coded if kinds[name] in (pa.string(), CODED)}
        wanted = self.look.names if columns is None else columns
        for block in self.blocks(BLOCK):
            yield partial(self._piece, block, kinds, wanted)

    def _piece(self, block: Numbered, kinds: dict[str, Any], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self.parse(columns, block, kinds, use_threads=False).to_batches()

    def parse(
        self,
        columns: Sequence[str],
        block: Numbered,
        kinds: dict[str, Any] | None = None,
        use_threads: bool = True,
    ) -> pa.Table:
        """These columns of a block; raises `ColumnTypeChanged` where one has another type."""
        amended = {name: kind for name, kind in self.types.items() if isinstance(kind, Amount)}
        types = self.types if kinds is None else kinds | amended
        if not block[1].strip():
            return pa.schema([(name, held_as(types.get(name, pa.string()))) for name in columns]).empty_table()
        while True:
            try:
                found = parsed(block[1], self.look, types, columns, use_threads)
            except (pa.ArrowInvalid, Unread) as error:
                column = self.learn(error, block)
                if column not in self.fixed:
                    raise ColumnTypeChanged(self.types) from None
                types = types | {column: self.types[column]}
                continue
            codes = self._late_codes(found, block)
            if codes:
                self.types |= dict.fromkeys(codes, pa.string())
                raise ColumnTypeChanged(self.types)
            return found

    def _late_codes(self, found: pa.Table, block: Numbered) -> list[str]:
        """Columns of whole numbers of a block in which a cell is a code. A column with fractions, such as 01.5, is one
        of numbers."""
        whole = [column.name for column in found.schema if pa.types.is_integer(column.type)]
        return _columns_of_codes(block[1], self.look, [name for name in whole if name not in self.fixed])

    def learn(self, error: pa.ArrowInvalid | Unread, block: Numbered) -> str:
        """Update the column types from Arrow's error message, or raise; returns the column."""
        if isinstance(error, Unread):
            column, was, cell = error.column, "amount", error.cell
        else:
            text = str(error)
            found = FAILED.search(text)
            if found is None:
                raise self._wrong(text, block) from None
            column, was = self.look.columns[int(found[1])], found[2]
            value = re.search(r"invalid value '(.*)'", text, re.DOTALL)
            cell = value[1] if value else "?"
        had = self.types.get(column)
        reading = had if isinstance(had, Amount) else None
        if reading is not None and reading.reads(cell):  # found by another thread
            return column
        if was not in ("bool", "double", "int64", "null", "amount"):
            kind: Any = pa.string()
        elif column in self.fixed:
            kind = self._fixed(column, was, cell, reading, block)
        elif was in ("int64", "null") and _float(cell):
            kind = pa.string() if was == "int64" and re.match(WHOLE, cell) else pa.float64()  # too many digits
        elif was == "bool" or column in self.labels:
            kind = pa.string()
        else:
            kind = following(reading, cell, self.decimals) or pa.string()
        self.types[column] = replace(kind, example=cell.strip()) if isinstance(kind, Amount) else kind
        self._note(column, self.types[column])
        return column

    def _fixed(self, column: str, was: str, cell: str, had: Amount | None, block: Numbered) -> Amount:
        """A number format for a cell of a numeric column under which the cells before keep their values."""
        found = None
        if had is None and block[0] <= self.look.skip and was != "bool":
            texts = parsed(block[1], self.look, {column: pa.string()}, [column])[column]
            found = find(texts.combine_chunks(), self.decimals)
            given = [text for text in texts.drop_null().to_pylist() if not is_none(text)]
            if not given:  # marks of missing numbers alone
                found = Amount(self.look.decimal)
            cell = next((text for text in given if not self._number(text)), cell)
        elif was != "bool":
            found = following(had, cell, self.look.decimal if had is None else had.decimal)
        if found is not None:
            return found
        kind = "true or false" if was == "bool" else "a number"
        raise DataError(
            f"{self.name}{self._place(column, cell, block)}: column `{column}` holds {cell!r}, but {kind} is expected "
            f"there\n\nhint: leave the cell empty if it is missing (or {', '.join(MISSING[1:4])})"
        ) from None

    def _number(self, cell: str) -> bool:
        """Whether a cell alone can be read as a number."""
        return any(Amount(decimal, unit_of(cell)).reads(cell) for decimal in self.decimals)

    def _place(self, column: str, cell: str, block: Numbered) -> str:
        """The line of the first cell of a column that holds this."""
        at = self.look.columns.index(column)
        holds = lambda row: at < len(row) and row[at].strip() == cell.strip()  # noqa: E731
        found = line_where(block[1], self.look.delimiter, holds)
        return f", line {block[0] + found[0]}" if found else ""

    def _wrong(self, text: str, block: Numbered) -> DataError:
        if "Expected" in text and "columns, got" in text:
            return self._ragged(block)
        if "UTF8" in text or "utf-8" in text.lower():
            return DataError(
                f"{self.name} begins as UTF-8 text, but not all of it is\n\n"
                "hint: convert it: iconv -f latin1 -t utf8 FILE > NEW"
            )
        if "straddling" in text:
            return _endless_row(self.name)
        return DataError(f"{self.name}: {text}\n\nhint: check that the CSV file is complete")

    def _ragged(self, block: Numbered) -> DataError:
        width = len(self.look.columns)
        hint = (
            'hint: put cells that hold the delimiter in "…"; if the delimiter is not '
            f"{self.look.delimiter!r}, pass {option('delimiter=', '--delimiter')}, and if the names of the columns are "
            f"not in line {self.look.header or 1}, {option('header=LINE', '--header LINE')}"
        )
        found = line_where(block[1], self.look.delimiter, lambda row: bool(row) and len(row) != width)
        if found is not None:
            many = f"{len(found[1])} field{'s' * (len(found[1]) != 1)}"
            return DataError(f"{self.name}, line {block[0] + found[0]}: {many} instead of {width}\n\n{hint}")
        return DataError(f"{self.name} has rows with more or fewer fields than its {width} columns\n\n{hint}")


def _columns_of_codes(block: bytes, look: CsvDialect, names: list[str]) -> list[str]:
    """Which of these columns hold a number that begins with 0, which is a name."""
    if not names or not ops.has_leading_zeros(block, look.delimiter):
        return []
    texts = parsed(block, look, dict.fromkeys(names, pa.string()), names)
    each = zip(texts.schema.names, texts.columns, strict=True)
    return [name for name, cells in each if compute.any(compute.match_substring_regex(cells, CODE)).as_py()]


class ColumnTypeChanged(Exception):
    """A column has another type than its first rows, after rows were passed on: read again with these types."""

    def __init__(self, types: dict[str, Any]):
        super().__init__(f"rows that come late change the types of some columns, which are now {types}")
        self.types = types


def _beyond_doubles(column: pa.ChunkedArray) -> bool:
    """Whether some numbers are so large that whole ones next to each other are one double."""
    ends = compute.min_max(column)
    return any(abs(ends[end].as_py() or 0.0) >= 2.0**53 for end in ("min", "max"))


def _float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
