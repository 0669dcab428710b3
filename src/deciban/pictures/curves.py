"""How well probabilities rank the rows: ROC curves and curves of precision over recall, each class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, outcomes, uncertainty
from deciban.palette import GREY, of_class
from deciban.pictures.forms import probabilities, takes_model
from deciban.wording import short


@takes_model(probabilities, "y, proba")
def roc(y: Any, proba: Any, ax: Any = None, *, classes: Any = None, of: Any = None, label: str | None = None) -> Any:
    """The share of hits over the share of false alarms, of (y, proba) or (model, X, y); returns the axes.

    y are labels, `proba` P(class | x), (n, k), or (n,) of the second of two classes. Two classes are one curve, more
    are one each; `of` asks for one class. `label` names the model: curves of other models go into the same axes.

    >>> ax = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1: area 0.750 (0.057 – 1.000)']
    """
    ax = drawing.axes(ax, 4.6, 4.4)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
    for one, look, name in _looks(ax, y, proba, classes, of, label):
        area = uncertainty.area(one.hit, one.score)
        x, line = outcomes.roc(one.hit, one.score)
        told = f"{name}: area {area.value:.3f} ({area.low:.3f} – {area.high:.3f})"
        ax.plot(x, line, color=look.colour, ls=look.style, lw=1.8, label=told, gid="curve", zorder=3)
    drawing.titled(ax, "ROC", "false alarms, share of the other rows", "hits, share of the class")
    _square(ax, "lower right")
    return ax


@takes_model(probabilities, "y, proba")
def precision_recall(
    y: Any, proba: Any, ax: Any = None, *, classes: Any = None, of: Any = None, label: str | None = None
) -> Any:
    """Precision over recall, in steps, of (y, proba) or (model, X, y); returns the axes. See `roc`.

    The share of the class is a dotted line.

    >>> ax = precision_recall(["ham", "ham", "spam", "spam"], [0.1, 0.4, 0.35, 0.8])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['spam: average precision 0.833']
    """
    ax = drawing.axes(ax, 4.6, 4.4)
    for one, look, name in _looks(ax, y, proba, classes, of, label):
        recall, precision, average = outcomes.precision_recall(one.hit, one.score)
        told = f"{name}: average precision {average:.3f}"
        x, line = np.r_[0.0, recall], np.r_[precision[:1], precision]
        ax.plot(x, line, color=look.colour, ls=look.style, lw=1.8, drawstyle="steps-post", label=told, gid="curve")
        ax.axhline(one.hit.mean(), color=look.colour, lw=0.9, ls=(0, (1, 2)), zorder=1)
    drawing.titled(
        ax, "Precision and recall", "recall, share of the class found", "precision, share right of those found"
    )
    _square(ax, "lower left")
    return ax


def _looks(ax: Any, y: Any, proba: Any, classes: Any, of: Any, label: str | None) -> list:
    """Every class with a look that no curve in the axes has, and its name."""
    found = outcomes.against_rest(y, proba, classes, of)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    out = []
    for rank, one in enumerate(found):
        class_name = short(str(one.label), 24)
        name = class_name if label is None else label if len(found) == 1 else f"{label}, {class_name}"
        out.append((one, of_class(before + rank, max(len(found), 3)), name))
    return out


def _square(ax: Any, where: str) -> None:
    ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.03), aspect="equal")
    drawing.plain(ax, "both")
    drawing.legend(ax, loc=where)
