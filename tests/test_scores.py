"""Scores against scikit-learn's, and calibration against a loop over bins."""

import numpy as np
import pytest
from sklearn import metrics

from deciban import metrics as scores


def some(k: int, seed: int = 0, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(y, proba, w): not quite honest, with ties and whole numbers among the weights."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(k, 0.7), n).round(3) + 1e-3
    proba /= proba.sum(axis=1, keepdims=True)
    y = np.array([rng.choice(k, p=p) for p in proba])
    y[:k] = np.arange(k)
    return y, proba, rng.integers(0, 4, n).astype(np.float64)


several = pytest.mark.parametrize("k", [2, 3, 7])
weighed = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


@several
@weighed
def test_scores_are_those_of_scikit_learn(k, weighted):
    y, proba, w = some(k)
    w = w if weighted else None
    assert scores.log_loss(y, np.log(proba), w) == pytest.approx(metrics.log_loss(y, proba, sample_weight=w))
    firsts = [np.flatnonzero(row >= row.max() - 1e-12) for row in proba]
    assert sum(len(first) > 1 for first in firsts) >= (k > 2)
    by_hand = [(c in first) / len(first) for c, first in zip(y, firsts, strict=True)]
    assert scores.accuracy(y, proba, w) == pytest.approx(np.average(by_hand, weights=w))
    clear = np.array([len(first) == 1 for first in firsts])
    weight = None if w is None else w[clear]
    theirs = metrics.accuracy_score(y[clear], proba[clear].argmax(axis=1), sample_weight=weight)
    assert scores.accuracy(y[clear], proba[clear], weight) == pytest.approx(theirs)
    given = proba[:, 1] if k == 2 else proba
    theirs = metrics.brier_score_loss(y, given, sample_weight=w, scale_by_half=False)
    assert scores.brier(y, proba, w) == pytest.approx(theirs)
    theirs = metrics.confusion_matrix(y, proba.argmax(axis=1), sample_weight=w)
    np.testing.assert_allclose(scores.confusion(y, proba.argmax(axis=1), k, w), theirs)


@several
def test_weights_count_like_repetitions(k):
    y, proba, w = some(k)
    again = np.repeat(np.arange(len(y)), w.astype(int))
    for score in (scores.brier, scores.accuracy, scores.expected_calibration_error):
        assert score(y, proba, w) == pytest.approx(score(y[again], proba[again]))
    assert scores.log_loss(y, np.log(proba), w) == pytest.approx(scores.log_loss(y[again], np.log(proba[again])))


def test_impossible_truth_costs_everything_unless_there_is_a_floor():
    y, proba = np.array([0, 1]), np.array([[0.5, 0.5], [1.0, 0.0]])
    with np.errstate(divide="ignore"):
        log_proba = np.log(proba)
    assert scores.log_loss(y, log_proba) == np.inf
    assert scores.log_loss(y, log_proba, w=np.array([1.0, 0.0])) == pytest.approx(np.log(2))
    floor = np.log(np.finfo(np.float64).eps)
    assert scores.log_loss(y, log_proba, floor=floor) == pytest.approx(metrics.log_loss(y, proba))


@several
@weighed
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_calibration_error_is_the_mean_gap_over_bins(k, weighted, bins):
    y, proba, w = some(k)
    confidence, hit, weight = proba.max(axis=1), proba.argmax(axis=1) == y, w if weighted else np.ones(len(y))
    total = 0.0
    for b in range(bins):
        here = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if weight[here].sum() > 0:
            gap = np.average(hit[here], weights=weight[here]) - np.average(confidence[here], weights=weight[here])
            total += abs(gap) * weight[here].sum() / weight.sum()
    assert scores.expected_calibration_error(y, proba, w if weighted else None, bins=bins) == pytest.approx(total)


def test_bins_of_equal_mass_hold_the_same_number_of_rows():
    rng = np.random.default_rng(3)
    top = rng.permutation(np.linspace(0.51, 0.99, 100))
    proba, y = np.column_stack([top, 1 - top]), rng.integers(0, 2, 100)
    order = np.argsort(top)
    gaps = [abs(((y[part] == 0) - top[part]).mean()) for part in np.array_split(order, 5)]
    assert scores.expected_calibration_error(y, proba, bins=5, equal_mass=True) == pytest.approx(np.mean(gaps))


def test_honest_probabilities_are_calibrated_and_boasts_are_not():
    rng = np.random.default_rng(4)
    p = rng.uniform(0, 1, 50_000)
    y, honest = (rng.random(50_000) < p).astype(int), np.column_stack([1 - p, p])
    boast = honest**3 / (honest**3).sum(axis=1, keepdims=True)
    for equal_mass in (False, True):
        assert scores.expected_calibration_error(y, honest, equal_mass=equal_mass) < 0.01
        assert scores.expected_calibration_error(y, boast, equal_mass=equal_mass) > 0.08


def test_no_weight_no_score():
    y, proba, w = np.array([0]), np.array([[0.5, 0.5]]), np.zeros(1)
    assert np.isnan(scores.accuracy(y, proba, w))
