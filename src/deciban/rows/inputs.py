"""The door: anything a user may pass becomes blocks, class codes and weights, or an error that says the cure.

Every check on data happens here, once. Whether X holds infinities is not asked up front: the kernels' results tell,
and only then is X searched for the cell to blame.

Tables of numbers: which columns and cells are not, by name, for models that take numbers only.

>>> import polars as pl
>>> from deciban import GaussianNB
>>> GaussianNB().fit(pl.DataFrame({"age": [31, 52], "job": ["cook", "nurse"]}), [0, 1])
Traceback (most recent call last):
  ...
deciban.errors.DataError: column `job` holds text, 'cook' in row 0, and this model takes numbers
<BLANKLINE>
hint: MixedNB takes such columns; or make numbers of them (sklearn.preprocessing.OneHotEncoder)

Columns that are learned from but hardly ever meant to be: constants, columns without a cell, copies, identifiers,
the target itself.

Only tables of `FEW` rows and more are looked at, for in small ones such things come by chance. Numbers with a fraction
are never identifiers: measurements differ from row to row. Large tables are judged by a sample first.

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
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from deciban import ops
from deciban.data import frames
from deciban.data.blocks import Block, Codes, Counts, Mixed, Reals
from deciban.data.frames import Column
from deciban.display import format_list
from deciban.errors import DataError, DecibanError, SupportError, levels_up
from deciban.rows.labels import label_codes, no_label, several_types


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


MOST_LEVELS = 1 << 26  # in one column
_READY = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32))


def stand_in(name: str, d: int = 0, names: np.ndarray | None = None, ignored: Sequence[str] = ()) -> Any:
    """What scikit-learn's checks take for the classifier of that name, fitted on d columns (0: not fitted): messages
    are theirs to the letter, and nothing is written on a model before it has learned."""
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
    """X at prediction time. A plain array of the right width passes at once."""
    if _ready(X) and _same_columns(estimator, X):
        return _block(X, block)
    X = frames.with_text_names(frames.without(frames.records(X), estimator.__dict__.get("_left_out", ())))
    if isinstance(X, frames.Records):
        return _block(from_records(X, _known_names(estimator, X), block), block)
    check_columns(X, block, estimator.__dict__.get("feature_names_in_"))
    with cells_named(X, block):
        return _block(validate_data(estimator, to_numpy(X), reset=False, **_rules(block)), block)


def _target_checked(read: Callable) -> Callable:
    """Let y be the name of a column of X, name the rows that have no label, and keep what a frame calls its columns,
    where scikit-learn does not, since they are no texts."""

    @wraps(read)
    def checked(estimator: Any, X: Any, y: Any, block: str, reset: bool, least: int = 1) -> Any:
        X, y = frames.take_target(X, y)
        if isinstance(y, (list, tuple)):
            refuse_missing(y)
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
    """Say in which rows there is no label, or that labels are of several types, where that is why y cannot be read."""
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
    """(rows, labels) for what looks at both itself: y may be the name of a column of X, and X dictionaries. Rows
    without a label are refused.

    >>> rows, y = labelled({"sky": ["grey", "blue"], "later": ["rain", "sun"]}, "later")
    >>> rows.cells, y
    ({'sky': ['grey', 'blue']}, ['rain', 'sun'])
    """
    X, y = frames.take_target(frames.records(X), y)
    if isinstance(y, (list, tuple)) or np.asarray(y).dtype.kind in "fO":
        refuse_missing(y)
    return X, y


def refuse_missing(y: Any) -> None:
    """Refuse labels that are missing: of a list, NumPy would make the label "nan".

    >>> refuse_missing(["a", float("nan")])
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
    """Some of the rows, as the kind of thing that they are."""
    return X.at(index) if isinstance(X, frames.Records) else _safe_indexing(X, index)


@_target_checked
def training(estimator: Any, X: Any, y: Any, block: str, reset: bool, least: int = 1) -> tuple[Block, np.ndarray]:
    """X and y (labels as they are) for training. Plain arrays that fit together pass at once."""
    plain = _ready(X) and type(y) is np.ndarray and y.shape == X.shape[:1] and y.dtype.kind in "iub" and len(y) >= least
    if plain and (reset or _same_columns(estimator, X)):
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
        return _block(X, block), y
    X = frames.with_text_names(frames.records(X))
    if isinstance(X, frames.Records):
        return _training_records(estimator, X, y, block, reset, least)
    check_columns(X, block, None if reset else estimator.__dict__.get("feature_names_in_"))
    with cells_named(X, block):
        X, y = validate_data(
            estimator, to_numpy(X), to_numpy(y), reset=reset, ensure_min_samples=least, **_rules(block)
        )
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        return _block(X, block), y


def _training_records(
    estimator: Any, X: frames.Records, y: Any, block: str, reset: bool, least: int
) -> tuple[Block, np.ndarray]:
    """X and y for training, where X came as dictionaries."""
    names = frames.names(X) if reset else _known_names(estimator, X)
    cells = from_records(X, names, block)
    out = training(estimator, cells, y, block, True, least)
    estimator.feature_names_in_ = np.array(names, dtype=object)
    return out


def _known_names(estimator: Any, X: frames.Records) -> list[str]:
    """The columns of training, which X must have."""
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


def _same_columns(estimator: Any, X: np.ndarray) -> bool:
    """Whether an array has the columns that the estimator knows, which are unnamed."""
    return X.shape[1] == estimator.n_features_in_ and "feature_names_in_" not in estimator.__dict__


def _ready(X: Any) -> bool:
    """Whether X is an array as the kernels take it, with something in it."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in _READY


def _rules(block: str) -> dict[str, Any]:
    return {"accept_sparse": "csr" if block in ("reals", "counts") else False, "ensure_all_finite": False}


def _block(X: Any, block: str) -> Block:
    if X.dtype.kind in "mM":
        what, hint = frames.in_words(str(X.dtype))
        raise not_numbers("X", what, block, hint)
    if X.dtype.kind == "O":  # a frame with a categorical column comes so
        X = X.astype(np.float64)
    if block == "codes":
        return Codes(X, floor=0)
    if not sparse.issparse(X):
        return Reals(X)
    if not X.has_canonical_format:  # cells stored twice are one cell
        X = X.copy()
        X.sum_duplicates()
    indptr, indices = X.indptr, X.indices
    if indptr.dtype != indices.dtype or indptr.dtype not in (np.int32, np.int64):
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return Counts(indptr, indices, X.data, X.shape[1])


def check_levels(x: Codes) -> None:
    """Whether a table of all levels can be made."""
    top = ops.code_range(x)[1]
    if top.max(initial=0) >= MOST_LEVELS:
        column = int(top.argmax())
        raise SupportError(
            f"column {column} has a level coded {MOST_LEVELS} or more: a table with a cell for each would not fit\n\n"
            "hint: code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder)"
        )


def to_numpy(X: Any) -> Any:
    """An array of another library as NumPy's, where scikit-learn's array API dispatch is on; else X itself."""
    if type(X) is np.ndarray or not get_config()["array_api_dispatch"] or not hasattr(X, "__array_namespace__"):
        return X
    from sklearn.utils._array_api import _convert_to_numpy, get_namespace

    xp, _ = get_namespace(X)
    return _convert_to_numpy(X, xp)


def labels(y: np.ndarray | Column, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes int32). Labels outside of given classes are an error."""
    known, codes = label_codes(y, classes)
    if classes is not None and len(codes) and codes.min() < 0:
        strange = np.unique(y.named()[codes < 0] if isinstance(y, Column) else y[codes < 0])
        raise DataError(
            f"The target label(s) {strange} in y do not exist in the initial classes {classes}\n\n"
            "hint: pass all labels that will ever come as `classes` in the first call"
        )
    return known, codes


def named_classes(known: np.ndarray | None, classes: Any) -> np.ndarray:
    """The classes that partial_fit is told: the first call must name them, once each; later ones the same, or none."""
    if known is not None and (classes is None or (type(classes) is np.ndarray and np.array_equal(classes, known))):
        return known
    if classes is None:
        raise DataError(
            "classes must be passed on the first call to partial_fit.\n\n"
            "hint: classes=[...] names all labels that will ever come; or begin with `fit`"
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
    """Weights as doubles, None where all are 1."""
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
    return np.ascontiguousarray(w)


def in_support(x: Block, support: str) -> bool:
    """Whether a chunk can be what the family takes: counts and levels are not negative."""
    if isinstance(x, Codes):
        return ops.code_range(x)[0] >= x.floor
    return support == "real" or isinstance(x, Mixed) or ops.minimum(x) >= 0  # a schema has looked at its own columns


def called(column: Any, names: Any) -> str:
    """A column by its name, where it has one, else by its number."""
    return f"column {column}" if names is None else f"column `{names[int(column)]}`"


def raise_negative(x: Block, whom: str, names: Any = None) -> NoReturn:
    """Say where x is negative (or infinite, which is no level either)."""
    assert not isinstance(x, Mixed)
    if isinstance(x, Codes) and infinite(x):
        raise_not_finite(x, names)
    values = x.stored if isinstance(x, Counts) else x.values
    at = np.argwhere(values < 0)[0]
    row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
    cure = (
        "code the levels as 0, 1, … (sklearn.preprocessing.OrdinalEncoder), a missing cell as NaN"
        if isinstance(x, Codes)
        else "counts are ≥ 0; for real numbers use GaussianNB"
    )
    where = f"first in row {row}, {called(column, names)}"
    raise SupportError(f"Negative values in data passed to {whom} (input X): {where}\n\nhint: {cure}")


def infinite(x: Block) -> bool:
    if isinstance(x, Mixed):
        return any(map(infinite, x.blocks))
    values = x.stored if isinstance(x, Counts) else x.values
    return values.dtype.kind == "f" and bool(np.isinf(values).any())


def raise_not_finite(x: Block, names: Any = None) -> NoReturn:
    """Say why sums over x are not finite; `names` are those of the columns."""
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
            "hint: remove the cell's row, or put NaN there: a missing cell counts for nothing"
        )
    values = np.abs(x.stored if isinstance(x, Counts) else x.values)
    raise SupportError(
        f"Input X holds magnitudes up to {np.nanmax(values):.3g}, whose squares or sums overflow float64\n\n"
        "hint: divide the columns by a power of ten first"
    )


FEW = 10  # rows, below which nothing is said
NAMES = 20  # rows, from which names that differ in nearly every row are identifiers
NUMBERS = 50  # rows, from which whole numbers that differ in every row are
OWN = 0.95  # distinct names for each cell, from which a column names rows
SAMPLE = 2_000  # rows that identifiers are looked for in
GLANCE = 256  # rows that copies are looked for by
BITS = 10.0  # information that two columns have to share, so that they are equal by chance once in 1,000 times


def column_notes(columns: Iterable[Column], y: np.ndarray, classes: np.ndarray, target: Any = None) -> list[str]:
    """What is wrong with some columns, by name. y: the class codes (n,); target: the name of y, where it has one."""
    n = len(y)
    if n < FEW:
        return []
    columns = list(columns)
    rng = np.random.default_rng(0)
    glance = np.sort(rng.choice(n, GLANCE, replace=False)) if n > GLANCE else np.arange(n)
    sample = np.sort(rng.choice(n, SAMPLE, replace=False)) if n > SAMPLE else np.arange(n)
    is_target = [c for c in columns if _equals(c, y, classes, glance)]
    empty = [c for c in columns if c.at(glance).missing.all() and c.missing.all()]
    constant = [c for c in columns if not _in(c, empty) and _is_constant(c.values, glance)]
    telling = [c for c in columns if not _in(c, [*empty, *constant])]
    found = [
        (empty, "has no cells", "have no cells"),
        (constant, "has one value in all rows", "have one value each in all rows"),
        ([c for c in telling if _names_rows(c, sample)], *IDENTIFIER),
        (is_target, "is the target itself", "are the target itself"),
    ]
    out = [f"{_named(those)} {one if len(those) == 1 else many}" for those, one, many in found if those]
    same_name = [c for c in columns if target is not None and c.name == target and not _in(c, is_target)]
    out += [f"{_named(same_name)} has the name of the target"] if same_name else []
    for first, copies in _copies([c for c in telling if not _in(c, is_target)], glance):
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
    """Whether all rows have one value. (A cell that is missing now and then may tell something.)"""
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
    """Whether the cells are the labels."""
    labels = classes.tolist()
    if len(labels) < 2 or isinstance(column.name, int):  # columns of an array were put together on purpose
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
