"""Averaged one-dependence scores: every column in turn is the parent of all others.

    score[c] = log of the mean, over the parents i that are used, of  exp Σ_j table[(i, x_i), (j, x_j), c]

where the entry of a level with itself is log θ(x_i | c). A missing cell is no parent and adds nothing; without any
parent the score is naive Bayes'. The specification is `spec`; the compiled twin makes it fast.

>>> import numpy as np
>>> from deciban.table import Codes
>>> p = Parents.of(np.log([[[0.5, 0.2], [0.8, 0.4]]]), np.array([0, 1, 2]), np.array([True, True]))
>>> np.exp(scores(p, Codes(np.array([[0, 0], [-1, 0], [-1, -1]])))).round(3).tolist()  # (½ · 0.2 + 0.8 · 0.4) / 2
[[0.21], [0.4], [1.0]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from deciban import ops
from deciban.table import Codes


@dataclass(frozen=True)
class Parents:
    table: np.ndarray  # (levels, levels + 1, classes padded): the last one, zeros, is a missing cell
    alone: np.ndarray  # (levels + 1, classes padded), log θ of a level without parent
    offset: np.ndarray  # (d + 1,)
    seen: np.ndarray  # (levels,), whether a level is a parent
    k: int

    @staticmethod
    def width(k: int) -> int:
        """Classes, padded to what is read at once."""
        return -(-k // 8) * 8 if k > 4 else (4 if k > 2 else 2)

    @classmethod
    def of(cls, logs: np.ndarray, offset: np.ndarray, seen: np.ndarray) -> Parents:
        """From log θ (k, levels, levels): parent, child; on the diagonal without parent. Other entries of a column with
        itself are never read."""
        k, s = logs.shape[:2]
        table = np.zeros((s, s + 1, cls.width(k)))
        table[:, :s, :k] = logs.transpose(1, 2, 0)
        alone = np.zeros((s + 1, cls.width(k)))
        alone[:s, :k] = logs[:, np.arange(s), np.arange(s)].T
        return cls(table, alone, np.asarray(offset, dtype=np.int64), np.asarray(seen, dtype=bool), k)

    def places(self, codes: np.ndarray) -> np.ndarray:
        """Where each cell's level stands, (n, d); the last place where it is missing or was never seen."""
        known = (codes >= 0) & (codes < np.diff(self.offset))
        return np.where(known, self.offset[:-1] + codes, len(self.seen))


def scores(p: Parents, x: Codes) -> np.ndarray:
    """(n, k)"""
    core = ops.core()
    if core is None or x.d == 0:
        return spec(p, x)
    out = np.empty((x.n, p.k))
    core.parents(x.values, p.offset, p.table, p.alone, p.seen, out)
    return out


def spec(p: Parents, x: Codes) -> np.ndarray:
    at = p.places(np.asarray(x.values))
    used = np.append(p.seen, False)[at]
    each = np.full((x.n, x.d, p.k), -np.inf)
    for i in range(x.d):
        rows = np.flatnonzero(used[:, i])
        each[rows, i] = p.table[at[rows, i][:, None], at[rows]].sum(axis=1)[:, : p.k]
    return averaged(each, used, p.alone[at].sum(axis=1)[:, : p.k])


def averaged(each: np.ndarray, used: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """log of the mean over the parents (n, d) that are used of e^each (n, d, k); `alone` (n, k) where there is none."""
    many = used.sum(axis=1)
    with np.errstate(all="ignore"):
        mean = logsumexp(np.where(used[:, :, None], each, -np.inf), axis=1) - np.log(np.maximum(many, 1))[:, None]
    return np.where(many[:, None] > 0, mean, alone)
