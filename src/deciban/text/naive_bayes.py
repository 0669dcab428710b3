"""Naive Bayes of words: the families of counts (`MODELS`) on a sparse tally of words.

    score[c] = bias[c] + Σ_j x_j (unseen_weight[c] + weight[j, c])           up to a term that all classes share

The families give the log terms of a word (`log_terms`). All words that a class never had share one weight, so only
pairs (word, class) that occur have a weight of their own. Texts add two things to the families. `smoothing="corpus"`
makes the pseudo-count of a word alpha times its count in all texts: rare words, which all classes but one lack by
chance, have little evidence. `smoothing="even"` adds alpha to the count of each word in every class.

The words of one text depend on each other, so that L of them count as fewer independent ones. `Tempering` divides all
scores of a text by one number, which has one of two units:

    words     1 + dependence (L − 1)          the design effect of a cluster sample; a text of one word keeps its weight
    spread    spread (0.4 + sd)               sd: standard deviation of the scores of the text over the classes

Of many classes most are wrong for a text, and the spread of their scores shows how far dependent words move a score.
Of two classes the spread is the evidence itself, and only the number of words is left. If both settings are positive,
the scores divided by the design effect are divided by their spread.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.analysis import Terms
>>> X, y = sparse.csr_array([[3.0, 0.0], [1.0, 2.0]]), np.array([0, 1])
>>> t = WordTally.from_counts(Terms.from_strings(["hi", "win"]), X, y, 2)
>>> model = WordModel("multinomial", alpha=1.0, counts=True)
>>> np.exp(model.log_probabilities(t)).round(2).tolist()
[[0.8, 0.2], [0.4, 0.6]]

`LeaveOneOut` scores each text by the tally without it, in one pass. Without a text, its words have smaller counts, its
class and the corpus are shorter, and the vocabulary may change: a word that no other text has is unknown, and one may
fall below `min_df`. A text that was learned several times may be left out with its copies, which would reveal its
class.

>>> LeaveOneOut(t, X, y, np.ones(2, dtype=bool), (1, 2)).scores(model).round(2).tolist()
[[-2.08, -2.75], [0.0, 0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from deciban.estimation.leave_one_out import set_own, stored_log_left
from deciban.families.bernoulli import Bernoulli
from deciban.families.complement import Complement
from deciban.families.multinomial import Multinomial
from deciban.tallies.basic import RoundedSums
from deciban.tallies.sparse_table import SparseTable
from deciban.text.word_tally import WordTally

PRESENCE, COUNT, LOG_COUNT = 0, 1, 2  # the value of a word in a text: 1, its count, 1 + log of it; the kernel's codes
MODELS: dict[str, type] = {"multinomial": Multinomial, "bernoulli": Bernoulli, "complement": Complement}
LEAST_SPREAD = 0.4  # nats, added to the spread of each text: few words, with a small spread, are weak evidence
TINY = 1e-300  # least number that a logarithm is taken of


@dataclass(frozen=True)
class Tempering:
    """What the scores of a text are divided by.

    >>> scores = np.array([[1.0, 1.0, -2.0], [0.0, 0.0, 0.0]])
    >>> Tempering(dependence=0.1).divisor(scores, np.array([11.0, 0.0])).tolist()
    [[2.0], [1.0]]
    >>> Tempering(spread=0.5).divisor(scores, None).round(3).tolist()  # 0.5 (0.4 + √2)
    [[0.907], [0.2]]
    """

    dependence: float = 0.0
    spread: float = 0.0

    def divisor(self, scores: np.ndarray, words: np.ndarray | None) -> Any:
        """The divisor of each text, (n, 1), from its scores (n, k) and, for `dependence`, its number of words (n,); 1.0
        without either setting."""
        effect: Any = 1.0
        if self.dependence and words is not None:
            effect = 1.0 + self.dependence * np.maximum(words[:, None] - 1.0, 0.0)
        if not self.spread:
            return effect
        k, add = scores.shape[1], np.add.reduce  # `std` takes longer for one text; a dot product differs by processor
        around = scores - add(scores, axis=1, keepdims=True) / k
        around *= around
        return self.spread * (LEAST_SPREAD * effect + np.sqrt(add(around, axis=1, keepdims=True) / k))


NOT_TEMPERED = Tempering()


def _has_finite_squares(a: np.ndarray) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.square(a, dtype=np.float64).sum()))


@dataclass(frozen=True, eq=False)
class WordWeights:
    """A linear score of words. Where there is a `scale`, a text is scaled by word and then to length 1; where there is
    `tempering`, there is no bias, and the score of a text is divided by its divisor."""

    start: np.ndarray  # (d + 1,): word j has cells start[j] … start[j + 1]
    label: np.ndarray  # (m,), int32
    weight: np.ndarray  # (m,)
    unseen_weight: np.ndarray  # (k,), of words that the class never had
    bias: np.ndarray  # (k,)
    term_value: int = PRESENCE
    scale: np.ndarray | None = None  # (d,)
    tempering: Tempering = NOT_TEMPERED

    def table(self) -> SparseTable:
        """unseen_weight + weight of each class and word, (k, d)."""
        cells = SparseTable.from_cells(self.start, self.label, self.weight, len(self.bias))
        return cells + self.unseen_weight[:, None]

    def is_consistent(self, d: int, k: int) -> bool:
        """Whether these are trained weights of d words and k classes, not tempered; checked after loading from a
        file."""
        m = len(self.label)
        arrays = (self.start, self.label, self.weight, self.unseen_weight, self.bias, self.scale)
        shapes = ((d + 1,), (m,), (m,), (k,), (k,), (d,))
        kinds = ("i8", "i4", "f8", "f8", "f8", "f8")
        for a, shape, kind in zip(arrays, shapes, kinds, strict=True):
            if a is not None and (a.shape != shape or a.dtype != kind or not _has_finite_squares(a)):
                return False
        borders = self.start[0] == 0 and self.start[-1] == m and bool((np.diff(self.start) >= 0).all())
        inside = bool(((self.label >= 0) & (self.label < k)).all())
        return borders and inside and self.term_value in (PRESENCE, COUNT, LOG_COUNT) and self.tempering == NOT_TEMPERED

    def term_values(self, counts: np.ndarray) -> np.ndarray:
        """The values of words from their counts > 0."""
        if self.term_value == PRESENCE:
            return np.ones_like(counts)
        return counts if self.term_value == COUNT else 1.0 + np.log(counts)


@dataclass(frozen=True)
class WordModel:
    """Settings of naive Bayes of words: the name of the family, its smoothing, and the value of a word in a text."""

    name: str = "multinomial"
    alpha: float = 1.0
    smoothing: str = "even"
    counts: bool = False
    tempering: Tempering = NOT_TEMPERED

    @property
    def term_value(self) -> int:
        return COUNT if self.counts and self.name != "bernoulli" else PRESENCE

    def family(self, totals: np.ndarray) -> Any:
        """The family with its pseudo-counts, given how often all classes together have each word."""
        by_corpus = self.smoothing == "corpus" and self.name == "multinomial"
        return MODELS[self.name](self.alpha * totals if by_corpus else self.alpha)

    def cell_counts(self, t: WordTally) -> np.ndarray:
        """The count of each cell of a tally, (m,)."""
        return t.count if self.term_value == COUNT else t.rows

    def sums(self, t: WordTally) -> RoundedSums:
        """The sufficient statistic of the family, with a sparse `total`."""
        total: Any = t.sparse_table(self.cell_counts(t))
        return RoundedSums(t.n, total)

    def weights(self, t: WordTally) -> WordWeights:
        bias = np.zeros(t.k)
        if t.d == 0:
            return WordWeights(t.start, t.label, t.count, bias, bias, self.term_value, None, self.tempering)
        present, absent = self._log_terms(t)
        if absent is not None:
            present, bias = present - absent, absent.sum(axis=1)
        # the part that depends on the word alone is the same for all classes: `shared_terms`
        return WordWeights(
            t.start, t.label, present.excess(), present.of_class, bias, self.term_value, None, self.tempering
        )

    def log_probabilities(self, t: WordTally) -> np.ndarray:
        """log probability of each word in each class, (k, d); of the complement family, its weights."""
        return self._log_terms(t)[0].toarray()

    def shared_terms(self, t: WordTally) -> np.ndarray:
        """What `weights` leave out: the log likelihood of each word that all classes share, (d,)."""
        present, absent = self._log_terms(t)
        out = present.of_column if absent is None else present.of_column - absent.of_column
        return np.broadcast_to(np.asarray(out, dtype=np.float64), t.d)

    def _log_terms(self, t: WordTally) -> tuple[SparseTable, SparseTable | None]:
        sums = self.sums(t)
        return self.family(sums.total.sum(axis=0)).log_terms(sums)


@dataclass(frozen=True)
class DistinctCells:
    """Scored cells of texts by what is removed with their text: the distinct pairs (word, count removed). Cells of one
    pair have the same logarithms, which are computed once."""

    total: np.ndarray  # (pairs,), how often all classes have the word, without the text
    rows: sparse.csr_array  # (n, pairs), the values of the texts' words
    counts: SparseTable  # (k, pairs), how often each class has the word, with all texts


@dataclass(frozen=True)
class OwnCells:
    """Scored cells of texts, each with the sums of its word, which include its text."""

    row: np.ndarray  # (cells,), the text of each
    x: np.ndarray  # (cells,)
    removed: np.ndarray  # (cells,)
    count: np.ndarray  # (cells,), how often the class of the text has the word
    total: np.ndarray  # (cells,), how often all classes have it

    def sums(self, values: np.ndarray, n: int) -> np.ndarray:
        """Σ over the cells of each of n texts, (n,)."""
        return np.bincount(self.row, values, minlength=n)


@dataclass(frozen=True)
class LeftOut:
    """What does not depend on the smoothing: the cells to score, and the sums that remain without each text."""

    cells: DistinctCells
    own: OwnCells
    words: np.ndarray  # (n,), number of scored words
    by_class: np.ndarray  # (n, k), count of all words of each class
    total: np.ndarray  # (n,), of all classes
    vocabulary: np.ndarray  # (n,), number of different words


class LeaveOneOut:
    """Texts that are in a tally, ready to be scored without themselves.

    `in_use` (d,): the words in use now; `limits`: least and largest number of texts that a word may be in; words that
    `allowed` (d,) excludes are never used; `copies` (n,): how many texts of its class are left out with each, itself
    included; `excerpt` (cells,): the words that are scored, where it is not the whole text.
    """

    def __init__(
        self,
        tally: WordTally,
        X: sparse.csr_array,
        y: np.ndarray,
        in_use: np.ndarray,
        limits: tuple[float, float],
        allowed: np.ndarray | None = None,
        copies: np.ndarray | None = None,
        excerpt: np.ndarray | None = None,
    ):
        self.tally, self.y, self.in_use = tally, y, in_use
        self.n = X.shape[0]
        self.row = np.repeat(np.arange(self.n), np.diff(X.indptr))
        self.word, self.x = X.indices.astype(np.int64), X.data
        self.copies = np.ones(self.n) if copies is None else copies
        self.cell_copies = self.copies[self.row]
        texts = tally.texts[self.word] - self.cell_copies
        permitted = True if allowed is None else allowed[self.word]
        self.known = (texts >= max(limits[0], 1)) & (texts <= limits[1]) & permitted  # without the text
        self.scored = self.known if excerpt is None else self.known & excerpt
        # the tally's cell of each word and the class of its text
        cells, own = tally.word * tally.k + tally.label, self.word * tally.k + y[self.row]
        self.own_cell = np.minimum(np.searchsorted(cells, own), max(len(cells) - 1, 0))
        self.foreign = cells[self.own_cell] != own if len(cells) else np.ones(len(own), dtype=bool)
        self._left_out: dict[int, LeftOut] = {}

    def not_in_tally(self) -> np.ndarray:
        """Numbers of the texts with a word more often than all texts of their class have it: they were not learned."""
        short = self.foreign | (self.tally.count[self.own_cell] * (1 + 1e-9) < self.x)
        return self.row[short]

    def scores(self, model: WordModel) -> np.ndarray:
        """Log likelihoods (n, k), up to a term that all classes share."""
        if model.name == "bernoulli":
            return self._bernoulli(model)
        out = self._multinomial(model) if model.name == "multinomial" else self._complement(model)
        return out / model.tempering.divisor(out, self.words(model))

    def words(self, model: WordModel) -> np.ndarray:
        """How many words each text has that are known without it, (n,)."""
        return self._sum(self._term_values(model) * self.scored)

    def left_out(self, model: WordModel) -> LeftOut:
        if model.term_value not in self._left_out:
            self._left_out[model.term_value] = LeftOut(
                *self._scored_cells(model), self.words(model), *self._lengths(model)
            )
        return self._left_out[model.term_value]

    def _term_values(self, model: WordModel) -> np.ndarray:
        return self.x if model.term_value == COUNT else np.ones(len(self.x))

    def _sum(self, cells: np.ndarray) -> np.ndarray:
        """Σ over the cells of each text, (n,)."""
        return np.bincount(self.row, cells, minlength=self.n)

    def _scored_cells(self, model: WordModel) -> tuple[DistinctCells, OwnCells]:
        t, scored, counts = self.tally, self.scored, model.cell_counts(self.tally)
        row, word, x = self.row[scored], self.word[scored], self._term_values(model)[scored]
        removed, total = x * self.cell_copies[scored], t.by_word(counts)[word]
        own = OwnCells(row, x, removed, counts[self.own_cell[scored]], total)
        _, first, pair = np.unique(word + t.d * removed.astype(np.int64), return_index=True, return_inverse=True)
        if (x != np.floor(x)).any():  # not counts: every cell is its own pair
            first = pair = np.arange(len(x))
        starts = np.searchsorted(row, np.arange(self.n + 1))
        rows = sparse.csr_array((x, pair.ravel(), starts), shape=(self.n, len(first)))
        cells = DistinctCells((total - removed)[first], rows, t.sparse_table(counts).columns(word[first]))
        return cells, own

    @cached_property
    def change(self) -> sparse.csr_array:
        """The words of each text that come into use without it (1), or go out of use (−1), (n, d)."""
        change = self.known.astype(np.float64) - self.in_use[self.word]
        at = np.flatnonzero(change)
        return sparse.csr_array((change[at], (self.row[at], self.word[at])), shape=(self.n, self.tally.d))

    def _lengths(self, model: WordModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(words of each class (n, k), words of all (n,), vocabulary (n,)) without each text."""
        t, counts = self.tally, model.cell_counts(self.tally)
        left = t.by_class(counts * self.in_use[t.word]) + t.sparse_table(counts).multiplied(self.change)
        left[np.arange(self.n), self.y] -= self._sum(self._term_values(model) * self.cell_copies * self.known)
        return left, left.sum(axis=1), self.in_use.sum() + self.change.sum(axis=1)

    def _multinomial(self, model: WordModel) -> np.ndarray:
        left = self.left_out(model)
        cells, own = left.cells, left.own
        out = model.family(cells.total).log_counts(cells.counts).multiplied(cells.rows)
        alpha = model.family(own.total - own.removed).alpha
        set_own(out, self.y, own.sums(stored_log_left(own.count, alpha, own.x, own.removed), self.n))
        pseudo = model.alpha * (left.total if model.smoothing == "corpus" else left.vocabulary)
        out -= left.words[:, None] * np.log(np.maximum(left.by_class + pseudo[:, None], TINY))
        return out

    def _complement(self, model: WordModel) -> np.ndarray:
        left = self.left_out(model)
        cells, own, family = left.cells, left.own, model.family(left.total)
        out = family.log_counts(np.maximum(cells.total - cells.counts, 0.0)).multiplied(cells.rows)
        others = stored_log_left(own.total, model.alpha, own.x, own.count)  # the other classes keep their counts
        set_own(out, self.y, own.sums(others, self.n))
        whole = left.total[:, None] - left.by_class + model.alpha * left.vocabulary[:, None]
        return left.words[:, None] * np.log(np.maximum(whole, TINY)) - out

    def _bernoulli(self, model: WordModel) -> np.ndarray:
        t, sums, family = self.tally, model.sums(self.tally), model.family(self.tally.texts)
        in_use: Any = sums.total
        in_use = in_use if self.in_use.all() else in_use.columns(np.flatnonzero(self.in_use))

        def log_absent(n: np.ndarray) -> np.ndarray:
            """log probability (k,) that a text has no word in use, where classes have n texts (k,)."""
            return family.log_probability(np.maximum(n[:, None] - in_use, 0.0), n[:, None]).sum(axis=1)

        present, absent = family.log_terms(sums)
        places = self.row[self.known], self.word[self.known]
        known = sparse.csr_array((np.ones(len(places[0])), places), shape=(self.n, t.d))
        out = log_absent(t.n) + (present - absent).multiplied(known) + absent.multiplied(self.change)
        own = np.empty(self.n)
        for copies in np.unique(self.copies):
            same = self.copies == copies
            own[same] = log_absent(np.maximum(t.n - copies, 0.0))[self.y[same]]
        n, count = np.maximum(t.n[self.y] - self.copies, 0.0)[self.row], t.rows[self.own_cell]
        own -= self._sum(family.log_probability(np.maximum(n - count, 0.0), n) * self.in_use[self.word])
        own += self._sum(family.log_probability(np.maximum(count - self.cell_copies, 0.0), n) * self.known)
        set_own(out, self.y, own)
        return out
