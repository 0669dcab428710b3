"""The levels of nominal columns as rows come, go and merge: a level is there while some row has it.

So a model that forgot the only row with a level is the model that never saw it, and folds know their own levels alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.composites.subsets import SubsetAverage
from deciban.data.blocks import Codes, Mixed, Table
from deciban.rows.schema import Field, Schema
from deciban.tallies import Bundle, Crosstab, reordered


class KeepingLevels:
    """Mixin of `MixedNB`: needs `_schema`."""

    _schema: Schema
    _fitted: Any
    _plain: Callable[[], Any]
    _tally_chunk: Callable[[Any, Table], Bundle]

    def _nominal(self) -> list[tuple[int, tuple[int, ...]]]:
        return nominal(self._schema)

    def _tally(self, table: Table) -> Bundle:
        return with_blocks(super()._tally(table), spaces(self._schema), None)  # type: ignore[misc]

    def _set(self, tally: Bundle, calibration: Any = None) -> None:
        super()._set(self._without_empty(tally), calibration)  # type: ignore[misc]

    def _without_empty(self, tally: Bundle) -> Bundle:
        """The tally, and the schema, without the levels that no row has."""
        fields, parts = list(self._schema.fields), list(tally.parts[1].parts)
        for b, at in self._nominal():
            some = [(table != 0).any(axis=0) for table in parts[b].columns()]
            if all(used[: len(fields[j].levels or ())].all() for used, j in zip(some, at, strict=True)):
                continue
            kept = []
            for used, j in zip(some, at, strict=True):
                levels = fields[j].levels or ()
                keep = np.append(np.flatnonzero(used[: len(levels)]), np.arange(len(levels), len(used)))
                fields[j] = replace(fields[j], levels=tuple(levels[i] for i in keep if i < len(levels)))
                kept.append(keep)
            offset = parts[b].offset
            cut = np.concatenate([offset[c] + keep for c, keep in enumerate(kept)]).astype(np.int64)
            table = np.ascontiguousarray(parts[b].table[:, cut])
            parts[b] = Crosstab(parts[b].n, table, np.array([len(keep) for keep in kept]))
        self._schema = replace(self._schema, fields=tuple(fields))
        return Bundle((tally.parts[0], Bundle(tuple(parts))))

    def _aligned(self, other: Any, mine: Bundle, theirs: Bundle) -> tuple[Bundle, Bundle]:
        self._schema, here, there = self._schema.merged(other._schema)
        return moved(self._schema, mine, here), moved(self._schema, theirs, there)

    def _in_column_order(self, tally: Bundle, order: list[int]) -> Bundle:
        old, self._schema = self._schema, self._schema.reordered(order)
        plain = {family: b for b, (family, _) in enumerate(old.groups) if family is not old.gaps}
        blocks = []
        for family, at in self._schema.groups:
            b = -1 if family is old.gaps else plain[family]
            place = {j: c for c, j in enumerate(old.groups[b][1])}
            blocks.append(reordered(tally.parts[1].parts[b], [place[order[j]] for j in at]))
        return Bundle((tally.parts[0], Bundle(tuple(blocks))))

    def _leave_one_out(self, family: Any, tally: Bundle, chunk: Table) -> np.ndarray:
        x, lone = self._without_lone(tally, chunk)
        out = family.leave_one_out(tally.parts[1], x, chunk.y, chunk.w, self._fitted.params)
        if self._schema.reserve or isinstance(
            family, SubsetAverage
        ):  # the level goes, and its place with it: the long way
            out[lone] = np.nan
        return out

    def _without(self, family: Any, tally: Bundle, row: Table) -> np.ndarray:
        left = self._plain()
        left._set(tally - self._tally_chunk(family, row))
        assert isinstance(row.x, Mixed)
        return left._fitted.family.loglik(left._fitted.params, self._recoded(row.x, left._schema))

    def _recoded(self, x: Mixed, schema: Schema) -> Mixed:
        """Rows in the codes of another schema, which may lack some levels."""
        blocks = list(x.blocks)
        for b, at in self._nominal():
            codes = np.array(blocks[b].values)
            for c, j in enumerate(at):
                place = {level: code for code, level in enumerate(schema.fields[j].levels or ())}
                unknown = len(place) if schema.reserve else -1
                table = [place.get(level, unknown) for level in self._schema.fields[j].levels or ()]
                codes[:, c] = np.array([*table, unknown, -1])[codes[:, c]]
            blocks[b] = Codes(codes)
        return Mixed(tuple(blocks), x.n)

    def _without_lone(self, tally: Bundle, chunk: Table) -> tuple[Mixed, np.ndarray]:
        """The rows without cells whose level no other row has, as it leaves with the row; and which rows have such."""
        assert isinstance(chunk.x, Mixed)
        blocks, lone = list(chunk.x.blocks), np.zeros(chunk.n, dtype=bool)
        weight = 1.0 if chunk.w is None else chunk.w[:, None]
        for b, _ in self._nominal():
            codes, part = np.asarray(blocks[b].values), tally.parts[1].parts[b]
            pooled = np.append(part.table.sum(axis=0), np.inf)
            here = np.where((codes >= 0) & (codes < part.levels), part.offset[:-1] + codes, -1)
            alone = pooled[here] <= weight * (1 + 1e-9)
            if alone.any():
                blocks[b] = Codes(np.where(alone, -1, codes).astype(np.int32))
                lone |= alone.any(axis=1)
        return Mixed(tuple(blocks), chunk.n), lone


def nominal(schema: Schema) -> list[tuple[int, tuple[int, ...]]]:
    """(block, columns) of each block of levels."""
    groups = enumerate(schema.groups)
    return [(b, at) for b, (family, at) in groups if family.block == "codes" and family is not schema.gaps]


def spaces(schema: Schema) -> dict[int, np.ndarray]:
    """How many levels the columns of each block of codes have places for."""
    out = {b: np.array([_places(schema, schema.fields[j]) for j in at]) for b, at in nominal(schema)}
    if schema.gaps is not None:
        out[len(schema.groups) - 1] = np.full(len(schema.fields), 2)
    return out


def _places(schema: Schema, field: Field) -> int:
    return len(field.levels or ()) + schema.reserve


def with_blocks(tally: Bundle, levels: dict[int, np.ndarray], index: dict[int, list] | None) -> Bundle:
    """Every crosstab with these numbers of levels, level l of a column moved to index[block][column][l]."""
    parts = list(tally.parts[1].parts)
    for b, count in levels.items():
        grown = count if index is not None and b in index else np.maximum(count, parts[b].levels)
        parts[b] = parts[b].relevel(grown, None if index is None else index.get(b))
    return Bundle((tally.parts[0], Bundle(tuple(parts))))


def moved(schema: Schema, tally: Bundle, places: list[np.ndarray]) -> Bundle:
    """A tally of another schema in the levels of this one, where each column's stand at its places."""
    counts = tally.parts[1]
    if not isinstance(counts, Bundle):  # of all columns together, those of numbers in levels of their own
        sizes = zip(schema.fields, counts.levels.tolist(), places, strict=True)
        named = [(n, np.arange(n)) if f.levels is None else (len(f.levels), at) for f, n, at in sizes]
        return Bundle((tally.parts[0], counts.relevel(np.array([n for n, _ in named]), [at for _, at in named])))
    index: dict[int, list] = {}
    for b, at in nominal(schema):
        spare = [[len(schema.fields[j].levels or ())] if schema.reserve else [] for j in at]
        index[b] = [np.r_[places[j], s].astype(np.int64) for j, s in zip(at, spare, strict=True)]
    return with_blocks(tally, spaces(schema), index)
