"""Sums over rows are integers: no order, no cut, no tree of additions, no thread, no build and no row that was removed
again changes a bit, for every family that is made of sums, moments and counts.

`DECIBAN_EXAMPLES=500` runs 25 times as many cases: more than 10,000 of each of the two laws of families."""

from __future__ import annotations

import warnings
from datetime import datetime
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import deciban
from deciban import ops
from deciban.storage.codec import Encoder
from deciban.tallies import Bundle, CentredScatter, Moments, Quartic, RowScatter, Scatter, Sums
from deciban.tallies.distinct_rows import KeyedRows
from deciban.tallies.exact_tables import as_doubles

from ..support.builds import every_build, using
from ..support.models import MODELS, each, rows_for
from ..support.strategies import EXAMPLES, SUPPORTS, Rows, examples, families, forms, tally

DATE = datetime(2020, 1, 1)
WILD = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
SIZES = st.sampled_from([5e-324, 1e-300, 1e-3, 1.0, 1e9, 1e15, 1e150])


def contents(thing: Any) -> bytes:
    """The bytes that a file has of a tally."""
    encoder = Encoder()
    node = encoder.encode(thing, "t")
    return repr((node, [(name, a.dtype, a.shape, a.tobytes()) for name, a in sorted(encoder.arrays.items())])).encode()


def sums_alone(family: Any) -> bool:
    """Whether a family's tally has no matrices in doubles, and no rows with weights of their own."""
    rows = Rows(
        np.ones((3, 2), dtype=np.int64 if family.support == "level" else np.float64), np.zeros(3, np.int32), None, 1
    )

    def holds(t: Any) -> bool:
        return (
            all(map(holds, t.parts))
            if isinstance(t, Bundle)
            else not isinstance(t, CentredScatter | RowScatter | Quartic | KeyedRows)
        )

    return holds(tally(family, rows, forms(family)[0]))


EXACT = [one for one in families() if sums_alone(one.values[0])]
every_family = pytest.mark.parametrize("family", EXACT)


@st.composite
def any_rows(draw: Any, family: Any) -> Rows:
    """Cells of all sizes, classes, and weights of many bits or none."""
    n, d, k = draw(st.integers(1, 20)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    if family.support in ("level", "count"):
        cells = rng.integers(0, 4, (n, d)).astype(np.int64 if family.support == "level" else np.float64)
    else:
        sizes = [draw(SIZES) for _ in range(3)]
        cells = rng.normal(size=(n, d)) * rng.choice(sizes, size=(n, d))
        if family.support != "real":
            cells = np.abs(cells) + (1e-320 if family.support == "positive" else 0.0)
        if draw(st.booleans()):
            cells[rng.random((n, d)) < 0.2] = SUPPORTS[family.support][1]
    w = None if draw(st.booleans()) else rng.random(n) * rng.choice([1e-9, 1.0, 1e6], n)
    return Rows(cells, rng.integers(0, k, n).astype(np.int32), w, k)


@every_family
@examples(40)
@given(data=st.data())
def test_order_parts_and_trees_change_no_bit(family, data):
    rows = data.draw(any_rows(family))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    form = forms(family)[0]
    whole = contents(tally(family, rows, form))
    assert contents(tally(family, rows.take(rng.permutation(rows.n)), form)) == whole
    parts = [tally(family, rows.take(own), form) for own in np.array_split(rng.permutation(rows.n), rng.integers(1, 6))]
    assert contents(reduce(add, parts)) == whole
    while len(parts) > 1:  # any two, again and again
        i, j = rng.choice(len(parts), 2, replace=False)
        parts = [parts[i] + parts[j], *(part for at, part in enumerate(parts) if at not in (i, j))]
    assert contents(parts[0]) == whole


@every_family
@examples(40)
@given(data=st.data())
def test_rows_that_are_removed_again_leave_no_bit(family, data):
    rows, more = data.draw(any_rows(family)), data.draw(any_rows(family))
    d, k = min(rows.cells.shape[1], more.cells.shape[1]), max(rows.k, more.k)
    form = forms(family)[0]
    known, other = (Rows(one.cells[:, :d], one.y, one.w, k) for one in (rows, more))
    a, b = tally(family, known, form), tally(family, other, form)
    left = (a + b) - b
    plain = ops.exact_class_weights(known.y, known.w, k)
    if np.isnan(np.asarray(known.cells, dtype=float)).any():
        return  # `left` has a weight for each column either way
    if hasattr(left, "relevel"):
        a = a.relevel(left.levels)
    assert contents(left.whole_cells(plain)) == contents(a.whole_cells(plain))


@every_build
@examples(30)
@given(data=st.data(), weighed=st.booleans())
def test_builds_and_layouts_change_no_bit(build, data, weighed):
    family = next(one.values[0] for one in EXACT if type(one.values[0]).__name__ == "Gaussian")
    rows = data.draw(any_rows(family))
    wanted = [form for form in forms(family) if form.dtype == "float64"]
    with ops.specification():
        want = contents(ops.moments(wanted[0](rows.cells), rows.y, rows.w, rows.k))
    with using(build):
        for form in wanted:
            assert contents(ops.moments(form(rows.cells), rows.y, rows.w, rows.k)) == want


@examples(100)
@given(st.lists(WILD, min_size=1, max_size=12), st.integers(0, 2**16))
def test_sums_are_those_of_fractions(values, seed):
    from fractions import Fraction

    x = np.array(values)[:, None]
    w = np.random.default_rng(seed).random(len(x))
    t = ops.moments(ops.Reals(x), np.zeros(len(x), dtype=np.int32), w, 1)
    n = sum(map(Fraction, w.tolist()))
    first = sum(Fraction(a) * Fraction(b) for a, b in zip(w.tolist(), values, strict=True))
    second = sum(Fraction(a) * Fraction(b) ** 2 for a, b in zip(w.tolist(), values, strict=True))
    assert as_doubles(t.weight)[0] == float(n)
    assert t.mean[0, 0] == (0.0 if n == 0 else float(first / n))
    try:
        m2 = float(second - first**2 / n) if n else 0.0
    except OverflowError:
        m2 = np.inf
    assert t.m2[0, 0] == m2


@pytest.mark.parametrize(
    "cells",
    [
        1e9 + 1e-3 * np.arange(7.0),
        1e15 + 0.1 * np.arange(9.0),
        5e-324 * np.arange(5.0),
        np.array([1e-200, -1e-200, 3e-200]),
        np.array([1e150, 1.0, -1e150, 1e-150]),
    ],
)
def test_hard_means_and_variances_are_rounded_once(cells):
    from fractions import Fraction

    t = ops.moments(ops.Reals(cells[:, None]), np.zeros(len(cells), dtype=np.int32), None, 1)
    exact = [Fraction(v) for v in cells.tolist()]
    mean = sum(exact) / len(exact)
    assert t.mean[0, 0] == float(mean)
    assert t.m2[0, 0] == float(sum((v - mean) ** 2 for v in exact))


HARD = st.sampled_from([(1e9, 1e-3), (-1e9, 1e-3), (1e15, 0.1), (0.0, 1e-320), (1e-300, 1e-310), (1e140, 1e125)])


@examples(50)
@given(at=HARD, n=st.integers(1, 60), seed=st.integers(0, 2**32 - 1), far=st.booleans())
def test_means_and_squares_of_hard_columns_are_rounded_once(at, n, seed, far):
    """`DECIBAN_EXAMPLES=400`: 1,000 columns; the far rows are learned and forgotten."""
    from fractions import Fraction

    rng = np.random.default_rng(seed)
    cells, y = at[0] + at[1] * rng.normal(size=n), np.zeros(n, dtype=np.int32)
    t = ops.moments(ops.Reals(cells[:, None]), y, None, 1)
    if far:
        ends = ops.moments(ops.Reals(np.array([[1e300], [-1e300], [3e299]])), np.zeros(3, dtype=np.int32), None, 1)
        t = t + ends - ends
    exact = [Fraction(v) for v in cells.tolist()]
    mean = sum(exact) / n
    assert t.mean[0, 0] == float(mean)
    assert t.m2[0, 0] == float(sum((v - mean) ** 2 for v in exact))


def test_the_largest_numbers_are_learned_and_forgotten():
    y = np.zeros(3, dtype=np.int32)
    few = ops.moments(ops.Reals(np.array([[0.1], [0.2], [0.7]])), y, None, 1)
    far = ops.moments(ops.Reals(np.array([[1e300], [-1e300], [1.7e308]])), y, None, 1)
    assert contents(few + far - far) == contents(few)


# models


def is_exact(model: Any) -> bool:
    return "Discriminant" not in type(model).__name__ or model.exact


EXACT_MODELS = [model for model in MODELS if is_exact(model)]


def take(x: Any, at: np.ndarray) -> Any:
    return x.iloc[at] if hasattr(x, "iloc") else [x[i] for i in at] if isinstance(x, list) else x[at]


def learned(model: Any, x: Any, y: np.ndarray, *pieces: np.ndarray) -> Any:
    out = clone(model).fit(take(x, pieces[0]), y[pieces[0]])
    for piece in pieces[1:]:
        out.partial_fit(take(x, piece), y[piece])
    return out


@each(EXACT_MODELS)
@pytest.mark.filterwarnings("ignore")
def test_equal_rows_have_equal_files(model):
    x, y = rows_for(model)
    y, n = np.asarray(y), len(y)
    rng = np.random.default_rng(0)
    few, rest = np.arange(n - 10), np.arange(n - 10, n)
    want = deciban.dumps(learned(model, x, y, few), date=DATE)
    shuffled = learned(model, x, y, *np.array_split(rng.permutation(n - 10), 2))
    forgot = learned(model, x, y, *np.array_split(rng.permutation(n), 3)).forget(take(x, rest), y[rest])
    halves = [learned(model, x, y, piece) for piece in np.array_split(few, 2)]
    for other in (shuffled, forgot, halves[0] + halves[1], deciban.loads(want)):
        found = deciban.dumps(other, date=DATE)
        assert deciban.model_info(found)["fingerprint"] == deciban.model_info(want)["fingerprint"]
        assert found == want


def test_classes_without_rows_go_unless_they_were_named():
    X, y = [[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "c"]
    refit = deciban.GaussianNB().fit(X[:4], y[:4])
    forgot = deciban.GaussianNB().fit(X, y).forget(X[4:], y[4:])
    assert forgot.classes_.tolist() == ["a", "b"]
    assert deciban.dumps(forgot, date=DATE) == deciban.dumps(refit, date=DATE)
    named = deciban.GaussianNB().partial_fit(X, y, classes=["a", "b", "c"]).forget(X[4:], y[4:])
    assert named.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("model", [deciban.GaussianNB(), deciban.QuadraticDiscriminantAnalysis(exact=True)], ids=repr)
@pytest.mark.parametrize("weighed", [False, True])
def test_many_rows_learned_and_forgotten_leave_the_file_of_a_model_that_never_saw_them(model, weighed):
    """2,000 times; `DECIBAN_EXAMPLES=10000`: a million times."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-9, 9, (40, 3)), np.arange(40) % 2
    w = rng.random(40) + 0.1 if weighed else None
    model = clone(model).fit(X, y, w)
    before = deciban.dumps(model, date=DATE)
    for _ in range((50 if weighed else 100) * EXAMPLES):
        Z, z = rng.normal(size=(1, 3)) * 10.0 ** rng.integers(-150, 150, (1, 3)), rng.integers(0, 2, 1)
        own = rng.random(1) + 0.1 if weighed else None
        model.partial_fit(Z, z, sample_weight=own).forget(Z, z, sample_weight=own)
    assert deciban.dumps(model, date=DATE) == before


LDA = partial(deciban.LinearDiscriminantAnalysis, exact=True)


@pytest.mark.parametrize("kind", [deciban.GaussianNB, deciban.PoissonNB, deciban.MixedNB, LDA])
def test_threads_and_files_change_no_bit(kind, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(np.abs(rng.normal(size=(30_000, 3))) * 10.0 ** rng.integers(-3, 3, 3), columns=list("abc"))
    if kind is deciban.PoissonNB:
        frame = frame.round()
    frame["y"] = rng.choice(["no", "yes"], len(frame))
    for i, part in enumerate(np.array_split(rng.permutation(len(frame)), 3)):
        frame.iloc[part].to_parquet(tmp_path / f"{i}.parquet")
    want = set()
    for threads in (1, 4):
        with deciban.threads(threads), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for model in (
                kind().fit(frame[["a", "b", "c"]], frame["y"]),
                kind().fit_on(str(tmp_path / "*.parquet"), target="y"),
            ):
                want.add(deciban.model_info(deciban.dumps(model))["fingerprint"])
    assert len(want) == 1


def test_weights_of_few_bits_stay_doubles():
    t = ops.sums(ops.Reals(np.ones((4, 1))), np.zeros(4, dtype=np.int32), np.array([0.5, 2.0, 1.0, 0.25]), 1)
    assert isinstance(t.weight, np.ndarray)
    assert isinstance(t, Sums)
    assert not isinstance(ops.moments(ops.Reals(np.ones((9, 1)) / 3), np.zeros(9, np.int32), None, 1), Sums | Scatter)
    assert isinstance(ops.moments(ops.Reals(np.ones((9, 1)) / 3), np.zeros(9, np.int32), None, 1), Moments)


def test_classes_are_taken_in_any_order_and_several_times():
    x, y = np.random.default_rng(0).normal(size=(9, 70)), np.repeat([0, 1, 2], 3).astype(np.int32)
    t = ops.moments(ops.Reals(x), y, np.full(9, 0.1), 3)
    some = t.take(np.array([2, 0, 2]))
    np.testing.assert_array_equal(some.mean, t.mean[[2, 0, 2]])
    np.testing.assert_array_equal(some.m2, t.m2[[2, 0, 2]])
    assert contents(some - some) == contents(t.take(np.array([0, 0, 0])) - t.take(np.array([0, 0, 0])))
