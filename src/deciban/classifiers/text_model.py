"""Parts of `TextClassifier`: what follows from a tally of words under settings, and what held-out texts choose.

`View` holds what is computed from the tally and the settings at first use, and is not stored: the words in use, their
weights, and the scorer of texts.

>>> document_limits(1, 0.5, 10.0)
(1, 5.0)

`train_weights` trains the weights of a logistic regression:

    logistic      x = (1 + log count) · idf, to length 1; one softmax over all classes
    nb-logistic   x = presence · r[c], for each class against the rest: columns are multiplied by naive Bayes' log-count
                  ratios r[c] = log θ[c] / θ[rest] (Wang and Manning 2012). counts=True: tf-idf, as above, times r[c]

A regression of x ∘ r equals naive Bayes if all its coefficients are equal; it may correct each word. Many words occur
in the same texts, above all those that occur in one text. m equal columns x with coefficients w are equivalent to one
column √m x with the coefficient √m w, at the same penalty: the regression uses distinct columns only.

>>> from deciban import TextClassifier
>>> model = TextClassifier("nb-logistic").fit(["good film", "bad film", "good", "bad"], ["+", "-", "+", "-"])
>>> model.predict(["a good one"]).tolist()
['+']

`choose_smoothing` selects alpha, what it multiplies, and what the scores of a text are divided by: its number of words,
or, of three classes or more, the spread of its scores (`Tempering`). The criterion is the log loss of held-out texts,
each left out with its copies, among the texts that the tally keeps. A model of long texts must classify short ones too:
excerpts of ten words have a weight of 0.1. The choice depends on the tally only, so it is the same after
updates, merges and removals as after one fit.

    Σ (0.9 log loss of the text + 0.1 log loss of its excerpt) + (ln alpha)² + 2 [corpus]
        + 0.1 (ln dependence / 0.03)²    or    + 4 + 0.1 (ln spread / 0.4)²

All but the first term are penalties with the weight of a few texts: with few texts the choice stays near Laplace's
rule. For each smoothing, alpha moves along its grid to the smallest sum, each with its best dependence or spread.

>>> texts, labels = ["tea and milk", "tea", "cake and milk", "cake"], ["drink", "drink", "food", "food"]
>>> TextClassifier().fit(texts * 9, labels * 9).tuned_
{'alpha': 1.0, 'smoothing': 'even', 'dependence': 0.01, 'spread': 0.0}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from threadpoolctl import threadpool_limits

from deciban import decision, ops
from deciban.classifiers.logistic import LogisticRegression
from deciban.errors import DataError, ForgetError
from deciban.models.calibration import Calibration
from deciban.models.held_out import LOST
from deciban.rows.text_reader import TextReader
from deciban.text.kept_texts import mix_bits
from deciban.text.naive_bayes import (
    LOG_COUNT,
    MODELS,
    PRESENCE,
    LeaveOneOut,
    Tempering,
    WordModel,
    WordWeights,
)
from deciban.text.scorer import TextScorer, tfidf_scale
from deciban.text.word_tally import WordTally, merged_positions


def document_limits(min_df: float, max_df: float, n: float) -> tuple[float, float]:
    """Least and largest number of texts, of n, that a word may occur in; min_df and max_df are numbers or shares."""
    low, high = (df if isinstance(df, Integral) else df * n for df in (min_df, max_df))
    return low, high


def allowed_terms(tally: WordTally, stop_words: Any) -> np.ndarray:
    """Which terms do not consist of stop words only, (d,)."""
    stops = stop_word_set(stop_words)
    if not stops:
        return np.ones(tally.d, dtype=bool)
    return np.array([not stops.issuperset(term.split()) for term in tally.terms.strings()], dtype=bool)


def stop_word_set(stop_words: Any) -> frozenset[str]:
    """The words that are ignored.

    >>> sorted(stop_word_set(["the", "a"])), "the" in stop_word_set("english")
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
    """Settings of the view, which may change without learning again."""

    model: str
    alpha: float
    smoothing: str
    tempering: Tempering
    counts: bool
    stop_words: Any
    min_df: float
    max_df: float
    prior: np.ndarray | None = None  # (k,), class probabilities; None: the class frequencies
    class_weight: np.ndarray | None = None  # (k,), weight of a text of each class

    def word_model(self) -> WordModel:
        return WordModel(self.model, self.alpha, self.smoothing, self.counts, self.tempering)


class View:
    """What follows from a tally under settings: words in use, weights, priors, held-out scores."""

    def __init__(self, settings: Settings, tally: WordTally, reader: TextReader, trained: WordWeights | None = None):
        self.settings, self.tally, self.reader, self._trained = settings, tally, reader, trained

    @cached_property
    def allowed(self) -> np.ndarray:
        return allowed_terms(self.tally, self.settings.stop_words)

    @cached_property
    def limits(self) -> tuple[float, float]:
        return document_limits(self.settings.min_df, self.settings.max_df, self.tally.n.sum())

    @cached_property
    def in_use(self) -> np.ndarray:
        """Which words are used, (d,)."""
        low, high = self.limits
        texts = self.tally.texts
        return self.allowed & (texts >= low) & (texts <= high)

    @cached_property
    def words(self) -> WordTally:
        """The tally of the words in use."""
        return self.tally.part(self.in_use)

    @cached_property
    def weights(self) -> WordWeights:
        return self._trained or self.settings.word_model().weights(self.words)

    @cached_property
    def shared_terms(self) -> np.ndarray:
        """The log likelihood of each word that all classes share and scores leave out, (d,)."""
        return self.settings.word_model().shared_terms(self.words)

    @cached_property
    def scorer(self) -> TextScorer:
        return self.scorer_of(self.words, self.weights)

    def scorer_of(self, words: WordTally, weights: WordWeights) -> TextScorer:
        """The scorer of some of the words, with these weights."""
        features, count = self.reader.features, None
        if not features.open_ended:
            count = features.counter(merged_positions(features.names, words.terms)[1])
        return TextScorer(features.vectorizer, words.terms, weights, count)

    @cached_property
    def log_prior(self) -> np.ndarray:
        return log_prior(self.settings, self.tally.n)

    @property
    def discriminative(self) -> bool:
        """Whether the weights are those of a logistic regression, which include the priors."""
        return self._trained is not None

    @property
    def learned_prior(self) -> np.ndarray:
        """The log prior that trained weights include, (k,)."""
        return decision.log_prior(weighted_counts(self.settings, self.tally.n))

    def leave_one_out_scores(self, X: sparse.csr_array, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Leave-one-out (scores, log priors), (n, k) each, of learned texts X (n, d of the whole tally)."""
        left_out = self.leave_one_out(X, y)
        wrong = left_out.not_in_tally()
        if len(wrong):
            raise ForgetError(
                f"text {int(wrong[0])} was never learned with its label\n\n"
                "hint: leave out only texts that went through fit or partial_fit, with their labels"
            )
        return left_out.scores(self.settings.word_model()), self.held_out_prior(y, np.ones(len(y)))

    def leave_one_out(
        self, X: sparse.csr_array, y: np.ndarray, copies: np.ndarray | None = None, excerpt: np.ndarray | None = None
    ) -> LeaveOneOut:
        return LeaveOneOut(self.tally, X, y, self.in_use, self.limits, self.allowed, copies, excerpt)

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
    """log P(class), (k,), from the number of texts of each class; 0 if coefficients include it, or none is used."""
    if settings.prior is not None:
        with np.errstate(divide="ignore"):
            prior = np.log(settings.prior)
        return prior if settings.model in MODELS else prior - decision.log_prior(weighted_counts(settings, n))
    if settings.model not in ("multinomial", "bernoulli"):
        return np.zeros(len(n))
    return decision.log_prior(weighted_counts(settings, n))


def weighted_counts(settings: Settings, n: np.ndarray) -> np.ndarray:
    """Weighted number of texts of each class, (k,)."""
    return n if settings.class_weight is None else n * settings.class_weight


STRENGTH = {"logistic": 10.0, "nb-logistic": 1.0}  # C, if none is given
TOL = {"logistic": 1e-3, "nb-logistic": 1e-2}  # of the gradient: predictions do not change below it


def train_weights(
    kind: str,
    counts: bool,
    t: WordTally,
    X: sparse.csr_array,
    y: np.ndarray,
    C: float | None,
    alpha: float,
    class_weight: np.ndarray | None = None,
) -> WordWeights:
    """Weights of words (d, k) of a logistic regression of texts X (n, d) with classes y."""
    C = STRENGTH[kind] if C is None else C
    blank = blank_weights(kind, counts, t)
    if t.d == 0:  # no words: only the bias
        return replace(blank, bias=decision.log_prior(t.n if class_weight is None else t.n * class_weight))
    with threadpool_limits(1):  # BLAS threads do not help for short vectors
        w = None if class_weight is None else class_weight[y]
        x = DistinctColumns.from_matrix(tfidf_scale(X, blank))
        return (_train_softmax if kind == "logistic" else _train_ratios)(t, x, y, w, C, alpha, blank)


def blank_weights(kind: str, counts: bool, t: WordTally) -> WordWeights:
    """Weights without coefficients: how words of a text are counted and scaled."""
    nothing, scale = np.zeros(t.k), None
    if kind == "logistic" or counts:
        scale = 1.0 + np.log((1.0 + t.n.sum()) / (1.0 + t.texts))
    value = PRESENCE if scale is None else LOG_COUNT
    return WordWeights(t.start, t.label, t.count, nothing, nothing, value, scale)


@dataclass(frozen=True)
class DistinctColumns:
    """The distinct columns of a matrix, each multiplied by the square root of its number of copies.

    >>> x = DistinctColumns.from_matrix(sparse.csr_array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))
    >>> x.columns.toarray().round(2).tolist(), x.spread(np.array([[1.0, 3.0]])).round(2).tolist()
    ([[1.41, 0.0], [0.0, 2.0]], [[0.71, 3.0, 0.71]])
    """

    columns: sparse.csr_array  # (n, distinct)
    first: np.ndarray  # (distinct,), index of the first copy of each
    place: np.ndarray  # (d,), index of each column among the distinct ones
    root: np.ndarray  # (distinct,)

    @classmethod
    def from_matrix(cls, x: sparse.csr_array) -> DistinctColumns:
        by_column = x.tocsc()
        row = mix_bits(by_column.indices.astype(np.uint64) + np.uint64(1))
        cells = row * mix_bits(np.ascontiguousarray(by_column.data).view(np.uint64))
        total = np.concatenate([[np.uint64(0)], np.cumsum(cells, dtype=np.uint64)])
        key = total[by_column.indptr[1:]] - total[by_column.indptr[:-1]]
        _, first, place, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        first, root = first[order], np.sqrt(times[order])
        some = sparse.csr_array(by_column[:, first])
        some.data *= root[some.indices]
        return cls(some, first, rank[place.ravel()], root)

    def times(self, factor: np.ndarray) -> sparse.csr_array:
        """The columns times a factor (d,), which is equal for equal columns."""
        x = self.columns
        return sparse.csr_array((x.data * factor[self.first][x.indices], x.indices, x.indptr), shape=x.shape)

    def spread(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of all columns (k, d) from those of distinct columns (k, distinct)."""
        return (coef / self.root)[:, self.place]


def _fit(x: sparse.csr_array, y: np.ndarray, w: np.ndarray | None, C: float, kind: str) -> LogisticRegression:
    return LogisticRegression(C=C, tol=TOL[kind], max_iter=500).fit(x, y, sample_weight=w)


def _train_softmax(t: WordTally, x: DistinctColumns, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    fitted = _fit(x.columns, y, w, C, "logistic")
    coef, bias = x.spread(fitted.coef_), fitted.intercept_
    if t.k == 2:
        coef, bias = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, bias)
    return _dense_weights(coef.T, bias, blank)


def _train_ratios(t: WordTally, x: DistinctColumns, y: np.ndarray, w: Any, C: float, alpha: float, blank: WordWeights):
    coef, bias = np.zeros((t.k, t.d)), np.zeros(t.k)
    for c in [1] if t.k == 2 else range(t.k):
        logs = WordModel("multinomial", alpha).log_probabilities(t.against_rest(c))
        ratio = logs[1] - logs[0]
        fitted = _fit(x.times(ratio), y == c, w, C, "nb-logistic")
        coef[c], bias[c] = x.spread(fitted.coef_)[0] * ratio, fitted.intercept_[0]
    return _dense_weights(coef.T, bias, blank)


def _dense_weights(coef: np.ndarray, bias: np.ndarray, blank: WordWeights) -> WordWeights:
    d, k = coef.shape
    label = np.tile(np.arange(k, dtype=np.int32), d)
    start = np.arange(0, d * k + 1, k, dtype=np.int64)
    return WordWeights(
        start, label, np.ascontiguousarray(coef).ravel(), blank.unseen_weight, bias, blank.term_value, blank.scale
    )


ALPHAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DEPENDENCES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)
SPREADS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 1.0)
SMOOTHINGS = ("even", "corpus")
TEMPERED = ("dependence", "spread")  # the settings of `Tempering`
EXCERPT, EXCERPT_SHARE = 10, 0.1  # words of an excerpt, and the weight of excerpts
START = 0.3  # first alpha of the search
ALPHA_PENALTY, CORPUS_PENALTY, SPREAD_PENALTY, UNIT_PENALTY = 1.0, 2.0, 4.0, 0.1
USUAL_DEPENDENCE, LEAST_DEPENDENCE, USUAL_SPREAD = 0.03, 0.001, 0.4


@dataclass(frozen=True)
class HeldOutTexts:
    """Kept texts, each to be scored by the model without it and its copies."""

    view: View

    @cached_property
    def texts(self) -> np.ndarray:
        """Indices of the kept texts that are scored: all whose class has other texts."""
        kept: Any = self.view.tally.kept
        at = kept.texts_to_score()
        return at[kept.copies[at] < self.view.tally.n[kept.label[at]]]

    @cached_property
    def y(self) -> np.ndarray:
        kept: Any = self.view.tally.kept
        return kept.label[self.texts].astype(np.int64)

    @cached_property
    def w(self) -> np.ndarray:
        """Weight of each text, (n,), 1 on average: larger for texts that are a sample of a large class."""
        n = self.view.tally.n
        share = n / np.maximum(np.bincount(self.y, minlength=len(n)), 1)
        return share[self.y] / share[self.y].mean()

    @cached_property
    def prior(self) -> np.ndarray:
        kept: Any = self.view.tally.kept
        return self.view.held_out_prior(self.y, kept.copies[self.texts])

    def leave_one_out(self, length: int | None = None) -> LeaveOneOut:
        """The texts, or excerpts of so many words, to be scored by a tally without the whole texts."""
        tally = self.view.tally
        kept: Any = tally.kept
        excerpt = None if length is None else kept.excerpts(self.texts, length)
        return self.view.leave_one_out(kept.matrix(tally.d)[self.texts], self.y, kept.copies[self.texts], excerpt)

    def loss(self, scores: np.ndarray) -> float:
        """Σ log loss over the texts."""
        logs = ops.posterior(np.ascontiguousarray(scores + self.prior), logs=True)
        return -float(self.w @ np.maximum(logs[np.arange(len(self.y)), self.y], -LOST))

    def calibration(self) -> Calibration:
        """Temperature and biases for the settings of the view."""
        return Calibration.fit(self.leave_one_out().scores(self.view.settings.word_model()), self.prior, self.y, self.w)


def choose_smoothing(view: View, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of these settings, of "alpha", "smoothing", "dependence" and "spread", with the smallest log loss of
    held-out texts."""
    held_out = HeldOutTexts(view)
    given = view.settings
    if not len(held_out.y) or view.tally.k < 2:
        best = {"alpha": 1.0, "smoothing": "even", "dependence": USUAL_DEPENDENCE, "spread": 0.0}
        return {name: best[name] for name in names}
    kinds = SMOOTHINGS if "smoothing" in names else (given.smoothing,)
    alphas = ALPHAS if "alpha" in names else (given.alpha,)
    temperings = _temperings(given.tempering, names, view.tally.k)
    lengths = (None,) if given.model == "bernoulli" else (None, EXCERPT)
    shares = np.array([1.0] if given.model == "bernoulli" else [1.0 - EXCERPT_SHARE, EXCERPT_SHARE])
    left_out = [(one := held_out.leave_one_out(length), one.words(given.word_model())) for length in lengths]
    tried: dict[tuple[str, int], tuple[float, Tempering]] = {}

    def trial(kind: str, at: int) -> float:
        """The smallest value of the criterion."""
        if not 0 <= at < len(alphas):
            return np.inf
        if (kind, at) not in tried:
            model = replace(given, alpha=alphas[at], smoothing=kind, tempering=Tempering()).word_model()
            scored = [(one.scores(model), words) for one, words in left_out]

            def loss(one: Tempering) -> float:
                losses = [held_out.loss(scores / one.divisor(scores, words)) for scores, words in scored]
                return float(shares @ losses) + _tempering_penalty(one)

            value, tempering = min((_least(loss, grid) for grid in temperings), key=lambda found: found[0])
            penalty = ALPHA_PENALTY * np.log(alphas[at]) ** 2 + CORPUS_PENALTY * (kind == "corpus")
            tried[kind, at] = value + penalty, tempering
        return tried[kind, at][0]

    for kind in kinds:
        at = int(np.argmin(np.abs(np.log(np.array(alphas) / START))))
        while trial(kind, at) > min(trial(kind, at - 1), trial(kind, at + 1)):
            at += 1 if trial(kind, at + 1) < trial(kind, at - 1) else -1
    kind, at = min(tried, key=lambda one: tried[one][0])
    best = {"alpha": alphas[at], "smoothing": kind} | vars(tried[kind, at][1])
    return {name: best[name] for name in names}


def _temperings(given: Tempering, names: tuple[str, ...], k: int) -> list[list[Tempering]]:
    """The grids of what is chosen, each with the other setting 0. The spread of the scores of two classes is the
    evidence itself, not a unit of it."""
    if "dependence" not in names:
        return [[given]]
    by_words = [Tempering(dependence=one) for one in DEPENDENCES]
    return [by_words] if k == 2 else [by_words, [Tempering(spread=one) for one in SPREADS]]


def _least(value: Callable[[Tempering], float], grid: list[Tempering]) -> tuple[float, Tempering]:
    """(smallest value, where), by steps along the grid from its middle."""
    values: dict[int, float] = {}

    def at(j: int) -> float:
        if not 0 <= j < len(grid):
            return np.inf
        if j not in values:
            values[j] = value(grid[j])
        return values[j]

    j = len(grid) // 2
    while at(j) > min(at(j - 1), at(j + 1)):
        j += 1 if at(j + 1) < at(j - 1) else -1
    return values[j], grid[j]


def _tempering_penalty(one: Tempering) -> float:
    if one.spread:
        return SPREAD_PENALTY + UNIT_PENALTY * float(np.log(one.spread / USUAL_SPREAD)) ** 2
    return UNIT_PENALTY * float(np.log(max(one.dependence, LEAST_DEPENDENCE) / USUAL_DEPENDENCE)) ** 2


def names_of_tuned_settings(
    model: str, alpha: Any, smoothing: str, dependence: float | None, spread: float | None
) -> tuple[str, ...]:
    """The settings that are chosen by held-out texts: none if alpha is given, or for models other than naive Bayes."""
    if model not in MODELS or alpha != "auto":
        return ()
    names = ["alpha"]
    names += ["smoothing"] * (model == "multinomial" and smoothing == "auto")
    names += TEMPERED * (model != "bernoulli" and dependence is None and spread is None)
    return tuple(names)
