"""A Bayesian network as a value: P(x) = Π_i P(x_i | parents of x_i), a table for each node.

Every query is computed by `Network.log_joint`: log P(some nodes, known values of others), all other nodes summed out
exactly.

>>> import numpy as np
>>> wet = Network.of(
...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
...     [("rain", "wet")],
...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]},
... )
>>> np.exp(wet.log_joint(np.array([[-1, 1]]), [0])).round(12).tolist()
[[0.08, 0.16]]

`eliminate` sums products of tables over one variable after the other, in an order that keeps tables small. A product of
factors f(A) g(A, B) h(B, C), summed over B and C, is computed from the inside: Σ_B g Σ_C h. The cost of an order
follows from the graph (`plan`), before anything is computed. Factors may have a leading axis of rows, so that all rows
with the same missing cells are computed at once.

>>> import numpy as np
>>> rain, wet = np.array([[0.2, 0.8]]), np.array([[[0.9, 0.1], [0.5, 0.5]]])
>>> joint, log_scale = eliminate([((0,), rain), ((0, 1), wet)], kept=[1], order=[0])
>>> (joint * np.exp(log_scale)).round(12).tolist()
[[0.58, 0.42]]

`GivenNetwork` is the family of a network with given tables: log p(x | c), where the class c may be any node.

>>> import numpy as np
>>> from deciban.networks.network import Network
>>> from deciban.data.blocks import Codes
>>> tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]}
>>> wet = Network.of({"rain": ["no", "yes"], "wet": ["no", "yes"]}, [("rain", "wet")], tables)
>>> np.exp(GivenNetwork(wet, 0).loglik(None, Codes(np.array([[1]])))).round(3).tolist()
[[0.1, 0.8]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from deciban.data.blocks import Codes
from deciban.errors import DataError
from deciban.estimation.discretise import sequential_parts
from deciban.estimation.family import Family
from deciban.networks.graph import Parents, above, cycle, parents_of, topological
from deciban.tallies import DistinctRows
from deciban.tallies.distinct_rows import distinct_rows

Scope = tuple[int, ...]
Factor = tuple[Scope, np.ndarray]  # an axis of rows (or of length 1), then one for each variable of the scope
MOST = 1 << 26  # numbers in the largest table that may be made: half a gigabyte
LONG = 1 << 26  # numbers in all tables that many questions may make: a second or so
ENOUGH = 1 << 12  # a largest table of up to so many numbers is not worth another order


@dataclass(frozen=True)
class Plan:
    """An order to sum variables out in, the number of cells of its largest table, and of all tables together."""

    order: tuple[int, ...]
    largest: int
    total: int


def plan(scopes: Iterable[Scope], sizes: Sequence[int], kept: Iterable[int]) -> Plan:
    """The better of two greedy orders: least table first, and fewest new neighbours first."""
    scopes, kept = list(scopes), set(kept)
    best = _greedy(scopes, sizes, kept, fill=False)
    if best.largest > ENOUGH:
        other = _greedy(scopes, sizes, kept, fill=True)
        best = min(best, other, key=lambda one: (one.largest, one.total))
    return best


def _neighbours(scopes: list[Scope]) -> dict[int, int]:
    """The variables that share a factor with each variable (itself too), as bits of a number."""
    out: dict[int, int] = {}
    for scope in scopes:
        bits = sum(1 << v for v in scope)
        for v in scope:
            out[v] = out.get(v, 0) | bits
    return out


def _members(bits: int) -> list[int]:
    out = []
    while bits:
        low = bits & -bits
        out.append(low.bit_length() - 1)
        bits ^= low
    return out


def _greedy(scopes: list[Scope], sizes: Sequence[int], kept: set[int], fill: bool) -> Plan:
    near = _neighbours(scopes)
    left = set(near) - kept

    def score(v: int) -> tuple[int, int, int]:
        members = _members(near[v])
        cells = prod(sizes[u] for u in members)
        new = sum((near[v] & ~near[u]).bit_count() for u in members) if fill else 0
        return (new, cells, v) if fill else (cells, new, v)

    scores = {v: score(v) for v in left}
    order, largest, total = [], prod(sizes[v] for v in kept & set(near)), 0
    while scores:
        v = min(scores, key=scores.__getitem__)
        members = _members(near[v])
        cells = prod(sizes[u] for u in members)
        largest, total = max(largest, cells), total + cells
        order.append(v)
        del scores[v]
        clique = near.pop(v) & ~(1 << v)
        for u in _members(clique):
            near[u] = (near[u] | clique) & ~(1 << v)
        changed = clique
        if fill:  # the neighbours of neighbours may have fewer edges to wait for
            for u in _members(clique):
                changed |= near[u]
        for u in _members(changed):
            if u in scores:
                scores[u] = score(u)
    return Plan(tuple(order), largest, total)


def check_width(width: int) -> None:
    """Refuse a table that is too large, before it is made."""
    if width > MOST:
        raise DataError(
            f"this network is too wide for exact answers: a table of {float(width):.1e} numbers "
            f"({8.0 * width / 2**30:.3g} GiB) would be needed, the limit is {float(MOST):.1e}\n\n"
            "hint: give more evidence, ask for fewer variables at a time, leave out edges, or estimate from `sample`"
        )


def check_work(cells: int) -> None:
    """Raise DataError for queries that would take too long."""
    if cells > LONG:
        raise DataError(
            f"this network is too wide to compute all its edges: tables of more than {float(LONG):.1e} numbers would "
            "be needed\n\nhint: leave out edges, or `query` those that matter"
        )


def eliminate(factors: list[Factor], kept: Sequence[int], order: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(table of the kept variables after an axis of rows, logs (rows,) of what it is to be multiplied by). The largest
    number of every table that is made is 1 (or all are 0), so that products of many small ones stay numbers."""
    log_scale = np.zeros(1)
    for v in order:
        mine = [factor for factor in factors if v in factor[0]]
        factors = [factor for factor in factors if v not in factor[0]]
        scope = tuple(sorted({u for own, _ in mine for u in own} - {v}))
        made, log_size = _scaled(_summed(mine, scope, v))
        factors.append((scope, made))
        log_scale = log_scale + log_size
    table, log_size = _scaled(_product(factors, tuple(kept)))
    return table, log_scale + log_size


def aligned(factor: Factor, scope: Scope) -> np.ndarray:
    """The factor's table with an axis for every variable of the scope, of length 1 where it has none."""
    own, table = factor
    axes = [own.index(v) for v in scope if v in own]
    table = table.transpose(0, *(1 + a for a in axes))
    shape, places = [table.shape[0]], iter(table.shape[1:])
    shape += [next(places) if v in own else 1 for v in scope]
    return table.reshape(shape)


def _product(factors: list[Factor], scope: Scope) -> np.ndarray:
    out = np.ones((1, *(1 for _ in scope)))
    for factor in sorted(factors, key=lambda one: one[1].size):
        out = out * aligned(factor, scope)
    return out


def _summed(factors: list[Factor], scope: Scope, v: int) -> np.ndarray:
    """Σ_v of the product. The last two are multiplied and added up in one go: their product is never stored."""
    inner = (*scope, v)
    *small, last = sorted(factors, key=lambda one: one[1].size)
    if not small:
        return aligned(last, inner).sum(axis=-1)
    own = tuple(u for u in inner if any(u in one[0] for one in small))
    left, right = _product(small, own), last
    # numpy names axes by numbers below 52; here those of the variables' places
    name = {u: i + 1 for i, u in enumerate(inner)}
    rows = max(left.shape[0], right[1].shape[0])
    left, right_table = (np.broadcast_to(t, (rows, *t.shape[1:])) if rows > 1 else t for t in (left, right[1]))
    out = [0, *(name[u] for u in scope)]
    return np.einsum(left, [0, *(name[u] for u in own)], right_table, [0, *(name[u] for u in right[0])], out)


def _scaled(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the table over its largest number, the log of that), row by row."""
    largest = table.reshape(len(table), -1).max(axis=1) if table.size else np.zeros(len(table))
    some = np.where(largest > 0, largest, 1.0)
    return table / some.reshape(-1, *[1] * (table.ndim - 1)), np.log(some)


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
        unknown = [name for name in tables if name not in levels]
        absent = [name for name in names if name not in tables]
        if unknown or absent:
            what = (
                f"there is a table for `{unknown[0]}`, which is not a node"
                if unknown
                else f"`{absent[0]}` has no table"
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
        masks, which = distinct_rows(rows >= 0)
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
        cells, which = distinct_rows(rows[:, columns])
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


@dataclass(frozen=True, eq=False)
class ModelGraph:
    """The graph of a classifier: its columns and the class, and the network where they have tables."""

    names: tuple
    parents: Parents
    target: Any = None  # the name of the class; None: there is none
    network: Network | None = None

    @classmethod
    def from_network(cls, network: Network, target: Any) -> ModelGraph:
        return cls(network.names, network.parents, target, network)

    @classmethod
    def star(cls, columns: Sequence[Any], target: Any) -> ModelGraph:
        """Naive Bayes: the class, the last node, is the parent of each column."""
        return cls((*columns, target), (*(((len(columns),),) * len(columns)), ()), target)

    @property
    def is_star(self) -> bool:
        return self.network is None


def _shapes(sizes: Sequence[int], parents: Parents) -> list[tuple[int, ...]]:
    return [(*(sizes[p] for p in own), sizes[i]) for i, own in enumerate(parents)]


def check_table(name: str, table: np.ndarray, shape: tuple[int, ...], where: str = "") -> None:
    """Raise DataError unless it is a table of conditional probabilities."""
    if table.shape != shape:
        raise DataError(
            f"{where}the table of `{name}` has shape {table.shape}, its parents' levels and its own make {shape}\n\n"
            "hint: one axis for each parent, in the order of the edges, and the node's own levels last"
        )
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise DataError(f"{where}the table of `{name}` holds values that are not probabilities\n\nhint: all are ≥ 0")
    sums = table.sum(axis=-1)
    if not (np.abs(sums - 1) <= CLOSE).all():
        wrong = sums.ravel()[np.abs(sums - 1).argmax()]
        raise DataError(
            f"{where}a row of the table of `{name}` sums to {wrong:.6g}, not to 1\n\n"
            "hint: the probabilities of a node's levels, for each combination of its parents' levels, sum to 1"
        )


def free_entries(tables: Iterable[np.ndarray]) -> int:
    """Number of free entries of tables (…, levels): all but one of each distribution.

    >>> free_entries([np.ones(3), np.ones((4, 2))])
    6
    """
    return sum(prod(table.shape[:-1]) * max(table.shape[-1] - 1, 0) for table in tables)


@dataclass(frozen=True, eq=False)
class GivenNetwork(Family):
    """Columns are the nodes without the target, in their order."""

    network: Network
    target: int
    block, support = "codes", "level"
    measure = "levels"
    columnwise = False
    structured = True

    @cached_property
    def log_prior(self) -> np.ndarray:
        """log P(target), (k,)."""
        return self.network.log_joint(np.full((1, len(self.network.names)), -1), [self.target])[0]

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        return k

    def tally(self, x: Codes, y, w, k: int) -> DistinctRows:
        return DistinctRows.of(x.values, y, w, k)

    def estimate(self, t: DistinctRows) -> None:
        """There is nothing to estimate."""

    def loglik(self, p: None, x: Codes) -> np.ndarray:
        """log p(x | c), (n, k); −∞ for a class that has no probability at all."""
        rows = np.insert(np.asarray(x.values, dtype=np.int64), self.target, -1, axis=1)
        joint = self.network.log_joint(rows, [self.target])
        prior = self.log_prior
        return np.where(np.isneginf(prior), -np.inf, joint - np.where(np.isneginf(prior), 0.0, prior))

    def n_parameters(self, p: None, k: int, d: int) -> int:
        """Those of all tables without the k − 1 of P(target), which a model counts itself."""
        return free_entries(self.network.tables) - (k - 1)

    def sample(self, p: None, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Column by column, each given the class and those drawn before it: the class need not be a root."""
        rows = np.full((len(y), len(self.network.names)), -1)
        rows[:, self.target] = y
        for i in topological(self.network.parents):
            if i != self.target:
                logs = self.network.log_joint(rows, [i])
                top = logs.max(axis=1, keepdims=True)
                below = np.cumsum(np.exp(logs - np.where(np.isneginf(top), 0.0, top)), axis=1)
                u = rng.random((len(y), 1)) * below[:, -1:]
                rows[:, i] = np.minimum((u >= below).sum(axis=1), below.shape[1] - 1)
        return np.delete(rows, self.target, axis=1)

    def parts(self, p: None, x: Codes) -> np.ndarray:
        """What each column adds to those before it, parents first, (n, k, d)."""
        order = [i - (i > self.target) for i in topological(self.network.parents) if i != self.target]
        codes = np.asarray(x.values, dtype=np.int64)
        return sequential_parts(lambda shown: self.loglik(p, shown), codes, order, len(self.log_prior))
