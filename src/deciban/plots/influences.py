"""Plot of influences: how far a posterior moves without each of the training rows that move it most."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.display import NEGATIVE, POSITIVE, TEXT_COLOUR, truncate
from deciban.plots import style


def influence(found: Any, ax: Any = None, *, n: int = 10, query: int = 0, of: Any = None) -> Any:
    """Plot influences: how far P(of | query) moves without each of the n rows or groups that move it most.

    Parameters
    ----------
    found : Influence
        What `deciban.influence(model, X, y, query)` returns.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    n : int, default 10
        Number of rows or groups.
    query : int, default 0
        Which of several queries.
    of : label, optional
        The class whose probability is drawn; by default the most probable.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    waterfall : The evidence of one row.

    Examples
    --------
    >>> import deciban
    >>> X, y = [[0.0], [1.0], [2.8], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
    >>> ax = influence(deciban.influence(deciban.GaussianNB().fit(X, y), X, y, [[3.0]]), n=2)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['2 (a)', '3 (b)']
    """
    return found.plot(ax, n=n, query=query, of=of)


def draw(
    names: list[Any], change: np.ndarray, proba: float, label: str, kind: str, many: int, exact: bool, ax: Any = None
) -> Any:
    """Bars of the changes (n,) of P(label | query), which is `proba`, without rows or groups of these names."""
    ax = style.axes(ax, 7.0, 1.5 + 0.34 * max(len(names), 1))
    places = np.arange(len(names))
    colours = [POSITIVE if one >= 0 else NEGATIVE for one in change]
    ax.barh(places, change, height=0.62, color=colours, edgecolor="white", lw=0.5)
    reach = max(float(np.abs(change).max(initial=0.0)), 1e-12)
    for at, one in zip(places, change, strict=True):
        side = "left" if one >= 0 else "right"
        ax.text(one + (0.02 if one >= 0 else -0.02) * reach, at, f"{one:+.2g}".replace("-", "−"), ha=side, va="center",
                fontsize=8.5, color=TEXT_COLOUR)  # fmt: skip
    ax.axvline(0.0, color=TEXT_COLOUR, lw=0.8)
    shown = [truncate(str(name), 36) for name in names]
    ax.set_yticks(places, shown)
    style.disable_mathtext(*ax.get_yticklabels())
    low, high = min(float(change.min(initial=0.0)), 0.0), max(float(change.max(initial=0.0)), 0.0)
    room = 0.22 * max(high - low, reach)
    ax.set(xlim=(low - (room if low < 0 else 0.3 * room), high + (room if high > 0 else 0.3 * room)))
    ax.set_ylim(len(names) - 0.4, -0.6)
    style.style_axes(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines[["left"]].set_visible(False)
    how = "" if exact else " (approximate)"
    which = f"all {many:,} {kind}s" if len(names) == many else f"the {len(names)} of {many:,} {kind}s that move it most"
    title = f"P({truncate(label, 24)} | query) = {proba:.3g}; {which}{how}"
    style.set_labels(ax, title, f"change of P({truncate(label, 24)} | query) without the {kind}", "")
    return ax
