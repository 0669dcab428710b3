"""Hypotheses that are plain functions: P(h | D), version spaces, MAP, and predictions by all or by one of them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import deciban
from deciban import BayesOptimal, GaussianNB, Gibbs, LogisticRegression, select_model
from deciban.errors import DataError, ForgetError, ModelFileError, NotAdditiveError, UnavailableError

X = np.array([[1.0], [2.0]])
Y = np.array(["-", "+"])


def above(X):
    return np.where(np.asarray(X)[:, 0] > 1.5, "+", "-")


def below(X):
    return np.where(np.asarray(X)[:, 0] > 1.5, "-", "+")


FOUR = {
    "all": lambda X: np.full(len(X), "+"),
    "above": above,
    "none": lambda X: np.full(len(X), "-"),
    "below": below,
}
CUTS = [lambda X, cut=cut: X[:, 0] > cut for cut in np.linspace(0, 1, 21)]


def soft(p):
    """A function that gives the classes "+" and "-" the probabilities p and 1 − p."""
    return lambda X: np.tile([p, 1 - p], (len(X), 1))


@pytest.fixture
def three_classes():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    labels = np.digitize(rows[:, 0], [-0.4, 0.4])
    wrong = rng.random(60) < 0.2
    rules = [lambda X, j=j: np.digitize(X[:, j], [-0.4, 0.4]) for j in (0, 1)]
    return rules, rows, np.where(wrong, (labels + 1) % 3, labels)


# P(h | D)


@pytest.mark.parametrize("ensemble", [BayesOptimal, Gibbs])
def test_the_posterior_of_four_hypotheses_with_noise(ensemble):
    model = ensemble(FOUR, noise=0.1).fit(X, Y)
    np.testing.assert_allclose(model.weights_, [0.09, 0.81, 0.09, 0.01], rtol=1e-12)
    assert model.names_ == list(FOUR)
    assert model.classes_.tolist() == ["+", "-"]
    assert model.class_count_.tolist() == [1.0, 1.0]
    assert model.n_features_in_ == 1
    np.testing.assert_allclose(np.exp(model.log_evidence_), [0.09, 0.81, 0.09, 0.01], rtol=1e-12)
    assert np.exp(model.evidence_) == pytest.approx(0.25)


def test_a_prior_over_the_hypotheses_counts():
    model = BayesOptimal(FOUR, noise=0.1, prior={"all": 8, "above": 1, "none": 1, "below": 0}).fit(X, Y)
    want = np.array([0.09 * 8, 0.81, 0.09, 0.0])
    np.testing.assert_allclose(model.weights_, want / want.sum(), rtol=1e-12)


def test_the_average_is_over_labels_with_their_noise():
    model = BayesOptimal(FOUR, noise=0.1).fit(X, Y)
    plus = 0.9 * (0.09 + 0.81) + 0.1 * (0.09 + 0.01)  # of the second row
    np.testing.assert_allclose(model.predict_proba(X)[1], [plus, 1 - plus], rtol=1e-12)
    assert model.predict(X).tolist() == ["-", "+"]


def test_noise_is_shared_by_the_other_classes(three_classes):
    rules, rows, labels = three_classes
    model = BayesOptimal(rules, noise=0.2).fit(rows, labels)
    right = [int((rule(rows) == labels).sum()) for rule in rules]
    want = [r * np.log(0.8) + (60 - r) * np.log(0.1) for r in right]
    np.testing.assert_allclose(model.log_evidence_, want, rtol=1e-12)
    np.testing.assert_allclose(model.map_.predict_proba(rows[:1]).sum(), 1.0)


def test_a_weight_of_a_row_is_a_repetition(three_classes):
    rules, rows, labels = three_classes
    w = np.arange(60) % 3
    at = np.repeat(np.arange(60), w)
    model = BayesOptimal(rules, noise=0.2).fit(rows, labels, sample_weight=w)
    again = BayesOptimal(rules, noise=0.2).fit(rows[at], labels[at])
    np.testing.assert_allclose(model.log_evidence_, again.log_evidence_, rtol=1e-12)


def test_probabilities_are_taken_as_they_are():
    model = BayesOptimal({"f": soft(0.9), "g": soft(0.2)}, noise=0.3).fit([[0], [0], [0]], ["+", "+", "-"])
    want = np.array([0.9 * 0.9 * 0.1, 0.2 * 0.2 * 0.8])
    np.testing.assert_allclose(np.exp(model.log_evidence_), want, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba([[0]])[0, 0], [0.9, 0.2] @ want / want.sum(), rtol=1e-12)


def test_labels_of_zero_and_one_are_truth_values():
    for labels in ([0, 1], [1, 1]):  # one label alone: the functions show the other
        model = BayesOptimal([lambda X: X[:, 0] > 1.5, lambda X: X[:, 0] > 0], noise=0.1).fit(X, labels)
        assert model.classes_.tolist() == [0, 1]
        assert model.predict(X).tolist() == labels


def test_functions_take_frames_texts_and_dictionaries():
    frame = pd.DataFrame({"size": [1, 2], "y": Y})
    large = {"large": lambda X: np.where(np.asarray(X["size"]) > 1, "+", "-"), "none": FOUR["none"]}
    for rows, labels in ((frame, "y"), ([{"size": 1}, {"size": 2}], Y)):
        model = BayesOptimal(large, noise=0.1).fit(rows, labels)
        assert model.predict(frame[["size"]] if labels is not Y else rows).tolist() == Y.tolist()
        assert model.feature_names_in_.tolist() == ["size"]
    texts = ["hello", "free money"]
    spam = BayesOptimal({"money": lambda t: ["+" if "money" in one else "-" for one in t]}).fit(texts, Y)
    assert spam.predict(texts).tolist() == Y.tolist()


# without noise


def test_without_noise_the_version_space_shares_the_prior():
    model = BayesOptimal([*FOUR.values(), above], prior=[1, 3, 1, 1, 1]).fit(X, Y)
    np.testing.assert_allclose(model.weights_, [0.0, 0.75, 0.0, 0.0, 0.25])
    assert model.names_ == ["h1", "above", "h3", "below", "above-2"]
    np.testing.assert_array_equal(model.map_.predict(X), Y)


@pytest.mark.parametrize("act", [lambda *a: BayesOptimal(*a).fit(X, Y), lambda *a: select_model(*a, X, Y)])
def test_no_consistent_hypothesis_is_an_error_that_names_the_best(act):
    with pytest.raises(
        DataError, match=r"(?s)no hypothesis agrees with all 2 rows.*`all`, is wrong in 1.*hint: noise="
    ):
        act({"below": below, "all": FOUR["all"]})


def test_one_label_of_all_rows_is_completed_by_the_answers():
    model = BayesOptimal(FOUR).fit(X, ["+", "+"])
    assert model.classes_.tolist() == ["+", "-"]
    assert model.weights_.tolist() == [1.0, 0.0, 0.0, 0.0]


# averages over concepts


def test_over_200_concepts_the_average_errs_least_and_gibbs_at_most_twice_as_often():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        truth = CUTS[rng.integers(len(CUTS))]
        rows, new = rng.random((3, 1)), rng.random((200, 1))
        optimal = BayesOptimal(CUTS).fit(rows, truth(rows))
        drawn = Gibbs(CUTS, random_state=int(rng.integers(2**31))).fit(rows, truth(rows))
        found.append([np.mean(model.predict(new) != truth(new)) for model in (optimal, drawn, optimal.map_)])
    optimal, drawn, single = np.mean(found, axis=0)
    assert optimal < drawn < single
    assert drawn <= 2 * optimal
    np.testing.assert_allclose([optimal, drawn, single], [0.109, 0.137, 0.181], atol=5e-4)


def test_gibbs_draws_a_function_by_its_posterior():
    model = Gibbs({"all": FOUR["all"], "above": above}, noise=0.1, random_state=0).fit(X, Y)
    assert np.mean(model.predict(np.ones((20_000, 1))) == "+") == pytest.approx(0.1, abs=0.01)
    one = Gibbs(FOUR, noise=0.1, per="prediction", random_state=0).fit(X, Y).predict(np.ones((50, 1)))
    assert len(set(one.tolist())) == 1


# MAP


def test_the_map_hypothesis_predicts():
    vote = BayesOptimal.of({"h1": "+", "h2": "-", "h3": "-"}, [0.4, 0.3, 0.3])
    assert vote.predict([[0]]).tolist() == ["-"]
    assert vote.map_.predict([[0], [1]]).tolist() == ["+", "+"]
    model = BayesOptimal([GaussianNB(), LogisticRegression()], weights=[0.2, 0.8]).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    assert model.map_ is model.models_[1]
    with pytest.raises(NotFittedError):
        _ = BayesOptimal(FOUR).map_


# rows in parts


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_updates_merges_and_forgetting_are_one_fit(noise):
    rows = np.array([[0.2], [0.4], [0.6], [0.9]])
    labels = rows[:, 0] > 0.5
    whole = BayesOptimal(CUTS, noise=noise).fit(rows, labels)
    parts = BayesOptimal(CUTS, noise=noise).partial_fit(rows[:1], labels[:1], classes=[False, True])
    parts.partial_fit(rows[1:], labels[1:])
    merged = BayesOptimal(CUTS, noise=noise).fit(rows[:2], labels[:2]) + BayesOptimal(CUTS, noise=noise).fit(
        rows[2:], labels[2:]
    )
    more = BayesOptimal(CUTS, noise=noise).fit(np.vstack([rows, [[0.8]]]), [*labels, True]).forget([[0.8]], [True])
    for other in (parts, merged, more):
        np.testing.assert_allclose(other.weights_, whole.weights_, rtol=1e-12)
        assert other.class_count_.tolist() == [2.0, 2.0]


def test_an_excluded_hypothesis_comes_back_when_the_row_is_forgotten():
    model = BayesOptimal(FOUR).fit(X, Y)
    assert model.forget(X[:1], Y[:1]).weights_.tolist() == [0.5, 0.5, 0.0, 0.0]
    with pytest.raises(ForgetError, match="not all of these rows were learned"):
        model.forget(X[:1], Y[:1])


# functions and classifiers


def test_functions_and_classifiers_are_stacked_by_held_out_rows(three_classes):
    rules, rows, labels = three_classes
    model = BayesOptimal([*rules, LogisticRegression(), GaussianNB()], noise=0.2).fit(rows, labels)
    assert model.held_out_ == ["nothing learned", "nothing learned", "5 folds", "leave-one-out"]
    assert model.log_evidence_[0] == pytest.approx(BayesOptimal(rules, noise=0.2).fit(rows, labels).log_evidence_[0])
    assert model.weights_.sum() == pytest.approx(1.0)


def test_evidence_compares_functions_with_logistic_regression_only(three_classes):
    rules, rows, labels = three_classes
    both = {"rule": rules[0], "linear": LogisticRegression()}
    model = BayesOptimal(both, noise=0.2, weights="evidence").fit(rows, labels)
    np.testing.assert_allclose(model.weights_, select_model(both, rows, labels, noise=0.2).weight)
    with pytest.warns(UserWarning, match=r"(?s)different data \(rule: p\(y \| X\); normal: p\(X, y\), densities\)"):
        Gibbs({"rule": rules[0], "normal": GaussianNB(estimate="bayes")}, noise=0.2).fit(rows, labels)


def test_bic_of_a_function_is_its_likelihood(three_classes):
    rules, rows, labels = three_classes
    bic = BayesOptimal(rules, noise=0.2, weights="bic").fit(rows, labels)
    np.testing.assert_allclose(bic.weights_, BayesOptimal(rules, noise=0.2).fit(rows, labels).weights_)


# settings, files


def test_settings_clone_and_replace():
    model = BayesOptimal(FOUR, noise=0.1)
    copy = clone(model)
    assert copy.noise == 0.1
    assert copy.get_params()["models"] == FOUR
    np.testing.assert_array_equal(copy.fit(X, Y).weights_, model.fit(X, Y).weights_)
    copy.set_params(above=below, noise=0.2).fit(X, Y)
    np.testing.assert_allclose(copy.weights_, np.array([0.16, 0.04, 0.16, 0.04]) / 0.4)


def test_functions_are_pickled_and_are_not_in_model_files(tmp_path):
    model = BayesOptimal([above, below], noise=0.1).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    with pytest.raises(
        ModelFileError, match=r"(?s)`above` is a function, which no model file can hold.*hint: .*joblib"
    ):
        deciban.save(model, tmp_path / "m.deciban")
    with pytest.raises(ModelFileError, match="`h1` is a label"):
        deciban.dumps(BayesOptimal.of({"h1": "+"}))


# errors


@pytest.mark.parametrize(
    ("act", "error", "what"),
    [
        (lambda: BayesOptimal(FOUR, noise=1.0).fit(X, Y), ValueError, "noise"),
        (lambda: select_model(FOUR, X, Y, noise=-0.1), DataError, "noise is -0.1"),
        (lambda: BayesOptimal([lambda X: X[:, 0] > 1.5]).fit(X, [-1, 1]), DataError, r"predicts False.*\[-1, 1\]"),
        (lambda: BayesOptimal([lambda X: X[:, 0] > 1.5]).fit(X, ["+", "+"]), DataError, "truth values"),
        (lambda: BayesOptimal([lambda X: "+"]).fit(X, Y), DataError, r"shape \(\) for 2 rows"),
        (lambda: BayesOptimal([lambda X: ["+"]]).fit(X, Y), DataError, r"shape \(1,\) for 2 rows"),
        (lambda: BayesOptimal([lambda X: np.ones((2, 2))]).fit(X, Y), DataError, "sum to 1"),
        (lambda: BayesOptimal([lambda X: np.ones((2, 1))]).fit(X, Y), DataError, "2 classes"),
        (lambda: BayesOptimal([above]).fit(X, Y[:1]), DataError, "y has 1"),
        (lambda: BayesOptimal([above]).partial_fit(X, Y), DataError, "classes"),
        (lambda: BayesOptimal([above]).fit(X, Y).predict(X, priors=[0.5, 0.5]), DataError, "priors"),
        (lambda: BayesOptimal([above]).fit(X, Y).explain(X), UnavailableError, r"`above` \(function\)"),
        (
            lambda: BayesOptimal([above]).fit_on(pd.DataFrame({"a": [1, 2], "label": Y})),
            NotAdditiveError,
            "`above`, a function",
        ),
    ],
)
def test_what_is_wrong_is_named(act, error, what):
    with pytest.raises(error, match=f"(?s){what}"):
        act()
