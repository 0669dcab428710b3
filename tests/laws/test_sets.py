"""Laws of `predict_set`, over every classifier: coverage of rows like those of calibration, sets that grow with the
coverage, the same sets for rows in any order and for a model from a file."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import deciban
from deciban.classifiers.structured import StructuredNB
from deciban.errors import DataError

from ..support.models import CLASSIFIERS, each, rows_for
from ..support.settings import MEMBERS

SETTINGS: dict[str, dict[str, Any]] = {
    "AutoClassifier": {"models": MEMBERS},
    "BayesOptimal": {"models": MEMBERS},
    "Gibbs": {"models": MEMBERS[:1], "weights": [1.0], "random_state": 0},
}
MODELS = [cls(**SETTINGS.get(cls.__name__, {})) for cls in CLASSIFIERS]
KEEPING = [
    deciban.GaussianNB(calibrate=True),
    deciban.MultinomialNB(alpha="auto"),
    deciban.MixedNB(calibrate=True),
    deciban.MixedNB(weights="discriminative"),
    deciban.LinearDiscriminantAnalysis(calibrate=True),
    deciban.TreeAugmentedNB(),
    deciban.AutoClassifier([("calibrated", deciban.MixedNB(calibrate=True))]),
    deciban.TextClassifier(),
    deciban.TextClassifier("logistic"),
]
LEARNED, CALIBRATION, ALL = slice(0, 300), slice(300, 600), 1500
SPREAD = 3 * np.sqrt(0.09 * (1 / 300 + 1 / 900))  # three standard errors


@cache
def fitted(model) -> tuple[Any, Any, np.ndarray]:
    """(a fitted model, all rows, their labels): 300 are learned, the next 300 calibrate, the others are new."""
    X, y = rows_for(model, ALL)
    order = np.random.default_rng(1).permutation(ALL)
    X, y = X[order], y[order]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X[LEARNED], y[LEARNED]), X, y


def ways(model) -> list[str]:
    """How sets can be calibrated."""
    return ["new", "learned", *(["kept"] if any(model is one for one in KEEPING) else [])]


@cache
def predictor(model, way: str, by_class: bool = False) -> Any:
    """A predictor of sets that is calibrated in this way."""
    one, X, y = fitted(model)
    hows = {"new": {"calibration": (X[CALIBRATION], y[CALIBRATION])}, "kept": {}}
    hows["learned"] = {"calibration": (X[LEARNED], y[LEARNED]), "learned": True}
    with warnings.catch_warnings():  # rows of few levels may look as if they were learned
        warnings.filterwarnings("ignore", ".*that could be looked up", UserWarning)
        return one.set_predictor(by_class, **hows[way])


@each([*MODELS, *KEEPING])
def test_sets_cover_the_share_of_rows_that_is_asked_for(model):
    one, X, y = fitted(model)
    codes = np.searchsorted(one.classes_, y)[600:]
    for way in ways(model):
        sets = predictor(model, way).predict(X[600:], 0.9)
        assert sets.dtype == bool
        assert sets.shape == (900, 3)
        assert sets[np.arange(900), codes].mean() > 0.9 - SPREAD


@each([*MODELS, *KEEPING[:2]])
def test_sets_cover_the_share_of_each_class(model):
    one, X, y = fitted(model)
    codes = np.searchsorted(one.classes_, y)[600:]
    for way in ["new", *(["kept"] if any(model is one for one in KEEPING) else [])]:
        inside = predictor(model, way, True).predict(X[600:], 0.9)[np.arange(900), codes]
        assert (np.bincount(codes, inside) / np.bincount(codes)).min() > 0.9 - SPREAD * np.sqrt(3)


@each([*MODELS, *KEEPING])
def test_sets_grow_with_the_coverage(model):
    X = fitted(model)[1]
    for way in ways(model):
        sets = [predictor(model, way).predict(X[600:], coverage) for coverage in (0.5, 0.7, 0.9, 0.95)]
        for small, large in pairwise(sets):
            assert not (small & ~large).any()
        assert sets[0].sum() < sets[-1].sum()


@each([model for model in MODELS if not isinstance(model, deciban.Gibbs)])
def test_the_order_of_rows_does_not_matter(model):
    one, X, y = fitted(model)
    turn = np.random.default_rng(2).permutation(300)
    new = predictor(model, "new").predict(X[600:])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*that could be looked up", UserWarning)
        turned = one.set_predictor(calibration=(X[CALIBRATION][turn], y[CALIBRATION][turn]))
    np.testing.assert_array_equal(turned.predict(X[600:]), new)
    np.testing.assert_array_equal(turned.predict(X[600:][::-1])[::-1], new)
    if not one._has_members:
        learned = one.set_predictor(calibration=(X[LEARNED][turn], y[LEARNED][turn]), learned=True)
        same = learned.predict(X[600:]) == predictor(model, "learned").predict(X[600:])
        assert same.mean() > 0.999  # fits by iteration differ by rounding


@each(KEEPING)
def test_a_model_from_a_file_gives_the_same_sets(model):
    one, X, _ = fitted(model)
    again = deciban.loads(deciban.dumps(one)).predict_set(X[600:], 0.8)
    np.testing.assert_array_equal(again, predictor(model, "kept").predict(X[600:], 0.8))


@each(KEEPING)
def test_kept_rows_give_about_the_sets_of_all_training_rows(model):
    X = fitted(model)[1][600:]
    same = predictor(model, "kept").predict(X) == predictor(model, "learned").predict(X)
    assert same.mean() > 0.95  # their folds differ


@each([model for model in MODELS if not isinstance(model, deciban.Gibbs)])
def test_training_rows_are_not_taken_for_new_ones(model):
    one, X, y = fitted(model)
    with pytest.raises(DataError, match="learned"):
        one.predict_set(X[600:], calibration=(X[LEARNED], y[LEARNED]))


@each([model for model in KEEPING if not isinstance(model, StructuredNB | deciban.MultinomialNB)])
def test_some_training_rows_are_noticed(model):
    one, X, y = fitted(model)
    with pytest.warns(UserWarning, match="that could be looked up"):
        one.predict_set(X[600:], calibration=(X[:200], y[:200]))
    if not isinstance(model, deciban.TextClassifier):  # some of its short texts are equal
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.predict_set(X[600:], calibration=(X[CALIBRATION], y[CALIBRATION]))
