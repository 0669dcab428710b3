"""Gaussians with full covariance: log p(x | c) = log N(x; mean_c, Σ_c).

Tally: `Scatter` (`RowScatter` while rows are fewer than columns: d × d is never formed). Estimate (Friedman 1989):
S_c(blend) = ((1 − blend) S_c + blend S) / ((1 − blend) n_c + blend n), shrunk towards the scaled identity (or, with
"auto", by Ledoit–Wolf), then (1 − ridge) Σ + ridge · I; a singular covariance gets a lower bound for its variances.
blend = 1 is one covariance for all classes: the log likelihood is linear in x up to a term that all classes share, the
`carrier`. Training leaves out rows with missing cells; scoring integrates missing cells out, by pattern of missing
cells.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, x = GaussianJoint(blend=1.0), Reals(np.array([[0.0, 0], [2, 0], [0, 2], [4, 4], [6, 4], [4, 6]]))
>>> p = f.estimate(f.tally(x, np.repeat([0, 1], 3).astype(np.int32), None, 2))
>>> p.covs[0].dense().round(3).tolist()
[[0.889, -0.444], [-0.444, 0.889]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban import ops
from deciban.data.blocks import Reals
from deciban.errors import DataError
from deciban.estimation.family import Family
from deciban.estimation.parameters import Parameter
from deciban.estimation.ranges import values_around
from deciban.gaussian.covariance import Covariance, DenseCovariance, class_covariances, ledoit_wolf, shrink
from deciban.gaussian.joint import Axes, ClassGaussian, PooledGaussian, by_pattern, draw, floored, mixed
from deciban.gaussian.leave_one_out import Separate, Shared, Span, cached_plan
from deciban.tallies import Quartic, RowScatter, Scatter

Params = ClassGaussian | PooledGaussian


@dataclass(frozen=True)
class GaussianJoint(Family):
    blend: float = 0.0
    shrinkage: float | str = 0.0
    ridge: float = 0.0
    mix: bool = False  # with blend = 1: Σ_c prior_c Σ_c instead of the pooled covariance
    span: float | None = None  # with blend = 1: use only the axes of the class means whose share is at least this
    tol: float = 1e-10  # with blend = 1: correlation eigenvalues up to this count as 0
    floor: float = 1e-4  # with blend < 1: least variance of a singular covariance, as a share of the usual variances
    weights: np.ndarray | None = None  # (k,), class weights; None: those of the tally
    given: bool = False  # whether `weights` are given priors, independent of the rows
    block, support = "dense", "real"
    columnwise = False  # a joint density of all columns
    has_parts = False

    @property
    def pools(self) -> bool:
        """Whether the pooled scatter is all that is needed."""
        return self.blend == 1 and not self.mix and self.shrinkage != "auto"

    def bound(self, weights: np.ndarray, given: bool) -> GaussianJoint:
        return replace(self, weights=weights, given=given) if self.blend == 1 else self

    def tally_size(self, k: int, d: int) -> int:
        """Numbers in a dense tally."""
        return d * d * (1 if self.pools else k)

    def tally(self, x: Reals, y, w, k: int) -> Scatter | RowScatter | Quartic:
        if self.shrinkage == "auto":
            return ops.quartic(x, y, w, k)
        return ops.scatter(x, y, w, k, self.pools)

    def shrunk(self, t: Scatter | RowScatter | Quartic) -> list[Covariance]:
        covs = class_covariances(t)
        if self.shrinkage == "auto":
            return [
                shrink(cov, *ledoit_wolf(t, c)) if t.n[c] > 0 else cov  # type: ignore[arg-type]
                for c, cov in enumerate(covs)
            ]
        if self.blend in (0, 1):
            return [shrink(cov, float(self.shrinkage)) for cov in covs]
        return covs

    def estimate(self, t: Scatter | RowScatter | Quartic) -> Params:
        mean, covs = self.gaussians(t)
        if self.blend < 1:
            return ClassGaussian.of(mean, floored(covs, t.n, self.floor))
        return self._pooled(mean, covs[0], self.priors(t))

    def _pooled(self, mean: np.ndarray, cov: Covariance, priors: np.ndarray) -> PooledGaussian:
        out = PooledGaussian.of(mean, cov, priors @ mean, self.tol)
        return out if self.span is None else out.within(Axes.from_means(out, priors, self.span))

    def gaussians(self, t: Scatter | RowScatter | Quartic) -> tuple[np.ndarray, list[Covariance]]:
        """Means (k, d) and covariances (of each class, or one for all) before the lower bound is applied."""
        covs = self.shrunk(t)
        if self.blend < 1:
            return t.mean, self.blended(covs, t.n)
        return t.mean, [covs[0] if self.pools else mixed(covs, self.priors(t) if self.mix else t.n / t.n.sum())]

    def priors(self, t: Scatter | RowScatter | Quartic) -> np.ndarray:
        """Class priors (k,): those given, or the class frequencies."""
        weights = t.n if self.weights is None else self.weights
        return weights / weights.sum()

    def blended(self, covs: Sequence[Covariance], n: np.ndarray) -> list[Covariance]:
        """Each class's covariance moved towards the pooled one, shrunk and ridged."""
        total = n.sum()
        if self.blend > 0 or (n <= 0).any():
            pooled = mixed(covs, n / total)
            covs = [self._blend(cov, pooled, weight, total) for cov, weight in zip(covs, n, strict=True)]
        if self.shrinkage != "auto" and self.blend > 0:
            covs = [shrink(cov, float(self.shrinkage)) for cov in covs]
        return [shrink(cov, self.ridge, 1.0) for cov in covs]

    def _blend(self, own: Covariance, pooled: Covariance, n: float, total: float) -> Covariance:
        if n <= 0:
            return pooled
        if self.blend == 0:
            return own
        whole = (1 - self.blend) * n + self.blend * total
        return own * ((1 - self.blend) * n / whole) + pooled * (self.blend * total / whole)  # type: ignore[operator]

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        return by_pattern(x, p, lambda part, rows: part.loglik(rows))

    def leave_one_out(self, t: Scatter | RowScatter | Quartic, x: Reals, y, w, p=None) -> np.ndarray:
        """loglik (n, k) of each row, estimated from all other rows, up to a term that all classes share; NaN where
        there is no closed form."""
        with np.errstate(all="ignore"):
            if not isinstance(t, Scatter):
                return np.full((x.n, t.k), np.nan)
            plan = cached_plan(self, t, self._without)
            if isinstance(plan, Separate):
                return plan.scores(x, y, w)
            weights = t.n if self.weights is None else self.weights
            return plan.scores(x, y, w, None if self.span is None else Span(self.span, weights, self.given))

    def _without(self, t: Scatter) -> Separate | Shared:
        if self.blend < 1:
            return Separate.of(t, self.blend, float(self.shrinkage), self.ridge, self.floor**2)
        return Shared.of(t, float(self.shrinkage), self.priors(t) if self.mix else None, self.tol)

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return by_pattern(x, p, lambda part, rows: part.carrier(rows))

    def splits(self, p: Params) -> bool:
        return p.splits

    def linear(self, p: Params) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(p, ClassGaussian):
            raise DataError(
                "each class has its own covariance: the posterior is quadratic in x\n\nhint: pool them (`blend=1`)"
            )
        return p.coef.table, p.bias

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return values_around(p.mean, np.sqrt(np.stack([cov.variances for cov in p.covs])))

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        return {"means": Parameter(), "covariance": Parameter("dd" if self.blend == 1 else "kdd")}

    def parameters_from(self, weights: np.ndarray, *, means: np.ndarray, covariance: np.ndarray) -> Params:  # type: ignore[override]
        if self.blend < 1:
            return ClassGaussian.of(means, [DenseCovariance(matrix) for matrix in covariance])
        weights = weights if self.weights is None else self.weights
        return self._pooled(means, DenseCovariance(covariance), weights / weights.sum())

    def gradient(self, t: Scatter | RowScatter | Quartic, p: Params) -> dict[str, np.ndarray]:
        n, apart, eye = t.n, t.mean - p.mean, np.eye(p.mean.shape[1])
        shared, weights = isinstance(p, PooledGaussian), n.sum(keepdims=True) if t.pooled else n
        squares = np.stack([cov.dense() * w for cov, w in zip(class_covariances(t), weights, strict=True)])
        between = np.einsum("k,ki,kj->kij", n, apart, apart)
        if shared:
            n, squares, between = n.sum(keepdims=True), squares.sum(axis=0)[None], between.sum(axis=0)[None]
        inverse = np.stack([cov.inverse().apply(eye) for cov in p.covs])
        by_mean = t.n[:, None] * np.einsum("kij,kj->ki", np.broadcast_to(inverse, (t.k, *eye.shape)), apart)
        by_covariance = 0.5 * (inverse @ (squares + between) @ inverse - n[:, None, None] * inverse)
        return {"means": by_mean, "covariance": by_covariance[0] if shared else by_covariance}

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * d + len(p.covs) * d * (d + 1) // 2

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return draw(p.mean, p.covs, y, rng)


FAMILY = GaussianJoint
