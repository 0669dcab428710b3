"""Standard errors of evidence: of every classifier, from few rows and from many, in any order, from files."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban import LogisticRegression, MixedNB
from deciban.errors import DataError
from deciban.models.model import tally_of

from ..support.models import CLASSIFIERS, MODELS, fitted, rows_for

SMALL = [model for model in MODELS if not isinstance(model, deciban.TextClassifier)]
EVERY = [*SMALL, LogisticRegression(), MixedNB(calibrate=True), MixedNB(weights="discriminative")]
EVERY += [MixedNB(interactions="auto"), MixedNB(missing="informative"), MixedNB(families="histogram", calibrate=True)]
GIVEN = {"families": "gaussian", "alpha": 1}  # with other settings, four times the rows choose other densities
HELD = [model for model in EVERY if not isinstance(model, MixedNB)]
HELD += [MixedNB(**GIVEN, **more) for more in ({}, {"calibrate": True}, {"weights": "discriminative"})]
HELD += [MixedNB(families="student", alpha=1), MixedNB(**GIVEN, average="subsets"), MixedNB(interactions="auto")]
every = pytest.mark.parametrize("model", EVERY, ids=repr)


LEARNED: dict = {}  # models are fitted once: no test changes them


def learned(model, times: int = 1, n: int = 120):
    key = repr(model), times, n
    if key not in LEARNED:
        x, y = rows_for(model, n=n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            LEARNED[key] = fitted(model, np.repeat(x, times, axis=0), np.repeat(y, times)), x, y
    return LEARNED[key]


def with_rows(model, x, y):
    """The model of other rows, with all choices held."""
    state = model._fitted_state()
    table, _ = model._table_of(state, x, y, None)
    tally = tally_of(state.family.fixed(state.params), table)
    if state.tables is not None:
        tables = replace(state.tables, tally=state.tables.chosen.tally(table))
        return model._copy()._adopt(state.adjusted(tally=tally, tables=tables))
    out = replace(state, tally=tally, sample=None, stale=False)
    out.__dict__["family"] = state.family.fixed(state.params)
    return model._copy()._adopt(out)


def training_of(model, x, y):
    """Rows for robust errors, of models that take them."""
    return {} if isinstance(model, LogisticRegression) else {"training": (x, y)}


def kinds_of(model, x, y) -> list[dict]:
    """How a model may be asked: without training rows, unless it needs them, and with them."""
    return [{}] * (not isinstance(model, deciban.AODE)) + [training_of(model, x, y)]


def check(why) -> None:
    for error in (why.prior_error, why.error, why.total_error):
        assert np.isfinite(error).all()
        assert (error >= 0).all()
    for interval, evidence in ((why.interval, why.decibans), (why.total_interval, why.total)):
        known = np.isfinite(evidence)
        assert (interval[known, 0] <= evidence[known]).all()
        assert (evidence[known] <= interval[known, 1]).all()
    assert (why.total_error > 0).any()


@every
def test_errors_are_finite_and_intervals_contain_the_evidence(model):
    model, x, y = learned(model)
    for more in kinds_of(model, x, y):
        check(model.explain(x[:8], error="auto", **more))
        for c in model.classes_[1:]:
            check(model.explain(x[:8], of=model.classes_[0], against=c, error="auto", **more))


@every
def test_intervals_of_probabilities_contain_the_probability(model):
    model, x, y = learned(model)
    for more in kinds_of(model, x, y):
        found, proba = model.predict_interval(x[:8], **more), np.asarray(model.predict_proba(x[:8]))
        assert found.shape == (*proba.shape, 2)
        assert (found[..., 0] >= 0).all()
        assert (found[..., 1] <= 1).all()
        assert (found[..., 0] <= proba).all()
        assert (proba <= found[..., 1]).all()
        wide = model.predict_interval(x[:8], level=0.99, **more)
        assert (wide[..., 0] <= found[..., 0] + 1e-12).all()
        assert (wide[..., 1] >= found[..., 1] - 1e-12).all()


@pytest.mark.parametrize("model", HELD, ids=repr)
def test_errors_shrink_with_the_root_of_the_rows(model):
    few, x, y = learned(model)
    many_x, many_y = np.repeat(x, 4, axis=0), np.repeat(y, 4)
    many = learned(model, times=4)[0] if isinstance(model, LogisticRegression) else with_rows(few, many_x, many_y)
    pair = {"of": "a", "against": "b", "error": "auto"}
    a = few.explain(x[:20], **pair, **training_of(few, x, y)).total_error
    b = many.explain(x[:20], **pair, **training_of(many, many_x, many_y)).total_error
    ratio = float(np.median(b[a > 0] / a[a > 0]))
    assert 0.35 < ratio < 0.7  # smoothing counts for less, and there are 32 groups of rows


@every
def test_errors_do_not_depend_on_the_order_of_rows(model):
    own, x, y = learned(model)
    order = np.random.default_rng(3).permutation(len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = fitted(model, x[order], y[order])
    pair = {"of": "a", "against": "b", "error": "auto"}
    a = own.explain(x[:8], **pair, **training_of(own, x, y))
    b = other.explain(x[:8], **pair, **training_of(own, x[order], y[order]))
    np.testing.assert_allclose(a.error, b.error, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(a.total_error, b.total_error, rtol=1e-4, atol=1e-6)


@every
def test_errors_survive_a_file(model):
    own, x, y = learned(model)
    file = io.BytesIO()
    deciban.save(own, file)
    file.seek(0)
    again = deciban.load(file)
    for more in kinds_of(own, x, y):
        a = own.explain(x[:5], of="a", against="b", error="auto", **more)
        b = again.explain(x[:5], of="a", against="b", error="auto", **more)
        np.testing.assert_allclose(b.error, a.error, rtol=1e-9)
        np.testing.assert_allclose(b.total_error, a.total_error, rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"calibrate": True}, {"families": "gaussian"}, {"families": "histogram"}])
def test_a_missing_cell_has_no_error(settings):
    rng = np.random.default_rng(1)
    y = rng.choice(list("ab"), 100)
    X = pd.DataFrame({"u": rng.normal(size=100) + (y == "a"), "s": rng.choice(list("pqr"), 100)})
    model = MixedNB(**settings).fit(X, y)
    asked = pd.DataFrame({"u": [np.nan, 0.5], "s": ["p", None]})
    for more in ({}, {"training": (X, y)}):
        why = model.explain(asked, error="auto", **more)
        assert why.error[0, 0] == why.error[1, 1] == 0
        assert (why.decibans[[0, 1], [0, 1]] == 0).all()
        assert (why.error[[0, 1], [1, 0]] > 0).all()


def test_given_priors_have_no_error():
    model, x, _ = learned(deciban.GaussianNB())
    assert (model.explain(x[:3], error="auto").prior_error > 0).all()
    assert (model.explain(x[:3], error="auto", priors="uniform").prior_error == 0).all()


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_every_classifier_has_errors_or_says_why_not(kind):
    model = kind()
    x, y = rows_for(model, n=90)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, y)
        try:
            why = model.explain(x[:3], error="auto")
            assert model.predict_interval(x[:3]).shape == (3, 3, 2)
        except DataError as bad:
            assert "hint:" in str(bad)
        else:
            assert np.isfinite(why.total_error).all()
