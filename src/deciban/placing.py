"""Where the labels of a scale go so that none covers another.

>>> import numpy as np
>>> branches(np.array([0.0, 2.0, 3.0, 1.0]))  # up, then back
[(0, 2, True), (2, 3, False)]
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from deciban.scales import Scale

GAP = 5.0  # points between two labels


@dataclass(frozen=True)
class Placed:
    """A tick: where it is, what it says (nothing, where there is no room), and in which line above (> 0) or below (< 0;
    0: beside the scale)."""

    at: float
    label: str
    tier: int


def text_width(text: str, size: float) -> float:
    """Width in points of paper, whatever the backend."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks have a width too
        return float(text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0])


def branches(decibans: np.ndarray) -> list[tuple[int, int, bool]]:
    """The runs (first, last, whether it rises) in which a scale does not turn back; they share their ends."""
    out: list[tuple[int, int, bool]] = []
    start, rises = 0, None
    for i, step in enumerate(np.diff(decibans)):
        if step == 0:
            continue
        if rises is not None and rises != (step > 0):
            out.append((start, i, rises))
            start = i
        rises = bool(step > 0)
    return [*out, (start, len(decibans) - 1, rises is not False)] if len(decibans) else []


def place(scale: Scale, limit: float, points: float, size: float) -> list[Placed]:
    """The ticks of a scale within the limit; `points` of paper are one deciban."""
    if scale.labels is not None:
        return _levels(scale, limit, points, size)
    runs = branches(np.clip(scale.decibans, -limit, limit))
    tries = [_numbers(scale, ticks, runs, limit, points, size) for ticks in scale.ticks]
    # the finest step that leaves few ticks without a number: near a turn they crowd
    least = 0.7 if len(runs) == 1 else 0.55
    good = [placed for placed in tries if placed and sum(bool(p.label) for p in placed) >= least * len(placed)]
    best = max(good, key=lambda placed: sum(bool(p.label) for p in placed), default=[])
    return best if len(best) > 1 or len(runs) > 1 else _ends(scale, limit)


def _numbers(scale: Scale, ticks: np.ndarray, runs: list, limit: float, points: float, size: float) -> list[Placed]:
    taken: dict[int, list[tuple[float, float]]] = {}
    out = []
    for i in ticks[np.abs(scale.decibans[ticks]) <= limit]:
        at, label = float(scale.decibans[i]), f"{scale.values[i]:g}".replace("-", "−")
        rises = next(up for start, stop, up in runs if start <= i <= stop)
        tier = 1 if rises or len(runs) == 1 else -1
        out.append(Placed(at, label if _free(taken, tier, at, label, points, size) else "", tier))
    return out


def _ends(scale: Scale, limit: float) -> list[Placed]:
    """A scale too short for numbers on it has those of its ends beside it."""
    inside = np.flatnonzero(np.abs(scale.decibans) <= limit)
    ends = [] if len(inside) == 0 else sorted({int(inside[0]), int(inside[-1])})
    return [Placed(float(scale.decibans[i]), f"{scale.values[i]:.3g}".replace("-", "−"), 0) for i in ends]


def _levels(scale: Scale, limit: float, points: float, size: float) -> list[Placed]:
    """Every level, from left to right, in the first of six lines that has room; one with none has only its tick."""
    taken: dict[int, list[tuple[float, float]]] = {}
    at = np.clip(scale.decibans, -limit, limit)
    out = []
    for i in np.argsort(at, kind="stable"):
        label = (scale.labels or ())[i]
        tier = next((t for t in (1, -1, 2, -2, 3, -3) if _free(taken, t, float(at[i]), label, points, size)), 0)
        out.append(Placed(float(at[i]), label if tier else "", tier or 1))
    return out


def _free(taken: dict, tier: int, at: float, label: str, points: float, size: float) -> bool:
    """Whether a label has room in a line; if so, it takes it."""
    half = (text_width(label, size) + GAP) / 2 / points
    spans = taken.setdefault(tier, [])
    if any(at - half < b and at + half > a for a, b in spans):
        return False
    spans.append((at - half, at + half))
    return True
