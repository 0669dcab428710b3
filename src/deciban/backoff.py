"""Shares of levels in sparse tables, each backed by a coarser one:

    θ(x)         = (n(x) + alpha) / (n + alpha · levels)
    θ(x | c)     = (n(x, c) + m · θ(x)) / (n(c) + m)
    θ(x | c, p)  = (n(x, c, p) + m · θ(x | c)) / (n(c, p) + m)      and so on, a condition at a time.

A table is (conditions …, levels), the next one has one more condition before the levels. The strength m is one number
for each step, or "auto": the one of a grid under which rows are most probable that were taken out of the counts first.
Where m is None nothing is backed: θ = (n + alpha) / (sum + alpha · levels) in every table.

>>> import numpy as np
>>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
>>> shares(tables, 1.0, (2.0,))[1].round(3).tolist()  # a level that a class never had: 2 · 0.3 / (4 + 2)
[[0.9, 0.1], [0.567, 0.433]]
>>> shares(tables, 1.0, None)[1].round(3).tolist()
[[0.833, 0.167], [0.5, 0.5]]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.tallies.base import less

GRID = 2.0 ** np.arange(-2, 11, 2)  # 0.25 … 1024
TINY = 1e-300

Strengths = Sequence[float] | None


def plain(table: np.ndarray, alpha: float) -> np.ndarray:
    """(n + alpha) / (sum + alpha · levels); even shares where there is neither count nor pseudo-count."""
    levels = max(table.shape[-1], 1)
    whole = table.sum(axis=-1, keepdims=True) + alpha * levels
    return np.divide(table + alpha, whole, out=np.full(table.shape, 1.0 / levels), where=whole > 0)


def backed(table: np.ndarray, base: np.ndarray, m: float) -> np.ndarray:
    """(n + m · base) / (sum + m), `base` without the last condition."""
    base = np.broadcast_to(base[..., None, :], table.shape)
    whole = table.sum(axis=-1, keepdims=True) + m
    return np.divide(table + m * base, whole, out=base.copy(), where=whole > 0)


def shares(tables: Sequence[np.ndarray], alpha: float, strengths: Strengths) -> list[np.ndarray]:
    """θ of each table, the coarsest first."""
    if strengths is None:
        return [plain(table, alpha) for table in tables]
    out = [plain(tables[0], alpha)]
    for table, m in zip(tables[1:], strengths, strict=True):
        out.append(backed(table, out[-1], m))
    return out


def best_strengths(tables: Sequence[np.ndarray], alpha: float, grid: np.ndarray = GRID) -> tuple[float, ...]:
    """For each table but the first the strength of the grid under which held-out rows are most probable.

    >>> alike, apart = np.array([[4.0, 4.0], [4.0, 4.0]]), np.array([[8.0, 0.0], [0.0, 8.0]])
    >>> [best_strengths([t.sum(axis=0), t], 1.0)[0] for t in (alike, apart)]
    [1024.0, 0.25]
    """
    left = less_one(tables[0], alpha)
    out = []
    for table in tables[1:]:
        base = np.broadcast_to(left[..., None, :], table.shape)
        some = table > 0
        n, base_n = table[some], base[some]
        rest = np.broadcast_to(table.sum(axis=-1, keepdims=True), table.shape)[some] - 1.0
        one, rest = np.maximum(n - 1.0, 0.0), np.maximum(rest, 0.0)
        scores = [float(n @ (np.log(one + m * base_n + TINY) - np.log(rest + m))) for m in grid]
        m = float(grid[int(np.argmax(scores))])
        whole = np.maximum(table.sum(axis=-1, keepdims=True) - 1.0, 0.0)
        left = (np.maximum(table - 1.0, 0.0) + m * base) / (whole + m)
        out.append(m)
    return tuple(out)


def less_one(table: np.ndarray, alpha: float) -> np.ndarray:
    """The plain share of each level without one of its rows.

    >>> less_one(np.array([2.0, 1.0]), 1.0).tolist()
    [0.5, 0.25]
    """
    levels = max(table.shape[-1], 1)
    whole = np.maximum(table.sum(axis=-1, keepdims=True) - 1.0, 0.0) + alpha * levels
    even = np.full(table.shape, 1.0 / levels)
    return np.divide(np.maximum(table - 1.0, 0.0) + alpha, whole, out=even, where=whole > 0)


def left_out(
    tables: Sequence[np.ndarray],
    alpha: float,
    strengths: Strengths,
    x: np.ndarray,
    given: Sequence[np.ndarray],
    y: np.ndarray,
    w: np.ndarray | None,
) -> np.ndarray:
    """θ(x_i | c, given_i) of each row and class (n, k), row i taken out of the counts. `tables` go from the coarsest to
    (k, *given, levels); x (n,) and the conditions (n,) are levels.

    >>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
    >>> left_out(tables, 1.0, None, np.array([0]), [], np.array([1]), None).round(3).tolist()
    [[0.833, 0.4]]
    """
    levels, k = max(tables[0].shape[-1], 1), tables[1].shape[0]
    weight = np.ones((len(y), 1)) if w is None else w[:, None]
    mine = weight * (y[:, None] == np.arange(k))
    steps = [(tables[0][x][:, None], np.full((len(y), 1), tables[0].sum()), weight)]
    for depth, table in enumerate(tables[1:]):
        at: tuple = (slice(None), *given[:depth])
        steps.append((table[(*at, x)].T, table.sum(axis=-1)[at].T if depth else table.sum(axis=-1)[None], mine))
    if strengths is None:
        steps = steps[-1:]
    out: np.ndarray | None = None
    for step, (count, whole, own) in enumerate(steps):
        count, whole = np.maximum(less(count, own), 0.0), np.maximum(less(whole, own), 0.0)
        if out is None:
            base, m = np.full(np.broadcast_shapes(count.shape, whole.shape), 1.0 / levels), alpha * levels
        else:
            base, m = np.broadcast_to(out, count.shape), float((strengths or ())[step - 1])
        out = np.divide(count + m * base, whole + m, out=base.copy(), where=whole + m > 0)
    assert out is not None
    return np.broadcast_to(out, (len(y), k))
