"""Data that Spark keeps between passes: Arrow batches as bytes, which it hands over without looking at their cells.

Turning cells into rows and these into Arrow batches takes Spark longer than most passes take to add them up. So that is
done once; then its cache holds one row a batch, with the number of the partition, or of the piece of a file, it is of.

>>> import pyarrow as pa
>>> held = Keeping(lambda batches: iter([(7, batches)]), False)([pa.record_batch({"a.b": [1, 2]})])
>>> [(number, [batch.to_pydict() for batch in run]) for number, run in opened(held)]
[(7, [{'a.b': [1, 2]}])]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from deciban.engines.spark_rows import Runs, Unreadable

PIECE, PARTITION, COLUMN = "deciban_piece", "deciban_partition", "deciban_batches"
AT_ONCE, FEW = 1 << 24, 16  # bytes of batches that Spark sends together; how many, in versions that weigh nothing


def holds(data: Any) -> bool:
    """Whether a frame is such data."""
    return data.columns[1:] == [COLUMN]


def by_pieces(data: Any) -> bool:
    """Whether they were read by pieces of files."""
    return data.columns[0] == PIECE


def schema(pieces: bool) -> str:
    return f"{PIECE if pieces else PARTITION} long, {COLUMN} binary"


@dataclass(frozen=True)
class Keeping:
    """What a task gets → rows that hold its batches; a row that holds nothing: something cannot be read."""

    runs: Runs
    pieces: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for number, run in self.runs(batches):
            try:
                for batch in run:
                    yield self._row(number, batch)
            except Unreadable:
                yield self._row(number, None)

    def _row(self, number: int, batch: Any) -> Any:
        import pyarrow as pa

        names = [PIECE if self.pieces else PARTITION, COLUMN]
        if batch is None:
            return pa.record_batch([pa.array([number]), pa.nulls(1, pa.binary())], names=names)
        out = pa.BufferOutputStream()
        with pa.ipc.new_stream(out, batch.schema) as stream:
            stream.write_batch(batch)
        return pa.record_batch([pa.array([number]), pa.array([memoryview(out.getvalue())], pa.binary())], names=names)


def opened(rows: Iterable[Any]) -> Iterator[tuple[int, Iterator[Any]]]:
    """The runs that rows hold."""
    cells = ((number.as_py(), cell) for some in rows for number, cell in zip(*some.columns, strict=True))
    for number, run in groupby(cells, itemgetter(0)):
        yield number, _batches(run)


def _batches(cells: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    import pyarrow as pa

    for number, cell in cells:
        if not cell.is_valid:
            raise Unreadable(f"piece {number} of the files")
        yield from pa.ipc.open_stream(cell.as_buffer())
