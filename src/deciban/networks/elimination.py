"""Sums of products of tables, one variable after the other, in an order that keeps tables small.

A product of factors f(A) g(A, B) h(B, C), summed over B and C, is worked out from the inside: Σ_B g Σ_C h. What an
order costs follows from the graph alone, and is known before anything is computed. Every factor may have an axis of
rows in front, so that many rows with the same cells missing are done at once.

>>> import numpy as np
>>> rain, wet = np.array([[0.2, 0.8]]), np.array([[[0.9, 0.1], [0.5, 0.5]]])
>>> joint, log_scale = eliminate([((0,), rain), ((0, 1), wet)], kept=[1], order=[0])
>>> (joint * np.exp(log_scale)).round(12).tolist()
[[0.58, 0.42]]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from deciban.errors import DataError

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
            f"({8.0 * width / 2**30:.3g} GiB) would have to be made, the limit is {float(MOST):.1e}\n\n"
            "hint: give more evidence, ask for fewer variables at a time, leave out edges, or estimate from `sample`"
        )


def check_work(cells: int) -> None:
    """Refuse many questions that would take long, before the first is answered."""
    if cells > LONG:
        raise DataError(
            f"this network is too wide to ask about all its edges: tables of more than {float(LONG):.1e} numbers would "
            "have to be made\n\nhint: leave out edges, or `query` those that matter"
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
