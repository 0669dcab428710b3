"""Model files and checkpoints that were forged, with a right checksum, or damaged: what loads must answer."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from sklearn.base import clone

import deciban
from deciban.storage import checkpoint, tensors

from ..support.models import EVERY, UNITS, rows_for
from .mutations import mutated
from .runner import Case, Part, check_proba

NUMBERS = [-(2**70), -(2**63), -1, 0, 1, 2, 3, 7, 2**31, 2**53 + 1, 2**63, 2**70, 10**400]
FLOATS = [0.0, -0.0, -0.5, 0.5, 1.0, 2.5, 1e-310, 1e-300, 1e15, 1e155, 1e300, 1e308, -1e308]
ODD = [
    *(None, True, False, "", "x", "a", "auto", "\x00\x1b[2J", "é" * 500, [], {}, [0], [[]], [None], {"float": "nan"}),
    *({"float": "inf"}, {"float": "-inf"}, {"same": 0}, {"same": -1}, {"same": 3}, {"tuple": []}, {"dict": [[], []]}),
    *({"int": "0x" + "f" * 300}, {"bytes": "00"}, {"dtype": "float32"}, {"scalar": ["int64", 3]}, {"numbers": "x"}),
    *({"of": "Calibration", "with": {}}, {"of": "Gaussian", "with": {}}, {"array": "nothing"}, {"set": [1, 2]}),
]
VALUES = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-310, 1e-9, 1e15, 1e155, 1e300, -1e300]
TYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "u1", "u8", "?"]


@dataclass(frozen=True)
class Original:
    """A model file, its parts, and rows for the model."""

    content: bytes
    metadata: dict[str, Any]
    arrays: dict[str, np.ndarray]
    x: Any
    y: np.ndarray
    proba: bool


@dataclass(frozen=True)
class Known:
    models: list[Original]
    job: Original  # a checkpoint
    data: Path


def prepare(folder: Path) -> Known:
    """Every classifier in many settings, and a checkpoint."""
    found = []
    for model in EVERY:
        for k in (3, 2) if type(model).__name__ in ("LogisticRegression", "GaussianNB", "TextClassifier") else (3,):
            x, y = rows_for(model, n=30, k=k)
            with suppress(NotImplementedError, ValueError):  # a setting that does not go with another
                content = deciban.dumps(clone(model).fit(x, y), metrics={"accuracy": 0.5}, source="rows")
                found.append(Original(content, *parts(content), x, y, type(model) not in UNITS))
    return Known(found, stopped_job(folder), folder / "rows")


def parts(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    file = tensors.BytesIO(content)
    header = tensors.Header.from_file(file)
    return header.metadata, dict(header.arrays(file))


def stopped_job(folder: Path) -> Original:
    """The checkpoint of a job that was stopped after two of three files."""
    (folder / "rows").mkdir()
    for i in range(3):
        lines = "".join(f"{j % 7},{'uvw'[j % 3]},{'ab'[j % 2]}\n" for j in range(40))
        (folder / "rows" / f"{i}.csv").write_text("x,s,y\n" + lines)

    def stop(rows: int, share: float | None) -> None:
        if rows >= 80:
            raise KeyboardInterrupt

    every, checkpoint.EVERY = checkpoint.EVERY, 0.0
    with suppress(KeyboardInterrupt):
        learn(folder / "rows", folder / "job", progress=stop)
    checkpoint.EVERY = every
    content = (folder / "job").read_bytes()
    return Original(content, *parts(content), None, np.zeros(0), True)


def learn(data: Path, at: Path, **how: Any) -> Any:
    return deciban.MixedNB().fit_on(data, target="y", checkpoint=at, **how)


def run(known: Known, case: Case) -> None:
    """One file: load it, and ask the model for everything."""
    rng = case.rng
    if rng.random() < 0.05:
        (at := case.folder / "job").write_bytes(changed(known.job, known.job, rng))
        model = case.attempt(lambda: learn(known.data, at))
        if model is not None:
            case.attempt(lambda: check_proba(model.predict_proba({"x": [1, None], "s": ["u", "?"]})))
        return
    one, other = rng.choice(known.models), rng.choice(known.models)
    content = changed(one, other, rng)
    case.attempt(lambda: deciban.model_info(content))
    model = case.attempt(lambda: deciban.loads(content))
    if model is not None:
        use(model, one, case)


def use(model: Any, one: Original, case: Case) -> None:
    """Ask a model for what its class can do."""
    x, y = one.x[:6], one.y[:6]
    case.attempt(lambda: (repr(model), str(model)))
    case.attempt(lambda: model.predict(x))
    if one.proba:
        case.attempt(lambda: check_proba(model.predict_proba(x), 6))
        case.attempt(lambda: deciban.top_evidence(model))
        case.attempt(lambda: model.explain(x[:2]).text())
    if isinstance(model, deciban.LogisticRegression | deciban.TextClassifier):
        case.attempt(lambda: str(model.summary()))
    case.attempt(lambda: deciban.dumps(model))
    later = case.attempt(lambda: copy.deepcopy(model).partial_fit(x, y), (AttributeError,))
    case.attempt(lambda: deciban.merge(model, deciban.loads(one.content)))
    forgetful = case.attempt(lambda: copy.deepcopy(model).forget(x[:2], y[:2]), (AttributeError,))
    for changed_model in (later, forgetful):
        if changed_model is not None and one.proba:
            case.attempt(lambda changed_model=changed_model: check_proba(changed_model.predict_proba(x), 6))


def changed(one: Original, other: Original, rng: Random) -> bytes:
    """A file like this one, forged or damaged."""
    if rng.random() < 0.1:
        return mutated(one.content, other.content, rng)
    metadata, arrays = dict(one.metadata), dict(one.arrays)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if arrays and rng.random() < 0.5:
            name = rng.choice(sorted(arrays))
            with np.errstate(all="ignore"):
                arrays[name] = changed_array(arrays[name], rng.choice([arrays, other.arrays]), rng)
        else:
            part = rng.choice([name for name, value in metadata.items() if isinstance(value, dict)])
            metadata[part] = changed_tree(metadata[part], other.metadata, rng)
    try:
        return b"".join(bytes(piece) for piece in tensors.serialize(metadata, arrays))
    except (ValueError, TypeError, RecursionError):  # JSON cannot hold it
        return one.content


def changed_array(array: np.ndarray, others: dict[str, np.ndarray], rng: Random) -> np.ndarray:
    """Other numbers, another shape or type, or another array."""
    value = rng.choice(VALUES if array.dtype.kind == "f" else [-1.0, 0.0, 1.0, 2.0, 99.0, 2.0**31])
    match rng.randrange(8):
        case 0 | 1 | 2 if array.size:
            out = array.copy()
            for _ in range(rng.choice([1, 1, 3])):
                at, factor = rng.randrange(out.size), rng.choice([-1, 2])
                out.flat[at] = np.asarray(rng.choice([value, float(out.flat[at]) * factor])).astype(out.dtype)
            return out
        case 3:
            return np.full(array.shape, np.asarray(value).astype(array.dtype))
        case 4:
            return rng.choice([array.T, array[::-1], array[:0], array[:-1], array.reshape(-1), array[None]])
        case 5:
            return array.astype(rng.choice(TYPES))
        case 6 if array.ndim and len(array):
            return np.concatenate([array, array[:1]])
        case _:
            return rng.choice([others[name] for name in sorted(others)] or [array])


def changed_tree(tree: dict, other: Any, rng: Random) -> dict:
    """JSON with one value changed, removed, added, or taken from elsewhere."""
    tree = json.loads(json.dumps(tree))
    places = list(_places(tree))
    if not places:
        return tree
    holder, key = rng.choice(places)
    match rng.randrange(7):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            name = rng.choice(["x", "", "predict", "__class__", "_state", "classes_", "with", *map(str, holder)])
            holder[name] = rng.choice(ODD)
        case 2 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = rng.choice(NUMBERS if isinstance(holder[key], int) else FLOATS)
        case 3:
            elsewhere, name = rng.choice(places)
            holder[key] = json.loads(json.dumps(elsewhere[name]))
        case 4:
            elsewhere, name = rng.choice(list(_places(other)))
            holder[key] = json.loads(json.dumps(elsewhere[name]))
        case 5 if rng.random() < 0.2:
            for _ in range(rng.choice([9, 400])):
                holder[key] = rng.choice([[holder[key]], {"tuple": [holder[key]]}])
        case _:
            holder[key] = rng.choice([*ODD, *NUMBERS, *FLOATS])
    return tree


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


PART = Part("models", 20_000, prepare, run)
