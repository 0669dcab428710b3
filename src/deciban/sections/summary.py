"""At a glance: the main numbers as tiles, and all warnings."""

from __future__ import annotations

from html import escape

from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.page import Section, bullets, coded, paragraph

SHOWN = ("accuracy", "log loss", "area under ROC", "calibration error")


def section(facts: Facts, found: Findings) -> Section:
    tiles = [("rows judged", f"{facts.n:,}", f"{len(facts.classes)} classes, {facts.d:,} {facts.what}")]
    for name in SHOWN:
        if name in found.measures:
            e = found.measures[name]
            tiles.append((name, f"{e.value:.3f}", f"{e.low:.3f} – {e.high:.3f}"))
    body = "".join(
        f"<div><dt>{escape(name)}</dt><dd><strong>{escape(value)}</strong><small>{escape(more)}</small></dd></div>"
        for name, value, more in tiles
    )
    warned = (
        bullets([coded(told) for told in found.doubts], "warnings")
        if found.doubts
        else paragraph("Nothing to warn of was found.")
    )
    return Section("Summary", f'<dl class="tiles">{body}</dl>{paragraph(facts.how)}<h3>Warnings</h3>{warned}')
