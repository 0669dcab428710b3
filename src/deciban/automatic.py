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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import ingest
from deciban.errors import DataError, DecibanError
from deciban.leakage import Leak, leaks
from deciban.trials import AUTO, Comparison, Kind, compare, named
from deciban.usable import FREE, Readable
from deciban.validate import CrossValidation, cross_validate

Tell = Callable[[str, float], None]


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
    notes = list(dict.fromkeys(str(one.message) for one in heard))
    suspects = leaks(rows, labels) if found.text is None else []
    return Learned(fitted, kind, held_out, how, found.left_out, suspects, comparison, notes, found.text)


def _of_kind(name: str, found: Readable) -> bool:
    return named(name).texts == (found.text is not None)


def _plainest(found: Readable) -> str:
    """The naive Bayes that adds up."""
    return "mixed" if found.text is None else "text"


def learn_chunks(
    chunks: Iterable[tuple[Any, Any]], again: Iterable[tuple[Any, Any]] | None = None, text: Any = None
) -> Learned:
    """The model of all chunks (frame, labels), one in memory at a time, whatever classes each has: naive Bayes adds up.

    Columns are judged by the first chunk (`text`: see `learn`). `again`, the same chunks a second time, are scored with
    each row left out.

    >>> chunks = [([["grey"]], ["rain"]), ([["blue"]], ["sun"])]
    >>> learn_chunks(chunks).model.predict([["blue"]]).tolist()
    ['sun']
    """
    total, found = None, None
    for X, y in chunks:
        found = found or Readable.of(X, text)
        part = named(_plainest(found)).make().fit(found.rows(X), y)
        total = part if total is None else total + part
    if total is None or found is None:
        raise DataError("there are no rows with a label\n\nhint: see whether the file has more than its header")
    check_labels(total.classes_)
    held_out = None
    if again is not None:
        logs, codes = [], []
        for X, y in again:
            logs.append(total.leave_one_out(found.rows(X), y))
            codes.append(ingest.labels(np.asarray(y), total.classes_)[1])
        held_out = _all_held_out(total.classes_, np.concatenate(codes), np.concatenate(logs))
    kind = named(_plainest(found))
    return Learned(total, kind, held_out, "leave-one-out", found.left_out, [], None, [], found.text)


def _all_held_out(classes: np.ndarray, codes: np.ndarray, logs: np.ndarray) -> CrossValidation:
    return CrossValidation(classes, codes, np.zeros(len(codes), int), logs, None, ())


def check_labels(y: np.ndarray) -> None:
    """Refuse labels of one class, and numbers that are no classes."""
    known = np.unique(y) if y.dtype.kind != "O" else np.array(sorted(set(y.tolist()), key=str), dtype=object)
    if len(known) < 2:
        raise DataError(
            f"the target has one value in all rows, {known.tolist()}: there is nothing to tell apart\n\n"
            "hint: give rows of at least two classes, or another target"
        )
    if len(known) > 50 and known.dtype.kind in "fiu" and len(known) > len(y) / 5 and len(y) > len(known):
        raise DataError(
            f"the target has {len(known):,} different numbers in {len(y):,} rows: that is an amount, not a class\n\n"
            "hint: name a column of classes, or cut the amount into some, such as low and high"
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
