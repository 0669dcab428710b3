"""How far numbers from n rows may be off: 95 % intervals.

    shares   Wilson: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), good for few rows and for 0 and 1
    means    mean ± z · deviation / √n
    others   the middle 95 % of what rows drawn again with replacement give, moved so that its middle is the value: a
             calibration error of drawn rows is larger than that of the rows

>>> estimate = share(9, 10)
>>> round(estimate.value, 3), round(estimate.low, 3), round(estimate.high, 3)
(0.9, 0.596, 0.982)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

Z = 1.959963984540054
DRAWS = 200


@dataclass(frozen=True)
class Estimate:
    """A number and the interval that it is good for; NaN where the rows say nothing."""

    value: float
    low: float
    high: float


def share(hits: float, n: float) -> Estimate:
    """A share of n rows, by Wilson's interval.

    >>> share(0, 0)
    Estimate(value=nan, low=0.0, high=1.0)
    """
    if n <= 0:
        return Estimate(np.nan, 0.0, 1.0)
    p = hits / n
    middle, half = p + Z * Z / (2 * n), Z * np.sqrt(p * (1 - p) / n + (Z / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)
    return Estimate(float(p), float(max(low, 0.0)), float(min(high, 1.0)))


def mean(values: np.ndarray, low: float = -np.inf, high: float = np.inf) -> Estimate:
    """The mean of one number a row, which lies within `low` and `high` by nature.

    >>> mean(np.array([1.0, 3.0])).value
    2.0
    """
    centre = float(values.mean())
    if len(values) < 2 or not np.isfinite(centre):
        return Estimate(centre, low, high)
    off = Z * float(values.std(ddof=1)) / np.sqrt(len(values))
    return Estimate(centre, max(centre - off, low), min(centre + off, high))


def area(hit: np.ndarray, score: np.ndarray) -> Estimate:
    """P(a hit scores above a miss), ties half: the area under the ROC curve, its error by DeLong et al. (1988).

    >>> area(np.array([False, True, True]), np.array([0.1, 0.4, 0.1])).value
    0.75
    """
    hits, misses = int(hit.sum()), int((~hit).sum())
    if not hits or not misses:
        return Estimate(np.nan, 0.0, 1.0)
    rank = rankdata(score)
    above = (rank[hit] - rankdata(score[hit])) / misses  # of each hit, the share of misses below it
    below = 1 - (rank[~hit] - rankdata(score[~hit])) / hits
    value = float(above.mean())
    error = np.sqrt(sum(v.var(ddof=1) / len(v) for v in (above, below) if len(v) > 1))
    return Estimate(value, max(0.0, value - Z * error), min(1.0, value + Z * error))


def redrawn(statistic: Callable[[np.ndarray], float], n: int, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """A number of weighted rows, statistic(w), and how it scatters when rows are drawn again.

    >>> values = np.array([1.0, 2.0, 3.0])
    >>> estimate = redrawn(lambda w: float(values @ w / w.sum()), 3)
    >>> estimate.value, 1.0 <= estimate.low < 2.0 < estimate.high <= 3.0
    (2.0, True)
    """
    rng = np.random.default_rng(seed)
    drawn = [statistic(np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)) for _ in range(draws)]
    value, (low, middle, high) = statistic(np.ones(n)), np.quantile(drawn, [0.025, 0.5, 0.975])
    return Estimate(value, value + float(low - middle), value + float(high - middle))
