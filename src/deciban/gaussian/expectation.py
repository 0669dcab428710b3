"""What rows with missing cells are expected to add to the tally of a joint Gaussian: the E-step of EM.

Let N(μ, Σ) be the Gaussian of the row's class and K = Σ⁻¹. Given the cells o that are there, those missing, m, have the
mean μ_m − K_mm⁻¹ K_mo (x_o − μ_o) and the covariance K_mm⁻¹. So the row adds what it would add with these means filled
in, and K_mm⁻¹ to the scatter; and log N(x_o; μ_o, Σ_oo) to the log likelihood. All of it is a sum over rows.

Rows with the same number of missing cells are one batch: its small inverses are one call, and rows of one kind (class
and pattern) share theirs. Nearly every row may be of a kind of its own. Many rows of one kind are tallied once: what is
filled in is linear in what is there, so their mean and scatter say all, and a step takes no longer for more of them.

>>> import numpy as np
>>> x, y = Reals(np.array([[1.0, np.nan], [np.nan, np.nan]])), np.zeros(2, dtype=np.int32)
>>> g = Gaussians.of(np.zeros((1, 2)), np.array([[[1.0, 0.5], [0.5, 1.0]]]))
>>> one, two = (expected(holes, g) for holes in batches(x, y, None, 1))
>>> e = one + two  # of (1, ½) and (0, 0), with ¾ and Σ left over
>>> e.tally.mean.tolist(), e.tally.scatter.tolist()
([[0.5, 0.25]], [[[1.5, 0.75], [0.75, 1.875]]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy import linalg

from deciban import ops
from deciban.gaussian.joint import LOG_2PI
from deciban.table import Reals
from deciban.tallies import Scatter

BATCH = 1 << 20  # numbers that the inverses of a batch may take, gathered row by row
CROWD = 8  # times the columns: so many rows of one kind are kept as their mean and scatter


@dataclass(frozen=True)
class Gaussians:
    """A Gaussian for each class, by the inverse of its correlations; one covariance may serve all classes."""

    mean: np.ndarray  # (k, d)
    deviation: np.ndarray  # (k or 1, d)
    inverse: np.ndarray  # (k or 1, d, d)
    logdet: np.ndarray  # (k or 1,), of the covariance

    @classmethod
    def of(cls, mean: np.ndarray, matrices: np.ndarray) -> Gaussians:
        """From covariance matrices, (k or 1, d, d)."""
        deviation = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
        correlation = matrices / deviation[:, :, None] / deviation[:, None, :]
        logdet = linalg.slogdet(correlation)[1] + 2 * np.log(deviation).sum(axis=1)
        return cls(mean, deviation, linalg.inv(correlation), logdet)

    @property
    def shared(self) -> bool:
        return len(self.inverse) < len(self.mean)

    def at(self, y: np.ndarray) -> np.ndarray:
        """Where the covariance of each class in y stands."""
        return np.zeros_like(y) if self.shared else y

    def loglik(self, t: Scatter) -> float:
        """Σ w log N(x; μ, Σ) of complete rows, from their tally."""
        n, d = t.n, t.mean.shape[1]
        where = self.at(np.arange(len(n)))
        delta = (t.mean - self.mean) / self.deviation[where]
        scale = self.deviation[: len(t.scatter)]
        within = np.broadcast_to(self.inverse, t.scatter.shape) * (t.scatter / scale[:, :, None] / scale[:, None, :])
        between = np.einsum("c,ci,cij,cj->", n, delta, self.inverse[where], delta)
        return -0.5 * float(n @ self.logdet[where] + n.sum() * d * LOG_2PI + within.sum() + between)

    def prior(self, variances: np.ndarray) -> float:
        """−½ Σ (log |Σ| + tr Σ⁻¹ V) over the covariances: what a row of these variances and no correlation adds to the
        log likelihood, up to a constant."""
        scaled = np.diagonal(self.inverse, axis1=1, axis2=2) * variances / self.deviation**2
        return -0.5 * float(self.logdet.sum() + scaled.sum())


@dataclass(frozen=True)
class Holes:
    """Rows that miss the same number m of cells each, and the kinds among them: class and pattern. Where `scatter` is
    there, each row is the mean of many of one kind, and that is their scatter about it (0 where cells are missing)."""

    cells: np.ndarray  # (r, d)
    y: np.ndarray  # (r,)
    w: np.ndarray  # (r,)
    kind: np.ndarray  # (r,)
    gone: np.ndarray  # (kinds, m): which columns
    y_kind: np.ndarray  # (kinds,)
    w_kind: np.ndarray  # (kinds,)
    k: int
    scatter: np.ndarray | None = None  # (r, d, d)

    @classmethod
    def of(cls, cells: np.ndarray, y: np.ndarray, w: np.ndarray, kind: np.ndarray, k: int, scatter=None) -> Holes:
        _, first, kind = np.unique(kind, return_index=True, return_inverse=True)
        gone = np.nonzero(np.isnan(cells[first]))[1].reshape(len(first), -1)
        return cls(cells, y, w, kind.ravel(), gone, y[first], np.bincount(kind.ravel(), w), k, scatter)


@dataclass(frozen=True)
class _Rows:
    """Rows of all kinds with missing cells, before they are cut into batches."""

    cells: np.ndarray
    y: np.ndarray
    w: np.ndarray
    kind: np.ndarray
    k: int
    scatter: np.ndarray | None = None

    def cut(self, numbers: int) -> list[Holes]:
        """Batches of about so many numbers, by how many cells are missing."""
        missing, d = np.isnan(self.cells).sum(axis=1), self.cells.shape[1]
        order = np.lexsort((self.kind, self.y, missing))
        out = []
        for m in np.unique(missing):
            rows = order[missing[order] == m]
            step = max(1, numbers // (int(m) ** 2 + d + (0 if self.scatter is None else 2 * d * d)))
            for part in np.split(rows, range(step, len(rows), step)):
                scatter = None if self.scatter is None else self.scatter[part]
                out.append(Holes.of(self.cells[part], self.y[part], self.w[part], self.kind[part], self.k, scatter))
        return out


@dataclass(frozen=True)
class Expected:
    """Expected statistics and the log likelihood of what was seen; adds like a tally."""

    tally: Scatter
    loglik: float

    def __add__(self, other: Expected) -> Expected:
        return Expected(self.tally + other.tally, self.loglik + other.loglik)


def batches(x: Reals, y: np.ndarray, w: np.ndarray | None, k: int) -> list[Holes]:
    """The rows with missing cells (and some weight), by how many they miss."""
    some = np.isnan(x.values).any(axis=1)
    rows = np.flatnonzero(some if w is None else some & (w > 0))
    cells = np.array(x.values[rows], dtype=np.float64)
    y, w = y[rows].astype(np.intp), np.ones(len(rows)) if w is None else w[rows]
    keys = np.hstack([y[:, None].view(np.uint8), np.packbits(np.isnan(cells), axis=1)])
    _, kind, count = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_inverse=True, return_counts=True)
    kind, numbers = kind.ravel(), max(BATCH, 4 * k * x.d**2)
    few = count[kind] < CROWD * x.d
    out = _Rows(cells[few], y[few], w[few], kind[few], k).cut(numbers) if few.any() else []
    if not few.all():
        out += _crowds(cells[~few], y[~few], w[~few], kind[~few], k).cut(numbers)
    return out


def _crowds(cells: np.ndarray, y: np.ndarray, w: np.ndarray, kind: np.ndarray, k: int) -> _Rows:
    """A row for each kind: its mean, with its weight and scatter."""
    order = np.argsort(kind, kind="stable")
    means, classes, weights, scatters = [], [], [], []
    for rows in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
        mean = w[rows] @ cells[rows] / w[rows].sum()
        centred = np.nan_to_num(cells[rows] - mean, nan=0.0)
        means.append(mean)
        classes.append(y[rows[0]])
        weights.append(w[rows].sum())
        scatters.append((centred * w[rows, None]).T @ centred)
    return _Rows(np.array(means), np.array(classes), np.array(weights), np.arange(len(means)), k, np.array(scatters))


def expected(holes: Holes, g: Gaussians, pooled: bool = False) -> Expected:
    """What a batch adds, given the Gaussians; `pooled`: the scatter of all classes as one."""
    y, d = holes.y, holes.cells.shape[1]
    deviation = g.deviation[g.at(y)]
    z = np.nan_to_num((holes.cells - g.mean[y]) / deviation, nan=0.0)
    pull = _weighed(z, y, g)
    kind, gone, where = holes.kind, holes.gone, g.at(holes.y_kind)
    inner = g.inverse[where[:, None, None], gone[:, :, None], gone[:, None, :]]
    left = linalg.inv(inner)  # the covariance of the missing cells, in units of their deviations
    mine = gone[kind]
    pulled = np.take_along_axis(pull, mine, axis=1)
    filled = -np.matmul(left[kind], pulled[:, :, None])[:, :, 0]
    norms = np.einsum("ij,ij->i", z, pull) + np.einsum("ij,ij->i", pulled, filled)
    np.put_along_axis(z, mine, filled, axis=1)
    spread = g.deviation[where[:, None], gone]
    logdet = g.logdet[where] + linalg.slogdet(inner)[1] - 2 * np.log(spread).sum(axis=1)  # of Σ_oo
    logdet += (d - gone.shape[1]) * LOG_2PI
    loglik = -0.5 * float(holes.w @ norms + holes.w_kind @ logdet)
    # observed cells go in as they came: mean + (cell − mean) would lose digits far from zero
    cells = np.where(np.isnan(holes.cells), g.mean[y] + z * deviation, holes.cells)
    tally: Scatter = ops.scatter(Reals(cells), y.astype(np.int32), holes.w, holes.k, pooled).dense()  # type: ignore[assignment]
    scatter = tally.scatter + _placed(left * holes.w_kind[:, None, None] * _outer(spread), holes, pooled)
    if holes.scatter is not None:
        within = _lifted(holes, g, left)
        loglik -= 0.5 * float((g.inverse[where] * within).sum())
        group = np.zeros_like(holes.y_kind) if pooled else holes.y_kind
        np.add.at(scatter, group, within * _outer(g.deviation[where]))
    return Expected(replace(tally, scatter=scatter), loglik)


def _outer(scale: np.ndarray) -> np.ndarray:
    return scale[:, :, None] * scale[:, None, :]


def _lifted(holes: Holes, g: Gaussians, left: np.ndarray) -> np.ndarray:
    """The scatter of the rows about their means once cells are filled in, in units of the deviations, (kinds, d, d)."""
    where = g.at(holes.y_kind)
    lift = np.tile(np.eye(holes.cells.shape[1]), (len(where), 1, 1))
    slope = -left @ g.inverse[where[:, None], holes.gone]
    np.put_along_axis(lift, holes.gone[:, :, None], slope, axis=1)
    return lift @ (holes.scatter / _outer(g.deviation[where])) @ lift.transpose(0, 2, 1)


def _weighed(z: np.ndarray, y: np.ndarray, g: Gaussians) -> np.ndarray:
    """K z of each row, by the K of its class."""
    if g.shared or len(g.inverse) == 1:
        return z @ g.inverse[0]
    out = np.empty_like(z)
    for c in np.unique(y):
        mine = y == c
        out[mine] = z[mine] @ g.inverse[c]
    return out


def _placed(left: np.ndarray, holes: Holes, pooled: bool) -> np.ndarray:
    """Σ of the kinds' (m, m) matrices at their places, (k or 1, d, d)."""
    d, groups = holes.cells.shape[1], 1 if pooled else holes.k
    group = np.zeros_like(holes.y_kind) if pooled else holes.y_kind
    at = ((group[:, None] * d + holes.gone)[:, :, None] * d + holes.gone[:, None, :]).ravel()
    return np.bincount(at, left.ravel(), minlength=groups * d * d).reshape(groups, d, d)
