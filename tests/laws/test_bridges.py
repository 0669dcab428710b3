"""A generative model whose posterior is linear is a logistic regression: the same answers, and a start for a fit."""

import numpy as np
import pytest

from deciban import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
)
from deciban.errors import DataError
from deciban.plots.nomograms import scales_of

from ..support.models import every_model, fitted, named, rows_for
from .test_posteriors import is_linear


@every_model
@pytest.mark.parametrize("k", [2, 3])
def test_logistic_regression_from_a_generative_model_gives_its_answers_or_is_refused(model, k):
    x, y = rows_for(model, k=k)
    linear = is_linear(model, k) and (getattr(model, "binarize", 0.0) or 0.0) < 1.0  # cells are taken as they are
    if model in named("BernoulliNB"):
        x = np.minimum(x, 1)
    model = fitted(model, x, y)
    if not linear:
        with pytest.raises(DataError, match="hint:"):
            LogisticRegression.from_generative(model)
        return
    other = LogisticRegression.from_generative(model)
    priors = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    for given in (None, priors):
        np.testing.assert_allclose(
            other.predict_proba(x, priors=given), model.predict_proba(x, priors=given), rtol=1e-6, atol=1e-9
        )
    pair = {"against": model.classes_[0]}
    np.testing.assert_allclose(other.decibans(x, **pair), model.decibans(x, **pair), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.adapt_priors(x).priors, model.adapt_priors(x).priors, atol=1e-4)
    np.testing.assert_array_equal(other.classes_, model.classes_)
    assert other.n_features_in_ == x.shape[1]
    assert len(scales_of(other).scales) == x.shape[1]


@pytest.mark.parametrize("k", [2, 3])
def test_fit_goes_on_from_the_generative_solution_and_ends_where_any_start_ends(k):
    x, y = rows_for(LinearDiscriminantAnalysis(), k=k)
    start = LinearDiscriminantAnalysis().fit(x, y)
    for C in (1.0, 0.1):
        warm = LogisticRegression.from_generative(start, warm_start=True, C=C, tol=1e-10).fit(x, y)
        cold = LogisticRegression(C=C, tol=1e-10).fit(x, y)
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-6)
        np.testing.assert_allclose(warm.intercept_ - warm.intercept_.mean() * (k > 2), cold.intercept_, atol=1e-6)
    once = LogisticRegression.from_generative(start, warm_start=True, max_iter=0, solver="lbfgs")
    with pytest.warns(UserWarning, match="max_iter"):
        once.fit(x, y)
    np.testing.assert_allclose(once.predict_proba(x), start.predict_proba(x), rtol=1e-6, atol=1e-9)


def test_questions_about_rows_need_rows():
    x, y = rows_for(LinearDiscriminantAnalysis(), k=2)
    model = LogisticRegression.from_generative(LinearDiscriminantAnalysis().fit(x, y))
    with pytest.raises(DataError, match="training rows are not available"):
        model.summary()
    assert model.summary(x, y).coef.shape == (1, x.shape[1] + 1)


def test_what_has_no_finite_coefficients_is_refused_with_the_cure():
    x, y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), [0, 0, 1, 1]
    for bad, words in (
        (GaussianNB().fit(x, y), "not linear"),
        (CategoricalNB().fit([[0], [1], [2], [2]], y), "`x0=0`, `x0=1`"),
        (BernoulliNB(alpha=0, force_alpha=True).fit(x, y), "exactly 0"),
        (MultinomialNB(class_prior=[0.0, 1.0]).fit(x, y), "impossible"),
        (MultinomialNB().fit(x[:2], y[:2]), "one class"),
        (LogisticRegression().fit(x, y), "no generative classifier"),
        (None, "no generative classifier"),
    ):
        with pytest.raises(DataError, match=f"(?s){words}.*hint: "):
            LogisticRegression.from_generative(bad)
    with pytest.raises(ValueError, match="not fitted"):
        LogisticRegression.from_generative(MultinomialNB())


def test_column_names_and_ranges_come_along():
    pd = pytest.importorskip("pandas")
    x, y = rows_for(LinearDiscriminantAnalysis(), k=2)
    frame = pd.DataFrame(x, columns=[f"c{j}" for j in range(x.shape[1])])
    start = LinearDiscriminantAnalysis().fit(frame, y)
    model = LogisticRegression.from_generative(start)
    assert model.predict(frame).shape == (len(frame),)
    for scale, other in zip(scales_of(model).scales, scales_of(start).scales, strict=True):
        assert scale.name == other.name
        np.testing.assert_allclose(scale.values[[0, -1]], other.values[[0, -1]])
