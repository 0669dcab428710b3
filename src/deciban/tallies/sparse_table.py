"""A table of classes × columns of which few cells are stored; all others are the sum of a class and a column value.

    value[c, j] = values[cell (c, j)] where the cell is stored, else of_class[c] + of_column[j]

Word counts are such a table (a class lacks most words), and so are their sums with pseudo-counts and the logarithms of
those. The table takes part in NumPy expressions, so that a formula over `Sums` is written once for dense and sparse
counts: it adds and subtracts numbers, arrays of shape (k, 1) and (d,) and tables of the same cells, and has `np.log`,
`np.maximum` (of a number) and `sum`. The first two need absent cells that depend on their class or their column alone.

>>> t = SparseTable.from_cells(np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32), np.array([3.0, 1.0, 2.0]), k=2)
>>> t.toarray().tolist(), (np.array([[5.0], [9.0]]) - t).toarray().tolist()
([[3.0, 1.0], [0.0, 2.0]], [[2.0, 4.0], [9.0, 7.0]])
>>> logs = np.log(t + np.array([1.0, 0.5]))
>>> np.exp(logs.toarray()).round(3).tolist(), np.exp(logs.of_column).round(3).tolist()
([[4.0, 1.5], [1.0, 2.5]], [1.0, 0.5])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

DENSE = 1 << 24  # largest number of cells of a table that is made dense for a product


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Values by class and column; column j has the stored cells start[j] … start[j + 1]."""

    start: np.ndarray  # (d + 1,)
    label: np.ndarray  # (m,), int32: the class of each stored cell
    values: np.ndarray  # (m,)
    of_class: np.ndarray  # (k,)
    of_column: Any  # (d,), or one number

    @classmethod
    def from_cells(
        cls, start: np.ndarray, label: np.ndarray, values: np.ndarray, k: int, column: np.ndarray | None = None
    ) -> SparseTable:
        """From the values of stored cells, and their columns if they are known; all other cells are 0."""
        out = cls(start, label, values, np.zeros(k), 0.0)
        if column is not None:
            vars(out)["column"] = column
        return out

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.of_class), len(self.start) - 1

    @cached_property
    def column(self) -> np.ndarray:
        """The column of each stored cell, (m,)."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.start))

    def excess(self) -> np.ndarray:
        """By how much each stored cell exceeds the value of an absent one, (m,)."""
        out = self.values
        for absent, at in ((self.of_class, self.label), (np.asarray(self.of_column), self.column)):
            if absent.any():
                out = out - (absent if absent.ndim == 0 else absent[at])
        return out

    def columns(self, index: np.ndarray) -> SparseTable:
        """These columns; one may be there several times."""
        sizes = np.diff(self.start)[index]
        start = np.concatenate([[0], np.cumsum(sizes)])
        cells = np.arange(start[-1]) + np.repeat(self.start[index] - start[:-1], sizes)
        of_column = self.of_column if np.ndim(self.of_column) == 0 else self.of_column[index]
        return SparseTable(start, self.label[cells], self.values[cells], self.of_class, of_column)

    def toarray(self) -> np.ndarray:
        """(k, d)"""
        out = np.empty(self.shape)
        out[:] = self.of_class[:, None] + self.of_column
        out[self.label, self.column] = self.values
        return out

    def multiplied(self, x: sparse.csr_array) -> np.ndarray:
        """Σ_j x[i, j] · value[c, j] of rows (n, d), as (n, k)."""
        k, d = self.shape
        cells = sparse.csr_array((self.excess(), self.label, self.start), shape=(d, k))
        out = x @ cells.toarray() if k * d <= DENSE else (x @ cells).toarray()
        if self.of_class.any():
            out += np.asarray(x.sum(axis=1))[:, None] * self.of_class
        if np.any(self.of_column):
            out += (x @ np.broadcast_to(self.of_column, d))[:, None]
        return out

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """The sum over classes (axis 0), over columns (axis 1), or of all cells."""
        k, d = self.shape
        if axis == 0:
            return np.bincount(self.column, self.excess(), minlength=d) + self.of_class.sum() + k * self.of_column
        by_class = np.bincount(self.label, self.excess(), minlength=k) + d * self.of_class
        by_class += np.broadcast_to(self.of_column, d).sum()
        if axis is None:
            return by_class.sum()
        return by_class[:, None] if keepdims else by_class

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        if method != "__call__" or settings:
            return NotImplemented
        if ufunc in (np.log, np.maximum):
            return self._mapped(ufunc, *inputs[1:])
        return _combined(ufunc, *inputs) if ufunc in (np.add, np.subtract) else NotImplemented

    def __add__(self, other: Any) -> SparseTable:
        return _combined(np.add, self, other)

    def __sub__(self, other: Any) -> SparseTable:
        return _combined(np.subtract, self, other)

    def __neg__(self) -> SparseTable:
        return self._changed(-self.values, -self.of_class, -np.asarray(self.of_column))

    def _changed(self, values: np.ndarray, of_class: np.ndarray, of_column: Any) -> SparseTable:
        out = replace(self, values=values, of_class=of_class, of_column=of_column)
        if "column" in vars(self):
            vars(out)["column"] = self.column  # the cells are the same
        return out

    def _mapped(self, f: Any, *numbers: float) -> SparseTable:
        """f(value, *numbers), cell by cell."""
        if not self.of_class.any():
            return self._changed(f(self.values, *numbers), self.of_class, f(self.of_column, *numbers))
        if np.any(self.of_column):
            raise ValueError(f"`{f.__name__}` of a sum of class and column values is no such sum")
        return self._changed(f(self.values, *numbers), f(self.of_class, *numbers), 0.0)


def _combined(f: Any, a: Any, b: Any) -> SparseTable:
    """The sum or difference of two tables of the same cells, or of a table and a number or array that spreads over
    it."""
    table = a if isinstance(a, SparseTable) else b

    def parts(one: Any) -> tuple[Any, Any, Any]:
        """(values of the stored cells, class values, column values)"""
        if isinstance(one, SparseTable):
            return one.values, one.of_class, one.of_column
        one = np.asarray(one)
        if one.ndim == 2:
            return one[table.label, 0], one[:, 0], 0.0
        if one.ndim == 1:
            return one[table.column], 0.0, one
        # a logarithm needs one of the two to be 0
        return (one, one, 0.0) if table.of_class.any() else (one, 0.0, one)

    return table._changed(*map(f, parts(a), parts(b)))
