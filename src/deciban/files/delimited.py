"""CSV and TSV: delimiter, header and encoding are found by looking, types from the first rows and, where later ones
differ, again. A row with too many or too few fields is an error that tells its line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from deciban.errors import DataError
from deciban.files import passing
from deciban.files.compressed import Bytes
from deciban.files.reading import Piece, Source
from deciban.files.sniffing import MISSING, Look

HEAD = 1 << 18  # bytes that are looked at
BLOCK = 4 << 20  # bytes that are parsed at a time
CODED = pa.dictionary(pa.int32(), pa.string())
GROWTH = {None: 4.0, "gzip": 20.0, "bz2": 30.0, "xz": 40.0, "zstd": 20.0}  # bytes in memory for one in the file


def read(
    opened: Callable[[], Bytes],
    name: str,
    size: int | None,
    types: Mapping[str, Any],
    rest: Any = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Source:
    """`opened` gives the bytes from their beginning (a pipe does so once); `types` are of known columns, `rest`
    that of all others (None: as they look)."""
    stream = opened()
    look = Look.at(stream.head(HEAD), name, delimiter, header)
    known = {column: types.get(column, rest) for column in look.names}
    known = {column: kind for column, kind in known.items() if kind is not None}
    table = _Table(opened, stream, name, look, known)
    through = rest is not None and look.encoding == "utf-8"
    reader = None if through else table.start()
    schema = pa.schema(list(known.items())) if reader is None else reader.schema
    return Source(
        name,
        {"\t": "TSV"}.get(look.delimiter, "CSV") if look.delimiter in ",\t" else f"CSV with {look.delimiter!r}",
        schema,
        lambda: table.batches(reader or table.start()),
        lambda: table.stream.consumed / size if size else None,
        bulk=(size or 0) * GROWTH[stream.kind],
        notes=() if look.encoding != "latin-1" else (f"{name} is not UTF-8: read as Latin-1",),
        delimiter=look.delimiter,
        lines=(lambda columns: passing.pieces(stream, look, known, columns, table.learn)) if through else None,
        cut=partial(table.cut, schema) if size is not None and look.encoding == "utf-8" else None,
    )


class _Table:
    """A text table that is being read; begun again where a column is not what its first rows promised."""

    def __init__(self, opened: Callable[[], Bytes], stream: Bytes, name: str, look: Look, types: dict[str, Any]):
        self.opened, self.stream, self.name, self.look, self.types = opened, stream, name, look, types
        self.given = 0  # batches that are out already

    def start(self) -> Any:
        look = self.look
        while True:
            try:
                reader = arrow_csv.open_csv(
                    pa.PythonFile(self.stream, mode="r"),
                    read_options=arrow_csv.ReadOptions(
                        block_size=BLOCK,
                        column_names=list(look.names),
                        skip_rows=int(look.header),
                        encoding=look.encoding,
                    ),
                    parse_options=arrow_csv.ParseOptions(delimiter=look.delimiter, newlines_in_values=self._wrapped()),
                    convert_options=arrow_csv.ConvertOptions(
                        column_types=self.types, null_values=MISSING, strings_can_be_null=True
                    ),
                )
            except pa.ArrowInvalid as error:
                if "Empty CSV" in str(error):
                    raise DataError(f"{self.name} has names of columns but no rows\n\nhint: give some rows") from None
                self.learn(error)
                continue
            dated = {field.name: pa.string() for field in reader.schema if pa.types.is_temporal(field.type)}
            if not dated:
                return reader
            self.types |= dated  # text, as it stands: a date is no number
            self.stream = self.opened()

    def batches(self, reader: Any) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                for batch in reader:
                    if batch.num_rows:
                        self.given += 1
                        yield batch
                return
            except pa.ArrowInvalid as error:
                self.learn(error)
                if self.given:
                    raise Changed(self.types) from None
                reader = self.start()

    def cut(self, schema: pa.Schema, columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        """The rows in blocks of text, which threads parse."""
        kinds = {field.name: field.type for field in schema}
        kinds |= {name: CODED for name in coded if kinds[name] in (pa.string(), CODED)}
        self.stream = self.opened()
        for block in passing.blocks(self.stream, self.look.header, BLOCK):
            yield partial(self._parsed, block, kinds, self.look.names if columns is None else columns)

    def _parsed(self, block: bytes, kinds: dict[str, Any], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        try:
            yield from passing.parsed(block, self.look, kinds, columns, use_threads=False).to_batches()
        except pa.ArrowInvalid as error:
            self.learn(error)
            raise Changed(self.types) from None

    def _wrapped(self) -> bool:
        """Whether cells may hold line ends: some quote is not closed on its line, as far as one can see."""
        lines = self.stream.head(HEAD).split(b"\n")
        return any(line.count(b'"') % 2 for line in lines[:-1])

    def learn(self, error: pa.ArrowInvalid) -> None:
        """Begin anew with what the error teaches about the types, or raise what is wrong."""
        text = str(error)
        found = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (\w+)", text)
        if found is None:
            raise self._wrong(text) from None
        column, was = self.look.names[int(found[1])], found[2]
        value = re.search(r"invalid value '(.*)'", text)
        told = value[1] if value else "?"
        if column in self.types and was in ("double", "bool"):
            kind = "a number" if was == "double" else "true or false"
            raise DataError(
                f"{self.name}: column `{column}` holds {told!r}, but {kind} is expected there\n\n"
                f"hint: leave the cell empty if it is missing (or {', '.join(MISSING[1:4])})"
            ) from None
        self.types[column] = pa.float64() if was in ("int64", "null") and _float(told) else pa.string()
        self.stream = self.opened()

    def _wrong(self, text: str) -> DataError:
        if "Expected" in text and "columns, got" in text:
            return self._ragged()
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

    def _ragged(self) -> DataError:
        width = len(self.look.names)
        hint = 'hint: put cells that hold the delimiter in "…", or set --delimiter if it is another one'
        try:
            stream = self.opened()
        except DataError:
            return DataError(f"{self.name} has rows with more or fewer fields than its {width} columns\n\n{hint}")
        text = io.TextIOWrapper(io.BufferedReader(_Raw(stream)), encoding=self.look.encoding, newline="")
        reader = csv.reader(text, delimiter=self.look.delimiter)
        for row in reader:
            if row and len(row) != width:
                many = f"{len(row)} field{'s' * (len(row) != 1)}"
                return DataError(f"{self.name}, line {reader.line_num}: {many} instead of {width}\n\n{hint}")
        return DataError(f"{self.name} has rows with more or fewer fields than its {width} columns\n\n{hint}")


class Changed(Exception):
    """A column turned out to be of another type after rows had been given away: read again with these types."""

    def __init__(self, types: dict[str, Any]):
        super().__init__()
        self.types = types


class _Raw(io.RawIOBase):
    """Bytes as Python's text layer wants them."""

    def __init__(self, stream: Bytes):
        self.stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self.stream.read(len(buffer))
        buffer[: len(got)] = got
        return len(got)


def _float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
