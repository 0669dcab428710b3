"""Terms as one stretch of UTF-8 with offsets: a vocabulary of millions is two arrays, and strings only when asked for.

>>> terms = Terms.of(["ham", "spam"])
>>> terms.strings(), len(terms)
(['ham', 'spam'], 2)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from deciban import ops
from deciban.text.tokens import Plan

NOTHING = np.uint32(0xFFFFFFFF)  # the column of what is not counted


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms in the order of their columns."""

    letters: np.ndarray  # UTF-8, uint8
    offsets: np.ndarray  # (n + 1,)
    order: np.ndarray | None = None  # from the commonest to the rarest, if known: looked up faster

    @classmethod
    def of(cls, texts: Iterable[str]) -> Terms:
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
class Compiled:
    """A vocabulary ready to be looked up by many threads. Desks, which a look-up needs, are kept for the next."""

    plan: Plan
    lexicon: Any
    column: np.ndarray  # of each number of the lexicon
    size: int
    desks: list = field(default_factory=list)


def stopped(plan: Plan) -> Any:
    """A lexicon that knows the stop words and nothing else."""
    lexicon = ops.core().Lexicon()
    if plan.stops:
        _learn(lexicon, Terms.of(sorted(plan.stops)), None, plan, split=False)
    lexicon.stop()
    return lexicon


def compiled(plan: Plan, terms: Terms, column: np.ndarray | None = None) -> Compiled:
    """`terms` as columns 0, 1, …, or as those given."""
    lexicon = stopped(plan)
    split = plan.analyzer == 0 and plan.max_n > 1
    return Compiled(plan, lexicon, _learn(lexicon, terms, column, plan, split), len(terms))


def _learn(lexicon: Any, terms: Terms, column: np.ndarray | None, plan: Plan, split: bool) -> np.ndarray:
    where = np.arange(len(terms), dtype=np.uint32) if column is None else np.asarray(column, dtype=np.uint32)
    order = np.arange(len(terms), dtype=np.uint32) if terms.order is None else terms.order
    made = lexicon.learn(terms.letters, terms.offsets, where, order, split, plan.min_n, plan.max_n)
    return np.frombuffer(made, dtype=np.uint32)
