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
>>> from deciban.weighing.evidence import Dense, evidence_of
>>> from deciban.families.bernoulli import Bernoulli
>>> from deciban.table import Reals
>>> x, y = Reals(np.repeat([[0.0, 0, 0], [1, 1, 0], [1, 1, 1]], 20, axis=0)), np.repeat([0, 1, 1], 20).astype(np.int32)
>>> f = Bernoulli()
>>> rows = Dense(evidence_of(f, f.estimate(f.tally(x, y, None, 2))), x, kept=True)
>>> found = fit([Piece(rows, y, np.ones(60))], np.log([1 / 3, 2 / 3]), 3)
>>> bool(found.table[0, 2] < found.table[0, 0] == found.table[0, 1])  # the copy shares the weight, the noise has less
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deciban import ops
from deciban.calibration import Calibration
from deciban.engines import threads
from deciban.solvers.base import CONVERGED, Solution, solve
from deciban.solvers.newton import Newton
from deciban.solvers.newton_cg import NewtonCg
from deciban.tallies.base import SumTuple
from deciban.weighing.evidence import Dense, Sparse
from deciban.weighing.pulling import ByEvidence, least, pulled

PAIRS = 1 << 10  # of class and column, that have weights of their own
DENSE = 1 << 11  # weights for which a Hessian is made
TOLERANCE = 1e-6
STEPS = 100


@dataclass(frozen=True)
class Weights:
    table: np.ndarray  # (k, d)
    bias: np.ndarray  # (k,)
    pulls: tuple[float, ...]  # of the columns' weights, and of the classes' beside them
    steps: int
    why: str

    @property
    def converged(self) -> bool:
        return self.why in CONVERGED


@dataclass(frozen=True)
class Piece:
    """Some rows: what their columns say, their classes and their weights."""

    rows: Dense | Sparse
    y: np.ndarray  # (n,)
    w: np.ndarray  # (n,)


@dataclass(frozen=True)
class Layout:
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
    pieces: Sequence[Piece]
    prior: np.ndarray  # (k,), log
    layout: Layout
    ridge: np.ndarray  # (size,)
    m, intercept = 1, False  # as solvers ask

    @cached_property
    def weight(self) -> float:
        return float(sum(piece.w.sum() for piece in self.pieces))

    def slope(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        table, bias = self._model(theta)

        def of(piece: Piece) -> SumTuple:
            loss, p = self._posterior(piece, table, bias)
            return SumTuple((loss, self._slope(piece, p)))

        loss, slope = threads.total(self.pieces, of).parts
        return self._pulled(theta, loss, slope)

    def curve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        table, bias = self._model(theta)

        def of(piece: Piece) -> SumTuple:
            loss, p = self._posterior(piece, table, bias)
            return SumTuple((loss, self._slope(piece, p), bend(piece.rows.parts(), p, piece.w, self.layout.by_class)))

        loss, slope, hessian = threads.total(self.pieces, of).parts
        hessian = self.layout.gathered(self.layout.gathered(hessian).T)
        hessian.flat[:: len(hessian) + 1] += self.ridge
        return *self._pulled(theta, loss, slope), hessian

    def product(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The Hessian times v."""
        table, bias = self._model(theta)
        turn, turn_bias = self.layout.spread_out(v)

        def of(piece: Piece) -> SumTuple:
            _, p = self._posterior(piece, table, bias)
            moved = piece.rows.scores(turn) + turn_bias
            moved = p * (moved - np.einsum("nk,nk->n", p, moved)[:, None]) * piece.w[:, None]
            return SumTuple((self._back(piece, moved),))

        return threads.total(self.pieces, of).parts[0] + self.ridge * v

    def diagonal(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Nothing, and the Hessian's diagonal, (1, size) each; of objectives without weights by class."""
        table, bias = self._model(theta)
        ones = np.ones_like(table)

        def of(piece: Piece) -> SumTuple:
            _, p = self._posterior(piece, table, bias)
            mass, whole = p * piece.w[:, None], piece.rows.scores(ones)
            together = (mass * whole**2).sum() - piece.w @ np.einsum("nk,nk->n", p, whole) ** 2
            biases = (mass * (1.0 - p)).sum(axis=0)
            return SumTuple((np.concatenate([[together], piece.rows.spread(p, piece.w), biases]),))

        diagonal = threads.total(self.pieces, of).parts[0] + self.ridge
        return np.zeros((1, self.layout.size)), diagonal[None]

    def _model(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        table, bias = self.layout.spread_out(theta)
        return 1.0 + table, bias + self.prior

    def _posterior(self, piece: Piece, table: np.ndarray, bias: np.ndarray) -> tuple[float, np.ndarray]:
        """(loss, P(c | x) (n, k))"""
        logs = ops.posterior(np.ascontiguousarray(piece.rows.scores(table) + bias), logs=True)
        return -float(piece.w @ logs[np.arange(len(logs)), piece.y]), np.exp(logs)

    def _slope(self, piece: Piece, p: np.ndarray) -> np.ndarray:
        wrong = p * piece.w[:, None]
        wrong[np.arange(len(p)), piece.y] -= piece.w
        return self._back(piece, wrong)

    def _back(self, piece: Piece, amounts: np.ndarray) -> np.ndarray:
        table = piece.rows.back(amounts)
        table = table if self.layout.by_class else table.sum(axis=0)
        return self.layout.gathered(np.concatenate([table.ravel(), amounts.sum(axis=0)]))

    def _pulled(self, theta: np.ndarray, loss: float, slope: np.ndarray) -> tuple[float, np.ndarray]:
        pull = self.ridge * theta
        return loss + 0.5 * float(pull @ theta), slope + pull


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


def problem(pieces: Sequence[Piece], prior: np.ndarray, d: int) -> Objective:
    """What `fit` makes small, with the first pulls."""
    k = len(prior)
    layout = Layout(k, d, k > 2 and k * d <= PAIRS)
    return begun(Objective(pieces, prior, layout, np.ones(layout.size)))


def begun(objective: Objective) -> Objective:
    """The same with the first pulls."""
    lowest, ridge = least(objective.weight), np.ones(objective.layout.size)
    ridge[0] += lowest
    groups = len(objective.layout.groups)
    return pulled(replace(objective, ridge=ridge), [max(pull, lowest) for pull in (1.0, 10.0)[:groups]])


def tempered(objective: Objective) -> np.ndarray:
    """Naive Bayes with the best temperature and biases, which its scores (n, k) alone tell: where to start from."""
    theta, ones = np.zeros(objective.layout.size), np.ones((objective.layout.k, objective.layout.d))
    scores = np.concatenate(list(threads.each(objective.pieces, lambda piece: piece.rows.scores(ones))))
    y, w = (np.concatenate([getattr(piece, name) for piece in objective.pieces]) for name in ("y", "w"))
    found = Calibration.fit(scores, objective.prior, y, w, few=0.0)
    theta[0], theta[-objective.layout.k :] = found.temperature - 1.0, found.bias
    return theta


def minimise(objective: Objective, start: np.ndarray) -> Solution:
    inner = Newton() if objective.layout.size <= DENSE else NewtonCg()
    with threads.one_blas_thread():
        return solve(ByEvidence(inner), objective, start, TOLERANCE, STEPS)


def fit(pieces: Sequence[Piece], prior: np.ndarray, d: int, start: np.ndarray | None = None) -> Weights:
    """Weights of d columns from rows that were judged by counts without them, and log priors (k,)."""
    objective = problem(pieces, prior, d)
    return found(objective, minimise(objective, tempered(objective) if start is None else start))


def found(objective: Objective, answer: Solution) -> Weights:
    """The weights that an answer stands for."""
    table, bias = objective.layout.spread_out(answer.w)
    return Weights(1.0 + table, bias, answer.kept.pulls, answer.steps, answer.why)
