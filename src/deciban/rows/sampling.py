"""Samples and folds of rows, chosen by content: independent of the order of the rows and of their batches.

`sample_rows` and `folds_by_content` are indices into X, in memory. They are stratified: classes keep their shares.
Every row has a 64-bit digest of its cells. A copy of a row is another row: the digest is mixed with the class and with
the number of copies before it, and sorting by that number is a seeded shuffle. The sample that a model keeps of its
training rows is in `rows.sample`.

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
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
    earlier = count_copies(digest)[0].astype(np.uint64)
    return np.argsort(stirred(digest + earlier * STEP + np.uint64(seed)), kind="stable")


def count_copies(key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(number of rows before it that have the same key, number of rows that have it), (n,) each.

    >>> [a.tolist() for a in count_copies(np.array([7, 3, 7, 7]))]
    [[0, 0, 1, 2], [3, 1, 3, 3]]
    """
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(key[order]) != 0)[: len(order)])
    times = np.diff(np.append(first, len(order)))
    rank, copies = np.empty((2, len(order)), dtype=np.intp)
    rank[order] = np.arange(len(order)) - np.repeat(first, times)
    copies[order] = np.repeat(times, times)
    return rank, copies
