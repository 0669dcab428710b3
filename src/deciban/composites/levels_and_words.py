"""Nominal columns, of which some hold texts: a text is evidence by its words, any other cell by its level.

Tally: the `Crosstab` of the levels; each distinct text is a level, so texts are added, merged and removed like levels.
Estimate: from the texts and how often each class has them, with n_c(v) uses of word v in class c and b(v) its share of
all words:

    evidence of v for c:  log (n_c(v) / b(v) + m) − log (n_c + m)
    evidence of a text:   weight · Σ over its words

A word has as much evidence as m more words of all classes leave it. m (a multiple of the number of distinct words) and
the weight (0 … 1: words of a text depend on each other) make the class most probable given each text left out in turn;
a weight of 1 costs `PRICE` nats, so that few texts say little. A column counts as text where it has more than `FEW`
distinct texts, more than one for two rows. The evidence of a text against a class is bounded as that of a number is,
see `best_of`. Words that training does not have are no evidence.

>>> import numpy as np
>>> from scipy.sparse import csr_array
>>> from deciban.data.blocks import Codes
>>> from deciban.families.categorical import Categorical
>>> rng = np.random.default_rng(0)
>>> y = np.repeat([0, 1], 50).astype(np.int32)
>>> words = rng.random((100, 20)) < np.where(np.arange(20) < 10, 0.1, np.where(y[:, None] == 0, 0.05, 0.2))
>>> f = LevelsAndWords(Categorical(), {0: lambda: csr_array(words.astype(float))})
>>> x = Codes(np.arange(100)[:, None])
>>> p = f.estimate(f.tally(x, y, None, 2))
>>> bool((f.loglik(p, x).argmax(axis=1) == y).mean() > 0.75)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from deciban.data.blocks import Codes, NewTexts, TextCodes
from deciban.errors import NotAdditiveError
from deciban.estimation.family import Family
from deciban.estimation.fractions import Factors
from deciban.tallies import Crosstab

FEW, OWN = 20, 0.5  # distinct texts, and distinct texts for a row, above which a column is one of texts
SMOOTHING = (0.03, 0.1, 0.3, 1.0, 3.0)  # candidates of m, for each distinct word
PRICE = 2.0  # nats that a weight of 1 costs
STEPS = 40  # halvings of the interval of the weight
CHOSEN = 4096  # texts by which m and the weight are chosen, about
CELLS = 1 << 22  # numbers that are looked at in one piece
NO_TEXTS = np.zeros(0, dtype=np.int64)
NONE = 1e-9  # of the weight of a row: less is nothing


@dataclass(frozen=True)
class Words:
    """How a column of texts is read, as `families_` says."""

    smoothing: float  # m for each distinct word
    weight: float
    alpha: ClassVar[None] = None  # of levels


@dataclass(frozen=True, eq=False)
class ColumnWords:
    """The words of a column of texts, as counted."""

    counts: csr_array  # (texts, words), how often each text has each word
    n: np.ndarray  # (k, texts), how many rows of each class have each text

    @classmethod
    def of(cls, counts: csr_array, table: np.ndarray) -> ColumnWords:
        """`table` (k, levels): levels beyond the texts (reserved ones) are left out."""
        return cls(counts, np.ascontiguousarray(table[:, : counts.shape[0]]))

    @property
    def uses(self) -> np.ndarray:
        """How often each class uses each word, (k, words)."""
        return np.asarray((self.counts.T @ self.n.T).T)

    @property
    def lengths(self) -> np.ndarray:
        """The number of words of each text."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    @property
    def limit(self) -> np.ndarray:
        """Largest evidence of a text against each class, (k,)."""
        return _limit(self.n.sum(axis=1), int((self.n.sum(axis=0) > 0).sum()))

    def choose(self) -> Words:
        """The smoothing and the weight by which texts that are left out in turn are classified best."""
        c, text = np.nonzero(self.n.T > 0)[::-1]  # in the order of texts
        every = -(-len(text) // CHOSEN)  # chosen by their words, so that their order is free
        if every > 1:
            key = np.asarray(self.counts @ _word_keys(self.counts.shape[1])) % 1.0
            c, text = (one[np.argsort(key[text], kind="stable")[: len(text) // every]] for one in (c, text))
        times = self.n[c, text]
        prior = np.log(self.n.sum(axis=1) + 0.5)
        best, out = np.inf, Words(SMOOTHING[-1], 0.0)
        for alpha in SMOOTHING:
            scores = self.left_out(alpha, text, c, np.minimum(times, 1.0))
            share, loss = _best_weight(scores, prior, c, times)
            if loss < best:
                best, out = loss, Words(alpha, share)
        return out

    def evidence(self, alpha: float) -> np.ndarray:
        """Of each word, (k, words); 0 of words that no text has."""
        uses = self.uses
        total = uses.sum(axis=0)
        used = total > 0
        m = alpha * used.sum()
        share = np.where(used, total, 1.0) / max(total.sum(), 1e-300)
        if not used.any():
            return np.zeros(uses.shape)
        out = np.log(uses / share + m) - np.log(uses.sum(axis=1, keepdims=True) + m)
        return np.where(used, out, 0.0)

    def left_out(self, alpha: float, text: np.ndarray, c: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Evidence (m, k) of texts, each without a row of weight w of class c that has it. Words that no other row has
        are no evidence."""
        uses, lengths = self.uses, self.lengths
        total, size = uses.sum(axis=0), uses.sum(axis=1)
        k, used = len(uses), int((total > 0).sum())
        out = np.zeros((len(text), k))
        indptr = self.counts.indptr.astype(np.int64)
        width = np.diff(indptr)[text]
        step = max(1, int(CELLS / max(1.0, float(width.mean()) * k))) if len(text) else 1
        for start in range(0, len(text), step):
            rows = slice(start, start + step)
            many, own, mine = width[rows], c[rows], w[rows]
            at = np.repeat(indptr[text[rows]] - np.cumsum(many) + many, many) + np.arange(many.sum())
            row, word, x = np.repeat(np.arange(len(many)), many), self.counts.indices[at], self.counts.data[at]
            removed = x * mine[row]
            rest = total[word] - removed
            lone = rest <= NONE * removed
            words = used - np.bincount(row, lone, minlength=len(many))
            m = alpha * words
            whole = np.maximum(total.sum() - mine * lengths[text[rows]], 1e-300)
            share = np.where(lone, 1.0, rest) / whole[row]
            for one in range(k):
                here = own == one
                n = uses[one, word] - np.where(here[row], removed, 0.0)
                left = np.maximum(size[one] - np.where(here, mine * lengths[text[rows]], 0.0), 0.0) + m
                with np.errstate(divide="ignore", invalid="ignore"):
                    each = x * (np.log(np.maximum(n, 0.0) / share + m[row]) - np.log(left)[row])
                out[rows, one] = np.bincount(row, np.where(lone, 0.0, each), minlength=len(many))
        return out


def texts_not_kept() -> NotAdditiveError:
    """The error of what needs the texts of training."""
    return NotAdditiveError(
        "this model was saved without the texts of its training rows: no update, merge, forgetting or leave-one-out"
        "\n\nhint: save it with rows=True"
    )


def _word_keys(n: int) -> np.ndarray:
    """A number for each word."""
    return np.random.default_rng(0).random(n)


def _limit(n: np.ndarray, texts: int | np.ndarray) -> np.ndarray:
    return np.log(np.maximum(2.0 * n + texts, 1.0))


def _bounded(scores: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Scores (n, k), none further below the largest than its limit."""
    return np.maximum(scores, scores.max(axis=1, keepdims=True) - limit)


def _best_weight(scores: np.ndarray, prior: np.ndarray, c: np.ndarray, times: np.ndarray) -> tuple[float, float]:
    """(the weight in 0 … 1 of scores (m, k) that predict classes c best, their loss with the price of the weight).
    The loss is convex in the weight."""
    rows = np.arange(len(c))
    centred = scores - scores[rows, c][:, None] if len(c) else scores

    def look(weight: float) -> tuple[float, float]:
        s = prior + weight * centred
        top = s.max(axis=1, keepdims=True)
        e = np.exp(s - top)
        norm = e.sum(axis=1, keepdims=True)
        loss = times @ (top[:, 0] + np.log(norm[:, 0]) - prior[c])
        slope = times @ ((e / norm) * centred).sum(axis=1)
        return float(loss) + PRICE * weight, float(slope) + PRICE

    low, high = 0.0, 1.0
    if look(0.0)[1] >= 0:
        return 0.0, look(0.0)[0]
    if look(1.0)[1] <= 0:
        return 1.0, look(1.0)[0]
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if look(middle)[1] < 0 else (low, middle)
    return low, look(low)[0]


@dataclass(frozen=True, eq=False)
class TextParams:
    """The evidence of the texts of one column."""

    how: Words
    words: np.ndarray  # (k, words), evidence
    texts: np.ndarray  # (k, texts), evidence of each text of training, bounded
    limit: np.ndarray  # (k,)
    below: np.ndarray  # (k, texts), cumulative shares, to draw texts

    @classmethod
    def of(cls, column: ColumnWords, how: Words) -> TextParams:
        words, limit = how.weight * column.evidence(how.smoothing), column.limit
        texts = _bounded(np.asarray(column.counts @ words.T), limit).T
        rows = column.n.sum(axis=1, keepdims=True)
        share = np.where(rows > 0, column.n, 1.0) / np.where(rows > 0, rows, max(column.n.shape[1], 1))
        return cls(how, words, texts, limit, np.cumsum(share, axis=1))

    def without_texts(self) -> TextParams:
        """The evidence of words alone, of which that of each text follows."""
        none = np.zeros((len(self.words), 0))
        return replace(self, texts=none, below=none)

    def sound(self, k: int, words: int) -> bool:
        """Whether it is that of so many classes and words, without texts; checked after loading from a file."""
        numbers = (self.words, (k, words)), (self.limit, (k,)), (self.texts, (k, 0)), (self.below, (k, 0))
        shaped = all(a.shape == shape and a.dtype == np.float64 and np.isfinite(a).all() for a, shape in numbers)
        return shaped and bool((self.limit >= 0).all()) and isinstance(self.how, Words)

    def scores(self, codes: np.ndarray, more: NewTexts | None) -> np.ndarray:
        """(n, k), of texts by their codes; `more`: those that training does not have."""
        out = np.zeros((len(codes), len(self.words)))
        known = (codes >= 0) & (codes < self.texts.shape[1])
        out[known] = self.texts.T[codes[known]]
        if more is not None:
            new = codes >= more.first
            out[new] = _bounded(np.asarray(more.words @ self.words.T), self.limit)[codes[new] - more.first]
        return out


@dataclass(frozen=True, eq=False)
class Params:
    levels: Any  # parameters of the other columns
    others: tuple[int, ...]
    texts: Mapping[int, TextParams] = field(default_factory=dict)  # by column


@dataclass(frozen=True, eq=False)
class LevelsAndWords(Family):
    levels: Family  # of columns that hold no texts
    words: Mapping[int, Callable[[], csr_array]]  # column that may hold texts → how often its levels have each word
    forced: tuple[int, ...] = ()  # columns of `words` that are texts, however few
    chosen: Mapping[int, Words] = field(default_factory=dict)  # settled settings
    given: Mapping[int, TextParams] = field(default_factory=dict)  # of columns whose texts are not kept
    block, support = "codes", "level"
    measure = "levels"

    @property
    def alpha(self) -> Any:
        return self.levels.alpha

    @property
    def chooses(self) -> bool:  # type: ignore[override]
        return True

    def text_columns(self, t: Crosstab) -> list[int]:
        """The columns that hold texts, by the rows of a tally."""
        out = []
        for j in self.words:
            table = t.columns()[j]
            distinct, rows = int((table.sum(axis=0) > 0).sum()), table.sum()
            if j in self.given or j in self.forced or distinct > max(FEW, OWN * rows):
                out.append(j)
        return sorted(out)

    def tally(self, x: Codes, y, w, k: int) -> Crosstab:
        return self.levels.tally(x, y, w, k)

    def estimate(self, t: Crosstab) -> Params:
        at = self.text_columns(t)
        others = tuple(j for j in range(t.d) if j not in at)
        texts = {}
        for j in at:
            if j in self.given:
                texts[j] = self.given[j]
                continue
            column = ColumnWords.of(self.words[j](), t.columns()[j])
            texts[j] = TextParams.of(column, self.chosen.get(j) or column.choose())
        return Params(self.levels.estimate(t.part(list(others)) if at else t), others, texts)

    def fixed(self, p: Params) -> LevelsAndWords:
        chosen = {j: one.how for j, one in p.texts.items()}
        return replace(self, levels=self.levels.fixed(p.levels), chosen=chosen)

    def loglik(self, p: Params, x: Codes) -> np.ndarray:
        out = self.levels.loglik(p.levels, self._others(p, x))
        for j, one in p.texts.items():
            out = out + self._scores(one, x, j)
        return out

    def parts(self, p: Params, x: Codes) -> np.ndarray:
        own = self.levels.parts(p.levels, self._others(p, x))
        if not p.texts:
            return own
        k = len(next(iter(p.texts.values())).words)
        out = np.zeros((x.n, k, x.d))
        out[:, :, list(p.others)] = own
        for j, one in p.texts.items():
            out[:, :, j] = self._scores(one, x, j)
        return out

    def leave_one_out(self, t: Crosstab, x: Codes, y, w, p: Params | None = None) -> np.ndarray:
        """Without each row in turn; smoothing and weight of texts stay."""
        if self.given:
            raise texts_not_kept()
        p = self.estimate(t) if p is None else p
        if not p.texts:
            return self.levels.leave_one_out(t, x, y, w, p.levels)
        out = self.levels.leave_one_out(t.part(list(p.others)), self._others(p, x), y, w, p.levels)
        for j, one in p.texts.items():
            column = ColumnWords.of(self.words[j](), t.columns()[j])
            own = np.zeros(out.shape)
            code, mine = np.asarray(x.values)[:, j], np.ones(x.n) if w is None else np.asarray(w, dtype=np.float64)
            here = np.flatnonzero((code >= 0) & (code < column.n.shape[1]))
            rows = here[mine[here] > 0]
            own[here] = one.texts.T[code[here]]
            found = column.left_out(one.how.smoothing, code[rows], y[rows], mine[rows])
            limit = np.repeat(column.n.sum(axis=1)[None], len(rows), axis=0)
            limit[np.arange(len(rows)), y[rows]] -= mine[rows]
            lone = column.n.sum(axis=0)[code[rows]] <= mine[rows] * (1 + NONE)
            texts = int((column.n.sum(axis=0) > 0).sum()) - lone
            own[rows] = _bounded(one.how.weight * found, _limit(np.maximum(limit, 0.0), texts[:, None]))
            own[rows[column.n[y[rows], code[rows]] < mine[rows] * (1 - NONE)]] = np.nan  # not in the counts
            own[code >= column.n.shape[1]] = np.nan
            out = out + own
        return out

    def of_columns(self, t: Crosstab, p: Params) -> list[Any]:
        own = iter(self.levels.of_columns(t.part(list(p.others)) if p.texts else t, p.levels))
        return [p.texts[j].how if j in p.texts else next(own) for j in range(t.d)]

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        """Of texts, those that say most for each class."""
        own = iter(self.levels.grid(p.levels, k))
        each = {j: np.unique(one.texts.argmax(axis=1)) if one.texts.size else NO_TEXTS for j, one in p.texts.items()}
        return [each[j] if j in each else next(own) for j in range(len(p.others) + len(each))]

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        out = np.zeros((len(y), len(p.others) + len(p.texts)), dtype=np.int64)
        if p.others:
            out[:, list(p.others)] = self.levels.sample(p.levels, y, rng)
        for j, one in p.texts.items():
            if not one.texts.size:
                out[:, j] = -1  # missing: there are no texts to draw
                continue
            u = rng.random((len(y), 1)) * one.below[y][:, -1:]
            out[:, j] = np.minimum((u >= one.below[y]).sum(axis=1), one.below.shape[1] - 1)
        return out

    # what only levels have

    def linear(self, p: Params, degree: int = 1) -> Any:
        return None if p.texts else self.levels.linear(p.levels, degree)

    def quotients(self, t: Crosstab, p: Params) -> list[Any]:
        if not p.texts:
            return self.levels.quotients(t, p.levels)
        own = dict(zip(p.others, self.levels.quotients(t.part(list(p.others)), p.levels), strict=True))
        return [own.get(j) for j in range(t.d)]

    def cell_factors(self, t: Crosstab | None, p: Params, x: Codes) -> Factors:
        return super().cell_factors(t, p, x) if p.texts else self.levels.cell_factors(t, p.levels, x)

    def sensitivity(self, t: Crosstab, p: Params) -> Any:
        return None if p.texts else self.levels.sensitivity(t, p.levels)

    def evidence(self, t: Crosstab) -> Any:
        return None if self.text_columns(t) else self.levels.evidence(t)

    def n_parameters(self, p: Params, k: int, d: int) -> int | None:
        return None if p.texts else self.levels.n_parameters(p.levels, k, d)

    def n_parameters_joint(self, p: Params, k: int, d: int) -> int | None:
        return None if p.texts else self.levels.n_parameters_joint(p.levels, k, d)

    def text_params(self, p: Params) -> dict[int, Any]:
        return dict(p.texts)

    # inside

    def _others(self, p: Params, x: Codes) -> Codes:
        x = x.levels_only() if isinstance(x, TextCodes) else x
        if not p.texts:
            return x
        return Codes(np.ascontiguousarray(np.asarray(x.values)[:, list(p.others)]))

    def _scores(self, one: TextParams, x: Codes, j: int) -> np.ndarray:
        return one.scores(np.asarray(x.values)[:, j], x.more.get(j) if isinstance(x, TextCodes) else None)
