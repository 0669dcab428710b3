"""Spark frames that are plain Parquet files: tasks read those by themselves, with the bits of the stream; any other
frame, and any doubt, is left to Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import deciban
from deciban.engines import spark as engine
from deciban.engines import spark_files
from deciban.engines.spark_access import quoted
from deciban.errors import DataError

from .support import clusters

pytestmark = clusters.quiet_spark


@pytest.fixture
def folder(tmp_path):
    """18 files: sums of as many are not added by one group of a tree."""
    return clusters.parquet_folder(tmp_path / "rows", clusters.cut(clusters.made(), 18))


def by_tasks(data, *columns) -> bool:
    """Whether tasks read the files."""
    columns = list(columns or data.columns)
    return spark_files.pieces_of(data.select(*map(quoted, columns)), columns) is not None


def rows(data) -> int:
    return engine.total(data, lambda batch: batch.num_rows)


def assert_alike(got, want) -> None:
    """But for the order of addition."""
    np.testing.assert_array_equal(got.class_count_, want.class_count_)
    np.testing.assert_allclose(got.theta_, want.theta_, rtol=1e-12)
    np.testing.assert_allclose(got.var_, want.var_, rtol=1e-12)


@pytest.mark.parametrize(("name", "files"), [("adult", 4), ("letter", 18), ("mnist", 2), ("newsgroups20", 2)])
def test_files_have_the_bits_of_the_stream(name, files, spark, tmp_path):
    target, models = clusters.REAL[name]
    where = clusters.parquet_folder(tmp_path / name, clusters.cut(clusters.real(name), files))
    data = spark.read.parquet(where)
    assert by_tasks(data)
    for model in models[:2]:
        clusters.assert_same_fit(clusters.fitted(model, data, target), clusters.fitted(model, where, target))


def test_several_passes_over_files_have_the_bits_of_the_stream(spark, folder):
    model = deciban.LogisticRegression()
    got, want = clusters.fitted(model, spark.read.parquet(folder)), clusters.fitted(model, folder)
    np.testing.assert_array_equal(got.coef_, want.coef_)


def test_files_that_change_between_passes_are_told(spark, folder):
    with engine.kept(spark.read.parquet(folder), ["x0", "label"]) as held:
        assert held.pieces is not None
        assert rows(held) == rows(held) == 200
        clusters.made(n=7).to_parquet(f"{folder}/part-03.parquet", index=False)
        with pytest.raises(DataError, match=r"changed or deleted during the fit: .*part-03.parquet"):
            rows(held)


def test_choices_of_columns_and_plain_names_of_files_are_read_by_tasks(spark, folder):
    data = spark.read.parquet(folder)
    assert by_tasks(data)
    assert by_tasks(data, "x2", "label")
    assert by_tasks(data.select("label", "x0").drop("x3").alias("it"))
    assert by_tasks(data.withColumn("more", data.x0 + 1), "x0")  # whatever is not asked for
    twice = spark.read.parquet(f"{folder}/part-00.parquet", f"{folder}/part-0[01].parquet")
    assert by_tasks(twice)
    assert rows(twice) == twice.count() == 33


def test_frames_that_are_more_than_files_are_left_to_spark(spark, folder):
    data = spark.read.parquet(folder)
    others = {
        "some rows": data.where("x0 is not null"),
        "first rows": data.limit(5),
        "a sample": data.sample(0.5, seed=0),
        "an order": data.orderBy("x0"),
        "a new column": data.withColumn("x0", data.x0 + 1),
        "another name": data.withColumnRenamed("x0", "y0"),
        "a name in other letters": data.select("X0"),
        "both": data.union(data),
        "other partitions": data.repartition(3),
        "where rows come from": data.withColumn("file", data["_metadata.file_name"]),
        "no file": spark.range(3),
        "a user's types": spark.read.schema("x0 float, label string").parquet(folder),
        "what may be missing": spark.read.schema("x0 double, x9 double").parquet(folder),
        "a type with rules of its own": spark.read.schema("x0 date").parquet(folder),
        "a cache of more": data.where("x0 > 0").cache(),
    }
    try:
        assert [name for name, other in others.items() if by_tasks(other)] == []
    finally:
        others["a cache of more"].unpersist()
    assert by_tasks(spark.read.schema("label string, x0 double").parquet(folder))  # as the files have them
    spark.conf.set("spark.deciban.files", "false")
    try:
        assert not by_tasks(spark.read.parquet(folder))
    finally:
        spark.conf.unset("spark.deciban.files")


def test_what_spark_has_cached_of_files_is_read_from_them_while_they_are_the_same(spark, folder):
    data = spark.read.parquet(folder).cache()
    try:
        assert data.count() == rows(data)
        assert by_tasks(data)
        assert by_tasks(data.select("label", "x0"))
        before = rows(data)
        (Path(folder) / "part-00.parquet").unlink()
        assert not by_tasks(data)
        assert rows(data) == before  # of the cache
    finally:
        data.unpersist()


def test_files_that_could_be_read_otherwise_are_left_to_spark(spark, tmp_path):
    def written(name, *tables):
        (tmp_path / name).mkdir()
        for i, table in enumerate(tables):
            parquet.write_table(table, tmp_path / name / f"{i}.parquet")
        return spark.read.parquet(str(tmp_path / name))

    wide, narrow = pa.array([1, 2]), pa.array([3, 4], pa.int32())
    clear, veiled = pa.array([1.0, None]), pa.array([[1.0], [2.0]])
    assert by_tasks(written("texts", pa.table({"a": pa.array(["x", None]).dictionary_encode(), "b": [True, None]})))
    assert by_tasks(written("long texts", pa.table({"a": pa.array(["x", "y"], pa.large_string())})))
    assert by_tasks(written("dots", pa.table({"a.b": clear, "a": clear})))
    assert by_tasks(written("beside", pa.table({"a": clear, "b": veiled})), "a")
    assert not by_tasks(written("lists", pa.table({"a": clear, "b": veiled})))
    assert not by_tasks(written("widths", pa.table({"a": wide}), pa.table({"a": narrow})))
    assert not by_tasks(written("lacks", pa.table({"a": wide, "b": wide}), pa.table({"a": wide})))
    assert not by_tasks(written("unsigned", pa.table({"a": pa.array([1], pa.uint8())})))
    assert not by_tasks(written("times", pa.table({"a": pa.array([1], pa.timestamp("us"))})))
    assert not by_tasks(written("nothing", pa.table({"a": pa.nulls(2), "b": wide})))
    parts = written("parts", pa.table({"a": wide}))
    parts.selectExpr("a", "a as key").write.partitionBy("key").parquet(str(tmp_path / "keys"))
    assert not by_tasks(spark.read.parquet(str(tmp_path / "keys")))
    assert not by_tasks(spark.read.parquet(str(tmp_path / "keys")), "a")


def test_what_is_left_to_spark_is_learned_like_the_same_rows_in_memory(spark, tmp_path):
    pieces = clusters.cut(clusters.made(n=90), 2)
    lacking = [pieces[0], pieces[1].drop(columns="x1")]
    for i, piece in enumerate(lacking):
        piece.to_parquet(tmp_path / f"{i}.parquet", index=False)
    data = spark.read.option("mergeSchema", "true").parquet(str(tmp_path))
    assert not by_tasks(data)
    want = clusters.fitted(deciban.GaussianNB(), [pd.concat(lacking)])
    assert_alike(clusters.fitted(deciban.GaussianNB(), data), want)


def test_files_of_other_orders_of_columns_and_odd_ones_are_learned(spark, tmp_path):
    pieces = clusters.cut(clusters.made(), 3)
    pieces = [pieces[0], pieces[1][pieces[1].columns[::-1]], pieces[2].iloc[:0], pieces[2].assign(x1=np.nan)]
    (tmp_path / "turned").mkdir()
    for i, piece in enumerate(pieces):
        piece.to_parquet(tmp_path / "turned" / f"{i}.parquet", index=False)
    data = spark.read.parquet(str(tmp_path / "turned"))
    assert by_tasks(data)
    got = clusters.fitted(deciban.GaussianNB(), data)
    clusters.assert_same_fit(got, clusters.fitted(deciban.GaussianNB(), str(tmp_path / "turned")))

    def spread(pieces):
        odd = spark.read.parquet(clusters.parquet_folder(tmp_path / "odd", pieces))
        assert by_tasks(odd)
        return odd

    clusters.assert_odd_pieces_are_learned(spread)


def test_files_that_changed_since_spark_listed_them_are_left_to_it(spark, folder):
    data = spark.read.parquet(folder)
    assert by_tasks(data)
    clusters.made(n=7).to_parquet(f"{folder}/part-03.parquet", index=False)
    assert not by_tasks(data)
    assert by_tasks(spark.read.parquet(folder))


def test_what_tasks_cannot_open_is_read_by_spark_after_all(spark, folder, monkeypatch, capfd):
    found = spark_files.pieces_of

    def elsewhere(frame, columns):
        pieces = found(frame, columns)
        gone = ("/nowhere/part.parquet", 1, 1)
        return replace(pieces, files=(*pieces.files[:-1], gone))

    monkeypatch.setattr(spark_files, "pieces_of", elsewhere)
    data = spark.read.parquet(folder)
    got = clusters.fitted(deciban.GaussianNB(), data)
    assert_alike(got, clusters.fitted(deciban.GaussianNB(), folder))
    with engine.kept(data, ["x0", "label"]) as held:
        assert rows(held) == rows(held) == 200
        assert held.pieces is None
    assert "at org.apache.spark" not in capfd.readouterr().err


def test_poison_in_a_file_is_told_once_by_its_row_among_all(spark, tmp_path, capfd):
    data = spark.read.parquet(clusters.parquet_folder(tmp_path / "rows", clusters.poisoned()))
    for model in (deciban.GaussianNB(), deciban.LogisticRegression()):
        with pytest.raises(DataError, match=r"row 127, column `x2`") as caught:
            clusters.fitted(model, data)
        assert "partition" not in str(caught.value)
        assert caught.value.__cause__ is None
    assert "at org.apache.spark" not in capfd.readouterr().err


def test_killed_worker_reads_its_pieces_again(spark, folder, tmp_path):
    dies = clusters.dies_once(tmp_path / "killed")

    def f(batch):
        dies(2)
        return batch.num_rows

    assert engine.total(spark.read.parquet(folder), f) == 200
    assert "pyspark" in (tmp_path / "killed").read_text()
