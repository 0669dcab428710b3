"""The specification of what `cell_ops` does: NumPy, read it to know what the operations mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban import spec
from deciban.support import outside
from deciban.table import Reals
from deciban.tallies import Cells, Moments, Sums
from deciban.tallies.cells import MISSING, cell_of


@dataclass(frozen=True)
class Shared:
    """What several families want of the same cells."""

    moments: Moments
    log_moments: Moments  # of the logarithms of positive numbers
    whole: Sums  # of whole numbers ≥ 0
    cells: Cells
    wrong: dict[str, np.ndarray]  # (k, d), by support: the weight of the cells that are outside of it


@dataclass(frozen=True)
class Rows:
    """The keys of rows, by class."""

    keys: np.ndarray  # (d, n) int32
    bounds: np.ndarray  # (k, 2): where the rows of each class start and stop
    w: np.ndarray | None = None  # (n,)

    def relabel(self, index: np.ndarray, k: int) -> Rows:
        bounds = np.zeros((k, 2), dtype=np.int64)
        bounds[index] = self.bounds
        return Rows(self.keys, bounds, self.w)


def shared(x: Reals, y, w, k: int) -> Shared:
    """Each for itself; a cell that is not in a tally's support is missing there."""
    values = x.dense()
    inside = {s: np.where(outside(values, s), np.nan, values) for s in ("positive", "count")}
    logs = np.log(inside["positive"])
    wrong = {s: spec.sums(Reals(outside(values, s).astype(float)), y, w, k).total for s in inside}
    return Shared(
        spec.moments(x, y, w, k),
        spec.moments(Reals(logs), y, w, k),
        spec.sums(Reals(inside["count"]), y, w, k),
        cells(x, y, w, k),
        wrong,
    )


def cells(x: Reals, y, w, k: int) -> Cells:
    out = counted(Cells.none(k, x.d), [by_class(x, y, w, k)])
    return replace(out, n=np.bincount(y, w, minlength=k).astype(float))


def by_class(x: Reals, y, w, k: int) -> Rows:
    """The rows' keys, by class."""
    order = np.argsort(y, kind="stable")
    values = x.dense()[order].T
    keys = np.where(np.isnan(values), MISSING, cell_of(values)).astype(np.int32)
    start = np.searchsorted(y[order], np.arange(k + 1)).astype(np.int64)
    return Rows(keys, np.stack([start[:-1], start[1:]], axis=1), None if w is None else w[order])


def counted(known: Cells, rows: Sequence[Rows]) -> Cells:
    """What is known, and some rows, of each column and class."""
    lists = [_in_order(part) for part in rows]
    plain = [(keys, y) for keys, y, w in lists if w is None]  # counted together: whole numbers add up in any order
    joined = [(np.hstack([keys for keys, _ in plain]), np.concatenate([y for _, y in plain]), None)] if plain else []
    out = known
    for keys, y, w in joined + [weighed for weighed in lists if weighed[2] is not None]:
        out = out + Cells.of_keys(np.zeros(known.k), keys, y, w)
    return Cells(known.n, out.keys, out.table)


def _in_order(part: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(keys, classes, weights) of the rows of each class in turn."""
    y = np.repeat(np.arange(len(part.bounds)), np.diff(part.bounds, axis=1).ravel())
    order = np.concatenate([np.arange(a, b) for a, b in part.bounds] or [np.zeros(0, dtype=np.int64)])
    return part.keys[:, order], y, None if part.w is None else part.w[order]
