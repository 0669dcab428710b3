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
from deciban.solvers.update_rules import Online, PlainGradient, PlainNewton

OURS = ("auto", "newton", "coordinate", "gradient", "sgd", "online")
THEIRS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
PLAIN = ("gradient", "newton", "online")  # solvers that may go without line search
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
    rule: Any = None  # the plain rule that is followed (`solvers.update_rules`); None: a solver that finds the minimum

    @classmethod
    def from_model(cls, model: Any, C: Any = None) -> Settings:
        """The checked settings of a model (with this C, if given); warns as scikit-learn does."""
        C = model.C if C is None else C
        C, candidates = (C, None) if isinstance(C, Real) else (1.0, C)
        penalty = _penalty(model, C)
        _check_steering(model, penalty, candidates)
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
        whole = f"solver={model.solver!r}" if model.solver in ("sgd", "online") else ""
        if candidates is not None:
            whole = f"C={model.C!r}"
        return cls(model.solver, l2, l1, *biases, C, ratio, candidates, whole, _rule(model))

    def with_strength(self, C: float) -> Settings:
        """The settings with another C, which need not be chosen."""
        t = self.C / C
        out = replace(self, l2=t * self.l2, l1=t * self.l1, bias_l2=t * self.bias_l2, bias_l1=t * self.bias_l1)
        return replace(out, C=C, candidates=None)

    def penalties(self, d: int, intercept: bool, scales: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(ridge, lasso) of d columns, see `objective.penalties`; `scales` (d,): that they are divided by."""
        ridge, lasso = penalties(d, self.l2, self.l1, intercept, self.bias_l2, self.bias_l1)
        if scales is not None:
            ridge[:d] *= scales**2
            lasso[:d] *= scales
        return ridge, lasso

    def scales(self, objective: Objective) -> np.ndarray | None:
        """The `scales` of an objective with these penalties, (d,); None: all are 1."""
        d = objective.d
        out = np.sqrt(objective.ridge[:d] / self.l2) if self.l2 else objective.lasso[:d] / self.l1
        return None if (out == 1.0).all() else out

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


def _rule(model: Any) -> Any:
    """The plain rule that the settings mean, if they mean one."""
    if model.solver == "online":
        return Online(model.learning_rate)
    if model.line_search:
        return None
    return PlainNewton() if model.solver == "newton" else PlainGradient(model.learning_rate)


def _check_steering(model: Any, penalty: str | None, candidates: Any) -> None:
    """Raise an error for settings of the steps (learning rate, line search, start, history) that do not go together."""
    solver, rate = f"solver={model.solver!r}", model.learning_rate
    if not model.line_search and model.solver not in PLAIN:
        raise ValueError(
            f"{solver} and line_search=False do not go together\n\n"
            "hint: solver='gradient' and solver='newton' have plain steps; solver='online' needs no line search"
        )
    if rate is not None and model.solver not in ("gradient", "online"):
        raise ValueError(
            f"{solver} and learning_rate={rate:g} do not go together: this solver chooses its own steps\n\n"
            "hint: solver='online', or solver='gradient' with line_search=False"
        )
    if rate is not None and model.solver == "gradient" and model.line_search:
        raise ValueError(
            f"{solver} with line_search=True chooses its own steps, but learning_rate={rate:g}\n\n"
            "hint: line_search=False makes every step learning_rate × gradient"
        )
    if rate is None and model.solver == "gradient" and not model.line_search:
        raise ValueError(
            f"{solver} with line_search=False needs a learning rate, but learning_rate=None\n\n"
            "hint: learning_rate=0.1, or line_search=True"
        )
    if model.init is not None and model.warm_start:
        raise ValueError("init=… and warm_start=True are two starting points\n\nhint: leave out one of them")
    steered = [
        name
        for name, given in (
            ("init=…", model.init is not None),
            ("history=True", model.history),
            ("line_search=False", not model.line_search),
            (solver, model.solver == "online"),
        )
        if given
    ]
    many = "penalty='jeffreys'" if penalty == "jeffreys" else f"C={model.C!r}" if candidates is not None else ""
    if steered and many:
        why = "is Fisher scoring from zeros" if penalty == "jeffreys" else "makes many fits, each from the last one"
        raise ValueError(
            f"{many} {why}, and does not go together with {' and '.join(steered)}\n\n"
            f"hint: leave out {steered[0]}{'' if penalty == 'jeffreys' else ', or pass the C_ that was chosen'}"
        )


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


ADVICE = {
    "max_iter": "increase max_iter",
    "diverged": "another `init`, a smaller learning_rate, or a solver that chooses its steps; history=True shows them",
}


def convergence_message(solver: str, reason: str, n_iter: int) -> str:
    """The text of the warning that the minimum was not reached."""
    message = MESSAGES.get(solver, "solver '{solver}' did not converge after {n_iter} iterations").format(
        solver=solver, n_iter=n_iter
    )
    advice = ADVICE.get(reason, "scale the columns, or add a penalty (a smaller C)")
    return f"{message} ({reason})\n\nhint: {advice}"
