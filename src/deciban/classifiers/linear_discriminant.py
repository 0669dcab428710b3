"""Linear discriminant analysis: one covariance for all classes, linear boundaries, a projection that shows them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import ingest
from deciban.classifiers.discriminant import Estimator, Solved, cells, more_rows_than_classes
from deciban.classifiers.origin import same_library
from deciban.classifiers.scoring import joined
from deciban.covariance import Covariance, Full, shrink
from deciban.errors import DataError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes
from deciban.gaussian.axes import Axes
from deciban.gaussian.joint import Pooled, Students, mixed
from deciban.leaving.downdate import Span
from deciban.packed import Packed
from deciban.shrinkage import ledoit_wolf
from deciban.table import Table
from deciban.tallies import Bundle, Quartic


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Solved):
    """Gaussians that share one covariance: a linear (softmax) posterior, and a supervised projection (`transform`).

    Parameters are scikit-learn's; every solver transforms. `shrinkage="auto"` (Ledoit–Wolf) can be updated and merged
    like the rest; "loo" takes the amount that makes held-out rows most probable. `calibrate=True` makes probabilities
    honest by leave-one-out. With more columns than rows only n × n matrices are formed.

    `estimate="bayes"` integrates means and covariance out (families/gaussian_joint_bayes.py): a multivariate t for each
    class, of one scale matrix. Its posterior is not linear, so there is no `coef_`; `transform` works as ever, and
    `evidence_` is the log density of all rows.

    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` they are left out.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen"
        As scikit-learn's; every solver transforms.
    shrinkage : None, "auto", "loo" or a number of 0 … 1
        "auto": Ledoit–Wolf; "loo": what makes held-out rows most probable.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    n_components : int or None
        Axes that `transform` keeps.
    store_covariance : bool
        Whether solver "svd" keeps `covariance_`.
    tol : float
        Singular values under it are left out by solver "svd".
    covariance_estimator : estimator or None
        Another estimate of the covariance; such a model is not updated.
    estimate : "plugin" or "bayes"
        "bayes": means and covariance are integrated out.
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
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        The linear scores.
    covariance_ : ndarray of shape (d, d)
        The shared covariance (solver "svd": with `store_covariance=True`).
    scalings_, xbar_, explained_variance_ratio_ : ndarrays
        The projection of `transform`: axes, origin, and share of the between-class variance of each axis.
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
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.transform(X).shape
    ([1], (6, 1))
    """

    _least_rows = 2
    _parameter_constraints: dict = {
        **Solved._parameter_constraints,
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }
    _no_estimator = "covariance estimator is not supported with svd solver. Try another solver"

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
        *,
        estimate="plugin",
        calibrate=False,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.estimate = estimate
        self.calibrate = calibrate

    def _family(self, tally: Bundle | None = None) -> GaussianJoint | GaussianJointBayes:
        if self.estimate == "bayes":
            return GaussianJointBayes(1.0)
        if self.solver == "svd":
            return GaussianJoint(1.0, tol=self.tol**2)
        return GaussianJoint(1.0, self._setting("shrinkage") or 0.0, mix=self._priors)

    def _check_settings(self) -> None:
        super()._check_settings()
        most = min(len(self.classes_) - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise DataError(f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}.")
        self._max_components = most if self.n_components is None else self.n_components

    def _bare(self, reading: Any) -> Self:
        """Given priors weigh the covariances of the classes, so these are tallied apart, whatever the priors are."""
        out = super()._bare(reading)
        if self.priors is not None:
            out._priors = np.full(len(out.classes_), 1.0 / len(out.classes_))
        return out

    def _check_rows(self, rows: np.ndarray) -> None:
        more_rows_than_classes(rows)

    def _check_fit(self, table: Table, whole: bool) -> None:
        super()._check_fit(table, whole)
        if self.covariance_estimator is not None:
            X = cells(table.x)
            own = [Estimator.of(self.covariance_estimator, X[table.y == c]) for c in range(table.k)]
            self._covs = [*own, Estimator.of(self.covariance_estimator, X)]

    def _estimate(self, family: GaussianJoint | GaussianJointBayes, tally: Bundle) -> Projected:
        n, t = tally.parts[0].n, tally.parts[1]
        priors = n / n.sum() if self._priors is None else self._priors
        if isinstance(family, GaussianJointBayes):
            return Predictive(self, family.estimate(t), tally, priors)
        if self._covs is not None:
            base = Pooled.of(t.mean, mixed(self._covs[:-1], priors), priors @ t.mean, family.tol)
        else:
            base = family.estimate(t, centre=priors @ t.mean)  # type: ignore[assignment]
        return Projected(self, base, tally, priors)

    def _leave_one_out(self, family: Any, tally: Bundle, chunk: Table) -> np.ndarray:
        if self.solver != "svd" or not isinstance(family, GaussianJoint):
            return super()._leave_one_out(family, tally, chunk)
        given = self._priors
        span = Span(self.tol, tally.parts[0].n if given is None else given, given is not None)
        return family.leave_one_out(tally.parts[1], chunk.x, chunk.y, chunk.w, span)  # type: ignore[arg-type]

    @property
    def _n_features_out(self) -> int:
        return self._max_components

    @same_library
    def transform(self, X) -> np.ndarray:
        """X in the directions that separate the classes best, (n, n_components)."""
        p = self._check_is_fitted().params
        x = ingest.features(self, X, self._reads)
        scalings = p.axes.scalings[:, : self._max_components]
        out = cells(x) @ scalings
        if self.solver == "svd":
            out -= p.base.centre @ scalings
        return self._origin_of(X).send(out)

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        if self.estimate == "bayes":
            raise AttributeError('with `estimate="bayes"` scores are not linear in x: there are no coefficients')
        fitted = self._check_is_fitted()
        coef, bias = fitted.params.coef.table, fitted.params.bias
        if fitted.calibration is not None:
            coef, bias = fitted.calibration.linear(coef, bias)
        coef, bias = coef + self._shift()[0], bias + self._shift()[1] + fitted.log_prior
        if len(self.classes_) == 2:
            coef, bias = coef[1:] - coef[:1], bias[1:] - bias[:1]
        return np.ascontiguousarray(coef), bias

    def _shift(self) -> tuple[np.ndarray, float]:
        """(slope, constant) that scikit-learn's lsqr and eigen solvers have in every class's score beyond ours: theirs
        are not centred. It cancels in the posterior, but not in rounding, so it is added for show only."""
        base = self._check_is_fitted().params.base
        if self.solver == "svd":
            return np.zeros_like(base.centre), 0.0
        slope = base.precision.apply(base.centre[None])[0]
        return slope, -0.5 * float(slope @ base.centre)

    @same_library
    def decision_function(self, X) -> np.ndarray:
        """x · coef_ + intercept_: (n, k), or (n,) for two classes."""
        self._check_is_fitted()
        if self.solver == "svd" or len(self.classes_) == 2 or self.estimate == "bayes":
            return super().decision_function(X)
        slope, constant = self._shift()
        x = ingest.features(self, X, self._reads)
        scores = self._score(X, finish=joined, plain=True) + (cells(x) @ slope + constant)[:, None]
        return self._origin_of(X).send(scores)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the linear scores, (1 or k, d)."""
        return self._view(self._linear()[0])

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the linear scores, (1 or k,)."""
        return self._view(self._linear()[1])

    @property
    def covariance_(self) -> np.ndarray:
        """The covariance, or one for each class."""
        p = self._check_is_fitted().params
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("`covariance_` is there with `store_covariance=True`")
        return self._view(p.covs[0].dense())

    @property
    def scalings_(self) -> np.ndarray:
        """Axes of the projection, in columns."""
        return self._view(self._check_is_fitted().params.axes.scalings)

    @property
    def xbar_(self) -> np.ndarray:
        """The overall mean, which `transform` subtracts."""
        return self._view(self._check_is_fitted().params.base.centre)

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Share of the between-class variance along each axis."""
        return self._view(self._check_is_fitted().params.axes.ratio[: self._max_components])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = self.solver == "svd"
        return tags


class Projected:
    """A pooled Gaussian with the axes of the projection; scores as its base does."""

    def __init__(self, model: LinearDiscriminantAnalysis, base: Pooled, tally: Bundle, priors: np.ndarray):
        self.model, self.tally, self.priors = model, tally, priors
        self.base = base if model.solver != "svd" else self._within_axes(base)

    def _within_axes(self, base: Pooled) -> Pooled:
        """Coefficients in the span of the axes, as scikit-learn's svd solver has them."""
        axes = self.__dict__["axes"] = Axes.from_means(base, self.priors, self.model.tol)
        z = (base.mean - base.centre) @ axes.scalings
        coef = z @ axes.scalings.T
        bias = -0.5 * (z**2).sum(axis=1) - coef @ base.centre
        return replace(base, coef=Packed.of(coef), bias=bias)

    @cached_property
    def axes(self) -> Axes:
        within, total = self.base.covs[0], self._total()
        if isinstance(within, Full) and isinstance(total, Full) and within.least_correlation() > 1e-12:
            return Axes.generalised(within.matrix, total.matrix)
        return Axes.from_inverse(self.base, self.priors)

    def _total(self) -> Covariance | None:
        """The covariance of all rows, shrunk like the one within classes."""
        model, t = self.model, self.tally.parts[1]
        if model._covs is not None:
            return model._covs[-1]
        if isinstance(t, Quartic):
            whole = t.collapse()
            return shrink(Full(whole.p11[0] / whole.n[0]), *ledoit_wolf(whole, 0))
        if not hasattr(t, "scatter"):
            return None
        n = t.n.sum()
        centred = t.mean - t.n @ t.mean / n
        total = Full((t.scatter.sum(axis=0) + (centred * t.n[:, None]).T @ centred) / n)
        return shrink(total, model._setting("shrinkage") or 0.0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)


class Predictive(Projected):
    """A t for each class, and the axes of the Gaussian that has the expected parameters."""

    splits = False  # the columns of a t do not speak alone

    def __init__(self, model: LinearDiscriminantAnalysis, students: Students, tally: Bundle, priors: np.ndarray):
        self.model, self.tally, self.priors = model, tally, priors
        self.base = Pooled.of(students.mean, students.covs[0], priors @ students.mean, 0.0)
        self.part, self.loglik, self.draw = students.part, students.loglik, students.draw

    @cached_property
    def axes(self) -> Axes:
        return Axes.from_inverse(self.base, self.priors)
