"""The hypotheses of an ensemble: their names, what they say of rows, and how well they account for the data.

What makes evidences comparable is that they are probabilities of the same data. A generative model has p(X | y), which
with p(y) (a uniform Dirichlet over the class shares, the same for all) is p(X, y); a discriminative one has p(y | X).
The two never compare, nor do densities of numbers with masses of levels, nor transformed columns with plain ones: then
rows held out do, as every model gives P(y | x) of those.

>>> from deciban import GaussianNB, LogisticRegression
>>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
>>> account(GaussianNB(estimate="bayes").fit(X, y))[0], account(LogisticRegression().fit(X, y))[0]
('p(X, y), densities', 'p(y | X)')
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from deciban import decision, frames
from deciban.classifiers.base import Generative
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.reading_frames import ReadingFrames
from deciban.classifiers.structured import Structured
from deciban.decision import check_priors
from deciban.dirichlet import log_evidence
from deciban.errors import ColumnWarning, DataError, DecibanError, NotAdditiveError, levels_up
from deciban.folds import fold_of_each
from deciban.ingest import rows_at

FOLDS = 5
ENOUGH = 1 << 13  # rows held out, in as many of the folds as that takes
TROUBLES = (DecibanError, ValueError, ArithmeticError, np.linalg.LinAlgError)  # what a model cannot learn from
DENSITIES = ("Student", "GaussianJointBayes", "Exponential")
HELD_OUT = "hint: compare models by rows held out instead: 'loo'"
Named = list[tuple[str, Any]]


class NoEvidenceError(DataError):
    """A model has no evidence, or evidences are not of the same data."""


def named(models: Any) -> Named:
    """(name, model) of each, from a list of either kind or a mapping; a name that is there twice gets a number.

    >>> from deciban import GaussianNB, MixedNB
    >>> [name for name, _ in named([GaussianNB(), GaussianNB(ddof=1), ("mine", MixedNB())])]
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


def weighed(model: Any, method: str, sample_weight: Any) -> dict[str, Any]:
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
            if any(isinstance(model, ReadingFrames) for _, model in out):
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


class Prefit(BaseEstimator):
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


def said(model: Any, X: Any, classes: np.ndarray, priors: Any = None, shares: np.ndarray | None = None) -> np.ndarray:
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
    by_name = any(isinstance(model, ReadingFrames) for model in models)
    return [(X, None) if takes_gaps else _complete(m, X, by_name) for m, takes_gaps in zip(models, takes, strict=True)]


def _takes_gaps(model: Any) -> bool:
    known = hasattr(model, "__sklearn_tags__") and not isinstance(model, Prefit)
    return not known or bool(get_tags(model).input_tags.allow_nan)


def _complete(model: Any, X: Any, by_name: bool) -> tuple[Any, np.ndarray | None]:
    names = getattr(model, "feature_names_in_", None)
    if by_name and frames.is_frame(X) and names is not None:
        if not set(names) <= set(frames.names(X)):
            return X, np.zeros(len(X), dtype=bool)
        if isinstance(X, frames.Records):
            X = X.only(list(names))
        else:
            X = nw.from_native(X, eager_only=True).select(list(names)).to_native()
    cells = X if frames.is_frame(X) else np.asarray(X)
    if not frames.is_frame(X) and (cells.ndim != 2 or cells.dtype.kind not in "fiubO"):
        return X, None  # the model says what is wrong
    columns = frames.columns(cells)
    there = np.all([c.values >= 0 if c.levels is not None else ~np.isnan(c.values) for c in columns], axis=0)
    return X, None if np.all(there) else there


def said_where_suited(
    models: Sequence[Any], X: Any, classes: np.ndarray, priors: Any, shares: np.ndarray | None
) -> np.ndarray:
    """log P(class | x) (m, n, k) of each model, NaN of rows that it cannot be asked of."""
    out, X = [], frames.records(X)
    for model, (rows, there) in zip(models, suited(models, X), strict=True):
        if there is None:
            out.append(said(model, rows, classes, priors, shares))
            continue
        found = np.full((len(there), len(classes)), np.nan)
        if there.any():
            found[there] = said(model, rows_at(rows, np.flatnonzero(there)), classes, priors, shares)
        out.append(found)
    return np.stack(out)


def held_out(model: Any, template: Any, X: Any, y: np.ndarray, classes: np.ndarray, w: Any) -> tuple[np.ndarray, str]:
    """log P(class | x) (n, k) of rows by models that have not seen them, and how: "leave-one-out" in closed form where
    the (fitted) model has it and all rows have chosen nothing, else by folds; NaN in rows that are enough without."""
    if hasattr(model, "leave_one_out") and not chooses(model):
        try:
            more = {} if w is None else {"sample_weight": w}
            return np.asarray(model.leave_one_out(X, y, **more), dtype=np.float64), "leave-one-out"
        except NotAdditiveError:  # a setting looks at all rows at once
            pass
    X, codes = _by_rows(X), np.searchsorted(classes, y)
    fold = fold_of_each(min(FOLDS, len(codes)), None, codes)
    folds = fold.max() + 1
    out = np.full((len(codes), len(classes)), np.nan)
    for f in range(_enough(fold)):
        test, train = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        more = weighed(template, "fit", None if w is None else w[train])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a fold lacks is no news of the whole
            learned = clone(template).fit(rows_at(X, train), y[train], **more)
            out[test] = said(learned, rows_at(X, test), classes)
    return out, f"{folds} folds" if _enough(fold) == folds else f"{_enough(fold)} of {folds} folds"


def _enough(fold: np.ndarray) -> int:
    """How many of the folds have `ENOUGH` rows, or all."""
    return min(int(np.searchsorted(np.cumsum(np.bincount(fold)), ENOUGH)) + 1, int(fold.max()) + 1)


def chooses(model: Any) -> bool:
    """Whether all rows chose something that stays when one is left out: families, cuts, a structure, a calibration.
    Such a model looks better than it is, and would be weighed so."""
    if not isinstance(model, Generative):
        return False
    fields = getattr(getattr(model, "_schema", None), "fields", ())
    searched = isinstance(model, Structured) or any(getattr(field.family, "searches", False) for field in fields)
    return searched or bool(model._asked()) or bool(getattr(model, "calibrate", False))


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


def account(model: Any) -> tuple[str, float]:
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
    if isinstance(model, MixedNB | Structured):
        of_numbers = "densities" if isinstance(model, MixedNB) else "intervals"
        kinds = [of_numbers if field.levels is None else "levels" for field in model._schema.fields]
        gaps = ", and which cells are missing" if model._schema.gaps is not None else ""
        return (kinds[0] if len(set(kinds)) == 1 else "columns " + " ".join(kinds)) + gaps
    family = type(model._check_is_fitted().family).__name__
    return "densities" if family in DENSITIES else {"Categorical": "levels"}.get(family, f"{family}'s own cells")


def class_evidence(n: np.ndarray) -> float:
    """log p(y) of so many rows of each class (k,), shares drawn from a uniform Dirichlet.

    >>> round(np.exp(-class_evidence(np.array([1.0, 1.0]))))  # 1/2 · 1/3
    6
    """
    counts = np.asarray(n, dtype=np.float64)[None]
    return float(log_evidence(counts, np.array([0, counts.shape[1]]), 1.0)[0, 0])


def schwarz(model: Any, X: Any, y: np.ndarray, w: np.ndarray) -> tuple[str, float]:
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
    find: Callable | None = COUNTED.get(type(model._check_is_fitted().family).__name__) if _tallied(model) else None
    if find is None:
        raise DataError(
            f"how many parameters a {type(model).__name__} has is not known\n\n{HELD_OUT}, or by 'evidence'"
        )
    return k - 1 + int(find(model, k, model.n_features_in_))


def _tallied(model: Any) -> bool:
    return isinstance(model, Generative)


COUNTED: dict[str, Callable[[Any, int, int], int]] = {
    "Gaussian": lambda model, k, d: 2 * k * d,
    "Bernoulli": lambda model, k, d: k * d,
    "Poisson": lambda model, k, d: k * d,
    "Multinomial": lambda model, k, d: k * (d - 1),
    "Categorical": lambda model, k, d: k * int((np.diff(model._check_is_fitted().params.offset) - 1).sum()),
}


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


def same_data(kinds: Sequence[str], names: Sequence[str]) -> None:
    """Refuse to compare probabilities of different data."""
    if len(set(kinds)) > 1:
        told = "; ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
        raise NoEvidenceError(f"these evidences are probabilities of different data ({told})\n\n{HELD_OUT}")
