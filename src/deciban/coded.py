"""A family of levels over columns of any kind: numbers become the levels of the intervals that they fall in.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.table import Codes, Mixed, Reals
>>> both = Coded(Categorical(alpha=1.0), ((1,), (0,)), (Cuts((2.5,), 0.0, 5.0), None), (2, 3))
>>> x = Mixed((Codes(np.array([[2], [0]])), Reals(np.array([[1.0], [3.0]]))), 2)
>>> both.codes(x).values.tolist()
[[0, 2], [1, 0]]
>>> p = both.estimate(both.tally(x, np.array([0, 1], dtype=np.int32), None, 2))
>>> np.exp(both.loglik(p, x)).round(3).tolist()  # ⅔ · ½, ⅓ · ¼
[[0.333, 0.083], [0.083, 0.333]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import cuts
from deciban.table import Codes, Mixed
from deciban.tallies import Crosstab


@dataclass(frozen=True)
class Cuts:
    """Where a column of numbers is cut, and between which numbers its cells lie; NaN where it has none."""

    at: tuple[float, ...]
    low: float
    high: float
    learned: bool = False  # from the rows, not given

    @property
    def edges(self) -> np.ndarray:
        """Ends of the intervals, (len(at) + 2,); the outer ones are moved out where cuts lie beyond all cells."""
        if not self.at:
            return np.array([self.low, self.high])
        inner = np.array(self.at)
        room = float(np.diff(inner).mean()) if len(inner) > 1 else max(abs(self.at[0]), 1.0)
        low = self.low if self.low < inner[0] else inner[0] - room
        high = self.high if self.high > inner[-1] else inner[-1] + room
        return np.array([low, *inner, high])

    def drawn(self, interval: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A number from each interval (n,), evenly; NaN for −1."""
        edges = self.edges
        at = np.maximum(interval, 0)
        out = rng.uniform(edges[at], edges[at + 1])
        return np.where(interval < 0, np.nan, np.clip(out, edges[at], np.nextafter(edges[at + 1], -np.inf)))


@dataclass(frozen=True)
class Coded:
    family: Any  # of a block of codes
    columns: tuple[tuple[int, ...], ...]  # which columns of the table each block's columns are
    cuts: tuple[Cuts | None, ...]  # of each column; None: it has levels
    levels: tuple[int, ...]  # how many each column has places for
    block, support = "mixed", "real"

    def codes(self, x: Mixed) -> Codes:
        """Rows as levels (n, d), one column after the other in memory."""
        out = np.empty((len(self.cuts), x.n), dtype=np.int32)
        for block, columns in zip(x.blocks, self.columns, strict=True):
            for values, j in zip(np.asarray(block.values).T, columns, strict=True):
                cut = self.cuts[j]
                out[j] = values if cut is None else cuts.intervals(values, np.array(cut.at))
        return Codes(out.T)

    def size(self, k: int, d: int) -> int:
        """Numbers that a tally has: chunks of rows are larger than that."""
        return self.family.size(np.array(self.levels), k)

    def tally(self, x: Mixed, y, w, k: int) -> Any:
        tally = self.family.tally(self.codes(x), y, w, k)
        return tally.relevel(np.maximum(tally.levels, self.levels))

    def estimate(self, t: Any) -> Any:
        return self.family.estimate(t)

    def loglik(self, p: Any, x: Mixed) -> np.ndarray:
        return self.family.loglik(p, self.codes(x))

    def parts(self, p: Any, x: Mixed) -> np.ndarray:
        return self.family.parts(p, self.codes(x))

    def leave_one_out(self, p: Any, t: Any, x: Mixed, y, w) -> np.ndarray:
        """As the family says it; `p` are the parameters of t."""
        return self.family.leave_one_out(t, self.codes(x), y, w, p)

    def sample(self, p: Any, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Levels (n, d)."""
        return self.family.sample(p, y, rng)


def kept_levels(t: Crosstab, nominal: Sequence[bool]) -> list[np.ndarray] | None:
    """Where each column's levels stand, −1: gone, once those of nominal columns that no row has are left out; None:
    where they are.

    >>> t = Crosstab(np.array([2.0]), np.array([[0.0, 2.0, 0.0, 2.0]]), np.array([2, 2]))
    >>> [at.tolist() for at in kept_levels(t, [True, False])]
    [[-1, 0], [0, 1]]
    """
    out = []
    for table, named in zip(t.columns(), nominal, strict=True):
        some = (table != 0).any(axis=0) | (not named)
        out.append(np.where(some, np.cumsum(some) - 1, -1))
    return None if all((at >= 0).all() for at in out) else out


def one_by_one(score: Callable[[Codes], np.ndarray], codes: np.ndarray, order: Sequence[int], k: int) -> np.ndarray:
    """What each column adds to the score of those before it in the order, (n, k, d); a missing cell adds nothing.

    >>> one_by_one(lambda x: -1.0 * (x.values >= 0).sum(axis=1, keepdims=True), np.array([[1, -1, 0]]), [2, 1, 0], 1)
    array([[[-1.,  0., -1.]]])
    """
    shown, before = np.full_like(codes, -1), np.zeros((len(codes), k))
    out = np.zeros((len(codes), k, codes.shape[1]))
    for j in order:
        some = np.flatnonzero(codes[:, j] >= 0)
        shown[some, j] = codes[some, j]
        after = score(Codes(shown[some]))
        with np.errstate(invalid="ignore"):
            out[some, :, j] = after - before[some]
        before[some] = after
    return np.nan_to_num(out, nan=0.0, posinf=np.inf, neginf=-np.inf)
