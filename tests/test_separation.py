"""Separated classes are found, named, and said by `fit`; others are not."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from deciban import LogisticRegression
from deciban.logistic.design import Design
from deciban.logistic.firth import fisher_scoring
from deciban.logistic.separation import SeparationWarning, certified, separation

LECTURE = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]], dtype=float)
ANSWERS = np.array([0, 0, 0, 1, 1])


def brute_force(x, y, intercept=True):
    """The kind of separation, by one linear programme with a slack for each constraint."""
    a = np.column_stack([np.ones(len(x)), x]) if intercept else np.asarray(x, dtype=float)
    k, p = y.max() + 1, a.shape[1]
    rows = []
    for row, own in zip(a, y, strict=True):
        for other in set(range(k)) - {own}:
            line = np.zeros((k, p))
            line[own], line[other] = row, -row
            rows.append(line[1:].ravel())
    rows = np.array(rows)
    many, q = rows.shape
    answer = linprog(
        np.concatenate([np.zeros(q), -np.ones(many)]),
        A_ub=np.hstack([-rows, np.eye(many)]),
        b_ub=np.zeros(many),
        bounds=[(None, None)] * q + [(0, 1)] * many,
    )
    apart = round(-answer.fun)
    return "none" if apart == 0 else "complete" if apart == many else "quasi-complete"


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_kind_is_told_as_brute_force_tells_it(k, intercept):
    rng = np.random.default_rng(k)
    seen = set()
    for _ in range(60):
        n, d = rng.integers(5, 16), rng.integers(1, 4)
        x = rng.integers(-2, 3, size=(n, d)).astype(float)
        y = rng.integers(0, k, size=n) if rng.random() < 0.5 else np.clip((x @ rng.normal(size=d)).round(), 0, k - 1)
        y = np.unique(y.astype(int), return_inverse=True)[1]
        if len(np.unique(y)) < 2:
            continue
        kind = brute_force(x, y, intercept)
        seen.add(kind)
        for rows in (x, sparse.csr_matrix(x)):
            found = separation(rows, y, fit_intercept=intercept)
            assert found.kind == kind
            assert bool(found) == (kind != "none")
    assert seen == {"none", "quasi-complete", "complete"}


@pytest.mark.parametrize("k", [2, 3])
def test_no_parameters_prove_that_separated_data_overlap(k):
    rng = np.random.default_rng(k)
    tried = 0
    for _ in range(60):
        x = rng.integers(-2, 3, size=(12, 2)).astype(float)
        y = np.unique(np.clip((x @ [1.0, 0.6]).round(), 0, k - 1).astype(int), return_inverse=True)[1]
        if len(np.unique(y)) < 2 or brute_force(x, y) == "none":
            continue
        tried += 1
        design = Design.of(x, y, None, len(np.unique(y)))
        for steps in (1, 5, 20, 60):
            assert not certified(design, fisher_scoring(design, jeffreys=False, max_iter=steps, tol=0.0).theta)
    assert tried > 20


def test_the_lectures_separable_rows_diverge_and_every_penalty_answers_0():
    with pytest.warns(SeparationWarning, match=r"complete separation: columns `x0` and `x1` together") as told:
        LogisticRegression(C=np.inf).fit(LECTURE, ANSWERS)
    assert len(told) == 1
    assert 'penalty="jeffreys"' in str(told[0].message)
    assert "finite C" in str(told[0].message)
    for model in (LogisticRegression(), LogisticRegression(C=1e4), LogisticRegression("jeffreys")):
        assert model.fit(LECTURE, ANSWERS).predict([[0, 0, 0]]).tolist() == [0]


def test_data_that_overlap_are_fitted_in_silence():
    rng = np.random.default_rng(0)
    for k in (2, 3):
        x = rng.normal(size=(200, 3))
        y = (x @ rng.normal(size=(3, k)) + rng.gumbel(size=(200, k))).argmax(axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = LogisticRegression(C=np.inf, tol=1e-8).fit(x, y)
        assert str(model.separation()).startswith("no separation")


def test_a_dummy_of_one_class_only_is_named_and_only_it_diverges():
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(size=300), rng.normal(size=300), np.zeros(300)])
    y = (x[:, 0] + rng.logistic(size=300) > 0).astype(int)
    x[np.flatnonzero(y == 1)[:4], 2] = 1.0
    found = separation(x, y, columns=["age", "dose", "rare"], classes=["well", "ill"])
    assert (found.kind, found.columns, found.alone) == ("quasi-complete", ("rare",), True)
    assert found.rules == ("rare > 0 only in ill",)
    assert found.diverging.tolist() == [[False, False, False, True]]
    with pytest.warns(SeparationWarning, match="column `x2` alone"):
        model = LogisticRegression(C=np.inf).fit(x, y)
    assert any("quasi-complete separation" in note for note in model.summary().notes)


def test_a_column_that_tells_the_classes_is_named_with_its_cut():
    x = np.column_stack([[1.0, 2.0, 3.0, 4.0], [5.0, 1.0, 4.0, 2.0]])
    found = separation(x, np.array([0, 0, 1, 1]), columns=["size", "noise"], classes=["a", "b"])
    assert (found.kind, found.columns, found.rules) == (
        "complete",
        ("size",),
        ("size > 2.5 in every row of b and no other",),
    )
    reverse = separation(-x, np.array([0, 0, 1, 1]), columns=["size", "noise"], classes=["a", "b"])
    assert reverse.rules == ("size < -2.5 in every row of b and no other",)


def test_the_direction_separates():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 4)) * [1.0, 100.0, 1e-3, 1.0] + [0.0, 1e4, 0.0, 5.0]
    z = (x - x.mean(0)) / x.std(0)
    y = (z[:, 0] - z[:, 2] > 0.2).astype(int)
    found = separation(x, y)
    assert found.kind == "complete"
    margins = np.column_stack([np.ones(60), x]) @ found.direction[0]
    assert (np.where(y == 1, margins, -margins) > 0).all()


def test_rows_of_no_weight_do_not_overlap():
    x, y = np.array([[0.0], [1.0], [2.0], [3.0], [3.0]]), np.array([0, 0, 1, 1, 0])
    assert not separation(np.vstack([x, [[0.0]]]), np.append(y, 1))
    assert separation(x, y, np.array([1.0, 1.0, 1.0, 1.0, 0.0])).kind == "complete"


def test_one_class_is_not_separated_from_anything():
    assert not separation(np.eye(3), np.zeros(3, dtype=int))


def test_columns_far_from_0_and_repeated_ones_do_not_hide_it():
    rng = np.random.default_rng(5)
    x = np.repeat(rng.normal(size=(40, 1)), 2, axis=1) * 1e-3 + 1e6
    x = np.column_stack([x, np.full(40, 7.0)])
    assert separation(x, (x[:, 0] > 1e6).astype(int)).kind == "complete"
    mixed = (x[:, 0] + 1e-3 * rng.logistic(size=40) > 1e6).astype(int)
    assert separation(x, mixed).kind == brute_force((x[:, :1] - 1e6) * 1e3, mixed) == "none"


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "newton-cg"])
def test_any_solver_says_it_once(solver):
    with pytest.warns(SeparationWarning) as told:
        LogisticRegression(C=np.inf, solver=solver, max_iter=1000).fit(LECTURE, ANSWERS)
    assert len(told) == 1


def test_what_is_too_large_to_settle_is_not_said_to_overlap(monkeypatch):
    monkeypatch.setattr("deciban.logistic.separation.MOST", 10)
    monkeypatch.setattr("deciban.logistic.separation._maximise_likelihood", lambda design: (False, None))
    found = separation(LECTURE, ANSWERS)
    assert found.kind != "none"
    assert "not known" in str(separation(LECTURE @ [[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]], np.array([0, 1, 0, 1, 0])))


def test_large_and_wide_data_are_told_without_a_programme(monkeypatch):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(40, 2500))
    assert separation(wide, rng.integers(0, 2, 40)).kind == "complete"
    monkeypatch.setattr("deciban.logistic.separation.FEW", 10)
    x = np.column_stack([rng.normal(size=100), np.arange(100) < 3])
    found = separation(x, np.append(np.ones(3, dtype=int), rng.integers(0, 2, 97)))
    assert (found.kind, found.columns) == ("quasi-complete", ("x1",))
