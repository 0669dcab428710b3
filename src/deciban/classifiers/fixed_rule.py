"""Hypotheses that are given, not learned: functions of X, and labels.

    P(D | h) = Π_i P(y_i | x_i, h)        with, for K classes,
    P(y | x, h) = 1 − noise if y = h(x), else noise / (K − 1)        where h(x) is a label
    P(y | x, h) = h(x)[y]                                            where h(x) are probabilities

Without noise P(D | h) is 1 if h agrees with all rows, else 0: the hypotheses that have a probability are the version
space. The tally is the weight of the rows that h answers right, wrong, and with probability 0, and Σ log h(x)[y]; all
of them add up over rows.

>>> X = np.array([[1.0], [2.0], [3.0]])
>>> above = FixedRule(lambda X: X[:, 0] > 1.5, noise=0.1).fit(X, [False, True, False])
>>> above.right_, above.wrong_, round(float(np.exp(above.evidence_)), 9), above.predict(X).tolist()
(2.0, 1.0, 0.081, [False, True, True])
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator
from sklearn.utils.validation import column_or_1d

from deciban import ops
from deciban.data import frames
from deciban.errors import DataError, ForgetError
from deciban.rows import inputs
from deciban.rows.labels import united
from deciban.tallies.basic import subtract

SUMS = ("right_", "wrong_", "impossible_", "log_proba_")
CLOSE = 1e-6  # how far from 1 the probabilities of an answer may sum


class FixedRule(BaseEstimator):
    """A hypothesis: a function of X that returns labels (n,) or probabilities (n, k), or a label. `fit` learns nothing
    but P(D | h)."""

    def __init__(self, rule: Any, classes: Any = None, noise: float = 0.0):
        self.rule, self.classes, self.noise = rule, classes, noise

    def with_classes(self, classes: np.ndarray) -> Self:
        """A hypothesis about these labels, before any row."""
        out = type(self)(self.rule, classes, self.noise)
        out.classes_ = np.unique(np.asarray(classes))
        return out._adopt(out.classes_, np.zeros(len(out.classes_)), np.zeros(len(SUMS)))

    # rows

    def fit(self, X, y, sample_weight=None) -> Self:
        """Count the answers that are right; the classes are those of the settings, or of y."""
        classes = np.unique(column_or_1d(y)) if self.classes is None else self.classes
        started = self.with_classes(classes)
        return self._adopt(started.classes_, *started._tally(X, y, sample_weight))._note_columns(X)

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Count the answers for more rows; the first call names all `classes`."""
        X, y = frames.take_target(X, y)
        known = self if "classes_" in vars(self) else self.with_classes(inputs.named_classes(None, classes))
        count, sums = known._tally(X, y, sample_weight)
        out = self._adopt(known.classes_, known.class_count_ + count, known._sums() + sums)
        return out if "n_features_in_" in vars(out) else out._note_columns(X)

    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows that were counted."""
        X, y = frames.take_target(X, y)
        count, sums = self._tally(X, y, sample_weight)
        left, rest = subtract(self.class_count_, count), subtract(self._sums(), sums)
        if (left < 0).any() or (rest[:3] < 0).any():
            raise ForgetError(
                "not all of these rows were learned\n\nhint: forget only rows (and weights) that went through fit or "
                "partial_fit, with their labels"
            )
        return self._adopt(self.classes_, left, rest)

    def __add__(self, other: Self) -> Self:
        """The hypothesis with the rows of both."""
        classes = united(self.classes_, other.classes_, merging=True)
        count = np.zeros(len(classes))
        for one in (self, other):
            count[np.searchsorted(classes, one.classes_)] += one.class_count_
        return type(self)(self.rule, self.classes, self.noise)._adopt(classes, count, self._sums() + other._sums())

    def _tally(self, X: Any, y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """(weight of the rows of each class (k,), the sums of `SUMS`)"""
        _, codes = inputs.labels(column_or_1d(y), self.classes_)
        w = inputs.weights(sample_weight, codes)
        weight, answer = np.ones(len(codes)) if w is None else w, self._answer(X)
        if len(answer) != len(codes):
            raise DataError(f"X has {len(answer)} rows, y has {len(codes)}\n\nhint: give one label for each row")
        if answer.ndim == 1:
            right = answer == codes
            sums = [weight[right].sum(), weight[~right].sum(), 0.0, 0.0]
        else:
            own = answer[np.arange(len(codes)), codes]
            some = own > 0
            sums = [0.0, 0.0, weight[~some].sum(), weight[some] @ np.log(own[some])]
        return np.asarray(ops.class_weights(codes, w, len(self.classes_))), np.array(sums)

    def _adopt(self, classes: np.ndarray, count: np.ndarray, sums: np.ndarray) -> Self:
        self.classes_, self.class_count_ = classes, count
        for name, value in zip(SUMS, sums.tolist(), strict=True):
            setattr(self, name, value)
        return self

    def _note_columns(self, X: Any) -> Self:
        """Set the number of columns, and their names, where X is a table."""
        X = frames.records(X)
        shape = X.shape if isinstance(X, frames.Records) else np.shape(X)
        if len(shape) == 2:
            self.n_features_in_ = int(shape[1])
            if isinstance(X, frames.Records):
                self.feature_names_in_ = np.array(list(X.cells), dtype=object)
            else:
                inputs.check_feature_names(self, X, reset=True)
        return self

    def _sums(self) -> np.ndarray:
        return np.array([vars(self)[name] for name in SUMS])

    @property
    def evidence_(self) -> float:
        """log P(y | X, h) of the rows that were counted."""
        right, wrong = self._label_probabilities()
        return float(
            xlogy(self.right_, right) + xlogy(self.wrong_, wrong) + xlogy(self.impossible_, 0.0) + self.log_proba_
        )

    # answers

    def _label_probabilities(self) -> tuple[float, float]:
        """(P(y = the answer), P(y = v) of each other class)"""
        others = len(self.classes_) - 1
        return (1.0 - self.noise, self.noise / others) if others else (1.0, 0.0)

    def answer(self, X: Any) -> np.ndarray:
        """What the rule returns, as an array: labels (n,) or probabilities (n, k)."""
        if isinstance(X, frames.Records):  # X["name"] is a column, len(X) the number of rows
            columns = {name: np.asarray(cells) for name, cells in X.cells.items()}
            X = np.rec.fromarrays(columns.values(), dtype=[(name, own.dtype) for name, own in columns.items()])
        X = np.asarray(X) if isinstance(X, list | tuple) else X
        n = inputs.count_rows(X)
        found = np.asarray(self.rule(X)) if callable(self.rule) else np.full(n, self.rule)
        if found.ndim not in (1, 2) or len(found) != n:
            raise DataError(
                f"a hypothesis returns an array of shape {found.shape} for {n} rows\n\n"
                "hint: return a label for each row, or the probability of each class"
            )
        return found

    def _answer(self, X: Any) -> np.ndarray:
        """Class codes (n,), or probabilities (n, k)."""
        found, k = self.answer(frames.records(X)), len(self.classes_)
        if found.ndim == 1:
            known = found[:, None] == self.classes_
            outside = np.flatnonzero(~known.any(axis=1))
            if len(outside):
                raise DataError(
                    f"a hypothesis predicts {found.tolist()[outside[0]]!r} (row {outside[0]}), which is no class\n\n"
                    f"hint: the classes are {self.classes_.tolist()}; "
                    "`partial_fit(X, y, classes=[...])` names those that the rows lack"
                )
            return known.argmax(axis=1)
        found = found.astype(np.float64)
        if found.shape[1] != k or not ((found >= 0).all() and (np.abs(found.sum(axis=1) - 1) <= CLOSE).all()):
            raise DataError(
                f"a hypothesis returns an array of shape {found.shape} that does not have the probabilities of "
                f"{k} classes\n\nhint: a column for each of {self.classes_.tolist()}, ≥ 0, and rows that sum to 1"
            )
        return found

    def predict_proba(self, X) -> np.ndarray:
        """P(label | x, h), (n, k), with the noise."""
        found = self._answer(X)
        if found.ndim == 2:
            return found
        right, wrong = self._label_probabilities()
        return np.where(found[:, None] == np.arange(len(self.classes_)), right, wrong)

    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X) -> np.ndarray:
        """The most probable label of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def shared_classes(rules: list[FixedRule], X: Any, y: Any) -> np.ndarray:
    """The labels of y; if all rows have the same label, also those that the hypotheses answer for X.

    >>> shared_classes([FixedRule(lambda X: X[:, 0] > 1.5)], np.array([[1.0], [2.0]]), [True, True]).tolist()
    [False, True]
    """
    classes = np.unique(column_or_1d(y))
    if len(classes) == 1:
        X = frames.records(X)
        for found in (rule.answer(X) for rule in rules):
            if found.ndim == 1:
                truths = found.dtype.kind == "b" and classes.dtype.kind in "iuf"  # True is 1
                classes = united(classes, np.unique(found.astype(classes.dtype) if truths else found))
    return classes
