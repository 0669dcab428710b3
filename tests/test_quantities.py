"""Likelihoods, gradients, odds, priors and numbers of parameters, against SciPy, differences and counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_iris

import deciban
from deciban import (
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    FisherDiscriminant,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    TreeAugmentedNB,
    datasets,
)
from deciban.errors import DataError, UnavailableError

from .support.models import CLASSIFIERS, fitted, rows_for

STEP = 1e-6
PARAMETERS = {
    GaussianNB: ("theta", "var"),
    BernoulliNB: ("feature_prob",),
    PoissonNB: ("rate",),
    LinearDiscriminantAnalysis: ("means", "covariance"),
    QuadraticDiscriminantAnalysis: ("means", "covariance"),
    LogisticRegression: ("coef", "intercept"),
}


def made(cls, k: int = 3):
    """(a model with other parameters than those of the rows, these parameters, rows, labels)"""
    model = cls(**({"store_covariance": True} if "store_covariance" in cls().get_params() else {}))
    X, y = rows_for(model, n=60, d=3, k=k)
    first = fitted(model, X[::2], y[::2])
    given = {name: np.array(getattr(first, f"{name}_")) for name in PARAMETERS[cls]}
    return given, first.classes_, X[:20], y[:20]


def at(cls, given, classes, **more):
    return cls.from_parameters(**given, classes=classes, **more)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("cls", PARAMETERS)
def test_gradients_are_differences(cls, labelled):
    given, classes, X, y = made(cls)
    w = np.linspace(0.5, 2.0, len(y))
    y = y if labelled else None
    if cls is LogisticRegression and not labelled:
        with pytest.raises(DataError, match="labels"):
            at(cls, given, classes).log_likelihood(X)
        return
    value, slope = at(cls, given, classes).log_likelihood(X, y, sample_weight=w, gradient=True)
    assert value == at(cls, given, classes).log_likelihood(X, y, sample_weight=w)
    for name, table in given.items():
        assert slope[name].shape == table.shape
        for place in np.ndindex(table.shape):
            if name == "covariance" and place[-1] < place[-2]:
                continue
            ends = []
            for sign in (1, -1):
                moved = table.copy()
                moved[place] += sign * STEP
                if name == "covariance" and place[-1] != place[-2]:  # the matrix stays symmetric
                    moved[(*place[:-2], place[-1], place[-2])] += sign * STEP
                ends.append(at(cls, {**given, name: moved}, classes).log_likelihood(X, y, sample_weight=w))
            twice = 2.0 if name == "covariance" and place[-1] != place[-2] else 1.0
            difference = (ends[0] - ends[1]) / (2 * STEP)
            np.testing.assert_allclose(twice * slope[name][place], difference, rtol=1e-4, atol=1e-4)


def test_gradient_is_0_at_the_maximum():
    X, y = load_iris(return_X_y=True)
    for model in (
        GaussianNB(var_smoothing=0),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        LogisticRegression(C=np.inf, tol=1e-10),
    ):
        rows, labels = (X[50:, :2], y[50:]) if isinstance(model, LogisticRegression) else (X, y)
        slope = model.fit(rows, labels).log_likelihood(rows, labels, gradient=True)[1]
        slope.pop("class_prior", None)
        for table in slope.values():
            np.testing.assert_allclose(table, 0.0, atol=1e-5)


def test_derivative_of_tosses():
    tosses = [[1], [1], [1], [0], [1], [0], [1]]
    model = BernoulliNB(alpha=0).fit(tosses, [0] * 7)
    np.testing.assert_allclose(model.feature_prob_, [[5 / 7]])
    value, slope = model.log_likelihood(tosses, gradient=True)
    assert round(value, 6) == -4.187887
    assert abs(slope["feature_prob"][0, 0]) < 1e-9
    half = BernoulliNB.from_parameters([[0.5]])
    assert round(half.log_likelihood(tosses), 6) == -4.85203
    assert half.log_likelihood(tosses, gradient=True)[1]["feature_prob"].tolist() == [[6.0]]


def test_gradients_of_probabilities_are_counts_over_them():
    counts, y = np.array([[2, 1, 0], [0, 1, 3]]), [0, 1]
    theta = np.array([[0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
    slope = MultinomialNB.from_parameters(theta).log_likelihood(counts, y, gradient=True)[1]
    np.testing.assert_allclose(slope["feature_prob"], counts / theta)
    np.testing.assert_allclose(slope["class_prior"], [2.0, 2.0])
    codes = [[0, 1], [1, 0], [1, 7]]  # an unseen level has no parameter
    tables = [[[0.5, 0.5]], [[0.25, 0.75]]]
    slope = CategoricalNB.from_parameters(tables).log_likelihood(codes, [0, 0, 0], gradient=True)[1]
    for found, want in zip(slope["feature_prob"], [[[2.0, 4.0]], [[4.0, 4 / 3]]], strict=True):
        np.testing.assert_allclose(found, want)


def test_no_gradient_says_so():
    X, y = rows_for(FisherDiscriminant(), k=2)
    for model in (FisherDiscriminant(), LinearDiscriminantAnalysis(estimate="bayes"), MixedNB(families="student")):
        with pytest.raises(DataError, match="gradient"):
            model.fit(X, y).log_likelihood(X, y, gradient=True)
    gaps = X.copy()
    gaps[0, 0] = np.nan
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert np.isfinite(model.log_likelihood(gaps, y))
    with pytest.raises(DataError, match="missing"):
        model.log_likelihood(gaps, y, gradient=True)
    naive = GaussianNB().fit(X, y)  # a missing cell has no part in any sum
    assert np.isfinite(naive.log_likelihood(gaps, y, gradient=True)[1]["theta"]).all()


def test_log_likelihoods_of_the_lectures():
    X, y = load_iris(return_X_y=True)
    for model, value in (
        (LinearDiscriminantAnalysis(), -263.2037),
        (QuadraticDiscriminantAnalysis(), -188.3756),
        (GaussianNB(), -326.0501),
    ):
        model.fit(X, y)
        assert round(model.log_likelihood(X, y), 4) == value
        own = model.class_log_likelihood(X)[np.arange(len(y)), y] + np.log(model.class_prior_)[y]
        np.testing.assert_allclose(own.sum(), model.log_likelihood(X, y))
        np.testing.assert_allclose(model.log_likelihood(X), model.score_samples(X).sum())
        worse = type(model).from_parameters(
            **{"theta" if model.__class__ is GaussianNB else "means": model.means_ + 0.1},
            **({"var": model.var_} if model.__class__ is GaussianNB else {"covariance": covariance_of(model)}),
        )
        assert worse.log_likelihood(X, y) < model.log_likelihood(X, y)


def covariance_of(model):
    return [cov.dense() for cov in model._fitted_state().params.covs]


def test_conditional_log_likelihood():
    x, y = [[0.0], [1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1]
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(x, y)
    np.testing.assert_allclose(model.log_likelihood(x, y), model.summary().log_likelihood)
    value, gradient = LogisticRegression(C=np.inf).objective(x, y).slope([4.0, 2.0])  # lists are parameters
    other = LogisticRegression.from_parameters([[4.0]], [2.0])
    np.testing.assert_allclose(other.log_likelihood(x, y), -value)
    slope = other.log_likelihood(x, y, gradient=True)[1]
    np.testing.assert_allclose(np.append(slope["coef"], slope["intercept"]), -gradient)
    rows = sparse.csr_array(np.array(x))
    np.testing.assert_allclose(other.log_likelihood(rows, y, gradient=True)[1]["coef"], slope["coef"])
    penalised = LogisticRegression(C=1.0).objective(x, y).slope([4.0, 2.0])[0]
    np.testing.assert_allclose(penalised - value, 8.0)  # ½ |coef|²


def test_one_row_of_one_class():
    model = LogisticRegression.from_parameters([[0.5, -0.25]], fit_intercept=False)
    x, h = np.array([[2.0, 3.0]]), deciban.sigmoid(0.25)
    value, slope = model.log_likelihood(x, [1], gradient=True)
    np.testing.assert_allclose(value, np.log(h))
    np.testing.assert_allclose(slope["coef"], (1 - h) * x)
    assert list(slope) == ["coef"]


def test_class_log_likelihood_of_counts():
    theta, x = [[0.3, 0.5, 0.2], [0.6, 0.2, 0.2]], [[3, 1, 0]]
    words = MultinomialNB.from_parameters(theta)
    counts = MultinomialNB.from_parameters(theta, coefficient=True)
    np.testing.assert_allclose(np.exp(words.class_log_likelihood(x)), [[0.0135, 0.0432]])
    np.testing.assert_allclose(np.exp(counts.class_log_likelihood(x)), [[0.054, 0.1728]])
    np.testing.assert_allclose(np.exp(counts.score_samples(x)), [0.1134])
    by_scipy = [stats.multinomial(4, p).logpmf(x[0]) for p in theta]
    np.testing.assert_allclose(counts.class_log_likelihood(x)[0], by_scipy)
    np.testing.assert_allclose(counts.class_log_likelihood(sparse.csr_array(x))[0], by_scipy)
    np.testing.assert_allclose(counts.predict_proba(x), words.predict_proba(x))
    np.testing.assert_allclose(MultinomialNB(coefficient=True).fit(x * 2, [0, 1]).predict_proba(x), [[0.5, 0.5]])
    with pytest.raises(DataError, match="coefficient"):
        MultinomialNB(coefficient=True, estimate="bayes").fit(x, [0])


def test_numbers_of_parameters():
    X, y = np.eye(3), [0, 1, 0]
    words = BernoulliNB().fit(X, y)
    assert (words.n_parameters_, words.n_parameters_joint_) == (7, 15)
    many = BernoulliNB.from_parameters(np.full((1, 50_000), 0.5))
    assert many.n_parameters_ == 50_000
    assert many.n_parameters_joint_ == 2**50_000 - 1
    levels = CategoricalNB().fit([[0, 0], [1, 2], [1, 1]], [0, 1, 1])
    assert (levels.n_parameters_, levels.n_parameters_joint_) == (2 * (1 + 2) + 1, 2 * 2 * 3 - 1)
    flowers, kinds = load_iris(return_X_y=True)
    assert LinearDiscriminantAnalysis().fit(flowers[:, :2], kinds).n_parameters_ == 11
    assert QuadraticDiscriminantAnalysis().fit(flowers[:, :2], kinds).n_parameters_ == 17
    normal = GaussianNB().fit(flowers[:, :2], kinds)
    assert (normal.n_parameters_, normal.n_parameters_joint_) == (14, 17)
    assert LogisticRegression().fit(flowers, kinds).n_parameters_ == 10
    assert LogisticRegression(fit_intercept=False).fit(flowers[50:], kinds[50:]).n_parameters_ == 4
    assert MultinomialNB().fit(X, y).n_parameters_ == 5
    days, play = datasets.play_tennis()  # columns of 3, 3, 2 and 2 levels
    assert KDependenceBayes(k=0).fit(days, play).n_parameters_ == 2 * (2 + 2 + 1 + 1) + 1
    chain = [("outlook", "temperature"), ("temperature", "humidity"), ("outlook", "humidity")]
    assert BayesNet(edges=chain).fit(days, play).n_parameters_ == 2 * (2 + 3 * 2 + 3 * 3 * 1 + 1) + 1
    tree = TreeAugmentedNB().fit(days, play)
    levels = {name: len(own) for name, own in tree.levels_.items()}
    shape = [(levels[name] - 1) * levels.get(own, 1) for name, own in tree.parents_.items()]
    assert tree.n_parameters_ == 2 * sum(shape) + 1
    full, naive = datasets.viagra_networks()
    assert (full.n_parameters_, naive.n_parameters_) == (4 + 1 + 1, 1 + 2 + 2)
    for model in (FisherDiscriminant().fit(flowers, kinds), GaussianNB(estimate="bayes").fit(flowers, kinds)):
        assert not hasattr(model, "n_parameters_")
        with pytest.raises(UnavailableError, match="hint"):
            model.n_parameters_  # noqa: B018


def test_odds_of_the_full_table():
    mails = BernoulliNB.from_parameters([[0.4], [0.2]], classes=["spam", "ham"])
    np.testing.assert_allclose(mails.odds([[1]]), [[0.5, 2.0]])
    np.testing.assert_allclose(mails.odds([[1]], against="ham"), [[1.0, 2.0]])
    np.testing.assert_allclose(mails.odds([[1]], priors={"spam": 1 / 3, "ham": 2 / 3}), [[1.0, 1.0]])
    net = BayesNet.from_edges(
        [("Y", "V"), ("Y", "L")],
        levels={"Y": ["spam", "ham"], "V": [1, 0], "L": [1, 0]},
        tables={"Y": [0.5, 0.5], "V": [[0.40, 0.60], [0.12, 0.88]], "L": [[0.21, 0.79], [0.13, 0.87]]},
        target="Y",
    )
    rows = {"V": [0, 0, 1, 1], "L": [0, 1, 0, 1]}
    odds = net.odds(rows)[:, net.classes_.tolist().index("spam")]
    np.testing.assert_allclose(odds, [0.619, 1.101, 3.027, 5.385], atol=5e-4)
    assert net.class_prior_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_every_classifier_has_priors_odds_and_a_log_likelihood(cls):
    model = cls(random_state=0) if cls is deciban.Gibbs else cls()  # else it draws other models in each call
    X, y = rows_for(model)
    model.fit(X, y)
    np.testing.assert_allclose(model.class_prior_.sum(), 1.0)
    np.testing.assert_allclose(model.class_prior_, np.unique(y, return_counts=True)[1] / len(y), rtol=1e-6)
    np.testing.assert_allclose(np.log(model.odds(X)), model.log_odds(X), atol=1e-9)
    assert np.isfinite(model.log_likelihood(X, y))
    flat = model.predict(X, priors="uniform")
    assert flat.tolist() == model.predict(X, priors=np.full(3, 1 / 3)).tolist()


def test_priors_of_maximum_likelihood():
    X, y = rows_for(KDependenceBayes())
    model = KDependenceBayes().fit(X, y)
    best = model.classes_[model.class_log_likelihood(X).argmax(axis=1)]
    assert best.tolist() == model.predict(X, priors="uniform").tolist()


def test_sigmoid():
    z = np.linspace(-800, 800, 33)
    assert deciban.sigmoid(0.0) == 0.5
    np.testing.assert_allclose(deciban.sigmoid([2.0]), [0.880797], atol=1e-6)
    near = np.array([-3.0, 0.5, 2.0])
    slope = (deciban.sigmoid(near + STEP) - deciban.sigmoid(near - STEP)) / (2 * STEP)
    np.testing.assert_allclose(deciban.sigmoid(near, derivative=True), slope, rtol=1e-6)
    assert np.isfinite(deciban.sigmoid(z, derivative=True)).all()
    assert (deciban.sigmoid(z[:5], derivative=True) >= 0).all()
    g = deciban.sigmoid(40.0, derivative=True)
    np.testing.assert_allclose(g, np.exp(-40.0), rtol=1e-12)  # 1 − g is not rounded to 0
