"""Rows on their way to a model: those without a label are left out and counted, and some are kept, drawn evenly from
all that go by, and at least a few of every class. Which ones depends on their places alone, not on which thread was
first.

>>> from deciban.files.sources import of
>>> table = pa.table({"a": list(range(100)), "y": [*["no", "yes"] * 49, None, None]})
>>> rows = Labelled(of(table), "y", 30)
>>> sum(batch.num_rows for piece in rows.source.pieces() for batch in piece()), rows.gone
(98, 2)
>>> X, y = rows.kept()
>>> X.num_rows, len(y), X.column_names
(30, 30, ['a'])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from threading import Lock
from typing import Any

import numpy as np

from deciban.files.arrow import pa
from deciban.files.reading import Piece, Source
from deciban.files.shaping import joined, split

PRUNE = 2  # times as many rows as wanted may be held before some are let go
LEAST = 10  # rows of each class that are kept beside those with the lowest draws


class Labelled:
    """A source without the rows that have no label; `kept` gives up to `most` of its rows once it was gone through."""

    def __init__(self, source: Source, target: str, most: int):
        self.target, self.most = target, most
        self.rows, self.gone = 0, 0
        self._held: list[tuple[np.ndarray, pa.Table]] = []
        self._below = 1.0  # draws that may be among the lowest
        self._class_below: dict[Any, float] = {}  # and among the lowest of their class
        self._new_class = 1.0  # and of a class that was not met yet
        self._lock = Lock()
        self.first, inner = _peeked(source)
        self.source = replace(source, batches=lambda: self._all(inner), cut=partial(self._cut, inner))

    def _all(self, inner: Source) -> Iterator[pa.RecordBatch]:
        for piece in self._cut(inner, None, ()):
            yield from piece()

    def _cut(self, inner: Source, columns: Sequence[str] | None, coded: Sequence[str]) -> Iterator[Piece]:
        for number, piece in enumerate(inner.pieces(columns, coded)):
            yield partial(self._passing, number, piece)

    def _passing(self, number: int, piece: Piece) -> Iterator[pa.RecordBatch]:
        for place, batch in enumerate(piece()):
            column = batch.column(batch.schema.get_field_index(self.target))
            some = batch.filter(column.is_valid()) if column.null_count else batch
            self._hold(some, np.random.default_rng((number, place)).random(some.num_rows), column.null_count)
            yield some

    def _hold(self, batch: pa.RecordBatch, draw: np.ndarray, gone: int) -> None:
        """Keep the rows with the lowest draws, of all and of each class."""
        classes, code = self._classes(batch.column(batch.schema.get_field_index(self.target)))
        limits = np.array([max(self._below, self._class_below.get(label, self._new_class)) for label in classes])
        low = np.flatnonzero(draw < limits[code]) if len(classes) else np.zeros(0, dtype=np.int64)
        some = pa.Table.from_batches([_plain(batch.take(pa.array(low)))])
        with self._lock:
            self.rows += batch.num_rows
            self.gone += gone
            self._held.append((draw[low], some))
            most = self.most + LEAST * len(self._class_below)
            if sum(len(draws) for draws, _ in self._held) > PRUNE * most:
                self._held = [self._lowest()]

    def _lowest(self) -> tuple[np.ndarray, pa.Table]:
        """Those held, in the order of their draws; what they leave for others to come is noted."""
        draws = np.concatenate([draws for draws, _ in self._held])
        whole = pa.concat_tables([rows for _, rows in self._held], promote_options="permissive")
        classes, code = self._classes(whole[self.target])
        order = np.argsort(draws, kind="stable")
        by_class = order[np.argsort(code[order], kind="stable")]
        many = np.bincount(code, minlength=len(classes))
        least = LEAST if LEAST * len(classes) <= self.most else 0  # labels that name rows are no classes
        self._new_class = 1.0 if least else 0.0
        rank = np.arange(len(order)) - np.repeat(np.cumsum(many) - many, many)
        self._class_below = {
            label: float(draws[by_class[end - n + least - 1]])
            for label, n, end in zip(classes, many, np.cumsum(many), strict=True)
            if 0 < least <= n
        }
        if len(order) > self.most:
            self._below = float(draws[order[self.most - 1]])
        keep = np.zeros(len(order), dtype=bool)
        keep[order[: self.most]] = keep[by_class[rank < least]] = True
        order = order[keep[order]]
        return draws[order], whole.take(pa.array(order))

    def _classes(self, column: pa.Array | pa.ChunkedArray) -> tuple[list, np.ndarray]:
        """The labels that a column has, and the place of each row's among them."""
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        return coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)

    def kept(self) -> tuple[pa.Table, np.ndarray]:
        """(rows, labels)."""
        X, y, _ = split(self._lowest()[1], self.target) if self._held else (None, None, 0)
        return joined([(X, y)] if X is not None else [])


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Codes as what they stand for: batches have dictionaries of their own."""
    coded = [pa.types.is_dictionary(column.type) for column in batch.columns]
    if not any(coded):
        return batch
    columns = [c.dictionary_decode() if d else c for c, d in zip(batch.columns, coded, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _peeked(source: Source) -> tuple[pa.RecordBatch | None, Source]:
    """(the first batch, the source from its beginning)."""
    if source.cut is not None:
        return next((batch for piece in source.pieces() for batch in piece()), None), source
    batches = source.batches()
    first = next(batches, None)
    return first, replace(source, batches=lambda: chain([] if first is None else [first], batches))
