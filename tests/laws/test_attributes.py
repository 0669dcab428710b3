"""Attributes are there, or raise an AttributeError that says why: `dir`, `hasattr` and tab completion never fail."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from deciban import (
    AODE,
    BayesNet,
    BayesOptimal,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    Gibbs,
    KDependenceBayes,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.errors import DataError

from ..support.models import MODELS, fitted, rows_for

SETTINGS = {  # those that leave something out
    MixedNB: [
        *({"alpha": 0}, {"weights": "discriminative"}, {"missing": "average"}, {"missing": "informative"}),
        *({"calibrate": True}, {"unseen": "reserve"}, {"families": "histogram"}, {"families": "student"}),
    ],
    TreeAugmentedNB: [{"alpha": 0, "backoff": 0}, {"calibrate": True}],
    AODE: [{"alpha": 0, "backoff": 0}],
    KDependenceBayes: [{"alpha": 0, "backoff": 0}, {"k": 0}],
    BayesNet: [{"edges": [], "alpha": 1.0}],
    GaussianNB: [{"estimate": "bayes"}, {"weights": "discriminative"}],
    PoissonNB: [{"estimate": "bayes"}, {"shape": 0, "exposure": 0}],
    MultinomialNB: [{"alpha": 0}, {"alpha": "auto"}, {"weights": "discriminative"}],
    BernoulliNB: [{"alpha": 0}, {"calibrate": True}],
    CategoricalNB: [{"alpha": 0}],
    ComplementNB: [{"alpha": 0}],
    LogisticRegression: [{}, {"C": np.inf}, {"C": "auto"}, {"l1_ratio": 1.0}],
    BayesOptimal: [{"models": [GaussianNB(), MixedNB(alpha=1)], "weights": [0.5, 0.5]}],
    Gibbs: [{"models": [GaussianNB()], "weights": [1.0], "random_state": 0}],
    TextClassifier: [{}, {"model": "nb-logistic"}, {"model": "bernoulli"}, {"calibrate": True}],
}
EVERY = [*MODELS, *(model(**settings) for model, each in SETTINGS.items() for settings in each)]


def look_at(model) -> None:
    """Ask for every name that the class or the object has."""
    listed = dir(model)
    names = {name for cls in type(model).__mro__ for name in vars(cls)} | set(vars(model))
    for name in sorted(name for name in names if not name.startswith("_")):
        assert hasattr(model, name) == (name in listed), name


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_dir_and_hasattr_never_raise(model):
    look_at(clone(model))
    look_at(fitted(model, *rows_for(model)))


def test_b22_what_is_not_there_says_why():
    model = MixedNB(alpha=0).fit(pd.DataFrame({"a": ["x", "y"]}), ["p", "q"])
    assert "evidence_" not in dir(model)
    assert "families_" in dir(model)
    for error in (AttributeError, DataError):
        with pytest.raises(error, match=r"(?s)`alpha=0` is not a proper prior.*hint:"):
            model.evidence_  # noqa: B018


def test_coverage_2_a_network_without_a_class():
    tables = {"Y": [0.5, 0.5], "V": [[0.4, 0.6], [0.1, 0.9]]}
    look_at(BayesNet.from_edges([("Y", "V")], levels={"Y": ["s", "h"], "V": [1, 0]}, tables=tables))
