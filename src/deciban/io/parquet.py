"""Parquet, Feather and Arrow files and streams: types are in the file; rows come by row groups or batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from deciban.errors import DataError
from deciban.io import batches as cells
from deciban.io.arrow import pa
from deciban.io.source import ROWS, Piece, Source, validate

PARQUET, ARROW, FEATHER, STREAM = b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
RUN = 32 << 20  # bytes of the row groups that one thread reads before another one may go on
UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)  # of files that are damaged
CELLS = 1 << 22  # of a batch: a row group is best decoded at once, and 32 MB for each thread are little


def read_parquet(path: Path | pa.BufferReader, name: str) -> Source:
    from pyarrow import parquet  # takes its time to import

    try:
        file = parquet.ParquetFile(_stream(path), pre_buffer=False)
        schema = with_distinct_names(file.schema_arrow)
    except UNREADABLE as error:
        raise _damaged(name, "Parquet", error) from None
    count, seen = file.metadata.num_rows, [0]
    wide = max(1, len(schema.names))

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for batch in file.iter_batches(batch_size=max(1024, min(ROWS, (1 << 22) // wide)), use_threads=False):
                seen[0] += batch.num_rows
                yield batch
        except UNREADABLE as error:
            raise _damaged(name, "Parquet", error) from None

    def cut(columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        found = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        rows = _rows(schema, columns, coded, max((group.num_rows for group in found), default=0))
        for groups in _runs([group.total_byte_size for group in found]):
            yield partial(_groups, path, name, file.metadata, groups, columns, coded, rows)

    return Source(
        name,
        "Parquet",
        schema,
        batches,
        lambda: seen[0] / max(count, 1),
        bulk=count * 24.0 * wide,
        cut=cut if isinstance(path, Path) else None,
        rows=count,
    )


def _stream(path: Path | pa.BufferReader) -> Any:
    """The bytes of a file; it is closed with what reads them."""
    return pa.OSFile(str(path)) if isinstance(path, Path) else path


def _runs(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Row groups one after the other, in runs of about `RUN` bytes.

    >>> list(_runs([RUN // 2, RUN // 2, RUN, 1]))
    [[0, 1], [2], [3]]
    """
    run: list[int] = []
    for i in range(len(sizes)):
        run.append(i)
        if sum(sizes[j] for j in run) >= RUN:
            yield run
            run = []
    if run:
        yield run


def _rows(schema: pa.Schema, columns: Sequence[str] | None, coded: Sequence[str], group: int) -> int:
    """Of a batch: a whole row group where that is no more than `CELLS`; of texts, which may be long, `ROWS`.

    >>> _rows(pa.schema({"a": pa.int64(), "b": pa.string()}), ["a"], [], 100_000)
    100000
    """
    names = schema.names if columns is None else columns
    short = all(name in coded or cells.kind(schema.field(name).type) == cells.NUMBER for name in names)
    return max(1024, min(CELLS // max(len(names), 1), max(ROWS, group) if short else ROWS))


def _groups(
    path: Path,
    name: str,
    metadata: Any,
    groups: list[int],
    columns: Sequence[str] | None,
    coded: Sequence[str],
    rows: int,
) -> Iterator[pa.RecordBatch]:
    """The rows of some row groups. Every thread has a file of its own, and decodes alone: all of them do at once."""
    from pyarrow import parquet

    try:
        with (
            _stream(path) as stream,
            parquet.ParquetFile(stream, metadata=metadata, read_dictionary=list(coded), pre_buffer=False) as file,
        ):
            yield from file.iter_batches(
                rows, row_groups=groups, columns=None if columns is None else list(columns), use_threads=False
            )
    except UNREADABLE as error:
        raise _damaged(name, "Parquet", error) from None


def read_arrow(path: Path | pa.BufferReader, name: str, magic: bytes, size: int | None) -> Source:
    """Arrow files (Feather 2 is one), Arrow streams, and Feather 1."""
    try:
        if magic.startswith(FEATHER):
            from pyarrow import feather

            table = validate(feather.read_table(path))
            with_distinct_names(table.schema)
            return Source(name, "Feather", table.schema, lambda: iter(table.to_batches()), bulk=float(table.nbytes))
        stream = pa.OSFile(str(path)) if isinstance(path, Path) else path
        reader = pa.ipc.open_file(stream) if magic.startswith(ARROW) else pa.ipc.open_stream(stream)
        schema = with_distinct_names(reader.schema)
    except UNREADABLE as error:
        raise _damaged(name, "Arrow", error) from None
    seen = [0]
    many = reader.num_record_batches if magic.startswith(ARROW) else None

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            for batch in (reader.get_batch(i) for i in range(many)) if many is not None else reader:
                seen[0] += 1
                yield from pa.Table.from_batches([validate(batch)]).to_batches(max_chunksize=ROWS)
        except UNREADABLE as error:
            raise _damaged(name, "Arrow", error) from None

    def cut(columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        at = None if columns is None else [schema.get_field_index(column) for column in columns]
        return (partial(_batch, path, name, i, at) for i in range(many or 0))

    return Source(
        name,
        "Arrow",
        schema,
        batches,
        (lambda: seen[0] / many) if many else (lambda: None),
        bulk=6.0 * (size or 0),
        cut=cut if many is not None and isinstance(path, Path) else None,
    )


def _batch(path: Path, name: str, number: int, columns: list[int] | None) -> Iterator[pa.RecordBatch]:
    try:
        options = pa.ipc.IpcReadOptions(included_fields=columns, use_threads=False)
        with pa.OSFile(str(path)) as file:
            batch = validate(pa.ipc.open_file(file, options=options).get_batch(number))
    except UNREADABLE as error:
        raise _damaged(name, "Arrow", error) from None
    yield from pa.Table.from_batches([batch]).to_batches(max_chunksize=ROWS)


def with_distinct_names(schema: pa.Schema) -> pa.Schema:
    """The same columns, if no two have one name; else an ArrowInvalid."""
    twice = next((name for name, times in Counter(schema.names).items() if times > 1), None)
    if twice is not None:
        raise pa.ArrowInvalid(f"two columns are named {twice!r}")
    return schema


def _damaged(name: str, kind: str, error: Any) -> DataError:
    why = "or needs more memory than there is" if isinstance(error, MemoryError) else str(error).splitlines()[0]
    return DataError(f"{name} is not a valid {kind} file ({why.rstrip('.')})\n\nhint: write or copy it again")
