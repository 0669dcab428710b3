"""Distinct rows as a tally: the laws of all tallies, counts by brute force, and the file's suspicion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.tallies import DistinctRows

from .support.compare import assert_close, assert_same_bits

SEEDS = st.integers(0, 9999)
WIDE = [3, 40]  # columns whose keys are one word, or several


def rows(seed: int, n: int = 30, d: int = 3, k: int = 3, levels: int = 3, weighed: bool = False):
    rng = np.random.default_rng(seed)
    w = rng.choice([0.0, 0.5, 1.0, 2.0], n) if weighed else None
    return rng.integers(-1, levels, (n, d)), rng.integers(0, k, n).astype(np.int32), w, k


def take(x, y, w, k, at) -> DistinctRows:
    return DistinctRows.of(x[at], y[at], None if w is None else w[at], k)


@given(seed=SEEDS, d=st.sampled_from(WIDE), weighed=st.booleans())
def test_entries_are_the_distinct_rows_in_order(seed, d, weighed):
    x, y, w, k = rows(seed, d=d, weighed=weighed)
    t = DistinctRows.of(x, y, w, k)
    want = Counter()
    for row, c, weight in zip(x.tolist(), y.tolist(), np.ones(len(y)) if w is None else w, strict=True):
        want[(*row, c)] += weight
    want = sorted((key, weight) for key, weight in want.items() if weight)
    assert [((*row, c), v) for row, c, v in zip(t.rows.tolist(), t.y.tolist(), t.w.tolist(), strict=True)] == want
    assert t.sound()


@given(seed=SEEDS, d=st.sampled_from(WIDE), weighed=st.booleans(), cut=st.integers(0, 30))
def test_parts_add_up_take_away_and_scale(seed, d, weighed, cut):
    given_rows = rows(seed, d=d, weighed=weighed)
    whole, a, b = (take(*given_rows, at) for at in (slice(None), slice(0, cut), slice(cut, None)))
    assert_same_bits(a + b, whole)
    assert_same_bits(b + a, whole)
    assert_close(whole - b, a)
    assert_same_bits(a + a, 2 * a)
    assert len((a - a).w) == 0
    assert len((0 * a).w) == 0
    assert not (a - a).short().any()
    assert (0 * a).sound()


@given(seed=SEEDS, weighed=st.booleans())
def test_order_of_rows_is_free(seed, weighed):
    x, y, w, k = rows(seed, weighed=weighed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same_bits(DistinctRows.of(x, y, w, k), take(x, y, w, k, order))


@given(seed=SEEDS, d=st.integers(1, 4), weighed=st.booleans())
def test_counts_are_those_of_the_rows(seed, d, weighed):
    x, y, w, k = rows(seed, d=d, weighed=weighed)
    t = DistinctRows.of(x, y, w, k, np.full(d, 4))
    weight = np.ones(len(y)) if w is None else w
    for columns in ([], [0], [d - 1, 0] if d > 1 else [0], list(range(d))):
        want = np.zeros((k, *[4] * len(columns)))
        for at in product(range(k), *[range(4)] * len(columns)):
            want[at] = weight[(y == at[0]) & (x[:, columns] == at[1:]).all(axis=1)].sum()
        np.testing.assert_array_equal(t.counts(columns), want)
    np.testing.assert_array_equal(t.crosstab().table, np.hstack([t.counts([j]) for j in range(d)]))


@given(seed=SEEDS, d=st.integers(1, 4))
def test_moved_levels_and_classes_are_those_of_moved_rows(seed, d):
    x, y, w, k = rows(seed, d=d)
    rng = np.random.default_rng(seed)
    index = [rng.integers(-1, 5, 3) for _ in range(d)]
    moved = np.stack([np.append(at, -1)[codes] for at, codes in zip(index, x.T, strict=True)], axis=1)
    t = DistinctRows.of(x, y, w, k, np.full(d, 3))
    assert_same_bits(t.relevel(np.full(d, 5), index), DistinctRows.of(moved, y, w, k, np.full(d, 5)))
    assert_same_bits(t.relevel(np.full(d, 6)), DistinctRows.of(x, y, w, k, np.full(d, 6)))
    order = rng.permutation(5)[:k]
    assert_same_bits(t.relabel(order, 5), DistinctRows.of(x, order[y].astype(np.int32), w, 5, np.full(d, 3)))
    assert_same_bits(t.part([d - 1]), DistinctRows.of(x[:, [d - 1]], y, w, k, np.array([3])))


def test_tally_of_no_rows_is_zero():
    t, nothing = DistinctRows.of(*rows(0)), take(*rows(0), slice(0, 0))
    assert nothing.n.dtype == nothing.w.dtype == np.float64
    assert nothing.sound()
    for same in (t + nothing, nothing + t, t - nothing):
        assert_same_bits(same, t)
    assert not nothing.counts([0]).any()


def test_more_taken_away_than_there_was_is_told_by_class():
    x, y, w, k = rows(0)
    assert (take(x, y, w, k, y == 0) - take(x, y, w, k, y == 1)).short().tolist() == [False, True, False]
    other = take(x, y, w, k, slice(0, 5)) - take(x + 1, y, w, k, slice(0, 5))  # as many rows, but others
    assert other.short().any()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: replace(t, rows=t.rows[::-1]),
        lambda t: replace(t, rows=t.rows.astype(np.int64)),
        lambda t: replace(t, rows=t.rows + 9),
        lambda t: replace(t, rows=t.rows - 9),
        lambda t: replace(t, y=t.y + 7),
        lambda t: replace(t, w=0 * t.w),
        lambda t: replace(t, w=t.w[:-1]),
        lambda t: replace(t, levels=t.levels[:-1]),
        lambda t: replace(t, levels=t.levels - 9),
        lambda t: replace(t, weight=t.weight[:-1]),
        lambda t: replace(t, rows=np.repeat(t.rows[:1], len(t.w), axis=0), y=0 * t.y),
    ],
)
def test_what_does_not_fit_together_is_not_sound(spoil):
    assert not spoil(DistinctRows.of(*rows(0))).sound()
