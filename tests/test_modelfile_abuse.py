"""Files that were damaged or forged. DECIBAN_ABUSE asks for more than a few."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import deciban
from deciban.errors import ModelFileError
from deciban.storage import tensors

TIMES = int(os.environ.get("DECIBAN_ABUSE", "300"))


def models() -> list[tuple[Any, Any, Any]]:
    """(fitted model, rows, labels) of very different insides."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    frame = pd.DataFrame({"a": x[:, 0], "b": np.where(x[:, 1] > 0, "u", "v"), "c": rng.poisson(2, 40)})
    counts = rng.poisson(2, (40, 3))
    return [
        (deciban.GaussianNB(calibrate=True).fit(x, y), x, y),
        (deciban.MixedNB(missing="informative").fit(frame, y), frame, y),
        (deciban.MultinomialNB(alpha=[1.0, 2.0, 0.5]).fit(counts, y), counts, y),
        (deciban.CategoricalNB().fit(counts, y), counts, y),
        (deciban.LinearDiscriminantAnalysis().fit(x, y), x, y),
        (deciban.QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(x, y), x, y),
        (
            deciban.RegularizedDiscriminantAnalysis().fit(rng.normal(size=(6, 9)), [0, 1, 2] * 2),
            np.zeros((4, 9)),
            y[:4],
        ),
        (deciban.LogisticRegression().partial_fit(x, y, classes=[0, 1, 2]), x, y),
        (deciban.LogisticRegression().fit(x, y), x, y),
    ]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One of: bits flipped, bytes overwritten, cut off, cut out, doubled, moved, lengthened."""
    data, at = bytearray(content), rng.randrange(len(content))
    near = rng.choice([at, rng.randrange(min(400, len(data)))])  # the header's start matters most
    some = rng.randrange(1, 64)
    kind = rng.randrange(8)
    if kind == 0:
        data[near] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[near : near + some] = rng.randbytes(len(data[near : near + some]))
    elif kind == 2:
        del data[at:]
    elif kind == 3:
        del data[near : near + some]
    elif kind == 4:
        data[near:near] = data[at : at + some]
    elif kind == 5:
        data[near : near + some] = bytes(len(data[near : near + some]))
    elif kind == 6:
        data += rng.randbytes(some)
    else:
        data[:8] = rng.choice([rng.randrange(1 << 64), rng.randrange(1 << 32), rng.randrange(4096)]).to_bytes(
            8, "little"
        )
    return bytes(data)


def test_no_damage_goes_unnoticed(tmp_path):
    rng, path = random.Random(0), tmp_path / "model.deciban"
    contents = []
    for model, _, _ in models():
        deciban.save(model, path)
        contents.append(path.read_bytes())
    tried = 0
    while tried < TIMES:
        content = rng.choice(contents)
        wrong = damaged(content, rng)
        if wrong == content:
            continue
        tried += 1
        path.write_bytes(wrong)
        with pytest.raises(ModelFileError, match="hint"):
            deciban.load(path)


def test_every_cut_is_noticed(tmp_path):
    path = tmp_path / "model.deciban"
    deciban.save(models()[0][0], path)
    content = path.read_bytes()
    for end in range(0, len(content), max(1, 30_000 // TIMES)):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            deciban.load(path)


ODD = [None, True, -1, 0, 3, 1 << 70, 1e308, -0.5, "", "x", [], {}, [0], {"float": "nan"}, {"same": 0}, {"same": -1}]
ARRAYS = [
    np.zeros(0),
    np.zeros((3, 99)),
    np.full(3, np.nan),
    np.arange(5) * 10**12,
    np.zeros((0, 3)),
    np.ones((1, 1, 1)),
]


def forged(metadata: dict, arrays: dict, rng: random.Random) -> tuple[dict, dict]:
    """A file whose checksum is right and whose content is not: one place of the tree, or one array, is another."""
    metadata, arrays = dict(metadata), dict(arrays)
    if rng.random() < 0.4 and arrays:
        name = rng.choice(sorted(arrays))
        other = rng.choice([*ARRAYS, *arrays.values()])
        kind = rng.choice([np.float64, np.float32, np.int64, np.int32, np.uint8, bool])
        with np.errstate(all="ignore"):
            arrays[name] = rng.choice(
                [other, other.astype(kind), arrays[name].T, arrays[name].astype(kind), arrays[name][::-1]]
            )
        return metadata, arrays
    part = rng.choice([part for part in ("settings", "learned", "fitted", "about") if metadata[part] is not None])
    tree = json.loads(json.dumps(metadata[part]))
    places = list(_places(tree))
    if places:
        holder, key = rng.choice(places)
        if rng.random() < 0.2 and isinstance(holder, dict):
            del holder[key]
        else:
            other = rng.choice(places)
            holder[key] = json.loads(json.dumps(rng.choice([other[0][other[1]], rng.choice(ODD)])))
    metadata[part] = tree
    return metadata, arrays


def _places(tree: Any):
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        yield tree, key
        if isinstance(value, dict | list):
            yield from _places(value)


@pytest.mark.filterwarnings("ignore")
def test_forged_files_are_refused_or_harmless(tmp_path):
    rng, path = random.Random(1), tmp_path / "model.deciban"
    known = []
    for model, x, y in models():
        deciban.save(model, path)
        with open(path, "rb") as file:
            header = tensors.Header.from_file(file)
            known.append((header.metadata, dict(header.arrays(file)), x, y))
    refused = 0
    for _ in range(TIMES):
        metadata, arrays, x, y = rng.choice(known)
        _write(path, *forged(metadata, arrays, rng))
        try:
            model = deciban.load(path)
        except ModelFileError as error:
            assert "hint" in str(error)
            refused += 1
            continue
        for question in ("predict_proba", "partial_fit", "forget"):  # any answer or error, but the process lives
            try:
                getattr(model, question)(*((x,) if question == "predict_proba" else (x, y)))
            except Exception as error:
                assert not isinstance(error, MemoryError | SystemError)
    assert refused > TIMES / 2


def _write(path, metadata, arrays) -> None:
    with open(path, "wb") as file:  # no fsync: thousands of these
        file.writelines(tensors.serialize(metadata, arrays))
