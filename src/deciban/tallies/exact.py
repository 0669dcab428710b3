"""Sums of doubles without rounding, and what is rounded once from them.

A sum is an integer in two's complement on an absolute grid: limb i stands for 2^(64 i). Every sum of finite doubles, of
their products and of their differences is such an integer, and addition of integers does not depend on order. The form
is canonical: equal sums have equal bytes.

    value = Σ_i limb[i] · 2^(64 (low + i)),  the highest limb signed

Columns are kept in blocks of 64. A block has one `low` and one number of limbs for all of its cells; its lowest plane
of limbs is not zero everywhere, its highest is not sign extension everywhere, and a block of zeros has no limbs. So one
cell of 1e300 among others near 1 widens the cells of its own block until it is subtracted.

The bodies here are the specification; where the compiled module is there, `deciban.ops` sets `compiled` and the same
bytes come from it.

>>> a = ExactSums.from_doubles(np.array([[1e300, 0.1]]))
>>> b = ExactSums.from_doubles(np.array([[1.0, 0.2]]))
>>> (a + b - a == b), (a + b).to_doubles().tolist()
(True, [[1e+300, 0.30000000000000004]])
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import ModuleType

import numpy as np

BLOCK = 64  # columns that share a number of limbs

compiled: ModuleType | None = None  # set by `deciban.ops`; None: everything runs the bodies below


@dataclass(frozen=True, eq=False)
class ExactSums:
    """Exact sums of doubles in a table of k classes and d columns.

    Attributes
    ----------
    k, d
        Classes and columns.
    low
        Index of the lowest limb of each block, (blocks,).
    count
        Limbs of each block, (blocks,).
    limbs
        For each block one after the other `count` planes of (k, columns of the block), int64.
    finite
        Whether every cell that was added was finite; the sums of others mean nothing.

    Examples
    --------
    >>> total = ExactSums.zeros(1, 1)
    >>> for x in [0.1] * 10:
    ...     total = total + ExactSums.from_doubles(np.array([[x]]))
    >>> total.to_doubles().item(), total.to_fractions().item() == 10 * Fraction(0.1)
    (1.0, True)
    """

    k: int
    d: int
    low: np.ndarray
    count: np.ndarray
    limbs: np.ndarray
    finite: bool = True

    @classmethod
    def zeros(cls, k: int, d: int) -> ExactSums:
        """Sums of nothing."""
        none = np.zeros(-(-d // BLOCK), dtype=np.int64)
        return cls(k, d, none, none, np.zeros(0, dtype=np.int64))

    @classmethod
    def from_doubles(cls, values: np.ndarray) -> ExactSums:
        """The doubles of a table (k, d) as they are. Infinite and missing ones count 0, and `finite` is False."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if compiled is not None:
            return cls(values.shape[0], values.shape[1], *compiled.limbs_of(values))
        here = np.isfinite(values)
        m, e = np.frexp(np.where(here, values, 0.0))
        chunks = Chunks(*values.shape)
        chunks.add(np.arange(values.size), np.ldexp(m, 53).astype(np.int64).ravel(), e.ravel().astype(np.int64) - 53)
        return replace(chunks.total(), finite=bool(here.all()))

    @classmethod
    def from_integers(cls, values: np.ndarray) -> ExactSums:
        """A table (k, d) of int or Fraction; denominators must be powers of two.

        Examples
        --------
        >>> ExactSums.from_integers(np.array([[3, Fraction(1, 2**70)]], dtype=object)).low.tolist()
        [-2]
        """
        values = np.asarray(values)
        if values.dtype.kind == "i":
            return from_planes(0, values.astype(np.int64)[None])
        parts = [Fraction(v) for v in values.ravel().tolist()]
        least = -max((p.denominator.bit_length() - 1 for p in parts), default=0) // 64
        grid = [p.numerator * (1 << (-64 * least)) // p.denominator for p in parts]
        if any(p.denominator & (p.denominator - 1) for p in parts):
            raise ValueError("a denominator is no power of two")
        return _from_grid(least, np.array(grid, dtype=object).reshape(values.shape))

    @property
    def shape(self) -> tuple[int, int]:
        return self.k, self.d

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ExactSums)
            and self.shape == other.shape
            and self.finite == other.finite
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.count, other.count)
            and np.array_equal(self.limbs, other.limbs)
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: ExactSums) -> ExactSums:
        return combine(self.k, [(self, None, 1), (other, None, 1)])

    def __sub__(self, other: ExactSums) -> ExactSums:
        return combine(self.k, [(self, None, 1), (other, None, -1)])

    def __mul__(self, scale: float) -> ExactSums:
        """Exact for whole numbers and powers of two. For others each sum is rounded to a double, and so is the
        product."""
        if float(scale).is_integer() or math.frexp(scale)[0] in (0.5, -0.5):
            least, grid = self._grid()
            factor = Fraction(scale)
            if factor.denominator == 1:
                return replace(_from_grid(least, grid * factor.numerator), finite=self.finite)
            bits = factor.denominator.bit_length() - 1
            shift = (grid * factor.numerator) << (-bits % 64)
            return replace(_from_grid(least - -(-bits // 64), shift), finite=self.finite)
        return replace(ExactSums.from_doubles(self.to_doubles() * scale), finite=self.finite)

    def relabel(self, index: np.ndarray, k: int) -> ExactSums:
        """The same sums in a list of k classes, where class c stands at index[c]; classes at one place are added."""
        return combine(k, [(self, np.asarray(index), 1)])

    def take(self, classes: np.ndarray) -> ExactSums:
        """These classes, in this order; a class may be there several times.

        Examples
        --------
        >>> ExactSums.from_integers(np.array([[1], [2]])).take(np.array([1, 1, 0])).to_doubles().tolist()
        [[2.0], [2.0], [1.0]]
        """
        at = np.asarray(classes, dtype=np.intp)
        limbs = [planes[:, at].ravel() for _, _, planes in self._blocks()]
        flat = np.concatenate(limbs) if limbs else self.limbs
        return combine(len(at), [(replace(self, k=len(at), limbs=flat), None, 1)], self.d)

    def collapse(self) -> ExactSums:
        """All classes as one, k = 1."""
        return combine(1, [(self, np.zeros(self.k, dtype=np.int64), 1)], self.d)

    def part(self, columns: np.ndarray | Sequence[int] | slice) -> ExactSums:
        """Of some of the columns."""
        at = np.arange(self.d)[columns]
        if len(at) == self.d and np.array_equal(at, np.arange(self.d)):
            return self
        return _gather([self], np.zeros(len(at), dtype=np.int64), at)

    def spread(self, d: int) -> ExactSums:
        """One column as d equal ones."""
        return _gather([self], np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64))

    @staticmethod
    def concatenate(parts: Sequence[ExactSums]) -> ExactSums:
        """The columns of several tables, one after the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = [part.d for part in parts]
        return _gather(parts, np.repeat(np.arange(len(parts)), sizes), np.concatenate([np.arange(d) for d in sizes]))

    @staticmethod
    def stack(parts: Sequence[ExactSums]) -> ExactSums:
        """The classes of several tables, one after the other."""
        ends = np.cumsum([part.k for part in parts])
        placed = [(part, np.arange(end - part.k, end), 1) for part, end in zip(parts, ends, strict=True)]
        return combine(int(ends[-1]), placed)

    def to_doubles(self) -> np.ndarray:
        """(k, d), each sum rounded once to the nearest double, ties to even; ±∞ beyond the largest."""
        if compiled is not None:
            out = np.empty(self.shape)
            compiled.limbs_to_doubles(self._arrays, out)
            return out
        least, grid = self._grid()
        return _rounded(grid, np.array(1, dtype=object), 64 * least)

    def to_fractions(self) -> np.ndarray:
        """(k, d) of Fraction."""
        least, grid = self._grid()
        out = np.empty(self.shape, dtype=object)
        for at, v in np.ndenumerate(grid):
            out[at] = Fraction(v) * Fraction(2) ** (64 * least)
        return out

    def negative(self) -> np.ndarray:
        """Which sums are below 0, (k, d) of bool."""
        return self._signs() < 0

    def nonzero(self) -> np.ndarray:
        """Which sums are not 0, (k, d) of bool."""
        return self._signs() != 0

    def _signs(self) -> np.ndarray:
        """−1, 0 or 1 of each sum, (k, d)."""
        out = np.zeros(self.shape, dtype=np.int8)
        if compiled is not None:
            compiled.limb_signs(self._arrays, out)
            return out
        for columns, _, planes in self._blocks():
            if len(planes):
                out[:, columns] = np.where(planes[-1] < 0, -1, planes.any(axis=0))
        return out

    def sound(self) -> bool:
        """Whether the arrays fit together and are canonical: asked of sums that come from a file."""
        arrays = (self.low, self.count, self.limbs)
        if not all(a.dtype == np.int64 and a.ndim == 1 for a in arrays) or self.k < 0 or self.d < 0:
            return False
        blocks = -(-self.d // BLOCK)
        if len(self.low) != blocks or len(self.count) != blocks:
            return False
        if not ((self.low >= -_FAR) & (self.low <= _FAR) & (self.count >= 0) & (self.count <= 2 * _FAR)).all():
            return False
        if int((self.count * self.k * _widths(self.d)).sum()) != len(self.limbs):
            return False
        for _, low, planes in self._blocks():
            if len(planes) == 0:
                if low != 0:
                    return False
            elif not planes[0].any() or _is_sign(planes):
                return False
        return True

    def to_bytes(self) -> bytes:
        """The three arrays, one after the other, lowest byte first: equal sums of equal shape have equal bytes."""
        return b"".join(a.astype("<i8").tobytes() for a in (self.low, self.count, self.limbs))

    @property
    def _arrays(self) -> tuple:
        return self.k, self.d, self.low, self.count, self.limbs

    def _blocks(self) -> Iterator[tuple[slice, int, np.ndarray]]:
        """(columns, low, planes (limbs, k, columns)) of each block."""
        start = 0
        for b, (low, count) in enumerate(zip(self.low.tolist(), self.count.tolist(), strict=True)):
            columns = slice(b * BLOCK, min(self.d, (b + 1) * BLOCK))
            width = columns.stop - columns.start
            size = count * self.k * width
            yield columns, low, self.limbs[start : start + size].reshape(count, self.k, width)
            start += size

    def _grid(self) -> tuple[int, np.ndarray]:
        """(least, integers (k, d)): the sums in units of 2^(64 least)."""
        least = int(self.low[self.count > 0].min(initial=0))
        out = np.zeros(self.shape, dtype=object)
        for columns, low, planes in self._blocks():
            shift = 64 * (low - least)
            for cell in np.ndindex(planes.shape[1:]):
                own = np.ascontiguousarray(planes[:, cell[0], cell[1]]).astype("<i8")
                out[cell[0], columns.start + cell[1]] = int.from_bytes(own.tobytes(), "little", signed=True) << shift
        return least, out


_FAR = 1 << 7  # limbs: sums of products of three doubles lie within 52 of the point


def _widths(d: int) -> np.ndarray:
    """Columns of each block."""
    return np.minimum(BLOCK, d - BLOCK * np.arange(-(-d // BLOCK)))


def _is_sign(planes: np.ndarray) -> bool:
    """Whether the highest plane only repeats the sign of the one below it (of 0, where there is none)."""
    below = planes[-2] >> 63 if len(planes) > 1 else 0
    return bool((planes[-1] == below).all())


def from_planes(low: int, planes: np.ndarray) -> ExactSums:
    """Sums from limbs (count, k, d) on one grid, the highest signed.

    Examples
    --------
    >>> from_planes(-3, np.array([0, 5, 0], dtype=np.int64).reshape(3, 1, 1)).low.tolist()
    [-2]
    """
    _, k, d = planes.shape
    lows, counts, limbs = [], [], []
    for start in range(0, d, BLOCK):
        own = planes[:, :, start : start + BLOCK]
        used = np.flatnonzero(own.any(axis=(1, 2)))
        if len(used) == 0:
            lows.append(0)
            counts.append(0)
            continue
        own = own[used[0] :]
        while _is_sign(own):
            own = own[:-1]
        lows.append(low + int(used[0]))
        counts.append(len(own))
        limbs.append(np.ascontiguousarray(own).ravel())
    flat = np.concatenate(limbs) if limbs else np.zeros(0, dtype=np.int64)
    return ExactSums(k, d, np.array(lows, dtype=np.int64), np.array(counts, dtype=np.int64), flat)


def _from_grid(least: int, grid: np.ndarray) -> ExactSums:
    """Sums from integers (k, d) in units of 2^(64 least)."""
    bits = max((v if v >= 0 else ~v).bit_length() for v in [0, *grid.ravel().tolist()])
    count = bits // 64 + 1
    raw = b"".join(int(v).to_bytes(8 * count, "little", signed=True) for v in grid.ravel().tolist())
    planes = np.frombuffer(raw, dtype="<i8").astype(np.int64).reshape(*grid.shape, count)
    return from_planes(least, np.moveaxis(planes, 2, 0))


def combine(k: int, parts: Sequence[tuple[ExactSums, np.ndarray | None, int]], d: int | None = None) -> ExactSums:
    """Σ ± of several tables with d columns, as k classes. Of each: (sums, the place of each of its classes or None for
    the same ones, 1 or −1).

    Examples
    --------
    >>> a = ExactSums.from_integers(np.array([[1], [2]]))
    >>> combine(2, [(a, None, 1), (a, np.array([1, 1]), -1)]).to_doubles().tolist()
    [[1.0], [-1.0]]
    """
    d = parts[0][0].d if d is None else d
    if any(part.d != d or (index is None and part.k != k) for part, index, _ in parts):
        raise ValueError("exact sums of other shapes cannot be added")
    finite = all(part.finite for part, _, _ in parts)
    if compiled is not None:
        whole = np.arange(k)
        given = [
            (part._arrays, np.ascontiguousarray(whole if index is None else index, dtype=np.int64), sign < 0)
            for part, index, sign in parts
        ]
        low, count, limbs = compiled.limbs_combined(k, d, given)
        return ExactSums(k, d, low, count, limbs, finite)
    grids = [part._grid() for part, _, _ in parts]
    least = min(least for least, _ in grids)
    out = np.zeros((k, d), dtype=object)
    for (own, grid), (_, index, sign) in zip(grids, parts, strict=True):
        for c, row in enumerate(grid):
            out[c if index is None else index[c]] += (row * sign) << (64 * (own - least))
    return replace(_from_grid(least, out), finite=finite)


def _gather(parts: Sequence[ExactSums], source: np.ndarray, columns: np.ndarray) -> ExactSums:
    """Column j of the result is columns[j] of parts[source[j]]."""
    k, finite = parts[0].k, all(part.finite for part in parts)
    if compiled is not None:
        given = [part._arrays for part in parts]
        low, count, limbs = compiled.limbs_gathered(k, given, source.astype(np.int64), columns.astype(np.int64))
        return ExactSums(k, len(columns), low, count, limbs, finite)
    grids = [part._grid() for part in parts]
    least = min((least for least, _ in grids), default=0)
    out = np.zeros((k, len(columns)), dtype=object)
    for j, (own, column) in enumerate(zip(source.tolist(), columns.tolist(), strict=True)):
        out[:, j] = grids[own][1][:, column] << (64 * (grids[own][0] - least))
    return replace(_from_grid(least, out), finite=finite)


def mean_and_squares(n: ExactSums, s1: ExactSums, s2: ExactSums) -> tuple[np.ndarray, np.ndarray]:
    """mean = s1 / n and Σ w (x − mean)² = (n s2 − s1²) / n from Σ w, Σ w x and Σ w x², each rounded once to the nearest
    double; 0 where n is 0, ±∞ beyond the largest double. n is (k, 1) or (k, d).

    Examples
    --------
    >>> x = [Fraction(1e15), Fraction(1e15) + 1]
    >>> s1, s2 = (ExactSums.from_integers(np.array([[sum(v**p for v in x)]])) for p in (1, 2))
    >>> [a.item() for a in mean_and_squares(ExactSums.from_integers(np.array([[2]])), s1, s2)]
    [1000000000000000.5, 0.5]
    """
    _check_n(n, s1)
    if s2.shape != s1.shape:
        raise ValueError("sums and sums of squares must have one shape")
    if compiled is not None:
        mean, m2 = np.empty(s1.shape), np.empty(s1.shape)
        compiled.limbs_moments(n._arrays, s1._arrays, s2._arrays, mean, m2)
        return mean, m2
    (ln, n_), (l1, a), (l2, b) = n._grid(), s1._grid(), s2._grid()
    n_ = np.broadcast_to(n_, s1.shape)
    least = min(ln + l2, 2 * l1)
    top = ((n_ * b) << (64 * (ln + l2 - least))) - ((a * a) << (64 * (2 * l1 - least)))
    return _rounded(a, n_, 64 * (l1 - ln)), _rounded(top, n_, 64 * (least - ln))


def centred_products(n: ExactSums, sums: ExactSums, products: ExactSums) -> np.ndarray:
    """Σ w (x_i − mean_i)(x_j − mean_j) = (n p − s_i s_j) / n of each class, (k, d, d), from Σ w (k, 1), Σ w x (k, d)
    and the products p = Σ w x_i x_j of columns i ≤ j, row after row (k, d (d + 1) / 2). Rounded as `mean_and_squares`.

    Examples
    --------
    >>> n, sums, products = (ExactSums.from_integers(np.array([v])) for v in ([2], [4, 3], [10, 7, 5]))
    >>> centred_products(n, sums, products).tolist()  # of the rows 1, 1 and 3, 2
    [[[2.0, 1.0], [1.0, 0.5]]]
    """
    k, d = sums.shape
    if n.shape != (k, 1) or products.shape != (k, d * (d + 1) // 2):
        raise ValueError("n (k, 1) and products of every two columns are needed")
    out = np.empty((k, d, d))
    if compiled is not None:
        compiled.limbs_centred_products(n._arrays, sums._arrays, products._arrays, out)
        return out
    (ln, n_), (l1, a), (l2, p) = n._grid(), sums._grid(), products._grid()
    i, j = np.triu_indices(d)
    least = min(ln + l2, 2 * l1)
    top = ((n_ * p) << (64 * (ln + l2 - least))) - ((a[:, i] * a[:, j]) << (64 * (2 * l1 - least)))
    out[:, i, j] = out[:, j, i] = _rounded(top, np.broadcast_to(n_, p.shape), 64 * (least - ln))
    return out


def ratio(a: ExactSums, n: ExactSums) -> np.ndarray:
    """a / n rounded once to the nearest double, (k, d); 0 where n is 0. n is (k, 1) or (k, d).

    Examples
    --------
    >>> ratio(ExactSums.from_integers(np.array([[1, 2]])), ExactSums.from_integers(np.array([[3]]))).tolist()
    [[0.3333333333333333, 0.6666666666666666]]
    """
    _check_n(n, a)
    if compiled is not None:
        out = np.empty(a.shape)
        compiled.limbs_ratio(a._arrays, n._arrays, out)
        return out
    (la, top), (ln, below) = a._grid(), n._grid()
    return _rounded(top, np.broadcast_to(below, a.shape), 64 * (la - ln))


def _check_n(n: ExactSums, sums: ExactSums) -> None:
    if n.k != sums.k or n.d not in (1, sums.d):
        raise ValueError("n must be (k, 1) or (k, d)")


def _rounded(top: np.ndarray, below: np.ndarray, power: int) -> np.ndarray:
    """top / below · 2^power rounded once; 0 where below is 0. (Python divides integers with one rounding.)"""
    out = np.zeros(top.shape)
    up, down = 1 << max(power, 0), 1 << max(-power, 0)
    for at, (a, b) in zip(np.ndindex(top.shape), np.broadcast(top, below), strict=True):
        if b:
            try:
                out[at] = (a * up) / (b * down)
            except OverflowError:
                out[at] = math.inf if (a < 0) == (b < 0) else -math.inf
    return out


class Chunks:
    """Sums that are being made: integers of 32 bits in int64, so that 2^30 terms need no carry.

    >>> chunks = Chunks(1, 2)
    >>> chunks.add(np.array([0, 1, 0]), np.array([1, -7, 1]), np.array([40, 0, 0]))
    >>> chunks.total().to_doubles().tolist()
    [[1099511627777.0, -7.0]]
    """

    def __init__(self, k: int, d: int):
        self.k, self.d = k, d
        self.low = 0  # chunk i stands for 2^(32 (low + i))
        self.table = np.zeros((0, k * d), dtype=np.int64)

    def add(self, cell: np.ndarray, value: np.ndarray, power: np.ndarray) -> None:
        """sum[cell] += value · 2^power, of integers below 2^62 in size."""
        some = value != 0
        cell, value, power = cell[some], value[some], power[some]
        if not len(value):
            return
        at, shift = power >> 5, power & 31
        self._cover(int(at.min()), int(at.max()) + 4)
        high, low = value >> 32, value & 0xFFFFFFFF
        low, high = low << shift, high << shift  # each below 2^63
        at -= self.low
        np.add.at(self.table, (at, cell), low & 0xFFFFFFFF)
        np.add.at(self.table, (at + 1, cell), (low >> 32) + (high & 0xFFFFFFFF))
        np.add.at(self.table, (at + 2, cell), high >> 32)

    def _cover(self, low: int, top: int) -> None:
        if len(self.table):
            low, top = min(low, self.low), max(top, self.low + len(self.table))
        out = np.zeros((top - low, self.table.shape[1]), dtype=np.int64)
        out[self.low - low : self.low - low + len(self.table)] = self.table
        self.low, self.table = low, out

    def total(self) -> ExactSums:
        if not len(self.table):
            return ExactSums.zeros(self.k, self.d)
        self._cover(self.low & ~1, self.low + len(self.table) + 2)
        chunks = self.table.copy()
        if len(chunks) % 2:
            chunks = np.concatenate([chunks, np.zeros((1, chunks.shape[1]), dtype=np.int64)])
        for i in range(len(chunks) - 1):
            chunks[i + 1] += chunks[i] >> 32
            chunks[i] &= 0xFFFFFFFF
        planes = chunks[::2] | (chunks[1::2] << 32)
        return from_planes(self.low // 2, planes.reshape(-1, self.k, self.d))
