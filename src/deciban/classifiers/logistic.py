"""Logistic regression: P(class | x) = softmax(coef · x + intercept), or for two classes a logistic function of one margin.

    coef = argmin  C Σ_i w_i loss_i  +  ½ (1 − l1_ratio) |coef|²  +  l1_ratio |coef|₁         no penalty on the intercept

scikit-learn's constructor, attributes and answers. Beside them: `solver="auto"` (the default) picks by shape; priors may be
changed at prediction; evidence in decibans.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [2.0], [3.0], [5.0]], ["no", "no", "yes", "yes"])
>>> model.predict([[1.0], [4.0]]).tolist(), model.coef_.round(3).tolist()
(['no', 'yes'], [[1.032]])
>>> model.predict_proba([[2.5]], priors=[0.9, 0.1]).round(3).tolist()
[[0.9, 0.1]]
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from deciban import decision, ingest, ops, solvers
from deciban.classifiers import logistic_settings as settings
from deciban.classifiers.deciding import Deciding
from deciban.classifiers.inferring import Inferring
from deciban.classifiers.origin import Origin, same_library
from deciban.classifiers.scoring import check_priors
from deciban.errors import DataError, SupportError
from deciban.objectives import Objective
from deciban.table import Block, Counts, Reals, Table


class LogisticRegression(Inferring, Deciding, LinearClassifierMixin, SparseCoefMixin, BaseEstimator):
    """Logistic regression of any number of classes, dense or sparse.

    Arguments are scikit-learn's. solver: "auto" picks by shape; "newton", "lbfgs", "newton-cg", "coordinate" (needed for
    l1_ratio > 0), "gradient", "sgd", or a name of scikit-learn's, which stands for the nearest of these.

    >>> import numpy as np
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> LogisticRegression(C=10.0).fit(x, y).decision_function([[1.5], [3.0]]).round(2).tolist()
    [0.0, 3.57]
    """

    _parameter_constraints: dict = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "jeffreys"}), None, Hidden(StrOptions({"deprecated"}))],
        "C": [Interval(Real, 0, None, closed="right")],
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
    _keeps_kind = True
    _sent = "coef_"  # an attribute that lives where X came from
    _origin = Origin.plain

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

    # learning

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions."""
        self._validate_params()
        chosen = settings.read(self)
        with self._unchanged_on_failure():
            warm = self._parameters() if self.warm_start and "coef_" in self.__dict__ else None
            objective = self._objective(X, y, sample_weight, chosen)
            start = self._start(objective, warm)
            if self.penalty == "jeffreys":
                answer = self._jeffreys(objective.rows)
            else:
                answer = solvers.minimise(chosen.solver, objective, start, self.tol, self.max_iter)
            if not np.isfinite(answer.value):
                refuse(objective.rows.x)
            self._set(objective, answer.w)
            self.n_iter_ = self._origin.send_labels(np.array([answer.steps], dtype=np.int32))
            self._learn_inference(objective.rows.x, objective.rows.y, objective.rows.w)
        if not self._warn_separated() and not answer.converged:
            message = settings.not_converged(chosen.solver, answer.why, answer.steps)
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def objective(self, X, y, sample_weight=None) -> Objective:
        """What `fit` makes small for these rows: value, gradient and Hessian at any parameters (see `objectives`).

        >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f = model.objective([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f.hessian(np.append(model.coef_, model.intercept_)).shape
        (2, 2)
        """
        return self._plain()._objective(X, y, sample_weight, settings.read(self))

    def _objective(self, X, y, sample_weight, chosen: settings.Settings) -> Objective:
        self._origin = Origin.of(X) if chosen.solver != "liblinear" else Origin.plain
        x, y = ingest.training(self, X, y, "reals", reset=True)
        self.classes_, codes = ingest.labels(y, None)
        if len(self.classes_) < 2:
            raise DataError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}\n\nhint: a model of one class has nothing to learn"
            )
        if chosen.solver == "liblinear" and len(self.classes_) > 2:
            raise DataError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use another "
                "solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest scheme."
            )
        w = self._weights(ingest.weights(sample_weight, codes), codes)
        rows = Table(as_floats(x), codes, w, len(self.classes_))
        mass = ops.class_weights(codes, w, rows.k)
        self.class_count_ = self._origin.send(mass)
        if np.count_nonzero(mass) < 2:
            at = int(mass.argmax())
            raise DataError(
                f"only class {self.classes_[at]!r} has rows of positive weight, and at least 2 classes are needed\n\n"
                "hint: look at sample_weight and class_weight"
            )
        return Objective.of(rows, chosen.l2, chosen.l1, self.fit_intercept, chosen.bias_l2, chosen.bias_l1)

    def _weights(self, w: np.ndarray | None, codes: np.ndarray) -> np.ndarray | None:
        """Rows' weights times their classes'."""
        k = len(self.classes_)
        if self.class_weight is None:
            return w
        if isinstance(self.class_weight, str):
            mass = ops.class_weights(codes, w, k)
            share = mass.sum() / (k * np.where(mass > 0, mass, 1.0))
        else:
            share = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        return share[codes] if w is None else share[codes] * w

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

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        """If learning fails, or is interrupted, the model stays what it was."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _plain(self) -> Self:
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        return out

    # answers

    @same_library
    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        scores = self._scores(X)
        return self._origin_of(X).send(scores[:, 0] if scores.shape[1] == 1 else scores)

    @same_library
    def predict_proba(self, X, *, priors=None, posterior=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the class shares of the training rows for this call;
        posterior="laplace": coefficients averaged out, so less sure far from the rows that were learned."""
        if posterior is not None:
            return self._origin_of(X).send(self._averaged(X, priors, posterior))
        return self._origin_of(X).send(self._posterior(X, priors, logs=False))

    @same_library
    def predict_log_proba(self, X, *, priors=None) -> np.ndarray:
        """log P(class | x), (n, k)."""
        return self._origin_of(X).send(self._posterior(X, priors, logs=True))

    @same_library
    def predict(self, X, *, priors=None) -> np.ndarray:
        """The most probable class of each row."""
        scores = self._scores(X) if priors is None else self._joint(X, priors)
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self._origin_of(X).send_labels(self.classes_[best])

    def log_odds(self, X, *, against=None, priors=None) -> np.ndarray:
        """log of P(class | x) over P(all others | x), or over P(against | x), (n, k)."""
        place = None if against is None else self._place_of(against)
        return self._origin_of(X).send(decision.log_odds(self._joint(X, priors), place))

    def decibans(self, X, *, against=None, priors=None) -> np.ndarray:
        """`log_odds` in decibans: 10 = odds of 10 : 1, 20 = 100 : 1."""
        return self.log_odds(X, against=against, priors=priors) * decision.DECIBAN

    # inside

    def _parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) as NumPy's, dense."""
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else np.asarray(ingest.local(self.coef_))
        return coef, np.atleast_1d(np.asarray(ingest.local(self.intercept_)))

    def _scores(self, X) -> np.ndarray:
        """x · coef + intercept, as doubles, (n, m)."""
        self._check_is_fitted()
        x = ingest.features(self, X, "reals")
        coef, bias = self._parameters()
        with np.errstate(all="ignore"):
            scores = affine(x, np.asarray(coef, dtype=np.float64), np.asarray(bias, dtype=np.float64))
        if not ops.whole(scores):
            refuse(x, only_if_not_finite=True)
        return scores

    def _joint(self, X, priors) -> np.ndarray:
        """A score for each class, (n, k), whose softmax is the posterior."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        return scores if priors is None else scores + (self._prior(None, priors) - self._prior(None, None))

    def _posterior(self, X, priors, logs: bool) -> np.ndarray:
        return ops.posterior(np.ascontiguousarray(self._joint(X, priors)), logs)

    def _prior(self, fitted: Any, priors) -> np.ndarray:
        """log of the class shares, as given or as in the training rows."""
        if priors is None:
            return decision.log_prior(np.asarray(ingest.local(self.class_count_), dtype=np.float64))
        with np.errstate(divide="ignore"):
            return np.log(check_priors(priors, self.classes_))

    def _place_of(self, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) == 0:
            raise DataError(f"class {label!r} is not among {list(self.classes_)}\n\nhint: name one of these")
        return int(at[0])

    def _origin_of(self, X: Any) -> Origin:
        return Origin.of(X)

    def _check_is_fitted(self) -> Self:
        if "coef_" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self.solver in ("auto", "lbfgs")
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags


def as_floats(x: Block) -> Reals | Counts:
    """Rows of a dtype that the kernels know, converted once: every pass reads them."""
    assert isinstance(x, Reals | Counts)
    return x.rows(0, x.n)


def affine(x: Block, coef: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """x · coef + bias, (n, m); packing the coefficients is left out where there are fewer cells than they have."""
    x = as_floats(x)
    if x.cells >= coef.size:
        return ops.affine(x, coef, bias, strict=True)
    if isinstance(x, Reals):
        return x.values @ coef.T + bias
    at = x.indptr - x.indptr[0]
    return sparse.csr_array((x.stored, x.column_of(), at), shape=(x.n, x.d)) @ coef.T + bias


def refuse(x: Block, only_if_not_finite: bool = False) -> None:
    """Say which cell made an answer that is no number."""
    values = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if missing.any():
        at = np.argwhere(missing)[0]
        row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
        raise SupportError(
            f"Input X contains NaN (first in row {row}, column {column}), and LogisticRegression does not accept missing "
            "values\n\nhint: MixedNB does; or fill them in first (sklearn.impute)"
        )
    if ingest.infinite(x) or not only_if_not_finite:
        ingest.refuse(x)
