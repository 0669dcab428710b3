"""The compiled digests of rows equal their specification, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import Codes, ColumnBlock, Counts, Reals
from deciban.ops import spec
from deciban.ops.digests import add_digests, add_level_digests, stirred

from ..support.builds import every_build, every_hard_case, using
from ..support.strategies import CODES, DENSE, SPARSE, counts, holding, strided

WORDS = st.integers(0, 2**64 - 1)


def words(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, size=size, dtype=np.uint64)


def assert_equal_digests(x) -> np.ndarray:
    factor, start = words(1, x.d) | np.uint64(1), words(2, x.n)
    got, want = start.copy(), start.copy()
    add_digests(x, factor, got)
    spec.add_digests(x, factor, want)
    np.testing.assert_array_equal(got, want)
    return got


@every_build
@every_hard_case
def test_digests_of_numbers_equal_their_specification(build, rows):
    with using(build):
        every = [assert_equal_digests(form(rows.cells)) for form in holding(rows, DENSE + SPARSE)]
    double = [digest for form, digest in zip(holding(rows, DENSE + SPARSE), every, strict=True) if "64" in form.dtype]
    for digest in double:
        np.testing.assert_array_equal(digest, double[0])


@every_build
@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 16, 21])
@given(bits=st.lists(WORDS, min_size=1, max_size=12), seed=st.integers(0, 99))
def test_any_bits_are_digested_like_their_specification(build, d, bits, seed):
    odd = [0x8000_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_0000, 0x7FF0_0000_0000_0000, 1, 0]
    pool = np.array([*bits, *odd], dtype=np.uint64)
    cells = np.random.default_rng(seed).choice(pool, (37, d)).view(np.float64)
    with using(build):
        for x in (Reals(cells), Reals(np.asfortranarray(cells)), Reals(strided(cells)), ColumnBlock(list(cells.T))):
            assert_equal_digests(x)
        assert_equal_digests(counts(cells))


@every_build
@pytest.mark.parametrize("form", CODES, ids=str)
@pytest.mark.parametrize("d", [1, 4, 9])
def test_digests_of_codes_equal_their_specification(build, form, d):
    rng = np.random.default_rng(0)
    cells = rng.integers(-2, 6, (2100, d))
    cells[::50] = 2**31 - 1 if form.dtype == "int32" else 2**62 + 1
    x = form(cells)
    tables = [words(j, size) for j, size in enumerate(rng.integers(1, 7, d))]
    with using(build):
        assert_equal_digests(x)
        got, want = words(0, x.n), words(0, x.n)
        add_level_digests(x, tables, got)
        spec.add_level_digests(x, tables, want)
        np.testing.assert_array_equal(got, want)


@every_build
@given(st.lists(WORDS, max_size=40))
def test_stirring_equals_its_specification(build, digests):
    given = np.array(digests, dtype=np.uint64)
    with using(build):
        np.testing.assert_array_equal(stirred(given), spec.stirred(given))
        np.testing.assert_array_equal(stirred(np.repeat(given, 2)[::2]), spec.stirred(given))


@every_build
def test_no_rows_and_no_columns_have_digests_of_nothing(build):
    with using(build):
        for x in (
            Reals(np.zeros((0, 3))),
            Reals(np.zeros((4, 0))),
            counts(np.zeros((3, 2))),
            Codes(np.zeros((0, 2), int)),
        ):
            assert_equal_digests(x)
        out = words(0, 2)
        add_level_digests(Codes(np.zeros((2, 0), dtype=np.int32)), [], out)
        np.testing.assert_array_equal(out, words(0, 2))


@every_build
def test_sizes_that_do_not_fit_are_refused(build):
    x, one, two = Reals(np.ones((2, 3))), np.ones(1, dtype=np.uint64), np.ones(2, dtype=np.uint64)
    empty = Counts(np.zeros(3, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0), 1)
    with using(build):
        for wrong in (
            lambda: add_digests(x, two, two),
            lambda: add_digests(x, np.ones(3, dtype=np.uint64), one),
            lambda: add_digests(empty, one, one),
            lambda: add_level_digests(Codes(np.zeros((2, 3), dtype=np.int32)), [one, one], two),
            lambda: add_level_digests(Codes(np.zeros((2, 1), dtype=np.int32)), [one[:0]], two),
            lambda: ops.core().stir(two, one),
        ):
            with pytest.raises(ValueError, match="needed"):
                wrong()
