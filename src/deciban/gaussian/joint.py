"""Scores under joint Gaussians, and under multivariate t distributions (Gaussians with unknown parameters): one
covariance for each class, or one for all.

>>> import numpy as np
>>> from deciban.gaussian.covariance import DenseCovariance
>>> own = ClassGaussian.of(np.zeros((1, 2)), [DenseCovariance(np.eye(2))])
>>> own.loglik(Reals(np.zeros((1, 2)))).round(4).tolist()  # −log 2π
[[-1.8379]]

Directions that separate classes: the projection of linear discriminant analysis.

>>> import numpy as np
>>> Axes.generalised(np.eye(2), np.eye(2) + np.diag([3.0, 1.0])).ratio.tolist()
[0.75, 0.25]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import linalg
from scipy.special import betaln, gammaln

from deciban import ops
from deciban.data.blocks import Reals
from deciban.gaussian.covariance import Covariance, DenseCovariance, LowRankCovariance, Precision
from deciban.ops.packed import Packed

LOG_2PI = np.log(2.0 * np.pi)


@dataclass(frozen=True)
class ClassGaussian:
    """A covariance for each class."""

    mean: np.ndarray  # (k, d)
    covs: Sequence[Covariance]
    white: np.ndarray | None  # (k, d, d), lower triangular, where the covariances are dense
    precisions: list[Precision] | None  # where they are not
    bias: np.ndarray  # (k,)
    splits: ClassVar[bool] = False

    @classmethod
    def of(cls, mean: np.ndarray, covs: Sequence[Covariance]) -> ClassGaussian:
        d = mean.shape[1]
        full = [cov for cov in covs if isinstance(cov, DenseCovariance)]
        if len(full) == len(covs):
            white, logdet = zip(*(cov.triangle() for cov in full), strict=True)
            return cls(mean, covs, np.stack(white), None, -0.5 * (np.array(logdet) + d * LOG_2PI))
        inverses = [cov.inverse() for cov in covs]
        bias = -0.5 * np.array([p.logdet + p.rank * LOG_2PI for p in inverses])
        return cls(mean, covs, None, inverses, bias)

    def part(self, columns: np.ndarray) -> ClassGaussian:
        return ClassGaussian.of(self.mean[:, columns], [cov.part(columns) for cov in self.covs])

    def loglik(self, x: Reals) -> np.ndarray:
        if self.white is not None:
            return ops.quadratic_full(x, self.mean, self.white, self.bias)
        assert self.precisions is not None
        cells = np.asarray(x.values, dtype=np.float64)
        norms = [p.norms(cells - mean) for p, mean in zip(self.precisions, self.mean, strict=True)]
        return self.bias - 0.5 * np.stack(norms, axis=1)

    def carrier(self, x: Reals) -> np.ndarray:
        return np.zeros(x.n)

    def uncentred(self, x: Reals) -> np.ndarray:
        """What makes loglik the discriminant score −½ log det Σ − ½ (x − mean)ᵀ Σ⁻¹ (x − mean), (n,)."""
        return 0.5 * LOG_2PI * np.count_nonzero(~np.isnan(x.values), axis=1)

    def quadratic(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(A (k, d, d), b (k, d), c (k,)) of loglik = xᵀAx + bᵀx + c."""
        eye = np.eye(self.mean.shape[1])
        if self.white is not None:
            inverse = self.white.transpose(0, 2, 1) @ self.white
        else:
            assert self.precisions is not None
            inverse = np.stack([p.apply(eye) for p in self.precisions])
        slope = np.einsum("kij,kj->ki", inverse, self.mean)
        return -0.5 * inverse, slope, self.bias - 0.5 * (slope * self.mean).sum(axis=1)


@dataclass(frozen=True)
class PooledGaussian:
    """One covariance: a linear score, and the quadratic that all classes share."""

    mean: np.ndarray  # (k, d)
    covs: Sequence[Covariance]  # one
    centre: np.ndarray  # (d,)
    precision: Precision
    coef: Packed  # (k, d)
    bias: np.ndarray  # (k,)
    splits: ClassVar[bool] = True  # there are `parts`

    @classmethod
    def of(cls, mean: np.ndarray, cov: Covariance, centre: np.ndarray, tol: float | None = None) -> PooledGaussian:
        """tol: correlation eigenvalues up to this count as 0; None: small ones that do not separate the means."""
        precision = cov.inverse(means=mean) if tol is None else cov.inverse(tol)
        coef = cov.solve(precision, mean - centre)
        bias = -0.5 * ((mean - centre) * coef).sum(axis=1) - coef @ centre
        return cls(mean, [cov], centre, precision, Packed.of(coef), bias)

    def within(self, axes: Axes) -> PooledGaussian:
        """The same with coefficients in the span of these axes, as scikit-learn's svd solver has them."""
        z = (self.mean - self.centre) @ axes.scalings
        coef = z @ axes.scalings.T
        return replace(self, coef=Packed.of(coef), bias=-0.5 * (z**2).sum(axis=1) - coef @ self.centre)

    def part(self, columns: np.ndarray) -> PooledGaussian:
        return PooledGaussian.of(self.mean[:, columns], self.covs[0].part(columns), self.centre[columns])

    def loglik(self, x: Reals) -> np.ndarray:
        return ops.affine(x, self.coef, self.bias, strict=True)

    def shift(self) -> tuple[np.ndarray, float]:
        """(slope (d,), constant) of `uncentred`."""
        slope = self.precision.apply(self.centre[None])[0]
        return slope, -0.5 * float(slope @ self.centre)

    def uncentred(self, x: Reals) -> np.ndarray:
        """What makes loglik the discriminant score xᵀ Σ⁻¹ mean − ½ meanᵀ Σ⁻¹ mean, (n,). It cancels in the posterior
        but adds rounding error, so only scores that are asked for by that name have it."""
        slope, constant = self.shift()
        return np.asarray(x.values @ slope + constant)

    def parts(self, x: Reals) -> np.ndarray:
        """loglik by column, (n, k, d). The bias is split so that independent columns have the parts of naive Bayes, up
        to what all classes share: a cell half-way between the centre and the class's mean adds nothing."""
        return (x.dense()[:, None, :] - 0.5 * (self.mean + self.centre)) * self.coef.table

    def carrier(self, x: Reals) -> np.ndarray:
        norms = self.precision.norms(np.asarray(x.values, dtype=np.float64) - self.centre)
        return -0.5 * (norms + self.precision.logdet + self.precision.rank * LOG_2PI)


@dataclass(frozen=True)
class MultivariateT:
    """A multivariate t for each class: `freedom` degrees of it, and the scale matrix scatter · stretch."""

    mean: np.ndarray  # (k, d)
    scatters: Sequence[Covariance]  # one for each class, or one
    stretch: np.ndarray  # (k,)
    freedom: np.ndarray  # (k,)
    precisions: list[Precision]
    white: np.ndarray | None  # (k, d, d), lower triangular, where each class has a dense matrix of its own
    peak: np.ndarray  # (k,): log density at the mean

    @classmethod
    def of(
        cls, mean: np.ndarray, scatters: Sequence[Covariance], stretch: np.ndarray, freedom: np.ndarray
    ) -> MultivariateT:
        d = mean.shape[1]
        full = [scatter for scatter in scatters if isinstance(scatter, DenseCovariance)]
        if len(full) == len(scatters) == len(mean):
            parts, logdet = zip(*(scatter.triangle() for scatter in full), strict=True)
            white, precisions = np.stack(parts) / np.sqrt(stretch)[:, None, None], []
        else:
            precisions = [scatter.inverse(tol=0.0) for scatter in scatters]
            white, logdet = None, tuple(p.logdet for p in precisions)
        # Γ((ν + d) / 2) / Γ(ν / 2) through the beta function, which keeps its digits for large ν
        peak = gammaln(d / 2) - betaln(freedom / 2, d / 2) - 0.5 * (d * np.log(freedom * np.pi * stretch) + logdet)
        return cls(mean, scatters, stretch, freedom, precisions, white, peak)

    @property
    def covs(self) -> list[Covariance]:
        """The expected covariances, scatter / (ν − 2)."""
        return [scatter * float(1.0 / (nu - 2.0)) for scatter, nu in zip(self.scatters, self.freedom, strict=False)]

    def part(self, columns: np.ndarray) -> MultivariateT:
        return MultivariateT.of(
            self.mean[:, columns], [s.part(columns) for s in self.scatters], self.stretch, self.freedom
        )

    def uncentred(self, x: Reals) -> np.ndarray:
        return np.zeros(x.n)

    def loglik(self, x: Reals) -> np.ndarray:
        norms = self._norms(x) / self.freedom
        return self.peak - 0.5 * (self.freedom + x.d) * np.log1p(norms)

    def _norms(self, x: Reals) -> np.ndarray:
        if self.white is not None:
            return -2.0 * ops.quadratic_full(x, self.mean, self.white, np.zeros(len(self.mean)))
        cells, shared = np.asarray(x.values, dtype=np.float64), len(self.precisions) == 1
        norms = [self.precisions[0 if shared else c].norms(cells - mean) for c, mean in enumerate(self.mean)]
        return np.stack(norms, axis=1) / self.stretch

    def draw(self, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A row for each class code in y: Gaussian noise over the root of an independent χ² / ν."""
        noise = draw(np.zeros_like(self.mean), self.scatters, y, rng)
        nu = self.freedom[y]
        return self.mean[y] + noise * np.sqrt(self.stretch[y] * nu / rng.chisquare(nu))[:, None]


def plus_rows(cov: Covariance, rows: np.ndarray) -> Covariance:
    """Σ + rowsᵀ rows."""
    if isinstance(cov, DenseCovariance):
        return DenseCovariance(cov.matrix + rows.T @ rows)
    return cov + LowRankCovariance(rows, np.ones(len(rows)), np.zeros(cov.d))


def usual_variances(n: np.ndarray, mean: np.ndarray, covs: Sequence[Covariance]) -> np.ndarray:
    """The variances within classes, (d,); of a column without any, that over all rows, or the mean of the others."""
    share = n / max(float(n.sum()), 1e-300)
    within = covs[0].variances if len(covs) == 1 else share @ np.stack([cov.variances for cov in covs])
    whole = within + share @ (mean - share @ mean) ** 2
    out = np.where(within > 0, within, whole)
    return np.where(out > 0, out, max(float(out.mean()), 1e-280))


def singular(covs: Sequence[Covariance], tol: float) -> list[bool]:
    """Which covariances have no inverse: some column is constant or a mix of others, up to tol of its deviation."""
    return [cov.is_singular(tol * tol) for cov in covs]


def some_singular(covs: Sequence[Covariance], n: np.ndarray, tol: float) -> bool:
    """Whether the covariance of some class has no inverse in the columns that vary within classes."""
    if len(covs) < 2 or not n.any():
        return False
    vary = np.flatnonzero(mixed(covs, n / n.sum()).variances > 0)
    return any(singular([cov.part(vary) for cov in covs], tol))


def floored(covs: Sequence[Covariance], n: np.ndarray, tol: float) -> list[Covariance]:
    """Those without inverse plus tol times the usual variances, (weighted by n) over the classes."""
    bad = singular(covs, tol)
    if not any(bad):
        return list(covs)
    more = least_variances(covs, n, tol)
    return [cov.plus_diagonal(more) if no else cov for cov, no in zip(covs, bad, strict=True)]


def least_variances(covs: Sequence[Covariance], n: np.ndarray, tol: float) -> np.ndarray:
    """tol times the usual variances, (d,)."""
    usual = np.stack([cov.variances for cov in covs]).T @ (n / n.sum())
    return tol * np.where(usual > 0, usual, max(float(usual.mean()), 1e-280))


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
    if ops.all_finite(out):
        return out
    missing = np.isnan(x.values)
    if not missing.any():
        return out
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, here = np.flatnonzero(which.ravel() == number), np.flatnonzero(~pattern)
        if len(here) == 0:
            out[rows] = 0.0
        elif len(here) < x.d:
            out[rows] = score(p.part(here), Reals(np.ascontiguousarray(x.values[np.ix_(rows, here)])))
    return out


def parts_by_pattern(x: Reals, p) -> np.ndarray:
    """p.parts(x), (n, k, d); each pattern of missing cells by the marginal of the others, 0 for the missing ones."""
    missing = np.isnan(x.values)
    if not missing.any():
        return p.parts(x)
    out = np.zeros((x.n, len(p.mean), x.d))
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, here = np.flatnonzero(which.ravel() == number), np.flatnonzero(~pattern)
        if len(here):
            some = p if len(here) == x.d else p.part(here)
            part = some.parts(Reals(np.ascontiguousarray(x.values[np.ix_(rows, here)])))
            out[rows[:, None, None], np.arange(len(p.mean))[:, None], here] = part
    return out


@dataclass(frozen=True)
class Axes:
    """The directions that separate the class means best, in units of the deviation within classes."""

    scalings: np.ndarray  # (d, r)
    ratio: np.ndarray  # (r,), their shares of the variance between classes

    @classmethod
    def from_means(cls, p: PooledGaussian, weights: np.ndarray, tol: float) -> Axes:
        """Whiten within classes, then the principal axes of the means; axes under `tol` of the first are dropped."""
        white = p.precision.scale[:, None] * p.precision.basis
        spread = np.sqrt(weights)[:, None] * ((p.mean - p.centre) @ white)
        _, size, turn = np.linalg.svd(spread, full_matrices=False)
        rank = int((size > tol * size[0]).sum()) if len(size) else 0
        return cls(upright(white @ turn.T[:, :rank]), size**2 / max((size**2).sum(), 1e-300))

    @classmethod
    def from_inverse(cls, p: PooledGaussian, weights: np.ndarray) -> Axes:
        """The same through k × k matrices, for any invertible covariance."""
        spread = np.sqrt(weights)[:, None] * (p.mean - p.centre)
        inner = p.precision.apply(spread)
        size, turn = linalg.eigh(spread @ inner.T)
        size, turn = np.maximum(size[::-1], 0.0), turn[:, ::-1]
        keep = size > 1e-12 * max(size[0], 1e-300)
        return cls(upright(inner.T @ turn[:, keep] / np.sqrt(size[keep])), size / max(size.sum(), 1e-300))

    @classmethod
    def generalised(cls, within: np.ndarray, total: np.ndarray) -> Axes:
        """Eigenvectors of (total − within) against within."""
        size, vectors = linalg.eigh(total - within, within)
        return cls(upright(vectors[:, ::-1]), np.sort(size / size.sum())[::-1])


def upright(axes: np.ndarray) -> np.ndarray:
    """The same axes, each turned so that its largest entry is positive: the same rows give the same signs."""
    if axes.size == 0:
        return axes
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])]
    return axes * np.where(largest < 0, -1.0, 1.0)
