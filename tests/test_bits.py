"""Choice by bits: P(h | D), the MAP hypothesis, and the length of the model and of the data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

from deciban import (
    BayesNet,
    BayesOptimal,
    CategoricalNB,
    GaussianNB,
    KDependenceBayes,
    LogisticRegression,
    MixedNB,
    PoissonNB,
    TreeAugmentedNB,
    select_model,
)
from deciban.errors import DataError

from .support.data import TENNIS

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
Y = np.array([0, 0, 1, 0, 1, 1])
RULES = {f"above {cut}": lambda X, cut=cut: X[:, 0] > cut for cut in (0.5, 1.5, 2.5, 3.5)}


@pytest.mark.parametrize("by", ["map", "mdl"])
@pytest.mark.parametrize("noise", [0.05, 0.2])
@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.3, 0.4]])
def test_the_most_probable_function_has_the_fewest_bits(by, noise, prior):
    found = select_model(RULES, X, Y, by, prior=prior, noise=noise)
    right = np.array([(rule(X) == Y).sum() for rule in RULES.values()])
    likelihood = (1 - noise) ** right * noise ** (6 - right)
    own = np.full(4, 0.25) if prior is None else np.array(prior)
    np.testing.assert_allclose(found.data_bits, -np.log2(likelihood))
    np.testing.assert_allclose(found.prior_bits, -np.log2(own))
    np.testing.assert_allclose(found.total_bits, -np.log2(likelihood * own))
    np.testing.assert_allclose(found.weight, likelihood * own / (likelihood @ own))
    assert found.chosen == found.weight.argmax() == found.total_bits.argmin()
    assert found.names[found.chosen] == ("above 1.5" if prior is None else "above 3.5")
    np.testing.assert_array_equal(found.best.predict(X), RULES[found.names[found.chosen]](X))
    np.testing.assert_allclose(found.weight, BayesOptimal(RULES, prior=prior, noise=noise).fit(X, Y).weights_)


@pytest.mark.parametrize(
    "naive", [MixedNB(alpha=1), KDependenceBayes(k=0), BayesNet(edges=[])], ids=lambda m: str(m)[:9]
)
def test_naive_bayes_against_a_tree_on_play_tennis(naive):
    found = select_model({"naive": naive, "tree": TreeAugmentedNB()}, TENNIS, "play")
    np.testing.assert_allclose(found.total_bits, [95.29, 93.32], atol=5e-3)
    np.testing.assert_allclose(found.weight, [0.203, 0.797], atol=5e-4)


def test_without_noise_inconsistent_functions_have_infinite_bits():
    found = select_model(RULES, X, X[:, 0] > 2)
    assert found.data_bits.tolist() == [np.inf, np.inf, 0.0, np.inf]
    assert found.weight.tolist() == [0.0, 0.0, 1.0, 0.0]
    assert "inf" in str(found)
    assert found._repr_html_().count("<tr>") == 5
    assert found.to_frame().chosen.tolist() == [False, False, True, False]


def test_functions_are_chosen_by_held_out_rows_as_by_their_likelihood():
    held_out, likelihood = (select_model(RULES, X, Y, by, noise=0.2) for by in ("loo", "map"))
    np.testing.assert_allclose(held_out.data_bits, likelihood.data_bits)


# the length of a model


def test_a_parameter_costs_half_the_logarithm_of_the_rows():
    rng = np.random.default_rng(0)
    rows, labels = rng.poisson(3.0, (64, 3)), rng.integers(0, 2, 64)
    found = select_model([PoissonNB(), PoissonNB(shape=2.0)], rows, labels, prior="length")
    assert found.prior_bits.tolist() == [21.0, 21.0]  # 2 · 3 rates and a share, 3 bits each
    model = found.models[0]
    joint = model.predict_joint_log_proba(rows)[np.arange(64), labels].sum()
    assert found.data_bits[0] == pytest.approx(-joint / np.log(2))
    assert found.of == "p(X, y), counts by the fitted parameters"


def test_tables_of_a_tree_are_longer_than_those_of_naive_bayes():
    found = select_model({"naive": KDependenceBayes(k=0), "tree": TreeAugmentedNB()}, TENNIS, "play", prior="length")
    free = [model.n_parameters_ for model in found.models]
    np.testing.assert_allclose(found.prior_bits, np.array(free) * 0.5 * np.log2(14))
    assert free[0] == 13 < free[1]


@pytest.mark.parametrize("by", ["map", "mdl"])
def test_the_shorter_model_is_chosen_where_both_explain(by):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 7))
    labels = (rows[:, 0] + rng.logistic(size=100) > 0).astype(int)
    one = make_pipeline(ColumnTransformer([("first", "passthrough", [0])]), LogisticRegression(C=np.inf))
    found = select_model({"one": one, "seven": LogisticRegression(C=np.inf)}, rows, labels, by, prior="length")
    assert found.data_bits[1] < found.data_bits[0]
    np.testing.assert_allclose(found.prior_bits, np.array([2, 8]) * 0.5 * np.log2(100))
    assert found.names[found.chosen] == "one"
    bic = BayesOptimal({"one": one, "seven": LogisticRegression(C=np.inf)}, weights="bic").fit(rows, labels)
    np.testing.assert_allclose(found.weight, bic.weights_)


def test_a_function_has_no_parameters():
    found = select_model({"rule": RULES["above 1.5"], "curve": LogisticRegression()}, X, Y, noise=0.2, prior="length")
    np.testing.assert_allclose(found.prior_bits, [0.0, np.log2(6)])


@pytest.mark.parametrize(
    ("models", "more", "what"),
    [
        (RULES, {"prior": "size"}, "prior is 'size'.*hint: prior='length'"),
        (RULES, {"prior": "length", "by": "loo", "noise": 0.1}, "by is 'loo'.*hint"),
        ([LogisticRegression(), GaussianNB()], {"prior": "length"}, "prior='length' would compare.*different data"),
        ([CategoricalNB(), RULES["above 1.5"]], {"prior": "length", "noise": 0.1}, "different data"),
        (RULES, {"noise": 1.0}, "noise is 1.0.*hint: it is a probability"),
    ],
)
def test_what_cannot_be_compared_is_refused(models, more, what):
    with pytest.raises(DataError, match=f"(?s){what}"):
        select_model(models, X, Y, **more)
