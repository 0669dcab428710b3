"""Folders of Parquet that engines are raced on: a wide table of numbers, and texts of frequent and rare words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from bench.data import SEED

FILES, COLUMNS = 8, 50
WORDS, EACH, TOPICS = 100_000, 90, 20
NAMES = [f"x{j}" for j in range(COLUMNS)]


def write_numbers(folder: Path, rows: int) -> None:
    """Two classes whose log odds are a line in 50 correlated columns."""
    rng = np.random.default_rng(SEED)
    mix = rng.standard_normal((COLUMNS, COLUMNS)) / np.sqrt(COLUMNS) + np.eye(COLUMNS)
    coef = 1.5 * rng.standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    for i in range(FILES):
        X = rng.standard_normal((rows // FILES, COLUMNS)) @ mix + 1.0
        y = (X @ coef + rng.logistic(size=len(X)) > coef.sum()).astype(np.int64)
        _write(folder, i, pa.table({**dict(zip(NAMES, X.T, strict=True)), "label": y}))


def write_texts(folder: Path, rows: int) -> None:
    """Each topic prefers some words; a few words are frequent, most are rare."""
    rng = np.random.default_rng(SEED)
    share = 1.0 / np.arange(1, WORDS + 1) ** 0.8
    words = np.array([f"w{j}" for j in range(WORDS)], dtype=object)
    for i in range(FILES):
        y = rng.integers(0, TOPICS, rows // FILES)
        ids = rng.choice(WORDS, size=(len(y), EACH), p=share / share.sum())
        own = rng.random(ids.shape) < 0.1
        ids = np.where(own, ids // TOPICS * TOPICS + y[:, None], ids) % WORDS
        _write(folder, i, pa.table({"text": [" ".join(words[row]) for row in ids], "label": y}))


def _write(folder: Path, number: int, table: pa.Table) -> None:
    """Without dictionaries of numbers, which hardly repeat."""
    folder.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, folder / f"part-{number:02}.parquet", row_group_size=1 << 16, use_dictionary=["label"])


def batches(folder: Path) -> Iterator[pa.RecordBatch]:
    for path in sorted(folder.glob("*.parquet")):
        yield from parquet.ParquetFile(path).iter_batches()


def objective(folder: Path, coef: np.ndarray, bias: float, l2: float) -> float:
    """Σ log(1 + exp(∓margin)) + l2/2 · |coef|² over all rows."""
    loss = 0.0
    for batch in batches(folder):
        X = np.column_stack([batch.column(name).to_numpy() for name in NAMES])
        sign = 2.0 * batch.column("label").to_numpy() - 1.0
        loss += np.logaddexp(0.0, -sign * (X @ coef + bias)).sum()
    return float(loss + 0.5 * l2 * coef @ coef)
