"""The picture of a network: parents above children, an edge the wider the more its ends tell of each other.

>>> from deciban.networks.network import Network
>>> tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.0, 1.0]]}
>>> wet = Network.of({"rain": ["no", "yes"], "wet": ["no", "yes"]}, [("rain", "wet")], tables)
>>> [text.get_text() for text in draw(wet).texts]
['rain', 'wet', 'edge width: mutual information, up to 0.48 bits']
"""

from __future__ import annotations

from typing import Any

from deciban import drawing
from deciban.errors import DataError
from deciban.networks.layout import place
from deciban.networks.network import Network
from deciban.palette import FOR, GREY, INK, PAPER
from deciban.wording import short

LETTER, HIGH, PAD = 0.085, 0.3, 0.16  # inches: of a letter, of a box, beside its text
LONGEST = 22  # letters of a name
PALE = "#dadada"


def draw(network: Network, ax: Any = None, *, target: Any = None) -> Any:
    """Draw it; returns the axes. The target's box is filled, and the edges from it are pale where they go to most of
    the other nodes, as in a classifier they do."""
    labels = [short(str(name), LONGEST) for name in network.names]
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
    ax = drawing.axes(ax, max(3.0, right - left + 0.3), high - low + HIGH + 0.65)
    for (parent, child), route in routes.items():
        share = bits[network.names[parent], network.names[child]] / most if most else 0.25
        _edge(ax, route, 0.5 + 4.0 * share**0.5, PALE if common and parent == root else GREY)
    for i, ((x, y), label) in enumerate(zip(at, labels, strict=True)):
        _node(ax, x, y, wide[i], label, i == root)
    told = (
        f"edge width: mutual information, up to {most:.3g} bits" if most else "edges of one width: too wide to measure"
    )
    if routes:
        note = ax.text(left, low - HIGH / 2 - 0.2, told, fontsize=7.5, color=GREY, va="top")
        drawing.literal(note)
    ax.set(xlim=(left - 0.1, right + 0.1), ylim=(low - HIGH / 2 - 0.42, high + HIGH / 2 + 0.1), aspect="equal")
    ax.set_axis_off()
    return ax


def _information(network: Network) -> dict:
    """Bits of each edge; 0 of all where the network is too wide to tell."""
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
    face = FOR if chosen else PAPER
    box = FancyBboxPatch((x - wide / 2, y - HIGH / 2), wide, HIGH, boxstyle=shape, fc=face, ec=FOR, lw=1.0, zorder=2)
    ax.add_patch(box)
    colour = PAPER if chosen else INK
    drawing.literal(ax.text(x, y, label, ha="center", va="center", fontsize=9, color=colour, zorder=3))
