"""A sample of training rows by content, which a model with a second stage keeps with its tally.

Every row has a *key* of 61 bits, made of its cells and its weight (`rows.digests`). A sample holds the distinct rows
(cells, class and weight) of the smallest keys, each once, with the number of its copies. All rows of a class whose key
is below the *horizon* of the class are held; a row at or above it may have been dropped. Two rules set the horizons:

- Of all classes together, the `size` + `size` / 4 rows of the smallest keys are held.
- Of each class, `LEAST` + `LEAST` / 4 rows are held, where it has as many.

Samples add up, and rows can be removed again. While no more rows were removed than were in reserve (`exact`), the rows
that `selected` returns depend only on the rows that were learned and not removed, not on their order or their batches:
they are the sample of a fit on these rows.

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
>>> def table(cells): return Table(Reals(np.array(cells)[:, None]), np.zeros(len(cells), dtype=np.int32), None, 1)
>>> a, b = (RowSample.from_rows(table(cells), 100) for cells in ([1.0, 2.0, 2.0], [3.0, 1.0]))
>>> both = a + b
>>> dict(zip(both.table.x.values[:, 0].tolist(), both.times.tolist())) == {1.0: 2, 2.0: 2, 3.0: 1}, both.complete
(True, True)
>>> both.without(RowSample.from_rows(table([1.0, 3.0]), None)).table.n, both.never_learned(table([1.0, 7.0]))
(2, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from deciban.data.blocks import Table, concatenated, plain
from deciban.ops import spec
from deciban.rows.digests import named_factors, row_digests, stirred
from deciban.rows.levels import recoded, reordered_columns
from deciban.rows.schema import Schema

SIZE = 1 << 13  # rows of a sample
LEAST = 16  # rows of each class
SPARE = 4  # one row in reserve for so many
TOP = np.uint64(1 << 61)  # the horizon where no row was dropped; larger than every key


def digests(X: Any, schema: Schema | None = None, names: Sequence[Any] | None = None) -> np.ndarray:
    """Digest of each row of a block, or of columns, (n,), from its cells; levels by their names, columns by theirs if
    they have any (`names`, or those of the schema), else by position."""
    factors = None
    if schema is not None or names is not None:
        factors = partial(_factors, tuple(schema.names if schema is not None else names))  # type: ignore[arg-type]
    out = stirred(row_digests(X, schema, factors))
    out >>= np.uint64(3)
    return out


def _factors(names: tuple, columns: Any) -> np.ndarray:
    return named_factors(names)


def keys_of(digest: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """The key of each row (n,): its digest, mixed with its weight where that is not 1."""
    if w is None:
        return digest
    weight = spec.digest_keys(w - 1.0)
    return np.where(weight == 0, digest, stirred(digest + weight) >> np.uint64(3))


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """The rows of a sample that second stages are fitted to."""

    table: Table  # distinct rows with their own weights
    times: np.ndarray  # (m,), how many copies each has
    share: np.ndarray  # (m,), factor of rows of classes that have more rows than by their share of the sample

    @cached_property
    def digest(self) -> np.ndarray:
        """Digests of the cells (m,) by the order of the columns: names make no difference to what is fitted."""
        return stirred(row_digests(self.table.x, self.table.schema)) >> np.uint64(3)

    @cached_property
    def mass(self) -> np.ndarray:
        """The weight of each row in a loss, (m,)."""
        return self.table.weights() * self.times * self.share


@dataclass(frozen=True, eq=False)
class RowSample:
    table: Table  # distinct rows of positive weight, in the order of keys, classes, weights
    digest: np.ndarray  # (m,), uint64, of their cells
    times: np.ndarray  # (m,), int64, how many copies each has
    horizon: np.uint64  # rows of keys below it are held
    class_horizon: np.ndarray  # (k,), uint64, the same for the rows of each class; at least `horizon`
    size: int | None  # None: rows are never dropped

    # construction

    @classmethod
    def from_rows(cls, table: Table, size: int | None = SIZE, names: Sequence[Any] | None = None) -> RowSample:
        """The sample of some rows, whose columns have these names if they have no schema."""
        if table.w is not None and not (table.w > 0).all():
            table = table.take(np.flatnonzero(table.w > 0))
        digest = digests(table.x, table.schema, names)
        horizon, tops = TOP, np.full(table.k, TOP)
        if size is not None and table.n > _with_reserve(size):
            key = keys_of(digest, table.w)
            horizon, distinct = _common_horizon(key, table.y, table.k, _with_reserve(size))
            if horizon < TOP:
                rare = distinct <= _with_reserve(LEAST)
                small = key < horizon
                at = np.flatnonzero(small | rare[table.y] if rare.any() else small)
                table, digest, tops = table.take(at), digest[at], np.where(rare, TOP, horizon)
        return cls._joined(table, digest, np.ones(table.n, dtype=np.int64), horizon, tops, size)

    @classmethod
    def _joined(
        cls,
        table: Table,
        digest: np.ndarray,
        times: np.ndarray,
        horizon: np.uint64,
        class_horizon: np.ndarray,
        size: int | None,
    ) -> RowSample:
        """The sample of these rows, equal ones once."""
        key, y, w = keys_of(digest, table.w), table.y, table.w
        at, new = _in_order(key, y, w)
        times = times[at]
        if not new.all():
            first = np.flatnonzero(new)
            at, times = at[first], np.add.reduceat(times, first)
        if not times.all():
            at, times = at[times != 0], times[times != 0]
        return cls(table.take(at), digest[at], times, horizon, class_horizon, size)._trimmed()

    def _trimmed(self) -> RowSample:
        """Without the rows that there is no room for."""
        if self.size is None or (self.complete and self.table.n <= _with_reserve(self.size)):
            return self
        key, y, most = self.key, self.table.y, _with_reserve(self.size)
        full = np.searchsorted(key, self.horizon) > most
        if not full and (self.class_horizon == self.horizon).all():
            return self
        horizon = key[most - 1] + np.uint64(1) if full else self.horizon
        last = np.full(self.table.k, TOP)
        after = np.flatnonzero(ranks_by_class(y) == _with_reserve(LEAST))
        last[y[after]] = key[after]
        class_horizon = np.minimum(self.class_horizon, np.maximum(last, horizon))
        kept = np.flatnonzero(key < class_horizon[y])
        out = replace(self, horizon=np.uint64(horizon), class_horizon=class_horizon)
        return out if len(kept) == len(y) else out._take(kept)

    def _take(self, at: np.ndarray) -> RowSample:
        return replace(self, table=self.table.take(at), digest=self.digest[at], times=self.times[at])

    @classmethod
    def of_copies(cls, table: Table, times: np.ndarray, names: Sequence[Any] | None = None) -> RowSample:
        """The sample of so many copies of each of the rows, which are distinct and in the order of a sample."""
        return replace(cls.from_rows(table, None, names), times=times)

    # what is held

    @cached_property
    def key(self) -> np.ndarray:
        """(m,), ascending."""
        return keys_of(self.digest, self.table.w)

    @property
    def complete(self) -> bool:
        """Whether it holds all rows."""
        return bool(self.horizon == TOP)

    @property
    def exact(self) -> bool:
        """Whether `selected` are the rows that a fit on the same rows would select."""
        if self.size is None or self.complete:
            return True
        held = np.bincount(self.table.y, minlength=self.table.k)
        enough = np.searchsorted(self.key, self.horizon) >= self.size
        return bool(enough and ((self.class_horizon == TOP) | (held >= LEAST)).all())

    def counts(self) -> np.ndarray:
        """How many rows each row stands for, (m,)."""
        return self.times

    def weights(self) -> np.ndarray:
        """The weight of each row with all its copies, (m,)."""
        return self.table.weights() * self.times

    @property
    def rows_kept(self) -> int:
        """How many training rows can be read from it."""
        return int(self.times.sum())

    def all_rows(self) -> Table:
        """The rows that are held, copies as weights."""
        if self.table.w is None and (self.times == 1).all():
            return self.table
        return replace(self.table, w=self.weights().astype(np.float64))

    def selected(self, n: np.ndarray) -> SelectedRows:
        """The rows to which second stages are fitted, where all rows of each class weigh n (k,): those of the `size`
        smallest keys, and at least `LEAST` of each class. A class that has more rows than by the common rule has its
        share of the weight."""
        share = np.ones(self.table.n)
        if self.size is None or (self.complete and self.table.n <= self.size):
            return SelectedRows(self.table, self.times, share)
        key, y = self.key, self.table.y
        held = int(np.searchsorted(key, self.horizon))
        last = key[self.size - 1] if held >= self.size else self.horizon - np.uint64(1)
        common = key <= last
        used = np.flatnonzero(common | (ranks_by_class(y) < LEAST))
        more = np.zeros(self.table.k, dtype=bool)
        more[y[used][~common[used]]] = True
        weight = np.bincount(y[used], self.weights()[used], minlength=self.table.k)
        rate = (float(last) + 1.0) / float(TOP)
        share[more[y]] = (rate * n / np.where(weight > 0, weight, 1.0))[y[more[y]]]
        first = len(used) > 0 and used[-1] == len(used) - 1
        table = self.table.rows(0, len(used)) if first else self.table.take(used)
        return SelectedRows(table, self.times[used], share[used])

    # other rows

    def __add__(self, other: RowSample) -> RowSample:
        """The sample of the rows of both, which have the same classes and levels."""
        class_horizon = np.minimum(self.class_horizon, other.class_horizon)
        a, b = self._below(class_horizon), other._below(class_horizon)
        rows = concatenated(a.table, b.table), np.concatenate([a.digest, b.digest]), np.concatenate([a.times, b.times])
        return self._joined(*rows, min(self.horizon, other.horizon), class_horizon, self.size)

    def without(self, other: RowSample) -> RowSample:
        """The sample without the rows of another one, which holds all of its rows. Rows that were never learned have
        negative `times`."""
        left = replace(self, size=None) + replace(other, times=-other.times)
        return replace(left, size=self.size)

    def _below(self, class_horizon: np.ndarray) -> RowSample:
        kept = self.key < class_horizon[self.table.y]
        return self if kept.all() else self._take(np.flatnonzero(kept))

    @property
    def short(self) -> bool:
        """Whether more rows were removed than learned."""
        return bool((self.times < 0).any())

    def never_learned(self, table: Table, names: Sequence[Any] | None = None) -> int | None:
        """The first of these rows that cannot have been learned, or not as often; None: the sample shows none."""
        key, w = keys_of(digests(table.x, table.schema, names), table.w), table.weights()
        own = zip(self.key.tolist(), self.table.y.tolist(), self.table.weights().tolist(), strict=True)
        left = dict(zip(own, self.times.tolist(), strict=True))
        for row, one in enumerate(zip(key.tolist(), table.y.tolist(), w.tolist(), strict=True)):
            if one[2] > 0 and one[0] < self.class_horizon[one[1]]:
                left[one] = left.get(one, 0) - 1
                if left[one] < 0:
                    return row
        return None

    def count_held(self, table: Table, names: Sequence[Any] | None = None) -> tuple[int, int]:
        """(how many of these rows are held, each copy once, how many would be held if they had been learned)"""
        other = RowSample.from_rows(table, None, names)._below(self.class_horizon)
        both = self.without(other)
        beyond = -int(both.times[both.times < 0].sum())
        return other.rows_kept - beyond, other.rows_kept

    def known_whole(self, n: np.ndarray) -> RowSample:
        """The sample that knows which classes it holds completely, because their rows weigh n (k,). Only whole numbers
        show it without rounding."""
        if self.complete:
            return self
        w = self.weights()
        held = np.bincount(self.table.y, w, minlength=self.table.k)
        whole = (w == np.floor(w)).all() and (n < 2.0**53).all()
        class_horizon = np.where(whole & (held == n), TOP, self.class_horizon)
        horizon = TOP if (class_horizon == TOP).all() else self.horizon
        return replace(self, horizon=horizon, class_horizon=class_horizon)

    def relabel(self, index: np.ndarray, k: int) -> RowSample:
        """The same rows in a list of k classes, where class c stands at index[c]; classes at one place are one."""
        class_horizon = np.full(k, TOP)
        np.minimum.at(class_horizon, index, self.class_horizon)
        table = replace(self.table, y=index[self.table.y].astype(np.int32), k=k)
        out = replace(self, table=table, class_horizon=class_horizon)._below(class_horizon)
        if len(np.unique(index)) == len(index):
            return out
        return self._joined(out.table, out.digest, out.times, self.horizon, class_horizon, self.size)

    def of_classes(self, at: np.ndarray) -> RowSample:
        """The same rows in a list of the classes at these places; the others have no rows."""
        places = np.zeros(self.table.k, dtype=np.int32)
        places[at] = np.arange(len(at), dtype=np.int32)
        table = replace(self.table, y=places[self.table.y], k=len(at))
        return replace(self, table=table, class_horizon=self.class_horizon[at])

    def recoded(self, old: Schema | None, new: Schema | None) -> RowSample:
        """The same rows in the levels of another schema of the same columns, which has all that they have."""
        if old is new or old is None or new is None:
            return self
        table = replace(self.table, x=recoded(self.table.x, old, new), schema=new)
        return replace(self, table=table)

    def in_column_order(self, order: Sequence[int], schema: Schema | None) -> RowSample:
        """The same rows with column order[j] at position j, of this schema."""
        x = reordered_columns(self.table.x, self.table.schema, schema, order)
        return replace(self, table=replace(self.table, x=x, schema=schema))

    def stored(self) -> RowSample:
        """The sample with arrays alone, for a file."""
        return replace(self, table=replace(self.table, x=plain(self.table.x)))

    def without_rows(self) -> None:
        """What a file holds of it that shall have no rows."""

    def smallest(self, count: int) -> RowSample:
        """The rows of the smallest keys alone."""
        held = int(np.searchsorted(self.key, self.horizon))
        own = self._take(np.arange(min(held, count)))
        return replace(own, horizon=TOP, class_horizon=np.full_like(self.class_horizon, TOP))

    def resized(self, size: int) -> RowSample:
        return self if size == self.size else replace(self, size=size)._trimmed()


def _with_reserve(size: int) -> int:
    return size + size // SPARE


def _common_horizon(key: np.ndarray, y: np.ndarray, k: int, most: int) -> tuple[np.uint64, np.ndarray]:
    """(the horizon of the `most` distinct rows, by key and class, of the smallest keys, and any that equal the largest
    of these; the number of distinct rows of each class (k,) below it). `TOP`: there are no more rows."""
    enough = most + 1
    while True:
        near = np.arange(len(key))
        if enough < len(key):
            near = np.flatnonzero(key <= np.partition(key, enough - 1)[enough - 1])
        order, new = _in_order(key[near], y[near])
        order = near[order[new]]
        if len(order) > most:
            horizon = key[order[most - 1]] + np.uint64(1)
            return horizon, np.bincount(y[order[key[order] < horizon]], minlength=k)
        if len(near) == len(key):
            return TOP, np.bincount(y[order], minlength=k)
        enough *= 4


def _in_order(key: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(the order of rows by key, class and weight, whether each of them differs from the one before it)"""
    order, new = np.argsort(key), np.ones(len(key), dtype=bool)
    ascending = key[order]
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    if not new.all():  # else there is nothing to order equal keys by, which takes several times as long
        parts = (y, key) if w is None else (w, y, key)
        order = np.lexsort(parts)
        for part in parts[:-1]:
            own = part[order]
            new[1:] |= own[1:] != own[:-1]
    return order, new


def ranks_by_class(y: np.ndarray) -> np.ndarray:
    """How many rows of its class come before each row, (n,).

    >>> ranks_by_class(np.array([0, 1, 0, 0, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    short = y.astype(np.int16) if len(y) and y.max() < 1 << 15 else y  # NumPy sorts these by their digits
    order = np.argsort(short, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(y[order]) != 0)[: len(order)])
    out = np.empty(len(y), dtype=np.intp)
    out[order] = np.arange(len(y)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return out
