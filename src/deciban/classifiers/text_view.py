"""What a text classifier makes of its tally: the words that count, their weights, and a vocabulary to look them up in.

Everything here follows from the tally and the settings, so it is made when first asked for and never stored.

>>> limits(1, 0.5, 10.0)
(1, 5.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from deciban import decision
from deciban.classifiers.text_features import Features
from deciban.errors import DataError
from deciban.text.left_out_words import LeftOut
from deciban.text.word_scores import Lookup
from deciban.text.word_tally import WordTally, united
from deciban.text.word_weights import MODELS, Model, WordWeights


def limits(min_df: float, max_df: float, n: float) -> tuple[float, float]:
    """In how many of n texts a word must be, at least and at most: numbers of texts, or shares of them."""
    low, high = (df if isinstance(df, Integral) else df * n for df in (min_df, max_df))
    return low, high


def allowed(tally: WordTally, stop_words: Any) -> np.ndarray:
    """Which terms are not made of stop words alone, (d,)."""
    if stop_words is None:
        return np.ones(tally.d, dtype=bool)
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise DataError(f"`stop_words` is {stop_words!r}\n\nhint: 'english', a list of words, or None")
        stop_words = ENGLISH_STOP_WORDS
    stops = {str(word) for word in stop_words}
    return np.array([not stops.issuperset(term.split()) for term in tally.terms.strings()], dtype=bool)


@dataclass(frozen=True)
class Settings:
    """Of the view: what may be changed without learning again."""

    model: str
    alpha: float
    smoothing: str
    counts: bool
    stop_words: Any
    min_df: float
    max_df: float
    fit_prior: bool

    def family(self, alpha: float | None = None) -> Model:
        return MODELS[self.model](self.alpha if alpha is None else alpha, self.smoothing, self.counts)


class View:
    """A tally seen through settings."""

    def __init__(self, settings: Settings, tally: WordTally, features: Features, trained: WordWeights | None = None):
        self.settings, self.tally, self.features, self._trained = settings, tally, features, trained

    @cached_property
    def allowed(self) -> np.ndarray:
        return allowed(self.tally, self.settings.stop_words)

    @cached_property
    def limits(self) -> tuple[float, float]:
        return limits(self.settings.min_df, self.settings.max_df, self.tally.n.sum())

    @cached_property
    def kept(self) -> np.ndarray:
        """Which words count, (d,)."""
        low, high = self.limits
        texts = self.tally.texts
        return self.allowed & (texts >= low) & (texts <= high)

    @cached_property
    def words(self) -> WordTally:
        """The tally of the words that count."""
        return self.tally.part(self.kept)

    @cached_property
    def weights(self) -> WordWeights:
        return self._trained or self.settings.family().weights(self.words)

    @cached_property
    def lookup(self) -> Lookup:
        return self.looking_up(self.words, self.weights)

    def looking_up(self, words: WordTally, weights: WordWeights) -> Lookup:
        """Some of the words, with these weights."""
        count = None
        if not self.features.open:
            count = self.features.count(united(self.features._names, words.terms)[1])
        return Lookup(self.features.vectorizer, words.terms, weights, count)

    @cached_property
    def log_prior(self) -> np.ndarray:
        return log_prior(self.settings, self.tally.n)

    @property
    def discriminative(self) -> bool:
        """Whether the weights were trained to tell classes apart, priors included."""
        return self._trained is not None

    @property
    def learned_prior(self) -> np.ndarray:
        return decision.log_prior(self.tally.n)

    def held_out(self, X: sparse.csr_array, y: np.ndarray, alpha: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(scores, log priors), (n, k) each, of learned texts X (n, d of the whole tally) without themselves."""
        left = LeftOut(self.tally, X, y, self.kept, self.limits, self.allowed)
        return left.scores(self.settings.family(alpha)), self.held_out_prior(y)

    def held_out_prior(self, y: np.ndarray) -> np.ndarray:
        n = self.tally.n
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.array([log_prior(self.settings, n - (np.arange(len(n)) == c)) for c in range(len(n))])
        return one[y]

    def vocabulary(self) -> list[str]:
        return self.words.terms.strings()


def log_prior(settings: Settings, n: np.ndarray) -> np.ndarray:
    """log P(class), (k,), from how many texts each has."""
    if settings.model not in ("multinomial", "bernoulli"):  # the others have it in their coefficients, or take none
        return np.zeros(len(n))
    return decision.log_prior(n if settings.fit_prior else (n > 0).astype(np.float64))
