"""Rows that were learned are left out by every classifier; rows that were not, where the statistics show it, are an
error."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import deciban as d
from deciban.errors import ForgetError
from tests.support.models import MODELS, PLAIN, each, reads_of, rows_for

LEFT_OUT = [*MODELS, d.TextClassifier(), d.TextClassifier(model="bernoulli"), d.TextClassifier(model="complement")]
FAMILIES = ["gaussian", "student", "lognormal", "exponential", "poisson", "gamma_poisson", "bernoulli", "categorical"]
LEFT_OUT += [d.MixedNB(families=family) for family in [*FAMILIES, "histogram"]]


def positive(model, x):
    """Rows that the model can learn: most families of MixedNB take whole numbers ≥ 0, lognormal > 0."""
    if not isinstance(model, d.MixedNB) or not isinstance(model.families, str):
        return x
    return np.round(np.abs(x) * 3) + (model.families == "lognormal")


def unlike(model, x):
    """Rows that cannot be among these."""
    if isinstance(model, d.TextClassifier):
        return np.array([text + " word0" * 1000 for text in x], dtype=object)
    if isinstance(model, d.BernoulliNB):
        return np.where(x > model.binarize, 0.0, 5.0)
    return x + (10_000 if reads_of(model) == "counts" or isinstance(model, d.MixedNB) else 100)


@each(LEFT_OUT)
def test_rows_that_were_learned_are_left_out(model) -> None:
    x, y = rows_for(model)
    x = positive(model, x)
    learned = clone(model).fit(x, y)
    assert np.isfinite(np.exp(learned.leave_one_out(x, y))).all()
    learned.leave_one_out(x[5:9], y[5:9])


NOT_SHOWN = ["MixedNB(families='bernoulli')", "TreeAugmentedNB(cuts=[0.5, 1.5])"]  # large numbers have cells there


@each([model for model in LEFT_OUT if repr(model) not in NOT_SHOWN])
def test_rows_that_were_never_learned_are_an_error(model) -> None:
    x, y = rows_for(model)
    x = positive(model, x)
    if isinstance(model, d.BernoulliNB):
        x = np.where(y[:, None] == "a", -5.0, x)  # class a has no column
    learned = clone(model).fit(x, y)
    both, of = np.concatenate([x, unlike(model, x)]), np.concatenate([y, y])
    with pytest.raises(ForgetError, match="never learned"):
        learned.leave_one_out(both, of)


@each([model for model in MODELS if type(model) not in PLAIN])
def test_weights_and_missing_cells_are_no_reason(model) -> None:
    rng = np.random.default_rng(0)
    x, y = rows_for(model)
    w = rng.choice([0.001, 1.0, 1.0, 3.0, 50.0], len(y))
    learned = clone(model).fit(x, y, sample_weight=w)
    learned.leave_one_out(x, y, sample_weight=w)
    if reads_of(model) == "dense" or isinstance(model, d.MixedNB):
        return
    gaps = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    clone(model).fit(gaps, y).leave_one_out(gaps, y)


TABLES = {
    "far": lambda rng: 1e15 + 0.1 * rng.normal(size=(40, 2)),
    "constant": lambda rng: np.column_stack([rng.normal(size=40), np.full(40, 0.1)]),
    "constant and far": lambda rng: np.column_stack([rng.normal(size=40), np.full(40, 1e15 + 0.125)]),
    "twice": lambda rng: np.repeat(rng.normal(size=(20, 2)), 2, axis=0),
    "large": lambda rng: 1e150 * rng.normal(size=(40, 2)),
    "small": lambda rng: 1e-150 * rng.normal(size=(40, 2)),
    "outlier": lambda rng: np.vstack([[1e3, -1e3], rng.normal(size=(39, 2))]),
    "two rows": lambda rng: np.array([[1.0, 3.0], [2.0, 1e8], [2.5, 7.0], [9.0, 1.0]]) + 1e-9 * rng.normal(size=(4, 2)),
}
CONTINUOUS = [model for model in MODELS if reads_of(model) in ("dense", "reals") and "BernoulliNB" not in repr(model)]
CONTINUOUS += [d.MixedNB(families="gaussian"), d.MixedNB(families="student"), d.MixedNB()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", TABLES)
@each(CONTINUOUS)
def test_rounding_is_no_reason(model, table: str) -> None:
    for seed in range(3):
        x = TABLES[table](np.random.default_rng(seed))
        y = np.arange(len(x)) % 2
        try:
            learned = clone(model).fit(x, y)
        except (ValueError, ArithmeticError):  # too large, or singular: no model
            continue
        learned.leave_one_out(x, y)
        learned.leave_one_out(x[:3], y[:3])
