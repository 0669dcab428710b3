"""Training rows as sums over them: rows in memory (`ArrayRows`), or elsewhere, batch by batch (`BatchRows`).

Both have the same methods, so that `fit` and `fit_on` are one algorithm: `discover(f)` is the first pass, which finds
the classes and levels and Σ f(rows); `total(f)` is a later pass; `sample` are some rows, chosen by content.

The result of a batch is a `LabelledTally`, which names the classes and levels of its rows. Results of batches with
different classes and levels add up, in one pass:

    part(batch a) + part(batch b) = part(a and b)

>>> import numpy as np
>>> from deciban.tallies import Bundle, ClassWeights
>>> a = LabelledTally(np.array(["rain"], dtype=object), np.array([2]), Bundle((ClassWeights(np.array([2.0])),)))
>>> b = LabelledTally(np.array(["sun"], dtype=object), np.array([1]), Bundle((ClassWeights(np.array([1.0])),)))
>>> (b + a).classes.tolist(), (b + a).rows.tolist(), (LabelledTally.nothing() + a).rows.tolist()
(['rain', 'sun'], [2, 1], [2])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from operator import add, iadd
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from deciban.data.blocks import Codes, Counts, Reals, Table, borders
from deciban.engines import stream, threads
from deciban.errors import DataError, DecibanError, NotAdditiveError, relocate
from deciban.rows import inputs
from deciban.rows.labels import label_codes, united
from deciban.rows.levels import moved, recoded
from deciban.rows.sample import RowSample
from deciban.rows.schema import Schema
from deciban.tallies import Bundle

MOST_ROWS = 2.0**40  # so that sums of them are no more than a 64-bit integer holds
WORDS = {"number": "numbers", "level": "texts or truth values", "neither": "neither numbers nor texts"}


@dataclass(frozen=True, eq=False)
class LabelledTally:
    classes: np.ndarray  # (k,), in order
    rows: np.ndarray  # (k,), number of rows of each
    tally: Any = None  # None: there were no rows
    schema: Schema | None = None  # of columns that have levels
    kinds: tuple[str, ...] = ()  # type of each column; "": it is missing in all rows
    again: bool = False  # nothing was added up: the rows must be read again, with the types that are known now
    sample: RowSample | None = None

    @classmethod
    def nothing(cls) -> LabelledTally:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def __add__(self, other: LabelledTally) -> LabelledTally:
        return self._plus(other, add)

    def __iadd__(self, other: LabelledTally) -> LabelledTally:
        """The sum, possibly in the memory of this part, which must have no other owner."""
        return self._plus(other, iadd)

    def _plus(self, other: LabelledTally, plus: Callable) -> LabelledTally:
        if other.tally is None or self.tally is None:
            return self if other.tally is None else other
        if self.kinds != other.kinds or self.again or other.again:
            return self._unlike(other)
        a, b = self._together(other)
        if isinstance(a.tally, Bundle) and a.tally.widths != b.tally.widths:  # one is from a forged checkpoint
            raise ValueError("sums of other columns")
        sample = None if a.sample is None or b.sample is None else a.sample + b.sample
        return replace(a, rows=a.rows + b.rows, tally=plus(a.tally, b.tally), sample=sample)

    def _together(self, other: LabelledTally) -> tuple[LabelledTally, LabelledTally]:
        """Both parts in the union of their classes and levels."""
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
        sample = None if self.sample is None else self.sample.relabel(at, k)
        return replace(self, classes=classes, rows=rows, tally=self.tally.relabel(at, k), sample=sample)

    def _in_levels(self, schema: Schema, places: list[np.ndarray]) -> LabelledTally:
        sample = None if self.sample is None else self.sample.recoded(self.schema, schema)
        return replace(self, schema=schema, tally=moved(schema, self.tally, places), sample=sample)

    def _unlike(self, other: LabelledTally) -> LabelledTally:
        """The sum of parts whose column types differ: a column that is empty in one part has the type of the other;
        types that contradict raise an error."""
        assert self.schema is not None
        check_same_kinds(self.schema.names, self.kinds, other.kinds)
        kinds = tuple(a or b for a, b in zip(self.kinds, other.kinds, strict=True))
        return replace(self, kinds=kinds, again=True, tally=Bundle(()), sample=None)

    def ordered(self) -> LabelledTally:
        """With sorted levels: the result does not depend on how rows are split into parts."""
        if self.schema is None:
            return self
        schema = self.schema.ordered()
        return self if schema == self.schema else self._in_levels(schema, schema.places(self.schema))


def check_same_kinds(names: Sequence[Any], a: Sequence[str], b: Sequence[str]) -> None:
    """Raise an error for columns that have different types in two parts of the data; "" may be any type."""
    for name, mine, theirs in zip(names, a, b, strict=True):
        if mine and theirs and mine != theirs:
            raise DataError(
                f"column `{name}` holds {WORDS[mine]} in some parts of the data and {WORDS[theirs]} in others\n\n"
                "hint: write it as the same type in all of them"
            )


def no_rows() -> DataError:
    """The error for data without rows."""
    return DataError(
        "there are no rows to learn from\n\n"
        "hint: check whether the data have rows, and whether some of them have a weight above 0"
    )


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of the columns of a batch: features, target, weights."""

    features: tuple[str, ...]
    target: str
    weight: str | None = None
    kinds: tuple[str, ...] = ()  # of the features, where known: "number", "level", or ""
    texts: bool = False  # whether the feature is read as a text, not as levels
    plain: bool = True  # whether all features are numbers or truth values, by their types

    @property
    def coded(self) -> tuple[str, ...]:
        """Columns of texts that may be read as dictionary codes."""
        known = zip(self.features, self.kinds, strict=False)
        return () if self.texts else tuple(name for name, kind in known if kind == "level")

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to read."""
        return tuple(dict.fromkeys((*self.features, self.target, *((self.weight,) if self.weight else ()))))

    def labels(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        """(classes of the batch, class code of each row)."""
        from deciban.io import batches

        return label_codes(batches.labels(batch, self.target))

    def codes(self, batch: Any, classes: np.ndarray) -> np.ndarray:
        """Class code of each row, for classes known from an earlier pass."""
        from deciban.io import batches

        _, y = label_codes(batches.labels(batch, self.target), classes)
        if len(y) and y.min() < 0:
            raise DataError(
                "the data have a class that an earlier pass did not find\n\nhint: do not change the data during a fit"
            )
        return y

    def table(self, batch: Any, classes: np.ndarray | None = None) -> tuple[np.ndarray, Table]:
        """(classes, rows) of columns of numbers; the classes are those of the batch, unless given."""
        from deciban.io import batches

        x = batches.numbers(batch, self.features)
        classes, y = self.labels(batch) if classes is None else (classes, self.codes(batch, classes))
        return classes, Table(x, y, self.weights(batch), len(classes))

    def weights(self, batch: Any) -> np.ndarray | None:
        from deciban.io import batches

        return batches.weights(batch, self.weight)


@dataclass(frozen=True, eq=False)
class Discover:
    """batch → LabelledTally of f(rows), with the classes and levels of the batch."""

    f: Callable[[Table], Any]
    reader: Any
    roles: ColumnRoles
    size: int = 0  # rows of the sample; 0: no sample

    def __call__(self, batch: Any) -> LabelledTally:
        if batch.num_rows == 0:
            return LabelledTally.nothing()
        try:
            classes, y = self.roles.labels(batch)
            reader, kinds = self.reader.of_batch(batch, self.roles)
            x = reader.learning_batch(batch, self.roles)
            table = Table(x, y, self.roles.weights(batch), len(classes), reader.schema)
            sample = RowSample.from_rows(table, self.size, reader.digested_names) if self.size else None
            return LabelledTally(
                classes, rows_of(table), self.f(table.rows(0, table.n)), reader.schema, kinds, sample=sample
            )
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None


@dataclass(frozen=True, eq=False)
class Pass:
    """batch → f(rows), with known classes and levels."""

    f: Callable[[Table], Any]
    reader: Any
    roles: ColumnRoles
    classes: np.ndarray

    def __call__(self, batch: Any) -> Any:
        try:
            table = self.table(batch)
            return self.f(table.rows(0, table.n))
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None

    def table(self, batch: Any) -> Table:
        x, y = self.reader.learning_batch(batch, self.roles), self.roles.codes(batch, self.classes)
        return Table(x, y, self.roles.weights(batch), len(self.classes), self.reader.schema)


def rows_of(table: Table) -> np.ndarray:
    """Number of rows of positive weight in each class, (k,); a row of weight 3 counts as three, one of more than
    `MOST_ROWS` as so many."""
    if table.w is None:
        return np.bincount(table.y, minlength=table.k)
    real = np.bincount(table.y[table.w > 0], minlength=table.k)
    whole = np.minimum(np.bincount(table.y, table.w, minlength=table.k), MOST_ROWS)
    return np.maximum(real, whole.astype(np.int64))


@dataclass(frozen=True)
class BatchJob:
    """Data to pass over, the columns to read, and the engine that reads them."""

    engine: ModuleType
    data: Any
    roles: ColumnRoles
    progress: Any = None
    checkpoint: Any = None  # `storage.checkpoint.Checkpoint`

    def total(self, f: Callable[[Any], Any], coded: bool = False) -> Any:
        """Σ f(batch) over the columns of the roles; f is picklable and keeps no state. `coded`: f takes columns of
        texts as dictionaries too."""
        return self.engine.total(self.data, f, **self._read(coded))

    def _read(self, coded: bool) -> dict[str, Any]:
        """What an engine is to read, and where progress is reported."""
        texts = self.roles.coded if coded else ()
        return {"columns": self.roles.columns, "coded": texts, "progress": self.progress}

    @property
    def repeats(self) -> bool:
        """Whether the rows can be read more than once."""
        from deciban.io import readers

        return self.engine is not stream or not readers.is_single_pass(self.data)

    def raise_if_checkpoint(self) -> None:
        """Raise an error if a checkpoint is given: several passes cannot be resumed."""
        if self.checkpoint is not None:
            raise DataError(
                "`checkpoint` is for models that read the data once, and this one takes several passes\n\n"
                "hint: leave it out; or learn a generative classifier"
            )

    @contextmanager
    def several(self) -> Iterator[BatchJob]:
        """The job for several passes, between which the engine keeps the data."""
        self.raise_if_checkpoint()
        with self.engine.kept(self.data, self.roles.columns) as data:
            yield replace(self, data=data)

    def resumed(self, f: Any, settings: tuple[str, Mapping[str, Any]]) -> Any:
        """Σ f(batch) from where an earlier job of a model with these settings had come, if there is a checkpoint; f
        takes columns of texts as dictionaries too."""
        if self.checkpoint is None:
            return self.total(f, coded=True)
        if self.engine is not stream:
            raise DataError(
                f"`checkpoint` is for files that are read here; {self.engine.__name__.rpartition('.')[2]} repeats "
                "lost work itself\n\nhint: leave out `checkpoint`"
            )
        own = self.checkpoint.for_job(*settings, self.roles, stream.opened(self.data))
        start = own.start()
        try:
            out = stream.total(self.data, f, **self._read(coded=True), start=start, after=own.after)
        except (DecibanError, OSError, MemoryError):
            raise
        except Exception as wrong:
            if start is None:
                raise
            raise own.refused("no sum over such rows") from wrong
        own.done()
        return out


CELLS = 1 << 21  # that a chunk of rows in memory has, at least
MANY = 1 << 18  # cells that keep more than one thread busy
LARGEST = 1 << 28  # cells of rows elsewhere that may be read into memory: 2 GiB
SPARE = 1 / 16  # largest size of the tallies of all chunks, relative to the cells of sparse rows


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Rows in memory."""

    reader: Any
    classes: np.ndarray
    table: Table
    X: Any = None  # as given by the user
    sample: RowSample | None = None
    in_memory: ClassVar[bool] = True
    repeats: ClassVar[bool] = True

    @property
    def weights(self) -> np.ndarray:
        """Number of rows of each class, (k,); see `rows_of`."""
        return rows_of(self.table)

    def discover(self, f: Callable[[Table], Any], sample: int = 0, size: Any = None) -> tuple[ArrayRows, Any]:
        """(the rows, with a sample if its size is given, Σ f(chunk)); size(table): size of the result of f for a
        chunk."""
        large = self.table.x.cells >= 2 * CELLS  # else there is one chunk of any size
        value = self.total(f, size(self.table) if large and size is not None else 0)
        return (self.with_sample(sample) if sample else self), value

    def with_sample(self, size: int | None) -> ArrayRows:
        """The rows with a sample of them, or all of them as one (None)."""
        return replace(self, sample=RowSample.from_rows(self.table, size, self.reader.digested_names))

    def total(self, f: Callable[[Table], Any], size: int = 0) -> Any:
        """Σ f(chunk), in the order of the rows; `size`: size of the result of f for a chunk."""
        table = self.table
        spans = borders(table.n, table.x.cells, max(CELLS, 2 * size))
        if len(spans) == 1:
            return self._of(f, table, spans[0])
        if isinstance(table.x, Counts) and MANY < table.x.cells < len(spans) * size / SPARE:
            # one tally per chunk would take too much memory: the threads share one
            return self._of(f, replace(table, x=replace(table.x, each=threads.in_threads)), (0, table.n))
        return threads.total(spans, partial(self._of, f, table), iadd)

    def _of(self, f: Callable[[Table], Any], table: Table, span: tuple[int, int]) -> Any:
        try:
            return f(table.rows(*span))
        except DecibanError as wrong:
            names = self.reader.names
            if isinstance(table.x, Codes) and inputs.infinite(table.x):  # codes of a chunk cannot be infinite: X is
                inputs.raise_not_finite(table.x, names)
            raise relocate(wrong, span[0], () if names is None else names.tolist()) from None

    def mapped(
        self, f: Callable[[Table], Any], cells: int, keep: bool = False
    ) -> Callable[[Callable[[Any], Any]], Any]:
        """g ↦ Σ g(f(chunk)), for many g; `keep`: f(chunk) is computed once."""
        spans = borders(self.table.n, self.table.x.cells, cells)
        if keep:
            pieces = list(threads.map_ordered(spans, lambda span: f(self.table.rows(*span))))
            return lambda g: threads.total(pieces, g)
        return lambda g: threads.total(spans, lambda span: g(f(self.table.rows(*span))))

    def with_schema(self, schema: Schema | None) -> ArrayRows:
        """The same rows in the codes of a schema without some levels that no row of positive weight has."""
        if schema is self.reader.schema:
            return self
        table = replace(self.table, x=recoded(self.table.x, self.reader.schema, schema), schema=schema)
        sample = None if self.sample is None else self.sample.recoded(self.reader.schema, schema)
        return replace(self, reader=self.reader.with_schema(schema), table=table, sample=sample)

    @contextmanager
    def several(self) -> Iterator[ArrayRows]:
        """The rows for several passes."""
        yield self

    def raise_if_checkpoint(self) -> None:
        """Raise an error if a checkpoint is given; rows in memory have none."""


@dataclass(frozen=True, eq=False)
class BatchRows:
    """Rows in files, streams or clusters, which an engine reads batch by batch."""

    job: BatchJob
    reader: Any
    settings: tuple[str, Mapping[str, Any]]  # name and settings of the model, stored in a checkpoint
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
                raise no_rows()
            if not found.again:
                break
            if not job.repeats:
                with job.engine.kept(job.data):  # raises an error that the rows can be read only once
                    pass
            job = replace(job, roles=replace(job.roles, kinds=found.kinds))
        found = found.ordered()
        if found.kinds:
            job = replace(job, roles=replace(job.roles, kinds=found.kinds))
        reader, own = self.reader.with_schema(found.schema), found.sample
        return replace(self, job=job, reader=reader, classes=found.classes, weights=found.rows, sample=own), found.tally

    def collected(self, setting: str) -> ArrayRows:
        """All rows in memory, for a setting that needs them at once; an error that names it where they are too many."""
        rows, found = self.discover(Collecting(setting))
        x = np.concatenate([one.x.dense() for one in found.tables])
        y = np.concatenate([one.y for one in found.tables])
        w = None if self.job.roles.weight is None else np.concatenate([one.weights() for one in found.tables])
        block = Codes(x, floor=0) if isinstance(found.tables[0].x, Codes) else Reals(x)
        return ArrayRows(rows.reader, rows.classes, Table(block, y, w, len(rows.classes)))

    def _pass(self, f: Callable[[Table], Any]) -> Pass:
        return Pass(f, self.reader, self.job.roles, self.classes)

    def total(self, f: Callable[[Table], Any], size: int = 0) -> Any:
        return self.job.total(self._pass(f), coded=True)

    def mapped(
        self, f: Callable[[Table], Any], cells: int, keep: bool = False
    ) -> Callable[[Callable[[Any], Any]], Any]:
        return lambda g: self.total(Composed(g, f))

    def with_schema(self, schema: Schema | None) -> BatchRows:
        if schema is self.reader.schema:
            return self
        sample = None if self.sample is None else self.sample.recoded(self.reader.schema, schema)
        return replace(self, reader=self.reader.with_schema(schema), sample=sample)

    def with_columns(self, index: np.ndarray) -> BatchRows:
        """The rows with these columns only, for readers of tables of numbers; without the sample."""
        roles = self.job.roles
        roles = replace(roles, features=tuple(roles.features[j] for j in index), kinds=())
        job, reader = replace(self.job, roles=roles), self.reader.of_columns(roles)
        return replace(self, job=job, reader=reader, sample=None)

    @contextmanager
    def several(self) -> Iterator[BatchRows]:
        with replace(self.job, checkpoint=None).several() as job:  # a checkpoint belongs to the first pass
            yield replace(self, job=replace(job, checkpoint=self.job.checkpoint))

    def raise_if_checkpoint(self) -> None:
        self.job.raise_if_checkpoint()


Rows = ArrayRows | BatchRows


@dataclass(frozen=True, eq=False)
class Collected:
    """Rows side by side; they add up in their order."""

    tables: tuple[Table, ...]
    setting: str

    def __add__(self, other: Collected) -> Collected:
        tables = (*self.tables, *other.tables)
        cells = sum(table.x.cells for table in tables)
        if cells > LARGEST:
            raise NotAdditiveError(
                f"{self.setting} needs all rows in memory, and these have more than {LARGEST:.1g} cells\n\n"
                "hint: leave out the setting, or learn from fewer rows"
            )
        return Collected(tables, self.setting)

    def relabel(self, index: np.ndarray, k: int) -> Collected:
        moved = (replace(table, y=index[table.y].astype(np.int32), k=k) for table in self.tables)
        return Collected(tuple(moved), self.setting)


@dataclass(frozen=True)
class Collecting:
    """rows → themselves"""

    setting: str

    def __call__(self, table: Table) -> Collected:
        return Collected((table,), self.setting)


@dataclass(frozen=True)
class Composed:
    """rows → g(f(rows))"""

    g: Callable[[Any], Any]
    f: Callable[[Table], Any]

    def __call__(self, table: Table) -> Any:
        return self.g(self.f(table))
