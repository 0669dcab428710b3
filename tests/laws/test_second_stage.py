"""Models with a second stage (calibration, feature weights, tuned settings, learned cuts) equal a refit after any
history of rows that are learned, merged and forgotten, while their sample is exact."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import deciban
from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    TreeAugmentedNB,
)
from deciban.errors import ForgetError, NotAdditiveError
from deciban.tallies import Bundle, Crosstab, Sums

from ..support.models import each

STAGES = ({"calibrate": True}, {"weights": "discriminative"})
MODELS = [
    *(cls(**stage) for cls in (GaussianNB, BernoulliNB, CategoricalNB, MultinomialNB, PoissonNB) for stage in STAGES),
    *(MixedNB(**stage) for stage in STAGES),
    MixedNB(missing="informative", unseen="reserve", **STAGES[1]),
    GaussianNB(var_smoothing="auto", calibrate=True),
    MultinomialNB(alpha="auto", calibrate=True),
    CategoricalNB(alpha="auto"),
    ComplementNB(alpha="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="loo", calibrate=True),
    QuadraticDiscriminantAnalysis(calibrate=True),
    RegularizedDiscriminantAnalysis(blend="loo", shrinkage="loo"),
    TreeAugmentedNB(calibrate=True, cuts=[0.5, 1.5]),
]
CUT = [TreeAugmentedNB(), AODE(calibrate=True), KDependenceBayes(k=2), BayesNet(calibrate=True)]
N = 400


def rows_of(model) -> tuple[pd.DataFrame | np.ndarray, np.ndarray]:
    """Rows of three classes, the last of which comes late, as does a level of a column; many are alike."""
    rng = np.random.default_rng(7)
    y = np.where(np.arange(N) < N // 2, rng.integers(0, 2, N), rng.integers(0, 3, N))
    x = rng.poisson(0.4 + np.column_stack([y, 2 - y, y == 1, np.ones(N)]))
    if isinstance(model, GaussianNB | LinearDiscriminantAnalysis | QuadraticDiscriminantAnalysis):
        return x + rng.integers(-2, 3, x.shape) / 8.0, y
    if isinstance(model, RegularizedDiscriminantAnalysis):
        return x + rng.normal(size=x.shape), y
    if isinstance(model, BernoulliNB):
        return (x > 0).astype(float), y
    if isinstance(model, CategoricalNB):
        return np.minimum(x, 3), y
    if isinstance(model, MixedNB | TreeAugmentedNB | AODE | KDependenceBayes | BayesNet):
        sky = np.where(rng.random(N) < 0.6, np.array(["red", "grey", "blue"])[y], "grey").astype(object)
        sky[rng.random(N) < 0.1] = None
        size = np.where(rng.random(N) < 0.1, np.nan, x[:, 0] + rng.integers(0, 9, N) / 4)
        return pd.DataFrame({"size": size, "sky": sky, "count": x[:, 1], "wet": x[:, 2] > 0}), y
    return x.astype(float), y


DATA = {repr(model): rows_of(model) for model in (*MODELS, *CUT)}
STEP = st.tuples(st.sampled_from(["learn", "merge", "forget", "ask"]), st.integers(0, N - 1), st.integers(1, 90))


def take(model, at: np.ndarray):
    X, y = DATA[repr(clone(model).set_params(keep_rows=8192))]
    return (X.iloc[at] if isinstance(X, pd.DataFrame) else X[at]), y[at]


def history(model, steps) -> tuple[object, np.ndarray]:
    """(the model after these steps, the rows that it then has, by number; a row may be there several times)"""
    at = np.arange(60)
    learned = clone(model).fit(*take(model, at))
    for what, start, n in steps:
        new = (start + np.arange(n)) % N
        if what == "learn":
            learned.partial_fit(*take(model, new))
        elif what == "merge":
            new = np.arange(start, start + max(n, 30)) % N  # enough for a model of their own
            part = clone(model).fit(*take(model, new))
            learned = part + learned if start % 2 else learned + part
        elif what == "forget":
            gone = np.random.default_rng(start).permutation(len(at))[: max(min(n, len(at) - 30), 1)]
            learned.forget(*take(model, at[gone]))
            at = np.delete(at, gone)
        else:
            learned.predict_proba(take(model, np.arange(3))[0])
        at = at if what in ("forget", "ask") else np.concatenate([at, new])
    return learned, at


def counts(tally: Bundle) -> list[np.ndarray]:
    """Counts that are sums of whole numbers; without codes that no row has any more."""
    parts = [one for part in tally.parts for one in (part.parts if isinstance(part, Bundle) else [part])]
    tables = [one.table[:, one.table.any(axis=0)] for one in parts if isinstance(one, Crosstab)]
    return [tally.parts[0].n, *tables, *(one.total for one in parts if isinstance(one, Sums))]


def check_equal(model, learned, at: np.ndarray) -> None:
    X, y = take(model, at)
    whole = clone(model).partial_fit(X, y, classes=learned.classes_)  # a class may have lost all of its rows
    mine, theirs = (one._fitted_state() for one in (learned, whole))
    if mine.sample is not None:
        a, b = (one.sample.selected(one.n) for one in (mine, theirs))
        for name in ("digest", "times", "share"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        np.testing.assert_array_equal(a.table.y, b.table.y)
    if not isinstance(X, pd.DataFrame):  # levels may be in another order
        for a, b in zip(counts(mine.tally), counts(theirs.tally), strict=True):
            np.testing.assert_array_equal(a, b)
    X, _ = take(model, np.arange(N))
    np.testing.assert_allclose(learned.predict_proba(X), whole.predict_proba(X), atol=1e-9)


@each(MODELS)
@pytest.mark.filterwarnings("ignore")
@given(steps=st.lists(STEP, max_size=6), size=st.sampled_from([24, 100, 8192]))
def test_a_model_equals_a_refit_after_any_history(model, steps, size):
    model = clone(model).set_params(keep_rows=size)
    learned, at = history(model, steps)
    if learned.sample_exact_:
        check_equal(model, learned, at)
    else:
        assert np.isfinite(learned.predict_proba(take(model, np.arange(N))[0])).all()


@each(CUT)
@pytest.mark.filterwarnings("ignore")
@given(steps=st.lists(STEP, max_size=5))
def test_learned_cuts_are_those_of_a_refit_while_all_rows_are_kept(model, steps):
    learned, at = history(model, steps)
    assert not learned.settled_
    check_equal(model, learned, at)


@each(MODELS)
@pytest.mark.filterwarnings("ignore")
def test_one_warning_says_that_too_many_rows_were_forgotten(model):
    model = clone(model).set_params(keep_rows=40)
    learned = clone(model).fit(*take(model, np.arange(N)))
    caught = []
    for start in range(0, N - 60, 20):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            learned.forget(*take(model, np.arange(start, start + 20)))
        caught += [str(one.message) for one in found if "fewer than a new fit" in str(one.message)]
    assert not learned.sample_exact_ or learned._state.sample.complete
    assert len(caught) == (0 if learned._state.sample.complete and learned.sample_exact_ and not caught else 1)
    assert np.isfinite(learned.predict_proba(take(model, np.arange(N))[0])).all()
    learned.partial_fit(*take(model, np.arange(N)))  # with new rows it may be exact again
    if learned.sample_exact_:
        check_equal(model, learned, np.r_[np.arange(N - 60, N), np.arange(N)])


@each(MODELS)
@pytest.mark.filterwarnings("ignore")
def test_files_keep_the_sample_or_drop_it(model):
    model = clone(model).set_params(keep_rows=60)
    learned = clone(model).fit(*take(model, np.arange(200)))
    X, _ = take(model, np.arange(N))
    content, less = deciban.dumps(learned), deciban.dumps(learned, rows=False)
    assert deciban.model_info(content)["rows_kept"] == learned._state.sample.rows_kept > 0
    assert deciban.model_info(less)["rows_kept"] == 0
    again, dropped = deciban.loads(content), deciban.loads(less)
    assert not again._state.stale
    for one in (again, dropped):
        np.testing.assert_array_equal(one.predict_proba(X), learned.predict_proba(X))
    check_equal(model, again.partial_fit(*take(model, np.arange(200, N))), np.arange(N))
    for ask in (lambda: dropped.partial_fit(*take(model, np.arange(9))), lambda: dropped + dropped):
        with pytest.raises(NotAdditiveError, match="keeps none"):
            ask()


@pytest.mark.parametrize("model", [GaussianNB(calibrate=True), MixedNB(weights="discriminative")], ids=repr)
def test_a_row_composed_of_cells_of_other_rows_is_not_forgotten(model):
    """The sums of a model do not show it; the sample does."""
    X, y = take(model, np.arange(100))
    learned = clone(model).fit(X, y)
    before = learned.predict_proba(X)
    odd = X[:1] + 0.0625 if isinstance(X, np.ndarray) else X[:1].assign(size=X["size"].dropna().iloc[50] + 0.0001)
    with pytest.raises(ForgetError, match="row 0"):
        learned.forget(odd, y[:1])
    np.testing.assert_array_equal(learned.predict_proba(X), before)
