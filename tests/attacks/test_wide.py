"""Tables of very many columns: columns are compared in blocks, with the results of one at a time."""

import warnings

import numpy as np
import pandas as pd
import pytest

from deciban import GaussianNB, LogisticRegression, MixedNB, auto_fit, top_evidence
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


@pytest.mark.parametrize("model", [GaussianNB(), MixedNB(), MixedNB(missing="informative", unseen="reserve")], ids=repr)
def test_the_strongest_evidence_of_many_columns_is_looked_for_in_a_few_tables(model, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = pd.DataFrame(rng.normal(size=(40, 300)) + y[:, None] * (np.arange(300) == 7)).add_prefix("c")
    X["k"] = np.where(y, "u", "v")
    X = X if isinstance(model, MixedNB) else X.drop(columns="k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    posterior, read = type(model._posterior()), []
    ask = posterior.scale_evidence
    monkeypatch.setattr(posterior, "scale_evidence", lambda self, x: (read.append(x.n), ask(self, x))[1])
    found = top_evidence(model)
    assert 0 < len(read) < 50
    best = found[1][0]
    row = dict.fromkeys(X, np.nan) | {best.column: best.value}
    alone = model.decibans([row])[0, 1] - model.decibans([dict.fromkeys(X, np.nan)])[0, 1]
    assert best.decibans == pytest.approx(alone, abs=1e-9)


def test_coded_columns_too(monkeypatch):
    X = pd.DataFrame({f"c{j}": np.random.default_rng(j).normal(size=40) for j in range(50)}).assign(k=["u", "v"] * 20)
    model = LogisticRegression().fit(X, np.arange(40) % 2)
    assert top_evidence(model)[1][0].column == "k"
