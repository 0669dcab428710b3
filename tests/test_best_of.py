"""The rows choose a column's family: the right one, and the same one however they came."""

from __future__ import annotations

import numpy as np
import pytest

from deciban.classifiers.mixed import AUTO
from deciban.families.best_of import BestOf
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram
from deciban.families.poisson import Poisson
from deciban.table import Reals

Y = (np.arange(900) % 3).astype(np.int32)
COLUMNS = {
    "normal": (lambda rng, y: rng.normal(y, 1.0), {"Gaussian", "Student"}),
    "normal, spreads differ": (lambda rng, y: rng.normal(0.0, 1.0 + y), {"Gaussian", "Student"}),
    "normal, far away": (lambda rng, y: 1e6 + rng.normal(y, 1.0), {"Gaussian", "Student"}),
    "normal, so far away that the grid is blind": (lambda rng, y: 1e12 + rng.normal(y, 1.0), {"Gaussian"}),
    "lognormal": (lambda rng, y: np.exp(rng.normal(y, 1.0)), {"Lognormal"}),
    "lognormal, small": (lambda rng, y: 1e-6 * np.exp(rng.normal(y, 2.0)), {"Lognormal"}),
    "counts": (lambda rng, y: rng.poisson(1.0 + 2 * y).astype(float), {"Poisson"}),
    "skewed below zero": (lambda rng, y: -np.exp(rng.normal(y, 1.5)), {"Histogram"}),
    "two humps": (lambda rng, y: rng.normal(size=len(y)) + 20 * rng.integers(0, 2, len(y)), {"Histogram"}),
    "two values": (lambda rng, y: 30.0 * (rng.random(len(y)) < 0.2 + 0.3 * y), {"Histogram"}),
    "constant in a class": (lambda rng, y: np.where(y == 1, 4.5, rng.normal(size=len(y))), {"Histogram"}),
    "many zeros": (lambda rng, y: np.where(rng.random(len(y)) < 0.7, 0.0, rng.exponential(50, len(y))), {"Histogram"}),
}
every_column = pytest.mark.parametrize(("draw", "right"), COLUMNS.values(), ids=COLUMNS.keys())


def chosen(x: np.ndarray, y=Y, w=None, family: BestOf = AUTO) -> list[str]:
    t = family.tally(Reals(x.reshape(len(y), -1)), y, w, 3)
    return [type(f).__name__ for f in family.estimate(t).families]


@every_column
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_choose_the_family_that_made_them(draw, right, seed):
    assert set(chosen(draw(np.random.default_rng(seed), Y))) <= right


def test_heavy_tails_are_not_normal():
    x = np.random.default_rng(0).standard_t(1.5, 900)
    assert chosen(x) == ["Histogram"]


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
    assert "Lognormal" not in [type(f).__name__ for f in AUTO.estimate(t).families]
    left = t - AUTO.tally(Reals(x[:1, None]), Y[:1], None, 3)
    assert [type(f).__name__ for f in AUTO.estimate(left).families] == ["Lognormal"]


def test_one_cell_outside_rules_a_family_out():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0 + Y).astype(float)
    assert chosen(counts) == ["Poisson"]
    for odd in (2.5, -1.0):
        wrong = counts.copy()
        wrong[7] = odd
        assert chosen(wrong) != ["Poisson"]


def test_weight_is_repetition():
    rng = np.random.default_rng(0)
    x = np.stack([draw(rng, Y) for draw, _ in COLUMNS.values()], axis=1)
    times = rng.integers(1, 4, 900)
    assert chosen(x, w=times.astype(float)) == chosen(np.repeat(x, times, axis=0), np.repeat(Y, times))


def test_lone_row_of_a_class_makes_no_spike():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(200), np.ones(200), 2].astype(np.int32)
    x = rng.normal(size=401)
    family = chosen(x, y)
    assert family != ["Gaussian"]
    t = AUTO.tally(Reals(x[:, None]), y, None, 3)
    scores = AUTO.loglik(AUTO.estimate(t), Reals(x[[-1], None]))[0]
    assert scores[2] - scores[0] < 5.0  # nats, at its own row


def test_column_without_any_cell_goes_to_the_first_candidate():
    assert chosen(np.full(900, np.nan)) == ["Gaussian"]


def test_chosen_families_score_leave_out_and_draw_as_they_do_alone():
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(Y), rng.poisson(2.0 + 2 * Y), 30.0 * (rng.random(900) < 0.2 + 0.3 * Y)], axis=1)
    x[rng.random(x.shape) < 0.1] = np.nan
    family = BestOf((Gaussian(each=True), Poisson(), Histogram()))
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
        common += alone.carrier(params, Reals(x[:, [j]])) if hasattr(alone, "carrier") else 0.0
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
    monkeypatch.setattr("deciban.families.best_of.ENOUGH", 256)
    some = chosen(x)
    same = [a == b or {a, b} == {"Gaussian", "Student"} for a, b in zip(whole, some, strict=True)]
    assert all(same)
