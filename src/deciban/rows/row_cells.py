"""Cells of single rows → blocks, column by column, with everything about the columns looked up before.

`CellReader` reads rows whose cells have the types of training: numbers, texts, truth values, dates, durations, None and
NaN. For any other row the result is None, and the reader of frames reads it, or raises its error.

>>> from deciban.rows.coding import LINEAR, Coding
>>> from deciban.data.frames import Column
>>> columns = [Column("sex", np.array([0, 1, 1]), ["f", "m"]), Column("age", np.array([30.0, 40.0, 50.0]))]
>>> coding, _ = Coding.of(columns, LINEAR)
>>> read = CellReader.of_coding(coding, ["age", "sex"])
>>> read([44, "f"]).values.tolist(), read(["old", "f"]) is None
([[1.0, 44.0]], True)
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf
from typing import Any

import numpy as np

from deciban.data.blocks import Block, Codes, Mixed, Reals
from deciban.data.frames import Column, number_of_unit
from deciban.data.support import outside
from deciban.display import is_missing
from deciban.rows.coding import UNSEEN, Coding, ColumnCode
from deciban.rows.date_parts import date_part
from deciban.rows.schema import Schema

NUMBERS: frozenset = frozenset({float, int})
OF_UNIT: dict[str, frozenset] = {
    "": NUMBERS,
    "date": frozenset({dt.datetime, dt.date}),
    "duration": frozenset({dt.timedelta}),
}
ReadCell = Callable[[Any], Any]  # a cell → what the block holds; raises `Unknown`
Plan = Sequence[tuple[int, ReadCell]]  # position of a column (−1: absent), how its cells are read


class Unknown(Exception):
    """A cell of a type that is not read here."""


@dataclass(frozen=True)
class CellReader:
    """The cells of a row, in the order of `columns` → a block of one row, or None."""

    columns: tuple[str, ...]
    plan: Plan
    make: Callable[[list], Block]

    def __call__(self, row: Any) -> Block | None:
        cells = [row.get(name) for name in self.columns] if isinstance(row, dict) else row
        try:
            if len(cells) != len(self.columns):
                return None
            return self.make([read(cells[at] if at >= 0 else None) for at, read in self.plan])
        except (Unknown, OverflowError, KeyError, TypeError):
            return None

    @classmethod
    def of_numbers(cls, names: Sequence[str], columns: Sequence[str], floor: float) -> CellReader:
        """For columns of complete numbers, not below `floor`."""
        place = {name: at for at, name in enumerate(columns)}
        plan = [(place[name], partial(_complete, floor)) for name in names]
        return cls(tuple(columns), plan, lambda cells: Reals(np.array([cells])))

    @classmethod
    def of_coding(cls, coding: Coding, columns: Sequence[str]) -> CellReader:
        """For coded columns."""
        place = {name: at for at, name in enumerate(columns)}
        plan = [(place.get(code.name, -1), _reader_of(code)) for code, _ in coding.groups]
        coded = coding.groups[0][0].coded

        def make(cells: list) -> Block:
            out = np.array([[value for part in cells for value in part]], dtype=np.int32 if coded else np.float64)
            return Codes(out) if coded else Reals(out)

        return cls(tuple(columns), plan, make)

    @classmethod
    def of_schema(cls, schema: Schema, columns: Sequence[str]) -> CellReader:
        """For the columns of a schema."""
        place = {name: at for at, name in enumerate(columns)}
        plan, groups = [], []
        for field in schema.fields:
            lost = None if schema.gaps is not None else -1  # an unseen level is no gap, and has the same code
            unseen = len(field.place) if schema.reserve else lost
            if field.levels is None:
                real = field.family.support == "real"
                read: ReadCell = partial(_number if real else partial(_number_in, field.family.support), field.unit)
            else:
                read = _levels_reader(field.levels, list(range(len(field.levels))), unseen, -1)
            plan.append((place.get(str(field.name), -1), read))
        for family, at in schema.groups:
            groups.append((family is schema.gaps, family.block == "codes", at))

        def make(cells: list) -> Block:
            blocks: list[Reals | Codes] = []
            for gaps, codes, at in groups:
                own = [cells[j] for j in at]
                if gaps:
                    own = [_is_gap(cell, schema.fields[j].levels is None) for cell, j in zip(own, at, strict=True)]
                if gaps or codes:
                    blocks.append(Codes(np.array([own], dtype=np.int32)))
                else:
                    blocks.append(Reals(np.array([own])))
            return Mixed(tuple(blocks), 1)

        return cls(tuple(columns), plan, make)


def _is_gap(cell: Any, number: bool) -> int:
    return int(cell != cell if number else cell == -1)


def _complete(floor: float, cell: Any) -> float:
    if type(cell) not in NUMBERS:
        raise Unknown
    value = float(cell)
    if not floor <= value < np.inf or isinf(value):
        raise Unknown
    return value


def _number(unit: str, cell: Any) -> float:
    """A number, NaN where it is missing."""
    if type(cell) in OF_UNIT[unit]:
        value = float(cell) if not unit else number_of_unit(cell, unit)
    elif is_missing(cell):
        return np.nan
    else:
        value = _number_of_library(unit, cell)
    if isinf(value):
        raise Unknown
    return value


def _number_of_library(unit: str, cell: Any) -> float:
    """A number, date or duration of NumPy or pandas."""
    if not unit and isinstance(cell, (np.floating, np.integer)):
        return float(cell)
    plain = cell
    if unit == "date" and isinstance(cell, dt.datetime):
        plain = getattr(cell, "to_datetime64", lambda: cell)()
    elif unit == "duration" and isinstance(cell, dt.timedelta):
        plain = getattr(cell, "to_timedelta64", lambda: cell)()
    if not isinstance(plain, {"date": np.datetime64, "duration": np.timedelta64}.get(unit, ())):
        raise Unknown
    return number_of_unit(plain, unit)


def _number_in(support: str, unit: str, cell: Any) -> float:
    value = _number(unit, cell)
    if outside(np.array([value]), support)[0]:
        raise Unknown
    return value


def _levels_reader(levels: Sequence, values: list, unseen: Any, missing: Any) -> ReadCell:
    """A level → its value."""
    kinds = frozenset(map(type, levels))
    types = NUMBERS if kinds and kinds <= NUMBERS else kinds
    known = dict(zip(levels, values, strict=True))
    if not (types <= NUMBERS or types in ({str}, {bool})):
        types = frozenset()

    def read(cell: Any) -> Any:
        if cell is None:
            return missing
        if type(cell) not in types or cell != cell:
            raise Unknown
        value = known.get(cell, unseen)
        if value is None:
            raise Unknown
        return value

    return read


def _reader_of(code: ColumnCode) -> ReadCell:
    """How the cells of a coded column are read, each as the cells of its coded columns."""
    if code.levels is not None:
        if code.coded:
            return _levels_reader(code.levels, [(j,) for j in range(len(code.levels))], (-1,), (-1,))
        table = [tuple(row) for row in code.indicators(bool(code.scales)).tolist()]
        return _levels_reader(code.levels, table[:-2], table[UNSEEN], table[-1])
    missing = tuple(code.cells(None, 1)[0, : code.width - sum(part.width for part in code.parts)].tolist())
    parts = [(name, _reader_of(part)) for name, part in zip(code.part_names, code.parts, strict=True)]

    def read(cell: Any) -> tuple:
        value = _number(code.unit, cell)
        if value != value:
            own = missing
        elif code.coded:
            own = (bisect_left(code.cuts, value),)
        elif code.cuts:
            own = (float(value > code.cuts[0]),)
        else:
            own = (value, 0.0) if code.gap else (value,)
        if parts:
            date = Column("", np.array([value]))
            for name, part in parts:
                own += part(date_part(date, name).named()[0])
        return own

    return read
