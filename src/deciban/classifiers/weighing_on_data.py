"""`weights="discriminative"` on data of any size: one pass for the counts of ten folds, then a pass for each step.

The first pass also brings a sample: all kinds of rows, where there are no more than `SAMPLE`, and then the rest is done
in memory, as in `fit`; else those of the least digests, which say where to start, and a row's fold is its digest. So
nothing depends on how the data are cut into batches.

>>> import numpy as np, pyarrow as pa
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 1000)
>>> x = rng.normal(size=2000) + 2.0 * (y == "b")
>>> rows = pa.table({"x": x, "echo": x + 0.5 * rng.normal(size=2000), "label": y})
>>> weights = GaussianNB(weights="discriminative").fit_on(rows).feature_weights_
>>> bool(weights[1] < weights[0] < 1.1)
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from deciban.classifiers.parts import Part, Reading, Tallying
from deciban.errors import DecibanError, placed
from deciban.folds import NOWHERE, Kinds, digests, number_of
from deciban.frames import Column
from deciban.schema import Schema
from deciban.table import Block, Codes, Counts, Mixed, Reals, Table
from deciban.tallies.base import SumTuple
from deciban.weighing import weights as weighing
from deciban.weighing.evidence import Dense, Silence

FOLDS = 10
SAMPLE = 1 << 13  # kinds of rows
MIX = np.uint64(0xD1B54A32D192ED03)


def order_of(x: Block, schema: Schema | None) -> np.ndarray:
    """A number for each row, by its cells alone, (n,): levels count by their names, missing cells are alike."""
    if isinstance(x, Mixed):
        assert schema is not None
        columns: list = [None] * len(schema.fields)
        for block, (family, at) in zip(x.blocks, schema.groups, strict=True):
            if family is not schema.gaps:
                for j, cells in zip(at, np.asarray(block.values).T, strict=True):
                    columns[j] = Column(schema.fields[j].name, cells, schema.fields[j].levels)  # type: ignore[arg-type]
        return _mixed(_side_by_side(columns))
    if isinstance(x, Codes):
        return _mixed(Reals(np.where(x.values < 0, np.nan, np.asarray(x.values, dtype=np.float64))))
    if isinstance(x, Counts):
        return _mixed(replace(x, values=np.where(np.isnan(x.values), np.nan, x.values)))
    return _mixed(Reals(np.where(np.isnan(x.values), np.nan, np.asarray(x.values, dtype=np.float64))))


def order_of_batch(batch: Any, reading: Reading) -> np.ndarray:
    """The same of Arrow rows."""
    from deciban.files import cells

    kinds = dict(zip(reading.features, reading.kinds, strict=False))
    return _mixed(_side_by_side(cells.columns(batch, reading.features, kinds)))


def _mixed(x: Reals | Counts) -> np.ndarray:
    return digests(x) * MIX >> np.uint64(3)


def _side_by_side(columns: Sequence[Column]) -> Reals:
    return Reals(np.column_stack([_numbers(column) for column in columns]))


def _numbers(column: Column) -> np.ndarray:
    """A column of levels as numbers that its levels' names tell, wherever they stand; missing cells are alike."""
    if column.levels is None:
        return np.where(np.isnan(column.values), np.nan, column.values)
    return np.array([*map(number_of, column.levels), np.nan])[column.values]


def fold_of(order: np.ndarray) -> np.ndarray:
    """The fold of each row where there are many, (n,)."""
    return (order % np.uint64(FOLDS)).astype(np.intp)


def least(order: np.ndarray) -> np.ndarray:
    """Where the `SAMPLE` least of them are, and any that equal the last of these."""
    if len(order) <= SAMPLE:
        return np.arange(len(order))
    return np.flatnonzero(order <= np.partition(order, SAMPLE - 1)[SAMPLE - 1])


@dataclass(frozen=True, eq=False)
class Sample:
    """Kinds of rows, each once: all that there are, or those of the least digests."""

    table: Any  # of Arrow
    order: np.ndarray  # (m,), digests
    label: np.ndarray  # (m,), digests of the classes
    times: np.ndarray  # (m,), how many rows are of the kind
    weight: np.ndarray  # (m,), and what they weigh
    complete: bool = True

    @classmethod
    def of(cls, batch: Any, reading: Reading) -> Sample:
        import pyarrow as pa

        w = reading.weights(batch)
        if w is not None and not w.all():
            batch, w = batch.filter(pa.array(w > 0)), w[w > 0]
        table = pa.Table.from_batches([batch])
        if batch.num_rows == 0:
            return cls(table, np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))
        classes, y = reading.labels(batch)
        label = np.array([number_of(one) for one in classes.tolist()])[y]
        times = np.ones(len(y), dtype=np.int64)
        w = times.astype(np.float64) if w is None else w
        return cls(table, order_of_batch(batch, reading), label, times, w).merged()

    def __add__(self, other: Sample) -> Sample:
        import pyarrow as pa

        tables = [table for table in (self.table, other.table) if table.num_rows] or [self.table]
        both = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        names = ("order", "label", "times", "weight")
        values = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return Sample(both, **values, complete=self.complete and other.complete).merged()

    def merged(self) -> Sample:
        kinds = Kinds.of(self.order, self.label, self.weight, self.times)
        few = least(self.order[kinds.at])
        at, complete = kinds.at[few], self.complete and len(few) == len(kinds.at)
        table = self.table.take(at)
        return Sample(table, self.order[at], self.label[at], kinds.times[few], kinds.weight[few], complete)

    def rows(self, model: Any, reading: Reading) -> tuple[Table, np.ndarray, np.ndarray]:
        """(the rows as a model of all rows reads them, how many each stands for, their digests), in their order."""
        x, y = model._readable(self.table, reading.features), reading.codes(self.table, model.classes_)
        at = np.lexsort((self.order, y))
        return Table(x.take(at), y[at], self.weight[at], len(model.classes_)), self.times[at], self.order[at]


@dataclass(frozen=True, eq=False)
class Folded:
    """The parts of each fold, and some rows."""

    parts: tuple[Part, ...]
    sample: Sample

    def __add__(self, other: Folded) -> Folded:
        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        return Folded(parts, self.sample + other.sample)


@dataclass(frozen=True)
class Folding:
    """batch → Folded."""

    tallying: Tallying

    @property
    def columns(self) -> tuple[str, ...]:
        return self.tallying.columns

    def __call__(self, batch: Any) -> Folded:
        import pyarrow as pa

        if batch.num_rows == 0:
            return Folded(tuple(Part.nothing() for _ in range(FOLDS)), Sample.of(batch, self.tallying.reading))
        self.tallying(batch)  # what is wrong is told with its row
        fold = fold_of(order_of_batch(batch, self.tallying.reading))
        parts = tuple(self.tallying(batch.filter(pa.array(fold == f))) for f in range(FOLDS))
        return Folded(parts, Sample.of(batch, self.tallying.reading))


@dataclass(frozen=True, eq=False)
class Judges:
    """What columns say to the rows of each fold."""

    said: dict[int, Any]  # by the other folds
    unknown: np.ndarray  # (k,), classes that too few can judge
    silence: Silence

    def each(self, fold: np.ndarray, y: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """(what is said, which rows hear it), of rows in these folds and of these classes."""
        place = np.where(self.unknown[y] | ~np.isin(fold, list(self.said)), NOWHERE, fold)
        for f in np.unique(place).tolist():
            yield self.said.get(f, self.silence), np.flatnonzero(place == f)


@dataclass(frozen=True, eq=False)
class Judging:
    """batch → what weights make of its rows, each judged by the other folds: `what` of `weighing.Objective`."""

    model: Any  # reads rows
    reading: Reading
    judges: Judges
    prior: np.ndarray
    layout: weighing.Layout
    what: str = "slope"
    at: tuple[np.ndarray, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> SumTuple:
        try:
            plain = weighing.Objective(self.pieces(batch), self.prior, self.layout, np.zeros(self.layout.size))
        except DecibanError as wrong:
            raise placed(wrong, names=self.reading.features) from None
        said = getattr(plain, self.what)(*self.at)
        return SumTuple(said if isinstance(said, tuple) else (said,))

    def pieces(self, batch: Any) -> list[weighing.Piece]:
        import pyarrow as pa

        x, y = self.model._readable(batch, self.reading.features), self.reading.codes(batch, self.model.classes_)
        w = self.reading.weights(batch)
        w = np.ones(len(y)) if w is None else w
        if not w.all():
            batch, x, y, w = batch.filter(pa.array(w > 0)), x.take(np.flatnonzero(w > 0)), y[w > 0], w[w > 0]
        if len(y) == 0:
            return [weighing.Piece(Dense(self.judges.silence, x, False), y, w)]
        fold = fold_of(order_of_batch(batch, self.reading))
        return [weighing.Piece(Dense(said, x.take(at), False), y[at], w[at]) for said, at in self.judges.each(fold, y)]


@dataclass(frozen=True, eq=False)
class Far(weighing.Objective):
    """The objective of rows that lie elsewhere: every question is one pass. The pass for the gradient brings the
    Hessian, which the next step asks for."""

    job: Any = None
    judging: Any = None
    mass: float = 0.0
    last: dict[bytes, tuple] = field(default_factory=dict, repr=False)

    @property
    def weight(self) -> float:
        return self.mass

    def _ask(self, what: str, *at: np.ndarray) -> tuple:
        return self.job.total(replace(self.judging, what=what, at=at)).parts

    def _plain(self, theta: np.ndarray) -> tuple:
        """Without pulls, which may change while the weights stay."""
        key = theta.tobytes()
        if key not in self.last:
            self.last.clear()
            self.last[key] = self._ask("curve" if self.layout.size <= weighing.DENSE else "slope", theta)
        return self.last[key]

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        return self._pulled(theta, *self._plain(theta)[:2])

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, slope, hessian = self._plain(theta)
        hessian = hessian.copy()
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._pulled(theta, loss, slope), hessian

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._ask("product", theta, v)[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nothing, diagonal = self._ask("diagonal", theta)
        return nothing, diagonal + self.ridge


def folded(job: Any, model: Any) -> tuple[Folded | None, Part]:
    """(the folds, all rows as one part), by a model without state."""
    while True:
        found: Folded | None = job.total(Folding(Tallying(model, job.reading)))
        if found is None:
            return None, Part.nothing()
        whole = reduce(add, found.parts)
        if not whole.again:
            return found, whole
        job = replace(job, reading=replace(job.reading, kinds=whole.kinds))


def aligned(parts: Sequence[Part], whole: Part) -> list[Any]:
    """The tallies of some parts, in the classes and levels of all; None for a fold without rows."""
    zero = replace(whole, rows=0 * whole.rows, tally=whole.tally * 0.0)
    return [None if part.tally is None else (zero + part).tally for part in parts]


def weigh(job: Any, judging: Judging, near: weighing.Objective, mass: float) -> weighing.Weights:
    """The weights, from where the sample's are."""
    start = weighing.minimise(near, weighing.tempered(near)).w
    far = weighing.begun(Far((), near.prior, near.layout, near.ridge, job, judging, mass))
    return weighing.found(far, weighing.minimise(far, start))
