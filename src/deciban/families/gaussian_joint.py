"""Gaussians with full covariance: log p(x | c) = log N(x; mean_c, Σ_c).

Tally: `Scatter`, of products without rounding if `exact`; else `RowScatter` while rows are fewer than columns: d × d is
never formed. Estimate (Friedman 1989):
S_c(blend) = ((1 − blend) S_c + blend S) / ((1 − blend) n_c + blend n), shrunk towards the scaled identity (or, with
"auto", by Ledoit–Wolf), then (1 − ridge) Σ + ridge · I; a singular covariance gets a lower bound for its variances.
With `fallback`, all covariances are blended by that much, where one of them is singular.
`ddof` is subtracted from each n_c: 1 makes them unbiased, the pooled one too (n less the number of classes). A class
with no more rows than that has the pooled covariance. With `diagonal`, all covariances of columns are 0.
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
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import cached_plan, moments_left, weight
from deciban.estimation.left_out import LeftOut
from deciban.estimation.linear import LinearScores, quadratic_terms
from deciban.estimation.parameters import Parameter
from deciban.estimation.ranges import values_around
from deciban.gaussian import columns as normals
from deciban.gaussian.covariance import (
    Covariance,
    DenseCovariance,
    class_covariances,
    degrees_of_freedom,
    diagonal,
    ledoit_wolf,
    shrink,
)
from deciban.gaussian.joint import (
    Axes,
    ClassGaussian,
    PooledGaussian,
    by_pattern,
    draw,
    floored,
    least_variances,
    mixed,
    singular,
    some_singular,
)
from deciban.gaussian.leave_one_out import Separate, Shared, Span
from deciban.tallies import Quartic, RowScatter, Scatter
from deciban.tallies.basic import RoundedMoments

Params = ClassGaussian | PooledGaussian


@dataclass(frozen=True)
class GaussianJoint(Family):
    blend: float = 0.0
    shrinkage: float | str = 0.0
    ridge: float = 0.0
    mix: bool = False  # with blend = 1: Σ_c prior_c Σ_c instead of the pooled covariance
    by_class: bool = False  # with blend = 1: the tally has the scatter of each class, for `mixed_by_priors`
    span: float | None = None  # with blend = 1: use only the axes of the class means whose share is at least this
    tol: float | None = None  # with blend = 1: correlation eigenvalues up to this count as 0; None: see `Covariance`
    ddof: float = 0.0
    diagonal: bool = False  # with blend < 1: columns are independent
    floor: float = 1e-4  # with blend < 1: least variance of a singular covariance, as a share of the usual variances
    fallback: float = 0.0  # with blend = 0: the blend where a class has a singular covariance; 0: none
    weights: np.ndarray | None = None  # (k,), class weights; None: those of the tally
    given: bool = False  # whether `weights` are given priors, independent of the rows
    more: np.ndarray | None = None  # (k, d), with blend < 1: variances that covariances get where rows are left out
    exact: bool = False  # the tally has products without rounding
    block, support = "dense", "real"
    columnwise = False  # a joint density of all columns
    has_parts = False
    needs_estimate = False

    @property
    def pools(self) -> bool:
        """Whether the pooled scatter is all that is needed."""
        return self.blend == 1 and not (self.mix or self.by_class) and self.shrinkage != "auto"

    def bound(self, weights: np.ndarray, given: bool) -> GaussianJoint:
        return replace(self, weights=weights, given=given) if self.blend == 1 else self

    def tally_size(self, k: int, d: int) -> int:
        """Numbers in a dense tally."""
        return d * d * (1 if self.pools and not self.exact else k)

    def tally(self, x: Reals, y, w, k: int) -> Scatter | RowScatter | Quartic:
        if self.shrinkage == "auto":
            return ops.quartic(x, y, w, k)
        return (ops.exact_scatter if self.exact else ops.scatter)(x, y, w, k, self.pools)

    def shrunk(self, t: Scatter | RowScatter | Quartic) -> list[Covariance]:
        covs = class_covariances(t, self.ddof)
        if self.shrinkage == "auto":
            return [
                shrink(cov, *ledoit_wolf(t, c, self.ddof)) if t.n[c] > 0 else cov  # type: ignore[arg-type]
                for c, cov in enumerate(covs)
            ]
        if self.blend in (0, 1):
            return [shrink(cov, float(self.shrinkage)) for cov in covs]
        return covs

    def estimate(self, t: Scatter | RowScatter | Quartic) -> Params:
        mean, covs = self._regular(t).gaussians(t)
        if self.blend < 1:
            return ClassGaussian.of(mean, floored(covs, t.n, self.floor))
        return self._pooled(mean, covs[0], self.priors(t))

    def _regular(self, t: Scatter | RowScatter | Quartic) -> GaussianJoint:
        """The family with the blend of these rows."""
        if self.fallback == 0 or not some_singular(self.shrunk(t), t.n, self.floor):
            return self
        return replace(self, blend=self.fallback, fallback=0.0)

    def _pooled(self, mean: np.ndarray, cov: Covariance, priors: np.ndarray) -> PooledGaussian:
        out = PooledGaussian.of(mean, cov, priors @ mean, self.tol)
        return out if self.span is None else out.within(Axes.from_means(out, priors, self.span))

    def gaussians(self, t: Scatter | RowScatter | Quartic) -> tuple[np.ndarray, list[Covariance]]:
        """Means (k, d) and covariances (of each class, or one for all) before the lower bound is applied."""
        if self.blend == 1 and self.mix:
            return t.mean, [self.mixed_by_priors(t)]
        covs, free = self.shrunk(t), self.free(t)
        if self.blend < 1:
            return t.mean, self.blended(covs, free)
        return t.mean, [covs[0] if self.pools else mixed(covs, free / free.sum())]

    def mixed_by_priors(self, t: Scatter | RowScatter | Quartic) -> Covariance:
        """Σ_c prior_c Σ_c, where the tally has the scatter of each class."""
        return mixed(self.shrunk(t), self.priors(t))

    def free(self, t: Scatter | RowScatter | Quartic) -> np.ndarray:
        """Degrees of freedom of the covariance of each class, (k,)."""
        return degrees_of_freedom(t.n, self.ddof)

    def priors(self, t: Scatter | RowScatter | Quartic) -> np.ndarray:
        """Class priors (k,): those given, or the class frequencies."""
        weights = t.n if self.weights is None else self.weights
        return weights / weights.sum()

    def blended(self, covs: Sequence[Covariance], n: np.ndarray) -> list[Covariance]:
        """Each class's covariance moved towards the pooled one, shrunk and ridged; n: degrees of freedom (k,)."""
        total = n.sum()
        if self.blend > 0 or (n <= 0).any():
            pooled = mixed(covs, n / total if total > 0 else np.full(len(n), 1 / len(n)))
            covs = [self._blend(cov, pooled, weight, total) for cov, weight in zip(covs, n, strict=True)]
        if self.shrinkage != "auto" and self.blend > 0:
            covs = [shrink(cov, float(self.shrinkage)) for cov in covs]
        covs = [shrink(cov, self.ridge, 1.0) for cov in covs]
        return [diagonal(cov) for cov in covs] if self.diagonal else covs

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
            if self.diagonal:
                return self._regular(t)._left_of_columns(t, x, y, w)
            plan = cached_plan(self, t, self._without)
            if isinstance(plan, Separate):
                return plan.scores(x, y, w)
            weights = t.n if self.weights is None else self.weights
            return plan.scores(x, y, w, None if self.span is None else Span(self.span, weights, self.given))

    def loglik_without(self, t: Scatter | RowScatter | Quartic, p: Params, out: LeftOut, x: Reals) -> np.ndarray | None:
        """Of rows that are left out one by one. Rows with missing cells were not learned; missing cells of x are
        integrated out."""
        if not isinstance(t, Scatter) or out.row_part is not None:
            return None
        cells, rows, found = x.dense(), out.x.dense(), np.empty((x.n, out.groups, t.k))
        gaps = np.isnan(rows).any(axis=1)
        for q, cell in enumerate(cells):
            known = np.flatnonzero(~np.isnan(cell))
            whole = len(known) == t.d
            if not whole and (self.shrinkage or self.ridge or self.span is not None or not len(known)):
                found[q] = np.nan
                continue
            part = t if whole else t.part(known)
            some = out.of_block(out.x if whole else Reals(np.ascontiguousarray(rows[:, known])))
            with np.errstate(all="ignore"):
                found[q] = self._scores_without(part, some, cell[None, known])
            found[q, gaps] = self.loglik(p, x.take(np.array([q])))
        return found

    def _scores_without(self, t: Scatter, out: LeftOut, x: np.ndarray) -> np.ndarray:
        """(rows, k), of a complete row x (1, d)."""
        if self.diagonal:
            regular, own = (
                self._regular(t),
                RoundedMoments(t.n, t.mean, np.diagonal(t.scatter, axis1=1, axis2=2).copy()),
            )
            odd = self.shrinkage or regular.ridge or regular.blend or not (self.free(t) > 0).all()
            found = None if odd or not (own.m2 > 0).all() else normals.parts_without(own, out, x, ddof=self.ddof)
            return (
                np.full((out.groups, t.k), np.nan)
                if found is None
                else found.filled(out, self._parts_of(own, x)).sum(axis=3)[0]
            )
        plan = cached_plan(self, t, self._without)
        if isinstance(plan, Separate):
            return plan.scores_of(x, out.x, out.y, out.w)[0]
        weights = t.n if self.weights is None else self.weights
        span = None if self.span is None else Span(self.span, weights, self.given)
        return plan.scores_of(x, out.x, out.y, out.w, span)[0]

    def _parts_of(self, own: RoundedMoments, x: np.ndarray) -> np.ndarray:
        """Scores by column (1, k, d) under independent columns."""
        return normals.normal_scores(x[:, None, :], own.mean, normals.variances(own, self.ddof))

    def for_second_stage(self, t: Scatter | RowScatter | Quartic) -> GaussianJoint:
        """What is added to singular covariances stays as rows are left out."""
        if not isinstance(t, Scatter) or self.blend == 1 or self.diagonal or (t.n <= 0).any():
            return self
        covs = self._regular(t).gaussians(t)[1]
        bad = np.array(singular(covs, self.floor))
        return replace(self, more=bad[:, None] * least_variances(covs, t.n, self.floor)) if bad.any() else self

    def _without(self, t: Scatter) -> Separate | Shared:
        free = self.free(t)
        if self.blend < 1:
            settings = self._regular(t).blend, float(self.shrinkage), self.ridge, self.floor**2
            return Separate.of(t, free, *settings, more=self.more)
        return Shared.of(t, free, float(self.shrinkage), self.priors(t) if self.mix else None, self.tol or 0.0)

    def _left_of_columns(self, t: Scatter, x: Reals, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """The same for independent columns: NaN where a class is left with one value of a column, and for variances
        that other variances or other classes are part of."""
        own = RoundedMoments(t.n, t.mean, np.ascontiguousarray(np.diagonal(t.scatter, axis1=1, axis2=2)))
        if self.shrinkage or self.ridge or self.blend or not (self.free(t) > 0).all() or not (own.m2 > 0).all():
            return np.full((x.n, t.k), np.nan)
        out = normals.leave_one_out(own, x, y, w, ddof=self.ddof)
        n, _, squares = moments_left(own, x.dense(), y, weight(w, slice(None)))
        flat = (squares <= 0) | (n <= self.ddof)
        out[flat.any(axis=1)] = np.nan
        return out

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return by_pattern(x, p, lambda part, rows: part.carrier(rows))

    def splits(self, p: Params) -> bool:
        return p.splits

    def linear(self, p: Params, degree: int = 1) -> LinearScores | None:
        if isinstance(p, PooledGaussian):
            return LinearScores(p.coef.table, p.bias)
        if degree < 2:
            return None
        square, slope, bias = p.quadratic()
        first, second = np.triu_indices(slope.shape[1])
        pairs = square[:, first, second] * np.where(first == second, 1.0, 2.0)
        return LinearScores(np.hstack([slope, pairs]), bias, terms=quadratic_terms(slope.shape[1], products=True))

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
        return k * d + len(p.covs) * (d if self.diagonal else d * (d + 1) // 2)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return draw(p.mean, p.covs, y, rng)


FAMILY = GaussianJoint
