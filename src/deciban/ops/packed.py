"""Coefficients in the layout of the kernels: the classes of a column are adjacent, padded to whole cache lines.

>>> import numpy as np
>>> p = Packed.of(np.arange(6.0).reshape(2, 3))
>>> p.rows.shape, p.table.tolist()
((3, 8), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LINE = 8  # doubles in a cache line


@dataclass(frozen=True)
class Packed:
    rows: np.ndarray  # (m, k padded), starts at a cache line
    k: int

    @classmethod
    def of(cls, table: np.ndarray | Packed) -> Packed:
        """From (k, m); what is packed already stays as it is."""
        if isinstance(table, Packed):
            return table
        out = cls.zeros(*table.shape)
        out.rows[:, : out.k] = table.T
        return out

    @classmethod
    def zeros(cls, k: int, m: int) -> Packed:
        wide = -(-k // LINE) * LINE
        memory = np.zeros(m * wide + LINE)
        start = -(memory.ctypes.data // 8) % LINE
        return cls(memory[start : start + m * wide].reshape(m, wide), k)

    @property
    def table(self) -> np.ndarray:
        """(k, m), a view."""
        return self.rows[:, : self.k].T
