"""Which classes are taken for which."""

from __future__ import annotations

import numpy as np

from deciban import scores
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.page import Cell, Section, paragraph, table
from deciban.wording import short

SQUARE = 20  # classes up to which all pairs are shown
BOTH = 8  # up to which a share stands beside each count
PAIRS = 12  # of which the commonest mistakes are shown else


def section(facts: Facts, found: Findings) -> Section:
    k = len(facts.classes)
    counts = scores.confusion(facts.y, facts.predicted, k)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    body = _square(facts, counts, share) if k <= SQUARE else ""
    wrong = [(i, j) for i in range(k) for j in range(k) if i != j and counts[i, j]]
    wrong.sort(key=lambda pair: -counts[pair])
    if k > 2 and wrong:
        lines = [
            [
                f"{short(facts.names[i], 40)} → {short(facts.names[j], 40)}",
                f"{counts[i, j]:,.0f}",
                f"{100 * share[i, j]:.1f} %",
            ]
            for i, j in wrong[:PAIRS]
        ]
        body += table("Commonest mistakes", ["true class → predicted", "rows", "of the true class"], lines)
    if not wrong:
        body += paragraph("No row is taken for another class.")
    return Section("Confusion", body)


def _cell(count: float, share: float, k: int) -> str:
    return f"{count:,.0f} ({100 * share:.0f} %)" if count and k <= BOTH else f"{count:,.0f}"


def _square(facts: Facts, counts: np.ndarray, share: np.ndarray) -> str:
    rows = []
    for i, name in enumerate(facts.names):
        cells = [
            Cell(_cell(counts[i, j], share[i, j], len(share)), "shade right" if i == j else "shade", share[i, j])
            for j in range(len(facts.names))
        ]
        rows.append([short(name, 40), *cells])
    head = ["true ↓ predicted →", *(short(name, 16) for name in facts.names)]
    return table("True and predicted classes", head, rows)
