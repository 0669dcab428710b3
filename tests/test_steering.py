"""Learning that can be watched and steered: plain rules, starting points, histories, 1-of-K targets."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import deciban
from deciban import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, MixedNB, TextClassifier
from deciban.errors import DataError
from deciban.solvers.history import History

ROWS, LABELS = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0, 0, 1])
PLAIN = {"C": np.inf, "fit_intercept": False, "learning_rate": 0.1}
SOLVERS = ["auto", "newton", "newton-cg", "lbfgs", "coordinate", "gradient", "sgd", "online", "saga"]


def two_irises():
    X, y = load_iris(return_X_y=True)
    return X[y > 0][:, :2], y[y > 0]


def steer(**settings) -> LogisticRegression:
    return LogisticRegression(C=np.inf, history=True, **settings)


def quiet(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **more)


def parameters(model) -> np.ndarray:
    return np.hstack([model.coef_, model.intercept_[:, None]]).squeeze()


# the rules


def test_three_batch_steps():
    with pytest.warns(ConvergenceWarning) as caught:
        model = LogisticRegression(solver="gradient", line_search=False, max_iter=3, **PLAIN).fit(ROWS, LABELS)
    assert len(caught) == 1
    np.testing.assert_allclose(model.coef_, [[-0.149813, 0.142817]], atol=5e-7)


def test_one_online_pass():
    model = LogisticRegression(solver="online", max_iter=1, **PLAIN).fit(ROWS, LABELS)
    np.testing.assert_allclose(model.coef_, [[-0.043860, 0.061031]], atol=5e-7)
    assert model.n_iter_ == 1


@pytest.mark.parametrize("rate", [1.0, 0.1, 0.3, 1e-5])
def test_the_first_row_moves_by_half_the_learning_rate(rate):
    model = LogisticRegression(C=np.inf, solver="online", learning_rate=rate, fit_intercept=False)
    assert model.partial_fit([[1.0]], [1], classes=[0, 1]).coef_[0, 0] == rate / 2


def test_partial_fit_row_by_row_is_one_pass():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    model = LogisticRegression(C=np.inf, solver="online", learning_rate=0.01, history=True)
    for row, label in zip(X, y, strict=True):
        model.partial_fit([row], [label], classes=[0, 1, 2])
    whole = LogisticRegression(C=np.inf, solver="online", learning_rate=0.01, max_iter=1).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-12)
    assert len(model.history_) == 151
    np.testing.assert_array_equal(model.history_.coef[-1], model.coef_)


def test_softmax_follows_the_rule_of_each_class():
    X, y = load_iris(return_X_y=True)
    a, t, w = np.column_stack([X, np.ones(150)]), np.eye(3)[y], np.zeros((3, 5))
    for _ in range(4):
        p = np.exp(a @ w.T)
        w += 1e-3 * (t - p / p.sum(axis=1, keepdims=True)).T @ a
    model = quiet(steer(solver="gradient", line_search=False, learning_rate=1e-3, max_iter=4), X, y)
    np.testing.assert_allclose(parameters(model), w, rtol=1e-12)


@pytest.mark.parametrize("solver", ["gradient", "online"])
def test_a_penalty_pulls_each_step_to_zero(solver):
    line = {"line_search": False} if solver == "gradient" else {}
    model = LogisticRegression(C=2.0, solver=solver, learning_rate=0.1, max_iter=1, init=[1.0, 2.0], **line)
    model = quiet(model.set_params(fit_intercept=False), ROWS, LABELS)
    w = np.array([1.0, 2.0])
    if solver == "gradient":
        w = w + 0.1 * ((LABELS - expit(ROWS @ w)) @ ROWS - w / 2.0)
    else:
        for x, t in zip(ROWS, LABELS, strict=True):
            w = w + 0.1 * ((t - expit(x @ w)) * x - w / 2.0 / 3)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)


def test_sparse_rows_follow_the_same_rule():
    X, y = two_irises()
    X = np.where(X > 6, X, 0.0)
    for C in (np.inf, 0.5):
        dense, stored = (
            LogisticRegression(C=C, solver="online", learning_rate=0.01, max_iter=3).fit(x, y)
            for x in (X, sparse.csr_matrix(X))
        )
        np.testing.assert_allclose(dense.coef_, stored.coef_, rtol=1e-10)


def test_a_diverging_gradient_is_shown():
    X, y = two_irises()
    with pytest.warns(ConvergenceWarning) as caught:
        model = steer(solver="gradient", line_search=False, learning_rate=0.01, max_iter=3).fit(X, y)
    assert len(caught) == 1
    np.testing.assert_allclose(model.history_.log_likelihood, [-69.3, -82.7, -548, -710], rtol=1e-3)
    model.predict_proba(X)


def test_undamped_newton_from_a_bad_start_is_shown():
    X, y = two_irises()
    with pytest.warns(ConvergenceWarning, match="diverged") as caught:
        model = steer(solver="newton", line_search=False, init=(3, 3, 3)).fit(X, y)
    assert len(caught) == 1
    assert model.history_.coef[1, 0, 0] == pytest.approx(-2.5e12, rel=0.01)
    damped = quiet(steer(solver="newton", init=(3, 3, 3)), X, y)
    np.testing.assert_allclose(parameters(damped), [1.902375, 0.404659, -13.04603], rtol=1e-5)


def test_one_plain_newton_step():
    X, y = two_irises()
    model = quiet(steer(solver="newton", line_search=False, init=(1, -1, 0.5), max_iter=1), X, y)
    np.testing.assert_allclose(parameters(model), [-2.734, 22.352, -65.42], atol=5e-3)


def test_plain_newton_of_three_classes_finds_the_minimum():
    X, y = load_iris(return_X_y=True)
    plain = LogisticRegression(solver="newton", line_search=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(X), LogisticRegression().fit(X, y).predict_proba(X), atol=1e-6)


# settings that do not go together


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"solver": "lbfgs", "line_search": False}, ("lbfgs", "line_search=False")),
        ({"line_search": False}, ("auto", "line_search=False")),
        ({"solver": "sgd", "learning_rate": 0.1}, ("sgd", "learning_rate=0.1")),
        ({"solver": "newton", "line_search": False, "learning_rate": 0.1}, ("newton", "learning_rate=0.1")),
        ({"solver": "gradient", "learning_rate": 0.1}, ("line_search=True", "learning_rate=0.1")),
        ({"solver": "gradient", "line_search": False}, ("line_search=False", "learning_rate=None")),
        ({"init": [0, 0, 0], "warm_start": True}, ("init", "warm_start=True")),
        ({"history": True, "C": "auto"}, ("history=True", "C='auto'")),
        ({"init": [0, 0, 0], "C": [1.0, 2.0]}, ("init", "C=[1.0, 2.0]")),
        ({"history": True, "penalty": "jeffreys"}, ("history=True", "penalty='jeffreys'")),
        ({"solver": "online", "C": "auto"}, ("solver='online'", "C='auto'")),
        ({"solver": "online", "l1_ratio": 1.0}, ("online", "l1")),
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_named(settings, names):
    X, y = two_irises()
    with pytest.raises(ValueError, match="hint") as caught:
        LogisticRegression(**settings).fit(X, y)
    assert all(name in str(caught.value) for name in names)


@pytest.mark.parametrize(
    "init", [[1.0, 2.0], [[1.0, 2.0, 3.0]] * 2, [1.0, 2.0, np.nan], "abc", [1.0, 2.0, "x"]], ids=str
)
def test_a_start_of_another_shape_is_refused(init):
    with pytest.raises(ValueError, match="init"):
        LogisticRegression(init=init).fit(*two_irises())


def test_a_path_of_a_rule_is_refused():
    with pytest.raises(DataError, match="online"):
        LogisticRegression(solver="online").path(*two_irises())


# histories


def test_the_history_of_newton_equals_refits():
    X, y = two_irises()
    whole = steer(solver="newton", tol=0, max_iter=7).fit(X, y)
    history = whole.history_
    for steps in range(8):
        part = quiet(LogisticRegression(C=np.inf, solver="newton", tol=0, max_iter=steps), X, y)
        np.testing.assert_array_equal(history.parameters[min(steps, len(history) - 1)], parameters(part))
    objective = whole.objective(X, y)
    for w, l, norm in zip(history.parameters, history.log_likelihood, history.gradient_norm, strict=True):
        value, gradient = objective.slope(w)
        assert (-value, np.linalg.norm(gradient)) == pytest.approx((l, norm), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(history.step[1:], np.linalg.norm(np.diff(history.parameters, axis=0), axis=1))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.5, np.inf])
def test_every_solver_keeps_its_history(solver, classes, C):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = np.argmax(rng.normal(size=(60, classes)) + X[:, :classes] / 2, axis=1)
    model = quiet(LogisticRegression(solver=solver, C=C, history=True, max_iter=30), X, y)
    history = model.history_
    assert len(history) == model.n_iter_[0] + 1
    np.testing.assert_allclose(history.coef[-1], model.coef_, atol=1e-12)
    np.testing.assert_allclose(history.intercept[-1], model.intercept_, atol=1e-12)
    np.testing.assert_allclose(history.log_likelihood[0], -60 * np.log(classes))
    proba = model.predict_log_proba(X)[np.arange(60), y].sum()
    assert history.log_likelihood[-1] == pytest.approx(proba)
    penalty = 0.0 if np.inf == C else np.square(model.coef_).sum() / (2 * C)
    assert history.objective[-1] == pytest.approx(penalty - proba)
    plain = quiet(LogisticRegression(solver=solver, C=C, max_iter=30), X, y)
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    assert not hasattr(plain, "history_")


def test_the_objective_of_a_lasso_is_in_its_history():
    X, y = two_irises()
    model = LogisticRegression(C=0.1, l1_ratio=1.0, history=True).fit(X, y)
    history = model.history_
    assert history.log_likelihood[-1] == pytest.approx(model.predict_log_proba(X)[np.arange(100), y - 1].sum())
    assert history.objective[-1] + history.log_likelihood[-1] == pytest.approx(np.abs(model.coef_).sum() / 0.1)


def test_a_history_is_left_out_by_a_later_fit_without_one():
    X, y = two_irises()
    model = steer().fit(X, y)
    assert not hasattr(model.set_params(history=False).fit(X, y), "history_")


def test_a_history_continues_where_it_is_given_as_start():
    X, y = two_irises()
    whole = steer(solver="newton", tol=0, max_iter=4)
    whole = quiet(whole, X, y)
    rest = quiet(steer(solver="newton", tol=0, max_iter=2, init=whole.history_.parameters[2]), X, y)
    np.testing.assert_allclose(rest.history_.parameters, whole.history_.parameters[2:5], rtol=1e-9)


def test_histories_are_stored():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(history=True, solver="newton", init=np.zeros((3, 5))).fit(X, y)
    for copy in (pickle.loads(pickle.dumps(model)), deciban.loads(deciban.dumps(model))):
        assert isinstance(copy.history_, History)
        assert copy.history_.names == model.history_.names
        np.testing.assert_array_equal(copy.history_.parameters, model.history_.parameters)
        np.testing.assert_array_equal(copy.init, model.init)


def test_a_history_is_read_as_a_table():
    X, y = load_iris(return_X_y=True, as_frame=True)
    history = quiet(LogisticRegression(history=True, solver="gradient", max_iter=200), X, y).history_
    frame = history.to_frame()
    assert list(frame)[:5] == ["log_likelihood", "objective", "gradient_norm", "step", "0: sepal length (cm)"]
    assert len(frame) == len(history) == 201
    text = repr(history)
    assert text.splitlines()[0] == "200 iterations from the start, 15 parameters (7 not shown)"
    assert len(text.splitlines()) == 23
    assert history._repr_html_().startswith("<table")


# data elsewhere


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "gradient", "line_search": False, "learning_rate": 1e-3, "max_iter": 5},
        {"solver": "newton", "line_search": False},
        {"solver": "online", "learning_rate": 1e-2, "max_iter": 3},
        {"solver": "newton", "init": [1.0, 0.5, -8.0]},
    ],
    ids=str,
)
def test_data_elsewhere_follow_the_same_rules(settings):
    X, y = two_irises()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = steer(**settings).fit(X, y), steer(**settings).fit_on(table)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(one.history_.log_likelihood[0], other.history_.log_likelihood[0])


# 1-of-K targets, separation without fit


@pytest.mark.parametrize(
    "model", [LinearDiscriminantAnalysis(), GaussianNB(), LogisticRegression(), MixedNB()], ids=repr
)
@pytest.mark.parametrize("form", [np.asarray, lambda t: t.astype(bool), lambda t: t.astype(int).tolist()])
def test_one_of_k_targets_are_labels(model, form):
    X, y = load_iris(return_X_y=True)
    one, other = model.fit(X, form(np.eye(3)[y])).predict_proba(X), type(model)().fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(one, other)
    assert model.classes_.tolist() == [0, 1, 2]


def test_one_of_k_targets_of_texts():
    texts = ["win money", "lunch now", "win now"]
    assert TextClassifier().fit(texts, [[0, 1], [1, 0], [0, 1]]).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "wrong", [[[0, 1], [1, 1], [1, 0]], [[0, 0], [0, 1], [1, 0]], [[0, 2], [2, 0], [2, 0]]], ids=str
)
def test_other_matrices_are_no_labels(wrong):
    for model in (GaussianNB(), LogisticRegression(), MixedNB()):
        with pytest.raises(ValueError, match="y should be a 1d array"):
            model.fit(ROWS, np.array(wrong))


def test_separation_without_fit():
    X, y = two_irises()
    assert LogisticRegression().separation(X, y).kind == "none"
    assert LogisticRegression().separation(ROWS, LABELS).kind == "complete"
