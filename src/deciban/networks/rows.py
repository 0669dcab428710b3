"""Rows of named levels as the codes of a network, and codes as rows.

>>> import numpy as np
>>> from deciban.networks.network import Network
>>> one = Network.of({"rain": ["no", "yes"]}, [], {"rain": [0.8, 0.2]})
>>> coded(one, np.array([["yes"], [None]], dtype=object)).tolist()
[[1], [-1]]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from deciban import frames
from deciban.errors import DataError
from deciban.networks.graph import parents_of
from deciban.networks.network import Network
from deciban.tallies import Patterns


def coded(network: Network, rows: Any, read: Mapping[Any, Any] | None = None) -> np.ndarray:
    """Codes (n, nodes) of a frame's cells, by name, or of an array's, by position; −1 where a cell or a column is
    missing. `read` has for some nodes what makes codes of their column."""
    columns = _columns(rows)
    if isinstance(columns[0].name, int) and isinstance(network.names[0], str):
        if len(columns) != len(network.names):
            raise DataError(
                f"rows of {len(columns)} columns for a network of {len(network.names)} nodes\n\n"
                "hint: give a column for each node in their order, or a frame with names"
            )
        columns = [frames.Column(name, c.values, c.levels) for name, c in zip(network.names, columns, strict=True)]
    strange = [column.name for column in columns if column.name not in network.place]
    if strange:
        raise DataError(f"column `{strange[0]}` is no node of the network\n\nhint: the nodes are {list(network.names)}")
    out = np.full((len(columns[0].values), len(network.names)), -1, dtype=np.int64)
    for column in columns:
        at = network.place[column.name]
        own = (read or {}).get(column.name)
        out[:, at] = codes_of(column, network.levels[at]) if own is None else own(column)
    return out


def _columns(rows: Any) -> list[frames.Column]:
    if isinstance(rows, Mapping):
        columns = [
            frames.from_objects(name, np.array([*cells, None], dtype=object)[:-1]) for name, cells in rows.items()
        ]
    else:
        columns = frames.columns(rows if frames.is_frame(rows) else _array(rows))
    if not columns:
        raise DataError("the rows have no columns\n\nhint: give a column for each node that is known")
    return columns


def _array(rows: Any) -> np.ndarray:
    out = np.asarray(rows, dtype=None if isinstance(rows, np.ndarray) else object)
    if out.ndim != 2:
        raise DataError(f"rows of shape {out.shape}\n\nhint: give a table, (rows, nodes)")
    return out


def codes_of(column: frames.Column, levels: tuple) -> np.ndarray:
    column = column.as_levels()
    place = {level: code for code, level in enumerate(levels)}
    unknown = [level for level in column.levels or () if level not in place]
    if unknown:
        row = int(np.flatnonzero(column.values == (column.levels or []).index(unknown[0]))[0])
        known = ", ".join(map(repr, levels[:12])) + ", …" * (len(levels) > 12)
        raise DataError(f"`{column.name}` is {unknown[0]!r} in row {row}\n\nhint: its levels are {known}")
    return np.array([*(place[level] for level in column.levels or ()), -1])[column.values]


def named(network: Network, codes: np.ndarray, library: str | None, without: int = -1) -> Any:
    """Codes as a frame of the library of that name, or as an array of levels; one node may be left out."""
    columns = [
        frames.Column(name, np.array([*levels, None], dtype=object)[own])
        for i, (name, levels, own) in enumerate(zip(network.names, network.levels, codes.T, strict=True))
        if i != without
    ]
    return frames.assembled(columns, library)


def learned(rows: Any, edges: Any, prior: float) -> Network:
    """The network of these edges with tables from rows: (count + a) / (sum + a · levels), a = prior over the cells;
    even shares where there is neither count nor prior."""
    columns = [column.as_levels() for column in _columns(rows)]
    if len(columns[0].values) == 0:
        raise DataError("there are no rows to learn tables from\n\nhint: give rows, or `tables`")
    empty = [column.name for column in columns if not column.levels]
    if empty:
        raise DataError(f"column `{empty[0]}` has no level: every cell is missing\n\nhint: leave it out")
    names = tuple(column.name for column in columns)
    parents = parents_of(names, edges)
    codes = np.stack([column.values for column in columns], axis=1)
    t = Patterns.of(
        codes, np.zeros(len(codes), dtype=np.int32), None, 1, np.array([len(c.levels or ()) for c in columns])
    )
    tables = []
    for i, own in enumerate(parents):
        count = t.counts([*own, i])[0]
        cell = prior / count.size
        whole = np.broadcast_to(count.sum(axis=-1, keepdims=True) + cell * count.shape[-1], count.shape)
        even = np.full(count.shape, 1.0 / count.shape[-1])
        tables.append(np.divide(count + cell, whole, out=even, where=whole > 0))
    return Network(names, tuple(tuple(column.levels or ()) for column in columns), parents, tuple(tables))
