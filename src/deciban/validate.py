"""Cross-validation in one pass: each fold is tallied once, and a fold's model is the sum of the other folds' tallies.

That is the whole less the fold, added up instead of taken away, so that no digit cancels: the same numbers as learning
anew from the other folds, but every row is read once to learn and once to predict. Where the other folds have fewer
than two rows of some class, where something needs all rows at once (EM over missing cells),
and for estimators of other libraries, the model is learned anew.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat([0, 1], 50)
>>> print(cross_validate(GaussianNB(), rng.normal(size=(100, 2)) + 2 * y[:, None], y, folds=3))
        rows  accuracy  log loss   Brier
fold 0    34    0.8824    0.3237  0.2045
fold 1    33    0.9394    0.2421  0.1250
fold 2    33    0.9091    0.2594  0.1557
all      100    0.9100    0.2756  0.1622
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone

from deciban import scores
from deciban.classifiers.base import Generative
from deciban.errors import DecibanError, NotAdditiveError
from deciban.folds import fold_of_each, rows_of
from deciban.learning.curves import learning_curve
from deciban.learning.teaching import Rows, left_out, said

__all__ = ["CrossValidation", "cross_validate", "learning_curve"]

LINES = 20  # folds that are printed one by one, at most


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What models that never saw them say of all rows. Its numbers are weighted where the rows are."""

    classes: np.ndarray  # (k,)
    y: np.ndarray  # (n,), the true classes as places in `classes`
    fold: np.ndarray  # (n,), 0, 1, …
    log_proba: np.ndarray  # (n, k); −∞ for a class that the other folds do not have
    weight: np.ndarray | None  # (n,)
    refitted: tuple[int, ...]  # the folds whose model was learned anew

    @cached_property
    def proba(self) -> np.ndarray:
        """P(class | x) out of fold, (n, k)."""
        return np.exp(self.log_proba)

    @property
    def predicted(self) -> np.ndarray:
        """The most probable class of each row, as a label. (n,)"""
        return self.classes[self.log_proba.argmax(axis=1)]

    @property
    def accuracy(self) -> float:
        return scores.accuracy(self.y, self.log_proba, self.weight)

    @property
    def log_loss(self) -> float:
        return scores.log_loss(self.y, self.log_proba, self.weight)

    @property
    def brier(self) -> float:
        return scores.brier(self.y, self.proba, self.weight)

    @property
    def calibration_error(self) -> float:
        """Expected calibration error of the most probable class, in 15 bins of even width."""
        return scores.expected_calibration_error(self.y, self.proba, self.weight)

    @property
    def confusion(self) -> np.ndarray:
        """Weight of each true class (rows) by predicted class (columns), (k, k)."""
        return scores.confusion(self.y, self.log_proba.argmax(axis=1), len(self.classes), self.weight)

    @cached_property
    def by_fold(self) -> dict[str, np.ndarray]:
        """`rows`, `accuracy`, `log_loss` and `brier` of each fold."""
        parts = [self._part(rows) for rows in rows_of(self.fold)]
        return {
            "rows": np.array([len(part.y) for part in parts]),
            "accuracy": np.array([part.accuracy for part in parts]),
            "log_loss": np.array([part.log_loss for part in parts]),
            "brier": np.array([part.brier for part in parts]),
        }

    def _part(self, rows: np.ndarray) -> CrossValidation:
        w = None if self.weight is None else self.weight[rows]
        return CrossValidation(self.classes, self.y[rows], self.fold[rows], self.log_proba[rows], w, ())

    def __str__(self) -> str:
        lines = [(f"fold {i}", *line) for i, line in enumerate(zip(*self.by_fold.values(), strict=True))]
        lines = lines if len(lines) <= LINES else []
        lines.append(("all", len(self.y), self.accuracy, self.log_loss, self.brier))
        first, second = (max(len(str(line[at])) for line in lines) for at in (0, 1))
        second = max(second, len("rows"))
        head = f"{'':{first}}  {'rows':>{second}}  accuracy  log loss   Brier"
        return "\n".join(
            [head, *(f"{a:{first}}  {n:{second}d}  {x:8.4f}  {y:8.4f}  {z:6.4f}" for a, n, x, y, z in lines)]
        )


def cross_validate(
    model, X, y, folds=10, *, sample_weight=None, random_state=None, stratify: bool = True
) -> CrossValidation:
    """Predict each fold by a model of all others. The model itself is left as it is.

    folds: their number, or the fold of each row (n,), or a scikit-learn splitter that tests each row once. A number of
    folds is dealt out row by row, class by class (`stratify`), in the order of the rows unless `random_state` is given,
    which shuffles them first. Any classifier with `predict_log_proba` or `predict_proba` will do.

    >>> from deciban import CategoricalNB
    >>> X, y = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> out = cross_validate(CategoricalNB(), X, y, folds=[0, 1, 2, 0, 1, 2])
    >>> out.predicted.tolist(), out.accuracy, out.by_fold["rows"].tolist()
    (['no', 'no', 'no', 'yes', 'yes', 'yes'], 1.0, [2, 2, 2])
    """
    rows = Rows.of(X, y, sample_weight)
    fold = fold_of_each(folds, rows.X, rows.codes, random_state, stratify)
    places = rows_of(fold)
    log_proba = np.full((len(fold), len(rows.classes)), -np.inf)
    refitted = []
    few = few_without(rows, fold)
    for i, (here, learned) in enumerate(zip(places, by_addition(model, rows, places), strict=True)):
        if learned is None or few[i]:
            learned = rows.taught(clone(model).fit, np.flatnonzero(fold != i))
            refitted.append(i)
        else:
            learned._check_fitted()
        log_proba[np.ix_(here, np.searchsorted(rows.classes, learned.classes_))] = said(learned, rows.cells(here))
    return CrossValidation(rows.classes, rows.codes, fold, log_proba, rows.w, tuple(refitted))


def few_without(rows: Rows, fold: np.ndarray) -> np.ndarray:
    """Whether some class has fewer than two rows (of any weight) outside of each fold: whether, and what, such rows
    can teach is for `fit` to say."""
    k, folds = len(rows.classes), fold.max() + 1
    real = None if rows.w is None else rows.w > 0
    inside = np.bincount(fold * k + rows.codes, real, minlength=folds * k).reshape(folds, k)
    return (inside.sum(axis=0) - inside < 2).any(axis=1)


def by_addition(model: Any, rows: Rows, places: list[np.ndarray]) -> list[Any]:
    """For each fold the model of all others, or None where it cannot be had by adding."""
    try:
        if not isinstance(model, Generative):
            raise NotAdditiveError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what concerns the rows, and not a fold by itself, comes again
            pieces = [rows.taught(clone(model).partial_fit, here, classes=rows.classes) for here in places]
            if any(left_out(piece.tally_) for piece in pieces):
                raise NotAdditiveError
            return list(without_each(pieces))
    except DecibanError:  # so do errors: `fit` will raise them
        return [None] * len(places)


def without_each(pieces: list[Any], rest: Any = None) -> Iterator[Any]:
    """rest + Σ_(j ≠ i) pieces[j] for each i in turn, in m log m additions.

    >>> list(without_each([1, 10, 100]))
    [110, 101, 11]
    """
    if len(pieces) == 1:
        yield rest
        return
    half = len(pieces) // 2
    left, right = pieces[:half], pieces[half:]
    for mine, others in ((left, right), (right, left)):
        yield from without_each(mine, reduce(add, others if rest is None else [rest, *others]))
