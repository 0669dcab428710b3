"""Levels of nominal columns when rows are added, removed and merged: a level exists while some row has it.

A model from which the only row with a level was removed equals a model never trained on it, and a fold has only the
levels of its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deciban.composites.discretised import used_levels
from deciban.data.blocks import Codes, Counts, Mixed, Reals
from deciban.rows.schema import UNSEEN, Field, Schema
from deciban.tallies import Bundle, Crosstab, GridCounts, reordered
from deciban.tallies.exact_tables import columns_of


def without_unused(schema: Schema, tally: Bundle) -> tuple[Schema, Bundle]:
    """(schema, tally) without the levels that no row has."""
    counts = tally.parts[1]
    if not isinstance(counts, Bundle):  # one tally of all columns
        places = used_levels(counts.crosstab(), [field.levels is not None for field in schema.fields])
        if places is None:
            return schema, tally
        fields = tuple(_with(field, at) for field, at in zip(schema.fields, places, strict=True))
        left = counts.relevel(np.array([(at >= 0).sum() for at in places]), places)
        return replace(schema, fields=fields), Bundle((tally.parts[0], left))
    fields, parts = list(schema.fields), list(counts.parts)  # type: ignore[assignment]
    changed = False
    for b, at in nominal(schema):
        some = [(table != 0).any(axis=0) for table in parts[b].columns()]
        if all(used[: len(fields[j].levels or ())].all() for used, j in zip(some, at, strict=True)):
            continue
        changed, kept = True, []
        for used, j in zip(some, at, strict=True):
            levels = fields[j].levels or ()
            keep = np.append(np.flatnonzero(used[: len(levels)]), np.arange(len(levels), len(used)))
            fields[j] = replace(fields[j], levels=tuple(levels[i] for i in keep if i < len(levels)))  # type: ignore[index]
            kept.append(keep)
        offset = parts[b].offset
        cut = np.concatenate([offset[c] + keep for c, keep in enumerate(kept)]).astype(np.int64)
        parts[b] = Crosstab(parts[b].weight, columns_of(parts[b].counts, cut), np.array([len(keep) for keep in kept]))
    if not changed:
        return schema, tally
    return replace(schema, fields=tuple(fields)), Bundle((tally.parts[0], Bundle(tuple(parts)), *tally.parts[2:]))


def _with(field: Field, places: np.ndarray) -> Field:
    """A field with only the levels that have a new code."""
    if field.levels is None:
        return field
    return replace(field, levels=tuple(level for level, at in zip(field.levels, places, strict=False) if at >= 0))


def recoded(x: Any, old: Any, new: Any) -> Mixed:
    """Rows in the codes of another schema of the same columns, which may have fewer levels."""
    blocks = list(x.blocks)
    for b, at in nominal(old):
        codes = np.array(blocks[b].values)
        for c, j in enumerate(at):
            place = {level: code for code, level in enumerate(new.fields[j].levels or ())}
            unknown = len(place) if new.reserve else UNSEEN
            table = [place.get(level, unknown) for level in old.fields[j].levels or ()]
            codes[:, c] = np.array([*table, unknown, -1])[codes[:, c]]
        blocks[b] = Codes(codes)
    return Mixed(tuple(blocks), x.n)


def rows_with_unseen(x: Any, old: Any, new: Any) -> np.ndarray:
    """Which rows (n,) in the codes of a schema have a level that another one does not have."""
    out = np.zeros(x.n, dtype=bool)
    for b, at in nominal(old):
        for c, j in enumerate(at):
            known = set(new.fields[j].levels or ())
            unseen = [code for code, level in enumerate(old.fields[j].levels or ()) if level not in known]
            out |= np.isin(np.asarray(x.blocks[b].values)[:, c], unseen)
    return out


def in_column_order(schema: Schema, tally: Bundle, order: Sequence[int]) -> tuple[Schema, Bundle]:
    """(schema, tally) with column order[j] at position j."""
    new = schema.reordered(order)
    if not isinstance(tally.parts[1], Bundle):
        return new, reordered(tally, order)
    plain = {family: b for b, (family, _) in enumerate(schema.groups) if family is not schema.gaps}
    blocks = []
    for family, at in new.groups:
        b = -1 if family is schema.gaps else plain[family]
        place = {j: c for c, j in enumerate(schema.groups[b][1])}
        blocks.append(reordered(tally.parts[1].parts[b], [place[order[j]] for j in at]))
    return new, Bundle((tally.parts[0], Bundle(tuple(blocks)), *tally.parts[2:]))


def reordered_columns(x: Any, old: Any, new: Any, order: Sequence[int]) -> Any:
    """Rows with column order[j] at position j; `old`, `new`: the schemas before and after, of mixed columns."""
    if old is None:
        if isinstance(x, Counts):
            place = np.argsort(order)[x.column_of()]
            by_row = np.lexsort((place, x.row_of()))
            return Counts(x.indptr - x.indptr[0], place[by_row], x.stored[by_row], x.d)
        cells = np.ascontiguousarray(np.asarray(x.values)[:, list(order)])
        return Codes(cells, x.floor) if isinstance(x, Codes) else Reals(cells)
    at = {(family is old.gaps, j): (b, c) for b, (family, own) in enumerate(old.groups) for c, j in enumerate(own)}
    blocks: list[Any] = []
    for family, own in new.groups:
        places = [at[family is new.gaps, order[j]] for j in own]
        cells = np.stack([np.asarray(x.blocks[b].values)[:, c] for b, c in places], axis=1)
        blocks.append(Codes(cells) if family.block == "codes" else Reals(cells))
    return Mixed(tuple(blocks), x.n)


def nominal(schema: Schema) -> list[tuple[int, tuple[int, ...]]]:
    """(block, columns) of each block of levels."""
    groups = enumerate(schema.groups)
    return [(b, at) for b, (family, at) in groups if family.block == "codes" and family is not schema.gaps]


def spaces(schema: Schema) -> dict[int, np.ndarray]:
    """Number of levels of the columns of each block of codes."""
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
    return Bundle((tally.parts[0], Bundle(tuple(parts)), *tally.parts[2:]))


def moved(schema: Schema, tally: Bundle, places: list[np.ndarray]) -> Bundle:
    """A tally of another schema in the levels of this one; `places` are the new codes of each column's levels."""
    counts = tally.parts[1]
    if isinstance(counts, GridCounts):  # only of columns of numbers
        return tally
    if not isinstance(counts, Bundle):  # one tally of all columns; numbers have levels of their own
        sizes = zip(schema.fields, counts.levels.tolist(), places, strict=True)
        named = [(n, np.arange(n)) if f.levels is None else (len(f.levels), at) for f, n, at in sizes]
        return Bundle((tally.parts[0], counts.relevel(np.array([n for n, _ in named]), [at for _, at in named])))
    index: dict[int, list] = {}
    for b, at in nominal(schema):
        spare = [[len(schema.fields[j].levels or ())] if schema.reserve else [] for j in at]
        index[b] = [np.r_[places[j], s].astype(np.int64) for j, s in zip(at, spare, strict=True)]
    return with_blocks(tally, spaces(schema), index)
