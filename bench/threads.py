"""Speedup of two threads over one, for compute-bound tasks.

`deciban.threads(n)` sets our threads and threadpoolctl the BLAS's, so that neither stands in for the other.
"""

from collections.abc import Callable
from statistics import median

from threadpoolctl import threadpool_limits

import deciban
from bench.data import load
from bench.other import Comparison
from bench.peers import Peer
from bench.race import TimedLibrary
from bench.tasks import LDA, QDA, TASKS, Task

COMPUTE_BOUND = {(QDA, "fit"), (QDA, "predict_proba"), (LDA, "fit")}


def tasks() -> list[Task]:
    return [task for task in TASKS if task.recipe.big and (task.model, task.verb) in COMPUTE_BOUND]


def compare(task: Task, ours: Peer, repeats: int) -> Comparison:
    timed = TimedLibrary(task, load(task.recipe), ours)
    times = [(_with(1, timed.seconds), _with(2, timed.seconds)) for _ in range(repeats)]
    one, two = (median(column) for column in zip(*times, strict=True))
    return Comparison(f"threads: {task.name}", "1 thread", one, "2 threads", two)


def _with(count: int, call: Callable[[], float]) -> float:
    with deciban.threads(count), threadpool_limits(count):
        return call()
