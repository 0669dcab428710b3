"""What columns range over in the rows that a model has seen: a scale is drawn from the least to the largest value, and
value by value where they are few whole numbers.

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
FEW = 12  # distinct whole numbers up to which a column is drawn value by value


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
