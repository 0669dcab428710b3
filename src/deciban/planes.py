"""Two axes through rows of many columns: a slice, or the plane that parts the classes best.

    slice         two columns move, every other stands at its median (numbers) or its commonest level
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
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban import frames
from deciban.errors import DataError
from deciban.wording import cell_text

RIDGE = 1e-6  # of the mean variance, so that every scatter has an inverse


@dataclass(frozen=True, eq=False)
class Plane:
    """Rows seen in two dimensions, and the way back."""

    points: np.ndarray  # (n, 2)
    rows: Callable[[np.ndarray], Any]  # points (m, 2) → rows that a model reads
    names: tuple[str, str]
    note: str = ""
    whole: bool = False  # nothing is left out: there are but two columns


def slice_plane(columns: list[frames.Column], two: Any, library: str | None) -> Plane:
    """Two columns, by place or name, all others standing still."""
    a, b = (_place(columns, one) for one in two)
    still = [_typical(column) for column in columns]

    def rows(points: np.ndarray) -> Any:
        out = []
        for j, column in enumerate(columns):
            kind = np.float64 if column.levels is None else object
            cells = np.full(len(points), still[j], dtype=kind) if j not in (a, b) else points[:, (a, b).index(j)]
            out.append(frames.Column(column.name, cells))
        return frames.assembled(out, library)

    others = [f"{_name(column)} = {cell_text(still[j])}" for j, column in enumerate(columns) if j not in (a, b)]
    note = f"\nat {', '.join(others[:3])}{', …' * (len(others) > 3)}" if others else ""
    points = np.column_stack([np.asarray(columns[j].values, dtype=np.float64) for j in (a, b)])
    return Plane(points, rows, (_name(columns[a]), _name(columns[b])), note, not others)


def discriminant_plane(columns: list[frames.Column], y: np.ndarray, library: str | None) -> Plane:
    """The first two discriminants of all columns, which must be numbers."""
    texts = [_name(column) for column in columns if column.levels is not None]
    if texts:
        raise DataError(
            f"column `{texts[0]}` holds no numbers, and a projection needs them\n\nhint: name two `columns` for a slice"
        )
    x = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
    centre = np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), centre, x) - centre
    round_, back = _whitening(x, y)
    directions = _apart(x @ round_, y, back)

    def rows(points: np.ndarray) -> Any:
        cells = centre + points @ (directions.T @ back)
        return frames.assembled([frames.Column(c.name, cells[:, j]) for j, c in enumerate(columns)], library)

    note = f"\n{len(columns)} columns, seen along two discriminants"
    return Plane(x @ round_ @ directions, rows, ("first discriminant", "second discriminant"), note)


def _whitening(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (d, d) that makes the scatter within classes round, and its inverse."""
    within = x - _means(x, y)
    scale = np.sqrt((within**2).mean(axis=0))
    scale[scale == 0] = 1.0
    within = within / scale
    values, vectors = np.linalg.eigh(within.T @ within / len(x) + RIDGE * np.eye(x.shape[1]))
    root = np.sqrt(values)
    return vectors / root / scale[:, None], (vectors * root).T * scale


def _apart(z: np.ndarray, y: np.ndarray, back: np.ndarray) -> np.ndarray:
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
        return float(np.nanmedian(column.values)) if not np.isnan(column.values).all() else np.nan
    seen = Counter(column.values[column.values >= 0].tolist())
    return column.levels[seen.most_common(1)[0][0]] if seen else None


def _name(column: frames.Column) -> str:
    return f"x{column.name}" if isinstance(column.name, int) else str(column.name)
