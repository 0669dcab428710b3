"""A model and some rows as one page of HTML: how good it is, what it believes, where it is wrong, what to doubt."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from importlib.metadata import version
from typing import Any

from deciban.display import format_list, truncate
from deciban.io import atomic
from deciban.reports import sections
from deciban.reports.checks import Findings
from deciban.reports.data import collect
from deciban.reports.render import page

JUDGED = (sections.summary_section, sections.metrics_section, sections.reliability_section, sections.confusion_section)
OF_COLUMNS = (*JUDGED, sections.beliefs_section, sections.surprises_section, sections.data_section)
OF_TEXTS = (*JUDGED, sections.words_section, sections.surprises_section, sections.texts_section)


@dataclass(frozen=True, repr=False)
class Report:
    """A page, and what a program may want to know of it."""

    html: str
    warnings: tuple[str, ...]  # in plain words, the gravest first
    metrics: dict[str, tuple[float, float, float]]  # name: (value, least, largest) of a 95 % interval

    def save(self, path: str | os.PathLike) -> None:
        """Write the page: whole, or not at all."""
        atomic.atomic_write(path, lambda file: file.write(self.html.encode()))

    def __str__(self) -> str:
        lines = [
            f"{name:18}  {value:.4f}  ({low:.4f} – {high:.4f})" for name, (value, low, high) in self.metrics.items()
        ]
        lines += ["", *self.warnings] if self.warnings else []
        return "\n".join([f"report of {len(self.html):,} characters of HTML; `save` writes it", "", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        frame = 'style="width:100%;height:40rem;border:1px solid #888" title="report"'
        return f'<iframe sandbox srcdoc="{escape(self.html)}" {frame}></iframe>'


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike | None = None,
    *,
    train: Any = None,
    title: str | None = None,
    names: Sequence[str] | None = None,
    held_out: bool | None = None,
    target: str | None = None,
    rows: int = 5,
    random_state: int = 0,
) -> Report:
    """What rows X with their right classes y say of a fitted model, as one HTML page that needs nothing else.

    Parameters
    ----------
    model : classifier
        A fitted model.
    X : frame, array, sparse matrix or list of texts
        The rows; of a classifier of texts a list of texts.
    y : array of shape (n,), or str
        Their right classes, or the name of the column of X that holds them.
    path : path, optional
        Where the page is written; without it the page is only returned.
    train : X or (X, y), optional
        The rows that the model learned from: they are compared with these.
    title : str, optional
        The title of the page.
    names : sequence of str, optional
        What the columns of an array or a sparse matrix are called.
    held_out : bool, optional
        True: these rows are no part of the training rows. False: they are, and are cross-validated. None: find out
        where it can be.
    target : str, optional
        What the classes are of; by default the name of y where it is a series.
    rows : int, default 5
        How many of the most surprising rows are explained, under their names in the index of a pandas frame.
    random_state : int, default 0
        The seed of what is drawn.

    Returns
    -------
    Report
        The page as `html`, `warnings` in plain words, and `metrics` with their 95 % intervals.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
    >>> out = report(GaussianNB().fit(X, y), X, y, title="Two heaps")
    >>> "<h1>Two heaps</h1>" in out.html
    True
    """
    facts = collect(model, X, y, train, held_out, rows, random_state, names, target)
    found = Findings.of(facts)
    parts = OF_COLUMNS if facts.texts is None else OF_TEXTS
    written = [section for part in parts if (section := part(facts, found)) is not None]
    of = "" if facts.target is None else f" of {truncate(facts.target, 60)}"
    name = title or f"{type(model).__name__}{of}: {facts.n:,} rows"
    out = Report(
        page(name, _lead(model, facts.target), written, _foot()),
        found.doubts,
        {measure: (float(e.value), float(e.low), float(e.high)) for measure, e in found.measures.items()},
    )
    if path is not None:
        out.save(path)
    return out


def _lead(model: Any, target: str | None) -> str:
    """What it is, and how it was set."""
    classes = [truncate(str(label), 30) for label in model.classes_.tolist()]
    of = "" if target is None else f" of <code>{escape(truncate(target, 60))}</code>"
    listed = escape(format_list(classes, 6, quote=""))
    return f"<p><code>{escape(truncate(repr(model), 300))}</code></p><p>Classes{of}: {listed}.</p>"


def _foot() -> str:
    return f"<p>deciban {escape(version('deciban'))}, {date.today().isoformat()}. 10 decibans are odds of 10 : 1.</p>"
