"""Models of given parameters: values worked by hand, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import deciban
from deciban import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
)
from deciban.errors import DataError, ModelFileError

from .support.cli import output


def test_bernoulli_by_hand():
    model = BernoulliNB.from_parameters(feature_prob=[[0.3]])
    np.testing.assert_allclose(model.class_log_likelihood([[1], [0]])[:, 0], np.log([0.3, 0.7]))
    assert model.predict([[1]]).tolist() == [0]
    mails = BernoulliNB.from_parameters(classes=["spam", "ham"], feature_prob=[[0.40, 0.21], [0.12, 0.13]])
    ratio = mails.likelihood_ratio([[0, 0], [0, 1], [1, 0], [1, 1]], "spam", "ham")
    np.testing.assert_allclose(ratio, [0.619, 1.101, 3.027, 5.385], atol=5e-4)


def test_normal_density_of_the_lecture():
    model = GaussianNB.from_parameters(theta=[[73]], var=[[6.2**2]])
    np.testing.assert_allclose(np.exp(model.class_log_likelihood([[66.0]])), [[0.034019]], atol=1e-6)


def test_densities_of_scipy():
    rng = np.random.default_rng(0)
    x, root = rng.normal(size=(5, 2)), rng.normal(size=(2, 2, 2))
    mean, cov = rng.normal(size=(2, 2)), root @ root.transpose(0, 2, 1) + np.eye(2)
    each = [stats.multivariate_normal(mean[c], cov[c]).logpdf(x) for c in range(2)]
    quadratic = QuadraticDiscriminantAnalysis.from_parameters(mean, cov)
    np.testing.assert_allclose(quadratic.class_log_likelihood(x), np.transpose(each))
    shared = [stats.multivariate_normal(mean[c], cov[0]).logpdf(x) for c in range(2)]
    linear = LinearDiscriminantAnalysis.from_parameters(mean, cov[0])
    np.testing.assert_allclose(linear.class_log_likelihood(x), np.transpose(shared))
    counts = rng.poisson(2, size=(5, 2))
    poisson = PoissonNB.from_parameters([[2.0, 3.0], [1.0, 0.5]])
    by_hand = [stats.poisson(rate).logpmf(counts).sum(axis=1) for rate in ([2.0, 3.0], [1.0, 0.5])]
    np.testing.assert_allclose(poisson.class_log_likelihood(counts), np.transpose(by_hand))


def test_sampled_rows_have_the_parameters():
    model = LinearDiscriminantAnalysis.from_parameters(
        [[0.0, 1.0], [2.0, -1.0]], [[2.0, 0.5], [0.5, 1.0]], class_prior=[0.25, 0.75], classes=["n", "y"]
    )
    X, y = model.sample(20_000, random_state=0)
    assert abs((y == "y").mean() - 0.75) < 0.01
    np.testing.assert_allclose(X[y == "y"].mean(axis=0), [2.0, -1.0], atol=0.04)
    np.testing.assert_allclose(np.cov(X[y == "y"].T), [[2.0, 0.5], [0.5, 1.0]], atol=0.05)


def test_lists_and_frames_are_taken_and_copied():
    frame = pd.DataFrame([[0.0, 1.0], [2.0, 3.0]], columns=["size", "price"])
    var = np.ones((2, 2))
    model = GaussianNB.from_parameters(frame, var, feature_names=["size", "price"])
    var[:] = 100.0
    assert model.var_.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert model.feature_names_in_.tolist() == ["size", "price"]
    assert model.predict(frame).tolist() == [0, 1]


def test_class_prior_by_label_and_other_priors():
    model = BernoulliNB.from_parameters([[0.5], [0.5]], classes=["b", "a"], class_prior={"a": 0.9, "b": 0.1})
    np.testing.assert_allclose(model.class_prior_, [0.9, 0.1])
    np.testing.assert_allclose(model.predict_proba([[1]]), [[0.9, 0.1]])
    np.testing.assert_allclose(model.predict_proba([[1]], priors="uniform"), [[0.5, 0.5]])
    never = BernoulliNB.from_parameters([[0.5], [0.5]], class_prior=[1, 0])
    assert never.predict_proba([[1]]).tolist() == [[1.0, 0.0]]
    given = GaussianNB.from_parameters([[0.0], [1.0]], [[1.0], [1.0]], priors=[0.2, 0.8])
    np.testing.assert_allclose(given.class_prior_, [0.2, 0.8])


def test_probabilities_of_exactly_0():
    model = CategoricalNB.from_parameters([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]])
    assert model.predict_proba([[2]]).tolist() == [[0.0, 1.0]]
    assert model.class_log_likelihood([[2]])[0, 0] == -np.inf
    assert model.n_categories_.tolist() == [3]
    words = MultinomialNB.from_parameters([[1.0, 0.0], [0.5, 0.5]])
    assert words.predict([[0, 1], [3, 0]]).tolist() == [1, 0]


def test_logistic_regression_of_the_lecture():
    model = LogisticRegression.from_parameters(coef=[[4.0]], intercept=[2.0])
    np.testing.assert_allclose(model.predict_proba([[0.0], [-0.5]])[:, 1], [0.880797, 0.5], atol=1e-6)
    x = np.tile([[0.0], [-0.5]], (20_000, 1))
    drawn = model.sample(x, random_state=0).reshape(-1, 2).mean(axis=0)
    np.testing.assert_allclose(drawn, [0.880797, 0.5], atol=0.01)
    turned = LogisticRegression.from_parameters([[4.0]], [2.0], classes=["yes", "no"])  # the score is that of "no"
    assert turned.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(turned.predict_proba([[0.0]])[0, 0], 0.880797, atol=1e-6)
    three = LogisticRegression.from_parameters([[1.0], [0.0], [-1.0]], classes=["c", "b", "a"])
    assert three.predict([[2.0], [-2.0]]).tolist() == ["c", "a"]


def test_coefficients_are_a_start():
    x, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    model = LogisticRegression.from_parameters([[4.0]], [2.0], warm_start=True, C=np.inf)
    other = LogisticRegression(C=np.inf).fit(x, y)
    np.testing.assert_allclose(model.fit(x, y).coef_, other.coef_, rtol=1e-3)
    assert model.class_count_.tolist() == [2.0, 2.0]


def test_file_without_rows():
    model = BernoulliNB.from_parameters([[0.5], [0.1]])
    assert deciban.model_info(deciban.dumps(model))["rows"] is None


def test_files_with_other_parameters_are_refused():
    for wrong in (
        {"theta": np.zeros((1, 2)), "var": np.ones((1, 1))},
        {"theta": np.zeros((1, 1)), "var": np.zeros((1, 1))},
    ):
        model = GaussianNB.from_parameters([[0.0]], [[1.0]])
        model._state = model._state.with_known(parameters=wrong)
        with pytest.raises(ModelFileError, match=r"theta|var"):
            deciban.dumps(model)


def test_commands_take_such_models(tmp_path, capfd):
    model, rows = tmp_path / "m.deciban", tmp_path / "rows.csv"
    deciban.save(BernoulliNB.from_parameters([[0.4], [0.1]], classes=["spam", "ham"], feature_names=["a"]), model)
    rows.write_text("a\n1\n0\n")
    assert "not learned from rows" in output(f"show {model}", capfd)[0]
    assert "0.8" in output(f"predict {model} {rows}", capfd)[0]
    assert "spam" in output(f"explain {model} {rows}", capfd)[0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GaussianNB.from_parameters([[1.0, 2.0]], [[1.0]]), ["`var`", "(1, 1)", "(1, 2)", "hint"]),
        (
            lambda: GaussianNB.from_parameters([[1.0], [2.0]], [[1.0], [-1.0]], classes=["a", "b"]),
            ["`var`", "'b'", "x0"],
        ),
        (lambda: GaussianNB.from_parameters([[np.nan]], [[1.0]]), ["`theta`", "nan", "finite"]),
        (lambda: GaussianNB.from_parameters([["many"]], [[1.0]]), ["`theta`", "numbers"]),
        (
            lambda: BernoulliNB.from_parameters([[0.2, 1.3]], feature_names=["win", "money"]),
            ["feature_prob", "`money`"],
        ),
        (lambda: MultinomialNB.from_parameters([[0.2, 0.7]]), ["`feature_prob`", "0.9", "class 0", "sum"]),
        (lambda: CategoricalNB.from_parameters([[[0.5, 0.5]], [[0.5, 0.4]]]), ["column `x1`", "sums to 0.9"]),
        (lambda: CategoricalNB.from_parameters([[0.5, 0.5]]), ["`feature_prob`", "table"]),
        (lambda: PoissonNB.from_parameters([[-1.0]]), ["`rate`", "≥ 0"]),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], classes=["a", "b"]), ["`theta`", "2 classes"]),
        (lambda: GaussianNB.from_parameters([[1.0], [2.0]], [[1.0], [1.0]], classes=["a", "a"]), ["'a'", "twice"]),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], class_prior=[0.5]), ["`class_prior`", "sums to 0.5"]),
        (
            lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], class_prior=[1.0], priors=[1.0]),
            ["`class_prior`", "`priors`"],
        ),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], feature_names=["a", "b"]), ["2 columns"]),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], calibrate=True), ["calibrate=True", "rows"]),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], var_smoothing="auto"), ["var_smoothing", "rows"]),
        (lambda: GaussianNB.from_parameters([[1.0]], [[1.0]], estimate="bayes"), ["averaged out", "estimate"]),
        (
            lambda: LinearDiscriminantAnalysis.from_parameters([[0.0, 0.0]], [[1, 0.5], [0.1, 1]]),
            ["not symmetric", "x1"],
        ),
        (lambda: LinearDiscriminantAnalysis.from_parameters([[0.0, 0.0]], [[1, 2], [2, 1]]), ["positive definite"]),
        (
            lambda: QuadraticDiscriminantAnalysis.from_parameters(
                [[0.0], [1.0]], [[[1.0]], [[0.0]]], classes=["low", "high"]
            ),
            ["'high'", "variance 0", "x0"],
        ),
        (lambda: LogisticRegression.from_parameters([[1.0, np.inf]]), ["`coef`", "x1"]),
        (lambda: LogisticRegression.from_parameters([[1.0]], [1.0, 2.0]), ["`intercept`", "(2,)"]),
        (lambda: MixedNB.from_parameters({}), ["mapping"]),
        (lambda: MixedNB.from_parameters({"a": {"theta": [0.0], "var": [0.0]}}), ["`var`", "column `a`"]),
        (lambda: MixedNB.from_parameters({"a": {"rate": [1.0]}}, average="subsets"), ["`average`", "rows"]),
    ],
)
def test_errors_say_where(make, words):
    with pytest.raises(DataError) as error:
        make()
    for word in [*words, "hint: "]:
        assert word in str(error.value)


def test_unknown_settings_are_named():
    with pytest.raises(TypeError, match="var_smoothing"):
        GaussianNB.from_parameters([[1.0]], [[1.0]], var_smooth=0)
