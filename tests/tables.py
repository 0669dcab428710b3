"""Small tables with columns of every kind, for the tests of `MixedNB`."""

from __future__ import annotations

import numpy as np
import pandas as pd

ROWS = """sunny hot high false no · sunny hot high true no · overcast hot high false yes
· rainy mild high false yes · rainy cool normal false yes · rainy cool normal true no
· overcast cool normal true yes · sunny mild high false no · sunny cool normal false yes
· rainy mild normal false yes · sunny mild normal true yes · overcast mild high true yes
· overcast hot normal false yes · rainy mild high true no"""
TENNIS = pd.DataFrame(
    [row.split() for row in ROWS.split("·")], columns=["outlook", "temperature", "humidity", "windy", "play"]
)
DEGREES = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]


def table(n: int = 90, seed: int = 0, holes: float = 0.15, k: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """(X, y): texts, bools, categories, a bell, a skewed, a count and a two-humped column, some cells missing."""
    rng = np.random.default_rng(seed)
    codes = np.r_[np.arange(4 * k) % k, rng.integers(0, k, n - 4 * k)]
    data = {
        "sky": np.array(["grey", "blue", "red"], dtype=object)[(codes + rng.integers(0, 2, n)) % 3],
        "wet": (rng.random(n) < 0.3 + 0.2 * codes).astype(object),
        "kind": np.array(["x", "y", "z", "u"], dtype=object)[rng.integers(0, 4, n)],
        "size": rng.normal(codes, 1.0),
        "price": np.exp(rng.normal(1 + 0.5 * codes, 0.7)),
        "visits": rng.poisson(2.0 + 2 * codes).astype(float),
        "hour": np.where(rng.random(n) < 0.5, rng.normal(3, 0.4, n), rng.normal(20, 0.4, n)) + codes * 0.2,
    }
    X = pd.DataFrame({name: pd.Series(values) for name, values in data.items()})
    gone = rng.random(X.shape) < holes
    gone[: 4 * k] = False  # every class has cells of every column
    X = X.mask(gone)
    X["kind"] = X["kind"].astype("category")
    return X, np.array(list("abcdefgh"))[codes]


# a family for each column, as a user may fix them
FIXED = {
    "sky": "categorical",
    "wet": "categorical",
    "kind": "categorical",
    "size": "gaussian",
    "price": "lognormal",
    "visits": "poisson",
    "hour": "student",
}
