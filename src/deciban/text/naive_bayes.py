"""Naive Bayes of words: a sparse linear score from a tally of words.

    score[c] = bias[c] + Σ_j x_j (unit[c] + weight[j, c])         up to a term that all classes share

All words that a class never had share one weight (`unit`), so only pairs that occur have a weight of their own. With v
the tally (presences or counts), V[c] = Σ_j v[j, c], T[j] = Σ_c v[j, c], and d words:

    multinomial   log (v[j, c] + a_j) / (V[c] + Σ a)        a_j = alpha · T[j] (smoothing="corpus") or alpha ("even")
    bernoulli     log p / (1 − p), p = (rows[j, c] + alpha) / (n[c] + 2 alpha);   bias Σ_j log(1 − p)
    complement    − log (T[j] − v[j, c] + alpha) / Σ_j (…)

"corpus" adds the counts of the corpus, times alpha, to every class: rare words, which all classes but one lack by
chance, have little evidence. "even" adds alpha to the count of each word in every class.

The words of one text depend on each other, so that L of them are worth fewer independent ones: with `dependence` ρ, the
correlation of two words of a text, all scores of a text of L words are divided by 1 + ρ (L − 1), the design effect of a
cluster sample. A text of one word keeps its full weight.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.analysis import Terms
>>> X = sparse.csr_array([[3.0, 0.0], [1.0, 2.0]])
>>> t = WordTally.of(Terms.of(["hi", "win"]), X, np.array([0, 1]), 2)
>>> w = Multinomial(1.0, "even", counts=True).weights(t)
>>> np.exp(w.unit + sparse.csr_array((w.weight, w.label, w.start)).toarray()).round(2).tolist()
[[0.8, 0.4], [0.2, 0.6]]

Leave-one-out of texts: the scores of each text by the tally without it, from one pass.

A text leaves its words' counts, the length of its class, the totals of all classes, and perhaps the vocabulary: a word
that it alone had is unknown without it, and one may fall under `min_df`. Texts with a word the same number of times
lose the same, so logarithms are taken once for each such *kind* of (word, value), not for each cell. A text that was
learned several times may leave with its copies, which would give its class away.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.analysis import Terms
>>> from deciban.text.naive_bayes import Multinomial
>>> X, y = sparse.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1])
>>> t = WordTally.of(Terms.of(["a", "b"]), X, y, 2)
>>> LeaveOneOut(t, X, y, np.ones(2, dtype=bool), (1, 3)).scores(Multinomial(1.0, "even")).round(2).tolist()
[[-0.69, -1.1], [-1.5, -1.5], [-0.92, -0.69]]
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
        """Whether it is consistent with d words and k classes; checked after loading from a file."""
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
        """The weight of counts > 0."""
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
class WordModel:
    """Settings of naive Bayes of words: smoothing, and whether counts or presence are used."""

    alpha: float = 1.0
    smoothing: str = "corpus"
    counts: bool = False
    dependence: float = 0.0

    def values(self, t: WordTally) -> np.ndarray:
        return t.count if self.counts else t.rows

    @property
    def worth(self) -> int:
        return COUNT if self.counts else PRESENCE


class Multinomial(WordModel):
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


class Bernoulli(WordModel):
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


class Complement(WordModel):
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

DENSE = 1 << 24  # cells of a table, up to which it is multiplied as one


@dataclass(frozen=True)
class Kinds:
    """Cells of texts by kind: what the kinds lose when their text leaves, and what every class has of them."""

    word: np.ndarray  # (kinds,)
    less: np.ndarray  # (kinds,), what leaves
    cells: sparse.csr_array  # (n, kinds), what the texts have of them
    kind: np.ndarray  # (m,): of every (kind, class) that occurs
    at: np.ndarray  # (m,), the tally's cell of it
    start: np.ndarray  # (kinds + 1,), where each kind's begin

    def product(self, t: WordTally, values: np.ndarray) -> np.ndarray:
        """Σ over a text's cells of a value by (kind, class), (n, k); 0 where a class lacks the word."""
        table = sparse.csr_array((values, t.label[self.at], self.start), shape=(len(self.word), t.k))
        if len(self.word) * t.k <= DENSE:
            return self.cells @ table.toarray()
        return (self.cells @ table).toarray()


class LeaveOneOut:
    """Texts that are in a tally, ready to be scored without themselves. `view` (d,): the words that count now;
    `limits`: in how many texts a word must be, at least and at most; words that `allowed` excludes never count;
    `copies` (n,): how many texts of its class leave with each, itself included; `part` (cells,): the words that are
    read, where it is not the whole text."""

    def __init__(
        self,
        tally: WordTally,
        X: sparse.csr_array,
        y: np.ndarray,
        view: np.ndarray,
        limits: tuple[float, float],
        allowed: np.ndarray | None = None,
        copies: np.ndarray | None = None,
        part: np.ndarray | None = None,
    ):
        self.t, self.y, self.view = tally, y, view
        self.n = X.shape[0]
        self.row = np.repeat(np.arange(self.n), np.diff(X.indptr))
        self.col, self.x = X.indices.astype(np.int64), X.data
        self.copies = np.ones(self.n) if copies is None else copies
        self.times = self.copies[self.row]
        texts = tally.texts[self.col] - self.times
        inside = True if allowed is None else allowed[self.col]
        self.kept = (texts >= max(limits[0], 1)) & (texts <= limits[1]) & inside
        self.read = self.kept if part is None else self.kept & part
        self.now = view[self.col]
        self.own = self._own_cells()
        self._known: dict[bool, tuple[Kinds, tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}

    def _own_cells(self) -> np.ndarray:
        """For each cell of a text, the tally's cell of that word and the text's class."""
        key = self.t.word * self.t.k + self.t.label
        return np.searchsorted(key, self.col * self.t.k + self.y[self.row])

    def scores(self, model: Model) -> np.ndarray:
        """Log likelihoods (n, k), up to a term that all classes share."""
        if isinstance(model, Bernoulli):
            return self._bernoulli(model)
        out = self._multinomial(model) if isinstance(model, Multinomial) else self._complement(model)
        return out / design_effect(self.words(model), model.dependence)[:, None] if model.dependence else out

    def words(self, model: Model) -> np.ndarray:
        """How many words each text has that are known without it, (n,)."""
        return self._sum(self._worth(model) * self.read)

    # sums over the cells of each text

    def _worth(self, model: Model) -> np.ndarray:
        return self.x if model.counts else np.ones(len(self.x))

    def _sum(self, cells: np.ndarray, mask: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.bincount(self.row[mask], cells, minlength=self.n)

    def _facts(self, model: Model) -> tuple[Kinds, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """What no smoothing changes: the kinds of cells that are read, and the vocabulary without each text."""
        if model.counts not in self._known:
            self._known[model.counts] = self._kinds(self._worth(model)), self._vocabulary(model)
        return self._known[model.counts]

    def _kinds(self, x: np.ndarray) -> Kinds:
        row, col, x, times = self.row[self.read], self.col[self.read], x[self.read], self.times[self.read]
        less = x * times
        _, first, kind = np.unique(col + self.t.d * less.astype(np.int64), return_index=True, return_inverse=True)
        if (x != np.floor(x)).any():  # not counts: every cell is its own kind
            first = kind = np.arange(len(x))
        cells = sparse.csr_array(
            (x, kind.ravel(), np.searchsorted(row, np.arange(self.n + 1))), shape=(self.n, len(first))
        )
        word = col[first]
        sizes = np.diff(self.t.start)[word]
        start = np.concatenate([[0], np.cumsum(sizes)])
        kind = np.repeat(np.arange(len(word)), sizes)
        at = np.arange(start[-1]) - start[kind] + self.t.start[word][kind]
        return Kinds(word, less[first], cells, kind, at, start)

    def _vocabulary(self, model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(words of each class (n, k), words of all (n,), vocabulary (n,)) without each text."""
        t, values, x = self.t, model.values(self.t), self._worth(model)
        inside = self.view[t.word]
        flip = self.kept.astype(int) - self.now
        at = np.flatnonzero(flip)
        moved = sparse.csr_array((flip[at], (self.row[at], self.col[at])), shape=(self.n, t.d))
        table = sparse.csr_array((values, t.label, t.start), shape=(t.d, t.k))
        left = t.by_class(values * inside) + (moved @ table).toarray()
        removed = self._sum(x * self.times * self.kept)
        left[np.arange(self.n), self.y] -= removed
        every = left.sum(axis=1)
        return left, every, self.view.sum() + self._sum(flip)

    def _multinomial(self, model: Multinomial) -> np.ndarray:
        t, v, x = self.t, model.values(self.t), self._worth(model)
        total = t.by_word(v)
        kinds, (left, every, words) = self._facts(model)
        whole = left + model.alpha * (every if model.smoothing == "corpus" else words)[:, None]
        pseudo = model.pseudo(total[kinds.word] - kinds.less)
        base = kinds.cells @ np.log(pseudo)
        with np.errstate(divide="ignore"):
            out = kinds.product(t, np.log1p(v[kinds.at] / pseudo[kinds.kind])) + base[:, None]
            less = (x * self.times)[self.read]
            mine = v[self.own[self.read]] - less + model.pseudo(total[self.col[self.read]] - less)
            out[np.arange(self.n), self.y] = self._sum(x[self.read] * np.log(mine), self.read)
            out -= self.words(model)[:, None] * np.log(np.maximum(whole, 1e-300))
        return out

    def _complement(self, model: Complement) -> np.ndarray:
        t, v, x = self.t, model.values(self.t), self._worth(model)
        total = t.by_word(v)
        kinds, (left, every, words) = self._facts(model)
        whole = every[:, None] - left + model.alpha * words[:, None]
        rest = total[kinds.word] - kinds.less
        less = np.maximum(rest[kinds.kind] - v[kinds.at], 0.0)
        logs = np.log(rest + model.alpha)
        out = kinds.product(t, logs[kinds.kind] - np.log(less + model.alpha)) - (kinds.cells @ logs)[:, None]
        mine = (total[self.col] - v[self.own])[self.read]
        out[np.arange(self.n), self.y] = -self._sum(x[self.read] * np.log(mine + model.alpha), self.read)
        return out + self.words(model)[:, None] * np.log(whole)

    def _bernoulli(self, model: Bernoulli) -> np.ndarray:
        t, a = self.t, model.alpha
        n, inside = t.n, self.view[t.word]

        def base(texts: np.ndarray) -> np.ndarray:
            """Σ of log(1 − p) over the words that count, (k,), where classes have so many texts."""
            absent = np.log(np.maximum(texts[t.label] - t.rows, 0.0) + a) - np.log(texts + a)[t.label]
            return self.view.sum() * (np.log(texts + a) - np.log(texts + 2 * a)) + t.by_class(absent * inside)

        ones = np.ones(len(self.x))
        cells = sparse.csr_array((ones, (self.row, self.col)), shape=(self.n, t.d))
        now = cells.multiply(self.view[None, :]).tocsr()
        kept = sparse.csr_array((ones[self.kept], (self.row[self.kept], self.col[self.kept])), shape=(self.n, t.d))
        shape = (t.d, t.k)
        absent = sparse.csr_array((np.log1p(-t.rows / (n[t.label] + a)), t.label, t.start), shape=shape)
        present = sparse.csr_array((np.log1p(t.rows / a), t.label, t.start), shape=shape)
        size_now, size_kept = now.sum(axis=1)[:, None], kept.sum(axis=1)[:, None]
        never, ever = np.log(n + a) - np.log(n + 2 * a), np.log(a) - np.log(n + 2 * a)
        out = base(n) - (now @ absent).toarray() - size_now * never + (kept @ present).toarray() + size_kept * ever
        fewer = np.maximum(n[self.y] - self.copies, 0.0)
        rows = t.rows[self.own]
        n_own = fewer[self.row]
        mine = np.empty(self.n)
        for times in np.unique(self.copies):
            same = self.copies == times
            mine[same] = base(np.maximum(n - times, 0.0))[self.y[same]]
        lost = np.log(np.maximum(n_own - rows, 0.0) + a) - np.log(n_own + 2 * a)
        mine -= self._sum(lost * self.now)
        mine += self._sum((np.log(rows - self.times + a) - np.log(n_own + 2 * a)) * self.kept)
        out[np.arange(self.n), self.y] = mine
        return out
