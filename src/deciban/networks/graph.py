"""Directed acyclic graphs, as the parents of each node; nodes are numbers.

>>> parents = parents_of(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
>>> parents, topological(parents), layers(parents)
(((), (), (0, 1)), [0, 1, 2], [0, 0, 1])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from deciban.display import format_choices
from deciban.errors import DataError

Parents = tuple[tuple[int, ...], ...]
CLASS = "class"  # name of the class if the labels have no name


def class_node(names: Sequence[Any], own: str | None) -> str:
    """Name of the class: that of the labels, unless a column has it."""
    own = CLASS if own is None else own
    name = CLASS if own in names else own
    while name in names:
        name += "_"
    return name


def parents_of(names: Sequence[Any], edges: Iterable[tuple[Any, Any]]) -> Parents:
    """The parents of each node, in the order of the edges; raises DataError unless it is an acyclic graph of these
    nodes."""
    place = {name: i for i, name in enumerate(names)}
    out: list[list[int]] = [[] for _ in names]
    for edge in edges:
        if isinstance(edge, str) or len(edge) != 2:
            raise DataError(f"{edge!r} is not an edge\n\nhint: an edge is a pair (parent, child)")
        for end in edge:
            if end not in place:
                known = format_choices(names)
                raise DataError(
                    f"edge {edge[0]} → {edge[1]}: there is no `{end}`\n\nhint: the names are {known or 'none at all'}"
                )
        parent, child = (place[end] for end in edge)
        if parent in out[child]:
            raise DataError(f"edge {edge[0]} → {edge[1]} is given twice\n\nhint: name every edge once")
        out[child].append(parent)
    parents = tuple(map(tuple, out))
    round_trip = cycle(parents)
    if round_trip:
        raise DataError(
            f"the edges form a cycle: {' → '.join(str(names[i]) for i in round_trip)}\n\n"
            "hint: remove or reverse one of these edges"
        )
    return parents


def children_of(parents: Parents) -> list[list[int]]:
    out: list[list[int]] = [[] for _ in parents]
    for child, own in enumerate(parents):
        for parent in own:
            out[parent].append(child)
    return out


def topological(parents: Parents) -> list[int]:
    """Nodes so that parents come before children, smaller numbers first where there is a choice; those on cycles, or
    below them, are left out."""
    children, left = children_of(parents), [len(own) for own in parents]
    ready = [i for i, count in enumerate(left) if count == 0]
    heapify(ready)
    out = []
    while ready:
        out.append(node := heappop(ready))
        for child in children[node]:
            left[child] -= 1
            if left[child] == 0:
                heappush(ready, child)
    return out


def cycle(parents: Parents) -> list[int]:
    """The nodes of a cycle, the first repeated at the end; empty if there is no cycle."""
    left = set(range(len(parents))) - set(topological(parents))
    if not left:
        return []
    at, path = min(left), []
    while at not in path:  # every node left has a parent that is left: going up must come back
        path.append(at)
        at = next(parent for parent in parents[at] if parent in left)
    around = path[path.index(at) :]
    around = around[::-1]
    first = around.index(min(around))
    return [*around[first:], *around[:first], around[first]]


def layers(parents: Parents) -> list[int]:
    """How many edges the longest way down to each node has."""
    out = [0] * len(parents)
    for node in topological(parents):
        out[node] = max((out[parent] + 1 for parent in parents[node]), default=0)
    return out


def above(parents: Parents, nodes: Iterable[int]) -> set[int]:
    """These nodes and all their ancestors."""
    out, todo = set(), list(nodes)
    while todo:
        node = todo.pop()
        if node not in out:
            out.add(node)
            todo += parents[node]
    return out
