"""Discriminant analysis with full covariances: what LDA, QDA, RDA and Fisher share, and the last three of them."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from deciban import decision
from deciban.classifiers.base import Generative
from deciban.classifiers.origin import same_library
from deciban.classifiers.scoring import joined
from deciban.covariance import Covariance, Full
from deciban.errors import DataError, NotAdditiveError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.gaussians import LOG_2PI, Own, floored, singular
from deciban.table import Table
from deciban.tallies import Bundle


class Discriminant(Generative):
    """Base of the classifiers over joint Gaussians (or joint second moments)."""

    _reads = "dense"
    _keeps_kind = True
    _parameter_constraints: dict = {"priors": ["array-like", None]}

    def _given_priors(self) -> np.ndarray | None:
        """`priors` as probabilities."""
        if self.priors is None:
            return None
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != self.classes_.shape:
            raise DataError(f"Number of priors must match number of classes ({len(self.classes_)}).")
        if (priors < 0).any():
            raise DataError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
            priors /= priors.sum()
        return priors

    def _check_settings(self) -> None:
        self._priors = self._given_priors()

    def _check_fitted(self) -> None:
        fitted = self._fitted
        seen, complete = fitted.tally.parts[0].n, fitted.tally.parts[1].n
        bare = (seen > 0) & (complete <= 0)
        if bare.any():
            raise DataError(
                f"every row of class {list(self.classes_[bare])} has a missing cell\n\n"
                "hint: leave out the columns that are mostly missing, or use GaussianNB, which takes single cells"
            )
        if complete.sum() < seen.sum() * (1 - 1e-9):
            warnings.warn(
                f"rows of weight {seen.sum() - complete.sum():g} of {seen.sum():g} have missing cells; means and "
                "covariances are learned from the others",
                UserWarning,
                stacklevel=3,
            )
        fitted.params  # noqa: B018 (a covariance without inverse shall fail here, not in predict)

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self._priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(self._priors)

    @same_library
    def decision_function(self, X) -> np.ndarray:
        """Log joints up to a term that all classes share, (n, k); for two classes their difference (n,)."""
        scores = self._score(X, finish=joined, plain=True)
        scores = scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores + self._offset()
        return self._origin_of(X).send(scores)

    def _offset(self) -> float:
        return 0.0

    @property
    def priors_(self) -> np.ndarray:
        return self._view(np.exp(self._check_is_fitted().log_prior))

    @property
    def means_(self) -> np.ndarray:
        return self._view(self._check_is_fitted().params.mean)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class Estimator:
    """A covariance estimator of the user's: it sees rows, not tallies, so the model cannot be updated."""

    @staticmethod
    def of(estimator: Any, rows: np.ndarray) -> Full:
        estimator.fit(rows)
        if not hasattr(estimator, "covariance_"):
            raise DataError(f"{type(estimator).__name__} does not have a covariance_ attribute")
        return Full(np.atleast_2d(estimator.covariance_))

    @staticmethod
    def check(shrinkage: Any, estimator: Any) -> None:
        if estimator is not None and shrinkage is not None and shrinkage != 0:
            raise DataError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    @staticmethod
    def check_additive(estimator: Any) -> None:
        if estimator is not None:
            raise NotAdditiveError(
                "a `covariance_estimator` needs all rows at once: no update, merge or forgetting\n\n"
                "hint: use `shrinkage` (a number, or 'auto' for Ledoit–Wolf), which can"
            )


class QuadraticDiscriminantAnalysis(Discriminant):
    """A Gaussian with a covariance of its own for each class: quadratic boundaries.

    Parameters are scikit-learn's. A class whose covariance has no inverse (constant or collinear columns, too few rows)
    is no error: `tol` times the usual variances is added to it, and `singular_` names the class.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _parameter_constraints: dict = {
        **Discriminant._parameter_constraints,
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both"), None],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
    }

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
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _family(self, tally: Bundle | None = None) -> GaussianJoint:
        ridge = self.reg_param if self.solver == "svd" else 0.0
        return GaussianJoint(0.0, 0.0 if self.shrinkage is None else self.shrinkage, ridge, floor=self.tol)

    def _check_additive(self) -> None:
        Estimator.check_additive(self.covariance_estimator)

    def _check_settings(self) -> None:
        super()._check_settings()
        if len(self.classes_) < 2:
            raise DataError(f"The number of classes has to be greater than one. Got {len(self.classes_)} class.")
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise DataError("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        Estimator.check(self.shrinkage, self.covariance_estimator)
        self._covs: list[Covariance] | None = None

    def _check_fit(self, table: Table, whole: bool) -> None:
        rows = np.bincount(table.y, minlength=table.k)
        if whole and (rows == 1).any():
            raise DataError(
                f"y has only 1 sample in class {self.classes_[rows == 1][0]}, covariance is ill defined.\n\n"
                "hint: RegularizedDiscriminantAnalysis borrows from the other classes"
            )
        if self.covariance_estimator is not None:
            X = np.asarray(table.x.rows(0, table.n).values)
            self._covs = [Estimator.of(self.covariance_estimator, X[table.y == c]) for c in range(table.k)]

    def _estimate(self, family: GaussianJoint, tally: Bundle) -> Own:
        if self._covs is None:
            return family.estimate(tally.parts[1])  # type: ignore[return-value]
        return Own.of(tally.parts[1].mean, floored(self._covs, tally.parts[0].n, self.tol))

    @property
    def singular_(self) -> np.ndarray:
        """The classes whose covariance had no inverse and was given a floor: see to more rows, or shrinkage."""
        fitted = self._check_is_fitted()
        family, t = fitted.family, fitted.tally.parts[1]
        covs = self._covs if self._covs is not None else family.blended(family.shrunk(t), t.n)
        return self.classes_[singular(covs, self.tol)]

    def _offset(self) -> float:
        return 0.5 * self.n_features_in_ * LOG_2PI

    @property
    def covariance_(self) -> list[np.ndarray]:
        if not self.store_covariance:
            raise AttributeError("`covariance_` is there with `store_covariance=True`")
        return [self._view(cov.dense()) for cov in self._check_is_fitted().params.covs]

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The variances along each class's `rotations_`, from the largest."""
        return [self._view(cov.spectrum()[0]) for cov in self._check_is_fitted().params.covs]

    @property
    def rotations_(self) -> list[np.ndarray]:
        return [self._view(cov.spectrum()[1]) for cov in self._check_is_fitted().params.covs]


class RegularizedDiscriminantAnalysis(Discriminant):
    """Between QDA and LDA, and towards spheres (Friedman 1989).

    `blend` moves each class's covariance towards the pooled one (0: QDA, 1: LDA), `shrinkage` then moves it towards the
    scaled identity (0 … 1; for columns in like units. Or "auto": Ledoit–Wolf for each class before blending). Works for
    classes of one row, and for more columns than rows.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> RegularizedDiscriminantAnalysis(blend=0.5).fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _parameter_constraints: dict = {
        **Discriminant._parameter_constraints,
        "blend": [Interval(Real, 0, 1, closed="both")],
        "shrinkage": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, *, blend=0.5, shrinkage=0.0, priors=None):
        self.blend = blend
        self.shrinkage = shrinkage
        self.priors = priors

    def _family(self, tally: Bundle | None = None) -> GaussianJoint:
        return GaussianJoint(self.blend, self.shrinkage)

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The regularised covariance of each class (of all, where blend = 1)."""
        return [self._view(cov.dense()) for cov in self._check_is_fitted().params.covs]
