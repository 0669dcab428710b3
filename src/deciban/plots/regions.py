"""Decision regions: shading by the posterior, boundaries where the odds are even.

A plot has two axes. With more than two columns, either two columns are named and the others are fixed (at their median
or most frequent category), or the rows are projected on the two directions that separate the classes best (Fisher's
discriminants); a point of that plane is mapped back to a row with all other directions at the mean.

    slice         two columns vary, every other is fixed at its median (numeric) or most frequent category
    discriminant  t = (x − mean) A V, and back: x = mean + t Vᵀ A⁻¹, where A makes the classes' own scatter round
                  and V are the two directions along which their means are furthest apart

>>> import numpy as np
>>> x = np.array([[0.0, 0, 1], [1, 1, 1], [0, 1, 3], [4, 0, 2], [5, 1, 2.5], [4, 1, 1.0]])
>>> plane = discriminant_plane(frames.columns(x), np.array([0, 0, 0, 1, 1, 1]), None)
>>> plane.points.shape, plane.rows(plane.points).shape
((6, 2), (6, 3))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.data.sampling import draw_rows
from deciban.decision import is_own, log_proba_of
from deciban.display import BACKGROUND, TEXT_COLOUR, cell_text, class_style, truncate
from deciban.errors import DataError
from deciban.plots import style as drawing
from deciban.plots.style import called, described

Extent = tuple[float, float, float, float]  # left, right, low, high

RIDGE = 1e-6  # of the mean variance, so that every scatter has an inverse


@dataclass(frozen=True, eq=False)
class Projection:
    """A projection of rows to two dimensions, and its inverse."""

    points: np.ndarray  # (n, 2)
    rows: Callable[[np.ndarray], Any]  # points (m, 2) → rows that a model reads
    names: tuple[str, str]
    note: str = ""
    whole: bool = False  # nothing is left out: there are but two columns


def slice_projection(columns: list[frames.Column], two: Any, library: str | None) -> Projection:
    """Two columns, by index or name, all others fixed."""
    a, b = (find_numbers(columns, one) for one in two)
    still = [_typical(column) for column in columns]

    def rows(points: np.ndarray) -> Any:
        out = []
        for j, column in enumerate(columns):
            kind = np.float64 if column.levels is None else object
            cells = np.full(len(points), still[j], dtype=kind) if j not in (a, b) else points[:, (a, b).index(j)]
            out.append(frames.Column(column.name, cells, unit=column.unit))
        return frames.to_frame(out, library)

    others = [f"{column.label} = {cell_text(still[j])}" for j, column in enumerate(columns) if j not in (a, b)]
    note = f"\nat {', '.join(others[:3])}{', …' * (len(others) > 3)}" if others else ""
    points = np.column_stack([np.asarray(columns[j].values, dtype=np.float64) for j in (a, b)])
    return Projection(points, rows, (columns[a].label, columns[b].label), note, not others)


def discriminant_plane(columns: list[frames.Column], y: np.ndarray, library: str | None) -> Projection:
    """The first two discriminants of all columns, which must be numbers.

    Not by scikit-learn's classifier: it drops or refuses columns that are constant within the classes, classes of one
    row, and a single class, and it has no second axis of two classes.
    """
    texts = [column.label for column in columns if column.levels is not None]
    if texts:
        raise DataError(
            f"column `{texts[0]}` holds no numbers, and a projection needs them\n\nhint: name two `columns` for a slice"
        )
    x = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
    centre = np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), centre, x) - centre
    round_, back = _whitening(x, y)
    directions = _discriminant_axes(x @ round_, y, back)

    def rows(points: np.ndarray) -> Any:
        cells = centre + points @ (directions.T @ back)
        return frames.to_frame([replace(c, values=own) for c, own in zip(columns, cells.T, strict=True)], library)

    note = f"\n{len(columns)} columns, seen along two discriminants"
    return Projection(x @ round_ @ directions, rows, ("first discriminant", "second discriminant"), note)


def _whitening(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (d, d) that makes the scatter within classes round, and its inverse."""
    within = x - _means(x, y)
    scale = np.sqrt((within**2).mean(axis=0))
    scale[scale == 0] = 1.0
    within = within / scale
    values, vectors = np.linalg.eigh(within.T @ within / len(x) + RIDGE * np.eye(x.shape[1]))
    root = np.sqrt(values)
    return vectors / root / scale[:, None], (vectors * root).T * scale


def _discriminant_axes(z: np.ndarray, y: np.ndarray, back: np.ndarray) -> np.ndarray:
    """(d, 2): where class means lie furthest apart; for two classes the second is where rows scatter most."""
    _, size, vectors = np.linalg.svd(_means(z, y) - z.mean(axis=0), full_matrices=False)
    first = vectors[:2].T
    if size[1] > 1e-9 * size[0]:
        return first
    along = first[:, :1]
    left = back - along @ (along.T @ back)  # all other directions, in units of the columns
    spread = left / (np.abs(back).max(axis=0) + 1e-300)
    _, vectors = np.linalg.eigh(spread @ spread.T)
    second = vectors[:, -1] - along[:, 0] * (along[:, 0] @ vectors[:, -1])
    return np.column_stack([along[:, 0], second / np.linalg.norm(second)])


def _means(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The mean of its class for each row."""
    _, codes = np.unique(y, return_inverse=True)
    sums = np.zeros((codes.max() + 1, x.shape[1]))
    np.add.at(sums, codes, x)
    return (sums / np.bincount(codes)[:, None])[codes]


def find_column(columns: list[frames.Column], one: Any) -> int:
    """The place of a column by its name, or by its index."""
    names = [column.name for column in columns]
    if one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and -len(columns) <= one < len(columns):
        return int(one) % len(columns)
    raise DataError(f"there is no column {one!r} among {names}\n\nhint: a column is a name, or an index from 0")


def find_numbers(columns: list[frames.Column], one: Any) -> int:
    """The place of a column of numbers."""
    place = find_column(columns, one)
    if columns[place].levels is not None:
        raise DataError(f"column `{one}` holds no numbers\n\nhint: a plane has two columns of numbers")
    return place


def _typical(column: frames.Column) -> Any:
    if column.levels is None:
        return float(np.nanmedian(column.values)) if not column.missing.all() else np.nan
    seen = Counter(column.values[~column.missing].tolist())
    return column.levels[seen.most_common(1)[0][0]] if seen else None


STEPS = 160
FAINT = 0.62  # how much paper shines through where a class is certain
LONGEST = 4.0  # times the other axis, up to which both have the same scale by default
WIDEST = 2.5  # times the other axis, in a picture of equal scales
UNSURE = -12.0, -600.0  # log probabilities above which odds are exact: of all libraries, and of those that compute logs
TIP = 0.32  # of an arrow's length: from its tip to the middle of its name
DENSE = 400  # rows that the arrow is kept away from
RINGS = np.exp(-0.5 * np.array([3.0, 2.0, 1.0]) ** 2)  # of the peak: a normal density at 3, 2 and 1 deviations


def decision_regions(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Any = None,
    *,
    columns: Any = None,
    contours: bool | None = None,
    equal: bool | None = None,
    normal: bool = False,
    points: int = 1000,
    steps: int | None = None,
    title: str | None = None,
) -> Any:
    """The regions of any fitted classifier with `predict_proba` over rows; returns the axes.

    Parameters
    ----------
    model : fitted classifier with `predict_proba`, of any library
        The model to draw.
    X : frame or array of shape (n, d)
        Rows of more than two columns are drawn in the plane of their first two discriminants, which needs y.
    y : labels of shape (n,), or the name of a column of X, optional
        The class of each row.
    ax : matplotlib axes, by default new ones
        The axes to draw into.
    columns : pair of names or indices, optional
        Two columns of X; the others stay at their median.
    contours : bool, optional
        Whether the class densities are drawn, as rings at 1, 2 and 3 deviations of a normal; by default where X has two
        columns and the model has densities.
    equal : bool, optional
        Whether a unit of both axes has the same length, so that angles and circles are what they are. By default yes,
        unless one axis would be more than four times as long as the other.
    normal : bool, default False
        Whether w, the direction in which the log odds of two classes grow, is drawn as an arrow at a right angle to
        their boundary. It points to the class that comes later in `classes_`, and needs boundaries that are lines: LDA,
        logistic regression, Fisher's discriminant, naive Bayes with a shared variance. The scales are equal then.
    points : int, default 1000
        At most so many rows are drawn.
    steps : int, default 160
        Number of values of each axis at which the model is asked.
    title : str, optional
        By default the model with its settings, and how many rows are right.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    densities : The densities of one column or two.

    Examples
    --------
    >>> from deciban import LinearDiscriminantAnalysis
    >>> X, y = [[0.0, 0.0], [1.0, 2.0], [4.0, 1.0], [5.0, 3.0]], ["a", "a", "b", "b"]
    >>> ax = decision_regions(LinearDiscriminantAnalysis().fit(X, y), X, y, steps=20, normal=True)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    >>> ax.texts[-1].get_text()
    'w'
    """
    X, y = frames.take_target(X, y)
    plane = _plane(X, y, columns)
    extent, same = fitting_extent(plane.points, _wants_equal(equal, normal))
    seen = _GridPrediction.of(model, plane, extent, steps or STEPS)
    ax = drawing.axes(ax, *figure_size(extent, same))
    k = len(seen.classes)
    looks = [class_style(c, k) for c in range(k)]
    shape: Any = "equal" if same else "auto"
    ax.imshow(_blend(seen.proba, looks), extent=extent, origin="lower", aspect=shape, interpolation="bilinear")
    _boundaries(ax, seen)
    if (contours or (contours is None and plane.whole)) and seen.joint is not None:
        density_contours(ax, seen.x, seen.y, seen.joint, looks)
    draw_points(ax, plane.points, y, seen.classes, looks, points)
    if normal:
        _draw_normals(ax, seen, plane.points, called(model))
    ax.set(xlim=extent[:2], ylim=extent[2:])
    drawing.style_axes(ax)
    drawing.set_labels(
        ax, described(model) + _right(model, X, y) + plane.note if title is None else title, *plane.names
    )
    drawing.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _plane(X: Any, y: Any, columns: Any) -> Projection:
    framed = frames.is_frame(X)
    table = frames.columns(X if framed else np.asarray(X))
    library = frames.library(X) if framed else None
    if len(table) == 1:
        raise DataError("X has one column, and regions have two\n\nhint: `sigmoid` draws one, `densities` too")
    if columns is None and len(table) > 2:
        if y is None:
            raise DataError(
                f"X has {len(table)} columns\n\nhint: name two of them as `columns`, or give y for a projection"
            )
        return discriminant_plane(table, np.asarray(y), library)
    return slice_projection(table, (0, 1) if columns is None else columns, library)


@dataclass(frozen=True, eq=False)
class _GridPrediction:
    """Predictions of a model on a grid of the plane."""

    classes: np.ndarray
    proba: np.ndarray  # (steps, steps, k)
    logs: np.ndarray  # (steps, steps, k), log posterior, far from 0 too
    joint: np.ndarray | None  # (steps, steps, k), log density and prior
    extent: Extent
    x: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, model: Any, plane: Projection, extent: Extent, steps: int) -> _GridPrediction:
        x, y = np.linspace(*extent[:2], steps), np.linspace(*extent[2:], steps)
        rows = plane.rows(np.column_stack([a.ravel() for a in np.meshgrid(x, y)]))
        proba = np.asarray(model.predict_proba(rows), dtype=np.float64)
        logs = np.asarray(log_proba_of(model, rows))
        joint = np.asarray(model.predict_joint_log_proba(rows)) if _has_densities(model) else None
        shape = (steps, steps, proba.shape[1])
        return cls(
            np.asarray(model.classes_),
            proba.reshape(shape),
            np.maximum(logs, -700.0).reshape(shape),
            None if joint is None else joint.reshape(shape),
            extent,
            x,
            y,
        )


def _has_densities(model: Any) -> bool:
    if not is_own(model):
        return hasattr(model, "predict_joint_log_proba")
    state = model._tally_state()
    return state is not None and state.family.density


def _wants_equal(equal: bool | None, normal: bool) -> bool | None:
    if normal and equal is False:
        raise DataError(
            "normal=True with equal=False: a right angle is one only where both axes have the same scale\n\n"
            "hint: leave out `equal`"
        )
    return normal or equal


def fitting_extent(points: np.ndarray, equal: bool | None) -> tuple[Extent, bool]:
    """(the limits of both axes, whether their units have the same length): those of the points (n, 2) and a margin. By
    default units are the same unless one axis would be too long; where they are, a short axis is made longer."""
    (left, right), (low, high) = (_span(points[:, j]) for j in (0, 1))
    wide, tall = right - left, high - low
    if equal is None:
        equal = max(wide, tall) <= LONGEST * min(wide, tall)
    if equal:
        wider, taller = (max(0.0, other / WIDEST - own) / 2 for own, other in ((wide, tall), (tall, wide)))
        left, right, low, high = left - wider, right + wider, low - taller, high + taller
    return (left, right, low, high), equal


def figure_size(extent: Extent, equal: bool) -> tuple[float, float]:
    """Inches of a picture whose axes have that shape and much the same area, with room for names."""
    left, right, low, high = extent
    ratio = (right - left) / (high - low) if equal else 1.15
    return float(np.clip(np.sqrt(15 * ratio), 2.6, 6.4)) + 1.3, float(np.clip(np.sqrt(15 / ratio), 1.6, 5.6)) + 0.9


def _right(model: Any, X: Any, y: Any) -> str:
    """How many of the rows are on their side of the boundary."""
    if y is None:
        return ""
    labels = np.asarray(y)
    right = int((np.asarray(model.predict(X)) == labels).sum())
    return f"\n{right:,} of {len(labels):,} rows right ({100 * right / max(len(labels), 1):.3g} %)"


def _span(values: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    pad = 0.08 * (high - low) or 1.0
    return low - pad, high + pad


def _blend(proba: np.ndarray, looks: list) -> np.ndarray:
    """Class colours mixed by the posterior and thinned with paper."""
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(look.colour) for look in looks])
    return FAINT * np.array(to_rgb(BACKGROUND)) + (1 - FAINT) * (proba @ colours).clip(0, 1)


def _boundaries(ax: Any, seen: _GridPrediction) -> None:
    """Where a class is as probable as the best of the others."""
    for c in range(len(seen.classes) if len(seen.classes) > 2 else 1):
        ahead = seen.logs[:, :, c] - np.delete(seen.logs, c, axis=2).max(axis=2)
        if ahead.min() < 0 < ahead.max():
            ax.contour(
                seen.x, seen.y, ahead, levels=[0.0], colors=TEXT_COLOUR, linewidths=1.3, linestyles="-", zorder=2
            )


def density_contours(ax: Any, x: np.ndarray, y: np.ndarray, logs: np.ndarray, looks: list) -> None:
    """Rings of log densities (y, x, k), up to a term of each class."""
    for c, look in enumerate(looks):
        with np.errstate(invalid="ignore"):
            height = np.exp(logs[:, :, c] - logs[:, :, c].max())
        if np.isfinite(height).all() and height.min() < RINGS[-1]:
            ax.contour(
                x, y, height, levels=RINGS, colors=look.colour, linewidths=0.9, linestyles=[look.style], zorder=1
            )


def draw_points(ax: Any, points: np.ndarray, y: Any, classes: np.ndarray, looks: list, most: int) -> None:
    """Rows (n, 2), at most so many, in the colours and marks of their classes; none without labels."""
    if y is None:
        return
    labels = np.asarray(y)
    some = draw_rows(np.unique(labels, return_inverse=True)[1], most)
    size = 26 if len(some) <= 300 else 14
    for c, look in enumerate(looks):
        at = points[some][labels[some] == classes[c]]
        style = {"s": size, "color": look.colour, "marker": look.marker, "edgecolors": BACKGROUND, "linewidths": 0.5}
        ax.scatter(at[:, 0], at[:, 1], label=truncate(str(classes[c]), 20), zorder=3, **style)


# w, at a right angle to the boundary of two classes


def _draw_normals(ax: Any, seen: _GridPrediction, points: np.ndarray, name: str) -> None:
    """An arrow and its right angle on the boundary of each pair of classes, where the fewest rows lie."""
    scores = _linear_scores(seen)
    if scores is None:
        raise DataError(
            f"the boundary of {name} is not a line, so it has no normal w\n\n"
            "hint: leave out `normal`, or draw LDA, logistic regression, or naive Bayes with a shared variance"
        )
    left, right, low, high = seen.extent
    length = (0.17 if len(scores) == 2 else 0.13) * min(right - left, high - low)
    for a, b in combinations(range(len(scores)), 2):
        base, towards = _base_of_normal(scores, a, b, seen.extent, length, points)
        if base is None:
            continue
        along = np.array([-towards[1], towards[0]])
        corner = 0.22 * length * np.array([along, along + towards, towards]) + base
        halo = _halo()
        ax.plot(*corner.T, color=TEXT_COLOUR, lw=1.0, gid="right angle", zorder=5, path_effects=halo)
        line = {"arrowstyle": "-|>,head_length=0.55,head_width=0.25", "lw": 2.0, "shrinkA": 0, "shrinkB": 0}
        arrow = ax.annotate(
            "", base + length * towards, base, arrowprops={**line, "color": TEXT_COLOUR}, gid="normal", zorder=6
        )
        arrow.arrow_patch.set_path_effects(halo)
        at = base + (1 + TIP) * length * towards
        style = {"ha": "center", "va": "center", "fontsize": 12, "weight": "bold", "color": TEXT_COLOUR}
        ax.text(*at, "w", path_effects=halo, zorder=6, **style)


def _halo() -> list:
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=4.0, foreground=BACKGROUND)]


def _linear_scores(seen: _GridPrediction) -> np.ndarray | None:
    """(k, 3): log odds of each class against the first as a linear function of both axes (two slopes, and its value at
    the origin), from the predictions where neither is certain; None: they are not linear."""
    x, y = np.meshgrid(seen.x, seen.y)
    middle, half = np.array([x.mean(), y.mean()]), np.array([np.ptp(x), np.ptp(y)]) / 2
    cells = np.column_stack([(x.ravel() - middle[0]) / half[0], (y.ravel() - middle[1]) / half[1], np.ones(x.size)])
    logs = seen.logs.reshape(-1, len(seen.classes))
    out = np.zeros((len(seen.classes), 3))
    for c in range(1, len(out)):
        least = np.minimum(logs[:, 0], logs[:, c])
        chosen = next((rows for rows in (least > at for at in UNSURE) if np.linalg.matrix_rank(cells[rows]) == 3), None)
        if chosen is None:
            return None
        odds = (logs[:, c] - logs[:, 0])[chosen]
        found = np.linalg.lstsq(cells[chosen], odds, rcond=None)[0]
        if np.abs(cells[chosen] @ found - odds).max() > 1e-6 * max(1.0, float(np.ptp(odds))):
            return None
        slopes = found[:2] / half
        out[c] = *slopes, found[2] - slopes @ middle
    return out


def _base_of_normal(
    scores: np.ndarray, a: int, b: int, extent: Extent, length: float, points: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray]:
    """(a point of the boundary of two classes, None where it is not in the picture; the direction of w)."""
    *slope, start = scores[b] - scores[a]
    w = np.array(slope)
    size = np.linalg.norm(w)
    if size == 0:
        return None, w
    towards, corners = w / size, np.reshape(extent, (2, 2)).T
    middle = corners.mean(axis=0)
    nearest = middle - (w @ middle + start) / size * towards
    reach = np.linalg.norm(corners[1] - corners[0])
    along = np.array([-towards[1], towards[0]])
    places = np.linspace(-reach, reach, 801)
    line = nearest + places[:, None] * along
    ends = np.stack([line, line + (1 + 2 * TIP) * length * towards, line + 0.3 * length * along])
    inside = ((ends > corners[0]) & (ends < corners[1])).all(axis=(0, 2))
    each = line @ scores[:, :2].T + scores[:, 2]
    inside &= each.max(axis=1) <= each[:, [a, b]].max(axis=1) + 1e-9 * np.abs(each).max()
    if not inside.any():
        return None, towards
    line, places = line[inside], places[inside]
    stations = line[:, None] + np.linspace(0, 1 + TIP, 7)[:, None] * length * towards
    near = np.linalg.norm(stations[:, :, None] - points[:DENSE], axis=3).min(axis=1) < 0.3 * length
    cost = near.sum(axis=1) + np.abs(places - np.median(places)) / reach
    return line[cost.argmin()], towards
