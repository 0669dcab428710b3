"""Lower bound of the time of a task: the larger of reading X once and doing its floating-point operations.

Reading is the time of `X.sum()` (CSR: of `data` and `indices`), one thread, best of five. The flop rate is
that of a 2000 × 2000 float64 matrix product on all cores, best of five. Only counts that are sure are
listed; the other tasks are bound by reading.
"""

import time
from collections.abc import Callable
from functools import cache

import numpy as np

from bench.data import Data
from bench.tasks import LDA, QDA, Task

# flops of (model, verb) for n rows, d columns, k classes; a symmetric product counts once
FLOPS: dict[tuple[str, str], Callable[[int, int, int], int]] = {
    (LDA, "fit"): lambda n, d, k: n * d * d,
    (QDA, "fit"): lambda n, d, k: n * d * d,
    (QDA, "predict_proba"): lambda n, d, k: n * k * d * d,
    (LDA, "predict_proba"): lambda n, d, k: 2 * n * d * k,
    ("GaussianNB", "predict_proba"): lambda n, d, k: 3 * n * k * d,
}


def limit(task: Task, data: Data) -> float | None:
    """Seconds no implementation is expected to beat by much; None for the small tasks."""
    if not task.recipe.big:
        return None
    return max(_reading(data), _computing(task, data))


def _reading(data: Data) -> float:
    X = data.X
    if isinstance(X, np.ndarray):
        return _best(X.sum)
    return _best(lambda: X.data.sum() + X.indices.sum())


def _computing(task: Task, data: Data) -> float:
    count = FLOPS.get((task.model, task.verb))
    n, d = data.X.shape
    return count(n, d, task.recipe.classes) / blas_rate() if count else 0.0


@cache
def blas_rate() -> float:
    """Flops a second."""
    size = 2000
    a = np.random.default_rng(0).standard_normal((size, size))
    return 2 * size**3 / _best(lambda: a @ a)


def _best(call: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
