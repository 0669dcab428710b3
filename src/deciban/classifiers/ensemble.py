"""Ensembles: predictions by several models, each with a weight.

    P(class | x) = Σ_h w_h P(class | x, h)        `BayesOptimal`: the weighted mean
    P(class | x) = P(class | x, h), h ~ w         `Gibbs`: one model, drawn by its weight

The weight of a model is its posterior probability P(h | D), from its evidence or from Schwarz' approximation of it
(BIC), or the weights maximise the probability of held-out rows (stacking); see `models/hypotheses.py`. The mean is the
best prediction by these models, and may differ from that of the most probable one. With P(h | D) = 0.4, 0.3, 0.3 and
predictions +, −, − the most probable model predicts +, the mean −:

>>> vote = BayesOptimal.of({"h1": "+", "h2": "-", "h3": "-"}, weights=[0.4, 0.3, 0.3])
>>> vote.predict([[0]]).tolist(), vote.predict_proba([[0]]).round(9).tolist()  # of `classes_`, "+" and "-"
(['-'], [[0.4, 0.6]])

`fit` and `fit_on` are one algorithm over `rows/raw_rows.py`: every member learns from all rows; to compare members by
held-out rows, some rows are chosen by content and left out of refits of each member. A `Member` is a model with its
name: `OwnMember` for classifiers of this library, `ForeignMember` for other estimators of scikit-learn's interface,
`RuleMember` for functions, of which nothing is learned but P(D | h) (`classifiers/fixed_rule.py`).

>>> import pyarrow as pa
>>> rows = pa.table({"sky": ["grey", "blue", "grey", "blue"], "label": ["rain", "sun", "rain", "sun"]})
>>> BayesOptimal().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
['rain']
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from types import BuiltinFunctionType, FunctionType
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from deciban import decision, metrics, ops
from deciban.classifiers import conformal
from deciban.classifiers.base import (
    PRIORS,
    Classifier,
    Generative,
    Interval,
    InvalidParameterError,
    MethodUnless,
    StrOptions,
    unfitted,
)
from deciban.classifiers.conformal import copy_shallow
from deciban.classifiers.fixed_rule import FixedRule, shared_classes
from deciban.classifiers.logistic import LogisticRegression, n_coefficients
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.structured import AODE, KDependenceBayes, StructuredNB, TreeAugmentedNB
from deciban.data import frames
from deciban.data.blocks import Reals
from deciban.decision import check_priors
from deciban.errors import (
    ColumnWarning,
    DataError,
    DecibanError,
    MergeError,
    NotAdditiveError,
    UnavailableError,
    levels_up,
)
from deciban.models import hypotheses
from deciban.models.hypotheses import HELD_OUT, NoEvidenceError, check_same_data, class_evidence, log_weights
from deciban.models.influences import PosteriorsWithout
from deciban.models.pooled_posterior import PooledPosterior, inputs_of_each, taken_rows
from deciban.rows import inputs
from deciban.rows.inputs import rows_at
from deciban.rows.raw_rows import Chunk, HeldOut, RawArrays, RawBatches, RawRows, indexable
from deciban.tallies.basic import SumTuple

FOLDS = 5
FAILURES = (DecibanError, ValueError, ArithmeticError, np.linalg.LinAlgError)  # of a model that cannot learn from rows
UPDATES = "fit again on all rows, or use weights='evidence' of models that are tallies, or your own weights"


# methods that depend on the members


def if_all_have(method: str) -> Callable[[Callable], Any]:
    """Decorator of a method that an ensemble has if all of its models have it."""

    def refuse(ensemble: Any) -> None:
        lacking = [member for member in ensemble._members() if not member.has(method)]
        if lacking:
            first = lacking[0]
            raise UnavailableError(
                f"`{method}`: `{first.name}` ({first.kind}) among `models` has no such method with its settings\n\n"
                "hint: leave it out of the models, or change its settings"
            )

    return lambda own: MethodUnless(own, refuse)


def if_all_draw_rows(own: Callable) -> Any:
    """Decorator of a method that an ensemble has if all of its models have densities of rows."""

    def refuse(ensemble: Any) -> None:
        for member in ensemble._members():
            if not member.draws_rows:
                raise UnavailableError(
                    f"`{own.__name__}`: `{member.name}` ({member.kind}) among `models` has no densities of rows\n\n"
                    "hint: leave it out of the models"
                )

    return MethodUnless(own, refuse)


def if_updatable(own: Callable) -> Any:
    """Decorator of a method that an ensemble has if all models have it, and its weights come from tallies or are
    given."""

    def refuse(ensemble: Any) -> None:
        if not ensemble._additive():
            raise UnavailableError(
                f"weights={ensemble._weighting!r} of these `models` needs all rows at once: no update, no forgetting"
                f"\n\nhint: {UPDATES}"
            )
        if_all_have(own.__name__)(own).refuse(ensemble)

    return MethodUnless(own, refuse)


def refuse_without_evidence(ensemble: Any) -> None:
    """Raise an error for the explanation of models of other libraries, or of texts."""
    for member in ensemble._members():
        if not member.has_evidence_by_column:
            raise UnavailableError(
                f"`explain`: `{member.name}` ({member.kind}) among `models` has no evidence by column\n\n"
                "hint: use classifiers of this library, or explain one of `models_`"
            )


# the classifiers


class Ensemble(Classifier):
    """Base of `BayesOptimal` and `Gibbs`: models, and the weight of each."""

    models: Any
    prior: Any
    noise: float
    weights: Any
    priors: Any
    models_: list
    names_: list[str]
    weights_: np.ndarray
    class_count_: np.ndarray | None
    left_out_: dict[str, str]
    _learning: list[str]  # names of all models that were to learn, also of those left out
    _has_members = True
    _parameter_constraints: dict = {
        "models": ["array-like", Mapping, None],
        "prior": ["array-like", Mapping, None],
        "noise": [Interval(Real, 0, 1, closed="left")],
        "weights": [StrOptions({"auto", "evidence", "loo", "bic"}), "array-like"],
        "priors": PRIORS,
    }

    @classmethod
    def of(cls, hypotheses: Any, weights: Any = None, classes: Any = None, **settings: Any) -> Self:
        """An ensemble that is not learned.

        Parameters
        ----------
        hypotheses : list, list of (name, hypothesis), or mapping by name
            Fitted models, functions of X (that return labels or probabilities), or labels.
        weights : sequence, mapping by name, or None
            The weight of each hypothesis; None: equal weights.
        classes : sequence or None
            The labels; None: those of the fitted models and of the labels among the hypotheses.
        **settings
            Further settings of the ensemble.

        Returns
        -------
        BayesOptimal or Gibbs
            It predicts without `fit`.

        Examples
        --------
        >>> few = BayesOptimal.of([lambda X: X[:, 0] > 0, lambda X: X[:, 0] > 2], [0.7, 0.3], classes=[False, True])
        >>> few.predict_proba(np.array([[1.0], [3.0]])).round(9).tolist()
        [[0.3, 0.7], [0.0, 1.0]]
        """
        named = name_models(hypotheses)
        out = cls(named, weights=np.ones(len(named)) if weights is None else weights, **settings)
        known = [classes_of_hypothesis(one) for _, one in named]
        if classes is None and not any(len(some) for some in known):
            raise DataError("functions do not name their classes\n\nhint: classes=[…]")
        out.classes_ = np.unique(np.concatenate([some for some in known if len(some)]) if classes is None else classes)
        out.models_ = [
            one if is_classifier(one) else FixedRule(one, noise=out.noise).with_classes(out.classes_)
            for _, one in named
        ]
        out.names_, out.class_count_, out.left_out_ = [name for name, _ in named], None, {}
        out._learning = out.names_
        out.weights_ = np.exp(log_weights(out.weights, out.names_))
        return out

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn all models from rows, and the weight of each.

        A model that cannot learn from these rows is left out, with a warning; `left_out_` has the reason.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The training rows.
        y : sequence of labels, or the name of a column of X
            The labels.
        sample_weight : sequence or None
            Weights of the rows.

        Returns
        -------
        self
            The same model.
        """
        self._validate_params()
        with self._unchanged_on_failure():
            target, (X, y) = frames.target_name(y), frames.take_target(X, y)
            self._learn(RawArrays(X, y, sample_weight, target))
            if target is not None:
                self.target_name_ = target
        return self

    def _learn_on(self, job: Any) -> None:
        self._learn(RawBatches(job, all(member.reads_texts for member in self._unfitted())))

    def _learn(self, rows: RawRows) -> None:
        """Learn from rows in memory or elsewhere."""
        with rows.several() as rows:
            if self._weighting == "loo":
                rows = rows.in_memory_if_few()
            members = with_classes(self._unfitted(), rows)
            if self.models is None and self._weighting == "loo" and rows.complete_numbers:
                members.append(StandardisedMember("logistic", LOGISTIC))
            self._adopt([member.name for member in members], *learn_each(members, lambda one: one.learn(rows)))
            self._describe(rows.class_weights(self._all_classes()) if isinstance(rows, RawArrays) else None)
            self._learn_weights(rows)
        warn_left_out(self.left_out_)

    @if_updatable
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same as one `fit` on all of them, where that holds for the models. The first call
        names all `classes`. weights="evidence" are computed again from the tallies.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        classes : sequence of labels, or None
            All classes that may occur, in the first call.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.

        Returns
        -------
        self
            The same model, with these rows.
        """
        self._validate_params()
        with self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            before = None if first else self.class_count_
            left_out = {} if first else self.left_out_
            if first:
                members = [replace(member, model=clone(member.model)) for member in self._unfitted()]
            else:
                members = [replace(member, model=copy_shallow(member.model)) for member in self._members()]
            more = {"classes": classes} if first or classes is not None else {}
            for member in members:
                member.model.partial_fit(X, y, **more, **weight_argument(member.model, "partial_fit", sample_weight))
            self._adopt([name for name, _ in self._named_models()], members, left_out)
            new = RawArrays(None, frames.take_target(X, y)[1], sample_weight).class_weights(self._all_classes())
            self._describe(new if before is None else before + new)
            self._learn_weights(None)
        return self

    @if_updatable
    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows that were learned from every model; the weights are computed again.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.

        Returns
        -------
        self
            The same model, without these rows.
        """
        self._check_is_fitted()
        with self._unchanged_on_failure():
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.models_ = [copy_shallow(model).forget(X, y, **more) for model in self.models_]
            self.class_count_ = np.asarray(self.models_[0].class_count_, dtype=np.float64)
            self._learn_weights(None)
        return self

    def __add__(self, other: Self) -> Self:
        """The ensemble of the rows of both ensembles, model by model."""
        if isinstance(other, int) and other == 0:  # the start of sum([...])
            return self
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted()
        other._check_is_fitted()
        if not self._additive():
            raise NotAdditiveError(
                f"weights={self._weighting!r} of these models needs all rows at once: no merging\n\nhint: {UPDATES}"
            )
        if self.names_ != other.names_ or not all(member.adds_rows for member in self._members()):
            raise MergeError(
                f"one ensemble has {self.names_}, the other {other.names_}, and not all of them may add up\n\n"
                "hint: merge ensembles of the same models, each of which merges"
            )
        out = clone(self)
        sums = [replace(a, model=a.model + b) for a, b in zip(self._members(), other.models_, strict=True)]
        out._adopt([name for name, _ in self._named_models()], sums, self.left_out_)
        out._describe(None)
        out._learn_weights(None)
        return out

    __radd__ = __add__

    @property
    def map_(self) -> Any:
        """The model with the largest weight; of functions and labels, a hypothesis that has `predict` and
        `predict_proba`."""
        self._check_is_fitted()
        return self.models_[int(self.weights_.argmax())]

    @property
    def evidence_(self) -> float:
        """log Σ_h P(h) P(D | h), where D are the data that the evidences of the models are of; weights="evidence"
        only."""
        self._check_is_fitted()
        if self._weighting != "evidence" or "held_out_" in self.__dict__:
            raise AttributeError("the weights do not come from evidence\n\nhint: fit with weights='evidence'")
        return float(np.logaddexp.reduce(self.log_evidence_ + self._log_weights(self.prior)))

    # predictions

    def _posterior(self, priors: Any = None) -> PooledPosterior:
        if "models_" not in self.__dict__:
            raise unfitted(self)
        priors = self.priors if priors is None else priors
        own = self._members(), self.weights_, self.class_count_, priors
        return PooledPosterior(self.classes_, *own, self._pooled, self._read)

    def _read(self, X: Any) -> Any:
        """Rows as the models take them."""
        return X

    def explain(
        self, X, *, of=None, against=None, priors=None, form="decibans", error=None, level=0.9, training=None
    ) -> Any:
        """Evidence by column in decibans: prior + columns = log odds.

        The evidence of a column is the mean over the models, by their weights. One more part, "(models together)", is
        what averaging probabilities instead of evidence adds. For a row with missing cells the note of the explanation
        names the models that do not take it.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows to explain.
        of, against : label, sequence of labels, or None
            The class that is explained, and the one that it is compared with; see `Explanation`.
        priors : sequence, mapping by class, "uniform" or None
            Class priors of all models.
        form : "decibans"
            A mean of models is no product of fractions, so that there is no other form; one of `models_` may have it.
        error, level, training : see `explain`
            A mean of models has no standard errors; one of `models_` may have them.

        Returns
        -------
        Explanation
            The evidence of each row.
        """
        more = {"error": error, "level": level, "training": training}
        return super().explain(X, of=of, against=against, priors=priors, form=form, **more)

    explain = MethodUnless(explain, refuse_without_evidence)  # type: ignore[assignment]

    def _pooled(self, posterior: PooledPosterior, X: Any) -> np.ndarray:
        """log P(class | x) (n, k)"""
        return self._combined(posterior.of_each(X), posterior)

    def _combined(self, log_proba: np.ndarray, posterior: PooledPosterior) -> np.ndarray:
        """log P(class | x) (n, k) from that of every model, (m, n, k), in a posterior."""
        raise NotImplementedError

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise unfitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "models_" in self.__dict__

    @if_all_have("leave_one_out")
    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        """log P(class | x) of each row, (n, k), by the models without that row; the weights of the models are kept.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The log probabilities, in the order of `classes_`.
        """
        self._check_is_fitted()
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        priors = self.priors if priors is None else priors
        if priors is not None:
            more["priors"] = check_priors(priors, self.classes_)
        X = self._read(X)
        each = np.stack([model.leave_one_out(X, y, **more) for model in self.models_])
        return self._combined(each, self._posterior(priors))

    @if_all_draw_rows
    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels, (X, y), each from a model drawn by its weight; in the order of the models.

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, generator or None
            The seed of the random numbers.

        Returns
        -------
        X, y : rows and labels
            Rows, as a frame or an array as in training, and their labels.
        """
        self._check_is_fitted()
        source = check_random_state(random_state)
        counts = source.multinomial(n_samples, self.weights_ / self.weights_.sum())
        drawn = [m.sample(int(n), random_state=source) for m, n in zip(self.models_, counts, strict=True) if n]
        return reduce(stack_rows, [x for x, _ in drawn]), np.concatenate([y for _, y in drawn])

    # rows that calibrate sets

    def _kept_folds(self) -> conformal.Held:
        self._check_is_fitted()
        if len(self.models_) != 1 or not isinstance(self.models_[0], Classifier) or self.priors is not None:
            raise conformal.no_kept_rows(self)
        return [(self._with_models([one]), held) for one, held in self.models_[0]._kept_folds()]

    def _without_rows(self, rows: RawArrays, left_out: np.ndarray) -> Any:
        """The models without these rows; learned weights of models, and their choice, are those of all rows."""
        self._check_is_fitted()
        if self.class_count_ is None:
            raise DataError(
                "these hypotheses were not learned here\n\nhint: any rows are new to them: leave out `learned`"
            )
        if self._adds_rows():
            return conformal.forgetting(self, rows, left_out)
        conformal.check_all_learned(self, rows)
        X, y, more = conformal.part_of(rows, np.flatnonzero(~left_out))
        part = RawArrays(self._read(X), y, more.get("sample_weight"))
        return self._with_models([member.learn(part).model for member in self._members()])

    def _proba_without(
        self, rows: RawArrays, group: np.ndarray, groups: int, query: Any, refit: bool = False, priors: Any = None
    ) -> PosteriorsWithout:
        """By every model; the weights of the models are kept."""
        self._check_is_fitted()
        read, query = replace(rows, X=self._read(rows.X)), self._read(query)
        priors = self.priors if priors is None else priors
        each = []
        for model in self.models_:
            if not isinstance(model, Classifier):
                raise NotAdditiveError(
                    f"{type(model).__name__} is no classifier of deciban: no rows can be taken out of it\n\n"
                    "hint: an ensemble of generative classifiers and LogisticRegression has influences"
                )
            own = None if priors is None else check_priors(priors, self.classes_)
            if own is not None:
                own = own[np.searchsorted(self.classes_, model.classes_)]
            found = model._proba_without(read, group, groups, query, refit, own if own is None else own / own.sum())
            each.append(found.in_classes(model.classes_, self.classes_))
        posterior = self._posterior(priors)
        logs = self._combined(np.stack([one.log_proba for one in each]), posterior)
        without = np.stack([one.without for one in each])
        parts = [self._combined(without[:, :, i], posterior) for i in range(len(logs))]
        return PosteriorsWithout(logs, np.stack(parts, axis=1), next((one.note for one in each if one.note), ""))

    def _with_models(self, models: list) -> Any:
        """A copy with other models in the place of its own."""
        out = copy_shallow(self)
        out.models_ = models
        return out

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        read = replace(rows, X=self._read(rows.X))
        found = [model._count_learned(read, codes) for model in self._own_models()]
        return max(found, key=lambda one: one[0] / max(one[1], 1), default=(0, 0))

    # models and their settings

    @property
    def _weighting(self) -> str:
        """How weights are learned; "": they are given."""
        if not isinstance(self.weights, str):
            return ""
        if self.weights != "auto":
            return self.weights
        given = self.models is not None and [is_rule(model) for _, model in name_models(self.models)]
        return "evidence" if given and all(given) else "loo"

    def _named_models(self) -> list[tuple[str, Any]]:
        """The models of the settings, or the default ones: of high accuracy, or such that have an evidence."""
        default = STACKED if self._weighting == "loo" else CONJUGATE
        return name_models(default if self.models is None else self.models)

    def _given_models(self) -> list[tuple[str, Any]]:
        """The models of the settings, if they are a list or a mapping."""
        return self._named_models() if isinstance(self.models, list | tuple | Mapping) else []

    def _unfitted(self) -> list[Member]:
        """The members that are to learn."""
        return members_of(self._named_models(), self.noise)

    def _members(self) -> list[Member]:
        """The fitted members; before `fit`, those of the settings."""
        known = self.__dict__
        named = zip(known["names_"], known["models_"], strict=True) if "models_" in known else self._named_models()
        return [
            OwnMember(name, model) if isinstance(model, Classifier) else Member.of(name, model, self.noise)
            for name, model in named
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; `deep`: with the models and their settings, as `name` and `name__setting`.

        Parameters
        ----------
        deep : bool
            Whether the models and their settings are included.

        Returns
        -------
        dict
            The settings.
        """
        out = super().get_params(deep=False)
        for name, model in self._given_models() if deep else ():
            settings = Member.of(name, model).settings()
            if settings is not None:
                out[name] = model
                out.update({f"{name}__{key}": value for key, value in settings.items()})
        return out

    def set_params(self, **params: Any) -> Self:
        """Change settings: of the ensemble, a model by its name, or a setting of a model as `name__setting`.

        Parameters
        ----------
        **params : object
            The settings by name.

        Returns
        -------
        self
            The same model.
        """
        if "models" in params:
            self.models = params.pop("models")
        names = [name for name, _ in self._given_models()]
        replaced = {name: params.pop(name) for name in list(params) if name in names}
        if any(replaced[name] is not model for name, model in self._given_models() if name in replaced):
            self.models = [(name, replaced.get(name, model)) for name, model in self._named_models()]
        return super().set_params(**params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        each = [own for member in self._members() if (own := member.tags()) is not None]
        for name in ("allow_nan", "sparse", "categorical", "string", "positive_only"):
            whole = any if name in ("positive_only", "allow_nan") else all  # others predict rows with gaps
            setattr(tags.input_tags, name, whole(getattr(one.input_tags, name) for one in each))
        tags.classifier_tags.multi_class = all(one.classifier_tags.multi_class for one in each if one.classifier_tags)
        return tags

    # what its models know of the columns

    def _own_models(self) -> list[Classifier]:
        """The fitted models that are of this library."""
        return [model for model in self.__dict__.get("models_", ()) if isinstance(model, Classifier)]

    def _levels(self) -> dict[Any, list] | None:
        return next((found for model in self._own_models() if (found := model._levels()) is not None), None)

    def _units(self) -> dict[Any, str]:
        return next((found for model in self._own_models() if (found := model._units())), {})

    # the learned state

    def _adopt(self, learning: list[str], members: Sequence[Member], left_out: Mapping[str, str]) -> None:
        """Set the models, and remove what an earlier fit has learned; `learning` names all models that were to
        learn."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]
        self._learning = learning
        self.names_, self.models_ = [one.name for one in members], [one.model for one in members]
        self.left_out_ = dict(left_out)

    def _all_classes(self) -> np.ndarray:
        """The classes of the model that has most: a function may answer a label that no row has."""
        return max((model.classes_ for model in self.models_), key=len)

    def _describe(self, class_count: np.ndarray | None) -> None:
        """Set what all models share: classes, columns, and the weight of the rows of each class; None: that of the
        first model."""
        first = self._members()[0]
        self.classes_ = self._all_classes()
        if self.priors is not None:
            check_priors(self.priors, self.classes_)
        for name, value in first.attributes().items():
            setattr(self, name, value)
        count = first.model.class_count_ if class_count is None else class_count
        self.class_count_ = np.asarray(count, dtype=np.float64)

    def _log_weights(self, weights: Any) -> np.ndarray:
        """log of the weights that were given for all models, of those that could learn."""
        if weights is None and self.models is None:
            weights = {name: PRIOR.get(name, 1.0) for name in self._learning}
        logs = log_weights(weights, self._learning)
        some = np.array([logs[self._learning.index(name)] for name in self.names_])
        if np.isneginf(some).all():
            why = "; ".join(f"{name}: {reason}" for name, reason in self.left_out_.items())
            raise DataError(f"no model that has weight could learn ({why})\n\nhint: give others some weight")
        return some - np.logaddexp.reduce(some)

    def _learn_weights(self, rows: RawRows | None) -> None:
        """Set `weights_`; rows=None: from the tallies of the models alone."""
        members = self._members()
        if self._weighting == "":
            self.weights_ = np.exp(self._log_weights(self.weights))
        elif self._weighting == "bic":
            assert rows is not None
            likelihood, length = likelihood_and_length(members, rows, "weights='bic'")
            self._set_posterior(likelihood - length)
        elif self._weighting == "loo":
            assert rows is not None
            self._stack(members, rows)
        else:
            try:
                self._set_posterior(evidence_of_each(members, f"weights={self.weights!r}"))
            except NoEvidenceError as why:
                if rows is None:
                    raise
                warn_of_held_out(why)
                self._stack(members, rows)

    def _set_posterior(self, log_evidence: np.ndarray) -> None:
        log_prior = self._log_weights(self.prior)
        check_consistent(self._members(), log_evidence, log_prior)
        self.log_evidence_ = log_evidence
        self.weights_ = hypotheses.posterior(self.log_evidence_, log_prior)

    def _stack(self, members: list[Member], rows: RawRows) -> None:
        """Set the weights under which held-out rows are most probable."""
        scores = score_held_out(members, rows.in_memory_if_few(), self.classes_)
        self.names_ = [one.name for one in scores.members]
        self.models_ = [one.model for one in scores.members]
        self.left_out_ = {**self.left_out_, **scores.failed}
        self.held_out_ = scores.descriptions
        self.log_evidence_ = np.array([metrics.total(own, scores.weights) for own in scores.logs])
        prior = np.exp(self._log_weights(self.prior))
        self.weights_ = hypotheses.stacking_weights(scores.logs, prior, scores.weights)

    def _adds_rows(self) -> bool:
        members = self._members()
        return self._additive() and all(one.has(name) for one in members for name in ("partial_fit", "forget"))

    def _additive(self) -> bool:
        """Whether the weights follow from tallies, or are given."""
        if self._weighting == "":
            return True
        return self._weighting == "evidence" and all(one.evidence_adds for one in self._members())


class BayesOptimal(Ensemble):
    """The weighted mean of the predictions of several models.

    Parameters
    ----------
    models : list of classifiers, of functions, or of (name, model), mapping by name, or None
        The models; they are cloned and fitted. A model that cannot learn from the rows is left out, with a warning.
        A function of X that returns labels (n,), or probabilities (n, k) in the order of `classes_`, is a hypothesis
        that is given: nothing is learned of it but P(D | h). Its classes are the labels of y; if all rows have one
        label, also those that the functions answer for them; `partial_fit(X, y, classes=[...])` names others.
        None: `MixedNB`, calibrated; `MixedNB` with feature weights; `TreeAugmentedNB`, `AODE` and
        `KDependenceBayes(k=2)`, calibrated; and, if all columns are numbers without missing cells, logistic regression
        on standardised columns. With other `weights` than "loo", two models that have an evidence: `MixedNB` with
        normal numbers, and its average over all subsets of the columns.
    prior : sequence, mapping by name, or None
        P(h) of each model. None: equal, but of the default models `TreeAugmentedNB`, `AODE` and `KDependenceBayes`,
        whose predictions are similar, share the part of one (George 2010).
    noise : number
        Of functions that return labels: the probability that the label of a row differs from h(x), spread evenly over
        the other classes, P(y | x, h) = 1 − noise if y = h(x), else noise / (k − 1). It holds for rows to predict, too.
        0: P(h | D) is 0 unless h agrees with all rows (version space).
    weights : "auto", "loo", "evidence", "bic", or sequence
        "auto": "evidence" if all models are functions, else "loo".
        "loo": stacking, the weights under which held-out rows are most probable; for models of any kind. Up to 8,192
        rows are held out, chosen by their content (all rows, if there are no more). Where a model has leave-one-out in
        closed form, and nothing in it was chosen by all rows (families, cuts, a structure, a calibration), each row is
        left out alone. Other models are fitted again: without each of five folds; with more than 8,192 rows, without
        each of fewer groups, from 40,960 rows on without one. `held_out_` describes it. A row is held out with its
        whole weight; a copy of a row is another row.
        "evidence": P(h | D) from `evidence_` of the models, exact where it has a closed form, Laplace's approximation
        for logistic regression. With many rows, one model has nearly all of the weight. If a model has no evidence, or
        the evidences are not of the same data, held-out rows are used, with a warning.
        "bic": P(h | D) by Schwarz' approximation.
        Numbers, in the order of the models or by name: P(h | D) as given.
    priors : sequence, mapping by class, "uniform" or None
        Class priors of all models; None: the shares of the classes in the training rows.

    Attributes
    ----------
    models_, names_ : lists
        The fitted models, and their names.
    left_out_ : dict
        Models that could not learn from the rows, by name, and the reason.
    weights_ : ndarray of shape (m,)
        Weight of each model.
    map_ : model
        The model with the largest weight; a function is wrapped and has `predict`.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    log_evidence_ : ndarray of shape (m,)
        What learned weights come from: log evidence of each model, or log probability of the held-out rows.
    held_out_ : list of str
        How rows were held out, for each model; weights="loo" only.
    evidence_ : float
        log Σ_h P(h) P(D | h); weights="evidence" only.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    See Also
    --------
    Gibbs : One model, drawn by its weight, predicts each row.
    select_model : Chooses one model instead of averaging.

    Notes
    -----
    A row with missing cells, or without some of the columns, is predicted by the models that take it: the others have
    no weight for this row. `explain` names them in a note. Columns of frames are matched by name for all models, if one
    of them does so.

    `fit_on` learns the same model as `fit`, from data of any size. Models of other libraries learn from rows in memory
    only; so does logistic regression on standardised columns, from up to 2 GiB.

    Examples
    --------
    >>> import deciban
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
    >>> both = deciban.BayesOptimal([deciban.GaussianNB(), deciban.LogisticRegression()]).fit(X, y)
    >>> both.predict([[1.5], [6.0]]).tolist(), both.held_out_
    (['a', 'b'], ['leave-one-out', '5 folds'])

    P(h | D) of given functions, where one of ten labels is wrong:

    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), [False, True, False, True]
    >>> above = [lambda X, cut=cut: X[:, 0] > cut for cut in (0.5, 1.5, 3.5)]
    >>> vote = deciban.BayesOptimal(above, noise=0.1).fit(X, y)
    >>> vote.weights_.round(2).tolist(), vote.map_.predict(X).tolist()
    ([0.05, 0.47, 0.47], [False, True, True, True])
    """

    def __init__(self, models=None, *, prior=None, noise=0.0, weights="auto", priors=None):
        self.models = models
        self.prior = prior
        self.noise = noise
        self.weights = weights
        self.priors = priors

    def _combined(self, log_proba: np.ndarray, posterior: PooledPosterior) -> np.ndarray:
        return hypotheses.bayes_optimal(log_proba, self.weights_)


class Gibbs(Ensemble):
    """Prediction by one model, drawn by its posterior probability.

    On average over concepts that are as probable as the prior assumes, it errs at most twice as often as
    `BayesOptimal`, and evaluates one model for each row instead of all (Haussler, Kearns and Schapire 1994).

    Parameters
    ----------
    models : list of classifiers, of functions, or of (name, model), mapping by name, or None
        As in `BayesOptimal`.
    prior : sequence, mapping by name, or None
        P(h) of each model, as in `BayesOptimal`.
    noise : number
        Of functions that return labels: the probability of a label that differs from h(x), as in `BayesOptimal`.
    weights : "evidence", "auto", "loo", "bic", or sequence
        As in `BayesOptimal`; by default the posterior probabilities from the evidence.
    priors : sequence, mapping by class, "uniform" or None
        Class priors of all models; None: the shares of the classes in the training rows.
    per : "row" or "prediction"
        Whether a model is drawn for each row, or one for all rows of a call.
    random_state : int, RandomState or None
        An int draws the same models in every call.

    Attributes
    ----------
    models_, names_ : lists
        The fitted models, and their names.
    left_out_ : dict
        Models that could not learn from the rows, by name, and the reason.
    weights_ : ndarray of shape (m,)
        Posterior probability of each model.
    map_ : model
        The model with the largest weight; a function is wrapped and has `predict`.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    log_evidence_ : ndarray of shape (m,)
        What learned weights come from: log evidence of each model, or log probability of the held-out rows.
    held_out_ : list of str
        How rows were held out, for each model; weights="loo" only.
    evidence_ : float
        log Σ_h P(h) P(D | h); weights="evidence" only.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    See Also
    --------
    BayesOptimal : The weighted mean of the predictions of all models.

    Notes
    -----
    For a row with missing cells a model is drawn among those that take it.

    Examples
    --------
    >>> coin = Gibbs.of({"h1": "+", "h2": "-"}, weights=[0.4, 0.6], random_state=0)
    >>> coin.predict([[0]] * 8).tolist()
    ['+', '-', '+', '-', '-', '-', '-', '-']
    """

    _parameter_constraints: dict = {
        **Ensemble._parameter_constraints,
        "per": [StrOptions({"row", "prediction"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self, models=None, *, prior=None, noise=0.0, weights="evidence", priors=None, per="row", random_state=None
    ):
        self.models = models
        self.prior = prior
        self.noise = noise
        self.weights = weights
        self.priors = priors
        self.per = per
        self.random_state = random_state

    def _combined(self, log_proba: np.ndarray, posterior: PooledPosterior) -> np.ndarray:
        return hypotheses.gibbs(log_proba, draw(self.weights_, log_proba.shape[1], self.per, self.random_state))

    def _pooled(self, posterior: PooledPosterior, X: Any) -> np.ndarray:
        """Only models that were drawn are evaluated."""
        X, own = frames.records(X), (self.classes_, posterior.priors, self.class_count_)
        n = len(X) if isinstance(X, frames.Records) else inputs.count_rows(X)
        drawn = draw(self.weights_, n, self.per, self.random_state)
        if not (type(X) is np.ndarray and X.dtype.kind == "f" and np.isfinite(X).all()):  # cells may be missing
            each = inputs_of_each(posterior.members, X)
            if any(taken is not None for _, taken in each):
                return self._of_rows_taken(posterior.members, each, drawn, own)
        some, places = np.unique(drawn, return_inverse=True)
        some = some if len(some) else np.zeros(1, dtype=np.intp)  # without rows, a model raises the error
        return hypotheses.gibbs(np.stack([posterior.members[m].log_proba(X, *own) for m in some]), places)

    def _of_rows_taken(self, members: list[Member], each: list, drawn: np.ndarray, own: tuple) -> np.ndarray:
        """Where the drawn model does not take a row, another one is drawn, among those that do."""
        taken = taken_rows(each, len(drawn))
        refused = np.flatnonzero(~taken[drawn, np.arange(len(drawn))])
        patterns, which = np.unique(taken[:, refused], axis=1, return_inverse=True)
        for i, pattern in enumerate(patterns.T):
            at, weights = refused[which.ravel() == i], self.weights_ * pattern
            weights = weights if weights.any() else pattern * 1.0
            drawn[at] = draw(weights, len(at), self.per, self.random_state)
        out = np.empty((len(drawn), len(self.classes_)))
        for m in np.unique(drawn):
            at = np.flatnonzero(drawn == m)
            out[at] = members[m].log_proba(rows_at(indexable(each[m][0]), at), *own)
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


# functions of the predictions


def draw(weights: np.ndarray, n: int, per: str, random_state: Any) -> np.ndarray:
    """Which model predicts each of n rows, (n,): one drawn for each, or one for all.

    >>> draw(np.array([0.5, 0.5]), 4, "row", 1).tolist(), len(set(draw(np.ones(9), 4, "prediction", 0).tolist()))
    ([1, 1, 0, 1], 1)
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
    return hypotheses.draws(weights, n, rng) if per == "row" else np.repeat(hypotheses.draws(weights, 1, rng), n)


def stack_rows(a: Any, b: Any) -> Any:
    """The rows of two arrays or frames, one after the other."""
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    return nw.concat([nw.from_native(a), nw.from_native(b)], how="vertical").to_native()


# members


@dataclass(frozen=True, eq=False)
class Member:
    """A model in an ensemble, fitted or not, and its name."""

    name: str
    model: Any

    @staticmethod
    def of(name: str, model: Any, noise: float = 0.0) -> Member:
        """`noise` is that of a function."""
        if isinstance(model, Classifier):
            return OwnMember(name, model)
        if is_rule(model):
            return RuleMember(name, FixedRule(model, noise=noise))
        return (RuleMember if isinstance(model, FixedRule) else ForeignMember)(name, model)

    @property
    def kind(self) -> str:
        """What it is, in a message."""
        return type(self.model).__name__

    def learn(self, rows: RawRows) -> Self:
        """A member with the same settings, fitted to the rows."""
        raise NotImplementedError

    def log_proba(self, X: Any, classes: np.ndarray, priors: Any = None, counts: np.ndarray | None = None) -> Any:
        """log P(class | x) (n, k) in the order of `classes`, of which a model may know fewer; with other priors, if
        given, instead of the shares of the classes in training, which are proportional to `counts`."""
        raise NotImplementedError

    def evidence(self) -> tuple[str, float]:
        """(what it is the probability of, its logarithm): of the training rows, parameters integrated out."""
        raise NotImplementedError

    def measure(self) -> str:
        """What the likelihood is the probability of."""
        raise NotImplementedError

    def log_likelihood(self, rows: Chunk) -> float:
        """log of the probability of the rows, by the fitted parameters."""
        raise NotImplementedError

    def n_parameters(self) -> int:
        """The number of free parameters."""
        raise NotImplementedError

    @property
    def finds_columns_by_name(self) -> bool:
        """Whether columns of frames may be in any order."""
        return False

    @property
    def reads_texts(self) -> bool:
        return False

    @property
    def adds_rows(self) -> bool:
        """Whether the model is an additive tally."""
        return False

    @property
    def evidence_adds(self) -> bool:
        """Whether the evidence follows from an additive tally."""
        return False

    @property
    def has_evidence_by_column(self) -> bool:
        return False

    @property
    def draws_rows(self) -> bool:
        """Whether rows can be drawn from the model."""
        return self.has("sample")

    @property
    def takes_missing(self) -> bool:
        """Whether rows with missing cells are taken."""
        tags = self.tags()
        return tags is None or bool(tags.input_tags.allow_nan)

    def held_out(self, held: HeldOut, parts: Sequence[RawRows], classes: np.ndarray) -> tuple[np.ndarray, str]:
        """(log probability (p,) of the class of each held-out row, by models not fitted to it, a description); parts[g]
        are the rows without group g."""
        logs, own = np.empty(len(held.row)), held.codes(classes)
        for group, part in enumerate(parts):
            at, found, _ = self.predict_group(held, group, part, classes)
            logs[at] = found[np.arange(len(at)), own[at]]
        return logs, held.description

    def predict_group(
        self, held: HeldOut, group: int, part: RawRows, classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Self]:
        """(the places of the rows of a group, their log probabilities (p, k), the member that predicts them: it was
        fitted to `part`, the other rows)"""
        at = np.flatnonzero(held.group == group)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about all rows were given before
            fitted = self.learn(part)
            return at, fitted.log_proba(rows_at(held.sample.X, held.row[at]), classes), fitted

    def with_choices_of(self, fitted: Self) -> Self:
        """The same with the numbers that a fit of it chose by held-out rows, as settings."""
        return self

    def has(self, method: str) -> bool:
        """Whether the model has a method, with its settings."""
        return hasattr(self.model, method)

    def tags(self) -> Any:
        """The tags of scikit-learn, or None."""
        return get_tags(self.model) if hasattr(self.model, "__sklearn_tags__") else None

    def settings(self) -> dict[str, Any] | None:
        """The settings by name, or None for what is no estimator."""
        estimator = hasattr(self.model, "get_params") and not isinstance(self.model, type)
        return self.model.get_params(deep=True) if estimator else None

    def attributes(self) -> dict[str, Any]:
        """The attributes of the columns and of the target that the fitted model has."""
        names = ("n_features_in_", "feature_names_in_", "target_name_")
        return {name: getattr(self.model, name) for name in names if hasattr(self.model, name)}


class OwnMember(Member):
    """A classifier of this library: it learns from rows of any kind."""

    @property
    def finds_columns_by_name(self) -> bool:
        return isinstance(self.model, MixedNB | StructuredNB) or self.model._is_coded()

    @property
    def reads_texts(self) -> bool:
        return self.model._reads_texts

    @property
    def adds_rows(self) -> bool:
        return self.model._adds_rows()

    @property
    def evidence_adds(self) -> bool:
        return isinstance(self.model, Generative)

    @property
    def draws_rows(self) -> bool:
        """Logistic regression draws labels of given rows."""
        return (isinstance(self.model, Generative) or self.model._has_members) and super().draws_rows

    @property
    def has_evidence_by_column(self) -> bool:
        return not self.model._reads_texts

    @property
    def takes_missing(self) -> bool:
        return bool(get_tags(self.model).input_tags.allow_nan) or self.model._is_coded()

    def learn(self, rows: RawRows) -> Self:
        model = clone(self.model)
        if isinstance(rows, RawArrays):
            weighted = has_fit_parameter(model, "sample_weight")
            X, y, w = rows.arrays() if weighted or rows.w is not None else rows.whole_rows()
            model.fit(X, y, **weight_argument(model, "fit", w))
            if rows.target is not None:
                model._name_target(rows.target)
        else:
            model._validate_params()
            model._learn_on(rows.job)
        return replace(self, model=model)

    def with_choices_of(self, fitted: Self) -> Self:
        settings = self.model.get_params(deep=False)
        chosen = {
            name: value
            for name, value in fitted.model._chosen_settings().items()
            if isinstance(settings.get(name), str) and isinstance(value, Real)
        }
        return replace(self, model=clone(self.model).set_params(**chosen)) if chosen else self

    def log_proba(self, X: Any, classes: np.ndarray, priors: Any = None, counts: np.ndarray | None = None) -> Any:
        model = self.model
        if priors is None:
            found = model.predict_log_proba(X)
        else:
            own = check_priors(priors, classes)[np.searchsorted(classes, model.classes_)]
            found = model.predict_log_proba(X, priors=own / own.sum())
        found = np.asarray(found, dtype=np.float64)
        return found if len(model.classes_) == len(classes) else in_classes(found, model.classes_, classes)

    def evidence(self) -> tuple[str, float]:
        value = evidence_of(self.model)
        if not isinstance(self.model, Generative):
            return self.measure(), value
        return self.measure(), value + class_evidence(self.model.class_count_)

    def measure(self) -> str:
        if not isinstance(self.model, Generative):
            return "p(y | X)"
        return f"p(X, y), {measure_of(self.model)}"

    def log_likelihood(self, rows: Chunk) -> float:
        X = rows.read_by(self.model)
        generative = isinstance(self.model, Generative)
        logs = self.model.predict_joint_log_proba(X) if generative else self.model.predict_log_proba(X)
        return sum_of_own_classes(logs, rows, self.model.classes_)

    def n_parameters(self) -> int:
        try:
            return self.model.n_parameters_
        except AttributeError:
            raise unknown_parameters(self.model) from None

    def held_out(self, held: HeldOut, parts: Sequence[RawRows], classes: np.ndarray) -> tuple[np.ndarray, str]:
        """By leave-one-out in closed form, where the model has it and all rows have chosen nothing."""
        if not makes_choices(self.model) and self.has("leave_one_out"):
            sample = held.sample
            more = {} if sample.w is None else {"sample_weight": sample.w}
            try:
                found = np.asarray(self.model.leave_one_out(sample.X, sample.y, **more), dtype=np.float64)
            except NotAdditiveError:  # a setting needs all rows at once
                return super().held_out(held, parts, classes)
            own = found[np.arange(len(found)), np.searchsorted(classes, sample.y)]
            return own[held.row], "leave-one-out" + ("" if held.complete else f" of {held.copies.sum()} rows")
        return super().held_out(held, parts, classes)


class StandardisedMember(OwnMember):
    """Logistic regression on standardised columns, with coefficients in the units of the columns.

    Where the units of columns differ by orders of magnitude, one penalty does not suit all columns. Learning from
    standardised columns and scaling the coefficients back gives an ordinary `LogisticRegression`.

    >>> X = [[0.0, 5e5], [1.0, 2e5], [2.0, 9e5], [3.0, 6e5], [4.0, 4e5], [5.0, 8e5]]
    >>> rows = RawArrays(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> model = StandardisedMember("logistic", LOGISTIC).learn(rows).model
    >>> type(model).__name__, model.predict([[0.5, 5e5], [4.5, 5e5]]).tolist()
    ('LogisticRegression', ['no', 'yes'])
    """

    def learn(self, rows: RawRows) -> Self:
        names = None
        if isinstance(rows, RawBatches):
            names = np.array(rows.job.roles.features, dtype=object)
            rows = rows.collected("logistic regression on standardised columns")
        X, y, w = rows.arrays()
        X = frames.records(X)
        columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
        x = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
        w = None if w is None else np.asarray(w, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = ops.moments(Reals(x), np.zeros(len(x), dtype=np.int32), w, 1)  # equal bits in any order of rows
            mean, spread = moments.mean[0], np.sqrt(moments.m2[0] / moments.n.sum())
        if not ops.all_finite(spread):
            raise inputs.overflow_error(np.abs(x).max())
        spread[~(spread > 1e-12 * np.abs(x).max(axis=0, initial=1e-300))] = 1.0
        model = clone(self.model).fit((x - mean) / spread, y, w)
        if isinstance(X, frames.Records):
            names = np.array(list(X.cells), dtype=object)
        if names is None:
            inputs.check_feature_names(model, X, reset=True)
        else:
            model.feature_names_in_ = names
        if rows.target is not None:
            model._name_target(rows.target)
        model.__dict__.pop("path_", None)  # in other units
        model.coef_ = model.coef_ / spread
        model.intercept_ = model.intercept_ - model.coef_ @ mean
        model._set_means(mean)
        _, codes = inputs.labels(np.asarray(y), model.classes_)
        model._keep_training_rows(Reals(x), codes, inputs.weights(w, codes))
        return replace(self, model=model)


class ForeignMember(Member):
    """An estimator of another library, or a pipeline: it learns from rows in memory only."""

    def learn(self, rows: RawRows) -> Self:
        if not isinstance(rows, RawArrays):
            raise NotAdditiveError(
                f"`{self.name}`, a {self.kind}, learns from rows in memory only\n\n"
                "hint: use `fit`, or leave it out of the models"
            )
        X, y, w = rows.whole_rows()
        model = clone(self.model)
        return replace(self, model=model.fit(X, y, **weight_argument(model, "fit", w)))

    def log_proba(self, X: Any, classes: np.ndarray, priors: Any = None, counts: np.ndarray | None = None) -> Any:
        model = self.model
        with np.errstate(divide="ignore"):
            logs = hasattr(model, "predict_log_proba")
            found = np.asarray(model.predict_log_proba(X) if logs else np.log(model.predict_proba(X)), dtype=np.float64)
            if priors is not None:
                if counts is None:
                    raise no_priors()
                change = np.log(check_priors(priors, classes)) - decision.log_prior(counts)
                found = found + change[np.searchsorted(classes, model.classes_)]
                found = found - np.logaddexp.reduce(found, axis=1, keepdims=True)
        return in_classes(found, model.classes_, classes)

    def evidence(self) -> tuple[str, float]:
        if not isinstance(self.model, Pipeline):
            return self.measure(), evidence_of(self.model)
        return self.measure(), self._last().evidence()[1]

    def measure(self) -> str:
        generative = isinstance(self.model, Pipeline) and isinstance(self.model[-1], Generative)
        return "p(X, y), columns that a pipeline made" if generative else "p(y | X)"

    def log_likelihood(self, rows: Chunk) -> float:
        if isinstance(self.model, Pipeline):
            return self._last().log_likelihood(replace(rows, rows=self.model[:-1].transform(rows.rows)))
        return sum_of_own_classes(self.log_proba(rows.rows, self.model.classes_), rows, self.model.classes_)

    def n_parameters(self) -> int:
        if isinstance(self.model, Pipeline):
            return self._last().n_parameters()
        if not hasattr(self.model, "coef_"):
            raise unknown_parameters(self.model)
        return n_coefficients(self.model)

    def _last(self) -> Member:
        """The last step of a pipeline."""
        return Member.of(self.name, self.model[-1])


class RuleMember(ForeignMember):
    """A function or a label. Nothing is learned of it but the probability of the rows."""

    model: FixedRule

    @property
    def kind(self) -> str:
        return "function" if callable(self.model.rule) else "label"

    @property
    def adds_rows(self) -> bool:
        return True

    @property
    def evidence_adds(self) -> bool:
        return True

    def log_proba(self, X: Any, classes: np.ndarray, priors: Any = None, counts: np.ndarray | None = None) -> Any:
        if priors is not None:
            raise no_priors()
        return in_classes(self.model.predict_log_proba(X), self.model.classes_, classes)

    def n_parameters(self) -> int:
        return 0

    def held_out(self, held: HeldOut, parts: Sequence[RawRows], classes: np.ndarray) -> tuple[np.ndarray, str]:
        """By the function itself: no row has changed it."""
        own = self.log_proba(held.sample.X, classes)[
            np.arange(len(held.sample.y)), np.searchsorted(classes, held.sample.y)
        ]
        return own[held.row], "nothing learned"

    def settings(self) -> dict[str, Any] | None:
        return None


def no_priors() -> DataError:
    return DataError("hypotheses that were not learned here have no priors to change\n\nhint: leave out `priors`")


def is_rule(model: Any) -> bool:
    """Whether it is a function: a hypothesis that is given, not learned."""
    return callable(model) and not isinstance(model, type) and not is_classifier(model)


def members_of(models: Any, noise: float = 0.0) -> list[Member]:
    """The members that are to learn, of a list or a mapping of models; `noise` is that of functions."""
    members = [Member.of(name, model, noise) for name, model in name_models(models)]
    if not members:
        raise DataError("there are no models\n\nhint: give a list of classifiers, or of (name, classifier)")
    return members


def with_classes(members: list[Member], rows: RawRows) -> list[Member]:
    """The members, where functions know all classes: the labels of the rows, and those that one of them answers."""
    rules = [member.model for member in members if isinstance(member, RuleMember)]
    if not rules or not isinstance(rows, RawArrays):
        return members
    classes = shared_classes(rules, rows.X, rows.y)
    return [
        replace(member, model=member.model.with_classes(classes)) if isinstance(member, RuleMember) else member
        for member in members
    ]


def is_classifier(hypothesis: Any) -> bool:
    """Whether a hypothesis is a fitted model."""
    return hasattr(hypothesis, "predict_proba") or hasattr(hypothesis, "predict_log_proba")


def classes_of_hypothesis(hypothesis: Any) -> np.ndarray:
    """The classes of a fitted model, or a label; none of a function."""
    if is_classifier(hypothesis):
        return np.asarray(hypothesis.classes_)
    return np.zeros(0) if callable(hypothesis) else np.asarray([hypothesis])


def name_models(models: Any) -> list[tuple[str, Any]]:
    """(name, model) of each, from a list of models or of pairs, or a mapping. The default name is that of the class, or
    of a function ("h1", "h2", … if it has none); a number is appended if it is taken.

    >>> from deciban import GaussianNB, MixedNB
    >>> [name for name, _ in name_models([GaussianNB(), GaussianNB(ddof=1), ("mine", MixedNB())])]
    ['gaussiannb', 'gaussiannb-2', 'mine']
    >>> [name for name, _ in name_models([len, lambda X: X, lambda X: X])]
    ['len', 'h2', 'h3']
    """
    given = list(models.items()) if isinstance(models, Mapping) else list(models)
    out: list[tuple[str, Any]] = []
    for i, one in enumerate(given):
        pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
        name, model = one if pair else (default_name(one, i), one)
        known = [other for other, _ in out]
        if name in known:
            if pair:
                raise DataError(f"two models are called {name!r}\n\nhint: give each a unique name")
            name = next(f"{name}-{i}" for i in range(2, len(given) + 2) if f"{name}-{i}" not in known)
        out.append((name, model))
    return out


def default_name(model: Any, place: int) -> str:
    """The name of a model, or of a function, at a place of a list."""
    if isinstance(model, FunctionType | BuiltinFunctionType):
        return model.__name__ if model.__name__.isidentifier() else f"h{place + 1}"
    return type(model).__name__.lower()


def weight_argument(model: Any, method: str, sample_weight: Any) -> dict[str, Any]:
    """The weights as an argument of a method, if there are any."""
    if sample_weight is None:
        return {}
    if not has_fit_parameter(model, "sample_weight"):
        raise DataError(
            f"{type(model).__name__}.{method} takes no sample_weight\n\nhint: leave the weights out, or this model"
        )
    return {"sample_weight": sample_weight}


def in_classes(log_proba: np.ndarray, own: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Log probabilities of some of the classes as (n, k): −∞ for the others."""
    if len(own) == len(classes):
        return log_proba
    out = np.full((len(log_proba), len(classes)), -np.inf)
    out[:, np.searchsorted(classes, own)] = log_proba
    return out


def makes_choices(model: Classifier) -> bool:
    """Whether all rows have chosen something that stays when one is left out: families, cuts, a structure, a
    calibration, weights of models. Leave-one-out in closed form would overrate such a model."""
    if isinstance(model, Ensemble):
        members = model._members()
        return model._weighting != "" or not all(
            isinstance(one, OwnMember) and not makes_choices(one.model) for one in members
        )
    state = model._tally_state()
    if state is None:
        return False
    fields = () if state.reader.schema is None else state.reader.schema.fields
    searched = state.spec.structured or any(field.family.chooses for field in fields)
    return searched or bool(state.spec.tune) or state.spec.calibrate


# comparison of members


def learn_each(members: Sequence[Member], learn: Callable[[Member], Any]) -> tuple[list, dict[str, str]]:
    """(the results of those that could learn, {name: reason} of the others). If none could, the first error is raised;
    the error of an invalid setting is always raised."""
    out: list = []
    left_out, first, columns_named = {}, None, False
    for member in members:
        with warnings.catch_warnings():
            if columns_named:
                warnings.simplefilter("ignore", ColumnWarning)  # another member has warned of these columns
            try:
                out.append(learn(member))
                columns_named = columns_named or member.finds_columns_by_name
            except InvalidParameterError:
                raise
            except FAILURES as wrong:
                first = first or wrong
                left_out[member.name] = str(wrong).split("\n")[0]
    if not out and first is not None:
        raise first
    return out, left_out


def warn_left_out(left_out: Mapping[str, str]) -> None:
    for name, why in left_out.items():
        warnings.warn(
            f"`{name}` is left out: {why}\n\nhint: the others predict without it; remove it from `models`, or give it "
            "what it needs",
            UserWarning,
            stacklevel=levels_up(),
        )


def warn_of_held_out(why: Exception) -> None:
    warnings.warn(
        f"the weights come from held-out rows: {str(why).split(chr(10))[0]}\n\n"
        "hint: weights='loo' uses them without this warning; or give models whose evidences compare",
        UserWarning,
        stacklevel=levels_up(),
    )


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """How probable the labels of held-out rows are, by each member."""

    members: list[Member]  # that could be fitted without these rows
    logs: np.ndarray  # (m, p)
    weights: np.ndarray  # (p,), of the rows
    descriptions: list[str]  # how rows were held out
    failed: dict[str, str]  # the reason, by name


def score_held_out(members: Sequence[Member], rows: RawRows, classes: np.ndarray) -> HeldOutScores:
    """The log probabilities of held-out rows by fitted members."""
    held = rows.sample().hold_out(FOLDS)
    parts = [rows.without(held.left_out(group)) for group in range(held.groups)]
    found, failed = learn_each(members, lambda member: (member, *member.held_out(held, parts, classes)))
    each, logs, descriptions = zip(*found, strict=True)
    return HeldOutScores(list(each), np.stack(logs), held.weights, list(descriptions), failed)


def evidence_of_each(members: Sequence[Member], by: str = "evidence") -> np.ndarray:
    """The log evidence of each member, (m,); an error where they are not of the same data."""
    found = [member.evidence() for member in members]
    check_same_data([kind for kind, _ in found], [member.name for member in members], by)
    return np.array([value for _, value in found])


def check_consistent(members: Sequence[Member], log_evidence: np.ndarray, log_prior: np.ndarray) -> None:
    """Raise an error where every function disagrees with some row, so that no posterior is defined."""
    if np.isneginf(log_evidence + log_prior).all() and all(isinstance(one, RuleMember) for one in members):
        best = min(members, key=lambda one: one.model.wrong_ + one.model.impossible_)
        wrong, n = best.model.wrong_ + best.model.impossible_, best.model.class_count_.sum()
        raise DataError(
            f"no hypothesis agrees with all {n:g} rows; the best, `{best.name}`, is wrong in {wrong:g}\n\n"
            "hint: noise=0.1 expects a wrong label in one of ten rows; or give more hypotheses"
        )


def likelihood_and_length(members: Sequence[Member], rows: RawRows, by: str) -> tuple[np.ndarray, np.ndarray]:
    """(log likelihood by the fitted parameters (m,), length of the parameters in nats (m,)).

    The length is ½ log n for each parameter: n rows determine it to a precision of about 1/√n (Schwarz 1978, Rissanen
    1978). `by` is the setting that compares the members."""
    check_same_data([one.measure() for one in members], [one.name for one in members], by)
    parameters = np.array([member.n_parameters() for member in members])
    logs, weight = rows.total(LogLikelihoods(tuple(members))).parts
    return logs, 0.5 * parameters * np.log(weight)


@dataclass(frozen=True, eq=False)
class LogLikelihoods:
    """rows → (log likelihood by each member (m,), weight of the rows)"""

    members: tuple[Member, ...]

    def __call__(self, rows: Chunk) -> SumTuple:
        logs = [member.log_likelihood(rows) if rows.w.any() else 0.0 for member in self.members]
        return SumTuple((np.array(logs), float(rows.w.sum())))


def sum_of_own_classes(logs: Any, rows: Chunk, classes: np.ndarray) -> float:
    """Σ w · logs[i, class of row i]"""
    own = np.minimum(np.searchsorted(classes, rows.y), len(classes) - 1)
    some = np.flatnonzero(rows.w > 0)
    return metrics.total(np.asarray(logs, dtype=np.float64)[some, own[some]], rows.w[some])


def evidence_of(model: Any) -> float:
    """`evidence_` of a model, or an error that says why it has none."""
    try:
        return float(model.evidence_)
    except AttributeError as missing:
        why = str(missing).split("\n")[0]
        why = why if why and "object has no attribute" not in why else "it has no closed form"
        raise NoEvidenceError(
            f"{type(model).__name__} has no evidence: {why}\n\n"
            f"hint: where there is `estimate`, set it to 'bayes'; or {HELD_OUT}"
        ) from None


def measure_of(model: Generative) -> str:
    """Of what the evidence of a generative model is the density, or the probability."""
    state = model._fitted_state()
    schema = state.reader.schema
    if schema is None:
        return state.family.measure
    if state.spec.structured:
        kinds = ["intervals" if field.levels is None else "levels" for field in schema.fields]
    else:
        kinds = [field.family.measure for field in schema.fields]
    gaps = ", and which cells are missing" if schema.gaps is not None else ""
    return (kinds[0] if len(set(kinds)) == 1 else "columns " + " ".join(kinds)) + gaps


def unknown_parameters(model: Any) -> DataError:
    return DataError(
        f"how many parameters a {type(model).__name__} has is not known\n\nhint: {HELD_OUT}, or by 'evidence'"
    )


# default members

CONJUGATE = (MixedNB(families="student", alpha=1.0), MixedNB(families="student", alpha=1.0, average="subsets"))
STACKED = {
    "calibrated": MixedNB(calibrate=True),
    "weighted": MixedNB(weights="discriminative"),
    "tree": TreeAugmentedNB(calibrate=True),
    "aode": AODE(calibrate=True),
    "kdb": KDependenceBayes(k=2, calibrate=True),
}
PRIOR = {"tree": 1 / 3, "aode": 1 / 3, "kdb": 1 / 3}  # three models with similar predictions share the part of one
LOGISTIC = LogisticRegression(C="auto")  # on standardised columns, if all are numbers without missing cells
