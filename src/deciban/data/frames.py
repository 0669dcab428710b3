"""Columns of any dataframe (pandas, polars, pyarrow, … through narwhals) or array: numeric, or codes with categories.

A missing cell (NaN, None, NA, null) is NaN among numbers and code −1 among levels. Dates and durations are numbers with
a unit: a date or datetime is the days since 1970-01-01 (in UTC where it has a time zone; hours are a fraction), and a
duration is its seconds, so that a column means the same in all libraries. No dataframe library is imported here.

>>> import numpy as np
>>> a, b = columns(np.array([[1.0, "x"], [2.0, None], [3.0, "x"]], dtype=object))
>>> a.values.tolist(), b.values.tolist(), b.levels
([1.0, 2.0, 3.0], [0, -1, 0], ['x'])
>>> (when,) = columns(np.array([["2000-01-01T12:00"], ["NaT"]], dtype="M8[m]"))
>>> when.values.tolist(), when.unit, when.shown().tolist()
([10957.5, nan], 'date', ['2000-01-01 12:00:00', None])
"""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module
from numbers import Real
from types import NoneType
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from deciban.display import format_list, is_missing
from deciban.errors import DataError, did_you_mean

Name = str | int
DATE_HINT = "make a number of it, such as the days since a date, the month or the hour; or leave the column out"
SPAN_HINT = "make numbers of them, such as by `.dt.total_seconds()`; or leave the column out"
TIMES = {  # types by the beginnings of their names in all libraries: what they are, what to do
    "datetime": ("dates", DATE_HINT),
    "timestamp": ("dates", DATE_HINT),
    "date": ("dates", DATE_HINT),
    "period": ("periods", DATE_HINT),
    "timedelta": ("durations", SPAN_HINT),
    "duration": ("durations", SPAN_HINT),
    "time": ("times of day", DATE_HINT),
}
UNITS = {"": "numbers", "date": "dates", "duration": "durations"}  # units of numbers, in words
MICROSECONDS = {"date": 86_400_000_000, "duration": 1_000_000}  # in a unit
STEPS = {"date": "days", "duration": "seconds"}
COARSE = ("Y", "M", "W", "D", "h", "m", "s", "ms")  # units of NumPy of which 64 bits hold more than of microseconds
EPOCH = dt.datetime(1970, 1, 1)
QUERIES = ("duckdb", "_duckdb", "ibis")  # libraries whose tables are queries


def column_label(name: Any) -> str:
    """The label of a column in output: its name, or x and its number where it has none.

    >>> column_label("age"), column_label(0)
    ('age', 'x0')
    """
    return f"x{name}" if isinstance(name, (int, np.integer)) else str(name)


def column_labels(d: int) -> list[str]:
    """Those of d columns without names."""
    return [column_label(j) for j in range(d)]


@dataclass(frozen=True)
class Column:
    """One column as it came: numbers, or int32 codes with the list of levels that they stand for."""

    name: Name
    values: np.ndarray
    levels: list | None = None
    unit: str = ""  # of numbers: "date" (days since 1970-01-01), "duration" (seconds), or ""

    @property
    def label(self) -> str:
        return column_label(self.name)

    @property
    def missing(self) -> np.ndarray:
        """Which cells are missing, (n,).

        >>> Column("sky", np.array([0, -1]), ["red"]).missing.tolist(), Column("t", np.array([-1, 2])).missing.tolist()
        ([False, True], [False, False])
        """
        if self.levels is not None:
            return self.values < 0
        return np.isnan(self.values) if self.values.dtype.kind == "f" else np.zeros(len(self.values), dtype=bool)

    def at(self, index: np.ndarray) -> Column:
        """Some of the rows."""
        return replace(self, values=self.values[index])

    def used_levels(self) -> Column:
        """The same without levels that no cell has."""
        return self if self.levels is None else _drop_unused(self.name, self.values, self.levels)

    def named(self) -> np.ndarray:
        """The cells themselves: numbers, or the levels that codes stand for, None for a missing one."""
        return self.values if self.levels is None else np.array([*self.levels, None], dtype=object)[self.values]

    def cells(self) -> list:
        """The values as Python objects: numbers of a unit as dates and durations, None where one is missing."""
        if not self.unit:
            return self.values.tolist()
        spans = [None if np.isnan(v) else dt.timedelta(**{STEPS[self.unit]: v}) for v in self.values.tolist()]
        return spans if self.unit == "duration" else [None if span is None else EPOCH + span for span in spans]

    def shown(self) -> np.ndarray:
        """The cells for display: dates and durations as texts, others as `named` has them."""
        if not self.unit:
            return self.named()
        return np.array([*(unit_text(value, self.unit) for value in self.values.tolist()), None], dtype=object)[:-1]

    def as_levels(self) -> Column:
        """The same with every distinct number a level."""
        if self.levels is not None:
            return self
        known, code = np.unique(self.values, return_inverse=True)
        missing = np.isnan(known)
        size = np.abs(known)  # identifiers are 64 bit numbers at most
        large = known[(size >= 2.0**53) & (size <= 2.0**64)] if known.dtype.kind == "f" else known[:0]
        if len(large):
            raise DataError(
                f"column `{self.label}` holds {large[0]:.17g} as a level, and of whole numbers beyond 2^53 several are "
                "one double\n\nhint: give such identifiers as texts, X[name].astype(str)"
            )
        codes = np.where(missing, -1, np.arange(len(known)))[code].astype(np.int32)
        return Column(self.name, codes, [_plain(v) for v in known[~missing].tolist()])


def unit_text(value: float, unit: str) -> str | None:
    """A number of a unit as a date or duration; None: it is missing.

    >>> unit_text(19783.0, "date"), unit_text(5400.0, "duration")
    ('2024-03-01', '1:30:00')
    """
    if np.isnan(value):
        return None
    microseconds = round(value * MICROSECONDS[unit])
    if unit == "duration":
        return str(dt.timedelta(microseconds=microseconds))
    day = microseconds % MICROSECONDS["date"] == 0
    return str(np.datetime64(microseconds, "us").astype("M8[D]" if day else "M8[s]")).replace("T", " ")


def _plain(v: float) -> float | int:
    return int(v) if v == int(v) and abs(v) < 2**53 else v


@dataclass(frozen=True)
class Records:
    """Rows that came as Python's own dictionaries, by column; None where a row lacks a key."""

    cells: dict[str, Sequence]
    n: int

    @classmethod
    def from_rows(cls, rows: Sequence[Any]) -> Records:
        """From a dictionary for each row."""
        wrong = next((i for i, row in enumerate(rows) if not isinstance(row, Mapping)), None)
        if wrong is not None:
            raise DataError(
                f"row 0 is a dictionary, row {wrong} is {type(rows[wrong]).__name__}\n\n"
                "hint: give a dictionary for every row"
            )
        keys = dict.fromkeys(key for row in rows for key in row)
        return cls({_name(key): [row.get(key) for row in rows] for key in keys}, len(rows))

    @classmethod
    def from_mapping(cls, given: Mapping) -> Records:
        """From one row, or from columns: a mapping of names to cells, or to sequences of cells, all of one length."""
        sizes = {_name(key): _size(value) for key, value in given.items()}
        if not any(size is not None for size in sizes.values()):
            return cls({_name(key): [value] for key, value in given.items()}, 1)
        (first, n), *others = sizes.items()
        for name, size in others:
            if size != n:
                lengths = ["one cell" if m is None else f"{m} cells" for m in (n, size)]
                raise DataError(
                    f"column `{first}` has {lengths[0]}, column `{name}` {lengths[1]}\n\n"
                    "hint: give one cell for each name (a row), or columns of one length, or a list of rows"
                )
        return cls({_name(key): value for key, value in given.items()}, n or 0)

    def __len__(self) -> int:
        return self.n

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, len(self.cells)

    def at(self, index: Sequence[int] | np.ndarray) -> Records:
        """Some of the rows."""
        return Records({name: [cells[i] for i in index] for name, cells in self.cells.items()}, len(index))

    def only(self, names: Sequence[str]) -> Records:
        """Some of the columns, in this order."""
        return Records({name: self.cells[name] for name in names}, self.n)

    def column(self, name: str) -> Column:
        """One column; None is a missing cell."""
        cells = self.cells[name]
        if not isinstance(cells, list):
            values = np.asarray(cells)
            numbers = values.dtype.kind in "fiu"
            return Column(name, values.astype(np.float64)) if numbers else from_objects(name, values)
        kinds = set(map(type, cells))
        if kinds <= {float, int, NoneType} and kinds != {NoneType}:
            try:
                return Column(name, np.array(cells, dtype=np.float64))
            except OverflowError:
                raise too_large(name) from None
        if kinds <= {str, NoneType} and len(cells) == 1 and kinds != {NoneType}:
            return Column(name, np.zeros(1, dtype=np.int32), cells)
        objects = np.empty(len(cells), dtype=object)
        objects[:] = cells
        return from_objects(name, objects)


def _name(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


def _size(value: Any) -> int | None:
    """How many cells a column has; None for a single cell."""
    cell = isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__") or np.ndim(value) == 0
    return None if cell else len(value)


def records(X: Any) -> Any:
    """Dictionaries (one row, a list of rows, or columns by name) as `Records`; anything else as it is.

    >>> records([{"age": 30, "job": "cook"}, {"age": 41}]).cells
    {'age': [30, 41], 'job': ['cook', None]}
    """
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # scipy's dok matrices are dictionaries too
        return Records.from_mapping(X)
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        return Records.from_rows(X)
    return X


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, Records):
        return True
    if type(X).__module__.partition(".")[0] in QUERIES:
        raise DataError(
            f"X is a {type(X).__name__}, a query that has not been executed\n\n"
            "hint: fetch its rows first, as by `X.df()`, or let `fit_on(X, target=...)` and `predict_on(X)` read them"
        )
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError:
        return True  # `names` says which
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            "X is a lazy frame, which has no rows yet\n\n"
            "hint: collect it first, `X.collect()`, or let `fit_on(X, target=...)` and `predict_on(X)` read it"
        )
    return isinstance(frame, nw.DataFrame)


def names(X: Any) -> list[str]:
    """The names of a frame's columns, as texts. No two may be the same."""
    if isinstance(X, Records):
        return list(X.cells)
    found = X.column_names if hasattr(X, "column_names") else X.columns  # Arrow's `columns` are data
    twice = [name for name, times in Counter(map(str, found)).items() if times > 1]
    if twice:
        raise DataError(f"two columns are named `{twice[0]}`\n\nhint: give every column a name of its own")
    return [str(name) for name in found]


def check_unicode_forms(absent: Sequence[Any], present: Sequence[Any]) -> None:
    """Raise an error for a column that is absent only because the same letters are written by other code points.

    >>> check_unicode_forms(["a"], ["b"])
    >>> check_unicode_forms(["\\u00e9"], ["e\\u0301"])
    Traceback (most recent call last):
        ...
    deciban.errors.DataError: column `é` is there in another Unicode form: 'e\\u0301' instead of '\\xe9'
    <BLANKLINE>
    hint: rename it: unicodedata.normalize("NFC", name) on both sides
    """
    if not absent or not present:
        return
    forms = {unicodedata.normalize("NFC", str(name)): name for name in present}
    for name in absent:
        found = forms.get(unicodedata.normalize("NFC", str(name)))
        if found is not None and found != name:
            raise DataError(
                f"column `{name}` is there in another Unicode form: {found!a} instead of {name!a}\n\n"
                'hint: rename it: unicodedata.normalize("NFC", name) on both sides'
            )


def with_text_names(X: Any) -> Any:
    """A pandas frame with texts for all names of its columns, where some are texts and others are not: scikit-learn
    takes texts, or no text at all. Anything else as it is."""
    if not (hasattr(X, "set_axis") and hasattr(X, "columns")):
        return X
    are_texts = {isinstance(name, str) for name in X.columns}
    return X.set_axis(names(X), axis=1) if len(are_texts) > 1 else X


def library(X: Any) -> str | None:
    """The name of the library that a frame is of; None: of none."""
    return None if isinstance(X, Records) else nw.get_native_namespace(X).__name__


def row_labels(X: Any) -> np.ndarray | None:
    """The index of a pandas frame or series, as labels of its rows (n,); None where rows have numbers only."""
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    labels = X.index.to_numpy()
    return labels if labels.dtype.kind in "iubOU" else np.array([str(label) for label in X.index], dtype=object)


def target_name(y: Any) -> str | None:
    """What labels are called: the name of a series, or of the only column of a frame; or y itself, a column's name."""
    if isinstance(y, str):
        return y
    names = [getattr(y, "name", None)]
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "columns"):
        names = list(y.columns)
    return names[0] if len(names) == 1 and isinstance(names[0], str) and names[0] else None


def take_target(X: Any, y: Any) -> tuple[Any, Any]:
    """(X without the column, its labels) where y is the name of a column of the frame X; else both as they are, except
    for 1-of-K targets, see `labels_of_indicators`."""
    if not isinstance(y, str):
        return X, labels_of_indicators(y)
    X = records(X)
    if not is_frame(X):
        raise DataError(
            f"y is the text {y!r}, but X has no column names\n\nhint: give the labels, one for each row of X"
        )
    known = names(X)
    if y not in known:
        hint = did_you_mean(y, known) or f"the columns are {format_list(known)}; y is one of them, or the labels"
        raise DataError(f"X has no column `{y}` with the labels\n\nhint: {hint}")
    if isinstance(X, Records):
        return X.only([name for name in known if name != y]), list(X.cells[y])
    frame, at = nw.from_native(X, eager_only=True), known.index(y)
    return frame[:, [j for j in range(len(known)) if j != at]].to_native(), frame[:, at].to_native()


def labels_of_indicators(y: Any) -> Any:
    """The labels 0 … K − 1 of a matrix (n, K) of 0 and 1 with exactly one 1 in each row, K ≥ 2; any other y as it is.

    >>> labels_of_indicators([[0, 1, 0], [1, 0, 0]]).tolist(), labels_of_indicators([[0, 1], [1, 1]])
    ([1, 0], [[0, 1], [1, 1]])
    """
    if isinstance(y, list | tuple):
        if not y or not isinstance(y[0], list | tuple | np.ndarray) or len({np.shape(row) for row in y}) != 1:
            return y
        matrix = np.asarray(y)
    elif isinstance(y, np.ndarray):
        matrix = y
    else:
        return y
    if matrix.ndim != 2 or matrix.shape[1] < 2 or matrix.dtype.kind not in "biuf":
        return y
    one = matrix == 1
    return one.argmax(axis=1) if (one | (matrix == 0)).all() and (one.sum(axis=1) == 1).all() else y


def without(X: Any, left_out: Collection[Name]) -> Any:
    """A frame without the columns of these names; anything else as it is."""
    if not left_out or not is_frame(X):
        return X
    if isinstance(X, Records):
        return X.only([name for name in X.cells if name not in left_out])
    keep = [j for j, name in enumerate(names(X)) if name not in left_out]
    return nw.from_native(X, eager_only=True)[:, keep].to_native()


def missing_rows(y: Any) -> list[int]:
    """The rows of a list, array or series of labels that have none.

    >>> missing_rows(["a", None, float("nan")])
    [1, 2]
    """
    labels = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else y
    if not isinstance(labels, (list, tuple)) or set(map(type, labels)) <= PRESENT:
        return []
    return [row for row, label in enumerate(labels) if is_missing(label)]


PRESENT = {str, int, bool, bytes}  # types of labels that no missing one has


def is_installed(library: str) -> bool:
    """Whether a library can be imported."""
    try:
        import_module(library)
    except ImportError:
        return False
    return True


def to_frame(columns: list[Column], library: Any) -> Any:
    """Columns of plain values (numbers of a unit become dates and durations) as a frame of the library of that name, of
    Arrow where it is not installed, or (None) as an array (n, d)."""
    if library is not None:
        library = next((name for name in (library, "pyarrow") if is_installed(name)), None)
    if library is None:
        return np.stack([np.array(column.cells()) if column.unit else column.values for column in columns], axis=1)
    data = {str(column.name): column.cells() for column in columns}
    return nw.from_dict(data, backend=library).to_native()


def make_frame(columns: Mapping[str, Sequence]) -> Any:
    """Columns by name as a frame of pandas, or of polars where only that is installed; else as a dictionary of lists.

    >>> make_frame({"a": [1, 2]})["a"][1]
    np.int64(2)
    """
    data = {name: list(cells) for name, cells in columns.items()}
    backend: Any = next((name for name in ("pandas", "polars") if is_installed(name)), None)
    return data if backend is None else nw.from_dict(data, backend=backend).to_native()


def texts(y: Any) -> Column | None:
    """A series of texts as levels; None if y is anything else."""
    s = None if isinstance(y, np.ndarray) else nw.from_native(y, allow_series=True, eager_only=True, pass_through=True)
    return _levels("y", s) if isinstance(s, nw.Series) and s.dtype == nw.String else None


def strings(X: Any, name: Name) -> list[str]:
    """The cells of one column as texts; a missing one is empty.

    >>> strings(np.array([["a b", 1], [None, 2]], dtype=object), 0)
    ['a b', '']
    """
    at: Any = name
    if isinstance(X, Records):
        cells: Any = X.cells[at]
    else:
        cells = nw.from_native(X, eager_only=True)[at].to_list() if is_frame(X) else np.asarray(X, dtype=object)[:, at]
    return ["" if is_missing(cell) else str(cell) for cell in cells]


LARGE = 1 << 18  # cells of an array from which its columns are copied, so that each is contiguous
BLOCK, SPAN = 1 << 9, 1 << 14  # rows that are copied at once, and by one thread


def columns(X: Any, each: Callable = map, only: Container[Name] | None = None) -> list[Column]:
    """The columns of a frame, by name, or of an array (n, d), by number. `each` is `map`, or does it in threads; `only`
    names the columns of a frame that are looked into."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "fiub":
            cells = _by_column(X, each) if X.size >= LARGE and X.flags.c_contiguous else X.T
            return [Column(j, np.asarray(column, dtype=np.float64)) for j, column in enumerate(cells)]
        return [from_objects(j, X[:, j]) for j in range(X.shape[1])]
    named = names(X)
    if isinstance(X, Records):
        return [X.column(name) for name in named if only is None or name in only]
    if hasattr(X, "itercolumns"):  # Arrow's columns of plain numbers need no other library
        plain = [(name, one) for name, one in zip(named, X.itercolumns(), strict=True) if only is None or name in only]
        return list(each(lambda one: _from_arrow(*one), plain))
    in_order = nw.from_native(X, eager_only=True).iter_columns()
    series = [(name, one) for name, one in zip(named, in_order, strict=True) if only is None or name in only]
    return list(each(lambda one: _from_series(*one), series))


def _by_column(X: np.ndarray, each: Callable) -> np.ndarray:
    """The cells of an array (n, d) as doubles (d, n), copied in blocks of rows that stay in cache."""
    n, out = len(X), np.empty(X.shape[::-1])

    def copy(start: int) -> None:
        for at in range(start, min(start + SPAN, n), BLOCK):
            out[:, at : at + BLOCK] = X[at : at + BLOCK].T

    for _ in each(copy, range(0, n, SPAN)):
        pass
    return out


def _from_arrow(name: str, cells: Any) -> Column:
    kind = str(cells.type)
    if kind == "double" or (kind == "int64" and not cells.null_count):
        return Column(name, cells.to_numpy())
    return _from_series(name, nw.from_native(cells, series_only=True))


def _from_series(name: str, s: Any) -> Column:
    kind = s.dtype
    if kind.is_numeric():
        return Column(name, numbers(s))
    if kind in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
        return _levels(name, s)
    if kind == nw.Object:
        return from_objects(name, s.to_numpy(), typed=True)
    if kind.is_temporal() and kind != nw.Time and s.null_count() < len(s):
        return _from_times(name, s, "duration" if kind == nw.Duration else "date")
    native = s.to_native()
    if type(getattr(native, "dtype", None)).__name__ == "SparseDtype":
        return _from_series(name, nw.from_native(native.sparse.to_dense(), series_only=True))
    if len(s) == s.null_count():
        return empty(name, len(s))
    if type(getattr(native, "dtype", None)).__name__ == "IntervalDtype":
        return from_objects(name, native.to_numpy(dtype=object), typed=True)
    raise unsupported_dtype_error(name, str(getattr(native, "dtype", kind)) if kind == nw.Unknown else str(kind))


def _from_times(name: Name, s: Any, unit: str) -> Column:
    """A column of dates or durations. Far ones are rounded: a double does not hold all their microseconds."""
    microseconds = s.dt.total_microseconds() if unit == "duration" else s.dt.timestamp("us")
    values = np.array(microseconds.fill_null(0).to_numpy(), dtype=np.float64)
    given = s.drop_nulls().to_numpy()
    if given.dtype.kind in "mM":  # of its own unit, in which all fit
        whole_microseconds(given, name)
    values[np.asarray(s.is_null().to_numpy(), dtype=bool)] = np.nan
    return Column(name, values / MICROSECONDS[unit], unit=unit)


def unsupported_dtype_error(name: Name, kind: str) -> DataError:
    """The error about a column whose type is neither numeric nor categorical."""
    what, hint = in_words(kind)
    return DataError(f"column `{name}` holds {what}, which are neither numeric nor categorical\n\nhint: {hint}")


def in_words(kind: str) -> tuple[str, str]:
    """(what a column of that type holds, what to do about it).

    >>> in_words("Datetime(time_unit='us', time_zone=None)")[0], in_words("duration[ns]")[0], in_words("list<int64>")[0]
    ('dates', 'durations', 'cells of type list<int64>')
    """
    found = next((words for start, words in TIMES.items() if kind.lower().startswith(start)), None)
    if found is not None:
        return found
    what = kind if " objects" in kind else f"cells of type {kind}"
    return what, "make numbers or texts of them, or leave the column out"


def numbers(s: Any) -> np.ndarray:
    native = s.to_native()
    dtype = getattr(native, "dtype", None)
    if isinstance(dtype, np.dtype):
        return np.asarray(native)
    if s.dtype.is_integer() and not s.null_count():
        return np.asarray(s.to_numpy())
    if hasattr(native, "isna"):  # nullable pandas types
        return np.asarray(native.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(s.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _levels(name: str, s: Any) -> Column:
    native = s.to_native()
    over_arrow = type(getattr(native, "array", None)).__name__ in ("ArrowStringArray", "ArrowExtensionArray")
    if s.dtype == nw.String and over_arrow:
        native = native.array.__arrow_array__()  # pandas over Arrow
    elif s.dtype == nw.String and hasattr(native, "to_arrow") and "pyarrow" in sys.modules:
        native = native.to_arrow()  # polars
    if hasattr(native, "dictionary_encode"):  # Arrow
        return arrow_levels(name, native.combine_chunks() if hasattr(native, "combine_chunks") else native)
    if hasattr(native, "cat") and hasattr(native, "factorize") and s.dtype in (nw.Categorical, nw.Enum):
        return _drop_unused(name, np.asarray(native.cat.codes), [_level(one) for one in native.cat.categories.tolist()])
    if hasattr(native, "factorize"):  # pandas and its kin
        codes, levels = native.factorize()
        return _sorted_levels(name, np.asarray(codes), levels.tolist())
    if s.dtype == nw.Boolean:
        codes = s.cast(nw.Int32).fill_null(-1).to_numpy()
        return _drop_unused(name, codes, [False, True])
    if s.dtype == nw.Enum:
        return _drop_unused(name, _physical(s), s.cat.get_categories().to_list())
    codes = _physical(s.cast(nw.Categorical))
    row = np.full(codes.max(initial=-1) + 2, -1, dtype=np.int64)
    row[codes] = np.arange(len(codes))  # one that has it, for each code
    row[-1] = -1
    numbers = np.flatnonzero(row >= 0)
    place = np.full(len(row), -1, dtype=np.int32)
    place[numbers] = np.arange(len(numbers))
    return _sorted_levels(name, place[codes], s[row[numbers].tolist()].cast(nw.String).to_list())


def arrow_levels(name: Name, array: Any) -> Column:
    """An Arrow array of texts or truth values, or one that is coded already, in an order of its own."""
    given = hasattr(array, "indices")
    coded = array if given else array.dictionary_encode()
    indices = coded.indices.cast("int32")
    codes = (indices.fill_null(-1) if indices.null_count else indices).to_numpy(zero_copy_only=False)
    try:
        levels = coded.dictionary.to_pylist()
    except UnicodeDecodeError as bad:
        raise DataError(
            f"column `{name}` has a text that is not UTF-8 ({bad.reason})\n\nhint: decode the column from bytes again"
        ) from None
    return (_drop_unused if given else _sorted_levels)(name, codes, levels)


def _physical(s: Any) -> np.ndarray:
    """The library's own codes of a polars column, in no order of their own; −1 for null."""
    codes = nw.from_native(s.to_native().to_physical(), series_only=True)
    return codes.cast(nw.Int32).fill_null(-1).to_numpy()


def _drop_unused(name: Name, codes: np.ndarray, levels: list) -> Column:
    """Levels that no row has are left out, and so is null as a level; the others keep their order."""
    there = np.bincount(codes if codes.min(initial=0) >= 0 else codes[codes >= 0], minlength=len(levels)) > 0
    if len(there) != len(levels):
        raise DataError(f"column `{name}` names levels that its dictionary does not have\n\nhint: write the file again")
    some = there & np.array([level is not None for level in levels], dtype=bool)
    place = np.append(np.where(some, np.cumsum(some) - 1, -1), -1).astype(np.int32)
    own = codes.astype(np.int32, copy=False) if some.all() else place[codes]
    return Column(name, own, [level for level, used in zip(levels, some, strict=True) if used])


def _sorted_levels(name: Name, codes: np.ndarray, levels: list) -> Column:
    """Levels in their own order: the same rows in any order give the same."""
    order = sort_levels(levels)
    place = np.empty(len(levels) + 1, dtype=np.int32)
    place[order], place[-1] = np.arange(len(levels)), -1
    return Column(name, place.take(codes), [levels[i] for i in order])


def sort_levels(levels: Sequence) -> list[int]:
    """Where the levels are, from the least to the largest: of their texts where they have no order.

    >>> sort_levels(["b", "a", "c"]), sort_levels(["b", True])
    ([1, 0, 2], [1, 0])
    """
    try:
        return sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError:
        return sorted(range(len(levels)), key=lambda i: (type(levels[i]).__name__, str(levels[i])))


def empty(name: Name, n: int) -> Column:
    """A column without a cell, of a type that numbers do not have: its levels are yet to come."""
    return Column(name, np.full(n, -1, dtype=np.int32), [])


def from_objects(name: Name, values: np.ndarray, typed: bool = False) -> Column:
    """A column of Python objects (or of NumPy texts): numbers if all are numbers, levels if none is. One without a cell
    has levels to come, unless it holds NaN and its type says nothing (not `typed`: an array of objects)."""
    if values.dtype.kind in "mM" and not np.isnat(values).all():
        unit = "date" if values.dtype.kind == "M" else "duration"
        microseconds = whole_microseconds(values, name).astype(np.float64)
        return Column(name, np.where(np.isnat(values), np.nan, microseconds) / MICROSECONDS[unit], unit=unit)
    if values.dtype.kind in "mMV":
        raise unsupported_dtype_error(name, str(values.dtype))
    if values.dtype.kind in "US":
        known, code = np.unique(values, return_inverse=True)
        return Column(name, code.ravel().astype(np.int32), known.tolist())
    codes, levels = _factorised(values)
    kinds = {_kind(level) for level in levels}
    if "other" in kinds:
        at = [_kind(level) for level in levels].index("other")
        wrong, row = levels[at], int(np.flatnonzero(codes == at)[0])
        what, hint = in_words(f"{type(wrong).__name__} objects")
        raise DataError(
            f"column `{name}` holds {what} (such as {wrong!r}, in row {row}), which are neither numeric nor "
            f"categorical\n\nhint: {hint}"
        )
    if len(kinds) > 1:
        first, *_, last = (kind for kind in ("number", "date", "duration", "level") if kind in kinds)
        one, other = (next(v for v in levels if _kind(v) == kind) for kind in (first, last))
        row = int(np.flatnonzero(codes == [level is other for level in levels].index(True))[0])
        what = UNITS[first if first in UNITS else ""]
        raise DataError(
            f"column `{name}` mixes {what} (such as {one!r}) with {type(other).__name__} (such as {other!r}, in row "
            f"{row})\n\nhint: make it all {what} (missing cells as NaN or None) or all text"
        )
    if kinds == {"level"}:
        out = _sorted_levels(name, codes, levels)
        return Column(name, out.values, [_level(one) for one in out.levels or []])
    if not kinds and len(values) and (typed or not any(isinstance(v, (float, np.floating)) for v in values.tolist())):
        return empty(name, len(values))
    unit = next(iter(kinds & set(MICROSECONDS)), "")
    try:
        return Column(name, np.array([*(number_of_unit(level, unit) for level in levels), np.nan])[codes], unit=unit)
    except OverflowError:
        raise too_large(name) from None


def too_large(name: Name) -> DataError:
    """The error for an integer that no double holds."""
    return DataError(
        f"column `{name}` holds an integer that is too large for a float (more than 1e308)\n\n"
        "hint: make it a text, or take its logarithm"
    )


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes, bool, np.bool_)) or _is_interval(value):
        return "level"
    if isinstance(value, (dt.date, np.datetime64)):
        return "date"
    if isinstance(value, (dt.timedelta, np.timedelta64)):
        return "duration"
    if isinstance(value, (Real, Decimal, np.number)) and not isinstance(value, np.complexfloating):
        return "number"
    return "other"


def number_of_unit(value: Any, unit: str) -> float:
    """A number, date or duration as a number of its unit."""
    if not unit:
        return float(value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(whole_microseconds(np.asarray(value))) / MICROSECONDS[unit]
    if unit == "duration":
        return value / dt.timedelta(seconds=1)
    if not isinstance(value, dt.datetime):
        return float((value - EPOCH.date()).days)
    here = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    return (here - EPOCH) / dt.timedelta(days=1)


def whole_microseconds(times: np.ndarray, name: Name | None = None) -> np.ndarray:
    """Dates or durations as whole numbers of microseconds (any number where they are missing); an error where 64 bits
    do not hold these: more than 292,000 years."""
    out = times.astype(f"{times.dtype.kind}8[us]")
    if np.datetime_data(times.dtype)[0] in COARSE:
        beyond = ~np.isnat(times) & (out.astype(times.dtype) != times)
        if beyond.any():
            where = "a date or duration is" if name is None else f"column `{name}` holds"
            raise DataError(
                f"{where} {times[beyond].ravel()[0]}, which is more than 292,000 years away\n\n"
                "hint: make it a number, such as the years"
            )
    return out.astype(np.int64)


def _is_interval(value: Any) -> bool:
    """Whether a cell is a pandas interval, as `pandas.cut` makes them."""
    return type(value).__name__ == "Interval" and hasattr(value, "closed")


def _level(value: Any) -> Any:
    """A level as models keep it: intervals as texts, such as '(1.0, 2.5]', which files and services can hold."""
    return str(value) if _is_interval(value) else value


def _factorised(values: np.ndarray) -> tuple[np.ndarray, list]:
    """(codes, distinct values) of an object array; −1 for a missing one."""
    place: dict[Any, int] = {}
    levels: list = []
    codes = np.empty(len(values), dtype=np.int32)
    for i, value in enumerate(values.tolist()):
        key: Any = (isinstance(value, (bool, np.bool_)), value)
        try:
            code = place.get(key)
        except TypeError:  # lists and such, which end in an error of their own
            key = id(value)
            code = place.get(key)
        if code is None:
            missing = is_missing(value)
            code = place[key] = -1 if missing else len(levels)
            if not missing:
                levels.append(value)
        codes[i] = code
    return codes, levels


def cells_of(X: Any, row: int) -> str:
    """The first few cells of a row, for a message.

    >>> cells_of([[1.5, 2.0]], 0)
    ' (1.5, 2)'
    """
    X = records(X)
    if isinstance(X, Records):
        cells_text = [f"{name} = {_shown(cells[row])}" for name, cells in X.cells.items()]
    elif is_frame(X):
        cells = nw.from_native(X, eager_only=True)[row : row + 1].rows()[0]
        cells_text = [f"{name} = {_shown(cell)}" for name, cell in zip(names(X), cells, strict=True)]
    elif hasattr(X, "tocsr"):
        return ""
    else:
        cells_text = [_shown(cell) for cell in np.asarray(X, dtype=object)[row].tolist()]
    return f" ({format_list(cells_text, quote='')})"


def _shown(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, (float, np.floating)) else str(cell)


def feature_names(model: Any) -> list[str]:
    """The names of the columns that a classifier of any library learned from; [] where these had none, as scikit-learn
    leaves `feature_names_in_` out then (a pipeline computes it from its first step)."""
    return [str(name) for name in getattr(model, "feature_names_in_", ())]


def shown_names(model: Any) -> list[str]:
    """The labels of a model's columns: those of the training frame, or x0, x1, …"""
    labels = [str(name) for name in vars(model).get("_frame_names", ())]
    return feature_names(model) or labels or column_labels(model.n_features_in_)
