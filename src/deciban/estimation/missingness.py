"""Whether it tells something that a cell is missing: of the class, or of the other columns.

A column's missing cells are a coin for each row. It tells something where the evidence (the marginal likelihood, each
coin's share of heads drawn from a Beta(½, ½)) is larger if the coin depends on the class, or, within classes, on the
level of another column, than if it does not. The evidence is the product of the probabilities that each row would have
been given before it came, so nothing is compared on rows that it was chosen by. All of it follows from counts, which
add up; so does the answer.

>>> import numpy as np
>>> from deciban.tallies import DistinctRows
>>> y, x = np.repeat([0, 1], 40), np.tile([[0, 0], [1, 1]], (40, 1))
>>> x[:35, 0] = -1  # the first column is missing in nearly all rows of the first class
>>> informative(DistinctRows.of(x, y, None, 2)).tolist()
[True, False]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaln

PRIOR = 0.5  # of either side of a coin
ODDS = np.log(20.0)  # by how much the evidence must be larger, in nats, for each question that is asked


def _evidence(heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    return betaln(np.maximum(heads, 0.0) + PRIOR, np.maximum(tails, 0.0) + PRIOR) - betaln(PRIOR, PRIOR)


def informative(t: Any) -> np.ndarray:
    """(d,), whether the missing cells of each column tell something of the class or of another column. `t` counts
    levels by class (`Pairs`, `DistinctRows`) and knows the levels of the rows that lack a column, `t.lacking(j)`."""
    crosstab = t.crosstab()
    return np.array([_of_class(t, j) or _of_columns(t, crosstab, j).any() for j in range(crosstab.d)], dtype=bool)


def dependent(t: Any) -> np.ndarray:
    """[j, i]: whether the missing cells of column j depend, within classes, on the level of column i, (d, d)."""
    crosstab = t.crosstab()
    return np.array([_of_columns(t, crosstab, j) for j in range(crosstab.d)], dtype=bool).reshape(crosstab.d, -1)


def _of_class(t: Any, j: int) -> bool:
    gone = t.missing(j)
    here = np.maximum(t.n - gone, 0.0)
    return bool(_evidence(gone, here).sum() - _evidence(gone.sum(), here.sum()) > ODDS)


def _of_columns(t: Any, crosstab: Any, j: int) -> np.ndarray:
    table, offset, out = crosstab.table, crosstab.offset, np.zeros(crosstab.d, dtype=bool)
    if not t.missing(j).any():
        return out
    lacking = t.lacking(j)
    each = _evidence(lacking, table - lacking)  # (k, sum of levels)
    least = ODDS + np.log(max(crosstab.d - 1, 1))
    for i in range(crosstab.d):
        own = slice(offset[i], offset[i + 1])
        if i != j and offset[i + 1] - offset[i] > 1:
            gone, all_rows = lacking[:, own].sum(axis=1), table[:, own].sum(axis=1)
            out[i] = each[:, own].sum() - _evidence(gone, all_rows - gone).sum() > least
    return out
