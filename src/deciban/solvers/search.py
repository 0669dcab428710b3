"""How far to go in a direction: far enough down (Armijo), and far enough along (Wolfe), mostly all of it at once.

Near the minimum the value has no digits left to compare; there the slopes decide (approximate Wolfe, Hager and Zhang
2005).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deciban.solvers.base import EPS
from deciban.vectors import dot

MOST = 30


class Point(NamedTuple):
    w: np.ndarray
    value: float
    gradient: np.ndarray


def search(objective: Any, w: np.ndarray, value: float, gradient: np.ndarray, ahead: np.ndarray) -> Point | None:
    """A point w + t · ahead that is lower; None where there is none to be seen."""
    fall, noise = dot(gradient, ahead), 16 * EPS * abs(value)
    if not fall < 0:
        return None
    t, best = 1.0, None
    for _ in range(MOST):
        there = w + t * ahead
        here = Point(there, *objective.slope(there))
        slope = dot(here.gradient, ahead)
        lower = here.value <= value + 1e-4 * t * fall
        if lower or (here.value <= value + noise and slope <= 0.9998 * -fall):
            if slope >= 0.9 * fall or (best is not None and here.value >= best.value):
                return here if best is None or here.value < best.value else best
            best, t = here, 4.0 * t  # still steep: on
            continue
        if best is not None:
            return best
        t *= _shorter(here.value - value, t * fall, t * slope)
    return best


def _shorter(rise: float, fall: float, slope: float) -> float:
    """Where a parabola through what was seen has its bottom, as a share of the step."""
    if not np.isfinite(rise):
        return 0.1
    share = fall / (fall - slope) if slope > 0 else -fall / (2.0 * (rise - fall))
    return float(np.clip(share, 0.1, 0.7))
