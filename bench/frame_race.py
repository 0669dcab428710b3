"""`fit` and `predict_proba` of the whole Adult table from a pandas and from a polars frame, ours and theirs in turn.

What counts is the ratio of two runs made right after each other, as in `race`. Frames are made before the clock starts.
A polars null is no NaN to scikit-learn's imputer: its pipeline takes the frame, imputes no names and gives the
missing ones a level of their own. That is less work, and it is let be.
"""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from bench.race import PAUSE_S
from bench.tables import Table

REQUIRED = 10.0
Frame = Any


@dataclass(frozen=True)
class FrameResult:
    frame: str
    ours: str  # how ours was made
    ours_s: float
    baseline_s: float
    pairs: tuple[float, ...]  # baseline / ours, one per repeat

    @property
    def ratio(self) -> float:
        return median(self.pairs)

    @property
    def missed(self) -> bool:
        return self.ratio < REQUIRED


def frames(table: Table) -> Iterator[tuple[str, Frame]]:
    """The same cells in each kind of frame that is installed."""
    yield "pandas", table.X
    try:
        import polars
    except ImportError:
        return
    yield "polars", polars.from_pandas(table.X)


def race(
    frame: tuple[str, Frame],
    y: np.ndarray,
    ours: tuple[str, Callable[[], Any]],
    baseline: Callable[[], Any],
    repeats: int,
) -> FrameResult:
    kind, X = frame
    name, make = ours
    _seconds(make, X, y), _seconds(baseline, X, y)  # warm up
    times = [(_seconds(make, X, y), _seconds(baseline, X, y)) for _ in range(repeats)]
    return FrameResult(
        frame=kind,
        ours=name,
        ours_s=median(t for t, _ in times),
        baseline_s=median(t for _, t in times),
        pairs=tuple(theirs / our for our, theirs in times),
    )


def _seconds(make: Callable[[], Any], X: Frame, y: np.ndarray) -> float:
    model = make()
    gc.collect()
    time.sleep(PAUSE_S)
    start = time.perf_counter()
    kept = model.fit(X, y).predict_proba(X)  # noqa: F841  freeing the answer is not part of the call
    return time.perf_counter() - start
