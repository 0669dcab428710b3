"""Several tallies as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import iadd
from typing import Any

import numpy as np

from deciban.tallies.base import Tally


@dataclass(frozen=True)
class Bundle:
    """Several tallies of the same rows, added side by side."""

    parts: tuple

    def __repr__(self) -> str:
        """The kinds of the parts and the class weights; `parts` has the numbers."""
        if all(isinstance(getattr(part, "n", None), np.ndarray) and part.n.ndim == 1 for part in self.parts[:1]):
            n = np.array2string(self.parts[0].n, threshold=10, precision=6)
            return f"Bundle({', '.join(map(_kind, self.parts))}; class weights {n})"
        return _kind(self)

    @property
    def k(self) -> int:
        return self.parts[0].k

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
    if isinstance(tally, Common):
        return Common(reordered(tally.part, order))
    runs, d = tally.d // len(order), len(order)
    return tally.part([run * d + j for run in range(runs) for j in order]) if runs else tally


@dataclass(frozen=True)
class Common:
    """A tally of all rows whatever their class: it adds like any other and has no classes to move."""

    part: Tally

    def finite(self) -> bool:
        return self.part.finite()

    def sound(self) -> bool:
        return self.part.sound()

    def short(self) -> bool:
        return bool(self.part.short().any())

    def __add__(self, other: Common) -> Common:
        return Common(self.part + other.part)

    def __sub__(self, other: Common) -> Common:
        return Common(self.part - other.part)

    def __mul__(self, scale: float) -> Common:
        return Common(self.part * scale)

    def relabel(self, index: np.ndarray, k: int) -> Common:
        return self
