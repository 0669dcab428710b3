"""Bad tables: `MixedNB` says what is wrong, where, and the cure, or has a sensible answer; NumPy never speaks up."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from deciban import MixedNB
from deciban.errors import DataError, ForgetError, MergeError, NotAdditiveError, SupportError
from deciban.families.gaussian import Gaussian
from deciban.families.multinomial import Multinomial

from .support.data import FIXED, TENNIS, table

X, Y = table()
DAY = dt.date(2020, 1, 2)
NUMBERS, TEXTS = X[["size", "price"]], X[["sky"]]


def says(error: type, *words: str) -> pytest.RaisesExc:
    """An error with these words, and a hint."""
    return pytest.raises(error, match="(?s)" + ".*".join(words) + r".*\n\nhint: ")


BAD_TRAINING = {
    "two columns of one name": (pd.concat([NUMBERS, NUMBERS], axis=1), DataError, ["two columns", "size"]),
    "two columns of one name, arrow": (
        pa.Table.from_arrays([pa.array(range(90)), pa.array(range(90))], names=["u", "u"]),
        DataError,
        ["two columns", "`u`"],
    ),
    "mixed objects": (NUMBERS.assign(m=[1, "u"] * 45), DataError, ["column `m`", "mixes", "1", "'u', in row 1"]),
    "dates and texts": (NUMBERS.assign(m=["u", DAY] * 45), DataError, ["column `m`", "mixes dates", "'u', in row 0"]),
    "lists": (NUMBERS.assign(m=[[1]] * 90), DataError, ["column `m`", "list", "row 0"]),
    "infinite": (NUMBERS.assign(m=[1.0, np.inf] * 45), SupportError, ["infinity", "inf in row 1", "column `m`"]),
    "infinite, as an array": (np.array([[1.0, -np.inf]] * 90), SupportError, ["infinity", "-inf in row 0", "column 1"]),
    "past all squares": (
        NUMBERS.assign(m=[1.0, 1e200] * 45),
        SupportError,
        ["magnitudes up to 1e.200", "row 1", "column `m`"],
    ),
    "no rows": (NUMBERS[:0], DataError, ["0 sample", "minimum of 1"]),
    "no columns": (NUMBERS[[]], DataError, ["0 feature"]),
    "no columns, polars": (pl.DataFrame(), DataError, ["0 sample"]),
    "lazy": (pl.DataFrame({"x": [1.0]}).lazy(), DataError, ["lazy"]),
    "complex": (NUMBERS.assign(m=1j), DataError, ["column `m`", "complex"]),
}


@pytest.mark.parametrize(("frame", "error", "words"), BAD_TRAINING.values(), ids=BAD_TRAINING.keys())
def test_what_cannot_be_learned_is_refused_by_name(frame, error, words):
    n = 0 if words[0].startswith("0 sample") else 90
    with says(error, *words):
        MixedNB().fit(frame, Y[:n])


@pytest.mark.parametrize(
    ("families", "words"),
    [
        ({"size": "gausian"}, ["column `size`", "no family 'gausian'", "'gaussian'"]),
        ({"age": "gaussian"}, ["`age`", "the columns are `size`, `price`"]),
        ({"size": 3}, ["column `size`", "no family 3"]),
        ({"size": Gaussian}, ["column `size`", "Gaussian"]),
        ({"size": Multinomial()}, ["column `size`", "Multinomial", "single column"]),
        ({"size": "multinomial"}, ["column `size`", "multinomial"]),
    ],
)
def test_wrong_families_are_named_with_the_right_ones(families, words):
    with says(DataError, *words[:2]):
        MixedNB(families=families).fit(NUMBERS, Y)


def test_families_that_do_not_fit_the_column_are_refused():
    with says(DataError, "column `sky`", "str", "Gaussian takes numbers"):
        MixedNB(families={"sky": "gaussian"}).fit(TEXTS, Y)
    with says(SupportError, "column `size`", "row", "`poisson` needs whole numbers"):
        MixedNB(families={"size": "poisson"}).fit(NUMBERS, Y)
    with says(SupportError, "column `size`", "`lognormal` needs numbers > 0"):
        MixedNB(families={"size": "lognormal"}).fit(NUMBERS, Y)
    with says(DataError, "column `size`", "there is no family 'gauss'"):
        MixedNB(families="gauss").fit(NUMBERS, Y)


def test_cells_outside_of_the_support_are_no_evidence_in_scoring():
    model = MixedNB(families={"price": "lognormal", "size": "gaussian"}).fit(NUMBERS, Y)
    odd = NUMBERS.assign(price=-1.0)
    np.testing.assert_allclose(model.predict_proba(odd), model.predict_proba(NUMBERS.assign(price=np.nan)))


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (NUMBERS.assign(size="big"), DataError, ["column `size`", "str", "'big'", "learned as numbers"]),
        (NUMBERS.assign(size=[np.inf] * 90), SupportError, ["infinity", "inf in row 0", "column `size`"]),
        (pd.DataFrame({"age": [1]}), DataError, ["none of the columns `size`, `price`", "`age`"]),
        (NUMBERS[:0], DataError, ["0 sample"]),
        (np.ones((2, 3)), ValueError, ["3 features", "expecting 2 features"]),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_rows_that_cannot_be_scored_are_refused_by_name(rows, error, words):
    model = MixedNB().fit(NUMBERS, Y)
    for ask in (model.predict, model.predict_proba, model.score_samples):
        with pytest.raises(error, match="(?s)" + ".*".join(words)):
            ask(rows)


def test_numbers_for_a_column_of_texts_are_refused():
    model = MixedNB().fit(TEXTS, Y)
    with says(DataError, "column `sky`", "float", "1.5", "learned from str"):
        model.predict(pd.DataFrame({"sky": [1.5]}))


@pytest.mark.parametrize(
    ("labels", "match"),
    [
        ([None, *Y[1:]], r"no label in row 0\n\nhint"),
        (pd.Series([*Y[:-1], None]), "missing|NaN"),
        (pl.Series([None, *Y[1:]]), r"no label in row 0\n\nhint"),
        ([np.nan] * 90, "NaN"),
        (pd.Series([pd.NA] * 90, dtype="Int64"), "NaN|missing"),
        ([*([1] * 45), *(["u"] * 45)], None),
        (pd.Series([1, "u"] * 45), r"one label is a text \(.u.\), another of type int \(1\)\n\nhint"),
        (np.linspace(0, 1, 90), "Unknown label type: continuous"),
        (Y[:3], "inconsistent numbers of samples"),
        (np.c_[Y, Y], "1d"),
    ],
)
def test_bad_labels_are_refused(labels, match):
    if match is None:  # NumPy makes texts of a list of both
        assert MixedNB().fit(NUMBERS, labels).classes_.tolist() == ["1", "u"]
        return
    with pytest.raises(ValueError, match=match):
        MixedNB().fit(NUMBERS, labels)


def test_weights_that_overflow_are_refused():
    with says(SupportError, "overflow"):
        MixedNB(families=FIXED).fit(X.assign(size=X["size"] * 1e120), Y, sample_weight=np.full(90, 1e90))


def test_one_class_is_certain():
    model = MixedNB().fit(X, ["only"] * len(X))
    assert model.predict_proba(X).tolist() == [[1.0]] * len(X)
    assert set(model.predict(X)) == {"only"}
    assert model.leave_one_out(X, ["only"] * len(X)).tolist() == [[0.0]] * len(X)


def test_one_row_is_enough():
    model = MixedNB().fit(X[:1], Y[:1])
    assert model.predict(X).tolist() == [Y[0]] * len(X)


def test_one_row_of_each_class_gives_posteriors():
    for model in (MixedNB(), MixedNB(families=FIXED), MixedNB(missing="informative", calibrate=True)):
        proba = model.fit(X[:3], Y[:3]).predict_proba(X)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [None, "str", "category", "float"])
@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_column_that_is_all_missing_is_no_evidence(kind):
    empty = pd.Series([None] * len(X), dtype=kind)
    model = MixedNB(calibrate=True).fit(X.assign(empty=empty), Y)
    np.testing.assert_allclose(
        model.predict_proba(X.assign(empty=empty)), MixedNB(calibrate=True).fit(X, Y).predict_proba(X), atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_table_that_is_all_missing_leaves_the_prior():
    nothing = pd.DataFrame({"x": [np.nan] * 90, "c": pd.Series([None] * 90, dtype="str")})
    for model in (MixedNB(), MixedNB(missing="informative"), MixedNB(missing="average"), MixedNB(calibrate=True)):
        proba = model.fit(nothing, Y).predict_proba(nothing)
        np.testing.assert_allclose(proba, np.tile(model.class_prior_, (90, 1)), atol=1e-2)


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_constant_columns_are_no_evidence():
    flat = X.assign(one=1.0, zero=0.0, text="same", huge=1e12)
    np.testing.assert_allclose(
        MixedNB(alpha=1).fit(flat, Y).predict_proba(flat), MixedNB(alpha=1).fit(X, Y).predict_proba(X), atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_hundred_thousand_levels_are_no_trouble():
    n = 100_000
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"id": [f"row {i}" for i in range(n)], "x": rng.normal(3.0 * y)})
    model = MixedNB(families={"x": "student"}).fit(frame, y)
    assert len(model.levels_["id"]) == n
    assert model.score(frame, y) > 0.9
    new = frame.assign(id="somebody else")
    alone = MixedNB(families="student").fit(frame[["x"]], y)
    np.testing.assert_allclose(model.predict_proba(new), alone.predict_proba(frame[["x"]]))


def test_sparse_matrices_are_refused_with_a_cure():
    with pytest.raises(TypeError, match="dense"):
        MixedNB().fit(sparse.csr_array(np.eye(90)), Y)


def test_impossible_rows_have_the_prior():
    tennis = TENNIS.drop(columns="play")
    model = MixedNB(alpha=0).fit(tennis, TENNIS["play"])
    odd = pd.DataFrame([["overcast", "hot", "high", "true"]], columns=tennis.columns)
    assert model.predict_proba(odd).tolist() == [[0.0, 1.0]]
    never = MixedNB(alpha=0).fit(pd.DataFrame({"a": ["u", "v"], "b": ["u", "v"]}), [0, 1])
    row = pd.DataFrame({"a": ["u"], "b": ["v"]})  # neither class can have both
    np.testing.assert_allclose(never.predict_proba(row), 0.5)


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
def test_models_that_do_not_fit_together_are_not_merged():
    a = MixedNB(families={"size": "gaussian"}).fit(X, Y)
    with says(MergeError, "families"):
        a + MixedNB(families={"size": "student"}).fit(X, Y)
    with pytest.raises(MergeError, match="columns"):
        MixedNB().fit(X, Y) + MixedNB().fit(NUMBERS, Y)
    with says(MergeError, "column `price`"):
        MixedNB().fit(NUMBERS, Y) + MixedNB().fit(NUMBERS.assign(price="u"), Y)
    with says(MergeError, "`price` is in the first model only"):
        MixedNB().fit(NUMBERS, Y) + MixedNB().fit(NUMBERS.rename(columns={"price": "cost"}), Y)


def test_rows_never_learned_are_not_forgotten_and_the_model_stays():
    model = MixedNB(families=FIXED).fit(X, Y)
    before = model.predict_proba(X)
    with says(ForgetError, "was never learned"):
        model.forget(X.assign(sky="octarine"), Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert "octarine" not in model.levels_["sky"]


def test_failed_fit_leaves_the_model_as_it_was():
    model = MixedNB().fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(DataError):
        model.fit(X.assign(sky=[1, "u"] * 45), Y)
    with pytest.raises(DataError):
        model.partial_fit(X.assign(size="u"), Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_calibrated_models_without_rows_do_not_add_up():
    model = MixedNB(calibrate=True, keep_rows=0).fit(X, Y)
    with says(NotAdditiveError, "calibrate=True"):
        model.partial_fit(X, Y)
    with says(NotAdditiveError, "calibrate=True"):
        model.forget(X, Y)


def test_unfitted_model_says_so():
    for ask in (MixedNB().predict, MixedNB().predict_proba, MixedNB().explain):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(X)
    with pytest.raises(NotFittedError):
        MixedNB().families_  # noqa: B018


@pytest.mark.parametrize(
    ("priors", "match"),
    [([0.5, 0.5], "match number"), ({"a": 0.5, "z": 0.5}, "name"), ([0.9, 0.9, 0.9], "sum"), ([-1, 1, 1], "negative")],
)
def test_wrong_priors_are_refused(priors, match):
    with says(DataError, match):
        MixedNB(priors=priors).fit(X, Y)
