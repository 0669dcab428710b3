"""Word and document counts by class.

    n[c] = texts of class c        count[j, c] = Σ x_j over them        rows[j, c] = how many of them have word j

Words are keyed by their spelling and sorted, and a word that no remaining text has is removed, so equal texts give
equal bytes, independent of texts that were learned and forgotten before. Only (word, class) pairs that occur are
stored. Counts are integers (as doubles), so addition and subtraction are exact.

>>> import numpy as np
>>> from scipy import sparse
>>> one = WordTally.from_counts(Terms.from_strings(["buy", "now"]), sparse.csr_array([[2.0, 1.0]]), np.array([0]), 1)
>>> two = WordTally.from_counts(Terms.from_strings(["later", "now"]), sparse.csr_array([[1.0, 1.0]]), np.array([0]), 1)
>>> both = one + two
>>> both.terms.strings(), both.count.tolist(), (both - two).terms.strings()
(['buy', 'later', 'now'], [2.0, 1.0, 2.0], ['buy', 'now'])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from deciban import ops
from deciban.engines.threads import map_ordered
from deciban.errors import ForgetError
from deciban.tallies.basic import NOTHING
from deciban.tallies.ledger import LedgerKey, RowLedger, key_check, row_tags
from deciban.tallies.sparse_table import SparseTable
from deciban.text.analysis import Terms
from deciban.text.kept_texts import KeptTexts, raise_text_never_learned, text_keys

CELLS = 1 << 20  # of rows, for one thread to add up
ROUNDING = 1e-6  # relative, of sums of counts


@dataclass(frozen=True, eq=False)
class WordTally:
    """Counts by word and class; word j has cells start[j] … start[j + 1]."""

    letters: np.ndarray  # the words' UTF-8, sorted
    offsets: np.ndarray  # (d + 1,)
    n: np.ndarray  # (k,)
    start: np.ndarray  # (d + 1,)
    label: np.ndarray  # (m,), int32
    count: np.ndarray  # (m,)
    rows: np.ndarray  # (m,)
    kept: KeptTexts | None = None  # the texts themselves, where settings are chosen or weights trained by them
    ledger: RowLedger | None = None  # the tags of the texts, where the setting asks for them

    @classmethod
    def from_counts(
        cls,
        terms: Terms,
        X: sparse.csr_array,
        y: np.ndarray,
        k: int,
        keep: str | None = None,
        key: LedgerKey | None = None,
        unused_terms: bool = False,
    ) -> WordTally:
        """From the counts of texts (n, d), columns in the order of the sorted terms, and class codes. keep: "all"
        texts, or "some" of them. key: of a ledger. `unused_terms`: terms that no text has stay, so that tallies of the
        same terms add up by `add_same_terms`."""
        d, n = X.shape[1], np.bincount(y, minlength=k).astype(np.float64)
        word, label, count, rows = _by_class(X, y, k)
        order = sparse.csr_array((np.arange(1, len(word) + 1), (word, label)), shape=(d, k))
        at = order.data - 1
        kept = None if keep is None else KeptTexts.from_rows(terms, X, y, k, keep == "all")
        start = order.indptr.astype(np.int64)
        ledger = None
        if key is not None:
            ledger = RowLedger.from_tags(row_tags(key, text_keys(terms, X)), y, None, k, key_check(key))
        out = cls(terms.letters, terms.offsets, n, start, label[at], count[at], rows[at], kept, ledger)
        return out if unused_terms else out.without_unused_terms()

    def without_unused_terms(self) -> WordTally:
        """Of the words that some text has."""
        return self.part(np.diff(self.start) > 0)

    @property
    def k(self) -> int:
        return len(self.n)

    @property
    def d(self) -> int:
        return len(self.offsets) - 1

    @property
    def terms(self) -> Terms:
        return Terms(self.letters, self.offsets)

    @cached_property
    def word(self) -> np.ndarray:
        """The word of each cell, (m,)."""
        return np.repeat(np.arange(self.d), np.diff(self.start))

    @cached_property
    def texts(self) -> np.ndarray:
        """In how many texts each word is, (d,)."""
        return np.bincount(self.word, self.rows, minlength=self.d)

    def by_word(self, cells: np.ndarray) -> np.ndarray:
        """Σ over classes of a number for each cell, (d,)."""
        return np.bincount(self.word, cells, minlength=self.d)

    def by_class(self, cells: np.ndarray) -> np.ndarray:
        """Σ over words of a number for each cell, (k,)."""
        return np.bincount(self.label, cells, minlength=self.k)

    def sparse_table(self, cells: np.ndarray) -> SparseTable:
        """A number for each cell as a table (k, d), 0 where there is no cell."""
        return SparseTable.from_cells(self.start, self.label, cells, self.k, self.word)

    def part(self, keep: np.ndarray) -> WordTally:
        """Of some of the words, by a mask (d,)."""
        if keep.all():
            return self
        cells: Any = np.repeat(keep, np.diff(self.start))
        cells = slice(None) if cells.all() else cells  # only words without cells are removed
        sizes = np.diff(self.offsets)
        return replace(
            self,
            letters=self.letters[np.repeat(keep, sizes)],
            offsets=_starts(sizes[keep]),
            start=_starts(np.diff(self.start)[keep]),
            label=self.label[cells],
            count=self.count[cells],
            rows=self.rows[cells],
            kept=None if self.kept is None else self.kept.keep_words(keep),
        )

    def relabel(self, index: np.ndarray, k: int) -> WordTally:
        """The same in a list of k classes, where class c stands at index[c]; the order of classes stays."""
        n = np.zeros(k)
        n[index] = self.n
        kept = None if self.kept is None else self.kept.relabel(index, k)
        ledger = None if self.ledger is None else self.ledger.relabel(index, k)
        return replace(self, n=n, label=index.astype(np.int32)[self.label], kept=kept, ledger=ledger)

    def against_rest(self, c: int) -> WordTally:
        """Two classes: all others (0), and class c (1)."""
        cells = []
        for own in (False, True):
            mask = (self.label == c) == own
            cells.append([np.bincount(self.word[mask], v[mask], minlength=self.d) for v in (self.count, self.rows)])
        count, rows = (np.stack([cells[0][i], cells[1][i]], axis=1) for i in (0, 1))
        here = rows > 0
        label = np.broadcast_to(np.arange(2, dtype=np.int32), here.shape)[here]
        return replace(
            self,
            n=np.array([self.n.sum() - self.n[c], self.n[c]]),
            start=_starts(here.sum(axis=1)),
            label=label,
            count=count[here],
            rows=rows[here],
            kept=None if self.kept is None else self.kept.against_rest(c, self.n),
            ledger=None if self.ledger is None else self.ledger.relabel((np.arange(self.k) == c).astype(np.intp), 2),
        )

    def without_empty_classes(self) -> tuple[WordTally, np.ndarray]:
        """(only the classes that have texts, which those are)."""
        have = self.n > 0
        place = np.cumsum(have) - 1
        kept = self.kept
        if kept is not None:
            kept = replace(kept, label=place.astype(np.int32)[kept.label], level=kept.level[have])
        ledger = None if self.ledger is None else self.ledger.relabel(place, int(have.sum()))
        return replace(self, n=self.n[have], label=place.astype(np.int32)[self.label], kept=kept, ledger=ledger), have

    def __add__(self, other: WordTally) -> WordTally:
        mine, theirs = merged_positions(self.terms, other.terms)
        new = ~np.isin(theirs, mine, assume_unique=True)
        sizes = np.diff(other.offsets)
        before = np.searchsorted(mine, theirs[new])  # of my words
        terms = _insert_terms(self.terms, before, other.letters[np.repeat(new, sizes)], sizes[new])
        key, more = mine[self.word] * self.k + self.label, theirs[other.word] * other.k + other.label
        at = np.searchsorted(key, more)
        known = np.zeros(len(more), dtype=bool)
        known[at < len(key)] = key[at[at < len(key)]] == more[at < len(key)]
        count, rows = self.count.copy(), self.rows.copy()
        count[at[known]] += other.count[known]
        rows[at[known]] += other.rows[known]
        fresh = at[~known]
        word = np.insert(mine[self.word], fresh, theirs[other.word][~known])
        kept = None
        if self.kept is not None and other.kept is not None:
            kept = self.kept.renumber_words(mine).merge(other.kept.renumber_words(theirs), self.n + other.n)
        return WordTally(
            terms.letters,
            terms.offsets,
            self.n + other.n,
            np.searchsorted(word, np.arange(len(terms) + 1)),
            np.insert(self.label, fresh, other.label[~known]),
            np.insert(count, fresh, other.count[~known]),
            np.insert(rows, fresh, other.rows[~known]),
            kept,
            self._joint_ledger(other),
        )

    def _joint_ledger(self, other: WordTally) -> RowLedger | None:
        return None if self.ledger is None or other.ledger is None else self.ledger + other.ledger

    def add_same_terms(self, other: WordTally) -> WordTally:
        """The sum of tallies with identical words."""
        mine, theirs = (
            sparse.csr_array((t.count + 1j * t.rows, t.label, t.start), shape=(t.d, t.k)) for t in (self, other)
        )  # both numbers of a cell at once
        both = mine + theirs
        start, label = both.indptr.astype(np.int64), both.indices.astype(np.int32)
        count, rows = np.ascontiguousarray(both.data.real), np.ascontiguousarray(both.data.imag)
        n, kept = self.n + other.n, self.kept
        if kept is not None and other.kept is not None:
            kept = kept.merge(other.kept, n)
        ledger = self._joint_ledger(other)
        return replace(self, n=n, start=start, label=label, count=count, rows=rows, kept=kept, ledger=ledger)

    def __sub__(self, other: WordTally) -> WordTally:
        """The difference; raises ForgetError if a count would become negative."""
        n = self.n - other.n
        mine, theirs = merged_positions(self.terms, other.terms)
        key, less = mine[self.word] * self.k + self.label, theirs[other.word] * other.k + other.label
        at = np.minimum(np.searchsorted(key, less), max(len(key) - 1, 0))
        found = (key[at] == less) if len(key) else np.zeros(len(less), dtype=bool)
        if (n < 0).any() or not found.all():
            _raise_never_learned(other, None if found.all() else int(other.word[~found][0]))
        count, rows = self.count.copy(), self.rows.copy()
        count[at] -= other.count
        rows[at] -= other.rows
        count[np.abs(count) <= NOTHING * self.count] = 0.0
        short = (count < 0) | (rows < 0) | ((rows == 0) != (count == 0))
        if short.any():
            _raise_never_learned(self, int(self.word[short][0]))
        left = rows > 0
        if (n[np.unique(self.label[left])] == 0).any():
            _raise_never_learned(self, int(self.word[left][n[self.label[left]] == 0][0]))
        start = np.concatenate([[0], np.cumsum(left)])[self.start]
        kept = self.kept
        if kept is not None and other.kept is not None:
            kept = kept.remove(other.kept)
        ledger: Any = self.ledger
        if ledger is not None and other.ledger is not None:
            ledger = ledger - other.ledger
            if ledger.short().any():
                raise_text_never_learned()
        cells = {"label": self.label[left], "count": count[left], "rows": rows[left]}
        return replace(self, n=n, start=start, kept=kept, ledger=ledger, **cells).without_unused_terms()

    def __getstate__(self) -> dict:
        return {name: value for name, value in vars(self).items() if name not in ("word", "texts")}

    def is_consistent(self) -> bool:
        """Whether the arrays are consistent; checked after loading from a file."""
        arrays = (self.letters, self.offsets, self.n, self.start, self.label, self.count, self.rows)
        kinds = ["u1", "i8", "f8", "i8", "i4", "f8", "f8"]
        if any(a.ndim != 1 or a.dtype != kind for a, kind in zip(arrays, kinds, strict=True)):
            return False
        m, d = len(self.label), len(self.offsets) - 1
        if d < 0 or self.k < 1 or len(self.start) != d + 1 or not len(self.count) == len(self.rows) == m:
            return False
        ends = (self.offsets[0], self.offsets[-1], self.start[0], self.start[-1])
        if ends != (0, len(self.letters), 0, m) or (np.diff(self.offsets) < 0).any() or (np.diff(self.start) < 1).any():
            return False
        inside = ((self.label >= 0) & (self.label < self.k)).all()
        whole = np.isfinite([self.n.sum(), self.count.sum(), self.rows.sum()]).all()
        if self.kept is not None and not (isinstance(self.kept, KeptTexts) and self.kept.is_consistent(d, self.n)):
            return False
        if self.ledger is not None and not self._fits(self.ledger):
            return False
        positive = (self.n >= 0).all() and (self.rows > 0).all() and (self.count >= 0).all()
        fine = inside and whole and positive and (self.rows <= self.n[self.label]).all() and self._sorted()
        return bool(fine and (self.kept is None or self._counts(self.kept)))

    def _counts(self, kept: KeptTexts) -> bool:
        """Whether every cell of the texts that are kept is among the counts."""
        key, of_text = self.word * self.k + self.label, np.repeat(kept.label, np.diff(kept.start))
        of_cell = kept.word * np.int64(self.k) + of_text
        for cells, sums in ((np.ones(len(of_cell)), self.rows), (kept.value, self.count)):
            known = np.zeros(self.d * self.k)
            known[key] = sums * (1 + ROUNDING)
            if (np.bincount(of_cell, cells, minlength=len(known)) > known).any():
                return False
        return True

    def _fits(self, ledger: RowLedger) -> bool:
        """Whether a ledger is that of as many texts of each class."""
        if not (isinstance(ledger, RowLedger) and ledger.sound() and (ledger.w > 0).all()):
            return False
        counts = np.bincount(ledger.y, ledger.w, minlength=ledger.k)
        return np.array_equal(ledger.n, self.n) and np.array_equal(counts, self.n)

    def _sorted(self) -> bool:
        key = self.word * self.k + self.label
        strings = self.terms.strings()
        return bool((np.diff(key) > 0).all()) and all(map(str.__lt__, strings, strings[1:]))


def merged_positions(a: Terms, b: Terms) -> tuple[np.ndarray, np.ndarray]:
    """Where the words of two sorted lists stand in the sorted list of both."""
    places = np.empty(len(a), dtype=np.int64), np.empty(len(b), dtype=np.int64)
    core = ops.core()
    if core is not None:
        core.unite(a.letters, a.offsets, b.letters, b.offsets, *places)
        return places
    lists = [[bytes(t.letters[i:j]) for i, j in pairwise(t.offsets)] for t in (a, b)]
    where = {word: i for i, word in enumerate(sorted(set(lists[0]) | set(lists[1])))}
    for place, words in zip(places, lists, strict=True):
        place[:] = [where[word] for word in words]
    return places


def _insert_terms(terms: Terms, before: np.ndarray, letters: np.ndarray, sizes: np.ndarray) -> Terms:
    """Terms with more of them inserted, each before the term of that number."""
    if len(before) == 0:
        return terms
    at = np.repeat(terms.offsets[before], sizes)
    return Terms(np.insert(terms.letters, at, letters), _starts(np.insert(np.diff(terms.offsets), before, sizes)))


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _by_class(X: sparse.csr_array, y: np.ndarray, k: int) -> tuple[np.ndarray, ...]:
    """(word, label, count, rows) of every (class, word) that occurs; classes in order."""
    core = ops.core()
    order = np.argsort(y, kind="stable")
    starts = np.searchsorted(y[order], np.arange(k + 1)).astype(np.int64)
    values = np.ascontiguousarray(X.data, dtype=np.float64)
    if core is None:
        one = sparse.csr_array((np.ones(len(y)), order, starts), shape=(k, len(y)))
        count = sparse.csr_array(one @ sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)).tocoo()
        rows = sparse.csr_array(one @ sparse.csr_array((np.ones(len(values)), X.indices, X.indptr), shape=X.shape))
        pairs = rows.tocoo().coords
        dense = sparse.csr_array((count.data, count.coords), shape=rows.shape)
        return pairs[1].astype(np.int32), pairs[0].astype(np.int32), np.asarray(dense[pairs]).ravel(), rows.tocoo().data
    work = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[order])])[starts]  # cells before each class
    borders = np.unique(np.searchsorted(work, np.arange(0, work[-1] + CELLS, CELLS))).clip(0, k).tolist()
    spans = list(pairwise(borders)) if len(borders) > 1 else [(0, k)]

    indptr, indices = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)

    def read(span: tuple[int, int]) -> Any:
        return core.class_words(indptr, indices, values, order, starts, *span, X.shape[1])

    parts = list(zip(*map_ordered(spans, read), strict=True))
    lengths, word, count, rows = (
        np.frombuffer(b"".join(part), dtype=t) for part, t in zip(parts, ("i8", "i4", "f8", "f8"), strict=True)
    )
    return word, np.repeat(np.arange(spans[0][0], spans[-1][1], dtype=np.int32), lengths), count, rows


def _raise_never_learned(tally: WordTally, word: int | None) -> None:
    named = "" if word is None else f" (word {tally.terms.strings()[word]!r})"
    raise ForgetError(
        f"more to forget than was ever learned{named}; nothing was changed\n\n"
        "hint: forget only texts, with their labels, that went through fit or partial_fit"
    )
