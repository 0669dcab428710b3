"""What a text classifier tells of itself: the evidence in a text, and the words that speak for each class.

kl         θ[k] log θ[k] / θ[rest]           what a word adds to telling the class from the rest, per word drawn
log_odds   log θ[k] / θ[rest]                how strongly it speaks where it occurs
evidence   log P(counts | two rates) / P(counts | one rate), in decibans: how sure it is that the class uses it more

θ has one pseudo-count a word, whatever the model's own smoothing: what is rare should not come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import betaln

from deciban import decision
from deciban.classifiers.explaining import check_size, context
from deciban.classifiers.text_view import View
from deciban.errors import DataError
from deciban.text.explanation import TextExplanation, locator
from deciban.text.word_scores import scaled
from deciban.text.word_tally import WordTally
from deciban.text.word_weights import MODELS, Bernoulli, Multinomial, design_effect

BY = ("kl", "log_odds", "evidence")


class RankedWords(list[tuple[str, float]]):
    """A list of (word, value), the largest first, that knows what the values measure."""

    def __init__(self, words: Iterable[tuple[str, float]], measure: str):
        super().__init__(words)
        self.measure = measure


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
    chosen: tuple[str, ...]  # which of the last three texts left out chose

    def __repr__(self) -> str:
        total = sum(self.texts.values())
        classes = [f"{label} ({n:,} {'text' if n == 1 else 'texts'})" for label, n in list(self.texts.items())[:10]]
        classes += [f"and {len(self.texts) - 10} more"] * (len(self.texts) > 10)
        lines = [
            f"TextClassifier: {self.model} of {self.features}, {total:,} texts with {self.words:,} different words",
            f"  classes: {', '.join(classes)}",
        ]
        if self.model in MODELS:
            kind = f" ({self.smoothing})" if self.model == "multinomial" else ""
            how = ", chosen by texts left out" if self.chosen else ""
            dependence = "" if self.model == "bernoulli" else f", dependence={self.dependence:g}"
            lines.append(f"  smoothing: alpha={self.alpha:g}{kind}{dependence}{how}")
        return "\n".join(lines)


class TextTelling:
    """Mixin: needs what `TextAnswers` needs."""

    classes_: np.ndarray
    model: str
    features: Any
    _picked: dict[str, Any]
    _check_is_fitted: Callable[[], WordTally]
    _view: Callable[[], View]
    _texts: Callable[[Any], Any]
    _prior: Callable[..., np.ndarray]
    _calibration: Any

    def explain(self, texts: Any, *, of: Any = None, against: Any = None, priors: Any = None) -> TextExplanation:
        """Evidence of each word for `of` (by default each text's most probable class) against another class (by default
        the runner-up), in decibans: prior + words = log odds. One text may be given as it is.

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
        view = self._view()
        given = [texts] if isinstance(texts, str) else list(texts)
        given = list(self._texts(given))
        X = view.lookup.counts(given)
        words = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
        check_size(len(given), len(self.classes_), len(words))
        w = view.weights
        x = scaled(X, w)[:, words]
        parts = x.toarray()[:, None, :] * w.table(words).T
        parts /= design_effect(x.sum(axis=1), w.dependence)[:, None, None]
        base, known = self._prior(view, priors), w.bias
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
        located = locator(view.features.vectorizer) if view.features.open else None
        object.__setattr__(some, "locate", located)
        return some

    def summary(self) -> TextSummary:
        """What was learned, and the smoothing in use.

        >>> from deciban import TextClassifier
        >>> TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"]).summary()
        TextClassifier: multinomial of words, 2 texts with 5 different words
          classes: ham (1 text), spam (1 text)
          smoothing: alpha=1 (even), dependence=0.03, chosen by texts left out
        """
        n = self._check_is_fitted().n
        view = self._view()
        return TextSummary(
            self.model, self.features if isinstance(self.features, str) else type(self.features).__name__,
            dict(zip(self.classes_.tolist(), n.astype(int).tolist(), strict=True)), int(view.kept.sum()),
            view.settings.alpha, view.settings.smoothing, view.settings.dependence, tuple(self._picked),
        )  # fmt: skip

    def top_words(self, n: int = 10, by: str = "kl") -> dict[Any, RankedWords]:
        """For each class its n strongest words, with their measure: by "kl" (θ log θ / θ_rest), "log_odds" (log θ /
        θ_rest) or "evidence" (decibans for the class having a rate of its own, of words it uses more than the rest).

        >>> from deciban import TextClassifier
        >>> model = TextClassifier().fit(["tea or tea", "tea and cake", "cake"], ["drink", "food", "food"])
        >>> {label: words[0][0] for label, words in model.top_words(1).items()}
        {'drink': 'or', 'food': 'cake'}
        """
        self._check_is_fitted()
        if by not in BY:
            raise DataError(f"`by` is {by!r}\n\nhint: one of {list(BY)}")
        if len(self.classes_) < 2:
            raise DataError("one class has no rest to be told from\n\nhint: learn texts of another class first")
        view = self._view()
        t = view.words
        strings = view.vocabulary()
        out = {}
        for c, label in enumerate(self.classes_.tolist()):
            measure = _measure(view, t.against_rest(c), by)
            best = np.argsort(-measure, kind="stable")[:n]
            out[label] = RankedWords(((strings[j], float(measure[j])) for j in best), by)
        return out


def _measure(view: View, two: WordTally, by: str) -> np.ndarray:
    """How strongly each word speaks for class 1 of two, (d,)."""
    settings = view.settings
    family = Bernoulli() if settings.model == "bernoulli" else Multinomial(1.0, "even", settings.counts)
    if by == "evidence":
        return _evidence(two, family.values(two))
    shares = family.shares(two)
    ratio = np.log(shares[:, 1]) - np.log(shares[:, 0])
    return ratio if by == "log_odds" else shares[:, 1] * ratio


def _evidence(two: WordTally, values: np.ndarray) -> np.ndarray:
    """Decibans for two rates against one, each rate even between 0 and 1 before; negative where the rest has more."""
    own = sparse.csr_array((values, two.label, two.start), shape=(two.d, 2)).toarray()
    whole = own.sum(axis=0)
    apart = betaln(own + 1, whole - own + 1).sum(axis=1)
    both = own.sum(axis=1)
    together = betaln(both + 1, whole.sum() - both + 1)
    more = own[:, 1] * whole[0] > own[:, 0] * whole[1]
    return decision.DECIBAN * np.where(more, apart - together, -np.abs(apart - together))
