"""A model and labelled rows as one page of HTML: metrics, calibration, effects of columns, largest errors, warnings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import Any

from deciban.display import Table, format_list, truncate
from deciban.io import atomic
from deciban.reports.checks import run_checks
from deciban.reports.data import collect
from deciban.reports.page import Page, Section
from deciban.reports.render import check_installed, render, render_notebook
from deciban.reports.sections import sections


@dataclass(frozen=True, repr=False)
class Report:
    """A page of HTML, and what a program may want to know of it."""

    html: str
    warnings: tuple[str, ...]  # the most serious first
    metrics: dict[str, tuple[float, float, float]]  # name: (value, lower end, upper end) of a 95 % interval
    sections: tuple[Section, ...] = ()  # what the page shows, as data

    def save(self, path: str | os.PathLike) -> None:
        """Write the page, atomically."""
        atomic.atomic_write(path, lambda file: file.write(self.html.encode()))

    def __str__(self) -> str:
        rows = [(name, f"{value:.4f}", f"{low:.4f} – {high:.4f}") for name, (value, low, high) in self.metrics.items()]
        table = Table("", ("metric", "value", "95 % interval"), rows)
        size = f"report of {len(self.html):,} characters of HTML; `save` writes it"
        return "\n".join([size, "", str(table), *(["", *self.warnings] if self.warnings else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render_notebook(self.html)


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
    figures: bool = True,
) -> Report:
    """Evaluate a fitted model on labelled rows and write the results as one HTML page without external files.

    Parameters
    ----------
    model : classifier
        A fitted model.
    X : frame, array, sparse matrix or list of texts
        The rows; for a text classifier a list of texts.
    y : array of shape (n,), or str
        The true classes, or the name of the column of X that holds them.
    path : path, optional
        The file to write; without it the page is only returned.
    train : X or (X, y), optional
        The training rows, to look for duplicates and drift.
    title : str, optional
        The title of the page.
    names : sequence of str, optional
        The names of the columns of an array or a sparse matrix.
    held_out : bool, optional
        True: the rows are not among the training rows. False: they are, and are cross-validated. None: found out where
        possible.
    target : str, optional
        The name of the target; by default the name of y if it is a series.
    rows : int, default 5
        The number of rows with the largest errors to explain. Rows are named by the index of a pandas frame.
    random_state : int, default 0
        The seed of the bootstrap and of samples of rows.
    figures : bool, default True
        False: a page without figures, for which matplotlib is not needed. The reliability diagram becomes a table.

    Returns
    -------
    Report
        The page as `html`, its `sections` as data, `warnings`, and `metrics` with their 95 % intervals.

    See Also
    --------
    evaluate : Scores of a fitted model on labelled rows.
    find_leakage : Columns that may know the outcome.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
    >>> out = report(GaussianNB().fit(X, y), X, y, title="Two heaps")
    >>> "<h1>Two heaps</h1>" in out.html
    True
    """
    check_installed(figures)
    facts = collect(model, X, y, train, held_out, rows, random_state, names, target, figures)
    warnings = tuple(run_checks(facts))
    shown = None if facts.target is None else truncate(facts.target, 60)
    of = "" if shown is None else f" of {shown}"
    page = Page(
        title=title or f"{type(model).__name__}{of}: {facts.n:,} rows",
        model=truncate(repr(model), 300),
        target=shown,
        classes=format_list([truncate(str(label), 30) for label in model.classes_.tolist()], 6, quote=""),
        sections=sections(facts, warnings),
        version=version("deciban"),
        date=date.today().isoformat(),
    )
    metrics = {name: (float(e.value), float(e.low), float(e.high)) for name, e in facts.metrics.items()}
    out = Report(render(page), warnings, metrics, page.sections)
    if path is not None:
        out.save(path)
    return out
