"""Assignment of rows to folds: which rows are held out together.

>>> import numpy as np
>>> assign_folds(2, None, np.array(["a", "a", "a", "b", "b", "b"])).tolist()
[0, 1, 0, 1, 0, 1]
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.rows.digests import row_digests

EVERY, NOWHERE = -1, -2  # instead of the number of a fold
COMMON = 5  # identical rows from which on they are spread over all folds


def assign_folds(folds: Any, X: Any, y: np.ndarray, random_state: Any = None, stratify: bool = True) -> np.ndarray:
    """The fold 0, 1, … of each row (n,): from a number of folds, names of folds (n,) or a scikit-learn splitter.

    With a number of folds, rows are assigned in turn, class by class if `stratify`: the sizes of folds, and of classes
    in folds, differ by at most one row.
    """
    n = len(y)
    if hasattr(folds, "split"):
        return folds_of_splitter(list(folds.split(X, y)), n)
    if isinstance(folds, Integral):
        folds = int(folds)
        if not 2 <= folds <= n:
            raise DataError(f"folds is {folds}, and there are {n} rows\n\nhint: give at least 2, at most one a row")
        order = np.arange(n) if random_state is None else check_random_state(random_state).permutation(n)
        if stratify:
            order = order[np.argsort(y[order], kind="stable")]
        fold = np.empty(n, dtype=np.intp)
        fold[order] = np.arange(n) % folds
        return fold
    given = np.asarray(folds)
    if given.shape != (n,):
        raise DataError(
            f"folds has shape {given.shape}, and there are {n} rows\n\n"
            "hint: give a number of folds, the fold of each row, or a scikit-learn splitter such as KFold(5)"
        )
    names, fold = np.unique(given, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"all rows are in fold {names.tolist()[0]!r}\n\nhint: give at least two folds")
    return fold


def folds_of_splitter(splits: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """The fold of each row (n,), from splits that test each row once and train on all others."""
    fold, times = np.empty(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    for i, (_, test) in enumerate(splits):
        fold[test] = i
        times[test] += 1
    if (times != 1).any() or any(len(train) + len(test) != n for train, test in splits):
        raise DataError(
            "the splitter does not test each row once while learning from all others\n\n"
            "hint: KFold, StratifiedKFold and PredefinedSplit do; for the rest see sklearn.model_selection"
        )
    return fold


def rows_of(fold: np.ndarray) -> list[np.ndarray]:
    """Indices of the rows of each fold, in ascending order."""
    return np.split(np.argsort(fold, kind="stable"), np.cumsum(np.bincount(fold))[:-1])


def folds_with_copies_together(x: Reals | Counts, y: np.ndarray, folds: int, w: np.ndarray | None = None) -> np.ndarray:
    """The fold 0, 1, … of each row (n,), from its content: identical rows share a fold, independent of their order, so
    that a row of weight 2 is held out like two rows. −1 for the rows of a class whose rows are all identical.

    >>> x = Reals(np.array([[1.0], [2.0], [3.0], [4.0], [2.0]]))
    >>> fold = folds_with_copies_together(x, np.array([0, 0, 0, 1, 0]), 2)
    >>> bool(fold[1] == fold[4]), int(fold[3]), sorted(set(fold.tolist()))
    (True, -1, [-1, 0, 1])
    """
    at, digest = np.arange(x.n) if w is None else np.flatnonzero(w > 0), row_digests(x)
    order = at[np.lexsort((digest[at], y[at]))]
    first = np.append(True, (np.diff(digest[order]) != 0) | (np.diff(y[order]) != 0))
    code = y[order][first]
    alone = np.bincount(code)[code] < 2
    number = np.where(alone, -1, (np.cumsum(~alone) - 1) % folds)
    fold = np.full(x.n, -1, dtype=np.intp)
    fold[order] = number[np.cumsum(first) - 1]
    return fold


@dataclass(frozen=True, eq=False)
class UniqueRows:
    """Distinct rows (cells and class), in the order of classes and digests."""

    at: np.ndarray  # (m,), index of the first copy of each
    times: np.ndarray  # (m,), number of copies
    weight: np.ndarray  # (m,), total weight of the copies

    @classmethod
    def of(cls, digest: np.ndarray, y: np.ndarray, w: np.ndarray, times: np.ndarray | None = None) -> UniqueRows:
        """From the digest, class and weight (> 0) of each row, and how many rows it stands for.

        >>> few = UniqueRows.of(np.array([7, 3, 7, 7]), np.array([0, 0, 0, 1]), np.array([1.0, 1.0, 0.5, 2.0]))
        >>> few.at.tolist(), few.times.tolist(), few.weight.tolist()
        ([1, 0, 3], [1, 2, 1], [1.0, 1.5, 2.0])
        """
        order = np.lexsort((digest, y))
        if len(order) == 0:
            return cls(order, np.zeros(0, dtype=np.int64), np.zeros(0))
        new = np.append(True, (np.diff(digest[order]) != 0) | (np.diff(y[order]) != 0))
        start = np.flatnonzero(new)
        rows = np.diff(np.append(start, len(order))) if times is None else np.add.reduceat(times[order], start)
        return cls(order[start], rows, np.add.reduceat(w[order], start))


def assign_folds_to_unique_rows(y: np.ndarray, times: np.ndarray, folds: int, least: int) -> np.ndarray:
    """The fold of each distinct row (m,), from classes and numbers of copies in the order of `UniqueRows`.

    A row with `COMMON` copies or more is in `EVERY` fold, with an equal share of its weight. If all copies were held
    out together, the tallies of the other folds would lack exactly its cells, and with few distinct rows the evidence
    would point away from its class. Other rows are assigned in turn. `NOWHERE`: rows of a class that is in fewer than
    `least` folds. Copies are counted by number, not by weight, which may be in any unit.

    >>> assign_folds_to_unique_rows(np.array([0, 0, 0, 0, 1]), np.array([1, 40, 2, 1, 1]), 3, 2).tolist()
    [0, -1, 1, 2, -2]
    """
    common = times >= COMMON
    fold = np.where(common, EVERY, 0)
    fold[~common] = np.arange((~common).sum()) % folds
    met = np.where(np.bincount(y, common) > 0, folds, np.minimum(np.bincount(y), folds))
    fold[(met < least)[y]] = NOWHERE
    return fold


def copies_in_folds(key: np.ndarray, y: np.ndarray, times: np.ndarray, folds: int) -> np.ndarray:
    """How many copies of each row are in each fold, (m, folds), from the keys (of the content), classes and numbers of
    copies of the rows: copies are rows of their own, which are assigned in turn, class by class.

    >>> copies_in_folds(np.array([7, 3, 9]), np.array([0, 0, 1]), np.array([3, 1, 1]), 2).tolist()
    [[1, 2], [1, 0], [1, 0]]
    """
    order = np.lexsort((key, y))
    start = np.empty(len(order), dtype=np.int64)
    start[order] = np.cumsum(times[order]) - times[order]
    first = start % folds
    after = (np.arange(folds) - first[:, None]) % folds  # places of each fold after the first copy
    return times[:, None] // folds + (after < (times % folds)[:, None])
