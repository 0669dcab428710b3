"""Weights of columns: what is made small, where it is least, and that everything a classifier says goes by them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from deciban import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    cross_validate,
    decision,
    metrics,
)
from deciban.data.blocks import Counts, Reals, Table
from deciban.errors import DataError, NotAdditiveError
from deciban.families.bernoulli import Bernoulli
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.models import feature_weights as weighing
from deciban.models.feature_evidence import DenseEvidence, SparseEvidence, column_evidence
from deciban.models.feature_weights import Objective, ParameterLayout, WeightedRows, with_strength
from deciban.models.learn_feature_weights import distinct_rows, held_out_pieces
from deciban.rows.sample import RowSample
from deciban.solvers.base import solve
from deciban.solvers.newton import Newton

from .support.models import CLASSES, each, rows_for

WEIGHTED = [model(weights="discriminative") for model in CLASSES if "weights" in model().get_params()]
LINEAR = [model for model in WEIGHTED if type(model).__name__ in ("BernoulliNB", "MultinomialNB", "PoissonNB")]


def fitted(model, k: int = 3, **more):
    x, y = rows_for(model, n=150, k=k, **more)
    return clone(model).fit(x, y), x, y


def objective_of(
    x, y, k: int, by_class: bool, sparse_rows: bool = False, seed: int = 0, singles: int | None = None
) -> Objective:
    """Of rows in two pieces, with weights and a prior of their own."""
    f, rng = Bernoulli(), np.random.default_rng(seed)
    block = block_of(x)
    evidence = column_evidence(f, f.estimate(f.tally(block, y, None, k)))
    w, pieces = rng.uniform(0.5, 2.0, len(y)), []
    for start, stop in ((0, 20), (20, len(y))):
        rows = block.rows(start, stop)
        part = SparseEvidence(evidence, rows) if sparse_rows else DenseEvidence(evidence, rows, kept=True)
        pieces.append(WeightedRows(part, y[start:stop], w[start:stop]))
    layout = ParameterLayout(k, x.shape[1], by_class, x.shape[1] if singles is None else singles)
    return Objective(pieces, decision.log_prior(np.arange(1.0, k + 1)), layout, rng.uniform(0.5, 2.0, layout.size))


def block_of(x) -> Reals | Counts:
    if sparse.issparse(x):
        x = x.tocsr()
        return Counts(x.indptr, x.indices, x.data, x.shape[1])
    return Reals(x)


def bits(n: int = 60, d: int = 5, k: int = 3, gaps: bool = False):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (n, d)).astype(float)
    if gaps:
        x[rng.random(x.shape) < 0.1] = np.nan
    return x, rng.integers(0, k, n).astype(np.int32)


# what is made small


@pytest.mark.parametrize(("k", "by_class"), [(2, False), (3, False), (3, True)])
def test_gradient_and_hessian_are_those_of_the_value(k, by_class):
    x, y = bits(k=k)
    f = objective_of(x, y, k, by_class)
    at = np.random.default_rng(2).normal(size=f.layout.size) * 0.5
    value, gradient = f.slope(at)
    np.testing.assert_allclose(gradient, approx_fprime(at, lambda t: f.slope(t)[0], 1e-7), atol=1e-4)
    value_too, gradient_too, hessian = f.curve(at)
    assert value_too == pytest.approx(value)
    np.testing.assert_allclose(gradient_too, gradient)
    step = 1e-6 * np.eye(len(at))
    columns = [(f.slope(at + s)[1] - f.slope(at - s)[1]) / 2e-6 for s in step]
    np.testing.assert_allclose(hessian, np.array(columns), atol=1e-5)
    v = np.random.default_rng(3).normal(size=len(at))
    np.testing.assert_allclose(f.product(at, v), hessian @ v, atol=1e-9)
    if not by_class:
        np.testing.assert_allclose(f.diagonal(at)[1][0], hessian.diagonal(), atol=1e-9)


@pytest.mark.parametrize("gaps", [False, True])
def test_sparse_rows_say_what_dense_ones_say(gaps):
    x, y = bits(gaps=gaps)
    dense, thin = objective_of(x, y, 3, False), objective_of(sparse.csr_array(x), y, 3, False, sparse_rows=True)
    at = np.random.default_rng(2).normal(size=dense.layout.size) * 0.5
    assert thin.slope(at)[0] == pytest.approx(dense.slope(at)[0])
    np.testing.assert_allclose(thin.slope(at)[1], dense.slope(at)[1], atol=1e-10)
    np.testing.assert_allclose(thin.diagonal(at)[1], dense.diagonal(at)[1], atol=1e-10)
    np.testing.assert_allclose(thin.product(at, at), dense.product(at, at), atol=1e-10)


@pytest.mark.parametrize("family", [Bernoulli(), Multinomial(), Poisson(), Multinomial(alpha=0.0)])
def test_evidence_of_a_column_is_its_part_up_to_what_classes_share(family):
    rng = np.random.default_rng(0)
    x, y = block_of(rng.integers(0, 3, (40, 4)).astype(float)), rng.integers(0, 3, 40).astype(np.int32)
    p = family.estimate(family.tally(x, y, None, 3))
    evidence, parts = column_evidence(family, p), family.parts(p, x)
    np.testing.assert_allclose(evidence.parts(x), parts - parts.mean(axis=1, keepdims=True), atol=1e-9)
    weights = rng.normal(size=(3, 4))
    np.testing.assert_allclose(evidence.scores(x, weights), (evidence.parts(x) * weights).sum(axis=2), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_the_least_of_the_loss_under_their_penalties(k):
    x, y = bits(n=200, k=k)
    x[:, 1] = y == 0
    f = replace(objective_of(x, y, k, k > 2), ridge=np.ones(ParameterLayout(k, 5, k > 2, 5).size))
    answer = weighing.minimise(f, np.zeros(f.layout.size))
    under = with_strength(f, answer.internal.strengths)
    best = minimize(under.slope, np.zeros(f.layout.size), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    assert answer.converged
    assert under.slope(answer.w)[0] <= best.fun + 1e-6


def test_conjugate_gradients_find_what_newton_finds(monkeypatch):
    x, y = bits(n=300, k=2)
    x[:, 1] = y
    f = replace(objective_of(x, y, 2, False), ridge=np.ones(8))
    newton = weighing.minimise(f, np.zeros(8))
    monkeypatch.setattr(weighing, "DENSE", 1)
    other = weighing.minimise(f, np.zeros(8))
    assert other.converged
    under = with_strength(f, other.internal.strengths)
    np.testing.assert_allclose(under.slope(other.w)[1], 0.0, atol=1e-2)
    np.testing.assert_allclose(other.w, newton.w, atol=0.3)  # γ is that of the diagonal: strengths differ a little


def test_naive_bayes_is_a_nearer_start_than_nothing():
    x, y = load_iris(return_X_y=True)
    model = GaussianNB(weights="discriminative").fit(x, y)
    codes = y.astype(np.int32)
    rows = RowSample.from_rows(Table(block_of(x), codes, None, 3)).selected(model._state.n)
    f = weighing.problem(held_out_pieces(model._state, *distinct_rows(rows)), np.log(np.full(3, 1 / 3)), 4)
    zero = np.zeros(f.layout.size)
    zero[0] = -1.0  # all weights 0
    assert weighing.minimise(f, weighing.fit_temperature(f)).n_iter == model.n_iter_
    under = with_strength(f, model._state.weights.strengths)
    near, far = (solve(Newton(), under, start, 1e-6, 100) for start in (weighing.fit_temperature(f), zero))
    assert near.n_iter < far.n_iter
    assert near.value == pytest.approx(far.value, rel=1e-6)


def test_the_start_is_the_least_of_temperature_and_biases():
    x, y = bits(n=200, k=3)
    f = replace(objective_of(x, y, 3, True), ridge=np.ones(ParameterLayout(3, 5, True, 5).size))
    start, free = weighing.fit_temperature(f), [0, -3, -2, -1]
    np.testing.assert_allclose(f.slope(start)[1][free], 0.0, atol=1e-4)
    assert not np.delete(start, free).any()


# classifiers


@each(WEIGHTED)
def test_explanation_sums_to_the_log_odds(model):
    m, x, _ = fitted(model)
    why = m.explain(x[:20])
    each_row = np.arange(20)
    odds = np.array([m.log_odds(x[:20], against=label)[each_row, why.chosen] for label in m.classes_])
    np.testing.assert_allclose(why.total, decision.DECIBAN * odds[why.rival, each_row], atol=1e-8)
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), why.total, atol=1e-8)


@each(WEIGHTED)
def test_there_is_a_weight_for_each_column_and_class(model):
    m, x, _ = fitted(model)
    assert m.feature_weights_.shape == (x.shape[1],)
    assert m.class_feature_weights_.shape == (3, x.shape[1])
    assert m.class_bias_.shape == (3,)
    assert m.n_iter_ > 0
    assert m._state.weights.converged
    np.testing.assert_allclose(m.predict_proba(x).sum(axis=1), 1.0)


@each(WEIGHTED)
def test_two_classes_have_one_weight_a_column(model):
    m, *_ = fitted(model, k=2)
    np.testing.assert_array_equal(m.class_feature_weights_[0], m.class_feature_weights_[1])


@each(WEIGHTED)
def test_given_priors_replace_the_learned_ones(model):
    m, x, y = fitted(model)
    share = np.bincount(np.searchsorted(m.classes_, y)) / len(y)
    new = np.array([0.6, 0.3, 0.1])
    shifted = m.predict_proba(x) * new / share
    np.testing.assert_allclose(m.predict_proba(x, priors=new), shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-8)


@each(WEIGHTED)
def test_weight_is_repetition_and_order_is_free(model):
    x, y = rows_for(model, n=80)
    times = np.random.default_rng(1).integers(0, 3, len(y))
    weighed = clone(model).fit(x, y, sample_weight=times)
    mixed = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), times))
    repeated = clone(model).fit(x[mixed], y[mixed])
    np.testing.assert_allclose(weighed.feature_weights_, repeated.feature_weights_, rtol=1e-5)
    np.testing.assert_allclose(weighed.predict_proba(x), repeated.predict_proba(x), rtol=1e-5, atol=1e-9)


@each(LINEAR)
def test_linear_model_is_a_logistic_function(model):
    x, y = rows_for(model, n=150)
    x = (x > 1).astype(float) if isinstance(model, BernoulliNB) else x
    m = clone(model).fit(x, y)
    np.testing.assert_allclose(m.as_logistic().predict_proba(x), m.predict_proba(x), atol=1e-10)


@each(WEIGHTED)
def test_missing_cells_say_nothing(model):
    m, x, _ = fitted(model)
    row = x[:1].astype(float)
    row[0, 1] = np.nan
    assert m.explain(row).decibans[0, 1] == 0.0
    everything = np.full_like(row, np.nan)
    joint = decision.log_prior(m.class_count_) + m.class_bias_
    np.testing.assert_allclose(m.predict_log_proba(everything)[0], joint - np.logaddexp.reduce(joint), atol=1e-12)


@each(WEIGHTED)
def test_model_decides_draws_and_comes_back_from_a_pickle(model):
    m, x, _ = fitted(model)
    assert set(m.decide(x, reject=0.2)) <= {*m.classes_, None}
    again = pickle.loads(pickle.dumps(m))
    np.testing.assert_array_equal(again.predict_proba(x), m.predict_proba(x))
    plain = clone(model).set_params(weights=None).fit(*rows_for(model, n=150))
    np.testing.assert_allclose(m.score_samples(x), plain.score_samples(x))  # densities are those of the counts
    np.testing.assert_array_equal(m.sample(5, random_state=0)[1], plain.sample(5, random_state=0)[1])


def test_nomogram_has_the_weighted_scales():
    pytest.importorskip("matplotlib").use("agg")
    from deciban.plots import nomogram

    m, *_ = fitted(CategoricalNB(weights="discriminative"), k=2)
    assert nomogram(m) is not None


@each(WEIGHTED)
def test_rows_come_and_go_unless_none_are_kept(model):
    m, x, y = fitted(model)
    m.forget(x[:5], y[:5]).partial_fit(x[:5], y[:5])
    np.testing.assert_allclose(m.predict_proba(x), fitted(model)[0].predict_proba(x), atol=1e-9)
    assert len(cross_validate(model, x, y, folds=2).refitted) == 0
    m, x, y = fitted(clone(model).set_params(keep_rows=0))
    for update in (lambda: m.partial_fit(x, y), lambda: m.forget(x[:1], y[:1]), lambda: m + m):
        with pytest.raises(NotAdditiveError, match="hint: fit again with keep_rows"):
            update()
    with pytest.raises(NotAdditiveError, match="cross_validate"):
        m.leave_one_out(x, y)
    assert len(cross_validate(m, x, y, folds=2).refitted) == 2


def test_settings_that_do_not_go_together_are_refused():
    x, y = np.array([[0, 1], [1, 0], [1, 1]]), [0, 1, 1]
    with pytest.raises(DataError, match="leave out `calibrate`"):
        GaussianNB(weights="discriminative", calibrate=True).fit(x, y)
    with pytest.raises(DataError, match="missing='ignore'"):
        MixedNB(weights="discriminative", missing="average").fit(x, y)
    with pytest.raises(DataError, match="estimate='plugin'"):
        MultinomialNB(weights="discriminative", estimate="bayes").fit(x, y)
    with pytest.raises(ValueError, match="weights"):
        GaussianNB(weights="generative").fit(x, y)
    with pytest.raises(AttributeError, match="weights='discriminative'"):
        _ = GaussianNB().fit(x, y).feature_weights_


@pytest.mark.parametrize("model", [GaussianNB(), PoissonNB(), MixedNB(), CategoricalNB()], ids=repr)
def test_hard_rows_have_defined_answers(model):
    model = model.set_params(weights="discriminative")
    constant = clone(model).fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    np.testing.assert_allclose(constant.predict_proba(np.ones((1, 2))), [[0.5, 0.5]], atol=1e-6)
    assert clone(model).fit(np.array([[1, 2], [3, 0]]), [5, 5]).predict_proba([[1, 1]]).tolist() == [[1.0]]
    apart = clone(model).fit(np.repeat([[0, 1], [3, 0]], 20, axis=0), np.repeat([0, 1], 20))
    assert np.isfinite(apart.feature_weights_).all()
    two = clone(model).fit(np.array([[0, 1], [3, 0]]), [0, 1])
    assert np.isfinite(two.predict_proba([[0, 1]])).all()


def test_impossible_cells_do_not_break_the_weights():
    x, y = rows_for(MultinomialNB(), n=60)
    m = MultinomialNB(alpha=0.0, weights="discriminative").fit(x, y)
    assert np.isfinite(m.predict_log_proba(x)).all()


def test_columns_that_repeat_each_other_no_longer_count_twice():
    x, y = load_breast_cancer(return_X_y=True)
    settings, losses = ({}, {"calibrate": True}, {"weights": "discriminative"}), []
    for seed in range(3):
        here, new, y_here, y_new = train_test_split(x, y, test_size=0.4, random_state=seed)
        fits = [GaussianNB(**s).fit(here, y_here) for s in settings]
        losses.append([metrics.log_loss(y_new, model.predict_log_proba(new)) for model in fits])
    plain, calibrated, weighted = np.mean(losses, axis=0)
    assert weighted < 0.8 * calibrated < plain


def test_wide_sparse_words_are_weighed_without_making_them_dense(monkeypatch):
    """Topics that rows have beside their class make words come together, which naive Bayes takes for more evidence."""
    rng = np.random.default_rng(0)
    y, topic = rng.integers(0, 2, 600), rng.random((600, 20)) < 0.2
    rate = 0.02 * np.exp(1.5 * topic @ rng.normal(size=(20, 2500)) * (rng.random(2500) < 0.2))
    rate = np.minimum(rate, 1.0) * np.where(y[:, None] > 0, 1.0, rng.uniform(0.8, 1.2, 2500))
    x = sparse.csr_array(rng.poisson(rate).astype(float))
    monkeypatch.setattr(DenseEvidence, "parts", None)
    m, plain = (MultinomialNB(weights=weights).fit(x[:400], y[:400]) for weights in ("discriminative", None))
    assert m.feature_weights_.shape == (2500,)
    weighted, unweighted = (metrics.log_loss(y[400:], model.predict_log_proba(x[400:])) for model in (m, plain))
    assert weighted < 0.8 * unweighted
