"""Columns that a ridge makes needless, and what is done with long vectors and lines: exact, whatever it saves."""

import numpy as np
import pytest
import scipy.sparse as sp

from deciban import LogisticRegression, ops
from deciban.data.blocks import Counts, Reals, Table
from deciban.engines.threads import threads
from deciban.logistic import objective as folded
from deciban.logistic.minimisation import minimise
from deciban.logistic.objective import Objective, ReducedObjective
from deciban.solvers import line_search
from deciban.solvers.line_search import minimise_on_line, search


def texts(n: int = 60, d: int = 300, k: int = 3, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray]:
    """A few frequent columns, many that are in one row or in none."""
    rng = np.random.default_rng(seed)
    ids = np.minimum((d * rng.random((n, 8)) ** 2).astype(int), d - 1)
    x = sp.csr_matrix((rng.normal(size=ids.size), ids.ravel(), np.arange(0, ids.size + 1, 8)), shape=(n, d))
    x.sum_duplicates()
    return x, np.resize(np.arange(k, dtype=np.int32), n)


def objective_of(x: sp.csr_matrix, y: np.ndarray, k: int, intercept: bool = True, w=None) -> Objective:
    return Objective.of(Table(Counts(x.indptr, x.indices, x.data, x.shape[1]), y, w, k), l2=0.7, intercept=intercept)


@pytest.mark.parametrize(("k", "intercept"), [(2, True), (3, False), (5, True)])
def test_folded_columns_give_the_same_minimum(k, intercept):
    x, y = texts(k=k)
    whole = objective_of(x, y, k, intercept, w=np.linspace(0.5, 2.0, len(y)))
    small = ReducedObjective.of(whole)
    assert small.objective.p < 0.6 * whole.p
    want = minimise("newton", whole, np.zeros(whole.size), 1e-10, 100)
    got = minimise("newton", small.objective, np.zeros(small.objective.size), 1e-10, 100)
    assert got.value == pytest.approx(want.value, rel=1e-12)
    np.testing.assert_allclose(small.unfold(got.w), want.w, atol=1e-9)


def test_value_and_gradient_unfold():
    x, y = texts()
    whole = objective_of(x, y, 3)
    small = ReducedObjective.of(whole)
    w = np.random.default_rng(1).normal(size=small.objective.size)
    value, gradient = small.objective.slope(w)
    value_there, gradient_there = whole.slope(small.unfold(w))
    assert value_there == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient_there, small.unfold(gradient), atol=1e-10)
    np.testing.assert_allclose(small.fold(small.unfold(w)), w, atol=1e-12)


def test_cells_that_store_a_zero_do_not_matter():
    x, y = texts()
    lone = np.flatnonzero(np.bincount(x.indices, minlength=x.shape[1]) == 1)
    x.data[np.isin(x.indices, lone[::2])] = 0.0
    whole = objective_of(x, y, 3)
    w = minimise("lbfgs", whole, np.zeros(whole.size), 1e-10, 500).w
    small = ReducedObjective.of(whole)
    got = small.unfold(minimise("lbfgs", small.objective, np.zeros(small.objective.size), 1e-10, 500).w)
    np.testing.assert_allclose(got, w, atol=1e-7)


def test_a_fit_folds_where_it_pays_and_starts_where_it_was_told(monkeypatch):
    x, y = texts()
    plain = LogisticRegression(tol=1e-9).fit(x, y)
    monkeypatch.setattr(folded, "WIDE", 1)
    model = LogisticRegression(tol=1e-9, warm_start=True).fit(x, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-7)
    assert model.fit(x, y).n_iter_[0] <= 2
    assert ReducedObjective.where_it_pays(objective_of(x, y, 3)) is not None
    assert ReducedObjective.where_it_pays(Objective.of(objective_of(x, y, 3).rows, l2=0.0)) is None
    assert ReducedObjective.where_it_pays(Objective.of(objective_of(x, y, 3).rows, l2=1.0, l1=1.0)) is None


@pytest.mark.parametrize("n", [3, 9_000, 200_001])
def test_long_vectors_equal_their_specification(n):
    rng = np.random.default_rng(n)
    many, g, factors = tuple(rng.normal(size=(5, n))), rng.normal(size=n), rng.normal(size=5)
    want = np.stack(many)
    np.testing.assert_allclose(line_search.dot_many(many, g), want @ g, atol=1e-9 * n)
    np.testing.assert_allclose(line_search.axpy_many(g.copy(), factors, many), g + factors @ want, atol=1e-12)
    with ops.specification():
        np.testing.assert_allclose(line_search.dot_many(many, g), want @ g, atol=1e-9 * n)
        np.testing.assert_allclose(line_search.axpy_many(g.copy(), factors, many), g + factors @ want, atol=1e-12)
    with threads(1):
        one = line_search.dot_many(many, g)
    with threads(3):
        assert (line_search.dot_many(many, g) == one).all()


@pytest.mark.parametrize("k", [2, 4])
def test_the_slope_along_a_line_is_that_of_the_gradient(k):
    x, y = texts(k=k)
    objective = objective_of(x, y, k, w=np.linspace(0.5, 2.0, len(y)))
    rng = np.random.default_rng(k)
    w, ahead = 0.3 * rng.normal(size=(2, objective.size))
    fall = objective.slope(w)[1] @ ahead
    at = objective.along(w, ahead, fall)
    for t in (0.0, 0.7, 3.0):
        slope, bend = at(t)
        assert slope == pytest.approx(objective.slope(w + t * ahead)[1] @ ahead, rel=1e-10)
        assert bend == pytest.approx(objective.product(w + t * ahead, ahead) @ ahead, rel=1e-9)


def test_a_line_seen_by_a_sample_begins_as_steep_as_all_rows_say():
    x, y = texts(k=2)
    objective = objective_of(x, y, 2)
    some = objective.subsample(len(y) // 3)
    rng = np.random.default_rng(0)
    w, ahead = 0.3 * rng.normal(size=(2, objective.size))
    slope, bend = some.along_scaled(objective.weight, w, ahead, -7.0)(0.0)
    assert slope == pytest.approx(-7.0, rel=1e-10)
    assert bend == pytest.approx(some.product(w, ahead) @ ahead * objective.weight / some.weight, rel=1e-9)


@pytest.mark.parametrize("length", [1e-4, 0.3, 1.0, 50.0, 1e4])
def test_a_step_of_any_length_ends_near_the_bottom_of_its_line(length):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.logistic(size=200) > 0).astype(np.int32)
    objective = Objective.of(Table(Reals(X), y, None, 2), l2=1.0)
    w = np.zeros(objective.size)
    value, gradient = objective.slope(w)
    ahead = -length * gradient
    there = search(objective, w, value, gradient, ahead, objective.along)
    at = objective.along(w, ahead, gradient @ ahead)
    best = minimise_on_line(at, 1.0)
    least = objective.slope(w + best * ahead)[0]
    assert abs(at(best)[0]) < 0.05 * abs(gradient @ ahead)
    assert there is not None
    assert value - there.value > (0.2 if 0.1 < length < 10 else 0.95) * (value - least)
