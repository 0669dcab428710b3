"""One task, two libraries, in turn: ours, theirs, ours, theirs, …

The machine's speed drifts, so what counts is the ratio of two calls made right after each other. Every
timing of `fit` is on a new model; `predict_proba` is timed on a model fitted before. Calls too short for
the clock are repeated until one timing lasts 20 ms.
"""

import gc
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np

from bench.data import Data, head
from bench.peers import REFERENCE, Peer
from bench.tasks import Task

LEAST_S = 0.02  # a timing lasts at least this long
SLOW_S = 2.0  # from here on three repeats suffice
PAUSE_S = 0.2  # BLAS threads spin for about a tenth of a second after a call: let the last ones go to sleep
COMPARED_ROWS = 1000


@dataclass(frozen=True)
class Result:
    task: Task
    baseline: str
    ours_s: float
    baseline_s: float
    pairs: tuple[float, ...]  # baseline / ours, one per repeat
    difference: float  # largest between the two libraries' probabilities
    first_call_s: float | None  # predict_proba: our first call, where lazy work may happen
    baseline_first_call_s: float | None
    limit_s: float | None = None

    @property
    def ratio(self) -> float:
        return self.baseline_s / self.ours_s

    @property
    def over_limit(self) -> float | None:
        return self.ours_s / self.limit_s if self.limit_s else None

    @property
    def missed(self) -> bool:
        return self.baseline == REFERENCE and self.ratio < self.task.required


class TimedLibrary:
    """One library at one task, warmed up."""

    def __init__(self, task: Task, data: Data, peer: Peer, clock: Callable[[], float] = time.perf_counter) -> None:
        self.task, self.data, self.peer, self.clock = task, data, peer, clock
        self.args = (data.X, data.y) if task.verb == "fit" else (head(data.X, task.rows),)
        self.model = self._new()
        if task.verb == "predict_proba":
            self.model.fit(data.X, data.y)
        self.first_s = self._time([self.model])
        self.loops = 1
        if self.first_s < 1:  # a longer first call needs no loop, and is not made twice to find that out
            while (lasted := self.seconds() * self.loops) < LEAST_S:
                self.loops = math.ceil(self.loops * min(100, 1.2 * LEAST_S / lasted))

    def seconds(self) -> float:
        """Seconds a call, now."""
        fresh = self.task.verb == "fit"
        models = [self._new() if fresh else self.model for _ in range(self.loops)]
        return self._time(models) / self.loops

    def _new(self):
        return self.peer.make(self.task.model, **self.task.kwargs)

    def _time(self, models: list) -> float:
        calls = [getattr(model, self.task.verb) for model in models]
        gc.collect()
        time.sleep(PAUSE_S)
        start = self.clock()
        for call in calls:
            kept = call(*self.args)  # noqa: F841  freeing a large answer is not part of the call
        return self.clock() - start


def race(task: Task, data: Data, ours: Peer, baseline: Peer, repeats: int) -> Result:
    a, b = TimedLibrary(task, data, ours), TimedLibrary(task, data, baseline)
    if max(a.first_s, b.first_s) > SLOW_S:
        repeats = min(repeats, 3)
    times = [(a.seconds(), b.seconds()) for _ in range(repeats)]
    predicts = task.verb == "predict_proba"
    return Result(
        task=task,
        baseline=baseline.NAME,
        ours_s=median(t for t, _ in times),
        baseline_s=median(t for _, t in times),
        pairs=tuple(theirs / our for our, theirs in times),
        difference=_difference(a, b),
        first_call_s=a.first_s if predicts else None,
        baseline_first_call_s=b.first_s if predicts else None,
    )


def _difference(a: TimedLibrary, b: TimedLibrary) -> float:
    """A fast wrong answer wins nothing: how far apart the two are."""
    rows = a.data.X[:COMPARED_ROWS]
    return float(np.abs(a.model.predict_proba(rows) - b.model.predict_proba(rows)).max())
