"""Plot of a penalty path: the coefficient of each column over C, the strongest in colour and named at their ends.

>>> import numpy as np
>>> ax = draw(np.array([0.1, 1.0]), np.array([[0.0, 0.1], [1.0, -2.0]]), ("age", "dose"))
>>> [text.get_text() for text in ax.texts]
['dose', 'age']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban.display import COLOURS, PALE, STYLES, TEXT_COLOUR, truncate
from deciban.plots.style import import_pyplot

BEYOND = 10.0  # times the best C, and the picture ends
LINE = 0.042  # share of the height that a name takes


def draw(
    Cs: np.ndarray,
    coef: np.ndarray,
    columns: Sequence[str],
    *,
    title: str = "",
    label: str = "coefficient",
    mark: tuple[float, float, str] | None = None,
    most: int = 8,
    ax: Any = None,
) -> Any:
    """Coefficients (c, d) over Cs (c,); `mark` is the best C, its log loss, and how that was found."""
    plt = import_pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    seen = worth_seeing(Cs, coef, np.inf if mark is None else mark[0])
    Cs, coef = Cs[seen], coef[seen]
    size = np.abs(coef[-1] if mark is None else coef[np.searchsorted(Cs, mark[0])])
    strong = [j for j in np.argsort(-size, kind="stable")[:most].tolist() if np.abs(coef[:, j]).max() > 0]
    for j in sorted(set(range(coef.shape[1])) - set(strong)):
        ax.plot(Cs, coef[:, j], color="#b8b8b8", lw=0.8, zorder=1)
    for rank, j in enumerate(strong):
        style = STYLES[rank // len(COLOURS) % len(STYLES)]
        ax.plot(Cs, coef[:, j], color=COLOURS[rank % len(COLOURS)], ls=style, lw=1.8, zorder=3, solid_capstyle="round")
    ax.set_xscale("log")
    ax.axhline(0.0, color=TEXT_COLOUR, lw=0.8, zorder=2)
    ax.margins(y=0.06)
    ax.set_xlim(Cs[0], Cs[-1] if len(Cs) > 1 else Cs[0] * 10)
    _names(ax, coef[-1], strong, columns)
    left = coef.shape[1] - len(strong)
    more = f" · {left} more in grey" if left else ""
    ax.set_xlabel(f"C (penalty strong → weak){more}")
    ax.set_ylabel(label)
    ax.set_title(title, loc="left", fontsize=11)
    if mark is not None:
        ax.axvline(mark[0], color=TEXT_COLOUR, lw=1.0, ls=(0, (4, 3)), zorder=2)
        ax.set_title(
            f"C = {mark[0]:.3g}: log loss {mark[1]:.4g} ({mark[2]})", loc="right", fontsize=8.5, color=TEXT_COLOUR
        )
    ax.grid(axis="y", color=PALE, lw=0.6, zorder=0)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def worth_seeing(Cs: np.ndarray, coef: np.ndarray, best: float) -> slice:
    """From where something can be seen to somewhat beyond the best C, where coefficients of separated classes run away.

    >>> worth_seeing(np.array([0.1, 1.0, 10.0, 100.0]), np.array([[0.0], [0.0], [1.0], [9.0]]), 1.0)
    slice(1, 3, None)
    """
    stop = int(np.searchsorted(Cs, BEYOND * best, side="right"))
    size = np.abs(coef[:stop]).max(axis=1, initial=0.0)
    there = np.flatnonzero(size > 0.01 * size.max(initial=0.0))
    return slice(max(int(there[0]) - 1, 0) if len(there) else 0, stop)


def _names(ax: Any, ends: np.ndarray, strong: list[int], columns: Sequence[str]) -> None:
    """The names of the strongest columns at the right edge, apart from each other, a thread to where theirs ends."""
    low, high = ax.get_ylim()
    places = spread((ends[strong] - low) / (high - low), LINE)
    for rank, (j, place) in enumerate(zip(strong, places, strict=True)):
        ax.annotate(
            truncate(columns[j], 28),
            xy=(1.0, (ends[j] - low) / (high - low)),
            xytext=(1.03, place),
            xycoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=COLOURS[rank % len(COLOURS)],
            arrowprops={
                "arrowstyle": "-",
                "color": COLOURS[rank % len(COLOURS)],
                "lw": 0.7,
                "shrinkA": 1,
                "shrinkB": 0,
            },
            annotation_clip=False,
        )


def spread(wanted: np.ndarray, least: float) -> np.ndarray:
    """Places as near to those wanted as may be, in their order, none closer than `least` to the next.

    >>> spread(np.array([0.5, 0.5, 0.0]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.0]
    """
    order = np.argsort(wanted, kind="stable")
    groups: list[list[float]] = []  # (sum of wanted starts, members): neighbours that touch move as one
    for i, at in enumerate(wanted[order].tolist()):
        groups.append([at - i * least, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            total, members = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += members
    starts = np.concatenate([np.full(int(n), total / n) for total, n in groups] or [np.zeros(0)])
    out = np.empty(len(wanted))
    out[order] = starts + np.arange(len(wanted)) * least
    return out
