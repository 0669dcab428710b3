"""The C that we choose predicts rows kept apart about as well as the one that LogisticRegressionCV chooses."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedShuffleSplit

from deciban import LogisticRegression
from deciban.metrics import log_loss

from ..support.data import heart

GRID = np.geomspace(1e-3, 1e2, 11)


def tables(name):
    if name == "saheart":
        x, y = heart()
    else:
        x, y = {"breast cancer": load_breast_cancer, "wine": load_wine}[name](return_X_y=True)
    return (x - x.mean(axis=0)) / x.std(axis=0), y


def theirs(x, y, l1_ratio):
    solver = "newton-cholesky" if l1_ratio == 0 else "liblinear"
    settings = {"cv": 5, "scoring": "neg_log_loss", "solver": solver, "max_iter": 500, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegressionCV(Cs=GRID, l1_ratios=(l1_ratio,), **settings).fit(x, y)


@pytest.mark.parametrize(
    ("name", "l1_ratio"), [("breast cancer", 0.0), ("wine", 0.0), ("saheart", 0.0), ("saheart", 1.0)]
)
def test_chosen_strength_predicts_as_well_as_that_of_scikit_learn(name, l1_ratio):
    x, y = tables(name)
    losses = []
    for train, test in StratifiedShuffleSplit(3, test_size=0.4, random_state=0).split(x, y):
        ours = [LogisticRegression(C=C, l1_ratio=l1_ratio).fit(x[train], y[train]) for C in (GRID, "auto", 1.0)]
        models = [theirs(x[train], y[train], l1_ratio), *ours]
        losses.append([log_loss(y[test], model.predict_log_proba(x[test])) for model in models])
    scikit_learn, same_grid, auto, fixed = np.mean(losses, axis=0)
    assert same_grid < 1.1 * scikit_learn
    assert auto < 1.1 * scikit_learn
    assert auto < 1.05 * fixed
