"""Tables and frames for tests: shared files, tables of scikit-learn, and small ones with columns of every kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data"

BUNDLED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "cancer": datasets.load_breast_cancer,
}
SETS = [*BUNDLED, "random"]


@cache
def reals(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of real columns."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 300)
    mix = rng.normal(size=(7, 7))
    return (rng.normal(size=(300, 7)) + rng.normal(size=(4, 7))[y]) @ mix, y


@cache
def counts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) of counts, half of them 0, whose columns differ by class."""
    x, y = reals(name)
    shifted = (x - np.median(x, axis=0)) / (x.std(axis=0) + 1.0)
    return np.floor(np.clip(shifted * 4.0, 0.0, 30.0)), y


def weights(n: int) -> np.ndarray:
    return np.random.default_rng(11).uniform(0.1, 3.0, n)


def shared_path(name: str) -> Path:
    """The path of a shared data file or folder; the test is skipped where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"shared data set {name} is not beside this checkout")
    return path


def shared_table(name: str) -> pd.DataFrame:
    return pd.read_csv(shared_path(name))


def heart() -> tuple[np.ndarray, np.ndarray]:
    """The South African heart disease data of "The Elements of Statistical Learning"."""
    frame = shared_table("saheart/saheart.csv")
    X = frame.drop(columns="chd").assign(famhist=(frame["famhist"] == "Present").astype(float))
    return X.to_numpy(dtype=np.float64), frame["chd"].to_numpy()


def iris(as_frame: bool = True) -> tuple[Any, np.ndarray]:
    """(X, y) with the names of the species."""
    data = datasets.load_iris(as_frame=as_frame)
    return data.data, data.target_names[data.target]


WEATHER = """sunny hot high false no · sunny hot high true no · overcast hot high false yes
· rainy mild high false yes · rainy cool normal false yes · rainy cool normal true no
· overcast cool normal true yes · sunny mild high false no · sunny cool normal false yes
· rainy mild normal false yes · sunny mild normal true yes · overcast mild high true yes
· overcast hot normal false yes · rainy mild high true no"""
TENNIS = pd.DataFrame(
    [row.split() for row in WEATHER.split("·")], columns=["outlook", "temperature", "humidity", "windy", "play"]
)
PLAY = TENNIS["play"].to_numpy(str)
TENNIS_CODES = TENNIS.drop(columns="play").apply(lambda column: np.unique(column, return_inverse=True)[1]).to_numpy()
DEGREES = [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71]


def weather() -> tuple[pd.DataFrame, np.ndarray]:
    """Play tennis with a column of numbers."""
    frame = TENNIS.drop(columns="play").assign(degrees=np.linspace(60, 90, 14) + 3 * (PLAY == "yes"))
    return frame, PLAY


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


# texts

TOPICS = {"drink": "tea coffee milk cup pour sip", "food": "cake bread rice plate bake eat", "thing": "chair lamp desk"}
COMMON_WORDS = ["the", "a", "of", "and", "with", "some", "more", "again", "today", "never"]
SPAM = ["prize money winner", "cheap pills online", "claim your free prize now", "free money online now"]
HAM = ["lunch at noon", "the report is attached", "see you at the meeting", "thanks for lunch yesterday"]


# rows for the laws over pairs of settings

N = 72
BATCHES = (0, 13, 52, N)  # borders of three uneven batches: the first one lacks a class
HALF = 40  # rows of the first of two halves
WEIGHT = "w"  # the column of the weights, where rows come as a table


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to learn from, and rows to ask about, some of which have missing or unseen cells where the model takes
    them."""

    X: Any  # a frame, or an array of texts
    y: np.ndarray
    asked: Any
    w: np.ndarray

    def take(self, at: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        X = self.X.iloc[at] if isinstance(self.X, pd.DataFrame) else self.X[at]
        return X, self.y[at], self.w[at]

    def frame(self, weighted: bool) -> pd.DataFrame:
        """Features, labels and, if asked for, weights in one frame."""
        X = self.X if isinstance(self.X, pd.DataFrame) else pd.DataFrame({"text": self.X})
        return X.assign(label=self.y, **({WEIGHT: self.w} if weighted else {}))


def _labels() -> np.ndarray:
    """Three classes of 30, 24 and 18 rows; no row of the third is in the first batch."""
    rng = np.random.default_rng(3)
    rest = rng.permutation(np.repeat(["a", "b", "c"], [23, 18, 18]))
    return np.concatenate([rng.permutation(np.repeat(["a", "b"], [7, 6])), rest])


Y = _labels()
CODE = np.searchsorted(["a", "b", "c"], Y)
W = np.random.default_rng(4).integers(0, 4, N).astype(float)


def _numbers() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(N, 3)) * [1.0, 1.5, 0.7] + np.array([[0, 1, 0], [1, 0, 0.5], [2, 1, -0.5]])[CODE]
    x[:, 2] += 0.4 * x[:, 0]
    return pd.DataFrame(x, columns=["u", "v", "z"])


def _counts() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    rates = np.array([[3.0, 1.0, 0.5, 2.0], [1.0, 3.0, 0.5, 2.0], [1.5, 1.0, 2.0, 1.0]])
    return pd.DataFrame(rng.poisson(rates[CODE]), columns=["p", "q", "r", "s"])


def _presences() -> pd.DataFrame:
    return (_counts() > 1).astype(int)


def _codes() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    x = np.column_stack([(rng.integers(0, 3, N) + CODE * rng.integers(0, 2, N)) % 4 for _ in range(3)])
    x[1:5, 0], x[1:5, 1], x[1:5, 2] = range(4), range(4), range(4)  # every level is in every batch but one
    return pd.DataFrame(x, columns=["f", "g", "h"])


def _mixed() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    numbers = _numbers()
    return pd.DataFrame(
        {
            "u": numbers["u"],
            "v": np.where(rng.random(N) < 0.2, np.nan, numbers["v"]),
            "s": np.where(rng.random(N) < 0.4, Y, rng.choice(["p", "q", None], N)),
            "t": rng.poisson(1 + CODE),
        }
    )


def _texts() -> np.ndarray:
    rng = np.random.default_rng(9)
    common, own = ["the", "of", "and", "then"], {"a": ["ant", "bee"], "b": ["cat", "dog"], "c": ["elm", "fir"]}
    every = [word for words in own.values() for word in words]
    out = []
    for label in Y:
        words = [*rng.choice(common, 2), *rng.choice(own[label], rng.integers(1, 3)), *rng.choice(every, 2)]
        out.append(" ".join(map(str, rng.permutation(words))))
    return np.array(out, dtype=object)


def _with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(10)
    return frame.mask(rng.random(frame.shape) < 0.12)


def _asked(frame: pd.DataFrame, **odd: Any) -> pd.DataFrame:
    """Some of the rows, and copies of them with other cells: {column: value}."""
    return pd.concat(
        [frame.iloc[:12], *(frame.iloc[i : i + 2].assign(**{c: v}) for i, (c, v) in enumerate(odd.items()))]
    )


COMPLETE = Data(_numbers(), Y, _asked(_numbers(), u=1e3, v=-40.0), W)
TWO_CLASSES = Data(COMPLETE.X, np.where(Y == "b", "c", Y), COMPLETE.asked, W)
NUMBERS = Data(_numbers(), Y, _asked(_numbers(), u=1e3, v=np.nan), W)
NUMBERS_WITH_GAPS = Data(_with_gaps(_numbers()), Y, _asked(_with_gaps(_numbers()), u=1e3, v=np.nan), W)
PRESENCES = Data(_presences(), Y, _asked(_presences(), p=np.nan, q=0), W)
PRESENCES_WITH_GAPS = Data(_with_gaps(_presences()), Y, PRESENCES.asked, W)
COUNTS = Data(_counts(), Y, _asked(_counts(), p=40, q=np.nan), W)
COUNTS_WITH_GAPS = Data(_with_gaps(_counts()), Y, COUNTS.asked, W)
CODES = Data(_codes(), Y, _asked(_codes(), f=9, g=np.nan), W)
CODES_WITH_GAPS = Data(_with_gaps(_codes()), Y, CODES.asked, W)
MIXED = Data(
    _mixed(),
    Y,
    _asked(_mixed(), s=None, u=np.nan, v=1e3, t=30).pipe(lambda X: pd.concat([X, X[:2].assign(s="new")])),
    W,
)
TEXTS = Data(_texts(), Y, np.array([*_texts()[:12], "never seen words", "", "ant never dog"], dtype=object), W)
