"""Quadratic discriminant analysis, and the regularised one between it and the linear."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban.classifiers.discriminant import SHRINKAGES, Discriminant, Estimator, Solved, cells
from deciban.errors import DataError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes
from deciban.gaussian.joint import LOG_2PI, Own, Students, floored, singular
from deciban.table import Table
from deciban.tallies import Bundle

BLENDS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97)  # below 1: the pooled scatter alone is another tally


class QuadraticDiscriminantAnalysis(Solved):
    """A Gaussian with a covariance of its own for each class: quadratic boundaries.

    Parameters are scikit-learn's, and `shrinkage="loo"` (the amount that makes held-out rows most probable) and
    `calibrate=True` (honest probabilities, by leave-one-out). A class whose covariance has no inverse (constant or
    collinear columns, too few rows) is no error: `tol` times the usual variances is added to it, and `singular_` names
    the class.

    `estimate="bayes"` integrates means and covariances out (families/gaussian_joint_bayes.py): a multivariate t for
    each class, honest about few rows and defined for fewer than columns; `evidence_` is the log density of all rows.

    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` they are left out.

    Parameters
    ----------
    solver : "svd" or "eigen"
        As scikit-learn's.
    shrinkage : None, "auto", "loo" or a number of 0 … 1
        "auto": Ledoit–Wolf; "loo": what makes held-out rows most probable.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    reg_param : float
        Moves each covariance towards the identity, 0 … 1.
    store_covariance : bool
        Whether `covariance_` is there.
    tol : float
        A covariance without inverse gets this share of the usual variances.
    covariance_estimator : estimator or None
        Another estimate of the covariances; such a model is not updated.
    estimate : "plugin" or "bayes"
        "bayes": means and covariances are integrated out.
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    covariance_ : list of k ndarrays of shape (d, d)
        Covariances, with `store_covariance=True`.
    rotations_, scalings_ : lists of k ndarrays
        Axes of each class, and the variances along them.
    singular_ : list
        Classes whose covariance had no inverse.
    n_iter_ : int
        Steps of EM, where rows had missing cells.
    evidence_ : float
        log p(X | y), parameters averaged out, where it has a closed form.
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
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _parameter_constraints: dict = {
        **Solved._parameter_constraints,
        "solver": [StrOptions({"svd", "eigen"})],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
    }
    _no_estimator = "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."

    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
        estimate="plugin",
        calibrate=False,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.estimate = estimate
        self.calibrate = calibrate

    def _family(self, tally: Bundle | None = None) -> GaussianJoint | GaussianJointBayes:
        if self.estimate == "bayes":
            return GaussianJointBayes()
        ridge = self.reg_param if self.solver == "svd" else 0.0
        return GaussianJoint(0.0, self._setting("shrinkage") or 0.0, ridge, floor=self.tol)

    def _check_rows(self, rows: np.ndarray) -> None:
        if len(self.classes_) < 2:
            raise DataError(f"The number of classes has to be greater than one. Got {len(self.classes_)} class.")
        if (rows == 1).any() and self.estimate != "bayes":
            raise DataError(
                f"y has only 1 sample in class {self.classes_[rows == 1][0]}, covariance is ill defined.\n\n"
                "hint: use estimate='bayes', or RegularizedDiscriminantAnalysis: it borrows from the other classes"
            )

    def _check_fit(self, table: Table, whole: bool) -> None:
        super()._check_fit(table, whole)
        if self.covariance_estimator is not None:
            X = cells(table.x)
            self._covs = [Estimator.of(self.covariance_estimator, X[table.y == c]) for c in range(table.k)]

    def _estimate(self, family: GaussianJoint | GaussianJointBayes, tally: Bundle) -> Own | Students:
        if self._covs is None:
            return family.estimate(tally.parts[1])  # type: ignore[return-value]
        return Own.of(tally.parts[1].mean, floored(self._covs, tally.parts[0].n, self.tol))

    @property
    def singular_(self) -> np.ndarray:
        """The classes whose covariance had no inverse and was given a floor: see to more rows, or shrinkage."""
        fitted = self._check_is_fitted()
        covs = self._covs if self._covs is not None else fitted.family.gaussians(fitted.tally.parts[1])[1]
        return self.classes_[singular(covs, self.tol)]

    def _offset(self) -> float:
        return 0.0 if self.estimate == "bayes" else 0.5 * self.n_features_in_ * LOG_2PI

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The covariance, or one for each class."""
        if not self.store_covariance:
            raise AttributeError("`covariance_` is there with `store_covariance=True`")
        return [self._view(cov.dense()) for cov in self._check_is_fitted().params.covs]

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The variances along each class's `rotations_`, from the largest."""
        return [self._view(cov.spectrum()[0]) for cov in self._check_is_fitted().params.covs]

    @property
    def rotations_(self) -> list[np.ndarray]:
        """Axes of each class's covariance, from the longest."""
        return [self._view(cov.spectrum()[1]) for cov in self._check_is_fitted().params.covs]


class RegularizedDiscriminantAnalysis(Discriminant):
    """Between QDA and LDA, and towards spheres (Friedman 1989).

    `blend` moves each class's covariance towards the pooled one (0: QDA, 1: LDA), `shrinkage` then moves it towards the
    scaled identity (0 … 1; for columns in like units. Or "auto": Ledoit–Wolf for each class before blending). Works for
    classes of one row, and for more columns than rows. "loo" for either takes what makes held-out rows most probable.

    `estimate="bayes"` integrates means and covariances out: a multivariate t, from the sums blended in the same way.
    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` they are left out.

    Parameters
    ----------
    blend : float or "loo"
        Moves each covariance towards the pooled one, 0 … 1.
    shrinkage : float, "auto" or "loo"
        Moves it towards the scaled identity, 0 … 1.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    estimate : "plugin" or "bayes"
        "bayes": means and covariances are integrated out.
    calibrate : bool
        Temper probabilities by leave-one-out.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    covariance_ : list of k ndarrays of shape (d, d)
        Covariances, blended and shrunk.
    n_iter_ : int
        Steps of EM, where rows had missing cells.
    evidence_ : float
        log p(X | y), parameters averaged out, where it has a closed form.
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
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> RegularizedDiscriminantAnalysis(blend=0.5).fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _parameter_constraints: dict = {
        **Discriminant._parameter_constraints,
        "blend": [Interval(Real, 0, 1, closed="both"), StrOptions({"loo"})],
        "shrinkage": [StrOptions({"auto", "loo"}), Interval(Real, 0, 1, closed="both")],
        "estimate": [StrOptions({"plugin", "bayes"})],
        "calibrate": ["boolean"],
    }
    _tunable = {"blend": ("loo", BLENDS), "shrinkage": ("loo", SHRINKAGES)}

    def __init__(self, *, blend=0.5, shrinkage=0.0, priors=None, estimate="plugin", calibrate=False):
        self.blend = blend
        self.shrinkage = shrinkage
        self.priors = priors
        self.estimate = estimate
        self.calibrate = calibrate

    def _family(self, tally: Bundle | None = None) -> GaussianJoint | GaussianJointBayes:
        if self.estimate == "bayes":
            return GaussianJointBayes(self._setting("blend"))
        return GaussianJoint(self._setting("blend"), self._setting("shrinkage"))

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The regularised covariance of each class (of all, where blend = 1)."""
        return [self._view(cov.dense()) for cov in self._check_is_fitted().params.covs]
