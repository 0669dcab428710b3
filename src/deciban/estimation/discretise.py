"""Supervised discretisation: cut points of a numeric column that separate the classes.

`supervised` is the entropy and description-length rule of Fayyad and Irani (1993). A cut of S into S1, S2 is made where
it gains the most information, and only if the gain exceeds the cost of its own description:

    gain > (log2(N − 1) + log2(3^c − 2) − c H(S) + c1 H(S1) + c2 H(S2)) / N

with c, c1, c2 the numbers of classes in each part; then both parts are cut in turn.

>>> import numpy as np
>>> counts = np.array([[9, 9, 9, 0, 0, 0], [0, 0, 0, 9, 9, 9.0]])  # (k, m): two classes, apart after the third value
>>> supervised(counts)
[3]
>>> supervised(np.full((2, 6), 9.0))
[]

`chosen` are the cut points for models in which columns depend on each other. It starts from `supervised`, which misses
moderate effects, and adds two rules:

- if `supervised` finds no cut, one cut is made if the evidence of one cut, averaged over all places, is at least `ODDS`
  times that of no cut. The cut is the best of these places.
- a column of up to `DISTINCT` values gets an interval for each value if the evidence of that is at least `ODDS` times
  that of the cuts so far.

The evidence is the marginal likelihood of the classes: their shares in each interval have a Dirichlet prior around
their shares in all rows, with a total weight equal to the number of classes.

>>> import numpy as np
>>> chosen(np.array([[30.0, 60.0, 60.0, 60.0], [45.0, 35.0, 35.0, 35.0]])), chosen(np.full((2, 4), 40.0))  # (k, m)
([1], [])
>>> chosen(np.array([[40.0, 10.0, 40.0], [10.0, 40.0, 10.0]]))
[1, 2]
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Codes
from deciban.tallies.grid import cell_borders

FEW = 16  # cuts: counting those below a number is faster than searching
MANY = 64  # values from which on a search for each cut is faster than a pass over the values
ENOUGH = 512  # values to choose cuts among; of more, neighbours are taken together


def supervised(counts: np.ndarray) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m)."""
    return np.flatnonzero(supervised_of_each(counts[None])).tolist()


def supervised_of_each(counts: np.ndarray) -> np.ndarray:
    """Whether a cut precedes each of the m ordered values of t tables, (t, m), from their counts by class (t, k, m)."""
    if counts.shape[2] <= ENOUGH:
        return ops.supervised_cuts(counts)
    out = np.zeros(counts.shape[::2], dtype=bool)
    for table, own in zip(counts, out, strict=True):
        runs = np.array([0, *even(table.sum(axis=0), ENOUGH)])
        own[runs[ops.supervised_cuts(np.add.reduceat(table, runs, axis=1)[None])[0]]] = True
    return out


def even(counts: np.ndarray, parts: int) -> list[int]:
    """Cut before these of m ordered values, into about `parts` runs of like weight, from their counts (m,)."""
    return np.flatnonzero(even_of_each(counts[None], parts)).tolist()


def even_of_each(counts: np.ndarray, parts: int) -> np.ndarray:
    """Whether such a cut precedes each of the m ordered values of t tables, (t, m), from their counts (t, m).

    >>> even_of_each(np.ones((1, 6)), 3).tolist()
    [[False, False, True, False, True, False]]
    """
    out = np.zeros(counts.shape, dtype=bool)
    if parts < 2 or counts.shape[1] < 2:
        return out
    below = np.cumsum(counts, axis=1)
    total = below[:, -1:]
    if counts.shape[1] > MANY:
        for row, target, own in zip(below, total * np.arange(1, parts) / parts, out, strict=True):
            at = np.searchsorted(row, target) + 1
            own[at[at < len(own)]] = True
        return out
    near = np.floor(below * parts / np.where(total > 0, total, 1.0))  # how many runs end there, up to rounding errors
    near += total * (near + 1) / parts <= below
    near -= total * near / parts > below
    ends = np.where(total > 0, np.clip(near, 0, parts - 1), parts - 1)
    out[:, 1] = ends[:, 0] > 0
    out[:, 2:] = ends[:, 1:-1] > ends[:, :-2]
    return out


def intervals(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The interval 0, 1, … of each number (n,) between ascending cuts; −1 for NaN. A cut belongs to what is above it.

    >>> intervals(np.array([0.5, 2.0, np.nan]), np.array([1.0, 2.0])).tolist()
    [0, 2, -1]
    """
    if len(at) <= FEW < len(values):
        code = np.zeros(len(values), dtype=np.int32)
        for cut in at:
            code += values >= cut
    else:
        code = np.searchsorted(at, values, side="right").astype(np.int32)
    missing = np.isnan(values)
    if missing.any():
        code[missing] = -1
    return code


def interval(value: float, at: Sequence[float]) -> int:
    """The interval of one number; −1 for NaN.

    >>> interval(2.0, (1.0, 2.0)), interval(float("nan"), (1.0, 2.0))
    (2, -1)
    """
    return -1 if value != value else bisect_right(at, value)


def interval_names(at: Sequence[float], text: Callable[[float], str] = "{:.6g}".format) -> tuple[str, ...]:
    """The intervals between ascending cuts, as texts.

    >>> interval_names([0.5, 2.0]), interval_names([])
    (('< 0.5', '0.5 – 2', '≥ 2'), ('(any)',))
    """
    names = [text(cut) for cut in at]
    if not names:
        return ("(any)",)
    if len(set(names)) < len(names):
        names = [repr(cut) for cut in at]
    return (f"< {names[0]}", *(f"{a} – {b}" for a, b in pairwise(names)), f"≥ {names[-1]}")


def sequential_parts(
    score: Callable[[Codes], np.ndarray], codes: np.ndarray, order: Sequence[int], k: int
) -> np.ndarray:
    """What each column adds to the score of those before it in the order, (n, k, d); a missing cell adds nothing.

    >>> known = lambda x: -1.0 * (x.values >= 0).sum(axis=1, keepdims=True)
    >>> sequential_parts(known, np.array([[1, -1, 0]]), [2, 1, 0], 1)
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


DISTINCT = 10  # numbers of a column that may be levels each
ODDS = np.log(10.0)  # nats


def between(keys: np.ndarray, counts: np.ndarray) -> list[float]:
    """The cuts as numbers, in the middle between the cells (`keys`, of the grid of `GridCounts`) that they part."""
    if len(keys) == 0:
        return []
    low, high = cell_borders(keys)
    middle = np.array([high[i - 1] / 2 + low[i] / 2 for i in chosen(np.maximum(counts, 0.0))])
    return np.where(middle < 0, np.nextafter(middle, np.inf), middle).tolist()  # a cell has its end next to 0


def chosen(counts: np.ndarray) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m)."""
    out, many = supervised(counts), counts.shape[1]
    if many < 2 or (out and many > DISTINCT):
        return out
    classes = counts.sum(axis=1)
    prior = len(classes) * (classes + 1.0) / (classes.sum() + len(classes))
    if not out:
        out = _one(counts, prior)
    if many <= DISTINCT:
        each, now = _evidence(counts, prior), _evidence(np.add.reduceat(counts, [0, *out], axis=1), prior)
        out = list(range(1, many)) if each.sum() > now.sum() + ODDS else out
    return out


def _one(counts: np.ndarray, prior: np.ndarray) -> list[int]:
    """The best single cut, if the class depends on where a number lies."""
    runs = [0, *even(counts.sum(axis=0), ENOUGH)] if counts.shape[1] > ENOUGH else None
    steps = counts if runs is None else np.add.reduceat(counts, runs, axis=1)
    below, whole = np.cumsum(steps, axis=1)[:, :-1], counts.sum(axis=1, keepdims=True)
    gains = _evidence(below, prior) + _evidence(whole - below, prior) - _evidence(whole, prior)
    if len(gains) == 0 or np.logaddexp.reduce(gains) - np.log(len(gains)) <= ODDS:
        return []
    best = int(gains.argmax()) + 1
    return [best if runs is None else runs[best]]


def _evidence(counts: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """log marginal likelihood (m,) of the classes in each of m intervals, from their counts (k, m)."""
    a = prior[:, None]
    rows = gammaln(prior.sum()) - gammaln(counts.sum(axis=0) + prior.sum())
    return rows + (gammaln(counts + a) - gammaln(a)).sum(axis=0)
