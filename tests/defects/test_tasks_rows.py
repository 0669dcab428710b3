"""Tasks of new users: rows and labels as they have them, in every function that takes both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import deciban
from deciban import (
    AODE,
    BayesOptimal,
    BernoulliNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    TreeAugmentedNB,
)
from deciban.cli import main
from deciban.errors import DataError
from deciban.reports.data import collect

TABLE = pd.DataFrame({"x": np.arange(60.0) % 7, "c": list("uvw") * 20, "label": ["a", "b"] * 30})
NUMBERS = pd.DataFrame({"x": np.arange(30.0) % 7, "z": np.arange(30.0) % 4, "label": ["a", "b", "b"] * 10})
ROWS, LABELS = TABLE[["x", "c"]], TABLE["label"].to_numpy()
MODELS = [AODE(), BernoulliNB(), GaussianNB(), LinearDiscriminantAnalysis(), LogisticRegression(), MixedNB()]


def test_task_007_014_what_was_learned_prints_doubts_about_columns():
    table = NUMBERS.assign(again=NUMBERS["label"].eq("a") * 1.0, one=1.0, copy=NUMBERS["x"])
    told = str(deciban.auto_fit(table, "label", "gaussian"))
    assert "2 classes of `label`" in told
    assert "warning: `again` alone predicts the class of 100.0 % of the rows" in told
    for note in ("`one` has one value in all rows", "`copy` is a copy of `x`"):
        assert f"note: {note}" in told


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_task_015_missing_labels_of_a_list_are_named_by_their_rows(model, missing):
    with pytest.raises(DataError, match="rows 1, 3, 5, 7, 9 and 25 more"):
        model.fit(ROWS[["x"]], ["a", missing] * 30)


def test_task_015_a_text_without_a_label():
    with pytest.raises(DataError, match="the label of text 1 is missing"):
        deciban.TextClassifier().fit(["free prize", "lunch at noon"], ["spam", float("nan")])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_task_015_labels_of_several_types(model):
    with pytest.raises(DataError, match="'a'"):
        model.fit(ROWS[["x"]], np.array(["a", 1] * 30, dtype=object))


@pytest.mark.parametrize("do", [deciban.auto_fit, deciban.compare, deciban.find_leakage], ids=lambda do: do.__name__)
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_task_015_missing_labels_are_no_class(do, missing):
    with pytest.raises(DataError, match="rows 1, 3"):
        do(ROWS, ["a", missing] * 30)


def test_task_015_the_name_of_a_column_wherever_labels_are_taken():
    model = GaussianNB().fit(NUMBERS, "label")
    assert deciban.compare(NUMBERS, "label", ["gaussian"], folds=3).rows == 30
    assert [leak.column for leak in deciban.find_leakage(TABLE[["label"]].assign(again=LABELS), "label")] == ["again"]
    assert deciban.select_model(
        [GaussianNB(), BernoulliNB()], NUMBERS, "label", by="loo"
    ).weight.sum() == pytest.approx(1.0)
    facts = collect(model, NUMBERS, "label", None, True, 1, 0)
    assert (facts.target, facts.n, facts.d) == ("label", 30, 2)
    assert deciban.auto_fit(NUMBERS, "label", "gaussian").model.target_name_ == "label"


@pytest.mark.parametrize("weights", ["loo", "evidence"])
def test_task_015_ensembles_take_the_name_of_a_column(weights):
    ensemble = BayesOptimal([("tree", TreeAugmentedNB()), ("naive", MixedNB())], weights=weights)
    words = TABLE[["c", "label"]].assign(d=list("xyyx") * 15)
    rows = words.drop(columns="label")
    want = ensemble.fit(rows, LABELS).predict_proba(rows)
    np.testing.assert_array_equal(ensemble.fit(words, "label").predict_proba(rows), want)
    assert ensemble.target_name_ == "label"


def test_task_015_no_member_of_an_ensemble_is_left_out_for_the_name_of_a_column():
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    ensemble = BayesOptimal([("scaled", scaled), ("normal", GaussianNB())]).fit(NUMBERS, "label")
    assert ensemble.names_ == ["scaled", "normal"]


def test_task_018_rows_as_dictionaries_wherever_rows_are_taken():
    rows, columns, model = NUMBERS[["x", "z"]].to_dict("records"), NUMBERS.to_dict("list"), GaussianNB()
    labels = NUMBERS["label"].to_numpy()
    out = deciban.auto_fit(rows, labels, "gaussian")
    assert out.predict(rows[0]).tolist() == out.model.predict(NUMBERS[["x", "z"]][:1]).tolist()
    assert out.metrics == deciban.auto_fit(NUMBERS, "label", "gaussian").metrics
    assert out.metrics == deciban.auto_fit(columns, "label", "gaussian").metrics
    assert deciban.compare(rows, labels, ["gaussian"], folds=3).rows == 30
    assert [leak.column for leak in deciban.find_leakage({"again": columns["label"], **columns}, "label")] == ["again"]
    by_columns = deciban.cross_validate(model, columns, "label", folds=3)
    assert by_columns.log_loss == deciban.cross_validate(model, NUMBERS, "label", folds=3).log_loss
    facts = collect(out.model, rows, labels, None, None, 1, 0)
    assert facts.how.startswith("These are the training rows")
    assert "x" in str(facts.explain(np.array([3]), of="a"))


def test_task_018_one_column_of_texts_in_dictionaries():
    texts = [{"text": f"{i} many words in one row, this is a long text of its own"} for i in range(40)]
    out = deciban.auto_fit(texts, ["a", "b"] * 20, "text")
    assert out.text == "text"
    assert out.predict(texts[:2]).shape == (2,)


@pytest.mark.parametrize(
    "model", [GaussianNB(), LogisticRegression(), LinearDiscriminantAnalysis(), BernoulliNB()], ids=repr
)
def test_task_017_some_names_are_texts_and_others_are_numbers(model):
    x = pd.DataFrame({0: np.arange(60.0) % 5, "b": np.arange(60.0) % 7, 2.5: np.arange(60.0) % 2})
    model.fit(x, LABELS)
    assert model.feature_names_in_.tolist() == ["0", "b", "2.5"]
    np.testing.assert_array_equal(model.predict_proba(x), model.predict_proba(x.set_axis(["0", "b", "2.5"], axis=1)))
    assert "2.5" in str(model.explain(x[:1]))
    with pytest.raises(DataError, match="two columns are named `1`"):
        model.fit(pd.DataFrame([[1.0, 2.0]] * 60, columns=[1, "1"]), LABELS)


def test_task_045_the_first_call_of_partial_fit_says_what_to_pass():
    for model in (GaussianNB(), LogisticRegression()):
        with pytest.raises(DataError, match="classes"):
            model.partial_fit(ROWS[["x"]], LABELS)


@pytest.mark.parametrize("kind", ["category", "interval"])
def test_task_001_intervals_in_rows_files_and_models(kind, tmp_path):
    bands = pd.cut(TABLE["x"], [-20.0, -1.0, 2.0, 10.0])
    x = pd.DataFrame({"band": bands if kind == "category" else bands.astype("interval"), "c": TABLE["c"]})
    model = MixedNB().fit(x, LABELS)
    assert model.levels_["band"] == ["(-1.0, 2.0]", "(2.0, 10.0]"]
    want = model.predict_proba(x)
    np.testing.assert_array_equal(model.predict_proba(x.iloc[0].to_dict()), want[:1])
    np.testing.assert_array_equal(model.predict_proba(x.to_dict("records")), want)
    np.testing.assert_array_equal(MixedNB().fit_on(x.assign(label=LABELS)).predict_proba(x), want)
    deciban.save(model, tmp_path / "m.deciban")
    x.to_csv(tmp_path / "x.csv", index=False)
    stored = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(stored.predict_proba(pd.read_csv(tmp_path / "x.csv")), want)
    with pytest.raises(DataError, match=r"column `band` holds float \(such as 5.5\), but was learned from str"):
        model.predict(x.assign(band=5.5))


def test_task_015_the_name_of_the_target_in_other_letters(tmp_path, capfd):
    with pytest.raises(DataError, match="did you mean `Y`"):
        MixedNB().fit(pd.DataFrame({"X": [1.0, 2.0], "Y": ["a", "b"]}), "y")
    (tmp_path / "rows.csv").write_text("X,Y\n1,a\n2,b\n")
    with pytest.raises(SystemExit):
        main(["fit", str(tmp_path / "rows.csv"), "--target", "y"])
    assert "did you mean --target Y?" in capfd.readouterr().err
