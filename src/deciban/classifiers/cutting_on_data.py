"""Columns cut into intervals, on data of any size: one pass finds the cuts, the next counts.

The cuts of a column are chosen by the grid of its cells (`Cells`), which adds up over batches like any tally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deciban import ops
from deciban.classifiers.parts import Part
from deciban.schema import Schema
from deciban.table import Mixed, Table
from deciban.tallies import Bundle, Labels


class CuttingOnData:
    """Mixin of `Structured`, before it: needs `_cuts_of(cells)`, `_numbers_at(schema)` and `_check_memory`."""

    cuts: Any
    _cuts: Any
    _schema: Schema
    _bare: Callable[..., Any]
    _tally: Callable[[Table], Bundle]
    _name_columns: Callable[..., None]
    _take_part: Callable[[Part], None]
    _check_memory: Callable[[int], None]
    _grid: Callable[[Table], Any]

    def _learn_on(self, job: Any) -> None:
        bare = self._bare(job.reading)
        bare._cuts = None
        if self.cuts is not None:
            with job.engine.kept(job.data, job.reading.columns) as data:
                return self._learn_cut(replace(job, data=data), bare)
        bare._cuts = (None,) * len(job.reading.features)
        return self._take_counts(job, bare)

    def _learn_cut(self, job: Any, bare: Any) -> None:
        found = replace(job, checkpoint=None).sum_of_parts(bare)
        if found.schema is not None:
            job = replace(job, reading=replace(job.reading, kinds=found.kinds))
            bare._schema = found.schema
            bare._cuts = bare._cuts_of(found.tally.parts[1])
        self._take_counts(job, bare)

    def _take_counts(self, job: Any, bare: Any) -> None:
        part = job.sum_of_parts(bare)
        self._cuts = bare._cuts
        self._name_columns(job.reading)
        self._take_part(part.ordered())

    def _part_of(self, table: Table, bare: Any) -> tuple[Bundle, Schema]:
        """The tally of a batch, and its schema: counts where the cuts are known, else what they are found by."""
        if bare._cuts is None:
            labels = Labels(ops.class_weights(table.y, table.w, table.k))
            fields = [replace(f, levels=None if f.levels is None else ()) for f in self._schema.fields]
            assert isinstance(table.x, Mixed)
            return Bundle((labels, self._grid(table))), replace(self._schema, fields=tuple(fields))
        self._cuts = bare._cuts
        self._check_memory(table.k)
        return self._tally(table), self._schema
