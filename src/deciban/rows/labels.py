"""Class labels of any type → codes 0 … k − 1, without sorting where they are whole numbers."""

from __future__ import annotations

from numbers import Real

import numpy as np

from deciban import ops
from deciban.data.frames import Column, missing_rows
from deciban.display import format_list
from deciban.errors import DataError, DecibanError, MergeError

FEW = 1024  # labels 0 … 1023 are coded in one pass; a power of two


def label_codes(y: np.ndarray | Column, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(classes, codes) of labels, where codes are int32; −1 for a label that is not among the given classes.

    >>> label_codes(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1], dtype=int32))
    """
    if isinstance(y, Column):
        return _level_codes(y, classes)
    core = ops.core()
    whole = y.dtype in (np.int64, np.int32) and (classes is None or classes.dtype.kind in "iu")
    if core is None or not whole or len(y) == 0:
        return _sorted_codes(y, classes)
    y, seen, codes = np.ascontiguousarray(y), np.zeros(FEW, dtype=np.uint8), np.empty(len(y), dtype=np.int32)
    low, high = core.label_scan(y, seen, codes)
    if high - low > 4 * len(y) + FEW:
        return _sorted_codes(y, classes)
    if low >= 0 and high < FEW:
        low, seen = 0, seen[: high + 1]
    elif classes is None:
        seen = np.zeros(high - low + 1, dtype=np.uint8)
        core.label_marks(y, low, seen)
    if classes is None:
        classes = (np.flatnonzero(seen) + low).astype(y.dtype)
    if low >= 0 and high < min(FEW, len(classes)) and classes[0] == 0 and classes[high] == high:
        return classes, codes  # the labels are their own codes
    table = np.full(high - low + 1, -1, dtype=np.int32)
    inside = (classes >= low) & (classes <= high)
    table[classes[inside].astype(np.int64) - low] = np.flatnonzero(inside)
    core.label_codes(y, low, table, codes)
    return classes, codes


def united(a: np.ndarray, b: np.ndarray, merging: bool = False) -> np.ndarray:
    """All classes of two parts of the data, or (`merging`) of two models, in order. Labels of different types raise an
    error.

    >>> united(np.array(["a", "c"]), np.array(["b"])).tolist()
    ['a', 'b', 'c']
    """
    kinds = [label_type(labels) for labels in (a, b)]
    if kinds[0] != kinds[1]:
        error: type[DecibanError] = MergeError if merging else DataError
        part, other = ("one model", "the other") if merging else ("some parts of the data", "others")
        hint = "fit both with labels of the same type" if merging else "write the target as the same type in all parts"
        raise error(
            f"the labels are {kinds[0]} (such as {a.tolist()[0]!r}) in {part} and {kinds[1]} (such as "
            f"{b.tolist()[0]!r}) in {other}\n\nhint: {hint}"
        )
    return np.union1d(a, b)


def label_type(labels: np.ndarray) -> str:
    """The type of labels in a message: texts, truth values, numbers, or the name of their type."""
    first = labels.tolist()[0]
    if isinstance(first, (str, bytes)):
        return "texts"
    if isinstance(first, bool):
        return "truth values"
    return "numbers" if isinstance(first, Real) else f"{type(first).__name__} objects"


def _sorted_codes(y: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if y.dtype.kind in "OU" and y.ndim == 1 and (classes is None or classes.dtype.kind in "OU"):
        return _hashed_codes(y, classes)
    if classes is None:
        classes, codes = np.unique(y, return_inverse=True)
        return classes, codes.ravel().astype(np.int32)
    found = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return classes, np.where(classes[found] == y, found, -1).astype(np.int32)


def _hashed_codes(y: np.ndarray, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """`label_codes` of texts and other objects: sorting only the distinct ones is several times faster."""
    if (found := _distinct(y)) is not None:
        some, which = found
        classes, codes = _hashed_codes(some, classes)
        return classes, codes.take(which)
    labels = y.tolist()
    known = dict.fromkeys(labels)
    if y.dtype.kind == "O" and missing_rows(list(known)):
        raise no_label(missing_rows(labels))
    if classes is None:
        classes = np.unique(np.array(list(known), dtype=y.dtype))
    place = {label: code for code, label in enumerate(classes.tolist())}
    known = {label: place.get(label, -1) for label in known}
    return classes, np.fromiter(map(known.__getitem__, labels), dtype=np.int32, count=len(labels))


def _distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(distinct texts, index of each text among them), for many texts of one width with few distinct ones."""
    core = ops.core()
    if core is None or y.dtype.kind != "U" or not y.itemsize or len(y) <= FEW:
        return None
    first, which = np.empty(FEW, dtype=np.int64), np.empty(len(y), dtype=np.int32)
    count = core.distinct_texts(np.ascontiguousarray(y).view(np.uint32).reshape(len(y), -1), first, which)
    return None if count < 0 else (y[first[:count]], which)


def no_label(rows: list[int]) -> DataError:
    """The error for rows without a label."""
    where = f"row{'s' if len(rows) > 1 else ''} {format_list(rows, quote='')}"
    return DataError(
        f"Input y contains NaN: the target has no label in {where}\n\nhint: leave out the rows without a label"
    )


def several_types(labels: list) -> DataError:
    """The error for labels that cannot be sorted, as some are texts and others are not.

    >>> print(several_types(["no", 1]))
    one label is a text ('no'), another of type int (1)
    <BLANKLINE>
    hint: make all labels texts
    """
    first = {type(label): label for label in reversed(labels)}
    described = [
        f"a text ({str(label)!r})" if issubclass(kind, str) else f"of type {kind.__name__} ({label!r})"
        for kind, label in first.items()
    ]
    described.sort(key=lambda words: not words.startswith("a text"))
    return DataError(f"one label is {described[0]}, another {described[1]}\n\nhint: make all labels texts")


def _level_codes(y: Column, classes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """`label_codes` of a column of levels, which are coded already."""
    levels = y.levels or []
    if classes is None:
        classes = np.unique(np.array(levels, dtype=object))
    place = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.array([*(place.get(level, -1) for level in levels), -1], dtype=np.int32)[y.values]
