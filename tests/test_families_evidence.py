"""Bayes in closed form: evidence is what chains of predictives and integrals say; densities are scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, gammaln

from deciban.data.blocks import Codes, Reals
from deciban.errors import DataError
from deciban.families.bernoulli import Bernoulli
from deciban.families.categorical import Categorical
from deciban.families.exponential import Exponential
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.lognormal import Lognormal
from deciban.families.multinomial import Multinomial
from deciban.families.polya import Polya
from deciban.families.student import Student
from deciban.gaussian.columns import LEAST

from .support.strategies import SPARSE, forms, plain_rows, with_carrier

ONE = np.zeros(1, dtype=np.int32)


def learned(family, x, k: int = 1):
    return family.tally(x, np.zeros(x.n, dtype=np.int32), None, k)


# evidence


def chain(family, predictive, x) -> float:
    """Σ_i log p(row i | the rows before it)."""
    before = learned(family, x.rows(0, 0))
    if hasattr(before, "relevel"):
        before = before.relevel(learned(family, x).levels)
    total = 0.0
    for i in range(x.n):
        row = x.rows(i, i + 1)
        total += float(predictive.loglik(predictive.estimate(before), row)[0, 0])
        before = before + learned(family, row)
    return total


CHAINS = [
    (Bernoulli(alpha=0.7), Bernoulli(alpha=0.7)),
    (Bernoulli(alpha=np.array([0.5, 1.0, 2.0])), Bernoulli(alpha=np.array([0.5, 1.0, 2.0]))),
    (Categorical(alpha=0.4), Categorical(alpha=0.4)),
    (Multinomial(alpha=0.6), Polya(alpha=0.6)),  # a row of many words is drawn from an urn
    (Polya(alpha=0.6), Polya(alpha=0.6)),
    (Multinomial(alpha=np.array([0.5, 1.0, 2.0])), Polya(alpha=np.array([0.5, 1.0, 2.0]))),
    (Student(mean=0.3, kappa=0.5, shape=1.2, scale=0.8),) * 2,
]


@pytest.mark.parametrize(("family", "predictive"), CHAINS)
def test_evidence_is_the_product_of_the_predictives(family, predictive):
    """Every row is foretold from those before it."""
    x = forms(family)[0](plain_rows(family, n=12).cells)
    np.testing.assert_allclose(family.evidence(learned(family, x)), chain(family, predictive, x), rtol=1e-10)


@pytest.mark.parametrize("family", [f for f, predictive in CHAINS if not isinstance(predictive, Polya)])
def test_missing_cells_are_no_part_of_the_evidence(family):
    """(Words of which some are missing are foretold among the others only.)"""
    cells = plain_rows(family, n=12).cells.copy()
    cells[::3, 1] = cells[2, :] = -1 if family.support == "level" else np.nan
    x = forms(family)[0](cells)
    np.testing.assert_allclose(family.evidence(learned(family, x)), chain(family, family, x), rtol=1e-10)


ALONE = [Exponential(shape=2.0, mean=0.5), Student(mean=0.0, scale=1.0), *(f for f, _ in CHAINS)]


@pytest.mark.parametrize("family", ALONE)
def test_evidence_is_that_of_each_class_alone(family):
    rows = plain_rows(family, n=90)
    whole = family.evidence(family.tally(forms(family)[0](rows.cells), rows.y, None, 3))
    for c in range(3):
        alone = learned(family, forms(family)[0](rows.cells[rows.y == c]))
        np.testing.assert_allclose(whole[c], family.evidence(alone)[0], rtol=1e-12)


def test_evidence_of_presences_is_an_integral():
    cells = np.array([[1.0], [0.0], [1.0], [1.0]])
    a = 0.8
    got = Bernoulli(alpha=a).evidence(learned(Bernoulli(), Reals(cells)))
    want, _ = integrate.quad(lambda p: p**3 * (1 - p) * stats.beta.pdf(p, a, a), 0, 1)
    np.testing.assert_allclose(got, np.log(want), rtol=1e-8)


def test_evidence_of_levels_is_an_integral():
    """Three levels of a column: a double integral over their shares."""
    got = Categorical(alpha=1.5).evidence(learned(Categorical(), Codes(np.array([[0], [2], [2], [1], [2]]))))
    constant = np.exp(gammaln(4.5) - 3 * gammaln(1.5))
    want, _ = integrate.dblquad(
        lambda b, a: constant * (a * b * (1 - a - b)) ** 0.5 * a * b * (1 - a - b) ** 3, 0, 1, 0, lambda a: 1 - a
    )
    np.testing.assert_allclose(got, np.log(want), rtol=1e-6)


def test_evidence_of_waiting_times_is_an_integral():
    x = np.array([0.3, 1.2, 0.7, 2.0])
    got = Exponential(shape=1.5, mean=0.8).evidence(learned(Exponential(), Reals(x[:, None])))
    prior = stats.gamma(1.5, scale=1 / 1.2)
    want, _ = integrate.quad(lambda r: r**4 * np.exp(-r * x.sum()) * prior.pdf(r), 0, np.inf)
    np.testing.assert_allclose(got, np.log(want), rtol=1e-8)


def test_evidence_of_normal_columns_is_an_integral():
    x = np.array([0.3, 1.2, -0.7, 2.0])
    f = Student(mean=0.5, kappa=2.0, shape=1.5, scale=0.8)

    def given(precision: float) -> float:
        """The means averaged out by hand: x is normal with covariance (1 + 1ᵀ / kappa) / precision."""
        cov = (np.eye(4) + 1 / f.kappa) / precision
        return stats.multivariate_normal(np.full(4, f.mean), cov).pdf(x) * prior.pdf(precision)

    prior = stats.gamma(f.shape, scale=1 / f.scale)
    want, _ = integrate.quad(given, 0, np.inf)
    np.testing.assert_allclose(f.evidence(learned(f, Reals(x[:, None]))), np.log(want), rtol=1e-7)


@pytest.mark.parametrize(
    "family", [Bernoulli(alpha=0.0), Multinomial(alpha=0.0), Categorical(alpha=0.0), Exponential(0.0)]
)
def test_evidence_without_a_prior_is_refused_with_a_cure(family):
    rows = plain_rows(family)
    with pytest.raises(DataError, match=r"(?s)prior.*hint:"):
        family.evidence(family.tally(forms(family)[0](rows.cells), rows.y, None, 3))


@pytest.mark.parametrize("family", [Polya(alpha=0.0), GammaPoisson(shape=0.0), GammaPoisson(exposure=0.0)])
def test_predictive_without_a_prior_is_refused_with_a_cure(family):
    rows = plain_rows(family)
    with pytest.raises(DataError, match=r"(?s)hint: use"):
        family.estimate(family.tally(forms(family)[0](rows.cells), rows.y, None, 3))


# densities


def density(family, p, x) -> np.ndarray:
    return with_carrier(family, p, x)


def test_student_is_scipy_s_t():
    rows = plain_rows(Student(), d=3)
    f = Student(mean=0.3, kappa=0.5, shape=1.2, scale=0.8)
    p = f.estimate(f.tally(Reals(rows.cells), rows.y, None, 3))
    want = np.stack([stats.t.logpdf(rows.cells, p.df[c], p.loc[c], p.scale[c]).sum(axis=1) for c in range(3)], axis=1)
    np.testing.assert_allclose(f.loglik(p, Reals(rows.cells)), want, rtol=1e-12)


def test_student_is_the_integral_over_mean_and_variance():
    f = Student(mean=0.5, kappa=2.0, shape=1.5, scale=0.8)
    x = Reals(np.array([[0.3], [1.2], [-0.7]]))
    t = learned(f, x)
    for new in (0.0, 1.5, 4.0):
        more = t + learned(f, Reals(np.array([[new]])))
        got = f.loglik(f.estimate(t), Reals(np.array([[new]])))[0, 0]
        np.testing.assert_allclose(got, f.evidence(more)[0] - f.evidence(t)[0], rtol=1e-10)


def test_lognormal_is_scipy_s():
    rows = plain_rows(Lognormal(), d=2)
    f = Lognormal(smoothing=0.0)
    p = f.estimate(f.tally(Reals(rows.cells), rows.y, None, 3))
    want = [stats.lognorm.logpdf(rows.cells, np.sqrt(p.var[c]), 0, np.exp(p.mean[c])).sum(axis=1) for c in range(3)]
    np.testing.assert_allclose(density(f, p, Reals(rows.cells)), np.stack(want, axis=1), rtol=1e-10)


def test_numbers_that_no_lognormal_has_tell_no_class_from_another():
    rows = plain_rows(Lognormal(), d=2)
    f = Lognormal()
    p = f.estimate(f.tally(Reals(rows.cells), rows.y, None, 3))
    odd = Reals(np.array([[0.0, 1.0], [-3.0, 1.0], [np.nan, 1.0]]))
    np.testing.assert_array_equal(f.loglik(p, odd)[:2], f.loglik(p, odd)[[2, 2]])
    scores = density(f, p, odd)
    np.testing.assert_allclose(scores[:2], LEAST + scores[[2, 2]])


def test_exponential_is_scipy_s():
    rows = plain_rows(Exponential(), d=2)
    f = Exponential()
    p = f.estimate(f.tally(Reals(rows.cells), rows.y, None, 3))
    want = [stats.expon.logpdf(rows.cells, scale=1 / p.rate[c]).sum(axis=1) for c in range(3)]
    np.testing.assert_allclose(f.loglik(p, Reals(rows.cells)), np.stack(want, axis=1), rtol=1e-10)


def test_units_of_waiting_times_do_not_matter():
    rows = plain_rows(Exponential(), d=2)
    scores = []
    for unit in (1.0, 1e-9, 1e12):
        x = Reals(rows.cells * unit)
        f = Exponential()
        scores.append(f.loglik(f.estimate(f.tally(x, rows.y, None, 3)), x) + 2 * np.log(unit))
    np.testing.assert_allclose(scores[1:], [scores[0]] * 2, rtol=1e-9)


def test_gamma_poisson_is_scipy_s_negative_binomial():
    rows = plain_rows(GammaPoisson(), d=2)
    f = GammaPoisson(shape=0.7, exposure=0.3)
    t = f.tally(Reals(rows.cells), rows.y, None, 3)
    p = f.estimate(t)
    chance = (t.n + 0.3) / (t.n + 1.3)
    want = [stats.nbinom.logpmf(rows.cells, t.total[c] + 0.7, chance[c]).sum(axis=1) for c in range(3)]
    for form in (forms(f)[0], SPARSE[0]):
        np.testing.assert_allclose(density(f, p, form(rows.cells)), np.stack(want, axis=1), rtol=1e-10)


def test_urn_is_scipy_s_dirichlet_multinomial():
    """But for the number of orders in which the words can stand."""
    rows = plain_rows(Polya(), d=4)
    f = Polya(alpha=0.4)
    t = f.tally(Reals(rows.cells), rows.y, None, 3)
    p = f.estimate(t)
    n = rows.cells.sum(axis=1).astype(int)
    orders = gammaln(n + 1) - gammaln(rows.cells + 1).sum(axis=1)
    want = [
        [stats.dirichlet_multinomial.logpmf(x.astype(int), t.total[c] + 0.4, m) if m else 0.0 for c in range(3)]
        for x, m in zip(rows.cells, n, strict=True)
    ]
    for form in (forms(f)[0], SPARSE[0]):
        got = f.loglik(p, form(rows.cells)) + orders[:, None]
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_urn_of_two_words_is_scipy_s_beta_binomial():
    f = Polya(alpha=1.3)
    t = learned(f, Reals(np.array([[2.0, 1.0], [0.0, 4.0]])))
    x = np.array([[3.0, 2.0], [0.0, 1.0]])
    orders = -betaln(x[:, 0] + 1, x[:, 1] + 1) - np.log(x.sum(axis=1) + 1)
    want = stats.betabinom.logpmf(x[:, 0], x.sum(axis=1), 3.3, 6.3)
    np.testing.assert_allclose(f.loglik(f.estimate(t), Reals(x))[:, 0] + orders, want, rtol=1e-10)


def test_columns_of_one_value_have_a_student_density():
    f = Student()
    x = Reals(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [3.0, 5.0]]))
    p = f.estimate(f.tally(x, np.array([0, 0, 1, 1], dtype=np.int32), None, 2))
    assert np.isfinite(f.loglik(p, x)).all()
    assert f.loglik(p, Reals(np.array([[1.5, 5.0]]))).argmax() == 0
