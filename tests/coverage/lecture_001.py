"""Lecture 001: linear and quadratic discriminants, naive Bayes, texts."""

from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import expit
from scipy.stats import entropy, multivariate_normal
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from deciban import (
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    SeparationWarning,
    TextClassifier,
    TreeAugmentedNB,
    datasets,
    learning_curve,
    plots,
)
from deciban.errors import DataError
from tests.coverage import row
from tests.support.data import shared_path, shared_table

QUIZ, QUIZ_CLASS = datasets.quiz()
MAIL = {"a": 1, "b": 1, "c": 0}
WORDS, SPAM = datasets.eight_mails("presence")
BITS = np.asarray(WORDS)
TENNIS, PLAY = datasets.play_tennis()
IRIS, SPECIES = load_iris(return_X_y=True)
BY_SPECIES = [IRIS[code == SPECIES] for code in range(3)]
TWO_IRISES, TWO_SPECIES = IRIS[SPECIES > 0], SPECIES[SPECIES > 0]  # versicolor and virginica
POINTS, OF_THREE = datasets.three_classes()
PAIR, OF_PAIR = datasets.two_gaussians()
LDA, QDA, NAIVE = LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), GaussianNB()
TOPIC_TEXTS = [
    *("the senate votes on the bill", "the president signs the bill"),
    *("the bank raises interest", "shares of the bank fall"),
    *("the team wins the match", "a goal decides the match"),
    *("a painter shows her work", "the opera opens with a new work"),
]
TOPICS = ["Politics", "Politics", "Finance", "Finance", "Sports", "Sports", "Arts", "Arts"]


def close(found, expected, atol=1e-12, rtol=1e-7):
    """True, or an AssertionError that shows the difference."""
    np.testing.assert_allclose(found, expected, atol=atol, rtol=rtol)
    return True


def axes():
    """Axes that no other picture has."""
    return Figure().subplots()


def five_dimensions(model):
    """The model in x1, x2, x1², x1x2, x2²."""
    return make_pipeline(PolynomialFeatures(2, include_bias=False), model)


@cache
def six_columns(scale):
    """3,000 rows of two normal classes; the deviations of the second are `scale`."""
    codes = np.repeat([0, 1], 1500)
    shift = 0.6 if scale == 1 else 0.8
    spread = np.where(codes == 1, scale, 1.0)[:, None]
    return np.random.default_rng(0).normal(size=(3000, 6)) * spread + shift * codes[:, None], codes


@cache
def wide_table():
    """640 rows of 200 columns, neighbours correlated by 0.8; twenty columns differ by class."""
    rng, codes = np.random.default_rng(0), np.arange(640) % 2
    x = rng.normal(size=(640, 200))
    for j in range(1, 200):
        x[:, j] = 0.8 * x[:, j - 1] + 0.6 * x[:, j]
    x[:, :20] += np.outer(codes, np.tile([1.0, -1.0], 10))
    return x, codes


@cache
def five_languages():
    frame = shared_table("language_id/language_id.csv.gz")
    return frame[frame["label"].isin(["de", "en", "es", "fr", "it"]) & (frame["kind"] == "sentence")]


def sentences(split, first=None):
    """(texts, languages); the first words of the texts."""
    rows = five_languages()[five_languages()["split"] == split]
    return [" ".join(text.split()[:first]) for text in rows["text"]], rows["label"].to_numpy(str)


def newsgroups_path():
    return shared_path("newsgroups20/newsgroups20_original.jsonl.xz")


@cache
def posts():
    return datasets.load_20newsgroups(newsgroups_path())


@cache
def split_posts():
    """(texts, groups) to learn from, and a third of all that is held out."""
    texts, groups = posts()
    order = np.random.default_rng(0).permutation(len(texts))
    third = len(texts) // 3
    return tuple(([texts[i] for i in some], groups[some]) for some in (order[third:], order[:third]))


@cache
def newsgroups():
    """The model of the posts without headers that name the group."""
    return TextClassifier(alpha=1, smoothing="corpus", strip="group headers").fit(*split_posts()[0])


TABLE_3_1 = [  # by group, in the order of their names
    *("atheism", "jpeg", "windows", "scsi", "mac", "window", "sale", "car", "bike", "baseball", "hockey", "clipper"),
    *("circuit", "patients", "space", "god", "gun", "armenian", "stephanopoulos", "god"),
]


def count_found(top, first):
    """How many words of the lecture are among the first of their group."""
    return sum(word in dict(top[group][:first]) for group, word in zip(sorted(top), TABLE_3_1, strict=True))


@row("001-01", "quiz Q1", "which classifiers are linear")
def _():
    linear = [LDA, LogisticRegression(), BernoulliNB(), MultinomialNB(), PoissonNB(), ComplementNB()]
    views = [model.fit(WORDS, SPAM).as_logistic(of="spam") for model in linear]
    assert all(
        close(view.predict_proba(WORDS), one.predict_proba(WORDS)) for one, view in zip(linear, views, strict=True)
    )
    for model in (QuadraticDiscriminantAnalysis(), GaussianNB()):
        with pytest.raises(DataError, match="not linear"):
            model.fit(TWO_IRISES, TWO_SPECIES).as_logistic()


@row("001-02", "quiz Q3", "prediction for x6")
def _():
    model = LogisticRegression().fit(QUIZ, QUIZ_CLASS)
    assert model.predict([[0, 0, 0]]) == [0]
    assert model.predict_proba([[0, 0, 0]])[0, 0] == pytest.approx(0.763, abs=5e-4)


@row("001-03", "quiz Q3", "without penalty the rows are separable")
def _():
    found = LogisticRegression(C=np.inf).separation(QUIZ, QUIZ_CLASS)
    firth = LogisticRegression(penalty="jeffreys").fit(QUIZ, QUIZ_CLASS)
    assert (found.kind, found.columns) == ("complete", ("x0", "x1"))
    assert firth.predict_proba([[0, 0, 0]])[0, 0] == pytest.approx(0.976, abs=5e-4)
    with pytest.warns(SeparationWarning, match="`x0` and `x1` together separate"):
        model = LogisticRegression(C=np.inf).fit(QUIZ, QUIZ_CLASS)
    assert model.predict([[0, 0, 0]]) == [0]


@row("001-04", "quiz Q3", "the table of five rows")
def _():
    X, y = datasets.quiz()
    assert X.tolist() == [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]]
    assert y.tolist() == [0, 0, 0, 1, 1]


@row("001-05", "recap figure (also 002, 004)", "the bare sigmoid curve")
def _():
    ax = plots.sigmoid(ax=axes())
    curve = max(ax.lines, key=lambda line: len(line.get_xdata()))
    assert close(curve.get_ydata(), expit(curve.get_xdata()), atol=1e-12)


@row("001-06", "LDA", "log-odds ratio w₀ + xᵀw")
def _():
    model = LinearDiscriminantAnalysis().fit(PAIR, OF_PAIR)
    odds = model.decision_function(PAIR)
    assert close(odds, model.log_odds(PAIR)[:, 1], atol=1e-9)
    (k, m), inverse = model.means_, np.linalg.inv(model.covariance_)
    offset = (k @ inverse @ k - m @ inverse @ m) / 2 + np.log(100 / 150)
    assert close(odds, offset + PAIR @ inverse @ (m - k), atol=1e-9)


@row("001-07", "LDA", "pooled Σ: divided by N, or unbiased by N − K")
def _():
    biased = LinearDiscriminantAnalysis().fit(IRIS, SPECIES)
    unbiased = LinearDiscriminantAnalysis(ddof=1).fit(IRIS, SPECIES)
    assert close(unbiased.covariance_, biased.covariance_ * 150 / 147)
    residuals = IRIS - biased.means_[SPECIES]
    assert close(biased.covariance_, residuals.T @ residuals / 150)
    own = QuadraticDiscriminantAnalysis(ddof=1).fit(IRIS, SPECIES)
    assert close(own.covariance_[2], np.cov(BY_SPECIES[2].T))


@row("001-08", "LDA", "class 1 if the log-odds are > 0")
def _():
    model = LinearDiscriminantAnalysis().fit(PAIR, OF_PAIR)
    assert (model.predict(PAIR) == np.where(model.decision_function(PAIR) > 0, "l", "k")).all()


@row("001-09", "K classes", "δ_y(x) = xᵀΣ⁻¹μ_y − ½μ_yᵀΣ⁻¹μ_y + log P(y)")
def _():
    models = [LinearDiscriminantAnalysis(solver=solver).fit(IRIS, SPECIES) for solver in ("svd", "lsqr", "eigen")]
    scores = [model.discriminant_scores(IRIS[:1])[0] for model in models]
    assert close(scores, [[91.698, 41.395, -6.005]] * 3, atol=5e-4)
    means, inverse = models[0].means_, np.linalg.inv(models[0].covariance_)
    direct = IRIS[0] @ inverse @ means.T - np.diag(means @ inverse @ means.T) / 2 + np.log(1 / 3)
    assert close(scores, [direct] * 3)


@row("001-10", "K classes", "output = arg max δ_y")
def _():
    model = LinearDiscriminantAnalysis().fit(IRIS, SPECIES)
    assert (model.predict(IRIS) == model.discriminant_scores(IRIS).argmax(axis=1)).all()


@row("001-11", "re-coding (also 002 feature space φ)", "LDA or logistic regression in x1, x2, x1x2, x1², x2²")
def _():
    plain = LinearDiscriminantAnalysis().fit(POINTS, OF_THREE).score(POINTS, OF_THREE)
    coded = five_dimensions(LinearDiscriminantAnalysis()).fit(POINTS, OF_THREE).score(POINTS, OF_THREE)
    assert (round(plain, 4), round(coded, 4)) == (0.9222, 0.9306)
    assert five_dimensions(LogisticRegression()).fit(POINTS, OF_THREE).score(POINTS, OF_THREE) > 0.925


@row("001-12", "Fig 4.1 left (also 002 decision regions)", "three classes, linear boundaries")
def _():
    model = LinearDiscriminantAnalysis().fit(POINTS, OF_THREE)
    ax = plots.decision_regions(model, POINTS, OF_THREE, axes(), title="LDA")
    assert ax.get_title(loc="left") + ax.get_title() == "LDA"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert ax.get_aspect() == 1


@row("001-13", "Fig 4.1 right", "quadratic boundaries by LDA in five dimensions")
def _():
    model = five_dimensions(LinearDiscriminantAnalysis()).fit(POINTS, OF_THREE)
    ax = plots.decision_regions(model, POINTS, OF_THREE, axes(), title="LDA in five dimensions")
    assert ax.get_title(loc="left") + ax.get_title() == "LDA in five dimensions"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]


@row("001-14", "QDA", "own Σ_y")
def _():
    model = QuadraticDiscriminantAnalysis().fit(IRIS, SPECIES)
    assert close(model.covariance_, [np.cov(own.T, bias=True) for own in BY_SPECIES])


@row("001-15", "QDA", "δ_y(x) with −½ log det Σ_y")
def _():
    model = QuadraticDiscriminantAnalysis().fit(IRIS, SPECIES)
    scores = model.discriminant_scores(IRIS[:1])[0]
    assert close(scores, [5.246, -54.195, -89.929], atol=5e-4)
    away = IRIS[0] - model.means_
    distance = [x @ np.linalg.solve(own, x) for x, own in zip(away, model.covariance_, strict=True)]
    assert close(scores, -(distance + np.linalg.slogdet(model.covariance_)[1]) / 2 + np.log(1 / 3))
    two = QuadraticDiscriminantAnalysis().fit(TWO_IRISES, TWO_SPECIES)
    assert two.discriminant_scores(IRIS[:5]).shape == (5, 2)


@row("001-16", "QDA", "QDA has more parameters")
def _():
    counts = [model.fit(POINTS, OF_THREE).n_parameters_ for model in (LDA, QDA)]
    coded = five_dimensions(LinearDiscriminantAnalysis()).fit(POINTS, OF_THREE)[-1].n_parameters_
    assert [*counts, coded] == [11, 17, 32]


@row("001-17", "QDA", "bias and variance: LDA against QDA by sample size")
def _():
    one = [learning_curve(model, *six_columns(1), [20, 40, 100, 2000]).mean() for model in (LDA, QDA)]
    two = [learning_curve(model, *six_columns(1.6), [20, 40, 100, 2000]).mean() for model in (LDA, QDA)]
    assert close([curve[[0, -1]] for curve in one], [[0.689, 0.769], [0.599, 0.765]], atol=2e-3)
    assert close([curve[-1] for curve in two], [0.788, 0.856], atol=2e-3)
    assert two[0][0] > two[1][0]


@row("001-18", "Fig 4.6", "LDA in five dimensions and QDA: differences are small")
def _():
    coded = five_dimensions(LinearDiscriminantAnalysis()).fit(POINTS, OF_THREE)
    own = QuadraticDiscriminantAnalysis().fit(POINTS, OF_THREE)
    assert round(own.score(POINTS, OF_THREE), 4) == round(coded.score(POINTS, OF_THREE), 4) == 0.9306
    assert (coded.predict(POINTS) == own.predict(POINTS)).mean() == pytest.approx(0.989, abs=5e-4)
    for model, ax in zip((coded, own), Figure().subplots(1, 2), strict=True):
        assert plots.decision_regions(model, POINTS, OF_THREE, ax, steps=40).get_legend() is not None


@row("001-19", "scaling up", "language from the first few words")
def _():
    model = TextClassifier(features="chars").fit(*sentences("train"))
    shares = [model.score(*sentences("test", first=n)) for n in (1, 2, 3, 5, None)]
    assert close(shares, [0.787, 0.917, 0.961, 0.990, 0.997], atol=0.015)


@row("001-20", "scaling up", "LDA with more columns than rows")
def _():
    X, y = wide_table()
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.85
    plain = LinearDiscriminantAnalysis().fit(X[:40], y[:40]).score(X[40:], y[40:])
    assert plain < GaussianNB().fit(X[:40], y[:40]).score(X[40:], y[40:]) < model.score(X[40:], y[40:])


@row("001-21", "NB assumption", "P(x_j given y) = P(x_j given y, x_k), looked at")
def _():
    rows = [(a, b, a if i < 17 else 1 - a) for a in (0, 1) for b in (0, 1) for i in range(20)]
    nats = TreeAugmentedNB(cuts=None).fit(rows * 2, np.repeat([0, 1], 80)).information_
    assert nats[0, 1] == pytest.approx(0, abs=1e-12)
    assert nats[0, 2] == pytest.approx(np.log(2) - entropy([0.85, 0.15]))


@row("001-22", "graphical model figure", "naive Bayes as a graph")
def _():
    ax = plots.graph(MixedNB().fit(TENNIS, PLAY), axes())
    assert [text.get_text() for text in ax.texts] == [*TENNIS, "class"]
    assert len(ax.patches) == 5 + 4  # boxes, and an arrow from the class to each column


@row("001-23", "training (also 002, 004 ℓ)", "log L of all parameters on the sample")
def _():
    mails = BernoulliNB(alpha=0).fit(WORDS, SPAM).log_likelihood(WORDS, SPAM)
    irises = [model.fit(IRIS, SPECIES).log_likelihood(IRIS, SPECIES) for model in (LDA, QDA, NAIVE)]
    assert mails == pytest.approx(-19.564469, abs=5e-7)
    assert close(irises, [-263.2037, -188.3756, -326.0501], atol=5e-5)


@row("001-24", "training (also 002 argmax)", "log L at other parameters: the fit is the maximum")
def _():
    theta = BernoulliNB(alpha=0).fit(WORDS, SPAM).feature_prob_
    logs = [
        BernoulliNB.from_parameters(theta + step, classes=["ham", "spam"]).log_likelihood(BITS, SPAM)
        for step in (0, -0.1, 0.1)
    ]
    assert logs[0] == pytest.approx(-19.564469, abs=5e-7)
    assert logs[0] > max(logs[1:])
    p = theta[(SPAM == "spam").astype(int)] + 0.1
    assert logs[2] == pytest.approx(np.log(np.where(BITS == 1, p, 1 - p)).sum() + 8 * np.log(0.5))


@row("001-25", "decision boundary (also 003)", "log-odds = log prior odds + Σ log ratios")
def _():
    found = BernoulliNB().fit(WORDS, SPAM).explain(MAIL, of="spam")
    assert close([found.prior[0], *found.decibans[0], found.total[0]], [0, -1.249, 3.010, 0, 1.761], atol=5e-4)


@row("001-26", "decision boundary", "w_j0 and w_j1")
def _():
    view = BernoulliNB().fit(WORDS, SPAM).as_logistic(of="spam")
    assert close(view.absent_, [[0.405465, -0.693147, 0]], atol=5e-7)
    assert close(view.present_, [[-0.287682, 0.693147, 0]], atol=5e-7)


@row("001-27", "decision boundary", "w₀ = log prior odds + Σ w_j0, w_j = w_j1 − w_j0")
def _():
    view = BernoulliNB().fit(WORDS, SPAM).as_logistic(of="spam")
    assert close(view.intercept_, [-0.287682], atol=5e-7)
    assert close(view.coef_, [[-0.693147, 1.386294, 0]], atol=5e-7)
    assert close(view.intercept_, np.log(4 / 4) + view.absent_.sum())
    assert close(view.coef_, view.present_ - view.absent_)


@row("001-28", "text", "P(y = c) of a text model")
def _():
    model = TextClassifier().fit(TOPIC_TEXTS[:5], TOPICS[:5])
    assert model.classes_.tolist() == ["Finance", "Politics", "Sports"]
    assert close(model.class_prior_, [0.4, 0.4, 0.2])


@row("001-29", "text (also 003 P(w_k given v_j))", "P(word given class) of all words of a text model")
def _():
    model = TextClassifier(token_pattern=r"\w", stop_words=["d", "e"], counts=True, smoothing="even", alpha=1)
    frame = model.fit(*datasets.eight_mails()).word_probabilities().set_index("word")
    assert close(frame["ham"][["a", "b", "c"]], [0.6, 0.2, 0.2])
    assert close(frame["spam"][["a", "b", "c"]], [0.3, 0.5, 0.2])


@row("001-30", "text", "topics: Politics, Finance, Sports, Arts")
def _():
    model = TextClassifier().fit(TOPIC_TEXTS, TOPICS)
    shares = dict(zip(model.classes_, model.predict_proba(["the president and the bill"])[0], strict=True))
    assert list(shares) == ["Arts", "Finance", "Politics", "Sports"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["Politics"] > 0.5


@row("001-31", "text", "a word not seen in training")
def _():
    model = TextClassifier(alpha=1).fit(["win now", "noon now"], ["spam", "ham"])
    found = model.predict_proba(["zebra", "win zebra", "win"])[:, 1]
    assert close(found, [1 / 2, 2 / 3, 2 / 3])


@row("001-32", "Laplace", "no example of the class gives 1/2")
def _():
    two = BernoulliNB().partial_fit([[1, 0], [1, 1]], [0, 0], classes=[0, 1]).feature_prob_[1]
    three = CategoricalNB().partial_fit([[0], [1], [2]], [0, 0, 0], classes=[0, 1]).feature_prob_[0][1]
    assert two.tolist() == [0.5, 0.5]
    assert close(three, [1 / 3] * 3)


@row("001-33", "Laplace", "all examples have x_j = 1: Pr(x_j = 0) = 1/(n + 2)")
def _():
    absent = 1 - BernoulliNB().fit([[1]] * 8, [0] * 8).feature_prob_
    assert absent.item() == pytest.approx(1 / (8 + 2))  # the lecture prints 1/(n + 1)


@row("001-34", "Laplace", "a frequent word is only slightly biased")
def _():
    texts = [[1]] * 400 + [[0]] * 600
    shares = [BernoulliNB(alpha=alpha).fit(texts, [0] * 1000).feature_prob_.item() for alpha in (0, 1)]
    assert shares == pytest.approx([400 / 1000, 401 / 1002])


@row("001-35", "20 newsgroups (also 003)", "the collection, 1000 texts a group")
def _():
    texts, groups = datasets.load_20newsgroups(newsgroups_path(), remove="group headers")
    assert sorted(np.unique(groups, return_counts=True)[1]) == [997] + [1000] * 19
    assert not any(text.startswith(("Newsgroups:", "Xref:", "Path:", "Followup-To:")) for text in texts)


@row("001-36", "20 newsgroups (also 003)", "naive Bayes 89 %, a third held out")
def _():
    known, new = split_posts()
    model = TextClassifier(alpha=1, smoothing="corpus", strip="group headers").fit(*known)
    assert model.score(*new) == pytest.approx(0.892, abs=0.006)


@row("001-37", "multi-class", "one classifier of 20 values")
def _():
    texts, groups = split_posts()[1]
    chances = newsgroups().predict_proba(texts[:200])
    assert chances.shape == (200, 20)
    assert close(chances.sum(axis=1), 1)
    assert (newsgroups().classes_[chances.argmax(axis=1)] == groups[:200]).mean() > 0.8


@row("001-38", "multi-class", "20 one-against-all classifiers")
def _():
    rest = GaussianNB().fit(IRIS, SPECIES).one_vs_rest()
    refitted = OneVsRestClassifier(GaussianNB()).fit(IRIS, SPECIES)
    assert (rest.predict(IRIS) == refitted.predict(IRIS)).all()
    assert (rest.predict(IRIS) == SPECIES).mean() == pytest.approx(0.94)
    assert close(rest[2].predict_proba(IRIS), refitted.estimators_[2].predict_proba(IRIS), atol=1e-9)
    twenty = newsgroups().one_vs_rest()
    texts, groups = (some[:300] for some in split_posts()[1])
    assert len(twenty) == 20
    assert (twenty.predict(texts) == groups).mean() == pytest.approx(newsgroups().score(texts, groups), abs=0.03)


@row("001-39", "multi-class", "one against all is unbalanced")
def _():
    rest, one = newsgroups().one_vs_rest()["sci.space"].class_count_
    own = (split_posts()[0][1] == "sci.space").sum()
    assert (rest, one) == (13332 - own, own)
    assert 600 < one < 720


@row("001-40", "Table 3.1", "the word of each group")
def _():
    model = TextClassifier(counts=True, alpha=1, strip="headers", stop_words="english")
    top = model.fit(*posts()).top_words(5)
    assert [count_found(top, first) for first in (1, 2, 5)] == [15, 16, 19]


@row("001-41", "Table 3.1", "the score column θ log(θ/θ_rest)")
def _():
    model = TextClassifier(counts=True, alpha=1, strip="headers", stop_words="english", min_df=20, max_df=0.3)
    top = model.fit(*posts()).top_words(2)
    assert dict(top["alt.atheism"])["atheism"] == pytest.approx(0.013, abs=5e-4)
    assert dict(top["comp.graphics"])["jpeg"] == pytest.approx(0.043, abs=5e-4)
    assert dict(top["talk.politics.guns"])["gun"] == pytest.approx(0.030, abs=5e-4)
    assert dict(top["talk.religion.misc"])["god"] == pytest.approx(0.011, abs=5e-4)


@row("001-42", "Table 3.1", "the column θ̂")
def _():
    model = TextClassifier(token_pattern=r"\w", stop_words=["d", "e"], counts=True, alpha=1)
    frame = model.fit(*datasets.eight_mails()).top_words(1).to_frame()
    assert list(frame) == ["class", "word", "score", "theta"]
    assert frame["word"].tolist() == ["a", "b"]
    assert close(frame["theta"], [0.6, 0.5])
    assert close(frame["score"], [0.6 * np.log(0.6 / 0.3), 0.5 * np.log(0.5 / 0.2)])


@row("001-43", "Gaussian NB", "normal columns, P(y) binomial; MLE of μ and σ²")
def _():
    model = GaussianNB(var_smoothing=0).fit(IRIS, SPECIES)
    assert close(model.theta_, [own.mean(axis=0) for own in BY_SPECIES])
    assert close(model.var_, [own.var(axis=0) for own in BY_SPECIES])
    assert close(model.class_prior_, [1 / 3] * 3)


@row("001-44", "Gaussian NB", "same Σ: LDA; own Σ: QDA; diagonal Σ: Gaussian NB")
def _():
    full, diagonal = (QuadraticDiscriminantAnalysis(diagonal=one).fit(IRIS, SPECIES) for one in (False, True))
    shared, naive = LDA.fit(IRIS, SPECIES), GaussianNB(var_smoothing=0).fit(IRIS, SPECIES)
    assert close(diagonal.predict_proba(IRIS), naive.predict_proba(IRIS), atol=1e-12)
    for model, covariances in (
        (shared, [shared.covariance_] * 3),
        (full, full.covariance_),
        (diagonal, [np.diag(var) for var in naive.var_]),
    ):
        logs = [multivariate_normal.logpdf(IRIS, *own) for own in zip(model.means_, covariances, strict=True)]
        assert close(model.class_log_likelihood(IRIS), np.transpose(logs), atol=1e-8)


@row("001-45", "Gaussian NB (also 002)", "one diagonal Σ for all classes: linear posterior")
def _():
    model = GaussianNB(variances="shared").fit(TWO_IRISES, TWO_SPECIES)
    view = model.as_logistic()
    assert close(view.coef_, [[1.984, 2.056, 5.018, 12.472]], atol=5e-4)
    assert close(view.coef_[0], np.diff(model.theta_, axis=0)[0] / model.var_[0], rtol=1e-6)
    assert close(view.predict_proba(TWO_IRISES), model.predict_proba(TWO_IRISES), atol=1e-12)


@row("001-46", "Bayesian networks", "new arcs where columns depend")
def _():
    tree = TreeAugmentedNB().fit(TENNIS, PLAY).parents_
    arcs = BayesNet().fit(TENNIS, PLAY).edges_
    assert tree == {"outlook": "temperature", "temperature": None, "humidity": "temperature", "windy": "outlook"}
    assert arcs == [("temperature", "humidity")]


@row("001-47", "Bayesian networks", "conditional table at each node")
def _():
    net = BayesNet.from_edges([("play", name) for name in TENNIS], TENNIS.assign(play=PLAY), target="play", prior=0)
    frame = net.table("outlook").to_frame()
    assert close(frame[["overcast", "rainy", "sunny"]], [[0, 2 / 5, 3 / 5], [4 / 9, 3 / 9, 2 / 9]])
    assert close(np.ravel(net.table("play").values), [5 / 14, 9 / 14])


@row("001-48", "Bayesian networks", "the annotated graph, drawn")
def _():
    net = BayesNet().fit(TENNIS, PLAY)
    texts = [text.get_text() for text in plots.graph(net, axes(), tables=True).texts]
    assert len(texts) == 2 * 5 + 1  # names, tables, and the scale of the edges
    assert "yes        0.42   0.33   0.25" in texts[texts.index("outlook") + 1]
    assert "no     cool         0.33    0.67" in texts[texts.index("humidity") + 1]
