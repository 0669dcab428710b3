"""Which columns of a table a model can learn from, and what kind they are.

Left out, with a reason: columns without any cell, names that nearly every row has for itself (tickets, identifiers),
free text, numbers that only count the rows or identify them, texts that look like dates or amounts, and cells that are
neither numbers nor levels (dates, lists). Where nothing but one column of free text is left, its words are learned.

>>> import numpy as np
>>> cells = [[i, f"id{i}", "ab"[i % 2], i % 7] for i in range(40)]
>>> looked = Columns.of(np.array(cells, dtype=object))
>>> looked.kept, list(looked.left_out.values())
([2, 3], ['only counts the rows', 'names nearly every row by itself'])
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from deciban import frames
from deciban.errors import DataError
from deciban.wording import option

FEW = 20  # levels that are never too many
OWN = 0.5  # levels for each cell, above which a column names rows
LONG = 40  # characters of a cell that is a text
FREE = "is free text"
MOSTLY = 0.8  # share of the cells that tells what a column holds
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
DATES = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}|\d{{1,2}}\.? \w{{3,9}}\.? \d{{4}}|"
    rf"\w{{3,9}}\.? \d{{1,2}},? \d{{4}})([T ]+{TIME}( ?[AaPp][Mm])?( ?(Z|[+-]\d{{2}}:?\d{{2}}))?)?|{TIME}"
)
NUMBER = re.compile(r"[-+−]?[$€£¥₹]? ?[-+−]?\d[\d.,'\u00a0\u202f]*([eE][-+]?\d+)? ?[%$€£¥₹]?")
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|key|uuid|guid|index|idx|no|nr|num|number|code|ref)$|[a-z](Id|ID|Nr|No)$", re.ASCII
)


@dataclass(frozen=True)
class Columns:
    """What is known of the columns that are kept, by name (by number in an array)."""

    kept: list[Any]
    left_out: dict[Any, str]  # why
    numeric: bool  # whether all that are kept hold numbers
    holes: bool  # whether a cell of them is missing
    whole: bool  # whether all hold whole numbers ≥ 0
    binary: bool  # whether all hold 0 and 1
    words: tuple[Any, ...] = ()  # those that hold levels

    @property
    def texts(self) -> list[Any]:
        """The columns of free text, which are left out."""
        return [name for name, why in self.left_out.items() if why == FREE]

    @classmethod
    def of(cls, X: Any) -> Columns:
        """From a frame or an array."""
        found = _columns(X)
        reasons = {name: c if isinstance(c, str) else _why_not(c) for name, c in found}
        left_out = {name: why for name, why in reasons.items() if why}
        columns = [column for name, column in found if not isinstance(column, str) and name not in left_out]
        numeric = all(column.levels is None for column in columns)
        cells = [column.values[_given(column)] for column in columns] if numeric else []
        whole = numeric and all((c >= 0).all() and (c == np.floor(c)).all() for c in cells)
        return cls(
            [column.name for column in columns],
            left_out,
            numeric,
            any(not _given(column).all() for column in columns),
            whole,
            whole and all((c <= 1).all() for c in cells),
            tuple(column.name for column in columns if column.levels is not None),
        )


@dataclass(frozen=True)
class Readable:
    """What a model is to read: the columns that are kept, or the words of one."""

    columns: Columns
    text: Any = None  # the one, by name

    @classmethod
    def of(cls, X: Any, text: Any = None) -> Readable:
        """From a frame or an array; `text` names a column of texts that is to be read alone.

        >>> rows = np.array([[f"{i} " + "many words in a row " * 3] for i in range(40)], dtype=object)
        >>> Readable.of(rows).text, Readable.of(rows).rows(rows)[7][:12]
        (0, '7 many words')
        """
        if text is not None:
            return cls(_beside(X, text), text)
        columns = Columns.of(X)
        if not columns.kept and len(columns.texts) == 1:
            return cls(columns, columns.texts[0])
        if not columns.kept:
            raise DataError(nothing_left(columns))
        return cls(columns)

    @property
    def left_out(self) -> dict[Any, str]:
        return {name: why for name, why in self.columns.left_out.items() if name != self.text}

    def rows(self, X: Any) -> Any:
        """As a classifier takes them: the columns, or a list of texts."""
        return taken(X, self.columns.kept) if self.text is None else frames.strings(X, self.text)


def _beside(X: Any, text: Any) -> Columns:
    """All columns but one left out."""
    names = frames.names(X) if frames.is_frame(X) else list(range(np.shape(X)[1]))
    if text not in names:
        close = get_close_matches(str(text), [str(name) for name in names], 1)
        hint = f"did you mean {close[0]!r}?" if close else f"the columns are {', '.join(map(str, names[:12]))}"
        raise DataError(f"there is no column {text!r} to read texts from\n\nhint: {hint}")
    return Columns([], {name: "stands beside the text" for name in names if name != text}, False, False, False, False)


def nothing_left(columns: Columns) -> str:
    """What to say where no column can be used."""
    told = "; ".join(f"`{name}` {why}" for name, why in columns.left_out.items()) or "there is no other column"
    return (
        f"no column is left to learn from: {told}\n\nhint: give columns of numbers or of words that rows share, or "
        f"name one whose words are to be learned from: {option('text=', '--text COLUMN')}"
    )


def taken(X: Any, names: list[Any]) -> Any:
    """Those columns of a frame or an array, in this order."""
    if isinstance(X, frames.Records):
        return X.only(names)
    if not frames.is_frame(X):
        return np.asarray(X)[:, names]
    return nw.from_native(X, eager_only=True).select(names).to_native()


def _columns(X: Any) -> list[tuple[Any, frames.Column | str]]:
    """(name, column) of each; the reason instead of one that a model cannot read."""
    if not frames.is_frame(X):
        return [(column.name, column) for column in frames.columns(np.asarray(X))]
    out: list[tuple[Any, frames.Column | str]] = []
    for name in frames.names(X):
        try:
            out.append((name, frames.columns(taken(X, [name]))[0]))
        except DataError as error:
            out.append((name, str(error).partition("\n\n")[0].removeprefix(f"column `{name}` ")))
    return out


def _given(column: frames.Column) -> np.ndarray:
    return ~np.isnan(column.values) if column.levels is None else column.values >= 0


def _why_not(column: frames.Column) -> str:
    given = int(_given(column).sum())
    if not given:
        return "has no cells"
    if column.levels is None:
        return _why_no_number(column)
    levels = [str(level) for level in column.levels]
    if len(levels) <= max(FEW, OWN * given):
        return ""
    for what, pattern in (("dates", DATES), ("numbers as text", NUMBER)):
        fits = [pattern.fullmatch(level.strip()) is not None for level in levels]
        if np.mean(fits) >= MOSTLY:
            other = next((f", but {level!r} does not" for level, fit in zip(levels, fits, strict=True) if not fit), "")
            return (
                f"holds {what}: {100 * np.mean(fits):.0f} % of the cells look like {levels[fits.index(True)]!r}{other}"
            )
    return FREE if np.mean([len(level) for level in levels]) > LONG else "names nearly every row by itself"


def _why_no_number(column: frames.Column) -> str:
    """Why whole numbers that are different in all rows are left out: they are in a row, or go by the name of a key."""
    values = np.sort(np.asarray(column.values, dtype=np.float64)[_given(column)])
    if len(values) <= FEW or (values != np.floor(values)).any():
        return ""
    steps = np.diff(values)
    if steps.min() == 0:
        return ""
    if len(values) == len(column.values) and steps.min() == steps.max():
        return "only counts the rows" + ("" if steps[0] == 1 else f", in steps of {steps[0]:g}")
    if IDENTIFIER.search(str(column.name)):
        return "is an identifier, by its name and a different number in each row"
    return ""
