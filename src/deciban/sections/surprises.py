"""The rows that the model was most wrong about, and the evidence that misled it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from deciban.errors import DecibanError
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.page import Cell, Section, bar, paragraph, table
from deciban.wording import Account, chance, short, signed

COLUMNS = 8
CHARACTERS = 700  # of a text that are shown


def section(facts: Facts, found: Findings) -> Section | None:
    known = facts.known[facts.y] & facts.judged
    surprise = np.where(known, -facts.log_proba[np.arange(facts.n), facts.y], -1.0)
    order = np.argsort(-surprise, kind="stable")[: facts.rows]
    order = order[surprise[order] > 0]
    if not len(order) or len(facts.model.classes_) < 2:
        return None
    lead = paragraph(
        "Decibans of evidence for the right class against the one that the model likes best beside it: 10 are odds of "
        "10 : 1, negative ones speak against it. Look here for wrong labels, odd cells and what the model lacks."
    )
    try:
        accounts = _accounts(facts, order)
    except (AttributeError, DecibanError):  # not one of ours, or too many columns
        return Section("Most surprising rows", _plain(facts, order))
    return Section(
        "Most surprising rows",
        lead + "".join(_told(facts, i, account, above) for i, (account, above) in zip(order, accounts, strict=True)),
    )


def _accounts(facts: Facts, order: np.ndarray) -> list[tuple[Account, str]]:
    """What is said about each row, and what is to be seen of it first."""
    labels = facts.classes[facts.y[order]]
    if facts.texts is not None:
        alone = [facts.explain(order[i : i + 1], labels[i]) for i in range(len(order))]
        return [(why.account(0, COLUMNS), _quoted(why)) for why in alone]
    why = facts.explain(order, labels)
    return [(why.account(i, COLUMNS), "") for i in range(len(order))]


def _quoted(why: Any) -> str:
    """The beginning of a text, its words shaded by what they say."""
    cut = replace(why, texts=(short(why.texts[0], CHARACTERS),))
    return f"<blockquote>{cut.shaded()}</blockquote>"


def _told(facts: Facts, row: int, account: Account, above: str) -> str:
    lines = [
        [short(line.name, 60), line.value, signed(line.decibans).replace("-", "−"), bar(_share(line.decibans, account))]
        for line in account.lines
    ]
    foot = ["total", "", signed(account.total).replace("-", "−"), account.verdict]
    p = facts.proba[row, facts.y[row]]
    title = account.title + (f"; P = {chance(p, 1 - p)} by the model without it" if facts.anew else "")
    of = ["column", "value"] if facts.texts is None else ["word", "times"]
    return above + table(title, [*of, "decibans", Cell("against ← → for", "middle")], lines, foot)


def _share(decibans: float, account: Account) -> float:
    return 0.0 if np.isnan(decibans) else float(np.clip(decibans / account.largest, -1, 1))


def _plain(facts: Facts, order: np.ndarray) -> str:
    rows = []
    for place, i in enumerate(order):
        p, q = facts.proba[i, facts.y[i]], facts.proba[i, facts.predicted[i]]
        said = short(facts.names[facts.predicted[i]], 40)
        rows.append(
            [
                short(f"row {facts.named_rows(order)[place]}", 60),
                short(facts.names[facts.y[i]], 40),
                chance(p, 1 - p),
                said,
                chance(q, 1 - q),
            ]
        )
    return table("Rows", ["row", "true class", "its probability", "predicted", "its probability"], rows)
