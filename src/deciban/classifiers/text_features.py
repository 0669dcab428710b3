"""From texts to named columns: the vectoriser that `features` names or is, and what it can do.

A `CountVectorizer` that keeps every word has no state that matters: words are keyed by their spelling, and new ones may
come. Any other vectoriser (tf-idf, hashes, min_df of its own) is fitted once, and its columns stay.

>>> terms, X = Features.of("words").learn(["to be", "to do"])
>>> terms.strings(), X.toarray().tolist()
(['be', 'do', 'to'], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as theirs

from deciban.errors import DataError
from deciban.text.counting import learned
from deciban.text.tokens import plan
from deciban.text.vectorizers import CountVectorizer
from deciban.text.vocabulary import Terms
from deciban.text.word_scores import source

NAMED: dict[str, dict[str, Any]] = {
    "words": {},
    "words+bigrams": {"ngram_range": (1, 2)},
    "chars": {"analyzer": "char_wb", "ngram_range": (1, 5)},
}


def open_ended(vectorizer: Any) -> bool:
    """Whether new words may come: a CountVectorizer that keeps all of them."""
    counts = isinstance(vectorizer, theirs.CountVectorizer) and not isinstance(vectorizer, theirs.TfidfVectorizer)
    if not counts or vectorizer.vocabulary is not None:
        return False
    return (vectorizer.min_df, vectorizer.max_df, vectorizer.max_features) == (1, 1.0, None)


def _range(ngram_range: Any) -> dict[str, Any]:
    if ngram_range is None:
        return {}
    low, high = ngram_range if isinstance(ngram_range, tuple | list) and len(ngram_range) == 2 else (0, 0)
    if not (isinstance(low, int | np.integer) and isinstance(high, int | np.integer) and 1 <= low <= high):
        raise DataError(
            f"`ngram_range` is {ngram_range!r}\n\n"
            "hint: the least and the most words in a row: (1, 2) are words and pairs, which is features='words+bigrams'"
        )
    return {"ngram_range": (int(low), int(high))}


@dataclass(frozen=True, eq=False)
class Features:
    """A vectoriser; a fitted one, where its columns are fixed."""

    vectorizer: Any

    @classmethod
    def of(cls, features: Any, ngram_range: Any = None) -> Features:
        """From the settings: a name, and how many words or characters in a row; or a vectoriser, which stays as it is.

        >>> Features.of("words", (1, 2)).vectorizer.ngram_range
        (1, 2)
        """
        if isinstance(features, str):
            if features not in NAMED:
                raise DataError(f"`features` is {features!r}\n\nhint: one of {list(NAMED)}, or a vectoriser")
            return cls(CountVectorizer(**NAMED[features] | _range(ngram_range)))
        if ngram_range is not None:
            raise DataError(
                "`ngram_range` is given, and `features` is a vectoriser\n\nhint: give the vectoriser its `ngram_range`"
            )
        if not (hasattr(features, "fit_transform") and hasattr(features, "transform")):
            raise DataError(f"`features` is {features!r:.60}\n\nhint: one of {list(NAMED)}, or a vectoriser")
        return cls(clone(features))

    @property
    def open(self) -> bool:
        return open_ended(self.vectorizer)

    def learn(self, texts: Any) -> tuple[Terms, sparse.csr_array]:
        """The terms of the texts, sorted, and how often each occurs in each; fits a vectoriser with fixed columns."""
        if not self.open:
            X = self.vectorizer.fit_transform(texts)
            return self._names, self._ordered(X)
        how = plan(self.vectorizer)
        if how is not None:
            return learned(how, source(texts, self.vectorizer, how), np.float64, self.vectorizer.binary)
        own = clone(self.vectorizer)
        try:
            X = own.fit_transform(texts)
        except ValueError as nothing:
            if "empty vocabulary" not in str(nothing):
                raise
            return Terms.of([]), sparse.csr_array((len(texts), 0), dtype=np.float64)
        return Terms.of(own.get_feature_names_out()), sparse.csr_array(X, dtype=np.float64)

    def read(self, texts: Any) -> tuple[Terms, sparse.csr_array]:
        """The same of more texts: open-ended vectorisers find new words, others know theirs."""
        return self.learn(texts) if self.open else (self._names, self._ordered(self.vectorizer.transform(texts)))

    def count(self, words: np.ndarray) -> Callable[[Any], sparse.csr_array] | None:
        """What counts some of the terms (by number), where columns are fixed."""
        if self.open:
            return None
        return lambda texts: self._ordered(self.vectorizer.transform(texts))[:, words]

    @cached_property
    def _labels(self) -> tuple[list[str], np.ndarray]:
        """The columns' names, sorted, and the column of each."""
        try:
            names = [str(name) for name in self.vectorizer.get_feature_names_out()]
        except (AttributeError, NotFittedError):  # hashes have no names
            d = self.vectorizer.transform([""]).shape[1]
            names = [f"column {j:0{len(str(d))}}" for j in range(d)]
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        return [names[j] for j in order], order

    @property
    def _names(self) -> Terms:
        return Terms.of(self._labels[0])

    def _ordered(self, X: Any) -> sparse.csr_array:
        return sparse.csr_array(X, dtype=np.float64)[:, self._labels[1]]
