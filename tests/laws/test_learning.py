"""Learning is adding: in pieces, in parts, backwards; and what fails leaves no trace."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from deciban.errors import DataError, DecibanError, ForgetError, MergeError, NotAdditiveError

from ..support.compare import assert_same_model
from ..support.models import (
    CLASSES,
    DENSE,
    MODELS,
    each,
    every_class,
    every_model,
    fitted,
    in_pieces,
    named,
    reads_of,
    rows_for,
)
from ..support.strategies import examples

few = examples(4)
seeds = st.integers(0, 99)


@every_model
@few
@given(seed=seeds, cuts=st.lists(st.integers(0, 90), max_size=4).map(sorted), weighed=st.booleans())
def test_partial_fit_in_pieces_is_fit(model, seed, cuts, weighed):
    x, y = rows_for(model, seed=seed)
    w = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y)) if weighed else None
    assert_same_model(in_pieces(model, x, y, cuts, w=w), fitted(model, x, y, sample_weight=w), x)


@each(DENSE)
@few
@given(seed=seeds, cuts=st.lists(st.integers(0, 30), max_size=4).map(sorted))
def test_partial_fit_in_pieces_is_fit_with_more_columns_than_rows(model, seed, cuts):
    x, y = rows_for(model, n=30, d=40, seed=seed)
    assert_same_model(in_pieces(model, x, y, cuts), fitted(model, x, y), x, within=1e-6)


@every_model
@few
@given(seed=seeds)
def test_merged_models_are_the_model_of_all_rows(model, seed):
    x, y = rows_for(model, seed=seed)
    parts = [slice(0, 30), slice(30, 55), slice(55, 90)]
    a, b, c = (fitted(model, x[part], y[part]) for part in parts)
    whole = fitted(model, x, y)
    assert_same_model(a + b + c, whole, x)
    assert_same_model(a + (b + c), whole, x)
    assert_same_model(sum([a, b, c]), whole, x)


@every_model
@few
@given(seed=seeds)
def test_models_with_other_classes_merge_by_label(model, seed):
    x, y = rows_for(model, n=120, k=4, seed=seed)
    first, second = np.isin(y, ["a", "c"]), np.isin(y, ["b", "c", "d"])
    half = np.arange(120) % 2 == 0
    a, b = (fitted(model, x[those], y[those]) for those in (first & half, second & ~half))
    those = (first & half) | (second & ~half)
    assert_same_model(a + b, fitted(model, x[those], y[those]), x)
    assert_same_model(b + a, fitted(model, x[those], y[those]), x)


@each(DENSE)
def test_wide_models_merge_into_the_model_of_all_rows(model):
    x, y = rows_for(model, n=48, d=60)
    a, b = fitted(model, x[:24], y[:24]), fitted(model, x[24:], y[24:])
    assert_same_model(a + b, fitted(model, x, y), x, within=1e-6)
    x, y = rows_for(model, n=80, d=60)  # fewer rows than columns in each, more in both
    a, b = fitted(model, x[:40], y[:40]), fitted(model, x[40:], y[40:])
    assert_same_model(a + b, fitted(model, x, y), x, within=1e-6)


@every_model
def test_merging_leaves_both_models_as_they_were(model):
    x, y = rows_for(model)
    a, b = fitted(model, x[:45], y[:45]), fitted(model, x[45:], y[45:])
    before = a.predict_proba(x), b.predict_proba(x)
    a + b
    np.testing.assert_array_equal(a.predict_proba(x), before[0])
    np.testing.assert_array_equal(b.predict_proba(x), before[1])


@each(named("GaussianNB")[:1])
def test_sum_of_one_model_is_a_model_of_its_own(model):
    x, y = rows_for(model)
    one = fitted(model, x, y)
    before = one.predict_proba(x)
    sum([one]).forget(x[60:], y[60:])
    np.testing.assert_array_equal(one.predict_proba(x), before)


@every_model
def test_merged_model_goes_on_learning(model):
    x, y = rows_for(model)
    merged = fitted(model, x[:30], y[:30]) + fitted(model, x[30:60], y[30:60])
    merged.partial_fit(x[60:], y[60:])
    assert_same_model(merged, fitted(model, x, y), x)


@every_model
@few
@given(seed=seeds, weighed=st.booleans())
def test_forgetting_rows_is_never_having_seen_them(model, seed, weighed):
    x, y = rows_for(model, seed=seed)
    w = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y)) if weighed else np.ones(len(y))
    kept, gone = slice(0, 50), slice(50, 90)
    model = fitted(model, x, y, sample_weight=w).forget(x[gone], y[gone], sample_weight=w[gone])
    assert_same_model(model, fitted(model, x[kept], y[kept], sample_weight=w[kept]), x, within=1e-8)


@each(DENSE)
def test_forgetting_works_with_more_columns_than_rows(model):
    x, y = rows_for(model, n=40, d=60)
    left = fitted(model, x, y).forget(x[25:], y[25:])
    assert_same_model(left, fitted(model, x[:25], y[:25]), x, within=1e-6)


@every_model
def test_forgetting_all_rows_of_a_class_leaves_the_other_classes(model):
    x, y = rows_for(model)
    gone = y == "b"
    left = fitted(model, x, y).forget(x[gone], y[gone])
    assert_same_model(left, fitted(model, x[~gone], y[~gone]), x, within=1e-8)
    kept = in_pieces(model, x, y, [], classes=["a", "b", "c"]).forget(x[gone], y[gone])  # classes that were given stay
    assert kept.classes_.tolist() == ["a", "b", "c"]
    rest = kept.predict_proba(x)[:, [0, 2]]  # the class has a part of a uniform prior
    np.testing.assert_allclose(rest / rest.sum(axis=1, keepdims=True), left.predict_proba(x), rtol=1e-8, atol=1e-10)


@each(DENSE)
@pytest.mark.parametrize("offset", [0, 1e4])
def test_forgetting_all_rows_of_a_class_works_with_more_columns_than_rows(model, offset):
    x, y = rows_for(model, n=30, d=70)
    x = x + offset
    gone = y == "b"
    left = fitted(model, x, y).forget(x[gone], y[gone])
    np.testing.assert_allclose(left.predict_proba(x), fitted(model, x[~gone], y[~gone]).predict_proba(x), atol=1e-4)


# fit_prior=False gives a class without rows its share of the prior, and so does a rule that takes none
WITH_PRIOR = [m for m in MODELS if m.get_params().get("fit_prior", True) and m not in named("ComplementNB")]


@each(WITH_PRIOR)
def test_class_without_rows_changes_nothing_for_the_others(model):
    x, y = rows_for(model, k=2)
    with_nobody = in_pieces(model, x, y, [], classes=["a", "b", "nobody"])
    p = with_nobody.predict_proba(x)
    np.testing.assert_allclose(p[:, :2], fitted(model, x, y).predict_proba(x), rtol=1e-8, atol=1e-12)
    assert not p[:, 2].any()


def interrupt(*args):
    raise KeyboardInterrupt


@every_model
def test_failed_fit_leaves_the_model_as_it_was(model, monkeypatch):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    before, state = model.predict_proba(x), dict(model.__dict__)
    with pytest.raises(DataError, match="labels are numbers"):
        model.partial_fit(x, np.full(len(y), 7))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(x[:, :2], y)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(x[:, :2], y[:5])
    with pytest.raises(DataError, match="weight"):
        model.fit(x[:, :2], y, sample_weight=-np.ones(len(y)))
    monkeypatch.setattr("deciban.models.model.tally_of", interrupt)
    for learn in (model.fit, model.partial_fit, model.forget):
        with pytest.raises(KeyboardInterrupt):
            learn(x[:50], y[:50])
    assert model.__dict__ == state
    np.testing.assert_array_equal(model.predict_proba(x), before)


@every_model
def test_failed_first_fit_leaves_no_model(model, monkeypatch):
    x, y = rows_for(model)
    model = clone(model)
    state = dict(model.__dict__)
    monkeypatch.setattr("deciban.models.model.tally_of", interrupt)
    for learn in (model.fit, lambda x, y: model.partial_fit(x, y, classes=["a", "b", "c"])):
        with pytest.raises(KeyboardInterrupt):
            learn(x, y)
        assert model.__dict__ == state
        assert not model.__sklearn_is_fitted__()


@every_model
def test_forgetting_too_much_is_refused_and_changes_nothing(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    before = model.predict_proba(x)
    with pytest.raises(ForgetError, match="hint:"):
        model.forget(np.concatenate([x, x[:20]]), np.concatenate([y, y[:20]]))
    with pytest.raises(ForgetError, match="stranger"):
        model.forget(x[:2], ["stranger", "a"])
    np.testing.assert_array_equal(model.predict_proba(x), before)


@each([model() for model in CLASSES if reads_of(model) in ("counts", "codes")])
def test_forgetting_what_was_never_counted_is_refused(model):
    """The rows are as many as were learned, but their words (levels) were not: counts would fall under 0."""
    x, y = rows_for(model)
    model = fitted(model, np.zeros_like(x), y)
    before = model.predict_proba(x)
    with pytest.raises(ForgetError, match="hint:"):
        model.forget(np.full_like(x[:20], 4), y[:20])
    np.testing.assert_array_equal(model.predict_proba(x), before)


@each([model() for model in CLASSES if reads_of(model) in ("reals", "dense")])
def test_forgetting_rows_that_would_leave_a_negative_variance_is_refused(model):
    """Rows far from all that were learned: without them, squares would sum to less than 0."""
    x, y = rows_for(model)
    model = fitted(model, x, y)
    before = model.predict_proba(x)
    with pytest.raises(ForgetError, match="hint:"):
        model.forget(x[:6] + 100.0, y[:6])
    np.testing.assert_array_equal(model.predict_proba(x), before)


OTHER = {"alpha": 0.7, "shape": 0.7, "var_smoothing": 0.5, "tol": 0.5, "priors": [0.2, 0.3, 0.5], "blend": 0.7}


@every_model
def test_models_with_other_settings_do_not_merge(model):
    x, y = rows_for(model)
    a = fitted(model, x, y)
    for name in a.get_params().keys() & OTHER.keys():
        b = clone(model).set_params(**{name: OTHER[name]}).fit(x, y)
        with pytest.raises(MergeError, match=f"(?s)`{name}`.*hint:"):
            a + b


@every_model
def test_models_of_other_columns_do_not_merge(model):
    x, y = rows_for(model)
    with pytest.raises(MergeError, match=r"(?s)columns.*hint:"):
        fitted(model, x, y) + fitted(model, x[:, :3], y)


@every_model
def test_a_model_merges_only_with_its_own_kind(model):
    x, y = rows_for(model)
    a = fitted(model, x, y)
    for other in (1, "model", None):
        with pytest.raises(TypeError):
            a + other


@every_class
def test_fixed_priors_of_other_classes_do_not_merge(model):
    """Priors of the classes a, b say nothing about those of a, b, c."""
    x, y = rows_for(model)
    name = "class_prior" if "class_prior" in model.get_params() else "priors"
    model = clone(model).set_params(**{name: [0.4, 0.6]})
    a, b = (fitted(model, x[y != gone], y[y != gone]) for gone in ("a", "b"))
    with pytest.raises(DecibanError):
        a + b


@each([LinearDiscriminantAnalysis(solver="lsqr"), QuadraticDiscriminantAnalysis(solver="eigen")])
def test_model_that_needs_all_rows_at_once_refuses_more(model):
    from sklearn.covariance import EmpiricalCovariance

    x, y = rows_for(model)
    model = clone(model).set_params(covariance_estimator=EmpiricalCovariance()).fit(x, y)
    for learn in (model.partial_fit, model.forget, lambda x, y: model + copy.deepcopy(model)):
        with pytest.raises(NotAdditiveError, match="hint:"):
            learn(x, y)
