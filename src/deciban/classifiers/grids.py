"""Values worth a tick: what each column of a fitted family ranges over, from its own parameters.

Gaussians: mean ± 3 deviations, over all classes. Counts: from 0 to mean + 3 deviations. Presence: 0 and 1. Levels: all.
A family that is not named here is asked for a sample.

>>> import numpy as np
>>> from deciban import CategoricalNB
>>> fitted = CategoricalNB().fit(np.array([[0], [2], [1]]), [0, 0, 1])._check_is_fitted()
>>> [column.tolist() for column in grid(fitted.params, fitted.family, 2)]
[[0, 1, 2]]
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from deciban.families import bernoulli, categorical, complement, fisher, gaussian, multinomial, poisson
from deciban.gaussians import Own, Pooled

STEPS = 97  # of a scale of numbers; its ends and its middle among them
FEW = 12  # distinct whole numbers up to which a column is drawn value by value
DRAWN = 4096


@singledispatch
def grid(params: Any, family: Any, k: int) -> list[np.ndarray]:
    """The values of each column."""
    if isinstance(getattr(params, "base", None), Pooled):  # a pooled Gaussian with a projection on top
        return grid(params.base, family, k)
    y = np.arange(DRAWN, dtype=np.int32) % k
    rows = family.sample(params, y, np.random.default_rng(0))
    return [_of_sample(rows[:, j]) for j in range(rows.shape[1])]


def _of_sample(cells: np.ndarray) -> np.ndarray:
    distinct = np.unique(cells)
    if len(distinct) <= FEW and (distinct == np.rint(distinct)).all():
        return distinct
    low, high = np.quantile(cells, [0.002, 0.998])
    return np.linspace(low, high, STEPS)


def _around(mean: np.ndarray, deviation: np.ndarray) -> list[np.ndarray]:
    """From the least mean − 3 deviations to the largest mean + 3 deviations of any class."""
    low, high = (mean - 3 * deviation).min(axis=0), (mean + 3 * deviation).max(axis=0)
    return [np.linspace(a, b, STEPS) for a, b in zip(low, high, strict=True)]


def _up_to(rate: np.ndarray) -> list[np.ndarray]:
    """Counts from 0 to what is still usual, at least 1."""
    top = np.maximum(np.ceil(rate + 3 * np.sqrt(rate)).max(axis=0), 1)
    return [np.unique(np.rint(np.linspace(0, most, min(int(most) + 1, STEPS)))) for most in top]


@grid.register
def _(params: tuple, family: Any, k: int) -> list[np.ndarray]:
    """A product: every factor says it of its own columns, the first one that has a column counts."""
    out: dict[int, np.ndarray] = {}
    for factor, own, columns in zip(family.factors, params, family.columns, strict=True):
        for column, values in zip(columns, grid(own, factor, k), strict=True):
            out.setdefault(column, values)
    return [out[column] for column in range(family.d)]


@grid.register
def _(params: gaussian.Params, family: Any, k: int) -> list[np.ndarray]:
    return _around(params.mean, np.sqrt(params.var))


@grid.register
def _(params: Pooled, family: Any, k: int) -> list[np.ndarray]:
    return _around(params.mean, np.sqrt(params.covs[0].variances))


@grid.register(Own)
@grid.register(fisher.Params)
def _(params: Any, family: Any, k: int) -> list[np.ndarray]:
    return _around(params.mean, np.sqrt(np.stack([cov.variances for cov in params.covs])))


@grid.register
def _(params: bernoulli.Params, family: Any, k: int) -> list[np.ndarray]:
    present = 1.0 if family.above is None or family.above < 1 else family.above + 1.0
    return [np.array([0.0, present])] * params.log_present.shape[1]


@grid.register
def _(params: multinomial.Params, family: Any, k: int) -> list[np.ndarray]:
    return _up_to(np.exp(params.log_theta) * params.length[:, None])


@grid.register
def _(params: complement.Params, family: Any, k: int) -> list[np.ndarray]:
    return _up_to(params.theta * params.length[:, None])


@grid.register
def _(params: poisson.Params, family: Any, k: int) -> list[np.ndarray]:
    return _up_to(params.rate)


@grid.register
def _(params: categorical.Params, family: Any, k: int) -> list[np.ndarray]:
    return [np.arange(levels) for levels in np.diff(params.offset)]
