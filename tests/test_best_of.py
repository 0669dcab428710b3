"""The rows choose a column's family: the right one, and the same one however they came."""

from __future__ import annotations

import numpy as np
import pytest

from deciban.classifiers.mixed import choice
from deciban.composites.best_of import BestOf
from deciban.data.blocks import Reals
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram
from deciban.families.poisson import Poisson
from deciban.families.student import Student

AUTO = choice("auto", 1)
Y = (np.arange(900) % 3).astype(np.int32)
COLUMNS = {
    "normal": (lambda rng, y: rng.normal(y, 1.0), {"Student"}),
    "normal, spreads differ": (lambda rng, y: rng.normal(0.0, 1.0 + y), {"Student"}),
    "normal, far away": (lambda rng, y: 1e6 + rng.normal(y, 1.0), {"Student"}),
    "normal, so far away that the grid is blind": (lambda rng, y: 1e12 + rng.normal(y, 1.0), {"Student"}),
    "lognormal": (lambda rng, y: np.exp(rng.normal(y, 1.0)), {"Student of logs"}),
    "lognormal, small": (lambda rng, y: 1e-6 * np.exp(rng.normal(y, 2.0)), {"Student of logs"}),
    "counts": (lambda rng, y: rng.poisson(1.0 + 2 * y).astype(float), {"GammaPoisson"}),
    "skewed below zero": (lambda rng, y: -np.exp(rng.normal(y, 1.5)), {"Histogram"}),
    "two values": (lambda rng, y: 30.0 * (rng.random(len(y)) < 0.2 + 0.3 * y), {"Histogram"}),
    "levels in no order": (
        lambda rng, y: np.where(rng.random(len(y)) < 0.6, (2 * y) % 5, rng.integers(0, 5, len(y))) * 1.0,
        {"Histogram"},
    ),
    "one value": (lambda rng, y: np.full(len(y), 0.1), {"Histogram"}),
    "many zeros": (
        lambda rng, y: np.where(rng.random(len(y)) < 0.3 + 0.2 * y, 0.0, rng.exponential(50, len(y))),
        {"Histogram"},
    ),
}
every_column = pytest.mark.parametrize(("draw", "right"), COLUMNS.values(), ids=COLUMNS.keys())


def chosen(x: np.ndarray, y=Y, w=None, family: BestOf = AUTO) -> list[str]:
    t = family.tally(Reals(x.reshape(len(y), -1)), y, w, 3)
    return [named(f) for f in family.estimate(t).families]


def named(family) -> str:
    return type(family).__name__ + (" of logs" if getattr(family, "log", False) else "")


@every_column
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_choose_the_family_that_made_them(draw, right, seed):
    assert set(chosen(draw(np.random.default_rng(seed), Y))) <= right


def test_every_column_chooses_for_itself():
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    alone = [chosen(column)[0] for column in x.T]
    assert chosen(x) == alone
    assert len(set(alone)) >= 4


def test_choice_is_the_same_in_parts_in_any_order_and_when_rows_have_come_and_gone():
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    x[rng.random(x.shape) < 0.2] = np.nan
    exact = [name != "normal, so far away that the grid is blind" for name in COLUMNS]  # means of 1e12 have few digits
    parts = [AUTO.tally(Reals(x[at]), Y[at], None, 3) for at in (slice(200), slice(200, 500), slice(500, 900))]
    whole = AUTO.estimate(AUTO.tally(Reals(x), Y, None, 3))
    for t in (
        parts[0] + parts[1] + parts[2],
        parts[2] + parts[0] + parts[1],
        (sum(parts[1:], parts[0])) + parts[0] - parts[0],
    ):
        p = AUTO.estimate(t)
        assert p.families == whole.families
        got, want = (AUTO.parts(params, Reals(x))[:, :, exact] for params in (p, whole))
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


def test_forgetting_the_cell_that_ruled_a_family_out_lets_it_back_in():
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(Y, 1.0))
    x[0] = -1.0
    t = AUTO.tally(Reals(x[:, None]), Y, None, 3)
    assert "Student of logs" not in [named(f) for f in AUTO.estimate(t).families]
    left = t - AUTO.tally(Reals(x[:1, None]), Y[:1], None, 3)
    assert [named(f) for f in AUTO.estimate(left).families] == ["Student of logs"]


def test_one_cell_outside_rules_a_family_out():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0 + Y).astype(float)
    assert chosen(counts) == ["GammaPoisson"]
    for odd in (2.5, -1.0):
        wrong = counts.copy()
        wrong[7] = odd
        assert chosen(wrong) != ["GammaPoisson"]


def test_weight_is_repetition():
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    times = rng.integers(1, 4, 900)
    assert chosen(x, w=times.astype(float)) == chosen(np.repeat(x, times, axis=0), np.repeat(Y, times))


def test_lone_row_of_a_class_makes_no_spike():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(200), np.ones(200), 2].astype(np.int32)
    x = rng.normal(size=401)
    t = AUTO.tally(Reals(x[:, None]), y, None, 3)
    scores = AUTO.loglik(AUTO.estimate(t), Reals(x[[-1], None]))[0]
    assert scores[2] - scores[0] < 5.0  # nats, at its own row


def test_column_without_any_cell_says_nothing():
    t = AUTO.tally(Reals(np.full((900, 1), np.nan)), Y, None, 3)
    assert not np.ptp(AUTO.loglik(AUTO.estimate(t), Reals(np.array([[3.0], [np.nan]]))), axis=1).any()


def test_column_of_one_value_says_nothing_however_many_rows_a_class_has():
    y = np.r_[np.zeros(300), np.ones(20)].astype(np.int32)
    t = AUTO.tally(Reals(np.full((320, 1), 0.1)), y, None, 2)
    assert np.abs(np.diff(AUTO.loglik(AUTO.estimate(t), Reals(np.array([[0.1]]))), axis=1)).max() < 0.1


def test_histogram_of_one_interval_is_no_choice():
    family = BestOf((Student(), Histogram()))
    assert chosen(np.random.default_rng(0).normal(size=900), family=family) == ["Student"]


def test_no_cell_says_more_than_its_rows_can_support():
    x = np.random.default_rng(0).normal(300.0 * Y, 1.0)[:, None]
    t = AUTO.tally(Reals(x), Y, None, 3)
    said = AUTO.parts(AUTO.estimate(t), Reals(x))[:, :, 0]
    assert (said.max(axis=1) - said.min(axis=1)).max() <= np.log(2 * 300 + 900) + 1e-9


def test_rows_left_out_are_limited_by_the_rows_that_are_left():
    rng = np.random.default_rng(0)
    y = (np.arange(30) % 2).astype(np.int32)
    x = np.round(rng.normal(40.0 * y, 1.0), 1)[:, None]
    family = BestOf((Student(),))
    got = family.leave_one_out(family.tally(Reals(x), y, None, 2), Reals(x), y, None)
    for i in range(30):
        rest = np.arange(30) != i
        p = family.estimate(family.tally(Reals(x[rest]), y[rest], None, 2))
        np.testing.assert_allclose(got[i], family.loglik(p, Reals(x[[i]]))[0], rtol=1e-9)


def test_rows_left_out_did_not_choose_the_cuts_that_score_them():
    """Of noise, a row in its own cell looks as if it were foreseen."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60).astype(np.int32)
    x = rng.normal(size=(60, 40))
    x[:, :5] += y[:, None]
    family = BestOf((Histogram(),))
    p = family.estimate(family.tally(Reals(x), y, None, 2))
    t = family.tally(Reals(x), y, None, 2)
    own = np.arange(60), y
    held = family.leave_one_out(t, Reals(x), y, None)
    flattered = Histogram().leave_one_out(t.parts[1], Reals(x), y, None)
    lead = [(scores[own] - scores[own[0], 1 - y]).mean() for scores in (held, flattered)]
    assert p.cross_fitted
    assert lead[0] < lead[1]


def test_chosen_families_score_leave_out_and_draw_as_they_do_alone():
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(Y / 2), rng.poisson(2.0 + Y), 30.0 * (rng.random(900) < 0.2 + 0.3 * Y)], axis=1)
    x[rng.random(x.shape) < 0.1] = np.nan
    family = BestOf((Gaussian(each=True), Poisson(), Histogram(cuts="values")))
    t = family.tally(Reals(x), Y, None, 3)
    p = family.estimate(t)
    assert [type(f).__name__ for f in p.families] == ["Gaussian", "Poisson", "Histogram"]
    score, left, common = np.zeros((900, 3)), np.zeros((900, 3)), np.zeros(900)
    for j, alone in enumerate(p.families):
        own = alone.tally(Reals(x[:, [j]]), Y, None, 3)
        params = alone.estimate(own)
        np.testing.assert_allclose(
            family.parts(p, Reals(x))[:, :, j], alone.loglik(params, Reals(x[:, [j]])), atol=1e-9
        )
        score += alone.loglik(params, Reals(x[:, [j]]))
        left += alone.leave_one_out(own, Reals(x[:, [j]]), Y, None)
        shared = alone.carrier(params, Reals(x[:, [j]]))
        common += 0.0 if shared is None else shared
    np.testing.assert_allclose(family.loglik(p, Reals(x)), score, atol=1e-9)
    np.testing.assert_allclose(family.leave_one_out(t, Reals(x), Y, None), left, atol=1e-9)
    np.testing.assert_allclose(family.carrier(p, Reals(x)), common, atol=1e-9)
    drawn = family.sample(p, Y, rng)
    assert (drawn[:, 1] == np.round(drawn[:, 1])).all()
    assert drawn.mean(axis=0)[:2] == pytest.approx(np.nanmean(x, axis=0)[:2], abs=0.3)


def test_judging_by_some_of_very_many_rows_chooses_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    whole = chosen(x)
    monkeypatch.setattr("deciban.composites.best_of.ENOUGH", 256)
    some = chosen(x)
    assert sum(a == b for a, b in zip(whole, some, strict=True)) >= len(whole) - 1


def test_single_rows_are_scored_as_in_a_table():
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    x[rng.random(x.shape) < 0.1] = np.nan
    t = AUTO.tally(Reals(x), Y, None, 3)
    p = AUTO.estimate(t)
    for params in (p, AUTO.pooled(t, p)):
        one = np.concatenate([AUTO.loglik(params, Reals(row[None])) for row in x[:200]])
        np.testing.assert_allclose(one, AUTO.loglik(params, Reals(x[:200])), rtol=1e-12)
