"""Tables of exact numbers, by class: doubles while every cell is one, `ExactSums` where some cell has more digits.

Counts, sums of whole numbers and of few-digit weights are doubles, so they cost what doubles cost. Where a sum or
difference of doubles is no double, it becomes an `ExactSums`. No operation rounds; `as_doubles` does, once.

>>> a, b = np.array([[1.0, 2.0]]), np.array([[1e-30, 3.0]])
>>> as_doubles(minus(plus(a, b), a)).tolist()
[[1e-30, 3.0]]
>>> isinstance(plus(a, a), np.ndarray), isinstance(plus(a, b), np.ndarray)
(True, False)

Numbers that are none (NaN, ±∞) stay in doubles, and so does what is added to them: `Tally.finite` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import frexp, ldexp

import numpy as np

from deciban.tallies.exact import ExactSums, centred_products, mean_and_squares, ratio

SMALLEST = 5e-324  # double above 0
MODERATE = 5  # limbs above the point: 2^320, whose square is a double, and so is that over the least weight
FEW = 32  # cells that Python looks at faster than NumPy
WHOLE = 2.0**53  # whole numbers up to here are doubles


@dataclass(frozen=True, eq=False)
class ClassSums:
    """`ExactSums` without columns: one number for each class, (k,)."""

    column: ExactSums  # (k, 1)

    @property
    def shape(self) -> tuple[int]:
        return (self.column.k,)

    def sound(self) -> bool:
        return self.column.d == 1 and self.column.sound()


ExactTable = np.ndarray | ExactSums | ClassSums  # (k,) or (k, d)


def as_doubles(a: ExactTable) -> np.ndarray:
    """The cells, rounded once to the nearest double; ±∞ beyond the largest, NaN where infinite numbers were added."""
    if isinstance(a, np.ndarray):
        return a
    if not are_finite(a):
        return np.full(a.shape, np.nan)
    return a.column.to_doubles()[:, 0] if isinstance(a, ClassSums) else a.to_doubles()


def as_sums(a: ExactTable) -> ExactSums:
    """The same numbers as integers of limbs, (k, 1) for (k,)."""
    if isinstance(a, np.ndarray):
        return ExactSums.from_doubles(a if a.ndim == 2 else a[:, None])
    return a.column if isinstance(a, ClassSums) else a


def _like(a: ExactTable, sums: ExactSums) -> ExactTable:
    """Sums with columns only if a table has them; zeros are doubles."""
    if not len(sums.limbs) and sums.finite:
        return np.zeros(sums.shape if len(a.shape) == 2 else sums.k)
    return sums if len(a.shape) == 2 else ClassSums(sums)


def are_finite(a: ExactTable) -> bool:
    """Whether no cell is NaN or infinite."""
    return bool(np.isfinite(a).all()) if isinstance(a, np.ndarray) else as_sums(a).finite


def is_moderate(a: ExactTable) -> bool:
    """Whether it takes no look at the cells to know that all are finite, and their squares too."""
    if isinstance(a, np.ndarray):
        return False
    sums = as_sums(a)
    return sums.finite and max((sums.low + sums.count).tolist(), default=0) <= MODERATE


def adds_whole(a: np.ndarray) -> bool:
    """Whether all cells are whole numbers so small that any sum of them is a double."""
    if a.size <= FEW:
        cells = a.ravel().tolist()
        return all(map(float.is_integer, cells)) and sum(map(abs, cells)) <= WHOLE
    return bool(np.abs(a).sum() <= WHOLE and (a == np.rint(a)).all())


def plus(a: ExactTable, b: ExactTable) -> ExactTable:
    """a + b; a table (k,) stands for one with equal columns, where the other has columns."""
    a, b = spread(a, b)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        with np.errstate(all="ignore"):
            total = a + b
            # by the larger of a and b the difference is exact (Dekker, 1971), so one of the two tests decides
            if bool(((total - a == b) & (total - b == a)).all()):
                return total
        if not (are_finite(a) and are_finite(b)):
            return total
    return _like(a, as_sums(a) + as_sums(b))


def minus(a: ExactTable, b: ExactTable) -> ExactTable:
    """a − b, as `plus`."""
    return plus(a, -b) if isinstance(b, np.ndarray) else _difference(*spread(a, b))


def _difference(a: ExactTable, b: ExactTable) -> ExactTable:
    return _like(a, as_sums(a) - as_sums(b))


def product(a: ExactTable, b: np.ndarray) -> ExactTable:
    """a · b cell by cell, of weights (k, d) that two doubles hold, and doubles."""
    high = as_doubles(a)
    low = as_doubles(minus(a, high)) if not isinstance(a, np.ndarray) else np.zeros_like(high)
    out: ExactTable = np.zeros(a.shape)
    for own in (high, low):
        for part in _two(own, b) if own.any() else ():
            out = plus(out, part)
    return out


def _two(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a · b, and what rounding leaves of it, in halves of the factors (Veltkamp and Dekker, 1971)."""
    with np.errstate(all="ignore"):
        out = a * b
        (a1, a2), (b1, b2) = _halves(a), _halves(b)
        rest = ((a1 * b1 - out) + a1 * b2 + a2 * b1) + a2 * b2
    return out, np.where(np.isfinite(rest), rest, 0.0)


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = 134217729.0 * a
    high = wide - (wide - a)
    return high, a - high


def quotients(a: ExactTable, n: ExactTable) -> np.ndarray:
    """a / n (k, d), each rounded once; 0 where n (k,) or (k, d) is 0."""
    if not (are_finite(a) and are_finite(n)):
        return as_doubles(a) * np.nan
    return ratio(as_sums(a), as_sums(n))


def times(a: ExactTable, scale: float) -> ExactTable:
    """scale · a, exact for whole numbers and powers of two."""
    if isinstance(a, np.ndarray):
        product = a * scale
        if not are_finite(product) or (float(scale).is_integer() and adds_whole(a) and adds_whole(product)):
            return product
    return _like(a, as_sums(a) * scale)


def spread(a: ExactTable, b: ExactTable) -> tuple[ExactTable, ExactTable]:
    """Two tables of one shape: one of shape (k,) is repeated for the columns of the other."""
    if len(a.shape) == len(b.shape):
        return a, b
    return (in_columns(a, b.shape[1]), b) if len(a.shape) < len(b.shape) else (a, in_columns(b, a.shape[1]))


def in_columns(a: ExactTable, d: int) -> ExactTable:
    """A table (k,) in d equal columns."""
    if isinstance(a, np.ndarray):
        return np.repeat(a[:, None], d, axis=1)
    return as_sums(a).spread(d)


def collapsed(a: ExactTable) -> ExactTable:
    """All classes as one: (1,) or (1, d)."""
    if isinstance(a, np.ndarray) and (len(a) < 2 or adds_whole(a) or not are_finite(a)):
        return np.add.reduce(a, 0, keepdims=True)
    return _like(a, as_sums(a).collapse())


def relabelled(a: ExactTable, index: np.ndarray, k: int) -> ExactTable:
    """The table with k classes, where class c stands at index[c]; classes at one place are added."""
    if isinstance(a, np.ndarray) and (distinct(index) or adds_whole(a) or not are_finite(a)):
        return scatter_classes(a, index, k)
    return _like(a, as_sums(a).relabel(index, k))


def classes_of(a: ExactTable, at: np.ndarray) -> ExactTable:
    """These classes, in this order; a class may be there several times."""
    return a[at] if isinstance(a, np.ndarray) else _like(a, as_sums(a).take(at))


def columns_of(a: ExactTable, columns) -> ExactTable:
    """Some of the columns of a table (k, d); a table (k,) is that of all columns."""
    if len(a.shape) == 1:
        return a
    return np.ascontiguousarray(a[:, columns]) if isinstance(a, np.ndarray) else as_sums(a).part(columns)


def first_column(a: ExactTable) -> ExactTable:
    """The first column of a table (k, d) by itself, (k,)."""
    return np.array(a[:, 0]) if isinstance(a, np.ndarray) else canonical(ClassSums(as_sums(a).part([0])))


def equal(a: ExactTable, b: ExactTable) -> bool:
    """Whether two tables have the same numbers; one (k,) stands for equal columns."""
    a, b = map(canonical, spread(a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return as_sums(a) == as_sums(b)


def placed(a: ExactTable, at: np.ndarray, d: int) -> ExactTable:
    """A table of d columns with column j of this one at position at[j], and zeros elsewhere; −1: column j is left
    out."""
    known = at >= 0
    if isinstance(a, np.ndarray):
        out = np.zeros((len(a), d))
        out[:, at[known]] = a[:, known]
        return out
    own = as_sums(a)
    source = np.full(d, own.d)
    source[at[known]] = np.flatnonzero(known)
    return ExactSums.concatenate([own, ExactSums.zeros(own.k, 1)]).part(source)


def concatenated_columns(tables: Sequence[ExactTable]) -> ExactTable:
    """The columns of several tables (k, d), one after the other."""
    plain = [a for a in tables if isinstance(a, np.ndarray)]
    return np.hstack(plain) if len(plain) == len(tables) else ExactSums.concatenate(list(map(as_sums, tables)))


def is_negative(a: ExactTable) -> np.ndarray:
    """Which cells are below zero."""
    return np.asarray(a < 0) if isinstance(a, np.ndarray) else as_sums(a).negative().reshape(a.shape)


def is_nonzero(a: ExactTable) -> np.ndarray:
    """Which cells are not zero."""
    return np.asarray(a != 0) if isinstance(a, np.ndarray) else as_sums(a).nonzero().reshape(a.shape)


def canonical(a: ExactTable) -> ExactTable:
    """The same numbers in the form that depends on nothing else: doubles where all cells are doubles."""
    if isinstance(a, np.ndarray):
        return np.ascontiguousarray(a) + 0.0  # no −0
    rounded = as_doubles(a)
    return rounded if are_finite(rounded) and as_sums(rounded) == as_sums(a) else a


def mean_and_m2(n: ExactTable, s1: ExactTable, s2: ExactTable) -> tuple[np.ndarray, np.ndarray]:
    """(Σ w x / n, Σ w (x − mean)²) from n, Σ w x and Σ w x², each rounded once; 0 where n is 0."""
    if isinstance(s1, np.ndarray) and isinstance(s2, np.ndarray) and isinstance(n, np.ndarray):
        weight = n if n.ndim == 2 else n[:, None]
        with np.errstate(all="ignore"):
            whole, square = weight * s2, s1 * s1
            few = bool((np.abs(whole) + square <= WHOLE).all())  # of whole numbers, both are exact
            if (few and all(map(adds_whole, (n, s1, s2)))) or not all(map(are_finite, (n, s1, s2))):
                some = weight != 0
                mean = np.divide(s1, weight, out=np.zeros_like(s1), where=some)
                return mean, np.divide(whole - square, weight, out=np.zeros_like(s1), where=some)
    if not all(map(are_finite, (n, s1, s2))):
        return np.full(s1.shape, np.nan), np.full(s1.shape, np.nan)
    return mean_and_squares(as_sums(n), as_sums(s1), as_sums(s2))


def centred(n: ExactTable, sums: ExactTable, products: ExactTable) -> np.ndarray:
    """Σ w (x_i − mean_i)(x_j − mean_j) (k, d, d) from n (k,), Σ w x (k, d) and the products of columns i ≤ j, each
    rounded once; 0 where n is 0."""
    if not all(map(are_finite, (n, sums, products))):
        return np.full((*sums.shape, sums.shape[1]), np.nan)
    return centred_products(as_sums(n), as_sums(sums), as_sums(products))


def few_bits(w: np.ndarray | None) -> Iterator[np.ndarray | None]:
    """Weights as parts of so few bits that every sum of them over these rows is a double: what adds in doubles adds
    each part without rounding. The parts are ≥ 0 and add up to the weights; None: all weights are 1."""
    if w is None or not w.any() or not np.isfinite(w).all():
        yield w
        return
    bits = 52 - len(w).bit_length()
    while (largest := float(w.max())) > 0:
        unit = max(ldexp(1.0, frexp(largest)[1] - bits), SMALLEST)
        part = np.floor(w / unit) * unit
        yield part
        w = w - part


def sum_of_weights(w: np.ndarray | None, count: Callable[[np.ndarray | None], ExactTable]) -> ExactTable:
    """What a function that adds weights up in doubles gives, without rounding."""
    return reduce(plus, map(count, few_bits(w)))


def weight_by_class(y: np.ndarray, w: np.ndarray | None, k: int) -> ExactTable:
    """Σ w of each class, (k,)."""
    return sum_of_weights(w, lambda part: np.bincount(y, part, minlength=k).astype(np.float64))


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
