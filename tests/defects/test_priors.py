"""Class priors in every method that predicts, as users write them."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deciban
from deciban import (
    BayesOptimal,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    RegularizedDiscriminantAnalysis,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.errors import DataError

from ..support.models import MODELS, fitted, rows_for

GIVEN = [0.2, 0.5, 0.3]
BY_LABEL = {"c": 0.3, "a": 0.2, "b": 0.5}
EVERY = [*MODELS, LogisticRegression(), BayesOptimal([GaussianNB(), MixedNB(alpha=1)], weights=[0.5, 0.5])]
EVERY += [TextClassifier()]
ASKED = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "log_odds", "decibans")


def answers(model, X, y, priors) -> list[np.ndarray]:
    """What every method that takes priors answers."""
    out = [getattr(model, name)(X, priors=priors) for name in ASKED if hasattr(model, name)]
    out += [model.score_samples(X, priors=priors)] if hasattr(model, "score_samples") else []
    out += [model.decide(X, priors=priors), model.decide(X, reject=0.3, rejected="none", priors=priors)]
    why = model.explain(X[:5], priors=priors)
    out += [why.prior, why.total]
    if "priors" in inspect.signature(getattr(model, "leave_one_out", answers)).parameters and _leaves(model):
        out += [model.leave_one_out(X, y, priors=priors)]
    return out


def _leaves(model) -> bool:
    return hasattr(model, "leave_one_out") and getattr(model, "model", "") not in ("logistic", "nb-logistic")


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_b27_every_method_takes_every_form_of_priors(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    for form in (BY_LABEL, pd.Series(BY_LABEL), np.array(GIVEN)):
        for a, b in zip(answers(model, x, y, GIVEN), answers(model, x, y, form), strict=True):
            np.testing.assert_array_equal(a, b)
    third = answers(model, x, y, [1 / 3] * 3)
    for a, b in zip(third, answers(model, x, y, "uniform"), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_b27_adapted_priors_are_priors(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    adapted = model.adapt_priors(x[y != "c"])
    for a, b in zip(answers(model, x, y, adapted), answers(model, x, y, adapted.priors), strict=True):
        np.testing.assert_array_equal(a, b)


def test_b27_reproduction():
    m = GaussianNB().fit([[1.0], [2], [2]], ["a", "b", "b"])
    assert m.decide([[1.5]], priors="uniform").tolist() == m.predict([[1.5]], priors="uniform").tolist()
    np.testing.assert_allclose(m.predict_proba([[1.5]], priors="uniform").sum(), 1)


def test_coverage_11_uniform_on_the_rows_of_a_file(tmp_path):
    X, y = rows_for(GaussianNB())
    model = GaussianNB().fit(X, y)
    rows = pa.table({f"x{j}": X[:, j] for j in range(4)})
    for priors in ("uniform", BY_LABEL, model.adapt_priors(X)):
        told = model.predict_on(rows, priors=priors).to_pydict()
        np.testing.assert_allclose(told["p_b"], model.predict_proba(X, priors=priors)[:, 1], rtol=1e-12)


SETTINGS = {
    "class_prior": [MultinomialNB, deciban.BernoulliNB, deciban.CategoricalNB, deciban.ComplementNB],
    "priors": [
        GaussianNB,
        LinearDiscriminantAnalysis,
        deciban.QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
        deciban.FisherDiscriminant,
        MixedNB,
        PoissonNB,
        TreeAugmentedNB,
        deciban.AODE,
        deciban.KDependenceBayes,
        deciban.BayesNet,
    ],
}


@pytest.mark.parametrize(("model", "name"), [(m, name) for name, models in SETTINGS.items() for m in models])
def test_b27_settings_take_every_form(model, name, tmp_path):
    x, y = rows_for(model())
    x = x[:, :2] if model is deciban.BayesNet else x
    known = model(**{name: GIVEN}).fit(x, y)
    adapted = known.adapt_priors(x)
    for form, same in ((BY_LABEL, GIVEN), (adapted, adapted.priors), ("uniform", [1 / 3] * 3)):
        other = model(**{name: form}).fit(x, y)
        expected = model(**{name: same}).fit(x, y).predict_proba(x)
        np.testing.assert_allclose(other.predict_proba(x), expected, rtol=1e-12)
        if model is not deciban.ComplementNB:  # whose scores have no prior unless a call gives one
            np.testing.assert_allclose(known.predict_proba(x, priors=form), expected, rtol=1e-9, atol=1e-12)
        path = tmp_path / "model.deciban"
        deciban.save(other, path)
        np.testing.assert_array_equal(deciban.load(path).predict_proba(x), expected)


WRONG = [
    ("even", "'uniform'"),
    ([0.5, 0.5], "3 classes"),
    ([[0.2, 0.5, 0.3]], "3 classes"),
    ([0.5, 0.6, 0.3], "sums to 1.4"),
    ([0.5, 0.8, -0.3], "'c' -0.3"),
    ([0.5, np.nan, 0.5], "'b' nan"),
    ([0, 0, 0], "0 for every class"),
    ({"a": 0.5, "b": 0.5}, "no entry for 'c'"),
    ({"a": 0.2, "b": 0.5, "c": 0.3, "z": 0}, "'z'"),
    (pd.Series([0.5, 0.5], index=["a", "b"]), "no entry for 'c'"),
    (["x", "y", "z"], "not class probabilities"),
    (0.5, "3 classes"),
    (object(), "not class probabilities"),
]


@pytest.mark.parametrize(("priors", "what"), WRONG, ids=[what for _, what in WRONG])
def test_b27_bad_priors_say_what_is_wrong(priors, what):
    X, y = rows_for(GaussianNB())
    model = GaussianNB().fit(X, y)
    for ask in (model.predict, model.predict_proba, model.decide, model.explain, model.log_odds):
        with pytest.raises(DataError, match=r"priors") as wrong:
            ask(X, priors=priors)
        assert what in str(wrong.value)
        assert "hint:" in str(wrong.value)


def test_b27_a_series_of_shares_is_read_by_label_not_by_place():
    y = np.array(["a"] * 10 + ["b"] * 30)
    X = np.random.default_rng(0).normal(size=(40, 1))
    shares = pd.Series(y).value_counts(normalize=True)  # b first
    model = GaussianNB().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X, priors=shares), model.predict_proba(X), rtol=1e-12)


def test_b27_leave_one_out_under_other_priors_is_that_of_a_model_with_them():
    X, y = rows_for(GaussianNB())
    for model in (GaussianNB, MixedNB, RegularizedDiscriminantAnalysis):
        given = model(priors=GIVEN).fit(X, y).leave_one_out(X, y)
        np.testing.assert_allclose(model().fit(X, y).leave_one_out(X, y, priors=BY_LABEL), given, rtol=1e-9)


def test_f24_ensembles_take_class_priors_as_a_setting(tmp_path):
    X, y = rows_for(GaussianNB())
    for ensemble, more in ((BayesOptimal, {}), (deciban.Gibbs, {"random_state": 0})):
        plain = ensemble([GaussianNB(), LogisticRegression()], weights=[0.5, 0.5], **more).fit(X, y)
        for form in (GIVEN, BY_LABEL, "uniform"):
            given = ensemble([GaussianNB(), LogisticRegression()], weights=[0.5, 0.5], priors=form, **more).fit(X, y)
            np.testing.assert_array_equal(given.predict_proba(X), plain.predict_proba(X, priors=form))
            np.testing.assert_array_equal(
                given.predict_proba(X, priors=[0.1, 0.1, 0.8]), plain.predict_proba(X, priors=[0.1, 0.1, 0.8])
            )
        deciban.save(given, tmp_path / "m")
        np.testing.assert_array_equal(deciban.load(tmp_path / "m").predict_proba(X), given.predict_proba(X))
        with pytest.raises(DataError, match="no entry for 'c'"):
            ensemble([GaussianNB()], weights=[1.0], priors={"a": 0.5, "b": 0.5}, **more).fit(X, y)
    naive = BayesOptimal([GaussianNB(), GaussianNB(ddof=1)], weights=[0.5, 0.5], priors=GIVEN).fit(X, y)
    np.testing.assert_allclose(naive.explain(X[:5]).probability, naive.predict_proba(X[:5]).max(axis=1))


def test_f24_texts_left_out_under_other_priors():
    texts, labels = ["win a prize", "win", "lunch at noon", "see you", "lunch"], ["spam"] * 2 + ["ham"] * 3
    plain = TextClassifier().fit(texts, labels)
    found, base = (plain.leave_one_out(texts, labels, priors=p) for p in ({"ham": 0.1, "spam": 0.9}, "uniform"))
    shift = found[:, 1] - found[:, 0] - (base[:, 1] - base[:, 0])
    np.testing.assert_allclose(shift, np.log(9))


@pytest.mark.parametrize(
    ("model", "settings", "hint"),
    [
        (GaussianNB, {"class_weight": "balanced"}, 'priors="uniform"'),
        (MultinomialNB, {"class_weight": "balanced"}, 'class_prior="uniform"'),
        (MultinomialNB, {"priors": "uniform"}, "did you mean `class_prior`"),
        (MixedNB, {"class_prior": [0.5, 0.5]}, "did you mean `priors`"),
    ],
)
def test_f08_f24_a_setting_by_another_name_is_answered_with_the_right_one(model, settings, hint):
    with pytest.raises(TypeError, match=hint):
        model(**settings)


def test_b27_members_that_lack_a_class_take_priors_of_the_others():
    X, y = rows_for(GaussianNB())
    some = y != "c"
    few, all_of_them = GaussianNB().fit(X[some], y[some]), GaussianNB().fit(X, y)
    pool = BayesOptimal.of([few, all_of_them], [0.5, 0.5])
    proba = pool.predict_proba(X, priors=BY_LABEL)
    expected = 0.5 * all_of_them.predict_proba(X, priors=BY_LABEL)
    expected[:, :2] += 0.5 * few.predict_proba(X, priors=[0.2 / 0.7, 0.5 / 0.7])
    np.testing.assert_allclose(proba, expected, rtol=1e-9)
