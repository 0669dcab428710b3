"""One library on one table: fit on the training part, measure on the rest; folds are pooled before measuring.

Baselines do not change between runs, so their numbers are cached in a CSV file, one line per evaluation. The key is a
hash of all that they depend on: cells, labels, folds, the measures, the library's file, its packages' versions."""

import csv
import hashlib
import inspect
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench import measures
from bench.libraries import Library, identity
from bench.measures import Measures, measure
from bench.tables import Table

COLUMNS = ("key", "table", "library", "rows", "hits", "log_loss", "brier", "ece")


def evaluate(library: Library, table: Table) -> Measures:
    folds = table.folds()
    parts = [_probabilities(library, table, train, test) for train, test in folds]
    rows = np.concatenate([test for _, test in folds])
    return measure(np.concatenate(parts), table.y[rows])


def _probabilities(library: Library, table: Table, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """(test rows, k) in the order of the table's classes; a class absent from training has probability 0."""
    model = library.make(table.numeric, table.nominal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unseen levels, empty bins: every library meets them, none is asked to stop
        return in_order(model.fit(table.X.iloc[train], table.labels[train]), table, test)


def in_order(model: Any, table: Table, test: np.ndarray) -> np.ndarray:
    """What a fitted model says of some rows, (rows, k) in the order of the table's classes."""
    proba = np.zeros((len(test), len(table.classes)))
    proba[:, np.searchsorted(table.classes, np.asarray(model.classes_).astype(str))] = model.predict_proba(
        table.X.iloc[test]
    )
    return proba


@dataclass(frozen=True)
class Kept:
    """Measures by key, in a file that only grows."""

    path: Path

    def get(self, key: str) -> Measures | None:
        return self._read().get(key)

    def put(self, key: str, table: str, library: str, m: Measures) -> None:
        self.path.parent.mkdir(exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            numbers = (f"{number:.9g}" for number in (m.log_loss, m.brier, m.ece))
            writer.writerow((key, table, library, m.rows, m.hits, *numbers))

    def _read(self) -> dict[str, Measures]:
        if not self.path.exists():
            return {}
        with self.path.open(newline="") as file:
            return {
                row["key"]: Measures(
                    int(row["rows"]), int(row["hits"]), float(row["log_loss"]), float(row["brier"]), float(row["ece"])
                )
                for row in csv.DictReader(file)
            }


def key(library: Library, table: Table) -> str | None:
    """The key under which the result is cached; None where it must be computed every time."""
    whose = identity(library)
    if whose is None:
        return None
    hashed = hashlib.sha256(f"{table.name}\n{whose}\n{inspect.getsource(measures)}".encode())
    hashed.update(pd.util.hash_pandas_object(table.X, index=False).to_numpy().tobytes())
    hashed.update("\0".join((*table.X.columns, *table.labels)).encode())
    for _, test in table.folds():
        hashed.update(test.astype(np.int64).tobytes())
    return hashed.hexdigest()[:16]


def look_up(library: Library, table: Table, kept: Kept) -> tuple[Measures, float | None]:
    """The measures, and the seconds they took if they were not kept."""
    name = key(library, table)
    known = kept.get(name) if name else None
    if known:
        return known, None
    start = time.perf_counter()
    found = evaluate(library, table)
    lasted = time.perf_counter() - start
    if name:
        kept.put(name, table.name, library.NAME, found)
    return found, lasted
