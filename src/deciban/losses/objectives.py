"""What logistic regression makes small: a sum over rows, and a penalty.

    F(coef) = Σ_i w_i loss(x_i · coef, y_i)  +  ½ Σ_j ridge_j |coef_j|²  +  lasso Σ_j |coef_j|₁

Two classes have one margin (m = 1), k > 2 a score for each class (m = k). Parameters are flat, (m · p,), of a table
(m, p) whose last column is the intercept, which no penalty touches. Value, gradient and curvature are tallies: the
engine adds those of chunks of rows. The lasso is left to solvers that know what to do at its corner (`coordinate`).

>>> import numpy as np
>>> from deciban.table import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> objective = Objective.of(rows, l2=1.0)
>>> value, gradient = objective.slope(np.zeros(2))
>>> round(value, 4), gradient.tolist()
(1.3863, [-1.0, 0.0])
>>> objective.hessian(np.zeros(2)).tolist()
[[3.5, 1.0], [1.0, 0.5]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import iadd
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from deciban import ops
from deciban.engines import threads
from deciban.errors import DataError
from deciban.losses import loss_ops, loss_spec
from deciban.packed import Packed
from deciban.table import Counts, Reals, Table, borders
from deciban.tallies.base import SumTuple
from deciban.vectors import dot

CHUNK = 1 << 20  # cells a chunk of rows has, at least
MANY = 1 << 20  # margins that are worth keeping to look along a line


@dataclass(frozen=True, repr=False)
class Objective:
    rows: Table
    ridge: np.ndarray  # (p,), 0 where there is no penalty
    lasso: np.ndarray  # (p,)

    @classmethod
    def of(
        cls,
        rows: Table,
        l2: float = 0.0,
        l1: float = 0.0,
        intercept: bool = True,
        bias_l2: float = 0.0,
        bias_l1: float = 0.0,
    ) -> Objective:
        """`bias_l2`, `bias_l1`: penalties of the intercept, for those who want them."""
        ridge, lasso = np.full(rows.d + intercept, l2), np.full(rows.d + intercept, l1)
        if intercept:
            ridge[-1], lasso[-1] = bias_l2, bias_l1
        return cls(rows, ridge, lasso)

    def __repr__(self) -> str:
        """
        >>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
        >>> Objective.of(rows, l2=1.0)
        Objective of 2 parameters: 2 rows, 1 column, 2 classes
        """
        n, d, k = self.rows.n, self.rows.d, self.rows.k
        return (
            f"Objective of {self.m * len(self.ridge)} parameters: {n:,} rows, {d} column{'s' * (d != 1)}, {k} classes"
        )

    @property
    def m(self) -> int:
        """Margins: 1 for two classes, else one for each class."""
        return 1 if self.rows.k == 2 else self.rows.k

    @property
    def p(self) -> int:
        """Parameters of a margin."""
        return len(self.ridge)

    @property
    def x(self) -> Reals | Counts:
        x = self.rows.x
        assert isinstance(x, Reals | Counts)
        return x

    @property
    def size(self) -> int:
        return self.m * self.p

    @property
    def intercept(self) -> bool:
        return self.p > self.rows.d

    @cached_property
    def weight(self) -> float:
        """Σ w."""
        return float(self.rows.n if self.rows.w is None else self.rows.w.sum())

    @cached_property
    def by_column(self) -> csc_array:
        """The cells (n, p), the intercept's too, column after column; for sparse rows."""
        x = loss_spec.cells(self.x, self.p).tocsc()
        if max(x.nnz, *x.shape) < 1 << 31:  # as the kernels take it
            x.indptr, x.indices = x.indptr.astype(np.int32), x.indices.astype(np.int32)
        return x

    def table(self, w: np.ndarray) -> np.ndarray:
        """Flat parameters as (m, p)."""
        w = np.asarray(w, dtype=np.float64)
        if w.size != self.size:
            raise DataError(
                f"{w.size} parameters where {self.m} × {self.p} are needed\n\n"
                f"hint: {self.rows.d} coefficients{' and an intercept' * self.intercept} for each of {self.m} score(s)"
            )
        return w.reshape(self.m, self.p)

    def centred(self, w: np.ndarray) -> np.ndarray:
        """The same probabilities from parameters that sum to 0 over the classes, where no lasso pins them: a ridge is
        least there, and without a penalty it is as good as any."""
        if self.m == 1:
            return w
        coef, free = self.table(w).copy(), self.lasso == 0
        coef[:, free] -= coef[:, free].mean(axis=0)
        return coef.ravel()

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """(value, gradient) without the lasso."""
        coef, x = self.table(w), self.x
        ready = loss_ops.ready(x, coef)
        value, gradient = self._total(lambda x, y, w: loss_ops.slope(x, y, w, ready, self.m))
        penalty = self.ridge * coef
        return value + 0.5 * dot(penalty.ravel(), w), (loss_ops.plain(x, gradient, self.m) + penalty).ravel()

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, Hessian (m · p, m · p)) without the lasso, in one pass."""
        coef = np.ascontiguousarray(self.table(w))
        pairs = self.m * (self.m + 1) // 2
        least = max(CHUNK // (8 * pairs), pairs * self.p**2)  # more to do for a cell, and more to add
        value, gradient, blocks = self._total(lambda x, y, w: loss_ops.curve(x, y, w, coef), least)
        penalty, hessian = self.ridge * coef, loss_ops.assembled(blocks, self.m)
        diagonal = hessian.reshape(-1)[:: self.size + 1].reshape(self.m, self.p)
        diagonal += self.ridge
        return value + 0.5 * dot(penalty.ravel(), w), (gradient + penalty).ravel(), hessian

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """(m · p, m · p)."""
        return self.curve(w)[2]

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        x, turn = self.x, self.table(v)
        ready, ready_v = loss_ops.ready(x, self.table(w)), loss_ops.ready(x, turn)
        (out,) = self._total(lambda x, _, w: (loss_ops.product(x, w, ready, ready_v, self.m),))
        return (loss_ops.plain(x, out, self.m) + self.ridge * turn).ravel()

    def outset(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """(value, gradient, Σ curvature · x, the Hessian's diagonal Σ curvature · x² + ridge) without the lasso, in one
        pass; the sums are (m, p)."""
        coef, x = self.table(w), self.x
        ready = loss_ops.ready(x, coef)
        value, *sums = self._total(lambda x, y, w: loss_ops.diagonal(x, y, w, ready, self.m))
        gradient, first, second = (loss_ops.plain(x, a, self.m) for a in sums)
        penalty = self.ridge * coef
        return value + 0.5 * dot(penalty.ravel(), w), (gradient + penalty).ravel(), first, second + self.ridge

    def diagonal(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ curvature · x, and the Hessian's diagonal, (m, p) each."""
        return self.outset(w)[2:]

    def margins(self, w: np.ndarray) -> np.ndarray:
        """x · coef, (n, m)."""
        coef, x = self.table(w), self.x
        slopes, bias = Packed.of(coef[:, : x.d]), coef[:, -1] if self.intercept else np.zeros(self.m)
        spans = borders(x.n, x.cells, CHUNK)
        parts = threads.each(spans, lambda span: ops.affine(x.rows(*span), slopes, bias, strict=True))
        return np.concatenate(list(parts))

    def along(self, w: np.ndarray, ahead: np.ndarray, fall: float) -> Callable[[float], tuple[float, float]]:
        """t → (slope, curvature) of the value at w + t · ahead, without another pass over the rows; of some of them
        where they are many, raised to the slope at 0 of all, which is known: `fall`."""
        if self.rows.n * self.m > MANY:
            return self.thin(MANY // self.m).along_for(self.weight, w, ahead, fall)
        return self._along(w, ahead)

    def along_for(
        self, weight: float, w: np.ndarray, ahead: np.ndarray, fall: float
    ) -> Callable[[float], tuple[float, float]]:
        """The same for rows of so much weight, of which these are a sample. Without what is known of all, the minimum
        of the sample would be the end of every line."""
        at, scale = self._along(w, ahead), weight / self.weight
        off = fall - scale * at(0.0)[0]

        def there(t: float) -> tuple[float, float]:
            slope, curvature = at(t)
            return scale * slope + off, scale * curvature

        return there

    def _along(self, w: np.ndarray, ahead: np.ndarray) -> Callable[[float], tuple[float, float]]:
        z, turn, rows = self.margins(w), self.margins(ahead), self.rows
        pull = np.tile(self.ridge, self.m) * ahead
        fall, bend = dot(pull, w), dot(pull, ahead)

        def at(t: float) -> tuple[float, float]:
            slope, curvature = loss_spec.along(z + t * turn, turn, rows.y, rows.w)
            return slope + fall + t * bend, curvature + bend

        return at

    def thin(self, n: int) -> Objective:
        """The same of n rows only, evenly spread, with as much less penalty."""
        rows = self.rows
        at = np.arange(n) * rows.n // n
        w = None if rows.w is None else np.ascontiguousarray(rows.w[at])
        some = Table(self.x.take(at), np.ascontiguousarray(rows.y[at]), w, rows.k)
        share = (n if w is None else float(w.sum())) / self.weight
        return replace(self, rows=some, ridge=self.ridge * share, lasso=self.lasso * share)

    def columns(self, at: np.ndarray) -> Objective:
        """The same with these columns of the parameters alone (sorted), dense: for sets that are small."""
        x, d = self.x, self.rows.d
        inner = at[at < d]
        if isinstance(x, Reals):
            x = Reals(np.ascontiguousarray(x.values[:, inner]))
        else:
            stored = csr_array((x.stored, x.column_of(), x.indptr - x.indptr[0]), shape=(x.n, d))
            x = Reals(stored[:, inner].toarray())
        return replace(self, rows=replace(self.rows, x=x), ridge=self.ridge[at], lasso=self.lasso[at])

    def _total(self, f: Callable[[Any, np.ndarray, Any], tuple], least: int | None = None) -> tuple:
        """Σ f over chunks of rows of at least so many cells, by the engine."""
        rows = self.rows
        spans = borders(rows.n, rows.x.cells, least or max(CHUNK, 2 * self.p * min(self.m, 3)))

        def of(span: tuple[int, int]) -> SumTuple:
            t = rows.rows(*span)
            return SumTuple(f(t.x, t.y, t.w))

        with np.errstate(all="ignore"):  # what is not finite is looked at by the caller
            return (of(spans[0]) if len(spans) == 1 else threads.total(spans, of, iadd)).parts
