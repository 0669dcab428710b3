"""The strength of the penalty chosen by what it does to rows held out, and the path of fits that shows it.

`C="auto"` walks from a strong penalty to a weak one (see `regularisation_path`), each fit from the last one's, until it
has been getting worse for a while, and keeps the C of least held-out log loss: by approximate leave-one-out (L2), or by
5 folds where the penalty has a corner (L1, elastic net) or there are too many coefficients for a Hessian. Rows held out
count by the weights that they have in the fit. A list of numbers as C has these tried instead.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression(C="auto").fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1])
>>> round(model.C_, 3), model.path_.held_out
(1.0, 'leave-one-out')
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import ingest, ops, progress
from deciban.classifiers import logistic_settings as settings
from deciban.errors import DataError
from deciban.folds import fold_of_each, folds_by_content
from deciban.inference.regularisation_path import (
    Fit,
    InFolds,
    LeftOut,
    Minimise,
    Path,
    Saturated,
    Stale,
    grid,
    narrow,
    null,
    only_best,
    walk,
)
from deciban.losses import minimisation
from deciban.losses.objectives import Objective
from deciban.solvers.base import Solution
from deciban.table import Table

FOLDS = 5
PATIENCE = 8  # penalties in a row without a better score, and the search is over
KEPT = 1_000_000  # coefficients that a chosen C leaves behind, at most


class Choosing:
    """Mixin: needs scikit-learn's settings of LogisticRegression, `_objective` and `_jeffreys`."""

    classes_: np.ndarray
    C_: float
    path_: Path
    penalty: Any
    tol: float
    max_iter: int
    verbose: int
    _objective: Callable[..., Objective]
    _jeffreys: Callable[..., Solution]
    _column_names: Callable[[], list[str]]
    _validate_params: Callable[[], None]
    _plain: Callable[[], Any]
    _refuse: Callable[..., None]

    def path(self, X, y, Cs: Sequence[float] | None = None, sample_weight=None, *, held_out: Any = None) -> Path:
        """The fits of these rows from a strong penalty to a weak one; the model itself stays as it is.

        Cs: by default from all but no coefficients on, until a weaker penalty would change next to nothing. held_out:
        also the log loss of rows by fits without them: "loo" (approximate leave-one-out, L2 only), a number of folds,
        the fold of each row, a scikit-learn splitter, or "auto", what C="auto" takes.

        >>> from deciban import LogisticRegression
        >>> path = LogisticRegression(l1_ratio=1.0).path([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 0, 1])
        >>> path.coef.shape == (len(path.Cs), 1, 2), path.coef[0].any()
        (True, np.False_)
        """
        self._validate_params()
        chosen = settings.read(self, C=1.0)
        if np.isinf(chosen.C):
            raise DataError(
                f"penalty={self.penalty!r} has no strength to vary\n\nhint: l1_ratio=0 (L2), 1 (L1) or between have"
            )
        model = self._plain()
        objective = model._objective(X, y, sample_weight, chosen)
        s = ingest.weights(sample_weight, objective.rows.y)
        start = objective.slope(null(objective))[0] / objective.weight
        fits, score = model._walk(
            objective, chosen, s, Cs, held_out, X, Saturated(start, PATIENCE) if Cs is None else None
        )
        if not all(fit.answer.converged for fit in fits):
            warnings.warn(
                "some fits of the path did not converge\n\nhint: increase max_iter", ConvergenceWarning, stacklevel=2
            )
        return model._as_path(objective, fits, score)

    def _settled(self, chosen: settings.Settings) -> settings.Settings:
        """Where C is yet to be chosen: with that of the last fit, or 1."""
        return chosen if chosen.among is None else chosen.at(getattr(self, "C_", 1.0))

    def _minimum(self, objective: Objective, start: np.ndarray, chosen: settings.Settings, sample_weight) -> Solution:
        """The fit, by whatever penalty the settings mean; leaves `C_`, and `path_` where C was chosen."""
        self.__dict__.pop("path_", None)
        self.C_ = float(chosen.C)
        if chosen.among is not None:
            s = ingest.weights(sample_weight, objective.rows.y)
            Cs = None if isinstance(chosen.among, str) else chosen.among
            fits, score = self._walk(objective, chosen, s, Cs, "auto", None, Stale(PATIENCE), KEPT)
            self.path_ = self._as_path(objective, fits, score)
            self.C_ = self.path_.C
            best = self.path_.best
            answer = replace(fits[best].answer, steps=sum(fit.answer.steps for fit in fits[: best + 1]))
            return minimisation.finish(chosen.solver, chosen.penalising(objective)(self.C_), answer, np.iinfo(int).max)
        with progress.shown(self.verbose, "fit", self.tol * objective.weight) as tell:
            if self.penalty == "jeffreys":
                return self._jeffreys(objective.rows, tell)
            watch = progress.watching(tell)
            answer = minimisation.minimise(chosen.solver, objective, start, self.tol, self.max_iter, watch)
            return minimisation.finish(chosen.solver, objective, answer, self.max_iter, watch)

    def _walk(
        self,
        objective: Objective,
        chosen: settings.Settings,
        s: np.ndarray | None,
        Cs: Sequence[float] | None,
        held_out: Any,
        X: Any,
        enough: Callable[[Fit], bool] | None = None,
        most: float = np.inf,
    ) -> tuple[list[Fit], Any]:
        """(the fits, what scored them); with more than `most` coefficients in all, only the best fit keeps its own."""
        start = null(objective)
        if not np.isfinite(objective.slope(start)[1]).all():
            self._refuse(objective.rows.x)
        steps = grid(objective, chosen.ratio) if Cs is None else check_strengths(Cs)
        with progress.shown(self.verbose, "path") as tell:

            def minimise(f: Objective, w: np.ndarray) -> Solution:
                C = 1.0 / (f.ridge[0] + f.lasso[0])
                watch = progress.watching(tell, f"C = {C:.3g}", np.searchsorted(steps, 0.999 * C) / len(steps))
                return minimisation.minimise(chosen.solver, f, w, self.tol, self.max_iter, watch)

            score = scorer(held_out, objective, chosen, s, X, minimise)
            fits = walk(chosen.penalising(objective), steps, start, minimise, score, enough)
            return (list(fits) if len(steps) * objective.size <= most else only_best(fits)), score

    def _as_path(self, objective: Objective, fits: list[Fit], score: Any) -> Path:
        d, kept = objective.rows.d, all(len(fit.answer.w) for fit in fits)
        tables = np.stack([objective.table(fit.answer.w) for fit in fits]) if kept else None
        bias = None if tables is None else tables[:, :, d:].sum(axis=2)  # 0 where there is none
        return Path(
            np.array([fit.C for fit in fits]),
            None if tables is None else tables[:, :, :d].copy(),
            bias,
            np.array([fit.answer.steps for fit in fits], dtype=np.int32),
            np.array([fit.log_loss for fit in fits]) if score else None,
            np.array([fit.loss for fit in fits]),
            score.name if score else "",
            self.classes_,
            tuple(self._column_names()),
            deviations(objective.rows),
        )


def scorer(
    how: Any, objective: Objective, chosen: settings.Settings, s: np.ndarray | None, X: Any, minimise: Minimise
) -> LeftOut | InFolds | None:
    """What holds rows out; `s` are their weights as given, without those of classes."""
    rows = objective.rows
    if how is None:
        return None
    if isinstance(how, str):
        if how not in ("auto", "loo"):
            raise DataError(f"`held_out` is {how!r}\n\nhint: 'auto', 'loo', a number of folds, or a splitter")
        if how == "loo" and objective.lasso.any():
            raise DataError("leave-one-out needs a penalty without a corner\n\nhint: held_out=5, or l1_ratio=0")
        if how == "loo" or narrow(objective):
            return LeftOut.of(objective, s, chosen.bias_l2)
        how = min(FOLDS, rows.n)
    if isinstance(how, Integral) and 2 <= int(how) <= rows.n:
        return InFolds(folds_by_content(objective.x, rows.y, int(how), rows.w), minimise)
    return InFolds(fold_of_each(how, X, rows.y), minimise)


def check_strengths(Cs: Any) -> np.ndarray:
    """Given values of C, the strongest penalty first."""
    out = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    if len(out) == 0 or not (out > 0).all() or not np.isfinite(out).all():
        raise DataError(f"C is to be chosen among {Cs!r}\n\nhint: numbers over 0, as [0.1, 1, 10]")
    return out


def deviations(rows: Table) -> np.ndarray:
    """The standard deviation of each column, (d,)."""
    found = ops.moments(rows.x.rows(0, rows.n), np.zeros(rows.n, dtype=np.int32), rows.w, 1)  # type: ignore[arg-type]
    return np.sqrt(found.m2[0] / found.n.sum())
