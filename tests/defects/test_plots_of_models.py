"""Pictures: what users could not read in them, and how they are called."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import deciban
from deciban import GaussianNB, LogisticRegression, MixedNB, PoissonNB, plots
from deciban.errors import DataError
from deciban.plots.nomograms import scales_of


def points():
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 2, 100)
    return x, (rng.random(100) < 1 / (1 + np.exp(-4 * x - 2))) * 1


def boxes(ax, texts):
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in texts]


def test_b33_a_sigmoid_of_a_frame_is_named_after_its_column():
    """pytest takes warnings for errors."""
    X, y = pd.DataFrame({"width": [1.0, 2, 3, 4, 5, 6]}), [0, 0, 0, 1, 1, 1]
    model = LogisticRegression().fit(X, y)
    assert plots.sigmoid(model, X, y).get_xlabel() == "width"
    assert plots.sigmoid(model, X.to_numpy(), y).get_xlabel() == "width"
    assert plots.sigmoid(LogisticRegression().fit(X.to_numpy(), y), X.to_numpy(), y).get_xlabel() == "x"
    assert plots.sigmoid(model, X, y, xlabel="mm").get_xlabel() == "mm"


def test_pictures_several_sigmoids_in_one_picture():
    x, y = points()
    models = {"free": LogisticRegression(C=np.inf), "C = 1": LogisticRegression(), "normal": GaussianNB()}
    ax = None
    for name, model in models.items():
        ax = plots.sigmoid(model.fit(x[:, None], y), x, y, ax, label=name)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", *models]
    curves = [line for line in ax.lines if line.get_gid() == "curve"]
    assert len({line.get_color() for line in curves}) == 3
    found = boxes(ax, ax.texts)
    assert len(found) == 3
    assert not any(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])
    assert all(name in ax.get_title(loc="left") for name in models)


def test_pictures_the_label_of_a_sigmoid_does_not_hide_its_curve():
    x, y = points()
    ax = plots.sigmoid(LogisticRegression(C=np.inf).fit(x[:, None], y), x, y)
    (box,) = boxes(ax, ax.texts)
    curve = next(line for line in ax.lines if line.get_gid() == "curve")
    on_screen = ax.transData.transform(np.column_stack([curve.get_xdata(), curve.get_ydata()]))
    assert not box.count_contains(on_screen)
    rows = ax.transData.transform(np.column_stack([x, y]))
    assert not box.count_contains(rows)


def test_pictures_regions_have_equal_scales_where_that_is_possible():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal([4, 1], 1, (30, 2))])
    y = np.repeat(["a", "b"], 30)

    def units(X, **more):
        ax = plots.decision_regions(GaussianNB().fit(X, y), X, y, steps=10, **more)
        ax.figure.canvas.draw()
        (left, low), (right, high) = ax.transData.transform([(0, 0), (1, 1)])
        return (right - left) / (high - low)

    assert units(X) == pytest.approx(1.0)
    assert units(X, equal=False) != pytest.approx(1.0, abs=0.05)
    assert units(X * [1, 100]) > 10
    long = X * [2, 1]
    assert units(long) == pytest.approx(1.0)
    assert units(pd.DataFrame(long, columns=["age", "weight"])) == pytest.approx(1.0)
    assert units(X * [1, 100], equal=True) == pytest.approx(1.0)


def test_pictures_titles_say_what_is_seen():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(4, 1, (30, 2))])
    y = np.repeat(["a", "b"], 30)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    title = plots.decision_regions(model, X, y, steps=10).get_title(loc="left")
    assert title.startswith("StandardScaler → LogisticRegression\n")
    assert f"{(model.predict(X) == y).sum()} of 60 rows right" in title


@pytest.mark.parametrize("make", [PoissonNB, GaussianNB, lambda: MixedNB(families={"visits": "poisson"})])
def test_pictures_whole_numbers_are_bars(make):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"visits": np.r_[rng.poisson(2, 80), rng.poisson(5, 80)], "other": rng.poisson(3, 160)})
    y = np.repeat(["a", "b"], 80)
    ax = plots.densities(make().fit(X, y), X, y, "visits")
    heights = [bar.get_height() for bar in ax.patches]
    values = int(X.visits.max()) + 1
    assert sum(heights[:values]) == pytest.approx(1.0)
    assert heights[2] == pytest.approx((X.visits[:80] == 2).mean())
    for line in ax.lines:  # marks of probabilities, not up to a factor; a density is a curve
        marks = line.get_linestyle() == "None"
        assert marks == (make is not GaussianNB)
        area = line.get_ydata().sum() if marks else np.trapezoid(line.get_ydata(), line.get_xdata())
        assert 0.8 < area < 1.01
    ax.figure.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 >= inside.x1


def test_f13_every_picture_takes_a_model_and_its_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(2, 1, (40, 2))]), columns=["a", "b"])
    y = np.repeat(["no", "yes"], 40)
    model = LogisticRegression().fit(X, y)
    proba, one = model.predict_proba(X), LogisticRegression().fit(X[["a"]], y)
    both = {
        "roc": ((model, X, y), (y, proba)),
        "precision_recall": ((model, X, y), (y, proba)),
        "reliability": ((model, X, y), (y, proba)),
        "confusion_matrix": ((model, X, y), (y, model.predict(X))),
        "densities": ((GaussianNB().fit(X, y), X, y), (X, y)),
        "waterfall": ((model, X), (model.explain(X),)),
        "coefficient_path": ((model, X, y), (model.path(X, y),)),
        "learning_curve": ((model, X, y), (deciban.learning_curve(model, X, y),)),
        "decision_regions": ((model, X, y), None),
        "sigmoid": ((one, X[["a"]], y), None),
    }
    for name, (rows, other) in both.items():
        draw = getattr(plots, name)
        ax = draw(*rows)
        if other is not None:
            again = draw(*other)
            for mine, theirs in zip(ax.lines, again.lines, strict=True):
                np.testing.assert_array_equal(mine.get_ydata(), theirs.get_ydata())
            assert [p.get_height() for p in ax.patches if hasattr(p, "get_height")] == [
                p.get_height() for p in again.patches if hasattr(p, "get_height")
            ]


@pytest.mark.parametrize("name", ["roc", "confusion_matrix", "densities", "decision_regions", "sigmoid"])
def test_task_015_the_labels_of_a_picture_may_be_a_column(name):
    table = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0) % 7, "sky": ["grey"] * 20 + ["blue"] * 20})
    table = table.drop(columns="b") if name == "sigmoid" else table
    model = GaussianNB().fit(table, "sky")
    ax, named = (
        getattr(plots, name)(model, *rows) for rows in ((table.drop(columns="sky"), table["sky"]), (table, "sky"))
    )
    assert [list(line.get_ydata()) for line in named.lines] == [list(line.get_ydata()) for line in ax.lines]


def test_f13_errors_say_what_was_expected():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.repeat([0, 1], 10)
    model = GaussianNB().fit(X, y)
    with pytest.raises(DataError, match="`roc`"):
        plots.roc(model, X)
    with pytest.raises(DataError, match=r"hint: waterfall\(model, X\), or waterfall\(explanation\)"):
        plots.waterfall(model)
    with pytest.raises(DataError, match="`ax` is ndarray, not matplotlib axes"):
        plots.roc(y, model.predict_proba(X), X)
    with pytest.raises(DataError, match=r"y has shape \(20, 2\)\n\nhint: give \(y, proba\)"):
        plots.reliability(X, y)
    with pytest.raises(DataError, match=r"hint: pass `model.predict_proba"):
        plots.roc(y, ["a"] * 20)


def seldom():
    """A table whose densities reach beyond its rows: classes of passengers, and ages from 0."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame({"pclass": 1 + rng.binomial(2, 0.4 + 0.2 * y), "age": rng.uniform(0, 30, 600) + 5 * y})
    return X, y


def labels_of(ax, name):
    """The numbers on the scale of a column."""
    at = next(y for y, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True) if label.get_text() == name)
    ticks = [text for text in ax.texts if text.get_gid() == "tick" and abs(text.get_position()[1] - at) < 1.5]
    return [text.get_text().replace("−", "-") for text in ticks]


def test_task_64_a_nomogram_keeps_to_the_values_that_were_seen():
    X, y = seldom()
    model = MixedNB().fit(X, y).forget(X[-20:], y[-20:])
    found = {scale.name: scale.values for scale in scales_of(model).scales}
    assert set(found["pclass"]) <= {1, 2, 3}
    assert found["age"].min() >= 0
    assert found["age"].max() <= 35
    assert set(labels_of(deciban.plots.nomogram(model), "pclass")) <= {"1", "2", "3"}
    assert "0" in labels_of(deciban.plots.nomogram(model, values={"pclass": (0, 5)}), "pclass")
    for evidence in deciban.top_evidence(model).values():
        cells = {one.column: one.value for one in evidence}
        assert 1 <= cells.get("pclass", 1) <= 3
        assert 0 <= cells.get("age", 0) <= 35


def test_task_64_numbers_that_hardly_differ_range_over_their_density():
    """The cells of such numbers are wide: one that holds them all has borders 10⁵ away."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({"far": 1e9 + rng.normal(size=60) + 2 * y, "none": np.full(60, np.nan)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedNB().fit(X, y)
    (far, _) = scales_of(model).scales
    assert abs(far.values - X["far"].mean()).max() < 100
    deciban.plots.nomogram(model)


def test_task_64_whole_numbers_that_go_up_and_down_are_levels_of_the_nomogram():
    y = np.repeat([0, 1], 200)
    X = pd.DataFrame({"n": np.r_[np.tile([0, 0, 0, 1, 3], 40), np.tile([0, 1, 1, 1, 3], 40)]})
    ax = deciban.plots.nomogram(MixedNB().fit(X, y))
    assert set(labels_of(ax, "n")) == {"0", "1", "3"}


def test_task_66_top_words_of_a_model():
    model = deciban.TextClassifier().fit(["win a prize", "lunch at noon", "prize draw"], ["spam", "ham", "spam"])
    ax = plots.top_words(model, most=2)
    said = model.decibans(["prize", ""])[:, 1]
    assert ax.get_yticklabels()[0].get_text() == "prize"
    assert ax.patches[0].get_width() == pytest.approx(said[0] - said[1])
    assert ax.patches[-1].get_width() < 0
    assert ax.get_title(loc="left") == "Strongest words: spam"
    assert ax.get_xlabel() == "decibans"
    assert plots.top_words(model, measure="log_odds", most=2).get_xlabel() == "log odds (nats)"
    assert "lunch" in [label.get_text() for label in plots.top_words(model, of="ham", most=2).get_yticklabels()]
    with pytest.raises(DataError, match=r"class 'eggs' is not among .*\n\nhint: "):
        plots.top_words(model, of="eggs")
    with pytest.raises(DataError, match="GaussianNB"):
        plots.top_words(GaussianNB().fit([[0.0], [1.0]], [0, 1]))


@pytest.mark.parametrize("name", ["coefficient_path", "learning_curve", "waterfall"])
def test_task_66_rows_without_a_model_are_answered_with_the_forms(name):
    """A frame was taken for the thing to draw: a raw KeyError of pandas."""
    X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]}), pd.Series(["u", "u", "v", "v"])
    with pytest.raises(DataError, match=rf"a DataFrame\n\nhint: {name}\(model, X"):
        getattr(plots, name)(X, y)


def test_task_63_the_legend_of_a_reliability_picture_hides_no_point():
    y = np.repeat([0, 1], [2, 8])
    ax = plots.reliability(y, np.r_[0.05, 0.95, np.full(3, 0.05), np.full(3, 0.35), 0.95, 0.95])
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    curve = next(line for line in ax.lines if line.get_gid() == "curve")
    points = ax.transData.transform(np.column_stack([curve.get_xdata(), curve.get_ydata()]))
    assert not any(box.contains(x, y) for x, y in points)


def test_task_66_columns_rows_and_classes_that_are_not_there():
    X, y = pd.DataFrame({"age": [0.0, 1.0, 4.0, 5.0], "size": [1.0, 2.0, 1.5, 2.5]}), ["u", "u", "v", "v"]
    model = GaussianNB().fit(X, y)
    for column in ("agee", 2, ["age", "agee"]):
        with pytest.raises(DataError, match=r"there is no column .* among \['age', 'size'\]\n\nhint: "):
            plots.densities(model, X, y, column)
    assert plots.densities(model, X, y, -1).get_xlabel() == "size"
    with pytest.raises(DataError, match=r"there is no row 7 among 4\n\nhint: "):
        plots.waterfall(model, X, row=7)
    for draw in (plots.roc, plots.precision_recall, plots.reliability):
        with pytest.raises(DataError, match=r"class 'w' is not among \['u', 'v'\]\n\nhint: `of` is one of these"):
            draw(model, X, y, of="w")
