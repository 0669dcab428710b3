"""The colours of all pictures, told apart by every eye: those of Okabe and Ito (2008), and marks beside them.

Colour is never all there is: classes differ by marker too, lines by dashes, so that a grey print still reads.

>>> [of_class(c, 3).colour for c in range(3)]
['#0072b2', '#d55e00', '#009e73']
>>> of_class(8, 9).colour == of_class(1, 9).colour, of_class(8, 9).marker == of_class(1, 9).marker
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FOR, AGAINST = "#0072b2", "#d55e00"  # blue and vermilion
INK, GREY, PALE, PAPER = "#333333", "#6b6b6b", "#d9d9d9", "#ffffff"
# without the yellow that paper swallows
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")


@dataclass(frozen=True)
class Look:
    """How a class is drawn: its points and its lines."""

    colour: str
    marker: str
    style: Any


def of_class(c: int, k: int) -> Look:
    """The look of class c of k: two classes are blue and vermilion, as evidence for and against is."""
    colour = COLOURS[(1 - c) if k == 2 else c % len(COLOURS)]
    return Look(colour, MARKERS[c % len(MARKERS)], STYLES[c // len(COLOURS) % len(STYLES)])
