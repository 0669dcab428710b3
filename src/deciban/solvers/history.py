"""The steps of a solver: parameters, log-likelihood, length of the gradient and of the step, iteration by iteration.

>>> import numpy as np
>>> from deciban import LogisticRegression
>>> model = LogisticRegression(C=np.inf, solver="newton", history=True)
>>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).history_
4 iterations from the start, 2 parameters
  iteration  log-likelihood  gradient norm      step      x0  intercept
  0                 -2.7726         1.0000    0.0000  0.0000     0.0000
  1                 -2.3526         0.0957    1.4422  0.8000    -1.2000
  2                 -2.3475         0.0036    0.1875  0.9040    -1.3560
  3                 -2.3475       5.81e-06    0.0076  0.9082    -1.3623
  4                 -2.3475       1.55e-11  1.23e-05  0.9082    -1.3623
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from deciban import display

SHOWN = 20  # most iterations of a printed table: the first and the last
COLUMNS = 8  # most parameters of a printed table


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The parameters of a linear model at the start and after each iteration, and the objective there.

    Attributes
    ----------
    coef, intercept : ndarrays of shape (t, 1 or k, d) and (t, 1 or k)
        As `coef_` and `intercept_`, by iteration; the first entry is the start.
    log_likelihood : ndarray of shape (t,) or None
        log-likelihood of the training rows, without penalty. None: the model has no likelihood.
    objective : ndarray of shape (t,)
        The function that is minimised: −log-likelihood and penalty, half the sum of squared errors, or the perceptron
        criterion.
    gradient_norm : ndarray of shape (t,)
        Length of the gradient of the objective (without an L1 penalty).
    step : ndarray of shape (t,)
        Length of the step from the entry before. Of the rule θ ← θ − α · gradient, α is a step divided by the
        gradient norm of the entry before.
    columns : tuple of str
        Names of the columns.
    classes : ndarray of shape (k,)
        The labels.
    fit_intercept : bool
        Whether the intercept is a parameter.
    """

    coef: np.ndarray
    intercept: np.ndarray
    log_likelihood: np.ndarray | None
    objective: np.ndarray
    gradient_norm: np.ndarray
    step: np.ndarray
    columns: tuple[str, ...]
    classes: np.ndarray
    fit_intercept: bool

    def __len__(self) -> int:
        return len(self.objective)

    @property
    def parameters(self) -> np.ndarray:
        """The parameters of each iteration in the form that `init` takes, (t, p) or (t, k, p): coefficients, then the
        intercept."""
        table = np.concatenate([self.coef, self.intercept[..., None]], axis=2) if self.fit_intercept else self.coef
        return table[:, 0] if table.shape[1] == 1 else table

    @property
    def names(self) -> list[str]:
        """Names of the parameters, in the order of `parameters`."""
        own = [*self.columns, "intercept"] if self.fit_intercept else list(self.columns)
        return own if self.coef.shape[1] == 1 else [f"{label}: {name}" for label in self.classes for name in own]

    def followed_by(self, other: History) -> History:
        """Both, where the other starts at the end of this one: its first entry is left out."""
        mine, theirs = ({field.name: getattr(one, field.name) for field in fields(one)} for one in (self, other))
        arrays = [name for name, value in mine.items() if isinstance(value, np.ndarray) and name != "classes"]
        both: dict[str, Any] = {name: np.concatenate([mine[name], theirs[name][1:]]) for name in arrays}
        return replace(self, **both)

    def is_consistent(self, m: int, d: int) -> bool:
        """Whether it is one of m scores of d columns."""
        t = len(self.objective)
        vectors = [self.objective, self.gradient_norm, self.step]
        vectors += [] if self.log_likelihood is None else [self.log_likelihood]
        fine = (self.coef.shape, self.intercept.shape) == ((t, m, d), (t, m)) and len(self.columns) == d
        return t > 0 and fine and all(a.shape == (t,) for a in vectors)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a line for each iteration."""
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        parameters = self.parameters.reshape(len(self), -1)
        frame = {} if self.log_likelihood is None else {"log_likelihood": self.log_likelihood}
        frame |= {"objective": self.objective, "gradient_norm": self.gradient_norm, "step": self.step}
        frame |= dict(zip(self.names, parameters.T, strict=True))
        return pd.DataFrame(frame, index=pd.RangeIndex(len(self), name="iteration"))

    def _table(self) -> display.Table:
        t, parameters = len(self), self.parameters.reshape(len(self), -1)
        penalised = self.log_likelihood is None or not np.array_equal(self.objective, -self.log_likelihood)
        columns = {} if self.log_likelihood is None else {"log-likelihood": self.log_likelihood}
        columns |= {"objective": self.objective} if penalised else {}
        columns |= {"gradient norm": self.gradient_norm, "step": self.step}
        columns |= dict(zip(self.names[:COLUMNS], parameters.T[:COLUMNS], strict=True))
        half = SHOWN // 2
        at = list(range(t)) if t <= SHOWN else [*range(half), *range(t - half, t)]
        rows = [[str(i), *(display.format_number(float(a[i])) for a in columns.values())] for i in at]
        if t > SHOWN:
            rows.insert(half, ["…"] * (len(columns) + 1))
        more = parameters.shape[1] - COLUMNS
        title = f"{t - 1} iteration{'s' * (t != 2)} from the start, {parameters.shape[1]} parameters"
        return display.Table(title + (f" ({more} not shown)" if more > 0 else ""), ["iteration", *columns], rows)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()


class Recorder:
    """A `watch` of `solve` that keeps parameters, value and length of the gradient of each iteration."""

    def __init__(self, form: Callable[[np.ndarray], np.ndarray] = np.array) -> None:
        self.form = form  # of the parameters that are kept, of several that mean the same
        self.entries: list[tuple[np.ndarray, float, float]] = []

    def __call__(self, n_iter: int, state: Any) -> None:
        with np.errstate(all="ignore"):
            entry = self.form(state.w).copy(), float(state.value), float(np.linalg.norm(state.gradient))
        self.entries.append(entry)

    def history(
        self, objective: Any, columns: Sequence[str], classes: np.ndarray, n_iter: int, likelihood: bool = True
    ) -> History:
        """What was recorded up to an iteration, as the history of an objective that has `table`, `ridge`, `lasso` and
        `intercept`."""
        kept = self.entries[: n_iter + 1]
        tables = np.stack([objective.table(w) for w, _, _ in kept])
        value = np.array([value for _, value, _ in kept])
        with np.errstate(all="ignore"):
            change = np.diff(tables, axis=0, prepend=tables[:1])
            step = np.sqrt(np.square(change).sum(axis=(1, 2)))
            loss = value
            if objective.ridge.any() or objective.lasso.any():
                penalty = 0.5 * objective.ridge * tables**2 + objective.lasso * np.abs(tables)
                loss = value - penalty.sum(axis=(1, 2))
        norm = np.array([norm for _, _, norm in kept])
        d, intercept = objective.d, bool(objective.intercept)
        bias = tables[:, :, d].copy() if intercept else np.zeros(tables.shape[:2])
        log_likelihood = -loss if likelihood else None
        coef = tables[:, :, :d].copy()
        return History(coef, bias, log_likelihood, value, norm, step, tuple(columns), classes, intercept)
