"""What is raced, as data. `required` and `aim` are scikit-learn's time over deciban's.

`TASKS` are raced against other libraries. `COSTS` are those that no other library has: each is compared with a simpler
one of ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from bench.data import Iris, Levels, Normals, Recipe, Sentences, Words

NORMALS = Normals(rows=1_000_000, columns=50, classes=10)
WORDS = Words(rows=100_000, columns=100_000, words=90, classes=20)
LEVELS = Levels(rows=1_000_000, columns=20, levels=10, classes=5)
FEW_NORMALS = Normals(rows=60_000, columns=5, classes=3, big=False)  # feature weights take several passes

LDA = "LinearDiscriminantAnalysis"
QDA = "QuadraticDiscriminantAnalysis"
BAYES = ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB")
LOGISTIC = "LogisticRegression"
NETWORKS = ("TreeAugmentedNB", "KDependenceBayes", "AODE", "BayesNet")
RDA = "RegularizedDiscriminantAnalysis"
SHORT = {LDA: "LDA", QDA: "QDA", RDA: "RDA"}


@dataclass(frozen=True)
class Task:
    name: str
    model: str  # the class's name, the same in every library
    verb: str  # fit | predict_proba
    recipe: Recipe
    required: float
    aim: float
    rows: int | None = None  # predict this many rows; None: all
    aim_s: float | None = None  # an aim in seconds, in addition to the ratio
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def smaller(self, by: int) -> Self:
        return replace(self, recipe=self.recipe.smaller(by))


@dataclass(frozen=True)
class Cost:
    """A task that no other library has, and a plainer one of ours to see its time by."""

    name: str
    task: Task
    reference: Task

    def smaller(self, by: int) -> Self:
        return replace(self, task=self.task.smaller(by), reference=self.reference.smaller(by))


def _big(model: str, verb: str, recipe: Recipe, required: float, aim: float) -> Task:
    return Task(f"{SHORT.get(model, model)} {verb}", model, verb, recipe, required, aim)


def _one_row(model: str) -> Task:
    name = f"{SHORT.get(model, model)} predict_proba, one row of iris"
    return Task(name, model, "predict_proba", _iris(model), 3, 8, rows=1, aim_s=20e-6)


def _small_fit(model: str) -> Task:
    return Task(f"{SHORT.get(model, model)} fit, iris", model, "fit", _iris(model), 1, 3)


def _iris(model: str) -> Iris:
    return Iris(whole=model in ("CategoricalNB", "PoissonNB"))


def _setting(model: str, recipe: Recipe, **kwargs: Any) -> Cost:
    """What a setting adds to the time of a fit."""
    (name,) = kwargs
    plain = Task("without", model, "fit", recipe, 0, 0)
    return Cost(f"{model} fit, {name}", replace(plain, name="with", kwargs=kwargs), plain)


def _own_row(model: str, recipe: Recipe | None = None, **kwargs: Any) -> Cost:
    """One row of a classifier that others do not have."""
    name = SHORT.get(model, model)
    task = replace(_one_row(model), name=name, recipe=recipe or _iris(model), kwargs=kwargs)
    return Cost(f"{name} predict_proba, one row", task, replace(_one_row("GaussianNB"), name="GaussianNB, iris"))


# Tasks on the same data stand together: the data is made once.
TASKS: tuple[Task, ...] = (
    _big("GaussianNB", "fit", NORMALS, 40, 90),
    _big("GaussianNB", "predict_proba", NORMALS, 15, 40),
    _big(LDA, "fit", NORMALS, 20, 40),
    _big(LDA, "predict_proba", NORMALS, 2, 4),
    _big(QDA, "fit", NORMALS, 8, 15),
    _big(QDA, "predict_proba", NORMALS, 5, 12),
    _big("MultinomialNB", "fit", WORDS, 3, 6),
    _big("MultinomialNB", "predict_proba", WORDS, 2.5, 5),
    _big("BernoulliNB", "fit", WORDS, 6, 12),
    _big("BernoulliNB", "predict_proba", WORDS, 4, 8),
    _big("CategoricalNB", "fit", LEVELS, 15, 40),
    _big("CategoricalNB", "predict_proba", LEVELS, 8, 20),
    *(_one_row(model) for model in (*BAYES, LDA, QDA)),
    *(_small_fit(model) for model in (*BAYES, LDA, QDA)),
    Task(f"{LOGISTIC} fit, iris", LOGISTIC, "fit", Iris(whole=False), 10, 40, kwargs={"max_iter": 1000}),
    replace(_one_row(LOGISTIC), kwargs={"max_iter": 1000}, aim=5),
)

COSTS: tuple[Cost, ...] = (
    _setting("GaussianNB", NORMALS, calibrate=True),
    _setting("MixedNB", FEW_NORMALS, calibrate=True),
    _setting("GaussianNB", FEW_NORMALS, weights="discriminative"),
    _setting("MixedNB", FEW_NORMALS, weights="discriminative"),
    *(_own_row(model) for model in ("PoissonNB", RDA, "FisherDiscriminant", "MixedNB", *NETWORKS, "BayesOptimal")),
    _own_row("Gibbs", random_state=0),
    _own_row("TextClassifier", Sentences(rows=150, words=8, classes=3)),
)
