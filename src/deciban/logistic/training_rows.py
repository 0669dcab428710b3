"""The training rows of a logistic regression, kept for its summary, intervals and Laplace posterior.

Standard errors and posteriors need one more pass over the rows, which costs as much as a step of Newton's method. Most
models never need it, so it is made when first used. Rows are not copied. Up to 64 MiB are kept with the model; larger
ones only as long as other objects hold them, so that the model of a large table stays small. A pickled model has the
results of the pass, not the rows.

>>> import numpy as np
>>> seen = TrainingRows(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), None, np.array([[-1.0, 1.0]]), 2, True)
>>> seen.curvature.n
3.0
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.ranges import Ranges
from deciban.logistic.design import Design, as_block
from deciban.logistic.likelihood import LikelihoodExpansion

HELD = 1 << 26  # largest size of rows that are kept, in bytes
QUICK = 1 << 30  # largest number of multiplications of a pass that pickling makes
WIDE = 4096  # largest number of coefficients for which the ranges of columns are pickled, for plots


class TrainingRows:
    """Rows (a block or an array; None: they are not available), class codes y, weights and the estimate θ (m, p)."""

    def __init__(
        self,
        X: Any,
        y: Any,
        w: np.ndarray | None,
        theta: np.ndarray,
        k: int,
        intercept: bool,
        candidates: Callable[[], Any] | None = None,
    ):
        self._candidates = candidates  # gives values of each column, if they are known without rows
        self._rows = RowsLost() if X is None else _keep(as_block(X))
        self._y, self._w = y, w
        self.theta, self.k, self.intercept = theta, k, intercept
        self.separated: Any = None  # the result of the check for separation, once made

    @property
    def alive(self) -> bool:
        """Whether the rows are available."""
        return self._rows() is not None

    @property
    def ranged(self) -> bool:
        """Whether the ranges of the columns are known."""
        return self.alive or self._candidates is not None or "ranges" in self.__dict__

    def rows(self) -> tuple[Reals | Counts, np.ndarray, np.ndarray | None]:
        x = self._rows()
        if x is None:
            raise DataError(
                "the training rows are not available: they are large or were streamed, or the model was "
                "loaded from a file\n\n"
                "hint: pass them again, as summary(X, y), and all other questions can be answered too"
            )
        return x, self._y, self._w

    def design(self) -> Design:
        x, y, w = self.rows()
        return Design.of(x, y, w, self.k, self.intercept)

    @cached_property
    def curvature(self) -> LikelihoodExpansion:
        return LikelihoodExpansion.at(self.design(), self.theta)

    @cached_property
    def ranges(self) -> Ranges:
        """The ranges of the columns."""
        return Ranges.of(self.rows()[0]) if self._candidates is None else Ranges.of_values(self._candidates())

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the rows; results of a pass over them are computed first, if that is quick."""
        if self.alive and len(self._y) * self.theta.size**2 <= QUICK:
            _ = self.curvature
        cells = self.theta.size * (len(self._y) if self.alive else 1)
        if self.ranged and self.theta.size <= WIDE and cells <= HELD:
            _ = self.ranges
        return self.__dict__ | {"_rows": RowsLost(), "_y": None, "_w": None, "_candidates": None}


class RowsLost:
    """No rows."""

    def __call__(self) -> None:
        return None


class RowsHeld:
    """Rows that are kept with the model."""

    def __init__(self, x: Reals | Counts):
        self.x = x

    def __call__(self) -> Reals | Counts:
        return self.x


class RowsReferenced:
    """Weak references to the memory of large rows; `indptr` of sparse rows, which may be a copy, is kept."""

    def __init__(self, x: Reals | Counts):
        self.d = x.d
        self.indptr: np.ndarray | None = None if isinstance(x, Reals) else x.indptr
        arrays = [x.values] if isinstance(x, Reals) else [x.indices, x.values]
        self.links = [_link(a) for a in arrays]

    def __call__(self) -> Reals | Counts | None:
        arrays = [link() for link in self.links]
        if any(a is None for a in arrays):
            return None
        return Reals(arrays[0]) if self.indptr is None else Counts(self.indptr, arrays[0], arrays[1], self.d)


def _keep(x: Reals | Counts) -> Callable[[], Reals | Counts | None]:
    arrays = [x.values] if isinstance(x, Reals) else [x.indptr, x.indices, x.values]
    return RowsHeld(x) if sum(a.nbytes for a in arrays) <= HELD else RowsReferenced(x)


def _link(a: np.ndarray) -> Callable[[], Any]:
    """A weak reference to the array that owns the memory of a, which may be a temporary view of it."""
    owner = a if a.base is None else a.base
    if type(owner) is not np.ndarray or owner.dtype != a.dtype or owner.ctypes.data != a.ctypes.data:
        return RowsLost()
    link, shape, strides = weakref.ref(owner), a.shape, a.strides

    def view() -> np.ndarray | None:
        there = link()
        return None if there is None else as_strided(there, shape, strides, writeable=False)

    return view
