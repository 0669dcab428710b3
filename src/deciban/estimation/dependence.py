"""Whether a column depends on the class: log evidence that it does (first row) and that it does not, by column (2, d).

Evidences are closed: Dirichlet for levels (and for the intervals of a histogram), gamma for counts; those of normal
columns are in `gaussian.columns`. An alpha that the rows choose is averaged over its grid: the one that predicts rows
best may be a tiny one, under which each level that does occur is a surprise. The family of a column is the same either
way, so what does not depend on the class (the `carrier`) cancels, and is left out.

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> from deciban.families.categorical import Categorical
>>> f, codes = Categorical(), Codes(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4))
>>> t = f.tally(codes, np.array([0, 0, 1, 1] * 4, dtype=np.int32), None, 2)
>>> np.subtract(*f.evidence_by_column(t, None)).round(2).tolist()  # nats: the first column is the class
[7.9, -0.6]

The same without each row. Leaving row i out of a column's tally makes another tally; those of all rows are the columns
of one, whose evidences are computed at once. Of levels, what a row adds to the evidence is known from its own count.

>>> counts, codes, y = np.array([[3.0, 0.0], [0.0, 3.0]]), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
>>> level_dependence_left_out(counts, np.ones(1), codes, y, np.ones(6)).round(3)[[0, 5]].tolist()  # 60 / 12, in nats
[1.609, 1.609]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban.errors import DataError
from deciban.estimation.dirichlet import GRID, log_evidence
from deciban.estimation.leave_one_out import moments_left
from deciban.tallies import Moments, Sums
from deciban.tallies.basic import RoundedMoments, RoundedSums, column, subtract


def both_ways(evidence: Callable[[Any], np.ndarray], t: Any) -> np.ndarray:
    """From the log evidence (k, d) of each class and column: of the classes apart, and of all rows as one class."""
    return np.stack([evidence(t).sum(axis=0), evidence(t.collapse())[0]])


def gamma_evidence(t: Sums, shape: float, exposure: float) -> np.ndarray:
    """Of counts (k, d), every rate drawn from a Gamma(shape, exposure), without the factorials."""
    if shape <= 0 or exposure <= 0:
        raise DataError("a rate without a prior has no evidence\n\nhint: use shape > 0 and exposure > 0")
    a = t.total + shape
    return shape * np.log(exposure) - gammaln(shape) + gammaln(a) - a * np.log(column(t.n) + exposure)


def level_evidence(counts: np.ndarray, offset: np.ndarray, alphas: np.ndarray) -> np.ndarray:
    """Of tables of levels (k, sum of levels), averaged over the pseudo-counts."""
    pooled = counts.sum(axis=0, keepdims=True)
    return np.stack([_log_mean([log_evidence(c, offset, a).sum(axis=0) for a in alphas]) for c in (counts, pooled)])


def alphas_of(alpha: Any) -> np.ndarray:
    """The pseudo-counts that evidence is averaged over."""
    return GRID if isinstance(alpha, str) else np.array([alpha], dtype=np.float64)


def _log_mean(terms: list[np.ndarray]) -> np.ndarray:
    """log of the mean of exponentials, over the first axis."""
    return np.logaddexp.reduce(terms, axis=0) - np.log(len(terms))


def without_each_row(
    t: Sums | Moments, cells: np.ndarray, y: np.ndarray, w: np.ndarray
) -> RoundedSums | RoundedMoments:
    """The tally (k, n) whose column i is the only one of t without row i, of cells (n, 1)."""
    rows, k = np.arange(len(y)), t.k
    taken = np.where(np.isnan(cells), 0.0, w[:, None])
    n = np.repeat(np.broadcast_to(column(t.n), (k, 1)), len(y), axis=1)
    if isinstance(t, Sums):
        total = np.repeat(t.total, len(y), axis=1)
        total[y, rows] = subtract(total[y, rows], (np.nan_to_num(cells) * taken)[:, 0])
        n[y, rows] = subtract(n[y, rows], taken[:, 0])
        return RoundedSums(n, total)
    own = moments_left(t, cells, y, w[:, None])
    mean, m2 = (np.repeat(a, len(y), axis=1) for a in (t.mean, t.m2))
    for whole, left in zip((n, mean, m2), own, strict=True):
        whole[y, rows] = np.broadcast_to(left, (len(y), 1))[:, 0]
    return RoundedMoments(n, mean, m2)


def level_dependence_left_out(
    counts: np.ndarray, alphas: np.ndarray, codes: np.ndarray, y: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """log evidence for dependence over that against it without each row (n,), from the counts (k, levels) of one column
    and the codes of the rows; a row with a missing cell takes nothing out."""
    pooled, one_class = counts.sum(axis=0, keepdims=True), np.zeros_like(y)
    apart = _log_mean([_left(counts, a, codes, y, w) for a in alphas])
    return apart - _log_mean([_left(pooled, a, codes, one_class, w) for a in alphas])


def _left(counts: np.ndarray, alpha: float, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """log evidence (n,) of the counts without each row."""
    levels = counts.shape[1]
    out = np.full(len(codes), log_evidence(counts, np.array([0, levels]), alpha).sum())
    there = (codes >= 0) & (codes < levels)
    out[there] -= _share(counts, alpha, codes[there], y[there], w[there])
    return out


def _share(counts: np.ndarray, alpha: float, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What each row has of the log evidence, the others being there before it."""
    own, whole = counts[y, codes], counts.sum(axis=1)[y]
    assumed = alpha * counts.shape[1]
    gained = gammaln(own + alpha) - gammaln(subtract(own, w) + alpha)
    return gained - gammaln(whole + assumed) + gammaln(subtract(whole, w) + assumed)
