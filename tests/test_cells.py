"""Counts on a grid that does not depend on the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.data.blocks import Reals
from deciban.ops import cells as cell_ops
from deciban.tallies import GridCounts
from deciban.tallies.grid import BITS, cell_borders, cell_of

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def cells(x: np.ndarray, y=None, w=None, k: int = 2) -> GridCounts:
    x = np.asarray(x, dtype=float).reshape(len(x), -1)
    y = np.arange(len(x), dtype=np.int32) % k if y is None else np.asarray(y, dtype=np.int32)
    return cell_ops.cells(Reals(x), y, None if w is None else np.asarray(w, dtype=float), k)


def assert_same(a: GridCounts, b: GridCounts) -> None:
    np.testing.assert_allclose(a.n, b.n)
    assert [key.tolist() for key in a.keys] == [key.tolist() for key in b.keys]
    np.testing.assert_allclose(a.table, b.table)


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_every_number_lies_in_its_cell(numbers):
    x = np.array(numbers)
    low, high = cell_borders(cell_of(x))
    assert ((low <= x) & (x <= high)).all()


@given(st.lists(NUMBERS, min_size=2, max_size=50))
def test_keys_are_ordered_as_numbers_are(numbers):
    x = np.sort(np.array(numbers))
    assert (np.diff(cell_of(x)) >= 0).all()


@given(st.floats(1e-300, 1e300), st.sampled_from([-1.0, 1.0]))
def test_cells_are_narrow(size, sign):
    low, high = cell_borders(cell_of(np.array([sign * size])))
    assert (high - low)[0] <= size * 2.0**-BITS * (1 + 1e-9)


def test_zero_has_a_cell_and_so_has_minus_zero():
    assert cell_of(np.array([0.0, -0.0])).tolist() == [0, 0]


def test_whole_numbers_up_to_4096_have_cells_of_their_own():
    key = cell_of(np.arange(-4096.0, 4097.0))
    assert len(np.unique(key)) == len(key)


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e8, 1e200])
def test_counts_are_those_of_the_rows(scale):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(200, 3)), 1) * scale
    x[rng.random(x.shape) < 0.2] = np.nan
    y, w = rng.integers(0, 3, 200), rng.choice([0.5, 1.0, 2.0], 200)
    t = cells(x, y, w, k=3)
    for j, (keys, table) in enumerate(zip(t.keys, t.columns(), strict=True)):
        here = ~np.isnan(x[:, j])
        code = cell_of(x[here, j])
        assert keys.tolist() == np.unique(code).tolist()
        want = [[w[here][(code == key) & (y[here] == c)].sum() for key in keys] for c in range(3)]
        np.testing.assert_allclose(table, want)


def test_far_keys_are_sorted_and_near_ones_are_counted_with_the_same_result(monkeypatch):
    x = np.random.default_rng(0).normal(size=300) * 100
    near = cells(x)
    far = cells(np.r_[x, 1e300, -1e300])
    kept = np.isin(far.keys[0], near.keys[0])
    assert far.keys[0][kept].tolist() == near.keys[0].tolist()
    np.testing.assert_array_equal(far.table[:, kept], near.table)


def test_parts_add_up_to_the_whole_and_can_be_taken_away():
    rng = np.random.default_rng(0)
    x, y = np.round(rng.normal(size=(100, 2)), 1), rng.integers(0, 2, 100)
    a, b, whole = cells(x[:40], y[:40]), cells(x[40:], y[40:]), cells(x, y)
    assert_same(a + b, whole)
    assert_same(b + a, whole)
    assert_same(whole - b, a)
    assert_same(2.0 * a, a + a)
    assert not (whole - b).short().any()
    assert (a - b).short().any()


def test_what_nobody_holds_any_more_is_not_kept():
    whole, one = cells([1.0, 2.0, 3.0]), cells([1.0])
    left = whole - one
    assert len(left.keys[0]) == 2


def test_part_and_relabel_move_columns_and_classes():
    t = cells(np.arange(12.0).reshape(6, 2))
    one = t.part([1])
    assert one.keys[0].tolist() == t.keys[1].tolist()
    np.testing.assert_array_equal(one.table, t.columns()[1])
    moved = t.relabel(np.array([2, 0]), 3)
    np.testing.assert_array_equal(moved.table[[2, 0]], t.table)
    assert moved.n.tolist() == [3.0, 0.0, 3.0]


def test_nothing_and_infinity():
    none = cells(np.full((3, 1), np.nan))
    assert none.keys[0].tolist() == []
    assert none.finite()
    assert_same(none + cells([1.0]), cells([1.0]) + none)
    assert not cells([1.0, np.inf]).finite()
    assert not cells([1.0, -np.inf]).finite()
    assert cells([1.7e308, -1.7e308]).finite()


def test_keys_that_no_number_has_are_not_sound():
    whole = cells([-1.0, 0.0, 1.0])
    assert whole.sound()
    for keys in ([0, 1, 2**40], [-(2**63), 0, 1], [0, 2**62, -(2**62)], [1, 1, 2]):
        assert not replace(whole, keys=(np.array(keys, dtype=np.int64),)).sound()


def test_columns_with_other_keys_add_and_leave_each_other_alone():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 3)) * [1, 1e9, 1e-9], -rng.normal(size=(70, 3)) * [1e300, 1, 1]
    a[:, 1], b[:, 2] = np.nan, np.nan
    assert_same(cells(a) + cells(b), cells(np.r_[a, b]))
    assert_same(cells(np.r_[a, b]) - cells(b), cells(a))
