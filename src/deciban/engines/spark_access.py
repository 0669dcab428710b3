"""How Spark tasks read the rows of a frame: from its files, from a cached frame, or from Spark.

Reading files is fastest but may fail on the executors; then the next way is used.

>>> quoted("a.b"), quoted("`")
('`a.b`', '````')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from deciban.engines import spark_files, spark_tasks
from deciban.engines.partitions import batch_rows
from deciban.engines.spark_errors import ignore_errors
from deciban.engines.spark_tasks import Partition, Runs

ARROW = "spark.sql.execution.arrow"


@dataclass(frozen=True)
class AccessPath:
    """The input of tasks, and how they split it into runs."""

    frame: Any
    runs: Runs
    pieces: bool  # of files


def access_paths(data: Any, columns: Sequence[str], coded: Sequence[str] = ()) -> Iterator[AccessPath]:
    """The ways to those columns, each to be taken if the one before it turned out to be none."""
    if isinstance(data, HeldFrame):
        yield from data.ways(columns, coded)
        return
    frame = data.select(*map(quoted, columns))
    pieces = spark_files.pieces_of(frame, columns)
    if pieces is not None:
        yield _of_files(frame, pieces, columns, coded)
    yield AccessPath(numbered(frame), Partition(list(columns)), False)


def _of_files(frame: Any, pieces: spark_files.Pieces, columns: Sequence[str], coded: Sequence[str]) -> AccessPath:
    return AccessPath(spark_files.numbers(frame, pieces), pieces.of(columns, coded), True)


class HeldFrame:
    """The columns of a frame for several passes: its files as they are at the first, for reading them again takes less
    than moving what Spark keeps; where tasks cannot read those, what Spark keeps."""

    def __init__(self, data: Any, columns: Sequence[str]):
        self.columns, self.sparkSession = list(columns), data.sparkSession
        self.frame = data.select(*map(quoted, columns))
        self.pieces = spark_files.pieces_of(self.frame, self.columns)
        self.held: Any = None
        self.begun = False

    def ways(self, columns: Sequence[str], coded: Sequence[str]) -> Iterator[AccessPath]:
        if self.pieces is not None:
            begun, self.begun = self.begun, True
            yield _of_files(self.frame, self.pieces, columns, coded)
            if begun:  # a pass before could read them, so they have changed
                return
            self.pieces = None
        yield AccessPath(self._made(), spark_tasks.opened, False)

    def _made(self) -> Any:
        """What Spark keeps, in the executors' memory, or on their disks where that is full."""
        if self.held is None:
            frame = numbered(self.frame)
            self.held = frame.mapInArrow(spark_tasks.Keeping(Partition(self.columns)), spark_tasks.HELD_ROW).persist()
            with suited(frame):
                self.held.count()
        return self.held

    def let_go(self) -> None:
        if self.held is not None:
            with ignore_errors():
                self.held.unpersist()


def quoted(name: str) -> str:
    """Quote a column name, so that dots in it are not field access."""
    return f"`{name.replace('`', '``')}`"


def numbered(frame: Any) -> Any:
    """Rename the columns to numbers: `mapInArrow` fails on names with dots."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


@contextmanager
def suited(frame: Any) -> Iterator[None]:
    """Inside, Spark makes batches of numbers as long as they are wanted, and does not weigh each after every row, which
    takes it as long as all else: they cannot come to its limit. Kept batches are long: few are sent at a time."""
    conf = frame.sparkSession.conf
    limit, rows = "", conf.get(f"{ARROW}.maxRecordsPerBatch")
    with ignore_errors():  # earlier versions have no limit
        limit = conf.get(f"{ARROW}.maxBytesPerBatch")
    most = int(limit.rstrip("b")) if limit.rstrip("b").isdigit() else 0
    length = batch_rows(len(frame.columns))
    wanted = {}
    if spark_tasks.holds(frame):
        wanted = {"maxRecordsPerBatch": str(spark_tasks.FEW), "maxBytesPerBatch": str(spark_tasks.AT_ONCE)}
    elif 0 < length * len(frame.columns) * 9 <= most and _fixed(frame):
        wanted = {"maxRecordsPerBatch": str(length), "maxBytesPerBatch": str(2**31 - 1)}
    before = {"maxRecordsPerBatch": rows, "maxBytesPerBatch": limit}
    try:
        for name, value in wanted.items():
            conf.set(f"{ARROW}.{name}", value)
        yield
    finally:
        with ignore_errors():
            for name in wanted:
                conf.set(f"{ARROW}.{name}", before[name]) if before[name] else conf.unset(f"{ARROW}.{name}")


def _fixed(frame: Any) -> bool:
    """Whether all cells are of up to eight bytes."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return all(map(pa.types.is_primitive, to_arrow_schema(frame.schema, timezone="UTC").types))
