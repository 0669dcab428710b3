"""Base classes of all classifiers.

`Classifier` implements every kind of prediction: posteriors, labels, odds, decisions, explanations, for rows in memory
and elsewhere. A subclass defines how it learns and its `Posterior`. `Generative` is the base of classifiers whose state
is a tally: a subclass defines `_spec` (its settings as a value) and `_reader` (how it reads rows); learning, updating,
merging, removing rows and leave-one-out are implemented here.

>>> from deciban import GaussianNB, MixedNB
>>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["ham", "ham", "spam", "spam"])
>>> model.decide([[1.0], [2.5], [4.0]], reject=0.1).tolist()  # abstaining costs a tenth of an error
['ham', None, 'spam']
>>> model.decide([[2.6]], costs={("ham", "spam"): 9}).tolist()  # nine times the cost of the opposite error
['ham']
>>> MixedNB(calibrated=True)
Traceback (most recent call last):
TypeError: MixedNB has no setting `calibrated`
<BLANKLINE>
hint: did you mean `calibrate`?
>>> hasattr(MixedNB(alpha=0).fit([["x"], ["y"]], ["p", "q"]), "evidence_")  # no prior, so no evidence
False

Data of any size and type: the engine is chosen by the type of the data.

>>> import pyarrow as pa
>>> rows = pa.table({"size": [1.0, 1.2, 3.0, 3.1], "label": ["a", "a", "b", "b"]})
>>> model = GaussianNB().fit_on(rows)
>>> model.predict_on(rows).column_names
['size', 'label', 'predicted', 'p_a', 'p_b']
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache, lru_cache, partial, wraps
from inspect import signature
from numbers import Integral
from threading import Lock, RLock
from types import FunctionType, ModuleType
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (  # noqa: F401
    HasMethods,
    Hidden,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from deciban import decision, engines, metrics, ops
from deciban.classifiers import conformal
from deciban.classifiers.row_scorer import RowScorer
from deciban.composites.levels_and_words import texts_not_kept
from deciban.data import frames
from deciban.data.blocks import Block, Table
from deciban.decision import AdaptedPriors, check_priors
from deciban.display import format_choices, format_list, option
from deciban.engines import stream
from deciban.errors import (
    DataError,
    DecibanError,
    ForgetError,
    MergeError,
    NotAdditiveError,
    UnavailableError,
    did_you_mean,
    levels_up,
)
from deciban.estimation.parameters import log_slope
from deciban.explain.counts_table import CountsTable
from deciban.explain.error_bars import ErrorBars, Errors, check_kind, interval_width
from deciban.explain.explanation import Explanation
from deciban.explain.working import Working
from deciban.models import held_out, influences, second_stage
from deciban.models.conformal import HeldOutRows, SetPredictor, check_coverage, in_classes, own_odds
from deciban.models.em import fill_missing, left_out
from deciban.models.evidence_errors import errors_of
from deciban.models.influences import PosteriorsWithout
from deciban.models.known_parameters import given_state
from deciban.models.model import Known, Spec, State, TallyPass, ledger_tags, tally_of
from deciban.models.posterior import AveragedPosterior, FactoredRows, LinearPosterior, in_decibans
from deciban.progress import row_progress
from deciban.rows import inputs, predictions
from deciban.rows.coding_pass import read_job
from deciban.rows.folds import copies_in_folds
from deciban.rows.labels import label_codes, label_type, united
from deciban.rows.levels import recoded, rows_with_unseen
from deciban.rows.predictions import PredictBatch, columns_for
from deciban.rows.raw_rows import RawArrays
from deciban.rows.readers import warn_of_odd_columns
from deciban.rows.rows import ArrayRows, BatchJob, BatchRows, ColumnRoles, Rows
from deciban.rows.sample import RowSample
from deciban.tallies import Bundle, RowLedger
from deciban.tallies.ledger import LedgerKey, key_check

_GUARD = Lock()
_LOCKS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # by model: locks are not part of a pickle or a copy
TARGET = "label"  # default name of the label column
INDEX = re.compile(r"__index_level_\d+__")  # pandas' name of an unnamed index in files
PLAIN = frozenset({type(None), bool, int, float, str})  # types of settings that are compared by value
MOST_SETTING = 1e300  # the largest finite number that a setting may be
SEARCHED = 1000  # rows that are searched one by one for one that was never learned
COLUMNS: dict[str, list] = {"columns": [StrOptions({"align", "strict"})]}  # constraints of a setting
PRIORS = ["array-like", Mapping, StrOptions({"uniform"}), None]  # valid values of the setting
LEDGER: dict[str, list] = {"ledger": ["boolean", LedgerKey]}
SAMPLE: dict[str, list] = {"keep_rows": [Interval(Integral, 0, None, closed="left")]}
CLASS_WEIGHT: dict[str, list] = {"class_weight": [StrOptions({"balanced"}), Mapping, None]}


@contextmanager
def locked(model: Any) -> Iterator[None]:
    """Context manager: hold the lock of a model. Two threads that update the same state at once would lose rows."""
    with _GUARD:
        lock = _LOCKS.setdefault(model, RLock())
    with lock:
        yield


def _is_too_large(value: Any) -> bool:
    return isinstance(value, int | float) and MOST_SETTING < value < float("inf")


def _check_settings(cls: Any, settings: dict[str, Any]) -> None:
    """scikit-learn's checks, and that sums with numbers are doubles."""
    validate_parameter_constraints(cls._parameter_constraints, settings, cls.__name__)
    large = [name for name, value in settings.items() if _is_too_large(value)]
    if large:
        raise DataError(
            f"`{large[0]}` is more than {MOST_SETTING:g}, and sums with it may be no doubles\n\n"
            "hint: give a smaller number"
        )


class Classifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers: needs `_posterior(priors)`, and `_learn_on(job)` for data elsewhere.

    The constructor's signature is read once per class (scikit-learn reads it in every fit, which is slow for small
    tables). The error for an unknown setting suggests the nearest one. Overriding methods inherit docstrings. A fitted
    attribute that is not available raises an AttributeError with the reason, as `hasattr` and `dir` expect.
    """

    classes_: np.ndarray
    _reads_texts = False  # whether rows are texts
    _has_members = False  # whether it is made of other classifiers
    _dated = True  # whether a model file has the date of its writing

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, own in vars(cls).items():  # help() shows the docstring of the overridden method
            if isinstance(own, FunctionType) and own.__doc__ is None and not name.startswith("_"):
                own.__doc__ = next((vars(base)[name].__doc__ for base in cls.__mro__[1:] if name in vars(base)), None)
        if "__init__" in cls.__dict__:
            setattr(cls, "__init__", suggesting(cls.__dict__["__init__"]))  # noqa: B010
        for name in {name for base in cls.__mro__ for name in vars(base) if not name.startswith("_")}:
            own = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
            if isinstance(own, property) and not isinstance(own, Available) and own.fget is not None:
                setattr(cls, name, Available(own.fget, own.fset, own.fdel, own.__doc__))

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()

    def _validate_params(self) -> None:
        """Check the values of the settings."""
        values = tuple([getattr(self, name) for name in self._get_param_names()])
        types = tuple([type(value) for value in values])
        if PLAIN.issuperset(types):
            self._check_plain_settings(types, values)
        else:
            _check_settings(type(self), self.get_params(deep=False))

    @classmethod
    @lru_cache(maxsize=1024)
    def _check_plain_settings(cls, types: tuple[type, ...], values: tuple) -> None:
        """Check settings that are plain values, once: the checks take as long as the rest of a small fit. Types are
        part of the key, as 1 == True."""
        _check_settings(cls, dict(zip(cls._get_param_names(), values, strict=True)))

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """Restore the model if the block fails or is interrupted. Other threads wait: what they learn is kept."""
        with locked(self):
            before = self.__dict__.copy()
            try:
                yield
            except BaseException:
                self.__dict__.clear()
                self.__dict__.update(before)
                raise

    # methods that a subclass defines

    def _posterior(self, priors: Any = None) -> Any:
        """The posterior of the fitted model, with the class priors of training or others; see `models.posterior`."""
        raise NotImplementedError

    def _tally_state(self) -> State | None:
        """The state of a fitted model that is a tally; None: the model learns otherwise."""
        return None

    def _levels(self) -> dict[Any, list] | None:
        """The levels of each nominal column, by name; None: the model takes columns of numbers, or texts, alone."""
        return None

    def _units(self) -> dict[Any, str]:
        """The units of columns of dates and durations, by name."""
        return {}

    def _is_coded(self) -> bool:
        """Whether columns of the training frame were coded, see `rows.coding`."""
        return False

    def _fills_columns(self) -> bool:
        """Whether columns that rows lack count as missing in every row."""
        return False

    def _cell_reader(self, columns: Sequence[str]) -> Any:
        """A `CellReader` of rows with these columns; None: rows are read like frames."""
        return None

    def _adds_rows(self) -> bool:
        """Whether the model is an additive tally, fitted or not: rows can be added to it and taken away."""
        return False

    def _chosen_settings(self) -> dict[str, Any]:
        """The settings that held-out rows chose, and their values."""
        return {}

    def _kept_folds(self) -> conformal.Held:
        """The training rows that the model keeps, in folds, and for each fold the model without its rows."""
        raise conformal.no_kept_rows(self)

    def _without_rows(self, rows: RawArrays, left_out: np.ndarray) -> Any:
        """The model without some of its training rows."""
        return conformal.refitted(self, rows, left_out)

    def _learned_weights(self, weights: np.ndarray) -> np.ndarray:
        """What `class_count_` is after a fit to rows of these weights by class."""
        return weights

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        """(how many of these rows were learned, as far as the model shows it, how many could be looked up)"""
        return 0, 0

    def _proba_without(
        self, rows: RawArrays, group: np.ndarray, groups: int, query: Any, refit: bool = False, priors: Any = None
    ) -> PosteriorsWithout:
        """Posteriors of rows `query` without each group of training rows; `refit`: calibration and weights of columns
        are fitted again without the group."""
        raise NotAdditiveError(
            f"{type(self).__name__} keeps no sums that rows could be taken out of\n\n"
            "hint: generative classifiers, their ensembles and LogisticRegression have influences"
        )

    def _graph(self) -> Any:
        """The `ModelGraph` of columns and class; raises DataError where there is none."""
        raise DataError(
            f"{type(self).__name__} has no graph\n\n"
            "hint: naive Bayes, TreeAugmentedNB, KDependenceBayes and BayesNet have one"
        )

    def _learn_on(self, job: BatchJob) -> None:
        raise NotAdditiveError(
            f"{type(self).__name__} learns from rows in memory only\n\nhint: use `fit`, or a generative classifier"
        )

    def _readable(self, rows: Any, columns: Sequence[str]) -> Any:
        """These columns of Arrow rows, in the format of the model."""
        from deciban.io import readers

        return readers.selected(rows, columns)

    def _name_target(self, name: str | None) -> None:
        """Store the name of the target, if it has one, as `target_name_`."""
        self.__dict__.pop("target_name_", None)
        if name is not None:
            self.target_name_ = name

    def _ignore_columns(self, names: Sequence[str]) -> None:
        """Ignore these columns of frames without a warning: they are known, and were not learned from."""
        self._left_out = list(names)

    # predictions

    def predict_proba(self, X, *, priors=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the learned class priors for this call.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities, in the order of `classes_`.
        """
        return self._posterior(priors).proba(X)

    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The logarithms of the probabilities, in the order of `classes_`.
        """
        return self._posterior(priors).log_proba(X)

    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row.
        """
        return self._posterior(priors).labels(X)

    def predict_set(self, X, coverage=0.9, by_class=False, calibration=None, learned=False) -> np.ndarray:
        """Sets of classes that contain the true class of a share `coverage` of all rows (conformal prediction).

        A class is in the set of a row if 1 − P(class) is no larger than it is for the true classes of that share of
        calibration rows, which the model did not learn. An empty set means that no class fits the row as well as it
        fits such rows. Formulas and guarantees: docs/sets.md.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows to predict.
        coverage : number between 0 and 1
            The share of rows whose set shall contain the true class.
        by_class : bool
            Whether the share shall hold for the rows of each class, not for all rows together.
        calibration : (X, y), (X, y, sample_weight) or None
            Labelled rows like those to predict. None: the training rows that the model keeps, held out.
        learned : bool
            Whether the model has learned the calibration rows. False: they are new to it, and coverage is at least
            `coverage`. True: they are held out, by ten models of nine tenths of them each; coverage is about
            `coverage`, and at least 2 `coverage` − 1 less a term that falls with the number of rows.

        Returns
        -------
        ndarray of bool, shape (n, k)
            Whether each class is in the set of each row, in the order of `classes_`.

        See Also
        --------
        set_predictor : The same for many calls, calibrated once.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], ["a", "a", "a", "b", "b", "b"]
        >>> model = GaussianNB().fit(X, y)
        >>> fresh = [[0.5], [1.5], [2.8], [3.4], [4.5], [5.5]], ["a", "a", "a", "b", "b", "b"]
        >>> model.predict_set([[1.0], [3.0], [5.0]], coverage=0.7, calibration=fresh).tolist()
        [[True, False], [False, False], [False, True]]
        """
        check_coverage(coverage)
        return self.set_predictor(by_class, calibration, learned).predict(X, coverage)

    def set_predictor(self, by_class=False, calibration=None, learned=False) -> SetPredictor:
        """A predictor of sets of classes that is calibrated once: for services and streams.

        It answers for the model as it is now: rows that the model learns afterwards do not change it.

        Parameters
        ----------
        by_class, calibration, learned : see `predict_set`
            As in `predict_set`.

        Returns
        -------
        SetPredictor
            With `predict(X, coverage=0.9)`, the result of `predict_set`.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [6.0], [7.0], [8.0], [9.0]], ["a"] * 4 + ["b"] * 4
        >>> sets = GaussianNB().fit(X, y).set_predictor(calibration=(X, y), learned=True)
        >>> sets.predict([[1.0], [8.0]], coverage=0.8).tolist()
        [[True, False], [False, True]]
        """
        return conformal.set_predictor(self, by_class, calibration, learned)

    def row_scorer(self, columns=None) -> RowScorer:
        """A scorer of single rows, which resolves the columns once: for services that answer row by row.

        It answers for the model as it is now: rows that the model learns afterwards do not change it.

        Parameters
        ----------
        columns : sequence of texts or None
            The names of the cells of a row, in their order; None: the columns of training.

        Returns
        -------
        RowScorer
            With `predict_proba(row)` and `predict(row)`, where a row is a sequence of cells in this order, or a
            dictionary with these names.

        Examples
        --------
        >>> from deciban import MixedNB
        >>> model = MixedNB(alpha=1).fit({"sky": ["grey", "blue", "grey"], "wind": [3.0, 1.0, 4.0]}, ["a", "b", "a"])
        >>> scorer = model.row_scorer(["wind", "sky"])
        >>> scorer.predict([2.0, "grey"]), scorer.predict({"sky": "grey", "wind": None})
        ('a', 'a')
        """
        return RowScorer(self, columns)

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        against : label or None
            The class to compare with; None: all other classes together.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The log odds of each class.
        """
        return self._posterior(priors).log_odds(X, against)

    def odds(self, X, against=None, priors=None) -> np.ndarray:
        """P(class | x) over P(all others | x), or over P(against | x), (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        against : label or None
            The class to compare with; None: all other classes together.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The odds of each class.

        Examples
        --------
        >>> from deciban import BernoulliNB
        >>> model = BernoulliNB.from_parameters([[0.4], [0.1]], classes=["spam", "ham"])
        >>> model.odds([[1]], priors={"spam": 0.2, "ham": 0.8}).round(3).tolist()  # 4 · 1/4 for spam
        [[1.0, 1.0]]
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_odds(X, against=against, priors=priors))

    def log_likelihood(self, X, y=None, sample_weight=None, gradient: bool = False) -> Any:
        """The log likelihood of rows, without a penalty or a prior of the parameters.

        A generative model: Σ log P(x, y), or Σ log p(x) without y. Another model: Σ log P(y | x).

        Parameters
        ----------
        X, y, sample_weight : rows, labels and weights
            Rows, their labels (one class is enough) and weights, which count like repetitions.
        gradient : bool
            Whether to return the derivatives too, where they have a closed form.

        Returns
        -------
        float, or (float, dict)
            With `gradient=True` the dict has the derivatives by parameter, with the names and shapes of
            `from_parameters`. Probabilities that sum to 1 are varied one at a time: the derivative is count over
            probability.

        Examples
        --------
        >>> from deciban import BernoulliNB
        >>> tosses = [[1], [1], [1], [0], [1], [0], [1]]  # 5 of 7 are heads
        >>> round(BernoulliNB.from_parameters([[0.5]]).log_likelihood(tosses), 6)
        -4.85203
        >>> value, slope = BernoulliNB.from_parameters([[0.5]]).log_likelihood(tosses, gradient=True)
        >>> slope["feature_prob"].tolist()  # 5 / 0.5 − 2 / (1 − 0.5)
        [[6.0]]
        """
        if gradient:
            raise DataError(
                f"the log likelihood of {type(self).__name__} has no gradient in closed form\n\n"
                "hint: leave out `gradient`"
            )
        if y is None:
            raise DataError(
                f"{type(self).__name__} has no probability of rows, only of classes\n\nhint: give the labels y"
            )
        logs = plain_log_proba(self._posterior(), X)
        y, w = self._labels_of(y, sample_weight, len(logs))
        return weighted_sum(logs[np.arange(len(y)), y], w)

    def _labels_of(self, y: Any, sample_weight: Any, n: int) -> tuple[np.ndarray, np.ndarray | None]:
        """(class codes, weights) of n labels."""
        codes = inputs.labels(np.asarray(inputs.to_numpy(y)), self.classes_)[1]
        if len(codes) != n:
            raise DataError(f"X has {n} rows and y {len(codes)}\n\nhint: give one label for each row")
        return codes, inputs.weights(sample_weight, codes)

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        against : label or None
            The class to compare with; None: all other classes together.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The evidence for each class.
        """
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    def decide(self, X, costs=None, reject=None, priors=None, thresholds=None, rejected=None) -> np.ndarray:
        """The class of least expected cost for each row, or `rejected` where it is better to abstain.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        costs : array of shape (k, k), or mapping, or None
            `costs[true, decided]`, or by label, {(true, decided): cost} or {true: {decided: cost}}; None: 1 for an
            error and 0 for a correct decision.
        reject : float or None
            The cost of abstaining; None: never abstain.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model; "uniform" decides by maximum likelihood.
        thresholds : float, sequence, mapping by class, or None
            The least posterior of the chosen class, one number, one for each of `classes_`, or by label; below it
            the decision is `rejected`, too.
        rejected : object
            What stands for abstaining.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row, or `rejected`.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
        >>> model.decide([[1.0], [2.6]], thresholds={1: 0.9}, rejected=-1).tolist()
        [0, -1]
        """
        posterior = self._posterior(priors)
        k = len(self.classes_)
        matrix = None if costs is None else decision.cost_matrix(costs, self.classes_)
        dearest = np.inf if reject is None else decision.check_reject(reject)
        least = None if thresholds is None else decision.threshold_of_each(thresholds, self.classes_)
        if matrix is None and reject is None and least is None:
            return posterior.labels(X)
        proba = np.exp(plain_log_proba(posterior, X))
        decided = decision.least_cost(proba, decision.zero_one(k) if matrix is None else matrix, dearest)
        if least is not None:
            decided = decision.over_threshold(decided, proba, least)
        answers = self.classes_
        if reject is not None or least is not None:
            answers = decision.with_answer(self.classes_, rejected)  # index REJECT = −1
        return posterior.output(X).send_labels(answers[decided])

    def likelihood_ratio(self, X, of, against, *, log: bool = False) -> np.ndarray:
        """p(x | of) / p(x | against) of two classes, or its logarithm: posterior odds over prior odds.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        of : label
            The class in the numerator.
        against : label
            The class in the denominator.
        log : bool
            Whether the logarithm is returned.

        Returns
        -------
        ndarray of shape (n,)
            The ratio of each row.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB(priors=[0.9, 0.1]).fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.likelihood_ratio([[2.5], [4.0]], "b", "a").round(3).tolist()
        [1.0, 90.017]
        """
        posterior = self._posterior("uniform")
        places = decision.class_index(of, self.classes_), decision.class_index(against, self.classes_)
        ratio = decision.log_likelihood_ratio(plain_log_proba(posterior, X), *places)
        if log:
            return ratio
        with np.errstate(over="ignore"):
            return np.exp(ratio)

    def adapt_priors(self, X, *, tol: float = 1e-6, max_iter: int = 10_000) -> AdaptedPriors:
        """Estimate the class priors of unlabelled rows X, where p(x | class) is as in training but class frequencies
        differ: EM until no prior changes by more than `tol` in a step. A class of prior 0 keeps it.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        tol : float
            The change of a prior in a step at which EM stops.
        max_iter : int
            The largest number of steps.

        Returns
        -------
        AdaptedPriors
            The priors, and a function that gives posteriors by them.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
        >>> priors, posterior = model.adapt_priors([[0.5], [1.0], [1.5], [4.0]])
        >>> priors.round(2).tolist(), posterior([[2.5]]).round(2).tolist()
        ([0.75, 0.25], [[0.75, 0.25]])
        """
        log_prior = self._posterior().added_prior()
        prior = np.exp(log_prior - np.logaddexp.reduce(log_prior))
        loglik = plain_log_proba(self._posterior("uniform"), X)
        priors, steps, rest = decision.adapted_priors(loglik, prior, tol, max_iter)
        return AdaptedPriors(priors, self.classes_, steps, "converged" if rest else "max_iter", self)

    def explain(
        self, X, *, of=None, against=None, priors=None, form="decibans", error=None, level=0.9, training=None
    ) -> Any:
        """Evidence for `of` (by default each row's most probable class) against another class (by default the second
        most probable), by column and in decibans: prior + columns = log odds. Labels may differ by row: pass one for
        each.

        If columns interact (QDA, RDA, Fisher of more than two classes), there is one part for all of them. In LDA the
        evidence of a column is its coefficient times its distance from the midpoint between the overall mean and the
        mean of the class; with two classes, a cell halfway between their means is no evidence.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows to explain.
        of, against : label, one for each row, or None
            The class that is explained, and the one that it is compared with.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.
        form : "decibans", "fractions"
            "fractions": the working by hand, P(class) P(x | class) as a product of fractions for each class (or for
            `of` and `against`, where they are given), and its share. Naive Bayes and Bayesian networks have it.
        error : None, "auto", "robust", "model"
            Standard errors and intervals of the evidence of each column and of the total, all choices of the model held
            fixed: how much other training rows would change it. Columns of levels and words have the posterior of their
            counts. Columns of numbers: "robust" from how much each training row moves the evidence, for columns of any
            distribution; "model" by the model's own distributions, too narrow where these do not fit.
            "auto" (or True): robust where there are training rows, those of `training` or those that the model keeps.
        level : float
            Probability that an interval contains the evidence.
        training : (X, y) or (X, y, sample_weight), or None
            Rows among those that were learned, or a sample of them, for robust errors of a model that keeps no rows.

        Returns
        -------
        Explanation, or Working for form="fractions"
            The evidence of each row; it prints, and `plot`, `to_frame` and `to_dict` have it in other forms.

        Examples
        --------
        >>> from deciban import CategoricalNB
        >>> model = CategoricalNB().fit([[0, 1], [0, 0], [1, 1]], ["no", "yes", "yes"])
        >>> print(model.explain([[0, 1]], form="fractions"))
        row 0: prior · x0 = 0 · x1 = 1
          P(no)  P(x | no)  = 1/3 · 2/3 · 2/3 = 0.1481
          P(yes) P(x | yes) = 2/3 · 2/4 · 2/4 = 0.1667
          P(no | x)  = 0.1481 / (0.1481 + 0.1667) = 0.471
          P(yes | x) = 0.1667 / (0.1481 + 0.1667) = 0.529
        """
        if form != "decibans":
            return self._working(form, X, of, against, priors)
        posterior = self._posterior(priors)
        if error is None or error is False:
            found, bars = posterior.evidence(X), None
        else:
            errors, x = self._errors(X, posterior, check_kind(error), training, priors is not None)
            found = posterior.evidence(X, x)
            interval_width(level)
            bars = ErrorBars(errors, level, np.arange(len(found.parts)))
        return Explanation.of_parts(
            self.classes_,
            found.columns,
            found.cells,
            found.base,
            found.parts,
            of,
            against,
            posterior.note(type(self).__name__, found),
            found.start,
            **context(self, X),
            bars=bars,
        )

    def predict_interval(self, X, *, level=0.9, error="auto", training=None, priors=None) -> np.ndarray:
        """An interval of P(class | x) for each class: how much other training rows would change the probability.

        The standard error of the total evidence for a class against all others, on the scale of log odds, all choices
        of the model held fixed. `predict_proba` is in the interval. It is an interval of the model's probability, not
        of the share of the class among such rows: a model that is wrong may be sure of it.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        level, error, training : see `explain`
            As in `explain`.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k, 2)
            Lower and upper ends, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
        >>> model.predict_proba([[2.0]]).round(2).tolist()
        [[0.82, 0.18]]
        >>> model.predict_interval([[2.0]], level=0.5).round(2).tolist()
        [[[0.46, 0.96], [0.04, 0.54]]]
        """
        width, posterior = interval_width(level), self._posterior(priors)
        errors, x = self._errors(X, posterior, check_kind(error), training, priors is not None)
        n, k = x.n, len(self.classes_)
        log_odds = np.asarray(inputs.to_numpy(posterior.log_odds(X)), dtype=np.float64)
        proba = np.asarray(inputs.to_numpy(posterior.proba(X)), dtype=np.float64)
        rest = np.where(np.eye(k, dtype=bool), 0.0, proba[:, None, :])
        whole = rest.sum(axis=2, keepdims=True)
        share = np.divide(rest, whole, out=np.zeros_like(rest), where=whole > 0)
        variance = np.zeros((n, k)) if k < 2 else errors.totals(np.arange(n), np.eye(k) - share)
        half = width * np.sqrt(np.clip(np.nan_to_num(variance), 0.0, 1e300))
        with np.errstate(invalid="ignore"):
            ends = expit(np.stack([log_odds - half, log_odds + half], axis=2))
        ends = np.where(np.isfinite(log_odds)[:, :, None], ends, proba[:, :, None])
        low, high = np.minimum(ends[:, :, 0], proba), np.maximum(ends[:, :, 1], proba)
        return np.clip(np.stack([low, high], axis=2), 0.0, 1.0)

    def _errors(self, X: Any, posterior: Any, kind: str, training: Any, given_priors: bool) -> tuple[Errors, Block]:
        """(the standard errors of the evidence of rows, these rows as a block)"""
        raise DataError(
            f"the evidence of {type(self).__name__} has no standard errors\n\n"
            "hint: that of naive Bayes of tables, networks, discriminants and logistic regression has"
        )

    def _half_widths(self, x: Block, a: int, b: int, error: Any, level: Any, training: Any) -> np.ndarray:
        """Half the widths (n, d), in decibans, of intervals of the evidence of columns for class number a against b."""
        errors, _ = self._errors(x, self._posterior(), check_kind(error), training, False)
        at = np.arange(x.n)
        found = ErrorBars(errors, level, at).of_pair(np.full(x.n, a), np.full(x.n, b), len(self.classes_))
        return interval_width(level) * found.columns

    def _working(self, form: Any, X: Any, of: Any, against: Any, priors: Any) -> Working:
        """The working of rows in another form than decibans."""
        if form != "fractions":
            raise DataError(f"`form` is {form!r}\n\nhint: 'decibans' or 'fractions'")
        found, n = self._factored(X, priors)
        own = context(self, X)
        return Working.from_factors(
            self.classes_, found.log_prior, n, found.factors, found.columns, found.cells, of, against,
            own["rows"], own["target"],
        )  # fmt: skip

    def _factored(self, X: Any, priors: Any) -> tuple[FactoredRows, np.ndarray]:
        """(rows as factors, number of the training rows of each class)"""
        raise DataError(
            f"{type(self).__name__} does not multiply fractions: it has no p(x | class) by column\n\n"
            f"hint: explain it with {in_decibans()}"
        )

    # attributes

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        return np.exp(self._posterior().added_prior())

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        raise unknown_parameters(self)

    # data of any size

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
        """Learn from data of any size, in batches: the same model as `fit` on all rows.

        Parameters
        ----------
        data : path, frame, dataset, reader, iterator of frames, Dask or Spark DataFrame
            A path, glob or folder (Parquet, CSV, Feather, JSON), an Arrow dataset, reader or table, a frame, an
            iterator of frames, a Dask or a Spark DataFrame.
        target : str
            The column of the classes.
        features : str, sequence of str, or None
            The columns to learn from; None: all others.
        engine : engine or None
            What reads and adds up the data; None: selected by the type of the data.
        sample_weight : str or None
            The column of the weights.
        checkpoint : path or None
            A file that stores the progress of reading files; a job that was killed resumes from it, with the same
            bits as result.
        progress : bool, function or None
            True shows rows/s and the time left; or a function of (rows so far, share of all or None).
        header : int, False or None
            Of CSV files, where it is not recognised: the line with the column names (the first is 1; False: there
            is none, the columns are x0, x1, …).
        delimiter : str or None
            Of CSV files, where it is not recognised: the separator of cells.

        Returns
        -------
        self
            The fitted model.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from deciban import MixedNB
        >>> rows = pa.table({"sky": ["grey", "blue", "grey"], "label": ["rain", "sun", "rain"]})
        >>> MixedNB().fit_on(rows).predict(pa.table({"sky": ["grey"]})).tolist()
        ['rain']
        """
        from deciban.io import readers

        self._validate_params()
        kept = None if checkpoint is None else _checkpoint(checkpoint)
        picked = engines.engine_for(data, engine)
        found = picked.ready(described(data, header, delimiter, (target,)))
        while True:
            roles = roles_of(picked, found, target, features, sample_weight, self._reads_texts)
            try:
                with self._unchanged_on_failure(), row_progress(progress, "fit_on") as report:
                    with readers.unchanged_files(found):
                        self._learn_on(BatchJob(picked, found, roles, report, kept))
                    self._name_target(roles.target)
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
        """The rows with `predicted` and the probability of each class (`p_…`) appended, in the type of the data.

        A frame gives a frame, a LazyFrame or a DuckDB relation the same type, an Arrow stream or dataset a reader of
        batches, an iterator of frames an iterator of frames; Dask and Spark frames give lazy ones.

        Parameters
        ----------
        data : path, frame, dataset, reader, iterator of frames, Dask or Spark DataFrame
            A path, glob or folder (Parquet, CSV, Feather, JSON), an Arrow dataset, reader or table, a frame, an
            iterator of frames, a Dask or a Spark DataFrame.
        out : path or None
            The file, or for a folder or a glob the folder, that predictions for a path are written to.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.
        features : str, sequence of str, or None
            The columns to read, where the model was learned from an array.
        engine : engine or None
            What reads and adds up the data; None: selected by the type of the data.
        progress : bool, function or None
            True shows rows/s and the time left; or a function of (rows so far, share of all or None).
        header : int, False or None
            Of CSV files, where it is not recognised: the line with the column names (the first is 1; False: there
            is none, the columns are x0, x1, …).
        delimiter : str or None
            Of CSV files, where it is not recognised: the separator of cells.

        Returns
        -------
        path, or data of the type of `data`
            The path of the file or folder, or the rows with predictions.

        Examples
        --------
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
            with row_progress(progress, "predict_on") as report:
                data = described(data, header, delimiter, tuple(frames.feature_names(self)))
                return predictions.written(self, data, out, priors, features, report)
        if out is not None:
            raise DataError("`out` is for data that are files\n\nhint: the answers are returned; write those")
        data = picked.ready(data)
        schema = picked.schema(data)
        f = PredictBatch(self, columns_for(self, schema.names, features), priors)
        return picked.transform(data, f, f.schema(schema), f.columns)


def plain_log_proba(posterior: Any, X: Any) -> np.ndarray:
    """log P(class | x) as a NumPy array of doubles, (n, k)."""
    return np.asarray(inputs.to_numpy(posterior.log_proba(X)), dtype=np.float64)


def weighted_sum(logs: np.ndarray, w: np.ndarray | None) -> float:
    """Σ w log p of rows; a row of weight 0 counts for nothing, even if it is impossible."""
    return metrics.total(logs) if w is None else metrics.total(logs[w > 0], w[w > 0])


def context(model: Any, X: Any) -> dict[str, Any]:
    """Context of an explanation: labels of the rows, name of the target, library of the frame."""
    library = frames.library(X) if not isinstance(X, Block | np.ndarray) and frames.is_frame(X) else None
    return {"rows": frames.row_labels(X), "target": model.__dict__.get("target_name_", ""), "library": library}


def unknown_parameters(model: Any) -> UnavailableError:
    return UnavailableError(
        f"how many free parameters this {type(model).__name__} has is not known\n\n"
        "hint: naive Bayes with estimate='plugin', trees and networks, Gaussian discriminants and logistic regression "
        "count theirs"
    )


def unfitted(model: Any) -> NotFittedError:
    """The error of a model that is not fitted, in scikit-learn's wording."""
    return NotFittedError(
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )


def _checkpoint(path: Any) -> Any:
    from deciban.storage.checkpoint import Checkpoint  # which reads and writes files: few fits do

    return Checkpoint(path)


class Available(property):
    """A property that raises errors of this library as AttributeErrors."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        try:
            return super().__get__(model, owner)
        except DecibanError as wrong:
            if isinstance(wrong, AttributeError):
                raise
            raise UnavailableError(str(wrong)) from wrong


def suggesting(init: Callable) -> Callable:
    """The constructor, with an error for unknown settings that suggests the nearest one."""
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
    """A hint about settings of class weights, which have other names in other classifiers; "" for other settings."""
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


def described(data: Any, header: int | bool | None, delimiter: str | None, expected: tuple[str, ...]) -> Any:
    """A path with the given format of its CSV files; other data unchanged."""
    from deciban.io import readers

    if not isinstance(data, str | os.PathLike):
        if header is not None or delimiter is not None:
            raise DataError("`header` and `delimiter` are for CSV files\n\nhint: leave them out, or give a path")
        return data
    if header is True:
        header = None
    if header is not None and header is not False and header < 1:
        raise DataError(f"`header` is {header}, but lines count from 1\n\nhint: False if no line has the names")
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"`delimiter` is {delimiter!r}, not one character\n\nhint: for tabs, '\\t'")
    how = {"header": None if header is None else int(header), "delimiter": delimiter, "expected": expected}
    return readers.Described(data, how)


def _described_again(data: Any, error: Exception) -> Any:
    """A path with one more column, if an error says that its files have one; else None."""
    from deciban.io import readers

    if not isinstance(error, readers.ColumnTypeChanged) or not isinstance(data, readers.Described):
        return None
    return replace(data, how={**data.how, "types": error.types})


def roles_of(
    engine: ModuleType, data: Any, target: str, features: Any, weight: str | None, texts: bool = False
) -> ColumnRoles:
    """Which columns are what, by the names that the data have."""
    source = stream.opened(data) if engine is stream else None  # a folder takes its time to open: once is enough
    schema: Any = engine.schema(data) if source is None else source.schema
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
    return ColumnRoles(tuple(wanted), target, weight, _kinds(schema, wanted), texts, _are_plain(schema, wanted))


def _are_plain(schema: Any, names: Sequence[str]) -> bool:
    from deciban.io import batches

    return all(batches.is_plain(schema.field(name).type) for name in names)


def _kinds(schema: Any, names: Sequence[str]) -> tuple[str, ...]:
    """What the columns hold, where the data say."""
    from deciban.io import batches

    return tuple(batches.kind(schema.field(name).type) or "" for name in names)


def check_there(name: str, names: Sequence[str], header: str = "") -> None:
    """Raise an error unless the data have one column of that name; `header` describes how a CSV file was read."""
    if names.count(name) > 1:
        raise DataError(f"two columns are named `{name}`\n\nhint: give every column a unique name")
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


class FixedWeightsError(NotAdditiveError, AttributeError):
    """A method that a model with feature weights does not have; `hasattr` is False."""


class MethodUnless:
    """A method that is not available with some settings: `refuse(model)` then raises an AttributeError with the
    reason."""

    def __init__(self, method: Callable, refuse: Callable[[Any], None]):
        self.method, self.refuse, self.__doc__ = method, refuse, method.__doc__

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self.method
        self.refuse(model)
        return self.method.__get__(model, owner)


def without_weights(what: str) -> Callable[[Callable], Any]:
    """Decorator of methods that are not available with feature weights; `what` is the reason."""

    def refuse(model: Any) -> None:
        if setting := model._spec().weighted_by:
            raise FixedWeightsError(what.format(setting=setting))

    return lambda method: MethodUnless(method, refuse)


class Generative(Classifier):
    """Base of the classifiers whose state is a tally: needs `_spec()` and `_reader()`."""

    n_features_in_: int
    _state: State
    _draws_coded = True  # whether rows drawn in coded columns make a table
    _classes_first = False  # whether the first `partial_fit` must name all classes, as in scikit-learn

    # methods that a subclass defines

    def _spec(self) -> Spec:
        """The settings as a value."""
        raise NotImplementedError

    def _reader(self) -> Any:
        """The reader of rows, before any were read."""
        raise NotImplementedError

    def _check_additive(self) -> None:
        """Raise an error on update, merge, forget or leave-one-out if a setting, or EM, needs all rows at once."""

    def _check_mergeable(self, other: Self) -> None:
        """Raise an error for models whose tallies cannot be added."""

    def _check_complete(self, state: State) -> None:
        """Check a complete fit, after which no more rows follow."""

    def _warn_of_rounding(self, before: State, left: State) -> None:
        """Warn where rounding shows in what `forget` has left."""

    @classmethod
    def _from_parameters(
        cls, given: Mapping[str, Any], class_prior: Any, classes: Any, feature_names: Any, settings: Mapping[str, Any]
    ) -> Self:
        """A model of these parameters, by name."""
        model = cls(**settings)
        model._validate_params()
        state = given_state(model._spec(), model._reader(), given, classes, class_prior, feature_names)
        state.params  # noqa: B018 (parameters that make no density fail here, not in predict)
        return model._adopt(state)

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions. An earlier fit is discarded.

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
            The fitted model.
        """
        self._validate_params()
        found = self._reader().training(X, y)
        classes, codes = inputs.labels(found.y, None)
        table = Table(found.x, codes, inputs.weights(sample_weight, codes), len(classes), found.reader.schema)
        notes = [] if found.notes is None else found.notes(codes, classes)
        self._adopt(self._learn(ArrayRows(found.reader, classes, table, X)))
        if notes:
            warn_of_odd_columns(notes)
        return self

    def _learn_on(self, job: BatchJob) -> None:
        settings = type(self).__name__, self.get_params(deep=False)
        with read_job(self._reader(), job) as (job, reader, notes):
            self._adopt(self._learn(BatchRows(job, reader, settings)))
        if notes:
            warn_of_odd_columns(notes)

    def _learn(self, rows: Rows) -> State:
        """The state of all rows."""
        spec = self._spec()
        if spec.find_covariances is not None and isinstance(rows, BatchRows):
            rows = rows.collected("`covariance_estimator`")
        with rows.several() if spec.several_passes else nullcontext(rows) as rows:
            if rows.in_memory:
                spec.check(rows.classes, rows.reader, rows)
            rows, state = self._tallied(spec, rows)
            if not rows.in_memory:
                spec.check(rows.classes, rows.reader, rows)
            pruned = state.pruned()
            rows = rows.with_schema(pruned.reader.schema)
            state = second_stage.with_settled_tables(fill_missing(pruned, rows), rows)
            state = second_stage.with_second_stage(state)
        self._check_complete(state)
        updates = spec.keep_rows and spec.find_covariances is None and not state.known.steps
        if updates or state.sample is None:
            return state
        return state.adjusted(sample=None)  # rows are kept for updates alone

    def _tallied(self, spec: Spec, rows: Rows) -> tuple[Rows, State]:
        """(the rows, with the results of the first pass, the state of their tally)"""
        sample, reader = spec.sample_size, rows.reader
        known = Known(target=reader.target, coded=reader.coding is not None)
        if spec.find_cuts is not None:
            rows, grid = rows.discover(spec.find_cuts.grid, sample)
            known = replace(known, cuts=spec.find_cuts(rows.reader.schema, grid.parts[1]))
            tally_pass = TallyPass(spec, known)
            tally = rows.total(tally_pass, tally_pass.size_of(rows.reader.schema, len(rows.classes), rows.reader.d))
        else:
            if spec.find_covariances is not None:
                known = replace(known, covariances=spec.find_covariances(rows))
            tally_pass = TallyPass(spec, known)
            rows, tally = rows.discover(tally_pass, sample, tally_pass.size)
        state = State(spec, rows.reader, rows.classes, tally, known)
        if rows.sample is None:
            return rows, state
        return replace(rows, sample=None), state.with_sample(rows.sample)

    def _adopt(self, state: State) -> Self:
        """Set the state, and the attributes that scikit-learn requires: the last step of learning."""
        self._state = state
        self.classes_ = state.classes
        self.n_features_in_ = state.reader.n_features
        if state.reader.feature_names is not None:
            self.feature_names_in_ = state.reader.feature_names
        else:
            self.__dict__.pop("feature_names_in_", None)
        super()._name_target(state.reader.target)
        return self

    def _name_target(self, name: str | None) -> None:
        super()._name_target(name)
        if self.__sklearn_is_fitted__():
            self._state = self._state.with_reader(target=name)

    def _ignore_columns(self, names: Sequence[str]) -> None:
        self._state = self._fitted_state().with_reader(ignored=tuple(names))

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same state as one `fit` on all of them.

        New classes may occur at any time, unless the first call named all `classes`. (Classifiers that scikit-learn has
        too need `classes` in the first call, as there, or a `fit` before it.)

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
        self._check_updatable()
        with locked(self):
            before, spec = self.__dict__.get("_state"), self._spec()
            reader = replace(self._reader(), least=1) if before is None else before.reader
            found = reader.training(X, y, first=before is None)
            known = None if before is None else before.classes
            closed = False if before is None else before.closed
            if classes is not None or (self._classes_first if before is None else closed):
                known = inputs.named_classes(known, classes)
                closed = closed or before is None
            elif known is not None:
                known = with_new_classes(known, found.y)
            all_classes, codes = inputs.labels(found.y, known)
            table = Table(found.x, codes, inputs.weights(sample_weight, codes), len(all_classes), found.reader.schema)
            rows = ArrayRows(found.reader, all_classes, table, X)
            spec.check(all_classes, found.reader, None)
            if before is None:
                first, state = self._tallied(spec, rows)
                state = second_stage.with_settled_tables(state, first)
            else:
                check_ledger(spec.ledger, before.ledger)
                before = before.with_spec(spec)
                size = None if before.finds_cuts and not before.settled else spec.sample_size  # cuts need all rows
                sample = None if before.sample is None else rows.with_sample(size).sample
                state = self._plus_rows(before, rows, sample)
            self._adopt(replace(state, closed=closed).pruned())
        if found.notes is not None and found.reader.coding is not None:  # columns that are never read
            warn_of_odd_columns(found.notes(codes, all_classes))
        return self

    def _plus_rows(self, before: State, rows: ArrayRows, sample: Any) -> State:
        """The state with more rows, of which there is a sample."""
        tally_pass = TallyPass(before.spec, before.known)
        more = rows.total(tally_pass, tally_pass.size(rows.table))
        new = State(before.spec, rows.reader, rows.classes, more, before.known, sample=sample)
        state = before.plus(new)
        if second_stage.is_open(state):  # too many rows for the sample: tables are settled before, and all are counted
            if before.n.any():
                return self._plus_rows(second_stage.settled(before), rows, sample)
            return second_stage.with_settled_tables(state, rows)
        return state

    def forget(self, X, y, sample_weight=None) -> Self:
        """Remove rows from the model: the state is that of a model never trained on them.

        Rows that were never learned raise an error where the state shows it. A ledger (`ledger=True`) and counts of
        distinct rows (`BayesNet`, `KDependenceBayes`) always show it. Counts by column (levels, histogram cells) show a
        cell that no row of the class has, but not a row composed of cells of other rows. Means and sums of squares show
        more rows of a class than were learned, and values further out than any row can have been, but not another value
        within the range of those learned.

        Parameters
        ----------
        X, y, sample_weight : rows, labels and weights
            Rows that were learned, with the labels and weights they were learned with.

        Returns
        -------
        self
            The same model.

        Raises
        ------
        ForgetError
            A row was never learned; the model does not change.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "b"]
        >>> GaussianNB().fit(X, y).forget(X[4:], y[4:]).theta_.tolist()  # a model of the first four rows
        [[0.5], [4.5]]
        """
        with locked(self):
            state = self._current_state()
            self._check_updatable()
            found = state.reader.training(X, y, first=False)
            self._check_known(found.y)
            check_ledger(self._spec().ledger, state.ledger)
            _, codes = inputs.labels(found.y, state.classes)
            table = Table(found.x, codes, inputs.weights(sample_weight, codes), len(state.classes), found.reader.schema)
            grown = state.with_spec(self._spec()).in_schema(found.reader.schema)
            tally_pass = TallyPass(grown.spec, grown.known)
            removed = ArrayRows(grown.reader, grown.classes, table).total(tally_pass, tally_pass.size(table))
            left = grown.minus(removed, table)
            if left.short:
                raise self._never_learned(grown, X, table)
            self._adopt(left.without_empty_classes().pruned())
            self._warn_of_rounding(grown, left)
            if grown.sample_exact and not self._state.sample_exact:
                warn_of_small_sample(self._state)
        return self

    def _check_known(self, y: np.ndarray | frames.Column) -> None:
        """Raise an error for rows of a class that the model does not have."""
        unknown = label_codes(y, self.classes_)[1] < 0
        if unknown.any():
            first = (y.named() if isinstance(y, frames.Column) else y)[unknown].tolist()[0]
            raise ForgetError(
                f"class {first!r} was never learned (row {int(unknown.argmax())})\n\n"
                f"hint: forget rows with the labels of training; the classes are {self.classes_.tolist()}"
            )

    def _never_learned(self, state: State, X: Any, table: Table) -> ForgetError:
        """The error for rows that cannot be removed."""
        hint = "forget only rows (and weights) that went through fit or partial_fit, with their labels"
        have, asked = state.n, ops.class_weights(table.y, table.w, table.k)
        over = np.flatnonzero(asked > have * (1 + 1e-9))
        if len(over):
            c = int(over[0])
            return ForgetError(
                f"{asked[c]:g} rows of class {self.classes_.tolist()[c]!r} to forget, but the model has {have[c]:g}"
                f"\n\nhint: {hint}"
            )
        ledger, unknown = state.ledger, None
        if ledger is not None and state.spec.ledger is not None:
            unknown = np.flatnonzero(~ledger.holds(ledger_tags(table, state.spec.ledger), table.y))
        if state.sample is not None:
            first = state.sample.never_learned(table, state.reader.digested_names)
            unknown = unknown if first is None else np.array([first])
        for row in range(min(table.n, SEARCHED)) if unknown is None else unknown[:1].tolist():
            if unknown is not None or (state.tally - state.tallied(table.rows(row, row + 1))).short().any():
                label = self.classes_.tolist()[table.y[row]]
                cells = frames.cells_of(X, row)
                return ForgetError(
                    f"row {row}{cells} of class {label!r} was never learned, or is removed already\n\nhint: {hint}"
                )
        labels = [repr(label) for label in self.classes_[np.unique(table.y)].tolist()]
        return ForgetError(
            f"not all of these rows of class {', '.join(labels)} were learned, or not as often\n\nhint: {hint}"
        )

    def __add__(self, other: Self) -> Self:
        """The model of the rows of both models; their classes may differ."""
        if isinstance(other, int) and other == 0:  # the start of sum([...])
            return self._copy()._adopt(self._current_state())
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self._current_state(), other._current_state()
        self._check_updatable()
        other._check_updatable()
        theirs = aligned_columns(theirs, mine)
        check_settings_agree(self, other)
        if mine.reader.d != theirs.reader.d:
            raise MergeError(
                f"one model has {mine.reader.d} columns, the other {theirs.reader.d}\n\n"
                "hint: fit both on the same columns"
            )
        self._check_mergeable(other)
        both = second_stage.plus(mine.with_spec(self._spec()), theirs.with_spec(other._spec()))
        both.spec.check(both.classes, both.reader, None)
        return self._copy()._adopt(both)

    __radd__ = __add__

    def _copy(self) -> Self:
        """A copy with the settings, without state."""
        out = object.__new__(type(self))
        out.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_state"})
        return out

    def _check_learned(self) -> None:
        """Raise an error on update, merge, forget or leave-one-out if the parameters were given, or texts dropped."""
        if self.__sklearn_is_fitted__() and self._state.given:
            raise NotAdditiveError(given_parameters(self))
        if self.__sklearn_is_fitted__() and self._state.known.texts:
            raise texts_not_kept()

    def _check_updatable(self) -> None:
        """Raise an error on update, merge or forget if a setting was fitted to rows that are not kept."""
        self._check_learned()
        self._check_additive()
        spec, learned = self._spec(), self.__sklearn_is_fitted__()
        if spec.second_stage and (not spec.keep_rows or (learned and self._state.sample is None)):
            needs = [f"{name}={spec.settings[name]!r}" for name in spec.tune] + ["calibrate=True"] * spec.calibrate
            needs += [spec.weighted_by] * bool(spec.weighted_by)
            tuned = ", or fix the setting to a number (see `tuned_`)" if spec.tune else ""
            raise NotAdditiveError(
                f"{format_list(needs, quote='')} {'is' if len(needs) == 1 else 'are'} fitted to a sample of the "
                "training rows, of which this model keeps none: no update, merge or forgetting\n\n"
                f"hint: fit again with keep_rows above 0, and save with rows=True{tuned}"
            )

    # predictions

    def _current_state(self) -> State:
        """The state of all rows; its second stage may be that of fewer rows."""
        try:
            return self._state
        except AttributeError:
            raise unfitted(self) from None

    def _fitted_state(self) -> State:
        state = self._current_state()
        return state.remember("fitted", lambda: second_stage.fitted(state)) if state.stale else state

    def _learned_state(self) -> State:
        """The state of a model that has learned from rows."""
        state = self._fitted_state()
        if state.given:
            raise UnavailableError(given_parameters(self))
        return state

    def _counted_state(self) -> State:
        """The state whose tally is shown: it does not wait for a second stage."""
        state = self._current_state()
        if state.given:
            raise UnavailableError(given_parameters(self))
        return state

    def _tally_state(self) -> State:
        return self._fitted_state()

    def _levels(self) -> dict[Any, list] | None:
        return self._fitted_state().reader.levels

    def _units(self) -> dict[Any, str]:
        return self._fitted_state().reader.units

    def _is_coded(self) -> bool:
        return self.__sklearn_is_fitted__() and self._state.reader.coding is not None

    def _fills_columns(self) -> bool:
        return self._fitted_state().reader.fills_columns

    def _adds_rows(self) -> bool:
        return True

    def _graph(self) -> Any:
        state = self._fitted_state()
        if state.posterior.interacts or not state.family.has_parts:
            return super()._graph()
        from deciban.networks.graph import class_node  # few models are drawn as a graph
        from deciban.networks.network import ModelGraph

        columns = state.posterior.columns
        return ModelGraph.star(columns, class_node(columns, state.reader.target))

    def _chosen_settings(self) -> dict[str, Any]:
        return self.tuned_

    def _posterior(self, priors: Any = None) -> Any:
        try:
            state = self._state
        except AttributeError:
            state = self._fitted_state()
        posterior = (self._fitted_state() if state.stale else state).posterior
        return posterior if priors is None else posterior.under(priors)

    def _cell_reader(self, columns: Sequence[str]) -> Any:
        return self._fitted_state().reader.cell_reader(columns)

    def _readable(self, rows: Any, columns: Sequence[str]) -> Block:
        return self._fitted_state().reader.read_batch(rows, columns)

    def _factored(self, X: Any, priors: Any) -> tuple[FactoredRows, np.ndarray]:
        state = self._fitted_state()
        tally, n = (None, np.zeros(len(state.classes))) if state.given else (state.tally.parts[1], state.n)
        return self._posterior(priors).factors(X, tally), n

    def _errors(self, X: Any, posterior: Any, kind: str, training: Any, given_priors: bool) -> tuple[Errors, Block]:
        state, x = self._fitted_state(), posterior.block(X)
        table = None
        if training is not None and kind != "model":
            if not isinstance(training, tuple) or len(training) not in (2, 3):
                raise DataError("`training` is not a tuple of rows and labels\n\nhint: training=(X, y)")
            table, _ = self._table_of(state, training[0], training[1], training[2] if len(training) == 3 else None)
        return errors_of(state, posterior, x.rows(0, x.n), kind, table, given_priors), x

    def _counts_table(self, levels: Sequence[Sequence] | None, fractions: bool) -> CountsTable:
        """The counts of each level of each column, whose names are given; None: levels are numbers."""
        state = self._fitted_state()
        if state.given:
            raise DataError(given_parameters(self))
        family, params, reader = state.family, state.params, state.reader
        return CountsTable.from_estimate(
            self.classes_, reader.columns, levels, family.quotients(state.tally.parts[1], params),
            family.estimates(params), state.n, fractions, reader.target, reader.library,
        )  # fmt: skip

    def predict_joint_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(x, class), (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n, k)
            The log joint densities, in the order of `classes_`.
        """
        return self._posterior(priors).log_joint(X)

    def score_samples(self, X, *, priors=None) -> np.ndarray:
        """log p(x), (n,).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model.

        Returns
        -------
        ndarray of shape (n,)
            The log density of each row.
        """
        return self._posterior(priors).log_density(X)

    def class_log_likelihood(self, X) -> np.ndarray:
        """log p(x | class), (n, k): of each class, the log density (of nominal cells and counts: probability) of a row.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            The log densities, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB.from_parameters(theta=[[73.0], [74.6]], var=[[38.4], [62.4]], classes=["yes", "no"])
        >>> np.exp(model.class_log_likelihood([[66.0]])).round(4).tolist()  # in the order of `classes_`
        [[0.0279, 0.034]]
        """
        return self._posterior().class_log_density(X)

    def log_likelihood(self, X, y=None, sample_weight=None, gradient: bool = False) -> Any:
        posterior, state = self._posterior(), self._fitted_state()
        x = posterior.reader.read(X)
        joint = posterior.densities(x, posterior.log_prior)
        marginal = decision.log_evidence(joint)
        if y is None:
            w = inputs.weights(sample_weight, np.zeros(x.n))
            value = weighted_sum(marginal, w)
        else:
            codes, w = self._labels_of(y, sample_weight, x.n)
            value = weighted_sum(joint[np.arange(x.n), codes], w)
        if not gradient:
            return value
        if y is None:  # each row is one of every class, weighted by its posterior
            with np.errstate(invalid="ignore"):
                share = np.nan_to_num(np.exp(joint - marginal[:, None])) * (1.0 if w is None else w[:, None])
            k = joint.shape[1]
            x, codes = x.take(np.tile(np.arange(x.n), k)), np.repeat(np.arange(k, dtype=np.int32), x.n)
            w = np.ascontiguousarray(share.T).ravel()
        table = Table(x, codes, w, len(state.classes), state.reader.schema)
        tally = tally_of(state.family, table)
        if not tally.parts[1].every_row and left_out(tally):
            raise DataError(
                f"rows have missing cells: the log likelihood of this {type(self).__name__} has no gradient in closed "
                "form there\n\nhint: leave out rows with missing cells, or `gradient`"
            )
        own = state.family.gradient(tally.parts[1], state.params)
        return value, {**own, "class_prior": log_slope(tally.parts[0].n, np.exp(posterior.log_prior))}

    def sample(self, n_samples: int = 1, random_state=None) -> tuple[Any, np.ndarray]:
        """Draw rows and their labels from the fitted model: (X, y).

        Of coded columns, X is a frame of the columns that the model uses: a category is the level of the largest of its
        drawn indicators.

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
        state = self._fitted_state()
        coding = state.reader.coding
        if coding is not None and not self._draws_coded:
            raise DataError(
                f"this {type(self).__name__} has probabilities of single indicators: rows drawn from these make no "
                "table\n\nhint: CategoricalNB, MixedNB and TreeAugmentedNB draw tables with categories"
            )
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        prior = np.exp(state.log_prior - np.logaddexp.reduce(state.log_prior))
        y = rng.choice(len(prior), size=n_samples, p=prior / prior.sum())
        drawn = state.family.sample(state.params, y, rng)
        if coding is None:
            return drawn, self.classes_[y]
        columns = [replace(column, values=column.named(), levels=None) for column in coding.drawn(drawn, rng)]
        return frames.to_frame(columns, state.reader.library or "pandas"), self.classes_[y]

    def as_logistic(self, *, of=None, degree: int = 1) -> LinearPosterior:
        """The same posterior as a logistic (softmax) function of x: its `coef_` and `intercept_`, and the names of the
        columns that it is linear in.

        Parameters
        ----------
        of : label, optional
            The one of two classes that coefficients are for; by default the second of `classes_`.
        degree : 1 or 2
            2: squares of columns and products of two columns may be among the columns, which Gaussians with a variance
            or a covariance for each class need: xᵀAx + bᵀx + c.

        Returns
        -------
        LinearPosterior
            With `coef_`, `intercept_`, `columns_`, `predict_proba` of the same rows, and more.

        Examples
        --------
        >>> import pandas as pd
        >>> from deciban import GaussianNB, MixedNB
        >>> X = pd.DataFrame({"calls": [1, 4, 2, 9], "sky": ["grey", "blue", "red", "grey"]})
        >>> model = MixedNB(families={"calls": "poisson"}, alpha=1).fit(X, ["-", "+", "-", "+"])
        >>> model.as_logistic(of="+").columns_
        ['calls', 'sky=blue', 'sky=grey', 'sky=red']
        >>> GaussianNB().fit([[0.0], [2.0], [3.0], [9.0]], [0, 0, 1, 1]).as_logistic(degree=2).columns_
        ['x0', 'x0²']
        """
        if degree not in (1, 2):
            raise DataError(f"degree is {degree!r}\n\nhint: 1, or 2 for squares of columns and products of two")
        state = self._fitted_state()
        posterior = state.posterior
        if isinstance(posterior, AveragedPosterior):
            raise DataError(
                "missing='average' averages posteriors, and an average is not linear in x\n\n"
                "hint: fit with missing='ignore'; rows without missing cells have the same posterior"
            )
        found = posterior.scores.linear(degree)
        if found is None:
            raise self._not_linear(degree)
        reader = state.reader
        return LinearPosterior.of(self.classes_, found.scaled(1.0, posterior.added), reader.columns, reader, of)

    def _not_linear(self, degree: int) -> DataError:
        """The error of a posterior that is no linear function."""
        state = self._fitted_state()
        family, p = state.family, state.params
        hint = "LinearDiscriminantAnalysis, MultinomialNB, PoissonNB and BernoulliNB are"
        if degree < 2 and not state.spec.weighted_by and family.linear(p, 2) is not None:
            hint = "as_logistic(degree=2) has squares and products of columns, too"
        columns = [state.reader.columns[j] for j in family.nonlinear_columns(p, degree)]
        of = f": {format_list(columns)} {'is' if len(columns) == 1 else 'are'} not" if columns else ""
        return DataError(f"the posterior of this {type(self).__name__} is not linear in x{of}\n\nhint: {hint}")

    @without_weights(
        "{setting} fits weights to every row: none can be left out in closed form\n\n"
        "hint: deciban.cross_validate(model, X, y) refits for each fold"
    )
    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        """Log probabilities of the classes of each row, by the model without that row.

        The result equals one fit for each row, from a single pass: each row is taken out of the sufficient statistics
        in closed form. A calibrated model keeps its temperature and biases.

        Parameters
        ----------
        X, y, sample_weight : rows, labels and weights
            Rows among those that were learned, with the labels and weights they were learned with.
        priors : sequence, mapping by class, "uniform" or None
            Class priors instead of those of the model, as in `predict_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            log P(class | x) in the order of `classes_`; `np.exp` of it are probabilities.

        Raises
        ------
        ForgetError
            A row was never learned, where the sufficient statistics show it: see `forget`.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> X, y = [[0.0], [1.0], [2.0], [4.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
        >>> model = GaussianNB(var_smoothing=0.1).fit(X, y)
        >>> model.predict(X).tolist()[3], model.classes_[model.leave_one_out(X, y).argmax(axis=1)].tolist()[3]
        ('b', 'a')
        """
        state = self._fitted_state()
        self._check_learned()
        self._check_additive()
        table, unseen = self._table_of(state, X, y, sample_weight)
        if unseen.any():
            raise held_out.never_learned(state, table, int(unseen.argmax()))
        return held_out.leave_one_out(state, table, priors)

    @staticmethod
    def _table_of(state: State, X: Any, y: Any, sample_weight: Any) -> tuple[Table, np.ndarray]:
        """(labelled rows in the codes of a state, which of them (n,) have a level that it does not know)"""
        found = state.reader.training(X, y, first=False)
        _, codes = inputs.labels(found.y, state.classes)
        x, schema, unseen = found.x, state.reader.schema, np.zeros(len(codes), dtype=bool)
        if schema is not found.reader.schema and schema != found.reader.schema:
            unseen = rows_with_unseen(x, found.reader.schema, schema)
            x = recoded(x, found.reader.schema, schema)
        return Table(x, codes, inputs.weights(sample_weight, codes), len(state.classes), schema), unseen

    def _proba_without(
        self, rows: RawArrays, group: np.ndarray, groups: int, query: Any, refit: bool = False, priors: Any = None
    ) -> PosteriorsWithout:
        state = self._fitted_state()
        self._check_learned()
        if state.spec.find_covariances is not None:
            self._check_additive()
        table, unseen = self._table_of(state, rows.X, rows.labels, rows.w)
        if unseen.any():
            raise held_out.never_learned(state, table, int(unseen.argmax()))
        posterior = self._posterior(priors)
        x = posterior.block(query)
        if refit:
            logs = influences.log_proba_refitted(state, table, group, groups, x, priors)
        else:
            logs = influences.log_proba_without(state, table, group, groups, x, priors)
        note = influences.EM_NOTE if state.known.steps else ""
        return PosteriorsWithout(posterior.block_log_proba(x), logs, note)

    # rows that calibrate sets

    def _kept_folds(self) -> conformal.Held:
        return self._current_state().remember("kept_folds", self._folds_of_sample)

    def _folds_of_sample(self) -> conformal.Held:
        state = self._fitted_state()
        if state.sample is None:
            raise conformal.no_kept_rows(self)
        rows = state.sample.selected(state.n)
        copies = copies_in_folds(rows.digest, rows.table.y, rows.times, conformal.FOLDS)
        share = rows.share * np.ones(len(rows.times))
        out = []
        for times in copies.T:
            at = np.flatnonzero(times)
            if len(at):
                part = RowSample.of_copies(rows.table.take(at), times[at], state.reader.digested_names)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the second stage of all rows has warned
                    model = self._copy()._adopt(state.without_sampled(part))
                    odds = model._block_log_odds(part.table, state)
                w = part.table.weights().astype(np.float64)
                own = HeldOutRows(own_odds(odds, part.table.y), part.table.y, w, part.times, share[at])
                out.append((model, own))
        return out

    def _block_log_odds(self, table: Table, coded: State) -> np.ndarray:
        """The log odds (n, k) of rows in the codes of another state, of the same columns and classes."""
        state = self._fitted_state()
        x = table.x
        if state.reader.schema is not coded.reader.schema:
            x = recoded(x, coded.reader.schema, state.reader.schema)
        return in_classes(coded.classes, self, state.posterior.block_log_odds(x))

    def _without_rows(self, rows: RawArrays, left_out: np.ndarray) -> Any:
        self._check_learned()
        try:
            self._check_updatable()
        except NotAdditiveError:
            return conformal.refitted(self, rows, left_out)
        return conformal.forgetting(self, rows, left_out)

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        state = self._current_state()
        if state.given:
            return 0, 0
        table, unseen = self._table_of(state, rows.X, rows.labels, rows.w)
        if state.ledger is not None and state.spec.ledger is not None:
            held = state.ledger.holds(ledger_tags(table, state.spec.ledger), table.y) & ~unseen
            return int(held.sum()), table.n
        known = table.take(np.flatnonzero(~unseen))
        if state.sample is not None:
            shown, searched = state.sample.count_held(known, state.reader.digested_names)
            if searched:
                return shown, searched + int(unseen.sum())
        return (table.n, table.n) if not unseen.any() and held_out.is_whole(state, table) else (0, 0)

    def one_vs_rest(self) -> OneVsRest:
        """For each class a model of that class (True) against all others (False), from the same tally, without
        learning again: the models of fits to two classes. What was chosen before the tally (cuts) stays.

        Returns
        -------
        OneVsRest
            The models by class; `predict` and `predict_proba` ask all of them.

        Examples
        --------
        >>> from deciban import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"])
        >>> rest = model.one_vs_rest()
        >>> rest["b"].predict([[4.5], [9.0]]).tolist(), rest.predict([[4.5], [9.0]]).tolist()
        ([True, False], ['b', 'c'])
        """
        state = self._fitted_state()
        self._check_updatable()
        return OneVsRest.from_models(self.classes_, partial(self._against_rest, state))

    def _against_rest(self, state: State, c: int) -> Self:
        """The model of class c against all others."""
        out, prior = self._copy(), state.spec.prior
        if prior.class_weight is not None or not (prior.given is None or isinstance(prior.given, str)):
            p = np.exp(state.log_prior - np.logaddexp.reduce(state.log_prior))[c]
            out.__dict__[prior.name] = [1.0 - p, p]
            if prior.class_weight is not None:
                out.__dict__["class_weight"] = None
        return out._adopt(state.one_vs_rest(c, out._spec()))

    # attributes

    @property
    def tally_(self) -> Bundle:
        """The state: class weights and the family's statistics."""
        return self._counted_state().tally

    @property
    def sample_exact_(self) -> bool:
        """Whether what is fitted to a sample of the rows (calibration, weights, tuned settings) is what a fit on the
        same rows would find. False after so many rows were removed that the sample has none left in reserve."""
        return self._current_state().sample_exact

    @property
    def tuned_(self) -> dict[str, Any]:
        """The settings chosen by leave-one-out, and their values."""
        return dict(self._fitted_state().known.tuned)

    @property
    def evidence_(self) -> float:
        """log p(X | y) with parameters integrated out, for conjugate families: compares models of the same rows."""
        state = self._learned_state()
        found = state.family.evidence(state.tally.parts[1])
        if found is None:
            raise AttributeError(
                f"{state.family} has no evidence in closed form\n\nhint: if the model has `estimate`, set it to 'bayes'"
            )
        return float(found.sum())

    @property
    def class_count_(self) -> np.ndarray:
        """Number (weight) of the training rows of each class, (k,)."""
        state = self._counted_state()
        return state.reader.view(state.n)

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        state = self._fitted_state()
        return state.reader.view(np.exp(state.log_prior))

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: those of the densities, and k − 1 class priors."""
        state = self._fitted_state()
        return self._with_priors(state.family.n_parameters(state.params, len(state.classes), state.reader.d))

    @property
    def n_parameters_joint_(self) -> int:
        """Number of free parameters of a joint distribution of the same columns without the assumption that they are
        independent given the class: 2^d − 1 for each class, if the columns are binary, and k − 1 class priors."""
        state = self._fitted_state()
        return self._with_priors(state.family.n_parameters_joint(state.params, len(state.classes), state.reader.d))

    def _with_priors(self, free: int | None) -> int:
        if free is None:
            raise unknown_parameters(self)
        return free + len(self.classes_) - 1

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__


class CodedColumns:
    """A generative classifier whose parameters have a column for each number, and each level of a category."""

    @property
    def coef_names_(self) -> list[str]:
        """Names of the columns of the parameters: those of X, or what they are coded as, such as `sex=male`."""
        return self._fitted_state().reader.columns  # type: ignore[attr-defined]


def warn_of_small_sample(state: State) -> None:
    """Warn that so many rows were removed that the second stage is no longer that of a fit on the rest."""
    assert state.sample is not None
    warnings.warn(
        f"of the rows that this {state.spec.name} keeps, so many were removed that its probabilities are fitted to "
        f"{state.sample.table.n:,} rows only, fewer than a new fit would choose\n\n"
        "hint: the model can be used; `fit` it again on all rows",
        UserWarning,
        stacklevel=levels_up(),
    )


def check_ledger(key: LedgerKey | None, ledger: RowLedger | None) -> None:
    """Raise an error where the setting `ledger` is not the one that rows were learned with."""
    if (key is None) != (ledger is None):
        raise DataError(
            f"rows were learned with{'out' if ledger is None else ''} a ledger, but `ledger` is "
            f"{'False' if key is None else 'set'}\n\nhint: set `ledger` back, or fit again on all rows"
        )
    if key is not None and ledger is not None and key_check(key) != ledger.key_check:
        python, command = "model.set_params(ledger=LedgerKey(...))", "set the variable DECIBAN_LEDGER_KEY"
        raise DataError(
            "the ledger of this model has another key\n\n"
            f"hint: {option(python, command)}, with the key of training, which a model file does not hold"
        )


def given_parameters(model: Any) -> str:
    """The message for what a model with given parameters lacks."""
    return f"the parameters of this {type(model).__name__} were given: it has no rows\n\nhint: `fit` learns from rows"


class OneVsRest(Mapping):
    """Models of each class against all others, by class: a mapping, and one classifier. P(class | x) is the probability
    of its own model, divided by the sum over the classes, as in scikit-learn's `OneVsRestClassifier`."""

    def __init__(self, classes: np.ndarray, models: Sequence[Any]) -> None:
        self.classes_ = classes
        self._models = dict(zip(classes.tolist(), models, strict=True))

    @classmethod
    def from_models(cls, classes: np.ndarray, model_of: Callable[[int], Any]) -> OneVsRest:
        """From a function that makes the model of class number c."""
        if len(classes) < 2:
            raise DataError("one-versus-rest needs two classes\n\nhint: learn rows of another class first")
        return cls(classes, [model_of(c) for c in range(len(classes))])

    def __getitem__(self, label: Any) -> Any:
        return self._models[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __repr__(self) -> str:
        return f"OneVsRest({format_list(self._models, quote='')})"

    def predict_proba(self, X) -> np.ndarray:
        """P(class | x), (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            The probabilities, in the order of `classes_`.
        """
        each = [np.asarray(inputs.to_numpy(model.predict_proba(X)))[:, 1] for model in self.values()]
        out = np.stack(each, axis=1)
        total = out.sum(axis=1, keepdims=True)
        return np.divide(out, total, out=np.full_like(out, 1.0 / len(self)), where=total > 0)

    def predict(self, X) -> np.ndarray:
        """The class of the most probable model of each row, (n,).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row.
        """
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def with_new_classes(known: np.ndarray, y: np.ndarray | frames.Column) -> np.ndarray:
    """The known classes and those of y."""
    if (label_codes(y, known)[1] >= 0).all():
        return known
    new = inputs.labels(y, None)[0]
    kinds = [label_type(labels) for labels in (new, known)]
    if kinds[0] != kinds[1]:
        raise DataError(
            f"the labels are {kinds[0]} (such as {new.tolist()[0]!r}), but those learned so far are {kinds[1]} "
            f"(such as {known.tolist()[0]!r})\n\nhint: give labels of the same type"
        )
    return united(known, new)


def aligned_columns(state: State, first: State) -> State:
    """A state with its columns in the order of another state, if they have names."""
    check_codings_agree(first.reader, state.reader)
    mine, theirs = ([] if one.reader.names is None else list(one.reader.names) for one in (state, first))
    if mine == theirs:
        return state
    if not mine or not theirs:
        raise MergeError(
            f"the columns of one model are {format_list(mine or theirs)}, those of the other have no names\n\n"
            "hint: fit both on frames with the same columns, or both on arrays"
        )
    lacking, own = ([n for n in a if n not in set(b)] for a, b in ((theirs, mine), (mine, theirs)))
    if lacking or own:
        only = [(lacking, "first"), (own, "second")]
        differences = [
            f"{format_list(names)} {'is' if len(names) == 1 else 'are'} in the {which} model only"
            for names, which in only
            if names
        ]
        raise MergeError(
            f"the models have different columns: {', '.join(differences)}\n\n"
            "hint: fit both on frames with the same columns"
        )
    return state.in_columns_of(first)


def _same_setting(a: Any, b: Any) -> bool:
    try:
        return np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    except ValueError:  # a list or a dictionary of arrays
        return repr(a) == repr(b)


def check_codings_agree(a: Any, b: Any) -> None:
    """Raise an error for readers whose columns are coded by different levels or cells; columns may differ in order."""
    if a.coding is None and b.coding is None:
        return
    hint = "fit one model on all rows; or go on with `partial_fit`, for which new levels are no evidence"
    if a.coding is None or b.coding is None:
        raise MergeError(f"one model learned from coded columns, the other from numbers\n\nhint: {hint}")
    there = {code.name: code for code in b.coding.columns}
    for code in a.coding.columns:
        if code.name in there and code != there[code.name]:
            raise MergeError(f"column {code.named} is coded differently in the two models\n\nhint: {hint}")


def check_settings_agree(a: Any, b: Any) -> None:
    """Raise an error for models with different settings."""
    theirs = b.get_params()
    for name, value in a.get_params().items():
        if not _same_setting(value, theirs[name]):
            raise MergeError(
                f"`{name}` is {value!r} in one model and {theirs[name]!r} in the other\n\n"
                "hint: fit both with the same settings"
            )
