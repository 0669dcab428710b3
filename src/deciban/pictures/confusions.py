"""Which classes are taken for which: a square of counts, shaded by the share of the true class."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, outcomes, scores
from deciban.palette import FOR, INK, PAPER
from deciban.pictures.forms import takes_model
from deciban.wording import short

FULL = 20  # classes up to which counts are written into the cells


@takes_model(lambda model, X, y: ((y, model.predict(X)), {}), "y, predicted")
def confusion_matrix(y: Any, predicted: Any, ax: Any = None, *, classes: Any = None) -> Any:
    """Rows of each true class by the class that they were predicted as, of (y, predicted) or (model, X, y); returns the
    axes.

    >>> ax = confusion_matrix(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    >>> [text.get_text() for text in ax.texts]
    ['1\\n50 %', '1\\n50 %', '0', '1\\n100 %']
    """
    known = np.union1d(np.asarray(y), np.asarray(predicted)) if classes is None else np.asarray(classes)
    k = len(known)
    table = scores.confusion(outcomes.codes_of(y, known), outcomes.codes_of(predicted, known), k)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    side = min(1.8 + 0.62 * k, 9.0)
    ax = drawing.axes(ax, side + 0.6, side)
    ax.imshow(share, cmap=shades(), vmin=0, vmax=1)
    small = 9 if k <= 8 else 7
    for i in range(k if k <= FULL else 0):
        for j in range(k):
            told = f"{table[i, j]:,.0f}" + (f"\n{100 * share[i, j]:.0f} %" if table[i, j] and k <= 8 else "")
            ink = PAPER if share[i, j] > 0.55 else INK
            ax.text(j, i, told, ha="center", va="center", fontsize=small, color=ink, weight="bold" if i == j else None)
    names = [short(str(label), 18) for label in known]
    ax.set_xticks(range(k), names, rotation=0 if max(map(len, names)) * k < 40 else 90, fontsize=small)
    ax.set_yticks(range(k), names, fontsize=small)
    drawing.literal(*ax.get_xticklabels(), *ax.get_yticklabels())
    ax.tick_params(length=0, colors=INK)
    ax.spines[:].set_visible(False)
    right = f"{np.trace(table):,.0f} of {table.sum():,.0f} rows right"
    drawing.titled(ax, f"Confusion: {right}", "predicted", "true")
    return ax


def shades() -> Any:
    """From paper to blue: one hue, so that darkness alone tells."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", [PAPER, FOR])
