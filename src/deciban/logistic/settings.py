"""The settings of logistic regression as a value, with the warnings and errors of scikit-learn 1.9.

>>> from deciban import LogisticRegression
>>> found = Settings.from_model(LogisticRegression(C=0.5, l1_ratio=0.25))
>>> found.l2, found.l1
(1.5, 0.5)
>>> Settings.from_model(LogisticRegression(C="auto")).needs_all_rows
"C='auto'"
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from deciban.errors import levels_up
from deciban.logistic.objective import Objective, penalties

OURS = ("auto", "newton", "coordinate", "gradient", "sgd")
THEIRS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
LASSO = ("liblinear", "saga", "auto", "coordinate")  # solvers that can minimise |coef|


@dataclass(frozen=True)
class Settings:
    solver: str
    l2: float
    l1: float
    bias_l2: float = 0.0  # penalties of the intercept, for solver "liblinear"
    bias_l1: float = 0.0
    C: float = np.inf
    ratio: float = 0.0  # of the L1 penalty
    candidates: Any = None  # "auto", or the values from which C is chosen; the penalties are those of C = 1 until then
    needs_all_rows: str = ""  # the setting that needs all rows in memory, if there is one

    @classmethod
    def from_model(cls, model: Any, C: Any = None) -> Settings:
        """The checked settings of a model (with this C, if given); warns as scikit-learn does."""
        C = model.C if C is None else C
        C, candidates = (C, None) if isinstance(C, Real) else (1.0, C)
        penalty = _penalty(model, C)
        if penalty == "jeffreys":
            if model.solver != "auto":
                raise ValueError(f"penalty='jeffreys' needs solver='auto', got {model.solver!r}")
            return cls(model.solver, 0.0, 0.0, needs_all_rows="penalty='jeffreys'")
        _check_solver(model.solver, penalty, model.dual)
        _warn(model, penalty)
        ratio = {"l1": 1.0, "elasticnet": model.l1_ratio}.get(penalty or "", 0.0)
        if model.penalty is None:
            if candidates is not None or C != 1.0:
                warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=levels_up())
            C, candidates = np.inf, None
        l2, l1 = (1.0 - ratio) / C, ratio / C
        biases = (0.0, 0.0)
        if model.solver == "liblinear" and model.fit_intercept:
            biases = l2 / model.intercept_scaling**2, l1 / model.intercept_scaling
        whole = "solver='sgd'" if model.solver == "sgd" else ""
        if candidates is not None:
            whole = f"C={model.C!r}"
        return cls(model.solver, l2, l1, *biases, C, ratio, candidates, whole)

    def with_strength(self, C: float) -> Settings:
        """The settings with another C, which need not be chosen."""
        t = self.C / C
        out = replace(self, l2=t * self.l2, l1=t * self.l1, bias_l2=t * self.bias_l2, bias_l1=t * self.bias_l1)
        return replace(out, C=C, candidates=None)

    def penalties(self, d: int, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
        """(ridge, lasso) of d columns; see `objective.penalties`."""
        return penalties(d, self.l2, self.l1, intercept, self.bias_l2, self.bias_l1)

    def rescaled(self, objective: Objective, C: float) -> Objective:
        """An objective with these penalties, as one with the penalties of another C."""
        return replace(objective, ridge=objective.ridge * (self.C / C), lasso=objective.lasso * (self.C / C))


def _penalty(model: Any, C: float) -> str | None:
    if model.penalty == "jeffreys":  # not a penalty of scikit-learn
        return "jeffreys"
    if model.penalty != "deprecated":  # scikit-learn warns of every `penalty`; here it is not deprecated
        return model.penalty
    if model.l1_ratio is None:
        warnings.warn(
            "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in 1.10. "
            "Use 0<=l1_ratio<=1 instead.",
            FutureWarning,
            stacklevel=levels_up(),
        )
    if np.inf == C:
        return None
    return "l2" if not model.l1_ratio else "l1" if model.l1_ratio == 1 else "elasticnet"


def _check_solver(solver: str, penalty: str | None, dual: bool) -> None:
    if solver not in LASSO and penalty not in ("l2", None):
        raise ValueError(
            f"Solver {solver} supports only 'l2' or None penalties, got {penalty} penalty.\n\n"
            "hint: solver='auto' or 'coordinate' takes every penalty"
        )
    if solver != "liblinear" and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual={dual}")
    if penalty == "elasticnet" and solver == "liblinear":
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if solver == "liblinear" and penalty is None:
        raise ValueError("C=np.inf as well as penalty=None is not supported for the liblinear solver")


def _warn(model: Any, penalty: str | None) -> None:
    ratio = model.l1_ratio
    if penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
        warnings.warn(
            f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})",
            stacklevel=levels_up(),
        )
    if (model.penalty == "l2" and ratio not in (0, None)) or (model.penalty == "l1" and ratio not in (0, 1, None)):
        warnings.warn(
            f"Inconsistent values: penalty={model.penalty} with l1_ratio={ratio}: l1_ratio is ignored\n\n"
            "hint: leave out one of them",
            stacklevel=levels_up(),
        )
    if penalty == "elasticnet" and ratio is None:
        raise ValueError("l1_ratio must be specified when penalty is elasticnet.")
    if model.n_jobs is not None:
        warnings.warn(
            "'n_jobs' has no effect since 1.8 and will be removed in 1.10. You provided "
            f"'n_jobs={model.n_jobs}', please leave it unspecified.",
            FutureWarning,
            stacklevel=levels_up(),
        )


MESSAGES = {  # scikit-learn's wording, which callers may match
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
    "lbfgs": "lbfgs failed to converge after {n_iter} iterations",
    "newton-cholesky": "Newton solver did not converge after {n_iter} iterations",
}


def convergence_message(solver: str, reason: str, n_iter: int) -> str:
    """The text of the warning that the minimum was not reached."""
    message = MESSAGES.get(solver, "solver '{solver}' did not converge after {n_iter} iterations").format(
        solver=solver, n_iter=n_iter
    )
    advice = "increase max_iter" if reason == "max_iter" else "scale the columns, or add a penalty (a smaller C)"
    return f"{message} ({reason})\n\nhint: {advice}"
