"""Class densities of one column, over histograms (numbers) or shares (levels) of rows, and of two columns as rings.

`sigmoid`: the posterior probability over one column, with the rows at 0 and 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from deciban import metrics
from deciban.data import frames
from deciban.decision import is_own, own_posterior
from deciban.display import COLOURS, GREY, STYLES, TEXT_COLOUR, ClassStyle, class_style, truncate
from deciban.errors import DataError
from deciban.plots import regions, style
from deciban.plots import style as drawing
from deciban.plots.style import called, described, takes_model

LEVELS = 12  # that have bars of their own, the commonest
WHOLE = 40  # range of whole numbers that have bars of their own


@takes_model(lambda model, X, y: ((X, y), {"model": model}), "X, y", needs_rows=False)
def densities(
    X: Any = None,
    y: Any = None,
    columns: Any = None,
    ax: Any = None,
    *,
    model: Any = None,
    bins: int | None = None,
    points: int = 1000,
    title: str | None = None,
) -> Any:
    """Class densities p(x | class) of one column or two, of (model), (model, X, y) or (X, y); returns the axes.

    One column of numbers: curves of the model over histograms of the rows. Levels, and whole numbers that are few, are
    bars of shares; the model's probabilities are marks on them, its density of whole numbers a curve. Two columns of
    numbers: rings of the model at 1, 2 and 3 deviations of a normal, and the rows. All other columns of the model are
    integrated out.

    Parameters
    ----------
    X : frame or array of shape (n, d), optional
        Without labels it gives the range that is drawn; without X, that is the range of the model.
    y : labels of shape (n,), or the name of a column of X, optional
        The class of each row.
    columns : name or index, or a pair of them, optional
        By default both columns of a table of two columns of numbers, else the first column.
    ax : matplotlib axes, by default new ones
        The axes to draw into.
    model : fitted classifier with densities, optional
        Naive Bayes, or a linear or quadratic discriminant analysis.
    bins : int, optional
        Number of bins of a histogram; by default it grows with the number of rows.
    points : int, default 1000
        At most so many rows are drawn in two dimensions.
    title : str, optional
        By default the model with its settings and the name of the column.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    decision_regions : Regions of the classes.

    Examples
    --------
    >>> from deciban import GaussianNB
    >>> X, y = [[1.0], [2.0], [2.5], [4.0]], ["a", "a", "b", "b"]
    >>> ax = densities(X, y)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    >>> len(densities(GaussianNB().fit(X, y)).lines)
    2
    """
    X, y = frames.take_target(X, y)
    if model is None and (X is None or y is None):
        what = "nothing" if X is None else "rows without labels"
        raise DataError(f"{what} to draw\n\nhint: densities(model), densities(model, X, y), or densities(X, y)")
    table = _model_columns(model) if X is None else frames.columns(X if frames.is_frame(X) else np.asarray(X))
    places = _places(table, columns)
    density = None if model is None else ColumnDensity.from_model(model, table, places)
    classes = np.unique(np.asarray(y)) if model is None else np.asarray(model.classes_)
    looks = [class_style(c, len(classes)) for c in range(len(classes))]
    name = ", ".join(table[j].label for j in places)
    if title is None:
        what = f"{name}, class by class" if model is None else f"{described(model)}: p({name}\xa0|\xa0class)"
        title = style.in_lines(what) if ax is None else ""
    if len(places) == 2:
        ax = _draw_plane(ax, [table[j] for j in places], y, classes, looks, density, points, title)
    else:
        codes = None if y is None else metrics.codes_of(y, classes)
        shown = _ClassColumn(table[places[0]], codes, looks, [truncate(str(label), 20) for label in classes], density)
        ax = _draw_column(style.axes(ax, 5.8, 3.3), shown, bins, title)
    style.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _places(table: list[frames.Column], columns: Any) -> list[int]:
    """The places of the columns that are drawn, one or two."""
    if columns is None:
        both = len(table) == 2 and all(one.levels is None for one in table)
        return [0, 1] if both else [0]
    alone = not isinstance(columns, list | tuple) or columns in [one.name for one in table]
    wanted = [columns] if alone else list(columns)
    if len(wanted) not in (1, 2):
        raise DataError(f"{len(wanted)} columns to draw\n\nhint: name one of them, or two")
    find = regions.find_column if len(wanted) == 1 else regions.find_numbers
    return [find(table, one) for one in wanted]


def _model_columns(model: Any) -> list[frames.Column]:
    """The columns of a model without rows, with the values that it expects in each of them."""
    posterior = own_posterior(model)
    found = None if posterior is None else posterior.candidates()
    if found is None:
        raise DataError(f"the range of the columns of {called(model)} is not known\n\nhint: densities(model, X, y)")
    out = []
    for name, values in zip(posterior.columns, map(np.asarray, found), strict=True):
        numbers = values.dtype.kind in "fiu"
        levels = None if numbers else [level for level in values.tolist() if level is not None]
        out.append(frames.Column(name, values if levels is None else np.arange(len(levels), dtype=np.int32), levels))
    return out


def _has_column_densities(state: Any) -> bool:
    """Whether columns alone have densities: not those of rules, of words, or of networks."""
    family = state.family
    columnwise = family.columnwise or family.measure == "densities"
    return columnwise and family.density and not state.posterior.interacts


@dataclass(frozen=True, eq=False)
class ColumnDensity:
    """p(cells | class) of some columns of a model, all others integrated out."""

    state: Any
    places: list[int]
    expected: list[np.ndarray]  # values of each column of the model: numbers in ascending order, or levels

    @classmethod
    def from_model(cls, model: Any, table: list[frames.Column], places: list[int]) -> ColumnDensity:
        """Of these columns of a table; columns that the model knows by name are found by it."""
        state: Any = model._tally_state() if is_own(model) else None
        if state is None or not _has_column_densities(state):
            raise DataError(
                f"{called(model)} has no density of single columns\n\n"
                "hint: draw naive Bayes of numbers or levels, or a linear or quadratic discriminant analysis"
            )
        known = state.posterior.columns
        own = [known.index(table[j].label) if table[j].label in known else j for j in places]
        return cls(state, own, [np.asarray(values) for values in state.posterior.candidates()])

    def logs(self, *cells: np.ndarray) -> np.ndarray:
        """(m, k): the log density, or log probability, of cells of each of the columns."""
        family, params = self.state.family, self.state.params
        numbers = [values.dtype.kind in "fiu" for values in self.expected]
        columns = [np.full(len(cells[0]), np.nan if number else None) for number in numbers]
        for j, own in zip(self.places, cells, strict=True):
            columns[j] = own
        rows = self.state.posterior.block_of(columns)
        with np.errstate(all="ignore"):
            if family.has_parts:
                out = self.state.reader.shown_parts(family.parts(params, rows))[:, :, self.places].sum(axis=2)
            else:
                out = family.loglik(params, rows)
            common = family.carrier(params, rows)  # the factor that all classes share
        return out if common is None else out + common[:, None]

    def range(self, rank: int) -> tuple[float, float]:
        """The least and the largest number that the model expects in one of the columns."""
        found = self.expected[self.places[rank]]
        return float(found[0]), float(found[-1])

    @property
    def continuous(self) -> bool:
        """Whether it is a density of numbers, and not the probability of whole numbers or levels."""
        values = self.expected[self.places[0]]
        return values.dtype.kind in "f" and bool((values != np.rint(values)).any())


@dataclass(frozen=True, eq=False)
class _ClassColumn:
    """A column by class: what is drawn of it."""

    column: frames.Column
    codes: np.ndarray | None  # the class of each row; None: there are no rows, the column holds values to draw
    looks: list[ClassStyle]
    names: list[str]
    density: ColumnDensity | None

    @property
    def there(self) -> np.ndarray:
        """Which rows are not missing."""
        return ~self.column.missing if self.column.levels is not None else np.isfinite(self.column.values)

    @property
    def has_few_values(self) -> bool:
        """Whether the numbers are whole, and so few that each has a bar: the model gives them probabilities, or there
        are more rows than values."""
        values = self.column.values[self.there]
        if not (len(values) and (values == np.rint(values)).all() and np.ptp(values) < WHOLE):
            return False
        if self.density is not None and not self.density.continuous:
            return True
        return self.codes is not None and len(values) > np.ptp(values)

    def shares(self, places: np.ndarray, count: int) -> list[np.ndarray]:
        """The share of each value in each class, for the place of its value in each row."""
        out = []
        for c in range(len(self.looks)):
            mine = np.bincount(places[self.there & (self.codes == c)], minlength=count)
            out.append(mine / max(mine.sum(), 1))
        return out


def _draw_column(ax: Any, shown: _ClassColumn, bins: int | None, title: str) -> Any:
    one, there = shown.column, shown.there
    values = one.values[there]
    bars = one.levels is not None or shown.has_few_values
    if one.levels is not None:
        _draw_levels(ax, shown)
    elif bars:
        _draw_counts(ax, shown)
    else:
        _draw_numbers(ax, shown, bins or int(np.clip(2.2 * np.cbrt(len(values)), 8, 40)))
    ax.set_ylim(bottom=0)
    style.style_axes(ax, "y")
    missing = 0.0 if shown.codes is None else 1 - float(there.mean())
    label = one.label + (f" ({100 * missing:.0f} % missing)" if missing else "")
    mass = "P(x | class)" if shown.codes is None else "share of the class"
    style.set_labels(ax, title, label, mass if bars else "density p(x | class)")
    return ax


def _draw_numbers(ax: Any, shown: _ClassColumn, bins: int) -> None:
    """Histograms of area 1, and the densities of the model."""
    values = np.asarray(shown.column.values, dtype=np.float64)
    numbers = values[shown.there]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    if shown.codes is not None:
        edges = _edges(numbers, low, high, bins)
        for c, (look, name) in enumerate(zip(shown.looks, shown.names, strict=True)):
            mine = values[shown.there & (shown.codes == c)]
            if len(mine):
                height, _ = np.histogram(mine, edges, density=True)
                wide = 1.6 if shown.density is None else 0.9
                ax.stairs(height, edges, fill=True, color=look.colour, alpha=0.22)
                ax.stairs(height, edges, color=look.colour, lw=wide, ls=look.style, label=name)
    if shown.density is not None:
        _draw_curves(ax, shown, _curve_range(shown.density.range(0), low, high), shown.codes is None)


def _curve_range(expected: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """The numbers of the rows with a margin, and those that the model expects near them."""
    (least, most), span = expected, high - low
    left, right = (max(least, low - span / 2), min(most, high + span / 2)) if span else (least, most)
    return min(left, low - 0.06 * span), max(right, high + 0.06 * span)


def _draw_curves(ax: Any, shown: _ClassColumn, limits: tuple[float, float], named: bool) -> None:
    assert shown.density is not None
    at = np.linspace(*limits, STEPS)
    height = np.exp(shown.density.logs(at))
    for c, (look, name) in enumerate(zip(shown.looks, shown.names, strict=True)):
        dashes = STYLES[c % len(STYLES)]
        ax.plot(at, height[:, c], color=look.colour, ls=dashes, lw=2.0, label=name if named else None)


def _edges(numbers: np.ndarray, low: float, high: float, bins: int) -> np.ndarray:
    """Borders of bins: whole numbers have bins of a whole width, with borders between them."""
    if len(numbers) and (numbers == np.rint(numbers)).all():
        wide = np.ceil((high - low + 1) / bins)
        return np.arange(low - 0.5, high + wide, wide)
    return np.linspace(low, high + (low == high), bins + 1)


def _draw_counts(ax: Any, shown: _ClassColumn) -> None:
    values = np.where(shown.there, shown.column.values, np.nan)
    at = np.arange(np.nanmin(values), np.nanmax(values) + 1)
    places = np.nan_to_num(values - at[0]).astype(np.int64)
    _draw_bars(ax, at, at, None if shown.codes is None else shown.shares(places, len(at)), shown)
    ax.xaxis.get_major_locator().set_params(integer=True)


def _draw_levels(ax: Any, shown: _ClassColumn) -> None:
    one, there = shown.column, shown.there
    assert one.levels is not None
    order = np.argsort(-np.bincount(one.values[there], minlength=len(one.levels)), kind="stable")[:LEVELS]
    cells = np.array([*(one.levels[i] for i in order), None], dtype=object)[:-1]
    places = np.where(there, one.values, 0)
    share = None if shown.codes is None else [own[order] for own in shown.shares(places, len(one.levels))]
    _draw_bars(ax, np.arange(len(order)), cells, share, shown)
    texts = [truncate(str(level), 14) for level in cells]
    ax.set_xticks(range(len(texts)), texts, rotation=0 if sum(map(len, texts)) < 44 else 90)
    style.disable_mathtext(*ax.get_xticklabels())


def _draw_bars(ax: Any, at: np.ndarray, cells: np.ndarray, share: list[np.ndarray] | None, shown: _ClassColumn) -> None:
    """Shares of each class side by side, and the model's probabilities as marks (its density as a curve); without rows,
    the bars are the model's."""
    k, density = len(shown.looks), shown.density
    wide = 0.8 / k
    curve = density is not None and density.continuous
    marks = None if density is None or curve else np.exp(density.logs(cells))
    heights = marks.T if share is None and marks is not None else share
    for c, (look, name) in enumerate(zip(shown.looks, shown.names, strict=True)):
        own = at + (c - (k - 1) / 2) * wide
        if heights is not None:
            ax.bar(own, heights[c], 0.92 * wide, color=look.colour, alpha=0.45 if curve else 0.75, label=name)
        if marks is not None and share is not None:
            ax.plot(own, marks[:, c], ls="none", marker=look.marker, ms=4.5, mfc="white", mec=TEXT_COLOUR, mew=0.9)
    if density is not None and curve:
        _draw_curves(ax, shown, _curve_range(density.range(0), at[0] - 0.5, at[-1] + 0.5), False)


def _draw_plane(
    ax: Any,
    two: list[frames.Column],
    y: Any,
    classes: np.ndarray,
    looks: list[ClassStyle],
    density: ColumnDensity | None,
    points: int,
    title: str,
) -> Any:
    """Rings of the class densities over two columns, and the rows."""
    from matplotlib.lines import Line2D

    ends = [(np.nanmin(one.values), np.nanmax(one.values)) for one in two]
    if density is not None:
        ends = [_curve_range(density.range(rank), *limits) for rank, limits in enumerate(ends)]
    extent, equal = regions.fitting_extent(np.transpose(ends), None)
    ax = style.axes(ax, *regions.figure_size(extent, equal))
    if density is not None:
        x, upwards = (np.linspace(*limits, regions.STEPS) for limits in (extent[:2], extent[2:]))
        logs = density.logs(*(grid.ravel() for grid in np.meshgrid(x, upwards)))
        regions.density_contours(ax, x, upwards, logs.reshape(len(upwards), len(x), -1), looks)
    if y is not None:
        rows = np.column_stack([np.asarray(one.values, dtype=np.float64) for one in two])
        regions.draw_points(ax, rows, y, classes, looks, points)
    else:
        for look, label in zip(looks, classes, strict=True):
            ax.add_line(Line2D([], [], color=look.colour, ls=look.style, label=truncate(str(label), 20)))
    ax.set(xlim=extent[:2], ylim=extent[2:], aspect="equal" if equal else "auto")
    style.style_axes(ax)
    style.set_labels(ax, title, *(one.label for one in two))
    return ax


STEPS = 400
SHARES = 8  # groups of equal size whose shares are drawn
LINE = 0.085  # height of a line of labels above the rows
LABEL = 0.16  # of the width of the axes: the longest label of a turning point
REACH = 6.0  # of the bare curve, to both sides
BOTTOM = -0.08  # of the picture


def sigmoid(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    ax: Any = None,
    *,
    label: str | None = None,
    of: Any = None,
    xlabel: str | None = None,
    title: str | None = None,
) -> Any:
    """P(class | x) of models of one column, over the rows themselves; returns the axes.

    Rows of `of` (by default the second class) lie at the top, all others at the bottom; the grey bars are the shares of
    eight groups of rows with their 95 % intervals. Dashed lines mark where the odds are even, the numbers above all
    rows where that is. More curves can be drawn into the same axes. Without any arguments: the logistic function g(z).

    Parameters
    ----------
    model : fitted classifier with `predict_proba`, or a dictionary of several by name, optional
        The model to draw.
    X : array of shape (n,) or (n, 1), or a frame of one column
        The rows; without y, the range that is drawn.
    y : labels of shape (n,), or the name of a column of X, optional
        The class of each row.
    ax : matplotlib axes, by default new ones
        The axes to draw into.
    label : name of the curve, by default the name of the model's class
        The name in the legend.
    of : the class whose probability is drawn
        The class whose probability is drawn.
    xlabel : name of the axis, by default that of the column
        The label of the axis.
    title : by default the model with its settings
        The title above the axes.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    densities : The densities of one column or two.

    Examples
    --------
    >>> from deciban import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1]
    >>> ax = sigmoid(LogisticRegression().fit(X, y), X, y)
    >>> ax.get_ylabel()
    'P(1 | x)'
    >>> two = {f"C = {C:g}": LogisticRegression(C=C).fit(X, y) for C in (0.1, 10)}
    >>> [text.get_text() for text in sigmoid(two, X, y).get_legend().get_texts()]
    ['0', '1', 'C = 0.1', 'C = 10']
    """
    if model is None:
        return _logistic_function(drawing.axes(ax, 5.6, 3.4), label, xlabel, title)
    models = dict(model) if isinstance(model, Mapping) else {label or called(model): model}
    if X is None or not models:
        raise DataError(
            "a sigmoid of a model needs rows, or a range\n\nhint: sigmoid(model, X, y) or sigmoid(model, X)"
        )
    X, y = frames.take_target(X, y)
    column = _column(X)
    first = next(iter(models.values()))
    classes = np.asarray(first.classes_)
    place = int(metrics.codes_of([classes[1] if of is None else of], classes)[0])
    chosen = truncate(str(classes[place]), 20)
    ax = drawing.axes(ax, 5.6, 3.4)
    if y is not None and not _curves(ax):
        others = "others" if len(classes) > 2 else truncate(str(classes[1 - place]), 20)
        _rows(ax, column.values, np.asarray(y) == classes[place], (others, chosen))
    at = _grid(ax, column.values)
    for name, one in models.items():
        own = int(metrics.codes_of([classes[place]], np.asarray(one.classes_))[0])
        _draw_sigmoid(ax, at, _probabilities(one, X, column, at)[:, own], name)
    names = [line.get_label() for line in _curves(ax)]
    if title is None:
        what = label or described(first) if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        title = drawing.in_lines(f"P({chosen} | x) of {what}")
    _finish_sigmoid(ax, title, xlabel or _name(column, first), f"P({chosen} | x)")
    return ax


def _logistic_function(ax: Any, label: str | None, xlabel: str | None, title: str | None) -> Any:
    """g(z) = 1 / (1 + exp(−z)), 1/2 at 0."""
    at = np.linspace(-REACH, REACH, STEPS)
    _draw_sigmoid(ax, at, expit(at), label or "_nolegend_")
    formula = "g(z) = 1 / (1 + exp(−z))"
    _finish_sigmoid(ax, formula if title is None else title, xlabel or "z", "g(z)")
    return ax


def _curves(ax: Any) -> list:
    """The sigmoids in the axes."""
    return [line for line in ax.lines if line.get_gid() == "curve"]


def _draw_sigmoid(ax: Any, at: np.ndarray, curve: np.ndarray, name: str) -> None:
    """A curve in a colour and with dashes of its own."""
    before = len(_curves(ax))
    colour = COLOURS[(before + 1) % len(COLOURS)] if before else TEXT_COLOUR
    ax.plot(at, curve, label=name, gid="curve", color=colour, ls=STYLES[before % len(STYLES)], lw=2.0, zorder=4)


def _mark_turns(ax: Any) -> float:
    """Lines and numbers where the curves pass one half; returns the height of all this.

    Numbers of the left turning points are at the left of their lines, the others at the right. Of two that are close,
    the outer one is lower, and its line ends there: so no line crosses a number."""
    for old in [one for one in (*ax.lines, *ax.texts) if one.get_gid() == "turn"]:
        old.remove()
    left, right = ax.get_xlim()
    room = LABEL * (right - left)
    curves = _curves(ax)
    found = sorted((turn, curve.get_color()) for curve in curves for turn in _turns(*curve.get_data()))
    before, after = found[: len(found) // 2], found[: len(found) // 2 - 1 : -1] if len(found) > 1 else found
    top = 1.03
    for side, turns in (("right", before), ("left", after)):
        placed: list[tuple[float, float]] = []
        for turn, colour in turns:
            height = max((y + LINE for x, y in placed if abs(x - turn) < room), default=1.07)
            placed.append((turn, height))
            top = max(top, height + LINE)
            outside = turn - room < left if side == "right" else turn + room > right
            _mark_turn(ax, turn, height, colour, {"right": "left", "left": "right"}[side] if outside else side)
    return top


def _mark_turn(ax: Any, turn: float, height: float, colour: str, side: str) -> None:
    near = abs(turn) < 1e-6 * np.ptp(ax.get_xlim())
    text = "0" if near else f"{turn:.3g}".replace("-", "−")
    thin = colour if colour != TEXT_COLOUR else GREY
    ax.plot([turn, turn], [BOTTOM, height + LINE], color=thin, lw=0.9, ls=(0, (4, 3)), zorder=1, gid="turn")
    style = {"fontsize": 8.5, "color": colour, "zorder": 5, "gid": "turn", "ha": side, "va": "bottom"}
    ax.annotate(text, (turn, height), xytext=(3 if side == "left" else -3, 0), textcoords="offset points", **style)


def _finish_sigmoid(ax: Any, title: str, xlabel: str, ylabel: str) -> None:
    ax.set_xlim(min(line.get_xdata()[0] for line in _curves(ax)), max(line.get_xdata()[-1] for line in _curves(ax)))
    ax.set(ylim=(BOTTOM, _mark_turns(ax) + 0.01), yticks=np.linspace(0, 1, 6))
    drawing.style_axes(ax, "y")
    drawing.set_labels(ax, title, xlabel, ylabel)
    drawing.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _column(X: Any) -> frames.Column:
    """The one column of X, as numbers."""
    cells = X if frames.is_frame(X) else np.asarray(X, dtype=np.float64)
    table = frames.columns(cells if frames.is_frame(X) else cells.reshape(len(cells), -1))
    if len(table) != 1:
        raise DataError(f"X has {len(table)} columns\n\nhint: a sigmoid is drawn over one; see `decision_regions`")
    if table[0].levels is not None:
        raise DataError(f"column `{table[0].name}` holds no numbers\n\nhint: see `densities`")
    return replace(table[0], values=np.asarray(table[0].values, dtype=np.float64))


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


def _grid(ax: Any, x: np.ndarray) -> np.ndarray:
    """Where curves are drawn at: over these rows, and over what is drawn already."""
    low, high = float(np.nanmin(x)), float(np.nanmax(x))
    pad = 0.04 * (high - low or 1.0)
    left, right = ax.get_xlim() if _curves(ax) else (low - pad, high + pad)
    return np.linspace(min(left, low - pad), max(right, high + pad), STEPS)


def _probabilities(model: Any, X: Any, column: frames.Column, at: np.ndarray) -> np.ndarray:
    """P(class | x), (m, k), at values of the column, as the kind of table that X is."""
    library = frames.library(X) if frames.is_frame(X) else None
    with warnings.catch_warnings():  # an array for a model that knows the column's name
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        return np.asarray(model.predict_proba(frames.to_frame([replace(column, values=at)], library)))


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
