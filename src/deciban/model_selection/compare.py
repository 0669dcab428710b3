"""Compare classifiers on the same rows: cross-validation on the same folds, ranked by log loss.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 60)
>>> X = rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]
>>> out = compare(X, y, ["GaussianNB", "LinearDiscriminantAnalysis"])
>>> [trial.name for trial in out.trials], out.best.held_out.accuracy > 0.8
(['LinearDiscriminantAnalysis', 'GaussianNB'], True)

The module also decides which columns of a table a model can use. These are dropped, each with a reason: columns
without any value, identifiers (nearly all values differ), free text, row numbers, texts that look like dates or
amounts, and values that are neither numeric nor categorical (lists, periods). If only one column of free text is left,
its words are used as features.

>>> import numpy as np
>>> cells = [[i, f"id{i}", "ab"[i % 2], i % 7] for i in range(40)]
>>> summary = ColumnSummary.from_data(np.array(cells, dtype=object))
>>> summary.kept, list(summary.dropped_columns.values())
([2, 3], ['is a row number', 'is an identifier (nearly all values differ)'])
"""

from __future__ import annotations

import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from deciban.classifiers.bayes_net import BayesNet
from deciban.classifiers.discriminant import (
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.classifiers.ensemble import BayesOptimal, Gibbs
from deciban.classifiers.kernel_logistic import KernelLogisticRegression
from deciban.classifiers.logistic import LogisticRegression
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
)
from deciban.classifiers.structured import AODE, KDependenceBayes, TreeAugmentedNB
from deciban.classifiers.text import TextClassifier
from deciban.data import frames
from deciban.display import format_choices, format_list, option
from deciban.errors import DataError, DecibanError, did_you_mean
from deciban.metrics import prior_log_loss
from deciban.model_selection.cross_validation import CrossValidation, cross_validate_folds, not_scored_note
from deciban.model_selection.labelled_rows import LabelledRows
from deciban.model_selection.leaderboard import Leaderboard, Standing, difference, weighted_mean
from deciban.rows import inputs
from deciban.rows.sampling import folds_by_content, sample_rows
from deciban.rows.unused_columns import FREE, drop_reason


@dataclass(frozen=True)
class ColumnSummary:
    """Columns that a model can use, by name (by number in an array), and what they hold."""

    kept: list[Any]
    dropped_columns: dict[Any, str]  # column → reason
    numeric: bool  # all kept columns are numeric
    has_missing: bool  # a kept column has a missing value
    is_count: bool  # all kept columns hold whole numbers ≥ 0
    binary: bool  # all kept columns hold 0 and 1
    categorical: tuple[Any, ...] = ()  # kept columns that are categorical

    @property
    def texts(self) -> list[Any]:
        """The dropped columns of free text."""
        return [name for name, reason in self.dropped_columns.items() if reason == FREE]

    @classmethod
    def from_data(cls, X: Any) -> ColumnSummary:
        """Summarise the columns of a frame or an array."""
        found = _columns(X)
        reasons = {name: c if isinstance(c, str) else drop_reason(c) for name, c in found}
        dropped_columns = {name: reason for name, reason in reasons.items() if reason}
        columns = [column for name, column in found if not isinstance(column, str) and name not in dropped_columns]
        numeric = all(column.levels is None for column in columns)
        cells = [column.values[~column.missing] for column in columns] if numeric else []
        is_count = numeric and all((c >= 0).all() and (c == np.floor(c)).all() for c in cells)
        return cls(
            [column.name for column in columns],
            dropped_columns,
            numeric,
            any(column.missing.any() for column in columns),
            is_count,
            is_count and all((c <= 1).all() for c in cells),
            tuple(column.name for column in columns if column.levels is not None),
        )


@dataclass(frozen=True)
class FeatureSelection:
    """What a model reads of a table: the kept columns, or the words of one text column."""

    columns: ColumnSummary
    text: Any = None  # name of the text column

    @classmethod
    def from_data(cls, X: Any, text: Any = None) -> FeatureSelection:
        """Select from a frame or an array. `text` names a text column to be used alone.

        >>> rows = np.array([[f"{i} " + "many words in a row " * 3] for i in range(40)], dtype=object)
        >>> selection = FeatureSelection.from_data(rows)
        >>> selection.text, selection.rows(rows)[7][:12]
        (0, '7 many words')
        """
        if text is not None:
            return cls(_only_text_column(X, text), text)
        columns = ColumnSummary.from_data(X)
        if not columns.kept and len(columns.texts) == 1:
            return cls(columns, columns.texts[0])
        if not columns.kept:
            raise DataError(no_columns_error(columns))
        return cls(columns)

    @property
    def dropped_columns(self) -> dict[Any, str]:
        return {name: reason for name, reason in self.columns.dropped_columns.items() if name != self.text}

    def rows(self, X: Any) -> Any:
        """X as a classifier takes it: the kept columns, or a list of texts."""
        return select_columns(X, self.columns.kept) if self.text is None else frames.strings(X, self.text)


def _only_text_column(X: Any, text: Any) -> ColumnSummary:
    """A summary that drops all columns but the text column."""
    names = frames.names(X) if frames.is_frame(X) else list(range(np.shape(X)[1]))
    if text not in names:
        hint = did_you_mean(text, names, "'{}'") or f"the columns are {format_choices(names)}"
        raise DataError(f"there is no text column {text!r}\n\nhint: {hint}")
    return ColumnSummary(
        [], {name: "is not the text column" for name in names if name != text}, False, False, False, False
    )


def format_dropped(columns: Mapping[Any, str]) -> str:
    """Dropped columns and their reasons in one line.

    >>> format_dropped({"id": "is a row number", "note": "is free text"})
    '`id` is a row number; `note` is free text'
    """
    return "; ".join(f"`{frames.column_label(name)}` {reason}" for name, reason in columns.items())


def no_columns_error(columns: ColumnSummary) -> str:
    """The error text for a table without a usable column."""
    reasons = format_dropped(columns.dropped_columns) or "there is no other column"
    return (
        f"no column is left to learn from: {reasons}\n\nhint: give numeric or categorical columns, or name a column "
        f"whose words are the features: {option('text=', '--text COLUMN')}"
    )


def select_columns(X: Any, names: list[Any]) -> Any:
    """These columns of a frame or an array, in this order."""
    if isinstance(X, frames.Records):
        return X.only(names)
    if not frames.is_frame(X):
        return np.asarray(X)[:, names]
    place = {name: j for j, name in enumerate(frames.names(X))}  # names may be numbers
    return nw.from_native(X, eager_only=True)[:, [place[name] for name in names]].to_native()


def _columns(X: Any) -> list[tuple[Any, frames.Column | str]]:
    """(name, column) of each column; in place of a column that cannot be read the reason."""
    if not frames.is_frame(X):
        return [(column.name, column) for column in frames.columns(np.asarray(X))]
    return _readable_columns(X, list(frames.names(X)))


def _readable_columns(X: Any, names: list[Any]) -> list[tuple[Any, frames.Column | str]]:
    """The same of some columns of a frame: all at once, and by halves where one of them cannot be read."""
    try:
        return [(column.name, column) for column in frames.columns(select_columns(X, names))]
    except DataError as error:
        if len(names) == 1:
            return [(names[0], str(error).partition("\n\n")[0].removeprefix(f"column `{names[0]}` "))]
    half = len(names) // 2
    return [*_readable_columns(X, names[:half]), *_readable_columns(X, names[half:])]


MOST = 10_000  # rows that are used at most, sampled class by class
LONE = "every class has one row"
FOLDS = 10
REPEATS = 3  # assignments of rows to folds
SMALL = 400_000  # cells of a table up to which cross-validation is repeated
WORDS = 50  # columns that a text counts as
MOST_FOLDS = 50
SLIGHT = 0.002  # nats of log loss that do not justify a more complex classifier
SHRUNK = 30  # columns up to which a discriminant's shrinkage is chosen too
SLOW = 2  # complexity from which cross-validation is not repeated


@dataclass(frozen=True, repr=False)
class Candidate:
    """A classifier to be compared: how to construct it, its requirements and a short description."""

    name: str
    make: Callable[[], Any]
    words: str
    needs: Callable[[ColumnSummary], str] = lambda columns: ""  # the requirement that the columns do not meet, or ""
    updates: bool = False  # rows can be added and removed later
    texts: bool | None = False  # it reads one column of texts; None: not known
    complexity: int = 0  # of two classifiers that do not differ significantly, the less complex one is chosen
    suited: Callable[[Any, ColumnSummary], Any] = lambda model, columns: model  # the model with settings for columns

    def __repr__(self) -> str:
        return f"{self.name}: {self.words}"

    def lacks(self, found: FeatureSelection, named: bool = False) -> str:
        """The requirement that the selected columns do not meet, or "". `named`: columns are those of a frame, which
        are coded, or the user asked for this classifier."""
        if why := self.lacks_texts(found.text is not None):
            return why
        codes = named and self.needs in (_numbers, _no_missing)
        return "" if codes and all(isinstance(name, str) for name in found.columns.kept) else self.needs(found.columns)

    def lacks_texts(self, texts: bool) -> str:
        """Why it cannot read texts, or anything else, or ""."""
        if self.texts is None or self.texts == texts:
            return ""
        return "reads one column of texts alone" if self.texts else "does not read texts"


MOSTLY_NUMBERS = "needs numeric columns, at least half of them"
NUMBERS, CELLS = "needs numeric columns", "needs columns without missing values"
COUNTS, ONES = "needs counts in every column", "needs 0 and 1 in every column"


def _numbers(columns: ColumnSummary) -> str:
    return "" if columns.numeric else NUMBERS


def _no_missing(columns: ColumnSummary) -> str:
    return _numbers(columns) or (CELLS if columns.has_missing else "")


def _mostly_numbers(columns: ColumnSummary) -> str:
    """Categories of frames are coded, but as Gaussians few of them only."""
    coded = all(isinstance(name, str) for name in columns.kept) and 2 * len(columns.categorical) <= len(columns.kept)
    return "" if columns.numeric or coded else MOSTLY_NUMBERS


def _mostly_complete_numbers(columns: ColumnSummary) -> str:
    """Missing cells of frames are coded."""
    named = all(isinstance(name, str) for name in columns.kept)
    return _mostly_numbers(columns) or (CELLS if columns.has_missing and not named else "")


def _unshrunk(model: Any, columns: ColumnSummary) -> Any:
    """Of many columns, each candidate of the shrinkage takes long: the blend alone is chosen."""
    return model.set_params(shrinkage=0.0) if len(columns.kept) > SHRUNK else model


def _counts(columns: ColumnSummary) -> str:
    return "" if columns.is_count and not columns.has_missing else COUNTS


def _ones(columns: ColumnSummary) -> str:
    return "" if columns.binary and not columns.has_missing else ONES


KINDS = {
    kind.name: kind
    for kind in (
        Candidate("mixed", MixedNB, "naive Bayes, a distribution for each column", updates=True),
        Candidate("calibrated", lambda: MixedNB(calibrate=True), "calibrated naive Bayes", complexity=1),
        Candidate(
            "weighted",
            lambda: MixedNB(weights="discriminative"),
            "naive Bayes with a weight for each column",
            complexity=2,
        ),
        Candidate(
            "joint",
            lambda: MixedNB(interactions="auto"),
            "naive Bayes with weighted tables of columns that act together",
            complexity=2,
        ),
        Candidate(
            "tan",
            lambda: TreeAugmentedNB(calibrate=True),
            "calibrated tree-augmented naive Bayes",
            complexity=2,
        ),
        Candidate(
            "aode",
            lambda: AODE(calibrate=True),
            "calibrated averaged one-dependence estimators",
            complexity=2,
        ),
        Candidate(
            "kdb",
            lambda: KDependenceBayes(k=2, calibrate=True),
            "calibrated 2-dependence Bayes",
            complexity=2,
        ),
        Candidate(
            "network",
            lambda: BayesNet(calibrate=True),
            "calibrated Bayesian network",
            complexity=2,
        ),
        Candidate("gaussian", GaussianNB, "Gaussian naive Bayes", _numbers, True),
        Candidate(
            "lda",
            LinearDiscriminantAnalysis,
            "linear discriminant analysis",
            _numbers,
            True,
            complexity=1,
        ),
        Candidate(
            "qda",
            QuadraticDiscriminantAnalysis,
            "quadratic discriminant analysis",
            _numbers,
            True,
            complexity=2,
        ),
        Candidate(
            "rda",
            RegularizedDiscriminantAnalysis,
            "regularized discriminant analysis, between lda and qda",
            _numbers,
            True,
            complexity=2,
        ),
        Candidate(
            "calibrated-rda",
            lambda: RegularizedDiscriminantAnalysis(blend="loo", shrinkage="loo", calibrate=True),
            "calibrated regularized discriminant analysis, between lda and qda by leave-one-out",
            _mostly_numbers,
            complexity=2,
            suited=_unshrunk,
        ),
        Candidate("fisher", FisherDiscriminant, "Fisher's linear discriminant", _numbers, True, complexity=1),
        Candidate(
            "logistic",
            lambda: LogisticRegression(C="auto"),
            "logistic regression, penalty chosen by cross-validation",
            _no_missing,
            complexity=2,
        ),
        Candidate(
            "kernel",
            KernelLogisticRegression,
            "logistic regression on bumps around rows, width and penalty chosen by cross-validation",
            _mostly_complete_numbers,
            complexity=3,
        ),
        Candidate("bernoulli", BernoulliNB, "Bernoulli naive Bayes", _ones, True),
        Candidate("multinomial", MultinomialNB, "multinomial naive Bayes", _counts, True),
        Candidate("complement", ComplementNB, "complement naive Bayes", _counts, True),
        Candidate("poisson", PoissonNB, "Poisson naive Bayes", _counts, True),
        Candidate("text", TextClassifier, "naive Bayes of words", updates=True, texts=True),
        Candidate(
            "text-calibrated",
            lambda: TextClassifier(calibrate=True),
            "calibrated naive Bayes of words",
            texts=True,
            complexity=1,
        ),
        Candidate(
            "text-logistic",
            lambda: TextClassifier("nb-logistic"),
            "logistic regression on words, scaled by naive Bayes",
            texts=True,
            complexity=2,
        ),
    )
}
AUTO_TABLES = ("joint", "logistic", "tan", "network", "calibrated-rda", "kernel")
AUTO_UPDATABLE = ("joint", "weighted", "calibrated", "mixed")  # their second stage follows from tally and sample
AUTO_COUNTS = ("multinomial", "gaussian", "logistic")  # of sparse matrices
AUTO_TEXTS = ("text", "text-calibrated", "text-logistic")


def _auto_classifier() -> Any:
    from deciban.model_selection.auto import AutoClassifier  # which compares candidates of this module

    return AutoClassifier()


PUBLIC = {
    kind.name: kind
    for kind in (
        *(replace(kind, name=kind.make.__name__) for kind in KINDS.values() if isinstance(kind.make, type)),
        Candidate("LogisticRegression", LogisticRegression, "logistic regression", _no_missing, complexity=2),
        Candidate("CategoricalNB", CategoricalNB, "categorical naive Bayes", _counts, True),
        Candidate("TreeAugmentedNB", TreeAugmentedNB, "tree-augmented naive Bayes", updates=True, complexity=2),
        Candidate("KDependenceBayes", KDependenceBayes, "k-dependence Bayes", updates=True, complexity=2),
        Candidate("AODE", AODE, "averaged one-dependence estimators", updates=True, complexity=2),
        Candidate("BayesNet", BayesNet, "Bayesian network", updates=True, complexity=2),
        Candidate(
            "AutoClassifier", _auto_classifier, "the best of several classifiers, or a mix of them", complexity=2
        ),
        Candidate("BayesOptimal", BayesOptimal, "average of several models", complexity=2),
        Candidate("Gibbs", Gibbs, "random draw of one of several models", updates=True, complexity=2),
    )
}


@dataclass(frozen=True, repr=False)
class CandidateResult:
    """Cross-validated scores of one classifier."""

    kind: Candidate
    held_out: CrossValidation
    seconds: float  # time of all folds

    def __repr__(self) -> str:
        out = self.held_out
        return f"{self.name}: log loss {out.log_loss:.4f} ± {self.spread:.4f}, accuracy {out.accuracy:.4f}"

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def spread(self) -> float:
        """Standard error of the log loss."""
        return weighted_mean(self.held_out.losses, None)[1]

    def worse(self, other: CandidateResult) -> tuple[float, float]:
        """(mean difference of the log losses, its standard error), paired by row: both predict the same rows."""
        return difference(self.held_out.losses, other.held_out.losses, None)


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of `compare`: classifiers from the best to the worst, and advice.

    Attributes
    ----------
    trials : list of CandidateResult
        The scores of each classifier, by increasing log loss.
    unfit : dict
        Classifiers that were not scored → reason.
    dropped_columns : dict
        Columns that were not used → reason.
    rows, total : int
        Number of rows used, and of rows given.
    folds : int
        Number of folds.
    baseline_log_loss : float
        Log loss of always predicting the class frequencies.
    categorical : tuple
        The categorical columns.
    notes : tuple of str
        Remarks on how the comparison was made.
    """

    trials: list[CandidateResult]
    unfit: dict[str, str]
    dropped_columns: dict[Any, str]
    rows: int
    total: int
    folds: int
    baseline_log_loss: float
    categorical: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> CandidateResult:
        """The result with the lowest log loss."""
        return self.trials[0]

    @cached_property
    def chosen(self) -> CandidateResult:
        """The one-standard-error rule: among the results within one standard error (or 0.002) of the lowest log loss,
        the least complex; of several of that complexity, the best. The standard error is that of the paired
        difference."""
        near = []
        for trial in self.trials:
            more, error = trial.worse(self.best)
            near += [trial] if trial is self.best or more <= max(error, SLIGHT) else []
        simplest = min(trial.kind.complexity for trial in near)
        return next(trial for trial in self.trials if trial.kind.complexity <= simplest)

    @property
    def leaderboard(self) -> Leaderboard:
        """The classifiers that were scored, ranked as `AutoClassifier` ranks its candidates."""
        scored = [
            Standing(
                trial.name,
                trial.held_out.losses,
                trial.held_out.accuracy,
                trial.held_out.brier,
                trial.held_out.calibration_error,
                seconds=trial.seconds,
            )
            for trial in self.trials
        ]
        return Leaderboard.of(scored, "; ".join([self.how, *not_scored_note(self.unknown)]), self.baseline_log_loss)

    @property
    def unknown(self) -> dict[Any, int]:
        """Class → number of its rows that are not scored, because the other folds have no row of the class."""
        return self.best.held_out.unknown

    @property
    def how(self) -> str:
        """How rows were held out, as text."""
        times = max(trial.held_out.repeats for trial in self.trials)
        once = [trial.name for trial in self.trials if trial.held_out.repeats < times]
        return folds_of(self.folds, self.rows, self.total, times) + (f" ({', '.join(once)}: once)" if once else "")

    @property
    def advice(self) -> str:
        """Which classifier to use, and why."""
        best, chosen = self.best, self.chosen
        if best.held_out.log_loss > 0.98 * self.baseline_log_loss:
            return "No classifier beats the class frequencies: the columns carry no information about the target."
        if chosen is best:
            words = [f"Use {_described(best.kind)}: the lowest log loss."]
        else:
            words = [
                f"Use {_described(chosen.kind)}: simpler than `{best.name}`, and not significantly worse on these rows."
            ]
        near = []
        for trial in self.trials:
            more, error = trial.worse(best)
            near += [trial] if trial not in (best, chosen) and more <= 2 * error else []
        if near:
            named = format_list([trial.name for trial in near], len(near), last=" and ")
            verb = "does" if len(near) == 1 else "do"
            words.append(f"{named} {verb} not differ significantly from `{best.name}` on these rows.")
        if not chosen.kind.updates:
            later = next((trial for trial in self.trials if trial.kind.updates), None)
            if later is not None:
                words.append(f"To add or remove rows later, use `{later.name}`.")
        return " ".join(words)

    @property
    def not_tried(self) -> list[str]:
        """The classifiers that were not scored, one line for each reason."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.unfit.items():
            by_reason.setdefault(reason, []).append(name)
        columns = self.categorical
        named = f"{format_list(columns, 4, last=' and ')} {'is' if len(columns) == 1 else 'are'} categorical"
        lines: dict[str, list[str]] = {}
        for reason, names in by_reason.items():
            because = (
                named if columns and reason in (NUMBERS, MOSTLY_NUMBERS, COUNTS, ONES) else _plural(reason, len(names))
            )
            lines.setdefault(because, []).extend(names)
        return [f"not tried, because {reason}: {', '.join(names)}" for reason, names in lines.items()]

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data (for JSON)."""
        return {
            "ranked": [
                {
                    "name": t.name,
                    "log_loss": t.held_out.log_loss,
                    "spread": t.spread,
                    "accuracy": t.held_out.accuracy,
                    "brier": t.held_out.brier,
                    "calibration_error": t.held_out.calibration_error,
                    "seconds": t.seconds,
                }
                for t in self.trials
            ],
            "chosen": self.chosen.name,
            "baseline_log_loss": self.baseline_log_loss,
            "advice": self.advice,
            "unfit": self.unfit,
            "dropped_columns": {str(name): why for name, why in self.dropped_columns.items()},
            "rows": self.rows,
            "of_rows": self.total,
            "folds": self.folds,
            "not_scored": {str(label): rows for label, rows in self.unknown.items()},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return str(self.leaderboard)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.leaderboard._repr_html_()


def lone(y: np.ndarray) -> bool:
    """Whether no class has a second row, so that cross-validation is not possible.

    >>> lone(np.array(["a", "b"])), lone(np.array(["a", "b", "a"]))
    (True, False)
    """
    return bool(np.bincount(inputs.labels(y, None)[1]).max() < 2)


def folds_of(folds: int, rows: int, total: int, times: int = 1) -> str:
    """How rows were held out, as text.

    >>> folds_of(10, 10_000, 20_000), folds_of(6, 6, 6), folds_of(10, 150, 150, 3)
    ('10 folds of 10,000 of 20,000 rows', '6 folds of one row each (leave-one-out)', '10 folds, repeated 3 times')
    """
    alone = " of one row each (leave-one-out)" if folds == rows else ""
    again = f", repeated {times} times" if times > 1 else ""
    return f"{folds} folds{alone}" + (f" of {rows:,} of {total:,} rows" if rows < total else "") + again


def compare(
    X: Any,
    y: Any,
    models: Any = None,
    folds: int = FOLDS,
    callback: Callable[[str, float], None] | None = None,
    text: Any = None,
) -> Comparison:
    """Cross-validate several classifiers on the same folds and rank them by log loss.

    Columns that no model can use (identifiers, row numbers, free text among other columns) are dropped first. Of more
    than 10,000 rows, 10,000 are sampled class by class, at least a few of each class. The sample and the folds depend
    on the contents of the rows and not on their order. There are at most as many folds as rows, and at most 50.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    models : iterable of classifiers, names and (name, classifier), dict of name → classifier, or one of them, optional
        The classifiers to compare. A classifier is an estimator of this library or any scikit-learn classifier with
        `predict_proba`; it is cloned, not fitted. A name is that of a public class, such as "GaussianNB" (with its
        default settings), or one of `list_classifiers`; it is skipped with a reason where the columns do not meet its
        requirements. Estimators of the same class in a list are numbered: "GaussianNB-1", "GaussianNB-2". By default
        all of `list_classifiers` that suit the columns.
    folds : int, default 10
        Number of folds.
    callback : callable, optional
        Called with (name, fraction done) before each classifier.
    text : str or int, optional
        A column whose words are the only features. This is the default where a single column of free text is all
        there is.

    Returns
    -------
    Comparison
        `trials` from the best to the worst, `chosen`, `advice`, and which classifiers and columns were not used.

    See Also
    --------
    AutoClassifier : The best classifier, or a mix.
    cross_validate : Held-out scores of one model.
    list_classifiers : The names of classifiers.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [0.4], [1.0], [4.0], [4.5], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> out = compare(X, y, ["GaussianNB", LogisticRegression(), "PoissonNB"], folds=3)
    >>> sorted(trial.name for trial in out.trials), out.unfit
    (['GaussianNB', 'LogisticRegression'], {'PoissonNB': 'needs counts in every column'})

    >>> out = compare(X, y, {"weak": LogisticRegression(C=10.0), "strong": LogisticRegression(C=0.1)}, folds=3)
    >>> out.best.name
    'weak'
    """
    X, y = inputs.labelled(X, y)
    found = FeatureSelection.from_data(X, text)
    return compare_readable(found, found.rows(X), np.asarray(y), models, folds, callback)


def compare_readable(
    found: FeatureSelection,
    rows: Any,
    y: np.ndarray,
    models: Any = None,
    folds: int = FOLDS,
    callback: Callable[[str, float], None] | None = None,
) -> Comparison:
    """`compare` on columns that were selected before."""
    classes, codes = inputs.labels(y, None)
    if len(classes) < 2:
        raise DataError(f"only one class in the target, {classes.tolist()}\n\nhint: give rows of at least two classes")
    if lone(y):
        raise DataError(f"{LONE}: cross-validation is not possible\n\nhint: give two or more rows of a class")
    wanted = [kind.name for kind in KINDS.values() if kind.texts == (found.text is not None)]
    chosen, named = candidates(wanted if models is None else models), models is not None or frames.is_frame(rows)
    unfit = {kind.name: reason for kind in chosen if (reason := kind.lacks(found, named))}
    suited = [kind for kind in chosen if kind.name not in unfit]
    at = sample_rows(rows, codes, MOST)
    drawn, labels = inputs.rows_at(rows, at) if len(at) < len(codes) else rows, y[at]
    most = min(folds, len(at), MOST_FOLDS)
    times = 1 if most == len(at) else repeats(found, len(at))  # leave-one-out has one assignment to folds
    notes = [] if most == folds else [f"{folds} folds were requested; {most} are used, for {len(at):,} rows"]
    assignments = [folds_by_content(drawn, codes[at], most, seed) for seed in range(times)]
    trials: list[CandidateResult] = []
    for number, kind in enumerate(suited):
        if callback is not None:
            callback(kind.name, number / len(suited))
        try:
            trials.append(_evaluate(kind, drawn, labels, assignments))
        except (DecibanError, np.linalg.LinAlgError, ValueError, TypeError) as error:  # TypeError: of other libraries
            unfit[kind.name] = str(error).split("\n")[0].rstrip(".")
    if not trials:
        raise DataError(f"no classifier can learn from these rows: {unfit}\n\nhint: check the target")
    trials.sort(key=lambda trial: trial.held_out.log_loss)
    base = prior_log_loss(codes[at][~np.isnan(trials[0].held_out.losses)])
    categorical = tuple(found.columns.categorical)
    return Comparison(trials, unfit, found.dropped_columns, len(at), len(codes), most, base, categorical, tuple(notes))


def candidates(models: Any) -> list[Candidate]:
    """What `compare` takes as `models`, as candidates with different names.

    >>> candidates([GaussianNB(), GaussianNB(var_smoothing=0.1), "lda"])
    [GaussianNB-1: GaussianNB(), GaussianNB-2: GaussianNB(var_smoothing=0.1), lda: linear discriminant analysis]
    """
    if isinstance(models, str | BaseEstimator | type):
        models = [models]
    if not isinstance(models, Iterable):
        raise DataError(f"models is of type {type(models).__name__}\n\nhint: {_MODELS}")
    if isinstance(models, Mapping):
        out = [replace(_candidate(model), name=str(name)) for name, model in models.items()]
    else:
        out = [_named(model) for model in models]
    if not out:
        raise DataError(f"models is empty\n\nhint: {_MODELS}, or leave it out to compare all that suit the columns")
    often = Counter(kind.name for kind in out)
    numbers: Counter[str] = Counter()
    for at, kind in enumerate(out):
        if often[kind.name] > 1:
            numbers[kind.name] += 1
            out[at] = replace(kind, name=f"{kind.name}-{numbers[kind.name]}")
    return out


_MODELS = "give classifiers, names of public classes such as 'GaussianNB', (name, classifier), or {name: classifier}"


def _named(model: Any) -> Candidate:
    """A candidate from what a list has: a name, a classifier, or (name, classifier)."""
    if isinstance(model, tuple) and len(model) == 2 and isinstance(model[0], str):
        return replace(_candidate(model[1]), name=model[0])
    return _candidate(model)


def _candidate(model: Any) -> Candidate:
    """A candidate from the name of one, or from a classifier."""
    if isinstance(model, str):
        return get_candidate(model)
    name = type(model).__name__
    if isinstance(model, type):
        raise DataError(f"{model.__name__} is a class, not an instance\n\nhint: give {model.__name__}()")
    if not isinstance(model, BaseEstimator) or not is_classifier(model):
        raise DataError(f"{name} is not a classifier\n\nhint: {_MODELS}")
    known = PUBLIC.get(name)
    if known is not None and type(model) is known.make:
        updates = known.updates and repr(model) == repr(known.make())  # other settings may need all rows at once
        return replace(known, make=lambda: model, words=_one_line(model), needs=_nothing, updates=updates)
    if not (hasattr(model, "predict_proba") or hasattr(model, "predict_log_proba")):
        raise DataError(
            f"{name} has no `predict_proba`\n\nhint: wrap it, for example in sklearn.calibration.CalibratedClassifierCV"
        )
    return Candidate(name, lambda: model, _one_line(model), texts=None, complexity=SLOW)


def _nothing(columns: ColumnSummary) -> str:
    return ""


def _one_line(model: Any) -> str:
    """The repr of an estimator in one line, shortened."""
    return textwrap.shorten(repr(model), 80, placeholder=" …")


def _described(kind: Candidate) -> str:
    """The name of a candidate, with a description that adds to it.

    >>> _described(KINDS["lda"]), _described(_candidate(GaussianNB()))
    ('`lda` (linear discriminant analysis)', '`GaussianNB`')
    """
    return f"`{kind.name}`" if kind.words == f"{kind.name}()" else f"`{kind.name}` ({kind.words})"


def repeats(found: FeatureSelection, rows: int) -> int:
    """How often the cross-validation of fast classifiers is repeated: one assignment to folds has a large variance."""
    wide = len(found.columns.kept) if found.text is None else WORDS
    return REPEATS if rows * wide <= SMALL else 1


def validate_candidate(kind: Candidate, X: Any, y: np.ndarray, assignments: list[np.ndarray]) -> CrossValidation:
    """Cross-validate a candidate on one or several assignments of rows to folds; slow candidates use the first one."""
    rows = LabelledRows.from_data(X, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about a fold do not hold for all rows
        used = assignments[:1] if kind.complexity >= SLOW else assignments
        parts = [cross_validate_folds(kind.make(), rows, fold) for fold in used]
    return CrossValidation.joined(parts)


def _evaluate(kind: Candidate, X: Any, y: np.ndarray, assignments: list[np.ndarray]) -> CandidateResult:
    start = time.perf_counter()
    held_out = validate_candidate(kind, X, y, assignments)
    return CandidateResult(kind, held_out, time.perf_counter() - start)


def get_candidate(name: str) -> Candidate:
    """The candidate of a name: one of `list_classifiers`, or the name of a public class.

    >>> get_candidate("lda").words, get_candidate("AODE").words
    ('linear discriminant analysis', 'averaged one-dependence estimators')
    """
    known = {**KINDS, **PUBLIC}
    if name not in known:
        hint = did_you_mean(name, known, "'{}'") or f"the names are {', '.join(KINDS)}, and those of public classes"
        raise DataError(f"no classifier is called {name!r}\n\nhint: {hint}")
    return known[name]


def list_classifiers() -> dict[str, str]:
    """The short names of classifiers for `compare` and `auto_fit`. Names of public classes work there, too.

    Returns
    -------
    dict of str → str
        Name → description.

    See Also
    --------
    compare : Cross-validates the classifiers that suit the rows.

    Examples
    --------
    >>> list_classifiers()["lda"]
    'linear discriminant analysis'
    """
    return {name: kind.words for name, kind in KINDS.items()}


def _plural(reason: str, many: int) -> str:
    """A reason as the end of a sentence about one or several classifiers.

    >>> _plural(COUNTS, 1), _plural(COUNTS, 2)
    ('it needs counts in every column', 'they need counts in every column')
    """
    first, _, rest = reason.partition(" ")
    verbs = {"needs": "need", "reads": "read", "does": "do"}
    if first not in verbs:
        return reason
    return f"it {reason}" if many == 1 else f"they {verbs[first]} {rest}"
