"""Input checks: X, y and weights as a user passes them become blocks, class codes and weights, or an error with a hint.

Every check on data happens here, once. X is not searched for infinities up front: only if the results of the kernels
are not finite is X searched for the cell at fault.

Models that take only numbers name the columns and cells that are not numbers:

>>> import polars as pl
>>> from deciban import PoissonNB
>>> PoissonNB().fit(pl.DataFrame({"age": [31, 52], "job": ["cook", "nurse"]}), [0, 1])
Traceback (most recent call last):
  ...
deciban.errors.DataError: column `job` holds text, 'cook' in row 0, and this model takes numbers
<BLANKLINE>
hint: MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)

`column_notes` finds columns that are probably not meant to be learned from: constants, empty columns, copies,
identifiers, the target itself.

Only tables of at least `FEW` rows are checked: in smaller ones such columns occur by chance. Numbers with a fraction
are never identifiers: measurements differ from row to row. Large tables are checked on a sample first.

>>> rows = [Column("id", np.arange(60) * 7), Column("one", np.ones(60)), Column("x", np.arange(60) % 5.0)]
>>> column_notes(rows, np.arange(60) % 2, np.array(["no", "yes"]))
['`one` has one value in all rows', '`id` has another value in every row, as identifiers do']
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from numbers import Real
from typing import Any, NoReturn

import narwhals.stable.v1 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_feature_names as check_feature_names  # noqa: F401 (used by other modules)
from sklearn.utils.validation import _check_sample_weight, validate_data
from sklearn.utils.validation import _check_y as check_label_array  # noqa: F401
from sklearn.utils.validation import _num_samples as count_rows  # noqa: F401

from deciban import ops
from deciban.data import frames
from deciban.data.blocks import Block, Codes, Counts, Mixed, Reals, to_csr
from deciban.data.frames import Column
from deciban.display import format_list
from deciban.errors import DataError, DecibanError, SupportError, levels_up
from deciban.rows.labels import label_codes, no_label, several_types
from deciban.tallies import WEIGHTS, in_range


class CellTypeError(DataError, TypeError):
    """A cell whose type is not a number. Also a TypeError, which scikit-learn raises for such cells."""


OBJECT_HINT = "make a number of it, or leave the column out"
CODE_HINT = "MixedNB takes such columns; or code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder)"
TEXT_HINT = "MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)"
NOT_CONVERTED = ("could not convert string", "argument must be a", "bytes/strings", "setting an array element")


def check_columns(X: Any, block: str, known: Any = None) -> None:
    """Raise an error for a column of a frame that is neither numbers nor booleans; only for `known` columns, if
    given."""
    if isinstance(X, np.ndarray | list | tuple):
        return
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and {getattr(dtype, "kind", "O") for dtype in dtypes} <= set("fiub"):
        return
    if not frames.is_frame(X):
        return
    frame = nw.from_native(X, eager_only=True)
    for j, name in enumerate(frames.names(X)):
        if known is None or name in known:
            _check_series(f"column `{name}`", frame[:, j], block)


def _check_series(where: str, s: Any, block: str) -> None:
    """Raise an error if a column of a frame holds anything but numbers and booleans. Categories may be numbers."""
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
    """Raise an error for the first object that is not a number; with `texts` also for a text that spells a number."""
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
    """Columns of rows given as dictionaries, (n, d); NaN where a cell is missing."""
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
    """Context in which a failed conversion by NumPy raises an error that names the cell of X, and two columns of one
    name an error that names them."""
    try:
        yield
    except DuplicateError:
        frames.names(X)  # says which
        raise
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


MOST_LEVELS = 1 << 26  # in one column
_READY = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32))


def stand_in(name: str, d: int = 0, names: np.ndarray | None = None, ignored: Sequence[str] = ()) -> Any:
    """An object that scikit-learn's checks take for the classifier of that name, fitted on d columns (0: not fitted).
    Their messages stay unchanged, and no attribute of the model is set before it has learned."""
    out = _class_named(name)()
    if d:
        out.n_features_in_ = d
        if names is not None:
            out.feature_names_in_ = names
        if len(ignored):
            out._left_out = ignored
    return out


@cache
def _class_named(name: str) -> Any:
    return type(name, (ClassifierMixin, BaseEstimator), {})


def features(estimator: Any, X: Any, block: str) -> Block:
    """X at prediction time. A NumPy array with the right number of columns needs no further checks."""
    if is_ready(X, estimator):
        return _block(X, block)
    if sparse.issparse(X):
        X = to_csr(X, places=False)
    X = frames.with_text_names(frames.without(frames.records(X), estimator.__dict__.get("_left_out", ())))
    if isinstance(X, frames.Records):
        return _block(from_records(X, _known_names(estimator, X), block), block)
    check_columns(X, block, estimator.__dict__.get("feature_names_in_"))
    with cells_named(X, block):
        return _block(validate_data(estimator, _unmasked(to_numpy(X)), reset=False, **_rules(block)), block)


def _target_checked(read: Callable) -> Callable:
    """Decorator: y may be the name of a column of X, errors name the rows without a label, and column names that are
    not texts, which scikit-learn drops, are kept."""

    @wraps(read)
    def checked(estimator: Any, X: Any, y: Any, block: str, reset: bool, least: int = 1) -> Any:
        X, y = frames.take_target(X, y)
        if isinstance(y, (list, tuple)):
            raise_missing_labels(y)
        with missing_labels_named(y):
            out = read(estimator, X, y, block, reset, least)
        if reset:
            for name in ("_frame_names", "_left_out"):
                estimator.__dict__.pop(name, None)
            if hasattr(X, "columns") and "feature_names_in_" not in estimator.__dict__ and frames.is_frame(X):
                estimator._frame_names = frames.names(X)
        return out

    return checked


@contextmanager
def missing_labels_named(y: Any) -> Iterator[None]:
    """Context in which an unreadable y raises an error that names the rows without a label, or the types of labels."""
    try:
        yield
    except (TypeError, ValueError) as bad:
        if isinstance(bad, DecibanError):
            raise
        rows = frames.missing_rows(y)
        if rows:
            raise no_label(rows) from None
        if "not supported between instances" in str(bad):
            raise several_types(np.asarray(y, dtype=object).ravel().tolist()) from None
        raise


def labelled(X: Any, y: Any) -> tuple[Any, Any]:
    """(rows, labels) without conversion: y may be the name of a column of X, and X dictionaries. Rows without a label
    raise an error.

    >>> rows, y = labelled({"sky": ["grey", "blue"], "later": ["rain", "sun"]}, "later")
    >>> rows.cells, y
    ({'sky': ['grey', 'blue']}, ['rain', 'sun'])
    """
    X, y = frames.take_target(frames.records(X), y)
    if isinstance(y, (list, tuple)) or np.asarray(y).dtype.kind in "fO":
        raise_missing_labels(y)
    return X, y


def raise_missing_labels(y: Any) -> None:
    """Raise an error for missing labels: NumPy would read a list of them as the label "nan".

    >>> raise_missing_labels(["a", float("nan")])
    Traceback (most recent call last):
      ...
    deciban.errors.DataError: Input y contains NaN: the target has no label in row 1
    <BLANKLINE>
    hint: leave out the rows without a label
    """
    if not isinstance(y, (list, tuple)) or not set(map(type, y)) <= {str, int, bool}:
        rows = frames.missing_rows(y)
        if rows:
            raise no_label(rows)


def rows_at(X: Any, index: np.ndarray) -> Any:
    """Some of the rows, in the type of X."""
    return X.at(index) if isinstance(X, frames.Records) else _safe_indexing(X, index)


@_target_checked
def training(estimator: Any, X: Any, y: Any, block: str, reset: bool, least: int = 1) -> tuple[Block, np.ndarray]:
    """X and y (labels unchanged) for training. NumPy arrays of matching shapes need no further checks."""
    known = None if reset else estimator
    if (
        is_ready(X, known)
        and type(y) is np.ndarray
        and y.shape == X.shape[:1]
        and y.dtype.kind in "iub"
        and len(y) >= least
    ):
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
        return _block(X, block), y
    if sparse.issparse(X):
        X = to_csr(X, places=False)
    X = frames.with_text_names(frames.records(X))
    if isinstance(X, frames.Records):
        return _training_records(estimator, X, y, block, reset, least)
    check_columns(X, block, None if reset else estimator.__dict__.get("feature_names_in_"))
    with cells_named(X, block):
        X, y = validate_data(
            estimator, _unmasked(to_numpy(X)), to_numpy(y), reset=reset, ensure_min_samples=least, **_rules(block)
        )
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        return _block(X, block), y


def _training_records(
    estimator: Any, X: frames.Records, y: Any, block: str, reset: bool, least: int
) -> tuple[Block, np.ndarray]:
    """X and y for training, where X was given as dictionaries."""
    names = frames.names(X) if reset else _known_names(estimator, X)
    cells = from_records(X, names, block)
    out = training(estimator, cells, y, block, True, least)
    estimator.feature_names_in_ = np.array(names, dtype=object)
    return out


def _known_names(estimator: Any, X: frames.Records) -> list[str]:
    """The names of the training columns, which X must have."""
    known, given = estimator.__dict__.get("feature_names_in_"), frames.names(X)
    if known is None:
        raise DataError(
            f"X has names ({format_list(given)}), but {type(estimator).__name__} learned from columns without "
            f"names\n\nhint: give rows of {estimator.n_features_in_} numbers in the order of training, or fit on "
            "named columns"
        )
    absent, new = [name for name in known if name not in X.cells], [name for name in given if name not in known]
    if absent:
        raise DataError(
            f"{format_list(absent)} not in X, which has {format_list(given)}\n\n"
            "hint: name the columns as in training; None is a missing cell"
        )
    if new:
        warnings.warn(f"{format_list(new)} not known from training: ignored", UserWarning, stacklevel=levels_up())
    return list(known)


def is_ready(X: Any, fitted: Any = None) -> bool:
    """Whether X is a non-empty array in a format of the kernels, with the columns that an estimator was fitted on."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0 or X.dtype not in _READY:
        return False
    return fitted is None or (X.shape[1] == fitted.n_features_in_ and "feature_names_in_" not in fitted.__dict__)


def _rules(block: str) -> dict[str, Any]:
    return {"accept_sparse": "csr" if block in ("reals", "counts") else False, "ensure_all_finite": False}


def _block(X: Any, block: str) -> Block:
    if X.dtype.kind in "mM":
        what, hint = frames.in_words(str(X.dtype))
        raise not_numbers("X", what, block, hint)
    if X.dtype.kind == "O":  # from a frame with a categorical column
        X = X.astype(np.float64)
    if block == "codes":
        return Codes(X, floor=0)
    return ops.check_columns(Counts.from_sparse(X)) if sparse.issparse(X) else Reals(X)


def check_levels(x: Codes) -> None:
    """Raise an error if a table of all levels would be too large."""
    top = ops.code_range(x)[1]
    if top.max(initial=0) >= MOST_LEVELS:
        column = int(top.argmax())
        raise SupportError(
            f"column {column} has a level coded {MOST_LEVELS} or more: a table with a cell for each would not fit\n\n"
            "hint: code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder)"
        )


def to_numpy(X: Any) -> Any:
    """An array of another library as a NumPy array, if scikit-learn's array API dispatch is on; else X itself."""
    if type(X) is np.ndarray or not get_config()["array_api_dispatch"] or not hasattr(X, "__array_namespace__"):
        return X
    xp, _ = array_api().get_namespace(X)
    return array_api()._convert_to_numpy(X, xp)


def _unmasked(X: Any) -> Any:
    """X; of a masked array a plain one, with NaN where cells are masked: scikit-learn would read what is under the
    mask."""
    return np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X


def array_api() -> Any:
    """scikit-learn's functions for arrays of other libraries, imported on first use."""
    from sklearn.utils import _array_api

    return _array_api


def labels(y: np.ndarray | Column, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes int32). Labels outside of given classes are an error."""
    known, codes = label_codes(y, classes)
    if classes is not None and len(codes) and codes.min() < 0:
        unknown = np.unique(y.named()[codes < 0] if isinstance(y, Column) else y[codes < 0])
        raise DataError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {classes}\n\n"
            "hint: pass all labels that may occur as `classes` in the first call"
        )
    return known, codes


def named_classes(known: np.ndarray | None, classes: Any) -> np.ndarray:
    """The `classes` of partial_fit: required and without duplicates in the first call; the same, or None, later."""
    if known is not None and (classes is None or (type(classes) is np.ndarray and np.array_equal(classes, known))):
        return known
    if classes is None:
        raise DataError(
            "classes must be passed on the first call to partial_fit.\n\n"
            "hint: classes=[...] names all labels that may occur; or begin with `fit`"
        )
    if len(np.unique(np.asarray(classes))) != len(classes):
        raise DataError(
            f"`classes={classes!r}` names a class twice, so it is not the same as on last call to partial_fit\n\n"
            "hint: name every label once"
        )
    holder = stand_in("partial_fit")
    if known is not None:
        holder.classes_ = known
    _check_partial_fit_first_call(holder, classes)
    return holder.classes_


def check_classes(estimator: Any, classes: Any) -> None:
    """The same, kept as `classes_`."""
    estimator.classes_ = named_classes(vars(estimator).get("classes_"), classes)


def weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Weights as doubles; None if all are 1."""
    if sample_weight is None:
        return None
    sample_weight = np.asarray(to_numpy(sample_weight))
    if sample_weight.ndim == 1 and sample_weight.dtype.kind in "biuf" and not sample_weight.any():
        raise DataError("sample_weight is zero for every sample\n\nhint: give at least one row a positive weight")
    w = _check_sample_weight(sample_weight, y.reshape(-1, 1), dtype=np.float64)
    if (w < 0).any():
        row = int(np.flatnonzero(w < 0)[0])
        raise DataError(
            f"sample_weight is {w[row]:g} in row {row}, but weights are ≥ 0\n\n"
            "hint: a row of weight 0 counts for nothing; generative models `forget` rows"
        )
    wrong = (w != 0) & ~in_range(w)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"sample_weight is {w[row]:g} in row {row}, but weights are 0, or from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}\n\n"
            "hint: divide all weights by their mean"
        )
    return np.ascontiguousarray(w)


def in_support(x: Block, support: str) -> bool:
    """Whether a chunk may be in the support of a family: counts and levels are not negative."""
    if isinstance(x, Codes):
        return ops.code_range(x)[0] >= x.floor
    return support == "real" or isinstance(x, Mixed) or ops.minimum(x) >= 0  # columns of a schema are checked by it


def called(column: Any, names: Any) -> str:
    """A column by its name if it has one, else by its number."""
    return f"column {column}" if names is None else f"column `{names[int(column)]}`"


def raise_negative(x: Block, whom: str, names: Any = None) -> NoReturn:
    """Raise an error that names the first cell that is negative (or infinite, for levels)."""
    assert not isinstance(x, Mixed)
    if isinstance(x, Codes) and infinite(x):
        raise_not_finite(x, names)
    values = x.stored if isinstance(x, Counts) else x.values
    at = np.argwhere(values < 0)[0]
    row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
    hint = (
        "code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder), a missing cell as NaN"
        if isinstance(x, Codes)
        else "counts are ≥ 0; for real numbers use GaussianNB"
    )
    where = f"first in row {row}, {called(column, names)}"
    raise SupportError(f"Negative values in data passed to {whom} (input X): {where}\n\nhint: {hint}")


def infinite(x: Block) -> bool:
    if isinstance(x, Mixed):
        return any(map(infinite, x.blocks))
    values = x.stored if isinstance(x, Counts) else x.values
    return values.dtype.kind == "f" and bool(np.isinf(values).any())


def raise_not_finite(x: Block, names: Any = None) -> NoReturn:
    """Raise an error that says why sums over x are not finite; `names` are those of the columns."""
    if isinstance(x, Mixed):
        raise_not_finite(max(x.blocks, key=lambda block: np.nanmax(np.abs(block.values), initial=0.0)))
    if infinite(x):
        if isinstance(x, Counts):
            at = int(np.flatnonzero(np.isinf(x.stored))[0])
            row, column = int(x.row_of()[at]), int(x.column_of()[at])
        else:
            row, column = (int(i) for i in np.argwhere(np.isinf(x.values))[0])
        raise SupportError(
            f"Input X contains infinity (first in row {row}, {called(column, names)})\n\n"
            "hint: remove the cell's row, or put NaN there: a missing cell is ignored"
        )
    values = np.abs(x.stored if isinstance(x, Counts) else x.values)
    raise overflow_error(np.nanmax(values))


def overflow_error(magnitude: float) -> SupportError:
    """The error for finite cells, up to this magnitude, whose squares or sums are not."""
    return SupportError(
        f"Input X holds magnitudes up to {magnitude:.3g}, whose squares or sums overflow float64\n\n"
        "hint: divide the columns by a power of ten first"
    )


def check_finite(x: Block, names: Any = None, model: str = "LogisticRegression") -> None:
    """Raise an error that names the first cell that is missing, or else infinite: for linear scores, which need every
    cell."""
    assert isinstance(x, Reals | Counts)
    values = x.stored if isinstance(x, Counts) else x.values
    bad = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if not bad.any():
        return
    missing = np.isnan(values)
    at = tuple(np.argwhere(missing if missing.any() else bad)[0])
    row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
    where = f"first in row {row}, {called(column, names)}"
    if missing.any():
        raise SupportError(
            f"Input X contains NaN ({where}), and {model} takes no missing values\n\n"
            "hint: MixedNB does, and LogisticRegression of a frame that has some in training; or fill them in first "
            "(sklearn.impute)"
        )
    raise SupportError(
        f"Input X contains infinity ({where}), and a linear score of it is no number\n\n"
        "hint: leave the row out, or put the largest value there that makes sense"
    )


def largest_magnitude(x: Block) -> float:
    """The largest |cell|; 0 if there is none."""
    assert isinstance(x, Reals | Counts)
    values = x.stored if isinstance(x, Counts) else x.values
    return float(np.abs(values).max(initial=0.0))


FEW = 10  # least rows for any note
NAMES = 20  # least rows for texts that differ in nearly every row to be identifiers
NUMBERS = 50  # least rows for whole numbers that differ in every row to be identifiers
OWN = 0.95  # least share of distinct texts in a column of identifiers
SAMPLE = 2_000  # rows in which identifiers are searched for
GLANCE = 256  # rows in which copies are searched for first
BITS = 10.0  # least information in a copy: two columns are equal by chance about once in 1,000 times


def column_notes(columns: Iterable[Column], y: np.ndarray, classes: np.ndarray, target: Any = None) -> list[str]:
    """Notes on suspicious columns, by name. y: class codes (n,); target: the name of y, if it has one."""
    n = len(y)
    if n < FEW:
        return []
    columns = list(columns)
    rng = np.random.default_rng(0) if n > GLANCE else None
    glance = np.arange(n) if rng is None else np.sort(rng.choice(n, GLANCE, replace=False))
    sample = np.arange(n) if rng is None or n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
    is_target = [c for c in columns if _equals(c, y, classes, glance)]
    empty = [c for c in columns if c.at(glance).missing.all() and c.missing.all()]
    constant = [c for c in columns if not _in(c, empty) and _is_constant(c.values, glance)]
    varying = [c for c in columns if not _in(c, [*empty, *constant])]
    found = [
        (empty, "has no cells", "have no cells"),
        (constant, "has one value in all rows", "have one value each in all rows"),
        ([c for c in varying if _names_rows(c, sample)], *IDENTIFIER),
        (is_target, "is the target itself", "are the target itself"),
    ]
    out = [f"{_named(those)} {one if len(those) == 1 else many}" for those, one, many in found if those]
    same_name = [c for c in columns if target is not None and c.name == target and not _in(c, is_target)]
    out += [f"{_named(same_name)} has the name of the target"] if same_name else []
    for first, copies in _copies([c for c in varying if not _in(c, is_target)], glance):
        what = "is a copy" if len(copies) == 1 else "are copies"
        out.append(f"{_named(copies)} {what} of {_named([first])}")
    return out


IDENTIFIER = (
    "has another value in every row, as identifiers do",
    "have another value in every row, as identifiers do",
)


def _in(column: Column, those: list[Column]) -> bool:
    return any(one is column for one in those)


def _named(columns: list[Column]) -> str:
    numbers = isinstance(columns[0].name, int)
    return ("column " if len(columns) == 1 else "columns ") + _plain(columns) if numbers else _plain(columns)


def _plain(columns: list[Column]) -> str:
    return format_list([c.name for c in columns], quote="" if isinstance(columns[0].name, int) else "`")


def _is_constant(values: np.ndarray, glance: np.ndarray) -> bool:
    """Whether all rows have one value. (A column with some missing cells is not constant: they may be evidence.)"""
    return bool((values[glance] == values[0]).all() and (values == values[0]).all())


def _names_rows(column: Column, sample: np.ndarray) -> bool:
    values = column.values
    if column.levels is not None:
        given = int((~column.at(sample).missing).sum()) * len(values) / len(sample)
        return given >= NAMES and len(column.levels) >= OWN * given
    if values.dtype.kind not in "iu" or len(values) < NUMBERS:
        return False
    drawn = values[sample]
    return len(np.unique(drawn[:NUMBERS])) == NUMBERS and len(np.unique(drawn)) == len(drawn)


def _equals(column: Column, y: np.ndarray, classes: np.ndarray, glance: np.ndarray) -> bool:
    """Whether the cells equal the labels."""
    labels = classes.tolist()
    if len(labels) < 2 or isinstance(column.name, int):  # the columns of an array were chosen by the user
        return False
    if column.levels is not None:
        place = {label: code for code, label in enumerate(labels)}
        table = np.array([*(place.get(level, -2) for level in column.levels), -2])
        return all(bool((table[column.values[rows]] == y[rows]).all()) for rows in (glance, slice(None)))
    if classes.dtype.kind not in "iufb":
        return False
    numbers = classes.astype(np.float64)
    return all(bool((column.values[rows] == numbers[y[rows]]).all()) for rows in (glance, slice(None)))


def _copies(columns: list[Column], glance: np.ndarray) -> list[tuple[Column, list[Column]]]:
    """(column, its copies), each copy once."""
    alike: dict[tuple[bool, bytes], list[tuple[Column, list[Column]]]] = {}
    for column in columns:
        seen = alike.setdefault((column.levels is None, _bytes(column.values[glance])), [])
        gaps = column.values.dtype.kind == "f"
        same = (own for one, own in seen if np.array_equal(one.values, column.values, equal_nan=gaps))
        copies = next(same, None)
        if copies is None:
            seen.append((column, []))
        elif _information(column.values) >= BITS:
            copies.append(column)
    return [(first, copies) for group in alike.values() for first, copies in group if copies]


def _bytes(values: np.ndarray) -> bytes:
    return np.asarray(values, dtype=np.float64).tobytes()


def _information(values: np.ndarray) -> float:
    """n · entropy in bits, of the first rows."""
    _, count = np.unique(values[:SAMPLE], return_counts=True)
    share = count / count.sum()
    return -len(values) * float(share @ np.log2(share))
