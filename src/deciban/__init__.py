"""Probabilistic classification at memory speed: scikit-learn's contract, exact merging and forgetting, and evidence in
decibans.

>>> from deciban import GaussianNB
>>> GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).predict([[0.2]]).tolist()
[0]
"""

import sklearn.base  # noqa: F401 (first: the bulk of the import, and fastest while there is little else in memory)

from deciban.classifiers.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from deciban.classifiers.fisher import FisherDiscriminant
from deciban.classifiers.gaussian import GaussianNB
from deciban.classifiers.levels import CategoricalNB
from deciban.classifiers.linear_discriminant import LinearDiscriminantAnalysis
from deciban.classifiers.logistic import LogisticRegression
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.quadratic_discriminant import QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
from deciban.engines.threads import threads
from deciban.plots import nomogram, waterfall
from deciban.validate import cross_validate

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "FisherDiscriminant",
    "GaussianNB",
    "LinearDiscriminantAnalysis",
    "LogisticRegression",
    "MixedNB",
    "MultinomialNB",
    "PoissonNB",
    "QuadraticDiscriminantAnalysis",
    "RegularizedDiscriminantAnalysis",
    "cross_validate",
    "nomogram",
    "threads",
    "waterfall",
]
__version__ = "0.1.0"
