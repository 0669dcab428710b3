"""The specification of the operations: NumPy, read it to know what they mean. `ops` runs the compiled twin instead.

Blocks in (`Reals`, `Counts`, `Codes`), class codes y (n,), weights w (n,) or None, k classes; tallies or (n, k) out.
"""

from __future__ import annotations

from math import log, log2

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from deciban.table import Codes, Counts, Plain, Reals
from deciban.tallies import Crosstab, Moments, Pairs, Quartic, Scatter, Sums
from deciban.tallies.base import over
from deciban.tallies.pairs import Layout


def _weights(y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return np.ones(len(y)) if w is None else w


def _class_weights(y: np.ndarray, w: np.ndarray | None, k: int) -> np.ndarray:
    return np.bincount(y, _weights(y, w), minlength=k)


def _values(x: Reals | Counts, above: float | None) -> np.ndarray:
    """The (stored) cells as doubles, or [cell > above] where that is given; NaN stays NaN, ±∞ stays not finite."""
    v = np.asarray(x.values if isinstance(x, Reals) else x.stored, dtype=np.float64)
    return v if above is None else np.where(np.isfinite(v), v > above, v)


def _cells(x: Reals | Counts, values: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Σ of `values` (one for each stored cell) by class and column, (k, d)."""
    if isinstance(x, Reals):
        return np.stack([values[y == c].sum(0) for c in range(k)]) if k else np.zeros((0, x.d))
    at = y[x.row_of()].astype(np.int64) * x.d + x.column_of()
    return np.bincount(at, values, minlength=k * x.d).reshape(k, x.d)


def _spread(x: Reals | Counts, w: np.ndarray) -> np.ndarray:
    """The weight of each (stored) cell."""
    return w[:, None] if isinstance(x, Reals) else w[x.row_of()]


def _seen(x: Reals | Counts, v: np.ndarray, y: np.ndarray, w: np.ndarray, k: int) -> np.ndarray:
    """n (k,), or (k, d) where cells are missing."""
    n = np.bincount(y, w, minlength=k)
    gone = np.isnan(v)
    return n[:, None] - _cells(x, gone * _spread(x, w), y, k) if gone.any() else n


def sums(x: Reals | Counts, y, w, k: int, above: float | None = None) -> Sums:
    """total[c, j] = Σ w[i] x[i, j] over the rows i of class c."""
    v, w = _values(x, above), _weights(y, w)
    return Sums(_seen(x, v, y, w, k), _cells(x, np.where(np.isnan(v), 0.0, v) * _spread(x, w), y, k))


def moments(x: Reals | Counts, y, w, k: int) -> Moments:
    """mean[c, j] and Σ w (x − mean)² over the rows of class c. Cells that a sparse row does not store are 0."""
    v, w = _values(x, None), _weights(y, w)
    n = _seen(x, v, y, w, k)
    columns = n[:, None] if n.ndim == 1 else n
    here = ~np.isnan(v)
    weight = here * _spread(x, w)
    v = np.where(here, v, 0.0)
    stored = _cells(x, weight, y, k) if isinstance(x, Counts) else np.broadcast_to(columns, (k, x.d))
    mean = over(_cells(x, v * weight, y, k), stored)
    centre = mean[y] if isinstance(x, Reals) else mean[y[x.row_of()], x.column_of()]
    m2 = _cells(x, weight * (v - centre) ** 2, y, k)
    zeros = columns - stored
    share = over(zeros, np.broadcast_to(columns, stored.shape))
    return Moments(n, mean - mean * share, m2 + mean**2 * (stored * share))


def scatter(x: Reals, y, w, k: int, pooled: bool = False) -> Scatter:
    """mean[c] and Σ w (x − mean)(x − mean)ᵀ over the rows of class c, or over all rows where pooled."""
    v, w = _values(x, None), _weights(y, w)
    mean = np.zeros((k, x.d))
    matrices = np.zeros((1 if pooled else k, x.d, x.d))
    for c in range(k):
        rows = np.flatnonzero((y == c) & (w > 0))
        if len(rows):
            weight = w[rows, None]
            reference = v[rows[0]]
            mean[c] = reference + ((v[rows] - reference) * weight).sum(0) / weight.sum()
            centred = v[rows] - mean[c]
            matrices[0 if pooled else c] += (centred * weight).T @ centred
    return Scatter(_class_weights(y, w, k), mean, matrices, pooled)


def quartic(x: Reals, y, w, k: int) -> Quartic:
    """The scatter of each class with its mixed fourth moments."""
    v, w = _values(x, None), _weights(y, w)
    first = scatter(x, y, w, k)
    p21, p22 = np.zeros_like(first.scatter), np.zeros_like(first.scatter)
    for c in range(k):
        centred = v[y == c] - first.mean[c]
        square = centred**2
        weighed = square * w[y == c, None]
        p21[c], p22[c] = weighed.T @ centred, weighed.T @ square
    return Quartic(first.n, first.mean, first.scatter, p21, p22)


def crosstab(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Crosstab:
    """table[c, level of column j] = Σ w over the rows of class c with that level; negative codes count for nothing."""
    seen = x.values.max(axis=0, initial=-1) + 1
    levels = np.asarray(seen if levels is None else np.maximum(seen, levels), dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(levels)])
    table = np.zeros((k, offset[-1]))
    rows, columns = np.nonzero(x.values >= 0)
    np.add.at(table, (y[rows], offset[columns] + x.values[rows, columns]), _weights(y, w)[rows])
    return Crosstab(_class_weights(y, w, k), table, levels)


def pairs(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Pairs:
    """A crosstab, and for columns i < j the counts of rows with level a of i and b of j: of codes a · levels[j] + b."""
    alone = crosstab(x, y, w, k, levels)
    layout = Layout.of(alone.levels)
    both = list(zip(layout.first.tolist(), layout.second.tolist(), strict=True))
    together = crosstab(x.pairs(both, alone.levels), y, w, k, np.diff(layout.start))
    return Pairs(alone.n, alone.table, alone.levels, together.table)


def affine(x: Reals | Counts, coef, bias, share=None, above: float | None = None, strict=False) -> np.ndarray:
    """bias[c] + Σ_j coef[c, j] x[i, j]. A missing cell adds nothing and takes back share[c, j], its part of the bias;
    where `strict`, it makes its row NaN."""
    v = _values(x, above)
    gone = np.isnan(v) & (not strict)
    v = np.where(gone, 0.0, v)
    if isinstance(x, Reals):
        out = v @ coef.T + bias
        return out if share is None or not gone.any() else out - gone @ share.T
    out = np.tile(bias, (x.n, 1)).astype(np.float64)
    cell = v[:, None] * coef.T[x.column_of()]
    if share is not None:
        cell -= gone[:, None] * share.T[x.column_of()]
    np.add.at(out, x.row_of(), cell)
    return out


def quadratic_diagonal(x: Reals | Counts, mean, scale, bias, share) -> np.ndarray:
    """bias[c] − ½ Σ_j ((x[i, j] − mean[c, j]) scale[c, j])². A missing cell takes back its share[c, j]."""
    if isinstance(x, Counts):
        dense, far, x, near = split_far(x, mean * scale)
        bias = quadratic_diagonal(dense, mean[:, far], scale[:, far], bias, share[:, far]) if len(far) else bias
        mean, scale, share = mean[:, near], scale[:, near], share[:, near]
        origin = -0.5 * (mean * scale) ** 2  # what a zero adds; stored cells change it
        row, column = x.row_of(), x.column_of()
        z = (_values(x, None)[:, None] - mean.T[column]) * scale.T[column]
        change = np.where(np.isnan(z), -share.T[column], -0.5 * z**2) - origin.T[column]
        out = np.zeros((x.n, len(mean))) + bias + origin.sum(1)
        np.add.at(out, row, change)
        return out
    z = (_values(x, None)[:, None, :] - mean) * scale
    return bias + np.where(np.isnan(z), -share, -0.5 * z**2).sum(axis=2)


def split_far(x: Counts, white: np.ndarray) -> tuple[Reals, np.ndarray, Counts, np.ndarray]:
    """(dense columns, their numbers, the others as they are, their numbers). A column whose mean is many deviations
    from 0 loses digits where zeros are scored first and corrected after; such columns are few in sparse data."""
    distant = (white**2 > 1e4).any(axis=0)
    far, near = np.flatnonzero(distant), np.flatnonzero(~distant)
    if len(far) == 0:
        return Reals(np.zeros((x.n, 0))), far, x, near
    rows = csr_array((x.stored, x.column_of(), x.indptr - x.indptr[0]), shape=(x.n, x.d))
    rest = rows[:, near]
    return Reals(rows[:, far].toarray()), far, Counts(rest.indptr, rest.indices, rest.data, len(near)), near


def quadratic_full(x: Reals, mean, white, bias) -> np.ndarray:
    """bias[c] − ½ |white[c] (x[i] − mean[c])|²."""
    v = _values(x, None)
    out = np.empty((x.n, len(mean)))
    for c in range(len(mean)):
        z = (v - mean[c]) @ white[c].T
        out[:, c] = bias[c] - 0.5 * np.einsum("ij,ij->i", z, z)
    return out


def lookup(x: Codes, offset, table, bias) -> np.ndarray:
    """bias[c] + Σ_j table[c, offset[j] + x[i, j]]; missing and unseen codes add nothing."""
    out = np.tile(bias, (x.n, 1)).astype(np.float64)
    for j in range(x.d):
        code = x.values[:, j]
        known = (code >= 0) & (code < offset[j + 1] - offset[j])
        out[known] += table.T[offset[j] + code[known]]
    return out


def posterior(scores: np.ndarray, logs: bool) -> np.ndarray:
    """e^score over its sum in each row, or the log of that."""
    top = scores.max(axis=1, keepdims=True)
    e = np.exp(scores - top)
    total = e.sum(axis=1, keepdims=True)
    return scores - top - np.log(total) if logs else e / total


def in_rows(x: Reals) -> Reals:
    """The same cells, those of a row side by side."""
    return Reals(np.ascontiguousarray(x.values))


def least(x: Plain) -> float:
    """The smallest (stored) number, 0 if that is more; NaN never is."""
    values = x.stored if isinstance(x, Counts) else x.values
    return float(np.fmin.reduce(values, axis=None, initial=0))


def largest(values: np.ndarray) -> float:
    """The largest |number|, 0 if there is none; NaN never is."""
    return float(max(np.fmax.reduce(values, initial=0.0), -np.fmin.reduce(values, initial=0.0)))


def supervised_cuts(counts: np.ndarray) -> list[int]:
    """Cut before these of the m ordered values, from their counts by class (k, m), by Fayyad and Irani (1993)."""
    below = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    cuts: list[int] = []
    open_parts = [(0, counts.shape[1])]
    while open_parts:
        start, stop = open_parts.pop()
        cut = _best_cut(below[:, start : stop + 1])
        if cut is not None:
            cuts.append(start + cut)
            open_parts += [(start, start + cut), (start + cut, stop)]
    return sorted(cuts)


def _best_cut(below: np.ndarray) -> int | None:
    """The cut of one part that gains most, if it pays. `below` (k, m + 1): counts under each border."""
    if below.shape[1] < 3:
        return None
    left = below[:, 1:-1] - below[:, :1]
    whole = below[:, -1] - below[:, 0]
    total = float(whole.sum())
    both = np.stack([left, whole[:, None] - left])
    sizes = both.sum(axis=1)  # (2, m − 1)
    each = xlogy(sizes, sizes) - xlogy(both, both).sum(axis=1)  # N · H of either side, in nats
    at = int(np.argmin(each[0] + each[1]))
    n1, n2 = sizes[:, at].tolist()
    if total <= 2 or n1 <= 0 or n2 <= 0:
        return None
    bits = (total * log(total) - float(xlogy(whole, whole).sum())) / log(2.0)
    bits1, bits2 = (each[:, at] / log(2.0)).tolist()
    c, c1, c2 = (int(np.count_nonzero(part > 0)) for part in (whole, both[0, :, at], both[1, :, at]))
    power = c * log2(3.0) if c > 30 else log2(3.0**c - 2.0)
    price = power - (c * bits / total - c1 * bits1 / n1 - c2 * bits2 / n2)
    return at + 1 if bits - bits1 - bits2 > log2(max(total - 1, 1.0)) + price else None
