"""Leaving one row out in closed form is what subtracting the row's own tally and estimating again gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import deciban
from deciban.families.bernoulli import Bernoulli
from deciban.families.categorical import Categorical
from deciban.families.complement import Complement
from deciban.families.exponential import Exponential
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.lognormal import Lognormal
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.families.polya import Polya
from deciban.families.student import Student

from .support.compare import assert_logs
from .support.strategies import Rows, forms, plain_rows

SPREAD = np.array([0.3, 1.0, 2.5, 0.0, 0.7])  # pseudo-counts, one for each column
FAMILIES = [
    Gaussian(),
    Gaussian(smoothing=0.1),
    Gaussian(ddof=1.0),
    Gaussian(smoothing=1e-3, ddof=1.0),
    Gaussian(smoothing=0.01, each=True),
    Lognormal(),
    Lognormal(smoothing=0.2, ddof=1.0),
    Student(),
    Student(mean=0.5, kappa=2.0, shape=1.5, scale=0.7),
    Student(mean=1.0),
    Student(scale=2.0),
    Exponential(),
    Exponential(shape=0.0),
    Exponential(shape=2.0, mean=0.7),
    Bernoulli(),
    Bernoulli(alpha=0.01, above=1.5),
    Bernoulli(alpha=SPREAD + 0.1),
    Bernoulli(alpha=0.3, above=None),
    Multinomial(),
    Multinomial(alpha=1e-10),
    Multinomial(alpha=SPREAD),
    Polya(),
    Polya(alpha=SPREAD + 0.1),
    Complement(),
    Complement(norm=True),
    Complement(alpha=SPREAD + 1e-10),
    Categorical(),
    Categorical(alpha=1e-10),
    Poisson(),
    Poisson(shape=0.1, exposure=0.0),
    GammaPoisson(),
    GammaPoisson(shape=0.3, exposure=0.1),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: repr(f).replace("\n", ""))


def gone(family) -> float:
    return -1 if family.support == "level" else np.nan


def with_holes(family, rows: Rows) -> Rows:
    holes = np.random.default_rng(3).random(rows.cells.shape) < 0.25
    return replace(rows, cells=np.where(holes, np.array(gone(family), dtype=rows.cells.dtype), rows.cells))


def weighed(family, rows: Rows) -> Rows:
    return replace(rows, w=np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0, 3.25], rows.n))


def by_class(family, rows: Rows) -> Rows:
    return replace(rows, w=np.array([0.5, 2.0, 1.25])[rows.y])


def lonely(family, rows: Rows) -> Rows:
    """A class of one row, which leaves it empty, and one of two."""
    y = rows.y.copy()
    y[:] = 0
    y[5], y[9], y[11] = 1, 2, 2
    return replace(rows, y=y)


def flat(family, rows: Rows) -> Rows:
    """One column has one value in a class, one the same value everywhere."""
    cells = rows.cells.copy()
    cells[:, 1] = cells[0, 1]
    cells[rows.y == 1, 2] = cells[1, 2]
    return replace(rows, cells=cells)


def scales(family, rows: Rows) -> Rows:
    """Columns of very different sizes."""
    if family.support == "level":
        return rows
    size = [1.0, 100.0, 1.0, 1e4, 10.0] if family.support == "count" else [1e-3, 1.0, 1e3, 1e-6, 30.0]
    return replace(rows, cells=rows.cells * np.array(size))


def hollow(family, rows: Rows) -> Rows:
    """Columns of which a class has no cell, one has a single cell, all together have one, or none."""
    cells = rows.cells.astype(float) if family.support != "level" else rows.cells.copy()
    cells[rows.y == 0, 1] = gone(family)
    cells[np.flatnonzero(rows.y == 1)[1:], 2] = gone(family)
    cells[1:, 3] = gone(family)
    cells[:, 4] = gone(family)
    return replace(rows, cells=cells)


CASES = {
    "plain": [],
    "missing": [with_holes],
    "weighed": [weighed],
    "weighed by class": [by_class],
    "missing, weighed": [with_holes, weighed],
    "missing, weighed by class": [with_holes, by_class],
    "lonely": [lonely],
    "lonely, missing": [lonely, with_holes],
    "hollow": [hollow],
    "hollow, weighed": [hollow, weighed],
    "lonely, hollow": [lonely, hollow],
    "flat": [flat],
    "scales": [scales],
    "scales, missing, weighed": [scales, with_holes, weighed],
}


def rows_of(family, case: str, n: int = 30) -> Rows:
    rows = plain_rows(family, n=n, d=5)
    for change in CASES[case]:
        rows = change(family, rows)
    if isinstance(family, Bernoulli) and family.above is None:  # presences, some of them of a part
        rows = replace(rows, cells=np.minimum(rows.cells, 4.0) / 4.0)
    return rows


def one_by_one(family, t, x, rows: Rows) -> np.ndarray:
    out = np.empty((rows.n, rows.k))
    for i in range(rows.n):
        row = x.rows(i, i + 1)
        alone = family.tally(row, rows.y[i : i + 1], None if rows.w is None else rows.w[i : i + 1], rows.k)
        with np.errstate(all="ignore"):
            out[i] = family.loglik(family.estimate(t - alone), row)[0]
    return out


@every_family
@pytest.mark.parametrize("case", CASES)
def test_leaving_a_row_out_is_taking_its_tally_away(family, case):
    rows, want = rows_of(family, case), {}
    for form in forms(family)[:1] + forms(family)[6:7] + forms(family)[-2:]:
        x = form(rows.cells)
        t = family.tally(x, rows.y, rows.w, rows.k)
        with np.errstate(all="ignore"):
            got = family.leave_one_out(t, x, rows.y, rows.w)
        if form.dtype not in want:  # it depends on the cells, not on how they lie
            want[form.dtype] = one_by_one(family, t, x, rows)
        assert_logs(got, want[form.dtype])


@every_family
def test_chunks_of_rows_are_left_out_like_all_of_them(family):
    rows = weighed(family, rows_of(family, "missing", n=60))
    x = forms(family)[0](rows.cells)
    t = family.tally(x, rows.y, rows.w, rows.k)
    whole = family.leave_one_out(t, x, rows.y, rows.w)
    parts = [family.leave_one_out(t, x.rows(a, b), rows.y[a:b], rows.w[a:b]) for a, b in [(0, 7), (7, 8), (8, 60)]]
    assert_logs(np.concatenate(parts), whole)


@pytest.mark.parametrize(
    "family", [Gaussian(), Gaussian(smoothing=0.1), Lognormal(), Student(), Multinomial(), Poisson()]
)
def test_blocks_of_rows_do_not_show(family, monkeypatch):
    rows = rows_of(family, "plain", n=300)
    x = forms(family)[0](rows.cells)
    t = family.tally(x, rows.y, None, rows.k)
    whole = family.leave_one_out(t, x, rows.y, None)
    monkeypatch.setattr("deciban.estimation.leave_one_out.BLOCK", 1)
    assert_logs(family.leave_one_out(t, x, rows.y, None), whole)


@pytest.mark.parametrize(
    "family", [Multinomial(alpha=0.0), Poisson(0.0, 0.0), Bernoulli(alpha=0.0), Categorical(alpha=0.0)]
)
def test_without_pseudo_counts_what_only_the_row_itself_had_is_impossible(family):
    rows = plain_rows(family, n=12, d=4)
    if family.support != "level":
        rows = replace(rows, cells=np.where(rows.cells > 2, rows.cells, 0.0))
    x = forms(family)[0](rows.cells)
    t = family.tally(x, rows.y, None, rows.k)
    with np.errstate(all="ignore"):
        got = family.leave_one_out(t, x, rows.y, None)
    assert np.isneginf(got).any()
    assert_logs(got, one_by_one(family, t, x, rows))


def test_presences_that_are_there_or_not_need_no_threshold():
    rows = rows_of(Bernoulli(), "missing")
    cells = np.where(np.isnan(rows.cells), np.nan, rows.cells > 1)
    for form in forms(Bernoulli()):
        x = form(cells)
        for w in (None, weighed(Bernoulli(), rows).w):
            t = Bernoulli().tally(x, rows.y, w, rows.k)
            scores = [f.leave_one_out(t, x, rows.y, w) for f in (Bernoulli(), Bernoulli(above=None))]
            np.testing.assert_allclose(*scores, rtol=1e-10)


def test_complement_without_pseudo_counts_is_left_out_like_any_other():
    for family in (Complement(alpha=0.0), Complement(alpha=0.0, norm=True)):
        rows = plain_rows(family, n=9, d=4)
        x = forms(family)[0](rows.cells)
        t = family.tally(x, rows.y, None, rows.k)
        assert_logs(family.leave_one_out(t, x, rows.y, None), one_by_one(family, t, x, rows))


@pytest.mark.parametrize("family", [Gaussian(smoothing=0.0), Gaussian(), Student()])
def test_far_from_zero_the_row_still_leaves(family):
    rows = plain_rows(family, n=60, d=5)
    far = replace(rows, cells=np.rint(rows.cells * 8) + 1e8)
    near = replace(rows, cells=np.rint(rows.cells * 8))
    scores = []
    for each in (far, near):
        x = forms(family)[0](each.cells)
        scores.append(family.leave_one_out(family.tally(x, each.y, None, each.k), x, each.y, None))
    np.testing.assert_allclose(*scores, rtol=1e-5)


def test_largest_variance_of_columns_that_are_all_alike_is_found_without_each_row():
    """Standardised columns: any of them may have the largest variance once a row is gone."""
    family = Gaussian(smoothing=0.5)
    rows = plain_rows(family, n=50, d=7)
    cells = (rows.cells - rows.cells.mean(axis=0)) / rows.cells.std(axis=0)
    x = forms(family)[0](cells)
    t = family.tally(x, rows.y, None, rows.k)
    assert_logs(family.leave_one_out(t, x, rows.y, None), one_by_one(family, t, x, replace(rows, cells=cells)))


def test_smoothing_that_moves_a_little_is_followed_in_proportion():
    """Many rows: the change of epsilon is too large to skip and small enough for one term."""
    family = Gaussian(smoothing=1e-6)
    rows = scales(family, plain_rows(family, n=4000, d=5))
    x = forms(family)[0](rows.cells)
    t = family.tally(x, rows.y, None, rows.k)
    got = family.leave_one_out(t, x, rows.y, None)
    some = np.arange(0, 4000, 97)
    want = [
        family.loglik(family.estimate(t - family.tally(x.rows(i, i + 1), rows.y[[i]], None, 3)), x.rows(i, i + 1))
        for i in some
    ]
    size = np.maximum(1.0, np.abs(np.concatenate(want)))
    np.testing.assert_allclose(got[some] / size, np.concatenate(want) / size, rtol=0, atol=1e-10)


@pytest.mark.parametrize("weighed", [False, True])
def test_gaussian_classifier_is_left_out_as_if_fitted_again(weighed):
    """Its smoothing refers to all rows, unweighted."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    x = rng.normal(size=(40, 3)) * [1.0, 5.0, 5.1] + y[:, None]
    w = rng.choice([0.5, 1.0, 2.0], 40) if weighed else None
    model = deciban.GaussianNB(var_smoothing=0.1).fit(x, y, sample_weight=w)
    got = model.leave_one_out(x, y, sample_weight=w)
    for i in range(40):
        rest = np.arange(40) != i
        again = deciban.GaussianNB(var_smoothing=0.1).fit(x[rest], y[rest], None if w is None else w[rest])
        np.testing.assert_allclose(got[i], again.predict_log_proba(x[i : i + 1])[0], rtol=0, atol=1e-8)
