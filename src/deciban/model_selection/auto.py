"""Fit a model with one call: select usable columns and the classifier with the lowest held-out log loss; report
held-out metrics and possible target leakage.

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
from deciban.model_selection.cross_validation import CrossValidation, not_scored_note
from deciban.model_selection.leakage import Leakage, find_leakage
from deciban.rows import inputs
from deciban.rows.inputs import column_notes
from deciban.rows.sampling import folds_by_content, sample_rows
from deciban.tallies.ledger import LedgerKey

Callback = Callable[[str, float], None]
SAMPLE = 100_000  # rows of a stream that are kept to score the model
CELLS = 20_000_000  # most cells of those rows
WIDE = 10_000  # columns up to which classifiers are compared
NO_ROWS = "there are no rows with a label\n\nhint: check that the file has more than a header"


@dataclass(frozen=True, repr=False)
class AutoResult:
    """The result of `auto_fit`: a model, its held-out metrics, and warnings about its columns. `str` is what
    `deciban fit` prints.

    Attributes
    ----------
    model : classifier
        The fitted model.
    kind : Candidate
        The classifier that was chosen.
    held_out : CrossValidation or None
        Held-out predictions and scores.
    how : str
        How rows were held out, such as "10 folds of 10,000 of 48,842 rows".
    dropped_columns : dict
        Columns that are not used → reason.
    leaks : list of Leakage
        Columns that may leak the target.
    comparison : Comparison or None
        The candidates, if there was a choice.
    notes : list of str
        Warnings of the classifier.
    text : label or None
        The text column, if the model reads texts.
    rows : int
        Number of training rows.
    found : FeatureSelection or None
        The columns that the model reads.
    """

    model: Any
    kind: Candidate
    held_out: CrossValidation | None
    how: str
    dropped_columns: dict[Any, str]
    leaks: list[Leakage]
    comparison: Comparison | None
    notes: list[str]
    text: Any = None
    rows: int = 0
    found: FeatureSelection | None = None

    def read(self, X: Any) -> Any:
        """X as the model takes it: the kept columns, or the texts of one column."""
        return X if self.found is None else self.found.rows(frames.records(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row of X, which has all columns that `auto_fit` was given."""
        return self.model.predict(self.read(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(class | x) of each row of X, (n, k)."""
        return self.model.predict_proba(self.read(X))

    def __str__(self) -> str:
        model = self.model
        many = len(model.vocabulary_) if self.text is not None else model.n_features_in_
        what = "columns" if self.text is None else f"words of `{self.text}`"
        target = vars(model).get("target_name_")
        of = "" if target is None else f" of `{target}`"
        lines = [
            f"{type(model).__name__} ({self.kind.words}), {self.rows:,} rows, {many:,} {what}, "
            f"{len(model.classes_)} classes{of}"
        ]
        warned = [f"warning: {leak}" for leak in self.leaks] + [f"note: {note}" for note in self.notes]
        return "\n".join(lines + [f"  {line}" for line in [*self.lines, *warned]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.preformatted(str(self))

    @property
    def lines(self) -> list[str]:
        """The comparison, the held-out metrics and the dropped columns, as text."""
        out = []
        if self.comparison is not None:
            others = [f"{t.name} {t.held_out.log_loss:.4f}" for t in self.comparison.trials]
            others += [f"{name} {why}" for name, why in self.comparison.unfit.items() if why.startswith("stopped")]
            best = self.comparison.best
            why = "" if self.comparison.chosen is best else f": simpler than {best.name}, and not significantly worse"
            out.append(f"log loss in {self.comparison.how}: {', '.join(others)}")
            out.append(f"{self.kind.name} is used{why}")
        if self.held_out is not None:
            out.append(f"by {self.how}:")
            baseline = {"log_loss": f"  (class frequencies: {self.baseline_log_loss:.4f})"}
            for key, value in self.metrics.items():
                out.append(f"  {key.replace('_', ' '):18}  {value:.4f}{baseline.get(key, '')}")
            out += not_scored_note(self.held_out.unknown)
        if self.dropped_columns:
            out.append(f"dropped: {format_dropped(self.dropped_columns)}")
        return out

    @property
    def unread(self) -> list[Any]:
        """Columns of free text that are not used."""
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
    X: Any,
    y: Any,
    model: str = "auto",
    *,
    updatable: bool = False,
    ledger: bool | LedgerKey = False,
    callback: Callback | None = None,
    text: Any = None,
) -> AutoResult:
    """Select columns and a classifier, fit it, and score it on held-out rows.

    Columns that no model can use (identifiers, free text, texts like dates, row numbers) are dropped. Candidates are
    cross-validated in ten folds, on at most 10,000 rows sampled class by class; the least complex one within one
    standard error of the lowest log loss is chosen and fitted to all rows; with fewer than 20 rows or more than 10,000
    columns only naive Bayes is tried. The scores that are printed and returned are cross-validated, and every choice
    (distribution, smoothing, calibration, weights) is made again in each fold.

    Parameters
    ----------
    X : frame, array of shape (n, d), or dictionaries
        The rows.
    y : array of shape (n,), or str
        Their classes, or the name of the column of X that holds them.
    model : str, default "auto"
        The name of a classifier (see `compare`), or "auto".
    updatable : bool, default False
        Only consider models that can be updated, merged and that can forget rows.
    ledger : bool or LedgerKey, default False
        Keep a keyed hash of every row, so that `forget` refuses every row that was not learned; the model is updatable.
    callback : callable, optional
        Called with (name, fraction done) before each classifier.
    text : str or int, optional
        A column whose words are the only features. This is the default where a single column of free text is all
        there is.

    Returns
    -------
    AutoResult
        The `model`, its held-out `metrics`, the `comparison`, the dropped columns and those that may leak the target.
        `predict` and `predict_proba` take rows with all columns of X.

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
    wide = found.text is None and len(found.columns.kept) > WIDE
    if model == "auto" and not (updatable or ledger or alone or wide):
        names = [name for name in AUTO if _matches_input(name, found) and get_candidate(name).fewest <= len(labels)]
        comparison = compare_readable(found, rows, labels, names, callback=callback, early_stop=True)
        kind = comparison.chosen.kind
    else:
        kind = get_candidate(_default_updatable(found) if model == "auto" else model)
        lacks = kind.lacks(found, named=model != "auto")
        if lacks:
            text_option, auto = option("text=", "--text COLUMN"), option('model="auto"', "--model auto")
            other = f"name the text column: {text_option}" if kind.texts else "drop the other columns"
            raise DataError(f"`{kind.name}` {lacks}\n\nhint: use {auto}, or {other}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = _make(kind, ledger).fit(rows, labels)
    fitted._name_target(called)
    held_out, how = (None, "") if alone else _held_out(kind, found, rows, labels, comparison)
    if found.text is None and found.dropped_columns:
        fitted._ignore_columns([str(name) for name in found.dropped_columns])  # rows to predict may have them
    notes = _notes(caught) + ([] if found.text is not None else _column_notes(rows, labels, called))
    notes += [f"{LONE}: no row could be held out to score the model"] * alone
    notes += [f"naive Bayes is the only classifier that is tried on more than {WIDE:,} columns"] * (
        wide and model == "auto"
    )
    suspects = find_leakage(rows, labels) if found.text is None else []
    return AutoResult(
        fitted, kind, held_out, how, found.dropped_columns, suspects, comparison, notes, found.text, len(labels), found
    )


def _make(kind: Any, ledger: bool | LedgerKey) -> Any:
    """The unfitted classifier; with a ledger, if one is asked for."""
    model = kind.make()
    if ledger is False:
        return model
    if "ledger" not in model.get_params(deep=False):
        updatable = option("updatable=True", "--updatable")
        raise DataError(f"`{kind.name}` forgets no rows, so it has no ledger\n\nhint: {updatable} chooses a model")
    return model.set_params(ledger=ledger)


def _notes(caught: list[Any]) -> list[str]:
    """Messages of the warnings of a fit; those about columns come from `_column_notes`."""
    return list(dict.fromkeys(str(one.message) for one in caught if not issubclass(one.category, ColumnWarning)))


def _column_notes(rows: Any, y: Any, target: Any) -> list[str]:
    classes, codes = inputs.labels(y, None)
    columns = frames.columns(rows if frames.is_frame(rows) else np.asarray(rows))
    return column_notes(columns, codes, classes, target)


def _matches_input(name: str, found: FeatureSelection) -> bool:
    return get_candidate(name).texts == (found.text is not None)


def _default_updatable(found: FeatureSelection) -> str:
    """The name of the updatable naive Bayes."""
    return "mixed" if found.text is None else "text"


def auto_fit_on(
    data: Any,
    target: str = "label",
    *,
    drop: Sequence[str] = (),
    text: Any = None,
    ledger: bool | LedgerKey = False,
    progress: Callable[[int, float | None], None] | None = None,
) -> AutoResult:
    """Fit an updatable naive Bayes model to data of any size, in one pass (see `fit_on`), and score it on held-out
    rows.

    Up to 100,000 rows are cross-validated as in `auto_fit`. Of more rows, 100,000 are sampled, at least a few of every
    class, and scored by leave-one-out, with the distributions and the smoothing chosen from all rows; `how` says so.

    Parameters
    ----------
    data : path, Arrow dataset or reader, frame, or iterator of frames
        The rows; those without a label are skipped. Usable columns are selected by the first batch.
    target : str, default "label"
        The column of the classes.
    drop : sequence of str, optional
        Columns that are not used.
    text : str, optional
        A column whose words are the only features, see `auto_fit`.
    ledger : bool or LedgerKey, default False
        Keep a keyed hash of every row, see `auto_fit`.
    progress : callable, optional
        Called as `progress(rows, fraction)`.

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
    from deciban.io import readers  # pyarrow is optional

    if readers.is_path(data):
        again = partial(auto_fit_on, target=target, drop=drop, text=text, ledger=ledger, progress=progress)
        return readers.retry_on_type_change(data, again, expected=(target,))
    source = readers.open_data(data)
    most = max(1000, min(SAMPLE, CELLS // max(len(source.names), 1)))
    rows = readers.LabelledSource(source, target, most)
    if rows.first is None:
        raise DataError(NO_ROWS)
    others = [name for name in source.names if name != target and name not in drop]
    found = FeatureSelection.from_data(readers.selected(rows.first, others), text)
    kind = get_candidate(_default_updatable(found))
    features = found.columns.kept if found.text is None else [found.text]
    model = _make(kind, ledger)
    with warnings.catch_warnings(record=True) as caught:
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
        how = f"leave-one-out of {len(y):,} of {rows.rows:,} rows (distributions and smoothing chosen from all rows)"
    suspects = find_leakage(found.rows(X), y) if found.text is None else []
    notes = _notes(caught) + ([] if found.text is not None else _column_notes(found.rows(X), y, target))
    notes += [f"{rows.skipped:,} rows without `{target}` were skipped"] if rows.skipped else []
    return AutoResult(
        model, kind, held_out, how, found.dropped_columns, suspects, None, notes, found.text, rows.rows, found
    )


def check_labels(y: np.ndarray, rows: int | None = None) -> None:
    """Raise DataError for labels (or the classes of so many rows) of one class, continuous labels and identifiers."""
    known = np.unique(y) if y.dtype.kind != "O" else np.array(sorted(set(y.tolist()), key=str), dtype=object)
    k, n = len(known), len(y) if rows is None else rows
    if k < 2:
        raise DataError(
            f"only one class in the target, {known.tolist()}\n\n"
            "hint: give rows of at least two classes, or another target"
        )
    number = known.dtype.kind in "fiu"
    if (number and k > 50 and k > n / 5) or (known.dtype.kind == "f" and (known != np.floor(known)).any()):
        raise DataError(
            f"the target has {k:,} different numbers in {n:,} rows: the target looks continuous\n\n"
            "hint: name a column of classes, or bin the numbers, for example into low and high"
        )
    if not number and k > max(20, n / 2):
        raise DataError(
            f"the target has {k:,} different values in {n:,} rows: the target looks like an identifier\n\n"
            f"hint: name a column of classes; to learn from the words of this one: {option('text=', '--text')}"
        )


def _held_out(
    kind: Candidate, found: FeatureSelection, rows: Any, y: np.ndarray, comparison: Comparison | None
) -> tuple[CrossValidation | None, str]:
    """Cross-validate the chosen classifier, with every choice made again in each fold: on all rows where the tallies of
    folds can be added or rows are few, else on a sample."""
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
