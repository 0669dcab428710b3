"""Gaussians with full covariance, their parameters integrated out: log p(x | c, data) = log t(x; ν, mean_c, scale_c).

Conjugate prior (normal–inverse-Wishart): Σ ~ IW(Ψ₀, ν₀) and μ | Σ ~ N(m₀, Σ / κ₀), for each class; with
blend = 1 the classes share one Σ. Posterior, from the tally (`Scatter`) n, x̄, S of a class:

    κ = κ₀ + n,  ν = ν₀ + n,  m = (κ₀ m₀ + n x̄) / κ,  Ψ = Ψ₀ + S + (κ₀ n / κ)(x̄ − m₀)(x̄ − m₀)ᵀ

and the predictive density is a t with ν − d + 1 degrees of freedom, mean m and scale Ψ (κ + 1) / (κ (ν − d + 1)). Where
Σ is shared, n in ν is the weight of all rows, and Ψ sums over the classes. 0 < blend < 1 mixes the sums of the class
and of all classes as Friedman's estimate does, (1 − blend) · own + blend · all; its marginal likelihood is not defined.

The default prior has the weight of a few rows and is scaled by the data: m₀ the mean of all rows, κ₀ = 0.01; E[Σ] the
diagonal of the variances within classes, Ψ₀ three times that, and ν₀ = d + 4, the least whole number for which Σ has a
variance too. As ν₀ − d is fixed, the marginal density of some columns equals the density of a model of these
columns alone. No covariance is singular.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, x = GaussianJointBayes(), Reals(np.array([[0.0, 0], [2, 1], [9, 9]]))  # fewer rows than columns, in class 1
>>> p = f.estimate(f.tally(x, np.array([0, 0, 1], dtype=np.int32), None, 2))
>>> p.freedom.tolist(), (f.loglik(p, Reals(np.array([[8.0, 8]]))).argmax(axis=1)).tolist()
([7.0, 6.0], [1])
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import multigammaln

from deciban import ops
from deciban.data.blocks import Reals
from deciban.errors import DataError
from deciban.estimation.family import Family
from deciban.gaussian.covariance import Covariance, DenseCovariance, class_covariances
from deciban.gaussian.joint import MultivariateT, by_pattern, mixed, plus_rows, some_singular, usual_variances
from deciban.tallies import RowScatter, Scatter

Sums = Scatter | RowScatter
FLOOR = 1e-4  # share of the deviations up to which a direction counts as constant
ROWS = 3.0  # weight of the default prior of a covariance, in rows


@dataclass(frozen=True)
class Prior:
    mean: np.ndarray  # (d,), m₀
    scale: np.ndarray  # (d,), a diagonal, or (d, d): Ψ₀
    rows: float  # κ₀
    freedom: float  # ν₀

    def add(self, scatter: Covariance) -> Covariance:
        """Ψ₀ + scatter."""
        return (
            scatter.plus_diagonal(self.scale) if self.scale.ndim == 1 else DenseCovariance(scatter.dense() + self.scale)
        )


@dataclass(frozen=True)
class GaussianJointBayes(Family):
    blend: float = 0.0
    mean0: np.ndarray | None = None  # m₀, (d,); None here and below: from the tally
    scale0: np.ndarray | None = None  # Ψ₀, (d,) or (d, d)
    rows0: float = 0.01  # κ₀: weight of the prior mean, in rows
    freedom0: float | None = None  # ν₀ > d − 1
    fallback: float = 0.0  # the blend where a class has a singular covariance; 0: none
    exact: bool = False  # the tally has products without rounding
    block, support = "dense", "real"
    columnwise = False  # a joint density of all columns
    has_parts = False

    @property
    def pools(self) -> bool:
        return self.blend == 1

    def tally_size(self, k: int, d: int) -> int:
        """Numbers in a dense tally."""
        return d * d * (1 if self.pools and not self.exact else k)

    def tally(self, x: Reals, y, w, k: int) -> Sums:
        return (ops.exact_scatter if self.exact else ops.scatter)(x, y, w, k, self.pools)

    def prior(self, t: Sums) -> Prior:
        mean = t.mean
        m0 = t.n @ mean / max(float(t.n.sum()), 1e-300) if self.mean0 is None else np.asarray(self.mean0, dtype=float)
        scale = ROWS * usual_variances(t.n, mean, class_covariances(t)) if self.scale0 is None else self.scale0
        freedom = mean.shape[1] + 1.0 + ROWS if self.freedom0 is None else self.freedom0
        return Prior(m0, np.asarray(scale, dtype=float), self.rows0, freedom)

    def _posterior(self, t: Sums, prior: Prior) -> tuple[np.ndarray, list[Covariance], np.ndarray]:
        """(m, Ψ, ν) of each class; one Ψ and ν where all classes share Σ."""
        n, delta = t.n, t.mean - prior.mean
        share = n / (prior.rows + n)
        shift = np.sqrt(prior.rows * share)[:, None] * delta
        covs, total = class_covariances(t), n.sum(keepdims=True)
        if self.pools:
            scatters, weight = [plus_rows(covs[0] * float(total[0]), shift)], total
        else:
            scatters = [plus_rows(cov * float(n[c]), shift[c : c + 1]) for c, cov in enumerate(covs)]
            weight = (1 - self.blend) * n + self.blend * total
        if 0 < self.blend < 1:
            every = mixed(scatters, np.full(len(n), self.blend))
            scatters = [own * (1 - self.blend) + every for own in scatters]  # type: ignore[operator]
        return prior.mean + share[:, None] * delta, [prior.add(s) for s in scatters], prior.freedom + weight

    def estimate(self, t: Sums) -> MultivariateT:
        if self.fallback and some_singular(class_covariances(t), t.n, FLOOR):
            return replace(self, blend=self.fallback, fallback=0.0).estimate(t)
        prior = self.prior(t)
        mean, scatters, nu = self._posterior(t, prior)
        freedom = np.broadcast_to(nu - mean.shape[1] + 1.0, len(mean))
        kappa = prior.rows + t.n
        return MultivariateT.of(mean, scatters, (kappa + 1) / (kappa * freedom), freedom)

    def gaussians(self, t: Sums) -> tuple[np.ndarray, list[Covariance]]:
        """m and E[Σ⁻¹]⁻¹ = Ψ / ν: with these, filling in missing cells is variational Bayes."""
        mean, scatters, nu = self._posterior(t, self.prior(t))
        return mean, [s * float(1 / weight) for s, weight in zip(scatters, nu, strict=True)]

    def evidence(self, t: Sums) -> np.ndarray:
        """log p(rows) of each class, (k,). Classes that share Σ are not independent: of all classes together, (1,)."""
        if 0 < self.blend < 1:
            raise DataError("blended covariances have no evidence\n\nhint: blend=0 (each its own) or 1 (one for all)")
        prior, d = self.prior(t), t.mean.shape[1]
        _, scatters, nu = self._posterior(t, prior)
        before = prior.add(class_covariances(t)[0] * 0.0).inverse(tol=0.0).logdet
        after = np.array([s.inverse(tol=0.0).logdet for s in scatters])
        means = 0.5 * d * np.log(prior.rows / (prior.rows + t.n))
        out = 0.5 * (prior.freedom * before - nu * after) - 0.5 * (nu - prior.freedom) * d * np.log(np.pi)
        out += multigammaln(nu / 2, d) - multigammaln(prior.freedom / 2, d)
        return out + (means.sum(keepdims=True) if self.pools else means)

    def loglik(self, p: MultivariateT, x: Reals) -> np.ndarray:
        return by_pattern(x, p, lambda part, rows: part.loglik(rows))

    def sample(self, p: MultivariateT, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return p.draw(y, rng)


FAMILY = GaussianJointBayes
