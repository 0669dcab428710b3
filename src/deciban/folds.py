"""Folds: which rows are held out together.

>>> import numpy as np
>>> fold_of_each(2, None, np.array(["a", "a", "a", "b", "b", "b"])).tolist()
[0, 1, 0, 1, 0, 1]
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from deciban.errors import DataError


def fold_of_each(folds: Any, X: Any, y: np.ndarray, random_state: Any = None, stratify: bool = True) -> np.ndarray:
    """The fold 0, 1, … of each row (n,), from their number, from names (n,) or from a scikit-learn splitter.

    A number of folds is dealt out like cards, class by class where `stratify`: folds, and the classes in them, differ
    by one row at most.
    """
    n = len(y)
    if hasattr(folds, "split"):
        return once_each(list(folds.split(X, y)), n)
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


def once_each(splits: list[tuple[np.ndarray, np.ndarray]], n: int) -> np.ndarray:
    """The fold of each row (n,) of splits that test each row once and learn from all others."""
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
    """The rows of each fold, in their order."""
    return np.split(np.argsort(fold, kind="stable"), np.cumsum(np.bincount(fold))[:-1])
