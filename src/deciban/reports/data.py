"""What a report is about: the model, the rows, the predictions, and the metrics with their 95 % intervals.

The scores of training rows are optimistic. Whether rows are the training rows is found out by a second fit: the same
class counts and the same predictions mean the same rows. Then they are cross-validated in ten folds, so that everything
that was chosen on the rows (densities, smoothing, calibration, weights) is chosen again without them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban import metrics
from deciban.classifiers.base import Generative
from deciban.classifiers.logistic import LogisticRegression
from deciban.data import frames
from deciban.data.blocks import to_csr
from deciban.decision import log_proba_of, reads_texts
from deciban.errors import DataError, DecibanError
from deciban.explain.explanation import Explanation
from deciban.metrics import Estimate
from deciban.model_selection.cross_validation import cross_validate
from deciban.model_selection.labelled_rows import training_counts
from deciban.rows import inputs
from deciban.rows.sampling import folds_by_content

SAME = 100  # rows whose answers are compared
FOLDS = 10
MANY = 100_000  # rows beyond which ten fits take too long


@dataclass(frozen=True, eq=False)
class ReportData:
    """Rows and predictions. Classes are those of the model, and those of y that it does not know."""

    model: Any
    X: Any
    classes: np.ndarray  # (k,)
    y: np.ndarray  # (n,), codes of `classes`
    log_proba: np.ndarray  # (n, k)
    how: str  # the rows were predicted, in a sentence
    judged: np.ndarray  # (n,), whether a row is scored: not if no other fold has a row of its class
    cross_validated: bool  # each row is predicted by a model fitted without it
    train: tuple[Any, np.ndarray | None] | None  # training rows: (X, y or None)
    rows: int  # to explain
    seed: int
    called: tuple[str, ...] | None = None  # names of the columns of an array or sparse matrix
    target: str | None = None  # its name
    row_names: np.ndarray | None = None  # (n,), where rows have names
    figures: bool = True  # whether sections have figures

    @cached_property
    def proba(self) -> np.ndarray:
        return np.exp(self.log_proba)

    @cached_property
    def metrics(self) -> dict[str, Estimate]:
        """The metrics of the rows that are scored, with their intervals."""
        return metrics_with_intervals(self)

    @cached_property
    def predicted(self) -> np.ndarray:
        return self.log_proba.argmax(axis=1)

    @cached_property
    def columns(self) -> list[frames.Column] | None:
        """The columns as they came; None where X is sparse, or texts."""
        return None if sparse.issparse(self.X) or self.texts is not None else frames.columns(self.X)

    @property
    def texts(self) -> list[str] | None:
        """The rows of a model that reads texts."""
        return self.X if reads_texts(self.model) else None

    @cached_property
    def words(self) -> sparse.csr_array:
        """How often each text has each of the words that the model knows, (n, d)."""
        view = self.model._view()
        return view.scorer.counts(view.reader.read(self.X))

    @property
    def what(self) -> str:
        """What evidence comes from."""
        return "columns" if self.texts is None else "words"

    @cached_property
    def known(self) -> np.ndarray:
        """Which classes the model knows, (k,)."""
        return np.isin(self.classes, self.model.classes_)

    @cached_property
    def names(self) -> list[str]:
        """The classes as texts."""
        return [str(label) for label in self.classes.tolist()]

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def d(self) -> int:
        if self.texts is not None:
            return len(self.model.vocabulary_)
        return self.X.shape[1] if self.columns is None else len(self.columns)

    def some(self, index: np.ndarray) -> Any:
        """Some of the rows, as the model reads them."""
        return inputs.rows_at(self.X, index)

    def explain(self, index: np.ndarray, of: Any) -> Explanation:
        """Evidence of some of the rows for a class (or one each); linear scores count from the mean row."""
        plain = isinstance(self.model, LogisticRegression) and not self.model._is_coded()
        anchored = self.columns is None or not plain
        more = {} if anchored else {"baseline": np.mean([c.values for c in self.columns or []], axis=1)}
        why = replace(self.model.explain(self.some(index), of=of, **more), rows=self.named_rows(index))
        return why if self.called is None or len(self.called) != len(why.columns) else replace(why, columns=self.called)

    def named_rows(self, index: np.ndarray) -> np.ndarray:
        """Rows as they are called: by the index of a pandas frame, else by number."""
        return index if self.row_names is None else self.row_names[index]

    def column_name(self, column: frames.Column) -> str:
        return self.called[column.name] if self.called is not None and isinstance(column.name, int) else column.label


def collect(
    model: Any,
    X: Any,
    y: Any,
    train: Any,
    held_out: bool | None,
    rows: int,
    seed: int,
    names: Any = None,
    target: str | None = None,
    figures: bool = True,
) -> ReportData:
    """Check the rows and predict them once."""
    row_names, target = _row_names(X), _target(y) if target is None else target
    X, y = inputs.labelled(X, y)
    X, labels = _rows(model, X), np.asarray(y)
    n = len(X) if isinstance(X, list) else X.shape[0]
    if labels.shape != (n,) or not n:
        raise DataError(f"X has {n} rows, y has shape {labels.shape}\n\nhint: give one label for each row")
    called = None if names is None or isinstance(X, list) else tuple(map(str, names))
    if called is not None and len(called) != X.shape[1]:
        raise DataError(f"{len(called)} names for {X.shape[1]} columns\n\nhint: give `names` one name for each column")
    own = np.asarray(model.classes_)
    if (own.dtype.kind in "OUS") != (labels.dtype.kind in "OUS"):
        raise DataError(
            f"the model's classes are {own.tolist()[:5]}, the labels {np.unique(labels).tolist()[:5]}\n\n"
            "hint: give y as it was given to `fit`"
        )
    inputs.labels(labels, None)  # refuses what are no labels
    classes = np.union1d(own, labels)
    held_out = not is_training_data(model, X, labels) if held_out is None else held_out
    log_proba, judged, how = _predict(model, X, labels, held_out)
    wide = np.full((len(labels), len(classes)), -np.inf)
    wide[:, np.searchsorted(classes, own)] = log_proba
    return ReportData(
        model,
        X,
        classes,
        np.searchsorted(classes, labels),
        wide,
        how,
        judged,
        not held_out,
        _pair(model, train),
        rows,
        seed,
        called,
        target,
        row_names,
        figures,
    )


def _row_names(X: Any) -> np.ndarray | None:
    """The index of a pandas frame or series, unless it only counts the rows."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or len(index) != len(X):
        return None
    names = np.empty(len(index), dtype=object)
    names[:] = index.tolist()
    return None if names.tolist() == list(range(len(names))) else names


def _target(y: Any) -> str | None:
    """What a series of labels, or the column of the labels, is called."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return None if name is None else str(name)


def _rows(model: Any, X: Any) -> Any:
    """A frame, a CSR matrix, an array, or a list of texts."""
    if reads_texts(model):
        texts = list(X)
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if isinstance(X, str) or wrong is not None or frames.is_frame(X):
            what = f"text {wrong} is {texts[wrong]!r:.60}" if wrong is not None else f"X is a {type(X).__name__}"
            raise DataError(f"{what}\n\nhint: give X as a list of texts, such as frame['text'].to_list()")
        return texts
    return X if frames.is_frame(X) else to_csr(X) if sparse.issparse(X) else np.asarray(X)


def _pair(model: Any, train: Any) -> tuple[Any, np.ndarray | None] | None:
    if train is None:
        return None
    x, y = inputs.labelled(*train) if isinstance(train, tuple) else (frames.records(train), None)
    return _rows(model, x), None if y is None else np.asarray(y)


def _predict(model: Any, X: Any, y: np.ndarray, held_out: bool) -> tuple[np.ndarray, np.ndarray, str]:
    """(log probabilities, whether each row is scored, how it was done)."""
    every = np.ones(len(y), dtype=bool)
    if held_out:
        return (
            np.asarray(log_proba_of(model, X)),
            every,
            "The rows are evaluated as held-out rows, which the model was not trained on.",
        )
    if len(y) > MANY and not _adds_up(model):
        try:
            how = (
                "These are the training rows: each is predicted by the model without it (leave-one-out). What was "
                "chosen on all rows (densities, smoothing, calibration) is kept."
            )
            return np.asarray(model.leave_one_out(X, y)), every, how
        except (AttributeError, DecibanError):  # no closed form
            pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fold = folds_by_content(X, np.unique(y, return_inverse=True)[1], min(FOLDS, len(y)))
            out = cross_validate(clone(model), X, y, fold)
            if out.nothing_scored:
                raise DataError("no class has two rows\n\nhint: give more rows")
    except (DecibanError, ValueError):
        how = "These are the training rows, and too few to be held out: the scores are optimistic."
        return np.asarray(log_proba_of(model, X)), every, how
    how = f"These are the training rows, so they are cross-validated in {out.fold.max() + 1} folds."
    known = every if out.known is None else out.known
    return out.log_proba[:, np.searchsorted(out.classes, model.classes_)], known, how


def _adds_up(model: Any) -> bool:
    """Whether the models of all folds come from one pass over the rows."""
    try:
        model._check_updatable()
    except (AttributeError, DecibanError):
        return False
    return True


def is_training_data(model: Any, X: Any, y: np.ndarray) -> bool:
    """Whether the model was learned from exactly these rows.

    >>> from deciban import GaussianNB
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    >>> is_training_data(GaussianNB().fit(X, y), X, y), is_training_data(GaussianNB().fit(X + 1, y), X, y)
    (True, False)
    """
    classes, counts = np.unique(y, return_counts=True)
    known = training_counts(model)
    if known is None or not np.array_equal(classes, model.classes_) or not np.allclose(known, counts):
        return False
    some = np.linspace(0, len(y) - 1, min(SAME, len(y))).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = clone(model).fit(X, y)
        except (DecibanError, ValueError):
            return False
    # densities where there are any: weights of columns hang on which rows were held out together, and that on dtypes
    ask = "score_samples" if isinstance(model, Generative) else "predict_proba"
    a, b = (np.asarray(getattr(one, ask)(inputs.rows_at(X, some))) for one in (model, again))
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9))


FEW = 300_000  # rows up to which they are drawn again 200 times, beyond 30 times


def metrics_with_intervals(facts: ReportData) -> dict[str, Estimate]:
    """Accuracy, balanced accuracy, log loss, Brier score, calibration error, and of two classes the area under ROC."""
    some = facts.judged
    y, proba, logs = facts.y[some], facts.proba[some], facts.log_proba[some]
    n, right = len(y), metrics.hits(y, logs)
    true = logs[np.arange(n), y]
    missed = ((proba - np.eye(proba.shape[1])[y]) ** 2).sum(axis=1)
    draws = 200 if n <= FEW else 30

    def off(w: np.ndarray) -> float:
        return metrics.expected_calibration_error(y, proba, w)

    calibration = metrics.bootstrap(off, n, facts.seed, draws)
    out = {
        "accuracy": metrics.proportion_interval(float(right.sum()), n),
        "balanced accuracy": _balanced(y, right),
        "log loss": metrics.mean(-true, 0.0),
        "Brier score": metrics.mean(missed, 0.0, 2.0),
        "calibration error": replace(calibration, low=max(calibration.low, 0.0)),
    }
    if len(facts.classes) == 2:
        with np.errstate(invalid="ignore"):
            odds = logs[:, 1] - logs[:, 0]  # ranks where probabilities are all but 1
        out["area under ROC"] = metrics.area(y == 1, np.nan_to_num(odds, nan=0.0))
    return out


def baseline_metrics(facts: ReportData) -> dict[str, float]:
    """The same of always predicting the class frequencies."""
    rows = np.bincount(facts.y[facts.judged], minlength=len(facts.classes))
    share = rows / max(rows.sum(), 1)
    some = share[share > 0]
    return {
        "accuracy": float(share.max()),
        "balanced accuracy": 1 / len(some),
        "log loss": float(-(some * np.log(some)).sum()),
        "Brier score": float(1 - (share**2).sum()),
        "area under ROC": 0.5,
    }


def by_class(facts: ReportData) -> list[tuple[str, int, Estimate, Estimate]]:
    """(class, rows, recall, precision) of each class."""
    out = []
    for c, name in enumerate(facts.names):
        own, predicted = facts.y == c, facts.predicted == c
        hits = int((own & predicted).sum())
        recall, precision = (metrics.proportion_interval(hits, int(rows.sum())) for rows in (own, predicted))
        out.append((name, int(own.sum()), recall, precision))
    return out


def _balanced(y: np.ndarray, right: np.ndarray) -> Estimate:
    """The mean of the classes' recalls."""
    groups = [right[y == c] for c in np.unique(y)]
    recall, size = np.array([g.mean() for g in groups]), np.array([len(g) for g in groups])
    pulled = (recall * size + 1) / (size + 2)  # a class that is all right has an error too
    error = metrics.Z * np.sqrt((pulled * (1 - pulled) / size).sum()) / len(groups)
    value = float(recall.mean())
    return Estimate(value, max(0.0, value - error), min(1.0, value + error))
