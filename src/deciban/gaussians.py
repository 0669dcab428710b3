"""Scores of rows under joint Gaussians: one covariance for each class, or one for all.

>>> import numpy as np
>>> from deciban.covariance import Full
>>> own = Own.of(np.zeros((1, 2)), [Full(np.eye(2))])
>>> own.loglik(Reals(np.zeros((1, 2)))).round(4).tolist()  # −log 2π
[[-1.8379]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.covariance import Covariance, Full, Precision
from deciban.packed import Packed
from deciban.table import Reals

LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class Own:
    """A covariance for each class."""

    mean: np.ndarray  # (k, d)
    covs: Sequence[Covariance]
    white: np.ndarray | None  # (k, d, d), lower triangular, where the covariances are dense
    precisions: list[Precision] | None  # where they are not
    bias: np.ndarray  # (k,)

    @classmethod
    def of(cls, mean: np.ndarray, covs: Sequence[Covariance]) -> Own:
        d = mean.shape[1]
        full = [cov for cov in covs if isinstance(cov, Full)]
        if len(full) == len(covs):
            white, logdet = zip(*(cov.triangle() for cov in full), strict=True)
            return cls(mean, covs, np.stack(white), None, -0.5 * (np.array(logdet) + d * LOG_2PI))
        inverses = [cov.inverse() for cov in covs]
        bias = -0.5 * np.array([p.logdet + p.rank * LOG_2PI for p in inverses])
        return cls(mean, covs, None, inverses, bias)

    def part(self, columns: np.ndarray) -> Own:
        return Own.of(self.mean[:, columns], [cov.part(columns) for cov in self.covs])

    def loglik(self, x: Reals) -> np.ndarray:
        if self.white is not None:
            return ops.quadratic_full(x, self.mean, self.white, self.bias)
        assert self.precisions is not None
        cells = np.asarray(x.values, dtype=np.float64)
        norms = [p.norms(cells - mean) for p, mean in zip(self.precisions, self.mean, strict=True)]
        return self.bias - 0.5 * np.stack(norms, axis=1)

    def carrier(self, x: Reals) -> np.ndarray:
        return np.zeros(x.n)


@dataclass(frozen=True)
class Pooled:
    """One covariance: a linear score, and the quadratic that all classes share."""

    mean: np.ndarray  # (k, d)
    covs: Sequence[Covariance]  # one
    centre: np.ndarray  # (d,)
    precision: Precision
    coef: Packed  # (k, d)
    bias: np.ndarray  # (k,)

    @classmethod
    def of(cls, mean: np.ndarray, cov: Covariance, centre: np.ndarray, tol: float) -> Pooled:
        precision = cov.inverse(tol)
        coef = precision.apply(mean - centre)
        bias = -0.5 * ((mean - centre) * coef).sum(axis=1) - coef @ centre
        return cls(mean, [cov], centre, precision, Packed.of(coef), bias)

    def part(self, columns: np.ndarray) -> Pooled:
        return Pooled.of(self.mean[:, columns], self.covs[0].part(columns), self.centre[columns], 1e-10)

    def loglik(self, x: Reals) -> np.ndarray:
        return ops.affine(x, self.coef, self.bias, strict=True)

    def carrier(self, x: Reals) -> np.ndarray:
        norms = self.precision.norms(np.asarray(x.values, dtype=np.float64) - self.centre)
        return -0.5 * (norms + self.precision.logdet + self.precision.rank * LOG_2PI)


def singular(covs: Sequence[Covariance], tol: float) -> list[bool]:
    """Which covariances have no inverse: some column is constant or a mix of others, up to tol of its deviation."""
    return [cov.least_correlation() <= tol**2 for cov in covs]


def floored(covs: Sequence[Covariance], n: np.ndarray, tol: float) -> list[Covariance]:
    """Those without inverse plus tol times the usual variances, (weighted by n) over the classes."""
    bad = singular(covs, tol)
    if not any(bad):
        return list(covs)
    usual = np.stack([cov.variances for cov in covs]).T @ (n / n.sum())
    usual = np.where(usual > 0, usual, max(float(usual.mean()), 1e-280))
    return [cov.plus_diagonal(tol * usual) if no else cov for cov, no in zip(covs, bad, strict=True)]


def mixed(covs: Sequence[Covariance], weights: np.ndarray) -> Covariance:
    out = covs[0] * weights[0]
    for cov, weight in zip(covs[1:], weights[1:], strict=True):
        out = out + cov * weight
    return out


def draw(mean: np.ndarray, covs: Sequence[Covariance], y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A row for each class code in y; one covariance serves all classes."""
    out = mean[y]
    for c in np.unique(y):
        mine = np.flatnonzero(y == c)
        out[mine] += covs[c if len(covs) > 1 else 0].draw(rng, len(mine))
    return out


def by_pattern(x: Reals, p, score) -> np.ndarray:
    """score(p, x) where every cell is there; else each pattern of missing cells by the marginal of the others."""
    out = score(p, x)
    if ops.whole(out):
        return out
    gone = np.isnan(x.values)
    if not gone.any():
        return out
    patterns, which = np.unique(gone, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, here = np.flatnonzero(which.ravel() == number), np.flatnonzero(~pattern)
        if len(here) == 0:
            out[rows] = 0.0
        elif len(here) < x.d:
            out[rows] = score(p.part(here), Reals(np.ascontiguousarray(x.values[np.ix_(rows, here)])))
    return out
