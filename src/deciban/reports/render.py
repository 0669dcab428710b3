"""A page as HTML by the template `page.html.j2`, and a figure as SVG that lives inside a page.

Everything the template writes is escaped, except `report.css` and the SVG of `figure_svg`. In the SVG, colours are
variables of `report.css`, so that figures follow the page into dark mode, and ids are unique in the page.

>>> from matplotlib.figure import Figure
>>> text = figure_svg(lambda figure: figure.subplots().plot([1, 2]), 3, 2, "A line", "a")
>>> text.startswith('<svg role="img" aria-labelledby="a-title" '), "<title id=\\"a-title\\">A line</title>" in text
(True, True)
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from deciban import display
from deciban.display import BACKGROUND, COLOURS, GREY, PALE, TEXT_COLOUR
from deciban.plots.style import import_pyplot
from deciban.reports import page as blocks

# the variable of report.css for each colour of a figure
VARIABLES = {
    TEXT_COLOUR: "--text",
    GREY: "--grey",
    PALE: "--pale",
    BACKGROUND: "--background",
    **{colour: f"--class-{number}" for number, colour in enumerate(COLOURS, 1)},
}
# the page may load nothing, not even if a text in it asks for it
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
# what the template asks of a value: `it is table`
TESTS = (
    *(display.Table, display.Bar, display.Shaded, blocks.Paragraph, blocks.Stats, blocks.Alerts),
    *(blocks.Quote, blocks.Figure, blocks.SideBySide),
)


def check_installed(figures: bool) -> None:
    """Raise an error with a hint if a library that a report needs is not installed."""
    environment()
    if figures:
        try:
            import_pyplot()
        except ImportError as error:
            without = display.option("figures=False", "--no-figures")
            raise ImportError(
                f"the figures of a report need matplotlib\n\nhint: pip install 'deciban[report]', or use {without}"
            ) from error


@cache
def environment() -> Any:
    """The templates of this package, with all values escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("a report needs Jinja2\n\nhint: pip install 'deciban[report]'") from error
    out = Environment(loader=PackageLoader("deciban", "reports"), autoescape=True, undefined=StrictUndefined)
    out.tests |= {kind.__name__.lower(): _is_instance(kind) for kind in TESTS}
    out.filters["decibans"] = display.format_decibans
    return out


def _is_instance(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def render(page: blocks.Page) -> str:
    """The document, with its style."""
    css = resources.files("deciban.reports").joinpath("report.css").read_text(encoding="utf-8")
    return environment().get_template("page.html.j2").render(page=page, css=css, policy=POLICY) + "\n"


def render_notebook(html: str) -> str:
    """A page inside a cell of a notebook."""
    return environment().get_template("notebook.html.j2").render(html=html)


# text stays text, names are no formulas, and the same figure is the same bytes
SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "svg.hashsalt": "deciban", "font.size": 10}


def figure_svg(draw: Callable[[Any], Any], width: float, height: float, title: str, name: str) -> str:
    """What `draw` puts into a figure of that size in inches; screen readers read the `title`."""
    plt = import_pyplot()
    from matplotlib.figure import Figure

    out = io.StringIO()
    with plt.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks: the reader's may have them
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _embed(out.getvalue(), title, name, width)


def _embed(svg: str, title: str, name: str, width: float) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", svg, count=1, flags=re.DOTALL)  # the page has its own
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # ids of groups are not used, and some occur twice
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    for colour, variable in VARIABLES.items():
        svg = re.sub(rf"(?<=[:\s]){colour}\b", f"var({variable})", svg)
    head, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    kind = ' class="wide"' if width > 6 else ""
    start = f'<svg role="img" aria-labelledby="{name}-title" {box[0] if box else ""} width="{96 * width:.0f}"{kind}'
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'{start} {space}><title id="{name}-title">{escape(title)}</title>{rest.strip()}'
