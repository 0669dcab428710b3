"""Distribution of a column by class: histograms (numeric) or shares (categorical), and the model's densities.

`sigmoid`: the posterior probability over one column, with the rows at 0 and 1.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from deciban import metrics
from deciban.data import frames
from deciban.decision import is_own
from deciban.display import GREY, TEXT_COLOUR, ClassStyle, class_style, truncate
from deciban.errors import DataError
from deciban.plots import style
from deciban.plots import style as drawing
from deciban.plots.style import called, takes_model

LEVELS = 12  # that have bars of their own, the commonest


@takes_model(lambda model, X, y: ((X, y), {"model": model}), "X, y")
def class_densities(
    X: Any, y: Any, column: Any = 0, ax: Any = None, *, model: Any = None, bins: int | None = None
) -> Any:
    """One column of a frame or array, class by class, of (X, y) or (model, X, y); returns the axes.

    Numbers are histograms of area 1; levels, and whole numbers that are few, are bars of shares. Lines are the
    densities (and marks on bars the probabilities) of a fitted naive Bayes `model` of the same columns.

    >>> ax = class_densities([[1.0], [2.0], [2.5], [4.0]], ["a", "a", "b", "b"])
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    """
    bins = bins or int(np.clip(2.2 * np.cbrt(len(y)), 8, 40))
    columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
    names = [one.name for one in columns]
    if column not in names and not (isinstance(column, int | np.integer) and -len(names) <= column < len(names)):
        raise DataError(f"there is no column {column!r} among {names}\n\nhint: `column` is a name, or an index from 0")
    j = names.index(column) if column in names else range(len(names))[column]
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    own = ax is None
    ax = style.axes(ax, 5.4, 3.0)
    looks = [class_style(c, len(classes)) for c in range(len(classes))]
    one = columns[j]
    whole = one.levels is None and _few_whole(one.values)
    draw = _counts if whole else _numbers if one.levels is None else _levels
    missing = draw(
        ax, one, codes, looks, [truncate(str(label), 20) for label in classes], _ModelDensity(model, j), bins
    )
    style.style_axes(ax, "y")
    name = one.label
    label_text = f" ({100 * missing:.0f} % missing)" if missing else ""
    bars = whole or one.levels is not None
    style.set_labels(
        ax, f"{name}, class by class" if own else "", name + label_text, "share of the class" if bars else "density"
    )
    outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
    style.legend(ax, **(outside if bars or own else {"loc": "best"}))
    return ax


class _ModelDensity:
    """The model's class-conditional density of one column, if it has one for each column."""

    def __init__(self, model: Any, j: int):
        self.state: Any = model._tally_state() if is_own(model) else None
        self.j, self.there = j, self.state is not None and self.state.family.has_parts

    def of(self, values: np.ndarray) -> np.ndarray | None:
        """(m, k): the density, or probability, of values of the column."""
        if not self.there:
            return None
        posterior, family, params = self.state.posterior, self.state.family, self.state.params
        kinds = [np.asarray(candidates).dtype.kind for candidates in posterior.candidates()]
        missing = [np.full(len(values), np.nan if kind in "fiu" else None) for kind in kinds]
        rows = posterior.block_of([*missing[: self.j], values, *missing[self.j + 1 :]])
        logs = family.parts(params, rows)[:, :, self.j]
        common = family.carrier(params, rows)  # the factor that all classes share
        if common is not None:
            logs = logs + common[:, None]
        return np.exp(logs)


def _numbers(
    ax: Any,
    one: frames.Column,
    codes: np.ndarray,
    looks: list[ClassStyle],
    names: list[str],
    model: _ModelDensity,
    bins: int,
) -> float:
    values = np.asarray(one.values, dtype=np.float64)
    there = np.isfinite(values)
    low, high = (float(values[there].min()), float(values[there].max())) if there.any() else (0.0, 1.0)
    edges = np.linspace(low, high + (low == high), bins + 1)
    for c, look in enumerate(looks):
        mine = values[there & (codes == c)]
        if len(mine):
            height, _ = np.histogram(mine, edges, density=True)
            ax.stairs(height, edges, fill=True, color=look.colour, alpha=0.22)
            ax.stairs(height, edges, color=look.colour, lw=1.0 if model.there else 1.6, ls=look.style, label=names[c])
    pad = 0.06 * (high - low)
    at = np.linspace(low - pad, high + pad, 300)
    curves = model.of(at)
    for c, look in enumerate(looks):
        if curves is not None:
            ax.plot(at, curves[:, c], color=look.colour, ls=look.style, lw=2.0)
    ax.set_ylim(bottom=0)
    return 1 - float(there.mean())


def _few_whole(values: np.ndarray) -> bool:
    """Whether all numbers are whole, and within 40."""
    values = values[np.isfinite(values)]
    return bool(len(values) and (values == np.rint(values)).all() and np.ptp(values) < 40)


def _counts(
    ax: Any,
    one: frames.Column,
    codes: np.ndarray,
    looks: list[ClassStyle],
    names: list[str],
    model: _ModelDensity,
    _: int,
) -> float:
    values = np.asarray(one.values, dtype=np.float64)
    there = np.isfinite(values)
    at = np.arange(values[there].min(), values[there].max() + 1)
    places = [(values[there & (codes == c)] - at[0]).astype(np.int64) for c in range(len(looks))]
    share = [np.bincount(own, minlength=len(at)) / max(len(own), 1) for own in places]
    _bars(ax, at, share, model.of(at), looks, names)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return 1 - float(there.mean())


def _bars(
    ax: Any,
    at: np.ndarray,
    share: list[np.ndarray],
    believed: np.ndarray | None,
    looks: list[ClassStyle],
    names: list[str],
) -> None:
    """Shares of each class side by side, and what a model has for them as marks."""
    k = len(looks)
    wide = 0.8 / k
    for c, look in enumerate(looks):
        own = at + (c - (k - 1) / 2) * wide
        ax.bar(own, share[c], 0.92 * wide, color=look.colour, alpha=0.75, label=names[c])
        if believed is not None:
            ax.plot(own, believed[:, c], ls="none", marker=look.marker, ms=4.5, mfc="white", mec=TEXT_COLOUR, mew=0.9)


def _levels(
    ax: Any,
    one: frames.Column,
    codes: np.ndarray,
    looks: list[ClassStyle],
    names: list[str],
    model: _ModelDensity,
    _: int,
) -> float:
    assert one.levels is not None
    there = ~one.missing
    order = np.argsort(-np.bincount(one.values[there], minlength=len(one.levels)), kind="stable")[:LEVELS]
    shown = np.array([*(one.levels[i] for i in order), None], dtype=object)[:-1]
    counts = [np.bincount(one.values[there & (codes == c)], minlength=len(one.levels)) for c in range(len(looks))]
    share = [count[order] / max(count.sum(), 1) for count in counts]
    _bars(ax, np.arange(len(order)), share, model.of(shown), looks, names)
    texts = [truncate(str(level), 14) for level in shown]
    ax.set_xticks(range(len(texts)), texts, rotation=0 if sum(map(len, texts)) < 44 else 90)
    style.disable_mathtext(*ax.get_xticklabels())
    return 1 - float(there.mean())


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
    place = int(metrics.codes_of([classes[1] if of is None else of], classes)[0])
    chosen = truncate(str(classes[place]), 20)
    ax = drawing.axes(ax, 5.6, 3.4)
    before = sum(line.get_gid() == "curve" for line in ax.lines)
    if not before:
        others = "others" if len(classes) > 2 else truncate(str(classes[1 - place]), 20)
        _rows(ax, column.values, np.asarray(y) == classes[place], (others, chosen))
    at = _grid(ax, column.values, before)
    curve = _probabilities(model, X, column, at)[:, place]
    look = class_style(before, 3)
    colour = look.colour if before else TEXT_COLOUR
    name = label or called(model)
    style = {"color": colour, "ls": "-" if not before else (0, (5, 1.5)), "lw": 2.0, "zorder": 4}
    ax.plot(at, curve, label=name, gid="curve", **style)
    for turn in _turns(at, curve):
        ax.axvline(turn, color=colour if before else GREY, lw=0.9, ls=(0, (4, 3)), zorder=1)
        label_text = f"{turn:.3g}".replace("-", "−")
        offset = {"xytext": (3, 0), "textcoords": "offset points", "ha": "left", "va": "bottom"}
        ax.annotate(label_text, (turn, 1.07 + LINE * before), fontsize=8.5, color=colour, zorder=5, **offset)
    ax.set(xlim=(at[0], at[-1]), ylim=(-0.08, 1.08 + LINE * (before + 1)), yticks=np.linspace(0, 1, 6))
    drawing.style_axes(ax, "y")
    names = [line.get_label() for line in ax.lines if line.get_gid() == "curve"]
    label_text = (
        f"{name}: P({chosen}) and where the odds are even" if not before else f"P({chosen}) of {' and '.join(names)}"
    )
    drawing.set_labels(ax, label_text, xlabel or _name(column, model), f"P({chosen} | x)")
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
    known = frames.feature_names(model)
    return column.name if isinstance(column.name, str) else known[0] if known else "x"


def _rows(ax: Any, x: np.ndarray, hit: np.ndarray, names: tuple[str, str]) -> None:
    """Rows of the class at the top, the others at the bottom, and their shares between."""
    jitter = np.random.default_rng(0).uniform(-0.022, 0.022, len(x))
    for is_of in (False, True):
        rows, look = hit == is_of, class_style(int(is_of), 2)
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
        return np.asarray(model.predict_proba(frames.to_frame([frames.Column(column.name, at)], library)))


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
        interval = metrics.proportion_interval(int(hit[rows].sum()), len(rows))
        middle = float(x[rows].mean())
        ax.plot([middle] * 2, [interval.low, interval.high], color=GREY, lw=1.2, zorder=3)
        ax.plot(middle, interval.value, "D", ms=4, mfc="white", mec=GREY, zorder=3)
