"""Fits on Spark, two tasks at a time: the bits of the stream, whatever happens to the Python workers."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban.engines import spark as engine
from deciban.errors import DataError

from .support import clusters

pytestmark = clusters.quiet_spark


@pytest.fixture
def spread(spark):
    return partial(clusters.spark_frame, spark)


@clusters.every_model
def test_spark_has_the_bits_of_the_stream(model, spread):
    clusters.assert_fits_like_the_stream(model, clusters.cut(clusters.made(model), 3), spread)


@pytest.mark.parametrize("name", ["adult", "letter", "newsgroups20"])  # mnist: by its file
def test_spark_has_the_bits_of_the_stream_on_real_tables(name, spread):
    target, models = clusters.REAL[name]
    pieces = clusters.cut(clusters.real(name), 4)
    for model in models:
        clusters.assert_fits_like_the_stream(model, pieces, spread, target)


def test_exact_discriminants_have_one_fingerprint_however_they_were_made(spread):
    clusters.assert_one_fingerprint("pima", clusters.NUMERIC["pima"], spread)


@clusters.every_coded_model
def test_columns_are_coded_as_in_memory(model, spread):
    clusters.assert_coded_as_in_memory(model, spread)


@clusters.several_passes
def test_several_passes_end_where_the_stream_does(model, spread):
    clusters.assert_several_passes_end_where_the_stream_does(model, spread)


def test_large_sums_are_added_by_a_tree_with_the_bits_of_the_driver(spread, monkeypatch):
    data = spread(clusters.cut(clusters.made(), 18))
    fit = partial(clusters.fitted, deciban.LinearDiscriminantAnalysis(), data)
    at_once = fit()
    monkeypatch.setattr(engine, "AT_ONCE", 0)
    monkeypatch.setattr(engine, "TOGETHER", 0)
    clusters.assert_same_fit(fit(), at_once)


def test_length_of_batches_changes_no_bit(spark, spread):
    data = spread(clusters.cut(clusters.made(), 3))
    want = clusters.fitted(deciban.GaussianNB(), data)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    try:
        clusters.assert_same_fit(clusters.fitted(deciban.GaussianNB(), data), want)
        assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "7"
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_odd_partitions_are_learned(spread):
    clusters.assert_odd_pieces_are_learned(spread)


def test_order_of_columns_and_widths_of_whole_numbers_may_differ(spread):
    pieces = clusters.cut(clusters.made(deciban.CategoricalNB()), 2)
    wide, narrow = spread(pieces[:1]), spread([pieces[1][pieces[1].columns[::-1]].astype({"x0": np.int8})])
    got = clusters.fitted(deciban.CategoricalNB(), wide.unionByName(narrow))
    clusters.assert_same_fit(got, clusters.fitted(deciban.CategoricalNB(), pieces))


def test_column_whose_name_has_a_dot_is_read_and_answered(spread):
    data = spread([clusters.made().rename(columns={"x1": "a.b"})])
    model = clusters.fitted(deciban.GaussianNB(), data)
    assert model.feature_names_in_.tolist() == ["x0", "a.b", "x2", "x3"]
    assert model.predict_on(data).columns[1] == "a.b"


def test_workers_on_this_machine_run_this_python(spark, monkeypatch):
    data = spark.createDataFrame(clusters.made())
    monkeypatch.delenv("PYSPARK_PYTHON")
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "a-python-that-is-not-there")
    assert clusters.fitted(deciban.GaussianNB(), data).class_count_.sum() == 200


def test_poison_row_is_told_once(spread, capfd):
    clusters.assert_poison_is_told_once(spread)
    assert "at org.apache.spark" not in capfd.readouterr().err


def test_killed_python_worker_changes_nothing(spread, tmp_path):
    assert "pyspark" in clusters.assert_a_killed_worker_changes_nothing(spread, tmp_path / "killed")


def test_data_are_kept_between_passes(spread, tmp_path):
    log = str(tmp_path / "made")

    def before(i: int) -> None:
        with open(log, "a") as out:
            out.write(f"{i}\n")

    data = spread(clusters.cut(clusters.made(), 3), before)
    with engine.kept(data) as held:
        for _ in range(2):
            assert engine.total(held, lambda batch: batch.num_rows) == 200
    assert sorted((tmp_path / "made").read_text().split()) == ["0", "1", "2"]
    assert not data.storageLevel.useMemory


def test_only_the_columns_that_passes_need_are_kept(spread):
    with engine.kept(spread(clusters.cut(clusters.made(), 2)), ("x1", "label")) as held:
        assert engine.total(held, lambda batch: batch.num_columns) == 4  # two of each partition


def test_answers_are_a_lazy_frame(spread):
    frame = clusters.made()
    data = spread(clusters.cut(frame, 2))
    model = clusters.fitted(deciban.GaussianNB(), data)
    answers = model.predict_on(data)
    assert engine.takes(answers)
    assert answers.columns == [*frame.columns, "predicted", "p_a", "p_b", "p_c"]
    got = answers.toArrow().to_pandas()
    X = frame.drop(columns="label")
    assert got.predicted.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(got[["p_a", "p_b", "p_c"]], model.predict_proba(X), rtol=0, atol=1e-12)


def test_sums_come_in_the_order_of_the_partitions(spread):
    """Strings do not commute."""
    frames = [pd.DataFrame({"a": [chr(97 + i)]}) for i in range(18)]
    assert engine.total(spread(frames), lambda batch: batch.column(0)[0].as_py()) == "abcdefghijklmnopqr"


def test_only_the_columns_that_are_asked_for_are_read(spread):
    assert engine.total(spread([clusters.made()]), lambda batch: batch.num_columns, columns=("x1", "label")) == 2


def test_other_data_and_a_missing_package_are_told(monkeypatch):
    with pytest.raises(DataError, match=r"createDataFrame"):
        deciban.GaussianNB().fit_on(clusters.made(), engine="spark")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'deciban\[spark\]'"):
        deciban.GaussianNB().fit_on(clusters.made(), engine="spark")
