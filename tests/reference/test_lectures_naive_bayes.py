"""The worked numbers of the source lectures: naive Bayes over levels, presences, counts and numbers."""

import csv

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import OrdinalEncoder

from deciban import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from deciban.data.blocks import Reals
from deciban.families.gaussian import Gaussian

from ..support.data import TENNIS

QUERY = [["sunny", "cool", "high", "true"]]
SPAM = ["spam"] * 4 + ["ham"] * 4
PRESENT = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]])
WORDS = np.array([[0, 3, 0], [0, 3, 3], [3, 0, 0], [2, 3, 0], [4, 3, 0], [4, 0, 3], [3, 0, 0], [0, 0, 0]])


@pytest.fixture
def tennis():
    """(encoder of levels, codes, plays)"""
    levels, play = TENNIS.drop(columns="play").to_numpy(str), TENNIS["play"].to_numpy(str)
    coder = OrdinalEncoder().fit(levels)
    return coder, coder.transform(levels), play


def test_play_tennis_by_unsmoothed_counts(tennis):
    coder, x, play = tennis
    model = CategoricalNB(alpha=0).fit(x, play)  # force_alpha is the default: 0 stays 0
    query = coder.transform(QUERY)
    joint = np.exp(model.predict_joint_log_proba(query))[0]
    np.testing.assert_allclose(joint, [0.020571, 0.005291], atol=5e-7)  # no, yes
    no, yes = 5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5, 9 / 14 * 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9
    np.testing.assert_allclose(joint, [no, yes])
    np.testing.assert_allclose(model.predict_proba(query), [[0.7954, 0.2046]], atol=5e-5)
    assert model.predict(query).tolist() == ["no"]


def test_play_tennis_smoothed_by_one_pseudo_count_a_level(tennis):
    coder, x, play = tennis
    joint = np.exp(CategoricalNB(alpha=1).fit(x, play).predict_joint_log_proba(coder.transform(QUERY)))[0]
    no, yes = 5 / 14 * 4 / 8 * 2 / 8 * 5 / 7 * 4 / 7, 9 / 14 * 3 / 12 * 4 / 12 * 4 / 11 * 4 / 11
    np.testing.assert_allclose(joint, [no, yes])


def test_level_never_seen_with_a_class_rules_the_class_out_unless_smoothed(tennis):
    coder, x, play = tennis
    overcast = coder.transform([["overcast", "cool", "high", "true"]])  # no overcast day without play
    assert CategoricalNB(alpha=0).fit(x, play).predict_proba(overcast).tolist() == [[0.0, 1.0]]
    assert 0 < CategoricalNB(alpha=1).fit(x, play).predict_proba(overcast)[0, 0] < 0.5


def test_play_tennis_file_is_the_lectures_table(tennis, shared):
    coder, x, play = tennis
    with shared("weka_arff/weather_nominal.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    table = coder.transform([[cell.lower() for cell in row[:4]] for row in rows])
    np.testing.assert_array_equal(table, x)
    assert [row[4] for row in rows] == play.tolist()


def test_density_of_66_under_mean_73_and_deviation_6_2():
    gaussian, x = Gaussian(smoothing=0), Reals(np.array([[73 - 6.2], [73 + 6.2]]))
    params = gaussian.estimate(gaussian.tally(x, np.zeros(2, dtype=np.int32), None, 1))
    density = np.exp(gaussian.loglik(params, Reals(np.array([[66.0]]))))
    np.testing.assert_allclose(density, [[0.0340]], atol=5e-5)
    np.testing.assert_allclose(density, [[norm.pdf(66, 73, 6.2)]])
    model = GaussianNB(var_smoothing=0).fit(x.values, [0, 0])
    np.testing.assert_allclose(np.exp(model.score_samples([[66.0]])), [0.0340], atol=5e-5)


def test_sample_deviations_of_the_weather_divide_by_one_less_than_the_rows(shared):
    with shared("weka_arff/weather_numeric.csv").open() as file:
        rows = list(csv.DictReader(file))
    x = np.array([[float(row["temperature"]), float(row["humidity"])] for row in rows])
    play = np.array([row["play"] for row in rows])
    model = GaussianNB(var_smoothing=0, ddof=1).fit(x, play)
    np.testing.assert_allclose(model.theta_, [[74.6, 86.2], [73, 79.1]], atol=0.05)  # no, yes
    np.testing.assert_allclose(np.sqrt(model.var_), [[7.9, 9.7], [6.2, 10.2]], atol=0.05)
    np.testing.assert_allclose(model.var_[1], x[play == "yes"].var(axis=0, ddof=1))


def test_spam_by_presence_of_words():
    model = BernoulliNB(alpha=1).fit(PRESENT, SPAM)
    theta = [[2 / 3, 1 / 3, 1 / 3], [1 / 2, 2 / 3, 1 / 3]]  # ham, spam
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), theta)
    query = [[1, 1, 0]]
    ham, spam = np.exp(model.predict_joint_log_proba(query)[0]) / 0.5
    np.testing.assert_allclose([spam, ham], [0.2222, 0.1481], atol=5e-5)
    np.testing.assert_allclose(spam / ham, 3 / 2)
    odds = np.exp(model.log_odds(query, priors={"spam": 1 / 3, "ham": 2 / 3}))[0]
    np.testing.assert_allclose(odds, [4 / 3, 3 / 4])  # prior odds 1/2 × ratio 3/2
    np.testing.assert_allclose(model.predict_proba(query, priors=[2 / 3, 1 / 3]), [[4 / 7, 3 / 7]])
    assert model.predict(query).tolist() == ["spam"]
    assert model.predict(query, priors=[2 / 3, 1 / 3]).tolist() == ["ham"]


def test_spam_by_counts_of_words_decides_the_other_way():
    model = MultinomialNB(alpha=1).fit(WORDS, SPAM)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[0.6, 0.2, 0.2], [0.3, 0.5, 0.2]])
    query = [[3, 1, 0]]
    orders = 4  # a a a b can stand in four orders; the density is of one
    ham, spam = np.exp(model.predict_joint_log_proba(query)[0]) / 0.5 * orders
    np.testing.assert_allclose([spam, ham], [0.054, 0.1728])
    np.testing.assert_allclose(np.exp(model.log_odds(query, against="ham"))[0, 1], 5 / 16)
    assert model.predict(query).tolist() == ["ham"]


def independent_bits(spam: tuple[float, float], ham: tuple[float, float]) -> BernoulliNB:
    """A model whose P(column = 1 given class) are the given ones."""
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    w = [np.prod(np.where(x == 1, p, 1 - np.array(p)), axis=1) for p in (spam, ham)]
    return BernoulliNB(alpha=0).fit(np.tile(x, (2, 1)), SPAM, sample_weight=np.concatenate(w))


def test_marginal_likelihood_ratios_of_two_words():
    model = independent_bits(spam=(0.40, 0.21), ham=(0.12, 0.13))
    ratios = np.exp(model.log_odds([[0, 0], [0, 1], [1, 0], [1, 1]], against="ham"))[:, 1]
    np.testing.assert_allclose(ratios, [0.62, 1.10, 3.03, 5.38], atol=5e-3)
    full = np.array([0.45, 1.9, 4.0, 0.67])
    assert ((ratios > 1) == (full > 1)).tolist() == [True, True, True, False]


def test_likelihood_ratio_of_a_rare_level():
    x, y = [[0], [1], [0], [1]], ["a", "a", "b", "b"]
    model = CategoricalNB(alpha=0).fit(x, y, sample_weight=[3.5e-5, 1 - 3.5e-5, 7.4e-6, 1 - 7.4e-6])
    ratio = np.exp(model.log_odds([[0]], against="b"))[0, 0]
    np.testing.assert_allclose(ratio, 4.73, atol=5e-3)
    np.testing.assert_allclose(model.decibans([[0]], against="b")[0, 0], 10 * np.log10(3.5e-5 / 7.4e-6))


def test_bernoulli_of_most_likelihood_is_the_share_of_heads():
    tosses = np.array([[1], [0], [1], [1], [0], [1], [1]])
    model = BernoulliNB(alpha=0).fit(tosses, np.zeros(7))
    phi = np.exp(model.feature_log_prob_)[0, 0]
    np.testing.assert_allclose(phi, 5 / 7)
    np.testing.assert_allclose(model.score_samples(tosses).sum(), 5 * np.log(phi) + 2 * np.log(1 - phi))


def test_two_class_bernoulli_is_a_linear_rule_with_the_lectures_weights():
    model = BernoulliNB().fit(PRESENT, SPAM)
    ham, spam = np.exp(model.feature_log_prob_)
    absent, present = np.log((1 - spam) / (1 - ham)), np.log(spam / ham)  # w_j0, w_j1
    view = model.as_logistic()
    np.testing.assert_allclose(view.coef_[0], present - absent)
    np.testing.assert_allclose(view.intercept_[0], np.log(0.5 / 0.5) + absent.sum(), atol=1e-15)
    np.testing.assert_allclose(view.predict_proba(PRESENT), model.predict_proba(PRESENT))


@pytest.mark.parametrize("pseudo", [0.5, 1.0, 3.0])
def test_smoothing_is_pseudo_rows(pseudo):
    """Bernoulli: a row of all words and one of none for each class; multinomial: a row of each word once."""
    classes, w = ["ham", "spam"] * 2, [pseudo] * 4
    x, y = np.vstack([PRESENT, np.repeat([[1] * 3, [0] * 3], 2, axis=0)]), SPAM + classes
    with_rows = BernoulliNB(alpha=0).fit(x, y, sample_weight=[1] * 8 + w)
    smooth = BernoulliNB(alpha=pseudo).fit(PRESENT, SPAM)
    np.testing.assert_allclose(with_rows.feature_log_prob_, smooth.feature_log_prob_)
    x, y = np.vstack([WORDS, np.ones((2, 3))]), SPAM + classes[:2]
    with_rows = MultinomialNB(alpha=0).fit(x, y, sample_weight=[1] * 8 + w[:2])
    smooth = MultinomialNB(alpha=pseudo).fit(WORDS, SPAM)
    np.testing.assert_allclose(with_rows.feature_log_prob_, smooth.feature_log_prob_)


def test_missing_cell_is_left_out_of_its_count():
    x = np.array([[1, 0], [1, np.nan], [0, 1], [np.nan, 1]])
    model = BernoulliNB().fit(x, [0, 0, 0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[(2 + 1) / (3 + 2), (2 + 1) / (3 + 2)]])
    model = GaussianNB(var_smoothing=0).fit(np.array([[1.0, 5], [3, np.nan], [np.nan, 9]]), [0, 0, 0])
    np.testing.assert_allclose([*model.theta_, *model.var_], [[2, 7], [1, 4]])
    model = CategoricalNB().fit(np.array([[0], [np.nan], [1], [1]]), [0, 0, 0, 0])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[2 / 5, 3 / 5]])


def test_leaving_an_attribute_out_is_averaging_over_it():
    """P(Y given a) = Σ_b P(Y given a, b) P(b given a)."""
    model = BernoulliNB().fit(PRESENT, SPAM)
    both, bare = np.array([[1.0, 0, 1], [1, 1, 1]]), np.array([[1.0, np.nan, 1]])
    chance = np.exp(model.predict_joint_log_proba(both)).sum(axis=1)
    average = chance / chance.sum() @ model.predict_proba(both)
    np.testing.assert_allclose(model.predict_proba(bare)[0], average)
    without = BernoulliNB().fit(PRESENT[:, [0, 2]], SPAM)
    np.testing.assert_allclose(model.predict_proba(bare), without.predict_proba([[1, 1]]))


def test_one_model_of_three_classes_and_three_against_the_rest():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 50)
    x = rng.normal(size=(150, 2)) + np.repeat([[0, 0], [6, 0], [0, 6]], 50, axis=0)
    one, three = GaussianNB().fit(x, y), OneVsRestClassifier(GaussianNB()).fit(x, y)
    assert len(three.estimators_) == 3
    assert (one.predict(x) == y).mean() > 0.98
    assert (three.predict(x) == y).mean() > 0.95
