"""Sufficient statistics by class, which add up.

`Tally` is the base: addition, subtraction, scaling, relabelling of classes. `Bundle` holds several tallies of the same
rows, `ClassWeights` the weight of each class, `Sums` the sum of every column, `Moments` its mean and centred sum of
squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isfinite
from operator import iadd
from typing import Any, ClassVar

import numpy as np

from deciban.tallies.exact import ExactSums
from deciban.tallies.exact_tables import (
    ClassSums,
    ExactTable,
    as_doubles,
    classes_of,
    collapsed,
    columns_of,
    distinct,
    equal,
    first_column,
    is_moderate,
    is_negative,
    is_nonzero,
    mean_and_m2,
    minus,
    plus,
    relabelled,
    times,
)

WEIGHTS = (1e-100, 1e100)  # of a row or a class: the least and the largest, where it has one
NOTHING = 1e-12  # a share of weight that rounding alone can leave behind
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of a mean, as a share of it


def column(n: np.ndarray) -> np.ndarray:
    """n as something that divides (k, d) arrays: (k, 1) or (k, d)."""
    return n[:, None] if n.ndim == 1 else n


def in_range(n: np.ndarray) -> np.ndarray:
    """Where weights are neither 0 nor so small or large that squares of them are none."""
    return (n >= WEIGHTS[0]) & (n <= WEIGHTS[1])


def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a − b of two weights in doubles, where what rounding leaves is nothing."""
    n = a - b
    return np.where(np.abs(n) <= NOTHING * np.abs(a), 0.0, n)


def negligible(left: np.ndarray, before: np.ndarray, slack: np.ndarray | float = 0.0) -> np.ndarray:
    """Where sums of squares are zero up to rounding after a subtraction; `slack`: see `mean_slack`."""
    return (left <= NOTHING * np.abs(before)) & (left >= -1e-9 * np.abs(before) - slack)


def mean_slack(mean: np.ndarray, delta: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """How far rounding of the mean may move scale · delta², delta being a distance from it."""
    off = ROUNDING * np.abs(mean)
    return scale * (2.0 * np.abs(delta) + off) * off


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0)


def doubles(*tables: ExactTable) -> bool:
    """Whether tables are of doubles, or sound sums of them: asked of what comes from a file."""
    return all(a.dtype == np.float64 if isinstance(a, np.ndarray) else a.sound() for a in tables)


@dataclass(frozen=True)
class Tally:
    """What all tallies can do. The operations here are those of tallies that consist of exact tables: such sums do not
    depend on the order of rows, on how rows were cut into parts, or on rows that were added and removed again."""

    weight: ExactTable  # of the rows, (k,), or of the cells that are there, (k, d)
    every_row: ClassVar[bool] = True  # whether a weight of shape (k,) is that of all rows of each class

    @cached_property
    def n(self) -> np.ndarray:
        """The weight in doubles."""
        return as_doubles(self.weight)

    @property
    def k(self) -> int:
        return self.weight.shape[0]

    @property
    def class_weights(self) -> ExactTable | None:
        """The weight of all rows of each class, (k,); None: the tally does not know."""
        return self.weight if self.every_row and len(self.weight.shape) == 1 else None

    def finite(self) -> bool:
        """Whether every number is one, and squares of means too: updates square the distances of means. (A sum over all
        cells is NaN or infinite if any of them is.)"""
        with np.errstate(all="ignore"):
            named = [(f.name, getattr(self, f.name)) for f in fields(self)]
            tables = [(name, as_doubles(a)) for name, a in named if isinstance(a, np.ndarray | ExactSums | ClassSums)]
            arrays = [a * a if name == "mean" else a for name, a in tables]
            return all(isfinite(np.add.reduce(a, axis=None)) for a in arrays)

    @property
    def d(self) -> int:
        """Columns; 0 where none are counted."""
        first = [f.name for f in fields(self)][1:2]
        return getattr(self, first[0]).shape[1] if first else 0

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each part."""
        return (self.d,)

    def sound(self) -> bool:
        """Whether the arrays fit together and hold doubles: asked of a tally that comes from a file."""
        arrays = [getattr(self, f.name) for f in fields(self)]
        shapes = {a.shape for a in arrays[1:]}
        return doubles(*arrays) and shapes <= {(self.k, self.d)} and self.weight.shape in ((self.k,), (self.k, self.d))

    def short(self) -> np.ndarray:
        """Which classes (k,) have a negative weight after a subtraction."""
        return any_cell(is_negative(self.weight))

    def _each(self, operation: Callable[..., ExactTable], *others: Any) -> Any:
        """The tally of what an operation makes of each exact table of this one (and of others)."""
        names = [f.name for f in fields(self)]
        return type(self)(*(operation(*(getattr(t, name) for t in (self, *others))) for name in names))

    def __add__(self, other: Any) -> Any:
        return self._each(plus, other)

    def __sub__(self, other: Any) -> Any:
        return self._each(minus, other)

    def __mul__(self, scale: float) -> Any:
        return self._each(lambda a: times(a, scale))

    def __rmul__(self, scale: float) -> Any:
        return self * scale

    def relabel(self, index: np.ndarray, k: int) -> Any:
        """The same tally in a list of k classes, where class c stands at index[c]; classes at one place are one."""
        return self._each(lambda a: relabelled(a, index, k))

    def whole_cells(self, weight: ExactTable) -> Any:
        """The same tally with a weight (k,) if no cell is missing: if every column has the weight (k,) of the rows."""
        if len(self.weight.shape) == 1 or not self.d or not equal(self.weight, weight):
            return self
        return replace(self, weight=first_column(self.weight))

    def of_classes(self, at: np.ndarray) -> Any:
        """The same tally of the classes at these places; the others have no rows."""
        places = np.zeros(self.k, dtype=np.intp)
        places[at] = np.arange(len(at))
        return self.relabel(places, len(at))  # what is nothing is added to the first

    def take(self, classes: np.ndarray) -> Any:
        """These classes, in this order; a class may be there several times."""
        return self._each(lambda a: classes_of(a, classes))

    def collapse(self) -> Any:
        """All classes as one, k = 1."""
        return self._each(collapsed)

    def part(self, columns) -> Any:
        """Of some of the columns."""
        return self._each(lambda a: columns_of(a, columns))

    def _relabel_collapsed(self, index: np.ndarray, k: int):
        """`relabel` of a tally whose classes do not add cell by cell."""
        if distinct(index):
            return replace(self, **{f.name: relabelled(getattr(self, f.name), index, k) for f in fields(self)})
        names, places = [f.name for f in fields(self)], np.unique(index)
        groups = [replace(self, **{name: getattr(self, name)[index == at] for name in names}) for at in places]
        whole = [group.collapse() for group in groups]
        return replace(self, **{name: np.concatenate([getattr(one, name) for one in whole]) for name in names}).relabel(
            places, k
        )


def any_cell(cells: np.ndarray) -> np.ndarray:
    """Which classes (k,) have a cell of which it holds."""
    return np.asarray(cells.reshape(len(cells), -1).any(axis=1))


@dataclass(frozen=True)
class SumTuple:
    """Numbers and arrays that add."""

    parts: tuple[Any, ...]

    def __add__(self, other: SumTuple) -> SumTuple:
        return SumTuple(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __iadd__(self, other: SumTuple) -> SumTuple:
        """Add in place; no other object may hold this tally's memory."""
        return SumTuple(tuple(_into(a, b) for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True)
class Maximum:
    """The largest of some numbers; the sum of two is the maximum of both."""

    value: float

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(max(self.value, other.value))


def _into(a: Any, b: Any) -> Any:
    a += b
    return a


@dataclass(frozen=True)
class Bundle:
    """Several tallies of the same rows, added side by side."""

    parts: tuple
    every_row: ClassVar[bool] = True  # each part has its own

    def __repr__(self) -> str:
        """The kinds of the parts and the class weights; `parts` has the numbers."""
        if all(isinstance(part, Tally) and part.n.ndim == 1 for part in self.parts[:1]):
            n = np.array2string(self.parts[0].n, threshold=10, precision=6)
            return f"Bundle({', '.join(map(_kind, self.parts))}; class weights {n})"
        return _kind(self)

    @property
    def k(self) -> int:
        return self.parts[0].k

    @property
    def class_weights(self) -> np.ndarray | None:
        """The weight of all rows of each class, (k,), where one tally of the rows knows it; None: it does not."""
        return self.parts[0].class_weights if all(isinstance(p, SharedTally) for p in self.parts[1:]) else None

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(width for part in self.parts for width in part.widths)

    def finite(self) -> bool:
        return all(part.finite() for part in self.parts)

    def sound(self) -> bool:
        return all(part.sound() for part in self.parts)

    def short(self) -> np.ndarray:
        bad = np.zeros(self.k, dtype=bool)
        for part in self.parts:
            bad |= part.short()  # one that has no classes may be short of any
        return bad

    def __rmul__(self, scale: float) -> Bundle:
        return self * scale

    def __add__(self, other: Bundle) -> Bundle:
        return Bundle(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __iadd__(self, other: Bundle) -> Bundle:
        return Bundle(tuple(map(iadd, self.parts, other.parts)))

    def __sub__(self, other: Bundle) -> Bundle:
        return Bundle(tuple(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def __mul__(self, scale: float) -> Bundle:
        return Bundle(tuple(part * scale for part in self.parts))

    def relabel(self, index: np.ndarray, k: int) -> Bundle:
        return Bundle(tuple(part.relabel(index, k) for part in self.parts))

    def whole_cells(self, weight: ExactTable) -> Bundle:
        """Parts with a weight (k,) where no cell is missing; one without classes goes with the part before it."""
        parts: list[Any] = []
        for part in self.parts:
            if isinstance(part, SharedTally):
                some_missing = not parts or len(parts[-1].weight.shape) == 2 or len(part.part.weight.shape) == 1
                parts.append(part if some_missing else part.whole_cells(first_column(part.part.weight)))
            else:
                parts.append(part.whole_cells(weight))
        return Bundle(tuple(parts))

    def of_classes(self, at: np.ndarray) -> Bundle:
        return Bundle(tuple(part.of_classes(at) for part in self.parts))


def _kind(part: Any) -> str:
    return f"Bundle({', '.join(map(_kind, part.parts))})" if isinstance(part, Bundle) else type(part).__name__


def reordered(tally: Any, order: Sequence[int]) -> Any:
    """A tally, or several, with column order[j] in place j. One with several numbers for each column has them side by
    side, a run of all columns for each."""
    if isinstance(tally, Bundle):
        return Bundle(tuple(reordered(part, order) for part in tally.parts))
    if isinstance(tally, SharedTally):
        return SharedTally(reordered(tally.part, order))
    runs, d = tally.d // len(order), len(order)
    return tally.part([run * d + j for run in range(runs) for j in order]) if runs else tally


@dataclass(frozen=True)
class SharedTally:
    """A tally of all rows without classes: it adds like any other."""

    part: Tally

    @property
    def widths(self) -> tuple[int, ...]:
        return self.part.widths

    def finite(self) -> bool:
        return self.part.finite()

    def sound(self) -> bool:
        return self.part.sound()

    def short(self) -> bool:
        return bool(self.part.short().any())

    def __add__(self, other: SharedTally) -> SharedTally:
        return SharedTally(self.part + other.part)

    def __sub__(self, other: SharedTally) -> SharedTally:
        return SharedTally(self.part - other.part)

    def __mul__(self, scale: float) -> SharedTally:
        return SharedTally(self.part * scale)

    def relabel(self, index: np.ndarray, k: int) -> SharedTally:
        return self

    def whole_cells(self, weight: ExactTable) -> SharedTally:
        return SharedTally(self.part.whole_cells(weight))

    def of_classes(self, at: np.ndarray) -> SharedTally:
        return self


@dataclass(frozen=True)
class ClassWeights(Tally):
    """How much weight each class has: n (k,)."""


@dataclass(frozen=True)
class Sums(Tally):
    """Per class n and Σ w x, for x ≥ 0."""

    sums: ExactTable  # (k, d)

    @cached_property
    def total(self) -> np.ndarray:
        """Σ w x in doubles, (k, d)."""
        return as_doubles(self.sums)

    @cached_property
    def rounded(self) -> RoundedSums:
        return RoundedSums(self.n, self.total)

    def filled(self) -> RoundedSums:
        """Where a class has nothing of a column, the sums of all classes."""
        return self.rounded.filled(self.collapse)

    def short(self) -> np.ndarray:
        return super().short() | any_cell(is_negative(self.sums)) | _left_over(self.weight, self.sums)


@dataclass(frozen=True)
class Moments(Tally):
    """Per class n, Σ w x and Σ w x²; the mean and Σ w (x − mean)² are views of them, each rounded once."""

    sums: ExactTable  # (k, d)
    squares: ExactTable  # (k, d)

    @cached_property
    def rounded(self) -> RoundedMoments:
        return RoundedMoments(self.n, *mean_and_m2(self.weight, self.sums, self.squares))

    @property
    def mean(self) -> np.ndarray:
        """(k, d)"""
        return self.rounded.mean

    @property
    def m2(self) -> np.ndarray:
        """Σ w (x − mean)², (k, d)."""
        return self.rounded.m2

    def finite(self) -> bool:
        if is_moderate(self.squares):
            return isfinite(np.add.reduce(self.n, axis=None))
        with np.errstate(all="ignore"):
            return all(isfinite(np.add.reduce(a, axis=None)) for a in (self.n, self.mean * self.mean, self.m2))

    def short(self) -> np.ndarray:
        """Σ w · Σ w x² < (Σ w x)² is true of no rows, too."""
        left = _left_over(self.weight, self.sums) | _left_over(self.weight, self.squares)
        return super().short() | left | any_cell(is_negative(self.squares)) | any_cell(self.m2 < 0)

    def filled(self) -> RoundedMoments:
        """Where a class has nothing of a column, the moments of all classes."""
        return self.rounded.filled(self.collapse)


@dataclass(frozen=True)
class RoundedSums:
    """`Sums` in doubles: to estimate from, not to add to."""

    n: np.ndarray  # (k,) or (k, d)
    total: Any  # (k, d)

    @property
    def k(self) -> int:
        return len(self.n)

    @property
    def d(self) -> int:
        return self.total.shape[1]

    def collapse(self) -> RoundedSums:
        """All classes as one, k = 1."""
        return RoundedSums(self.n.sum(axis=0, keepdims=True), self.total.sum(axis=0, keepdims=True))

    def filled(self, collapse: Callable[[], Any] | None = None) -> RoundedSums:
        """Where a class has nothing of a column, the sums of all classes."""
        n = np.broadcast_to(column(self.n), self.total.shape)
        empty = n <= 0
        if not empty.any():
            return self
        whole = (collapse or self.collapse)()
        parts = (column(whole.n), n), (whole.total, self.total)
        return RoundedSums(*(np.where(empty, every, own) for every, own in parts))


@dataclass(frozen=True)
class RoundedMoments:
    """`Moments` in doubles: to estimate from, not to add to."""

    n: np.ndarray  # (k,) or (k, d)
    mean: np.ndarray  # (k, d)
    m2: np.ndarray  # (k, d), Σ w (x − mean)²

    @property
    def k(self) -> int:
        return len(self.n)

    @property
    def d(self) -> int:
        return self.mean.shape[1]

    def collapse(self) -> RoundedMoments:
        """All classes as one, k = 1."""
        n = column(self.n)
        total = np.add.reduce(n, 0, keepdims=True)
        start = self.mean[:1]
        mean = start + divide(np.add.reduce(n * (self.mean - start), 0, keepdims=True), total)
        m2 = np.add.reduce(self.m2 + n * (self.mean - mean) ** 2, 0, keepdims=True)
        return RoundedMoments(total if self.n.ndim == 2 else total[:, 0], mean, m2)

    def filled(self, collapse: Callable[[], Any] | None = None) -> RoundedMoments:
        """Where a class has nothing of a column, the moments of all classes."""
        n = np.broadcast_to(column(self.n), self.mean.shape)
        empty = n <= 0
        if not empty.any():
            return self
        whole = (collapse or self.collapse)()
        parts = (column(whole.n), n), (whole.mean, self.mean), (whole.m2, self.m2)
        return RoundedMoments(*(np.where(empty, every, own) for every, own in parts))


def _left_over(weight: ExactTable, sums: ExactTable) -> np.ndarray:
    """Which classes (k,) have sums of no rows that are not 0: some of the rows that were removed were never there."""
    none = ~is_nonzero(weight)
    return any_cell(none.reshape(len(none), -1) & is_nonzero(sums))
