"""Numbers as people write them: `1,234.5`, `1.234,5`, `$12.00`, `12%`, and `-`, `.`, `missing` or `none` where there is
none.

>>> Amount(".", "$").numbers(pa.array(["$1,234.50", "-", " 7 "])).to_pylist()
[1234.5, None, 7.0]
>>> find(pa.array(["1.234,5", "2"]), ",."), find(pa.array(["low", "7"]), ".")
(Amount(decimal=',', unit=''), None)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from deciban.files.arrow import compute, pa

UNITS = "$€£¥₹%"
NO_NUMBER = ("", "-", "--", "–", "—", ".", "..", "missing", "none", "unknown", "na", "n/a", "n.a.", "nan", "null", "?")
TRIED = 100  # cells that are looked at before a column is gone through
APART = {".": ",'\u00a0\u202f", ",": ".'\u00a0\u202f"}  # what stands between thousands, by the decimal mark


class Unread(Exception):
    """A cell that is no number."""

    def __init__(self, cell: str, row: int, column: str = ""):
        super().__init__(cell)
        self.cell, self.row, self.column = cell, row, column


@dataclass(frozen=True)
class Amount:
    """How the numbers of a column are written: the decimal mark, and a unit. A currency may be left out, % may not."""

    decimal: str = "."
    unit: str = ""
    example: str = field(default="", compare=False, repr=False)  # a cell that shows how they are written

    def __str__(self) -> str:
        return f"amount {self.decimal}{self.unit} {self.example}"

    @classmethod
    def named(cls, text: str) -> Amount:
        """
        >>> Amount.named(str(Amount(",", "€", "5 €"))).in_words("price")
        "`price` holds numbers; '5 €' is read as 5, '-' or 'none' as missing"
        """
        written, _, example = text[7:].partition(" ")
        return cls(written[0], written[1:], example)

    def in_words(self, column: str) -> str:
        """A note that says how the example is read."""
        value = self.numbers(pa.array([self.example]))[0].as_py()
        if value is None:
            return f"`{column}` holds numbers; cells such as {self.example!r} are read as missing"
        return f"`{column}` holds numbers; {self.example!r} is read as {value:.12g}, '-' or 'none' as missing"

    @cached_property
    def pattern(self) -> str:
        point = re.escape(self.decimal)
        whole = rf"(?:[1-9]\d{{0,2}}(?:[{APART[self.decimal]}]\d{{3}})+|\d+)"
        digits = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?"
        unit = re.escape(self.unit)
        if self.unit == "%":
            return rf"^[-+−]?{digits}\s*%$"
        return rf"^[-+−]?(?:{unit})?\s*[-+−]?{digits}\s*(?:{unit})?$"

    def reads(self, cell: str) -> bool:
        """Whether that is a number, or the mark of a missing one."""
        return is_none(cell) or re.match(self.pattern, cell.strip()) is not None

    def numbers(self, cells: pa.Array) -> pa.Array:
        """Texts as doubles; raises `Unread`."""
        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        text = compute.utf8_trim_whitespace(cells.cast(pa.string()))
        none = compute.is_in(compute.utf8_lower(text), pa.array(NO_NUMBER))
        fits = compute.or_(compute.match_substring_regex(text, self.pattern), none)
        if not compute.all(fits, skip_nulls=True, min_count=0).as_py():
            row = compute.index(fits, False).as_py()
            raise Unread(cells[row].as_py(), row)
        text = compute.if_else(none, None, text)
        text = compute.replace_substring_regex(text, f"[{re.escape(UNITS)}{APART[self.decimal]}\\s]", "")
        text = compute.replace_substring(text, "−", "-")
        if self.decimal != ".":
            text = compute.replace_substring(text, self.decimal, ".")
        return text.cast(pa.float64())


def is_none(cell: str) -> bool:
    """Whether a cell says that there is no number."""
    return cell.strip().lower() in NO_NUMBER


def unit_of(cell: str) -> str:
    """
    >>> unit_of("12 €"), unit_of("twelve")
    ('€', '')
    """
    return next((mark for mark in cell if mark in UNITS), "")


def find(cells: pa.Array, decimals: str) -> Amount | None:
    """How all cells are written, by the first of these decimal marks that fits; None: they are not all numbers."""
    first = [cell for cell in cells.drop_null()[:TRIED].to_pylist() if not is_none(cell)]
    units = {unit_of(cell) for cell in first} - {""}
    if not first or len(units) > 1:
        return None
    for decimal in decimals:
        start = Amount(decimal, "".join(units))
        if not all(start.reads(cell) for cell in first):
            continue
        tried: Amount | None = start
        while tried is not None:
            try:
                tried.numbers(cells)
                return tried
            except Unread as wrong:
                tried = with_unit(tried, wrong.cell)
    return None


def with_unit(given: Amount, cell: str) -> Amount | None:
    """The same with the unit of a cell, if it reads that cell then."""
    unit = unit_of(cell)
    if given.unit or not unit or unit == "%":
        return None
    more = Amount(given.decimal, unit)
    return more if more.reads(cell) else None


def following(given: Amount | None, cell: str, decimals: str) -> Amount | None:
    """The next way to read a column after one that does not read this cell; None: it is text.

    >>> following(None, "1,5", ".,"), following(Amount("."), "$2", ".,"), following(None, "low", ".,")
    (Amount(decimal=',', unit=''), Amount(decimal='.', unit='$'), None)
    """
    if given is None:
        ahead, unit = decimals, ""
    else:
        more = with_unit(given, cell)
        if more is not None:
            return more
        ahead, unit = decimals[decimals.find(given.decimal) + 1 :], given.unit
    for decimal in ahead:
        plain = Amount(decimal, unit)
        found = plain if plain.reads(cell) else with_unit(plain, cell)
        if found is not None:
            return found
    return None


def numeric(batch: pa.RecordBatch | pa.Table, types: Mapping[str, Any]) -> pa.RecordBatch | pa.Table:
    """The batch with those of its text columns as numbers whose type is an `Amount`; raises `Unread`."""
    for at, name in enumerate(batch.schema.names):
        given = types.get(name)
        if isinstance(given, Amount):
            column = batch.column(at)
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
                column = column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)
            try:
                batch = batch.set_column(at, pa.field(name, pa.float64()), given.numbers(column))
            except Unread as wrong:
                raise Unread(wrong.cell, wrong.row, name) from None
    return batch


def parsed_as(given: object) -> object:
    """The Arrow type that a column has while it is parsed."""
    return pa.string() if isinstance(given, Amount) else given


def held_as(given: object) -> object:
    """The Arrow type that it has afterwards."""
    return pa.float64() if isinstance(given, Amount) else given
