"""The data the tasks run on: seeded recipes, and `load`, which keeps the last one made.

A recipe is a frozen dataclass, so it can be compared, shrunk and used as a key. It makes no data until
`load` asks for it, and `load` drops the data before it makes the next: one big array is alive at a time.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris

SEED = 20
Matrix: TypeAlias = np.ndarray | sp.csr_matrix


class Data(NamedTuple):
    X: Matrix  # (n, d)
    y: np.ndarray  # (n,)


class Recipe(Protocol):
    @property
    def classes(self) -> int: ...
    @property
    def big(self) -> bool: ...
    def make(self) -> Data: ...
    def smaller(self, by: int) -> Self: ...


@dataclass(frozen=True)
class Normals:
    """Real columns: a normal cloud around each class's own mean."""

    rows: int
    columns: int
    classes: int
    big: bool = True

    def __str__(self) -> str:
        return f"{self.rows:,} × {self.columns}, {self.classes} classes"

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        y = rng.integers(self.classes, size=self.rows)
        mean = 0.3 * rng.standard_normal((self.classes, self.columns))
        X = rng.standard_normal((self.rows, self.columns))
        for c in range(self.classes):
            X[y == c] += mean[c]
        return Data(X, y)

    def smaller(self, by: int) -> Self:
        return replace(self, rows=self.rows // by)


@dataclass(frozen=True)
class Words:
    """Word counts as CSR: every row has `words` different words, all sets of words equally likely."""

    rows: int
    columns: int
    words: int
    classes: int
    big: bool = True

    def __str__(self) -> str:
        return f"CSR {self.rows:,} × {self.columns:,}, {self.words} words a row, {self.classes} classes"

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        y = rng.integers(self.classes, size=self.rows)
        ids = self._ids(rng, self.rows)
        indptr = np.arange(0, ids.size + 1, self.words, dtype=np.int32)
        counts = rng.geometric(0.6, size=ids.size).astype(np.float64)
        X = sp.csr_matrix((counts, ids.ravel(), indptr), shape=(self.rows, self.columns))
        X.has_canonical_format = True
        return Data(X, y)

    def _ids(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Sorted word ids (rows, words); rows with a word twice are drawn again until none is left."""
        ids = np.empty((rows, self.words), dtype=np.int32)
        again = np.arange(rows)
        while again.size:
            drawn = rng.integers(self.columns, size=(again.size, self.words), dtype=np.int32)
            drawn.sort(axis=1)
            ids[again] = drawn
            again = again[(drawn[:, 1:] == drawn[:, :-1]).any(axis=1)]
        return ids

    def smaller(self, by: int) -> Self:
        return replace(self, rows=self.rows // by)


@dataclass(frozen=True)
class Levels:
    """Categories as int64 codes, evenly spread."""

    rows: int
    columns: int
    levels: int
    classes: int
    big: bool = True

    def __str__(self) -> str:
        return f"{self.rows:,} × {self.columns} of {self.levels} levels, {self.classes} classes"

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        y = rng.integers(self.classes, size=self.rows)
        return Data(rng.integers(self.levels, size=(self.rows, self.columns)), y)

    def smaller(self, by: int) -> Self:
        return replace(self, rows=self.rows // by)


@dataclass(frozen=True)
class Iris:
    """The 150 flowers; as whole centimetres where a class needs categories."""

    whole: bool = False
    classes: int = 3
    big: bool = False

    def __str__(self) -> str:
        return "iris" + (", whole cm" if self.whole else "")

    def make(self) -> Data:
        X, y = load_iris(return_X_y=True)
        return Data(X.astype(int) if self.whole else X, y)

    def smaller(self, by: int) -> Self:
        return self


@dataclass(frozen=True)
class Sentences:
    """Texts of words that each class has its own shares of."""

    rows: int
    words: int
    classes: int
    big: bool = False

    def __str__(self) -> str:
        return f"{self.rows:,} texts of {self.words} words, {self.classes} classes"

    def make(self) -> Data:
        rng = np.random.default_rng(SEED)
        y = np.arange(self.rows) % self.classes
        shares = rng.dirichlet(np.ones(200), size=self.classes)
        drawn = [rng.choice(200, size=self.words, p=shares[c]) for c in y]
        return Data(np.array([" ".join(f"word{j}" for j in text) for text in drawn], dtype=object), y)

    def smaller(self, by: int) -> Self:
        return self


_last: dict[Recipe, Data] = {}


def load(recipe: Recipe) -> Data:
    if recipe not in _last:
        _last.clear()
        _last[recipe] = recipe.make()
    return _last[recipe]


def head(X: Matrix, rows: int | None) -> Matrix:
    """The first rows, or X itself: a slice of all of a CSR would be a copy."""
    return X if rows is None else X[:rows]


def size(X: Matrix) -> int:
    """Bytes of X."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
