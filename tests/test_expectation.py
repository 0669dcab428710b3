"""Rows with missing cells teach what they can: expected statistics, and EM in LDA, QDA, RDA and Fisher."""

from __future__ import annotations

import warnings
from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import deciban
from deciban import (
    FisherDiscriminant,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.data.blocks import Reals, Table
from deciban.errors import DataError, NotAdditiveError, SupportError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes
from deciban.models import em
from deciban.models.em import ClassGaussians, batches, expected

MODELS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2, priors=[0.2, 0.3, 0.5]),
    LinearDiscriminantAnalysis(estimate="bayes"),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    QuadraticDiscriminantAnalysis(estimate="bayes"),
    RegularizedDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(blend=1, shrinkage=0.1),
    RegularizedDiscriminantAnalysis(estimate="bayes"),
    FisherDiscriminant(),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)
pooled_or_not = pytest.mark.parametrize("pooled", [False, True])


def rows(n: int = 90, d: int = 4, k: int = 3, share: float = 0.3, seed: int = 0) -> Table:
    """Classes of correlated columns, a share of the cells missing, weights of some sizes."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % k).astype(np.int32)
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(k, d))[y]
    x[rng.random((n, d)) < share] = np.nan
    return Table(Reals(x), y, rng.choice([0.5, 1.0, 2.0], n), k)


def some_gaussians(d: int = 4, k: int = 3, pooled: bool = False, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(1 if pooled else k, d, d + 2))
    return rng.normal(size=(k, d)), roots @ roots.transpose(0, 2, 1)


def expected_of(table: Table, g: ClassGaussians, pooled: bool = False):
    return reduce(add, (expected(batch, g, pooled) for batch in batches(table.x, table.y, table.w, table.k)))


def by_hand(table: Table, mean: np.ndarray, covs: np.ndarray):
    """(weights, sums, sums of squares) by class and the log likelihood, row by row, through the marginal Σ_oo."""
    k, d = mean.shape
    n, total, squares, loglik = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)), 0.0
    for x, c, w in zip(table.x.values, table.y, table.w, strict=True):
        m = np.isnan(x)
        if not m.any():
            continue
        cov, o = covs[c if len(covs) > 1 else 0], ~m
        slope = np.linalg.solve(cov[np.ix_(o, o)], cov[np.ix_(o, m)]).T
        full, left = x.copy(), np.zeros((d, d))
        full[m] = mean[c, m] + slope @ (x[o] - mean[c, o])
        left[np.ix_(m, m)] = cov[np.ix_(m, m)] - slope @ cov[np.ix_(o, m)]
        n[c] += w
        total[c] += w * full
        squares[c] += w * (np.outer(full, full) + left)
        if o.any():
            loglik += w * multivariate_normal.logpdf(x[o], mean[c, o], cov[np.ix_(o, o)])
    return n, total, squares, loglik


@pooled_or_not
def test_expected_statistics_are_those_of_the_conditional_gaussian_of_each_row(pooled):
    table = rows(share=0.5)
    mean, covs = some_gaussians(pooled=pooled)
    e = expected_of(table, ClassGaussians.of(mean, covs), pooled)
    n, total, squares, loglik = by_hand(table, mean, covs)
    scatter = squares - total[:, :, None] * total[:, None, :] / n[:, None, None]
    np.testing.assert_allclose(e.tally.n, n)
    np.testing.assert_allclose(e.tally.mean, total / n[:, None], rtol=1e-10)
    np.testing.assert_allclose(e.tally.scatter, scatter.sum(axis=0)[None] if pooled else scatter, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(e.loglik, loglik, rtol=1e-10)


@pooled_or_not
def test_log_likelihood_of_complete_rows_comes_from_their_tally(pooled):
    table = rows(share=0.0)
    mean, covs = some_gaussians(pooled=pooled)
    t = GaussianJoint(float(pooled)).tally(table.x, table.y, table.w, table.k)
    each = [
        w * multivariate_normal.logpdf(x, mean[c], covs[0 if pooled else c])
        for x, c, w in zip(table.x.values, table.y, table.w, strict=True)
    ]
    np.testing.assert_allclose(ClassGaussians.of(mean, covs).loglik(t), np.sum(each), rtol=1e-10)


def test_expectations_of_parts_add_up_to_those_of_the_whole():
    table = rows()
    g = ClassGaussians.of(*some_gaussians())
    whole, parts = expected_of(table, g), [expected_of(table.rows(a, a + 30), g) for a in (0, 30, 60)]
    total = parts[0] + parts[1] + parts[2]
    for name in ("n", "mean", "scatter"):
        np.testing.assert_allclose(getattr(total.tally, name), getattr(whole.tally, name), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(total.loglik, whole.loglik)


def test_weight_is_repetition_and_rows_of_no_weight_are_nobody():
    table, g = rows(), ClassGaussians.of(*some_gaussians())
    times = np.arange(90) % 3
    again = np.repeat(np.arange(90), times)
    weighed = expected_of(Table(table.x, table.y, times.astype(float), 3), g)
    repeated = expected_of(Table(table.x.take(again), table.y[again], None, 3), g)
    np.testing.assert_allclose(weighed.tally.scatter, repeated.tally.scatter, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(weighed.loglik, repeated.loglik)


def test_size_of_the_batches_is_free(monkeypatch):
    table, g = rows(n=300, d=6), ClassGaussians.of(*some_gaussians(d=6))
    whole = expected_of(table, g)
    assert len(batches(table.x, table.y, table.w, 3)) <= 6
    monkeypatch.setattr("deciban.models.em.BATCH", 1)
    assert len(batches(table.x, table.y, table.w, 3)) > 6
    np.testing.assert_allclose(expected_of(table, g).tally.scatter, whole.tally.scatter, rtol=1e-9)


@pooled_or_not
def test_many_rows_of_one_kind_may_be_tallied_first(pooled, monkeypatch):
    table, g = rows(n=3000, share=0.4), ClassGaussians.of(*some_gaussians(pooled=pooled))
    grouped = expected_of(table, g, pooled)
    assert any(batch.scatter is not None for batch in batches(table.x, table.y, table.w, 3))
    monkeypatch.setattr("deciban.models.em.MANY", 1e9)
    assert all(batch.scatter is None for batch in batches(table.x, table.y, table.w, 3))
    alone = expected_of(table, g, pooled)
    np.testing.assert_allclose(grouped.tally.mean, alone.tally.mean, rtol=1e-10)
    np.testing.assert_allclose(grouped.tally.scatter, alone.tally.scatter, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(grouped.loglik, alone.loglik, rtol=1e-10)


def learn(family, table: Table, extra=None) -> em.EMResult:
    whole = family.tally(table.x, table.y, table.w, table.k).dense()
    seen, n = em.Available()(table), np.bincount(table.y, table.w, minlength=table.k).astype(float)
    patterns = em.Patterns()(table)
    return em.run_em(family, whole, seen, n, lambda g: em.Expected(g, whole.pooled, table.k, table.d)(patterns), extra)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("extra", [0, None])
@pytest.mark.parametrize("blend", [0.0, 1.0])
def test_no_step_lowers_the_objective(blend, extra, seed):
    """Without extra rows that is the log likelihood of the cells that are there."""
    learned = learn(GaussianJoint(blend), rows(n=240, seed=seed), extra)
    assert learned.done
    assert learned.steps > 3
    assert (np.diff(learned.path) > -1e-9 * np.abs(learned.path[0])).all()


def test_objective_without_extra_rows_is_the_log_likelihood_of_what_was_seen():
    table = rows(n=240)
    family = GaussianJoint()
    learned = learn(family, table, 0)
    params = family.estimate(learned.tally)
    own = family.loglik(params, table.x)[np.arange(240), table.y]
    assert table.w @ own == pytest.approx(learned.path[-1], abs=1e-3)


def test_em_finds_the_maximum_that_has_a_closed_form():
    """One column complete, the other missing at times: its regression on the first gives it all (Anderson 1957)."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    x[rng.random(200) < 0.4, 1] = np.nan
    here = ~np.isnan(x[:, 1])
    a, b = x[here].T
    slope = np.cov(a, b, ddof=0)[0, 1] / a.var()
    mean = b.mean() + slope * (x[:, 0].mean() - a.mean())
    variance = b.var() + slope**2 * (x[:, 0].var() - a.var())
    t = learn(GaussianJoint(), Table(Reals(x), np.zeros(200, dtype=np.int32), None, 1), 0).tally
    np.testing.assert_allclose(t.mean[0], [x[:, 0].mean(), mean], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(t.scatter[0, 1, 1] / 200, variance, rtol=1e-3)
    np.testing.assert_allclose(t.scatter[0, 0, 1] / 200, slope * x[:, 0].var(), rtol=1e-3)


def holed(share: float = 0.3, n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    table = rows(n=n, share=share, seed=seed)
    return table.x.values, np.array(["a", "b", "c"])[table.y]


@every_model
def test_rows_with_missing_cells_are_learned_from(model):
    x, y = holed()
    fitted = clone(model).fit(x, y)
    assert fitted.n_iter_ > 1
    p = fitted.predict_proba(x)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(fitted.tally_.parts[1].n, fitted.class_count_)
    complete = ~np.isnan(x).any(axis=1)
    assert (fitted.predict(x) == y).mean() >= (clone(model).fit(x[complete], y[complete]).predict(x) == y).mean() - 0.02


@every_model
def test_nothing_missing_is_no_em(model, monkeypatch):
    monkeypatch.setattr(em, "run_em", None)
    x, y = holed(share=0.0)
    assert clone(model).fit(x, y).n_iter_ == 0


@every_model
def test_few_missing_cells_change_little(model):
    x, y = holed(share=0.0)
    whole = clone(model).fit(x, y)
    x = x.copy()
    x[7, 1] = np.nan
    few = clone(model).fit(x, y)
    np.testing.assert_allclose(few.means_, whole.means_, atol=0.05)
    np.testing.assert_allclose(few.predict_proba(x), whole.predict_proba(x), atol=0.1)


@every_model
def test_what_em_has_learned_does_not_add_up_with_more(model):
    x, y = holed()
    holes, whole = clone(model).fit(x, y), clone(model).fit(*holed(share=0.0))
    before = holes.predict_proba(x)
    for learn_more in (
        lambda: holes.partial_fit(x, y),
        lambda: holes.forget(x[:5], y[:5]),
        lambda: holes + whole,
        lambda: whole + holes,
        lambda: holes + holes,
    ):
        with pytest.raises(NotAdditiveError, match=r"(?s)EM.*hint:"):
            learn_more()
    np.testing.assert_array_equal(holes.predict_proba(x), before)
    again = holes.fit(*holed(share=0.0))  # a fit starts anew
    assert again.n_iter_ == 0
    again.partial_fit(*holed(share=0.0))


@every_model
def test_updates_leave_rows_with_missing_cells_out_and_say_so(model):
    x, y = holed(share=0.1)
    complete = ~np.isnan(x).any(axis=1)
    model = clone(model).set_params(priors=[0.2, 0.3, 0.5])
    want = clone(model).fit(x[complete], y[complete])
    got = clone(model)
    with pytest.warns(UserWarning, match="have missing cells"):
        got.partial_fit(x, y, classes=["a", "b", "c"])
    np.testing.assert_allclose(got.predict_proba(x), want.predict_proba(x), atol=1e-9)
    got.partial_fit(x[complete], y[complete])  # warns no more
    with pytest.warns(UserWarning, match="have missing cells"):
        got.partial_fit(x, y)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_automatic_shrinkage_leaves_rows_with_missing_cells_out_and_says_so(solver):
    x, y = holed(share=0.1)
    with pytest.warns(UserWarning, match="have missing cells"):
        model = LinearDiscriminantAnalysis(solver=solver, shrinkage="auto").fit(x, y)
    assert model.n_iter_ == 0


@every_model
def test_column_that_a_class_never_shows_has_the_mean_of_all(model):
    x, y = holed(share=0.1)
    x[y == "b", 2] = np.nan
    fitted = clone(model).fit(x, y)
    seen = x[:, 2][~np.isnan(x[:, 2])]
    assert abs(fitted.means_[1, 2] - seen.mean()) < 0.5 * seen.std()
    assert np.isfinite(fitted.predict_log_proba(np.nan_to_num(x))).all()


@every_model
def test_class_without_any_cell_has_an_answer(model):
    x, y = holed(share=0.1)
    x[y == "b"] = np.nan
    p = clone(model).fit(x, y).predict_proba(x)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


@every_model
def test_column_without_any_cell_is_refused_with_its_place(model):
    x, y = holed(share=0.1)
    x[:, 2] = np.nan
    with pytest.raises(DataError, match=r"(?s)column 2.*hint:"):
        clone(model).fit(x, y)


@every_model
def test_infinite_cell_in_a_row_with_holes_is_refused_with_its_place(model):
    x, y = holed(share=0.1)
    x[5, 1], x[5, 2] = np.inf, np.nan
    with pytest.raises(SupportError, match="row 5, column 1"):
        clone(model).fit(x, y)


@every_model
def test_constant_and_collinear_columns_are_no_harm(model):
    x, y = holed(share=0.0)
    x = np.column_stack([x, np.full(len(x), 5.0), x[:, 0] - x[:, 1]])
    x[np.random.default_rng(3).random(x.shape) < 0.2] = np.nan
    fitted = clone(model).fit(x, y)
    assert np.isfinite(fitted.predict_proba(x)).all()
    np.testing.assert_allclose(fitted.means_[:, 4], 5.0, atol=1e-6)


@every_model
def test_more_columns_than_rows_can_be_filled_in(model):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(30, 40)), np.array(["a", "b", "c"])[np.arange(30) % 3]
    x[:, 0] += np.arange(30) % 3 * 5
    x[rng.random(x.shape) < 0.2] = np.nan
    assert np.isfinite(clone(model).fit(x, y).predict_proba(x)).all()


# shrinking towards a sphere depends on the units
UNSHRUNK = [model for model in MODELS if not any(getattr(model, name, None) for name in ("shrinkage", "reg_param"))]


@pytest.mark.parametrize("model", UNSHRUNK, ids=repr)
def test_units_and_origin_of_the_columns_are_free(model):
    x, y = holed()
    units, origin = np.array([1e-3, 1.0, 1e4, 10.0]), np.array([0.0, 1e3, -1e5, 1.0])
    got = clone(model).fit(x * units + origin, y).predict_proba(x * units + origin)
    np.testing.assert_allclose(got, clone(model).fit(x, y).predict_proba(x), atol=1e-4)


@every_model
def test_any_number_of_threads_gives_the_same_bits(model, monkeypatch):
    monkeypatch.setattr("deciban.models.em.BATCH", 1)
    monkeypatch.setattr(em, "CHUNK", 16)
    x, y = holed(n=160)
    answers = set()
    for n in (1, 2, 3):
        with deciban.threads(n):
            answers.add(clone(model).fit(x, y).predict_joint_log_proba(x).tobytes())
    assert len(answers) == 1


def test_em_that_has_not_converged_warns(monkeypatch):
    monkeypatch.setattr(em, "STEPS", 2)
    x, y = holed()
    with pytest.warns(ConvergenceWarning, match=r"(?s)not converged.*hint:"):
        model = QuadraticDiscriminantAnalysis().fit(x, y)
    assert model.n_iter_ == 2


def test_matrices_too_large_to_fill_in_by_leave_incomplete_rows_out(monkeypatch):
    monkeypatch.setattr(em, "LARGEST", 10)
    x, y = holed(share=0.1)
    with pytest.warns(UserWarning, match="have missing cells"):
        assert QuadraticDiscriminantAnalysis().fit(x, y).n_iter_ == 0


def test_float32_cells_are_filled_in_like_doubles():
    x, y = holed()
    x = np.float32(x)
    single, double = (QuadraticDiscriminantAnalysis().fit(cells, y) for cells in (x, x.astype(np.float64)))
    np.testing.assert_allclose(single.means_, double.means_, rtol=1e-5)


def test_filling_in_by_bayes_settles():
    for blend in (0.0, 0.5, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert learn(GaussianJointBayes(blend), rows(n=60, d=10, share=0.4)).done
