"""What every generative classifier does with its tally.

A subclass names its family and its prior; learning, updating, merging, forgetting and scoring are the same for all.

Posteriors, odds, evidence and samples: everything a fitted classifier says about rows.

Decisions: least expected cost, rejects, thresholds, likelihood ratios, and priors that are not those of training.

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["ham", "ham", "spam", "spam"])
>>> model.decide([[1.0], [2.5], [4.0]], reject=0.1).tolist()  # abstaining costs a tenth of a mistake
['ham', None, 'spam']
>>> model.decide([[2.6]], costs={("ham", "spam"): 9}).tolist()  # nine times worse than spam taken for ham
['ham']

Evidence by column: what `explain` and the nomogram ask of a fitted classifier.

A model that learning cannot spoil.

What every classifier class gets when it is defined: settings by name, and attributes that are there or are not.

>>> from deciban import MixedNB
>>> MixedNB(calibrated=True)
Traceback (most recent call last):
TypeError: MixedNB has no setting `calibrated`
<BLANKLINE>
hint: did you mean `calibrate`?
>>> hasattr(MixedNB(alpha=0).fit([["x"], ["y"]], ["p", "q"]), "evidence_")  # no prior, so no evidence
False

`fit_on` and `predict_on`: the front for data of any size and kind. The engine is picked by the type of the data.

>>> import pyarrow as pa
>>> from deciban import GaussianNB
>>> rows = pa.table({"size": [1.0, 1.2, 3.0, 3.1], "label": ["a", "a", "b", "b"]})
>>> model = GaussianNB().fit_on(rows)
>>> model.predict_on(rows).column_names
['size', 'label', 'predicted', 'p_a', 'p_b']

Models that are sums over rows, learned from data of any size in one pass.

A copy of the model without state goes to wherever the rows are, makes a `LabelledTally` of each batch, and the engine
adds the parts up; the sum is the state. Classes and levels are found on the way.

Class priors that are given, by sequence, by label or as "uniform", or else learned.

Evidence by column where columns have types of their own: cells and scales by the names of their levels.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial, wraps
from importlib import import_module
from inspect import signature
from numbers import Real
from operator import iadd
from threading import Lock, RLock
from types import FunctionType, ModuleType
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from deciban import decision, engines, ops
from deciban.data import frames
from deciban.data.blocks import Block, Codes, Counts, Mixed, Reals, Table, borders
from deciban.data.frames import Column, column_label, shown_names
from deciban.decision import AdaptedPriors, check_priors
from deciban.display import cell_text, format_choices, format_list, is_missing
from deciban.engines import stream, threads
from deciban.errors import (
    DataError,
    DecibanError,
    ForgetError,
    MergeError,
    NoRowsError,
    NotAdditiveError,
    UnavailableError,
    did_you_mean,
)
from deciban.explain.explanation import Explanation
from deciban.gaussian.joint import parts_by_pattern
from deciban.models.calibration import Calibration
from deciban.models.feature_evidence import LinearEvidence, PartsEvidence, column_evidence
from deciban.models.feature_weights import FeatureWeights
from deciban.models.held_out import LeavingOut
from deciban.models.model import LinearPosterior
from deciban.progress import row_progress
from deciban.rows import inputs, predictions
from deciban.rows.labels import label_codes, label_type, united
from deciban.rows.predictions import PredictBatch, columns_for
from deciban.rows.readers import ArrayKind, check_same_array_library
from deciban.rows.rows import ColumnRoles, LabelledTally, TallyBatch, rows_of
from deciban.rows.schema import Schema
from deciban.tallies import Bundle, ClassWeights, reordered

SPAN = 1 << 18  # cells a span of scored rows has, at least


class Scoring:
    """Mixin: needs `_check_is_fitted() -> Fitted`, `classes_`, `_reads`."""

    classes_: np.ndarray
    _reads: str
    _keeps_kind = False  # whether float32 (or another library's arrays) in means the same out
    _origin: ArrayKind
    _check_is_fitted: Callable[[], Any]

    # what users call

    def predict_joint_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(x, class), (n, k)."""
        return self._score(X, priors)

    @check_same_array_library
    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k)."""
        out = self._score(X, priors, partial(ops.posterior, logs=True), plain=True)
        return self._origin_of(X).send_logs(out)

    @check_same_array_library
    def predict_proba(self, X, *, priors=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the learned class priors for this call."""
        return self._score(X, priors, partial(ops.posterior, logs=False))

    @check_same_array_library
    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row."""
        best = self._score(X, priors, lambda scores, prior, out: (scores + prior).argmax(axis=1), plain=True)
        return self._origin_of(X).send_labels(self.classes_[best])

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        joint = self._score(X, priors, joined, plain=True)
        odds = decision.log_odds(joint, None if against is None else self._place_of(against))
        return self._origin_of(X).send(odds)

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1."""
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    def score_samples(self, X, *, priors=None) -> np.ndarray:
        """log p(x), (n,)."""
        joint = self._score(X, priors, density=True, plain=True)
        return self._origin_of(X).send(decision.log_evidence(joint))

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their labels from the fitted model: (X, y)."""
        fitted = self._check_is_fitted()
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        prior = np.exp(fitted.log_prior - np.logaddexp.reduce(fitted.log_prior))
        y = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        return fitted.family.sample(fitted.params, y, rng), self.classes_[y]

    def as_logistic(self) -> LinearPosterior:
        """The same posterior as a logistic (softmax) function of x: its `coef_` and `intercept_`."""
        fitted = self._check_is_fitted()
        found = fitted.family.linear(fitted.params)
        if found is None:
            raise DataError(
                f"the posterior of this {type(self).__name__} is not linear in x\n\n"
                "hint: LinearDiscriminantAnalysis, MultinomialNB, PoissonNB and BernoulliNB are"
            )
        coef, bias = found
        if fitted.weights is not None:
            coef, bias = fitted.said.linear(fitted.weights.table)
            bias = bias + fitted.weights.bias
        if fitted.calibration is not None:
            coef, bias = fitted.calibration.linear(coef, bias)
        above = fitted.family.above
        return LinearPosterior.of(self.classes_, coef, bias + self._prior(fitted, None), above)

    # inside

    def _prior(self, fitted: Any, priors, density: bool = False) -> np.ndarray:
        """log prior (k,) to add to the log likelihoods."""
        if priors is None:
            takes = fitted.family.uses_prior or fitted.weights is not None
            if takes or density or len(self.classes_) == 1:
                return fitted.log_prior
            return np.zeros(len(self.classes_))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(priors, self.classes_))

    def _score(
        self,
        X,
        priors=None,
        finish: Callable | None = None,
        density: bool = False,
        plain: bool = False,
    ) -> np.ndarray:
        """Log joints of all rows, span by span. What becomes a posterior is settled and handed to `finish` while in
        cache, as finish(scores, prior=…, out=a place that it may use)."""
        fitted = self._check_is_fitted()
        x = self._features(X)
        prior = self._prior(fitted, priors, density)
        family, params = fitted.family, fitted.params
        loglik = family.log_density if density and not family.density else family.loglik
        weights = None if density else fitted.weights
        wide = x.n * family.row_width(len(prior)) if x.n > 1 else 0
        spans = borders(x.n, max(x.cells, wide), max(SPAN, len(prior) * x.d // 4))
        whole = np.empty((x.n, len(prior)) if len(spans) > 1 else (0, 0))

        def run(span: tuple[int, int]) -> np.ndarray:
            chunk = x.rows(*span)
            self._check_scored(chunk, x)
            with np.errstate(all="ignore"):
                if weights is None:
                    scores = loglik(params, chunk)
                else:
                    scores = fitted.said.scores(chunk, weights.table) + weights.bias
                if fitted.calibration is not None and not density:
                    fitted.calibration.apply(scores)
            fine = ops.all_finite(scores)
            if (not fine or weights is not None) and inputs.infinite(chunk):
                inputs.raise_not_finite(x, self.__dict__.get("feature_names_in_"))
            if finish is None:
                common = family.carrier(params, chunk)
                return scores + prior if common is None else added(scores, prior, common)
            place = whole[slice(*span)] if len(spans) > 1 else scores
            if fine:
                return finish(scores, prior=prior, out=place)
            return finish(
                decision.resolve_impossible_rows(scores + prior, prior), prior=np.zeros(len(prior)), out=place
            )

        out = run(spans[0]) if len(spans) == 1 else _join(whole, threads.map_ordered(spans, run), spans)
        return out if plain else self._origin_of(X).send(out)

    def _features(self, X) -> Block:
        """X as a block, for scoring, unless it is one."""
        return X if isinstance(X, Reals | Codes) else inputs.features(self, X, self._reads)

    def _check_scored(self, chunk: Block, x: Block) -> None:
        """Refuse cells of a chunk of x that cannot be scored."""

    def _origin_of(self, X: Any) -> ArrayKind:
        """What kind of array answers to X should be."""
        return ArrayKind.of(X) if self._keeps_kind else ArrayKind.plain

    def _view(self, a: np.ndarray) -> np.ndarray:
        """A fitted attribute as the kind of array that X was in training."""
        return self._origin.send(a) if self._keeps_kind else a

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {list(self.classes_)}")
        return int(at[0])


def joined(scores: np.ndarray, prior: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Log joints, up to a term that all classes share."""
    return np.add(scores, prior, out=out)


def added(scores: np.ndarray, prior: np.ndarray, common: np.ndarray) -> np.ndarray:
    """scores + prior + common (n,), −∞ where they are past all numbers with opposite signs: no density is there."""
    out = scores + prior
    with np.errstate(all="ignore"):
        out += common[:, None]
    if not ops.all_finite(out):
        out[np.isnan(out)] = -np.inf
    return out


def _join(whole: np.ndarray, parts: Any, spans: list[tuple[int, int]]) -> np.ndarray:
    """The parts as one array: `whole`, where they are not in it already, or one of their own shape."""
    out = whole
    for (start, stop), part in zip(spans, parts, strict=True):
        if start == 0 and (part.ndim, part.dtype) != (whole.ndim, whole.dtype):
            out = np.empty((len(whole), *part.shape[1:]), dtype=part.dtype)
        if part.base is not whole:
            out[start:stop] = part
    return out


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

    def adapt_priors(self, X, *, tol: float = 1e-6, max_iter: int = 10_000) -> AdaptedPriors:
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
        return AdaptedPriors(priors, self.classes_, steps, "converged" if rest else "max_iter", self)

    def _log_proba(self, X, priors) -> np.ndarray:
        """log P(class | x) as the model says it, as NumPy's doubles. (n, k)"""
        return np.asarray(inputs.to_numpy(self.predict_log_proba(X, priors=priors)), dtype=np.float64)


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


MOST = 1 << 28  # numbers that an explanation may hold: rows × classes × columns
TOGETHER = "(all columns together)"


class Explaining:
    """Mixin: needs what `Scoring` needs, and its `_prior`."""

    classes_: np.ndarray
    n_features_in_: int
    _reads: str
    _anchored = True  # evidence of a cell is what it is: no other cell is needed to count from
    _check_is_fitted: Callable[[], Any]
    _check_scored: Callable[[Block, Block], None]
    _features: Callable[[Any], Block]
    _prior: Callable[..., np.ndarray]

    def explain(self, X, *, of=None, against=None, priors=None) -> Explanation:
        """Evidence for `of` (by default each row's most probable class) against another class (by default the most
        probable one beside it), by column and in decibans: prior + columns = log odds. Labels may differ by row: pass
        one for each.

        Where columns interact (QDA, RDA, Fisher of more than two classes) there is one part for all of them. In LDA
        columns share a covariance, and a column speaks for a class by its coefficient times its distance from half-way
        between the overall mean and the class's; with two classes, a cell half-way between their means says nothing.
        """
        base, parts, columns, values = self._evidence(X, priors)
        note = "" if self._parted() else f"columns of this {type(self).__name__} interact: none has a part of its own"
        return Explanation.of_parts(self.classes_, columns, values, base, parts, of, against, note, **context(self, X))

    # hooks

    def _evidence(self, X, priors=None) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
        """(log prior (k,), log likelihoods by column (n, k, d), column names, cells (n, d); NaN or None is missing).

        Where columns cannot be split, d is 1. Their sum is the log joint, up to a term that all classes share.
        """
        fitted = self._check_is_fitted()
        x = X if isinstance(X, Block) else self._features(X)
        check_size(x.n, len(self.classes_), x.d)
        x = x.rows(0, x.n)
        self._check_scored(x, x)
        with np.errstate(all="ignore"):
            split = _by_column(fitted.family, fitted.params, x) if self._parted() else None
            parts = fitted.family.loglik(fitted.params, x)[:, :, None] if split is None else split
        if not ops.all_finite(parts) and inputs.infinite(x):
            inputs.raise_not_finite(x, self.__dict__.get("feature_names_in_"))
        prior, cells = self._prior(fitted, priors), self._cells(X, x)
        if fitted.weights is not None:
            parts, prior = fitted.said.parts(x) * fitted.weights.table, prior + fitted.weights.bias
        if fitted.calibration is not None:  # temperature · parts, and the bias is known before any column has spoken
            parts, prior = parts * fitted.calibration.temperature, prior + fitted.calibration.bias
        if split is None:
            return prior, parts, [TOGETHER], _joined(cells)
        return prior, parts, self._column_names(), cells

    def _cells(self, X, x: Block) -> np.ndarray:
        """The cells (n, d) as people know them, from X or from what was read of it; NaN or None is missing."""
        if isinstance(x, Codes):
            return np.where(x.values < 0, np.nan, x.values.astype(np.float64))
        assert not isinstance(x, Mixed)
        return x.dense()

    def _candidates(self) -> Any:
        """For each column the values that its scale in a nomogram is drawn at: numbers (floats) from the least to the
        largest, or levels of any type; None: the model does not know."""
        fitted = self._check_is_fitted()
        return fitted.family.grid(fitted.params, len(self.classes_))

    def _rows_of(self, columns: list[np.ndarray]) -> Block:
        """Columns of candidates, all of one length, as a block, which `_evidence` takes too."""
        cells = np.column_stack(columns)
        return Codes(cells) if self._reads == "codes" else Reals(cells)

    # inside

    def _parted(self) -> bool:
        """Whether each column of a row has a part of its own in the evidence."""
        return self._splits()

    def _splits(self) -> bool:
        """Whether that part is the same whatever the other columns hold, so that it can be drawn as a scale."""
        fitted = self._check_is_fitted()
        return fitted.family.splits(fitted.params) or self.n_features_in_ == 1

    def _column_names(self) -> list[str]:
        return shown_names(self)


def context(model: Any, X: Any) -> dict[str, Any]:
    """What an explanation says beside numbers: labels of the rows, name of the target, library of the frame."""
    library = frames.library(X) if not isinstance(X, Block | np.ndarray) and frames.is_frame(X) else None
    return {"rows": frames.row_labels(X), "target": model.__dict__.get("target_name_", ""), "library": library}


def check_size(n: int, k: int, d: int) -> None:
    """Whether an explanation of so many rows, classes and columns fits."""
    size = n * k * d
    if size > MOST:
        raise DataError(
            f"an explanation of {n} rows × {k} classes × {d} columns is {size:.1g} numbers\n\n"
            f"hint: explain fewer rows at a time, {max(1, MOST * n // size)} at most"
        )


def _by_column(family: Any, params: Any, x: Any) -> np.ndarray:
    if family.has_parts:
        return family.parts(params, x)
    if family.splits(params):
        return parts_by_pattern(x, params)
    return family.loglik(params, x)[:, :, None]  # of one column


def _joined(cells: np.ndarray) -> np.ndarray:
    """The cells of each row as one text; None where all of them are missing."""
    texts = [", ".join(cell_text(cell) for cell in row[:3]) + ", …" * (len(row) > 3) for row in cells]
    out = np.array([*texts, None], dtype=object)[:-1]
    out[np.isnan(cells).all(axis=1)] = None
    return out[:, None]


_GUARD = Lock()
_LOCKS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by model: locks are no part of a pickle or a copy


class Steady:
    """Mixin: what fails, or is interrupted, leaves the model as it was."""

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread changes this model meanwhile: a sum that two threads make of the same state loses rows."""
        with _GUARD:
            lock = _LOCKS.setdefault(self, RLock())
        with lock:
            yield

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise


def unfitted(model: Any) -> NotFittedError:
    """The error of a model that is asked before it has learned, in scikit-learn's words."""
    return NotFittedError(
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )


class Settled:
    """Mixin of every classifier.

    The constructor's signature is read once a class (scikit-learn reads it in every fit, which small tables notice); a
    setting that it does not have is answered with the nearest one; methods that override others have their docstrings;
    and a fitted attribute that cannot be had raises an AttributeError with the reason, as `hasattr` and `dir` expect.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, own in vars(cls).items():  # help() shows what the method that is overridden says
            if isinstance(own, FunctionType) and own.__doc__ is None and not name.startswith("_"):
                own.__doc__ = getattr(getattr(super(cls, cls), name, None), "__doc__", None)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", _suggesting(cls.__dict__["__init__"]))  # noqa: B010
        for name in {name for base in cls.__mro__ for name in vars(base) if not name.startswith("_")}:
            own = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            if isinstance(own, property) and not isinstance(own, Available) and own.fget is not None:
                setattr(cls, name, Available(own.fget, own.fset, own.fdel, own.__doc__))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # type: ignore[misc]


class Available(property):
    """A property whose errors of this library are AttributeErrors too."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        try:
            return super().__get__(model, owner)
        except DecibanError as wrong:
            if isinstance(wrong, AttributeError):
                raise
            raise UnavailableError(str(wrong)) from wrong


def _suggesting(init: Callable) -> Callable:
    """The constructor, with an error for settings it does not have that says which one may be meant."""
    names = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def constructor(self: Any, *args: Any, **settings: Any) -> None:
        for name in settings:
            if name not in names:
                hint = (
                    _of_classes(name, names) or did_you_mean(name, names) or f"there are {', '.join(names) or 'none'}"
                )
                raise TypeError(f"{type(self).__name__} has no setting `{name}`\n\nhint: {hint}")
        init(self, *args, **settings)

    return constructor


def _of_classes(name: str, names: list[str]) -> str:
    """A hint about settings that weigh classes, which other classifiers have under other names; "" of all others."""
    if name not in ("class_weight", "priors", "class_prior", "prior"):
        return ""
    own = next((one for one in ("priors", "class_prior") if one in names), None)
    if name != "class_weight" and own is not None:
        return f"did you mean `{own}`?"
    if name != "class_weight" and "class_weight" in names:
        return "`class_weight` weighs the rows of each class; predict_proba(X, priors=...) takes other class priors"
    if own is not None:
        return f'{own}="uniform" gives all classes the same weight; {own}={{class: share}} others'
    return 'predict(X, priors="uniform") and predict_proba(X, priors="uniform") give all classes the same weight'


TARGET = "label"  # the column of the classes, where none is named
INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name when it writes files


@dataclass(frozen=True)
class BatchJob:
    """A pass, or several, over data: what is to be read of them, and by which engine."""

    engine: ModuleType
    data: Any
    reading: ColumnRoles
    progress: Any = None
    checkpoint: Any = None

    def total(self, f: Callable[[Any], Any]) -> Any:
        """Σ f(batch); f is picklable and keeps no state."""
        return self.engine.total(self.data, f, progress=self.progress)

    @property
    def repeats(self) -> bool:
        """Whether the rows can be gone through more than once."""
        from deciban.io import readers

        return self.engine is not stream or not readers.is_single_pass(self.data)

    @contextmanager
    def several(self) -> Iterator[BatchJob]:
        """The same for several passes, between which the engine keeps the data."""
        if self.checkpoint is not None:
            raise DataError(
                "`checkpoint` is for models that go through the data once, and this one takes several passes\n\n"
                "hint: leave it out; or learn a generative classifier"
            )
        with self.engine.kept(self.data, self.reading.columns) as data:
            yield replace(self, data=data)

    def _resumed(self, f: TallyBatch) -> Any:
        """The same, from where an earlier job had come."""
        if self.checkpoint is None:
            return self.total(f)
        if self.engine is not stream:
            raise DataError(
                f"`checkpoint` is for files that are read here; {self.engine.__name__.rpartition('.')[2]} does lost "
                "work again by itself\n\nhint: leave out `checkpoint`"
            )
        checkpoints = import_module("deciban.model_file.checkpoint")  # which knows how models are stored
        keeper = checkpoints.Checkpoint(
            self.checkpoint, checkpoints.fingerprint(f.model, f.reading, stream.opened(self.data))
        )
        out = stream.total(self.data, f, progress=self.progress, start=keeper.start(), after=keeper.after)
        keeper.done()
        return out

    def sum_of_parts(self, model: Any) -> LabelledTally:
        """The parts of all rows, by a model without state."""
        job = self
        while True:
            part = job._resumed(TallyBatch(model, job.reading))
            if part is None:
                return LabelledTally.nothing()
            if not part.again:
                return part
            if not self.repeats:
                with self.engine.kept(self.data):  # tells that they come once
                    pass
            job = replace(self, reading=replace(self.reading, kinds=part.kinds))


class OnData(Steady):
    """Mixin of every classifier: needs `_learn_on(job)`, `_validate_params`, `predict_proba`."""

    classes_: np.ndarray
    _validate_params: Callable[[], None]
    _reads_texts = False

    def _learn_on(self, job: BatchJob) -> None:
        raise NotAdditiveError(
            f"{type(self).__name__} learns from rows in memory only\n\nhint: use `fit`, or a generative classifier"
        )

    def fit_on(
        self,
        data: Any,
        target: str = TARGET,
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        sample_weight: str | None = None,
        checkpoint: Any = None,
        progress: Any = None,
        header: int | bool | None = None,
        delimiter: str | None = None,
    ) -> Self:
        """Learn from data of any size, in pieces: the model that `fit` would make of all rows.

        data: a path, glob or folder (Parquet, CSV, Feather, JSON), an Arrow dataset, reader or table, a frame,
        an iterator of frames, a Dask or a Spark DataFrame. target: the column of the classes; features: the columns to
        learn from, by default all others; sample_weight: the column of the weights. checkpoint: a file that keeps how
        far the reading of files has come; a job that was killed goes on from there, and ends in the same bits.
        progress: True shows rows/s and the time left; or a function of (rows so far, share of all or None). header,
        delimiter: of CSV files where looking at them is not enough: the line with the names of the columns (the first
        is 1; False: no line has them, the columns are x0, x1, …), and what separates the cells.

        >>> import pyarrow as pa
        >>> from deciban import MixedNB
        >>> rows = pa.table({"sky": ["grey", "blue", "grey"], "label": ["rain", "sun", "rain"]})
        >>> MixedNB().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
        ['rain']
        """
        self._validate_params()
        picked = engines.engine_for(data, engine)
        found = ready(picked, described(data, header, delimiter, (target,)))
        while True:
            reading = reading_of(picked, found, target, features, sample_weight, self._reads_texts)
            try:
                with self._unchanged_on_failure(), row_progress(progress, "fit_on") as tell:
                    self._learn_on(BatchJob(picked, found, reading, tell, checkpoint))
                    self._name_target(reading.target)
                return self
            except Exception as error:
                found = _described_again(found, error)
                if found is None:
                    raise

    def predict_on(
        self,
        data: Any,
        *,
        out: Any = None,
        priors: Any = None,
        features: str | Sequence[str] | None = None,
        engine: Any = None,
        progress: Any = None,
        header: int | bool | None = None,
        delimiter: str | None = None,
    ) -> Any:
        """The rows with `predicted` and the probability of each class (`p_…`) appended, as the kind of thing they came.

        The answers to a path are written to a file `out`, those to a folder or a glob to a folder `out`; its path is
        returned. A frame gives a frame, a LazyFrame or a DuckDB relation the same kind, an Arrow stream or dataset a
        reader of batches, an iterator one of frames; Dask and Spark frames give lazy ones. priors: as in `predict`;
        features: the columns to read, where the model was learned from an array; header, delimiter: see `fit_on`.

        >>> import pyarrow as pa
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.predict_on(pa.table({"size": [0.3]})).to_pylist()[0]["predicted"]
        'a'
        """
        from deciban.io import readers

        picked = engines.engine_for(data, engine)
        if priors is not None:
            check_priors(priors, self.classes_)
        if readers.is_path(data):
            with row_progress(progress, "predict_on") as tell:
                data = described(data, header, delimiter, tuple(map(str, getattr(self, "feature_names_in_", ()))))
                return predictions.written(self, data, out, priors, features, tell)
        if out is not None:
            raise DataError("`out` is for data that are files\n\nhint: the answers are returned; write those")
        data = ready(picked, data)
        schema = picked.schema(data)
        f = PredictBatch(self, columns_for(self, schema.names, features), priors)
        return picked.transform(data, f, f.schema(schema))

    def _name_target(self, name: str | None) -> None:
        """Keep what is predicted as `target_name_`, where it has a name."""
        self.__dict__.pop("target_name_", None)
        if name is not None:
            self.target_name_ = name

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        """Those columns of Arrow rows, as the model takes them."""
        from deciban.io import readers

        return readers.selected(rows, columns)


def described(data: Any, header: int | bool | None, delimiter: str | None, expected: tuple[str, ...]) -> Any:
    """A path with what is known of the CSV files that it means; other data as they are."""
    from deciban.io import readers

    if not isinstance(data, str | os.PathLike):
        if header is not None or delimiter is not None:
            raise DataError("`header` and `delimiter` are for CSV files\n\nhint: leave them out, or give a path")
        return data
    if header is True:
        header = None
    if header is not None and header is not False and header < 1:
        raise DataError(f"`header` is {header}, but lines count from 1\n\nhint: False, where no line has the names")
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"`delimiter` is {delimiter!r}, not one character\n\nhint: for tabs, '\\t'")
    how = {"header": None if header is None else int(header), "delimiter": delimiter, "expected": expected}
    return readers.Described(data, how)


def _described_again(data: Any, error: Exception) -> Any:
    """A path with a column more, where an error says that its files have one; else None."""
    from deciban.io import readers

    if not isinstance(error, readers.ColumnTypeChanged) or not isinstance(data, readers.Described):
        return None
    return replace(data, how={**data.how, "types": error.types})


def ready(engine: ModuleType, data: Any) -> Any:
    """Data that can be asked for their names before their rows."""
    return engine.ready(data) if hasattr(engine, "ready") else data


def reading_of(
    engine: ModuleType, data: Any, target: str, features: Any, weight: str | None, texts: bool = False
) -> ColumnRoles:
    """Which columns are what, by the names that the data have."""
    source = stream.opened(data) if engine is stream else None  # a folder takes its time to open: once is enough
    schema: Any = source.schema if source is not None else engine.schema(data) if hasattr(engine, "schema") else None
    names = engine.names(data) if source is None else source.names
    for name in [target] if weight is None else [target, weight]:
        check_there(name, names, "" if source is None else source.header)
    if features is None:
        wanted = [name for name in names if name not in (target, weight) and not INDEX.fullmatch(name)]
    else:
        wanted = [features] if isinstance(features, str) else [str(name) for name in features]
    for name in wanted:
        check_there(name, names)
    if target in wanted or not wanted or (texts and len(wanted) != 1):
        what = "one column of texts" if texts else "columns, and not the target"
        raise DataError(f"to learn from {wanted}, where {what} are needed\n\nhint: name them: features=…")
    return ColumnRoles(tuple(wanted), target, weight, _kinds(schema, wanted), texts)


def _kinds(schema: Any, names: Sequence[str]) -> tuple[str, ...]:
    """What the columns hold, where the data say."""
    if schema is None:
        return ()
    from deciban.io import batches

    return tuple(batches.kind(schema.field(name).type) or "" for name in names)


def check_there(name: str, names: Sequence[str], header: str = "") -> None:
    """Whether the data have one column of that name; `header` says which line of a CSV file was taken for what."""
    if names.count(name) > 1:
        raise DataError(f"two columns are named `{name}`\n\nhint: give every column a name of its own")
    if name not in names:
        columns = format_choices(names)
        if name == TARGET:  # the default
            hint = f"target=NAME, one of {columns}"
        else:
            hint = did_you_mean(name, names) or f"the columns are {columns}"
        if header:
            hint += ("" if hint[-1] == "?" else ".") + " If another line of the file has the names, pass header=LINE"
        line = f"; {header}" if header else ""
        raise DataError(f"there is no column `{name}` in the data{line}\n\nhint: {hint}")


BY_CLASS = (
    "priors",
    "class_prior",
    "n_components",
    "class_weight",
)  # settings that make sense only where all classes are known


class OnePass:
    """Mixin of the generative classifiers: needs `_tally`, `_set`, `_check_settings` and the like."""

    classes_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    _reads: str
    _origin: ArrayKind
    _picked: dict
    _tally: Callable[[Table], Any]
    _set: Callable[..., None]
    _check_settings: Callable[[], None]
    _check_fitted: Callable[[], None]
    _check_updatable: Callable[[], None]
    get_params: Callable[..., dict]

    def _learn_on(self, job: Any) -> None:
        """Learn from all rows that the job goes through."""
        part = job.sum_of_parts(self._bare(job.reading))
        self._name_columns(job.reading)
        self._take_part(part.ordered())

    def _bare(self, reading: ColumnRoles) -> Self:
        """A copy that can tally rows of any classes."""
        out: Any = clone(self)
        try:
            out._check_updatable()
        except NotAdditiveError as wrong:
            cannot = "`fit_on`, which goes through them once, cannot"
            raise NotAdditiveError(str(wrong).replace("no update, merge or forgetting", cannot)) from None
        for name in BY_CLASS:
            if name in out.get_params(deep=False):
                setattr(out, name, None)
        out._name_columns(reading)
        out.classes_ = np.arange(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is worth telling is told of the model itself
            out._check_settings()
        return out

    def _name_columns(self, reading: ColumnRoles) -> None:
        self.feature_names_in_ = np.array(reading.features, dtype=object)
        self.n_features_in_ = len(reading.features)
        self._picked = {}

    def _readable(self, rows: Any, columns: Sequence[str]) -> Block:
        """Those columns of Arrow rows, as they are scored."""
        from deciban.io import batches

        if self._reads == "codes":
            return Codes(batches.codes(rows, columns), floor=0)
        return batches.numbers(rows, columns)

    def _part(self, batch: Any, reading: ColumnRoles) -> LabelledTally:
        """What the rows of a batch contribute."""
        classes, y = reading.labels(batch)
        w = reading.weights(batch)
        table = Table(self._readable(batch, reading.features), y, w, len(classes))
        return LabelledTally(classes, rows_of(table), self._tally(table))

    def _take_part(self, part: LabelledTally) -> None:
        """Become the model of all rows."""
        if part.tally is None or not part.rows.any():
            raise DataError(
                "there are no rows to learn from\n\n"
                "hint: see whether the data have rows, and whether some of them have a weight above 0"
            )
        self.classes_ = part.classes
        self._origin = ArrayKind.plain
        self._check_settings()
        if hasattr(self, "_check_rows"):
            self._check_rows(part.rows)
        self._set(part.tally)
        self._check_fitted()


SPARE = 1 / 16  # how large the tallies of all runs may be beside the cells of sparse rows
MANY = 1 << 18  # cells that keep more than one thread busy
SEARCHED = 1000  # rows that are looked at one by one for the one that was never learned


def _at_once(f: Callable, parts: list) -> Iterator:
    return threads.map_ordered(parts, f)


class Fitted:
    """A tally and, made when first asked for, the parameters that it stands for."""

    weights: FeatureWeights | None = None  # of the columns

    def __init__(self, model: Generative, tally: Bundle, calibration: Calibration | None = None):
        self.model, self.tally, self.calibration = model._plain(), tally, calibration

    @cached_property
    def family(self) -> Any:
        return self.model._family(self.tally)

    @cached_property
    def params(self) -> Any:
        self._check_rows()
        return self.model._estimate(self.family, self.tally)

    @cached_property
    def log_prior(self) -> np.ndarray:
        self._check_rows()
        return self.model._log_prior(self.tally.parts[0].n)

    @property
    def empty(self) -> bool:
        """Whether every row has been forgotten."""
        return self.model._learns_from_rows() and not self.tally.parts[0].n.any()

    def _check_rows(self) -> None:
        if self.empty:
            raise NoRowsError(
                f"no rows are left: this {type(self.model).__name__} has forgotten all that it learned\n\n"
                "hint: `partial_fit` or `fit` it on rows first"
            )

    @cached_property
    def said(self) -> PartsEvidence | LinearEvidence:
        """What columns say, for weights to multiply."""
        return column_evidence(self.family, self.params)


class Generative(
    Deciding, Explaining, LeavingOut, Scoring, OnePass, OnData, Settled, Steady, ClassifierMixin, BaseEstimator
):
    """Base of the classifiers whose state is a tally."""

    _reads = "reals"  # how X is read: reals (dense or CSR), dense, counts, codes
    _least_rows = 1
    _classes_first = False  # whether the first `partial_fit` has to name all classes, as scikit-learn has it
    _classes_given = False  # whether it has named them: then no others may come
    _chunk = 1 << 22  # cells a chunk of training rows has, at least

    # what a subclass says

    def _family(self, tally: Bundle | None = None) -> Any:
        raise NotImplementedError

    def _estimate(self, family: Any, tally: Bundle) -> Any:
        return family.estimate(tally.parts[1])

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _check_settings(self) -> None:
        """Make what follows from the settings, the classes and the number of columns, or refuse them."""

    def _check_fit(self, table: Table, whole: bool) -> None:
        """Refuse what this class cannot learn from, before anything is learned; `whole`: no more rows will
        come."""

    def _warn_of_columns(self, notes: list[str]) -> None:
        """Name columns that are hardly meant to be learned from; called by `fit` alone."""

    def _check_additive(self) -> None:
        """Refuse to update, merge or forget where a setting needs all rows at once."""

    def _check_fitted(self) -> None:
        """Look at a complete fit; called by `fit`, not by `partial_fit`, which may see more rows yet."""

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions. Forgets what was learned before."""
        self._validate_params()
        labels = y
        with self._unchanged_on_failure():
            x, y = self._training(X, y, reset=True, least=self._least_rows, whole=True)
            self.classes_, codes = inputs.labels(y, None)
            noting = self.__dict__.pop("_notes", None)
            notes = noting(codes, self.classes_) if noting is not None else []
            table = Table(x, codes, inputs.weights(sample_weight, codes), len(self.classes_))
            self._origin = ArrayKind.of(X)
            self._name_target(frames.target_name(labels))
            self._picked = {}
            self.__dict__.pop("_classes_given", None)
            self._check_settings()
            self._check_fit(table, whole=True)
            self._set(self._tally_whole(table))
            self._check_fitted()
            self._tune(table)
            if notes:
                self._warn_of_columns(notes)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same state as one `fit` on all of them.

        New classes may come at any time, unless the first call named all `classes`. (Classes named after
        scikit-learn's need `classes` in the first call, as there, or a `fit` before it.)
        """
        self._validate_params()
        self._check_updatable()
        labels = y
        with self._alone(), self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            x, y = self._training(X, y, reset=first)
            before = None if first else self._fitted.tally
            if classes is not None or (self._classes_first if first else self._classes_given):
                inputs.check_classes(self, classes)
                self._classes_given = self._classes_given or first
            elif first:
                self.classes_ = inputs.labels(y, None)[0]
            else:
                before = self._with_new_classes(y)
            table = self._table(x, y, sample_weight)
            if first:
                self._origin = ArrayKind.of(X)
                self._name_target(frames.target_name(labels))
            self._check_settings()
            self._check_fit(table, whole=False)
            tally = self._tally(table)
            self._set(tally if before is None else before + tally)
        return self

    def _with_new_classes(self, y: np.ndarray | frames.Column) -> Bundle:
        """The tally, and `classes_`, with the classes of y among them."""
        tally, known = self._fitted.tally, self.classes_
        if (label_codes(y, known)[1] >= 0).all():
            return tally
        new = inputs.labels(y, None)[0]
        kinds = [label_type(labels) for labels in (new, known)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"the labels are {kinds[0]} (such as {new.tolist()[0]!r}), but those learned so far are {kinds[1]} "
                f"(such as {known.tolist()[0]!r})\n\nhint: give labels of the same type"
            )
        self.classes_ = united(known, new)
        return tally.relabel(np.searchsorted(self.classes_, known), len(self.classes_))

    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows from the model: the state is that of a model never trained on them.

        Rows that were never learned are refused where the state shows it. Counts of distinct rows (structured models)
        always do. Counts of each column (levels, histogram cells) show a cell that no row of the class has; a row made
        of cells of other rows goes unnoticed. Means and sums of squares show more rows of a class than there were, and
        values further out than any row can have been; another value between those that were learned goes unnoticed.

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned, with the labels and weights they were learned with.

        Returns
        -------
        self

        Raises
        ------
        ForgetError
            A row was never learned; the model is as it was.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "b"]
        >>> GaussianNB().fit(X, y).forget(X[4:], y[4:]).theta_.tolist()  # as of the first four rows
        [[0.5], [4.5]]
        """
        with self._alone():
            fitted = self._check_is_fitted()
            self._check_updatable()
            x, y = self._training(X, y, reset=False)
            self._check_known(y)
            table = self._table(x, y, sample_weight)
            left = fitted.tally - self._tally(table)
            if left.short().any():
                raise self._never_learned(X, table)
            self._set(left)
        return self

    def _check_known(self, y: np.ndarray | frames.Column) -> None:
        """Refuse to forget rows of a class that the model does not have."""
        unknown = label_codes(y, self.classes_)[1] < 0
        if unknown.any():
            first = (y.named() if isinstance(y, frames.Column) else y)[unknown].tolist()[0]
            raise ForgetError(
                f"class {first!r} was never learned (row {int(unknown.argmax())})\n\n"
                f"hint: forget rows with the labels of training; the classes are {self.classes_.tolist()}"
            )

    def _never_learned(self, X: Any, table: Table) -> ForgetError:
        """Why these rows cannot be taken away."""
        hint = "forget only rows (and weights) that went through fit or partial_fit, with their labels"
        tally = self._fitted.tally
        have, asked = tally.parts[0].n, ops.class_weights(table.y, table.w, table.k)
        over = np.flatnonzero(asked > have * (1 + 1e-9))
        if len(over):
            c = int(over[0])
            return ForgetError(
                f"{asked[c]:g} rows of class {self.classes_.tolist()[c]!r} to forget, but the model has {have[c]:g}"
                f"\n\nhint: {hint}"
            )
        for row in range(min(table.n, SEARCHED)):
            if (tally - self._tally(table.rows(row, row + 1))).short().any():
                label = self.classes_.tolist()[table.y[row]]
                cells = frames.cells_of(X, row)
                return ForgetError(f"row {row}{cells} of class {label!r} was never learned\n\nhint: {hint}")
        labels = [repr(label) for label in self.classes_[np.unique(table.y)].tolist()]
        return ForgetError(
            f"not all of these rows of class {', '.join(labels)} were learned, or not as often\n\nhint: {hint}"
        )

    def __add__(self, other: Self) -> Self:
        """The model of both models' rows, whatever their classes."""
        if isinstance(other, int) and other == 0:  # where sum([...]) starts
            out = self._plain()
            out._set(self._check_is_fitted().tally)
            return out
        if type(other) is not type(self):
            return NotImplemented
        self._check_is_fitted(), other._check_is_fitted()
        self._check_updatable()
        other = other._aligned_columns(self)
        self._check_mergeable(other)
        a, b = self._fitted, other._fitted
        classes = united(self.classes_, other.classes_)
        out = self._plain()
        out.classes_ = classes
        out._check_settings()
        places = [np.searchsorted(classes, model.classes_) for model in (self, other)]
        mine, theirs = out._aligned(other, a.tally, b.tally)
        out._set(mine.relabel(places[0], len(classes)) + theirs.relabel(places[1], len(classes)))
        return out

    __radd__ = __add__

    def _check_mergeable(self, other: Self) -> None:
        mine, theirs = self.get_params(), other.get_params()
        for name, value in mine.items():
            if not np.array_equal(np.asarray(value, dtype=object), np.asarray(theirs[name], dtype=object)):
                raise MergeError(
                    f"`{name}` is {value!r} in one model and {theirs[name]!r} in the other\n\n"
                    "hint: fit both with the same settings"
                )
        if self.n_features_in_ != other.n_features_in_:
            raise MergeError(
                f"one model has {self.n_features_in_} columns, the other {other.n_features_in_}\n\n"
                "hint: fit both on the same columns"
            )

    def _aligned_columns(self, first: Self) -> Self:
        """This model, or a copy with its columns in the order of the other's, where both have names."""
        mine, theirs = (list(getattr(model, "feature_names_in_", ())) for model in (self, first))
        if mine == theirs or not mine or not theirs:
            return self
        lacking, own = ([n for n in a if n not in set(b)] for a, b in ((theirs, mine), (mine, theirs)))
        if lacking or own:
            only = [(lacking, "first"), (own, "second")]
            told = [
                f"{format_list(names)} {'is' if len(names) == 1 else 'are'} in the {which} model only"
                for names, which in only
                if names
            ]
            raise MergeError(
                f"the models have other columns: {', '.join(told)}\n\nhint: fit both on frames with the same columns"
            )
        out = self._plain()
        place = {name: at for at, name in enumerate(mine)}
        out._set(out._in_column_order(self._fitted.tally, [place[name] for name in theirs]))
        out.feature_names_in_ = first.feature_names_in_
        return out

    # inside

    def _in_column_order(self, tally: Bundle, order: list[int]) -> Bundle:
        """The tally with column order[j] in place j; what else the model holds by column is moved too."""
        return reordered(tally, order)

    def _learns_from_rows(self) -> bool:
        """Whether parameters come from the tally."""
        return True

    def _training(self, X, y, reset: bool, least: int = 1, whole: bool = False) -> tuple[Block, np.ndarray]:
        """X as a block, and labels, for learning; `whole`: no more rows will come."""
        return inputs.training(self, X, y, self._reads, reset, least)

    def _aligned(self, other: Self, mine: Bundle, theirs: Bundle) -> tuple[Bundle, Bundle]:
        """Two models' tallies, before merging, in the same columns and levels."""
        return mine, theirs

    def _table(self, x: Block, y: np.ndarray, sample_weight) -> Table:
        _, codes = inputs.labels(y, self.classes_)
        return Table(x, codes, inputs.weights(sample_weight, codes), len(self.classes_))

    def _tally(self, table: Table) -> Bundle:
        family, whom = self._family(), type(self).__name__
        size = family.tally_size(table.k, table.d)

        def of(span: tuple[int, int]) -> Bundle:
            chunk = table.rows(*span)
            if not inputs.in_support(chunk.x, family.support):
                inputs.raise_negative(table.x, whom, self.__dict__.get("feature_names_in_"))
            with np.errstate(all="ignore"):  # what is not finite is refused below
                return self._tally_chunk(family, chunk)

        spans = borders(table.n, table.x.cells, max(self._chunk, 2 * size))
        if isinstance(table.x, Counts) and MANY < table.x.cells < len(spans) * size / SPARE:
            # a tally for each run would take more memory than we have to spare: the threads share one
            table, spans = replace(table, x=replace(table.x, each=_at_once)), [(0, table.n)]
        with np.errstate(all="ignore"):
            out = threads.total(spans, of, iadd)
        if not out.finite():
            inputs.raise_not_finite(table.x, self.__dict__.get("feature_names_in_"))
        return out

    def _tally_whole(self, table: Table) -> Bundle:
        """The tally of a complete fit, which no more rows will follow."""
        return self._tally(table)

    def _tally_chunk(self, family: Any, chunk: Table) -> Bundle:
        tally = family.tally(chunk.x, chunk.y, chunk.w, chunk.k)
        known = tally.every_row and tally.n.ndim == 1
        n = tally.n if known else ops.class_weights(chunk.y, chunk.w, chunk.k)
        return Bundle((ClassWeights(n), tally))

    def _set(self, tally: Bundle, calibration: Calibration | None = None) -> None:
        self._fitted = Fitted(self, tally, calibration)

    def _plain(self) -> Self:
        """A copy that holds settings and classes but no state: what parameters are estimated with."""
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_fitted"})
        return out

    @property
    def tally_(self) -> Bundle:
        """The state: class weights and the family's statistics."""
        return self._check_is_fitted().tally

    @property
    def evidence_(self) -> float:
        """log p(X | y), parameters averaged out, of conjugate families: models of the same rows compare by it."""
        fitted = self._check_is_fitted()
        found = fitted.family.evidence(fitted.tally.parts[1])
        if found is None:
            raise AttributeError(
                f"{fitted.family} has no evidence in closed form\n\nhint: where there is `estimate`, set it to 'bayes'"
            )
        return float(found.sum())

    @property
    def class_count_(self) -> np.ndarray:
        """Number (weight) of the training rows of each class, (k,)."""
        return self._view(self._check_is_fitted().tally.parts[0].n)

    def _check_is_fitted(self) -> Fitted:
        try:
            return self._fitted
        except AttributeError:
            raise unfitted(self) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__


PRIORS = ["array-like", Mapping, StrOptions({"uniform"}), None]  # what the setting may be
CLASS_WEIGHT: dict[str, list] = {"class_weight": [StrOptions({"balanced"}), Mapping, None]}


class GivenPriors:
    """Mixin: needs `priors` (None: the classes' shares of the rows) and `classes_`."""

    priors: Any
    class_weight: Any = None
    classes_: np.ndarray
    _check_is_fitted: Callable[[], Any]
    _view: Callable[[np.ndarray], np.ndarray]

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        return self._view(np.exp(self._check_is_fitted().log_prior))

    def _check_settings(self) -> None:
        if self.priors is not None:
            check_priors(self.priors, self.classes_)
        if self.class_weight is None:
            return
        if self.priors is not None:
            raise DataError("`priors` and `class_weight` both set the class priors\n\nhint: give one of them")
        if isinstance(self.class_weight, Mapping):
            known = self.classes_.tolist()
            unknown = [label for label in self.class_weight if label not in known]
            if unknown:
                raise DataError(
                    f"class_weight names {unknown[0]!r}, but the classes are {known}\n\nhint: name classes of y"
                )
            bad = [w for w in self.class_weight.values() if not (isinstance(w, Real) and 0 < float(w) < np.inf)]
            if bad:
                raise DataError(f"class_weight has {bad[0]!r}, but weights are numbers > 0\n\nhint: 1 changes nothing")

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None and self.class_weight is None:
            return decision.log_prior(n)
        if self.priors is None:
            return decision.log_prior(n * self._class_weights(n))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))

    def _class_weights(self, n: np.ndarray) -> np.ndarray:
        """What the weight n of each class is multiplied by, (k,)."""
        if isinstance(self.class_weight, Mapping):
            return np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()])
        return np.divide(n.sum(), len(n) * n, out=np.zeros(len(n)), where=n > 0)


class ExplainingMixed(Explaining):
    """Mixin: needs a `_schema`, and `_columns(X, reset, least)` that reads a frame or an array."""

    _schema: Schema
    _columns: Any

    def _cells(self, X, x: Block) -> np.ndarray:
        out = np.full((x.n, len(self._schema.fields)), None, dtype=object)
        if isinstance(X, Block):
            return out
        given = {column.name: column for column in self._columns(X, False, 1)[0]}
        for j, field in enumerate(self._schema.fields):
            if field.name in given:
                column = given[field.name]
                levels = column.levels
                out[:, j] = column.values if levels is None else np.array([*levels, None], dtype=object)[column.values]
        return out

    def _candidates(self) -> list[np.ndarray]:
        """Levels by name; a missing cell is one of them where that is evidence."""
        none = [None] if self._schema.gaps is not None else []
        return [
            values if field.levels is None else np.array([*field.levels, *none, ""], dtype=object)[:-1]
            for field, values in zip(self._schema.fields, super()._candidates(), strict=True)
        ]

    def _rows_of(self, columns: list[np.ndarray]) -> Block:
        named = [_column(field, values) for field, values in zip(self._schema.fields, columns, strict=True)]
        return self._schema.read(named, len(columns[0]))[0]

    def _column_names(self) -> list[str]:
        return [column_label(name) for name in self._schema.names]


def _column(field: Any, values: np.ndarray) -> Column:
    """Candidates as a column of a frame."""
    if field.levels is None:
        return Column(field.name, np.asarray(values, dtype=np.float64))
    levels = list(dict.fromkeys(value for value in values if not is_missing(value)))
    codes = [-1 if is_missing(value) else levels.index(value) for value in values]
    return Column(field.name, np.array(codes, dtype=np.int32), levels)
