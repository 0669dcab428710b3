"""What every class-conditional density p(x | class) can be asked, with the answer of one that says nothing else.

A family is a frozen dataclass of hyper-parameters that subclasses `Family`. Four methods must be written; the others
have defaults, so nothing is probed: what a family lacks, it says by a default.

>>> from deciban.families.poisson import Poisson
>>> Poisson.uses_prior, Poisson.chooses, Poisson.measure, Poisson().n_parameters(None, k=2, d=3)
(True, False, 'counts', 6)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from deciban.estimation.ranges import values_of_sample

DRAWN = 4096  # rows that show what a density ranges over


class Family(ABC):
    """p(x | class) of one kind: shapes are `n` rows, `d` columns, `k` classes; `w` weights and `y` class codes (n,)."""

    block: ClassVar[str] = "reals"  # how rows are handed over: reals, dense, counts, codes or mixed
    support: ClassVar[str] = "real"  # which cells have a density: real, count, positive, nonnegative or level
    measure: ClassVar[str] = "densities"  # of what `loglik` and `carrier` are the log density or mass, in one word
    columnwise: ClassVar[bool] = True  # whether one column by itself has a density
    structured: ClassVar[bool] = False  # whether the part of a column depends on the cells of others
    averages: ClassVar[bool] = False  # whether the density is an average over several models
    density: ClassVar[bool] = True  # False: scores of a rule, which do not sum to 1
    uses_prior: ClassVar[bool] = True  # False: class priors are added only where they are given
    chooses: ClassVar[bool] = False  # whether the estimate makes choices that stay when a row is left out
    above: float | None = None  # cells above it count as presence; None: cells are taken as they are
    shared_tally: ClassVar[str] = ""  # which of the tallies that `ops.cells.shared` makes is the family's own

    @abstractmethod
    def tally(self, x: Any, y: Any, w: Any, k: int) -> Any:
        """Sufficient statistics of rows: they add up."""

    @abstractmethod
    def estimate(self, t: Any) -> Any:
        """Parameters from a tally: smoothing, floors and shrinkage happen here and nowhere else."""

    @abstractmethod
    def loglik(self, p: Any, x: Any) -> np.ndarray:
        """log p(x | c) (n, k), up to what all classes share."""

    @abstractmethod
    def sample(self, p: Any, y: np.ndarray, rng: np.random.Generator) -> Any:
        """A row (n, d) of each of the classes y."""

    def grid(self, p: Any, k: int) -> list[np.ndarray]:
        """Values of each column that a scale is drawn at: what a sample of all classes ranges over."""
        rows = self.sample(p, np.arange(DRAWN, dtype=np.int32) % k, np.random.default_rng(0))
        return [values_of_sample(rows[:, j]) for j in range(rows.shape[1])]

    def fixed(self, p: Any) -> Family:
        """The family that makes the choices of these parameters, whatever the counts."""
        return self

    def tally_size(self, k: int, d: int) -> int:
        """Numbers in a tally."""
        return k * d

    def level_tally_size(self, levels: np.ndarray, k: int) -> int:
        """Numbers in a tally, or in what is made of it, of columns with so many levels (d,)."""
        return k * int(levels.sum())

    def row_width(self, k: int) -> int:
        """Numbers that a row needs while it is scored."""
        return k

    def n_parameters(self, p: Any, k: int, d: int) -> int | None:
        """How many numbers are learned freely; None: that is not known."""
        return None
