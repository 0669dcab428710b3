"""CSV rows that go through as they are: parsed for the columns that are needed, while their text is kept to be written
again with answers at the end of each line. Nothing of the rows changes, and writing them costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as arrow_csv

from deciban.errors import DataError
from deciban.files.compressed import Bytes
from deciban.files.rendering import cell_texts, text_of
from deciban.files.sniffing import MISSING, Look

BLOCK = 8 << 20  # bytes that are parsed at a time
NEVER = "\x1f"  # a character that tables do not have
TRIES = 100  # line ends that are looked at for the end of a row

Piece = tuple[pa.Table, pa.Array]  # the columns that were asked for, and the rows' lines


def pieces(
    stream: Bytes,
    look: Look,
    types: Mapping[str, Any],
    columns: Sequence[str],
    failed: Callable[[pa.ArrowInvalid], None],
) -> Iterator[Piece]:
    """Rows from their beginning on; one piece is parsed while the one before is used. `failed` raises what is wrong."""
    found = blocks(stream, look.header)
    with ThreadPoolExecutor(1, thread_name_prefix="deciban-csv") as pool:
        ahead: Future | None = None
        while True:
            following = pool.submit(_next, found, look, types, columns)
            if ahead is not None:
                piece = _got(ahead, failed)
                if piece is None:
                    return
                yield piece
            ahead = following


def _got(ahead: Future, failed: Callable[[pa.ArrowInvalid], None]) -> Piece | None:
    try:
        return ahead.result()
    except pa.ArrowInvalid as error:
        failed(error)
        raise


def _next(found: Iterator[bytes], look: Look, types: Mapping[str, Any], columns: Sequence[str]) -> Piece | None:
    block = next(found, None)
    return None if block is None else _parsed(block, look, types, columns)


def parsed(
    block: bytes, look: Look, types: Mapping[str, Any], columns: Sequence[str], use_threads: bool = True
) -> pa.Table:
    """Those columns of the rows in a block of text."""
    wrapped = b'"' in block and any(line.count(b'"') % 2 for line in block.split(b"\n"))
    return arrow_csv.read_csv(
        pa.BufferReader(block),
        read_options=arrow_csv.ReadOptions(
            column_names=list(look.names), block_size=1 << 20 if use_threads else BLOCK, use_threads=use_threads
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=look.delimiter, newlines_in_values=wrapped),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types, include_columns=list(columns), null_values=MISSING, strings_can_be_null=True
        ),
    )


def _parsed(block: bytes, look: Look, types: Mapping[str, Any], columns: Sequence[str]) -> Piece:
    table = parsed(block, look, types, columns)
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


def blocks(stream: Bytes, header: bool, size: int = BLOCK) -> Iterator[bytes]:
    """The text in pieces that end with a row, the header left out."""
    rest, first = stream.read(size), True
    while rest:
        more = stream.read(size)
        cut = _last_row(rest) if more else len(rest)
        block, rest = rest[:cut], rest[cut:] + more
        if first and block:
            block = block.removeprefix(b"\xef\xbb\xbf")
            block = block[_first_row(block) :] if header else block
            first = False
        if block:
            yield block


def _first_row(block: bytes) -> int:
    """Where the second row starts."""
    at = block.find(b"\n")
    while at >= 0 and block.count(b'"', 0, at) % 2:
        at = block.find(b"\n", at + 1)
    return len(block) if at < 0 else at + 1


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
