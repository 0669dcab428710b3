"""Spark: `mapInArrow` sums a partition where it lies; small sums go to the driver, large ones through a tree of adds.

Classic sessions and Spark Connect. Sums are rows that tasks return, so what is lost with an executor is computed anew
and the result stays exact; rows carry the number of their partition and are added in that order. An error in the data
is a row too: it comes out as itself, once, and does not fail four times in the JVM. Spark's UI shows how far a pass is.

Spark cuts partitions into batches of `spark.sql.execution.arrow.maxRecordsPerBatch` rows; they are put together again,
so the setting does not change the result. Workers need the driver's Python version and deciban: on one machine they
get the interpreter that runs this; on a cluster, set `PYSPARK_PYTHON` before the session (or Connect's server) starts.

    rows = spark.read.parquet("rows.parquet")
    model = GaussianNB().fit_on(rows, target="species")

>>> takes([1, 2])
False
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import add, iadd
from typing import Any

from deciban.engines import spark_kept
from deciban.engines.partitions import FAN, added, even, sum_of_partition, tree
from deciban.engines.spark_troubles import connected, quietly, told
from deciban.errors import DataError, DecibanError

AT_ONCE = 1 << 16  # bytes of a sum that goes straight to the driver: 10,000 of them are less than it takes by default
TOGETHER = 1 << 26  # bytes of all sums that the driver adds by itself, once they are in a tree
ARROW = "spark.sql.execution.arrow"
ROW = "part long, bytes long, total binary, error binary"


def takes(data: Any) -> bool:
    """Whether it is a DataFrame of Spark, classic or Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and type(data).__name__ == "DataFrame"


def ready(data: Any) -> Any:
    """The data, or why they are none for Spark."""
    try:
        import pyspark  # noqa: F401
    except ImportError as bad:
        raise ImportError("this engine needs Spark\n\nhint: pip install 'deciban[spark]', and a Java runtime") from bad
    if not takes(data):
        raise DataError(
            f"engine 'spark' goes through Spark DataFrames, not through a {type(data).__name__}\n\n"
            "hint: spark.read.parquet(path) and spark.createDataFrame(frame) make one"
        )
    return data


def names(data: Any) -> list[str]:
    return list(data.columns)


def schema(data: Any) -> Any:
    """The Arrow schema of the columns."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(data.schema, timezone="UTC")


def total(data: Any, f: Callable[[Any], Any], plus: Callable[[Any, Any], Any] = add, *, progress: Any = None) -> Any:
    """Σ f(batch) over the partitions in their order; of the columns `f.columns` if f names some."""
    columns = list(getattr(f, "columns", data.columns))
    with told(data), _unmeasured(data, columns):
        _set_python(data)
        if spark_kept.holds(data):
            sums = data.mapInArrow(Summing(f, plus), ROW)
        else:
            sums = _numbered(data.select(*map(_quoted, columns))).mapInArrow(Summing(f, plus, columns), ROW)
        sums = sums.persist()  # looked at twice if they are large
        try:
            return _added(sums, iadd if plus is add else plus)
        finally:
            with quietly():
                sums.unpersist()


def transform(data: Any, f: Callable[[Any], Any], schema: Any) -> Any:
    """The same frame, lazily, with the columns that f appends."""
    from pyspark.sql.pandas.types import from_arrow_schema

    _set_python(data)
    return _numbered(data).mapInArrow(Answering(f, data.columns, schema), from_arrow_schema(schema))


@contextmanager
def kept(data: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The data in the executors' memory, or on their disks where that is full."""
    level = data.storageLevel
    if level.useMemory or level.useDisk:  # the user keeps them
        yield data
        return
    names = list(data.columns if columns is None else columns)
    _set_python(data)
    frame = _numbered(data.select(*map(_quoted, names)))
    held = frame.mapInArrow(spark_kept.Keeping(names), spark_kept.ROW).persist()
    try:
        with told(data), _unmeasured(data, names):
            held.count()  # makes them, by settings that suit rows
        yield held
    finally:
        with quietly():
            held.unpersist()


@dataclass(frozen=True)
class Summing:
    """Batches of a partition → one row: its number, and its sum or what is wrong with it."""

    f: Callable
    plus: Callable
    names: list[str] | None = None  # None: the batches are kept ones

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = context.partitionId() if context else 0
        names = self.names
        named = spark_kept.opened(batches) if names is None else (batch.rename_columns(names) for batch in batches)
        try:
            yield _row(part, sum_of_partition(named, self.f, self.plus, part))
        except DecibanError as wrong:
            yield _row(part, None, wrong)


@dataclass(frozen=True)
class Joining:
    """Sums of partitions → the sums of groups of neighbours."""

    plus: Callable

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        groups: dict[int, dict[int, Any]] = {}
        for batch in batches:
            for part, value in _sums(batch).items():
                groups.setdefault(part // FAN, {})[part] = value
        for group, sums in groups.items():
            yield _row(group, added((sums[part] for part in sorted(sums)), self.plus))


@dataclass(frozen=True)
class Answering:
    """Batches → batches with more columns."""

    f: Callable
    names: list[str]
    schema: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return (self.f(batch.rename_columns(self.names)).cast(self.schema) for batch in even(batches))


def _row(part: int, value: Any, wrong: DecibanError | None = None) -> Any:
    import pyarrow as pa

    load = pickle.dumps(value, protocol=5)
    cells = {"part": [part], "bytes": [len(load)], "total": [load], "error": [wrong and pickle.dumps(wrong)]}
    types = (pa.int64(), pa.int64(), pa.binary(), pa.binary())
    return pa.record_batch([pa.array(c, t) for c, t in zip(cells.values(), types, strict=True)], names=list(cells))


def _sums(rows: Any) -> dict[int, Any]:
    loads = zip(rows["part"].to_pylist(), rows["total"].to_pylist(), strict=True)
    return {part: pickle.loads(load) for part, load in loads}


def _added(sums: Any, plus: Callable) -> Any:
    """The sum of sums: of small ones here, of large ones by Spark until few are left."""
    from pyspark.sql import functions as sql

    small = sql.when(sql.col("bytes") <= AT_ONCE, sql.col("total")).alias("total")
    rows = sums.select("part", "bytes", small, "error").toArrow().sort_by("part")
    errors = rows["error"].drop_null()
    if len(errors):
        raise pickle.loads(errors[0].as_py())
    if rows["total"].null_count:
        left, bytes_ = rows.num_rows, sum(rows["bytes"].to_pylist())
        while left > 1 and bytes_ > TOGETHER:
            left, bytes_ = -(-left // FAN), bytes_ / FAN
            sums = sums.repartition(left, sql.floor(sql.col("part") / FAN)).mapInArrow(Joining(plus), ROW)
        rows = sums.select("part", "total").toArrow()
    return tree(_sums(rows), lambda group: added(group, plus))


def _quoted(name: str) -> str:
    """A name with dots is a column, not a field of one."""
    return f"`{name.replace('`', '``')}`"


def _numbered(frame: Any) -> Any:
    """The columns by number: `mapInArrow` trips over names with dots."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


@contextmanager
def _unmeasured(data: Any, columns: list[str]) -> Iterator[None]:
    """Inside, Spark does not weigh a batch after every row, which takes it as long as all else, where batches of
    numbers cannot come to the limit anyway. Kept batches are long: few of them are sent at a time."""
    import pyarrow as pa

    conf = data.sparkSession.conf
    limit, rows = "", int(conf.get(f"{ARROW}.maxRecordsPerBatch"))
    with quietly():  # earlier versions have no limit
        limit = conf.get(f"{ARROW}.maxBytesPerBatch")
    most = int(limit.rstrip("b")) if limit.rstrip("b").isdigit() else 0
    types = dict(zip(data.columns, schema(data).types, strict=True))
    wanted = {}
    if spark_kept.holds(data):
        wanted = {"maxRecordsPerBatch": str(spark_kept.FEW), "maxBytesPerBatch": str(spark_kept.AT_ONCE)}
    elif all(pa.types.is_primitive(types[name]) for name in columns) and 0 < rows * len(columns) * 9 <= most:
        wanted = {"maxBytesPerBatch": str(2**31 - 1)}
    before = {"maxRecordsPerBatch": str(rows), "maxBytesPerBatch": limit}
    try:
        for name, value in wanted.items():
            conf.set(f"{ARROW}.{name}", value)
        yield
    finally:
        with quietly():
            for name in wanted:
                conf.set(f"{ARROW}.{name}", before[name]) if before[name] else conf.unset(f"{ARROW}.{name}")


def _set_python(data: Any) -> None:
    """Workers on this machine run the interpreter that runs this, and not whatever `python3` is."""
    if connected(data) or "PYSPARK_PYTHON" in os.environ:
        return
    context = data.sparkSession.sparkContext
    if context.master.startswith("local") and context.getConf().get("spark.pyspark.python") is None:
        context.pythonExec = sys.executable
