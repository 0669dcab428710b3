"""Posteriors as logistic functions of columns: `as_logistic` of products, of quadratic models and of named classes,
shared variances, and one class against the rest from one tally."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier

import deciban
from deciban import (
    AODE,
    BayesNet,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KDependenceBayes,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    TextClassifier,
    TreeAugmentedNB,
)
from deciban.errors import DataError, NotAdditiveError
from deciban.estimation.linear import Linear
from deciban.families.bernoulli import Bernoulli
from deciban.families.gaussian import Gaussian

from .support.models import MODELS, each, fitted, rows_for

IRIS = load_iris(return_X_y=True)
LINEAR = {"calls": "poisson", "wait": "exponential", "paid": Bernoulli(), "size": Gaussian(shared=True)}


def table(k: int = 3, n: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    cells = {
        "calls": rng.poisson(2.0 + y),
        "wait": rng.exponential(1.0 + y),
        "paid": (rng.random(n) < 0.2 + 0.2 * y).astype(int),
        "sky": rng.choice(["grey", "blue", "red"], n),
        "size": rng.normal(y, 1.0),
    }
    return pd.DataFrame(cells), np.array(["u", "v", "w"])[y]


def with_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    out = frame.astype({"calls": float, "paid": float})
    out.loc[:20, "calls"] = np.nan
    out.loc[10:40, "sky"] = None
    out.loc[50, "sky"] = "green"  # never seen
    out.loc[60:70, ["paid", "size"]] = np.nan
    return out


# products of columns


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "settings", [{}, {"calibrate": True}, {"missing": "informative", "unseen": "reserve"}], ids=str
)
def test_a_product_of_linear_columns_is_a_logistic_function(k, settings):
    X, y = table(k)
    model = MixedNB(families=LINEAR, alpha=1, **settings).fit(X, y)
    view = model.as_logistic()
    levels = ["sky=blue", "sky=grey", "sky=red"]
    assert [name for name in view.columns_ if "missing" not in name and "unseen" not in name] == [
        *("calls", "wait", "paid"),
        *levels,
        "size",
    ]
    assert view.coef_.shape == (1 if k == 2 else k, len(view.columns_))
    for rows in (X, X[X.columns[::-1]], with_gaps(X)):
        np.testing.assert_allclose(view.predict_proba(rows), model.predict_proba(rows), atol=1e-12)
    np.testing.assert_array_equal(view.predict(X), model.predict(X))


def test_the_design_times_the_coefficients_are_the_scores():
    X, y = table()
    view = MixedNB(families=LINEAR, alpha=1).fit(X, y).as_logistic()
    np.testing.assert_allclose(view.design(X) @ view.coef_.T + view.intercept_, view.decision_function(X))
    np.testing.assert_array_equal(view.design(X)[:, view.columns_.index("sky=red")], X["sky"] == "red")


def test_coverage_002_05_poisson_and_exponential_columns():
    X, y = table(2)
    model = MixedNB(families={"calls": "poisson", "wait": "exponential"}).fit(X[["calls", "wait"]], y)
    view = model.as_logistic()
    assert view.columns_ == ["calls", "wait"]
    params = model._fitted_state().params
    np.testing.assert_allclose(view.coef_[0, 0], np.log(params[0].rate[1, 0] / params[0].rate[0, 0]))
    np.testing.assert_allclose(view.coef_[0, 1], params[1].rate[0, 0] - params[1].rate[1, 0])


def test_a_column_with_own_variances_is_named_or_squared():
    X, y = table(2)
    model = MixedNB(families={**LINEAR, "size": "gaussian"}, alpha=1).fit(X, y)
    with pytest.raises(DataError, match=r"(?s)`size` is not.*hint: .*degree=2"):
        model.as_logistic()
    view = model.as_logistic(degree=2)
    assert view.columns_[-2:] == ["size", "size²"]
    np.testing.assert_allclose(view.predict_proba(with_gaps(X)), model.predict_proba(with_gaps(X)), atol=1e-12)
    with pytest.raises(AttributeError, match="levels"):
        view.quadratic_coef_  # noqa: B018


@pytest.mark.parametrize("settings", [{}, {"missing": "average"}, {"average": "subsets"}], ids=str)
def test_other_products_are_refused(settings):
    X, y = table()
    families = "auto" if not settings else LINEAR
    with pytest.raises(DataError, match="hint:"):
        MixedNB(families=families, alpha=1, **settings).fit(X, y).as_logistic(degree=2)


def test_levels_of_two_are_the_column_itself_and_of_more_one_for_each():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.integers(0, 2, 60), rng.integers(0, 3, 60)]), rng.integers(0, 2, 60)
    model = CategoricalNB().fit(X, y)
    view = model.as_logistic()
    assert view.columns_ == ["x0", "x1=0", "x1=1", "x1=2"]
    np.testing.assert_array_equal(view.design(X)[:, 0], X[:, 0])
    np.testing.assert_allclose(view.predict_proba(X), model.predict_proba(X), atol=1e-12)
    unseen = np.array([[1, 7]])
    np.testing.assert_allclose(view.predict_proba(unseen), model.predict_proba(unseen), atol=1e-12)
    with pytest.raises(DataError, match="exactly 0"):
        CategoricalNB(alpha=0).fit([[0, 0], [1, 0], [0, 1]], [0, 1, 1]).as_logistic()
    with pytest.raises(DataError, match=r"design\(X\)"):
        LogisticRegression.from_generative(model)


def test_coverage_001_26_what_an_absent_and_a_present_word_add():
    X = [[1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 0], [1, 0, 1]]
    y = ["spam", "spam", "ham", "ham", "ham"]
    model = BernoulliNB(alpha=1).fit(X, y)
    view, p = model.as_logistic(of="spam"), np.exp(model.feature_log_prob_)
    np.testing.assert_allclose(view.present_[0], np.log(p[1] / p[0]))
    np.testing.assert_allclose(view.absent_[0], np.log((1 - p[1]) / (1 - p[0])))
    np.testing.assert_allclose(view.coef_, view.present_ - view.absent_)
    np.testing.assert_allclose(view.intercept_[0], np.log(2 / 3) + view.absent_.sum())
    with pytest.raises(AttributeError, match="interact"):
        LinearDiscriminantAnalysis().fit(*IRIS).as_logistic().absent_  # noqa: B018


def test_coverage_001_26_the_numbers_of_the_lecture():
    """Chances (1/2, 2/3, 1/3) of spam and (2/3, 1/3, 1/3) of others, two pseudo-documents of weight 1."""
    spam = [[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0]]
    ham = [[1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 0]]
    view = BernoulliNB().fit(spam + ham, ["spam"] * 4 + ["ham"] * 4).as_logistic(of="spam")
    np.testing.assert_allclose(view.absent_, [[0.405465, -0.693147, 0.0]], atol=1e-6)
    np.testing.assert_allclose(view.present_, [[-0.287682, 0.693147, 0.0]], atol=1e-6)
    np.testing.assert_allclose(view.intercept_, [-0.287682], atol=1e-6)
    np.testing.assert_allclose(view.coef_, [[-0.693147, 1.386294, 0.0]], atol=1e-6)


@pytest.mark.parametrize("model", [MultinomialNB(), PoissonNB(), BernoulliNB()], ids=repr)
def test_missing_cells_are_no_evidence_in_the_view_either(model):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 4)).astype(float), rng.integers(0, 3, 60)
    model = model.fit(X, y)
    X[::5, 1] = np.nan
    np.testing.assert_allclose(model.as_logistic().predict_proba(X), model.predict_proba(X), atol=1e-12)


# quadratic models


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(calibrate=True),
        QuadraticDiscriminantAnalysis(diagonal=True),
        RegularizedDiscriminantAnalysis(),
        GaussianNB(),
        GaussianNB(calibrate=True),
    ],
    ids=repr,
)
def test_coverage_000_47_the_quadratic_equation_is_the_posterior(model, two):
    X, y = IRIS
    X, y = (X[y > 0], y[y > 0]) if two else (X, y)
    model = clone(model).fit(X, y)
    view = model.as_logistic(degree=2)
    np.testing.assert_allclose(view.predict_proba(X), model.predict_proba(X), atol=1e-10)
    A, b = view.quadratic_coef_, view.coef_[:, :4]
    np.testing.assert_allclose(A, A.transpose(0, 2, 1))
    scores = np.einsum("ni,kij,nj->nk", X, A, X) + X @ b.T + view.intercept_
    if two:
        np.testing.assert_allclose(scores[:, 0], model.log_odds(X)[:, 1], atol=1e-8)
    np.testing.assert_allclose(scores[:, 0] if two else scores, view.decision_function(X), atol=1e-8)
    with pytest.raises(DataError, match=r"degree=2"):
        model.as_logistic()


def test_degree_is_one_or_two():
    with pytest.raises(DataError, match="degree"):
        GaussianNB().fit(*IRIS).as_logistic(degree=3)
    linear = LinearDiscriminantAnalysis().fit(*IRIS)
    np.testing.assert_array_equal(linear.as_logistic(degree=2).coef_, linear.as_logistic().coef_)
    assert not linear.as_logistic().quadratic_coef_.any()


# the class that coefficients are for


def test_coverage_004_01_coefficients_of_a_named_class():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["-", "-", "+", "+"]
    for model in (LogisticRegression(), LinearDiscriminantAnalysis(), GaussianNB(variances="shared")):
        model = model.fit(X, y)
        view, other = model.as_logistic(of="+"), model.as_logistic()
        assert (view.classes_.tolist(), other.classes_.tolist()) == (["-", "+"], ["+", "-"])
        assert view.coef_[0, 0] > 0
        np.testing.assert_allclose(view.coef_, -other.coef_)
        np.testing.assert_allclose(view.intercept_, -other.intercept_)
        np.testing.assert_allclose(view.predict_proba(X), model.predict_proba(X)[:, ::-1])
        np.testing.assert_allclose(view.decision_function(X), model.log_odds(X)[:, 0], atol=1e-9)
        np.testing.assert_array_equal(view.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="never"):
        model.as_logistic(of="never")
    with pytest.raises(DataError, match="of"):
        LogisticRegression().fit(*IRIS).as_logistic(of=1)


def test_names_of_a_frame_are_those_of_the_view():
    X, y = IRIS
    frame = pd.DataFrame(X, columns=list("abcd"))
    for model in (LogisticRegression(), LinearDiscriminantAnalysis()):
        view = model.fit(frame, y).as_logistic()
        assert view.columns_ == list("abcd")
        assert "\n  c " in repr(view)
        for rows in (X, X.tolist(), frame):
            np.testing.assert_allclose(view.predict_proba(rows), model.predict_proba(frame), atol=1e-10)
        with pytest.raises(ValueError, match="feature names"):
            view.predict_proba(frame[list("dcba")])


# shared variances


def test_coverage_001_45_shared_variances_are_a_linear_posterior():
    X, y = IRIS
    X, y = X[y > 0], y[y > 0]
    model = GaussianNB(variances="shared", var_smoothing=0).fit(X, y)
    within = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in (1, 2)])
    w = (X[y == 2].mean(axis=0) - X[y == 1].mean(axis=0)) / (within**2).mean(axis=0)
    view = model.as_logistic()
    np.testing.assert_allclose(view.coef_[0], w)
    np.testing.assert_allclose(view.coef_[0], [1.984, 2.056, 5.018, 12.472], atol=5e-4)
    np.testing.assert_allclose(view.predict_proba(X), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(model.var_, np.tile((within**2).mean(axis=0), (2, 1)))
    unbiased = GaussianNB(variances="shared", var_smoothing=0, ddof=1).fit(X, y)
    np.testing.assert_allclose(unbiased.var_[0], (within**2).sum(axis=0) / (len(X) - 2))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("settings", [{}, {"ddof": 1}, {"var_smoothing": 0.1}], ids=str)
def test_shared_variances_are_updated_merged_forgotten_and_left_out(settings, gaps):
    X, y = IRIS
    X = X.copy()
    if gaps:
        X[::7, 1] = np.nan
        X[y == 2, 3] = np.nan  # a class without any cell of a column
    model = GaussianNB(variances="shared", **settings)
    whole = clone(model).fit(X, y)
    parts = clone(model).partial_fit(X[::2], y[::2], classes=[0, 1, 2]).partial_fit(X[1::2], y[1::2])
    both = clone(model).fit(X[::2], y[::2]) + clone(model).fit(X[1::2], y[1::2])
    for other in (parts, both):
        np.testing.assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    less = clone(model).fit(X, y).forget(X[:9], y[:9])
    np.testing.assert_allclose(less.predict_proba(X), clone(model).fit(X[9:], y[9:]).predict_proba(X), atol=1e-9)
    w = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    for weights in ({}, {"sample_weight": w}) if not settings.get("var_smoothing") else ({},):
        learned = clone(model).fit(X, y, **weights)
        left = learned.leave_one_out(X, y, **weights)
        for row in (0, 7, 60, 149):
            rest = np.delete(np.arange(len(X)), row)
            some = {name: value[rest] for name, value in weights.items()}
            again = clone(model).fit(X[rest], y[rest], **some)
            np.testing.assert_allclose(left[row], again.predict_log_proba(X[row : row + 1])[0], atol=1e-8)


def test_shared_variances_of_one_row_a_class_and_of_a_lone_row():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [9.0]]), np.array([0, 0, 1, 1, 2])
    model = GaussianNB(variances="shared").fit(X, y)
    left = model.leave_one_out(X, y)
    for row in range(4):
        rest = np.delete(np.arange(5), row)
        again = GaussianNB(variances="shared").fit(X[rest], y[rest])
        np.testing.assert_allclose(left[row], again.predict_log_proba(X[row : row + 1])[0], atol=1e-8)


def test_shared_variances_are_not_integrated_out():
    with pytest.raises(DataError, match=r"variances.*estimate"):
        GaussianNB(variances="shared", estimate="bayes").fit(*IRIS)


def test_shared_variances_are_kept_in_a_file(tmp_path):
    model = GaussianNB(variances="shared").fit(*IRIS)
    deciban.save(model, tmp_path / "m")
    loaded = deciban.load(tmp_path / "m")
    assert loaded.variances == "shared"
    np.testing.assert_array_equal(loaded.predict_proba(IRIS[0]), model.predict_proba(IRIS[0]))


# one class against the rest


@each([model for model in MODELS if "cuts" not in model.get_params()])
def test_one_class_against_the_rest_is_the_fit_on_two_classes(model):
    X, y = rows_for(model)
    try:
        rest = fitted(model, X, y).one_vs_rest()
    except NotAdditiveError:
        pytest.skip("needs all rows at once")
    assert list(rest) == ["a", "b", "c"]
    for label, one in rest.items():
        again = fitted(model, X, y == label)
        np.testing.assert_allclose(one.predict_proba(X), again.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(one.leave_one_out(X, y == label), again.leave_one_out(X, y == label), atol=1e-7)
        assert one.classes_.tolist() == [False, True]


@pytest.mark.parametrize("make", [TreeAugmentedNB, KDependenceBayes, AODE, BayesNet])
def test_networks_against_the_rest_choose_their_structure_by_two_classes(make):
    X, y = rows_for(make())
    for label, one in make(cuts=None, backoff=2.0).fit(X, y).one_vs_rest().items():
        again = make(cuts=None, backoff=2.0).fit(X, y == label)
        np.testing.assert_allclose(one.predict_proba(X), again.predict_proba(X), atol=1e-9)


def test_coverage_001_38_probabilities_are_normalised_as_by_scikit_learn():
    X, y = IRIS
    model = GaussianNB().fit(X, y)
    theirs = OneVsRestClassifier(GaussianNB()).fit(X, y)
    rest = model.one_vs_rest()
    np.testing.assert_allclose(rest.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(rest.predict(X), theirs.predict(X))
    assert (rest.predict(X) == y).mean() == pytest.approx(0.94)
    two = GaussianNB().fit(X[y > 0], y[y > 0])
    np.testing.assert_allclose(two.one_vs_rest().predict_proba(X), two.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("priors", [None, "uniform", [0.2, 0.3, 0.5]], ids=str)
def test_priors_of_one_class_against_the_rest(priors):
    X, y = IRIS
    one = LinearDiscriminantAnalysis(solver="lsqr", priors=priors).fit(X, y).one_vs_rest()[2]
    own = {None: 1 / 3, "uniform": 0.5}.get(priors if isinstance(priors, str | None) else "", 0.5)
    np.testing.assert_allclose(one.priors_, [1 - own, own])
    weighted = MixedNB(families="gaussian", class_weight={2: 2.0}).fit(X, y).one_vs_rest()[2]
    np.testing.assert_allclose(weighted.class_prior_, [0.5, 0.5])


def test_texts_and_tables_have_one_form():
    texts, labels = ["tea", "cake", "chair"], ["drink", "food", "thing"]
    rest = TextClassifier().fit(texts, labels).one_vs_rest()
    assert rest["food"].predict(["cake", "tea"]).tolist() == [True, False]
    assert rest.predict(texts).tolist() == labels
    np.testing.assert_allclose(rest.predict_proba(texts).sum(axis=1), 1.0)
    with pytest.raises(DataError, match="two classes"):
        GaussianNB().fit([[0.0], [1.0]], [0, 0]).one_vs_rest()
    rest = GaussianNB(calibrate=True).fit(*IRIS).one_vs_rest()
    alone = GaussianNB(calibrate=True).fit(IRIS[0], IRIS[1] == 1)
    np.testing.assert_allclose(rest[1].predict_proba(IRIS[0]), alone.predict_proba(IRIS[0]), atol=1e-9)


def test_logistic_regression_from_a_table_whose_columns_are_linear_as_they_are():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    table = pd.DataFrame(
        {
            "wait": rng.exponential(1.0 + (y == "b")),
            "n": rng.poisson(2 + 3 * (y == "b")),
            "t": rng.exponential(2.0, 120),
        }
    )
    model = MixedNB(families={"n": "poisson", "wait": "exponential", "t": "exponential"}).fit(table, y)
    logistic = LogisticRegression.from_generative(model)
    np.testing.assert_allclose(logistic.predict_proba(table), model.predict_proba(table), atol=1e-12)
    assert logistic.feature_names_in_.tolist() == ["wait", "n", "t"]
    mixed = MixedNB(alpha=1).fit(pd.DataFrame({"sky": ["x", "y", "z"] * 40}), y)
    with pytest.raises(DataError, match="takes cells as they are"):
        LogisticRegression.from_generative(mixed)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_log_probabilities_that_are_no_numbers_are_refused(odd):
    with np.errstate(all="ignore"), pytest.raises(deciban.errors.SupportError, match="no numbers"):
        Linear.of(np.array([[odd, -np.inf]]))
