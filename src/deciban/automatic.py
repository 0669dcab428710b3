"""From rows to a model with one call: columns that help are kept, the classifier is chosen by held-out log loss, and
what was found on the way is told: how good it is on rows it has not seen, which columns know too much.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 60)
>>> X = rng.normal(size=(120, 2)) + 2.0 * (y == "b")[:, None]
>>> out = learn(X, y, "gaussian")
>>> type(out.model).__name__, out.how, round(out.held_out.accuracy, 2)
('GaussianNB', 'leave-one-out', 0.86)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import frames, ingest
from deciban.column_checks import column_notes
from deciban.errors import ColumnWarning, DataError, DecibanError
from deciban.reports.leakage import Leak, leaks
from deciban.scores import shares_log_loss
from deciban.trials import AUTO, Comparison, Kind, compare, named
from deciban.usable import FREE, Readable
from deciban.validate import CrossValidation, cross_validate

Tell = Callable[[str, float], None]
SAMPLE = 100_000  # rows of data of any size that a model is judged by
CELLS = 20_000_000  # that they may have
NO_ROWS = "there are no rows with a label\n\nhint: see whether the file has more than its header"


@dataclass(frozen=True)
class Learned:
    """A model, and what is known of it."""

    model: Any
    kind: Kind
    held_out: CrossValidation | None
    how: str  # the rows were held out: "leave-one-out" or "5 folds"
    left_out: dict[Any, str]  # columns, and why
    leaks: list[Leak]
    comparison: Comparison | None
    notes: list[str]  # what the classifier had to say about the rows
    text: Any = None  # the column whose words were learned, where it is one
    rows: int = 0

    @property
    def unread(self) -> list[Any]:
        """Columns of free text that were left out."""
        return [name for name, why in self.left_out.items() if why == FREE]

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
    def base(self) -> float:
        """The log loss of one who knows the classes' shares, and nothing of the rows; NaN where none were held out."""
        return float("nan") if self.held_out is None else shares_log_loss(self.held_out.y)


def learn(
    X: Any, y: Any, model: str = "auto", *, updatable: bool = False, tell: Tell | None = None, text: Any = None
) -> Learned:
    """Fit the classifier of that name, or the best of those that suit the rows, to a frame or an array.

    `updatable`: only one that can be updated, merged and made to forget. `tell(what, share)` hears how far it is.
    `text` names a column of texts: the model reads its words and nothing else, as it does anyway where only one column
    of free text could be used.

    >>> X, y = [["grey"], ["grey"], ["blue"], ["blue"]], ["rain", "rain", "sun", "sun"]
    >>> learn(X, y, updatable=True).model.predict([["grey"]]).tolist()
    ['rain']
    """
    X, y = frames.take_target(X, y)
    labels = np.asarray(y)
    check_labels(labels)
    found = Readable.of(X, text)
    rows = found.rows(X)
    comparison = None
    if model == "auto" and not updatable:
        comparison = compare(X, labels, [name for name in AUTO if _of_kind(name, found)], tell=tell, text=found.text)
        kind = comparison.best.kind
    else:
        kind = named(_plainest(found) if model == "auto" else model)
        lacks = kind.lacks(found)
        if lacks:
            cure = "name the column: --text COLUMN" if kind.texts else "leave out the columns that stand against it"
            raise DataError(f"`{kind.name}` {lacks}\n\nhint: use --model auto, or {cure}")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = kind.make().fit(rows, labels)
    held_out, how = _held_out(fitted, kind, rows, labels, comparison)
    if found.text is None and found.left_out:
        fitted._left_out = [str(name) for name in found.left_out]  # may be there again in rows to predict
    notes = _notes(heard) + ([] if found.text is not None else _column_notes(rows, labels, getattr(y, "name", None)))
    suspects = leaks(rows, labels) if found.text is None else []
    return Learned(fitted, kind, held_out, how, found.left_out, suspects, comparison, notes, found.text, len(labels))


def _notes(heard: list[Any]) -> list[str]:
    """What a classifier warned of; of columns, `_column_notes` tells, whichever classifier it is."""
    return list(dict.fromkeys(str(one.message) for one in heard if not issubclass(one.category, ColumnWarning)))


def _column_notes(rows: Any, y: Any, target: Any) -> list[str]:
    classes, codes = ingest.labels(y, None)
    columns = frames.columns(rows if frames.is_frame(rows) else np.asarray(rows))
    return column_notes(columns, codes, classes, target)


def _of_kind(name: str, found: Readable) -> bool:
    return named(name).texts == (found.text is not None)


def _plainest(found: Readable) -> str:
    """The naive Bayes that adds up."""
    return "mixed" if found.text is None else "text"


def learn_on(
    data: Any,
    target: str = "label",
    *,
    drop: Sequence[str] = (),
    text: Any = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> Learned:
    """The naive Bayes that adds up, of data of any size, read in pieces (see `fit_on`): one pass, little memory.

    `data` are a path, an Arrow dataset or reader, a frame, or an iterator of frames; rows without a label are left
    out. Columns are judged by the first rows (`text`: see `learn`), the model and the columns that know too much by up
    to 100,000 rows, drawn evenly from all and each left out of the model. `progress(rows, share)` hears how far it is.

    >>> import pyarrow as pa
    >>> out = learn_on(pa.table({"sky": ["grey", "blue"] * 20, "label": ["rain", "sun"] * 20}))
    >>> out.model.predict(pa.table({"sky": ["blue"]})).tolist(), out.rows, out.how
    (['sun'], 40, 'leave-one-out')
    """
    from deciban import files  # pyarrow is for those who read files

    source = files.of(data)
    most = max(1000, min(SAMPLE, CELLS // max(len(source.names), 1)))
    rows = files.Labelled(source, target, most)
    if rows.first is None:
        raise DataError(NO_ROWS)
    beside = [name for name in source.names if name != target and name not in drop]
    found = Readable.of(files.selected(rows.first, beside), text)
    kind = named(_plainest(found))
    features = found.columns.kept if found.text is None else [found.text]
    model = kind.make()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit_on(rows.source, target, features, progress=progress)
    check_labels(model.classes_, rows.rows)
    X, y = rows.kept()
    logs = model.leave_one_out(found.rows(X), y)
    held_out = _all_held_out(model.classes_, ingest.labels(y, model.classes_)[1], logs)
    how = "leave-one-out" if len(y) == rows.rows else f"leave-one-out of {len(y):,} rows drawn from all"
    suspects = leaks(found.rows(X), y) if found.text is None else []
    notes = _notes(heard) + ([] if found.text is not None else _column_notes(found.rows(X), y, target))
    notes += [f"{rows.gone:,} rows without a `{target}` were left out"] if rows.gone else []
    return Learned(
        model, kind, held_out, how, found.left_out, suspects, None, notes, found.text, int(model.class_count_.sum())
    )


def _all_held_out(classes: np.ndarray, codes: np.ndarray, logs: np.ndarray) -> CrossValidation:
    return CrossValidation(classes, codes, np.zeros(len(codes), int), logs, None, ())


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
            "hint: name a column of classes; to learn from the words of this one: --text"
        )


def _held_out(
    fitted: Any, kind: Kind, rows: Any, y: np.ndarray, comparison: Comparison | None
) -> tuple[CrossValidation | None, str]:
    """What the model says of rows it has not seen: leave-one-out where it has a closed form, else folds."""
    if hasattr(fitted, "leave_one_out"):
        try:
            classes, codes = ingest.labels(y, None)
            logs = fitted.leave_one_out(rows, y)
            return _all_held_out(classes, codes, logs), "leave-one-out"
        except DecibanError:  # what was learned from all rows at once has none
            pass
    if comparison is not None:
        return comparison.best.held_out, "5 folds"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cross_validate(kind.make(), rows, y, min(5, len(y)), random_state=0), "5 folds"
    except DecibanError:
        return None, ""
