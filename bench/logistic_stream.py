"""Logistic regression from a stream: one pass of `partial_fit`, against scikit-learn's SGDClassifier.

Speed is rows a second; the second number is the excess of the mean loss of all rows over the batch optimum's.
SGDClassifier runs with its defaults, and with a constant step and averaging, which is what our rule does; the batches
are the same. The step is one that suits these columns; ours is found from the rows."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

from bench.logistic_data import Correlated, Drawn
from deciban import LogisticRegression

ROWS, COLUMNS, BATCH = 1_000_000, 50, 1000
STREAMS = {"unrelated columns": Drawn, "correlated columns": Correlated}
WHO: dict[str, Callable[[], Any]] = {
    "deciban": LogisticRegression,
    "SGDClassifier": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "SGDClassifier, constant step 0.01, average": lambda: SGDClassifier(
        loss="log_loss", learning_rate="constant", eta0=0.01, average=True, random_state=0
    ),
}


@dataclass(frozen=True)
class Streamed:
    stream: str
    who: str
    rows_per_s: float
    speed_ratio: float  # ours over theirs
    excess: float  # loss over the batch optimum's, as a share of it


def run(shrink: int = 1, repeats: int = 3) -> Iterator[Streamed]:
    for name, recipe in STREAMS.items():
        X, y = recipe(ROWS // shrink, COLUMNS).make()
        seconds, excess = dict.fromkeys(WHO, np.inf), {}
        batch = log_loss(y, LogisticRegression().fit(X, y).predict_proba(X))
        for _ in range(repeats):
            for label, make in WHO.items():
                model = make()
                seconds[label] = min(seconds[label], _read(model, X, y))
                excess[label] = log_loss(y, model.predict_proba(X)) / batch - 1.0
        for label, t in seconds.items():
            yield Streamed(name, label, len(y) / t, t / seconds["deciban"], excess[label])


def _read(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of one pass."""
    classes, start = np.array([0, 1]), time.perf_counter()
    for at in range(0, len(y), BATCH):
        model.partial_fit(X[at : at + BATCH], y[at : at + BATCH], classes=classes)
    return time.perf_counter() - start
