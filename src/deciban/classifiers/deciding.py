"""Decisions: least expected cost, rejects, thresholds, likelihood ratios, and priors that are not those of training.

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["ham", "ham", "spam", "spam"])
>>> model.decide([[1.0], [2.5], [4.0]], reject=0.1).tolist()  # abstaining costs a tenth of a mistake
['ham', None, 'spam']
>>> model.decide([[2.6]], costs={("ham", "spam"): 9}).tolist()  # nine times worse than spam taken for ham
['ham']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from deciban import decision, ingest
from deciban.decision import Adapted
from deciban.errors import DataError


class Deciding:
    """Mixin: needs `predict`, `predict_log_proba`, `predict_proba`, `classes_`."""

    classes_: np.ndarray
    predict: Callable[..., np.ndarray]
    predict_proba: Callable[..., np.ndarray]
    predict_log_proba: Callable[..., np.ndarray]
    _check_is_fitted: Callable[[], Any]
    _prior: Callable[..., np.ndarray]
    _place_of: Callable[[Any], int]
    _origin_of: Callable[[Any], Any]

    def decide(self, X, costs=None, reject=None, priors=None, thresholds=None, rejected=None) -> np.ndarray:
        """The class of least expected cost for each row, or `rejected` where it is better to abstain. (n,)

        costs: (k, k) as costs[true, decided], or by label, {(true, decided): cost} or {true: {decided: cost}}; what is
        not named costs 1, a right answer 0. reject: the cost of abstaining (None: never abstain). thresholds: the least
        posterior that the chosen class must have, one number, one for each of `classes_`, or by label; under it the
        answer is `rejected` too. priors: as in `predict`; "uniform" decides by maximum likelihood.

        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
        >>> model.decide([[1.0], [2.6]], thresholds={1: 0.9}, rejected=-1).tolist()
        [0, -1]
        """
        self._check_is_fitted()
        k = len(self.classes_)
        matrix = None if costs is None else cost_matrix(costs, self.classes_)
        dearest = np.inf if reject is None else check_reject(reject)
        least = None if thresholds is None else threshold_of_each(thresholds, self.classes_)
        if matrix is None and reject is None and least is None:
            return self.predict(X, priors=priors)
        proba = np.exp(self._log_proba(X, priors))
        decided = decision.least_cost(proba, decision.zero_one(k) if matrix is None else matrix, dearest)
        if least is not None:
            decided = decision.over_threshold(decided, proba, least)
        answers = self.classes_
        if reject is not None or least is not None:
            answers = with_answer(self.classes_, rejected)  # REJECT = −1 is its place
        return self._origin_of(X).send_labels(answers[decided])

    def likelihood_ratio(self, X, of, against, *, log: bool = False) -> np.ndarray:
        """p(x | of) / p(x | against) of two classes, or its logarithm: posterior odds over prior odds. (n,)

        >>> from deciban import GaussianNB
        >>> model = GaussianNB(priors=[0.9, 0.1]).fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.likelihood_ratio([[2.5], [4.0]], "b", "a").round(3).tolist()
        [1.0, 90.017]
        """
        self._check_is_fitted()
        places = self._place_of(of), self._place_of(against)
        ratio = decision.log_likelihood_ratio(self._log_proba(X, "uniform"), *places)
        if log:
            return ratio
        with np.errstate(over="ignore"):
            return np.exp(ratio)

    def adapt_priors(self, X, *, tol: float = 1e-6, max_iter: int = 10_000) -> Adapted:
        """The class priors of rows X that come without labels, where p(x | class) is as in training but the classes are
        more or less frequent: EM until no prior moves by more than `tol` in a step. A class of prior 0 keeps it.

        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
        >>> priors, posterior = model.adapt_priors([[0.5], [1.0], [1.5], [4.0]])
        >>> priors.round(2).tolist(), posterior([[2.5]]).round(2).tolist()
        ([0.75, 0.25], [[0.75, 0.25]])
        """
        log_prior = self._prior(self._check_is_fitted(), None)
        prior = np.exp(log_prior - np.logaddexp.reduce(log_prior))
        loglik = self._log_proba(X, "uniform")
        priors, steps, rest = decision.adapted_priors(loglik, prior, tol, max_iter)
        return Adapted(priors, self.classes_, steps, "converged" if rest else "max_iter", self)

    def _log_proba(self, X, priors) -> np.ndarray:
        """log P(class | x) as the model says it, as NumPy's doubles. (n, k)"""
        return np.asarray(ingest.local(self.predict_log_proba(X, priors=priors)), dtype=np.float64)


# what users may write, as arrays


def cost_matrix(costs: Any, classes: np.ndarray) -> np.ndarray:
    """costs[true, decided] (k, k), from an array or by label.

    >>> cost_matrix({"b": {"a": 5}}, np.array(["a", "b"])).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    k = len(classes)
    if isinstance(costs, Mapping):
        matrix, place = decision.zero_one(k), places(classes, "costs")
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
        true, decided = np.argwhere(bad)[0]
        raise DataError(
            f"the cost of {classes[decided].item()!r} for {classes[true].item()!r} is {matrix[true, decided]:g}\n\n"
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
            f"the threshold of {classes[bad][0].item()!r} is {out[bad][0]:g}\n\nhint: it is a probability, 0 … 1"
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
