"""Target leakage: columns that alone nearly determine the class, by their values or by which are missing.

Such a column is often recorded after the outcome (the lifeboat of a passenger, the day of a discharge), and a model
that uses it fails on new rows. A good predictor looks the same, so the warning is a question for somebody who knows the
data. Two signs:

    skill = 1 − (cross-validated log loss of the column alone) / (log loss of the class frequencies) ≥ 0.8, and
    either ≥ 0.95, or the other columns do not reach 0.8: where they do, the class is easy to predict
    given (or missing) values are nearly all of one class, far more of them than its frequency explains

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.arange(200) % 2
>>> later = np.where((y == 1) & (rng.random(200) < 0.5), 1.0, np.nan)
>>> X = np.column_stack([rng.normal(size=200), y + 0.01 * rng.normal(size=200), later])
>>> for leak in find_leakage(X, y):
...     print(leak)
`x1` alone predicts the class of 100.0 % of the rows: is it known before the outcome is?
`x2` is given in 43 rows, and 100.0 % of them are `1` (50.0 % of all rows are): is it known before the outcome is?
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import metrics
from deciban.classifiers.mixed import MixedNB
from deciban.data import frames
from deciban.model_selection.cross_validation import CrossValidation, cross_validate
from deciban.rows import inputs
from deciban.rows.sampling import folds_by_content, sample_rows

SKILL = 0.8
ALL_BUT_CERTAIN = 0.95  # skill that is suspicious even where the other columns predict as well
PURE = 0.98  # share of one class among the rows where the value is given (or missing)
SURE = 25.0  # nats of evidence against the class frequency as explanation
ROWS = 20_000  # rows that are used at most, sampled class by class
FOLDS = 10
QUESTION = "is it known before the outcome is?"


@dataclass(frozen=True, repr=False)
class Leakage:
    """A column that may leak the target."""

    column: str
    words: str
    share: float  # of rows whose class it predicts

    def __str__(self) -> str:
        return f"`{self.column}` {self.words}: {QUESTION}"

    __repr__ = __str__


def find_leakage(X: Any, y: Any) -> list[Leakage]:
    """Find columns that may leak the target, the strongest first.

    Of more than 20,000 rows, 20,000 are sampled class by class; the message says so.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.

    Returns
    -------
    list of Leakage
        Each with `column`, `words` and `share`, the share of rows whose class the column predicts.

    See Also
    --------
    report : An HTML page about a model.
    compare : Cross-validates the classifiers that suit the rows.

    Examples
    --------
    >>> find_leakage([[0.0], [1.0], [0.5]], ["a", "b", "a"])  # too few rows to suspect anything
    []
    """
    X, y = inputs.labelled(X, y)
    classes, codes = inputs.labels(np.asarray(y), None)
    n, k = len(codes), len(classes)
    if n < 20 or k < 2:
        return []
    table = X if frames.is_frame(X) else np.asarray(X)
    columns = frames.columns(table)
    at = sample_rows(columns, codes, ROWS)
    rows = Rows(table, at, codes[at], columns, classes, n)
    alone = {j: own for j in range(len(columns)) if (own := rows.alone(j)) is not None}
    found = [leak for j in range(len(columns)) if (leak := rows.by_cells(j, alone) or rows.by_absence(j))]
    return sorted(found, key=lambda leak: -leak.share)


class Rows:
    """A sample of rows, and how well some of their columns predict the class."""

    def __init__(
        self,
        table: Any,
        at: np.ndarray,
        y: np.ndarray,
        columns: list[frames.Column],
        classes: np.ndarray,
        total: int,
    ):
        self.table, self.at, self.y, self.classes = table, at, y, classes
        self.columns = [c.at(at) for c in columns]
        self.prior = np.bincount(y, minlength=len(classes)) / len(y)
        self.base = metrics.prior_log_loss(y)
        self.all = f"{len(y):,} of {total:,} rows" if len(y) < total else "the rows"
        self._fold: np.ndarray | None = None

    def alone(self, j: int) -> CrossValidation | None:
        """Cross-validated predictions by a column alone, if its skill is high."""
        column = self.columns[j]
        cells = column.named()[:, None]
        if column.missing.all():
            return None
        model = MixedNB(missing="informative")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quick = model.fit(cells, self.y).leave_one_out(
                cells, self.y
            )  # optimistic: the distribution was chosen from all rows
            if self._skill(metrics.log_loss(self.y, quick)) < SKILL:
                return None
            own = self._cross_validate(model, cells)
        return own if self._skill(own.log_loss) >= SKILL else None

    def by_cells(self, j: int, alone: dict[int, CrossValidation]) -> Leakage | None:
        """The warning about a column with high skill, if it is suspicious among all such columns."""
        if j not in alone:
            return None
        own = alone[j]
        message = f"alone predicts the class of {100 * own.accuracy:.1f} % of {self.all}"
        if self._skill(own.log_loss) < ALL_BUT_CERTAIN and len(self.columns) > 1:
            if len(alone) > 1:
                return None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                others = self._cross_validate(MixedNB(missing="informative", calibrate=True), self._without(j))
            if self._skill(others.log_loss) >= SKILL:
                return None
            message += f", the other columns of {100 * others.accuracy:.1f} %"
        return Leakage(self.columns[j].label, message, own.accuracy)

    def _skill(self, loss: float) -> float:
        return 1.0 - loss / self.base

    def _cross_validate(self, model: Any, cells: Any) -> CrossValidation:
        if self._fold is None:
            self._fold = folds_by_content(self.columns, self.y, FOLDS)
        return cross_validate(model, cells, self.y, self._fold)

    def _without(self, j: int) -> Any:
        """The rows without a column."""
        if isinstance(self.table, np.ndarray):
            return np.delete(self.table[self.at], j, axis=1)
        return inputs.rows_at(frames.without(self.table, [frames.names(self.table)[j]]), self.at)

    def by_absence(self, j: int) -> Leakage | None:
        """The warning about a column whose given (or missing) rows are nearly all of one class."""
        column, prior = self.columns[j], self.prior
        missing = column.missing
        for word, rows in (("given", ~missing), ("missing", missing)):
            if not rows.any() or rows.all():
                continue
            count = np.bincount(self.y[rows], minlength=len(prior))
            top = int(count.argmax())
            share = count[top] / count.sum()
            surprise = count.sum() * np.log(share / prior[top]) if share > 0 else 0.0
            if share >= PURE and prior[top] < 0.95 and surprise > SURE:
                return Leakage(
                    column.label,
                    f"is {word} in {count.sum():,} rows, and {100 * share:.1f} % of them are `{self.classes[top]}` "
                    f"({100 * prior[top]:.1f} % of all rows are)",
                    float(share * rows.mean()),
                )
        return None
