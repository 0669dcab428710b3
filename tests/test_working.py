"""The working by hand, `explain(form="fractions")`: the lectures' fractions, hard cells, text, HTML, JSON, LaTeX."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import norm, poisson

import deciban
from deciban import (
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.errors import ColumnWarning, DataError

from .support.cli import output
from .support.data import DEGREES, PLAY, TENNIS, TENNIS_CODES

X = TENNIS.drop(columns="play")
DAY = pd.DataFrame([["sunny", "cool", "high", "true"]], columns=X.columns)
HUMIDITY = [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91]


def lines(why, **more) -> list[str]:
    return [line.strip() for line in why.text(**more).splitlines()]


# the fractions


def test_play_tennis_is_written_as_on_the_board():
    found = lines(MixedNB(alpha=0).fit(X, PLAY).explain(DAY, form="fractions"))
    assert found == [
        "row 0: prior · outlook = sunny · temperature = cool · humidity = high · windy = true",
        "P(no)  P(x | no)  = 5/14 · 3/5 · 1/5 · 4/5 · 3/5 = 0.0206",
        "P(yes) P(x | yes) = 9/14 · 2/9 · 3/9 · 3/9 · 3/9 = 0.0053",
        "P(no | x)  = 0.0206 / (0.0206 + 0.0053) = 0.795",
        "P(yes | x) = 0.0053 / (0.0206 + 0.0053) = 0.205",
    ]


@pytest.mark.parametrize(
    ("alpha", "product"),
    [
        (1, "9/14 · 3/12 · 4/12 · 4/11 · 4/11 = 0.0071"),
        (0.5, "9/14 · 2.5/10.5 · 3.5/10.5 · 3.5/10 · 3.5/10 = 0.0063"),
    ],
)
def test_pseudo_counts_are_part_of_the_fractions(alpha, product):
    why = MixedNB(alpha=alpha).fit(X, PLAY).explain(DAY, form="fractions", of="yes")
    assert lines(why)[1] == f"P(yes) P(x | yes) = {product}"


def test_codes_and_words_have_the_same_fractions():
    coded = CategoricalNB(alpha=1).fit(TENNIS_CODES, PLAY).explain([[2, 0, 0, 1]], form="fractions")
    named = MixedNB(alpha=1).fit(X, PLAY).explain(DAY, form="fractions")
    assert lines(coded)[1:] == lines(named)[1:]
    assert lines(coded)[0] == "row 0: prior · x0 = 2 · x1 = 0 · x2 = 0 · x3 = 1"


def test_numbers_have_densities_with_sample_deviations():
    numbers = X.assign(temperature=DEGREES, humidity=HUMIDITY)
    model = MixedNB(alpha=0, families="gaussian", ddof=1).fit(numbers, PLAY)
    why = model.explain(DAY.assign(temperature=66, humidity=90), form="fractions")
    assert lines(why)[2].startswith("P(yes) P(x | yes) = 9/14 · 2/9 · 0.0340 · 0.0221 · 3/9 = 3.58e-05")
    assert lines(why)[3].endswith("= 0.792")


def test_absent_words_have_factors_too():
    model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    why = model.explain([[0, 5]], form="fractions", of="a")
    assert lines(why)[:2] == ["row 0: prior · x0 = 0 · x1 = 5", "P(a) P(x | a) = 2/3 · 1/4 · 2/4 = 0.0833"]


def test_words_have_the_power_of_their_count_and_absent_ones_no_factor():
    rows = sparse.csr_array([[2, 0, 1], [0, 3, 0], [1, 1, 0]])
    model = MultinomialNB(alpha=1).fit(rows, ["a", "b", "a"])
    found = lines(model.explain(rows[:1], form="fractions", of="a", against="b"))
    assert found[:3] == [
        "row 0: prior · x0 = 2 · x2 = 1",
        "P(a) P(x | a) = 2/3 · (4/8)² · 2/8 = 0.0417",
        "P(b) P(x | b) = 1/3 · (1/6)² · 1/6 = 0.0015",
    ]
    assert "(4/8)^1.5" in str(model.explain([[1.5, 0, 0]], form="fractions"))


def test_densities_and_masses_are_those_of_the_distributions():
    x, y = np.array([[1.0, 2], [3, 1], [4, 7], [8, 9]]), ["a", "a", "b", "b"]
    model = GaussianNB(var_smoothing=0).fit(x, y)
    factors = model.explain([[2.0, 3.0]], form="fractions").factors
    np.testing.assert_allclose(factors.log[0], norm(model.theta_, np.sqrt(model.var_)).logpdf([2.0, 3.0]), rtol=1e-12)
    rates = PoissonNB().fit(x, y)
    factors = rates.explain([[2, 3]], form="fractions").factors
    np.testing.assert_allclose(factors.log[0], poisson(rates.rate_).logpmf([2, 3]), rtol=1e-12)


def test_columns_that_depend_on_others_name_them():
    found = lines(TreeAugmentedNB(backoff=0).fit(X, PLAY).explain(DAY, form="fractions"))
    assert "windy = true | outlook = sunny" in found[0]
    assert found[1] == "P(no)  P(x | no)  = 5/14 · 1/4 · 2/8 · 1/3 · 2/5 = 0.0030"
    net = BayesNet(edges=[("outlook", "windy")], alpha=1.0, backoff=0).fit(X, PLAY)
    assert "· 2/5 =" in lines(net.explain(DAY, form="fractions"))[1]  # (1 + 1) / (3 + 2) of the sunny days


def test_given_tables_are_decimals():
    tables = {"Y": [0.5, 0.5], "V": [[0.4, 0.6], [0.1, 0.9]]}
    net = BayesNet.from_edges([("Y", "V")], levels={"Y": ["s", "h"], "V": [1, 0]}, tables=tables, target="Y")
    assert "P(s) P(x | s) = 0.5000 · 0.4000 = 0.2000" in str(net.explain(pd.DataFrame({"V": [1]}), form="fractions"))


def test_given_priors_are_decimals_and_learned_ones_fractions():
    model = MixedNB(alpha=0).fit(X, PLAY)
    assert "= 0.5000 · 3/5" in str(model.explain(DAY, form="fractions", priors="uniform"))
    assert "= 0.2000 · 3/5" in str(MixedNB(alpha=0, priors=[0.2, 0.8]).fit(X, PLAY).explain(DAY, form="fractions"))
    assert "= 15/42 · 9/15" in str(MixedNB(alpha=0).fit(X, PLAY, [3] * 14).explain(DAY, form="fractions"))


# hard cells


def test_missing_and_unseen_cells_are_left_out_and_named():
    model = MixedNB(alpha=0).fit(X, PLAY)
    found = lines(model.explain(DAY.assign(windy=None, outlook="foggy"), form="fractions"))
    assert found[1] == "P(no)  P(x | no)  = 5/14 · 1/5 · 4/5 = 0.0571"
    assert found[-2:] == ["left out, as missing: windy", "left out, as in no training row: outlook = foggy"]


def test_cells_that_lack_in_training_make_the_denominator_less():
    gaps = X.copy()
    gaps.loc[0, "outlook"] = None  # one of three sunny days without tennis
    assert " · 2/4 · " in lines(MixedNB(alpha=0).fit(gaps, PLAY).explain(DAY, form="fractions", of="no"))[1]


def test_whether_a_cell_is_missing_is_a_factor_of_its_own():
    gaps = X.copy()
    gaps.loc[0, "outlook"] = None
    model = MixedNB(alpha=0, missing="informative").fit(gaps, PLAY)
    assert "outlook is not missing" in str(model.explain(DAY, form="fractions"))
    why = model.explain(DAY.assign(outlook=None), form="fractions", of="no")
    assert "outlook is missing" in str(why)
    assert "2/7" in lines(why)[1]


def test_a_count_of_zero_makes_the_product_zero():
    model = MixedNB(alpha=0).fit(X, PLAY)
    found = lines(model.explain(DAY.assign(outlook="overcast"), form="fractions"))
    assert found[1].endswith("5/14 · 0/5 · 1/5 · 4/5 · 3/5 = 0")
    assert found[3] == "P(no | x)  = 0 / (0 + 0.0106) = 0"


def test_a_row_that_no_class_makes_possible_has_the_prior():
    model = MultinomialNB(alpha=0).fit([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    why = model.explain([[1, 1]], form="fractions")
    assert lines(why)[3:] == ["P(a | x) = 0.667", "P(b | x) = 0.333", "every product is 0: the posterior is the prior"]
    np.testing.assert_allclose(why.probability, model.predict_proba([[1, 1]]))
    assert r"\frac{0}{0" not in why.latex()


def test_products_too_small_for_a_float_are_written_and_compared():
    model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    why = model.explain([[60.0]], form="fractions")
    assert re.search(r"= 0\.5000 |= 2/4 · \d\.\d\de-\d{4}", str(why))
    np.testing.assert_allclose(why.probability, model.predict_proba([[60.0]]))
    assert "nan" not in str(why)


def test_infinite_cells_are_refused():
    model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    with pytest.raises(DataError, match="infinity"):
        model.explain([[np.inf]], form="fractions")


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
        GaussianNB(calibrate=True),
        GaussianNB(weights="discriminative"),
        MixedNB(average="subsets"),
        deciban.ComplementNB(),
        deciban.AODE(),
        deciban.BayesOptimal([GaussianNB()]),
    ],
    ids=repr,
)
def test_models_without_fractions_are_refused_with_a_hint(model):
    x, y = np.arange(24.0)[:, None] % 7, np.arange(24) % 2
    model.fit(x, y)
    with pytest.raises(DataError, match=r"hint: .*form='decibans'"):
        model.explain(x[:1], form="fractions")


def test_texts_are_refused_with_a_hint():
    model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    with pytest.raises(DataError, match="MultinomialNB"):
        model.explain("win", form="fractions")


def test_averages_over_missing_levels_are_refused_only_where_levels_are_missing():
    model = MixedNB(alpha=1, missing="average").fit(X, PLAY)
    assert len(model.explain(DAY, form="fractions")) == 1
    with pytest.raises(DataError, match="average"):
        model.explain(DAY.assign(windy=None), form="fractions")


def test_unknown_forms_and_classes_are_refused():
    model = MixedNB(alpha=0).fit(X, PLAY)
    with pytest.raises(DataError, match="fractions"):
        model.explain(DAY, form="logs")
    with pytest.raises(DataError, match="perhaps"):
        model.explain(DAY, form="fractions", of="perhaps")
    assert str(model.explain(DAY, form="decibans")) == str(model.explain(DAY))


# reading


def test_several_rows_have_their_labels_and_some_can_be_taken():
    model = MixedNB(alpha=0).fit(X, PLAY)
    why = model.explain(X.set_axis([f"day {i}" for i in range(14)]), form="fractions")
    assert len(why) == 14
    assert str(why).startswith("row day 0: prior · outlook = sunny")
    assert str(why).endswith("… and 11 more rows")
    assert why[3:5].rows.tolist() == ["day 3", "day 4"]
    np.testing.assert_allclose(why[3:5].probability, model.predict_proba(X)[3:5])
    assert "day 13" in why.text(rows=20)


def test_classes_may_differ_by_row():
    model = MixedNB(alpha=0).fit(X, PLAY)
    found = model.explain(X[:2], form="fractions", of=["no", "yes"]).text().splitlines()
    assert found[1].startswith("  P(no) P(x | no) = 5/14")
    assert found[5].startswith("  P(yes) P(x | yes) = 9/14")


def test_frames_of_other_libraries_and_records_are_read_alike():
    model = MixedNB(alpha=0).fit(pl.DataFrame(X), PLAY)
    expected = lines(MixedNB(alpha=0).fit(X, PLAY).explain(DAY, form="fractions"))
    assert lines(model.explain(pl.DataFrame(DAY), form="fractions")) == expected
    assert lines(model.explain(DAY.to_dict("records"), form="fractions")) == expected


def test_of_many_columns_the_rest_is_one_number():
    x, y = np.random.default_rng(0).normal(size=(40, 57)), np.arange(40) % 2
    model = GaussianNB().fit(x, y)
    text = model.explain(x[:1], form="fractions").text(columns=10)
    assert "47 more columns" in text
    assert text.splitlines()[1].count(" · ") == 11
    joint = model.explain(x[:1], form="fractions").joint
    np.testing.assert_allclose(joint, model.predict_joint_log_proba(x[:1]))


def test_of_many_classes_the_sum_is_one_number():
    x, y = np.arange(40.0)[:, None], np.arange(40) % 8
    found = lines(GaussianNB().fit(x, y).explain(x[:1], form="fractions"))
    assert re.fullmatch(r"P\(0 \| x\) = \S+ / \S+ = 0\.\d{3}", found[9])


def test_html_has_a_row_for_each_class_and_is_escaped():
    model = MixedNB(alpha=0).fit(X, np.where(PLAY == "yes", "<b>", "&"))
    html = model.explain(DAY.assign(windy=None), form="fractions")._repr_html_()
    assert "<b>" not in html
    assert html.count("<tr>") == 3
    assert "outlook = sunny" in html
    assert "· 2/9" in html
    assert "left out, as missing: windy" in html


def test_dictionary_is_json_with_all_numbers():
    why = MixedNB(alpha=1).fit(X, TENNIS["play"]).explain(DAY.assign(windy=None), form="fractions")
    found = json.loads(json.dumps(why.to_dict()))
    assert (found["target"], found["classes"]) == ("play", ["no", "yes"])
    (row,) = found["rows"]
    assert row["left_out"] == {"windy": None}
    yes = row["products"][1]
    assert (yes["prior"]["numerator"], yes["prior"]["denominator"]) == (9, 14)
    assert [(one["column"], one["value"], one["numerator"], one["denominator"]) for one in yes["factors"]] == [
        ("outlook", "sunny", 3, 12),
        ("temperature", "cool", 4, 12),
        ("humidity", "high", 4, 11),
    ]
    assert yes["joint"] == pytest.approx(9 / 14 * np.prod([one["factor"] for one in yes["factors"]]))
    assert yes["probability"] == pytest.approx(why.probability[0, 1])


def test_latex_escapes_names_and_writes_powers_of_ten():
    model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a_1", "a_1", "b", "b"])
    found = model.explain([[9.0]], form="fractions").latex()
    assert r"P(\text{a\_1}) \, P(x \mid \text{a\_1}) &= \frac{2}{4} \cdot " in found
    assert r"\cdot 10^{-" in found


def test_command_line_prints_the_fractions(tmp_path, capfd):
    TENNIS.to_csv(tmp_path / "t.csv", index=False)
    deciban.save(MixedNB(alpha=0).fit(X, TENNIS["play"]), tmp_path / "t.deciban")
    command = f"explain {tmp_path / 't.deciban'} {tmp_path / 't.csv'} --form fractions --row 3"
    found, _ = output(command, capfd)
    assert found.startswith("row 3: prior · outlook = rainy")
    assert "9/14 · 3/9 · 4/9 · 3/9 · 6/9 = 0.0212" in found
    (row,) = json.loads(output(f"{command} --json", capfd)[0])
    assert row["row"] == 3
    deciban.save(LogisticRegression().fit([[1.0], [2.0], [3.0]], [0, 1, 1]), tmp_path / "l.deciban")
    (tmp_path / "l.csv").write_text("x0\n1\n")
    _, refusal = output(f"explain {tmp_path / 'l.deciban'} {tmp_path / 'l.csv'} --form fractions", capfd, 1)
    assert "--form decibans" in refusal


# columns never seen


def test_word_never_seen_without_smoothing_is_warned_of_by_name():
    rows = pd.DataFrame({"tea": [1, 0, 1], "viagra": [0, 0, 0]})
    for model in (BernoulliNB(alpha=0), MultinomialNB(alpha=0)):
        with pytest.warns(ColumnWarning, match="`viagra`: present in no training row"):
            model.fit(rows, ["ham", "spam", "ham"])
    with pytest.warns(ColumnWarning, match="`tea`: absent in no training row"):
        BernoulliNB(alpha=0).fit(rows[["tea"]].assign(tea=1), ["ham", "spam", "ham"])


def test_smoothed_words_and_unsmoothed_seen_ones_are_not_warned_of():
    rows = pd.DataFrame({"tea": [1, 0, 1], "viagra": [0, 0, 0]})
    BernoulliNB().fit(rows, ["ham", "spam", "ham"])
    MultinomialNB(alpha=1e-9).fit(rows, ["ham", "spam", "ham"])
    BernoulliNB(alpha=0).fit(rows[["tea"]], ["ham", "spam", "ham"])


def test_given_parameters_are_multiplied_as_they_are():
    model = BernoulliNB.from_parameters([[0.4, 0.21], [0.12, 0.13]], classes=["spam", "ham"])
    working = model.explain([[1, 0]], form="fractions")
    assert "0.4000 · 0.7900" in str(working)
    np.testing.assert_allclose(working.probability, model.predict_proba([[1, 0]]))
    with pytest.raises(DataError, match="it has no rows"):
        model.counts_table()
