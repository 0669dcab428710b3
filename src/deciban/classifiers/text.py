"""Strings in, labels out: `TextClassifier`.

    texts → words, pairs of words, or characters → a tally of them by class → weights of evidence → posterior

All words are counted; which of them speak (`min_df`, `max_df`, `stop_words`), how they are smoothed and what they are
worth is decided when the tally is looked at. So a model learns more texts, new words and new classes, forgets texts,
and adds up with other models, and is then what one fit would have made.

>>> from deciban import TextClassifier
>>> spam = TextClassifier().fit(["win money now", "lunch at noon?", "win a prize"], ["spam", "ham", "spam"])
>>> spam.predict(["a prize at noon", "you win"]).tolist()
['ham', 'spam']
>>> spam.partial_fit(["der Preis ist heiß"], ["deutsch"]).predict(["wer ist das"]).tolist()
['deutsch']
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import frames, ops
from deciban.classifiers.deciding import Deciding
from deciban.classifiers.on_data import OnData
from deciban.classifiers.settled import Settled
from deciban.classifiers.steady import Steady
from deciban.classifiers.text_answers import TextAnswers
from deciban.classifiers.text_state import TextState, plain_labels
from deciban.classifiers.text_telling import TextTelling
from deciban.errors import DataError, MergeError, NotAdditiveError
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import MODELS, WordWeights


class TextClassifier(
    TextAnswers, TextTelling, TextState, OnData, Deciding, Settled, Steady, ClassifierMixin, BaseEstimator
):
    """Texts → labels, by naive Bayes or logistic regression of their words.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement", "logistic", "nb-logistic"}
        Naive Bayes (the first three), logistic regression, or logistic regression of naive Bayes' log-count ratios.
    features : {"words", "words+bigrams", "chars"} or vectoriser
        "chars" are 1 to 5 characters in a row, within words. Pass a `CountVectorizer` for any other tokens.
    ngram_range : (int, int), optional
        The least and the most words (or characters) in a row that make a feature; None: those that `features` names.
    alpha : float or "auto"
        Strength of the smoothing. "auto" chooses it, with `smoothing` and `dependence`, by the log loss of texts that
        are left out (see `tuned_`). A number asks for the plain model: then `smoothing` is "even" and `dependence` 0
        unless they are given, which is scikit-learn's `MultinomialNB` (of presences; with `counts=True` of counts).
        For "nb-logistic" it smooths the ratios, and "auto" is 1.
    smoothing : {"auto", "corpus", "even"}
        What alpha multiplies: how often the word is in all texts ("corpus"), or 1 ("even", Laplace's). For the
        multinomial.
    dependence : float, optional
        How much the words of one text depend on each other: L words count as L / (1 + dependence (L − 1)), so that long
        texts are not overconfident and short ones keep their evidence. None: chosen with alpha. Multinomial and
        complement only.
    counts : bool
        Whether a word counts as often as it is in a text, or once. For "nb-logistic": tf-idf.
    strip : "headers", "quotes", "footers", a list of them, or "all"
        Parts of mails and posts that are left out.
    stop_words : "english", or a list of words
        Words that do not count.
    min_df, max_df : int or float
        In how many texts a word must be, at least and at most; a float is a share of them.
    priors : "uniform", array or mapping by label, optional
        Class probabilities; None: as frequent as the classes were in training.
    class_weight : "balanced" or mapping by label, optional
        What a text of each class counts for in the class probabilities, and in logistic regression.
    C : float, optional
        Weakness of the penalty of logistic regression.
    calibrate : bool
        Temper probabilities of naive Bayes by texts left out.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : arrays
        The labels, how many texts each has, and how probable each is before a text is read.
    alpha_, smoothing_, dependence_ : float, str, float
        The smoothing in use; `tuned_` names what of it was chosen.
    vocabulary_ : list of str
        The words that count.

    Notes
    -----
    The state is a tally of words by class. Where settings are chosen or weights trained, it also keeps texts as bags of
    words: a sample of them by hash (of k classes 16,384 / k texts each, at least 256), or all for the logistic models.
    Who reads a model file can read those bags. With a number for `alpha` and no `calibrate`, counts alone are kept.

    Examples
    --------
    >>> model = TextClassifier(counts=True).fit(["so it goes", "so it is", "wie es geht", "so ist es"], list("eedd"))
    >>> model.predict_proba(["it is"]).round(2).tolist()
    [[0.15, 0.85]]
    >>> model.alpha_, model.smoothing_, model.dependence_
    (1.0, 'even', 0.03)

    The lectures' multinomial, by hand: counts, Laplace's rule, independent words.

    >>> texts, labels = ["to be", "to be or not to be", "to do", "do be do"], ["Hamlet", "Hamlet", "Sartre", "Sinatra"]
    >>> by_hand = TextClassifier(counts=True, smoothing="even", alpha=1).fit(texts, labels)
    >>> by_hand.tuned_
    {}
    """

    _parameter_constraints: dict = {
        "model": [StrOptions({*MODELS, "logistic", "nb-logistic"})],
        "features": [str, object],
        "ngram_range": [tuple, list, None],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "smoothing": [StrOptions({"auto", "corpus", "even"})],
        "dependence": [Interval(Real, 0, 1, closed="left"), None],
        "counts": ["boolean"],
        "strip": [str, tuple, list, set, frozenset],
        "stop_words": [str, list, tuple, set, frozenset, None],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "priors": [StrOptions({"uniform"}), "array-like", dict, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "C": [Interval(Real, 0, None, closed="neither"), None],
        "calibrate": ["boolean"],
    }
    _reads_texts = True
    _dated = False  # a file of it tells what was learned and nothing else: learn, forget, and it is the same file

    def __init__(
        self,
        model="multinomial",
        features="words",
        *,
        ngram_range=None,
        alpha="auto",
        smoothing="auto",
        dependence=None,
        counts=False,
        strip=(),
        stop_words=None,
        min_df=1,
        max_df=1.0,
        priors=None,
        class_weight=None,
        C=None,
        calibrate=False,
    ):
        self.model = model
        self.features = features
        self.ngram_range = ngram_range
        self.alpha = alpha
        self.smoothing = smoothing
        self.dependence = dependence
        self.counts = counts
        self.strip = strip
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.priors = priors
        self.class_weight = class_weight
        self.C = C
        self.calibrate = calibrate

    # learning

    def fit(self, texts, labels) -> Self:
        """Learn texts and their labels. Forgets what was learned before.

        >>> TextClassifier().fit(["so it goes", "wie es geht"], ["en", "de"]).classes_.tolist()
        ['de', 'en']
        """
        self._validate_params()
        with self._unchanged_on_failure():
            self._start(texts, labels)
            self._name_target(frames.target_name(labels))
            self._view()
        return self

    def _start(self, texts: Any, labels: Any) -> None:
        """The state of these texts alone; nothing is tuned or trained yet."""
        self._reset()
        features = self._features()
        self._columns = None if features.open else features
        terms, X, y = self._labelled(texts, labels, features.learn)
        tally = WordTally.of(terms, X, y, len(self.classes_), self._keeps)
        if tally.d == 0:
            raise DataError(
                f"no text has a word that could be counted ({len(y)} texts)\n\n"
                "hint: the default word has two letters or more; are there texts at all?"
            )
        self._set(tally)

    def partial_fit(self, texts, labels, classes=None) -> Self:
        """Learn more texts; new words and new classes may come. The same state as one `fit` on all texts. What all of
        them choose or train is made when the model is next asked.

        `classes` is there for scikit-learn's sake: no class needs to be named before it comes.

        >>> TextClassifier().partial_fit(["tea"], ["drink"]).partial_fit(["cake"], ["food"]).predict(["cake"]).tolist()
        ['food']
        """
        with self._unchanged_on_failure():
            if not self.__sklearn_is_fitted__():
                self._validate_params()
                self._start(texts, labels)
            else:
                self._take(self._tally_of(texts, labels))
        return self

    def forget(self, texts, labels) -> Self:
        """Take back texts that were learned: the state, and its file, are as if they had never come. Texts that were
        not learned are an error, and change nothing.

        >>> model = TextClassifier().fit(["win", "lunch", "oops"], ["spam", "ham", "spam"])
        >>> model.forget(["oops"], ["spam"]).vocabulary_
        ['lunch', 'win']
        """
        self._check_is_fitted()
        with self._unchanged_on_failure():
            classes, tally = self._tally_of(texts, labels)
            strange = np.setdiff1d(classes, self.classes_).tolist()
            if strange:
                raise DataError(f"class {strange} was never learned\n\nhint: the classes are {self.classes_.tolist()}")
            left = self._words - tally.relabel(np.searchsorted(self.classes_, classes), len(self.classes_))
            left, have = left.without_empty_classes()
            if not have.any():
                raise DataError("nothing would be left\n\nhint: make a new model instead")
            self.classes_ = plain_labels(self.classes_[have])
            self._set(left)
        return self

    def __add__(self, other: Self) -> Self:
        """The model of both models' texts, whatever their words and classes.

        >>> a, b = TextClassifier().fit(["tea"], ["drink"]), TextClassifier().fit(["cake"], ["food"])
        >>> (a + b).predict(["cake", "tea"]).tolist()
        ['food', 'drink']
        """
        if isinstance(other, int) and other == 0:  # where sum([...]) starts
            return self._plain()
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
        out = self._plain()
        out._take((other.classes_, other._words))
        return out

    __radd__ = __add__

    def one_vs_rest(self) -> dict[Any, TextClassifier]:
        """For each class a model of that class (True) against all others (False), from the same tally: nothing is
        learned again.

        >>> model = TextClassifier().fit(["tea", "cake", "chair"], ["drink", "food", "thing"])
        >>> model.one_vs_rest()["food"].predict(["cake", "tea"]).tolist()
        [True, False]
        """
        self._check_is_fitted()
        if len(self.classes_) < 2:
            raise DataError("one class has no rest\n\nhint: learn texts of another class first")
        out = {}
        for c, label in enumerate(self.classes_.tolist()):
            model = self._plain()
            model.classes_ = np.array([False, True])
            model._set(self._words.against_rest(c))
            out[label] = model
        return out

    def leave_one_out(self, texts, labels, *, priors=None) -> np.ndarray:
        """log P(class | text) of each text, (n, k), by the model without it. The texts are among those learned.

        Parameters
        ----------
        texts, labels
            Texts that were learned, with their labels.
        priors : "uniform", array or mapping by label, optional
            Class priors instead of the learned frequencies.

        Returns
        -------
        ndarray of shape (n, k)

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
        lookup = view.looking_up(self._words, WordWeights(nothing, nothing, nothing, nothing, nothing))
        known = self.classes_
        model = self._plain()
        _, X, y = model._labelled(texts, labels, lambda rows: (view.tally.terms, lookup.counts(rows)))
        y = np.searchsorted(known, model.classes_)[y]
        scores, prior = view.held_out(X, y)
        if self._calibration is not None:
            self._calibration.apply(scores)
        given = prior if priors is None else self._prior(view, priors)
        return ops.posterior(np.ascontiguousarray(scores + given), logs=True)
