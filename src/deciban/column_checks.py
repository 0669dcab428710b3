"""Columns that are learned from but hardly ever meant to be: constants, columns without a cell, copies, identifiers,
the target itself.

Only tables of `FEW` rows and more are looked at, for in small ones such things come by chance. Numbers with a fraction
are never identifiers: measurements differ from row to row. Large tables are judged by a sample first.

>>> rows = [Column("id", np.arange(60) * 7), Column("one", np.ones(60)), Column("x", np.arange(60) % 5.0)]
>>> column_notes(rows, np.arange(60) % 2, np.array(["no", "yes"]))
['`one` has one value in all rows', '`id` has another value in every row, as identifiers do']
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from deciban.frames import Column, some

FEW = 10  # rows, below which nothing is said
NAMES = 20  # rows, from which names that differ in nearly every row are identifiers
NUMBERS = 50  # rows, from which whole numbers that differ in every row are
OWN = 0.95  # distinct names for each cell, from which a column names rows
SAMPLE = 2_000  # rows that identifiers are looked for in
GLANCE = 256  # rows that copies are looked for by
BITS = 10.0  # information that two columns have to share, so that they are equal by chance once in 1,000 times


def column_notes(columns: Iterable[Column], y: np.ndarray, classes: np.ndarray, target: Any = None) -> list[str]:
    """What is wrong with some columns, by name. y: the class codes (n,); target: the name of y, where it has one."""
    n = len(y)
    if n < FEW:
        return []
    columns = list(columns)
    rng = np.random.default_rng(0)
    glance = np.sort(rng.choice(n, GLANCE, replace=False)) if n > GLANCE else np.arange(n)
    sample = np.sort(rng.choice(n, SAMPLE, replace=False)) if n > SAMPLE else np.arange(n)
    is_target = [c for c in columns if _equals(c, y, classes, glance)]
    empty = [c for c in columns if not _given(c.values[glance]).any() and not _given(c.values).any()]
    constant = [c for c in columns if not _in(c, empty) and _is_constant(c.values, glance)]
    telling = [c for c in columns if not _in(c, [*empty, *constant])]
    found = [
        (empty, "has no cells", "have no cells"),
        (constant, "has one value in all rows", "have one value each in all rows"),
        ([c for c in telling if _names_rows(c, sample)], *IDENTIFIER),
        (is_target, "is the target itself", "are the target itself"),
    ]
    out = [f"{_named(those)} {one if len(those) == 1 else many}" for those, one, many in found if those]
    same_name = [c for c in columns if target is not None and c.name == target and not _in(c, is_target)]
    out += [f"{_named(same_name)} has the name of the target"] if same_name else []
    for first, copies in _copies([c for c in telling if not _in(c, is_target)], glance):
        what = "is a copy" if len(copies) == 1 else "are copies"
        out.append(f"{_named(copies)} {what} of {_named([first])}")
    return out


IDENTIFIER = (
    "has another value in every row, as identifiers do",
    "have another value in every row, as identifiers do",
)


def _in(column: Column, those: list[Column]) -> bool:
    return any(one is column for one in those)


def _named(columns: list[Column]) -> str:
    numbers = isinstance(columns[0].name, int)
    return ("column " if len(columns) == 1 else "columns ") + _plain(columns) if numbers else _plain(columns)


def _plain(columns: list[Column]) -> str:
    return some([c.name for c in columns]).replace("`", "" if isinstance(columns[0].name, int) else "`")


def _given(values: np.ndarray) -> np.ndarray:
    """Which cells are not missing: codes −1 are, and NaN."""
    if values.dtype.kind == "f":
        return ~np.isnan(values)
    return values >= 0 if values.dtype == np.int32 else np.ones(len(values), dtype=bool)


def _is_constant(values: np.ndarray, glance: np.ndarray) -> bool:
    """Whether all rows have one value. (A cell that is missing now and then may tell something.)"""
    return bool((values[glance] == values[0]).all() and (values == values[0]).all())


def _names_rows(column: Column, sample: np.ndarray) -> bool:
    values = column.values
    if column.levels is not None:
        given = int(_given(values[sample]).sum()) * len(values) / len(sample)
        return given >= NAMES and len(column.levels) >= OWN * given
    if values.dtype.kind not in "iu" or len(values) < NUMBERS:
        return False
    drawn = values[sample]
    return len(np.unique(drawn[:NUMBERS])) == NUMBERS and len(np.unique(drawn)) == len(drawn)


def _equals(column: Column, y: np.ndarray, classes: np.ndarray, glance: np.ndarray) -> bool:
    """Whether the cells are the labels."""
    labels = classes.tolist()
    if len(labels) < 2 or isinstance(column.name, int):  # columns of an array were put together on purpose
        return False
    if column.levels is not None:
        place = {label: code for code, label in enumerate(labels)}
        table = np.array([*(place.get(level, -2) for level in column.levels), -2])
        return all(bool((table[column.values[rows]] == y[rows]).all()) for rows in (glance, slice(None)))
    if classes.dtype.kind not in "iufb":
        return False
    numbers = classes.astype(np.float64)
    return all(bool((column.values[rows] == numbers[y[rows]]).all()) for rows in (glance, slice(None)))


def _copies(columns: list[Column], glance: np.ndarray) -> list[tuple[Column, list[Column]]]:
    """(column, its copies), each copy once."""
    alike: dict[tuple[bool, bytes], list[tuple[Column, list[Column]]]] = {}
    for column in columns:
        seen = alike.setdefault((column.levels is None, _bytes(column.values[glance])), [])
        gaps = column.values.dtype.kind == "f"
        same = (own for one, own in seen if np.array_equal(one.values, column.values, equal_nan=gaps))
        copies = next(same, None)
        if copies is None:
            seen.append((column, []))
        elif _information(column.values) >= BITS:
            copies.append(column)
    return [(first, copies) for group in alike.values() for first, copies in group if copies]


def _bytes(values: np.ndarray) -> bytes:
    return np.asarray(values, dtype=np.float64).tobytes()


def _information(values: np.ndarray) -> float:
    """n · entropy in bits, of the first rows."""
    _, count = np.unique(values[:SAMPLE], return_counts=True)
    share = count / count.sum()
    return -len(values) * float(share @ np.log2(share))
