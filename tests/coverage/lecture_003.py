"""Lecture 003: Bayesian classification, naive Bayes, missing values, MDL."""

from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris

from deciban import (
    BayesNet,
    BayesOptimal,
    BernoulliNB,
    CategoricalNB,
    CountVectorizer,
    GaussianNB,
    Gibbs,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    TextClassifier,
    TreeAugmentedNB,
    cross_validate,
    datasets,
    learning_curve,
    plots,
    select_model,
)
from tests.coverage import row
from tests.support.data import shared_path

mpl.use("agg")

# hypotheses: an interval is cut at 0.5, 1.5, 2.5 or 3.5, and the points 1, 2, 3 are + above 1.5
POINTS, SIGNS = np.array([[1.0], [2.0], [3.0]]), np.array(["-", "+", "+"])
CUTS = [lambda X, cut=cut: np.where(X[:, 0] > cut, "+", "-") for cut in (0.5, 1.5, 2.5, 3.5)]

PLACES, SIDES, LINES = datasets.half_planes()  # eight points, and 200 half-planes, of which 17 agree with all of them
NEW = np.random.default_rng(0).uniform(-1, 1, (500, 2))

TENNIS, PLAY = datasets.play_tennis()
CODES = TENNIS.apply(lambda column: pd.factorize(column, sort=True)[0]).to_numpy()
WEATHER, _ = datasets.play_tennis(numeric=True)
QUERY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "true"}
OVERCAST = {**QUERY, "outlook": "overcast"}
NUMERIC_QUERY = {**QUERY, "temperature": 66, "humidity": 90}
LECTURE = MixedNB(alpha=0).fit(TENNIS, PLAY)  # no pseudo-counts
DEGREES = GaussianNB(var_smoothing=0, ddof=1).fit(WEATHER[["temperature"]].to_numpy(), PLAY)

TEXTS, LABELS = datasets.eight_mails()
PRESENCE, _ = datasets.eight_mails("presence")
COUNTS, _ = datasets.eight_mails("counts")
BITS, MAIL = {"a": 1, "b": 1, "c": 0}, {"a": 3, "b": 1, "c": 0}
WORDS = {"token_pattern": r"\w", "stop_words": ["d", "e"]}
BERNOULLI = BernoulliNB().fit(PRESENCE, LABELS)
MULTINOMIAL = MultinomialNB(coefficient=True).fit(COUNTS, LABELS)
COUNTED = TextClassifier(**WORDS, counts=True, smoothing="even", alpha=1).fit(TEXTS, LABELS)

FULL, NAIVE = datasets.viagra_networks()
MAILS = {"viagra": [0, 0, 1, 1], "lottery": [0, 1, 0, 1]}

STEPS, PASSED = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
PENALTIES = {"weak": LogisticRegression(C=10.0), "strong": LogisticRegression(C=0.1)}
STRUCTURES = {"naive": MixedNB(alpha=1), "tree": TreeAugmentedNB()}
FLOWERS, KINDS = load_iris().data[50:], load_iris().target[50:]


def close(found, *want, to=1e-6):
    """Whether all numbers differ by at most `to`."""
    return np.allclose(found, want[0] if len(want) == 1 else want, rtol=0, atol=to)


def expected_error(answers) -> float:
    """Share of wrong answers about `NEW`, on average over the half-planes that agree with all of `PLACES`."""
    consistent = [line for line in LINES if (line(PLACES) == SIDES).all()]
    return float(np.mean([answers != line(NEW) for line in consistent]))


@cache
def copied_column(copies: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of the same information about y, the first of them several times."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 2000)
    one, other = rng.normal(y, 1.0), rng.normal(y, 1.0)
    return np.column_stack([*[one] * copies, other]), y


@cache
def noisy_copies() -> tuple[np.ndarray, np.ndarray]:
    """Three columns that measure the same number, with little noise."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 2000)
    return rng.normal(y, 1.0)[:, None] + rng.normal(0.0, 0.1, (2000, 3)), y


def cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


def spam_words() -> tuple[pd.DataFrame, list[str], np.ndarray]:
    """(all mails of two words, labels, their probabilities): most mails with one of the words have both."""
    viagra, pill = {"spam": 0.6, "ham": 0.1}, {"spam": (0.02, 0.9), "ham": (0.02, 0.85)}
    rows = [(label, v, p) for label in viagra for v in (0, 1) for p in (0, 1)]
    weight = [0.5 * (viagra[c] if v else 1 - viagra[c]) * (pill[c][v] if p else 1 - pill[c][v]) for c, v, p in rows]
    frame = pd.DataFrame(rows, columns=["label", "viagra", "pill"]).astype({"viagra": str, "pill": str})
    return frame[["viagra", "pill"]], frame["label"].to_list(), np.array(weight)


@cache
def newsgroups() -> tuple[list[str], np.ndarray]:
    """The posts of 20 Newsgroups without their headers."""
    return datasets.load_20newsgroups(shared_path("newsgroups20/newsgroups20_original.jsonl.xz"), remove="headers")


@cache
def hockey_article() -> tuple[str, list[str], np.ndarray]:
    """(the article, all other posts, their groups)"""
    texts, groups = newsgroups()
    at = next(at for at, text in enumerate(texts) if "the most obvious candidate for pleasant" in text)
    return texts[at], texts[:at] + texts[at + 1 :], np.delete(groups, at)


@cache
def seven_columns(n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Seven columns, of which y depends on the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 7))
    return X, (X[:, 0] + rng.logistic(size=n) > 0).astype(int)


@row("003-01", "Bayesian approach", "hypotheses as labels or as functions")
def _():
    labels = BayesOptimal.of({"h1": "+", "h2": "-"}, [0.4, 0.6])
    functions = BayesOptimal.of(CUTS, classes=["+", "-"])
    assert close(labels.predict_proba([[0]]), 0.4, 0.6)
    assert close(functions.predict_proba(POINTS), [0.25, 0.75], [0.5, 0.5], [0.75, 0.25])


@row("003-02", "Bayes optimal", "P(h given D) 0.4, 0.3, 0.3 voting +, −, −")
def _():
    vote = BayesOptimal.of({"h1": "+", "h2": "-", "h3": "-"}, [0.4, 0.3, 0.3])
    assert close(vote.predict_proba([[0]]), 0.4, 0.6)
    assert vote.predict([[0]]) == ["-"]


@row("003-03", "Bayes optimal", "the MAP hypothesis and its answer (+)")
def _():
    vote = BayesOptimal.of(*datasets.votes())
    answer = vote.map_.predict([[0]])
    assert answer == ["+"]
    assert vote.names_[vote.weights_.argmax()] == "h1"


@row("003-04", "Bayes optimal", "Σ P(v given h) P(h given D) with soft P(v given h)")
def _():
    soft = [lambda X: np.tile([0.9, 0.1], (len(X), 1)), lambda X: np.tile([0.2, 0.8], (len(X), 1))]
    vote = BayesOptimal.of(soft, [0.4, 0.6], classes=["+", "-"])
    assert close(vote.predict_proba([[0]]), 0.4 * 0.9 + 0.6 * 0.2, 0.52)


@row("003-05", "Bayes optimal (also MAP)", "P(h given D) from data, for given functions")
def _():
    vote = BayesOptimal(CUTS, noise=0.1).fit(POINTS, SIGNS)
    likelihood = np.array([0.1 * 0.9**2, 0.9**3, 0.1 * 0.9**2, 0.1**2 * 0.9])
    assert close(vote.weights_, likelihood / likelihood.sum())
    assert close(vote.weights_, 0.09, 0.81, 0.09, 0.01, to=5e-3)


@row("003-06", "Bayes optimal", "no other method with the same hypotheses is better on average")
def _():
    vote = BayesOptimal(LINES).fit(PLACES, SIDES)
    error = expected_error(vote.predict(NEW))
    assert (vote.weights_ > 0).sum() == 17
    assert 0 < error < min(expected_error(line(NEW)) for line in LINES)
    assert error < expected_error(vote.map_.predict(NEW))
    assert close(error, np.mean(1 - vote.predict_proba(NEW).max(axis=1)))


@row("003-07", "Gibbs", "draw one hypothesis by P(h given D)")
def _():
    answers = Gibbs.of(*datasets.votes(), random_state=0).predict([[0]] * 10_000)
    assert close(np.mean(answers == "+"), 0.4, to=0.01)
    assert np.mean(answers == "+") == 0.4032


@row("003-08", "Gibbs", "E[Gibbs] ≤ 2 E[Bayes optimal]")
def _():
    vote, drawn = BayesOptimal(LINES).fit(PLACES, SIDES), Gibbs(LINES, random_state=0).fit(PLACES, SIDES)
    errors = [expected_error(model.predict(NEW)) for model in (vote, drawn)]
    assert 1 < errors[1] / errors[0] < 2
    likely = vote.predict_proba(NEW).max(axis=1)
    assert close(errors[1], np.mean(2 * likely * (1 - likely)), to=0.01)  # what it is on average over the draws


@row("003-09", "Gibbs", "one model is evaluated instead of all")
def _():
    answers = Gibbs.of(*datasets.votes(), per="prediction", random_state=0).predict([[0]] * 100)
    assert len(set(answers)) == 1


@row("003-10", "NB", "v_NB = arg max P(v) Π P(x_i given v)")
def _():
    answer = MixedNB(alpha=0).fit(TENNIS, PLAY).predict(QUERY)
    assert answer == ["no"]


@row("003-11", "play tennis", "the table of 14 rows")
def _():
    X, y = datasets.play_tennis()
    assert X.shape == (14, 4)
    assert X.iloc[13].to_list() == ["rainy", "mild", "high", "true"]
    assert (y == "yes").sum() == 9


@row("003-12", "play tennis", "the table of counts by value and class")
def _():
    table = MixedNB(alpha=0).fit(TENNIS, PLAY).counts_table()
    assert table.to_frame().set_index(["column", "value"]).loc["outlook"].to_numpy().tolist() == [
        [0, 4],
        [2, 3],
        [3, 2],
    ]
    assert "rainy      2    3      5" in str(table)


@row("003-13", "play tennis", "the table of fractions 2/9, 3/5, …")
def _():
    table = MixedNB(alpha=0).fit(TENNIS, PLAY).counts_table(fractions=True)
    assert "sunny      3/5   2/9" in str(table)
    assert "true       3/5   3/9" in str(table)
    assert str(table).split()[-3:] == ["class", "5/14", "9/14"]


@row("003-14", "play tennis", "9/14, 5/14")
def _():
    model = MixedNB(alpha=0).fit(TENNIS, PLAY)
    assert close(model.class_prior_, 5 / 14, 9 / 14)
    assert model.class_count_.tolist() == [5, 9]


@row("003-15", "play tennis", "0.0053 and 0.0206")
def _():
    joint = np.exp(MixedNB(alpha=0).fit(TENNIS, PLAY).predict_joint_log_proba(QUERY))
    assert close(joint, 0.020571, 0.005291)


@row("003-16", "play tennis", "the product of fractions as on the board")
def _():
    working = LECTURE.explain(QUERY, form="fractions")
    assert "9/14 · 2/9 · 3/9 · 3/9 · 3/9 = 0.0053" in str(working)
    assert "5/14 · 3/5 · 1/5 · 4/5 · 3/5 = 0.0206" in str(working)
    assert r"\frac{9}{14} \cdot \frac{2}{9}" in working.latex()


@row("003-17", "play tennis", "posterior 0.205, 0.795")
def _():
    posterior = MixedNB(alpha=0).fit(TENNIS, PLAY).predict_proba(QUERY)
    assert close(posterior, 0.795417, 0.204583)


@row("003-18", "play tennis", "… and by the defaults of the library: pseudo-counts chosen by held-out rows")
def _():
    model = MixedNB().fit(TENNIS, PLAY)
    assert close(model.predict_proba(QUERY), 0.680, 0.320, to=5e-4)
    assert min(model.tuned_["alpha"].values()) > 1


@row("003-19", "play tennis, numeric", "temperature and humidity as numbers")
def _():
    model = MixedNB(alpha=0, families="gaussian", ddof=1).fit(WEATHER, PLAY)
    assert close(model.predict_proba(NUMERIC_QUERY), 0.792, 0.208, to=5e-4)


@row("003-20", "subtleties", "arg max can be right though posteriors are wrong")
def _():
    naive = cross_validate(GaussianNB(), *noisy_copies())
    joint = cross_validate(LinearDiscriminantAnalysis(), *noisy_copies())
    assert close(naive.accuracy, joint.accuracy, to=1e-3)
    assert naive.log_loss > joint.log_loss + 0.15


@row("003-21", "subtleties", "posteriors too close to 0 or 1")
def _():
    naive = cross_validate(GaussianNB(), *cancer())
    calibrated = cross_validate(GaussianNB(calibrate=True), *cancer())
    assert close([naive.log_loss, calibrated.log_loss], 0.612, 0.149, to=5e-4)
    sure = naive.proba.max(axis=1) > 0.999
    assert close(sure.mean(), 0.93, to=5e-3)
    assert close(np.mean((naive.predicted == naive.y)[sure]), 0.972, to=5e-4)
    assert plots.reliability(naive.y, naive.proba).get_xlabel()


@row("003-22", "subtleties", "redundant attributes do harm")
def _():
    found = [cross_validate(GaussianNB(), *copied_column(copies)) for copies in (1, 2, 5, 20)]
    assert close([one.accuracy for one in found], 0.7625, 0.7405, 0.7195, 0.698)
    assert close([one.log_loss for one in found], 0.499, 0.552, 0.980, 3.790, to=5e-4)


@row("003-23", "subtleties", "… in play tennis: copies of temperature")
def _():
    models = [CategoricalNB(alpha=0).fit(CODES[:, [0, 1, 2, 3] + [1] * n], PLAY) for n in range(4)]
    posterior = [model.predict_proba([[2, 0, 0, 1] + [0] * n])[0, 0] for n, model in enumerate(models)]
    assert close(posterior, 0.795, 0.700, 0.583, 0.456, to=5e-4)


@row("003-24", "zero frequency", "overcast never with 'no': probability 0")
def _():
    posterior = MixedNB(alpha=0).fit(TENNIS, PLAY).predict_proba(OVERCAST)
    assert posterior.tolist() == [[0.0, 1.0]]


@row("003-25", "zero frequency (also 004)", "add 1 to each count")
def _():
    model = MixedNB(alpha=1).fit(TENNIS, PLAY)
    assert close(model.predict_proba(OVERCAST), 0.278, 0.722, to=5e-4)
    assert close(model.predict_proba(QUERY), 0.720, 0.280, to=5e-4)


@row("003-26", "zero frequency", "another constant")
def _():
    posterior = MixedNB(alpha=0.5).fit(TENNIS, PLAY).predict_proba(OVERCAST)
    assert close(posterior, 0.198, 0.802, to=5e-4)


@row("003-27", "numeric", "sample mean; standard deviation with n − 1")
def _():
    model = GaussianNB(var_smoothing=0, ddof=1).fit(WEATHER[["temperature"]], PLAY)
    assert close(model.theta_, [74.6], [73.0])
    assert close(np.sqrt(model.var_), [7.893], [6.164], to=5e-4)


@row("003-28", "numeric", "density f(66) for mean 73, deviation 6.2 = 0.0340")
def _():
    bell = GaussianNB.from_parameters(theta=[[73.0]], var=[[6.2**2]])
    density = np.exp(bell.class_log_likelihood([[66.0]]))
    assert close(density, 0.034019)
    assert close(density, stats.norm.pdf(66, 73, 6.2))


@row("003-29", "numeric", "f(66 given yes) from the rows")
def _():
    density = np.exp(DEGREES.class_log_likelihood([[66.0]]))
    assert close(density, 0.027918, 0.033964)


@row("003-30", "numeric (figure)", "the two bells over the temperatures")
def _():
    model = MixedNB(alpha=0, families="gaussian", ddof=1).fit(WEATHER, PLAY)
    ax = plots.densities(WEATHER, PLAY, "temperature", model=model)
    assert ax.get_xlabel() == "temperature"
    tops = [line.get_ydata().max() for line in ax.lines if len(line.get_xdata()) > 50]
    assert close(sorted(tops), stats.norm.pdf(0, 0, 7.893), stats.norm.pdf(0, 0, 6.164), to=1e-4)


@row("003-31", "numeric", "missing cells stay out of mean and deviation")
def _():
    cells = [[1.0], [3.0], [np.nan], [5.0], [np.nan], [9.0]]
    model = GaussianNB(var_smoothing=0, ddof=1).fit(cells, ["a", "a", "a", "b", "b", "b"])
    assert close(model.theta_, [2.0], [7.0])
    assert close(model.var_, [2.0], [8.0])


@row("003-32", "categorical variables", "multivariate Bernoulli: product over bits")
def _():
    product = np.exp(BernoulliNB.from_parameters([[0.5, 2 / 3, 1 / 3]]).class_log_likelihood([[1, 1, 0]]))
    assert close(product, 0.5 * 2 / 3 * (1 - 1 / 3))


@row("003-33", "categorical variables", "'Viagra' and 'pill': dependence spoils the probability, not the decision")
def _():
    naive, tree = MixedNB(alpha=0), TreeAugmentedNB(alpha=0, backoff=0)
    found = [model.fit(*spam_words()).predict_proba({"viagra": "1", "pill": "1"})[0, 1] for model in (naive, tree)]
    assert close(found, 0.970, 0.864, to=5e-4)
    assert close(found[1], 0.6 * 0.9 / (0.6 * 0.9 + 0.1 * 0.85))


@row("003-34", "classify text", "P(+), P(−), P(doc given +), P(doc given −)")
def _():
    joint = np.exp(COUNTED.predict_joint_log_proba(["a a a b"]))
    likelihood = joint / COUNTED.class_prior_
    assert COUNTED.class_prior_.tolist() == [0.5, 0.5]
    assert close(likelihood, 0.6**3 * 0.2, 0.3**3 * 0.5)


@row("003-35", "classify text", "P(doc given v) = Π over positions; order does not matter")
def _():
    first, second = COUNTED.predict_joint_log_proba(["a a a b", "b a a a"])
    assert first.tolist() == second.tolist()
    assert close(np.exp(first), 0.5 * 0.6**3 * 0.2, 0.5 * 0.3**3 * 0.5)


@row("003-36", "20 newsgroups", "the hockey article")
def _():
    article, texts, groups = hockey_article()
    explained = TextClassifier().fit(texts, groups).explain([article])
    assert "P(rec.sport.hockey) = 0.99" in str(explained)
    words = explained.to_frame().set_index("column").decibans
    assert words[["goaltender", "hrudey", "skater"]].min() > 0.5


@row("003-37", "20 newsgroups figure", "learning curve, one third withheld")
def _():
    curve = learning_curve(TextClassifier(), *newsgroups(), [100, 1000, 13_000], repeats=2)
    ax = plots.learning_curve(curve)
    assert close(curve.mean(), 0.42, 0.71, 0.857, to=0.02)
    assert ax.lines[0].get_xdata().tolist() == [100, 1000, 13_000]


@row("003-38", "eight mails", "the texts e1 … e8")
def _():
    texts, labels = datasets.eight_mails()
    assert texts[0] == "b d e b b d e"
    assert labels.tolist() == ["spam"] * 4 + ["ham"] * 4


@row("003-39", "eight mails", "stop words d, e; vocabulary a, b, c")
def _():
    model = TextClassifier(token_pattern=r"\w", stop_words=["d", "e"]).fit(TEXTS, LABELS)
    assert model.vocabulary_ == ["a", "b", "c"]


@row("003-40", "eight mails", "table of bits, table of counts")
def _():
    counts = CountVectorizer(**WORDS).fit_transform(TEXTS).toarray()
    bits = CountVectorizer(**WORDS, binary=True).fit_transform(TEXTS).toarray()
    assert counts.tolist() == [[0, 3, 0], [0, 3, 3], [3, 0, 0], [2, 3, 0], [4, 3, 0], [4, 0, 3], [3, 0, 0], [0, 0, 0]]
    assert bits.tolist() == (counts > 0).astype(int).tolist() == PRESENCE.to_numpy().tolist()
    assert counts.tolist() == COUNTS.to_numpy().tolist()


@row("003-41", "Bernoulli", "sums (2,3,1), (3,1,1)")
def _():
    ham, spam = BernoulliNB().fit(PRESENCE, LABELS).feature_count_
    assert spam.tolist() == [2, 3, 1]
    assert ham.tolist() == [3, 1, 1]


@row("003-42", "Bernoulli", "two pseudo-documents: θ = (3/6, 4/6, 2/6), (4/6, 2/6, 2/6)")
def _():
    ham, spam = BernoulliNB().fit(PRESENCE, LABELS).feature_prob_
    assert close(spam, 3 / 6, 4 / 6, 2 / 6)
    assert close(ham, 4 / 6, 2 / 6, 2 / 6)


@row("003-43", "multinomial", "sums (5,9,3), (11,3,3)")
def _():
    ham, spam = MultinomialNB().fit(COUNTS, LABELS).feature_count_
    assert spam.tolist() == [5, 9, 3]
    assert ham.tolist() == [11, 3, 3]


@row("003-44", "multinomial", "one pseudo-count a word: θ = (0.3, 0.5, 0.2), (0.6, 0.2, 0.2)")
def _():
    ham, spam = MultinomialNB().fit(COUNTS, LABELS).feature_prob_
    assert close(spam, 0.3, 0.5, 0.2)
    assert close(ham, 0.6, 0.2, 0.2)


@row("003-45", "the same by TextClassifier", "texts in, lecture's numbers out")
def _():
    model = TextClassifier(token_pattern=r"\w", stop_words=["d", "e"], counts=True, smoothing="even", alpha=1)
    ratio = model.fit(TEXTS, LABELS).likelihood_ratio(["a a a b"], "spam", "ham")
    assert close(ratio, 5 / 16)
    assert close(model.word_probabilities()[["ham", "spam"]], [[0.6, 0.3], [0.2, 0.5], [0.2, 0.2]])


@row("003-46", "prediction", "a model from given θ")
def _():
    theta = [[3 / 6, 4 / 6, 2 / 6], [4 / 6, 2 / 6, 2 / 6]]
    model = BernoulliNB.from_parameters(theta, classes=["spam", "ham"], feature_names=["a", "b", "c"])
    assert close(model.likelihood_ratio(BITS, "spam", "ham"), 1.5)
    assert close(model.predict_joint_log_proba(BITS), BERNOULLI.predict_joint_log_proba(BITS))


@row("003-47", "prediction", "P(x given ⊕) = 0.222, P(x given ⊖) = 0.148")
def _():
    likelihood = np.exp(BERNOULLI.class_log_likelihood(BITS))
    assert close(likelihood, 4 / 27, 6 / 27)  # ham, spam


@row("003-48", "prediction", "maximum likelihood class (priors left out)")
def _():
    most_likely = BERNOULLI.predict(BITS, priors="uniform")
    assert most_likely == BERNOULLI.classes_[BERNOULLI.class_log_likelihood(BITS).argmax()] == "spam"


@row("003-49", "prediction", "likelihood ratio 3/2")
def _():
    ratio = BERNOULLI.likelihood_ratio(BITS, "spam", "ham")
    assert close(ratio, 3 / 2)


@row("003-50", "prediction", "spam while prior odds > 2/3")
def _():
    least = 1 / BERNOULLI.likelihood_ratio(BITS, "spam", "ham")[0]
    answers = [BERNOULLI.predict(BITS, priors={"spam": p, "ham": 1 - p})[0] for p in (0.39, 0.41)]
    assert close(least, 2 / 3)
    assert answers == ["ham", "spam"]
    assert 0.39 / 0.61 < least < 0.41 / 0.59


@row("003-51", "prediction", "prior odds 1/2 → posterior odds 3/4")
def _():
    odds = BERNOULLI.odds(BITS, priors={"spam": 1 / 3, "ham": 2 / 3})
    assert close(odds, 4 / 3, 3 / 4)  # ham, spam


@row("003-52", "prediction", "multinomial likelihoods with 4!: 0.054, 0.1728")
def _():
    model = MultinomialNB(coefficient=True).fit(COUNTS, LABELS)
    likelihood = np.exp(model.class_log_likelihood(MAIL))
    assert close(likelihood, 0.1728, 0.054)  # ham, spam
    assert close(likelihood, [stats.multinomial(4, theta).pmf([3, 1, 0]) for theta in model.feature_prob_])


@row("003-53", "prediction", "ratio 5/16, ham: the opposite decision")
def _():
    ratio = MULTINOMIAL.likelihood_ratio(MAIL, "spam", "ham")
    assert close(ratio, 5 / 16)
    assert MULTINOMIAL.predict(MAIL) == ["ham"]
    assert BERNOULLI.predict(BITS) == ["spam"]


@row("003-54", "missing values", "training: cell left out; prediction: attribute left out")
def _():
    rows = TENNIS.assign(outlook=[None, *TENNIS.outlook[1:]])
    model = MixedNB(alpha=0).fit(rows, PLAY)
    assert "sunny      2/4   2/9" in str(model.counts_table(fractions=True))
    assert close(model.predict_proba({**QUERY, "windy": None}), 9 / 14, 5 / 14)  # 0.643


@row("003-55", "missing values", "P(Y given lottery) averaged over Viagra: 0.625, 0.375")
def _():
    posterior = datasets.viagra_networks()[0].query("y", {"lottery": 1})
    assert close(posterior.values, 0.65 * 0.9 + 0.40 * 0.1, 0.375)
    assert close(FULL.predict_proba({"viagra": [None], "lottery": [1]})[0, list(FULL.classes_).index("spam")], 0.625)


@row("003-56", "missing values", "the averaging form in naive Bayes")
def _():
    averaged = MixedNB(alpha=0, missing="average").fit(TENNIS, PLAY).predict_proba({**QUERY, "outlook": None})
    left_out = MixedNB(alpha=0).fit(TENNIS, PLAY).predict_proba({**QUERY, "outlook": None})
    assert close([averaged[0, 0], left_out[0, 0]], 0.5103, 0.5902, to=5e-5)
    shares = TENNIS.outlook.value_counts(normalize=True)
    by_hand = sum(share * LECTURE.predict_proba({**QUERY, "outlook": level}) for level, share in shares.items())
    assert close(averaged, by_hand)


@row("003-57", "likelihood ratio", "3.5e-5 / 7.4e-6 = 4.73")
def _():
    shares = [[[3.5e-5, 1 - 3.5e-5], [7.4e-6, 1 - 7.4e-6]]]
    ratio = CategoricalNB.from_parameters(shares, classes=["a", "b"]).likelihood_ratio([[0]], "a", "b")
    assert close(ratio, 4.72973, to=5e-6)


@row("003-58", "posterior odds", "0.45, 0.67, 1.9, 4.0 from the full table")
def _():
    odds = FULL.odds(MAILS, against="ham")[:, list(FULL.classes_).index("spam")]
    assert close(odds, 0.31 / 0.69, 0.65 / 0.35, 0.80 / 0.20, 0.40 / 0.60)
    assert close(sorted(odds), 0.449, 0.667, 1.857, 4.0, to=5e-4)


@row("003-59", "posterior odds", "MAP: ham without both words and with both, spam with one")
def _():
    answers = FULL.predict(MAILS)
    assert answers.tolist() == ["ham", "spam", "spam", "ham"]


@row("003-60", "marginal likelihoods", "the two tables 0.40, 0.12; 0.21, 0.13 as a naive model")
def _():
    model = BernoulliNB.from_parameters([[0.40, 0.21], [0.12, 0.13]], classes=["spam", "ham"])
    assert close(np.exp(model.class_log_likelihood([[1, 1]])), 0.12 * 0.13, 0.40 * 0.21)


@row("003-61", "marginal likelihoods", "0.62, 1.1, 3.0, 5.4")
def _():
    model = BernoulliNB.from_parameters([[0.40, 0.21], [0.12, 0.13]], classes=["spam", "ham"])
    ratios = model.likelihood_ratio([[0, 0], [0, 1], [1, 0], [1, 1]], "spam", "ham")
    assert close(ratios, 0.619, 1.101, 3.027, 5.385, to=5e-4)
    assert close(ratios, NAIVE.likelihood_ratio(MAILS, "spam", "ham"))


@row("003-62", "marginal likelihoods", "three of four decisions agree")
def _():
    agree = FULL.predict(MAILS) == NAIVE.predict(MAILS)
    assert agree.tolist() == [True, True, True, False]


@row("003-63", "logistic", "posterior odds = ratio × prior odds; logs add")
def _():
    ratio = LECTURE.likelihood_ratio(QUERY, "yes", "no", log=True)
    log_odds = LECTURE.log_odds(QUERY)[:, 1]
    assert close(log_odds, ratio + np.log(9 / 5))


@row("003-64", "logistic", "ln ratio = xβ, β₀ = ln prior odds")
def _():
    model = LogisticRegression(C=np.inf).fit(FLOWERS[10:, :2], KINDS[10:])
    ratio = model.likelihood_ratio(FLOWERS[:, :2], 2, 1, log=True)
    assert close(ratio, model.decision_function(FLOWERS[:, :2]) - np.log(50 / 40))


@row("003-65", "MAP and MDL", "arg max P(D given h)P(h) over fitted models")
def _():
    found = select_model({"naive": MixedNB(alpha=1), "tree": TreeAugmentedNB()}, TENNIS, PLAY)
    assert close(found.total_bits, 95.29, 93.32, to=5e-3)
    assert close(found.weight, 0.203, 0.797, to=5e-4)
    network = select_model({"naive": BayesNet(edges=[]), "tree": TreeAugmentedNB()}, TENNIS, PLAY)
    assert close(network.weight, found.weight)


@row("003-66", "MAP and MDL", "brute-force MAP and version space over given functions")
def _():
    noisy = select_model(CUTS, POINTS, SIGNS, noise=0.1)
    consistent = select_model(CUTS, POINTS, SIGNS)
    assert noisy.chosen == consistent.chosen == 1
    assert close(noisy.weight, 0.09, 0.81, 0.09, 0.01, to=5e-3)
    assert consistent.weight.tolist() == [0, 1, 0, 0]


@row("003-67", "MAP and MDL", "−log₂ P(D given h) − log₂ P(h), bits")
def _():
    found = select_model(PENALTIES, STEPS, PASSED, by="mdl", prior=[0.1, 0.9])
    assert close(found.data_bits, 4.16, 4.56, to=5e-3)
    assert close(found.prior_bits, -np.log2(0.1), -np.log2(0.9))
    assert close(found.total_bits, 7.48, 4.72, to=5e-3)


@row("003-68", "MAP and MDL", "the same hypothesis by MAP and by MDL")
def _():
    found = [select_model(PENALTIES, STEPS, PASSED, by=by, prior=[0.1, 0.9]) for by in ("map", "mdl")]
    assert [one.names[one.chosen] for one in found] == ["strong", "strong"]
    assert found[0].weight.argmax() == found[1].total_bits.argmin()


@row("003-69", "MAP and MDL", "Occam: the shorter hypothesis where both explain")
def _():
    evidence = [LogisticRegression().fit(seven_columns()[0][:, :d], seven_columns()[1]).evidence_ for d in (1, 7)]
    inclusion = MixedNB(average="subsets", families="student").fit(*seven_columns(300)).inclusion_
    assert close(evidence, -63.26, -70.11, to=5e-3)
    assert inclusion[0] > 0.999
    assert max(inclusion[1:]) < 0.05


@row("003-70", "MAP and MDL", "length of the hypothesis itself (bits of its description)")
def _():
    found = select_model({"naive": MixedNB(alpha=1), "tree": TreeAugmentedNB()}, TENNIS, PLAY, prior="length")
    assert [model.n_parameters_ for model in found.models] == [13, 29]
    assert close(found.prior_bits, 13 / 2 * np.log2(14), 29 / 2 * np.log2(14))
    assert found.names[found.chosen] == "naive"


@row("003-71", "logistic", "xβ + β₀ shown term by term")
def _():
    model = LogisticRegression(C=np.inf).fit(FLOWERS, KINDS)
    terms = model.explain(FLOWERS[:1], of=2, against=1, baseline=0).to_frame()
    assert terms.column.to_list()[0] == "intercept"
    nats = terms.decibans.to_numpy() * np.log(10) / 10
    assert close(sorted(nats), sorted([*model.intercept_, *(FLOWERS[0] * model.coef_[0])]), to=1e-4)
