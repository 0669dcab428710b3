"""A row scored without itself, in closed form, is a row scored by what is estimated from all others."""

from __future__ import annotations

import gc
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn import datasets
from sklearn.preprocessing import scale

from deciban import LinearDiscriminantAnalysis
from deciban.data.blocks import Reals, Table
from deciban.families.fisher import Fisher
from deciban.families.gaussian_joint import GaussianJoint
from deciban.gaussian.leave_one_out import Separate, Shared

from .support.strategies import examples

MIX = "mix"  # stands for priors that differ by class
FAMILIES = {
    "pooled": {"blend": 1.0},
    "pooled, shrunk": {"blend": 1.0, "shrinkage": 0.3},
    "pooled, sphere": {"blend": 1.0, "shrinkage": 1.0},
    "mixed": {"blend": 1.0, "mix": MIX},
    "mixed, shrunk": {"blend": 1.0, "mix": MIX, "shrinkage": 0.3},
    "own": {"floor": 1e-4},
    "own, ridge": {"ridge": 0.2},
    "own, shrunk": {"shrinkage": 0.3},
    "own, sphere": {"shrinkage": 1.0},
    "own, shrunk, ridge": {"shrinkage": 0.01, "ridge": 0.01},
    "blended": {"blend": 0.4},
    "blended, shrunk": {"blend": 0.4, "shrinkage": 0.2},
    "blended, shrunk, ridge": {"blend": 0.9, "shrinkage": 0.6, "ridge": 0.1},
}
every_family = pytest.mark.parametrize("settings_", FAMILIES.values(), ids=FAMILIES.keys())
WEIGHTS = {"none": None, "whole": (1.0, 2.0, 3.0), "real": ()}
every_weight = pytest.mark.parametrize("kind", WEIGHTS, ids=WEIGHTS.keys())


def family_of(settings_: dict, k: int) -> GaussianJoint:
    given_ = dict(settings_)
    if given_.get("mix") is MIX:
        given_ |= {"mix": True, "given": True, "weights": np.arange(1.0, k + 1) / np.arange(1.0, k + 1).sum()}
    return GaussianJoint(**given_)


def weights(kind: str, n: int) -> np.ndarray | None:
    rng = np.random.default_rng(7)
    if kind == "none":
        return None
    return rng.choice(WEIGHTS[kind], n) if WEIGHTS[kind] else 0.1 + rng.random(n)


def posterior(scores: np.ndarray) -> np.ndarray:
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def by_refitting(family, t, table: Table, rows) -> np.ndarray:
    out = []
    with np.errstate(all="ignore"):
        for i in rows:
            one = table.rows(i, i + 1)
            left = t - family.tally(one.x, one.y, one.w, table.k)
            out.append(family.loglik(family.estimate(left), one.x)[0])
    return np.array(out)


def check(family, table: Table, rows=None, answered: float = 1.0) -> None:
    t = family.tally(table.x, table.y, table.w, table.k)
    rows = np.arange(table.n) if rows is None else rows
    got = family.leave_one_out(t, table.x, table.y, table.w)[rows]
    known = ~np.isnan(got).any(axis=1)
    assert known.mean() >= answered
    np.testing.assert_array_equal(np.isnan(got).all(axis=1), ~known)
    expected = by_refitting(family, t, table, rows[known])
    if known.any():
        np.testing.assert_allclose(posterior(got[known]), posterior(expected), rtol=1e-9, atol=1e-8)


def real_table(name: str, kind: str) -> Table:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Table(Reals(scale(X)), y.astype(np.int32), weights(kind, len(X)), int(y.max()) + 1)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
@every_weight
@every_family
def test_leaving_out_is_estimating_without(settings_, kind, name):
    table = real_table(name, kind)
    family = family_of(settings_, table.k)
    many = kind == "real" and family.mix  # as many covariances as weights: no closed form
    check(family, table, np.arange(0, table.n, 1 + table.n // 60), answered=0.0 if many else 1.0)


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
@every_weight
def test_fishers_pairs_are_estimated_without_the_row(kind, name):
    table = real_table(name, kind)
    check(Fisher(), table, np.arange(0, table.n, 1 + table.n // 60), answered=0.9)


@st.composite
def tables(draw) -> Table:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    k, d = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    n = draw(st.integers(k * (d + 2), 40))
    y = np.concatenate([np.repeat(np.arange(k), d + 2), rng.integers(0, k, n - k * (d + 2))]).astype(np.int32)
    rng.shuffle(y)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * draw(st.sampled_from([1.0, 1e-3, 1e4]))
    X += draw(st.sampled_from([0.0, 1.0, 100.0])) * rng.normal(size=(k, d))[y]
    w = draw(st.sampled_from([None, rng.integers(0, 3, n).astype(float), 0.05 + 3 * rng.random(n)]))
    return Table(Reals(X), y, w, k)


@given(tables(), st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.1, 1.0]))
@examples(60)
def test_any_blend_and_shrinkage_of_any_rows(table, blend, shrinkage, ridge):
    check(GaussianJoint(blend, shrinkage, ridge), table, answered=0.0)


@given(tables())
@examples(60)
def test_fishers_pairs_of_any_rows(table):
    family = Fisher()
    t = family.tally(table.x, table.y, table.w, table.k)
    with np.errstate(all="ignore"):
        got = family.leave_one_out(t, table.x, table.y, table.w)
    known = np.flatnonzero(~np.isnan(got).any(axis=1))
    np.testing.assert_array_equal(np.isnan(got).all(axis=1), np.isnan(got).any(axis=1))
    expected = by_refitting(family, t, table, known)
    if len(known) and np.abs(expected).max() < 1e6:  # beyond, taking a tally away loses digits too
        size = np.abs(expected).max(axis=1, keepdims=True) + 1.0
        np.testing.assert_allclose(posterior(got[known]) / size, posterior(expected) / size, rtol=0, atol=1e-8)


@given(tables(), st.sampled_from(list(FAMILIES.values())))
@examples(60)
def test_every_family_of_any_rows(table, settings_):
    check(family_of(settings_, table.k), table, answered=0.0)


def by_axes(model: LinearDiscriminantAnalysis, X, y, w=None) -> tuple[np.ndarray, np.ndarray]:
    """(closed form, refitting) of the svd solver, whose rule stays in the span of the class means."""
    model.fit(X, y, w)
    state = model._state
    table = Table(Reals(X), y.astype(np.int32), w, len(model.classes_))
    with np.errstate(all="ignore"):
        got = state.family.leave_one_out(state.tally.parts[1], table.x, table.y, table.w)
        each = [table.rows(i, i + 1) for i in range(table.n)]
        expected = [state.loglik_by(state.without(row), row)[0] for row in each]
    return got, np.array(expected)


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]], ids=["counted", "given"])
@every_weight
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_svd_solver_stays_in_the_span_of_the_means(name, kind, priors):
    table = real_table(name, kind)
    got, expected = by_axes(LinearDiscriminantAnalysis(priors=priors), table.x.values, table.y, table.w)
    known = ~np.isnan(got).any(axis=1)
    assert known.mean() > 0.95
    np.testing.assert_allclose(posterior(got[known]), posterior(expected[known]), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("bend", [0.0, 1e-6, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("tol", [1e-4, 1e-2])
def test_means_that_nearly_lie_on_a_line_are_never_answered_wrongly(bend, tol):
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(3), 12)
    X = rng.normal(size=(36, 4))
    for c in range(3):  # exact means: 0, 1, 2 along the first axis, and a bend
        X[y == c] += np.array([10.0 * c, bend * (c == 1), 0, 0]) - X[y == c].mean(axis=0)
    got, expected = by_axes(LinearDiscriminantAnalysis(tol=tol), X, y)
    known = ~np.isnan(got).any(axis=1)
    np.testing.assert_allclose(posterior(got[known]), posterior(expected[known]), rtol=1e-9, atol=1e-8)


def small_table(seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(2), 10).astype(np.int32)
    return Table(Reals(rng.normal(size=(20, 3)) + y[:, None]), y, None, 2)


def unanswered(family, table: Table) -> np.ndarray:
    t = family.tally(table.x, table.y, table.w, table.k)
    return np.isnan(family.leave_one_out(t, table.x, table.y, table.w)).all(axis=1)


@every_family
def test_rows_with_a_missing_cell_are_not_answered_and_change_no_other(settings_):
    table = small_table()
    family = family_of(settings_, 2)
    table.x.values[4, 1] = np.nan
    t = family.tally(table.x, table.y, table.w, 2)
    got = family.leave_one_out(t, table.x, table.y, None)
    np.testing.assert_array_equal(np.isnan(got).any(axis=1), np.arange(20) == 4)
    others = np.flatnonzero(np.arange(20) != 4)
    np.testing.assert_allclose(got[others], family.leave_one_out(t, table.x.take(others), table.y[others], None))


@every_family
def test_a_class_of_one_row_is_not_answered_for_that_row(settings_):
    table = small_table()
    y = table.y.copy()
    y[0] = 2
    assert unanswered(family_of(settings_, 3), Table(table.x, y, None, 3))[0]


@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_what_has_no_inverse_or_no_closed_form_is_not_answered(blend):
    table = small_table()
    twice = Table(Reals(np.hstack([table.x.values, table.x.values[:, :1]])), table.y, None, 2)
    assert unanswered(GaussianJoint(blend), twice).all()
    assert unanswered(GaussianJoint(blend, "auto"), table).all()
    wide = Table(Reals(np.random.default_rng(0).normal(size=(20, 30))), table.y, None, 2)
    assert unanswered(GaussianJoint(blend, 0.1), wide).all()


@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_a_row_that_alone_varies_in_a_column_is_not_answered(blend):
    X = small_table().x.values.copy()
    X[:, 2] = 0.0
    X[3, 2] = 1.0
    table = Table(Reals(X), small_table().y, None, 2)
    family = GaussianJoint(blend, floor=0.0) if blend == 0.5 else GaussianJoint(blend)
    assert unanswered(family, table)[3]


@every_family
def test_chunks_of_rows_answer_like_all_rows(settings_):
    table = real_table("wine", "none")
    family = family_of(settings_, 3)
    t = family.tally(table.x, table.y, None, 3)
    parts = [family.leave_one_out(t, part.x, part.y, part.w) for part in table.chunks(300)]
    np.testing.assert_allclose(np.concatenate(parts), family.leave_one_out(t, table.x, table.y, None), rtol=1e-9)


@every_family
def test_what_leaves_rows_out_keeps_no_tally_in_memory(settings_):
    table = real_table("wine", "none")
    family = family_of(settings_, 3)
    t = family.tally(table.x, table.y, None, 3)
    family.leave_one_out(t, table.x, table.y, None)
    known = ref(t)
    del t
    gc.collect()
    assert known() is None


@every_family
def test_columns_in_any_order_of_memory_and_single_precision_are_taken(settings_):
    table = real_table("wine", "none")
    family = family_of(settings_, 3)
    values = table.x.values.astype(np.float32)
    single, double = Reals(np.asfortranarray(values)), Reals(values.astype(np.float64))
    t = family.tally(double, table.y, None, 3)
    a, b = (family.leave_one_out(t, x, table.y, None) for x in (single, double))
    np.testing.assert_allclose(a, b, rtol=1e-4)


@every_weight
def test_a_prior_stays_while_rows_are_left_out(kind):
    rng, prior = np.random.default_rng(3), np.diag([1.0, 2.0, 0.5])
    x, y, w = rng.normal(size=(40, 3)), np.repeat([0, 1, 2], [20, 12, 8]).astype(np.int32), weights(kind, 40)
    family = GaussianJoint()
    t = family.tally(Reals(x), y, w, 3)
    own = Separate.around(t, prior, 7.0).scores(Reals(x), y, w)
    shared = Shared.around(t, t.scatter.sum(axis=0) + prior).scores(Reals(x), y, w)
    for i in range(40):
        rest = np.arange(40) != i
        left = family.tally(Reals(x[rest]), y[rest], None if w is None else w[rest], 3)
        covs = [(left.scatter[c] + 7.0 * prior) / (left.n[c] + 7.0) for c in range(3)]
        want = [multivariate_normal.logpdf(x[i], left.mean[c], covs[c]) for c in range(3)]
        np.testing.assert_allclose(own[i] - own[i, 0], np.array(want) - want[0], atol=1e-9)
        cov = (left.scatter.sum(axis=0) + prior) / left.n.sum()
        want = [multivariate_normal.logpdf(x[i], left.mean[c], cov) for c in range(3)]
        np.testing.assert_allclose(shared[i] - shared[i, 0], np.array(want) - want[0], atol=1e-9)


@every_weight
@pytest.mark.parametrize("blend", [0.0, 0.3])
def test_what_is_added_to_singular_covariances_stays_in_second_stages(kind, blend):
    rng = np.random.default_rng(5)
    x, y, w = rng.normal(size=(60, 3)), np.repeat([0, 1, 2], 20).astype(np.int32), weights(kind, 60)
    x[:, 2] *= y < (3 if blend == 0 else 0)  # constant in all classes
    x[y == 1, 1] = 2.0
    family = GaussianJoint(blend)
    t = family.tally(Reals(x), y, w, 3)
    held = family.for_second_stage(t)
    assert held.more is not None
    assert np.isnan(family.leave_one_out(t, Reals(x), y, w)).all()
    own = held.leave_one_out(t, Reals(x), y, w)
    for i in range(60):
        if w is not None and w[i] == 0:
            continue
        rest = np.arange(60) != i
        left = family.tally(Reals(x[rest]), y[rest], None if w is None else w[rest], 3)
        covs = [cov.dense() + np.diag(more) for cov, more in zip(family.gaussians(left)[1], held.more, strict=True)]
        want = np.array([multivariate_normal.logpdf(x[i], left.mean[c], covs[c]) for c in range(3)])
        np.testing.assert_allclose(own[i] - own[i, 0], want - want[0], atol=1e-7)
    assert GaussianJoint(1.0).for_second_stage(t) == GaussianJoint(1.0)
