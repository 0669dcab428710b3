"""An explanation is the posterior, taken apart: of every classifier and setting, with missing and unseen cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deciban import (
    AODE,
    BayesNet,
    BayesOptimal,
    GaussianNB,
    KDependenceBayes,
    LogisticRegression,
    MixedNB,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.decision import DECIBAN

from ..support.models import MODELS, fitted, rows_for

RNG = np.random.default_rng(5)
N = 120
Y = RNG.choice(list("abc"), N, p=[0.5, 0.3, 0.2])
CODE = np.array([ord(label) - 97 for label in Y])
FRAME = pd.DataFrame(
    {
        "u": RNG.normal(size=N) + CODE,
        "v": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N) - CODE),
        "s": RNG.choice(["p", "q", None], N),
        "t": RNG.poisson(1 + CODE),
        "w": np.where(RNG.random(N) < 0.3, Y, "z"),
    }
)
ASKED = pd.concat([FRAME[:20], FRAME[:5].assign(s="never seen", u=np.nan), FRAME[:5].assign(u=1e6, w=None)])
SETTINGS = [
    *({}, {"calibrate": True}, {"weights": "discriminative"}, {"missing": "informative"}, {"unseen": "reserve"}),
    *({"average": "subsets"}, {"average": "subsets", "calibrate": True}, {"alpha": 0}, {"priors": "uniform"}),
    *({"families": "gaussian"}, {"families": "histogram"}, {"missing": "informative", "calibrate": True}),
    *({"missing": "informative", "unseen": "reserve"}, {"families": {"t": "poisson", "u": "student"}}),
]
FRAMED = [MixedNB(**settings) for settings in SETTINGS]
FRAMED += [model(**s) for model in (TreeAugmentedNB, AODE, KDependenceBayes) for s in ({}, {"calibrate": True})]
FRAMED += [BayesNet(), BayesOptimal([MixedNB(alpha=1), TreeAugmentedNB()], weights=[0.3, 0.7])]
PRIORS = (None, "uniform", {"a": 0.1, "b": 0.2, "c": 0.7})


def check(model, X) -> None:
    """prior + columns = log odds of the posterior, for the default pair and for any other."""
    for priors in PRIORS:
        logs = np.asarray(model.predict_log_proba(X, priors=priors))
        for of, against in ((None, None), ("a", "c")):
            why = model.explain(X, of=of, against=against, priors=priors)
            each = np.arange(len(why))
            with np.errstate(invalid="ignore"):
                odds = DECIBAN * (logs[each, why.chosen] - logs[each, why.rival])
            known = np.isfinite(odds) & np.isfinite(why.total)
            assert known.any()
            np.testing.assert_allclose(why.total[known], odds[known], rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(why.probability, np.exp(logs[each, why.chosen]), rtol=1e-6, atol=1e-9)
            parts = why.prior + why.decibans.sum(axis=1)
            np.testing.assert_allclose(parts[known], why.total[known], rtol=1e-9, atol=1e-6)
            if of is None:
                assert (logs[each, why.chosen] >= logs.max(axis=1) - 1e-9).all()


@pytest.mark.parametrize("model", FRAMED, ids=repr)
def test_frames_are_explained_by_their_posterior(model):
    check(fitted(model, FRAME, Y), ASKED)


@pytest.mark.parametrize("model", [*MODELS, LogisticRegression()], ids=repr)
def test_arrays_are_explained_by_their_posterior(model):
    x, y = rows_for(model, n=80)
    check(fitted(model, x, y), x[:25])


@pytest.mark.parametrize("model", [TextClassifier(model=kind) for kind in ("multinomial", "bernoulli", "complement")])
def test_texts_are_explained_by_their_posterior(model):
    x, y = rows_for(model, n=60)
    check(fitted(model, x, y), [*x[:10], "unknown words only", ""])


@pytest.mark.parametrize("model", [GaussianNB(), MixedNB(alpha=1)], ids=repr)
def test_calibrated_and_weighted_models_too(model):
    x, y = rows_for(GaussianNB(), n=80)
    for settings in ({"calibrate": True}, {"weights": "discriminative"}):
        check(fitted(model, x, y).set_params(**settings).fit(x, y), x[:20])
