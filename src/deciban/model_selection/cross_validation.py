"""Cross-validation in one pass: each fold is tallied once, and a fold's model is the sum of the other folds' tallies.

The other folds are added (no subtraction, so no cancellation). The result equals refitting on the other folds, but
every row is read once to train and once to predict. The model is refitted where the other folds have fewer than two
rows of some class, where a setting needs all rows at once (EM over missing values), and for estimators of other
libraries.

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

from deciban import metrics
from deciban.classifiers.base import Generative
from deciban.decision import log_proba_of
from deciban.display import Table, format_list
from deciban.errors import ColumnWarning, DecibanError, NotAdditiveError
from deciban.model_selection.labelled_rows import LabelledRows, left_out
from deciban.model_selection.learning_curve import learning_curve
from deciban.rows.folds import assign_folds, rows_of

__all__ = ["CrossValidation", "cross_validate", "learning_curve"]

LINES = 20  # folds that are printed one by one, at most
NAMED = 12  # most classes that are listed


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold predictions of all rows, and their scores, which are weighted where the rows are. Where the folds
    were assigned several times, the rows of all repeats follow each other."""

    classes: np.ndarray  # (k,)
    codes: np.ndarray  # (n,), the true classes as places in `classes`
    fold: np.ndarray  # (n,), 0, 1, …
    log_proba: np.ndarray  # (n, k); −∞ for a class that the other folds do not have
    weight: np.ndarray | None  # (n,)
    refitted: tuple[int, ...]  # the folds whose model was refitted
    known: np.ndarray | None = None  # (n,), whether the class of the row is in the other folds; None: always
    repeats: int = 1  # how often rows were assigned to folds

    @property
    def unknown(self) -> dict[Any, int]:
        """Class → number of its rows that are not scored, because the other folds have no row of the class."""
        if self.known is None:
            return {}
        one = len(self.codes) // self.repeats
        labels, rows = np.unique(self.codes[:one][~self.known[:one]], return_counts=True)
        return dict(zip(self.classes[labels].tolist(), rows.tolist(), strict=True))

    @property
    def nothing_scored(self) -> bool:
        """Whether no row has a class that the other folds know."""
        return self.known is not None and not self.known.any()

    @cached_property
    def proba(self) -> np.ndarray:
        """P(class | x) out of fold, (n, k)."""
        return np.exp(self.log_proba)

    @property
    def y(self) -> np.ndarray:
        """The true class of each row, as a label. (n,)"""
        return self.classes[self.codes]

    @property
    def predicted(self) -> np.ndarray:
        """The most probable class of each row, as a label. (n,)"""
        return self.classes[self.log_proba.argmax(axis=1)]

    @property
    def accuracy(self) -> float:
        """Of rows whose class was known; a tie of m classes counts 1/m."""
        return metrics.accuracy(*self._scored(self.log_proba))

    @property
    def log_loss(self) -> float:
        return metrics.log_loss(*self._scored(self.log_proba))

    @property
    def brier(self) -> float:
        return metrics.brier(*self._scored(self.proba))

    @property
    def calibration_error(self) -> float:
        """Expected calibration error of the most probable class, in 15 bins of even width."""
        return metrics.expected_calibration_error(*self._scored(self.proba))

    def _scored(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """(codes, values, weights) of the rows that are scored."""
        if self.known is None:
            return self.codes, values, self.weight
        return self.codes[self.known], values[self.known], None if self.weight is None else self.weight[self.known]

    @cached_property
    def losses(self) -> np.ndarray:
        """−log P(true class) of each row, NaN where it is not scored; the mean over the repeats."""
        out = -np.take_along_axis(self.log_proba, self.codes[:, None], axis=1)[:, 0]
        if self.known is not None:
            out[~self.known] = np.nan
        return out.reshape(self.repeats, -1).mean(axis=0)

    @classmethod
    def joined(cls, parts: list[CrossValidation]) -> CrossValidation:
        """Join several repeats of the same rows."""
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(part.fold.max() + 1 for part in parts)])
        weight = None if parts[0].weight is None else np.concatenate([part.weight for part in parts])
        known = np.concatenate([np.ones(len(p.codes), dtype=bool) if p.known is None else p.known for p in parts])
        return cls(
            parts[0].classes,
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.fold + start for part, start in zip(parts, first, strict=False)]),
            np.concatenate([part.log_proba for part in parts]),
            weight,
            tuple(i + int(start) for part, start in zip(parts, first, strict=False) for i in part.refitted),
            None if known.all() else known,
            len(parts),
        )

    @property
    def confusion(self) -> np.ndarray:
        """Weight of each true class (rows) by predicted class (columns), (k, k)."""
        return metrics.confusion(self.codes, self.log_proba.argmax(axis=1), len(self.classes), self.weight)

    @cached_property
    def by_fold(self) -> dict[str, np.ndarray]:
        """`rows`, `accuracy`, `log_loss` and `brier` of each fold."""
        parts = [self._part(rows) for rows in rows_of(self.fold)]
        return {
            "rows": np.array([len(part.codes) for part in parts]),
            "accuracy": np.array([part.accuracy for part in parts]),
            "log_loss": np.array([part.log_loss for part in parts]),
            "brier": np.array([part.brier for part in parts]),
        }

    def _part(self, rows: np.ndarray) -> CrossValidation:
        w = None if self.weight is None else self.weight[rows]
        known = None if self.known is None else self.known[rows]
        return CrossValidation(self.classes, self.codes[rows], self.fold[rows], self.log_proba[rows], w, (), known)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> Table:
        folds = [(f"fold {i}", *line) for i, line in enumerate(zip(*self.by_fold.values(), strict=True))]
        whole = ("all", len(self.codes), self.accuracy, self.log_loss, self.brier)
        *rows, footer = [
            (name, str(n), *(f"{score:.4f}" for score in scores))
            for name, n, *scores in [*(folds if len(folds) <= LINES else []), whole]
        ]
        return Table("", ("", "rows", "accuracy", "log loss", "Brier"), rows, footer, not_scored_note(self.unknown))


def cross_validate(
    model, X, y, folds=10, *, sample_weight=None, random_state=None, stratify: bool = True
) -> CrossValidation:
    """Cross-validate a classifier: predict each fold by a model of all others. The model itself is not changed.

    Parameters
    ----------
    model : classifier
        Any classifier with `predict_log_proba` or `predict_proba`.
    X : frame, array or sparse matrix of shape (n, d), dictionaries, or list of texts
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    folds : int, array of shape (n,), or scikit-learn splitter, default 10
        The number of folds, the fold of each row, or a splitter that tests each row once.
    sample_weight : array of shape (n,), optional
        Weights of the rows, in training and in the scores.
    random_state : int or RandomState, optional
        Shuffle the rows before they are assigned to folds; by default they are assigned in their order.
    stratify : bool, default True
        Assign rows class by class, so that each fold has about the class frequencies of all rows.

    Returns
    -------
    CrossValidation
        Out-of-fold probabilities and scores.

    See Also
    --------
    compare : Cross-validates the classifiers that suit the rows.
    evaluate : Scores of a fitted model on labelled rows.
    learning_curve : Scores by number of training rows.

    Examples
    --------
    >>> from deciban import CategoricalNB
    >>> X, y = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> out = cross_validate(CategoricalNB(), X, y, folds=[0, 1, 2, 0, 1, 2])
    >>> out.y.tolist() == out.predicted.tolist(), out.accuracy, out.by_fold["rows"].tolist()
    (True, 1.0, [2, 2, 2])
    """
    rows = LabelledRows.from_data(X, y, sample_weight)
    fold = assign_folds(folds, rows.X, rows.codes, random_state, stratify)
    return cross_validate_folds(model, rows, fold)


def cross_validate_folds(model: Any, rows: LabelledRows, fold: np.ndarray) -> CrossValidation:
    """Cross-validate on given folds."""
    parts = rows_of(fold)
    log_proba = np.full((len(fold), len(rows.classes)), -np.inf)
    refitted, known = [], np.ones(len(fold), dtype=bool)
    few = classes_too_small(rows, fold)
    for i, (here, learned) in enumerate(zip(parts, models_by_addition(model, rows, parts), strict=True)):
        if learned is None or few[i] or learned._fitted_state().settled:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ColumnWarning)  # `fit` on all rows has it
                learned = rows.call_with(clone(model).fit, np.flatnonzero(fold != i))
            refitted.append(i)
        else:
            learned._check_complete(learned._fitted_state())
        places = np.searchsorted(rows.classes, learned.classes_)
        log_proba[np.ix_(here, places)] = log_proba_of(learned, rows.cells(here))
        known[here] = np.isin(rows.codes[here], places)
    every = None if known.all() else known
    return CrossValidation(rows.classes, rows.codes, fold, log_proba, rows.w, tuple(refitted), every)


def not_scored_note(unknown: dict[Any, int]) -> list[str]:
    """A line that lists the classes whose rows are not scored, if there are any.

    >>> not_scored_note({"c": 1, "d": 2})
    ['not scored, as the other folds have no row of the class: 1 of `c`, 2 of `d`']
    """
    listed = format_list([f"{rows:,} of `{label}`" for label, rows in unknown.items()], NAMED, "", more="more classes")
    return [f"not scored, as the other folds have no row of the class: {listed}"] if unknown else []


def classes_too_small(rows: LabelledRows, fold: np.ndarray) -> np.ndarray:
    """Whether some class has fewer than two rows (of any weight) outside of each fold: then `fit` decides."""
    k, folds = len(rows.classes), fold.max() + 1
    real = None if rows.w is None else rows.w > 0
    inside = np.bincount(fold * k + rows.codes, real, minlength=folds * k).reshape(folds, k)
    return (inside.sum(axis=0) - inside < 2).any(axis=1)


def models_by_addition(model: Any, rows: LabelledRows, places: list[np.ndarray]) -> list[Any]:
    """For each fold the model of all others, or None where tallies cannot be added."""
    try:
        if not isinstance(model, Generative):
            raise NotAdditiveError
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about all rows are raised again by `fit`
            pieces = [rows.call_with(clone(model).partial_fit, here, classes=rows.classes) for here in places]
            if any(left_out(piece.tally_) for piece in pieces):
                raise NotAdditiveError
            return list(sums_of_others(pieces))
    except DecibanError:  # `fit` raises errors in the data
        return [None] * len(places)


def sums_of_others(pieces: list[Any], rest: Any = None) -> Iterator[Any]:
    """rest + Σ_(j ≠ i) pieces[j] for each i in turn, in m log m additions.

    >>> list(sums_of_others([1, 10, 100]))
    [110, 101, 11]
    """
    if len(pieces) == 1:
        yield rest
        return
    half = len(pieces) // 2
    left, right = pieces[:half], pieces[half:]
    for mine, others in ((left, right), (right, left)):
        yield from sums_of_others(mine, reduce(add, others if rest is None else [rest, *others]))
