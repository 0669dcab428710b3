"""`MixedNB` on frames: the lectures' numbers, columns by name, levels that come and go, labels of any type."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import norm

from deciban import MixedNB
from deciban.families.categorical import Categorical
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram

from .support.data import DEGREES, FIXED, TENNIS, table

QUERY = pd.DataFrame([["sunny", "cool", "high", "true"]], columns=TENNIS.columns[:4])
LIBRARIES = {
    "pandas": lambda data: data,
    "polars": pl.from_pandas,
    "pyarrow": lambda data: pa.Table.from_pandas(data, preserve_index=False),
}
every_library = pytest.mark.parametrize("of", LIBRARIES.values(), ids=LIBRARIES.keys())


# the lectures' numbers


@every_library
def test_play_tennis_without_smoothing(of):
    X, y = of(TENNIS.drop(columns="play")), TENNIS["play"]
    model = MixedNB(alpha=0).fit(X, y)
    no, yes = np.exp(model.predict_joint_log_proba(of(QUERY)))[0]
    assert (round(yes, 6), round(no, 6)) == (0.005291, 0.020571)
    assert model.predict_proba(of(QUERY)).round(4).tolist() == [[0.7954, 0.2046]]


def test_play_tennis_with_smoothing():
    model = MixedNB(alpha=1).fit(TENNIS.drop(columns="play"), TENNIS["play"])
    no, yes = np.exp(model.predict_joint_log_proba(QUERY))[0]
    assert yes == pytest.approx(9 / 14 * 3 / 12 * 4 / 12 * 4 / 11 * 4 / 11)
    assert no == pytest.approx(5 / 14 * 4 / 8 * 2 / 8 * 5 / 7 * 4 / 7)


def test_play_tennis_with_a_temperature_in_degrees():
    X = TENNIS.drop(columns="play").assign(temperature=DEGREES)
    bell = {"temperature": Gaussian(ddof=1, smoothing=0)}
    model = MixedNB(alpha=0, families=bell).fit(X, TENNIS["play"])
    with pytest.warns(UserWarning, match="taken as missing"):
        yes = np.exp(model.predict_joint_log_proba(pd.DataFrame({"temperature": [66]})))[0, 1]
    assert round(yes / (9 / 14), 4) == 0.0340 == round(norm.pdf(66, 73, 6.2), 4)
    warm = QUERY.assign(temperature=66)
    joint = np.exp(model.predict_joint_log_proba(warm))[0, 1]
    assert joint == pytest.approx(9 / 14 * 2 / 9 * norm.pdf(66, 73, np.std(_warm_yes(), ddof=1)) * 3 / 9 * 3 / 9)


def _warm_yes() -> list[int]:
    return [degrees for degrees, play in zip(DEGREES, TENNIS["play"], strict=True) if play == "yes"]


def test_marginal_likelihood_ratios_of_two_words():
    def words(viagra: int, lottery: int) -> pd.DataFrame:
        return pd.DataFrame({"V": np.arange(100) < viagra, "L": np.arange(100) < lottery})

    X, y = pd.concat([words(40, 21), words(12, 13)]), ["spam"] * 100 + ["ham"] * 100
    rows = pd.DataFrame({"V": [False, False, True, True], "L": [False, True, False, True]})
    ratio = MixedNB(alpha=0).fit(X, y).likelihood_ratio(rows, "spam", "ham")
    assert ratio.round(2).tolist() == [0.62, 1.10, 3.03, 5.38]


# columns by name


def test_reordered_columns_are_aligned_without_a_word():
    X, y = table()
    model = MixedNB().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X[X.columns[::-1]]), model.predict_proba(X))


def test_column_that_is_not_there_is_all_missing_and_said_once():
    X, y = table()
    model = MixedNB().fit(X, y)
    for ask in (model.predict, model.predict_proba, model.decibans, model.explain):
        with pytest.warns(UserWarning, match="`sky`, `size` not in X: taken as missing") as said:
            ask(X.drop(columns=["sky", "size"]))
        assert len(said) == 1
    with pytest.warns(UserWarning, match="not in X"):
        got = model.predict_proba(X.drop(columns=["sky", "size"]))
    np.testing.assert_array_equal(got, model.predict_proba(X.assign(sky=None, size=np.nan)))


def test_new_column_is_ignored_and_said_once():
    X, y = table()
    model = MixedNB().fit(X, y)
    with pytest.warns(UserWarning, match="`age`, `new` not known from training: ignored") as said:
        got = model.predict_proba(X.assign(age=1, new="u"))
    assert len(said) == 1
    np.testing.assert_array_equal(got, model.predict_proba(X))
    with pytest.warns(UserWarning, match="`sky` not in X.*; `new` not known") as said:
        model.predict(X.drop(columns="sky").assign(new=1))
    assert len(said) == 1


def test_warning_points_at_the_line_of_the_caller():
    X, y = table()
    with pytest.warns(UserWarning, match="ignored") as said:
        MixedNB().fit(X, y).predict(X.assign(new=1))
    assert said[0].filename == __file__


def test_array_answers_by_position_to_a_model_of_names_and_a_frame_to_one_of_numbers():
    X, y = table()
    numbers = X[["size", "price"]]
    named, plain = MixedNB().fit(numbers, y), MixedNB().fit(numbers.to_numpy(), y)
    with pytest.warns(UserWarning, match="feature names"):
        got = named.predict_proba(numbers.to_numpy())
    np.testing.assert_array_equal(got, named.predict_proba(numbers))
    np.testing.assert_array_equal(plain.predict_proba(numbers), got)
    assert not hasattr(plain, "feature_names_in_")


def test_lists_of_numbers_and_texts_keep_their_kinds():
    rows = [[1.5, "u"], [2.5, "v"], [1.0, "u"], [3.0, None]]
    model = MixedNB(alpha=1, families={0: "gaussian"}).fit(rows, [0, 1, 0, 1])
    assert model.levels_ == {1: ["u", "v"]}
    assert model.predict([[1.2, "u"], [2.8, None]]).tolist() == [0, 1]


@every_library
def test_every_library_gives_the_same_model(of):
    X, y = table()
    X["wet"] = X["wet"].astype("boolean")
    model, first = MixedNB().fit(of(X), y), MixedNB().fit(X, y)
    assert model.families_ == first.families_
    np.testing.assert_allclose(model.predict_log_proba(of(X)), first.predict_log_proba(X), rtol=1e-9)
    np.testing.assert_allclose(first.predict_log_proba(of(X)), first.predict_log_proba(X), rtol=1e-9)


@every_library
def test_sample_is_a_frame_of_the_library_that_was_learned_from(of):
    X, y = table(400)
    X["wet"] = X["wet"].astype("boolean")
    model = MixedNB(missing="informative").fit(of(X), y)
    drawn, labels = model.sample(500, random_state=0)
    assert type(drawn) is type(of(X))
    assert set(labels) == {"a", "b", "c"}
    drawn = drawn if of is LIBRARIES["pandas"] else drawn.to_pandas()
    assert list(drawn.columns) == list(X.columns)
    assert set(drawn["sky"].dropna()) == {"grey", "blue", "red"}
    assert drawn.isna().mean().to_numpy() == pytest.approx(X.isna().mean().to_numpy(), abs=0.07)
    assert model.score(drawn, labels) > 0.5


def test_sample_of_an_array_is_an_array():
    X, y = table(200, holes=0.0)
    drawn, _ = MixedNB().fit(X[["size", "price"]].to_numpy(), y).sample(5, random_state=0)
    assert drawn.shape == (5, 2)
    assert drawn.dtype == np.float64


# families


def test_kinds_choose_families_and_a_mapping_overrides_them():
    X, y = table(600)
    families = MixedNB().fit(X, y).families_
    assert [type(f).__name__ for f in families.values()][:3] == ["Categorical"] * 3
    assert {type(f).__name__ for f in list(families.values())[3:]} <= {"Student", "GammaPoisson", "Histogram"}
    assert type(families["hour"]).__name__ == "Histogram"
    mine = {"visits": "categorical", "hour": Histogram(alpha=1.0), "sky": Categorical(alpha=0.5)}
    model = MixedNB(families=mine).fit(X, y)
    assert type(model.families_["visits"]) is Categorical
    assert model.families_["hour"] == Histogram(alpha=1.0)
    assert model.families_["sky"] == Categorical(alpha=0.5)
    assert model.levels_["visits"][:3] == [0, 1, 2]


def test_frame_with_numbers_for_names_takes_families_by_number():
    X, y = table()
    numbers = pd.DataFrame(X[["size", "price"]].to_numpy())
    model = MixedNB(families={0: "gaussian", "1": "lognormal"}).fit(numbers, y)
    assert [type(f).__name__ for f in model.families_.values()] == ["Gaussian", "Lognormal"]


# levels


def test_level_never_seen_is_no_evidence():
    X, y = table(holes=0.0)
    model = MixedNB(alpha=1).fit(X, y)
    odd = X.assign(sky="octarine")
    np.testing.assert_allclose(model.predict_proba(odd), model.predict_proba(X.assign(sky=None)))


def test_reserved_mass_makes_a_level_never_seen_speak_for_small_classes():
    X = pd.DataFrame({"sky": ["grey"] * 8 + ["blue"] * 2})
    y = ["rain"] * 8 + ["sun"] * 2
    model = MixedNB(alpha=1, unseen="reserve", priors=[0.5, 0.5]).fit(X, y)
    rain, sun = model.predict_proba(pd.DataFrame({"sky": ["octarine"]}))[0]
    assert rain / sun == pytest.approx((1 / (8 + 3)) / (1 / (2 + 3)))
    shares = np.exp(model.predict_joint_log_proba(pd.DataFrame({"sky": ["grey", "blue", "octarine"]}))) / 0.5
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)


# labels


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y,
        lambda y: y.tolist(),
        lambda y: y.astype(object),
        pd.Series,
        lambda y: pd.Series(y, dtype="category"),
        lambda y: pd.Series(y, dtype="string"),
        lambda y: pd.DataFrame({"y": y})["y"],
        pl.Series,
        lambda y: pl.Series(y, dtype=pl.Categorical),
        pa.array,
        lambda y: pa.chunked_array([y[:9], y[9:]]),
    ],
    ids=[
        "array",
        "list",
        "objects",
        "Series",
        "category",
        "string",
        "column",
        "polars",
        "categorical",
        "arrow",
        "chunks",
    ],
)
def test_labels_may_come_from_any_library(labels):
    X, y = table()
    model = MixedNB(families=FIXED, alpha=1).fit(X, labels(y))
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(X), MixedNB(families=FIXED, alpha=1).fit(X, y).predict(X))


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y == "a",
        lambda y: (y == "a").astype(int),
        lambda y: pd.Series(y == "a", dtype="boolean"),
        lambda y: pd.Series(y == "a").astype("Int64"),
        lambda y: pl.Series(y == "a"),
    ],
)
def test_bools_and_numbers_are_labels_too(labels):
    X, y = table()
    model = MixedNB(families=FIXED, alpha=1).fit(X, labels(y))
    assert len(model.classes_) == 2
    want = MixedNB(families=FIXED, alpha=1).fit(X, np.where(y == "a", "1 yes", "0 no")).predict(X)
    assert (model.predict(X).astype(bool) == (want == "1 yes")).all()


def test_answers_do_not_warn():
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MixedNB(calibrate=True, missing="informative").fit(X, y)
        model.predict(X)
        model.decide(X, reject=0.3)
