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

from collections.abc import Callable, Sequence

import numpy as np

from deciban import ops
from deciban.table import Codes

FEW = 16  # cuts: counting those below a number is faster than searching
ENOUGH = 512  # values to choose cuts among; of more, neighbours are taken together


def supervised(counts: np.ndarray) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m)."""
    if counts.shape[1] > ENOUGH:
        runs = [0, *even(counts.sum(axis=0), ENOUGH)]
        return [runs[cut] for cut in ops.supervised_cuts(np.add.reduceat(counts, runs, axis=1))]
    return ops.supervised_cuts(counts)


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
