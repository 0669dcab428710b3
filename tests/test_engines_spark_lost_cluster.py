"""Fits on a Spark cluster of two executors: one is killed, then all is lost; and Connect, where its packages are."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import time

import pytest

import deciban
from deciban.errors import ClusterError

from .support import clusters

pytestmark = clusters.quiet_spark
CONNECT = """
import sys
import pandas as pd
from pyspark.sql import SparkSession
import deciban
from deciban.errors import DataError

spark = SparkSession.builder.remote("local[2]").getOrCreate()
frame = pd.DataFrame({"size": [1.0, 1.2, 3.0, 3.1], "label": list("aabb")})
data = spark.createDataFrame(frame).repartition(2)
model = deciban.GaussianNB().fit_on(data)
assert model.class_count_.tolist() == [2, 2], model.class_count_
assert abs(model.theta_ - [[1.1], [3.05]]).max() < 1e-12, model.theta_
assert deciban.LogisticRegression().fit_on(data).predict([[1.0], [3.0]]).tolist() == list("ab")
assert sorted(row.predicted for row in model.predict_on(data).collect()) == list("aabb")
try:
    deciban.GaussianNB().fit_on(spark.createDataFrame(frame.assign(size=float("inf"))))
except DataError as wrong:
    print("told:", str(wrong).splitlines()[0])
spark.stop()
"""


@pytest.fixture(autouse=True)
def python(monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)


@pytest.fixture
def spark():
    running = clusters.spark_session("local-cluster[2,1,1024]", **{"spark.executor.memory": "512m"})
    yield running
    running.stop()


def test_killed_executor_changes_nothing_and_a_lost_cluster_is_told(spark, tmp_path):
    def spread(pieces, before=None):
        return clusters.spark_frame(spark, pieces, before)

    folder = clusters.parquet_folder(tmp_path / "rows", clusters.cut(clusters.made(), 3))
    got = clusters.fitted(deciban.GaussianNB(), spark.read.parquet(folder))
    clusters.assert_same_fit(got, clusters.fitted(deciban.GaussianNB(), folder))
    killed = clusters.assert_a_killed_worker_changes_nothing(spread, tmp_path / "killed", up=2)
    assert "CoarseGrainedExecutorBackend" in killed

    def before(i: int) -> None:
        time.sleep(20)

    data = spread(clusters.cut(clusters.made(), 3), before)
    stopping = threading.Timer(1.0, spark.stop)
    stopping.start()
    with pytest.raises(ClusterError, match="lost"):
        clusters.fitted(deciban.GaussianNB(), data)
    stopping.join()
    with pytest.raises(ClusterError, match="lost"):
        clusters.fitted(deciban.GaussianNB(), data)


def test_cluster_that_gives_no_executor_is_not_waited_for_forever():
    small = {"spark.executor.memory": "512m", "spark.executor.cores": "2", "spark.deciban.patience": "2"}
    spark = clusters.spark_session("local-cluster[1,1,1024]", **small)
    try:
        with pytest.raises(ClusterError, match="no executor of Spark has taken a task for 2 seconds"):
            clusters.fitted(deciban.GaussianNB(), clusters.spark_frame(spark, clusters.cut(clusters.made(), 2)))
    finally:
        spark.stop()


@pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="Spark Connect: pip install 'deciban[spark]'")
def test_connect_fits_answers_and_tells_of_poison():
    out = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr[-2000:]
    assert "told: " in out.stdout
