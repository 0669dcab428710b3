"""Evidence that n rows can support: what one cell says for class a against class b is at most 2 n_b + levels : 1.

Levels (and the intervals of a histogram) never seen in n_b rows of class b count as half a row there. Densities are
held to the same bound, with the distinct values of the column for levels. The law is for default settings, up to 100
rows, and cells that occur in them or lie between them.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import MixedNB

from ..support.strategies import examples

NUMBERS = {
    "normal": lambda rng, y: rng.normal(y * rng.choice([0.0, 1.0, 30.0]), 1.0),
    "no spread": lambda rng, y: y * 1000.0,
    "spread in one class only": lambda rng, y: np.where(y == 0, 5.0, rng.normal(5.0, 1e-3, len(y))),
    "tiny": lambda rng, y: 1e-200 * np.exp(rng.normal(y, 1.0)),
    "huge": lambda rng, y: 1e120 * rng.normal(y, 1.0),
    "far from zero": lambda rng, y: 1e9 + rng.normal(y * 3.0, 1.0),
    "heavy tails": lambda rng, y: rng.standard_t(1, len(y)) + y,
    "skewed": lambda rng, y: np.exp(rng.normal(y, 2.0)),
    "counts": lambda rng, y: rng.poisson(1.0 + 40 * y).astype(float),
    "0 and 1": lambda rng, y: (rng.random(len(y)) < 0.05 + 0.9 * (y == 1)).astype(float),
    "1 … 5": lambda rng, y: np.clip(rng.integers(1, 4, len(y)) + 2 * (y == 1), 1, 5).astype(float),
    "one far value": lambda rng, y: np.where(np.arange(len(y)) == 0, 1e12, rng.normal(y, 1.0)),
}
WORDS = {
    "the class": lambda rng, y: np.array(list("pqrs"), dtype=object)[y],
    "few levels": lambda rng, y: rng.choice(["u", "v", "w"], len(y)).astype(object),
    "a level each row": lambda rng, y: np.array([f"id{i}" for i in range(len(y))], dtype=object),
}


def drawn(seed: int, n: int, k: int, holes: float) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.sort(rng.choice(k, n, p=rng.dirichlet(np.ones(k))))
    columns = {name: draw(rng, y) for name, draw in (NUMBERS | WORDS).items()}
    X = pd.DataFrame(columns)
    return X.mask(rng.random(X.shape) < holes), y


def asked(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The rows themselves, and rows whose numbers lie between theirs."""
    between = X.sample(len(X), replace=True, random_state=1).reset_index(drop=True)
    for name in NUMBERS:
        if X[name].notna().any():
            between[name] = np.clip(rng.uniform(X[name].min(), X[name].max(), len(X)), X[name].min(), X[name].max())
    return pd.concat([X, between], ignore_index=True)


def most(X: pd.DataFrame, y: np.ndarray, rival: int) -> np.ndarray:
    """Decibans that each column may say against a class."""
    there = X.notna().to_numpy()
    return 10 * np.log10(2 * there[y == rival].sum(axis=0) + np.maximum(X.nunique().to_numpy(), 1))


def check(X: pd.DataFrame, y: np.ndarray) -> None:
    model = MixedNB().fit(X, y)
    why = model.explain(asked(X, np.random.default_rng(0)))
    for a, b in permutations(model.classes_.tolist(), 2):
        said = why.of(a).against(b).decibans
        assert np.isfinite(said).all()
        over = said - most(X, y, b)
        row, column = np.unravel_index(over.argmax(), over.shape)
        assert over[row, column] <= 1e-6, (X.columns[column], said[row, column], model.families_)


@pytest.mark.filterwarnings("ignore")  # constant columns, ids: named by a warning that is not the matter here
@examples(30)
@given(st.integers(0, 2**16), st.integers(2, 100), st.integers(2, 4), st.sampled_from([0.0, 0.2, 0.7]))
def test_no_cell_says_more_than_its_rows_can_support(seed, n, k, holes):
    X, y = drawn(seed, n, k, holes)
    if len(np.unique(y)) > 1:
        check(X, y)


@pytest.mark.filterwarnings("ignore")
def test_fifty_rows_of_two_classes_far_apart():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 25)
    X = pd.DataFrame({name: draw(rng, y) for name, draw in (NUMBERS | WORDS).items()})
    check(X, y)
