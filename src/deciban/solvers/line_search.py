"""Line search with the Armijo and Wolfe conditions; mostly the full step is taken.

Where all of it is much too far, or much too short, the bottom is looked for among what the rows' margins become on the
way there: two numbers a row, so one more pass over the rows, where feeling one's way takes many.

Near the minimum the value has no digits left to compare; there the slopes decide (approximate Wolfe, Hager and Zhang
2005).

Products and sums of long vectors: a span at a time, by all threads, in an order that does not depend on them.

>>> import numpy as np
>>> dot(np.ones(3), np.arange(3.0)), dot_many((np.ones(2), np.arange(2.0)), np.array([3.0, 4.0])).tolist()
(3.0, [7.0, 4.0])
>>> axpy_many(np.zeros(2), np.array([1.0, -1.0]), (np.ones(2), np.arange(2.0))).tolist()
[1.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from deciban import ops
from deciban.engines import threads
from deciban.solvers.base import EPS

SHORT = 1 << 13  # numbers up to which one call does, and BLAS does not wake its threads
SPAN = 1 << 16


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b."""
    return float(a @ b) if len(a) <= SHORT else float(dot_many((a,), b)[0])


def dot_many(vectors: tuple[np.ndarray, ...], g: np.ndarray) -> np.ndarray:
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


def axpy_many(out: np.ndarray, factors: np.ndarray, vectors: tuple[np.ndarray, ...]) -> np.ndarray:
    """out + Σ factor · vector, into out."""

    def add(span: slice) -> None:
        part, core = out[span], ops.core()
        if core is not None and len(out) > SHORT:
            core.long_plus([v[span] for v in vectors], factors, part)
            return
        for factor, v in zip(factors, vectors, strict=True):
            part += factor * v[span]

    for _ in threads.map_ordered(_spans(len(out)), add):
        pass
    return out


def _spans(n: int) -> list[slice]:
    return [slice(start, start + SPAN) for start in range(0, n, SPAN)] or [slice(0, 0)]


MOST = 30
TRUSTED = 0.25  # of a step: a parabola with its bottom nearer than that is not believed


class Point(NamedTuple):
    w: np.ndarray
    value: float
    gradient: np.ndarray


Along = Callable[[np.ndarray, np.ndarray, float], Callable[[float], tuple[float, float]]]


def search(
    objective: Any, w: np.ndarray, value: float, gradient: np.ndarray, ahead: np.ndarray, along: Along | None = None
) -> Point | None:
    """A point w + t · ahead that is lower; None where there is none to be seen. `along(w, ahead, slope)(t)` are
    the slope and the curvature there, if they can be had."""
    fall, noise = dot(gradient, ahead), 16 * EPS * abs(value)
    if not fall < 0:
        return None
    if fall > -1e-9 * abs(value):  # too small for the margins of the rows to resolve
        along = None
    t, best = 1.0, None
    for _ in range(MOST):
        there = w + t * ahead
        here = Point(there, *objective.slope(there))
        slope = dot(here.gradient, ahead)
        lower = here.value <= value + 1e-4 * t * fall
        if lower or (here.value <= value + noise and slope <= 0.9998 * -fall):
            if slope >= 0.9 * fall or (best is not None and here.value >= best.value):
                return here if best is None or here.value < best.value else best
            best, share = here, 4.0  # still steep: on
        elif best is not None:
            return best
        else:
            share = _shorter(here.value - value, t * fall, t * slope)
        if along is not None and not TRUSTED <= share < 1.0:
            t, along = minimise_on_line(along(w, ahead, fall), t), None
        else:
            t *= share
    return best


def minimise_on_line(at: Callable[[float], tuple[float, float]], t: float) -> float:
    """Where a slope that never falls is 0, within a fiftieth, from (slope, curvature) at any t > 0: Newton's method,
    held between what is known to be too short and too far."""
    short, far = 0.0, np.inf
    for _ in range(MOST):
        slope, bend = at(t)
        short, far = (short, t) if slope > 0 else (t, far)
        to = t - slope / bend if bend > 0 else 0.0
        if abs(to - t) <= 0.02 * t:
            return to
        if far == np.inf:
            t = min(max(to, 1.1 * t), 16.0 * t)
        elif max(short, 0.1 * t) < to < far:
            t = to
        else:
            t = float(np.sqrt(short * far)) if short else 0.1 * far
    return t


def _shorter(rise: float, fall: float, slope: float) -> float:
    """Where a parabola through what was seen has its bottom, as a share of the step."""
    if not np.isfinite(rise):
        return 0.1
    share = fall / (fall - slope) if slope > 0 else -fall / (2.0 * (rise - fall))
    return float(np.clip(share, 0.1, 0.7))
