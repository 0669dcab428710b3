"""Leave-one-out of texts: the scores of each text by the tally without it, from one pass.

A text leaves its words' counts, the length of its class, the totals of all classes, and perhaps the vocabulary: a word
that it alone had is unknown without it, and one may fall under `min_df`. Texts with a word the same number of times
lose the same, so logarithms are taken once for each such *kind* of (word, value), not for each cell.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.vocabulary import Terms
>>> from deciban.text.word_weights import Multinomial
>>> X, y = sparse.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([0, 0, 1])
>>> t = WordTally.of(Terms.of(["a", "b"]), X, y, 2)
>>> LeftOut(t, X, y, np.ones(2, dtype=bool), (1, 3)).scores(Multinomial(1.0, "even")).round(2).tolist()
[[-0.69, -1.1], [-1.5, -1.5], [-0.92, -0.69]]
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from deciban.text.word_tally import WordTally
from deciban.text.word_weights import Bernoulli, Complement, Model, Multinomial


class LeftOut:
    """Texts that are in a tally, ready to be scored without themselves. `view` (d,): the words that count now;
    `limits`: in how many texts a word must be, at least and at most; words that `allowed` excludes never count."""

    def __init__(
        self,
        tally: WordTally,
        X: sparse.csr_array,
        y: np.ndarray,
        view: np.ndarray,
        limits: tuple[float, float],
        allowed: np.ndarray | None = None,
    ):
        self.t, self.y, self.view = tally, y, view
        self.n = X.shape[0]
        self.row = np.repeat(np.arange(self.n), np.diff(X.indptr))
        self.col, self.x = X.indices.astype(np.int64), X.data
        texts = tally.texts - 1
        after = (texts >= max(limits[0], 1)) & (texts <= limits[1]) & (True if allowed is None else allowed)
        self.kept = after[self.col]
        self.now = view[self.col]
        self.own = self._own_cells()

    def _own_cells(self) -> np.ndarray:
        """For each cell of a text, the tally's cell of that word and the text's class."""
        key = self.t.word * self.t.k + self.t.label
        return np.searchsorted(key, self.col * self.t.k + self.y[self.row])

    def scores(self, model: Model) -> np.ndarray:
        """Log likelihoods (n, k), up to a term that all classes share."""
        if isinstance(model, Bernoulli):
            return self._bernoulli(model)
        return self._multinomial(model) if isinstance(model, Multinomial) else self._complement(model)

    # sums over the cells of each text

    def _sum(self, cells: np.ndarray, mask: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.bincount(self.row[mask], cells, minlength=self.n)

    def _kinds(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
        """(word, x) of each kind of kept cell, and the texts' cells as (n, kinds) with x as values."""
        row, col, x = self.row[self.kept], self.col[self.kept], x[self.kept]
        _, first, kind = np.unique(col + self.t.d * x.astype(np.int64), return_index=True, return_inverse=True)
        if (x != np.floor(x)).any():  # not counts: every cell is its own kind
            first = kind = np.arange(len(x))
        start = np.searchsorted(row, np.arange(self.n + 1))
        cells = sparse.csr_array((x, kind.ravel(), start), shape=(self.n, len(first)))
        return col[first], x[first], cells

    def _spread(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the kind, the tally's cell) of every (kind, class) that occurs, and where each kind's begin."""
        sizes = np.diff(self.t.start)[words]
        start = np.concatenate([[0], np.cumsum(sizes)])
        kind = np.repeat(np.arange(len(words)), sizes)
        return kind, np.arange(start[-1]) - start[kind] + self.t.start[words][kind], start

    def _vocabulary(self, values: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(words of each class (n, k), words of all (n,), vocabulary (n,)) without each text."""
        t = self.t
        inside = self.view[t.word]
        flip = self.kept.astype(int) - self.now
        at = np.flatnonzero(flip)
        moved = sparse.csr_array((flip[at], (self.row[at], self.col[at])), shape=(self.n, t.d))
        table = sparse.csr_array((values, t.label, t.start), shape=(t.d, t.k))
        left = t.by_class(values * inside) + (moved @ table).toarray()
        gone = self._sum(x * self.kept)
        left[np.arange(self.n), self.y] -= gone
        every = left.sum(axis=1)
        return left, every, self.view.sum() + self._sum(flip)

    def _multinomial(self, model: Multinomial) -> np.ndarray:
        t, v = self.t, model.values(self.t)
        x = self.x if model.counts else np.ones(len(self.x))
        total = t.by_word(v)
        left, every, words = self._vocabulary(v, x)
        whole = left + model.alpha * (every if model.smoothing == "corpus" else words)[:, None]
        word, worth, cells = self._kinds(x)
        pseudo = model.pseudo(total[word] - worth)
        kind, at, start = self._spread(word)
        said = sparse.csr_array((np.log1p(v[at] / pseudo[kind]), t.label[at], start), shape=(len(word), t.k))
        base = cells @ np.log(pseudo)
        length = self._sum(x * self.kept)
        with np.errstate(divide="ignore"):
            out = (cells @ said).toarray() + base[:, None]
            mine = v[self.own][self.kept] - x[self.kept] + model.pseudo((total[self.col] - x)[self.kept])
            out[np.arange(self.n), self.y] = self._sum(x[self.kept] * np.log(mine), self.kept)
            out -= length[:, None] * np.log(np.maximum(whole, 1e-300))
        return out

    def _complement(self, model: Complement) -> np.ndarray:
        t, v = self.t, model.values(self.t)
        x = self.x if model.counts else np.ones(len(self.x))
        total = t.by_word(v)
        left, every, words = self._vocabulary(v, x)
        whole = every[:, None] - left + model.alpha * words[:, None]
        word, worth, cells = self._kinds(x)
        rest = total[word] - worth
        kind, at, start = self._spread(word)
        less = np.maximum(rest[kind] - v[at], 0.0)
        said = sparse.csr_array(
            (np.log(rest + model.alpha)[kind] - np.log(less + model.alpha), t.label[at], start), shape=(len(word), t.k)
        )
        out = (cells @ said).toarray() - (cells @ np.log(rest + model.alpha))[:, None]
        mine = (total[self.col] - v[self.own])[self.kept]
        out[np.arange(self.n), self.y] = -self._sum(x[self.kept] * np.log(mine + model.alpha), self.kept)
        return out + self._sum(x * self.kept)[:, None] * np.log(whole)

    def _bernoulli(self, model: Bernoulli) -> np.ndarray:
        t, a = self.t, model.alpha
        n, inside = t.n, self.view[t.word]

        def base(texts: np.ndarray) -> np.ndarray:
            """Σ of log(1 − p) over the words that count, (k,), where classes have so many texts."""
            absent = np.log(np.maximum(texts[t.label] - t.rows, 0.0) + a) - np.log(texts + a)[t.label]
            return self.view.sum() * (np.log(texts + a) - np.log(texts + 2 * a)) + t.by_class(absent * inside)

        ones = np.ones(len(self.x))
        cells = sparse.csr_array((ones, (self.row, self.col)), shape=(self.n, t.d))
        now, kept = (cells.multiply(mask[None, :]).tocsr() for mask in (self.view, self._after()))
        shape = (t.d, t.k)
        absent = sparse.csr_array((np.log1p(-t.rows / (n[t.label] + a)), t.label, t.start), shape=shape)
        present = sparse.csr_array((np.log1p(t.rows / a), t.label, t.start), shape=shape)
        size_now, size_kept = now.sum(axis=1)[:, None], kept.sum(axis=1)[:, None]
        never, ever = np.log(n + a) - np.log(n + 2 * a), np.log(a) - np.log(n + 2 * a)
        out = base(n) - (now @ absent).toarray() - size_now * never + (kept @ present).toarray() + size_kept * ever
        fewer = np.maximum(n - 1, 0.0)
        rows = t.rows[self.own]
        n_own = fewer[self.y][self.row]
        mine = base(fewer)[self.y]
        lost = np.log(np.maximum(n_own - rows, 0.0) + a) - np.log(n_own + 2 * a)
        mine -= self._sum(lost * self.now)
        mine += self._sum((np.log(rows - 1 + a) - np.log(n_own + 2 * a)) * self.kept)
        out[np.arange(self.n), self.y] = mine
        return out

    def _after(self) -> np.ndarray:
        """Which words count without a text that has them, (d,)."""
        out = np.zeros(self.t.d, dtype=bool)
        out[self.col[self.kept]] = True
        return out
