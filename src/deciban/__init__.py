"""Probabilistic classification at memory speed: scikit-learn's contract, exact merging and forgetting, and evidence in
decibans.

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
    from deciban.classifiers.selection import select
    from deciban.classifiers.structured import AODE, KDependenceBayes, TreeAugmentedNB
    from deciban.classifiers.text import TextClassifier
    from deciban.engines.threads import threads
    from deciban.explain.top_evidence import strongest
    from deciban.families import family_guide
    from deciban.logistic.separation import SeparationWarning
    from deciban.model_file import about, load, merge, save
    from deciban.model_selection.auto import learn, learn_on
    from deciban.model_selection.compare import classifier_guide, compare
    from deciban.model_selection.cross_validation import cross_validate
    from deciban.model_selection.evaluate import assess
    from deciban.model_selection.leakage import leaks
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
    "about": "model_file",
    "assess": "model_selection.evaluate",
    "coefficient_path": "plots",
    "classifier_guide": "model_selection.compare",
    "compare": "model_selection.compare",
    "cross_validate": "model_selection.cross_validation",
    "learning_curve": "model_selection.learning_curve",
    "family_guide": "families",
    "leaks": "model_selection.leakage",
    "learn": "model_selection.auto",
    "learn_on": "model_selection.auto",
    "load": "model_file",
    "merge": "model_file",
    "nomogram": "plots",
    "report": "reports",
    "save": "model_file",
    "select": "classifiers.selection",
    "strongest": "explain.top_evidence",
    "threads": "engines.threads",
    "waterfall": "plots",
}
_MODULES = ("errors", "plots")


def __getattr__(name: str) -> Any:
    """A public name, fetched when first asked for: who needs one classifier does not wait for all."""
    if name in _MODULES:
        return import_module(f"deciban.{name}")
    if name not in _HOMES:
        near = []
        if not name.startswith("_"):
            from difflib import get_close_matches

            near = [one for one in _HOMES if one.lower() == name.lower()] or get_close_matches(name, _HOMES, 1, 0.6)
        hint = f"\n\nhint: did you mean {near[0]}?" if near else ""
        raise AttributeError(f"module 'deciban' has no attribute {name!r}{hint}")
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
    "about",
    "assess",
    "classifier_guide",
    "coefficient_path",
    "compare",
    "cross_validate",
    "family_guide",
    "leaks",
    "learn",
    "learn_on",
    "learning_curve",
    "load",
    "merge",
    "nomogram",
    "report",
    "save",
    "select",
    "strongest",
    "threads",
    "waterfall",
]
__version__ = "0.1.0"
