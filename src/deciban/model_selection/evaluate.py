"""Score a fitted model on labelled rows.

>>> from deciban import GaussianNB
>>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
>>> print(evaluate(GaussianNB().fit(X, y), X, y))
6 rows: accuracy 1.0000, log loss 0.0000, Brier 0.0000, calibration error 0.0000
<BLANKLINE>
class  rows  precision  recall  log loss
a         3     1.0000  1.0000    0.0000
b         3     1.0000  1.0000    0.0000
<BLANKLINE>
true / predicted  a  b
a                 3  0
b                 0  3
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import display
from deciban.display import option
from deciban.errors import DataError
from deciban.metrics import log_loss
from deciban.model_selection.cross_validation import CrossValidation
from deciban.model_selection.labelled_rows import training_counts
from deciban.rows import inputs

HEAD = "true / predicted"
SHOWN = 20  # classes that a confusion table is printed for


@dataclass(frozen=True)
class Evaluation:
    """Predictions for labelled rows, and their scores."""

    scored: CrossValidation

    def as_dict(self) -> dict[str, Any]:
        """The scores as plain data (for JSON)."""
        out = self.scored
        return {
            "rows": len(out.codes),
            "accuracy": out.accuracy,
            "log_loss": out.log_loss,
            "brier": out.brier,
            "calibration_error": out.calibration_error,
            "classes": {
                str(label): dict(zip(("rows", "precision", "recall", "log_loss"), numbers, strict=True))
                for label, *numbers in self._by_class()
            },
            "confusion": out.confusion.astype(int).tolist(),
        }

    def as_learned(self, model: Any) -> bool:
        """Whether each class has as many rows here as in training: these may be the training rows."""
        known = training_counts(model)
        return known is not None and np.array_equal(np.bincount(self.scored.codes, minlength=len(known)), known)

    def _by_class(self) -> list[tuple[Any, int, float, float, float]]:
        """(label, rows, precision, recall, log loss) of each class."""
        out, table = self.scored, self.scored.confusion
        lines = []
        for c, label in enumerate(out.classes.tolist()):
            rows = out.codes == c
            decided, hit = table[:, c].sum(), table[c, c]
            lines.append(
                (
                    label,
                    int(rows.sum()),
                    float(hit / decided) if decided else float("nan"),
                    float(hit / rows.sum()) if rows.any() else float("nan"),
                    log_loss(out.codes[rows], out.log_proba[rows]) if rows.any() else float("nan"),
                )
            )
        return lines

    def __str__(self) -> str:
        return "\n\n".join([self._measures(), *(table.to_text() for table in self._tables())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return display.paragraphs([self._measures()]) + "".join(table.to_html() for table in self._tables())

    def _measures(self) -> str:
        out = self.scored
        return (
            f"{len(out.codes):,} rows: accuracy {out.accuracy:.4f}, log loss {out.log_loss:.4f}, "
            f"Brier {out.brier:.4f}, calibration error {out.calibration_error:.4f}"
        )

    def _tables(self) -> list[display.Table]:
        """Scores by class, and the confusion matrix where there are not too many classes."""
        labels = [str(label) for label in self.scored.classes.tolist()]
        scores = [
            (label, f"{n:,}", *(f"{score:.4f}" for score in scores))
            for label, (_, n, *scores) in zip(labels, self._by_class(), strict=True)
        ]
        out = [display.Table("", ("class", "rows", "precision", "recall", "log loss"), scores)]
        if len(labels) <= SHOWN:
            counts = self.scored.confusion.astype(int).tolist()
            rows = [(label, *(f"{n:,}" for n in row)) for label, row in zip(labels, counts, strict=True)]
            out.append(display.Table("", (HEAD, *labels), rows))
        return out


def evaluate(
    model: Any, X: Any = None, y: Any = None, *, batches: Iterable[tuple[Any, Any]] | None = None, priors: Any = None
) -> Evaluation:
    """Score a fitted model on labelled rows.

    Parameters
    ----------
    model : classifier
        A fitted model.
    X : frame, array, sparse matrix or list of texts, optional
        The rows.
    y : array of shape (n,), or str, optional
        Their classes, or the name of the column of X that holds them.
    batches : iterable of (X, y), optional
        Instead of X and y: batches of rows, of which one is in memory at a time.
    priors : sequence, mapping by class or "uniform", optional
        Other class priors than those of the model.

    Returns
    -------
    Evaluation
        It prints accuracy, log loss, Brier score, calibration error and the confusion matrix; `as_dict()` has them.

    See Also
    --------
    cross_validate : Held-out scores of one model.
    report : An HTML page about a model.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> X, y = [[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]
    >>> evaluate(GaussianNB().fit(X, y), X, y).as_dict()["accuracy"]
    1.0
    """
    if (X is None) == (batches is None):
        raise DataError("give rows X with their classes y, or batches\n\nhint: evaluate(model, X, y)")
    chunks = [inputs.labelled(X, y)] if batches is None else batches
    logs, codes = [], []
    for X, y in chunks:
        unknown = sorted(set(np.asarray(y).tolist()) - set(model.classes_.tolist()), key=str)
        if unknown:
            raise DataError(
                f"the target has {unknown[:5]}, which the model does not know: its classes are "
                f"{model.classes_.tolist()[:12]}\n\n"
                f"hint: check {option('y', '--target')}, or add the new classes with "
                f"{option('`partial_fit`', '`deciban update`')}"
            )
        codes.append(inputs.labels(np.asarray(y), model.classes_)[1])
        logs.append(np.asarray(model.predict_log_proba(X, **({} if priors is None else {"priors": priors}))))
    if not codes:
        raise DataError("there are no rows with a label\n\nhint: check that the file has more than a header")
    y = np.concatenate(codes)
    return Evaluation(CrossValidation(model.classes_, y, np.zeros(len(y), int), np.concatenate(logs), None, ()))
