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

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from deciban.data import frames

LEAST = 10  # rows of each class that a sample has, if there are as many
ODD = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(0x7FF8_0000_0000_0001)  # the bits of a missing number


def sample_rows(X: Any, y: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    """Up to `most` rows, in ascending order, drawn class by class (y: codes). All rows where there are no more.

    >>> sample_rows([[1.0], [2.0]], np.array([0, 1]), 10).tolist()
    [0, 1]
    """
    if len(y) <= most:
        return np.arange(len(y))
    return stratified(shuffled_rows(X, y, seed), y, most)


def draw_rows(y: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    """The same by the places of the rows instead of their cells, where those are not at hand.

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
    digest = _stirred(row_digests(X) + _stirred(y.astype(np.uint64) + np.uint64(1)))
    order = np.argsort(digest, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(digest[order]) != 0))
    times = np.diff(np.append(first, len(order)))
    earlier = np.empty(len(order), dtype=np.uint64)  # equal rows before this one
    earlier[order] = np.arange(len(order)) - np.repeat(first, times)
    return np.argsort(_stirred(digest + earlier * ODD + np.uint64(seed)), kind="stable")


def row_digests(X: Any) -> np.ndarray:
    """A hash of the cells of each row (n,): of a frame, an array, a sparse matrix, a list of columns or texts.

    >>> a, b, c = row_digests([["x", 1.0], ["y", 1.0], ["x", 1.0]]).tolist()
    >>> a == c, a == b
    (True, False)
    """
    if isinstance(X, list) and X and isinstance(X[0], str):
        return np.array([_of_text(text) for text in X], dtype=np.uint64)
    if sparse.issparse(X):
        return _of_sparse(X.tocsr())
    known = isinstance(X, list) and X and isinstance(X[0], frames.Column)
    columns = X if known else frames.columns(X if frames.is_frame(X) else np.asarray(X))
    out = np.zeros(len(columns[0].values) if columns else 0, dtype=np.uint64)
    for column, factor in zip(columns, _factors(len(columns)), strict=True):
        out += _of_column(column) * factor
    return out


def _factors(d: int) -> np.ndarray:
    """An odd number for each column, so that the same cell counts otherwise in another column."""
    return np.random.default_rng(0).integers(1 << 62, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _of_sparse(X: sparse.csr_array) -> np.ndarray:
    out = np.zeros(X.shape[0], dtype=np.uint64)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    some = X.data != 0
    bits = np.ascontiguousarray(X.data[some], dtype=np.float64).view(np.uint64)
    np.add.at(out, row[some], _stirred(bits) * _factors(X.shape[1])[X.indices[some]])
    return out


def _of_column(column: frames.Column) -> np.ndarray:
    if column.levels is not None:
        return np.array([*map(_of_text, map(str, column.levels)), int(MISSING)], dtype=np.uint64)[column.values]
    values = np.ascontiguousarray(column.values + 0.0, dtype=np.float64)  # −0 is 0
    return _stirred(np.where(np.isnan(values), MISSING, values.view(np.uint64)))


def _of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _stirred(bits: np.ndarray) -> np.ndarray:
    """Every bit of the result depends on every bit (the finaliser of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
