"""Positive numbers whose logarithm is normal: log p(x | c) = Σ_j log N(log x_j; mean, var) − log x_j.

Tally: `Moments` of log x. Estimate: as `gaussian` (each column smoothed by itself), of the logarithms. −Σ log x is the
same for all classes; it is in `carrier`. A number that is not positive is ignored in training; in scoring it is no
evidence between classes, and its density is e^−745, the smallest positive double.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, x = Lognormal(smoothing=0), Reals(np.exp([[1.0], [3.0]]))
>>> p = f.estimate(f.tally(x, np.zeros(2, dtype=np.int32), None, 1))
>>> p.mean.tolist(), p.var.tolist(), (f.loglik(p, x)[0] + f.carrier(p, x)[0]).round(3).tolist()
([[2.0]], [[1.0]], [-2.419])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.data.blocks import Reals
from deciban.estimation.family import Family
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.estimation.ranges import STEPS, values_around
from deciban.estimation.sensitivity import JoinedSensitivity, LocationScale
from deciban.gaussian import columns as normals
from deciban.gaussian.columns import NormalColumns, logs
from deciban.tallies import Moments
from deciban.tallies.basic import column

Params = NormalColumns


@dataclass(frozen=True)
class Lognormal(Family):
    smoothing: float = 1e-9
    ddof: float = 0.0
    block, support = "dense", "positive"
    shared_tally = "log_moments"

    def tally(self, x: Reals, y, w, k: int) -> Moments:
        return ops.moments(logs(x), y, w, k)

    def estimate(self, t: Moments) -> Params:
        return NormalColumns.of(t, normals.variance_smoothing(t.collapse(), self.smoothing, each=True), self.ddof)

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        return p.loglik(logs(x))

    def carrier(self, p: Params, x: Reals) -> np.ndarray:
        return normals.log_jacobian(x)

    def parts(self, p: Params, x: Reals) -> np.ndarray:
        return p.parts(logs(x))

    def leave_one_out(self, t: Moments, x: Reals, y, w, p=None) -> np.ndarray:
        return normals.leave_one_out(t, logs(x), y, w, self.smoothing, self.ddof, each=True)

    def parts_without(self, t: Moments, p: Params, out: LeftOut, x: Reals) -> PartsLeft | None:
        rows, cells = out.of_block(logs(out.x)), logs(x).dense()
        return normals.parts_without(t, rows, cells, self.smoothing, self.ddof, each=True)

    def sensitivity(self, t: Moments, p: Params) -> JoinedSensitivity:
        own = LocationScale.of(p.mean, p.scale, column(t.n))
        return JoinedSensitivity.of([own], [range(t.d)], lambda x: [logs(x)])

    def evidence_by_column(self, t: Moments, p: Params | None) -> np.ndarray:
        return normals.dependence_evidence(t)

    def tallied_cells(self, x: Reals) -> np.ndarray:
        return logs(x).dense()

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        ends = [np.exp(logs[[0, -1]]) for logs in values_around(p.mean, np.sqrt(p.var))]
        return [np.linspace(low, high, STEPS) for low, high in ends]

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.where(p.scale[y] > 0, np.exp(rng.normal(p.mean[y], np.sqrt(p.var[y]))), np.nan)


FAMILY = Lognormal
