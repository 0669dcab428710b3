"""Do probabilities mean what they say? Of the rows that were given 70 %, about 70 % should be of the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban import drawing, outcomes, scores, uncertainty
from deciban.palette import GREY, PALE, of_class
from deciban.pictures.forms import probabilities, takes_model
from deciban.wording import short


@takes_model(probabilities, "y, proba")
def reliability(
    y: Any,
    proba: Any,
    ax: Any = None,
    *,
    classes: Any = None,
    of: Any = None,
    bins: int = 10,
    label: str | None = None,
) -> Any:
    """Shares of rows that are of the class over the probability that they were given, by bins, of (y, proba) or
    (model, X, y); returns the axes.

    `proba` is P(class | x), (n, k), or (n,) of the second of two classes. Of two classes the second is drawn; of more,
    the most probable class of each row, whichever it is; `of` asks for one class. Bars are 95 % intervals (Wilson); the
    columns at the bottom say how many rows a bin has. Other models go into the same axes, by their `label`.

    >>> ax = reliability([0, 0, 0, 1, 1, 1], [0.1, 0.1, 0.6, 0.6, 0.9, 0.9])
    >>> ax.lines[-1].get_xdata().round(2).tolist(), ax.lines[-1].get_ydata().round(2).tolist()
    ([0.1, 0.6, 0.9], [0.0, 0.5, 1.0])
    """
    known, codes, proba = outcomes.checked(y, proba, classes)
    if of is None and len(known) > 2:
        hit, score, what = proba.argmax(axis=1) == codes, proba.max(axis=1), "the most probable class"
    else:
        one = outcomes.against_rest(y, proba, known, of)[0]
        hit, score, what = one.hit, one.score, f"`{short(str(one.label), 24)}`"
    ax = drawing.axes(ax, 4.6, 4.4)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    look = of_class(before, 3)
    bars = [told for told in (_bin(hit, score, b, bins) for b in range(bins)) if told is not None]
    middle = np.array([at for at, _, _ in bars])
    shares = [uncertainty.share(hits, n) for _, hits, n in bars]
    value = np.array([s.value for s in shares])
    off = np.array([[s.value - s.low for s in shares], [s.high - s.value for s in shares]]).clip(0)
    if not before:
        ax.plot([0, 1], [0, 1], color=GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
        most = max(n for _, _, n in bars)
        for at, _, n in bars:
            ax.bar(
                (np.floor(min(at, 1 - 1e-9) * bins) + 0.5) / bins, 0.12 * n / most, 0.92 / bins, color=PALE, zorder=0
            )
    ax.errorbar(middle, value, yerr=off, fmt="none", ecolor=look.colour, elinewidth=1.0, alpha=0.55, zorder=2)
    error = scores.expected_calibration_error(codes, proba)
    told = f"{label}: error {error:.3f}" if label else f"calibration error {error:.3f}"
    ax.plot(middle, value, color=look.colour, marker=look.marker, ms=5, lw=1.2, label=told, gid="curve", zorder=3)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.03), aspect="equal")
    drawing.plain(ax, "both")
    drawing.titled(ax, "Reliability", f"probability of {what}, as said", "share of the rows where it is right")
    drawing.legend(ax, loc="best")
    return ax


def _bin(hit: np.ndarray, score: np.ndarray, b: int, bins: int) -> tuple[float, int, int] | None:
    """(mean probability, hits, rows) of the b-th of `bins` even bins; None where it is empty."""
    inside = np.minimum((score * bins).astype(int), bins - 1) == b
    n = int(inside.sum())
    return (float(score[inside].mean()), int(hit[inside].sum()), n) if n else None
