"""Which family a numeric column has: the one under which held-out rows are most probable.

For every candidate the sum over rows of log p(x | own class), the row itself taken out, is exact and closed-form; densities
and (on whole numbers, one apart) probabilities are compared as they are. Long columns are judged by evenly spaced rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.families import find
from deciban.schema import outside
from deciban.table import Reals
from deciban.tallies import Moments

CANDIDATES = ("gaussian", "student", "lognormal", "poisson", "histogram")
ENOUGH = 20_000  # rows to judge by
FLAT = 1e-4  # a class whose variance is less than this share of the whole has none to speak of


def choose(values: np.ndarray, y: np.ndarray, k: int) -> Any:
    """The family of a column (n,) with classes y."""
    here = np.flatnonzero(~np.isnan(values))
    if len(here) > ENOUGH:
        here = here[np.linspace(0, len(here) - 1, ENOUGH).astype(np.int64)]
    values, y = values[here], y[here]
    families = find()
    scores = {name: _held_out(families[name](), values, y, k) for name in CANDIDATES}
    best = max(scores, key=scores.__getitem__)
    return families[best]()


def _held_out(family: Any, values: np.ndarray, y: np.ndarray, k: int) -> float:
    """Σ log p(x | own class) of rows left out one at a time; −∞ where the family does not fit."""
    if outside(values, family.support).any():
        return -np.inf
    if len(values) == 0:
        return 0.0
    x = Reals(values[:, None])
    t = family.tally(x, y, None, k)
    if isinstance(t, Moments) and _flat(t):
        return -np.inf
    with np.errstate(all="ignore"):
        if hasattr(family, "held_out"):
            return family.held_out(t)
        own = family.leave_one_out(t, x, y, None)[np.arange(len(y)), y]
        own = own + (family.carrier(family.estimate(t), x) if hasattr(family, "carrier") else 0.0)
        total = float(own.sum())
    return total if np.isfinite(total) else -np.inf


def _flat(t: Moments) -> bool:
    """Whether some class has no spread of its own: a bell as narrow as that would outbid everything."""
    n = t.n if t.n.ndim == 1 else t.n[:, 0]
    whole = t.collapse()
    spread = float((whole.m2 / np.maximum(whole.n, 1.0)).max())
    return bool((t.m2[n > 1, 0] <= FLAT * spread * n[n > 1]).any())
