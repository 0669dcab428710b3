"""Sparse matrices of every form mean what the same cells mean as a dense array."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from deciban import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

MODELS = [GaussianNB(), BernoulliNB(), BernoulliNB(binarize=1.0), MultinomialNB(), ComplementNB(), PoissonNB()]


def halves(x):
    """Every cell stored twice, each time half of it."""
    whole = sparse.csr_array(x)
    twice = np.repeat(np.arange(whole.nnz), 2)
    return sparse.csr_array((whole.data[twice] / 2, whole.indices[twice], 2 * whole.indptr), shape=x.shape)


def backwards(x):
    """The cells of each row from the last to the first."""
    c = sparse.csr_array(x)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(c.indptr[:-1], c.indptr[1:], strict=True)])
    return sparse.csr_array((c.data[order], c.indices[order], c.indptr), shape=x.shape)


def stored_zeros(x):
    full = sparse.csr_array(x + 1.0)
    full.data -= 1.0
    return full


def long_indices(x):
    c = sparse.csr_array(x)
    c.indices, c.indptr = c.indices.astype(np.int64), c.indptr.astype(np.int64)
    return c


def frozen(x):
    c = sparse.csr_array(x)
    for part in (c.data, c.indices, c.indptr):
        part.flags.writeable = False
    return c


FORMS = {
    "csr": sparse.csr_array,
    "csr matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "cells stored twice": halves,
    "cells out of order": backwards,
    "zeros stored": stored_zeros,
    "64-bit indices": long_indices,
    "read only": frozen,
    "int64": lambda x: sparse.csr_array(x.astype(np.int64)),
    "int8": lambda x: sparse.csr_array(x.astype(np.int8)),
    "float32": lambda x: sparse.csr_array(x.astype(np.float32)),
    "missing": lambda x: sparse.csr_array(np.where(x == 2, np.nan, x)),
}


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_sparse_form_does_not_matter(model, form):
    rng = np.random.default_rng(0)
    x, y = rng.poisson(0.5, (80, 9)).astype(float), np.arange(80) % 3
    rows = FORMS[form](x)
    dense = np.where(x == 2, np.nan, x) if form == "missing" else x
    thin, thick = clone(model).fit(rows, y), clone(model).fit(dense, y)
    close = {"rtol": 1e-5, "atol": 1e-6} if form == "float32" else {"rtol": 1e-9}
    for method in ("predict_proba", "predict_joint_log_proba", "score_samples"):
        np.testing.assert_allclose(getattr(thin, method)(rows), getattr(thick, method)(dense), err_msg=method, **close)
