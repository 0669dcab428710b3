"""`Source`: column names, and batches of rows, read one at a time.

Other data than files as a `Source`: Arrow tables, datasets, readers and any object that exports an Arrow stream
(DuckDB, polars, pandas); a polars LazyFrame, batch by batch; iterators and lists of frames.

>>> of(pa.table({"a": [1, 2]})).names
['a']
>>> [batch.num_rows for batch in of(iter([pa.table({"a": [1]}), pa.table({"a": [2, 3]})])).batches()]
[1, 2]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from deciban.data import frames
from deciban.errors import DataError
from deciban.io.arrow import pa
from deciban.io.atomic import Stamp

ROWS = 1 << 16  # rows of a batch, where the reader may choose
Piece = Callable[[], Iterator[pa.RecordBatch]]  # consecutive rows that a thread can read independently
Cut = Callable[[Sequence[str] | None, Sequence[str]], Iterator[Piece]]


@dataclass(frozen=True)
class Source:
    """A table in a file. `batches` may be iterated once.

    >>> rows = pa.record_batch({"a": [1, 2]})
    >>> some = Source("small", "made here", rows.schema, lambda: iter([rows]))
    >>> some.names, some.table().num_rows
    (['a'], 2)
    """

    name: str
    kind: str  # of file, in words
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    done: Callable[[], float | None] = field(default=lambda: None)  # share of the file that was read; None: unknown
    target: str | None = None  # the column that such a file has its classes in
    text: str | None = None  # and its texts
    bulk: float = 0.0  # bytes that all rows may need in memory, roughly
    notes: Sequence[str] = ()  # how the file was read, where that is not plain; some come with the rows
    delimiter: str | None = None  # of a CSV file
    lines: Callable[[Sequence[str]], Iterator[tuple[pa.Table, pa.Array]]] | None = None  # those columns, and the text
    cut: Cut | None = None  # see `pieces`; None: batches come from one reader
    rows: int | None = None  # where the file says
    like: Any = None  # the data, if it is not a file; [frame]: an iterator of frames
    heads: Sequence[str] | None = None  # of a CSV file: the names above all cells of its lines
    header: str = ""  # of a CSV file: which line was taken for what
    named: bool = True  # whether the file names its columns
    stamps: tuple[Stamp, ...] = ()  # of its files; none: it may not be there again

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def pieces(self, columns: Sequence[str] | None = None, coded: Sequence[str] = ()) -> Iterator[Piece]:
        """The rows in their order, in runs whose borders depend on the file alone; those columns, or all. Texts of
        `coded` columns may come as codes with a dictionary, which is quicker where there are few."""
        if self.cut is not None:
            return self.cut(columns, coded)
        wanted = None if columns is None else list(columns)
        return (partial(_alone, batch if wanted is None else batch.select(wanted)) for batch in self.batches())

    def table(self) -> pa.Table:
        """All rows at once."""
        batches = list(self.batches())
        if not batches:
            return self.schema.empty_table()
        return pa.concat_tables([pa.Table.from_batches([b]) for b in batches], promote_options="permissive")


def watched(source: Source, *stamps: Stamp) -> Source:
    """The source of files that had these stamps before they were opened: a change while they are read is an error. A
    piece is of a single file, or checks its own."""
    if not stamps:
        return source
    cut, lines = source.cut, source.lines

    def pieces(columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        assert cut is not None
        for piece in cut(columns, coded):
            yield partial(checked, piece, stamps) if len(stamps) == 1 else piece

    return replace(
        source,
        stamps=stamps,
        batches=lambda: checked(source.batches, stamps),
        cut=cut and (lambda columns, coded: checked(partial(pieces, columns, coded), stamps)),
        lines=lines and (lambda columns: checked(partial(lines, columns), stamps)),
    )


def checked(rows: Callable[[], Iterator], stamps: Sequence[Stamp]) -> Iterator:
    """The rows of files that had these stamps; DataError if one of the files has changed at the end."""

    def check() -> None:
        for stamp in stamps:
            stamp.check()

    try:
        yield from rows()
    except Exception:
        check()  # a file that was replaced may look damaged
        raise
    check()


def _alone(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    yield batch


class ReadAgain(Exception):
    """The rows are to be read again from the beginning, in another way."""


@dataclass(frozen=True)
class Described:
    """A path, and how the CSV files that it means are to be read: `delimiter`; `header`, the line with the names (0:
    none has them); `expected`, names that it would have."""

    path: str | os.PathLike
    how: dict[str, Any]

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


def is_path(data: Any) -> bool:
    return isinstance(data, str | os.PathLike)


def is_single_pass(data: Any) -> bool:
    """Whether the rows can be read only once."""
    opened = isinstance(data, Source) and data.cut is None
    return opened or isinstance(data, pa.RecordBatchReader) or hasattr(data, "__next__")


def of(data: Any) -> Source:
    """Open data that is not a path."""
    if isinstance(data, Source):
        return data
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    name, like = f"the {type(data).__name__}", data
    if isinstance(data, pa.Table):
        return _of_table(data, name)
    if hasattr(data, "scanner") and hasattr(data, "schema"):  # a dataset of Arrow's
        return _of_dataset(data, name)
    if _lazy(data):
        data = data.collect_batches(maintain_order=True, chunk_size=ROWS) if _batched(data) else data.collect()
    if _framed(data):
        reader = _reader(data)
        return Source(name, "a stream of Arrow batches", reader.schema, lambda: _short(reader, name), like=like)
    if callable(data):
        data = data()
    if not isinstance(data, Iterable):
        raise DataError(
            f"{type(data).__module__}.{type(data).__name__} cannot be read in batches\n\n"
            "hint: give a path, a folder, a glob, an Arrow dataset or reader, a frame, or an iterator of frames"
        )
    return _of_frames(iter(data), name)


def _of_table(table: pa.Table, name: str) -> Source:
    def cut(columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        some = table if columns is None else table.select(list(columns))
        for batch in some.to_batches(max_chunksize=ROWS):
            yield partial(iter, (batch,))

    batches = lambda: iter(table.to_batches(max_chunksize=ROWS))  # noqa: E731
    return Source(name, "an Arrow table", table.schema, batches, cut=cut, rows=table.num_rows, like=table)


def _of_dataset(data: Any, name: str) -> Source:
    def batches(columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        wanted = None if columns is None else list(columns)
        scanner = data.scanner(columns=wanted, batch_size=ROWS, batch_readahead=4, fragment_readahead=1)
        yield from scanner.to_batches()

    def cut(columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        return (partial(iter, (batch,)) for batch in batches(columns))

    return Source(name, "an Arrow dataset", data.schema, batches, cut=cut)


def _of_frames(given: Iterator[Any], name: str) -> Source:
    first = next(given, None)
    if first is None:
        raise DataError(f"the iterator {name} is empty or already consumed\n\nhint: pass a new iterator")
    reader = _reader(first)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from _short(reader, name)
        for frame in given:
            yield from _short(_reader(frame), name)

    return Source(name, "frames, one by one", reader.schema, batches, like=[first])


def _lazy(data: Any) -> bool:
    return type(data).__module__.startswith("polars") and type(data).__name__ == "LazyFrame"


def _batched(data: Any) -> bool:
    return hasattr(data, "collect_batches")


def _framed(data: Any) -> bool:
    return isinstance(data, pa.RecordBatchReader) or hasattr(data, "__arrow_c_stream__") or _pandas(data)


def _pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")


def _reader(frame: Any) -> pa.RecordBatchReader:
    """The batches of a frame."""
    if isinstance(frame, pa.RecordBatchReader):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame]).to_reader()
    if _pandas(frame):
        frames.names(frame)  # no two the same
        return pa.Table.from_pandas(_intervals_named(frame), preserve_index=False).to_reader()  # without the index
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(frame)
    raise DataError(
        f"a {type(frame).__module__}.{type(frame).__name__} is not a frame\n\n"
        "hint: give frames of pandas, polars or Arrow, or any object that exports an Arrow stream"
    )


def _intervals_named(frame: Any) -> Any:
    """A pandas frame whose columns of intervals are categories of their texts, in the order of the intervals."""
    for at, dtype in enumerate(frame.dtypes):
        if "Interval" in (type(dtype).__name__[:8], type(getattr(dtype, "categories", None)).__name__[:8]):
            column = frame.iloc[:, at].astype("category").cat.rename_categories(str)
            frame = frame.copy(deep=False)
            frame.isetitem(at, column)
    return frame


BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}


def validate(rows: pa.RecordBatch | pa.Table) -> Any:
    """The same rows, if all places that cells name are there; else an ArrowInvalid."""
    for column in rows.columns:
        validate_column(column)
    return rows


def validate_column(column: pa.Array | pa.ChunkedArray) -> None:
    """The same of a column. That texts are UTF-8 is found out where they are read."""
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else (column,):
        (chunk.view(BYTES[chunk.type]) if chunk.type in BYTES else chunk).validate(full=True)


def _short(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of limited size."""
    for batch in batches:
        try:
            validate(batch)
        except pa.ArrowInvalid as error:
            raise DataError(f"{name} is damaged ({error})\n\nhint: read or make it again") from None
        starts = range(0, max(batch.num_rows, 1), ROWS)
        yield from (batch.slice(start, ROWS) for start in starts) if len(starts) > 1 else (batch,)


def frames_like(data: Any, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Any:
    """Batches as the kind of thing that data are: a table, a frame or a relation of the same library, lazy or not, an
    iterator of such; or else a reader of batches."""
    if isinstance(data, pa.RecordBatch | pa.Table):
        return pa.Table.from_batches(batches, schema)
    if isinstance(data, list):
        return (_native(data[0], pa.Table.from_batches([batch])) for batch in batches)
    if _lazy(data):
        return _native(data, pa.Table.from_batches(batches, schema)).lazy()
    if type(data).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        return import_module("duckdb").from_arrow(pa.Table.from_batches(batches, schema))
    if _pandas(data) or type(data).__module__.startswith("polars"):
        return _native(data, pa.Table.from_batches(batches, schema))
    return pa.RecordBatchReader.from_batches(schema, batches)


def _native(like: Any, table: pa.Table) -> Any:
    """A table as a frame of the library that another one is of."""
    import narwhals.stable.v1 as nw

    if isinstance(like, pa.RecordBatch | pa.Table | pa.RecordBatchReader):
        return table
    return nw.from_arrow(table, backend=nw.get_native_namespace(like)).to_native()
