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

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.data.sampling import draw_rows
from deciban.decision import log_proba_of
from deciban.display import BACKGROUND, TEXT_COLOUR, cell_text, class_style, truncate
from deciban.errors import DataError
from deciban.plots import style as drawing
from deciban.plots.style import called

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
    a, b = (_place(columns, one) for one in two)
    still = [_typical(column) for column in columns]

    def rows(points: np.ndarray) -> Any:
        out = []
        for j, column in enumerate(columns):
            kind = np.float64 if column.levels is None else object
            cells = np.full(len(points), still[j], dtype=kind) if j not in (a, b) else points[:, (a, b).index(j)]
            out.append(frames.Column(column.name, cells))
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
        return frames.to_frame([frames.Column(c.name, cells[:, j]) for j, c in enumerate(columns)], library)

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


def _place(columns: list[frames.Column], one: Any) -> int:
    names = [column.name for column in columns]
    places = [j for j, name in enumerate(names) if name == one]
    if not places and isinstance(one, int | np.integer) and -len(columns) <= one < len(columns):
        places = [int(one) % len(columns)]
    if not places:
        raise DataError(f"there is no column {one!r} among {names}\n\nhint: name two columns of X")
    if columns[places[0]].levels is not None:
        raise DataError(f"column `{one}` holds no numbers\n\nhint: regions are drawn over two columns of numbers")
    return places[0]


def _typical(column: frames.Column) -> Any:
    if column.levels is None:
        return float(np.nanmedian(column.values)) if not column.missing.all() else np.nan
    seen = Counter(column.values[~column.missing].tolist())
    return column.levels[seen.most_common(1)[0][0]] if seen else None


STEPS = 160
FAINT = 0.62  # how much paper shines through where a class is certain
RINGS = np.exp(-0.5 * np.array([3.0, 2.0, 1.0]) ** 2)  # of the peak: a normal density at 3, 2 and 1 deviations


def decision_regions(
    model: Any,
    X: Any,
    y: Any = None,
    ax: Any = None,
    *,
    columns: Any = None,
    contours: bool | None = None,
    points: int = 1000,
    steps: int | None = None,
    aspect: str | None = None,
) -> Any:
    """The regions of any fitted classifier with `predict_proba`, over rows X (a frame or an array); returns the axes.

    `columns` names two columns (or their places) where X has more: the others stay at their median. Without it, rows of
    more than two columns are drawn in the plane of their first two discriminants, which needs y. Rings are the class
    densities (of models that have them, in two dimensions as they are) at 1, 2 and 3 deviations of a normal;
    `contours` asks for them or not. At most so many `points` are drawn. aspect: "equal" makes a unit of both axes the
    same length, so that angles and circles are what they are; "auto" fills the axes. By default equal, unless one axis
    would be more than twice as long as the other; four times where both have one unit (columns without names,
    discriminants, names that end in the same unit, as "width (cm)").

    >>> from deciban import GaussianNB
    >>> X, y = [[0.0, 0.0], [1.0, 2.0], [4.0, 1.0], [5.0, 3.0]], ["a", "a", "b", "b"]
    >>> ax = decision_regions(GaussianNB().fit(X, y), X, y, steps=20)
    >>> ax.get_xlabel(), [text.get_text() for text in ax.get_legend().get_texts()]
    ('x0', ['a', 'b'])
    """
    X, y = frames.take_target(X, y)
    plane = _plane(X, y, columns)
    seen = _GridPrediction.of(model, plane, steps or STEPS)
    shape = aspect or _aspect(seen.extent, plane.names)
    ax = drawing.axes(ax, *_size(seen.extent, shape))
    k = len(seen.classes)
    looks = [class_style(c, k) for c in range(k)]
    ax.imshow(_blend(seen.proba, looks), extent=seen.extent, origin="lower", aspect=shape, interpolation="bilinear")
    _boundaries(ax, seen)
    if contours or (contours is None and plane.whole):
        _density_contours(ax, seen, looks)
    _points(ax, plane, y, seen.classes, looks, points)
    ax.set(xlim=seen.extent[:2], ylim=seen.extent[2:])
    drawing.style_axes(ax)
    drawing.set_labels(ax, called(model) + _right(model, X, y) + plane.note, *plane.names)
    drawing.legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _plane(X: Any, y: Any, columns: Any) -> Projection:
    framed = frames.is_frame(X)
    table = frames.columns(X if framed else np.asarray(X))
    library = frames.library(X) if framed else None
    if len(table) == 1:
        raise DataError("X has one column, and regions have two\n\nhint: `sigmoid` draws one, `class_densities` too")
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
    extent: tuple[float, float, float, float]
    x: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, model: Any, plane: Projection, steps: int) -> _GridPrediction:
        (left, right), (low, high) = (_span(plane.points[:, j]) for j in (0, 1))
        x, y = np.linspace(left, right, steps), np.linspace(low, high, steps)
        rows = plane.rows(np.column_stack([a.ravel() for a in np.meshgrid(x, y)]))
        proba = np.asarray(model.predict_proba(rows), dtype=np.float64)
        logs = np.asarray(log_proba_of(model, rows))
        joint = np.asarray(model.predict_joint_log_proba(rows)) if hasattr(model, "predict_joint_log_proba") else None
        shape = (steps, steps, proba.shape[1])
        return cls(
            np.asarray(model.classes_),
            proba.reshape(shape),
            np.maximum(logs, -700.0).reshape(shape),
            None if joint is None else joint.reshape(shape),
            (left, right, low, high),
            x,
            y,
        )


def _aspect(extent: tuple[float, float, float, float], names: tuple[str, str]) -> str:
    """Equal units, where both axes have about as many of them."""
    left, right, low, high = extent
    most = 4.0 if _unit(names[0]) == _unit(names[1]) is not None else 2.0
    return "equal" if 1 / most <= (right - left) / (high - low) <= most else "auto"


def _unit(name: str) -> str | None:
    """The unit of an axis, if its name contains one."""
    if re.fullmatch(r"x\d+|(first|second) discriminant", name):
        return ""
    found = re.search(r"[(\[]([^()\[\]]+)[)\]]$", name)
    return None if found is None else found[1]


def _size(extent: tuple[float, float, float, float], aspect: str) -> tuple[float, float]:
    """Inches of a picture whose axes have that shape and much the same area, with room for names."""
    left, right, low, high = extent
    ratio = (right - left) / (high - low) if aspect == "equal" else 1.15
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


def _density_contours(ax: Any, seen: _GridPrediction, looks: list) -> None:
    if seen.joint is None:
        return
    for c, look in enumerate(looks):
        with np.errstate(invalid="ignore"):
            height = np.exp(seen.joint[:, :, c] - seen.joint[:, :, c].max())
        if np.isfinite(height).all() and height.min() < RINGS[-1]:
            ax.contour(seen.x, seen.y, height, levels=RINGS, colors=look.colour, linewidths=0.9, zorder=1)


def _points(ax: Any, plane: Projection, y: Any, classes: np.ndarray, looks: list, most: int) -> None:
    if y is None:
        return
    labels = np.asarray(y)
    some = draw_rows(np.unique(labels, return_inverse=True)[1], most)
    size = 26 if len(some) <= 300 else 14
    for c, look in enumerate(looks):
        at = plane.points[some][labels[some] == classes[c]]
        style = {"s": size, "color": look.colour, "marker": look.marker, "edgecolors": BACKGROUND, "linewidths": 0.5}
        ax.scatter(at[:, 0], at[:, 1], label=truncate(str(classes[c]), 20), zorder=3, **style)
