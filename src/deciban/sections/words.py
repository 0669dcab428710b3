"""What a model of texts believes: for each class the words that speak loudest for it."""

from __future__ import annotations

from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.loud_words import Loud, loudest
from deciban.reports.page import Cell, Section, bar, paragraph, table
from deciban.wording import short, signed

WORDS = 12
CLASSES = 12  # that are told about


def section(facts: Facts, found: Findings) -> Section | None:
    said = {label: words for label, words in loudest(facts.model, WORDS).items() if words}
    if not said:
        return None
    largest = max(abs(one.decibans) for words in said.values() for one in words) or 1.0
    tables = [_of_class(str(label), words, largest) for label, words in list(said.items())[:CLASSES]]
    lead = paragraph(
        "Words that tell each class from the rest, with what each says as a text by itself, and in how many training "
        "texts it was."
    )
    left = len(said) - CLASSES
    more = paragraph(f"{left} more classes are not listed.") if left > 0 else ""
    return Section("What it believes", lead + f'<div class="pair">{"".join(tables)}</div>' + more)


def _of_class(name: str, words: list[Loud], largest: float) -> str:
    lines = [
        [
            short(one.word, 40),
            f"{one.own:,}",
            f"{one.others:,}",
            signed(one.decibans).replace("-", "−"),
            bar(one.decibans / largest),
        ]
        for one in words
    ]
    head = ["word", "texts", "other texts", "decibans", Cell("for →", "middle")]
    return table(f"Words for {short(name, 60)}", head, lines)
