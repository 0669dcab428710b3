"""The coding of columns of rows elsewhere: a first pass that collects the columns, so that it is that of `fit`.

The columns are held once, as numbers and as codes of levels, with the labels; what is learned from them is then read
batch by batch, in that coding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from deciban.data.frames import Column, sort_levels
from deciban.errors import DataError, DecibanError, NotAdditiveError, relocate
from deciban.rows.coding import Coding, CodingRule
from deciban.rows.labels import united
from deciban.rows.rows import LARGEST, WORDS, BatchJob, ColumnRoles, no_rows


@dataclass(frozen=True, eq=False)
class ColumnsOfRows:
    """The columns of rows of a batch, their labels and weights."""

    columns: list[Column]
    classes: np.ndarray
    y: np.ndarray
    w: np.ndarray | None


@dataclass(frozen=True, eq=False)
class CollectedColumns:
    """Columns of batches, in their order; they add up."""

    parts: tuple[ColumnsOfRows, ...] = ()

    def __add__(self, other: CollectedColumns) -> CollectedColumns:
        parts = (*self.parts, *other.parts)
        if sum(len(part.y) * len(part.columns) for part in parts) > LARGEST:
            raise NotAdditiveError(
                f"columns of categories and dates are coded from all rows at once, and these have more than "
                f"{LARGEST:.1g} cells\n\nhint: MixedNB learns from data of any size; or `fit` on a part of the rows"
            )
        return CollectedColumns(parts)

    def coding(self, rule: CodingRule) -> tuple[Coding, list[str]]:
        """(the coding of these columns, notes on those that are not used)"""
        if not self.parts:
            raise no_rows()
        classes = reduce(united, (part.classes for part in self.parts))
        y = np.concatenate([np.searchsorted(classes, part.classes)[part.y] for part in self.parts])
        weighted = self.parts[0].w is not None
        w = np.concatenate([part.w for part in self.parts if part.w is not None]) if weighted else None
        columns = [joined(each) for each in zip(*(part.columns for part in self.parts), strict=True)]
        return Coding.of(columns, rule, w, lambda: y)


def joined(parts: Sequence[Column]) -> Column:
    """Parts of a column, one below the other; levels in their own order."""
    given = [part for part in parts if not part.missing.all()] or list(parts[:1])
    first = given[0]
    for part in given:
        if (part.levels is None) != (first.levels is None) or part.unit != first.unit:
            kinds = [WORDS["number" if one.levels is None else "level"] for one in (first, part)]
            raise DataError(
                f"column `{first.name}` holds {kinds[0]} in some parts of the data and {kinds[1]} in others\n\n"
                "hint: write it as the same type in all of them"
            )
    if first.levels is None:
        cells = [part.values if part.levels is None else np.full(len(part.values), np.nan) for part in parts]
        return Column(first.name, np.concatenate(cells), unit=first.unit)
    every = list(dict.fromkeys(level for part in given for level in part.levels or ()))
    levels = [every[at] for at in sort_levels(every)]
    place = {level: code for code, level in enumerate(levels)}
    codes = []
    for part in parts:
        if part.levels is None or not part.levels:
            codes.append(np.full(len(part.values), -1, dtype=np.int32))
        else:
            codes.append(np.array([*(place[level] for level in part.levels), -1], dtype=np.int32)[part.values])
    return Column(first.name, np.concatenate(codes), levels)


@dataclass(frozen=True, eq=False)
class CollectColumns:
    """batch → its columns"""

    roles: ColumnRoles

    def __call__(self, batch: Any) -> CollectedColumns:
        from deciban.io import batches

        if batch.num_rows == 0:
            return CollectedColumns()
        try:
            classes, y = self.roles.labels(batch)
            columns = batches.columns(batch, self.roles.features)
        except DecibanError as wrong:
            raise relocate(wrong, names=self.roles.features) from None
        return CollectedColumns((ColumnsOfRows(columns, classes, y, self.roles.weights(batch)),))


@contextmanager
def read_job(reader: Any, job: BatchJob) -> Iterator[tuple[BatchJob, Any, list[str]]]:
    """Context manager: (the job, the reader that knows its columns, notes on those that it does not read)."""
    rule, known = reader.coding_rule(job.roles), reader.of_columns(job.roles)
    if rule is None:
        yield job, known, []
        return
    with job.several() as again:
        found = again.total(CollectColumns(job.roles), coded=True)
        coding, notes = (CollectedColumns() if found is None else found).coding(rule)
        yield again, replace(known, library="pyarrow").of_coding(coding), notes
