"""Whether probabilities mean what they say, and how they rank the rows."""

from __future__ import annotations

from deciban import plots
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.inline_svg import inline
from deciban.reports.page import Section, figure, paragraph
from deciban.uncertainty import Estimate

SURE = 0.02  # calibration error up to which confidence is as good as accuracy, and difference that is worth a word
CURVES = 7  # classes up to which each has a ROC curve


def section(facts: Facts, found: Findings) -> Section:
    confidence, right = float(facts.proba[facts.judged].max(axis=1).mean()), found.measures["accuracy"].value
    e = found.measures["calibration error"]
    told = paragraph(
        f"On average the model gives its choice a probability of {confidence:.3f}, and is right in {right:.3f}. "
        f"The calibration error is {e.value:.3f} ({e.low:.3f} – {e.high:.3f}): {verdict(confidence - right, e)}."
    )
    labels = facts.classes[facts.y]

    def reliable(fig) -> None:
        plots.reliability(labels, facts.proba, fig.subplots(), classes=facts.classes)

    def ranked(fig) -> None:
        plots.roc(labels, facts.proba, fig.subplots(), classes=facts.classes)

    pictures = figure(
        inline(reliable, 4.4, 4.2, f"Reliability diagram: calibration error {e.value:.3f}", "picture-reliability"),
        "Points on the dashed line are calibrated: what is given 70 % happens in 70 %. Grey columns: how many rows.",
    )
    if len(facts.classes) <= CURVES:
        pictures += figure(
            inline(ranked, 4.4, 4.2, "ROC curves, each class against the rest", "picture-roc"),
            "Hits over false alarms, for every threshold; the dashed line is guessing.",
        )
    return Section("Reliability", told + f'<div class="pair">{pictures}</div>')


def verdict(gap: float, error: Estimate) -> str:
    """Whether probabilities can be taken at their word, by the calibration error and its interval; `gap` is mean
    confidence less accuracy.

    >>> verdict(0.0, Estimate(0.077, 0.05, 0.10))
    'it is too sure of some rows and not sure enough of others'
    >>> verdict(0.0, Estimate(0.01, 0.0, 0.02)), verdict(0.0, Estimate(0.03, 0.0, 0.06))
    ('it is about as sure as it is right', 'these rows are too few to say whether it is as sure as it is right')
    """
    if error.high <= 2 * SURE:
        return "it is about as sure as it is right"
    if error.low <= SURE:
        return "these rows are too few to say whether it is as sure as it is right"
    if abs(gap) < SURE:
        return "it is too sure of some rows and not sure enough of others"
    return "it is too sure of itself" if gap > 0 else "it is not sure enough"
