"""Columns at prediction and in updates: those that were not learned, those without a cell."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import deciban
from deciban import AODE, GaussianNB, MixedNB, TreeAugmentedNB
from deciban.errors import DataError

FRAME_MODELS = [MixedNB, TreeAugmentedNB, AODE]


def dated(n: int = 100) -> tuple[pd.DataFrame, list[str]]:
    return pd.DataFrame({"x": np.arange(float(n)) % 7, "when": pd.date_range("2020", periods=n)}), ["a", "b"] * (n // 2)


@pytest.mark.parametrize("model", FRAME_MODELS)
@pytest.mark.parametrize("cells", ["dates", "lists", "mixed", "complex"])
def test_b09_columns_that_were_not_learned_are_not_looked_into(model, cells):
    X, y = dated()
    X["when"] = {
        "dates": X["when"],
        "lists": pd.Series([[1, 2]] * 100),
        "mixed": pd.Series([1, "one"] * 50, dtype=object),
        "complex": pd.Series([1j] * 100),
    }[cells]
    fitted = model().fit(X[["x"]], y)
    with pytest.warns(UserWarning, match="`when` not known from training: ignored"):
        told = fitted.predict_proba(X)
    np.testing.assert_array_equal(told, fitted.predict_proba(X[["x"]]))


@pytest.mark.parametrize("model", ["auto", "mixed", "gaussian", "lda", "logistic"])
def test_b09_the_model_of_learn_predicts_on_the_rows_of_learn(model, tmp_path):
    X, y = dated()
    out = deciban.auto_fit(X, y, model)
    assert "when" in out.dropped_columns
    told = out.model.predict_proba(X)
    np.testing.assert_array_equal(told, out.model.predict_proba(X[["x"]]))
    deciban.save(out.model, tmp_path / "m")
    np.testing.assert_array_equal(deciban.load(tmp_path / "m").predict_proba(X), told)
    if model == "auto":  # a column that counts days is a row number
        return
    days = X.assign(when=(X["when"] - X["when"][0]).dt.days.astype(float))
    again = out.model.fit(days, y)  # what was left out then is a column now
    assert again.n_features_in_ == 2
    assert len(again.predict(days)) == 100


def test_b09_updates_do_not_look_into_them_either():
    X, y = dated()
    model = MixedNB().fit(X[["x"]], y)
    with pytest.warns(UserWarning, match="`when` not known"):
        model.partial_fit(X, y)
    with pytest.warns(UserWarning, match="`when` not known"):
        model.forget(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X[["x"]]), MixedNB().fit(X[["x"]], y).predict_proba(X[["x"]]), rtol=1e-12
    )


@pytest.mark.parametrize("model", FRAME_MODELS)
@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_quality_4_3_objects_without_a_cell_are_levels_to_be(model, nothing):
    X = pd.DataFrame({"a": list("uvuv"), "b": pd.Series([nothing] * 4, dtype=object)})
    y = [0, 1, 0, 1]
    fitted = model().fit(X, y)
    asked = pd.DataFrame({"a": ["u"], "b": ["Y"]})
    assert fitted.predict(asked).tolist() == [0]
    np.testing.assert_array_equal(
        fitted.predict_proba(asked), fitted.predict_proba(pd.DataFrame({"a": ["u"], "b": [None]}))
    )
    assert fitted.levels_["b"] == []
    later = pd.DataFrame({"a": list("uvuv"), "b": list("YNYN")})
    fitted.partial_fit(later, y)
    assert fitted.levels_["b"] == ["N", "Y"]
    whole = model().fit(pd.concat([X, later]), y + y)
    np.testing.assert_allclose(fitted.predict_proba(later), whole.predict_proba(later), rtol=1e-12)


def test_quality_4_3_types_without_a_cell_in_other_libraries():
    polars, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    y = [0, 1, 0, 1]
    for frame, asked in (
        (polars.DataFrame({"a": list("uvuv"), "b": [None] * 4}), polars.DataFrame({"a": ["u"], "b": ["Y"]})),
        (pa.table({"a": list("uvuv"), "b": [None] * 4}), pa.table({"a": ["u"], "b": ["Y"]})),
    ):
        assert MixedNB().fit(frame, y).predict(asked).tolist() == [0]
    rows = pa.table({"a": list("uvuv"), "b": [None] * 4, "label": y})
    assert MixedNB().fit_on(rows).predict(pa.table({"a": ["u"], "b": ["Y"]})).tolist() == [0]


def test_quality_4_3_an_array_of_objects():
    X = np.array([["u", None], ["v", None]], dtype=object)
    assert MixedNB().fit(X, [0, 1]).predict(np.array([["u", "Y"]], dtype=object)).tolist() == [0]
    X[:, 1] = np.nan  # numbers are missing here
    model = MixedNB().fit(X, [0, 1]).partial_fit(np.array([["u", 2.5]], dtype=object), [0])
    assert model.levels_.keys() == {0}


def test_quality_4_3_numbers_do_not_become_levels_of_a_column_that_was_empty():
    X = pd.DataFrame({"a": list("uvuv"), "b": pd.Series([None] * 4, dtype=object)})
    model = MixedNB().fit(X, [0, 1, 0, 1])
    with pytest.raises(DataError, match=r"column `b` was empty .* and holds numbers now"):
        model.partial_fit(pd.DataFrame({"a": ["u"], "b": [2.5]}), [0])
    named = MixedNB(families={"b": "categorical"}).fit(X, [0, 1, 0, 1])
    named.partial_fit(pd.DataFrame({"a": ["u"], "b": [2]}), [0])
    assert named.levels_["b"] == [2]
    late = MixedNB(families={"b": "gaussian"}).fit(X, [0, 1, 0, 1])
    late.partial_fit(pd.DataFrame({"a": ["u", "v"], "b": [2.5, 3.5]}), [0, 1])
    assert "b" not in late.levels_


def test_task_18_sparse_matrices_of_keys_are_no_dictionaries():
    X = sparse.dok_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    assert GaussianNB().fit(X, ["a", "b"]).predict(X).tolist() == ["a", "b"]
    with pytest.raises(TypeError, match="dense"):
        MixedNB().fit(X, ["a", "b"])
