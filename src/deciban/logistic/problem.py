"""The minimisation problem of a fit: rows and settings → objective, class weights and column means.

The first pass over the rows finds the classes, their weights and the sums of the columns, and, where rows are read in
batches, a sample. It also finds cells that are missing or infinite.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> from deciban.rows.readers import ArrayReader
>>> from deciban.rows.rows import ArrayRows
>>> table = Table(Reals(np.array([[1.0], [3.0], [4.0]])), np.array([0, 1, 1], dtype=np.int32), None, 2)
>>> rows = ArrayRows(ArrayReader("LogisticRegression", d=1), np.array(["a", "b"]), table)
>>> problem = Problem.from_rows(rows, Settings("auto", 1.0, 0.0), class_weight="balanced", intercept=True)
>>> problem.mass.tolist(), problem.means.tolist()
([1.5, 1.5], [2.25])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from deciban import ops
from deciban.data.blocks import Counts, Table
from deciban.errors import DataError
from deciban.logistic.objective import BatchObjective, Objective, sample_size, weigh_classes
from deciban.logistic.settings import Settings
from deciban.rows import inputs
from deciban.rows.rows import ArrayRows, Rows
from deciban.solvers.base import Solution
from deciban.tallies import Sums
from deciban.tallies.basic import Maximum

SQUARED = 1e150  # largest magnitude whose squares can be summed


@dataclass(frozen=True, eq=False)
class Problem:
    rows: Rows
    objective: Objective | BatchObjective
    mass: np.ndarray  # (k,), weight of each class: Σ of sample weights times class weights
    total: np.ndarray  # (d,), weighted sum of each column; (0,) if rows are sparse

    @classmethod
    def from_rows(cls, rows: Rows, settings: Settings, class_weight: Any, intercept: bool) -> Problem:
        """The problem of these rows, after one pass over them."""
        rows, sums = rows.discover(tally_classes, 0 if rows.in_memory else sample_size(rows.reader.d))
        factors = class_factors(class_weight, rows.classes, sums.n)
        mass = sums.n if factors is None else sums.n * factors
        ridge, lasso = settings.penalties(rows.reader.d, intercept, rows.reader.scales)
        objective: Objective | BatchObjective
        if isinstance(rows, ArrayRows):
            objective = Objective(weigh_classes(rows.table, factors), ridge, lasso)
        else:
            objective = BatchObjective.of(rows, ridge, lasso, factors, float(mass.sum()))
        with np.errstate(all="ignore"):
            return cls(rows, objective, mass, sums.total.sum(axis=0) if factors is None else factors @ sums.total)

    @property
    def means(self) -> np.ndarray | None:
        """The weighted mean of each column, (d,); None if rows are sparse, or have no weight."""
        weight = self.mass.sum()
        return self.total / weight if len(self.total) and weight > 0 else None

    def means_after(self, weight: float, means: np.ndarray | None) -> np.ndarray | None:
        """The mean of each column of these rows and of earlier ones, which have this weight and these means."""
        if not weight > 0:
            return self.means
        if means is None or not len(self.total):
            return None
        return (weight * means + self.total) / (weight + self.mass.sum())

    def check_classes(self, solver: str) -> None:
        """Raise an error unless rows of at least two classes have weight, and the solver can treat so many classes."""
        classes = self.rows.classes
        if len(classes) < 2:
            raise DataError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{classes.tolist()[0]!r}\n\nhint: a model of one class has nothing to learn"
            )
        if solver == "liblinear" and len(classes) > 2:
            raise DataError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use "
                "another solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest "
                "scheme.\n\nhint: Only binary classification is supported. For more classes take solver='auto'"
            )
        if np.count_nonzero(self.mass) < 2:
            raise DataError(
                f"only class {classes.tolist()[self.mass.argmax()]!r} has rows of positive weight, and at least 2 "
                "classes are needed\n\nhint: look at sample_weight and class_weight"
            )

    def check_solution(self, answer: Solution) -> None:
        """Raise an error if squares or sums of cells are too large, so that the solution is not a minimum."""
        if np.isfinite(answer.value) and answer.reason == "gradient":
            return
        magnitude = self.rows.total(find_largest).value
        if magnitude > SQUARED or not np.isfinite(answer.value):
            raise inputs.overflow_error(magnitude)


def tally_classes(rows: Table) -> Sums:
    """The weight of each class and, if rows are dense, the sum of each column by class. Raises an error for a cell that
    is missing or infinite, also in rows of weight 0."""
    x = rows.x
    if isinstance(x, Counts):
        if not ops.all_finite(x.stored):
            inputs.check_finite(x)
        return Sums(ops.exact_class_weights(rows.y, rows.w, rows.k), np.zeros((rows.k, 0)))
    sums = ops.sums(x, rows.y, rows.w, rows.k)  # type: ignore[arg-type]
    if sums.n.ndim > 1 or not ops.all_finite(sums.total) or (rows.w is not None and not rows.w.all()):
        inputs.check_finite(x)
    return sums


def find_largest(rows: Table) -> Maximum:
    """The largest |cell|."""
    return Maximum(inputs.largest_magnitude(rows.x))


def class_factors(class_weight: Any, classes: np.ndarray, n: np.ndarray) -> np.ndarray | None:
    """The factor of the weights of the rows of each class, (k,), by the setting `class_weight`; None: 1. `n` (k,): the
    weight of the rows of each class."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):  # "balanced"
        return n.sum() / (len(n) * np.where(n > 0, n, 1.0))
    factors = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise DataError(
            f"class_weight is {class_weight}, but weights are finite numbers ≥ 0\n\n"
            "hint: a class of weight 0 counts for nothing"
        )
    return factors
