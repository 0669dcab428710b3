"""Hypotheses: weights over models, their average, a draw among them, and the choice of one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import deciban
from deciban import (
    BayesOptimal,
    CategoricalNB,
    GaussianNB,
    Gibbs,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    TreeAugmentedNB,
    select_model,
)
from deciban.models import hypotheses

BAYES = [GaussianNB(estimate="bayes"), LinearDiscriminantAnalysis(estimate="bayes")]
VOTES = {"h1": "+", "h2": "-", "h3": "-"}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(6) % 3, rng.integers(0, 3, 84)]
    return rng.normal(size=(90, 3)) + y[:, None] * [1.0, 0.5, 0.0], np.array(["a", "b", "c"])[y]


# the lectures' examples


def test_the_average_of_hypotheses_need_not_be_the_most_probable_of_them():
    average = BayesOptimal.of(VOTES, weights=[0.4, 0.3, 0.3])
    assert average.predict_proba([[0]])[0] == pytest.approx([0.4, 0.6])
    assert average.predict([[0]]).tolist() == ["-"]
    most_probable = average.models_[int(average.weights_.argmax())]
    assert np.exp(most_probable.predict_log_proba([[0]])).tolist() == [[1.0, 0.0]]


def test_gibbs_draws_hypotheses_by_their_probability():
    one = Gibbs.of(VOTES, weights=[0.4, 0.3, 0.3], random_state=3)
    said = one.predict([[0]] * 20_000)
    assert np.mean(said == "+") == pytest.approx(0.4, abs=4 * np.sqrt(0.24 / 20_000))
    np.testing.assert_array_equal(said, one.predict([[0]] * 20_000))
    whole = Gibbs.of(VOTES, weights=[0.4, 0.3, 0.3], per="prediction", random_state=3).predict([[0]] * 50)
    assert len(set(whole.tolist())) == 1


@pytest.mark.parametrize("prior", [None, [0.9, 0.1], {"gaussiannb": 1, "lineardiscriminantanalysis": 20}])
def test_the_least_bits_are_those_of_the_most_probable_hypothesis(rows, prior):
    by_map, by_mdl = (select_model(BAYES, *rows, by=by, prior=prior) for by in ("map", "mdl"))
    assert by_map.chosen == by_mdl.chosen == by_map.weight.argmax() == by_map.total_bits.argmin()
    np.testing.assert_allclose(by_map.data_bits + by_map.prior_bits, by_map.total_bits)
    odds = np.exp2(by_map.total_bits[0] - by_map.total_bits[1])
    assert by_map.weight[1] / by_map.weight[0] == pytest.approx(odds)
    assert by_map.best is by_map.models[by_map.chosen]


# arrays


def test_posterior_and_bits_equal_the_definitions():
    rng = np.random.default_rng(1)
    likelihood, prior = rng.random(5), rng.dirichlet(np.ones(5))
    np.testing.assert_allclose(
        hypotheses.posterior(np.log(likelihood), np.log(prior)), likelihood * prior / (likelihood @ prior)
    )
    assert hypotheses.posterior(np.array([-1e6, -1e6 - 1]), np.zeros(2)) == pytest.approx([0.731, 0.269], abs=1e-3)
    data, own, total = hypotheses.description_length(np.log(likelihood), np.log(prior))
    np.testing.assert_allclose(total, -np.log2(likelihood * prior))
    np.testing.assert_allclose(data + own, total)


def test_stacking_finds_the_weights_under_which_the_rows_are_most_probable():
    rng = np.random.default_rng(2)
    x = np.where(rng.random(4000) < 0.3, rng.normal(0, 1, 4000), rng.normal(3, 1, 4000))
    logs = np.stack([stats.norm.logpdf(x, m) for m in (0, 3, 30)])
    found = hypotheses.stacking_weights(logs, np.full(3, 1 / 3))
    assert found[:2] == pytest.approx([0.3, 0.7], abs=0.03)
    value = np.logaddexp.reduce(np.log(found)[:, None] + logs, axis=0).sum()
    for other in rng.dirichlet(np.ones(3), 50):
        assert np.logaddexp.reduce(np.log(other)[:, None] + logs, axis=0).sum() <= value + 3
    assert hypotheses.stacking_weights(np.full((2, 3), -np.inf), np.array([0.25, 0.75])) == pytest.approx([0.25, 0.75])


def test_a_weight_of_a_row_in_stacking_is_a_repetition():
    logs = np.log(np.random.default_rng(3).random((3, 40)))
    w = np.random.default_rng(4).integers(0, 4, 40)
    prior = np.array([0.5, 0.2, 0.3])
    again = hypotheses.stacking_weights(np.repeat(logs, w, axis=1), prior)
    np.testing.assert_allclose(hypotheses.stacking_weights(logs, prior, w.astype(float)), again, atol=1e-5)


# learning


def test_weights_by_evidence_are_the_posterior_of_the_models(rows):
    X, y = rows
    both = BayesOptimal(BAYES, prior=[0.2, 0.8], weights="evidence").fit(X, y)
    logs = np.array([model.fit(X, y).evidence_ for model in map(clone, BAYES)]) + np.log([0.2, 0.8])
    np.testing.assert_allclose(both.weights_, np.exp(logs - np.logaddexp.reduce(logs)))
    each = np.stack([model.predict_proba(X) for model in both.models_])
    np.testing.assert_allclose(both.predict_proba(X), np.tensordot(both.weights_, each, 1), rtol=1e-9)
    counts = np.unique(y, return_counts=True)[1]
    shares = stats.dirichlet_multinomial.logpmf(counts, np.ones(3), len(y))
    orders = stats.multinomial.logpmf(counts, len(y), counts / len(y)) - counts @ np.log(counts / len(y))
    assert hypotheses.class_evidence(counts) == pytest.approx(shares - orders)
    assert both.evidence_ == pytest.approx(np.logaddexp.reduce(logs) + hypotheses.class_evidence(counts))


def test_laplace_evidence_weighs_logistic_models(rows):
    X, y = rows
    strengths = [LogisticRegression(C=C, tol=1e-8) for C in (1.0, 1e-4)]
    both = BayesOptimal(strengths, weights="evidence").fit(X, y)
    odds = np.exp(np.subtract(*(model.evidence_ for model in both.models_)))
    assert both.weights_[0] / both.weights_[1] == pytest.approx(odds)
    assert both.weights_[0] > 0.99


def test_updates_merges_and_forgetting_are_one_fit(rows):
    X, y = rows
    whole = BayesOptimal(BAYES, weights="evidence").fit(X, y)
    pieces = clone(whole).partial_fit(X[:40], y[:40], classes=["a", "b", "c"]).partial_fit(X[40:], y[40:])
    merged = clone(whole).fit(X[:40], y[:40]) + clone(whole).fit(X[40:], y[40:])
    longer = BayesOptimal(BAYES, weights="evidence").fit(np.r_[X, X[:9] + 1], np.r_[y, y[:9]]).forget(X[:9] + 1, y[:9])
    for other in (pieces, merged, longer):
        np.testing.assert_allclose(other.weights_, whole.weights_, rtol=1e-6)
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), rtol=1e-6)
        np.testing.assert_allclose(other.class_count_, whole.class_count_)


def test_models_of_any_kind_are_weighed_by_rows_left_out(rows):
    X, y = rows
    models = [GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression()), ("tree", DecisionTreeClassifier())]
    three = BayesOptimal(models, weights="loo").fit(X, y)
    assert three.held_out_ == ["leave-one-out", "5 folds", "5 folds"]
    assert three.weights_[2] < 0.2  # a tree is too sure
    assert three.names_ == ["gaussiannb", "pipeline", "tree"]
    assert not hasattr(three, "partial_fit")
    assert not hasattr(three, "leave_one_out")
    with pytest.raises(TypeError, match="needs all rows at once"):
        three + three


def test_a_row_that_weighs_nothing_is_as_good_as_absent(rows):
    X, y = rows
    w = np.arange(90) % 4 * 0.5
    for models in ([GaussianNB(), LogisticRegression()], [MixedNB(), DecisionTreeClassifier(random_state=0)]):
        whole = BayesOptimal(models, weights="loo").fit(X, y, sample_weight=w)
        fewer = BayesOptimal(models, weights="loo").fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
        np.testing.assert_allclose(whole.weights_, fewer.weights_, rtol=1e-6)
        np.testing.assert_allclose(whole.log_evidence_, fewer.log_evidence_, rtol=1e-9)
    listed = BayesOptimal(models, weights="loo").fit(X.tolist(), y, sample_weight=w)
    np.testing.assert_allclose(listed.weights_, fewer.weights_, rtol=1e-6)


def test_rows_that_are_the_same_may_teach_each_other():
    """Else the few kinds of rows of a table of levels would be judged as if each were the first of its kind."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(400) < 0.1)  # eight kinds of rows
    frame = [[f"l{a}", f"r{b}"] for a, b in X.tolist()]
    two = BayesOptimal([("naive", MixedNB()), ("tree", TreeAugmentedNB())], weights="loo").fit(np.array(frame), y)
    assert two.weights_[1] > 0.95
    assert two.predict_proba(np.array(frame))[np.arange(400), y].mean() > 0.8


@pytest.mark.filterwarnings("ignore:`logisticregression` is left out")  # of one class, or with missing cells
def test_stacking_passes_scikit_learns_checks_but_those_that_take_a_weight_for_copies():
    why = "a row is left out with all its weight, copies of a row one by one"
    other = {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
    model = BayesOptimal([GaussianNB(), LogisticRegression()], weights="loo")
    check_estimator(model, expected_failed_checks=other, on_skip=None)


def test_schwarz_approximation_counts_parameters(rows):
    X, y = rows
    two = BayesOptimal([GaussianNB(), GaussianNB(ddof=1)], weights="bic").fit(X, y)
    own = np.arange(len(y)), np.searchsorted(two.classes_, y)
    joint = two.models_[0].predict_joint_log_proba(X)[own].sum()
    assert two.log_evidence_[0] == pytest.approx(joint - 0.5 * (2 + 18) * np.log(len(y)))
    with pytest.raises(ValueError, match="how many parameters"):
        BayesOptimal([MixedNB()], weights="bic").fit(X, y)


def test_evidences_of_different_data_are_not_compared(rows):
    X, y = rows
    codes = (X > 0).astype(int)
    for models, x in (
        ([GaussianNB(estimate="bayes"), LogisticRegression()], X),
        ([GaussianNB(estimate="bayes"), CategoricalNB()], codes),
        ([BAYES[0], make_pipeline(StandardScaler(), BAYES[1])], X),
    ):
        by_rows = BayesOptimal(models, weights="loo").fit(x, y)
        with pytest.warns(UserWarning, match="come from held-out rows: .* probabilities of different data"):
            other = BayesOptimal(models, weights="evidence").fit(x, y)
        np.testing.assert_allclose(other.weights_, by_rows.weights_)
        assert other.held_out_ == by_rows.held_out_
        assert not hasattr(other, "evidence_")
        chosen = select_model(models, x, y)
        assert "different data" in str(chosen)
        assert chosen.chosen == by_rows.log_evidence_.argmax()
    assert BayesOptimal([BAYES[0], make_pipeline(StandardScaler(), LogisticRegression())], weights=[1, 3]).fit(X, y)


# saying


def test_priors_decisions_odds_and_evidence_follow_from_the_average(rows):
    X, y = rows
    both = BayesOptimal([BAYES[0], MixedNB(families="student")], weights=[0.3, 0.7]).fit(X, y)
    shifted = both.predict_proba(X, priors=[0.8, 0.1, 0.1])
    each = [model.predict_proba(X, priors=[0.8, 0.1, 0.1]) for model in both.models_]
    np.testing.assert_allclose(shifted, 0.3 * each[0] + 0.7 * each[1], rtol=1e-9)
    p = both.predict_proba(X)
    decided = both.decide(X, reject=0.2)
    assert [label is None for label in decided] == (p.max(axis=1) < 0.8).tolist()
    np.testing.assert_allclose(both.decibans(X)[:, 0], 10 * np.log10(p[:, 0] / (1 - p[:, 0])), rtol=1e-7)
    told = both.explain(X, of="a", against="b")
    np.testing.assert_allclose(told.prior + told.decibans.sum(axis=1), both.decibans(X, against="b")[:, 0], atol=1e-8)
    left = np.stack([model.leave_one_out(X, y) for model in both.models_])
    np.testing.assert_allclose(np.exp(both.leave_one_out(X, y)), np.tensordot([0.3, 0.7], np.exp(left), 1))
    drawn, labels = both.sample(50, random_state=0)
    assert drawn.shape == (50, 3)
    assert set(labels) <= {"a", "b", "c"}


def test_other_libraries_models_have_priors_too(rows):
    X, y = rows
    one = BayesOptimal([DecisionTreeClassifier(max_depth=2, random_state=0)], weights=[1]).fit(X, y)
    p, shares = one.models_[0].predict_proba(X), np.unique(y, return_counts=True)[1] / len(y)
    want = p / shares * [0.6, 0.2, 0.2]
    np.testing.assert_allclose(one.predict_proba(X, priors=[0.6, 0.2, 0.2]), want / want.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    "model", [BayesOptimal(BAYES, weights="evidence"), Gibbs(BAYES, random_state=1)], ids=["average", "gibbs"]
)
def test_a_saved_or_pickled_ensemble_says_the_same_and_learns_on(rows, model, tmp_path):
    X, y = rows
    model = clone(model).fit(X, y)
    deciban.save(model, tmp_path / "m.deciban")
    for again in (deciban.load(tmp_path / "m.deciban"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        again.partial_fit(X, y)
        assert again.class_count_.sum() == 2 * len(y)
    assert model.class_count_.sum() == len(y)


def test_settings_of_models_are_settings_of_the_ensemble():
    both = BayesOptimal([("wide", GaussianNB()), ("other", MixedNB())], weights=[1, 1])
    both.set_params(wide__ddof=1, other=GaussianNB())
    assert both.get_params()["wide__ddof"] == 1
    assert isinstance(dict(both.models)["other"], GaussianNB)
    assert clone(both).get_params()["wide__ddof"] == 1


def test_a_selection_prints_and_is_a_frame(rows):
    found = select_model([*BAYES, GaussianNB()], *rows, by="loo")
    assert "leave-one-out" in str(found)
    assert found.to_frame().chosen.sum() == 1
    assert found._repr_html_().count("<tr>") == 4
    own = np.searchsorted(found.best.classes_, rows[1])
    left = found.models[2].leave_one_out(*rows)[np.arange(90), own]
    assert found.data_bits[2] == pytest.approx(-left.sum() / np.log(2))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X, y: BayesOptimal([]).fit(X, y), "there are no models"),
        (lambda X, y: BayesOptimal([("a", GaussianNB()), ("a", GaussianNB())]).fit(X, y), "two models are called 'a'"),
        (lambda X, y: BayesOptimal(BAYES, prior=[1, 2, 3]).fit(X, y), "there are 2 models"),
        (lambda X, y: BayesOptimal(BAYES, prior={"x": 1}).fit(X, y), "prior names"),
        (lambda X, y: BayesOptimal(BAYES, weights=[-1, 2]).fit(X, y), "≥ 0"),
        (lambda X, y: BayesOptimal(BAYES, weights="best").fit(X, y), "weights"),
        (lambda X, y: select_model(BAYES, X, y, by="luck"), "one of 'map', 'mdl', 'loo'"),
        (lambda X, y: BayesOptimal.of([len]), "classes=["),
        (lambda X, y: BayesOptimal.of([lambda X: ["z"] * len(X)], classes=["a"]).predict(X), "predicts 'z'"),
        (lambda X, y: BayesOptimal(BAYES).predict(X), "not fitted"),
    ],
)
def test_what_is_wrong_is_said(rows, make, said):
    with pytest.raises(ValueError, match=said.replace("[", r"\[")):
        make(*rows)


def test_models_that_code_missing_cells_predict_every_row():
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=120), rng.choice(["red", "blue", None], 120)
    size[::5] = np.nan
    X, y = {"size": size, "colour": colour}, (np.nan_to_num(size) + (colour == "red") > 0.3).astype(int)
    logistic = LogisticRegression()
    m = BayesOptimal([("linear", logistic), ("table", MixedNB())], weights=[0.5, 0.5]).fit(X, y)
    apart = [one.fit(X, y).predict_proba(X) for one in (clone(logistic), MixedNB())]
    np.testing.assert_allclose(m.predict_proba(X), np.mean(apart, axis=0), atol=1e-12)
    assert "predicted without" not in str(m.explain({name: cells[:3] for name, cells in X.items()}))
