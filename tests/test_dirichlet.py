"""Smoothed shares, and the pseudo-count that foretells rows best, against counts with one row really taken out."""

from __future__ import annotations

import numpy as np
import pytest

from deciban.estimation.dirichlet import GRID, best_alpha, column_sums, held_out, log_shares, own_held_out, spread

LEVELS = np.array([3, 2, 4])
OFFSET = np.r_[0, np.cumsum(LEVELS)]


def rows(n: int = 60, seed: int = 0, holes: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """(codes (n, d), y), two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    codes = np.minimum(rng.geometric(0.5, (n, 3)) - 1 + (y[:, None] * rng.integers(0, 2, 3)), LEVELS - 1)
    return np.where(rng.random(codes.shape) < holes, -1, codes), y


def counts(codes: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    table = np.zeros((2, OFFSET[-1]))
    w = np.ones(len(y)) if w is None else w
    for row, c, weight in zip(codes, y, w, strict=True):
        for j, code in enumerate(row):
            if code >= 0:
                table[c, OFFSET[j] + code] += weight
    return table


@pytest.mark.parametrize("alpha", [0.0, 0.5, np.array([0.1, 1.0, 3.0])])
def test_shares_of_a_column_sum_to_one(alpha):
    table = counts(*rows())
    shares = np.exp(log_shares(table, OFFSET, alpha))
    np.testing.assert_allclose(column_sums(shares, OFFSET), 1.0)
    a = np.broadcast_to(alpha, 3)
    want = (table[:, 3:5] + a[1]) / (table[:, 3:5].sum(axis=1, keepdims=True) + 2 * a[1])
    np.testing.assert_allclose(shares[:, 3:5], want)


def test_class_without_counts_has_even_shares():
    shares = np.exp(log_shares(np.zeros((1, 9)), OFFSET, 0.0))
    np.testing.assert_allclose(shares[0], spread(1 / LEVELS, OFFSET))


def test_columns_without_levels_are_no_trouble():
    offset = np.array([0, 0, 2, 2])
    table = np.array([[3.0, 1.0]])
    assert column_sums(table, offset).tolist() == [[0.0, 4.0, 0.0]]
    np.testing.assert_allclose(np.exp(log_shares(table, offset, 1.0)), [[4 / 6, 2 / 6]])
    assert held_out(table, offset, 1.0).shape == (3,)
    assert best_alpha(table, offset).shape == (3,)
    assert np.isfinite(best_alpha(table, offset)).all()


@pytest.mark.parametrize("alpha", [1e-3, 0.5, 2.0])
def test_held_out_is_the_log_share_of_each_row_when_it_is_taken_out(alpha):
    codes, y = rows()
    want = np.zeros(3)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        logs = log_shares(counts(codes[rest], y[rest]), OFFSET, alpha)
        for j in range(3):
            if codes[i, j] >= 0:
                want[j] += logs[y[i], OFFSET[j] + codes[i, j]]
    np.testing.assert_allclose(held_out(counts(codes, y), OFFSET, alpha), want)


def test_best_alpha_is_the_best_of_the_grid_for_each_column():
    for seed in range(5):
        table = counts(*rows(seed=seed))
        scores = np.array([held_out(table, OFFSET, alpha) - 0.25 * np.log(alpha) ** 2 for alpha in GRID])
        scores[GRID < 0.5] = -np.inf  # fewer than 100 rows
        assert best_alpha(table, OFFSET).tolist() == GRID[scores.argmax(axis=0)].tolist()


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.3, np.array([0.1, 1.0, 3.0])])
def test_own_held_out_takes_each_row_out_of_its_class(alpha, weighed):
    codes, y = rows(30)
    w = np.random.default_rng(1).choice([0.25, 1.0, 2.0], 30) if weighed else None
    table = counts(codes, y, w)
    with np.errstate(divide="ignore"):
        got = own_held_out(table, OFFSET, alpha, codes, y, w)
    for i in range(30):
        rest = np.arange(30) != i
        logs = log_shares(counts(codes[rest], y[rest], None if w is None else w[rest]), OFFSET, alpha)[y[i]]
        here = codes[i] >= 0
        np.testing.assert_allclose(got[i], logs[OFFSET[:-1][here] + codes[i][here]].sum(), atol=1e-9)


@pytest.mark.parametrize("kept", [None, 0.5])
def test_rows_without_weights_are_held_out_like_rows_of_weight_one(kept):
    codes, y = rows(30)
    table, share = counts(codes, y, None), None if kept is None else np.full(OFFSET[-1], kept)
    codes[3, 0], y[3] = np.flatnonzero(table[0, : OFFSET[1]])[0], 0
    table[0, codes[3, 0]] = 0.0  # no such row is in the counts
    with np.errstate(divide="ignore"):
        each = [own_held_out(table, OFFSET, 0.3, codes, y, w, share) for w in (None, np.ones(30))]
    assert np.isnan(each[0][3])
    np.testing.assert_array_equal(*each)


def test_codes_past_the_levels_are_no_evidence():
    table = counts(*rows())
    got = own_held_out(table, OFFSET, 1.0, np.array([[7, -1, 4]]), np.array([0]), None)
    assert got.tolist() == [0.0]


def test_even_levels_ask_for_much_smoothing_and_one_level_for_little():
    even, one = np.full((1, 4), 25.0), np.array([[100.0, 0.0, 0.0, 0.0]])
    offset = np.array([0, 4])
    assert best_alpha(one, offset)[0] < 1 < best_alpha(even, offset)[0]
    assert best_alpha(100 * one, offset)[0] < best_alpha(one, offset)[0]


def test_few_rows_stay_near_one_pseudo_count():
    for table in ([[6.0, 0.0], [0.0, 6.0]], [[2.0, 1.0], [1.0, 2.0]], [[14.0, 0.0], [0.0, 1.0]]):
        assert 0.5 <= best_alpha(np.array(table), np.array([0, 2]))[0] <= 4
