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

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from deciban import decision
from deciban.classifiers.base import Generative
from deciban.classifiers.mixed import MixedNB
from deciban.classifiers.structured import Structured
from deciban.decision import check_priors
from deciban.dirichlet import log_evidence
from deciban.errors import DataError, NotAdditiveError
from deciban.folds import fold_of_each

FOLDS = 5
DENSITIES = ("Student", "GaussianJointBayes", "Exponential")
HELD_OUT = "hint: compare models by rows held out instead: 'loo'"
Named = list[tuple[str, Any]]


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


def held_out(model: Any, template: Any, X: Any, y: np.ndarray, classes: np.ndarray, w: Any) -> tuple[np.ndarray, str]:
    """log P(class | x) (n, k) of rows by models that have not seen them, and how: "leave-one-out" in closed form where
    the (fitted) model has it and it is honest, else by folds."""
    if hasattr(model, "leave_one_out") and not chooses(model):
        try:
            more = {} if w is None else {"sample_weight": w}
            return np.asarray(model.leave_one_out(X, y, **more), dtype=np.float64), "leave-one-out"
        except NotAdditiveError:  # a setting looks at all rows at once
            pass
    X, codes = _by_rows(X), np.searchsorted(classes, y)
    fold = fold_of_each(min(FOLDS, len(codes)), None, codes)
    out = np.empty((len(codes), len(classes)))
    for f in range(fold.max() + 1):
        test, train = np.flatnonzero(fold == f), np.flatnonzero(fold != f)
        more = weighed(template, "fit", None if w is None else w[train])
        learned = clone(template).fit(_safe_indexing(X, train), y[train], **more)
        out[test] = said(learned, _safe_indexing(X, test), classes)
    return out, f"{fold.max() + 1} folds"


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
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(log probabilities (m, n) of the rows' own classes by models that have not seen them, the rows' weights (n,), how
    each was asked), of rows that weigh anything: the others are in no fold, as if they were not there."""
    y = column_or_1d(y)
    if w is not None:
        some = np.flatnonzero(np.asarray(w) > 0)
        X, y, w = _safe_indexing(_by_rows(X), some), y[some], np.asarray(w, dtype=np.float64)[some]
    told = [held_out(m, template, X, y, classes, w) for m, (_, template) in zip(models, pairs, strict=True)]
    own = np.arange(len(y)), np.searchsorted(classes, y)
    return np.stack([logs[own] for logs, _ in told]), np.ones(len(y)) if w is None else w, [how for _, how in told]


def _by_rows(X: Any) -> Any:
    """X of which rows may be taken."""
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
        why = str(missing).split("\n")[0] or "it has no `evidence_`"
        raise DataError(
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
    if isinstance(model, MixedNB):
        kinds = ["densities" if field.levels is None else "levels" for field in model._schema.fields]
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
        raise DataError(f"these evidences are probabilities of different data ({told})\n\n{HELD_OUT}")
