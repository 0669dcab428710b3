"""Kernel logistic regression: what columns say together, independent of order, units and copies; exact explanations."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.integrate import quad_vec
from sklearn.linear_model import LogisticRegression as Reference

import deciban
from deciban import KernelLogisticRegression, LogisticRegression
from deciban.errors import DataError, ModelFileError
from deciban.metrics import log_loss
from deciban.models import kernel
from deciban.rows.raw_rows import RawArrays

RNG = np.random.default_rng(7)
X = RNG.normal(size=(150, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)]
FRAME = pd.DataFrame({"colour": np.array(["red", "green", "blue"])[np.arange(150) % 3], "size": X[:, 0]})
FRAME.loc[::11, "size"] = np.nan


def fast(**more) -> KernelLogisticRegression:
    return KernelLogisticRegression(**{"C": 10.0, "bandwidth": 0.7, **more})


def test_columns_that_say_nothing_alone_are_learned():
    x = RNG.uniform(-1, 1, (500, 2))
    y = x[:, 0] * x[:, 1] > 0
    model, line = KernelLogisticRegression().fit(x[:300], y[:300]), LogisticRegression().fit(x[:300], y[:300])
    codes = y[300:].astype(int)
    assert log_loss(codes, model.predict_log_proba(x[300:])) < 0.2 < log_loss(codes, line.predict_log_proba(x[300:]))


def test_the_order_of_rows_makes_no_difference():
    order = RNG.permutation(len(X))
    one, other = KernelLogisticRegression().fit(X, Y), KernelLogisticRegression().fit(X[order], Y[order])
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert np.array_equal(one.explain(X).decibans, other.explain(X).decibans)


def test_a_weight_is_the_same_as_copies():
    w = RNG.integers(0, 3, len(X))
    one, other = KernelLogisticRegression().fit(X, Y, w), KernelLogisticRegression().fit(X.repeat(w, 0), Y.repeat(w))
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))


def test_increasing_functions_of_columns_make_no_difference():
    """But for the order by content, which is another one: the same minimum to the tolerance of the solver."""
    one, other = fast().fit(X, Y), fast().fit(np.exp(X) * [1.0, 1e6, 1e-6], Y)
    found = other.predict_proba(np.exp(X) * [1.0, 1e6, 1e-6])
    np.testing.assert_allclose(one.predict_proba(X), found, atol=5e-3)


def test_scores_are_those_of_logistic_regression_on_the_features_of_the_kernel():
    model = fast(max_iter=5000).fit(X, Y)
    z = model._kernel.normal_scores(X)
    value, vector = np.linalg.eigh(kernel.kernel(z, z, model._kernel.rate))
    features = vector * np.sqrt(np.maximum(value, 0.0))
    theirs = Reference(C=10.0, tol=1e-8, max_iter=10_000).fit(features, Y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(features), atol=5e-3)


def test_fewer_landmarks_are_training_rows():
    model = fast(landmarks=20).fit(X, Y)
    assert (model.landmarks_.shape, model.dual_coef_.shape) == ((20, 3), (3, 20))
    rows = {tuple(row) for row in model._kernel.normal_scores(X).tolist()}
    assert {tuple(row) for row in model.landmarks_.tolist()} <= rows
    assert model.n_parameters_ == 2 * 21


@pytest.mark.parametrize("priors", [None, [0.2, 0.5, 0.3]])
def test_explanations_add_up_to_the_log_odds(priors):
    model = fast().fit(X, Y)
    found = model.explain(X[:40], of="a", against="b", priors=priors)
    logs = model.predict_log_proba(X[:40], priors=priors)
    odds = (logs[:, 0] - logs[:, 1]) * 10 / np.log(10)
    np.testing.assert_allclose(found.prior + found.decibans.sum(axis=1), odds, rtol=1e-9, atol=1e-8)
    assert found.start == "mean row"


def test_the_evidence_of_a_column_is_the_integral_of_its_derivative():
    scores = fast().fit(X, Y)._kernel
    start, row = scores.normal_scores(X.mean(axis=0)[None])[0], scores.normal_scores(X[:1])[0]
    step = row - start

    def slope(t: float) -> np.ndarray:
        away = start + t * step - scores.landmarks
        bumps = np.exp(-scores.rate * (away**2).sum(axis=1))
        return -2.0 * scores.rate * (scores.coef * bumps) @ away * step  # (k, d)

    expected, _ = quad_vec(slope, 0.0, 1.0, epsabs=1e-11)
    np.testing.assert_allclose(scores.parts(X[:1], X.mean(axis=0))[1][0], expected, atol=1e-8)


def test_a_row_at_the_baseline_has_no_evidence():
    scores = fast().fit(X, Y)._kernel
    base, parts = scores.parts(X[:1], X[0])
    assert not parts.any()
    assert np.array_equal(base, scores(X[:1])[0])


def test_frames_are_coded_and_a_category_is_one_line():
    model = fast().fit(FRAME, Y)
    assert [name.split("=")[0] for name in model.coef_names_] == ["colour", "colour", "size", "size missing"]
    assert model.explain(FRAME[:2]).to_frame().column.nunique() == 3  # mean row, colour, size
    scorer = model.row_scorer()
    row = {"colour": "red", "size": 0.5}
    np.testing.assert_allclose(scorer.predict_proba(row), model.predict_proba(pd.DataFrame([row]))[0], rtol=1e-12)


def test_rows_elsewhere_make_the_same_model():
    table = pa.table({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "label": Y})
    there = fast().fit_on(table)
    here = fast().fit(pd.DataFrame(X, columns=["x", "y", "z"]), Y)
    assert np.array_equal(there._posterior().scores(X), here._posterior().scores(X))


def test_of_many_rows_a_sample_keeps_the_weights_of_classes(monkeypatch):
    monkeypatch.setattr(kernel, "MOST", 60)
    codes = np.unique(Y, return_inverse=True)[1]
    rows = kernel.distinct_rows(X, codes, np.ones(len(X)), 3)
    assert rows.n == 60
    np.testing.assert_allclose(np.bincount(rows.y, rows.w), np.bincount(codes))
    assert KernelLogisticRegression().fit(X, Y).score(X, Y) > 0.7


def test_classes_of_one_row_and_constant_columns_are_fitted():
    model = KernelLogisticRegression().fit([[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]], ["a", "b", "c"])
    assert model.predict([[0.0, 1.0], [3.0, 1.0]]).tolist() == ["a", "c"]
    assert model.held_out_ == {}
    same = KernelLogisticRegression().fit([[1.0]] * 4, ["a", "a", "a", "b"])
    np.testing.assert_allclose(same.predict_proba([[1.0]]), [[0.75, 0.25]], atol=1e-3)


def test_far_cells_are_like_the_largest():
    model = fast().fit(X, Y)
    far, largest = X[:1].copy(), X[:1].copy()
    far[0, 0], largest[0, 0] = 1e300, X[:, 0].max()
    assert np.array_equal(model.predict_proba(far), model.predict_proba(largest))


def test_numbers_near_the_ends_of_doubles_are_fitted():
    x = np.array([[-1.7e308], [-1e308], [1e308], [1.7e308], [1.7e308], [-1.7e308]])
    model = fast().fit(x, [0, 0, 1, 1, 1, 0])
    assert model.predict(x).tolist() == [0, 0, 1, 1, 1, 0]
    assert np.isfinite(model.explain(x).decibans).all()
    deciban.loads(deciban.dumps(model))


def test_one_class_is_refused():
    with pytest.raises(DataError, match="one class"):
        fast().fit(X, ["a"] * len(X))


def test_a_model_file_keeps_it_and_parts_that_contradict_are_refused():
    model = KernelLogisticRegression().fit(X, Y)
    again = deciban.loads(deciban.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.held_out_ == model.held_out_
    model.class_count_ = model.class_count_[:2]
    with pytest.raises(ModelFileError, match="class_count_"):
        deciban.dumps(model)


def test_a_model_file_says_that_it_holds_training_rows(tmp_path):
    model = fast(landmarks=20).fit(X, Y)
    deciban.save(model, tmp_path / "model")
    assert deciban.model_info(tmp_path / "model")["rows_kept"] == 20
    with pytest.raises(ModelFileError, match="without them"):
        deciban.save(model, tmp_path / "other", rows=False)


def test_training_rows_are_no_calibration_rows_though_some_are_equal():
    twice, labels = np.vstack([X, X[:5]]), np.append(Y, Y[:5])
    with pytest.raises(DataError, match="those that the model learned"):
        fast().fit(twice, labels).predict_set(X[:1], calibration=(twice, labels))


def test_top_evidence_of_coded_columns():
    found = deciban.top_evidence(fast().fit(FRAME, FRAME.colour.to_numpy() == "red"))
    assert found[True][0].column == "colour"
    assert found[True][0].value == "red"


@pytest.mark.parametrize("labels", [Y, Y == "a"], ids=["three classes", "two classes"])
def test_influence_of_rows_is_that_of_a_refit_with_the_choices_held(labels):
    model = fast(C=0.3, max_iter=5000).fit(X, labels)
    scores, out = model._kernel, []
    features, _ = scores.linear(X)
    for group in range(3):
        left = np.arange(len(X)) % 50 != group
        C = 0.3 * (1.0 if len(model.classes_) > 2 else 2.0)  # of one score in place of two
        refit = Reference(C=C, tol=1e-10, max_iter=10_000).fit(features[left], labels[left])
        out.append(refit.predict_log_proba(features[:3]) - model.predict_log_proba(X[:3]))
    found = model._proba_without(RawArrays(X, labels), np.arange(len(X)) % 50, 50, X[:3])
    np.testing.assert_allclose(found.log_proba, model.predict_log_proba(X[:3]), atol=1e-9)
    np.testing.assert_allclose(found.without[:3] - found.log_proba, out, atol=0.005)


def test_many_rows_are_not_penalised_as_the_sample_that_stands_for_them():
    """C is the variance of a score: it does not fall with the number of rows, of which 1,000 choose first."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0.0, 4.0, (7000, 2))
    y = (np.floor(X).astype(int) @ [1, 3]) % 5  # five classes on a board
    some, many = (KernelLogisticRegression().fit(X[:n], y[:n]) for n in (1000, 6000))
    assert many.C_ >= some.C_
    own = np.arange(1000), y[6000:]
    losses = [-np.log(model.predict_proba(X[6000:])[own]).mean() for model in (some, many)]
    assert losses[1] < 0.5 * losses[0]
