"""Least squares on 0/1 targets, and the perceptron: the same rule as logistic regression with another response."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator

import deciban
from deciban import LeastSquaresClassifier, LogisticRegression, Perceptron
from deciban.data.blocks import Reals, Table
from deciban.errors import DataError
from deciban.solvers.update_rules import SOFTMAX, learn_row_by_row

from .support.cli import output

ROWS, LABELS = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0, 0, 1])
UNITS = [LeastSquaresClassifier(), LeastSquaresClassifier(solver="gradient"), Perceptron(max_iter=100)]
REPEATED = {
    "check_sample_weight_equivalence_on_dense_data": "two steps from a row are not one step of twice the length, as of "
    "scikit-learn's Perceptron"
}


@pytest.mark.parametrize("model", UNITS, ids=repr)
def test_scikit_learns_checks(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = REPEATED if isinstance(model, Perceptron) else {}
        found = check_estimator(model, expected_failed_checks=known, on_skip=None)
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(known)


def test_lms_makes_one_online_pass():
    lms = LeastSquaresClassifier(solver="online", learning_rate=0.1, max_iter=1, fit_intercept=False)
    np.testing.assert_allclose(lms.fit(ROWS, LABELS).coef_, [[0.1, 0.2]], atol=1e-12)
    again = clone(lms)
    for x, t in zip(ROWS, LABELS, strict=True):
        again.partial_fit([x], [t], classes=[0, 1])
    np.testing.assert_array_equal(lms.coef_, again.coef_)


def test_the_line_is_that_of_linear_regression_and_leaves_the_unit_interval():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    w = rng.uniform(0.5, 2, 50)
    ours = LeastSquaresClassifier().fit(X, y, sample_weight=w)
    theirs = LinearRegression().fit(X, y, sample_weight=w)
    far = X * 100
    np.testing.assert_allclose(ours.response(far), theirs.predict(far), rtol=1e-9)
    assert ours.response(far).min() < 0 < 1 < ours.response(far).max()
    np.testing.assert_array_equal(ours.predict(far), theirs.predict(far) > 0.5)
    np.testing.assert_array_equal(ours.decision_function(far) > 0, ours.predict(far) == 1)
    assert not hasattr(ours, "predict_proba")


def test_more_classes_have_a_column_of_targets_each():
    X, y = load_iris(return_X_y=True)
    ours, theirs = LeastSquaresClassifier().fit(X, y), LinearRegression().fit(X, np.eye(3)[y])
    np.testing.assert_allclose(ours.response(X), theirs.predict(X), atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X).argmax(axis=1))
    by_targets = LeastSquaresClassifier().fit(X, np.eye(3)[y])
    np.testing.assert_array_equal(by_targets.coef_, ours.coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_rules_approach_the_minimum(fit_intercept):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    exact = LeastSquaresClassifier(fit_intercept=fit_intercept, history=True).fit(X, y)
    rules = LeastSquaresClassifier(
        solver="gradient", fit_intercept=fit_intercept, max_iter=20_000, tol=1e-7, history=True
    )
    rules.fit(X, y)
    np.testing.assert_allclose(rules.coef_, exact.coef_, atol=1e-4)
    assert (np.diff(rules.history_.objective) <= 1e-12).all()
    assert len(exact.history_) == 2
    assert exact.history_.objective[-1] == pytest.approx(rules.history_.objective[-1])
    assert exact.history_.gradient_norm[-1] < 1e-9
    assert rules.history_.log_likelihood is None


def test_collinear_columns_have_the_shortest_solution():
    X = np.column_stack([np.arange(6.0), np.arange(6.0)])
    np.testing.assert_allclose(LeastSquaresClassifier().fit(X, [0, 0, 0, 1, 1, 1]).coef_, [[0.1285714] * 2], rtol=1e-6)


def test_a_large_learning_rate_diverges_with_one_warning():
    X, y = load_iris(return_X_y=True)
    for solver in ("gradient", "online"):
        with pytest.warns(ConvergenceWarning, match="diverged") as caught:
            model = LeastSquaresClassifier(solver=solver, learning_rate=1.0, history=True).fit(X, y)
        assert len(caught) == 1
        assert not model.history_.objective[-1] < 1e3 * model.history_.objective[0]


def test_the_default_online_rate_does_not_diverge():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)) * [1, 100, 1e-3] + [5, 1000, 0], rng.integers(0, 2, 80)
    model = LeastSquaresClassifier(solver="online", history=True, max_iter=20).fit(X, y)
    assert model.history_.objective.max() <= 80


def test_perceptron_moves_by_the_threshold():
    model = Perceptron(eta0=0.1, max_iter=1, fit_intercept=False).fit(ROWS, LABELS)
    np.testing.assert_allclose(model.coef_, [[0.0, 0.2]], atol=1e-15)
    np.testing.assert_array_equal(model.response(ROWS), [1, 1, 1])


def test_perceptron_by_hand():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    y = (X @ [2.0, -1.0] + 0.3 > 0).astype(int)
    w, passes = np.zeros(3), 0
    while True:
        before, passes = w.copy(), passes + 1
        for x, t in zip(np.column_stack([X, np.ones(40)]), y, strict=True):
            w = w + 0.5 * (t - float(w @ x >= 0)) * x
        if np.array_equal(w, before):
            break
    model = Perceptron(eta0=0.5, history=True).fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w, rtol=1e-12)
    assert (model.n_iter_, len(model.history_)) == (passes, passes + 1)
    assert model.history_.objective[-1] == 0
    np.testing.assert_array_equal(model.predict(X), y)


def test_one_rule_with_three_responses():
    table = Table(Reals(ROWS), LABELS.astype(np.int32), None, 2)
    logistic = learn_row_by_row(table, np.zeros((1, 2)), 0.1, SOFTMAX)
    model = LogisticRegression(C=np.inf, solver="online", learning_rate=0.1, fit_intercept=False, max_iter=1)
    np.testing.assert_array_equal(model.fit(ROWS, LABELS).coef_, logistic)
    objective = model.objective(ROWS, LABELS)
    for w in np.random.default_rng(0).normal(size=(5, 2)):
        z = ROWS @ w[:, None]
        assert SOFTMAX.loss(z, LABELS[:, None].astype(float)).sum() == pytest.approx(objective.slope(w)[0])


@pytest.mark.parametrize("model", [LeastSquaresClassifier(history=True), Perceptron(history=True)], ids=repr)
def test_files_and_names(model):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "a", 1: "b", 2: "c"}).rename("kind")
    model = clone(model).set_params(max_iter=20).fit(X, y)
    for copy in (pickle.loads(pickle.dumps(model)), deciban.loads(deciban.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(copy.history_.parameters, model.history_.parameters)
    assert model.target_name_ == "kind"
    assert deciban.model_info(deciban.dumps(model))["rows"] == 150
    copy.partial_fit(X, y)
    assert len(copy.history_) == len(model.history_) + 1
    assert isinstance(model.history_.to_frame(), pd.DataFrame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={X.columns[0]: "other"}))


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="solver='exact' and learning_rate"):
        LeastSquaresClassifier(learning_rate=0.1).fit(ROWS, LABELS)
    with pytest.raises(DataError, match="init"):
        Perceptron(init=[1.0]).fit(ROWS, LABELS)
    with pytest.raises(ValueError, match="NaN"):
        LeastSquaresClassifier().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="eta0"):
        Perceptron(eta=1.0)
    with pytest.raises(DataError, match="one class"):
        LeastSquaresClassifier().fit(ROWS, [1, 1, 1])


@pytest.mark.parametrize("verb", ["show {0}", "predict {0} {1}", "explain {0} {1}"])
def test_commands_refuse_a_model_without_probabilities(verb, tmp_path, capfd):
    path, rows = tmp_path / "m.deciban", tmp_path / "rows.csv"
    rows.write_text("x0\n0\n")
    deciban.save(Perceptron().fit([[0.0], [1.0]], [0, 1]), path)
    assert "is a Perceptron, which has no probabilities" in output(verb.format(path, rows), capfd, code=1)[1]
