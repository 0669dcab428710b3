"""Discriminant analysis with full covariances: what LDA, QDA, RDA and Fisher share.

>>> import numpy as np
>>> from deciban import LinearDiscriminantAnalysis
>>> X = np.array([[0.0, 1], [1, np.nan], [1, 2], [4, 5], [np.nan, 4], [5, 5]])
>>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])  # rows with missing cells teach too, by EM
>>> model.predict([[np.nan, 1.5], [4.5, np.nan]]).tolist()
[0, 1]

Linear discriminant analysis: one covariance for all classes, linear boundaries, a projection that shows them.

Quadratic discriminant analysis, and the regularised one between it and the linear.

Fisher's discriminant as a classifier.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from deciban import decision
from deciban.classifiers.base import PRIORS, Generative, joined
from deciban.data.blocks import Block, Reals, Table
from deciban.errors import DataError, NotAdditiveError
from deciban.families.fisher import Fisher, pairs
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes
from deciban.gaussian.covariance import Covariance, DenseCovariance, ledoit_wolf, shrink
from deciban.gaussian.joint import LOG_2PI, Axes, ClassGaussian, MultivariateT, PooledGaussian, floored, mixed, singular
from deciban.gaussian.leave_one_out import Span
from deciban.models import em
from deciban.ops.packed import Packed
from deciban.rows import inputs
from deciban.rows.readers import check_same_array_library
from deciban.rows.rows import rows_of
from deciban.tallies import Bundle, Quartic

SHRINKAGES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)  # to choose from by leave-one-out


class Discriminant(Generative):
    """Base of the classifiers over joint Gaussians (or joint second moments)."""

    _reads = "dense"
    _keeps_kind = True
    _parameter_constraints: dict = {"priors": PRIORS}
    estimate = "plugin"  # a setting of most: whether parameters are put in as estimated, or integrated out ("bayes")
    n_iter_ = 0  # steps of EM, where rows with missing cells were learned from

    def _given_priors(self) -> np.ndarray | None:
        """`priors` as probabilities."""
        if self.priors is None:
            return None
        priors = decision.prior_weights(self.priors, self.classes_)
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
            priors /= priors.sum()
        return priors

    def _check_settings(self) -> None:
        self._priors = self._given_priors()
        self.n_iter_ = 0
        for name in ("shrinkage", "reg_param", "covariance_estimator"):
            if self.estimate == "bayes" and getattr(self, name, None) not in (None, 0):
                raise DataError(
                    f"`{name}={getattr(self, name)!r}` beside estimate='bayes': there, the prior does the shrinking\n\n"
                    f"hint: leave `{name}` out, or use estimate='plugin'"
                )

    def _check_rows(self, rows: np.ndarray) -> None:
        """Refuse classes of too few rows (k,)."""

    def _check_fit(self, table: Table, whole: bool) -> None:
        if whole:
            self._check_rows(rows_of(table))

    # missing cells

    def _filler(self) -> Any:
        """The family whose Gaussians fill in missing cells; None where a setting needs the rows themselves."""
        family = self._family()
        if isinstance(getattr(family, "shrinkage", None), str):
            return None
        return family if hasattr(family, "gaussians") else GaussianJoint()

    def _tally_whole(self, table: Table) -> Bundle:
        tally = self._tally(table)
        if _left_out(tally) == 0 or (family := self._filler()) is None or not em.fits_in_memory(table.k, table.d):
            return tally
        learned = em.fill_missing(family, table, tally.parts[1])
        self.n_iter_ = learned.steps
        return Bundle((tally.parts[0], learned.tally))

    def _learn_on(self, job: Any) -> None:
        self._name_columns(job.reading)
        part, steps = job.sum_of_parts(self._bare(job.reading)), 0
        if (
            part.tally is not None
            and _left_out(part.tally)
            and job.repeats
            and em.fits_in_memory(*part.tally.parts[1].mean.shape)
        ):
            self.classes_ = part.classes
            self._check_settings()
            if (family := self._filler()) is not None:
                part, steps = em.fill_missing_on(job, family, part)
        self._take_part(part)
        self.n_iter_ = steps

    def _check_fitted(self) -> None:
        fitted = self._fitted
        seen, complete = fitted.tally.parts[0].n, fitted.tally.parts[1].n
        bare = (seen > 0) & (complete <= 0)
        if bare.any():
            raise DataError(
                f"every row of class {list(self.classes_[bare])} has a missing cell\n\n"
                "hint: leave out the columns that are mostly missing, or use GaussianNB, which takes single cells"
            )
        self._warn_of(_left_out(fitted.tally))
        fitted.params  # noqa: B018 (a covariance without inverse shall fail here, not in predict)

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same state as one `fit` on all of them. New classes may come at any time, unless
        the first call named all `classes`. Rows with missing cells are left out of means and covariances, with a
        warning: EM needs all rows at once."""
        before = _left_out(self._fitted.tally) if self.__sklearn_is_fitted__() else 0.0
        super().partial_fit(X, y, classes, sample_weight)
        self._warn_of(_left_out(self._fitted.tally) - before)
        return self

    def _warn_of(self, left_out: float) -> None:
        if left_out > 0:
            warnings.warn(
                f"rows of weight {left_out:g} of {self._fitted.tally.parts[0].n.sum():g} have missing cells; means and "
                "covariances are learned from the others",
                UserWarning,
                stacklevel=4,
            )

    def _leave_one_out(self, family: Any, tally: Bundle, chunk: Table) -> np.ndarray:
        out = super()._leave_one_out(family, tally, chunk)
        gaps = np.flatnonzero(np.isnan(np.asarray(chunk.x.values)).any(axis=1))  # type: ignore[union-attr]
        if len(gaps):  # not in the sums (or, after EM, in them by what was expected of it): nothing to take out
            out[gaps] = family.loglik(self._fitted.params, chunk.x.take(gaps))
        return out

    def _check_additive(self) -> None:
        if self.n_iter_ > 0:
            raise NotAdditiveError(
                "the model has learned from rows with missing cells by EM, which needs all rows at once: no update, "
                "merge or forgetting\n\nhint: fill in the cells, or leave out rows that miss some, and fit again"
            )

    def _check_mergeable(self, other: Self) -> None:
        other._check_additive()
        super()._check_mergeable(other)

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self._priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(self._priors)

    @check_same_array_library
    def decision_function(self, X) -> np.ndarray:
        """Log joints up to a term that all classes share, (n, k); for two classes their difference (n,)."""
        scores = self._score(X, finish=joined, plain=True)
        scores = scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores + self._offset()
        return self._origin_of(X).send(scores)

    def _offset(self) -> float:
        return 0.0

    @property
    def evidence_(self) -> float:
        """log p(X | y) with means and covariances integrated out, where `estimate="bayes"`: compare models of the same
        rows by it. The prior is scaled by these rows (see families/gaussian_joint_bayes.py)."""
        fitted = self._check_is_fitted()
        if self.estimate != "bayes":
            raise AttributeError('`evidence_` is there with `estimate="bayes"`')
        if self.n_iter_ > 0:
            raise AttributeError("`evidence_` has a closed form only where no cell is missing in training")
        if 0 < fitted.family.blend < 1:
            raise AttributeError("`evidence_` is there with `blend=0` or `blend=1`: what is blended has no density")
        return float(fitted.family.evidence(fitted.tally.parts[1]).sum())

    @property
    def priors_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        return self._view(np.exp(self._check_is_fitted().log_prior))

    @property
    def means_(self) -> np.ndarray:
        """Means of each class and column, (k, d)."""
        return self._view(self._check_is_fitted().params.mean)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class Estimator:
    """A covariance estimator of the user's: it sees rows, not tallies, so the model cannot be updated."""

    @staticmethod
    def of(estimator: Any, rows: np.ndarray) -> DenseCovariance:
        estimator.fit(rows)
        if not hasattr(estimator, "covariance_"):
            raise DataError(f"{type(estimator).__name__} does not have a covariance_ attribute")
        return DenseCovariance(np.atleast_2d(estimator.covariance_))

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


class Solved(Discriminant):
    """What the settings of LDA and QDA share: a solver, shrinkage, and a covariance estimator of the user's."""

    _parameter_constraints: dict = {
        **Discriminant._parameter_constraints,
        "shrinkage": [StrOptions({"auto", "loo"}), Interval(Real, 0, 1, closed="both"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "estimate": [StrOptions({"plugin", "bayes"})],
        "calibrate": ["boolean"],
    }
    _tunable = {"shrinkage": ("loo", SHRINKAGES)}
    _no_estimator: str  # what the svd solver says to a covariance estimator

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise DataError(self._no_estimator)
        Estimator.check(self.shrinkage, self.covariance_estimator)
        if self.calibrate and self.covariance_estimator is not None:
            raise DataError(
                "calibrate=True takes rows out of sums, which a `covariance_estimator` does not have\n\n"
                "hint: use `shrinkage`, or scikit-learn's CalibratedClassifierCV"
            )
        self._covs: list[Covariance] | None = None

    def _check_additive(self) -> None:
        super()._check_additive()
        Estimator.check_additive(self.covariance_estimator)

    def _filler(self) -> Any:
        return None if self.covariance_estimator is not None else super()._filler()


def more_rows_than_classes(rows: np.ndarray) -> None:
    """Refuse rows of each class (k,) that say nothing about their spread."""
    if rows.sum() <= len(rows):
        raise DataError(
            f"The number of samples must be more than the number of classes ({len(rows)}), not {rows.sum()}."
        )


def cells(x: Block) -> np.ndarray:
    """All cells, (n, d)."""
    assert isinstance(x, Reals)
    return np.asarray(x.rows(0, x.n).values)


def _left_out(tally: Bundle) -> float:
    """The weight of the rows that a tally of complete rows is short of."""
    seen, complete = tally.parts[0].n.sum(), tally.parts[1].n.sum()
    return float(seen - complete) if complete < seen * (1 - 1e-9) else 0.0


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
            base = PooledGaussian.of(t.mean, mixed(self._covs[:-1], priors), priors @ t.mean, family.tol)
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

    @check_same_array_library
    def transform(self, X) -> np.ndarray:
        """X in the directions that separate the classes best, (n, n_components)."""
        p = self._check_is_fitted().params
        x = inputs.features(self, X, self._reads)
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

    @check_same_array_library
    def decision_function(self, X) -> np.ndarray:
        """x · coef_ + intercept_: (n, k), or (n,) for two classes."""
        self._check_is_fitted()
        if self.solver == "svd" or len(self.classes_) == 2 or self.estimate == "bayes":
            return super().decision_function(X)
        slope, constant = self._shift()
        x = inputs.features(self, X, self._reads)
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

    def __init__(self, model: LinearDiscriminantAnalysis, base: PooledGaussian, tally: Bundle, priors: np.ndarray):
        self.model, self.tally, self.priors = model, tally, priors
        self.base = base if model.solver != "svd" else self._within_axes(base)

    def _within_axes(self, base: PooledGaussian) -> PooledGaussian:
        """Coefficients in the span of the axes, as scikit-learn's svd solver has them."""
        axes = self.__dict__["axes"] = Axes.from_means(base, self.priors, self.model.tol)
        z = (base.mean - base.centre) @ axes.scalings
        coef = z @ axes.scalings.T
        bias = -0.5 * (z**2).sum(axis=1) - coef @ base.centre
        return replace(base, coef=Packed.of(coef), bias=bias)

    @cached_property
    def axes(self) -> Axes:
        within, total = self.base.covs[0], self._total()
        if (
            isinstance(within, DenseCovariance)
            and isinstance(total, DenseCovariance)
            and within.least_correlation() > 1e-12
        ):
            return Axes.generalised(within.matrix, total.matrix)
        return Axes.from_inverse(self.base, self.priors)

    def _total(self) -> Covariance | None:
        """The covariance of all rows, shrunk like the one within classes."""
        model, t = self.model, self.tally.parts[1]
        if model._covs is not None:
            return model._covs[-1]
        if isinstance(t, Quartic):
            whole = t.collapse()
            return shrink(DenseCovariance(whole.p11[0] / whole.n[0]), *ledoit_wolf(whole, 0))
        if not hasattr(t, "scatter"):
            return None
        n = t.n.sum()
        centred = t.mean - t.n @ t.mean / n
        total = DenseCovariance((t.scatter.sum(axis=0) + (centred * t.n[:, None]).T @ centred) / n)
        return shrink(total, model._setting("shrinkage") or 0.0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)


class Predictive(Projected):
    """A t for each class, and the axes of the Gaussian that has the expected parameters."""

    splits = False  # the columns of a t do not speak alone

    def __init__(self, model: LinearDiscriminantAnalysis, students: MultivariateT, tally: Bundle, priors: np.ndarray):
        self.model, self.tally, self.priors = model, tally, priors
        self.base = PooledGaussian.of(students.mean, students.covs[0], priors @ students.mean, 0.0)
        self.part, self.loglik, self.draw = students.part, students.loglik, students.draw

    @cached_property
    def axes(self) -> Axes:
        return Axes.from_inverse(self.base, self.priors)


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

    def _estimate(self, family: GaussianJoint | GaussianJointBayes, tally: Bundle) -> ClassGaussian | MultivariateT:
        if self._covs is None:
            return family.estimate(tally.parts[1])  # type: ignore[return-value]
        return ClassGaussian.of(tally.parts[1].mean, floored(self._covs, tally.parts[0].n, self.tol))

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


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Discriminant):
    """Separate classes along w = (Σ_k + Σ_l)⁻¹ (μ_k − μ_l), assuming means and covariances but no Gaussians.

    The threshold is the minimax one: it bounds the error for every distribution with these moments. More than two
    classes: all pairs, coupled (`multi="pairwise"`), or the same within the leading `n_components` axes of the
    generalised eigenproblem (`multi="eigen"`). Where covariances agree, posteriors are those of LDA.

    Parameters
    ----------
    multi : "pairwise" or "eigen"
        How more than two classes are told apart: by all pairs, or within the leading axes.
    n_components : int or None
        Axes that `multi="eigen"` and `transform` keep.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.

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
    coef_, intercept_ : ndarrays
        Direction and threshold of each pair of classes.
    n_iter_ : int
        Steps of EM, where rows had missing cells.
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
    >>> X = np.array([[0.0, 0], [1, 1], [0, 1], [4, 4], [5, 5], [4, 5]])
    >>> model = FisherDiscriminant().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[1.0, 0.5], [4.0, 4.5]]).tolist()
    [0, 1]
    >>> bool(np.allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_))
    True
    """

    _least_rows = 2
    _parameter_constraints: dict = {
        **Discriminant._parameter_constraints,
        "multi": [StrOptions({"pairwise", "eigen"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(self, *, multi="pairwise", n_components=None, priors=None):
        self.multi = multi
        self.n_components = n_components
        self.priors = priors

    def _family(self, tally: Bundle | None = None) -> Fisher:
        return Fisher(None if self.multi == "pairwise" else self._n_features_out)

    def _check_settings(self) -> None:
        super()._check_settings()
        most = min(len(self.classes_) - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise DataError(f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}.")

    def _check_rows(self, rows: np.ndarray) -> None:
        more_rows_than_classes(rows)

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        return most if self.n_components is None else self.n_components

    @check_same_array_library
    def transform(self, X) -> np.ndarray:
        """X along the leading axes of the generalised eigenproblem, (n, n_components)."""
        p = self._check_is_fitted().params
        x = inputs.features(self, X, self._reads)
        out = cells(x) @ p.axes(self._n_features_out)
        return self._origin_of(X).send(out)

    @property
    def coef_(self) -> np.ndarray:
        """The slopes of the log odds of all pairs of classes (1 : 0, 2 : 0, …, 2 : 1, …), (pairs, d): −2w each, so that
        they point to the class that comes later, as those of LDA do. `decision_function(X)` of two classes is
        X @ coef_.T + intercept_; more are coupled."""
        return self._view(np.ascontiguousarray(-self._check_is_fitted().params.coef.table))

    @property
    def intercept_(self) -> np.ndarray:
        """Twice the threshold of each pair, plus the log odds of the priors, (pairs,)."""
        fitted = self._check_is_fitted()
        prior, of = fitted.log_prior, pairs(len(self.classes_))
        with np.errstate(invalid="ignore"):  # classes without rows
            return self._view(np.array([prior[b] - prior[a] for a, b in of]) - fitted.params.bias)
