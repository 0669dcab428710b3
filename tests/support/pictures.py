"""Where boxes and edges lie in the picture of a graph."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.transforms import Bbox


def boxes_and_lines(ax) -> tuple[dict, dict]:
    """(boxes by label, the points of each edge by the labels of its ends) of a drawn network."""
    boxes = {}
    for patch in ax.patches:
        if isinstance(patch, FancyBboxPatch):
            where = Bbox.from_bounds(patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height())
            boxes[next(t.get_text() for t in ax.texts if where.contains(*t.get_position()))] = where
    lines = {}
    for patch in ax.patches:
        if isinstance(patch, FancyArrowPatch):
            points = patch._path_original.interpolated(1).to_polygons(closed_only=False)[0]
            ends = [
                min(boxes, key=lambda name, p=p: np.hypot(*(np.clip(p, boxes[name].min, boxes[name].max) - p)))
                for p in (points[0], points[-1])
            ]
            lines[tuple(ends)] = points
    return boxes, lines
