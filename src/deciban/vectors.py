"""Products and sums of long vectors, a block at a time.

>>> import numpy as np
>>> dot(np.ones(3), np.arange(3.0)), dots((np.ones(2), np.arange(2.0)), np.array([3.0, 4.0])).tolist()
(3.0, [7.0, 4.0])
"""

from __future__ import annotations

import numpy as np

BLOCK = 1 << 13  # numbers of each vector at a time: few enough for the cache, and for BLAS not to wake its threads


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b."""
    return float(a @ b) if len(a) <= BLOCK else float(dots((a,), b)[0])


def dots(vectors: tuple[np.ndarray, ...], g: np.ndarray) -> np.ndarray:
    """Their products with g."""
    out = np.zeros(len(vectors))
    for start in range(0, len(g) if vectors else 0, BLOCK):
        part = g[start : start + BLOCK]
        out += [v[start : start + BLOCK] @ part for v in vectors]
    return out


def plus(out: np.ndarray, factors: np.ndarray, vectors: tuple[np.ndarray, ...]) -> np.ndarray:
    """out + Σ factor · vector, into out."""
    for start in range(0, len(out), BLOCK):
        part = out[start : start + BLOCK]
        for factor, v in zip(factors, vectors, strict=True):
            part += factor * v[start : start + BLOCK]
    return out
