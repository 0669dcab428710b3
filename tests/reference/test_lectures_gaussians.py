"""The formulas of the source lectures: LDA, QDA and Fisher written out by hand."""

import csv

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from deciban import (
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)

from ..support.data import reals

SOLVERS = ["svd", "lsqr", "eigen"]


@pytest.fixture
def two():
    """Two classes of unequal size and shape: (x, y)."""
    rng = np.random.default_rng(2)
    first = rng.normal(size=(40, 3)) @ np.array([[2, 0, 0], [1, 1, 0], [0, 0.3, 0.5]])
    second = rng.normal(size=(25, 3)) @ np.array([[1, 0.5, 0], [0, 2, 0], [0.2, 0, 1]]) + [1, 2, 0]
    return np.vstack([first, second]), np.repeat([1, 2], [40, 25])


def by_hand(x, y):
    """(means, covariances by n, priors) of the classes, the maximum likelihood estimates."""
    groups = [x[y == c] for c in np.unique(y)]
    covariances = [np.cov(g.T, bias=True) for g in groups]
    return [g.mean(axis=0) for g in groups], covariances, [len(g) / len(y) for g in groups]


@pytest.mark.parametrize("solver", SOLVERS)
def test_pooled_covariance_divides_by_all_rows(two, solver):
    x, y = two
    _, covariances, priors = by_hand(x, y)
    model = LinearDiscriminantAnalysis(solver=solver, store_covariance=True).fit(x, y)
    np.testing.assert_allclose(model.covariance_, priors[0] * covariances[0] + priors[1] * covariances[1])
    np.testing.assert_allclose(model.priors_, [40 / 65, 25 / 65])


@pytest.mark.parametrize("solver", SOLVERS)
def test_lda_weights_are_the_lectures(two, solver):
    """w = Σ⁻¹(μ₁ − μ₂), w₀ = −½μ₁ᵀΣ⁻¹μ₁ + ½μ₂ᵀΣ⁻¹μ₂ + ln(π₁ / π₂) are of class 1 to 2, ours of 2 to 1."""
    x, y = two
    (m1, m2), covariances, (p1, p2) = by_hand(x, y)
    inverse = np.linalg.inv(p1 * covariances[0] + p2 * covariances[1])
    w = inverse @ (m1 - m2)
    w0 = -m1 @ inverse @ m1 / 2 + m2 @ inverse @ m2 / 2 + np.log(p1 / p2)
    model = LinearDiscriminantAnalysis(solver=solver).fit(x, y)
    np.testing.assert_allclose(-model.coef_[0], w, rtol=1e-9)
    np.testing.assert_allclose(-model.intercept_[0], w0, rtol=1e-9)
    np.testing.assert_allclose(-model.decision_function(x), x @ w + w0, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(x)[:, 0], 1 / (1 + np.exp(-(x @ w + w0))), rtol=1e-9)


@pytest.mark.parametrize("name", ["iris", "cancer"])
def test_lda_posterior_is_a_logistic_function_of_x(name):
    x, y = reals(name)
    model = LinearDiscriminantAnalysis().fit(x, y)
    view = model.as_logistic()
    np.testing.assert_allclose(view.predict_proba(x), model.predict_proba(x), rtol=1e-9, atol=1e-12)
    logistic = LogisticRegression()  # scikit-learn's own class, given our weights
    logistic.classes_, logistic.coef_, logistic.intercept_ = view.classes_, view.coef_, view.intercept_
    np.testing.assert_allclose(logistic.predict_proba(x), model.predict_proba(x), rtol=1e-9, atol=1e-12)


def test_lda_posterior_comes_from_bayes_rule_with_the_gaussian_densities(two):
    x, y = two
    means, covariances, priors = by_hand(x, y)
    pooled = priors[0] * covariances[0] + priors[1] * covariances[1]
    pairs = zip(means, priors, strict=True)
    log_joint = np.stack([multivariate_normal(m, pooled).logpdf(x) + np.log(p) for m, p in pairs], axis=1)
    model = LinearDiscriminantAnalysis().fit(x, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(x), log_joint, rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(x), np.logaddexp(*log_joint.T), rtol=1e-9)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_qda_discriminant_holds_half_the_log_determinant(two, solver):
    x, y = two
    means, covariances, priors = by_hand(x, y)
    scores = [
        np.log(p) - 0.5 * np.log(np.linalg.det(s)) - 0.5 * ((x - m) @ np.linalg.inv(s) * (x - m)).sum(axis=1)
        for m, s, p in zip(means, covariances, priors, strict=True)
    ]
    model = QuadraticDiscriminantAnalysis(solver=solver).fit(x, y)
    np.testing.assert_allclose(model.decision_function(x), scores[1] - scores[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(x), np.where(scores[1] > scores[0], 2, 1))


def test_fisher_direction_is_the_lectures(two):
    x, y = two
    (m1, m2), (s1, s2), _ = by_hand(x, y)
    w = np.linalg.solve(s1 + s2, m1 - m2)
    model = FisherDiscriminant().fit(x, y)
    np.testing.assert_allclose(model.coef_[0], -2 * w, rtol=1e-9)  # towards the second class, as those of LDA
    even = FisherDiscriminant().fit(np.vstack([x[:25], x[40:]]), np.repeat([1, 2], 25))
    along = even.transform(x)[:, 0]  # for classes of one size the axis of the eigenproblem is w
    assert np.corrcoef(along, x @ even.coef_[0])[0, 1] ** 2 > 1 - 1e-12


def test_fisher_with_one_covariance_is_lda(two):
    x, y = two
    mirrored = np.vstack([x[:40], x[:40] + np.array([1, 2, 0])])  # two classes of the same shape
    y = np.repeat([1, 2], 40)
    fisher, lda = FisherDiscriminant().fit(mirrored, y), LinearDiscriminantAnalysis().fit(mirrored, y)
    np.testing.assert_allclose(fisher.coef_, lda.coef_, rtol=1e-9)
    np.testing.assert_allclose(fisher.predict_proba(mirrored), lda.predict_proba(mirrored), rtol=1e-9)


@pytest.mark.parametrize("multi", ["pairwise", "eigen"])
def test_fisher_of_three_classes_is_made_of_pairs(multi):
    x, y = reals("iris")
    m, s, _ = by_hand(x, y)
    model = FisherDiscriminant(multi=multi).fit(x, y)
    if multi == "pairwise":
        pairs = [np.linalg.solve(s[a] + s[b], m[a] - m[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        np.testing.assert_allclose(model.coef_, -2 * np.array(pairs), rtol=1e-9)
    assert model.score(x, y) >= 0.96


def test_regularised_ends_are_lda_and_qda(two):
    x, y = two
    linear = RegularizedDiscriminantAnalysis(blend=1, shrinkage=0).fit(x, y)
    lda = LinearDiscriminantAnalysis().fit(x, y)
    np.testing.assert_allclose(linear.predict_proba(x), lda.predict_proba(x), rtol=1e-9)
    own = RegularizedDiscriminantAnalysis(blend=0, shrinkage=0).fit(x, y)
    quadratic = QuadraticDiscriminantAnalysis(solver="eigen").fit(x, y)
    np.testing.assert_allclose(own.predict_proba(x), quadratic.predict_proba(x), rtol=1e-9)


def test_regularised_middle_is_friedmans_formula(two):
    x, y = two
    _, covariances, _ = by_hand(x, y)
    model = RegularizedDiscriminantAnalysis(blend=0.3, shrinkage=0.2).fit(x, y)
    pooled = 40 * covariances[0] + 25 * covariances[1]
    for n, own, ours in zip((40, 25), covariances, model.covariance_, strict=True):
        blended = (0.7 * n * own + 0.3 * pooled) / (0.7 * n + 0.3 * 65)
        np.testing.assert_allclose(ours, 0.8 * blended + 0.2 * np.trace(blended) / 3 * np.eye(3), rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(shrinkage=0),
        FisherDiscriminant(),
    ],
    ids=repr,
)
def test_rows_with_missing_cells_are_scored_by_the_marginal_of_the_others(two, model):
    x, y = two
    bare, rest = x.copy(), x[:, [0, 2]]
    bare[:, 1] = np.nan
    without = clone(model).fit(rest, y)
    np.testing.assert_allclose(clone(model).fit(x, y).predict_proba(bare), without.predict_proba(rest), rtol=1e-9)


def test_squares_and_products_as_columns_make_lda_quadratic(two):
    """LDA in (x₁, x₂, x₁x₂, x₁², x₂²) draws nearly the boundary of QDA in (x₁, x₂)."""
    x, y = two[0][:, :2], two[1]
    squares = np.column_stack([x, x[:, 0] * x[:, 1], x**2])
    wide, quadratic = LinearDiscriminantAnalysis().fit(squares, y), QuadraticDiscriminantAnalysis().fit(x, y)
    assert (wide.predict(squares) == quadratic.predict(x)).mean() > 0.85


def test_error_rates_on_the_vowel_data_are_those_of_the_elements_of_statistical_learning(shared):
    """Table 4.1: LDA 0.32 in training, 0.56 in test; QDA 0.01 and 0.53."""
    with shared("vowel/vowel.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name.startswith("x")]
    x = np.array([[float(row[name]) for name in names] for row in rows])
    y = np.array([int(row["y"]) for row in rows])
    train = np.array([row["split"] == "train" for row in rows])
    table = {LinearDiscriminantAnalysis: (0.32, 0.56), QuadraticDiscriminantAnalysis: (0.01, 0.53)}
    for kind, errors in table.items():
        model = kind().fit(x[train], y[train])
        ours = [1 - model.score(x[part], y[part]) for part in (train, ~train)]
        np.testing.assert_allclose(ours, errors, atol=5e-3)


def test_normal_density_per_class_is_the_gaussian_with_a_diagonal_covariance(two):
    x, y = two
    means, covariances, priors = by_hand(x, y)
    joint = [
        multivariate_normal(m, np.diag(np.diag(s))).logpdf(x) + np.log(p)
        for m, s, p in zip(means, covariances, priors, strict=True)
    ]
    model = GaussianNB(var_smoothing=0).fit(x, y)
    np.testing.assert_allclose(model.predict_joint_log_proba(x), np.transpose(joint), rtol=1e-9)
