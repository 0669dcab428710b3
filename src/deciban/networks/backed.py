"""Tables of columns given their parents, each backed by those with fewer parents (see `backoff`): θ(x | c, p, q) by
θ(x | c, p), that by θ(x | c), θ(x) and even shares; the last parent is dropped first.

>>> import numpy as np
>>> t = Patterns.of(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.zeros(4, dtype=np.int32), None, 1)
>>> for strength in (0.0, 4.0):
...     Smoothing(strength).estimate(t, ((), (0,))).tables[1].round(3).tolist()
[[[0.75, 0.25], [0.25, 0.75]]]
[[[0.625, 0.375], [0.375, 0.625]]]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from deciban.networks.graph import Parents
from deciban.networks.left_rows import Column, Left
from deciban.networks.search import assumed, counts
from deciban.networks.tables import Tables
from deciban.structure import backoff
from deciban.tallies import Patterns

Strengths = tuple[float, ...]


@dataclass(frozen=True)
class Backed(Tables):
    strengths: tuple[Strengths, ...]  # of each column's back-off


@dataclass(frozen=True)
class Smoothing:
    strength: float | str | tuple  # of the back-off: one number, or those of each column
    alpha: float | None = 1.0  # of every cell; None: `prior` rows of each class, spread evenly over a table (BDeu)
    prior: float = 1.0

    def estimate(self, t: Patterns, parents: Parents) -> Backed:
        tables, strengths = [], []
        for j, own in enumerate(parents):
            chain = _chain(t, j, own)
            strengths.append(self._strengths(j, chain))
            tables.append(backoff.shares(chain, self._alphas(chain), strengths[-1])[-1])
        return Backed(parents, tuple(tables), t.levels, tuple(strengths))

    def _alphas(self, chain: list[np.ndarray]) -> list[float]:
        if self.alpha is not None:
            return [self.alpha] * len(chain)
        return [self.prior / chain[0].size, *(assumed(table, self.prior) for table in chain[1:])]

    def _strengths(self, j: int, chain: list[np.ndarray]) -> Strengths:
        if isinstance(self.strength, tuple):
            return self.strength[j]
        if isinstance(self.strength, str):
            return backoff.best_strengths(chain, self._alphas(chain))
        return (float(self.strength),) * (len(chain) - 1)

    def leave_one_out(self, t: Patterns, p: Backed, rows: np.ndarray, y: np.ndarray, w, lone=None) -> np.ndarray:
        """log p(x | c) (n, k) of known codes. Parents and strengths stay; the row leaves the counts, also those that
        back other classes, and takes along the levels of its `lone` (n, d) cells."""
        chains = [_chain(t, j, parents) for j, parents in enumerate(p.parents)]
        lone = np.zeros(rows.shape, dtype=bool) if lone is None else lone
        hard = (rows < 0).any(axis=1) | lone.any(axis=1)
        out, easy = np.zeros((len(rows), p.k)), np.flatnonzero(~hard)
        for j, (parents, chain) in enumerate(zip(p.parents, chains, strict=True)):
            given, own = [rows[easy, i] for i in parents], None if w is None else w[easy]
            with np.errstate(divide="ignore"):
                alphas = self._alphas(chain)
                out[easy] += np.log(backoff.left_out(chain, alphas, p.strengths[j], rows[easy, j], given, y[easy], own))
        if hard.any():
            at = np.flatnonzero(hard)
            left = Left([Column(*one) for one in zip(p.parents, chains, p.strengths, strict=True)], self._alpha)
            out[at] = left.scores(rows[at], y[at], None if w is None else w[at], lone[at])
        return out

    def _alpha(self, sizes: Sequence[int]) -> float:
        """The pseudo-count of a cell of a table of so many levels of parents and column."""
        return self.prior / prod(sizes) if self.alpha is None else self.alpha


def _chain(t: Patterns, j: int, parents: tuple[int, ...]) -> list[np.ndarray]:
    """Counts of column j's levels: of all rows, by class, by class and the first parent, and so on."""
    tables = [np.maximum(counts(t, j, parents[:many]), 0.0) for many in range(len(parents) + 1)]
    return [tables[0].sum(axis=0), *tables]
