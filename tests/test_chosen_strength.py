"""The C that is chosen: leave-one-out is near to leaving out, weights are repetitions, the path is made of fits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from deciban import LogisticRegression, SeparationWarning
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError, SupportError
from deciban.logistic.laplace import Leverage
from deciban.logistic.likelihood import Prior, reference_coding
from deciban.logistic.path import sample_by_content
from deciban.plots import coefficient_path
from deciban.plots.paths import spread
from deciban.rows.digests import row_digests
from deciban.rows.folds import folds_with_copies_together


def rows(k: int, n: int = 60, d: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(k, d))[y], y


def wine():
    x, y = load_wine(return_X_y=True)
    return (x - x.mean(axis=0)) / x.std(axis=0), y


def tight(**settings):
    return LogisticRegression(tol=1e-10, max_iter=1000, **settings)


def own(log_proba, y):
    return log_proba[np.arange(len(y)), y]


def left(model, x, y, w=None, times=None):
    """Approximate leave-one-out of a fitted model, (n, k)."""
    theta = reference_coding(model.coef_, model.intercept_, model.fit_intercept)
    found = Leverage.of(x, y, w, len(model.classes_), model.fit_intercept, times)
    return found.without(theta, Prior(model.C_))


# leave-one-out


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_leaving_out_by_one_step_is_near_to_fitting_without_the_row(k, intercept):
    x, y = rows(k)
    model = tight(C=0.5, fit_intercept=intercept).fit(x, y)
    each = [clone(model).fit(np.delete(x, i, 0), np.delete(y, i)).predict_log_proba(x[i : i + 1])[0] for i in range(60)]
    exact, ours, naive = own(np.array(each), y), own(left(model, x, y), y), own(model.predict_log_proba(x), y)
    np.testing.assert_allclose(ours, exact, rtol=0.06, atol=0.02)
    assert abs(ours.mean() - exact.mean()) < 0.1 * abs(naive.mean() - exact.mean())


@pytest.mark.parametrize("k", [2, 4])
def test_step_is_newtons_from_the_hessian_without_the_row(k):
    x, y = rows(k)
    model = tight(C=2.0).fit(x, y)
    ours = left(model, x, y)
    w = np.column_stack([model.coef_, model.intercept_]).ravel()
    for i in (0, 7):
        keep = np.arange(60) != i
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            f = model.objective(x, y, sample_weight=keep.astype(float))
        moved = w - np.linalg.lstsq(f.hessian(w), f.slope(w)[1], rcond=1e-12)[0]
        table = moved.reshape(f.m, f.p)
        scores = table[:, :-1] @ x[i] + table[:, -1]
        scores = np.append(0.0, scores) if k == 2 else scores
        np.testing.assert_allclose(ours[i], scores - np.logaddexp.reduce(scores), atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_row_of_weight_three_is_three_rows_of_which_one_leaves(k):
    x, y = rows(k)
    times = np.arange(60) % 4.0
    again = np.repeat(np.arange(60), times.astype(int))
    one, many = tight().fit(x, y, sample_weight=times), tight().fit(x[again], y[again])
    np.testing.assert_allclose(left(one, x, y, times, times)[again], left(many, x[again], y[again]), atol=1e-6)


def test_columns_of_any_unit_and_place_leave_alike():
    x, y = rows(2)
    unit, place = np.array([1e-4, 1.0, 1e3, 1e5]), np.array([1e3, -1e4, 1e7, 0.0])
    model = tight(C=np.inf).fit(x, y)
    expected = left(model, x, y)
    model.coef_ = model.coef_ / unit
    model.intercept_ = model.intercept_ - model.coef_ @ place
    np.testing.assert_allclose(left(model, x * unit + place, y), expected, atol=1e-5)


def test_sparse_rows_leave_as_dense_ones():
    x, y = rows(3)
    x = np.where(x > 0.5, x, 0.0)
    model = tight().fit(x, y)
    np.testing.assert_allclose(left(model, sparse.csr_matrix(x), y), left(model, x, y), atol=1e-12)


# folds


def test_same_rows_share_a_fold_in_any_order_dense_or_sparse():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 3, (200, 3)).astype(float), rng.integers(0, 3, 200)
    csr = sparse.csr_matrix(x)
    dense, thin = Reals(x), Counts(csr.indptr, csr.indices, csr.data, 3)
    np.testing.assert_array_equal(row_digests(dense), row_digests(thin))
    fold = folds_with_copies_together(dense, y, 4)
    order = rng.permutation(200)
    np.testing.assert_array_equal(folds_with_copies_together(Reals(x[order]), y[order], 4), fold[order])
    kinds = {(*row, c): f for row, c, f in zip(x.tolist(), y.tolist(), fold.tolist(), strict=True)}
    assert all(kinds[(*row, c)] == f for row, c, f in zip(x.tolist(), y.tolist(), fold.tolist(), strict=True))
    assert np.ptp(np.bincount(list(kinds.values()))) <= 1
    np.testing.assert_array_equal(
        folds_with_copies_together(Reals(x[::2]), y[::2], 4),
        folds_with_copies_together(dense, y, 4, w=np.arange(200) % 2 == 0)[::2],
    )


def test_folds_hold_out_what_fits_of_the_others_say():
    x, y = rows(3)
    fold = np.arange(60) // 20
    path = tight().path(x, y, Cs=[0.1, 1.0], held_out=fold)
    for C, loss in zip(path.Cs, path.log_loss, strict=True):
        said = np.empty((60, 3))
        for i in range(3):
            said[fold == i] = tight(C=C).fit(x[fold != i], y[fold != i]).predict_log_proba(x[fold == i])
        assert loss == pytest.approx(-own(said, y).mean(), abs=1e-6)
    split = tight().path(x, y, Cs=[0.1, 1.0], held_out=KFold(3, shuffle=True, random_state=0))
    assert split.held_out == path.held_out == "3 folds"


# paths


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("k", [2, 3])
def test_every_step_of_a_path_is_the_fit_of_its_strength(ratio, k):
    x, y = rows(k)
    path = tight(l1_ratio=ratio).path(x, y)
    assert (np.diff(path.Cs) > 0).all()
    for i in (0, len(path.Cs) // 2, -1):
        model = tight(C=path.Cs[i], l1_ratio=ratio).fit(x, y)
        np.testing.assert_allclose(path.coef[i], model.coef_, atol=1e-5)
        np.testing.assert_allclose(path.intercepts[i], model.intercept_, atol=1e-5)


def test_lasso_path_starts_where_the_first_column_enters():
    x, y = rows(2)
    path = tight(l1_ratio=1.0).path(x, y)
    assert not path.coef[0].any()
    assert tight(l1_ratio=1.0, C=path.Cs[0] * 1.001).fit(x, y).coef_.any()


def test_path_leaves_the_model_as_it_is_and_has_a_frame():
    x, y = rows(3)
    model = tight().fit(x, y)
    before = dict(model.__dict__)
    path = model.path(x[:, :2], y, Cs=[0.1, 10.0])
    assert model.__dict__ == before
    frame = path.to_frame()
    assert frame.columns.tolist() == ["C", "class", "column", "coef"]
    assert len(frame) == 2 * 3 * 2
    np.testing.assert_array_equal(frame["coef"], path.coef.ravel())


def test_path_of_separated_classes_ends_before_coefficients_run_away():
    x = np.linspace(-1, 1, 20)[:, None]
    path = LogisticRegression().path(x, x[:, 0] > 0, held_out="auto")
    assert 0 < path.loss[-1] < 0.02 * np.log(2)
    assert np.isfinite(path.log_loss).all()


# C="auto"


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_chosen_model_is_the_fit_with_the_chosen_strength(load, ratio):
    x, y = load(return_X_y=True)
    x = ((x - x.mean(axis=0)) / x.std(axis=0))[::2]
    model = LogisticRegression(C="auto", l1_ratio=ratio, tol=1e-6, max_iter=500).fit(x, y[::2])
    assert model.path_.C == model.C_
    assert model.path_.held_out == ("leave-one-out" if ratio == 0 else "5 folds")
    assert 0 < model.path_.best < len(model.path_.Cs) - 1
    again = LogisticRegression(C=model.C_, l1_ratio=ratio, tol=1e-8, max_iter=500).fit(x, y[::2])
    np.testing.assert_allclose(model.predict_proba(x), again.predict_proba(x), atol=1e-3)
    assert model.C_ == again.C_
    assert not hasattr(again, "path_")


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize("weights", [None, "balanced", {0: 1.0, 1: 5.0, 2: 0.3}])
def test_weights_choose_as_repetitions_do_dense_or_sparse(ratio, weights):
    x, y = rows(3)
    times = (np.arange(60) * 7) % 4
    again = np.repeat(np.arange(60), times)
    model = LogisticRegression(C="auto", l1_ratio=ratio, class_weight=weights, tol=1e-7)
    one, many = clone(model).fit(x, y, sample_weight=times), clone(model).fit(x[again], y[again])
    thin = clone(model).fit(sparse.csr_matrix(x), y, sample_weight=times)
    assert one.C_ == pytest.approx(many.C_) == pytest.approx(thin.C_)
    np.testing.assert_allclose(one.path_.log_loss, many.path_.log_loss, rtol=1e-4)
    np.testing.assert_allclose(one.predict_proba(x), many.predict_proba(x), atol=1e-4)


def test_choice_by_a_sample_is_that_of_repetitions_in_any_order_dense_or_sparse(monkeypatch):
    monkeypatch.setattr("deciban.logistic.path.LEAVING", 30)
    x, y = rows(3, n=200)
    times = (np.arange(200) * 7) % 4
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(200), times))
    model = LogisticRegression(C="auto", tol=1e-7)
    one, many = clone(model).fit(x, y, sample_weight=times), clone(model).fit(x[order], y[order])
    thin = clone(model).fit(sparse.csr_matrix(x), y, sample_weight=times)
    assert one.C_ == pytest.approx(many.C_) == pytest.approx(thin.C_)
    np.testing.assert_allclose(one.path_.log_loss, many.path_.log_loss, rtol=1e-4)
    np.testing.assert_allclose(one.path_.log_loss, thin.path_.log_loss, rtol=1e-4)
    few = sample_by_content(Reals(x), times.astype(float), 30)
    assert len(few) == 30
    assert times[few].all()


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_best_of_the_whole_grid_is_chosen(ratio):
    x, y = rows(3, n=150, d=8)
    model = LogisticRegression(C="auto", l1_ratio=ratio).fit(x, y)
    every = LogisticRegression(l1_ratio=ratio).path(x, y, held_out="auto")
    assert every.log_loss[np.isclose(every.Cs, model.C_)][0] <= every.log_loss.min() * 1.001
    np.testing.assert_array_equal(model.path_.coef[model.path_.best], model.coef_)


def test_list_of_strengths_is_what_is_chosen_from():
    x, y = wine()
    model = LogisticRegression(C=[10.0, 0.01, 1.0]).fit(x, y)
    np.testing.assert_array_equal(model.path_.Cs, [0.01, 1.0, 10.0])
    assert model.C_ in (0.01, 1.0, 10.0)


def test_noise_is_shrunk_and_signal_is_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 20))
    noise, signal = rng.integers(0, 2, 300), (x[:, 0] + 0.3 * rng.logistic(size=300) > 0).astype(int)
    shrunk = [LogisticRegression(C="auto").fit(x, y).C_ for y in (noise, signal)]
    assert shrunk[0] < 0.01 < 0.1 < shrunk[1]


def test_wide_rows_are_chosen_in_folds_and_too_many_coefficients_are_not_kept(monkeypatch):
    monkeypatch.setattr("deciban.logistic.path.WIDE", 5)
    monkeypatch.setattr("deciban.classifiers.logistic.KEPT", 100)
    x, y = rows(3)
    model = LogisticRegression(C="auto").fit(x, y)
    assert model.path_.held_out == "5 folds"
    assert model.path_.coef is None
    np.testing.assert_allclose(model.coef_, LogisticRegression(C=model.C_).fit(x, y).coef_, atol=1e-2)
    with pytest.raises(ValueError, match="too many to keep"):
        model.path_.plot()


def test_summary_and_posterior_are_those_of_the_chosen_strength():
    x, y = rows(2)
    model = tight(C="auto").fit(x, y)
    fixed = tight(C=model.C_).fit(x, y)
    np.testing.assert_allclose(model.summary().std_error, fixed.summary().std_error, rtol=1e-4)
    assert model.evidence_ == pytest.approx(fixed.evidence_, rel=1e-6)
    assert f"C = {model.C_:g}" in str(model.summary())


def test_online_rule_takes_the_strength_of_the_last_fit():
    x, y = rows(2)
    assert LogisticRegression(C="auto").partial_fit(x, y, classes=[0, 1]).C_ == 1.0
    model = LogisticRegression(C="auto").fit(x, y)
    C = model.C_
    assert model.partial_fit(x, y).C_ == C
    assert LogisticRegression(C=3.0).partial_fit(x, y, classes=[0, 1]).C_ == 3.0


@pytest.mark.parametrize("x", [np.nan, np.inf])
def test_bad_cells_are_said_before_anything_is_chosen(x):
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        LogisticRegression(C="auto").fit([[0.0], [x], [1.0]], [0, 1, 1])


def test_hard_rows_have_an_answer():
    for x, y in (
        (np.zeros((6, 2)), np.arange(6) % 2),  # constant
        (np.ones((4, 1)) * 1e150, [0, 1, 0, 1]),
        (np.array([[0.0], [1.0]]), [0, 1]),  # one row of each class
        (np.repeat([[1.0, 2.0]], 6, axis=0) * np.arange(6)[:, None], [0, 0, 1, 0, 1, 1]),  # one column twice
        (np.eye(5), [0, 1, 0, 1, 2]),
    ):
        for ratio in (0.0, 1.0):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = LogisticRegression(C="auto", l1_ratio=ratio).fit(x, y)
            assert np.isfinite(model.predict_proba(x)).all()
            assert 0 < model.C_ < np.inf


def test_what_cannot_be_asked_says_so():
    x, y = rows(2)
    with pytest.raises(DataError, match="no strength to vary"):
        LogisticRegression(penalty="jeffreys").path(x, y)
    with pytest.raises(DataError, match="corner"):
        LogisticRegression(l1_ratio=1.0).path(x, y, held_out="loo")
    with pytest.raises(DataError, match="held_out"):
        LogisticRegression().path(x, y, held_out="loocv")
    with pytest.raises(DataError, match="chosen among"):
        LogisticRegression(C=[0.0, 1.0]).fit(x, y)
    with pytest.raises(ValueError, match="nothing was held out"):
        _ = LogisticRegression().path(x, y).C
    with pytest.raises(SupportError, match="NaN"):
        LogisticRegression().path([[np.nan], [1.0]], [0, 1])
    assert issubclass(SeparationWarning, ConvergenceWarning)


# the picture


def test_picture_names_the_strongest_columns_and_marks_the_chosen_strength():
    data = load_wine(as_frame=True)
    path = LogisticRegression().path(data.data, data.target_names[data.target], held_out="auto")
    ax = coefficient_path(path, of="class_0", columns=5)
    size = np.abs(path.coef[path.best, 0] * path.deviation)
    strongest = data.data.columns[np.argsort(-size)[:5]].tolist()
    assert [text.get_text() for text in ax.texts] == strongest
    assert any(np.allclose(line.get_xdata(), path.C) for line in ax.lines)
    assert "leave-one-out" in ax.get_title(loc="right")
    heights = sorted(text.get_position()[1] for text in ax.texts)
    assert np.diff(heights).min() > 0.04


def test_picture_of_the_first_of_two_classes_is_the_second_upside_down():
    x, y = rows(2)
    path = LogisticRegression().path(x, y)
    up, down = (coefficient_path(path, of=c).lines[-2].get_ydata() for c in (1, 0))
    np.testing.assert_allclose(up, -down)


def test_names_are_apart_and_near_to_where_they_belong():
    rng = np.random.default_rng(0)
    for _ in range(20):
        wanted = rng.random(9)
        out = spread(wanted, 0.05)
        assert np.diff(np.sort(out)).min() > 0.05 - 1e-9
        assert (np.argsort(out) == np.argsort(wanted)).all()
