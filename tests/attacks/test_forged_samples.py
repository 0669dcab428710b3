"""A file whose sample of rows is none that a fit could have kept is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import deciban
from deciban.errors import ModelFileError

from ..support.forgery import forge

N = 60


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.normal(size=N), "sky": rng.choice(["red", "grey"], N), "n": rng.poisson(2.0, N)})
    return X, rng.integers(0, 2, N)


def saved(path, sparse_rows: bool = False) -> None:
    X, y = table()
    if sparse_rows:
        model = deciban.MultinomialNB(calibrate=True, keep_rows=40).fit(sparse.csr_array(X[["n"]].to_numpy(float)), y)
    else:
        w = np.where(np.arange(N) % 5 == 0, 2.0, 1.0)
        model = deciban.MixedNB(calibrate=True, keep_rows=40).fit(X, y, sample_weight=w)
    deciban.save(model, path)


def put(name: str, value):
    """A change of one array of the sample, whose name ends so."""

    def change(metadata, arrays) -> None:
        own = [key for key in arrays if ".sample." in key and key.endswith(name)]
        assert len(own) == 1, (name, sorted(arrays))
        arrays[own[0]] = value(arrays[own[0]])

    return change


def at(i: int, value):
    def change(a: np.ndarray) -> np.ndarray:
        a = a.copy()
        a[i] = value
        return a

    return change


CHANGES = {
    "a digest": (".digest", at(0, np.uint64(5))),
    "fewer digests": (".digest", lambda a: a[:-1]),
    "no copies": (".times", at(3, 0)),
    "more copies than rows": (".times", at(3, 10_000)),
    "copies as doubles": (".times", lambda a: a.astype(float)),
    "another class": (".y", at(2, 9)),
    "a negative class": (".y", at(2, -1)),
    "another weight": (".w", at(4, 0.5)),
    "a weight of zero": (".w", at(4, 0.0)),
    "a weight that is none": (".w", at(4, np.nan)),
    "rows in another order": (".digest", lambda a: a[::-1]),
    "a horizon below the rows": (".class_horizon", lambda a: a // np.uint64(2)),
    "a horizon beyond all": (".class_horizon", at(0, np.uint64(1 << 63))),
    "a horizon for fewer classes": (".class_horizon", lambda a: a[:-1]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_forged_sample_is_refused(what, tmp_path):
    path = tmp_path / "m.deciban"
    saved(path)
    forge(path, put(*CHANGES[what]))
    with pytest.raises(ModelFileError, match="sample"):
        deciban.load(path)


@pytest.mark.parametrize("cells", ["codes", "numbers"])
def test_forged_cells_are_refused(cells, tmp_path):
    path = tmp_path / "m.deciban"
    saved(path)

    def change(metadata, arrays) -> None:
        kind = "i" if cells == "codes" else "f"
        names = [name for name in arrays if ".sample.table.x" in name and arrays[name].dtype.kind == kind]
        assert names
        a = arrays[names[0]].copy()
        a.reshape(-1)[0] = 99 if cells == "codes" else np.inf
        arrays[names[0]] = a

    forge(path, change)
    with pytest.raises(ModelFileError, match="sample"):
        deciban.load(path)


@pytest.mark.parametrize(
    ("part", "value"),
    [(".indices", at(0, 7)), (".indices", at(0, -1)), (".indptr", at(1, 10_000)), (".values", lambda a: a[:3])],
)
def test_forged_sparse_cells_are_refused(part, value, tmp_path):
    path = tmp_path / "m.deciban"
    saved(path, sparse_rows=True)
    deciban.load(path)
    forge(path, put(f"table.x{part}", value))
    with pytest.raises(ModelFileError):
        deciban.load(path)
