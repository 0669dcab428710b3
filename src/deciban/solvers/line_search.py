"""Line search with the Armijo and Wolfe conditions; in most cases the full step is taken.

If the full step is much too long or too short, the minimum on the line is found from the margins of the rows, which
are linear on it: one pass over the rows computes them, and no further pass is needed.

Near the minimum, values differ by less than their rounding errors; there slopes are compared instead (approximate Wolfe
conditions, Hager and Zhang 2005).

Inner products and sums of long vectors (`dot_many`, `axpy_many`) use all threads, and add in an order that does not
depend on their number.

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

SHORT = 1 << 13  # length up to which one call is fastest, and BLAS uses one thread
SPAN = 1 << 16


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a · b."""
    return float(a @ b) if len(a) <= SHORT else float(dot_many((a,), b)[0])


def dot_many(vectors: tuple[np.ndarray, ...], g: np.ndarray) -> np.ndarray:
    """The inner product of each vector with g."""

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
TRUSTED = 0.25  # share of a step: a parabola with its minimum nearer than that is not used


class Point(NamedTuple):
    w: np.ndarray
    value: float
    gradient: np.ndarray


Along = Callable[[np.ndarray, np.ndarray, float], Callable[[float], tuple[float, float]]]


def search(
    objective: Any, w: np.ndarray, value: float, gradient: np.ndarray, ahead: np.ndarray, along: Along | None = None
) -> Point | None:
    """A point w + t · ahead of lower value; None if none was found. `along(w, ahead, slope)(t)` are the slope and the
    curvature at t, where they can be computed without a pass over the rows."""
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
            best, share = here, 4.0  # still steep: go further
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
    """The root of an increasing slope, within 2 %, from (slope, curvature) at any t > 0: Newton's method, restricted to
    the interval that is known to contain the root."""
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
    """The minimum of the parabola through the values and slopes at both ends, as a share of the step."""
    if not np.isfinite(rise):
        return 0.1
    share = fall / (fall - slope) if slope > 0 else -fall / (2.0 * (rise - fall))
    return float(np.clip(share, 0.1, 0.7))
