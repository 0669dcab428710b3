"""Fast probabilistic classifiers with scikit-learn's API: merging, unlearning, and explanations in decibans.

>>> from deciban import GaussianNB
>>> GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[0.2]]).tolist()
[0]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.classifiers.bayes_net import BayesNet
    from deciban.classifiers.discriminant import (
        FisherDiscriminant,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
    )
    from deciban.classifiers.ensemble import BayesOptimal, Gibbs
    from deciban.classifiers.logistic import LogisticRegression
    from deciban.classifiers.mixed import MixedNB
    from deciban.classifiers.naive_bayes import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MultinomialNB,
        PoissonNB,
    )
    from deciban.classifiers.selection import select_model
    from deciban.classifiers.structured import AODE, KDependenceBayes, TreeAugmentedNB
    from deciban.classifiers.text import TextClassifier
    from deciban.engines.threads import threads
    from deciban.explain.top_evidence import top_evidence
    from deciban.families import list_families
    from deciban.logistic.separation import SeparationWarning
    from deciban.model_file import load, merge, model_info, save
    from deciban.model_selection.auto import auto_fit, auto_fit_on
    from deciban.model_selection.compare import compare, list_classifiers
    from deciban.model_selection.cross_validation import cross_validate
    from deciban.model_selection.evaluate import evaluate
    from deciban.model_selection.leakage import find_leakage
    from deciban.model_selection.learning_curve import learning_curve
    from deciban.plots import coefficient_path, nomogram, waterfall
    from deciban.reports import report
    from deciban.text.vectorizers import CountVectorizer, HashingVectorizer, TfidfVectorizer

_HOMES = {
    "AODE": "classifiers.structured",
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
    "LinearDiscriminantAnalysis": "classifiers.discriminant",
    "LogisticRegression": "classifiers.logistic",
    "MixedNB": "classifiers.mixed",
    "MultinomialNB": "classifiers.naive_bayes",
    "PoissonNB": "classifiers.naive_bayes",
    "QuadraticDiscriminantAnalysis": "classifiers.discriminant",
    "RegularizedDiscriminantAnalysis": "classifiers.discriminant",
    "SeparationWarning": "logistic.separation",
    "TextClassifier": "classifiers.text",
    "TfidfVectorizer": "text.vectorizers",
    "TreeAugmentedNB": "classifiers.structured",
    "model_info": "model_file",
    "evaluate": "model_selection.evaluate",
    "coefficient_path": "plots",
    "list_classifiers": "model_selection.compare",
    "compare": "model_selection.compare",
    "cross_validate": "model_selection.cross_validation",
    "learning_curve": "model_selection.learning_curve",
    "list_families": "families",
    "find_leakage": "model_selection.leakage",
    "auto_fit": "model_selection.auto",
    "auto_fit_on": "model_selection.auto",
    "load": "model_file",
    "merge": "model_file",
    "nomogram": "plots",
    "report": "reports",
    "save": "model_file",
    "select_model": "classifiers.selection",
    "top_evidence": "explain.top_evidence",
    "threads": "engines.threads",
    "waterfall": "plots",
}
_MODULES = ("errors", "plots")


def __getattr__(name: str) -> Any:
    """Import public names on first access, to keep `import deciban` fast."""
    if name in _MODULES:
        return import_module(f"deciban.{name}")
    if name not in _HOMES:
        hint = ""
        if not name.startswith("_"):
            from deciban.errors import did_you_mean

            hint = did_you_mean(name, _HOMES, "{}")
        raise AttributeError(f"module 'deciban' has no attribute {name!r}" + (f"\n\nhint: {hint}" if hint else ""))
    value = globals()[name] = getattr(import_module(f"deciban.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})


__all__ = [
    "AODE",
    "BayesNet",
    "BayesOptimal",
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "CountVectorizer",
    "FisherDiscriminant",
    "GaussianNB",
    "Gibbs",
    "HashingVectorizer",
    "KDependenceBayes",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MixedNB",
    "MultinomialNB",
    "PoissonNB",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "SeparationWarning",
    "TextClassifier",
    "TfidfVectorizer",
    "TreeAugmentedNB",
    "auto_fit",
    "auto_fit_on",
    "coefficient_path",
    "compare",
    "cross_validate",
    "evaluate",
    "find_leakage",
    "learning_curve",
    "list_classifiers",
    "list_families",
    "load",
    "merge",
    "model_info",
    "nomogram",
    "report",
    "save",
    "select_model",
    "threads",
    "top_evidence",
    "waterfall",
]
__version__ = "0.1.0"
