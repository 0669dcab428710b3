"""From rows to a model with one call: columns that help are kept, the classifier is chosen by held-out log loss, and
what was found on the way is told: how good it is on rows it has not seen, which columns know too much.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 60)
>>> X = rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]
>>> out = auto_fit(X, y, "gaussian")
>>> type(out.model).__name__, out.how, round(out.held_out.accuracy, 2)
('GaussianNB', '10 folds, repeated 3 times', 0.86)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deciban import display
from deciban.classifiers.base import Generative
from deciban.data import frames
from deciban.data.sampling import folds_by_content, sample_rows
from deciban.display import option
from deciban.errors import ColumnWarning, DataError, DecibanError
from deciban.metrics import prior_log_loss
from deciban.model_selection.compare import (
    AUTO,
    FOLDS,
    FREE,
    LONE,
    MOST,
    Candidate,
    Comparison,
    FeatureSelection,
    compare_readable,
    folds_of,
    format_dropped,
    get_candidate,
    lone,
    repeats,
    validate_candidate,
)
from deciban.model_selection.cross_validation import CrossValidation, apart
from deciban.model_selection.leakage import Leakage, find_leakage
from deciban.rows import inputs
from deciban.rows.inputs import column_notes

Tell = Callable[[str, float], None]
SAMPLE = 100_000  # rows of data of any size that a model is judged by
CELLS = 20_000_000  # that they may have
NO_ROWS = "there are no rows with a label\n\nhint: see whether the file has more than its header"


@dataclass(frozen=True, repr=False)
class AutoResult:
    """A model, and what is known of it. `str` prints it as `deciban fit` does, and below it what to look at: columns
    that may know the outcome, copies, constants."""

    model: Any
    kind: Candidate
    held_out: CrossValidation | None
    how: str  # the rows were held out, such as "10 folds of 10,000 of 48,842 rows"
    dropped_columns: dict[Any, str]  # columns, and why
    leaks: list[Leakage]
    comparison: Comparison | None
    notes: list[str]  # what the classifier had to say about the rows
    text: Any = None  # the column whose words were learned, where it is one
    rows: int = 0
    found: FeatureSelection | None = None  # which columns it reads

    def read(self, X: Any) -> Any:
        """Rows as the model takes them: the columns that were kept, or the texts of one column."""
        return X if self.found is None else self.found.rows(frames.records(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row of X, which has all columns that were given to `auto_fit`."""
        return self.model.predict(self.read(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(class | x) of each row of X, (n, k)."""
        return self.model.predict_proba(self.read(X))

    def __str__(self) -> str:
        model = self.model
        many = len(model.vocabulary_) if self.text is not None else model.n_features_in_
        what = "columns" if self.text is None else f"words of `{self.text}`"
        target = getattr(model, "target_name_", None)
        of = "" if target is None else f" of `{target}`"
        lines = [
            f"{type(model).__name__} ({self.kind.words}), {self.rows:,} rows, {many:,} {what}, "
            f"{len(model.classes_)} classes{of}"
        ]
        doubts = [f"warning: {leak}" for leak in self.leaks] + [f"note: {note}" for note in self.notes]
        return "\n".join(lines + [f"  {line}" for line in [*self.lines, *doubts]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.preformatted(str(self))

    @property
    def lines(self) -> list[str]:
        """What is known of the model, for people."""
        out = []
        if self.comparison is not None:
            others = [f"{t.name} {t.held_out.log_loss:.4f}" for t in self.comparison.trials]
            others += [f"{name} {why}" for name, why in self.comparison.unfit.items() if why.startswith("given up")]
            best = self.comparison.best
            why = "" if self.comparison.chosen is best else f": simpler than {best.name}, and not clearly worse"
            out.append(f"log loss in {self.comparison.how}: {', '.join(others)}")
            out.append(f"{self.kind.name} is used{why}")
        if self.held_out is not None:
            out.append(f"by {self.how}:")
            beside = {"log_loss": f"  (class shares alone: {self.baseline_log_loss:.4f})"}
            for key, value in self.metrics.items():
                out.append(f"  {key.replace('_', ' '):18}  {value:.4f}{beside.get(key, '')}")
            out += apart(self.held_out.unknown)
        if self.dropped_columns:
            out.append(f"left out: {format_dropped(self.dropped_columns)}")
        return out

    @property
    def unread(self) -> list[Any]:
        """Columns of free text that were left out."""
        return [name for name, why in self.dropped_columns.items() if why == FREE]

    @property
    def metrics(self) -> dict[str, float]:
        """Accuracy, log loss, Brier score and calibration error on held-out rows."""
        out = self.held_out
        if out is None:
            return {}
        return {
            "accuracy": out.accuracy,
            "log_loss": out.log_loss,
            "brier": out.brier,
            "calibration_error": out.calibration_error,
        }

    @property
    def baseline_log_loss(self) -> float:
        """Log loss of always predicting the class frequencies; NaN where no rows were held out."""
        out = self.held_out
        return float("nan") if out is None else prior_log_loss(out.y if out.known is None else out.y[out.known])


def auto_fit(
    X: Any, y: Any, model: str = "auto", *, updatable: bool = False, callback: Tell | None = None, text: Any = None
) -> AutoResult:
    """Fit the classifier of that name, or the simplest of those that do best, to rows.

    Columns that cannot help (identifiers, free text, dates, counters of rows) are left out. Candidates are
    cross-validated in ten folds, on at most 10,000 rows drawn class by class; the simplest whose log loss is within one
    standard error of the least is chosen and fitted to all rows; of fewer than 20 rows, naive Bayes alone is tried. The
    figures that are printed and returned are cross-validated too, with every choice (density, smoothing, calibration,
    weights) made again in each fold.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    model : str, default "auto"
        A name of `compare`, or "auto": choose.
    updatable : bool, default False
        Only a model that can be updated, merged and made to forget.
    callback : callable, optional
        Called with (name, fraction done) before each classifier.
    text : str or int, optional
        A column of texts: the model reads its words and nothing else, as it does anyway where only one column of free
        text could be used.

    Returns
    -------
    AutoResult
        The `model`, its held-out `metrics`, the `comparison`, the columns that were left out and those that may know
        the outcome. `predict` and `predict_proba` take rows with all columns of X.

    Examples
    --------
    >>> X, y = [["grey"], ["grey"], ["blue"], ["blue"]], ["rain", "rain", "sun", "sun"]
    >>> auto_fit(X, y, updatable=True).model.predict([["grey"]]).tolist()
    ['rain']
    """
    called = frames.target_name(y)
    X, y = inputs.labelled(X, y)
    labels = np.asarray(y)
    check_labels(labels)
    found = FeatureSelection.from_data(X, text)
    rows = found.rows(X)
    comparison = None
    alone = lone(labels)
    if model == "auto" and not updatable and not alone:
        names = [name for name in AUTO if _matches_input(name, found) and get_candidate(name).fewest <= len(labels)]
        comparison = compare_readable(found, rows, labels, names, callback=callback, early_stop=True)
        kind = comparison.chosen.kind
    else:
        kind = get_candidate(_default_updatable(found) if model == "auto" else model)
        lacks = kind.lacks(found)
        if lacks:
            text_option, auto = option("text=", "--text COLUMN"), option('model="auto"', "--model auto")
            cure = f"name the column: {text_option}" if kind.texts else "leave out the columns that stand against it"
            raise DataError(f"`{kind.name}` {lacks}\n\nhint: use {auto}, or {cure}")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = kind.make().fit(rows, labels)
    fitted._name_target(called)
    held_out, how = (None, "") if alone else _held_out(kind, found, rows, labels, comparison)
    if found.text is None and found.dropped_columns:
        fitted._left_out = [str(name) for name in found.dropped_columns]  # may be there again in rows to predict
    notes = _notes(heard) + ([] if found.text is not None else _column_notes(rows, labels, called))
    notes += [f"{LONE}: none could be held out to judge the model"] * alone
    suspects = find_leakage(rows, labels) if found.text is None else []
    return AutoResult(
        fitted, kind, held_out, how, found.dropped_columns, suspects, comparison, notes, found.text, len(labels), found
    )


def _notes(heard: list[Any]) -> list[str]:
    """What a classifier warned of; of columns, `_column_notes` tells, whichever classifier it is."""
    return list(dict.fromkeys(str(one.message) for one in heard if not issubclass(one.category, ColumnWarning)))


def _column_notes(rows: Any, y: Any, target: Any) -> list[str]:
    classes, codes = inputs.labels(y, None)
    columns = frames.columns(rows if frames.is_frame(rows) else np.asarray(rows))
    return column_notes(columns, codes, classes, target)


def _matches_input(name: str, found: FeatureSelection) -> bool:
    return get_candidate(name).texts == (found.text is not None)


def _default_updatable(found: FeatureSelection) -> str:
    """The naive Bayes that adds up."""
    return "mixed" if found.text is None else "text"


def auto_fit_on(
    data: Any,
    target: str = "label",
    *,
    drop: Sequence[str] = (),
    text: Any = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> AutoResult:
    """The naive Bayes that adds up, of data of any size, read in pieces (see `fit_on`): one pass, little memory.

    Up to 100,000 rows are cross-validated as in `auto_fit`. Of more, 100,000 are drawn, at least a few of every class,
    and left out of the model one by one, which keeps the densities and the smoothing that all rows chose; `how` says
    so.

    Parameters
    ----------
    data : path, Arrow dataset or reader, frame, or iterator of frames
        The rows; those without a label are left out. Columns are judged by the first of them.
    target : str, default "label"
        The column of the classes.
    drop : sequence of str, optional
        Columns that nothing is learned from.
    text : str, optional
        A column of texts, see `auto_fit`.
    progress : callable, optional
        Called as `progress(rows, share)`: how far it is.

    Returns
    -------
    AutoResult
        As from `auto_fit`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> out = auto_fit_on(pa.table({"sky": ["grey", "blue"] * 20, "label": ["rain", "sun"] * 20}))
    >>> out.model.predict(pa.table({"sky": ["blue"]})).tolist(), out.rows, out.how
    (['sun'], 40, '10 folds, repeated 3 times')
    """
    from deciban.io import readers  # pyarrow is for those who read files

    if readers.is_path(data):
        again = partial(auto_fit_on, target=target, drop=drop, text=text, progress=progress)
        return readers.retry_on_type_change(data, again, expected=(target,))
    source = readers.open_data(data)
    most = max(1000, min(SAMPLE, CELLS // max(len(source.names), 1)))
    rows = readers.LabelledSource(source, target, most)
    if rows.first is None:
        raise DataError(NO_ROWS)
    beside = [name for name in source.names if name != target and name not in drop]
    found = FeatureSelection.from_data(readers.selected(rows.first, beside), text)
    kind = get_candidate(_default_updatable(found))
    features = found.columns.kept if found.text is None else [found.text]
    model = kind.make()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit_on(rows.source, target, features, progress=progress)
    check_labels(model.classes_, rows.rows)
    X, y = rows.kept()
    if len(y) == rows.rows:
        held_out, how = (None, "") if lone(y) else _held_out(kind, found, found.rows(X), y, None)
    else:
        logs = model.leave_one_out(found.rows(X), y)
        codes = inputs.labels(y, model.classes_)[1]
        held_out = CrossValidation(model.classes_, codes, np.zeros(len(codes), int), logs, None, ())
        how = f"leave-one-out of {len(y):,} of {rows.rows:,} rows (densities and smoothing as all rows chose them)"
    suspects = find_leakage(found.rows(X), y) if found.text is None else []
    notes = _notes(heard) + ([] if found.text is not None else _column_notes(found.rows(X), y, target))
    notes += [f"{rows.gone:,} rows without `{target}` were left out"] if rows.gone else []
    return AutoResult(
        model, kind, held_out, how, found.dropped_columns, suspects, None, notes, found.text, rows.rows, found
    )


def check_labels(y: np.ndarray, rows: int | None = None) -> None:
    """Refuse labels (or the classes of so many rows) of one class, and what are no classes: amounts, names of rows."""
    known = np.unique(y) if y.dtype.kind != "O" else np.array(sorted(set(y.tolist()), key=str), dtype=object)
    k, n = len(known), len(y) if rows is None else rows
    if k < 2:
        raise DataError(
            f"the target has one value in all rows, {known.tolist()}: there is nothing to tell apart\n\n"
            "hint: give rows of at least two classes, or another target"
        )
    number = known.dtype.kind in "fiu"
    if (number and k > 50 and k > n / 5) or (known.dtype.kind == "f" and (known != np.floor(known)).any()):
        raise DataError(
            f"the target has {k:,} different numbers in {n:,} rows: that is an amount, not a class\n\n"
            "hint: name a column of classes, or cut the amount into some, such as low and high"
        )
    if not number and k > max(20, n / 2):
        raise DataError(
            f"the target has {k:,} different values in {n:,} rows: it names rows, not classes\n\n"
            f"hint: name a column of classes; to learn from the words of this one: {option('text=', '--text')}"
        )


def _held_out(
    kind: Candidate, found: FeatureSelection, rows: Any, y: np.ndarray, comparison: Comparison | None
) -> tuple[CrossValidation | None, str]:
    """What models of that kind say of rows that they have not seen, every choice made again in each fold: of all rows
    where folds add up or rows are few, else of some."""
    adds_up = kind.updates and isinstance(kind.make(), Generative)
    if comparison is not None and (comparison.rows == len(y) or not adds_up):
        out = comparison.chosen.held_out
        return out, folds_of(comparison.folds, comparison.rows, comparison.total, out.repeats)
    _, codes = inputs.labels(y, None)
    at = np.arange(len(y)) if adds_up else sample_rows(rows, codes, MOST)
    some = rows if len(at) == len(y) else inputs.rows_at(rows, at)
    folds, times = min(FOLDS, len(at)), repeats(found, len(at)) if kind.complexity < 2 and len(at) > FOLDS else 1
    assignments = [folds_by_content(some, codes[at], folds, seed) for seed in range(times)]
    try:
        return validate_candidate(kind, some, y[at], assignments), folds_of(folds, len(at), len(y), times)
    except DecibanError:
        return None, ""
