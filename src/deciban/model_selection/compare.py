"""Which classifier for these rows? All that suit them, cross-validated on the same folds and ranked by log loss.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 60)
>>> X = rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]
>>> out = compare(X, y, ["gaussian", "lda"])
>>> [trial.name for trial in out.trials], out.best.held_out.accuracy > 0.8
(['lda', 'gaussian'], True)

Which columns of a table a model can learn from, and what kind they are.

Left out, with a reason: columns without any cell, names that nearly every row has for itself (tickets, identifiers),
free text, numbers that only count the rows or identify them, texts that look like dates or amounts, and cells that are
neither numbers nor levels (dates, lists). Where nothing but one column of free text is left, its words are learned.

>>> import numpy as np
>>> cells = [[i, f"id{i}", "ab"[i % 2], i % 7] for i in range(40)]
>>> looked = ColumnSummary.of(np.array(cells, dtype=object))
>>> looked.kept, list(looked.dropped_columns.values())
([2, 3], ['only counts the rows', 'names nearly every row by itself'])
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from deciban.classifiers.discriminant import (
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.classifiers.logistic import LogisticRegression
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from deciban.classifiers.text import TextClassifier
from deciban.data import frames
from deciban.display import Table, format_choices, format_list, option
from deciban.errors import DataError, DecibanError, did_you_mean
from deciban.metrics import prior_log_loss
from deciban.model_selection.cross_validation import CrossValidation, apart, validated
from deciban.model_selection.labelled_rows import LabelledRows
from deciban.rows import inputs
from deciban.rows.sampling import folds_by_content, sample_rows

FEW = 20  # levels that are never too many
OWN = 0.5  # levels for each cell, above which a column names rows
LONG = 40  # characters of a cell that is a text
FREE = "is free text"
MOSTLY = 0.8  # share of the cells that tells what a column holds
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
DATES = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}|\d{{1,2}}\.? \w{{3,9}}\.? \d{{4}}|"
    rf"\w{{3,9}}\.? \d{{1,2}},? \d{{4}})([T ]+{TIME}( ?[AaPp][Mm])?( ?(Z|[+-]\d{{2}}:?\d{{2}}))?)?|{TIME}"
)
NUMBER = re.compile(r"[-+−]?[$€£¥₹]? ?[-+−]?\d[\d.,'\u00a0\u202f]*([eE][-+]?\d+)? ?[%$€£¥₹]?")
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|key|uuid|guid|index|idx|no|nr|num|number|code|ref)$|[a-z](Id|ID|Nr|No)$", re.ASCII
)


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of the columns that are kept, by name (by number in an array)."""

    kept: list[Any]
    dropped_columns: dict[Any, str]  # why
    numeric: bool  # whether all that are kept hold numbers
    holes: bool  # whether a cell of them is missing
    whole: bool  # whether all hold whole numbers ≥ 0
    binary: bool  # whether all hold 0 and 1
    words: tuple[Any, ...] = ()  # those that hold levels

    @property
    def texts(self) -> list[Any]:
        """The columns of free text, which are left out."""
        return [name for name, why in self.dropped_columns.items() if why == FREE]

    @classmethod
    def of(cls, X: Any) -> ColumnSummary:
        """From a frame or an array."""
        found = _columns(X)
        reasons = {name: c if isinstance(c, str) else _why_not(c) for name, c in found}
        dropped_columns = {name: why for name, why in reasons.items() if why}
        columns = [column for name, column in found if not isinstance(column, str) and name not in dropped_columns]
        numeric = all(column.levels is None for column in columns)
        cells = [column.values[~column.missing] for column in columns] if numeric else []
        whole = numeric and all((c >= 0).all() and (c == np.floor(c)).all() for c in cells)
        return cls(
            [column.name for column in columns],
            dropped_columns,
            numeric,
            any(column.missing.any() for column in columns),
            whole,
            whole and all((c <= 1).all() for c in cells),
            tuple(column.name for column in columns if column.levels is not None),
        )


@dataclass(frozen=True)
class FeatureSelection:
    """What a model is to read: the columns that are kept, or the words of one."""

    columns: ColumnSummary
    text: Any = None  # the one, by name

    @classmethod
    def of(cls, X: Any, text: Any = None) -> FeatureSelection:
        """From a frame or an array; `text` names a column of texts that is to be read alone.

        >>> rows = np.array([[f"{i} " + "many words in a row " * 3] for i in range(40)], dtype=object)
        >>> FeatureSelection.of(rows).text, FeatureSelection.of(rows).rows(rows)[7][:12]
        (0, '7 many words')
        """
        if text is not None:
            return cls(_only_text_column(X, text), text)
        columns = ColumnSummary.of(X)
        if not columns.kept and len(columns.texts) == 1:
            return cls(columns, columns.texts[0])
        if not columns.kept:
            raise DataError(no_columns_error(columns))
        return cls(columns)

    @property
    def dropped_columns(self) -> dict[Any, str]:
        return {name: why for name, why in self.columns.dropped_columns.items() if name != self.text}

    def rows(self, X: Any) -> Any:
        """As a classifier takes them: the columns, or a list of texts."""
        return select_columns(X, self.columns.kept) if self.text is None else frames.strings(X, self.text)


def _only_text_column(X: Any, text: Any) -> ColumnSummary:
    """All columns but one left out."""
    names = frames.names(X) if frames.is_frame(X) else list(range(np.shape(X)[1]))
    if text not in names:
        hint = did_you_mean(text, names, "'{}'") or f"the columns are {format_choices(names)}"
        raise DataError(f"there is no column {text!r} to read texts from\n\nhint: {hint}")
    return ColumnSummary(
        [], {name: "stands beside the text" for name in names if name != text}, False, False, False, False
    )


def why_left_out(columns: Mapping[Any, str]) -> str:
    """Columns and why each is left out, as the end of a sentence."""
    return "; ".join(f"`{frames.column_label(name)}` {why}" for name, why in columns.items())


def no_columns_error(columns: ColumnSummary) -> str:
    """What to say where no column can be used."""
    told = why_left_out(columns.dropped_columns) or "there is no other column"
    return (
        f"no column is left to learn from: {told}\n\nhint: give columns of numbers or of words that rows share, or "
        f"name one whose words are to be learned from: {option('text=', '--text COLUMN')}"
    )


def select_columns(X: Any, names: list[Any]) -> Any:
    """Those columns of a frame or an array, in this order."""
    if isinstance(X, frames.Records):
        return X.only(names)
    if not frames.is_frame(X):
        return np.asarray(X)[:, names]
    return nw.from_native(X, eager_only=True).select(names).to_native()


def _columns(X: Any) -> list[tuple[Any, frames.Column | str]]:
    """(name, column) of each; the reason instead of one that a model cannot read."""
    if not frames.is_frame(X):
        return [(column.name, column) for column in frames.columns(np.asarray(X))]
    out: list[tuple[Any, frames.Column | str]] = []
    for name in frames.names(X):
        try:
            out.append((name, frames.columns(select_columns(X, [name]))[0]))
        except DataError as error:
            out.append((name, str(error).partition("\n\n")[0].removeprefix(f"column `{name}` ")))
    return out


def _why_not(column: frames.Column) -> str:
    given = int((~column.missing).sum())
    if not given:
        return "has no cells"
    if column.levels is None:
        return _why_no_number(column)
    levels = [str(level) for level in column.levels]
    if len(levels) <= max(FEW, OWN * given):
        return ""
    for what, pattern in (("dates", DATES), ("numbers as text", NUMBER)):
        fits = [pattern.fullmatch(level.strip()) is not None for level in levels]
        if np.mean(fits) >= MOSTLY:
            other = next((f", but {level!r} does not" for level, fit in zip(levels, fits, strict=True) if not fit), "")
            return (
                f"holds {what}: {100 * np.mean(fits):.0f} % of the cells look like {levels[fits.index(True)]!r}{other}"
            )
    return FREE if np.mean([len(level) for level in levels]) > LONG else "names nearly every row by itself"


def _why_no_number(column: frames.Column) -> str:
    """Why whole numbers that are different in all rows are left out: they are in a row, or go by the name of a key."""
    values = np.sort(np.asarray(column.values, dtype=np.float64)[~column.missing])
    if len(values) <= FEW or (values != np.floor(values)).any():
        return ""
    steps = np.diff(values)
    if steps.min() == 0:
        return ""
    if len(values) == len(column.values) and steps.min() == steps.max():
        return "only counts the rows" + ("" if steps[0] == 1 else f", in steps of {steps[0]:g}")
    if IDENTIFIER.search(str(column.name)):
        return "is an identifier, by its name and a different number in each row"
    return ""


MOST = 10_000  # rows that are tried, drawn class by class
LONE = "every class has one row"
FOLDS = 10
ENOUGH = 3  # folds after which one that takes long may be given up
REPEATS = 3  # deals of folds
SMALL = 400_000  # cells of a table that is dealt out so often
WORDS = 50  # columns that a text counts for
MOST_FOLDS = 50
SLIGHT = 0.002  # nats of log loss that are not worth a more complex classifier
WORST = 1000.0  # nats: what a row of probability 0 costs where two classifiers are compared


@dataclass(frozen=True, repr=False)
class Candidate:
    """A classifier as it is tried: how to make one, what it needs, and what it is in a few words."""

    name: str
    make: Callable[[], Any]
    words: str
    needs: Callable[[ColumnSummary], str] = lambda columns: ""  # what it lacks, or ""
    updates: bool = False  # whether rows can be added and forgotten later
    texts: bool = False  # whether it reads one column of texts
    complexity: int = 0  # of two that the rows cannot tell apart, the one with less is chosen
    fewest: int = 0  # rows, below which `auto_fit` does not choose it: as if what few rows estimate were known

    def __repr__(self) -> str:
        return f"{self.name}: {self.words}"

    def lacks(self, found: FeatureSelection) -> str:
        """What stands against it, or ""."""
        if self.texts != (found.text is not None):
            return "reads one column of texts alone" if self.texts else "does not read texts"
        return self.needs(found.columns)


NUMBERS, CELLS = "needs numbers in every column", "needs every cell"
COUNTS, ONES = "needs counts in every column", "needs 0 and 1 in every column"


def _numbers(columns: ColumnSummary) -> str:
    return "" if columns.numeric else NUMBERS


def _no_holes(columns: ColumnSummary) -> str:
    return _numbers(columns) or (CELLS if columns.holes else "")


def _counts(columns: ColumnSummary) -> str:
    return "" if columns.whole and not columns.holes else COUNTS


def _ones(columns: ColumnSummary) -> str:
    return "" if columns.binary and not columns.holes else ONES


KINDS = {
    kind.name: kind
    for kind in (
        Candidate("mixed", MixedNB, "naive Bayes, each column by its own density", updates=True),
        Candidate("calibrated", lambda: MixedNB(calibrate=True), "calibrated naive Bayes", complexity=1),
        Candidate(
            "weighted",
            lambda: MixedNB(weights="discriminative"),
            "naive Bayes with a weight for each column",
            complexity=2,
        ),
        Candidate("gaussian", GaussianNB, "naive Bayes of bell curves", _numbers, True),
        Candidate(
            "lda",
            LinearDiscriminantAnalysis,
            "bell curves of one shape, linear borders",
            _numbers,
            True,
            complexity=1,
            fewest=20,
        ),
        Candidate(
            "qda",
            QuadraticDiscriminantAnalysis,
            "bell curves of any shape, curved borders",
            _numbers,
            True,
            complexity=2,
        ),
        Candidate("rda", RegularizedDiscriminantAnalysis, "between lda and qda", _numbers, True, complexity=2),
        Candidate("fisher", FisherDiscriminant, "the direction that separates best", _numbers, True, complexity=1),
        Candidate(
            "logistic",
            lambda: LogisticRegression(C="auto"),
            "linear borders, no densities",
            _no_holes,
            complexity=2,
            fewest=20,
        ),
        Candidate("bernoulli", BernoulliNB, "naive Bayes of presences", _ones, True),
        Candidate("multinomial", MultinomialNB, "naive Bayes of counts", _counts, True),
        Candidate("complement", ComplementNB, "naive Bayes of counts, by what a class is not", _counts, True),
        Candidate("poisson", PoissonNB, "naive Bayes of rates", _counts, True),
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
            "a weight for each word, learned",
            texts=True,
            complexity=2,
        ),
    )
}
AUTO = ("mixed", "calibrated", "lda", "logistic", "weighted", "text", "text-calibrated", "text-logistic")


@dataclass(frozen=True, repr=False)
class CandidateResult:
    """What folds say of one classifier."""

    kind: Candidate
    held_out: CrossValidation
    seconds: float  # of all folds

    def __repr__(self) -> str:
        out = self.held_out
        return f"{self.name}: log loss {out.log_loss:.4f} ± {self.spread:.4f}, accuracy {out.accuracy:.4f}"

    @property
    def name(self) -> str:
        return self.kind.name

    @cached_property
    def spread(self) -> float:
        """Standard error of the log loss, from the folds."""
        each = self.held_out.by_fold["log_loss"]
        each = each[~np.isnan(each)]  # a fold may have no row that is scored
        once = len(each) / self.held_out.repeats  # to deal again is no news of other rows
        return float(np.std(each, ddof=1) / np.sqrt(once)) if len(each) > 1 else float("nan")

    def worse(self, other: CandidateResult) -> tuple[float, float]:
        """(by how much its log loss is larger than another's, standard error of that), row by row: both were asked
        about the same rows."""
        mine, theirs = (np.minimum(trial.held_out.losses, WORST) for trial in (self, other))
        more = mine - theirs
        more = more[~np.isnan(more)]
        return float(more.mean()), float(more.std(ddof=1) / np.sqrt(len(more))) if len(more) > 1 else 0.0


@dataclass(frozen=True, repr=False)
class Comparison:
    """Classifiers from the best to the worst, those that do not suit the rows with the reason, and advice."""

    trials: list[CandidateResult]
    unfit: dict[str, str]  # classifiers, and what they lack
    dropped_columns: dict[Any, str]  # columns, and why
    rows: int  # that were used
    total: int  # that there are
    folds: int
    baseline_log_loss: float  # of always predicting the class frequencies
    wordy: tuple[Any, ...] = ()  # columns that hold words
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> CandidateResult:
        """The one with the least log loss."""
        return self.trials[0]

    @cached_property
    def chosen(self) -> CandidateResult:
        """The best of those that are as simple as the simplest whose log loss is within one standard error (or 0.002)
        of the least. The standard error is that of the difference, row by row."""
        near = []
        for trial in self.trials:
            more, error = trial.worse(self.best)
            near += [trial] if trial is self.best or more <= max(error, SLIGHT) else []
        simplest = min(trial.kind.complexity for trial in near)
        return next(trial for trial in self.trials if trial.kind.complexity <= simplest)

    @property
    def unknown(self) -> dict[Any, int]:
        """Classes with rows that are in no score, as the other folds have none of the class, and how many."""
        return self.best.held_out.unknown

    @property
    def how(self) -> str:
        """How rows were held out, in words."""
        times = max(trial.held_out.repeats for trial in self.trials)
        once = [trial.name for trial in self.trials if trial.held_out.repeats < times]
        return folds_of(self.folds, self.rows, self.total, times) + (f" ({', '.join(once)}: once)" if once else "")

    @property
    def advice(self) -> str:
        """What to use, in plain words."""
        best, chosen = self.best, self.chosen
        if best.held_out.log_loss > 0.98 * self.baseline_log_loss:
            return "None of them knows more than the class shares: these columns say nothing about the class."
        if chosen is best:
            words = [f"Use `{best.name}` ({best.kind.words}): the least log loss."]
        else:
            words = [
                f"Use `{chosen.name}` ({chosen.kind.words}): simpler than `{best.name}`, and by these rows "
                "not clearly worse."
            ]
        near = []
        for trial in self.trials:
            more, error = trial.worse(best)
            near += [trial] if trial not in (best, chosen) and more <= 2 * error else []
        if near:
            named = format_list([trial.name for trial in near], len(near), last=" and ")
            words.append(f"{named} cannot be told from `{best.name}` by these rows.")
        if not chosen.kind.updates:
            later = next((trial for trial in self.trials if trial.kind.updates), None)
            if later is not None:
                words.append(f"If rows come later or must be forgotten, use `{later.name}`.")
        return " ".join(words)

    @property
    def not_tried(self) -> list[str]:
        """For each reason one line: what was not tried."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.unfit.items():
            reasons.setdefault(why, []).append(name)
        words = self.wordy
        named = f"{format_list(words, 4, last=' and ')} {'is' if len(words) == 1 else 'are'} words"
        told: dict[str, list[str]] = {}
        for why, names in reasons.items():
            because = named if words and why in (NUMBERS, COUNTS, ONES) else _plural(why, len(names))
            told.setdefault(because, []).extend(names)
        return [f"not tried, because {why}: {', '.join(names)}" for why, names in told.items()]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
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
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> Table:
        head = ("", "log loss", "±", "accuracy", "Brier", "calibration", "time")
        rows = []
        for trial in self.trials:
            out = trial.held_out
            scores = (out.log_loss, trial.spread, out.accuracy, out.brier, out.calibration_error)
            rows.append((trial.name, *(f"{score:.4f}" for score in scores), f"{trial.seconds:.2f} s"))
        footer = ("class shares", f"{self.baseline_log_loss:.4f}", "", "", "", "", "")
        return Table("", head, rows, footer, [f"by {self.how}", *apart(self.unknown)])


def lone(y: np.ndarray) -> bool:
    """Whether no class has a second row, so that none can be left out and still be known.

    >>> lone(np.array(["a", "b"])), lone(np.array(["a", "b", "a"]))
    (True, False)
    """
    return bool(np.bincount(inputs.labels(y, None)[1]).max() < 2)


def folds_of(folds: int, rows: int, total: int, times: int = 1) -> str:
    """How rows were held out, in words.

    >>> folds_of(10, 10_000, 20_000), folds_of(6, 6, 6), folds_of(10, 150, 150, 3)
    ('10 folds of 10,000 of 20,000 rows', '6 folds of one row each (leave-one-out)', '10 folds, dealt 3 times')
    """
    alone = " of one row each (leave-one-out)" if folds == rows else ""
    again = f", dealt {times} times" if times > 1 else ""
    return f"{folds} folds{alone}" + (f" of {rows:,} of {total:,} rows" if rows < total else "") + again


def compare(
    X: Any,
    y: Any,
    names: Iterable[str] | None = None,
    folds: int = FOLDS,
    callback: Callable[[str, float], None] | None = None,
    text: Any = None,
) -> Comparison:
    """Cross-validate the classifiers of these names, or all that suit X, on the same folds.

    Of more than 10,000 rows as many are drawn, class by class and at least a few of each class. Which rows are drawn,
    and which are held out together, depends on their cells and not on their order. There are at most as many folds as
    rows, and at most 50.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    names : iterable of str, optional
        The classifiers to try. By default all that suit the columns.
    folds : int, default 10
        How many parts the rows are dealt into; each is predicted by a model of the others.
    callback : callable, optional
        Called with (name, fraction done) before each classifier.
    text : str or int, optional
        A column whose words are to be read alone. Where only one column of free text could be used, that is done
        anyway.

    Returns
    -------
    Comparison
        `trials` from the best to the worst, `chosen`, `advice`, and which classifiers and columns were left out.

    Examples
    --------
    >>> X, y = [[0.0], [0.4], [1.0], [4.0], [4.5], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> compare(X, y, ["gaussian", "poisson"], folds=3).unfit
    {'poisson': 'needs counts in every column'}
    """
    X, y = inputs.labelled(X, y)
    found = FeatureSelection.of(X, text)
    return compare_readable(found, found.rows(X), np.asarray(y), names, folds, callback)


def compare_readable(
    found: FeatureSelection,
    rows: Any,
    y: np.ndarray,
    names: Iterable[str] | None = None,
    folds: int = FOLDS,
    callback: Callable[[str, float], None] | None = None,
    race: bool = False,
) -> Comparison:
    """The same of columns that were looked at before. `race`: those that take long come last, and are given up after a
    few folds where they do not get ahead of the best until then."""
    classes, codes = inputs.labels(y, None)
    if len(classes) < 2:
        raise DataError(f"all rows are of one class, {classes.tolist()}\n\nhint: give rows of at least two classes")
    if lone(y):
        raise DataError(f"{LONE}: none can be held out to compare by\n\nhint: give two rows of a class, or more")
    wanted = [kind.name for kind in KINDS.values() if kind.texts == (found.text is not None)]
    chosen = [get_candidate(name) for name in (wanted if names is None else names)]
    unfit = {kind.name: why for kind in chosen if (why := kind.lacks(found))}
    suited = [kind for kind in chosen if kind.name not in unfit]
    suited = sorted(suited, key=lambda kind: kind.complexity) if race else suited
    at = sample_rows(rows, codes, MOST)
    drawn, labels = inputs.rows_at(rows, at) if len(at) < len(codes) else rows, y[at]
    most = min(folds, len(at), MOST_FOLDS)
    times = 1 if most == len(at) else repeats(found, len(at))  # rows that are folds are always the same folds
    notes = [] if most == folds else [f"{folds} folds were asked for; {most} are used, for {len(at):,} rows"]
    deals = [folds_by_content(drawn, codes[at], most, seed) for seed in range(times)]
    trials: list[CandidateResult] = []
    for number, kind in enumerate(suited):
        if callback is not None:
            callback(kind.name, number / len(suited))
        try:
            rival = min(trials, key=lambda trial: trial.held_out.log_loss, default=None) if race else None
            trials.append(_evaluate(kind, drawn, labels, deals, rival))
        except (DecibanError, np.linalg.LinAlgError, ValueError) as error:
            unfit[kind.name] = str(error).split("\n")[0].rstrip(".")
    if not trials:
        raise DataError(f"no classifier can learn from these rows: {unfit}\n\nhint: see whether the target is right")
    trials.sort(key=lambda trial: trial.held_out.log_loss)
    base = prior_log_loss(codes[at][~np.isnan(trials[0].held_out.losses)])
    words = tuple(found.columns.words)
    return Comparison(trials, unfit, found.dropped_columns, len(at), len(codes), most, base, words, tuple(notes))


def repeats(found: FeatureSelection, rows: int) -> int:
    """How often folds are dealt out for classifiers that learn fast: one deal is a matter of luck."""
    wide = len(found.columns.kept) if found.text is None else WORDS
    return REPEATS if rows * wide <= SMALL else 1


def deal(
    kind: Candidate, X: Any, y: np.ndarray, deals: list[np.ndarray], rival: CrossValidation | None = None
) -> CrossValidation:
    """What models of that kind say of rows that they have not seen, by one deal of folds or several; those that take
    long have one deal, and stop early where they do not get ahead of a rival."""
    long = kind.complexity > 1

    def keeps_up(folds: int, losses: np.ndarray) -> bool:
        if rival is None or not long or folds != ENOUGH:
            return True
        more = np.minimum(losses, WORST) - np.minimum(rival.losses, WORST)
        more = more[~np.isnan(more)]
        if len(more) < 2:
            return True
        error = more.std(ddof=1) / np.sqrt(len(more))  # to be chosen, it must be better by more than that in the end
        return bool(more.mean() < -SLIGHT or (more.mean() <= error / 2 and error > SLIGHT))

    rows = LabelledRows.of(X, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fold lacks is no news of the whole
        parts = [validated(kind.make(), rows, fold, keeps_up) for fold in (deals[:1] if long else deals)]
    return CrossValidation.joined(parts)


def _evaluate(
    kind: Candidate, X: Any, y: np.ndarray, deals: list[np.ndarray], rival: CandidateResult | None
) -> CandidateResult:
    start = time.perf_counter()
    held_out = deal(kind, X, y, deals, None if rival is None else rival.held_out)
    return CandidateResult(kind, held_out, time.perf_counter() - start)


def get_candidate(name: str) -> Candidate:
    """The kind of that name.

    >>> get_candidate("lda").words
    'bell curves of one shape, linear borders'
    """
    if name not in KINDS:
        hint = did_you_mean(name, KINDS, "'{}'") or f"there are {', '.join(KINDS)}"
        raise DataError(f"no classifier is called {name!r}\n\nhint: {hint}")
    return KINDS[name]


def list_classifiers() -> dict[str, str]:
    """Each classifier that `compare` and `auto_fit` know by name, in a few words.

    >>> list_classifiers()["lda"]
    'bell curves of one shape, linear borders'
    """
    return {name: kind.words for name, kind in KINDS.items()}


def _plural(why: str, many: int) -> str:
    """What one or several classifiers lack, as the end of a sentence."""
    first, _, rest = why.partition(" ")
    verbs = {"needs": "need", "reads": "read", "does": "do"}
    if first not in verbs:
        return why
    return f"it {why}" if many == 1 else f"they {verbs[first]} {rest}"
