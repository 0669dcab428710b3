"""Tables of numbers: which columns and cells are not, by name, for models that take numbers only.

>>> import polars as pl
>>> from deciban import GaussianNB
>>> GaussianNB().fit(pl.DataFrame({"age": [31, 52], "job": ["cook", "nurse"]}), [0, 1])
Traceback (most recent call last):
  ...
deciban.errors.DataError: column `job` holds text, 'cook' in row 0, and this model takes numbers
<BLANKLINE>
hint: MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from deciban import frames
from deciban.errors import DataError, DecibanError


class CellTypeError(DataError, TypeError):
    """A cell of a type that is no number. Also a TypeError, which is what scikit-learn raises for such cells."""


OBJECT_HINT = "make a number of it, or leave the column out"
CODE_HINT = "MixedNB takes such columns; or code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder)"
TEXT_HINT = "MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)"
NOT_CONVERTED = ("could not convert string", "argument must be a", "bytes/strings", "setting an array element")


def check_columns(X: Any, block: str, known: Any = None) -> None:
    """Raise where a column of a frame is neither numbers nor booleans, with its name; of `known` columns, if given."""
    if isinstance(X, np.ndarray | list | tuple) or not frames.is_frame(X):
        return
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and {getattr(dtype, "kind", "O") for dtype in dtypes} <= set("fiub"):
        return
    frame = nw.from_native(X, eager_only=True)
    for j, name in enumerate(frames.names(X)):
        if known is None or name in known:
            _check_series(f"column `{name}`", frame[:, j], block)


def _check_series(where: str, s: Any, block: str) -> None:
    """Raise where a column of a frame holds anything but numbers and booleans. Categories may be numbers, too."""
    kind, native = s.dtype, s.to_native()
    if kind.is_numeric() or kind == nw.Boolean or s.null_count() == len(s):
        return
    if kind in (nw.Categorical, nw.Enum):
        levels = s.cat.get_categories().to_list()
        if not all(isinstance(level, Real | np.number | np.bool_) for level in levels):
            raise not_numbers(where, f"categories, {_first(s)}", block, _text_hint(block))
    elif kind == nw.String:
        raise not_numbers(where, f"text, {_first(s)}", block, _text_hint(block))
    elif kind.is_temporal():
        what, hint = frames.in_words(str(kind))
        raise not_numbers(where, what, block, hint)
    elif type(getattr(native, "dtype", None)).__name__ != "SparseDtype":
        cells = np.empty(len(s), dtype=object)
        cells[:] = s.to_list()
        check_cells(where, cells, block)


def _first(s: Any) -> str:
    """The first cell of a column that is not missing, and its row."""
    row = int((~s.is_null()).to_numpy().argmax())
    return f"{s[row]!r} in row {row}"


def check_cells(where: str, cells: np.ndarray, block: str, texts: bool = True, why: str = "") -> None:
    """Raise for the first object that is no number; with `texts` also for a text that reads as one."""
    for row, cell in enumerate(cells):
        if isinstance(cell, str | bytes):
            if texts or not _number(cell):
                raise not_numbers(where, f"text, {cell!r} in row {row}", block, _text_hint(block), why)
        elif isinstance(cell, dt.date | dt.time | dt.timedelta | np.datetime64 | np.timedelta64):
            what, hint = frames.in_words(type(cell).__name__)
            raise not_numbers(where, f"{what}, {cell!r} in row {row}", block, hint, why, CellTypeError)
        elif type(cell).__name__ == "NAType":
            hint = "`X.convert_dtypes()` makes columns of numbers that may have missing cells; or put NaN there"
            raise not_numbers(where, f"objects, {cell!r} in row {row}", block, hint, why, CellTypeError)
        elif not _number(cell):
            what = f"{type(cell).__name__} objects, {cell!r} in row {row}"
            raise not_numbers(where, what, block, OBJECT_HINT, why, CellTypeError)


def _text_hint(block: str) -> str:
    return CODE_HINT if block == "codes" else TEXT_HINT


def not_numbers(
    where: str, what: str, block: str, hint: str, why: str = "", error: type[DataError] = DataError
) -> DataError:
    needed = "levels coded as 0, 1, …" if block == "codes" else "numbers"
    return error(f"{where} holds {what}, and this model takes {needed}{why and f' ({why})'}\n\nhint: {hint}")


def from_records(X: frames.Records, names: Sequence[str], block: str) -> np.ndarray:
    """These columns of rows that came as dictionaries, (n, d); NaN where a cell is missing."""
    if X.n == 0 or not names:
        raise DataError(
            f"Found array with {X.n} sample(s) and {len(names)} feature(s)\n\nhint: give at least one row with names"
        )
    out = np.empty((X.n, len(names)))
    for j, name in enumerate(names):
        cells = X.cells[name]
        try:
            if any(isinstance(cell, str | bytes) for cell in cells):
                raise ValueError
            out[:, j] = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError):
            objects = np.empty(X.n, dtype=object)
            objects[:] = list(cells)
            check_cells(f"column `{name}`", objects, block)
            out[:, j] = objects.astype(np.float64)
    return out


@contextmanager
def cells_named(X: Any, block: str) -> Iterator[None]:
    """Say which cell of X is no number, where NumPy could not convert one."""
    try:
        yield
    except (TypeError, ValueError) as bad:
        if isinstance(bad, DecibanError) or not any(part in str(bad) for part in NOT_CONVERTED):
            raise
        try:
            cells = np.asarray(X, dtype=object)
        except ValueError:
            raise bad from None
        if cells.ndim != 2:
            raise
        texts, names = "bytes/strings" in str(bad), frames.names(X) if frames.is_frame(X) else None
        for j in range(cells.shape[1]):
            where = f"column {j if names is None else f'`{names[j]}`'}"
            try:
                check_cells(where, cells[:, j], block, texts, str(bad))
            except DataError as named:
                raise named from None
        raise


def _number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return cell is None
    return True
