"""Products and sums of long vectors: a span at a time, by all threads, in an order that does not depend on them.

>>> import numpy as np
>>> dot(np.ones(3), np.arange(3.0)), dots((np.ones(2), np.arange(2.0)), np.array([3.0, 4.0])).tolist()
(3.0, [7.0, 4.0])
>>> plus(np.zeros(2), np.array([1.0, -1.0]), (np.ones(2), np.arange(2.0))).tolist()
[1.0, 0.0]
"""

from __future__ import annotations

import numpy as np

from deciban import ops
from deciban.engines import threads

SHORT = 1 << 13  # numbers up to which one call does, and BLAS does not wake its threads
SPAN = 1 << 16


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b."""
    return float(a @ b) if len(a) <= SHORT else float(dots((a,), b)[0])


def dots(vectors: tuple[np.ndarray, ...], g: np.ndarray) -> np.ndarray:
    """Their products with g."""

    def of(span: slice) -> np.ndarray:
        out, core = np.zeros(len(vectors)), ops.core()
        parts = [v[span] for v in vectors]
        if core is None or len(g) <= SHORT:
            out[:] = [part @ g[span] for part in parts]
        else:
            core.long_dots(parts, g[span], out)
        return out

    return threads.total(_spans(len(g)), of) if vectors else np.zeros(0)


def plus(out: np.ndarray, factors: np.ndarray, vectors: tuple[np.ndarray, ...]) -> np.ndarray:
    """out + Σ factor · vector, into out."""

    def add(span: slice) -> None:
        part, core = out[span], ops.core()
        if core is not None and len(out) > SHORT:
            core.long_plus([v[span] for v in vectors], factors, part)
            return
        for factor, v in zip(factors, vectors, strict=True):
            part += factor * v[span]

    for _ in threads.each(_spans(len(out)), add):
        pass
    return out


def _spans(n: int) -> list[slice]:
    return [slice(start, start + SPAN) for start in range(0, n, SPAN)] or [slice(0, 0)]
