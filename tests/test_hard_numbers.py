"""Numbers that must never be wrong: far from zero, singular, huge, tiny, wide, sparse."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from sklearn import discriminant_analysis
from sklearn.base import clone

from deciban import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.classifiers.discriminant import DiscriminantAnalysis
from deciban.errors import DecibanError

COUNTING = [BernoulliNB(), MultinomialNB(), ComplementNB(), ComplementNB(norm=True), PoissonNB()]
LINEAR = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
]
OWN = [
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    RegularizedDiscriminantAnalysis(shrinkage=0.1),
    RegularizedDiscriminantAnalysis(shrinkage="auto"),
]
FISHER = [FisherDiscriminant(), FisherDiscriminant(multi="eigen")]
JOINT = [*LINEAR, LinearDiscriminantAnalysis(solver="eigen"), *OWN, RegularizedDiscriminantAnalysis(), *FISHER]
ALL = [GaussianNB(), *COUNTING, CategoricalNB(), *JOINT]


def each(models):
    return pytest.mark.parametrize("model", models, ids=repr)


def blobs(n=300, d=3, k=3, seed=0):
    """(x, y) of k classes some deviations apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return np.abs(rng.normal(size=(n, d)) + 4.0 * rng.permutation(k)[y][:, None] + np.arange(d)), y


def check_posterior(p, n):
    assert p.shape[0] == n
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)


# far from zero


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array], ids=["c", "fortran", "csr"])
def test_gaussian_variance_survives_a_mean_of_1e8(form):
    x, y = blobs(4000)
    far = GaussianNB(var_smoothing=0).fit(form(x + 1e8), y)
    near = GaussianNB(var_smoothing=0).fit(x, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-6)
    np.testing.assert_allclose(far.theta_, near.theta_ + 1e8, rtol=1e-15)
    np.testing.assert_allclose(far.predict_proba(form(x + 1e8)), near.predict_proba(x), atol=1e-5)


@each(JOINT)
def test_covariance_survives_a_mean_of_1e8(model):
    x, y = blobs(4000)
    model = clone(model).set_params(**{"store_covariance": True} if hasattr(model, "store_covariance") else {})
    far, near = clone(model).fit(x + 1e8, y), clone(model).fit(x, y)
    np.testing.assert_allclose(far.means_, near.means_ + 1e8, rtol=1e-15)
    if not isinstance(model, FisherDiscriminant):
        np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(far.predict_proba(x + 1e8), near.predict_proba(x), atol=1e-5)
    assert (far.predict(x + 1e8) == near.predict(x)).mean() > 0.999


def test_parts_of_a_far_column_add_up_without_cancellation():
    x, y = blobs(4000)
    parts = GaussianNB(var_smoothing=0)
    for start in range(0, 4000, 7):
        parts.partial_fit(x[start : start + 7] + 1e8, y[start : start + 7], classes=[0, 1, 2])
    np.testing.assert_allclose(parts.var_, GaussianNB(var_smoothing=0).fit(x, y).var_, rtol=1e-6)


# degenerate columns and classes


@each(ALL)
def test_constant_columns_are_no_evidence(model):
    x, y = blobs()
    x = np.round(x)
    still = np.column_stack([x, np.full(len(y), 2.0), np.zeros(len(y))])
    p = clone(model).fit(still, y).predict_proba(still)
    check_posterior(p, len(y))
    if not isinstance(model, ComplementNB | MultinomialNB) and getattr(model, "shrinkage", None) is None:
        np.testing.assert_allclose(p, clone(model).fit(x, y).predict_proba(x), atol=1e-6)


@each([m for m in ALL if not isinstance(m, QuadraticDiscriminantAnalysis)])
def test_class_of_one_row_is_learned(model):
    x, y = np.round(blobs()[0]), blobs()[1] % 2
    y[0], x[0] = 7, [40.0, 0.0, 9.0]
    fitted = clone(model).fit(x, y)
    check_posterior(fitted.predict_proba(x), len(y))
    if isinstance(model, GaussianNB | DiscriminantAnalysis):
        assert fitted.predict(x[:1])[0] == 7


@each([m for m in ALL if isinstance(m, QuadraticDiscriminantAnalysis)])
def test_class_of_one_row_is_refused_with_a_hint_where_it_has_no_covariance(model):
    x, y = blobs()
    y[0] = 7
    with pytest.raises(DecibanError, match="hint: "):
        clone(model).fit(x, y)


@each(ALL)
def test_class_without_weight_is_never_predicted(model):
    x, y = np.round(blobs()[0]), blobs()[1]
    w = np.where(y == 1, 0.0, 1.0)
    fitted = clone(model).fit(x, y, sample_weight=w)
    p = fitted.predict_proba(x)
    check_posterior(p, len(y))
    if not isinstance(model, ComplementNB):  # whose scores take no prior
        assert (p[:, 1] == 0).all()
        np.testing.assert_allclose(p[:, [0, 2]], clone(model).fit(x[w > 0], y[w > 0]).predict_proba(x), atol=1e-9)


@each(JOINT)
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-5])
def test_column_that_is_nearly_a_mix_of_others_does_no_harm(model, noise):
    x, y = blobs()
    mix = x @ [1.0, -2.0, 0.5] + noise * np.random.default_rng(3).normal(size=len(y))
    doubled = np.column_stack([x, mix])
    fitted = clone(model).fit(doubled, y)
    check_posterior(fitted.predict_proba(doubled), len(y))
    assert (fitted.predict(doubled) == clone(model).fit(x, y).predict(x)).mean() > 0.95


# magnitudes


@each(ALL)
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-80, 1e15, 1e80, 1e160, 1e300])
def test_any_magnitude_has_a_defined_answer_or_a_hint(model, size):
    x, y = blobs(60)
    try:
        fitted = clone(model).fit(x * size, y)
    except DecibanError as error:
        assert "hint:" in str(error)
        return
    check_posterior(fitted.predict_proba(x * size), len(y))


@each([GaussianNB(), *LINEAR[:2], OWN[0], RegularizedDiscriminantAnalysis(), *FISHER])
@pytest.mark.parametrize("size", [1e-80, 1e60])
def test_units_do_not_change_a_decision(model, size):
    x, y = blobs()
    same = clone(model).fit(x * size, y).predict_proba(x * size)
    np.testing.assert_allclose(same, clone(model).fit(x, y).predict_proba(x), rtol=1e-6, atol=1e-9)


@each(ALL)
@pytest.mark.parametrize("size", [1e-300, 1e300, 1.7e308])
def test_row_of_any_magnitude_can_be_scored(model, size):
    x, y = blobs(60)
    y[:20] = 0  # unequal priors: an answer that fell back to them is seen
    rows = np.array([[size, size, size], [0.0, size, 0.0], [size, 1.0, size / 2]])
    if isinstance(model, GaussianNB | DiscriminantAnalysis):
        x, rows = x / 10, np.vstack([rows, -rows])
    fitted = clone(model).fit(x if len(rows) > 3 else np.round(x), y)
    try:
        p, labels = fitted.predict_proba(rows), fitted.predict(rows)
    except DecibanError as error:
        assert "hint:" in str(error)
        return
    check_posterior(p, len(rows))
    assert not np.isnan(fitted.predict_log_proba(rows)).any()
    assert size > 1e300 or not np.isnan(fitted.predict_joint_log_proba(rows)).any()
    best = p[np.arange(len(rows)), np.searchsorted(fitted.classes_, labels)]
    assert (best == p.max(axis=1)).all()


# wide and sparse


WIDE = [
    *LINEAR,
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    *OWN[1:],
    RegularizedDiscriminantAnalysis(blend=1, shrinkage=0.1),
]


NOT_THEIRS = {"LinearDiscriminantAnalysis(solver='lsqr')"}  # least squares depends on units there, not here


@each(WIDE)
def test_more_columns_than_rows_gives_what_dense_matrices_give(model, monkeypatch):
    x, y = blobs(24, 60)
    thin = clone(model).fit(x, y)
    tall = clone(model)
    monkeypatch.setattr("deciban.tallies.RowScatter._fits", lambda self, other: False)
    for rows in (
        slice(0, 12),
        slice(12, 24),
    ):  # two parts that may not be joined as rows become a dense tally
        tall.partial_fit(x[rows], y[rows], classes=[0, 1, 2])
    assert hasattr(tall.tally_.parts[1], "scatter")
    assert not hasattr(thin.tally_.parts[1], "scatter")
    new = blobs(30, 60, seed=1)[0]
    np.testing.assert_allclose(thin.predict_proba(new), tall.predict_proba(new), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(thin.decision_function(new), tall.decision_function(new), rtol=1e-6)
    if hasattr(discriminant_analysis, type(model).__name__) and repr(model) not in NOT_THEIRS:
        of = getattr(discriminant_analysis, type(model).__name__)
        theirs = of(**{name: getattr(model, name) for name in of().get_params()}).fit(x, y)
        np.testing.assert_allclose(thin.predict_proba(new), theirs.predict_proba(new), rtol=1e-6, atol=1e-9)


MEASURED = """
    import resource, sys
    import numpy as np
    from deciban import *
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    x = rng.normal(size=(200, 8_000)) + 0.3 * rng.normal(size=(4, 8_000))[y]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for model in map(eval, sys.argv[1:]):
        p = model.fit(x, y).predict_proba(x)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((most - before) / 1024, abs(p.sum(axis=1) - 1).max(), (p.argmax(axis=1) == y).mean())
"""


@pytest.fixture(scope="module")
def measured():
    """For each wide model: megabytes over the data, error of the sums of posteriors, accuracy."""
    pytest.importorskip("resource")
    command = [sys.executable, "-c", textwrap.dedent(MEASURED), *map(repr, WIDE)]
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    return dict(zip(map(repr, WIDE), out.stdout.splitlines(), strict=True))


@each(WIDE)
def test_8_000_columns_of_200_rows_make_no_square_matrix(model, measured):
    """It would take 512 MB. (The peak is of this model and those before.)"""
    megabytes, excess, score = map(float, measured[repr(model)].split())
    assert megabytes < 400
    assert excess < 1e-9
    if getattr(model, "shrinkage", None) is not None:  # else the directions that separate have no variance within
        assert score == 1.0


@each([*COUNTING, GaussianNB()])
def test_a_million_sparse_columns_are_no_burden(model):
    rng = np.random.default_rng(0)
    x = sparse.random_array((300, 1_000_000), density=2e-5, rng=rng, format="csr")
    x.data = np.ceil(3 * x.data)
    y = np.arange(300) % 3
    fitted = clone(model).fit(x, y)
    check_posterior(fitted.predict_proba(x), 300)
    assert fitted.score(x, y) > 0.9


@each([*COUNTING, GaussianNB(), GaussianNB(var_smoothing=1e-3)])
def test_sparse_rows_are_scored_like_dense_ones_empty_rows_too(model):
    rng = np.random.default_rng(1)
    x = rng.poisson(0.3, size=(200, 30)).astype(float)
    x[::5] = 0.0
    y = np.arange(200) % 3
    thin, dense = clone(model).fit(sparse.csr_array(x), y), clone(model).fit(x, y)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(x)), dense.predict_proba(x), rtol=1e-9)
    np.testing.assert_allclose(thin.predict_joint_log_proba(sparse.csr_array(x)), dense.predict_joint_log_proba(x))


@pytest.mark.parametrize("model", [GaussianNB(), *COUNTING], ids=repr)
def test_sparse_rows_are_never_made_dense(model, monkeypatch):
    x = sparse.csr_array(np.eye(50))
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        for method in ("toarray", "todense"):
            monkeypatch.setattr(kind, method, lambda *a, **k: pytest.fail("made dense"))
    check_posterior(clone(model).fit(x, np.arange(50) % 2).predict_proba(x), 50)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("model", [MultinomialNB, BernoulliNB, ComplementNB])
def test_smoothing_that_is_no_number_is_refused(model, bad):
    with pytest.raises(DecibanError, match="alpha"):
        model(alpha=np.array([1.0, bad])).fit([[1, 2], [3, 0]], [0, 1])
