"""Sufficient statistics by class, which add up.

`Tally` is the base: addition, subtraction, scaling, relabelling of classes. `Bundle` holds several tallies of the same
rows, `ClassWeights` the weight of each class, `Sums` the sum of every column, `Moments` its mean and centred sum of
squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from operator import iadd
from typing import Any, ClassVar

import numpy as np

WEIGHTS = (1e-100, 1e100)  # of a row or a class: the least and the largest, where it has one
NOTHING = 1e-12  # a share of weight that rounding alone can leave behind
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of a mean, as a share of it


def column(n: np.ndarray) -> np.ndarray:
    """n as something that divides (k, d) arrays: (k, 1) or (k, d)."""
    return n[:, None] if n.ndim == 1 else n


def in_range(n: np.ndarray) -> np.ndarray:
    """Where weights are neither 0 nor so small or large that squares of them are none."""
    return (n >= WEIGHTS[0]) & (n <= WEIGHTS[1])


def broadcast_weights(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two n of one shape: the (k,) one is spread over the columns if the other is (k, d)."""
    if a.ndim == b.ndim:
        return a, b
    return (np.broadcast_to(column(a), b.shape), b) if a.ndim < b.ndim else (a, np.broadcast_to(column(b), a.shape))


def subtract(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a − b of two weights, where what rounding leaves is nothing."""
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


def scatter_classes(a: np.ndarray, index: np.ndarray, k: int) -> np.ndarray:
    """a (classes, …) as (k, …), where a[c] is added at index[c]."""
    out = np.zeros((k, *a.shape[1:]))
    if distinct(index):
        out[index] = a
    else:
        np.add.at(out, index, a)
    return out


def distinct(index: np.ndarray) -> bool:
    """Whether all classes stand at places of their own."""
    return len(np.unique(index)) == len(index)


def doubles(*arrays: np.ndarray) -> bool:
    return all(a.dtype == np.float64 for a in arrays)


@dataclass(frozen=True)
class Tally:
    """What all tallies can do; `+` and `−` are theirs, a scalar and relabelling are common."""

    n: np.ndarray
    every_row: ClassVar[bool] = True  # whether an n of shape (k,) is the weight of all rows of each class

    @property
    def k(self) -> int:
        return self.n.shape[0]

    @property
    def class_weights(self) -> np.ndarray | None:
        """The weight of all rows of each class, (k,); None: the tally does not know."""
        return self.n if self.every_row and self.n.ndim == 1 else None

    def finite(self) -> bool:
        """Whether every number is one, and squares of means too: updates square the distances of means. (A sum over all
        cells is NaN or infinite if any of them is.)"""
        with np.errstate(all="ignore"):
            arrays = [a * a if name == "mean" else a for name, a in vars(self).items() if isinstance(a, np.ndarray)]
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
        return doubles(*arrays) and shapes <= {(self.k, self.d)} and self.n.shape in ((self.k,), (self.k, self.d))

    def short(self) -> np.ndarray:
        """Which classes (k,) have a negative weight after a subtraction."""
        return np.any((self.n < 0).reshape(self.k, -1), axis=1)

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def __sub__(self, other: Any) -> Any:
        raise NotImplementedError

    def __mul__(self, scale: float) -> Any:
        raise NotImplementedError

    def __rmul__(self, scale: float) -> Any:
        return self * scale

    def take(self, classes: np.ndarray):
        """These classes, in this order; a class may be there several times."""
        return replace(self, **{f.name: getattr(self, f.name).take(classes, axis=0) for f in fields(self)})

    def relabel(self, index: np.ndarray, k: int):
        """The same tally in a list of k classes, where class c stands at index[c]; classes at one place are one."""
        return replace(self, **{f.name: scatter_classes(getattr(self, f.name), index, k) for f in fields(self)})

    def collapse(self) -> Any:
        """All classes as one, k = 1."""
        raise NotImplementedError

    def _relabel_collapsed(self, index: np.ndarray, k: int):
        """`relabel` of a tally whose classes do not add cell by cell."""
        if distinct(index):
            return Tally.relabel(self, index, k)
        names, places = [f.name for f in fields(self)], np.unique(index)
        groups = [replace(self, **{name: getattr(self, name)[index == at] for name in names}) for at in places]
        whole = [group.collapse() for group in groups]
        return replace(self, **{name: np.concatenate([getattr(one, name) for one in whole]) for name in names}).relabel(
            places, k
        )


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


@dataclass(frozen=True)
class ClassWeights(Tally):
    """How much weight each class has: n (k,)."""

    def __add__(self, other: ClassWeights) -> ClassWeights:
        return ClassWeights(self.n + other.n)

    def __sub__(self, other: ClassWeights) -> ClassWeights:
        return ClassWeights(subtract(self.n, other.n))

    def __mul__(self, scale: float) -> ClassWeights:
        return ClassWeights(self.n * scale)


@dataclass(frozen=True)
class Sums(Tally):
    """Per class n and Σ w x, for x ≥ 0."""

    total: np.ndarray  # (k, d)

    def part(self, columns) -> Sums:
        """Of some of the columns."""
        return Sums(self.n if self.n.ndim == 1 else self.n[:, columns], self.total[:, columns])

    def collapse(self) -> Sums:
        """All classes as one, k = 1."""
        return Sums(self.n.sum(axis=0, keepdims=True), self.total.sum(axis=0, keepdims=True))

    def filled(self) -> Sums:
        """Where a class has nothing of a column, the sums of all classes."""
        n = np.broadcast_to(column(self.n), self.total.shape)
        empty = n <= 0
        if not empty.any():
            return self
        return Sums(np.where(empty, n.sum(axis=0), n), np.where(empty, self.total.sum(axis=0), self.total))

    def short(self) -> np.ndarray:
        return super().short() | (self.total < 0).any(axis=1)

    def __add__(self, other: Sums) -> Sums:
        a, b = broadcast_weights(self.n, other.n)
        return Sums(a + b, self.total + other.total)

    def __iadd__(self, other: Sums) -> Sums:
        """The same, into this tally's memory: for sums of large tables with a single owner."""
        a, b = broadcast_weights(self.n, other.n)
        return Sums(a + b, np.add(self.total, other.total, out=self.total))

    def __sub__(self, other: Sums) -> Sums:
        a, b = broadcast_weights(self.n, other.n)
        total = self.total - other.total
        return Sums(subtract(a, b), np.where(np.abs(total) <= NOTHING * np.abs(self.total), 0.0, total))

    def __mul__(self, scale: float) -> Sums:
        return Sums(self.n * scale, self.total * scale)


@dataclass(frozen=True)
class Moments(Tally):
    """Per class n, mean and Σ w (x − mean)². Merged by the pairwise update, never through Σ x²."""

    mean: np.ndarray  # (k, d)
    m2: np.ndarray  # (k, d)

    def __add__(self, other: Moments) -> Moments:
        a, b = broadcast_weights(self.n, other.n)
        share = divide(column(b), column(a + b))
        delta = other.mean - self.mean
        return Moments(a + b, self.mean + delta * share, self.m2 + other.m2 + (delta * (column(a) * share)) * delta)

    def __sub__(self, other: Moments) -> Moments:
        a, b = broadcast_weights(self.n, other.n)
        n = subtract(a, b)
        some = column(n) > 0
        change = (self.mean - other.mean) * divide(column(b), column(n))
        mean = self.mean + change
        lost = np.abs(mean) <= ROUNDING * (np.abs(self.mean) + np.abs(change))  # zero up to rounding
        mean = np.where(some & ~lost, mean, 0.0)
        delta, scale = mean - other.mean, column(n) * divide(column(b), column(a))
        m2 = self.m2 - other.m2 - (delta * scale) * delta
        nothing = negligible(m2, self.m2, mean_slack(self.mean, delta, scale))
        return Moments(n, mean, np.where(some & ~nothing, m2, 0.0))

    def short(self) -> np.ndarray:
        return super().short() | (self.m2 < 0).any(axis=1)

    def __mul__(self, scale: float) -> Moments:
        return Moments(self.n * scale, self.mean, self.m2 * scale)

    def relabel(self, index: np.ndarray, k: int) -> Moments:
        return self._relabel_collapsed(index, k)

    def part(self, columns) -> Moments:
        """Of some of the columns."""
        n = self.n if self.n.ndim == 1 else self.n[:, columns]
        return Moments(n, self.mean[:, columns], self.m2[:, columns])

    def filled(self) -> Moments:
        """Where a class has nothing of a column, the moments of all classes."""
        if not (self.n <= 0).any():
            return self
        n = np.broadcast_to(column(self.n), self.mean.shape)
        empty = n <= 0
        whole = self.collapse()
        parts = (column(whole.n), n), (whole.mean, self.mean), (whole.m2, self.m2)
        return Moments(*(np.where(empty, every, own) for every, own in parts))

    def collapse(self) -> Moments:
        """All classes as one, k = 1."""
        n = column(self.n)
        total = np.add.reduce(n, 0, keepdims=True)
        start = self.mean[:1]
        mean = start + divide(np.add.reduce(n * (self.mean - start), 0, keepdims=True), total)
        m2 = np.add.reduce(self.m2 + n * (self.mean - mean) ** 2, 0, keepdims=True)
        return Moments(total if self.n.ndim == 2 else total[:, 0], mean, m2)
