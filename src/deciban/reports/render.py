"""HTML by hand: tables, figures and sections that readers and machines can find their way in. All text is escaped.

>>> print(table("Rows", ["class", "rows"], [["a", 3]]))
<div class="scroll" tabindex="0" role="region" aria-label="Rows"><table><caption>Rows</caption><thead><tr>\
<th scope="col">class</th><th scope="col">rows</th></tr></thead><tbody><tr><th scope="row">a</th><td>3</td></tr>\
</tbody></table></div>

The style of reports: light and dark by the reader's wish, narrow and wide screens, and paper.

A figure as SVG inside a page: its colours follow the page's, its names clash with no other figure's.

>>> from matplotlib.figure import Figure
>>> text = figure_svg(lambda figure: figure.subplots().plot([1, 2]), 3, 2, "A line", "a")
>>> text.startswith('<svg role="img" aria-labelledby="a-title" '), "<title id=\\"a-title\\">A line</title>" in text
(True, True)
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from deciban.display import BACKGROUND, COLOURS, GREY, NEGATIVE, PALE, POSITIVE, TEXT_COLOUR
from deciban.plots.style import import_pyplot

# what each colour of a picture is called, and what it is on a dark page; all text stands out 4.5 : 1 or more
DARK = {
    TEXT_COLOUR: "#e6e6e6",
    GREY: "#a8b0b8",
    PALE: "#3c444c",
    BACKGROUND: "#15191d",
    **dict(zip(COLOURS, ("#4aa8e0", "#f58a42", "#35c79a", "#e39ac0", "#7cc8f2", "#f0b93a", "#e6e6e6"), strict=True)),
}
NAMES = {colour: f"--c{colour[1:]}" for colour in DARK}


def _variables(dark: bool) -> str:
    return "".join(f"{NAMES[colour]}:{DARK[colour] if dark else colour};" for colour in DARK)


LIGHT_PAGE = f"{_variables(False)}--back:#ffffff;--card:#f5f7f9;--line:#d5dae0;--warn:#fdf0e2;--shade:{COLOURS[0]};"
DARK_PAGE = f"{_variables(True)}--back:#15191d;--card:#1e2429;--line:#3a434b;--warn:#3a2a18;--shade:#2f7fb0;"
STYLE = (
    ":root{color-scheme:light dark;" + LIGHT_PAGE + "}"
    "@media (prefers-color-scheme:dark){:root{" + DARK_PAGE + "}}"
    "@media print{:root{color-scheme:light;" + LIGHT_PAGE + "}}"
    """
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;scroll-behavior:smooth}
body{margin:0 auto;max-width:72rem;padding:1rem clamp(.8rem,3vw,2.5rem) 3rem;color:var(INK);background:var(--back)}
h1{font-size:1.8rem;line-height:1.2;margin:.6rem 0;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.4rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .4rem;overflow-wrap:anywhere}
p,li,figcaption{max-width:48rem;overflow-wrap:anywhere}
a{color:var(FOR)}
code{font:.92em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--card);padding:.05em .3em;border-radius:4px;
overflow-wrap:anywhere}
blockquote{margin:1.2rem 0 .4rem;padding:.4rem .8rem;border-left:3px solid var(--line);background:var(--card);
white-space:pre-wrap;overflow-wrap:anywhere;max-width:48rem}
mark{border-radius:3px;padding:0 .1em}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--back);padding:.5rem;z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;margin:1rem 0 0;padding:0}
main:focus{outline:none}
:focus-visible{outline:2px solid var(FOR);outline-offset:2px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.8rem;margin:1rem 0;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.tiles dt{color:var(GREY);font-size:.85rem}
.tiles dd{margin:0}
.tiles strong{font-size:1.6rem;line-height:1.3;font-variant-numeric:tabular-nums;display:block}
.tiles small{color:var(GREY)}
.warnings{list-style:none;margin:1rem 0;padding:0;display:grid;gap:.5rem}
.warnings li{background:var(--warn);
border-left:4px solid var(AGAINST);border-radius:4px;padding:.5rem .8rem;max-width:none}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums;margin:.6rem 0 1rem}
caption{text-align:left;font-weight:600;padding:.2rem 0 .4rem;caption-side:top}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left;padding-left:.2rem}
tbody th{font-weight:normal;white-space:normal;overflow-wrap:break-word;min-width:7rem;max-width:20rem}
thead th{color:var(GREY);font-weight:600;vertical-align:bottom;white-space:normal}
tfoot td:last-child{white-space:normal;text-align:left}
tfoot th,tfoot td{border-top:2px solid var(--line);border-bottom:0;font-weight:700}
th.text{text-align:left}thead th.middle{text-align:center;white-space:nowrap}
td.text{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:9rem;max-width:26rem}
td.shade{background:color-mix(in srgb,var(--shade) calc(var(--share)*.6),transparent);text-align:center}
td.right{font-weight:700}
td.bars{min-width:min(9rem,24vw)}
.bar{position:relative;display:block;height:.8rem;
background:linear-gradient(var(GREY),var(GREY)) 50% 0/1px 100% no-repeat}
.bar i{position:absolute;top:0;bottom:0}
.for{background:var(FOR)}.against{background:var(AGAINST)}
figure{margin:1rem 0}
figure svg{display:block;max-width:100%;height:auto}
figure svg *{stroke-linejoin:round}
figure svg.wide{min-width:34rem}
figure svg text{fill:var(INK)}
figcaption,.note,footer{color:var(GREY);font-size:.9rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1rem 2rem}
.pair>*{min-width:0}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem}
@media (max-width:600px){table{font-size:.84rem}th,td{padding:.25rem .35rem}tbody th{min-width:6rem;max-width:9rem}
td.text{min-width:8rem}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav,.skip{display:none}
.scroll{overflow:visible}section>h2,h3,caption{break-after:avoid}figure,tr,.tiles div,.warnings li{break-inside:avoid}
.warnings li,.for,.against,mark,td.shade{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
)
for word, colour in (("INK", TEXT_COLOUR), ("GREY", GREY), ("FOR", POSITIVE), ("AGAINST", NEGATIVE)):
    STYLE = STYLE.replace(f"var({word})", f"var({NAMES[colour]})")

# nothing may be fetched from anywhere, whatever a text in the page tries
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Html:
    """Text that is HTML already."""

    text: str


@dataclass(frozen=True)
class Section:
    """A part of the page: its heading, and what it says in HTML."""

    title: str
    body: str

    @property
    def id(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


def html(value: Any) -> str:
    """A value as HTML: escaped, unless it is `Html`.

    >>> html("<b>"), html(Html("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return value.text if isinstance(value, Html) else escape(str(value))


def coded(text: str) -> Html:
    """Names in `backticks` as code.

    >>> coded("`<a>` moved").text
    '<code>&lt;a&gt;</code> moved'
    """
    return Html(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


def paragraph(*texts: Any) -> str:
    return f"<p>{' '.join(map(html, texts))}</p>"


def bullets(items: Sequence[Any], kind: str = "") -> str:
    return f'<ul class="{kind}">' + "".join(f"<li>{html(item)}</li>" for item in items) + "</ul>"


def table(caption: Any, head: Sequence[Any], rows: Sequence[Sequence[Any]], foot: Sequence[Any] = ()) -> str:
    """A table whose first cell in each row names it; wide ones scroll in a frame of their own."""
    top = "".join(f'<th scope="col"{_kind(cell)}>{html(_plain(cell))}</th>' for cell in head)
    body = "".join(_row(row) for row in rows)
    end = f"<tfoot>{_row(foot)}</tfoot>" if foot else ""
    name = escape(caption.text if isinstance(caption, Html) else str(caption))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table><caption>{html(caption)}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody>{end}</table></div>"
    )


def _row(cells: Sequence[Any]) -> str:
    first, *rest = cells
    return (
        f'<tr><th scope="row">{html(first)}</th>'
        + "".join(cell.text if isinstance(cell, Cell) else f"<td>{html(cell)}</td>" for cell in rest)
        + "</tr>"
    )


def _plain(cell: Any) -> Any:
    return cell.value if isinstance(cell, Cell) else cell


def _kind(cell: Any) -> str:
    return f' class="{cell.kind}"' if isinstance(cell, Cell) else ""


@dataclass(frozen=True)
class Cell:
    """A cell with a class of its own, or shaded by a share 0 … 1."""

    value: Any
    kind: str = ""
    share: float | None = None

    @property
    def text(self) -> str:
        shade = "" if self.share is None else f' style="--share:{100 * self.share:.0f}%"'
        return f'<td class="{self.kind}"{shade}>{html(self.value)}</td>'


def bar(share: float) -> Cell:
    """A bar from the middle: to the right for, to the left against (−1 … 1). The number stands beside it."""
    size = 50 * min(abs(share), 1.0)
    start = 50 - size if share < 0 else 50
    inner = f'<i class="{"against" if share < 0 else "for"}" style="left:{start:.1f}%;width:{size:.1f}%"></i>'
    return Cell(Html(f'<span class="bar" aria-hidden="true">{inner}</span>'), "bars")


def figure(svg: str, caption: Any) -> str:
    return (
        f'<figure><div class="scroll" tabindex="0" role="region" aria-label="{html(caption)}">{svg}</div>'
        f"<figcaption>{html(caption)}</figcaption></figure>"
    )


def page(title: str, lead: str, sections: Sequence[Section], foot: str) -> str:
    """The whole document; `lead` and `foot` are HTML."""
    links = "".join(f'<li><a href="#{s.id}">{escape(s.title)}</a></li>' for s in sections)
    parts = "".join(
        f'<section id="{s.id}" aria-labelledby="{s.id}-title"><h2 id="{s.id}-title">{escape(s.title)}</h2>'
        f"{s.body}</section>\n"
        for s in sections
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n'
        f'<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">Skip to the content</a>\n'
        f"<header><h1>{escape(title)}</h1>{lead}</header>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'
        f'<main id="main" tabindex="-1">\n{parts}</main>\n<footer>{foot}</footer>\n</body>\n</html>\n'
    )


# text stays text, names are no formulas, and the same figure is the same bytes
SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "svg.hashsalt": "deciban", "font.size": 10}


def figure_svg(draw: Callable[[Any], Any], wide: float, high: float, title: str, name: str) -> str:
    """What `draw` puts into a figure of that size in inches; `title` is read to those who cannot see it."""
    plt = import_pyplot()
    from matplotlib.figure import Figure

    out = io.StringIO()
    with plt.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks: the reader's may have them
        figure = Figure(figsize=(wide, high), layout="constrained")
        draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _embed(out.getvalue(), title, name, wide)


def _embed(svg: str, title: str, name: str, wide: float) -> str:
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
