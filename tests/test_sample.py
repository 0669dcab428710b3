"""The sample of rows by content that models with a second stage keep (`rows.sample`)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from deciban import MixedNB
from deciban.data.blocks import Counts, Reals, Table
from deciban.rows.sample import LEAST, RowSample

K = 4


def table(rows: np.ndarray) -> Table:
    """Rows of (cell, class, weight)."""
    return Table(Reals(rows[:, :1].astype(float)), rows[:, 1].astype(np.int32), rows[:, 2].astype(float), K)


def draw(rng: np.random.Generator, n: int, cells: int, skew: float, late: bool) -> np.ndarray:
    share = np.exp(-skew * np.arange(K))
    y = rng.choice(K - late, n, p=share[: K - late] / share[: K - late].sum())
    return np.column_stack([rng.integers(0, cells, n), y, rng.choice([1.0, 1.0, 2.0], n)])


def weights(rows: np.ndarray) -> np.ndarray:
    return np.bincount(rows[:, 1].astype(int), rows[:, 2], minlength=K)


def bits(sample: RowSample, rows: np.ndarray) -> tuple:
    found = sample.selected(weights(rows))
    arrays = found.table.x.values, found.table.y, found.table.weights(), found.times, found.digest, found.share
    return tuple(a.tobytes() for a in arrays)


@st.composite
def histories(draw_):
    """(size, rows at the end, the sample of a history of learning, merging and removing rows)."""
    size, cells = draw_(st.sampled_from([1, 4, 10, 40])), draw_(st.sampled_from([5, 60, 10_000]))
    rng, skew = np.random.default_rng(draw_(st.integers(0, 10_000))), draw_(st.sampled_from([0.0, 1.0, 3.0]))
    rows = draw(rng, 5, cells, skew, late=True)
    sample = RowSample.from_rows(table(rows), size)
    for i, step in enumerate(draw_(st.lists(st.sampled_from(["learn", "merge", "forget"]), max_size=8))):
        new = draw(rng, int(rng.integers(1, 80)), cells, skew, late=i < 3)
        if step == "learn":
            sample, rows = sample + RowSample.from_rows(table(new), size), np.concatenate([rows, new])
        elif step == "merge":
            parts = [RowSample.from_rows(table(part), size) for part in (new[::2], new[1::2])]
            sample, rows = parts[0] + sample + parts[1], np.concatenate([rows, new])
        else:
            rng.shuffle(rows)
            some = int(rng.integers(0, 1 + len(rows) // rng.choice([1, 4, 20])))
            assert sample.never_learned(table(rows[:some])) is None
            sample = sample.without(RowSample.from_rows(table(rows[:some]), None)).known_whole(weights(rows[some:]))
            assert not sample.short
            rows = rows[some:]
    return size, rows, sample


@given(histories())
def test_while_it_is_exact_it_is_a_function_of_the_rows(found):
    size, rows, sample = found
    whole = RowSample.from_rows(table(rows), size)
    assert whole.exact
    if sample.exact:
        assert bits(sample, rows) == bits(whole, rows)
    if sample.complete:
        np.testing.assert_allclose(np.bincount(sample.table.y, sample.weights(), minlength=K), weights(rows))


@given(histories())
def test_every_row_below_the_horizon_is_held(found):
    _, rows, sample = found
    every = RowSample.from_rows(table(rows), None)
    below = every.key < sample.class_horizon[every.table.y]
    assert (sample.class_horizon >= sample.horizon).all()
    np.testing.assert_array_equal(every.key[below], sample.key)
    np.testing.assert_array_equal(every.times[below], sample.times)


@given(st.integers(0, 1000), st.sampled_from([40, 400]))
def test_classes_have_rows_and_their_shares(seed, size):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([np.arange(4000), rng.choice(K, 4000, p=[0.9, 0.09, 0.009, 0.001]), np.ones(4000)])
    sample = RowSample.from_rows(table(rows), size)
    found, n = sample.selected(weights(rows)), weights(rows)
    held = np.bincount(found.table.y, minlength=K)
    assert (held >= np.minimum(LEAST, n)).all()
    assert len(found.times) <= size + LEAST * K
    mass = np.bincount(found.table.y, found.mass, minlength=K)
    rare = np.unique(found.table.y[found.share != 1])
    assert len(rare) > 0
    np.testing.assert_allclose((mass / n)[rare], (mass / n)[rare[0]])  # of the others by chance


def test_a_row_that_was_never_learned_is_noticed():
    rows = np.column_stack([np.arange(30), np.arange(30) % K, np.ones(30)])
    sample = RowSample.from_rows(table(rows), 20)
    for cell, y, w in ((99, 0, 1.0), (3, 0, 1.0), (3, 3, 2.0)):
        asked = np.concatenate([rows[:2], [[cell, y, w]]])
        assert sample.never_learned(table(asked)) == 2
        assert sample.without(RowSample.from_rows(table(asked), None)).short
    assert sample.never_learned(table(np.repeat(rows[:1], 2, axis=0))) == 1


def test_a_full_sample_notices_a_row_with_the_largest_key():
    """The row that is taken away has no room in the sample, and must not be dropped before it is compared."""
    rows = np.column_stack([np.arange(400), np.zeros(400), np.ones(400)])
    sample = RowSample.from_rows(table(rows), 16)
    for cell in range(400, 2000):
        one = table(np.array([[cell, 0.0, 1.0]]))
        removed = RowSample.from_rows(one, None)
        assert sample.without(removed).short == (removed.key[0] < sample.class_horizon[0])


def test_sparse_rows_and_dense_rows_are_one_sample():
    rng = np.random.default_rng(0)
    x = rng.poisson(0.3, (300, 5)).astype(float)
    y, own = rng.integers(0, K, 300).astype(np.int32), sparse.csr_array(x)
    dense = RowSample.from_rows(Table(Reals(x), y, None, K), 50)
    thin = [Table(Counts(own.indptr, own.indices, own.data, 5).rows(*at), y[slice(*at)], None, K)
            for at in pairwise([0, 100, 101, 300])]  # fmt: skip
    a, b, c = (RowSample.from_rows(one, 50) for one in thin)
    both = a + b + c
    np.testing.assert_array_equal(both.table.x.dense(), dense.table.x.values)
    np.testing.assert_array_equal(both.times, dense.times)


def frame(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes", "maybe"], n)
    X = pd.DataFrame({"size": rng.normal(size=n).round(1) + (y == "no"), "sky": rng.choice(["red", "grey", None], n),
                      "wet": rng.choice([True, False], n), "count": rng.poisson(2.0, n)})  # fmt: skip
    return X, y


def test_order_of_columns_and_levels_make_no_difference():
    (X, y), (more, labels) = frame(200, 0), frame(300, 1)
    more["sky"] = more["sky"].replace("grey", "blue")
    settings = {"calibrate": True, "keep_rows": 60}
    turned = more[["wet", "count", "sky", "size"]]
    both = MixedNB(**settings).fit(X, y) + MixedNB(**settings).fit(turned, labels)
    whole = MixedNB(**settings).fit(pd.concat([X, more]), np.concatenate([y, labels]))
    np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(both._state.sample.key, whole._state.sample.key)
    np.testing.assert_array_equal(both._state.sample.times, whole._state.sample.times)


def test_files_have_the_sample_of_the_frame(tmp_path):
    X, y = frame(500, 2)
    X.assign(label=y).to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    for model in (MixedNB(calibrate=True, keep_rows=100), MixedNB(weights="discriminative", keep_rows=100)):
        a = model.fit(X, y)._state
        b = type(model)(**model.get_params()).fit_on(tmp_path / "rows.parquet", target="label")._state
        np.testing.assert_array_equal(a.sample.key, b.sample.key)
        np.testing.assert_array_equal(a.sample.times, b.sample.times)
        np.testing.assert_allclose(a.posterior.proba(X), b.posterior.proba(X), atol=1e-12)


def test_numbers_and_truth_values_are_equal_where_python_says_so():
    y, cells = np.arange(60) % 2, np.arange(60.0) % 7
    X = pd.DataFrame({"a": cells, "b": np.arange(60) % 3 == 0})
    as_numbers = X.assign(a=cells.astype(int), b=X["b"].astype(int))
    families = {"b": "categorical"}
    both = MixedNB(calibrate=True, families=families).fit(X, y)
    both += MixedNB(calibrate=True, families=families).fit(as_numbers, y)
    once = MixedNB(calibrate=True, families=families).fit(X, y)._state.sample
    np.testing.assert_array_equal(both._state.sample.key, once.key)
    np.testing.assert_array_equal(both._state.sample.times, 2 * once.times)
    assert both.forget(as_numbers[:4], y[:4])._state.sample.times.sum() == 116
