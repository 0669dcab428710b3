"""The instruction sets that this processor can run, and rows that are hard on their kernels."""

from __future__ import annotations

import numpy as np
import pytest

from deciban import ops

from .strategies import Rows

every_build = pytest.mark.parametrize("build", ops.instruction_sets())
using = ops.instruction_set


def _rows(
    n: int = 150, d: int = 13, k: int = 3, *, scale=1.0, offset=0.0, weighed: bool = False, seed: int = 0
) -> Rows:
    rng = np.random.default_rng(seed)
    cells = offset + scale * rng.normal(size=(n, d))
    w = rng.choice([0.0, 0.5, 1.0, 2.75], size=n) if weighed else None
    return Rows(cells, rng.integers(0, k, n).astype(np.int32), w, k)


def _holes(rows: Rows, share: float = 0.2) -> Rows:
    cells = rows.cells.copy()
    cells[np.random.default_rng(9).random(cells.shape) < share] = np.nan
    return Rows(cells, rows.y, rows.w, rows.k)


def _constant() -> Rows:
    rows = _rows()
    rows.cells[:, ::2] = 7.3
    return rows


def _light_start() -> Rows:
    """The first rows of every class weigh nothing, and stand far away."""
    rows = _rows(n=300, weighed=True)
    rows.w[:150], rows.cells[:150] = 0.0, 1e9
    return rows


def _feather_start() -> Rows:
    """The first rows of a class (more than a kernel looks at to find its centre) weigh next to nothing, far away."""
    rows = _rows(n=900, d=9, offset=1e8)
    w = np.ones(900)
    w[:500], rows.cells[:500] = 1e-20, 0.0
    return Rows(rows.cells, rows.y, w, rows.k)


def _sorted() -> Rows:
    rows = _rows(n=700, d=5)
    rows.cells.sort(axis=0)
    return rows


def _one_class_empty() -> Rows:
    rows = _rows(k=4)
    return Rows(rows.cells, np.where(rows.y == 1, 2, rows.y).astype(np.int32), None, 4)


def _last_class_empty() -> Rows:
    rows = _rows(n=40, d=4, weighed=True)
    return Rows(rows.cells, rows.y, rows.w, 4)


HARD = {
    "plain": _rows(),
    "weighed": _rows(weighed=True),
    "around 1e8": _rows(n=700, d=9, offset=1e8),
    "constant columns": _constant(),
    "sorted": _sorted(),
    "missing cells": _holes(_rows()),
    "missing cells, weighed, around 1e8": _holes(_rows(n=400, offset=1e8, weighed=True)),
    "all cells missing": _holes(_rows(n=20), share=2.0),
    "huge": _rows(scale=1e150),
    "tiny": _rows(scale=1e-150),
    "rows of no weight first": _light_start(),
    "rows of next to no weight first": _feather_start(),
    "no weight at all": Rows(_rows().cells, _rows().y, np.zeros(150), 3),
    "one class empty": _one_class_empty(),
    "the last class empty, weighed": _last_class_empty(),
    "many classes": _rows(n=400, d=5, k=67),
    "many classes of many columns": _rows(n=900, d=33, k=40, weighed=True),
    "one row": _rows(n=1),
    "one column": _rows(d=1),
    "one row, one column, one class": _rows(n=1, d=1, k=1),
    "eight columns": _rows(d=8),
    "seventeen columns": _rows(d=17),
    "wide": _rows(n=40, d=300),
    "wide and tall": _rows(n=320, d=261, k=2),
    "no rows": _rows(n=0),
}
every_hard_case = pytest.mark.parametrize("rows", HARD.values(), ids=HARD.keys())
