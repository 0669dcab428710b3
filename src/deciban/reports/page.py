"""HTML by hand: tables, figures and sections that readers and machines can find their way in. All text is escaped.

>>> print(table("Rows", ["class", "rows"], [["a", 3]]))
<div class="scroll" tabindex="0" role="region" aria-label="Rows"><table><caption>Rows</caption><thead><tr>\
<th scope="col">class</th><th scope="col">rows</th></tr></thead><tbody><tr><th scope="row">a</th><td>3</td></tr>\
</tbody></table></div>
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from deciban.reports.style import STYLE

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
