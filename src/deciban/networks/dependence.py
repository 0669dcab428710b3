"""Dependence of columns given the class: mutual information, its maximum spanning tree, and one-dependence scores.

Conditional mutual information, from counts of pairs:

    I(X_i; X_j | C) = Σ_(c, a, b) P(c, a, b) log( P(a, b | c) / (P(a | c) P(b | c)) )      in nats

>>> import numpy as np
>>> from deciban.tallies import Pairs
>>> t = Pairs(np.array([4.0]), np.array([[2.0, 2.0, 2.0, 2.0]]), np.array([2, 2]), np.array([[2.0, 0.0, 0.0, 2.0]]))
>>> conditional_information(t).round(4).tolist()
[[0.0, 0.6931], [0.6931, 0.0]]
>>> spanning_tree(conditional_information(t))
((-1, 0), (0, 1))

Averaged one-dependence scores (`OneDependenceTables`): every column in turn is the parent of all others.

    score[c] = log of the mean, over the parents i that are used, of  exp Σ_j table[(i, x_i), (j, x_j), c]

where the entry of a level with itself is log θ(x_i | c). A missing cell is no parent and adds nothing; without any
parent the score is naive Bayes'. `spec` defines it in NumPy; the compiled version is used.

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> p = OneDependenceTables.of(np.log([[[0.5, 0.2], [0.8, 0.4]]]), np.array([0, 1, 2]), np.array([True, True]))
>>> np.exp(scores(p, Codes(np.array([[0, 0], [-1, 0], [-1, -1]])))).round(3).tolist()  # (½ · 0.2 + 0.8 · 0.4) / 2
[[0.21], [0.4], [1.0]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, xlogy

from deciban import ops
from deciban.data.blocks import Codes
from deciban.tallies import Crosstab, Pairs

DIGITS = 12  # of information: what differs past them is rounding


def conditional_information(t: Pairs) -> np.ndarray:
    """I(X_i; X_j | C) of every two columns, (d, d), 0 on the diagonal; each by the rows that have both."""
    layout, levels = t.layout, t.levels
    pair, a, b = layout.cells(levels)
    many = len(layout.first)
    starts = [np.cumsum(levels[side]) - levels[side] for side in (layout.first, layout.second)]
    keys = [start[pair] + level for start, level in zip(starts, (a, b), strict=True)]
    owners = [np.repeat(np.arange(many), levels[side]) for side in (layout.first, layout.second)]
    total, whole = np.zeros(many), np.zeros(many)
    for counts in np.maximum(t.pairs, 0.0):
        n = np.bincount(pair, counts, minlength=many)
        total += np.bincount(pair, xlogy(counts, counts), minlength=many) + xlogy(n, n)
        for key, owner in zip(keys, owners, strict=True):
            one = np.bincount(key, counts, minlength=len(owner))
            total -= np.bincount(owner, xlogy(one, one), minlength=many)
        whole += n
    out = np.zeros((t.d, t.d))
    out[layout.first, layout.second] = np.divide(total, whole, out=np.zeros(many), where=whole > 0)
    return np.maximum(np.round(out + out.T, DIGITS), 0.0)


def class_information(t: Crosstab) -> np.ndarray:
    """I(X_j; C) of every column, (d,), by the rows that have it.

    >>> class_information(Crosstab(np.array([2.0, 2.0]), np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([2]))).round(4)
    array([0.6931])
    """
    out = np.zeros(t.d)
    for j, table in enumerate(t.columns()):
        table = np.maximum(table, 0.0)
        n, by_class, by_level = table.sum(), table.sum(axis=1), table.sum(axis=0)
        if n > 0:
            joint = xlogy(table, table).sum() + xlogy(n, n)
            out[j] = (joint - xlogy(by_class, by_class).sum() - xlogy(by_level, by_level).sum()) / n
    return np.maximum(np.round(out, DIGITS), 0.0)


def spanning_tree(weight: np.ndarray, root: int | None = None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(the parent of each column, −1 for a root; columns in an order where parents come first) of the tree with the
    largest sum of weights (d, d). It grows from `root`, by default the column with the largest sum of weights; of equal
    ones the first is taken. Edges of weight 0 are left out: then there are several trees."""
    d = len(weight)
    parents, order = np.full(d, -1), []
    best, nearest, out = np.full(d, 0.0), np.full(d, -1), np.ones(d, dtype=bool)
    sums = np.round(weight.sum(axis=1), DIGITS)
    for step in range(d):
        score = np.where(out, best, -1.0)
        new = int(score.argmax())
        if score[new] <= 0:  # nothing is joined to what is there: another tree begins
            new = root if step == 0 and root is not None else int(np.where(out, sums, -1.0).argmax())
        parents[new] = nearest[new] if best[new] > 0 else -1
        order.append(new)
        out[new] = False
        closer = out & (weight[new] > best)
        best[closer], nearest[closer] = weight[new][closer], new
    return tuple(parents.tolist()), tuple(order)


@dataclass(frozen=True)
class OneDependenceTables:
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
    def of(cls, logs: np.ndarray, offset: np.ndarray, seen: np.ndarray) -> OneDependenceTables:
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


def scores(p: OneDependenceTables, x: Codes) -> np.ndarray:
    """(n, k)"""
    core = ops.core()
    if core is None or x.d == 0:
        return spec(p, x)
    out = np.empty((x.n, p.k))
    core.parents(x.values, p.offset, p.table, p.alone, p.seen, out)
    return out


def spec(p: OneDependenceTables, x: Codes) -> np.ndarray:
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
