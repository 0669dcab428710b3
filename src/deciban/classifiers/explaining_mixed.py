"""Evidence by column where columns have types of their own: cells and scales by the names of their levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.classifiers.explaining import Explaining
from deciban.frames import Column
from deciban.schema import Schema
from deciban.table import Block
from deciban.wording import absent


class ExplainingMixed(Explaining):
    """Mixin: needs a `_schema`, and `_columns(X, reset, least)` that reads a frame or an array."""

    _schema: Schema
    _columns: Any

    def _cells(self, X, x: Block) -> np.ndarray:
        out = np.full((x.n, len(self._schema.fields)), None, dtype=object)
        if isinstance(X, Block):
            return out
        given = {column.name: column for column in self._columns(X, False, 1)[0]}
        for j, field in enumerate(self._schema.fields):
            if field.name in given:
                column = given[field.name]
                levels = column.levels
                out[:, j] = column.values if levels is None else np.array([*levels, None], dtype=object)[column.values]
        return out

    def _candidates(self) -> list[np.ndarray]:
        """Levels by name; a missing cell is one of them where that is evidence."""
        none = [None] if self._schema.gaps is not None else []
        return [
            values if field.levels is None else np.array([*field.levels, *none, ""], dtype=object)[:-1]
            for field, values in zip(self._schema.fields, super()._candidates(), strict=True)
        ]

    def _rows_of(self, columns: list[np.ndarray]) -> Block:
        named = [_column(field, values) for field, values in zip(self._schema.fields, columns, strict=True)]
        return self._schema.read(named, len(columns[0]))[0]

    def _column_names(self) -> list[str]:
        return [f"x{name}" if isinstance(name, int) else name for name in self._schema.names]


def _column(field: Any, values: np.ndarray) -> Column:
    """Candidates as a column of a frame."""
    if field.levels is None:
        return Column(field.name, np.asarray(values, dtype=np.float64))
    levels = list(dict.fromkeys(value for value in values if not absent(value)))
    codes = [-1 if absent(value) else levels.index(value) for value in values]
    return Column(field.name, np.array(codes, dtype=np.int32), levels)
