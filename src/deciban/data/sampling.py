"""Stratified samples of rows: classes keep their shares, and every class has at least a few rows.

Samples that depend on the cells of the rows instead of their places are in `rows/sampling.py`.
"""

from __future__ import annotations

import numpy as np

LEAST = 10  # rows of each class that a sample has, if there are as many


def draw_rows(y: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    """Up to `most` rows, in ascending order, drawn class by class (y: codes) by their places. All rows where there are
    no more.

    >>> y = np.array([0, 1] * 500)
    >>> np.bincount(y[draw_rows(y, 100)]).tolist()
    [50, 50]
    """
    if len(y) <= most:
        return np.arange(len(y))
    return stratified(np.random.default_rng(seed).permutation(len(y)), y, most)


def stratified(order: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """The first rows of each class in this order, as many as its quota; in ascending order.

    >>> stratified(np.arange(8), np.array([0, 0, 0, 0, 0, 0, 0, 1]), 4).tolist()
    [0, 1, 2, 7]
    """
    there = np.bincount(y)
    some = order[np.argsort(y[order], kind="stable")]
    rank = np.arange(len(y)) - np.repeat(np.cumsum(there) - there, there)
    return np.sort(some[rank < np.repeat(quotas(there, most), there)])


def quotas(there: np.ndarray, most: int) -> np.ndarray:
    """How many rows each class gets of `most`: at least a few if it has them, the rest by its share.

    >>> quotas(np.array([90_000, 9_995, 5]), 1000).tolist()
    [896, 99, 5]
    """
    least = np.minimum(there, max(1, min(LEAST, most // max(int(np.count_nonzero(there)), 1))))
    share = most * there / there.sum()
    rare = share < least
    share[rare] = least[rare]
    share[~rare] = (most - least[rare].sum()) * there[~rare] / max(there[~rare].sum(), 1)
    out = np.floor(share).astype(np.int64)
    order = np.argsort(out - share, kind="stable")  # largest remainders first
    out[order[: most - out.sum()]] += 1
    return np.minimum(out, there)
