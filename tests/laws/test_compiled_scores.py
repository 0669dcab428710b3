"""The compiled twin of every operation that scores rows equals its specification."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import ops
from deciban.data.blocks import Codes
from deciban.ops import spec
from deciban.ops.packed import Packed

from ..support.builds import HARD, every_build, every_hard_case, using
from ..support.strategies import CODES, DENSE, SPARSE, backwards, holding

CLASSES = [1, 2, 3, 8, 11, 24, 31]
every_count_of_classes = pytest.mark.parametrize("k", CLASSES)


def parameters(rows, k: int, seed: int = 0):
    """(mean, scale, share, coef, bias) that suit the magnitude of the rows."""
    rng, d = np.random.default_rng(seed), rows.cells.shape[1]
    there = rows.cells[~np.isnan(rows.cells)]
    mean = (
        (np.median(there) if there.size else 0.0) + there.std() * rng.normal(size=(k, d))
        if there.size
        else np.zeros((k, d))
    )
    scale = rng.uniform(0.5, 2.0, (k, d)) / max(there.std() if there.size > 1 else 1.0, 1e-290)
    return mean, scale, rng.normal(size=(k, d)), rng.normal(size=(k, d)), rng.normal(size=k)


def assert_equal_scores(got, want, size) -> None:
    """Equal to rounding, where `size` (n, k) is how large the terms are that were added."""
    assert got.shape == want.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    there = ~np.isnan(want)
    close = np.abs(got - want)[there] <= 1e-11 * np.broadcast_to(size, want.shape)[there]
    assert close.all(), f"{got[there][~close][:5]} where the specification has {want[there][~close][:5]}"


def once_a_kind(op):
    """The specification, asked once for each dtype, dense or sparse, and key: the layout changes nothing in it."""
    known = {}

    def specified(form, key, *args):
        kind = form.dtype, form in SPARSE, key
        if kind not in known:
            known[kind] = op(*args)
        return known[kind]

    return specified


@every_build
@every_hard_case
def test_affine_equals_its_specification(build, rows):
    for k in CLASSES[:5] if rows.cells.size < 1e4 else (3, 8):
        _, _, share, coef, bias = parameters(rows, k)
        size = 1 + (np.abs(np.nan_to_num(rows.cells)) + 1) @ (np.abs(coef) + np.abs(share)).T
        specified = once_a_kind(spec.affine)
        with using(build):
            for form in holding(rows, DENSE + SPARSE if rows.cells.size < 1e4 else DENSE[:2] + SPARSE[:1]):
                x = form(rows.cells)
                for above in (None, 0.0):
                    for strict in (False, True):
                        got = ops.affine(x, Packed.of(coef), bias, share, above, strict)
                        want = specified(form, (above, strict), x, coef, bias, share, above, strict)
                        assert_equal_scores(got, want, size)


@every_build
@every_hard_case
def test_quadratic_diagonal_equals_its_specification(build, rows):
    for k in CLASSES[:5] if rows.cells.size < 1e4 else (3, 8):
        mean, scale, share, _, bias = parameters(rows, k)
        specified = once_a_kind(spec.quadratic_diagonal)
        with using(build):
            for form in holding(rows, DENSE if np.abs(mean * scale).max() > 1e3 else DENSE + SPARSE):
                x = form(rows.cells)
                with np.errstate(over="ignore"):
                    got = ops.quadratic_diagonal(x, mean, scale, bias, share)
                    want = specified(form, (), x, mean, scale, bias, share)
                # sparse rows: zeros first, then the change; the zeros' part may be 1e4 deviations
                size = np.abs(want) + rows.cells.shape[1] * (1e4 if form in SPARSE else 10.0)
                assert_equal_scores(got, want, size)


def far_from_zero():
    """Cells and parameters with means of 1e8, where some cells are missing, some 0, some columns near to 0."""
    rows = HARD["missing cells, weighed, around 1e8"]
    cells = rows.cells.copy()
    cells[::3, 4:9] = 0.0
    mean, scale, share, _, bias = parameters(rows, 3)
    mean[:, ::2] = 0.3
    return cells, mean, scale, share, bias


@every_build
@pytest.mark.parametrize("columns", [slice(None), slice(0, 4), slice(4, 5), slice(5, 6)])
def test_sparse_columns_far_from_zero_are_scored_like_dense_ones(build, columns):
    cells, mean, scale, share, bias = far_from_zero()
    mean, scale, share = (np.ascontiguousarray(a[:, columns]) for a in (mean, scale, share))
    with using(build):
        for form in SPARSE:
            rounded = cells[:, columns].astype(form.dtype)
            want = ops.quadratic_diagonal(DENSE[0](rounded), mean, scale, bias, share)
            np.testing.assert_allclose(ops.quadratic_diagonal(form(rounded), mean, scale, bias, share), want, rtol=1e-9)


def test_specification_scores_sparse_columns_far_from_zero_like_dense_ones():
    rows = HARD["around 1e8"]
    mean, scale, share, _, bias = parameters(rows, 3)
    got, want = (spec.quadratic_diagonal(f(rows.cells), mean, scale, bias, share) for f in (SPARSE[0], DENSE[0]))
    np.testing.assert_allclose(got, want, rtol=1e-9)


@every_build
@every_hard_case
def test_quadratic_full_equals_its_specification(build, rows):
    d = rows.cells.shape[1]
    for k in (1, 3, 8) if d < 100 else (2,):
        mean, scale, _, _, bias = parameters(rows, k)
        white = np.tril(np.random.default_rng(1).normal(size=(k, d, d)) * scale[:, :, None] / np.sqrt(d))
        with using(build):
            for form in holding(rows, DENSE if d < 100 else DENSE[:2]):
                x = form(rows.cells)
                got, want = ops.quadratic_full(x, mean, white, bias), spec.quadratic_full(x, mean, white, bias)
                assert_equal_scores(got, want, 1e2 * (np.abs(want) + d + np.abs(mean).max() * np.abs(scale).max()))


@every_build
@every_count_of_classes
@given(n=st.integers(0, 40), d=st.integers(1, 9), most=st.integers(0, 6), seed=st.integers(0, 999))
def test_lookup_equals_its_specification(build, k, n, d, most, seed):
    """Codes that are missing or were never seen, columns without levels, tables in any memory order."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, most + 1, d)
    offset = np.concatenate([[0], np.cumsum(levels)])
    table, bias = rng.normal(size=(k, offset[-1])), rng.normal(size=k)
    codes = rng.integers(-2, most + 2, (n, d))
    with using(build):
        for form in CODES:
            x = form(codes)
            want = spec.lookup(x, offset, table, bias)
            for memory in (Packed.of, np.ascontiguousarray, np.asfortranarray, backwards):
                np.testing.assert_allclose(ops.lookup(x, offset, memory(table), bias), want, rtol=1e-12, atol=1e-12)


SCORES = {
    "plain": lambda rng, n, k: rng.normal(size=(n, k)),
    "far apart": lambda rng, n, k: rng.normal(size=(n, k)) * 1e3,
    "farther than e can say": lambda rng, n, k: rng.normal(size=(n, k)) * 1e307,
    "all very unlikely": lambda rng, n, k: -1e6 + rng.normal(size=(n, k)),
    "equal": lambda rng, n, k: np.full((n, k), -3.5),
    "some impossible": lambda rng, n, k: np.where(rng.random((n, k)) < 0.4, -np.inf, rng.normal(size=(n, k))),
    "some missing": lambda rng, n, k: np.where(rng.random((n, k)) < 0.2, np.nan, rng.normal(size=(n, k))),
    "around where e underflows": lambda rng, n, k: np.where(
        rng.random((n, k)) < 0.5, 0.0, rng.uniform(-750, -690, (n, k))
    ),
}


@every_build
@every_count_of_classes
@pytest.mark.parametrize("make", SCORES.values(), ids=SCORES.keys())
def test_posterior_equals_its_specification(build, k, make):
    for n in (0, 1, 7, 3000):
        scores = make(np.random.default_rng(0), n, k)
        for logs in (False, True):
            with np.errstate(all="ignore"):
                want = spec.posterior(scores.copy(), logs)
            with using(build):
                got = ops.posterior(scores.copy(), logs)
            np.testing.assert_array_equal(np.isnan(got).any(axis=1), np.isnan(want).any(axis=1))
            there = ~np.isnan(want).any(axis=1)
            assert_equal_posteriors(got[there], want[there], scores[there])


@pytest.mark.parametrize("logs", [True, False])
def test_the_posterior_of_scores_in_any_layout_is_the_same(logs):
    scores, prior = np.random.default_rng(0).normal(size=(40, 3)), np.log([0.2, 0.3, 0.5])
    want = ops.posterior(scores.copy(), logs, prior)
    wide = np.zeros((40, 6))
    wide[:, ::2] = scores
    for layout in (np.asfortranarray(scores), wide[:, ::2]):
        np.testing.assert_array_equal(ops.posterior(layout.copy(order="K"), logs, prior), want)
        kept = layout.copy(order="K")
        np.testing.assert_array_equal(ops.posterior(kept, logs, prior, out=kept), want)
        np.testing.assert_array_equal(ops.posterior(layout, logs, prior, out=np.empty_like(scores)), want)


def assert_equal_posteriors(got, want, scores) -> None:
    """Equal to the rounding of what is subtracted from scores of this size."""
    np.testing.assert_array_equal(np.isneginf(got), np.isneginf(want))
    got, want, scores = (np.where(np.isneginf(a), 0.0, a) for a in (got, want, scores))
    size = np.maximum(1.0, np.abs(want)) * 1e-13 + np.abs(scores).max(axis=1, keepdims=True, initial=0.0) * 1e-15
    assert (np.abs(got - want) <= size).all()


@every_build
@every_count_of_classes
@pytest.mark.parametrize("make", SCORES.values(), ids=SCORES.keys())
def test_posterior_sums_to_one_whatever_the_size_of_the_scores(build, k, make):
    with using(build):
        p = ops.posterior(make(np.random.default_rng(0), 500, k), logs=False)
    np.testing.assert_allclose(p[~np.isnan(p).any(axis=1)].sum(axis=1), 1.0, rtol=1e-13)


def test_specification_of_the_posterior_sums_to_one_whatever_the_size_of_the_scores():
    with ops.specification():
        p = ops.posterior(SCORES["all very unlikely"](np.random.default_rng(0), 500, 8), logs=False)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-13)


@every_build
def test_codes_wider_than_a_register_are_counted_and_looked_up(build):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (500, 2))
    y = rng.integers(0, 70, 500).astype(np.int32)
    with using(build):
        got = ops.crosstab(Codes(codes), y, None, 70)
        want = spec.crosstab(Codes(codes), y, None, 70)
        np.testing.assert_array_equal(got.table, want.table)
        bias = np.zeros(70)
        scores = ops.lookup(Codes(codes), got.offset, got.table, bias)
        np.testing.assert_allclose(scores, spec.lookup(Codes(codes), want.offset, want.table, bias))
