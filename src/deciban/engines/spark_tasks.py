"""Results of Spark tasks: a row for each run of rows, with its number, and its sum or its error.

A run is a partition, or a piece of a file. Pieces are what `stream` adds up, and in its order: the bits are the same.

>>> rows = row(3, {"a": 1.5}, rows=10)
>>> rows["part"].to_pylist(), of_runs(rows), rows["rows"].to_pylist()
([3], {3: {'a': 1.5}}, [10])

Data that Spark keeps between passes: Arrow batches as bytes, which it hands over without looking at their cells.

Turning cells into rows and these into Arrow batches takes Spark longer than most passes take to add them up. So that is
done once; then its cache holds one row a batch, of even batches in the order of the partition.

>>> import pyarrow as pa
>>> held = Keeping(lambda batches: iter([(0, batches)]))([pa.record_batch({"a.b": [1, 2]})])
>>> [batch.to_pydict() for _, run in opened(held) for batch in run]
[{'a.b': [1, 2]}]
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deciban.engines import stream
from deciban.engines.partitions import rebatch, sum_of_partition
from deciban.errors import DecibanError, relocate

ROW = "part long, bytes long, total binary, error binary, rows long"
Runs = Callable[[Iterable[Any]], Iterator[tuple[int, Iterator[Any]]]]  # what a task gets → runs' numbers and batches


class Unreadable(Exception):
    """A file that a task cannot read."""


@dataclass(frozen=True)
class Partition:
    """The batches of a task as one run, under the names of their columns."""

    names: list[str]

    def __call__(self, batches: Iterable[Any]) -> Iterator[tuple[int, Iterator[Any]]]:
        yield partition(), rebatch(batch.rename_columns(self.names) for batch in batches)


def partition() -> int:
    """The number of the partition that this task is for."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0


@dataclass(frozen=True)
class Summing:
    """What a task gets → a row for each of its runs."""

    f: Callable
    plus: Callable
    runs: Runs
    pieces: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for number, run in self.runs(batches):
            try:
                yield self._of(number, run)
            except stream.PieceError as found:
                yield row(number, None, found.wrong, found.rows)
            except (DecibanError, Unreadable) as wrong:
                yield row(number, None, wrong)

    def _of(self, number: int, run: Iterator[Any]) -> Any:
        if not self.pieces:
            return row(number, sum_of_partition(run, self.f, self.plus, number))
        value, rows = stream.summed(lambda: run, self.f, self.plus)
        return row(number, value, rows=rows)


def row(part: int, value: Any, wrong: Exception | None = None, rows: int = 0) -> Any:
    import pyarrow as pa

    load = pickle.dumps(value, protocol=5)
    cells = (part, len(load), load, wrong and pickle.dumps(wrong), rows)
    types = (pa.int64(), pa.int64(), pa.binary(), pa.binary(), pa.int64())
    names = [field.split()[0] for field in ROW.split(", ")]
    return pa.record_batch([pa.array([cell], kind) for cell, kind in zip(cells, types, strict=True)], names=names)


def of_runs(rows: Any) -> dict[int, Any]:
    """The sums by the numbers of their runs."""
    loads = zip(rows["part"].to_pylist(), rows["total"].to_pylist(), strict=True)
    return {part: pickle.loads(load) for part, load in loads}  # nosec B301 # written by our own tasks


def error(rows: Any) -> Exception | None:
    """What is wrong, in rows that are in order: that something cannot be read, else what is found first, by its row."""
    loads = ((at, load) for at, load in enumerate(rows["error"].to_pylist()) if load is not None)
    found = [(at, pickle.loads(load)) for at, load in loads]  # nosec B301 # written by our own tasks
    for _, wrong in found:
        if isinstance(wrong, Unreadable):
            return wrong
    for at, wrong in found:
        return relocate(wrong, sum(rows["rows"][: at + 1].to_pylist()))
    return None


COLUMN = "deciban_batches"
HELD_ROW = f"{COLUMN} binary"
AT_ONCE, FEW = 1 << 24, 64  # bytes of batches that Spark sends together; how many, in versions that weigh nothing


def holds(data: Any) -> bool:
    """Whether a frame is such data."""
    return data.columns == [COLUMN]


@dataclass(frozen=True)
class Keeping:
    """What a task gets → rows that hold its batches."""

    runs: Runs

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in (batch for _, run in self.runs(batches) for batch in run):
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, batch.schema) as stream:
                stream.write_batch(batch)
            yield pa.record_batch({COLUMN: pa.array([memoryview(out.getvalue())], pa.binary())})


def opened(rows: Iterable[Any]) -> Iterator[tuple[int, Iterator[Any]]]:
    """The partition that rows hold."""
    yield partition(), _batches(rows)


def _batches(rows: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for some in rows:
        for cell in some.column(0):
            yield from pa.ipc.open_stream(cell.as_buffer())
