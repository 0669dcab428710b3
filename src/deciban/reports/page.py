"""What a report is made of: a page of sections, each a title and a sequence of blocks. All of it is data; how it looks
is in `page.html.j2` and `report.css`.

In the text of paragraphs, alerts and notes of tables, names between `backticks` are set as code.

>>> Section("Largest errors", (Paragraph("Every row is predicted with certainty."),)).id
'largest-errors'
"""

from __future__ import annotations

from dataclasses import dataclass

from deciban.display import Table


@dataclass(frozen=True)
class Paragraph:
    text: str
    small: bool = False  # a note


@dataclass(frozen=True)
class Stat:
    """A number with its name above and a note below it."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Stats:
    """The main numbers, side by side."""

    items: tuple[Stat, ...]


@dataclass(frozen=True)
class Alerts:
    """Warnings under a title; `none` is shown where there are no warnings."""

    title: str
    texts: tuple[str, ...]
    none: str


@dataclass(frozen=True)
class Piece:
    """A part of a quoted text; `share` is the size of its evidence relative to the largest, 0 … 1."""

    text: str
    decibans: float | None
    share: float


@dataclass(frozen=True)
class Quote:
    """A text whose words are shaded by their evidence."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Figure:
    svg: str  # as `render.figure_svg` makes it
    caption: str


@dataclass(frozen=True)
class SideBySide:
    """Blocks next to each other where the screen is wide enough, else one below the other."""

    blocks: tuple[Table | Figure, ...]


Block = Paragraph | Stats | Alerts | Quote | Figure | SideBySide | Table


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[Block, ...]

    @property
    def id(self) -> str:
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


@dataclass(frozen=True)
class Page:
    title: str
    model: str  # its constructor call
    target: str | None
    classes: str
    sections: tuple[Section, ...]
    version: str
    date: str
