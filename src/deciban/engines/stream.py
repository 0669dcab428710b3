"""Data of any size on one machine: files, folders, Arrow streams, iterators of frames, read in pieces by threads.

Threads read a piece each (a run of Parquet row groups, a block of CSV) and add up its batches; the pieces' results are
added in their order. Borders depend on the data alone, so any number of threads gives the same bits. No more than a few
pieces are under way at a time: memory does not grow with the data.

>>> import pyarrow as pa
>>> total(pa.table({"a": [1, 2, 3]}), lambda batch: batch.num_rows)
3
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import add, iadd
from typing import Any

from deciban.engines import threads
from deciban.errors import DataError, DecibanError, levels_up, relocate

ProgressCallback = Callable[[int, float | None], None]  # (rows so far, share of all)


@dataclass(frozen=True)
class Progress:
    """State of a pass: the sum of the first `pieces`, and their number of rows."""

    pieces: int = 0
    rows: int = 0
    total: Any = None
    types: tuple[tuple[str, str], ...] = ()  # of columns of CSV files, where those were found out on the way


def takes(data: Any) -> bool:
    """Whether it is a path, a frame, a stream of Arrow batches, an iterator of frames, or what makes one."""
    module = type(data).__module__.partition(".")[0]
    marks = ("__arrow_c_stream__", "__next__", "__fspath__", "__call__")
    known = isinstance(data, str | list | tuple) or module in ("pyarrow", "pandas", "polars", "deciban")
    return known or any(hasattr(data, mark) for mark in marks)


def names(data: Any) -> list[str]:
    return opened(data).names


def schema(data: Any) -> Any:
    """The Arrow schema of the columns."""
    return opened(data).schema


def opened(data: Any, **how: Any) -> Any:
    """The data as an `io.source.Source`."""
    from deciban.io import readers

    return readers.open_data(data, **how)


def ready(data: Any) -> Any:
    """Data that can be asked for names, types and rows, one after the other: an iterator gives its first frame once,
    and files whose types and row counts are known are not opened again."""
    from deciban.io import readers

    if readers.is_single_pass(data):
        return readers.open_data(data)
    source = readers.open_data(data) if readers.is_path(data) else None
    return data if source is None or source.cut is None or source.rows is None else source


def total(
    data: Any,
    f: Callable[[Any], Any],
    plus: Callable[[Any, Any], Any] = add,
    *,
    columns: Sequence[str] | None = None,
    coded: Sequence[str] = (),
    progress: ProgressCallback | None = None,
    start: Progress | None = None,
    after: Callable[[Progress], None] | None = None,
) -> Any:
    """Σ f(batch) over all batches, of these columns (None: all), those in `coded` maybe as dictionaries of texts; None
    where there are none. `start` resumes an earlier pass, `after` is called after every piece."""
    from deciban.io import readers

    plus = iadd if plus is add else plus  # results of f have a single owner
    at = start or Progress()
    while True:
        how = {"types": readers.types_named(at.types)} if at.types else {}
        source = opened(data, **how)
        try:
            out = _pass(source.pieces(columns, coded), source, f, plus, progress, at, after)
            warn_notes(source)
            return out
        except readers.ColumnTypeChanged as changed:  # a column of a CSV file turned out late to be of another type
            if not readers.is_path(data) or any(name not in source.names for name in changed.types):
                raise  # who opened it, or asked for its names, does so again
            at = Progress(types=tuple((name, str(kind)) for name, kind in changed.types.items()))


def warn_notes(source: Any) -> None:
    """Warn about cells of a file that were not read literally."""
    for note in source.notes:
        warnings.warn(note, UserWarning, stacklevel=levels_up())


def _pass(
    pieces: Iterator[Callable],
    source: Any,
    f: Callable,
    plus: Callable,
    progress: ProgressCallback | None,
    at: Progress,
    after: Callable | None,
) -> Any:
    try:
        for part, rows in threads.map_ordered(islice(pieces, at.pieces, None), partial(summed, f=f, plus=plus)):
            whole = part if at.total is None else at.total if part is None else plus(at.total, part)
            at = replace(at, pieces=at.pieces + 1, rows=at.rows + rows, total=whole)
            if progress is not None:
                progress(at.rows, _share(source, at.rows))
            if after is not None:
                after(at)
    except PieceError as found:
        raise relocate(found.wrong, at.rows + found.rows) from None
    return at.total


def summed(piece: Callable, f: Callable, plus: Callable) -> tuple[Any, int]:
    """(Σ f(batch), rows) of a piece; `PieceError` where f finds an error."""
    out, rows = None, 0
    try:
        for batch in piece():
            part = f(batch)
            out = part if out is None else plus(out, part)
            rows += batch.num_rows
    except DecibanError as wrong:
        raise PieceError(wrong, rows) from None
    return out, rows


def _share(source: Any, rows: int) -> float | None:
    return source.done() if source.rows is None else rows / max(source.rows, 1)


class PieceError(Exception):
    """An error in a piece, and the rows of the piece that came before it."""

    def __init__(self, wrong: DecibanError, rows: int):
        super().__init__()
        self.wrong, self.rows = wrong, rows


def transform(data: Any, f: Callable[[Any], Any], schema: Any, columns: Sequence[str] | None = None) -> Any:
    """f of every batch, as the same type as the data (a path: a reader of batches), computed lazily. All columns are
    read, as they are part of the answers."""
    from deciban.io import readers

    source = opened(data)
    return readers.frames_like(source.like, map_batches(source, f, schema), schema)


def map_batches(
    source: Any, f: Callable[[Any], Any], schema: Any, progress: ProgressCallback | None = None
) -> Iterator[Any]:
    """f of every batch in order, worked on by threads."""

    def work(piece: Callable) -> tuple[list, int]:
        out, rows = [], 0
        try:
            for batch in piece():
                out.append(f(batch).cast(schema))
                rows += batch.num_rows
        except DecibanError as wrong:
            raise PieceError(wrong, rows) from None
        return out, rows

    before = 0
    try:
        for batches, rows in threads.map_ordered(source.pieces(), work):
            yield from batches
            before += rows
            if progress is not None:
                progress(before, _share(source, before))
    except PieceError as found:
        raise relocate(found.wrong, before + found.rows) from None


@contextmanager
def kept(data: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The data for several passes; an error if they can be read only once."""
    from deciban.io import readers

    if readers.is_single_pass(data):
        name = data.name if isinstance(data, readers.Source) else f"a {type(data).__name__}"
        raise DataError(
            f"{name} can be read only once, and this model needs several passes\n\n"
            "hint: write them to a file first and give its path, or give a list of frames, or a function that returns "
            "a new iterator"
        )
    yield data
