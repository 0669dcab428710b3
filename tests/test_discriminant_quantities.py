"""Quantities of discriminant analysis under the names of the lectures: scores, covariances, Fisher's direction and
ratio, classes that are learned by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import deciban
from deciban import (
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    metrics,
)
from deciban.errors import DataError

X, Y = load_iris(return_X_y=True)
TWO = X[Y > 0], Y[Y > 0]
SOLVERS = ("svd", "lsqr", "eigen")
DISCRIMINANTS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    QuadraticDiscriminantAnalysis(),
    RegularizedDiscriminantAnalysis(),
    FisherDiscriminant(),
]


def softmax(scores: np.ndarray) -> np.ndarray:
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def moments(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    classes, counts = np.unique(y, return_counts=True)
    parts = [x[y == c] for c in classes]
    return np.stack([p.mean(axis=0) for p in parts]), [np.cov(p.T, bias=True) for p in parts], counts / len(y)


# discriminant scores


@pytest.mark.parametrize("solver", SOLVERS)
def test_coverage_001_09_linear_scores_are_the_same_for_all_solvers(solver):
    scores = LinearDiscriminantAnalysis(solver=solver).fit(X, Y).discriminant_scores(X)
    np.testing.assert_allclose(scores[0], [91.698, 41.395, -6.005], atol=1e-3)
    mean, covs, prior = moments(X, Y)
    inverse = np.linalg.inv(np.tensordot(prior, covs, 1))
    expected = X @ inverse @ mean.T - 0.5 * np.einsum("ki,ij,kj->k", mean, inverse, mean) + np.log(prior)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def test_coverage_001_15_quadratic_scores():
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    scores = model.discriminant_scores(X)
    np.testing.assert_allclose(scores[0], [5.246, -54.195, -89.929], atol=1e-3)
    np.testing.assert_allclose(scores, model.decision_function(X))
    for c, (mean, cov, prior) in enumerate(zip(*moments(X, Y), strict=True)):
        z = X - mean
        norms = np.einsum("ni,ij,nj->n", z, np.linalg.inv(cov), z)
        np.testing.assert_allclose(scores[:, c], -0.5 * (np.linalg.slogdet(cov)[1] + norms) + np.log(prior), rtol=1e-9)


@pytest.mark.parametrize("model", DISCRIMINANTS, ids=repr)
@pytest.mark.parametrize("two", [True, False])
def test_scores_of_two_and_three_classes_give_the_posterior(model, two):
    x, y = TWO if two else (X, Y)
    gaps = x.copy()
    gaps[::9, 2] = np.nan
    model = clone(model).fit(x, y)
    for rows in (x, gaps):
        scores = model.discriminant_scores(rows)
        assert scores.shape == (len(x), 2 if two else 3)
        np.testing.assert_allclose(softmax(scores), model.predict_proba(rows), atol=1e-9)
    if two:
        np.testing.assert_allclose(np.diff(model.discriminant_scores(x))[:, 0], model.decision_function(x), atol=1e-9)


def test_regularised_scores_lie_between_quadratic_and_linear_ones():
    for blend, other in ((0.0, QuadraticDiscriminantAnalysis()), (1.0, LinearDiscriminantAnalysis())):
        own = RegularizedDiscriminantAnalysis(blend=blend).fit(X, Y)
        np.testing.assert_allclose(own.discriminant_scores(X), other.fit(X, Y).discriminant_scores(X), rtol=1e-8)
    calibrated = QuadraticDiscriminantAnalysis(calibrate=True).fit(X, Y)
    plain = QuadraticDiscriminantAnalysis().fit(X, Y)
    np.testing.assert_array_equal(calibrated.discriminant_scores(X), plain.discriminant_scores(X))


# covariances


@pytest.mark.parametrize("solver", SOLVERS)
def test_coverage_000_40_and_001_07_the_shared_covariance(solver):
    _, covs, prior = moments(X, Y)
    pooled = np.tensordot(prior, covs, 1)
    np.testing.assert_allclose(LinearDiscriminantAnalysis(solver=solver).fit(X, Y).covariance_, pooled)
    unbiased = LinearDiscriminantAnalysis(solver=solver, ddof=1).fit(X, Y)
    np.testing.assert_allclose(unbiased.covariance_, pooled * 150 / 147)
    np.testing.assert_allclose(
        unbiased.transform(X).var(axis=0) * 150 / 147,
        LinearDiscriminantAnalysis(solver=solver).fit(X, Y).transform(X).var(axis=0),
        rtol=1e-8,
    )


def test_coverage_000_38_and_001_07_own_covariances():
    for ddof in (0, 1, 2.5):
        model = QuadraticDiscriminantAnalysis(ddof=ddof).fit(X, Y)
        for c, cov in enumerate(model.covariance_):
            np.testing.assert_allclose(cov, np.cov(X[c == Y].T, bias=True) * 50 / (50 - ddof))
    np.testing.assert_allclose(
        GaussianNB(ddof=1, var_smoothing=0).fit(X, Y).var_,
        [np.diag(cov) for cov in QuadraticDiscriminantAnalysis(ddof=1).fit(X, Y).covariance_],
    )


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(ddof=1),
        LinearDiscriminantAnalysis("lsqr", ddof=1, priors=[0.2, 0.3, 0.5]),
        LinearDiscriminantAnalysis("eigen", ddof=1, shrinkage=0.3),
        LinearDiscriminantAnalysis("lsqr", ddof=1, shrinkage="auto"),
        QuadraticDiscriminantAnalysis(ddof=1),
        QuadraticDiscriminantAnalysis(ddof=1, reg_param=0.2),
        QuadraticDiscriminantAnalysis(solver="eigen", ddof=2, shrinkage=0.1),
        QuadraticDiscriminantAnalysis(solver="eigen", ddof=1, shrinkage="auto"),
        QuadraticDiscriminantAnalysis(diagonal=True),
        QuadraticDiscriminantAnalysis(diagonal=True, ddof=1, reg_param=0.1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_row_out_is_a_fit_without_it(model, weighted):
    w = np.where(np.arange(len(Y)) % 4 == 0, 3.0, 1.0) if weighted else np.ones(len(Y))
    fitted = clone(model).fit(X, Y, sample_weight=w)
    left = fitted.leave_one_out(X, Y, sample_weight=w)
    for row in (0, 41, 77, 148):
        rest = np.delete(np.arange(len(Y)), row)
        again = clone(model).fit(X[rest], Y[rest], sample_weight=w[rest])
        np.testing.assert_allclose(left[row], again.predict_log_proba(X[row : row + 1])[0], atol=1e-7)


@pytest.mark.parametrize("ddof", [1, 2, 4])
def test_leaving_a_row_out_of_classes_of_few_rows(ddof):
    """A class with no more rows than `ddof` has the covariance of the others."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [5, 4, 20])
    x = rng.normal(size=(29, 2)) + y[:, None]
    for model in (LinearDiscriminantAnalysis(ddof=ddof), QuadraticDiscriminantAnalysis(ddof=ddof)):
        left = clone(model).fit(x, y).leave_one_out(x, y)
        for row in (0, 6, 20):
            rest = np.delete(np.arange(29), row)
            again = clone(model).fit(x[rest], y[rest]).predict_log_proba(x[row : row + 1])[0]
            np.testing.assert_allclose(left[row], again, atol=1e-7)


def test_coverage_001_44_one_switch_from_quadratic_to_naive_bayes():
    diagonal = QuadraticDiscriminantAnalysis(diagonal=True).fit(X, Y)
    naive = GaussianNB(var_smoothing=0).fit(X, Y)
    np.testing.assert_allclose(diagonal.predict_proba(X), naive.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(diagonal.score_samples(X), naive.score_samples(X), rtol=1e-12)
    np.testing.assert_allclose(diagonal.leave_one_out(X, Y), naive.leave_one_out(X, Y), atol=1e-9)
    np.testing.assert_allclose([np.diag(cov) for cov in diagonal.covariance_], naive.var_)
    assert not diagonal.singular_.size
    flat = np.column_stack([X, np.where(Y == 0, 1.0, X[:, 0])])
    constant = QuadraticDiscriminantAnalysis(diagonal=True).fit(flat, Y)
    assert constant.singular_.tolist() == [0]
    assert np.isfinite(constant.predict_proba(flat)).all()
    left = constant.leave_one_out(flat, Y)
    again = QuadraticDiscriminantAnalysis(diagonal=True).fit(flat[1:], Y[1:])
    np.testing.assert_allclose(left[0], again.predict_log_proba(flat[:1])[0], atol=1e-8)


def test_covariances_of_more_columns_than_rows_are_stored_if_asked_for():
    rng = np.random.default_rng(0)
    wide, y = rng.normal(size=(12, 30)), np.repeat([0, 1], 6)
    for make in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        assert not hasattr(make().fit(wide, y), "covariance_")
        assert np.shape(make(store_covariance=True).fit(wide, y).covariance_)[-2:] == (30, 30)
    for settings in ({}, {"ddof": 1}, {"diagonal": True}):
        thin = QuadraticDiscriminantAnalysis(store_covariance=True, **settings).fit(wide, y)
        factor = 6 / 5 if settings.get("ddof") else 1.0
        expected = np.cov(wide[:6].T, bias=True) * factor
        expected = np.diag(np.diag(expected)) if "diagonal" in settings else expected
        family, t = thin._fitted_state().family, thin.tally_.parts[1]
        np.testing.assert_allclose(family.gaussians(t)[1][0].dense(), expected, atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(ddof=1, estimate="bayes"),
        QuadraticDiscriminantAnalysis(ddof=1, estimate="bayes"),
        QuadraticDiscriminantAnalysis(diagonal=True, estimate="bayes"),
    ],
    ids=repr,
)
def test_settings_without_a_meaning_are_refused(model):
    with pytest.raises(DataError, match=r"(?s)(ddof|diagonal).*estimate='bayes'.*hint:"):
        model.fit(X, Y)


@pytest.mark.parametrize("settings", [{"ddof": 1}, {"diagonal": True}], ids=str)
def test_settings_are_kept_in_a_file(tmp_path, settings):
    model = QuadraticDiscriminantAnalysis(**settings).fit(X, Y)
    deciban.save(model, tmp_path / "m")
    loaded = deciban.load(tmp_path / "m")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# one class


@pytest.mark.parametrize("model", [*DISCRIMINANTS, FisherDiscriminant(multi="eigen"), GaussianNB()], ids=repr)
@pytest.mark.parametrize("n", [3, 17, 40, 150])  # 3: fewer rows than columns
def test_attack_c5_one_class_is_learned_and_answered(model, n):
    """FisherDiscriminant of one class ended the process."""
    model = clone(model).fit(X[:n], ["k"] * n)
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    assert set(model.predict(X)) == {"k"}
    if n > X.shape[1]:
        np.testing.assert_array_equal(model.leave_one_out(X[:n], ["k"] * n), np.zeros((n, 1)))
    if not isinstance(model, GaussianNB):
        assert model.decision_function(X).shape == model.discriminant_scores(X).shape == (150, 1)


@pytest.mark.parametrize("model", [*DISCRIMINANTS, QuadraticDiscriminantAnalysis(ddof=1)], ids=repr)
def test_coverage_000_33_classes_are_learned_apart_and_added(model):
    a, b = X[:50], X[50:]
    both = clone(model).fit(a, ["k"] * 50) + clone(model).fit(b, ["l"] * 100)
    whole = clone(model).fit(X, ["k"] * 50 + ["l"] * 100)
    np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-12)


# Fisher's discriminant


def test_coverage_000_51_to_53_fishers_direction_and_ratio():
    x, y = TWO
    model = FisherDiscriminant().fit(x, y)
    mean, covs, _ = moments(x, y)
    w = np.linalg.solve(covs[0] + covs[1], mean[1] - mean[0])
    np.testing.assert_allclose(model.coef_[0], 2 * w)
    np.testing.assert_allclose(model.decision_function(x), x @ model.coef_[0] + model.intercept_[0])
    ratio = (w @ (mean[1] - mean[0])) ** 2 / (w @ (covs[0] + covs[1]) @ w)
    np.testing.assert_allclose(model.fisher_ratio_, [ratio])
    np.testing.assert_allclose(metrics.fisher_ratio(x, y, w), ratio)
    np.testing.assert_allclose(metrics.fisher_ratio(x, y, -3 * w), ratio)
    rng = np.random.default_rng(0)
    assert all(metrics.fisher_ratio(x, y, w + 0.1 * rng.normal(size=4)) < ratio for _ in range(20))


def test_coverage_000_52_fisher_is_lda_for_equal_covariances():
    x, _ = TWO
    mirrored = np.concatenate([x[:50], 2 * x[50:].mean(axis=0) - x[:50]])
    y = np.repeat(["a", "b"], 50)
    fisher, linear = FisherDiscriminant().fit(mirrored, y), LinearDiscriminantAnalysis().fit(mirrored, y)
    np.testing.assert_allclose(fisher.coef_, linear.coef_, rtol=1e-8)
    np.testing.assert_allclose(fisher.intercept_, linear.intercept_, rtol=1e-8)


def test_ratios_of_three_classes_are_those_of_the_pairs():
    model = FisherDiscriminant().fit(X, Y)
    assert model.fisher_ratio_.shape == (3,)
    np.testing.assert_allclose(metrics.fisher_ratio(X, Y, model.coef_), model.fisher_ratio_)
    for at, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        pair = np.isin(Y, (a, b))
        np.testing.assert_allclose(FisherDiscriminant().fit(X[pair], Y[pair]).fisher_ratio_, model.fisher_ratio_[at])
    assert metrics.fisher_ratio(X, Y, np.ones(4)).shape == (3,)
    for wrong in (np.ones(3), np.ones((2, 4))):
        with pytest.raises(DataError, match="hint:"):
            metrics.fisher_ratio(X, Y, wrong)
    with pytest.raises(DataError, match="hint:"):
        metrics.fisher_ratio(X, np.zeros(150), np.ones(4))
