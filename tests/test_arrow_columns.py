"""Columns of Arrow as blocks of numbers: every type, missing cells, slices, chunks; in place where they can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import ColumnBlock, Reals

from .support.compare import assert_same_bits

pa = pytest.importorskip("pyarrow")

from pyarrow import parquet  # noqa: E402

from deciban import GaussianNB  # noqa: E402
from deciban.io import batches, readers  # noqa: E402
from deciban.io import parquet as columnar  # noqa: E402

WHOLE = st.integers(0, 100)
KINDS = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), WHOLE),
    **{name: st.floats(-100, 100, width=16) for name in ("float16", "float32", "float64")},
    "decimal128(7, 2)": st.decimals(-99, 99, places=2),
    "bool_": st.booleans(),
}


def arrow_type(name: str):
    return pa.decimal128(7, 2) if name.startswith("decimal") else getattr(pa, name)()


@st.composite
def columns(draw) -> tuple[list[list], list]:
    """(cells, chunked arrays of them) of some columns; every chunk is a slice out of the middle of an array."""
    n = draw(st.integers(0, 30))
    lists, arrays = [], []
    for _ in range(draw(st.integers(1, 10))):
        name = draw(st.sampled_from(sorted(KINDS)))
        values = draw(st.lists(st.none() | KINDS[name], min_size=n, max_size=n))
        if not draw(st.booleans()):
            values = [draw(KINDS[name]) if value is None else value for value in values]
        cut = draw(st.integers(0, n))
        before = draw(st.integers(0, 9))
        pad = [None] * before
        chunks = [
            pa.array([*pad, *part, *pad], arrow_type(name)).slice(before, len(part))
            for part in (values[:cut], values[cut:])
        ]
        lists.append(values)
        arrays.append(pa.chunked_array(chunks))
    return lists, arrays


@given(columns())
def test_any_columns_of_numbers_are_the_cells_that_arrow_has(given_columns):
    lists, arrays = given_columns
    names = [f"x{j}" for j in range(len(lists))]
    want = np.array([[np.nan if v is None else float(v) for v in values] for values in lists]).reshape(len(lists), -1).T
    table = pa.table(arrays, names=names)
    forms = [table, *table.combine_chunks().to_batches()[:1]]
    for rows in forms:
        x = batches.numbers(rows, names)
        np.testing.assert_allclose(x.values, want, rtol=1e-15)  # Arrow rounds decimals its own way
        np.testing.assert_array_equal(ops.in_rows(x).values, x.values)
        y = np.zeros(x.n, dtype=np.int32)
        got, plain = ops.moments(x, y, None, 1), ops.moments(Reals(want), y, None, 1)
        np.testing.assert_allclose(got.mean, plain.mean, rtol=1e-6, atol=1e-6)


def test_doubles_stay_where_arrow_has_them():
    batch = pa.record_batch({"a": np.arange(9.0), "b": np.arange(9.0)}).slice(2, 5)
    for column, name in zip(batches.numbers(batch, ["b", "a"]).columns, "ba", strict=True):
        assert column.ctypes.data == batch.column(name).buffers()[1].address + 16


def test_floats_stay_floats_and_others_make_doubles_of_them():
    batch = pa.record_batch({"a": pa.array([1.0], pa.float32()), "b": pa.array([2.0], pa.float32()), "c": [3]})
    assert {column.dtype.name for column in batches.numbers(batch, ["a", "b"]).columns} == {"float32"}
    assert {column.dtype.name for column in batches.numbers(batch, ["a", "c"]).columns} == {"float64"}


def test_columns_apart_are_a_block_like_any_other():
    x = ColumnBlock([np.array([1.0, 2.0, 3.0]), np.array([4.0, np.nan, 6.0])])
    assert (x.n, x.d, x.cells) == (3, 2, 6)
    np.testing.assert_array_equal(x.take(np.array([2, 0])).values, [[3.0, 6.0], [1.0, 4.0]])
    np.testing.assert_array_equal(x.rows(1, 3).values, [[2.0, np.nan], [3.0, 6.0]])
    assert x.rows(0, 3) is x


def test_batches_are_whole_row_groups_and_any_columns_order_gives_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(columnar, "ROWS", 16)
    rng = np.random.default_rng(0)
    rows = pa.table({"label": rng.integers(0, 2, 6000), **{f"x{j}": rng.normal(size=6000) for j in range(9)}})
    names = [f"x{j}" for j in range(9)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    parquet.write_table(rows, tmp_path / "a" / "rows.parquet", row_group_size=2000)
    parquet.write_table(rows.select(rows.column_names[::-1]), tmp_path / "b" / "rows.parquet", row_group_size=2000)
    pieces = list(readers.open_data(tmp_path / "a").pieces(names))
    assert [batch.num_rows for piece in pieces for batch in piece()] == [2000, 2000, 2000]
    fits = [GaussianNB().fit_on(tmp_path / one, features=names).tally_ for one in "ab"]
    assert_same_bits(*fits)
