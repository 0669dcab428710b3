"""Learning curves: held-out scores by number of training rows.

The training samples of one repeat are nested, so each row is tallied once: tally(n₂) = tally(n₁) + tally(rows n₁ … n₂),
and parameters are estimated at each size. The result equals refitting. Where a class has fewer than two rows, and for
models that have no tally (logistic regression, other libraries' estimators), the model is refitted.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat([0, 1], 150)
>>> print(learning_curve(GaussianNB(), rng.normal(size=(300, 5)) + y[:, None], y, [10, 50, 200], repeats=3))
GaussianNB, 100 rows held out, 3 times
  rows  accuracy       ±  log loss       ±
    10    0.7467  0.0651    1.8990  0.7725
    50    0.8667  0.0153    0.3208  0.0562
   200    0.8500  0.0265    0.2975  0.0593
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from deciban import metrics
from deciban.classifiers.base import Classifier, Generative
from deciban.classifiers.text import TextClassifier
from deciban.decision import log_proba_of
from deciban.display import Table, format_number
from deciban.errors import DataError, DecibanError, NotAdditiveError
from deciban.model_selection import merged_columns, word_curve
from deciban.model_selection.labelled_rows import LabelledRows, left_out
from deciban.plots import curves as curve_picture

SHORT = (merged_columns, word_curve)  # faster ways to the same numbers, each for some models
HALVINGS = 10  # default sizes: all training rows, halved so often


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Held-out scores for each repeat (r) and number of training rows (s)."""

    model: str
    sizes: np.ndarray  # (s,), training rows
    held_out: int  # number of rows
    accuracy: np.ndarray  # (r, s)
    log_loss: np.ndarray  # (r, s); ∞ where a class of the held-out rows is not in the training rows
    refitted: np.ndarray  # (r, s), whether the model was refitted
    note: str = ""  # why all of them were refitted

    def mean(self, score: str = "accuracy") -> np.ndarray:
        """Over the repeats, (s,); `score` is "accuracy" or "log_loss"."""
        return self._of(score).mean(axis=0)

    def spread(self, score: str = "accuracy") -> np.ndarray:
        """The standard deviation over the repeats, (s,): NaN where there is one repeat."""
        values = self._of(score)
        if len(values) < 2:
            return np.full(len(self.sizes), np.nan)
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            return values.std(axis=0, ddof=1)

    def _of(self, score: str) -> np.ndarray:
        if score not in ("accuracy", "log_loss"):
            raise DataError(f"there is no score {score!r}\n\nhint: ask for 'accuracy' or 'log_loss'")
        return getattr(self, score)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a line for each size: rows, and mean and deviation of both scores."""
        try:
            import pandas as pd
        except ImportError as bad:
            raise ImportError("to_frame makes a pandas DataFrame\n\nhint: pip install pandas") from bad
        numbers = {"rows": self.sizes}
        for score in ("accuracy", "log_loss"):
            numbers |= {score: self.mean(score), f"{score}_sd": self.spread(score)}
        return pd.DataFrame(numbers)

    def plot(self, ax: Any = None, *, score: str = "accuracy", label: str | None = None) -> Any:
        """Mean and spread over the number of rows, on a logarithmic axis; returns the axes.

        A second curve in the same axes takes the next colour and line; `label` names it, by default the model's class.
        """
        name = self.model if label is None else label
        return curve_picture.draw(self.sizes, self._of(score), name, score.replace("_", " "), ax)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> Table:
        columns = [of(score) for score in ("accuracy", "log_loss") for of in (self.mean, self.spread)]
        rows = [(str(n), *map(format_number, line)) for n, *line in zip(self.sizes, *columns, strict=True)]
        head = ("rows", "accuracy", "±", "log loss", "±")
        times = "once" if len(self.accuracy) == 1 else f"{len(self.accuracy)} times"
        return Table(f"{self.model}, {self.held_out} rows held out, {times}", head, rows, notes=[self.note], left=())


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    sizes: Sequence[float] | None = None,
    *,
    test: Any = 1 / 3,
    repeats: int = 5,
    random_state: Any = 0,
    stratify: bool = True,
    sample_weight: Any = None,
) -> LearningCurve:
    """Held-out scores of a classifier by number of training rows. The model itself is not changed.

    Parameters
    ----------
    model : classifier
        Any classifier with `predict_log_proba` or `predict_proba`; those without a tally are refitted at each size.
    X : frame, array or sparse matrix of shape (n, d), dictionaries, or list of texts
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    sizes : sequence of int or float, optional
        Numbers of training rows, or shares (≤ 1.0) of the rows that are not held out. By default 1, 1/2, 1/4, … down
        to 1/1024 of them.
    test : float, int or bool array of shape (n,), default 1/3
        The share or number of rows that each repeat holds out at random, or a mask of the rows that are always held
        out.
    repeats : int, default 5
        Number of random draws of training rows.
    random_state : int or RandomState, default 0
        Seed of the draws.
    stratify : bool, default True
        Keep the class frequencies at every size.
    sample_weight : array of shape (n,), optional
        Weights of the rows, in training and in the scores.

    Returns
    -------
    LearningCurve
        Accuracy and log loss of each repeat and size; `plot()` draws them.

    See Also
    --------
    cross_validate : Held-out scores of one model.

    Examples
    --------
    >>> from deciban import CategoricalNB
    >>> X, y = [[0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1]] * 4, ["no", "no", "no", "yes", "yes", "yes"] * 4
    >>> curve = learning_curve(CategoricalNB(), X, y, [2, 0.5, 1.0], test=12, repeats=2)
    >>> curve.sizes.tolist(), curve.mean().tolist(), curve.refitted[0].tolist()
    ([2, 6, 12], [1.0, 1.0, 1.0], [True, False, False])
    """
    rows = LabelledRows.from_data(X, y, sample_weight)
    held = Held.from_test(test, len(rows.y))
    counts = counts_of(sizes, len(rows.y) - held.number, len(rows.classes))
    if not isinstance(repeats, Integral) or repeats < 1:
        raise DataError(f"repeats is {repeats!r}\n\nhint: give the number of random draws, 1 or more")
    rng = check_random_state(random_state)
    short = next(
        (way for way in SHORT if way.possible(model, rows.X) and (rows.w is None or way is merged_columns)), None
    )
    rows = replace(rows, X=short.ready(model, rows.X)) if short else rows
    out = [_repeat(model, rows, *held.drawn(rows.codes, rng, stratify), counts, short) for _ in range(repeats)]
    accuracy, log_loss, refitted = (np.array([each[i] for each in out]) for i in range(3))
    note = next((each[3] for each in out if each[3]), "")
    return LearningCurve(type(model).__name__, counts, held.number, accuracy, log_loss, refitted, note)


def _repeat(model: Any, rows: LabelledRows, train: np.ndarray, test: np.ndarray, counts: np.ndarray, short: Any) -> Any:
    """(accuracy, log loss, refitted, note) of one draw, (s,) each."""
    models = Models(model, rows, train, counts)
    steps = short.steps(models, test) if short else models.on(rows.cells(test))
    y, w = rows.codes[test], None if rows.w is None else rows.w[test]
    log_proba = np.full((len(test), len(rows.classes)), -np.inf)
    accuracy, log_loss = np.empty(len(counts)), np.empty(len(counts))
    for i, (logs, places) in enumerate(steps):
        log_proba[:] = -np.inf
        log_proba[:, places] = logs
        accuracy[i], log_loss[i] = metrics.accuracy(y, log_proba, w), metrics.log_loss(y, log_proba, w)
    return accuracy, log_loss, models.refitted, models.note


class Models:
    """The models of the first counts[0], counts[1], … of the training rows, one after the other."""

    def __init__(self, model: Any, rows: LabelledRows, train: np.ndarray, counts: np.ndarray):
        self.model, self.rows, self.train, self.counts = model, rows, train, counts
        self.spans = list(pairwise([0, *counts.tolist()]))
        self.few = few_at(rows, train, counts)
        self.refitted, self.note = self.few.copy(), ""

    def on(self, cells: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(log posteriors of the cells, the places of their classes) by the model of each size."""
        running = clone(self.model)
        if not (isinstance(running, Classifier) and running._adds_rows()):
            self.note = f"{type(running).__name__} has no additive tally: each size was refitted"
        for i, (start, stop) in enumerate(self.spans):
            self._go_on(running, self.train[start:stop])
            if self.note or self.few[i]:
                self.refitted[i] = True
                learned = self.rows.call_with_few(clone(self.model).fit, self.train[:stop])
            else:
                learned = running
                if isinstance(learned, Generative):
                    learned._check_complete(learned._fitted_state())
            yield log_proba_of(learned, cells), np.searchsorted(self.rows.classes, learned.classes_)

    def _go_on(self, running: Any, index: np.ndarray) -> None:
        """Add rows to the running model, unless its tally is not additive."""
        if self.note:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings about all rows are raised again
                self.rows.call_with(running.partial_fit, index, classes=self.rows.classes)
            if isinstance(running, Generative) and left_out(running.tally_):
                raise NotAdditiveError("rows with missing cells are not in the tally")
            if isinstance(running, TextClassifier) and not running._features().open_ended:
                raise NotAdditiveError("the vectoriser has the columns of the first texts")
            if isinstance(running, Generative) and running._current_state().settled:
                raise NotAdditiveError("the bins of numbers depend on the first rows")
        except DecibanError as bad:  # errors in the data are raised by `fit`
            self.note = f"each size was refitted: {str(bad).splitlines()[0]}"


@dataclass(frozen=True)
class Held:
    """Which rows are held out: a number of random ones, or always the same."""

    number: int
    always: np.ndarray | None = None  # (n,), bool

    @classmethod
    def from_test(cls, test: Any, n: int) -> Held:
        if isinstance(test, int | float | np.number) and not isinstance(test, bool):
            share = not isinstance(test, int | np.integer)
            number, always = round(float(test) * n) if share and test < 1 else 0 if share else int(test), None
        else:
            always = np.asarray(test)
            if always.shape != (n,) or always.dtype != bool:
                raise DataError(
                    f"test is neither a number nor a truth value for each of the {n} rows\n\n"
                    "hint: give a share such as 0.3, a number of rows, or a mask such as split == 'test'"
                )
            number = int(always.sum())
        if not 0 < number < n:
            raise DataError(
                f"of {n} rows, {number} would be held out\n\nhint: at least one row is needed to train, and one to test"
            )
        return cls(number, always)

    def drawn(self, codes: np.ndarray, rng: Any, stratify: bool) -> tuple[np.ndarray, np.ndarray]:
        """(training rows in random order, held-out rows)."""
        free = np.arange(len(codes)) if self.always is None else np.flatnonzero(~self.always)
        order = free[rng.permutation(len(free))]
        if stratify:
            order = order[evenly(codes[order])]
        if self.always is not None:
            return order, np.flatnonzero(self.always)
        return order[: -self.number], np.sort(order[-self.number :])


def evenly(codes: np.ndarray) -> np.ndarray:
    """An order in which each class (n,) has its share of every beginning, to within a row, and comes early.

    >>> codes = np.array([0, 0, 0, 0, 1, 1])
    >>> codes[evenly(codes)].tolist()
    [0, 1, 0, 0, 1, 0]
    """
    by_class = np.argsort(codes, kind="stable")
    n = np.bincount(codes)
    rank = np.empty(len(codes))
    rank[by_class] = np.arange(len(codes)) - np.repeat(np.cumsum(n) - n, n)
    return np.argsort(rank / n[codes], kind="stable")


def few_at(rows: LabelledRows, train: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Whether some class has fewer than two rows (of any weight) at each size, (s,): then `fit` decides."""
    second = []
    for c in range(len(rows.classes)):
        real = rows.codes[train] == c if rows.w is None else (rows.codes[train] == c) & (rows.w[train] > 0)
        where = np.flatnonzero(real)
        second.append(where[1] if len(where) > 1 else len(train))
    return counts <= max(second)


def counts_of(sizes: Any, n: int, k: int) -> np.ndarray:
    """Numbers of training rows, ascending, at most n.

    >>> counts_of(None, 1000, 3).tolist(), counts_of([1.0, 0.1, 7], 1000, 3).tolist()
    ([4, 8, 16, 31, 62, 125, 250, 500, 1000], [7, 100, 1000])
    """
    if sizes is None:
        halved = np.unique(np.rint(n / 2.0 ** np.arange(HALVINGS + 1)).astype(np.int64))
        return halved[halved >= min(n, max(2, k))]
    given = [sizes] if np.ndim(sizes) == 0 else list(sizes)
    counts = [_count(size, n) for size in given]
    wrong = [size for size, count in zip(given, counts, strict=True) if not 1 <= count <= n]
    if wrong or not given:
        raise DataError(
            f"there are {n} training rows, and sizes is {wrong or given}\n\n"
            f"hint: give whole numbers from 1 to {n}, or shares up to 1.0"
        )
    return np.unique(np.array(counts, dtype=np.int64))


def _count(size: Any, n: int) -> int:
    """A size as a number of rows; 0 where it is invalid."""
    if isinstance(size, int | np.integer):
        return int(size)
    return round(float(size) * n) if isinstance(size, float | np.floating) and 0 < size <= 1 else 0
