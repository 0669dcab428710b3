"""The picture of a learning curve: a line for the mean over repeats, a band for their spread, over rows on a log axis.

>>> import numpy as np
>>> ax = draw(np.array([10, 100]), np.array([[0.6, 0.8], [0.7, 0.8]]), "GaussianNB", "accuracy")
>>> ax.get_xscale(), [text.get_text() for text in ax.get_legend().get_texts()]
('log', ['GaussianNB'])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing
from deciban.palette import COLOURS, INK, MARKERS


def draw(sizes: np.ndarray, values: np.ndarray, name: str, score: str, ax: Any = None) -> Any:
    """Values (r, s) of a score over sizes (s,), in new axes or beside the curves that are in `ax`."""
    ax = drawing.axes(ax, 6.4, 4.2)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    colour, mark = COLOURS[before % len(COLOURS)], MARKERS[before % len(MARKERS)]
    seen = np.isfinite(values).all(axis=0)  # an infinite loss has no place
    rows, some = sizes[seen], values[:, seen]
    mean = some.mean(axis=0)
    ax.plot(rows, mean, color=colour, marker=mark, ms=4.5, lw=1.8, label=name, gid="curve", zorder=3)
    if len(values) > 1:
        off = some.std(axis=0, ddof=1)
        ax.fill_between(rows, mean - off, mean + off, color=colour, alpha=0.22, lw=0, zorder=2)
    if len(rows):
        _ticks(ax)
    repeats = f", mean ± deviation of {len(values)} repeats" if len(values) > 1 else ""
    ax.set_xlabel("training rows (log scale)")
    ax.set_ylabel(score)
    ax.set_title(f"{score} on rows held out{repeats}", loc="left", fontsize=10.5, color=INK)
    ax.legend(frameon=False, loc="lower right" if score == "accuracy" else "upper right", fontsize=9)
    drawing.plain(ax, "both")
    return ax


def _ticks(ax: Any) -> None:
    """1, 2, 5, 10, … where whole decades alone would leave the axis bare."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 3e4 else (1.0, 2.0, 5.0)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda at, _: f"{at:,.0f}" if at >= 1 else f"{at:g}"))
