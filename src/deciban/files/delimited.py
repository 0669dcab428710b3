"""CSV and TSV: delimiter, header, decimal mark and encoding are found by looking, types from the first rows and, where
later ones differ, again. A row with too many or too few fields is an error that names its line.

A column of numbers may hold amounts as people write them (see `amounts`), blanks and `-`; a column of codes with
leading zeros stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from deciban.errors import DataError
from deciban.files import amounts, passing
from deciban.files.amounts import Amount, Unread
from deciban.files.arrow import compute, pa
from deciban.files.compressed import Bytes, Utf8
from deciban.files.passing import Numbered
from deciban.files.reading import Piece, Source
from deciban.files.sniffing import MISSING, Look
from deciban.files.splitting import line_where
from deciban.wording import option

BLOCK = 4 << 20  # bytes that are parsed at a time
LIKELY = ("class", "label", "target", "y", "outcome")  # names of a column of classes
CODED = pa.dictionary(pa.int32(), pa.string())
CODE = r"^\s*0\d"  # a number that begins with 0 is a name
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
    look = Look.at(head, name, delimiter, header, expected)
    known = {column: types.get(column, rest) for column in look.names}
    table = _Table(opened, stream, name, look, {c: kind for c, kind in known.items() if kind is not None}, head)
    if rest is None:
        table.labels = set(expected) or set(LIKELY)
        schema = table.infer()
    else:
        table.fixed = set(table.types)
        schema = pa.schema([(column, amounts.held_as(kind)) for column, kind in table.types.items()])
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


def _in_words(look: Look) -> str:
    if look.header is None:
        return f"line {look.skip + 1} ({look.start!r}) was taken for a row, and no line for the names of the columns"
    return f"line {look.header} ({look.start!r}) was taken for the names of the columns"


class _Table:
    """A text table that is being read; from its beginning again where a column is not what its first rows promised."""

    def __init__(
        self, opened: Callable[[], Bytes], stream: Bytes, name: str, look: Look, types: dict[str, Any], head: bytes
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
        return passing.blocks(Utf8(self.stream, self.look.encoding, self.old_mac), self.look.skip, size)

    def infer(self) -> pa.Schema:
        """The types of the columns, by the first rows and what is known already."""
        self.left = self.blocks(BLOCK)
        self.ahead = next((block for block in self.left if block[1].strip()), None)
        if self.ahead is None:
            raise DataError(f"{self.name} has names of columns but no rows\n\nhint: give some rows")
        for column, kind in self.types.items():
            self._note(column, kind)
        while True:
            try:
                found = passing.parsed(self.ahead[1], self.look, self.types, self.look.names)
            except (pa.ArrowInvalid, Unread) as error:
                self.learn(error, self.ahead)
                continue
            more = self._as_written(found)
            if not more:
                return found.schema
            self.types |= more

    def _as_written(self, found: pa.Table) -> dict[str, Any]:
        """Columns that are not what Arrow takes them for: dates are no numbers, codes neither, but amounts are."""
        more: dict[str, Any] = {}
        for field in found.schema:
            if field.name in self.types:
                continue
            if pa.types.is_temporal(field.type):
                more[field.name] = pa.string()
            elif pa.types.is_string(field.type):
                cells = found[field.name].combine_chunks()
                amount = None if field.name in self.labels else amounts.find(cells, self.decimals)
                if amount is not None:
                    more[field.name] = self._with_example(amount, cells.drop_null().to_pylist())
                    self._note(field.name, more[field.name])
        whole = [field.name for field in found.schema if pa.types.is_integer(field.type)]
        whole = [name for name in whole if name not in self.types]
        if whole and self.ahead is not None:
            texts = passing.parsed(self.ahead[1], self.look, dict.fromkeys(whole, pa.string()), whole)
            codes = [name for name in whole if compute.any(compute.match_substring_regex(texts[name], CODE)).as_py()]
            more |= dict.fromkeys(codes, pa.string())
        return more

    def _with_example(self, amount: Amount, cells: Sequence[str]) -> Amount:
        """With a cell that a plain reader would not take for a number."""
        plain = Amount(self.look.decimal)
        odd = [cell for cell in cells if amounts.is_none(cell) or not plain.reads(cell)]
        odd = odd or [cell for cell in cells if any(mark in cell for mark in amounts.APART[amount.decimal])]
        return replace(amount, example=odd[0].strip() if odd else "")

    def _note(self, column: str, kind: Any) -> None:
        """Say how such a cell is read."""
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
        return passing.pieces(self.blocks(passing.BLOCK), partial(self.parse, columns))

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
        """Those columns of a block; `Changed` where one turns out to be of another type."""
        amended = {name: kind for name, kind in self.types.items() if isinstance(kind, Amount)}
        types = self.types if kinds is None else kinds | amended
        if not block[1].strip():
            return pa.schema([(name, amounts.held_as(types.get(name, pa.string()))) for name in columns]).empty_table()
        while True:
            try:
                return passing.parsed(block[1], self.look, types, columns, use_threads)
            except (pa.ArrowInvalid, Unread) as error:
                column = self.learn(error, block)
                if column not in self.fixed:
                    raise Changed(self.types) from None
                types = types | {column: self.types[column]}

    def learn(self, error: pa.ArrowInvalid | Unread, block: Numbered) -> str:
        """Find another type for the column that an error is about, or raise what is wrong; the column."""
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
            kind = pa.float64()
        elif was == "bool" or column in self.labels:
            kind = pa.string()
        else:
            kind = amounts.following(reading, cell, self.decimals) or pa.string()
        self.types[column] = replace(kind, example=cell.strip()) if isinstance(kind, Amount) else kind
        self._note(column, self.types[column])
        return column

    def _fixed(self, column: str, was: str, cell: str, had: Amount | None, block: Numbered) -> Amount:
        """A way to read a cell of a column that is known to hold numbers, by which the cells before mean the same."""
        found = None
        if had is None and block[0] <= self.look.skip and was != "bool":
            texts = passing.parsed(block[1], self.look, {column: pa.string()}, [column])[column]
            found = amounts.find(texts.combine_chunks(), self.decimals)
            given = [text for text in texts.drop_null().to_pylist() if not amounts.is_none(text)]
            if not given:  # marks of missing numbers alone
                found = Amount(self.look.decimal)
            cell = next((text for text in given if not self._number(text)), cell)
        elif was != "bool":
            found = amounts.following(had, cell, self.look.decimal if had is None else had.decimal)
        if found is not None:
            return found
        kind = "true or false" if was == "bool" else "a number"
        raise DataError(
            f"{self.name}{self._place(column, cell, block)}: column `{column}` holds {cell!r}, but {kind} is expected "
            f"there\n\nhint: leave the cell empty if it is missing (or {', '.join(MISSING[1:4])})"
        ) from None

    def _number(self, cell: str) -> bool:
        """Whether a cell alone can be read as a number."""
        return any(Amount(decimal, amounts.unit_of(cell)).reads(cell) for decimal in self.decimals)

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
            return DataError(
                f"{self.name} has a quoted cell that does not end, or a row longer than {BLOCK >> 20} MB\n\n"
                'hint: look for a single " in it; two of them ("") are one inside of a cell'
            )
        return DataError(f"{self.name}: {text}\n\nhint: see whether the file is a whole CSV table")

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


class Changed(Exception):
    """A column turned out to be of another type after rows had been given away: read again with these types."""

    def __init__(self, types: dict[str, Any]):
        super().__init__(f"rows that come late change the types of some columns, which are now {types}")
        self.types = types


def _float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
