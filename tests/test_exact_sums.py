"""Exact sums: what they hold, against integers of Python, and that their bytes do not depend on how they were made."""

from __future__ import annotations

import ctypes
import math
import platform
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import ColumnBlock, Counts, Reals
from deciban.tallies import ExactSums
from deciban.tallies.exact import combine, from_planes, mean_and_squares, ratio

from .support.builds import every_build, every_hard_case
from .support.strategies import examples

DOUBLES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-100, 100),
    st.integers(-9, 9).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 0.1, 1e15]),
)
WEIGHTS = st.one_of(st.none(), st.just("equal"), st.just("few"), st.just("different"))


@st.composite
def tables(draw, k: int | None = None, d: int | None = None) -> np.ndarray:
    """Doubles (k, d), some of them wide."""
    k = draw(st.integers(1, 3)) if k is None else k
    d = draw(st.sampled_from([1, 2, 63, 64, 65, 130])) if d is None else d
    some = draw(st.lists(DOUBLES, min_size=1, max_size=12))
    seed = draw(st.integers(0, 2**32 - 1))
    return np.random.default_rng(seed).choice(np.array(some), (k, d))


def fractions(values: np.ndarray) -> np.ndarray:
    out = np.empty(values.shape, dtype=object)
    for at, v in np.ndenumerate(values):
        out[at] = Fraction(float(v))
    return out


def nearest(value: Fraction) -> float:
    """The nearest double, by the division of Python integers."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def both(run):
    """The result of the compiled bodies and of the specification; they must be the same bits."""
    got = run()
    with ops.specification():
        want = run()
    for a, b in zip(got, want, strict=True):
        if isinstance(a, ExactSums):
            assert a == b
            assert a.sound()
        else:
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    return got


@examples(60)
@given(a=tables())
def test_doubles_are_held_as_they_are(a):
    held, back = both(lambda: (lambda s: (s, s.to_doubles()))(ExactSums.from_doubles(a)))
    np.testing.assert_array_equal(back, a)
    assert (held.to_fractions() == fractions(a)).all()
    (again,) = both(lambda: (ExactSums.from_integers(fractions(a)),))
    assert again == held
    np.testing.assert_array_equal(held.negative(), a < 0)
    np.testing.assert_array_equal(held.nonzero(), a != 0)


@examples(60)
@given(data=st.data())
def test_sums_and_differences_are_those_of_fractions(data):
    a = data.draw(tables())
    b = data.draw(tables(*a.shape))
    x, y = ExactSums.from_doubles(a), ExactSums.from_doubles(b)
    plus, minus, back = both(lambda: (x + y, x - y, x + y - y))
    assert (plus.to_fractions() == fractions(a) + fractions(b)).all()
    assert (minus.to_fractions() == fractions(a) - fractions(b)).all()
    assert back == x
    assert back.to_bytes() == x.to_bytes()
    for made in (plus, minus):
        for at, v in np.ndenumerate(made.to_fractions()):
            assert made.to_doubles()[at] == nearest(v)


@examples(40)
@given(data=st.data())
def test_classes_and_columns_move_and_add(data):
    a = data.draw(tables())
    k, d = a.shape
    x = ExactSums.from_doubles(a)
    index = np.array(data.draw(st.lists(st.integers(0, 3), min_size=k, max_size=k)))
    columns = np.array(data.draw(st.lists(st.integers(0, d - 1), max_size=70)), dtype=np.int64)
    moved, one, some, wide, tall = both(
        lambda: (
            x.relabel(index, 4),
            x.collapse(),
            x.part(columns),
            ExactSums.concatenate([x, x.part(columns), x]),
            ExactSums.stack([x, x]),
        )
    )
    want = np.zeros((4, d), dtype=object)
    for c in range(k):
        want[index[c]] += fractions(a)[c]
    assert (moved.to_fractions() == want).all()
    assert (one.to_fractions() == fractions(a).sum(axis=0, keepdims=True)).all()
    np.testing.assert_array_equal(some.to_doubles(), a[:, columns])
    np.testing.assert_array_equal(wide.to_doubles(), np.hstack([a, a[:, columns], a]))
    np.testing.assert_array_equal(tall.to_doubles(), np.vstack([a, a]))
    assert x.part(slice(None)) == x


@examples(60)
@given(data=st.data())
def test_mean_and_squares_are_rounded_once(data):
    d = data.draw(st.sampled_from([1, 65]))
    rows = [data.draw(tables(1, d)) for _ in range(data.draw(st.integers(1, 4)))]
    weights = data.draw(st.lists(st.one_of(st.just(1.0), st.floats(0, 1e6)), min_size=len(rows), max_size=len(rows)))
    w = [Fraction(v) for v in weights]
    x = [fractions(r) for r in rows]
    n = np.array([[sum(w)]], dtype=object)
    s1, s2 = (sum(v * r**p for v, r in zip(w, x, strict=True)) for p in (1, 2))
    e = [ExactSums.from_integers(v) for v in (n, s1, s2)]
    mean, m2, other = both(lambda: (*mean_and_squares(*e), ratio(e[1], e[0])))
    np.testing.assert_array_equal(mean, other)
    for j in range(d):
        assert mean[0, j] == (nearest(s1[0, j] / n[0, 0]) if n[0, 0] else 0.0)
        assert m2[0, j] == (nearest((n[0, 0] * s2[0, j] - s1[0, j] ** 2) / n[0, 0]) if n[0, 0] else 0.0)


def test_mean_and_squares_of_hard_columns():
    rng = np.random.default_rng(3)
    for x in (
        1e9 + 1e-3 * rng.normal(size=300),
        1e15 + 0.1 * rng.normal(size=300),
        5e-324 * rng.integers(0, 9, 300),
        np.concatenate([rng.normal(size=300), [1e300, -1e300]]),
    ):
        y = np.zeros(len(x), dtype=np.int32)
        n, s1, s2 = ops.exact_sums(Reals(x[:, None]), y, None, 1, squares=True)
        f = [Fraction(v) for v in x.tolist()]
        mean = sum(f) / len(f)
        got = mean_and_squares(n, s1, s2)
        assert got[0].item() == nearest(mean)
        assert got[1].item() == nearest(sum((v - mean) ** 2 for v in f))


def test_scaling_is_exact_for_whole_numbers_and_powers_of_two():
    a = ExactSums.from_doubles(np.array([[0.1, -1e-300]]))
    assert a * 3 == a + a + a
    assert (a * 0.25) * 4 == a
    assert a * 0 == ExactSums.zeros(1, 2)
    assert a * 0.3 == ExactSums.from_doubles(np.array([[0.1, -1e-300]]) * 0.3)


def test_sums_beyond_the_largest_double_are_infinite_and_come_back():
    a = ExactSums.from_doubles(np.array([[1.7e308, -1.7e308]]))
    both(lambda: (((a + a).to_doubles()),))
    assert (a + a).to_doubles().tolist() == [[math.inf, -math.inf]]
    assert a + a - a == a


@pytest.mark.parametrize(
    "change",
    [
        {"low": np.array([1])},
        {"count": np.array([2])},
        {"limbs": np.array([0])},
        {"limbs": np.array([1.0])},
        {"low": np.array([0, 0])},
        {"low": np.array([0]), "count": np.array([2]), "limbs": np.array([5, 0])},
        {"low": np.array([0]), "count": np.array([2]), "limbs": np.array([-5, -1])},
        {"low": np.array([0]), "count": np.array([2]), "limbs": np.array([0, 5])},
        {"low": np.array([1 << 40])},
        {"low": np.array([1 << 10])},  # which no sum of doubles reaches: limbs in between would fill the memory
        {"low": np.array([-(1 << 10)])},
        {"low": np.array([-(1 << 63)])},
        {"count": np.array([-1])},
    ],
)
def test_arrays_of_another_form_are_not_sound(change):
    good = {"low": np.array([0]), "count": np.array([1]), "limbs": np.array([5])}
    assert ExactSums(1, 1, **good).sound()
    bad = ExactSums(1, 1, **(good | change))
    if "low" in change and change["low"].tolist() == [1]:
        assert bad.sound()  # another number
        assert bad != ExactSums(1, 1, **good)
    else:
        assert not bad.sound()


def test_planes_are_trimmed():
    planes = np.zeros((5, 1, 65), dtype=np.int64)
    planes[1, 0, 0], planes[2:, 0, 64] = 7, -1
    made = from_planes(-2, planes)
    assert made.low.tolist() == [-1, 0]
    assert made.count.tolist() == [1, 1]
    assert made.sound()


# Sums of rows


def rows_of(rng: np.random.Generator, some: list[float], n: int, d: int, kind: str) -> np.ndarray:
    if kind == "some":
        return rng.choice(np.array(some), (n, d))
    if kind == "normal":
        return rng.normal(size=(n, d)) * rng.choice([1.0, 1e-30, 1e9], d)
    if kind == "integers":
        return rng.integers(-50, 50, (n, d)).astype(float)
    if kind == "wide":
        return rng.normal(size=(n, d)) * 2.0 ** rng.integers(-40, 40, (n, d))
    return rng.normal(size=(n, d)) * 2.0 ** rng.integers(-1000, 1000, (n, d))


def weights_of(rng: np.random.Generator, kind: str | None, n: int) -> np.ndarray | None:
    if kind is None:
        return None
    if kind == "equal":
        return np.full(n, 0.1)
    return rng.choice([0.0, 0.5, 2.75, 1e-20], n) if kind == "few" else rng.exponential(size=n) ** 4


def want_sums(cells, y, w, k, above=None) -> list[np.ndarray]:
    """n (k, d), Σ w x, Σ w x² in fractions; missing cells add nothing."""
    out = [np.full((k, cells.shape[1]), Fraction(0), dtype=object) for _ in range(3)]
    for i, row in enumerate(cells):
        weight = Fraction(1 if w is None else float(w[i]))
        for j, v in enumerate(row):
            if not np.isnan(v):
                value = Fraction(float(v)) if above is None else Fraction(int(v > above))
                for table, part in zip(out, (1, value, value * value), strict=True):
                    table[y[i], j] += weight * part
    return out


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 60),
    d=st.sampled_from([1, 2, 3, 5, 8, 9, 65]),
    k=st.integers(1, 3),
    kind=st.sampled_from(["some", "normal", "integers", "wide", "wild"]),
    some=st.lists(DOUBLES, min_size=1, max_size=6),
    weight=WEIGHTS,
    missing=st.booleans(),
    above=st.one_of(st.none(), st.floats(-1, 1)),
    form=st.sampled_from(["rows", "columns", "apart", "sparse", "float32"]),
)
def test_sums_of_rows_are_those_of_fractions(seed, n, d, k, kind, some, weight, missing, above, form):
    rng = np.random.default_rng(seed)
    cells, y = rows_of(rng, some, n, d, kind), rng.integers(0, k, n).astype(np.int32)
    if form == "float32":
        with np.errstate(over="ignore"):
            cells = cells.astype(np.float32)
        cells[~np.isfinite(cells)] = 3.0
    if missing:
        cells[rng.random((n, d)) < 0.2] = np.nan
    w = weights_of(rng, weight, n)
    if form == "sparse":
        above = None if above is None else abs(above)
        indptr, at = np.arange(n + 1) * d, np.tile(np.arange(d, dtype=np.int32), n)
        x = Counts(indptr, at, cells.ravel(), d)
    elif form == "apart" and n:
        x = ColumnBlock(list(cells.T))
    else:
        x = Reals(np.asfortranarray(cells) if form == "columns" else cells)
    got = both(lambda: ops.exact_sums(x, y, w, k, above, squares=above is None))
    some_missing = np.isnan(cells if w is None else cells[w != 0]).any()  # rows of weight 0 count for nothing
    assert got[0].d == (d if some_missing else 1)
    assert list(got[:2]) == list(ops.exact_sums(x, y, w, k, above))
    want = want_sums(cells, y, w, k, above)
    for made, table in zip(got, want, strict=False):
        assert made.finite
        assert (made.to_fractions() == table[:, : made.d]).all()


@pytest.mark.parametrize("bad", [math.inf, -math.inf])
def test_infinite_cells_and_weights_are_reported(bad):
    cells, y = np.ones((40, 3)), np.zeros(40, dtype=np.int32)
    cells[7, 1] = bad
    for x in (Reals(cells), Counts(np.arange(41) * 3, np.tile(np.arange(3, dtype=np.int32), 40), cells.ravel(), 3)):
        for above in (None, 0.5):
            assert not any(one.finite for one in both(lambda x=x, a=above: ops.exact_sums(x, y, None, 1, a)))
    w = np.ones(40)
    w[5] = abs(bad)
    n, _ = both(lambda: ops.exact_sums(Reals(np.ones((40, 3))), y, w, 1))
    assert not n.finite
    assert not (n + n).finite


def every_form(cells: np.ndarray) -> list[Reals | Counts]:
    """The same rows as C order, Fortran order, columns that lie apart, and stored cells."""
    n, d = cells.shape
    stored = Counts(np.arange(n + 1) * d, np.tile(np.arange(d, dtype=np.int32), n), cells.ravel(), d)
    return [Reals(cells), Reals(np.asfortranarray(cells)), *([ColumnBlock(list(cells.T))] if n and d else []), stored]


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(0, 900),
    d=st.sampled_from([1, 4, 7, 8, 9, 20, 130]),
    k=st.integers(1, 5),
    kind=st.sampled_from(["normal", "integers", "wide", "wild", "mixed"]),
    weight=WEIGHTS,
    squares=st.booleans(),
)
def test_bytes_do_not_depend_on_order_parts_form_or_instruction_set(seed, n, d, k, kind, weight, squares):
    rng = np.random.default_rng(seed)
    cells = rows_of(rng, [], n, d, "wide" if kind == "mixed" else kind)
    if kind == "mixed":  # most cells in one window, some far above and below it, zeros of both signs, holes
        far = rng.random((n, d))
        cells[far < 0.02], cells[far > 0.97], cells[abs(far - 0.5) < 0.01] = 1e12, -1e-30, -0.0
        cells[abs(far - 0.3) < 0.01] = np.nan
    y, w = rng.integers(0, k, n).astype(np.int32), weights_of(rng, weight, n)

    def found(x, rows=slice(None)):
        return ops.exact_sums(x, y[rows], None if w is None else w[rows], k, squares=squares)

    with ops.specification():
        want = found(Reals(cells))
    for name in ops.instruction_sets():
        with ops.instruction_set(name):
            for x in every_form(cells):
                for a, b in zip(found(x), want, strict=True):
                    assert a == b
            order = rng.permutation(n)
            assert list(found(Reals(cells[order]), order)) == list(want)
            cut = int(rng.integers(0, n + 1))
            parts = [found(Reals(cells[rows]), rows) for rows in (slice(0, cut), slice(cut, n))]
            for a, b, whole in zip(*parts, want, strict=True):
                a, b = (v if v.d == whole.d else v.spread(whole.d) for v in (a, b))
                assert a + b == whole
                assert whole - b == a


@every_build
@every_hard_case
def test_every_instruction_set_equals_the_specification(build, rows):
    with ops.specification():
        want = ops.exact_sums(Reals(rows.cells), rows.y, rows.w, rows.k, squares=True)
    with ops.instruction_set(build):
        for x in every_form(rows.cells):
            assert list(ops.exact_sums(x, rows.y, rows.w, rows.k, squares=True)) == list(want)


@every_build
def test_sums_that_are_nearly_full_lose_no_batch(build):
    """Cells of up to 8 · 2^top pass the check of their batch, and fill the doubles that batches are summed in."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40000, 8))
    x[::32] *= 37.0
    x[5::64] = 30.0
    y = np.zeros(len(x), dtype=np.int32)
    with ops.specification():
        want = ops.exact_sums(Reals(x), y, None, 1, squares=True)
    with ops.instruction_set(build):
        assert list(ops.exact_sums(Reals(x), y, None, 1, squares=True)) == list(want)


@every_build
@pytest.mark.parametrize("weighed", [False, True])
def test_cells_at_the_borders_of_windows(build, weighed):
    """Powers of two and their neighbours, in columns whose windows begin and end at some of them."""
    rng = np.random.default_rng(2)
    powers = 2.0 ** rng.integers(-45, 45, (600, 9))
    x = np.nextafter(powers, rng.choice([0.0, 1e9], powers.shape)) * rng.choice([1.0, -1.0], powers.shape)
    exact = rng.random(x.shape)
    x[exact < 0.4], x[exact > 0.9] = powers[exact < 0.4], 0.0
    y = rng.integers(0, 2, len(x)).astype(np.int32)
    w = np.nextafter(2.0 ** rng.integers(-12, 3, len(x)), rng.choice([0.0, 1e9], len(x))) if weighed else None
    with ops.specification():
        want = ops.exact_sums(Reals(x), y, w, 2, squares=True)
    with ops.instruction_set(build):
        for form in every_form(x):
            assert list(ops.exact_sums(form, y, w, 2, squares=True)) == list(want)
            assert list(ops.exact_sums(form, y, w, 2)) == list(want[:2])


@every_build
def test_many_rows_of_one_class_fold_in_time(build):
    """Sums of three million rows of large cells, which are known without a loop."""
    n = 3_000_000 if build == ops.instruction_sets()[-1] else 300_000
    x = np.full((n, 2), 2.0**21 - 1)
    y = np.zeros(n, dtype=np.int32)
    w = np.full(n, 0.1)
    one = Fraction(2**21 - 1)
    with ops.instruction_set(build):
        for weights, each in ((None, Fraction(1)), (w, Fraction(0.1))):
            got = ops.exact_sums(Reals(x), y, weights, 1, squares=True)
            assert [v.to_fractions()[0, 0] for v in got] == [n * each, n * each * one, n * each * one**2]


@contextmanager
def control_register(bits: int) -> Iterator[None]:
    """Inside, this thread's control register has these bits set."""
    libm = ctypes.CDLL("libm.so.6")  # fenv_t has 32 bytes, the last four of them the register of SSE
    kept, changed = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    libm.fegetenv(kept)
    register = int.from_bytes(kept.raw[28:32], "little") | bits
    changed.raw = kept.raw[:28] + register.to_bytes(4, "little")
    libm.fesetenv(changed)
    try:
        yield
    finally:
        libm.fesetenv(kept)


needs_control_register = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="sets the register of x86-64"
)


@needs_control_register
@pytest.mark.parametrize("bits", [0x8000, 0x0040, 0x8040, 0x2000, 0x4000, 0x6000])  # flush, denormals are 0, directions
@every_build
def test_rounding_mode_and_flushed_subnormals_of_the_caller_change_nothing(build, bits):
    rng = np.random.default_rng(1)
    x = np.concatenate(
        [rng.normal(size=(300, 9)), 5e-324 * rng.integers(-9, 9, (100, 9)), rng.normal(size=(50, 9)) * 1e-160]
    )
    y, w = rng.integers(0, 2, len(x)).astype(np.int32), rng.random(len(x))
    for weights in (None, w):
        for form in every_form(x):
            with ops.instruction_set(build):
                want = ops.exact_sums(form, y, weights, 2, squares=True)
                moments = mean_and_squares(*want)
                with control_register(bits):
                    got = ops.exact_sums(form, y, weights, 2, squares=True)
                    again = mean_and_squares(*got)
            assert list(got) == list(want)
            assert [a.tobytes() for a in again] == [a.tobytes() for a in moments]


def test_threads_give_the_same_bytes():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(5000, 9)), rng.integers(0, 3, 5000).astype(np.int32)
    want = ops.exact_sums(Reals(x), y, None, 3, squares=True)
    cuts = np.linspace(0, 5000, 17).astype(int)
    with ThreadPoolExecutor(4) as pool:
        parts = list(
            pool.map(
                lambda ab: ops.exact_sums(Reals(x[slice(*ab)]), y[slice(*ab)], None, 3, squares=True), pairwise(cuts)
            )
        )
        stored = every_form(x)[-1]
        by_class = ops.exact_sums(replace(stored, each=pool.map), y, None, 3, squares=True)
    assert [combine(3, [(p[i], None, 1) for p in parts]) for i in range(3)] == list(want)
    assert list(by_class) == list(want)


def test_cells_of_sparse_rows_may_be_far_apart():
    for values in (
        [1e12] * 5,
        [1e-20, 1.0, 3e9, 7.0, 1e300],
        [2.0**40, 2.0**-40, 1.0, 5e-324, -1.0],
        [0.1, 1e18, -1e18, 3.0, 0.1],
    ):
        x = Counts(np.arange(6), np.arange(5, dtype=np.int32), np.array(values), 5)
        for w in (None, np.full(5, 0.3), np.array([1e-300, 1.0, 1e80, 0.0, 2.0])):
            both(lambda x=x, w=w: ops.exact_sums(x, np.zeros(5, dtype=np.int32), w, 2, squares=True))
