"""A Bayesian network as a value: P(x) = Π_i P(x_i | parents of x_i), a table for each node.

Everything asked of it is one question: log P(some nodes, what is known of the others), the rest summed out exactly.

>>> import numpy as np
>>> wet = Network.of(
...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
...     [("rain", "wet")],
...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]},
... )
>>> np.exp(wet.log_joint(np.array([[-1, 1]]), [0])).round(12).tolist()
[[0.08, 0.16]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from deciban.errors import DataError
from deciban.networks.elimination import Factor, Plan, aligned, check_width, check_work, eliminate, plan
from deciban.networks.graph import Parents, above, cycle, parents_of, topological

CELLS = 1 << 22  # numbers in a table of several rows, about
CLOSE = 1e-2  # how far from 1 the probabilities of a row in a table may add up; files round them


@dataclass(frozen=True, eq=False)
class Network:
    """Names, levels and parents of the nodes; tables[i] has an axis for each parent of i, and its own levels last."""

    names: tuple
    levels: tuple[tuple, ...]
    parents: Parents
    tables: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, levels: Mapping[Any, Sequence], edges: Iterable, tables: Mapping[Any, Any]) -> Network:
        """From plain values. tables[node][level of the first parent, …, own level], parents in the edges' order."""
        names = tuple(levels)
        parents = parents_of(names, edges)
        strange = [name for name in tables if name not in levels]
        absent = [name for name in names if name not in tables]
        if strange or absent:
            what = (
                f"there is a table for `{strange[0]}`, which is no node" if strange else f"`{absent[0]}` has no table"
            )
            raise DataError(f"{what}\n\nhint: give a table for each of the nodes, by name")
        for name, own in levels.items():
            if len(own) == 0 or len(set(own)) < len(own):
                raise DataError(f"the levels of `{name}` are {list(own)}\n\nhint: name one or more, each once")
        out = [np.array(tables[name], dtype=np.float64) for name in names]
        for name, table, shape in zip(names, out, _shapes([len(own) for own in levels.values()], parents), strict=True):
            check_table(str(name), table, shape)
        return cls(names, tuple(map(tuple, levels.values())), parents, tuple(out))

    def sound(self) -> bool:
        """Whether the parts fit together: asked of a network that comes from a file."""
        d = len(self.names)
        if not (len(self.levels) == len(self.parents) == len(self.tables) == d == len(set(self.names))):
            return False
        inside = all(0 <= p < d for own in self.parents for p in own) and all(self.levels)
        if not inside or cycle(self.parents):
            return False
        shapes = [table.shape for table in self.tables] == _shapes(self.sizes, self.parents)
        return shapes and all(bool(np.isfinite(table).all() and (table >= 0).all()) for table in self.tables)

    # what it is

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.levels))

    @cached_property
    def place(self) -> dict[Any, int]:
        """The number of each node, by name."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def edges(self) -> list[tuple[Any, Any]]:
        """(parent, child), by name."""
        return [(self.names[a], self.names[b]) for b, own in enumerate(self.parents) for a in own]

    @cached_property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The nodes that each table is about: the parents, and the node itself."""
        return tuple((*own, i) for i, own in enumerate(self.parents))

    @cached_property
    def logs(self) -> tuple[np.ndarray, ...]:
        with np.errstate(divide="ignore"):
            return tuple(np.log(table) for table in self.tables)

    @cached_property
    def _plans(self) -> dict[tuple, Plan]:
        return {}

    # what it says

    def log_joint(self, rows: np.ndarray, kept: Sequence[int] = ()) -> np.ndarray:
        """log P(kept = each of their levels, the other cells of the row), (n, levels of kept, …). Rows (n, nodes) hold
        codes, −1 is missing and summed out; those of the kept nodes do not matter."""
        kept = tuple(kept)
        check_width(prod(self.sizes[i] for i in kept))
        rows = np.array(rows, dtype=np.int64)
        rows[:, kept] = -1
        out = np.empty((len(rows), *(self.sizes[i] for i in kept)))
        masks, which = _distinct(rows >= 0)
        order, ends = np.argsort(which, kind="stable"), np.cumsum(np.bincount(which, minlength=len(masks)))
        for mask, at in zip(masks, np.split(order, ends[:-1]), strict=True):
            out[at] = self._of_same_gaps(rows[at], frozenset(np.flatnonzero(mask).tolist()), kept)
        return out

    def _of_same_gaps(self, rows: np.ndarray, seen: frozenset[int], kept: tuple[int, ...]) -> np.ndarray:
        """The same for rows with the same cells missing. Nodes below all that is known or asked for sum to 1."""
        easy, hard = self._relevant(seen, kept)
        out = np.zeros((len(rows), *(1 for _ in kept)))
        for i in easy:
            out = out + aligned(self._factor(i, self.logs[i], rows, seen), kept)
        if hard:
            out = out + self._summed_out(rows, hard, seen, kept)
        return np.broadcast_to(out, (len(rows), *(self.sizes[i] for i in kept)))

    def _relevant(self, seen: frozenset[int], kept: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """The nodes whose tables matter: those that nothing of is missing, and those to be summed over."""
        nodes, known = sorted(above(self.parents, [*seen, *kept])), seen | set(kept)
        easy = [i for i in nodes if known.issuperset(self.scopes[i])]
        return easy, sorted(set(nodes).difference(easy))

    def _summed_out(self, rows: np.ndarray, hard: list[int], seen: frozenset[int], kept: tuple[int, ...]) -> np.ndarray:
        """log Σ over the missing nodes of the product of the tables that have some."""
        own = self.plan(hard, seen, kept)
        columns = sorted(seen & {v for i in hard for v in self.scopes[i]})
        cells, which = _distinct(rows[:, columns])
        distinct = np.full((len(cells), len(self.names)), -1)
        distinct[:, columns] = cells
        step = max(1, CELLS // own.largest)
        parts = []
        for start in range(0, len(distinct), step):
            some = distinct[start : start + step]
            factors = [self._factor(i, self.tables[i], some, seen) for i in hard]
            table, scale = eliminate(factors, kept, own.order)
            with np.errstate(divide="ignore"):
                logs = np.log(table) + scale.reshape(-1, *(1 for _ in kept))
            parts.append(np.broadcast_to(logs, (len(some), *logs.shape[1:])))
        return np.concatenate(parts)[which]

    def plan(self, nodes: Sequence[int], seen: frozenset[int], kept: Sequence[int]) -> Plan:
        """How to sum out of these nodes' tables what is neither seen nor kept; refused where a table is too large."""
        key = (tuple(nodes), seen, tuple(sorted(kept)))
        if key not in self._plans:
            scopes = [tuple(v for v in self.scopes[i] if v not in seen) for i in nodes]
            self._plans[key] = plan(scopes, self.sizes, kept)
        check_width(self._plans[key].largest)
        return self._plans[key]

    def _factor(self, i: int, table: np.ndarray, rows: np.ndarray, seen: frozenset[int]) -> Factor:
        """A node's table at what the rows know of it: an axis of rows, then one for each of the others in its scope."""
        scope = self.scopes[i]
        fixed, free = [a for a, v in enumerate(scope) if v in seen], [a for a, v in enumerate(scope) if v not in seen]
        if not fixed:
            return scope, table[None]
        at = table.transpose(*fixed, *free)[tuple(rows[:, scope[a]] for a in fixed)]
        return tuple(scope[a] for a in free), at

    def sample(self, n: int, rng: np.random.Generator, given: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
        """n rows of codes, (n, nodes): every node drawn after its parents. Roots may be given."""
        out = np.zeros((n, len(self.names)), dtype=np.int64)
        for i in topological(self.parents):
            if given is not None and i in given:
                out[:, i] = given[i]
                continue
            below = np.cumsum(self.tables[i], axis=-1)[tuple(out[:, p] for p in self.parents[i])]
            below = np.broadcast_to(below, (n, self.sizes[i]))
            u = rng.random(n) * below[:, -1]  # below the last sum: a level without probability is never drawn
            out[:, i] = np.minimum((u[:, None] >= below).sum(axis=1), self.sizes[i] - 1)
        return out

    def information(self) -> dict[tuple[Any, Any], float]:
        """The mutual information of the two ends of each edge, in bits; refused where it would take long."""
        nothing, ends = np.full((1, len(self.names)), -1), {}
        cells = 0
        for a, b in self.edges:
            ends[a, b] = kept = self.place[a], self.place[b]
            _, hard = self._relevant(frozenset(), kept)
            cells += self.plan(hard, frozenset(), kept).total
            check_work(cells)
        out = {}
        for edge, kept in ends.items():
            joint = np.exp(self.log_joint(nothing, kept))[0]
            joint = joint / joint.sum()
            apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
            some = joint > 0
            out[edge] = max(0.0, float((joint[some] * np.log2(joint[some] / apart[some])).sum()))
        return out


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the distinct rows, which of them each row is)."""
    if len(rows) == 1:
        return rows, np.zeros(1, dtype=np.int64)
    found, which = np.unique(rows, axis=0, return_inverse=True)
    return found, which.ravel()


def _shapes(sizes: Sequence[int], parents: Parents) -> list[tuple[int, ...]]:
    return [(*(sizes[p] for p in own), sizes[i]) for i, own in enumerate(parents)]


def check_table(name: str, table: np.ndarray, shape: tuple[int, ...], where: str = "") -> None:
    """Refuse what is no table of conditional probabilities."""
    if table.shape != shape:
        raise DataError(
            f"{where}the table of `{name}` has shape {table.shape}, its parents' levels and its own make {shape}\n\n"
            "hint: one axis for each parent, in the order of the edges, and the node's own levels last"
        )
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise DataError(f"{where}the table of `{name}` holds numbers that are no probabilities\n\nhint: all are ≥ 0")
    sums = table.sum(axis=-1)
    if not (np.abs(sums - 1) <= CLOSE).all():
        wrong = sums.ravel()[np.abs(sums - 1).argmax()]
        raise DataError(
            f"{where}a row of the table of `{name}` sums to {wrong:.6g}, not to 1\n\n"
            "hint: the probabilities of a node's levels, for each combination of its parents' levels, sum to 1"
        )
