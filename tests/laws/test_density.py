"""A density sums to 1, and what is drawn from it teaches it back."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from deciban.data.blocks import Codes, Counts, Reals

from ..support.strategies import families, forms, plain_rows, tally, with_carrier

SMOOTH = [f for f in families(density=True) if type(f.values[0]).__name__ != "Histogram"]  # steps: tests/test_histogram
DENSITIES = SMOOTH + families(having="log_density")
densities = pytest.mark.parametrize("family", DENSITIES)


def learned(family, d: int, n: int = 60, seed: int = 0):
    """(params, rows) of well-behaved rows."""
    rows = plain_rows(family, n=n, d=d, seed=seed)
    return family.estimate(tally(family, rows, forms(family)[0])), rows


def log_density(family, params, x) -> np.ndarray:
    """log p(x | c), (n, k), with the term that all classes share; a rule's own density where it is only a rule."""
    return with_carrier(family, params, x) if family.density else family.log_density(params, x)


def grid(*axes: np.ndarray) -> np.ndarray:
    return np.array(list(product(*axes)))


def real(d: int) -> tuple[np.ndarray, np.ndarray]:
    """A fine grid over all that has mass, and the volume of each of its cells."""
    step = 0.02 if d == 1 else 0.15
    points = grid(*[np.arange(-15, 15, step)] * d)
    return points, np.full(len(points), step**d)


def positive(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Even steps of the logarithm: the volume grows with the number."""
    step = 0.02 if d == 1 else 0.1
    points = np.exp(grid(*[np.arange(-30, 15, step)] * d))
    return points, points.prod(axis=1) * step**d


def count(d: int) -> tuple[np.ndarray, np.ndarray]:
    points = grid(*[np.arange(0.0, 60.0)] * d)
    return points, np.ones(len(points))


def level(d: int) -> tuple[np.ndarray, np.ndarray]:
    points = grid(*[np.arange(3)] * d)
    return points, np.ones(len(points))


def bits(d: int) -> tuple[np.ndarray, np.ndarray]:
    points = grid(*[np.arange(2.0)] * d)
    return points, np.ones(len(points))


def words(d: int, length: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """All count vectors of a given length, and in how many orders their words can stand."""
    points = grid(*[np.arange(length + 1.0)] * d)
    points = points[points.sum(axis=1) == length]
    return points, np.exp(gammaln(length + 1) - gammaln(points + 1).sum(axis=1))


# What all values are: by support, except where the density is one over something narrower.
EVERYTHING = {"real": real, "positive": positive, "nonnegative": positive, "count": count, "level": level}
NARROWER = {"Bernoulli": bits, "Multinomial": words, "Complement": words, "Polya": words}


def everything(family, d: int) -> tuple[np.ndarray, np.ndarray]:
    name = type(family).__name__
    if name not in NARROWER and family.support not in EVERYTHING:
        pytest.fail(f"no law knows all values of support {family.support!r}: add it to EVERYTHING here")
    return NARROWER.get(name, EVERYTHING.get(family.support))(d)


@pytest.mark.parametrize("d", [1, 2])
@densities
def test_density_sums_to_one(family, d):
    params, _ = learned(family, d)
    points, volume = everything(family, d)
    total = np.exp(log_density(family, params, forms(family)[0](points))).T @ volume
    np.testing.assert_allclose(total, 1.0, rtol=1e-7)


@pytest.mark.parametrize("family", [f for f in DENSITIES if NARROWER.get(type(f.values[0]).__name__) is not words])
def test_density_of_a_column_alone_sums_to_one(family):
    """The other column missing: what is left is the marginal. (Of words of which some are missing there is none.)"""
    params, _ = learned(family, 2)
    points, volume = everything(family, 1)
    gone = np.full((len(points), 1), -1 if family.support == "level" else np.nan, dtype=points.dtype)
    for pair in (np.hstack([points, gone]), np.hstack([gone, points])):
        total = np.exp(log_density(family, params, forms(family)[0](pair))).T @ volume
        np.testing.assert_allclose(total, 1.0, rtol=1e-7)


@pytest.mark.parametrize("family", [f for f in families(having="sample") if not f.values[0].averages])
def test_estimate_of_a_sample_is_the_estimate_it_came_from(family):
    params, rows = learned(family, 3, n=600)
    rng = np.random.default_rng(5)
    y = (np.arange(60_000) % rows.k).astype(np.int32)
    x = family.sample(params, y, rng)
    assert x.shape == (len(y), 3)
    again = family.estimate(family.tally(forms(family)[0](x), y, None, rows.k))
    probe = forms(family)[0](rows.cells)
    scores, scores_again = family.loglik(params, probe), family.loglik(again, probe)
    scores, scores_again = (s - s.mean(axis=1, keepdims=True) for s in (scores, scores_again))
    assert np.abs(scores - scores_again).mean() < 0.03


@pytest.mark.parametrize("family", families(having="sample"))
def test_sample_has_the_family_s_own_kind_of_cells(family):
    params, rows = learned(family, 3)
    x = family.sample(params, rows.y, np.random.default_rng(0))
    assert x.shape == rows.cells.shape
    assert x.dtype == rows.cells.dtype
    if family.support != "real":
        assert (x >= 0).all()
    if family.support in ("count", "level"):
        assert (x == np.rint(x)).all()


@pytest.mark.parametrize("family", families(having="parts"))
def test_parts_by_column_sum_to_the_log_likelihood(family):
    params, rows = learned(family, 3)
    cells = rows.cells.copy()
    cells[::4, 1] = cells[1::5, 2] = -1 if family.support == "level" else np.nan
    for form in forms(family):
        parts = family.parts(params, form(cells))
        assert parts.shape == (rows.n, rows.k, 3)
        np.testing.assert_allclose(parts.sum(axis=2), family.loglik(params, form(cells)), rtol=1e-9, atol=1e-9)


@densities
def test_form_of_the_rows_is_free_when_they_are_scored(family):
    params, rows = learned(family, 9)
    want = log_density(family, params, forms(family)[0](rows.cells))
    for form in forms(family):
        np.testing.assert_allclose(log_density(family, params, form(rows.cells)), want, rtol=1e-9, atol=1e-9)


def test_every_form_is_one_of_three_blocks():
    found = {form.block for family in families() for form in forms(family.values[0])}
    kinds = {Reals if issubclass(kind, Reals) else kind for kind in found}  # columns that lie apart are reals too
    assert kinds == {Reals, Counts, Codes}


def test_family_of_an_unknown_kind_fails_with_a_hint_instead_of_being_skipped():
    class Strange:
        block, support = "holograms", "quaternion"

    with pytest.raises(pytest.fail.Exception, match=r"(?s)Strange.*holograms.*hint:"):
        forms(Strange())
    with pytest.raises(pytest.fail.Exception, match=r"(?s)Strange.*quaternion.*hint:"):
        plain_rows(Strange())
