"""The compiled twin of every operation on logistic and softmax loss equals its specification."""

from __future__ import annotations

import numpy as np
import pytest

from deciban.data.blocks import Reals, Table
from deciban.logistic.objective import Objective
from deciban.ops import logistic, spec

from ..support.builds import HARD, every_build, using
from ..support.strategies import DENSE, SPARSE, Rows

TAKEN = {name: rows for name, rows in HARD.items() if not np.isnan(rows.cells).any() and rows.n > 0}
every_case = pytest.mark.parametrize("rows", TAKEN.values(), ids=TAKEN.keys())


def problem(rows: Rows, k: int, intercept: bool, seed: int = 0):
    """(y, w, coef, v) whose margins are a few units, whatever the size of the cells."""
    rng, d = np.random.default_rng(seed), rows.cells.shape[1]
    size = max(np.abs(rows.cells).max(initial=0.0), 1e-300)
    shape = (1 if k == 2 else k, d + intercept)
    scale = np.append(np.full(d, 1.0 / size), [1.0] * intercept)
    coef, v = (rng.normal(size=shape) * scale for _ in range(2))
    return rng.integers(0, k, rows.n).astype(np.int32), rows.w, coef, v


def forms(rows: Rows):
    large = np.abs(rows.cells).max(initial=0.0)
    few = DENSE + SPARSE if rows.cells.size < 1e4 else DENSE[:2] + SPARSE[:1]
    return [form for form in few if form.dtype == "float64" or 1e-30 < large < 1e30]


def with_wanted(rows: Rows, specified):
    """(x, what the specification says of it) for x in every form; that depends on the cells, not on how they lie."""
    known = {}
    for form in forms(rows):
        x = form(rows.cells)
        if form.dtype not in known:
            known[form.dtype] = specified(x)
        yield x, known[form.dtype]


def assert_close(got, want, size) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11 * max(float(np.max(size, initial=0.0)), 1e-290))


@every_build
@every_case
@pytest.mark.parametrize("intercept", [True, False])
def test_loss_and_gradient_equal_their_specification(build, rows, intercept):
    for k in (2, 3, 5, 11):
        y, w, coef, _ = problem(rows, k, intercept)
        for x, (value, gradient) in with_wanted(rows, lambda x: spec.slope(x, y, w, coef)):  # noqa: B023
            with using(build):
                got, slope = logistic.slope(x, y, w, logistic.pack(x, coef), len(coef))
                slope = logistic.unpack(x, slope, len(coef))
            assert got == pytest.approx(value, rel=1e-11)
            assert_close(slope, gradient, np.abs(rows.cells).sum(axis=0))


@every_build
@every_case
def test_curvature_equals_its_specification(build, rows):
    cases = [(2, True), (2, False), (3, True), (6, True)]
    for k, intercept in cases if rows.cells.shape[1] < 100 else cases[1:3]:  # wide: of (k d)² cells
        y, w, coef, v = problem(rows, k, intercept)
        m = len(coef)
        with np.errstate(over="ignore", under="ignore"):
            size = np.abs(rows.cells).max(initial=1.0) ** 2 * rows.n
        if not np.isfinite(size):
            continue

        def specified(x):
            return (
                *spec.slope(x, y, w, coef),  # noqa: B023
                spec.blocks(x, w, coef),  # noqa: B023
                *spec.diagonal(x, y, w, coef)[2:],  # noqa: B023
                spec.product(x, w, coef, v),  # noqa: B023
            )

        for x, want in with_wanted(rows, specified):
            with using(build):
                value, gradient, blocks = logistic.curve(x, y, w, coef)
                loss, *sums = logistic.diagonal(x, y, w, logistic.pack(x, coef), m)
                steepness, first, second = (logistic.unpack(x, a, m) for a in sums)
                turned = logistic.product(x, w, logistic.pack(x, coef), logistic.pack(x, v), m)
                turned = logistic.unpack(x, turned, m)
            assert (value, loss) == pytest.approx((want[0], want[0]), rel=1e-11)
            columns = np.abs(rows.cells).sum(axis=0)
            sizes = (columns, columns, size, columns, size, size * np.abs(v).max())
            found = (gradient, steepness, blocks, first, second, turned)
            for got, wanted, scale in zip(found, (want[1], *want[1:]), sizes, strict=True):
                assert_close(got, wanted, scale)


@every_build
@pytest.mark.parametrize("margin", [-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0])
def test_margins_far_out_lose_no_digits_of_the_loss(build, margin):
    """Against the same sum with what is largest taken out of the logarithm: 1e-18 is no zero."""
    x = Reals(np.array([[margin]]))
    for k in (2, 4):
        coef = np.array([[1.0, 0.0]]) if k == 2 else np.outer(np.arange(k), [1.0, 0.0])
        scores = np.array([0.0, margin]) if k == 2 else margin * np.arange(k)
        for label in range(k):
            others = np.delete(scores, label) - scores[label]
            top = max(others.max(), 0.0)
            want = top + np.log1p(np.exp(others - top).sum() - (top > 0) * (1.0 - np.exp(-top)))
            with using(build):
                value, _ = logistic.slope(x, np.array([label], dtype=np.int32), None, coef, len(coef))
            np.testing.assert_allclose(value, want, rtol=1e-13, atol=1e-300)


@every_build
def test_coordinate_descent_equals_its_specification(build):
    rng = np.random.default_rng(0)
    for size in (1, 3, 20):
        a = rng.normal(size=(size + 5, size))
        h, g, w, lasso = a.T @ a, rng.normal(size=size) * 5, rng.normal(size=size), rng.choice([0.0, 1.0, 4.0], size)
        with using(build):
            d, turn = logistic.lasso_descent(h, g, w, lasso, 1e-26, 10_000)
        want = spec.lasso_descent(h, g, w, lasso, 1e-26, 10_000)
        np.testing.assert_allclose(d, want[0], atol=1e-9)
        np.testing.assert_allclose(turn, h @ d, atol=1e-9)


@every_build
def test_online_rule_equals_its_specification(build):
    rng = np.random.default_rng(0)
    for m, d in ((1, 3), (4, 9), (3, 1)):
        x, y = Reals(rng.normal(size=(90, d))), rng.integers(0, max(m, 2), 90).astype(np.int32)
        w, decay = rng.uniform(0, 2, 90), np.append(np.full(d, 0.01), 0.0)
        states = []
        for use in (spec.online, logistic.online):
            state = np.zeros((m, d + 1)), np.zeros((m, d + 1)), np.zeros(2)
            with using(build):
                use(x, y, w, 0.5, decay, *state)
            states.append(state)
        for got, want in zip(*states, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@every_build
@pytest.mark.parametrize("k", [2, 3])
def test_gradient_and_hessian_are_the_slopes_of_value_and_gradient(build, k):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)), rng.integers(0, k, 40).astype(np.int32)
    with using(build):
        f = Objective.of(Table(Reals(x), y, rng.uniform(0.5, 2, 40), k), l2=0.3)
        w, step = rng.normal(size=f.size), 1e-6
        value, gradient, hessian = f.curve(w)
        for j in range(f.size):
            e = step * np.eye(f.size)[j]
            assert (f.slope(w + e)[0] - f.slope(w - e)[0]) / (2 * step) == pytest.approx(
                gradient[j], rel=1e-6, abs=1e-6
            )
            difference = (f.slope(w + e)[1] - f.slope(w - e)[1]) / (2 * step)
            np.testing.assert_allclose(difference, hessian[j], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(f.product(w, e / step), hessian[j], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(f.diagonal(w)[1].ravel(), hessian.diagonal(), rtol=1e-11)
        assert value == pytest.approx(f.slope(w)[0], rel=1e-13)
