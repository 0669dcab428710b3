"""Weights for the columns of naive Bayes, by conditional likelihood (WANBIA-C: Zaidi, Carman, Cerquides and Webb 2014):

    P(c | x) ∝ prior_c · exp(bias_c + Σ_j weight[c, j] · s_cj(x_j)),     s = log p(x_j | c) less its mean over classes

The counts stay as they are; only the weights are fitted, a convex problem. Weights of 1 and biases of 0 are naive Bayes
itself. They are 1 + t + u_j, and 1 + t + u_j + v_cj where there are more than two classes (with two, v would add
nothing) and no more than `PAIRS` of them with a column. All are pulled to 0, that is to naive Bayes:

    loss = −Σ_i w_i log P(y_i | x_i) + ½ (pull_t t² + |bias|²) + ½ pull_u |u|² + ½ pull_v |v|²

The pulls of u and v are found with the weights (see `pulling`); few rows have strong ones, of t too. Each step is
Newton's, and a sum over rows; beyond `DENSE` weights by conjugate gradients. The first t and biases are the best that
naive Bayes can have without u and v: as it comes it is often so sure that Newton's steps are short.

>>> import numpy as np
>>> from deciban.models.feature_evidence import DenseEvidence, column_evidence
>>> from deciban.families.bernoulli import Bernoulli
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.repeat([[0.0, 0, 0], [1, 1, 0], [1, 1, 1]], 20, axis=0)), np.repeat([0, 1, 1], 20).astype(np.int32)
>>> f = Bernoulli()
>>> rows = DenseEvidence(column_evidence(f, f.estimate(f.tally(x, y, None, 2))), x, kept=True)
>>> found = fit([WeightedRows(rows, y, np.ones(60))], np.log([1 / 3, 2 / 3]), 3)
>>> bool(found.table[0, 2] < found.table[0, 0] == found.table[0, 1])  # the copy shares the weight, the noise has less
True

How strongly weights are pulled to 0, found while they are (MacKay 1992): what makes the rows most probable on the
average over all weights.

    pull = γ / |u|²,     γ = Σ_j (1 − pull · variance of u_j)     the number of weights that the rows determine

No pull is less than `least`: few rows, which are judged by fewer still, often seem to say the reverse of what they say
together, and many weights could be had from them that mean nothing.

An objective says in `layout.groups` which of its parameters share a pull; the others keep theirs. `uncertain` has the
variances: the diagonal of the Hessian's inverse, or one over that of the Hessian where it is too large to be made.

>>> round(RidgeStrength(1.0).towards(4.0).value, 3)  # the first time as asked; later as far as that is likely to lead
4.0
>>> round(RidgeStrength(1.0).towards(4.0).towards(8.0).value, 3)  # half of the way again: twice of it is left
16.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from deciban import ops
from deciban.engines import threads
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import DenseEvidence, SparseEvidence
from deciban.solvers.base import CONVERGED, Smooth, Solution, State, solve
from deciban.solvers.newton import Metric, Newton, NewtonCg
from deciban.tallies.basic import SumTuple

LEAST, LARGEST = 1e-2, 1e4  # pulls
FEW = 70.0  # rows that have a pull of 1 at least
STRIDES = (0.3, 8.0)
SETTLED = 0.03  # a change of log(pull) that is none
WORTHLESS = 1e-10  # nats a row: separated classes have a loss of 0, of which no share is small
_trtri = get_lapack_funcs(("trtri",), dtype=np.float64)[0]


@dataclass(frozen=True)
class RidgeStrength:
    """A pull on its way: log(γ / |u|² / pull) was `off` before the last change, which was `stride` times that."""

    value: float
    off: float = np.inf
    stride: float = 1.0

    def towards(self, wanted: float, lowest: float = LEAST) -> RidgeStrength:
        """Nearer to what the rows ask for, which moves too: how much, the last change tells (a secant)."""
        off = float(np.log(np.clip(wanted, lowest, LARGEST) / self.value))
        stride = 1.0
        if np.isfinite(self.off) and off != self.off:
            stride = float(np.clip(self.stride * self.off / (self.off - off), *STRIDES))
        return RidgeStrength(
            float(np.exp(np.clip(np.log(self.value) + stride * off, *np.log([lowest, LARGEST])))), off, stride
        )


def least_pull(weight: float) -> float:
    """The least pull where rows have that weight together.

    >>> least_pull(14.0), least_pull(70.0), least_pull(1e4)
    (25.0, 1.0, 0.01)
    """
    return float(np.clip((FEW / max(weight, 1.0)) ** 2, LEAST, LARGEST))


@dataclass(frozen=True)
class Kept:
    on_the_way: tuple[RidgeStrength, ...]
    moved: float = np.inf  # how much pulls did, in logarithms
    before: float = np.inf  # and in the step before

    @property
    def settled(self) -> bool:
        return max(self.moved, self.before) <= SETTLED  # once may be by chance, while weights are still on their way

    @property
    def pulls(self) -> tuple[float, ...]:
        return tuple(pull.value for pull in self.on_the_way)


@dataclass(frozen=True)
class EvidenceMaximisation(Smooth):
    """Another solver's steps, and after each the pulls that the rows ask for."""

    inner: Newton | NewtonCg

    def init(self, objective: Any, w: np.ndarray) -> State:
        pulls = tuple(RidgeStrength(float(objective.ridge[at.start])) for at in objective.layout.groups)
        return replace(self.inner.init(objective, w), kept=Kept(pulls))

    def step(self, objective: Any, state: State) -> State:
        now = with_strength(objective, state.kept.pulls)
        there = self.inner.step(now, state)
        if there.stuck or state.kept.settled:
            return replace(there, kept=state.kept)
        left = uncertain(now, there) * now.ridge
        pulls, moved = [], 0.0
        for at, before in zip(now.layout.groups, state.kept.on_the_way, strict=True):
            known = max(float((1.0 - left[at]).sum()), 1e-3)
            pull = before.towards(known / max(float(there.w[at] @ there.w[at]), 1e-300), least_pull(objective.weight))
            felt = min(known, 1.0)  # nobody feels a pull where nothing is known
            moved = max(moved, abs(float(np.log(pull.value / before.value))) * felt)
            pulls.append(pull)
        kept = Kept(tuple(pulls), moved, state.kept.moved)
        more = with_strength(objective, kept.pulls).ridge - now.ridge
        value = there.value + 0.5 * float(more @ there.w**2)
        return replace(there, value=value, gradient=there.gradient + more * there.w, kept=kept)

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if not state.kept.settled and not state.stuck:
            return None
        if state.steepness <= tol * objective.weight and state.gain <= WORTHLESS * objective.weight:
            return "gradient"
        return super().done(objective, state, tol)


def with_strength(objective: Any, pulls: Sequence[float]) -> Any:
    """The objective with other pulls."""
    ridge = objective.ridge.copy()
    for at, pull in zip(objective.layout.groups, pulls, strict=True):
        ridge[at] = pull
    return replace(objective, ridge=ridge)


def uncertain(objective: Any, state: State) -> np.ndarray:
    """The variance that each weight has left, (size,): the diagonal of the Hessian's inverse."""
    metric: Any = state.kept
    if not isinstance(metric, Metric):
        return 1.0 / objective.diagonal(state.w)[1][0]
    inverse, _ = _trtri(np.tril(metric.factor), lower=1)
    return metric.scale**2 * np.einsum("ij,ij->j", inverse, inverse)


PAIRS = 1 << 10  # of class and column, that have weights of their own
DENSE = 1 << 11  # weights for which a Hessian is made
TOLERANCE = 1e-6
STEPS = 100


@dataclass(frozen=True)
class FeatureWeights:
    table: np.ndarray  # (k, d)
    bias: np.ndarray  # (k,)
    pulls: tuple[float, ...]  # of the columns' weights, and of the classes' beside them
    steps: int
    why: str

    @property
    def converged(self) -> bool:
        return self.why in CONVERGED


@dataclass(frozen=True)
class WeightedRows:
    """Some rows: what their columns say, their classes and their weights."""

    rows: DenseEvidence | SparseEvidence
    y: np.ndarray  # (n,)
    w: np.ndarray  # (n,)


@dataclass(frozen=True)
class ParameterLayout:
    """Where t, u (d), v (k · d, or none) and the biases (k) stand in a flat array."""

    k: int
    d: int
    by_class: bool

    @property
    def size(self) -> int:
        return 1 + self.d + (self.k * self.d if self.by_class else 0) + self.k

    @property
    def groups(self) -> tuple[slice, ...]:
        """Those whose pull is found."""
        first = slice(1, 1 + self.d)
        return (first, slice(1 + self.d, self.size - self.k)) if self.by_class else (first,)

    def spread_out(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of the weights (k, d) and biases (k,)."""
        table = np.tile(theta[0] + theta[1 : 1 + self.d], (self.k, 1))
        if self.by_class:
            table += theta[self.groups[1]].reshape(self.k, self.d)
        return table, theta[-self.k :]

    def gathered(self, a: np.ndarray) -> np.ndarray:
        """Derivatives by t, u, v, biases, along the first axis, from those by weights and biases: (m · d + k, …), where
        m is k, or 1 if there are no weights by class."""
        table = a[: -self.k].reshape(-1, self.d, *a.shape[1:])
        columns = table.sum(axis=0)
        own = [a[: -self.k]] if self.by_class else []
        return np.concatenate([columns.sum(axis=0)[None], columns, *own, a[-self.k :]])


@dataclass(frozen=True)
class Objective:
    """The loss of weights over some rows; each question is a sum over them."""

    pieces: Sequence[WeightedRows]
    prior: np.ndarray  # (k,), log
    layout: ParameterLayout
    ridge: np.ndarray  # (size,)
    elsewhere: Callable[[Callable], SumTuple] | None = (
        None  # g ↦ Σ g(pieces of rows) over rows that are not in `pieces`
    )
    mass: float = 0.0  # what those weigh
    dear: bool = False  # whether each of their sums is a pass: gradient and Hessian are then asked for together
    last: dict[bytes, tuple] = field(default_factory=dict, repr=False, compare=False)
    m, intercept = 1, False  # as solvers ask

    @cached_property
    def weight(self) -> float:
        return self.mass if self.elsewhere is not None else float(sum(piece.w.sum() for piece in self.pieces))

    def total(self, g: Callable[[WeightedRows], SumTuple]) -> tuple:
        if self.elsewhere is None:
            return threads.total(self.pieces, g).parts
        return self.elsewhere(EachPiece(g)).parts

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        if self.dear and self.layout.size <= DENSE:
            return self._pulled(theta, *self._asked(theta)[:2])
        return self._pulled(theta, *self.total(partial(slope_of, *self._model(theta), self.layout)))

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, slope, hessian = self._asked(theta)
        hessian = self.layout.gathered(self.layout.gathered(hessian).T)
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._pulled(theta, loss, slope), hessian

    def _asked(self, theta: np.ndarray) -> tuple:
        """(loss, slope, curvature) without pulls, which may change while the weights stay."""
        if not self.dear:
            return self.total(partial(curve_of, *self._model(theta), self.layout))
        key = theta.tobytes()
        if key not in self.last:
            self.last.clear()
            self.last[key] = self.total(partial(curve_of, *self._model(theta), self.layout))
        return self.last[key]

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        turn = self.layout.spread_out(v)
        return self.total(partial(product_of, *self._model(theta), self.layout, *turn))[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nothing, and the Hessian's diagonal, (1, size) each; of objectives without weights by class."""
        diagonal = self.total(partial(diagonal_of, *self._model(theta)))[0] + self.ridge
        return np.zeros((1, self.layout.size)), diagonal[None]

    def _model(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table, bias = self.layout.spread_out(theta)
        return 1.0 + table, bias + self.prior

    def _pulled(self, theta: np.ndarray, loss: float, slope: np.ndarray) -> tuple[float, np.ndarray]:
        pull = self.ridge * theta
        return loss + 0.5 * float(pull @ theta), slope + pull


@dataclass(frozen=True)
class EachPiece:
    """pieces → Σ g(piece)"""

    g: Callable[[WeightedRows], SumTuple]

    def __call__(self, pieces: Sequence[WeightedRows]) -> SumTuple:
        return reduce(add, map(self.g, pieces))


def slope_of(table: np.ndarray, bias: np.ndarray, layout: ParameterLayout, piece: WeightedRows) -> SumTuple:
    """(loss, gradient) of some rows."""
    loss, p = _posterior(piece, table, bias)
    return SumTuple((loss, _slope(piece, p, layout)))


def curve_of(table: np.ndarray, bias: np.ndarray, layout: ParameterLayout, piece: WeightedRows) -> SumTuple:
    """(loss, gradient, Hessian by weights and biases) of some rows."""
    loss, p = _posterior(piece, table, bias)
    return SumTuple((loss, _slope(piece, p, layout), bend(piece.rows.parts(), p, piece.w, layout.by_class)))


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


def diagonal_of(table: np.ndarray, bias: np.ndarray, piece: WeightedRows) -> SumTuple:
    """The diagonal of the Hessian of some rows."""
    _, p = _posterior(piece, table, bias)
    mass, whole = p * piece.w[:, None], piece.rows.scores(np.ones_like(table))
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
    return layout.gathered(np.concatenate([table.ravel(), amounts.sum(axis=0)]))


def bend(parts: np.ndarray, p: np.ndarray, w: np.ndarray, by_class: bool) -> np.ndarray:
    """The Hessian of the loss by weights, (k, d) or (d,), and biases, (k,)."""
    (n, k, d), mass = parts.shape, p * w[:, None]
    said = parts * p[:, :, None]
    mean = np.hstack([said.reshape(n, k * d) if by_class else said.sum(axis=1), p])
    out = -(mean.T * w) @ mean
    for c in range(k):
        at, bias = slice(c * d, (c + 1) * d) if by_class else slice(0, d), len(out) - k + c
        turned = parts[:, c].T * mass[:, c]
        out[at, at] += turned @ parts[:, c]
        edge = turned.sum(axis=1)
        out[at, bias] += edge
        out[bias, at] += edge
        out[bias, bias] += mass[:, c].sum()
    return out


def problem(pieces: Sequence[WeightedRows], prior: np.ndarray, d: int) -> Objective:
    """What `fit` makes small, with the first pulls."""
    k = len(prior)
    layout = ParameterLayout(k, d, k > 2 and k * d <= PAIRS)
    return begun(Objective(pieces, prior, layout, np.ones(layout.size)))


def begun(objective: Objective) -> Objective:
    """The same with the first pulls."""
    lowest, ridge = least_pull(objective.weight), np.ones(objective.layout.size)
    ridge[0] += lowest
    groups = len(objective.layout.groups)
    return with_strength(replace(objective, ridge=ridge), [max(pull, lowest) for pull in (1.0, 10.0)[:groups]])


def tempered(objective: Objective) -> np.ndarray:
    """Naive Bayes with the best temperature and biases, which its scores (n, k) alone tell: where to start from."""
    theta, ones = np.zeros(objective.layout.size), np.ones((objective.layout.k, objective.layout.d))
    scores = np.concatenate(list(threads.map_ordered(objective.pieces, lambda piece: piece.rows.scores(ones))))
    y, w = (np.concatenate([getattr(piece, name) for piece in objective.pieces]) for name in ("y", "w"))
    found = Calibration.fit(scores, objective.prior, y, w, few=0.0)
    theta[0], theta[-objective.layout.k :] = found.temperature - 1.0, found.bias
    return theta


def minimise(objective: Objective, start: np.ndarray) -> Solution:
    inner = Newton() if objective.layout.size <= DENSE else NewtonCg()
    with threads.one_blas_thread():
        return solve(EvidenceMaximisation(inner), objective, start, TOLERANCE, STEPS)


def fit(pieces: Sequence[WeightedRows], prior: np.ndarray, d: int, start: np.ndarray | None = None) -> FeatureWeights:
    """Weights of d columns from rows that were judged by counts without them, and log priors (k,)."""
    objective = problem(pieces, prior, d)
    return found(objective, minimise(objective, tempered(objective) if start is None else start))


def found(objective: Objective, answer: Solution) -> FeatureWeights:
    """The weights that an answer stands for."""
    table, bias = objective.layout.spread_out(answer.w)
    return FeatureWeights(1.0 + table, bias, answer.kept.pulls, answer.steps, answer.why)
