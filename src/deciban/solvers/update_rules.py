"""The plain rules of learning, without line search or averaging: for watching how they approach a minimum, or fail to.

    gradient   θ ← θ + α Σ_i (y_i − h(x_i)) x_i         all rows at once
    Newton     θ ← θ − H⁻¹ ∇                            undamped
    online     θ ← θ + α (y_i − h(x_i)) x_i             row by row, in their order

The three models of this form differ in their response h alone: the logistic function (softmax for more than two
classes) is logistic regression, the identity is least squares (LMS), the threshold is the perceptron. A penalty adds
its gradient. Where a rule diverges it goes on until a number is not finite.

The online rule is a loop over rows in Python, some microseconds a row: for lecture data. (The compiled loop of
`solvers.gradient.OnlineAverage` chooses its own step, from the lengths of all rows so far.)

>>> import numpy as np
>>> from deciban.data.blocks import Reals, Table
>>> rows = Table(Reals(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])), np.array([0, 0, 1], dtype=np.int32), None, 2)
>>> for response in (SOFTMAX, IDENTITY, THRESHOLD):
...     print(learn_row_by_row(rows, np.zeros((1, 2)), 0.1, response).round(6).tolist())
[[-0.04386, 0.061031]]
[[0.1, 0.2]]
[[0.0, 0.2]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_softmax, softmax

from deciban.data.blocks import Counts, Table
from deciban.solvers.base import State
from deciban.solvers.gradient import squared_lengths


@dataclass(frozen=True)
class Response:
    """h, from scores (n, m) to values that are compared with the targets, and the loss whose gradient is −(y − h) x."""

    name: str
    of: Callable[[np.ndarray], np.ndarray] = field(repr=False)  # scores (n, m) → h (n, m)
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray] = field(repr=False)  # scores and targets (n, m) → (n,)


def _softmax(z: np.ndarray) -> np.ndarray:
    return expit(z) if z.shape[1] == 1 else softmax(z, axis=1)


def _log_loss(z: np.ndarray, t: np.ndarray) -> np.ndarray:
    if z.shape[1] > 1:
        return -(t * log_softmax(z, axis=1)).sum(axis=1)
    return np.logaddexp(0.0, z)[:, 0] - (t * z)[:, 0]


def _threshold(z: np.ndarray) -> np.ndarray:
    return (z >= 0).astype(np.float64)


SOFTMAX = Response("softmax", _softmax, _log_loss)
IDENTITY = Response("identity", lambda z: z, lambda z, t: 0.5 * np.square(t - z).sum(axis=1))
THRESHOLD = Response("threshold", _threshold, lambda z, t: ((_threshold(z) - t) * z).sum(axis=1))


def targets(y: np.ndarray, m: int) -> np.ndarray:
    """Class codes as 0 and 1, (n, m): of the second class (m = 1), or a column for each class."""
    return (y > 0).astype(np.float64)[:, None] if m == 1 else np.eye(m)[y]


def learn_row_by_row(
    rows: Table, coef: np.ndarray, rate: float, response: Response, decay: np.ndarray | float = 0.0
) -> np.ndarray:
    """The parameters (m, p) after one pass of coef ← coef + rate (w (y − h(x)) x − decay coef), row by row. Sparse rows
    are read by their stored cells."""
    coef, m = np.array(coef, dtype=np.float64), len(coef)
    aims = targets(rows.y, m)
    factor = np.full(rows.n, rate) if rows.w is None else rate * rows.w
    fading = np.any(decay)
    with np.errstate(all="ignore"):
        for i, (at, cells) in enumerate(_cells(rows, coef.shape[1])):
            before = coef[:, at]
            change = factor[i] * np.multiply.outer((aims[i] - response.of((before @ cells)[None])[0]), cells)
            if fading:
                coef -= rate * decay * coef
            coef[:, at] += change
    return coef


def _cells(rows: Table, p: int) -> Iterator[tuple[Any, np.ndarray]]:
    """(columns, cells) of each row, with a 1 for the intercept, if there is one."""
    x, intercept = rows.x, p > rows.d
    if isinstance(x, Counts):
        stored, columns, ends = np.asarray(x.stored, dtype=np.float64), x.column_of(), x.indptr - x.indptr[0]
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            at, cells = columns[a:b], stored[a:b]
            yield (np.append(at, p - 1), np.append(cells, 1.0)) if intercept else (at, cells)
        return
    cells = np.asarray(x.values, dtype=np.float64)  # type: ignore[union-attr]
    for row in np.hstack([cells, np.ones((x.n, 1))]) if intercept else cells:
        yield slice(None), row


def safe_rate(rows: Table, intercept: bool) -> float:
    """1 / the largest |x|²: with it, no row of the online rule of least squares goes beyond its own target."""
    largest = float(squared_lengths(rows, intercept).max(initial=0.0))
    return 1.0 / largest if largest > 0 else 1.0


class Plain:
    """A rule stops at the tolerance, or where a number is not finite."""

    name: ClassVar[str]  # in messages
    converges: ClassVar[bool] = True  # whether it warns that it stopped after `max_iter` steps

    def init(self, objective: Any, w: np.ndarray) -> State:
        return at_point(objective, w)

    def step(self, objective: Any, state: State) -> State:
        raise NotImplementedError

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        if state.stuck or not (
            np.isfinite(state.value) and np.isfinite(state.steepness) and np.isfinite(state.w).all()
        ):
            return "diverged"
        return "gradient" if state.steepness <= tol * objective.weight else None


def at_point(objective: Any, w: np.ndarray) -> State:
    with np.errstate(all="ignore"):
        value, gradient = objective.slope(w)
    return State(w, value, gradient, np.zeros_like(w), np.nan)


@dataclass(frozen=True)
class PlainGradient(Plain):
    rate: float
    name: ClassVar[str] = "gradient"

    def step(self, objective: Any, state: State) -> State:
        return at_point(objective, state.w - self.rate * state.gradient)


@dataclass(frozen=True)
class PlainNewton(Plain):
    name: ClassVar[str] = "newton"

    def step(self, objective: Any, state: State) -> State:
        """With k > 2 classes the Hessian without penalty is singular: of all solutions, the shortest."""
        _, _, hessian = objective.curve(state.w)
        try:
            if objective.m == 1:
                ahead = np.linalg.solve(hessian, -state.gradient)
            else:
                ahead = np.linalg.lstsq(hessian, -state.gradient, rcond=None)[0]
        except np.linalg.LinAlgError:  # far away the Hessian is 0
            return State(state.w, state.value, state.gradient, state.ahead, np.nan, stuck=True)
        return at_point(objective, state.w + ahead)


UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Online(Plain):
    """One step is one pass over the rows; a pass that changes nothing is the last."""

    rate: float | None  # None: `safe_rate`
    response: Response = SOFTMAX
    name: ClassVar[str] = "online"
    converges: ClassVar[bool] = False

    def done(self, objective: Any, state: State, tol: float) -> str | None:
        return super().done(objective, state, tol) or ("gradient" if state.internal == UNCHANGED else None)

    def step(self, objective: Any, state: State) -> State:
        rate = safe_rate(objective.rows, objective.intercept) if self.rate is None else self.rate
        coef = objective.table(state.w)
        after = learn_row_by_row(objective.rows, coef, rate, self.response, objective.ridge / objective.weight)
        return replace(at_point(objective, after.ravel()), internal=UNCHANGED if np.array_equal(after, coef) else None)
