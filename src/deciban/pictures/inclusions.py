"""Which columns matter: the posterior probability of each, as bars."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing
from deciban.palette import FOR, INK
from deciban.wording import short


def inclusion(model: Any, ax: Any = None, *, most: int = 30) -> Any:
    """The probability that each column of MixedNB(average="subsets") matters, the most probable first; returns the
    axes.

    >>> from deciban import MixedNB
    >>> X, y = [[0, 1], [0, 2], [9, 1], [9, 2]] * 5, [0, 0, 1, 1] * 5
    >>> ax = inclusion(MixedNB(average="subsets", families={0: "student", 1: "student"}).fit(X, y))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    chances, names = model.inclusion_, model._column_names()
    order = np.argsort(-chances, kind="stable")[:most]
    ax = drawing.axes(ax, 4.6, 0.9 + 0.24 * max(len(order), 2))
    ax.barh(range(len(order)), chances[order], height=0.68, color=FOR)
    for place, chance in enumerate(chances[order]):
        ax.text(chance + 0.015, place, f"{chance:.2f}", va="center", ha="left", fontsize=8, color=INK)
    ax.set_yticks(range(len(order)), [short(names[j], 28) for j in order])
    drawing.literal(*ax.get_yticklabels())
    ax.set(xlim=(0, 1.12), ylim=(len(order) - 0.4, -0.6), xticks=[0, 0.25, 0.5, 0.75, 1])
    drawing.plain(ax, "x")
    ax.tick_params(axis="y", length=0)
    of_all = f": {len(order)} of {len(chances)}" if len(order) < len(chances) else ""
    drawing.titled(ax, f"Columns that matter{of_all}", "posterior probability")
    return ax
