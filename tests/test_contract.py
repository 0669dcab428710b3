"""scikit-learn's contract: every check it has for an estimator, none skipped, none expected to fail."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_class_weight_balanced_linear_classifier, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from deciban import (
    BayesOptimal,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    KernelLogisticRegression,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)

from .sklearn_suite.child import needs_child, take_over

ESTIMATORS = [
    GaussianNB(),
    BernoulliNB(),
    BernoulliNB(binarize=None),
    MultinomialNB(),
    ComplementNB(),
    CategoricalNB(),
    PoissonNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.3),
    QuadraticDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    RegularizedDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(estimate="bayes"),
    QuadraticDiscriminantAnalysis(estimate="bayes"),
    RegularizedDiscriminantAnalysis(estimate="bayes"),
    FisherDiscriminant(),
    KernelLogisticRegression(),
    KernelLogisticRegression(C=10.0, bandwidth=1.0, landmarks=5),
    LogisticRegression(),
    LogisticRegression(solver="lbfgs"),
    LogisticRegression(solver="newton"),
    LogisticRegression(solver="newton", line_search=False, history=True),
    LogisticRegression(C="auto"),
    LogisticRegression(C=[0.1, 1.0], l1_ratio=1.0),
    GaussianNB(weights="discriminative"),
    BernoulliNB(weights="discriminative"),
    MultinomialNB(weights="discriminative"),
    ComplementNB(weights="discriminative"),
    CategoricalNB(weights="discriminative"),
    PoissonNB(weights="discriminative"),
    BayesOptimal(weights="evidence"),
    BayesOptimal([LogisticRegression(), LogisticRegression(C=0.1)], weights="evidence"),
]
ACCELERATORS = ("cupy", "dpnp", "torch")  # scikit-learn skips their checks where package or device is missing


def runs_anywhere(check) -> bool:
    return not any(name in str(check.keywords) for name in ACCELERATORS)


def as_scikit_learn_runs_it(estimator, check):
    """The one setting scikit-learn makes for its own class: on the rows of this check, QDA must refuse."""
    plugin = getattr(estimator, "estimate", "plugin") == "plugin"
    if type(estimator) is QuadraticDiscriminantAnalysis and plugin and check.func.__name__ == "check_array_api_input":
        return clone(estimator).set_params(reg_param=1.0), check
    return estimator, check


def applicable_checks():
    """All pairs of estimator and check that `parametrize_with_checks` makes, less those for accelerators."""
    mark = parametrize_with_checks(ESTIMATORS)
    names, pairs = mark.args
    pairs = [as_scikit_learn_runs_it(*pair) for pair in pairs if runs_anywhere(pair[1])]
    return pytest.mark.parametrize(names, pairs, **mark.kwargs)


@applicable_checks()
def test_estimator_passes_the_check(estimator, check, request):
    if "check_array_api" in request.node.name and needs_child():
        take_over(request.node)
        return
    try:
        check(estimator)
    except (SkipTest, pytest.skip.Exception) as skipped:
        pytest.fail(f"skipped: {skipped}")


def test_balanced_weights_of_logistic_regression_are_those_of_scikit_learn():
    """A check that scikit-learn makes for subclasses of its own mixin only."""
    check_class_weight_balanced_linear_classifier("LogisticRegression", LogisticRegression())


each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@pytest.fixture
def bits():
    """Rows that every family takes: 0 / 1 columns, three classes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (60, 4)), np.repeat(["a", "b", "c"], 20)


@each_estimator
def test_pickled_and_loaded_model_gives_the_same_bits(estimator, bits):
    x, y = bits
    model = clone(estimator).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))


def shown(estimator) -> dict[str, str]:
    """Settings as they print: a clone's members are other objects."""
    return {name: repr(value) for name, value in estimator.get_params().items()}


@each_estimator
def test_clone_keeps_the_parameters_and_forgets_the_fit(estimator, bits):
    model = clone(estimator).fit(*bits)
    fresh = clone(model)
    assert shown(fresh) == shown(model) == shown(estimator)
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(fresh)


@each_estimator
def test_parameters_read_are_parameters_that_can_be_set(estimator):
    params = estimator.get_params()
    assert type(estimator)().set_params(**params).get_params() == params
    with pytest.raises(ValueError, match="Invalid parameter"):
        clone(estimator).set_params(no_such_parameter=1)


@each_estimator
def test_fitted_model_prints_as_it_was_made(estimator, bits):
    model = clone(estimator).fit(*bits)
    assert repr(model) == repr(estimator)
    assert type(estimator).__name__ in model._repr_html_()


@each_estimator
def test_column_names_are_kept_and_compared(estimator, bits):
    pd = pytest.importorskip("pandas")
    x, y = bits
    frame = pd.DataFrame(x, columns=["p", "q", "r", "s"])
    model = clone(estimator).fit(frame, y)
    assert list(model.feature_names_in_) == ["p", "q", "r", "s"]
    np.testing.assert_allclose(model.predict_proba(frame), clone(estimator).fit(x, y).predict_proba(x))
    turned = frame[["s", "r", "q", "p"]]
    if isinstance(estimator, BayesOptimal) and estimator.models is None:  # columns go to their names
        np.testing.assert_array_equal(model.predict(turned), model.predict(frame))
        return
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(turned)


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_transforms_a_frame_to_a_frame(solver, bits):
    pd = pytest.importorskip("pandas")
    x, y = bits
    frame = pd.DataFrame(x, columns=["p", "q", "r", "s"], index=np.arange(100, 160))
    model = LinearDiscriminantAnalysis(solver=solver).set_output(transform="pandas").fit(frame, y)
    out = model.transform(frame)
    assert list(out.columns) == list(model.get_feature_names_out())
    assert list(out.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert list(out.index) == list(frame.index)
    np.testing.assert_array_equal(out, model.set_output(transform="default").transform(frame))
