"""Standard figures of classification courses, drawn with `deciban.plots`.

    python examples/pictures.py [FOLDER] [png|svg]

Their paths are printed; without FOLDER they lie in a new temporary one. Needs matplotlib; takes about ten seconds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import deciban
from deciban import plots

PICTURES: list[Callable[[], Figure]] = []


def picture(draw: Callable[[], Figure]) -> Callable[[], Figure]:
    """Put a function that draws among the pictures."""
    PICTURES.append(draw)
    return draw


def panels(count: int, wide: float = 4.6, high: float = 3.8) -> tuple[Figure, Any]:
    figure = Figure(figsize=(wide * count, high), layout="constrained")
    return figure, np.ravel(figure.subplots(1, count))


def heaps(*centres: Any, spread: float = 1.0, rows: int = 120, seed: int = 0) -> np.ndarray:
    """Normal rows around each of the centres, an equal number each."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(centre, spread, (rows // len(centres), 2)) for centre in centres])


@picture
def sigmoid() -> Figure:
    """100 points drawn from p(y = 1) = 1 / (1 + exp(−4x − 2)), and logistic regressions of them."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 2, 100)
    y = (rng.random(100) < 1 / (1 + np.exp(-4 * x - 2))).astype(int)
    figure, (ax,) = panels(1, 6.2, 3.4)
    models = {"no penalty": deciban.LogisticRegression(C=np.inf), "C = 1": deciban.LogisticRegression()}
    plots.sigmoid({name: model.fit(x[:, None], y) for name, model in models.items()}, x, y, ax)
    return figure


@picture
def two_gaussians() -> Figure:
    """Two classes that are normal, with one covariance and with two: a line parts the ones, a curve the others."""
    figure, axes = panels(2, 5.0)
    rng = np.random.default_rng(1)
    shape = np.array([[1.0, 0.6], [0.6, 1.2]])
    first = rng.multivariate_normal([0, 0], shape, 150)
    second = rng.multivariate_normal([2.6, 1.0], shape, 150)
    other = rng.multivariate_normal([2.4, 0.5], [[0.35, -0.25], [-0.25, 0.6]], 150)
    y = np.repeat(["first", "second"], 150)
    one, two = np.concatenate([first, second]), np.concatenate([first, other])
    plots.decision_regions(deciban.LinearDiscriminantAnalysis().fit(one, y), one, y, axes[0], normal=True)
    plots.decision_regions(deciban.QuadraticDiscriminantAnalysis().fit(two, y), two, y, axes[1])
    return figure


@picture
def contours() -> Figure:
    """The normal densities of two columns of each class, without a boundary."""
    data = load_iris(as_frame=True)
    x, y = data.data.iloc[:, :2], data.target_names[data.target]
    figure, axes = panels(2, 5.4)
    for ax, model in zip(axes, (deciban.GaussianNB(), deciban.QuadraticDiscriminantAnalysis()), strict=True):
        plots.densities(model.fit(x, y), x, y, ax=ax, title=type(model).__name__)
    return figure


@picture
def graphs() -> Figure:
    """Naive Bayes, and a network of the same columns cut into intervals."""
    data = load_iris(as_frame=True)
    x, y = data.data, data.target_names[data.target]
    figure, axes = panels(2, 7.4, 4.0)
    for ax, model in zip(axes, (deciban.GaussianNB(), deciban.TreeAugmentedNB()), strict=True):
        plots.graph(model.fit(x, y), ax)
    return figure


@picture
def many_humps() -> Figure:
    """A class of two heaps with the other between them: its mean lies among the wrong rows, and LDA fails."""
    figure, axes = panels(2, 5.0)
    x = np.concatenate([heaps([-3, -3], [3, 3], spread=0.8), heaps([0, 0], spread=0.8)])
    y = np.repeat(["around", "between"], 120)
    plots.decision_regions(deciban.LinearDiscriminantAnalysis().fit(x, y), x, y, axes[0])
    plots.decision_regions(deciban.MixedNB().fit(x, y), x, y, axes[1], contours=False)
    return figure


@picture
def three_classes() -> Figure:
    """Three classes parted by lines (LDA) and by curves (QDA)."""
    figure, axes = panels(2, 5.0)
    rng = np.random.default_rng(3)
    x = np.concatenate(
        [
            rng.multivariate_normal([0, 0], [[1.2, 0.7], [0.7, 0.8]], 120),
            rng.multivariate_normal([3, 0], [[0.4, 0.0], [0.0, 1.6]], 120),
            rng.multivariate_normal([1.2, 3], [[1.8, -0.5], [-0.5, 0.4]], 120),
        ]
    )
    y = np.repeat(["A", "B", "C"], 120)
    for ax, model in zip(
        axes, (deciban.LinearDiscriminantAnalysis, deciban.QuadraticDiscriminantAnalysis), strict=True
    ):
        plots.decision_regions(model().fit(x, y), x, y, ax)
    return figure


@picture
def many_columns() -> Figure:
    """More columns than a picture has axes: a slice at the medians, and the plane of two discriminants."""
    figure, axes = panels(2, 5.4)
    data = load_wine(as_frame=True)
    x, y = data.data, np.array(["Barolo", "Grignolino", "Barbera"])[data.target]
    model = deciban.GaussianNB().fit(x, y)
    plots.decision_regions(model, x, y, axes[0], columns=("flavanoids", "color_intensity"))
    plots.decision_regions(model, x, y, axes[1])
    return figure


@picture
def densities() -> Figure:
    """What naive Bayes sees of a flower: a normal density for each class and column."""
    data = load_iris(as_frame=True)
    x, y = data.data, data.target_names[data.target]
    model = deciban.GaussianNB().fit(x, y)
    figure, axes = panels(4, 3.4, 2.8)
    for ax, column in zip(axes, x.columns, strict=True):
        plots.densities(x, y, column, ax, model=model)
    return figure


@picture
def how_good() -> Figure:
    """Ranking, calibration and confusion of rows that were held out."""
    x, y, names = *load_breast_cancer(return_X_y=True), load_breast_cancer().target_names
    y = names[y]
    figure, axes = panels(4, 4.4, 4.2)
    for name, model in (("naive Bayes", deciban.GaussianNB()), ("calibrated", deciban.MixedNB(calibrate=True))):
        out = deciban.cross_validate(model, x, y, folds=10)
        plots.roc(y, out.proba, axes[0], of="malignant", label=name)
        plots.precision_recall(y, out.proba, axes[1], of="malignant", label=name)
        plots.reliability(y, out.proba, axes[2], of="malignant", label=name)
    plots.confusion_matrix(y, out.predicted, axes[3])
    return figure


@picture
def learning() -> Figure:
    """Accuracy over the number of rows learned from, one third held out."""
    x, y = load_breast_cancer(return_X_y=True)
    figure, (ax,) = panels(1, 5.6, 3.8)
    for model in (deciban.GaussianNB(), deciban.LinearDiscriminantAnalysis()):
        plots.learning_curve(deciban.learning_curve(model, x, y, [20, 50, 100, 200, 379]), ax)
    return figure


@picture
def words() -> Figure:
    """The words that distinguish two Python libraries, from their documentation."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts, labels = [], []
    for library in ("numpy.linalg", "scipy.stats"):
        module = __import__(library, fromlist=["_"])
        found = [getattr(module, name).__doc__ or "" for name in dir(module) if not name.startswith("_")]
        texts += found
        labels += [library] * len(found)
    counter = CountVectorizer(min_df=3, token_pattern=r"[a-z]{3,}", stop_words="english")
    counts = counter.fit_transform(texts)
    model = deciban.MultinomialNB().fit(counts, labels)
    evidence = 10 / np.log(10) * (model.feature_log_prob_[1] - model.feature_log_prob_[0])
    figure, (ax,) = panels(1, 5.0, 4.8)
    plots.top_words(
        counter.get_feature_names_out(), evidence, ax, measure="decibans", title="scipy.stats → against ← numpy.linalg"
    )
    return figure


def main(folder: str | None = None, kind: str = "png") -> list[Path]:
    """Draw all of them into a folder; the paths written."""
    out = []
    folder = folder or tempfile.mkdtemp(prefix="deciban-")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for draw in PICTURES:
        path = Path(folder) / f"{draw.__name__}.{kind}"
        draw().savefig(path, dpi=110)
        out.append(path)
    return out


if __name__ == "__main__":
    for path in main(*sys.argv[1:]):
        print(path)
