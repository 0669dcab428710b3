"""Naive Bayes gives scikit-learn's numbers to 1e-9: dense and CSR, weighted and not."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import naive_bayes

import deciban

from ..support.compare import close, same_parameters, same_posteriors
from ..support.data import SETS, counts, reals, weights

SMOOTHED = ["class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_"]
PARAMETERS = {
    "GaussianNB": ["theta_", "var_", "epsilon_", "class_prior_", "class_count_"],
    "MultinomialNB": SMOOTHED,
    "BernoulliNB": SMOOTHED,
    "ComplementNB": [*SMOOTHED, "feature_all_"],
    "CategoricalNB": [*SMOOTHED[:2], "category_count_", "n_categories_", "feature_log_prob_"],
}
COUNTED = [
    ("MultinomialNB", {}),
    ("MultinomialNB", {"alpha": 0.01, "fit_prior": False}),
    ("MultinomialNB", {"alpha": 1e-12, "force_alpha": True}),
    ("ComplementNB", {}),
    ("ComplementNB", {"norm": True, "alpha": 0.5}),
    ("BernoulliNB", {}),
    ("BernoulliNB", {"binarize": 2.5, "alpha": 0.3, "fit_prior": False}),
]
CODED = [
    ("CategoricalNB", {}),
    ("CategoricalNB", {"alpha": 0.001, "fit_prior": False}),
    ("CategoricalNB", {"min_categories": 40}),
]
each_set = pytest.mark.parametrize("name", SETS)
weighted = pytest.mark.parametrize("heavy", [False, True], ids=["plain", "weighted"])


def both(kind, settings, x, y, w=None):
    """Our model and theirs, fitted on the same rows."""
    ours, theirs = getattr(deciban, kind)(**settings), getattr(naive_bayes, kind)(**settings)
    return ours.fit(x, y, sample_weight=w), theirs.fit(x, y, sample_weight=w)


def priors_of(y) -> list[float]:
    return (np.arange(1.0, len(set(y)) + 1) / np.arange(1.0, len(set(y)) + 1).sum()).tolist()


@each_set
@weighted
@pytest.mark.parametrize("settings", [{}, {"var_smoothing": 0.01}, {"priors": True}], ids=str)
def test_gaussian_agrees(name, heavy, settings):
    x, y = reals(name)
    settings = {"priors": priors_of(y)} if "priors" in settings else settings
    ours, theirs = both("GaussianNB", settings, x, y, weights(len(y)) if heavy else None)
    same_parameters(ours, theirs, PARAMETERS["GaussianNB"])
    same_posteriors(ours, theirs, x)


@each_set
@weighted
@pytest.mark.parametrize(("kind", "settings"), COUNTED + CODED, ids=str)
def test_discrete_agrees(name, heavy, kind, settings):
    x, y = counts(name)
    ours, theirs = both(kind, settings, x, y, weights(len(y)) if heavy else None)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, x)


@each_set
@weighted
@pytest.mark.parametrize(("kind", "settings"), COUNTED, ids=str)
def test_discrete_agrees_on_compressed_sparse_rows(name, heavy, kind, settings):
    x, y = counts(name)
    x = sparse.csr_array(x)
    ours, theirs = both(kind, settings, x, y, weights(len(y)) if heavy else None)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, x)


@pytest.mark.parametrize(("kind", "settings"), [*COUNTED, *CODED, ("GaussianNB", {})], ids=str)
def test_memory_order_does_not_matter(kind, settings):
    x, y = counts("digits")
    ours, theirs = both(kind, settings, np.asfortranarray(x), y)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, np.asfortranarray(x))


@pytest.mark.parametrize(("kind", "settings"), [*COUNTED, ("GaussianNB", {})], ids=str)
@pytest.mark.parametrize("name", ["iris", "random"])
def test_single_precision_in_loses_only_single_rounding(name, kind, settings):
    """scikit-learn is given the same numbers as doubles: its own float32 arithmetic is coarser than ours."""
    x, y = (reals if kind == "GaussianNB" else counts)(name)
    single = x.astype(np.float32)
    ours = getattr(deciban, kind)(**settings).fit(single, y)
    theirs = getattr(naive_bayes, kind)(**settings).fit(single.astype(np.float64), y)
    same_parameters(ours, theirs, PARAMETERS[kind], rtol=1e-6)
    same_posteriors(ours, theirs, single, rtol=1e-5, theirs_x=single.astype(np.float64))


@pytest.mark.parametrize("kind", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_given_class_priors_agree(kind):
    x, y = counts("wine")
    ours, theirs = both(kind, {"class_prior": priors_of(y)}, x, y)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, x)


@pytest.mark.parametrize("kind", ["MultinomialNB", "ComplementNB"])
def test_a_pseudo_count_for_each_column_agrees(kind):
    x, y = counts("digits")
    ours, theirs = both(kind, {"alpha": np.linspace(0.1, 2.0, x.shape[1])}, x, y)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, x)


def test_bernoulli_takes_a_pseudo_count_for_each_column_where_scikit_learn_stops():
    """scikit-learn 1.9.1 adds arrays of other shapes there; column by column it can do it too."""
    x, y = counts("iris")
    alpha = np.array([0.1, 0.5, 1.0, 2.0])
    ours = deciban.BernoulliNB(alpha=alpha).fit(x, y)
    for j in range(4):
        theirs = naive_bayes.BernoulliNB(alpha=alpha[j]).fit(x[:, [j]], y)
        close(ours.feature_log_prob_[:, [j]], theirs.feature_log_prob_)


@pytest.mark.parametrize("kind", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_alpha_too_small_is_raised_with_scikit_learns_warning_unless_forced(kind):
    x, y = counts("iris")
    with pytest.warns(UserWarning, match="alpha too small"):
        ours, theirs = both(kind, {"alpha": 1e-12, "force_alpha": False}, x, y)
    same_parameters(ours, theirs, PARAMETERS[kind])
    same_posteriors(ours, theirs, x)


def test_bernoulli_without_binarize_reads_the_cells_as_they_are():
    x, y = counts("digits")
    ours, theirs = both("BernoulliNB", {"binarize": None}, np.minimum(x, 1.0), y)
    same_parameters(ours, theirs, SMOOTHED)
    same_posteriors(ours, theirs, np.minimum(x, 1.0))


def test_min_categories_for_each_column_agrees():
    x, y = counts("iris")
    ours, theirs = both("CategoricalNB", {"min_categories": [40, 35, 31, 50]}, x, y)
    same_parameters(ours, theirs, PARAMETERS["CategoricalNB"])
    same_posteriors(ours, theirs, x)


@pytest.mark.parametrize(("kind", "settings"), COUNTED + CODED, ids=str)
def test_rows_learned_in_parts_agree_with_scikit_learns_parts(kind, settings):
    x, y = counts("digits")
    settings = {**settings, "min_categories": 31} if kind == "CategoricalNB" else settings
    models = [getattr(library, kind)(**settings) for library in (deciban, naive_bayes)]
    for start in range(0, len(y), 500):
        for model in models:
            model.partial_fit(x[start : start + 500], y[start : start + 500], classes=np.arange(10))
    same_parameters(*models, PARAMETERS[kind])
    same_posteriors(*models, x)


def test_gaussian_learned_in_parts_agrees_with_one_fit_of_scikit_learn():
    """Not with its partial_fit, which smooths by the variance of the latest rows alone."""
    x, y = reals("digits")
    ours = deciban.GaussianNB()
    for start in range(0, len(y), 500):
        ours.partial_fit(x[start : start + 500], y[start : start + 500], classes=np.arange(10))
    theirs = naive_bayes.GaussianNB().fit(x, y)
    same_parameters(ours, theirs, PARAMETERS["GaussianNB"])
    same_posteriors(ours, theirs, x)
