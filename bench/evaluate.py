"""One contestant on one table: fit on the training part, measure on the rest; folds are pooled before measuring.

Rivals do not change between runs, so their numbers are kept in a CSV file, one line an evaluation. The key is a hash of
everything they hang on: cells, labels, folds, the way they are measured, the contestant's file, its packages' versions.
"""

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
from bench.contestants import Contestant, identity
from bench.measures import Measures, measure
from bench.tables import Table

COLUMNS = ("key", "table", "contestant", "rows", "hits", "log_loss", "brier", "ece")


def evaluate(contestant: Contestant, table: Table) -> Measures:
    folds = table.folds()
    parts = [_probabilities(contestant, table, train, test) for train, test in folds]
    rows = np.concatenate([test for _, test in folds])
    return measure(np.concatenate(parts), table.y[rows])


def _probabilities(contestant: Contestant, table: Table, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """(test rows, k) in the order of the table's classes; a class absent from training has probability 0."""
    model = contestant.make(table.numeric, table.nominal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unseen levels, empty bins: every contestant meets them, none is asked to stop
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

    def put(self, key: str, table: str, contestant: str, m: Measures) -> None:
        self.path.parent.mkdir(exist_ok=True)
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            numbers = (f"{number:.9g}" for number in (m.log_loss, m.brier, m.ece))
            writer.writerow((key, table, contestant, m.rows, m.hits, *numbers))

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


def key(contestant: Contestant, table: Table) -> str | None:
    """The name under which the answer is kept; None where it must be found anew every time."""
    whose = identity(contestant)
    if whose is None:
        return None
    hashed = hashlib.sha256(f"{table.name}\n{whose}\n{inspect.getsource(measures)}".encode())
    hashed.update(pd.util.hash_pandas_object(table.X, index=False).to_numpy().tobytes())
    hashed.update("\0".join((*table.X.columns, *table.labels)).encode())
    for _, test in table.folds():
        hashed.update(test.astype(np.int64).tobytes())
    return hashed.hexdigest()[:16]


def look_up(contestant: Contestant, table: Table, kept: Kept) -> tuple[Measures, float | None]:
    """The measures, and the seconds they took if they were not kept."""
    name = key(contestant, table)
    known = kept.get(name) if name else None
    if known:
        return known, None
    start = time.perf_counter()
    found = evaluate(contestant, table)
    lasted = time.perf_counter() - start
    if name:
        kept.put(name, table.name, contestant.NAME, found)
    return found, lasted
