"""Pictures: what is drawn stands where the evidence says, nothing covers anything, and what cannot be drawn says so."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

from deciban import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from deciban.decision import DECIBAN
from deciban.errors import DataError
from deciban.plots import nomogram, waterfall
from deciban.plots.nomograms import branches, round_ticks, scales_of

from .support.data import PLAY, TENNIS_CODES, iris, weather

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson([[3, 20, 1]] * 20 + [[9, 15, 1]] * 30)
NAMES = ["outlook", "temperature", "humidity", "windy"]


def wine():
    data = load_wine(as_frame=True)
    return data.data, np.array(["Barolo", "Grignolino", "Barbera"])[data.target]


MODELS = {
    "gaussian": (GaussianNB, *iris()),
    "lda": (LinearDiscriminantAnalysis, *wine()),
    "categorical": (CategoricalNB, TENNIS_CODES, PLAY),
    "bernoulli": (BernoulliNB, TENNIS_CODES > 0, PLAY),
    "poisson": (PoissonNB, COUNTS, np.repeat(["a", "b"], [20, 30])),
    "multinomial": (MultinomialNB, COUNTS, np.repeat(["a", "b"], [20, 30])),
}
each_model = pytest.mark.parametrize("name", MODELS)


def fitted(name: str):
    kind, x, y = MODELS[name]
    return kind().fit(x, y), np.asarray(x, dtype=float)


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def assert_no_overlaps(ax) -> None:
    ax.figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in [*ax.texts, *ax.get_yticklabels()]]
    for i, (one, box) in enumerate(boxes):
        for other, another in boxes[i + 1 :]:
            wide = min(box.x1, another.x1) - max(box.x0, another.x0)
            high = min(box.y1, another.y1) - max(box.y0, another.y0)
            assert min(wide, high) < 1.0, f"{one!r} covers {other!r}"


# the waterfall


def test_bars_of_a_waterfall_lead_from_the_prior_to_the_total():
    x, y = iris()
    why = GaussianNB().fit(x, y).explain(x.iloc[70:71])
    ax = waterfall(why)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    assert bars[0] == (0.0, why.prior[0])
    for one, other in pairwise(bars[:-1]):
        np.testing.assert_allclose(one[1], other[0], atol=1e-9)
    np.testing.assert_allclose([bars[-2][1], bars[-1][1]], why.total[0], atol=1e-9)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [
        "prior",
        "petal width (cm) = 1.8",
        "sepal length (cm) = 5.9",
        "sepal width (cm) = 3.2",
        "petal length (cm) = 4.8",
        "total",
    ]
    assert texts(ax)[-1] == "+7.4"
    assert_no_overlaps(ax)


def test_waterfall_of_many_columns_bundles_the_weak_ones():
    x, y = wine()
    ax = LinearDiscriminantAnalysis().fit(x, y).explain(x).plot(70)
    assert "and 3 more columns" in [label.get_text() for label in ax.get_yticklabels()]
    assert ax.get_title(loc="left").startswith("row 70: ")
    assert_no_overlaps(ax)


def test_waterfall_shows_what_is_impossible_last_and_to_the_edge():
    ax = CategoricalNB(alpha=0).fit(TENNIS_CODES, PLAY).explain([[0, 0, 0, 1]], of="no").plot()
    assert texts(ax)[-2:] == ["impossible", "impossible"]
    low, _ = ax.get_xlim()
    np.testing.assert_allclose([bar.get_x() + bar.get_width() for bar in ax.patches[-2:]], low)
    assert_no_overlaps(ax)


def test_waterfall_draws_into_given_axes():
    import matplotlib.pyplot as plt

    _, (left, right) = plt.subplots(1, 2)
    x, y = iris()
    assert waterfall(GaussianNB().fit(x, y).explain(x.iloc[:2]), 1, ax=right) is right
    assert not left.patches


# the nomogram


@each_model
def test_scales_of_a_model_are_its_evidence(name):
    """Cells read off the scales and added up give the log odds."""
    model, _ = fitted(name)
    of, against = model.classes_[1], model.classes_[0]
    whole = scales_of(model)
    assert (whole.of, whole.against) == (of, against)
    rows = np.column_stack([RNG.choice(scale.values, 7) for scale in whole.scales])
    read = [
        [scale.decibans[np.flatnonzero(scale.values == cell)[0]] for scale, cell in zip(whole.scales, row, strict=True)]
        for row in rows
    ]
    if hasattr(model, "feature_names_in_"):
        rows = (
            MODELS[name][1].iloc[:0].reindex(range(7)).assign(**dict(zip(model.feature_names_in_, rows.T, strict=True)))
        )
    odds = DECIBAN * model.log_odds(rows, against=against)[:, 1]
    np.testing.assert_allclose(whole.prior + np.sum(read, axis=1), odds, rtol=1e-9, atol=1e-8)


@each_model
def test_ticks_stand_at_the_decibans_of_their_values(name):
    model, _ = fitted(name)
    ax = nomogram(model)
    rows = {label.get_text(): y for label, y in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    ticks = [text for text in ax.texts if text.get_gid() == "tick" and text.get_va() in ("top", "bottom")]
    seen = 0
    for scale in scales_of(model).scales:
        near = [t for t in ticks if min(rows, key=lambda r, t=t: abs(rows[r] - t.get_position()[1])) == scale.name]
        for tick in near:
            value = float(tick.get_text().replace("−", "-"))
            at = np.interp(value, scale.values.astype(float), scale.decibans)
            np.testing.assert_allclose(tick.get_position()[0], at, atol=1e-6)
            seen += 1
    assert seen >= len(model.classes_)


@each_model
def test_nothing_in_a_nomogram_covers_anything_else(name):
    assert_no_overlaps(nomogram(fitted(name)[0]))


@each_model
def test_total_and_probability_agree(name):
    model, _ = fitted(name)
    ax = nomogram(model)
    low, high = ax.get_xlim()
    bottom = sorted(zip(ax.get_yticks(), ax.get_yticklabels(), strict=True), key=lambda pair: pair[0])[-2:]
    totals, chances = (
        {
            text.get_position()[0]: float(text.get_text().replace("−", "-"))
            for text in ax.texts
            if text.get_gid() == "tick" and abs(text.get_position()[1] - y) < 0.6
        }
        for y, _ in bottom
    )
    assert len(totals) >= 2
    assert len(chances) >= 2
    slope, start = np.polyfit(list(totals), list(totals.values()), 1)
    for x, p in chances.items():
        assert low <= x <= high
        np.testing.assert_allclose(start + slope * x + scales_of(model).prior, 10 * np.log10(p / (1 - p)), atol=1e-6)


def test_columns_are_sorted_by_span_and_levels_have_names():
    levels = {"outlook": ["overcast", "rainy", "sunny"], "windy": ["false", "true"]}
    ax = nomogram(CategoricalNB().fit(TENNIS_CODES, PLAY), names=NAMES, levels=levels)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "decibans",
        "outlook",
        "humidity",
        "windy",
        "temperature",
        "total",
        "P(yes)",
    ]
    assert {"overcast", "rainy", "sunny", "false", "true"} <= set(texts(ax))


def test_mixed_columns_have_scales_by_their_names():
    frame, y = weather()
    model = MixedNB(families={"degrees": "gaussian"}, missing="informative").fit(frame, y)
    ax = nomogram(model)
    assert {"sunny", "rainy", "overcast", "missing"} <= set(texts(ax))
    assert_no_overlaps(ax)
    scales = {scale.name: scale for scale in scales_of(model).scales}
    assert scales["outlook"].values.tolist() == ["overcast", "rainy", "sunny", None]
    sunny = scales["outlook"].decibans[2]
    why = model.explain(frame[frame["outlook"] == "sunny"], of="yes", against="no")
    np.testing.assert_allclose(why.decibans[:, 0], sunny)


def test_histogram_is_drawn_as_steps():
    frame, y = weather()
    frame = frame.assign(degrees=np.where(PLAY == "yes", 80.0, 60.0) + np.arange(14))
    model = MixedNB(families={"degrees": "histogram"}).fit(frame, y)
    scale = scales_of(model).scales[4]
    assert scale.labels is not None
    assert scale.labels[0].startswith("< ")
    why = model.explain(frame, of="yes", against="no")
    assert set(why.decibans[:, 4].round(6)) <= set(scale.decibans.round(6))


def test_only_the_widest_columns_are_drawn_and_the_rest_is_told():
    x, y = wine()
    ax = nomogram(LinearDiscriminantAnalysis().fit(x, y), of="Barolo", against="Grignolino", columns=5)
    assert len(ax.get_yticks()) == 5 + 3
    assert "8 more columns, none wider than" in ax.get_xlabel()
    assert "P is of Barolo and Grignolino alone" in ax.get_xlabel()


def test_scale_that_turns_back_has_numbers_on_both_sides():
    x = np.concatenate([RNG.normal(0, 1, 200), RNG.normal(0.5, 3, 200)])[:, None]
    model = GaussianNB().fit(x, np.repeat(["narrow", "wide"], 200))
    assert [rises for _, _, rises in branches(scales_of(model).scales[0].decibans)] == [False, True]
    ax = nomogram(model)
    y = ax.get_yticks()[1]
    sides = {
        np.sign(t.get_position()[1] - y) for t in ax.texts if t.get_gid() == "tick" and abs(t.get_position()[1] - y) < 1
    }
    assert sides == {-1.0, 1.0}
    assert_no_overlaps(ax)


def test_scales_end_with_an_arrow_where_they_go_on():
    x, y = iris()
    model = GaussianNB().fit(x, y)
    arrows = [line for line in nomogram(model).lines if line.get_gid() == "beyond"]
    assert arrows
    assert {abs(float(line.get_xdata()[0])) for line in arrows} == {50.0}
    assert not [line for line in nomogram(model, limit=1e5).lines if line.get_gid() == "beyond"]


def test_impossible_levels_stand_beyond_all_others():
    ax = nomogram(CategoricalNB(alpha=0).fit(TENNIS_CODES, PLAY), names=NAMES)
    assert ax.get_xlim()[1] < 12
    assert [line.get_marker() for line in ax.lines if line.get_gid() == "beyond"] == [">"]


def test_linear_scores_of_anyone_can_be_drawn():
    x, y = iris()
    model = LogisticRegression(max_iter=1000).fit(x, y)
    whole = scales_of(model, of="virginica", against="versicolor", values=x.to_numpy().T)
    scores = model.decision_function(x)
    read = [np.interp(x.iloc[:, j], scale.values, scale.decibans) for j, scale in enumerate(whole.scales)]
    np.testing.assert_allclose(whole.prior + np.sum(read, axis=0), DECIBAN * (scores[:, 2] - scores[:, 1]), atol=1e-6)
    with pytest.raises(DataError, match=r"(?s)the range of column.*hint: pass values="):
        nomogram(model)
    view = LinearDiscriminantAnalysis().fit(x[50:], y[50:]).as_logistic()
    ax = nomogram(view, values=x.to_numpy().T, names=list(x.columns))
    assert ax.get_title(loc="left") == "LinearPosterior: virginica against versicolor"
    assert_no_overlaps(ax)


def test_qda_says_what_cannot_be_split_and_what_to_use_instead():
    x, y = iris()
    with pytest.raises(
        DataError, match=r"(?s)interact.*hint: draw LinearDiscriminantAnalysis or GaussianNB.*joint part"
    ):
        nomogram(QuadraticDiscriminantAnalysis().fit(x, y))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"of": "rose"}, "not among"),
        ({"of": "setosa", "against": "setosa"}, "both"),
        ({"names": ["a"]}, "1 names for 4 columns"),
        ({"values": {"nose": (0, 1)}}, "spelling"),
    ],
)
def test_wrong_wishes_are_refused(settings, words):
    x, y = iris()
    with pytest.raises(DataError, match=words):
        nomogram(GaussianNB().fit(x, y), **settings)


def test_values_narrow_a_scale():
    x, y = iris()
    scale = scales_of(GaussianNB().fit(x, y), values={"petal length (cm)": (4.0, 6.0)}).scales[2]
    assert (scale.values[0], scale.values[-1]) == (4.0, 6.0)


def test_nomogram_draws_into_given_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(9, 5))
    assert nomogram(CategoricalNB().fit(TENNIS_CODES, PLAY), ax=ax) is ax


def test_default_pair_is_the_second_class_against_the_first_and_follows_what_is_given():
    x, y = iris()
    model = GaussianNB().fit(x, y)
    for given, want in (
        ({}, ("versicolor", "setosa")),
        ({"of": "setosa"}, ("setosa", "versicolor")),
        ({"against": "versicolor"}, ("setosa", "versicolor")),
        ({"of": "virginica"}, ("virginica", "setosa")),
    ):
        whole = scales_of(model, **given)
        assert (whole.of, whole.against) == want


@pytest.mark.parametrize(("low", "high"), [(0.3, 9.7), (-1e-7, 3e-7), (1e9, 1.5e9), (2.0, 2.0), (-5, 5)])
def test_nice_numbers_are_round_and_within(low, high):
    for count in (2, 5, 20):
        at = round_ticks(low, high, count)
        assert (at >= low - 1e-9 * abs(low)).all()
        assert (at <= high + 1e-9 * abs(high)).all()
        assert 1 <= len(at) <= count + 1


def test_absence_of_matplotlib_names_the_cure_and_importing_deciban_does_not_need_it():
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import deciban, deciban.plots as plots\n"
        "model = deciban.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])\n"
        "for draw in (lambda: plots.nomogram(model), lambda: model.explain([[2.0]]).plot()):\n"
        "    try: draw()\n"
        "    except ImportError as bad: print(str(bad).splitlines()[-1])\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert out.stdout.splitlines() == ["hint: pip install 'deciban[plot]'"] * 2, out.stderr


def test_importing_deciban_does_not_import_matplotlib():
    script = "import deciban, sys; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert out.stdout.strip() == "False", out.stderr
