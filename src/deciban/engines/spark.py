"""Spark: `mapInArrow` sums a partition on its executor; small sums go to the driver, large ones through a tree
reduction.

Classic sessions and Spark Connect. Sums are rows that tasks return, so what is lost with an executor is recomputed and
the result stays exact; rows carry the number of their partition and are added in that order. An error in the data is
returned as a row: it is raised once on the driver, and the task is not retried four times. Spark's UI shows how far a
pass is.

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
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import add, iadd
from typing import Any

from deciban.engines.partitions import FAN, rebatch, sum_present, tree_reduce
from deciban.engines.spark_access import HeldFrame, access_paths, numbered, suited
from deciban.engines.spark_errors import connected, ignore_errors, translate_errors
from deciban.engines.spark_tasks import ROW, Summing, Unreadable, error, of_runs, row
from deciban.errors import DataError

AT_ONCE = 1 << 16  # bytes of a sum that goes straight to the driver: 10,000 of them are less than it takes by default
TOGETHER = 1 << 26  # bytes of all sums that the driver adds by itself, once they are in a tree


def takes(data: Any) -> bool:
    """Whether it is a DataFrame of Spark, classic or Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and type(data).__name__ == "DataFrame"


def ready(data: Any) -> Any:
    """The data; raises DataError if they are not for Spark."""
    try:
        import pyspark  # noqa: F401
    except ImportError as bad:
        raise ImportError("this engine needs Spark\n\nhint: pip install 'deciban[spark]', and a Java runtime") from bad
    if not takes(data):
        raise DataError(
            f"engine 'spark' reads Spark DataFrames, not a {type(data).__name__}\n\n"
            "hint: spark.read.parquet(path) and spark.createDataFrame(frame) make one"
        )
    return data


def names(data: Any) -> list[str]:
    return list(data.columns)


def schema(data: Any) -> Any:
    """The Arrow schema of the columns."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(data.schema, timezone="UTC")


def total(
    data: Any,
    f: Callable[[Any], Any],
    plus: Callable[[Any, Any], Any] = add,
    *,
    columns: Sequence[str] | None = None,
    coded: Sequence[str] = (),
    progress: Any = None,
) -> Any:
    """Σ f(batch) over the partitions, or the pieces of files, in their order; of these columns (None: all), those in
    `coded` maybe as dictionaries of texts."""
    read = list(data.columns if columns is None else columns)
    with translate_errors(data):
        _set_python(data)
        for way in access_paths(data, read, coded):
            sums = way.frame.mapInArrow(Summing(f, plus, way.runs, way.pieces), ROW).persist()  # maybe looked at twice
            try:
                with suited(way.frame):
                    return _added(sums, iadd if plus is add else plus, way.pieces)
            except Unreadable as bad:
                cannot = bad
            finally:
                with ignore_errors():
                    sums.unpersist()
        raise DataError(f"files were changed or deleted during the fit: {cannot}\n\nhint: fit again")


def transform(data: Any, f: Callable[[Any], Any], schema: Any, columns: Sequence[str] | None = None) -> Any:
    """The same frame, lazily, with the columns that f appends; all columns are read, as they go through."""
    from pyspark.sql.pandas.types import from_arrow_schema

    _set_python(data)
    return numbered(data).mapInArrow(PredictRows(f, data.columns, schema), from_arrow_schema(schema))


@contextmanager
def kept(data: Any, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Those columns for several passes: files as they are, the rows of other frames in the executors' memory, even of
    those that the user keeps there, as Spark is slow to hand its rows over."""
    if isinstance(data, HeldFrame):
        yield data
        return
    held = HeldFrame(data, data.columns if columns is None else columns)
    try:
        yield held
    finally:
        held.let_go()


@dataclass(frozen=True)
class Joining:
    """Adds the sums of neighbouring partitions."""

    plus: Callable

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        groups: dict[int, dict[int, Any]] = {}
        for batch in batches:
            for part, value in of_runs(batch).items():
                groups.setdefault(part // FAN, {})[part] = value
        for group, sums in groups.items():
            yield row(group, sum_present((sums[part] for part in sorted(sums)), self.plus))


@dataclass(frozen=True)
class PredictRows:
    """Batches → batches with more columns."""

    f: Callable
    names: list[str]
    schema: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        return (self.f(batch.rename_columns(self.names)).cast(self.schema) for batch in rebatch(batches))


def _added(sums: Any, plus: Callable, pieces: bool) -> Any:
    """The sum of sums: of small ones here, of large ones by Spark until few are left. Those of pieces are added one
    after the other, as `stream` does, as long as they are added here."""
    from pyspark.sql import functions as sql

    small = sql.when(sql.col("bytes") <= AT_ONCE, sql.col("total")).alias("total")
    rows = sums.select("part", "bytes", small, "error", "rows").toArrow().sort_by("part")
    wrong = error(rows)
    if wrong is not None:
        raise wrong
    if rows["total"].null_count:
        left, bytes_ = rows.num_rows, sum(rows["bytes"].to_pylist())
        while left > 1 and bytes_ > TOGETHER:
            left, bytes_ = -(-left // FAN), bytes_ / FAN
            sums = sums.repartition(left, sql.floor(sql.col("part") / FAN)).mapInArrow(Joining(plus), ROW)
        rows = sums.select("part", "total").toArrow()
    found = of_runs(rows)
    if pieces:
        return sum_present((found[part] for part in sorted(found)), plus)
    return tree_reduce(found, lambda group: sum_present(group, plus))


def _set_python(data: Any) -> None:
    """Workers on this machine run the interpreter that runs this, and not `python3` of the PATH."""
    if connected(data) or "PYSPARK_PYTHON" in os.environ:
        return
    context = data.sparkSession.sparkContext
    if context.master.startswith("local") and context.getConf().get("spark.pyspark.python") is None:
        context.pythonExec = sys.executable
