"""Logistic regression and the discriminants: wrong answers and raw errors that users met."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import deciban
from deciban import BernoulliNB, FisherDiscriminant, LinearDiscriminantAnalysis, LogisticRegression
from deciban.errors import DataError

from ..support.data import shared_table


def three_classes():
    rng = np.random.default_rng(0)
    place = np.repeat([0.0, 1, 2], 24)
    return rng.normal(size=(72, 3)) + place[:, None], np.repeat(["a", "b", "c"], 24)


@pytest.mark.parametrize("solver", ["auto", "newton", "newton-cholesky"])
def test_b28_the_maximum_of_the_likelihood_is_reached_at_default_tol(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sm = pytest.importorskip("statsmodels.api")
    rows = shared_table("saheart/saheart.csv")
    y = rows.pop("chd")
    y = (y == y.max()) * 1
    X = rows.assign(famhist=rows.famhist == "Present").astype(float)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=200, tol=1e-14).params
    for settings in ({"C": np.inf}, {"penalty": None}):
        ours = LogisticRegression(solver=solver, **settings).fit(X, y)
        assert ours.intercept_[0] == pytest.approx(theirs.iloc[0], abs=1e-8)
        np.testing.assert_allclose(ours.coef_[0], theirs.iloc[1:], atol=1e-8)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("k", [2, 3])
def test_b28_the_gradient_is_at_rounding(C, k):
    X, y = three_classes()
    X, y = X[y != "abc"[k:]], y[y != "abc"[k:]]
    model = LogisticRegression(C=C).fit(X * [1, 100, 0.01], y)
    at = np.hstack([model.coef_, model.intercept_[:, None]]).ravel()
    objective = model.objective(X * [1, 100, 0.01], y)
    gradient, hessian = objective.slope(at)[1], objective.hessian(at)
    assert gradient @ np.linalg.pinv(hessian) @ gradient < 1e-16


def test_coverage_05_sgd_on_columns_as_they_are():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0][:, :2], y[y > 0]
    model = LogisticRegression(C=np.inf, solver="sgd", max_iter=2000).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.902, 0.405]], atol=0.005)
    with pytest.warns(ConvergenceWarning):  # more passes do not lead away from it
        model = LogisticRegression(C=np.inf, solver="sgd", max_iter=5000, tol=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.902, 0.405]], atol=0.003)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf, solver="sgd").fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.902, 0.405]], atol=0.05)
    with pytest.warns(ConvergenceWarning):  # units of the columns make no difference
        other = LogisticRegression(C=np.inf, solver="sgd").fit(X * [1e4, 1e-4] + [0, 5], y)
    np.testing.assert_allclose(other.coef_ * [1e4, 1e-4], model.coef_, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"C": np.inf}, {"l1_ratio": 1.0}, {"solver": "lbfgs"}], ids=str)
def test_d10_fit_and_fit_on_agree_to_tol(settings):
    """A named exception of the law that `fit` is `fit_on`: solvers stop within `tol`, so compare at a small one."""
    X, y = three_classes()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})
    one, other = (LogisticRegression(tol=1e-10, max_iter=1000, **settings) for _ in range(2))
    np.testing.assert_allclose(one.fit(X, y).coef_, other.fit_on(table).coef_, atol=1e-8)


def test_b31_blas_gets_one_thread_for_small_factors_and_its_threads_back(monkeypatch):
    """A Cholesky factor of 210 columns took a second where BLAS threads waited for ours: C="auto" of six classes."""
    from threadpoolctl import threadpool_info, threadpool_limits

    from deciban.solvers import newton

    def counts():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    seen, factor = [], newton._potrf
    monkeypatch.setattr(newton, "_potrf", lambda *args, **more: (seen.append(counts()), factor(*args, **more))[1])
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 120)
    with threadpool_limits(2, user_api="blas"):
        LogisticRegression(solver="newton").fit(rng.normal(size=(120, 20)) + y[:, None], y)
        assert seen
        assert all(here == {1} for here in seen)
        assert counts() == {2}


SEVEN = np.array([(0, 0), (1, 0), (0, 1), (3, 3), (4, 3), (3, 4), (4, 4)], dtype=float), [0] * 3 + [1] * 4


@pytest.mark.parametrize("settings", [{}, {"multi": "eigen"}, {"priors": [0.9, 0.1]}], ids=str)
def test_coverage_03_fisher_scores_are_its_coefficients(settings):
    X, y = SEVEN
    model = FisherDiscriminant(**settings).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    np.testing.assert_allclose(model.coef_, model.as_logistic().coef_)
    np.testing.assert_allclose(model.intercept_, model.as_logistic().intercept_)
    assert (model.coef_ * LinearDiscriminantAnalysis().fit(X, y).coef_ > 0).all()
    odds = model.log_odds(X)[:, 1]
    np.testing.assert_allclose(model.decision_function(X), odds, rtol=1e-9)


def test_coverage_03_fisher_of_three_classes_points_to_the_later_class():
    X, y = three_classes()
    model = FisherDiscriminant().fit(X, y)
    of_two = FisherDiscriminant().fit(X[y != "b"], y[y != "b"])
    assert model.coef_.shape == (3, 3)
    np.testing.assert_allclose(model.coef_[1], of_two.coef_[0])  # c : a
    np.testing.assert_allclose(model.intercept_[1], of_two.intercept_[0])


@pytest.mark.parametrize("binarize", [0.0, 1.0, 2.5])
def test_coverage_04_bernoulli_as_logistic_binarizes_as_the_model_does(binarize):
    X, y = np.array([[0, 3], [0, 2], [3, 0], [2, 0]]), [1, 1, 0, 0]
    model = BernoulliNB(binarize=binarize).fit(X, y)
    view = model.as_logistic()
    for rows in (X, X.tolist(), sparse.csr_array(X)):
        np.testing.assert_allclose(view.predict_proba(rows), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(view.predict(X), model.predict(X))


def test_coverage_06_separation_needs_no_fit():
    X, y = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]], ["n", "n", "n", "y", "y"]
    model = LogisticRegression()
    found = model.separation(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert (found.kind, found.columns) == ("complete", ("a", "b"))
    assert not hasattr(model, "coef_")
    assert LogisticRegression().separation([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).kind == "none"


def test_coverage_08_the_first_line_of_an_explanation_says_what_it_is():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    model = LogisticRegression(C=np.inf).fit(X, y)
    why = model.explain(X[:2])
    assert why.start == "mean row"
    assert "mean row" in str(why)
    assert "prior" not in str(why)
    assert why.to_frame().column[0] == "mean row"
    at_mean = 10 * np.log10(np.exp(X.mean(axis=0) @ model.coef_[0] + model.intercept_[0]))
    np.testing.assert_allclose(why.of(2).prior, at_mean)
    assert abs(at_mean) < 10  # the classes have 50 rows each; the intercept alone is -185 decibans
    np.testing.assert_allclose(why.prior + why.decibans.sum(axis=1), why.total)
    from_zero = model.explain(X[:2], of=2, baseline=0)
    assert from_zero.start == "intercept"
    np.testing.assert_allclose(from_zero.prior, 10 * np.log10(np.exp(1)) * model.intercept_[0])
    assert model.explain(X[:2], baseline=X[0]).start == "baseline"
    assert LogisticRegression().fit(sparse.csr_array(X), y).explain(X[:2]).start == "intercept"
    assert BernoulliNB().fit(X > 3, y).explain(X[:2] > 3).start == "prior"


def test_coverage_08_the_mean_row_is_that_of_all_rows_however_they_came(tmp_path):
    X, y = three_classes()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})
    frame = table.drop_columns(["label"])
    once = LogisticRegression(class_weight="balanced").fit(frame, y)
    on_data = LogisticRegression(class_weight="balanced").fit_on([table.slice(0, 30), table.slice(30)])
    np.testing.assert_allclose(on_data.explain(frame).prior, once.explain(frame).prior, atol=1e-8)
    deciban.save(once, tmp_path / "m.deciban")
    np.testing.assert_array_equal(deciban.load(tmp_path / "m.deciban").explain(frame).prior, once.explain(frame).prior)
    pieces = LogisticRegression().partial_fit(X[:30], y[:30], classes=["a", "b", "c"]).partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(pieces._means, X.mean(axis=0))


def test_f16_the_command_line_counts_from_the_mean_row(tmp_path, capsys):
    from deciban.cli import main

    X, y = load_iris(return_X_y=True)
    rows = pd.DataFrame(X, columns=["a", "b", "c", "d"]).round(1)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    deciban.save(LogisticRegression().fit(rows, y), tmp_path / "m.deciban")
    with pytest.raises(SystemExit):
        main(["explain", str(tmp_path / "m.deciban"), str(tmp_path / "rows.csv")])
    told = capsys.readouterr().out
    assert "mean row" in told
    assert "prior" not in told


def test_coverage_10_parameters_may_be_a_list():
    objective = LogisticRegression(C=np.inf).objective([[0.0], [1.0], [2.0]], [0, 1, 1])
    value, gradient = objective.slope([4.0, 2.0])
    again = objective.slope(np.array([4.0, 2.0]))
    assert value == again[0]
    np.testing.assert_array_equal(gradient, again[1])
    assert objective.hessian([4, 2]).shape == (2, 2)
    with pytest.raises(DataError, match="hint: 1 coefficients and an intercept"):
        objective.slope([4.0])


def test_coverage_10_plots_are_an_attribute_of_the_package():
    code = "import deciban; assert 'plots' in dir(deciban); assert callable(deciban.plots.sigmoid)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_d3_priors_of_lda_from_data_of_any_size(solver):
    X, y = three_classes()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y})
    frame = table.drop_columns(["label"])
    model = LinearDiscriminantAnalysis(solver=solver, priors=[0.2, 0.3, 0.5])
    same = model.fit(frame, y).predict_proba(frame)
    np.testing.assert_allclose(model.fit_on(table).predict_proba(frame), same, rtol=1e-12)
    in_parts = model.fit_on(iter([table.slice(0, 20), table.slice(20, 30), table.slice(50)]))
    np.testing.assert_allclose(in_parts.predict_proba(frame), same, rtol=1e-9)


def test_d7_attributes_that_need_rows_are_absent_not_errors():
    X, y = three_classes()
    model = LogisticRegression().fit_on(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": y}))
    assert not hasattr(model, "evidence_")
    assert "coef_" in dir(model)
    with pytest.raises(AttributeError, match="the training rows are not available"):
        _ = model.evidence_


def test_f11_the_summary_prints_the_likelihood_ratio_test_and_intervals_of_odds_ratios():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.random(200) < 1 / (1 + np.exp(-X @ [1.0, 0.5]))
    found = LogisticRegression(C=np.inf).fit(X, y).summary()
    assert f"likelihood ratio {found.likelihood_ratio:.6g} against no columns, 2 degrees of freedom, p <0.001" in str(
        found
    )
    np.testing.assert_allclose(found.odds_ratio_low, np.exp(found.low))
    np.testing.assert_allclose(found.odds_ratio_high, np.exp(found.high))
    line = next(line for line in str(found).splitlines() if line.startswith("  x0"))
    assert line.split()[-2:] == [f"{np.exp(found.low[0, 1]):.4f}", f"{np.exp(found.high[0, 1]):.4f}"]
    assert {"odds_ratio_low", "odds_ratio_high"} <= set(found.to_frame().columns)
    assert "approximate" not in str(found)
    assert "approximate, as the estimate is penalised" in str(LogisticRegression().fit(X, y).summary())
    assert "likelihood ratio" not in str(LogisticRegression(l1_ratio=1.0).fit(X, y).summary())


def test_f11_an_unknown_penalty_is_answered_with_the_names():
    with pytest.raises(
        ValueError, match=r"(?s)'penalty' parameter.*'firth'.*hint: 'l2'.*'jeffreys' \(Firth's penalty\)"
    ):
        LogisticRegression(penalty="firth").fit([[0.0], [1.0]], [0, 1])


def test_task_46_penalties_by_name_need_no_other_setting():
    """pytest takes warnings for errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = rng.random(60) < 1 / (1 + np.exp(-X[:, 0]))
    same = {
        ("l1", 0.1): {"l1_ratio": 1.0, "C": 0.1},
        ("l2", 0.1): {"C": 0.1},
        (None, 1.0): {"C": np.inf},
    }
    for (penalty, C), settings in same.items():
        named = LogisticRegression(penalty, C=C).fit(X, y)
        np.testing.assert_array_equal(named.coef_, LogisticRegression(**settings).fit(X, y).coef_)
    with pytest.warns(UserWarning, match="Inconsistent values: penalty=l2 with l1_ratio=1"):
        LogisticRegression("l2", l1_ratio=1.0).fit(X, y)


def test_task_58_effective_parameters_say_what_they_are():
    X, y = three_classes()
    assert " effective parameters (8 less what the penalty shrinks away)" in str(
        LogisticRegression().fit(X, y).summary()
    )
    assert " 8 parameters," in str(LogisticRegression(C=np.inf).fit(X, y).summary())


@pytest.mark.parametrize("name", ["MixedNB", "BernoulliNB", "MultinomialNB", "CategoricalNB"])
def test_b22_dir_and_hasattr_work_without_smoothing(name):
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 2]])
    model = getattr(deciban, name)(alpha=0).fit(
        X if name != "MixedNB" else pd.DataFrame({"a": list("xyxy")}), list("pqpq")
    )
    assert "classes_" in dir(model)
    assert not hasattr(model, "evidence_")
