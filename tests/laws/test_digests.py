"""The digest of a row depends on its cells alone: not on the order of rows, batches or levels, nor on their form."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2

from deciban import ops
from deciban.data import frames
from deciban.data.blocks import Codes, ColumnBlock, Mixed, Reals
from deciban.data.frames import Column
from deciban.engines.threads import threads
from deciban.families.categorical import Categorical
from deciban.families.gaussian import Gaussian
from deciban.families.poisson import Poisson
from deciban.io import batches
from deciban.rows import digests
from deciban.rows.digests import MISSING, column_factors, level_digests, row_digests, smallest, stirred
from deciban.rows.sampling import folds_by_content
from deciban.rows.schema import Field, Schema

from ..support.strategies import CODES, DENSE, SPARSE, counts

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-300, 2.0**53, np.inf, -np.inf, np.nan])
ONE_MISSING = (MISSING * column_factors(1))[0]  # the digest of a row with one cell, which is missing
SKY, JOB = ["grey", "red", "blue", None], ["cook", "dean", None]


@st.composite
def tables(draw) -> tuple[np.ndarray, int]:
    n, d = draw(st.integers(0, 30)), draw(st.integers(1, 12))
    pool = draw(st.lists(NUMBERS, min_size=1, max_size=5))
    seed = draw(st.integers(0, 999))
    return np.random.default_rng(seed).choice(np.array(pool), (n, d)), seed


def mixed_table(seed: int, n: int = 200) -> dict[str, list]:
    """Numbers, counts, texts and truth values, with missing cells; names of columns are not in the order of kinds."""
    rng = np.random.default_rng(seed)
    sky, rain = rng.choice(np.array(SKY, dtype=object), n).tolist(), rng.choice([True, False, None], n).tolist()
    height = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)).tolist()
    return {
        "sky": sky,
        "height": [None if v != v else v for v in height],
        "job": rng.choice(np.array(JOB, dtype=object), n).tolist(),
        "visits": rng.poisson(1.0, n).tolist(),
        "rain": rain,
    }


def schema_of(columns: list[Column], gaps=None, backwards: bool = False) -> Schema:
    family = {"height": Gaussian(), "visits": Poisson()}
    fields = []
    for column in columns:
        levels = None if column.levels is None else tuple(column.levels[:: -1 if backwards else 1])
        fields.append(Field(column.name, family.get(str(column.name), Categorical()), levels))
    return Schema(tuple(fields), gaps)


# numbers


@given(tables())
def test_order_of_rows_and_borders_of_batches_make_no_difference(table):
    cells, seed = table
    want = row_digests(cells)
    order = np.random.default_rng(seed).permutation(len(cells))
    np.testing.assert_array_equal(row_digests(cells[order]), want[order])
    for start in range(0, len(cells), 7):
        np.testing.assert_array_equal(row_digests(cells[start : start + 7]), want[start : start + 7])


@given(tables())
def test_dense_sparse_and_columns_have_the_same_digests(table):
    cells, _ = table
    want = row_digests(cells)
    forms = [Reals(cells), Reals(np.asfortranarray(cells)), ColumnBlock(list(cells.T)), counts(cells), cells.tolist()]
    forms += [sparse.csr_array(cells), sparse.csc_matrix(cells), sparse.coo_array(cells)]
    forms += [frames.columns(cells), pd.DataFrame(cells), pl.DataFrame(cells), pa.table(pl.DataFrame(cells))]
    for x in forms if len(cells) else forms[:4]:
        np.testing.assert_array_equal(row_digests(x), want, err_msg=type(x).__name__)


@given(tables())
def test_equal_rows_have_equal_digests_and_others_have_others(table):
    cells, _ = table
    bits = np.where(np.isnan(cells), np.nan, cells + 0.0).view(np.uint64)
    of_row = [tuple(row) for row in bits.tolist()]
    digest = row_digests(cells).tolist()
    assert len(set(of_row)) == len(set(digest)) == len(set(zip(of_row, digest, strict=True)))


@given(tables())
def test_without_the_compiled_module_digests_are_the_same(table):
    cells, _ = table
    for x in (Reals(cells), counts(cells)):
        want = row_digests(x)
        with ops.specification():
            np.testing.assert_array_equal(row_digests(x), want)


@pytest.mark.parametrize("form", [*DENSE, *SPARSE, *CODES], ids=str)
def test_whole_numbers_have_the_same_digests_in_any_type_and_layout(form):
    cells = np.random.default_rng(0).integers(0, 9, (50, 9))
    want = row_digests(cells.astype(np.float64))
    np.testing.assert_array_equal(row_digests(form(cells)), want)
    for dtype in (np.int8, np.uint16, np.int64, np.float16, np.float32, ">f8", object):
        np.testing.assert_array_equal(row_digests(cells.astype(dtype)), want)
    np.testing.assert_array_equal(row_digests(cells > 4), row_digests((cells > 4).astype(np.float64)))


def test_all_missing_numbers_are_one_and_zeros_have_no_sign():
    payloads = np.array([0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)
    assert set(row_digests(payloads.view(np.float64)).tolist()) == {int(ONE_MISSING)}
    narrow = np.array([0x7FC0_0000, 0x7F80_0001, 0xFFFF_FFFF], dtype=np.uint32).view(np.float32)
    np.testing.assert_array_equal(row_digests(narrow), row_digests(payloads.view(np.float64)))
    assert row_digests(np.array([[0.0, -0.0]])).tolist() == [0]


def test_a_negative_code_is_a_missing_number():
    codes = np.array([[0, 2], [-1, 1], [3, -1]])
    np.testing.assert_array_equal(row_digests(Codes(codes)), row_digests(np.where(codes < 0, np.nan, codes)))
    np.testing.assert_array_equal(row_digests(Codes(codes.astype(np.float64))), row_digests(Codes(codes)))


def test_cells_that_a_sparse_matrix_stores_twice_are_one():
    twice = sparse.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 2, 3]), shape=(2, 3))
    assert not twice.has_canonical_format
    np.testing.assert_array_equal(row_digests(twice), row_digests(twice.toarray()))
    assert twice.nnz == 3  # the caller's matrix stays as it was


def test_any_number_of_threads_gives_the_same_digests(monkeypatch):
    monkeypatch.setattr(digests, "CELLS", 64)
    cells = np.random.default_rng(0).normal(size=(3000, 5))
    tall = [Column(j, cells[:, j]) for j in range(5)]
    found = []
    for n in (1, 2, 5):
        with threads(n):
            found += [row_digests(cells), row_digests(counts(cells)), row_digests(tall)]
    for digest in found:
        np.testing.assert_array_equal(digest, found[0])


# levels


@given(st.permutations(["a", "b", "", "True", "é", "\ud800"]), st.integers(0, 99))
def test_the_order_of_levels_makes_no_difference(levels, seed):
    known = sorted(levels)
    codes = np.random.default_rng(seed).integers(-1, len(levels), 40).astype(np.int32)
    place = np.array([*(levels.index(level) for level in known), -1], dtype=np.int32)
    np.testing.assert_array_equal(
        row_digests([Column("c", codes, known)]), row_digests([Column("c", place[codes], list(levels))])
    )


def test_numbers_read_as_levels_have_the_digests_of_numbers():
    values = np.array([1.0, 2.5, np.nan, -0.0, 1e300, 1.0, 0.0])
    column = Column("x", values)
    np.testing.assert_array_equal(row_digests([column.as_levels()]), row_digests([column]))
    want = row_digests(np.array([[1.0], [2.0], [1.0]]))
    for levels in ([1, 2], [1.0, 2.0], [np.int8(1), np.float32(2)], [Decimal(1), Decimal(2)]):
        np.testing.assert_array_equal(row_digests([Column("x", np.array([0, 1, 0]), levels)]), want)
    frame = pd.DataFrame({"x": pd.Categorical([1, 2, 1])})
    np.testing.assert_array_equal(row_digests(frame), want)


def test_truth_values_are_numbers_and_missing_levels_are_missing():
    true, text, np_true, one, letter = level_digests([True, "True", np.bool_(True), 1, "1"])
    assert true == one == np_true != text
    assert len({true, letter, text}) == 3
    assert set(level_digests([None, np.nan, pd.NA, pd.NaT, Decimal("NaN")]).tolist()) == {int(MISSING)}
    assert level_digests([0, -0.0, False]).tolist() == [0, 0, 0]
    assert level_digests([10**400])[0] == level_digests([str(10**400)])[0]  # no float is as large
    assert level_digests([]).dtype == np.uint64


def test_a_level_past_those_that_are_known_is_missing():
    """Where a schema has a code in reserve for levels that it has never seen."""
    seen, unseen, missing = row_digests([Column("c", np.array([1, 2, -1]), ["a", "b"])])
    assert unseen == missing == ONE_MISSING
    assert seen != unseen


def test_texts_are_digested_as_one_column_of_levels():
    texts = ["to be", "or not", "to be", ""]
    want = row_digests([Column(0, np.array([0, 1, 0, 2]), ["to be", "or not", ""])])
    for x in (texts, np.array(texts), np.array(texts, dtype=object), [[text] for text in texts]):
        np.testing.assert_array_equal(row_digests(x), want)


# the same table as a frame, columns of an Arrow batch, and blocks


def every_form(table: dict[str, list]):
    arrow = pa.table(table)
    yield "arrow", arrow
    yield "pandas", pd.DataFrame(table)
    yield "pandas over arrow", arrow.to_pandas(types_mapper=pd.ArrowDtype)
    yield "polars", pl.DataFrame(table)
    yield "categorical", pd.DataFrame(table).astype({"sky": "category"})
    yield "dictionary", arrow.set_column(0, "sky", arrow["sky"].combine_chunks().dictionary_encode())
    yield "rows", [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    yield "objects", pd.DataFrame(table).astype(object).to_numpy()
    yield "batch", batches.columns(arrow.to_batches()[0], list(table))


@pytest.mark.parametrize("seed", [0, 1])
def test_frames_columns_and_blocks_have_the_same_digests(seed):
    table = mixed_table(seed)
    want = row_digests(frames.columns(pa.table(table)))
    assert len(set(want.tolist())) > 100
    for name, x in every_form(table):
        np.testing.assert_array_equal(row_digests(x), want, err_msg=name)
        columns = x if name == "batch" else frames.columns(frames.records(x))
        for gaps in (None, Categorical(1.5)):
            for backwards in (False, True):
                if name == "objects":
                    columns = [Column(own, c.values, c.levels) for own, c in zip(table, columns, strict=True)]
                schema = schema_of(columns, gaps, backwards)
                block, _ = schema.read(columns, len(want))
                assert len(block.blocks) == 3 + (gaps is not None)
                np.testing.assert_array_equal(row_digests(block, schema), want, err_msg=name)
                np.testing.assert_array_equal(row_digests(block.rows(3, 90), schema), want[3:90], err_msg=name)


def test_batches_that_know_other_levels_have_the_digests_of_the_whole():
    table = mixed_table(2)
    whole = pa.table(table)
    want = row_digests(frames.columns(whole))
    order = np.argsort([str(level) for level in table["sky"]], kind="stable")  # each batch has few levels
    parts = whole.take(order).to_batches(max_chunksize=17)
    found = np.concatenate([row_digests(batches.columns(part, whole.column_names)) for part in parts])
    np.testing.assert_array_equal(found, want[order])


def test_mixed_columns_without_their_schema_are_refused():
    with pytest.raises(TypeError, match="schema"):
        row_digests(Mixed((Reals(np.zeros((2, 1))),), 2))


# digests as numbers


def distinct(digest: np.ndarray) -> int:
    return 1 + np.count_nonzero(np.diff(np.sort(digest)))


@pytest.mark.parametrize("d", [1, 2, 20])
def test_a_million_rows_of_small_whole_numbers_have_distinct_digests(d):
    number, base = np.arange(1_000_000, dtype=np.uint32), int(np.ceil(1_000_000 ** (1 / d)))
    n = len(number)
    cells = np.stack([number // base**j % base for j in range(d)], axis=1).astype(np.float64)
    digest = row_digests(cells)
    assert distinct(digest) == n
    mixed = stirred(digest)
    expected = 2**32 * -np.expm1(-n / 2**32)  # different halves of n random words: all but 116 of them
    assert abs(distinct(mixed >> np.uint64(32)) - expected) < 6 * np.sqrt(n - expected)
    for modulus in (10, 64):
        times = np.bincount((mixed % np.uint64(modulus)).astype(np.intp), minlength=modulus)
        assert ((times - n / modulus) ** 2 * modulus / n).sum() < chi2.ppf(1 - 1e-4, modulus - 1)


def test_rows_that_differ_in_the_last_bits_or_by_the_columns_have_distinct_digests():
    last = (np.float64(0.1).view(np.uint64) + np.arange(100_000, dtype=np.uint64)).view(np.float64)
    assert distinct(row_digests(last)) == len(last)
    once = np.eye(2000)
    assert distinct(row_digests(np.vstack([once, 2 * once, 1 - once]))) == 6000
    factors = column_factors(100_000)
    assert distinct(factors) == len(factors)
    assert (factors % np.uint64(2) == 1).all()
    np.testing.assert_array_equal(factors[:7], column_factors(7))


@pytest.mark.parametrize("n", [1, 100, 8192, 50_000, 70_000])
def test_the_smallest_of_many_digests_are_those_of_a_sort(n):
    drawn = stirred(np.arange(70_001, dtype=np.uint64))
    for digest in (drawn, np.sort(drawn), drawn % np.uint64(3), np.where(np.arange(70_001) % 17, drawn, np.uint64(0))):
        np.testing.assert_array_equal(smallest(digest, n), np.flatnonzero(digest <= np.sort(digest)[n - 1]))


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(0, 45))
def test_the_smallest_digests_are_found_in_any_order(values, n):
    digest = np.array(values, dtype=np.uint64)
    at = smallest(digest, n)
    assert (np.diff(at) > 0).all()
    limit = sorted(values)[min(n, len(values)) - 1] if min(n, len(values)) else -1
    assert at.tolist() == [i for i, value in enumerate(values) if value <= limit]


def test_known_digests():
    """They are part of samples and folds: other numbers would give other models."""
    assert row_digests(np.array([[1.0, 2.0], [0.0, np.nan]])).tolist() == [2091958431943235420, 12839089562277550894]
    red, number, true, missing = level_digests(["red", 1.5, True, None]).tolist()
    assert (red, number) == (11765665226422741261, 17392519893987271857)
    assert (true, missing) == (4821853668474792541, 10462217858563261366)


def test_folds_by_content_are_those_of_blocks_and_frames_alike():
    table, y = mixed_table(5), np.random.default_rng(0).integers(0, 2, 200)
    arrow, frame = folds_by_content(pa.table(table), y, 5), folds_by_content(pd.DataFrame(table), y, 5)
    np.testing.assert_array_equal(arrow, frame)
    cells = np.random.default_rng(0).poisson(1.0, (200, 4)).astype(np.float64)
    np.testing.assert_array_equal(folds_by_content(cells, y, 5), folds_by_content(sparse.csr_array(cells), y, 5))
