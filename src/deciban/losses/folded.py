"""Sparse rows without the columns that a ridge makes needless: those no row has, and all but one of a row's own.

A column without cells gets 0. Where columns are in one row only, with values v there, the ridge leaves nothing of their
coefficients but a multiple of v: one column of value |v| stands for all of them, and its b means b · v / |v|. Half the
words of a corpus occur once, so this halves what a fit works on, and is exact. Columns are ordered from the most
frequent on: those that are read all the time lie side by side.

>>> import numpy as np
>>> from deciban.table import Counts, Table
>>> x = Counts(np.array([0, 3, 5]), np.array([0, 2, 3, 0, 1]), np.array([1.0, 3.0, 4.0, 1.0, 2.0]), 5)
>>> small = Folded.of(Objective.of(Table(x, np.array([0, 1], dtype=np.int32), None, 2), l2=1.0))
>>> small.objective.x.dense().tolist()
[[1.0, 5.0, 0.0], [1.0, 0.0, 2.0]]
>>> small.unfold(np.array([0.5, 10.0, 2.0, -1.0])).tolist()
[0.5, 2.0, 6.0, 8.0, 0.0, -1.0]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from deciban.losses.objectives import Objective
from deciban.table import Counts

WIDE = 1 << 17  # parameters from which it is worth a look


@dataclass(frozen=True)
class Folded:
    objective: Objective
    column: np.ndarray  # (d,): the column that stands for each
    share: np.ndarray  # (d,): by which its coefficient is multiplied

    @classmethod
    def where_it_pays(cls, objective: Objective) -> Folded | None:
        """If rows are sparse, vectors of parameters are what costs, columns have one ridge and many are needless."""
        x, ridge = objective.x, objective.ridge
        if not isinstance(x, Counts) or objective.m == 1 or objective.size < WIDE or objective.lasso.any():
            return None
        if not ridge[0] > 0 or np.ptp(ridge[: x.d]) > 0:
            return None
        common = np.count_nonzero(np.bincount(x.column_of(), minlength=x.d) > 1)
        return cls.of(objective) if common < 0.75 * x.d else None

    @classmethod
    def of(cls, objective: Objective) -> Folded:
        """Of sparse rows and one ridge for all columns."""
        x, rows = objective.x, objective.rows
        assert isinstance(x, Counts)
        columns, values, row = x.column_of(), np.asarray(x.stored, dtype=np.float64), x.row_of()
        count = np.bincount(columns, minlength=x.d)
        alone = count[columns] == 1  # of each cell
        own, own_row, own_values = columns[alone], row[alone], values[alone]
        length = np.sqrt(np.bincount(own_row, own_values**2, minlength=x.n))
        common, holders = np.flatnonzero(count > 1), np.flatnonzero(length)
        common = common[np.argsort(-count[common], kind="stable")]
        wide = len(common) + len(holders)
        place = np.zeros(x.n, dtype=np.int64)
        place[holders] = np.arange(len(common), wide)
        column, share = np.zeros(x.d, dtype=np.int64), np.zeros(x.d)
        column[common], share[common] = np.arange(len(common)), 1.0
        column[own] = place[own_row]
        share[own] = np.divide(own_values, length[own_row], out=np.zeros_like(own_values), where=length[own_row] > 0)
        at = np.concatenate([row[~alone], holders]), np.concatenate([column[columns[~alone]], place[holders]])
        cells = csr_array((np.concatenate([values[~alone], length[holders]]), at), shape=(x.n, wide))
        fewer = Counts(cells.indptr, cells.indices, cells.data, wide)
        ridge = np.concatenate([np.full(wide, objective.ridge[0]), objective.ridge[x.d :]])
        return cls(Objective(replace(rows, x=fewer), ridge, np.zeros_like(ridge)), column, share)

    def fold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of the whole as those of this objective."""
        d, wide = len(self.column), self.objective.rows.d
        whole = w.reshape(self.objective.m, -1)
        sums = [np.bincount(self.column, self.share * one[:d], minlength=wide) for one in whole]
        return np.hstack([np.array(sums), whole[:, d:]]).ravel()

    def unfold(self, w: np.ndarray) -> np.ndarray:
        """Parameters of this objective as those of the whole."""
        table, wide = self.objective.table(w), self.objective.rows.d
        return np.hstack([table[:, self.column] * self.share, table[:, wide:]]).ravel()

    def unfold_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by parameters of this objective as that by those of the whole."""
        return self.unfold(gradient)
