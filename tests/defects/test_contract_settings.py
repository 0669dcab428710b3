"""`columns="strict"` (F5) and `class_weight` (F8)."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import deciban
from deciban import AODE, BayesNet, KDependenceBayes, MixedNB, TreeAugmentedNB
from deciban.errors import DataError

MODELS = [MixedNB, TreeAugmentedNB, AODE, KDependenceBayes, BayesNet]
each = pytest.mark.parametrize("model", MODELS)


def rows(n: int = 90) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.2, "yes", "no")
    X = pd.DataFrame({"age": rng.normal(size=n) + (y == "yes"), "sky": rng.choice(["grey", "blue"], n)})
    return X, y


@each
def test_f05_strict_models_take_the_columns_of_training_alone(model):
    X, y = rows()
    strict, loose = model(columns="strict").fit(X, y), model().fit(X, y)
    np.testing.assert_array_equal(strict.predict_proba(X[["sky", "age"]]), loose.predict_proba(X))
    with pytest.raises(DataError, match="`age`") as told:
        strict.predict(X[["sky"]])
    assert "hint:" in str(told.value)
    with pytest.raises(DataError, match="`extra`"):
        strict.predict(X.assign(extra=1))
    with pytest.raises(DataError, match=r"did you mean `age` for `Age`\?"):
        strict.predict(X.rename(columns={"age": "Age"}))
    with pytest.raises(DataError, match="`age` is not in X"):
        strict.partial_fit(X[["sky"]], y)
    with pytest.raises(DataError, match="lack `age`"):
        strict.predict_on(X[["sky"]])


@each
def test_f05_other_models_align_and_warn(model):
    X, y = rows()
    fitted = model().fit(X, y)
    with pytest.warns(UserWarning, match=r"`age` not in X: .*; `Age` not known"):
        fitted.predict(X.rename(columns={"age": "Age"}))
    with pytest.raises(ValueError, match="columns"):
        model(columns="loose").fit(X, y)


@each
def test_f08_balanced_classes_are_uniform_priors(model):
    X, y = rows()
    balanced = model(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.class_prior_, [0.5, 0.5])
    np.testing.assert_allclose(balanced.predict_proba(X), model(priors=[0.5, 0.5]).fit(X, y).predict_proba(X))
    assert clone(balanced).get_params()["class_weight"] == "balanced"


def test_f08_a_weight_for_each_class():
    X, y = rows()
    model = MixedNB(class_weight={"yes": 3.0}).fit(X, y)
    share = (y == "yes").mean()
    np.testing.assert_allclose(model.class_prior_[1], 3 * share / (3 * share + 1 - share))
    with pytest.raises(DataError, match="'maybe'"):
        MixedNB(class_weight={"maybe": 1.0}).fit(X, y)
    with pytest.raises(DataError, match="weights are numbers > 0"):
        MixedNB(class_weight={"yes": -1.0}).fit(X, y)
    with pytest.raises(DataError, match="`priors` and `class_weight`"):
        MixedNB(class_weight="balanced", priors=[0.5, 0.5]).fit(X, y)


def test_f08_it_stays_additive():
    X, y = rows()
    make = lambda: MixedNB(class_weight="balanced")  # noqa: E731
    whole = make().fit(X, y)
    updated = make().partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    merged = make().fit(X[:40], y[:40]) + make().fit(X[40:], y[40:])
    forgot = make().fit(X, y).forget(X[:40], y[:40])
    on = make().fit_on(X.assign(label=y))
    for model in (updated, merged, on):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(forgot.predict_proba(X), make().fit(X[40:], y[40:]).predict_proba(X), rtol=1e-9)


def test_f08_settings_are_stored(tmp_path):
    X, y = rows()
    model = MixedNB(class_weight={"yes": 2.0}, columns="strict").fit(X, y)
    deciban.save(model, tmp_path / "m")
    loaded = deciban.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(DataError, match="is not in X"):
        loaded.predict(X[["sky"]])
