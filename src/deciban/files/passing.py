"""CSV rows that go through as they are: parsed for the columns that are needed, while their text is kept to be written
again with answers at the end of each line. Nothing of the rows changes, and writing them costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from deciban.errors import DataError
from deciban.files import amounts
from deciban.files.arrow import arrow_csv, compute, pa
from deciban.files.rendering import cell_texts, text_of
from deciban.files.sniffing import MISSING, Look

BLOCK = 8 << 20  # bytes that are parsed at a time
NEVER = "\x1f"  # a character that tables do not have
TRIES = 100  # line ends that are looked at for the end of a row

Piece = tuple[pa.Table, pa.Array]  # the columns that were asked for, and the rows' lines
Numbered = tuple[int, bytes]  # how many lines come before, and some text
Parse = Callable[[Numbered], pa.Table]


def pieces(found: Iterator[Numbered], parse: Parse) -> Iterator[Piece]:
    """Rows from their beginning on; one piece is parsed while the one before is used."""
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


def _next(found: Iterator[Numbered], parse: Parse) -> Piece | None:
    block = next(found, None)
    return None if block is None else _with_lines(block[1], parse(block))


def parsed(
    block: bytes, look: Look, types: Mapping[str, Any], columns: Sequence[str], use_threads: bool = True
) -> pa.Table:
    """Those columns of the rows in a block of text; raises ArrowInvalid, or `amounts.Unread`."""
    wrapped = b'"' in block and any(line.count(b'"') % 2 for line in block.split(b"\n"))
    table = arrow_csv.read_csv(
        pa.BufferReader(block),
        read_options=arrow_csv.ReadOptions(
            column_names=list(look.columns),
            block_size=1 << 20 if use_threads else max(BLOCK, len(block)),
            use_threads=use_threads,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=look.delimiter, newlines_in_values=wrapped),
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: amounts.parsed_as(kind) for name, kind in types.items()},
            include_columns=list(columns),
            null_values=MISSING,
            strings_can_be_null=True,
            decimal_point=look.decimal,
        ),
    )
    return amounts.numeric(table, types)


def _with_lines(block: bytes, table: pa.Table) -> Piece:
    lines = _lines(block)
    if len(lines) != table.num_rows:
        lines = _rejoined(block)
    if len(lines) != table.num_rows:
        raise DataError(
            f"{len(lines):,} lines hold {table.num_rows:,} rows: some quotes in the file do not match\n\n"
            "hint: write to .parquet or .jsonl, which need no lines"
        )
    return table, lines


def _lines(block: bytes) -> pa.Array:
    """The lines of a text that are not empty, without a copy of each: as a table of one column and no delimiter."""
    if NEVER.encode() in block:
        return pa.array([line.removesuffix(b"\r") for line in block.split(b"\n") if line.strip(b"\r")], pa.binary())
    return (
        arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(column_names=["line"], block_size=1 << 20),
            parse_options=arrow_csv.ParseOptions(delimiter=NEVER, quote_char=False),
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


def blocks(stream: Any, skip: int, size: int = BLOCK) -> Iterator[Numbered]:
    """The text in pieces that end with a row, with the number of lines before each; the first lines are left out."""
    rest, before = stream.read(size), 0
    while rest:
        more = stream.read(size)
        cut = _last_row(rest) if more else len(rest)
        block, rest = rest[:cut], rest[cut:] + more
        if before < skip:
            at = _end_of_lines(block, skip - before)
            before += block.count(b"\n", 0, at)
            block = block[at:]
        if block:
            yield before, block
            before += block.count(b"\n")


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


def beside(names: Sequence[str], found: Iterable[tuple[pa.Array, pa.Table]], delimiter: str) -> Iterator[Any]:
    """The text of (lines, answers), one beside the other, with a header."""
    first = True
    for lines, answers in found:
        if first:
            header = pa.table({str(at): [name] for at, name in enumerate([*names, *answers.column_names])})
            yield text_of(header, delimiter)
            first = False
        yield _together(lines, answers, delimiter)


def _together(lines: pa.Array, answers: pa.Table, delimiter: str) -> memoryview:
    """Lines and answers as one text, joined by columns: no row is ever an object by itself."""
    cells = [cell_texts(column, delimiter).cast(pa.binary()) for column in answers.columns]
    end = compute.binary_join_element_wise(cells[-1], b"", b"\n", null_handling="replace", null_replacement=b"")
    rows = compute.binary_join_element_wise(
        lines, *cells[:-1], end, delimiter.encode(), null_handling="replace", null_replacement=b""
    )
    rows = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
    _, offsets, text = rows.buffers()
    size = memoryview(offsets).cast("i")[len(rows)]
    return memoryview(text)[:size]
