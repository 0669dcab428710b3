"""Every public classifier; those whose state is a tally with the settings worth a law, and rows that each can learn
from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.utils._param_validation import StrOptions

import deciban
from deciban.classifiers.base import Generative
from deciban.classifiers.structured import StructuredNB
from deciban.rows.readers import ArrayReader


def reads_of(model: Any) -> str:
    """Which block a classifier, or its class with default settings, reads rows into."""
    model = model() if isinstance(model, type) else model
    if not isinstance(model, Generative):
        return "reals"  # of an ensemble, its models do
    reader = model._reader()
    return reader.block if isinstance(reader, ArrayReader) else "mixed"


PUBLIC = [getattr(deciban, name) for name in deciban.__all__]
CLASSIFIERS = [thing for thing in PUBLIC if isinstance(thing, type) and hasattr(thing, "predict_proba")]
UNITS = [deciban.LeastSquaresClassifier, deciban.Perceptron]  # without probabilities
CLASSES = [model for model in CLASSIFIERS if issubclass(model, Generative)]
# settings beside the defaults; a class may be absent
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "AODE": [{"backoff": 0, "least": 3}],
    "BayesNet": [
        {"edges": [(0, 1), (1, 2), (0, 2)], "backoff": 2.0},
        {"edges": [(0, 1), (1, 2), (0, 2)], "prior": 2.0, "backoff": 0, "alpha": None},
        {"max_parents": 0, "backoff": 1},
    ],
    "BernoulliNB": [{"binarize": 1.5}],
    "CategoricalNB": [{"min_categories": 6}],
    "ComplementNB": [{"norm": True}],
    "FisherDiscriminant": [{"multi": "eigen"}, {"exact": True}],
    "GaussianNB": [{"ddof": 1}, {"variances": "shared"}],
    "KDependenceBayes": [{"k": 2}],
    "LinearDiscriminantAnalysis": [
        {"solver": "lsqr"},
        {"solver": "lsqr", "shrinkage": "auto"},
        {"solver": "eigen", "shrinkage": 0.3, "ddof": 1},
        {"estimate": "bayes"},
        {"exact": True},
    ],
    "MixedNB": [{"average": "subsets"}, {"average": "subsets", "inclusion": 0.9}],
    "MultinomialNB": [{"alpha": 0.1, "fit_prior": False}],
    "PoissonNB": [{"shape": 0.5, "exposure": 0.1}],
    "QuadraticDiscriminantAnalysis": [
        {"reg_param": 0.2},
        {"solver": "eigen", "shrinkage": 0.1, "ddof": 1},
        {"solver": "eigen", "shrinkage": "auto"},
        {"diagonal": True},
        {"estimate": "bayes"},
        {"exact": True},
    ],
    "TreeAugmentedNB": [{"backoff": 0, "alpha": 0.5}, {"backoff": 2.0}, {"cuts": [0.5, 1.5]}],
    "RegularizedDiscriminantAnalysis": [
        {"blend": 0},
        {"blend": 1},
        {"shrinkage": "auto"},
        {"estimate": "bayes"},
        {"exact": True},
    ],
}
# what stands for the defaults where those look at the rows: cuts that are learned belong to the rows of one model
PLAIN: dict[type, dict[str, Any]] = {model: {"cuts": None} for model in CLASSES if issubclass(model, StructuredNB)}
MODELS = [
    model(**PLAIN.get(model, {}) | settings)
    for model in CLASSES
    for settings in [{}, *SETTINGS.get(model.__name__, [])]
]
DENSE = [model for model in MODELS if reads_of(model) == "dense"]


def each(models) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("model", models, ids=repr)


every_model = each(MODELS)
every_class = each([model() for model in CLASSES])


def named(*names: str) -> list:
    return [model for model in MODELS if type(model).__name__ in names]


def rows_for(model, n: int = 90, d: int = 4, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(X, y): classes "a", "b", … that overlap, and every level of every class among the first rows."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(5 * k) % k, rng.integers(0, k, max(0, n - 5 * k))])[:n]
    shift = rng.uniform(-1, 1, (k, d))[codes]
    if isinstance(model, deciban.TextClassifier):
        said = [" ".join(f"word{j}" for j in np.repeat(np.arange(d), times)) for times in rng.poisson(2 + shift)]
        return np.array(said, dtype=object), np.array(list("abcdefghij"))[codes]
    reads = reads_of(model)
    if reads == "codes" or isinstance(model, StructuredNB):
        x = rng.integers(0, 4, (n, d)) + (shift > 0.5)
        x[: 5 * k] = (np.arange(5 * k) // k)[:n, None]
    elif reads == "counts":
        x = rng.poisson(2 + shift)
    else:
        x = shift + rng.normal(size=(n, d)) * np.linspace(0.5, 1.5, d)
    return x, np.array(list("abcdefghij"))[codes]


def fitted(model, x, y, **more):
    return clone(model).fit(x, y, **more)


def in_pieces(model, x, y, cuts, classes=None, w=None):
    """The same rows through partial_fit."""
    out = clone(model)
    classes = np.unique(y) if classes is None else classes
    for a, b in zip([0, *cuts], [*cuts, len(x)], strict=True):
        if b > a:
            out.partial_fit(x[a:b], y[a:b], classes=classes, **({} if w is None else {"sample_weight": w[a:b]}))
    return out


# every public classifier, with each word that a setting of it knows

LOGISTIC = [
    deciban.LogisticRegression(**settings)
    for settings in (
        {},
        {"C": np.inf},
        {"l1_ratio": 0.5, "C": 0.1},
        {"penalty": "jeffreys"},
        {"class_weight": "balanced"},
        {"solver": "newton", "line_search": False, "history": True},
    )
]


def worded(cls) -> list:
    """A model for each word and each switch that a setting knows: a new setting is here as soon as it is in a class."""
    out, usual = [], cls().get_params()
    drawn = {"random_state": 0} if cls is deciban.Gibbs else {}  # else it never says the same
    for name, allowed in cls._parameter_constraints.items():
        if name == "line_search":  # goes with few solvers, see LOGISTIC
            continue
        words = sorted(word for rule in allowed if isinstance(rule, StrOptions) for word in rule.options)
        switches = [not usual[name]] if "boolean" in allowed and isinstance(usual[name], bool) else []
        out += [cls(**drawn | {name: value}) for value in [*words, *switches] if usual[name] != value]
    return out


OTHERS = [
    deciban.KernelLogisticRegression(C=1.0, bandwidth=1.0, landmarks=30),
    deciban.GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing="auto", calibrate=True),
    deciban.MixedNB(families={0: "histogram", 1: "student"}, calibrate=True),
    deciban.LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=LedoitWolf(store_precision=False)),
    deciban.QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=LedoitWolf()),
    deciban.MultinomialNB(alpha=[0.5, 1.0, 2.0, 3.0], class_prior=(0.25, 0.25, 0.5)),
]
EVERY = [*MODELS, *LOGISTIC, *OTHERS, *(model for cls in CLASSIFIERS for model in worded(cls))]
