"""Comparing tallies, scores and models: to rounding, or bit for bit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from deciban.tallies import Bundle, Crosstab, DistinctRows, RowScatter, SharedTally
from deciban.tallies.basic import column
from deciban.tallies.exact import ExactSums
from deciban.tallies.exact_tables import ClassSums, equal

ROUNDING = 1e-12
AGREEMENT = 1e-9  # of two libraries
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
    views = {"Moments": ("mean", "m2"), "Sums": ("total",), "Crosstab": ("table", "levels")}
    views |= {"Pairs": ("table", "levels", "pairs"), "GridCounts": ("table",), "CentredScatter": ("mean", "scatter")}
    views |= {"ExactScatter": ("mean", "scatter")}
    names = views.get(type(t).__name__, [f.name for f in fields(t) if f.name != "weight"])
    out = {name: a for name in ("n", *names) if isinstance(a := getattr(t, name), np.ndarray)}
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


def assert_equal_tallies(got, want, within: float = 1e-9) -> None:
    """Number by number, relative to the largest of its kind in the class."""
    got, want = arrays(got), arrays(want)
    assert got.keys() == want.keys()
    for name in want:
        assert got[name].shape == want[name].shape
        axes = tuple(range(1, want[name].ndim))
        largest = np.abs(want[name]).max(axis=axes, keepdims=True, initial=0.0)
        close = np.abs(got[name] - want[name]) <= within * largest
        assert close.all(), f"{name}: {got[name][~close][:5]} where the specification has {want[name][~close][:5]}"


def assert_scores(a: np.ndarray, b: np.ndarray, within: float = 1e-9) -> None:
    """Whether two arrays of scores agree, relative to the largest score of the row."""
    assert a.shape == b.shape
    impossible = np.isneginf(a)
    np.testing.assert_array_equal(impossible, np.isneginf(b))
    a, b = np.where(impossible, 0.0, a), np.where(impossible, 0.0, b)
    largest = np.maximum(np.abs(a), np.abs(b)).max(axis=-1, initial=1.0, keepdims=True)
    np.testing.assert_allclose(a / largest, b / largest, rtol=0, atol=within)


def assert_logs(got: np.ndarray, want: np.ndarray, within: float = 1e-8) -> None:
    """Whether two arrays of log probabilities agree, each number relative to its own size."""
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(want))
    got, want = (np.where(np.isneginf(a), 0.0, a) for a in (got, want))
    size = np.maximum(1.0, np.abs(want))
    np.testing.assert_allclose(got / size, want / size, rtol=0, atol=within)


def assert_same_model(a, b, x, within: float = 1e-9) -> None:
    """Whether two models say the same of rows x: classes, joints, evidence, posteriors."""
    assert a.classes_.tolist() == b.classes_.tolist()
    joints = [model.predict_joint_log_proba(x) for model in (a, b)]
    np.testing.assert_array_equal(*map(np.isneginf, joints))
    joints = [np.where(np.isneginf(joint), 0.0, joint) for joint in joints]
    size = np.maximum(1.0, np.abs(joints[0]).max(axis=1, keepdims=True))
    np.testing.assert_allclose(joints[0] / size, joints[1] / size, rtol=0, atol=within)
    np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), rtol=0, atol=100 * within * size.max())


def same(a: Any, b: Any) -> bool:
    """Whether two values are of one type and have the same bits. Exact tables are of one type in all their forms."""
    if any(isinstance(one, ExactSums | ClassSums) for one in (a, b)):
        return equal(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        plain = a.dtype == b.dtype and a.shape == b.shape
        if plain and a.dtype.kind == "O":
            return same(a.tolist(), b.tolist())
        return plain and (np.array_equal(a, b) if a.dtype.kind == "U" else a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    if hasattr(a, "__dict__") and not isinstance(a, type):
        return same(vars(a), vars(b)) if not hasattr(a, "__getstate__") else same(a.__getstate__(), b.__getstate__())
    return bool(a == b)


# two libraries


def close(ours, theirs, rtol: float = AGREEMENT, what: str = "") -> None:
    """Each number to `rtol`, where one under a thousandth of the largest is measured by that thousandth."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            close(a, b, rtol, what)
        return
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-3 * rtol * largest, err_msg=what)


def close_up_to_sign(ours, theirs, rtol: float = AGREEMENT, what: str = "") -> None:
    """Columns (axes) to `rtol` of the largest entry, each of either sign."""
    if isinstance(theirs, list):
        for a, b in zip(ours, theirs, strict=True):
            close_up_to_sign(a, b, rtol, what)
        return
    turn = np.where((ours * theirs).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(ours * turn, theirs, atol=rtol * np.abs(theirs).max(), rtol=0, err_msg=what)


def same_parameters(ours, theirs, names: list[str], rtol: float = AGREEMENT) -> None:
    for name in names:
        close(getattr(ours, name), getattr(theirs, name), rtol, name)


def same_posteriors(ours, theirs, x, rtol: float = AGREEMENT, theirs_x=None, skip: str = "") -> None:
    """Every answer about rows. Logs of probabilities under 1e-6 are left out: theirs may be log(1 − p)."""
    x_theirs = x if theirs_x is None else theirs_x
    proba, log_proba = theirs.predict_proba(x_theirs), theirs.predict_log_proba(x_theirs)
    close(ours.predict_proba(x), proba, rtol, "predict_proba")
    sure, mine = proba > 1e-6, ours.predict_log_proba(x)
    np.testing.assert_allclose(mine[sure], log_proba[sure], rtol=rtol, atol=rtol, err_msg="predict_log_proba")
    assert (mine[~sure] < np.log(2e-6)).all()
    for method in ("predict_joint_log_proba", "decision_function"):
        if method != skip and hasattr(theirs, method):
            close(getattr(ours, method)(x), getattr(theirs, method)(x_theirs), rtol, method)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x_theirs))
