"""The operations that all families are made of. `spec` defines them in NumPy; here the compiled versions are called.

Compiled kernels run optimistically: they add NaN like any number, and only where the result is not finite is the input
looked at again for missing cells. So data without missing values pay nothing for the question.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> sums(Reals(np.array([[1.0], [2.0], [np.nan]])), np.array([0, 1, 1], dtype=np.int32), None, 2).total.tolist()
[[1.0], [2.0]]
"""

from __future__ import annotations

import importlib
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain

import numpy as np

from deciban.data.blocks import Codes, ColumnBlock, Counts, Plain, Reals, check_places, class_borders
from deciban.errors import DataError, InstructionSetError
from deciban.ops import spec
from deciban.ops.packed import Packed
from deciban.tallies import (
    CentredScatter,
    Crosstab,
    ExactScatter,
    ExactSums,
    Moments,
    Pairs,
    Quartic,
    RowScatter,
    Scatter,
    Sums,
    exact,
)
from deciban.tallies.crosstab import Layout
from deciban.tallies.exact_tables import ClassSums, ExactTable, as_doubles, canonical, sum_of_weights


def _load():
    """The compiled module, or None where none was built. It uses the best instruction set that this processor has, or
    the lower one that $DECIBAN_ISA names."""
    try:
        core = importlib.import_module("deciban._core")
    except ModuleNotFoundError:
        return None
    name, usable = os.environ.get("DECIBAN_ISA", ""), core.instruction_sets()
    if name and name not in usable:
        names = ", ".join(f"`{one}`" for one in usable)
        raise InstructionSetError(
            f"DECIBAN_ISA is `{name}`, but this processor and this build have {names}\n\n"
            f"hint: set DECIBAN_ISA to one of these, or unset it to use the best of them"
        )
    if name:
        core.use(name)
    return core


_core = exact.compiled = _load()
PARTS = 16  # of a pass over numbers whose parts are done at once
MOST_PRODUCTS = 1 << 24  # sums, of about 100 bytes each while they are made
_SMALL = 256  # columns up to which our own matrix kernels beat a call into BLAS


def core():
    """The compiled module in use, or None: then every operation runs its specification."""
    return _core


def instruction_sets() -> list[str]:
    """The instruction sets that this processor and this build have, the best one last; empty where nothing was
    compiled."""
    return [] if _core is None else _core.instruction_sets()


@contextmanager
def instruction_set(name: str) -> Iterator[None]:
    """Inside, compiled operations use this instruction set, in all threads (for tests)."""
    kept = _core.instruction_set()
    _core.use(name)
    try:
        yield
    finally:
        _core.use(kept)


@contextmanager
def specification() -> Iterator[None]:
    """Inside, every operation runs its NumPy specification (for tests; not for use across threads)."""
    global _core
    kept, _core = _core, None
    exact.compiled = None
    try:
        yield
    finally:
        _core = exact.compiled = kept


def all_finite(a: np.ndarray) -> bool:
    """Whether all of a is finite."""
    if _core is None:
        return spec.all_finite(a)
    try:
        return _core.all_finite(a)
    except TypeError:  # no doubles, or not side by side
        return spec.all_finite(a)


def _missing(x: Reals | Counts) -> bool:
    return any(bool(np.isnan(cells).any()) for cells in (x.arrays if isinstance(x, Reals) else [x.stored]))


def csr(x: Counts) -> tuple:
    """(borders, columns, values) as the kernels take them; the columns are checked once."""
    if "columns" not in x.known:
        x.known["columns"] = _core.CheckedColumns(x.indices, x.d)
    return x.indptr, x.known["columns"], x.values


def check_columns(x: Counts) -> Counts:
    """The same rows; an error for a cell outside of the columns."""
    with suppress(ValueError):
        if _core is not None:
            csr(x)
            return x
    check_places("indices", x.indices, x.d, "columns")
    return x


def in_rows(x: Reals) -> Reals:
    """The same cells, those of a row side by side."""
    if _core is None or not isinstance(x, ColumnBlock):
        return spec.in_rows(x)
    out = np.empty((x.n, x.d), dtype=x.columns[0].dtype)
    _core.in_rows(x.columns, out)
    return Reals(out)


def class_weights(y: np.ndarray, w: np.ndarray | None, k: int) -> np.ndarray:
    """Σ w of each class, (k,), rounded once."""
    return as_doubles(exact_class_weights(y, w, k))


def exact_class_weights(y: np.ndarray, w: np.ndarray | None, k: int) -> ExactTable:
    """Σ w of each class, (k,)."""
    return sum_of_weights(w, lambda part: _class_weights(y, part, k))


def _class_weights(y: np.ndarray, w: np.ndarray | None, k: int) -> np.ndarray:
    n = np.zeros(k)
    if _core is None:
        return np.bincount(y, w, minlength=k).astype(np.float64)
    _core.weights(y, w, n)
    return n


def sums(x: Reals | Counts, y, w, k: int, above: float | None = None) -> Sums:
    """Per class n and Σ w x, or Σ w [x > above]."""
    return Sums(*_with_weight(x, y, w, exact_sums(x, y, w, k, above)))


def logs(x: Reals | Counts) -> Reals:
    """log of each cell, NaN where there is none: the same bits on every machine."""
    if _core is None:
        return spec.logs(x)
    if isinstance(x, ColumnBlock):
        cells = np.stack(x.columns, dtype=np.float64)
        _core.logarithms(cells, cells)
        return ColumnBlock(list(cells))
    cells = np.array(x.dense(), order="C")
    _core.logarithms(cells, cells)
    return Reals(cells)


def moments(x: Reals | Counts, y, w, k: int) -> Moments:
    """Per class n, Σ w x and Σ w x²."""
    return Moments(*_with_weight(x, y, w, exact_sums(x, y, w, k, squares=True)))


def _with_weight(x: Reals | Counts, y, w, found: tuple[ExactSums, ...]) -> tuple[ExactTable, ...]:
    """The tables of a tally: its weight is (k,) while no cell is missing, and doubles hold it unless rows have weights
    of many bits."""
    n, *rest = found
    if n.d == x.d and (x.d > 1 or _missing(x)):
        return canonical(n), *rest
    return (exact_class_weights(y, w, n.k) if w is None or not n.finite else canonical(ClassSums(n))), *rest


def _by_class(name: str, x: Counts, y, w, extra: tuple, *out: np.ndarray) -> None:
    """Fill tables whose first axis is the class: all of them, or some classes at a time where x has parts done at once.
    A class's rows are added in their order either way, so the bits are the same."""

    def fill(classes: tuple[int, int]) -> None:
        tables = (table[slice(*classes)] for table in out)
        getattr(_core, name)(*csr(x), y, w, classes[0], *extra, *tables)

    k = len(out[0])
    deque(map(fill, [(0, k)]) if x.each is None else x.each(fill, class_borders(x, y, k)), maxlen=0)


def exact_sums(
    x: Reals | Counts, y, w, k: int, above: float | None = None, squares: bool = False
) -> tuple[ExactSums, ...]:
    """(n, Σ w x), or (n, Σ w x, Σ w x²), of each class without rounding; or of [x > above]. n is (k, 1), or (k, d)
    where cells are missing. Where a cell is infinite, or a weight is not finite, no sum is `finite`."""
    if _core is None:
        return spec.exact_sums(x, y, w, k, above, squares)
    if isinstance(x, Counts):
        return _exact_by_class(x, y, w, k, above, squares)
    return _exact(_core.exact_sums(x.held, y, w, k, above, squares), k, x.d)


def _exact(found: tuple, k: int, d: int) -> tuple[ExactSums, ...]:
    """(n, sums …) of what a kernel found: (Σ w of all rows, of missing cells, Σ w x, Σ w x² or None, whether all is
    finite)."""
    weight, missing, first, second, finite = found

    def sums(arrays: tuple, d: int) -> ExactSums:
        low, count, limbs = arrays
        return ExactSums(k, d, low, count, limbs, finite)

    n, gap = sums(weight, 1), sums(missing, d)
    n = n.spread(d) - gap if len(gap.limbs) else n
    return (n, sums(first, d)) if second is None else (n, sums(first, d), sums(second, d))


def _exact_by_class(x: Counts, y, w, k: int, above: float | None, squares: bool) -> tuple[ExactSums, ...]:
    """All classes at once, or some classes at a time where x has parts done at once."""

    def part(classes: tuple[int, int]) -> tuple[ExactSums, ...]:
        first, size = classes[0], classes[1] - classes[0]
        return _exact(_core.csr_exact_sums(*csr(x), y, w, first, size, x.d, above, squares), size, x.d)

    if x.each is None:
        return part((0, k))
    parts = list(x.each(part, class_borders(x, y, k)))
    wide = max(found[0].d for found in parts)
    n = ExactSums.stack([found[0] if found[0].d == wide else found[0].spread(wide) for found in parts])
    return n, *(ExactSums.stack(some) for some in zip(*(found[1:] for found in parts), strict=True))


def scatter(x: Reals, y, w, k: int, pooled: bool = False) -> Scatter | RowScatter:
    """Per class n, mean and scatter matrix. Rows with a missing cell are left out; few wide rows are kept as rows."""
    if x.n < x.d:
        return _complete(_rows, x, y, w, k, pooled) if _missing(x) else _rows(x, y, w, k, pooled)
    if _core is None or x.d > _SMALL:
        out = spec.scatter(x, y, w, k, pooled)
    else:
        products = np.zeros((1 if pooled else k, x.d, x.d))
        found = _core.scatter(x.held, y, w, k, products)
        if not all_finite(products) and _missing(x):
            return _complete(scatter, x, y, w, k, pooled)
        sums = _exact(found, k, x.d)[1]
        return CentredScatter(exact_class_weights(y, w, k), sums, products, np.zeros_like(products), pooled)
    if all_finite(out.scatter) or not _missing(x):
        return out
    return _complete(scatter, x, y, w, k, pooled)


def exact_scatter(x: Reals, y, w, k: int, pooled: bool = False) -> ExactScatter:
    """Per class n, Σ w x and the products of every two columns, without rounding; rows with a missing cell are left
    out."""
    if k * x.d * (x.d + 1) // 2 > MOST_PRODUCTS:
        raise DataError(
            f"exact=True keeps the products of every two of {x.d} columns for each of {k} classes, "
            f"{k * x.d * (x.d + 1) // 2:,} sums\n\nhint: leave out exact=True, or use fewer columns"
        )
    products = exact_products(x, y, w, k)
    if not products.finite and _missing(x):
        return _complete(exact_scatter, x, y, w, k, pooled)
    return ExactScatter(exact_class_weights(y, w, k), exact_sums(x, y, w, k)[1], products, pooled)


def exact_products(x: Reals, y, w, k: int) -> ExactSums:
    """Σ w x_i x_j of columns i ≤ j without rounding, row after row, (k, d (d + 1) / 2). Where a cell or weight is not
    finite, no sum is `finite`."""
    if _core is None:
        return spec.exact_products(x, y, w, k)
    (low, count, limbs), finite = _core.exact_products(x.held, y, w, k)
    return ExactSums(k, x.d * (x.d + 1) // 2, low, count, limbs, finite)


def quartic(x: Reals, y, w, k: int) -> Quartic | RowScatter:
    """Per class n, mean, scatter matrix and mixed fourth moments, of the rows without missing cells."""
    if x.n < x.d:
        return _complete(_rows, x, y, w, k, False, True) if _missing(x) else _rows(x, y, w, k, False, True)
    out = spec.quartic(x, y, w, k)
    return out if all_finite(out.p22) or not _missing(x) else _complete(quartic, x, y, w, k)


def _rows(x: Reals, y, w, k: int, pooled: bool, fourth: bool = False) -> RowScatter:
    return RowScatter.of(x.values, y, w, k, pooled, fourth)


def _complete(op, x: Reals, y, w, k: int, *more):
    """The operation on the rows that have all their cells."""
    here = np.flatnonzero(~np.isnan(x.values).any(axis=1))
    return op(x.take(here), y[here], None if w is None else w[here], k, *more)


def code_range(x: Codes) -> tuple[int, np.ndarray]:
    """(the smallest code, or 0 if that is smaller; the largest of each column, or −1), looked up once."""
    if "range" not in x.known:
        if _core is None:
            x.known["range"] = int(spec.least(x)), x.values.max(axis=0, initial=-1)
        else:
            found, top = _checked_codes(x), np.empty(x.values.shape[1], dtype=np.int64)
            found.largest(top)
            x.known["range"] = found.least, top
    return x.known["range"]


def _checked_codes(x: Codes):
    """Codes with their range, as the kernel takes them; they are looked through once."""
    if "checked" not in x.known:
        x.known["checked"] = _core.code_range(x.values)
    return x.known["checked"]


def crosstab(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Crosstab:
    """Per class how often each level of each column is there; `levels` is the least number of levels to list."""
    if _core is None:
        return spec.crosstab(x, y, w, k, levels)
    seen = code_range(x)[1] + 1
    levels = seen if levels is None else np.maximum(seen, levels)
    offset = np.concatenate([[0], np.cumsum(levels)])

    def count(part: np.ndarray | None) -> np.ndarray:
        table = np.zeros((k, offset[-1]))
        _core.crosstab(_checked_codes(x), y, part, offset, table)
        return table

    return Crosstab(exact_class_weights(y, w, k), sum_of_weights(w, count), levels)


def pairs(x: Codes, y, w, k: int, levels: np.ndarray | None = None) -> Pairs:
    """A crosstab, and per class how often every two levels of every two columns are there together."""
    if _core is None:
        return spec.pairs(x, y, w, k, levels)
    alone = crosstab(x, y, w, k, levels)
    layout = Layout.of(alone.levels)

    def count(part: np.ndarray | None) -> np.ndarray:
        table = np.zeros((k, layout.start[-1]))
        _core.pairs(x.values, y, part, alone.levels, layout.start, table)
        return table

    return Pairs(alone.weight, alone.counts, alone.levels, sum_of_weights(w, count))


def table_gains(x: Codes, y, fold, w, mass, p, offset, theta, sets: Sequence[Sequence[int]], most: float) -> np.ndarray:
    """(slope, curvature) of the log likelihood at weight 0 of the held-out evidence of each set of columns, (sets, 2);
    see `spec`."""
    if _core is None:
        return spec.table_gains(x, y, fold, w, mass, p, offset, theta, sets, most)
    out = np.zeros((len(sets), 2))
    start = np.concatenate([[0], np.cumsum([len(own) for own in sets])]).astype(np.int64)
    members = np.fromiter(chain.from_iterable(sets), dtype=np.int64, count=int(start[-1]))
    _core.table_gains(x.values, y, fold, w, mass, p, offset, theta, members, start, most, out)
    return out


def affine(
    x: Reals | Counts, coef: np.ndarray | Packed, bias, share=None, above: float | None = None, strict=False
) -> np.ndarray:
    """bias[c] + Σ_j coef[c, j] x[i, j], or of [x > above]. A missing cell takes back its share of the bias; where
    `strict`, it makes its row NaN."""
    packed = coef if type(coef) is Packed else Packed.of(coef)
    if _core is None or not packed.k or (isinstance(x, Reals) and above is None and packed.rows.size > _SMALL**2):
        return spec.affine(x, packed.table, bias, share, above, strict)
    out = np.empty((x.n, len(bias)))
    cells = (x.values,) if isinstance(x, Reals) else csr(x)
    name = ("affine" if isinstance(x, Reals) else "csr_affine") + ("" if above is None else "_above")
    getattr(_core, name)(*cells, packed.rows, bias, *(() if above is None else (above,)), out)
    return out if strict or all_finite(out) or not _missing(x) else spec.affine(x, packed.table, bias, share, above)


def quadratic_diagonal(x: Reals | Counts, mean, scale, bias, share) -> np.ndarray:
    """bias[c] − ½ Σ_j ((x[i, j] − mean[c, j]) scale[c, j])². A missing cell takes back its share of the bias."""
    if _core is None:
        return spec.quadratic_diagonal(x, mean, scale, bias, share)
    if isinstance(x, Counts):
        return _quadratic_sparse(x, mean, scale, bias, share)
    out = np.empty((x.n, len(bias)))
    _core.quadratic_diagonal(x.values, mean, scale, bias, out)
    if not all_finite(out) and _missing(x):
        _core.quadratic_missing(x.values, mean, scale, share, bias, out)
    return out


def _quadratic_sparse(x: Counts, mean, scale, bias, share) -> np.ndarray:
    """Zeros first, then the change that each stored cell makes; columns far from 0 are scored as dense ones."""
    dense, far, rest, near = spec.split_far(x, mean * scale)
    start: np.ndarray | float = 0.0
    if len(far):
        start = quadratic_diagonal(dense, mean[:, far], scale[:, far], np.zeros(len(bias)), share[:, far])
        mean, scale, share = mean[:, near], scale[:, near], share[:, near]
    a, b = Packed.of(mean * scale**2).rows, Packed.of(-0.5 * scale**2).rows
    out = np.empty((x.n, len(bias)))
    zeros = bias - 0.5 * ((mean * scale) ** 2).sum(axis=1)
    _core.csr_quadratic(*csr(rest), a, b, zeros, out)
    if not all_finite(out) and _missing(rest):
        out = spec.quadratic_diagonal(rest, mean, scale, bias, share)
    return out + start


def quadratic_full(x: Reals, mean, white, bias) -> np.ndarray:
    """bias[c] − ½ |white[c] (x[i] − mean[c])|²; the matrices are lower triangular."""
    if _core is None or x.d > _SMALL:
        return spec.quadratic_full(x, mean, white, bias)
    out = np.empty((x.n, len(bias)))
    _core.quadratic_full(x.values, mean, white, bias, out)
    return out


def lookup(x: Codes, offset, table: np.ndarray | Packed, bias) -> np.ndarray:
    """bias[c] + Σ_j table[c, offset[j] + x[i, j]]."""
    packed = table if type(table) is Packed else Packed.of(table)
    if _core is None:
        return spec.lookup(x, offset, packed.table, bias)
    out = np.empty((x.n, len(bias)))
    _core.lookup(x.values, offset, packed.rows, bias, out)
    return out


def posterior(
    scores: np.ndarray, logs: bool, prior: np.ndarray | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """e^(score + prior) over its sum in each row, or the log of that; into `out`, by default in place. A row of −∞
    alone becomes NaN."""
    prior = np.zeros(scores.shape[1]) if prior is None else prior
    out = scores if out is None else out
    if _core is None:
        with np.errstate(all="ignore"):
            out[:] = spec.posterior(scores + prior, logs)
    elif scores.flags.c_contiguous and out.flags.c_contiguous:
        _core.posterior(scores, prior, logs, out)
    else:  # the kernel goes along rows
        out[:] = posterior(np.ascontiguousarray(scores), logs, prior)
    return out


def minimum(x: Plain) -> float:
    """The smallest (stored) number, or 0 if that is smaller."""
    arrays = x.arrays if isinstance(x, Reals) else [x.stored if isinstance(x, Counts) else x.values]
    if _core is None or not all(cells.flags.forc for cells in arrays):
        return spec.least(x)
    arrays = [cells.ravel(order="K") for cells in arrays]
    if isinstance(x, Counts) and x.each is not None:
        return min(x.each(_core.least, np.array_split(arrays[0], PARTS)))
    return min(map(_core.least, arrays))


def max_abs(values: np.ndarray) -> float:
    """The largest |number| of a column, 0 if there is none; NaN never is."""
    if _core is None or values.dtype != np.float64 or not values.flags.c_contiguous:
        return spec.largest(values)
    return _core.largest(values)


def supervised_cuts(counts: np.ndarray) -> np.ndarray:
    """Whether a cut precedes each of the m ordered values of t tables, (t, m), from their counts by class (t, k, m)."""
    counts = np.ascontiguousarray(counts, dtype=np.float64)
    if _core is None:
        return spec.supervised_cuts(counts)
    first = np.zeros(counts.shape[::2], dtype=np.uint8)
    _core.supervised_cuts(counts, first)
    return first.view(bool)


def has_leading_zeros(text: bytes, delimiter: str) -> bool:
    """Whether a cell of a delimited text begins with 0 and another digit (or x), a sign aside: see `spec`."""
    if _core is None:
        return spec.has_leading_zeros(text, delimiter)
    return _core.has_leading_zeros(np.frombuffer(text, dtype=np.uint8), ord(delimiter))
