"""Blocks: a run of rows, or chosen rows, are those rows, as the kernels take them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from deciban.data.blocks import Codes, Counts, Reals, Table, borders, class_borders

from .support.strategies import CODES, DENSE, SPARSE


def dense(x) -> np.ndarray:
    """The cells of a block."""
    if not isinstance(x, Counts):
        return np.asarray(x.values)
    out = np.zeros((x.n, x.d), dtype=x.values.dtype)
    out[x.row_of(), x.column_of()] = x.stored
    return out


@given(data=st.data(), n=st.integers(0, 9), d=st.integers(1, 5))
def test_rows_cut_and_rows_taken_are_those_rows(data, n, d):
    cells = np.random.default_rng(n * 10 + d).integers(0, 3, (n, d))
    start = data.draw(st.integers(0, n))
    stop = data.draw(st.integers(start, n))
    index = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=8)) if n else [], dtype=np.intp)
    for form in DENSE + SPARSE + CODES:
        x = form(cells)
        np.testing.assert_array_equal(dense(x.rows(start, stop)), cells[start:stop])
        np.testing.assert_array_equal(dense(x.take(index)), cells[index])
        assert x.rows(start, stop).n == stop - start
        assert x.take(index).d == d


@pytest.mark.parametrize("form", DENSE[:4] + CODES[:4], ids=str)
def test_cutting_rows_copies_nothing(form):
    x = form(np.arange(12).reshape(4, 3))
    assert np.shares_memory(x.rows(1, 3).values, x.values)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "float16", "longdouble", ">f8"])
def test_dtypes_that_the_kernels_do_not_know_become_doubles_a_chunk_at_a_time(dtype):
    cells = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    got = Reals(cells).rows(1, 3).values
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, [[0, 1], [1, 1]])
    sparse = Counts(np.array([0, 1, 2]), np.array([0, 1]), np.array([1, 1]).astype(dtype), 2)
    assert sparse.rows(1, 2).values.dtype == np.float64
    np.testing.assert_array_equal(dense(sparse.rows(1, 2)), [[0, 1]])


def test_levels_in_floats_become_codes_and_nan_becomes_missing():
    x = Codes(np.array([[0.0, np.nan], [2.0, 1.0]]), floor=0).rows(0, 2)
    np.testing.assert_array_equal(x.values, [[0, -1], [2, 1]])
    assert x.values.dtype == np.int64


def test_pairs_of_columns_are_a_column_of_pairs():
    codes = np.array([[0, 1, 2], [1, -1, 0], [1, 2, 1]])
    pairs = Codes(codes).pairs([(0, 1), (2, 0)], np.array([2, 3, 3]))
    np.testing.assert_array_equal(pairs.values, [[1, 4], [-1, 1], [5, 3]])


def test_map_sums_over_the_cells_that_are_there():
    cells = np.array([[2.0, np.nan, 0.0], [0.0, 3.0, 5.0], [0.0, 0.0, 0.0]])
    want = np.nansum(gammaln(cells + 1), axis=1)
    for form in DENSE + SPARSE:
        np.testing.assert_allclose(form(cells).map(lambda cell: gammaln(cell + 1)), want, rtol=1e-6)


@given(n=st.integers(0, 5000), width=st.integers(1, 9), least=st.integers(1, 300))
def test_borders_are_even_and_cover_every_row_once(n, width, least):
    cut = borders(n, n * width, least)
    assert [a for a, _ in cut] == [0, *(b for _, b in cut[:-1])]
    assert cut[-1][1] == n
    sizes = [b - a for a, b in cut]
    assert max(sizes) - min(sizes) <= 1
    assert len(cut) == 1 or min(sizes) * width >= least - width
    assert len(cut) & (len(cut) - 1) == 0 or len(cut) == n


def test_table_of_no_rows_is_one_chunk_of_none():
    empty = Table(Reals(np.zeros((0, 3))), np.zeros(0, dtype=np.int32), None, 2)
    assert [chunk.n for chunk in empty.chunks()] == [0]


@given(lengths=st.lists(st.integers(0, 50), max_size=12), k=st.integers(1, 6), parts=st.integers(1, 5))
def test_runs_of_classes_hold_each_class_once(lengths, k, parts):
    x = Counts(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]), np.zeros(0), np.zeros(0), 1)
    runs = class_borders(x, np.arange(len(lengths)) % k, k, parts)
    assert [c for first, last in runs for c in range(first, last)] == list(range(k))
    assert len(runs) <= parts + 1


def test_runs_of_even_classes_are_even():
    x = Counts(np.arange(0, 9001, 90), np.zeros(0), np.zeros(0), 1)
    assert {last - first for first, last in class_borders(x, np.arange(100) % 20, 20, parts=10)} == {2}
