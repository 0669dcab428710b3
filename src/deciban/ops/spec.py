"""The definition of the operations in NumPy. `ops` runs the compiled versions where they exist.

Blocks in (`Reals`, `Counts`, `Codes`), class codes y (n,), weights w (n,) or None, k classes; tallies or (n, k) out.

The definition of the operations of `ops.cells`.

The definition of logistic and softmax loss (`ops.logistic`).

Rows x, class codes y (n,), weights w (n,) or None, parameters coef (m, p): one margin (m = 1) for two classes, else one
score for each class. Where p = d + 1, the column after the last of x is 1: the intercept.

    m = 1:  loss = Σ w log(1 + e^−sz), s = ±1          curvature = w P(1) P(0)
    m ≥ 2:  loss = Σ w (log Σ_c e^z_c − z_y)           curvature[a, b] = w (p_a [a = b] − p_a p_b)

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> x, y = Reals(np.array([[0.0], [0.0]])), np.array([0, 1], dtype=np.int32)
>>> bool(slope(x, y, None, np.zeros((1, 2)))[0] == 2 * np.log(2))
True

The definition of the leave-one-out operations; `ops.leave_one_out` runs the compiled versions.

The definition of row digests (`ops.digests`): out[i] += Σ_j key(x[i, j]) · factor[j], modulo 2^64.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, log2

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, xlogy

from deciban.data.blocks import Codes, Counts, Plain, Reals
from deciban.data.support import outside
from deciban.tallies import CentredScatter, Crosstab, ExactSums, GridCounts, Moments, Pairs, Quartic, Sums
from deciban.tallies.basic import divide
from deciban.tallies.crosstab import Layout
from deciban.tallies.exact import Chunks
from deciban.tallies.exact_tables import ExactTable, sum_of_weights, weight_by_class
from deciban.tallies.grid import MISSING, cell_of


def _weights(y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return np.ones(len(y)) if w is None else w


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
    missing = np.isnan(v)
    return n[:, None] - _cells(x, missing * _spread(x, w), y, k) if missing.any() else n


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
    mean = divide(_cells(x, v * weight, y, k), stored)
    centre = mean[y] if isinstance(x, Reals) else mean[y[x.row_of()], x.column_of()]
    m2 = _cells(x, weight * (v - centre) ** 2, y, k)
    zeros = columns - stored
    share = divide(zeros, np.broadcast_to(columns, stored.shape))
    return Moments(n, mean - mean * share, m2 + mean**2 * (stored * share))


def exact_sums(
    x: Reals | Counts, y, w, k: int, above: float | None = None, squares: bool = False
) -> tuple[ExactSums, ...]:
    """(n, Σ w x) or (n, Σ w x, Σ w x²) of the rows of each class without rounding, the weights being the doubles that
    they are; of [x > above] where that is given. n is (k, 1), or (k, d) where cells are missing. Where a cell is
    infinite, or a weight is not finite, no sum is `finite`."""
    finite = True
    if w is not None:
        some = np.flatnonzero(np.isfinite(w) & (w != 0))
        x, y, w, finite = x.take(some), y[some], w[some], bool(np.isfinite(w).all())
    v = _values(x, above)
    here = np.isfinite(v)
    finite &= not np.isinf(v).any()
    row, column = np.nonzero(here) if isinstance(x, Reals) else (x.row_of()[here], x.column_of()[here])
    cell = y[row].astype(np.int64) * x.d + column
    terms = [_integers(v[here])]
    weight = [] if w is None else [_integers(w[row])]
    n = _exact(k, 1, y.astype(np.int64), [] if w is None else [_integers(w)])
    if np.isnan(v).any():
        if isinstance(x, Reals):
            n = _exact(k, x.d, cell, weight)
        else:
            gap = np.isnan(v)
            at = y[x.row_of()[gap]].astype(np.int64) * x.d + x.column_of()[gap]
            n = n.spread(x.d) - _exact(k, x.d, at, [] if w is None else [_integers(w[x.row_of()[gap]])])
    powers = (1, 2) if squares else (1,)
    out = [n, *(_exact(k, x.d, cell, weight + terms * power) for power in powers)]
    return tuple(replace(one, finite=finite) for one in out)


def exact_products(x: Reals, y, w, k: int) -> ExactSums:
    """Σ w x_i x_j of columns i ≤ j, row after row (k, d (d + 1) / 2), without rounding. Where a cell or weight is not
    finite, no sum is."""
    v, w = _values(x, None), _weights(y, w)
    some = np.isfinite(v).all(axis=1) & np.isfinite(w)
    finite, some = bool((some | (w == 0)).all()), some & (w != 0)
    i, j = np.triu_indices(x.d)
    out = ExactSums.zeros(k, len(i))
    for rows in np.array_split(np.flatnonzero(some), 1 + x.n * len(i) // _TERMS):
        cell = y[rows, None].astype(np.int64) * len(i) + np.arange(len(i))
        terms = v[rows][:, i], v[rows][:, j], np.repeat(w[rows, None], len(i), axis=1)
        out = out + _exact(k, len(i), cell.ravel(), [_integers(part.ravel()) for part in terms])
    return replace(out, finite=finite)


_TERMS = 1 << 20  # products that are formed at once
_DIGIT = 18  # bits: a product of three is below 2^62


def _integers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Doubles as (digits (3, n) of 18 bits with the double's sign, power): Σ_i digits[i] · 2^(18 i + power)."""
    m, e = np.frexp(values)
    m = np.ldexp(m, 53).astype(np.int64)
    digits = [(np.abs(m) >> (_DIGIT * i)) & ((1 << _DIGIT) - 1) for i in range(3)]
    return np.sign(m) * np.stack(digits), e.astype(np.int64) - 53


def _exact(k: int, d: int, cell: np.ndarray, factors: Sequence[tuple[np.ndarray, np.ndarray]]) -> ExactSums:
    """Σ of the products of some doubles by cell of a table (k, d); of no doubles: how many there are."""
    chunks = Chunks(k, d)
    for digits in itertools.product(range(3), repeat=len(factors)):
        value, power = np.ones(len(cell), dtype=np.int64), np.full(len(cell), _DIGIT * sum(digits))
        for i, (own, own_power) in zip(digits, factors, strict=True):
            value, power = value * own[i], power + own_power
        chunks.add(cell, value, power)
    return chunks.total()


def scatter(x: Reals, y, w, k: int, pooled: bool = False) -> CentredScatter:
    """mean[c] and Σ w (x − mean)(x − mean)ᵀ over the rows of class c, or over all rows where pooled."""
    v, w = _values(x, None), _weights(y, w)
    matrices = np.zeros((1 if pooled else k, x.d, x.d))
    for c in range(k):
        rows = np.flatnonzero((y == c) & (w > 0))
        if len(rows):
            weight = w[rows, None]
            near = v[rows] - v[rows[0]]
            centred = near - (near * weight).sum(0) / weight.sum()
            matrices[0 if pooled else c] += (centred * weight).T @ centred
    sums = exact_sums(x, y, w, k)[1]
    return CentredScatter(weight_by_class(y, w, k), sums, matrices, np.zeros_like(matrices), pooled)


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
    return Quartic(first.weight, first.mean, first.scatter, p21, p22)


def crosstab(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Crosstab:
    """table[c, level of column j] = Σ w over the rows of class c with that level; negative codes count for nothing."""
    seen = x.values.max(axis=0, initial=-1) + 1
    levels = np.asarray(seen if levels is None else np.maximum(seen, levels), dtype=np.int64)
    offset = np.concatenate([[0], np.cumsum(levels)])
    rows, columns = np.nonzero(x.values >= 0)

    def count(part: np.ndarray | None) -> np.ndarray:
        table = np.zeros((k, offset[-1]))
        np.add.at(table, (y[rows], offset[columns] + x.values[rows, columns]), _weights(y, part)[rows])
        return table

    return Crosstab(weight_by_class(y, w, k), sum_of_weights(w, count), levels)


def pairs(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Pairs:
    """A crosstab, and for columns i < j the counts of rows with level a of i and b of j: of codes a · levels[j] + b."""
    alone = crosstab(x, y, w, k, levels)
    layout = Layout.of(alone.levels)
    both = list(zip(layout.first.tolist(), layout.second.tolist(), strict=True))
    together = crosstab(x.pairs(both, alone.levels), y, w, k, np.diff(layout.start))
    return Pairs(alone.weight, alone.counts, alone.levels, together.counts)


def joint_evidence(n: np.ndarray, alone: np.ndarray, size: int, most: float) -> np.ndarray:
    """Evidence (…, k, cells) of the cells of a table of `size` columns, from counts n and the product of the columns'
    own P(level | class): log P(cell | class) less the log of that product, which 2 (size − 1) rows of a prior shrink
    to 0. Of one column: log P(level | class). At most `most` nats, less the mean over the classes."""
    if size == 1:
        out = np.log(alone)
    else:
        m = 2.0 * (size - 1)
        out = np.log((n / alone + m) / (n.sum(axis=-1, keepdims=True) + m))
    out = np.clip(out, -most, most)
    return out - out.mean(axis=-2, keepdims=True)


def table_gains(x: Codes, y, fold, w, mass, p, offset, theta, sets: Sequence[Sequence[int]], most: float) -> np.ndarray:
    """(slope, curvature) of the log likelihood of rows with P(class) p (n, k) at weight 0 of the evidence of each set
    of columns, (sets, 2). Rows weigh w in counts and mass in the likelihood. They are in folds; their evidence comes
    from the counts of the other folds, and from theta (folds, all levels, k), P(level | class) of each column by the
    other folds."""
    k, folds, out = p.shape[1], len(theta), np.zeros((len(sets), 2))
    levels = np.diff(offset)
    for s, own in enumerate(sets):
        codes = np.asarray(x.values)[:, list(own)]
        here = np.flatnonzero(((codes >= 0) & (codes < levels[list(own)])).all(axis=1))
        shape = tuple(levels[list(own)].tolist())
        cell, cells = np.ravel_multi_index(tuple(codes[here].T), shape), int(np.prod(shape))
        n = np.bincount((fold[here] * k + y[here]) * cells + cell, w[here], minlength=folds * k * cells)
        n = n.reshape(folds, k, cells)
        at = np.unravel_index(np.arange(cells), shape)
        each = [theta[:, offset[j] + i].transpose(0, 2, 1) for j, i in zip(own, at, strict=True)]
        table = joint_evidence(np.maximum(n.sum(axis=0) - n, 0.0), np.prod(each, axis=0), len(own), most)
        g = table[fold[here], :, cell]
        mean = (p[here] * g).sum(axis=1)
        v = mass[here]
        out[s] = v @ (g[np.arange(len(g)), y[here]] - mean), v @ ((p[here] * g * g).sum(axis=1) - mean**2)
    return out


def affine(x: Reals | Counts, coef, bias, share=None, above: float | None = None, strict=False) -> np.ndarray:
    """bias[c] + Σ_j coef[c, j] x[i, j]. A missing cell adds nothing and takes back share[c, j], its part of the bias;
    where `strict`, it makes its row NaN."""
    v = _values(x, above)
    missing = np.isnan(v) & (not strict)
    v = np.where(missing, 0.0, v)
    if isinstance(x, Reals):
        out = v @ coef.T + bias
        return out if share is None or not missing.any() else out - missing @ share.T
    out = np.tile(bias, (x.n, 1)).astype(np.float64)
    cell = v[:, None] * coef.T[x.column_of()]
    if share is not None:
        cell -= missing[:, None] * share.T[x.column_of()]
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


def all_finite(a: np.ndarray) -> bool:
    """Whether all of a is finite."""
    return bool(np.isfinite(a).all())


def supervised_cuts(counts: np.ndarray) -> np.ndarray:
    """Whether a cut precedes each of the m ordered values of t tables, (t, m), from their counts by class (t, k, m), by
    Fayyad and Irani (1993)."""
    first = np.zeros(counts.shape[::2], dtype=bool)
    for table, own in zip(counts, first, strict=True):
        own[_cuts(table)] = True
    return first


def _cuts(counts: np.ndarray) -> list[int]:
    """The values of one table (k, m) that a cut precedes."""
    below = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(counts, axis=1)], axis=1)
    cuts: list[int] = []
    open_parts = [(0, counts.shape[1])]
    while open_parts:
        start, stop = open_parts.pop()
        cut = _best_cut(below[:, start : stop + 1])
        if cut is not None:
            cuts.append(start + cut)
            open_parts += [(start, start + cut), (start + cut, stop)]
    return cuts


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


def has_leading_zeros(text: bytes, delimiter: str) -> bool:
    """Whether a cell begins with 0 and another digit (or x), a sign aside. A cell begins after a delimiter, a line end,
    a quote or a blank, so that a cell of several words may be found, too."""
    begins = rb'(?:^|[\n\r" \t' + re.escape(delimiter.encode()) + rb"])"
    return re.search(begins + rb"[-+]?0[0-9xX]", text) is not None


@dataclass(frozen=True)
class Shared:
    """What several families want of the same cells."""

    moments: Moments
    log_moments: Moments  # of the logarithms of positive numbers
    whole: Sums  # of whole numbers ≥ 0
    cells: GridCounts
    wrong: Mapping[str, ExactTable]  # (k, d), by support: the weight of the cells that are outside of it


@dataclass(frozen=True)
class Rows:
    """The keys of rows, by class."""

    keys: np.ndarray  # (d, n) int32
    bounds: np.ndarray  # (k, 2): where the rows of each class start and stop
    w: np.ndarray | None = None  # (n,)

    def relabel(self, index: np.ndarray, k: int) -> Rows:
        bounds = np.zeros((k, 2), dtype=np.int64)
        bounds[index] = self.bounds
        return Rows(self.keys, bounds, self.w)


def shared(x: Reals, y, w, k: int) -> Shared:
    """Each for itself; a cell that is not in a tally's support is missing there."""
    within = {support: inside(x, support) for support in ("positive", "count")}
    wrong = {support: exact_sums(outside_of(x, support), y, w, k)[1] for support in within}
    return Shared(
        Moments(*exact_sums(x, y, w, k, squares=True)),
        Moments(*exact_sums(logs(within["positive"]), y, w, k, squares=True)),
        Sums(*exact_sums(within["count"], y, w, k)),
        cells(x, y, w, k),
        wrong,
    )


def logs(x: Reals | Counts) -> Reals:
    """log of each cell, NaN where there is none, in steps that IEEE 754 rounds alike on every machine.

    With x = 2^e (1 + f), 1 + f within √½ and √2, and s = f / (2 + f): log(1 + f) = 2 (s + s³ / 3 + s⁵ / 5 + …).
    """
    cells = np.asarray(x.dense(), dtype=np.float64)
    out = np.empty(cells.shape)
    flat, found = cells.reshape(-1), out.reshape(-1)
    for start in range(0, cells.size, LOGS):
        found[start : start + LOGS] = _logs(flat[start : start + LOGS])
    return Reals(out)


LOGS = 1 << 14  # at a time
TERMS = [2.0 / (2 * j + 1) for j in range(11, 0, -1)]  # of the series in s²
LN2 = 0.6931471803691238, 1.9082149292705877e-10  # the first has so few bits that e times it is exact


def _logs(x: np.ndarray) -> np.ndarray:
    fraction, e = np.frexp(np.where((x > 0) & (x < np.inf), x, 1.0))
    low = fraction < np.sqrt(0.5)
    f = np.where(low, 2.0 * fraction, fraction) - 1.0
    e = (e - low).astype(np.float64)
    s = f / (2.0 + f)
    z = s * s
    rest = np.zeros_like(z)
    for term in TERMS:
        rest = (rest + term) * z
    half = 0.5 * f * f
    out = e * LN2[0] - ((half - (s * (half + rest) + e * LN2[1])) - f)
    out[x == np.inf] = np.inf
    out[~(x > 0)] = np.nan
    return out


def outside_of(x: Reals, support: str) -> Reals:
    """1 for each cell that is outside of a support, else 0."""
    return Reals(outside(x.dense(), support).astype(np.float64))


def inside(x: Reals, support: str) -> Reals:
    """The cells of a support; the others are missing."""
    values = x.dense()
    return Reals(np.where(outside(values, support), np.nan, values))


def cells(x: Reals, y, w, k: int) -> GridCounts:
    out = counted(GridCounts.none(k, x.d), [by_class(x, y, w, k)])
    return replace(out, weight=weight_by_class(y, w, k))


def by_class(x: Reals, y, w, k: int) -> Rows:
    """The rows' keys, by class."""
    order = np.argsort(y, kind="stable")
    values = x.dense()[order].T
    keys = np.where(np.isnan(values), MISSING, cell_of(values)).astype(np.int32)
    start = np.searchsorted(y[order], np.arange(k + 1)).astype(np.int64)
    return Rows(keys, np.stack([start[:-1], start[1:]], axis=1), None if w is None else w[order])


def counted(known: GridCounts, rows: Sequence[Rows]) -> GridCounts:
    """What is known, and some rows, of each column and class."""
    lists = [_in_order(part) for part in rows]
    plain = [(keys, y) for keys, y, w in lists if w is None]  # counted together: whole numbers add up in any order
    joined = [(np.hstack([keys for keys, _ in plain]), np.concatenate([y for _, y in plain]), None)] if plain else []
    out = known
    for keys, y, w in joined + [weighed for weighed in lists if weighed[2] is not None]:
        out = out + GridCounts.of_keys(np.zeros(known.k), keys, y, w)
    return GridCounts(known.weight, out.keys, out.counts)


def _in_order(part: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(keys, classes, weights) of the rows of each class in turn."""
    y = np.repeat(np.arange(len(part.bounds)), np.diff(part.bounds, axis=1).ravel())
    order = np.concatenate([np.arange(a, b) for a, b in part.bounds] or [np.zeros(0, dtype=np.int64)])
    return part.keys[:, order], y, None if part.w is None else part.w[order]


def design_cells(x: Reals | Counts, p: int):
    """(n, p): x, and 1 where there is an intercept; sparse where x is."""
    if isinstance(x, Reals):
        return np.hstack([x.dense(), np.ones((x.n, p - x.d))])
    start, width = x.indptr[0], p - x.d
    row = np.concatenate([x.row_of(), np.repeat(np.arange(x.n), width)])
    column = np.concatenate([x.column_of(), np.full(x.n * width, x.d)])
    stored = np.concatenate([np.asarray(x.values[start : x.indptr[-1]], dtype=np.float64), np.ones(x.n * width)])
    return csr_array((stored, (row, column)), shape=(x.n, p))


def weights(w: np.ndarray | None, n: int) -> np.ndarray:
    return np.ones(n) if w is None else w


def probabilities(x: Reals | Counts, coef: np.ndarray) -> np.ndarray:
    """P(class 1) (n, 1) where m = 1, else P(class) (n, m)."""
    z = design_cells(x, coef.shape[1]) @ coef.T
    if len(coef) == 1:
        return np.exp(-np.logaddexp(0.0, -z))
    return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))


def slope(x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray) -> tuple[float, np.ndarray]:
    """(loss, gradient (m, p))."""
    a, w = design_cells(x, coef.shape[1]), weights(w, x.n)
    z = a @ coef.T
    if len(coef) == 1:
        side = np.where(y > 0, 1.0, -1.0)
        loss = w @ np.logaddexp(0.0, -side * z[:, 0])
        rest = -(w * side * np.exp(-np.logaddexp(0.0, side * z[:, 0])))[:, None]
    else:
        log_sum = np.logaddexp.reduce(z, axis=1)
        loss = w @ (log_sum - z[np.arange(x.n), y])
        rest = w[:, None] * (np.exp(z - log_sum[:, None]) - np.eye(len(coef))[y])
    return float(loss), np.asarray((a.T @ rest).T)


def product(x: Reals | Counts, w: np.ndarray | None, coef: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The Hessian times v, (m, p)."""
    a, prob = design_cells(x, coef.shape[1]), probabilities(x, coef)
    turn = a @ v.T
    turn = (1.0 - prob) * turn if len(coef) == 1 else turn - (prob * turn).sum(axis=1, keepdims=True)
    return np.asarray((a.T @ (weights(w, x.n)[:, None] * prob * turn)).T)


def diagonal(
    x: Reals | Counts, y: np.ndarray, w: np.ndarray | None, coef: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """(loss, gradient, Σ curvature[c, c] x, Σ curvature[c, c] x²), (m, p) each: the last is the Hessian's diagonal."""
    a, prob = design_cells(x, coef.shape[1]), probabilities(x, coef)
    curvature = weights(w, x.n)[:, None] * prob * (1.0 - prob)
    return *slope(x, y, w, coef), np.asarray((a.T @ curvature).T), np.asarray(((a * a).T @ curvature).T)


def along(z: np.ndarray, turn: np.ndarray, y: np.ndarray, w: np.ndarray | None) -> tuple[float, float]:
    """The loss's first and second derivative where margins z (n, m) go on by `turn`."""
    w = weights(w, len(z))
    if z.shape[1] == 1:
        prob, u = expit(z[:, 0]), turn[:, 0]
        return float(w @ ((prob - (y > 0)) * u)), float(w @ (prob * (1.0 - prob) * u**2))
    prob = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    mean = (prob * turn).sum(axis=1)
    spread = (prob * turn**2).sum(axis=1) - mean**2
    return float(w @ (mean - turn[np.arange(len(z)), y])), float(w @ spread)


def blocks(x: Reals | Counts, w: np.ndarray | None, coef: np.ndarray) -> np.ndarray:
    """The Hessian's blocks of classes a ≤ b, each symmetric, (m (m + 1) / 2, p, p)."""
    m, p = coef.shape
    a, prob, w = design_cells(x, p), probabilities(x, coef), weights(w, x.n)
    out = np.empty((m * (m + 1) // 2, p, p))
    for at, (one, two) in enumerate(zip(*np.triu_indices(m), strict=True)):
        out[at] = _gram(a, w * prob[:, one] * (1.0 - prob[:, one] if one == two else -prob[:, two]))
    return out


def _gram(a, share: np.ndarray) -> np.ndarray:
    if not isinstance(a, np.ndarray):
        return np.asarray((a.multiply(share[:, None]).T @ a).todense())
    half = a * np.sqrt(np.abs(share))[:, None]
    return half.T @ half if share.sum() >= 0 else -(half.T @ half)  # all shares have one sign


def lasso_descent(h, g, w, lasso, tol: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(d, H d) of least g·d + ½ dᵀHd + Σ lasso |w + d|, one coordinate at a time."""
    d, turn = np.zeros_like(g), np.zeros_like(g)
    for _ in range(most):
        gained = 0.0
        for j in np.flatnonzero(h.diagonal() > 0):
            aim, edge = w[j] + d[j] - (g[j] + turn[j]) / h[j, j], lasso[j] / h[j, j]
            step = np.sign(aim) * max(abs(aim) - edge, 0.0) - w[j] - d[j]
            d[j] += step
            turn += step * h[j]
            gained = max(gained, h[j, j] * step**2)
        if gained <= tol:
            break
    return d, turn


def lasso_columns(x, q, share, g, w, lasso, ridge, order, least: float, most: int) -> tuple[np.ndarray, float]:
    """(d, dᵀHd) of least g·d + ½ dᵀHd + Σ lasso |w + d| over the parameters in `order`, one at a time, until a round's
    largest gain is `least` of the first one's. x is CSC (n, p); H = Σ q (1 − share) … as `loss_ops` says."""
    d, u, mean, p = np.zeros_like(g), np.zeros(q.shape), np.zeros(q.shape[1]), x.shape[1]
    enough = 0.0
    for done in range(most):
        gained = 0.0
        for at in order:
            c, j = divmod(int(at), p)
            cut = slice(x.indptr[j], x.indptr[j + 1])
            i, v = x.indices[cut], x.data[cut]
            curve = float(q[c, i] * (1.0 - share[c, i]) @ v**2) + ridge[j]
            if not curve > 0:
                continue
            aim = w[at] + d[at] - (g[at] + ridge[j] * d[at] + (q[c, i] * v) @ (u[c, i] - mean[i])) / curve
            step = np.sign(aim) * max(abs(aim) - lasso[j] / curve, 0.0) - w[at] - d[at]
            d[at] += step
            u[c, i] += step * v
            mean[i] += share[c, i] * step * v
            gained = max(gained, curve * step**2)
        enough = least * gained if done == 0 else enough
        if gained <= enough:
            break
    return d, float((q * u * (u - mean)).sum() + np.tile(ridge, len(q)) @ d**2)


def online(
    x: Reals, y, w, speed: float, decay: np.ndarray, coef: np.ndarray, mean: np.ndarray, past: np.ndarray
) -> None:
    """coef ← coef + rate (w (y − p) x − decay coef) row by row, `mean` weighs row t by t;
    rate = speed / (mean |x|² (1 + rows / 1000)^⅓)."""
    a, w = design_cells(x, coef.shape[1]), weights(w, x.n)
    for i in range(x.n):
        past += 1.0, a[i] @ a[i]
        rate = speed * past[0] / (past[1] * np.cbrt(1.0 + 1e-3 * past[0])) if past[1] > 0 else 0.0
        prob = probabilities(Reals(a[i : i + 1]), coef)[0]
        own = np.array([float(y[i] > 0)]) if len(coef) == 1 else np.eye(len(coef))[y[i]]
        coef += rate * (w[i] * np.multiply.outer(own - prob, a[i]) - decay * coef)
        mean += 2.0 / (past[0] + 1.0) * (coef - mean)


@dataclass(frozen=True)
class FisherPairs:
    """Class a of weight n against q others. In the coordinates turn[b], Σ_a + Σ_b is the identity and Σ_a diagonal."""

    n: float
    mean: np.ndarray  # (d,), of a
    turn: np.ndarray  # (q, d, d)
    part: np.ndarray  # (q, d), Σ_a in those coordinates
    apart: np.ndarray  # (q, d), mean_a − mean_b in them
    least: np.ndarray  # (q,), what must stay of the covariance along a row


@dataclass(frozen=True)
class Shrunk:
    """f covariances with p means each, in the coordinates white[f] where each is the identity."""

    mean: np.ndarray  # (d,), of the rows' class
    white: np.ndarray  # (f, d, d)
    rest: np.ndarray  # (f, d), −(the share of the base along each axis)
    t: np.ndarray  # (f, p, d), mean − means


@dataclass(frozen=True)
class Students:
    """Normal–inverse-gamma posteriors of k classes, and what of them a row of weight 1 takes along."""

    mean: np.ndarray  # (k, d)
    half: np.ndarray  # (k, d), ½ m2
    inverse: np.ndarray  # (k, d), 1 / scale, of all rows
    whole: np.ndarray  # (5, k): n / κ, κ₀ n / 2κ, κ / (2 (κ + 1)), a + ½, and the sum of log densities at the location
    left: np.ndarray  # (5, k), the same of n − 1
    moves: np.ndarray  # (3, k): 1 / (n − 1), ½ n / (n − 1), and what of a row's square the scale of the prior loses
    prior: np.ndarray  # (3, d): its mean, the mean of all rows, its scale before it loses anything
    sway: float  # how far a row moves the mean of the prior
    part: float  # what of its square about the mean of all rows the scale loses


def loo_normal(cells, y, mean, scale, bias, far, deep: float) -> np.ndarray:
    """bias − ½ (Σ log r + far Σ e / r), e = (scale (x − mean))² and r = 1 − e, of each row in its own class y; NaN
    where Π r is not above `deep`. (n,)"""
    e = ((cells - mean[y]) * scale[y]) ** 2
    rest = 1.0 - e
    with np.errstate(all="ignore"):
        product = rest.prod(axis=1)
        own = bias[y] - 0.5 * (np.log(product) + far[y] * (e / rest).sum(axis=1))
        return np.where(product > deep, own, np.nan)


def loo_pairs(cells: np.ndarray, w: np.ndarray | None, p: FisherPairs, safe: float) -> np.ndarray:
    """Log odds (q, m) of rows of class a against q others, each row left out of a."""
    weight = np.ones((1, 1)) if w is None else w[:, None]
    with np.errstate(all="ignore"):
        rest = np.where(p.n - weight > 1e-9 * p.n, p.n - weight, np.nan)
        tau, c = p.n / rest[:, 0], weight[:, 0] / rest[:, 0]
        phi, delta, out = tau * c, cells - p.mean, np.empty((len(p.part), len(cells)))
        for b, (turn, part, t) in enumerate(zip(p.turn, p.part, p.apart, strict=True)):
            z = delta @ turn.T
            beta = 1.0 / (1.0 + weight / rest * part)  # B = (τ Σ_a + Σ_b)⁻¹ in the turned coordinates
            e, h, r = (beta * z * t).sum(1), (beta * z * z).sum(1), (beta * t * t).sum(1)
            left = 1.0 - phi * h
            s = phi * (e - c * h) / left - c
            both = beta * (t + s[:, None] * z)  # the direction, B (t + s z)
            slope, own = e + s * h, (both * both * part).sum(1)
            spread_b = (both * both * (1.0 - part)).sum(1)
            dev_a, dev_b = (np.sqrt(np.maximum(a, 0.0)) for a in (tau * own - phi * slope**2, spread_b))
            between = r + s * e  # w · (mean_a − mean_b), the row still in mean_a
            odds = 2.0 * (between + slope - (between - c * slope) * dev_b / (dev_a + dev_b))
            sure = (left > p.least[b]) & (np.minimum(dev_a, dev_b) * (dev_a + dev_b) > safe * (tau * own + spread_b))
            out[b] = np.where(sure, odds, np.nan)
        return out


def loo_shared(cells: np.ndarray, y, mean, white, phi, tau) -> tuple[np.ndarray, np.ndarray]:
    """(norms (n, k), lever (n,)): |x − mean_c|² in the metric (I − φ δδᵀ) τ, δ = x − mean_y, coordinates white x."""
    norms, lever = np.empty((len(cells), len(mean))), np.empty(len(cells))
    for a in np.unique(y):
        own = y == a
        z, t = (cells[own] - mean[a]) @ white.T, (mean[a] - mean) @ white.T
        square = (z * z).sum(axis=1)
        lever[own] = 1.0 - phi[own] * square
        near = z @ t.T + square[:, None]
        moved = near * (2.0 + near * (phi[own] / lever[own])[:, None])
        norms[own] = ((t * t).sum(axis=1) - square[:, None] + moved) / tau[own, None]
    return norms, lever


def loo_shrunk(x: np.ndarray, s: Shrunk, phi, tau, removed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(norms (f, p, m), lever (f, m), det E (f, m)): |t + δ|² in the metric (E − φ δδᵀ) τ, E = 1 + rest · removed."""
    u = s.white @ (x - s.mean).T  # (f, d, m)
    e = 1.0 + s.rest[:, :, None] * removed[:, None]
    uu = (u * u / e).sum(axis=1)
    lever = 1.0 - phi * uu
    near = s.t @ (u / e) + uu[:, None]
    norms = (s.t * s.t) @ (1.0 / e) - uu[:, None] + near * (2.0 + near * (phi / lever)[:, None])
    return norms / tau[:, None], lever, e.prod(axis=1)


def loo_students(cells: np.ndarray, y: np.ndarray, s: Students, deep: float) -> np.ndarray:
    """Log densities (n, k) of rows under each class, the row out of its own class y and out of the prior."""
    rows = np.arange(len(cells))
    away, step, drop, share = cells - s.mean[y], *s.moves[:, y, None]
    prior, every, base = s.prior
    m = prior - s.sway * (cells - prior)
    scale = base - share * away**2 - s.part * (cells - every) ** 2
    mean, half = s.mean[y] - step * away, s.half[y] - drop * away**2
    some = (half > deep * s.half[y]) | (s.half[y] + drop * away**2 < 1e-13 * scale)
    sure = (some & (scale > deep * base)).all(axis=1)
    out = np.empty((len(cells), len(s.mean)))
    with np.errstate(all="ignore"):
        for c in range(len(s.mean)):
            out[:, c] = _student(cells, m, scale, s.mean[c], s.half[c], s.inverse[c], s.whole[:, c])
        out[rows, y] = _student(cells, m, scale, mean, half, s.inverse[y], s.left[:, y])
    out[~(sure & np.isfinite(out).all(axis=1))] = np.nan
    return out


def _student(cells, m, prior, mean, half, inverse, weighing) -> np.ndarray:
    """Log density (n,), by the prior (m, its scale) and a class (mean, half) of each row or of all."""
    pull, bend, narrow, power, bias = (np.reshape(a, (-1, 1)) for a in weighing)
    apart = mean - m
    scale = prior + half + bend * apart**2
    far = np.log1p((cells - m - apart * pull) ** 2 * narrow / scale).sum(axis=1)
    return bias[:, 0] - power[:, 0] * far - 0.5 * np.log(scale * inverse).sum(axis=1)


def series(cells: np.ndarray, w: np.ndarray | None, coef: np.ndarray) -> np.ndarray:
    """Σ_m Σ_j coef[m − 1, c, j] x (w x)^m, m from 1. (n, k)"""
    out, power = np.zeros((len(cells), coef.shape[1])), cells
    for each in coef:
        power = power * cells if w is None else power * cells * w[:, None]
        out += power @ each.T
    return out


def digest_keys(values: np.ndarray) -> np.ndarray:
    """64 bits of each number: 0 for 0 and −0, one value for every NaN, and no two other numbers share a key."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    bits = np.where(np.isnan(values), np.uint64(0x7FF8_0000_0000_0000), np.where(values == 0, np.uint64(0), bits))
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(32))


def add_digests(x: Plain, factor: np.ndarray, out: np.ndarray) -> None:
    """Negative codes are missing cells; a cell that is 0 adds nothing, so that it need not be stored."""
    if isinstance(x, Counts):
        np.add.at(out, x.row_of(), digest_keys(x.stored) * factor[x.column_of()])
        return
    cells = np.where(x.values < 0, np.nan, x.values) if isinstance(x, Codes) else x.values
    out += digest_keys(cells) @ factor


def add_level_digests(x: Codes, tables: Sequence[np.ndarray], out: np.ndarray) -> None:
    """out[i] += Σ_j tables[j][x[i, j]]; the last entry of a table is for missing cells and codes without an entry."""
    for codes, table in zip(x.values.T, tables, strict=True):
        out += table[np.where(codes < 0, len(table) - 1, np.minimum(codes, len(table) - 1))]


def stirred(digest: np.ndarray) -> np.ndarray:
    """Every bit of the result depends on every bit, and no two digests become one (the finaliser of splitmix64)."""
    bits = (digest ^ (digest >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
