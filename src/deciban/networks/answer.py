"""What a network says: P(targets | evidence) as a table with names.

>>> import numpy as np
>>> answer = Answer(("rain",), (("no", "yes"),), np.array([0.25, 0.75]), {"wet": "yes"}, np.log(0.4))
>>> print(answer)
P(rain | wet = yes)
  rain       P
  no    0.2500
  yes   0.7500
>>> float(answer["yes"]), answer.most_probable, answer.to_dict()
(0.75, {'rain': 'yes'}, {'rain': ['no', 'yes'], 'P': [0.25, 0.75]})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from deciban import frames
from deciban.errors import DataError
from deciban.networks.network import Network
from deciban.tabular import Lines, as_html, as_text, plain

SHOWN = 40  # lines of a table that is printed


@dataclass(frozen=True, eq=False)
class Answer:
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
        columns = [
            frames.Column(name, np.array([*cells, None], dtype=object)[:-1]) for name, cells in self.to_dict().items()
        ]
        return frames.assembled(columns, library)

    def _lines(self) -> Lines:
        given = ", ".join(f"{name} = {level}" for name, level in self.evidence.items())
        title = f"P({', '.join(map(str, self.names))}{f' | {given}' if given else ''})"
        rows = [(*map(str, row), plain(p)) for row, p in zip(product(*self.levels), self.values.ravel(), strict=True)]
        more = f"… and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
        return Lines(title, (*map(str, self.names), "P"), rows[:SHOWN], more)

    def __str__(self) -> str:
        return as_text(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self._lines())


def _code(name: Any, levels: Sequence, level: Any) -> int:
    if level not in levels:
        known = ", ".join(map(str, levels[:12])) + ", …" * (len(levels) > 12)
        raise DataError(f"`{name}` has no level {level!r}\n\nhint: it has {known}")
    return levels.index(level)


def _place(network: Network, name: Any) -> int:
    if name not in network.place:
        known = ", ".join(map(str, network.names[:12])) + ", …" * (len(network.names) > 12)
        raise DataError(f"the network has no `{name}`\n\nhint: it has {known}")
    return network.place[name]


def ask(network: Network, targets: Any, evidence: Mapping | None = None) -> Answer:
    """P(targets | evidence), exactly."""
    names = [targets] if isinstance(targets, str) or not isinstance(targets, Sequence) else list(targets)
    kept, given = [_place(network, name) for name in names], dict(evidence or {})
    if not kept or len(set(kept)) < len(kept):
        raise DataError(f"the targets are {names}\n\nhint: name one or more, each once")
    row = np.full((1, len(network.names)), -1)
    for name, level in given.items():
        at = _place(network, name)
        if at in kept:
            raise DataError(f"`{name}` is asked for and given\n\nhint: leave it out of one of the two")
        row[0, at] = _code(name, network.levels[at], level)
    joint = network.log_joint(row, kept)[0]
    top = joint.max()
    if top == -np.inf:
        raise _impossible(network, row)
    values = np.exp(joint - top)
    log_evidence = float(top + np.log(values.sum()))
    return Answer(tuple(names), tuple(network.levels[i] for i in kept), values / values.sum(), given, log_evidence)


def _impossible(network: Network, row: np.ndarray) -> DataError:
    """Evidence of probability 0, told by a part of it that is impossible by itself."""
    row = row.copy()
    for at in np.flatnonzero(row[0] >= 0).tolist():
        kept, row[0, at] = row[0, at], -1
        if network.log_joint(row)[0] > -np.inf:
            row[0, at] = kept
    told = [f"{network.names[i]} = {network.levels[i][row[0, i]]}" for i in np.flatnonzero(row[0] >= 0)]
    return DataError(
        f"the evidence has probability 0: the network rules out {' with '.join(told)}\n\n"
        "hint: leave out one of these, or make no probability in the tables exactly 0"
    )
