"""Additive sufficient statistics, the state of every model.

A tally of some rows plus the tally of others is the tally of both; minus takes rows away again; times a number
reweights them. The class axis comes first. `n` is (k,) while every cell was seen, (k, d) once some were missing.

>>> import numpy as np
>>> a = Sums(np.array([1.0, 0.0]), np.array([[2.0], [0.0]]))
>>> b = Sums(np.array([1.0, 3.0]), np.array([[5.0], [1.0]]))
>>> (a + b).total.tolist(), (a + b - b).n.tolist()
([[7.0], [1.0]], [1.0, 0.0])
"""

from deciban.tallies.basic import (
    WEIGHTS,
    Bundle,
    ClassWeights,
    Moments,
    SharedTally,
    Sums,
    Tally,
    in_range,
    reordered,
)
from deciban.tallies.crosstab import Crosstab, Pairs
from deciban.tallies.distinct_rows import DistinctRows
from deciban.tallies.exact import ExactSums
from deciban.tallies.grid import GridCounts
from deciban.tallies.ledger import RowLedger
from deciban.tallies.scatter import CentredScatter, ExactScatter, Quartic, RowScatter, Scatter

__all__ = [
    "WEIGHTS",
    "Bundle",
    "CentredScatter",
    "ClassWeights",
    "Crosstab",
    "DistinctRows",
    "ExactScatter",
    "ExactSums",
    "GridCounts",
    "Moments",
    "Pairs",
    "Quartic",
    "RowLedger",
    "RowScatter",
    "Scatter",
    "SharedTally",
    "Sums",
    "Tally",
    "in_range",
    "reordered",
]
