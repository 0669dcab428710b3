"""The range of each column in the training rows, for the scales of plots: a scale is drawn from the least to the
largest value, and value by value where they are few whole numbers.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> seen = Ranges.of(Reals(np.array([[0.0, 1.5], [1.0, 0.5], [1.0, 2.5]])))
>>> [len(values) for values in seen.candidates()], seen.candidates()[0].tolist()
([2, 97], [0.0, 1.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deciban.data.blocks import Counts, Reals

STEPS = 97  # of a scale of numbers; its ends and its middle among them
LARGEST = float(np.finfo(np.float64).max) / 2  # of the ends of a range: their difference is a double
FEW = 12  # distinct whole numbers up to which a column is drawn value by value


def values_of_sample(cells: np.ndarray) -> np.ndarray:
    """The values of a column that a sample of it shows: all of them where they are few whole numbers."""
    distinct = np.unique(cells)
    if len(distinct) <= FEW and (distinct == np.rint(distinct)).all():
        return distinct
    low, high = np.quantile(cells, [0.002, 0.998])
    return np.linspace(low, high, STEPS)


def values_around(mean: np.ndarray, deviation: np.ndarray) -> list[np.ndarray]:
    """From the least mean − 3 deviations to the largest mean + 3 deviations of any class, both (k, d).

    >>> [values[[0, -1]].tolist() for values in values_around(np.array([[0.0], [5.0]]), np.ones((2, 1)))]
    [[-3.0, 8.0]]
    """
    low, high = (mean - 3 * deviation).min(axis=0), (mean + 3 * deviation).max(axis=0)
    low, high = np.maximum(low, -LARGEST), np.minimum(high, LARGEST)
    return [np.linspace(a, b, STEPS) for a, b in zip(low, high, strict=True)]


def counts_up_to(rate: np.ndarray) -> list[np.ndarray]:
    """Counts from 0 to what is still usual at these rates (k, d), at least 1.

    >>> [values.tolist() for values in counts_up_to(np.array([[0.0, 1.0], [0.0, 0.5]]))]
    [[0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0]]
    """
    top = np.maximum(np.ceil(rate + 3 * np.sqrt(rate)).max(axis=0), 1)
    return [np.unique(np.rint(np.linspace(0, most, min(int(most) + 1, STEPS)))) for most in top]


@dataclass(frozen=True)
class Ranges:
    """The least and the largest cell of each column, and whether all its cells are whole numbers."""

    low: np.ndarray  # (d,)
    high: np.ndarray  # (d,)
    whole: np.ndarray  # (d,), bools

    @classmethod
    def of(cls, x: Reals | Counts) -> Ranges:
        """Of rows that hold no NaN."""
        if isinstance(x, Reals):
            return cls(x.values.min(axis=0), x.values.max(axis=0), (x.values == np.rint(x.values)).all(axis=0))
        at = x.indptr - x.indptr[0]
        rows = sparse.csr_array((x.stored, x.column_of(), at), shape=(x.n, x.d))
        broken = np.bincount(x.column_of()[x.stored != np.rint(x.stored)], minlength=x.d)
        return cls(rows.min(axis=0).toarray(), rows.max(axis=0).toarray(), broken == 0)

    @classmethod
    def of_values(cls, columns: Sequence[np.ndarray]) -> Ranges:
        """Of values of each column, at least one."""
        return cls(
            np.array([values.min() for values in columns]),
            np.array([values.max() for values in columns]),
            np.array([bool((values == np.rint(values)).all()) for values in columns]),
        )

    def candidates(self) -> list[np.ndarray]:
        """The values of each column that a scale is drawn at."""
        return [
            np.arange(low, high + 1) if whole and high - low < FEW else np.linspace(low, high, STEPS)
            for low, high, whole in zip(self.low.tolist(), self.high.tolist(), self.whole, strict=True)
        ]
