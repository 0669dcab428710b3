"""What a text classifier says of texts: posteriors, labels, odds, decibans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deciban import decision, ops
from deciban.classifiers.origin import Origin
from deciban.errors import DataError
from deciban.text.word_tally import WordTally


class TextAnswers:
    """Mixin: needs `_check_is_fitted`, `_view`, `_texts`, `_calibration`."""

    classes_: np.ndarray
    _check_is_fitted: Callable[[], WordTally]
    _view: Callable[[], Any]
    _texts: Callable[[Any], Any]
    _calibration: Any
    _picked: dict[str, Any]
    _class_probabilities: Callable[[Any], np.ndarray]

    def predict_log_proba(self, texts, *, priors=None) -> np.ndarray:
        """log P(class | text), (n, k).

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).predict_log_proba(["unknown"]).round(2).tolist()
        [[-0.69, -0.69]]
        """
        return self._posterior(texts, priors, True)

    def predict_proba(self, texts, *, priors=None) -> np.ndarray:
        """P(class | text), (n, k); `priors` replaces the learned class priors for this call.

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).predict_proba(["tea"]).round(2).tolist()
        [[0.67, 0.33]]
        """
        return self._posterior(texts, priors, False)

    def predict(self, texts, *, priors=None) -> np.ndarray:
        """The most probable class of each text.

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["drink", "food"]).predict(["cake!"]).tolist()
        ['food']
        """
        best = self._scores(texts, priors).argmax(axis=1)
        return self.classes_[best]

    def log_odds(self, texts, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | text) over P(all others | text), or over P(against | text), (n, k).

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).log_odds(["tea"]).round(2).tolist()
        [[0.69, -0.69]]
        """
        return decision.log_odds(self._scores(texts, priors), None if against is None else self._place_of(against))

    def decibans(self, texts, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1.

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["tea", "cake"], ["a", "b"]).decibans(["tea"]).round(1).tolist()
        [[3.0, -3.0]]
        """
        return self.log_odds(texts, against=against, priors=priors) * decision.DECIBAN

    @property
    def vocabulary_(self) -> list[str]:
        """The words that count, sorted."""
        self._check_is_fitted()
        return self._view().vocabulary()

    @property
    def class_count_(self) -> np.ndarray:
        """How many texts of each class were learned, (k,)."""
        return self._check_is_fitted().n

    @property
    def class_prior_(self) -> np.ndarray:
        """P(class) before a text is read, (k,)."""
        self._check_is_fitted()
        view = self._view()
        prior = view.log_prior + (view.learned_prior if view.discriminative else 0.0)
        return np.exp(prior - np.logaddexp.reduce(prior))

    @property
    def tuned_(self) -> dict[str, Any]:
        """The settings that texts left out chose, and their values."""
        self._check_is_fitted()
        self._view()
        return dict(self._picked)

    @property
    def alpha_(self) -> float:
        """The strength of the smoothing: the given one, or the one that texts left out chose."""
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
        return self._view().settings.dependence

    # inside

    def _prior(self, _: Any, priors: Any) -> np.ndarray:
        """log prior (k,) to add to the scores."""
        view = self._view()
        if priors is None:
            return view.log_prior
        with np.errstate(divide="ignore"):
            out = np.log(self._class_probabilities(priors))
        return out - view.learned_prior if view.discriminative else out  # what is in the coefficients already

    def _scores(self, texts: Any, priors: Any) -> np.ndarray:
        """Log joints (n, k), up to a term that all classes share."""
        self._check_is_fitted()
        view = self._view()
        out = view.lookup.scores(self._texts(texts))
        if self._calibration is not None:
            self._calibration.apply(out)
        out += self._prior(view, priors)
        return out

    def _posterior(self, texts: Any, priors: Any, logs: bool) -> np.ndarray:
        scores = self._scores(texts, priors)
        return ops.posterior(scores, logs)

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {self.classes_.tolist()}\n\nhint: name a class of the model")
        return int(at[0])

    def _origin_of(self, texts: Any) -> Origin:
        return Origin.plain
