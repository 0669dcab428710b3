"""`row_scorer` gives the probabilities of `predict_proba`, and the errors, for rows of any cells."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deciban
from deciban.errors import DataError, DecibanError

N = 300
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
MIXED = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40 + 3 * Y, 9)),
        "visits": RNG.poisson(2 + Y),
        "port": RNG.choice(["S", "C", None], N, p=[0.5, 0.4, 0.1]),
        "rich": RNG.random(N) < 0.4 + 0.2 * Y,
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 400, N) * 7 + 5 * Y, unit="D"),
        "took": pd.to_timedelta(RNG.gamma(2, 30, N), unit="s"),
    }
)
NUMBERS = pd.DataFrame({name: RNG.poisson(2 + Y) for name in "abc"})
MODELS = (
    "GaussianNB",
    "BernoulliNB",
    "CategoricalNB",
    "MixedNB",
    "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "FisherDiscriminant",
    "LogisticRegression",
    "TreeAugmentedNB",
    "AODE",
    "KDependenceBayes",
    "BayesNet",
)
COUNTS = ("MultinomialNB", "ComplementNB", "PoissonNB", *MODELS)
TOOK = st.sampled_from([pd.Timedelta(7, unit="s"), np.timedelta64(9, "s"), pd.NaT])
CELLS = {
    "age": st.one_of(st.none(), st.floats(-10, 120), st.integers(0, 99), st.sampled_from(["old", True, np.inf])),
    "visits": st.one_of(st.none(), st.integers(-2, 9), st.just(1.5), st.just(np.float64(2.0))),
    "port": st.sampled_from(["S", "C", "Z", None, np.nan, 3, True]),
    "rich": st.sampled_from([True, False, None, 1, "yes"]),
    "when": st.one_of(
        st.none(),
        st.datetimes(dt.datetime(2000, 1, 1), dt.datetime(2060, 1, 1)),
        st.dates(),
        st.sampled_from([7.0, pd.Timestamp("2024-03-05 06:07:08.123456"), pd.NaT, np.datetime64("2024-05-06T07")]),
        st.just(pd.Timestamp("2024-03-05 06:07", tz="Asia/Tokyo")),
    ),
    "took": st.one_of(st.none(), st.timedeltas(dt.timedelta(0), dt.timedelta(9)), st.just("long"), TOOK),
}
FITTED: dict = {}


def fitted(name, rows=MIXED):
    key = name, len(rows.columns)
    if key not in FITTED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            FITTED[key] = getattr(deciban, name)().fit(rows, Y)
    return FITTED[key]


def answer(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(f())
        except (DecibanError, ValueError) as wrong:
            return str(wrong)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(row=st.fixed_dictionaries(CELLS))
def test_a_row_has_the_answer_or_the_error_of_a_frame(name, row):
    model = fitted(name)
    scorer = model.row_scorer()
    told = answer(lambda: model.predict_proba([row])[0])
    for found in (
        answer(lambda: scorer.predict_proba(row)),
        answer(lambda: scorer.predict_proba([row[name] for name in CELLS])),
    ):
        if isinstance(told, str):
            assert found == told
        else:
            np.testing.assert_allclose(found, told, rtol=1e-12, atol=1e-300)
            assert scorer.predict(row) == model.predict([row])[0]


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=20, deadline=None)
@given(row=st.lists(st.sampled_from([0, 1, 2, 4, 2.0, 0.5, None, np.nan, -1, "x", np.inf]), min_size=3, max_size=3))
def test_rows_of_numbers_too(name, row):
    model = fitted(name, NUMBERS)
    cells = dict(zip("abc", row, strict=True))
    told = answer(lambda: model.predict_proba([cells])[0])
    found = answer(lambda: model.row_scorer().predict_proba(row))
    if isinstance(told, str):
        assert found == told
    else:
        np.testing.assert_allclose(found, told, rtol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_cells_of_training_are_read_without_a_frame(name):
    scorer = fitted(name).row_scorer()
    row = {
        "age": 41.5, "visits": 3, "port": "S", "rich": True, "when": dt.datetime(2025, 3, 1, 4),
        "took": dt.timedelta(seconds=7),
    }  # fmt: skip
    assert scorer._read is not None
    assert scorer._read(row) is not None
    assert scorer._read({**row, "port": "Z", "age": None}) is not None
    ours = {"when": pd.Timestamp("2025-03-01"), "took": pd.Timedelta(7, unit="s"), "age": np.float32(41.5)}
    assert scorer._read({**row, **ours}) is not None  # as rows of a pandas frame have them


@pytest.mark.parametrize("name", MODELS)
def test_other_columns_are_resolved_once(name):
    model = fitted(name)
    with pytest.warns(UserWarning, match="`took` not in X: taken as missing in every row; `more` not known"):
        scorer = model.row_scorer(["port", "age", "more", "rich", "visits", "when"])
    row = ["S", 30.0, "?", True, 2, dt.datetime(2024, 5, 1)]
    cells = {**dict(zip(scorer.columns, row, strict=True)), "took": None}
    del cells["more"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(scorer.predict_proba(row), model.predict_proba([cells])[0], rtol=1e-12)
        assert scorer.predict(row) == model.predict([cells])[0]
        np.testing.assert_allclose(scorer.predict_proba(cells), model.predict_proba([cells])[0], rtol=1e-12)


def test_wrong_columns_and_rows_are_refused():
    with pytest.raises(DataError, match="`c` is not among the columns"):
        fitted("GaussianNB", NUMBERS).row_scorer(["a", "b", "d"])
    with pytest.raises(DataError, match="two columns are named `a`"):
        fitted("GaussianNB", NUMBERS).row_scorer(["a", "a", "b", "c"])
    with pytest.raises(DataError, match="the row has 2 cells, and there are 3 columns"):
        fitted("GaussianNB", NUMBERS).row_scorer().predict_proba([1, 2])
    plain = deciban.GaussianNB().fit(NUMBERS.to_numpy(), Y)
    with pytest.raises(DataError, match="without column names"):
        plain.row_scorer(["a", "b", "c"])
    np.testing.assert_array_equal(plain.row_scorer().predict_proba([1, 2, 3]), plain.predict_proba([[1, 2, 3]])[0])


def test_texts_and_ensembles_have_row_scorers_too():
    texts = deciban.TextClassifier().fit(["tea cup", "cake plate", "tea pot", "cake fork"], ["a", "b", "a", "b"])
    assert texts.row_scorer().predict("tea") == "a"
    average = deciban.BayesOptimal().fit(MIXED, Y)
    row = MIXED.iloc[:1].to_dict("records")[0]
    np.testing.assert_allclose(average.row_scorer().predict_proba(row), average.predict_proba([row])[0], rtol=1e-12)


def test_the_scorer_is_that_of_the_model_as_it_was():
    model = deciban.MixedNB().fit(MIXED[:200], Y[:200])
    scorer, row = model.row_scorer(), MIXED.iloc[:1].to_dict("records")[0]
    told = scorer.predict_proba(row)
    model.partial_fit(MIXED[200:], Y[200:])
    np.testing.assert_array_equal(scorer.predict_proba(row), told)


@pytest.mark.parametrize("row", [None, 5, "text", b"\x00", {"a": 10**400}, {"a": -(10**400)}, [10**400, "u"]], ids=repr)
def test_what_is_no_row_and_integers_that_no_double_holds_are_errors(row):
    X = pd.DataFrame({"a": np.arange(20.0), "k": ["u", "v"] * 10})
    for model in (deciban.MixedNB(families="gaussian"), deciban.LogisticRegression()):
        score = model.fit(X, [0, 1] * 10).row_scorer(["a", "k"])
        with pytest.raises(DataError, match="too large for a float" if isinstance(row, dict | list) else "is no row"):
            score.predict_proba(row)
        if isinstance(row, dict):
            with pytest.raises(DataError, match="too large for a float"):
                model.predict([row | {"k": "u"}])
