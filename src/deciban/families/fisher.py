"""Fisher's discriminant: one direction for each pair of classes, w = (Σ_k + Σ_l)⁻¹ (μ_k − μ_l); not a Gaussian model.

The threshold b on w·x is the minimax one (Lanckriet et al. 2002): both class means lie the same number of their own
deviations from it, which bounds the error of either class for *every* distribution with these means and variances. The
log odds of a pair are 2 (w·x − b); pairs are coupled (Price et al. 1994): P(k) ∝ 1 / (1 + Σ_l e^−odds(k : l)). Where
all covariances agree this is exactly the LDA posterior.

Tally: `Scatter`. Rows are drawn from (and `log_density` is) the Gaussian with the class's moments, the density of most
entropy that has them.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f, x = Fisher(), Reals(np.array([[0.0], [2.0], [8.0], [12.0]]))
>>> p = f.estimate(f.tally(x, np.array([0, 0, 1, 1], dtype=np.int32), None, 2))
>>> np.abs(f.loglik(p, Reals(np.array([[4.0]])))).round(3).tolist()  # 1 + 3 · 1 = 10 − 3 · 2: three deviations each
[[0.0, 0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import linalg

from deciban import ops
from deciban.data.blocks import Reals
from deciban.errors import DataError
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import cached_plan
from deciban.estimation.linear import LinearScores
from deciban.estimation.parameters import Parameter
from deciban.gaussian.covariance import Covariance, DenseCovariance, class_covariances
from deciban.gaussian.joint import ClassGaussian, by_pattern, draw, mixed
from deciban.gaussian.leave_one_out import PairsLeft
from deciban.ops.packed import Packed
from deciban.tallies import RowScatter, Scatter


def rule(mean: np.ndarray, covs: list[Covariance], n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(coef, bias) of the log odds of all pairs of classes, in the order of `pairs`."""
    coef, bias = [], []
    for a, b in pairs(len(mean)):
        if n[a] <= 0 or n[b] <= 0:  # a class without rows has the lower score
            coef.append(np.zeros(mean.shape[1]))
            bias.append(np.inf if n[b] <= 0 else -np.inf)
            continue
        w = (covs[a] + covs[b]).inverse().apply((mean[a] - mean[b])[None])[0]  # type: ignore[operator]
        at_a, at_b = mean[a] @ w, mean[b] @ w
        dev_a, dev_b = covs[a].deviation(w), covs[b].deviation(w)
        both = dev_a + dev_b
        flat = min(dev_a, dev_b) <= 1e-9 * both  # one row, or one value: the deviation is 0
        threshold = (at_a + at_b) / 2 if flat else (dev_b * at_a + dev_a * at_b) / both
        coef.append(2.0 * w)
        bias.append(-2.0 * threshold)
    return np.reshape(coef, (len(bias), mean.shape[1])), np.array(bias)


def pairs(k: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(k) for b in range(a + 1, k)]


@cache
def table_of_pairs(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Index of the pair of classes a, b in `pairs`, (k, k), and the sign of its log odds: −1 for a : b, 1 for b : a."""
    number, sign = np.zeros((k, k), dtype=np.intp), np.zeros((k, k))
    for pair, (a, b) in enumerate(pairs(k)):
        number[a, b] = number[b, a] = pair
        sign[a, b], sign[b, a] = -1.0, 1.0
    return number, sign


def coupled(odds: np.ndarray, k: int) -> np.ndarray:
    """Scores (n, k) from the log odds of all pairs (n, pairs)."""
    if k == 2:
        return np.hstack([odds / 2, -odds / 2])
    if k == 1:
        return np.zeros((len(odds), 1))
    number, sign = table_of_pairs(k)
    out = np.empty((len(odds), k))
    with np.errstate(invalid="ignore", over="ignore"):  # rows with missing cells are NaN: scored again without those
        for a in range(k):
            against = odds[:, number[a]] * sign[a]
            against[:, a] = 0.0
            most = against.max(axis=1, keepdims=True)
            against -= np.where(np.isposinf(most), 0.0, most)
            out[:, a] = -(most[:, 0] + np.log(np.exp(against, out=against).sum(axis=1)))
    return out


def leading(mean: np.ndarray, covs: list[Covariance], n: np.ndarray, axes: int) -> np.ndarray:
    """The first `axes` eigenvectors of the scatter of the means against the pooled covariance, (d, axes)."""
    within = mixed(covs, n / n.sum()).inverse()
    spread = np.sqrt(n / n.sum())[:, None] * (mean - n @ mean / n.sum())
    inner = within.apply(spread)
    size, turn = linalg.eigh(spread @ inner.T)
    size, turn = size[::-1][:axes], turn[:, ::-1][:, :axes]
    flat = size <= 1e-12 * max(size.max(initial=0.0), 1e-300)  # classes without rows, or with the same mean
    return inner.T @ turn * np.where(flat, 0.0, 1.0 / np.sqrt(np.where(flat, 1.0, size)))


@dataclass(frozen=True)
class Params:
    mean: np.ndarray  # (k, d)
    covs: list[Covariance]
    n: np.ndarray  # (k,)
    within: int | None  # number of leading axes that the rule uses; None: all
    coef: Packed  # (pairs, d)
    bias: np.ndarray  # (pairs,)

    @classmethod
    def of(cls, mean: np.ndarray, covs: list[Covariance], n: np.ndarray, within: int | None) -> Params:
        if within is None:
            coef, bias = rule(mean, covs, n)
        else:
            turn = leading(mean, covs, n, within)
            coef, bias = rule(mean @ turn, [DenseCovariance(turn.T @ cov.dense() @ turn) for cov in covs], n)
            coef = coef @ turn.T
        return cls(mean, covs, n, within, Packed.of(coef), bias)

    def axes(self, count: int) -> np.ndarray:
        return leading(self.mean, self.covs, self.n, count)

    def part(self, columns: np.ndarray) -> Params:
        within = None if self.within is None else min(self.within, len(columns))
        return Params.of(self.mean[:, columns], [cov.part(columns) for cov in self.covs], self.n, within)

    @property
    def splits(self) -> bool:
        """Whether there are `parts`: the coupling of more than two classes is not a sum."""
        return len(self.mean) == 2 and bool(np.isfinite(self.bias).all())

    def parts(self, x: Reals) -> np.ndarray:
        """Score by column, (n, 2, d): 0 where a cell is at the threshold between both means."""
        coef = self.coef.table[0]
        at = self.mean @ coef
        share = 0.5 if at[0] == at[1] else (-self.bias[0] - at[1]) / (at[0] - at[1])
        odds = (x.dense() - (share * self.mean[0] + (1.0 - share) * self.mean[1])) * coef
        return np.stack([odds / 2, -odds / 2], axis=1)

    @property
    def ratio(self) -> np.ndarray:
        """(w·mean_a − w·mean_b)² / (w·Σ_a w + w·Σ_b w) of each pair, (pairs,); NaN: a class has no rows."""
        a, b = np.array(pairs(len(self.mean)), dtype=np.intp).reshape(-1, 2).T
        coef = self.coef.table
        between = np.einsum("pd,pd->p", coef, self.mean[a] - self.mean[b]) ** 2
        within = [self.covs[c].deviation(w) ** 2 for of in (a, b) for c, w in zip(of, coef, strict=True)]
        with np.errstate(invalid="ignore", divide="ignore"):
            return between / np.reshape(within, (2, -1)).sum(axis=0)

    def uncentred(self, x: Reals) -> np.ndarray:
        return np.zeros(x.n)

    def score(self, x: Reals) -> np.ndarray:
        return coupled(ops.affine(x, self.coef, self.bias, strict=True), len(self.mean))


@dataclass(frozen=True)
class Fisher(Family):
    within: int | None = None  # largest number of leading axes that the rule uses; None: all
    exact: bool = False  # the tally has products without rounding
    block, support = "dense", "real"
    measure = "scores of a rule"
    columnwise = False  # a joint density of all columns
    has_parts = False
    density = False
    parameters = {"means": Parameter(), "covariance": Parameter("kdd")}

    def tally_size(self, k: int, d: int) -> int:
        return k * d * d

    def row_width(self, k: int) -> int:
        """One score for each pair."""
        return len(pairs(k))

    def tally(self, x: Reals, y, w, k: int) -> Scatter | RowScatter:
        return (ops.exact_scatter if self.exact else ops.scatter)(x, y, w, k)

    def estimate(self, t: Scatter | RowScatter) -> Params:
        return self._params(t.mean, class_covariances(t), t.n)

    def parameters_from(self, weights: np.ndarray, *, means: np.ndarray, covariance: np.ndarray) -> Params:  # type: ignore[override]
        return self._params(means, [DenseCovariance(matrix) for matrix in covariance], weights)

    def _params(self, mean: np.ndarray, covs: list[Covariance], n: np.ndarray) -> Params:
        axes = None if self.within is None else min(self.within, len(mean) - 1, mean.shape[1])
        return Params.of(mean, covs, n, axes)

    def loglik(self, p: Params, x: Reals) -> np.ndarray:
        return by_pattern(x, p, lambda part, rows: part.score(rows))

    def leave_one_out(self, t: Scatter | RowScatter, x: Reals, y, w, p=None) -> np.ndarray:
        """Scores with each row left out of its class; NaN for rows without a closed form (missing cells, nearly
        singular covariances, rules that use leading axes only)."""
        k = t.k
        if self.within is not None or not isinstance(t, Scatter):
            return np.full((x.n, k), np.nan)
        p, left = cached_plan(self, t, self._plan)  # once for all chunks of rows
        number, sign = table_of_pairs(k)
        cells, out = x.dense(), np.empty((x.n, k))
        for a in np.unique(y).tolist():
            at, others = np.flatnonzero(y == a), np.flatnonzero((t.n > 0) & (np.arange(k) != a))
            rows = cells.take(at, axis=0)
            odds = ops.affine(Reals(rows), p.coef, p.bias, strict=True)
            found = left.odds(a, others, rows, None if w is None else w[at])
            odds[:, number[a, others]] = (found * -sign[a, others, None]).T
            out[at] = coupled(odds, k)
            out[at[np.isnan(found).any(axis=0)]] = np.nan
        return out

    def _plan(self, t: Scatter) -> tuple[Params, PairsLeft]:
        p = self.estimate(t)
        return p, PairsLeft.of(t.n, t.mean, np.stack([cov.dense() for cov in p.covs]))

    def splits(self, p: Params) -> bool:
        return p.splits

    def linear(self, p: Params, degree: int = 1) -> LinearScores:
        if len(p.mean) == 1:
            return LinearScores(np.zeros_like(p.mean), np.zeros(1))
        if len(p.mean) != 2:
            raise DataError("coupled pairs of more than two classes are not linear in x\n\nhint: use LDA, which is")
        half = 0.5 * p.coef.table[0], 0.5 * p.bias[0]
        return LinearScores(np.stack([half[0], -half[0]]), np.array([half[1], -half[1]]))

    def log_density(self, p: Params, x: Reals) -> np.ndarray:
        floor = [cov.plus_diagonal(1e-9 * max(cov.variances.mean(), 1e-290)) for cov in p.covs]
        return by_pattern(x, ClassGaussian.of(p.mean, floor), lambda part, rows: part.loglik(rows))

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return draw(p.mean, p.covs, y, rng)


FAMILY = Fisher
