"""Lecture 002: logistic regression by Newton's method, softmax."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from deciban import (
    BernoulliNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    datasets,
    plots,
    sigmoid,
)
from deciban.errors import DataError
from tests.coverage import row

mpl.use("agg")

FLOWERS, SPECIES = load_iris(return_X_y=True)
X, Y = FLOWERS[SPECIES > 0][:, :2], SPECIES[SPECIES > 0]  # versicolor and virginica: sepal length and width
T = (Y == 2).astype(float)
ONES = np.column_stack([X, np.ones(100)])  # x̃, the 1 last as in `coef_` and then `intercept_`
W0 = np.array([0.3, -0.2, 0.1])
BEST = np.array([1.902375, 0.404659, -13.046030])  # the maximum of the likelihood

DESIGN, TARGETS = np.column_stack([FLOWERS, np.ones(150)]), np.eye(3)[SPECIES]
SCORES = np.random.default_rng(0).normal(size=(3, 5)) / 5  # one w̃ for each of three classes
PROBA = softmax(DESIGN @ SCORES.T, axis=1)

POINTS, LETTERS = datasets.two_gaussians()
SOLVERS = ("newton", "newton-cg", "lbfgs", "coordinate", "gradient")

RNG = np.random.default_rng(0)
LATE = np.repeat([0, 1], 10_000)
VISITS = RNG.poisson(np.where(LATE, 5.0, 2.0))
WAITS = RNG.exponential(np.where(LATE, 1.0, 3.0))
TABLE = pd.DataFrame({"visits": VISITS, "wait": WAITS})


def error(w):
    """(E, ∇E, H) of two irises, by the formulas of the lecture."""
    y = 1 / (1 + np.exp(-ONES @ w))
    return (
        -np.sum(T * np.log(y) + (1 - T) * np.log(1 - y)),
        ONES.T @ (y - T),
        (ONES * (y * (1 - y))[:, None]).T @ ONES,
    )


@row("002-01", "formulation", "P(C_i given x, D) of K classes")
def _():
    proba = LogisticRegression().fit(FLOWERS, SPECIES).predict_proba(FLOWERS)
    assert proba.shape == (150, 3)
    assert proba.sum(axis=1) == pytest.approx(1)


@row("002-02", "formulation", "are the classes linearly separable")
def _():
    found = [LogisticRegression().separation(*rows) for rows in (datasets.quiz(), (FLOWERS, SPECIES), (X, Y))]
    assert [one.kind for one in found] == ["complete", "quasi-complete", "none"]


@row("002-03", "two classes", "a = ln p(x,C1)/p(x,C2), posterior σ(a)")
def _():
    model = LinearDiscriminantAnalysis().fit(POINTS, LETTERS)
    a = model.log_odds(POINTS)[:, 1]
    assert sigmoid(a) == pytest.approx(model.predict_proba(POINTS)[:, 1])
    joint = [
        prior * multivariate_normal(mean, model.covariance_).pdf(POINTS)
        for prior, mean in zip(model.class_prior_, model.means_, strict=True)
    ]
    assert a == pytest.approx(np.log(joint[1] / joint[0]))


@row("002-04", "exponential family", "the posterior is linear for other families: Poisson, multinomial, Bernoulli")
def _():
    families = [
        PoissonNB.from_parameters(rate=[[2.0], [5.0]]),
        MultinomialNB.from_parameters(feature_prob=[[0.2, 0.8], [0.5, 0.5]]),
        BernoulliNB.from_parameters(feature_prob=[[0.2], [0.5]]),
    ]
    poisson, multinomial, bernoulli = (one.as_logistic() for one in families)
    assert (poisson.coef_[0, 0], poisson.intercept_[0]) == pytest.approx((np.log(2.5), -3))
    assert multinomial.coef_[0] == pytest.approx(np.log([2.5, 0.625]))
    assert (bernoulli.coef_[0, 0], bernoulli.intercept_[0]) == pytest.approx((np.log(4), np.log(0.625)))
    drawn = PoissonNB().fit(VISITS[:, None], LATE).as_logistic()
    fitted = LogisticRegression(C=np.inf).fit(VISITS[:, None], LATE)
    for one in (drawn, fitted):
        assert (one.coef_[0, 0], one.intercept_[0]) == pytest.approx((np.log(2.5), -3), abs=0.1)


@row("002-05", "exponential family", "… and for products of them in one table")
def _():
    model = MixedNB(families={"visits": "poisson", "wait": "exponential"}).fit(TABLE, LATE)
    linear = model.as_logistic()
    assert linear.columns_ == ["visits", "wait"]
    assert linear.coef_[0] == pytest.approx([np.log(5 / 2), 1 / 3 - 1], abs=0.05)
    assert linear.predict_proba(TABLE) == pytest.approx(model.predict_proba(TABLE))
    known = MixedNB.from_parameters({"visits": {"rate": [2.0, 5.0]}, "seen": {"feature_prob": [0.2, 0.5]}})
    assert known.as_logistic().coef_[0] == pytest.approx(np.log([2.5, 4]))


@row("002-06", "multi-class", "softmax of a_k = ln p(x given k)p(k)")
def _():
    model = QuadraticDiscriminantAnalysis().fit(FLOWERS, SPECIES)
    a = model.class_log_likelihood(FLOWERS) + np.log(model.class_prior_)
    assert a == pytest.approx(model.predict_joint_log_proba(FLOWERS))
    assert softmax(a, axis=1) == pytest.approx(model.predict_proba(FLOWERS))


@row("002-07", "maximum likelihood, K classes (also logistic)", "1-of-K targets T")
def _():
    model = LinearDiscriminantAnalysis().fit(FLOWERS, TARGETS)
    logistic = LogisticRegression().fit(FLOWERS, TARGETS)
    assert model.class_prior_ == pytest.approx(TARGETS.mean(axis=0))
    assert model.means_ == pytest.approx(TARGETS.T @ FLOWERS / TARGETS.sum(axis=0)[:, None])
    assert np.array_equal(logistic.coef_, LogisticRegression().fit(FLOWERS, SPECIES).coef_)


@row("002-08", "maximum likelihood", "∂ log P/∂θ = 0 at the solution")
def _():
    slope = LogisticRegression(C=np.inf, tol=1e-9).fit(X, Y).log_likelihood(X, Y, gradient=True)[1]
    normal = LinearDiscriminantAnalysis().fit(X, Y).log_likelihood(X, Y, gradient=True)[1]
    assert [slope[name] for name in ("coef", "intercept")] == [pytest.approx(0, abs=1e-8)] * 2
    assert [normal[name] for name in ("means", "covariance")] == [pytest.approx(0, abs=1e-8)] * 2
    shared = GaussianNB(var_smoothing=0).fit(X, Y).log_likelihood(X, Y, gradient=True)[1]
    assert [shared[name] for name in ("theta", "var")] == [pytest.approx(0, abs=1e-8)] * 2


@row("002-09", "discriminative", "logistic regression cannot generate x, only labels of given x")
def _():
    model = LogisticRegression(C=np.inf).fit(X, Y)
    labels = model.sample(np.repeat(X[:1], 10_000, axis=0), random_state=0)
    assert (labels == 2).mean() == pytest.approx(model.predict_proba(X[:1])[0, 1], abs=0.015)
    with pytest.raises(TypeError, match="X"):
        model.sample()
    with pytest.raises(DataError, match="no probability of rows"):
        model.log_likelihood(X)


@row("002-10", "cross-entropy", "E(w) = −ln P(t given w), at the fit and at any w")
def _():
    fitted = -LogisticRegression(C=np.inf).fit(X, Y).log_likelihood(X, Y)
    anywhere = -LogisticRegression.from_parameters([W0[:2]], W0[2:], classes=[1, 2]).log_likelihood(X, Y)
    assert (fitted, anywhere) == pytest.approx((55.162854, 88.524526), abs=1e-6)
    assert anywhere == pytest.approx(error(W0)[0])
    assert anywhere == pytest.approx(LogisticRegression(C=np.inf).objective(X, Y).slope(W0)[0])


@row("002-11", "Newton", "∇E = Σ (y − t)x̃")
def _():
    slope = LogisticRegression(C=np.inf).objective(X, Y).slope(W0)[1]
    assert slope == pytest.approx(error(W0)[1])


@row("002-12", "Newton", "H = Σ y(1−y) x̃x̃ᵀ")
def _():
    hessian = LogisticRegression(C=np.inf).objective(X, Y).hessian(W0)
    assert hessian == pytest.approx(error(W0)[2])


@row("002-13", "Newton", "w ← w − H⁻¹∇E")
def _():
    model = LogisticRegression(C=np.inf, solver="newton", line_search=False, init=W0, history=True).fit(X, Y)
    first, second = model.history_.parameters[:2]
    assert np.array_equal(first, W0)
    assert second == pytest.approx(W0 - np.linalg.solve(error(W0)[2], error(W0)[1]))


@row("002-14", "Newton", "all steps of one run")
def _():
    steps = LogisticRegression(C=np.inf, solver="newton", tol=0, max_iter=7, history=True).fit(X, Y).history_
    assert steps.parameters[-1] == pytest.approx(BEST, abs=1e-6)
    w = np.zeros(3)
    for found, l, norm in zip(steps.parameters, steps.log_likelihood, steps.gradient_norm, strict=True):
        value, gradient, hessian = error(w)
        assert found == pytest.approx(w, abs=1e-12, rel=1e-10)
        assert (l, norm) == pytest.approx((-value, np.linalg.norm(gradient)), abs=1e-9)
        w = w - np.linalg.solve(hessian, gradient)
    assert len(steps.to_frame()) == len(steps)


@row("002-15", "Newton figure", "E over w with the steps on it")
def _():
    model = LogisticRegression(C=np.inf, solver="newton", history=True).fit(X, Y)
    surface, curve = plots.error_surface(model, X, Y, steps=20), plots.training(model)
    assert surface.lines[0].get_xydata() == pytest.approx(model.history_.parameters[:, :2])
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("x0", "x1")
    assert curve.lines[0].get_ydata() == pytest.approx(model.history_.log_likelihood)


@row("002-16", "Newton, step 1 'random value'", "another starting point")
def _():
    model = LogisticRegression(C=np.inf, solver="newton", line_search=False, init=[1, -1, 0.5], history=True)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.fit(X, Y)
    assert model.history_.parameters[:2] == pytest.approx(np.array([[1, -1, 0.5], [-2.734, 22.352, -65.42]]), abs=5e-3)
    damped = LogisticRegression(C=np.inf, solver="newton", init=[1, -1, 0.5]).fit(X, Y)
    assert [*damped.coef_[0], *damped.intercept_] == pytest.approx(BEST, abs=1e-4)


@row("002-17", "Newton", "not guaranteed: a bad start diverges")
def _():
    model = LogisticRegression(C=np.inf, solver="newton", line_search=False, init=[3, 3, 3], history=True)
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.fit(X, Y)
    assert model.history_.parameters[1, 0] == pytest.approx(-2.5e12, rel=0.01)
    assert model.history_.log_likelihood[1] < model.history_.log_likelihood[0]


@row("002-18", "multi-class", "softmax regression, one w̃_k for each class")
def _():
    model = LogisticRegression().fit(FLOWERS, SPECIES)
    assert (model.coef_.shape, model.intercept_.shape) == ((3, 4), (3,))
    a = FLOWERS @ model.coef_.T + model.intercept_
    assert model.predict_proba(FLOWERS) == pytest.approx(softmax(a, axis=1))


@row("002-19", "multi-class", "likelihood and cross-entropy of K classes at any W")
def _():
    model = LogisticRegression.from_parameters(coef=SCORES[:, :4], intercept=SCORES[:, 4])
    value = -model.log_likelihood(FLOWERS, SPECIES)
    assert value == pytest.approx(-np.sum(TARGETS * np.log(PROBA)))
    assert value == pytest.approx(LogisticRegression(C=np.inf).objective(FLOWERS, SPECIES).slope(SCORES.ravel())[0])


@row("002-20", "multi-class", "gradient and block Hessian ∇_k∇_j E")
def _():
    entropy = LogisticRegression(C=np.inf).objective(FLOWERS, SPECIES)
    gradient, hessian = entropy.slope(SCORES.ravel())[1], entropy.hessian(SCORES.ravel())
    assert gradient.reshape(3, 5) == pytest.approx((PROBA - TARGETS).T @ DESIGN)
    for k in range(3):
        for j in range(3):
            weight = PROBA[:, k] * ((k == j) - PROBA[:, j])
            block = hessian.reshape(3, 5, 3, 5)[k, :, j]
            assert block == pytest.approx((DESIGN * weight[:, None]).T @ DESIGN)


@row("002-21", "solvers", "any solver finds the same w")
def _():
    centred = X - X.mean(axis=0)
    found = [LogisticRegression(C=np.inf, solver=one, tol=1e-7).fit(centred, Y).coef_[0] for one in SOLVERS]
    assert found == [pytest.approx(BEST[:2], abs=1e-4)] * len(SOLVERS)
    with pytest.warns(ConvergenceWarning, match="sgd"):
        passes = LogisticRegression(C=np.inf, solver="sgd", tol=1e-7, max_iter=2000).fit(X, Y)
    assert passes.coef_[0] == pytest.approx(BEST[:2], abs=0.005)


@row("002-22", "solvers", "minimise E with somebody else's solver")
def _():
    entropy = LogisticRegression(C=np.inf).objective(X, Y)
    found = minimize(entropy.slope, np.zeros(3), jac=True, tol=1e-8)
    assert found.x == pytest.approx(BEST, abs=1e-5)


@row("002-23", "notation x̃", "a column of ones instead of the intercept")
def _():
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-9).fit(np.column_stack([np.ones(100), X]), Y)
    plain = LogisticRegression(C=np.inf, tol=1e-9).fit(X, Y)
    assert model.coef_[0] == pytest.approx([*plain.intercept_, *plain.coef_[0]])
    assert model.predict_proba(np.column_stack([np.ones(100), X])) == pytest.approx(plain.predict_proba(X))
