"""The penalty path of logistic regression, and the choice of C by held-out log loss.

A path is the fits of one model from a strong penalty to a weak one; each starts from the coefficients of the last.

    grid of C    L2: four values per decade, until coefficients are hardly shrunk
                 L1: eight values per decade, from the C at which the first coefficient differs from 0
    held out     log loss of rows by fits without them: approximate leave-one-out (see `laplace.Leverage`) of about
                 2,000 rows, or 5 folds if there is an L1 penalty, or too many coefficients for a Hessian

`C="auto"` follows the path over every second value, until the held-out log loss is 5 % above the least, or has not
improved for several values; then the values next to the best are tried, and the C of the least held-out log loss is
selected. With an L2 penalty, these fits have a larger tolerance than that of the selected C. A list of numbers as C is
tried instead of the grid. Held-out rows have the weights of the fit.

>>> import numpy as np
>>> from deciban import LogisticRegression
>>> x, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 0, 1, 1]
>>> path = LogisticRegression().path(x, y, Cs=[0.01, 0.1, 1.0, 10.0], held_out="loo")
>>> path.coef[:, 0, 0].round(2).tolist(), path.C
([0.03, 0.25, 0.77, 1.13], 1.0)
>>> model = LogisticRegression(C="auto").fit(x, y)
>>> round(model.C_, 3), model.path_.held_out
(1.0, 'leave-one-out')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from deciban import display, ops, progress
from deciban.data.blocks import Counts, Reals, Table
from deciban.errors import DataError
from deciban.logistic import minimisation
from deciban.logistic.laplace import Leverage
from deciban.logistic.likelihood import Prior, reference_coding
from deciban.logistic.objective import Objective
from deciban.logistic.settings import Settings
from deciban.metrics import log_loss
from deciban.plots import paths
from deciban.rows.digests import row_digests, stirred
from deciban.rows.folds import assign_folds, folds_with_copies_together
from deciban.solvers.base import Solution
from deciban.solvers.lbfgs import Columns

WIDE = 1000  # largest number of coefficients for which leave-one-out uses the Hessian
COSTLY = 1 << 34  # largest number of multiplications of that Hessian
SMOOTH, CORNERED = 4, 8  # values of C per decade, L2 and L1
NOTHING = np.zeros(0)
TINY = 1e-10  # columns of less curvature, relative to the largest, do not determine the end of a grid
LEAST_CURVATURE = 1e-300  # and those of less have none: C would be larger than any double


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients for each C, from the strongest penalty to the weakest, and the log loss of held-out rows.

    `coef` and `intercepts` are None if they would be too many numbers to keep (`fit` with C="auto"), `log_loss` if no
    rows were held out.
    """

    Cs: np.ndarray  # (c,)
    coef: np.ndarray | None  # (c, 1 or k, d), as `coef_`
    intercepts: np.ndarray | None  # (c, 1 or k)
    n_iter: np.ndarray  # (c,)
    log_loss: np.ndarray | None  # (c,)
    loss: np.ndarray  # (c,), mean log loss of the training rows
    held_out: str  # "leave-one-out", "5 folds", or ""
    classes: np.ndarray  # (k,)
    columns: tuple[str, ...]  # (d,)
    deviation: np.ndarray  # (d,), standard deviation of each column, which makes coefficients comparable

    @classmethod
    def from_fits(
        cls, objective: Objective, fits: list[Fit], held_out: str, classes: np.ndarray, columns: Iterable[str]
    ) -> Path:
        """The path of these fits; `held_out` is "" if no rows were held out."""
        d, kept = objective.d, all(len(fit.answer.w) for fit in fits)
        tables = np.stack([objective.table(fit.answer.w) for fit in fits]) if kept else None
        return cls(
            np.array([fit.C for fit in fits]),
            None if tables is None else tables[:, :, :d].copy(),
            None if tables is None else tables[:, :, d:].sum(axis=2),  # 0 without an intercept
            np.array([fit.answer.n_iter for fit in fits], dtype=np.int32),
            np.array([fit.log_loss for fit in fits]) if held_out else None,
            np.array([fit.loss for fit in fits]),
            held_out,
            classes,
            tuple(columns),
            deviations(objective.rows),
        )

    @property
    def best(self) -> int:
        """The index of the least held-out log loss; of equal ones that of the strongest penalty."""
        if self.log_loss is None:
            raise ValueError("nothing was held out\n\nhint: path(X, y, held_out='auto')")
        return least(self.log_loss)

    @property
    def C(self) -> float:
        """The C of the least held-out log loss."""
        return float(self.Cs[self.best])

    def _table(self) -> display.Table:
        head = ["C", "log loss of the training rows", "steps"]
        if self.coef is not None:
            head.append("coefficients not 0")
        if self.log_loss is not None:
            head += [f"log loss by {self.held_out}", ""]
        rows = []
        for i, C in enumerate(self.Cs):
            row = [f"{C:.4g}", display.format_number(float(self.loss[i])), str(int(self.n_iter[i]))]
            if self.coef is not None:
                row.append(str(int(np.count_nonzero(self.coef[i]))))
            if self.log_loss is not None:
                row += [display.format_number(float(self.log_loss[i])), "best" if i == self.best else ""]
            rows.append(row)
        title = f"{len(self.Cs)} penalties, {len(self.columns)} columns, {len(self.classes)} classes"
        return display.Table(title, head, rows)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def to_frame(self) -> Any:
        """A pandas DataFrame with a line for each C, class and column."""
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        coef = self._coefficients()
        c, m, d = coef.shape
        labels = self.classes[-1:] if m == 1 else self.classes
        frame = {
            "C": np.repeat(self.Cs, m * d),
            "class": np.tile(np.repeat(labels, d), c),
            "column": list(self.columns) * (c * m),
            "coef": coef.ravel(),
        }
        return pd.DataFrame(frame)

    def _coefficients(self) -> np.ndarray:
        """The coefficients; an error if they were too many to keep."""
        if self.coef is None:
            raise ValueError(
                f"the coefficients of {len(self.Cs)} penalties were too many to keep\n\nhint: path(X, y) keeps them"
            )
        return self.coef

    def plot(self, ax: Any = None, *, of: Any = None, columns: int = 8, standard: bool = True) -> Any:
        """Draw the coefficients over C (see `plots.coefficient_path`); returns the axes."""
        coef = self._coefficients()
        at = len(self.classes) - 1 if of is None else self.classes.tolist().index(of)
        shown = coef[:, min(at, coef.shape[1] - 1)] * (1.0 if coef.shape[1] > 1 or at else -1.0)
        return paths.draw(
            self.Cs,
            shown * self.deviation if standard else shown,
            self.columns,
            title=str(self.classes[at])
            + (f" against {self.classes[1 - at]}" if len(self.classes) == 2 else " against the rest"),
            label="coefficient × deviation of its column" if standard else "coefficient",
            mark=None if self.log_loss is None else (self.C, float(self.log_loss[self.best]), self.held_out),
            most=columns,
            ax=ax,
        )


def least(values: np.ndarray) -> int:
    """The first index of the least value; 0 if all are NaN."""
    return int(np.nanargmin(values)) if not np.isnan(values).all() else 0


class Fit(NamedTuple):
    C: float
    answer: Solution
    loss: float  # mean, of the training rows
    log_loss: float  # of held-out rows; NaN if there are none


Minimise = Callable[[Objective, np.ndarray], Solution]
HeldOut = Callable[[float, Objective, np.ndarray], float]


def walk(
    at: Callable[[float], Objective],
    Cs: Iterable[float],
    w: np.ndarray,
    minimise: Minimise,
    held_out: HeldOut | None = None,
    stop: Callable[[Fit], bool] | None = None,
) -> Iterator[Fit]:
    """The fit of each C, started at the last one's, until stop(fit). `at(C)`: the objective."""
    for C in Cs:
        objective = at(C)
        answer = replace(minimise(objective, w), gradient=NOTHING, internal=None)  # the rest may be far larger than w
        w, table = answer.w, objective.table(answer.w)
        penalty = float((0.5 * objective.ridge * table**2 + objective.lasso * np.abs(table)).sum())
        loss = (answer.value - penalty) / objective.weight
        fit = Fit(C, answer, loss, np.nan if held_out is None else held_out(C, objective, w))
        yield fit
        if stop is not None and stop(fit):
            return


def only_best(fits: Iterable[Fit]) -> list[Fit]:
    """All fits; only the best keeps its parameters."""
    out: list[Fit] = []
    for fit in fits:
        out.append(fit)
        best = least(np.array([each.log_loss for each in out]))
        for i in range(len(out)):
            if i != best and len(out[i].answer.w):
                out[i] = out[i]._replace(answer=replace(out[i].answer, w=NOTHING))
    return out


class StopWhenWorse:
    """Stop after so many fits without improvement, or one that is worse than the best by a share."""

    def __init__(self, patience: int, rise: float = np.inf):
        self.patience, self.rise, self.best, self.since = patience, rise, np.inf, 0

    def __call__(self, fit: Fit) -> bool:
        self.best, self.since = (fit.log_loss, 0) if fit.log_loss < self.best else (self.best, self.since + 1)
        worse = self.since >= self.patience or fit.log_loss > (1.0 + self.rise) * self.best
        return worse and bool(np.isfinite(self.best))


class StopWhenFlat:
    """Stop when a weaker penalty cannot improve: the fit is nearly perfect, or has not changed for several steps."""

    def __init__(self, null_loss: float, patience: int):
        self.null, self.patience, self.last, self.since = null_loss, patience, null_loss, 0

    def __call__(self, fit: Fit) -> bool:
        won, self.last = self.last - fit.loss, fit.loss
        self.since = self.since + 1 if won < 1e-4 * self.null < 0.1 * (self.null - fit.loss) else 0
        return fit.loss < 0.01 * self.null or self.since >= self.patience


def null_parameters(objective: Objective) -> np.ndarray:
    """Parameters of the fit without columns: intercepts from the class frequencies."""
    out = np.zeros((objective.m, objective.p))
    if objective.intercept:
        mass = ops.class_weights(objective.rows.y, objective.rows.w, objective.rows.k)
        level = np.log(np.maximum(mass, 1e-9 * mass.sum()))
        out[:, -1] = level[1] - level[0] if objective.m == 1 else level - level.mean()
    return out.ravel()


def grid(objective: Objective, l1_ratio: float, scales: np.ndarray | None = None) -> np.ndarray:
    """Values of C from a penalty that leaves nearly no coefficients to hardly any penalty. They do not depend on the
    number of rows or the units of columns, nor on `scales` (d,) that the penalty divides columns by.

    L2: a coefficient of curvature h, at the fit without columns, is shrunk by the factor h C / (1 + h C).
    """
    free = replace(objective, ridge=np.zeros(objective.p), lasso=np.zeros(objective.p))
    start, d = null_parameters(objective), objective.d
    if l1_ratio > 0:
        pulls = np.abs(objective.table(free.slope(start)[1])[:, :d])
        pull = (pulls if scales is None else pulls / scales).max(initial=0.0)
        first = l1_ratio / pull * (1 - 1e-9) if pull > 0 else 1e-2
        decades = 4.0 - np.log10(l1_ratio)
        return first * 10.0 ** (np.arange(round(CORNERED * decades) + 1) / CORNERED)
    first, second = free.diagonal(start)
    curvature = Columns.of(first, second, free.intercept).diagonal[:, :d].max(axis=0, initial=0.0)
    curvature = curvature if scales is None else curvature / scales**2
    felt = curvature[curvature > max(TINY * curvature.max(initial=0.0), LEAST_CURVATURE)]
    felt = felt if len(felt) else np.array([1.0])
    ends = np.log10([0.1 / felt.sum(), 1e4 / felt.min()]) * SMOOTH
    return 10.0 ** (np.arange(np.floor(ends[0]), np.ceil(ends[1]) + 1) / SMOOTH)


@dataclass(frozen=True, eq=False)
class LeaveOneOutScore:
    """Log loss by approximate leave-one-out; for L2 penalties."""

    rows: Leverage
    y: np.ndarray  # of the rows that are left out
    w: np.ndarray | None
    bias: float  # penalty of the intercept, times C
    scales: np.ndarray | None = None  # (d,), that the penalty divides columns by
    name = "leave-one-out"

    @classmethod
    def of(
        cls, objective: Objective, times: np.ndarray | None, bias: float = 0.0, scales: np.ndarray | None = None
    ) -> LeaveOneOutScore:
        """`times` (n,): how many rows each row stands for."""
        rows = objective.rows
        whole = Leverage.of(rows.x, rows.y, rows.w, rows.k, objective.intercept, times)
        at = sample_by_content(objective.x, rows.w, LEAVING)
        return cls(whole.leaving_only(at), rows.y[at], None if rows.w is None else rows.w[at], bias, scales)

    def __call__(self, C: float, objective: Objective, w: np.ndarray) -> float:
        table, last = objective.table(w), objective.d
        bias = table[:, last] if objective.intercept else np.zeros(1)
        theta = reference_coding(table[:, :last], bias, objective.intercept)
        with np.errstate(all="ignore"):
            prior = Prior(C, self.bias / C, self.scales)
            return mean_loss(self.rows.without(theta, prior), self.y, self.w)


def sample_by_content(x: Reals | Counts, w: np.ndarray | None, most: int) -> np.ndarray:
    """All copies of up to `most` distinct rows of positive weight, in ascending order: which, their cells decide."""
    at, digest = np.arange(x.n) if w is None else np.flatnonzero(w > 0), stirred(row_digests(x))
    distinct = np.unique(digest[at])
    return at if len(distinct) <= most else at[digest[at] <= distinct[most - 1]]


@dataclass(frozen=True, eq=False)
class FoldScore:
    """Log loss by folds. Held-out rows have weight 0, so that none are copied; fits start from that of all rows."""

    fold: np.ndarray  # (n,), −1: never held out
    minimise: Minimise

    @property
    def name(self) -> str:
        return f"{self.fold.max(initial=-1) + 1} folds"

    def __call__(self, C: float, objective: Objective, w: np.ndarray) -> float:
        rows, d = objective.rows, objective.d
        whole = np.ones(rows.n) if rows.w is None else rows.w
        log_proba = np.zeros((rows.n, rows.k))
        for i in range(self.fold.max(initial=-1) + 1):
            out = self.fold == i
            some = replace(objective, rows=replace(rows, w=np.where(out, 0.0, whole)))
            table = objective.table(self.minimise(some, w).w)
            bias = table[:, d] if objective.intercept else np.zeros(objective.m)
            scores = ops.affine(objective.x.rows(0, rows.n), np.ascontiguousarray(table[:, :d]), bias)
            if objective.m == 1:
                scores = np.column_stack([np.zeros(rows.n), scores])
            log_proba[out] = ops.posterior(np.ascontiguousarray(scores), logs=True)[out]
        return mean_loss(log_proba, rows.y, np.where(self.fold < 0, 0.0, whole))


def mean_loss(log_proba: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> float:
    """Mean of −log P(true class); infinite instead of NaN."""
    loss = log_loss(np.asarray(y, dtype=np.intp), log_proba, w)
    return np.inf if np.isnan(loss) and (w is None or (w > 0).any()) else loss


def is_narrow(objective: Objective) -> bool:
    """Whether the Hessian of leave-one-out is affordable for every C."""
    size = (objective.k - 1) * objective.p
    return not objective.lasso.any() and size <= WIDE and objective.n * size**2 <= COSTLY


FOLDS = 5
PATIENCE = 8  # consecutive values of C without improvement after which the search stops
RISE = 0.05  # held-out log loss above the least, as a share of it, at which the choice of C stops
ROUGH = 100.0  # how much larger the tolerance is while the C of an L2 penalty is chosen
LEAVING = 1 << 11  # rows that leave-one-out takes where C is chosen
KEPT = 1_000_000  # largest number of coefficients of a path that `fit` keeps


def scorer(
    how: Any, objective: Objective, settings: Settings, times: np.ndarray | None, X: Any, minimise: Minimise
) -> LeaveOneOutScore | FoldScore | None:
    """The score of held-out rows; `times` are the weights of the rows as given, without those of classes."""
    rows = objective.rows
    if how is None:
        return None
    if isinstance(how, str):
        if how not in ("auto", "loo"):
            raise DataError(f"`held_out` is {how!r}\n\nhint: 'auto', 'loo', a number of folds, or a splitter")
        if how == "loo" and objective.lasso.any():
            raise DataError("leave-one-out needs a penalty without a corner\n\nhint: held_out=5, or l1_ratio=0")
        if how == "loo" or is_narrow(objective):
            return LeaveOneOutScore.of(objective, times, settings.bias_l2, settings.scales(objective))
        how = min(FOLDS, rows.n)
    if isinstance(how, Integral) and 2 <= int(how) <= rows.n:
        return FoldScore(folds_with_copies_together(objective.x, rows.y, int(how), rows.w), minimise)
    return FoldScore(assign_folds(how, X, rows.y), minimise)


def check_strengths(Cs: Any) -> np.ndarray:
    """Given values of C, sorted: the strongest penalty first."""
    out = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    if len(out) == 0 or not (out > 0).all() or not np.isfinite(out).all():
        raise DataError(f"C is to be chosen among {Cs!r}\n\nhint: numbers over 0, as [0.1, 1, 10]")
    return out


def deviations(rows: Table) -> np.ndarray:
    """The standard deviation of each column, (d,)."""
    found = ops.moments(rows.x.rows(0, rows.n), np.zeros(rows.n, dtype=np.int32), rows.w, 1)  # type: ignore[arg-type]
    return np.sqrt(found.m2[0] / found.n.sum())


def fit_path(
    objective: Objective,
    settings: Settings,
    Cs: Sequence[float] | None,
    held_out: Any,
    times: np.ndarray | None,
    X: Any = None,
    *,
    tol: float,
    max_iter: int,
    verbose: Any = 0,
    stop: Callable[[Fit], bool] | None = None,
    most: float = np.inf,
    coarse: bool = False,
) -> tuple[list[Fit], str]:
    """(the fits of a path, how rows were held out).

    Cs: None for the grid. held_out: see `LogisticRegression.path`. times: weights of the rows as given. X: the rows as
    given, for a splitter. stop: see `walk`. most: with more coefficients in all, only the best fit keeps its own.
    coarse: every second C, and then those next to the best.
    """
    start = null_parameters(objective)
    scales = settings.scales(objective)
    strengths = grid(objective, settings.ratio, scales) if Cs is None else check_strengths(Cs)
    with progress.progress_bar(verbose, "path") as advance:

        def minimise(f: Objective, w: np.ndarray) -> Solution:
            C = settings.C * (objective.ridge[0] + objective.lasso[0]) / (f.ridge[0] + f.lasso[0])
            share = np.searchsorted(strengths, 0.999 * C) / len(strengths)
            watch = progress.solver_callback(advance, f"C = {C:.3g}", share)
            return minimisation.minimise(settings.solver, f, w, tol, max_iter, watch)

        score = scorer(held_out, objective, settings, times, X, minimise)
        keep = list if len(strengths) * objective.size <= most else only_best
        at = partial(settings.rescaled, objective)
        kept = keep(walk(at, strengths[:: 1 + coarse], start, minimise, score, stop))
        if coarse:
            best = least(np.array([fit.log_loss for fit in kept]))
            nearest = [strengths[i] for i in (2 * best - 1, 2 * best + 1) if 0 <= i < len(strengths)]
            more = (walk(at, [C], kept[best].answer.w, minimise, score) for C in nearest)
            kept = keep(sorted(chain(kept, *more), key=lambda fit: fit.C))
    return kept, "" if score is None else score.name
