"""One fingerprint for the same rows, whatever engine learned them, in however many pieces: shared numeric tables.

`DECIBAN_EXAMPLES=100` and more: all tables, on Dask and Spark too.
"""

from __future__ import annotations

import json
import warnings
from functools import cache, partial, reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import deciban
from deciban.errors import ColumnWarning

from .support import clusters
from .support.cli import output
from .support.data import shared_path
from .support.strategies import EXAMPLES

MODELS = [
    deciban.GaussianNB(),
    deciban.MixedNB(),
    deciban.PoissonNB(),
    deciban.MultinomialNB(),
    deciban.BernoulliNB(),
]
COUNTS = (deciban.PoissonNB, deciban.MultinomialNB)
SOME = ["iris", "penguins", "vowel", "letter", "spambase"]
TABLES = [
    *SOME,
    "wine",
    "breast_cancer_diagnostic",
    "breast_cancer_wisconsin",
    "pima",
    "vehicle",
    "pendigits",
    "optdigits",
    "saheart",
    "glass",
    "sonar",
    "ionosphere",
    "adult",
    "titanic",
    "heart_cleveland",
    "horse_colic",
]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
MANY = EXAMPLES >= 100
on_clusters = pytest.mark.parametrize("name", TABLES if MANY else SOME[:2])


@cache
def numbers(name: str) -> tuple[pd.DataFrame, str]:
    """The columns of numbers and the target, and the name of the target."""
    entry = next(one for one in json.loads(shared_path("manifest.json").read_text()) if one["name"] == name)
    target = entry["target"]
    path = shared_path(entry["files"][0]["path"])
    frame = pd.read_csv(path, dtype={target: str}, keep_default_na=False, na_values=[""])
    frame = frame[[*entry["numeric"], target]].dropna(subset=[target])
    return frame.sample(frac=1.0, random_state=0, ignore_index=True), target


def table_for(model: Any, name: str) -> tuple[pd.DataFrame, str]:
    """The table with the columns that the model can learn; the test is skipped where there are none."""
    frame, target = numbers(name)
    if not isinstance(model, COUNTS):
        return frame, target
    cells = frame.drop(columns=target)
    kept = [c for c in cells if cells[c].notna().all() and (cells[c] >= 0).all() and (cells[c] % 1 == 0).all()]
    if not kept:
        pytest.skip("the table has no columns of counts")
    return frame[[*kept, target]], target


def fingerprint(model: Any) -> str:
    return deciban.model_info(deciban.dumps(model))["fingerprint"]


def in_memory(model: Any, frame: pd.DataFrame, target: str) -> Any:
    return clone(model).fit(frame.drop(columns=target), frame[target])


def assert_same_fingerprint(model: Any, name: str, learned: Any) -> None:
    """`learned(model, frame, target)` gives models by the way in which they were made."""
    frame, target = table_for(model, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # of columns that are of no use
        want = fingerprint(in_memory(model, frame, target))
        got = {way: fingerprint(made) for way, made in learned(clone(model), frame, target).items()}
    assert got == dict.fromkeys(got, want)


@every_model
@pytest.mark.parametrize("name", TABLES if MANY else SOME)
def test_order_pieces_streams_and_merges_leave_no_trace(model, name, tmp_path, capfd):
    def learned(model: Any, frame: pd.DataFrame, target: str) -> dict[str, Any]:
        pieces = clusters.cut(frame, 5)
        updated = in_memory(model, pieces[3], target)
        for i in (0, 4, 2, 1):
            updated.partial_fit(pieces[i].drop(columns=target), pieces[i][target])
        parts = [in_memory(model, piece, target) for piece in pieces]
        for i, part in enumerate(parts):
            deciban.save(part, tmp_path / f"{i}.deciban")
        files = " ".join(str(tmp_path / f"{i}.deciban") for i in (2, 0, 4, 1, 3))
        output(f"deciban merge {files} -o {tmp_path / 'all.deciban'}".removeprefix("deciban "), capfd)
        forgot = in_memory(model, pd.concat([frame, pieces[1]]), target)
        return {
            "order": in_memory(model, frame.sample(frac=1.0, random_state=1), target),
            "partial_fit": updated,
            "+": reduce(add, parts),
            "deciban merge": deciban.load(tmp_path / "all.deciban"),
            "stream": clone(model).fit_on(clusters.whole_batches(pieces), target=target),
            "forget": forgot.forget(pieces[1].drop(columns=target), pieces[1][target]),
        }

    assert_same_fingerprint(model, name, learned)


def on_cluster(spread: Any, model: Any, frame: pd.DataFrame, target: str) -> dict[str, Any]:
    return {
        f"{pieces} partitions": clone(model).fit_on(spread(clusters.cut(frame, pieces)), target=target)
        for pieces in (1, 4)
    }


@every_model
@on_clusters
def test_dask_has_the_fingerprint_of_memory(model, name):
    dask = pytest.importorskip("dask", reason="pip install 'deciban[dask]'")
    pytest.importorskip("dask.dataframe", reason="pip install 'deciban[dask]'")
    with dask.config.set(scheduler="synchronous"):
        assert_same_fingerprint(model, name, partial(on_cluster, clusters.dask_frame))


@every_model
@on_clusters
def test_spark_has_the_fingerprint_of_memory(model, name, spark):
    if name == "vehicle":
        pytest.skip("Spark takes Sc.Var.Maxis and Sc.Var.maxis for one column")
    assert_same_fingerprint(model, name, partial(on_cluster, partial(clusters.spark_frame, spark)))


for _quiet in clusters.quiet_spark:
    test_spark_has_the_fingerprint_of_memory = _quiet(test_spark_has_the_fingerprint_of_memory)


def test_another_row_has_another_fingerprint():
    frame, target = numbers("iris")
    changed = frame.copy()
    changed.iloc[0, 0] = np.nextafter(changed.iloc[0, 0], 9.0)
    assert fingerprint(in_memory(MODELS[0], frame, target)) != fingerprint(in_memory(MODELS[0], changed, target))
