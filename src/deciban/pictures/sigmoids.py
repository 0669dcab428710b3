"""A posterior over 0/1 data: the rows at the bottom and on top, the model's probability between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, outcomes, uncertainty
from deciban.errors import DataError
from deciban.palette import GREY, INK, PAPER, of_class
from deciban.wording import short

STEPS = 400
SHARES = 8  # groups of equal size whose shares are drawn


def sigmoid(model: Any, X: Any, y: Any, ax: Any = None, *, label: str = "x", of: Any = None) -> Any:
    """P(class | x) of a model of one column over the rows themselves; returns the axes.

    X is (n,) or (n, 1). Rows of `of` (by default the second class) lie at the top, all others at the bottom; the grey
    bars are the shares of eight groups of rows with their 95 % intervals; a line marks where the model turns.

    >>> from deciban import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1]
    >>> ax = sigmoid(LogisticRegression().fit(X, y), X, y)
    >>> ax.get_ylabel()
    'P(1 | x)'
    """
    x = np.asarray(X, dtype=np.float64).reshape(len(y), -1)
    if x.shape[1] != 1:
        raise DataError(f"X has {x.shape[1]} columns\n\nhint: a sigmoid is drawn over one; see `decision_regions`")
    classes = np.asarray(model.classes_)
    place = int(outcomes.codes_of([classes[1] if of is None else of], classes)[0])
    hit = np.asarray(y) == classes[place]
    ax = drawing.axes(ax, 5.6, 3.4)
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    pad = 0.04 * (high - low or 1.0)
    at = np.linspace(low - pad, high + pad, STEPS)
    curve = np.asarray(model.predict_proba(at[:, None]))[:, place]
    jitter = np.random.default_rng(0).uniform(-0.022, 0.022, len(x))
    for is_of in (False, True):
        rows = hit == is_of
        look = of_class(int(is_of), 2)
        name = f"{short(str(classes[place]), 20)}" if is_of else "others" if len(classes) > 2 else ""
        name = name or short(str(classes[1 - place]), 20)
        style = {"s": 22, "alpha": 0.6, "lw": 0, "color": look.colour, "marker": look.marker, "zorder": 2}
        ax.scatter(x[rows, 0], is_of + jitter[rows], label=name, **style)
    _shares(ax, x[:, 0], hit)
    ax.plot(at, curve, color=INK, lw=2.0, zorder=4, label="model", gid="curve")
    for turn in _turns(at, curve):
        ax.axvline(turn, color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
        told = f"{turn:.3g}".replace("-", "−")
        box = {"boxstyle": "square,pad=0.15", "fc": PAPER, "ec": "none"}
        ax.text(turn, 0.14, told, fontsize=8.5, ha="center", va="center", color=INK, bbox=box, zorder=5)
    ax.set(xlim=(at[0], at[-1]), ylim=(-0.08, 1.08))
    drawing.plain(ax, "y")
    drawing.titled(
        ax, f"{type(model).__name__}: where the odds are even", label, f"P({short(str(classes[place]), 20)} | x)"
    )
    drawing.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _turns(at: np.ndarray, curve: np.ndarray) -> list[float]:
    """Where the curve passes one half, between the two nearest points."""
    off = curve - 0.5
    crossed = np.flatnonzero(np.sign(off[:-1]) * np.sign(off[1:]) < 0)
    return [float(at[i] - off[i] * (at[i + 1] - at[i]) / (off[i + 1] - off[i])) for i in crossed]


def _shares(ax: Any, x: np.ndarray, hit: np.ndarray) -> None:
    """Shares of groups of rows, from the least x to the largest."""
    if len(x) < 4 * SHARES:
        return
    for rows in np.array_split(np.argsort(x, kind="stable"), SHARES):
        told = uncertainty.share(int(hit[rows].sum()), len(rows))
        middle = float(x[rows].mean())
        ax.plot([middle] * 2, [told.low, told.high], color=GREY, lw=1.2, zorder=3)
        ax.plot(middle, told.value, "D", ms=4, mfc="white", mec=GREY, zorder=3)
