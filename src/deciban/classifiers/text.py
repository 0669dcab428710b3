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
from deciban.errors import DataError, MergeError
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import MODELS, WordWeights


class TextClassifier(
    TextAnswers, TextTelling, TextState, OnData, Deciding, Settled, Steady, ClassifierMixin, BaseEstimator
):
    """Texts → labels, by naive Bayes or logistic regression of their words.

    model: "multinomial", "bernoulli", "complement" (naive Bayes), "logistic", or "nb-logistic" (logistic regression of
    naive Bayes' log-count ratios). features: "words", "words+bigrams", "chars" (1 to 5 in a row, within words), or a
    vectoriser. alpha: the smoothing; "auto" takes the best by leave-one-out, None what has proved good (1; 0.01 for
    "bernoulli", 0.001 for "chars"). smoothing: what alpha multiplies, the "corpus" (what all classes have) or "even" (1
    for every word, Laplace's), for the multinomial. counts: how often a word is in a text counts, not only that it is
    ("nb-logistic": by tf-idf). strip: parts of mails and posts to be left out, of "headers", "quotes" and "footers", or
    "all". stop_words: "english", or a list. min_df, max_df: in how many texts (or what share of them) a word must be.
    fit_prior: classes are as probable as they were frequent. C: the weakness of the penalty of logistic regression.
    calibrate: temper probabilities by leave-one-out.

    >>> model = TextClassifier(counts=True).fit(["so it goes", "so it is", "wie es geht", "so ist es"], list("eedd"))
    >>> model.predict_proba(["it is"]).round(2).tolist()
    [[0.2, 0.8]]
    """

    _parameter_constraints: dict = {
        "model": [StrOptions({*MODELS, "logistic", "nb-logistic"})],
        "features": [str, object],
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "smoothing": [StrOptions({"corpus", "even"})],
        "counts": ["boolean"],
        "strip": [str, tuple, list, set, frozenset],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "fit_prior": ["boolean"],
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
        alpha=None,
        smoothing="corpus",
        counts=False,
        strip=(),
        stop_words=None,
        min_df=1,
        max_df=1.0,
        fit_prior=True,
        C=None,
        calibrate=False,
    ):
        self.model = model
        self.features = features
        self.alpha = alpha
        self.smoothing = smoothing
        self.counts = counts
        self.strip = strip
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.fit_prior = fit_prior
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
            self._reset()
            self._name_target(frames.target_name(labels))
            features = self._features()
            self._columns = None if features.open else features
            terms, X, y = self._labelled(texts, labels, features.learn)
            tally = WordTally.of(terms, X, y, len(self.classes_))
            if tally.d == 0:
                raise DataError(
                    f"no text has a word that could be counted ({len(y)} texts)\n\n"
                    "hint: the default word has two letters or more; are there texts at all?"
                )
            self._set(tally)
            self._tune(X, y)
        return self

    def partial_fit(self, texts, labels, classes=None) -> Self:
        """Learn more texts; new words and new classes may come. The same state as one `fit` on all texts.

        `classes` is there for scikit-learn's sake: no class needs to be named before it comes.

        >>> TextClassifier().partial_fit(["tea"], ["drink"]).partial_fit(["cake"], ["food"]).predict(["cake"]).tolist()
        ['food']
        """
        if not self.__sklearn_is_fitted__():
            self._validate_params()
            self._check_additive()
            return self.fit(texts, labels)
        self._check_additive()
        with self._unchanged_on_failure():
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
        self._check_additive()
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
        self._check_additive()
        for name, value in self.get_params(deep=False).items():
            theirs = other.get_params(deep=False)[name]
            if name == "features" and not isinstance(value, str):
                value, theirs = repr(value), repr(theirs)
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
        self._check_additive()
        if len(self.classes_) < 2:
            raise DataError("one class has no rest\n\nhint: learn texts of another class first")
        out = {}
        for c, label in enumerate(self.classes_.tolist()):
            model = self._plain()
            model.classes_ = np.array([False, True])
            model._set(self._words.against_rest(c))
            out[label] = model
        return out

    def leave_one_out(self, texts, labels) -> np.ndarray:
        """log P(class | text) of each text, (n, k), by the model without it. The texts are among those learned.

        >>> texts, labels = ["so it goes", "so it is", "wie es geht", "so ist es"], ["en", "en", "de", "de"]
        >>> TextClassifier().fit(texts, labels).leave_one_out(texts, labels).argmax(axis=1).tolist()
        [1, 1, 0, 1]
        """
        self._check_is_fitted()
        self._check_additive(tuned=True)
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
        return ops.posterior(np.ascontiguousarray(scores + prior), logs=True)
