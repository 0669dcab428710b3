"""The compiled twin of every operation that makes a tally equals its specification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import Codes, ColumnBlock, Reals
from deciban.families import find
from deciban.ops import spec
from deciban.rows.labels import label_codes

from ..support.builds import every_build, every_hard_case, using
from ..support.compare import assert_equal_tallies, assert_same_bits
from ..support.strategies import CODES, DENSE, SPARSE, holding, some_rows


def in_many_forms(op, rows, forms, *more):
    """(compiled, specification) of an operation in each form that can hold the cells."""
    for form in holding(rows, forms):
        x = form(rows.cells)
        with ops.specification():
            want = getattr(ops, op)(x, rows.y, rows.w, rows.k, *more)
        yield getattr(ops, op)(x, rows.y, rows.w, rows.k, *more), want


@every_build
@every_hard_case
def test_sums_equal_their_specification(build, rows):
    with using(build):
        for above in (None, 0.0, 0.5):
            for got, want in in_many_forms("sums", rows, DENSE + SPARSE, above):
                assert_same_bits(got, want)


@every_build
@every_hard_case
def test_moments_equal_their_specification(build, rows):
    with using(build):
        for got, want in in_many_forms("moments", rows, DENSE + SPARSE):
            assert_same_bits(got, want)


@every_build
@every_hard_case
def test_scatter_equals_its_specification(build, rows):
    whole = rows.take(np.flatnonzero(~np.isnan(rows.cells).any(axis=1)))
    with using(build):
        for pooled in (False, True):
            for form in holding(rows, DENSE if rows.cells.size < 1e4 else DENSE[:2]):
                got = ops.scatter(form(rows.cells), rows.y, rows.w, rows.k, pooled)
                want = spec.scatter(form(whole.cells), whole.y, whole.w, whole.k, pooled)
                assert_equal_tallies(got, want, within=1e-7)
                turned = got.dense().scatter.transpose(0, 2, 1)
                largest = np.abs(turned).max(initial=0.0)
                np.testing.assert_allclose(got.dense().scatter, turned, rtol=0, atol=1e-12 * largest)


@every_build
@every_hard_case
def test_tallies_are_the_same_bits_in_any_layout(build, rows):
    """Rows side by side, columns side by side, and columns that lie apart, as Arrow has them."""
    plain, *others = [form for form in DENSE if form.dtype == "float64"]
    with using(build):
        for op in ("sums", "moments", "scatter"):
            want = getattr(ops, op)(plain(rows.cells), rows.y, rows.w, rows.k)
            for form in others:
                assert_same_bits(getattr(ops, op)(form(rows.cells), rows.y, rows.w, rows.k), want)


@every_build
@every_hard_case
def test_columns_that_lie_apart_become_rows(build, rows):
    with using(build):
        for form in holding(rows, DENSE):
            x = form(rows.cells)
            got = ops.in_rows(x).values
            assert got.flags.c_contiguous
            assert got.dtype == form.dtype
            np.testing.assert_array_equal(got, spec.in_rows(x).values)
            np.testing.assert_array_equal(got, rows.cells.astype(form.dtype))


@every_build
@given(st.lists(st.floats() | st.just(np.nan), max_size=40))
def test_the_largest_of_a_column_equals_its_specification(build, cells):
    with using(build):
        assert ops.max_abs(np.array(cells)) == spec.largest(np.array(cells))
        assert ops.max_abs(np.array(cells)[::2]) == spec.largest(np.array(cells)[::2])


@every_build
@given(st.lists(st.floats() | st.floats(0, 1e-305) | st.floats(0.5, 2.0), max_size=40))
def test_logarithms_are_the_bits_of_their_specification(build, cells):
    column = np.array(cells, dtype=np.float64)
    rows = np.stack([column, column[::-1]], axis=1)
    with using(build):
        for x in (Reals(rows), Reals(np.asfortranarray(rows)), ColumnBlock([column, column[::-1]]), Reals(rows[::2])):
            np.testing.assert_array_equal(ops.logs(x).dense(), spec.logs(x).dense())


@every_build
@pytest.mark.parametrize("size", [0, 1, 3, 8, 17, 40, 1029])
def test_what_is_not_finite_is_found_wherever_it_is(build, size):
    cells = np.random.default_rng(0).uniform(-1, 1, size) * 1e308  # whose sum overflows
    cells[::2] = np.abs(cells[::2])
    with using(build):
        assert ops.all_finite(cells)
        for at in range(min(size, 40)):
            for wrong in (np.nan, np.inf, -np.inf):
                other = cells.copy()
                other[at] = wrong
                single = (other / 1e300).astype(np.float32)
                forms = other, other.reshape(1, -1), np.asfortranarray(np.tile(other, (3, 1))), single
                assert not any(map(ops.all_finite, forms))
                assert ops.all_finite(other[at + 1 :: 2])


@every_build
@every_hard_case
def test_quartic_equals_its_specification(build, rows):
    rows = rows.take(np.flatnonzero(~np.isnan(rows.cells).any(axis=1)))
    if np.abs(rows.cells).max(initial=0.0) > 1e100 or rows.cells.size > 1e4:
        return  # fourth powers overflow; the matrices are large
    with using(build):
        for got, want in in_many_forms("quartic", rows, DENSE[:2]):
            assert_equal_tallies(got, want, within=1e-6)


@every_build
@every_hard_case
def test_class_weights_equal_their_specification(build, rows):
    with ops.specification():
        want = ops.class_weights(rows.y, rows.w, rows.k)
    with using(build):
        np.testing.assert_allclose(ops.class_weights(rows.y, rows.w, rows.k), want, rtol=1e-12)


@every_build
@given(data=st.data())
def test_crosstab_equals_its_specification(build, data):
    rows = data.draw(some_rows(find()["categorical"]()))
    levels = rows.cells.max(axis=0, initial=-1) + 3
    with using(build):
        for got, want in in_many_forms("crosstab", rows, CODES):
            assert_equal_tallies(got, want)
        for got, want in in_many_forms("crosstab", rows, CODES, levels):
            assert_equal_tallies(got, want)


@every_build
@given(data=st.data())
def test_pairs_equal_their_specification(build, data):
    rows = data.draw(some_rows(find()["tree"]()))
    levels = rows.cells.max(axis=0, initial=-1) + 2
    with using(build):
        for got, want in in_many_forms("pairs", rows, CODES):
            assert_equal_tallies(got, want)
        for got, want in in_many_forms("pairs", rows, CODES[:1], levels):
            assert_equal_tallies(got, want)


@every_build
def test_pairs_of_many_rows_and_of_many_levels_equal_their_specification(build):
    """More rows than a block has, tables too large for the first cache, levels past a byte; all weighed and not."""
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(-1, top, 20_000) for top in (3, 40, 300, 1, 7)], axis=1)
    y = rng.integers(0, 3, 20_000).astype(np.int32)
    with using(build):
        for w in (None, rng.choice([0.0, 0.5, 2.0], 20_000)):
            for x in (Codes(cells), Codes(cells[:, [0, 1, 3, 4]].astype(np.int32))):
                assert_equal_tallies(ops.pairs(x, y, w, 3), spec.pairs(x, y, w, 3))


@every_build
@given(data=st.data())
def test_tallies_of_any_reals_equal_their_specification(build, data):
    rows = data.draw(some_rows(find()["gaussian"]()))
    with using(build):
        for op in ("sums", "moments"):
            for got, want in in_many_forms(op, rows, DENSE + SPARSE):
                assert_same_bits(got, want)


@every_build
@every_hard_case
def test_least_equals_its_specification(build, rows):
    codes = Codes(np.nan_to_num(np.clip(rows.cells, -9, 9)).astype(np.int32))
    with using(build):
        for x in (*(form(rows.cells) for form in DENSE + SPARSE if form.dtype == "float64"), codes):
            assert ops.minimum(x) == spec.least(x)


@every_build
@given(
    y=st.lists(st.integers(-300, 300), max_size=40),
    classes=st.none() | st.lists(st.integers(-300, 300), min_size=1, max_size=20, unique=True).map(sorted),
    dtype=st.sampled_from(["int64", "int32"]),
)
def test_label_codes_equal_those_of_a_sort(build, y, classes, dtype):
    y = np.array(y, dtype=dtype)
    classes = None if classes is None else np.array(classes)
    with ops.specification():
        want = label_codes(y, classes)
    with using(build):
        got = label_codes(y[::-1][::-1], classes)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@every_build
@given(
    texts=st.lists(st.text("aäb\U0001f600", max_size=3), min_size=1, max_size=6),
    repeats=st.integers(1, 3),
    classes=st.none() | st.lists(st.text("aäb", min_size=1, max_size=3), min_size=1, unique=True).map(sorted),
)
def test_codes_of_texts_equal_those_of_a_sort(build, texts, repeats, classes):
    y = np.tile(np.array([*texts, "ab"]), 600)[::repeats]
    classes = None if classes is None else np.array(classes)
    with ops.specification():
        want = label_codes(y, classes)
    with using(build):
        got = label_codes(y, classes)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


@every_build
def test_texts_that_all_differ_have_codes(build):
    y = np.array([f"{i:05}" for i in range(3000)])
    with using(build):
        classes, codes = label_codes(y[::-1])
    assert codes.tolist() == list(range(3000))[::-1]
    assert classes.tolist() == y.tolist()


@every_build
def test_labels_at_the_ends_of_the_integers_have_codes(build):
    ends = np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min, 0])
    with using(build):
        assert label_codes(ends)[1].tolist() == [2, 0, 1]
        assert label_codes(ends[:1], ends[:1])[1].tolist() == [0]
