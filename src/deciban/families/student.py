"""Normal columns whose mean and variance are averaged out: log p(x | c) = Σ_j log t(x_j; 2a, m, √(b (κ + 1) / (a κ))).

The prior is normal–inverse-gamma: variance ~ 1 / Gamma(shape, scale), mean ~ N(mean, variance / kappa). After n rows,
 κ = kappa + n, m = (kappa · mean + n x̄) / κ, a = shape + n / 2, b = scale + ½ m2 + ½ kappa n / κ (x̄ − mean)².
Where `mean` is None it is that of all rows; where `scale` is, it is shape · (variance within the classes + smoothing ·
variance of all rows): a prior worth 2 · shape rows. Tally: `Moments`. With `log` it is the density of log x, x > 0;
−Σ log x is the same for all classes and is in `carrier`.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, x = Student(mean=0.0, kappa=1.0, shape=1.0, scale=1.0), Reals(np.array([[1.0], [3.0]]))
>>> t = f.tally(x, np.zeros(2, dtype=np.int32), None, 1)
>>> p = f.estimate(t)
>>> p.df.tolist(), p.loc.round(3).tolist(), p.scale.round(3).tolist(), f.evidence(t).round(3).tolist()
([[4.0]], [[1.333]], [[1.491]], [-4.795])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.estimation.dependence import both_ways
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import (
    blocks,
    cached_plan,
    moments_left,
    moments_without,
    not_in_sums,
    row_sums,
    set_own,
    sums_of_others,
    weight,
)
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.sensitivity import JoinedSensitivity, LocationScale
from deciban.gaussian import columns as normals
from deciban.gaussian.leave_one_out import DEEP, GivenPrior, students
from deciban.ops import leave_one_out
from deciban.ops.spec import Students
from deciban.tallies import Moments
from deciban.tallies.basic import column

FLOOR = 1e-290  # lower bound of the scale: a column of one value has a finite density


@dataclass(frozen=True)
class Params:
    df: np.ndarray  # (k, d), or (k, 1) where all columns have the same
    loc: np.ndarray  # (k, d)
    scale: np.ndarray  # (k, d)
    share: np.ndarray  # (k, d), log of the density at loc

    @classmethod
    def of(cls, kappa: np.ndarray, loc: np.ndarray, shape: np.ndarray, scale: np.ndarray) -> Params:
        """Predictive density of a normal–inverse-gamma posterior."""
        wide = (kappa + 1.0) / kappa
        flat = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * wide)
        return cls(2.0 * shape, loc, np.sqrt(scale * wide / shape), flat - 0.5 * np.log(scale))

    @cached_property
    def spread(self) -> np.ndarray:
        """(k, d), what a distance from loc is divided by."""
        return self.scale * np.sqrt(np.broadcast_to(self.df, self.loc.shape))

    @cached_property
    def power(self) -> np.ndarray:
        """(k, d)"""
        return 0.5 * (np.broadcast_to(self.df, self.loc.shape) + 1.0)


@dataclass(frozen=True)
class Student(Family):
    mean: float | np.ndarray | None = None
    kappa: float = 0.01
    shape: float = 0.5
    scale: float | np.ndarray | None = None
    smoothing: float = 1e-9
    log: bool = False

    @property
    def block(self) -> str:  # type: ignore[override]
        return "dense" if self.log else "reals"

    @property
    def support(self) -> str:  # type: ignore[override]
        return "positive" if self.log else "real"

    @property
    def shared_tally(self) -> str:  # type: ignore[override]
        """Name of the tally, among those that `ops.cells` makes from the same cells."""
        return "log_moments" if self.log else "moments"

    def tally(self, x: Reals | Counts, y, w, k: int) -> Moments:
        return ops.moments(self._read(x), y, w, k)

    def _read(self, x: Reals | Counts) -> Reals | Counts:
        return normals.logs(x) if self.log else x

    def estimate(self, t: Moments) -> Params:
        prior = self._prior(t)
        own = t.filled() if self._borrows else t
        return Params.of(*self._posterior(column(own.n), own.mean, own.m2, *prior))

    @property
    def _borrows(self) -> bool:
        """Whether the prior comes from all rows: then a class without rows uses all rows."""
        return self.mean is None or self.scale is None

    def _prior(self, t: Moments) -> tuple:
        """(mean, scale), each one number or (d,)."""
        pooled = t.collapse()
        return self._weak((column(pooled.n)[0], pooled.mean[0], pooled.m2[0]), t.m2.sum(axis=0))

    def _weak(self, every: tuple[np.ndarray, ...], within: np.ndarray) -> tuple:
        """Prior mean and scale where they are not given, from (n, mean, m2) of all rows and the squares within
        classes."""
        n, mean, m2 = every
        scale = self.scale
        if scale is None:
            scale = normals.prior_scale(n, m2, within, self.shape, self.smoothing)
        return mean if self.mean is None else self.mean, scale

    def _posterior(self, n, mean, m2, prior_mean, prior_scale) -> tuple:
        kappa = self.kappa + n
        delta = mean - prior_mean
        scale = prior_scale + 0.5 * m2 + (0.5 * self.kappa * n / kappa) * delta * delta
        return kappa, prior_mean + delta * (n / kappa), self.shape + 0.5 * n, scale

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        k = len(p.loc)
        white, bias, power = 1.0 / p.spread, p.share.sum(axis=1), p.power
        out = np.empty((x.n, k))
        x = self._read(x)
        for rows, cells in blocks(x):
            for c in range(k):
                z = cells - p.loc[c]
                z *= white[c]
                z *= z
                np.log1p(z, out=z)
                out[rows, c] = bias[c] - np.einsum("ij,j->i", z, power[c])
            odd = np.flatnonzero(np.isnan(out[rows]).any(axis=1))
            if len(odd):
                out[odd + rows.start] = self._parts(p, cells[odd]).sum(axis=2)
        return out

    def parts(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return self._parts(p, self._read(x).dense())

    def _parts(self, p: Params, cells: np.ndarray) -> np.ndarray:
        z = (cells[:, None, :] - p.loc) / p.spread
        return np.where(np.isnan(z), 0.0, p.share - p.power * np.log1p(z * z))

    def estimates(self, p: Params) -> dict[str, np.ndarray]:
        of = " of logs" if self.log else ""
        return {f"location{of}": p.loc, f"scale{of}": p.scale}

    def carrier(self, p: Params, x: Reals | Counts) -> np.ndarray:
        return normals.log_jacobian(x) if self.log else np.zeros(x.n)

    def leave_one_out(self, t: Moments, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        """A prior from all rows changes with each row left out, and with it every class."""
        x = self._read(x)
        if w is not None or not isinstance(x, Reals) or t.n.ndim > 1 or (t.n <= 0).any():
            return self._by_cell(t, x, y, w)
        out = leave_one_out.loo_students(x.dense(), y, cached_plan(self, t, self._students), DEEP)
        odd = np.flatnonzero(np.isnan(out[:, 0]))  # a cell is missing, or rounding errors are too large
        if len(odd):
            out[odd] = self._by_cell(t, x.take(odd), y[odd], None)
        return out

    def _students(self, t: Moments) -> Students:
        mean, scale = (np.broadcast_to(np.asarray(a, dtype=float), t.mean.shape[1:]) for a in self._prior(t))
        moves = self.mean is None, self.scale is None
        return students(t, GivenPrior(mean, scale, self.kappa, self.shape, FLOOR, self.smoothing, *moves))

    def _by_cell(self, t: Moments, x: Reals | Counts, y, w) -> np.ndarray:
        """Leave-one-out with weights, missing cells and sparse rows."""
        out = replace(self, log=False).loglik(self.estimate(t), x)
        pooled, others = t.collapse(), sums_of_others(t.m2)
        n = column(t.n)
        for rows, cells in blocks(x):
            own = moments_left(t, cells, y[rows], weight(w, rows))
            every = moments_left(pooled, cells, np.zeros_like(y[rows]), weight(w, rows))
            prior = self._weak(every, others.take(y[rows], axis=0) + own[2])
            for c in range(t.k if self._borrows else 0):
                moments = self._or_all((n[c], t.mean[c], t.m2[c]), every)
                out[rows, c] = _score(cells, *self._posterior(*moments, *prior))
            scores = _score(cells, *self._posterior(*self._or_all(own, every), *prior))
            set_own(out, y, np.where(not_in_sums(own[2]), np.nan, scores), rows)
        return out

    def parts_without(self, t: Moments, p: Params, out: LeftOut, x: Reals | Counts) -> PartsLeft | None:
        """A prior from all rows changes with each group left out, and with it every class."""
        if self._borrows and (t.n <= 0).any():
            return None
        out, cells = out.of_block(self._read(out.x)), self._read(x).dense()
        left = moments_without(t, out, ops.moments)
        prior: tuple = self._prior(t)
        if self._borrows:
            rest = moments_without(t.collapse(), out.of_groups(), ops.moments)
            within = t.m2.sum(axis=0) - out.by_group(t.m2.take(out.y, axis=0) - left.m2)
            prior = self._weak((rest.n, rest.mean, rest.m2), within)
        here = [each[out.group] if np.ndim(each) == 2 else each for each in prior]
        own = _parts(cells[:, None, :], *self._posterior(left.n, left.mean, left.m2, *here))
        own[:, ((left.n <= 0) & self._borrows | (left.n < 0) | (left.m2 < 0)).any(axis=1)] = np.nan
        if not self._borrows:
            return PartsLeft(own)
        there = [each[:, None, :] if np.ndim(each) == 2 else each for each in prior]
        every = _parts(cells[:, None, None, :], *self._posterior(column(t.n), t.mean, t.m2, *there))
        every[:, out.group, out.y] = own
        return PartsLeft(None, every)

    def _or_all(self, moments: tuple[np.ndarray, ...], every: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """(n, mean, m2) of a class, or of all rows where the class has none."""
        empty = moments[0] <= 0
        if not self._borrows or not empty.any():
            return moments
        return tuple(np.where(empty, a, b) for a, b in zip(every, moments, strict=True))

    def evidence(self, t: Moments) -> np.ndarray:
        """log marginal likelihood (k,) of each class's cells under the prior."""
        return self._evidences(t).sum(axis=1)

    def _evidences(self, t: Moments) -> np.ndarray:
        """The same by column, (k, d)."""
        mean, scale = self._prior(t)
        return normals.normal_gamma_evidence(t, mean, scale, self.kappa, self.shape)

    def evidence_by_column(self, t: Moments, p: Params | None) -> np.ndarray:
        return both_ways(self._evidences, t)

    def sensitivity(self, t: Moments, p: Params) -> JoinedSensitivity:
        n, df = np.broadcast_to(column(t.n), p.loc.shape), np.broadcast_to(p.df, p.loc.shape)
        rows = np.where(n > 0, np.maximum(n, df), 0.0)  # the prior counts as rows
        own = LocationScale.of(p.loc, 1.0 / p.scale, rows, df)
        return JoinedSensitivity.of([own], [range(t.d)], lambda x: [self._read(x)])

    def tallied_cells(self, x: Reals | Counts) -> np.ndarray:
        return self._read(x).dense()

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        df = np.broadcast_to(p.df, p.loc.shape)
        drawn = p.loc[y] + p.scale[y] * rng.standard_t(df[y])
        return np.exp(drawn) if self.log else drawn


def _parts(cells: np.ndarray, kappa, loc, shape, scale) -> np.ndarray:
    """Log density of cells by column, each row with its own posterior; 0 for a missing cell."""
    wide = (kappa + 1.0) / kappa
    flat = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * wide)
    z = cells - loc
    z *= z
    z = z / scale
    z /= 2.0 * wide
    np.log1p(z, out=z)
    z *= -(shape + 0.5)
    z -= 0.5 * np.log(scale)
    z += flat
    return np.where(np.isnan(cells), 0.0, z) if np.isnan(cells).any() else z


def _score(cells: np.ndarray, kappa, loc, shape, scale) -> np.ndarray:
    """Log density (m,), each row with its own posterior; kappa and shape may be (1,), or (m, 1)."""
    wide = (kappa + 1.0) / kappa
    flat = gammaln(shape + 0.5) - gammaln(shape) - 0.5 * np.log(2.0 * np.pi * wide)
    z = cells - loc
    z *= z
    z /= scale
    z /= 2.0 * wide
    np.log1p(z, out=z)
    if np.shape(shape)[-1] == 1 and not np.isnan(z).any():
        logs = row_sums(np.log(np.broadcast_to(scale, z.shape)))
        return z.shape[1] * flat[..., 0] - 0.5 * logs - (shape[..., 0] + 0.5) * row_sums(z)
    return np.nansum(flat - 0.5 * np.log(scale) - (shape + 0.5) * z, axis=1)


FAMILY = Student
