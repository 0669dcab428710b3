"""A model of the parameters of a fitted model is that model: it predicts, explains, samples, and goes through files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import deciban
from deciban import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    FisherDiscriminant,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MixedNB,
    MultinomialNB,
    PoissonNB,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from deciban.errors import DataError, NotAdditiveError

from ..support.models import fitted, rows_for

NAMES = {  # the parameters of each class: attributes without their underscore
    GaussianNB: ("theta", "var"),
    MultinomialNB: ("feature_prob",),
    ComplementNB: ("complement_prob", "feature_prob"),
    BernoulliNB: ("feature_prob",),
    PoissonNB: ("rate",),
    CategoricalNB: ("feature_prob",),
    LinearDiscriminantAnalysis: ("means", "covariance"),
    QuadraticDiscriminantAnalysis: ("means", "covariance"),
    RegularizedDiscriminantAnalysis: ("means", "covariance"),
    FisherDiscriminant: ("means", "covariance"),
    LogisticRegression: ("coef", "intercept"),
}
MODELS = [
    *(cls() for cls in NAMES if cls not in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)),
    GaussianNB(ddof=1, priors=[0.2, 0.3, 0.5]),
    MultinomialNB(coefficient=True),
    ComplementNB(norm=True),
    BernoulliNB(binarize=1.5),
    LinearDiscriminantAnalysis(store_covariance=True),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.3),
    QuadraticDiscriminantAnalysis(store_covariance=True),
    RegularizedDiscriminantAnalysis(blend=1),
    FisherDiscriminant(multi="eigen"),
]
every_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def parameters_of(model) -> dict:
    return {name: getattr(model, f"{name}_") for name in NAMES[type(model)]}


def rebuilt(model, **more):
    """The model of the parameters of a fitted one."""
    settings = model.get_params(deep=False)
    if settings.get("priors") is None:
        more.setdefault("class_prior", model.class_prior_)
    settings.pop("class_prior", None)
    more.setdefault("classes", model.classes_)
    return type(model).from_parameters(**parameters_of(model), **more, **settings)


@every_model
def test_same_predictions(model):
    X, y = rows_for(model)
    here = fitted(model, X, y)
    there = rebuilt(here)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        there.predict_proba(X, priors="uniform"), here.predict_proba(X, priors="uniform"), rtol=0, atol=1e-12
    )
    assert there.predict(X).tolist() == here.predict(X).tolist()
    np.testing.assert_allclose(there.class_prior_, here.class_prior_, rtol=1e-12)
    if not isinstance(model, LogisticRegression):
        np.testing.assert_allclose(there.class_log_likelihood(X), here.class_log_likelihood(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(there.log_likelihood(X, y), here.log_likelihood(X, y), rtol=1e-9)
    for name, value in parameters_of(here).items():
        for a, b in zip(getattr(there, f"{name}_"), value, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@every_model
def test_explains_samples_and_goes_through_files(model):
    X, y = rows_for(model)
    here = fitted(model, X, y)
    there = rebuilt(here)
    a, b = there.explain(X[:3]).to_frame(), here.explain(X[:3], **baseline(model)).to_frame()
    np.testing.assert_allclose(a.decibans, b.decibans, atol=1e-8)
    for copy in (deciban.loads(deciban.dumps(there)), pickle.loads(pickle.dumps(there))):
        assert np.array_equal(copy.predict_proba(X), there.predict_proba(X))
        assert copy.class_prior_.tolist() == there.class_prior_.tolist()
    if isinstance(model, LogisticRegression):
        assert there.sample(X, random_state=0).tolist() == here.sample(X, random_state=0).tolist()
    else:
        drawn, labels = there.sample(20, random_state=0)
        assert drawn.shape == (20, X.shape[1])
        assert set(labels) <= set(there.classes_)
        assert np.isfinite(there.score_samples(drawn)).all()


def baseline(model) -> dict:
    return {"baseline": 0} if isinstance(model, LogisticRegression) else {}  # given coefficients have no mean row


@every_model
def test_classes_may_be_named_in_any_order(model):
    X, y = rows_for(model)
    here = fitted(model, X, y)
    if here.get_params().get("priors") is not None:
        return
    order = np.array([2, 0, 1])
    given = {name: in_order(name, value, here, order) for name, value in parameters_of(here).items()}
    settings = {key: value for key, value in here.get_params(deep=False).items() if key != "class_prior"}
    there = type(here).from_parameters(
        **given, class_prior=here.class_prior_[order], classes=here.classes_[order], **settings
    )
    assert there.classes_.tolist() == here.classes_.tolist()
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), rtol=0, atol=1e-12)


def in_order(name, value, model, order):
    if isinstance(model, CategoricalNB):
        return [table[order] for table in value]
    if name == "covariance" and np.asarray(value).shape[0] != len(order):
        return value
    if name == "covariance" and np.ndim(value) == 2:
        return value
    return np.asarray(value)[order]


@every_model
def test_without_rows_nothing_is_updated(model):
    X, y = rows_for(model)
    there = rebuilt(fitted(model, X, y))
    if isinstance(model, LogisticRegression):
        return
    for change in (
        lambda: there.partial_fit(X, y),
        lambda: there.forget(X[:1], y[:1]),
        lambda: there.leave_one_out(X, y),
        lambda: there + there,
        lambda: fitted(model, X, y) + there,
    ):
        with pytest.raises(NotAdditiveError, match="given"):
            change()
    for name in ("class_count_", "tally_", "evidence_"):
        assert not hasattr(there, name)
        assert name not in dir(there)
    refit = there.fit(X, y)
    assert np.array_equal(refit.predict_proba(X), fitted(model, X, y).predict_proba(X))
    assert refit.class_count_.sum() == len(y)


def test_columns_of_several_kinds():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.array(["b", "a"])[rng.integers(0, 2, 60)]
    X = pd.DataFrame(
        {"sky": rng.choice(["grey", "blue", "red"], 60), "size": rng.normal(size=60), "n": rng.poisson(3, 60)}
    )
    families = {"size": "gaussian", "n": "poisson"}
    here = MixedNB(alpha=1, families=families).fit(X, y)
    sky, size, n = (here.families_[name] for name in X)
    state = here._fitted_state()
    levels = here.levels_["sky"]
    frame = X.assign(y=y)
    means = frame.groupby("y")[["size", "n"]].mean()
    assert (sky.alpha, type(size).__name__, type(n).__name__) == (1, "Gaussian", "Poisson")
    params = dict(zip((type(f).__name__ for f in state.family.factors), state.params, strict=True))
    columns = {
        "sky": {"levels": levels, "feature_prob": np.exp(params["Categorical"].columns()[0])[::-1]},
        "size": {"theta": params["Gaussian"].mean[::-1, 0], "var": params["Gaussian"].var[::-1, 0]},
        "n": {"rate": params["Poisson"].rate[::-1, 0]},
    }
    np.testing.assert_allclose(columns["size"]["theta"], means["size"].to_numpy()[::-1])
    there = MixedNB.from_parameters(columns, classes=["b", "a"], class_prior=here.class_prior_[::-1])
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(there.score_samples(X), here.score_samples(X), rtol=1e-12)
    for copy in (deciban.loads(deciban.dumps(there)), pickle.loads(pickle.dumps(there))):
        assert np.array_equal(copy.predict_proba(X), there.predict_proba(X))
    assert there.sample(5, random_state=0)[0].shape == (5, 3)
    assert len(there.explain(X[:2]).to_frame()) == 8
    assert there.levels_ == {"sky": levels}
    assert there.tuned_ == {}
    with pytest.raises(NotAdditiveError):
        there.partial_fit(X, y)
    with pytest.raises(DataError, match="no family"):
        MixedNB.from_parameters({"sky": {"mean": [1.0, 2.0]}})
    with pytest.raises(DataError, match="levels"):
        MixedNB.from_parameters({"sky": {"levels": ["a"], "feature_prob": [[0.5, 0.5]]}})
