"""Gaussian naive Bayes, with scikit-learn's names and numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban.classifiers.base import Generative
from deciban.classifiers.given_priors import PRIORS, GivenPriors
from deciban.classifiers.weighing_columns import CONSTRAINT, WeighingColumns
from deciban.families.gaussian import Gaussian
from deciban.families.student import Student
from deciban.gaussian import independent as normals
from deciban.table import Table
from deciban.tallies import Bundle, Common

VAR_SMOOTHINGS = tuple(10.0**e for e in (-9, -8, -7, -6, -5, -4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0))


class GaussianNB(WeighingColumns, GivenPriors, Generative):
    """Naive Bayes with a normal density for each column and class.

    Parameters are scikit-learn's (`priors`, `var_smoothing`) and `ddof` (1: sample variances). X may be dense or CSR,
    and may hold NaN: a missing cell counts for nothing in training and is integrated out in prediction.
    `var_smoothing="auto"` takes the value under which held-out rows are most probable; `estimate="bayes"` averages
    over mean and variance (a Student t for each column, and `evidence_`); `calibrate=True` fits a temperature and a
    bias for each class to leave-one-out predictions, so that probabilities are honest; `weights="discriminative"` fits
    a weight for each column by conditional likelihood (`feature_weights_`), so that columns which repeat each other do
    not count twice.

    Parameters
    ----------
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    var_smoothing : float or "auto"
        Share of the largest variance that is added to all; "auto": by held-out rows.
    ddof : float
        1: sample variances.
    estimate : "plugin" or "bayes"
        "bayes": mean and variance are averaged out (a Student t for each column).
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class (`feature_weights_`).

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    theta_, var_ : ndarrays of shape (k, d)
        Means and variances of each class and column; `means_` is `theta_`.
    epsilon_ : float
        What was added to the variances.
    evidence_ : float
        log p(X | y), parameters averaged out, where it has a closed form.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        What `weights="discriminative"` learned: weights of columns (d,), of columns by class (k, d), biases (k,),
        steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.
    tally_ : tally
        The sufficient statistics: what `partial_fit` adds to and `forget` subtracts from.
    tuned_ : dict
        Settings that held-out rows chose, and their values.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[-2.0, -1], [-1, -1], [1, 1], [2, 1]]), ["no", "no", "yes", "yes"]
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, -1]]).tolist(), model.theta_.tolist()
    (['no'], [[-1.5, -1.0], [1.5, 1.0]])
    >>> model.forget(X[:1], y[:1]).class_count_.tolist()
    [1.0, 2.0]
    """

    _keeps_kind, _classes_first = True, True
    _parameter_constraints: dict = {
        "priors": PRIORS,
        "var_smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"plugin", "bayes"})],
        "calibrate": ["boolean"],
        **CONSTRAINT,
    }
    _tunable = {"var_smoothing": ("auto", VAR_SMOOTHINGS)}

    def __init__(self, *, priors=None, var_smoothing=1e-9, ddof=0, estimate="plugin", calibrate=False, weights=None):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.ddof = ddof
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Gaussian | Student:
        smoothing = self._setting("var_smoothing")
        return Student(smoothing=smoothing) if self.estimate == "bayes" else Gaussian(smoothing, self.ddof)

    # scikit-learn takes the variance that smoothing refers to over all rows, unweighted: a third tally. Weights of
    # columns, which it does not have, magnify what is smoothed; there a weight is a repetition in this too.

    def _tally_chunk(self, family: Gaussian | Student, chunk: Table) -> Bundle:
        out = super()._tally_chunk(family, chunk)
        if chunk.w is None:
            return out
        unweighted = family.tally(chunk.x, np.zeros(chunk.n, dtype=np.int32), None, 1)  # type: ignore[arg-type]
        return Bundle((*out.parts, Common(unweighted)))

    def _tally(self, table: Table) -> Bundle:
        out = super()._tally(table)
        return out if table.w is not None else Bundle((*out.parts, Common(out.parts[1].collapse())))

    def _estimate(self, family: Gaussian | Student, tally: Bundle) -> Any:
        if isinstance(family, Student):
            return family.estimate(tally.parts[1])
        return family.estimate(tally.parts[1], family.epsilon(self._everything(tally)))

    def _everything(self, tally: Bundle) -> Any:
        return tally.parts[2].part if self.weights is None else tally.parts[1].collapse()

    def _leave_one_out(self, family: Gaussian | Student, tally: Bundle, chunk: Table) -> np.ndarray:
        if isinstance(family, Student):
            return super()._leave_one_out(family, tally, chunk)
        return family.leave_one_out(tally.parts[1], chunk.x, chunk.y, chunk.w, tally.parts[2].part)  # type: ignore[arg-type]

    @property
    def means_(self) -> np.ndarray:
        """The same as `theta_`: the name that the discriminant classifiers use."""
        return self.theta_

    @property
    def theta_(self) -> np.ndarray:
        """Means of each class and column, (k, d)."""
        return self._view(self._check_is_fitted().params.mean)

    @property
    def var_(self) -> np.ndarray:
        """Variances of each class and column, (k, d)."""
        return self._view(self._check_is_fitted().params.var)

    @property
    def epsilon_(self) -> float:
        """What was added to the variances."""
        fitted = self._check_is_fitted()
        return normals.epsilon(fitted.model._everything(fitted.tally), self._setting("var_smoothing"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.array_api_support = True
        return tags
