"""Supports of families: the valid values by the name of the support.

>>> import numpy as np
>>> outside(np.array([-1.0, 0.0, 0.5, 2.0, np.nan]), "count").tolist()
[True, False, True, False, False]
"""

from __future__ import annotations

import numpy as np

NEEDS = {"count": "whole numbers ≥ 0", "positive": "numbers > 0", "nonnegative": "numbers ≥ 0"}


def outside(values: np.ndarray, support: str) -> np.ndarray:
    """Which numbers a family with this support cannot have; NaN never is one."""
    if support == "positive":
        return values <= 0
    if support == "nonnegative":
        return values < 0
    if support == "count":
        return (values < 0) | (values != np.floor(values)) & ~np.isnan(values)
    return np.zeros(values.shape, dtype=bool)
