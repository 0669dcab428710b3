"""Logistic regression: P(class | x) = softmax(coef · x + intercept); a logistic function of one margin for two classes.

    coef = argmin  C Σ_i w_i loss_i  +  ½ (1 − l1_ratio) |coef|²  +  l1_ratio |coef|₁      no penalty on the intercept

scikit-learn's constructor, attributes and answers. Beside them: `solver="auto"` (the default) picks by shape; priors
may be changed at prediction; evidence in decibans.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [2.0], [3.0], [5.0]], ["no", "no", "yes", "yes"])
>>> model.predict([[1.0], [4.0]]).tolist(), model.coef_.round(3).tolist()
(['no', 'yes'], [[0.885]])
>>> model.predict_proba([[2.5]], priors=[0.9, 0.1]).round(3).tolist()
[[0.9, 0.1]]
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, InvalidParameterError, StrOptions

from deciban import frames, ingest, ops
from deciban.classifiers import adopting
from deciban.classifiers import logistic_settings as settings
from deciban.classifiers.choosing import Choosing
from deciban.classifiers.inferring import Inferring
from deciban.classifiers.linear_answers import LinearAnswers, as_floats, overflows
from deciban.classifiers.on_data import OnData
from deciban.classifiers.origin import Origin
from deciban.classifiers.settled import Settled
from deciban.classifiers.several_passes import SeveralPasses, weighted
from deciban.classifiers.steady import Steady
from deciban.errors import DataError
from deciban.losses.objectives import Objective
from deciban.solvers.sgd import Stream
from deciban.table import Block, Table


class LogisticRegression(
    Choosing,
    Inferring,
    LinearAnswers,
    SeveralPasses,
    OnData,
    Settled,
    Steady,
    LinearClassifierMixin,
    SparseCoefMixin,
    BaseEstimator,
):
    """Logistic regression of any number of classes, dense or sparse.

    Arguments are scikit-learn's. solver: "auto" picks by shape; "newton", "lbfgs", "newton-cg", "coordinate" (for
    l1_ratio > 0), "gradient", "sgd", or a name of scikit-learn's, which stands for the nearest of these. C: "auto", or
    a list to choose from, takes the best by rows held out (see `choosing`); `C_` is the one. verbose=1 shows progress.

    Parameters
    ----------
    penalty : "l2", "l1", "elasticnet", "jeffreys" or None
        "jeffreys" is Firth's; the others follow from `C` and `l1_ratio`.
    C : float, "auto" or a list
        Inverse strength of the penalty; inf: none. "auto" and a list: the best by held-out rows.
    l1_ratio : float
        Share of the L1 penalty, 0 … 1.
    tol, max_iter : float, int
        When a solver stops.
    fit_intercept, intercept_scaling : bool, float
        Whether there is an intercept, and how it is penalised by solver "liblinear".
    class_weight : mapping by class, "balanced" or None
        Weights of the classes.
    solver : str
        "auto", "newton", "lbfgs", "newton-cg", "coordinate", "gradient", "sgd", or a name of scikit-learn's.
    dual, random_state, verbose, warm_start, n_jobs
        As scikit-learn's.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        The linear scores: of the second of two classes, or of each.
    n_iter_ : ndarray of shape (1,)
        Steps of the solver.
    C_ : float
        The strength that was used.
    path_ : Path
        Held-out log loss of each C that was tried, where `C` was chosen.
    evidence_ : float
        log p(y | X), coefficients averaged out by Laplace's approximation.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> LogisticRegression(C=10.0).fit(x, y).decision_function([[1.5], [3.0]]).round(2).tolist()
    [0.0, 3.98]
    """

    _parameter_constraints: dict = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "jeffreys"}), None, Hidden(StrOptions({"deprecated"}))],
        "C": [Interval(Real, 0, None, closed="right"), StrOptions({"auto"}), list, tuple, np.ndarray],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions({*settings.OURS, *settings.THEIRS})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="auto",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _validate_params(self) -> None:
        try:
            super()._validate_params()
        except InvalidParameterError as wrong:
            if not isinstance(self.penalty, str) or "'penalty'" not in str(wrong):
                raise
            names = "'l2', 'l1', 'elasticnet', None (maximum likelihood) or 'jeffreys' (Firth's penalty)"
            raise InvalidParameterError(f"{wrong}\n\nhint: {names}") from None

    # learning

    @classmethod
    def from_generative(cls, model, **arguments) -> Self:
        """A fitted logistic regression with the posterior of a generative model that is linear in x (LDA, multinomial,
        Poisson or Bernoulli naive Bayes …): its `as_logistic()`. With warm_start=True, `fit` goes on from there.

        >>> from deciban import LinearDiscriminantAnalysis
        >>> x, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
        >>> model = LogisticRegression.from_generative(LinearDiscriminantAnalysis().fit(x, y), warm_start=True)
        >>> model.coef_.round(2).tolist(), model.fit(x, y).coef_.round(2).tolist()
        ([[4.0]], [[0.92]])
        """
        out = cls(**arguments)
        out.__dict__.update(adopting.attributes(model))
        return out

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions."""
        self._validate_params()
        chosen = settings.read(self)
        with self._unchanged_on_failure():
            warm = self._parameters() if self.warm_start and "coef_" in self.__dict__ else None
            objective = self._objective(X, y, sample_weight, chosen)
            self._name_target(frames.target_name(y))
            start = self._start(objective, warm)
            with np.errstate(all="ignore"):  # what overflows is looked for afterwards
                answer = self._minimum(objective, start, chosen, sample_weight)
            if not np.isfinite(answer.value) or (answer.why != "gradient" and overflows(objective.rows.x)):
                self._refuse(objective.rows.x)
            self._set(objective, answer.w)
            self._keep_means(objective.rows, 0.0)
            self.__dict__.pop("_stream", None)
            self.n_iter_ = self._origin.send_labels(np.array([answer.steps], dtype=np.int32))
            self._learn_inference(objective.rows.x, objective.rows.y, objective.rows.w)
        if not self._warn_separated() and not answer.converged:
            message = settings.not_converged(chosen.solver, answer.why, answer.steps)
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows by the online rule θ ← θ + α (y − h(x)) x, whatever the solver: the average of θ over
        all rows so far, in their order. Near to `fit` after many rows, not equal. The first call names `classes`."""
        self._validate_params()
        chosen = self._settled(settings.read(self))
        first = "coef_" not in self.__dict__
        with self._unchanged_on_failure():
            x, y = ingest.training(self, X, y, "reals", reset=first)
            ingest.name_classes(self, classes)
            _, codes = ingest.labels(y, self.classes_)
            rows = self._rows(x, codes, sample_weight)
            if first:
                self._origin = Origin.of(X)
            before = 0.0 if first else np.asarray(ingest.local(self.class_count_))
            self._keep_means(rows, 0.0 if first else float(np.sum(before)))
            self.class_count_ = self._origin.send(before + ops.class_weights(codes, rows.w, rows.k))
            objective = Objective.of(rows, chosen.l2, 0.0, self.fit_intercept, chosen.bias_l2)
            start = np.zeros(objective.size) if first else self._start(objective, self._parameters())
            stream: Stream = self.__dict__.get("_stream") or Stream.start(objective.table(start))
            stream = stream.read(rows, objective.ridge / (stream.past[0] + rows.n))
            if not np.isfinite(stream.mean).all():
                self._refuse(rows.x)
            self._set(objective, stream.mean.ravel())
            self._stream, self.C_ = stream, float(chosen.C)
            self.n_iter_ = self._origin.send_labels(np.array([1], dtype=np.int32))
        return self

    def objective(self, X, y, sample_weight=None) -> Objective:
        """What `fit` makes small for these rows: value, gradient and Hessian at any parameters (see `objectives`).

        >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f = model.objective([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f.hessian(np.append(model.coef_, model.intercept_)).shape
        (2, 2)
        """
        return self._plain()._objective(X, y, sample_weight, self._settled(settings.read(self)))

    def _objective(self, X, y, sample_weight, chosen: settings.Settings) -> Objective:
        self._origin = Origin.of(X) if chosen.solver != "liblinear" else Origin.plain
        x, y = ingest.training(self, X, y, "reals", reset=True)
        self.classes_, codes = ingest.labels(y, None)
        rows = self._rows(x, codes, sample_weight)
        mass = ops.class_weights(codes, rows.w, rows.k)
        self._check_mass(mass, chosen.solver)
        self.class_count_ = self._origin.send(mass)
        return Objective.of(rows, chosen.l2, chosen.l1, self.fit_intercept, chosen.bias_l2, chosen.bias_l1)

    def _rows(self, x: Block, codes: np.ndarray, sample_weight) -> Table:
        w = self._weights(ingest.weights(sample_weight, codes), codes)
        return Table(as_floats(x), codes, w, len(self.classes_))

    def _check_mass(self, mass: np.ndarray, solver: str) -> None:
        """Whether there is something to tell apart: `mass` (k,) is the weight of each class."""
        check_classes(self.classes_, solver)
        if np.count_nonzero(mass) < 2:
            raise DataError(
                f"only class {self.classes_.tolist()[mass.argmax()]!r} has rows of positive weight, and at least 2 "
                "classes are needed\n\nhint: look at sample_weight and class_weight"
            )

    def _weights(self, w: np.ndarray | None, codes: np.ndarray) -> np.ndarray | None:
        """Rows' weights times their classes'."""
        if self.class_weight is None:
            return w
        return weighted(codes, w, self._shares(ops.class_weights(codes, w, len(self.classes_))))

    def _shares(self, mass: np.ndarray) -> np.ndarray | None:
        """The weight of each class, (k,), where there are any; `mass` is that of its rows."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            return mass.sum() / (len(mass) * np.where(mass > 0, mass, 1.0))
        share = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        if not (np.isfinite(share) & (share >= 0)).all():
            raise DataError(
                f"class_weight is {self.class_weight}, but weights are finite numbers ≥ 0\n\n"
                "hint: a class of weight 0 counts for nothing"
            )
        return share

    def _start(self, objective: Objective, warm: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        if warm is None:
            return np.zeros(objective.size)
        coef, bias = warm
        w = np.hstack([coef, bias[:, None]]) if self.fit_intercept else coef
        if w.shape != (objective.m, objective.p):
            raise DataError(
                f"warm_start: the last fit has coefficients {w.shape}, these rows need {(objective.m, objective.p)}\n\n"
                "hint: use a new model for other classes or columns"
            )
        return w.ravel().astype(np.float64)

    def _set(self, objective: Objective, w: np.ndarray) -> None:
        table = objective.table(w)
        coef, bias = (table[:, :-1], table[:, -1]) if objective.intercept else (table, np.zeros(len(table)))
        self.coef_ = self._origin.send(np.array(coef))
        self.intercept_ = self._origin.send(np.array(bias))

    def _plain(self) -> Self:
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self.solver in ("auto", "lbfgs")
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags


def check_classes(classes: np.ndarray, solver: str) -> None:
    """Whether there is something to tell apart, and the solver can."""
    if len(classes) < 2:
        raise DataError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{classes.tolist()[0]!r}\n\nhint: a model of one class has nothing to learn"
        )
    if solver == "liblinear" and len(classes) > 2:
        raise DataError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use another "
            "solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest scheme.\n\n"
            "hint: Only binary classification is supported. For more classes take solver='auto'"
        )
