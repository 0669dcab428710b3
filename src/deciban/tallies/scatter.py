"""Mean and scatter matrix by class: about the mean, as products without rounding, or as the rows themselves while those
are fewer than the columns.

A Scatter with the mixed fourth moments that Ledoit–Wolf shrinkage asks for, so that it too can be updated.

Per class, with a = x − mean:  p11[j, l] = Σ w a_j a_l,  p21[j, l] = Σ w a_j² a_l,  p22[j, l] = Σ w a_j² a_l².
Moving the centre by t mixes lower moments into higher ones; adding is moving both to the common mean first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from deciban.errors import NotAdditiveError
from deciban.tallies.basic import Tally, divide, doubles, mean_slack, negligible
from deciban.tallies.exact_tables import (
    ExactTable,
    are_finite,
    as_doubles,
    centred,
    classes_of,
    collapsed,
    columns_of,
    distinct,
    in_columns,
    is_moderate,
    is_nonzero,
    minus,
    plus,
    product,
    quotients,
    relabelled,
    scatter_classes,
    times,
    weight_by_class,
)


def negative_squares(scatter: np.ndarray) -> np.ndarray:
    """Which of the matrices (k, d, d) have sums of squares below zero, more than rounding leaves. (k,)"""
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    reach = np.abs(scatter).max(axis=(1, 2), initial=0.0)
    return np.asarray((squares < -1e-9 * reach[:, None]).any(axis=1))


def same_kind(a: Any, b: Any) -> Any:
    """b, dense, for a sum with a: settings that were changed after a fit may ask for other sums than the model has."""
    b = b.dense()
    if type(b) is not type(a) or b.pooled != a.pooled:
        raise NotAdditiveError(
            "settings that were changed after `fit` need other sums of these rows than the model has\n\n"
            "hint: set them back, or fit again on all rows"
        )
    return b


def settled(scatter: np.ndarray, before: np.ndarray, slack: np.ndarray | float = 0.0) -> np.ndarray:
    """Matrices (k, d, d) after a subtraction, where sums of squares that rounding left below zero are 0; in place."""
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    nothing = (squares < 0) & negligible(squares, np.diagonal(before, axis1=1, axis2=2), slack)
    group, at = np.nonzero(nothing)
    scatter[group, at, at] = 0.0
    return scatter


@dataclass(frozen=True)
class Quartic(Tally):
    mean: np.ndarray  # (k, d)
    p11: np.ndarray  # (k, d, d)
    p21: np.ndarray  # (k, d, d)
    p22: np.ndarray  # (k, d, d)

    @property
    def scatter(self) -> np.ndarray:
        return self.p11

    pooled, every_row = False, False

    def sound(self) -> bool:
        sums = (self.p11, self.p21, self.p22)
        shapes = (self.weight.shape, self.mean.shape) == ((self.k,), (self.k, self.d))
        fine = shapes and {p.shape for p in sums} == {(self.k, self.d, self.d)}
        return fine and doubles(self.weight, self.mean, *sums)

    def dense(self) -> Quartic:
        return self

    def short(self) -> np.ndarray:
        return super().short() | negative_squares(self.p11)

    def part(self, columns) -> Quartic:
        """Of some of the columns."""
        sums = (p[:, columns][:, :, columns] for p in (self.p11, self.p21, self.p22))
        return Quartic(self.weight, self.mean[:, columns], *sums)

    def finite(self) -> bool:
        with np.errstate(all="ignore"):
            return super().finite() and bool(np.isfinite((self.mean**4).sum()))

    def about(self, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three sums with a = x − centre."""
        t = self.mean - centre
        tj, tl = t[:, :, None], t[:, None, :]
        n = self.n[:, None, None]
        square = np.diagonal(self.p11, axis1=1, axis2=2)
        sj, sl = square[:, :, None], square[:, None, :]
        swapped = self.p21.transpose(0, 2, 1)
        p11 = self.p11 + n * tj * tl
        p21 = self.p21 + sj * tl + 2 * tj * self.p11 + n * tj**2 * tl
        p22 = (
            self.p22
            + 2 * (self.p21 * tl + swapped * tj)
            + sj * tl**2
            + sl * tj**2
            + 4 * tj * tl * self.p11
            + n * tj**2 * tl**2
        )
        return p11, p21, p22

    def __add__(self, other) -> Quartic:
        other = same_kind(self, other)
        weight = plus(self.weight, other.weight)
        mean = self.mean + (other.mean - self.mean) * divide(other.n, as_doubles(weight))[:, None]
        return Quartic(weight, mean, *(a + b for a, b in zip(self.about(mean), other.about(mean), strict=True)))

    def __sub__(self, other) -> Quartic:
        other = same_kind(self, other)
        weight = minus(self.weight, other.weight)
        n = as_doubles(weight)
        mean = self.mean + (self.mean - other.mean) * divide(other.n, n)[:, None]
        some = n[:, None] > 0
        mean = np.where(some, mean, 0.0)
        before = self.about(mean)
        sums = [np.where(some[:, None], a - b, 0.0) for a, b in zip(before, other.about(mean), strict=True)]
        slack = mean_slack(self.mean, mean - other.mean, other.n[:, None])
        return Quartic(weight, mean, settled(sums[0], before[0], slack), *sums[1:])

    def __mul__(self, scale: float) -> Quartic:
        return Quartic(times(self.weight, scale), self.mean, self.p11 * scale, self.p21 * scale, self.p22 * scale)

    def relabel(self, index: np.ndarray, k: int) -> Quartic:
        return self._relabel_collapsed(index, k)

    def of_classes(self, at: np.ndarray) -> Quartic:
        return self.take(at)

    def take(self, classes: np.ndarray) -> Quartic:
        sums = (self.mean[classes], self.p11[classes], self.p21[classes], self.p22[classes])
        return Quartic(classes_of(self.weight, classes), *sums)

    def collapse(self) -> Quartic:
        """All classes as one, k = 1."""
        weight = collapsed(self.weight)
        mean = divide(self.n @ self.mean, as_doubles(weight))[None]
        return Quartic(weight, mean, *(p.sum(0, keepdims=True) for p in self.about(mean)))


def _outer(scale: np.ndarray, delta: np.ndarray, pooled: bool) -> np.ndarray:
    """scale[c] · delta[c] delta[c]ᵀ of each class, (k, d, d), or their sum, (1, d, d)."""
    if pooled:
        return ((delta * scale[:, None]).T @ delta)[None]
    return scale[:, None, None] * delta[:, :, None] * delta[:, None, :]


class Scatter(Tally):
    """Per class n and Σ w x, exact; Σ w (x − mean)(x − mean)ᵀ per class, or pooled over the classes (one group)."""

    sums: ExactTable  # (k, d)
    scatter: np.ndarray  # (k, d, d), or (1, d, d) where pooled
    pooled: bool
    every_row = False  # rows with missing cells are left out

    @cached_property
    def mean(self) -> np.ndarray:
        """(k, d), rounded once."""
        return quotients(self.sums, self.weight)

    def dense(self) -> Self:
        return self

    def short(self) -> np.ndarray:
        left = ~is_nonzero(self.weight)[:, None] & is_nonzero(self.sums)
        return super().short() | left.any(axis=1)

    def of_classes(self, at: np.ndarray) -> Self:
        return self.take(at)

    def squares(self) -> np.ndarray:
        """Σ w (x − mean)² of each column, (k, d), or (1, d) where pooled."""
        return np.diagonal(self.scatter, axis1=1, axis2=2)


@dataclass(frozen=True)
class ExactScatter(Scatter):
    """A Scatter of products that are whole numbers of a power of two: no order of rows, no parts and no rows that were
    removed again change a bit. `scatter` is a view, rounded once for each class."""

    sums: ExactTable  # (k, d)
    products: ExactTable  # (k, d (d + 1) / 2), Σ w x_i x_j of columns i ≤ j, row after row
    pooled: bool = False

    @cached_property
    def class_scatter(self) -> np.ndarray:
        """Σ w (x − mean)(x − mean)ᵀ of each class, (k, d, d)."""
        return centred(self.weight, self.sums, self.products)

    @cached_property
    def scatter(self) -> np.ndarray:  # type: ignore[override]
        return self.class_scatter.sum(axis=0, keepdims=True) if self.pooled else self.class_scatter

    def sound(self) -> bool:
        k, d = self.k, self.d
        shapes = (self.weight.shape, self.sums.shape, self.products.shape) == ((k,), (k, d), (k, d * (d + 1) // 2))
        return shapes and doubles(self.weight, self.sums, self.products)

    def finite(self) -> bool:
        with np.errstate(all="ignore"):
            sizes = (self.n, self.mean * self.mean, *(() if is_moderate(self.products) else (self.scatter,)))
            return all(map(are_finite, sizes))

    def short(self) -> np.ndarray:
        """Σ w · Σ w x² < (Σ w x)² is true of no rows, too."""
        left = ~is_nonzero(self.weight)[:, None] & is_nonzero(self.products)
        squares = np.diagonal(self.class_scatter, axis1=1, axis2=2)
        return super().short() | left.any(axis=1) | (squares < 0).any(axis=1)

    def _each(self, operation: Callable[..., ExactTable], *others: Any) -> ExactScatter:
        every = (self, *(same_kind(self, other) for other in others))

        def of(name: str) -> ExactTable:
            return operation(*(getattr(t, name) for t in every))

        return ExactScatter(of("weight"), of("sums"), of("products"), self.pooled)

    def part(self, columns) -> ExactScatter:
        """Of some of the columns."""
        at = np.arange(self.d)[columns]
        first, second = np.triu_indices(len(at))
        i, j = np.minimum(at[first], at[second]), np.maximum(at[first], at[second])
        products = columns_of(self.products, i * self.d - i * (i - 1) // 2 + (j - i))
        return ExactScatter(self.weight, columns_of(self.sums, at), products, self.pooled)


@dataclass(frozen=True)
class CentredScatter(Scatter):
    """A Scatter of doubles about the mean: two doubles for each product."""

    sums: ExactTable  # (k, d)
    scatter: np.ndarray  # (k, d, d), or (1, d, d) where pooled
    rest: np.ndarray  # what the doubles of `scatter` leave of it
    pooled: bool = False

    @classmethod
    def from_means(
        cls, weight: ExactTable, mean: np.ndarray, scatter: np.ndarray, pooled: bool = False
    ) -> CentredScatter:
        """From means (k, d) and Σ w (x − mean)(x − mean)ᵀ as given."""
        return cls(weight, product(in_columns(weight, mean.shape[1]), mean), scatter, np.zeros_like(scatter), pooled)

    @cached_property
    def _means(self) -> tuple[np.ndarray, np.ndarray]:
        """The means (k, d) as two doubles: rounded, and what that leaves."""
        mean = quotients(self.sums, self.weight)
        return mean, quotients(minus(self.sums, product(in_columns(self.weight, self.d), mean)), self.weight)

    @property
    def mean(self) -> np.ndarray:
        """(k, d), rounded once."""
        return self._means[0]

    def _from(self, other: CentredScatter) -> np.ndarray:
        """The means less those of another tally, (k, d)."""
        (a, a_rest), (b, b_rest) = self._means, other._means
        return (a - b) + (a_rest - b_rest)

    def sound(self) -> bool:
        shapes = (self.weight.shape, self.sums.shape) == ((self.k,), (self.k, self.d))
        whole = self.scatter.shape == self.rest.shape == (1 if self.pooled else self.k, self.d, self.d)
        small = bool((np.abs(self.rest) <= 1e-15 * np.abs(self.scatter)).all())
        return shapes and whole and small and doubles(self.weight, self.sums, self.scatter, self.rest)

    def finite(self) -> bool:
        with np.errstate(all="ignore"):
            return super().finite() and are_finite(self.mean * self.mean)

    def __add__(self, other: Any) -> CentredScatter:
        other = same_kind(self, other)
        weight = plus(self.weight, other.weight)
        scale = self.n * divide(other.n, as_doubles(weight))
        between = _outer(scale, other._from(self), self.pooled)
        scatter = _sum_of_pairs(*_sum_of_pairs(self.scatter, self.rest, other.scatter, other.rest), between, 0.0)
        return CentredScatter(weight, plus(self.sums, other.sums), *scatter, self.pooled)

    def __sub__(self, other: Any) -> CentredScatter:
        other = same_kind(self, other)
        nothing = np.zeros_like(self.scatter)
        left = CentredScatter(
            minus(self.weight, other.weight), minus(self.sums, other.sums), nothing, nothing, self.pooled
        )
        scale = np.where(left.n > 0, left.n * divide(other.n, self.n), 0.0)
        between = _outer(scale, other._from(left), self.pooled)
        scatter, rest = _sum_of_pairs(self.scatter, self.rest, -between, 0.0)
        scatter, rest = _sum_of_pairs(scatter, rest, -other.scatter, -other.rest)
        emptied = ~(left.n > 0)
        if emptied.all() if self.pooled else emptied.any():
            scatter[slice(None) if self.pooled else emptied] = rest[slice(None) if self.pooled else emptied] = 0.0
        settled(scatter, self.scatter)
        return replace(left, scatter=scatter, rest=np.where(scatter == 0, 0.0, rest))

    def short(self) -> np.ndarray:
        return super().short() | negative_squares(self.scatter)

    def part(self, columns) -> CentredScatter:
        """Of some of the columns."""
        scatter, rest = (a[:, columns][:, :, columns] for a in (self.scatter, self.rest))
        return CentredScatter(self.weight, columns_of(self.sums, columns), scatter, rest, self.pooled)

    def __mul__(self, scale: float) -> CentredScatter:
        products = self.scatter * scale, self.rest * scale
        return CentredScatter(times(self.weight, scale), times(self.sums, scale), *products, self.pooled)

    def take(self, classes: np.ndarray) -> CentredScatter:
        scatter, rest = (a if self.pooled else a[classes] for a in (self.scatter, self.rest))
        return CentredScatter(
            classes_of(self.weight, classes), classes_of(self.sums, classes), scatter, rest, self.pooled
        )

    def relabel(self, index: np.ndarray, k: int) -> CentredScatter:
        weight, sums = relabelled(self.weight, index, k), relabelled(self.sums, index, k)
        scatter, rest = (a if self.pooled else scatter_classes(a, index, k) for a in (self.scatter, self.rest))
        out = CentredScatter(weight, sums, scatter, rest, self.pooled)
        if distinct(index):
            return out
        # classes that become one have their distances from the common mean in its scatter
        (mean, low), (own, own_low) = out._means, self._means
        between = _outer(self.n, (own - mean[index]) + (own_low - low[index]), self.pooled)
        between = between if self.pooled else scatter_classes(between, index, k)
        return CentredScatter(weight, sums, *_sum_of_pairs(scatter, rest, between, 0.0), self.pooled)


def _sum_of_pairs(a: np.ndarray, a_rest: Any, b: np.ndarray, b_rest: Any) -> tuple[np.ndarray, np.ndarray]:
    """The sum of two numbers that are two doubles each, as two doubles (Knuth 1997, section 4.2.2; Dekker 1971)."""
    total = a + b
    most = total - a
    rest = (a - (total - most)) + (b - most) + (a_rest + b_rest)
    out = total + rest
    return out, rest - (out - total)


@dataclass(frozen=True)
class RowScatter(Tally):
    """A Scatter of fewer rows than columns, kept as those rows with signed weights: d × d is never formed."""

    rows: np.ndarray  # (m, d)
    y: np.ndarray  # (m,)
    w: np.ndarray  # (m,), negative for removed rows
    pooled: bool = False
    fourth: bool = False  # grows into a Quartic instead of a Scatter
    every_row = False

    @classmethod
    def of(cls, rows, y, w, k: int, pooled: bool = False, fourth: bool = False) -> RowScatter:
        rows = np.array(rows, dtype=np.float64)
        w = np.ones(len(rows)) if w is None else np.array(w, dtype=np.float64)
        y = np.array(y, dtype=np.intp)
        return cls(weight_by_class(y, w, k), rows, y, w, pooled, fourth)

    def short(self) -> np.ndarray:
        return super().short() | (np.bincount(self.y[self.w < 0], minlength=self.k) > 0)

    def part(self, columns) -> RowScatter:
        """Of some of the columns."""
        return replace(self, rows=self.rows[:, columns])

    def sound(self) -> bool:
        m, k = len(self.w), self.k
        shapes = (self.weight.shape, self.y.shape, self.w.shape) == ((k,), (m,), (m,))
        shapes = shapes and self.rows.shape == (m, self.d)
        codes = self.y.dtype == np.intp and bool(((self.y >= 0) & (self.y < k)).all())
        return shapes and codes and doubles(self.weight, self.rows, self.w)

    @cached_property
    def sums(self) -> ExactTable:
        """Σ w x, (k, d)."""
        return relabelled(product(in_columns(self.w, self.rows.shape[1]), self.rows), self.y, self.k)

    @cached_property
    def mean(self) -> np.ndarray:
        """(k, d)"""
        return quotients(self.sums, self.weight)

    def finite(self) -> bool:
        """Whether the sums of squares (and of fourth powers, where asked for) will be finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite((self.rows ** (4 if self.fourth else 2)).sum()))

    @property
    def rows_kept(self) -> int:
        """How many training rows can be read from it."""
        return len(self.rows)

    def without_rows(self) -> CentredScatter | Quartic:
        return self.dense()

    def centred(self) -> np.ndarray:
        return self.rows - self.mean[self.y]

    def dense(self) -> CentredScatter | Quartic:
        nothing = np.zeros((1 if self.pooled else self.k, self.d, self.d))
        out = CentredScatter(self.weight, self.sums, nothing, nothing, self.pooled)
        centred = self.centred() - out._means[1][self.y]
        weighed = centred * self.w[:, None]
        if self.pooled:
            return replace(out, scatter=(weighed.T @ centred)[None])
        classes = [np.flatnonzero(self.y == c) for c in range(self.k)]
        p11 = np.stack([weighed[rows].T @ centred[rows] for rows in classes])
        if not self.fourth:
            return replace(out, scatter=p11)
        weighed, square = weighed * centred, centred**2
        p21 = np.stack([weighed[rows].T @ centred[rows] for rows in classes])
        p22 = np.stack([weighed[rows].T @ square[rows] for rows in classes])
        return Quartic(self.weight, self.mean, p11, p21, p22)

    def _joined(self, other: RowScatter, sign: float, weight: ExactTable) -> RowScatter:
        return replace(
            self,
            weight=weight,
            rows=np.concatenate([self.rows, other.rows]),
            y=np.concatenate([self.y, other.y]),
            w=np.concatenate([self.w, sign * other.w]),
        )

    def _cancelled(self) -> RowScatter:
        """The same without rows that were added and removed."""
        keys = np.ascontiguousarray(np.column_stack([self.y, self.rows])).view(f"V{8 * (self.rows.shape[1] + 1)}")
        _, first, which = np.unique(keys.ravel(), return_index=True, return_inverse=True)
        w = np.bincount(which.ravel(), self.w)
        keep = (np.abs(w) > 1e-12 * np.bincount(which.ravel(), np.abs(self.w))) & (self.n[self.y[first]] > 0)
        return replace(self, rows=self.rows[first[keep]], y=self.y[first[keep]], w=w[keep])

    def _fits(self, other: Any) -> bool:
        same = isinstance(other, RowScatter) and (other.pooled, other.fourth) == (self.pooled, self.fourth)
        return same and len(self.rows) + len(other.rows) < self.rows.shape[1]

    def __add__(self, other: Any) -> Any:
        if self._fits(other):
            return self._joined(other, 1.0, plus(self.weight, other.weight))
        return self.dense() + other

    def __sub__(self, other: Any) -> Any:
        if self._fits(other):
            return self._joined(other, -1.0, minus(self.weight, other.weight))._cancelled()
        return self.dense() - other

    def __mul__(self, scale: float) -> RowScatter:
        return replace(self, weight=times(self.weight, scale), w=self.w * scale)

    def relabel(self, index: np.ndarray, k: int) -> RowScatter:
        return replace(self, weight=relabelled(self.weight, index, k), y=np.asarray(index)[self.y])
