"""Spark sessions for tests, and frames whose partitions are given pieces."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

HOW = "Spark needs Java 17 and PySpark: apt-get install openjdk-17-jre-headless; pip install 'deciban[spark]'"
HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "4",
}
quiet = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of py4j
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]


def session(master: str, **settings: str) -> Any:
    """A running session; the test is skipped where there can be none."""
    sql = pytest.importorskip("pyspark.sql", reason=HOW)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip(HOW)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(master).appName("deciban tests")
    for name, value in {**HERE, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def spread(spark: Any, pieces: list, before: Any = None) -> Any:
    """Piece i as partition i."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tables = alike(pieces)

    def made(batches: Any) -> Any:
        for batch in batches:
            for i in batch.column(0).to_pylist():
                if before is not None:
                    before(i)
                yield from tables[i].to_batches()

    rows = spark.range(0, len(tables), 1, len(tables))
    return rows.mapInArrow(made, from_arrow_schema(tables[0].schema))


def saved(folder: Path, pieces: list) -> str:
    """A folder with piece i as the file i of Parquet."""
    folder.mkdir()
    for i, table in enumerate(alike(pieces)):
        parquet.write_table(table, folder / f"part-{i:02}.parquet")
    return str(folder)


def alike(pieces: list) -> list[pa.Table]:
    """The pieces as tables of one schema."""
    tables = [pa.Table.from_pandas(piece, preserve_index=False) for piece in pieces]
    schema = pa.unify_schemas([table.schema.remove_metadata() for table in tables], promote_options="permissive")
    return [table.cast(schema).combine_chunks() for table in tables]
