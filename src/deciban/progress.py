"""What a long fit shows of itself on stderr: the step, the value, the slope and the time; nothing unless asked.

With `rich` it is a bar, which is full when the slope is as small as it has to be; else a line of text now and then.
Whatever goes round in a loop can tell of itself: a solver's `watch`, a path of penalties, folds.

>>> with progress_bar(0, "fit") as tell:
...     tell(1, value=12.5, slope=0.3)
>>> line("fit", 7, 1234.5, 0.0021)
'fit: step 7, objective 1234.5, gradient 0.0021'
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

EVERY = 1.0  # seconds between two lines of text


class ProgressCallback(Protocol):
    """`about` says what the step is part of, `done` how much of all is done, where that is known."""

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
    """Inside, what is told is shown, if `verbose`. `goal` is the slope at which the work is done; 0: not known."""
    if not verbose:
        yield _quiet
        return
    try:
        from rich.progress import Progress
    except ImportError:
        yield _Lines(name)
        return
    with _bar(Progress) as bar:
        yield (tell := _Bar(bar, name, goal))
        bar.update(tell.task, completed=1.0)


@contextmanager
def row_progress(asked: Any, name: str) -> Iterator[Callable[[int, float | None], None] | None]:
    """Inside, tell(rows so far, share of all or None) shows rows, rows/s and the time left, if `asked` is True; a
    function that is asked for hears it; else there is nothing to tell.

    >>> with row_progress(print, "fit") as tell:
    ...     tell(1000, 0.5)
    1000 0.5
    """
    if callable(asked) or not asked:
        yield asked or None
        return
    try:
        from rich.progress import Progress
    except ImportError:
        lines = _Lines(name)
        yield lambda rows, share: lines.say(_rate(rows, share, time.monotonic() - lines.start))
        return
    with _bar(Progress) as bar:
        task, start = bar.add_task(name, total=1.0), time.monotonic()

        def tell(rows: int, share: float | None) -> None:
            told = f"{name}: {_rate(rows, share, time.monotonic() - start)}"
            bar.update(task, description=told, completed=share or 0.0, total=None if share is None else 1.0)

        yield tell


def _rate(rows: int, share: float | None, spent: float) -> str:
    """How far and how fast.

    >>> _rate(3_000_000, 0.25, 10.0)
    '3,000,000 rows, 300,000 rows/s, 30 s left'
    """
    pace = f", {rows / spent:,.0f} rows/s" if spent > 0 else ""
    return f"{rows:,} rows{pace}" + (f", {spent * (1 - share) / share:.0f} s left" if share else "")


def solver_callback(
    tell: ProgressCallback, about: str = "", done: float | None = None
) -> Callable[[int, Any], None] | None:
    """`tell` as a solver's `watch(steps, state)`; None where nothing is shown, which costs nothing."""
    if tell is _quiet:
        return None
    return lambda steps, state: tell(steps, state.value, state.steepness, about, done)


def line(name: str, step: int, value: float = math.nan, slope: float = math.nan, about: str = "") -> str:
    parts = [f"step {step}"]
    if not math.isnan(value):
        parts.append(f"objective {value:.7g}")
    if not math.isnan(slope):
        parts.append(f"gradient {slope:.2g}")
    return f"{name}: {', '.join(parts)}{f' ({about})' if about else ''}"


def _quiet(step: int, value: Any = 0, slope: Any = 0, about: str = "", done: float | None = None) -> None:
    """Show nothing."""


class _Lines:
    """A line at the first step, and then not more often than the eye can follow."""

    def __init__(self, name: str):
        self.name, self.start, self.last = name, time.monotonic(), -math.inf

    def __call__(self, step, value=math.nan, slope=math.nan, about="", done=None) -> None:
        said = line(self.name, step, value, slope, about).removeprefix(f"{self.name}: ")
        self.say(f"{said}, {time.monotonic() - self.start:.1f} s")

    def say(self, words: str) -> None:
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            print(f"{self.name}: {words}", file=sys.stderr)


class _Bar:
    def __init__(self, bar: Any, name: str, goal: float):
        self.bar, self.name, self.goal = bar, name, goal
        self.steepest, self.share = 0.0, 0.0
        self.task = bar.add_task(name, total=1.0)

    def __call__(self, step, value=math.nan, slope=math.nan, about="", done=None) -> None:
        share = self._come_down(slope) if done is None else done
        self.bar.update(self.task, description=line(self.name, step, value, slope, about), completed=share)

    def _come_down(self, slope: float) -> float:
        """How much of the way, in orders of magnitude, the slope has come down; never back."""
        self.steepest = max(self.steepest, slope if math.isfinite(slope) else 0.0)
        if not self.steepest > self.goal > 0 or not slope > 0:
            return self.share
        way = math.log(self.steepest / max(slope, self.goal)) / math.log(self.steepest / self.goal)
        self.share = max(self.share, way)
        return self.share


def _bar(progress: Any) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    return progress(*columns, console=Console(stderr=True))
