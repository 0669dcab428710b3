"""Ensembles that hold out rows: `fit` is `fit_on`, the order of the rows is free, a copy is another row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from deciban import BayesOptimal, CategoricalNB, GaussianNB, Gibbs, MixedNB, TextClassifier
from deciban.engines import stream
from deciban.rows.raw_rows import SIZE, RawArrays, RawBatches
from deciban.rows.rows import BatchJob, ColumnRoles

# one with leave-one-out in closed form, one that is fitted again
MEMBERS = [("plain", GaussianNB()), ("calibrated", GaussianNB(calibrate=True)), ("chosen", MixedNB())]


def rows_of(n: int, copies: bool = False, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + 0.7 * y[:, None] * [1.0, -0.5]
    X = np.round(X * 2) / 2 if copies else X
    return pd.DataFrame(X, columns=["a", "b"]), np.array(["u", "v", "w"])[y], rng.integers(0, 4, n) * 0.5


def in_batches(X: pd.DataFrame, y: np.ndarray, w: np.ndarray, *borders: int) -> pa.Table:
    whole = pa.Table.from_pandas(X.assign(label=y, w=w), preserve_index=False)
    return pa.concat_tables([whole.slice(a, b - a) for a, b in pairwise([0, *borders, len(y)])])


def assert_same(model, other, X) -> None:
    assert model.held_out_ == other.held_out_
    assert model.names_ == other.names_
    np.testing.assert_allclose(model.log_evidence_, other.log_evidence_, rtol=1e-10)
    np.testing.assert_allclose(model.weights_, other.weights_, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("ensemble", [BayesOptimal, Gibbs])
@pytest.mark.parametrize("copies", [False, True], ids=["distinct", "copies"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize(("n", "held_out"), [(300, "5 folds"), (16_000, "in 3 groups"), (60_000, "8192 rows")])
def test_fit_is_fit_on_in_uneven_batches(ensemble, n, held_out, weighted, copies):
    X, y, w = rows_of(n, copies)
    settings = {"random_state": 0} if ensemble is Gibbs else {}
    model = ensemble(MEMBERS, weights="loo", **settings)
    near = clone(model).fit(X, y, sample_weight=w if weighted else None)
    data = in_batches(X, y, w, 7, n // 2, n // 2 + 1)
    far = model.fit_on(data, features=["a", "b"], sample_weight="w" if weighted else None)
    assert near.held_out_[1].endswith(held_out) or (n == 16_000 and near.held_out_[1].endswith("in 4 groups"))
    assert_same(far, near, X[:50])
    assert far.class_count_.tolist() == near.class_count_.tolist()


@pytest.mark.parametrize("copies", [False, True], ids=["distinct", "copies"])
def test_the_order_of_rows_is_free(copies):
    X, y, w = rows_of(9000, copies)
    order = np.random.default_rng(1).permutation(9000)
    one = BayesOptimal(MEMBERS).fit(X, y, sample_weight=w)
    assert_same(BayesOptimal(MEMBERS).fit(X.iloc[order], y[order], sample_weight=w[order]), one, X[:50])


def test_few_distinct_rows_are_not_held_out_all_at_once():
    """Of many copies of a row, some are held out, and the others train."""
    X, y, _ = rows_of(60_000, copies=True)
    X = X.round()
    found = BayesOptimal([("levels", CategoricalNB(calibrate=True)), ("other", CategoricalNB())]).fit(X - X.min(), y)
    assert found.held_out_ == [f"{SIZE} rows", f"leave-one-out of {SIZE} rows"]
    rows = RawArrays(X, y)
    held = rows.sample().hold_out(5)
    assert held.copies.sum() == SIZE
    part = rows.without(held.left_out(0))
    assert part.arrays()[2].sum() == pytest.approx(60_000 - SIZE)
    assert len(part.whole_rows()[1]) == 60_000 - SIZE


@pytest.mark.parametrize("n", [3, 40, SIZE, SIZE + 1, 20_000, 5 * SIZE - 1, 5 * SIZE, 100_000])
def test_a_refit_has_at_least_four_fifths_of_the_rows(n):
    X, y, _ = rows_of(n)
    held = RawArrays(X, y).sample().hold_out(5)
    sizes = np.bincount(held.group, weights=held.copies)
    assert sizes.sum() == min(n, SIZE)
    assert sizes.max() <= -(-n // 5)
    by_class = [np.bincount(held.group[held.sample.y[held.row] == label], minlength=held.groups) for label in "uvw"]
    assert all(np.ptp(one) <= 1 for one in by_class)


def test_the_same_rows_are_held_out_in_memory_and_elsewhere():
    X, y, w = rows_of(20_000, copies=True)
    near = RawArrays(X, y, w).sample()
    job = BatchJob(stream, in_batches(X, y, w, 5, 9000), ColumnRoles(("a", "b"), "label", "w"))
    far = RawBatches(job).sample()
    np.testing.assert_array_equal(near.key, far.key)
    np.testing.assert_array_equal(near.times, far.times)
    assert near.rows == far.rows


def test_members_without_weights_learn_from_the_other_copies():
    X, y, _ = rows_of(400, copies=True)
    model = BayesOptimal([("near", KNeighborsClassifier()), ("plain", GaussianNB())]).fit(X, y)
    assert model.names_ == ["near", "plain"]
    assert model.held_out_ == ["5 folds", "leave-one-out"]


def test_default_members_are_the_same_for_all_data(monkeypatch):
    monkeypatch.setattr("deciban.rows.raw_rows.SIZE", 300)
    X, y, w = rows_of(700)
    near = BayesOptimal().fit(X, y)
    data = in_batches(X, y, w, 400)
    far = BayesOptimal().fit_on(data, features=["a", "b"])
    assert near.names_ == far.names_ == ["calibrated", "weighted", "tree", "aode", "kdb", "logistic"]
    np.testing.assert_allclose(far.weights_, near.weights_, atol=1e-6)
    np.testing.assert_allclose(far.predict_proba(X[:50]), near.predict_proba(X[:50]), atol=1e-6)
    assert far.models_[-1].feature_names_in_.tolist() == ["a", "b"]
    monkeypatch.setattr("deciban.rows.rows.LARGEST", 1000)
    with pytest.warns(UserWarning, match="`logistic` is left out: logistic regression on standardised columns needs"):
        less = BayesOptimal().fit_on(data, features=["a", "b"])
    assert less.names_ == near.names_[:-1]


def test_ensembles_of_texts_learn_from_data_elsewhere():
    texts = ["good fine day", "bad rainy day", "fine sunny day", "bad grey day", "good sunny", "grey rainy"] * 5
    y = ["up", "down", "up", "down", "up", "down"] * 5
    model = BayesOptimal([("words", TextClassifier()), ("given", TextClassifier(alpha=0.5))])
    near = BayesOptimal(model.models).fit(texts, y)
    far = model.fit_on(pa.table({"text": texts, "label": y}))
    assert_same(far, near, texts[:6])
