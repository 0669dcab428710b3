"""Logistic regression: what it does beside scikit-learn's contract, and on input that is hard on it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from deciban import GaussianNB, LogisticRegression, threads
from deciban.data.blocks import Counts, Reals, Table
from deciban.errors import DataError
from deciban.logistic.minimisation import SOLVERS, minimise
from deciban.logistic.objective import Objective
from deciban.ops import logistic, spec


def rows(n=400, d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_ends_where_the_gradient_is_nothing(solver, k):
    X, y = rows(k=k)
    objective = Objective.of(Table(Reals(X), y.astype(np.int32), None, k), l2=1.0)
    slow = solver == "sgd"
    answer = minimise(solver, objective, np.zeros(objective.size), tol=5e-3 if slow else 1e-7, max_iter=2000)
    assert answer.reason == "gradient"
    assert np.abs(answer.gradient).max() <= (5.5e-3 if slow else 1e-7) * 400  # `tol` of sgd is that of scaled columns


@pytest.mark.parametrize("k", [2, 3])
def test_many_rows_are_solved_through_a_sample_to_the_same_minimum(k):
    X, y = rows(n=40_000, d=8, k=k)
    auto = LogisticRegression(tol=1e-9).fit(X, y)
    newton = LogisticRegression(tol=1e-9, solver="newton").fit(X, y)
    np.testing.assert_allclose(auto.coef_, newton.coef_, atol=1e-7)


def test_a_sample_that_lacks_the_rows_that_matter_does_not_make_it_slow():
    rng = np.random.default_rng(1)
    X = rng.standard_t(1.2, size=(300_000, 20))  # the largest cells are thousands of times the usual ones
    y = rng.random(300_000) < 1 / (1 + np.exp(-np.clip(X, -5, 5) @ rng.normal(size=20)))
    quick = LogisticRegression(tol=1e-6).fit(X, y)
    sure = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(X, y)
    assert quick.n_iter_[0] < 60
    np.testing.assert_allclose(quick.coef_, sure.coef_, atol=1e-5 * np.abs(sure.coef_).max())


def test_any_number_of_threads_gives_the_same_bits():
    X, y = rows(n=150_000, d=8, k=2)
    fits = []
    for n in (1, 2, 3):
        with threads(n):
            fits.append(LogisticRegression().fit(X, y).coef_)
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def test_weights_count_like_repetitions():
    X, y = rows(n=60)
    w = np.arange(60) % 4
    weighed = LogisticRegression(tol=1e-10).fit(X, y, sample_weight=w)
    repeated = LogisticRegression(tol=1e-10).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, atol=1e-8)


@pytest.mark.parametrize("k", [2, 3])
def test_other_priors_shift_the_log_odds_by_their_ratio(k):
    X, y = rows(k=k)
    model = LogisticRegression().fit(X, y)
    shares = np.bincount(y) / len(y)
    priors = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    np.testing.assert_allclose(model.predict_proba(X, priors=shares), model.predict_proba(X), atol=1e-12)
    moved = model.log_odds(X, against=0, priors=priors) - model.log_odds(X, against=0)
    np.testing.assert_allclose(moved, np.broadcast_to(np.log(priors / shares) - np.log(priors / shares)[0], (400, k)))
    best = model.predict_proba(X, priors=priors).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X, priors=priors), best)


@pytest.mark.parametrize("k", [2, 3])
def test_evidence_by_column_sums_to_the_log_odds(k):
    X, y = rows(k=k)
    model = LogisticRegression().fit(X, y)
    why = model.explain(X[:7], of=1, against=0)
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), why.total)
    np.testing.assert_allclose(why.total, model.decibans(X[:7], against=0)[:, 1])
    np.testing.assert_allclose(model.decibans(X[:7]), 10 * np.log10(odds(model.predict_proba(X[:7]))))


def odds(p):
    return p / (1 - p)


def test_decisions_and_priors_of_unlabelled_rows():
    X, y = rows(k=2)
    model = LogisticRegression().fit(X, y)
    assert set(model.decide(X, reject=0.2).tolist()) == {0, 1, None}
    assert model.adapt_priors(X[y == 1]).priors[1] > 0.9


def test_stream_of_rows_comes_near_to_the_batch_minimum():
    X, y = rows(n=60_000, d=10, k=2)
    online = LogisticRegression()
    for start in range(0, 60_000, 7_000):
        online.partial_fit(X[start : start + 7_000], y[start : start + 7_000], classes=[0, 1])
    batch = LogisticRegression().fit(X, y)
    f = batch.objective(X, y)
    values = [f.slope(np.append(model.coef_, model.intercept_))[0] for model in (online, batch)]
    assert values[1] <= values[0] < 1.01 * values[1]


def test_online_rule_takes_sparse_rows_and_more_classes():
    X, y = rows(n=3000, k=3)
    dense = LogisticRegression().partial_fit(X, y, classes=[0, 1, 2])
    thin = LogisticRegression().partial_fit(sparse.csr_array(X), y, classes=[0, 1, 2])
    np.testing.assert_allclose(dense.coef_, thin.coef_)
    assert dense.score(X, y) > 0.6


def test_warm_start_needs_next_to_no_steps():
    X, y = rows()
    model = LogisticRegression(warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_[0] <= 1


# hard input


def test_constant_and_doubled_columns_share_or_get_nothing():
    X, y = rows(k=2)
    X = np.column_stack([X, np.full(400, 7.0), X[:, 0]])
    for C in (1.0, np.inf):
        model = LogisticRegression(C=C, tol=1e-9).fit(X, y)
        assert np.isfinite(model.coef_).all()
        if C == 1.0:
            np.testing.assert_allclose(model.coef_[0, 0], model.coef_[0, -1], atol=1e-6)
            np.testing.assert_allclose(model.coef_[0, -2], 0.0, atol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("k", [2, 3])
def test_more_columns_than_rows_have_an_answer_with_a_penalty(solver, k):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 90)), np.arange(30) % k
    model = LogisticRegression(solver=solver, tol=1e-8, max_iter=1000).fit(X, y)
    reference = LogisticRegression(solver="newton", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e-12, 1e12, 1e100])
def test_cells_of_any_magnitude_have_finite_answers(scale):
    X, y = rows(k=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        p = LogisticRegression().fit(X * scale, y).predict_proba(X * scale)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@pytest.mark.parametrize("cell", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cell_that_is_no_number_is_named(cell, form):
    X, y = rows()
    X[3, 2] = cell
    with pytest.raises(DataError, match="row 3, column 2"):
        LogisticRegression().fit(form(X), y)
    good = LogisticRegression().fit(*rows())
    for ask in (good.predict, good.predict_proba, good.decision_function):
        with pytest.raises(DataError, match="row 3, column 2"):
            ask(form(X))


def test_refusals_say_the_cure():
    X, y = rows()
    with pytest.raises(DataError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(400))
    with pytest.raises(ValueError, match="zero for every sample"):
        LogisticRegression().fit(X, y, sample_weight=np.zeros(400))
    with pytest.raises(DataError, match="positive weight"):
        LogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="'C' parameter"):
        LogisticRegression(C=-1.0).fit(X, y)
    with pytest.raises(DataError, match="warm_start"):
        LogisticRegression(warm_start=True).fit(X, y).fit(X[:, :3], y)


def test_failed_or_interrupted_fit_leaves_the_model_as_it_was(monkeypatch):
    X, y = rows()
    model = LogisticRegression().fit(X, y)
    before = model.coef_.copy(), model.classes_.copy()

    def interrupted(self, w):
        raise KeyboardInterrupt

    monkeypatch.setattr(Objective, "slope", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], np.where(y == 2, 1, y))
    np.testing.assert_array_equal(model.coef_, before[0])
    np.testing.assert_array_equal(model.classes_, before[1])
    assert model.n_features_in_ == 5


def test_restricted_and_thinned_objectives_agree_with_the_whole():
    X, y = rows(k=2)
    table = Table(Reals(X), y.astype(np.int32), None, 2)
    f = Objective.of(table, l2=1.0)
    w = np.array([0.5, 0.0, -1.0, 0.0, 0.0, 0.2])
    some = f.columns(np.array([0, 2, 5]))
    assert some.slope(w[[0, 2, 5]])[0] == pytest.approx(f.slope(w)[0])
    thin = sparse.csr_array(X)
    counts = Table(Counts(thin.indptr, thin.indices, thin.data, 5), table.y, None, 2)
    sparse_some = Objective.of(counts, l2=1.0).columns(np.array([0, 2, 5]))
    assert sparse_some.slope(w[[0, 2, 5]])[0] == pytest.approx(f.slope(w)[0])
    assert f.subsample(400).slope(w)[0] == pytest.approx(f.slope(w)[0])


def separable_rows(n: int, d: int, k: int, w: bool = False) -> Table:
    """Rows of nearly separable classes."""
    rng = np.random.default_rng(0)
    means, y = 1.5 * rng.normal(size=(k, d)), rng.integers(0, k, n).astype(np.int32)
    return Table(Reals(rng.normal(size=(n, d)) + means[y]), y, rng.uniform(0.5, 2.0, n) if w else None, k)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("weighed", [False, True])
def test_the_hessian_of_rows_with_curvature_is_close_to_that_of_all(k, weighed):
    f = Objective.of(separable_rows(40_000, 6, k, weighed), l2=1.0)
    w = minimise("lbfgs", f, None, 1e-4, 1000).w
    whole, one = f.hessian(w), np.eye(f.size)  # the sum of all intercepts has no curvature
    root = np.linalg.inv(np.linalg.cholesky(whole + one))

    def error(hessian: np.ndarray) -> float:
        return float(np.abs(np.linalg.eigvalsh(root @ (hessian + one) @ root.T) - 1.0).max())

    some = f.subsample(2_000)
    assert error(f.hessian_estimate(w, 2_000)) < 0.5
    assert error(f.hessian_estimate(w, 2_000)) < 0.5 * error(some.hessian(w) * (f.weight / some.weight))
    np.testing.assert_array_equal(f.hessian_estimate(w, 20_000), whole)
    with threads(1):
        serial = f.hessian_estimate(w, 2_000)
    np.testing.assert_array_equal(f.hessian_estimate(w, 2_000), serial)


def test_nearly_separable_classes_take_few_steps():
    f = Objective.of(separable_rows(60_000, 12, 8), l2=1.0)
    found = minimise("auto", f, None, 1e-4, 1000)
    assert found.converged
    assert found.n_iter < 40
    assert found.value <= minimise("newton", f, None, 1e-10, 1000).value * (1 + 1e-6)


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("weighed", [False, True])
def test_derivatives_on_a_line_are_those_of_numpy(m, weighed):
    rng = np.random.default_rng(0)
    z, turn, y = 5 * rng.normal(size=(50, m)), rng.normal(size=(50, m)), rng.integers(0, max(m, 2), 50)
    w = rng.random(50) if weighed else None
    expected = spec.along(z, turn, y, w)
    np.testing.assert_allclose(logistic.along(z.copy(), turn, y, w), expected, rtol=1e-10)


def test_generative_start_is_a_model_of_the_same_form():
    X, y = rows(k=2)
    assert GaussianNB().fit(X, y).score(X, y) == pytest.approx(LogisticRegression().fit(X, y).score(X, y), abs=0.05)
