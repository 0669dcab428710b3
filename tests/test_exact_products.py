"""Exact products of columns: what they hold, against integers of Python, and that their bytes do not depend on how they
were made."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import ColumnBlock, Reals
from deciban.tallies import ExactSums
from deciban.tallies.exact import centred_products

from .support.builds import every_build, every_hard_case
from .support.strategies import examples
from .test_exact_sums import (
    DOUBLES,
    WEIGHTS,
    both,
    control_register,
    fractions,
    nearest,
    needs_control_register,
    rows_of,
    weights_of,
)


def every_form(cells: np.ndarray) -> list[Reals]:
    """The same rows as C order, Fortran order, and columns that lie apart."""
    return [Reals(cells), Reals(np.asfortranarray(cells)), *([ColumnBlock(list(cells.T))] if cells.size else [])]


def want_products(cells: np.ndarray, y: np.ndarray, w: np.ndarray | None, k: int) -> np.ndarray:
    """Σ w x_i x_j of columns i ≤ j, (k, d (d + 1) / 2), in fractions."""
    first, second = np.triu_indices(cells.shape[1])
    out = np.full((k, len(first)), Fraction(0), dtype=object)
    for i, row in enumerate(fractions(cells)):
        out[y[i]] += row[first] * row[second] * Fraction(1 if w is None else float(w[i]))
    return out


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 150),
    d=st.sampled_from([0, 1, 2, 3, 5, 8, 9]),
    k=st.integers(1, 3),
    kind=st.sampled_from(["some", "normal", "integers", "wide", "wild"]),
    some=st.lists(DOUBLES, min_size=1, max_size=6),
    weight=WEIGHTS,
    float32=st.booleans(),
)
def test_products_of_rows_are_those_of_fractions(seed, n, d, k, kind, some, weight, float32):
    rng = np.random.default_rng(seed)
    cells, y = rows_of(rng, some, n, d, kind), rng.integers(0, k, n).astype(np.int32)
    if float32:
        with np.errstate(over="ignore"):
            cells = cells.astype(np.float32)
        cells[~np.isfinite(cells)] = 3.0
    w = weights_of(rng, weight, n)
    (got,) = both(lambda: (ops.exact_products(Reals(cells), y, w, k),))
    assert got.finite
    assert (got.to_fractions() == want_products(cells.astype(float), y, w, k)).all()


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 900),
    d=st.sampled_from([1, 4, 7, 8, 9, 20]),
    k=st.integers(1, 5),
    kind=st.sampled_from(["normal", "integers", "wide", "wild", "mixed"]),
    weight=WEIGHTS,
)
def test_bytes_do_not_depend_on_order_parts_form_or_instruction_set(seed, n, d, k, kind, weight):
    rng = np.random.default_rng(seed)
    cells = rows_of(rng, [], n, d, "normal" if kind == "mixed" else kind)
    if kind == "mixed":  # most cells in one window, some far above and below it, zeros of both signs
        far = rng.random((n, d))
        cells[far < 0.01], cells[far > 0.99], cells[abs(far - 0.5) < 0.01] = 1e12, -1e-30, -0.0
    y, w = rng.integers(0, k, n).astype(np.int32), weights_of(rng, weight, n)

    def found(x, rows=slice(None)):
        return ops.exact_products(x, y[rows], None if w is None else w[rows], k)

    want = found(Reals(cells))
    if kind != "wild":  # whose integers of Python are long
        with ops.specification():
            assert found(Reals(cells)) == want
    for name in ops.instruction_sets():
        with ops.instruction_set(name):
            for x in every_form(cells):
                assert found(x) == want
            order = rng.permutation(n)
            assert found(Reals(cells[order]), order) == want
            cut = int(rng.integers(0, n + 1))
            a, b = (found(Reals(cells[rows]), rows) for rows in (slice(0, cut), slice(cut, n)))
            assert a + b == want
            assert want - b == a


@every_build
@every_hard_case
def test_every_instruction_set_gives_the_same_products(build, rows):
    whole = np.nan_to_num(rows.cells)
    want = ops.exact_products(Reals(whole), rows.y, rows.w, rows.k)
    with ops.instruction_set(build):
        for x in every_form(whole):
            assert ops.exact_products(x, rows.y, rows.w, rows.k) == want
    some = slice(0, 60), slice(0, 9)
    few = Reals(np.ascontiguousarray(whole[some])), rows.y[:60], None if rows.w is None else rows.w[:60], rows.k
    with ops.instruction_set(build):
        both(lambda: (ops.exact_products(*few),))


@every_build
@pytest.mark.parametrize("weighed", [False, True])
def test_many_rows_of_one_class_fold_in_time(build, weighed):
    """The largest cells that a window holds, in so many rows that 64 bits do not hold their units."""
    n = 140_000
    cells = np.array([[2.0**22, 2.0**22 - 0.5], [-(2.0**22), 3.0], [2.0**22 - 2.0**-24, 2.0**-46]])
    w = np.full(n, 1 - 2.0**-53) if weighed else None
    at = np.arange(n) % 3
    with ops.instruction_set(build):
        got = ops.exact_products(Reals(cells[at]), np.zeros(n, dtype=np.int32), w, 1)
    each = [want_products(row[None], np.zeros(1, int), None if w is None else w[:1], 1) for row in cells]
    assert (got.to_fractions() == sum(int(count) * one for count, one in zip(np.bincount(at), each, strict=True))).all()


@every_build
def test_weights_and_cells_at_the_ends_of_doubles(build):
    ends = np.array([5e-324, 1e-310, 2.0**-1022, 1e-300, 1e-150, 1.0, 1e150, 1.7e308, 0.0])
    rng = np.random.default_rng(3)
    y = np.zeros(200, dtype=np.int32)
    for cells in (
        rng.choice(ends, (200, 3)),
        np.repeat(rng.choice(ends, (1, 3)), 200, axis=0),
        rng.normal(size=(200, 3)),
    ):
        for w in (rng.choice(ends, 200), np.append(rng.random(199), 1e300), np.append(rng.random(199), 5e-324)):
            with ops.instruction_set(build):
                assert (ops.exact_products(Reals(cells), y, w, 1).to_fractions() == want_products(cells, y, w, 1)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_cells_and_weights_that_are_none_are_reported(bad):
    cells, y, w = np.ones((200, 3)), np.zeros(200, dtype=np.int32), np.ones(200)
    w[150] = abs(bad)
    assert not both(lambda: (ops.exact_products(Reals(cells), y, w, 1).finite,))[0]
    cells[7, 1] = bad
    assert not both(lambda: (ops.exact_products(Reals(cells), y, None, 1).finite,))[0]
    t = ops.exact_scatter(Reals(cells), y, None, 1)  # a row with a missing cell is left out
    assert t.finite() == bool(np.isnan(bad))
    assert t.n.tolist() == [199.0 if np.isnan(bad) else 200.0]


@needs_control_register
@pytest.mark.parametrize("bits", [0x8040, 0x2000, 0x4000, 0x6000])  # subnormal numbers are 0, directions
@every_build
def test_rounding_mode_and_flushed_subnormals_of_the_caller_change_nothing(build, bits):
    rng = np.random.default_rng(1)
    cells = np.concatenate([rng.normal(size=(300, 9)), 5e-324 * rng.integers(-9, 9, (100, 9))])
    y = rng.integers(0, 2, len(cells)).astype(np.int32)
    with ops.instruction_set(build):
        for w in (None, rng.random(len(cells))):
            want = ops.exact_scatter(Reals(cells), y, w, 2)
            with control_register(bits):
                got = ops.exact_products(Reals(cells), y, w, 2)
                again = ops.exact_scatter(Reals(cells), y, w, 2).scatter
            assert got == want.products
            assert again.tobytes() == want.scatter.tobytes()


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 12),
    d=st.integers(1, 5),
    kind=st.sampled_from(["some", "normal", "integers", "wide", "wild"]),
    some=st.lists(DOUBLES, min_size=1, max_size=6),
    weight=WEIGHTS,
)
def test_scatter_is_rounded_once(seed, n, d, kind, some, weight):
    rng = np.random.default_rng(seed)
    cells, y = rows_of(rng, some, n, d, kind), rng.integers(0, 2, n).astype(np.int32)
    w = weights_of(rng, weight, n)
    sums = (
        ops.exact_weights(y, w, 2),
        ops.exact_sums(Reals(cells), y, w, 2)[1],
        ops.exact_products(Reals(cells), y, w, 2),
    )
    (got,) = both(lambda: (centred_products(*sums),))
    total, first, products = (part.to_fractions() for part in sums)
    i, j = np.triu_indices(d)
    for c in np.flatnonzero(total[:, 0]):
        want = [
            nearest((total[c, 0] * p - a * b) / total[c, 0])
            for p, a, b in zip(products[c], first[c, i], first[c, j], strict=True)
        ]
        assert got[c, i, j].tolist() == got[c, j, i].tolist() == want
    assert (got[total[:, 0] == 0] == 0).all()


def test_products_of_other_shapes_are_refused():
    one, two = (ExactSums.from_doubles(np.ones((1, d))) for d in (1, 2))
    with pytest.raises(ValueError, match="every two columns"):
        centred_products(one, two, two)
