"""Why a column of a table is of no use to a model: identifiers, free text, row numbers, texts that look like dates or
amounts, columns without values.

>>> import numpy as np
>>> from deciban.data.frames import Column
>>> drop_reason(Column("row", np.arange(30.0))), drop_reason(Column("age", np.arange(30.0) % 7))
('is a row number', '')
"""

from __future__ import annotations

import re

import numpy as np

from deciban.data.frames import Column

FEW = 20  # so many categories are never too many
OWN = 0.5  # categories per value above which a column is an identifier
LONG = 40  # mean length, in characters, above which a column is free text
FREE = "is free text"
MOSTLY = 0.8  # share of the values that must look like dates (numbers) for a column to be of dates (numbers)
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
DATES = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}|\d{{1,2}}\.? \w{{3,9}}\.? \d{{4}}|"
    rf"\w{{3,9}}\.? \d{{1,2}},? \d{{4}})([T ]+{TIME}( ?[AaPp][Mm])?( ?(Z|[+-]\d{{2}}:?\d{{2}}))?)?|{TIME}"
)
NUMBER = re.compile(r"[-+−]?[$€£¥₹]? ?[-+−]?\d[\d.,'\u00a0\u202f]*([eE][-+]?\d+)? ?[%$€£¥₹]?")
IDENTIFIER = re.compile(
    r"(^|[\W_])(id|key|uuid|guid|index|idx|no|nr|num|number|code|ref)$|[a-z](Id|ID|Nr|No)$", re.ASCII
)


def drop_reason(column: Column) -> str:
    """Why a column is dropped; "" if it is kept."""
    given = int((~column.missing).sum())
    if not given:
        return "has no values"
    return _reason_of_numbers(column) if column.levels is None else _reason_of_levels(column.levels, given)


def _reason_of_levels(found: list, given: int) -> str:
    """Why a column of levels is dropped: nearly every value, of so many, is a level of its own. "" if it is kept."""
    levels = [str(level) for level in found]
    if len(levels) <= max(FEW, OWN * given):
        return ""
    for what, pattern in (("dates", DATES), ("numbers as text", NUMBER)):
        fits = [pattern.fullmatch(level.strip()) is not None for level in levels]
        if np.mean(fits) >= MOSTLY:
            other = next((f", but {level!r} does not" for level, fit in zip(levels, fits, strict=True) if not fit), "")
            return (
                f"holds {what}: {100 * np.mean(fits):.0f} % of the values look like {levels[fits.index(True)]!r}{other}"
            )
    return FREE if np.mean([len(level) for level in levels]) > LONG else "is an identifier (nearly all values differ)"


def _reason_of_numbers(column: Column) -> str:
    """Why a numeric column is dropped: all its values are different whole numbers, and they are equally spaced or the
    column's name is that of a key. "" if it is kept."""
    missing = column.missing
    values = np.asarray(column.values if not missing.any() else column.values[~missing], dtype=np.float64)
    if len(values) <= FEW:
        return ""
    with np.errstate(all="ignore"):  # the largest numbers are far apart
        if np.ptp(values) < len(values) - 1 or (values != np.floor(values)).any():
            return ""
        steps = np.diff(np.sort(values))
    if steps.min() == 0:
        return ""
    if len(values) == len(column.values) and steps.min() == steps.max():
        return "is a row number" + ("" if steps[0] == 1 else f", in steps of {steps[0]:g}")
    if IDENTIFIER.search(str(column.name)):
        return "is an identifier, by its name and a different number in each row"
    return ""
