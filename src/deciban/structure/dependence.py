"""How much columns tell of each other beside the class, from counts of pairs, and the tree that keeps most of it.

    I(X_i; X_j | C) = Σ_(c, a, b) P(c, a, b) log( P(a, b | c) / (P(a | c) P(b | c)) )      in nats

>>> import numpy as np
>>> from deciban.tallies import Pairs
>>> t = Pairs(np.array([4.0]), np.array([[2.0, 2.0, 2.0, 2.0]]), np.array([2, 2]), np.array([[2.0, 0.0, 0.0, 2.0]]))
>>> conditional_information(t).round(4).tolist()
[[0.0, 0.6931], [0.6931, 0.0]]
>>> spanning_tree(conditional_information(t))
((-1, 0), (0, 1))
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

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
