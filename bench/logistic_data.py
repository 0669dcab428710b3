"""The data that logistic regressions are raced on: seeded recipes, and real tables where they are."""

import json
import lzma
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from bench.data import SEED, Data, Normals
from bench.tables import SHARED, load

NEWS = SHARED / "newsgroups20" / "newsgroups20_bydate.jsonl.xz"


class Absent(Exception):
    """The real data are not there."""


@dataclass(frozen=True)
class Shape:
    rows: int
    columns: int
    classes: int = 2

    def smaller(self, by: int) -> Self:
        return replace(self, rows=self.rows // by)


class Drawn(Shape):
    """Columns that have nothing to do with each other, and labels that a logistic function of them makes."""

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        X = rng.standard_normal((self.rows, self.columns))
        margin = X @ (2.0 * rng.standard_normal(self.columns) / np.sqrt(self.columns))
        return Data(X, (margin + rng.logistic(size=self.rows) > 0).astype(np.int64))


class Clouds(Shape):
    """A normal cloud around each class's own mean; with many columns the classes hardly touch."""

    def make(self) -> Data:
        return Normals(self.rows, self.columns, self.classes).make()


class Correlated(Shape):
    """Columns that overlap and are not centred, and labels that a softmax of them makes."""

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        mix = rng.standard_normal((self.columns, self.columns)) * np.geomspace(1.0, 0.05, self.columns)[:, None]
        X = 3.0 * rng.standard_normal((self.rows, self.columns)) @ mix / np.sqrt(self.columns)
        coef = 1.5 * rng.standard_normal((self.columns, self.classes)) / np.sqrt(self.columns)
        y = (X @ coef + rng.gumbel(size=(self.rows, self.classes))).argmax(axis=1)
        return Data(X + rng.standard_normal(self.columns), y)


class Unscaled(Shape):
    """Units from thousandths to millions."""

    def make(self) -> Data:
        X, y = Drawn(self.rows, self.columns).make()
        return Data(X * np.geomspace(1e-3, 1e6, self.columns), y)


@dataclass(frozen=True)
class Frequent(Shape):
    """Word counts with a few frequent words and many rare ones."""

    each: int = 90

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        share = 1.0 / np.arange(1, self.columns + 1) ** 0.8
        ids = rng.choice(self.columns, size=(self.rows, self.each), p=share / share.sum())
        ends = np.arange(0, ids.size + 1, self.each)
        X = sp.csr_matrix((np.ones(ids.size), ids.ravel(), ends), shape=(self.rows, self.columns))
        X.sum_duplicates()
        margin = X @ rng.standard_normal(self.columns) * 1.5 / np.sqrt(self.each)
        return Data(X, (margin + rng.logistic(size=self.rows) > 0).astype(np.int64))


@dataclass(frozen=True)
class News:
    """20 Newsgroups' training part as tf-idf of words; `one`: whether a text is from the computer groups."""

    one: bool = False
    part: int = 1

    def make(self) -> Data:
        if not NEWS.exists():
            raise Absent(NEWS.name)
        with lzma.open(NEWS, "rt") as file:
            texts = [text for text in map(json.loads, file) if text["split"] == "train"][:: self.part]
        names = np.array([text["label"] for text in texts])
        X = TfidfVectorizer().fit_transform(text["text"] for text in texts)
        if self.one:
            return Data(X, np.char.startswith(names, "comp").astype(np.int64))
        return Data(X, np.unique(names, return_inverse=True)[1])

    def smaller(self, by: int) -> Self:
        return replace(self, part=by)


@dataclass(frozen=True)
class Adult:
    """The census table: numbers scaled, levels one-hot, dense."""

    part: int = 1

    def make(self) -> Data:
        table = next(load(("adult",)), None)
        if table is None:
            raise Absent("adult")
        numbers = table.X[list(table.numeric)].astype(float)
        levels = pd.get_dummies(table.X[list(table.nominal)], dtype=float)
        scaled = (numbers - numbers.mean()) / numbers.std()
        X = np.ascontiguousarray(np.hstack([scaled.fillna(0.0).to_numpy(), levels.to_numpy()]))
        return Data(X[:: self.part], table.y[:: self.part])

    def smaller(self, by: int) -> Self:
        return replace(self, part=by)
