"""From log joint probabilities to priors, posteriors, odds and decibans, and to decisions with costs and rejects.

>>> import numpy as np
>>> joint = np.log([[0.3, 0.1]])
>>> float(round(DECIBAN * log_odds(joint)[0, 0], 2))  # odds 3 : 1, in decibans
4.77
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import expit

from deciban import ops
from deciban.display import Table, format_choices, format_number
from deciban.errors import DataError, levels_up

DECIBAN = 10.0 / np.log(10.0)  # decibans in one unit of natural log odds
REJECT = -1  # the code of saying nothing


def is_own(model: Any) -> bool:
    """Whether it is a classifier of this library, with all that `classifiers.base.Classifier` has.

    Plots and explanations take classifiers of any library, and lie below the classifiers; this is the one question that
    they ask about a model's type.

    >>> from deciban import GaussianNB
    >>> is_own(GaussianNB()), is_own("a model")
    (True, False)
    """
    return hasattr(type(model), "_posterior")


def own_posterior(model: Any) -> Any:
    """What a fitted classifier of this library says of rows (see `models.posterior`); None: it is of another one."""
    return model._posterior() if is_own(model) else None


def reads_texts(model: Any) -> bool:
    """Whether it is a classifier of texts of this library, which has words in the place of columns."""
    return is_own(model) and model._reads_texts


def log_proba_of(model: Any, X: Any) -> np.ndarray:
    """log P(class | x), (n, k), of any classifier with probabilities; not all libraries have `predict_log_proba`."""
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X)
    with np.errstate(divide="ignore"):
        return np.log(model.predict_proba(X))


def sigmoid(z: Any, derivative: bool = False) -> Any:
    """The logistic function g(z) = 1 / (1 + e^−z): the probability of log odds z.

    Parameters
    ----------
    z : number or array-like
        Log odds, such as the `decision_function` of a logistic regression.
    derivative : bool
        Whether to return g'(z) = g(z) (1 − g(z)) instead.

    Returns
    -------
    float or ndarray
        As z.

    See Also
    --------
    LogisticRegression : Log odds linear in the columns.

    Examples
    --------
    >>> from deciban import sigmoid
    >>> sigmoid([-2.0, 0.0, 2.0]).round(6).tolist()
    [0.119203, 0.5, 0.880797]
    >>> float(sigmoid(0.0, derivative=True))
    0.25
    """
    g = expit(z)
    return g * expit(np.negative(z)) if derivative else g


def log_prior(weights: np.ndarray) -> np.ndarray:
    """log of the weights over their sum; −∞ for a class without any. (k,)"""
    with np.errstate(divide="ignore"):
        return np.log(weights) - np.log(weights.sum())


class AdaptedPriors:
    """Class priors estimated from rows without labels (`model.adapt_priors(X)`), accepted wherever `priors` are.

    Attributes
    ----------
    priors : ndarray of shape (k,)
        The probability of each class.
    classes : ndarray of shape (k,)
        The labels, in the same order.
    steps : int
        Iterations of EM.
    why : str
        "converged" or "max_iter".
    model : classifier
        The model that the priors belong to.

    >>> from deciban import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
    >>> adapted = model.adapt_priors([[0.5], [1.0], [1.5], [4.0]])
    >>> adapted
    class priors after 6 steps (converged)
      class   prior
      a      0.7531
      b      0.2469
    >>> model.predict_proba([[2.5]], priors=adapted).round(2).tolist()
    [[0.75, 0.25]]
    """

    def __init__(self, priors: np.ndarray, classes: np.ndarray, steps: int, why: str, model: Any):
        self.priors, self.classes, self.steps, self.why, self.model = priors, classes, steps, why, model

    def posterior(self, X: Any) -> np.ndarray:
        """P(class | x) under these priors, (n, k)."""
        return self.model.predict_proba(X, priors=self)

    def __iter__(self) -> Iterator[Any]:
        """So that `priors, posterior = model.adapt_priors(X)`."""
        yield self.priors
        yield self.posterior

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.priors, dtype=dtype)

    def __str__(self) -> str:
        return self._table().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()

    def _table(self) -> Table:
        rows = [(str(c), format_number(p)) for c, p in zip(self.classes.tolist(), self.priors.tolist(), strict=True)]
        return Table(f"class priors after {self.steps} steps ({self.why})", ("class", "prior"), rows)


def check_priors(priors: Any, classes: np.ndarray, name: str = "priors") -> np.ndarray:
    """Class probabilities (k,): the one reader of priors. It takes a sequence in the order of `classes`, a mapping by
    label, a series indexed by label, "uniform", or `AdaptedPriors`; `name` is what the user calls the argument.

    >>> classes = np.array(["ham", "spam"])
    >>> check_priors({"spam": 0.2, "ham": 0.8}, classes).tolist(), check_priors("uniform", classes).tolist()
    ([0.8, 0.2], [0.5, 0.5])
    """
    out = prior_weights(priors, classes, name)
    if not np.isclose(out.sum(), 1.0):
        raise DataError(
            f"The sum of the priors should be 1. `{name}` sums to {out.sum():g}\n\n"
            "hint: divide by that sum, or pass 'uniform' for equal priors"
        )
    return out


def prior_weights(priors: Any, classes: np.ndarray, name: str = "priors") -> np.ndarray:
    """The same where the numbers need not sum to 1."""
    labels = classes.tolist()
    if isinstance(priors, str):
        if priors != "uniform":
            raise _unreadable(priors, labels, name)
        return np.full(len(labels), 1.0 / len(labels))
    if isinstance(priors, AdaptedPriors):
        priors = dict(zip(priors.classes.tolist(), priors.priors.tolist(), strict=True))
    elif hasattr(priors, "to_dict") and hasattr(priors, "index"):  # pandas: y.value_counts(normalize=True)
        own = priors.to_dict()
        priors = priors.to_numpy() if list(own) == list(range(len(own))) and len(own) == len(priors) else own
    if isinstance(priors, Mapping):
        known = set(labels)
        unknown, absent = [x for x in priors if x not in known], [x for x in labels if x not in priors]
        if unknown or absent:
            which = format_choices(map(repr, unknown or absent))
            wrong = f"names {which}, which is not a class" if unknown else f"has no entry for {which}"
            raise DataError(
                f"`{name}` {wrong}\n\nhint: name each of the classes {format_choices(map(repr, labels))} once"
            )
        priors = [priors[label] for label in labels]
    try:
        out = np.array(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise _unreadable(priors, labels, name) from None
    if out.shape != classes.shape:
        raise DataError(
            f"Number of priors must match number of classes. `{name}` has shape {out.shape} and there are "
            f"{len(labels)} classes\n\nhint: give one probability for each of {format_choices(map(repr, labels))}, "
            "in that order or by label"
        )
    bad = ~(np.isfinite(out) & (out >= 0))
    if bad.any():
        raise DataError(
            f"Priors must be non-negative. `{name}` gives {labels[int(bad.argmax())]!r} {out[bad][0]:g}\n\n"
            "hint: priors must be non-negative numbers that sum to 1"
        )
    if not out.any():
        raise DataError(f"`{name}` is 0 for every class\n\nhint: The sum of the priors should be 1.")
    return out


def _unreadable(priors: Any, labels: list, name: str) -> DataError:
    return DataError(
        f"`{name}` is {priors!r}, which are not class probabilities\n\n"
        f"hint: pass 'uniform', or one number for each of {format_choices(map(repr, labels))}, in that order "
        "or by label"
    )


@dataclass(frozen=True, eq=False)
class Prior:
    """How the class priors of a model come about: the one rule for all classifiers.

    >>> classes, n = np.array(["ham", "spam"]), np.array([30.0, 10.0])
    >>> np.exp(Prior().log(n, classes)).round(3).tolist(), np.exp(Prior(learned=False).log(n, classes)).tolist()
    ([0.75, 0.25], [0.5, 0.5])
    >>> np.exp(Prior({"ham": 0.9, "spam": 0.1}).log(n, classes)).round(3).tolist()
    [0.9, 0.1]
    """

    given: Any = None  # what the user gave, as `check_priors` reads it
    name: str = "priors"  # what the user calls it
    learned: bool = True  # where none are given: the classes' shares of the rows; False: all alike
    class_weight: Any = None  # what learned shares are multiplied by: "balanced", {class: weight}, or None
    sum: str = "checked"  # what becomes of given numbers that do not sum to 1: checked, renormalised or kept

    def check(self, classes: np.ndarray) -> None:
        """Refuse priors and class weights that are not of these classes."""
        if self.given is not None:
            weights = self.weights(classes)
            if self.sum == "renormalised" and abs(prior_weights(self.given, classes, self.name).sum() - 1.0) > 1e-5:
                warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=levels_up())
            assert weights is not None
        if self.class_weight is None:
            return
        if self.given is not None:
            raise DataError(f"`{self.name}` and `class_weight` both set the class priors\n\nhint: give one of them")
        if isinstance(self.class_weight, Mapping):
            known = classes.tolist()
            unknown = [label for label in self.class_weight if label not in known]
            if unknown:
                raise DataError(
                    f"class_weight names {unknown[0]!r}, but the classes are {known}\n\nhint: name classes of y"
                )
            bad = [w for w in self.class_weight.values() if not (isinstance(w, Real) and 0 < float(w) < np.inf)]
            if bad:
                raise DataError(f"class_weight has {bad[0]!r}, but weights are numbers > 0\n\nhint: 1 changes nothing")

    def weights(self, classes: np.ndarray) -> np.ndarray | None:
        """The given priors (k,); None: there are none."""
        if self.given is None:
            return None
        if self.sum == "checked":
            return check_priors(self.given, classes, self.name)
        weights = prior_weights(self.given, classes, self.name)
        off = self.sum == "renormalised" and abs(weights.sum() - 1.0) > 1e-5
        return weights / weights.sum() if off else weights

    def log(self, n: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """log priors (k,) of classes whose rows weigh n."""
        given = self.weights(classes)
        if given is not None:
            with np.errstate(divide="ignore"):
                return np.log(given)
        if not self.learned:
            return log_prior(np.ones(len(n)))
        if isinstance(self.class_weight, Mapping):
            n = n * np.array([float(self.class_weight.get(label, 1.0)) for label in classes.tolist()])
        elif self.class_weight is not None:
            n = n * np.divide(n.sum(), len(n) * n, out=np.zeros(len(n)), where=n > 0)
        return log_prior(n)


def class_index(label: Any, classes: np.ndarray) -> int:
    """Where a class stands.

    >>> class_index("spam", np.array(["ham", "spam"]))
    1
    """
    at = np.flatnonzero(classes == label)
    if len(at) == 0:
        raise DataError(f"class {label!r} is not among {list(classes)}\n\nhint: name one of these")
    return int(at[0])


def resolve_impossible_rows(joint: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Log joints whose every row has a posterior, in place. One that is impossible under every class has the prior;
    where scores are past all numbers (+∞), the classes that have them share the row by their priors."""
    if not ops.all_finite(joint):
        over = np.isposinf(joint)
        past, lost = over.any(axis=1), ~(np.max(joint, axis=1) > -np.inf)
        joint[past] = np.where(over[past], prior, -np.inf)
        joint[lost] = prior
    return joint


def log_evidence(joint: np.ndarray) -> np.ndarray:
    """log Σ_c e^joint of each row, (n,)."""
    return np.logaddexp.reduce(joint, axis=1)


def log_odds(joint: np.ndarray, against: int | None = None) -> np.ndarray:
    """Each class against all others together, or against one other. (n, k)"""
    if against is not None:
        rest = joint[:, [against]]
        with np.errstate(invalid="ignore"):
            return np.where(joint == rest, 0.0, joint - rest)
    n, k = joint.shape
    nothing = np.full((n, 1), -np.inf)
    before = np.hstack([nothing, np.logaddexp.accumulate(joint, axis=1)[:, : k - 1]])
    after = np.hstack([np.logaddexp.accumulate(joint[:, ::-1], axis=1)[:, ::-1][:, 1:], nothing])
    rest = np.logaddexp(before, after)
    with np.errstate(invalid="ignore"):
        return np.where(joint == rest, 0.0, joint - rest)


# what one does about it: class codes, with REJECT where it is better to say nothing


def maximum_likelihood(loglik: np.ndarray) -> np.ndarray:
    """The class of the highest likelihood, without priors. (n,)

    >>> maximum_likelihood(np.log([[0.2, 0.3]])).tolist()
    [1]
    """
    return loglik.argmax(axis=1)


def maximum_posterior(loglik: np.ndarray, log_prior: np.ndarray) -> np.ndarray:
    """The most probable class of each row. (n,)

    >>> maximum_posterior(np.log([[0.2, 0.3]]), np.log([0.7, 0.3])).tolist()
    [0]
    """
    return (loglik + log_prior).argmax(axis=1)


def log_likelihood_ratio(loglik: np.ndarray, of: int, against: int) -> np.ndarray:
    """log of p(x | of) over p(x | against); 0 where neither can be. (n,)

    >>> np.exp(log_likelihood_ratio(np.log([[3.5e-5, 7.4e-6]]), 0, 1)).round(2).tolist()
    [4.73]
    """
    return log_odds(loglik, against)[:, of]


def likelihood_ratio_test(loglik: np.ndarray, of: int, against: int, threshold: float = 1.0) -> np.ndarray:
    """Whether p(x | of) is at least `threshold` times p(x | against). (n,)

    >>> likelihood_ratio_test(np.log([[3.5e-5, 7.4e-6]]), 0, 1, threshold=5.0).tolist()
    [False]
    """
    with np.errstate(divide="ignore"):
        return log_likelihood_ratio(loglik, of, against) >= np.log(threshold)


def zero_one(k: int) -> np.ndarray:
    """The zero-one loss: every error costs 1. (k, k)"""
    return 1.0 - np.eye(k)


def least_cost(proba: np.ndarray, costs: np.ndarray, reject: float = np.inf) -> np.ndarray:
    """The decision of least expected cost Σ_true P(true | x) costs[true, decided], or REJECT where that is above
    the cost of a reject: Chow's rule. (n,)

    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4]])
    >>> least_cost(proba, zero_one(2), reject=0.2).tolist(), least_cost(proba, np.array([[0, 1], [5, 0]])).tolist()
    ([0, -1], [0, 1])
    """
    expected = proba @ costs
    return np.where(expected.min(axis=1) > reject, REJECT, expected.argmin(axis=1))


def over_threshold(decided: np.ndarray, proba: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """The same decisions, REJECT where the posterior of the chosen class is under its threshold. (n,)

    >>> over_threshold(np.array([0, 1]), np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([0.5, 0.8])).tolist()
    [0, -1]
    """
    chosen = np.take_along_axis(proba, np.maximum(decided, 0)[:, None], axis=1)[:, 0]
    return np.where((decided != REJECT) & (chosen < thresholds[decided]), REJECT, decided)


def adapted_priors(loglik: np.ndarray, prior: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, int, bool]:
    """(priors, steps, whether they came to rest) under which the rows are most probable, by EM from `prior` (Saerens,
    Latinne and Decaestecker 2002):  prior[c] ← mean over rows of P(c | x) under the last prior.

    A prior of 0 stays 0, and rows that no other class can have made count for nothing.

    >>> adapted_priors(np.log([[0.9, 0.1]] * 3 + [[0.1, 0.9]]), np.array([0.5, 0.5]), 1e-9, 1000)[0].round(4).tolist()
    [0.8125, 0.1875]
    """
    alive = prior > 0
    scores = loglik[:, alive]
    scores = scores[scores.max(axis=1) > -np.inf]
    likelihood = np.exp(scores - scores.max(axis=1, keepdims=True))  # up to a factor for each row
    now = prior[alive] / prior[alive].sum()
    steps, rest = 0, len(likelihood) == 0
    while steps < max_iter and not rest:
        new = now * (likelihood.T @ (1.0 / (likelihood @ now))) / len(likelihood)
        new /= new.sum()
        steps, rest, now = steps + 1, bool(np.abs(new - now).max() <= tol), new
    out = np.zeros(len(prior))
    out[alive] = now
    return out, steps, rest


# what users may write, as arrays


def cost_matrix(costs: Any, classes: np.ndarray) -> np.ndarray:
    """costs[true, decided] (k, k), from an array or by label.

    >>> cost_matrix({"b": {"a": 5}}, np.array(["a", "b"])).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    k = len(classes)
    if isinstance(costs, Mapping):
        matrix, place = zero_one(k), places(classes, "costs")
        for true, decided, cost in pairs(costs):
            matrix[place(true), place(decided)] = number(cost, f"the cost of {decided!r} for {true!r}")
    else:
        matrix = numbers(costs, "costs")
    if matrix.shape != (k, k):
        raise DataError(
            f"costs has shape {matrix.shape}, but there are {k} classes {classes.tolist()}\n\n"
            f"hint: give a ({k}, {k}) array costs[true, decided], or a mapping {{(true, decided): cost}}"
        )
    bad = ~(np.isfinite(matrix) & (matrix >= 0))
    if bad.any():
        labels, (true, decided) = classes.tolist(), np.argwhere(bad)[0]
        raise DataError(
            f"the cost of {labels[decided]!r} for {labels[true]!r} is {matrix[true, decided]:g}\n\n"
            "hint: costs are finite numbers ≥ 0; to make a gain of a right answer, add the same number to its whole row"
        )
    return matrix


def pairs(costs: Mapping) -> Iterator[tuple[Any, Any, Any]]:
    """(true, decided, cost) of a mapping by pair, or of mappings in a mapping."""
    for key, value in costs.items():
        if isinstance(value, Mapping):
            yield from ((key, decided, cost) for decided, cost in value.items())
        elif isinstance(key, tuple) and len(key) == 2:
            yield (*key, value)
        else:
            raise DataError(
                f"costs has the key {key!r}\n\nhint: write {{(true, decided): cost}} or {{true: {{decided: cost}}}}"
            )


def check_reject(reject: Any) -> float:
    """The cost of abstaining."""
    out = number(reject, "reject")
    if not out >= 0:
        raise DataError(f"reject is {out:g}\n\nhint: it is the cost of abstaining, ≥ 0; None: never abstain")
    return out


def threshold_of_each(thresholds: Any, classes: np.ndarray) -> np.ndarray:
    """The least posterior of each class (k,), from one number, a sequence or a mapping by label."""
    out = np.zeros(len(classes))
    if isinstance(thresholds, Mapping):
        place = places(classes, "thresholds")
        for label, value in thresholds.items():
            out[place(label)] = number(value, f"the threshold of {label!r}")
    else:
        given = numbers(thresholds, "thresholds")
        if given.shape not in ((), (1,), out.shape):
            raise DataError(
                f"thresholds has shape {given.shape}, but there are {len(classes)} classes {classes.tolist()}\n\n"
                "hint: give one number, one for each class, or a mapping by label"
            )
        out[:] = given
    bad = ~((out >= 0) & (out <= 1))
    if bad.any():
        raise DataError(
            f"the threshold of {classes[bad].tolist()[0]!r} is {out[bad][0]:g}\n\nhint: it is a probability, 0 … 1"
        )
    return out


def places(classes: np.ndarray, where: str) -> Callable[[Any], int]:
    """Where a label stands among the classes."""
    table = {label: place for place, label in enumerate(classes.tolist())}

    def find(label: Any) -> int:
        if label not in table:
            raise DataError(f"{where} names {label!r}\n\nhint: the classes are {classes.tolist()}")
        return table[label]

    return find


def numbers(given: Any, what: str) -> np.ndarray:
    try:
        return np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} is {given!r}\n\nhint: give numbers, in the order of `classes_`, or by label") from None


def number(given: Any, what: str) -> float:
    out = numbers(given, what)
    if out.ndim:
        raise DataError(f"{what} is {given!r}\n\nhint: give one number")
    return float(out)


def with_answer(classes: np.ndarray, answer: Any) -> np.ndarray:
    """The classes and one more answer after them, as objects unless it is of the labels' own kind."""
    kind = np.asarray(answer).dtype
    out = np.empty(len(classes) + 1, dtype=object)
    if kind.kind == classes.dtype.kind and kind.kind != "O":
        out = np.empty(len(classes) + 1, dtype=np.result_type(kind, classes.dtype))
    out[:-1], out[-1] = classes, answer
    return out
