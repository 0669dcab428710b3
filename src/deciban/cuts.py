"""Where to cut a numeric column into intervals, so that they tell the classes apart: the entropy and description-length
rule of Fayyad and Irani (1993).

A cut of S into S1, S2 is taken where it gains the most information, and only if that pays for its own description:

    gain > (log2(N − 1) + log2(3^c − 2) − c H(S) + c1 H(S1) + c2 H(S2)) / N

with c, c1, c2 the numbers of classes in each part; then both parts are cut in turn.

>>> import numpy as np
>>> counts = np.array([[9, 9, 9, 0, 0, 0], [0, 0, 0, 9, 9, 9.0]])  # (k, m): two classes, apart after the third value
>>> supervised(counts)
[3]
>>> supervised(np.full((2, 6), 9.0))
[]
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, log2

import numpy as np
from scipy.special import xlogy

FEW = 16  # cuts: counting those below a number is faster than searching
ENOUGH = 512  # values to choose cuts among; of more, neighbours are taken together


def supervised(counts: np.ndarray, find: Callable[[np.ndarray], list[int]] | None = None) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m). `find`: what cuts few values."""
    find = _among_few if find is None else find
    if counts.shape[1] > ENOUGH:
        runs = [0, *even(counts.sum(axis=0), ENOUGH)]
        return [runs[cut] for cut in find(np.add.reduceat(counts, runs, axis=1))]
    return find(counts)


def _among_few(counts: np.ndarray) -> list[int]:
    below = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    cuts: list[int] = []
    open_parts = [(0, counts.shape[1])]
    while open_parts:
        start, stop = open_parts.pop()
        cut = _best(below[:, start : stop + 1])
        if cut is not None:
            cuts.append(start + cut)
            open_parts += [(start, start + cut), (start + cut, stop)]
    return sorted(cuts)


def _best(below: np.ndarray) -> int | None:
    """The cut of one part that gains most, if it pays. `below` (k, m + 1): counts under each border."""
    if below.shape[1] < 3:
        return None
    left = below[:, 1:-1] - below[:, :1]
    whole = below[:, -1] - below[:, 0]
    total = float(whole.sum())
    both = np.stack([left, whole[:, None] - left])
    sizes = both.sum(axis=1)  # (2, m − 1)
    each = xlogy(sizes, sizes) - xlogy(both, both).sum(axis=1)  # N · H of either side, in nats
    at = int(np.argmin(each[0] + each[1]))
    n1, n2 = sizes[:, at].tolist()
    if total <= 2 or n1 <= 0 or n2 <= 0:
        return None
    bits = (total * log(total) - float(xlogy(whole, whole).sum())) / log(2.0)
    bits1, bits2 = (each[:, at] / log(2.0)).tolist()
    c, c1, c2 = (int(np.count_nonzero(part > 0)) for part in (whole, both[0, :, at], both[1, :, at]))
    power = c * log2(3.0) if c > 30 else log2(3.0**c - 2.0)
    price = power - (c * bits / total - c1 * bits1 / n1 - c2 * bits2 / n2)
    return at + 1 if bits - bits1 - bits2 > log2(max(total - 1, 1.0)) + price else None


def even(counts: np.ndarray, parts: int) -> list[int]:
    """Cut before these of m ordered values, into about `parts` runs of like weight, from their counts (m,)."""
    below = np.cumsum(counts)
    if parts < 2 or len(counts) < 2:
        return []
    at = np.searchsorted(below, below[-1] * np.arange(1, parts) / parts, side="left") + 1
    return np.unique(at[at < len(counts)]).tolist()


def intervals(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The interval 0, 1, … of each number (n,) between ascending cuts; −1 for NaN. A cut belongs to what is above it.

    >>> intervals(np.array([0.5, 2.0, np.nan]), np.array([1.0, 2.0])).tolist()
    [0, 2, -1]
    """
    if len(at) <= FEW:
        code = np.zeros(len(values), dtype=np.int32)
        for cut in at:
            code += values >= cut
    else:
        code = np.searchsorted(at, values, side="right").astype(np.int32)
    gone = np.isnan(values)
    if gone.any():
        code[gone] = -1
    return code
