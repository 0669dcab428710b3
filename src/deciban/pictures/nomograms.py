"""A whole model as a nomogram (Možina et al. 2004): a scale for each column. Find a row's cells on them, read their
decibans off the ruler on top, add them up, and find the sum on the ruler at the bottom, where its probability stands
below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.drawing import chance_ticks, pyplot
from deciban.palette import AGAINST, FOR, INK, PALE
from deciban.placing import Placed, branches, place, text_width
from deciban.scales import Scale, Scales, nice, scales_of, strongest
from deciban.wording import short

SMALL = 8  # points of a tick's label
LINE = 0.165  # inches of a line of such labels
TOTAL = 35.0  # decibans that the ruler of totals reaches to: 0.0003 … 0.9997


def nomogram(
    model: Any,
    *,
    of: Any = None,
    against: Any = None,
    names: Any = None,
    levels: Any = None,
    values: Any = None,
    columns: int = 15,
    limit: float = 50.0,
    ax: Any = None,
) -> Any:
    """A model as scales that one adds up by hand, for a pair of classes; returns the axes.

    `of` (by default the second class) and `against` (the first) name the pair. `names` calls the columns otherwise (a
    list, or a mapping); `levels` names the codes of a column ({column: [name of 0, name of 1, …]}); `values` says what
    columns range over ({column: (least, largest)} or all values), where it is not to be the model's own mean ± 3
    deviations. Only the `columns` with the widest scales are drawn, and no further than `limit` decibans: an arrow
    stands where a scale goes on. A scale that turns back (two classes of different variance) is drawn as a hairpin: its
    rising branch has its numbers above, its falling branch below.

    Takes every naive Bayes, LDA, and any linear score with `coef_`, `intercept_` and `classes_`.

    >>> from deciban import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
    >>> ax = nomogram(model, names=["meeting", "prize"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['decibans', 'meeting', 'prize', 'total', 'P(spam)']
    """
    whole = scales_of(model, of, against, names, values, levels)
    some = strongest(whole, columns)
    return _Nomogram(some, whole, limit, ax).draw(type(model).__name__)


class _Nomogram:
    """The drawing, from top to bottom; y counts lines of labels downwards, x is decibans."""

    def __init__(self, shown: Scales, whole: Scales, limit: float, ax: Any):
        everything = np.concatenate([scale.decibans for scale in shown.scales] or [np.zeros(1)])
        if np.isinf(everything).any():  # the impossible is put just beyond all that is possible
            limit = min(limit, 1.3 * max(np.abs(everything[np.isfinite(everything)]).max(initial=0.0), 4.0))
        self.shown, self.whole, self.limit = shown, whole, limit
        reach = [np.clip(scale.decibans, -limit, limit) for scale in shown.scales if len(scale.decibans)]
        ends = np.concatenate([*reach, [-1.0, 1.0]])
        pad = 0.03 * np.ptp(ends)
        self.low, self.high = float(ends.min() - pad), float(ends.max() + pad)
        self.ax, self.y = ax, 0.0
        self.marks: list[tuple[float, str]] = []  # lines that have a name, and the name
        self.names = [short(scale.name, 34) for scale in shown.scales]

    def draw(self, title: str) -> Any:
        plt = pyplot()
        rows = self._placed(self._width(plt))
        heights = [1.6 + above + below for _, _, (above, below) in rows]
        if self.ax is None:
            _, self.ax = plt.subplots(figsize=(self.wide, LINE * (sum(heights) + 11.0) + 0.9), layout="constrained")
        self._ruler()
        for scale, placed, (above, below) in rows:
            self.y += 1.1 + above
            self._scale(scale, placed)
            self.y += 0.5 + below
        self._bottom()
        self._finish(title)
        return self.ax

    def _width(self, plt: Any) -> float:
        """Points of paper from the left end of the scales to the right."""
        self.wide = 7.5
        if self.ax is not None:
            box = self.ax.get_window_extent()
            return float(box.width * 72 / self.ax.figure.dpi)
        name = max(text_width(name, plt.rcParams["font.size"]) for name in [*self.names, "decibans"])
        self.wide = max(self.wide, 4.8 + name / 72)
        return self.wide * 72 - name - 24

    def _placed(self, width: float) -> list[tuple[Scale, list[Placed], tuple[int, int]]]:
        for scale in self.shown.scales:  # names of levels may stick out
            for at, label in zip(np.clip(scale.decibans, -self.limit, self.limit), scale.labels or (), strict=False):
                half = text_width(label, SMALL) / 2 / width * (self.high - self.low)
                self.low, self.high = min(self.low, at - half), max(self.high, at + half)
        self.scale_of = width / (self.high - self.low)  # points of paper in one deciban
        out = []
        for scale in self.shown.scales:
            placed = place(scale, self.limit, self.scale_of, SMALL)
            above = max([p.tier for p in placed if p.label and p.tier > 0], default=0)
            below = -min([p.tier for p in placed if p.label and p.tier < 0], default=0)
            out.append((scale, placed, (above, below)))
        return out

    def _tick(self, x: float, label: str, tier: int, y: float, colour: str = INK) -> None:
        side = np.sign(tier)
        self.ax.plot([x, x], [y, y - 0.28 * side], color=colour, lw=0.8, solid_capstyle="butt")
        if abs(tier) > 1:  # a thread to a label in a further line
            self.ax.plot([x, x], [y, y - side * (0.36 + (abs(tier) - 1) * 0.95)], color=PALE, lw=0.6, zorder=0)
        if label:
            at, va = y - side * (0.36 + (abs(tier) - 1) * 0.95), "bottom" if side > 0 else "top"
            self.ax.text(x, at, label, ha="center", va=va, fontsize=SMALL, color=colour, gid="tick")

    def _ruler(self) -> None:
        """Decibans, on top of all scales."""
        self.y = 3.0
        self.marks.append((self.y, "decibans"))
        self.ax.plot([self.low, self.high], [self.y] * 2, color=INK, lw=1.0)
        self.top = self.y
        for at in nice(self.low, self.high, 10):
            self._tick(at, f"{at:+g}".replace("-", "−") if at else "0", 1, self.y)
        fine = nice(self.low, self.high, 50)
        self.ax.plot([fine, fine], [np.full(len(fine), self.y), np.full(len(fine), self.y - 0.14)], color=INK, lw=0.5)
        for text, x, side, colour in (
            (f"← {short(str(self.shown.against), 24)}", self.low, "left", AGAINST),
            (f"{short(str(self.shown.of), 24)} →", self.high, "right", FOR),
        ):
            self.ax.text(x, self.y - 1.75, text, ha=side, va="bottom", fontsize=9, color=colour, weight="bold")

    def _scale(self, scale: Scale, placed: list[Placed]) -> None:
        self.marks.append((self.y, short(scale.name, 34)))
        inside = np.clip(scale.decibans, -self.limit, self.limit)
        runs = branches(inside) if scale.labels is None else []
        apart = 0.11 if len(runs) > 1 else 0.0
        if scale.labels is not None and len(inside):
            self._line(inside.min(), inside.max(), self.y)
        for number, (start, stop, rises) in enumerate(runs):
            y = self.y - (apart if rises else -apart)
            self._line(inside[start : stop + 1].min(), inside[start : stop + 1].max(), y)
            if number:  # the bend
                self.ax.plot([inside[start]] * 2, [self.y - apart, self.y + apart], color=_side(inside[start]), lw=1.6)
        self._beside([p for p in placed if p.tier == 0])
        for p in placed:
            if p.tier:
                self._tick(p.at, p.label, p.tier, self.y - apart * np.sign(p.tier))
            if scale.labels is not None:
                self.ax.plot(p.at, self.y, "o", ms=3.5, color=_side(p.at), zorder=3)
        for beyond, edge, marker in (
            (scale.decibans > self.limit, self.limit, ">"),
            (scale.decibans < -self.limit, -self.limit, "<"),
        ):
            if beyond.any():
                self.ax.plot(edge, self.y, marker, ms=6, color=_side(edge), zorder=4, gid="beyond")

    def _beside(self, ends: list[Placed]) -> None:
        """The numbers at both ends of a short scale, the left one first."""
        pad = 4.0 / self.scale_of
        ends = sorted(ends, key=lambda p: p.at)
        if len(ends) == 2 and ends[0].at == ends[1].at:  # no value makes a difference
            ends = [Placed(ends[0].at, " … ".join(p.label for p in ends), 0)]
        for number, p in enumerate(ends):
            right = number or len(ends) == 1
            x, side = (p.at + pad, "left") if right else (p.at - pad, "right")
            self.ax.text(x, self.y, p.label, ha=side, va="center", fontsize=SMALL, color=INK, gid="tick")

    def _line(self, low: float, high: float, y: float) -> None:
        """A stretch of scale, in the colours of the classes that it speaks for."""
        for a, b, colour in ((low, min(high, 0.0), AGAINST), (max(low, 0.0), high, FOR)):
            if b > a or (a == b == low == high):
                self.ax.plot([a, b], [y, y], color=colour, lw=1.6, solid_capstyle="butt")

    def _bottom(self) -> None:
        """The ruler of totals, and the probability of each; both on a scale of their own."""
        prior = self.whole.prior if np.isfinite(self.whole.prior) else 0.0
        ends = [np.clip(s.decibans, -1e6, 1e6) for s in self.whole.scales if len(s.decibans)]
        least, most = sum(e.min() for e in ends), sum(e.max() for e in ends)
        low, high = max(least, -TOTAL - prior), min(most, TOTAL - prior)
        if high - low < 4.0:  # hardly anything to add, or only what is decided anyway
            middle = float(np.clip((low + high) / 2, -TOTAL - prior, TOTAL - prior))
            low, high = middle - 5.0, middle + 5.0
        self.total = low, high
        grow = (self.high - self.low) / (high - low)
        self.y += 2.4
        self.ax.axhline(self.y - 1.9, color=PALE, lw=0.8)
        self.marks.append((self.y, "total"))
        for y in (self.y, self.y + 2.2):
            self.ax.plot([self.low, self.high], [y, y], color=INK, lw=1.0)
        for at in nice(low, high, 10):
            self._tick(self.to_x(at), f"{at:+g}".replace("-", "−") if at else "0", 1, self.y)
        self.y += 2.2
        self.marks.append((self.y, f"P({short(str(self.shown.of), 24)})"))
        taken: list[tuple[float, float]] = []
        for decibans, label in chance_ticks():
            at = decibans - prior
            half = (text_width(label, SMALL) / 2 + 3) / (self.scale_of * grow)
            if low + half <= at <= high and all(at + half < a or at - half > b for a, b in taken):
                taken.append((at - half, at + half))
                self._tick(self.to_x(at), label, -1, self.y)
        self.y += 1.8

    def to_x(self, total: float) -> float:
        """Where a total stands on its ruler."""
        low, high = self.total
        return self.low + (total - low) / (high - low) * (self.high - self.low)

    def _finish(self, title: str) -> None:
        ax = self.ax
        for at in nice(self.low, self.high, 10):
            colour = "#888888" if at == 0 else PALE
            ax.plot([at, at], [self.top, self.marks[-2][0] - 2.2], color=colour, lw=0.6, zorder=0)
        ax.set_yticks([y for y, _ in self.marks], [name for _, name in self.marks])
        ax.set(xlim=(self.low, self.high), ylim=(self.y, 0.6), xticks=[])
        ax.tick_params(axis="y", length=0)
        ax.spines[:].set_visible(False)
        left = len(self.whole.scales) - len(self.shown.scales)
        notes = [f"prior {self.whole.prior:+.1f} decibans, counted in the probability".replace("-", "−")]
        if len(self.whole.classes) > 2:
            notes.append(f"P is of {self.shown.of} and {self.shown.against} alone")
        if left:
            widest = max(scale.span for scale in sorted(self.whole.scales, key=lambda s: -s.span)[-left:])
            notes.append(f"{left} more column{'s' * (left > 1)}, none wider than {widest:.1f} decibans")
        ax.set_xlabel(" · ".join(notes), fontsize=SMALL, loc="left")
        ax.set_title(f"{title}: {self.shown.of} against {self.shown.against}", loc="left", fontsize=11)


def _side(decibans: float) -> str:
    return FOR if decibans >= 0 else AGAINST
