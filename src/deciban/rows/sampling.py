"""Samples and folds of rows, chosen by content: independent of the order of the rows and of their batches.

Every row has a 64-bit digest of its cells. Two kinds of samples are drawn by it:

`RowSample` is the sample of a training pass: the rows of the smallest digests, where copies of a row are stored once,
with their number. It contains all rows if there are no more than the size of a sample. `BatchSample` is the same for
Arrow batches; samples of batches add up.

`sample_rows` and `folds_by_content` are indices into X, in memory. They are stratified: classes keep their shares. A
copy of a row is another row: the digest is mixed with the class and with the number of copies before it, and sorting by
that number is a seeded shuffle.

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
>>> x = np.repeat(np.arange(8.0), 3)[:, None]
>>> few = RowSample.of(Table(Reals(x), np.zeros(24, dtype=np.int32), None, 1), 4)
>>> few.table.n, few.times.tolist(), few.complete
(4, [3, 3, 3, 3], False)
>>> X, y = np.arange(12.0)[:, None], np.array([0, 1] * 6)
>>> at = sample_rows(X, y, 4)
>>> np.bincount(y[at]).tolist(), sample_rows(X[::-1], y[::-1], 4).tolist() == (11 - at[::-1]).tolist()
([2, 2], True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from deciban.data.blocks import Table
from deciban.data.sampling import stratified
from deciban.rows.digests import STEP, level_digests, row_digests, stirred
from deciban.rows.schema import Schema

SIZE = 1 << 13  # rows of a sample


def digests(X: Any, schema: Schema | None = None) -> np.ndarray:
    """Digest of each row of a block, or of columns, (n,), from its cells; levels by their names."""
    return stirred(row_digests(X, schema)) >> np.uint64(3)


def batch_digests(batch: Any, features: Sequence[str], kinds: Sequence[str]) -> np.ndarray:
    """Digest of each Arrow row, (n,); `kinds`: the types of the columns, where known."""
    from deciban.io import batches

    return digests(batches.columns(batch, features, dict(zip(features, kinds, strict=False))))


@dataclass(frozen=True, eq=False)
class RowSample:
    table: Table  # rows of positive weight
    times: np.ndarray | None  # (n,), how many rows each stands for; None: one
    complete: bool  # whether it contains all rows

    @classmethod
    def of(cls, table: Table, size: int = SIZE) -> RowSample:
        if table.w is not None and not table.w.all():
            table = table.take(np.flatnonzero(table.w > 0))
        if table.n <= size:
            return cls(table, None, True)
        at, times, complete = least(digests(table.x, table.schema), table.y, table.weights(), size)
        return cls(table.take(at), times, complete)

    def counts(self) -> np.ndarray:
        """How many rows each row stands for, (n,)."""
        return np.ones(self.table.n) if self.times is None else self.times


def least(
    digest: np.ndarray, label: np.ndarray, w: np.ndarray, size: int, times: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, bool]:
    """(index of each distinct row, its number of copies, whether these are all rows) for the rows of the `size`
    smallest digests and any that equal the largest of these. Rows are distinct by digest, label and weight.

    >>> least(np.array([5, 3, 5, 9]), np.zeros(4), np.ones(4), 2)
    (array([1, 0]), array([1, 2]), False)
    """
    times, enough = np.ones(len(digest), dtype=np.int64) if times is None else times, size
    while True:
        near = np.arange(len(digest))
        if enough < len(digest):
            near = np.flatnonzero(digest <= np.partition(digest, enough - 1)[enough - 1])
        keys = (w[near], label[near], digest[near])
        order = near[np.lexsort(keys)]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(digest[order]) != 0) | (label[order][1:] != label[order][:-1]) | (np.diff(w[order]) != 0)
        first = np.flatnonzero(new)
        if len(first) >= size or len(near) == len(digest):
            break
        enough *= 4
    at, count = order[first], np.add.reduceat(times[order], first) if len(first) else times[:0]
    whole = len(near) == len(digest)
    if len(at) > size:
        some = digest[at] <= digest[at[size - 1]]
        whole = whole and bool(some.all())
        at, count = at[some], count[some]
    return at, count, whole


@dataclass(frozen=True, eq=False)
class BatchSample:
    """A sample of batches; samples add up. It holds Arrow rows, so that levels need no codes yet."""

    table: Any  # of Arrow
    digest: np.ndarray  # (m,)
    label: np.ndarray  # (m,), digests of the classes
    weight: np.ndarray  # (m,)
    times: np.ndarray  # (m,)
    size: int
    complete: bool = True

    @classmethod
    def of(cls, batch: Any, table: Table, classes: np.ndarray, size: int) -> BatchSample:
        label = level_digests(classes.tolist())[table.y]
        return cls.from_digests(batch, digests(table.x, table.schema), label, table.weights(), size)

    @classmethod
    def from_digests(cls, batch: Any, digest: np.ndarray, label: np.ndarray, w: np.ndarray, size: int) -> BatchSample:
        """From the digests of the rows of a batch and of their classes, and their weights."""
        import pyarrow as pa

        rows = pa.Table.from_batches([batch])
        if not w.all():
            some = w > 0
            rows, digest, label, w = rows.filter(pa.array(some)), digest[some], label[some], w[some]
        return cls(rows, digest, label, w, np.ones(len(w), dtype=np.int64), size).reduced()

    def __add__(self, other: BatchSample) -> BatchSample:
        import pyarrow as pa

        tables = [table for table in (self.table, other.table) if table.num_rows] or [self.table]
        both = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        names = ("digest", "label", "weight", "times")
        values = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return BatchSample(both, **values, size=self.size, complete=self.complete and other.complete).reduced()

    def reduced(self) -> BatchSample:
        if len(self.digest) <= self.size:
            return self
        at, times, complete = least(self.digest, self.label, self.weight, self.size, self.times)
        return BatchSample(
            self.table.take(at),
            self.digest[at],
            self.label[at],
            self.weight[at],
            times,
            self.size,
            self.complete and complete,
        )

    def packed(self) -> dict[str, Any]:
        """The sample as arrays and numbers, for a file."""
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.table.schema) as writer:
            writer.write_table(self.table)
        rows = np.frombuffer(sink.getvalue(), dtype=np.uint8)
        return {**{one.name: getattr(self, one.name) for one in fields(self)}, "table": rows}

    @classmethod
    def unpacked(cls, parts: dict[str, Any]) -> BatchSample:
        import pyarrow as pa

        return cls(**{**parts, "table": pa.ipc.open_stream(pa.py_buffer(parts["table"].tobytes())).read_all()})

    def read(self, reading: Callable[[Any], Any]) -> RowSample:
        """The sample read with the classes and levels of all rows, in a fixed order; reading(f).table(rows) reads
        rows."""
        table: Table = reading(None).table(self.table)
        order = np.lexsort((table.weights(), self.digest, table.y))
        return RowSample(table.take(order), self.times[order], self.complete)


# samples and folds of X


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
