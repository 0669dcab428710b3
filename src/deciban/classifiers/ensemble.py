"""Many hypotheses instead of one: `BayesOptimal` averages what they say, `Gibbs` draws one of them.

    P(class | x) = Σ_h P(class | x, h) P(h | D)

The average is the best that can be done with these hypotheses, and need not agree with the most probable of them. With
P(h | D) = 0.4, 0.3, 0.3 and votes +, −, − the best single hypothesis says +, and the average says −:

>>> vote = BayesOptimal.of({"h1": "+", "h2": "-", "h3": "-"}, weights=[0.4, 0.3, 0.3])
>>> vote.predict([[0]]).tolist(), vote.predict_proba([[0]]).round(9).tolist()  # of `classes_`, "+" and "-"
(['-'], [[0.4, 0.6]])
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, column_or_1d

from deciban import frames, hypotheses, ingest, ops
from deciban.classifiers import members
from deciban.classifiers.aode import AODE
from deciban.classifiers.base import Generative
from deciban.classifiers.composed import Composed
from deciban.classifiers.given_priors import PRIORS
from deciban.classifiers.kdb import KDependenceBayes
from deciban.classifiers.members_on_data import MembersOnData
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.on_data import OnData
from deciban.classifiers.pooling import Pooling, all_have, draw
from deciban.classifiers.settled import Settled
from deciban.classifiers.standardised import Standardised
from deciban.classifiers.tree import TreeAugmentedNB
from deciban.decision import check_priors
from deciban.errors import DataError, MergeError, NotAdditiveError, levels_up

CONJUGATE = (MixedNB(families="student", alpha=1.0), MixedNB(families="student", alpha=1.0, average="subsets"))
STACKED = {
    "calibrated": MixedNB(calibrate=True),
    "weighted": MixedNB(weights="discriminative"),
    "tree": TreeAugmentedNB(calibrate=True),
    "aode": AODE(calibrate=True),
    "kdb": KDependenceBayes(k=2, calibrate=True),
}
IN_PIECES = {"weighted": STACKED["weighted"], "tree": TreeAugmentedNB(), "aode": AODE(), "kdb": KDependenceBayes(k=2)}
PRIOR = {"tree": 1 / 3, "aode": 1 / 3, "kdb": 1 / 3}  # three that say much the same share the part of one
LINEAR = {"logistic": Standardised()}  # one more, where all columns are numbers and no cell is missing


def updates(method: str) -> Callable[[Any], bool]:
    """For `available_if`: whether every model has it, and weights come from tallies or are given."""
    return lambda self: self._additive() and all_have(method)(self)


class Ensemble(Composed, Pooling, MembersOnData, Settled, ClassifierMixin, BaseEstimator):
    """Base of `BayesOptimal` and `Gibbs`: models, and the posterior probability of each."""

    models: Any
    prior: Any
    weights: Any
    _parameter_constraints: dict = {
        "models": ["array-like", Mapping, None],
        "prior": ["array-like", Mapping, None],
        "weights": [StrOptions({"evidence", "loo", "bic"}), "array-like"],
        "priors": PRIORS,
    }

    @classmethod
    def of(cls, hypotheses: Any, weights: Any = None, classes: Any = None, **settings: Any) -> Self:
        """An ensemble that is not learned: fitted models, functions of X (to labels or probabilities) or labels, and
        the posterior probability of each; `classes` where they cannot be told from the hypotheses.

        >>> few = BayesOptimal.of([lambda X: X[:, 0] > 0, lambda X: X[:, 0] > 2], [0.7, 0.3], classes=[False, True])
        >>> few.predict_proba(np.array([[1.0], [3.0]])).round(9).tolist()
        [[0.3, 0.7], [0.0, 1.0]]
        """
        pairs = members.named(hypotheses)
        out = cls(pairs, weights=np.ones(len(pairs)) if weights is None else weights, **settings)
        fitted = [h for _, h in pairs if hasattr(h, "predict_proba") or hasattr(h, "predict_log_proba")]
        told = [h.classes_ for h in fitted] + [[h] for _, h in pairs if not callable(h) and h not in fitted]
        if classes is None and not told:
            raise DataError("functions do not say which classes there are\n\nhint: classes=[…]")
        labels = np.concatenate([np.asarray(some) for some in told]) if classes is None else classes
        out.classes_ = np.unique(labels)
        out.models_ = [h if h in fitted else members.Prefit(h, out.classes_) for _, h in pairs]
        out.names_, out.class_count_ = [name for name, _ in pairs], None
        out.left_out_, out._asked = {}, out.names_
        out.weights_ = np.exp(members.log_prior(out.weights, out.names_))
        return out

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn every model from rows X with labels y, and how probable each of them is. A model that cannot learn from
        these rows is left out, with a warning (`left_out_`)."""
        self._validate_params()
        with self._unchanged_on_failure():
            called, (X, y) = frames.target_name(y), frames.take_target(X, y)
            self._fit_rows(self._pairs_for(X), X, y, sample_weight, called)
        return self

    def _fit_rows(self, pairs: members.Named, X: Any, y: Any, sample_weight: Any, called: str | None = None) -> None:
        self._take(
            pairs,
            *members.each_learned(
                pairs, lambda _, model: clone(model).fit(X, y, **members.weighed(model, "fit", sample_weight))
            ),
        )
        if called is not None:
            for model in self.models_:
                if isinstance(model, OnData):
                    model._name_target(called)
            self.target_name_ = called
        self._describe(y, sample_weight)
        self._weigh(X, y, sample_weight)
        members.say_left_out(self.left_out_)

    @available_if(updates("partial_fit"))
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same as one `fit` on all of them, where the models' are. The first call names all
        `classes`. weights="evidence" are made anew from the tallies."""
        self._validate_params()
        with self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            known = (
                [clone(model) for _, model in self._some_pairs()]
                if first
                else [members.copied(m) for m in self.models_]
            )
            more = {"classes": classes} if first or classes is not None else {}
            names = [name for name, _ in self._some_pairs()] if first else self.names_
            learned = [m.partial_fit(X, y, **more, **members.weighed(m, "partial_fit", sample_weight)) for m in known]
            before = None if first else self.class_count_
            self._take(self._pairs(), list(zip(names, learned, strict=True)), {} if first else self.left_out_)
            self._describe(frames.take_target(X, y)[1], sample_weight, before)
            self._weigh()
        return self

    @available_if(updates("forget"))
    def forget(self, X, y, sample_weight=None) -> Self:
        """Take back rows that were learned, in every model."""
        self._check_is_fitted()
        with self._unchanged_on_failure():
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.models_ = [members.copied(model).forget(X, y, **more) for model in self.models_]
            self.class_count_ = np.asarray(self.models_[0].class_count_, dtype=np.float64)
            self._weigh()
        return self

    def __add__(self, other: Self) -> Self:
        """The ensemble of both ensembles' rows, model by model."""
        if isinstance(other, int) and other == 0:  # where sum([...]) starts
            return self
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted()
        other._check_is_fitted()
        if not self._additive():
            raise NotAdditiveError(
                f"weights={self.weights!r} of these models looks at all rows at once: no merging\n\n"
                "hint: fit again on all rows, or use weights='evidence' of models that are tallies, or your own weights"
            )
        if self.names_ != other.names_ or not all(hasattr(model, "__add__") for model in self.models_):
            raise MergeError(
                f"one ensemble has {self.names_}, the other {other.names_}, and not all of them may add up\n\n"
                "hint: merge ensembles of the same models, each of which merges"
            )
        out = clone(self)
        both = [a + b for a, b in zip(self.models_, other.models_, strict=True)]
        out._take(self._pairs(), list(zip(self.names_, both, strict=True)), self.left_out_)
        out._describe(None, None, out.models_[0].class_count_)
        out._weigh()
        return out

    __radd__ = __add__

    @property
    def evidence_(self) -> float:
        """log Σ_h P(h) P(D | h), of the data that the models' evidences are of; weights="evidence" only."""
        self._check_is_fitted()
        if not isinstance(self.weights, str) or self.weights != "evidence" or "held_out_" in self.__dict__:
            raise AttributeError("the models were not weighed by evidence\n\nhint: fit with weights='evidence'")
        return float(np.logaddexp.reduce(self.log_evidence_ + self._log_of(self.prior)))

    # inside

    def _usual(self) -> Any:
        """The models where none are named: those that are strong, or those whose evidence is closed."""
        return STACKED if isinstance(self.weights, str) and self.weights == "loo" else CONJUGATE

    def _usual_in_pieces(self) -> Any:
        """The same where there are too many rows to hold: calibration takes all of them at once."""
        return IN_PIECES if self._usual() is STACKED else CONJUGATE

    def _some_pairs(self) -> members.Named:
        pairs = self._pairs()
        if not pairs:
            raise DataError("there are no models\n\nhint: give a list of classifiers, or of (name, classifier)")
        return pairs

    def _pairs_for(self, X: Any) -> members.Named:
        """The models that are to learn from X."""
        pairs = self._some_pairs()
        more = self.models is None and self._usual() is STACKED and members.all_numbers(X)
        return [*pairs, *LINEAR.items()] if more else pairs

    def _take(self, pairs: members.Named, learned: members.Named, left_out: dict[str, str]) -> None:
        """These models and nothing of an earlier fit; `pairs` are all that were to learn."""
        for name in [name for name in self.__dict__ if name.endswith("_")]:
            del self.__dict__[name]
        self._asked = [name for name, _ in pairs]
        self.names_, self.models_ = [name for name, _ in learned], [model for _, model in learned]
        self.left_out_ = dict(left_out)

    def _drop(self, left_out: dict[str, str]) -> None:
        """Go on without some of the models."""
        kept = [(name, m) for name, m in zip(self.names_, self.models_, strict=True) if name not in left_out]
        self.names_, self.models_ = [name for name, _ in kept], [model for _, model in kept]
        self.left_out_ = {**self.left_out_, **left_out}

    def _log_of(self, weights: Any) -> np.ndarray:
        """log of the weights that were given to all models, of those that are there."""
        if weights is None and self.models is None:
            weights = {name: PRIOR.get(name, 1.0) for name in self._asked}
        logs = members.log_prior(weights, self._asked)
        some = np.array([logs[self._asked.index(name)] for name in self.names_])
        if np.isneginf(some).all():
            told = "; ".join(f"{name}: {why}" for name, why in self.left_out_.items())
            raise DataError(f"no model that has weight could learn ({told})\n\nhint: give others some weight")
        return some - np.logaddexp.reduce(some)

    def _describe(self, y: Any, sample_weight: Any, before: np.ndarray | None = None) -> None:
        """What all models share: classes, columns, and how many rows of each class there were."""
        first = self.models_[0]
        self.classes_ = first.classes_
        if self.priors is not None:
            check_priors(self.priors, self.classes_)
        for name in ("n_features_in_", "feature_names_in_", "target_name_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        count = 0.0 if before is None else np.asarray(before, dtype=np.float64)
        if y is not None:
            _, codes = ingest.labels(column_or_1d(y), self.classes_)
            count = count + ops.class_weights(codes, ingest.weights(sample_weight, codes), len(self.classes_))
        self.class_count_ = np.asarray(count)

    def _weigh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> None:
        """`weights_`, from the tallies alone or from rows."""
        if not isinstance(self.weights, str):
            self.weights_ = np.exp(self._log_of(self.weights))
        elif self.weights == "loo":
            self._stack(X, y, sample_weight)
        elif self.weights == "bic":
            y = column_or_1d(y)
            w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            self._weigh_by([members.schwarz(model, X, y, w) for model in self.models_])
        else:
            try:
                self._weigh_by([members.account(model) for model in self.models_])
            except members.NoEvidenceError as why:
                if X is None:
                    raise
                self._say_why_rows(why)
                self._stack(X, y, sample_weight)

    def _stack(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Weights by rows held out."""
        templates = dict(self._pairs_for(X))
        pairs = [(name, templates[name]) for name in self.names_]
        logs, w, how, failed = members.held_out_of_each(self.models_, pairs, X, y, self.classes_, sample_weight)
        self._drop(failed)
        self._weigh_by_rows(logs, w, how)

    def _weigh_by_rows(self, logs: np.ndarray, w: np.ndarray, how: list[str]) -> None:
        """From log probabilities (m, n) of the classes of rows that the models have not seen, and how that was."""
        self.held_out_ = how
        self.log_evidence_ = logs @ w
        self.weights_ = hypotheses.stacked(logs, np.exp(self._log_of(self.prior)), w)

    def _say_why_rows(self, why: Exception) -> None:
        warnings.warn(
            f"the models are weighed by rows held out: {str(why).split(chr(10))[0]}\n\n"
            "hint: weights='loo' says that this is meant; or give models whose evidences compare",
            UserWarning,
            stacklevel=levels_up(),
        )

    def _weigh_by(self, found: list[tuple[str, float]]) -> None:
        """`weights_` by the probability that each model gives the data, and what data these are."""
        members.same_data([kind for kind, _ in found], self.names_)
        self.log_evidence_ = np.array([value for _, value in found])
        self.weights_ = hypotheses.posterior(self.log_evidence_, self._log_of(self.prior))

    def _additive(self) -> bool:
        """Whether the weights follow from tallies, or are given."""
        given = not isinstance(self.weights, str)
        return given or (self.weights == "evidence" and all(isinstance(m, Generative) for m in self._current()))


class BayesOptimal(Ensemble):
    """The average of what models say, weighted by how well each of them foretells rows that it has not seen, or by how
    probable the rows make it.

    Parameters
    ----------
    models : list of classifiers or of (name, classifier), or {name: classifier}
        Cloned and fitted; one that cannot learn from the rows is left out with a warning (`left_out_`). By default
        naive Bayes, calibrated and with weighted columns, `TreeAugmentedNB`, `AODE` and `KDependenceBayes(k=2)`, all
        calibrated, and, where all columns are numbers and no cell is missing, logistic regression of standardised
        columns. With other weights than "loo", two whose evidence is closed: naive Bayes of normal numbers, and its
        average over all subsets of the columns.
    prior : weights in the order of the models, or {name: weight}
        P(h) before any row was seen; by default all alike, but the tree, `AODE` and `KDependenceBayes` of the default
        models, which say much the same, share the part of one (George 2010).
    weights : "loo", "evidence", "bic", or numbers
        "loo": stacking, the weights under which rows left out are most probable, for models of any kind: leave-one-out
        in closed form where a model has it and all rows have chosen nothing (families, cuts, a structure, a
        calibration), five folds else (`held_out_` says which), of which those of the first 8,192 rows are enough. A row
        is left out with all its weight, whatever that means; the same row once more is another row.
        "evidence": P(h | D) by the models' `evidence_`, exact where it is closed, Laplace's for logistic regression;
        such weights soon are those of one model. Where a model has none, or they are not of the same data, rows left
        out decide, with a warning. "bic": Schwarz' approximation of it. Numbers: P(h | D) as you know it.
    priors : sequence, mapping by class, "uniform" or None
        Class priors of all models; by default the classes' shares of the rows.

    A row that misses cells, or columns, is answered by the models that take it. `fit_on` learns what `fit` would of up
    to 8,192 rows; of more it holds out some of them once, and by default has the models that learn from pieces: naive
    Bayes with weighted columns and the three structured ones, not calibrated.

    Attributes
    ----------
    models_, names_ : lists
        The fitted models, and their names.
    left_out_ : dict
        Models that could not learn from the rows, and why, by name.
    weights_ : ndarray of shape (m,)
        Weight of each model in the average.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    log_evidence_, held_out_
        What the weights came from: evidence of each model, or how rows were held out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    Examples
    --------
    >>> import deciban
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [7.0]], ["a", "a", "a", "b", "b", "b"]
    >>> both = deciban.BayesOptimal([deciban.GaussianNB(), deciban.LogisticRegression()]).fit(X, y)
    >>> both.predict([[1.5], [6.0]]).tolist(), both.held_out_
    (['a', 'b'], ['leave-one-out', '5 folds'])
    """

    def __init__(self, models=None, *, prior=None, weights="loo", priors=None):
        self.models = models
        self.prior = prior
        self.weights = weights
        self.priors = priors

    def _pooled(self, log_proba: np.ndarray) -> np.ndarray:
        return hypotheses.bayes_optimal(log_proba, self.weights_)


class Gibbs(Ensemble):
    """One model drawn by its posterior probability answers each row (per="row"), or the whole call ("prediction").

    On average over concepts that are as probable as the prior says, it is wrong at most twice as often as
    `BayesOptimal`, and asks one model instead of all. Models, prior and weights are those of `BayesOptimal`, weights by
    default the posterior probabilities ("evidence"); a whole number as `random_state` draws the same every time.

    Parameters
    ----------
    models, prior, weights, priors
        As in `BayesOptimal`.
    per : "row" or "prediction"
        Whether a model is drawn for each row, or for a whole call.
    random_state : int, RandomState or None
        A whole number draws the same in every call.

    Attributes
    ----------
    models_, names_ : lists
        The fitted models, and their names.
    left_out_ : dict
        Models that could not learn from the rows, and why, by name.
    weights_ : ndarray of shape (m,)
        Posterior probability of each model.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.

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

    def __init__(self, models=None, *, prior=None, weights="evidence", priors=None, per="row", random_state=None):
        self.models = models
        self.prior = prior
        self.weights = weights
        self.priors = priors
        self.per = per
        self.random_state = random_state

    def _pooled(self, log_proba: np.ndarray) -> np.ndarray:
        return hypotheses.gibbs(log_proba, draw(self.weights_, log_proba.shape[1], self.per, self.random_state))

    def _log_posterior(self, X, priors) -> np.ndarray:
        """Only models that were drawn are asked."""
        self._check_is_fitted()
        X = frames.records(X)
        n = len(X) if isinstance(X, frames.Records) else _num_samples(X)
        drawn = draw(self.weights_, n, self.per, self.random_state)
        asked, places = np.unique(drawn, return_inverse=True)
        asked = asked if len(asked) else np.zeros(1, dtype=np.intp)  # of no rows, somebody must complain
        given = self._or_given(priors)
        each = [members.said(self.models_[m], X, self.classes_, given, self.class_count_) for m in asked]
        return hypotheses.gibbs(np.stack(each), places)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
