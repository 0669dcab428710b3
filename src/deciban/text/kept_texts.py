"""Texts that a tally stores as bags of words: all of them, or a sample of each class for the choice of settings.

A text's key is a hash of its words and counts. A sample holds the texts of a class whose key is below 2^(64 − level),
and the level follows from how many texts the class has. So a sample depends on the texts alone: not on their order, nor
on the batches, machines or models they came from. Copies of a text have one key: all of them are kept, or none.

    level[c] = the least with  n[c] / 2^level ≤ limit(k),     limit(k) = max(256, 16384 // k)

Settings are chosen by the limit(k) / 8 texts of a class with the smallest keys. A class that has lost texts may have a
higher level than a model that never had them; those smallest keys are the same until most of the class is forgotten.

>>> import numpy as np
>>> from scipy import sparse
>>> from deciban.text.analysis import Terms
>>> X, y = sparse.csr_array([[2.0, 1.0], [0.0, 3.0]]), np.array([0, 1])
>>> kept = KeptTexts.from_rows(Terms.from_strings(["buy", "now"]), X, y, 2, whole=True)
>>> sorted(kept.matrix(2).toarray().tolist()), kept.value.dtype
([[0.0, 3.0], [2.0, 1.0]], dtype('uint8'))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from scipy import sparse

from deciban.errors import ForgetError
from deciban.text.analysis import Terms

MOST, FEWEST = 1 << 14, 1 << 8  # texts of a sample, in all and of one class
CELLS, ENOUGH = 1 << 18, 16  # words of all texts that settings are chosen by, about; texts of one class, at least
GOLDEN, PRIME = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x100000001B3)


@dataclass(frozen=True, eq=False)
class KeptTexts:
    """Bags of words, sorted by key and class; text i has cells start[i] … start[i + 1]."""

    key: np.ndarray  # (n,), uint64
    label: np.ndarray  # (n,), int32
    start: np.ndarray  # (n + 1,)
    word: np.ndarray  # (m,), int32: the tally's words
    value: np.ndarray  # (m,), how often; whole numbers in as few bytes as they need
    level: np.ndarray  # (k,)
    whole: bool  # whether every text is kept

    @classmethod
    def from_rows(cls, terms: Terms, X: sparse.csr_array, y: np.ndarray, k: int, whole: bool) -> KeptTexts:
        """From texts' words (n, d) and class codes."""
        X = sparse.csr_array(X)
        X.sort_indices()
        made = cls(
            text_keys(terms, X), y.astype(np.int32), X.indptr.astype(np.int64), X.indices.astype(np.int32),
            np.asarray(X.data, dtype=np.float64), np.zeros(k, dtype=np.int64), whole,
        )  # fmt: skip
        made = made._thin(np.bincount(y, minlength=k))
        return made._take(np.lexsort((made.label, made.key)))

    def __len__(self) -> int:
        return len(self.key)

    @property
    def rows_kept(self) -> int:
        """How many texts can be read from it, as bags of words."""
        return len(self)

    def without_rows(self) -> None:
        """None: a tally of words does without kept texts once settings are chosen and weights trained."""

    @property
    def k(self) -> int:
        return len(self.level)

    def matrix(self, d: int) -> sparse.csr_array:
        """How often each text has each of the tally's d words, (n, d)."""
        return sparse.csr_array((self.value.astype(np.float64), self.word, self.start), shape=(len(self), d))

    def texts_to_score(self) -> np.ndarray:
        """Indices of the texts that settings are chosen by: of each class those with the smallest keys; fewer of long
        texts."""
        some = [np.flatnonzero(self.label == c)[: limit(self.k) // 8] for c in range(self.k)]
        share = CELLS / max(int(np.diff(self.start)[np.concatenate(some)].sum()), CELLS)
        return np.sort(np.concatenate([one[: max(ENOUGH, int(share * len(one)))] for one in some]))

    def excerpts(self, texts: np.ndarray, most: int) -> np.ndarray:
        """Which cells of these texts (as rows of `matrix`) make an excerpt of at most so many words, drawn by hash."""
        sizes = np.diff(self.start)[texts]
        row = np.repeat(np.arange(len(texts)), sizes)
        first = np.cumsum(sizes) - sizes
        word = self.word[np.arange(len(row)) - first[row] + self.start[texts][row]]
        order = np.lexsort((mix_bits(self.key[texts][row] + word.astype(np.uint64) * GOLDEN), row))
        out = np.zeros(len(row), dtype=bool)
        out[order] = np.arange(len(row)) - first[row] < most
        return out

    @property
    def copies(self) -> np.ndarray:
        """How many texts of the same class have the same words, (n,); itself included."""
        if len(self) == 0:
            return np.zeros(0)
        new = np.ones(len(self), dtype=bool)
        new[1:] = (np.diff(self.key) != 0) | (np.diff(self.label) != 0)
        group = np.cumsum(new) - 1
        return np.bincount(group)[group].astype(np.float64)

    # the operations of a tally

    def renumber_words(self, place: np.ndarray) -> KeptTexts:
        """The same texts with word j at place[j]; the order of words stays."""
        return replace(self, word=place[self.word].astype(np.int32))

    def keep_words(self, keep: np.ndarray) -> KeptTexts:
        """The texts with some of the words, by a mask (d,)."""
        cells = keep[self.word]
        place = np.cumsum(keep) - 1
        start = np.concatenate([[0], np.cumsum(cells)])[self.start]
        return replace(self, word=place[self.word[cells]].astype(np.int32), value=self.value[cells], start=start)

    def relabel(self, index: np.ndarray, k: int) -> KeptTexts:
        level = np.zeros(k, dtype=np.int64)
        level[index] = self.level
        return replace(self, label=index.astype(np.int32)[self.label], level=level)

    def against_rest(self, c: int, n: np.ndarray) -> KeptTexts:
        """Two classes: all others (0), and class c (1). A sample of others is as thin as that of its thinnest class."""
        rest = np.arange(self.k) != c
        level = np.array([self.level[rest].max(initial=0), self.level[c]])
        label = (self.label == c).astype(np.int32)
        out = replace(self, label=label, level=level)._below_level()
        out = out._take(np.lexsort((out.label, out.key)))
        return out._thin(np.array([n[rest].sum(), n[c]]))

    def merge(self, other: KeptTexts, n: np.ndarray) -> KeptTexts:
        """The texts of both, whose words and classes have the same numbers; `n` texts of each class in all."""
        both = KeptTexts(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.label, other.label]),
            np.concatenate([self.start, self.start[-1] + other.start[1:]]),
            np.concatenate([self.word, other.word]),
            np.concatenate([self.value.astype(np.float64), other.value]),
            np.maximum(self.level, other.level),
            self.whole,
        )._thin(n)
        return both._take(np.lexsort((both.label, both.key)))

    def remove(self, other: KeptTexts) -> KeptTexts:
        """The texts without those of the other; an error if one of them should be here and is not."""
        mine, theirs = (np.stack([t.key, t.label.astype(np.uint64)], axis=1) for t in (self, other))
        theirs = theirs[_below(other.key, self.level[other.label])]
        pairs, at = np.unique(np.concatenate([mine, theirs]), axis=0, return_inverse=True)
        at = at.ravel()
        have, less = (np.bincount(part, minlength=len(pairs)) for part in (at[: len(mine)], at[len(mine) :]))
        if (less > have).any():
            raise_text_never_learned()
        first = np.searchsorted(at[: len(mine)], at[: len(mine)])  # both are sorted alike
        return self._take(np.flatnonzero(np.arange(len(mine)) - first >= less[at[: len(mine)]]))

    def count_shared(self, other: KeptTexts) -> tuple[int, int]:
        """(how many texts of the other are here too, each copy once, how many would be if they had been learned)"""
        mine, theirs = (np.stack([t.key, t.label.astype(np.uint64)], axis=1) for t in (self, other))
        theirs = theirs[_below(other.key, self.level[other.label])]
        pairs, at = np.unique(np.concatenate([mine, theirs]), axis=0, return_inverse=True)
        at = at.ravel()
        have, asked = (np.bincount(part, minlength=len(pairs)) for part in (at[: len(mine)], at[len(mine) :]))
        return int(np.minimum(have, asked).sum()), len(theirs)

    def is_consistent(self, d: int, n: np.ndarray) -> bool:
        """Whether it fits a tally of d words with n texts of each class; checked after loading from a file."""
        arrays = (self.key, self.label, self.start, self.word, self.level)
        if any(a.ndim != 1 or a.dtype != t for a, t in zip(arrays, ("u8", "i4", "i8", "i4", "i8"), strict=True)):
            return False
        m, k = len(self.word), len(n)
        if len(self.label) != len(self) or len(self.start) != len(self) + 1 or self.level.shape != (k,):
            return False
        if self.value.shape != (m,) or self.value.dtype.kind not in "uf" or not isinstance(self.whole, bool):
            return False
        if self.start[0] != 0 or self.start[-1] != m or (np.diff(self.start) < 0).any():
            return False
        inside = ((self.label >= 0) & (self.label < k)).all() and ((self.word >= 0) & (self.word < d)).all()
        if not inside or not np.isfinite(self.value).all() or (self.value <= 0).any():
            return False
        size, total = np.diff(self.start), np.add.reduceat(np.append(self.value, 0.0), self.start[:-1])
        same = self.key[1:] == self.key[:-1]
        if (np.diff(size)[same] != 0).any() or not np.allclose(np.diff(total * (size > 0))[same], 0.0):
            return False  # texts of one key are copies
        number = np.bincount(self.label, minlength=k)
        fine = ((self.level >= 0) & (self.level < 64)).all() and (number <= n).all()
        return bool(fine and ((number == n) | (self.level > 0)).all())

    def _thin(self, n: np.ndarray) -> KeptTexts:
        """With the level that so many texts of each class need."""
        if self.whole:
            return self
        with np.errstate(divide="ignore"):
            need = np.ceil(np.log2(np.asarray(n, dtype=np.float64) / limit(self.k)))
        level = np.maximum(self.level, np.maximum(need, 0)).astype(np.int64)
        return self if (level == self.level).all() else replace(self, level=level)._below_level()

    def _below_level(self) -> KeptTexts:
        keep = _below(self.key, self.level[self.label])
        return self if keep.all() else self._take(np.flatnonzero(keep))

    def _take(self, index: np.ndarray) -> KeptTexts:
        sizes = np.diff(self.start)[index]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        cells = np.arange(start[-1]) - np.repeat(start[:-1] - self.start[index], sizes)
        return replace(
            self, key=self.key[index], label=self.label[index], start=start, word=self.word[cells],
            value=_to_narrow_type(self.value[cells]),
        )  # fmt: skip


def raise_text_never_learned() -> NoReturn:
    raise ForgetError(
        "a text to forget was never learned, or is removed already; nothing was changed\n\n"
        "hint: forget only texts, with their labels, that went through fit or partial_fit"
    )


def limit(k: int) -> int:
    """How many texts of one of k classes a sample has, at most."""
    return max(FEWEST, MOST // max(k, 1))


def _below(key: np.ndarray, level: np.ndarray) -> np.ndarray:
    return (key >> (np.uint64(63) - level.astype(np.uint64))) < np.uint64(2)  # key < 2^(64 − level)


def _to_narrow_type(value: np.ndarray) -> np.ndarray:
    """Whole numbers in as few bytes as they need."""
    if (value != np.floor(value)).any():
        return value.astype(np.float64)
    most = value.max(initial=0)
    kind = next((t for t in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(t).max), np.float64)
    return value.astype(kind)


def mix_bits(x: np.ndarray) -> np.ndarray:
    """Every bit of the answer depends on every bit of x (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def text_keys(terms: Terms, X: sparse.csr_array) -> np.ndarray:
    """A hash of each text's words and their counts, (n,)."""
    sizes = np.diff(terms.offsets)
    power = np.cumprod(np.full(int(sizes.max(initial=0)) + 1, PRIME, dtype=np.uint64), dtype=np.uint64)
    place = np.arange(len(terms.letters)) - np.repeat(terms.offsets[:-1], sizes)
    letters = np.concatenate(
        [[np.uint64(0)], np.cumsum((terms.letters.astype(np.uint64) + np.uint64(1)) * power[place])]
    )
    spelt = mix_bits(letters[terms.offsets[1:]] - letters[terms.offsets[:-1]] + GOLDEN)
    whole = (X.data == np.floor(X.data)).all()
    counts = (
        X.data.astype(np.uint64) if whole else mix_bits(np.ascontiguousarray(X.data, dtype=np.float64).view(np.uint64))
    )
    cells = spelt[X.indices]
    cells *= counts
    total = np.concatenate([[np.uint64(0)], np.cumsum(cells, dtype=np.uint64)])
    return mix_bits(total[X.indptr[1:]] - total[X.indptr[:-1]] + GOLDEN)
