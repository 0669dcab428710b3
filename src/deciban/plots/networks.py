"""Plot of a network: parents above children, the width of an edge is the mutual information of its ends.

>>> from deciban.networks.network import Network
>>> tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.0, 1.0]]}
>>> wet = Network.of({"rain": ["no", "yes"], "wet": ["no", "yes"]}, [("rain", "wet")], tables)
>>> [text.get_text() for text in draw(wet).texts]
['rain', 'wet', 'edge width: mutual information, up to 0.48 bits']

Where the nodes of a graph go in a picture: layers from top to bottom, few crossings, edges as straight as may be.

A node stands below all its parents. An edge that passes layers has a point in each of them, which takes part like a
node: so edges bend around nodes. Within layers, nodes go to the mean place of their neighbours, back and forth, and the
order with the fewest crossings is kept; then places are the nearest to those of the neighbours that leave room.

>>> at, routes = place(((), (), (0, 1), (2,)), [1.0, 1.0, 1.0, 1.0])
>>> at[2][1] > at[3][1], [len(route) for route in routes.values()]
(True, [2, 2, 2])
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from deciban.display import BACKGROUND, GREY, POSITIVE, TEXT_COLOUR, truncate
from deciban.errors import DataError
from deciban.networks.graph import Parents, children_of, layers
from deciban.networks.network import Network
from deciban.plots import style

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


LETTER, HIGH, PAD = 0.085, 0.3, 0.16  # inches: of a letter, of a box, left and right of its text
LONGEST = 22  # letters of a name
PALE = "#dadada"


def draw(network: Network, ax: Any = None, *, target: Any = None) -> Any:
    """Draw it; returns the axes. The target's box is filled, and the edges from it are pale where they go to most of
    the other nodes, as in a classifier they do."""
    labels = [truncate(str(name), LONGEST) for name in network.names]
    wide = [PAD * 2 + LETTER * max(2, len(label)) for label in labels]
    at, routes = place(network.parents, wide)
    root = network.place.get(target, -1)
    common = sum(root in own for own in network.parents) > len(network.names) / 2
    bits = _information(network)
    most = max(bits.values(), default=0.0)
    low, high = min(y for _, y in at), max(y for _, y in at)
    bends = [x for route in routes.values() for x, _ in route]
    left = min([*bends, *(x - w / 2 for (x, _), w in zip(at, wide, strict=True))])
    right = max([*bends, *(x + w / 2 for (x, _), w in zip(at, wide, strict=True))])
    ax = style.axes(ax, max(3.0, right - left + 0.3), high - low + HIGH + 0.65)
    for (parent, child), route in routes.items():
        share = bits[network.names[parent], network.names[child]] / most if most else 0.25
        _edge(ax, route, 0.5 + 4.0 * share**0.5, PALE if common and parent == root else GREY)
    for i, ((x, y), label) in enumerate(zip(at, labels, strict=True)):
        _node(ax, x, y, wide[i], label, i == root)
    remark = (
        f"edge width: mutual information, up to {most:.3g} bits" if most else "edges of one width: too wide to measure"
    )
    if routes:
        note = ax.text(left, low - HIGH / 2 - 0.2, remark, fontsize=7.5, color=GREY, va="top")
        style.disable_mathtext(note)
    ax.set(xlim=(left - 0.1, right + 0.1), ylim=(low - HIGH / 2 - 0.42, high + HIGH / 2 + 0.1), aspect="equal")
    ax.set_axis_off()
    return ax


def _information(network: Network) -> dict:
    """Bits of each edge; 0 of all where the network is too wide to compute them."""
    try:
        return network.information()
    except DataError:
        return dict.fromkeys(network.edges, 0.0)


def _edge(ax: Any, route: list[tuple[float, float]], width: float, colour: str) -> None:
    """A smooth line from the lower side of a box through its points to the upper side of another, with a head. It goes
    straight down where boxes stand and turns in between, so that no box hides it."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    (x, y), *middle, (to_x, to_y) = route
    passes = [((x, y + HIGH / 2), (x, y - HIGH / 2)) for x, y in middle]
    starts = [(x, y - HIGH / 2), *(low for _, low in passes)]
    ends = [*(high for high, _ in passes), (to_x, to_y + HIGH / 2 + 0.01)]
    vertices, codes = [starts[0]], [Path.MOVETO]
    for (x, y), (to_x, to_y) in zip(starts, ends, strict=True):
        if (x, y) != vertices[-1]:
            vertices.append((x, y))
            codes.append(Path.LINETO)
        half = (y + to_y) / 2
        vertices += [(x, half), (to_x, half), (to_x, to_y)]
        codes += [Path.CURVE4] * 3
    head = f"-|>,head_length={3.0 + 0.4 * width:.3g},head_width={1.3 + 0.4 * width:.3g}"
    line = FancyArrowPatch(path=Path(vertices, codes), arrowstyle=head, lw=width, color=colour, zorder=1)
    line.set(capstyle="butt", joinstyle="miter")
    ax.add_patch(line)


def _node(ax: Any, x: float, y: float, wide: float, label: str, chosen: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = f"round,pad=0,rounding_size={HIGH / 3}"
    face = POSITIVE if chosen else BACKGROUND
    box = FancyBboxPatch(
        (x - wide / 2, y - HIGH / 2), wide, HIGH, boxstyle=shape, fc=face, ec=POSITIVE, lw=1.0, zorder=2
    )
    ax.add_patch(box)
    colour = BACKGROUND if chosen else TEXT_COLOUR
    style.disable_mathtext(ax.text(x, y, label, ha="center", va="center", fontsize=9, color=colour, zorder=3))
