"""Influences of training rows are the predictions of models that never learned them."""

from __future__ import annotations

import json
from copy import copy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import deciban
from deciban import (
    AODE,
    BayesNet,
    BayesOptimal,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
    influence,
    plots,
)
from deciban.classifiers.base import Generative
from deciban.classifiers.structured import StructuredNB
from deciban.errors import DataError, ForgetError, NotAdditiveError
from deciban.families.histogram import Histogram
from deciban.families.student import Student
from deciban.models import influences

from .support.models import MODELS, each, reads_of, rows_for
from .test_leaving_out import GIVEN, with_holes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N = 33
CHOOSING = [m for m in MODELS if isinstance(m, MixedNB | StructuredNB | BayesNet) and m not in GIVEN]
EXACT = [m for m in MODELS if m not in CHOOSING]
BY_CELL = [m for m in MODELS if reads_of(m) != "dense"]


def weights(n: int = N) -> np.ndarray:
    return np.random.default_rng(1).choice([0.5, 1.0, 2.0], n)


def forgotten(model, x, y, w, query, group) -> np.ndarray:
    """P(class | query) after `forget` of each group, less P before."""
    more = {} if w is None else {"sample_weight": w}
    whole = clone(model).fit(x, y, **more)
    before = whole.predict_proba(query)
    out = []
    for g in np.unique(group):
        at = np.flatnonzero(group == g)
        own = {} if w is None else {"sample_weight": w[at]}
        out.append(copy(whole).forget(x[at], y[at], **own).predict_proba(query) - before)
    return np.array(out)


def estimated_again(model, x, y, w, query, group) -> np.ndarray:
    """The same where the rows choose something: what is chosen is held, and nothing has a closed form."""
    state = model._fitted_state()
    table, _ = model._table_of(state, x, y, w)
    block = state.posterior.block(query).rows(0, len(query))
    parts = (table.take(np.flatnonzero(group == g)) for g in np.unique(group))
    left = [np.exp(influences.posterior_without(state, part)(block)) for part in parts]
    return np.array(left) - model.predict_proba(query)


@each(EXACT)
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_influence_is_the_prediction_after_forgetting(model, weighed, grouped):
    x, y = rows_for(model, n=N)
    w = weights() if weighed else None
    group = np.random.default_rng(2).integers(0, 9, N) if grouped else np.arange(N)
    got = influence(
        clone(model).fit(x, y, sample_weight=w),
        x,
        y,
        x[[3, 20]],
        sample_weight=w,
        groups=group if grouped else None,
    )
    assert got.exact
    np.testing.assert_allclose(got.values, forgotten(model, x, y, w, x[[3, 20]], group), rtol=0, atol=1e-9)


@each(CHOOSING)
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_choices_of_the_rows_are_held(model, weighed, grouped):
    x, y = rows_for(model, n=N)
    w = weights() if weighed else None
    group = np.random.default_rng(2).integers(0, 9, N) if grouped else np.arange(N)
    own = clone(model).fit(x, y, sample_weight=w)
    got = influence(own, x, y, x[[3, 20]], sample_weight=w, groups=group if grouped else None)
    np.testing.assert_allclose(got.values, estimated_again(own, x, y, w, x[[3, 20]], group), rtol=0, atol=1e-9)


@each(BY_CELL)
@pytest.mark.parametrize("grouped", [False, True])
def test_missing_cells_of_rows_and_queries(model, grouped):
    x, y = rows_for(model, n=N)
    x, w = with_holes(x), weights()
    group = np.random.default_rng(2).integers(0, 9, N) if grouped else np.arange(N)
    own = clone(model).fit(x, y, sample_weight=w)
    got = influence(own, x, y, x[[3, 20, 30]], sample_weight=w, groups=group if grouped else None)
    again = estimated_again(own, x, y, w, x[[3, 20, 30]], group)
    np.testing.assert_allclose(got.values, again, rtol=0, atol=1e-9)


@each([m for m in EXACT if reads_of(m) == "dense"])
def test_missing_cells_of_a_query_in_joint_models(model):
    x, y = rows_for(model, n=N)
    query = x[[3, 20]].copy()
    query[0, 1] = np.nan
    got = influence(clone(model).fit(x, y), x, y, query)
    np.testing.assert_allclose(got.values, forgotten(model, x, y, None, query, np.arange(N)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "student", "lognormal", "exponential", "poisson", "gamma_poisson"])
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("k", [1, 4])
def test_every_family_of_numbers(name, weighed, k):
    rng = np.random.default_rng(3)
    x = rng.poisson(4, (N, 3)) + 1.0
    x[5, 1] = np.nan
    y, w = np.array(list("aabbbccdde"))[np.arange(N) % 10], weights() if weighed else None
    model = MixedNB(families=name)
    group = np.arange(N) // k
    own = clone(model).fit(x, y, sample_weight=w)
    got = influence(own, x, y, x[[5, 9]], sample_weight=w, groups=None if k == 1 else group)
    np.testing.assert_allclose(got.values, forgotten(model, x, y, w, x[[5, 9]], group), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "family", [Histogram(), Histogram(alpha=0.5, cuts=5, smooth=2), Histogram(cuts="values"), Student(log=True)]
)
def test_cuts_stay_where_rows_are_left_out(family):
    rng = np.random.default_rng(4)
    x, y = np.round(np.exp(rng.normal(size=(N, 2))), 1), rng.choice(["a", "b"], N)
    x[:, 0] += y == "b"
    own = MixedNB(families={0: family, 1: family}).fit(x, y)
    got = influence(own, x, y, x[:3])
    np.testing.assert_allclose(got.values, estimated_again(own, x, y, None, x[:3], np.arange(N)), rtol=0, atol=1e-9)


@each([*CHOOSING, *(MixedNB(families=name) for name in ("histogram", "categorical"))])
def test_a_family_whose_choices_are_held_has_the_same_estimate(model):
    x, y = rows_for(model, n=200)
    state = clone(model).fit(x, y)._fitted_state()
    t = state.tally.parts[1]
    held = state.family.held(t, state.params)
    block = state.posterior.block(x[:20]).rows(0, 20)
    again = held.loglik(held.estimate(t), block)
    np.testing.assert_allclose(again, state.family.loglik(state.params, block), rtol=1e-12, atol=1e-12)


def levels(n: int = 60, seed: int = 5) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.6, y, "other"),
            "name": [f"p{i // 2 if i < 20 else i}" for i in range(n)],  # most levels are of one row
            "size": rng.normal(size=n) + (y == "yes"),
            "b": rng.choice(["u", "v", None], n),
        }
    )
    return frame, y


@pytest.mark.parametrize(
    "model",
    [
        MixedNB(alpha=1, families="gaussian"),
        MixedNB(alpha=0.5, families="student", unseen="reserve"),
        MixedNB(alpha=1, families="gaussian", missing="informative"),
        MixedNB(alpha=1, families="gaussian", missing="average"),
        MixedNB(),
        MixedNB(weights="discriminative"),
        TreeAugmentedNB(cuts=[0.0], backoff=1.0),
        AODE(cuts=[0.0], backoff=1.0),
        KDependenceBayes(cuts=[0.0], missing="informative"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("grouped", [False, True])
def test_levels_that_end_with_a_row(model, grouped):
    x, y = levels()
    group = np.arange(len(y)) // 3 if grouped else np.arange(len(y))
    own = clone(model).fit(x, y)
    query = x.iloc[[0, 1, 30, 59]]
    got = influence(own, x, y, query, groups=group if grouped else None)
    state = own._fitted_state()
    table, _ = own._table_of(state, x, y, None)
    block = state.posterior.block(query).rows(0, 4)
    parts = (table.take(np.flatnonzero(group == g)) for g in np.unique(group))
    again = [np.exp(influences.posterior_without(state, part)(block)) for part in parts]
    np.testing.assert_allclose(got.values, np.array(again) - own.predict_proba(query), rtol=0, atol=1e-9)
    if isinstance(model, MixedNB) and model.families != "auto":  # nothing is chosen
        rest = [clone(model).fit(x[group != g], y[group != g]).predict_proba(query) for g in np.unique(group)]
        np.testing.assert_allclose(got.values, np.array(rest) - own.predict_proba(query), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "model", [MultinomialNB(), deciban.ComplementNB(), BernoulliNB(), deciban.PoissonNB()], ids=repr
)
@pytest.mark.parametrize("grouped", [False, True])
def test_sparse_rows(model, grouped):
    rng = np.random.default_rng(9)
    x, y, w = rng.poisson(0.4, (N, 12)).astype(float), rng.choice(["a", "b", "c"], N), weights()
    group = np.arange(N) // 3 if grouped else None
    own = clone(model).fit(csr_array(x), y, sample_weight=w)
    got = influence(own, csr_array(x), y, csr_array(x[:3]), sample_weight=w, groups=group)
    want = influence(clone(model).fit(x, y, sample_weight=w), x, y, x[:3], sample_weight=w, groups=group)
    np.testing.assert_allclose(got.values, want.values, rtol=0, atol=1e-12)


def test_spans_do_not_show(monkeypatch):
    x, y = rows_for(MixedNB(), n=200)
    model = MixedNB().fit(x, y)
    group = np.random.default_rng(0).integers(0, 70, 200)
    whole = [influence(model, x, y, x[:2], groups=g).values for g in (None, group)]
    monkeypatch.setattr(influences, "CELLS", 8)
    monkeypatch.setattr(influences, "LEAST", 3)
    again = [influence(model, x, y, x[:2], groups=g).values for g in (None, group)]
    for a, b in zip(whole, again, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_smoothing_by_the_largest_variance_moves_all_classes():
    x, y = rows_for(GaussianNB(), n=N)
    x[:, 0] *= 1e4  # epsilon is large against the variances of all other columns
    x[7, 0] = 3e5  # and hangs on this row
    model = GaussianNB(var_smoothing=1e-6)
    got = influence(clone(model).fit(x, y), x, y, x[[1, 2]])
    np.testing.assert_allclose(got.values, forgotten(model, x, y, None, x[[1, 2]], np.arange(N)), rtol=0, atol=1e-9)


def test_given_priors_stay_and_learned_ones_follow():
    x, y = rows_for(GaussianNB(), n=N)
    for model in (GaussianNB(priors=[0.2, 0.5, 0.3]), MixedNB(families="gaussian", class_weight="balanced")):
        got = influence(clone(model).fit(x, y), x, y, x[[1, 2]])
        np.testing.assert_allclose(got.values, forgotten(model, x, y, None, x[[1, 2]], np.arange(N)), rtol=0, atol=1e-9)


# the second stage


@pytest.mark.parametrize("cls", [GaussianNB, BernoulliNB, MultinomialNB, MixedNB])
def test_calibration_is_held(cls):
    model = cls(calibrate=True, **({"families": "gaussian"} if cls is MixedNB else {}))
    x, y = rows_for(model, n=N)
    own = clone(model).fit(x, y)
    found = own._fitted_state().calibration
    plain = clone(model).set_params(calibrate=False).fit(x, y)
    got = influence(own, x, y, x[[3, 20]])
    for i in range(0, N, 5):
        left = clone(plain).fit(x, y).forget(x[[i]], y[[i]])
        state = left._fitted_state()
        scores = state.posterior.scores(state.posterior.block(x[[3, 20]]))
        joint = found.temperature * scores + found.bias + state.log_prior
        proba = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
        np.testing.assert_allclose(got.values[i] + own.predict_proba(x[[3, 20]]), proba, atol=1e-9)


@pytest.mark.parametrize("cls", [GaussianNB, BernoulliNB, MultinomialNB, MixedNB])
@pytest.mark.parametrize("grouped", [False, True])
def test_weights_of_columns_are_held(cls, grouped):
    model = cls(weights="discriminative")
    x, y = rows_for(model, n=N)
    group = np.arange(N) // 4 if grouped else np.arange(N)
    own = clone(model).fit(x, y)
    got = influence(own, x, y, x[[3, 20]], groups=group if grouped else None)
    again = estimated_again(own, x, y, None, x[[3, 20]], group)
    np.testing.assert_allclose(got.values, again, rtol=0, atol=1e-9)


@pytest.mark.parametrize("grouped", [False, True])
def test_interactions_are_held(grouped):
    rng = np.random.default_rng(8)
    x, _ = levels(400)
    x["c"], x["more"] = rng.choice(["u", "v", "w"], 400), np.round(rng.normal(size=400), 1)
    x.loc[rng.random(400) < 0.1, "more"] = np.nan
    y = np.where((x["b"] == x["c"]) ^ (rng.random(400) < 0.2), "no", "yes")  # the columns act together
    own = MixedNB(interactions="auto").fit(x, y)
    assert len(own.interactions_) > 0
    group = np.arange(400) // 7 if grouped else np.arange(400)
    got = influence(own, x, y, x[:4], groups=group if grouped else None)
    state = own._fitted_state()
    table, _ = own._table_of(state, x, y, None)
    block = state.posterior.block(x[:4]).rows(0, 4)
    some = np.unique(group)[:: 1 if grouped else 9]
    parts = (table.take(np.flatnonzero(group == g)) for g in some)
    again = [np.exp(influences.posterior_without(state, part)(block)) for part in parts]
    np.testing.assert_allclose(got.values[some], np.array(again) - own.predict_proba(x[:4]), rtol=0, atol=1e-9)


def test_a_second_stage_is_fitted_again():
    x, y = rows_for(GaussianNB(), n=45)
    model = GaussianNB(calibrate=True)
    got = influence(clone(model).fit(x, y), x, y, x[[3]], second_stage=True)
    want = forgotten(model, x, y, None, x[[3]], np.arange(45))[:, 0]
    np.testing.assert_allclose(got.values, want, rtol=0, atol=2e-6)  # to which a fit converges
    held = influence(clone(model).fit(x, y), x, y, x[[3]])
    assert np.abs(held.values - want).max() > 1e-4
    group = np.arange(45) // 5
    grouped = influence(clone(model).fit(x, y), x, y, x[[3]], groups=group, second_stage=True)
    np.testing.assert_allclose(grouped.values, forgotten(model, x, y, None, x[[3]], group)[:, 0], rtol=0, atol=2e-6)


def test_weights_are_fitted_again():
    x, y = rows_for(GaussianNB(), n=N)
    model = GaussianNB(weights="discriminative")
    got = influence(clone(model).fit(x, y), x[:6], y[:6], x[[3]], second_stage=True)
    want = forgotten(model, x, y, None, x[[3]], np.where(np.arange(N) < 6, np.arange(N), 6))[:6, 0]
    np.testing.assert_allclose(got.values, want, rtol=0, atol=1e-6)


def test_a_second_stage_of_too_many_rows_is_refused(monkeypatch):
    x, y = rows_for(GaussianNB(), n=N)
    model = GaussianNB(calibrate=True).fit(x, y)
    monkeypatch.setattr(influences, "MOST", 10)
    with pytest.raises(DataError, match=r"of 10 rows at most; these are 33\n\nhint"):
        influence(model, x, y, x[:1], second_stage=True)
    assert len(influence(model, x[:10], y[:10], x[:1], second_stage=True)) == 10
    plain = GaussianNB().fit(x, y)  # has none
    np.testing.assert_array_equal(
        influence(plain, x, y, x[:1], second_stage=True).values, influence(plain, x, y, x[:1]).values
    )


# approximations


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"C": np.inf}, {"fit_intercept": False}, {"solver": "liblinear"}], ids=repr)
def test_logistic_regression_takes_one_step(k, settings):
    if k == 3 and settings.get("solver"):
        pytest.skip("liblinear has two classes")
    rng = np.random.default_rng(6)
    x = rng.normal(size=(150, 3))
    y = np.argmax(x[:, :k] + rng.normal(size=(150, k)), axis=1)
    model = LogisticRegression(tol=1e-9, **settings).fit(x, y)
    group = np.random.default_rng(2).integers(0, 15, 150)
    for groups, most in ((None, 0.05), (group, 0.12)):
        got = influence(model, x, y, x[:2], groups=groups)
        assert not got.exact
        assert "Newton" in got.note
        assert "approximate" in repr(got)
        own = np.arange(150) if groups is None else group
        each_group = np.unique(own)[:12]
        want = np.array(
            [
                clone(model).fit(x[own != g], y[own != g]).predict_proba(x[:2]) - model.predict_proba(x[:2])
                for g in each_group
            ]
        )
        error, size = np.abs(got.values[:12] - want).max(), np.abs(want).max()
        assert error < most * size


def test_logistic_regression_needs_all_rows():
    x, y = rows_for(GaussianNB(), n=N)
    model = LogisticRegression().fit(x, y)
    with pytest.raises(DataError, match=r"needs all rows .*\n\nhint"):
        influence(model, x[:10], y[:10], x[:1])
    with pytest.raises(NotAdditiveError, match=r"L1 penalty .*\n\nhint"):
        influence(LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=9).fit(x, y), x, y, x[:1])


@pytest.mark.parametrize("cls", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_em_takes_one_step(cls):
    rng = np.random.default_rng(7)
    y = np.arange(200) % 2
    x = rng.normal(size=(200, 3)) @ np.array([[1, 0.6, 0.3], [0, 1, 0.5], [0, 0, 1]]) + 0.8 * y[:, None]
    x[rng.random(x.shape) < 0.1] = np.nan
    model = cls().fit(x, y)
    query = np.nan_to_num(x[:2])
    got = influence(model, x, y, query)
    assert not got.exact
    assert "EM" in got.note
    keep = list(range(25))
    want = np.array(
        [
            cls().fit(np.delete(x, i, axis=0), np.delete(y, i)).predict_proba(query) - model.predict_proba(query)
            for i in keep
        ]
    )
    assert np.corrcoef(got.values[keep, :, 0].ravel(), want[:, :, 0].ravel())[0, 1] > 0.98


def test_ensembles_by_member():
    x, y = rows_for(GaussianNB(), n=N)
    members = [GaussianNB(), MixedNB(families="student")]
    model = BayesOptimal(members, weights=[0.3, 0.7]).fit(x, y)
    got = influence(model, x, y, x[[3, 20]])
    own = [influence(m, x, y, x[[3, 20]]).values for m in model.models_]
    np.testing.assert_allclose(got.values, 0.3 * own[0] + 0.7 * own[1], atol=1e-12)
    assert got.exact
    assert not influence(BayesOptimal([GaussianNB(), LogisticRegression()]).fit(x, y), x, y, x[:1]).exact


@pytest.mark.parametrize(
    "settings",
    [{}, {"model": "bernoulli", "min_df": 2}, {"alpha": "auto"}, {"calibrate": True}, {"model": "complement"}],
    ids=repr,
)
def test_texts(settings):
    settings = {"alpha": 1.0, "smoothing": "even", "dependence": 0.0, "spread": 0.0} | settings
    x, y = rows_for(deciban.TextClassifier(), n=40)
    x = np.array([f"{text} own{i}" for i, text in enumerate(x)], dtype=object)  # a word that no other text has
    model = deciban.TextClassifier(**settings).fit(x, y)
    group = np.arange(40) // 3
    for groups, own in ((None, np.arange(40)), (group, group)):
        got = influence(model, x, y, x[:2], groups=groups)
        again = influence(model, x, y, x[:2], groups=groups, second_stage=True)
        want = []
        for g in np.unique(own):
            left = deciban.TextClassifier(**settings).fit(x[own != g], y[own != g])
            want.append(left.predict_proba(x[:2]) - model.predict_proba(x[:2]))
        chosen = settings["alpha"] == "auto" or "calibrate" in settings
        np.testing.assert_allclose((again if chosen else got).values, np.array(want), atol=1e-9)
        assert "calibrate" not in settings or np.abs(got.values - again.values).max() > 1e-4
    assert influence(model, x, y, x[0]).values.shape == (40, 3)
    with pytest.raises(NotAdditiveError, match="all texts at once"):
        influence(deciban.TextClassifier(model="logistic").fit(x, y), x, y, x[:1])


# what is refused


def test_rows_that_were_never_learned():
    x, y = rows_for(GaussianNB(), n=N)
    with pytest.raises(ForgetError, match="never learned"):
        influence(GaussianNB().fit(x, y), x + 50.0, y, x[:1])
    codes, labels = rows_for(CategoricalNB(), n=N)
    with pytest.raises(ForgetError, match="never learned"):
        influence(CategoricalNB(min_categories=9).fit(codes, labels), 0 * codes[:1] + 8, labels[:1], codes[:1])
    with pytest.raises(ForgetError, match="less weight"):
        influence(GaussianNB().fit(x[:6], y[:6]), x[:6], y[:6], x[:1], sample_weight=np.full(6, 40.0))


def test_errors_have_hints():
    x, y = rows_for(GaussianNB(), n=N)
    model = GaussianNB().fit(x, y)
    cases = [
        (NotAdditiveError, deciban.Perceptron().fit(x, y == "a"), {}),
        (NotAdditiveError, BayesOptimal.of([lambda X: X[:, 0] > 0], classes=[False, True]), {}),
        (DataError, model, {"groups": [1, 2]}),
        (DataError, model, {"groups": np.zeros(N)}),
        (DataError, model, {"groups": "day"}),
        (DataError, model, {"groups": [None, *["p", "q"] * (N // 2)][:N]}),
        (DataError, model, {"y_query": ["a", "b"]}),
    ]
    for error, one, more in cases:
        with pytest.raises(error, match=r"\n\nhint: "):
            influence(one, x, y, x[:1], **more)
    with pytest.raises(DataError, match="row 3 has no group"):
        influence(model, x, y, x[:1], groups=np.where(np.arange(N) == 3, np.nan, 1.0))
    with pytest.raises(NotAdditiveError, match="given"):
        influence(GaussianNB.from_parameters([[0.0], [1.0]], [[1.0], [1.0]]), [[0.0]], [0], [[0.5]])


# what is shown


def small(**more):
    x, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
    return influence(GaussianNB().fit(x, y), x, y, [[3.0]], **more)


def test_log_loss_of_the_true_class():
    found = small(y_query="b")
    proba = found.proba[1]
    np.testing.assert_allclose(found.loss, np.log(proba) - np.log(proba + found.values[:, 1]), rtol=1e-9)
    assert found.top(1).tolist() == [int(np.abs(found.loss).argmax())]


def test_shapes_of_one_query_and_of_several():
    x, y = rows_for(GaussianNB(), n=N)
    model = GaussianNB().fit(x, y)
    one, several = influence(model, x, y, x[:1]), influence(model, x, y, x[:2], y_query=["a", "b"])
    assert (one.values.shape, one.proba.shape) == ((N, 3), (3,))
    assert (several.values.shape, several.loss.shape, several.proba.shape) == ((N, 2, 3), (N, 2), (2, 3))
    np.testing.assert_allclose(several.values[:, 0], one.values)
    np.testing.assert_allclose(one.values.sum(axis=1), 0.0, atol=1e-12)
    with pytest.raises(DataError, match="no query 2"):
        several.top(1, query=2)


def test_groups_by_a_column_that_the_model_does_not_know():
    x, y = levels()
    model = MixedNB(alpha=1, families="gaussian").fit(x, y)
    days = np.where(np.arange(len(y)) % 2, "mon", "tue")
    found = influence(model, x.assign(day=days), y, x[:1], groups="day")
    assert found.groups.tolist() == ["mon", "tue"]
    np.testing.assert_allclose(found.values, influence(model, x, y, x[:1], groups=days).values)
    assert influence(model, x.assign(y=y), "y", x[:1]).values.shape == (60, 2)


def test_table_frame_dictionary():
    found = small(y_query="a")
    assert repr(found).splitlines()[0].startswith("P(class | query): a 0.82")
    assert len(repr(found).splitlines()) == 2 + len(found)
    assert "<table" in found._repr_html_()
    frame = found.to_frame()
    assert frame.columns.tolist() == ["row", "class", "P(a)", "P(b)", "log_loss"]
    assert frame["row"].tolist() == found.top(6).tolist()
    np.testing.assert_allclose(frame["P(a)"], found.values[frame["row"], 0])
    plain = json.loads(json.dumps(found.to_dict(2)))
    assert plain["exact"] is True
    assert [row["row"] for row in plain["queries"][0]["rows"]] == found.top(2).tolist()
    grouped = small(groups=["p", "q", "p", "q", "q", "q"])
    assert grouped.to_frame()["group"].tolist() == ["p", "q"]
    assert "2 groups" in repr(grouped)
    assert "… and 4 rows of smaller change" in found.text(2)


def test_the_picture():
    pytest.importorskip("matplotlib")
    found = small()
    ax = found.plot(n=4)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2 (a)", "3 (b)", "5 (b)", "4 (b)"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], found.values[found.top(4), 0])
    other = plots.influence(found, n=2, of="b")
    np.testing.assert_allclose([bar.get_width() for bar in other.patches], found.values[found.top(2), 1])
    with pytest.raises(DataError, match="no class 'z'"):
        found.plot(of="z")


def test_every_generative_classifier_is_here():
    assert {type(m) for m in MODELS} == {type(m) for m in [*EXACT, *CHOOSING]}
    assert all(isinstance(m, Generative) for m in MODELS)
