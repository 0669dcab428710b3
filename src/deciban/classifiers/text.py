"""`TextClassifier`: classification of texts.

    texts → words, pairs of words, or characters → a tally of them by class → weights of evidence → posterior

All words are counted. Which of them are used (`min_df`, `max_df`, `stop_words`), how they are smoothed and their
weights are determined from the tally at prediction. A model can therefore learn more texts, new words and new classes,
remove texts, and be added to other models; the result equals one fit.

>>> from deciban import TextClassifier
>>> spam = TextClassifier().fit(["win money now", "lunch at noon?", "win a prize"], ["spam", "ham", "spam"])
>>> spam.predict(["a prize at noon", "you win"]).tolist()
['ham', 'spam']
>>> spam.partial_fit(["der Preis ist heiß"], ["deutsch"]).predict(["wer ist das"]).tolist()
['deutsch']

The state is a tally of words. Tuned settings (the smoothing, a calibration) and trained weights (logistic regression)
are computed from the tally and the texts that it keeps, at first use; they are kept until the tally or a setting
changes, and stored in files.

`top_words` ranks the words of a class by one of three measures:

kl         θ[k] log θ[k] / θ[rest]           contribution of the word to the divergence of the class from the rest
log_odds   log θ[k] / θ[rest]                evidence of one occurrence of the word
evidence   log P(counts | two rates) / P(counts | one rate), in decibans: evidence that the class uses the word more

θ has one pseudo-count per word, independent of the smoothing of the model, so that rare words do not rank first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from numbers import Integral, Real
from operator import is_
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import betaln

from deciban import decision, ops
from deciban.classifiers import conformal
from deciban.classifiers.base import (
    LEDGER,
    Classifier,
    Interval,
    OneVsRest,
    StrOptions,
    check_ledger,
    context,
    unfitted,
)
from deciban.classifiers.text_model import (
    TEMPERED,
    HeldOutTexts,
    Settings,
    View,
    blank_weights,
    choose_smoothing,
    names_of_tuned_settings,
    stop_word_set,
    train_weights,
)
from deciban.data import frames
from deciban.decision import check_priors
from deciban.display import format_list
from deciban.errors import DataError, ForgetError, MergeError, NotAdditiveError
from deciban.explain.error_bars import check_kind
from deciban.explain.text import TextExplanation, locator
from deciban.models.calibration import Calibration
from deciban.models.conformal import HeldOutRows, in_classes, own_odds
from deciban.models.posterior import check_size, in_decibans
from deciban.rows import inputs
from deciban.rows.folds import copies_in_folds, rows_of
from deciban.rows.raw_rows import RawArrays
from deciban.rows.readers import ArrayKind
from deciban.rows.rows import BatchJob, BatchRows, Rows
from deciban.rows.text_reader import TallyWords, TextReader
from deciban.tallies.ledger import key_from_setting
from deciban.text.analysis import Terms
from deciban.text.features import Features
from deciban.text.naive_bayes import MODELS, Tempering, WordModel, WordWeights
from deciban.text.scorer import tfidf_scale
from deciban.text.word_tally import WordTally, merged_positions


@dataclass(frozen=True, eq=False)
class TextPosterior:
    """P(class | text) from the words of a text; see `models.posterior.Posterior`."""

    classes: np.ndarray
    view: View
    added: np.ndarray  # (k,), log priors to add to the scores
    calibration: Calibration | None
    read: Callable[[Any], Any]
    splits: ClassVar[bool] = False

    def under(self, priors: Any) -> TextPosterior:
        with np.errstate(divide="ignore"):
            out = np.log(check_priors(priors, self.classes))
        # the coefficients of a regression include the priors of training
        return replace(self, added=out - self.view.learned_prior if self.view.discriminative else out)

    def added_prior(self) -> np.ndarray:
        return self.added

    def output(self, texts: Any) -> ArrayKind:
        return ArrayKind.plain

    def joint_scores(self, texts: Any) -> np.ndarray:
        """Log joints (n, k), up to a term that all classes share."""
        return self._joint(self.view.scorer.scores(self.read(texts)))

    def _joint(self, out: np.ndarray) -> np.ndarray:
        """Log joints from scores, in their memory."""
        if self.calibration is not None:
            self.calibration.apply(out)
        out += self.added
        return out

    def counted_log_odds(self, terms: Terms, X: sparse.csr_array) -> np.ndarray:
        """`log_odds` (n, k) of texts, from their counts of terms (n, d), among which are all that the view has."""
        column = merged_positions(self.view.words.terms, terms)[0]
        counts = sparse.csr_array(sparse.csc_array(X)[:, column])
        return decision.log_odds(self._joint(self.view.scorer.score_counts(counts)))

    def log_joint(self, texts: Any) -> np.ndarray:
        """log P(text, class), (n, k), of naive Bayes."""
        view = self.view
        X = view.scorer.counts(self.read(texts))
        out = view.scorer.score_counts(X, view.shared_terms)
        if self.calibration is not None:
            self.calibration.apply(out)
        return out + self.added

    def proba(self, texts: Any) -> np.ndarray:
        return ops.posterior(self.joint_scores(texts), logs=False)

    def log_proba(self, texts: Any) -> np.ndarray:
        return ops.posterior(self.joint_scores(texts), logs=True)

    def labels(self, texts: Any) -> np.ndarray:
        return self.classes[self.joint_scores(texts).argmax(axis=1)]

    def log_odds(self, texts: Any, against: Any = None) -> np.ndarray:
        place = None if against is None else decision.class_index(against, self.classes)
        return decision.log_odds(self.joint_scores(texts), place)


_CACHED = ("_cached_view", "_cached_features")  # computed from tally and settings: not part of a pickle or file


def plain_labels(classes: np.ndarray) -> np.ndarray:
    """Labels in their smallest dtype: equal classes give equal arrays, independent of their source."""
    if classes.dtype.kind == "U" or (classes.dtype.kind == "O" and all(type(c) is str for c in classes)):
        return np.array(classes.tolist(), dtype=np.str_)
    return classes


def _comparable(a: np.ndarray, b: np.ndarray) -> bool:
    kinds = {"".join("t" if kind in "UO" else "n" for kind in array.dtype.kind) for array in (a, b)}
    return len(kinds) == 1


BY = ("kl", "log_odds", "evidence")
GENERATIVE = ("multinomial", "bernoulli")  # models with P(word | class)
WORD = "word"


class RankedWords(list[tuple[str, float]]):
    """A list of (word, value), largest first, with the name of the measure and P(word | class) of each word."""

    def __init__(self, words: Iterable[tuple[str, float]], measure: str, theta: list[float]):
        super().__init__(words)
        self.measure, self.theta = measure, theta


class TopWords(dict[Any, RankedWords]):
    """The strongest words of each class."""

    def to_frame(self) -> Any:
        """A pandas frame (polars where only that is installed, else a dictionary of columns) with a line for each class
        and word: class, word, score (the measure), theta (P(word | class) with one pseudo-count)."""
        lines = [
            (label, word, score, theta)
            for label, words in self.items()
            for (word, score), theta in zip(words, words.theta, strict=True)
        ]
        return frames.make_frame({name: [line[j] for line in lines] for j, name in enumerate(_TOP_COLUMNS)})


_TOP_COLUMNS = ("class", "word", "score", "theta")


@dataclass(frozen=True, repr=False)
class TextSummary:
    """A text classifier in a few lines; `str` and `repr` are the same."""

    model: str
    features: str
    texts: dict[Any, int]  # of each class
    words: int
    alpha: float
    smoothing: str
    dependence: float
    spread: float
    chosen: tuple[str, ...]  # which of the last four were chosen by held-out texts

    def __repr__(self) -> str:
        total = sum(self.texts.values())
        classes = [f"{label} ({n:,} {'text' if n == 1 else 'texts'})" for label, n in self.texts.items()]
        lines = [
            f"TextClassifier: {self.model} of {self.features}, {total:,} texts with {self.words:,} different words",
            f"  classes: {format_list(classes, 10, '')}",
        ]
        if self.model in MODELS:
            kind = f" ({self.smoothing})" if self.model == "multinomial" else ""
            how = ", chosen by held-out texts" if self.chosen else ""
            dependence = f", dependence={self.dependence:g}" if self.dependence or not self.spread else ""
            spread = f", spread={self.spread:g}" if self.spread else ""
            divided = "" if self.model == "bernoulli" else dependence + spread
            lines.append(f"  smoothing: alpha={self.alpha:g}{kind}{divided}{how}")
        return "\n".join(lines)


def _measure(view: View, two: WordTally, by: str) -> tuple[np.ndarray, np.ndarray]:
    """(the measure, P(word | class)) of each word for class 1 of two, (d,) each."""
    settings = view.settings
    model = WordModel("bernoulli" if settings.model == "bernoulli" else "multinomial", counts=settings.counts)
    logs = model.log_probabilities(two)
    theta, ratio = np.exp(logs[1]), logs[1] - logs[0]
    if by == "evidence":
        return _evidence(two.sparse_table(model.cell_counts(two)).toarray()), theta
    return (ratio if by == "log_odds" else theta * ratio), theta


def _evidence(counts: np.ndarray) -> np.ndarray:
    """Decibans for two rates against one, from counts (2, d), with uniform priors of the rates; negative where class 0
    has the higher rate."""
    whole = counts.sum(axis=1, keepdims=True)
    apart = betaln(counts + 1, whole - counts + 1).sum(axis=0)
    both = counts.sum(axis=0)
    together = betaln(both + 1, whole.sum() - both + 1)
    more = counts[1] * whole[0] > counts[0] * whole[1]
    return decision.DECIBAN * np.where(more, apart - together, -np.abs(apart - together))


class TextClassifier(Classifier):
    """Classify texts by naive Bayes or logistic regression of their words.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement", "logistic", "nb-logistic"}
        Naive Bayes (the first three), logistic regression, or logistic regression of naive Bayes' log-count ratios.
    features : {"words", "words+bigrams", "chars"} or vectoriser
        "chars" are sequences of 1 to 5 characters within words. Pass a `CountVectorizer` for other tokens.
    ngram_range : (int, int), optional
        Least and largest number of consecutive words (or characters) in a feature; None: that of `features`.
    token_pattern : str, optional
        Regular expression of a word; None: two letters, digits or underscores or more. For features that are words.
    alpha : float or "auto"
        Strength of the smoothing. "auto" chooses it, with `smoothing` and `dependence` or `spread`, by the log loss of
        held-out texts (see `tuned_`). With a number, `smoothing` is "even", and `dependence` and `spread` are 0 unless
        they are given, as in scikit-learn's `MultinomialNB` (of presences; with `counts=True` of counts). For
        "nb-logistic" it smooths the ratios, and "auto" is 1.
    smoothing : {"auto", "corpus", "even"}
        What alpha multiplies: the frequency of the word in all texts ("corpus"), or 1 ("even", Laplace's rule).
        Multinomial only.
    dependence : float, optional
        How much the words of one text depend on each other: L words count as L / (1 + dependence (L − 1)), so that long
        texts are not overconfident and short ones keep their evidence. Multinomial and complement only. None: chosen
        with alpha, or 0 if `spread` is given.
    spread : float, optional
        Where many classes are, the scores of a text show by their spread over the classes how much its words depend on
        each other: they are divided by spread (0.4 + their standard deviation). 0: they are not. Multinomial and
        complement only. None: chosen with alpha (then `dependence` or `spread` is 0), or 0 if `dependence` is given.
    counts : bool
        Whether a word counts as often as it occurs in a text, or once. For "nb-logistic": tf-idf.
    strip : "group headers", "headers", "quotes", "footers", a list of them, or "all"
        Parts of mails and posts that are left out. "group headers" are the headers that name a newsgroup: Newsgroups,
        Xref, Followup-To and Path.
    stop_words : "english", or a list of words
        Words that are ignored.
    min_df, max_df : int or float
        Least and largest number of texts that a word may occur in; a float is a share of all texts.
    priors : "uniform", array or mapping by label, optional
        Class probabilities; None: the class frequencies of the training texts.
    class_weight : "balanced" or mapping by label, optional
        Weight of the texts of each class, in the class probabilities and in logistic regression.
    C : float, optional
        Inverse strength of the penalty of logistic regression.
    calibrate : bool
        Calibrate the probabilities of naive Bayes by held-out texts.
    ledger : bool or LedgerKey
        Keep a keyed hash of the words of every text, so that `forget` refuses every text that was not learned; True:
        with a key that anybody knows.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays
        The labels, the number of texts of each class, and its prior probability.
    alpha_, smoothing_, dependence_, spread_ : float, str, float, float
        The smoothing in use.
    tuned_ : dict
        Settings chosen by held-out texts, and their values.
    vocabulary_ : list of str
        The words in use, sorted.

    See Also
    --------
    MultinomialNB : Counts of one total, such as words.
    CountVectorizer : Counts of words.

    Notes
    -----
    The state is a tally of words by class. If settings are chosen or weights trained, it also keeps texts as bags of
    words: a sample by hash (16,384 / k texts of each of k classes, at least 256), or all texts for the logistic models.
    These bags can be read from a model file. With a number for `alpha` and without `calibrate`, only counts are kept.

    Examples
    --------
    >>> model = TextClassifier(counts=True).fit(["so it goes", "so it is", "wie es geht", "so ist es"], list("eedd"))
    >>> model.predict_proba(["it is"]).round(2).tolist()
    [[0.15, 0.85]]
    >>> model.alpha_, model.smoothing_, model.dependence_
    (1.0, 'even', 0.03)

    Multinomial naive Bayes as in lectures, without tuning: counts, Laplace's rule, independent words. The defaults are
    for held-out texts, and may decide otherwise on a few small texts.

    >>> from deciban import datasets
    >>> lecture = TextClassifier(token_pattern=r"\\w", stop_words=["d", "e"], counts=True, smoothing="even", alpha=1)
    >>> lecture.fit(*datasets.eight_mails()).vocabulary_
    ['a', 'b', 'c']
    >>> lecture.likelihood_ratio(["a a a b"], "spam", "ham").round(4).tolist()
    [0.3125]
    >>> lecture.tuned_
    {}
    """

    _parameter_constraints: dict = {
        "model": [StrOptions({*MODELS, "logistic", "nb-logistic"})],
        "features": [str, object],
        "ngram_range": [tuple, list, None],
        "token_pattern": [str, None],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "smoothing": [StrOptions({"auto", "corpus", "even"})],
        "dependence": [Interval(Real, 0, 1, closed="left"), None],
        "spread": [Interval(Real, 0, None, closed="left"), None],
        "counts": ["boolean"],
        "strip": [str, tuple, list, set, frozenset],
        "stop_words": [str, list, tuple, set, frozenset, None],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "priors": [StrOptions({"uniform"}), "array-like", dict, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "calibrate": ["boolean"],
        **LEDGER,
    }
    classes_: np.ndarray
    _words: WordTally
    _tuned_for: str  # hash of the settings that the next three were computed with; "": not computed
    _picked: dict[str, Any]
    _calibration: Calibration | None
    _trained: WordWeights | None
    _columns: Features | None = None  # fitted, if its columns are fixed
    _reads_texts = True
    _dated = False  # files have no date: learning and removing a text gives the same file

    def __init__(
        self,
        model="multinomial",
        features="words",
        *,
        ngram_range=None,
        token_pattern=None,
        alpha="auto",
        smoothing="auto",
        dependence=None,
        spread=None,
        counts=False,
        strip=(),
        stop_words=None,
        min_df=1,
        max_df=1.0,
        priors=None,
        class_weight=None,
        C=None,
        calibrate=False,
        ledger=False,
    ):
        self.model = model
        self.features = features
        self.ngram_range = ngram_range
        self.token_pattern = token_pattern
        self.alpha = alpha
        self.smoothing = smoothing
        self.dependence = dependence
        self.spread = spread
        self.counts = counts
        self.strip = strip
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.priors = priors
        self.class_weight = class_weight
        self.C = C
        self.calibrate = calibrate
        self.ledger = ledger

    # learning

    def fit(self, texts, labels) -> Self:
        """Learn texts and their labels. An earlier fit is discarded.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        labels : sequence of labels
            The class of each text.

        Returns
        -------
        self
            The fitted model.

        Examples
        --------
        >>> TextClassifier().fit(["so it goes", "wie es geht"], ["en", "de"]).classes_.tolist()
        ['de', 'en']
        """
        self._validate_params()
        with self._unchanged_on_failure():
            self._reset()
            self._learn(self._reader().rows(texts, labels))
            self._name_target(frames.target_name(labels))
        return self

    def _learn_on(self, job: BatchJob) -> None:
        self._reset()
        settings = type(self).__name__, self.get_params(deep=False)
        self._learn(BatchRows(job, self._reader().of_columns(job.roles), settings))
        self.feature_names_in_ = np.array(job.roles.features, dtype=object)

    def _learn(self, rows: Rows) -> None:
        """Set the state to that of these rows, and choose or train what the settings name."""
        self._adopt(*self._tallied(rows))
        self._view()

    def _tallied(self, rows: Rows) -> tuple[np.ndarray, WordTally]:
        """(the classes of these rows, their tally)."""
        found, tally = rows.discover(TallyWords(self._keeps, key_from_setting(self.ledger)), size=TallyWords.size)
        return plain_labels(found.classes), tally

    def _adopt(self, classes: np.ndarray, tally: WordTally) -> None:
        """Set the state to that of the first texts; nothing is chosen or trained yet."""
        if tally.d == 0:
            raise DataError(
                f"no text has a word that could be counted ({tally.n.sum():.0f} texts)\n\n"
                "hint: words have two letters or more by default (see `token_pattern`); check the texts"
            )
        features = self._features()
        self._columns = None if features.open_ended else features
        self.classes_ = classes
        self._set_tally(tally)

    def partial_fit(self, texts, labels, classes=None) -> Self:
        """Learn more texts; new words and new classes may occur. The same state as one `fit` on all texts. Tuned
        settings and trained weights are computed again at the next prediction.

        `classes` exists for compatibility with scikit-learn: no class needs to be named in advance.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        labels : sequence of labels
            The class of each text.
        classes : sequence of labels, or None
            All classes that may occur, in the first call.

        Returns
        -------
        self
            The same model, with these rows.

        Examples
        --------
        >>> TextClassifier().partial_fit(["tea"], ["drink"]).partial_fit(["cake"], ["food"]).predict(["cake"]).tolist()
        ['food']
        """
        with self._unchanged_on_failure():
            if not self.__sklearn_is_fitted__():
                self._validate_params()
                self._reset()
                self._adopt(*self._tallied(self._reader().rows(texts, labels)))
            else:
                self._check_updatable()
                self._add(*self._tallied(self._reader().rows(texts, labels, first=False)))
        return self

    def _check_updatable(self) -> None:
        """Raise an error where the tally lacks what other texts of the same settings have."""
        check_ledger(key_from_setting(self.ledger), self._words.ledger)
        if self._keeps is not None:
            self._check_kept()

    def _check_kept(self) -> None:
        """Raise an error where texts that the settings need were not kept, or not all of them."""
        kept = self._words.kept
        if kept is None or (self._keeps == "all" and not kept.whole):
            raise DataError(
                "this setting needs texts that the model has not kept\n\n"
                "hint: set it before `fit`, and fit again; a file saved with rows=False has no texts"
            )

    def forget(self, texts, labels) -> Self:
        """Remove texts from the model: the state, and its file, equal those of a model never trained on them. Texts
        that were not learned raise an error and change nothing.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        labels : sequence of labels
            The class of each text.

        Returns
        -------
        self
            The same model, without these rows.

        Examples
        --------
        >>> model = TextClassifier().fit(["win", "lunch", "oops"], ["spam", "ham", "spam"])
        >>> model.forget(["oops"], ["spam"]).vocabulary_
        ['lunch', 'win']
        """
        self._check_is_fitted()
        with self._unchanged_on_failure():
            self._check_updatable()
            classes, tally = self._tallied(self._reader().rows(texts, labels, first=False))
            unknown = np.setdiff1d(classes, self.classes_).tolist()
            if unknown:
                raise DataError(f"class {unknown} was never learned\n\nhint: the classes are {self.classes_.tolist()}")
            left = self._words - tally.relabel(np.searchsorted(self.classes_, classes), len(self.classes_))
            left, have = left.without_empty_classes()
            if not have.any():
                raise DataError("no texts would be left\n\nhint: make a new model instead")
            self.classes_ = plain_labels(self.classes_[have])
            self._set_tally(left)
        return self

    def __add__(self, other: Self) -> Self:
        """The model of the texts of both models; their words and classes may differ.

        >>> a, b = TextClassifier().fit(["tea"], ["drink"]), TextClassifier().fit(["cake"], ["food"])
        >>> (a + b).predict(["cake", "tea"]).tolist()
        ['food', 'drink']
        """
        if isinstance(other, int) and other == 0:  # the start of sum([...])
            return self._copy()
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted(), other._check_is_fitted()
        for name, value in self.get_params(deep=False).items():
            theirs = other.get_params(deep=False)[name]
            if name == "features" and not isinstance(value, str):
                value, theirs = repr(value), repr(theirs)
            if isinstance(value, np.ndarray) or isinstance(theirs, np.ndarray):
                value, theirs = np.asarray(value).tolist(), np.asarray(theirs).tolist()
            if value is not theirs and value != theirs:
                raise MergeError(
                    f"`{name}` is {value!r} in one model and {theirs!r} in the other\n\n"
                    "hint: fit both with the same settings"
                )
        for model in (self, other):
            model._check_updatable()
        out = self._copy()
        out._add(other.classes_, other._words)
        return out

    __radd__ = __add__

    def one_vs_rest(self) -> OneVsRest:
        """For each class a model of that class (True) against all others (False), from the same tally, without
        learning again.

        Returns
        -------
        OneVsRest
            The models by class; `predict` and `predict_proba` ask all of them.

        Examples
        --------
        >>> model = TextClassifier().fit(["tea", "cake", "chair"], ["drink", "food", "thing"])
        >>> model.one_vs_rest()["food"].predict(["cake", "tea"]).tolist()
        [True, False]
        """
        self._check_is_fitted()
        return OneVsRest.from_models(self.classes_, self._against_rest)

    def _against_rest(self, c: int) -> TextClassifier:
        """The model of class c against all others."""
        out = self._copy()
        out.classes_ = np.array([False, True])
        out._set_tally(self._words.against_rest(c))
        return out

    def leave_one_out(self, texts, labels, *, priors=None) -> np.ndarray:
        """log P(class | text) of each text, (n, k), by the model without it. The texts are among those learned.

        Parameters
        ----------
        texts, labels : sequences
            Texts that were learned, with their labels.
        priors : "uniform", array or mapping by label, optional
            Class priors instead of the learned frequencies.

        Returns
        -------
        ndarray of shape (n, k)
            The log probabilities, in the order of `classes_`.

        Examples
        --------
        >>> texts, labels = ["so it goes", "so it is", "wie es geht", "so ist es"], ["en", "en", "de", "de"]
        >>> TextClassifier().fit(texts, labels).leave_one_out(texts, labels).argmax(axis=1).tolist()
        [1, 1, 0, 1]
        """
        self._check_is_fitted()
        if self.model not in MODELS:
            raise NotAdditiveError(
                f"model={self.model!r} is trained on all texts at once: none can be left out\n\n"
                "hint: deciban.cross_validate, or a naive Bayes model"
            )
        view = self._view()
        nothing = np.zeros(0)
        scorer = view.scorer_of(self._words, WordWeights(nothing, nothing, nothing, nothing, nothing))
        texts, y = view.reader.labelled(texts, labels)
        _, y = inputs.labels(y, self.classes_)
        scores, prior = view.leave_one_out_scores(scorer.counts(texts), y)
        if self._calibration is not None:
            self._calibration.apply(scores)
        given = prior if priors is None else self._posterior(priors).added
        return ops.posterior(np.ascontiguousarray(scores + given), logs=True)

    # texts that calibrate sets

    def _kept_folds(self) -> conformal.Held:
        words, key = self._check_is_fitted(), key_from_setting(self.ledger)
        kept = words.kept
        if kept is None or len(kept) == 0:
            raise conformal.no_kept_rows(self)
        X, k = kept.matrix(words.d), len(self.classes_)
        times = np.ones(len(kept), dtype=np.int64)
        fold = copies_in_folds(kept.key, kept.label, times, conformal.FOLDS).argmax(axis=1)
        out = []
        for at in rows_of(fold):
            part, y = X[at], kept.label[at].astype(np.intp)
            left, have = (
                words - WordTally.from_counts(words.terms, part, y, k, self._keeps, key)
            ).without_empty_classes()
            model = self._copy()
            model.classes_ = plain_labels(self.classes_[have])
            model._set_tally(left)
            odds = in_classes(self.classes_, model, model._posterior().counted_log_odds(words.terms, part))
            share = 2.0 ** kept.level[y]
            out.append((model, HeldOutRows(own_odds(odds, y), y, np.ones(len(y)), np.ones(len(y)), share)))
        return out

    def _without_rows(self, rows: RawArrays, left_out: np.ndarray) -> Any:
        if rows.w is not None:
            raise DataError("a text classifier learns no weights\n\nhint: calibration=(texts, labels)")
        try:
            self._check_updatable()
        except DataError:  # texts were not kept
            return conformal.refitted(self, rows, left_out)
        return conformal.forgetting(self, rows, left_out)

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        classes, tally = self._tallied(self._reader().rows(rows.X, rows.labels, first=False))
        tally = tally.relabel(np.searchsorted(self.classes_, classes), len(self.classes_))
        words = self._words
        if words.kept is not None and tally.kept is not None:
            return words.kept.count_shared(tally.kept)
        try:
            left = words - tally
        except ForgetError:
            return 0, 0
        return (0, 0) if left.n.any() else (len(codes), len(codes))

    # predictions

    def _posterior(self, priors: Any = None) -> TextPosterior:
        self._check_is_fitted()
        view = self._view()
        out = TextPosterior(self.classes_, view, view.log_prior, self._calibration, view.reader.read)
        return out if priors is None else out.under(priors)

    def predict_log_proba(self, texts, *, priors=None) -> np.ndarray:
        """log P(class | text), (n, k).

        Parameters
        ----------
        texts : sequence of str
            The texts.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The logarithms of the probabilities, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).predict_log_proba(["unknown"]).round(2).tolist()
        [[-0.69, -0.69]]
        """
        return super().predict_log_proba(texts, priors=priors)

    def predict_joint_log_proba(self, texts, *, priors=None) -> np.ndarray:
        """log P(text, class) = log P(class) + log P(text | class), (n, k), of multinomial and Bernoulli naive Bayes:
        the product over the words of the text in their order, unknown words left out. With `dependence` or `spread`
        the log likelihood is divided as in the posterior; with `calibrate` it is calibrated.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The log joint densities, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> model = TextClassifier(alpha=1).fit(["tea", "cake"], ["a", "b"])
        >>> np.exp(model.predict_joint_log_proba(["tea", "unknown"])).round(3).tolist()
        [[0.333, 0.167], [0.5, 0.5]]
        """
        self._generative_view()
        return self._posterior(priors).log_joint(texts)

    def predict_proba(self, texts, *, priors=None) -> np.ndarray:
        """P(class | text), (n, k); `priors` replaces the learned class priors for this call.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).predict_proba(["tea"]).round(2).tolist()
        [[0.67, 0.33]]
        """
        return super().predict_proba(texts, priors=priors)

    def predict(self, texts, *, priors=None) -> np.ndarray:
        """The most probable class of each text.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["drink", "food"]).predict(["cake!"]).tolist()
        ['food']
        """
        return super().predict(texts, priors=priors)

    def log_odds(self, texts, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | text) over P(all others | text), or over P(against | text), (n, k).

        Parameters
        ----------
        texts : sequence of str
            The texts.
        against : label or None
            The class to compare with; None: all other classes together.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The log odds of each class.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).log_odds(["tea"]).round(2).tolist()
        [[0.69, -0.69]]
        """
        return super().log_odds(texts, against=against, priors=priors)

    def decibans(self, texts, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        against : label or None
            The class to compare with; None: all other classes together.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The evidence for each class.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).decibans(["tea"]).round(1).tolist()
        [[3.0, -3.0]]
        """
        return super().decibans(texts, against=against, priors=priors)

    @property
    def vocabulary_(self) -> list[str]:
        """The words in use, sorted."""
        self._check_is_fitted()
        return self._view().vocabulary()

    @property
    def class_count_(self) -> np.ndarray:
        """Number of learned texts of each class, (k,)."""
        return self._check_is_fitted().n

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        self._check_is_fitted()
        view = self._view()
        prior = view.log_prior + (view.learned_prior if view.discriminative else 0.0)
        return np.exp(prior - np.logaddexp.reduce(prior))

    @property
    def tuned_(self) -> dict[str, Any]:
        """The settings chosen by held-out texts, and their values."""
        self._check_is_fitted()
        self._view()
        return dict(self._picked)

    def _adds_rows(self) -> bool:
        return True

    def _chosen_settings(self) -> dict[str, Any]:
        return self.tuned_

    @property
    def alpha_(self) -> float:
        """Strength of the smoothing: given, or chosen by held-out texts."""
        self._check_is_fitted()
        return self._view().settings.alpha

    @property
    def smoothing_(self) -> str:
        """What `alpha_` multiplies: "corpus" or "even"."""
        self._check_is_fitted()
        return self._view().settings.smoothing

    @property
    def dependence_(self) -> float:
        """How much the words of one text depend on each other."""
        self._check_is_fitted()
        return self._view().settings.tempering.dependence

    @property
    def spread_(self) -> float:
        """What the spread of the scores of a text is multiplied by to divide them; 0: they are not divided by it."""
        self._check_is_fitted()
        return self._view().settings.tempering.spread

    # explanations and summaries

    def explain(
        self, texts: Any, *, of: Any = None, against: Any = None, priors: Any = None, form: str = "decibans",
        error: Any = None, level: float = 0.9, training: Any = None,
    ) -> TextExplanation:  # fmt: skip
        """Evidence of each word for `of` (by default each text's most probable class) against another class (by default
        the runner-up), in decibans: prior + words = log odds. A single text may be given.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        of : label, one for each text, or None
            The class that is explained; None: the most probable one.
        against : label, one for each text, or None
            The class that it is compared with; None: the second most probable one.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.
        form : "decibans", "fractions"
            "fractions": the working by hand, a product of fractions for each class.
        error : None
            Texts have no standard errors: an error that says so.
        level : float
            Not used.
        training : None
            Not used.

        Returns
        -------
        Explanation, or Working for form="fractions"
            The evidence of each word.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
        >>> model.explain("Lunch, then win!", of="spam")
        row 0: spam against ham
          column  value  decibans
          prior              +0.0            │
          win         1      +3.5            │██████████
          lunch       1      -2.4     ███████│
          total              +1.1  odds 1.3 : 1, P(spam) = 0.564
        """
        self._check_is_fitted()
        if form != "decibans":
            self._working(form, texts, of, against, priors)
        if error is not None and error is not False:
            self._errors(texts, None, check_kind(error), None, False)
        view = self._view()
        given = [texts] if isinstance(texts, str) else list(texts)
        given = list(view.reader.read(given))
        X = view.scorer.counts(given)
        words = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        check_size(len(given), len(self.classes_), len(words))
        w = view.weights
        x = tfidf_scale(X, w)[:, words]
        parts = x.toarray()[:, None, :] * w.table().columns(words).toarray()
        parts = parts / np.expand_dims(w.tempering.divisor(parts.sum(axis=2), x.sum(axis=1)), -1)
        base, known = self._posterior(priors).added, w.bias
        if self._calibration is not None:
            parts, known = self._calibration.temperature * parts, self._calibration.apply(known.copy())
        base = base + known
        strings = view.vocabulary()
        values = X[:, words].toarray().astype(object)
        values[values == 0] = ""
        names = [strings[j] for j in words]
        some: Any = TextExplanation.of_parts(
            self.classes_, names, values, base, parts, of, against, "", **context(self, texts)
        )
        object.__setattr__(some, "texts", tuple(given))
        located = locator(features.vectorizer) if (features := view.reader.features).open_ended else None
        object.__setattr__(some, "locate", located)
        return some

    def _factored(self, X: Any, priors: Any) -> Any:
        raise DataError(
            "TextClassifier smooths and weighs words: its scores are no product of fractions\n\n"
            f"hint: explain it with {in_decibans()}; MultinomialNB and BernoulliNB of word counts have fractions"
        )

    def summary(self) -> TextSummary:
        """What was learned, and the smoothing in use.

        Returns
        -------
        TextSummary
            It prints as text.

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"]).summary()
        TextClassifier: multinomial of words, 2 texts with 5 different words
          classes: ham (1 text), spam (1 text)
          smoothing: alpha=1 (even), dependence=0.03, chosen by held-out texts
        """
        n = self._check_is_fitted().n
        view = self._view()
        return TextSummary(
            self.model, self.features if isinstance(self.features, str) else type(self.features).__name__,
            dict(zip(self.classes_.tolist(), n.astype(int).tolist(), strict=True)), int(view.in_use.sum()),
            view.settings.alpha, view.settings.smoothing, self.dependence_, self.spread_, tuple(self._picked),
        )  # fmt: skip

    def top_words(self, n: int = 10, by: str = "kl") -> TopWords:
        """For each class its n strongest words, with their measure: by "kl" (θ log θ / θ_rest), "log_odds" (log θ /
        θ_rest) or "evidence" (decibans for a separate rate in the class, for words that it uses more than the rest).
        `to_frame()` of the result has θ = P(word | class) as well.

        Parameters
        ----------
        n : int
            The number of words of each class.
        by : "kl", "log_odds", "evidence"
            The measure.

        Returns
        -------
        TopWords
            A mapping of label to (word, value).

        Examples
        --------
        >>> from deciban import TextClassifier
        >>> model = TextClassifier().fit(["tea or tea", "tea and cake", "cake"], ["drink", "food", "food"])
        >>> {label: words[0][0] for label, words in model.top_words(1).items()}
        {'drink': 'or', 'food': 'cake'}
        >>> model.top_words(1).to_frame().round(3).values.tolist()
        [['drink', 'or', 0.327, 0.333], ['food', 'cake', 0.304, 0.375]]
        """
        self._check_is_fitted()
        if by not in BY:
            raise DataError(f"`by` is {by!r}\n\nhint: one of {list(BY)}")
        if len(self.classes_) < 2:
            raise DataError("`top_words` needs two classes\n\nhint: learn texts of another class first")
        view = self._view()
        t = view.words
        strings = view.vocabulary()
        out = TopWords()
        for c, label in enumerate(self.classes_.tolist()):
            measure, theta = _measure(view, t.against_rest(c), by)
            best = np.argsort(-measure, kind="stable")[:n]
            words = ((strings[j], float(measure[j])) for j in best)
            out[label] = RankedWords(words, by, theta[best].tolist())
        return out

    def word_probabilities(self) -> Any:
        """P(word | class) of all words in use, with the smoothing of the model (`alpha_`, `smoothing_`): of the
        multinomial model as shares of all words of a class, of the Bernoulli model as shares of its texts.

        Returns
        -------
        frame
            Column `word`, and a column for each class; of pandas, or of polars where only that is installed, else a
            dictionary of columns.

        Examples
        --------
        >>> from deciban import TextClassifier, datasets
        >>> lecture = TextClassifier(
        ...     token_pattern=r"\\w", stop_words=["d", "e"], counts=True, smoothing="even", alpha=1
        ... ).fit(*datasets.eight_mails())
        >>> lecture.word_probabilities().round(3).values.tolist()
        [['a', 0.6, 0.3], ['b', 0.2, 0.5], ['c', 0.2, 0.2]]
        """
        view = self._generative_view()
        labels = [str(label) for label in self.classes_.tolist()]
        if WORD in labels:
            raise DataError(f"a class is named {WORD!r}, as the column of the words is\n\nhint: rename the class")
        theta = np.exp(view.settings.word_model().log_probabilities(view.words))
        by_class = dict(zip(labels, theta.tolist(), strict=True))
        return frames.make_frame({WORD: view.vocabulary()} | by_class)

    def _generative_view(self) -> View:
        """The view of a model that has P(text | class)."""
        self._check_is_fitted()
        if self.model not in GENERATIVE:
            raise DataError(
                f"model={self.model!r} has no probabilities of words in classes\n\n"
                f"hint: {' or '.join(f'model={name!r}' for name in GENERATIVE)}"
            )
        return self._view()

    # the state

    def _reader(self) -> TextReader:
        """The reader of texts under the settings."""
        return TextReader(self._features(), self.strip)

    def _features(self) -> Features:
        if "_cached_features" not in self.__dict__:
            self._cached_features = self._columns or Features.from_settings(
                self.features, self.ngram_range, self.token_pattern
            )
        return self._cached_features

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        return self._reader().read_batch(rows, columns)

    def _reset(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") or name in _CACHED]:
            del self.__dict__[name]
        self._columns = None
        self._untune()

    def _untune(self) -> None:
        self._tuned_for, self._picked, self._calibration, self._trained = "", {}, None, None
        self.__dict__.pop("_cached_view", None)

    def _set_tally(self, tally: WordTally) -> None:
        self._words = tally
        self._untune()

    @property
    def _tuned_names(self) -> tuple[str, ...]:
        return names_of_tuned_settings(self.model, self.alpha, self.smoothing, self.dependence, self.spread)

    def _is_valid_choice(self, picked: Any) -> bool:
        """Whether these are valid choices: a check of model files."""
        if not isinstance(picked, dict) or not set(picked) <= set(self._tuned_names):
            return False
        alpha, dependence, spread = (picked.get(name, 0.5) for name in ("alpha", *TEMPERED))
        numbers = all(isinstance(one, float) and np.isfinite(one) for one in (alpha, dependence, spread))
        return (
            numbers
            and alpha > 0
            and 0 <= dependence < 1
            and spread >= 0
            and picked.get("smoothing", "even") in ("even", "corpus")
        )

    @property
    def _keeps(self) -> str | None:
        """Which texts the tally must keep: "all", "some" or none."""
        if self.model not in MODELS:
            return "all"
        return "some" if self._tuned_names or self.calibrate else None

    def _add(self, classes: np.ndarray, tally: WordTally) -> None:
        """Add a tally of texts with their own classes."""
        if not _comparable(classes, self.classes_):
            raise DataError(
                f"labels {classes.tolist()[:3]} are of another type than {self.classes_.tolist()[:3]}\n\n"
                "hint: labels are all texts or all numbers"
            )
        both = plain_labels(np.union1d(self.classes_, classes))
        a, b = (np.searchsorted(both, own) for own in (self.classes_, classes))
        total = self._words.relabel(a, len(both)) + tally.relabel(b, len(both))
        self.classes_ = both
        self._set_tally(total)

    def _copy(self) -> Self:
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_cached_view"})
        return out

    def _check_is_fitted(self) -> WordTally:
        try:
            return self._words
        except AttributeError:
            raise unfitted(self) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_words" in self.__dict__

    def _settle(self, train: bool) -> None:
        """Compute the tuned settings that a file holds, so that equal texts give equal files. A regression, which is
        slow to train, is in the file only if it was trained, or is trained here."""
        if self.__sklearn_is_fitted__() and (train or self.model in MODELS):
            self._view()

    @property
    def _is_trained(self) -> bool:
        """Whether the weights of a logistic model are trained already."""
        return self._trained is not None and self._tuned_for == self._settings_hash()

    def _trained_weights(self) -> dict[str, np.ndarray]:
        """The weights of a logistic model as arrays, for `_set_trained_weights`."""
        found: Any = self._view().weights
        return {name: value for name, value in vars(found).items() if isinstance(value, np.ndarray)}

    def _set_trained_weights(self, weights: dict[str, np.ndarray] | None) -> bool:
        """Set weights that `_trained_weights` returned for the same texts; False, and no change, if they do not fit."""
        if weights is None:
            return False
        k, view = len(self.classes_), self._new_view()
        blank = blank_weights(self.model, bool(self.counts), view.words)
        try:
            arrays: Any = weights
            made = replace(blank, **arrays)
        except TypeError:
            return False
        if not made.is_consistent(view.words.d, k):
            return False
        self._tuned_for, self._trained = self._settings_hash(), made
        self.__dict__.pop("_cached_view", None)
        return True

    def __getstate__(self) -> dict:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _CACHED}

    def _view(self) -> View:
        """The view of the tally under the settings; kept until either changes."""
        given = (
            self.model, self.features, self.ngram_range, self.token_pattern, self.alpha, self.smoothing,
            self.dependence, self.spread, self.counts, self.strip, self.stop_words, self.min_df, self.max_df,
            self.priors, self.class_weight, self.C, self.calibrate,
        )  # fmt: skip
        cached = self.__dict__.get("_cached_view")
        if cached is None or not all(map(is_, cached[0], given)):
            stop_word_set(self.stop_words)
            now = self._settings_hash()
            if self._tuned_for != now:
                self._tune(now)
            cached = self._cached_view = (given, self._new_view())
        return cached[1]

    def _new_view(self) -> View:
        return View(self._settings(), self._words, self._reader(), self._trained)

    def _settings_hash(self) -> str:
        """Hash of all that a view depends on, except the tally."""
        now = {name: one for name, one in self.get_params(deep=False).items() if name != "ledger"}
        now = {name: sorted(one) if isinstance(one, set | frozenset) else one for name, one in now.items()}
        now = {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in now.items()}
        return blake2b(repr(sorted(now.items())).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def _settings(self) -> Settings:
        """Settings of the view, with the chosen ones."""
        picked = self._picked
        plain: dict[str, Any] = {"alpha": 1.0, "smoothing": "even", "dependence": 0.0, "spread": 0.0}
        given = {name: value for name in plain if (value := getattr(self, name)) not in ("auto", None)}
        used = plain | given | picked
        unused = [name for name in TEMPERED if used[name] and self.model not in ("multinomial", "complement")]
        if unused:
            name = unused[0]
            raise DataError(
                f"`{name}` is {used[name]:g}, but model={self.model!r} does not use it\n\n"
                "hint: it is for 'multinomial' and 'complement'; leave it out"
            )
        return Settings(
            self.model, used["alpha"], used["smoothing"], Tempering(used["dependence"], used["spread"]), self.counts,
            self.stop_words, self.min_df, self.max_df,
            None if self.priors is None else self._class_probabilities(self.priors), self._class_weights(),
        )  # fmt: skip

    def _class_probabilities(self, priors: Any) -> np.ndarray:
        return check_priors(priors, self.classes_)

    def _class_weights(self) -> np.ndarray | None:
        """Weight of a text of each class, (k,)."""
        if self.class_weight is None:
            return None
        n = self._words.n
        if isinstance(self.class_weight, str):
            return n.sum() / (len(n) * np.maximum(n, 1.0))
        known = self.classes_.tolist()
        unknown = [label for label in self.class_weight if label not in known]
        if unknown:
            raise DataError(f"class_weight names {unknown[0]!r}\n\nhint: the classes are {known}")
        out = np.array([float(self.class_weight.get(label, 1.0)) for label in known])
        if not (np.isfinite(out) & (out > 0)).all():
            raise DataError(f"class_weight is {out.tolist()}\n\nhint: weights are finite numbers > 0")
        return out

    def _tune(self, now: str) -> None:
        """Choose the smoothing, calibrate or train, with the kept texts."""
        self._untune()
        k, names, train = len(self.classes_), self._tuned_names, self.model not in MODELS
        if k < 2 and train:
            raise DataError(
                f"all texts are {self.classes_.tolist()[0]!r}, and model={self.model!r} needs two classes\n\n"
                "hint: naive Bayes can start with one"
            )
        if names or train or (self.calibrate and k > 1):
            self._check_kept()
            kept: Any = self._words.kept
            if train:
                view = self._new_view()
                X, y = kept.matrix(self._words.d)[:, view.in_use], kept.label
                w = view.settings.class_weight
                self._trained = train_weights(
                    self.model, bool(self.counts), view.words, X, y, self.C, self._settings().alpha, w
                )
            else:
                if names:
                    self._picked = choose_smoothing(self._new_view(), names)
                if self.calibrate and k > 1:
                    held_out = HeldOutTexts(self._new_view())
                    self._calibration = held_out.calibration() if len(held_out.y) else None
        self._tuned_for = now
