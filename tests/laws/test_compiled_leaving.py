"""The compiled twin of every operation that leaves rows out equals its specification."""

from __future__ import annotations

import numpy as np
import pytest

from deciban import ops
from deciban.data.blocks import Reals
from deciban.gaussian.leave_one_out import DEEP, SAFE_PAIR, GivenPrior, PairsLeft, students
from deciban.ops import leave_one_out, spec
from deciban.ops.spec import Shrunk

from ..support.builds import HARD, every_build, using
from ..support.strategies import Rows

TAKEN = {name: rows for name, rows in HARD.items() if rows.n >= rows.k > 0 and rows.cells.shape[1] > 0}
every_case = pytest.mark.parametrize("rows", TAKEN.values(), ids=TAKEN.keys())


def memories(cells: np.ndarray) -> list[np.ndarray]:
    return [np.ascontiguousarray(cells), np.asfortranarray(cells), cells[::-1]]


def assert_equal(got: np.ndarray, want: np.ndarray, rtol: float = 1e-8) -> None:
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    size = np.maximum(1.0, np.abs(want))
    np.testing.assert_allclose(got / size, want / size, rtol=0, atol=rtol)


def spread(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Means (d,) and deviations of the cells that are there."""
    with np.errstate(all="ignore"):
        there = np.nan_to_num(rows.cells)
        return there.mean(axis=0), np.maximum(there.std(axis=0), 1e-290)


@every_build
@every_case
def test_left_normals_equals_its_specification(build, rows):
    mean, deviation = spread(rows)
    rng = np.random.default_rng(0)
    scale = rng.uniform(0.02, 0.3, (rows.k, rows.cells.shape[1])) / deviation
    mean, bias, far = np.tile(mean, (rows.k, 1)), rng.normal(size=rows.k), rng.uniform(1, 9, rows.k)
    with using(build), np.errstate(all="ignore"):
        for cells in memories(rows.cells):
            want = spec.loo_normal(cells, rows.y, mean, scale, bias, far, 1e-4)
            assert_equal(leave_one_out.loo_normal(cells, rows.y, mean, scale, bias, far, 1e-4), want)


def pairs_of(d: int, q: int, seed: int = 0) -> tuple[PairsLeft, np.ndarray]:
    """q + 1 classes, and rows of the first."""
    rng = np.random.default_rng(seed)
    covs = np.stack([np.cov(rng.normal(size=(d, 3 * d + 4)) * rng.uniform(0.1, 9, (d, 1))) for _ in range(q + 1)])
    covs = covs.reshape(q + 1, d, d)
    mean = rng.normal(size=(q + 1, d))
    cells = mean[0] + rng.normal(size=(77, d)) * np.sqrt(np.diagonal(covs[0]))
    return PairsLeft.of(np.full(q + 1, 40.0), mean, covs), cells


@every_build
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize(("d", "q"), [(1, 1), (4, 2), (5, 7), (23, 3)])
def test_left_pairs_equals_its_specification(build, weighed, d, q):
    left, cells = pairs_of(d, q)
    cells[5, d // 2] = np.nan
    w = np.random.default_rng(1).choice([0.0, 0.5, 3.0, 40.0], len(cells)) if weighed else None
    (p,) = left._pairs(0, np.arange(1, q + 1))
    with using(build):
        for rows in memories(cells):
            got = leave_one_out.loo_pairs(rows, w, p, SAFE_PAIR)
            assert_equal(got, spec.loo_pairs(rows, w, p, SAFE_PAIR))
            assert np.isnan(got).any()
            assert not np.isnan(got).all()


def test_pairs_told_from_either_side_share_their_coordinates():
    left, _ = pairs_of(4, 3)
    for a in range(4):
        others = np.array([b for b in range(4) if b != a])
        (p,) = left._pairs(a, others)
        for turn, part, b in zip(p.turn, p.part, others, strict=True):
            np.testing.assert_allclose(turn @ left.covs[a] @ turn.T, np.diag(part), atol=1e-12)
            np.testing.assert_allclose(turn @ left.covs[b] @ turn.T, np.diag(1 - part), atol=1e-12)


def test_pairs_too_many_to_keep_are_the_same(monkeypatch):
    left, cells = pairs_of(4, 3)
    want = left.odds(2, np.array([0, 1, 3]), cells, None)
    monkeypatch.setattr("deciban.gaussian.leave_one_out.KEPT", 0)
    monkeypatch.setattr("deciban.gaussian.leave_one_out.RUN", 1)
    again = PairsLeft.of(left.n, left.mean, left.covs)
    assert not again.known
    assert_equal(again.odds(2, np.array([0, 1, 3]), cells, None), want)


@every_build
@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 5), (3, 23), (12, 4), (40, 2)])
def test_left_shared_equals_its_specification(build, k, d):
    rng = np.random.default_rng(0)
    cells, y = rng.normal(size=(145, d)), rng.integers(0, k, 145).astype(np.int32)
    mean, white = rng.normal(size=(k, d)), np.tril(rng.normal(size=(d, d)))
    phi, tau = 0.02 * rng.random(145) / d, 1 + rng.random(145)
    cells[7, d // 2] = np.nan
    with using(build):
        for rows in memories(cells):
            for some in (phi, phi[:1]):
                wide = np.broadcast_to(some, 145)
                want = spec.loo_shared(rows, y, mean, white, wide, tau)
                for got, each in zip(leave_one_out.loo_shared(rows, y, mean, white, some, tau), want, strict=True):
                    assert_equal(got, each, 1e-11)


@every_build
@pytest.mark.parametrize(("f", "p", "d"), [(1, 1, 1), (1, 6, 4), (3, 1, 7), (2, 3, 23)])
def test_left_shrunk_equals_its_specification(build, f, p, d):
    rng = np.random.default_rng(0)
    m = 45
    white, rest, t = rng.normal(size=(f, d, d)), -rng.random((f, d)), rng.normal(size=(f, p, d))
    s = Shrunk(rng.normal(size=d), white, rest, t)
    phi, tau, gone = 0.01 * rng.random((f, m)), 1 + rng.random((f, 1)), 0.2 * rng.random((f, m))
    with using(build):
        for x in memories(rng.normal(size=(m, d))):
            want = spec.loo_shrunk(x, s, phi, tau, gone)
            for got, each in zip(leave_one_out.loo_shrunk(x, s, phi, tau, gone), want, strict=True):
                assert_equal(got, each, 1e-11)


@every_build
@pytest.mark.parametrize("moves", [(False, False), (True, False), (False, True), (True, True)])
@every_case
def test_left_students_equals_its_specification(build, moves, rows):
    mean, deviation = spread(rows)
    t = ops.moments(Reals(np.nan_to_num(rows.cells)), rows.y, None, rows.k)
    if (t.n <= 0).any():
        return
    prior = GivenPrior(mean, np.maximum(deviation**2, 1e-290), 0.01, 0.5, 1e-290, 1e-3, *moves)
    with np.errstate(all="ignore"):
        s = students(t, prior)
        with using(build):
            for cells in memories(rows.cells):
                got = leave_one_out.loo_students(cells, rows.y, s, DEEP)
                want = spec.loo_students(cells, rows.y, s, DEEP)
                large = np.isnan(got).all(axis=1) & (np.abs(want) > 700).any(axis=1)  # a product does not fit a double
                assert_equal(got[~large], want[~large])


@every_build
@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("terms", [1, 3])
@pytest.mark.parametrize(("n", "d", "k"), [(0, 3, 2), (5, 1, 1), (67, 9, 3), (40, 150, 11)])
def test_series_equals_its_specification(build, weighed, terms, n, d, k):
    rng = np.random.default_rng(0)
    coef, w = rng.normal(size=(terms, k, d)), rng.random(n) if weighed else None
    with using(build):
        for cells in memories(rng.normal(size=(n, d))):
            assert_equal(leave_one_out.series(cells, w, coef), spec.series(cells, w, coef), 1e-11)
