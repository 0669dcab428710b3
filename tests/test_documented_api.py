"""The reference of the site is complete: every fitted attribute and every parameter of a public name is described, and
the docstrings pass numpydoc's validation, with the codes that scikit-learn ignores.
"""

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpydoc.validate import validate

import deciban
from deciban import datasets, metrics, plots

from .support.models import CLASSIFIERS, SETTINGS, UNITS, reads_of
from .test_docstrings import described, sections

VECTORIZERS = [deciban.CountVectorizer, deciban.HashingVectorizer, deciban.TfidfVectorizer]
ESTIMATORS = [*CLASSIFIERS, *UNITS, *VECTORIZERS]
MORE = {  # settings with fitted attributes of their own, to those of SETTINGS
    "LogisticRegression": [{"history": True}, {"penalty": "jeffreys"}],
    "LeastSquaresClassifier": [{"history": True, "solver": "gradient"}],
    "Perceptron": [{"history": True}],
    "GaussianNB": [{"calibrate": True}, {"var_smoothing": "auto"}],
    "MixedNB": [{"weights": "discriminative"}, {"interactions": "auto"}, {"families": "gaussian"}, {"calibrate": True}],
    "TextClassifier": [{"alpha": 1, "counts": True}, {"model": "bernoulli"}],
}
MEASURES = (
    "log_loss",
    "prior_log_loss",
    "brier",
    "accuracy",
    "expected_calibration_error",
    "confusion",
    "fisher_ratio",
)
IGNORED = {
    "GL01",  # text begins on the line after the quotes
    "GL02",  # a blank line at the end
    "GL03",
    "RT02",  # a name of what is returned
    "ES01",  # a summary may be all that there is to say
    "SS02",  # formulas begin with a small letter: log P(class | x)
    "PR08",
    "RT04",
    "SS05",  # nouns that end in s are no verbs
    "SS06",  # a summary may take two lines
}
OF_METHODS = {"EX01", "SA01"}  # examples and references are asked of classes and functions, not of each method


def rows_for(make: type) -> tuple[Any, Any]:
    """Rows that a class learns from."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    if make in VECTORIZERS or make is deciban.TextClassifier:
        return [" ".join([*rng.choice([*"abcd", "one", "two"], 5), f"word{label}"]) for label in y], y
    X = rng.poisson(2.0, size=(60, 3)) + y[:, None]
    if make is deciban.BernoulliNB:
        return (X > 2).astype(float), y
    return X if reads_of(make) == "codes" else X.astype(float), y


def models_of(make: type) -> Iterator[Any]:
    if make in (deciban.BayesOptimal, deciban.Gibbs):
        models = [deciban.GaussianNB(), deciban.LinearDiscriminantAnalysis()]
        yield from (make(models, weights=weights) for weights in ("loo", "evidence"))
        return
    for settings in ({}, *SETTINGS.get(make.__name__, ()), *MORE.get(make.__name__, ())):
        yield make(**settings)


def fitted_attributes(make: type) -> set[str]:
    """The names that end with an underscore which some fitted model of a class has."""
    X, y = rows_for(make)
    found = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models_of(make):
            try:
                model.fit(X, y)
            except (ValueError, TypeError):  # settings for other rows
                continue
            names = {name for name in {*dir(model), *vars(model)} if name.endswith("_") and not name.startswith("_")}
            for name in names - found:
                try:
                    getattr(model, name)
                except Exception:  # an attribute that this model does not have
                    continue
                found.add(name)
    return found


def described_attributes(make: type) -> set[str]:
    """The entries of the section Attributes; `a, b` without a type describes two."""
    text = sections(inspect.getdoc(make) or "").get("Attributes", "")
    alone = {
        name.strip() for line in text.splitlines() if line[:1].strip() and " :" not in line for name in line.split(",")
    }
    return described(text) | alone


@pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: make.__name__)
def test_every_fitted_attribute_is_described(make):
    assert sorted(fitted_attributes(make) - described_attributes(make)) == []


@pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: make.__name__)
def test_every_constructor_argument_is_described(make):
    text = sections(inspect.getdoc(make) or "").get("Parameters", "")
    assert sorted(set(inspect.signature(make).parameters) - described(text)) == []


def public_names() -> Iterator[str]:
    yield from (f"deciban.{name}" for name in deciban.__all__)
    yield from (f"deciban.plots.{name}" for name in plots.__all__)
    yield from (f"deciban.datasets.{name}" for name in datasets.__all__)
    yield from (f"deciban.metrics.{name}" for name in MEASURES if hasattr(metrics, name))


def own_methods() -> Iterator[str]:
    """The public methods that the library defines, each once, by a class that has it."""
    seen = set()
    for name in deciban.__all__:
        found = getattr(deciban, name)
        if not isinstance(found, type):
            continue
        for method in dir(found):
            function = getattr(found, method, None)
            where = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
            if method.startswith("_") or not callable(function) or not str(where[0]).startswith("deciban"):
                continue
            if where not in seen:
                seen.add(where)
                yield f"deciban.{name}.{method}"


def problems(name: str, ignored: set[str]) -> list[str]:
    return [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in ignored]


@pytest.mark.parametrize("name", public_names())
def test_numpydoc_finds_nothing_wrong(name):
    assert not problems(name, IGNORED)


@pytest.mark.parametrize("name", own_methods())
def test_numpydoc_finds_nothing_wrong_with_a_method(name):
    assert not problems(name, IGNORED | OF_METHODS)


def test_the_checks_find_what_is_missing(monkeypatch):
    monkeypatch.setattr(deciban.GaussianNB, "__doc__", "Normal columns.")
    assert "theta_" in fitted_attributes(deciban.GaussianNB) - described_attributes(deciban.GaussianNB)
    monkeypatch.setattr(deciban.GaussianNB.predict_log_proba, "__doc__", "The logs.")
    assert any(text.startswith("PR01") for text in problems("deciban.GaussianNB.predict_log_proba", IGNORED))
