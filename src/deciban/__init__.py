"""Fast probabilistic classifiers with scikit-learn's API: merging, unlearning, and explanations in decibans.

>>> from deciban import GaussianNB
>>> GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[0.2]]).tolist()
[0]
"""

from importlib import import_module as _import_module
from typing import Any as _Any

__version__ = "0.1.0"
_HOMES = {  # public name → module; `__init__.pyi` is written from this table (tests/test_public_names.py)
    "AODE": "classifiers.structured",
    "AutoClassifier": "model_selection.auto",
    "BayesNet": "classifiers.bayes_net",
    "BayesOptimal": "classifiers.ensemble",
    "BernoulliNB": "classifiers.naive_bayes",
    "CategoricalNB": "classifiers.naive_bayes",
    "ComplementNB": "classifiers.naive_bayes",
    "CountVectorizer": "text.vectorizers",
    "FisherDiscriminant": "classifiers.discriminant",
    "GaussianNB": "classifiers.naive_bayes",
    "Gibbs": "classifiers.ensemble",
    "HashingVectorizer": "text.vectorizers",
    "KDependenceBayes": "classifiers.structured",
    "KernelLogisticRegression": "classifiers.kernel_logistic",
    "LeastSquaresClassifier": "classifiers.linear",
    "LedgerKey": "tallies.ledger",
    "LinearDiscriminantAnalysis": "classifiers.discriminant",
    "LogisticRegression": "classifiers.logistic",
    "MixedNB": "classifiers.mixed",
    "MultinomialNB": "classifiers.naive_bayes",
    "Perceptron": "classifiers.linear",
    "PoissonNB": "classifiers.naive_bayes",
    "QuadraticDiscriminantAnalysis": "classifiers.discriminant",
    "RegularizedDiscriminantAnalysis": "classifiers.discriminant",
    "SeparationWarning": "logistic.separation",
    "TextClassifier": "classifiers.text",
    "TfidfVectorizer": "text.vectorizers",
    "TreeAugmentedNB": "classifiers.structured",
    "audit": "model_selection.audit",
    "auto_fit": "model_selection.auto",
    "auto_fit_on": "model_selection.auto",
    "compare": "model_selection.compare",
    "cross_validate": "model_selection.cross_validation",
    "dumps": "model_file",
    "evaluate": "model_selection.evaluate",
    "find_leakage": "model_selection.leakage",
    "influence": "model_selection.influence",
    "learning_curve": "model_selection.learning_curve",
    "list_classifiers": "model_selection.compare",
    "list_families": "families",
    "load": "model_file",
    "loads": "model_file",
    "merge": "model_file",
    "model_info": "model_file",
    "report": "reports",
    "save": "model_file",
    "select_model": "classifiers.selection",
    "sigmoid": "decision",
    "threads": "engines.threads",
    "top_evidence": "explain.top_evidence",
}
_MODULES = ("datasets", "errors", "metrics", "plots")
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> _Any:
    """Import public names on first access, to keep `import deciban` fast."""
    if name in _MODULES:
        return _import_module(f"deciban.{name}")
    if name not in _HOMES:
        hint = ""
        if not name.startswith("_"):
            from deciban.errors import did_you_mean

            hint = did_you_mean(name, (*_HOMES, *_MODULES), "{}")
        raise AttributeError(f"module 'deciban' has no attribute {name!r}" + (f"\n\nhint: {hint}" if hint else ""))
    value = globals()[name] = getattr(_import_module(f"deciban.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES, "__all__", "__doc__", "__version__"))
