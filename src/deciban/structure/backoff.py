"""Shares of levels in sparse tables, each backed by a coarser one:

    θ(x)         = (n(x) + alpha) / (n + alpha · levels)
    θ(x | c)     = (n(x, c) + m · θ(x) + alpha) / (n(c) + m + alpha · levels)
    θ(x | c, p)  = (n(x, c, p) + m · θ(x | c) + alpha) / (n(c, p) + m + alpha · levels)     and so on.

A table is (conditions …, levels), the next one has one more condition before the levels. The strengths m are given, one
for each step, or found: those of a grid under which rows are most probable that were taken out of the counts first.
So is alpha, or it is one number for all tables. With m = 0 nothing is backed: alpha = 1 is Laplace's rule.

>>> import numpy as np
>>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
>>> shares(tables, 1.0, (2.0,))[1].round(3).tolist()  # a level that a class never had: (2 · 0.3 + 1) / (4 + 2 + 2)
[[0.8, 0.2], [0.55, 0.45]]
>>> shares(tables, 1.0, (0.0,))[1].round(3).tolist()
[[0.833, 0.167], [0.5, 0.5]]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deciban.tallies.base import less

Alpha = float | Sequence[float]  # of all tables, or of each

GRID = np.array([0.0, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])
TINY = 1e-300


def even(table: np.ndarray) -> np.ndarray:
    """The same share for every level."""
    return np.full(table.shape[-1], 1.0 / max(table.shape[-1], 1))


def backed(table: np.ndarray, base: np.ndarray, m: float, alpha: float) -> np.ndarray:
    """(n + m · base + alpha) / (sum + m + alpha · levels), `base` without the last condition; `base` itself where there
    is neither count nor pseudo-count."""
    base = np.broadcast_to(base[..., None, :], table.shape)
    whole = table.sum(axis=-1, keepdims=True) + m + alpha * table.shape[-1]
    return np.divide(table + m * base + alpha, whole, out=base.copy(), where=whole > 0)


def shares(tables: Sequence[np.ndarray], alpha: Alpha, strengths: Sequence[float]) -> list[np.ndarray]:
    """θ of each table, the coarsest first."""
    first, *alphas = np.broadcast_to(alpha, len(tables))
    out = [backed(tables[0][None], even(tables[0]), 0.0, first)[0]]
    for table, m, own in zip(tables[1:], strengths, alphas, strict=True):
        out.append(backed(table, out[-1], m, own))
    return out


def less_one(table: np.ndarray, base: np.ndarray, m: float, alpha: float) -> np.ndarray:
    """The same shares of each level without one of the rows that have it.

    >>> less_one(np.array([[2.0, 1.0]]), np.array([0.5, 0.5]), 0.0, 1.0).tolist()
    [[0.5, 0.25]]
    """
    base = np.broadcast_to(base[..., None, :], table.shape)
    whole = np.maximum(table.sum(axis=-1, keepdims=True) - 1.0, 0.0) + m + alpha * table.shape[-1]
    return np.divide(np.maximum(table - 1.0, 0.0) + m * base + alpha, whole, out=base.copy(), where=whole > 0)


def held_out(n: np.ndarray, rest: np.ndarray, base: np.ndarray, levels: np.ndarray | int, m: float, alpha: float):
    """n · log θ of cells with n rows, one of them taken out; `rest` is the sum over their levels, itself among it."""
    one, rest = np.maximum(n - 1.0, 0.0), np.maximum(rest - 1.0, 0.0)
    return n * (np.log(one + m * base + alpha + TINY) - np.log(rest + m + alpha * levels + TINY))


def best_strengths(tables: Sequence[np.ndarray], alpha: Alpha) -> tuple[float, ...]:
    """For each table but the first the strength of the grid under which held-out rows are most probable.

    >>> alike, apart = np.array([[4.0, 4.0], [4.0, 4.0]]), np.array([[8.0, 0.0], [0.0, 8.0]])
    >>> [best_strengths([t.sum(axis=0), t], 1.0)[0] for t in (alike, apart)]
    [1024.0, 0.0]
    """
    first, *alphas = np.broadcast_to(alpha, len(tables))
    left = less_one(tables[0][None], even(tables[0]), 0.0, first)[0]
    out = []
    for table, own in zip(tables[1:], alphas, strict=True):
        some = table > 0
        rest = np.broadcast_to(table.sum(axis=-1, keepdims=True), table.shape)[some]
        base = np.broadcast_to(left[..., None, :], table.shape)[some]
        scores = [held_out(table[some], rest, base, table.shape[-1], m, own).sum() for m in GRID]
        out.append(float(GRID[int(np.argmax(scores))]))
        left = less_one(table, left, out[-1], own)
    return tuple(out)


def left_out(
    tables: Sequence[np.ndarray],
    alpha: Alpha,
    strengths: Sequence[float],
    x: np.ndarray,
    given: Sequence[np.ndarray],
    y: np.ndarray,
    w: np.ndarray | None,
) -> np.ndarray:
    """θ(x_i | c, given_i) of each row and class (n, k), row i taken out of the counts. `tables` go from the coarsest to
    (k, *given, levels); x (n,) and the conditions (n,) are levels.

    >>> tables = [np.array([6.0, 2.0]), np.array([[4.0, 0.0], [2.0, 2.0]])]
    >>> left_out(tables, 1.0, (0.0,), np.array([0]), [], np.array([1]), None).round(3).tolist()
    [[0.833, 0.4]]
    """
    levels, k = max(tables[0].shape[-1], 1), tables[1].shape[0]
    weight = np.ones((len(y), 1)) if w is None else w[:, None]
    mine = weight * (y[:, None] == np.arange(k))
    steps = [(tables[0][x][:, None], np.full((len(y), 1), tables[0].sum()), weight)]
    for depth, table in enumerate(tables[1:]):
        at: tuple = (slice(None), *given[:depth])
        steps.append((table[(*at, x)].T, table.sum(axis=-1)[at].T if depth else table.sum(axis=-1)[None], mine))
    out = np.full((len(y), 1), 1.0 / levels)
    for (count, whole, own), m, a in zip(steps, (0.0, *strengths), np.broadcast_to(alpha, len(steps)), strict=True):
        count, whole = np.maximum(less(count, own), 0.0), np.maximum(less(whole, own), 0.0)
        base, whole = np.broadcast_to(out, count.shape), whole + m + a * levels
        out = np.divide(count + m * base + a, whole, out=base.copy(), where=whole > 0)
    return out
