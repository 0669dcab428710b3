"""Learning curves of texts: every text is read once, for all sizes and repeats.

All sizes use the columns of all texts, so that tallies can be added. The model of a size uses only the words that its
own training texts have. The posteriors equal those of a `TextClassifier` fitted to the texts of each size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from deciban import ops
from deciban.classifiers.text import TextClassifier
from deciban.data.blocks import Counts
from deciban.engines.threads import map_ordered
from deciban.errors import DataError
from deciban.ops.packed import Packed
from deciban.text.analysis import Terms
from deciban.text.features import Features
from deciban.text.naive_bayes import MODELS, WordWeights
from deciban.text.word_tally import WordTally

ROWS = 512  # rows that are scored at a time


@dataclass(frozen=True)
class Counted:
    """Term counts of texts."""

    terms: Terms
    X: sparse.csr_array


def possible(model: Any, _: Any) -> bool:
    """Whether the vocabulary may be built from all texts, training and held-out.

    >>> [possible(model, []) for model in (TextClassifier(), TextClassifier("logistic"))]
    [True, False]
    """
    if type(model) is not TextClassifier or ops.core() is None or model.model not in MODELS:
        return False
    model._validate_params()
    features = Features.from_settings(model.features, model.ngram_range, model.token_pattern)
    return not model.calibrate and features.open_ended


def ready(model: Any, texts: Any) -> Counted:
    """Term counts of all texts."""
    reader = clone(model)._reader()
    return Counted(*reader.features.fit_counts(reader.read(texts)))


def steps(models: Any, test: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(log posteriors, the places of their classes) by the model of each size; sizes run in parallel."""
    rows, k = models.rows, len(models.rows.classes)
    counted: Counted = rows.X
    queries = Queries.from_counts(counted.X[test])
    models.refitted[:] = False  # one row of a class is enough

    def tally(span: tuple[int, int]) -> WordTally:
        index = models.train[slice(*span)]
        return WordTally.from_counts(
            counted.terms, counted.X[index], rows.codes[index], k, models.model._keeps, unused_terms=True
        )

    tallies = list(accumulate(map_ordered(models.spans, tally), WordTally.add_same_terms))
    for whole, logs in zip(
        tallies, map_ordered(tallies, lambda t: queries.log_posterior(models.model, t, rows.classes)), strict=True
    ):
        yield logs, np.flatnonzero(whole.n)


@dataclass(frozen=True)
class Queries:
    """Texts to predict, and which columns they use."""

    X: sparse.csr_array
    columns: np.ndarray  # (d,), bool

    @classmethod
    def from_counts(cls, X: sparse.csr_array) -> Queries:
        return cls(X, np.bincount(X.indices, minlength=X.shape[1]) > 0)

    def log_posterior(self, settings: TextClassifier, tally: WordTally, classes: np.ndarray) -> np.ndarray:
        """Log posteriors by a text classifier with this tally, (n, k)."""
        there = np.diff(tally.start) > 0
        if not there.any():
            raise DataError(
                f"the first {tally.n.sum():.0f} texts have no word that could be counted\n\n"
                "hint: leave out small sizes, or texts without words"
            )
        model = clone(settings)
        model._reset()
        if model.stop_words is None:  # only stop words need the spelling of words
            tally = replace(tally, letters=tally.letters[:0], offsets=np.zeros_like(tally.offsets))
        tally, have = tally.part(there).without_empty_classes()
        model.classes_ = np.asarray(classes)[have]
        model._set_tally(tally)
        view = model._view()
        return ops.posterior(
            self.scored(np.flatnonzero(there)[view.in_use], view.weights), logs=True, prior=view.log_prior
        )

    def scored(self, words: np.ndarray, weights: WordWeights) -> np.ndarray:
        """Scores by the weights of the words in these columns, (n, k)."""
        known = words[self.columns[words]]
        place = np.full(len(self.columns), len(known), dtype=self.X.indices.dtype)  # all others share a row of zeros
        place[known] = np.arange(len(known))
        coef = Packed.zeros(len(weights.unseen_weight), len(known) + 1)
        coef.rows[:, : coef.k] = weights.unseen_weight
        coef.rows[np.repeat(place[words], np.diff(weights.start)), weights.label] += weights.weight
        coef.rows[-1] = 0.0
        n, out = self.X.shape[0], []
        for start, stop in pairwise([*range(0, n, ROWS), n]):
            ends = self.X.indptr[start : stop + 1]
            here = slice(ends[0], ends[-1])
            at, values = place.take(self.X.indices[here]), weights.term_values(self.X.data[here])
            made = ops.affine(Counts(ends - ends[0], at, values, len(known) + 1), coef, weights.bias)
            size = None
            if weights.tempering.dependence:
                row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
                size = np.bincount(row, values * (at < len(known)), minlength=len(ends) - 1)
            out.append(made / weights.tempering.divisor(made, size))
        return np.concatenate(out)
