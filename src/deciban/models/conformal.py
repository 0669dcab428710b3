"""Sets of classes with stated coverage (conformal prediction), from probabilities of rows that a model did not learn.

The score of a class is 1 − P(class | x). Scores are compared by log odds, which have the same order and keep
probabilities near 0 and near 1 apart. Calibration rows i have weights w_i (1 by default); m(i) is the model that row i
was held out from.

    p(x, c) = Σ w_i [log odds of the class of row i by m(i) > log odds of c at x by m(i)]
    set(x) = {c : p(x, c) < coverage · (W + u)}          W = Σ w_i,  u = Σ w_i² / W

Where all weights are 1 and one model holds all rows out, this is split conformal prediction: c is in the set if its
score is at most the ceil((n + 1) · coverage)-th smallest score of the n rows. Where ten models hold out a fold each, it
is CV+. u is the weight of the row to predict: that of a calibration row. With `by_class`, the sums for c go over the
rows of class c only. Log odds that differ by rounding are equal, so that equal rows count as equal.

>>> rows = HeldOutRows(np.array([0.5, 3.0, 1.0, 2.0]), np.zeros(4, dtype=np.intp), np.ones(4), np.ones(4))
>>> below = Below.from_rows([rows], 1, by_class=False)
>>> below.passed(0, np.array([[2.5], [1.0], [0.4]])).tolist()
[[1.0], [2.0], [4.0]]
>>> below.limit(0.5).round(6).tolist(), below.limit(0.9).round(6).tolist()  # 4.5 > 4: none is left out
([2.5], [4.5])
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from deciban.display import format_list
from deciban.errors import DataError, levels_up
from deciban.metrics import TIE
from deciban.rows import inputs

ROUNDING = 1e-12  # of a sum of weights
NAMED = 5  # classes that a warning lists


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that a model did not learn, and the log odds that it gives their classes."""

    odds: np.ndarray  # (m,), of the class of each row against all others
    y: np.ndarray  # (m,), class codes
    w: np.ndarray  # (m,), the weight of each copy of a row
    times: np.ndarray  # (m,), how many copies each row stands for
    share: np.ndarray | float = 1.0  # factor of the weight, where classes have more rows than by their frequency

    def weights(self, by_class: bool) -> np.ndarray:
        """The weight of one copy of each row."""
        return self.w if by_class else self.w * self.share


@dataclass(frozen=True, eq=False)
class Below:
    """For each model and class (or for each model): log odds of held-out rows, ascending, and the weight up to each."""

    groups: list[list[tuple[np.ndarray, np.ndarray]]]  # [model][class, or 0]: (odds, cumulative weights from 0)
    total: np.ndarray  # (k,), or (1,)
    unit: np.ndarray  # the same: the weight of one more row

    @classmethod
    def from_rows(cls, held: Sequence[HeldOutRows], k: int, by_class: bool) -> Below:
        count = k if by_class else 1
        sums = np.zeros((2, count))
        groups = []
        for rows in held:
            own = []
            one = rows.weights(by_class)
            for c in range(count):
                at = np.flatnonzero(rows.y == c) if by_class else np.arange(len(rows.y))
                weight = one[at] * rows.times[at]
                order = np.lexsort((weight, rows.odds[at]))
                own.append((rows.odds[at][order], np.append(0.0, np.cumsum(weight[order]))))
                sums[:, c] += weight.sum(), (weight * one[at]).sum()
            groups.append(own)
        total, squares = sums
        return cls(groups, total, np.divide(squares, total, out=np.ones(count), where=total > 0))

    def passed(self, model: int, odds: np.ndarray) -> np.ndarray:
        """The weight (n, k) of the rows held out from a model whose log odds are above these."""
        out = np.empty(odds.shape)
        with np.errstate(invalid="ignore"):
            above = np.where(np.isfinite(odds), odds + TIE * np.maximum(np.abs(odds), 1.0), odds)
        own = self.groups[model]
        for c in range(odds.shape[1]):
            known, weight = own[c if len(own) > 1 else 0]
            out[:, c] = weight[-1] - weight[np.searchsorted(known, above[:, c], side="right")]
        return out

    def limit(self, coverage: float) -> np.ndarray:
        """What is passed by less is in the set; (k,), or (1,)."""
        return coverage * (self.total + self.unit) * (1.0 - ROUNDING)

    def too_few(self, coverage: float) -> np.ndarray:
        """Where there are so few rows that no class can be left out, (k,), or (1,)."""
        return self.limit(coverage) > self.total * (1.0 + ROUNDING)


class SetPredictor:
    """Sets of classes of a fitted classifier, see `set_predictor`."""

    def __init__(
        self, model: Any, held: Sequence[tuple[Any, HeldOutRows]], by_class: bool, notes: str = "calibration rows"
    ) -> None:
        self.classes_: np.ndarray = model.classes_
        self.by_class = by_class
        self._models = [one for one, _ in held]
        self._below = Below.from_rows([rows for _, rows in held], len(self.classes_), by_class)
        self._notes = notes

    def predict(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Whether each class is in the set of each row, bool (n, k) in the order of `classes_`."""
        check_coverage(coverage)
        self._warn_if_too_few(coverage)
        passed = sum(
            self._below.passed(place, log_odds_in(self.classes_, one, X)) for place, one in enumerate(self._models)
        )
        return np.asarray(passed < self._below.limit(coverage))

    def _warn_if_too_few(self, coverage: float) -> None:
        few = self._below.too_few(coverage)
        if not few.any():
            return
        rows = np.round(self._below.total / self._below.unit).astype(int)
        needed = int(np.ceil(coverage / (1.0 - coverage) * (1.0 - ROUNDING)))
        if not self.by_class:
            what = f"{rows[0]} {self._notes} are too few for coverage {coverage:g}: every set has all classes"
        else:
            named = [f"{label!r} ({rows[c]})" for c, label in enumerate(self.classes_.tolist()) if few[c]]
            listed = format_list(named, NAMED, "", more="more")
            what = f"too few {self._notes} for coverage {coverage:g} by class, so that every set has {listed}"
        warnings.warn(
            f"{what}\n\nhint: {needed} rows{' of each class' * self.by_class} are needed; or ask for less coverage",
            UserWarning,
            stacklevel=levels_up(),
        )


def check_coverage(coverage: Any) -> None:
    if not isinstance(coverage, Real) or isinstance(coverage, bool) or not 0.0 < float(coverage) < 1.0:
        raise DataError(f"`coverage` is {coverage!r}\n\nhint: a number between 0 and 1, such as 0.9")


def log_odds_in(classes: np.ndarray, model: Any, X: Any) -> np.ndarray:
    """The log odds (n, k) of each of the classes, of which a model may know fewer: −∞ for the others."""
    return in_classes(classes, model, np.asarray(inputs.to_numpy(model.log_odds(X)), dtype=np.float64))


def in_classes(classes: np.ndarray, model: Any, odds: np.ndarray) -> np.ndarray:
    """Log odds (n, k) of all classes, from those of the classes of a model."""
    if len(model.classes_) == len(classes):
        return odds
    out = np.full((len(odds), len(classes)), -np.inf)
    out[:, np.searchsorted(classes, model.classes_)] = odds
    return out


def own_odds(odds: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The log odds of the class of each row, (n,)."""
    return odds[np.arange(len(y)), y]
