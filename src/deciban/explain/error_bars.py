"""Standard errors and intervals of evidence.

A source of errors (`Errors`) gives the variance of Σ_c coef_c · score_c, of each column and of the total, for rows and
coefficients by class: +1 for the class explained and −1 for the other one, or the gradient of log odds against all
other classes. `ErrorBars` are those of an explanation, in decibans.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtri

from deciban.decision import DECIBAN
from deciban.errors import DataError

HELD = "Family, smoothing, cuts, weights and calibration are held fixed."
KINDS = ("auto", "robust", "model")  # values of `error`


@dataclass(frozen=True, eq=False)
class Variances:
    """Of rows, in squared nats."""

    prior: np.ndarray  # (n,)
    columns: np.ndarray  # (n, d)
    total: np.ndarray  # (n,)


class Errors(ABC):
    """Errors of some rows."""

    note: str  # what they come from

    @abstractmethod
    def variances(self, at: np.ndarray, coef: np.ndarray) -> Variances:
        """Of Σ_c coef_c · score_c of the rows `at` (m,); coef (m, k) sums to 0 over the classes."""

    def totals(self, at: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """The variances (m, t) of the totals alone, of t sums each; coef (m, t, k)."""
        return np.stack([self.variances(at, coef[:, t]).total for t in range(coef.shape[1])], axis=1)


@dataclass(frozen=True, eq=False)
class ErrorBars:
    """Errors of the rows of an explanation, and the level of its intervals."""

    errors: Errors
    level: float
    at: np.ndarray  # (n,), rows of `errors`

    @property
    def width(self) -> float:
        """Half the width of an interval, in standard errors."""
        return interval_width(self.level)

    @property
    def name(self) -> str:
        """Heading of a column of half widths."""
        return f"± {100 * self.level:.4g} %"

    @property
    def note(self) -> str:
        return f"± is half the width of a {100 * self.level:.4g} % interval {self.errors.note}. {HELD}"

    def take(self, index: np.ndarray) -> ErrorBars:
        return replace(self, at=self.at[index])

    def of_pair(self, chosen: np.ndarray, other: np.ndarray, k: int) -> Variances:
        """Standard errors, in decibans, of the evidence for classes `chosen` against `other`, (n,) each."""
        coef, row = np.zeros((len(chosen), k)), np.arange(len(chosen))
        coef[row, chosen] += 1.0
        coef[row, other] -= 1.0
        found = self.errors.variances(self.at, coef)
        return Variances(*map(standard_errors, (found.prior, found.columns, found.total)))


def standard_errors(variance: np.ndarray) -> np.ndarray:
    """Standard errors in decibans, of variances in squared nats."""
    return DECIBAN * np.sqrt(np.minimum(np.maximum(np.nan_to_num(variance), 0.0), 1e300))


def interval_width(level: Any) -> float:
    """How many standard errors an interval of this level reaches to either side.

    >>> round(interval_width(0.9), 3)
    1.645
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise DataError(f"`level` is {level!r}\n\nhint: a number between 0 and 1, such as 0.9")
    return float(ndtri(0.5 + 0.5 * float(level)))


def check_kind(error: Any) -> str:
    """The kind of errors that `error` asks for: one of KINDS."""
    kind = "auto" if error is True else error
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError(f"`error` is {error!r}\n\nhint: 'auto', 'robust', 'model', or None for no error bars")
    return kind
