"""The door: anything a user may pass becomes blocks, class codes and weights, or an error that says the cure.

Every check on data happens here, once. Whether X holds infinities is not asked up front: the kernels' results tell,
and only then is X searched for the cell to blame.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from deciban import frames, numeric, ops
from deciban.errors import DataError, DecibanError, SupportError, levels_up
from deciban.frames import Column
from deciban.labels import label_codes, no_label, several_types
from deciban.table import Block, Codes, Counts, Mixed, Reals

MOST_LEVELS = 1 << 26  # in one column
_READY = (np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32))


def features(estimator: Any, X: Any, block: str) -> Block:
    """X at prediction time. A plain array of the right width passes at once."""
    if _ready(X) and _as_before(estimator, X):
        return _block(X, block)
    X = frames.with_text_names(frames.without(frames.records(X), estimator.__dict__.get("_left_out", ())))
    if isinstance(X, frames.Records):
        return _block(numeric.from_records(X, _known_names(estimator, X), block), block)
    numeric.check_columns(X, block, estimator.__dict__.get("feature_names_in_"))
    with numeric.cells_named(X, block):
        return _block(validate_data(estimator, local(X), reset=False, **_rules(block)), block)


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
    if plain and (reset or _as_before(estimator, X)):
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
        return _block(X, block), y
    X = frames.with_text_names(frames.records(X))
    if isinstance(X, frames.Records):
        return _training_records(estimator, X, y, block, reset, least)
    numeric.check_columns(X, block, None if reset else estimator.__dict__.get("feature_names_in_"))
    with numeric.cells_named(X, block):
        X, y = validate_data(estimator, local(X), local(y), reset=reset, ensure_min_samples=least, **_rules(block))
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        return _block(X, block), y


def _training_records(
    estimator: Any, X: frames.Records, y: Any, block: str, reset: bool, least: int
) -> tuple[Block, np.ndarray]:
    """X and y for training, where X came as dictionaries."""
    names = frames.names(X) if reset else _known_names(estimator, X)
    cells = numeric.from_records(X, names, block)
    out = training(estimator, cells, y, block, True, least)
    estimator.feature_names_in_ = np.array(names, dtype=object)
    return out


def _known_names(estimator: Any, X: frames.Records) -> list[str]:
    """The columns of training, which X must have."""
    known, given = estimator.__dict__.get("feature_names_in_"), frames.names(X)
    if known is None:
        raise DataError(
            f"X has names ({frames.some(given)}), but {type(estimator).__name__} learned from columns without names\n\n"
            f"hint: give rows of {estimator.n_features_in_} numbers in the order of training, or fit on named columns"
        )
    absent, new = [name for name in known if name not in X.cells], [name for name in given if name not in known]
    if absent:
        raise DataError(
            f"{frames.some(absent)} not in X, which has {frames.some(given)}\n\n"
            "hint: name the columns as in training; None is a missing cell"
        )
    if new:
        warnings.warn(f"{frames.some(new)} not known from training: ignored", UserWarning, stacklevel=levels_up())
    return list(known)


def _as_before(estimator: Any, X: np.ndarray) -> bool:
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
        raise numeric.not_numbers("X", what, block, hint)
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


def local(X: Any) -> Any:
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


def name_classes(estimator: Any, classes: Any) -> None:
    """The classes that partial_fit is told: the first call must name them, once each; later ones the same, or none."""
    known = getattr(estimator, "classes_", None)
    if known is not None and (classes is None or (type(classes) is np.ndarray and np.array_equal(classes, known))):
        return
    if known is None and classes is None:
        raise DataError(
            "classes must be passed on the first call to partial_fit.\n\n"
            "hint: classes=[...] names all labels that will ever come; or begin with `fit`"
        )
    if classes is not None and len(np.unique(np.asarray(classes))) != len(classes):
        raise DataError(
            f"`classes={classes!r}` names a class twice, so it is not the same as on last call to partial_fit\n\n"
            "hint: name every label once"
        )
    _check_partial_fit_first_call(estimator, classes)


def weights(sample_weight: Any, y: np.ndarray) -> np.ndarray | None:
    """Weights as doubles, None where all are 1."""
    if sample_weight is None:
        return None
    sample_weight = np.asarray(local(sample_weight))
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


def supported(x: Block, support: str) -> bool:
    """Whether a chunk can be what the family takes: counts and levels are not negative."""
    if isinstance(x, Codes):
        return ops.code_range(x)[0] >= x.floor
    return support == "real" or isinstance(x, Mixed) or ops.least(x) >= 0  # a schema has looked at its own columns


def called(column: Any, names: Any) -> str:
    """A column by its name, where it has one, else by its number."""
    return f"column {column}" if names is None else f"column `{names[int(column)]}`"


def refuse_negative(x: Block, whom: str, names: Any = None) -> NoReturn:
    """Say where x is negative (or infinite, which is no level either)."""
    assert not isinstance(x, Mixed)
    if isinstance(x, Codes) and infinite(x):
        refuse(x, names)
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


def refuse(x: Block, names: Any = None) -> NoReturn:
    """Say why sums over x are not finite; `names` are those of the columns."""
    if isinstance(x, Mixed):
        refuse(max(x.blocks, key=lambda block: np.nanmax(np.abs(block.values), initial=0.0)))
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
