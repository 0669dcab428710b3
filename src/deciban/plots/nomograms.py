"""Nomogram of a model (Možina et al. 2004): a scale for each column. To use it, find the values of a row on the scales,
read their decibans on the top ruler, add them, and find the sum and its probability on the bottom rulers.

`Scale`: the values of a column and the decibans that each of them adds, for a pair of classes.

A row's evidence is a sum over columns, so all scales are read off one small table: row i holds the i-th candidate value
of every column, and the model takes its evidence apart. A model is asked for `_candidates()` (values of each column),
`_rows_of(columns)` (the table, as it reads tables) and `_evidence(table)`; or, if it is a linear score of anyone's, for
`coef_`, `intercept_` and `classes_`. Such a score has no zero of its own: where a column begins (or ends) at 0,
as counts do, 0 has no evidence, else the middle of its values.

>>> from deciban import BernoulliNB
>>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
>>> for scale in scales_of(model).scales:
...     print(scale.name, scale.values.tolist(), scale.decibans.round(1).tolist())
x0 [0.0, 1.0] [4.8, -4.8]
x1 [0.0, 1.0] [-3.0, 1.8]

Where the labels of a scale go so that none covers another.

>>> import numpy as np
>>> branches(np.array([0.0, 2.0, 3.0, 1.0]))  # up, then back
[(0, 2, True), (2, 3, False)]
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from deciban import decision
from deciban.data import frames
from deciban.data.frames import column_labels
from deciban.decision import own_posterior
from deciban.display import NEGATIVE, PALE, POSITIVE, TEXT_COLOUR, cell_text, truncate
from deciban.errors import DataError
from deciban.plots.style import chance_ticks, import_pyplot

STEPS = 15  # levels up to which a stepped scale is drawn as such
COUNTS = (2, 5, 10, 20, 50, 100)  # round numbers on a scale, from few to many


@dataclass(frozen=True)
class Scale:
    """The values of a column, and what each adds to the log odds of the pair."""

    name: str
    values: np.ndarray  # (m,), in order; numbers, or levels of any type
    decibans: np.ndarray  # (m,)
    labels: tuple[str, ...] | None  # of levels; None for numbers
    ticks: tuple[np.ndarray, ...]  # places of round numbers in `values`: few of them, more, many …
    halves: np.ndarray | None = None  # (m,), half the widths of intervals of the decibans; None: without

    def at(self, places: np.ndarray, labels: tuple[str, ...]) -> Scale:
        """Some of the values, as levels."""
        halves = None if self.halves is None else self.halves[places]
        return Scale(self.name, self.values[places], self.decibans[places], labels, (), halves)

    @property
    def span(self) -> float:
        """How much the column can change the odds."""
        return float(np.ptp(np.clip(self.decibans, -1e6, 1e6))) if len(self.decibans) else 0.0


@dataclass(frozen=True)
class Scales:
    scales: tuple[Scale, ...]
    prior: float  # decibans of the pair without any column
    of: Any
    against: Any
    classes: np.ndarray
    start: str = "prior"  # what `prior` is; of a linear score its intercept, or the score where all scales are 0


def round_ticks(low: float, high: float, count: int) -> np.ndarray:
    """Round numbers between two limits, at most about `count` of them.

    >>> round_ticks(0.3, 9.7, 5).tolist()
    [2.0, 4.0, 6.0, 8.0]
    """
    if not high > low:
        return np.array([low])
    from matplotlib.ticker import MaxNLocator

    at = np.asarray(MaxNLocator(count, steps=[1, 2, 5, 10], min_n_ticks=1).tick_values(low, high))
    slack = 1e-9 * (high - low)
    at = at[(at >= low - slack) & (at <= high + slack)]
    return np.round(at, 12 - int(np.floor(np.log10(max(abs(low), abs(high), 1e-300))))) + 0.0  # no −0


def scales_of(
    model: Any,
    of: Any = None,
    against: Any = None,
    names: Any = None,
    values: Any = None,
    levels: Any = None,
    errors: Mapping[str, Any] | None = None,
) -> Scales:
    """All columns of a model as scales for `of` (by default the second class) against another (the first one); with
    `errors` (the arguments `error`, `level`, `training` of `explain`) intervals of their values."""
    own = own_posterior(model)
    classes = np.asarray(model.classes_)
    a, b = _pair(classes, of, against)
    if own is not None and not own.splits:
        raise DataError(
            f"columns of this {type(model).__name__} interact: their joint evidence is not a sum over columns\n\n"
            "hint: draw LinearDiscriminantAnalysis or GaussianNB; `explain(X)` shows the joint part of a row"
        )
    called = _names(model, own, names)
    found = _given(values, called, None if own is None else own.candidates())
    axes = [_axis(candidates) for candidates in found]
    if own is not None and own.anchored:
        prior, parts, start = _weigh(own, a, b, [axis[0] for axis in axes])
    else:
        prior, parts, start = _linear(model, a, b, axes)
    halves = None
    if errors is not None:
        if own is None or not own.anchored:
            raise DataError(
                f"the scales of this {type(model).__name__} have no place that evidence is counted from, so that they "
                "have no intervals\n\nhint: leave out `error`; `explain(X, error='auto')` counts from the mean row"
            )
        most = max(1, *(len(axis[0]) for axis in axes))
        block = own.block_of([_stretch(axis[0], most) for axis in axes])
        halves = model._half_widths(block, a, b, **errors)
    out = []
    for j, (name, (at, ticks)) in enumerate(zip(called, axes, strict=True)):
        own_halves = None if halves is None else halves[: len(at), j]
        out.append(stepped(Scale(name, at, parts[j], _labels(name, at, levels), ticks, own_halves)))
    return Scales(tuple(out), prior, classes[a], classes[b], classes, start)


def stepped(scale: Scale) -> Scale:
    """A scale of numbers that goes up and down in few steps (a histogram's) as levels: from – to."""
    change = np.diff(scale.decibans)
    starts = np.flatnonzero(np.r_[True, np.abs(change) > 1e-9])
    if scale.labels is not None or len(starts) > STEPS or len(scale.values) == 0:
        return scale
    if len(scale.values) < 50:  # values themselves; those that rise or fall one by one stay numbers
        if len(scale.values) < 3 or (len(starts) == len(scale.values) and abs(np.sign(change).sum()) == len(change)):
            return scale
        ends = np.r_[starts[1:], len(scale.values)] - 1
        runs = zip(scale.values[starts], scale.values[ends], strict=True)
        labels = [f"{a:g}" if a == b else f"{a:g}–{b:g}" for a, b in runs]
        return scale.at(starts, tuple(labels))
    cuts = (scale.values[starts[1:] - 1] + scale.values[starts[1:]]) / 2
    cells = [f"{cut:.{max(0, 2 - int(np.floor(np.log10(np.ptp(scale.values)))))}f}" for cut in cuts]
    labels = [f"< {cells[0]}", *(f"{a}–{b}" for a, b in pairwise(cells)), f"≥ {cells[-1]}"] if cells else ["any"]
    return scale.at(starts, tuple(labels))


def strongest(scales: Scales, most: int) -> Scales:
    """The columns that can change the odds most, from the largest span."""
    order = sorted(scales.scales, key=lambda scale: -scale.span)
    return replace(scales, scales=tuple(order[:most]))


def _pair(classes: np.ndarray, of: Any, against: Any) -> tuple[int, int]:
    def place(label: Any) -> int:
        at = np.flatnonzero(classes == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {classes.tolist()}\n\nhint: name a class of the model")
        return int(at[0])

    if len(classes) < 2:
        raise DataError("the model has one class, and no other to compare it with\n\nhint: fit on rows of two classes")
    b = place(against) if against is not None else int(of is not None and place(of) == 0)
    a = place(of) if of is not None else int(b == 0)
    if a == b:
        raise DataError(f"`of` and `against` are both {classes[a]!r}\n\nhint: name two of {classes.tolist()}")
    return a, b


def _names(model: Any, posterior: Any, names: Any) -> list[str]:
    if posterior is None:
        own = frames.feature_names(model) or column_labels(np.shape(model.coef_)[1])
    else:
        own = [str(name) for name in posterior.columns]
    if names is None:
        return own
    out = [str(names.get(name, name)) for name in own] if isinstance(names, Mapping) else [str(name) for name in names]
    if len(out) != len(own):
        raise DataError(f"`names` has {len(out)} names for {len(own)} columns\n\nhint: give one for each column")
    return out


def _given(values: Any, names: Sequence[str], own: list[np.ndarray] | None) -> list[np.ndarray]:
    """Candidates of each column: those the user gives (by name, or for all in order), else the model's own."""
    listed = {} if values is None else values if isinstance(values, Mapping) else dict(zip(names, values, strict=False))
    missing = [name for j, name in enumerate(names) if name not in listed and own is None]
    if missing:
        raise DataError(
            f"the model does not know the range of column `{missing[0]}`\n\n"
            "hint: pass values={name: (least, largest)} for each column, or values=X.T"
        )
    unknown = [name for name in listed if name not in names]
    if unknown:
        raise DataError(f"`values` names {unknown}, but the columns are {list(names)}\n\nhint: check the spelling")
    return [np.asarray(listed[name]) if name in listed else own[j] for j, name in enumerate(names)]  # type: ignore[index]


def _axis(candidates: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """(values, places of ticks): levels as they are; numbers as a fine grid in which every tick stands exactly."""
    if candidates.dtype.kind != "f" or len(candidates) == 0:
        return candidates, ()
    low, high = float(np.nanmin(candidates)), float(np.nanmax(candidates))
    rounds = [round_ticks(low, high, count) for count in COUNTS]
    if (candidates == np.rint(candidates)).all() and (len(candidates) > 2 or high - low == 1):  # counts
        grid = np.unique(candidates)
        rounds = [ticks[np.isin(ticks, grid)] for ticks in rounds]
    else:
        grid = np.unique(np.concatenate([np.linspace(low, high, 97), *rounds]))
    return grid, tuple(np.searchsorted(grid, ticks) for ticks in rounds)


def _weigh(posterior: Any, a: int, b: int, columns: list[np.ndarray]) -> tuple[float, list[np.ndarray], str]:
    """(prior, evidence of each column's values, what the prior is) from the model's own account of itself."""
    most = max(1, *(len(column) for column in columns))
    filled = [_stretch(column, most) for column in columns]
    (base, parts, *_), start = posterior.scale_evidence(posterior.block_of(filled))
    with np.errstate(invalid="ignore"):
        gap = decision.DECIBAN * np.where(parts[:, a] == parts[:, b], 0.0, parts[:, a] - parts[:, b])
        prior = decision.DECIBAN * (base[a] - base[b])
    return float(prior), [gap[: len(column), j] for j, column in enumerate(columns)], start


def _stretch(column: np.ndarray, most: int) -> np.ndarray:
    """The column, its last value repeated; a column that never had a value has none."""
    if len(column) == 0:
        return np.full(most, np.nan)
    return np.concatenate([column, np.repeat(column[-1:], most - len(column))])


def _linear(model: Any, a: int, b: int, axes: list) -> tuple[float, list[np.ndarray], str]:
    """The same of a linear score, counted from a 0 at the end of a column, or its middle; the rest is added to the
    intercept. Last what that sum is called."""
    dense = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    coef, bias = (np.asarray(a, dtype=np.float64) for a in (np.atleast_2d(dense), np.atleast_1d(model.intercept_)))
    if len(coef) == 1:
        coef, bias = np.vstack([np.zeros_like(coef), coef]), np.concatenate([[0.0], bias])
    slope = decision.DECIBAN * (coef[a] - coef[b])
    start = np.array([0.0 if at[0] * at[-1] == 0 else (at[0] + at[-1]) / 2 for at, _ in axes])
    prior = decision.DECIBAN * (bias[a] - bias[b]) + slope @ start
    parts = [slope[j] * (at - start[j]) for j, (at, _) in enumerate(axes)]
    return float(prior), parts, "zeros of all scales" if start.any() else "intercept"


def _labels(name: str, values: np.ndarray, levels: Any) -> tuple[str, ...] | None:
    """What levels are called: by the user, or as they are."""
    given = None if levels is None else levels.get(name)
    if given is None:
        return None if values.dtype.kind == "f" else tuple(cell_text(value) for value in values)
    return tuple(str(given[i]) if i < len(given) else str(value) for i, value in enumerate(values))


GAP = 5.0  # points between two labels


@dataclass(frozen=True)
class Placed:
    """A tick: where it is, what it says (nothing, where there is no room), and in which line above (> 0) or below (< 0;
    0: next to the scale)."""

    at: float
    label: str
    tier: int


def text_width(text: str, size: float) -> float:
    """Width in points, independent of the backend."""
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
    """A scale too short for numbers on it has those of its ends next to it."""
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


SMALL = 8  # points of a tick's label
WHISKER = 0.3  # height of a line of intervals under a scale
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
    error: Any = None,
    level: float = 0.9,
    training: Any = None,
    ax: Any = None,
) -> Any:
    """Nomogram of a model for a pair of classes: one scale of decibans per column, to be added by hand.

    Takes every naive Bayes, LDA, and any linear model with `coef_`, `intercept_` and `classes_`. A scale that is not
    monotone (two classes of different variance) is drawn as a hairpin: its rising branch has its numbers above, its
    falling branch below.

    Parameters
    ----------
    model : classifier
        A fitted model.
    of : label, optional
        The class that the scales are evidence for; by default the second.
    against : label, optional
        The class that it is compared with; by default the first.
    names : list or dict, optional
        Other names of the columns.
    levels : dict, optional
        Names of the codes of a column: {column: [name of 0, name of 1, …]}.
    values : dict, optional
        Range of a column: {column: (least, largest)}, or all its values. By default the model's mean ± 3 standard
        deviations.
    columns : int, default 15
        Number of columns, those with the widest scales.
    limit : float, default 50.0
        Largest evidence that is drawn, in decibans; an arrow marks a scale that continues.
    error, level, training : see `explain`
        Whiskers of the values with a number or name: intervals of their evidence, as in `explain`.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    waterfall : The evidence of one row.

    Examples
    --------
    >>> from deciban import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
    >>> ax = nomogram(model, names=["meeting", "prize"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['decibans', 'meeting', 'prize', 'total', 'P(spam)']
    """
    import_pyplot()  # the scales need matplotlib, too
    errors = None if error is None or error is False else {"error": error, "level": level, "training": training}
    whole = scales_of(model, of, against, names, values, levels, errors)
    some = strongest(whole, columns)
    return _Nomogram(some, whole, limit, ax).draw(type(model).__name__)


@dataclass(frozen=True)
class Whiskers:
    """Intervals of the values of a scale, each in the first line that has room."""

    bars: list[tuple[float, float, int]]  # place, half the width, line from 1 on

    @classmethod
    def of(cls, scale: Scale, placed: list[Placed], limit: float, gap: float) -> Whiskers:
        bars: list[tuple[float, float, int]] = []
        ends: list[float] = []  # of each line
        for p in sorted((p for p in placed if p.label), key=lambda p: p.at):
            i = int(np.argmin(np.abs(np.clip(scale.decibans, -limit, limit) - p.at)))
            half = 0.0 if scale.halves is None else float(scale.halves[i])
            if not np.isfinite(scale.decibans[i]) or half <= 0:
                continue
            line = next((n for n, end in enumerate(ends) if end + gap < p.at - half), len(ends))
            ends[line:] = [p.at + half, *ends[line + 1 :]]
            bars.append((p.at, half, line + 1))
        return cls(bars)

    @property
    def room(self) -> float:
        """The height of all lines."""
        lines = max((line for _, _, line in self.bars), default=0)
        return WHISKER * lines + 0.2 if lines else 0.0


class _Nomogram:
    """The drawing, from top to bottom; y counts lines of labels downwards, x is decibans."""

    def __init__(self, shown: Scales, whole: Scales, limit: float, ax: Any):
        everything = np.concatenate([scale.decibans for scale in shown.scales] or [np.zeros(1)])
        if np.isinf(everything).any():  # the impossible is put just beyond all that is possible
            limit = min(limit, 1.3 * max(np.abs(everything[np.isfinite(everything)]).max(initial=0.0), 4.0))
        self.shown, self.whole, self.limit = shown, whole, limit
        reach = [np.clip(scale.decibans, -limit, limit) for scale in shown.scales if len(scale.decibans)]
        most = max((np.ptp(ends) for ends in reach), default=0.0) / 2  # an interval may be wider than the scales
        for scale in shown.scales:
            if scale.halves is not None and len(scale.decibans):
                at, half = np.clip(scale.decibans, -limit, limit), np.minimum(scale.halves, most)
                reach += [np.clip(at - half, -limit, limit), np.clip(at + half, -limit, limit)]
        ends = np.concatenate([*reach, [-1.0, 1.0]])
        pad = 0.03 * np.ptp(ends)
        self.low, self.high = float(ends.min() - pad), float(ends.max() + pad)
        self.ax, self.y = ax, 0.0
        self.marks: list[tuple[float, str]] = []  # lines that have a name, and the name
        self.names = [truncate(scale.name, 34) for scale in shown.scales]

    def draw(self, title: str) -> Any:
        plt = import_pyplot()
        rows = self._placed(self._width(plt))
        heights = [1.6 + above + below + lines.room for _, _, (above, below), lines in rows]
        if self.ax is None:
            _, self.ax = plt.subplots(figsize=(self.wide, LINE * (sum(heights) + 11.0) + 0.9), layout="constrained")
        self._ruler()
        for scale, placed, (above, below), lines in rows:
            self.y += 1.1 + above
            self._scale(scale, placed)
            self._whiskers(lines, self.y + below * 0.95 + 0.15)
            self.y += 0.5 + below + lines.room
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

    def _placed(self, width: float) -> list[tuple[Scale, list[Placed], tuple[int, int], Whiskers]]:
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
            gap = 6.0 / self.scale_of
            out.append((scale, placed, (above, below), Whiskers.of(scale, placed, self.limit, gap)))
        return out

    def _tick(self, x: float, label: str, tier: int, y: float, colour: str = TEXT_COLOUR) -> None:
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
        self.ax.plot([self.low, self.high], [self.y] * 2, color=TEXT_COLOUR, lw=1.0)
        self.top = self.y
        for at in round_ticks(self.low, self.high, 10):
            self._tick(at, f"{at:+g}".replace("-", "−") if at else "0", 1, self.y)
        fine = round_ticks(self.low, self.high, 50)
        self.ax.plot(
            [fine, fine], [np.full(len(fine), self.y), np.full(len(fine), self.y - 0.14)], color=TEXT_COLOUR, lw=0.5
        )
        for text, x, side, colour in (
            (f"← {truncate(str(self.shown.against), 24)}", self.low, "left", NEGATIVE),
            (f"{truncate(str(self.shown.of), 24)} →", self.high, "right", POSITIVE),
        ):
            self.ax.text(x, self.y - 1.75, text, ha=side, va="bottom", fontsize=9, color=colour, weight="bold")

    def _scale(self, scale: Scale, placed: list[Placed]) -> None:
        self.marks.append((self.y, truncate(scale.name, 34)))
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
        self._draw_ends([p for p in placed if p.tier == 0])
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

    def _whiskers(self, lines: Whiskers, top: float) -> None:
        """The intervals of values that have a name or number, under the labels of the scale."""
        for at, half, line in lines.bars:
            ends, y = np.array([at - half, at + half]), top + WHISKER * line
            self.ax.plot(np.clip(ends, self.low, self.high), [y, y], color=_side(at), lw=0.8, gid="whisker")
            inside = ends[(ends >= self.low) & (ends <= self.high)]  # an interval that continues has no mark at its end
            self.ax.plot(inside, np.full(len(inside), y), "|", color=_side(at), ms=4.0)
            self.ax.plot(at, y, "o", color=_side(at), ms=2.0)

    def _draw_ends(self, ends: list[Placed]) -> None:
        """The numbers at both ends of a short scale, the left one first."""
        pad = 4.0 / self.scale_of
        ends = sorted(ends, key=lambda p: p.at)
        if len(ends) == 2 and ends[0].at == ends[1].at:  # no value makes a difference
            ends = [Placed(ends[0].at, " … ".join(p.label for p in ends), 0)]
        for number, p in enumerate(ends):
            right = number or len(ends) == 1
            x, side = (p.at + pad, "left") if right else (p.at - pad, "right")
            self.ax.text(x, self.y, p.label, ha=side, va="center", fontsize=SMALL, color=TEXT_COLOUR, gid="tick")

    def _line(self, low: float, high: float, y: float) -> None:
        """A part of a scale, in the colours of the classes that it is evidence for."""
        for a, b, colour in ((low, min(high, 0.0), NEGATIVE), (max(low, 0.0), high, POSITIVE)):
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
            self.ax.plot([self.low, self.high], [y, y], color=TEXT_COLOUR, lw=1.0)
        for at in round_ticks(low, high, 10):
            self._tick(self.to_x(at), f"{at:+g}".replace("-", "−") if at else "0", 1, self.y)
        self.y += 2.2
        self.marks.append((self.y, f"P({truncate(str(self.shown.of), 24)})"))
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
        for at in round_ticks(self.low, self.high, 10):
            colour = "#888888" if at == 0 else PALE
            ax.plot([at, at], [self.top, self.marks[-2][0] - 2.2], color=colour, lw=0.6, zorder=0)
        ax.set_yticks([y for y, _ in self.marks], [name for _, name in self.marks])
        ax.set(xlim=(self.low, self.high), ylim=(self.y, 0.6), xticks=[])
        ax.tick_params(axis="y", length=0)
        ax.spines[:].set_visible(False)
        left = len(self.whole.scales) - len(self.shown.scales)
        whiskers = ["whiskers: intervals of the values"] * any(s.halves is not None for s in self.shown.scales)
        notes = [f"{self.whole.start} {self.whole.prior:+.1f} decibans, counted in the probability".replace("-", "−")]
        if len(self.whole.classes) > 2:
            notes.append(f"P is of {self.shown.of} and {self.shown.against} alone")
        if left:
            widest = max(scale.span for scale in sorted(self.whole.scales, key=lambda s: -s.span)[-left:])
            notes.append(f"{left} more column{'s' * (left > 1)}, none wider than {widest:.1f} decibans")
        ax.set_xlabel(" · ".join(notes + whiskers), fontsize=SMALL, loc="left")
        ax.set_title(f"{title}: {self.shown.of} against {self.shown.against}", loc="left", fontsize=11)


def _side(decibans: float) -> str:
    return POSITIVE if decibans >= 0 else NEGATIVE
