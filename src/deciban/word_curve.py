"""Learning curves of texts: every text is read once, for all sizes and repeats.

Columns stay those of all texts, so that what a size adds is added cell by cell; a size knows the words that its own
texts have, and looks at the rows held out, which are counted, through those. The posteriors are those of a
`TextClassifier` that learned the texts of each size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban import ops
from deciban.classifiers.text import TextClassifier
from deciban.classifiers.text_features import Features
from deciban.engines.threads import each
from deciban.errors import DataError
from deciban.vocabulary import NOTHING, Terms
from deciban.word_scores import scored
from deciban.word_tally import WordTally
from deciban.word_weights import MODELS

ROWS = 512  # for one thread to score


@dataclass(frozen=True)
class Counted:
    """Texts, counted."""

    terms: Terms
    X: sparse.csr_array


def possible(model: Any, _: Any) -> bool:
    """Whether texts may be counted before it is known which of them are learned.

    >>> [possible(model, []) for model in (TextClassifier(), TextClassifier(alpha="auto"), TextClassifier("logistic"))]
    [True, False, False]
    """
    if type(model) is not TextClassifier or ops.core() is None or model.model not in MODELS:
        return False
    model._validate_params()
    return not isinstance(model.alpha, str) and not model.calibrate and Features.of(model.features).open


def ready(model: Any, texts: Any) -> Counted:
    """All texts, counted once."""
    return Counted(*Features.of(model.features).learn(model._texts(texts)))


def steps(models: Any, test: np.ndarray) -> Iterator[tuple[Any, np.ndarray, Any]]:
    """(model, the places of its classes, the rows to predict) of each size."""
    rows, k = models.rows, len(models.rows.classes)
    counted: Counted = rows.X
    asked = _pieces(counted.X[test])
    models.refitted[:] = False  # one row of a class is enough
    tally = None
    for start, stop in models.spans:
        index = models.train[start:stop]
        new = WordTally.of_all(counted.terms, counted.X[index], rows.codes[index], k)
        tally = new if tally is None else tally.plus(new)
        yield Reader(models.model, tally), np.flatnonzero(tally.n), asked


def _pieces(X: sparse.csr_array) -> list[Any]:
    borders = [*range(0, X.shape[0], ROWS), X.shape[0]]
    return [ops.core().text_piece(X.indptr[i : j + 1], X.indices, X.data) for i, j in pairwise(borders)]


class Reader:
    """A text classifier of this tally, for texts that are counted in its columns."""

    def __init__(self, settings: TextClassifier, tally: WordTally):
        there = np.diff(tally.start) > 0
        if not there.any():
            raise DataError(
                f"the first {tally.n.sum():.0f} texts have no word that could be counted\n\n"
                "hint: leave out small sizes, or texts without words"
            )
        model = clone(settings)
        model._reset()
        if model.stop_words is None:  # else nobody asks how words are spelt
            tally = replace(tally, letters=tally.letters[:0], offsets=np.zeros_like(tally.offsets))
        model._set(tally.part(there).without_empty_classes()[0])
        self.view = model._view()
        self.column = np.full(tally.d, NOTHING, dtype=np.uint32)
        self.column[np.flatnonzero(there)[self.view.kept]] = np.arange(self.view.kept.sum(), dtype=np.uint32)

    def predict_log_proba(self, pieces: list[Any]) -> np.ndarray:
        parts = each(pieces, lambda piece: scored(piece, self.column, self.view.weights))
        return ops.posterior(np.concatenate(list(parts)) + self.view.log_prior, logs=True)
