"""Exact queries of a network, rows of named levels as codes, and leave-one-out of its tables.

`query` returns P(targets | evidence) as a table with names, a `QueryResult`; a `ConditionalTable` is that of a node.

>>> import numpy as np
>>> answer = QueryResult(("rain",), (("no", "yes"),), np.array([0.25, 0.75]), {"wet": "yes"}, np.log(0.4))
>>> print(answer)
P(rain | wet = yes)
  rain       P
  no    0.2500
  yes   0.7500
>>> float(answer["yes"]), answer.most_probable, answer.to_dict()
(0.75, {'rain': 'yes'}, {'rain': ['no', 'yes'], 'P': [0.25, 0.75]})

`coded` converts rows of named levels to the codes of a network, `named` converts codes to rows.

>>> import numpy as np
>>> from deciban.networks.network import Network
>>> one = Network.of({"rain": ["no", "yes"]}, [], {"rain": [0.8, 0.2]})
>>> coded(one, np.array([["yes"], [None]], dtype=object)).tolist()
[[1], [-1]]

`Left` has leave-one-out scores of rows with missing cells, and of rows that are the only ones with a level. Such a
level is removed with its row: the column has one level less, the cell counts as missing, and its descendants are summed
over the remaining levels. Missing cells that no table has in common are summed over apart. Only the parts of tables
that a sum needs are computed, for all rows where it is about the same cells at once.

>>> import numpy as np
>>> chain = [np.array([2.0, 1.0]), np.array([[2.0, 1.0]])]  # two rows with the first level, one with the second
>>> column = Column((), chain, (0.0,))
>>> left = Left([column], lambda sizes: 1.0)
>>> rows, y = np.array([[0], [1]]), np.zeros(2, dtype=np.int32)
>>> np.exp(left.scores(rows, y, None, np.array([[False], [True]]))).round(3).tolist()  # (2 − 1 + 1) / (2 + 2); nothing
[[0.5], [1.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from deciban.data import frames
from deciban.display import Table, format_choices, format_number
from deciban.errors import DataError
from deciban.networks.graph import above, parents_of
from deciban.networks.network import Factor, Network, eliminate, plan
from deciban.tallies import DistinctRows
from deciban.tallies.basic import subtract
from deciban.tallies.distinct_rows import distinct_rows

SHOWN = 40  # lines of a table that is printed


@dataclass(frozen=True, eq=False)
class QueryResult:
    """P(targets | evidence): `values` has an axis for each target."""

    names: tuple
    levels: tuple[tuple, ...]
    values: np.ndarray
    evidence: dict
    log_evidence: float  # log P(evidence)

    def __getitem__(self, levels: Any) -> Any:
        """The probability of a level, or of a tuple of levels, one for each target."""
        given = levels if isinstance(levels, tuple) and len(self.names) > 1 else (levels,)
        if len(given) != len(self.names):
            raise DataError(f"{len(given)} levels for the targets {list(self.names)}\n\nhint: give one for each")
        return self.values[tuple(_code(n, own, v) for n, own, v in zip(self.names, self.levels, given, strict=True))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    @property
    def most_probable(self) -> dict:
        """The level of each target that together have the largest probability; the first of several."""
        at = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return {name: own[i] for name, own, i in zip(self.names, self.levels, at, strict=True)}

    def to_dict(self) -> dict[Any, list]:
        """A column of levels for each target and one, `P`, of probabilities, as plain lists."""
        rows = list(product(*self.levels))
        out = {name: [row[i] for row in rows] for i, name in enumerate(self.names)}
        return {**out, "P": self.values.ravel().tolist()}

    def to_frame(self, library: str = "pandas") -> Any:
        """The same as a frame of pandas, polars or pyarrow."""
        return frame_of(self.to_dict(), library)

    def _table(self) -> Table:
        given = ", ".join(f"{name} = {level}" for name, level in self.evidence.items())
        title = f"P({', '.join(map(str, self.names))}{f' | {given}' if given else ''})"
        rows = [
            (*map(str, row), format_number(p))
            for row, p in zip(product(*self.levels), self.values.ravel(), strict=True)
        ]
        more = f"… and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        return Table(title, (*map(str, self.names), "P"), rows[:SHOWN], notes=[more], left=range(len(self.names)))

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """P(node | its parents): `values` has an axis for each parent, and one for the levels of the node."""

    name: Any
    parents: tuple
    levels: tuple[tuple, ...]  # of the parents, and of the node
    values: np.ndarray

    @classmethod
    def from_network(cls, network: Network, name: Any) -> ConditionalTable:
        """The table of a node.

        >>> tables = {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.25, 0.75]]}
        >>> network = Network.of({"a": [0, 1], "b": ["x", "y"]}, [("a", "b")], tables)
        >>> print(ConditionalTable.from_network(network, "b"))
        P(b | a)
          a       x       y
          0  1.0000  0.0000
          1  0.2500  0.7500
        >>> ConditionalTable.from_network(network, "b").to_dict()
        {'a': [0, 1], 'x': [1.0, 0.25], 'y': [0.0, 0.75]}
        """
        scope = network.scopes[_place(network, name)]
        parents = tuple(network.names[i] for i in scope[:-1])
        return cls(name, parents, tuple(network.levels[i] for i in scope), network.tables[scope[-1]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def _heads(self) -> list[str]:
        """A heading for each level of the node, other than the names of the parents."""
        heads, parents = [str(level) for level in self.levels[-1]], [str(parent) for parent in self.parents]
        unique = len({*heads, *parents}) == len(heads) + len(parents)
        return heads if unique else [f"{self.name} = {level}" for level in self.levels[-1]]

    def to_dict(self) -> dict[str, list]:
        """A column of levels for each parent and one of probabilities for each level of the node, as plain lists."""
        rows = list(product(*self.levels[:-1]))
        given = {str(parent): [row[i] for row in rows] for i, parent in enumerate(self.parents)}
        own = self.values.reshape(len(rows), -1).T.tolist()
        return {**given, **dict(zip(self._heads(), own, strict=True))}

    def to_frame(self, library: str = "pandas") -> Any:
        """The same as a frame of pandas, polars or pyarrow."""
        return frame_of(self.to_dict(), library)

    def _table(self) -> Table:
        title = f"P({self.name}{' | ' if self.parents else ''}{', '.join(map(str, self.parents))})"
        shares = self.values.reshape(-1, self.values.shape[-1])
        rows = [
            (*map(str, given), *map(format_number, row))
            for given, row in zip(product(*self.levels[:-1]), shares, strict=True)
        ]
        more = f"… and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        head, left = (*map(str, self.parents), *self._heads()), range(len(self.parents))
        return Table(title, head, rows[:SHOWN], notes=[more], left=left)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()


def frame_of(cells: Mapping[Any, list], library: str) -> Any:
    """Columns of plain values, by name, as a frame of pandas, polars or pyarrow."""
    columns = [frames.Column(name, np.array([*own, None], dtype=object)[:-1]) for name, own in cells.items()]
    return frames.to_frame(columns, library)


def _code(name: Any, levels: Sequence, level: Any) -> int:
    if level not in levels:
        known = format_choices(levels)
        raise DataError(f"`{name}` has no level {level!r}\n\nhint: it has {known}")
    return levels.index(level)


def _place(network: Network, name: Any) -> int:
    if name not in network.place:
        known = format_choices(network.names)
        raise DataError(f"the network has no `{name}`\n\nhint: it has {known}")
    return network.place[name]


def query(network: Network, targets: Any, evidence: Mapping | None = None) -> QueryResult:
    """P(targets | evidence), exactly."""
    names = [targets] if isinstance(targets, str) or not isinstance(targets, Sequence) else list(targets)
    kept, given = [_place(network, name) for name in names], dict(evidence or {})
    if not kept or len(set(kept)) < len(kept):
        raise DataError(f"the targets are {names}\n\nhint: name one or more, each once")
    row = np.full((1, len(network.names)), -1)
    for name, level in given.items():
        at = _place(network, name)
        if at in kept:
            raise DataError(f"`{name}` is both a target and evidence\n\nhint: remove it from one of the two")
        row[0, at] = _code(name, network.levels[at], level)
    joint = network.log_joint(row, kept)[0]
    top = joint.max()
    if top == -np.inf:
        raise _impossible(network, row)
    values = np.exp(joint - top)
    log_evidence = float(top + np.log(values.sum()))
    return QueryResult(tuple(names), tuple(network.levels[i] for i in kept), values / values.sum(), given, log_evidence)


def _impossible(network: Network, row: np.ndarray) -> DataError:
    """The error about evidence of probability 0; it names a part that is impossible by itself."""
    row = row.copy()
    for at in np.flatnonzero(row[0] >= 0).tolist():
        kept, row[0, at] = row[0, at], -1
        if network.log_joint(row)[0] > -np.inf:
            row[0, at] = kept
    impossible = [f"{network.names[i]} = {network.levels[i][row[0, i]]}" for i in np.flatnonzero(row[0] >= 0)]
    return DataError(
        f"the evidence has probability 0: the network rules out {' with '.join(impossible)}\n\n"
        "hint: leave out one of these, or avoid probabilities of exactly 0 in the tables"
    )


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
        columns = [replace(c, name=name) for name, c in zip(network.names, columns, strict=True)]
    unknown = [column.name for column in columns if column.name not in network.place]
    if unknown:
        raise DataError(
            f"column `{unknown[0]}` is not a node of the network\n\nhint: the nodes are {list(network.names)}"
        )
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
        known = format_choices(map(repr, levels))
        raise DataError(f"`{column.name}` is {unknown[0]!r} in row {row}\n\nhint: its levels are {known}")
    return np.array([*(place[level] for level in column.levels or ()), -1])[column.values]


def named(network: Network, codes: np.ndarray, library: str | None, without: int = -1) -> Any:
    """Codes as a frame of the library of that name, or as an array of levels; one node may be left out."""
    columns = [
        frames.Column(name, np.array([*levels, None], dtype=object)[own])
        for i, (name, levels, own) in enumerate(zip(network.names, network.levels, codes.T, strict=True))
        if i != without
    ]
    return frames.to_frame(columns, library)


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
    t = DistinctRows.of(
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


CELLS = 1 << 22  # numbers in the tables of several rows, about


@dataclass(frozen=True)
class Column:
    """One column: its parents, the counts of its levels (of all rows, by class, by class and the first parent, …), and
    how strongly each table is drawn to the one before."""

    parents: tuple[int, ...]
    chain: Sequence[np.ndarray]
    strengths: Sequence[float]

    @cached_property
    def sums(self) -> list[np.ndarray]:
        return [table.sum(axis=-1) for table in self.chain]

    @property
    def levels(self) -> int:
        return self.chain[0].shape[-1]


@dataclass(frozen=True)
class Left:
    columns: Sequence[Column]
    alpha: Callable[[Sequence[int]], float]  # the pseudo-count of a cell, from the levels of the parents and the column

    @property
    def k(self) -> int:
        return len(self.columns[0].chain[1])

    def scores(self, rows: np.ndarray, y: np.ndarray, w: np.ndarray | None, lone: np.ndarray) -> np.ndarray:
        """log p(x | c), (n, k), of known codes (n, d), −1 = missing, each row taken out of the counts; `lone` (n, d)
        are the cells whose level leaves with the row."""
        weight, out = np.ones(len(rows)) if w is None else w, np.zeros((len(rows), self.k))
        state = np.where(lone, 2, (rows >= 0).astype(np.int8))
        for j, column in enumerate(self.columns):
            own = np.flatnonzero((state[:, [*column.parents, j]] == 1).all(axis=1))
            if len(own):
                with np.errstate(divide="ignore"):
                    out[own] += np.log(self._shares(j, rows[own], y[own], weight[own], state[own[0]]))
        parts: dict[tuple, list[np.ndarray]] = {}  # of sums that have the same cells missing and leaving, the rows
        patterns, which = distinct_rows(state)
        ends = np.cumsum(np.bincount(which))[:-1]
        for pattern, own in zip(patterns, np.split(np.argsort(which, kind="stable"), ends), strict=True):
            for nodes in self._sums(pattern):
                scope = sorted({i for j in nodes for i in (*self.columns[j].parents, j)})
                parts.setdefault((nodes, tuple(pattern[scope].tolist())), []).append(own)
        for part in sorted(parts):  # in an order that does not depend on other rows
            own = np.concatenate(parts[part])
            out[own] += self._summed(part[0], rows[own], y[own], weight[own], state[own[0]])
        return out

    def _sums(self, state: np.ndarray) -> list[tuple[int, ...]]:
        """The columns that lack a cell and matter for one that is there, in groups that have no such cell in common:
        each is summed by itself."""
        seen, parents = set(np.flatnonzero(state == 1).tolist()), tuple(column.parents for column in self.columns)
        groups: list[tuple[set[int], list[int]]] = []
        for j in above(parents, seen):
            hidden, nodes = {j, *parents[j]} - seen, [j]
            if hidden:
                apart = [group for group in groups if group[0].isdisjoint(hidden)]
                for group in groups:
                    if not group[0].isdisjoint(hidden):
                        hidden, nodes = hidden | group[0], nodes + group[1]
                groups = [*apart, (hidden, nodes)]
        return [tuple(sorted(nodes)) for _, nodes in groups]

    def _summed(
        self, nodes: tuple[int, ...], rows: np.ndarray, y: np.ndarray, w: np.ndarray, state: np.ndarray
    ) -> np.ndarray:
        """log Σ over the missing cells of the product of these columns' tables, (n, k), of rows with the same cells
        missing and leaving."""
        d = len(self.columns)
        sizes = [max(column.levels, 1) for column in self.columns] + [self.k]
        scopes = [(d, *(i for i in (*self.columns[j].parents, j) if state[i] != 1)) for j in nodes]
        order = plan(scopes, sizes, [d])
        step = max(1, CELLS // max(order.largest, *(prod(sizes[i] for i in scope) for scope in scopes)))
        out = np.empty((len(rows), self.k))
        for start in range(0, len(rows), step):
            span = slice(start, start + step)
            part = rows[span], y[span], w[span], state
            factors: list[Factor] = [(scope, self._shares(j, *part)) for j, scope in zip(nodes, scopes, strict=True)]
            table, scale = eliminate(factors, [d], order.order)
            with np.errstate(divide="ignore"):
                out[span] = np.log(table) + scale[:, None]
        return out

    def _shares(self, j: int, rows: np.ndarray, y: np.ndarray, w: np.ndarray, state: np.ndarray) -> np.ndarray:
        """θ of column j without the row, (rows, k, levels of parents that are not seen …, own levels if not seen)."""
        column, own_seen = self.columns[j], state[j] == 1
        sizes = [max(self.columns[i].levels - (state[i] == 2), 1) for i in (*column.parents, j)]
        mine = w[:, None] * (y[:, None] == np.arange(self.k))
        out = np.full((1, 1) if own_seen else (1, 1, max(column.levels, 1)), 1.0 / sizes[-1])
        for depth, m in enumerate((0.0, *column.strengths)):
            given = column.parents[: max(depth - 1, 0)]
            count, whole = self._sliced(column, depth, given, j, rows, state)
            if depth > 1 and state[given[-1]] != 1:  # one more condition
                out = out[..., None] if own_seen else out[..., None, :]
            # a row counts where it has all cells; removed categories do not matter
            if state[j] > 0 and all(state[i] == 1 or (state[i] == 2 and self.columns[i].levels == 1) for i in given):
                leaves = (mine if depth else w[:, None]).reshape(len(rows), -1, *(1,) * (whole.ndim - 2))
                whole = np.maximum(subtract(whole, leaves), 0.0)
                if own_seen:
                    count = np.maximum(subtract(count, leaves), 0.0)
            alpha = self.alpha([*sizes[: len(given)], sizes[-1]])
            whole = whole + m + alpha * sizes[-1]
            whole = whole if own_seen else whole[..., None]
            if (whole > 0).all():
                out = _divided((count + alpha) + m * out, whole)
            else:  # neither count nor pseudo-count: as the table before has it
                base = np.broadcast_to(out, np.broadcast_shapes(out.shape, count.shape, whole.shape))
                out = np.divide(count + m * base + alpha, whole, out=base.copy(), where=whole > 0)
        if out.shape[0] < len(rows):
            out = np.repeat(out, len(rows), axis=0)
        if state[j] == 2 and column.levels > 1:
            out[np.arange(len(rows)), ..., rows[:, j]] = 0.0
        return out

    def _sliced(self, column: Column, depth: int, given: Sequence[int], j: int, rows: np.ndarray, state: np.ndarray):
        """(counts, sums over the levels) of a table at what the rows have: (rows, k, conditions not seen …, own levels
        if not seen), and without the own levels."""
        table, whole = column.chain[depth], column.sums[depth]
        if depth == 0:
            count = table[rows[:, j]][:, None] if state[j] == 1 else table[None, None]
            return count, whole.reshape(1, 1)
        known = [a for a, i in enumerate(given) if state[i] == 1]
        free = [a for a, i in enumerate(given) if state[i] != 1]
        at = tuple(rows[:, given[a]] for a in known)
        whole = whole.transpose(*(1 + a for a in known), 0, *(1 + a for a in free))
        own = 1 + len(given)
        if state[j] == 1:
            count = table.transpose(*(1 + a for a in known), own, 0, *(1 + a for a in free))[(*at, rows[:, j])]
        else:
            count = table.transpose(*(1 + a for a in known), 0, *(1 + a for a in free), own)
            count = count[at] if at else count[None]
        return count, whole[at] if at else whole[None]


def _divided(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, in the memory of a where it is large enough."""
    return np.divide(a, b, out=a) if np.broadcast_shapes(a.shape, b.shape) == a.shape else a / b
