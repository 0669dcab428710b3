"""Class labels of any type → codes 0 … k − 1, without sorting where they are whole numbers."""

from __future__ import annotations

import numpy as np

from deciban import ops


def label_codes(y: np.ndarray, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes) of labels, where codes are int32; −1 for a label that is not among the given classes.

    >>> label_codes(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1], dtype=int32))
    """
    small = _narrow(y, classes)
    if small is None:
        return _sorted_codes(y, classes)
    low, width = small
    core, y = ops.core(), np.ascontiguousarray(y)
    if classes is None:
        seen = np.zeros(width, dtype=np.uint8)
        core.label_marks(y, low, seen)
        classes = (np.flatnonzero(seen) + low).astype(y.dtype)
    table = np.full(width, -1, dtype=np.int32)
    at = np.asarray(classes, dtype=np.int64) - low
    inside = (at >= 0) & (at < width)
    table[at[inside]] = np.flatnonzero(inside)
    codes = np.empty(len(y), dtype=np.int32)
    core.label_codes(y, low, table, codes)
    return classes, codes


def _narrow(y: np.ndarray, classes: np.ndarray | None) -> tuple[int, int] | None:
    """(least label, how many up to the largest) of integers close enough together to count by position."""
    core = ops.core()
    if core is None or y.dtype not in (np.int64, np.int32) or len(y) == 0:
        return None
    if classes is not None and classes.dtype.kind not in "iu":
        return None
    low, high = core.label_range(np.ascontiguousarray(y))
    return (low, high - low + 1) if high - low < 4 * len(y) + 1024 else None


def _sorted_codes(y: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if classes is None:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.ravel().astype(np.int32)
    found = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return classes, np.where(classes[found] == y, found, -1).astype(np.int32)
