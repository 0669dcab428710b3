"""Exact products of columns: what they hold, against integers of Python, and that their bytes do not depend on how they
were made."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.covariance import LedoitWolf

import deciban
from deciban import ops
from deciban.data.blocks import ColumnBlock, Reals
from deciban.errors import DataError, ForgetError, MergeError, ModelFileError
from deciban.model_file.validation import same_structure
from deciban.storage import tensors
from deciban.tallies import ExactSums
from deciban.tallies.exact import centred_products
from deciban.tallies.exact_tables import as_sums

from .support.builds import every_build, every_hard_case
from .support.forgery import read_parts
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

KINDS = [
    deciban.LinearDiscriminantAnalysis,
    deciban.QuadraticDiscriminantAnalysis,
    deciban.RegularizedDiscriminantAnalysis,
    deciban.FisherDiscriminant,
]


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_of_weight_zero_may_hold_anything(bad):
    cells, y, w = np.arange(12.0).reshape(4, 3), np.zeros(4, dtype=np.int32), np.array([1.0, 0.0, 2.5, 1.0])
    cells[1, 2] = bad
    (got,) = both(lambda: (ops.exact_products(Reals(cells), y, w, 1),))
    assert got == ops.exact_products(Reals(cells[w > 0]), y[w > 0], w[w > 0], 1)


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
        as_sums(ops.exact_class_weights(y, w, 2)),
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


# Models


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighed", [False, True])
def test_exact_models_answer_as_others_do(kind, weighed):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)) + 1e3, np.arange(90) % 3
    X[y == 1] += 0.5
    w = rng.random(90) + 0.1 if weighed else None
    exact, plain = kind(exact=True).fit(X, y, w), kind().fit(X, y, w)
    np.testing.assert_allclose(exact.predict_proba(X), plain.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(exact.leave_one_out(X, y, w), plain.leave_one_out(X, y, w), rtol=1e-9, atol=1e-9)
    again = deciban.loads(deciban.dumps(exact))
    np.testing.assert_array_equal(again.predict_proba(X), exact.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
def test_more_columns_than_rows_are_products_too(kind):
    rng = np.random.default_rng(0)
    X, y, asked = rng.normal(size=(20, 50)), np.arange(20) % 2, rng.normal(size=(9, 50))
    exact = kind(exact=True).fit(X[:15], y[:15])
    np.testing.assert_allclose(exact.predict_proba(asked), kind().fit(X[:15], y[:15]).predict_proba(asked), atol=1e-12)
    before = deciban.model_info(deciban.dumps(exact))["fingerprint"]
    exact.partial_fit(X[15:], y[15:]).forget(X[15:], y[15:])
    assert deciban.model_info(deciban.dumps(exact))["fingerprint"] == before


def test_rows_with_missing_cells_are_left_out():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[3, 1] = X[40, 2] = np.nan
    whole = ~np.isnan(X).any(axis=1)
    with pytest.warns(UserWarning, match="missing cells"):
        model = deciban.QuadraticDiscriminantAnalysis(exact=True).fit(X, y)
    with pytest.warns(UserWarning, match="missing cells"):
        pieces = (
            deciban.QuadraticDiscriminantAnalysis(exact=True).partial_fit(X[30:], y[30:]).partial_fit(X[:30], y[:30])
        )
    assert model.n_iter_ == 0
    assert (
        deciban.model_info(deciban.dumps(pieces))["fingerprint"]
        == deciban.model_info(deciban.dumps(model))["fingerprint"]
    )
    refit = deciban.QuadraticDiscriminantAnalysis(exact=True).fit(X[whole], y[whole])
    np.testing.assert_array_equal(model.covariance_, refit.covariance_)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (deciban.LinearDiscriminantAnalysis, {"solver": "lsqr", "shrinkage": "auto"}),
        (deciban.QuadraticDiscriminantAnalysis, {"solver": "eigen", "shrinkage": "auto"}),
        (deciban.RegularizedDiscriminantAnalysis, {"shrinkage": "auto"}),
        (deciban.LinearDiscriminantAnalysis, {"solver": "lsqr", "covariance_estimator": LedoitWolf()}),
    ],
)
def test_settings_that_need_more_than_products_are_refused(kind, settings):
    with pytest.raises(DataError, match=r"exact=True with .*\n\nhint: leave out one of them"):
        kind(exact=True, **settings).fit([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])


def test_exact_and_other_models_are_not_merged():
    X, y = [[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1]
    with pytest.raises(MergeError, match="`exact` is True in one model and False in the other"):
        deciban.LinearDiscriminantAnalysis(exact=True).fit(X, y) + deciban.LinearDiscriminantAnalysis().fit(X, y)


def test_too_many_products_are_refused():
    with pytest.raises(DataError, match="every two of 6000 columns for each of 2 classes, 36,006,000 sums"):
        deciban.LinearDiscriminantAnalysis(exact=True).fit(np.zeros((6, 6000)), [0, 1] * 3)


@pytest.mark.parametrize("kind", KINDS)
def test_products_that_no_rows_have_are_refused(kind):
    rng = np.random.default_rng(0)
    model = kind(exact=True).fit(1e8 + rng.normal(size=(30, 2)), np.arange(30) % 2)
    with pytest.raises(ForgetError):  # squares are left that the sums do not allow
        model.forget([[1e8 + 50, 1e8]], [0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("at", "value"), [(0, 0.0), (1, 1e6), (2, -1.0), (3, np.nan), (4, np.inf), (1, -1e6)])
def test_forged_products_are_refused(kind, at, value, tmp_path):
    """Of x², x y and y² of two classes: squares below those of the means, products above them, no numbers."""
    X = np.array([[0.0, 1], [2, 1], [1, 3], [4, 4], [6, 5], [5, 9]])
    path = tmp_path / "m.deciban"
    deciban.save(kind(exact=True).fit(X, [0, 0, 0, 1, 1, 1]), path)
    deciban.load(path)
    metadata, arrays = read_parts(path)
    (name,) = (one for one in arrays if one.endswith("products"))
    assert arrays[name].shape == (2, 3)
    arrays[name].flat[at] = value
    tensors.write(path, metadata, arrays)
    with pytest.raises(ModelFileError):
        deciban.load(path)


def test_tables_of_products_that_do_not_fit_are_not_sound():
    rng = np.random.default_rng(0)
    t = ops.exact_scatter(Reals(rng.normal(size=(9, 3))), np.zeros(9, dtype=np.int32), None, 1)
    assert t.sound()
    assert not replace(t, products=t.part([0, 1]).products).sound()
    assert not replace(t, products=t.products.to_doubles().astype(np.float32)).sound()
    assert not same_structure(t, replace(t, pooled=True), 1)
