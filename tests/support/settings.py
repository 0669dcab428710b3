"""Classifiers and the values of their settings that are not the defaults: what the laws over pairs of settings go
through.

`sample_weight` and `missing_cells` are among the settings: they say how the rows come. To keep the laws quick, settings
that all networks read by the same code have more values for `TreeAugmentedNB` than for the others, and laws other than
`fit_on` and `explain` judge one of three pairs (`Entry.stride`), each law other ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import clone
from sklearn.covariance import LedoitWolf

import deciban

from .data import (
    BATCHES,
    CODES,
    CODES_WITH_GAPS,
    COMPLETE,
    COUNTS,
    COUNTS_WITH_GAPS,
    MIXED,
    NUMBERS,
    NUMBERS_WITH_GAPS,
    PRESENCES,
    PRESENCES_WITH_GAPS,
    TEXTS,
    TWO_CLASSES,
    WEIGHT,
    Data,
)


@dataclass(frozen=True)
class Setting:
    name: str
    value: Any = field(compare=False)
    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, eq=False)
class Entry:
    """A classifier with the values that are not its defaults, by setting."""

    make: Callable[..., Any]
    data: Data
    values: Mapping[str, list[Any]]
    base: Mapping[str, Any] = field(default_factory=dict)  # settings that all of its cases share
    gappy: Data | None = None  # rows with missing cells, where the classifier takes both kinds
    only: tuple[str, ...] = ()  # the laws that it is for; (): all
    without: tuple[str, ...] = ()  # laws that do not concern it
    within: float = 1e-10  # probabilities of a fit in several passes agree to this
    stride: int = 2  # laws other than `fit_on` and `explain` judge one of so many pairs, each law other ones

    @property
    def settings(self) -> list[Setting]:
        more = {"sample_weight": ["w"]} if "sample_weight" not in self.without else {}
        more |= {"missing_cells": [True]} if self.gappy is not None else {}
        return [
            Setting(name, value, f"{name}={_short(value)}" if name not in more else name)
            for name, values in {**self.values, **more}.items()
            for value in values
        ]


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{_short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_short, value)) + "]"
    if isinstance(value, str):
        return value
    return repr(value) if value is None or isinstance(value, float | int) else type(value).__name__


@dataclass(frozen=True, eq=False)
class Case:
    """A classifier with no, one or two settings."""

    name: str  # of the entry
    settings: tuple[Setting, ...]

    @property
    def entry(self) -> Entry:
        return TABLE[self.name]

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(map(str, self.settings))

    @property
    def data(self) -> Data:
        gappy = any(setting.name == "missing_cells" for setting in self.settings)
        return self.entry.gappy if gappy and self.entry.gappy is not None else self.entry.data

    @property
    def weighted(self) -> bool:
        return any(setting.name == "sample_weight" for setting in self.settings)

    def params(self) -> dict[str, Any]:
        """All settings of the estimator, the defaults among them."""
        return self.model().get_params(deep=False)

    def model(self) -> Any:
        own = {s.name: s.value for s in self.settings if s.name not in ("sample_weight", "missing_cells")}
        return clone(self.entry.make(**{**self.entry.base, **own}))

    def fit(self, rows: Any = slice(None), model: Any = None) -> Any:
        X, y, w = self.data.take(rows)
        return (self.model() if model is None else model).fit(X, y, **self.weights(w))

    def weights(self, w: np.ndarray) -> dict[str, np.ndarray]:
        return {"sample_weight": w} if self.weighted else {}

    def fit_on(self, data: Any) -> Any:
        return self.model().fit_on(data, **({"sample_weight": WEIGHT} if self.weighted else {}))

    def table(self) -> pa.Table:
        return pa.Table.from_pandas(self.data.frame(self.weighted), preserve_index=False)

    def pieces(self) -> list[pa.Table]:
        whole = self.table()
        return [whole.slice(a, b - a) for a, b in pairwise(BATCHES)]

    def partitions(self) -> list[pd.DataFrame]:
        whole = self.data.frame(self.weighted)
        return [whole.iloc[a:b] for a, b in pairwise(BATCHES)]


PRIORS = [0.2, 0.3, 0.5]
BY_CLASS = {"a": 0.2, "b": 0.3, "c": 0.5}
TUNED = {"calibrate": [True], "weights": ["discriminative"], "ledger": [True], "keep_rows": [0]}
SMOOTHED = {"fit_prior": [False], "class_prior": [PRIORS, "uniform"], **TUNED}
OF_CLASSES = {
    "priors": [BY_CLASS],
    "class_weight": ["balanced", {"a": 2.0}],
    "columns": ["strict"],
    "calibrate": [True],
    "ledger": [True],
    "keep_rows": [0],
}
STRUCTURED = {"backoff": [0, 2.0], "alpha": [0, 0.5], **OF_CLASSES}
THIN = {"backoff": [0], "alpha": [0], **OF_CLASSES, "class_weight": ["balanced"]}
CUTS = {"cuts": [None, {"u": [0.0, 1.0]}]}
MIXED_SETTINGS = {
    "missing": ["informative", "average"],
    "unseen": ["reserve"],
    **OF_CLASSES,
    "weights": ["discriminative"],
    "interactions": ["auto"],
    "average": ["subsets"],
    "inclusion": [{"u": 0.9}],
}
FAMILIES = {"u": "student", "v": "gaussian", "t": "poisson"}
LINEAR = {"tol": 1e-9, "max_iter": 400, "random_state": 0}
EDGES = [("u", "s"), ("s", "t")]
IN_PIECES = ("partial_fit", "merge", "forget", "leave_one_out")
FIXED = {"cuts": [0.5, 1.5], "backoff": 2.0}  # nothing but the structure is chosen by the rows
MEMBERS = [("gauss", deciban.GaussianNB()), ("linear", deciban.LogisticRegression(tol=1e-9, max_iter=400))]
TALLIES = [("gauss", deciban.GaussianNB(estimate="bayes")), ("normal", deciban.MixedNB(families="student", alpha=1.0))]
ENSEMBLE = {"prior": [[0.3, 0.7]], "noise": [0.1], "priors": [PRIORS, "uniform"]}

TABLE: dict[str, Entry] = {
    "GaussianNB": Entry(
        deciban.GaussianNB,
        NUMBERS,
        {
            "priors": [PRIORS, "uniform"],
            "var_smoothing": [0.1, "auto"],
            "ddof": [1],
            "variances": ["shared"],
            "estimate": ["bayes"],
            **TUNED,
        },
        gappy=NUMBERS_WITH_GAPS,
    ),
    "BernoulliNB": Entry(
        deciban.BernoulliNB,
        PRESENCES,
        {"alpha": [0.5, 0, "auto"], "force_alpha": [False], "binarize": [0.5, None], **SMOOTHED},
        gappy=PRESENCES_WITH_GAPS,
    ),
    "MultinomialNB": Entry(
        deciban.MultinomialNB,
        COUNTS,
        {"alpha": [0.5, 0, "auto"], "force_alpha": [False], "estimate": ["bayes"], "coefficient": [True], **SMOOTHED},
        gappy=COUNTS_WITH_GAPS,
    ),
    "ComplementNB": Entry(
        deciban.ComplementNB,
        COUNTS,
        {"alpha": [0.5, 0, "auto"], "force_alpha": [False], "norm": [True], **SMOOTHED},
        gappy=COUNTS_WITH_GAPS,
    ),
    "CategoricalNB": Entry(
        deciban.CategoricalNB,
        CODES,
        {"alpha": [0.5, 0, "auto"], "force_alpha": [False], "min_categories": [6], **SMOOTHED},
        gappy=CODES_WITH_GAPS,
    ),
    "PoissonNB": Entry(
        deciban.PoissonNB,
        COUNTS,
        {"shape": [0.5, 0], "exposure": [0.1, 0], "priors": [PRIORS, "uniform"], "estimate": ["bayes"], **TUNED},
        gappy=COUNTS_WITH_GAPS,
    ),
    "LinearDiscriminantAnalysis": Entry(
        deciban.LinearDiscriminantAnalysis,
        NUMBERS,
        {
            "solver": ["lsqr", "eigen"],
            "shrinkage": [0.3, "auto", "loo"],
            "priors": [PRIORS, "uniform"],
            "n_components": [1],
            "store_covariance": [True],
            "tol": [0.5],
            "covariance_estimator": [LedoitWolf()],
            "ddof": [1],
            "estimate": ["bayes"],
            "exact": [True],
            "calibrate": [True],
            "ledger": [True],
            "keep_rows": [0],
        },
        gappy=NUMBERS_WITH_GAPS,
    ),
    "QuadraticDiscriminantAnalysis": Entry(
        deciban.QuadraticDiscriminantAnalysis,
        NUMBERS,
        {
            "solver": ["eigen"],
            "shrinkage": [0.3, "auto", "loo"],
            "priors": [PRIORS, "uniform"],
            "reg_param": [0.2],
            "store_covariance": [True],
            "tol": [0.5],
            "covariance_estimator": [LedoitWolf()],
            "ddof": [1],
            "diagonal": [True],
            "estimate": ["bayes"],
            "exact": [True],
            "calibrate": [True],
            "ledger": [True],
            "keep_rows": [0],
        },
        gappy=NUMBERS_WITH_GAPS,
    ),
    "RegularizedDiscriminantAnalysis": Entry(
        deciban.RegularizedDiscriminantAnalysis,
        NUMBERS,
        {
            "blend": [0, 1, "loo"],
            "shrinkage": [0.3, "auto", "loo"],
            "priors": [PRIORS, "uniform"],
            "estimate": ["bayes"],
            "exact": [True],
            "calibrate": [True],
            "ledger": [True],
            "keep_rows": [0],
        },
        gappy=NUMBERS_WITH_GAPS,
    ),
    "FisherDiscriminant": Entry(
        deciban.FisherDiscriminant,
        NUMBERS,
        {
            "multi": ["eigen"],
            "n_components": [1],
            "priors": [PRIORS, "uniform"],
            "exact": [True],
            "ledger": [True],
        },
        gappy=NUMBERS_WITH_GAPS,
    ),
    "LogisticRegression": Entry(
        deciban.LogisticRegression,
        COMPLETE,
        {
            "penalty": ["l1", "jeffreys", None],
            "C": [0.1, np.inf, "auto"],
            "l1_ratio": [0.5],
            "fit_intercept": [False],
            "class_weight": ["balanced", {"a": 2.0}],
            "solver": ["newton", "lbfgs", "newton-cg", "coordinate", "gradient", "sgd", "online"],
            "warm_start": [True],
            "learning_rate": [0.01],
            "line_search": [False],
            "init": [[[0.1, 0.2, 0.3, 0.4]] * 3],
            "history": [True],
        },
        base=LINEAR,
        without=IN_PIECES,
        within=1e-6,
    ),
    "LogisticRegression of two classes": Entry(
        deciban.LogisticRegression,
        TWO_CLASSES,
        {
            "penalty": ["l1", "jeffreys"],
            "C": [np.inf],
            "dual": [True],
            "fit_intercept": [False],
            "intercept_scaling": [2.0],
            "solver": ["liblinear", "coordinate"],
        },
        base=LINEAR,
        without=IN_PIECES,
        within=1e-6,
    ),
    "KernelLogisticRegression": Entry(
        deciban.KernelLogisticRegression,
        COMPLETE,
        {"C": [10.0, "auto"], "bandwidth": [0.5, "auto"], "landmarks": [20], "max_iter": [400]},
        base={"C": 1.0, "bandwidth": 1.0},
        without=IN_PIECES,
        within=1e-6,
    ),
    "MixedNB": Entry(
        deciban.MixedNB,
        MIXED,
        {"families": ["student", "histogram", FAMILIES], "alpha": [0, 1.0], "ddof": [1], **MIXED_SETTINGS},
        without=("leave_one_out",),
    ),
    "MixedNB, families given": Entry(
        deciban.MixedNB, MIXED, MIXED_SETTINGS, base={"families": FAMILIES, "alpha": 1.0}, only=("leave_one_out",)
    ),
    "TreeAugmentedNB": Entry(
        deciban.TreeAugmentedNB,
        MIXED,
        {"root": ["s"], "missing": ["informative"], **STRUCTURED, "cuts": [None, [0.5, 1.5], {"u": [0.0, 1.0]}]},
        without=("leave_one_out",),
    ),
    "TreeAugmentedNB, cuts given": Entry(
        deciban.TreeAugmentedNB,
        MIXED,
        {"root": ["s"], "missing": ["informative"], **STRUCTURED, "backoff": [0, "auto"]},
        base=FIXED,
        only=("leave_one_out",),
    ),
    "KDependenceBayes": Entry(
        deciban.KDependenceBayes,
        MIXED,
        {"k": [0, 2], "missing": ["informative", "ignore"], **CUTS, **THIN},
        without=("leave_one_out",),
    ),
    "KDependenceBayes, cuts given": Entry(
        deciban.KDependenceBayes,
        MIXED,
        {"k": [0, 2], "missing": ["informative", "ignore"], **THIN, "backoff": [0, "auto"]},
        base=FIXED,
        only=("leave_one_out",),
    ),
    "AODE": Entry(
        deciban.AODE,
        MIXED,
        {"least": [3], "missing": ["informative"], **CUTS, **THIN},
        without=("leave_one_out",),
    ),
    "AODE, cuts given": Entry(
        deciban.AODE,
        MIXED,
        {"least": [3], "missing": ["informative"], **THIN, "backoff": [0, "auto"]},
        base=FIXED,
        only=("leave_one_out",),
    ),
    "BayesNet": Entry(
        deciban.BayesNet,
        MIXED,
        {
            "edges": [EDGES],
            "target": ["kind"],
            "prior": [2.0],
            "max_parents": [0],
            "missing": ["informative", "ignore"],
            **CUTS,
            **THIN,
            "alpha": [None, 0],
        },
        without=("leave_one_out",),
    ),
    "BayesNet, cuts given": Entry(
        deciban.BayesNet,
        MIXED,
        {
            "edges": [EDGES],
            "prior": [2.0],
            "max_parents": [0],
            "missing": ["informative", "ignore"],
            **THIN,
            "backoff": [0, "auto"],
            "alpha": [None],
        },
        base=FIXED,
        only=("leave_one_out",),
    ),
    "TextClassifier": Entry(
        deciban.TextClassifier,
        TEXTS,
        {
            "model": ["bernoulli", "complement", "logistic", "nb-logistic"],
            "features": ["chars"],
            "ngram_range": [(1, 2)],
            "token_pattern": [r"\w+"],
            "alpha": [0.5],
            "smoothing": ["corpus"],
            "dependence": [0.1],
            "spread": [0.4],
            "counts": [True],
            "strip": ["quotes"],
            "stop_words": [["the", "of"]],
            "min_df": [3],
            "max_df": [0.6],
            "priors": [BY_CLASS],
            "class_weight": ["balanced"],
            "C": [0.5],
            "calibrate": [True],
            "ledger": [True],
        },
        without=("sample_weight", "leave_one_out"),
    ),
    "TextClassifier, alpha given": Entry(
        deciban.TextClassifier,
        TEXTS,
        {
            "model": ["bernoulli", "complement", "logistic"],
            "features": ["words+bigrams", "chars"],
            "smoothing": ["corpus"],
            "dependence": [0.1],
            "spread": [0.4],
            "counts": [True],
            "stop_words": [["the", "of"]],
            "min_df": [3],
            "max_df": [0.6],
            "priors": [BY_CLASS, "uniform"],
            "class_weight": ["balanced"],
            "calibrate": [True],
            "ledger": [True],
        },
        base={"alpha": 0.5},
        only=("leave_one_out",),
        without=("sample_weight",),
    ),
    "BayesOptimal": Entry(
        deciban.BayesOptimal,
        COMPLETE,
        {**ENSEMBLE, "models": [TALLIES], "weights": ["evidence", "bic", [0.4, 0.6]]},
        base={"models": MEMBERS},
        without=IN_PIECES,
        within=1e-6,
    ),
    "BayesOptimal of tallies": Entry(
        deciban.BayesOptimal,
        COMPLETE,
        {**ENSEMBLE, "models": [MEMBERS], "weights": ["loo", [0.4, 0.6]]},
        base={"models": TALLIES, "weights": "evidence"},
        only=IN_PIECES,
    ),
    "AutoClassifier": Entry(
        deciban.AutoClassifier,
        COMPLETE,
        {"models": [TALLIES], "max_time": [None], "n_folds": [3], "updatable": [True], "priors": [PRIORS, "uniform"]},
        base={"models": MEMBERS},
        without=(*IN_PIECES, "repetition"),  # copies of a row are held out in several folds, a weight in one
        within=1e-6,
    ),
    "Gibbs": Entry(
        deciban.Gibbs,
        COMPLETE,
        {**ENSEMBLE, "models": [TALLIES], "weights": ["loo", "bic", [0.4, 0.6]], "per": ["prediction"]},
        base={"models": MEMBERS, "random_state": 0},
        without=IN_PIECES,
        within=1e-6,
    ),
    "Gibbs of tallies": Entry(
        deciban.Gibbs,
        COMPLETE,
        {**ENSEMBLE, "models": [MEMBERS], "weights": ["loo", [0.4, 0.6]], "per": ["prediction"]},
        base={"models": TALLIES, "random_state": 0},
        only=IN_PIECES,
    ),
}


def cases(name: str) -> Iterator[Case]:
    """No setting, each one alone, each pair of different settings."""
    settings = TABLE[name].settings
    yield Case(name, ())
    yield from (Case(name, (one,)) for one in settings)
    for a, b in combinations(settings, 2):
        if a.name != b.name:
            yield Case(name, (a, b))
