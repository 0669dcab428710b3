r"""How texts are analysed, and vocabularies, as values for the compiled reader.

`analyzer_spec` converts the settings of a vectorizer; it returns None where only Python supports them. A token pattern
is supported if it means "the longest runs of one set of characters, of at least so many": `\w\w+` with or without
`\b`, `\w{3,}`, `\S+`, `[a-z]+`, `[\w'-]+`.

>>> token_class(r"(?u)\b\w{3,}\b").least, token_class(r"[a-z]+").ascii[:3], token_class(r"\d\.\d")
(3, b'abc', None)

`Terms` hold a vocabulary as one array of UTF-8 with offsets: millions of terms are two arrays, and become strings only
where strings are needed.

>>> terms = Terms.from_strings(["ham", "spam"])
>>> terms.strings(), len(terms)
(['ham', 'spam'], 2)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from deciban import ops

ANALYZERS = {"word": 0, "char": 1, "char_wb": 2}
MOST_N = 64  # words or characters of an n-gram; more are left to Python
_OWN = ("build_analyzer", "build_preprocessor", "build_tokenizer", "decode", "_word_ngrams", "_char_ngrams")
_STEPS = (*_OWN, "_char_wb_ngrams", "_white_spaces")  # what a subclass may put in their place
_ATOM = r"(?:\\w|\\S|\[\^\\s\]|\[[^\]\[^\\]+\]|\[\\w[^\]\[^\\]*\])"
_RUN = re.compile(rf"(?P<atom>{_ATOM})(?P<again>(?P=atom))*(?:\+|\{{(?P<least>[1-9]\d{{0,3}}),\}})")
_WORDS = "".join(filter(str.isalnum, map(chr, range(128)))) + "_"


class NonAscii(IntEnum):
    """Which characters that are not ASCII are members."""

    NONE = 0
    WORDS = 1
    NO_SPACES = 2


@dataclass(frozen=True)
class TokenClass:
    """The longest runs of at least `least` characters of a set."""

    ascii: bytes
    beyond: NonAscii
    least: int


DEFAULT = TokenClass(_WORDS.encode(), NonAscii.WORDS, 2)


@dataclass(frozen=True)
class AnalyzerSpec:
    """All the compiled reader must know. `prepare` is what Python has to do to each text before."""

    analyzer: int
    min_n: int
    max_n: int
    run: TokenClass
    lower: bool
    stops: frozenset[str] = frozenset()
    prepare: Callable[[Any], str] | None = None

    def compiled(self) -> Any:
        run = self.run
        return ops.core().Analysis(
            self.analyzer, self.min_n, self.max_n, run.least, run.ascii, int(run.beyond), self.lower
        )


@lru_cache
def token_class(pattern: str) -> TokenClass | None:
    """The runs that `re.findall` with this pattern finds; None if it means anything else."""
    body = pattern.removeprefix("(?u)")
    core = body.removeprefix(r"\b").removesuffix(r"\b")
    found = _RUN.fullmatch(core)
    edges = core != body  # of a run of \w there is always an edge to either side; of other runs it is to be looked for
    if not found or (edges and found["atom"] != r"\w") or (found["again"] and found["least"]):
        return None
    members = _members(found["atom"])
    least = int(found["least"] or len(core.removesuffix("+")) // len(found["atom"]))
    return TokenClass(members[0].encode(), members[1], least) if members else None


def _members(atom: str) -> tuple[str, NonAscii] | None:
    if atom == r"\w":
        return _WORDS, NonAscii.WORDS
    if atom in (r"\S", r"[^\s]"):
        return "".join(c for c in map(chr, range(128)) if not c.isspace()), NonAscii.NO_SPACES
    inner = atom[1:-1]
    beyond = NonAscii.WORDS if inner.startswith(r"\w") else NonAscii.NONE
    inner = inner.removeprefix(r"\w")
    if not inner.isascii() or any(c <= " " for c in inner) or re.search(r"--|&&|~~|\|\|", inner):
        return None  # `re` warns of some of these; a blank would upset the order of n-grams
    try:
        listed = re.compile(f"[{inner}]") if inner else None
    except re.error:
        return None
    chosen = [c for c in map(chr, range(33, 128)) if (listed and listed.match(c)) or (beyond and c in _WORDS)]
    return "".join(chosen), beyond


def analyzer_spec(vectorizer: Any) -> AnalyzerSpec | None:
    """The specification of a vectoriser with scikit-learn's settings, or None."""
    v = vectorizer
    kind = v.analyzer if isinstance(v.analyzer, str) else None
    if ops.core() is None or kind not in ANALYZERS or _changed(v):
        return None
    try:
        low, high = v.ngram_range
        ok = isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= MOST_N
    except (TypeError, ValueError):
        ok = False
    runs: TokenClass | None = DEFAULT
    if kind == "word":
        ok = ok and v.tokenizer is None and isinstance(v.token_pattern, str)
        runs = token_class(v.token_pattern) if ok else None
    if not ok or runs is None or (high > 1 and kind == "word" and runs.beyond == NonAscii.NO_SPACES):
        return None  # characters below the blank may be part of \S: n-grams would not sort by their words
    v.build_analyzer()  # scikit-learn's own complaints, about stop words say
    prepared = v.preprocessor is not None or bool(v.strip_accents)
    stops = v.get_stop_words() if kind == "word" else None
    return AnalyzerSpec(
        ANALYZERS[kind],
        low,
        high,
        runs,
        bool(v.lowercase) and not prepared,
        frozenset(word for word in stops or () if isinstance(word, str)),
        v.build_preprocessor() if prepared else None,
    )


def _changed(v: Any) -> bool:
    """Whether a subclass, or the object itself, has a step of its own."""
    mine = vars(v)
    return any(getattr(type(v), step) is not getattr(CountVectorizer, step) or step in mine for step in _STEPS)


NO_COLUMN = np.uint32(0xFFFFFFFF)  # the column of what is not counted


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms in the order of their columns."""

    letters: np.ndarray  # UTF-8, uint8
    offsets: np.ndarray  # (n + 1,)
    order: np.ndarray | None = None  # from the commonest to the rarest, if known: looked up faster

    @classmethod
    def from_strings(cls, texts: Iterable[str]) -> Terms:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def strings(self) -> list[str]:
        if ops.core() is None:
            text, at = self.letters.tobytes(), self.offsets.tolist()
            return [text[i:j].decode("utf-8", "surrogatepass") for i, j in pairwise(at)]
        return ops.core().strings(self.letters, self.offsets)

    def columns(self) -> dict[str, int]:
        return dict(zip(self.strings(), range(len(self)), strict=True))


@dataclass(frozen=True, eq=False)
class CompiledVocabulary:
    """A vocabulary ready to be looked up by many threads. The workers of a look-up are kept for the next."""

    plan: AnalyzerSpec
    lexicon: Any
    column: np.ndarray  # of each number of the lexicon
    size: int
    workers: list = field(default_factory=list)


def stop_word_lexicon(plan: AnalyzerSpec) -> Any:
    """A lexicon that knows the stop words and nothing else."""
    lexicon = ops.core().Lexicon()
    if plan.stops:
        _learn(lexicon, Terms.from_strings(sorted(plan.stops)), None, plan, split=False)
    lexicon.stop()
    return lexicon


def compiled(plan: AnalyzerSpec, terms: Terms, column: np.ndarray | None = None) -> CompiledVocabulary:
    """`terms` as columns 0, 1, …, or as those given."""
    lexicon = stop_word_lexicon(plan)
    split = plan.analyzer == 0 and plan.max_n > 1
    return CompiledVocabulary(plan, lexicon, _learn(lexicon, terms, column, plan, split), len(terms))


def _learn(lexicon: Any, terms: Terms, column: np.ndarray | None, plan: AnalyzerSpec, split: bool) -> np.ndarray:
    where = np.arange(len(terms), dtype=np.uint32) if column is None else np.asarray(column, dtype=np.uint32)
    order = np.arange(len(terms), dtype=np.uint32) if terms.order is None else terms.order
    made = lexicon.learn(terms.letters, terms.offsets, where, order, split, plan.min_n, plan.max_n)
    return np.frombuffer(made, dtype=np.uint32)
