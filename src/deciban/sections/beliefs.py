"""What the model believes: a nomogram of two classes, and for each class the columns that speak for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import frames, plots
from deciban.errors import DecibanError
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.inline_svg import inline
from deciban.reports.page import Cell, Section, bar, figure, paragraph, table
from deciban.wording import cell_text, short

CELLS = 20_000_000  # numbers that explanations of a class may take
ROWS = 500  # of a class that are looked at, at most
COLUMNS = 8
CLASSES = 12  # that are told about
SCALES = 12
LEVELS = 10  # of a scale


def section(facts: Facts, found: Findings) -> Section | None:
    try:
        body = _nomogram(facts) + _evidence(facts)
    except (AttributeError, DecibanError):  # not one of ours, or columns that cannot be told apart
        return None
    return Section("What it believes", body) if body else None


def _nomogram(facts: Facts) -> str:
    model = facts.model
    if len(model.classes_) != 2 or not model._splits() or facts.d > 1000:
        return ""
    of, against = model.classes_[1], model.classes_[0]

    def draw(fig: Any) -> None:
        plots.nomogram(model, columns=SCALES, values=_commonest(facts), names=facts.called, ax=fig.subplots())

    told = f"Nomogram: the decibans that each value of the strongest columns adds for {of} against {against}"
    high = 2.4 + 0.52 * min(facts.d, SCALES)
    svg = inline(draw, 7.6, high, told, "picture-nomogram")
    how = (
        "Find a row's cells on the scales, read their decibans off the ruler on top, add them up, and find the sum "
        "on the ruler at the bottom: its probability stands below it."
    )
    return figure(svg, how)


def _commonest(facts: Facts) -> dict[str, np.ndarray]:
    """Of columns with many levels, the commonest: a scale with a thousand names is read by nobody."""
    out = {}
    for column in facts.columns or []:
        if column.levels is not None and len(column.levels) > LEVELS:
            seen = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
            first = np.argsort(-seen, kind="stable")[:LEVELS]
            out[facts.column_name(column)] = np.array([*(column.levels[i] for i in first), None], dtype=object)[:-1]
    return out


def _evidence(facts: Facts) -> str:
    """For each class, the columns that speak loudest for its rows."""
    size = len(facts.model.classes_) * facts.d
    rows = min(ROWS, CELLS // max(size, 1))
    if rows < 10:
        return paragraph(f"{facts.d:,} columns are too many to be listed one by one.")
    rng = np.random.default_rng(facts.seed)
    if not facts.model._splits():
        return _together(facts, rows, rng)
    out = []
    for c in np.flatnonzero(facts.known)[:CLASSES]:
        mine = np.flatnonzero(facts.y == c)
        if len(mine):
            some = np.sort(rng.permutation(mine)[:rows])
            out.append(_of_class(facts, c, some))
    left = int(facts.known.sum()) - CLASSES
    more = paragraph(f"{left} more classes are not listed.") if left > 0 else ""
    lead = paragraph(
        "Mean evidence of each column for the right class against its closest rival, over rows of the class. "
        "A negative number means that the column misleads more than it helps."
    )
    return lead + "".join(out) + more


def _together(facts: Facts, rows: int, rng: np.random.Generator) -> str:
    """Where columns interact, what they say together."""
    mean = {}
    for c in np.flatnonzero(facts.known & (np.bincount(facts.y, minlength=len(facts.known)) > 0)):
        some = np.sort(rng.permutation(np.flatnonzero(facts.y == c))[:rows])
        mean[facts.names[c]] = float(np.clip(facts.explain(some, facts.classes[c]).decibans, -100, 100).mean())
    largest = max([abs(value) for value in mean.values()], default=0.0) or 1.0
    lines = [[short(name, 60), f"{v:+.1f}".replace("-", "−"), bar(v / largest)] for name, v in mean.items()]
    told = paragraph("Columns of this model interact, so none has evidence of its own: this is what all say together.")
    return told + table("Evidence for the right class", ["class", "decibans", Cell("against ← → for", "middle")], lines)


def _of_class(facts: Facts, c: int, some: np.ndarray) -> str:
    why = facts.explain(some, facts.classes[c])
    evidence = np.clip(np.nan_to_num(why.decibans, nan=0.0), -100.0, 100.0).mean(axis=0)
    order = np.argsort(-np.abs(evidence), kind="stable")[:COLUMNS]
    largest = max(float(np.abs(evidence).max(initial=0.0)), 1e-9)
    lines = [
        [
            short(why.columns[j], 60),
            _typical(why.values[:, j]),
            f"{evidence[j]:+.1f}".replace("-", "−"),
            bar(evidence[j] / largest),
        ]
        for j in order
    ]
    name = f"Evidence for {short(facts.names[c], 60)}"
    return table(name, ["column", "typical cell", "decibans", Cell("against ← → for", "middle")], lines)


def _typical(cells: np.ndarray) -> str:
    """The median of numbers, the commonest of levels."""
    column = frames.from_objects("", np.asarray(cells, dtype=object)) if cells.dtype == object else None
    if column is None or column.levels is None:
        values = np.asarray(cells if column is None else column.values, dtype=np.float64)
        values = values[~np.isnan(values)]
        return cell_text(float(np.median(values))) if len(values) else "missing"
    seen = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    if not seen.any():
        return "missing"
    return cell_text(column.levels[int(seen.argmax())]) if seen.max() > 1 else "(all differ)"
