"""A posterior over 0/1 data: the rows at the bottom and on top, the model's probability between them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from deciban import drawing, frames, outcomes, uncertainty
from deciban.errors import DataError
from deciban.palette import GREY, INK, of_class
from deciban.pictures.forms import called
from deciban.wording import short

STEPS = 400
SHARES = 8  # groups of equal size whose shares are drawn
LINE = 0.085  # height of a line of labels above the rows


def sigmoid(
    model: Any, X: Any, y: Any, ax: Any = None, *, label: str | None = None, of: Any = None, xlabel: str | None = None
) -> Any:
    """P(class | x) of a model of one column over the rows themselves; returns the axes.

    Rows of `of` (by default the second class) lie at the top, all others at the bottom; the grey bars are the shares of
    eight groups of rows with their 95 % intervals. A line marks where the model turns, and the number above it says
    where that is. Curves of more models go into the same axes.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`
    X : array of shape (n,) or (n, 1), or a frame of one column
    y : labels of shape (n,), or the name of a column of X
    ax : matplotlib axes, by default new ones
    label : name of the curve, by default the name of the model's class
    of : the class whose probability is drawn
    xlabel : name of the axis, by default that of the column

    Examples
    --------
    >>> from deciban import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1]
    >>> ax = sigmoid(LogisticRegression().fit(X, y), X, y)
    >>> ax.get_ylabel()
    'P(1 | x)'
    """
    X, y = frames.take_target(X, y)
    column = _column(X, len(y))
    classes = np.asarray(model.classes_)
    place = int(outcomes.codes_of([classes[1] if of is None else of], classes)[0])
    chosen = short(str(classes[place]), 20)
    ax = drawing.axes(ax, 5.6, 3.4)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    if not before:
        others = "others" if len(classes) > 2 else short(str(classes[1 - place]), 20)
        _rows(ax, column.values, np.asarray(y) == classes[place], (others, chosen))
    at = _grid(ax, column.values, before)
    curve = _probabilities(model, X, column, at)[:, place]
    look = of_class(before, 3)
    colour = look.colour if before else INK
    name = label or called(model)
    style = {"color": colour, "ls": "-" if not before else (0, (5, 1.5)), "lw": 2.0, "zorder": 4}
    ax.plot(at, curve, label=name, gid="curve", **style)
    for turn in _turns(at, curve):
        ax.axvline(turn, color=colour if before else GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
        told = f"{turn:.3g}".replace("-", "−")
        beside = {"xytext": (3, 0), "textcoords": "offset points", "ha": "left", "va": "bottom"}
        ax.annotate(told, (turn, 1.07 + LINE * before), fontsize=8.5, color=colour, zorder=5, **beside)
    ax.set(xlim=(at[0], at[-1]), ylim=(-0.08, 1.08 + LINE * (before + 1)), yticks=np.linspace(0, 1, 6))
    drawing.plain(ax, "y")
    names = [line.get_label() for line in ax.lines if line.get_gid() == "curve"]
    told = f"{name}: P({chosen}) and where the odds are even" if not before else f"P({chosen}) of {' and '.join(names)}"
    drawing.titled(ax, told, xlabel or _name(column, model), f"P({chosen} | x)")
    drawing.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _column(X: Any, n: int) -> frames.Column:
    """The one column of X, as numbers."""
    table = frames.columns(X if frames.is_frame(X) else np.asarray(X, dtype=np.float64).reshape(n, -1))
    if len(table) != 1:
        raise DataError(f"X has {len(table)} columns\n\nhint: a sigmoid is drawn over one; see `decision_regions`")
    if table[0].levels is not None:
        raise DataError(f"column `{table[0].name}` holds no numbers\n\nhint: see `class_densities`")
    return frames.Column(table[0].name, np.asarray(table[0].values, dtype=np.float64))


def _name(column: frames.Column, model: Any) -> str:
    """That of the frame, or that which the model knows."""
    known = getattr(model, "feature_names_in_", None)
    return str(column.name) if isinstance(column.name, str) else "x" if known is None else str(known[0])


def _rows(ax: Any, x: np.ndarray, hit: np.ndarray, names: tuple[str, str]) -> None:
    """Rows of the class at the top, the others at the bottom, and their shares between."""
    jitter = np.random.default_rng(0).uniform(-0.022, 0.022, len(x))
    for is_of in (False, True):
        rows, look = hit == is_of, of_class(int(is_of), 2)
        style = {"s": 22, "alpha": 0.6, "lw": 0, "color": look.colour, "marker": look.marker, "zorder": 2}
        ax.scatter(x[rows], is_of + jitter[rows], label=names[is_of], **style)
    _shares(ax, x, hit)


def _grid(ax: Any, x: np.ndarray, before: int) -> np.ndarray:
    """Where curves are drawn at: over these rows, and over what is drawn already."""
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    pad = 0.04 * (high - low or 1.0)
    left, right = ax.get_xlim() if before else (low - pad, high + pad)
    return np.linspace(min(left, low - pad), max(right, high + pad), STEPS)


def _probabilities(model: Any, X: Any, column: frames.Column, at: np.ndarray) -> np.ndarray:
    """P(class | x), (m, k), at values of the column, as the kind of table that X is."""
    library = frames.library(X) if frames.is_frame(X) else None
    with warnings.catch_warnings():  # an array for a model that knows the column's name
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return np.asarray(model.predict_proba(frames.assembled([frames.Column(column.name, at)], library)))


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
