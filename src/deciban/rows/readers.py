"""Frames and arrays as the columns that a schema knows, by name; labels of any library as an array.

Where an array came from (its dtype, and its library where that is not NumPy), so that answers can go back there.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

from deciban.data import frames
from deciban.data.blocks import Block, Mixed, Table
from deciban.display import format_list
from deciban.engines import threads
from deciban.errors import ColumnWarning, DataError, closest, levels_up
from deciban.rows.inputs import column_notes, missing_labels_named, refuse_missing
from deciban.rows.labels import several_types
from deciban.rows.rows import ColumnRoles, LabelledTally, rows_of
from deciban.rows.schema import Schema
from deciban.tallies import Bundle

COLUMNS: dict[str, list] = {"columns": [StrOptions({"align", "strict"})]}


class ReadingFrames:
    """Mixin of the classifiers of frames: needs `_new_schema(columns)`."""

    columns: str  # what is done about columns that are not those of training: "align", "strict"
    _schema: Schema
    _library: str | None  # of the frame that was learned from; None: an array
    _new_schema: Callable[[list[frames.Column]], Schema]
    _check_is_fitted: Callable[[], Any]
    _plain: Callable[[], Any]
    feature_names_in_: np.ndarray
    n_features_in_: int

    @property
    def levels_(self) -> dict[Any, list]:
        """The levels of each nominal column, by name."""
        self._check_is_fitted()
        return {field.name: list(field.levels) for field in self._schema.fields if field.levels is not None}

    def _training(self, X, y, reset: bool, least: int = 1, whole: bool = False) -> tuple[Block, np.ndarray]:
        X, y = frames.take_target(X, y)
        columns, n, new = self._columns(X, reset, least)
        target, y = getattr(y, "name", None), self._labels(y)
        check_consistent_length(columns[0].values, y.values if isinstance(y, frames.Column) else y)
        if reset:
            self._schema = self._new_schema(columns)
        else:
            self._check_grown(columns)
            self._schema = self._schema.grown(columns)
        x, absent = self._schema.read(columns, n, learning=True)
        self._say(absent, new)
        if whole:
            self._notes = partial(column_notes, columns, target=target)
        return x, y

    def _numbers_are_levels(self, name: Any) -> bool:
        """Whether the settings make levels of this column's numbers."""
        raise NotImplementedError

    def _check_grown(self, columns: list[frames.Column]) -> None:
        """Refuse numbers in a column that had no cell so far and was taken for levels."""
        empty = {field.name for field in self._schema.fields if field.levels == ()}
        for column in columns:
            numbers = column.name in empty and column.levels is None and not column.missing.all()
            if numbers and not self._numbers_are_levels(column.name):
                raise DataError(
                    f"column `{column.name}` had no cell in the rows so far, was taken for levels, and holds numbers "
                    "now\n\nhint: `fit` on all rows; or begin with a column of numbers (NaN in every row)"
                )

    def _part(self, batch: Any, reading: ColumnRoles) -> LabelledTally:
        """What the rows of a batch contribute; families and levels are those of the batch."""
        from deciban.io import batches

        classes, y = reading.labels(batch)
        kinds = dict(zip(reading.features, reading.kinds, strict=False))
        columns = batches.columns(batch, reading.features, kinds)
        found = tuple(
            batches.column_kind_or(batches.column_of(batch, name), kinds.get(name)) for name in reading.features
        )
        model = self._plain()
        model._schema = model._new_schema(columns)
        x, _ = model._schema.read(columns, batch.num_rows, learning=True)
        table = Table(x, y, reading.weights(batch), len(classes))
        tally, schema = model._part_of(table, self)
        return LabelledTally(classes, rows_of(table), tally, schema, found)

    def _part_of(self, table: Table, bare: Any) -> tuple[Bundle, Schema]:
        """The tally of a batch, and its schema, by a copy of the bare model."""
        return self._tally(table), self._schema  # type: ignore[attr-defined]

    def _take_part(self, part: LabelledTally) -> None:
        if part.schema is not None:
            self._schema = part.schema
        self._library = "pyarrow"
        super()._take_part(part)  # type: ignore[misc]

    def _readable(self, rows: Any, columns: Sequence[str]) -> Block:
        from deciban.io import batches

        found = batches.columns(rows, columns)
        return self._schema.read(self._by_position(found) if self._unnamed else found, rows.num_rows)[0]

    def _features(self, X) -> Block:
        if isinstance(X, Mixed):
            return X
        self._check_is_fitted()
        columns, n, new = self._columns(X, False, 1)
        x, absent = self._schema.read(columns, n)
        self._say(absent, new)
        return x

    def _labels(self, y: Any) -> np.ndarray | frames.Column:
        """Labels of any library and type as an array (or, a series of texts, as levels), every one of them there."""
        texts = frames.texts(y)
        if texts is not None and len(texts.values) and texts.values.min() >= 0:
            return texts
        if isinstance(y, (list, tuple)):
            refuse_missing(y)
        with missing_labels_named(y):
            if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
                y = np.asarray(y)
            y = _check_y(y, multi_output=False, estimator=self)
            if y.dtype.kind not in "iubOU":
                check_classification_targets(y)
            if y.dtype.kind == "O" and any(v is None or v != v for v in dict.fromkeys(y.tolist())):
                raise ValueError("Input y contains NaN")
        if y.dtype.kind == "O":
            labels = y.tolist()
            known = list(dict.fromkeys(labels))
            is_text = [isinstance(label, str) for label in known]
            if known and all(is_text):
                place = {label: code for code, label in enumerate(known)}
                codes = np.fromiter(map(place.__getitem__, labels), dtype=np.int32, count=len(labels))
                return frames.Column("y", codes, known)
            if any(is_text):
                raise several_types(known)
        return y

    def _columns(self, X, reset: bool, least: int) -> tuple[list[frames.Column], int, list[frames.Name]]:
        """(columns, number of rows, names of columns that were never learned, which are not looked into)."""
        X = frames.records(X)
        if not frames.is_frame(X):
            return *self._array(X, reset, least), []
        names = frames.names(X)
        n = len(X)
        if n < least or not names:
            cure = "see whether a filter took the rows" if names else "the frame has no columns; give it some"
            raise DataError(
                f"Found array with {n} sample(s) and {len(names)} feature(s) while a minimum of {max(least, 1)} is "
                f"required by {type(self).__name__}.\n\nhint: {cure}"
            )
        if reset:
            self.__dict__.pop("_left_out", None)
            self._library = frames.library(X)
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
        known = None if reset or self._unnamed else set(self._schema.names)
        columns = frames.columns(X, lambda f, series: threads.map_ordered(series, f), known)
        if not reset and self._unnamed:
            columns = self._by_position(columns)
        return columns, n, [] if known is None else [name for name in names if name not in known]

    def _array(self, X, reset: bool, least: int) -> tuple[list[frames.Column], int]:
        if isinstance(X, (list, tuple)) and np.ndim(X) == 2 and np.asarray(X).dtype.kind in "US":
            X = np.array(X, dtype=object)  # numbers beside texts stay numbers
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=least)
        if X.dtype.kind == "c":
            raise DataError("Complex data not supported: X has complex numbers\n\nhint: split them into columns")
        if reset:
            self._library = None
        columns = frames.columns(X)
        return columns if reset else self._by_position(columns), X.shape[0]

    @property
    def _unnamed(self) -> bool:
        """Whether the model learned from an array."""
        return isinstance(self._schema.fields[0].name, int)

    def _by_position(self, columns: list[frames.Column]) -> list[frames.Column]:
        """Columns that take the names of the schema's, where one of the two has no names of its own."""
        if len(columns) != self.n_features_in_:
            raise DataError(
                f"X has {len(columns)} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input\n\nhint: give the columns of training, in their order"
            )
        return [frames.Column(name, c.values, c.levels) for name, c in zip(self._schema.names, columns, strict=True)]

    def _warn_of_columns(self, notes: list[str]) -> None:
        warnings.warn(
            f"{'; '.join(notes)}\n\nhint: leave out what does not belong to X; "
            "warnings.simplefilter('ignore', deciban.errors.ColumnWarning) silences this",
            ColumnWarning,
            stacklevel=levels_up(),
        )

    def _say(self, absent: list, new: list) -> None:
        passed = {self.__dict__.get("target_name_"), *self.__dict__.get("_left_out", ())}
        new = [name for name in new if name not in passed]
        if len(absent) == len(self._schema.fields):
            raise DataError(
                f"none of the columns {format_list(self._schema.names)} is in X, which has {format_list(new)}\n\n"
                "hint: name the columns as in training"
            )
        if self.columns == "strict" and (absent or new):
            raise self._other_columns(absent, new)
        told = [f"{format_list(absent)} not in X: taken as missing in every row"] if absent else []
        told += [f"{format_list(new)} not known from training: ignored"] if new else []
        if told:
            warnings.warn("; ".join(told), UserWarning, stacklevel=levels_up())

    def _other_columns(self, absent: list, new: list) -> DataError:
        told = [f"{format_list(absent)} {_is(absent)} not in X"] if absent else []
        told += [f"{format_list(new)} {_is(new)} not known from training"] if new else []
        meant = [f"`{near}` for `{name}`" for name in new if (near := closest(name, absent))]
        hint = (
            f"did you mean {', '.join(meant)}?"
            if meant
            else f"the columns of training are {format_list(self._schema.names)}"
        )
        return DataError(f"{'; '.join(told)} (columns='strict')\n\nhint: {hint}")


def _is(names: list) -> str:
    return "is" if len(names) == 1 else "are"


@dataclass(frozen=True)
class ArrayKind:
    dtype: Any = None  # NumPy's; None: leave as it is
    library: str | None = None  # the array API namespace, by name: models stay picklable
    device: Any = None

    plain: ClassVar[ArrayKind]

    @classmethod
    def of(cls, X: Any) -> ArrayKind:
        """The origin of X: its floating dtype (whole numbers become doubles), and its library under dispatch."""
        if type(X) is np.ndarray:
            return _ORIGINS.get(X.dtype, cls.plain)
        if hasattr(X, "__array_namespace__") and get_config()["array_api_dispatch"]:
            from sklearn.utils._array_api import _find_matching_floating_dtype, get_namespace_and_device

            xp, _, device = get_namespace_and_device(X)
            name = str(_find_matching_floating_dtype(X, xp=xp)).rsplit(".", 1)[-1]
            return cls(np.dtype(name), xp.__name__, device)
        dtype = getattr(X, "dtype", None)
        return _ORIGINS.get(dtype, cls.plain) if isinstance(dtype, np.dtype) else cls.plain

    @property
    def coarse(self) -> bool:
        """Whether answers are rounded to less than doubles."""
        return self.dtype is not None and self.dtype.itemsize < 8

    def send(self, a: np.ndarray) -> Any:
        """An answer or parameter in the dtype and the library of X."""
        if self.dtype is not None and a.dtype != self.dtype:
            a = a.astype(self.dtype)
        return self._leave(a)

    def send_logs(self, logs: np.ndarray) -> Any:
        """Logarithms of probabilities, changed in place: one that rounds to 1 there has the logarithm 0."""
        if self.coarse:
            logs[logs > -np.finfo(self.dtype).eps / 4] = 0.0
        return self.send(logs)

    def send_labels(self, labels: np.ndarray) -> Any:
        """Labels go back too, unless they are strings, which only NumPy holds."""
        return labels if labels.dtype.kind in "OUST" else self._leave(labels)

    def _leave(self, a: np.ndarray) -> Any:
        return a if self._here else importlib.import_module(str(self.library)).asarray(a, device=self.device)

    @property
    def _here(self) -> bool:
        return self.library is None or self.library.endswith("numpy")


def check_same_array_library(method: Callable) -> Callable:
    """Refuse X of another array library than the model was fitted with (under scikit-learn's array API dispatch)."""

    @wraps(method)
    def checked(self, X, *args, **kwargs):
        foreign = type(X) is not np.ndarray or not self.__dict__.get("_origin", ArrayKind.plain)._here
        if foreign and self._keeps_kind and get_config()["array_api_dispatch"]:
            from sklearn.utils._array_api import check_same_namespace

            check_same_namespace(X, self, attribute=getattr(self, "_sent", "means_"), method=method.__name__)
        return method(self, X, *args, **kwargs)

    return checked


ArrayKind.plain = ArrayKind()
_ORIGINS = {
    np.dtype(np.float32): ArrayKind(np.dtype(np.float32)),
    np.dtype(np.float64): ArrayKind(np.dtype(np.float64)),
}
