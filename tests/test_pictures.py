"""Pictures of classifiers: what is drawn equals what others compute, of any model, in any axes, under any names."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binomtest
from sklearn import linear_model, metrics, naive_bayes
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA

import deciban
from deciban import metrics as outcomes
from deciban import metrics as uncertainty
from deciban import plots
from deciban.data.frames import columns
from deciban.display import COLOURS, class_style
from deciban.errors import DataError
from deciban.plots.regions import discriminant_plane, slice_projection

from .support.data import iris

RNG = np.random.default_rng(0)
EXAMPLE = Path(__file__).parents[1] / "examples" / "pictures.py"
EVIL = "$\\frac{<b>&"


def answers(n: int = 400, k: int = 3):
    """Labels and probabilities that mean something."""
    y = RNG.integers(0, k, n)
    scores = RNG.normal(size=(n, k)) + 1.5 * np.eye(k)[y]
    proba = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y, np.round(proba, 2) / np.round(proba, 2).sum(axis=1, keepdims=True)  # with ties


# what is behind the curves


def test_roc_and_precision_are_shares_of_rows_above_each_threshold():
    y, proba = answers()
    for one in outcomes.one_vs_rest_outcomes(y, proba):
        above = one.score >= np.unique(one.score)[::-1, None]  # a row of rows for each threshold, from the largest
        hits, taken = (above & one.hit).sum(axis=1), above.sum(axis=1)
        x, line = outcomes.roc(one.hit, one.score)
        np.testing.assert_allclose(x, np.r_[0, taken - hits] / (~one.hit).sum())
        np.testing.assert_allclose(line, np.r_[0, hits] / one.hit.sum())
        recall, precision, average = outcomes.precision_recall(one.hit, one.score)
        np.testing.assert_allclose(recall, hits / one.hit.sum())
        np.testing.assert_allclose(precision, hits / taken)
        np.testing.assert_allclose(average, np.diff(recall, prepend=0) @ precision)
        np.testing.assert_allclose(
            uncertainty.area(one.hit, one.score).value, metrics.roc_auc_score(one.hit, one.score)
        )


@pytest.mark.parametrize("hit", [False, True])
def test_curves_of_a_class_without_rows_or_of_nothing_else_are_drawn(hit):
    hits, score = np.full(4, hit), np.array([0.1, 0.5, 0.5, 0.9])
    rates = [[0, 0.25, 0.75, 1], [0, 0, 0, 0]]
    np.testing.assert_array_equal(outcomes.roc(hits, score), rates[::-1] if hit else rates)
    recall, precision, average = outcomes.precision_recall(hits, score)
    np.testing.assert_array_equal(recall, [0.25, 0.75, 1.0] if hit else [0, 0, 0])
    np.testing.assert_array_equal(precision, [float(hit)] * 3)
    assert average == hit
    for draw in (plots.roc, plots.precision_recall):
        assert draw(np.full(4, int(hit)), score, classes=[0, 1]).lines


@pytest.mark.parametrize("n", [1, 2, 7, 60, 5000])
def test_intervals_of_shares_are_wilsons(n):
    for hits in {0, 1, n // 2, n - 1, n}:
        told, wanted = uncertainty.proportion_interval(hits, n), binomtest(hits, n).proportion_ci(method="wilson")
        np.testing.assert_allclose([told.low, told.high], [wanted.low, wanted.high], atol=1e-14)
    half = uncertainty.proportion_interval(n / 2, n)  # a tie counts half
    assert half.low < half.value == 0.5 < half.high


def test_intervals_hold_what_they_promise():
    """Of many samples, the interval has the truth inside about 95 times in 100."""
    rng = np.random.default_rng(1)
    inside = {"share": 0, "mean": 0, "area": 0}
    for _ in range(400):
        told = uncertainty.proportion_interval(rng.binomial(60, 0.9), 60)
        inside["share"] += told.low <= 0.9 <= told.high
        told = uncertainty.mean(rng.exponential(size=80))
        inside["mean"] += told.low <= 1.0 <= told.high
        told = uncertainty.area(np.arange(80) < 40, rng.normal(size=80) + (np.arange(80) < 40))
        inside["area"] += told.low <= 0.76025 <= told.high
    assert all(0.9 <= count / 400 <= 0.99 for count in inside.values()), inside


def test_redrawn_interval_of_a_mean_is_that_of_its_standard_error():
    values = RNG.normal(size=300)
    told = uncertainty.bootstrap(lambda w: float(values @ w / w.sum()), 300, draws=600)
    wanted = uncertainty.mean(values)
    np.testing.assert_allclose([told.low, told.high], [wanted.low, wanted.high], atol=0.03)


def test_labels_that_no_column_stands_for_are_refused():
    with pytest.raises(DataError, match=r"is not among \[0, 1\]"):
        plots.roc([0, 1, 2], np.full((3, 2), 0.5), classes=[0, 1])
    with pytest.raises(DataError, match="should be"):
        plots.roc([0, 1, 2], np.full((3, 2), 0.5))


# planes


def test_discriminant_plane_orders_rows_as_lda_does_and_its_points_come_back():
    data = load_wine()
    plane = discriminant_plane(columns(data.data), data.target, None)
    theirs = TheirLDA(solver="eigen").fit(data.data, data.target).transform(data.data)
    for mine, wanted in zip(plane.points.T, theirs.T, strict=True):
        assert abs(np.corrcoef(mine, wanted)[0, 1]) > 0.9999
    again = discriminant_plane(columns(plane.rows(plane.points)), data.target, None)  # the plane of its own rows
    assert again.points.shape == plane.points.shape
    centre = np.asarray(plane.rows(np.zeros((1, 2))))[0]
    np.testing.assert_allclose(centre, data.data.mean(axis=0))


@pytest.mark.parametrize("case", ["leak", "constant column", "no scatter", "one row a class", "one class"])
def test_degenerate_tables_have_a_plane_too(case):
    x, y = iris()
    x, y = x.to_numpy(), np.unique(y, return_inverse=True)[1]
    if case == "leak":
        x = np.column_stack([x, y == 1])
    elif case == "constant column":
        x = np.column_stack([x, np.ones(len(x))])
    elif case == "no scatter":
        x, y = np.repeat(np.eye(3), 2, axis=0), np.repeat([0, 1, 2], 2)
    elif case == "one row a class":
        x, y = x[::50], y[::50]
    else:
        y = np.zeros(len(x), dtype=int)
    plane = discriminant_plane(columns(x), y, None)
    assert np.isfinite(plane.points).all()
    if case == "leak":  # the column that equals a class parts it from the others
        parted = [sorted((plane.points[y == c, 0].min(), plane.points[y == c, 0].max())) for c in (0, 1, 2)]
        assert parted[1][0] > max(parted[0][1], parted[2][1]) or parted[1][1] < min(parted[0][0], parted[2][0])
    back = np.asarray(plane.rows(plane.points))
    again = back - np.asarray(plane.rows(np.zeros((1, 2))))
    assert np.isfinite(again).all()
    assert np.linalg.matrix_rank(again) <= 2


def test_two_classes_have_a_second_axis_too():
    x = RNG.normal(size=(60, 4)) * [1, 5, 1, 1]
    y = np.repeat([0, 1], 30)
    plane = discriminant_plane(columns(x + y[:, None] * [3, 0, 0, 0]), y, None)
    assert np.linalg.matrix_rank(plane.points - plane.points.mean(axis=0)) == 2


@pytest.mark.parametrize("library", [pd, pl])
def test_slices_keep_the_frame_and_hold_the_rest_still(library):
    X = library.DataFrame({"a": [1.0, 2.0, 4.0], "kind": ["u", "v", "v"], "b": [0.0, 1.0, 3.0], "c": [5.0, 6.0, 9.0]})
    plane = slice_projection(columns(X), ("b", "a"), library.__name__)
    rows = plane.rows(np.array([[7.0, 8.0]]))
    assert type(rows) is type(X)
    assert [rows[name][0] for name in ("a", "kind", "b", "c")] == [8.0, "v", 7.0, 6.0]
    with pytest.raises(DataError, match="holds no numbers"):
        slice_projection(columns(X), ("a", "kind"), library.__name__)
    with pytest.raises(DataError, match="no column 'z'"):
        slice_projection(columns(X), ("a", "z"), library.__name__)


# every picture


MODELS = [
    deciban.GaussianNB(),
    deciban.LinearDiscriminantAnalysis(),
    deciban.QuadraticDiscriminantAnalysis(),
    deciban.RegularizedDiscriminantAnalysis(),
    deciban.FisherDiscriminant(),
    deciban.LogisticRegression(),
    deciban.MixedNB(),
    naive_bayes.GaussianNB(),
    linear_model.LogisticRegression(max_iter=1000),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("kind", ["two", "slice", "projection"])
def test_regions_of_any_classifier(model, kind):
    x, y = iris()
    some = x.iloc[:, :2] if kind == "two" else x
    columns = ("petal length (cm)", "petal width (cm)") if kind == "slice" else None
    ax = plots.decision_regions(model.fit(some, y), some, y, columns=columns, steps=25)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert ax.get_images()[0].get_array().shape == (25, 25, 3)


def test_shading_is_the_colour_of_the_class_that_is_certain():
    x = np.concatenate([RNG.normal(-9, 1, (40, 2)), RNG.normal(9, 1, (40, 2))])
    ax = plots.decision_regions(deciban.GaussianNB().fit(x, np.repeat([0, 1], 40)), x, np.repeat([0, 1], 40), steps=20)
    corner = ax.get_images()[0].get_array()[[0, -1], [0, -1]]
    for colour, c in zip(corner, (0, 1), strict=True):
        pure = np.array(mpl.colors.to_rgb(class_style(c, 2).colour))
        assert np.abs(colour - pure).sum() < np.abs(corner[1 - c] - pure).sum()


def test_densities_of_a_model_have_area_one():
    x, y = iris()
    ax = plots.class_densities(x, y, "petal length (cm)", model=deciban.GaussianNB().fit(x, y))
    for line in ax.lines:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, abs=0.03)
    assert len(ax.lines) == 3


def test_shares_of_levels_stand_beside_what_a_model_holds_for_true():
    X = pd.DataFrame({"sky": ["grey", "blue", "blue", None, "red", "grey"]})
    y = list("aabbab")
    ax = plots.class_densities(X, y, "sky", model=deciban.MixedNB(alpha=1).fit(X, y))
    assert {label.get_text() for label in ax.get_xticklabels()} == {"grey", "blue", "red"}
    assert "17 % missing" in ax.get_xlabel()
    for dots in ax.lines:
        assert dots.get_ydata().sum() == pytest.approx(1.0)


def test_sigmoid_turns_where_the_logistic_does():
    x = RNG.uniform(-3, 2, 200)
    y = (RNG.random(200) < 1 / (1 + np.exp(-4 * x - 2))).astype(int)
    model = deciban.LogisticRegression(C=np.inf).fit(x[:, None], y)
    ax = plots.sigmoid(model, x, y)
    assert float(ax.texts[0].get_text().replace("−", "-")) == pytest.approx(
        -model.intercept_[0] / model.coef_[0, 0], abs=1e-2
    )
    with pytest.raises(DataError, match="2 columns"):
        plots.sigmoid(model, np.zeros((3, 2)), [0, 1, 0])


def test_confusion_shows_all_rows():
    y, predicted = list("aabbc"), list("abbbb")
    ax = plots.confusion_matrix(y, predicted)
    counts = [int(text.get_text().split("\n")[0]) for text in ax.texts]
    np.testing.assert_array_equal(np.reshape(counts, (3, 3)), metrics.confusion_matrix(y, predicted))


def test_top_words_are_the_strongest_of_both_sides_once_each():
    ax = plots.top_words(list("abcde"), [1.0, -5.0, 3.0, 0.0, -1.0], most=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["c", "a", "e", "b"]
    few = plots.top_words(list("abc"), [1.0, 2.0, 3.0], most=2)
    assert [label.get_text() for label in few.get_yticklabels()] == ["c", "b", "a"]


def learned_in_steps(**settings):
    x = np.concatenate([RNG.normal(0, 1, (30, 2)), RNG.normal(1, 1, (30, 2))])
    model = deciban.LogisticRegression(C=np.inf, history=True, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, np.repeat([0, 1], 30)), x, np.repeat([0, 1], 30)


def test_training_draws_every_iteration():
    model, *_ = learned_in_steps(solver="gradient", max_iter=12, tol=0)
    ax = plots.training(model)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_.log_likelihood)
    np.testing.assert_array_equal(ax.figure.axes[1].lines[0].get_ydata(), model.history_.gradient_norm)
    assert ax.get_legend() is None
    ax.figure.canvas.draw()


def test_training_of_models_without_likelihood_draws_their_objectives():
    model, x, y = learned_in_steps(solver="newton")
    units = {kind.__name__: kind(history=True) for kind in (deciban.LeastSquaresClassifier, deciban.Perceptron)}
    models = {"logistic": model} | {name: unit.fit(x, y) for name, unit in units.items()}
    ax = plots.training(models)
    assert ax.get_ylabel() == "objective"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(models)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_.objective)


def test_the_path_ends_in_the_valley_of_the_error_surface():
    model, x, y = learned_in_steps(solver="newton")
    ax = plots.error_surface(model, x, y, parameters=("intercept", "x1"), steps=15)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("intercept", "x1")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.history_.intercept[:, 0])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_.coef[:, 0, 1])
    assert "x0 = " in ax.get_title(loc="left")
    for (low, high), path in zip((ax.get_xlim(), ax.get_ylim()), ax.lines[0].get_data(), strict=True):
        assert low < path.min() <= path.max() < high
    ax.figure.canvas.draw()


@pytest.mark.parametrize("solver", ["newton", "gradient"])
def test_a_path_that_diverges_is_drawn(solver):
    rate = {"learning_rate": 100.0} if solver == "gradient" else {"init": [30.0, 30.0, 30.0]}
    model, x, y = learned_in_steps(solver=solver, line_search=False, max_iter=20, **rate)
    plots.training(model).figure.canvas.draw()
    plots.error_surface(model, x, y, steps=8).figure.canvas.draw()


def test_pictures_of_learning_say_what_they_need():
    model, x, y = learned_in_steps()
    with pytest.raises(DataError, match="history=True"):
        plots.training(deciban.LogisticRegression().fit(x, y))
    with pytest.raises(DataError, match="no parameter 'x7'"):
        plots.error_surface(model, x, y, parameters=("x0", "x7"))
    with pytest.raises(DataError, match="two of"):
        plots.error_surface(model, x, y, parameters=("x0", 0))
    with pytest.raises(DataError, match="rows and labels"):
        plots.error_surface(model, x)
    with pytest.raises(DataError, match="different parameters"):
        plots.error_surface({"a": model, "b": clone(model).fit(x[:, :1], y)}, x, y)


def every_picture(name: str) -> dict:
    """All pictures of rows whose column and classes are called so."""
    x = np.concatenate([RNG.normal(0, 1, (30, 2)), RNG.normal(2, 1, (30, 2))])
    X, y = pd.DataFrame(x, columns=[name, "other"]), np.repeat([name, "b"], 30)
    model = deciban.GaussianNB().fit(X, y)
    proba = model.predict_proba(X)
    one = deciban.GaussianNB().fit(x[:, :1], y)
    learned = deciban.LogisticRegression(history=True).fit(X, y)
    return {
        "decision_regions": lambda ax: plots.decision_regions(model, X, y, ax, steps=10),
        "class_densities": lambda ax: plots.class_densities(X, y, name, ax, model=model),
        "sigmoid": lambda ax: plots.sigmoid(one, x[:, 0], y, ax, xlabel=name, label=name),
        "roc": lambda ax: plots.roc(y, proba, ax),
        "precision_recall": lambda ax: plots.precision_recall(y, proba, ax),
        "reliability": lambda ax: plots.reliability(y, proba, ax),
        "confusion_matrix": lambda ax: plots.confusion_matrix(y, model.predict(X), ax),
        "top_words": lambda ax: plots.top_words([name, "b"], [1.0, -2.0], ax, title=name),
        "training": lambda ax: plots.training({name: learned, "same": learned}, ax),
        "error_surface": lambda ax: plots.error_surface({name: learned}, X, y, ax, steps=8),
    }


@pytest.mark.parametrize("which", every_picture("a"))
@pytest.mark.parametrize("name", ["plain", EVIL, "$a$"])
def test_every_picture_draws_into_given_axes_whatever_the_names(which, name):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    assert every_picture(name)[which](ax) is ax
    figure.canvas.draw()


def test_colours_differ_for_eyes_without_red_or_green():
    """The first colours keep apart when seen through Viénot's simulations of dichromacy (1999)."""
    to_linear = lambda c: np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)  # noqa: E731
    rgb = to_linear(np.array([mpl.colors.to_rgb(colour) for colour in COLOURS[:6]]))
    protan = np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]])
    deutan = np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]])
    for seen in (rgb, rgb @ protan.T, rgb @ deutan.T):
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        assert apart[~np.eye(6, dtype=bool)].min() > 0.06


def test_the_example_draws_all_its_pictures(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("pictures", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr("deciban.plots.regions.STEPS", 20)
    paths = module.main(str(tmp_path), "svg")
    assert len(paths) == len(module.PICTURES) >= 8
    assert all(path.stat().st_size > 5000 for path in paths)
