"""A figure as SVG inside a page: its colours follow the page's, its names clash with no other figure's.

>>> from matplotlib.figure import Figure
>>> text = inline(lambda figure: figure.subplots().plot([1, 2]), 3, 2, "A line", "a")
>>> text.startswith('<svg role="img" aria-labelledby="a-title" '), "<title id=\\"a-title\\">A line</title>" in text
(True, True)
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

from deciban.drawing import pyplot
from deciban.reports.style import NAMES

# text stays text, names are no formulas, and the same figure is the same bytes
SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "svg.hashsalt": "deciban", "font.size": 10}


def inline(draw: Callable[[Any], Any], wide: float, high: float, title: str, name: str) -> str:
    """What `draw` puts into a figure of that size in inches; `title` is read to those who cannot see it."""
    plt = pyplot()
    from matplotlib.figure import Figure

    out = io.StringIO()
    with plt.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks: the reader's may have them
        figure = Figure(figsize=(wide, high), layout="constrained")
        draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _adopted(out.getvalue(), title, name, wide)


def _adopted(svg: str, title: str, name: str, wide: float) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, count=1, flags=re.DOTALL)  # it is the page's
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # groups have names that nobody asks for, some of them twice
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    for colour, variable in NAMES.items():
        svg = re.sub(rf"(?<=[:\s]){colour}\b", f"var({variable})", svg)
    head, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    kind = ' class="wide"' if wide > 6 else ""
    start = f'<svg role="img" aria-labelledby="{name}-title" {box[0] if box else ""} width="{96 * wide:.0f}"{kind}'
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'{start} {space}><title id="{name}-title">{escape(title)}</title>{rest.strip()}'
