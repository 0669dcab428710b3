"""Where the laws over pairs of settings do not hold.

`KNOWN` is empty: a pair that does not hold yet may stand there, and fails its test when it begins to hold.
`NOT_PROMISED` stays: what the settings themselves rule out.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..support.settings import Case

FISHER = "FisherDiscriminant"
SHRUNK = ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "RegularizedDiscriminantAnalysis")
SMOOTHED = ("BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB")
LINEAR = ("LogisticRegression", "LogisticRegression of two classes")
NETWORKS = ("TreeAugmentedNB", "KDependenceBayes", "AODE", "BayesNet")
ENSEMBLES = ("BayesOptimal", "Gibbs")
OF_TALLIES = ("BayesOptimal of tallies", "Gibbs of tallies")
TALLIES = "models=[[gauss,GaussianNB],[normal,MixedNB]]"
MEMBERS = "models=[[gauss,GaussianNB],[linear,LogisticRegression]]"
GIVEN = "weights=[0.4,0.6]"


@dataclass(frozen=True)
class Cases:
    """Of one law, the cases of some classifiers that have all of some settings."""

    law: str
    reason: str
    settings: tuple[str, ...] = ()  # by name, or by name and value
    names: tuple[str, ...] = ()  # of the classifiers in pairs_table; (): all
    but: tuple[tuple[str, ...], ...] = ()  # not those that have all settings of one of these
    refused: bool = False  # cases that `fit` refuses, instead of those that it takes

    def match(self, law: str, case: Case, refused: bool = False) -> bool:
        here = law == self.law and refused == self.refused and (not self.names or case.name in self.names)
        return here and has(case, self.settings) and not any(has(case, settings) for settings in self.but)


def has(case: Case, settings: tuple[str, ...]) -> bool:
    mine = {*case.key, *(setting.name for setting in case.settings)}
    return mine.issuperset(settings)


KNOWN: list[Cases] = []

WHOLE = "leave-one-out takes a row of weight 3 out whole, of three rows one"
NOT_PROMISED = [
    Cases(
        "fit_on_once",
        "EM needs all rows at once: rows with missing cells are left out, with a warning",
        ("missing_cells",),
        (*SHRUNK, FISHER),
    ),
    Cases("refit", "starts where the earlier fit ended", ("warm_start=True",)),
    Cases(
        "partial_fit",
        "EM needs all rows at once: rows with missing cells are left out, with a warning",
        ("missing_cells",),
        (*SHRUNK, FISHER),
    ),
    Cases("partial_fit", "`partial_fit` of logistic regression is the online rule", (MEMBERS, GIVEN), OF_TALLIES),
    *(
        Cases(law, "cuts stay those of the first rows where none are kept", ("keep_rows=0",), NETWORKS)
        for law in ("partial_fit", "merge", "forget")
    ),
    Cases("leave_one_out", "the temperature and the biases of all rows are kept", ("calibrate=True",)),
    Cases("leave_one_out", "the strengths that all rows chose are kept", ("backoff=auto",)),
    Cases(
        "leave_one_out",
        "the weights of the classes are those of all texts",
        ("class_weight=balanced",),
        ("TextClassifier, alpha given",),
        but=(("priors",), ("model=complement",), ("model=logistic",)),
    ),
    Cases(
        "leave_one_out",
        "the words that are left out are those of all texts",
        ("features=chars", "max_df=0.6"),
        ("TextClassifier, alpha given",),
    ),
    Cases(
        "repetition",
        "rows that recur are split over the folds by their number: weights may be in any unit",
        ("weights=discriminative",),
        ("PoissonNB", *SMOOTHED),
    ),
    Cases("repetition", WHOLE, ("calibrate=True",)),
    Cases("repetition", WHOLE, ("alpha=auto",)),
    Cases("repetition", WHOLE, ("shrinkage=loo",)),
    Cases("repetition", WHOLE, ("blend=loo",)),
    Cases("repetition", WHOLE, (), ENSEMBLES, ((TALLIES, "weights=evidence"), (GIVEN,))),
    Cases("repetition", "a share of the variance of rows without weights, as in scikit-learn", ("var_smoothing",)),
    Cases("repetition", "the online rule goes through rows in an order of its own", ("solver=sgd",)),
    Cases("repetition", "two steps from a row are not one of twice the length", ("solver=online",)),
]
