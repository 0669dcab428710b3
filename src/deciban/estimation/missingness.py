"""Whether missingness is informative: whether it depends on the class, or on the other columns.

Whether a value of a column is missing is modelled as Bernoulli with a Beta(½, ½) prior. Missingness is informative
where the marginal likelihood is larger if it depends on the class, or, within classes, on the category of another
column, than if it does not. The marginal likelihood is the product of the predictive probabilities of each row given
those before, so no model is compared on rows that it was fitted to. All of it is computed from counts, which are
additive.

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
    """(d,), whether the missing values of each column depend on the class or on another column. `t` counts
    levels by class (`Pairs`, `DistinctRows`) and knows the levels of the rows that lack a column, `t.lacking(j)`."""
    crosstab = t.crosstab()
    return np.array([_of_class(t, j) or _of_columns(t, crosstab, j).any() for j in range(crosstab.d)], dtype=bool)


def dependent(t: Any) -> np.ndarray:
    """[j, i]: whether the missing cells of column j depend, within classes, on the level of column i, (d, d)."""
    crosstab = t.crosstab()
    return np.array([_of_columns(t, crosstab, j) for j in range(crosstab.d)], dtype=bool).reshape(crosstab.d, -1)


def _of_class(t: Any, j: int) -> bool:
    missing = t.missing(j)
    here = np.maximum(t.n - missing, 0.0)
    return bool(_evidence(missing, here).sum() - _evidence(missing.sum(), here.sum()) > ODDS)


def _of_columns(t: Any, crosstab: Any, j: int) -> np.ndarray:
    table, d = crosstab.table, crosstab.d
    if not t.missing(j).any():
        return np.zeros(d, dtype=bool)
    lacking = t.lacking(j)
    column = np.repeat(np.arange(d), crosstab.levels)

    def by_column(cells: np.ndarray) -> np.ndarray:
        """Σ over the levels of each column, (k, d)."""
        at = np.arange(len(cells))[:, None] * d + column
        return np.bincount(at.ravel(), cells.ravel(), minlength=len(cells) * d).reshape(-1, d)

    missing, all_rows = by_column(lacking), by_column(table)
    each = by_column(_evidence(lacking, table - lacking)) - _evidence(missing, all_rows - missing)
    of_others = (crosstab.levels > 1) & (np.arange(d) != j)
    return of_others & (each.sum(axis=0) > ODDS + np.log(max(d - 1, 1)))
