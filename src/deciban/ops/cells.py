"""Statistics of several families of the same cells; `ops.spec` defines the operations.

>>> import numpy as np
>>> x, y = Reals(np.array([[1.0], [2.5], [-3.0]])), np.zeros(3, dtype=np.int32)
>>> found = shared(x, y, None, 1)
>>> found.moments.mean.round(3).tolist(), found.whole.total.tolist(), found.wrong["positive"].tolist()
([[0.167]], [[1.0]], [[1.0]])
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from deciban import ops
from deciban.data.blocks import Reals
from deciban.ops import spec
from deciban.ops.spec import Rows, Shared
from deciban.tallies import GridCounts
from deciban.tallies.exact_tables import ExactTable, adds_whole, distinct, few_bits

FULL = 1 << 23  # cells that wait until they are gathered: 32 MB
FEW = 1 << 12  # rows a class, up to which sorting beats counters that lie far apart
PARTS = 16  # runs of columns that are counted at once, at most
MOST = 1 << 31  # rows that are gathered before they are written down: a counter holds no more


def shared(x: Reals, y, w, k: int, each: Callable = map) -> Shared:
    """Moments, moments of logarithms, sums of whole numbers, counts on a grid, and the weight of invalid cells. `each`
    is `map`, or does it in threads: many rows are counted by it."""
    core = ops.core()
    if core is None:
        return spec.shared(x, y, w, k)
    counts, keys, start = np.empty((2, k, x.d)), np.empty((x.d, x.n), dtype=np.int32), np.empty(k + 1, dtype=np.int64)
    infinite = core.grid_keys(x.held, y, counts, keys, start)
    outside = dict(zip(("positive", "count"), counts, strict=True))
    sorted_w = None if w is None else w[np.argsort(y, kind="stable")]
    rows = Rows(keys, np.stack([start[:-1], start[1:]], axis=1), sorted_w)
    endless = infinite and (w is None or bool(np.isinf(x.values[w > 0]).any()))
    waiting = Waiting(GridCounts.none(k, x.d), (rows,), endless, each)
    cells = GridCounts.later(ops.exact_class_weights(y, w, k), waiting)
    inside = {support: x if not own.any() else spec.inside(x, support) for support, own in outside.items()}
    wrong: Mapping[str, ExactTable] = outside
    if w is not None:
        wrong = {s: ops.sums(spec.outside_of(x, s), y, w, k).sums if own.any() else own for s, own in outside.items()}
    logs = ops.moments(spec.logs(inside["positive"]), y, w, k)
    return Shared(ops.moments(x, y, w, k), logs, ops.sums(inside["count"], y, w, k), cells, wrong)


def cells(x: Reals, y, w, k: int) -> GridCounts:
    """Counts on a grid that does not depend on the data."""
    return shared(x, y, w, k).cells


def counted(known: GridCounts, rows: Sequence[Rows]) -> GridCounts:
    """What is known, and some rows, of each column and class."""
    core = ops.core()
    if core is None or sum(some.keys.shape[1] for some in rows) < FEW * known.k:
        return spec.counted(known, rows)
    start = known if _is_whole(known) and not _weighed(rows) else GridCounts.none(known.k, known.d)
    plain = [some for some in rows if some.w is None]
    out = _cells(start, core.count(*_lines(start), *_lists(plain))) if plain else start
    for some in rows:
        for part in few_bits(some.w) if some.w is not None else ():
            nothing = GridCounts.none(known.k, known.d)
            out = out + _cells(nothing, core.count_weighed(*_lines(nothing), *_lists([replace(some, w=part)])))
    return out if start is known else known + out


def _is_whole(known: GridCounts) -> bool:
    """Whether doubles hold the counts, and their sums with numbers of rows."""
    return isinstance(known.counts, np.ndarray) and adds_whole(known.counts)


@dataclass(frozen=True)
class Waiting:
    """Buffers rows, then counts them in blocks; the counts are read on demand."""

    known: GridCounts
    rows: tuple[Rows, ...] = ()
    endless: bool = False  # whether some number is infinite
    each: Callable = map  # like `map`: does an operation's parts at once
    grids: tuple = ()  # the compiled counters of each run of columns,
    gathered: int = 0  # and how many rows they have counted

    @property
    def d(self) -> int:
        return self.known.d

    @property
    def shares(self) -> bool:
        return bool(self.grids)

    @property
    def runs(self) -> list[range]:
        """The columns in even runs, each of which is counted by itself."""
        ends = np.linspace(0, self.d, min(self.d, PARTS) + 1).astype(int).tolist()
        return [range(a, b) for a, b in pairwise(ends)]

    def plus(self, other: Waiting | GridCounts) -> Waiting:
        other = Waiting(other) if isinstance(other, GridCounts) else other
        known = other.counted() if other.shares else other.known
        rows = self.rows if other.shares else (*self.rows, *other.rows)
        out = replace(self, known=self.known + known, rows=rows, endless=self.endless or other.endless)
        return out._gathered() if sum(some.keys.size for some in rows) >= FULL else out

    def _gathered(self) -> Waiting:
        """The rows that wait go to the counters; weights, and more than counters can hold, are written down."""
        core, size = ops.core(), sum(some.keys.shape[1] for some in self.rows)
        if core is None or _weighed(self.rows) or self.gathered + size >= MOST:
            return Waiting(self.counted(), (), self.endless, self.each)
        runs = self.runs
        grids = self.grids or tuple(core.Grids(self.known.k, len(run)) for run in runs)
        adding = self.each(lambda part: part[0].add(*_lists(self.rows, part[1])), zip(grids, runs, strict=True))
        deque(adding, maxlen=0)
        return replace(self, rows=(), grids=grids, gathered=self.gathered + size)

    def relabel(self, index: np.ndarray, k: int) -> Waiting:
        count = self.shares or not distinct(index)  # rows that wait are ordered by class
        known = self.counted() if count else self.known
        rows = () if count else tuple(some.relabel(index, k) for some in self.rows)
        return Waiting(known.relabel(index, k), rows, self.endless, self.each)

    def finite(self) -> bool:
        return not self.endless and self.known.finite()

    def counted(self) -> GridCounts:
        known = self.known
        if self.grids and not _is_whole(known):
            return known + replace(self, known=GridCounts.none(known.k, known.d)).counted()
        if self.grids:
            parts = zip(self.grids, map(known.part, self.runs), strict=True)
            found = list(self.each(lambda part: _cells(part[1], part[0].read(*_lines(part[1]))), parts))
            keys = tuple(key for part in found for key in part.keys)
            known = GridCounts(known.weight, keys, np.hstack([part.table for part in found]))
        return counted(known, self.rows) if self.rows else known


def _weighed(rows: Sequence[Rows]) -> bool:
    return any(some.w is not None for some in rows)


def _lists(rows: Sequence[Rows], columns: range | None = None) -> tuple[list, list, list]:
    some_columns = slice(None) if columns is None else slice(columns.start, columns.stop)
    weights = [np.zeros(0) if some.w is None else some.w for some in rows]
    return [some.keys[some_columns] for some in rows], [some.bounds for some in rows], weights


def _lines(known: GridCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *known.keys]), known.offset, known.table


def _cells(known: GridCounts, found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> GridCounts:
    keys, offset, table = found
    return GridCounts(known.weight, tuple(keys[a:b] for a, b in pairwise(offset)), table.reshape(known.k, -1))
