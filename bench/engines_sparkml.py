"""Spark ML's fits of a frame, as `bench.engines` races them, and the session that both sides use.

Columns are put into vectors by Spark ML's own assembler, texts are cut into words and counted by its own transformers.
"""

from __future__ import annotations

import warnings
from typing import Any

from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression, NaiveBayes
from pyspark.ml.feature import CountVectorizer, Tokenizer, VectorAssembler
from pyspark.sql import SparkSession

from bench.engines_data import NAMES


def session() -> SparkSession:
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    settings = {
        "driver.memory": "6g",
        "driver.host": "127.0.0.1",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
        "log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def gaussian(frame: Any) -> Any:
    return _fitted(frame, VectorAssembler(inputCols=NAMES, outputCol="features"), NaiveBayes(modelType="gaussian"))


def logistic(frame: Any, C: float, rows: int) -> Any:
    """Its penalty is by the mean loss."""
    assembler = VectorAssembler(inputCols=NAMES, outputCol="features")
    return _fitted(frame, assembler, LogisticRegression(regParam=1.0 / (C * rows), standardization=False))


def texts(frame: Any) -> Any:
    words = Tokenizer(inputCol="text", outputCol="words")
    counts = CountVectorizer(inputCol="words", outputCol="features")
    return _fitted(frame, words, counts, NaiveBayes(modelType="multinomial"))


def _fitted(frame: Any, *stages: Any) -> Any:
    return Pipeline(stages=list(stages)).fit(frame).stages[-1]
