"""Explanations: as JSON, as frames of the library that was asked with, with the names that users gave."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deciban
from deciban import (
    BayesOptimal,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    TextClassifier,
    TreeAugmentedNB,
)

from ..support.models import MODELS, fitted, rows_for

X = pd.DataFrame(
    {"sky": ["grey", "blue", "grey", None, "blue", "grey"], "wind": [3.0, 1.0, None, 0.5, 0.25, 2.0]},
    index=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
)
Y = pd.Series(["rain", "sun", "rain", "sun", "sun", "rain"], index=X.index, name="weather")
NUMBERS = X[["wind"]].fillna(1.0).assign(other=[1.0, 2, 3, 1, 2, 4])
PARTS = [GaussianNB(), LogisticRegression(), LinearDiscriminantAnalysis(), TreeAugmentedNB()]
EVERY = [MixedNB(alpha=1), *PARTS, BayesOptimal([GaussianNB(), MixedNB(alpha=1)], weights=[0.5, 0.5])]


@pytest.mark.parametrize("model", [*MODELS, LogisticRegression(), TextClassifier()], ids=repr)
def test_task_77_to_dict_is_json_and_says_what_the_explanation_says(model):
    x, y = rows_for(model, n=30)
    why = fitted(model, x, y).explain(x[:4])
    told = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert told["classes"] == ["a", "b", "c"]
    assert len(told["rows"]) == 4
    for i, row in enumerate(told["rows"]):
        assert row["row"] == i
        assert (row["of"], row["against"]) == (why.classes[why.chosen[i]], why.classes[why.rival[i]])
        evidence = sum(float(cell["decibans"]) for cell in row["columns"].values())
        assert float(row[told["start"]]) + evidence == pytest.approx(float(row["total"]), abs=1e-6)
        assert row["probability"] == pytest.approx(why.probability[i])


def test_task_77_certainty_is_json_too():
    why = CategoricalNB(alpha=0).fit([[0], [1], [1]], ["a", "b", "b"]).explain([[0]])
    (row,) = json.loads(json.dumps(why.to_dict(), allow_nan=False))["rows"]
    assert (row["of"], row["columns"]["x0"]["decibans"], row["total"]) == ("a", "inf", "inf")


def test_task_77_missing_cells_and_foreign_labels():
    index = pd.MultiIndex.from_tuples([("Mon", 1), ("Tue", 2)])
    why = MixedNB(alpha=1).fit(X, Y).explain(X[2:4].set_axis(index))
    first, second = why.to_dict()["rows"]
    assert (first["row"], first["columns"]["wind"]["value"]) == (["Mon", 1], None)
    assert second["columns"]["sky"]["value"] is None
    days = pd.date_range("2020", periods=2)
    assert MixedNB(alpha=1).fit(X, Y).explain(X[:2].set_axis(days)).to_dict()["rows"][0]["row"].startswith("2020-01-01")


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_f20_rows_have_the_labels_of_the_index(model):
    rows = NUMBERS if isinstance(model, BayesOptimal | type(PARTS[0]) | type(PARTS[1]) | type(PARTS[2])) else X
    why = fitted(model, rows, Y).explain(rows[3:5])
    assert why.rows.tolist() == ["Thu", "Fri"]
    assert why[1].rows.tolist() == ["Fri"]
    assert str(why).startswith("row Thu: weather = ")
    assert "P(weather = " in str(why)
    assert why.to_frame()["row"].unique().tolist() == ["Thu", "Fri"]
    assert [row["row"] for row in why.to_dict()["rows"]] == ["Thu", "Fri"]


def test_f20_texts_too():
    texts = pd.Series(["win a prize", "lunch at noon"], index=["m1", "m2"])
    model = TextClassifier().fit(texts, pd.Series(["spam", "ham"], name="kind"))
    assert str(model.explain(texts[1:])).startswith("row m2: kind = ham against spam")


def test_f20_arrays_have_row_numbers():
    why = GaussianNB().fit([[1.0], [2], [5]], ["a", "a", "b"]).explain([[1.0], [4]])
    assert why.rows.tolist() == [0, 1]
    assert str(why).startswith("row 0: a against b")


def test_the_name_of_the_target_is_kept(tmp_path):
    model = MixedNB().fit(X, Y)
    assert model.target_name_ == "weather"
    assert MixedNB().fit(X.assign(weather=Y), "weather").target_name_ == "weather"
    deciban.save(model, tmp_path / "m.deciban")
    assert deciban.load(tmp_path / "m.deciban").target_name_ == "weather"
    assert not hasattr(model.fit(X, Y.to_numpy()), "target_name_")
    assert MixedNB().partial_fit(X, Y, classes=["rain", "sun"]).target_name_ == "weather"
    assert LogisticRegression().fit(NUMBERS, Y).target_name_ == "weather"
    assert MixedNB().fit(pl.from_pandas(X), pl.Series("weather", Y.to_list())).target_name_ == "weather"
    on = MixedNB().fit_on(pa.Table.from_pandas(X.assign(weather=Y), preserve_index=False), target="weather")
    assert on.target_name_ == "weather"


def test_task_19_frames_of_the_library_that_was_asked_with():
    model = MixedNB(alpha=1).fit(X, Y)
    usual = model.explain(X).to_frame()
    plain = X.reset_index(drop=True)
    for rows, kind in ((pl.from_pandas(plain), pl.DataFrame), (pa.Table.from_pandas(plain), pa.Table)):
        told = model.explain(rows).to_frame()
        assert isinstance(told, kind)
        named = told.to_dict(as_series=False) if kind is pl.DataFrame else told.to_pydict()
        assert list(named) == list(usual)
        np.testing.assert_allclose(named["decibans"], usual["decibans"])
        assert named["value"][:5] == [None, "grey", "3", None, "blue"]
    only = GaussianNB().fit(NUMBERS, Y).explain(pl.from_pandas(NUMBERS.reset_index(drop=True))).to_frame()
    assert only["value"].dtype == pl.Float64
    assert isinstance(GaussianNB().fit(NUMBERS, Y).explain(NUMBERS).to_frame(), pd.DataFrame)
