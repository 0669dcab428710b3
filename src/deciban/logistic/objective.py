"""The objective of logistic regression: a loss that is a sum over rows, and a penalty.

    F(coef) = Σ_i w_i loss(x_i · coef, y_i)  +  ½ Σ_j ridge_j |coef_j|²  +  Σ_j lasso_j |coef_j|₁

Two classes have one margin (m = 1), k > 2 classes a score for each class (m = k). Parameters are flat, (m · p,): those
of a table (m, p) whose last column is the intercept. Values, gradients and Hessians are sums over rows, without the
lasso, which the solvers of `solvers.coordinate` treat.

`Objective` has its rows in memory, `BatchObjective` reads them batch by batch: one pass over all rows for each call.
`ReducedObjective` is an equivalent objective of sparse rows with fewer columns.

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
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
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import iadd
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.special import expit

from deciban import ops
from deciban.data.blocks import Counts, Reals, Table, borders
from deciban.engines import threads
from deciban.errors import DataError
from deciban.ops import logistic, spec
from deciban.ops.packed import Packed
from deciban.rows.rows import BatchRows
from deciban.solvers.line_search import dot
from deciban.tallies.basic import SumTuple

CHUNK = 1 << 20  # least number of cells of a chunk of rows
MANY = 1 << 20  # largest number of margins that are computed for a line search
LINE = 1 << 15  # least number of margins of a chunk of rows on a line


@dataclass(frozen=True, repr=False)
class PenalisedLoss:
    """Parameters and penalties: what objectives share wherever their rows are."""

    rows: Any
    ridge: np.ndarray  # (p,), 0 where there is no penalty
    lasso: np.ndarray  # (p,)

    def __repr__(self) -> str:
        """
        >>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
        >>> Objective.of(rows, l2=1.0)
        Objective of 2 parameters: 2 rows, 1 column, 2 classes
        """
        name, columns = type(self).__name__, f"{self.d} column{'s' * (self.d != 1)}"
        return f"{name} of {self.size} parameters: {self.n:,} rows, {columns}, {self.k} classes"

    @property
    def n(self) -> int:
        """Rows."""
        raise NotImplementedError

    @property
    def d(self) -> int:
        """Columns."""
        raise NotImplementedError

    @property
    def k(self) -> int:
        """Classes."""
        raise NotImplementedError

    @cached_property
    def m(self) -> int:
        """Margins: 1 for two classes, else one for each class."""
        return 1 if self.k == 2 else self.k

    @cached_property
    def p(self) -> int:
        """Parameters of a margin."""
        return len(self.ridge)

    @cached_property
    def size(self) -> int:
        """Parameters."""
        return self.m * self.p

    @cached_property
    def intercept(self) -> bool:
        return self.p > self.d

    def table(self, w: np.ndarray) -> np.ndarray:
        """Flat parameters as (m, p)."""
        w = np.asarray(w, dtype=np.float64)
        if w.size != self.size:
            raise DataError(
                f"{w.size} parameters where {self.m} × {self.p} are needed\n\n"
                f"hint: {self.d} coefficients{' and an intercept' * self.intercept} for each of {self.m} score(s)"
            )
        return w.reshape(self.m, self.p)

    def check_start(self, init: Any) -> np.ndarray:
        """A starting point that a user gives, (m, p), or (p,) of two classes, as flat parameters; None: zeros."""
        if init is None:
            return np.zeros(self.size)
        try:
            given = np.array(init, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        shape = (self.p,) if self.m == 1 else (self.m, self.p)
        if given.shape not in (shape, (self.m, self.p)) or not np.isfinite(given).all():
            raise DataError(
                f"`init` is no array of shape {shape} of finite numbers, with fit_intercept={self.intercept}\n\n"
                f"hint: {self.d} coefficient{'s' * (self.d != 1)}{', then the intercept' * self.intercept}"
                f"{', for each class' * (self.m > 1)}"
            )
        return given.ravel()

    def centred(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the same probabilities that sum to 0 over the classes, except those with a lasso. Of all
        equivalent parameters these have the smallest ridge penalty."""
        if self.m == 1:
            return w
        coef, free = self.table(w).copy(), self.lasso == 0
        coef[:, free] -= coef[:, free].mean(axis=0)
        return coef.ravel()


def penalties(
    d: int, l2: float = 0.0, l1: float = 0.0, intercept: bool = True, bias_l2: float = 0.0, bias_l1: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(ridge, lasso) of the parameters of a margin, (p,) each; `bias_l2`, `bias_l1`: those of the intercept."""
    ridge, lasso = np.full(d + intercept, l2), np.full(d + intercept, l1)
    if intercept:
        ridge[-1], lasso[-1] = bias_l2, bias_l1
    return ridge, lasso


@dataclass(frozen=True, repr=False)
class Objective(PenalisedLoss):
    """The objective of rows in memory."""

    rows: Table
    in_memory: ClassVar[bool] = True

    @classmethod
    def of(cls, rows: Table, l2: float = 0.0, l1: float = 0.0, intercept: bool = True, **bias: float) -> Objective:
        """The objective of these rows; see `penalties`."""
        return cls(rows, *penalties(rows.d, l2, l1, intercept, **bias))

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def d(self) -> int:
        return self.rows.d

    @property
    def k(self) -> int:
        return self.rows.k

    @property
    def x(self) -> Reals | Counts:
        x = self.rows.x
        assert isinstance(x, Reals | Counts)
        return x

    @property
    def dense(self) -> bool:
        """Whether every cell is stored."""
        return self.x.cells == self.n * self.d

    @cached_property
    def weight(self) -> float:
        """Σ w."""
        return float(self.rows.n if self.rows.w is None else self.rows.w.sum())

    @cached_property
    def by_column(self) -> csc_array:
        """The cells of sparse rows, with those of the intercept, in compressed columns, (n, p)."""
        x = spec.design_cells(self.x, self.p).tocsc()
        if max(x.nnz, *x.shape) < 1 << 31:  # as the kernels take it
            x.indptr, x.indices = x.indptr.astype(np.int32), x.indices.astype(np.int32)
        return x

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """(value, gradient) without the lasso."""
        coef, x = self.table(w), self.x
        ready = logistic.pack(x, coef)
        value, gradient = self._total(lambda x, y, w: logistic.slope(x, y, w, ready, self.m))
        penalty = self.ridge * coef
        return value + 0.5 * dot(penalty.ravel(), w), (logistic.unpack(x, gradient, self.m) + penalty).ravel()

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, Hessian (m · p, m · p)) without the lasso, in one pass."""
        coef = np.ascontiguousarray(self.table(w))
        pairs = self.m * (self.m + 1) // 2
        least = max(CHUNK // (8 * pairs), pairs * self.p**2 // 4)  # a cell costs more, and so does adding
        value, gradient, blocks = self._total(lambda x, y, w: logistic.curve(x, y, w, coef), least)
        penalty, hessian = self.ridge * coef, logistic.assembled(blocks, self.m)
        diagonal = hessian.reshape(-1)[:: self.size + 1].reshape(self.m, self.p)
        diagonal += self.ridge
        return value + 0.5 * dot(penalty.ravel(), w), (gradient + penalty).ravel(), hessian

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """(m · p, m · p)."""
        return self.curve(w)[2]

    def hessian_estimate(self, w: np.ndarray, n: int) -> np.ndarray:
        """The Hessian (m · p, m · p) of about n rows, drawn in proportion to the trace of their curvature in margins
        and weighed by its inverse: where classes are nearly separable, few rows have any."""
        if 2 * n >= self.n:
            return self.hessian(w)
        rows, trace = self.rows, self.curvature(w)
        total = float(trace.sum())
        if not 0.0 < total < np.inf:
            even = self.subsample(n)
            return even.hessian(w) * (self.weight / even.weight)
        times = np.diff(np.floor(np.cumsum(trace) * (n / total) + 0.5), prepend=0.0)
        at = np.flatnonzero(times > 0)
        weight = times[at] * (total / n) / trace[at] * (1.0 if rows.w is None else rows.w[at])
        some = Table(self.x.take(at), np.ascontiguousarray(rows.y[at]), weight, rows.k)
        return replace(self, rows=some).hessian(w)

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """The trace of the second derivatives of the loss of each row in its margins, (n,)."""
        coef, x = self.table(w), self.x
        slopes, bias = self._packed(coef)

        def of(span: tuple[int, int]) -> np.ndarray:
            z = ops.affine(x.rows(*span), slopes, bias, strict=True)
            share = expit(z) if self.m == 1 else ops.posterior(z, logs=False)
            out = np.einsum("nm,nm->n", share, 1.0 - share)
            return out if self.rows.w is None else out * self.rows.w[slice(*span)]

        return np.concatenate(list(threads.map_ordered(borders(x.n, x.cells, CHUNK), of)))

    def _packed(self, coef: np.ndarray) -> tuple[Any, np.ndarray]:
        """Slopes, as operations take them, and intercepts, of parameters (m, p)."""
        return Packed.of(coef[:, : self.d]), coef[:, -1] if self.intercept else np.zeros(self.m)

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        x, turn = self.x, self.table(v)
        ready, ready_v = logistic.pack(x, self.table(w)), logistic.pack(x, turn)
        (out,) = self._total(lambda x, _, w: (logistic.product(x, w, ready, ready_v, self.m),))
        return (logistic.unpack(x, out, self.m) + self.ridge * turn).ravel()

    def slope_and_diagonal(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """(value, gradient, Σ curvature · x, the Hessian's diagonal Σ curvature · x² + ridge) without the lasso, in one
        pass; the sums are (m, p)."""
        coef, x = self.table(w), self.x
        ready = logistic.pack(x, coef)
        value, *sums = self._total(lambda x, y, w: logistic.diagonal(x, y, w, ready, self.m))
        gradient, first, second = (logistic.unpack(x, a, self.m) for a in sums)
        penalty = self.ridge * coef
        return value + 0.5 * dot(penalty.ravel(), w), (gradient + penalty).ravel(), first, second + self.ridge

    def diagonal(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Σ curvature · x, and the Hessian's diagonal, (m, p) each."""
        return self.slope_and_diagonal(w)[2:]

    def margins(self, w: np.ndarray) -> np.ndarray:
        """x · coef, (n, m)."""
        x = self.x
        slopes, bias = self._packed(self.table(w))
        spans = borders(x.n, x.cells, CHUNK)
        parts = threads.map_ordered(spans, lambda span: ops.affine(x.rows(*span), slopes, bias, strict=True))
        return np.concatenate(list(parts))

    def along(self, w: np.ndarray, ahead: np.ndarray, fall: float) -> Callable[[float], tuple[float, float]]:
        """t → (slope, curvature) of the value at w + t · ahead. One pass computes the margins; no pass for each t. Many
        rows are represented by a sample; `fall` is the slope of all rows at t = 0."""
        if self.n * self.m > MANY:
            return self.on_lines.along_scaled(self.weight, w, ahead, fall)
        return self._along(w, ahead)

    @cached_property
    def on_lines(self) -> Objective:
        """The sample for line searches."""
        return self.subsample(MANY // self.m)

    def along_scaled(
        self, weight: float, w: np.ndarray, ahead: np.ndarray, fall: float
    ) -> Callable[[float], tuple[float, float]]:
        """`along` for rows of this total weight, of which the rows of this objective are a sample. Slopes are shifted
        so that the slope at t = 0 is that of all rows; otherwise every line would end at the minimum of the sample."""
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

        spans = [slice(*span) for span in borders(len(z), z.size, LINE)]

        def at(t: float) -> tuple[float, float]:
            def of(span: slice) -> np.ndarray:
                w, far = None if rows.w is None else rows.w[span], turn[span]
                return logistic.along(z[span] + t * far, far, rows.y[span], w)

            slope, curvature = threads.total(spans, of)
            return slope + fall + t * bend, curvature + bend

        return at

    def subsample(self, n: int) -> Objective:
        """The objective of n evenly spaced rows, with penalties in proportion."""
        rows = self.rows
        at = np.arange(n) * rows.n // n
        w = None if rows.w is None else np.ascontiguousarray(rows.w[at])
        some = Table(self.x.take(at), np.ascontiguousarray(rows.y[at]), w, rows.k)
        share = (n if w is None else float(w.sum())) / self.weight
        return replace(self, rows=some, ridge=self.ridge * share, lasso=self.lasso * share)

    def columns(self, at: np.ndarray) -> Objective:
        """The objective of these columns of the parameter table only (sorted), with dense rows."""
        x, d = self.x, self.d
        inner = at[at < d]
        if isinstance(x, Reals):
            x = Reals(np.ascontiguousarray(x.values[:, inner]))
        else:
            stored = csr_array((x.stored, x.column_of(), x.indptr - x.indptr[0]), shape=(x.n, d))
            x = Reals(stored[:, inner].toarray())
        return replace(self, rows=replace(self.rows, x=x), ridge=self.ridge[at], lasso=self.lasso[at])

    def _total(self, f: Callable[[Any, np.ndarray, Any], tuple], least: int | None = None) -> tuple:
        """Σ f over chunks of rows, of at least so many cells each."""
        rows = self.rows
        spans = borders(rows.n, rows.x.cells, least or max(CHUNK, 2 * self.p * min(self.m, 3)))

        def of(span: tuple[int, int]) -> SumTuple:
            t = rows.rows(*span)
            return SumTuple(f(t.x, t.y, t.w))

        with np.errstate(all="ignore"):  # the caller checks whether results are finite
            return (of(spans[0]) if len(spans) == 1 else threads.total(spans, of, iadd)).parts


@dataclass(frozen=True, eq=False)
class ChunkLoss:
    """rows → value, gradient and Hessian (or others) of their loss at given parameters, without penalty."""

    method: Callable[..., Any]  # of `Objective`
    at: tuple[np.ndarray, ...]  # its arguments
    factors: np.ndarray | None  # (k,), weights of the classes
    intercept: bool

    def __call__(self, rows: Table) -> SumTuple:
        objective = Objective.of(weigh_classes(in_row_order(rows), self.factors), intercept=self.intercept)
        parts = self.method(objective, *self.at)
        return SumTuple(parts if isinstance(parts, tuple) else (parts,))


def weigh_classes(rows: Table, factors: np.ndarray | None) -> Table:
    """The rows, their weights multiplied by those of their classes (k,), if there are any."""
    if factors is None:
        return rows
    return replace(rows, w=factors[rows.y] if rows.w is None else factors[rows.y] * rows.w)


def in_row_order(rows: Table) -> Table:
    """The rows, the cells of each side by side in memory, in a dtype of the kernels."""
    x = rows.x if isinstance(rows.x, Counts) else ops.in_rows(rows.x)  # type: ignore[arg-type]
    return replace(rows, x=x.rows(0, x.n))


CELLS = 1 << 20  # of a sample of the rows


def sample_size(d: int) -> int:
    """Number of rows, of d columns, of the sample that gives a starting point and an estimate of the Hessian."""
    return max(2 * d, min(1 << 15, CELLS // max(d, 1)))


@dataclass(frozen=True, eq=False, repr=False)
class BatchObjective(PenalisedLoss):
    """The objective of rows that are read batch by batch; each call is one pass over them.

    A sample of the rows, in memory, gives a starting point and an estimate of the Hessian, so that few passes are
    needed. The last result is kept: a solver often evaluates the same parameters twice.
    """

    rows: BatchRows
    factors: np.ndarray | None  # (k,), weights of the classes
    weight: float  # Σ w of all rows
    sample: Objective  # with penalties in proportion
    with_hessian: bool = False  # whether a pass for the gradient computes the Hessian too, for the next step
    last: dict[tuple[str, bytes], tuple] = field(default_factory=dict)
    in_memory: ClassVar[bool] = False
    dense: ClassVar[bool] = True

    @classmethod
    def of(
        cls, rows: BatchRows, ridge: np.ndarray, lasso: np.ndarray, factors: np.ndarray | None, weight: float
    ) -> BatchObjective:
        """The objective of rows with a sample, see `BatchRows.discover`."""
        assert rows.sample is not None
        table = in_row_order(rows.sample.table)
        table = weigh_classes(replace(table, w=table.weights() * rows.sample.counts()), factors)
        share = float(table.weights().sum()) / weight
        return cls(rows, ridge, lasso, factors, weight, Objective(table, ridge * share, lasso * share))

    @property
    def n(self) -> int:
        return int(self.rows.weights.sum())

    @property
    def d(self) -> int:
        return self.rows.reader.d

    @property
    def k(self) -> int:
        return len(self.rows.classes)

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = (self.curve(w) if self.with_hessian else self._once(Objective.slope, w))[:2]
        return value, gradient

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = self._once(Objective.curve, w)
        return value, gradient, hessian

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        (out,) = self._total(Objective.product, w, v)
        return out + np.tile(self.ridge, self.m) * v

    def slope_and_diagonal(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        value, gradient, first, second = self._total(Objective.slope_and_diagonal, w)
        return *self._penalised(w, value, gradient), first, second + self.ridge

    def diagonal(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.slope_and_diagonal(w)[2:]

    def along(self, w: np.ndarray, ahead: np.ndarray, fall: float) -> Callable[[float], tuple[float, float]]:
        return self.sample.along_scaled(self.weight, w, ahead, fall)

    def subsample(self, n: int) -> Objective:
        """The objective of the sample, for any n."""
        return self.sample

    def hessian_estimate(self, w: np.ndarray, n: int) -> np.ndarray:
        """The Hessian of the sample, in proportion; that of all rows if n is half of them."""
        if 2 * n >= self.n:
            return self.curve(w)[2]
        return self.sample.hessian(w) * (self.weight / self.sample.weight)

    def columns(self, at: np.ndarray) -> BatchObjective:
        inner = at[at < self.d]
        return BatchObjective(
            self.rows.with_columns(inner),
            self.ridge[at],
            self.lasso[at],
            self.factors,
            self.weight,
            self.sample.columns(at),
        )

    def _once(self, method: Callable[..., Any], w: np.ndarray) -> tuple:
        """(value, gradient, …) at w; the last result is kept."""
        key = (method.__name__, w.tobytes())
        if key not in self.last:
            value, gradient, *hessian = self._total(method, w)
            for matrix in hessian:
                matrix.flat[:: self.size + 1] += np.tile(self.ridge, self.m)
            self.last.clear()
            self.last[key] = (*self._penalised(w, value, gradient), *hessian)
        return self.last[key]

    def _total(self, method: Callable[..., Any], *at: np.ndarray) -> tuple:
        """One pass over all rows."""
        with np.errstate(all="ignore"):  # the caller checks whether results are finite
            return self.rows.total(ChunkLoss(method, at, self.factors, self.intercept)).parts

    def _penalised(self, w: np.ndarray, value: float, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        """Value and gradient with the ridge."""
        pull = np.tile(self.ridge, self.m) * w
        return value + 0.5 * float(pull @ w), gradient + pull


WIDE = 1 << 17  # least number of parameters for which a reduction is tried


@dataclass(frozen=True)
class ReducedObjective:
    """An equivalent objective of sparse rows without the columns that a ridge makes redundant.

    The coefficient of a column without cells is 0. If several columns have a cell in one row only, the same row, with
    values v there, their coefficients at the minimum are a multiple of v: one column of value |v| stands for all of
    them, and its coefficient b means b · v / |v|. This is exact. Half the words of a corpus occur once, so it halves
    the cost of a fit. Columns are in descending order of frequency, so that frequent ones are close in memory.

    >>> x = Counts(np.array([0, 3, 5]), np.array([0, 2, 3, 0, 1]), np.array([1.0, 3.0, 4.0, 1.0, 2.0]), 5)
    >>> small = ReducedObjective.of(Objective.of(Table(x, np.array([0, 1], dtype=np.int32), None, 2), l2=1.0))
    >>> small.objective.x.dense().tolist()
    [[1.0, 5.0, 0.0], [1.0, 0.0, 2.0]]
    >>> small.unfold(np.array([0.5, 10.0, 2.0, -1.0])).tolist()
    [0.5, 2.0, 6.0, 8.0, 0.0, -1.0]
    """

    objective: Objective
    column: np.ndarray  # (d,), the column that represents each
    share: np.ndarray  # (d,), factor of its coefficient

    @classmethod
    def where_it_pays(cls, objective: Objective) -> ReducedObjective | None:
        """The reduction, if rows are sparse, there are many parameters, all columns have the same ridge and many are
        redundant; else None."""
        x, ridge = objective.x, objective.ridge
        if not isinstance(x, Counts) or objective.m == 1 or objective.size < WIDE or objective.lasso.any():
            return None
        if not ridge[0] > 0 or np.ptp(ridge[: x.d]) > 0:
            return None
        common = np.count_nonzero(np.bincount(x.column_of(), minlength=x.d) > 1)
        return cls.of(objective) if common < 0.75 * x.d else None

    @classmethod
    def of(cls, objective: Objective) -> ReducedObjective:
        """The reduction for sparse rows and one ridge for all columns."""
        x, rows = objective.x, objective.rows
        assert isinstance(x, Counts)
        columns, values, row = x.column_of(), np.asarray(x.stored, dtype=np.float64), x.row_of()
        count = np.bincount(columns, minlength=x.d)
        alone = count[columns] == 1  # of each cell
        own, own_row, own_values = columns[alone], row[alone], values[alone]
        length = np.sqrt(np.bincount(own_row, own_values**2, minlength=x.n))
        common, holders = np.flatnonzero(count > 1), np.flatnonzero(length)
        common = common[np.argsort(-count[common], kind="stable")]
        wide = len(common) + len(holders)
        place = np.zeros(x.n, dtype=np.int64)
        place[holders] = np.arange(len(common), wide)
        column, share = np.zeros(x.d, dtype=np.int64), np.zeros(x.d)
        column[common], share[common] = np.arange(len(common)), 1.0
        column[own] = place[own_row]
        share[own] = np.divide(own_values, length[own_row], out=np.zeros_like(own_values), where=length[own_row] > 0)
        at = np.concatenate([row[~alone], holders]), np.concatenate([column[columns[~alone]], place[holders]])
        cells = csr_array((np.concatenate([values[~alone], length[holders]]), at), shape=(x.n, wide))
        fewer = Counts(cells.indptr, cells.indices, cells.data, wide)
        ridge = np.concatenate([np.full(wide, objective.ridge[0]), objective.ridge[x.d :]])
        return cls(Objective(replace(rows, x=fewer), ridge, np.zeros_like(ridge)), column, share)

    def fold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the reduced objective, from those of the whole."""
        d, wide = len(self.column), self.objective.d
        whole = w.reshape(self.objective.m, -1)
        sums = [np.bincount(self.column, self.share * one[:d], minlength=wide) for one in whole]
        return np.hstack([np.array(sums), whole[:, d:]]).ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the whole objective, from those of the reduced one."""
        table, wide = self.objective.table(w), self.objective.d
        return np.hstack([table[:, self.column] * self.share, table[:, wide:]]).ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient of the whole objective, from that of the reduced one."""
        return self.unfold(gradient)
