"""Matplotlib helpers and the waterfall plot: evidence added up from the prior to the total, one bar per column.

>>> from deciban.display import EvidenceTable, EvidenceRow
>>> rows = [EvidenceRow("prior", "", -5.0), EvidenceRow("wind", "weak", 8.0)]
>>> account = EvidenceTable("row 0", rows, 3.0, "odds 2 : 1")
>>> [(start, stop) for _, start, stop in waterfall_steps(account)]
[(0.0, -5.0), (-5.0, 3.0), (0.0, 3.0)]

Two ways to call a picture: with a model and its rows, `(model, X, y)`, or with what is to be drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from textwrap import fill
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.display import (
    GREY,
    NEGATIVE,
    PALE,
    POSITIVE,
    TEXT_COLOUR,
    EvidenceRow,
    EvidenceTable,
    format_decibans,
    format_half_width,
    truncate,
)
from deciban.errors import DataError

CHANCES = (0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 0.999, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.05, 0.95, 1e-4, 0.9999, 1e-6)

LINE = 56  # letters of a line of a title


def import_pyplot() -> Any:
    """Import matplotlib.pyplot, or raise ImportError with a hint."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as bad:
        raise ImportError("plots need matplotlib\n\nhint: pip install 'deciban[plot]'") from bad
    return plt


def axes(ax: Any, wide: float, high: float) -> Any:
    """The axes given, or new ones of that size in inches."""
    plt = import_pyplot()
    if ax is not None and not hasattr(ax, "set_xlim"):
        raise DataError(
            f"`ax` is {type(ax).__name__}, not matplotlib axes\n\n"
            "hint: most plots take (model, X, y); give axes as `ax=`"
        )
    return plt.subplots(figsize=(wide, high), layout="constrained")[1] if ax is None else ax


def style_axes(ax: Any, grid: str | None = None) -> None:
    """Open at the top and the right, a pale grid (of "x", "y" or "both") behind all else."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(colors=TEXT_COLOUR, labelsize=9)
    if grid is not None:
        ax.grid(axis=grid, color=PALE, lw=0.6, zorder=0)
        ax.set_axisbelow(True)


def disable_mathtext(*texts: Any) -> None:
    """Take text literally: `$` does not start a formula."""
    for text in texts:
        text.set_parse_math(False)


def set_labels(ax: Any, title: str = "", x: str = "", y: str = "") -> None:
    """Title and labels of the axes, taken literally."""
    disable_mathtext(
        ax.set_title(title, loc="left", fontsize=10.5, color=TEXT_COLOUR),
        ax.set_xlabel(x, color=TEXT_COLOUR, fontsize=9.5),
        ax.set_ylabel(y, color=TEXT_COLOUR, fontsize=9.5),
    )


def legend(ax: Any, **more: Any) -> None:
    """The legend, its names taken literally; none where nothing has a name."""
    if ax.get_legend_handles_labels()[1]:
        disable_mathtext(
            *ax.legend(**{"frameon": False, "fontsize": 8.5, "labelcolor": TEXT_COLOUR, **more}).get_texts()
        )


def chance_ticks() -> list[tuple[float, str]]:
    """(decibans, probability) of round chances, those that matter most first."""
    return [(float(10 * np.log10(p / (1 - p))), f"{p:.6g}".replace("e-0", "e-")) for p in CHANCES]


def spread_ticks(ticks: list[tuple[float, str]], low: float, high: float, least: float) -> list[tuple[float, str]]:
    """Those within the limits that are not closer than `least` to one before them, from left to right."""
    out: list[tuple[float, str]] = []
    for at, label in ticks:
        if low <= at <= high and all(abs(at - other) >= least for other, _ in out):
            out.append((at, label))
    return sorted(out)


def waterfall_steps(account: EvidenceTable) -> list[tuple[EvidenceRow, float, float]]:
    """(line, where its bar starts, where it ends), the total last. Infinite bars come after all others."""
    lines = sorted(account.lines, key=lambda line: not np.isfinite(line.decibans))
    out, at = [], 0.0
    for line in lines:
        stop = at + line.decibans if np.isfinite(line.decibans) else line.decibans
        out.append((line, at, stop))
        at = stop
    return [*out, (EvidenceRow("total", "", account.total, account.total_half), 0.0, account.total)]


def whisker(line: EvidenceRow, stop: float) -> tuple[float, float]:
    """The ends of the interval around the end of a bar."""
    half = line.half or 0.0
    return stop - half, stop + half


def waterfall(account: EvidenceTable, ax: Any = None) -> Any:
    """Draw one account of evidence; returns the axes."""
    plt = import_pyplot()
    bars = waterfall_steps(account)
    if ax is None:
        _, ax = plt.subplots(figsize=(7.5, 1.5 + 0.34 * len(bars)), layout="constrained")
    ends = np.array([end for line, start, stop in bars for end in (start, *whisker(line, stop), stop)])
    low, high = _limits(ends[np.isfinite(ends)], bool(np.isneginf(ends).any()), bool(np.isposinf(ends).any()))
    if account.heading:  # numbers with an interval are longer
        low, high = low - 0.05 * (high - low), high + 0.08 * (high - low)
    pad = (high - low) * 0.012
    for place, (line, start, stop) in enumerate(bars):
        last = place == len(bars) - 1
        start, end = np.clip([start, np.nan_to_num(stop, nan=start, posinf=high, neginf=low)], low, high)
        up = end >= start
        colour = POSITIVE if up else NEGATIVE
        hatch = None if np.isfinite(stop) else "///"
        ax.barh(place, end - start, left=start, height=0.62, color=colour, hatch=hatch, edgecolor="white", lw=0.5)
        reach = np.clip(whisker(line, stop) if np.isfinite(stop) else (end, end), low, high)
        if reach[0] < reach[1]:
            ax.errorbar(end, place, xerr=[[end - reach[0]], [reach[1] - end]], color=TEXT_COLOUR, lw=1.0, capsize=3)
        side = max(start, end, reach[1]) + pad, "left"
        if not up and min(end, reach[0]) - low > 0.12 * (high - low):
            side = min(end, reach[0]) - pad, "right"
        weight = "bold" if last else "normal"
        both = format_decibans(line.decibans), format_half_width(line.decibans, line.half)
        mark = " ".join(both).strip().replace("-", "−")
        ax.text(side[0], place, mark, ha=side[1], va="center", fontsize=9, color=TEXT_COLOUR, weight=weight)
        if place < len(bars) - 2:  # where the next bar starts
            ax.plot([end, end], [place + 0.31, place + 0.69], color="#888888", lw=0.8)
    ax.axhline(len(bars) - 1.5, color=PALE, lw=0.8)
    ax.axvline(0.0, color=TEXT_COLOUR, lw=0.8, zorder=0)
    _finish(ax, bars, account, low, high)
    return ax


def _limits(ends: np.ndarray, left: bool, right: bool) -> tuple[float, float]:
    """The axis: all finite ends, room for numbers at the outer ones, and for bars that have no end."""
    low, high = float(ends.min()), float(ends.max())
    wide = max(high - low, 1.0)
    return low - wide * (0.35 if left else 0.14), high + wide * (0.35 if right else 0.14)


def _finish(ax: Any, bars: list, account: EvidenceTable, low: float, high: float) -> None:
    names = [truncate(f"{line.name} = {line.value}" if line.value else line.name, 44) for line, _, _ in bars]
    ax.set_yticks(range(len(bars)), names)
    ax.get_yticklabels()[-1].set_fontweight("bold")
    label = f"decibans; whiskers: {account.heading.removeprefix('± ')} intervals" if account.heading else "decibans"
    ax.set(xlim=(low, high), ylim=(len(bars) - 0.4, -0.6), xlabel=label)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right"]].set_visible(False)
    above = ax.secondary_xaxis("top")
    ticks = spread_ticks(chance_ticks(), low, high, 0.09 * (high - low))
    above.set_xticks([at for at, _ in ticks], [label for _, label in ticks], fontsize=8)
    above.set_xlabel("probability, between these two", fontsize=8)
    ax.set_title(f"{account.title}\n{account.verdict}", loc="left", fontsize=10)


def takes_model(
    prepare: Callable[[Any, Any, Any], tuple[tuple, dict]],
    other: str,
    needs_y: bool = True,
    holds: str = "",
    needs_rows: bool = True,
) -> Callable:
    """Decorate a picture so that it takes `(model, X, y)`, too.

    `prepare(model, X, y)` gives the arguments that the picture takes instead, and settings; `other` names these
    arguments in errors; `holds` is an attribute that the first of them has, which distinguishes it from a table.
    Without `needs_rows` a model may come alone.

    >>> @takes_model(lambda model, X, y: ((y, model.predict(X)), {}), "y, predicted")
    ... def count_right(y, predicted):
    ...     return int(sum(a == b for a, b in zip(y, predicted)))
    >>> from deciban import GaussianNB
    >>> count_right(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]), [[0.5], [4.5]], [0, 1])
    2
    """

    def decorate(draw: Callable) -> Callable:
        name, form = draw.__name__, "(model, X, y)" if needs_y else "(model, X)"

        @wraps(draw)
        def either(*args: Any, **more: Any) -> Any:
            if not args or not is_model(args[0]):
                if args and holds and not hasattr(args[0], holds):
                    raise DataError(
                        f"`{other}` is a {type(args[0]).__name__}\n\nhint: {name}{form}, or {name}({other})"
                    )
                return draw(*args, **more)
            rest, given = list(args[1:]), dict(more)
            X = rest.pop(0) if rest else given.pop("X", None)
            y = rest.pop(0) if rest and needs_y else given.pop("y", None)
            if needs_rows and (X is None or (y is None and needs_y)):
                raise DataError(f"`{name}` of a model needs rows\n\nhint: {name}{form}, or {name}({other})")
            X, y = frames.take_target(X, y)
            values, settings = prepare(args[0], X, y)
            return draw(*values, *rest, **{**settings, **given})

        return either

    return decorate


def is_model(thing: Any) -> bool:
    """Whether it predicts: a classifier, a pipeline, a search."""
    return hasattr(thing, "predict") and hasattr(thing, "fit") and not isinstance(thing, type)


def called(model: Any) -> str:
    """The name of a model: its class, or the steps of a pipeline."""
    return " → ".join(type(step).__name__ for step in _steps(model))


def described(model: Any) -> str:
    """The name of a model with the settings that differ from their defaults, in lines.

    >>> from deciban import LogisticRegression
    >>> described(LogisticRegression(C=10))
    'LogisticRegression(C=10)'
    """
    texts = (" ".join(repr(step).split()).removesuffix("()") for step in _steps(model))
    names = [type(step).__name__ for step in _steps(model)]
    shown = [text if text.startswith(name) else name for text, name in zip(texts, names, strict=True)]
    return in_lines(" → ".join(truncate(text, 2 * LINE) for text in shown))


def in_lines(title: str) -> str:
    """A title in lines of one length."""
    return fill(title, LINE)


def _steps(model: Any) -> list:
    """Those of a pipeline, of pipelines in it too; else the model alone."""
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        return [model]
    return [inner for _, step in steps if step not in (None, "passthrough") for inner in _steps(step)]


def probabilities(model: Any, X: Any, y: Any) -> tuple[tuple, dict]:
    """(y, P(class | x)) and the classes of its columns."""
    if not hasattr(model, "predict_proba"):
        raise DataError(
            f"{called(model)} has no `predict_proba`\n\nhint: this plot needs a classifier with probabilities"
        )
    return (y, model.predict_proba(X)), {"classes": model.classes_}
