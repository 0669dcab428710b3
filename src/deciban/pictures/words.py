"""The words that speak loudest: bars to the right for a class, to the left against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban import drawing
from deciban.errors import DataError
from deciban.palette import AGAINST, FOR, INK
from deciban.wording import short, signed


def top_words(
    words: Sequence[Any],
    decibans: Any,
    ax: Any = None,
    *,
    most: int = 10,
    title: str = "Strongest words",
    both: bool = True,
) -> Any:
    """The words (or any names) with the most decibans, and with `both` those with the least; returns the axes.

    >>> ax = top_words(["the", "prize", "meeting"], [0.1, 12.0, -9.5], most=1)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['prize', 'meeting']
    """
    evidence = np.asarray(decibans, dtype=np.float64)
    if evidence.shape != (len(words),):
        raise DataError(f"{len(words)} words, but decibans of shape {evidence.shape}\n\nhint: give one number a word")
    order = np.argsort(-evidence, kind="stable")
    chosen = [*order[:most], *order[max(most, len(order) - most) :]] if both else order[:most]
    size = evidence[chosen]
    ax = drawing.axes(ax, 4.6, 0.9 + 0.24 * max(len(chosen), 2))
    reach = float(np.abs(size).max(initial=1e-9))
    for place, value in enumerate(size):
        ax.barh(place, value, height=0.68, color=FOR if value >= 0 else AGAINST)
        side = 1 if value >= 0 else -1
        at, ha = value + 0.015 * reach * side, "left" if side > 0 else "right"
        ax.text(at, place, signed(value).replace("-", "−"), va="center", ha=ha, fontsize=8, color=INK)
    ax.set_yticks(range(len(chosen)), [short(str(words[j]), 28) for j in chosen])
    drawing.literal(*ax.get_yticklabels())
    ax.axvline(0, color=INK, lw=0.8)
    low, high = min(size.min(initial=0.0), 0.0), max(size.max(initial=0.0), 0.0)
    pad = 0.18 * (high - low or 1.0)
    ax.set(xlim=(low - pad * (low < 0), high + pad * (high > 0)), ylim=(len(chosen) - 0.4, -0.6))
    drawing.plain(ax, "x")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    drawing.titled(ax, title, "decibans")
    return ax
