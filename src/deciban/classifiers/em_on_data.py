"""EM on data of any size: each step is a pass, in which every batch fills in its own rows with missing cells.

>>> import pyarrow as pa
>>> from deciban import LinearDiscriminantAnalysis
>>> a, b = [0.0, 1.0, 2.0, 5.0, 6.0, 7.5], [1.0, 0.0, None, 1.0, None, 3.0]
>>> rows = pa.table({"a": a, "b": b, "label": list("xxxyyy")})
>>> LinearDiscriminantAnalysis().fit_on(rows).n_iter_ > 1
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from deciban import ops
from deciban.classifiers import em
from deciban.classifiers.parts import Part, Reading
from deciban.errors import DataError, placed
from deciban.gaussian.expectation import Expected, Gaussians, batches, expected
from deciban.tallies import Bundle, Moments, Scatter
from deciban.tallies.base import column


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of rows whose classes are known."""

    reading: Reading
    classes: np.ndarray

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns


class Seeing(Asked):
    """batch → the moments of the cells that are there, each cell with its own n."""

    def __call__(self, batch: Any) -> Moments:
        _, t = self.reading.table(batch, self.classes)
        with np.errstate(all="ignore"):
            found = ops.moments(t.x, t.y, t.w, t.k)  # type: ignore[arg-type]
        return replace(found, n=np.array(np.broadcast_to(column(found.n), found.mean.shape)))


@dataclass(frozen=True, eq=False)
class Filling(Asked):
    """batch → what its rows with holes are expected to add."""

    g: Gaussians
    pooled: bool

    def __call__(self, batch: Any) -> Expected:
        _, t = self.reading.table(batch, self.classes)
        holes = batches(t.x, t.y, t.w, t.k)  # type: ignore[arg-type]
        if not holes:
            k, d = t.k, len(self.reading.features)
            return Expected(
                Scatter(np.zeros(k), np.zeros((k, d)), np.zeros((1 if self.pooled else k, d, d)), self.pooled), 0.0
            )
        return reduce(add, (expected(some, self.g, self.pooled) for some in holes))


def filled(job: Any, family: Any, part: Part) -> tuple[Part, int]:
    """(the part with what rows with missing cells are expected to add, the steps)."""
    whole = part.tally.parts[1].dense()
    n = part.tally.parts[0].n
    with replace(job, checkpoint=None).several() as job:  # a checkpoint is of the pass before
        try:
            seen = em.checked(job.total(Seeing(job.reading, part.classes)))
        except DataError as wrong:
            raise placed(wrong, names=job.reading.features) from None
        fill = lambda g: job.total(Filling(job.reading, part.classes, g, whole.pooled))  # noqa: E731
        learned = em.settle(family, whole, seen, n, fill, None)
    return replace(part, tally=Bundle((part.tally.parts[0], learned.tally))), learned.steps
