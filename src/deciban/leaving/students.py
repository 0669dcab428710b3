"""Normal columns whose mean and variance are averaged out, each row left out of its class and of the prior.

The prior comes from all rows, so that every class moves with each row: the constants here say by how much, for rows of
weight 1, and one pass over the rows does the rest.

>>> import numpy as np
>>> from deciban.tallies import Moments
>>> t = Moments(np.array([3.0]), np.array([[2.0]]), np.array([[8.0]]))  # {0, 2, 4}; without 4: mean 1, m2 = 2
>>> prior = GivenPrior(np.array([0.0]), np.array([1.0]), kappa=1.0, shape=1.0)
>>> students(t, prior).left[3].tolist(), students(t, prior).moves[:2, 0].tolist()
([2.5], [0.5, 0.75])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from deciban.leaving.left_spec import Students
from deciban.tallies import Moments

DEEP = 1e-4  # what must stay of a sum of squares, or rounding would show


@dataclass(frozen=True)
class GivenPrior:
    """Normal–inverse-gamma; of what comes from all rows, how it follows them."""

    mean: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    kappa: float
    shape: float
    floor: float = 0.0  # of the scale
    smoothing: float = 0.0
    moves_mean: bool = False  # whether the mean is that of all rows
    moves_scale: bool = False  # whether the scale is shape · (variance within + smoothing · variance of all rows)


def students(t: Moments, prior: GivenPrior) -> Students:
    """What rows of t need to be left out; no class is empty, n is (k,)."""
    every = t.collapse()
    total, half = every.n[0], 0.5 * t.m2
    kappa = prior.kappa + t.n
    apart = t.mean - prior.mean
    scale = prior.scale + half + (0.5 * prior.kappa * t.n / kappa)[:, None] * apart**2
    with np.errstate(all="ignore"):
        rest = np.where(t.n > 1.0 + 1e-9, t.n - 1.0, np.nan)
        others = total - 1.0
        base, share, part = prior.scale, np.zeros(t.k), 0.0
        if prior.moves_scale:
            unit = prior.shape / others
            base = unit * (t.m2.sum(axis=0) + prior.smoothing * every.m2[0]) + prior.floor
            share, part = unit * t.n / rest, unit * prior.smoothing * total / others
        return Students(
            mean=np.ascontiguousarray(t.mean),
            half=half,
            inverse=1.0 / scale,
            whole=_weighing(t.n, scale, prior),
            left=_weighing(rest, scale, prior),
            moves=np.stack([1.0 / rest, 0.5 * t.n / rest, share]),
            prior=np.stack([prior.mean, every.mean[0], base]),
            sway=float(1.0 / others) if prior.moves_mean else 0.0,
            part=float(part),
        )


def _weighing(n: np.ndarray, scale: np.ndarray, prior: GivenPrior) -> np.ndarray:
    """(5, k): see `Students.whole`."""
    kappa, shape = prior.kappa + n, prior.shape + 0.5 * n
    wide = (kappa + 1.0) / kappa
    peak = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * wide)
    bias = scale.shape[1] * peak - 0.5 * np.log(scale).sum(axis=1)
    return np.stack([n / kappa, 0.5 * prior.kappa * n / kappa, 0.5 / wide, shape + 0.5, bias])
