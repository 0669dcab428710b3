"""The design matrix of a linear score, with standardised columns, one chunk of rows at a time.

Rows are A = [1, (x − mean) · rate] (without intercept: x · rate), so that sums of products of columns keep their digits
however the columns are scaled or shifted. Parameters of standard columns, s, are those of the columns themselves, θ,
by θ = back · s. A constant column in addition to an intercept is a column of exact zeros.

Coefficients are differences from the first class: θ is (m, p) with m = k − 1 and p columns, the intercept in front.

>>> import numpy as np
>>> rows = Design.of(np.array([[1.0, 7.0], [3.0, 7.0]]), np.array([0, 1]), None, k=2)
>>> rows.total(lambda a, y, w: a.T @ a).tolist()
[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
>>> rows.back.tolist()  # the slope per unit, and the intercept at 0
[[1.0, -2.0, -7.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from deciban import ops
from deciban.data.blocks import Counts, Reals, borders
from deciban.engines import threads

CONSTANT = 1e-13  # a column of smaller deviation, relative to its mean, counts as constant
CHUNK = 1 << 18  # least number of cells of a chunk of rows
KEPT = 1 << 22  # largest number of cells for which the rows in standard columns are kept


def as_block(X: Any) -> Reals | Counts:
    """A block of rows from a block, an array or a sparse matrix."""
    if isinstance(X, Reals | Counts):
        return X
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
        return Counts(X.indptr, X.indices, X.data, X.shape[1])
    return Reals(np.asarray(X))


@dataclass(frozen=True, eq=False)
class Design:
    """Rows, class codes and weights, and the standardisation of the columns."""

    x: Reals | Counts
    y: np.ndarray  # (n,), codes
    w: np.ndarray | None
    k: int
    intercept: bool
    mean: np.ndarray  # (d,), 0 where there is no intercept
    rate: np.ndarray  # (d,), 1 for a column that does not vary
    varies: np.ndarray  # (d,)

    @classmethod
    def of(cls, X: Any, y: np.ndarray, w: np.ndarray | None, k: int, intercept: bool = True) -> Design:
        x = as_block(X)
        y = np.ascontiguousarray(y, dtype=np.int32)
        if w is not None:
            w = np.ascontiguousarray(w, dtype=np.float64)
        moments = ops.moments(x.rows(0, x.n), np.zeros(x.n, dtype=np.int32), w, 1)
        mean, variance = moments.mean[0], moments.m2[0] / moments.n.sum()
        size = np.sqrt(variance if intercept else variance + mean**2)
        varies = size > (CONSTANT * np.abs(mean) if intercept else 0.0)
        rate = 1.0 / np.where(varies, size, 1.0)
        return cls(x, y, w, k, intercept, mean if intercept else np.zeros(x.d), rate, varies)

    @property
    def m(self) -> int:
        """Number of differences between classes."""
        return self.k - 1

    @property
    def p(self) -> int:
        """Number of parameters of a difference."""
        return self.x.d + self.intercept

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.x.n if self.w is None else self.w.sum())

    @cached_property
    def back(self) -> np.ndarray:
        """From parameters of standard columns to those of the columns themselves, (p, p)."""
        if not self.intercept:
            return np.diag(self.rate)
        out = np.diag(np.concatenate([[1.0], self.rate]))
        out[0, 1:] = -self.mean * self.rate
        return out

    def standard(self, theta: np.ndarray) -> np.ndarray:
        """Parameters (m, p) of the columns themselves → of standard columns."""
        if not self.intercept:
            return theta / self.rate
        slope = theta[:, 1:]
        return np.column_stack([theta[:, 0] + slope @ self.mean, slope / self.rate])

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Some rows in standard columns, (n, p)."""
        cells = self.x.rows(start, stop).dense()
        out = np.empty((len(cells), self.p))
        out[:, : self.intercept] = 1.0
        slopes = out[:, int(self.intercept) :]
        np.subtract(cells, self.mean, out=slopes)
        slopes *= self.rate * self.varies
        return out

    @cached_property
    def _chunks(self) -> list[tuple[np.ndarray | None, slice]]:
        spans = borders(self.x.n, self.x.n * self.m * self.p, CHUNK)
        small = self.x.n * self.p <= KEPT
        return [(self.rows(*span) if small else None, slice(*span)) for span in spans]

    def total(self, f: Callable[[np.ndarray, np.ndarray, np.ndarray], Any]) -> Any:
        """Σ f(rows in standard columns, codes, weights) over chunks; f may give an array or a tuple of arrays."""

        def of(chunk: tuple[np.ndarray | None, slice]) -> Any:
            a, span = chunk
            a = self.rows(span.start, span.stop) if a is None else a
            return f(a, self.y[span], np.ones(len(a)) if self.w is None else self.w[span])

        with threads.one_blas_thread():
            return threads.total(self._chunks, of, _plus)


def _plus(a: Any, b: Any) -> Any:
    return tuple(map(_plus, a, b)) if isinstance(a, tuple) else a + b
