"""Weights for the columns of naive Bayes, by conditional likelihood (WANBIA-C: Zaidi, Carman, Cerquides and Webb 2014):

    P(c | x) ∝ prior_c · exp(bias_c + Σ_j weight[c, j] · s_cj(x_j)),     s = log p(x_j | c) less its mean over classes

The tallies do not change; only the weights are fitted, a convex problem. Weights of 1 and biases of 0 are naive Bayes.
A weight is 1 + t + u_j, and 1 + t + u_j + v_cj if there are more than two classes (with two, v would add nothing) and
at most `PAIRS` pairs of a class and a column. Quadratic penalties shrink t, u, v and the biases to 0, that is to naive
Bayes. What columns say together (see `models.joint_tables`) is weighted by u_j + v_cj, which is shrunk to 0, with a
strength of its own for u:

    loss = −Σ_i w_i log P(y_i | x_i) + ½ (λ_t t² + |bias|²) + ½ λ_u |u|² + ½ λ_v |v|²

The penalty strengths λ_u and λ_v are estimated with the weights (see below); few rows have strong penalties, on t too.
Each step is a Newton step, a sum over rows; with more than `DENSE` parameters, by conjugate gradients. The start is the
best temperature t and biases with u = v = 0: unweighted naive Bayes is often so confident that Newton's steps are
short.

>>> import numpy as np
>>> from deciban.models.feature_evidence import DenseEvidence, column_evidence
>>> from deciban.families.bernoulli import Bernoulli
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.repeat([[0.0, 0, 0], [1, 1, 0], [1, 1, 1]], 20, axis=0)), np.repeat([0, 1, 1], 20).astype(np.int32)
>>> f = Bernoulli()
>>> rows = DenseEvidence(column_evidence(f, f.estimate(f.tally(x, y, None, 2))), x, kept=True)
>>> found = fit([WeightedRows(rows, y, np.ones(60))], np.log([1 / 3, 2 / 3]), 3)
>>> bool(found.table[0, 2] < found.table[0, 0] == found.table[0, 1])  # copies share the weight, noise has less
True

Penalty strengths maximise the evidence of the rows, the likelihood averaged over all weights (MacKay 1992):

    λ = γ / |u|²,     γ = Σ_j (1 − λ · variance of u_j)     the effective number of parameters

No strength is below `least_strength`: held-out evidence from few rows is noisy, and weak penalties would overfit it.

`layout.groups` of an objective are the parameters that share an estimated strength; the others keep theirs.
`posterior_variances` are the diagonal of the inverse Hessian, or the inverse diagonal of a Hessian too large to form.

>>> round(RidgeStrength(1.0).towards(4.0).value, 3)  # the first step goes to the wanted value, later ones extrapolate
4.0
>>> round(RidgeStrength(1.0).towards(4.0).towards(8.0).value, 3)  # off fell from log 4 to log 2: stride 2
16.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban import ops
from deciban.data.blocks import borders
from deciban.engines import threads
from deciban.errors import DataError
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import DenseEvidence, SparseEvidence
from deciban.solvers.base import CONVERGED, Smooth, Solution, State, solve
from deciban.solvers.newton import Metric, Newton, NewtonCg
from deciban.tallies.basic import SumTuple

LEAST, LARGEST = 1e-2, 1e4  # penalty strengths
FEW = 70.0  # number of rows at which the least strength is 1
STRIDES = (0.3, 8.0)
CACHED = 1 << 16  # numbers of evidence that a Hessian adds at a time
SETTLED = 0.03  # a change of log(strength) that counts as none
NEGLIGIBLE = 1e-10  # nats per row; absolute, as separated classes have a loss of 0
_trtri = get_lapack_funcs(("trtri",), dtype=np.float64)[0]


@dataclass(frozen=True)
class RidgeStrength:
    """A penalty strength λ being estimated: log(γ / |u|² / λ) was `off` before the last change, `stride` times that."""

    value: float
    off: float = np.inf
    stride: float = 1.0

    def towards(self, wanted: float, lowest: float = LEAST) -> RidgeStrength:
        """The next value: a secant step towards the wanted value, which itself depends on the strength."""
        off = float(np.log(np.clip(wanted, lowest, LARGEST) / self.value))
        stride = 1.0
        if np.isfinite(self.off) and off != self.off:
            stride = float(np.clip(self.stride * self.off / (self.off - off), *STRIDES))
        return RidgeStrength(
            float(np.exp(np.clip(np.log(self.value) + stride * off, *np.log([lowest, LARGEST])))), off, stride
        )


def least_strength(weight: float) -> float:
    """Lower bound of a penalty strength for rows of this total weight.

    >>> least_strength(14.0), least_strength(70.0), least_strength(1e4)
    (25.0, 1.0, 0.01)
    """
    return float(np.clip((FEW / max(weight, 1.0)) ** 2, LEAST, LARGEST))


@dataclass(frozen=True)
class Progress:
    estimates: tuple[RidgeStrength, ...]
    moved: float = np.inf  # largest change of log(strength) in the last step
    before: float = np.inf  # and in the step before it

    @property
    def settled(self) -> bool:
        return max(self.moved, self.before) <= SETTLED  # in two steps: one may be by chance, while weights still change

    @property
    def strengths(self) -> tuple[float, ...]:
        return tuple(strength.value for strength in self.estimates)


@dataclass(frozen=True)
class EvidenceMaximisation(Smooth):
    """Steps of another solver, each followed by an update of the penalty strengths."""

    inner: Newton | NewtonCg

    def init(self, objective: Any, w: np.ndarray) -> State:
        strengths = tuple(RidgeStrength(float(objective.ridge[at.start])) for at in objective.layout.groups)
        return replace(self.inner.init(objective, w), internal=Progress(strengths))

    def step(self, objective: Any, state: State) -> State:
        now = with_strength(objective, state.internal.strengths)
        there = self.inner.step(now, state)
        if there.stuck or state.internal.settled:
            return replace(there, internal=state.internal)
        left = posterior_variances(now, there) * now.ridge
        strengths, moved = [], 0.0
        for at, before in zip(now.layout.groups, state.internal.estimates, strict=True):
            known = max(float((1.0 - left[at]).sum()), 1e-3)
            strength = before.towards(
                known / max(float(there.w[at] @ there.w[at]), 1e-300), least_strength(objective.weight)
            )
            effect = min(known, 1.0)  # a strength hardly matters where the rows determine no parameter
            moved = max(moved, abs(float(np.log(strength.value / before.value))) * effect)
            strengths.append(strength)
        progress = Progress(tuple(strengths), moved, state.internal.moved)
        more = with_strength(objective, progress.strengths).ridge - now.ridge
        value = there.value + 0.5 * float(more @ there.w**2)
        return replace(there, value=value, gradient=there.gradient + more * there.w, internal=progress)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if not state.internal.settled and not state.stuck:
            return None
        if state.steepness <= tol * objective.weight and state.gain <= NEGLIGIBLE * objective.weight:
            return "gradient"
        return super().done(objective, state, tol)


def with_strength(objective: Any, strengths: Sequence[float]) -> Any:
    """The objective with other penalty strengths."""
    ridge = objective.ridge.copy()
    for at, strength in zip(objective.layout.groups, strengths, strict=True):
        ridge[at] = strength
    return replace(objective, ridge=ridge)


def posterior_variances(objective: Any, state: State) -> np.ndarray:
    """Posterior variance of each parameter, (size,): the diagonal of the inverse Hessian."""
    metric: Any = state.internal
    if not isinstance(metric, Metric):
        return 1.0 / objective.diagonal(state.w)[1][0]
    inverse, _ = _trtri(np.tril(metric.factor), lower=1)
    return metric.scale**2 * np.einsum("ij,ij->j", inverse, inverse)


PAIRS = 1 << 10  # pairs of a class and a column that have their own weights, at most
DENSE = 1 << 11  # parameters for which a Hessian is formed, at most
TOLERANCE = 1e-6
STEPS = 100
MOST_NATS = 1e100  # whose square, times a weight, is a double


@dataclass(frozen=True)
class FeatureWeights:
    table: np.ndarray  # (k, d)
    bias: np.ndarray  # (k,)
    strengths: tuple[float, ...]  # of the penalties on u (of single columns, and of other evidence) and v
    steps: int
    why: str

    @property
    def converged(self) -> bool:
        return self.why in CONVERGED


@dataclass(frozen=True)
class WeightedRows:
    """Some rows: the evidence of their columns, their classes and their weights."""

    rows: DenseEvidence | SparseEvidence
    y: np.ndarray  # (n,)
    w: np.ndarray  # (n,)


@dataclass(frozen=True)
class ParameterLayout:
    """Positions of t, u (d), v (k · d, or none) and the biases (k) in a flat array."""

    k: int
    d: int
    by_class: bool
    singles: int  # the first columns, whose weights are around 1 and contain t; those of the others are around 0

    @property
    def size(self) -> int:
        return 1 + self.d + (self.k * self.d if self.by_class else 0) + self.k

    @property
    def groups(self) -> tuple[slice, ...]:
        """Parameters whose penalty strength is estimated: u of single columns, u of the others, v."""
        ends = [1, 1 + self.singles, 1 + self.d, self.size - self.k]
        return tuple(slice(*ends[i : i + 2]) for i in range(3) if ends[i] < ends[i + 1])

    @cached_property
    def centre(self) -> np.ndarray:
        """(d,), the weights without any learned change."""
        return (np.arange(self.d) < self.singles).astype(np.float64)

    def weights_and_biases(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the weights (k, d) and biases (k,)."""
        table = np.tile(theta[0] * self.centre + theta[1 : 1 + self.d], (self.k, 1))
        if self.by_class:
            table += theta[1 + self.d : -self.k].reshape(self.k, self.d)
        return table, theta[-self.k :]

    def by_parameter(self, a: np.ndarray) -> np.ndarray:
        """Derivatives by t, u, v, biases, along the first axis, from those by weights and biases: (m · d + k, …), where
        m is k, or 1 if there are no weights by class."""
        table = a[: -self.k].reshape(-1, self.d, *a.shape[1:])
        columns = table.sum(axis=0)
        own = [a[: -self.k]] if self.by_class else []
        return np.concatenate([columns[: self.singles].sum(axis=0)[None], columns, *own, a[-self.k :]])

    def start_from(self, other: ParameterLayout, theta: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """Parameters of another layout in this one; `kept` (d,) are its columns here, −1 for those that are new."""
        out, old = np.zeros(self.size), kept >= 0
        out[0], out[-self.k :] = theta[0], theta[-self.k :]
        out[1 : 1 + self.d][old] = theta[1 : 1 + other.d][kept[old]]
        if self.by_class and other.by_class:
            own = out[1 + self.d : -self.k].reshape(self.k, self.d)
            own[:, old] = theta[1 + other.d : -self.k].reshape(self.k, other.d)[:, kept[old]]
        return out


@dataclass(frozen=True)
class Objective:
    """The penalised loss as a function of the weights; each value and derivative is a sum over rows."""

    pieces: Sequence[WeightedRows]
    prior: np.ndarray  # (k,), log
    layout: ParameterLayout
    ridge: np.ndarray  # (size,)
    m, intercept = 1, False  # read by solvers

    @cached_property
    def weight(self) -> float:
        return float(sum(piece.w.sum() for piece in self.pieces))

    def total(self, g: Callable[[WeightedRows], SumTuple]) -> tuple:
        return threads.total(self.pieces, g).parts

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        return self._penalised(theta, *self.total(partial(slope_of, *self._model(theta), self.layout)))

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, slope, hessian = self.total(partial(curve_of, *self._model(theta), self.layout))
        hessian = self.layout.by_parameter(self.layout.by_parameter(hessian).T)
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._penalised(theta, loss, slope), hessian

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        turn = self.layout.weights_and_biases(v)
        return self.total(partial(product_of, *self._model(theta), self.layout, *turn))[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Zeros and the diagonal of the Hessian, (1, size) each, of objectives without weights by class."""
        diagonal = self.total(partial(diagonal_of, *self._model(theta), self.layout.centre))[0] + self.ridge
        return np.zeros((1, self.layout.size)), diagonal[None]

    def _model(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table, bias = self.layout.weights_and_biases(theta)
        return self.layout.centre + table, bias + self.prior

    def _penalised(self, theta: np.ndarray, loss: float, slope: np.ndarray) -> tuple[float, np.ndarray]:
        strength = self.ridge * theta
        return loss + 0.5 * float(strength @ theta), slope + strength


def slope_of(table: np.ndarray, bias: np.ndarray, layout: ParameterLayout, piece: WeightedRows) -> SumTuple:
    """(loss, gradient) of some rows."""
    loss, p = _posterior(piece, table, bias)
    return SumTuple((loss, _slope(piece, p, layout)))


def curve_of(table: np.ndarray, bias: np.ndarray, layout: ParameterLayout, piece: WeightedRows) -> SumTuple:
    """(loss, gradient, Hessian by weights and biases) of some rows."""
    loss, p = _posterior(piece, table, bias)
    return SumTuple((loss, _slope(piece, p, layout), hessian_of(piece.rows.parts(), p, piece.w, layout.by_class)))


def product_of(
    table: np.ndarray,
    bias: np.ndarray,
    layout: ParameterLayout,
    turn: np.ndarray,
    turn_bias: np.ndarray,
    piece: WeightedRows,
) -> SumTuple:
    """The Hessian of some rows times a vector."""
    _, p = _posterior(piece, table, bias)
    moved = piece.rows.scores(turn) + turn_bias
    moved = p * (moved - np.einsum("nk,nk->n", p, moved)[:, None]) * piece.w[:, None]
    return SumTuple((_back(piece, moved, layout),))


def diagonal_of(table: np.ndarray, bias: np.ndarray, centre: np.ndarray, piece: WeightedRows) -> SumTuple:
    """The diagonal of the Hessian of some rows."""
    _, p = _posterior(piece, table, bias)
    mass, whole = p * piece.w[:, None], piece.rows.scores(np.tile(centre, (len(table), 1)))
    together = (mass * whole**2).sum() - piece.w @ np.einsum("nk,nk->n", p, whole) ** 2
    biases = (mass * (1.0 - p)).sum(axis=0)
    return SumTuple((np.concatenate([[together], piece.rows.spread(p, piece.w), biases]),))


def _posterior(piece: WeightedRows, table: np.ndarray, bias: np.ndarray) -> tuple[float, np.ndarray]:
    """(loss, P(c | x) (n, k))"""
    logs = ops.posterior(np.ascontiguousarray(piece.rows.scores(table) + bias), logs=True)
    return -float(piece.w @ logs[np.arange(len(logs)), piece.y]), np.exp(logs)


def _slope(piece: WeightedRows, p: np.ndarray, layout: ParameterLayout) -> np.ndarray:
    wrong = p * piece.w[:, None]
    wrong[np.arange(len(p)), piece.y] -= piece.w
    return _back(piece, wrong, layout)


def _back(piece: WeightedRows, amounts: np.ndarray, layout: ParameterLayout) -> np.ndarray:
    table = piece.rows.back(amounts)
    table = table if layout.by_class else table.sum(axis=0)
    return layout.by_parameter(np.concatenate([table.ravel(), amounts.sum(axis=0)]))


def hessian_of(parts: np.ndarray, p: np.ndarray, w: np.ndarray, by_class: bool) -> np.ndarray:
    """The Hessian of the loss by weights, (k, d) or (d,), and biases, (k,)."""
    n, k, d = parts.shape
    size = (k * d if by_class else d) + k
    out, edge, root = np.zeros((size, size)), np.zeros((k, d)), np.sqrt(p * w[:, None])
    biases = np.arange(size - k, size)
    out[biases, biases] = np.einsum("nk,nk->k", root, root)
    for start, stop in borders(n, n * k * d, CACHED):
        some, here = parts[start:stop], root[start:stop]
        scaled = some * here[:, :, None]
        edge += np.einsum("nk,nkd->kd", here, scaled)
        if by_class:
            for c in range(k):
                at = slice(c * d, (c + 1) * d)
                out[at, at] += scaled[:, c].T @ scaled[:, c]
            mean = (scaled * here[:, :, None]).reshape(stop - start, k * d)
        else:
            rows = scaled.reshape(-1, d)
            out[:d, :d] += rows.T @ rows
            mean = np.matmul(here[:, None], scaled)[:, 0]
        # roots of w cancel in the mean: E[s] √w = Σ_c p_c w s_c / √w
        mean = np.hstack([mean, here**2]) * _inverse_root(w[start:stop])[:, None]
        out -= mean.T @ mean
    for c in range(k):
        at = slice(c * d, (c + 1) * d) if by_class else slice(d)
        out[at, biases[c]] += edge[c]
        out[biases[c], at] += edge[c]
    return out


def _inverse_root(w: np.ndarray) -> np.ndarray:
    """1 / √w; 0 where w is 0."""
    return np.divide(1.0, np.sqrt(w), out=np.zeros_like(w), where=w > 0)


def problem(
    pieces: Sequence[WeightedRows], prior: np.ndarray, d: int, singles: int | None = None, pairs: int = PAIRS
) -> Objective:
    """The objective that `fit` minimises, with the initial penalty strengths: those for which nothing is known;
    `singles`: see `ParameterLayout`."""
    k = len(prior)
    layout = ParameterLayout(k, d, k > 2 and k * d <= pairs, d if singles is None else singles)
    objective = Objective(pieces, prior, layout, np.ones(layout.size))
    lowest = least_strength(objective.weight)
    objective.ridge[0] += lowest
    usual = [1.0] * (len(layout.groups) - layout.by_class) + [10.0] * layout.by_class
    return with_strength(objective, [max(strength, lowest) for strength in usual])


def fit_temperature(objective: Objective) -> np.ndarray:
    """Start: naive Bayes with the best temperature and biases, fitted to its scores (n, k)."""
    theta, ones = np.zeros(objective.layout.size), np.tile(objective.layout.centre, (objective.layout.k, 1))
    scores = np.concatenate(list(threads.map_ordered(objective.pieces, lambda piece: piece.rows.scores(ones))))
    y, w = (np.concatenate([getattr(piece, name) for piece in objective.pieces]) for name in ("y", "w"))
    if (most := np.abs(scores).max(initial=0.0)) > MOST_NATS:
        raise DataError(
            f"evidence of up to {most:.1e} nats is too large for weights='discriminative'\n\nhint: scale the columns"
        )
    found = Calibration.fit(scores, objective.prior, y, w, few=0.0)
    theta[0], theta[-objective.layout.k :] = found.temperature - 1.0, found.bias
    return theta


def minimise(objective: Objective, start: np.ndarray) -> Solution:
    inner = Newton() if objective.layout.size <= DENSE else NewtonCg()
    with threads.one_blas_thread():
        return solve(EvidenceMaximisation(inner), objective, start, TOLERANCE, STEPS)


def fit(pieces: Sequence[WeightedRows], prior: np.ndarray, d: int) -> FeatureWeights:
    """Weights of d columns, from the held-out evidence of rows and log priors (k,)."""
    objective = problem(pieces, prior, d)
    return found(objective, minimise(objective, fit_temperature(objective)))


def found(objective: Objective, answer: Solution) -> FeatureWeights:
    """The weights of a solution."""
    change, bias = objective.layout.weights_and_biases(answer.w)
    table = objective.layout.centre + change
    return FeatureWeights(table, bias, answer.internal.strengths, answer.n_iter, answer.reason)
