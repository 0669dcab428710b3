"""What a model says about rows hangs together: joints, posteriors, odds, evidence, logistic views, samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.base import clone

import deciban
from deciban.errors import DataError

from ..support.models import MODELS, each, every_model, fitted, named, reads_of, rows_for
from ..support.strategies import csr

PRIORS = [0.6, 0.1, 0.3]
RULES = named("ComplementNB", "FisherDiscriminant")  # scores that are no density


def hard_rows(model) -> np.ndarray:
    """Rows as a model may meet them: the usual ones, far ones, ones with missing cells."""
    x, _ = rows_for(model, seed=1)
    x = np.asarray(x, dtype=np.float64)
    x[:10] *= 1000
    x[10:20, 1] = x[20:25] = np.nan
    return x


@every_model
def test_posteriors_are_probabilities(model):
    model = fitted(model, *rows_for(model))
    p = model.predict_proba(hard_rows(model))
    assert not np.isnan(p).any()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


@every_model
def test_log_posterior_is_the_log_of_the_posterior(model):
    model = fitted(model, *rows_for(model))
    p, logs = model.predict_proba(hard_rows(model)), model.predict_log_proba(hard_rows(model))
    assert not np.isnan(logs).any()
    np.testing.assert_allclose(np.exp(logs), p, rtol=1e-9, atol=1e-300)
    some = p > 1e-200
    np.testing.assert_allclose(logs[some], np.log(p[some]), rtol=1e-9, atol=1e-9)


@every_model
def test_prediction_is_the_most_probable_class(model):
    model = fitted(model, *rows_for(model))
    p = model.predict_proba(hard_rows(model))
    np.testing.assert_array_equal(model.predict(hard_rows(model)), model.classes_[p.argmax(axis=1)])


@pytest.mark.filterwarnings("ignore::deciban.errors.ColumnWarning")
@each(named("MultinomialNB", "PoissonNB", "BernoulliNB", "CategoricalNB")[::2])
def test_row_that_no_class_can_have_is_answered_with_the_prior(model):
    """Prediction, posterior and odds must say the same of it."""
    zero = {"alpha": 0.0} if "alpha" in model.get_params() else {"shape": 0.0, "exposure": 0.0}
    x = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])
    model = clone(model).set_params(**zero).fit(x, list("aabbb"))
    row = np.array([[1, 1, 0]])
    p = model.predict_proba(row)
    np.testing.assert_allclose(p, [[0.4, 0.6]])
    assert model.predict(row) == ["b"]
    np.testing.assert_allclose(model.log_odds(row), np.log(p / (1 - p)))


@every_model
def test_posterior_is_the_joint_over_its_sum(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    joint = model.predict_joint_log_proba(x)
    np.testing.assert_allclose(
        model.predict_log_proba(x), joint - logsumexp(joint, axis=1, keepdims=True), rtol=1e-8, atol=1e-8
    )


@each([model for model in MODELS if model not in RULES])
def test_evidence_is_the_sum_of_the_joints(model):
    x = hard_rows(model)
    model = fitted(model, *rows_for(model))
    want = logsumexp(model.predict_joint_log_proba(x), axis=1)
    np.testing.assert_allclose(model.score_samples(x), want, rtol=1e-9, atol=1e-9)


@each(RULES)
def test_evidence_of_a_rule_is_finite(model):
    x, y = rows_for(model)
    assert np.isfinite(fitted(model, x, y).score_samples(x)).all()


def with_priors(model) -> dict:
    """The constructor's argument for fixed priors."""
    return {"class_prior" if "class_prior" in model.get_params() else "priors": PRIORS}


# ComplementNB ignores its own prior, as scikit-learn's does; priors also mix the covariances of LDA's other solvers
FIXED = [m for m in MODELS if m not in named("ComplementNB") and getattr(m, "solver", "svd") == "svd"]


@each(FIXED)
def test_priors_given_at_prediction_are_those_given_at_fit(model):
    x, y = rows_for(model)
    plain, fixed = fitted(model, x, y), clone(model).set_params(**with_priors(model)).fit(x, y)
    for say in ("predict_proba", "predict_log_proba", "log_odds", "decibans", "score_samples"):
        got, want = getattr(plain, say)(x, priors=PRIORS), getattr(fixed, say)(x)
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9, err_msg=say)
    np.testing.assert_array_equal(plain.predict(x, priors=PRIORS), fixed.predict(x))


@every_model
def test_priors_at_prediction_replace_those_that_were_learned(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    even, tilted = (model.predict_log_proba(x, priors=p) for p in ([1 / 3] * 3, PRIORS))
    change = tilted - even - np.log(PRIORS)
    np.testing.assert_allclose(change, change[:, :1] * np.ones(3), atol=1e-9)


@every_model
def test_priors_may_be_a_mapping_by_label(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    mapping = {"c": 0.3, "a": 0.6, "b": 0.1}
    np.testing.assert_array_equal(model.predict_proba(x, priors=mapping), model.predict_proba(x, priors=PRIORS))


@pytest.mark.parametrize(
    ("priors", "says"),
    [
        ([0.5, 0.5], "match number of classes"),
        ([0.5, 0.6, -0.1], "non-negative"),
        ([0.5, 0.5, 0.5], "sum of the priors"),
        ({"a": 0.5, "b": 0.5}, "no entry for 'c'"),
        ({"a": 0.5, "b": 0.3, "stranger": 0.2}, "stranger"),
        ([0.5, np.nan, 0.5], "riors"),
    ],
)
def test_bad_priors_are_refused_with_a_cure(priors, says):
    model = fitted(deciban.GaussianNB(), *rows_for(deciban.GaussianNB()))
    with pytest.raises(DataError, match=f"(?s){says}.*hint:"):
        model.predict_proba(np.zeros((1, 4)), priors=priors)


@every_model
def test_odds_are_those_of_the_posterior(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    p, odds = model.predict_proba(x), model.log_odds(x)
    inner = (p > 1e-9) & (p < 1 - 1e-6)
    assert inner.any()
    np.testing.assert_allclose(odds[inner], np.log(p[inner] / (1 - p[inner])), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(model.decibans(x), odds * 10 / np.log(10), rtol=1e-12)


@every_model
def test_odds_against_a_class_are_the_difference_of_the_logs(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    logs = model.predict_log_proba(x)
    for place, label in enumerate(model.classes_):
        odds = model.log_odds(x, against=label)
        np.testing.assert_allclose(odds, logs - logs[:, [place]], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(model.decibans(x, against=label), odds * 10 / np.log(10), rtol=1e-12)
    with pytest.raises(DataError, match="stranger"):
        model.log_odds(x, against="stranger")


@each([m for m in named("GaussianNB", "MultinomialNB", "CategoricalNB") if m.get_params().get("fit_prior", True)])
def test_odds_against_a_class_that_cannot_be_are_infinite(model):
    """Without a warning, and even against itself."""
    x, y = rows_for(model, k=2)
    model = clone(model).partial_fit(x, y, classes=["a", "b", "nobody"])
    odds = model.log_odds(x, against="nobody")
    assert np.isposinf(odds[:, :2]).all()
    assert not odds[:, 2].any()
    assert np.isneginf(model.log_odds(x, against="a")[:, 2]).all()
    assert np.isneginf(model.log_odds(x)[:, 2]).all()


def test_two_to_one_is_three_decibans():
    model = deciban.BernoulliNB().fit([[0], [0], [0]], ["a", "a", "b"])
    assert model.predict_proba([[0]], priors=[2 / 3, 1 / 3])[0, 0] > 0.5
    evenly = deciban.MultinomialNB().fit([[1], [1], [1]], ["a", "a", "b"])
    np.testing.assert_allclose(evenly.decibans([[1]]), [[3.0103, -3.0103]], rtol=1e-4)


def degree_of(model, k: int) -> int | None:
    """Of the polynomial that the log posterior is; None: it is none."""
    if getattr(model, "estimate", None) == "bayes":
        return None
    if model in named("FisherDiscriminant"):
        return 1 if k == 2 else None
    if model in named("RegularizedDiscriminantAnalysis"):
        return 1 if model.blend == 1 else 2
    if model in named("GaussianNB"):
        return 1 if model.variances == "shared" else 2
    if model in named("QuadraticDiscriminantAnalysis"):
        return 2
    names = ("LinearDiscriminantAnalysis", "MultinomialNB", "PoissonNB", "ComplementNB", "BernoulliNB", "CategoricalNB")
    return 1 if model in named(*names) else None


def is_linear(model, k: int) -> bool:
    """Whether the posterior is linear in the cells themselves."""
    return degree_of(model, k) == 1 and model not in named("CategoricalNB")


@every_model
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("k", [2, 3])
def test_logistic_view_is_the_same_posterior_or_refused(model, k, degree):
    x, y = rows_for(model, k=k)
    least, cells = degree_of(model, k), is_linear(model, k)
    model = fitted(model, x, y)
    if least is None or least > degree:
        with pytest.raises(DataError, match="hint:"):
            model.as_logistic(degree=degree)
        return
    view, p = model.as_logistic(degree=degree), model.predict_proba(x)
    assert view.coef_.shape == (1 if k == 2 else k, len(view.columns_))
    assert not cells or len(view.columns_) == x.shape[1]
    np.testing.assert_allclose(view.predict_proba(x), p, rtol=1e-7, atol=1e-9)
    clear = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 1e-9
    np.testing.assert_array_equal(view.predict(x)[clear], model.predict(x)[clear])


@every_model
def test_sample_has_the_shape_and_the_labels_of_the_rows(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    drawn, labels = model.sample(200, random_state=3)
    assert drawn.shape == (200, x.shape[1])
    assert labels.shape == (200,)
    assert set(labels) == set(model.classes_)
    again, _ = model.sample(200, random_state=3)
    np.testing.assert_array_equal(drawn, again)
    assert np.isfinite(model.score_samples(drawn)).all()
    assert model.sample()[0].shape == (1, x.shape[1])


# shrunk once more, it is another; and rows of an average teach each of its models something else
@each([model for model in MODELS if model.get_params().get("shrinkage") != 0.3 and model not in named("AODE")])
def test_model_of_its_own_sample_is_much_like_it(model):
    x, y = rows_for(model, n=300)
    model = fitted(model, x, y)
    again = fitted(model, *model.sample(20_000, random_state=0))
    assert np.abs(again.predict_proba(x) - model.predict_proba(x)).mean() < 0.03


@every_model
def test_rows_are_scored_alone(model):
    """The answer to a row does not depend on its neighbours."""
    x, y = rows_for(model, n=37)
    model = fitted(model, x, y)
    for say in (model.predict_proba, model.predict_joint_log_proba, model.log_odds):
        whole = say(x)
        alone = np.concatenate([say(x[i : i + 1]) for i in range(len(x))])
        np.testing.assert_allclose(alone, whole, rtol=1e-10, atol=1e-10)


@every_model
def test_any_number_of_threads_and_any_run_gives_the_same_bits(model, monkeypatch):
    monkeypatch.setattr("deciban.rows.rows.CELLS", 32)
    monkeypatch.setattr("deciban.models.posterior.SPAN", 32)
    x, y = rows_for(model, n=400)
    answers = []
    for n in (1, 1, 2, 3):
        with deciban.threads(n):
            answers.append(fitted(model, x, y).predict_joint_log_proba(x).tobytes())
    assert len(set(answers)) == 1


@each([model for model in MODELS if reads_of(model) in ("reals", "counts")])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sparse_rows_are_dense_rows(model, index):
    x, y = rows_for(model)
    x = np.maximum(np.asarray(x, dtype=np.float64), 0.0)
    x[::7, 2] = np.nan
    thin, dense = fitted(model, csr(x, index), y), fitted(model, x, y)
    np.testing.assert_allclose(thin.predict_proba(csr(x, index)), dense.predict_proba(x), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(thin.score_samples(csr(x, index)), dense.score_samples(x), rtol=1e-8)
