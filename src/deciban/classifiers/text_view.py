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
    stops = listed(stop_words)
    if not stops:
        return np.ones(tally.d, dtype=bool)
    return np.array([not stops.issuperset(term.split()) for term in tally.terms.strings()], dtype=bool)


def listed(stop_words: Any) -> frozenset[str]:
    """The words that do not count.

    >>> sorted(listed(["the", "a"])), "the" in listed("english")
    (['a', 'the'], True)
    """
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise DataError(
                f"`stop_words` is {stop_words!r}\n\nhint: 'english', or a list of the words of another language"
            )
        return ENGLISH_STOP_WORDS
    return frozenset(str(word) for word in stop_words or ())


@dataclass(frozen=True)
class Settings:
    """Of the view: what may be changed without learning again."""

    model: str
    alpha: float
    smoothing: str
    dependence: float
    counts: bool
    stop_words: Any
    min_df: float
    max_df: float
    prior: np.ndarray | None = None  # (k,), class probabilities; None: as frequent as they are
    class_weight: np.ndarray | None = None  # (k,), what a text of each class counts for

    def family(self) -> Model:
        return MODELS[self.model](self.alpha, self.smoothing, self.counts, self.dependence)


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
        """The log prior that is inside trained weights, (k,)."""
        return decision.log_prior(weighed(self.settings, self.tally.n))

    def held_out(self, X: sparse.csr_array, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(scores, log priors), (n, k) each, of learned texts X (n, d of the whole tally) without themselves."""
        return self.leaving_out(X, y).scores(self.settings.family()), self.held_out_prior(y, np.ones(len(y)))

    def leaving_out(
        self, X: sparse.csr_array, y: np.ndarray, copies: np.ndarray | None = None, part: np.ndarray | None = None
    ) -> LeftOut:
        return LeftOut(self.tally, X, y, self.kept, self.limits, self.allowed, copies, part)

    def held_out_prior(self, y: np.ndarray, copies: np.ndarray) -> np.ndarray:
        """log priors (n, k) without each text and its copies."""
        n, out = self.tally.n, np.empty((len(y), self.tally.k))
        with np.errstate(divide="ignore", invalid="ignore"):
            for c, times in np.unique(np.stack([y, copies], axis=1), axis=0):
                left = n - times * (np.arange(len(n)) == c)
                out[(y == c) & (copies == times)] = log_prior(self.settings, left)
        return out

    def vocabulary(self) -> list[str]:
        return self.words.terms.strings()


def log_prior(settings: Settings, n: np.ndarray) -> np.ndarray:
    """log P(class), (k,), from how many texts each has; 0 where coefficients have it, or none is taken."""
    if settings.prior is not None:
        with np.errstate(divide="ignore"):
            prior = np.log(settings.prior)
        return prior if settings.model in MODELS else prior - decision.log_prior(weighed(settings, n))
    if settings.model not in ("multinomial", "bernoulli"):
        return np.zeros(len(n))
    return decision.log_prior(weighed(settings, n))


def weighed(settings: Settings, n: np.ndarray) -> np.ndarray:
    """How many texts each class counts for, (k,)."""
    return n if settings.class_weight is None else n * settings.class_weight
