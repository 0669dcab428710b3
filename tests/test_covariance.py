"""A thin covariance is the full one, without its d × d matrix."""

import numpy as np
import pytest

from deciban.gaussian.covariance import DenseCovariance, LowRankCovariance, shrink

D = 9


def thin(rows: int, diagonal: float, seed: int = 0) -> LowRankCovariance:
    rng = np.random.default_rng(seed)
    return LowRankCovariance(rng.normal(size=(rows, D)), np.ones(rows), np.full(D, diagonal))


def with_taken_away(diagonal: float) -> LowRankCovariance:
    """Six rows of which two were taken away again."""
    six = thin(6, diagonal)
    return LowRankCovariance(np.concatenate([six.rows, six.rows[:2]]), np.array([1.0] * 6 + [-1.0] * 2), six.diagonal)


CASES = {
    "few rows, diagonal": thin(4, 0.3),
    "few rows": thin(4, 0.0),
    "many rows": thin(30, 0.0),
    "rows taken away, diagonal": with_taken_away(0.3),
    "rows taken away": with_taken_away(0.0),
    "sum": thin(3, 0.1) + thin(4, 0.2, seed=1),
    "scaled": thin(4, 0.3) * 2.5,
    "shrunk": shrink(thin(4, 0.0), 0.2),
}
every_case = pytest.mark.parametrize("cov", CASES.values(), ids=CASES.keys())


@pytest.mark.parametrize("limit", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("least", [0.0, 1e-14, 1e-9, 1e-4, 0.5])
def test_singular_is_what_eigenvalues_say(least, limit):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    cov = DenseCovariance((turn * np.append(np.linspace(1, 2, D - 1), least)) @ turn.T * 1e5)
    assert cov.is_singular(limit) == (cov.least_correlation() <= limit)
    constant = DenseCovariance(np.diag([1.0, 0.0, 2.0]))
    assert constant.is_singular(limit)


@every_case
def test_thin_covariance_inverts_like_the_full_one(cov):
    z = np.random.default_rng(3).normal(size=(5, D)) @ cov.dense()  # within its range
    a, b = cov.inverse(), DenseCovariance(cov.dense()).inverse()
    np.testing.assert_allclose(a.norms(z), b.norms(z), rtol=1e-6)
    np.testing.assert_allclose(a.apply(z), b.apply(z), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(a.logdet, b.logdet, rtol=1e-7, atol=1e-8)
    assert a.rank == b.rank


@every_case
def test_thin_covariance_has_the_variances_parts_and_deviations_of_the_full_one(cov):
    full, w = DenseCovariance(cov.dense()), np.random.default_rng(4).normal(size=D)
    np.testing.assert_allclose(cov.variances, full.variances)
    np.testing.assert_allclose(cov.deviation(w), full.deviation(w))
    columns = np.array([1, 4, 8])
    np.testing.assert_allclose(cov.part(columns).dense(), full.part(columns).dense(), atol=1e-12)
    np.testing.assert_allclose(shrink(cov, 0.3).dense(), shrink(full, 0.3).dense(), atol=1e-12)
    np.testing.assert_allclose((cov * 0.5).plus_diagonal(1.0).dense(), (full * 0.5).plus_diagonal(1.0).dense())


@every_case
@pytest.mark.parametrize("kind", ["thin", "full"])
def test_draws_have_the_covariance_they_are_drawn_from(cov, kind):
    source = cov if kind == "thin" else DenseCovariance(cov.dense())
    drawn = source.draw(np.random.default_rng(0), 40_000)
    assert drawn.shape == (40_000, D)
    largest = np.abs(cov.dense()).max()
    np.testing.assert_allclose(np.cov(drawn.T), cov.dense(), atol=0.06 * largest)


@every_case
def test_inverse_undoes_the_covariance_on_its_range(cov):
    z = np.random.default_rng(5).normal(size=(4, D)) @ cov.dense()
    np.testing.assert_allclose(cov.inverse().apply(z) @ cov.dense(), z, rtol=1e-5, atol=1e-6)
