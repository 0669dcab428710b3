"""Lecture 000: logistic regression, generative models, naive Bayes."""

import io
import json
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.contour import QuadContourSet
from scipy import sparse
from scipy.special import betaln, logsumexp
from scipy.stats import beta, multivariate_normal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import deciban
from deciban import (
    BayesNet,
    BernoulliNB,
    CountVectorizer,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    Perceptron,
    QuadraticDiscriminantAnalysis,
    datasets,
    metrics,
    plots,
)
from deciban.cli import main
from tests.coverage import row

TOSSES, COIN = datasets.coin()  # 5 heads of 7
POINTS, LABELS = datasets.sigmoid_points(100)
TRUE = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0])
FITTED = LogisticRegression(C=np.inf).fit(POINTS, LABELS)
START = {"init": [0.3, -0.2], "fit_intercept": False}
ROWS, BITS = [[1, 0], [1, 1], [1, 2]], [0, 0, 1]
X, Y = datasets.two_gaussians()
LDA, QDA = LinearDiscriminantAnalysis().fit(X, Y), QuadraticDiscriminantAnalysis().fit(X, Y)
FISHER = FisherDiscriminant().fit(X, Y)
PARTS = [X[Y == "k"], X[Y == "l"]]  # the rows of each class
MEANS = np.array([part.mean(axis=0) for part in PARTS])
COVARIANCES = np.array([np.cov(part.T, bias=True) for part in PARTS])
SHARED = 0.6 * COVARIANCES[0] + 0.4 * COVARIANCES[1]
W = np.linalg.solve(SHARED, MEANS[1] - MEANS[0])
HEAPS, HEAP = datasets.multimodal()
XOR = np.random.default_rng(0).normal(size=(400, 2))
SAME_SIGN = XOR[:, 0] * XOR[:, 1] > 0
IRISES, KINDS = load_iris(return_X_y=True)
TWO_IRISES, TWO_KINDS = IRISES[50:, :2], KINDS[50:]
PRESENCE, SPAM = datasets.eight_mails("presence")
MAIL = {"a": 1, "b": 1, "c": 0}
UNSMOOTHED = BernoulliNB(alpha=0).fit(PRESENCE, SPAM)
WITH_UNSEEN = PRESENCE.assign(d=0)
TEXTS = ["buy a watch", "a friend can buy a friend a coffee"]


@contextmanager
def picture() -> Iterator[None]:
    """Decorator of rows that draw."""
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@contextmanager
def warns(category: type[Warning], match: str = "") -> Iterator[None]:
    """Decorator of rows that warn."""
    with pytest.warns(category, match=match):
        yield


def close(found: object, expected: object, off: float = 1e-6) -> bool:
    return np.allclose(found, expected, rtol=1e-6, atol=off)


def boundary(ax: pyplot.Axes) -> np.ndarray:
    """The points of the boundary that is drawn."""
    line = next(one for one in ax.collections if isinstance(one, QuadContourSet))
    return max((path.vertices for path in line.get_paths()), key=len)


@cache
def words_of_mails() -> tuple[sparse.csr_array, np.ndarray]:
    """2,000 mails over a vocabulary of 50,000 words, of which spam has its own hundred."""
    rng = np.random.default_rng(0)
    spam = rng.random(2000) < 0.5
    at = rng.integers(0, 50_000, (2000, 60))
    at[:, :5] = rng.integers(0, 100, (2000, 5)) + 100 * spam[:, None]
    cells = np.ones(at.size), (np.repeat(np.arange(2000), 60), at.ravel())
    return (sparse.csr_array(cells, shape=(2000, 50_000)) > 0).astype(np.int64), np.where(spam, "spam", "ham")


def write_mails(folder: Path) -> None:
    """Write folders of spam and ham mails, and a new one."""
    rng = np.random.default_rng(0)
    words = {"spam": "prize winner claim cash offer free", "ham": "lunch meeting notes report friday thanks"}
    for kind, own in words.items():
        (folder / kind).mkdir()
        for number in range(200):
            body = " ".join(rng.choice(own.split(), 12))
            (folder / kind / f"{number}.eml").write_text(f"Subject: {body[:20]}\n\n{body} {number}\n")
    (folder / "new.eml").write_text("Subject: Prize\n\nclaim your free cash prize, winner: free offer\n")


def printed_by(*commands: str) -> list[str]:
    """What commands print, run one after the other in a folder of mails."""
    texts = [io.StringIO() for _ in commands]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_mails(Path())
        for one, text in zip(commands, texts, strict=True):
            with redirect_stdout(text), suppress(SystemExit):
                main(shlex.split(one)[1:])
    return [text.getvalue() for text in texts]


@row("000-01", "7.1 eq 7.1", "Bernoulli p(y) = φ^y (1−φ)^(1−y) at a given φ")
def _():
    model = BernoulliNB.from_parameters(feature_prob=[[0.3]])
    p = np.exp(model.score_samples([[1], [0]]))
    assert close(p, [0.3, 0.7])


@row("000-02", "7.1 eq 7.2–7.4 (also 001)", "log-likelihood of m tosses at the fit, h log φ + (m−h) log(1−φ)")
def _():
    model = BernoulliNB(alpha=0).fit(TOSSES, COIN)
    value = model.log_likelihood(TOSSES)
    assert close(value, -4.187887)
    assert close(value, 5 * np.log(5 / 7) + 2 * np.log(2 / 7))


@row("000-03", "7.1 eq 7.4", "the same at any other φ (the curve l(φ))")
def _():
    curve = [BernoulliNB.from_parameters([[φ]]).log_likelihood(TOSSES) for φ in (0.3, 0.5, 0.8)]
    assert close(curve[1], -4.852030)
    assert close(curve, [5 * np.log(φ) + 2 * np.log(1 - φ) for φ in (0.3, 0.5, 0.8)])


@row("000-04", "7.1 eq 7.5–7.7 (also 001 ∂L/∂θ₁)", "derivative dl/dφ = h/φ − (m−h)/(1−φ), zero at the maximum")
def _():
    _, slope = BernoulliNB.from_parameters([[0.5]]).log_likelihood(TOSSES, gradient=True)
    _, at_maximum = BernoulliNB(alpha=0).fit(TOSSES, COIN).log_likelihood(TOSSES, gradient=True)
    assert close(slope["feature_prob"], 6.0)
    assert close(at_maximum["feature_prob"], 0.0)


@row("000-05", "7.1 eq 7.8 (also 001 θ₁)", "φ = h/m")
def _():
    φ = BernoulliNB(alpha=0).fit(TOSSES, COIN).feature_prob_
    assert close(φ, 5 / 7, 1e-12)


@row(
    "000-06",
    "7.1 (also 001 Bayesian prior)",
    "MLE is MAP with a uniform prior; Laplace is the mean under Beta(1,1)",
)
def _():
    likely, laplace = (BernoulliNB(alpha=alpha).fit(TOSSES, COIN) for alpha in (0, 1))
    assert close(likely.feature_prob_, 5 / 7)
    at = np.linspace(0.001, 0.999, 9981)
    assert close(likely.feature_prob_, at[beta(6, 3).pdf(at).argmax()], 1e-4)
    assert close(laplace.feature_prob_, beta(6, 3).mean())
    assert close(laplace.feature_prob_, 6 / 9)
    assert close(laplace.evidence_, betaln(6, 3))
    assert close(laplace.evidence_, -5.123964)


@row("000-07", "7.2 eq 7.9–7.11 (also 002, 003, 004)", "p(y given x; θ) at a given θ")
def _():
    model = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0])
    p = model.predict_proba([[0.0], [-0.5]])
    assert close(p[:, 1], [0.880797, 0.5])


@row("000-08", "7.2 eq 7.12 (also 004 ℓ(θ))", "log-likelihood at the fit")
def _():
    model = LogisticRegression(C=np.inf).fit(POINTS, LABELS)
    value = model.log_likelihood(POINTS, LABELS)
    assert close(value, -9.452240)
    assert close(value, model.summary().log_likelihood)


@row("000-09", "7.2 eq 7.12", "l(θ) at a given θ")
def _():
    value = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0]).log_likelihood(POINTS, LABELS)
    assert close(value, -10.378729)
    p = 1 / (1 + np.exp(-4 * POINTS[:, 0] - 2))
    assert close(value, np.log(np.where(LABELS == 1, p, 1 - p)).sum())


@row("000-10", "7.2 eq 7.13", "batch gradient ascent to the maximum")
def _():
    model = LogisticRegression(C=np.inf, solver="gradient", max_iter=10000, tol=1e-8).fit(POINTS, LABELS)
    assert model.n_iter_.tolist() == [87]
    assert close([model.coef_[0, 0], model.intercept_[0]], [6.035893, 3.050030])
    assert close(model.coef_, FITTED.coef_, 1e-4)


@row("000-11", "7.2 eq 7.13", "the rule with a chosen learning rate α, step by step")
@warns(ConvergenceWarning)
def _():
    steps = {"solver": "gradient", "learning_rate": 0.1, "line_search": False, "max_iter": 3}
    model = LogisticRegression(C=np.inf, fit_intercept=False, **steps).fit(ROWS, BITS)
    assert close(model.coef_, [[-0.149813, 0.142817]])
    assert model.n_iter_.tolist() == [3]


@row("000-12", "7.2", "θ and l after each step of gradient ascent")
@picture()
def _():
    model = LogisticRegression(C=np.inf, solver="gradient", history=True, max_iter=1000).fit(POINTS, LABELS)
    ax = plots.training(model)
    assert (np.diff(model.history_.log_likelihood) > 0).all()
    for θ, value in zip(model.history_.parameters, model.history_.log_likelihood, strict=True):
        then = LogisticRegression.from_parameters(coef=[θ[:1]], intercept=θ[1:])
        assert close(value, then.log_likelihood(POINTS, LABELS))
    assert close(ax.lines[0].get_ydata(), model.history_.log_likelihood)
    assert len(model.history_.to_frame()) == model.n_iter_[0] + 1


@row("000-13", "7.2", "α too large: the ascent diverges")
@warns(ConvergenceWarning)
def _():
    steps = {"solver": "gradient", "learning_rate": 0.01, "line_search": False, "max_iter": 3, "history": True}
    found = LogisticRegression(C=np.inf, **steps).fit(TWO_IRISES, TWO_KINDS).history_
    assert close(found.log_likelihood, [-69.3147, -82.6643, -548.0516, -710.4493], 1e-4)


@row("000-14", "7.2 eq 7.14 (also 002, 004)", "gradient ∇l(θ) of all rows")
def _():
    _, slope = TRUE.log_likelihood(POINTS, LABELS, gradient=True)
    assert close(np.append(slope["coef"], slope["intercept"]), [1.068480, 0.138767])
    error = LABELS - TRUE.predict_proba(POINTS)[:, 1]
    assert close(slope["coef"], error @ POINTS)
    assert close(slope["intercept"], error.sum())


@row("000-15", "7.2 eq 7.15 (also 001, 002, 004)", "the sigmoid g(z) as a function")
def _():
    g = deciban.sigmoid([-2.0, 0.0, 2.0])
    assert close(g, [1 / (1 + np.exp(2)), 0.5, 1 / (1 + np.exp(-2))], 1e-15)


@row("000-16", "7.2 Fig 7.1", "100 labels drawn from p(y=1) = 1/(1+exp(−4x−2))")
def _():
    x, y = datasets.sigmoid_points(100, offset=2, slope=4, random_state=0)
    drawn = LogisticRegression.from_parameters([[4.0]], [2.0]).sample(x, random_state=0)
    assert x.shape == (100, 1)
    assert sorted({*y, *drawn}) == [0, 1]
    assert y.sum() == 57
    assert abs(drawn.sum() - TRUE.predict_proba(x)[:, 1].sum()) < 10
    assert close(TRUE.sample(np.zeros((20_000, 1)), random_state=0).mean(), 0.880797, 0.01)


@row("000-17", "7.2 Fig 7.1", "the generating curve (the solid line of the figure)")
@picture()
def _():
    ax = plots.sigmoid(LogisticRegression.from_parameters([[4.0]], [2.0]), POINTS, LABELS)
    assert ax.get_ylabel() == "P(1 | x)"
    curve = next(line for line in ax.lines if line.get_gid() == "curve")
    assert close(curve.get_ydata(), 1 / (1 + np.exp(-4 * curve.get_xdata() - 2)))


@row("000-18", "7.2 Fig 7.1", "the fitted curve over the 0/1 rows")
@picture()
def _():
    ax = plots.sigmoid(LogisticRegression(C=np.inf).fit(POINTS, LABELS), POINTS, LABELS)
    assert "−0.505" in [text.get_text() for text in ax.texts]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 100


@row("000-19", "7.2 Fig 7.1", "generating and fitted curve in one picture")
@picture()
def _():
    ax = plots.sigmoid({"true": TRUE, "fitted": FITTED}, POINTS, LABELS)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "true", "fitted"]
    assert sorted(text.get_text() for text in ax.texts) == ["−0.5", "−0.505"]
    assert len({line.get_color() for line in ax.lines if line.get_gid() == "curve"}) == 2


@row("000-20", "7.2", "maximum likelihood finds θ again")
def _():
    model = LogisticRegression(C=np.inf).fit(*datasets.sigmoid_points(200_000))
    assert close(np.append(model.coef_, model.intercept_), [4.0, 2.0], 0.05)


@row("000-21", "7.2 eq 7.16–7.19 (also 004 g')", "∂h/∂θ = +h(1−h)x")
def _():
    model, x = LogisticRegression.from_parameters([[0.5]], fit_intercept=False), np.array([[2.0]])
    slope = deciban.sigmoid(model.decision_function(x), derivative=True) * x[:, 0]
    assert close(slope, 0.393224)
    near = [LogisticRegression.from_parameters([[0.5 + off]]).predict_proba(x)[0, 1] for off in (-1e-6, 1e-6)]
    assert close(slope, np.diff(near) / 2e-6)


@row("000-22", "7.2 eq 7.20–7.22 (also 004)", "(y − h)x of one example")
def _():
    model = LogisticRegression.from_parameters(coef=[[0.1, -0.2]], fit_intercept=False)
    _, slope = model.log_likelihood([[2.0, 3.0]], [1], gradient=True)
    assert close(slope["coef"], [[1.197375, 1.796063]])
    assert close(slope["coef"], (1 - 1 / (1 + np.exp(0.4))) * np.array([2.0, 3.0]))


@row("000-23", "7.2 eq 7.23 (also 004)", "per-example rule θ ← θ + α(y − h)x")
def _():
    model = LogisticRegression(C=np.inf, solver="online", learning_rate=0.2, fit_intercept=False)
    model.partial_fit([[1.0]], [1], classes=[0, 1])
    assert close(model.coef_, 0.1)
    assert close(model.partial_fit([[2.0]], [0]).coef_, 0.1 - 0.2 / (1 + np.exp(-0.2)) * 2)


@row("000-24", "7.2", "the same update is the perceptron rule")
def _():
    rules = Perceptron(eta0=0.1, **START), LogisticRegression(C=np.inf, solver="online", learning_rate=0.1, **START)
    perceptron, logistic = (rule.partial_fit([[1.0, 2.0]], [1], classes=[0, 1]).coef_ for rule in rules)
    assert close(perceptron, [[0.3 + 0.1 * (1 - 0) * 1, -0.2 + 0.1 * (1 - 0) * 2]])
    error = 1 - 1 / (1 + np.exp(0.1))
    assert close(logistic, [[0.3 + 0.1 * error * 1, -0.2 + 0.1 * error * 2]])
    assert rules[0].response([[1.0, 2.0]]).tolist() == [1]


@row("000-25", "7.2 eq 7.24", "decision point θᵀx = 0")
def _():
    at = -FITTED.intercept_ / FITTED.coef_[0]
    p = FITTED.predict_proba([at])
    assert close(at, -0.505315)
    assert close(p, 0.5)


@row("000-26", "7.2 eq 7.24 (also 003 odds > 1)", "predict the class of higher probability; side of the hyperplane")
def _():
    chosen, side = FITTED.predict(POINTS), FITTED.decision_function(POINTS) > 0
    assert (chosen == side).all()
    assert (chosen == (FITTED.odds(POINTS)[:, 1] > 1)).all()
    assert (LDA.predict(X) == np.where(LDA.decision_function(X) > 0, "l", "k")).all()


@row("000-27", "7.2", "non-linear boundaries by another functional form")
def _():
    line = LogisticRegression().fit(XOR, SAME_SIGN).score(XOR, SAME_SIGN)
    curve = make_pipeline(PolynomialFeatures(2), LogisticRegression(C=100)).fit(XOR, SAME_SIGN).score(XOR, SAME_SIGN)
    assert (line, curve) == (0.5125, 0.9925)


@row("000-28", "7.3 eq 7.25 (also 002, 004)", "posterior from p(x given y), p(y), p(x)")
def _():
    joint, evidence = QDA.predict_joint_log_proba(X), QDA.score_samples(X)
    posterior = QDA.predict_proba(X)
    assert close(posterior, np.exp(joint - evidence[:, None]))


@row("000-29", "7.3 (also 003 P(x given ⊕))", "p(x given class) itself")
def _():
    logs = QDA.class_log_likelihood(X)
    assert close(
        logs, np.transpose([multivariate_normal(*one).logpdf(X) for one in zip(MEANS, COVARIANCES, strict=True)])
    )


@row("000-30", "7.3", "p(x)")
def _():
    logs = QDA.score_samples(X)
    assert close(logs, logsumexp(QDA.class_log_likelihood(X) + np.log([0.6, 0.4]), axis=1))


@row("000-31", "7.3 eq 7.26–7.28 (also 003, 004)", "arg max without the denominator")
def _():
    chosen = QDA.predict(X)
    assert (chosen == QDA.classes_[QDA.predict_joint_log_proba(X).argmax(axis=1)]).all()


@row("000-32", "7.3", "class priors that are known")
def _():
    p = QDA.predict_proba(X[:1])
    known = QDA.predict_proba(X[:1], priors={"k": 0.1, "l": 0.9})
    assert close(p[0, 0], 0.954958)
    assert close(known[0, 0], 0.610966)
    assert close(known[0, 0] / known[0, 1], p[0, 0] / p[0, 1] * (0.1 / 0.6) / (0.9 / 0.4))


@row("000-33", "7.3 (also 004 elephants and dogs)", "learn each class by itself, then combine")
def _():
    k, l = (
        QuadraticDiscriminantAnalysis().fit(part, [name] * len(part)) for name, part in zip("kl", PARTS, strict=True)
    )
    both = k + l
    assert close(both.predict_proba(X), QDA.predict_proba(X), 1e-12)


@row("000-34", "7.3 (also 004)", "a generative model draws new examples")
def _():
    rows, labels = LDA.sample(2000, random_state=0)
    assert close([rows[labels == name].mean(axis=0) for name in "kl"], LDA.means_, 0.1)
    assert close((labels == "k").mean(), 0.6, 0.03)


@row("000-35", "7.4 eq 7.29, 7.32 (also 001, 002, 004)", "class priors φ_k = N_k / N")
def _():
    models = LDA, QDA, FISHER, GaussianNB().fit(X, Y), MixedNB().fit(X, Y), LogisticRegression().fit(X, Y)
    φ = [model.class_prior_ for model in models]
    assert close(φ, [[0.6, 0.4]] * 6)


@row("000-36", "7.4 eq 7.30 (also 001, 002, 004)", "normal density with a given μ and Σ")
def _():
    given = {"means": [[1.0, 2.0]], "covariance": [[[2.0, 0.6], [0.6, 1.0]]]}
    density = np.exp(QuadraticDiscriminantAnalysis.from_parameters(**given).score_samples([[0.0, 0.0], [1.0, 2.0]]))
    assert close(density, multivariate_normal([1, 2], [[2, 0.6], [0.6, 1]]).pdf([[0, 0], [1, 2]]))
    assert close(density[1], 1 / (2 * np.pi * np.sqrt(1.64)))


@row("000-37", "7.4 eq 7.33 (also 001, 002, 004)", "means μ_k")
def _():
    μ = LDA.means_
    assert close(μ, MEANS)


@row("000-38", "7.4 eq 7.34 (also 002 S_k)", "own covariances Σ_k, divided by the class's rows")
def _():
    Σ = QuadraticDiscriminantAnalysis().fit(X, Y).covariance_
    assert close(Σ, COVARIANCES)


@row("000-39", "7.4 eq 7.35–7.38", "decision from log p(x given k) + log φ_k")
def _():
    scores = QDA.class_log_likelihood(X) + np.log(QDA.class_prior_)
    chosen = QDA.predict(X)
    assert (chosen == QDA.classes_[scores.argmax(axis=1)]).all()
    assert close(scores, QDA.discriminant_scores(X) - np.log(2 * np.pi))


@row("000-40", "7.4 eq 7.40 (also 002, 004 Σ)", "shared Σ = Σ_k N_k/N S_k")
def _():
    Σ = LinearDiscriminantAnalysis().fit(X, Y).covariance_
    assert close(Σ, SHARED)


@row("000-41", "7.4 eq 7.41–7.43 (also 001, 002 w₀)", "constant a of the boundary a + w·x")
def _():
    a = LDA.intercept_
    assert close(a, -3.908731)
    assert close(a, -W @ MEANS.sum(axis=0) / 2 + np.log(0.4 / 0.6))


@row("000-42", "7.4 eq 7.42 (also 001, 002 w)", "w = Σ⁻¹(μ_k − μ_l)")
def _():
    w_of_l, w_of_k = LDA.coef_, LDA.as_logistic(of="k").coef_
    assert close(w_of_l, [[2.762578, -0.543926]])
    assert close(w_of_l, [W])
    assert close(w_of_k, [np.linalg.solve(SHARED, MEANS[0] - MEANS[1])])


@row("000-43", "7.4", "w stands at a right angle on the boundary (drawn)")
@picture()
def _():
    ax = plots.decision_regions(LDA, X, Y, normal=True)
    assert ax.get_aspect() == 1
    ax.figure.canvas.draw()
    arrow = next(text for text in ax.texts if text.get_gid() == "normal")
    (x0, y0), (x1, y1) = ax.transData.transform([arrow.xyann, arrow.xy])
    ends = ax.transData.transform(boundary(ax)[[0, -1]])
    w, along = np.array([x1 - x0, y1 - y0]), ends[1] - ends[0]
    assert abs(w @ along) < 1e-6 * np.linalg.norm(w) * np.linalg.norm(along)
    assert close(np.cross(np.append(w, 0), np.append(W, 0)) / np.linalg.norm(w), 0)


@row("000-44", "7.4 Fig 7.2A", "two normal classes with contours, rows, boundary")
@picture()
def _():
    ax = plots.decision_regions(LDA, X, Y, title="two normal classes")
    assert ax.get_aspect() == 1
    assert ax.get_title(loc="left") == "two normal classes"
    assert close(LDA.decision_function(boundary(ax)), 0, 1e-6)
    assert sum(isinstance(one, QuadContourSet) for one in ax.collections) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["k", "l"]


@row(
    "000-45",
    "7.4 Fig 7.2B (also 002 'not linearly separable')",
    "two heaps around one: LDA and logistic regression fail",
)
@picture()
def _():
    models = LinearDiscriminantAnalysis(), LogisticRegression(C=np.inf), QuadraticDiscriminantAnalysis(), MixedNB()
    found = [model.fit(HEAPS, HEAP).score(HEAPS, HEAP) for model in models]
    assert close(found, [0.533, 0.533, 0.971, 1.0], 5e-4)
    assert plots.decision_regions(models[0], HEAPS, HEAP, steps=40).get_title(loc="left").endswith("(53.3 %)")


@row("000-46", "7.4", "quadratic boundary of QDA, drawn")
@picture()
def _():
    ax = plots.decision_regions(QDA, X, Y)
    assert ax.get_aspect() == 1
    line = boundary(ax)
    assert close(QDA.decision_function(line), 0, 0.01)
    bends = np.abs(np.linalg.svd(line - line.mean(axis=0), compute_uv=False))
    assert bends[1] > 0.01 * bends[0]


@row("000-47", "7.4", "the quadratic equation itself, xᵀAx + bᵀx + c")
def _():
    form = QDA.as_logistic(degree=2)
    A, b, c = form.quadratic_coef_[0], form.coef_[0, :2], form.intercept_[0]
    assert close(np.einsum("ni,ij,nj->n", X, A, X) + X @ b + c, QDA.decision_function(X))
    assert close(A, (np.linalg.inv(COVARIANCES[0]) - np.linalg.inv(COVARIANCES[1])) / 2)


@row("000-48", "7.4 eq 7.44–7.45 (also 002, 004)", "the LDA posterior is a logistic function")
def _():
    p = LDA.as_logistic().predict_proba(X)
    assert close(p, LDA.predict_proba(X))
    assert close(LDA.predict_proba(X)[:, 1], 1 / (1 + np.exp(-X @ W - LDA.intercept_)))


@row("000-49", "7.4", "LDA and logistic regression give different numbers")
def _():
    models = LinearDiscriminantAnalysis().fit(X, Y), LogisticRegression(C=np.inf).fit(X, Y)
    coefs, accuracies = [model.coef_ for model in models], [model.score(X, Y) for model in models]
    assert close(coefs, [[[2.763, -0.544]], [[2.634, -0.493]]], 5e-4)
    assert accuracies == [0.892, 0.888]


@row("000-50", "7.4", "LDA works well though classes are not normal")
def _():
    found = deciban.cross_validate(LinearDiscriminantAnalysis(), *load_breast_cancer(return_X_y=True))
    assert close(found.accuracy, 0.9596, 5e-5)


@row("000-51", "7.4 eq 7.46", "Fisher's w = (Σ_k + Σ_l)⁻¹(μ_k − μ_l)")
def _():
    model = FisherDiscriminant().fit(X, Y)
    w = model.as_logistic(of="k").coef_[0] / 2
    assert close(w, np.linalg.solve(COVARIANCES.sum(axis=0), MEANS[0] - MEANS[1]))
    assert close(model.coef_, -2 * w)
    assert close(model.decision_function(X), X @ model.coef_[0] + model.intercept_)
    assert close(model.decision_function(X), model.log_odds(X)[:, 1])


@row("000-52", "7.4", "Fisher equals LDA for equal covariances")
def _():
    rows, labels = np.concatenate([PARTS[0], 2 * MEANS[0] + [2.0, 1.0] - PARTS[0]]), np.repeat(["k", "l"], 150)
    fisher, lda = (model.fit(rows, labels).coef_ for model in (FisherDiscriminant(), LinearDiscriminantAnalysis()))
    assert close(fisher, lda)
    assert close(lda, [[2.067466, -0.067738]])


@row("000-53", "7.4", "between-class over within-class variance (signal to noise)")
def _():
    ratio = FISHER.fisher_ratio_
    other = metrics.fisher_ratio(X, Y, [1.0, 0.0])
    assert close(ratio, 3.276809)
    assert close(metrics.fisher_ratio(X, Y, FISHER.coef_), ratio)
    assert close(other, np.diff(MEANS[:, 0]) ** 2 / COVARIANCES[:, 0, 0].sum())
    assert other < ratio


@row("000-54", "7.5 eq 7.47 (also 004)", "presence vector of a vocabulary")
def _():
    model = CountVectorizer(binary=True, token_pattern=r"\b\w+\b")
    bits = model.fit_transform(TEXTS).toarray()
    assert model.get_feature_names_out().tolist() == ["a", "buy", "can", "coffee", "friend", "watch"]
    assert bits.tolist() == [[1, 1, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0]]


@row("000-55", "7.5 (also 003)", "bag of words: counts")
def _():
    model = CountVectorizer(token_pattern=r"\b\w+\b")
    counts = model.fit_transform(TEXTS).toarray()
    assert counts.tolist() == [[1, 1, 0, 0, 0, 1], [3, 1, 1, 1, 2, 0]]


@row("000-56", "7.5", "vocabulary of 50,000 words")
def _():
    mails, spam = words_of_mails()
    model = BernoulliNB().fit(mails, spam)
    assert model.feature_prob_.shape == (2, 50_000)
    assert model.score(mails, spam) > 0.9


@row("000-57", "7.5 eq 7.48, 7.51 (also 001 O(2^m), O(m))", "2^50000 − 1 parameters against 50,000")
def _():
    models = BernoulliNB().fit(PRESENCE, SPAM), BernoulliNB().fit(*words_of_mails())
    three, many = ((model.n_parameters_, model.n_parameters_joint_) for model in models)
    assert three == (2 * 3 + 1, 2 * (2**3 - 1) + 1) == (7, 15)
    assert many == (2 * 50_000 + 1, 2 * (2**50_000 - 1) + 1)


@row("000-58", "7.5 eq 7.49 (also 001)", "chain rule: the full conditional table")
def _():
    arcs = [("y", "a"), ("y", "b"), ("a", "b")]
    table = BayesNet.from_edges(arcs, PRESENCE.assign(y=SPAM), prior=0).query(["a", "b"], {"y": "spam"})
    assert close(table.values.ravel(), [0, 0.5, 0.25, 0.25])
    cells = 2 * PRESENCE.a + PRESENCE.b
    assert close(table.values.ravel(), np.bincount(cells[SPAM == "spam"], minlength=4) / 4)


@row("000-59", "7.5 eq 7.50–7.51 (also 001, 003)", "p(x given y) = Π p(x_j given y), factor by factor")
def _():
    factors = np.exp(UNSMOOTHED.explain(MAIL).parts[0])
    assert close(factors, [[0.75, 0.25, 0.75], [0.5, 0.75, 0.75]])
    assert close(factors.prod(axis=1), np.exp(UNSMOOTHED.class_log_likelihood(MAIL)))


@row("000-60", "7.5 eq 7.52–7.54 (also 001, 004)", "φ_j given y, φ_y by maximum likelihood")
def _():
    model = BernoulliNB(alpha=0).fit(PRESENCE, SPAM)
    φ, φ_y = model.feature_prob_, model.class_prior_
    assert close(φ, [[0.75, 0.25, 0.25], [0.5, 0.75, 0.25]])
    assert close(φ, [PRESENCE[label == SPAM].mean() for label in ("ham", "spam")])
    assert close(φ_y, 0.5)


@row("000-61", "7.5 eq 7.55 (also 004)", "posterior of spam, absent words counted too")
def _():
    p = UNSMOOTHED.predict_proba({"a": 1, "b": 1, "c": 0})
    assert close(p, [[1 / 3, 2 / 3]])
    assert close(p[0, 1], 0.5 * 0.75 * (1 - 0.25) / (0.5 * 0.75 * (1 - 0.25) + 0.75 * 0.25 * (1 - 0.25)))


@row("000-62", "7.5", "a word never seen gives 0/0")
@warns(UserWarning, "`d`")
def _():
    model = BernoulliNB(alpha=0).fit(WITH_UNSEEN, SPAM)
    joint = model.predict_joint_log_proba(MAIL | {"d": 1})
    assert joint.tolist() == [[-np.inf, -np.inf]]
    assert close(model.predict_proba(MAIL | {"d": 1}), 0.5)


@row("000-63", "7.5 eq 7.56–7.57 (also 001, 003, 004)", "Laplace: + 1 over + 2")
def _():
    model = BernoulliNB(alpha=1).fit(WITH_UNSEEN, SPAM)
    p = model.predict_proba(MAIL | {"d": 1})
    assert close(model.feature_prob_, [[4 / 6, 2 / 6, 2 / 6, 1 / 6], [3 / 6, 4 / 6, 2 / 6, 1 / 6]])
    assert close(p[0, 1], 0.6)


@row("000-64", "7.5 (also 004)", "a spam filter, whole")
def _():
    commands = ("deciban spam learn f.deciban spam --as spam", "deciban spam learn f.deciban ham --as ham")
    *learned, found = printed_by(*commands, "deciban spam check f.deciban new.eml --json")
    assert learned == ["f.deciban: learned 200 as spam\n", "f.deciban: learned 200 as ham\n"]
    assert json.loads(found)[0]["outcome"] == "spam"
    assert json.loads(found)[0]["spam"] > 0.999


@row("000-65", "7.5", "compare naive Bayes with other methods")
def _():
    found = deciban.compare(IRISES, KINDS, ["gaussian", "lda", "logistic"])
    assert found.trials[0].name == "lda"
    accuracy = {trial.name: round(trial.held_out.accuracy, 3) for trial in found.trials}
    assert accuracy == {"lda": 0.98, "logistic": 0.98, "gaussian": 0.956}
