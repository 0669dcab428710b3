"""Histograms: cuts as Fayyad and Irani wrote them, densities that sum to one, and columns that are hard to cut."""

from __future__ import annotations

import numpy as np
import pytest

from deciban.data.blocks import Reals
from deciban.estimation import discretise
from deciban.families.histogram import Histogram


def column(x) -> Reals:
    return Reals(np.asarray(x, dtype=float).reshape(len(x), -1))


def learned(x, y, family: Histogram | None = None, w=None):
    family = family or Histogram()
    y = np.asarray(y, dtype=np.int32)
    return family.estimate(family.tally(column(x), y, w, int(y.max()) + 1))


def log_density(p, x) -> np.ndarray:
    return Histogram().loglik(p, column(x)) + Histogram().carrier(p, column(x))[:, None]


SHAPES = {
    "normal": lambda rng, y: rng.normal(y, 1.0),
    "two humps": lambda rng, y: rng.normal(size=len(y)) + 10 * rng.integers(0, 2, len(y)) + y,
    "skewed": lambda rng, y: np.exp(rng.normal(y, 1.5)),
    "whole": lambda rng, y: rng.poisson(3 + 2 * y).astype(float),
    "two values": lambda rng, y: (rng.random(len(y)) < 0.3 + 0.4 * y).astype(float),
    "constant": lambda rng, y: np.full(len(y), 7.5),
    "all zero": lambda rng, y: np.zeros(len(y)),
    "far away": lambda rng, y: 1e9 + rng.normal(y, 1.0),
    "tiny": lambda rng, y: rng.normal(y, 1.0) * 1e-100,
    "negative": lambda rng, y: -np.exp(rng.normal(y, 1.0)),
    "missing": lambda rng, y: np.where(rng.random(len(y)) < 0.5, np.nan, rng.normal(y, 1.0)),
    "no cell at all": lambda rng, y: np.full(len(y), np.nan),
}
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


@every_shape
@pytest.mark.parametrize("n", [1, 5, 300])
def test_density_sums_to_one_tails_included(shape, n):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2 if n > 1 else np.array([0])
    p = learned(shape(rng, y), y)
    edges = p.shapes[0].edges
    assert (np.diff(edges) > 0).all()
    middle = edges[:-1] / 2 + edges[1:] / 2
    inside = np.exp(log_density(p, middle) + np.log(np.diff(edges))[:, None]).sum(axis=0)
    width = edges[-1] - edges[0]
    beyond = np.linspace(0, 60, 60_001)[1:]  # in widths: the tails fall by e with each
    step, tails = beyond[1] - beyond[0], 0.0
    for x in (edges[0] - (beyond - beyond[0] / 2) * width, edges[-1] + (beyond - beyond[0] / 2) * width):
        tails = tails + np.exp(log_density(p, x) + np.log(width * step)).sum(axis=0)
    assert (tails > 0).all()
    np.testing.assert_allclose(inside + tails, 1.0, rtol=1e-6)


@every_shape
def test_evidence_holds_on_beyond_the_data(shape):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    p = learned(shape(rng, y), y)
    low, high = p.shapes[0].edges[[0, -1]]
    width = high - low
    ends, far = [low + 1e-9 * width, high - 1e-9 * width], [low - 100 * width, high + 1e6 * width]
    np.testing.assert_array_equal(Histogram().loglik(p, column(far)), Histogram().loglik(p, column(ends)))
    assert np.isfinite(Histogram().loglik(p, column([1e300, -1e300]))).all()


# cuts


def bits(counts: np.ndarray) -> float:
    """Entropy of one set, in bits."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def fayyad_irani(counts: np.ndarray, start: int = 0) -> list[int]:
    """The recursion as the paper has it, over every border in turn."""
    n, m = counts.sum(), counts.shape[1]
    best = None
    for at in range(1, m):
        left, right = counts[:, :at].sum(axis=1), counts[:, at:].sum(axis=1)
        if left.sum() == 0 or right.sum() == 0:
            continue
        after = (left.sum() * bits(left) + right.sum() * bits(right)) / n
        if best is None or after < best[0] - 1e-12:
            best = (after, at, left, right)
    if best is None or n <= 2:
        return []
    after, at, left, right = best
    whole = counts.sum(axis=1)
    c, c1, c2 = ((part > 0).sum() for part in (whole, left, right))
    price = np.log2(3.0**c - 2) - (c * bits(whole) - c1 * bits(left) - c2 * bits(right))
    if bits(whole) - after <= (np.log2(n - 1) + price) / n:
        return []
    return [*fayyad_irani(counts[:, :at], start), start + at, *fayyad_irani(counts[:, at:], start + at)]


@pytest.mark.parametrize("seed", range(30))
def test_cuts_are_those_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    k, m = rng.integers(2, 5), rng.integers(2, 40)
    steps = np.repeat(rng.dirichlet(np.full(k, 0.4), 4), 10, axis=0)[:m]
    counts = rng.poisson(rng.uniform(1, 12) * steps).T.astype(float)
    assert discretise.supervised(counts) == fayyad_irani(counts)


def test_classes_that_are_alike_are_not_cut_and_those_apart_are():
    assert discretise.supervised(np.full((3, 20), 5.0)) == []
    apart = np.zeros((3, 30))
    apart[0, :10] = apart[1, 10:20] = apart[2, 20:] = 4.0
    assert discretise.supervised(apart) == [10, 20]
    assert discretise.supervised(np.zeros((2, 5))) == []
    assert discretise.supervised(np.zeros((2, 0))) == []
    assert discretise.supervised(np.ones((1, 50))) == []


def test_very_many_classes_have_a_price():
    rng = np.random.default_rng(0)
    counts = np.eye(60).repeat(5, axis=1) * rng.integers(5, 9, 300)
    assert discretise.supervised(counts)


@pytest.mark.parametrize("parts", [1, 2, 5, 64])
def test_even_cuts_make_runs_of_like_weight(parts):
    counts = np.random.default_rng(0).integers(1, 4, 1000).astype(float)
    at = [0, *discretise.even(counts, parts), 1000]
    assert len(at) == parts + 1
    mass = np.add.reduceat(counts, at[:-1])
    assert np.ptp(mass) <= 2 * counts.max() + 1


def test_even_cuts_of_few_values_are_few():
    assert discretise.even(np.array([5.0]), 8) == []
    assert discretise.even(np.array([1.0, 100.0, 1.0]), 8) in ([1, 2], [2], [1])
    assert discretise.even(np.ones(3), 64) == [1, 2]


# the family


@every_shape
def test_merged_tallies_are_the_joint_fit(shape):
    rng = np.random.default_rng(0)
    y = (np.arange(300) % 3).astype(np.int32)
    x, f = shape(rng, y), Histogram()
    a, b = (f.tally(column(x[part]), y[part], None, 3) for part in (slice(120), slice(120, 300)))
    whole = learned(x, y)
    for t in (a + b, b + a):
        p = f.estimate(t)
        assert [c.tolist() for c in p.cuts] == [c.tolist() for c in whole.cuts]
        np.testing.assert_allclose(log_density(p, x), log_density(whole, x))
    left = f.estimate((a + b) - b)
    np.testing.assert_allclose(log_density(left, x[:120]), log_density(f.estimate(a), x[:120]))


@every_shape
def test_weight_is_repetition(shape):
    rng = np.random.default_rng(0)
    y, times = np.arange(100) % 2, rng.integers(1, 4, 100)
    x = shape(rng, y)
    weighed, again = learned(x, y, w=times.astype(float)), learned(np.repeat(x, times), np.repeat(y, times))
    np.testing.assert_allclose(log_density(weighed, x), log_density(again, x))


@every_shape
def test_missing_cell_is_no_evidence(shape):
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    assert log_density(learned(shape(rng, y), y), [np.nan]).tolist() == [[0.0, 0.0]]


def test_rows_leave_the_counts_and_the_cuts_stay():
    rng = np.random.default_rng(0)
    y = (np.arange(120) % 3).astype(np.int32)
    x = np.stack([rng.normal(2.0 * y), rng.poisson(2 + 2 * y)], axis=1).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    w = rng.choice([0.5, 1.0, 2.0], 120)
    f = Histogram(alpha=0.7)
    for weight in (None, w):
        t = f.tally(Reals(x), y, weight, 3)
        p = f.estimate(t)
        assert sum(map(len, p.cuts)) >= 3
        got = f.leave_one_out(t, Reals(x), y, weight)
        codes, taken = p.codes(Reals(x)), np.ones(120) if weight is None else weight
        for i in range(120):
            want = 0.0
            for j in range(2):
                counts = np.array(p.counts[y[i], p.offset[j] : p.offset[j + 1]])
                if codes[i, j] >= 0:
                    counts[codes[i, j]] -= taken[i]
                    want += np.log((counts[codes[i, j]] + 0.7) / (counts.sum() + 0.7 * len(counts)))
            assert got[i, y[i]] == pytest.approx(want, abs=1e-9)
        others = np.arange(3) != y[:, None]
        np.testing.assert_array_equal(got[others], f.loglik(p, Reals(x))[others])


def test_parts_sum_to_the_score_and_some_columns_are_part_of_all():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    x = np.stack([rng.normal(3.0 * y), np.full(200, np.nan), rng.poisson(2 + 4 * y)], axis=1).astype(float)
    p, f = learned(x, y), Histogram()
    np.testing.assert_allclose(f.parts(p, Reals(x)).sum(axis=2), f.loglik(p, Reals(x)))
    some = p.part([2, 0])
    np.testing.assert_allclose(f.loglik(some, Reals(x[:, [2, 0]])), f.loglik(p, Reals(x)))


def test_every_cell_is_scored_in_the_interval_that_it_was_counted_in():
    """Numbers at the borders of neighbouring cells, above and below zero."""
    for near, far in ((3.0, np.nextafter(3.0, 0)), (-3.0, np.nextafter(-3.0, 0)), (-1.5, -1.4999)):
        x, y = np.repeat([near, far], 30), np.repeat([0, 1], 30)
        p = learned(x, y)
        assert p.codes(column([near, far])).ravel().tolist() == ([1, 0] if far < near else [0, 1])
        assert Histogram().loglik(p, column([near, far])).argmax(axis=1).tolist() == [0, 1]


def test_constant_column_tells_nothing():
    y = np.arange(50) % 2
    for value in (0.0, 3.0, -1e9):
        scores = Histogram().loglik(learned(np.full(50, value), y), column([value, value + 1]))
        np.testing.assert_allclose(scores, 0.0, atol=1e-12)


def test_what_is_drawn_teaches_the_density_back():
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 2).astype(np.int32)
    x = np.where(rng.random(4000) < 0.5, rng.normal(0, 1, 4000), rng.normal(9, 0.5, 4000)) + y
    p = learned(x, y)
    drawn = Histogram().sample(p, y, rng)
    again = learned(drawn, y)
    at = np.linspace(-2, 11, 60)
    for c in (0, 1):
        for q in (0.1, 0.3, 0.7, 0.9):
            assert np.quantile(drawn[y == c], q) == pytest.approx(np.quantile(x[y == c], q), abs=0.35)
    gap = np.diff(Histogram().loglik(again, column(at)) - Histogram().loglik(p, column(at)), axis=1)
    assert np.median(np.abs(gap)) < 0.4
    assert np.isnan(Histogram().sample(learned(np.full(9, np.nan), np.arange(9) % 2), y[:5], rng)).all()
