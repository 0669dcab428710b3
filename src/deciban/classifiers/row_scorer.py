"""Single rows → probabilities, with the columns resolved once.

Rows whose cells have the types of training are read by a `CellReader`; all others like a frame of one row, with its
answers and errors. Probabilities are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.errors import DataError


class RowScorer:
    """Single rows of a fitted classifier, see `row_scorer`."""

    def __init__(self, model: Any, columns: Sequence[str] | None = None) -> None:
        self._posterior = model._posterior()
        names = frames.feature_names(model)
        if columns is not None and not names:
            raise DataError(
                f"this {type(model).__name__} learned from rows without column names\n\nhint: leave out `columns`"
            )
        self.classes_: np.ndarray = model.classes_
        self.columns = tuple(names if columns is None else map(str, columns))
        twice = [name for name in self.columns if self.columns.count(name) > 1]
        if twice:
            raise DataError(f"two columns are named `{twice[0]}`\n\nhint: give every column a name of its own")
        self._read = model._cell_reader(self.columns) if names else None
        self._names = names

    def predict_proba(self, row: Any) -> np.ndarray:
        """P(class | row), (k,)."""
        return np.asarray(self._posterior.proba(self._rows(row)))[0]

    def predict(self, row: Any) -> Any:
        """The most probable class of a row."""
        return self._posterior.labels(self._rows(row)).tolist()[0]

    def _rows(self, row: Any) -> Any:
        """The row as the posterior reads it."""
        found = None if self._read is None else self._read(row)
        if found is not None:
            return found
        if isinstance(row, Mapping):
            cells = dict(row)
        elif not self._names:
            return [row]
        elif not isinstance(row, Collection) or isinstance(row, str | bytes):
            raise DataError(f"{row!r:.80} is no row\n\nhint: give a dictionary, or a sequence of cells")
        elif len(row) != len(self.columns):
            raise DataError(
                f"the row has {len(row)} cells, and there are {len(self.columns)} columns\n\n"
                f"hint: give a cell for each of {', '.join(self.columns)}"
            )
        else:
            cells = dict(zip(self.columns, row, strict=True))
        return [{name: cells.get(name) for name in self._names}]
