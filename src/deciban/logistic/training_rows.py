"""The training rows of a logistic model, kept for the summary, intervals and leave-one-out.

Errors, tests and posteriors need one more pass over the rows, as dear as a step of Newton's method. Most fits are never
asked, so the pass waits until somebody does. Rows are not copied: up to 64 MiB are held together with the model; more
than that only for as long as others hold them, so that a model of large data stays small. A pickled model keeps the
answer, not the rows.

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

HELD = 1 << 26  # bytes of rows that are held
QUICK = 1 << 30  # multiplications that pickling may wait for
WIDE = 4096  # coefficients above which the ranges of columns are not kept for plots


class TrainingRows:
    """Rows (block or array; None: they went by), codes y, weights and the estimate θ (m, p)."""

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
        self._candidates = candidates  # values of each column, where they are known without rows
        self._rows = RowsLost() if X is None else _keep(as_block(X))
        self._y, self._w = y, w
        self.theta, self.k, self.intercept = theta, k, intercept
        self.separated: Any = None  # the result of the check for separation, once made

    @property
    def alive(self) -> bool:
        return self._rows() is not None

    @property
    def ranged(self) -> bool:
        """Whether it is known what columns ranged over."""
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
        """What the columns ranged over."""
        return Ranges.of(self.rows()[0]) if self._candidates is None else Ranges.of_values(self._candidates())

    def __getstate__(self) -> dict[str, Any]:
        """All but the rows; what they say is made first, if it takes no time."""
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
    """Rows that live with the model."""

    def __init__(self, x: Reals | Counts):
        self.x = x

    def __call__(self) -> Reals | Counts:
        return self.x


class RowsSummarised:
    """Weak references to the memory of the rows."""

    def __init__(self, x: Reals | Counts, arrays: list[np.ndarray]):
        self.d, self.links = x.d, [_link(a) for a in arrays]

    def __call__(self) -> Reals | Counts | None:
        arrays = [link() for link in self.links]
        if any(a is None for a in arrays):
            return None
        return Reals(arrays[0]) if len(arrays) == 1 else Counts(arrays[0], arrays[1], arrays[2], self.d)


def _keep(x: Reals | Counts) -> Callable[[], Reals | Counts | None]:
    arrays = [x.values] if isinstance(x, Reals) else [x.indptr, x.indices, x.values]
    return RowsHeld(x) if sum(a.nbytes for a in arrays) <= HELD else RowsSummarised(x, arrays)


def _link(a: np.ndarray) -> Callable[[], Any]:
    """A weak reference to an array, by the array that owns its memory: a itself is a passing view of that."""
    owner = a if a.base is None else a.base
    if type(owner) is not np.ndarray or owner.dtype != a.dtype or owner.ctypes.data != a.ctypes.data:
        return RowsLost()
    link, shape, strides = weakref.ref(owner), a.shape, a.strides

    def view() -> np.ndarray | None:
        there = link()
        return None if there is None else as_strided(there, shape, strides, writeable=False)

    return view
