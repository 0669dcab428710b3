"""Tables of very many columns: columns are compared in blocks, with the results of one at a time."""

import numpy as np

from deciban import auto_fit
from deciban.classifiers.mixed import choice
from deciban.data.blocks import Reals
from deciban.model_selection import auto


def test_families_of_many_columns_are_those_of_each_alone():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60).astype(np.int32)
    X = rng.normal(size=(60, 80)) + y[:, None] * rng.random(80)
    X[:, ::2] = np.round(2 * X[:, ::2])
    X[:, 1::5] = np.exp(X[:, 1::5])
    X[rng.random(X.shape) < 0.1] = np.nan
    family = choice("auto", 80)
    whole = family.estimate(family.tally(Reals(X), y, None, 3)).families
    alone = [family.estimate(family.tally(Reals(X[:, [j]].copy()), y, None, 3)).families[0] for j in range(80)]
    assert list(whole) == alone
    assert len(set(alone)) > 2


def test_on_very_many_columns_naive_bayes_is_tried_alone(monkeypatch):
    monkeypatch.setattr(auto, "WIDE", 3)
    X = np.random.default_rng(0).normal(size=(40, 4))
    out = auto_fit(X, np.arange(40) % 2)
    assert out.leaderboard.names == ("mixed",)
    assert any("more than 3 columns" in note for note in out.notes)
    assert len(auto_fit(X[:, :3], np.arange(40) % 2).leaderboard) > 2
