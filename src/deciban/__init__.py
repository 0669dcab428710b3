"""Probabilistic classification at memory speed: scikit-learn's contract, exact merging and forgetting, and evidence in
decibans.

>>> from deciban import GaussianNB
>>> GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[0.2]]).tolist()
[0]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deciban.assessing import assess
    from deciban.automatic import learn, learn_on
    from deciban.classifiers.aode import AODE
    from deciban.classifiers.bayes_net import BayesNet
    from deciban.classifiers.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
    from deciban.classifiers.ensemble import BayesOptimal, Gibbs
    from deciban.classifiers.fisher import FisherDiscriminant
    from deciban.classifiers.gaussian import GaussianNB
    from deciban.classifiers.kdb import KDependenceBayes
    from deciban.classifiers.levels import CategoricalNB
    from deciban.classifiers.linear_discriminant import LinearDiscriminantAnalysis
    from deciban.classifiers.logistic import LogisticRegression
    from deciban.classifiers.mixed import MixedNB
    from deciban.classifiers.quadratic_discriminant import (
        QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
    )
    from deciban.classifiers.selection import select
    from deciban.classifiers.text import TextClassifier
    from deciban.classifiers.tree import TreeAugmentedNB
    from deciban.engines.threads import threads
    from deciban.guide import family_guide
    from deciban.inference.separation import SeparationWarning
    from deciban.learning.curves import learning_curve
    from deciban.modelfile import about, load, merge, save
    from deciban.plots import coefficient_path, nomogram, waterfall
    from deciban.reporting import report
    from deciban.reports.leakage import leaks
    from deciban.speaking import strongest
    from deciban.text.vectorizers import CountVectorizer, HashingVectorizer, TfidfVectorizer
    from deciban.trials import classifier_guide, compare
    from deciban.validate import cross_validate

_HOMES = {
    "AODE": "classifiers.aode",
    "BayesNet": "classifiers.bayes_net",
    "BayesOptimal": "classifiers.ensemble",
    "BernoulliNB": "classifiers.counts",
    "CategoricalNB": "classifiers.levels",
    "ComplementNB": "classifiers.counts",
    "CountVectorizer": "text.vectorizers",
    "FisherDiscriminant": "classifiers.fisher",
    "GaussianNB": "classifiers.gaussian",
    "Gibbs": "classifiers.ensemble",
    "HashingVectorizer": "text.vectorizers",
    "KDependenceBayes": "classifiers.kdb",
    "LinearDiscriminantAnalysis": "classifiers.linear_discriminant",
    "LogisticRegression": "classifiers.logistic",
    "MixedNB": "classifiers.mixed",
    "MultinomialNB": "classifiers.counts",
    "PoissonNB": "classifiers.counts",
    "QuadraticDiscriminantAnalysis": "classifiers.quadratic_discriminant",
    "RegularizedDiscriminantAnalysis": "classifiers.quadratic_discriminant",
    "SeparationWarning": "inference.separation",
    "TextClassifier": "classifiers.text",
    "TfidfVectorizer": "text.vectorizers",
    "TreeAugmentedNB": "classifiers.tree",
    "about": "modelfile",
    "assess": "assessing",
    "coefficient_path": "plots",
    "classifier_guide": "trials",
    "compare": "trials",
    "cross_validate": "validate",
    "learning_curve": "learning.curves",
    "family_guide": "guide",
    "leaks": "reports.leakage",
    "learn": "automatic",
    "learn_on": "automatic",
    "load": "modelfile",
    "merge": "modelfile",
    "nomogram": "plots",
    "report": "reporting",
    "save": "modelfile",
    "select": "classifiers.selection",
    "strongest": "speaking",
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
