"""The rows that the model was most wrong about, and the evidence that misled it."""

from __future__ import annotations

import numpy as np

from deciban.errors import DecibanError
from deciban.facts import Facts
from deciban.findings import Findings
from deciban.page import Cell, Section, bar, paragraph, table
from deciban.wording import Account, chance, short, signed

COLUMNS = 8


def section(facts: Facts, found: Findings) -> Section | None:
    known = facts.known[facts.y]
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
        lead + "".join(_told(facts, i, account) for i, account in zip(order, accounts, strict=True)),
    )


def _accounts(facts: Facts, order: np.ndarray) -> list[Account]:
    why = facts.explain(order, facts.classes[facts.y[order]])
    return [why.account(i, COLUMNS) for i in range(len(order))]


def _told(facts: Facts, row: int, account: Account) -> str:
    lines = [
        [short(line.name, 60), line.value, signed(line.decibans).replace("-", "−"), bar(_share(line.decibans, account))]
        for line in account.lines
    ]
    foot = ["total", "", signed(account.total).replace("-", "−"), account.verdict]
    p = facts.proba[row, facts.y[row]]
    title = account.title + (f"; P = {chance(p, 1 - p)} by the model without it" if facts.anew else "")
    return table(title, ["column", "value", "decibans", Cell("against ← → for", "middle")], lines, foot)


def _share(decibans: float, account: Account) -> float:
    return 0.0 if np.isnan(decibans) else float(np.clip(decibans / account.largest, -1, 1))


def _plain(facts: Facts, order: np.ndarray) -> str:
    rows = []
    for i in order:
        p, q = facts.proba[i, facts.y[i]], facts.proba[i, facts.predicted[i]]
        said = short(facts.names[facts.predicted[i]], 40)
        rows.append([f"row {i}", short(facts.names[facts.y[i]], 40), chance(p, 1 - p), said, chance(q, 1 - q)])
    return table("Rows", ["row", "true class", "its probability", "predicted", "its probability"], rows)
