"""Shares of levels from their counts: θ = (count + alpha) / (all counts + alpha · levels), a Dirichlet posterior mean.

Tables are (k, sum of levels); column j's levels stand at offset[j] … offset[j + 1]. `alpha` is one number, or one for
each column. Leave-one-out needs no rows: one of the `count` rows at a level, taken out, leaves (count − 1 + alpha) /
(… − 1 …), so the counts alone say which alpha foretells unseen rows best.

>>> import numpy as np
>>> table, offset = np.array([[8.0, 0.0, 0.0]]), np.array([0, 3])
>>> np.exp(log_shares(table, offset, 1.0)).round(3).tolist()
[[0.818, 0.091, 0.091]]
>>> best_alpha(table, offset).tolist(), best_alpha(1000 * table, offset).tolist()  # 8 and 8,000 times one level
([0.562341], [0.316228])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from deciban.errors import DataError
from deciban.estimation.left_out import LeftOut, PartsLeft
from deciban.tallies.basic import subtract

TINY = 1e-300  # what a column without levels takes the logarithm of
GRID = np.round(10.0 ** np.arange(-3.0, 1.01, 0.25), 6)  # 0.001 … 10
STRENGTH = 0.25  # of the prior around one pseudo-count: STRENGTH · (ln alpha)² is taken off a score in nats
FEW = 100.0  # rows, up to which alpha is at least 0.5: a level never seen counts as half a row


def column_sums(table: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Σ over the levels of each column, (k, d)."""
    levels = np.diff(offset)
    return np.add.reduceat(np.c_[table, np.zeros(len(table))], offset[:-1], axis=1) * (levels > 0)


def spread(values: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """A value for each column, repeated for each of its levels, along the last axis."""
    return np.repeat(values, np.diff(offset), axis=-1)


def log_shares(table: np.ndarray, offset: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """log θ, (k, sum of levels). A column without any count or pseudo-count has even shares."""
    levels = np.diff(offset)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape)
    whole = spread(column_sums(table, offset) + alpha * levels, offset)
    even = spread(-np.log(np.maximum(levels, 1)), offset)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.log(table + spread(alpha, offset)) - np.log(whole), even)


def log_evidence(table: np.ndarray, offset: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """log marginal likelihood (k, d) of the counts of each column, its shares drawn from a Dirichlet(alpha)."""
    levels = np.diff(offset)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape)
    if not (alpha > 0).all():
        raise DataError("`alpha=0` is not a proper prior\n\nhint: use alpha > 0")
    assumed = alpha * np.maximum(levels, 1)
    whole = gammaln(assumed) - gammaln(column_sums(table, offset) + assumed)
    return whole + column_sums(gammaln(table + spread(alpha, offset)) - spread(gammaln(alpha), offset), offset)


def held_out(table: np.ndarray, offset: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
    """Σ log θ of every row's level, the row itself taken out: of each column, (d,)."""
    levels = np.diff(offset)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape)
    whole = column_sums(table, offset)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.log(np.maximum(table - 1, 0.0) + spread(alpha, offset))
        rest = np.log(np.maximum(whole - 1, 0.0) + alpha * levels)
        terms = np.where(table > 0, table * (left - spread(rest, offset)), 0.0)
    return column_sums(terms, offset).sum(axis=0)


def best_alpha(table: np.ndarray, offset: np.ndarray, few: float = FEW) -> np.ndarray:
    """For each column the pseudo-count of the grid that is best for held-out rows under a prior around 1, (d,).

    The score is the log probability of all rows, each left out in turn, less STRENGTH · (ln alpha)². Few rows stay near
    Laplace's rule, many choose freely. The least alpha allowed is 0.5 up to `few` rows of a column and falls as 1 / n
    beyond: a level that a class of n ≤ few rows has not had is never worse than 1 : 2n + levels.
    """
    # Σ over levels of count · log(count − 1 + alpha), less that of the whole: one log for each distinct count
    levels, whole = np.diff(offset), column_sums(table, offset)
    scores = np.empty((len(GRID), len(levels)))
    less, rest = np.maximum(table - 1, 0.0), np.maximum(whole - 1, 0.0)
    for i, alpha in enumerate(GRID):
        terms = np.einsum("kl,kl->l", table, np.log(less + alpha))
        every = np.einsum("kd,kd->d", whole, np.log(rest + alpha * levels + TINY))
        scores[i] = column_sums(terms[None], offset)[0] - every
    scores -= STRENGTH * np.log(GRID)[:, None] ** 2
    least = 0.5 * np.minimum(1.0, few / np.maximum(whole.sum(axis=0), 1.0))
    scores[GRID[:, None] < least] = -np.inf
    return GRID[np.argmax(scores, axis=0)]


def shares_without(
    table: np.ndarray,
    offset: np.ndarray,
    alpha: float | np.ndarray,
    out: LeftOut,
    cells: np.ndarray,
    part_of: Callable[[np.ndarray], np.ndarray],
    there: np.ndarray,
    lost: np.ndarray | None = None,
    lone: np.ndarray | None = None,
) -> PartsLeft:
    """log θ of the levels of cells (q, d; −1 = missing) without each group of rows. part_of(cells of a row (d,)): the
    part (m, d) that each row has of the counts of these levels; `there`: which rows (m, d) have a level; `lost`
    (groups, d): how many levels end with the group; `lone` (q, groups): a cell has one of them: the score is NaN."""
    levels, many = np.diff(offset), column_sums(table, offset)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape)
    seen = out.weight[:, None] if there.all() else out.sums(there)
    rest = subtract(many[out.y], seen)
    own = np.empty((len(cells), out.parts, len(levels)))
    every = None if lost is None else np.empty((len(cells), out.groups, len(table), len(levels)))
    for q, cell in enumerate(cells):
        known = (cell >= 0) & (cell < levels)
        here = table[:, np.where(known, offset[:-1] + cell, 0)] if table.size else np.zeros((len(table), len(levels)))
        left = subtract(here[out.y], out.sums(part_of(np.where(known, cell, -2))))
        fewer = 0.0 if lost is None else lost[out.group]
        own[q] = _logs(left, rest, alpha, levels - fewer, known)
        own[q, ((left < -1e-9 * out.weight[:, None]) & known).any(axis=1) | (rest < 0).any(axis=1)] = np.nan
        if every is not None and lost is not None and lone is not None:
            every[q] = _logs(here, many, alpha, (levels - lost)[:, None, :], known)
            every[q, out.group, out.y] = own[q]
            every[q, lone[q]] = np.nan
    return PartsLeft(None, every) if every is not None else PartsLeft(own)


def _logs(count: np.ndarray, whole: np.ndarray, alpha: np.ndarray, levels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """log (count + alpha) / (whole + alpha · levels), as `log_shares`; 0 where no level is known."""
    whole = whole + alpha * levels
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(count + alpha) - np.log(whole)
    if not (whole > 0).all():
        share = np.where(whole > 0, share, -np.log(np.maximum(levels, 1)))
    return share if known.all() else np.where(known, share, 0.0)


def own_held_out(
    table: np.ndarray, offset: np.ndarray, alpha, codes: np.ndarray, y: np.ndarray, w, kept: np.ndarray | None = None
) -> np.ndarray:
    """Σ_j log θ of each row's levels (codes (n, d), −1 = missing) in its own class without the row itself. (n,)

    `kept`: the part of a row that its own level has of it, for each level; all of it where it is None.
    """
    levels, whole = np.diff(offset), column_sums(table, offset)
    alpha = np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape)
    here = (codes >= 0) & (codes < levels)
    at = offset[:-1] + codes
    if not here.all():
        at[~here] = 0
    if w is None and 0 < table.size <= codes.size:  # every row weighs 1: each class and level needs one logarithm
        own = np.ones(len(table.T)) if kept is None else kept
        at += (y * np.int64(len(table.T)))[:, None]
        each = _without(table, own, spread(whole, offset), spread(alpha, offset), spread(levels, offset), np.ones(1))
        share = each.ravel()[at]
    else:
        weight = np.ones((len(y), 1)) if w is None else w[:, None]
        own = weight if kept is None else weight * kept[at]
        count = table[y[:, None], at] if table.size else np.zeros(codes.shape)
        share = _without(count, own, whole[y], alpha, levels, weight)
    if not here.all():
        share[~here] = 0.0
    return share.sum(axis=1)


def _without(count: np.ndarray, own: np.ndarray, whole: np.ndarray, alpha, levels, weight: np.ndarray) -> np.ndarray:
    """log θ of levels of these counts, in columns of these sums, without a row that is `own` and `weight` of them."""
    count = count - own
    count = np.where(np.abs(count) <= 1e-12 * weight, 0.0, count)
    rest = whole - weight
    rest = np.where(np.abs(rest) <= 1e-12 * weight, 0.0, rest) + alpha * levels
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rest > 0, np.log((count + alpha) / rest), -np.log(np.maximum(levels, 1)))
    if count.min(initial=0.0) < 0:
        share[count < -1e-9 * weight] = np.nan  # no such row is in the counts
    return share
