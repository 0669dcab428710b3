"""How many functions of this library a prediction of one row calls: latency that does not depend on the machine.

The counts may fall, and are then written down here; they may not rise.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sklearn.base import clone

import deciban

from ..support.data import CODES, COUNTS, NUMBERS, PRESENCES, TEXTS, Data
from ..support.settings import MEMBERS

HOME = str(Path(deciban.__file__).parent)
# model, rows, most calls; at most 16 for classifiers of arrays, at most 75 for MixedNB
CALLS: list[tuple[Any, Data, int]] = [
    (deciban.GaussianNB(), NUMBERS, 12),
    (deciban.BernoulliNB(), PRESENCES, 12),
    (deciban.MultinomialNB(), COUNTS, 12),
    (deciban.ComplementNB(), COUNTS, 12),
    (deciban.CategoricalNB(), CODES, 16),
    (deciban.PoissonNB(), COUNTS, 12),
    (deciban.LinearDiscriminantAnalysis(), NUMBERS, 14),
    (deciban.QuadraticDiscriminantAnalysis(), NUMBERS, 15),
    (deciban.RegularizedDiscriminantAnalysis(), NUMBERS, 15),
    (deciban.FisherDiscriminant(), NUMBERS, 15),
    (deciban.LogisticRegression(), NUMBERS, 14),
    (deciban.KernelLogisticRegression(C=1.0, bandwidth=1.0), NUMBERS, 27),
    (deciban.MixedNB(), NUMBERS, 75),
    (deciban.TreeAugmentedNB(), CODES, 59),
    (deciban.KDependenceBayes(), CODES, 57),
    (deciban.AODE(), CODES, 55),
    (deciban.BayesNet(), CODES, 57),
    (deciban.TextClassifier(), TEXTS, 28),
    (deciban.BayesOptimal(MEMBERS), NUMBERS, 78),
    (deciban.AutoClassifier(MEMBERS), NUMBERS, 110),
    (deciban.Gibbs(MEMBERS[:1], weights=[1.0], random_state=0), NUMBERS, 42),
]


def own_calls(function: Any, *args: Any) -> int:
    """How many Python functions of the library a call enters."""
    count = 0

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(HOME)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function(*args)
    finally:
        sys.setprofile(before)
    return count


def test_every_classifier_is_counted():
    public = {getattr(deciban, name) for name in deciban.__all__}
    classifiers = {thing for thing in public if isinstance(thing, type) and hasattr(thing, "predict_proba")}
    assert {type(model) for model, _, _ in CALLS} == classifiers


@pytest.mark.parametrize(("model", "data", "most"), CALLS, ids=[type(model).__name__ for model, _, _ in CALLS])
def test_one_row_takes_no_more_calls_than_it_did(model, data, most):
    X = data.X.to_numpy() if hasattr(data.X, "to_numpy") else data.X
    model = clone(model).fit(X, data.y)
    row = X[:1]
    model.predict_proba(row)  # parameters are estimated when first asked for
    assert 0 < own_calls(model.predict_proba, row) <= most
