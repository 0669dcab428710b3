"""`MixedNB(average="subsets")` against the sum over all subsets, written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

import deciban
from deciban import MixedNB, plots
from deciban.families.student import Student

from .support.data import FIXED, table

ALPHA = 0.7
PRIOR = Student(mean=0.3, kappa=0.5, shape=1.5, scale=0.8)


def rows(n: int, levels: int, numbers: int, seed: int = 0, holes: float = 0.1):
    """Columns of levels 0, 1, 2 and of numbers; some depend on the class (0, 1, 2) and some do not."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(6) % 3, rng.integers(0, 3, n - 6)]
    cells = {f"c{j}": np.where(rng.random(n) < 0.25 * (j % 3), y, rng.integers(0, 3, n)) for j in range(levels)}
    cells |= {f"x{j}": rng.normal(0.8 * (j % 2) * y, 1.0) for j in range(numbers)}
    X = pd.DataFrame(cells).astype(float)
    gone = rng.random(X.shape) < holes
    gone[:6] = False
    X = X.mask(gone)
    return X.astype({name: "category" for name in X if name[0] == "c"}), y


def predictive(name: str, seen: np.ndarray, cell: float) -> float:
    """log p(cell | cells seen so far), from the textbook."""
    if np.isnan(cell):
        return 0.0
    seen = seen[~np.isnan(seen)]
    if name[0] == "c":
        return float(np.log((np.sum(seen == cell) + ALPHA) / (len(seen) + 3 * ALPHA)))
    n, mean = len(seen), seen.mean() if len(seen) else 0.0
    kappa, shape = PRIOR.kappa + n, PRIOR.shape + n / 2
    scale = PRIOR.scale + ((seen - mean) ** 2).sum() / 2 + PRIOR.kappa * n / kappa * (mean - PRIOR.mean) ** 2 / 2
    loc = (PRIOR.kappa * PRIOR.mean + n * mean) / kappa
    return float(stats.t.logpdf(cell, 2 * shape, loc, np.sqrt(scale * (kappa + 1) / (shape * kappa))))


def evidence(name: str, cells: np.ndarray) -> float:
    """log p(cells), one after the other."""
    return sum(predictive(name, cells[:i], cell) for i, cell in enumerate(cells))


def brute_force(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, prior: np.ndarray):
    """(log joints (n, k), inclusion (d,), log evidence) by adding up 2^d naive Bayes models."""
    cells, asked, d = X.to_numpy(float), new.to_numpy(float), X.shape[1]
    seen = [[cells[y == c, j] for j in range(d)] for c in range(3)]
    apart = np.array([sum(evidence(name, seen[c][j]) for c in range(3)) for j, name in enumerate(X)])
    alike = np.array([evidence(name, cells[:, j]) for j, name in enumerate(X)])
    own = np.array([[[predictive(m, seen[c][j], row[j]) for j, m in enumerate(X)] for c in range(3)] for row in asked])
    common = np.array([[predictive(m, cells[:, j], row[j]) for j, m in enumerate(X)] for row in asked])
    inside = np.array(list(product([False, True], repeat=d)))
    log_prior = np.where(inside, np.log(prior), np.log(1 - prior)).sum(axis=1)
    weight = log_prior + np.where(inside, apart, alike).sum(axis=1)
    each = np.einsum("sj,ncj->snc", inside * 1.0, own) + np.einsum("sj,nj->sn", ~inside * 1.0, common)[:, :, None]
    shares = np.log(np.bincount(y) / len(y))
    posterior = weight - logsumexp(weight)
    joint = logsumexp(posterior[:, None, None] + each, axis=0) + shares
    return joint, np.exp(posterior) @ inside, logsumexp(weight)


@pytest.mark.parametrize(("levels", "numbers", "n"), [(3, 0, 40), (0, 4, 30), (3, 3, 25), (8, 4, 30)])
def test_the_average_equals_the_sum_over_all_subsets(levels, numbers, n):
    X, y = rows(n, levels, numbers)
    new, _ = rows(12, levels, numbers, seed=1, holes=0.3)
    inclusion = {name: 0.2 + 0.6 * j / X.shape[1] for j, name in enumerate(X)}
    families = {name: PRIOR for name in X if name[0] == "x"}
    model = MixedNB(alpha=ALPHA, families=families, average="subsets", inclusion=inclusion).fit(X, y)
    joint, matters, whole = brute_force(X, y, new, np.array(list(inclusion.values())))
    np.testing.assert_allclose(model.predict_joint_log_proba(new), joint, rtol=1e-9)
    np.testing.assert_allclose(model.predict_log_proba(new), joint - logsumexp(joint, axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(model.inclusion_, matters, rtol=1e-9)
    assert model.evidence_ == pytest.approx(whole, rel=1e-11)


@pytest.mark.parametrize("weighed", [False, True])
def test_a_row_left_out_leaves_the_weights_of_the_subsets_too(weighed):
    X, y = rows(40, 3, 2)
    w = np.random.default_rng(2).choice([0.5, 1.0, 2.0], 40) if weighed else None
    model = MixedNB(alpha=ALPHA, families={"x0": PRIOR, "x1": "gaussian"}, average="subsets").fit(X, y, w)
    left = model.leave_one_out(X, y, w)
    for i in range(0, 40, 3):
        rest = np.arange(40) != i
        again = MixedNB(**model.get_params()).fit(X[rest], y[rest], None if w is None else w[rest])
        np.testing.assert_allclose(left[i], again.predict_log_proba(X[i : i + 1])[0], atol=1e-9)


def test_columns_surely_in_are_naive_bayes_and_surely_out_are_the_priors():
    X, y = table()
    plain, inside = MixedNB().fit(X, y), MixedNB(average="subsets", inclusion=1).fit(X, y)
    np.testing.assert_allclose(inside.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-10)
    outside = MixedNB(average="subsets", inclusion=0).fit(X, y)
    np.testing.assert_allclose(outside.predict_proba(X), np.tile(plain.class_prior_, (len(X), 1)), rtol=1e-10)
    assert outside.inclusion_.tolist() == [0.0] * 7


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "student", "poisson", "histogram", "categorical", "auto"])
def test_a_column_that_matters_is_told_from_noise(family):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = np.column_stack([rng.poisson(5 + 4 * y) + 1, *(rng.poisson(5, 300) + 1 for _ in range(3))])
    families = {} if family == "auto" else dict.fromkeys(range(4), family)
    found = MixedNB(average="subsets", families=families).fit(X, y).inclusion_
    assert found[0] > 0.99
    assert found[1:].mean() < (0.51 if family in ("histogram", "auto") else 0.2)  # without a cut nothing is to be told


def test_samples_follow_the_mixture():
    X, y = table(300)
    model = MixedNB(average="subsets").fit(X, y)
    drawn, labels = model.sample(4000, random_state=0)
    again = MixedNB(average="subsets").fit(drawn, labels)
    assert np.abs(again.predict_proba(X) - model.predict_proba(X)).mean() < 0.03


def test_a_saved_model_says_the_same(tmp_path):
    X, y = table()
    model = MixedNB(average="subsets", inclusion={"sky": 0.9}).fit(X, y)
    deciban.save(model, tmp_path / "m.deciban")
    again = deciban.load(tmp_path / "m.deciban")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.inclusion_, model.inclusion_)


def test_inclusion_is_drawn_by_column():
    X, y = table()
    ax = plots.inclusion(MixedNB(families=FIXED, average="subsets").fit(X, y))
    assert {label.get_text() for label in ax.get_yticklabels()} == set(X)
    assert all(0 <= bar.get_width() <= 1 for bar in ax.patches)


def test_what_cannot_be_averaged_is_said():
    X, y = table()
    with pytest.raises(AttributeError, match="average='subsets'"):
        MixedNB().fit(X, y).inclusion_  # noqa: B018
    with pytest.raises(ValueError, match=r"inclusion names \['nothing'\]"):
        MixedNB(average="subsets", inclusion={"nothing": 0.5}).fit(X, y)
    with pytest.raises(ValueError, match="0 … 1"):
        MixedNB(average="subsets", inclusion={"sky": 2}).fit(X, y)
    with pytest.raises(ValueError, match="missing='average'"):
        MixedNB(average="subsets", missing="average").fit(X, y)
    with pytest.raises(ValueError, match="alpha > 0"):
        MixedNB(average="subsets", alpha=0).fit(X, y).predict(X)
    with pytest.raises(AttributeError, match="no evidence in closed form"):
        MixedNB(average="subsets").fit(X, y).evidence_  # noqa: B018
