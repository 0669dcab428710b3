"""Into which intervals a column of numbers is cut, where columns depend on each other.

The cuts are those of Fayyad and Irani (`cuts.supervised`). That rule loses moderate effects, so two more are asked:

- where it finds none, one cut is made if the class depends on it: if the evidence of one cut, averaged over all places,
  is `ODDS` times that of none. The cut is the best of these places.
- a column of up to `DISTINCT` numbers has an interval for each, where the evidence of that is `ODDS` times that of the
  cuts so far.

The evidence is the marginal likelihood of the classes, their shares in each interval drawn from a Dirichlet around
their shares in all rows, as heavy as there are classes: the product of what each row would have been given before it
came.

>>> import numpy as np
>>> chosen(np.array([[30.0, 60.0, 60.0, 60.0], [45.0, 35.0, 35.0, 35.0]])), chosen(np.full((2, 4), 40.0))  # (k, m)
([1], [])
>>> chosen(np.array([[40.0, 10.0, 40.0], [10.0, 40.0, 10.0]]))
[1, 2]
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from deciban import cuts
from deciban.tallies.cells import cell_borders

DISTINCT = 10  # numbers of a column that may be levels each
ODDS = np.log(10.0)  # nats


def between(keys: np.ndarray, counts: np.ndarray) -> list[float]:
    """The cuts as numbers, in the middle between the cells (`keys`, of the grid of `Cells`) that they part."""
    if len(keys) == 0:
        return []
    low, high = cell_borders(keys)
    middle = np.array([high[i - 1] / 2 + low[i] / 2 for i in chosen(np.maximum(counts, 0.0))])
    return np.where(middle < 0, np.nextafter(middle, np.inf), middle).tolist()  # a cell has its end next to 0


def chosen(counts: np.ndarray) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m)."""
    out, many = cuts.supervised(counts), counts.shape[1]
    if many < 2 or (out and many > DISTINCT):
        return out
    classes = counts.sum(axis=1)
    prior = len(classes) * (classes + 1.0) / (classes.sum() + len(classes))
    if not out:
        out = _one(counts, prior)
    if many <= DISTINCT:
        each, now = _evidence(counts, prior), _evidence(np.add.reduceat(counts, [0, *out], axis=1), prior)
        out = list(range(1, many)) if each.sum() > now.sum() + ODDS else out
    return out


def _one(counts: np.ndarray, prior: np.ndarray) -> list[int]:
    """The best single cut, if the class depends on where a number lies."""
    runs = [0, *cuts.even(counts.sum(axis=0), cuts.ENOUGH)] if counts.shape[1] > cuts.ENOUGH else None
    steps = counts if runs is None else np.add.reduceat(counts, runs, axis=1)
    below, whole = np.cumsum(steps, axis=1)[:, :-1], counts.sum(axis=1, keepdims=True)
    gains = _evidence(below, prior) + _evidence(whole - below, prior) - _evidence(whole, prior)
    if len(gains) == 0 or np.logaddexp.reduce(gains) - np.log(len(gains)) <= ODDS:
        return []
    best = int(gains.argmax()) + 1
    return [best if runs is None else runs[best]]


def _evidence(counts: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """log marginal likelihood (m,) of the classes in each of m intervals, from their counts (k, m)."""
    a = prior[:, None]
    rows = gammaln(prior.sum()) - gammaln(counts.sum(axis=0) + prior.sum())
    return rows + (gammaln(counts + a) - gammaln(a)).sum(axis=0)
