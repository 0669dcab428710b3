"""Tallies by themselves: levels that move, bundles, tallies of nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import Codes, Reals
from deciban.tallies import Bundle, ClassWeights, Crosstab, Moments, RowScatter, SharedTally, Sums

from .support.compare import assert_close
from .support.strategies import Rows, families, forms, tally

ONE = np.zeros(3, dtype=np.int32)


def counted(codes: np.ndarray, levels=None) -> Crosstab:
    y = (np.arange(len(codes)) % 2).astype(np.int32)
    return ops.crosstab(Codes(codes), y, None, 2, levels)


@given(seed=st.integers(0, 999), n=st.integers(0, 20), d=st.integers(1, 4))
def test_releveled_crosstab_is_the_crosstab_of_releveled_codes(seed, n, d):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 4, (n, d))
    index = [rng.permutation(7)[:4] for _ in range(d)]
    moved = np.stack([np.where(c < 0, -1, p[c]) for c, p in zip(codes.T, index, strict=True)], axis=1)
    got = counted(codes, np.full(d, 4)).relevel(np.full(d, 7), index)
    want = counted(moved, np.full(d, 7))
    np.testing.assert_array_equal(got.table, want.table)
    np.testing.assert_array_equal(got.n, want.n)
    np.testing.assert_array_equal(got.levels, want.levels)


def test_more_levels_are_levels_that_nobody_has():
    t = counted(np.array([[0, 1], [1, 0], [1, 1]]))
    wide = t.relevel([4, 2])
    np.testing.assert_array_equal(wide.columns()[0], np.pad(t.columns()[0], [(0, 0), (0, 2)]))
    np.testing.assert_array_equal(wide.columns()[1], t.columns()[1])
    assert wide.relevel([4, 2]) is wide


def test_crosstabs_with_other_levels_add_up_by_level():
    a, b = np.array([[0, 3], [1, 0]]), np.array([[2, 0], [0, 1], [5, 1], [1, 1]])
    assert_close(counted(a) + counted(b), counted(np.concatenate([a, b])))
    assert_close(counted(a) + counted(b) - counted(b), counted(a).relevel([6, 4]))


def test_column_without_any_level_is_no_trouble():
    t = counted(np.array([[-1, 0], [-1, 2]]))
    assert [c.shape for c in t.columns()] == [(2, 0), (2, 3)]
    assert_close(t + t, 2 * t)


def test_bundle_adds_takes_away_and_scales_all_its_parts():
    one = Bundle(
        (ClassWeights(np.array([2.0])), SharedTally(Moments(np.array([2.0]), np.array([[2.0]]), np.array([[6.0]]))))
    )
    for made in (one + one, one * 2, one + one + one - one):
        np.testing.assert_array_equal(made.parts[0].n, [4.0])
        np.testing.assert_array_equal(made.parts[1].part.m2, [[8.0]])


def test_number_times_bundle_is_bundle_times_number():
    one = Bundle((ClassWeights(np.array([2.0])), SharedTally(Sums(np.array([2.0]), np.array([[1.0]])))))
    np.testing.assert_array_equal((2 * one).parts[0].n, [4.0])
    np.testing.assert_array_equal((2 * one).parts[1].part.total, [[2.0]])


def test_common_part_stays_when_classes_move():
    one = Bundle((ClassWeights(np.array([2.0])), SharedTally(Sums(np.array([2.0]), np.array([[1.0]])))))
    moved = one.relabel(np.array([2]), 3)
    np.testing.assert_array_equal(moved.parts[0].n, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(moved.parts[1].part.total, [[1.0]])


@pytest.mark.parametrize("family", families())
def test_tally_of_no_rows_counts_in_doubles(family):
    dtype = np.int64 if family.support == "level" else np.float64
    nothing = Rows(np.zeros((0, 3), dtype=dtype), ONE[:0], None, 2)
    assert tally(family, nothing, forms(family)[0]).n.dtype == np.float64


def test_moments_of_all_rows_are_those_of_the_classes_collapsed():
    rng = np.random.default_rng(0)
    x, y = 1e6 + rng.normal(size=(50, 3)), rng.integers(0, 4, 50).astype(np.int32)
    x[::9, 1] = np.nan
    assert_close(ops.moments(Reals(x), y, None, 4).collapse(), ops.moments(Reals(x), 0 * y, None, 1))


def test_few_wide_rows_are_kept_as_rows_and_become_dense_when_there_are_more():
    x, y = np.random.default_rng(0).normal(size=(12, 5)), np.zeros(12, dtype=np.int32)
    parts = [ops.scatter(Reals(x[i : i + 2]), y[i : i + 2], None, 1) for i in range(0, 12, 2)]
    assert isinstance(parts[0] + parts[1], RowScatter)
    total = sum(parts[1:], start=parts[0])
    assert not isinstance(total, RowScatter)
    assert_close(total, ops.scatter(Reals(x), y, None, 1))


def _bytes(sums) -> list[bytes]:
    return [part.tobytes() for part in (sums.low, sums.count, sums.limbs)]


@pytest.mark.parametrize(("d", "k"), [(3, 2), (7, 3), (60, 20)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scatter_has_the_exact_sums_however_rows_are_taken(d, k, order, weighted):
    """Rows of few classes and columns are taken in their order, others class after class."""
    rng = np.random.default_rng(d)
    x, y = np.array(rng.normal(3.0, 10.0, (500, d)), order=order), rng.integers(0, k, 500).astype(np.int32)
    w = rng.choice([0.0, 0.5, 0.1], 500) if weighted else None
    for pooled in (False, True):
        found = ops.scatter(Reals(x), y, w, k, pooled)
        np.testing.assert_allclose(found.scatter, ops.spec.scatter(Reals(x), y, w, k, pooled).scatter, rtol=1e-9)
        assert _bytes(found.sums) == _bytes(ops.exact_sums(Reals(x), y, w, k)[1])


def test_finite_tells_whether_every_number_is_one():
    good = Sums(np.array([1.0]), np.array([[2.0]]))
    assert good.finite()
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = Sums(np.array([1.0]), np.array([[bad]]))
        assert not spoiled.finite()
        assert not Bundle((good, SharedTally(spoiled))).finite()
