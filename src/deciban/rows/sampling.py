"""Samples of rows, and folds, that do not depend on the order of the rows.

Every row has a 64-bit hash of its cells, its class and how many equal rows came before it. Sorting by that hash is a
seeded shuffle: rows in another order give the same sample and the same folds. A sample is stratified: classes keep
their shares, and every class has at least a few rows.

>>> X, y = np.arange(12.0)[:, None], np.array([0, 1] * 6)
>>> at = sample_rows(X, y, 4)
>>> np.bincount(y[at]).tolist(), sample_rows(X[::-1], y[::-1], 4).tolist() == (11 - at[::-1]).tolist()
([2, 2], True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.data.sampling import stratified
from deciban.rows.digests import STEP, row_digests, stirred


def sample_rows(X: Any, y: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    """Up to `most` rows, in ascending order, drawn class by class (y: codes). All rows where there are no more.

    >>> sample_rows([[1.0], [2.0]], np.array([0, 1]), 10).tolist()
    [0, 1]
    """
    if len(y) <= most:
        return np.arange(len(y))
    return stratified(shuffled_rows(X, y, seed), y, most)


def folds_by_content(X: Any, y: np.ndarray, folds: int, seed: int = 0) -> np.ndarray:
    """The fold 0, 1, … of each row (n,), assigned class by class in the order of the hashes.

    >>> y = np.array([0, 1] * 6)
    >>> fold = folds_by_content(np.arange(12.0)[:, None], y, 3)
    >>> np.bincount(fold[y == 0]).tolist(), np.bincount(fold[y == 1]).tolist()
    ([2, 2, 2], [2, 2, 2])
    """
    order = shuffled_rows(X, y, seed)
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % folds
    return fold


def shuffled_rows(X: Any, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """The rows (n,) in an order that depends on their cells and classes, not on their positions."""
    digest = stirred(row_digests(X) + stirred(y.astype(np.uint64) + np.uint64(1)))
    order = np.argsort(digest, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(digest[order]) != 0))
    times = np.diff(np.append(first, len(order)))
    earlier = np.empty(len(order), dtype=np.uint64)  # equal rows before this one
    earlier[order] = np.arange(len(order)) - np.repeat(first, times)
    return np.argsort(stirred(digest + earlier * STEP + np.uint64(seed)), kind="stable")
