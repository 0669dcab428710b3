"""Explanations of texts: an `Explanation` whose columns are words, and the text with its words shaded by evidence.

>>> from deciban import TextClassifier
>>> model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
>>> why = model.explain("Win lunch, win!")
>>> [(text[a:b], round(decibans, 1)) for text in why.texts for a, b, decibans in why.spans()]
[('Win', 1.7), ('lunch', -2.4), ('win', 1.7)]

`top_word_evidence`: the words with the strongest evidence for each class, each scored as a text of one word.

    decibans of a word for a class = log odds of the class given that word alone − its prior log odds

>>> from deciban import TextClassifier
>>> model = TextClassifier().fit(["win a prize", "lunch at noon", "a prize"], ["spam", "ham", "spam"])
>>> [(one.word, one.decibans > 0, one.own, one.others) for one in top_word_evidence(model, 1)["spam"]]
[('prize', True, 2, 0)]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import display
from deciban.explain.explanation import Explanation

Locate = Callable[[str], Iterator[tuple[str, list[tuple[int, int]]]]]  # text → (term, spans of its members)


@dataclass(frozen=True, repr=False, eq=False)
class TextExplanation(Explanation):
    """Prior and words → decibans, for every text and any pair of classes; in a notebook, with the words shaded.

    >>> from deciban import TextClassifier
    >>> model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    >>> "<mark" in model.explain("win lunch").to_html()
    True
    """

    texts: tuple[str, ...] = ()
    locate: Locate | None = None
    _kind = "words"

    def account(self, row: int = 0, columns: int = 10) -> display.EvidenceTable:
        """One text for reading: the prior, its strongest words, the sum of its others, the total."""
        own = self._own_columns(row)
        names = tuple(self.columns[j] for j in own)
        here = replace(self, columns=names, values=self.values[:, own], parts=self.parts[:, :, own])
        return Explanation.account(here, row, columns)

    def _own_columns(self, row: int) -> list[int]:
        return np.flatnonzero(self.values[row] != "").tolist()

    def __getitem__(self, index: Any) -> Any:
        out = super().__getitem__(index)
        at = np.atleast_1d(np.arange(len(self))[index])
        object.__setattr__(out, "texts", tuple(self.texts[i] for i in at))
        return out

    def spans(self, row: int = 0) -> list[tuple[int, int, float]]:
        """(start, stop, decibans) of the parts of a text with evidence. The evidence of a word is divided equally among
        its occurrences, that of an n-gram among its members."""
        if self.locate is None:
            return []
        evidence = dict(zip(self.columns, self.decibans[row].tolist(), strict=True))
        found = [(term, parts) for term, parts in self.locate(self.texts[row]) if term in evidence]
        times = Counter(term for term, _ in found)
        total: dict[tuple[int, int], float] = {}
        for term, parts in found:
            for part in parts:
                total[part] = total.get(part, 0.0) + evidence[term] / times[term] / len(parts)
        return [(start, stop, decibans) for (start, stop), decibans in sorted(total.items())]

    def segments(self, row: int = 0) -> list[tuple[str, float | None]]:
        """A text in pieces, (piece, decibans): those of `spans`, and what lies between them, which has no decibans.

        >>> from deciban import TextClassifier
        >>> model = TextClassifier().fit(["win a prize", "lunch at noon"], ["spam", "ham"])
        >>> [piece for piece, decibans in model.explain("Win, win!").segments() if decibans is None]
        [', ', '!']
        """
        text, out, at = self.texts[row], [], 0
        for start, stop, decibans in self.spans(row):
            out += [(text[at:start], None), (text[start:stop], decibans)]
            at = stop
        return [(piece, decibans) for piece, decibans in [*out, (text[at:], None)] if piece]

    def shaded(self, row: int = 0) -> str:
        """One text as HTML, its words shaded by evidence: for the class explained, or against it."""
        return "".join(
            display.escape(piece)
            if decibans is None
            else f'<mark style="background:{_shade(decibans, share)};color:inherit" '
            f'title="{display.format_decibans(decibans)}">{display.escape(piece)}</mark>'
            for piece, decibans, share in with_shares(self.segments(row))
        )

    def to_html(self, rows: int = 3, words: int = 10) -> str:
        """The first texts with their words shaded, each with a table of its strongest words."""
        box = "white-space:pre-wrap;border-left:3px solid #888;padding:4px 8px;margin:0 0 0.5em"
        parts = [
            f'<div style="{box}">{self.shaded(row)}</div>{self.account(row, words).table().to_html()}'
            for row in range(min(rows, len(self)))
        ]
        return "".join([*parts, *(f"<p>{display.escape(line)}</p>" for line in self._ends(rows))])

    def _repr_html_(self) -> str:
        return self.to_html()


def with_shares(segments: list[tuple[str, float | None]]) -> list[tuple[str, float | None, float]]:
    """Segments with the size of each one's evidence as a share of the largest, 0 … 1.

    >>> with_shares([("win", 4.0), (" ", None), ("lunch", -1.0)])
    [('win', 4.0, 1.0), (' ', None, 0.0), ('lunch', -1.0, 0.25)]
    """
    sizes = [abs(decibans) for _, decibans in segments if decibans is not None and np.isfinite(decibans)]
    largest = max(sizes, default=0.0) or 1.0
    return [
        (piece, decibans, 0.0 if decibans is None else abs(display.bar_share(decibans, largest)))
        for piece, decibans in segments
    ]


def _shade(decibans: float, share: float) -> str:
    """The colour of evidence for or against, transparent where there is little of it."""
    return f"{display.POSITIVE if decibans > 0 else display.NEGATIVE}{round(200 * share):02x}"


def locator(vectorizer: Any) -> Locate:
    """A function that finds the terms of a vectorizer in a text."""
    low, high = vectorizer.ngram_range
    if vectorizer.analyzer == "word" and vectorizer.tokenizer is None:
        return lambda text: _words(_lowered(text, vectorizer), re.compile(vectorizer.token_pattern), low, high)
    if vectorizer.analyzer in ("char", "char_wb"):
        return lambda text: _characters(_lowered(text, vectorizer), low, high, vectorizer.analyzer == "char_wb")
    return lambda text: iter(())


def _lowered(text: str, vectorizer: Any) -> str:
    small = text.lower() if vectorizer.lowercase else text
    return small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _words(text: str, pattern: re.Pattern, low: int, high: int) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    found = [(match.span(), match.group()) for match in pattern.finditer(text)]
    for n in range(low, high + 1):
        for i in range(len(found) - n + 1):
            yield " ".join(word for _, word in found[i : i + n]), [span for span, _ in found[i : i + n]]


def _characters(text: str, low: int, high: int, inside: bool) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    for run in re.finditer(r"\S+" if inside else r"(?s).+", text):
        word, start = (f" {run.group()} ", run.start() - 1) if inside else (run.group(), run.start())
        for n in range(low, high + 1):
            for i in range(max(len(word) - n, 0) + 1):
                places = np.clip(np.arange(start + i, start + min(i + n, len(word))), run.start(), run.end() - 1)
                yield word[i : i + n], [(p, p + 1) for p in dict.fromkeys(places.tolist())]  # edges belong to letters
            if n >= len(word):
                break


@dataclass(frozen=True)
class WordEvidence:
    """A word, its evidence for a class, and how many texts of the class and of the others contain it."""

    word: str
    decibans: float
    own: int
    others: int


def top_word_evidence(model: Any, most: int) -> dict[Any, list[WordEvidence]]:
    """The words with the strongest evidence for each class; none where there is one class."""
    labels = model.classes_.tolist()
    if len(labels) < 2:
        return {label: [] for label in labels}
    view = model._view()
    place = {word: j for j, word in enumerate(view.vocabulary())}
    out = {}
    for c, (label, top) in enumerate(model.top_words(most).items()):
        words = [word for word, _ in top]
        evidence = np.asarray(model.decibans([*words, ""]))[:, c]
        at = np.array([place[word] for word in words], dtype=np.int64)
        texts = view.words.sparse_table(view.words.rows).columns(at).toarray().T
        found = [
            WordEvidence(
                word, float(evidence[i] - evidence[-1]), round(texts[i, c]), round(texts[i].sum() - texts[i, c])
            )
            for i, word in enumerate(words)
        ]
        out[label] = sorted(found, key=lambda one: -one.decibans)
    return out
