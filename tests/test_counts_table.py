"""The table of counts and of fractions by column, value and class."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    TreeAugmentedNB,
)
from deciban.errors import DataError

from .support.data import DEGREES, PLAY, TENNIS, TENNIS_CODES

X, Y = TENNIS.drop(columns="play"), TENNIS["play"]
FREQUENCIES = """
column       value     no  yes  total
outlook      overcast   0    4      4
             rainy      2    3      5
             sunny      3    2      5
temperature  cool       1    3      4
             hot        2    2      4
             mild       2    4      6
humidity     high       4    3      7
             normal     1    6      7
windy        false      2    6      8
             true       3    3      6
play                    5    9     14
"""
RELATIVE = """
column       value       no   yes
outlook      overcast   0/5   4/9
             rainy      2/5   3/9
             sunny      3/5   2/9
temperature  cool       1/5   3/9
             hot        2/5   2/9
             mild       2/5   4/9
humidity     high       4/5   3/9
             normal     1/5   6/9
windy        false      2/5   6/9
             true       3/5   3/9
play                   5/14  9/14
"""


def test_play_tennis_has_the_tables_of_the_lecture():
    model = MixedNB(alpha=0).fit(X, Y)
    assert str(model.counts_table()) == FREQUENCIES.strip()
    assert str(model.counts_table(fractions=True)) == RELATIVE.strip()


def test_counts_have_no_pseudo_counts_and_fractions_have_them():
    model = MixedNB(alpha=1).fit(X, Y)
    assert str(model.counts_table()) == FREQUENCIES.strip()
    assert model.counts_table(fractions=True).to_frame()["yes"].tolist()[:3] == ["5/12", "4/12", "3/12"]


def test_coded_columns_have_the_same_numbers_as_words():
    coded = CategoricalNB(alpha=0.5).fit(TENNIS_CODES, PLAY).counts_table(fractions=True).to_frame()
    named = MixedNB(alpha=0.5).fit(X, PLAY).counts_table(fractions=True).to_frame()
    assert coded[["no", "yes"]].equals(named[["no", "yes"]])
    assert coded["column"].tolist()[:4] == ["x0", "x0", "x0", "x1"]
    assert coded["value"].tolist()[:4] == ["0", "1", "2", "0"]


def test_columns_of_numbers_have_means_and_deviations():
    model = MixedNB(alpha=0, families="gaussian", ddof=1).fit(X.assign(temperature=DEGREES), Y)
    frame = model.counts_table().to_frame().set_index(["column", "value"])
    np.testing.assert_allclose(frame.loc[("temperature", "mean")], [74.6, 73.0])
    np.testing.assert_allclose(frame.loc[("temperature", "deviation")], [7.893, 6.164], atol=5e-4)
    alone = GaussianNB(ddof=1, var_smoothing=0).fit(np.array(DEGREES)[:, None], PLAY).counts_table()
    np.testing.assert_allclose(alone.rows[1].numbers, [7.893, 6.164], atol=5e-4)


def test_columns_without_counts_or_means_are_named_below_the_table():
    numbers = X.assign(temperature=DEGREES)
    table = MixedNB(families={"temperature": "histogram"}).fit(numbers, Y).counts_table()
    assert str(table).endswith("columns of numbers without counts: temperature")
    assert "temperature" not in table.to_frame()["column"].tolist()


def test_words_are_present_or_absent_or_counted():
    rows = pd.DataFrame({"tea": [2, 0, 1], "cake": [0, 1, 1]})
    found = BernoulliNB().fit(rows, ["a", "b", "b"]).counts_table(fractions=True)
    assert [(row.column, row.value, *row.cells(True)) for row in found.rows] == [
        ("tea", "absent", "1/3", "2/4"),
        ("tea", "present", "2/3", "2/4"),
        ("cake", "absent", "2/3", "1/4"),
        ("cake", "present", "1/3", "3/4"),
    ]
    found = MultinomialNB().fit(rows, ["a", "b", "b"]).counts_table()
    assert [row.numbers.tolist() for row in found.rows] == [[2, 1], [0, 2]]
    assert [row.cells(True) for row in found.rows] == [["3/4", "2/5"], ["1/4", "3/5"]]


@pytest.mark.parametrize(
    "model",
    [
        MixedNB(alpha=0.3),
        MixedNB(alpha="auto"),
        MixedNB(alpha=1, unseen="reserve"),
        MixedNB(alpha=1, missing="informative"),
        CategoricalNB(alpha=2.0),
        BernoulliNB(alpha="auto"),
        MultinomialNB(alpha=[0.1, 0.2, 0.3, 0.4]),
        TreeAugmentedNB(),
        BayesNet(),
    ],
    ids=repr,
)
def test_fractions_of_a_column_are_probabilities(model):
    words = isinstance(model, MixedNB | TreeAugmentedNB | BayesNet)
    rows = model.fit(X if words else TENNIS_CODES, PLAY).counts_table().to_dict()["rows"]
    one = isinstance(model, MultinomialNB)  # all columns together are one distribution
    sums: dict = {}
    for row in rows:
        key = () if one else (row["column"], str(row["value"]).partition(" | ")[2])
        sums[key] = sums.get(key, 0.0) + np.array(row["probability"])
    np.testing.assert_allclose(list(sums.values()), 1.0, rtol=1e-9)


def test_levels_are_counted_by_those_of_their_parents():
    table = TreeAugmentedNB(backoff=0).fit(X, Y).counts_table()
    found = {(row.column, row.value): row.numbers.tolist() for row in table.rows}
    assert found[("windy", "true | outlook = sunny")] == [1, 1]
    assert found[("windy", "true | outlook = rainy")] == [2, 0]


def test_intervals_and_missing_cells_are_levels_of_structured_models():
    numbers = X.assign(temperature=[None, *DEGREES[1:]])
    table = TreeAugmentedNB(cuts={"temperature": [70, 80]}, missing="informative").fit(numbers, Y).counts_table()
    own = {row.value.partition(" | ")[0] for row in table.rows if row.column == "temperature"}
    assert own == {"< 70", "70 – 80", "≥ 80", "(missing)"}


def test_rows_that_lack_a_cell_are_not_counted_in_its_column():
    gaps = X.copy()
    gaps.loc[0, "outlook"] = None
    rows = MixedNB(alpha=0).fit(gaps, Y).counts_table(fractions=True).rows
    assert rows[2].cells(True) == ["2/4", "2/9"]


def test_weights_are_counted_as_they_are():
    table = MixedNB(alpha=0).fit(X, Y, sample_weight=[0.5] * 14).counts_table()
    assert "1.5    1" in str(table)
    assert str(table).splitlines()[-1].split() == ["play", "2.5", "4.5", "7"]


def test_updates_change_the_table():
    model = MixedNB(alpha=0).fit(X, Y)
    again = MixedNB(alpha=0).partial_fit(X[:7], Y[:7]).partial_fit(X[7:], Y[7:])
    assert {str(model.counts_table())} == {str(again.counts_table())}


def test_frames_are_of_the_library_of_the_training_rows(monkeypatch):
    found = MixedNB(alpha=0).fit(pl.DataFrame(X), PLAY).counts_table().to_frame()
    assert isinstance(found, pl.DataFrame)
    assert found["yes"].to_list()[-1] == 9.0
    coded = CategoricalNB().fit(TENNIS_CODES, PLAY).counts_table()
    assert isinstance(coded.to_frame(), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        coded.to_frame()


def test_dictionary_is_json_with_decimals():
    found = json.loads(json.dumps(MixedNB(alpha=0).fit(X, Y).counts_table().to_dict()))
    assert (found["target"], found["classes"], found["class_count"]) == ("play", ["no", "yes"], [5, 9])
    assert found["rows"][2] == {
        "column": "outlook",
        "value": "sunny",
        "count": [3, 2],
        "numerator": [3, 2],
        "denominator": [5, 9],
        "probability": [3 / 5, 2 / 9],
    }


def test_html_is_escaped():
    odd = X.replace({"windy": {"true": "<b>"}})
    html = MixedNB().fit(odd, np.where(PLAY == "yes", "&", "<i>")).counts_table()._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("<tr>") == 1 + 10 + 1


@pytest.mark.parametrize("model", [AODE(), ComplementNB(), MixedNB(families="histogram")], ids=repr)
def test_models_without_counts_by_value_are_refused(model):
    with pytest.raises(DataError, match="hint:"):
        model.fit(TENNIS_CODES, PLAY).counts_table()


def test_rates_are_means():
    table = PoissonNB(shape=0, exposure=0).fit([[1, 4], [3, 6], [9, 1]], ["a", "a", "b"]).counts_table()
    assert [row.numbers.tolist() for row in table.rows] == [[2, 9], [5, 1]]
