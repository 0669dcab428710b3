"""The classes that a file may name: the only ones that reading a file can construct.

The table gives the module of each class instead of the class: a module is imported when a file, or a model that is
saved, holds the class. So loading a naive Bayes model does not import the code of texts, networks or regression.
Families that are not in the table, such as one in a file of the user's, are found by `families.find`.

>>> stored_type("Moments").__name__
'Moments'
>>> is_stored_as(stored_type("Moments"), "Moments"), is_stored_as(None, "Network")
(False, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from typing import Any

from deciban import families
from deciban.errors import ModelFileError

# Classifiers: name in a file → module under `deciban`.
CLASSIFIERS = {
    "AODE": "classifiers.structured",
    "AutoClassifier": "model_selection.auto",
    "BayesNet": "classifiers.bayes_net",
    "BayesOptimal": "classifiers.ensemble",
    "BernoulliNB": "classifiers.naive_bayes",
    "CategoricalNB": "classifiers.naive_bayes",
    "ComplementNB": "classifiers.naive_bayes",
    "FisherDiscriminant": "classifiers.discriminant",
    "GaussianNB": "classifiers.naive_bayes",
    "Gibbs": "classifiers.ensemble",
    "KDependenceBayes": "classifiers.structured",
    "KernelLogisticRegression": "classifiers.kernel_logistic",
    "LeastSquaresClassifier": "classifiers.linear",
    "LinearDiscriminantAnalysis": "classifiers.discriminant",
    "LogisticRegression": "classifiers.logistic",
    "MixedNB": "classifiers.mixed",
    "MultinomialNB": "classifiers.naive_bayes",
    "Perceptron": "classifiers.linear",
    "PoissonNB": "classifiers.naive_bayes",
    "QuadraticDiscriminantAnalysis": "classifiers.discriminant",
    "RegularizedDiscriminantAnalysis": "classifiers.discriminant",
    "TextClassifier": "classifiers.text",
    "TreeAugmentedNB": "classifiers.structured",
}
# What models hold, frozen dataclasses: name in a file → module under `deciban`.
STORED_TYPES = {
    # sufficient statistics
    "ClassSums": "tallies.exact_tables",
    "Bundle": "tallies.basic",
    "ClassWeights": "tallies.basic",
    "Moments": "tallies.basic",
    "SharedTally": "tallies.basic",
    "Sums": "tallies.basic",
    "Crosstab": "tallies.crosstab",
    "Pairs": "tallies.crosstab",
    "DistinctRows": "tallies.distinct_rows",
    "GridCounts": "tallies.grid",
    "RowLedger": "tallies.ledger",
    "CentredScatter": "tallies.scatter",
    "ExactScatter": "tallies.scatter",
    "Quartic": "tallies.scatter",
    "RowScatter": "tallies.scatter",
    # densities of columns, in schemas
    "Bernoulli": "families.bernoulli",
    "Categorical": "families.categorical",
    "Exponential": "families.exponential",
    "GammaPoisson": "families.gamma_poisson",
    "Gaussian": "families.gaussian",
    "Histogram": "families.histogram",
    "Lognormal": "families.lognormal",
    "Poisson": "families.poisson",
    "Student": "families.student",
    "BestOf": "composites.best_of",
    "TextParams": "composites.levels_and_words",
    "Words": "composites.levels_and_words",
    "ColumnCuts": "composites.discretised",
    # rows of a sample
    "Codes": "data.blocks",
    "Counts": "data.blocks",
    "Mixed": "data.blocks",
    "Reals": "data.blocks",
    "Table": "data.blocks",
    "RowSample": "rows.sample",
    # columns of the data
    "ArrayKind": "rows.readers",
    "Coding": "rows.coding",
    "ColumnCode": "rows.coding",
    "Field": "rows.schema",
    "Schema": "rows.schema",
    "Ranges": "estimation.ranges",
    # what is learned in addition to a tally
    "Calibration": "models.calibration",
    "FeatureWeights": "models.feature_weights",
    "CellCode": "models.joint_tables",
    "JointTables": "models.joint_tables",
    "TableSets": "models.joint_tables",
    "DenseCovariance": "gaussian.covariance",
    "Network": "networks.network",
    # comparisons of models
    "Leaderboard": "model_selection.leaderboard",
    # logistic regression
    "KernelScores": "models.kernel",
    "LikelihoodExpansion": "logistic.likelihood",
    "Path": "logistic.path",
    "Separation": "logistic.separation",
    "OnlineAverage": "solvers.gradient",
    "History": "solvers.history",
    # texts
    "KeptTexts": "text.kept_texts",
    "Tempering": "text.naive_bayes",
    "Terms": "text.analysis",
    "WordTally": "text.word_tally",
    "WordWeights": "text.naive_bayes",
}
# Those that training rows can be read from.
ROW_KEEPERS = ("RowScatter", "DistinctRows", "KernelScores", "KeptTexts", "RowSample")
# Settings and parts that have tags of their own, because a file holds only some of their attributes.
VECTORIZERS = dict.fromkeys(("CountVectorizer", "HashingVectorizer", "TfidfVectorizer"), "text.vectorizers")
TRAINING_ROWS = {"TrainingRows": "logistic.training_rows"}


def _find(table: Mapping[str, str], name: str) -> Any:
    return getattr(import_module(f"deciban.{table[name]}"), name)


def _is_in(table: Mapping[str, str], value: Any) -> bool:
    """Whether a value is an instance of a class of a table. Imports nothing if no class has its name."""
    return type(value).__name__ in table and type(value) is _find(table, type(value).__name__)


def classifier(name: str) -> Any:
    """The classifier that a file may name so."""
    if not isinstance(name, str) or name not in CLASSIFIERS:
        raise ModelFileError(
            f"no classifier is called {str(name)[:80]!r}\n\nhint: install a later version, `pip install -U deciban`"
        )
    return _find(CLASSIFIERS, name)


def is_classifier(value: Any) -> bool:
    """Whether it is a classifier that a file can hold."""
    return _is_in(CLASSIFIERS, value)


@cache
def stored_type(name: str) -> type:
    """The frozen dataclass that a file may name so."""
    if name in STORED_TYPES:
        found = _find(STORED_TYPES, name)
    else:
        found = {family.__name__: family for family in families.find().values() if family.columnwise}.get(name)
    if not is_frozen(found):
        raise ModelFileError(
            f"no part of a model is called {name[:80]!r}\n\n"
            "hint: deciban.storage.registry.STORED_TYPES has the classes that a file may hold"
        )
    return found


def is_frozen(thing: Any) -> bool:
    """Whether it is a frozen dataclass."""
    return isinstance(thing, type) and is_dataclass(thing) and thing.__dataclass_params__.frozen  # type: ignore[attr-defined]


def is_stored_as(value: Any, name: str) -> bool:
    """Whether a value is of the registered class of that name. Imports its module only if the value may be of it."""
    return type(value).__name__ == name and type(value) is stored_type(name)


def keeps_rows(value: Any) -> bool:
    """Whether training rows can be read from it: it has `rows_kept` and `without_rows`."""
    return any(is_stored_as(value, name) for name in ROW_KEEPERS)


def is_training_rows(value: Any) -> bool:
    """Whether it is what a logistic model keeps of its training rows."""
    return _is_in(TRAINING_ROWS, value)


def training_rows() -> Any:
    """The class `TrainingRows`."""
    return _find(TRAINING_ROWS, "TrainingRows")


def vectorizer(name: str) -> Any:
    """A vectorizer that a model may have as a setting."""
    return _find(VECTORIZERS, name)


def is_vectorizer(value: Any) -> bool:
    """Whether it is a vectorizer that a model may have as a setting."""
    return _is_in(VECTORIZERS, value)


@cache
def covariances() -> dict[str, type]:
    """scikit-learn's estimators of covariances, which a model may have as a setting."""
    module = import_module("sklearn.covariance")
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: thing for name, thing in found.items() if isinstance(thing, type)}
