"""Digests of rows by content: 64 bits that depend only on the cells of a row.

The order of rows, the borders of batches, the order of levels and the form of the data (a frame, blocks, sparse rows,
columns of an Arrow batch) make no difference. Samples and folds taken by digest are therefore the same for all forms.

The digest of a row is Σ_j key(cell j) · factor(j), modulo 2^64, where j counts the columns from 0. The key of a number
is a mix of its bits, 0 for 0, so that cells of sparse rows that are not stored add nothing; that of a level is a hash
of its name, or the key of the number where the level is one. All missing cells have the key `MISSING`.

>>> import numpy as np
>>> a, b, c = row_digests(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])).tolist()
>>> a == c, a == b
(True, False)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from deciban.data import frames
from deciban.data.blocks import Codes, ColumnBlock, Counts, Mixed, Plain, Reals, borders, to_csr
from deciban.display import is_missing
from deciban.engines import threads
from deciban.ops import spec
from deciban.ops.digests import add_digests, add_level_digests, stirred
from deciban.rows.schema import Schema

CELLS = 1 << 20  # that a thread processes at a time
SPACED = 4096  # evenly spaced digests that bound the smallest of many
STEP = np.uint64(0x9E3779B97F4A7C15)
MISSING = spec.digest_keys(np.array([np.nan]))[0]  # the key of a missing cell

Factors = Callable[[int | Sequence[Any]], np.ndarray]
Part = tuple[
    Plain, Callable[[Any, np.ndarray], None]
]  # columns, and a function that adds the digests of a range of their rows


def row_digests(X: Any, schema: Schema | None = None, factors: Factors | None = None) -> np.ndarray:
    """The digest of each row (n,), uint64: of blocks, a frame, an array, a sparse matrix, a list of columns or texts.

    A `Mixed` block needs its schema: columns count in the order of its fields, levels by their names. `factors`: the
    factors of columns instead of `column_factors`, by their names in the schema, or by how many there are.

    >>> a, b, c = row_digests([["x", 1.0], ["y", 1.0], ["x", 1.0]]).tolist()
    >>> a == c, a == b
    (True, False)
    """
    n, parts = _parts(X, schema, factors or column_factors)
    out = np.zeros(n, dtype=np.uint64)

    def fill(span: tuple[int, int]) -> None:
        for x, add in parts:
            add(x.rows(*span), out[slice(*span)])

    spans = borders(n, sum(x.cells for x, _ in parts), CELLS)
    deque(threads.map_ordered(spans, fill), maxlen=0)
    return out


def level_digests(levels: Iterable[Any]) -> np.ndarray:
    """The key of each level (m,): of a number by its value (True is 1), of any other level by its name.

    >>> one, true, text, missing = level_digests([1, True, "1", None])
    >>> bool(one == true), bool(one == text), bool(missing == MISSING)
    (True, False, True)
    """
    levels = list(levels)
    numbers = [_number(level) for level in levels]
    keys = spec.digest_keys(np.array([np.nan if number is None else number for number in numbers], dtype=np.float64))
    for i, number in enumerate(numbers):
        if number is None:
            keys[i] = _text_key(str(levels[i]))
    return keys


def column_factors(columns: int | Sequence[Any]) -> np.ndarray:
    """An odd number for each column, so that the same cell in another column has another digest; names do not count."""
    d = columns if isinstance(columns, int) else len(columns)
    return stirred(np.arange(1, d + 1, dtype=np.uint64) * STEP) | np.uint64(1)


@lru_cache(maxsize=64)
def named_factors(names: tuple) -> np.ndarray:
    """An odd number for each column, by its name: the order of the columns does not count.

    >>> [a, b], [c, d] = named_factors(("sky", "wind")).tolist(), named_factors(("wind", "sky")).tolist()
    >>> a == d, b == c, a == b
    (True, True, False)
    """
    kinds = ("text" if isinstance(name, str) else "number" for name in names)
    keys = [_text_key(f"{kind} {name}") for kind, name in zip(kinds, names, strict=True)]
    return np.array(keys, dtype=np.uint64) | np.uint64(1)


def smallest(digest: np.ndarray, n: int) -> np.ndarray:
    """Indices of the n smallest digests, and of any that equal the largest of these, in ascending order.

    >>> smallest(np.array([5, 1, 9, 1, 7], dtype=np.uint64), 3).tolist(), smallest(np.arange(2), 3).tolist()
    ([0, 1, 3], [0, 1])
    """
    if len(digest) <= n:
        return np.arange(len(digest))
    if n < 1:
        return np.zeros(0, dtype=np.intp)
    near = digest
    if len(digest) > 16 * SPACED:  # a bound from some of them leaves few to search
        some = digest[:: len(digest) // SPACED]
        rank = min(2 * len(some) * n // len(digest) + 16, len(some) - 1)
        near = digest[digest <= np.partition(some, rank)[rank]]
    near = near if len(near) >= n else digest
    return np.flatnonzero(digest <= np.partition(near, n - 1)[n - 1])


def _parts(X: Any, schema: Schema | None, factors: Factors) -> tuple[int, list[Part]]:
    """(number of rows, their columns grouped by type)."""
    if isinstance(X, Mixed):
        if schema is None:
            raise TypeError("the digests of mixed columns need their schema")
        return X.n, _of_mixed(X, schema, factors(schema.names))
    block = X if isinstance(X, (Reals, Counts, Codes)) else _read(X)
    if isinstance(block, list):
        return len(block[0].values) if block else 0, _of_columns(block, factors(len(block)))
    return block.n, [_numbers(block, factors(block.d))]


def _read(X: Any) -> Reals | Counts | list[frames.Column]:
    """User input as a block if all cells are numbers, else as columns."""
    if sparse.issparse(X):
        return Counts.from_sparse(to_csr(X))
    if isinstance(X, list) and X and isinstance(X[0], frames.Column):
        return X
    X = frames.records(X)
    if frames.is_frame(X):
        return frames.columns(X, lambda f, series: threads.map_ordered(series, f))
    cells = np.asarray(X)
    if cells.dtype.kind in "US" and not isinstance(X, np.ndarray):
        cells = np.asarray(X, dtype=object)  # in a mixed list, numbers stay numbers
    cells = cells[:, None] if cells.ndim == 1 else cells
    return Reals(cells) if cells.dtype.kind in "fiub" else frames.columns(cells)


def _of_columns(columns: Sequence[frames.Column], factors: np.ndarray) -> list[Part]:
    together, out = [], []
    for j, column in enumerate(columns):
        cells, factor = column.values, factors[j : j + 1]
        if column.levels is not None:
            out.append(_levels(Codes(cells[:, None]), [column.levels], factor))
        elif cells.dtype == np.float64 and cells.flags.c_contiguous:
            together.append(j)
        else:
            out.append(_numbers(Reals(cells[:, None]), factor))
    if together:
        out.append(_numbers(ColumnBlock([columns[j].values for j in together]), factors[together]))
    return out


def _of_mixed(x: Mixed, schema: Schema, factors: np.ndarray) -> list[Part]:
    out = []
    for block, (family, at) in zip(x.blocks, schema.groups, strict=True):
        if family is schema.gaps:  # whether cells are missing is in the other blocks too
            continue
        levels, factor = [schema.fields[j].levels for j in at], factors[list(at)]
        named = isinstance(block, Codes) and any(own is not None for own in levels)
        out.append(_levels(block, [own or () for own in levels], factor) if named else _numbers(block, factor))
    return out


def _numbers(x: Plain, factor: np.ndarray) -> Part:
    return x, lambda rows, out: add_digests(rows, factor, out)


def _levels(x: Plain, levels: Sequence[Sequence[Any]], factor: np.ndarray) -> Part:
    tables = [np.append(level_digests(own), MISSING) * f for own, f in zip(levels, factor, strict=True)]
    return x, lambda rows, out: add_level_digests(rows, tables, out)


def _number(level: Any) -> float | None:
    """The value of a level that is a number, NaN for a missing one, None for any other."""
    if isinstance(level, np.bool_):
        return float(level)
    if isinstance(level, str) or not isinstance(level, (Real, Decimal)) or isinstance(level, np.timedelta64):
        return np.nan if is_missing(level) else None
    try:
        return float(level)
    except OverflowError:  # a whole number too large for a float
        return None


def _text_key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
