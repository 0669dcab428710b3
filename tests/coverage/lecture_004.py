"""Lecture 004: generative and discriminative models."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal, norm, skew
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from deciban import (
    CategoricalNB,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    PoissonNB,
    SeparationWarning,
    datasets,
    learning_curve,
    plots,
)
from tests.coverage import row

mpl.use("agg")

LINE, SIGNS = np.arange(6.0)[:, None] - 2, np.array([0, 0, 0, 1, 1, 1])
ROWS, LABELS = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0, 0, 1])  # the first column is x₀ = 1
RULE = {"solver": "online", "learning_rate": 0.1, "fit_intercept": False, "max_iter": 1}

POINTS, LETTERS = datasets.two_gaussians()
FLOWERS, SPECIES = load_iris(return_X_y=True)
DOGS_AND_ELEPHANTS = GaussianNB.from_parameters([[0.6], [3.0]], [[0.04], [0.16]], classes=["dog", "elephant"])
HEIGHTS, ANIMALS = DOGS_AND_ELEPHANTS.sample(200, random_state=0)  # metres

BINARY = np.random.default_rng(0).integers(0, 2, 4000)
COUNTS = np.random.default_rng(1).poisson(np.where(BINARY, 5.0, 2.0))[:, None]

SHIFT = np.full(8, 0.7)  # between the means of two normal classes with the covariance I
DRAWN, CLASSES = LinearDiscriminantAnalysis.from_parameters([0 * SHIFT, SHIFT], np.eye(8)).sample(4000, random_state=0)
FAR = (CLASSES == 1) & (np.random.default_rng(0).random(4000) < 0.15)  # moved by 25 away from the other class
MOVED = DRAWN + FAR[:, None] * 25 / np.sqrt(8)
GDA, LOGISTIC = LinearDiscriminantAnalysis(), LogisticRegression(C=np.inf)

TENNIS, PLAY = datasets.play_tennis()
DAY = {"outlook": ["sunny"], "temperature": ["cool"], "humidity": ["high"], "windy": ["true"]}
OUTCOMES = np.repeat([0, 1, 2], [2, 1, 3])[:, None]  # of four that there can be


@row("004-01", "classification", "labels −, + with + as the positive class")
def _():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["-", "-", "+", "+"])
    positive = model.as_logistic(of="+")
    assert (positive.classes_.tolist(), positive.coef_[0, 0]) == (["-", "+"], pytest.approx(0.958, abs=5e-4))
    assert model.coef_[0, 0] == -positive.coef_[0, 0]  # classes_ are sorted, and "+" is before "-"


@row("004-02", "logistic regression", "a linear h leaves [0, 1]: why the sigmoid")
def _():
    h = LeastSquaresClassifier().fit(LINE, SIGNS).response([[-9.0], [0.5], [10.0]])
    g = LogisticRegression().fit(LINE, SIGNS).predict_proba([[-9.0], [0.5], [10.0]])[:, 1]
    assert h == pytest.approx(np.polyval(np.polyfit(LINE[:, 0], SIGNS, 1), [-9.0, 0.5, 10.0]))
    assert h[0] < 0 < g[0] < g[1] < g[2] < 1 < h[2]
    assert (h[1], g[1]) == pytest.approx((0.5, 0.5), abs=1e-4)


@row("004-03", "update rule", "LMS has the same update, another h")
def _():
    lms = LeastSquaresClassifier(**RULE).fit(ROWS, LABELS).coef_[0]
    logistic = LogisticRegression(C=np.inf, **RULE).fit(ROWS, LABELS).coef_[0]
    assert lms == pytest.approx([0.1, 0.2])
    assert logistic == pytest.approx([-0.04386, 0.06103], abs=1e-5)
    for found, h in ((lms, float), (logistic, expit)):
        theta = np.zeros(2)
        for x, y in zip(ROWS, LABELS, strict=True):
            theta = theta + 0.1 * (y - h(theta @ x)) * x
        assert found == pytest.approx(theta)


@row("004-04", "generative", "match a new animal against each model")
def _():
    model = GaussianNB(var_smoothing=0).fit(HEIGHTS, ANIMALS)
    match = model.class_log_likelihood([[2.5]])[0]
    assert match == pytest.approx([norm(model.theta_[c, 0], model.var_[c, 0] ** 0.5).logpdf(2.5) for c in (0, 1)])
    assert model.predict([[2.5]]) == model.classes_[match.argmax()] == "elephant"
    curve = plots.sigmoid(model, HEIGHTS, ANIMALS, of="elephant")
    assert curve.get_ylabel() == "P(elephant | x)"


@row("004-05", "GDA figure", "the normal densities p(x given y) as contours")
def _():
    model = LinearDiscriminantAnalysis().fit(POINTS, LETTERS)
    ax = plots.densities(model, POINTS, LETTERS)
    assert ax.get_aspect() == 1
    rings = [one for one in ax.collections if isinstance(one, mpl.contour.ContourSet)]
    assert len(rings) == 2
    for ring, mean in zip(rings, model.means_, strict=True):
        inner = ring.get_paths()[-1].vertices  # one deviation from the mean
        off = inner - mean
        assert np.einsum("ij,jk,ik->i", off, np.linalg.inv(model.covariance_), off) == pytest.approx(1, abs=0.02)


@row("004-06", "GDA", "y ~ Bernoulli(φ), x given y ~ N(μ_y, Σ): draw from it")
def _():
    model = LinearDiscriminantAnalysis.from_parameters([[0, 0], [3, 1]], [[1, 0.5], [0.5, 2]], class_prior=[0.6, 0.4])
    X, y = model.sample(20_000, random_state=0)
    assert (y == 1).mean() == pytest.approx(0.4, abs=0.02)
    for c in (0, 1):
        assert X[y == c].mean(axis=0) == pytest.approx(model.means_[c], abs=0.04)
        assert np.cov(X[y == c].T) == pytest.approx(model.covariance_, abs=0.08)


@row("004-07", "GDA", "ℓ(φ, μ0, μ1, Σ) of the sample")
def _():
    model = LinearDiscriminantAnalysis().fit(FLOWERS, SPECIES)
    value = model.log_likelihood(FLOWERS, SPECIES)
    assert value == pytest.approx(-263.2037, abs=1e-4)
    density = [multivariate_normal(mean, model.covariance_).logpdf(FLOWERS) for mean in model.means_]
    assert value == pytest.approx(np.sum(np.choose(SPECIES, density)) + 150 * np.log(1 / 3))


@row("004-08", "GDA and logistic", "normal classes imply a logistic posterior, not the converse")
def _():
    normal, counts = LinearDiscriminantAnalysis().fit(POINTS, LETTERS), PoissonNB().fit(COUNTS, BINARY)
    linear = counts.as_logistic()
    assert normal.as_logistic().predict_proba(POINTS) == pytest.approx(normal.predict_proba(POINTS))
    assert linear.predict_proba(COUNTS) == pytest.approx(counts.predict_proba(COUNTS))
    assert linear.coef_[0, 0] == pytest.approx(np.log(2.5), abs=0.06)
    assert min(skew(COUNTS[c == BINARY, 0]) for c in (0, 1)) > 0.3  # the classes are not normal


@row("004-09", "GDA and logistic", "assumptions hold, few rows: GDA better")
def _():
    with pytest.warns(SeparationWarning):  # some of the samples of 20 rows: the maximum is at infinity
        gda, logistic = (learning_curve(one, DRAWN, CLASSES, [20, 50], repeats=10).mean() for one in (GDA, LOGISTIC))
    assert gda == pytest.approx([0.736, 0.805], abs=0.01)
    assert (gda - logistic > [0.02, 0.005]).all()


@row("004-10", "GDA and logistic", "many rows: none strictly better")
def _():
    gda, logistic = (learning_curve(one, DRAWN, CLASSES, [2000], repeats=10).mean() for one in (GDA, LOGISTIC))
    assert gda == pytest.approx(logistic, abs=0.002)
    assert gda == pytest.approx(norm.cdf(np.linalg.norm(SHIFT) / 2), abs=0.01)  # that of the true parameters


@row("004-11", "GDA and logistic", "wrong assumptions: logistic regression more robust")
def _():
    gda, logistic = (learning_curve(one, MOVED, CLASSES, [200, 2000], repeats=10).mean() for one in (GDA, LOGISTIC))
    assert (gda < 0.7).all()
    assert (logistic > 0.84).all()


@row("004-12", "NB", "discrete columns")
def _():
    words = MixedNB(alpha=0).fit(TENNIS, PLAY)
    codes = make_pipeline(OrdinalEncoder(dtype=int), CategoricalNB(alpha=0)).fit(TENNIS, PLAY)
    assert words.predict_proba(DAY)[0] == pytest.approx([0.7954, 0.2046], abs=5e-5)
    assert codes.predict_proba(TENNIS) == pytest.approx(words.predict_proba(TENNIS))


@row("004-13", "Laplace", "φ_j of k outcomes, unsmoothed")
def _():
    phi = CategoricalNB(alpha=0, min_categories=4).fit(OUTCOMES, [0] * 6).feature_prob_[0][0]
    assert phi == pytest.approx([1 / 3, 1 / 6, 1 / 2, 0])


@row("004-14", "Laplace", "(1 + count) / (k + n)")
def _():
    phi = CategoricalNB(alpha=1, min_categories=4).fit(OUTCOMES, [0] * 6).feature_prob_[0][0]
    assert phi == pytest.approx([0.3, 0.2, 0.4, 0.1])
