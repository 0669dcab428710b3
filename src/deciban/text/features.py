"""Texts → counts of named terms, with the vectoriser of the setting `features`.

A `CountVectorizer` that keeps every word needs no fitting: words are keyed by their spelling, and new ones may occur.
Any other vectoriser (tf-idf, hashes, its own min_df) is fitted once, and its columns are fixed.

>>> terms, X = Features.from_settings("words").fit_counts(["to be", "to do"])
>>> terms.strings(), X.toarray().tolist()
(['be', 'do', 'to'], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
"""

from __future__ import annotations

import re
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
from deciban.text.analysis import Terms, analyzer_spec
from deciban.text.reader import fit_transform_counts
from deciban.text.scorer import text_source
from deciban.text.vectorizers import CountVectorizer

NAMED: dict[str, dict[str, Any]] = {
    "words": {},
    "words+bigrams": {"ngram_range": (1, 2)},
    "chars": {"analyzer": "char_wb", "ngram_range": (1, 5)},
}


def _ngram_range(ngram_range: Any) -> dict[str, Any]:
    if ngram_range is None:
        return {}
    low, high = ngram_range if isinstance(ngram_range, tuple | list) and len(ngram_range) == 2 else (0, 0)
    if not (isinstance(low, int | np.integer) and isinstance(high, int | np.integer) and 1 <= low <= high):
        raise DataError(
            f"`ngram_range` is {ngram_range!r}\n\n"
            "hint: least and largest number of consecutive words; (1, 2), as features='words+bigrams': words and pairs"
        )
    return {"ngram_range": (int(low), int(high))}


def _token_pattern(token_pattern: Any, features: str) -> dict[str, Any]:
    if token_pattern is None:
        return {}
    if "analyzer" in NAMED[features]:
        raise DataError(
            f"`token_pattern` is given, and features={features!r} has no tokens\n\n"
            "hint: features='words' or 'words+bigrams', or leave `token_pattern` out"
        )
    try:
        groups = re.compile(token_pattern).groups
    except re.error as error:
        raise DataError(
            f"`token_pattern` is {token_pattern!r}, which is no regular expression: {error}\n\n"
            r"hint: r'\w+' are words of one letter or more, r'\S+' all between spaces"
        ) from None
    if groups > 1:
        raise DataError(
            f"`token_pattern` is {token_pattern!r}, with {groups} groups\n\n"
            "hint: at most one group, which is the token; write the others as (?:…)"
        )
    return {"token_pattern": token_pattern}


@dataclass(frozen=True, eq=False)
class Features:
    """A vectoriser; fitted, if its columns are fixed."""

    vectorizer: Any

    @classmethod
    def from_settings(cls, features: Any, ngram_range: Any = None, token_pattern: Any = None) -> Features:
        """From the settings: a name, a range of consecutive words or characters and the pattern of a word; or a
        vectoriser, used unchanged.

        >>> Features.from_settings("words", (1, 2)).vectorizer.ngram_range
        (1, 2)
        """
        if isinstance(features, str):
            if features not in NAMED:
                raise DataError(f"`features` is {features!r}\n\nhint: one of {list(NAMED)}, or a vectoriser")
            given = _ngram_range(ngram_range) | _token_pattern(token_pattern, features)
            return cls(CountVectorizer(**NAMED[features] | given))
        for name, value in (("ngram_range", ngram_range), ("token_pattern", token_pattern)):
            if value is not None:
                raise DataError(
                    f"`{name}` is given, and `features` is a vectoriser\n\nhint: give the vectoriser its `{name}`"
                )
        if not (hasattr(features, "fit_transform") and hasattr(features, "transform")):
            raise DataError(f"`features` is {features!r:.60}\n\nhint: one of {list(NAMED)}, or a vectoriser")
        return cls(clone(features))

    @property
    def open_ended(self) -> bool:
        """Whether new words may occur: true for a CountVectorizer that keeps all of them."""
        v = self.vectorizer
        if not isinstance(v, theirs.CountVectorizer) or isinstance(v, theirs.TfidfVectorizer):
            return False
        return v.vocabulary is None and (v.min_df, v.max_df, v.max_features) == (1, 1.0, None)

    def fit_counts(self, texts: Any) -> tuple[Terms, sparse.csr_array]:
        """The terms of the texts, sorted, and how often each occurs in each; fits a vectoriser with fixed columns."""
        if not self.open_ended:
            X = self.vectorizer.fit_transform(texts)
            return self.names, self._ordered(X)
        how = analyzer_spec(self.vectorizer)
        if how is not None:
            return fit_transform_counts(
                how, text_source(texts, self.vectorizer, how), np.float64, self.vectorizer.binary
            )
        own = clone(self.vectorizer)
        try:
            X = own.fit_transform(texts)
        except ValueError as nothing:
            if "empty vocabulary" not in str(nothing):
                raise
            return Terms.from_strings([]), sparse.csr_array((len(texts), 0), dtype=np.float64)
        return Terms.from_strings(own.get_feature_names_out()), sparse.csr_array(X, dtype=np.float64)

    def counts(self, texts: Any) -> tuple[Terms, sparse.csr_array]:
        """The terms and counts of more texts: open-ended vectorisers find new words, others have fixed columns."""
        if self.open_ended:
            return self.fit_counts(texts)
        return self.names, self._ordered(self.vectorizer.transform(texts))

    def counter(self, words: np.ndarray) -> Callable[[Any], sparse.csr_array] | None:
        """A function that counts some of the terms (by number), if columns are fixed."""
        if self.open_ended:
            return None
        return lambda texts: self._ordered(self.vectorizer.transform(texts))[:, words]

    @cached_property
    def _sorted_names(self) -> tuple[list[str], np.ndarray]:
        """The columns' names, sorted, and the column of each."""
        try:
            names = [str(name) for name in self.vectorizer.get_feature_names_out()]
        except (AttributeError, NotFittedError):  # hashes have no names
            d = self.vectorizer.transform([""]).shape[1]
            names = [f"column {j:0{len(str(d))}}" for j in range(d)]
        order = np.argsort(np.array(names, dtype=object), kind="stable")
        return [names[j] for j in order], order

    @property
    def names(self) -> Terms:
        return Terms.from_strings(self._sorted_names[0])

    def _ordered(self, X: Any) -> sparse.csr_array:
        return sparse.csr_array(X, dtype=np.float64)[:, self._sorted_names[1]]
