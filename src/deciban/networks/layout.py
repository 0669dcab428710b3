"""Where the nodes of a graph go in a picture: layers from top to bottom, few crossings, edges as straight as may be.

A node stands below all its parents. An edge that passes layers has a point in each of them, which takes part like a
node: so edges bend around nodes. Within layers, nodes go to the mean place of their neighbours, back and forth, and the
order with the fewest crossings is kept; then places are the nearest to those of the neighbours that leave room.

>>> at, routes = place(((), (), (0, 1), (2,)), [1.0, 1.0, 1.0, 1.0])
>>> at[2][1] > at[3][1], [len(route) for route in routes.values()]
(True, [2, 2, 2])
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from deciban.networks.graph import Parents, children_of, layers

SWEEPS = 24
GAP = 0.28  # between nodes of a layer
POINT = 0.12  # room that an edge takes
STEP = 0.82  # from layer to layer

Point = tuple[float, float]


def place(parents: Parents, wide: list[float]) -> tuple[list[Point], dict[tuple[int, int], list[Point]]]:
    """(the middle of each node, the points that each edge passes), for nodes of these widths; upwards is more."""
    level = _tight(parents)
    links, routes, width = _with_points(parents, level, list(wide))
    rows: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for i, own in enumerate(level):
        rows[own].append(i)
    rows = _ordered(rows, links, len(width))
    x = _spread(rows, links, np.array(width))
    at = [(float(x[i]), -STEP * level[i]) for i in range(len(level))]
    return at[: len(parents)], {edge: [at[i] for i in route] for edge, route in routes.items()}


def _tight(parents: Parents) -> list[int]:
    """Layers where a node without parents stands just above its highest child."""
    out = layers(parents)
    for node, children in enumerate(children_of(parents)):
        if not parents[node] and children:
            out[node] = min(out[child] for child in children) - 1
    return out


def _with_points(parents: Parents, level: list[int], width: list[float]):
    """Links from layer to layer, and the nodes and points along each edge; points are added to level and width."""
    links: list[tuple[int, int]] = []
    routes: dict[tuple[int, int], list[int]] = {}
    for child, own in enumerate(parents):
        for parent in own:
            route = [parent]
            for layer in range(level[parent] + 1, level[child]):
                route.append(len(level))
                level.append(layer)
                width.append(POINT)
            routes[parent, child] = [*route, child]
            links += pairwise(routes[parent, child])
    return links, routes, width


def _neighbours(links: list[tuple[int, int]], count: int) -> tuple[list[list[int]], list[list[int]]]:
    up: list[list[int]] = [[] for _ in range(count)]
    down: list[list[int]] = [[] for _ in range(count)]
    for a, b in links:
        down[a].append(b)
        up[b].append(a)
    return up, down


def _crossings(rows: list[list[int]], down: list[list[int]]) -> int:
    out = 0
    for upper, lower in pairwise(rows):
        rank = {node: i for i, node in enumerate(lower)}
        ends = np.array([rank[b] for a in upper for b in sorted(down[a], key=rank.__getitem__)])
        out += int((ends[:, None] > ends[None, :])[np.triu_indices(len(ends), 1)].sum())
    return out


def _ordered(rows: list[list[int]], links: list[tuple[int, int]], count: int) -> list[list[int]]:
    up, down = _neighbours(links, count)
    best, fewest = [list(row) for row in rows], _crossings(rows, down)
    rows = [list(row) for row in rows]
    for sweep in range(SWEEPS):
        towards = up if sweep % 2 == 0 else down
        rank = {node: i / max(1, len(row) - 1) for row in rows for i, node in enumerate(row)}
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            mean = {n: np.mean([rank[m] for m in towards[n]]) if towards[n] else rank[n] for n in row}
            row.sort(key=lambda node: (mean[node], rank[node]))
            rank.update({node: i / max(1, len(row) - 1) for i, node in enumerate(row)})
        crossed = _crossings(rows, down)
        if crossed < fewest:
            best, fewest = [list(row) for row in rows], crossed
    return best


def _spread(rows: list[list[int]], links: list[tuple[int, int]], width: np.ndarray) -> np.ndarray:
    """Places across: the nearest to the mean of the neighbours that keep the order and the room."""
    up, down = _neighbours(links, len(width))
    x = np.zeros(len(width))
    room = [np.cumsum([0.0, *((width[a] + width[b]) / 2 + GAP for a, b in pairwise(row))]) for row in rows]
    for row, offset in zip(rows, room, strict=True):
        x[row] = offset - offset[-1] / 2
    for sweep in range(SWEEPS):
        order = range(len(rows)) if sweep % 2 == 0 else range(len(rows))[::-1]
        for r in order:
            near = [[*up[n], *down[n]] for n in rows[r]]
            wish = np.array([x[others].mean() if others else x.mean() for others in near])  # of those alone: the middle
            x[rows[r]] = isotonic_regression(wish - room[r]).x + room[r]
    return x - x.mean() if len(x) else x
