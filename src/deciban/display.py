"""Formatting of numbers, odds, probabilities and lists; tables as text and as HTML; colours of plots.

>>> format_decibans(12.34), format_decibans(float("-inf"))
('+12.3', 'impossible')
>>> format_odds(20.0), format_odds(-3.0), format_probability(0.25, 0.75)
('100 : 1', '1 : 2', '0.250')

Tables of numbers as aligned text and as HTML.

>>> rows = [("dose", format_number(1.5), format_pvalue(0.0001))]
>>> print(Table("yes against no", ("", "coef", "p"), rows))
yes against no
          coef       p
  dose  1.5000  <0.001

Colour-blind-safe palette (Okabe and Ito, 2008). Classes also differ by marker and lines by dashes, so that plots can be
read in grey.

>>> [class_style(c, 3).colour for c in range(3)]
['#0072b2', '#d55e00', '#009e73']
>>> class_style(8, 9).colour == class_style(1, 9).colour, class_style(8, 9).marker == class_style(1, 9).marker
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import Any

import numpy as np

POSITIVE, NEGATIVE = "#0072b2", "#d55e00"  # blue and vermilion
TEXT_COLOUR, GREY, PALE, BACKGROUND = "#333333", "#6b6b6b", "#d9d9d9", "#ffffff"
# without yellow, which is hard to see on white
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
STYLES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")


@dataclass(frozen=True)
class ClassStyle:
    """How a class is drawn: its points and its lines."""

    colour: str
    marker: str
    style: Any


def class_style(c: int, k: int) -> ClassStyle:
    """Colour, marker and line style of class c of k: two classes are blue and vermilion, as evidence for and
    against."""
    colour = COLOURS[(1 - c) if k == 2 else c % len(COLOURS)]
    return ClassStyle(colour, MARKERS[c % len(MARKERS)], STYLES[c // len(COLOURS) % len(STYLES)])


HALF = 10  # characters of a bar to either side of nothing
MISSING = "missing"
_users = ["python"]  # who reads hints: the last one


@contextmanager
def on_command_line() -> Iterator[None]:
    """Hints name options of the command line in here, arguments of Python elsewhere.

    >>> with on_command_line():
    ...     option("header=LINE", "--header LINE")
    '--header LINE'
    """
    _users.append("command line")
    try:
        yield
    finally:
        _users.pop()


def option(python: str, command: str) -> str:
    """What to write in a hint, in Python or on the command line.

    >>> option("header=LINE", "--header LINE")
    'header=LINE'
    """
    return python if _users[-1] == "python" else command


@dataclass(frozen=True)
class EvidenceRow:
    """A line of a table of evidence."""

    name: str
    value: str
    decibans: float
    half: float | None = None  # half the width of its interval; None: without error bars


@dataclass(frozen=True)
class EvidenceTable:
    """The explanation of one row: a title, the prior, the columns from the strongest, the total and its meaning."""

    title: str
    lines: Sequence[EvidenceRow]  # the prior, then the columns
    total: float
    verdict: str
    total_half: float | None = None  # half the width of the interval of the total
    heading: str = ""  # of the half widths; "": there are no error bars

    @property
    def largest(self) -> float:
        """The longest bar, in decibans; never 0."""
        sizes = [abs(line.decibans) for line in self.lines if np.isfinite(line.decibans)]
        return max(sizes, default=0.0) or 1.0

    def table(self) -> Table:
        """The columns, their decibans as numbers and as bars, and the total."""
        rows = [
            (line.name, line.value, format_decibans(line.decibans), Bar(bar_share(line.decibans, self.largest)))
            for line in self.lines
        ]
        footer = ("total", "", format_decibans(self.total), self.verdict)
        if not self.heading:
            return Table(self.title, ("column", "value", "decibans", ""), rows, footer, left=(0, 3))
        each = [*((line.decibans, line.half) for line in self.lines), (self.total, self.total_half)]
        halves = [format_half_width(decibans, half) for decibans, half in each]
        wide = [(name, value, size, half, bar) for (name, value, size, bar), half in zip(rows, halves, strict=False)]
        head = ("column", "value", "decibans", self.heading, "")
        return Table(self.title, head, wide, (*footer[:3], halves[-1], footer[3]), left=(0, 4))


UNEQUAL = (float, np.floating, np.datetime64, np.timedelta64, Decimal)  # types with a value that is not itself


MISSING_LEVEL = "(missing)"  # the level of missing cells


def is_missing(cell: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT or a frame's own NA. (Of a whole column: `frames.Column.missing`.)

    >>> [is_missing(cell) for cell in (None, float("nan"), np.datetime64("NaT"), 0, "", "nan")]
    [True, True, True, False, False, False]
    """
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, UNEQUAL) and bool(cell != cell)


CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"  # and letters that no text has
CONTROL = re.compile(f"[{CONTROLS}]")
CONTROL_IN_LINE = re.compile(f"(?![\\n\\t])[{CONTROLS}]")


def one_line(text: str) -> str:
    """A text in which control characters, and ends of lines among them, are written as escapes: no value that is shown
    can move the cursor, change a terminal or look like a line of its own.

    >>> one_line("a\\n\\x1b[2Jb")
    'a\\\\n\\\\x1b[2Jb'
    """
    return CONTROL.sub(_escaped, text)


def escape_controls(text: str) -> str:
    """The same for a text of several lines, which stay lines."""
    return CONTROL_IN_LINE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


CHOICES = 12  # names in a hint that offers them


def format_list(items: Iterable[Any], limit: int = 5, quote: str = "`", last: str = ", ", more: str = "more") -> str:
    """The first `limit` of several names, and how many others there are. `last` comes before the last name.

    >>> format_list("abcdef")
    '`a`, `b`, `c`, `d`, `e` and 1 more'
    >>> format_list("abc", quote="", last=" and "), format_list("a"), format_list("abc", 2, more="more words")
    ('a, b and c', '`a`', '`a`, `b` and 1 more words')
    """
    items = list(items)
    shown = [f"{quote}{one_line(str(item))}{quote}" for item in items[:limit]]
    if len(items) > limit:
        return f"{', '.join(shown)} and {len(items) - limit:,} {more}"
    return last.join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def format_choices(items: Iterable[Any]) -> str:
    """The names one can write, in a hint: most of them, as they are written.

    >>> format_choices(range(14))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more'
    """
    return format_list(items, CHOICES, quote="")


def truncate(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def cell_text(cell: Any, most: int = 20) -> str:
    if is_missing(cell):
        return MISSING
    return f"{cell:.4g}" if isinstance(cell, float | np.floating) else truncate(one_line(str(cell)), most)


def format_decibans(decibans: float) -> str:
    if np.isnan(decibans):  # one cell rules out the one class, another the other
        return "undecided"
    if np.isinf(decibans):
        return "certain" if decibans > 0 else "impossible"
    return f"{decibans:+.1f}".replace("-0.0", "+0.0") if abs(decibans) < 1e6 else f"{decibans:+.1e}"


def format_half_width(decibans: float, half: float | None) -> str:
    """Half the width of an interval, as it follows its decibans; nothing where these are infinite.

    >>> format_half_width(3.8, 2.14), format_half_width(float("inf"), 0.0), format_half_width(1.0, None)
    ('± 2.1', '', '')
    """
    if half is None or not np.isfinite(decibans):
        return ""
    return f"± {half:.1f}" if half < 1e6 else f"± {half:.1e}"


def format_odds(decibans: float) -> str:
    """Odds as two numbers, the larger one rounded."""
    if np.isinf(decibans):
        return "1 : 0" if decibans > 0 else "0 : 1"
    size = abs(decibans) / 10.0
    many = f"10^{size:.0f}" if size >= 6 else f"{10.0**size:.3g}"
    if size < 6 and 10.0**size >= 999.5:
        many = f"{10.0**size:,.0f}"
    if size < 1:
        many = f"{10.0**size:.2g}"
    return f"{many} : 1" if decibans >= 0 else f"1 : {many}"


def format_probability(p: float, rest: float) -> str:
    """A probability, and where it is all but 1, how little is left."""
    if 0.0005 <= p < 0.9995:
        return f"{p:.3f}"
    if p < 0.5:
        return f"{p:.1e}" if p > 0 else "0"
    return f"1 − {rest:.0e}" if rest > 0 else "1"


def format_number(a: float) -> str:
    """Four decimals, or three digits where those would say little."""
    if np.isnan(a):
        return "–"
    if np.isinf(a):
        return "∞" if a > 0 else "−∞"
    return f"{a:.4f}" if a == 0 or 1e-3 <= abs(a) < 1e6 else f"{a:.3g}"


def format_exp(log: float, decimals: bool = True) -> str:
    """A number by its natural logarithm, as `format_number` has it, or (without `decimals`) by three digits; numbers
    too small for a float too.

    >>> format_exp(np.log(0.0206)), format_exp(np.log(0.0206), decimals=False), format_exp(-1000.0), format_exp(-np.inf)
    ('0.0206', '0.0206', '5.08e-435', '0')
    """
    if np.isneginf(log):
        return "0"
    if abs(log) < 690:
        return format_number(float(np.exp(log))) if decimals else f"{np.exp(log):#.3g}"
    tens = log / np.log(10.0)
    return f"{10.0 ** (tens - np.floor(tens)):.2f}e{np.floor(tens):+.0f}"


def format_count(a: float) -> str:
    """A count with or without pseudo-counts: whole numbers without a point.

    >>> format_count(12.0), format_count(2.5), format_count(1 / 3)
    ('12', '2.5', '0.3333')
    """
    return f"{a:.0f}" if abs(a - round(a)) <= 1e-9 * max(abs(a), 1.0) else f"{a:.4g}" if a < 1e4 else f"{a:.1f}"


def format_fraction(numerator: float, denominator: float) -> str:
    """A quotient of counts, not reduced.

    >>> format_fraction(3.0, 12.0), format_fraction(2.5, 10.5)
    ('3/12', '2.5/10.5')
    """
    return f"{format_count(numerator)}/{format_count(denominator)}"


def format_2(a: float) -> str:
    return f"{a:.2f}" if np.isfinite(a) and abs(a) < 1e6 else format_number(a)


def format_pvalue(p: float) -> str:
    if np.isnan(p):
        return "–"
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def bar_share(decibans: float, largest: float) -> float:
    """The length of a bar, −1 … 1; 0 where nothing is known."""
    return 0.0 if np.isnan(decibans) else float(np.clip(decibans / largest, -1.0, 1.0))


@dataclass(frozen=True)
class Bar:
    """A cell of a table: a bar that grows from the middle, to the right for, to the left against.

    >>> str(Bar(-0.5)), str(Bar(0.2))
    ('     █████│', '          │██')
    """

    share: float  # −1 … 1

    def __str__(self) -> str:
        size = round(abs(self.share) * HALF)
        left, right = ("█" * size, "") if self.share < 0 else ("", "█" * size)
        return f"{left:>{HALF}}│{right}"

    def to_html(self) -> str:
        size, start = 60 * abs(self.share), 60 + 60 * min(self.share, 0.0)
        colour = POSITIVE if self.share > 0 else NEGATIVE
        inner = f"margin-left:{start:.0f}px;width:{size:.0f}px;height:0.8em;background:{colour}"
        middle = "background:linear-gradient(#888,#888) 60px 0/1px 100% no-repeat"
        return f'<div style="width:120px;{middle}"><div style="{inner}"></div></div>'


@dataclass(frozen=True)
class Shaded:
    """A cell of a table: a text on a background that is the darker the larger a share is.

    >>> str(Shaded("12", 0.5))
    '12'
    """

    text: str
    share: float  # 0 … 1
    bold: bool = False

    def __str__(self) -> str:
        return self.text

    def to_html(self) -> str:
        shade, weight = round(150 * self.share), "bold" if self.bold else "normal"
        return f'<div style="background:{POSITIVE}{shade:02x};font-weight:{weight}">{escape(self.text)}</div>'


Cell = str | Bar | Shaded
LONGEST = 40  # characters of a row's name
ALIGN = {"left": "<", "right": ">"}


@dataclass(frozen=True)
class Table:
    """A table as aligned text and as HTML.

    >>> print(Table("", ("fold", "rows"), [("first", "30"), ("second", "5")], footer=("all", "35"), notes=["2 folds"]))
    fold    rows
    first     30
    second     5
    all       35
    2 folds
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]  # the first cell of each is its name
    footer: Sequence[Cell] = ()  # a last row
    notes: Sequence[str] = ()  # lines below
    left: Sequence[int] = (0,)  # the columns that are aligned to the left

    def to_text(self) -> str:
        """Aligned columns; below a title they are indented."""
        rows = [self.head, *self.rows, *([self.footer] if self.footer else [])]
        texts = [[one_line(str(cell)) for cell in row] for row in rows]
        cells = [[truncate(name, LONGEST), *rest] for name, *rest in texts]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        shapes = [f"{ALIGN[side]}{width}" for side, width in zip(self._sides, widths, strict=True)]
        lines = ["  ".join(map(format, row, shapes)).rstrip() for row in cells] + [note for note in self.notes if note]
        return "\n".join([one_line(self.title), *(f"  {line}" for line in lines)] if self.title else lines)

    def to_html(self) -> str:
        """The same with its own style, all texts escaped."""
        parts = [
            f"<thead>{self._html_row(self.head, 'th')}</thead>",
            f"<tbody>{''.join(self._html_row(row) for row in self.rows)}</tbody>",
        ]
        if self.title:
            parts.insert(0, f'<caption style="text-align:left;font-weight:bold">{escape(self.title)}</caption>')
        if self.footer:
            parts.append(f'<tfoot style="border-top:1px solid #888">{self._html_row(self.footer, "th")}</tfoot>')
        table = f'<table style="border-collapse:collapse;margin-bottom:1em">{"".join(parts)}</table>'
        return table + paragraphs(self.notes)

    __str__ = to_text
    _repr_html_ = to_html

    @property
    def _sides(self) -> list[str]:
        return ["left" if j in self.left else "right" for j in range(len(self.head))]

    def _html_row(self, row: Sequence[Cell], tag: str = "td") -> str:
        cells = (
            f'<{tag} style="padding:1px 8px;text-align:{side}">'
            f"{escape(cell) if isinstance(cell, str) else cell.to_html()}</{tag}>"
            for cell, side in zip(row, self._sides, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"


def preformatted(text: str) -> str:
    """Aligned text as HTML."""
    return f'<pre style="line-height:1.3">{escape(text)}</pre>'


def paragraphs(lines: Sequence[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)
