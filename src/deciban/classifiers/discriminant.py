"""Discriminant analysis with full covariances: what LDA, QDA, RDA and Fisher share.

>>> import numpy as np
>>> from deciban import LinearDiscriminantAnalysis
>>> X = np.array([[0.0, 1], [1, np.nan], [1, 2], [4, 5], [np.nan, 4], [5, 5]])
>>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])  # rows with missing cells teach too, by EM
>>> model.predict([[np.nan, 1.5], [4.5, np.nan]]).tolist()
[0, 1]
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from deciban import decision
from deciban.classifiers import em, em_on_data
from deciban.classifiers.base import Generative
from deciban.classifiers.given_priors import PRIORS
from deciban.classifiers.origin import same_library
from deciban.classifiers.parts import rows_of
from deciban.classifiers.scoring import joined
from deciban.covariance import Covariance, Full
from deciban.errors import DataError, NotAdditiveError
from deciban.families.gaussian_joint import GaussianJoint
from deciban.table import Block, Reals, Table
from deciban.tallies import Bundle

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
        if _left_out(tally) == 0 or (family := self._filler()) is None or not em.workable(table.k, table.d):
            return tally
        learned = em.learn(family, table, tally.parts[1])
        self.n_iter_ = learned.steps
        return Bundle((tally.parts[0], learned.tally))

    def _learn_on(self, job: Any) -> None:
        self._name_columns(job.reading)
        part, steps = job.sum_of_parts(self._bare(job.reading)), 0
        if (
            part.tally is not None
            and _left_out(part.tally)
            and job.repeats
            and em.workable(*part.tally.parts[1].mean.shape)
        ):
            self.classes_ = part.classes
            self._check_settings()
            if (family := self._filler()) is not None:
                part, steps = em_on_data.filled(job, family, part)
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

    @same_library
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
