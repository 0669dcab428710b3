"""Tables of numbers as aligned text and as HTML.

>>> print(as_text(Lines("yes against no", ("", "coef", "p"), [("dose", plain(1.5), chance(0.0001))])))
yes against no
            coef       p
  dose    1.5000  <0.001
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from deciban.wording import short

LONGEST = 40  # characters of a name


@dataclass(frozen=True)
class Lines:
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]  # the first cell of each is a name
    end: str = ""


def plain(a: float) -> str:
    """Four decimals, or three digits where those would say little."""
    if np.isnan(a):
        return "–"
    if np.isinf(a):
        return "∞" if a > 0 else "−∞"
    return f"{a:.4f}" if a == 0 or 1e-3 <= abs(a) < 1e6 else f"{a:.3g}"


def two(a: float) -> str:
    return f"{a:.2f}" if np.isfinite(a) and abs(a) < 1e6 else plain(a)


def chance(p: float) -> str:
    if np.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def as_text(lines: Lines) -> str:
    rows = [lines.head, *lines.rows]
    cells = [[short(row[0], LONGEST), *row[1:]] for row in rows]
    wide = [max(len(row[j]) for row in cells) for j in range(len(lines.head))]
    wide = [wide[0], *(max(size, 8) for size in wide[1:-1]), wide[-1]]
    told = [
        "  " + "  ".join([f"{row[0]:<{wide[0]}}", *(f"{c:>{size}}" for c, size in zip(row[1:], wide[1:], strict=True))])
        for row in cells
    ]
    return "\n".join([lines.title, *told, *([f"  {lines.end}"] if lines.end else [])])


def as_html(lines: Lines) -> str:
    cell = "padding:1px 8px;text-align:"
    head = "".join(f'<th style="{cell}{_side(j)}">{escape(word)}</th>' for j, word in enumerate(lines.head))
    rows = "".join(
        "<tr>" + "".join(f'<td style="{cell}{_side(j)}">{escape(word)}</td>' for j, word in enumerate(row)) + "</tr>"
        for row in lines.rows
    )
    caption = f'<caption style="text-align:left;font-weight:bold">{escape(lines.title)}</caption>'
    table = '<table style="border-collapse:collapse;margin-bottom:1em">'
    return f"{table}{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{paragraphs([lines.end])}"


def preformatted(text: str) -> str:
    """Aligned text as HTML."""
    return f'<pre style="line-height:1.3">{escape(text)}</pre>'


def paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)


def _side(column: int) -> str:
    return "right" if column else "left"
