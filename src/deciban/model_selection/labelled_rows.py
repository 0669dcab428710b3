"""Labelled rows in any form that users have, and subsets of them to train on and to predict.

>>> from deciban import GaussianNB
>>> rows = LabelledRows.from_data([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"], None)
>>> model = rows.call_with(GaussianNB().fit, np.array([0, 1, 2, 3]))
>>> model.predict(rows.cells(np.array([0]))).tolist()
['a']
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from deciban.data.blocks import to_csr
from deciban.errors import DataError
from deciban.rows import inputs
from deciban.tallies import Bundle


@dataclass(frozen=True)
class LabelledRows:
    """Rows as given, with their labels, class codes and weights."""

    X: Any
    y: np.ndarray  # (n,), labels
    classes: np.ndarray  # (k,)
    codes: np.ndarray  # (n,)
    w: np.ndarray | None  # (n,)

    @classmethod
    def from_data(cls, X: Any, y: Any, sample_weight: Any) -> LabelledRows:
        X, y = inputs.labelled(X, y)
        with inputs.missing_labels_named(y):
            y = column_or_1d(y)
            check_classification_targets(y)
        if inputs.count_rows(X) != len(y):
            raise DataError(f"X has {inputs.count_rows(X)} rows, y has {len(y)}\n\nhint: give one label for each row")
        classes, codes = inputs.labels(y, None)
        return cls(_by_rows(X) if sparse.issparse(X) else X, y, classes, codes, inputs.weights(sample_weight, codes))

    def cells(self, index: np.ndarray) -> Any:
        return inputs.rows_at(self.X, index)

    def call_with(self, learn: Callable[..., Any], index: np.ndarray, **more: Any) -> Any:
        """Call `fit` or `partial_fit` with a subset of the rows."""
        if self.w is not None:
            more["sample_weight"] = self.w[index]
        return learn(self.cells(index), self.y[index], **more)

    def call_with_few(self, learn: Callable[..., Any], index: np.ndarray) -> Any:
        """`call_with` for few rows: no warning that there are about as many classes as rows."""
        with ignore_class_count_warning():
            return self.call_with(learn, index)


@contextmanager
def ignore_class_count_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
        yield


def _by_rows(X: Any) -> Any:
    """Sparse X as CSR with sorted indices, once: else each subset would be sorted again."""
    out = to_csr(X)
    if not out.has_canonical_format:
        out = out.copy() if out is X else out
        out.sum_duplicates()
    return out


def left_out(tally: Bundle) -> bool:
    """Whether rows with missing values are not in the tally: `fit`, which has all rows at once, may use them."""
    part = tally.parts[1]
    return not part.every_row and part.n.sum() < tally.parts[0].n.sum() * (1 - 1e-9)


def training_counts(model: Any) -> np.ndarray | None:
    """The number (weight) of the training rows of each class, (k,), of a classifier of any library; None: it does not
    keep them. (All of this library do, and scikit-learn's naive Bayes.)"""
    known = getattr(model, "class_count_", None)
    return None if known is None else np.asarray(inputs.to_numpy(known), dtype=np.float64)
