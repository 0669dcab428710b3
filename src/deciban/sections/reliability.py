"""Whether probabilities mean what they say, and how they rank the rows."""

from __future__ import annotations

from deciban import plots
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.inline_svg import inline
from deciban.reports.page import Section, figure, paragraph

SURE = 0.02  # difference of confidence and accuracy that is worth a word
CURVES = 7  # classes up to which each has a ROC curve


def section(facts: Facts, found: Findings) -> Section:
    confidence, right = float(facts.proba.max(axis=1).mean()), found.measures["accuracy"].value
    gap = confidence - right
    verdict = "about as sure as it is right" if abs(gap) < SURE else "too sure of itself" if gap > 0 else "too modest"
    told = paragraph(
        f"On average the model gives its choice a probability of {confidence:.3f}, and is right in {right:.3f}: "
        f"it is {verdict}."
    )
    labels = facts.classes[facts.y]

    def reliable(fig) -> None:
        plots.reliability(labels, facts.proba, fig.subplots(), classes=facts.classes)

    def ranked(fig) -> None:
        plots.roc(labels, facts.proba, fig.subplots(), classes=facts.classes)

    e = found.measures["calibration error"]
    pictures = figure(
        inline(reliable, 4.4, 4.2, f"Reliability diagram: calibration error {e.value:.3f}", "picture-reliability"),
        "Points on the dashed line are honest: what is given 70 % happens in 70 %. Grey columns: how many rows.",
    )
    if len(facts.classes) <= CURVES:
        pictures += figure(
            inline(ranked, 4.4, 4.2, "ROC curves, each class against the rest", "picture-roc"),
            "Hits over false alarms, for every threshold; the dashed line is guessing.",
        )
    return Section("Reliability", told + f'<div class="pair">{pictures}</div>')
