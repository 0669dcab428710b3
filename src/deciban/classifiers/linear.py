"""Least squares and the perceptron: linear classifiers with the update of logistic regression and another response h.

    θ ← θ + α (y − h(x)) x        h(x) = θ·x: least squares (LMS)        h(x) = [θ·x ≥ 0]: perceptron

They are for comparison with logistic regression, whose h is a probability (`LogisticRegression(solver="online")`). The
values of these two are none: least squares leaves [0, 1], a threshold has two values. So there is no `predict_proba`,
and none of what is derived from probabilities (`log_odds`, `decide`, `explain`); they are in no comparison of
classifiers.

>>> from deciban import LeastSquaresClassifier
>>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
>>> model.response([[-1.0], [1.5], [4.0]]).round(2).tolist(), model.predict([[-1.0], [4.0]]).tolist()
([-0.5, 0.5, 1.5], ['no', 'yes'])
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from deciban import ops
from deciban.classifiers.base import Interval, StrOptions, locked, suggesting, unfitted
from deciban.data.blocks import Reals, Table
from deciban.data.frames import shown_names
from deciban.errors import DataError, levels_up
from deciban.logistic.objective import PenalisedLoss
from deciban.logistic.settings import convergence_message
from deciban.rows import inputs
from deciban.rows.readers import ArrayReader
from deciban.solvers.base import State, solve
from deciban.solvers.gradient import squared_lengths
from deciban.solvers.history import History, Recorder
from deciban.solvers.update_rules import IDENTITY, THRESHOLD, Online, Plain, PlainGradient, Response, at_point, targets


@dataclass(frozen=True, eq=False, repr=False)
class ResponseLoss(PenalisedLoss):
    """Σ w loss(x · θ, y) of a response, without penalty, for dense rows in memory."""

    rows: Table
    response: Response

    @classmethod
    def of(cls, rows: Table, intercept: bool, response: Response) -> ResponseLoss:
        none = np.zeros(rows.d + intercept)
        return cls(rows, none, none, response)

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def d(self) -> int:
        return self.rows.d

    @property
    def k(self) -> int:
        return self.rows.k

    @cached_property
    def weight(self) -> float:
        return float(self.rows.weights().sum())

    @cached_property
    def cells(self) -> np.ndarray:
        """The rows, with a 1 for the intercept, (n, p)."""
        assert isinstance(self.rows.x, Reals)
        x = np.asarray(self.rows.x.values, dtype=np.float64)
        return np.hstack([x, np.ones((len(x), 1))]) if self.intercept else x

    @cached_property
    def targets(self) -> np.ndarray:
        """0 and 1, (n, m)."""
        return targets(self.rows.y, self.m)

    def slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """(value, gradient)."""
        z, weights = self.cells @ self.table(w).T, self.rows.weights()
        error = (self.targets - self.response.of(z)) * weights[:, None]
        return float(weights @ self.response.loss(z, self.targets)), -(error.T @ self.cells).ravel()

    def minimum(self) -> np.ndarray:
        """The parameters of least squares; of several, the shortest in centred columns."""
        root, d = np.sqrt(self.rows.weights())[:, None], self.d
        x, aims = self.cells[:, :d], self.targets
        means = np.zeros(d), np.zeros(self.m)
        if self.intercept:
            share = (root / np.linalg.norm(root)) ** 2
            means = (share * x).sum(axis=0), (share * aims).sum(axis=0)
        coef = np.linalg.lstsq(root * (x - means[0]), root * (aims - means[1]), rcond=None)[0].T
        bias = means[1] - coef @ means[0]
        return (np.column_stack([coef, bias]) if self.intercept else coef).ravel()


class LinearUnit(ClassifierMixin, BaseEstimator):
    """Base of classifiers that compare a response h(θ·x) with targets: needs `_response`, `_rule` and `_online`."""

    classes_: np.ndarray
    class_count_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    n_features_in_: int
    n_iter_: int
    history_: History
    fit_intercept: bool
    history: bool
    init: Any
    max_iter: int
    _reads_texts: ClassVar[bool] = False
    _has_members: ClassVar[bool] = False
    _dated: ClassVar[bool] = True
    _response: ClassVar[Response]
    _border: ClassVar[float] = 0.0  # of two classes, the score above which the second is predicted

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        setattr(cls, "__init__", suggesting(cls.__dict__["__init__"]))  # noqa: B010

    def _tally_state(self) -> None:
        """None: the model is no tally."""

    # methods that a subclass defines

    def _rule(self, objective: ResponseLoss) -> tuple[Plain, float]:
        """(the rule of `fit`, its tolerance of the mean gradient; a negative one: none)."""
        raise NotImplementedError

    def _online(self) -> Online:
        """The rule of `partial_fit`."""
        raise NotImplementedError

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights multiply the errors of rows. An earlier fit is discarded.

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
        reader, classes, table = self._read(X, y, sample_weight, True, None)
        if len(classes) < 2:
            raise DataError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{classes.tolist()[0]!r}\n\nhint: a model of one class has nothing to learn"
            )
        objective = ResponseLoss.of(table, self.fit_intercept, self._response)
        start, recorder = objective.check_start(self.init), Recorder() if self.history else None
        rule, tol = self._rule(objective)
        with np.errstate(all="ignore"):
            answer = solve(rule, objective, start, tol, self.max_iter, recorder)
        self._adopt(reader, classes, objective, answer.w, answer.n_iter, np.zeros(len(classes)))
        self.__dict__.pop("history_", None)
        if recorder is not None:
            self.history_ = recorder.history(objective, shown_names(self), classes, answer.n_iter, likelihood=False)
        if answer.reason == "diverged" or (answer.reason == "max_iter" and rule.converges):
            message = convergence_message(rule.name, answer.reason, answer.n_iter)
            warnings.warn(message, ConvergenceWarning, stacklevel=levels_up())
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows by the online rule, one pass in their order. The first call names all `classes`. With
        history=True, each call adds one entry to `history_`.

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
        with locked(self):
            first = "coef_" not in self.__dict__
            reader, known, table = self._read(X, y, sample_weight, first, classes, partial=True)
            objective = ResponseLoss.of(table, self.fit_intercept, self._response)
            start = objective.check_start(self.init) if first else self._parameters()
            before = np.zeros(len(known)) if first else self.class_count_
            state = at_point(objective, start)
            after = self._online().step(objective, state)
            self._adopt(reader, known, objective, after.w, 1, before)
            if self.history:
                recorder = Recorder()
                recorder(0, state)
                recorder(1, after)
                more = recorder.history(objective, shown_names(self), known, 1, likelihood=False)
                self.history_ = self.history_.followed_by(more) if "history_" in self.__dict__ else more
        return self

    def objective(self, X, y, sample_weight=None) -> ResponseLoss:
        """The function that the rules minimise for these rows: `slope(w)` is its value and gradient.

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
        float
            The objective of these rows at the coefficients of the model.
        """
        return ResponseLoss.of(self._read(X, y, sample_weight, True, None)[2], self.fit_intercept, self._response)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any, partial: bool = False
    ) -> tuple[ArrayReader, np.ndarray, Table]:
        """(reader, classes, rows)."""
        found = (ArrayReader(type(self).__name__, block="dense") if first else self._reader()).training(X, y, first)
        known = inputs.named_classes(None if first else self.classes_, classes) if partial else None
        known, codes = inputs.labels(found.y, known)
        x = found.x.rows(0, found.x.n)
        if not ops.all_finite(x.values):  # type: ignore[union-attr]
            inputs.check_finite(x, found.reader.names, type(self).__name__)
        return found.reader, known, Table(x, codes, inputs.weights(sample_weight, codes), len(known))

    def _adopt(
        self, reader: ArrayReader, classes: np.ndarray, objective: ResponseLoss, w: np.ndarray, n_iter: int, before: Any
    ) -> None:
        """Set the fitted attributes."""
        table = objective.table(w)
        self.classes_, self.n_features_in_ = classes, reader.d
        for name, value in (("feature_names_in_", reader.names), ("target_name_", reader.target)):
            self.__dict__.pop(name, None)
            if value is not None:
                self.__dict__[name] = value
        self.coef_ = table[:, : reader.d].copy()
        self.intercept_ = table[:, -1].copy() if self.fit_intercept else np.zeros(len(table))
        self.class_count_ = before + ops.class_weights(objective.rows.y, objective.rows.w, len(classes))
        self.n_iter_ = n_iter

    def _parameters(self) -> np.ndarray:
        """The coefficients as flat parameters."""
        table = np.column_stack([self.coef_, self.intercept_]) if self.fit_intercept else self.coef_
        return np.asarray(table, dtype=np.float64).ravel()

    def _reader(self) -> ArrayReader:
        names = self.__dict__.get("feature_names_in_")
        return ArrayReader(type(self).__name__, block="dense", d=self.n_features_in_, names=names)

    # predictions

    def _scores(self, X: Any) -> np.ndarray:
        """x · coef + intercept, (n, m)."""
        if "coef_" not in self.__dict__:
            raise unfitted(self)
        x = self._reader().read(X)
        assert isinstance(x, Reals)
        scores = np.asarray(x.values, dtype=np.float64) @ self.coef_.T + self.intercept_
        if not ops.all_finite(scores):
            inputs.check_finite(x, self.__dict__.get("feature_names_in_"), type(self).__name__)
        return scores

    def response(self, X) -> np.ndarray:
        """h(x), which learning compares with 0 and 1: of the second of two classes (n,), or of each class (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            The linear response.
        """
        h = self._response.of(self._scores(X))
        return h[:, 0] if h.shape[1] == 1 else h

    def decision_function(self, X) -> np.ndarray:
        """The score of the second of two classes, less the border between them, so that its sign decides, (n,); or the
        score of each class (n, k).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            The scores.
        """
        scores = self._scores(X)
        return scores[:, 0] - self._border if scores.shape[1] == 1 else scores

    def predict(self, X) -> np.ndarray:
        """The class of the larger score.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            A label for each row.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def __sklearn_is_fitted__(self) -> bool:
        return "coef_" in self.__dict__


@dataclass(frozen=True)
class LeastSquares(Plain):
    """The minimum in one step."""

    name: ClassVar[str] = "exact"

    def step(self, objective: ResponseLoss, state: State) -> State:
        return replace(at_point(objective, objective.minimum()), internal=self.name)

    def done(self, objective: ResponseLoss, state: State, tol: float) -> str | None:
        return "gradient" if state.internal == self.name else None


class LeastSquaresClassifier(LinearUnit):
    """Least squares on targets 0 and 1 (a column of them for each of more than two classes).

    The fitted line leaves [0, 1], and rows far on the right side of the border move it: what the sigmoid of
    `LogisticRegression` is for. By the online rule it is LMS, θ ← θ + α (y − θ·x) x. There is no `predict_proba`, since
    the response is no probability.

    Parameters
    ----------
    solver : {"exact", "gradient", "online"}
        "exact": the minimum in one step. "gradient": θ ← θ + α Σ (y − θ·x) x over all rows. "online": row by row, in
        their order.
    learning_rate : float or None
        α of "gradient" and "online". None: `1 / Σ |x|²` and 1 / the largest `|x|²`, with which they do not diverge.
    init : array of shape (d + 1,) or (k, d + 1), or None
        Where the rules start: coefficients and then the intercept, for each class if there are more than two; (d,) or
        (k, d) without intercepts. None: zeros.
    history : bool
        Whether `history_` is kept.
    fit_intercept : bool
        Whether the scores have intercepts.
    max_iter : int
        Largest number of steps of "gradient", and of passes over the rows of "online".
    tol : float
        The rules stop if no component of the mean gradient exceeds it.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Weight of the training rows of each class.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        Of the response: of the second of two classes, or of each class.
    n_iter_ : int
        Number of steps or passes.
    history_ : History
        With history=True: coefficients, objective (half the sum of squared errors), length of the gradient and of the
        step, at the start and after each iteration.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows had names.
    target_name_ : str
        Name of the labels, if they had one.

    See Also
    --------
    LogisticRegression : The same rule with the logistic function as response.
    Perceptron : The same rule with a threshold.

    Examples
    --------
    >>> rows, y = [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0, 0, 1]
    >>> lms = LeastSquaresClassifier(solver="online", learning_rate=0.1, max_iter=1, fit_intercept=False)
    >>> lms.fit(rows, y).coef_.round(6).tolist()
    [[0.1, 0.2]]
    """

    _response = IDENTITY
    _border = 0.5
    _parameter_constraints: dict = {
        "solver": [StrOptions({"exact", "gradient", "online"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "init": ["array-like", None],
        "history": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        solver="exact",
        learning_rate=None,
        init=None,
        history=False,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-4,
    ):
        self.solver = solver
        self.learning_rate = learning_rate
        self.init = init
        self.history = history
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _rule(self, objective: ResponseLoss) -> tuple[Plain, float]:
        if self.solver == "online":
            return self._online(), self.tol
        if self.solver == "gradient":
            rows = objective.rows
            total = float(rows.weights() @ squared_lengths(rows, objective.intercept))
            return PlainGradient(self.learning_rate or (1.0 / total if total > 0 else 1.0)), self.tol
        if self.learning_rate is not None:
            raise ValueError(
                f"solver='exact' and learning_rate={self.learning_rate:g} do not go together\n\n"
                "hint: solver='gradient' and solver='online' have a learning rate"
            )
        return LeastSquares(), self.tol

    def _online(self) -> Online:
        return Online(self.learning_rate, self._response)


class Perceptron(LinearUnit):
    """The perceptron: θ ← θ + α (y − h(x)) x, row by row in their order, with h(x) = 1 if θ·x ≥ 0, else 0.

    It stops after the first pass without an error; if the classes are not separable by a plane there is none, and
    `max_iter` passes are made. More than two classes have a unit each, that class against the others. The rows are not
    shuffled, and there is no penalty; scikit-learn's class of this name has both.

    Parameters
    ----------
    eta0 : float
        The learning rate α. From zeros it is a factor of the coefficients, and changes no prediction.
    init : array of shape (d + 1,) or (k, d + 1), or None
        Where the rule starts: coefficients and then the intercept, for each class if there are more than two; (d,) or
        (k, d) without intercepts. None: zeros.
    history : bool
        Whether `history_` is kept.
    fit_intercept : bool
        Whether the scores have intercepts.
    max_iter : int
        Largest number of passes over the rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Weight of the training rows of each class.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        Of the score: of the second of two classes, or of each class.
    n_iter_ : int
        Number of passes.
    history_ : History
        With history=True: coefficients, objective (the sum of `|θ·x|` over the rows in error), length of its gradient
        and of the step, at the start and after each pass.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows had names.
    target_name_ : str
        Name of the labels, if they had one.

    See Also
    --------
    LogisticRegression : The same rule with the logistic function as response.
    LeastSquaresClassifier : The same rule without a threshold.

    Examples
    --------
    >>> model = Perceptron(eta0=0.1).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> model.predict([[0.5], [2.5]]).tolist(), model.n_iter_
    (['no', 'yes'], 3)
    """

    _response = THRESHOLD
    _parameter_constraints: dict = {
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "init": ["array-like", None],
        "history": ["boolean"],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(self, *, eta0=1.0, init=None, history=False, fit_intercept=True, max_iter=1000):
        self.eta0 = eta0
        self.init = init
        self.history = history
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def _rule(self, objective: ResponseLoss) -> tuple[Plain, float]:
        return self._online(), -1.0

    def _online(self) -> Online:
        return Online(self.eta0, self._response)
