"""Sparse matrices whose arrays do not fit each other, of all formats and types, to learn from and to predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import deciban

from .runner import Case, Part, check_proba

MODELS: list[Callable[[], Any]] = [
    deciban.GaussianNB,
    deciban.BernoulliNB,
    deciban.MultinomialNB,
    deciban.ComplementNB,
    deciban.PoissonNB,
    lambda: deciban.LogisticRegression(max_iter=20),
]
PLACES = [-(2**31), -7, -1, 0, 1, 4, 5, 6, 99, 2**15, 2**30, 2**31 - 1]
VALUES = [0.0, -0.0, -1.0, 1.0, 0.5, 1e-310, 1e-300, 1e16, 1e300, np.nan, np.inf, -np.inf]
FORMATS = ["csr", "csr", "csr", "csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
TYPES = [
    *("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "O"),
    *(">f8", ">i4", "f4", "f8", "f8"),
]
SHAPES = [(0, 5), (20, 0), (0, 0), (1, 5), (2**31 - 1, 5), (20, 2**31 - 1), (20, 2**40), (2**40, 2**40), (19, 5)]


@dataclass(frozen=True)
class Known:
    x: sp.csr_matrix
    y: np.ndarray
    fitted: list[Any]


def prepare(folder: Path) -> Known:
    """Rows, and models that learned from them."""
    rng = np.random.default_rng(0)
    x, y = sp.csr_matrix(rng.poisson(1.0, (20, 5)).astype(float)), np.arange(20) % 3
    return Known(x, y, [model().fit(x, y) for model in MODELS])


def run(known: Known, case: Case) -> None:
    """One matrix, for every model."""
    x = hostile(known.x, case)
    if x is None:
        return
    y = known.y[: x.shape[0]] if 0 < x.shape[0] <= 20 else known.y
    for model, fitted in zip(MODELS, known.fitted, strict=True):
        case.attempt(lambda fitted=fitted: check_proba(fitted.predict_proba(x), x.shape[0]))
        learned = case.attempt(lambda model=model: model().fit(x, y))
        if learned is not None:
            case.attempt(lambda learned=learned: check_proba(learned.predict_proba(known.x)))


def hostile(x: sp.csr_matrix, case: Case) -> Any:
    """A matrix like this one, changed; None where SciPy itself refuses to make it."""
    rng = case.rng
    shape = rng.choice(SHAPES) if rng.random() < 0.15 else x.shape
    try:
        if shape != x.shape:
            out = resized(x, shape)
        else:
            out = x.copy() if rng.random() < 0.5 else sp.csr_array(x)
            if rng.random() < 0.5:
                out.data = changed_values(out.data, case)
            if rng.random() < 0.4:
                out.data = out.data.astype(rng.choice(TYPES))
            out = out.asformat(rng.choice(FORMATS))
    except (ValueError, TypeError, OverflowError, MemoryError, RuntimeWarning, AttributeError):
        return None  # SciPy refuses it, or NumPy warns of the conversion
    for name in ("indices", "indptr", "data", "offsets", "row", "col"):
        if rng.random() < 0.25 and isinstance(getattr(out, name, None), np.ndarray):
            try:
                setattr(out, name, changed_array(getattr(out, name), name, case))
            except (ValueError, TypeError, AttributeError, OverflowError, RuntimeWarning):
                return None
    if out.format == "lil" and out.data.shape == out.rows.shape == (20,) and rng.random() < 0.5:
        out.rows, out.data = out.rows.astype(object), out.data.astype(object)
        lists = rng.choice([out.rows, out.data])
        lists[rng.randrange(20)] = rng.choice([[], [1.5] * 7, [-1], [2**31], [3, 1], list(range(5))])
    if out.format == "dok" and rng.random() < 0.5:
        out._dict[rng.choice([(99, 0), (0, 99), (-1, -1), (2**40, 2**40), (0, 0)])] = rng.choice(VALUES)
    if rng.random() < 0.2 and out.format == "csr":
        out.has_canonical_format = rng.random() < 0.5
    return out


def resized(x: sp.csr_matrix, shape: tuple[int, int]) -> sp.csr_matrix:
    """A matrix that declares another shape; its arrays fit where they can."""
    n = min(shape[0], 20)
    out = x[:n].copy()
    out._shape = shape
    if shape[1] < x.shape[1]:
        out.data, out.indices, out.indptr = out.data[:0], out.indices[:0], np.zeros(n + 1, dtype=np.int32)
    return out


def changed_values(data: np.ndarray, case: Case) -> np.ndarray:
    """Some values replaced by others."""
    out = data.copy()
    for _ in range(case.rng.choice([1, 1, 2, 9])):
        out[case.rng.randrange(len(out))] = case.rng.choice(VALUES)
    return out


def changed_array(array: np.ndarray, name: str, case: Case) -> np.ndarray:
    """An array of a matrix, with other numbers, another length, type or order."""
    rng, out = case.rng, array.copy()
    match rng.randrange(9):
        case 0 if out.size and name != "data":
            out.flat[rng.randrange(out.size)] = rng.choice(PLACES)
        case 1:
            return out[: rng.randrange(len(out) + 1)]
        case 2:
            return np.concatenate([out, out[: rng.randrange(1, 9)]])
        case 3:
            return out[::-1]
        case 4:
            return np.repeat(out, 2, axis=0)[::2]
        case 5:
            return out.astype(rng.choice(TYPES))
        case 6:
            out.flags.writeable = False
        case 7:
            return rng.choice([out.reshape(-1, 1), out[:0], np.zeros(0), np.full_like(out, 1), np.array(3)])
        case _:
            case.numbers().shuffle(out)
    return out


PART = Part("csr", 10_000, prepare, run)
