"""Labels that are missing, y as the name of a column (task 15), lazy tables (task 108), names of columns (task 17)."""

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import AODE, GaussianNB, LogisticRegression, MixedNB, TreeAugmentedNB
from deciban.errors import DataError

MODELS = [MixedNB, TreeAugmentedNB, GaussianNB, LogisticRegression]
LABELS = {
    "list": [None, "a", "b"] * 8,
    "floats": np.array([np.nan, 1.0, 2.0] * 8),
    "series": pd.Series([None, "a", "b"] * 8),
    "nullable": pd.Series([None, 1, 2] * 8, dtype="Int64"),
    "category": pd.Series(pd.Categorical([None, "a", "b"] * 8)),
    "numbers": [None, 1.0, 2.0] * 8,
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", LABELS)
def test_task_15_missing_labels_are_named(model, kind):
    X = np.random.default_rng(0).normal(size=(24, 2))
    with pytest.raises(DataError, match="rows 0, 3, 6, 9, 12 and 3 more") as told:
        model().fit(X, LABELS[kind])
    assert "y contains NaN" in str(told.value)
    assert "hint:" in str(told.value)


@pytest.mark.parametrize("model", [*MODELS, AODE])
def test_task_15_y_may_name_a_column(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=60), "bought": rng.choice(["no", "yes"], 60)})
    fitted, apart = model().fit(X, "bought"), model().fit(X.drop(columns="bought"), X["bought"])
    assert fitted.feature_names_in_.tolist() == ["x", "z"]
    cells = X[["x", "z"]]
    np.testing.assert_array_equal(fitted.predict_proba(cells), apart.predict_proba(cells))
    with pytest.raises(DataError, match=r"(?s)no column `bougth`.*did you mean `bought`"):
        model().fit(X, "bougth")
    with pytest.raises(DataError, match="y is the text 'bought', but X has no column names"):
        model().fit(X[["x"]].to_numpy(), "bought")


@pytest.mark.parametrize("model", [MixedNB, TreeAugmentedNB])
def test_task_15_the_target_in_rows_to_predict_is_passed_over(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "bought": rng.choice(["no", "yes"], 60)})
    for fitted in (model(columns="strict").fit(X, "bought"), model().fit(X[["x"]], X["bought"])):
        np.testing.assert_array_equal(fitted.predict_proba(X), fitted.predict_proba(X[["x"]]))


def test_task_15_other_frames_and_updates():
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    cells = {"x": [1.0, 2.0, 3.0, 4.0], "sky": list("uvuv"), "y": list("abab")}
    for frame in (polars.DataFrame(cells), pa.table(cells)):
        model = MixedNB().fit(frame, "y").partial_fit(frame, "y").forget(frame, "y")
        assert model.classes_.tolist() == ["a", "b"]
        assert model.class_count_.tolist() == [2, 2]
        assert model.leave_one_out(frame, "y").shape == (4, 2)


@pytest.mark.parametrize("name", ["mixed", "logistic"])
def test_task_105_what_is_learned_knows_the_name_of_the_target(name):
    X, y = pd.DataFrame({"a": [0.0, 1, 4, 5] * 5}), pd.Series(["no", "no", "yes", "yes"] * 5, name="buys")
    assert deciban.auto_fit(X, y, name).model.explain(X[:1]).target == "buys"
    assert deciban.auto_fit(X.assign(buys=y), "buys", name).model.target_name_ == "buys"
    assert not hasattr(deciban.auto_fit(X, y.to_numpy(), name).model, "target_name_")


def test_task_15_learn_and_cross_validate_take_it_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "bought": rng.choice(["no", "yes"], 60)})
    out = deciban.auto_fit(X, "bought", "mixed")
    assert out.model.feature_names_in_.tolist() == ["x"]
    assert len(deciban.cross_validate(MixedNB(), X, "bought", folds=3).y) == 60


class DuckDBPyRelation:
    """Stands for DuckDB's, which need not be installed here."""


DuckDBPyRelation.__module__ = "_duckdb"


@pytest.mark.parametrize("model", [MixedNB, TreeAugmentedNB])
def test_task_108_lazy_tables_have_a_hint(model):
    with pytest.raises(DataError, match=r"DuckDBPyRelation.*(?s:.)*fit_on"):
        model().fit(DuckDBPyRelation(), ["a", "b"])
    polars = pytest.importorskip("polars")
    with pytest.raises(DataError, match=r"lazy frame.*(?s:.)*`X.collect\(\)`.*fit_on"):
        model().fit(polars.LazyFrame({"x": [1.0, 2.0]}), ["a", "b"])


@pytest.mark.parametrize("model", [LogisticRegression, GaussianNB, MixedNB])
@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([2020, 2021], ["2020", "2021"]),
        ([0, 1], ["0", "1"]),
        (pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]), ["('a', 'b')", "('a', 'c')"]),
    ],
)
def test_task_17_names_are_shown_as_they_are(model, names, shown, tmp_path):
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(60, 2))
    y = (cells[:, 0] + rng.normal(size=60) > 0).astype(int)
    fitted = model().fit(pd.DataFrame(cells, columns=names), y)
    deciban.save(fitted, tmp_path / "m")
    for one in (fitted, deciban.load(tmp_path / "m")):
        text = str(one.explain(pd.DataFrame(cells[:1], columns=names)))
        assert all(name in text for name in shown)
        assert "x0" not in text
    if model is LogisticRegression:
        assert all(name in str(fitted.summary()) for name in shown)
    fitted.fit(cells, y)
    assert "x0" in str(fitted.explain(cells[:1]))
