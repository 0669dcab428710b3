"""Evidence in words: numbers, odds and probabilities as one reads them, and tables of them as text and as HTML.

>>> signed(12.34), signed(float("-inf")), odds(20.0), odds(-3.0), chance(0.25, 0.75)
('+12.3', 'impossible', '100 : 1', '1 : 2', '0.250')
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from deciban.palette import AGAINST, FOR

HALF = 10  # characters of a bar to either side of nothing
MISSING = "missing"
LIBRARY = str(Path(__file__).parent)  # where lines are that users did not write
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
class Line:
    """A line of a table of evidence."""

    name: str
    value: str
    decibans: float


@dataclass(frozen=True)
class Account:
    """All that is said about one row: a title, the prior, columns from the strongest, the total and what it means."""

    title: str
    lines: Sequence[Line]  # the prior, then the columns
    total: float
    verdict: str

    @property
    def largest(self) -> float:
        """The longest bar, in decibans; never 0."""
        sizes = [abs(line.decibans) for line in self.lines if np.isfinite(line.decibans)]
        return max(sizes, default=0.0) or 1.0


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The end of a hint about a name that is not known.

    >>> did_you_mean("GausianNB", ["GaussianNB", "MixedNB"]), did_you_mean("q", ["a", "b"])
    ('did you mean `GaussianNB`?', 'there are a, b')
    """
    near = get_close_matches(name, known, 1, 0.6) or [one for one in known if one.lower() == name.lower()]
    if near:
        return f"did you mean `{near[0]}`?"
    return f"there are {', '.join(known)}" if known else "there are none"


def absent(cell: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT or a frame's own NA."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def cell_text(cell: Any, most: int = 20) -> str:
    if absent(cell):
        return MISSING
    return f"{cell:.4g}" if isinstance(cell, float | np.floating) else short(str(cell), most)


def signed(decibans: float) -> str:
    if np.isnan(decibans):  # one cell rules out the one class, another the other
        return "undecided"
    if np.isinf(decibans):
        return "certain" if decibans > 0 else "impossible"
    return f"{decibans:+.1f}".replace("-0.0", "+0.0") if abs(decibans) < 1e6 else f"{decibans:+.1e}"


def odds(decibans: float) -> str:
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


def chance(p: float, rest: float) -> str:
    """A probability, and where it is all but 1, how little is left."""
    if 0.0005 <= p < 0.9995:
        return f"{p:.3f}"
    if p < 0.5:
        return f"{p:.1e}" if p > 0 else "0"
    return f"1 − {rest:.0e}" if rest > 0 else "1"


def bar(decibans: float, largest: float) -> str:
    """A bar that grows from the middle: to the right for, to the left against."""
    share = 0.0 if np.isnan(decibans) else float(np.clip(decibans / largest, -1.0, 1.0))
    size = round(abs(share) * HALF)
    left, right = ("█" * size, "") if share < 0 else ("", "█" * size)
    return f"{left:>{HALF}}│{right}"


def as_text(account: Account) -> str:
    """An aligned table."""
    names = [short(line.name, 40) for line in account.lines]
    marks = [signed(line.decibans) for line in account.lines] + [signed(account.total), "decibans"]
    wide = max(map(len, [*names, "column"]))
    value = max(len(line.value) for line in [*account.lines, Line("", "value", 0.0)])
    mark = max(map(len, marks))
    rows = [account.title, f"  {'column':<{wide}}  {'value':>{value}}  {'decibans':>{mark}}"]
    for name, line in zip(names, account.lines, strict=True):
        told = f"  {name:<{wide}}  {line.value:>{value}}  {signed(line.decibans):>{mark}}"
        rows.append(f"{told}  {bar(line.decibans, account.largest)}")
    rows.append(f"  {'total':<{wide}}  {'':>{value}}  {signed(account.total):>{mark}}  {account.verdict}")
    return "\n".join(rows)


def as_html(account: Account) -> str:
    """The same as a table that brings its own style."""
    cell = "padding:1px 8px;text-align:"
    head = "".join(
        f'<th style="{cell}{side}">{word}</th>'
        for word, side in (("column", "left"), ("value", "right"), ("decibans", "right"), ("", "left"))
    )
    rows = [
        f'<tr><td style="{cell}left">{escape(line.name)}</td><td style="{cell}right">{escape(line.value)}</td>'
        f'<td style="{cell}right">{signed(line.decibans)}</td>'
        f'<td style="{cell}left">{_html_bar(line, account)}</td></tr>'
        for line in account.lines
    ]
    last = (
        f'<tr style="border-top:1px solid #888"><th style="{cell}left">total</th><td></td>'
        f'<th style="{cell}right">{signed(account.total)}</th>'
        f'<td style="{cell}left">{escape(account.verdict)}</td></tr>'
    )
    caption = f'<caption style="text-align:left;font-weight:bold">{escape(account.title)}</caption>'
    table = '<table style="border-collapse:collapse;margin-bottom:1em">'
    return f"{table}{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}{last}</tbody></table>"


def _html_bar(line: Line, account: Account) -> str:
    share = 0.0 if np.isnan(line.decibans) else float(np.clip(line.decibans / account.largest, -1.0, 1.0))
    size, start = 60 * abs(share), 60 + 60 * min(share, 0.0)
    colour = FOR if share > 0 else AGAINST
    inner = f"margin-left:{start:.0f}px;width:{size:.0f}px;height:0.8em;background:{colour}"
    middle = "background:linear-gradient(#888,#888) 60px 0/1px 100% no-repeat"
    return f'<div style="width:120px;{middle}"><div style="{inner}"></div></div>'


def levels_up() -> int:
    """How many calls back from the caller's line the first one outside of this library is: the line to warn of."""
    at, level = sys._getframe(1), 1
    while at.f_back is not None and at.f_code.co_filename.startswith(LIBRARY):
        at, level = at.f_back, level + 1
    return level
