"""What the texts are: how many, how long, how many of them empty or there twice."""

from __future__ import annotations

import numpy as np

from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.page import Section, paragraph, table
from deciban.wording import short

COMMON = 15  # words that are listed


def section(facts: Facts, found: Findings) -> Section:
    assert facts.texts is not None
    letters = np.array([len(text) for text in facts.texts])
    words = np.asarray(facts.words.sum(axis=1)).ravel()
    empty = sum(not text.strip() for text in facts.texts)
    twice = facts.n - len(set(facts.texts))
    told = paragraph(
        f"{facts.n:,} texts; {empty:,} are empty, {twice:,} are copies of another. The model knows {facts.d:,} words."
    )
    lines = [_line("all", letters, words, facts.n)]
    for c, name in enumerate(facts.names):
        mine = facts.y == c
        lines.append(_line(short(name, 60), letters[mine], words[mine], facts.n))
    head = ["class", "texts", "share", "words: least", "median", "most", "characters: median", "most"]
    note = paragraph("Words are those that the model knows.").replace("<p>", '<p class="note">')
    return Section("Data", told + table("Texts", head, lines) + note + _commonest(facts))


def _line(name: str, letters: np.ndarray, words: np.ndarray, n: int) -> list[str]:
    first = [name, f"{len(words):,}", f"{100 * len(words) / n:.1f} %"]
    if not len(words):
        return [*first, *"–––––"]
    numbers = [words.min(), np.median(words), words.max(), np.median(letters), letters.max()]
    return [*first, *(f"{number:,.0f}" for number in numbers)]


def _commonest(facts: Facts) -> str:
    there = np.bincount(facts.words.indices[facts.words.data > 0], minlength=facts.d)
    order = [j for j in np.argsort(-there, kind="stable")[:COMMON] if there[j]]
    vocabulary = facts.model.vocabulary_
    lines = [[short(vocabulary[j], 40), f"{there[j]:,}", f"{100 * there[j] / facts.n:.1f} %"] for j in order]
    return table("Commonest words", ["word", "texts", "share"], lines) if lines else ""
