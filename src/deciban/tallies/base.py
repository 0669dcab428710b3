"""What all tallies share: weights that add, take away and scale, and classes that move."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

NOTHING = 1e-12  # a share of weight that rounding alone can leave behind


def column(n: np.ndarray) -> np.ndarray:
    """n as something that divides (k, d) arrays: (k, 1) or (k, d)."""
    return n[:, None] if n.ndim == 1 else n


def level(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two n of one shape: the (k,) one is spread over the columns if the other is (k, d)."""
    if a.ndim == b.ndim:
        return a, b
    return (np.broadcast_to(column(a), b.shape), b) if a.ndim < b.ndim else (a, np.broadcast_to(column(b), a.shape))


def less(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a − b of two weights, where what rounding leaves is nothing."""
    n = a - b
    return np.where(np.abs(n) <= NOTHING * np.abs(a), 0.0, n)


def negligible(left: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Where a sum of squares that was taken apart has nothing left but rounding: squares below zero are none."""
    return (left <= NOTHING * np.abs(before)) & (left >= -1e-9 * np.abs(before))


def over(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b != 0)


def place(a: np.ndarray, index: np.ndarray, k: int) -> np.ndarray:
    out = np.zeros((k, *a.shape[1:]))
    out[index] = a
    return out


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

    def finite(self) -> bool:
        """Whether every number is one. (A sum over all cells is NaN or infinite if any of them is.)"""
        arrays = (getattr(self, f.name) for f in fields(self))
        with np.errstate(all="ignore"):
            return all(np.isfinite(a.sum()) for a in arrays if isinstance(a, np.ndarray))

    @property
    def d(self) -> int:
        """Columns; 0 where none are counted."""
        first = [f.name for f in fields(self)][1:2]
        return getattr(self, first[0]).shape[1] if first else 0

    def sound(self) -> bool:
        """Whether the arrays fit together and hold doubles: asked of a tally that comes from a file."""
        arrays = [getattr(self, f.name) for f in fields(self)]
        shapes = {a.shape for a in arrays[1:]}
        return doubles(*arrays) and shapes <= {(self.k, self.d)} and self.n.shape in ((self.k,), (self.k, self.d))

    def short(self) -> np.ndarray:
        """Which classes (k,) have had more taken away than there was."""
        return np.any((self.n < 0).reshape(self.k, -1), axis=1)

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def __sub__(self, other: Any) -> Any:
        raise NotImplementedError

    def __mul__(self, scale: float) -> Any:
        raise NotImplementedError

    def __rmul__(self, scale: float) -> Any:
        return self * scale

    def relabel(self, index: np.ndarray, k: int):
        """The same tally in a list of k classes, where class c stands at index[c]."""
        return replace(self, **{f.name: place(getattr(self, f.name), index, k) for f in fields(self)})


@dataclass(frozen=True)
class SumTuple:
    """Numbers and arrays that add."""

    parts: tuple[Any, ...]

    def __add__(self, other: SumTuple) -> SumTuple:
        return SumTuple(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __iadd__(self, other: SumTuple) -> SumTuple:
        """Into this one's memory, which nobody else holds."""
        return SumTuple(tuple(_into(a, b) for a, b in zip(self.parts, other.parts, strict=True)))


def _into(a: Any, b: Any) -> Any:
    a += b
    return a
