"""Training rows that can be passed over: in memory (`ArrayRows`), or elsewhere, batch by batch (`BatchRows`).

A learning algorithm asks both for the same: `discover(f)` is the first pass, which finds classes and levels beside
Σ f(rows), `total(f)` any later one, `sample` some rows by their content. So `fit` and `fit_on` are one algorithm.

What a batch contributes is a `LabelledTally`, which names the classes and levels that its rows have, so parts of any
batches add up, in one pass, whatever each of them lacks:

    part(batch a) + part(batch b) = part(a and b)

>>> import numpy as np
>>> from deciban.tallies import Bundle, ClassWeights
>>> a = LabelledTally(np.array(["rain"], dtype=object), np.array([2]), Bundle((ClassWeights(np.array([2.0])),)))
>>> b = LabelledTally(np.array(["sun"], dtype=object), np.array([1]), Bundle((ClassWeights(np.array([1.0])),)))
>>> (b + a).classes.tolist(), (b + a).rows.tolist(), (LabelledTally.nothing() + a).rows.tolist()
(['rain', 'sun'], [2, 1], [2])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import add, iadd
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deciban.data.blocks import Codes, Counts, Table, borders
from deciban.data.frames import sort_levels
from deciban.engines import stream, threads
from deciban.errors import DataError, DecibanError, relocate
from deciban.rows import inputs
from deciban.rows.labels import label_codes
from deciban.rows.levels import moved, recoded
from deciban.rows.sample import BatchSample, RowSample
from deciban.rows.schema import Schema
from deciban.tallies import Bundle

WORDS = {"number": "numbers", "level": "texts or truth values", "neither": "neither numbers nor texts"}


@dataclass(frozen=True, eq=False)
class LabelledTally:
    classes: np.ndarray  # (k,), in order
    rows: np.ndarray  # (k,), how many each has
    tally: Any = None  # None: there were no rows
    schema: Schema | None = None  # of columns that have levels
    kinds: tuple[str, ...] = ()  # what each column was taken for; "": it is missing in all rows
    again: bool = False  # nothing was added up: the rows are to be read again, with the kinds that are known now
    sample: BatchSample | None = None

    @classmethod
    def nothing(cls) -> LabelledTally:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def __add__(self, other: LabelledTally) -> LabelledTally:
        return self._plus(other, add)

    def __iadd__(self, other: LabelledTally) -> LabelledTally:
        """The same, maybe into this part's memory: for sums that nobody else holds."""
        return self._plus(other, iadd)

    def _plus(self, other: LabelledTally, plus: Callable) -> LabelledTally:
        if other.tally is None or self.tally is None:
            return self if other.tally is None else other
        if self.kinds != other.kinds or self.again or other.again:
            return self._unlike(other)
        a, b = self._together(other)
        sample = None if a.sample is None or b.sample is None else a.sample + b.sample
        return replace(a, rows=a.rows + b.rows, tally=plus(a.tally, b.tally), sample=sample)

    def _together(self, other: LabelledTally) -> tuple[LabelledTally, LabelledTally]:
        """Both in the classes and levels of both."""
        a, b = self, other
        if not np.array_equal(a.classes, b.classes):
            classes = united(a.classes, b.classes)
            a, b = a._in_classes(classes), b._in_classes(classes)
        if a.schema is not None and b.schema is not None and a.schema != b.schema:
            schema, here, there = a.schema.merged(b.schema)
            a, b = a._in_levels(schema, here), b._in_levels(schema, there)
        return a, b

    def _in_classes(self, classes: np.ndarray) -> LabelledTally:
        if np.array_equal(self.classes, classes):
            return replace(self, classes=classes)
        at, k = np.searchsorted(classes, self.classes), len(classes)
        rows = np.zeros(k, dtype=np.int64)
        rows[at] = self.rows
        return replace(self, classes=classes, rows=rows, tally=self.tally.relabel(at, k))

    def _in_levels(self, schema: Schema, places: list[np.ndarray]) -> LabelledTally:
        return replace(self, schema=schema, tally=moved(schema, self.tally, places))

    def _unlike(self, other: LabelledTally) -> LabelledTally:
        """Of a column that one part has nothing of, the other knows better; what both know must agree."""
        assert self.schema is not None
        for name, mine, theirs in zip(self.schema.names, self.kinds, other.kinds, strict=True):
            if mine and theirs and mine != theirs:
                raise DataError(
                    f"column `{name}` holds {WORDS[mine]} in some parts of the data and {WORDS[theirs]} in others\n\n"
                    "hint: write it as the same type in all of them"
                )
        kinds = tuple(a or b for a, b in zip(self.kinds, other.kinds, strict=True))
        return replace(self, kinds=kinds, again=True, tally=Bundle(()), sample=None)

    def ordered(self) -> LabelledTally:
        """Levels in an order of their own: the same for any borders between the parts."""
        if self.schema is None:
            return self
        fields = []
        for one in self.schema.fields:
            order = sort_levels(one.levels or ())
            levels = None if one.levels is None else tuple(one.levels[i] for i in order)
            fields.append(replace(one, levels=levels))
        schema = replace(self.schema, fields=tuple(fields))
        return self if schema == self.schema else self._in_levels(schema, schema.merged(self.schema)[2])


def united(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All classes of both, in order. Texts and numbers do not mix."""
    kinds = [array.dtype.kind in "OU" for array in (a, b)]
    if kinds[0] != kinds[1]:
        raise DataError(
            f"some labels are texts, others numbers, such as {a.tolist()[:2]} and {b.tolist()[:2]}\n\n"
            "hint: write the target as the same type in all parts of the data"
        )
    return np.union1d(a, b)


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a batch are what."""

    features: tuple[str, ...]
    target: str
    weight: str | None = None
    kinds: tuple[str, ...] = ()  # of the features, where known: "number", "level", or ""
    texts: bool = False  # whether the feature is read as a text, not as levels

    @property
    def coded(self) -> tuple[str, ...]:
        """Columns of texts that may come as codes."""
        known = zip(self.features, self.kinds, strict=False)
        return () if self.texts else tuple(name for name, kind in known if kind == "level")

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are to be read."""
        return tuple(dict.fromkeys((*self.features, self.target, *((self.weight,) if self.weight else ()))))

    def labels(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        """(classes of the batch, the code of each row's)."""
        from deciban.io import batches

        return label_codes(batches.labels(batch, self.target))

    def codes(self, batch: Any, classes: np.ndarray) -> np.ndarray:
        """The code of each row's class, where the classes are known from a pass before."""
        from deciban.io import batches

        _, y = label_codes(batches.labels(batch, self.target), classes)
        if len(y) and y.min() < 0:
            raise DataError(
                "a class turned up that was not there in the pass before\n\nhint: do not change the data during a fit"
            )
        return y

    def table(self, batch: Any, classes: np.ndarray | None = None) -> tuple[np.ndarray, Table]:
        """(classes, the rows), columns of numbers alone; the classes are those of the batch, or known from before."""
        from deciban.io import batches

        x = batches.numbers(batch, self.features)
        classes, y = self.labels(batch) if classes is None else (classes, self.codes(batch, classes))
        return classes, Table(x, y, self.weights(batch), len(classes))

    def weights(self, batch: Any) -> np.ndarray | None:
        from deciban.io import batches

        return batches.weights(batch, self.weight)


@dataclass(frozen=True, eq=False)
class Discover:
    """batch → LabelledTally of f(rows), where classes and levels are those of the batch."""

    f: Callable[[Table], Any]
    reader: Any
    roles: ColumnRoles
    size: int = 0  # rows that a sample has; 0: there is none

    @property
    def columns(self) -> tuple[str, ...]:
        return self.roles.columns

    @property
    def coded(self) -> tuple[str, ...]:
        return self.roles.coded

    def __call__(self, batch: Any) -> LabelledTally:
        if batch.num_rows == 0:
            return LabelledTally.nothing()
        try:
            classes, y = self.roles.labels(batch)
            reader, kinds = self.reader.of_batch(batch, self.roles)
            x = reader.learning_batch(batch, self.roles)
            table = Table(x, y, self.roles.weights(batch), len(classes), reader.schema)
            sample = BatchSample.of(batch, table, classes, self.size) if self.size else None
            return LabelledTally(
                classes, rows_of(table), self.f(table.rows(0, table.n)), reader.schema, kinds, sample=sample
            )
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None


@dataclass(frozen=True, eq=False)
class Pass:
    """batch → f(rows), where classes and levels are known."""

    f: Callable[[Table], Any]
    reader: Any
    roles: ColumnRoles
    classes: np.ndarray

    @property
    def columns(self) -> tuple[str, ...]:
        return self.roles.columns

    @property
    def coded(self) -> tuple[str, ...]:
        return self.roles.coded

    def __call__(self, batch: Any) -> Any:
        try:
            table = self.table(batch)
            return self.f(table.rows(0, table.n))
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None

    def table(self, batch: Any) -> Table:
        x, y = self.reader.read_batch(batch, self.roles.features), self.roles.codes(batch, self.classes)
        return Table(x, y, self.roles.weights(batch), len(self.classes), self.reader.schema)


def rows_of(table: Table) -> np.ndarray:
    """How many rows of a weight above 0 each class has, (k,); one of weight 3 counts like three."""
    if table.w is None:
        return np.bincount(table.y, minlength=table.k)
    real = np.bincount(table.y[table.w > 0], minlength=table.k)
    return np.maximum(real, np.bincount(table.y, table.w, minlength=table.k).astype(np.int64))


@dataclass(frozen=True)
class BatchJob:
    """A pass, or several, over data: what is to be read of them, and by which engine."""

    engine: ModuleType
    data: Any
    roles: ColumnRoles
    progress: Any = None
    checkpoint: Any = None  # `storage.checkpoint.Checkpoint`

    def total(self, f: Callable[[Any], Any]) -> Any:
        """Σ f(batch); f is picklable and keeps no state."""
        return self.engine.total(self.data, f, progress=self.progress)

    @property
    def repeats(self) -> bool:
        """Whether the rows can be gone through more than once."""
        from deciban.io import readers

        return self.engine is not stream or not readers.is_single_pass(self.data)

    def refuse_checkpoint(self) -> None:
        """Refuse a checkpoint where all passes belong together."""
        if self.checkpoint is not None:
            raise DataError(
                "`checkpoint` is for models that go through the data once, and this one takes several passes\n\n"
                "hint: leave it out; or learn a generative classifier"
            )

    @contextmanager
    def several(self) -> Iterator[BatchJob]:
        """The same for several passes, between which the engine keeps the data."""
        self.refuse_checkpoint()
        with self.engine.kept(self.data, self.roles.columns) as data:
            yield replace(self, data=data)

    def resumed(self, f: Any, settings: tuple[str, Mapping[str, Any]]) -> Any:
        """Σ f(batch) from where an earlier job of a model with these settings had come, if there is a checkpoint."""
        if self.checkpoint is None:
            return self.total(f)
        if self.engine is not stream:
            raise DataError(
                f"`checkpoint` is for files that are read here; {self.engine.__name__.rpartition('.')[2]} does lost "
                "work again by itself\n\nhint: leave out `checkpoint`"
            )
        own = self.checkpoint.for_job(*settings, self.roles, stream.opened(self.data))
        out = stream.total(self.data, f, progress=self.progress, start=own.start(), after=own.after)
        own.done()
        return out


CELLS = 1 << 22  # that a chunk of rows in memory has, at least
MANY = 1 << 18  # cells that keep more than one thread busy
SPARE = 1 / 16  # how large the tallies of all chunks may be beside the cells of sparse rows


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows in memory."""

    reader: Any
    classes: np.ndarray
    table: Table
    X: Any = None  # as the user gave them
    sample: RowSample | None = None
    in_memory: ClassVar[bool] = True
    repeats: ClassVar[bool] = True

    @property
    def weights(self) -> np.ndarray:
        """How many rows each class has, (k,); see `rows_of`."""
        return rows_of(self.table)

    def discover(self, f: Callable[[Table], Any], sample: int = 0, size: Any = None) -> tuple[ArrayRows, Any]:
        """(the rows, with a sample if one is asked for, Σ f(chunk)); size(table): numbers that f makes of a chunk."""
        large = self.table.x.cells >= 2 * CELLS  # else there is one chunk, whatever its size
        value = self.total(f, size(self.table) if large and size is not None else 0)
        return (replace(self, sample=RowSample.of(self.table, sample)) if sample else self), value

    def total(self, f: Callable[[Table], Any], size: int = 0) -> Any:
        """Σ f(chunk), in the order of the rows; `size`: numbers that f makes of a chunk."""
        table = self.table
        spans = borders(table.n, table.x.cells, max(CELLS, 2 * size))
        if len(spans) == 1:
            return self._of(f, table, spans[0])
        if isinstance(table.x, Counts) and MANY < table.x.cells < len(spans) * size / SPARE:
            # a tally for each chunk would take more memory than we have to spare: the threads share one
            return self._of(f, replace(table, x=replace(table.x, each=_at_once)), (0, table.n))
        return threads.total(spans, partial(self._of, f, table), iadd)

    def _of(self, f: Callable[[Table], Any], table: Table, span: tuple[int, int]) -> Any:
        try:
            return f(table.rows(*span))
        except DecibanError as wrong:
            names = self.reader.names
            if isinstance(table.x, Codes) and inputs.infinite(table.x):  # which no code of the chunk is
                inputs.raise_not_finite(table.x, names)
            raise relocate(wrong, span[0], () if names is None else names.tolist()) from None

    def mapped(self, f: Callable[[Table], Any], cells: int, keep: bool) -> Callable[[Callable[[Any], Any]], Any]:
        """g ↦ Σ g(f(chunk)), for many g; `keep`: f(chunk) is made once."""
        spans = borders(self.table.n, self.table.x.cells, cells)
        if keep:
            pieces = list(threads.map_ordered(spans, lambda span: f(self.table.rows(*span))))
            return lambda g: threads.total(pieces, g)
        return lambda g: threads.total(spans, lambda span: g(f(self.table.rows(*span))))

    def with_schema(self, schema: Schema | None) -> ArrayRows:
        """The same rows in the codes of a schema that lacks some levels, which no row of any weight has."""
        if schema is self.reader.schema:
            return self
        table = replace(self.table, x=recoded(self.table.x, self.reader.schema, schema), schema=schema)
        sample = self.sample
        if sample is not None:
            old = sample.table
            sample = replace(sample, table=replace(old, x=recoded(old.x, self.reader.schema, schema), schema=schema))
        return replace(self, reader=self.reader.with_schema(schema), table=table, sample=sample)

    @contextmanager
    def several(self) -> Iterator[ArrayRows]:
        """The rows for several passes."""
        yield self

    def refuse_checkpoint(self) -> None:
        """Refuse to go on from where an earlier job had come."""


def _at_once(f: Callable, parts: list) -> Iterator:
    return threads.map_ordered(parts, f)


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows in files, streams or clusters, which an engine goes through batch by batch."""

    job: BatchJob
    reader: Any
    settings: tuple[str, Mapping[str, Any]]  # name and settings of the model: a checkpoint is theirs
    classes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    sample: RowSample | None = None
    in_memory: ClassVar[bool] = False
    X: ClassVar[None] = None

    @property
    def repeats(self) -> bool:
        return self.job.repeats

    def discover(self, f: Callable[[Table], Any], sample: int = 0, size: Any = None) -> tuple[BatchRows, Any]:
        job = self.job
        while True:
            found = job.resumed(Discover(f, self.reader, job.roles, sample), self.settings)
            if found is None or found.tally is None or not found.rows.any():
                raise DataError(
                    "there are no rows to learn from\n\n"
                    "hint: see whether the data have rows, and whether some of them have a weight above 0"
                )
            if not found.again:
                break
            if not job.repeats:
                with job.engine.kept(job.data):  # tells that they come once
                    pass
            job = replace(job, roles=replace(job.roles, kinds=found.kinds))
        found = found.ordered()
        if found.kinds:
            job = replace(job, roles=replace(job.roles, kinds=found.kinds))
        rows = replace(
            self, job=job, reader=self.reader.with_schema(found.schema), classes=found.classes, weights=found.rows
        )
        if sample:
            rows = replace(rows, sample=found.sample.read(rows._pass))
        return rows, found.tally

    def _pass(self, f: Callable[[Table], Any]) -> Pass:
        return Pass(f, self.reader, self.job.roles, self.classes)

    def total(self, f: Callable[[Table], Any], size: int = 0) -> Any:
        return self.job.total(self._pass(f))

    def mapped(self, f: Callable[[Table], Any], cells: int, keep: bool) -> Callable[[Callable[[Any], Any]], Any]:
        return lambda g: self.total(Composed(g, f))

    def with_schema(self, schema: Schema | None) -> BatchRows:
        if schema is self.reader.schema:
            return self
        sample = self.sample
        if sample is not None:
            old = sample.table
            sample = replace(sample, table=replace(old, x=recoded(old.x, self.reader.schema, schema), schema=schema))
        return replace(self, reader=self.reader.with_schema(schema), sample=sample)

    @contextmanager
    def several(self) -> Iterator[BatchRows]:
        with replace(self.job, checkpoint=None).several() as job:  # a checkpoint is of the first pass
            yield replace(self, job=replace(job, checkpoint=self.job.checkpoint))

    def refuse_checkpoint(self) -> None:
        self.job.refuse_checkpoint()


Rows = ArrayRows | BatchRows


@dataclass(frozen=True)
class Composed:
    """rows → g(f(rows))"""

    g: Callable[[Any], Any]
    f: Callable[[Table], Any]

    def __call__(self, table: Table) -> Any:
        return self.g(self.f(table))
