"""Comparing tallies: to rounding, or bit for bit."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from deciban.tallies import Bundle, Crosstab, DistinctRows, RowScatter, SharedTally
from deciban.tallies.basic import column

ROUNDING = 1e-12
# the power of x that a number is a sum of
POWERS = {
    "n": 0,
    "table": 0,
    "levels": 0,
    "pairs": 0,
    "rows": 0,
    "y": 0,
    "w": 0,
    "total": 1,
    "mean": 1,
    "m2": 2,
    "scatter": 2,
    "p11": 2,
    "p21": 3,
    "p22": 4,
}


def arrays(t: Any) -> dict[str, np.ndarray]:
    """The numbers of a tally by name, in shapes that do not depend on how they came about."""
    if isinstance(t, Bundle):
        return {f"{i}.{name}": a for i, part in enumerate(t.parts) for name, a in arrays(part).items()}
    if isinstance(t, SharedTally):
        return arrays(t.part)
    t = t.dense() if isinstance(t, RowScatter) else t
    out = {f.name: a for f in fields(t) if isinstance(a := getattr(t, f.name), np.ndarray)}
    d = next((a.shape[1] for name, a in out.items() if name in ("total", "mean")), 1)
    if not isinstance(t, Crosstab):
        out["n"] = np.broadcast_to(column(t.n), (t.k, d))
    return out


def size(t: Any, n: float) -> float:
    """How large the cells are that went into a tally of weight n, about."""
    cells = [np.abs(t.rows).max(initial=0.0)] if isinstance(t, RowScatter) else []
    for name, a in arrays(t).items():
        if power := POWERS.get(name, 0):
            cells.append((np.abs(a).max(initial=0.0) / (1 if name == "mean" else n)) ** (1 / power))
    return max(cells, default=1.0)


def assert_close(a: Any, b: Any, *among: Any) -> None:
    """Whether two tallies agree to rounding, given the size of the cells in them (and in `among`)."""
    if isinstance(a, Crosstab | DistinctRows):
        levels = np.maximum(a.levels, b.levels)
        a, b = a.relevel(levels), b.relevel(levels)
    n = max(float(np.abs(t.n).sum()) for t in (a, b, *among)) or 1.0
    largest = max(size(t, n) for t in (a, b, *among))
    a, b = arrays(a), arrays(b)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].shape == b[name].shape, name
        limit = ROUNDING * (largest ** POWERS[name]) * (1 if name == "mean" else n)
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=limit, err_msg=name)


def assert_same_bits(a: Any, b: Any) -> None:
    a, b = arrays(a), arrays(b)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


def assert_scores(a: np.ndarray, b: np.ndarray, within: float = 1e-9) -> None:
    """Whether two arrays of scores agree, relative to the largest score of the row."""
    assert a.shape == b.shape
    impossible = np.isneginf(a)
    np.testing.assert_array_equal(impossible, np.isneginf(b))
    a, b = np.where(impossible, 0.0, a), np.where(impossible, 0.0, b)
    largest = np.maximum(np.abs(a), np.abs(b)).max(axis=-1, initial=1.0, keepdims=True)
    np.testing.assert_allclose(a / largest, b / largest, rtol=0, atol=within)
