"""What the rows are: every column's kind, gaps, range or levels."""

from __future__ import annotations

from collections import Counter

import numpy as np

from deciban import frames
from deciban.reports.facts import Facts
from deciban.reports.findings import Findings
from deciban.reports.page import Cell, Section, paragraph, table
from deciban.wording import short

MOST = 60  # columns that are listed


def section(facts: Facts, found: Findings) -> Section:
    share = np.bincount(facts.y, minlength=len(facts.classes)) / facts.n
    classes = table(
        "Classes",
        ["class", "rows", "share"],
        [
            [short(name, 60), f"{s * facts.n:,.0f}", f"{100 * s:.1f} %"]
            for name, s in zip(facts.names, share, strict=True)
        ],
    )
    if facts.columns is None:
        cells = facts.n * facts.d
        body = paragraph(
            f"{facts.n:,} rows of {facts.d:,} columns, sparse: {facts.X.nnz:,} cells are not 0 "
            f"({100 * facts.X.nnz / cells:.2g} %), {facts.X.nnz / facts.n:.1f} a row."
        )
        return Section("Data", body + classes)
    gaps = [_gone(column) for column in facts.columns]
    whole = sum(g.sum() for g in gaps)
    rows = np.logical_or.reduce(gaps)
    told = (
        f"{whole:,} of {facts.n * facts.d:,} cells are missing ({100 * whole / max(facts.n * facts.d, 1):.2g} %), "
        f"in {rows.sum():,} rows."
        if whole
        else "No cell is missing."
    )
    lines = [_line(facts, column, gone) for column, gone in zip(facts.columns[:MOST], gaps, strict=False)]
    head = ["column", "kind", "missing", "distinct", Cell("values", "text")]
    more = facts.d - MOST
    left = paragraph(f"{more:,} more columns are not listed.") if more > 0 else ""
    return Section("Data", paragraph(told) + table("Columns", head, lines) + left + classes)


def _gone(column: frames.Column) -> np.ndarray:
    return np.isnan(column.values) if column.levels is None else column.values < 0


def _line(facts: Facts, column: frames.Column, gone: np.ndarray) -> list:
    there, name = column.values[~gone], short(facts.column_name(column), 60)
    count = int(gone.sum())
    missing = f"{count:,} ({100 * gone.mean():.1f} %)" if count else "–"
    if column.levels is None:
        low, middle, high = np.quantile(there, [0.0, 0.5, 1.0]) if len(there) else (np.nan,) * 3
        told = f"{low:.4g} … {middle:.4g} … {high:.4g}" if len(there) else "none"
        return [name, "number", missing, f"{len(np.unique(there)):,}", Cell(told, "text")]
    seen = Counter(there.tolist()).most_common(3)
    told = ", ".join(f"{short(str(column.levels[code]), 20)} {100 * times / len(there):.0f} %" for code, times in seen)
    distinct = len(np.unique(there))
    return [name, "levels", missing, f"{distinct:,}", Cell(told + ", …" * (distinct > 3), "text")]
