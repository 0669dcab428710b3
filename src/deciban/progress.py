"""Progress bars on stderr: step, objective, gradient and time of a solver, or rows and rows per second of a pass.

With `rich` there is a bar, which is full when the gradient is as small as required; else a line of text each second.

>>> with progress_bar(0, "fit") as advance:
...     advance(1, value=12.5, slope=0.3)
>>> step_text(7, 1234.5, 0.0021)
'step 7, objective 1234.5, gradient 0.0021'
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

EVERY = 1.0  # seconds between two lines of text
Show = Callable[[str, float | None], None]  # (text, share of the work or None)


class ProgressCallback(Protocol):
    """`about` describes what the step is part of, `done` is the fraction of all work that is done, if known."""

    def __call__(
        self,
        step: int,
        value: float = math.nan,
        slope: float = math.nan,
        about: str = "",
        done: float | None = None,
    ) -> None: ...


@contextmanager
def progress_bar(verbose: int | bool, name: str, goal: float = 0.0) -> Iterator[ProgressCallback]:
    """Context manager: a callback that shows steps, if `verbose`. `goal` is the slope at which the solver stops; 0: not
    known."""
    if not verbose:
        yield _quiet
        return
    with _shown(name) as show:
        yield _Steps(show, goal)


@contextmanager
def row_progress(
    asked: Any, name: str, transient: bool = False
) -> Iterator[Callable[[int, float | None], None] | None]:
    """Context manager: a callback for (rows so far, fraction of all or None) that shows rows, rows/s and the time left.

    `asked` is True (show a bar), a function (which becomes the callback) or False (the callback is None). A `transient`
    bar is removed at the end.

    >>> with row_progress(print, "fit") as advance:
    ...     advance(1000, 0.5)
    1000 0.5
    """
    if callable(asked) or not asked:
        yield asked or None
        return
    start = time.monotonic()
    with _shown(name, transient) as show:
        yield lambda rows, share: show(_rate(rows, share, time.monotonic() - start), share)


def _rate(rows: int, share: float | None, spent: float) -> str:
    """Rows, rows per second and the time left; without rows, only the time left.

    >>> _rate(3_000_000, 0.25, 10.0), _rate(0, 0.5, 4.0), _rate(0, None, 4.0)
    ('3,000,000 rows, 300,000 rows/s, 30 s left', '4 s left', '')
    """
    parts = [f"{rows:,} rows"] if rows else []
    parts += [f"{rows / spent:,.0f} rows/s"] if rows and spent > 0 else []
    parts += [f"{spent * (1 - share) / share:.0f} s left"] if share else []
    return ", ".join(parts)


def solver_callback(
    callback: ProgressCallback, about: str = "", done: float | None = None
) -> Callable[[int, Any], None] | None:
    """A progress callback as a solver's `watch(steps, state)`; None where nothing is shown."""
    if callback is _quiet:
        return None

    def watch(steps: int, state: Any) -> None:
        if steps:  # not the start
            callback(steps, state.value, state.steepness, about, done)

    return watch


def step_text(step: int, value: float = math.nan, slope: float = math.nan, about: str = "") -> str:
    parts = [f"step {step}"]
    if not math.isnan(value):
        parts.append(f"objective {value:.7g}")
    if not math.isnan(slope):
        parts.append(f"gradient {slope:.2g}")
    return f"{', '.join(parts)}{f' ({about})' if about else ''}"


def _quiet(step: int, value: Any = 0, slope: Any = 0, about: str = "", done: float | None = None) -> None:
    """Show nothing."""


class _Steps:
    """Shows the steps of a solver as text and as a fraction of the work."""

    def __init__(self, show: Show, goal: float):
        self.show, self.goal = show, goal
        self.steepest, self.share = 0.0, 0.0

    def __call__(self, step, value=math.nan, slope=math.nan, about="", done=None) -> None:
        self.show(step_text(step, value, slope, about), self._come_down(slope) if done is None else done)

    def _come_down(self, slope: float) -> float:
        """The fraction of the work: orders of magnitude by which the slope has decreased; it never decreases."""
        self.steepest = max(self.steepest, slope if math.isfinite(slope) else 0.0)
        if not self.steepest > self.goal > 0 or not slope > 0:
            return self.share
        way = math.log(self.steepest / max(slope, self.goal)) / math.log(self.steepest / self.goal)
        self.share = max(self.share, way)
        return self.share


@contextmanager
def _shown(name: str, transient: bool = False) -> Iterator[Show]:
    """The progress bar: show(text, share) updates it; a share of None is not known. Without `rich` it prints a line at
    the first call, and then at most one each second."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield _lines(name)
        return
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(name, total=1.0)

        def show(text: str, share: float | None) -> None:
            described = f"{name}: {text}" if text else name
            bar.update(task, description=described, completed=share or 0.0, total=None if share is None else 1.0)

        yield show
        bar.update(task, completed=1.0, total=1.0)


def _lines(name: str) -> Show:
    start, last = time.monotonic(), -math.inf

    def show(text: str, share: float | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            print(f"{name}: {text + ', ' if text else ''}after {now - start:.1f} s", file=sys.stderr)

    return show


@contextmanager
def stage_progress(asked: Any, name: str) -> Iterator[Show]:
    """Context manager: a callback for (what is done now, fraction of all work or None).

    `asked` is True (show a bar), a function (which becomes the callback) or False (nothing is shown).

    >>> with stage_progress(print, "fit") as show:
    ...     show("tree, fold 2", 0.5)
    tree, fold 2 0.5
    """
    if callable(asked) or not asked:
        yield asked if callable(asked) else lambda text, share: None
        return
    with _shown(name) as show:
        yield show
