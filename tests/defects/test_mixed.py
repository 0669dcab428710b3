"""Default answers of `MixedNB`, `learn` and the command line on small and ordinary tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import deciban
from deciban import MixedNB

from ..support.data import shared_table

TODAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": True}


def tennis(name: str) -> tuple[pd.DataFrame, pd.Series]:
    rows = shared_table(f"weka_arff/weather_{name}.csv")
    return rows.drop(columns="play"), rows.play


def test_b02_numbers_0_and_1_are_as_good_as_booleans():
    r = np.random.default_rng(0)
    x = (r.random(1000) < 0.1) * 1
    y = (r.random(1000) < np.where(x, 0.7, 0.3)) * 1
    numbers = MixedNB().fit(pd.DataFrame({"x": x}), y).predict_proba(pd.DataFrame({"x": [0, 1]}))[:, 1]
    assert numbers == pytest.approx([0.3, 0.7], abs=0.04)
    truth = MixedNB().fit(pd.DataFrame({"x": x == 1}), y).predict_proba(pd.DataFrame({"x": [False, True]}))[:, 1]
    assert numbers == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("levels", [(3, 6, 7), (0, 4, 8), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("first", [0.3, 0.8])
def test_b02_few_distinct_numbers_say_what_their_rows_do(levels, first):
    r = np.random.default_rng(1)
    share = np.r_[first, np.full(len(levels) - 1, (1 - first) / (len(levels) - 1))]
    at = r.choice(len(levels), 2000, p=share)
    chance = np.array([0.2, 0.7, 0.4, 0.8, 0.3])[: len(levels)]
    y = (r.random(2000) < chance[at]).astype(int)
    said = MixedNB().fit(pd.DataFrame({"x": np.array(levels)[at]}), y).predict_proba(pd.DataFrame({"x": levels}))[:, 1]
    seen = [y[at == i].mean() for i in range(len(levels))]
    assert said == pytest.approx(seen, abs=0.06)


def test_b03_age_on_the_titanic_matters():
    t = shared_table("titanic/titanic.csv")
    model = MixedNB().fit(t[["age"]], t.survived)
    child, grown, old = model.predict_proba(pd.DataFrame({"age": [2.0, 30.0, 75.0]}))[:, 1]
    assert child > old + 0.1
    assert child > grown + 0.1


def test_b04_play_tennis_by_default_is_no():
    X, y = tennis("nominal")
    today = pd.DataFrame([TODAY])
    model = MixedNB().fit(X, y)
    assert model.predict_proba(today)[0, 0] >= 0.65
    why = model.explain(today, of="no", against="yes")
    assert why.decibans[0][list(why.columns).index("humidity")] > 0
    learned = deciban.auto_fit(X, y).model
    assert learned.predict_proba(today)[0, list(learned.classes_).index("no")] >= 0.6


def test_b04_play_tennis_with_numbers_is_no():
    X, y = tennis("numeric")
    today = pd.DataFrame([{**TODAY, "temperature": 66, "humidity": 90}])
    assert MixedNB().fit(X, y).predict(today).tolist() == ["no"]
    assert deciban.auto_fit(X, y).model.predict(today).tolist() == ["no"]


def test_b04_six_rows_are_no_ten_million_to_one():
    X = pd.DataFrame({"job": ["nurse", "cook", "cook", "nurse", "nurse", "cook"]})
    y = ["no", "yes", "yes", "no", "no", "yes"]
    assert 0.75 < MixedNB().fit(X, y).predict_proba(X[1:2])[0, 1] < 0.98
    people = pd.DataFrame({"age": [34, 51, None, 28, 45, 62], "job": ["nurse", "cook", "cook", None, "nurse", "cook"]})
    model = MixedNB().fit(people, y)
    assert model.predict_proba(people).max() < 0.98
    assert np.abs(model.explain(people).decibans).max() < 20


def test_b04_alpha_reaches_histograms_and_what_was_chosen_is_told():
    r = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 100)
    X = pd.DataFrame({"age": r.integers(0, 2, 200) * 20.0 + 10 * (y == "yes")})  # 0, 20: no; 10, 30: yes
    at = pd.DataFrame({"age": [20.0]})
    answers = [MixedNB(alpha=a).fit(X, y).predict_proba(at)[0, 0] for a in (0.1, 10, 1000)]
    assert answers[0] > answers[1] > answers[2]
    model = MixedNB().fit(X, y)
    assert isinstance(model.tuned_["alpha"]["age"], float)
    assert model.families_["age"].alpha == model.tuned_["alpha"]["age"]


@pytest.mark.parametrize("families", ["auto", "histogram", {"age": "histogram"}], ids=str)
def test_b04_alpha_reaches_numbers_of_six_rows(families):
    X = pd.DataFrame({"age": [34.0, 51, 28, 45, 62, 55]})
    y = ["no", "yes", "no", "no", "yes", "yes"]
    sure, laplace, even = (
        MixedNB(families=families, alpha=a).fit(X, y).predict_proba(X[:1])[0, 0] for a in (0.1, 1, 100)
    )
    assert sure > laplace > even
    assert even == pytest.approx(0.5, abs=0.02)


def test_b02_passenger_class_as_numbers_is_as_good_as_text():
    t = shared_table("titanic/titanic.csv")
    numbers, words = (
        -cross_val_score(MixedNB(), X, t.survived, cv=3, scoring="neg_log_loss")
        for X in (t[["pclass"]], t[["pclass"]].astype(str))
    )
    assert numbers == pytest.approx(words, rel=0.05)  # 17.0 against 3.8 in the first fold, once
    model = MixedNB().fit(t[["pclass"]], t.survived)
    assert np.abs(model.explain(t[["pclass"]]).decibans).max() < 5


def test_quality_5_2_a_column_of_five_even_numbers_tells_what_it_knows():
    """As in balance.scale: torque decides, and every column is 1 … 5, evenly."""
    grid = np.array(np.meshgrid(*[np.arange(1, 6)] * 4)).reshape(4, -1).T
    X = pd.DataFrame(grid, columns=["left weight", "left distance", "right weight", "right distance"])
    y = np.sign(grid[:, 0] * grid[:, 1] - grid[:, 2] * grid[:, 3])
    assert deciban.cross_validate(MixedNB(), X, y, random_state=0).accuracy > 0.87
