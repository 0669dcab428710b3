"""Raw training rows, before a model reads them, and which of them are held out.

Each member of an ensemble reads rows in its own way, so an ensemble learns from rows as they were given: `RawArrays`
in memory, `RawBatches` in files, streams or clusters. Both have the same methods: `sample` (some rows, chosen by
content), `without` (the rows without some of them), `total` (Σ f(chunk)).

`RawSample.hold_out` deals the rows of a sample to groups. Both steps depend on the content of the rows only, not on
their order or their batches. A copy of a row is another row: of t copies, c may be held out. The training weight of
each copy is then multiplied by (t − c) / t, which sums to the weight of the other copies in every batch layout.

>>> rows = RawArrays(np.array([[1.0], [1.0], [2.0], [5.0], [6.0], [7.0]]), np.array(list("aaabbb")))
>>> held = rows.sample().hold_out(3)
>>> held.description, np.bincount(held.group).tolist(), held.sample.times.tolist()
('3 folds', [2, 2, 2], [2, 1, 1, 1, 1])
>>> rows.without(held.left_out(2)).labels.tolist()  # one row of each class is held out
['a', 'a', 'b', 'b']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from deciban import ops
from deciban.data import frames
from deciban.data.blocks import to_csr
from deciban.errors import DecibanError, relocate
from deciban.rows import inputs
from deciban.rows.digests import STEP, level_digests, stirred
from deciban.rows.inputs import rows_at
from deciban.rows.labels import united
from deciban.rows.readers import ArrayReader
from deciban.rows.rows import BatchJob, BatchRows, ColumnRoles, check_same_kinds, no_rows
from deciban.rows.sample import SIZE, digests
from deciban.rows.sampling import count_copies


@dataclass(frozen=True, eq=False)
class RawArrays:
    """Rows in memory, as they were passed to `fit`."""

    X: Any
    y: Any  # labels
    w: Any = None  # weights
    target: str | None = None  # name of the labels
    share: np.ndarray | None = None  # (n,), the share of its weight that a row keeps; None: all of it
    in_memory: ClassVar[bool] = True

    @contextmanager
    def several(self) -> Iterator[RawArrays]:
        """The rows for several passes."""
        yield self

    def in_memory_if_few(self) -> RawArrays:
        """The rows in memory, if they are no more than a sample."""
        return self

    @property
    def complete_numbers(self) -> bool:
        """Whether every column holds numbers, and no cell is missing.

        >>> [RawArrays(X, None).complete_numbers for X in ([[1.0, 2], [3, 4]], [[1.0, None]], np.array([["a"]]))]
        [True, False, False]
        """
        if sparse.issparse(self.X):
            return True
        X = frames.records(self.X)
        cells = X if frames.is_frame(X) else np.asarray(X)
        if not frames.is_frame(X) and (cells.ndim != 2 or cells.dtype.kind not in "fiubO"):
            return False
        try:
            return hold_complete_numbers(frames.columns(cells))
        except DecibanError:
            return False  # the error is raised by the models

    def arrays(self) -> tuple[Any, Any, np.ndarray | None]:
        """X, labels and weights; None: every row has weight 1."""
        if self.share is None:
            return self.X, self.y, self.w
        return self.X, self.y, self.share if self.w is None else self.w * self.share

    def whole_rows(self) -> tuple[Any, Any, np.ndarray | None]:
        """The same for models without weights: of copies of which some are held out, the others. Rows of weight 0 are
        left out."""
        keep = None if self.w is None else np.asarray(self.w) > 0
        if self.share is not None:
            rank, times = count_copies(self.key)
            rest = rank < np.rint(times * self.share)
            keep = rest if keep is None else keep & rest
        if keep is None or keep.all():
            return self.X, self.y, self.w
        at = np.flatnonzero(keep)
        w = None if self.w is None else np.asarray(self.w, dtype=np.float64)[at]
        return rows_at(indexable(self.X), at), self.labels[at], w

    @cached_property
    def labels(self) -> np.ndarray:
        return column_or_1d(self.y)

    @cached_property
    def digest(self) -> np.ndarray:
        """A number for the cells of each row, (n,)."""
        X = indexable(self.X)
        if isinstance(X, np.ndarray) and X.ndim > 2:
            X = X.reshape(len(X), -1)
        try:
            return digests(X)
        except DecibanError:  # cells of other types count by their texts
            rows = nw.from_native(X, eager_only=True).rows() if frames.is_frame(X) else np.asarray(X).tolist()
            return digests(np.array([[str(cell) for cell in row] for row in rows], dtype=object))

    @cached_property
    def codes(self) -> tuple[np.ndarray, np.ndarray]:
        """(classes, class code of each row)"""
        return inputs.labels(self.labels, None)

    @property
    def classes(self) -> np.ndarray:
        return self.codes[0]

    @cached_property
    def weights(self) -> np.ndarray:
        return np.ones(len(self.labels)) if self.w is None else np.asarray(self.w, dtype=np.float64)

    @cached_property
    def label_digest(self) -> np.ndarray:
        classes, codes = self.codes
        return level_digests(classes.tolist())[codes]

    @cached_property
    def key(self) -> np.ndarray:
        """A number for the cells, the class and the weight of each row, (n,)."""
        return row_keys(self.digest, self.label_digest, self.weights)

    def class_weights(self, classes: np.ndarray) -> np.ndarray:
        """The weight of the rows of each class, (k,)."""
        _, codes = inputs.labels(self.labels, classes)
        return np.asarray(ops.class_weights(codes, inputs.weights(self.w, codes), len(classes)))

    def sample(self) -> RawSample:
        """The rows of the smallest digests, in memory."""
        some = np.flatnonzero(self.weights > 0)
        at, times, _ = least(self.digest[some], self.label_digest[some], self.weights[some], SIZE)
        at = some[at]
        order = np.lexsort((self.weights[at], self.digest[at], self.codes[1][at]))
        at, times = at[order], times[order]
        w = None if self.w is None else self.weights[at]
        return RawSample(rows_at(indexable(self.X), at), self.labels[at], w, self.key[at], times, len(some))

    def without(self, left_out: LeftOut) -> RawArrays:
        share = left_out.shares(self.key)
        at = np.flatnonzero(share > 0)
        w = None if self.w is None else self.weights[at]
        rest = share[at] if left_out.partial else None
        return RawArrays(rows_at(indexable(self.X), at), self.labels[at], w, self.target, rest)

    def total(self, f: Callable[[Chunk], Any]) -> Any:
        """Σ f(chunk)"""
        return f(Chunk(self.X, self.labels, self.weights))


@dataclass(frozen=True, eq=False)
class RawBatches:
    """Rows in files, streams or clusters, which an engine reads batch by batch."""

    job: BatchJob
    texts: bool = False  # whether the models read texts
    in_memory: ClassVar[bool] = False

    @property
    def target(self) -> str:
        return self.job.roles.target

    @contextmanager
    def several(self) -> Iterator[RawBatches]:
        with self.job.several() as job:
            yield replace(self, job=job)

    @cached_property
    def survey(self) -> Survey:
        """One pass: a sample, the number of rows, and whether all cells are numbers."""
        found = self.job.total(SurveyBatch(self.job.roles))
        if found is None or found.n == 0:
            raise no_rows()
        return found

    def of_columns(self, features: Sequence[str], texts: bool = False) -> RawBatches:
        """The same rows with fewer columns, or with one column of texts."""
        roles = self.job.roles
        known = dict(zip(roles.features, roles.kinds, strict=False))
        kinds = tuple(known.get(name, "") for name in features)
        return RawBatches(
            replace(self.job, roles=replace(roles, features=tuple(features), kinds=kinds, texts=texts)), texts
        )

    @property
    def classes(self) -> np.ndarray:
        assert self.survey.classes is not None
        return self.survey.classes

    def in_memory_if_few(self) -> RawArrays | RawBatches:
        found = self.survey
        if found.n > SIZE or found.n != len(found.sample.digest):  # rows of weight 0 are not in a sample
            return self
        X, y, w = self._read(found.sample.table)
        return RawArrays(X, y, w, self.target)

    @property
    def complete_numbers(self) -> bool:
        return not self.texts and self.survey.complete_numbers

    def sample(self) -> RawSample:
        found = self.survey.sample
        at, times, _ = least(found.digest, found.label, found.weight, SIZE, found.times)
        X, y, w = self._read(found.table.take(at))
        digest, label, weight = found.digest[at], found.label[at], found.weight[at]
        order = np.lexsort((weight, digest, np.unique(y, return_inverse=True)[1]))
        key = row_keys(digest, label, weight)
        w = None if w is None else w[order]
        return RawSample(rows_at(X, order), y[order], w, key[order], times[order], self.survey.positive)

    def without(self, left_out: LeftOut) -> RawBatches:
        job = self.job
        roles = replace(job.roles, weight=unused_name(job.roles.columns)) if left_out.partial else job.roles
        own = job.engine, job.data, roles, job.progress, job.checkpoint
        return replace(self, job=ReducedJob(*own, left_out, job.roles))

    def total(self, f: Callable[[Chunk], Any]) -> Any:
        return self.job.total(OfChunk(f, self.job.roles))

    def collected(self, what: str) -> RawArrays:
        """All rows in memory, columns of numbers; an error that says what needs them where they are too many."""
        reader = ArrayReader("LogisticRegression").of_columns(self.job.roles)
        rows = BatchRows(self.job, reader, (what, {})).collected(what)
        return RawArrays(rows.table.x.dense(), rows.classes[rows.table.y], rows.table.w, self.target)  # type: ignore[union-attr]

    def _read(self, table: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """(X, labels, weights) of Arrow rows."""
        from deciban.io import batches

        roles = self.job.roles
        X = batches.selected(table, roles.features)
        if self.texts:
            X = batches.strings(table, roles.features[0]).to_pylist()
        classes, codes = roles.labels(table)
        return X, classes[codes], roles.weights(table)


RawRows = RawArrays | RawBatches


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some of the rows."""

    rows: Any  # X, or an Arrow batch
    y: np.ndarray  # labels
    w: np.ndarray
    features: Sequence[str] | None = None  # the columns of a batch; None: X

    def read_by(self, model: Any) -> Any:
        """The rows in the format of a classifier of this library."""
        return self.rows if self.features is None else model._readable(self.rows, self.features)


@dataclass(frozen=True, eq=False)
class OfChunk:
    """batch → f(chunk)"""

    f: Callable[[Chunk], Any]
    roles: ColumnRoles

    def __call__(self, batch: Any) -> Any:
        classes, codes = self.roles.labels(batch)
        w = self.roles.weights(batch)
        try:
            return self.f(
                Chunk(batch, classes[codes], np.ones(batch.num_rows) if w is None else w, self.roles.features)
            )
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None


# samples, and rows held out


@dataclass(frozen=True, eq=False)
class RawSample:
    """Rows in memory, chosen by content and ordered by class and digest; copies are stored once."""

    X: Any
    y: np.ndarray  # (m,), labels
    w: np.ndarray | None  # (m,), weight of one copy
    key: np.ndarray  # (m,)
    times: np.ndarray  # (m,), copies in the data
    rows: int  # rows of positive weight in the data

    def hold_out(self, folds: int) -> HeldOut:
        """Deal up to `SIZE` rows of the sample to groups, in turn, class by class.

        If these are all rows, the groups are folds. The more rows are not in the sample, the fewer groups are needed to
        train on a share of 1 − 1 / folds of all rows; from folds · `SIZE` rows on there is one group.
        """
        row = self.evenly_spaced(SIZE)
        m = len(row)
        groups = min(max(1, -(-folds * m // self.rows)), folds, m)
        pairs, copies = np.unique(row * groups + np.arange(m) % groups, return_counts=True)
        return HeldOut(self, pairs // groups, pairs % groups, copies, groups, m == self.rows)

    def evenly_spaced(self, size: int) -> np.ndarray:
        """Up to `size` rows, as indices in the sample: copies are rows of their own, and evenly spaced copies stand for
        all of them. Classes keep their shares."""
        there = int(self.times.sum())
        m = min(there, size)
        place = (2 * np.arange(m) + 1) * there // (2 * m)
        return np.searchsorted(np.cumsum(self.times), place, side="right")

    def subset(self, size: int) -> RawArrays:
        """Up to `size` of the rows, in memory."""
        at = self.evenly_spaced(size)
        return RawArrays(rows_at(self.X, at), self.y[at], None if self.w is None else self.w[at])


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that are held out, by groups; copies of a row may be in several groups."""

    sample: RawSample
    row: np.ndarray  # (p,), which row of the sample
    group: np.ndarray  # (p,)
    copies: np.ndarray  # (p,), how many copies are in the group
    groups: int
    complete: bool  # whether these are all rows

    @property
    def weights(self) -> np.ndarray:
        """(p,)"""
        return self.copies * (1.0 if self.sample.w is None else self.sample.w[self.row])

    def codes(self, classes: np.ndarray) -> np.ndarray:
        """The class code of each row, (p,)."""
        return np.searchsorted(classes, self.sample.y)[self.row]

    @property
    def description(self) -> str:
        if self.complete:
            return f"{self.groups} folds"
        return f"{self.copies.sum()} rows" + (f" in {self.groups} groups" if self.groups > 1 else "")

    def left_out(self, group: int) -> LeftOut:
        """The rows of a group, to leave out in training."""
        at = np.flatnonzero(self.group == group)
        row = self.row[at]
        key = self.sample.key[row]
        order = np.argsort(key)
        return LeftOut(key[order], (1.0 - self.copies[at] / self.sample.times[row])[order])


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Keys of rows, and which share of the copies of each stays."""

    key: np.ndarray  # (m,), sorted
    share: np.ndarray  # (m,)

    @property
    def partial(self) -> bool:
        """Whether some copies of a row are left out, and others not."""
        return bool(self.share.any())

    def shares(self, key: np.ndarray) -> np.ndarray:
        """The share of the weight that each row keeps, (n,), by keys."""
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[at] == key, self.share[at], 1.0)


def row_keys(digest: np.ndarray, label: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A number for each row, (n,), from the digests of its cells and of its class, and its weight."""
    weight = np.ascontiguousarray(w, dtype=np.float64).view(np.uint64)
    return stirred(stirred(digest * STEP + label) + weight)


# batches


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


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass finds about rows elsewhere; surveys of batches add up."""

    n: int  # number of rows
    positive: int = 0  # of positive weight
    complete_numbers: bool = True
    names: tuple[str, ...] = ()  # of the columns
    kinds: tuple[str, ...] = ()  # types of the columns; "": not known
    classes: np.ndarray | None = None
    sample: Any = None  # `BatchSample`

    def __add__(self, other: Survey) -> Survey:
        if not self.n or not other.n:
            return self if self.n else other
        check_same_kinds(self.names, self.kinds, other.kinds)
        return Survey(
            self.n + other.n,
            self.positive + other.positive,
            self.complete_numbers and other.complete_numbers,
            self.names,
            tuple(a or b for a, b in zip(self.kinds, other.kinds, strict=True)),
            united(self.classes, other.classes),  # type: ignore[arg-type]
            self.sample + other.sample,
        )


@dataclass(frozen=True, eq=False)
class SurveyBatch:
    """batch → Survey"""

    roles: ColumnRoles

    def __call__(self, batch: Any) -> Survey:
        from deciban.io import batches

        if batch.num_rows == 0:
            return Survey(0)
        roles = self.roles
        known = dict(zip(roles.features, roles.kinds, strict=False))
        try:
            columns = batches.columns(batch, roles.features, known)
            kinds = (batches.column_kind_or(batches.column_of(batch, name), known.get(name)) for name in roles.features)
            classes, codes = roles.labels(batch)
            w = roles.weights(batch)
        except DecibanError as wrong:
            raise relocate(wrong, names=roles.features) from None
        w = np.ones(batch.num_rows) if w is None else w
        label = level_digests(classes.tolist())[codes]
        sample = BatchSample.from_digests(batch, digests(columns), label, w, SIZE)
        positive, numbers = int(np.count_nonzero(w)), hold_complete_numbers(columns)
        return Survey(batch.num_rows, positive, numbers, roles.features, tuple(kinds), classes, sample)


@dataclass(frozen=True)
class ReducedJob(BatchJob):
    """A job over rows of which some are left out, for any columns that a pass reads."""

    left_out: LeftOut | None = None
    given: ColumnRoles | None = None  # the roles by which rows are recognised

    def total(self, f: Callable[[Any], Any], coded: bool = False) -> Any:
        assert self.left_out is not None
        assert self.given is not None
        return super().total(ReduceBatch(f, self.left_out, self.given, self.roles.weight), coded)

    def _read(self, coded: bool) -> dict[str, Any]:
        assert self.given is not None
        more = [name for name in self.roles.columns if name not in self.given.columns and name != self.roles.weight]
        return {**super()._read(coded), "columns": (*self.given.columns, *more)}


@dataclass(frozen=True, eq=False)
class ReduceBatch:
    """batch → f(the rows that are not left out)"""

    f: Callable[[Any], Any]
    left_out: LeftOut
    given: ColumnRoles
    weight: str | None  # the column of the weights that f reads

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        from deciban.io import batches

        if batch.num_rows == 0:
            return self.f(batch)
        known = dict(zip(self.given.features, self.given.kinds, strict=False))
        classes, codes = self.given.labels(batch)
        w = self.given.weights(batch)
        w = np.ones(batch.num_rows) if w is None else w
        digest = digests(batches.columns(batch, self.given.features, known))
        share = self.left_out.shares(row_keys(digest, level_digests(classes.tolist())[codes], w))
        if self.left_out.partial:
            batch = batch.append_column(self.weight, pa.array(w * share))
        return self.f(batch.filter(pa.array(share > 0)))


def unused_name(names: Sequence[str]) -> str:
    """A name for one more column.

    >>> unused_name(["weight", "a"])
    'weight_'
    """
    name = "weight"
    while name in names:
        name += "_"
    return name


def hold_complete_numbers(columns: Sequence[frames.Column]) -> bool:
    """Whether every column holds numbers, and no cell is missing or infinite."""
    return all(column.levels is None and bool(np.isfinite(column.values).all()) for column in columns)


def indexable(X: Any) -> Any:
    """X in a form of which rows can be taken."""
    X = frames.records(X)
    if isinstance(X, frames.Records):
        return X
    if not (isinstance(X, list) or hasattr(X, "shape")):
        X = np.asarray(X)
    return to_csr(X) if sparse.issparse(X) else X
