"""The Laplace posterior against integrals and draws."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from deciban import LogisticRegression
from deciban.errors import DataError, SingularError
from deciban.logistic.laplace import averaged
from deciban.logistic.likelihood import Prior


def rows_of(k, n, d, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    return x, (strength * x @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k))).argmax(axis=1)


def exact(k, **settings):
    return LogisticRegression(tol=1e-12, max_iter=1000, **settings)


def integral(log_density, centre, spread, points=161, reach=9.0):
    """log ∫ exp(log_density) over two parameters, by a sum over a fine grid."""
    ticks = np.linspace(-reach, reach, points)
    a, b = centre[0] + spread[0] * ticks, centre[1] + spread[1] * ticks
    logs = np.array([[log_density(np.array([u, v])) for v in b] for u in a])
    return float(np.logaddexp.reduce(logs.ravel()) + np.log((a[1] - a[0]) * (b[1] - b[0])))


def log_likelihood(scores, y):
    return float((scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))[np.arange(len(y)), y].sum())


@pytest.mark.parametrize(("n", "within"), [(40, 0.05), (400, 0.005)])
def test_evidence_of_one_coefficient_is_the_integral(n, within):
    x, y = rows_of(2, n, 1)
    model = exact(2, C=2.0, fit_intercept=False).fit(x, y)
    mode, error = model.coef_[0, 0], model.summary().std_error[0, 0]
    ticks = mode + error * np.linspace(-10, 10, 4001)
    logs = [
        log_likelihood(np.column_stack([np.zeros(n), x[:, 0] * b]), y) - b**2 / 4.0 - 0.5 * np.log(4 * np.pi)
        for b in ticks
    ]
    assert model.evidence_ == pytest.approx(np.logaddexp.reduce(logs) + np.log(ticks[1] - ticks[0]), abs=within)


@pytest.mark.parametrize(("n", "within"), [(60, 0.1), (600, 0.01)])
def test_evidence_with_a_flat_intercept_is_the_integral(n, within):
    x, y = rows_of(2, n, 1, seed=1)
    model = exact(2, C=0.5).fit(x, y)
    table = model.summary()

    def joint(t):
        scores = np.column_stack([np.zeros(n), t[0] + x[:, 0] * t[1]])
        return log_likelihood(scores, y) - t[1] ** 2 / (2 * 0.5) - 0.5 * np.log(2 * np.pi * 0.5)

    assert model.evidence_ == pytest.approx(integral(joint, table.coef[0], table.std_error[0]), abs=within)


@pytest.mark.parametrize(("n", "within"), [(60, 0.1), (600, 0.01)])
def test_evidence_of_three_classes_is_the_integral_over_all_three_vectors(n, within):
    x, y = rows_of(3, n, 1, seed=2)
    model = exact(3, C=0.8, fit_intercept=False).fit(x, y)
    table = model.summary()
    covariance = 0.8 * (np.eye(2) + 1.0)  # of the differences of independent coefficients
    precision, log_det = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]

    def joint(t):
        scores = x * np.array([0.0, *t])
        return log_likelihood(scores, y) - 0.5 * (t @ precision @ t + log_det) - np.log(2 * np.pi)

    assert model.evidence_ == pytest.approx(integral(joint, table.coef[:, 0], table.std_error[:, 0]), abs=within)


def test_evidence_with_a_penalised_intercept_is_that_of_one_more_column():
    x, y = rows_of(2, 50, 2)
    with_column = exact(2, C=0.7, fit_intercept=False).fit(np.column_stack([np.full(50, 2.0), x]), y)
    liblinear = exact(2, C=0.7, solver="liblinear", intercept_scaling=2.0).fit(x, y)
    # the same fit: the intercept is twice the column's coefficient, and its density half as high, its volume twice
    assert liblinear.evidence_ == pytest.approx(with_column.evidence_, abs=1e-6)


def test_evidence_prefers_the_column_that_matters():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = (x[:, 0] + rng.logistic(size=200) > 0).astype(int)
    right, wrong = (LogisticRegression().fit(x[:, [j]], y).evidence_ for j in (0, 1))
    assert right > wrong + 5


@pytest.mark.parametrize("mean", [-3.0, -0.5, 0.0, 1.0, 4.0])
@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
def test_moderated_chances_of_two_classes_are_near_the_integral(mean, spread):
    ticks = np.linspace(-12, 12, 20001)
    density = np.exp(-0.5 * ticks**2)
    truth = float((expit(mean + spread * ticks) * density).sum() / density.sum())
    ours = averaged(np.array([[mean]]), np.array([[[spread**2]]]))[0, 1]
    assert ours == pytest.approx(float(expit(mean / np.sqrt(1 + np.pi * spread**2 / 8))))
    assert ours == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("k", [3, 4, 10])
def test_averaged_chances_of_more_classes_are_the_mean_of_draws(k):
    rng = np.random.default_rng(k)
    for spread in (0.0, 0.5, 1.0, 2.0, 4.0):
        margins, root = rng.normal(size=k - 1) * 2, rng.normal(size=(k - 1, k - 1)) * spread / np.sqrt(k)
        draws = margins + rng.standard_normal((100_000, k - 1)) @ root.T
        truth = softmax(np.column_stack([np.zeros(len(draws)), draws]), axis=1).mean(axis=0)
        ours = averaged(margins[None], (root @ root.T)[None])[0]
        np.testing.assert_allclose(ours, truth, atol=0.01 if k < 10 else 0.02)
        assert ours.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_averaged_chances_are_those_of_draws_of_coefficients(k):
    x, y = rows_of(k, 60, 2)
    model = exact(k, C=5.0).fit(x, y)
    at = np.array([[0.0, 0.0], [1.0, -1.0], [6.0, 5.0], [-20.0, 8.0]])
    coef, bias = model.sample_coef(20_000, random_state=0)
    assert coef.shape == (20_000, 1 if k == 2 else k, 2)
    assert bias.shape == (20_000, 1 if k == 2 else k)
    scores = np.einsum("njd,id->nij", coef, at) + bias[:, None, :]
    chances = np.concatenate([1 - expit(scores), expit(scores)], axis=2) if k == 2 else softmax(scores, axis=2)
    np.testing.assert_allclose(model.predict_proba(at, posterior="laplace"), chances.mean(axis=0), atol=0.02)


@pytest.mark.parametrize("k", [2, 3])
def test_draws_have_the_mean_and_the_covariance_of_the_posterior(k):
    x, y = rows_of(k, 80, 2)
    model = exact(k, C=1.0).fit(x * [1.0, 1e4], y)
    coef, bias = model.sample_coef(100_000, random_state=1)
    table = model.summary()
    size = np.abs(model.coef_) + 0.02 * np.array([1.0, 1e-4])
    assert (np.abs(coef.mean(axis=0) - model.coef_) / size).max() < 0.05
    whole = np.concatenate([bias[:, :, None], coef], axis=2)
    gaps = whole if k == 2 else whole[:, 1:] - whole[:, :1]
    np.testing.assert_allclose(gaps.std(axis=0), table.std_error, rtol=0.02)
    again = model.sample_coef(5, random_state=1)[0]
    np.testing.assert_array_equal(again, model.sample_coef(5, random_state=1)[0])


def test_averaging_makes_less_sure_and_never_changes_sides():
    x, y = rows_of(2, 50, 3)
    model = LogisticRegression(C=1.0).fit(x, y)
    far = np.random.default_rng(3).normal(size=(200, 3)) * 10
    plain, averaged = model.predict_proba(far), model.predict_proba(far, posterior="laplace")
    assert ((plain > 0.5) == (averaged > 0.5)).all()
    assert (np.abs(averaged - 0.5) <= np.abs(plain - 0.5)).all()
    np.testing.assert_allclose(averaged.sum(axis=1), 1.0)


def test_no_class_is_special():
    x, y = rows_of(3, 60, 2)
    turn = np.array([2, 0, 1])
    one, other = exact(3).fit(x, y), exact(3).fit(x, turn[y])
    at = np.random.default_rng(0).normal(size=(50, 2)) * 4
    np.testing.assert_allclose(
        one.predict_proba(at, posterior="laplace"), other.predict_proba(at, posterior="laplace")[:, turn], atol=0.01
    )
    assert one.evidence_ == pytest.approx(other.evidence_, abs=1e-6)


def test_other_priors_move_averaged_chances_too():
    x, y = rows_of(2, 60, 2)
    model = LogisticRegression().fit(x, y)
    share = model.class_count_ / model.class_count_.sum()
    plain = model.predict_proba(x, posterior="laplace")
    np.testing.assert_allclose(model.predict_proba(x, posterior="laplace", priors=share), plain, atol=1e-12)
    moved = model.predict_proba(x, posterior="laplace", priors=[0.9, 0.1])
    odds = (moved[:, 0] / moved[:, 1]) / (plain[:, 0] / plain[:, 1])
    np.testing.assert_allclose(odds, 9.0 * share[1] / share[0])


def test_what_has_no_posterior_says_so():
    x, y = rows_of(2, 60, 2)
    flat = LogisticRegression(C=np.inf).fit(x, y)
    assert flat.predict_proba(x, posterior="laplace").shape == (60, 2)
    with pytest.raises(AttributeError, match="finite C"):
        _ = flat.evidence_
    with pytest.raises(DataError, match="'laplace'"):
        flat.predict_proba(x, posterior="exact")
    twice = LogisticRegression(C=np.inf).fit(np.column_stack([x, x]), y)
    with pytest.raises(SingularError, match="not determined"):
        twice.sample_coef(3)
    assert np.isfinite(LogisticRegression().fit(np.column_stack([x, x]), y).evidence_)


def test_the_priors_density_is_that_of_the_differences():
    prior, theta = Prior(0.6), np.array([[9.0, 0.3], [9.0, -1.0]])
    covariance = 0.6 * (np.eye(2) + 1.0)
    gap = theta[:, 1]
    truth = -0.5 * (gap @ np.linalg.inv(covariance) @ gap + np.linalg.slogdet(2 * np.pi * covariance)[1])
    assert prior.log_density(theta, intercept=True) == pytest.approx(truth)
