"""Data that Spark keeps between passes: Arrow batches as bytes, which it hands over without looking at their cells.

Turning cells into rows and these into Arrow batches takes Spark longer than most passes take to add them up. So that is
done once; then its cache holds one row a batch, of even batches in the order of the partition.

>>> import pyarrow as pa
>>> held = Keeping(lambda batches: iter([(0, batches)]))([pa.record_batch({"a.b": [1, 2]})])
>>> [batch.to_pydict() for _, run in opened(held) for batch in run]
[{'a.b': [1, 2]}]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from deciban.engines.spark_rows import Runs, partition

COLUMN = "deciban_batches"
ROW = f"{COLUMN} binary"
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
