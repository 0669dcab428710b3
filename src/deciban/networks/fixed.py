"""A network whose tables are given, as what a classifier asks of a family: log p(x | c), whichever node c is.

>>> import numpy as np
>>> from deciban.networks.network import Network
>>> from deciban.table import Codes
>>> tables = {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]}
>>> wet = Network.of({"rain": ["no", "yes"], "wet": ["no", "yes"]}, [("rain", "wet")], tables)
>>> np.exp(Fixed(wet, 0).loglik(None, Codes(np.array([[1]])))).round(3).tolist()
[[0.1, 0.8]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.cuts import one_by_one
from deciban.networks.graph import topological
from deciban.networks.network import Network
from deciban.table import Codes
from deciban.tallies import Patterns


@dataclass(frozen=True, eq=False)
class Fixed:
    """Columns are the nodes without the target, in their order."""

    network: Network
    target: int
    block, support = "codes", "level"
    columnwise = False
    structured = True

    @cached_property
    def log_prior(self) -> np.ndarray:
        """log P(target), (k,)."""
        return self.network.log_joint(np.full((1, len(self.network.names)), -1), [self.target])[0]

    def size(self, levels: np.ndarray, k: int) -> int:
        return k

    def tally(self, x: Codes, y, w, k: int) -> Patterns:
        return Patterns.of(x.values, y, w, k)

    def estimate(self, t: Patterns) -> None:
        """There is nothing to estimate."""

    def loglik(self, p: None, x: Codes) -> np.ndarray:
        """log p(x | c), (n, k); −∞ for a class that has no probability at all."""
        rows = np.insert(np.asarray(x.values, dtype=np.int64), self.target, -1, axis=1)
        joint = self.network.log_joint(rows, [self.target])
        prior = self.log_prior
        return np.where(np.isneginf(prior), -np.inf, joint - np.where(np.isneginf(prior), 0.0, prior))

    def parts(self, p: None, x: Codes) -> np.ndarray:
        """What each column adds to those before it, parents first, (n, k, d)."""
        order = [i - (i > self.target) for i in topological(self.network.parents) if i != self.target]
        codes = np.asarray(x.values, dtype=np.int64)
        return one_by_one(lambda shown: self.loglik(p, shown), codes, order, len(self.log_prior))
