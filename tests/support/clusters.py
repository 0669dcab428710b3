"""Spark sessions, frames of Dask and Spark whose partitions are given pieces, and laws that fits on both obey.

A test gives `spread(pieces, before)`: the pieces, frames of pandas, as partitions of an engine's own frame, where
`before(i)` is called by the worker that is about to make piece i.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.base import clone

import deciban
from deciban.errors import DataError

from .compare import arrays, assert_close, assert_same_bits
from .data import SHARED, shared_path
from .models import CLASSES, rows_for

NEEDED = "Spark needs Java 17 and PySpark: apt-get install openjdk-17-jre-headless; pip install 'deciban[spark]'"
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "4",
}
quiet_spark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of py4j
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]
Spread = Callable[..., Any]
EVERY = [model() for model in CLASSES if model is not deciban.TextClassifier]
every_model = pytest.mark.parametrize("model", EVERY, ids=lambda model: type(model).__name__)
REAL: dict[str, tuple[str, list]] = {
    "adult": ("income", [deciban.MixedNB()]),
    "letter": (
        "lettr",
        [
            deciban.GaussianNB(),
            deciban.LinearDiscriminantAnalysis(),
            deciban.CategoricalNB(),
            deciban.MultinomialNB(),
        ],
    ),
    "mnist": ("digit", [deciban.GaussianNB(), deciban.BernoulliNB(binarize=127.5)]),
    "newsgroups20": ("label", [deciban.TextClassifier()]),
}
WORDS = ("letters", "start", "label", "count", "rows", "n")  # of a tally of texts


def spark_session(master: str, **settings: str) -> Any:
    """A running session of this master; the test is skipped where there can be none."""
    sql = pytest.importorskip("pyspark.sql", reason=NEEDED)
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip(NEEDED)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = sql.SparkSession.getActiveSession()
    if running is not None and running.sparkContext.master != master:
        running.stop()  # a process has one at a time
    builder = sql.SparkSession.builder.master(master).appName("deciban tests")
    for name, value in {**LOCAL, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def spark_frame(spark: Any, pieces: list, before: Any = None) -> Any:
    """A Spark frame with piece i as partition i."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tables = tables_of_one_schema(pieces)

    def made(batches: Any) -> Any:
        for batch in batches:
            for i in batch.column(0).to_pylist():
                if before is not None:
                    before(i)
                yield from tables[i].to_batches()

    rows = spark.range(0, len(tables), 1, len(tables))
    return rows.mapInArrow(made, from_arrow_schema(tables[0].schema))


def parquet_folder(folder: Path, pieces: list) -> str:
    """A folder with piece i as the file i of Parquet."""
    folder.mkdir()
    for i, table in enumerate(tables_of_one_schema(pieces)):
        parquet.write_table(table, folder / f"part-{i:02}.parquet")
    return str(folder)


def tables_of_one_schema(pieces: list) -> list[pa.Table]:
    tables = [pa.Table.from_pandas(piece, preserve_index=False) for piece in pieces]
    schema = pa.unify_schemas([table.schema.remove_metadata() for table in tables], promote_options="permissive")
    return [table.cast(schema).combine_chunks() for table in tables]


def dask_frame(pieces: list, before: Any = None, meta: pd.DataFrame | None = None) -> Any:
    """A Dask frame with piece i as partition i."""
    import dask.dataframe as dd

    def piece(i: int) -> pd.DataFrame:
        if before is not None:
            before(i)
        return pieces[i]

    meta = pieces[0].iloc[:0] if meta is None else meta
    return dd.from_map(piece, range(len(pieces)), meta=meta, enforce_metadata=False)


def made(model: Any = None, n: int = 200) -> pd.DataFrame:
    """Rows that the model can learn from."""
    X, y = rows_for(model or deciban.GaussianNB(), n)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(label=y)


CODED = [
    deciban.GaussianNB(),
    deciban.BernoulliNB(),
    deciban.CategoricalNB(),
    deciban.LinearDiscriminantAnalysis(),
    deciban.FisherDiscriminant(),
    deciban.LogisticRegression(tol=1e-8),
]
every_coded_model = pytest.mark.parametrize("model", CODED, ids=lambda model: type(model).__name__)


def assert_coded_as_in_memory(model: Any, spread: Any) -> None:
    """Columns of categories, truth values and dates, with missing cells, are coded as `fit` codes those of a frame."""
    rng, n = np.random.default_rng(0), 240
    y = rng.integers(0, 2, n)
    days = rng.integers(0, 60, n) * 7 + np.where(y == 1, 5, rng.integers(0, 7, n))
    frame = pd.DataFrame(
        {
            "port": pd.Series(rng.choice(["S", "C", "Q"], n)).where(rng.random(n) < 0.9),
            "rich": rng.random(n) < 0.4,
            "age": rng.normal(40 + 3 * y, 9),
            "when": (pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")).astype("datetime64[us]"),
            "label": np.array(["no", "yes"])[y],
        }
    )
    asked = frame.drop(columns="label")
    told = clone(model).fit(asked, frame["label"])
    found = clone(model).fit_on(spread(cut(frame, 4)))
    assert found._posterior().reader.coding.labels == told._posterior().reader.coding.labels
    np.testing.assert_allclose(found.predict_proba(asked), told.predict_proba(asked), rtol=1e-6)


def real(name: str) -> pd.DataFrame:
    shared_path(name)
    return {"mnist": _digits, "newsgroups20": _posts}.get(name, _rows)(name)


def _rows(name: str) -> pd.DataFrame:
    path = SHARED / name / f"{name}.csv.gz"
    return pd.read_csv(path, keep_default_na=False, na_values=[""]).drop(columns="split")


def _digits(name: str, n: int = 1500) -> pd.DataFrame:
    with gzip.open(SHARED / name / "t10k-images-idx3-ubyte.gz") as images:
        pixels = np.frombuffer(images.read(16 + 784 * n), dtype=np.uint8, offset=16).reshape(n, 784)
    with gzip.open(SHARED / name / "t10k-labels-idx1-ubyte.gz") as labels:
        digits = np.frombuffer(labels.read(8 + n), dtype=np.uint8, offset=8)
    names = [f"p{j}" for j in range(784)]
    return pd.DataFrame(pixels.astype(np.int64), columns=names).assign(digit=digits.astype(np.int64))


def _posts(name: str, n: int = 1200) -> pd.DataFrame:
    """Of the first groups: a piece lacks most of them."""
    with lzma.open(SHARED / name / f"{name}_bydate.jsonl.xz", "rt") as lines:
        return pd.DataFrame(map(json.loads, islice(lines, n)))[["text", "label"]]


def cut(frame: pd.DataFrame, pieces: int) -> list[pd.DataFrame]:
    borders = [len(frame) * i // pieces for i in range(pieces + 1)]
    return [frame.iloc[a:b] for a, b in pairwise(borders)]


def fitted(model: Any, data: Any, target: str = "label") -> Any:
    return clone(model).fit_on(data, target=target)


def assert_same_fit(got: Any, want: Any, bits: bool = True) -> None:
    assert got.classes_.tolist() == want.classes_.tolist()
    assert getattr(got, "levels_", None) == getattr(want, "levels_", None)
    if isinstance(want, deciban.TextClassifier):
        for name in WORDS:
            np.testing.assert_array_equal(getattr(got._words, name), getattr(want._words, name))
        return
    if bits:
        assert_same_bits(got.tally_, want.tally_)
        return
    for a, b in zip(got.tally_.parts, want.tally_.parts, strict=True):
        assert_close(a, b) if not hasattr(a, "parts") else _near(a, b)


def _near(a: Any, b: Any) -> None:
    a, b = arrays(a), arrays(b)
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-11, atol=1e-11, err_msg=name)


EXACT = [
    deciban.LinearDiscriminantAnalysis(exact=True),
    deciban.QuadraticDiscriminantAnalysis(exact=True),
    deciban.RegularizedDiscriminantAnalysis(exact=True),
    deciban.FisherDiscriminant(exact=True),
]
NUMERIC = {"iris": "species", "pima": "diabetes"}  # shared tables, and their targets


def assert_one_fingerprint(name: str, target: str, spread: Spread) -> None:
    """Fits in memory, in batches and on a cluster, updates and merges give discriminants of one fingerprint."""
    file = next(shared_path(name).glob(f"{name}.csv*"))
    frame = pd.read_csv(file).drop(columns="split", errors="ignore").sample(frac=1.0, random_state=0)
    pieces = cut(frame, 3)
    rows = [(piece.drop(columns=target), piece[target]) for piece in pieces]
    for model in EXACT:
        grown = clone(model)
        for X, y in rows:
            grown.partial_fit(X, y)
        parts = [clone(model).fit(X, y) for X, y in rows]
        made = {
            "fit": clone(model).fit(frame.drop(columns=target), frame[target]),
            "fit_on batches": fitted(model, pieces, target),
            "fit_on a cluster": fitted(model, spread(pieces), target),
            "partial_fit": grown,
            "+": parts[2] + parts[0] + parts[1],
            "merge": deciban.merge(parts),
        }
        prints = {how: deciban.model_info(deciban.dumps(one))["fingerprint"] for how, one in made.items()}
        assert len(set(prints.values())) == 1, (type(model).__name__, prints)


def assert_fits_like_the_stream(model: Any, pieces: list, spread: Spread, target="label") -> None:
    assert_same_fit(fitted(model, spread(pieces), target), fitted(model, whole_batches(pieces), target))


def whole_batches(pieces: list[pd.DataFrame]) -> list[pa.Table]:
    """Each piece as one batch: texts that pandas holds in several runs of memory would be several."""
    return [pa.Table.from_pandas(piece, preserve_index=False).combine_chunks() for piece in pieces]


def odd_pieces() -> list[pd.DataFrame]:
    """An empty one, one without a class, one with a level of its own, one without a value in a column."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "count": rng.integers(0, 9, 60),
            "sky": rng.choice(["grey", "blue"], 60),
            "label": rng.choice(["rain", "sun"], 60),
        }
    )
    parts = [frame.iloc[:20], frame.iloc[:0], frame.iloc[20:40], frame.iloc[40:]]
    parts[0] = parts[0].assign(label="sun")
    parts[2] = parts[2].assign(sky=["red", *parts[2].sky[1:]], size=np.nan)
    parts[3] = parts[3].assign(label=["fog", *parts[3].label[1:]], sky=None)
    return parts


def assert_odd_pieces_are_learned(spread: Spread) -> None:
    pieces = odd_pieces()
    got = fitted(deciban.MixedNB(), spread(pieces))
    assert got.classes_.tolist() == ["fog", "rain", "sun"]
    assert got.levels_["sky"] == ["blue", "grey", "red"]
    assert_same_fit(got, fitted(deciban.MixedNB(), [pd.concat(pieces)]), bits=False)


def poisoned() -> list[pd.DataFrame]:
    """Pieces of which the fourth has an infinite cell."""
    pieces = cut(made(), 5)
    pieces[3] = pieces[3].copy()
    pieces[3].iloc[7, 2] = np.inf
    return pieces


def assert_poison_is_told_once(spread: Spread) -> None:
    with pytest.raises(DataError) as caught:
        fitted(deciban.GaussianNB(), spread(poisoned()))
    text = str(caught.value)
    assert "row 7 of partition 3, column `x2`" in text
    assert "hint:" in text
    assert len(text.splitlines()) < 6
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def dies_once(marker: Path, up: int = 0) -> Callable[[int], None]:
    """Kills the worker that makes piece 2, the first time; `up` processes above it."""
    path = str(marker)

    def before(i: int) -> None:
        if i != 2 or os.path.exists(path):
            return
        victim = os.getpid()
        for _ in range(up):
            with open(f"/proc/{victim}/stat") as stat:
                victim = int(stat.read().rpartition(")")[2].split()[1])
        with open(f"/proc/{victim}/cmdline") as command, open(path, "w") as out:
            out.write(command.read().replace("\0", " "))
        os.kill(victim, signal.SIGKILL)
        time.sleep(30)  # until the kill comes down to this process

    return before


def assert_a_killed_worker_changes_nothing(spread: Spread, marker: Path, up: int = 0) -> str:
    """What the killed process was."""
    pieces = cut(made(), 5)
    got = fitted(deciban.GaussianNB(), spread(pieces, dies_once(marker, up)))
    assert marker.exists()
    assert_same_fit(got, fitted(deciban.GaussianNB(), pieces))
    return marker.read_text()


SEVERAL_PASSES = [
    deciban.LogisticRegression(),
    deciban.LinearDiscriminantAnalysis(),  # whose rows miss cells: EM
    deciban.GaussianNB(weights="discriminative"),
]
several_passes = pytest.mark.parametrize("model", SEVERAL_PASSES, ids=lambda model: type(model).__name__)


def assert_several_passes_end_where_the_stream_does(model: Any, spread: Spread) -> None:
    frame = made(n=300)
    if isinstance(model, deciban.LinearDiscriminantAnalysis):
        frame.loc[::7, "x0"] = np.nan
    got, want = (clone(model).fit_on(data) for data in (spread([*cut(frame, 4), frame.iloc[:0]]), cut(frame, 3)))
    if isinstance(model, deciban.LogisticRegression):
        np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-8)
    assert got.n_iter_ == want.n_iter_
    rows = frame.drop(columns="label")
    np.testing.assert_allclose(got.predict_proba(rows), want.predict_proba(rows), atol=1e-8)
