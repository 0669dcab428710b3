"""Logistic regression on input that is hard or wrong: a clear message, or a defined answer."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from deciban import LogisticRegression
from deciban.errors import DataError, SingularError, SupportError
from deciban.logistic.separation import SeparationWarning

SMOOTH = ["auto", "newton", "lbfgs", "newton-cg"]
FORMS = [np.asarray, sparse.csr_array]
each_form = pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
each_solver = pytest.mark.parametrize("solver", SMOOTH)


def rows(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.linspace(1, -1, d) + rng.logistic(size=n) > 0).astype(int)


def frame():
    X, y = rows()
    return pd.DataFrame(X, columns=["age", "dose", "weight"]), y


# data without an answer, or with many


@each_solver
@each_form
def test_separated_classes_are_said_to_be_and_the_cures_have_finite_answers(solver, form):
    X, y = form(np.arange(10.0)[:, None]), np.arange(10) // 5
    with pytest.warns(
        SeparationWarning, match=r"(?s)column `x0` alone separates.*hint: penalty=\"jeffreys\".*finite C"
    ):
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_array_equal(model.predict(X), y)
    for cured in (LogisticRegression("jeffreys"), LogisticRegression(solver=solver)):
        assert 0.1 < cured.fit(X, y).coef_[0, 0] < 10


@each_solver
@each_form
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_constant_column_changes_no_probability(solver, form, C):
    X, y = rows()
    wider = form(np.column_stack([X, np.full(len(X), 5.0)]))
    settings = {"C": C, "solver": solver, "tol": 1e-6, "max_iter": 1000}
    with_it, without = LogisticRegression(**settings).fit(wider, y), LogisticRegression(**settings).fit(form(X), y)
    np.testing.assert_allclose(with_it.predict_proba(wider), without.predict_proba(form(X)), atol=1e-4)


@each_solver
@each_form
def test_doubled_columns_share_their_coefficient(solver, form):
    X, y = rows()
    twice = form(np.column_stack([X, X[:, 0]]))
    for C in (1.0, np.inf):
        model = LogisticRegression(C=C, solver=solver, tol=1e-9, max_iter=1000).fit(twice, y)
        assert model.coef_[0, 0] == pytest.approx(model.coef_[0, 3], abs=1e-5)
    once = LogisticRegression(C=np.inf, tol=1e-9).fit(X, y)
    assert model.coef_[0, 0] + model.coef_[0, 3] == pytest.approx(once.coef_[0, 0], abs=1e-4)


@each_solver
@each_form
def test_more_columns_than_rows_without_penalty_are_separated(solver, form):
    X, _ = rows(8, 12)
    with pytest.warns(SeparationWarning, match="separate"):
        model = LogisticRegression(C=np.inf, solver=solver).fit(form(X), np.arange(8) % 2)
    assert np.isfinite(model.predict_proba(form(X))).all()


def test_firth_names_columns_that_cannot_be_told_apart():
    X, y = rows()
    for bad, words in (
        (np.column_stack([X, np.full(len(X), 5.0)]), r"\['x3'\]"),
        (np.column_stack([X, X[:, 0]]), r"\['x0', 'x3'\]"),
        (rows(8, 12)[0], "8 rows"),
    ):
        with pytest.raises(SingularError, match=f"(?s){words}.*hint: leave some of them out, or use an L2 penalty"):
            LogisticRegression("jeffreys").fit(bad, y[: len(bad)])


# labels, weights and settings


def test_one_class_is_nothing_to_learn():
    X, _ = rows()
    with pytest.raises(DataError, match="'a'"):
        LogisticRegression().fit(X, ["a"] * len(X))


def test_weights_that_leave_less_than_two_classes_are_refused():
    X, y = rows()
    with pytest.raises(DataError, match="sample_weight"):
        LogisticRegression().fit(X, y, sample_weight=np.zeros(len(X)))
    with pytest.raises(DataError, match=r"(?s)only class 1 has rows of positive weight.*hint"):
        LogisticRegression().fit(X, y, sample_weight=y)
    with pytest.raises(DataError, match=r"(?s)only class 0 has rows of positive weight.*hint"):
        LogisticRegression(class_weight={0: 1, 1: 0}).fit(X, y)


def test_weights_that_are_no_weights_are_refused():
    X, y = rows()
    for bad, words in (
        (np.where(np.arange(60) == 4, -1.0, 1.0), "(?s)-1 in row 4.*hint"),
        (np.full(60, np.nan), "contains NaN"),
        (np.ones(59), r"sample_weight.shape == \(59,\)"),
    ):
        with pytest.raises(ValueError, match=words):
            LogisticRegression().fit(X, y, sample_weight=bad)
    for share in (-2, np.nan, np.inf):
        with pytest.raises(DataError, match=r"(?s)class_weight.*hint"):
            LogisticRegression(class_weight={0: share}).fit(X, y)


@pytest.mark.parametrize("C", [-1, 0, np.nan, "much", None])
def test_strength_of_the_penalty_is_a_positive_number(C):
    with pytest.raises(ValueError, match="The 'C' parameter of LogisticRegression must be"):
        LogisticRegression(C=C).fit(*rows())


def test_labels_that_are_no_labels_are_refused():
    X, y = rows()
    for bad, words in (
        (y + 0.5 * X[:, 0], "Unknown label type: continuous"),
        (np.where(y == 1, np.nan, 0.0), "y contains NaN"),
        (y[:-1], "inconsistent numbers of samples"),
        (None, "requires y"),
    ):
        with pytest.raises(ValueError, match=words):
            LogisticRegression().fit(X, bad)


# cells


@each_form
@pytest.mark.parametrize("settings", [{}, {"penalty": "jeffreys"}, {"l1_ratio": 1.0}, {"C": np.inf}], ids=str)
def test_missing_cell_is_found_and_who_takes_it_is_named(form, settings):
    X, y = rows()
    X[7, 1] = np.nan
    with pytest.raises(SupportError, match="row 7, column 1"):
        LogisticRegression(**settings).fit(form(X), y)
    with pytest.raises(SupportError, match="row 7, column 1"):
        LogisticRegression().partial_fit(form(X), y, classes=[0, 1])


def test_cells_of_a_frame_are_found_by_the_name_of_their_column():
    X, y = frame()
    good = LogisticRegression().fit(X, y)
    for cell, words in (
        (np.nan, "(?s)NaN .first in row 5, column `dose`.*hint: MixedNB"),
        (np.inf, "(?s)infinity .first in row 5, column `dose`.*hint: leave the row out"),
        (-np.inf, "(?s)infinity .first in row 5, column `dose`"),
    ):
        bad = X.copy()
        bad.iloc[5, 1] = cell
        for ask in (good.predict, good.predict_proba, good.log_odds, good.explain, good.decide):
            with pytest.raises(SupportError, match=words):
                ask(bad)
        if np.isinf(cell):
            with pytest.raises(SupportError, match=words):
                LogisticRegression().fit(bad, y)


@pytest.mark.parametrize("make", [list, pd.Categorical, lambda texts: pd.array(texts, dtype="string")])
def test_text_is_found_by_the_name_of_its_column(make):
    X, y = frame()
    texts = make(["low", "high"] * 30)
    words = "(?s)column `dose` holds (text|categories), 'low' in row 0.*hint: MixedNB takes"
    with pytest.raises(DataError, match=words):
        LogisticRegression().fit(X, y).predict(X.assign(dose=texts))


def test_text_in_an_arrow_table_is_found_by_the_name_of_its_column():
    X, y = frame()
    table = pa.Table.from_pandas(X.assign(dose=["low", "high"] * 30))
    with pytest.raises(DataError, match="`dose`"):
        LogisticRegression().fit(X, y).predict(table)


def test_objects_are_numbers_where_all_of_them_are_and_else_are_named():
    X, y = rows()
    plain = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(LogisticRegression().fit(X.astype(object), y).coef_, plain.coef_)
    mixed = X.astype(object)
    mixed[3, 2] = "n/a"
    with pytest.raises(DataError, match=r"column 2 .*'n/a'"):
        LogisticRegression().fit(mixed, y)
    mixed[3, 2] = None
    with pytest.raises(SupportError, match="row 3, column 2"):
        LogisticRegression().fit(mixed, y)
    with pytest.raises(ValueError, match="not compatible with arrays of bytes/strings"):
        LogisticRegression().fit(X.astype(str), y)


@each_solver
def test_magnitudes_whose_squares_overflow_are_refused(solver):
    X, y = rows()
    with pytest.raises(SupportError, match=r"(?s)magnitudes up to.*hint: divide the columns"):
        LogisticRegression(solver=solver).fit(X * 1e200, y)


def test_other_columns_than_those_of_the_fit_are_refused_in_the_words_of_scikit_learn():
    X, y = frame()
    model = LogisticRegression().fit(X, y)
    for ask in (model.predict, model.predict_proba, model.decision_function, model.explain, model.decibans):
        with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
            ask(X[["weight", "dose", "age"]])
        with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- mass"):
            ask(X.rename(columns={"weight": "mass"}))
    plain = LogisticRegression().fit(X.to_numpy(), y)
    for ask in (plain.predict, plain.predict_proba, plain.decision_function, plain.explain, plain.decibans):
        with pytest.raises(ValueError, match="X has 2 features, but LogisticRegression is expecting 3 features"):
            ask(X.to_numpy()[:, :2])


def test_nothing_is_asked_of_a_model_that_was_not_fitted():
    X, _ = rows()
    model = LogisticRegression()
    for ask in (model.predict, model.explain, model.decibans, model.decide, model.adapt_priors):
        with pytest.raises(ValueError, match="not fitted yet"):
            ask(X)


# scikit-learn's checks, with settings for which some of its data has no answer

NO_ANSWER = "30 columns of 27 rows: separated, so no minimum; and Firth's information is singular"


@pytest.mark.parametrize("settings", [{"C": np.inf}, {"penalty": "jeffreys"}], ids=str)
def test_checks_of_scikit_learn_pass_but_for_data_without_an_answer(settings):
    names = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            LogisticRegression(**settings),
            expected_failed_checks=dict.fromkeys(names, NO_ANSWER),
            on_skip=None,
            on_fail=None,
        )
    failed = [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"]
    assert not failed
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(names)


@each_form
@pytest.mark.parametrize("settings", [{"C": np.inf}, {"penalty": "jeffreys"}], ids=str)
def test_weights_are_repetitions_where_there_is_an_answer(form, settings):
    X, y = rows()
    w = np.arange(60) % 4
    weighed = LogisticRegression(**settings).fit(form(X), y, sample_weight=w)
    repeated = LogisticRegression(**settings).fit(form(np.repeat(X, w, axis=0)), np.repeat(y, w))
    np.testing.assert_allclose(weighed.predict_proba(form(X)), repeated.predict_proba(form(X)), rtol=1e-7, atol=1e-9)
