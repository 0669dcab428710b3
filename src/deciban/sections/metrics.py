"""How good the answers are, each number with its 95 % interval, beside one who knows the class shares alone."""

from __future__ import annotations

from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.measuring import by_class, by_shares
from deciban.reports.page import Cell, Section, paragraph, table
from deciban.uncertainty import Estimate
from deciban.wording import short

MEANING = {
    "accuracy": "share of rows whose most probable class is right",
    "balanced accuracy": "the same, averaged over the classes",
    "log loss": "mean surprise at the right class, in nats; less is better",
    "Brier score": "mean squared error of all probabilities, 0 … 2; less is better",
    "calibration error": "how far confidence is from being right; less is better",
    "area under ROC": "probability that a row of the second class ranks above one of the first",
}


def section(facts: Facts, found: Findings) -> Section:
    base = by_shares(facts)
    rows = [
        [name, f"{e.value:.4f}", _between(e), f"{base[name]:.4f}" if name in base else "–", Cell(MEANING[name], "text")]
        for name, e in found.measures.items()
    ]
    whole = table(
        "All rows", ["measure", "value", "95 % interval", "class shares alone", Cell("meaning", "text")], rows
    )
    each = table(
        "Class by class",
        ["class", "rows", "recall", "95 % interval", "precision", "95 % interval"],
        [
            [short(name, 60), f"{n:,}", _value(recall), _between(recall), _value(precision), _between(precision)]
            for name, n, recall, precision in by_class(facts)
        ],
    )
    note = paragraph(
        "Intervals: Wilson's for shares, mean ± 1.96 standard errors for losses, DeLong's for the area, "
        "rows drawn again for the calibration error. Recall is the share of a class that was found, precision the "
        "share of what was called so that is."
    )
    return Section("How good it is", whole + each + note.replace("<p>", '<p class="note">'))


def _value(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.value:.3f}"


def _between(e: Estimate) -> str:
    return "–" if e.value != e.value else f"{e.low:.3f} – {e.high:.3f}"
