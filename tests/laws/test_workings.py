"""The working by hand is the posterior, and its products are P(x, class): of every model that has factors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KDependenceBayes,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    TreeAugmentedNB,
)
from deciban.errors import DataError

from ..support.models import MODELS, fitted, rows_for
from .test_explained import ASKED, FRAME, PRIORS, SETTINGS, Y

WITHOUT = ("calibrate", "weights", "average")  # settings without factors
FRAMED = [MixedNB(**settings) for settings in SETTINGS if not any(name in settings for name in WITHOUT)]
FRAMED += [MixedNB(alpha=0.5), TreeAugmentedNB(), TreeAugmentedNB(backoff=0), KDependenceBayes(k=2), BayesNet()]
FRAMED += [BayesNet(missing="informative"), BayesNet(edges=[("s", "w"), ("w", "u")], backoff=0)]


def check(model, X) -> None:
    for priors in PRIORS:
        why = model.explain(X, form="fractions", priors=priors)
        np.testing.assert_allclose(why.probability, model.predict_proba(X, priors=priors), rtol=1e-7, atol=1e-10)
        logs = np.asarray(model.predict_joint_log_proba(X, priors=priors))
        np.testing.assert_allclose(why.joint, logs, rtol=1e-7, atol=1e-7)
        if not model._fitted_state().spec.structured:  # without counts there are probabilities, of the same product
            own = model._posterior(priors).factors(X, None)
            assert np.isnan(own.factors.numerator).all()
            np.testing.assert_allclose(own.log_prior + own.factors.terms().sum(axis=2), logs, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("model", FRAMED, ids=repr)
def test_products_of_frames_are_the_joint_probabilities(model):
    check(fitted(model, FRAME, Y), ASKED)


NAIVE = [GaussianNB(), BernoulliNB(), BernoulliNB(binarize=None), MultinomialNB(), CategoricalNB(), PoissonNB()]
NAIVE += [BernoulliNB(alpha=0), MultinomialNB(alpha=0.5), CategoricalNB(alpha=0.1), GaussianNB(estimate="bayes")]


@pytest.mark.parametrize("model", NAIVE, ids=repr)
def test_products_of_arrays_are_the_joint_probabilities(model):
    x, y = rows_for(model, n=80)
    x = np.clip(x, 0, 1) if isinstance(model, BernoulliNB) and model.binarize is None else x
    check(fitted(model, x, y), x[:25])


@pytest.mark.parametrize("model", [*MODELS, AODE()], ids=repr)
def test_every_model_has_a_working_or_says_that_it_has_none(model):
    x, y = rows_for(model, n=80)
    model = fitted(model, x, y)
    try:
        why = model.explain(x[:5], form="fractions")
    except DataError as refusal:
        assert "hint:" in str(refusal)
        return
    np.testing.assert_allclose(why.probability, model.predict_proba(x[:5]), rtol=1e-7, atol=1e-10)
    assert "nan" not in str(why) + why._repr_html_()


def test_rows_with_missing_cells_are_taken_too():
    x, y = rows_for(GaussianNB(), n=80)
    x = np.where(np.random.default_rng(0).random(x.shape) < 0.3, np.nan, x)
    check(GaussianNB().fit(x, y), x[:20])
    levels = pd.DataFrame(x).map(lambda cell: None if np.isnan(cell) else "ab"[int(cell > 0)])
    check(TreeAugmentedNB().fit(levels, y), levels[:20])
