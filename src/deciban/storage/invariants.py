"""What holds of every sum over rows, and of all labels, so that a file in which it does not hold is refused.

Shapes and types are checked by `sound` of each tally. Here are the numbers: weights and sums of squares are ≥ 0, no
part has more weight than its class, tables add up to the weight of their rows, no covariance exceeds its variances.

>>> import numpy as np
>>> from deciban.tallies import Bundle, ClassWeights, Moments
>>> n = np.array([2.0, 1.0])
>>> moments = Moments(n, np.zeros((2, 1)), np.ones((2, 1)))  # weights, sums, sums of squares
>>> tally_fault(Bundle((ClassWeights(n), moments))), tally_fault(Bundle((ClassWeights(n), moments * -1.0)))
('', 'weights or sums of squares are negative')
"""

from __future__ import annotations

from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from deciban.data.blocks import Codes, Counts, Mixed, Reals, Table
from deciban.rows.sample import TOP, RowSample, digests
from deciban.tallies import (
    Bundle,
    Crosstab,
    ExactScatter,
    GridCounts,
    Moments,
    Pairs,
    Quartic,
    RowScatter,
    Scatter,
    SharedTally,
    Sums,
    in_range,
)
from deciban.tallies.basic import column, divide
from deciban.tallies.distinct_rows import KeyedRows

OUT_OF_RANGE = "classes have weights that no rows can have"
LEAST_SQUARE = 1e-300  # of numbers that are not all equal
ROUNDING = 1e-6  # relative, and of sums of weights absolute: what adding and subtracting rows may leave


def labels_fault(classes: Any) -> str:
    """What is wrong with the classes of a model; "" where they are distinct labels in ascending order.

    >>> labels_fault(np.array(["a", "b"])), labels_fault(np.array([1, 1]))
    ('', 'labels are not distinct and ascending')
    """
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        return "they are no list of labels"
    labels = classes.tolist()
    if not all(isinstance(label, str | bytes | Real | np.bool_) and label == label for label in labels):
        return "a label is no text and no number"
    try:
        ascending = all(a < b for a, b in pairwise(labels))
    except TypeError:
        ascending = False
    return "" if ascending else "labels are not distinct and ascending"


def tally_fault(tally: Any, given: bool = False) -> str:
    """What is wrong with the tally of a model; "" where it may be a sum over rows. `given`: it has no rows, because
    parameters were given, and class weights are their priors."""
    if not (isinstance(tally, Bundle) and tally.parts and tally.sound()):
        return "arrays do not fit together"
    if not tally.finite() or not np.isfinite(tally.parts[0].n).all():
        return "it holds numbers that are none"
    if np.any(tally.short()):
        return "weights or sums of squares are negative"
    if not given and not _in_range(tally.parts[0].n):
        return OUT_OF_RANGE
    return "" if given else _weights_fault(tally, tally.parts[0].n)


def sample_fault(sample: Any, n: np.ndarray, empty: Any, schema: Any, names: Any) -> str:
    """What is wrong with the sample of rows of a model; "" where it may be one. n (k,) is the weight of the rows of
    each class, `empty` a block of no rows of the model's columns, which have this schema, or names."""
    if not isinstance(sample, RowSample) or not isinstance(sample.table, Table):
        return "it is none"
    table, k = sample.table, len(n)
    m = len(sample.times)
    arrays = ((table.y, np.int32), (sample.digest, np.uint64), (sample.times, np.int64))
    if not all(a.shape == (m,) and a.dtype == kind for a, kind in arrays) or table.k != k:
        return "arrays do not fit together"
    if table.schema is not schema and table.schema != schema:
        return "its columns are others"
    if (fault := _block_fault(table.x, empty, m)) or (fault := _levels_fault(table.x, schema)):
        return fault
    w = table.w
    if w is not None and not (w.shape == (m,) and w.dtype == np.float64 and in_range(w).all()):
        return "rows have weights that no rows can have"
    if ((table.y < 0) | (table.y >= k)).any() or (sample.times < 1).any() or sample.times.sum() >= 1 << 53:
        return "rows have other classes, or no copies"
    if not _at_most(np.bincount(table.y, sample.weights(), minlength=k), n):
        return "rows have more weight than their classes"
    if (sample.size or 0) < 1 or sample.horizon.dtype != np.uint64 or sample.horizon > TOP:
        return "it has no size"
    bounds = sample.class_horizon
    if bounds.shape != (k,) or bounds.dtype != np.uint64 or ((bounds > TOP) | (bounds < sample.horizon)).any():
        return "it does not say which rows may be missing"
    if not np.array_equal(digests(table.x, schema, names), sample.digest):
        return "digests are not those of its rows"
    order = np.lexsort((table.weights(), table.y, sample.key))
    words = zip(sample.key.tolist(), table.y.tolist(), table.weights().tolist(), strict=True)
    if not np.array_equal(order, np.arange(m)) or len(set(words)) < m or (sample.key >= bounds[table.y]).any():
        return "rows are not in order"
    return ""


def _block_fault(x: Any, empty: Any, n: int) -> str:
    """What is wrong with the cells of n rows that a model with this empty block keeps."""
    other = "its columns are others"
    if isinstance(empty, Mixed):
        if not isinstance(x, Mixed) or len(x.blocks) != len(empty.blocks) or x.n != n:
            return other
        return next(filter(None, (_block_fault(a, b, n) for a, b in zip(x.blocks, empty.blocks, strict=True))), "")
    if isinstance(x, Counts):
        fine = isinstance(empty, Reals) and x.d == empty.d
        fine = fine and x.indptr.shape == (n + 1,) and x.indices.shape == x.values.shape == (int(x.indptr[-1]),)
        fine = fine and x.indptr[0] == 0 and bool((np.diff(x.indptr) >= 0).all()) and x.values.dtype.kind == "f"
        fine = fine and bool(((x.indices >= 0) & (x.indices < x.d)).all()) and _are_cells(x.values)
        return "" if fine else other
    kinds = "i" if isinstance(empty, Codes) else "f"
    if type(x) is not (Codes if isinstance(empty, Codes) else Reals) or x.values.shape != (n, empty.d):
        return other
    if x.values.dtype.kind != kinds:
        return other
    return "" if isinstance(x, Codes) or _are_cells(x.values) else "it holds numbers that no rows can have"


def _are_cells(values: np.ndarray) -> bool:
    return not np.isinf(values).any()


def _levels_fault(x: Any, schema: Any) -> str:
    """Whether rows have codes that are none of the levels of their columns."""
    blocks = x.blocks if isinstance(x, Mixed) else [x]
    for b, block in enumerate(blocks):
        if not isinstance(block, Codes) or block.n == 0:
            continue
        least, most = block.values.min(axis=0), block.values.max(axis=0)
        if least.min() < min(block.floor, -1):
            return "it holds codes of no levels"
        if schema is not None:
            family, at = schema.groups[b]
            counts = [2 if family is schema.gaps else len(schema.fields[j].levels or ()) for j in at]
            if (most >= np.array(counts)).any():
                return "it holds codes of no levels"
    return ""


def _weights_fault(tally: Any, n: np.ndarray) -> str:
    """`n` (k,) is the weight of the rows of each class."""
    if isinstance(tally, Bundle):
        faults = (_weights_fault(part, n) for part in tally.parts)
        return next(filter(None, (*faults, *map(_spread_fault, tally.parts, tally.parts[1:]))), "")
    if isinstance(tally, SharedTally):  # its rows may have no weights
        return _weights_fault(tally.part, tally.part.n) if _in_range(tally.part.n) else OUT_OF_RANGE
    if tally.k != len(n):
        return "parts are of other classes"
    same = tally.class_weights is not None
    if not (_equal(tally.n, n) if same else _at_most(tally.n, column(n) if tally.n.ndim == 2 else n)):
        return "parts have other weights than the classes"
    if isinstance(tally, RowScatter | KeyedRows):
        whole = np.bincount(tally.y, tally.w, minlength=tally.k)
        return "" if _equal(whole, tally.n) else "rows have other weights than the classes"
    sums = [tally.m2] if isinstance(tally, Moments) else [tally.total] if isinstance(tally, Sums) else []
    with np.errstate(all="ignore"):
        least = np.where(tally.n > 0, tally.n, 1.0).min()
        if not all(np.isfinite(np.abs(a).sum(axis=0) / least).all() for a in sums):
            return "sums are too large for their weights"
    if isinstance(tally, Scatter | Quartic):
        squares = tally.p11 if isinstance(tally, Quartic) else tally.scatter
        squares = tally.class_scatter if isinstance(tally, ExactScatter) else squares
        with np.errstate(all="ignore"):
            moderate = isinstance(tally, Scatter) or np.isfinite((squares / least) ** 2).all()
        return squares_fault(squares) if moderate else "sums are too large for their weights"
    tables: list[np.ndarray] = []
    if isinstance(tally, GridCounts):
        tables = tally.columns()
    if isinstance(tally, Crosstab):
        tables = np.split(tally.table, np.cumsum(tally.levels)[:-1], axis=1)
    if isinstance(tally, Pairs):
        tables += np.split(tally.pairs, tally.layout.start[1:-1], axis=1)
    sums = [table.sum(axis=1) for table in tables]
    if sums and not _at_most(np.stack(sums, axis=1), np.max(column(tally.n), axis=1, keepdims=True)):
        return "tables add up to more than the weight of their rows"
    return ""


def _spread_fault(own: Any, every: Any) -> str:
    """Of the moments of each class and, without weights, those of all rows: no row is further from their mean than the
    root of their sum of squares, so no variance of a class is larger than that sum."""
    if not (isinstance(own, Moments) and isinstance(every, SharedTally) and isinstance(every.part, Moments)):
        return ""
    most = np.sqrt(every.part.m2 * (1 + ROUNDING)) + ROUNDING * np.abs(every.part.mean)
    n = np.broadcast_to(column(own.n), own.mean.shape)
    apart = np.where(n > 0, np.abs(own.mean - every.part.mean), 0.0)
    fine = (apart <= most).all() and (np.sqrt(divide(own.m2, n)) <= most).all()
    return "" if fine else "classes spread further than all rows"


def squares_fault(scatter: np.ndarray) -> str:
    """Of matrices (k, d, d): whether they are symmetric, no entry exceeds the root of its squares' product, and squares
    are so large that they have an inverse."""
    squares = np.diagonal(scatter, axis1=1, axis2=2)
    size = np.sqrt(np.maximum(squares, 0.0))
    room = ROUNDING * size.max(initial=0.0) ** 2
    most = size[:, :, None] * size[:, None, :] + room
    fine = (np.abs(scatter) <= most).all() and (np.abs(scatter - scatter.transpose(0, 2, 1)) <= room).all()
    fine = fine and not ((squares > 0) & (squares < LEAST_SQUARE)).any()
    return "" if fine else "no rows have such products of columns"


def _in_range(n: np.ndarray) -> bool:
    return bool(((n == 0) | in_range(n)).all())


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING))


def _at_most(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a <= b * (1 + ROUNDING) + ROUNDING).all())
