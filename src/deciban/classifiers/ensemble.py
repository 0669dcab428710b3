"""Many hypotheses instead of one: `BayesOptimal` averages what they say, `Gibbs` draws one of them.

    P(class | x) = Σ_h P(class | x, h) P(h | D)

The average is the best that can be done with these hypotheses, and need not agree with the most probable of them. With
P(h | D) = 0.4, 0.3, 0.3 and votes +, −, − the best single hypothesis says +, and the average says −:

>>> vote = BayesOptimal.of({"h1": "+", "h2": "-", "h3": "-"}, weights=[0.4, 0.3, 0.3])
>>> vote.predict([[0]]).tolist(), vote.predict_proba([[0]]).round(9).tolist()  # of `classes_`, "+" and "-"
(['-'], [[0.4, 0.6]])

What several fitted models, each with a weight, say together of rows.

An estimator made of estimators: their settings as its own, `name__setting`, and what input all of them take.

Ensembles on data of any size: every model learns from all rows, one after the other, and then they are weighed.

Weights by evidence follow from what the models have learned; Schwarz' take one more pass, for the likelihood. For
weights by rows held out, up to `ROWS` rows are learned from as by `fit`; of more, a fifth of `ROWS` drawn rows are held
out, and every model learns twice, without them and with them.

>>> import pyarrow as pa
>>> from deciban import BayesOptimal
>>> rows = pa.table({"sky": ["grey", "blue", "grey", "blue"], "label": ["rain", "sun", "rain", "sun"]})
>>> BayesOptimal().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
['rain']

The hypotheses of an ensemble: their names, what they say of rows, and how well they account for the data.

What makes evidences comparable is that they are probabilities of the same data. A generative model has p(X | y), which
with p(y) (a uniform Dirichlet over the class shares, the same for all) is p(X, y); a discriminative one has p(y | X).
The two never compare, nor do densities of numbers with masses of levels, nor transformed columns with plain ones: then
rows held out do, as every model gives P(y | x) of those.

>>> from deciban import GaussianNB, LogisticRegression
>>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
>>> log_evidence_of(GaussianNB(estimate="bayes").fit(X, y))[0], log_evidence_of(LogisticRegression().fit(X, y))[0]
('p(X, y), densities', 'p(y | X)')

Logistic regression whose penalty is in standard deviations of the columns, told in the columns' own units.

Where units differ by orders of magnitude one penalty cannot suit all columns as they come. Learning from standardised
columns and multiplying the coefficients back gives an ordinary `LogisticRegression`.

>>> X = [[0.0, 5e5], [1.0, 2e5], [2.0, 9e5], [3.0, 6e5], [4.0, 4e5], [5.0, 8e5]]
>>> model = Standardised().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
>>> type(model).__name__, model.predict([[0.5, 5e5], [4.5, 5e5]]).tolist()
('LogisticRegression', ['no', 'yes'])
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from inspect import signature
from typing import Any, ClassVar, Self

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils._param_validation import InvalidParameterError, StrOptions
from sklearn.utils.validation import _check_feature_names, _num_samples, column_or_1d, has_fit_parameter

from deciban import decision, ops
from deciban.classifiers.base import PRIORS, Classifier, Generative, MethodUnless, unfitted
from deciban.classifiers.logistic import LogisticRegression
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
    relocate,
)
from deciban.estimation.dirichlet import log_evidence
from deciban.explain.explanation import Explanation
from deciban.models import hypotheses
from deciban.models.posterior import Evidence
from deciban.rows import inputs
from deciban.rows.digests import STEP, stirred
from deciban.rows.folds import assign_folds
from deciban.rows.inputs import rows_at
from deciban.rows.readers import ArrayKind
from deciban.rows.rows import BatchJob, ColumnRoles
from deciban.rows.sample import batch_digests

FOLDS = 5
ENOUGH = 1 << 13  # rows held out, in as many of the folds as that takes
TROUBLES = (DecibanError, ValueError, ArithmeticError, np.linalg.LinAlgError)  # what a model cannot learn from
HELD_OUT = "hint: compare models by rows held out instead: 'loo'"
Named = list[tuple[str, Any]]


class NoEvidenceError(DataError):
    """A model has no evidence, or evidences are not of the same data."""


def name_members(models: Any) -> Named:
    """(name, model) of each, from a list of either kind or a mapping; a name that is there twice gets a number.

    >>> from deciban import GaussianNB, MixedNB
    >>> [name for name, _ in name_members([GaussianNB(), GaussianNB(ddof=1), ("mine", MixedNB())])]
    ['gaussiannb', 'gaussiannb-2', 'mine']
    """
    given = list(models.items()) if isinstance(models, Mapping) else list(models)
    out: Named = []
    for one in given:
        pair = isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)
        name, model = one if pair else (type(one).__name__.lower(), one)
        known = [other for other, _ in out]
        if name in known:
            if pair:
                raise DataError(f"two models are called {name!r}\n\nhint: give each a name of its own")
            name = next(f"{name}-{i}" for i in range(2, len(given) + 2) if f"{name}-{i}" not in known)
        out.append((name, model))
    return out


def fit_kwargs(model: Any, method: str, sample_weight: Any) -> dict[str, Any]:
    """Arguments that hand the rows' weights on."""
    if sample_weight is None:
        return {}
    if not has_fit_parameter(model, "sample_weight"):
        raise DataError(
            f"{type(model).__name__}.{method} takes no sample_weight\n\nhint: leave the weights out, or this model"
        )
    return {"sample_weight": sample_weight}


def all_numbers(X: Any) -> bool:
    """Whether every column holds numbers, and no cell is missing.

    >>> all_numbers([[1.0, 2], [3, 4]]), all_numbers([[1.0, None]]), all_numbers(np.array([["a"]]))
    (True, False, False)
    """
    if sparse.issparse(X):
        return True
    X = frames.records(X)
    cells = X if frames.is_frame(X) else np.asarray(X)
    if not frames.is_frame(X) and (cells.ndim != 2 or cells.dtype.kind not in "fiubO"):
        return False
    try:
        columns = frames.columns(cells)
    except DecibanError:
        return False  # the models say what is wrong
    return all(column.levels is None and bool(np.isfinite(column.values).all()) for column in columns)


def each_learned(pairs: Named, learn: Callable[[str, Any], Any]) -> tuple[Named, dict[str, str]]:
    """((name, learned model) of those that could learn, {name: why not} of the others). It is an error where none
    could, and a wrong setting always is.

    >>> each_learned([("one", 1), ("two", 0)], lambda name, x: 1 // x)
    ([('one', 1)], {'two': 'integer division or modulo by zero'})
    """
    out: Named = []
    left_out, first = {}, None
    for name, template in pairs:
        with warnings.catch_warnings():
            if any(isinstance(model, MixedNB | StructuredNB) for _, model in out):
                warnings.simplefilter("ignore", ColumnWarning)  # one of them has named those columns
            try:
                out.append((name, learn(name, template)))
            except InvalidParameterError:
                raise
            except TROUBLES as wrong:
                first = first or wrong
                left_out[name] = str(wrong).split("\n")[0]
    if not out and first is not None:
        raise first
    return out, left_out


def say_left_out(left_out: Mapping[str, str]) -> None:
    for name, why in left_out.items():
        warnings.warn(
            f"`{name}` is left out: {why}\n\nhint: the others answer without it; take it out of `models`, or give it "
            "what it needs",
            UserWarning,
            stacklevel=levels_up(),
        )


# what one says of rows


class FixedRule(BaseEstimator):
    """A hypothesis that is not learned: a function of X that gives labels (n,) or probabilities (n, k), or a label."""

    def __init__(self, rule: Any, classes: Any):
        self.rule, self.classes = rule, classes
        self.classes_ = np.asarray(classes)

    def predict_log_proba(self, X) -> np.ndarray:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        answer = np.asarray(self.rule(X)) if callable(self.rule) else np.full(n, self.rule)
        if answer.ndim == 1:
            known = answer[:, None] == self.classes_
            if not known.any(axis=1).all():
                strange = answer[~known.any(axis=1)][0]
                raise DataError(f"a hypothesis says {strange!r}\n\nhint: the classes are {self.classes_.tolist()}")
            answer = known * 1.0
        with np.errstate(divide="ignore"):
            return np.log(answer)


def log_proba_of(
    model: Any, X: Any, classes: np.ndarray, priors: Any = None, shares: np.ndarray | None = None
) -> np.ndarray:
    """log P(class | x) (n, k) in the order of `classes`; under other priors, if given, instead of the shares."""
    asks = getattr(model, "predict_log_proba", None)
    takes = priors is not None and asks is not None and "priors" in signature(asks).parameters
    at = np.searchsorted(classes, model.classes_)  # a model may know fewer classes
    own = None if priors is None else check_priors(priors, classes)[at]
    with np.errstate(divide="ignore"):
        more = {} if own is None or not takes else {"priors": own / own.sum()}
        found = asks(X, **more) if asks is not None else np.log(model.predict_proba(X))
        found = np.asarray(found, dtype=np.float64)
        if own is not None and not takes:
            if shares is None:
                raise DataError("hypotheses that were not learned here have no priors to change\n\nhint: leave it out")
            found = found + np.log(own) - decision.log_prior(shares)[at]
            found = found - np.logaddexp.reduce(found, axis=1, keepdims=True)
    if len(model.classes_) == len(classes):
        return found
    out = np.full((len(found), len(classes)), -np.inf)
    out[:, at] = found
    return out


def suited(models: Sequence[Any], X: Any) -> list[tuple[Any, np.ndarray | None]]:
    """For each model the rows as it takes them, and which (n,) it can be asked of; None: all. Where some of the models
    take missing cells, the others are asked of rows that miss none; where some find columns by name, columns are put in
    order for the others."""
    takes = [_takes_gaps(model) for model in models]
    if all(takes) or not any(takes) or sparse.issparse(X):
        return [(X, None)] * len(models)
    by_name = any(isinstance(model, MixedNB | StructuredNB) for model in models)
    return [(X, None) if takes_gaps else _complete(m, X, by_name) for m, takes_gaps in zip(models, takes, strict=True)]


def _takes_gaps(model: Any) -> bool:
    known = hasattr(model, "__sklearn_tags__") and not isinstance(model, FixedRule)
    return not known or bool(get_tags(model).input_tags.allow_nan)


def _complete(model: Any, X: Any, by_name: bool) -> tuple[Any, np.ndarray | None]:
    if by_name and frames.is_frame(X) and (names := frames.feature_names(model)):
        if not set(names) <= set(frames.names(X)):
            return X, np.zeros(len(X), dtype=bool)
        if isinstance(X, frames.Records):
            X = X.only(names)
        else:
            X = nw.from_native(X, eager_only=True).select(names).to_native()
    cells = X if frames.is_frame(X) else np.asarray(X)
    if not frames.is_frame(X) and (cells.ndim != 2 or cells.dtype.kind not in "fiubO"):
        return X, None  # the model says what is wrong
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        there = ~np.asarray(np.isnan(cells).any(axis=1))
    else:
        there = ~np.asarray(np.any([column.missing for column in frames.columns(cells)], axis=0))
    return X, None if np.all(there) else there


def said_where_suited(
    models: Sequence[Any], X: Any, classes: np.ndarray, priors: Any, shares: np.ndarray | None
) -> np.ndarray:
    """log P(class | x) (m, n, k) of each model, NaN of rows that it cannot be asked of."""
    out, X = [], frames.records(X)
    for model, (rows, there) in zip(models, suited(models, X), strict=True):
        if there is None:
            out.append(log_proba_of(model, rows, classes, priors, shares))
            continue
        found = np.full((len(there), len(classes)), np.nan)
        if there.any():
            found[there] = log_proba_of(model, rows_at(rows, np.flatnonzero(there)), classes, priors, shares)
        out.append(found)
    return np.stack(out)


def held_out(model: Any, template: Any, X: Any, y: np.ndarray, classes: np.ndarray, w: Any) -> tuple[np.ndarray, str]:
    """log P(class | x) (n, k) of rows by models that have not seen them, and how: "leave-one-out" in closed form where
    the (fitted) model has it and all rows have chosen nothing, else by folds; NaN in rows that are enough without."""
    if hasattr(model, "leave_one_out") and not makes_choices(model):
        try:
            more = {} if w is None else {"sample_weight": w}
            return np.asarray(model.leave_one_out(X, y, **more), dtype=np.float64), "leave-one-out"
        except NotAdditiveError:  # a setting looks at all rows at once
            pass
    X, codes = _by_rows(X), np.searchsorted(classes, y)
    fold = assign_folds(min(FOLDS, len(codes)), None, codes)
    folds = fold.max() + 1
    out = np.full((len(codes), len(classes)), np.nan)
    for f in range(_enough(fold)):
        test, train = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        more = fit_kwargs(template, "fit", None if w is None else w[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a fold lacks is no news of the whole
            learned = clone(template).fit(rows_at(X, train), y[train], **more)
            out[test] = log_proba_of(learned, rows_at(X, test), classes)
    return out, f"{folds} folds" if _enough(fold) == folds else f"{_enough(fold)} of {folds} folds"


def _enough(fold: np.ndarray) -> int:
    """How many of the folds have `ENOUGH` rows, or all."""
    return min(int(np.searchsorted(np.cumsum(np.bincount(fold)), ENOUGH)) + 1, int(fold.max()) + 1)


def makes_choices(model: Any) -> bool:
    """Whether all rows chose something that stays when one is left out: families, cuts, a structure, a calibration.
    Such a model looks better than it is, and would be weighed so."""
    if not isinstance(model, Generative):
        return False
    state = model._fitted_state()
    fields = () if state.reader.schema is None else state.reader.schema.fields
    searched = state.spec.structured or any(field.family.chooses for field in fields)
    return searched or bool(state.spec.tune) or state.spec.calibrate


def held_out_of_each(
    models: list, pairs: Named, X: Any, y: Any, classes: np.ndarray, w: Any
) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, str]]:
    """(log probabilities (m, n) of the rows' own classes by models that have not seen them, the rows' weights (n,), how
    each was asked, why others could not be), of rows that weigh anything: the others are in no fold, as if they were
    not there. Where one of the models was asked of some rows only, all are judged by these."""
    y = column_or_1d(y)
    if w is not None:
        some = np.flatnonzero(np.asarray(w) > 0)
        X, y, w = rows_at(_by_rows(X), some), y[some], np.asarray(w, dtype=np.float64)[some]
    fitted = dict(zip([name for name, _ in pairs], models, strict=True))
    told, left_out = each_learned(pairs, lambda name, model: held_out(fitted[name], model, X, y, classes, w))
    own = np.arange(len(y)), np.searchsorted(classes, y)
    logs, w = np.stack([found[own] for _, (found, _) in told]), np.ones(len(y)) if w is None else w
    asked = ~np.isnan(logs).any(axis=0)
    return logs[:, asked], w[asked], [how for _, (_, how) in told], left_out


def _by_rows(X: Any) -> Any:
    """X of which rows may be taken."""
    X = frames.records(X)
    if isinstance(X, frames.Records):
        return X
    if not (isinstance(X, list) or hasattr(X, "shape")):
        X = np.asarray(X)
    return X.tocsr() if sparse.issparse(X) else X


def copied(model: Any) -> Any:
    """A copy that may learn on without changing the model: what fails must leave all models as they were."""
    out = object.__new__(type(model))
    out.__dict__.update(model.__dict__)
    return out


# how well one accounts for the data


def log_evidence_of(model: Any) -> tuple[str, float]:
    """(what it is the probability of, log of that, parameters averaged out)."""
    inner = _last(model)
    try:
        value = float(inner.evidence_)
    except AttributeError as missing:
        why = str(missing).split("\n")[0]
        why = why if why and "object has no attribute" not in why else "there is no closed form of it"
        raise NoEvidenceError(
            f"{type(inner).__name__} has no evidence: {why}\n\n"
            f"hint: where there is `estimate`, set it to 'bayes'; or {HELD_OUT[6:]}"
        ) from None
    if not isinstance(inner, Generative):
        return "p(y | X)", value
    return f"p(X, y), {measure(model)}", value + class_evidence(inner.class_count_)


def measure(model: Any) -> str:
    """Of what a generative model's evidence is the density, or the mass."""
    if isinstance(model, Pipeline):
        return "columns that a pipeline made"
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


def class_evidence(n: np.ndarray) -> float:
    """log p(y) of so many rows of each class (k,), shares drawn from a uniform Dirichlet.

    >>> round(np.exp(-class_evidence(np.array([1.0, 1.0]))))  # 1/2 · 1/3
    6
    """
    counts = np.asarray(n, dtype=np.float64)[None]
    return float(log_evidence(counts, np.array([0, counts.shape[1]]), 1.0)[0, 0])


def bic_of(model: Any, X: Any, y: np.ndarray, w: np.ndarray) -> tuple[str, float]:
    """(what it is the probability of, log of that by Schwarz' approximation): log-likelihood − ½ parameters · log n."""
    kind, logs = likelihood(model, X, y, w)
    return kind, logs - penalty(model, w.sum())


def likelihood(model: Any, X: Any, y: np.ndarray, w: np.ndarray) -> tuple[str, float]:
    """(what it is the probability of, log of that by the model as it is)."""
    own = np.arange(len(y)), np.searchsorted(model.classes_, y)
    if isinstance(_last(model), Generative):
        kind, logs = f"p(X, y), {measure(model)}", model.predict_joint_log_proba(X)[own]
    else:
        kind, logs = "p(y | X)", model.predict_log_proba(X)[own]
    return kind, float(w @ np.asarray(logs, dtype=np.float64))


def penalty(model: Any, weight: float) -> float:
    """What Schwarz takes off the likelihood of rows of that weight."""
    return 0.5 * parameters(_last(model)) * float(np.log(weight))


def _last(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def parameters(model: Any) -> int:
    """How many numbers a model has learned freely."""
    k = len(model.classes_)
    if hasattr(model, "coef_") and not isinstance(model, Generative):
        return (k - 1) * (model.coef_.shape[1] + bool(model.fit_intercept))
    state = model._fitted_state() if isinstance(model, Generative) else None
    free = None if state is None else state.family.n_parameters(state.params, k, model.n_features_in_)
    if free is None:
        raise DataError(
            f"how many parameters a {type(model).__name__} has is not known\n\n{HELD_OUT}, or by 'evidence'"
        )
    return k - 1 + free


def log_prior(prior: Any, names: Sequence[str]) -> np.ndarray:
    """log P(h) (m,), from weights in the order of the models or by name; None: all alike."""
    if prior is None:
        return np.full(len(names), -np.log(len(names)))
    if isinstance(prior, Mapping):
        strange = [name for name in prior if name not in names]
        if strange or len(prior) != len(names):
            raise DataError(f"prior names {list(prior)}, but the models are {list(names)}\n\nhint: name each once")
        prior = [prior[name] for name in names]
    given = np.asarray(prior, dtype=np.float64)
    if given.shape != (len(names),) or not (np.isfinite(given) & (given >= 0)).all() or not given.sum() > 0:
        raise DataError(
            f"weights of models are {prior!r}, and there are {len(names)} models\n\n"
            "hint: give a number ≥ 0 for each, not all of them 0"
        )
    return decision.log_prior(given)


def same_data(kinds: Sequence[str], names: Sequence[str], by: str = "evidence") -> None:
    """Refuse to compare probabilities of different data; `by` is what compares them, for the message."""
    if len(set(kinds)) > 1:
        told = "; ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
        raise NoEvidenceError(f"{by} would compare probabilities of different data ({told})\n\n{HELD_OUT}")


TOGETHER = "(models together)"
NOTE = f"columns: the mean over the models; {TOGETHER}: what averaging probabilities, not evidence, adds"


def if_all_have(method: str) -> Callable[[Callable], Any]:
    """For a method that an ensemble has if all of its models have it."""

    def refuse(ensemble: Any) -> None:
        lacking = [type(model).__name__ for model in ensemble._current() if not hasattr(model, method)]
        if lacking:
            raise UnavailableError(
                f"`{method}`: {lacking[0]} among `models` has no such method with its settings\n\n"
                "hint: leave it out of the models, or change its settings"
            )

    return lambda own: MethodUnless(own, refuse)


def refuse_foreign(ensemble: Any) -> None:
    """Refuse to explain what models of other libraries, or of texts, say."""
    for model in ensemble._current():
        if not isinstance(model, Classifier) or model._reads_texts:
            raise UnavailableError(
                f"`explain`: {type(model).__name__} among `models` has no evidence by column\n\n"
                "hint: use classifiers of this library, or explain one of `models_`"
            )


@dataclass(frozen=True, eq=False)
class PooledPosterior:
    """P(class | x) by several models; see `models.posterior.Posterior`."""

    classes: np.ndarray
    models: list
    weights: np.ndarray  # (m,)
    class_count: np.ndarray | None  # (k,); None: the models were not learned here
    priors: Any
    pooled: Callable[[PooledPosterior, Any], np.ndarray]  # (self, X) → log P(class | x) (n, k)
    splits: ClassVar[bool] = False

    def of_each(self, X: Any) -> np.ndarray:
        """log P(class | x) (m, n, k) of each model, NaN of rows that it cannot be asked of."""
        return said_where_suited(self.models, X, self.classes, self.priors, self.class_count)

    def added_prior(self) -> np.ndarray:
        """log priors (k,) of the classes."""
        if self.class_count is None:
            raise DataError("hypotheses that were not learned here have no class priors\n\nhint: fit models on rows")
        if self.priors is None:
            return decision.log_prior(np.asarray(self.class_count, dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(decision.check_priors(self.priors, self.classes))

    def output(self, X: Any) -> ArrayKind:
        return ArrayKind.plain

    def log_proba(self, X: Any) -> np.ndarray:
        return self.pooled(self, X)

    def proba(self, X: Any) -> np.ndarray:
        return np.exp(self.pooled(self, X))

    def labels(self, X: Any) -> np.ndarray:
        return self.classes[self.pooled(self, X).argmax(axis=1)]

    def log_odds(self, X: Any, against: Any = None) -> np.ndarray:
        place = None if against is None else decision.class_index(against, self.classes)
        return decision.log_odds(self.pooled(self, X), place)

    def evidence(self, X: Any) -> Evidence:
        """The mean over the models, by their weights, and what averaging probabilities instead of evidence adds."""
        priors = None if self.priors is None else decision.check_priors(self.priors, self.classes)
        each = zip(self.weights, self.models, suited(self.models, frames.records(X)), strict=True)
        asked = [(weight, model, rows) for weight, model, (rows, there) in each if there is None]
        told = [model._posterior(priors).evidence(rows) for _, model, rows in asked]
        weights = np.array([weight for weight, *_ in asked])
        weights = weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
        if len({tuple(one.columns) for one in told}) > 1:
            raise DataError(
                "the models tell evidence of different columns (where columns interact, of all together)\n\n"
                "hint: explain one of `models_`"
            )
        base = np.tensordot(weights, np.stack([one.base for one in told]), 1)
        parts = np.tensordot(weights, np.stack([one.parts for one in told]), 1)
        with np.errstate(invalid="ignore"):
            rest = np.nan_to_num(self.pooled(self, X) - (base + parts.sum(axis=2)))
        rest -= rest.mean(axis=1, keepdims=True)  # what all classes share says nothing
        cells = np.asarray(told[0].cells, dtype=object)
        values = np.hstack([cells, np.full((len(cells), 1), "", dtype=object)])
        parts = np.concatenate([parts, rest[:, :, None]], axis=2)
        return Evidence(base, parts, [*told[0].columns, TOGETHER], values)

    def note(self, name: str, found: Evidence) -> str:
        return NOTE


def _stacked(a: Any, b: Any) -> Any:
    """Drawn rows under each other, frames or arrays."""
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b])
    import narwhals as nw

    return nw.concat([nw.from_native(a), nw.from_native(b)], how="vertical").to_native()


def draw(weights: np.ndarray, n: int, per: str, random_state: Any) -> np.ndarray:
    """Which model answers each of n rows: one drawn for each, or one for all. (n,)

    >>> draw(np.array([0.5, 0.5]), 4, "row", 1).tolist(), len(set(draw(np.ones(9), 4, "prediction", 0).tolist()))
    ([1, 1, 0, 1], 1)
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
    return hypotheses.draws(weights, n, rng) if per == "row" else np.repeat(hypotheses.draws(weights, 1, rng), n)


ROWS = 1 << 13


@dataclass(frozen=True, eq=False)
class Told:
    """How probable each model calls rows."""

    kinds: tuple[str, ...]  # what it is the probability of
    logs: np.ndarray  # (m,)
    weight: float  # of the rows

    def __add__(self, other: Told) -> Told:
        return Told(self.kinds or other.kinds, self.logs + other.logs, self.weight + other.weight)


@dataclass(frozen=True, eq=False)
class Telling:
    """batch → what models that have learned tell of its rows."""

    reading: ColumnRoles
    models: list
    classes: np.ndarray

    def __call__(self, batch: Any) -> Told:
        w = self.reading.weights(batch)
        w = np.ones(batch.num_rows) if w is None else w
        if not w.sum() > 0:
            return Told((), np.zeros(len(self.models)), 0.0)
        y = self.classes[self.reading.codes(batch, self.classes)]
        kinds, logs = [], []
        for model in self.models:
            try:
                kind, value = likelihood(model, model._readable(batch, self.reading.features), y, w)
            except DecibanError as wrong:
                raise relocate(wrong, names=self.reading.features) from None
            kinds.append(kind)
            logs.append(value)
        return Told(tuple(kinds), np.array(logs), float(w.sum()))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows drawn evenly, by numbers that their cells tell: those of the `ROWS` least."""

    table: Any  # of Arrow
    key: np.ndarray  # (rows of it,)
    rows: int  # that there are

    def __add__(self, other: Drawn) -> Drawn:
        import pyarrow as pa

        tables = [table for table in (self.table, other.table) if table.num_rows] or [self.table]
        both = pa.concat_tables(
            [table.select(tables[0].schema.names) for table in tables], promote_options="permissive"
        )
        return Drawn(both, np.concatenate([self.key, other.key]), self.rows + other.rows).thinned()

    def thinned(self) -> Drawn:
        if len(self.key) <= ROWS:
            return self
        at = np.flatnonzero(self.key <= np.partition(self.key, ROWS - 1)[ROWS - 1])
        return replace(self, table=self.table.take(at), key=self.key[at])


@dataclass(frozen=True, eq=False)
class Drawing:
    """batch → Drawn."""

    reading: ColumnRoles

    def __call__(self, batch: Any) -> Drawn:
        import pyarrow as pa

        return Drawn(pa.Table.from_batches([batch]), keys(batch, self.reading), batch.num_rows).thinned()


def keys(batch: Any, reading: ColumnRoles) -> np.ndarray:
    """A number for each row of a batch, by its cells and how many rows before it are the same. (n,)"""
    if batch.num_rows == 0:
        return np.zeros(0, dtype=np.uint64)
    digest = batch_digests(batch, reading.features, reading.kinds)
    order = np.argsort(digest, kind="stable")
    new = np.append(True, np.diff(digest[order]) != 0)
    start = np.flatnonzero(new)
    before = np.empty(len(digest), dtype=np.uint64)
    before[order] = np.arange(len(digest)) - np.repeat(start, np.diff(np.append(start, len(digest))))
    return stirred(digest + before * STEP)


def is_held_out(key: np.ndarray, last: np.uint64) -> np.ndarray:
    """Which rows are held out, (n,)."""
    return (key % np.uint64(FOLDS) == 0) & (key <= last)


@dataclass(frozen=True, eq=False)
class Without:
    """batch → what f makes of the rows that are not held out."""

    f: Any
    reading: ColumnRoles
    last: np.uint64

    def __call__(self, batch: Any) -> Any:
        import pyarrow as pa

        return self.f(batch.filter(pa.array(~is_held_out(keys(batch, self.reading), self.last))))


@dataclass(frozen=True)
class Fewer(BatchJob):
    """A job that does not see the rows that are held out, whichever columns a pass reads."""

    last: Any = None
    drawn: Any = None  # the roles by which rows were drawn

    def total(self, f: Callable[[Any], Any], coded: bool = False) -> Any:
        return super().total(Without(f, self.drawn, self.last))

    def _read(self, coded: bool) -> dict[str, Any]:
        columns = dict.fromkeys((*self.roles.columns, *self.drawn.columns))
        return {**super()._read(coded=False), "columns": tuple(columns)}  # digests are of texts, not of codes


def learned(name: str, model: Any, job: Any) -> Any:
    """A model of all rows that the job goes through."""
    if not isinstance(model, Classifier):
        raise NotAdditiveError(
            f"`{name}`, a {type(model).__name__}, learns from rows in memory only\n\n"
            "hint: use `fit`, or leave it out of the models"
        )
    out = clone(model)
    out._validate_params()
    out._learn_on(job)
    return out


class Standardised(BaseEstimator):
    """What makes a `LogisticRegression` of complete columns of numbers: `fit` returns it."""

    def __init__(self, C: Any = "auto"):
        self.C = C

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LogisticRegression:
        X = frames.records(X)
        columns = frames.columns(X if frames.is_frame(X) else np.asarray(X))
        x = np.column_stack([np.asarray(column.values, dtype=np.float64) for column in columns])
        w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        mean = np.average(x, axis=0, weights=w)
        spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w))
        spread[~(spread > 1e-12 * np.abs(x).max(axis=0, initial=1e-300))] = 1.0
        model = LogisticRegression(C=self.C).fit((x - mean) / spread, y, sample_weight)
        if isinstance(X, frames.Records):
            model.feature_names_in_ = np.array(list(X.cells), dtype=object)
        else:
            _check_feature_names(model, X, reset=True)
        model.__dict__.pop("path_", None)  # in other units
        model.coef_ = model.coef_ / spread
        model.intercept_ = model.intercept_ - model.coef_ @ mean
        if "_means" in model.__dict__:
            model._means = mean
        _, codes = inputs.labels(np.asarray(y), model.classes_)
        model._keep_training_rows(Reals(x), codes, inputs.weights(sample_weight, codes))
        return model


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


def if_updatable(own: Callable) -> Any:
    """For a method that an ensemble has if its weights come from tallies, or are given, and all models have it."""

    def refuse(ensemble: Any) -> None:
        if not ensemble._additive():
            raise UnavailableError(
                f"weights={ensemble.weights!r} of these `models` look at all rows at once: no update, no forgetting\n\n"
                "hint: fit again on all rows, or use weights='evidence' of models that are tallies, or your own"
            )
        if_all_have(own.__name__)(own).refuse(ensemble)

    return MethodUnless(own, refuse)


class Ensemble(Classifier):
    """Base of `BayesOptimal` and `Gibbs`: models, and the posterior probability of each."""

    models: Any
    prior: Any
    weights: Any
    priors: Any
    models_: list
    names_: list[str]
    weights_: np.ndarray
    class_count_: np.ndarray | None
    left_out_: dict[str, str]
    _has_members = True
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
        pairs = name_members(hypotheses)
        out = cls(pairs, weights=np.ones(len(pairs)) if weights is None else weights, **settings)
        fitted = [h for _, h in pairs if hasattr(h, "predict_proba") or hasattr(h, "predict_log_proba")]
        told = [h.classes_ for h in fitted] + [[h] for _, h in pairs if not callable(h) and h not in fitted]
        if classes is None and not told:
            raise DataError("functions do not say which classes there are\n\nhint: classes=[…]")
        labels = np.concatenate([np.asarray(some) for some in told]) if classes is None else classes
        out.classes_ = np.unique(labels)
        out.models_ = [h if h in fitted else FixedRule(h, out.classes_) for _, h in pairs]
        out.names_, out.class_count_ = [name for name, _ in pairs], None
        out.left_out_, out._asked = {}, out.names_
        out.weights_ = np.exp(log_prior(out.weights, out.names_))
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

    def _fit_rows(self, pairs: Named, X: Any, y: Any, sample_weight: Any, called: str | None = None) -> None:
        self._take(
            pairs,
            *each_learned(pairs, lambda _, model: clone(model).fit(X, y, **fit_kwargs(model, "fit", sample_weight))),
        )
        if called is not None:
            for model in self.models_:
                if isinstance(model, Classifier):
                    model._name_target(called)
            self.target_name_ = called
        self._describe(y, sample_weight)
        self._weigh(X, y, sample_weight)
        say_left_out(self.left_out_)

    @if_updatable
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same as one `fit` on all of them, where the models' are. The first call names all
        `classes`. weights="evidence" are made anew from the tallies."""
        self._validate_params()
        with self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            known = [clone(model) for _, model in self._some_pairs()] if first else [copied(m) for m in self.models_]
            more = {"classes": classes} if first or classes is not None else {}
            names = [name for name, _ in self._some_pairs()] if first else self.names_
            learned = [m.partial_fit(X, y, **more, **fit_kwargs(m, "partial_fit", sample_weight)) for m in known]
            before = None if first else self.class_count_
            self._take(self._pairs(), list(zip(names, learned, strict=True)), {} if first else self.left_out_)
            self._describe(frames.take_target(X, y)[1], sample_weight, before)
            self._weigh()
        return self

    @if_updatable
    def forget(self, X, y, sample_weight=None) -> Self:
        """Take back rows that were learned, in every model."""
        self._check_is_fitted()
        with self._unchanged_on_failure():
            more = {} if sample_weight is None else {"sample_weight": sample_weight}
            self.models_ = [copied(model).forget(X, y, **more) for model in self.models_]
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
        adds = all(isinstance(model, Classifier) and model._adds_rows() for model in self.models_)
        if self.names_ != other.names_ or not adds:
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

    # answers

    def _posterior(self, priors: Any = None) -> PooledPosterior:
        if not self.__sklearn_is_fitted__():
            raise unfitted(self)
        own = self.classes_, self.models_, self.weights_, self.class_count_, self._or_given(priors)
        return PooledPosterior(*own, self._pooled)

    def explain(self, X, *, of=None, against=None, priors=None) -> Explanation:
        """Evidence by column in decibans: the mean over the models, by their weights, and one more part for what
        averaging probabilities instead of evidence adds. prior + columns + that part = log odds."""
        return super().explain(X, of=of, against=against, priors=priors)

    explain = MethodUnless(explain, refuse_foreign)  # type: ignore[assignment]

    def _pooled(self, posterior: PooledPosterior, X: Any) -> np.ndarray:
        """log P(class | x) (n, k)"""
        return self._combined(posterior.of_each(X))

    def _combined(self, log_proba: np.ndarray) -> np.ndarray:
        """log P(class | x) (n, k) from what every model says, (m, n, k)."""
        raise NotImplementedError

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise unfitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "models_" in self.__dict__

    @if_all_have("leave_one_out")
    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        """log P(class | x) of each row, (n, k), by the models without that row; their weights stay."""
        self._check_is_fitted()
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        priors = self._or_given(priors)
        if priors is not None:
            more["priors"] = decision.check_priors(priors, self.classes_)
        return self._combined(np.stack([model.leave_one_out(X, y, **more) for model in self.models_]))

    @if_all_have("sample")
    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels, (X, y), each from a model drawn by its weight; in the order of the models."""
        self._check_is_fitted()
        source = check_random_state(random_state)
        counts = source.multinomial(n_samples, self.weights_ / self.weights_.sum())
        drawn = [m.sample(int(n), random_state=source) for m, n in zip(self.models_, counts, strict=True) if n]
        return reduce(_stacked, [x for x, _ in drawn]), np.concatenate([y for _, y in drawn])

    def _or_given(self, priors: Any) -> Any:
        """The class priors of a call, or else those of the setting."""
        return self.priors if priors is None else priors

    # models and their settings

    def _pairs(self) -> Named:
        return name_members(self._usual() if self.models is None else self.models)

    def _listed(self) -> Named:
        """The models that were named, whatever else may be wrong with them."""
        return self._pairs() if isinstance(self.models, list | tuple | Mapping) else []

    def _current(self) -> list:
        """The models as they are, fitted or not."""
        return self.models_ if self.__sklearn_is_fitted__() else [model for _, model in self._pairs()]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; `deep`: with the models and theirs, as `name` and `name__setting`."""
        out = super().get_params(deep=False)
        for name, model in self._listed() if deep else ():
            if hasattr(model, "get_params") and not isinstance(model, type):
                out[name] = model
                out.update({f"{name}__{key}": value for key, value in model.get_params(deep=True).items()})
        return out

    def set_params(self, **params: Any) -> Self:
        """Change settings: own ones, a model by its name, or a model's as `name__setting`."""
        if "models" in params:
            self.models = params.pop("models")
        names = [name for name, _ in self._listed()]
        replaced = {name: params.pop(name) for name in list(params) if name in names}
        if any(replaced[name] is not model for name, model in self._listed() if name in replaced):
            self.models = [(name, replaced.get(name, model)) for name, model in self._pairs()]
        return super().set_params(**params)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        each = [get_tags(model) for model in self._current() if hasattr(model, "__sklearn_tags__")]
        for name in ("allow_nan", "sparse", "categorical", "string", "positive_only"):
            whole = any if name in ("positive_only", "allow_nan") else all  # who takes no gaps is not asked of them
            setattr(tags.input_tags, name, whole(getattr(one.input_tags, name) for one in each))
        tags.classifier_tags.multi_class = all(one.classifier_tags.multi_class for one in each if one.classifier_tags)
        return tags

    # rows elsewhere

    def _learn_on(self, job: Any) -> None:
        given = self.weights if isinstance(self.weights, str) else ""
        with job.several() as again:
            if given == "loo":
                self._stack_on(again)
                return
            self._learn_members(self._some_pairs(), again)
            if given == "bic":
                told = again.total(Telling(again.roles, self.models_, self.classes_))
                each = zip(self.models_, told.logs, strict=True)
                self._weigh_by(
                    [(kind, logs - penalty(m, told.weight)) for kind, (m, logs) in zip(told.kinds, each, strict=True)]
                )
                return
            try:
                self._weigh()
            except NoEvidenceError as why:
                self._say_why_rows(why)
                self._stack_on(again)

    def _learn_members(self, pairs: Named, job: Any) -> None:
        """Every model of all rows."""
        self._take(pairs, *each_learned(pairs, lambda name, model: learned(name, model, job)))
        self._describe(None, None, self.models_[0].class_count_)
        say_left_out(self.left_out_)

    def _stack_on(self, job: Any) -> None:
        """Weights by rows held out."""
        from deciban.io import readers

        drawn: Drawn | None = job.total(Drawing(job.roles))
        pairs = self._some_pairs()
        if drawn is None or drawn.rows == 0:
            self._learn_members(pairs, job)  # which tells what is wrong
            return
        reading = job.roles
        X, (labels, codes) = readers.selected(drawn.table, reading.features), reading.labels(drawn.table)
        y, w = labels[codes], reading.weights(drawn.table)
        if drawn.rows == len(drawn.key):
            self._fit_rows(self._pairs_for(X), X, y, w)
            return
        pairs = name_members(self._usual_in_pieces()) if self.models is None else pairs
        last = drawn.key.max()
        at = np.flatnonzero(is_held_out(drawn.key, last))
        fewer = Fewer(job.engine, job.data, reading, job.progress, job.checkpoint, last, reading)
        X, y = readers.selected(drawn.table.take(at), reading.features), y[at]
        w = np.ones(len(at)) if w is None else w[at]
        self._learn_members(pairs, job)
        templates = dict(pairs)

        def foretold(name: str, template: Any) -> np.ndarray:
            return log_proba_of(learned(name, template, fewer), X, self.classes_)

        told, failed = each_learned([(name, templates[name]) for name in self.names_], foretold)
        self._drop(failed)
        say_left_out(failed)
        own = np.arange(len(y)), np.searchsorted(self.classes_, y)
        logs = np.stack([found[own] for _, found in told])
        self._weigh_by_rows(logs, w, [f"{len(y)} rows held out"] * len(told))

    # inside

    def _usual(self) -> Any:
        """The models where none are named: those that are strong, or those whose evidence is closed."""
        return STACKED if isinstance(self.weights, str) and self.weights == "loo" else CONJUGATE

    def _usual_in_pieces(self) -> Any:
        """The same where there are too many rows to hold: calibration takes all of them at once."""
        return IN_PIECES if self._usual() is STACKED else CONJUGATE

    def _some_pairs(self) -> Named:
        pairs = self._pairs()
        if not pairs:
            raise DataError("there are no models\n\nhint: give a list of classifiers, or of (name, classifier)")
        return pairs

    def _pairs_for(self, X: Any) -> Named:
        """The models that are to learn from X."""
        pairs = self._some_pairs()
        more = self.models is None and self._usual() is STACKED and all_numbers(X)
        return [*pairs, *LINEAR.items()] if more else pairs

    def _take(self, pairs: Named, learned: Named, left_out: dict[str, str]) -> None:
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
        logs = log_prior(weights, self._asked)
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
            _, codes = inputs.labels(column_or_1d(y), self.classes_)
            count = count + ops.class_weights(codes, inputs.weights(sample_weight, codes), len(self.classes_))
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
            self._weigh_by([bic_of(model, X, y, w) for model in self.models_])
        else:
            try:
                self._weigh_by([log_evidence_of(model) for model in self.models_])
            except NoEvidenceError as why:
                if X is None:
                    raise
                self._say_why_rows(why)
                self._stack(X, y, sample_weight)

    def _stack(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Weights by rows held out."""
        templates = dict(self._pairs_for(X))
        pairs = [(name, templates[name]) for name in self.names_]
        logs, w, how, failed = held_out_of_each(self.models_, pairs, X, y, self.classes_, sample_weight)
        self._drop(failed)
        self._weigh_by_rows(logs, w, how)

    def _weigh_by_rows(self, logs: np.ndarray, w: np.ndarray, how: list[str]) -> None:
        """From log probabilities (m, n) of the classes of rows that the models have not seen, and how that was."""
        self.held_out_ = how
        self.log_evidence_ = logs @ w
        self.weights_ = hypotheses.stacking_weights(logs, np.exp(self._log_of(self.prior)), w)

    def _say_why_rows(self, why: Exception) -> None:
        warnings.warn(
            f"the models are weighed by rows held out: {str(why).split(chr(10))[0]}\n\n"
            "hint: weights='loo' says that this is meant; or give models whose evidences compare",
            UserWarning,
            stacklevel=levels_up(),
        )

    def _weigh_by(self, found: list[tuple[str, float]]) -> None:
        """`weights_` by the probability that each model gives the data, and what data these are."""
        same_data([kind for kind, _ in found], self.names_, f"weights={self.weights!r}")
        self.log_evidence_ = np.array([value for _, value in found])
        self.weights_ = hypotheses.posterior(self.log_evidence_, self._log_of(self.prior))

    def _adds_rows(self) -> bool:
        return self._additive() and all(
            hasattr(model, method) for model in self._current() for method in ("partial_fit", "forget")
        )

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

    def _combined(self, log_proba: np.ndarray) -> np.ndarray:
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

    def _combined(self, log_proba: np.ndarray) -> np.ndarray:
        return hypotheses.gibbs(log_proba, draw(self.weights_, log_proba.shape[1], self.per, self.random_state))

    def _pooled(self, posterior: PooledPosterior, X: Any) -> np.ndarray:
        """Only models that were drawn are asked."""
        X = frames.records(X)
        n = len(X) if isinstance(X, frames.Records) else _num_samples(X)
        drawn = draw(self.weights_, n, self.per, self.random_state)
        asked, places = np.unique(drawn, return_inverse=True)
        asked = asked if len(asked) else np.zeros(1, dtype=np.intp)  # of no rows, somebody must complain
        own = self.classes_, posterior.priors, self.class_count_
        each = [log_proba_of(self.models_[m], X, *own) for m in asked]
        return hypotheses.gibbs(np.stack(each), places)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
