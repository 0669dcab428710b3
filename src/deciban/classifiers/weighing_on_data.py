"""`weights="discriminative"` on data of any size: one pass for the counts of ten folds, then a pass for each step.

A row's fold is a digest of its cells, so that it does not hang on how the data are cut into batches, and rows that are
alike share one. A sample of the rows, which the first pass brings along, says where to start.

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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any
from zlib import crc32

import numpy as np

from deciban.classifiers.parts import Part, Reading, Tallying
from deciban.errors import DecibanError, placed
from deciban.folds import digests
from deciban.frames import Column
from deciban.losses.objectives import Sums
from deciban.table import Reals
from deciban.weighing import weights as weighing
from deciban.weighing.evidence import Dense, Silence

FOLDS = 10
SAMPLE = 1 << 13  # rows
MIX = np.uint64(0xD1B54A32D192ED03)


def order_of(batch: Any, reading: Reading) -> np.ndarray:
    """A number for each row, by its cells alone, (n,)."""
    from deciban.files import cells

    kinds = dict(zip(reading.features, reading.kinds, strict=False))
    columns = cells.columns(batch, reading.features, kinds)
    return digests(Reals(np.column_stack([_numbers(column) for column in columns]))) * MIX >> np.uint64(3)


def _numbers(column: Column) -> np.ndarray:
    """A column of levels as numbers that hang on the levels' names, not on the batch; missing cells are alike."""
    if column.levels is None:
        return np.where(np.isnan(column.values), np.nan, column.values)
    return np.array([*(float(crc32(str(level).encode())) for level in column.levels), np.nan])[column.values]


@dataclass(frozen=True, eq=False)
class Folded:
    """The parts of each fold, and some rows."""

    parts: tuple[Part, ...]
    sample: Any  # an Arrow table
    order: np.ndarray  # (rows of the sample,)

    def __add__(self, other: Folded) -> Folded:
        import pyarrow as pa

        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        tables = [table for table in (self.sample, other.sample) if table.num_rows] or [self.sample]
        sample = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        return Folded(parts, sample, np.concatenate([self.order, other.order])).thinned()

    def thinned(self) -> Folded:
        if len(self.order) <= SAMPLE:
            return self
        at = np.argsort(self.order, kind="stable")[:SAMPLE]
        return replace(self, sample=self.sample.take(at), order=self.order[at])


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
            return Folded(tuple(Part.nothing() for _ in range(FOLDS)), pa.Table.from_batches([batch]), np.zeros(0))
        self.tallying(batch)  # what is wrong is told with its row
        order = order_of(batch, self.tallying.reading)
        fold = order % np.uint64(FOLDS)
        parts = tuple(self.tallying(batch.filter(pa.array(fold == f))) for f in range(FOLDS))
        return Folded(parts, pa.Table.from_batches([batch]), order).thinned()


@dataclass(frozen=True, eq=False)
class Judging:
    """batch → what weights make of its rows, each judged by the other folds: `what` of `weighing.Objective`."""

    model: Any  # reads rows
    reading: Reading
    said: tuple[Any, ...]  # of each fold, by the others
    silent: np.ndarray  # (k,), classes that too few can judge
    prior: np.ndarray
    layout: weighing.Layout
    what: str = "slope"
    at: tuple[np.ndarray, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> Sums:
        try:
            plain = weighing.Objective(self.pieces(batch), self.prior, self.layout, np.zeros(self.layout.size))
        except DecibanError as wrong:
            raise placed(wrong, names=self.reading.features) from None
        said = getattr(plain, self.what)(*self.at)
        return Sums(said if isinstance(said, tuple) else (said,))

    def pieces(self, batch: Any) -> list[weighing.Piece]:
        x, y = self.model._readable(batch, self.reading.features), self.reading.codes(batch, self.model.classes_)
        w = self.reading.weights(batch)
        w = np.ones(len(y)) if w is None else w
        fold = (order_of(batch, self.reading) % np.uint64(FOLDS)).astype(np.intp)
        fold[self.silent[y]] = FOLDS
        out = []
        for f, said in enumerate((*self.said, Silence(len(self.prior)))):
            at = np.flatnonzero((fold == f) & (w > 0))
            if len(at) or f == 0:
                out.append(weighing.Piece(Dense(said, x.take(at), False), y[at], w[at]))
        return out


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


def weigh(job: Any, judging: Judging, sample: Any, mass: float) -> weighing.Weights:
    """The weights, from where the sample's are."""
    near = weighing.problem(judging.pieces(sample), judging.prior, judging.layout.d)
    start = weighing.minimise(near, weighing.tempered(near)).w
    far = Far((), near.prior, near.layout, near.ridge, job, judging, mass)
    answer = weighing.minimise(far, start)
    table, bias = far.layout.spread_out(answer.w)
    return weighing.Weights(1.0 + table, bias, answer.kept.pulls, answer.steps, answer.why)
