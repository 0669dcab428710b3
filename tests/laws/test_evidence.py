"""An explanation sums to the log odds: prior + Σ columns, for every classifier and every pair of classes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from deciban.decision import DECIBAN

from ..support.models import MODELS, each, every_model, fitted, reads_of, rows_for


def with_holes(x: np.ndarray, share: float = 0.3) -> np.ndarray:
    """x with missing cells, and a last row that has no others."""
    out = x.astype(float)
    out[np.random.default_rng(3).random(x.shape) < share] = np.nan
    out[-1] = np.nan
    return out


def sums(why) -> np.ndarray:
    return why.prior + why.decibans.sum(axis=1)


@every_model
@pytest.mark.parametrize("k", [2, 3])
def test_prior_and_columns_sum_to_the_log_odds_of_every_pair(model, k):
    x, y = rows_for(model, k=k)
    model = fitted(model, x, y)
    for rows in (x[:20], with_holes(x[:20])):
        why = model.explain(rows)
        for a, b in permutations(range(k), 2):
            odds = DECIBAN * model.log_odds(rows, against=model.classes_[b])[:, a]
            pair = why.of(model.classes_[a]).against(model.classes_[b])
            np.testing.assert_allclose(sums(pair), odds, rtol=1e-9, atol=1e-8)
            np.testing.assert_allclose(pair.total, odds, rtol=1e-9, atol=1e-8)
            asked = model.explain(rows, of=model.classes_[a], against=model.classes_[b])
            np.testing.assert_array_equal(asked.decibans, pair.decibans)


@every_model
def test_other_priors_change_the_prior_and_no_column(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    one, other = model.explain(x[:9], of="a"), model.explain(x[:9], of="a", priors=[0.2, 0.5, 0.3])
    odds = DECIBAN * model.log_odds(x[:9], against="b", priors=[0.2, 0.5, 0.3])[:, 0]
    np.testing.assert_allclose(sums(other.against("b")), odds, rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(one.against("b").decibans, other.against("b").decibans)


@every_model
def test_default_is_the_predicted_class_against_the_runner_up(model):
    x, y = rows_for(model)
    model = fitted(model, x, y)
    why, proba = model.explain(x), model.predict_proba(x)
    assert why.classes[why.chosen].tolist() == model.predict(x).tolist()
    assert (why.rival != why.chosen).all()
    np.testing.assert_allclose(proba[np.arange(len(x)), why.rival], np.sort(proba, axis=1)[:, -2], atol=1e-10)
    np.testing.assert_allclose(why.probability, proba.max(axis=1), atol=1e-10)


@every_model
def test_missing_cell_is_evidence_of_exactly_nothing(model):
    x, y = rows_for(model)
    model, rows = fitted(model, x, y), with_holes(x[:20])
    why = model.explain(rows)
    if len(why.columns) == rows.shape[1]:
        assert (why.decibans[np.isnan(rows)] == 0.0).all()
        assert (why.parts.transpose(0, 2, 1)[np.isnan(rows)] == 0.0).all()
    assert (why.decibans[-1] == 0.0).all()
    assert why.total[-1] == why.prior[-1]


@each([model for model in MODELS if reads_of(model) == "dense"])
def test_columns_that_interact_have_one_part_and_say_so(model):
    x, y = rows_for(model, k=3)
    why = fitted(model, x, y).explain(x[:2])
    split = type(model).__name__ == "LinearDiscriminantAnalysis" or getattr(model, "blend", None) == 1
    split = split and model.estimate == "plugin"
    assert (why.columns == ("(all columns together)",)) is not split
    assert ("interact" in str(why)) is not split


@each([model for model in MODELS if reads_of(model) == "dense"])
def test_one_column_is_always_its_own_part(model):
    x, y = rows_for(model, d=1)
    why = fitted(model, x, y).explain(x[:5])
    assert why.columns == ("x0",)
    assert why.note == ""
