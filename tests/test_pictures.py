"""Pictures of classifiers: what is drawn equals what others compute, of any model, in any axes, under any names."""

from __future__ import annotations

import importlib.util
import warnings
from itertools import combinations, pairwise
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

from .support.data import DEGREES, PLAY, TENNIS, TENNIS_CODES, iris
from .support.pictures import boxes_and_lines

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
    ax = plots.densities(x, y, "petal length (cm)", model=deciban.GaussianNB().fit(x, y))
    for line in ax.lines:
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, abs=0.03)
    assert len(ax.lines) == 3


def test_shares_of_levels_stand_beside_what_a_model_holds_for_true():
    X = pd.DataFrame({"sky": ["grey", "blue", "blue", None, "red", "grey"]})
    y = list("aabbab")
    ax = plots.densities(X, y, "sky", model=deciban.MixedNB(alpha=1).fit(X, y))
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


def test_values_of_top_words_have_digits_enough_for_their_measure():
    small = plots.top_words(["gun", "guns"], [0.0434, -0.00116], measure="kl", both=False)
    assert [text.get_text() for text in small.texts] == ["+0.0434", "−0.00116"]
    decibans = plots.top_words(["gun"], [12.34], measure="decibans")
    assert [text.get_text() for text in decibans.texts] == ["+12.3"]


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
        "densities": lambda ax: plots.densities(X, y, name, ax, model=model),
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


# angles, labels and edges


PAIR = RNG.multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 1.2]], 300) + np.repeat([[0.0, 0.0], [2.6, 1.0]], 150, axis=0)
SIDES = np.repeat(["first", "second"], 150)
TRIPLE = np.concatenate([PAIR, RNG.normal([0, 5], 1.0, (150, 2))])
THIRDS = np.repeat(["a", "b", "c"], 150)
LINEAR = [
    deciban.LinearDiscriminantAnalysis(),
    deciban.FisherDiscriminant(),
    deciban.LogisticRegression(C=10),
    linear_model.LogisticRegression(),
    TheirLDA(),
]


def overlaps(boxes, others=None) -> bool:
    """Whether any two boxes intersect, or any of one list one of another."""
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]] if others is None else None
    return any(a.overlaps(b) for a, b in pairs or ((a, b) for a in boxes for b in others or ()))


def on_screen(ax, x, y):
    return ax.transData.transform(np.column_stack([x, y]))


def normals(ax):
    """(foot, direction) of each arrow w."""
    arrows = [text for text in ax.texts if text.get_gid() == "normal"]
    return [(np.array(one.xyann), np.subtract(one.xy, one.xyann)) for one in arrows]


def parallel(a, b) -> float:
    """The sine of the angle between two directions; −1: they point against each other."""
    a, b = a / np.linalg.norm(a), np.ravel(b) / np.linalg.norm(b)
    return abs(a[0] * b[1] - a[1] * b[0]) if a @ b > 0 else -1.0


@pytest.mark.parametrize("model", LINEAR, ids=repr)
def test_w_is_at_a_right_angle_to_the_boundary(model):
    model.fit(PAIR, SIDES)
    ax = plots.decision_regions(model, PAIR, SIDES, normal=True)
    ax.figure.canvas.draw()
    ((foot, w),) = normals(ax)
    assert 0 <= parallel(w, model.coef_) < 1e-9
    np.testing.assert_allclose(model.predict_proba([foot])[0], 0.5, atol=1e-9)
    along = np.array([-w[1], w[0]])
    np.testing.assert_allclose(model.predict_proba([foot + along, foot - 3 * along]), 0.5, atol=1e-9)
    start, tip, side = on_screen(ax, *np.transpose([foot, foot + w, foot + along]))
    assert abs((tip - start) @ (side - start)) < 1e-9 * np.linalg.norm(tip - start) ** 2  # on the screen, too
    (corner,) = (line for line in ax.lines if line.get_gid() == "right angle")
    ends = np.transpose(corner.get_data()) - foot
    np.testing.assert_allclose([ends[0] @ w, ends[2] @ along], 0.0, atol=1e-9)
    (name,) = (text for text in ax.texts if text.get_text() == "w")
    assert ax.get_window_extent().containsx(name.get_window_extent().x1)
    assert not name.get_window_extent().count_contains(on_screen(ax, *PAIR.T))


def test_w_of_three_classes_is_the_difference_of_their_coefficients():
    model = deciban.LinearDiscriminantAnalysis().fit(TRIPLE, THIRDS)
    ax = plots.decision_regions(model, TRIPLE, THIRDS, normal=True)
    found = normals(ax)
    assert len(found) == 3
    coef = model.coef_
    wanted = [coef[1] - coef[0], coef[2] - coef[0], coef[2] - coef[1]]
    for (foot, w), want in zip(found, wanted, strict=True):
        assert 0 <= parallel(w, want) < 1e-9
        top = np.sort(model.predict_proba([foot])[0])[1:]
        assert top[0] == pytest.approx(top[1], abs=1e-9)


def test_w_of_many_columns_is_drawn_in_the_plane_that_is_seen():
    x, y = iris()
    ax = plots.decision_regions(deciban.LogisticRegression().fit(x, y), x, y, normal=True, steps=60)
    assert normals(ax)
    assert ax.get_aspect() == 1.0


def test_w_needs_a_line_and_equal_scales():
    curved = deciban.QuadraticDiscriminantAnalysis().fit(PAIR, SIDES)
    with pytest.raises(DataError, match=r"QuadraticDiscriminantAnalysis is not a line.*\n\nhint: "):
        plots.decision_regions(curved, PAIR, SIDES, normal=True, steps=40)
    with pytest.raises(DataError, match=r"normal=True with equal=False.*\n\nhint: "):
        plots.decision_regions(curved, PAIR, SIDES, normal=True, equal=False)


@pytest.mark.parametrize(("stretch", "equal", "same"), [(1, None, True), (100, None, False), (100, True, True)])
def test_scales_are_equal_where_that_is_legible_or_asked_for(stretch, equal, same):
    x = PAIR * [1, stretch]
    ax = plots.decision_regions(deciban.GaussianNB().fit(x, SIDES), x, SIDES, equal=equal, steps=20)
    assert (ax.get_aspect() == 1.0) == same
    wide, high = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    if same:
        assert max(wide / high, high / wide) < 2.51
    assert ax.get_xlim()[0] < x[:, 0].min() < x[:, 0].max() < ax.get_xlim()[1]


def test_titles_are_the_model_with_its_settings_or_as_given():
    model = deciban.LogisticRegression(C=10).fit(PAIR, SIDES)
    assert "LogisticRegression(C=10)\n" in plots.decision_regions(model, PAIR, SIDES, steps=9).get_title(loc="left")
    one = deciban.GaussianNB(var_smoothing=0.1).fit(PAIR[:, :1], SIDES)
    drawn = [
        plots.decision_regions(model, PAIR, SIDES, steps=9, title="$ mine"),
        plots.sigmoid(one, PAIR[:, 0], SIDES, title="$ mine"),
        plots.sigmoid(title="$ mine"),
        plots.densities(one, title="$ mine"),
        plots.graph(one, title="$ mine"),
        plots.roc(model, PAIR, SIDES, title="$ mine"),
        plots.precision_recall(model, PAIR, SIDES, title="$ mine"),
        plots.reliability(model, PAIR, SIDES, title="$ mine"),
        plots.confusion_matrix(model, PAIR, SIDES, title="$ mine"),
    ]
    assert {ax.get_title(loc="left") for ax in drawn} == {"$ mine"}


def test_rings_are_of_densities_and_not_of_rules():
    ax = plots.decision_regions(deciban.FisherDiscriminant().fit(PAIR, SIDES), PAIR, SIDES, steps=30)
    assert len(ax.collections) == 3  # one boundary, two classes of rows


# sigmoids


def curve_points(ax):
    return [on_screen(ax, *line.get_data()) for line in ax.lines if line.get_gid() == "curve"]


def test_the_bare_sigmoid_is_the_logistic_function():
    ax = plots.sigmoid()
    (curve,) = (line for line in ax.lines if line.get_gid() == "curve")
    np.testing.assert_allclose(curve.get_ydata(), 1 / (1 + np.exp(-curve.get_xdata())), rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.texts[0].get_text()) == ("z", "g(z)", "0")
    assert ax.get_legend() is None


def test_a_sigmoid_needs_no_rows_but_a_range():
    model = deciban.LogisticRegression().fit(PAIR[:, :1], SIDES)
    ax = plots.sigmoid(model, np.linspace(-2, 4, 7))
    assert not ax.collections
    (curve,) = (line for line in ax.lines if line.get_gid() == "curve")
    x = curve.get_xdata()
    assert x[0] < -2 < 4 < x[-1]
    np.testing.assert_allclose(curve.get_ydata(), model.predict_proba(x[:, None])[:, 1])
    with pytest.raises(DataError, match=r"needs rows, or a range\n\nhint: "):
        plots.sigmoid(model)


@pytest.mark.parametrize("kind", ["alike", "many turns"])
def test_several_sigmoids_have_one_legend_and_labels_apart(kind):
    x = RNG.uniform(-3, 2, 200)
    y = (RNG.random(200) < 1 / (1 + np.exp(-4 * x - 2))).astype(int)
    models = {"true": deciban.LogisticRegression(C=1), "fitted": deciban.LogisticRegression(C=np.inf)}
    if kind == "many turns":
        x = np.concatenate([RNG.normal(0, 1, 100), RNG.normal(0.5, 3, 100)])
        y = np.repeat([0, 1], 100)
        models |= {"QDA": deciban.QuadraticDiscriminantAnalysis(), "LDA": deciban.LinearDiscriminantAnalysis()}
    ax = plots.sigmoid({name: model.fit(x[:, None], y) for name, model in models.items()}, x, y)
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", *models]
    curves = [line for line in ax.lines if line.get_gid() == "curve"]
    assert len({line.get_color() for line in curves}) == len(models)
    assert len({(line.get_color(), str(line._dash_pattern)) for line in curves}) == len(models)
    labels = [text.get_window_extent() for text in ax.texts]
    assert len(labels) == len([line for line in ax.lines if line.get_gid() == "turn"]) >= 2
    assert not overlaps(labels)
    for points in (*curve_points(ax), on_screen(ax, x, y)):
        assert not any(box.count_contains(points) for box in labels)
    assert not overlaps([ax.get_legend().get_window_extent()], [ax.get_window_extent()])
    for line in (line for line in ax.lines if line.get_gid() == "turn"):  # no line crosses the number of another
        at, height = on_screen(ax, *line.get_data())[1]
        assert not any(box.x0 < at < box.x1 and box.y0 < height for box in labels)


def test_curves_that_are_added_keep_one_legend_and_labels_apart():
    x = RNG.normal(size=80)
    y = (x + RNG.normal(size=80) > 0).astype(int)
    ax = None
    for C in (0.1, 1, 10):
        ax = plots.sigmoid(deciban.LogisticRegression(C=C).fit(x[:, None], y), x, y, ax, label=f"C = {C}")
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "C = 0.1", "C = 1", "C = 10"]
    assert len(ax.texts) == 3
    assert not overlaps([text.get_window_extent() for text in ax.texts])


# densities


def test_rings_of_two_columns_are_the_levels_of_the_normal_density():
    model = deciban.QuadraticDiscriminantAnalysis(store_covariance=True).fit(PAIR, SIDES)
    for rows in ((), (PAIR, SIDES)):
        ax = plots.densities(model, *rows)
        assert ax.get_aspect() == 1.0
        assert not ax.get_images()
        rings = [one for one in ax.collections if hasattr(one, "levels")]
        assert len(rings) == 2
        for c, one in enumerate(rings):
            for path, distance in zip(one.get_paths(), (3.0, 2.0, 1.0), strict=True):
                off = path.vertices - model.means_[c]
                found = np.sqrt(np.einsum("ij,jk,ik->i", off, np.linalg.inv(model.covariance_[c]), off))
                np.testing.assert_allclose(found, distance, atol=0.03)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["first", "second"]


@pytest.mark.parametrize(
    "model",
    [deciban.LinearDiscriminantAnalysis(), deciban.GaussianNB(), deciban.MixedNB(families="gaussian")],
    ids=repr,
)
def test_the_density_of_one_column_integrates_the_others_out(model):
    x = pd.DataFrame(PAIR, columns=["u", "v"])
    model.fit(x, SIDES)
    for ax in (plots.densities(model, x[["v", "u"]], SIDES, "u"), plots.densities(model, columns="u")):
        assert ax.get_xlabel() == "u"
        assert len(ax.lines) == 2
        for c, line in enumerate(ax.lines):
            at, height = line.get_data()
            assert np.trapezoid(height, at) == pytest.approx(1.0, abs=0.02)
            mean = np.trapezoid(height * at, at)
            assert mean == pytest.approx(PAIR[model.classes_[c] == SIDES, 0].mean(), abs=0.1)


def test_a_normal_density_of_whole_numbers_is_a_curve_and_the_legend_is_off_the_bars():
    X = TENNIS.drop(columns="play").assign(temperature=DEGREES)
    model = deciban.MixedNB(families={"temperature": "gaussian"}).fit(X, PLAY)
    ax = plots.densities(model, X, PLAY, "temperature")
    ax.figure.canvas.draw()
    for line in ax.lines:
        assert line.get_linestyle() != "None"
        assert len(line.get_xdata()) > 100
        assert np.trapezoid(*line.get_data()[::-1]) == pytest.approx(1.0, abs=0.03)
    assert ax.get_ylabel() == "density p(x | class)"
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_probabilities_of_a_model_without_rows_are_bars():
    model = deciban.MixedNB(alpha=1).fit(TENNIS[["outlook"]], PLAY)
    ax = plots.densities(model)
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, 3)
    np.testing.assert_allclose(heights.sum(axis=1), 1.0)
    assert ax.get_ylabel() == "P(x | class)"


def test_models_without_densities_are_refused():
    for model in (deciban.LogisticRegression(), deciban.FisherDiscriminant(), naive_bayes.GaussianNB()):
        with pytest.raises(DataError, match=r"has no density.*\n\nhint: "):
            plots.densities(model.fit(PAIR, SIDES), PAIR, SIDES)
    with pytest.raises(DataError, match=r"has no density.*\n\nhint: "):
        plots.densities(deciban.MultinomialNB().fit(np.abs(PAIR), SIDES), np.abs(PAIR), SIDES)
    with pytest.raises(DataError, match=r"rows without labels.*\n\nhint: densities\(model\)"):
        plots.densities(PAIR)
    with pytest.raises(DataError, match="3 columns to draw"):
        plots.densities(TRIPLE[:, [0, 1, 1]], THIRDS, [0, 1, 2])


# graphs


def assert_edges_pass_no_box(ax, edges):
    """Edges lead from box to box, pass no other, and no text leaves its box."""
    ax.figure.canvas.draw()
    boxes, lines = boxes_and_lines(ax)
    assert set(lines) == set(edges)
    for ends, points in lines.items():
        dense = np.concatenate([np.linspace(a, b, 9) for a, b in pairwise(points)])
        for name, box in boxes.items():
            assert name in ends or not box.count_contains(dense), (ends, name)
    heads = [points[-1] for points in lines.values()]
    assert min(np.linalg.norm(a - b) for a, b in combinations(heads, 2)) > 0.1  # inches: no head lies on another
    shown = list(boxes.values())
    assert not overlaps(shown)
    for text in ax.texts:
        frame = text.get_window_extent().transformed(ax.transData.inverted())
        inside = [box for box in shown if box.contains(*text.get_position())]
        assert all(box.x0 <= frame.x0 and frame.x1 <= box.x1 for box in inside)


STARS = {
    "mixed": lambda: deciban.MixedNB().fit(TENNIS.drop(columns="play"), TENNIS["play"]),
    "categorical": lambda: deciban.CategoricalNB().fit(TENNIS_CODES, PLAY),
    "bernoulli": lambda: deciban.BernoulliNB().fit(TENNIS_CODES > 0, PLAY),
    "gaussian": lambda: deciban.GaussianNB().fit(*iris()),
    "multinomial": lambda: deciban.MultinomialNB().fit(TENNIS_CODES, PLAY),
    "many": lambda: deciban.GaussianNB().fit(load_wine(as_frame=True).data, load_wine().target),
}


@pytest.mark.parametrize("name", STARS)
def test_naive_bayes_is_a_star(name):
    model = STARS[name]()
    ax = plots.graph(model)
    labels = [text.get_text() for text in ax.texts]
    assert labels[-1] == {"mixed": "play"}.get(name, "class")
    assert_edges_pass_no_box(ax, [(labels[-1], column) for column in labels[:-1]])
    assert len(labels) == model.n_features_in_ + 1


def test_of_many_columns_the_first_are_drawn():
    model = deciban.BernoulliNB().fit(RNG.integers(0, 2, (30, 100)), np.repeat([0, 1], 15))
    labels = [text.get_text() for text in plots.graph(model, most=10).texts]
    assert labels == [*(f"x{j}" for j in range(9)), "… 91 more", "class"]


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize(
    "make", [deciban.BayesNet, deciban.TreeAugmentedNB, lambda: deciban.KDependenceBayes(k=2)], ids=["net", "tree", "k"]
)
def test_edges_of_a_network_pass_no_box(make, tables):
    X, y = TENNIS.drop(columns="play"), TENNIS["play"]
    model = make().fit(X, y)
    ax = plots.graph(model, tables=tables)
    assert_edges_pass_no_box(ax, model._graph().network.edges)


def test_tables_of_a_network_are_its_probabilities():
    tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.25, 0.75]]}
    edges, levels = [("rain", "wet")], {"rain": ["no", "yes"], "wet": ["dry", "wet"]}
    ax = plots.graph(deciban.BayesNet.from_edges(edges, levels=levels, tables=tables), tables=True)
    assert [text.get_text() for text in ax.texts][:4] == [
        "rain",
        "  no   yes\n0.80  0.20",
        "wet",
        "rain   dry   wet\nno    0.90  0.10\nyes   0.25  0.75",
    ]


def test_models_that_are_no_graph_are_refused():
    X, y = TENNIS.drop(columns="play"), TENNIS["play"]
    models = [
        deciban.AODE().fit(X, y),
        deciban.LogisticRegression().fit(PAIR, SIDES),
        deciban.LinearDiscriminantAnalysis().fit(PAIR, SIDES),
        naive_bayes.GaussianNB().fit(PAIR, SIDES),
    ]
    for model in models:
        with pytest.raises(DataError, match=r"\n\nhint: "):
            plots.graph(model)
    with pytest.raises(DataError, match=r"has no tables\n\nhint: "):
        plots.graph(STARS["mixed"](), tables=True)
