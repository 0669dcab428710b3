"""The graph of a model: parents above children, the width of an edge is the mutual information of its ends. Naive Bayes
of so many columns that they do not fit into one layer has them at both sides of the class.

Where the nodes of a graph go in a picture: layers from top to bottom, few crossings, edges as straight as may be.

A node stands below all its parents. An edge that passes layers has a point in each of them, which takes part like a
node: so edges bend around nodes. Within layers, nodes go to the mean place of their neighbours, back and forth, and the
order with the fewest crossings is kept; then places are the nearest to those of the neighbours that leave room.

>>> at, routes = place(((), (), (0, 1), (2,)), [1.0, 1.0, 1.0, 1.0])
>>> at[2][1] > at[3][1], [len(route) for route in routes.values()]
(True, [2, 2, 2])
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from deciban.decision import is_own
from deciban.display import BACKGROUND, GREY, POSITIVE, TEXT_COLOUR, truncate
from deciban.errors import DataError
from deciban.networks.graph import Parents, children_of, layers
from deciban.networks.network import ModelGraph, Network
from deciban.plots import style
from deciban.plots.style import called, described

SWEEPS = 24
GAP = 0.28  # between nodes of a layer
POINT = 0.12  # room that an edge takes
STEP = 0.82  # from layer to layer

Point = tuple[float, float]


def place(
    parents: Parents, wide: list[float], tall: list[float] | None = None
) -> tuple[list[Point], dict[tuple[int, int], list[Point]]]:
    """(the middle of each node, the points that each edge passes), for nodes of these sizes; upwards is more."""
    level = _tight(parents)
    links, routes, width = _with_points(parents, level, list(wide))
    rows: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for i, own in enumerate(level):
        rows[own].append(i)
    rows = _ordered(rows, links, len(width))
    x = _spread(rows, links, np.array(width))
    high = [HIGH if tall is None else max(tall[i] for i in row if i < len(tall)) for row in rows]
    down = np.cumsum([0.0, *((a + b) / 2 + STEP - HIGH for a, b in pairwise(high))])
    at = [(float(x[i]), -float(down[level[i]])) for i in range(len(level))]
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
SMALL, ROW = 0.062, 0.15  # inches: of a letter of a table, of its line
LONGEST = 22  # letters of a name
ROOM = 7.4  # inches of a layer of naive Bayes; where it is wider, the columns are listed at both sides of the class
CELLS = 60  # numbers of the largest table that is drawn
PORT = 0.2  # inches between the ends of two edges at a box
AWAY = 1.1  # inches from the class to a column at its side
PALE = "#bdbdbd"


def graph(model: Any, ax: Any = None, *, tables: bool = False, most: int = 24, title: str | None = None) -> Any:
    """The graph of a model: an edge from each column or class to the columns that depend on it; returns the axes.

    The box of the class is filled. The edges of a network are as wide as the mutual information of their ends; those of
    the class are pale where they go to most of the other nodes. `ax.figure.savefig("net.svg")` writes a picture.

    Parameters
    ----------
    model : fitted naive Bayes, TreeAugmentedNB, KDependenceBayes or BayesNet
        The model to draw.
    ax : matplotlib axes, by default new ones
        The axes to draw into.
    tables : bool, default False
        Whether each box of a network has its table P(node | parents), a line for each combination of the parents'
        levels; for small networks.
    most : int, default 24
        Number of columns of naive Bayes that are drawn, the first ones.
    title : str, optional
        By default the model with its settings.

    Returns
    -------
    matplotlib axes
        The axes.

    See Also
    --------
    nomogram : The evidence of all values.

    Examples
    --------
    >>> from deciban import BayesNet, GaussianNB
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [4.0, 2.0], [5.0, 2.0]], ["a", "a", "b", "b"]
    >>> [text.get_text() for text in graph(GaussianNB().fit(X, y)).texts]
    ['x0', 'x1', 'class']
    >>> levels, edges = {"rain": ["no", "yes"], "wet": ["no", "yes"]}, [("rain", "wet")]
    >>> wet = BayesNet.from_edges(edges, levels=levels, tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.0, 1.0]]})
    >>> [text.get_text() for text in graph(wet).texts]
    ['rain', 'wet', 'edge width: mutual information, up to 0.48 bits']
    """
    if not is_own(model):
        raise DataError(
            f"{called(model)} is no classifier of this library\n\nhint: fit one of naive Bayes, or BayesNet"
        )
    shown: ModelGraph = model._graph()
    if tables and shown.network is None:
        raise DataError(f"{called(model)} has no tables\n\nhint: leave out `tables`, or fit BayesNet")
    if shown.is_star and len(shown.names) - 1 > most:
        rest = len(shown.names) - most
        shown = ModelGraph.star((*shown.names[: most - 1], f"… {rest:,} more"), shown.target)
    lines = [_table_lines(shown.network, i) if tables and shown.network else [] for i in range(len(shown.names))]
    labels = [truncate(str(name), LONGEST) for name in shown.names]
    boxes, paths = _layout(shown, labels, lines)
    left, right, low, high = _bounds(boxes, paths)
    bits = {} if shown.network is None else _information(shown.network)
    largest = max(bits.values(), default=0.0)
    below = 0.47 if bits else 0.05
    ax = style.axes(ax, max(3.0, right - left + 0.3), high - low + below + 0.5)
    root = shown.names.index(shown.target) if shown.target in shown.names else -1
    common = not shown.is_star and sum(root in own for own in shown.parents) > len(shown.names) / 2
    for (parent, child), path in paths.items():
        share = bits[shown.names[parent], shown.names[child]] / largest if largest else 0.1
        _draw_edge(ax, path, 0.6 + 2.9 * share**0.5, PALE if common and parent == root else GREY)
    for i, (box, label) in enumerate(zip(boxes, labels, strict=True)):
        _draw_node(ax, box, label, lines[i], i == root)
    if bits:
        widths = f"edge width: mutual information, up to {largest:.3g} bits"
        remark = widths if largest else "edges of one width: too wide to measure"
        style.disable_mathtext(ax.text(left, low - 0.2, remark, fontsize=7.5, color=GREY, va="top"))
    ax.set(xlim=(left - 0.1, right + 0.1), ylim=(low - below, high + 0.1), aspect="equal")
    style.set_labels(ax, described(model) if title is None else title)
    ax.set_axis_off()
    return ax


@dataclass(frozen=True)
class Box:
    """The box of a node: its middle and its size, in inches."""

    x: float
    y: float
    wide: float
    tall: float


Curve = list[tuple[Point, int]]  # vertices of a path, and their codes
Curves = dict[tuple[int, int], Curve]  # by parent and child


def _layout(shown: ModelGraph, labels: list[str], lines: list[list[str]]) -> tuple[list[Box], Curves]:
    """The boxes of the nodes, wide enough for names and lines of tables, and the edges between them."""
    texts = zip(labels, lines, strict=True)
    wide = [2 * PAD + max([LETTER * max(2, len(name)), *(SMALL * len(line) for line in own)]) for name, own in texts]
    tall = [HIGH + ROW * len(own) + (0.08 if own else 0.0) for own in lines]
    if shown.is_star and sum(wide[:-1]) + GAP * len(wide) > ROOM:
        boxes = _boxes_at_both_sides(wide)
        return boxes, _side_paths(boxes)
    at, routes = place(shown.parents, wide, tall)
    boxes = [Box(x, y, w, h) for (x, y), w, h in zip(at, wide, tall, strict=True)]
    return boxes, _paths(boxes, routes)


def _information(network: Network) -> dict:
    """Bits of each edge; 0 of all where the network is too wide to compute them."""
    try:
        return network.information()
    except DataError:
        return dict.fromkeys(network.edges, 0.0)


def _boxes_at_both_sides(wide: list[float]) -> list[Box]:
    """The columns of naive Bayes in a list at each side of the class, which is the last node."""
    count = len(wide) - 1
    half = (count + 1) // 2
    out = []
    for i in range(count):
        rank, size = (i, half) if i < half else (i - half, count - half)
        away = wide[-1] / 2 + AWAY + wide[i] / 2
        out.append(Box(-away if i < half else away, (HIGH + GAP / 2) * ((size - 1) / 2 - rank), wide[i], HIGH))
    return [*out, Box(0.0, 0.0, wide[-1], HIGH)]


def _side_paths(boxes: list[Box]) -> Curves:
    """Edges from both sides of the class, the last box, to the inner sides of the others."""
    from matplotlib.path import Path

    out, root = {}, boxes[-1]
    for i, box in enumerate(boxes[:-1]):
        side = np.sign(box.x)
        start, end = root.x + side * root.wide / 2, box.x - side * (box.wide / 2 + 0.01)
        half = (start + end) / 2
        turns = [(half, root.y), (half, box.y), (end, box.y)]
        out[len(boxes) - 1, i] = [((start, root.y), int(Path.MOVETO)), *((turn, int(Path.CURVE4)) for turn in turns)]
    return out


def _paths(boxes: list[Box], routes: dict[tuple[int, int], list[Point]]) -> Curves:
    """A smooth line from the lower side of a box through the points of its route to the upper side of another. It goes
    straight down where boxes stand and turns in between, so that no box hides it; edges of a box end apart."""
    from matplotlib.path import Path

    band: dict[float, float] = {}  # half the height of the tallest box of a layer
    for box in boxes:
        band[box.y] = max(band.get(box.y, 0.0), box.tall / 2)
    leave, arrive = _ports(boxes, routes, 0), _ports(boxes, routes, -1)
    out = {}
    for edge, route in routes.items():
        parent, child = (boxes[i] for i in edge)
        points = [(leave[edge], parent.y), *route[1:-1], (arrive[edge], child.y)]
        top = child.y + child.tall / 2 + 0.01
        curve = [((leave[edge], parent.y - parent.tall / 2), int(Path.MOVETO))]
        for (x, y), (to_x, to_y) in pairwise(points):
            start, end = y - band[y], max(to_y + band[to_y], top)
            half = (start + end) / 2
            if (x, start) != curve[-1][0]:
                curve.append(((x, start), int(Path.LINETO)))
            curve += [(turn, int(Path.CURVE4)) for turn in ((x, half), (to_x, half), (to_x, end))]
        if curve[-1][0][1] > top:
            curve.append(((arrive[edge], top), int(Path.LINETO)))
        out[edge] = curve
    return out


def _ports(boxes: list[Box], routes: dict[tuple[int, int], list[Point]], end: int) -> dict[tuple[int, int], float]:
    """Where across its box each edge starts (end 0) or ends (−1): in the order of where it comes from or goes to."""
    out = {}
    for i, box in enumerate(boxes):
        mine = sorted(
            (edge for edge in routes if edge[end] == i), key=lambda edge: routes[edge][1 if end == 0 else -2][0]
        )
        step = min(PORT, (box.wide - PORT) / max(len(mine) - 1, 1))
        for rank, edge in enumerate(mine):
            out[edge] = box.x + (rank - (len(mine) - 1) / 2) * step
    return out


def _bounds(boxes: list[Box], paths: Curves) -> tuple[float, float, float, float]:
    """Left, right, low and high of all boxes and edges."""
    bends = [point[0] for curve in paths.values() for point, _ in curve]
    left = min([*bends, *(box.x - box.wide / 2 for box in boxes)])
    right = max([*bends, *(box.x + box.wide / 2 for box in boxes)])
    return left, right, min(box.y - box.tall / 2 for box in boxes), max(box.y + box.tall / 2 for box in boxes)


def _table_lines(network: Network, i: int) -> list[str]:
    """P(node | parents) as lines of a table; none where it has too many numbers."""
    table, parents = network.tables[i], network.parents[i]
    if table.size > CELLS:
        return [f"{table.size:,} probabilities"]
    given = [[truncate(str(level), 10) for level in network.levels[p]] for p in parents]
    own = [truncate(str(level), 10) for level in network.levels[i]]
    heads = [truncate(str(network.names[p]), 11) for p in parents]
    cells = [[*heads, *own]]
    for levels, row in zip(product(*given), table.reshape(-1, table.shape[-1]), strict=True):
        cells.append([*levels, *(f"{share:.2f}" for share in row)])
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(size) if j < len(parents) else cell.rjust(size)
            for j, (cell, size) in enumerate(zip(row, wide, strict=True))
        )
        for row in cells
    ]


def _draw_edge(ax: Any, curve: Curve, width: float, colour: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    head = f"-|>,head_length={3.4 + 0.8 * width:.3g},head_width={1.4 + 0.5 * width:.3g}"
    path = Path([point for point, _ in curve], [code for _, code in curve])
    line = FancyArrowPatch(path=path, arrowstyle=head, lw=width, color=colour, zorder=1)
    line.set(capstyle="butt", joinstyle="miter")
    ax.add_patch(line)


def _draw_node(ax: Any, box: Box, label: str, lines: list[str], chosen: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = f"round,pad=0,rounding_size={HIGH / 3}"
    low, left = box.y - box.tall / 2, box.x - box.wide / 2
    face, colour = (POSITIVE, BACKGROUND) if chosen else (BACKGROUND, TEXT_COLOUR)
    patch = FancyBboxPatch((left, low), box.wide, box.tall, boxstyle=shape, fc=face, ec=POSITIVE, lw=1.0, zorder=2)
    ax.add_patch(patch)
    top = box.y + box.tall / 2 - HIGH / 2
    middle = {"ha": "center", "va": "center", "zorder": 3, "color": colour}
    style.disable_mathtext(ax.text(box.x, top, label, fontsize=9, **middle))
    if lines:
        at = low + 0.08 + ROW * len(lines) / 2
        text = ax.text(box.x, at, "\n".join(lines), fontsize=7, family="monospace", linespacing=1.25, **middle)
        style.disable_mathtext(text)
