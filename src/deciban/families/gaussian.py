"""Independent Gaussians: log p(x | c) = Σ_j log N(x_j; mean, var).

Tally: `Moments`. Estimate: the mean, and var = m2 / (n − ddof) + smoothing · (largest variance of any column over all
rows). `ddof=1` is the sample variance. With `shared`, var = Σ_c m2 / Σ_c (n − ddof) + …, one for all classes: the log
likelihood is linear in x up to a term that all classes share. A missing cell is integrated out: it adds nothing. A
class with no value of a column uses the moments of all rows there.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> g = Gaussian(smoothing=0)
>>> x, y = Reals(np.array([[1.0], [3.0], [10.0], [14.0]])), np.array([0, 0, 1, 1], dtype=np.int32)
>>> p = g.estimate(g.tally(x, y, None, 2))
>>> p.mean.tolist(), p.var.tolist()
([[2.0], [12.0]], [[1.0], [4.0]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.family import Family
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.linear import LinearScores, quadratic_terms
from deciban.estimation.parameters import Parameter
from deciban.estimation.ranges import values_around
from deciban.estimation.sensitivity import LocationScale
from deciban.gaussian import columns as normals
from deciban.gaussian.columns import NormalColumns
from deciban.tallies import Bundle, Moments, SharedTally
from deciban.tallies.basic import column

Params = NormalColumns


@dataclass(frozen=True)
class Gaussian(Family):
    smoothing: float = 1e-9
    ddof: float = 0.0
    each: bool = False  # whether smoothing refers to the column's own variance
    shared: bool = False  # whether all classes have the same variances
    unweighted: bool = False  # whether smoothing refers to unweighted rows, which needs a second tally
    block, support = "reals", "real"
    shared_tally = "moments"
    parameters = {"theta": Parameter(), "var": Parameter(values="positive")}

    def tally(self, x: Reals | Counts, y, w, k: int) -> Moments | Bundle:
        own = ops.moments(x, y, w, k)
        if not self.unweighted:
            return own
        alike = own.collapse() if w is None else ops.moments(x, np.zeros(x.n, dtype=np.int32), None, 1)
        return Bundle((own, SharedTally(alike)))

    def moments(self, t: Moments | Bundle) -> tuple[Moments, Moments]:
        """(moments by class, moments of all rows as one class, which smoothing refers to)"""
        return (t.parts[0], t.parts[1].part) if isinstance(t, Bundle) else (t, t.collapse())

    def epsilon(self, t: Moments | Bundle) -> float:
        """The amount added to every variance."""
        return normals.variance_smoothing(self.moments(t)[1], self.smoothing, self.each)

    def estimate(self, t: Moments | Bundle) -> Params:
        return NormalColumns.of(self.moments(t)[0], self.epsilon(t), self.ddof, self.shared)

    def parameters_from(self, weights: np.ndarray, *, theta: np.ndarray, var: np.ndarray) -> Params:  # type: ignore[override]
        return NormalColumns.from_parameters(theta, var)

    def gradient(self, t: Moments | Bundle, p: Params) -> dict[str, np.ndarray]:
        return dict(zip(self.parameters, p.gradient(self.moments(t)[0]), strict=True))

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.loglik(x)

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return p.parts(x)

    def linear(self, p: Params, degree: int = 1) -> LinearScores | None:
        if not self.shared and degree < 2:
            return None
        centre = p.mean.mean(axis=0) if self.shared else 0.0  # a term that all classes share is left out
        inverse = p.scale**2
        slope, bias = (p.mean - centre) * inverse, -0.5 * (p.mean - centre) * (p.mean + centre) * inverse
        if self.shared:
            return LinearScores(slope, bias.sum(axis=1), bias)
        share = np.hstack([bias + p.share, np.zeros_like(bias)])
        terms = quadratic_terms(slope.shape[1], products=False)
        return LinearScores(np.hstack([slope, -0.5 * inverse]), share.sum(axis=1), share, terms)

    def estimates(self, p: Params) -> dict[str, np.ndarray]:
        return {"mean": p.mean, "deviation": np.sqrt(p.var)}

    def leave_one_out(self, t: Moments | Bundle, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        own, everything = self.moments(t)
        everything = everything if self.unweighted else None  # type: ignore[assignment]
        left = normals.leave_one_out_shared if self.shared else normals.leave_one_out
        return left(own, x, y, w, self.smoothing, self.ddof, everything, self.each)

    def parts_without(self, t: Moments | Bundle, p: Params, out: LeftOut, x: Reals | Counts) -> PartsLeft | None:
        own, everything = self.moments(t)
        every = everything if self.unweighted else None
        return normals.parts_without(own, out, x.dense(), self.smoothing, self.ddof, self.shared, every, self.each)

    def sensitivity(self, t: Moments | Bundle, p: Params) -> LocationScale | None:
        if self.shared:
            return None
        return LocationScale.of(p.mean, p.scale, column(self.moments(t)[0].n))

    def evidence_by_column(self, t: Moments, p: Params | None) -> np.ndarray:
        return normals.dependence_evidence(t)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return values_around(p.mean, np.sqrt(p.var))

    def n_parameters(self, p: Params, k: int, d: int) -> int:
        return k * d + (1 if self.shared else k) * d

    def n_parameters_joint(self, p: Params, k: int, d: int) -> int:
        """Of normal densities with full covariances."""
        return k * (d + d * (d + 1) // 2)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(p.scale[y] > 0, rng.normal(p.mean[y], np.sqrt(p.var[y])), np.nan)


FAMILY = Gaussian
