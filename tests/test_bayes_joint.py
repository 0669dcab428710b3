"""Joint Gaussians with their parameters integrated out: a multivariate t, evidence, and LDA, QDA and RDA on top."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import multivariate_t
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
from deciban.data.blocks import Reals
from deciban.errors import DataError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes

SCALE = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 0.5]])
FIXED = {"mean0": np.array([0.5, -1.0, 0.2]), "scale0": SCALE, "rows0": 0.7, "freedom0": 4.5}
every_blend = pytest.mark.parametrize("blend", [0.0, 0.4, 1.0])
own_or_shared = pytest.mark.parametrize("blend", [0.0, 1.0])
MODELS = [
    LinearDiscriminantAnalysis(estimate="bayes"),
    LinearDiscriminantAnalysis(solver="eigen", estimate="bayes"),
    QuadraticDiscriminantAnalysis(estimate="bayes"),
    RegularizedDiscriminantAnalysis(estimate="bayes"),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def rows(n: int = 24, d: int = 3, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % k).astype(np.int32)
    return rng.normal(size=(n, d)) @ (np.eye(d) + 0.3) + rng.normal(size=(k, d))[y], y


def learned(family, x, y, w=None, k: int = 2):
    t = family.tally(Reals(x), y, w, k)
    return t, family.estimate(t)


@own_or_shared
def test_predictive_density_is_the_t_of_the_textbook(blend):
    x, y = rows()
    f = GaussianJointBayes(blend, **FIXED)
    _, p = learned(f, x, y)
    got = f.loglik(p, Reals(x))
    m0, kappa0, nu0 = FIXED["mean0"], FIXED["rows0"], FIXED["freedom0"]
    own = []
    for c in range(2):
        mine = x[y == c]
        delta = mine.mean(axis=0) - m0
        own.append(
            len(mine) * np.cov(mine.T, ddof=0) + kappa0 * len(mine) / (kappa0 + len(mine)) * np.outer(delta, delta)
        )
    for c in range(2):
        mine = x[y == c]
        kappa = kappa0 + len(mine)
        nu = nu0 + (len(x) if blend else len(mine))
        psi = SCALE + (sum(own) if blend else own[c])
        mean = (kappa0 * m0 + mine.sum(axis=0)) / kappa
        want = multivariate_t(mean, psi * (kappa + 1) / (kappa * (nu - 2)), df=nu - 2)
        np.testing.assert_allclose(got[:, c], want.logpdf(x), rtol=1e-10)
        np.testing.assert_allclose(p.covs[0 if blend else c].dense(), psi / (nu - 4), rtol=1e-10)


@every_blend
def test_missing_cells_leave_the_marginal_t(blend):
    x, y = rows()
    f = GaussianJointBayes(blend)
    _, p = learned(f, x, y)
    some = x.copy()
    some[:, 1] = np.nan
    got = f.loglik(p, Reals(some))
    for c in range(2):
        scale = p.scatters[0 if len(p.scatters) == 1 else c].dense() * p.stretch[c]
        want = multivariate_t(p.mean[c, [0, 2]], scale[np.ix_([0, 2], [0, 2])], df=p.freedom[c])
        np.testing.assert_allclose(got[:, c], want.logpdf(x[:, [0, 2]]), rtol=1e-10)


@every_blend
@pytest.mark.parametrize("d", [1, 2])
def test_density_integrates_to_one(blend, d):
    x, y = rows(n=8, d=d)
    f = GaussianJointBayes(blend)
    _, p = learned(f, x, y)

    def density(*at):
        return np.exp(f.loglik(p, Reals(np.array([at]))))[0, 1]

    total, _ = integrate.nquad(density, [(-np.inf, np.inf)] * d, opts={"epsabs": 1e-5, "limit": 200})
    assert total == pytest.approx(1.0, abs=1e-3)


@own_or_shared
def test_evidence_is_the_chain_of_one_step_predictives(blend):
    """log p(rows) = Σ log p(row | the rows before it), with the same prior all along."""
    x, y = rows(n=14)
    f = GaussianJointBayes(blend, **FIXED)
    chain = np.zeros(2)
    for i in range(len(x)):
        _, before = learned(f, x[:i], y[:i])
        chain[y[i]] += f.loglik(before, Reals(x[i : i + 1]))[0, y[i]]
    evidence = f.evidence(f.tally(Reals(x), y, None, 2))
    np.testing.assert_allclose(evidence.sum(), chain.sum(), rtol=1e-9)
    if blend == 0:
        np.testing.assert_allclose(evidence, chain, rtol=1e-9)


def test_evidence_of_no_rows_is_certainty():
    for blend in (0.0, 1.0):
        f = GaussianJointBayes(blend, **FIXED)
        t = f.tally(Reals(np.zeros((0, 3))), np.zeros(0, dtype=np.int32), None, 2)
        np.testing.assert_allclose(f.evidence(t), 0.0, atol=1e-9)


def test_evidence_is_the_integral_over_mean_and_variance():
    x, y = np.array([0.3, -0.5, 1.4, 0.8]), np.zeros(4, dtype=np.int32)
    f = GaussianJointBayes(mean0=np.array([0.2]), scale0=np.array([1.5]), rows0=0.5, freedom0=3.0)

    def joint(mean, variance):
        """Normal(mean | 0.2, variance / 0.5) · inverse gamma(variance | 1.5, 0.75) · Π normal(x | mean, variance)"""
        squares = 0.5 * (mean - 0.2) ** 2 + sum((cell - mean) ** 2 for cell in cells)
        normals = math.exp(-squares / (2 * variance)) * math.sqrt(0.5) * (2 * math.pi * variance) ** -2.5
        return normals * 0.75**1.5 / math.gamma(1.5) * variance**-2.5 * math.exp(-0.75 / variance)

    cells = x.tolist()
    total, _ = integrate.dblquad(joint, 1e-3, 60, -15, 15, epsabs=1e-9)
    got = f.evidence(f.tally(Reals(x[:, None]), y, None, 1))[0]
    assert got == pytest.approx(np.log(total), abs=2e-3)


def test_blended_covariances_have_no_evidence():
    x, y = rows()
    f = GaussianJointBayes(0.5)
    with pytest.raises(DataError, match="hint:"):
        f.evidence(f.tally(Reals(x), y, None, 2))


@every_blend
def test_predictive_tends_to_the_plug_in(blend):
    probe, _ = rows(seed=9)
    gaps = []
    for n in (200, 20_000):
        x, y = rows(n=n, seed=1)
        f, plug = GaussianJointBayes(blend), GaussianJoint(blend)
        t, p = learned(f, x, y)
        q = plug.estimate(t)
        score = plug.loglik(q, Reals(probe)) + plug.carrier(q, Reals(probe))[:, None]
        gaps.append(np.abs(f.loglik(p, Reals(probe)) - score).mean())
    assert gaps[1] < 0.01
    assert gaps[1] < gaps[0] / 20


@every_blend
def test_fewer_rows_than_columns_are_kept_as_rows_and_say_the_same(blend):
    x, y = rows(n=8, d=20)
    f = GaussianJointBayes(blend)
    thin = f.tally(Reals(x), y, None, 2)
    assert type(thin).__name__ == "RowScatter"
    a, b = f.estimate(thin), f.estimate(thin.dense())
    np.testing.assert_allclose(f.loglik(a, Reals(x)), f.loglik(b, Reals(x)), rtol=1e-8)
    if blend != 0.4:
        np.testing.assert_allclose(f.evidence(thin), f.evidence(thin.dense()), rtol=1e-8)


def test_blending_goes_from_a_covariance_each_to_one_for_all():
    x, y = rows(n=40)
    at = [learned(GaussianJointBayes(blend), x, y)[1].loglik(Reals(x)) for blend in (0.0, 1e-9, 1 - 1e-9, 1.0)]
    np.testing.assert_allclose(at[1], at[0], atol=1e-5)
    np.testing.assert_allclose(at[2], at[3], atol=1e-5)


def test_sample_has_the_mean_and_the_covariance_of_the_t():
    x, y = rows(n=30)
    f = GaussianJointBayes()
    _, p = learned(f, x, y)
    drawn = f.sample(p, np.zeros(200_000, dtype=np.int32), np.random.default_rng(0))
    nu = p.freedom[0]
    np.testing.assert_allclose(drawn.mean(axis=0), p.mean[0], atol=0.02)
    want = p.scatters[0].dense() * p.stretch[0] * nu / (nu - 2)
    np.testing.assert_allclose(np.cov(drawn.T), want, atol=0.03 * want.max())


# the classifiers


@every_model
def test_classifier_answers_with_its_family_s_posterior(model):
    x, y = load_iris(return_X_y=True)
    model = clone(model).fit(x, y)
    p = model.predict_proba(x)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert model.score(x, y) > 0.95
    plugin = clone(model).set_params(estimate="plugin").fit(x, y)
    assert np.abs(p - plugin.predict_proba(x)).mean() < 0.03
    np.testing.assert_allclose(model.means_, plugin.means_, rtol=1e-2)
    assert np.isfinite(model.score_samples(x)).all()


@pytest.mark.parametrize("model", [MODELS[2], MODELS[3]], ids=repr)
def test_fewer_rows_than_columns_in_a_class_give_sensible_posteriors(model):
    x, y = load_wine(return_X_y=True)
    right, gain = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        few = np.concatenate([rng.choice(np.flatnonzero(y == c), 8, replace=False) for c in range(3)])  # of 13 columns
        rest = np.setdiff1d(np.arange(len(y)), few)
        bayes, plugin = (clone(model).set_params(estimate=name).fit(x[few], y[few]) for name in ("bayes", "plugin"))
        logs = [np.maximum(m.predict_log_proba(x[rest]), -700)[np.arange(len(rest)), y[rest]] for m in (bayes, plugin)]
        assert np.isfinite(bayes.predict_log_proba(x[rest])).all()
        right.append(bayes.score(x[rest], y[rest]))
        gain.append(logs[0].mean() - logs[1].mean())
    assert np.mean(right) > 0.9
    assert np.mean(gain) > 0


def test_class_of_one_row_has_an_answer():
    x, y = rows(n=21)
    y[:-1], y[-1] = 0, 1
    p = QuadraticDiscriminantAnalysis(estimate="bayes").fit(x, y).predict_proba(x)
    assert np.isfinite(p).all()
    assert p[-1, 1] > np.median(p[:-1, 1])


@pytest.mark.parametrize("model", MODELS[:3], ids=repr)
def test_evidence_of_a_classifier_is_that_of_all_rows(model):
    x, y = load_iris(return_X_y=True)
    model = clone(model).fit(x, y)
    assert isinstance(model.evidence_, float)
    assert model.evidence_ == pytest.approx(model._state.family.evidence(model.tally_.parts[1]).sum())


def test_evidence_tells_whether_classes_share_a_covariance():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    alike = rng.normal(size=(200, 2)) + 3 * y[:, None]
    apart = rng.normal(size=(200, 2)) * np.where(y[:, None] == 0, 0.2, 3.0)
    for x, shared in ((alike, True), (apart, False)):
        lda, qda = (
            model(estimate="bayes").fit(x, y).evidence_
            for model in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)
        )
        assert (lda > qda) is shared


def test_there_is_no_evidence_of_a_plug_in_nor_of_expected_rows():
    x, y = rows()
    model = QuadraticDiscriminantAnalysis().fit(x, y)
    assert not hasattr(model, "evidence_")
    assert not hasattr(RegularizedDiscriminantAnalysis(estimate="bayes").fit(x, y), "evidence_")
    x = x.copy()
    x[3, 1] = np.nan
    assert not hasattr(QuadraticDiscriminantAnalysis(estimate="bayes").fit(x, y), "evidence_")


@pytest.mark.parametrize(
    ("model", "setting"),
    [
        (LinearDiscriminantAnalysis(solver="lsqr", estimate="bayes"), {"shrinkage": "auto"}),
        (LinearDiscriminantAnalysis(solver="eigen", estimate="bayes"), {"shrinkage": 0.2}),
        (QuadraticDiscriminantAnalysis(estimate="bayes"), {"reg_param": 0.1}),
        (RegularizedDiscriminantAnalysis(estimate="bayes"), {"shrinkage": 0.1}),
    ],
)
def test_shrinking_is_the_prior_s_work(model, setting):
    x, y = rows()
    with pytest.raises(DataError, match=r"(?s)prior.*hint:"):
        clone(model).set_params(**setting).fit(x, y)


@pytest.mark.parametrize("model", MODELS[:2], ids=repr)
def test_projection_is_that_of_the_expected_parameters(model):
    x, y = load_iris(return_X_y=True)
    bayes, plugin = (clone(model).set_params(estimate=name).fit(x, y) for name in ("bayes", "plugin"))
    a, b = bayes.transform(x), plugin.transform(x)
    assert a.shape == b.shape
    for j in range(2):
        assert abs(np.corrcoef(a[:, j], b[:, j])[0, 1]) > 0.999
    np.testing.assert_allclose(bayes.explained_variance_ratio_, plugin.explained_variance_ratio_[:2], atol=0.01)
    assert not hasattr(bayes, "coef_")
    np.testing.assert_array_equal(bayes.decision_function(x).argmax(axis=1), bayes.predict(x))
    with pytest.raises(DataError, match="not linear"):
        bayes.as_logistic()


def test_constant_columns_are_no_harm():
    x, y = rows()
    x = np.column_stack([x, np.full(len(x), 3.0)])
    for model in MODELS:
        p = clone(model).fit(x, y).predict_proba(x)
        assert np.isfinite(p).all()
    np.testing.assert_array_equal(QuadraticDiscriminantAnalysis(estimate="bayes").fit(x, y).singular_, [])
