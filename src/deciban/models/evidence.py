"""Values worth a tick: what each column of a fitted family ranges over, from its own parameters.

Gaussians: mean ± 3 deviations, over all classes. Counts: from 0 to mean + 3 deviations. Presence: 0 and 1. Levels: all.
A family that is not named here is asked for a sample. One that keeps its cells does not range beyond them.

>>> import numpy as np
>>> from deciban import CategoricalNB
>>> fitted = CategoricalNB().fit(np.array([[0], [2], [1]]), [0, 0, 1])._check_is_fitted()
>>> [column.tolist() for column in grid(fitted.family, fitted.params, 2)]
[[0, 1, 2]]
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from deciban.composites.best_of import BestOf
from deciban.composites.product import Product
from deciban.composites.subsets import SubsetAverage
from deciban.estimation.ranges import FEW, STEPS
from deciban.families.bernoulli import Bernoulli
from deciban.families.categorical import Categorical
from deciban.families.complement import Complement
from deciban.families.gaussian import Gaussian
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.lognormal import Lognormal
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.tallies.grid import BITS, cell_borders

DRAWN = 4096
EXACT = 1 << (BITS + 1)  # whole numbers below that have a cell of their own


@singledispatch
def grid(family: Any, params: Any, k: int) -> list[np.ndarray]:
    """The values of each column."""
    y = np.arange(DRAWN, dtype=np.int32) % k
    rows = family.sample(params, y, np.random.default_rng(0))
    return [_of_sample(rows[:, j]) for j in range(rows.shape[1])]


def _of_sample(cells: np.ndarray) -> np.ndarray:
    distinct = np.unique(cells)
    if len(distinct) <= FEW and (distinct == np.rint(distinct)).all():
        return distinct
    low, high = np.quantile(cells, [0.002, 0.998])
    return np.linspace(low, high, STEPS)


def _within(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """What a density ranges over, as far as there are cells; the cells themselves where they are few whole numbers."""
    if len(keys) == 0:  # nothing but missing cells
        return np.zeros(0)
    low, high = cell_borders(keys)
    near = np.where(keys > 0, low, np.where(keys < 0, high, 0.0))  # the end next to 0
    if len(keys) <= FEW and (near == np.rint(near)).all() and np.abs(near).max() < EXACT:
        return near
    least = max(float(values.min()), 0.0 if keys[0] == 0 else float(low[0]))
    most = min(float(values.max()), 0.0 if keys[-1] == 0 else float(high[-1]))
    return np.linspace(least, most, STEPS) if least < most else values


def _around(mean: np.ndarray, deviation: np.ndarray) -> list[np.ndarray]:
    """From the least mean − 3 deviations to the largest mean + 3 deviations of any class."""
    low, high = (mean - 3 * deviation).min(axis=0), (mean + 3 * deviation).max(axis=0)
    return [np.linspace(a, b, STEPS) for a, b in zip(low, high, strict=True)]


def _up_to(rate: np.ndarray) -> list[np.ndarray]:
    """Counts from 0 to what is still usual, at least 1."""
    top = np.maximum(np.ceil(rate + 3 * np.sqrt(rate)).max(axis=0), 1)
    return [np.unique(np.rint(np.linspace(0, most, min(int(most) + 1, STEPS)))) for most in top]


@grid.register
def _(family: Product, params: Any, k: int) -> list[np.ndarray]:
    """Every factor says it of its own columns; the first one that has a column counts."""
    out: dict[int, np.ndarray] = {}
    for factor, own, columns in zip(family.factors, params, family.columns, strict=True):
        for column, values in zip(columns, grid(factor, own, k), strict=True):
            out.setdefault(column, values)
    return [out[column] for column in range(family.d)]


@grid.register
def _(family: SubsetAverage, params: Any, k: int) -> list[np.ndarray]:
    return grid(family.product, params.own, k)


@grid.register
def _(family: BestOf, params: Any, k: int) -> list[np.ndarray]:
    own = grid(params.product, params.inner, k)
    return [_within(values, keys) for values, keys in zip(own, params.cells.keys, strict=True)]


@grid.register
def _(family: Gaussian, params: Any, k: int) -> list[np.ndarray]:
    return _around(params.mean, np.sqrt(params.var))


@grid.register
def _(family: Lognormal, params: Any, k: int) -> list[np.ndarray]:
    ends = [np.exp(logs[[0, -1]]) for logs in _around(params.mean, np.sqrt(params.var))]
    return [np.linspace(low, high, STEPS) for low, high in ends]


@grid.register
def _(family: GaussianJoint, params: Any, k: int) -> list[np.ndarray]:
    return _around(params.mean, np.sqrt(np.stack([cov.variances for cov in params.covs])))


@grid.register
def _(family: Bernoulli, params: Any, k: int) -> list[np.ndarray]:
    present = 1.0 if family.above is None or family.above < 1 else family.above + 1.0
    return [np.array([0.0, present])] * params.log_present.shape[1]


@grid.register
def _(family: Multinomial, params: Any, k: int) -> list[np.ndarray]:
    return _up_to(np.exp(params.log_theta) * params.length[:, None])


@grid.register
def _(family: Complement, params: Any, k: int) -> list[np.ndarray]:
    return _up_to(params.theta * params.length[:, None])


@grid.register
def _(family: Poisson, params: Any, k: int) -> list[np.ndarray]:
    return _up_to(params.rate)


@grid.register
def _(family: Categorical, params: Any, k: int) -> list[np.ndarray]:
    return [np.arange(levels) for levels in np.diff(params.offset)]
