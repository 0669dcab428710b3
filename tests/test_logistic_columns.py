"""The lasso of sparse rows: coordinate descent on stored cells finds what the dense solver finds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Sklearn

from deciban import LogisticRegression, ops
from deciban.ops import logistic, spec
from deciban.solvers.coordinate import curvature


def rows(k: int):
    rng = np.random.default_rng(4)
    x = rng.poisson(0.3, size=(120, 30)) * rng.normal(1.0, 0.2, size=(120, 30))
    y = (x @ rng.normal(size=(30, k)) + rng.gumbel(size=(120, k))).argmax(axis=1)
    return x, y, rng.integers(1, 4, size=120).astype(float)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_sparse_and_dense_rows_have_the_same_lasso(k, ratio):
    x, y, w = rows(k)
    a, b = (
        LogisticRegression(l1_ratio=ratio, C=0.3, tol=1e-9, max_iter=500).fit(data, y, sample_weight=w)
        for data in (x, sparse.csr_array(x))
    )
    np.testing.assert_allclose(b.coef_, a.coef_, atol=2e-6)
    np.testing.assert_allclose(b.intercept_, a.intercept_, atol=2e-6)


def test_it_is_that_of_scikit_learn():
    x, y, _ = rows(2)
    x = sparse.csr_matrix(x)
    settings = {"l1_ratio": 1.0, "C": 0.5, "fit_intercept": False, "max_iter": 5000}
    theirs = Sklearn(solver="liblinear", tol=1e-10, random_state=0, **settings).fit(x, y)
    ours = LogisticRegression(tol=1e-9, **settings).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_the_compiled_descent_is_its_specification(k):
    if ops.core() is None:
        pytest.skip("nothing compiled")
    x, y, w = rows(k)
    # without intercepts, which may all move alike in a softmax and so have no one minimum
    objective = LogisticRegression(l1_ratio=0.5, fit_intercept=False).objective(sparse.csr_array(x), y, w)
    start = 0.1 * np.random.default_rng(0).normal(size=objective.size)
    q, share = curvature(objective, start)
    g, order = objective.slope(start)[1], np.arange(objective.size, dtype=np.int64)
    args = (objective.by_column, q, share, g, start, objective.lasso, objective.ridge, order, 1e-22, 3000)
    (d, bent), (d_spec, bent_spec) = logistic.lasso_columns(*args), spec.lasso_columns(*args)
    np.testing.assert_allclose(d, d_spec, atol=1e-8)
    assert bent == pytest.approx(bent_spec, rel=1e-6)
    hessian = objective.hessian(start)
    assert bent == pytest.approx(d @ hessian @ d, rel=1e-8)
