"""The objective of logistic regression: a sum over rows, and a penalty.

    F(coef) = Σ_i w_i loss(x_i · coef, y_i)  +  ½ Σ_j ridge_j |coef_j|²  +  lasso Σ_j |coef_j|₁

Two classes have one margin (m = 1), k > 2 a score for each class (m = k). Parameters are flat, (m · p,), of a table
(m, p) whose last column is the intercept, which no penalty touches. Value, gradient and curvature are tallies: the
engine adds those of chunks of rows. The lasso is left to solvers that know what to do at its corner (`coordinate`).

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> objective = Objective.of(rows, l2=1.0)
>>> value, gradient = objective.slope(np.zeros(2))
>>> round(value, 4), gradient.tolist()
(1.3863, [-1.0, 0.0])
>>> objective.hessian(np.zeros(2)).tolist()
[[3.5, 1.0], [1.0, 0.5]]

The objective of logistic regression where the rows lie elsewhere: files, Dask, Spark. Every question is one pass.

In addition to the rows there is a sample of them, which gives a starting point and an estimate of the curvature, so
that few passes are needed. `ask(name, *arguments)` goes through all rows: it adds up what `Objective`'s method of that
name says of each batch, without penalties.

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
>>> rows = Table(Reals(np.array([[1.0], [3.0]])), np.array([0, 1], dtype=np.int32), None, 2)
>>> here, plain = Objective.of(rows, l2=1.0), Objective.of(rows)
>>> far = ObjectiveElsewhere.over(Distant(2, 1, 2), plain, 2.0, lambda name, *at: getattr(plain, name)(*at), here)
>>> far.slope(np.ones(2))[0] == here.slope(np.ones(2))[0]
True

Sparse rows without the columns that a ridge makes needless: those no row has, and all but one of a row's own.

A column without cells gets 0. Where columns are in one row only, with values v there, the ridge leaves nothing of their
coefficients but a multiple of v: one column of value |v| stands for all of them, and its b means b · v / |v|. Half the
words of a corpus occur once, so this halves what a fit works on, and is exact. Columns are ordered from the most
frequent on: those that are read all the time lie side by side.

>>> import numpy as np
>>> from deciban.data.blocks import Counts, Table
>>> x = Counts(np.array([0, 3, 5]), np.array([0, 2, 3, 0, 1]), np.array([1.0, 3.0, 4.0, 1.0, 2.0]), 5)
>>> small = ReducedObjective.of(Objective.of(Table(x, np.array([0, 1], dtype=np.int32), None, 2), l2=1.0))
>>> small.objective.x.dense().tolist()
[[1.0, 5.0, 0.0], [1.0, 0.0, 2.0]]
>>> small.unfold(np.array([0.5, 10.0, 2.0, -1.0])).tolist()
[0.5, 2.0, 6.0, 8.0, 0.0, -1.0]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import iadd
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from deciban import ops
from deciban.data.blocks import Counts, Reals, Table, borders
from deciban.engines import threads
from deciban.errors import DataError
from deciban.ops import logistic, spec
from deciban.ops.packed import Packed
from deciban.solvers.line_search import dot
from deciban.tallies.basic import SumTuple

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
        x = spec.design_cells(self.x, self.p).tocsc()
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
        ready = logistic.pack(x, coef)
        value, gradient = self._total(lambda x, y, w: logistic.slope(x, y, w, ready, self.m))
        penalty = self.ridge * coef
        return value + 0.5 * dot(penalty.ravel(), w), (logistic.unpack(x, gradient, self.m) + penalty).ravel()

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """(value, gradient, Hessian (m · p, m · p)) without the lasso, in one pass."""
        coef = np.ascontiguousarray(self.table(w))
        pairs = self.m * (self.m + 1) // 2
        least = max(CHUNK // (8 * pairs), pairs * self.p**2)  # more to do for a cell, and more to add
        value, gradient, blocks = self._total(lambda x, y, w: logistic.curve(x, y, w, coef), least)
        penalty, hessian = self.ridge * coef, logistic.assembled(blocks, self.m)
        diagonal = hessian.reshape(-1)[:: self.size + 1].reshape(self.m, self.p)
        diagonal += self.ridge
        return value + 0.5 * dot(penalty.ravel(), w), (gradient + penalty).ravel(), hessian

    def hessian(self, w: np.ndarray) -> np.ndarray:
        """(m · p, m · p)."""
        return self.curve(w)[2]

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        x, turn = self.x, self.table(v)
        ready, ready_v = logistic.pack(x, self.table(w)), logistic.pack(x, turn)
        (out,) = self._total(lambda x, _, w: (logistic.product(x, w, ready, ready_v, self.m),))
        return (logistic.unpack(x, out, self.m) + self.ridge * turn).ravel()

    def outset(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
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
        return self.outset(w)[2:]

    def margins(self, w: np.ndarray) -> np.ndarray:
        """x · coef, (n, m)."""
        coef, x = self.table(w), self.x
        slopes, bias = Packed.of(coef[:, : x.d]), coef[:, -1] if self.intercept else np.zeros(self.m)
        spans = borders(x.n, x.cells, CHUNK)
        parts = threads.map_ordered(spans, lambda span: ops.affine(x.rows(*span), slopes, bias, strict=True))
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
            slope, curvature = spec.along(z + t * turn, turn, rows.y, rows.w)
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


@dataclass(frozen=True)
class Distant:
    """Rows that are not in memory: their number, columns and classes."""

    n: int
    d: int
    k: int

    @property
    def x(self) -> Distant:
        return self

    @property
    def cells(self) -> int:
        return self.n * self.d


@dataclass(frozen=True, eq=False)
class ObjectiveElsewhere(Objective):
    sample: Objective  # of rows that are here, with as much less penalty
    mass: float  # Σ w of all rows
    ask: Callable[..., tuple] = field(repr=False)
    bent: bool = False  # whether a pass for the gradient brings the Hessian too, which the next step will ask for
    last: dict[tuple[str, bytes], tuple] = field(default_factory=dict, repr=False)

    @classmethod
    def over(
        cls, rows: Distant, sample: Objective, mass: float, ask: Callable[..., tuple], whole: Objective
    ) -> ObjectiveElsewhere:
        """With the penalties of `whole`, which has no rows."""
        share = sample.weight / mass
        some = replace(sample, ridge=whole.ridge * share, lasso=whole.lasso * share)
        return cls(rows, whole.ridge, whole.lasso, some, mass, ask)  # type: ignore[arg-type]

    @property
    def weight(self) -> float:
        return self.mass

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = (self.curve(w) if self.bent else self._once("slope", w))[:2]
        return value, gradient

    def curve(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = self._once("curve", w)
        return value, gradient, hessian

    def _once(self, what: str, w: np.ndarray) -> tuple:
        """Cache of the last result."""
        key = (what, w.tobytes())
        if key not in self.last:
            value, gradient, *hessian = self.ask(what, w)
            for matrix in hessian:
                matrix.flat[:: self.size + 1] += np.tile(self.ridge, self.m)
            self.last.clear()
            self.last[key] = (*self._pulled(w, value, gradient), *hessian)
        return self.last[key]

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        (out,) = self.ask("product", w, v)
        return out + np.tile(self.ridge, self.m) * v

    def outset(self, w: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        value, gradient, first, second = self.ask("outset", w)
        return *self._pulled(w, value, gradient), first, second + self.ridge

    def diagonal(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = self.ask("diagonal", w)
        return first, second + self.ridge

    def along(self, w: np.ndarray, ahead: np.ndarray, fall: float) -> Callable[[float], tuple[float, float]]:
        return self.sample.along_for(self.weight, w, ahead, fall)

    def thin(self, n: int) -> Objective:
        """The sample, however many rows were asked for."""
        return self.sample

    def columns(self, at: np.ndarray) -> ObjectiveElsewhere:
        inner = at[at < self.rows.d]
        return ObjectiveElsewhere(
            replace(self.rows, d=len(inner)),  # type: ignore[call-arg]
            self.ridge[at],
            self.lasso[at],
            self.sample.columns(at),
            self.mass,
            self.ask.of_columns(inner, len(inner) < len(at)),  # type: ignore[attr-defined]
        )

    def _pulled(self, w: np.ndarray, value: float, gradient: np.ndarray) -> tuple[float, np.ndarray]:
        pull = np.tile(self.ridge, self.m) * w
        return value + 0.5 * float(pull @ w), gradient + pull


WIDE = 1 << 17  # parameters from which it is worth a look


@dataclass(frozen=True)
class ReducedObjective:
    objective: Objective
    column: np.ndarray  # (d,): the column that stands for each
    share: np.ndarray  # (d,): by which its coefficient is multiplied

    @classmethod
    def where_it_pays(cls, objective: Objective) -> ReducedObjective | None:
        """If rows are sparse, vectors of parameters are what costs, columns have one ridge and many are needless."""
        x, ridge = objective.x, objective.ridge
        if not isinstance(x, Counts) or objective.m == 1 or objective.size < WIDE or objective.lasso.any():
            return None
        if not ridge[0] > 0 or np.ptp(ridge[: x.d]) > 0:
            return None
        common = np.count_nonzero(np.bincount(x.column_of(), minlength=x.d) > 1)
        return cls.of(objective) if common < 0.75 * x.d else None

    @classmethod
    def of(cls, objective: Objective) -> ReducedObjective:
        """Of sparse rows and one ridge for all columns."""
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
        """Parameters of the whole as those of this objective."""
        d, wide = len(self.column), self.objective.rows.d
        whole = w.reshape(self.objective.m, -1)
        sums = [np.bincount(self.column, self.share * one[:d], minlength=wide) for one in whole]
        return np.hstack([np.array(sums), whole[:, d:]]).ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of this objective as those of the whole."""
        table, wide = self.objective.table(w), self.objective.rows.d
        return np.hstack([table[:, self.column] * self.share, table[:, wide:]]).ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by parameters of this objective as that by those of the whole."""
        return self.unfold(gradient)
