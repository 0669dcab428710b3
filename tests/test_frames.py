"""Frames of every library are read as the same columns; what cannot be read is named, with a cure."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from deciban.data import frames
from deciban.data.frames import Column
from deciban.errors import DataError

TEXTS = ["b", None, "a", "b"]  # sorted: a, b
BOOLS = [True, None, False, True]
WHOLE = [3, None, 1, 3]
REALS = [0.5, None, -2.0, 0.5]

DICTIONARY = pa.dictionary(pa.int32(), pa.string())
PARTS = [pa.array(["b", None]), pa.array(["a", "b"])]

TEXT_COLUMNS = {
    "pandas object": pd.DataFrame({"x": pd.Series(TEXTS, dtype=object)}),
    "pandas object with NA": pd.DataFrame({"x": pd.Series(["b", pd.NA, "a", "b"], dtype=object)}),
    "pandas object with NaN": pd.DataFrame({"x": pd.Series(["b", np.nan, "a", "b"], dtype=object)}),
    "pandas str": pd.DataFrame({"x": pd.Series(TEXTS, dtype="str")}),
    "pandas string": pd.DataFrame({"x": pd.Series(TEXTS, dtype="string")}),
    "pandas Arrow string": pd.DataFrame({"x": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string()))}),
    "pandas Arrow dictionary": pd.DataFrame({"x": pd.Series(TEXTS, dtype=pd.ArrowDtype(DICTIONARY))}),
    "pandas category": pd.DataFrame({"x": pd.Categorical(TEXTS)}),
    "pandas category, one unused": pd.DataFrame({"x": pd.Categorical(TEXTS, categories=["a", "aa", "b", "c"])}),
    "polars String": pl.DataFrame({"x": TEXTS}),
    "polars Categorical": pl.DataFrame({"x": pl.Series(TEXTS, dtype=pl.Categorical)}),
    "polars Enum": pl.DataFrame({"x": pl.Series(TEXTS, dtype=pl.Enum(["a", "aa", "b"]))}),
    "arrow string": pa.table({"x": TEXTS}),
    "arrow large_string": pa.table({"x": pa.array(TEXTS, pa.large_string())}),
    "arrow chunks": pa.table({"x": pa.chunked_array(PARTS)}),
    "arrow dictionary": pa.table(
        {"x": pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 2]), pa.array(["a", "c", "b"]))}
    ),
    "arrow dictionary with null as a level": pa.table(
        {"x": pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, 2]), pa.array(["a", None, "b"]))}
    ),
    "array of objects": np.array([TEXTS], dtype=object).T,
}
OTHER_COLUMNS = {
    "pandas boolean": (pd.DataFrame({"x": pd.array(BOOLS, dtype="boolean")}), BOOLS),
    "pandas object of bools": (pd.DataFrame({"x": pd.Series(BOOLS, dtype=object)}), BOOLS),
    "pandas bool": (pd.DataFrame({"x": [True, False]}), [True, False]),
    "polars Boolean": (pl.DataFrame({"x": BOOLS}), BOOLS),
    "arrow bool": (pa.table({"x": BOOLS}), BOOLS),
    "array of bool objects": (np.array([BOOLS], dtype=object).T, BOOLS),
    "pandas category of numbers": (pd.DataFrame({"x": pd.Categorical(WHOLE)}), WHOLE),
}
NUMBER_COLUMNS = {
    "pandas float64": (pd.DataFrame({"x": REALS}), REALS),
    "pandas float32": (pd.DataFrame({"x": np.array([0.5, np.nan, -2.0, 0.5], dtype=np.float32)}), REALS),
    "pandas Float64": (pd.DataFrame({"x": pd.array(REALS, dtype="Float64")}), REALS),
    "pandas Int64": (pd.DataFrame({"x": pd.array(WHOLE, dtype="Int64")}), WHOLE),
    "pandas Arrow int": (pd.DataFrame({"x": pd.array(WHOLE, dtype=pd.ArrowDtype(pa.int64()))}), WHOLE),
    "pandas int8": (pd.DataFrame({"x": np.array([3, 1], dtype=np.int8)}), [3, 1]),
    "pandas object": (pd.DataFrame({"x": pd.Series([3, pd.NA, 1, 3.0], dtype=object)}), WHOLE),
    "pandas sparse": (pd.DataFrame({"x": pd.arrays.SparseArray([0.0, 0.0, 7.0])}), [0, 0, 7]),
    "pandas, scipy's sparse": (pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix([[0.0], [7.0]])), [0, 7]),
    "polars Float64": (pl.DataFrame({"x": REALS}), REALS),
    "polars NaN": (pl.DataFrame({"x": [0.5, float("nan"), -2.0, 0.5]}), REALS),
    "polars Int64": (pl.DataFrame({"x": WHOLE}), WHOLE),
    "pandas objects of Decimals": (
        pd.DataFrame({"x": [Decimal("0.5"), Decimal("NaN"), Decimal(-2), Decimal("0.5")]}),
        REALS,
    ),
    "polars Decimal": (pl.DataFrame({"x": [Decimal("0.5"), None, Decimal(-2), Decimal("0.5")]}), REALS),
    "arrow double": (pa.table({"x": REALS}), REALS),
    "arrow int": (pa.table({"x": WHOLE}), WHOLE),
    "arrow int in chunks": (pa.table({"x": pa.chunked_array([[3, None], [1, 3]])}), WHOLE),
    "array of objects": (np.array([WHOLE], dtype=object).T, WHOLE),
    "array of int32": (np.array([[3], [1]], dtype=np.int32), [3, 1]),
    "array of bool": (np.array([[True], [False]]), [1, 0]),
}
NOTHING = {
    "pandas object": pd.DataFrame({"x": [None, None]}),
    "pandas float": pd.DataFrame({"x": [np.nan, np.nan]}),
    "pandas NaT": pd.DataFrame({"x": pd.to_datetime([None, None])}),
    "pandas str": pd.DataFrame({"x": pd.Series([None, None], dtype="str")}),
    "pandas category": pd.DataFrame({"x": pd.Categorical([None, None], categories=["a"])}),
    "pandas category of none": pd.DataFrame({"x": pd.Categorical([None, None])}),
    "polars Null": pl.DataFrame({"x": [None, None]}),
    "polars String": pl.DataFrame({"x": pl.Series([None, None], dtype=pl.String)}),
    "polars Enum": pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Enum(["a"]))}),
    "arrow null": pa.table({"x": [None, None]}),
    "arrow string": pa.table({"x": pa.array([None, None], pa.string())}),
    "array of objects": np.array([[None], [np.nan]], dtype=object),
}
DAY = dt.date(2020, 1, 2)
UNFIT = {
    "pandas period": (pd.DataFrame({"x": pd.period_range("2020", periods=2, freq="M")}), "period"),
    "pandas complex": (pd.DataFrame({"x": np.array([1j, 2])}), "complex"),
    "pandas times of day": (pd.DataFrame({"x": pd.Series([None, dt.time(3)], dtype=object)}), "times of day"),
    "pandas dates and numbers": (
        pd.DataFrame({"x": pd.Series([1.5, DAY], dtype=object)}),
        "mixes numbers .*1.5.* date",
    ),
    "pandas dates and texts": (pd.DataFrame({"x": pd.Series([DAY, "u"], dtype=object)}), "mixes dates .* str .*'u'"),
    "pandas lists": (pd.DataFrame({"x": [None, [1]]}), r"list objects \(such as \[1\], in row 1\)"),
    "pandas tuples of lists": (pd.DataFrame({"x": [([1],), ([2],)]}), "tuple"),
    "pandas mixed": (pd.DataFrame({"x": [1.5, "u", None]}), r"mixes numbers .*1\.5.* str .*'u', in row 1"),
    "pandas numbers and bools": (pd.DataFrame({"x": pd.Series([2, True], dtype=object)}), "mixes numbers .* bool"),
    "pandas large integers": (pd.DataFrame({"x": pd.Series([10**400, 1], dtype=object)}), "too large for a float"),
    "polars time": (pl.DataFrame({"x": [dt.time(3)]}), "times of day"),
    "polars list": (pl.DataFrame({"x": [[1]]}), "List"),
    "polars struct": (pl.DataFrame({"x": [{"a": 1}]}), "Struct"),
    "polars objects": (pl.DataFrame({"x": pl.Series([1, "u"], dtype=pl.Object)}), "mixes"),
    "arrow list": (pa.table({"x": [[1]]}), "List"),
    "arrow struct": (pa.table({"x": [{"a": 1}]}), "Struct"),
}
NOON, ZONE = dt.datetime(2020, 1, 2, 12), dt.timezone(dt.timedelta(hours=2))
SPANS = [dt.timedelta(minutes=90), None]
TIMED = {
    "pandas datetime": (pd.DataFrame({"x": [NOON, None]}), "date", 18263.5),
    "pandas datetime, nanoseconds": (pd.DataFrame({"x": np.array([NOON, "NaT"], dtype="M8[ns]")}), "date", 18263.5),
    "pandas datetime with a zone": (pd.DataFrame({"x": [NOON.replace(tzinfo=ZONE), None]}), "date", 18263 + 10 / 24),
    "pandas Arrow date": (pd.DataFrame({"x": pd.Series([DAY, None], dtype="date32[pyarrow]")}), "date", 18263),
    "pandas dates as objects": (pd.DataFrame({"x": pd.Series([DAY, None], dtype=object)}), "date", 18263),
    "pandas timestamps as objects": (
        pd.DataFrame({"x": pd.Series([pd.Timestamp(NOON), None], dtype=object)}),
        "date",
        18263.5,
    ),
    "pandas datetimes with a zone as objects": (
        pd.DataFrame({"x": pd.Series([NOON.replace(tzinfo=ZONE), pd.NaT], dtype=object)}),
        "date",
        18263 + 10 / 24,
    ),
    "polars date": (pl.DataFrame({"x": [DAY, None]}), "date", 18263),
    "polars datetime": (pl.DataFrame({"x": [NOON, None]}), "date", 18263.5),
    "arrow date": (pa.table({"x": [DAY, None]}), "date", 18263),
    "arrow timestamp": (pa.table({"x": pa.array([NOON, None], pa.timestamp("ms"))}), "date", 18263.5),
    "array of dates": (np.array([["2020-01-02"], ["NaT"]], dtype="M8[D]"), "date", 18263),
    "records": (frames.records([{"x": NOON}, {"x": None}]), "date", 18263.5),
    "pandas timedelta": (pd.DataFrame({"x": SPANS}), "duration", 5400),
    "polars duration": (pl.DataFrame({"x": SPANS}), "duration", 5400),
    "arrow duration": (pa.table({"x": SPANS}), "duration", 5400),
    "array of durations": (np.array([[90], ["NaT"]], dtype="m8[m]"), "duration", 5400),
    "array of durations as objects": (np.array([[np.timedelta64(90, "m")], [None]], dtype=object), "duration", 5400),
}


def named(cases: dict) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


def cells(column: Column) -> list:
    """The cells again, None where there is none."""
    if column.levels is None:
        return [None if np.isnan(v) else v for v in column.values]
    assert column.values.dtype == np.int32
    return [None if c < 0 else column.levels[c] for c in column.values]


@named(TEXT_COLUMNS)
def test_texts_are_levels_in_order_and_their_cells_come_back(case):
    (column,) = frames.columns(case)
    assert column.levels == ["a", "b"]
    assert cells(column) == TEXTS


@named(OTHER_COLUMNS)
def test_bools_and_categories_are_levels_too(case):
    frame, want = case
    (column,) = frames.columns(frame)
    assert column.levels == sorted({v for v in want if v is not None})
    assert cells(column) == want


@named(NUMBER_COLUMNS)
def test_numbers_are_what_they_are_and_a_missing_one_is_nan(case):
    frame, want = case
    (column,) = frames.columns(frame)
    assert column.levels is None
    assert column.values.dtype.kind in "iuf"
    assert cells(column) == want


@named(TIMED)
def test_dates_are_days_and_durations_seconds_in_every_library(case):
    frame, unit, want = case
    (column,) = frames.columns(frame)
    assert column.unit == unit
    assert cells(column) == [want, None]
    shown, none = column.shown()
    assert none is None
    assert shown == ("1:30:00" if unit == "duration" else str(np.datetime64("2020-01-02") if want == 18263 else shown))


@named(TIMED)
def test_dates_and_durations_come_back_into_a_frame(case):
    (column,) = frames.columns(case[0])
    for library in ("pandas", "polars", "pyarrow", None):
        (again,) = frames.columns(frames.to_frame([column], library))
        assert again.unit == column.unit
        assert cells(again) == pytest.approx(cells(column))


@named(NOTHING)
def test_column_without_any_cell_is_all_missing(case):
    (column,) = frames.columns(case)
    assert not column.levels
    assert cells(column) == [None, None]


@named(UNFIT)
def test_what_is_neither_number_nor_level_is_named_with_a_cure(case):
    frame, says = case
    with pytest.raises(DataError, match=rf"(?s)column `[x0]` .*{says}.*\n\nhint: "):
        frames.columns(frame)


@pytest.mark.parametrize("order", [["c", "b", "a"], ["b", "a"]])
def test_categories_with_an_order_of_their_own_keep_it(order):
    frames_of_it = [
        pd.DataFrame({"x": pd.Categorical(TEXTS, categories=order)}),
        pl.DataFrame({"x": pl.Series(TEXTS, dtype=pl.Enum(order))}),
        pa.table(
            {"x": pa.DictionaryArray.from_arrays(pa.array([order.index(t) if t else None for t in TEXTS]), order)}
        ),
    ]
    for frame in frames_of_it:
        (column,) = frames.columns(frame)
        assert column.levels == ["b", "a"]
        assert cells(column) == TEXTS


def test_chunks_may_have_dictionaries_of_their_own():
    chunks = pa.chunked_array([part.dictionary_encode() for part in PARTS])
    (column,) = frames.columns(pa.table({"x": chunks}))
    assert cells(column) == TEXTS


def test_same_table_through_every_library_is_the_same_columns():
    data = {"text": TEXTS, "flag": BOOLS, "count": WHOLE, "size": REALS, "nothing": [None] * 4}
    libraries = [
        pd.DataFrame(data),
        pd.DataFrame(data).convert_dtypes(),
        pd.DataFrame(data, dtype=object),
        pl.DataFrame(data),
        pa.table(data),
    ]
    first, *rest = [frames.columns(frame) for frame in libraries]
    for columns in rest:
        assert [c.name for c in columns] == list(data)
        assert [c.levels or None for c in columns] == [c.levels or None for c in first]
        assert [cells(c) for c in columns] == [cells(c) for c in first] == list(data.values())


def test_numbers_as_levels_are_whole_where_they_can_be():
    column = Column("x", np.array([2.0, np.nan, 0.5, 2.0])).as_levels()
    assert column.levels == [0.5, 2]
    assert [type(level) for level in column.levels] == [float, int]
    assert cells(column) == [2, None, 0.5, 2]
    assert column.as_levels() is column


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["x", "x"]),
        pd.DataFrame([[1, 2]], columns=[7, "7"]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]),
    ],
    ids=["pandas", "pandas, a number and its text", "arrow"],
)
def test_two_columns_of_one_name_are_refused(frame):
    assert frames.is_frame(frame)
    with pytest.raises(DataError, match=r"`[x7]`"):
        frames.names(frame)


def test_frames_are_told_from_arrays_and_lazy_ones_are_to_be_collected():
    assert frames.is_frame(pd.DataFrame({"x": [1]}))
    assert not any(map(frames.is_frame, [np.eye(2), [[1]], pd.Series([1]), sparse.eye(2), "x", None]))
    with pytest.raises(DataError, match=r"lazy .*\n\nhint: .*collect"):
        frames.is_frame(pl.DataFrame({"x": [1]}).lazy())


def test_names_that_are_no_texts_become_texts():
    assert frames.names(pd.DataFrame([[1, 2]])) == ["0", "1"]
    assert frames.names(pa.table({"a": [1], "b": [2]})) == ["a", "b"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_assembled_columns_are_a_frame_of_the_library_and_read_as_they_were(library):
    columns = [
        Column("text", np.array(TEXTS, dtype=object)),
        Column("flag", np.array(BOOLS, dtype=object)),
        Column("size", np.array([0.5, np.nan, -2.0, 0.5])),
    ]
    frame = frames.to_frame(columns, library)
    assert frames.library(frame) == library
    assert frames.names(frame) == ["text", "flag", "size"]
    assert [cells(column) for column in frames.columns(frame)] == [TEXTS, BOOLS, REALS]


def test_without_a_library_columns_are_assembled_as_an_array():
    numbers = frames.to_frame([Column(0, np.array([1.0, 2.0])), Column(1, np.array([3.0, 4.0]))], None)
    assert numbers.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert numbers.dtype == np.float64
    both = frames.to_frame([Column(0, np.array([1.0, 2.0])), Column(1, np.array(["a", None], dtype=object))], None)
    assert both.tolist() == [[1.0, "a"], [2.0, None]]


def test_bytes_texts_and_numpy_strings_are_levels():
    (column,) = frames.columns(np.array([["b"], ["a"]]))
    assert (column.values.tolist(), column.levels) == ([1, 0], ["a", "b"])
    (column,) = frames.columns(np.array([["b"], ["a"]], dtype=np.dtypes.StringDType()))
    assert (column.values.tolist(), column.levels) == ([1, 0], ["a", "b"])
    (column,) = frames.columns(np.array([[b"b"], [b"a"]], dtype=object))
    assert (column.values.tolist(), column.levels) == ([1, 0], [b"a", b"b"])
