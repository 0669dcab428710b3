"""Base of classifiers that model P(class | x) alone: how they read rows, and which columns they know.

Frames of complete numbers and arrays are read as they are; the columns of other frames are coded as numbers, see
`rows.coding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from deciban.classifiers.base import Classifier, unfitted
from deciban.data.blocks import Table
from deciban.rows import inputs
from deciban.rows.coding import LINEAR, Coding
from deciban.rows.readers import ArrayKind, ArrayReader, TableReader, warn_of_odd_columns
from deciban.rows.rows import ArrayRows, Rows


class Discriminative(Classifier):
    """Base of classifiers of coded columns: needs `_posterior(priors)` and `_is_fitted`."""

    n_features_in_: int
    _coding: Coding
    _origin = ArrayKind.plain
    _block: ClassVar[str] = "reals"
    _keeps_kind: ClassVar[bool] = False  # whether results have the dtype and library of X

    @property
    def _is_fitted(self) -> bool:
        raise NotImplementedError

    def _check_fitted(self) -> None:
        if not self._is_fitted:
            raise unfitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted

    @property
    def coef_names_(self) -> list[str]:
        """Names of the columns after coding: those of X, or what they are coded as, such as `sex=male`."""
        self._check_fitted()
        return self._reader().columns

    def _levels(self) -> dict[Any, list] | None:
        return self._reader().levels

    def _units(self) -> dict[Any, str]:
        return self._reader().units

    def _cell_reader(self, columns: Sequence[str]) -> Any:
        return self._posterior().reader.cell_reader(columns)

    def _is_coded(self) -> bool:
        return "_coding" in self.__dict__

    def _fills_columns(self) -> bool:
        return self._reader().fills_columns

    def _unfitted_reader(self) -> TableReader:
        """The reader of rows, before any were read."""
        name = type(self).__name__
        return TableReader(name, block=self._block, keeps_kind=self._keeps_kind, rule=LINEAR, complete=True)

    def _reader(self) -> ArrayReader:
        """The reader that knows the columns of training."""
        own = self.__dict__
        if self._is_coded():
            return replace(
                self._unfitted_reader().of_coding(self._coding),
                ignored=tuple(own.get("_left_out", ())),
                target=own.get("target_name_"),
                library=own.get("_library"),
            )
        return ArrayReader(
            type(self).__name__,
            block=self._block,
            keeps_kind=self._keeps_kind,
            d=self.n_features_in_,
            names=own.get("feature_names_in_"),
            labels=tuple(own.get("_frame_names", ())),
            ignored=tuple(own.get("_left_out", ())),
            origin=self._origin,
        )

    def _read_rows(self, X, y, sample_weight, partial: bool = False, classes: Any = None) -> ArrayRows:
        """Training rows in memory; `partial`: for `partial_fit`, where classes are named and columns may be known."""
        first = not partial or not self._is_fitted
        if first:
            found = self._unfitted_reader().training(X, y, w=sample_weight)
        else:
            found = self._reader().training(X, y, first=False)
        known = inputs.named_classes(None if first else self.classes_, classes) if partial else None
        known, codes = inputs.labels(found.y, known)
        if found.notes is not None:
            warn_of_odd_columns(found.notes(codes, known))
        x = found.x.rows(0, found.x.n)  # in a dtype of the kernels, converted once for all passes
        return ArrayRows(found.reader, known, Table(x, codes, inputs.weights(sample_weight, codes), len(known)), X)

    def _set_columns(self, rows: Rows) -> None:
        """Set the attributes that describe the classes and columns of the training rows."""
        reader = rows.reader
        self.classes_, self.n_features_in_, self._origin = rows.classes, reader.n_features, reader.origin
        frame_names = list(reader.labels) if reader.names is None and len(reader.labels) else None
        self._set_or_remove(feature_names_in_=reader.feature_names, _frame_names=frame_names, _left_out=None)
        self._set_or_remove(_coding=reader.coding, _library=reader.library)
        self._name_target(reader.target)

    def _set_or_remove(self, **values: Any) -> None:
        """Set attributes; those whose value is None are removed."""
        for name, value in values.items():
            self.__dict__.pop(name, None)
            if value is not None:
                self.__dict__[name] = value
