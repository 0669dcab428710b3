"""Rows as the kernels take them: a block of cells, class codes, weights.

Three blocks hold every kind of column: `Reals` (dense numbers; `ColumnBlock`, one array per column), `Counts`
(compressed sparse rows) and `Codes` (levels, −1 = missing). `rows(a, b)` cuts a run of rows without copying, except for
dtypes that the kernels do not know, which are converted one chunk at a time.

>>> import numpy as np
>>> t = Table(Reals(np.arange(6.0).reshape(3, 2)), y=np.array([0, 1, 1], dtype=np.int32), w=None, k=2)
>>> t.rows(1, 3).x.values.tolist(), t.n, t.d
([[2.0, 3.0], [4.0, 5.0]], 3, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from deciban.data.memory import available_memory
from deciban.errors import DataError

_INT32 = int(np.iinfo(np.int32).max)
_MANY = 1 << 24  # columns for which models may be too large
_COLUMN = 64  # bytes that a model keeps for a column at least, of two classes
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_HUGE = 1 << 62  # codes above this are clipped (too many levels)
_INTS = (np.dtype(np.int64), np.dtype(np.int32))


def _kernel_floats(x: np.ndarray) -> np.ndarray:
    if x.dtype in _FLOATS and x.flags.aligned:
        return x
    return np.asarray(x, dtype=np.float64, order="C")


@dataclass(frozen=True)
class _Cells:
    """A cell for every row and column."""

    values: np.ndarray  # (n, d)

    @property
    def n(self) -> int:
        return self.values.shape[0]

    @property
    def d(self) -> int:
        return self.values.shape[1]

    @property
    def cells(self) -> int:
        return self.values.size


@dataclass(frozen=True)
class Reals(_Cells):
    """Dense cells in any memory order; NaN = missing."""

    def rows(self, start: int, stop: int) -> Reals:
        return Reals(_kernel_floats(self.values[start:stop]))

    def take(self, index: np.ndarray) -> Reals:
        return Reals(_kernel_floats(self.values[index]))

    def dense(self) -> np.ndarray:
        """The cells as doubles, (n, d)."""
        return np.asarray(self.values, dtype=np.float64)

    def map(self, f) -> np.ndarray:
        """Σ_j f(x[i, j]) of each row, for an f with f(0) = 0; missing cells count 0. → (n,)"""
        return np.nansum(f(self.values), axis=1)

    @property
    def held(self) -> np.ndarray | list[np.ndarray]:
        """The cells as kernels take them: an array (n, d), or one array per column."""
        return self.values

    @property
    def arrays(self) -> list[np.ndarray]:
        """All cells, in one array or several."""
        return [self.values]


class ColumnBlock(Reals):
    """Dense cells with one contiguous array per column, as in Arrow. `values` copies them into one array; the kernels
    that compute tallies do not need it.

    >>> x = ColumnBlock([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    >>> x.rows(1, 2).values.tolist(), x.n, x.d
    ([[2.0, 4.0]], 2, 2)
    """

    columns: list[np.ndarray]

    def __init__(self, columns: Sequence[np.ndarray]):
        kind = np.float32 if all(column.dtype == np.float32 for column in columns) else np.float64
        object.__setattr__(self, "columns", [np.ascontiguousarray(column, dtype=kind) for column in columns])

    @cached_property
    def values(self) -> np.ndarray:
        return np.stack(self.columns).T

    @property
    def n(self) -> int:
        return len(self.columns[0])

    @property
    def d(self) -> int:
        return len(self.columns)

    @property
    def cells(self) -> int:
        return self.n * self.d

    def rows(self, start: int, stop: int) -> ColumnBlock:
        return self if stop - start == self.n else ColumnBlock([column[start:stop] for column in self.columns])

    def take(self, index: np.ndarray) -> Reals:
        return Reals(np.stack([column[index] for column in self.columns], axis=1))

    @property
    def held(self) -> list[np.ndarray]:
        return self.columns

    @property
    def arrays(self) -> list[np.ndarray]:
        return self.columns


@dataclass(frozen=True)
class Counts:
    """Compressed sparse rows. `indptr` is absolute, so a run of rows is a shorter indptr over the same arrays."""

    indptr: np.ndarray  # (n + 1,), int64
    indices: np.ndarray  # int32
    values: np.ndarray
    d: int
    each: Callable | None = field(
        default=None, compare=False, repr=False
    )  # like `map`: does an operation's parts at once
    known: dict = field(default_factory=dict, compare=False, repr=False)  # what was found out about the indices

    def __post_init__(self) -> None:
        if self.indptr.dtype != np.int64:
            object.__setattr__(self, "indptr", self.indptr.astype(np.int64))
        if self.d > _MANY and _COLUMN * self.d > min(_COLUMN * _INT32, available_memory()):
            raise DataError(f"X has {self.d} columns, too many for the memory\n\nhint: hash them (HashingVectorizer)")
        if self.indices.dtype != np.int32:
            object.__setattr__(self, "indices", self.indices.astype(np.int32))

    @classmethod
    def from_sparse(cls, X: Any) -> Counts:
        """The rows of a CSR matrix; cells that are stored twice are added up."""
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        cells = X.indptr[-1]
        return cls(X.indptr, X.indices[:cells], X.data[:cells], X.shape[1])

    def __getstate__(self) -> dict:
        """Without what was found out: it is of this process."""
        return {**self.__dict__, "known": {}}

    @property
    def n(self) -> int:
        return self.indptr.shape[0] - 1

    @property
    def cells(self) -> int:
        return int(self.indptr[-1] - self.indptr[0])

    @property
    def stored(self) -> np.ndarray:
        """The values that belong to these rows."""
        return self.values[self.indptr[0] : self.indptr[-1]]

    def rows(self, start: int, stop: int) -> Counts:
        indptr = self.indptr[start : stop + 1]
        if self.values.dtype in _FLOATS:
            return replace(self, indptr=indptr)
        cut = slice(indptr[0], indptr[-1])
        return Counts(indptr - indptr[0], self.indices[cut], _kernel_floats(self.values[cut]), self.d)

    def take(self, index: np.ndarray) -> Counts:
        lengths = np.diff(self.indptr)[index]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(self.indptr.dtype)
        at = np.repeat(self.indptr[:-1][index] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Counts(indptr, self.indices[at], _kernel_floats(self.values[at]), self.d)

    def row_of(self) -> np.ndarray:
        """The row of each stored value."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))

    def column_of(self) -> np.ndarray:
        return self.indices[self.indptr[0] : self.indptr[-1]]

    def dense(self) -> np.ndarray:
        out = np.zeros((self.n, self.d))
        out[self.row_of(), self.column_of()] = self.stored
        return out

    def map(self, f) -> np.ndarray:
        return np.bincount(self.row_of(), np.nan_to_num(f(self.stored), nan=0.0), minlength=self.n)


@dataclass(frozen=True)
class Codes(_Cells):
    """Levels as whole numbers 0, 1, …; a negative code (NaN in a float array) = missing."""

    floor: int = -1  # the least valid code: 0 where −1 does not mean missing
    known: dict = field(default_factory=dict, compare=False, repr=False)  # what was found out about the values

    def _kernel(self, x: np.ndarray) -> Codes:
        if x.dtype in _INTS and x.flags.aligned:
            return Codes(x, self.floor)
        if x.dtype.kind != "f":
            return Codes(np.asarray(x, dtype=np.int64, order="C"), self.floor)
        x = np.asarray(x, dtype=np.float64)
        wrong = (x < 0) | np.isinf(x)
        codes = np.minimum(np.where(np.isnan(x), -1, np.where(wrong, self.floor - 2, x)), _HUGE)
        return Codes(np.asarray(codes, dtype=np.int64, order="C"), -1)

    def rows(self, start: int, stop: int) -> Codes:
        return self._kernel(self.values[start:stop])

    def take(self, index: np.ndarray) -> Codes:
        return self._kernel(self.values[index])

    def pairs(self, columns: list[tuple[int, int]], levels: np.ndarray) -> Codes:
        """The columns a × b as columns of their own, code a · levels[b] + b: pair counts are a crosstab of these."""
        a, b = np.asarray(columns, dtype=np.intp).reshape(-1, 2).T
        left, right = self.values[:, a], self.values[:, b]
        both = (left >= 0) & (right >= 0)
        return Codes(np.where(both, left * np.asarray(levels)[b] + right, -1))


@dataclass(frozen=True, eq=False)
class NewTexts:
    """Texts of a column that have no level."""

    words: Any  # (m, words), how often each has each word
    first: int  # the code of the first of them
    unknown: int  # the code of a level that is not known


@dataclass(frozen=True)
class TextCodes(Codes):
    """Codes of levels, and of texts that have none."""

    more: Mapping[int, NewTexts] = field(default_factory=dict)  # by column

    def _kernel(self, x: np.ndarray) -> Codes:
        own = super()._kernel(x)
        return TextCodes(own.values, own.floor, more=self.more)

    def levels_only(self) -> Codes:
        """The codes of levels, where a new text is a level that is not known."""
        values = np.array(self.values)
        for column, new in self.more.items():
            values[values[:, column] >= new.first, column] = new.unknown
        return Codes(values, self.floor)


@dataclass(frozen=True)
class Mixed:
    """Columns of several kinds: blocks side by side, of the same rows."""

    blocks: tuple[Reals | Codes, ...]
    n: int

    @property
    def d(self) -> int:
        return sum(block.d for block in self.blocks)

    @property
    def cells(self) -> int:
        return sum(block.cells for block in self.blocks)

    def rows(self, start: int, stop: int) -> Mixed:
        return Mixed(tuple(block.rows(start, stop) for block in self.blocks), len(range(self.n)[start:stop]))

    def take(self, index: np.ndarray) -> Mixed:
        return Mixed(tuple(block.take(index) for block in self.blocks), len(np.arange(self.n)[index]))


def concatenated(a: Table, b: Table) -> Table:
    """The rows of two tables, one after the other, in the classes and the schema of the first.

    >>> t = Table(Reals(np.array([[1.0], [2.0]])), np.array([0, 1], dtype=np.int32), None, 2)
    >>> both = concatenated(t, replace(t, w=np.array([0.5, 2.0])))
    >>> both.x.values[:, 0].tolist(), both.y.tolist(), both.w.tolist()
    ([1.0, 2.0, 1.0, 2.0], [0, 1, 0, 1], [1.0, 1.0, 0.5, 2.0])
    """
    w = None if a.w is None and b.w is None else np.concatenate([a.weights(), b.weights()])
    return Table(_stacked(a.x, b.x), np.concatenate([a.y, b.y]), w, a.k, a.schema)


def _stacked(a: Any, b: Any) -> Any:
    if isinstance(a, Mixed):
        return Mixed(tuple(map(_stacked, a.blocks, b.blocks)), a.n + b.n)
    if isinstance(a, Counts):
        indptr = np.concatenate([a.indptr - a.indptr[0], a.cells - b.indptr[0] + b.indptr[1:]])
        indices = np.concatenate([a.column_of(), b.column_of()])
        return Counts(indptr, indices, np.concatenate([a.stored, b.stored]), a.d)
    values = np.concatenate([a.values, b.values])
    return Codes(values, min(a.floor, b.floor)) if isinstance(a, Codes) else Reals(values)


def plain(x: Any) -> Any:
    """A block that is arrays alone: without what was found out about them, and with one array for all columns."""
    if isinstance(x, Mixed):
        return Mixed(tuple(map(plain, x.blocks)), x.n)
    if isinstance(x, Counts):
        return Counts(x.indptr - x.indptr[0], x.column_of(), x.stored, x.d)
    return Codes(x.values, x.floor) if isinstance(x, Codes) else Reals(x.values)


def to_csr(X: Any, places: bool = True) -> Any:
    """A sparse matrix as CSR; an error if its arrays do not fit each other: SciPy would read memory that is not theirs.
    The `places` of the cells of CSR matrices may be checked later: SciPy does not look up by them.

    >>> from scipy import sparse
    >>> X = sparse.csr_matrix(np.eye(3))
    >>> X.indices[1] = 7
    >>> to_csr(X)
    Traceback (most recent call last):
      ...
    deciban.errors.DataError: X is damaged: `indices` has 7, but there are 3 columns
    <BLANKLINE>
    hint: make the matrix again; SciPy's own methods keep its arrays together
    """
    if X.format in ("csr", "csc", "bsr"):
        _check_lengths(X.data, 3 if X.format == "bsr" else 1, indices=X.indices)
        n, d = X.shape[::-1] if X.format == "csc" else X.shape
        tall, wide = X.blocksize if X.format == "bsr" else (1, 1)
        if min(tall, wide) < 1:
            raise _damaged(f"its blocks have the shape {tall} × {wide}")
        _check_borders(X.indptr, n // tall, len(X.indices))
        if places or X.format != "csr" or X.dtype.kind == "c":  # of complex cells, the error prints the matrix
            of = {"csr": "columns", "csc": "rows", "bsr": "blocks of columns"}[X.format]
            check_places("indices", X.indices[: X.indptr[-1]], d // wide, of)
    elif X.format == "dia":
        if X.data.ndim != 2 or X.offsets.shape != X.data.shape[:1] or X.offsets.dtype.kind not in "iu":
            raise _damaged(f"`offsets` has shape {X.offsets.shape} and type {X.offsets.dtype}, `data` {X.data.shape}")
        check_places("offsets", X.offsets.astype(np.int64) + X.shape[0], sum(X.shape), "diagonals")
    elif X.format == "lil":
        fine = X.rows.shape == X.data.shape == X.shape[:1] and all(type(row) is list for row in (*X.rows, *X.data))
        if not fine or any(len(row) != len(cells) for row, cells in zip(X.rows, X.data, strict=True)):
            raise _damaged("`rows` and `data` are not lists of the same lengths, one for each row")
    elif X.format == "coo":
        _check_lengths(X.data, 1, row=X.row, col=X.col)
        check_places("row", X.row, X.shape[0], "rows")
        check_places("col", X.col, X.shape[1], "columns")
    if X.dtype == np.float16 or not X.dtype.isnative:
        raise _damaged(f"SciPy has no matrices of type {X.dtype}")
    if X.format == "csr" and X.dtype != object:
        return X
    try:
        with np.errstate(all="ignore"):
            out = X.tocsr()
            return out.astype(np.float64) if out.dtype == object else out
    except (ValueError, TypeError, OverflowError) as wrong:
        raise _damaged(str(wrong)) from None


def _damaged(what: str) -> DataError:
    return DataError(
        f"X is damaged: {what}\n\nhint: make the matrix again; SciPy's own methods keep its arrays together"
    )


def _check_lengths(data: np.ndarray, dimensions: int, **places: np.ndarray) -> None:
    if data.ndim != dimensions:
        raise _damaged(f"`data` has {data.ndim} dimensions instead of {dimensions}")
    for name, array in places.items():
        if array.dtype not in _INTS or array.ndim != 1:
            raise _damaged(f"`{name}` is of type {array.dtype} in {array.ndim} dimensions, not a list of whole numbers")
        if len(array) != len(data):
            raise _damaged(f"`{name}` has {len(array)} numbers, `data` has {len(data)}")


def _check_borders(indptr: np.ndarray, n: int, cells: int) -> None:
    if indptr.dtype not in _INTS or indptr.shape != (n + 1,):
        raise _damaged(f"`indptr` is of type {indptr.dtype} and shape {indptr.shape}, not {n + 1} whole numbers")
    if indptr[0] != 0 or indptr[-1] > cells or (indptr[1:] < indptr[:-1]).any():
        raise _damaged(f"`indptr` does not ascend from 0 to at most {cells}, the number of stored cells")


def check_places(name: str, places: np.ndarray, limit: int, of: str) -> None:
    """Raise an error for a number that is not in 0 … limit − 1. One pass: a negative one is large without its sign."""
    if len(places) and int(places.view(f"u{places.dtype.itemsize}").max()) >= limit:
        wrong = places[(places < 0) | (places >= limit)][0]
        raise _damaged(f"`{name}` has {wrong}, but there are {limit} {of}")


Plain = Reals | Counts | Codes
Block = Plain | Mixed


@dataclass(frozen=True)
class Table:
    """Rows with their classes: x, codes y in 0 … k − 1 (int32), weights w (float64, or None = all 1)."""

    x: Block
    y: np.ndarray
    w: np.ndarray | None
    k: int
    schema: Any = None  # what the columns of `Mixed` rows are

    @property
    def n(self) -> int:
        return self.x.n

    @property
    def d(self) -> int:
        return self.x.d

    def rows(self, start: int, stop: int) -> Table:
        return Table(
            self.x.rows(start, stop),
            self.y[start:stop],
            None if self.w is None else self.w[start:stop],
            self.k,
            self.schema,
        )

    def take(self, index: np.ndarray) -> Table:
        """These rows, in this order."""
        return Table(self.x.take(index), self.y[index], None if self.w is None else self.w[index], self.k, self.schema)

    def weights(self) -> np.ndarray:
        """The weight of each row, (n,)."""
        return np.ones(self.n) if self.w is None else self.w

    def chunks(self, cells: int = 1 << 21) -> Iterator[Table]:
        """The rows in order, a power of two of even runs of about `cells` cells: borders depend on the rows alone."""
        for start, stop in borders(self.n, self.x.cells, cells):
            yield self.rows(start, stop)


def borders(n: int, cells: int, at_least: int) -> list[tuple[int, int]]:
    """Cut n rows into 2^m even runs of at least `at_least` cells each (one run if there are fewer).

    >>> borders(10, 100, 30)
    [(0, 5), (5, 10)]
    """
    parts = 1 << max(0, (cells // max(at_least, 1)).bit_length() - 1)
    parts = max(1, min(parts, n))
    return [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]


def class_borders(x: Counts, y: np.ndarray, k: int, parts: int = 16) -> list[tuple[int, int]]:
    """Cut k classes into runs of about even numbers of stored cells, at most `parts`.

    >>> x = Counts(np.array([0, 1, 2, 3, 9]), np.arange(9), np.ones(9), 9)
    >>> class_borders(x, np.array([0, 1, 2, 3]), 4, parts=2)
    [(0, 3), (3, 4)]
    """
    cells = np.bincount(y, np.diff(x.indptr), minlength=k)
    middle = np.cumsum(cells) - cells / 2
    edges = np.flatnonzero(np.diff(middle * parts // max(x.cells, 1))) + 1
    return list(pairwise([0, *edges.tolist(), k]))
