"""Cells deleted at random from real tables: EM in training and marginals in prediction beat filling in means."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from deciban import (
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)

MODELS = [
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(),
    FisherDiscriminant(),
    GaussianNB(),
    LinearDiscriminantAnalysis(estimate="bayes"),
    QuadraticDiscriminantAnalysis(estimate="bayes"),
    RegularizedDiscriminantAnalysis(estimate="bayes"),
]
PENGUINS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture(params=["iris", "wine", "penguins"])
def table(request, shared) -> tuple[np.ndarray, np.ndarray]:
    if request.param != "penguins":
        return {"iris": load_iris, "wine": load_wine}[request.param](return_X_y=True)
    with shared("penguins/penguins.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    x = np.array([[float(row[name] or "nan") for name in PENGUINS] for row in rows])
    return x, np.array([row["species"] for row in rows])


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_with_a_third_of_the_cells_missing_no_model_is_worse_than_with_means_filled_in(model, table):
    """30 % of the cells, in training and in the half held out; five draws."""
    x, y = table
    ours, filled = [], []
    for seed in range(5):
        cells = np.where(np.random.default_rng(seed).random(x.shape) < 0.3, np.nan, x)
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
        rival = make_pipeline(SimpleImputer(), clone(model))
        ours.append(clone(model).fit(cells[train], y[train]).score(cells[test], y[test]))
        filled.append(rival.fit(cells[train], y[train]).score(cells[test], y[test]))
    assert np.mean(ours) >= np.mean(filled)
