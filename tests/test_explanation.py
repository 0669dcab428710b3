"""Explanations: pairs of classes, tables one can read, frames, and the answers to hard cells."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from deciban import (
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)
from deciban.decision import DECIBAN
from deciban.display import format_decibans, format_odds, format_probability
from deciban.errors import DataError
from deciban.explain.explanation import Explanation

from .support.data import PLAY, TENNIS_CODES, iris, weather


def test_play_tennis_is_the_sum_one_does_by_hand():
    why = CategoricalNB(alpha=0).fit(TENNIS_CODES, PLAY).explain([[2, 0, 0, 1]], of="no", against="yes")
    by_hand = [(3 / 5) / (2 / 9), (1 / 5) / (3 / 9), (4 / 5) / (3 / 9), (3 / 5) / (3 / 9)]
    np.testing.assert_allclose(why.decibans, [10 * np.log10(by_hand)], rtol=1e-12)
    np.testing.assert_allclose(why.prior, 10 * np.log10(5 / 9), rtol=1e-12)
    np.testing.assert_allclose(why.probability, 0.7954, atol=5e-5)


def test_gaussian_parts_are_ratios_of_normal_densities():
    from scipy.stats import norm

    x, y = iris(as_frame=False)
    model = GaussianNB(var_smoothing=0).fit(x, y)
    why = model.explain(x[50:60], of="versicolor", against="virginica")
    a, b = (norm(model.theta_[c], np.sqrt(model.var_[c])) for c in (1, 2))
    np.testing.assert_allclose(why.decibans, DECIBAN * (a.logpdf(x[50:60]) - b.logpdf(x[50:60])), rtol=1e-8, atol=1e-9)


def test_lda_with_independent_columns_has_the_parts_of_naive_bayes():
    """Columns that are uncorrelated within classes, and of the same variance in each."""
    corners = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    x = np.vstack([corners, corners + np.array([2, 0.5]), corners + np.array([1, 3])])
    y = np.repeat(["a", "b", "c"], 4)
    one = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y).explain(x)
    other = GaussianNB(var_smoothing=0).fit(x, y).explain(x)
    for of, against in (("a", "b"), ("b", "c"), ("c", "a")):
        np.testing.assert_allclose(
            one.of(of).against(against).decibans, other.of(of).against(against).decibans, atol=1e-9
        )


def test_cell_halfway_between_two_classes_says_nothing_in_lda():
    x, y = iris(as_frame=False)
    x, y = x[40:], y[40:]
    x, y = x[y != "setosa"], y[y != "setosa"]
    model = LinearDiscriminantAnalysis().fit(x[:80], y[:80])
    np.testing.assert_allclose(model.explain([model.means_.mean(axis=0)]).decibans, 0.0, atol=1e-9)


def test_fisher_of_two_classes_splits_into_columns():
    x, y = iris(as_frame=False)
    why = FisherDiscriminant().fit(x[50:], y[50:]).explain(x[50:60])
    assert why.columns == ("x0", "x1", "x2", "x3")
    assert why.note == ""


def test_missing_cells_of_lda_are_scored_by_the_marginal_of_the_others():
    x, y = load_wine(return_X_y=True)
    keep = [0, 3, 6]
    rows = np.full_like(x[:20], np.nan)
    rows[:, keep] = x[:20][:, keep]
    whole = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y).explain(rows, of=0, against=1)
    part = LinearDiscriminantAnalysis(solver="lsqr").fit(x[:, keep], y).explain(x[:20][:, keep], of=0, against=1)
    np.testing.assert_allclose(whole.decibans[:, keep], part.decibans, rtol=1e-8, atol=1e-8)
    assert (np.delete(whole.decibans, keep, axis=1) == 0.0).all()


# pairs


def test_evidence_turns_its_sign_with_the_pair_and_adds_up_around_three_classes():
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x[::10])
    ab = why.of("setosa").against("versicolor")
    ba = why.of("versicolor").against("setosa")
    np.testing.assert_array_equal(ab.decibans, -ba.decibans)
    bc, ac = why.of("versicolor").against("virginica"), why.of("setosa").against("virginica")
    np.testing.assert_allclose(ab.decibans + bc.decibans, ac.decibans, atol=1e-8)


def test_against_the_predicted_class_explains_the_runner_up():
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x[:1], against="setosa")
    assert why.classes[why.chosen].tolist() == ["versicolor"]


def test_labels_may_differ_by_row():
    x, y = iris(as_frame=False)
    model = GaussianNB().fit(x, y)
    wrong = model.predict(x) != y
    why = model.explain(x[wrong], of=y[wrong])
    assert why.classes[why.chosen].tolist() == y[wrong].tolist()
    assert (why.total < 0).all()


def test_of_keeps_the_rival_unless_it_is_the_same_class():
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x[:1], of="setosa", against="virginica")
    assert (why.of("versicolor").rival == 2).all()
    assert (why.of("virginica").rival != 2).all()


def test_rows_can_be_picked_and_keep_their_numbers():
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x)
    assert len(why) == 150
    assert str(why[100]).startswith("row 100: ")
    assert why[10:13].rows.tolist() == [10, 11, 12]
    np.testing.assert_array_equal(why[10:13].decibans, why.decibans[10:13])


@pytest.mark.parametrize("pair", [{"of": "rose"}, {"of": "setosa", "against": "setosa"}, {"of": ["setosa", "rose"]}])
def test_strange_pairs_are_refused(pair):
    x, y = iris(as_frame=False)
    model = GaussianNB().fit(x, y)
    with pytest.raises(DataError, match=r"setosa|rows"):
        model.explain(x[:1], **pair)


def test_one_class_has_nothing_to_be_weighed_against():
    model = GaussianNB().fit([[1.0], [2.0]], ["only", "only"])
    with pytest.raises(DataError, match=r"(?s)only.*hint"):
        model.explain([[1.0]])


def test_explanation_that_would_not_fit_is_refused_with_a_number_that_does(monkeypatch):
    monkeypatch.setattr("deciban.models.posterior.MOST", 1000)
    x, y = iris(as_frame=False)
    with pytest.raises(DataError, match=r"(?s)150 rows.*hint: explain fewer rows at a time, 83"):
        GaussianNB().fit(x, y).explain(x)


# hard cells


def test_infinite_cells_are_refused():
    x, y = iris(as_frame=False)
    with pytest.raises(DataError, match="infinity"):
        GaussianNB().fit(x, y).explain([[np.inf, 1, 1, 1]])


def test_probability_of_zero_reads_impossible_and_its_opposite_certain():
    model = CategoricalNB(alpha=0).fit(TENNIS_CODES, PLAY)
    why = model.explain([[0, 0, 0, 1]], of="no")
    assert why.decibans[0, 0] == -np.inf
    assert why.total[0] == -np.inf
    assert re.search(r"x0 .* impossible", str(why))
    assert "odds 0 : 1, P(no) = 0" in str(why)
    assert re.search(r"x0 .* certain", str(why.of("yes")))
    assert "nan" not in str(why) + why._repr_html_()


def test_row_that_is_impossible_under_every_class_has_the_prior():
    x, y = np.array([[1, 0], [1, 0], [0, 1]]), ["a", "a", "b"]
    model = MultinomialNB(alpha=0).fit(x, y)
    why = model.explain([[1, 1]])
    np.testing.assert_allclose(why.total, DECIBAN * model.log_odds([[1, 1]], against="b")[:, 0])
    np.testing.assert_allclose(why.total, why.prior)
    assert "nan" not in str(why)


def test_unseen_level_is_no_evidence():
    assert CategoricalNB().fit(TENNIS_CODES, PLAY).explain([[9, 0, 0, 0]]).decibans[0, 0] == 0.0


def test_sparse_rows_are_explained_like_dense_ones():
    from scipy import sparse

    x, y = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 0]]), [0, 1, 0]
    for model in (MultinomialNB(), BernoulliNB(), GaussianNB()):
        model.fit(x, y)
        np.testing.assert_array_equal(model.explain(sparse.csr_array(x)).decibans, model.explain(x).decibans)


# reading


def test_table_is_aligned_sorted_and_starts_with_the_prior():
    data = load_iris(as_frame=True)
    model = GaussianNB().fit(data.data, data.target_names[data.target])
    lines = str(model.explain(data.data.iloc[70:71])).splitlines()
    assert lines[0] == "row 70: virginica against versicolor"
    assert lines[2].split()[0] == "prior"
    assert lines[-1].split()[0] == "total"
    assert lines[3].startswith("  petal width (cm)     1.8      +9.8")
    sizes = [abs(float(re.search(r"[+-]\d+\.\d", line).group())) for line in lines[3:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert len({line.index("│") for line in lines[2:-1]}) == 1


def test_many_columns_and_rows_are_cut_short_and_say_so():
    x, y = np.random.default_rng(0).normal(size=(40, 57)), np.arange(40) % 2
    why = GaussianNB().fit(x, y).explain(x)
    text = why.text(rows=2, columns=10)
    rest = np.sort(np.abs(why.decibans[0]))[:47]
    assert text.count("and 47 more columns") == 2
    assert text.endswith("… and 38 more rows")
    told = float(re.search(r"and 47 more columns\s+([+-][\d.]+)", text).group(1))
    assert abs(told - why.decibans[0][np.argsort(-np.abs(why.decibans[0]))[10:]].sum()) < 0.051
    assert rest.max() <= np.sort(np.abs(why.decibans[0]))[-10:].min()
    assert why.text(rows=1, columns=100).count("\n  x") == 57


def test_missing_cells_are_called_missing():
    x, y = iris(as_frame=False)
    assert re.search(r"x1 +missing +\+0\.0 +│\n", str(GaussianNB().fit(x, y).explain([[5.0, np.nan, 1.4, 0.2]])))


def test_qda_says_that_its_columns_interact():
    x, y = iris(as_frame=False)
    text = str(QuadraticDiscriminantAnalysis().fit(x, y).explain([[5.0, np.nan, 1.4, 0.2]]))
    assert "(all columns together)  5, missing, 1.4, …" in text
    assert text.endswith("columns of this QuadraticDiscriminantAnalysis interact: none has a separate part")


def test_html_is_escaped():
    x = np.array([[0.0], [1.0], [4.0], [5.0]])
    html = GaussianNB().fit(x, ["<b>", "<b>", "&", "&"]).explain(x)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt; against &amp;" in html
    assert "… and 1 more row" in html
    assert html.count("<table") == html.count("</table>") == 3


def test_frame_is_tidy_and_its_decibans_sum_to_the_total():
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x[::30])
    frame = why.to_frame()
    assert frame.columns.tolist() == ["row", "of", "against", "column", "value", "decibans"]
    assert len(frame) == 5 * 5
    np.testing.assert_allclose(frame.groupby("row")["decibans"].sum(), why.total)
    assert frame["column"].tolist()[:2] == ["prior", "x0"]


def test_frame_without_pandas_names_the_cure(monkeypatch):
    x, y = iris(as_frame=False)
    why = GaussianNB().fit(x, y).explain(x[:1])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        why.to_frame()


def test_cells_of_any_type_can_be_explained():
    values = np.array([["sunny", None, 3, float("nan")]], dtype=object)
    why = Explanation.of_parts(
        np.array([0, 1]), ["outlook", "wind", "n", "x"], values, np.log([0.5, 0.5]), np.zeros((1, 2, 4))
    )
    assert re.search(r"outlook +sunny", str(why))
    assert re.search(r"wind +missing", str(why))
    assert re.search(r"n +3 ", str(why))


@pytest.mark.parametrize(
    ("decibans", "words"),
    [
        (0.0, "1 : 1"),
        (10.0, "10 : 1"),
        (-30.0, "1 : 1,000"),
        (85.0, "10^8 : 1"),
        (np.inf, "1 : 0"),
        (5000, "10^500 : 1"),
    ],
)
def test_odds_in_words(decibans, words):
    assert format_odds(decibans) == words


def test_numbers_in_words():
    assert format_decibans(-0.01) == "+0.0"
    assert format_decibans(3e7) == "+3.0e+07"
    assert format_probability(1.0, 2e-9) == "1 − 2e-09"
    assert format_probability(1.0, 0.0) == "1"
    assert format_probability(1e-9, 1.0) == "1.0e-09"


# columns of several types


@pytest.mark.parametrize("settings", [{}, {"missing": "informative"}, {"calibrate": True}, {"unseen": "reserve"}])
def test_mixed_columns_are_told_by_name_and_sum_to_the_log_odds(settings):
    frame, y = weather()
    frame.loc[3, "outlook"], frame.loc[4, "degrees"] = None, np.nan
    model = MixedNB(families={"degrees": "gaussian"}, **settings).fit(frame, y)
    new = frame.assign(windy=["gale", *frame["windy"][1:]])
    why = model.explain(new, of="yes", against="no")
    odds = model.decibans(new, against="no")[:, list(model.classes_).index("yes")]
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), odds, rtol=1e-9, atol=1e-8)
    assert why.columns == tuple(frame.columns)
    text = why.text(rows=5)
    assert re.search(r"outlook +sunny", text)
    assert re.search(r"windy +gale", text)
    assert re.search(r"outlook +missing", text.split("row 3")[1])
