"""What each word says for each class, from a tally of words: naive Bayes as a linear score with few cells.

    score[c] = bias[c] + Σ_j x_j (unit[c] + weight[j, c])         up to a term that all classes share

A word that a class never had says what every such word says (`unit`), so only pairs that occur have a weight. With v
the tally (presences or counts), V[c] = Σ_j v[j, c], T[j] = Σ_c v[j, c], and d words:

    multinomial   log (v[j, c] + a_j) / (V[c] + Σ a)        a_j = alpha · T[j] (smoothing="corpus") or alpha ("even")
    bernoulli     log p / (1 − p), p = (rows[j, c] + alpha) / (n[c] + 2 alpha);   bias Σ_j log(1 − p)
    complement    − log (T[j] − v[j, c] + alpha) / Σ_j (…)

"corpus" adds to every class what the whole corpus has, alpha times: rare words, which all classes but one lack by
chance, say little. With "even" every class has seen each word alpha times more.

The words of one text depend on each other, so that L of them are worth fewer independent ones: with `dependence` ρ, the
correlation of two words of a text, all scores of a text of L words are divided by 1 + ρ (L − 1), the design effect of a
cluster sample. A text of one word keeps its full weight.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.vocabulary import Terms
>>> X = sparse.csr_array([[3.0, 0.0], [1.0, 2.0]])
>>> t = WordTally.of(Terms.of(["hi", "win"]), X, np.array([0, 1]), 2)
>>> w = Multinomial(1.0, "even", counts=True).weights(t)
>>> np.exp(w.unit + sparse.csr_array((w.weight, w.label, w.start)).toarray()).round(2).tolist()
[[0.8, 0.4], [0.2, 0.6]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deciban.text.word_tally import WordTally

PRESENCE, COUNT, LOG_COUNT = 0, 1, 2  # what a word is worth in a text: 1, its count, 1 + log of it; the kernel's codes

TINY = 1e-300  # what a model without words takes the logarithm of


@dataclass(frozen=True, eq=False)
class WordWeights:
    """A linear score of words. Where there is a `scale`, a text is scaled by word and then to length 1; where there is
    `dependence`, the score of a text is divided by 1 + dependence · (its words − 1)."""

    start: np.ndarray  # (d + 1,): word j has cells start[j] … start[j + 1]
    label: np.ndarray  # (m,), int32
    weight: np.ndarray  # (m,)
    unit: np.ndarray  # (k,)
    bias: np.ndarray  # (k,)
    value: int = PRESENCE
    scale: np.ndarray | None = None  # (d,)
    dependence: float = 0.0

    def table(self, words: np.ndarray) -> np.ndarray:
        """unit + weight of some words, (words, k)."""
        cells = sparse.csr_array((self.weight, self.label, self.start), shape=(len(self.start) - 1, len(self.unit)))
        out = cells[words].toarray()
        out += self.unit
        return out

    def sound(self, d: int, k: int) -> bool:
        """Whether it is of d words and k classes: asked of what comes from a file."""
        m = len(self.label)
        arrays = (self.start, self.label, self.weight, self.unit, self.bias, self.scale)
        shapes = ((d + 1,), (m,), (m,), (k,), (k,), (d,))
        kinds = ("i8", "i4", "f8", "f8", "f8", "f8")
        for a, shape, kind in zip(arrays, shapes, kinds, strict=True):
            if a is not None and (a.shape != shape or a.dtype != kind or not np.isfinite(a.sum())):
                return False
        borders = self.start[0] == 0 and self.start[-1] == m and bool((np.diff(self.start) >= 0).all())
        inside = bool(((self.label >= 0) & (self.label < k)).all())
        return borders and inside and self.value in (PRESENCE, COUNT, LOG_COUNT) and self.dependence >= 0

    def worth(self, counts: np.ndarray) -> np.ndarray:
        """What counts > 0 are worth."""
        if self.value == PRESENCE:
            return np.ones_like(counts)
        return counts if self.value == COUNT else 1.0 + np.log(counts)


def design_effect(words: np.ndarray, dependence: float) -> np.ndarray:
    """What the scores of texts of so many words are divided by.

    >>> design_effect(np.array([0.0, 1.0, 11.0]), 0.1).tolist()
    [1.0, 1.0, 2.0]
    """
    return 1.0 + dependence * np.maximum(words - 1.0, 0.0)


@dataclass(frozen=True)
class Counting:
    """What naive Bayes of words is told: how to smooth, and whether words count as often as they occur."""

    alpha: float = 1.0
    smoothing: str = "corpus"
    counts: bool = False
    dependence: float = 0.0

    def values(self, t: WordTally) -> np.ndarray:
        return t.count if self.counts else t.rows

    @property
    def worth(self) -> int:
        return COUNT if self.counts else PRESENCE


class Multinomial(Counting):
    def pseudo(self, total: np.ndarray) -> np.ndarray:
        """What is added to each word's count, given its total in all classes."""
        return self.alpha * total if self.smoothing == "corpus" else np.full_like(total, self.alpha)

    def weights(self, t: WordTally) -> WordWeights:
        v = self.values(t)
        extra = self.pseudo(t.by_word(v))
        weight = np.log1p(v / extra[t.word])
        common = 0.0 if self.smoothing == "corpus" else np.log(self.alpha)  # log T[j] is the same for all classes
        unit = common - np.log(np.maximum(t.by_class(v) + extra.sum(), TINY))
        return WordWeights(t.start, t.label, weight, unit, np.zeros(t.k), self.worth, None, self.dependence)

    def shares(self, t: WordTally) -> np.ndarray:
        """The probability θ of each word in each class, (d, k)."""
        v = self.values(t)
        extra = self.pseudo(t.by_word(v))
        table = t.table(v, np.arange(t.d)) + extra[:, None]
        return table / table.sum(axis=0)


class Bernoulli(Counting):
    def values(self, t: WordTally) -> np.ndarray:
        return t.rows

    def weights(self, t: WordTally) -> WordWeights:
        n, a = t.n, self.alpha
        never = np.log(n + a)  # of 1 − p, over the whole, where the class has none
        own = n[t.label]
        absent = np.log(own - t.rows + a)
        weight = np.log1p(t.rows / a) - (absent - never[t.label])
        bias = t.d * (never - np.log(n + 2 * a)) + t.by_class(absent - never[t.label])
        return WordWeights(t.start, t.label, weight, np.log(a) - never, bias)

    def shares(self, t: WordTally) -> np.ndarray:
        """The chance p that a text of each class has each word, (d, k)."""
        return (t.table(t.rows, np.arange(t.d)) + self.alpha) / (t.n + 2 * self.alpha)


class Complement(Counting):
    def weights(self, t: WordTally) -> WordWeights:
        v = self.values(t)
        total = t.by_word(v)
        here = total[t.word]
        weight = np.log(here + self.alpha) - np.log(np.maximum(here - v, 0.0) + self.alpha)
        unit = np.log(np.maximum(total.sum() - t.by_class(v) + self.alpha * t.d, TINY))
        return WordWeights(t.start, t.label, weight, unit, np.zeros(t.k), self.worth, None, self.dependence)

    def shares(self, t: WordTally) -> np.ndarray:
        """The probability of each word in each class, by its own words. (d, k)"""
        return Multinomial(self.alpha, "even", self.counts).shares(t)


Model = Multinomial | Bernoulli | Complement
MODELS: dict[str, type[Model]] = {"multinomial": Multinomial, "bernoulli": Bernoulli, "complement": Complement}
