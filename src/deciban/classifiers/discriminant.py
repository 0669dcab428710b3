"""Discriminant analysis with full covariances: linear, quadratic, regularised, and Fisher's.

>>> import numpy as np
>>> from deciban import LinearDiscriminantAnalysis
>>> X = np.array([[0.0, 1], [1, np.nan], [1, 2], [4, 5], [np.nan, 4], [5, 5]])
>>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])  # incomplete rows are used too, by EM
>>> model.predict([[np.nan, 1.5], [4.5, np.nan]]).tolist()
[0, 1]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from deciban.classifiers.base import LEDGER, PRIORS, SAMPLE, CodedColumns, Generative, HasMethods, Interval, StrOptions
from deciban.data.blocks import Block, Reals
from deciban.decision import Prior
from deciban.errors import DataError, NotAdditiveError, levels_up
from deciban.families.fisher import Fisher, pairs
from deciban.families.gaussian_joint import GaussianJoint
from deciban.families.gaussian_joint_bayes import GaussianJointBayes
from deciban.gaussian.covariance import Covariance, DenseCovariance, LowRankCovariance, ledoit_wolf, shrink
from deciban.gaussian.joint import Axes, PooledGaussian, by_pattern, mixed, singular
from deciban.models.em import left_out
from deciban.models.model import Known, Spec, State, fixed_family
from deciban.models.posterior import FamilyScores
from deciban.rows.coding import GAUSSIAN, GAUSSIAN_BY_CLASS, CodingRule
from deciban.rows.readers import TableReader
from deciban.rows.rows import ArrayRows, Rows
from deciban.rows.sample import SIZE
from deciban.rows.schema import Schema
from deciban.tallies import CentredScatter, Quartic, Scatter
from deciban.tallies.ledger import key_from_setting

SHRINKAGES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)  # candidates for leave-one-out
BLENDS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97)  # below 1, which has another tally
TUNE_ROWS = 1 << 10  # rows by whose leave-one-out scores these are chosen
ALL = 1 << 30  # more axes than there are
LOST = 256.0  # times a sum of squares that `forget` leaves: had it been more, rounding shows beyond 1e-12
SOLVED: dict[str, list] = {  # settings that LDA and QDA share
    "priors": PRIORS,
    "shrinkage": [StrOptions({"auto", "loo"}), Interval(Real, 0, 1, closed="both"), None],
    "store_covariance": ["boolean"],
    "ddof": [Interval(Real, 0, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "covariance_estimator": [HasMethods("fit"), None],
    "estimate": [StrOptions({"plugin", "bayes"})],
    "exact": ["boolean"],
    "calibrate": ["boolean"],
    **SAMPLE,
    **LEDGER,
}


class DiscriminantAnalysis(CodedColumns, Generative):
    """Base of the classifiers over joint Gaussians (or joint second moments)."""

    _coding_rule: ClassVar[CodingRule] = GAUSSIAN

    @property
    def n_iter_(self) -> int:
        """Steps of EM, if rows had missing cells."""
        return self._fitted_state().known.steps

    @classmethod
    def from_parameters(
        cls, means, covariance, *, class_prior=None, classes=None, feature_names=None, **settings
    ) -> Self:
        """The model with these means and covariances.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        means : array-like of shape (k, d)
            Mean of each class and column.
        covariance : array-like of shape (d, d) or (k, d, d)
            The covariance that all classes share (`LinearDiscriminantAnalysis`), or one for each class.
        class_prior : sequence, mapping by class or None
            Class priors, in the order of `classes`; None: uniform.
        classes : sequence or None
            The labels of the rows of the arrays, in any order; None: 0, 1, … .
        feature_names : sequence of texts or None
            Names of the columns.
        **settings
            Settings of the constructor.

        Returns
        -------
        classifier
            A fitted model.

        Examples
        --------
        >>> from deciban import LinearDiscriminantAnalysis
        >>> model = LinearDiscriminantAnalysis.from_parameters([[0.0, 0.0], [2.0, 2.0]], [[1.0, 0.5], [0.5, 1.0]])
        >>> model.predict_proba([[1.0, 1.0]]).tolist(), model.sample(3, random_state=0)[0].shape
        ([[0.5, 0.5]], (3, 2))
        """
        given = {"means": means, "covariance": covariance}
        return cls._from_parameters(given, class_prior, classes, feature_names, settings)

    def _reader(self) -> TableReader:
        return TableReader(type(self).__name__, "dense", keeps_kind=True, rule=self._coding_rule)

    def _make_spec(self, family: Callable, **more: Any) -> Spec:
        prior = Prior(self.priors, sum="renormalised")
        name, settings = type(self).__name__, self.get_params(deep=False)
        ledger = key_from_setting(self.ledger)
        more["tune_rows"] = TUNE_ROWS
        return Spec(name, settings, family, prior, fill_missing=filler, eager=True, ledger=ledger, **more)

    def _check_complete(self, state: State) -> None:
        seen, complete = state.n, state.tally.parts[1].n
        bare = (seen > 0) & (complete <= 0)
        if bare.any():
            raise DataError(
                f"every row of class {list(state.classes[bare])} has a missing cell\n\n"
                "hint: leave out the columns that are mostly missing, or use GaussianNB, which uses incomplete rows"
            )
        warn_of_incomplete(left_out(state.tally), state)
        state.params  # noqa: B018 (a singular covariance fails here, not in predict)

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows: the same state as one `fit` on all of them. New classes may occur at any time, unless
        the first call named all `classes`. Rows with missing cells are left out of means and covariances, with a
        warning: EM needs all rows at once.

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
        before = left_out(self._state.tally) if self.__sklearn_is_fitted__() else 0.0
        super().partial_fit(X, y, classes, sample_weight)
        warn_of_incomplete(left_out(self._state.tally) - before, self._state)
        return self

    def _warn_of_rounding(self, before: State, left: State) -> None:
        had, kept = before.tally.parts[1], left.tally.parts[1]
        if isinstance(had, CentredScatter) and isinstance(kept, CentredScatter):
            left_rows = (kept.n.sum() if kept.pooled else kept.n) > 0
            if (lost_digits(had, kept).any(axis=1) & left_rows).any():
                warnings.warn(
                    "rows that were forgotten lie so far from the others that rounding may have moved covariances by "
                    "more than 1e-12\n\n"
                    "hint: fit again without them, or with exact=True, where forgotten rows leave nothing",
                    UserWarning,
                    stacklevel=levels_up(),
                )

    def _check_additive(self) -> None:
        if self.__sklearn_is_fitted__() and self._state.known.steps > 0:
            raise NotAdditiveError(
                "the model has learned from rows with missing cells by EM, which needs all rows at once: no update, "
                "merge or forgetting\n\nhint: fill in the cells, or leave out rows that miss some, and fit again"
            )

    def decision_function(self, X) -> np.ndarray:
        """Log joints up to a term that all classes share, (n, k); for two classes their difference (n,).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            The scores.
        """
        posterior = self._posterior()
        scores = posterior.joint_scores(X)
        scores = scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores + self._offset(X)
        return posterior.output(X).send(scores)

    def _offset(self, X) -> np.ndarray | float:
        """What makes the scores of more than two classes discriminant scores, (n, 1)."""
        state = self._fitted_state()
        x = state.reader.read(X, "decision_function")
        return by_pattern(x, state.params, lambda part, rows: part.uncentred(rows)[:, None])

    def discriminant_scores(self, X) -> np.ndarray:
        """δ_y(x) of each class, (n, k): log P(x, y) without the terms that all classes share, for any number of
        classes. The softmax of the scores is the posterior (before `calibrate`).

        One covariance: δ_y(x) = xᵀ Σ⁻¹ μ_y − ½ μ_yᵀ Σ⁻¹ μ_y + log P(y), the same for all solvers. Own covariances:
        −½ log det Σ_y − ½ (x − μ_y)ᵀ Σ_y⁻¹ (x − μ_y) + log P(y). `estimate="bayes"`: log P(x, y). Fisher's rule: the
        coupled scores of all pairs, plus log P(y).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k)
            The scores, in the order of `classes_`.

        Examples
        --------
        >>> from deciban import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
        >>> X, y = [[0.0], [2.0], [4.0], [6.0]], [0, 0, 1, 1]
        >>> LinearDiscriminantAnalysis().fit(X, y).discriminant_scores([[3.0]]).round(3).tolist()
        [[1.807, 1.807]]
        >>> QuadraticDiscriminantAnalysis().fit(X, y).discriminant_scores([[3.0]]).round(3).tolist()
        [[-2.693, -2.693]]
        """
        state, posterior = self._fitted_state(), self._posterior()
        plain = replace(posterior, scores=FamilyScores(state.family, state.params))
        return posterior.output(X).send(plain.joint_scores(X) + self._offset(X))

    @property
    def evidence_(self) -> float:
        """log p(X | y) with means and covariances integrated out, with `estimate="bayes"`: compares models of the same
        rows. The prior is scaled by these rows (see families/gaussian_joint_bayes.py)."""
        state = self._fitted_state()
        if not isinstance(state.family, GaussianJointBayes):
            raise AttributeError('`evidence_` is available with `estimate="bayes"`')
        if state.known.steps > 0:
            raise AttributeError("`evidence_` has a closed form only where no cell is missing in training")
        if 0 < state.family.blend < 1:
            raise AttributeError("`evidence_` is available with `blend=0` or `blend=1`: blended estimates have none")
        return float(state.family.evidence(state.tally.parts[1]).sum())

    @property
    def priors_(self) -> np.ndarray:
        """Prior probability of each class, (k,)."""
        state = self._fitted_state()
        return state.reader.view(np.exp(state.log_prior))

    @property
    def means_(self) -> np.ndarray:
        """Means of each class and column, (k, d)."""
        state = self._fitted_state()
        return state.reader.view(state.params.mean)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# settings that several classifiers share


def filler(family: Any, known: Known) -> Any:
    """The family whose Gaussians fill in missing cells; None if a setting needs complete rows."""
    if isinstance(family, GivenCovariances) or family.exact:
        return None
    if isinstance(family, GaussianJoint):
        return None if isinstance(family.shrinkage, str) else family
    return family if isinstance(family, GaussianJointBayes) else GaussianJoint()


def lost_digits(had: CentredScatter, kept: CentredScatter) -> np.ndarray:
    """Which sums of squares, (k, d) or pooled (1, d), are too small a part of what they were. Not those of a column of
    0 and 1 that is constant now: its mean is one of these."""
    squares, n = had.squares(), had.n[:, None]
    constant = (kept.mean == 0) | (kept.mean == 1)
    if had.pooled:
        constant, n = constant.all(axis=0, keepdims=True), n.sum(keepdims=True)
    return (squares > LOST * kept.squares()) & ~(constant & (squares <= n / 4))


def warn_of_incomplete(weight: float, state: State) -> None:
    """Warn of rows that were left out."""
    if weight > 0:
        warnings.warn(
            f"rows of weight {weight:g} of {state.n.sum():g} have missing cells; means and covariances are learned "
            "from the others",
            UserWarning,
            stacklevel=levels_up(),
        )


def candidates(model: Any, **grids: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """The settings that are "loo", and their candidates."""
    given = {name: getattr(model, name) for name in grids}
    return {name: grids[name] for name, value in given.items() if isinstance(value, str) and value == "loo"}


def setting(given: Any, name: str, known: Known, grid: tuple[float, ...]) -> Any:
    """The value of a setting: given, or chosen by leave-one-out."""
    return known.tuned.get(name, grid[0]) if isinstance(given, str) and given == "loo" else given


def refuse_with_bayes(model: Any, *names: str) -> None:
    """Raise an error for settings without a meaning where parameters are integrated out."""
    for name in names:
        value = model.get_params(deep=False)[name]
        if model.estimate == "bayes" and value not in (None, 0):
            raise DataError(
                f"`{name}={value!r}` with estimate='bayes': there, the prior shrinks the covariances\n\n"
                f"hint: leave `{name}` out, or use estimate='plugin'"
            )


def refuse_with_exact(model: Any, *names: str) -> None:
    """Raise an error for settings that take more from the rows than sums of products."""
    given = model.get_params(deep=False)
    for name in names:
        if model.exact and (given[name] == "auto" if name == "shrinkage" else given[name] is not None):
            needs = "fourth moments, which are rounded" if name == "shrinkage" else "all rows at once"
            raise DataError(
                f"exact=True with `{name}={given[name]!r}`, which needs {needs}\n\n"
                "hint: leave out one of them, or use shrinkage='loo' or a number"
            )


def check_solver(model: Any, no_estimator: str) -> None:
    """Raise an error for settings that the solver does not support; `no_estimator`: message for an estimator."""
    refuse_with_bayes(model, "shrinkage", "covariance_estimator", "ddof")
    refuse_with_exact(model, "shrinkage", "covariance_estimator")
    if model.covariance_estimator is not None and model.ddof:
        raise DataError(
            f"ddof={model.ddof!r} with a `covariance_estimator`, which does not use it\n\n"
            "hint: leave out `ddof`; the estimator divides as it does"
        )
    if model.solver == "svd" and model.shrinkage is not None:
        raise NotImplementedError("shrinkage not supported with 'svd' solver.")
    if model.solver == "svd" and model.covariance_estimator is not None:
        raise DataError(no_estimator)
    if model.covariance_estimator is not None and model.shrinkage is not None and model.shrinkage != 0:
        raise DataError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")
    if model.calibrate and model.covariance_estimator is not None:
        raise DataError(
            "calibrate=True subtracts rows from sums, which a `covariance_estimator` does not have\n\n"
            "hint: use `shrinkage`, or scikit-learn's CalibratedClassifierCV"
        )


def check_estimator_additive(model: Any) -> None:
    """Raise an error on update with a covariance estimator."""
    if model.covariance_estimator is not None:
        raise NotAdditiveError(
            "a `covariance_estimator` needs all rows at once: no update, merge or forgetting\n\n"
            "hint: use `shrinkage` (a number, or 'auto' for Ledoit–Wolf), which can"
        )


@dataclass(frozen=True)
class GivenCovariances(GaussianJoint):
    """Gaussians with covariances from a user's estimator."""

    covariances: tuple[Covariance, ...] = ()  # of each class; with blend = 1, and of all rows

    def gaussians(self, t: Any) -> tuple[np.ndarray, list[Covariance]]:
        if self.blend < 1:
            return t.mean, list(self.covariances)
        return t.mean, [mixed(self.covariances[:-1], self.priors(t))]


def estimated_covariances(estimator: Any, of_all: bool, rows: Rows) -> tuple[DenseCovariance, ...]:
    """The covariance of the rows of each class, and of all rows, by an estimator of the user's."""
    assert isinstance(rows, ArrayRows)
    X, y, k = cells(rows.table.x), rows.table.y, rows.table.k
    each = [X[y == c] for c in range(k)] + [X] * of_all
    return tuple(estimated_covariance(estimator, part) for part in each)


def estimated_covariance(estimator: Any, rows: np.ndarray) -> DenseCovariance:
    try:
        with np.errstate(all="ignore"):
            estimator.fit(rows)
    except ValueError as wrong:
        most = np.abs(rows).max()
        raise DataError(
            f"{type(estimator).__name__} cannot estimate the covariance of values up to {most:.0e}: {wrong}\n\n"
            "hint: scale the columns, or use `shrinkage`"
        ) from wrong
    if "covariance_" not in dir(estimator):
        raise DataError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    matrix = np.atleast_2d(estimator.covariance_)
    if not np.isfinite(matrix).all():
        raise DataError(
            f"the covariance that {type(estimator).__name__} finds is not finite\n\n"
            "hint: scale the columns, or use `shrinkage`"
        )
    return DenseCovariance(matrix)


def more_rows_than_classes(rows: np.ndarray, classes: np.ndarray) -> None:
    """Raise an error if there are not more rows than classes, from the rows of each class (k,)."""
    if rows.sum() <= len(rows):
        raise DataError(
            f"The number of samples must be more than the number of classes ({len(rows)}), not {rows.sum()}."
        )


def check_components(components: int | None, classes: np.ndarray, reader: Any) -> None:
    """Raise an error for more axes than exist."""
    most = min(len(classes) - 1, reader.d)
    if components is not None and components > most:
        raise DataError(f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}.")


def dense_covariance(store: bool, cov: Covariance) -> np.ndarray:
    """A covariance (d, d); that of fewer rows than columns only where the user asks for it to be stored."""
    if isinstance(cov, LowRankCovariance) and len(cov.rows) and not store:
        raise AttributeError(
            f"`covariance_` has {cov.d}² cells, which are not computed where there are more columns than rows\n\n"
            "hint: fit with store_covariance=True"
        )
    return cov.dense()


def cells(x: Block) -> np.ndarray:
    """All cells, (n, d)."""
    assert isinstance(x, Reals)
    return np.asarray(x.rows(0, x.n).values)


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantAnalysis):
    """Gaussians that share one covariance: a linear (softmax) posterior, and a supervised projection (`transform`).

    Parameters are those of scikit-learn and some more; every solver has `transform`. Models with `shrinkage="auto"`
    (Ledoit–Wolf) can be updated and merged too. With more columns than rows only n × n matrices are formed.

    `estimate="bayes"` integrates means and covariance out (families/gaussian_joint_bayes.py): a multivariate t for each
    class, with one scale matrix. Its posterior is not linear, so there is no `coef_`; `transform` is available, and
    `evidence_` is the log density of all rows.

    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` or `exact=True` they are
    left out.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen"
        As in scikit-learn; every solver has `transform`.
    shrinkage : None, "auto", "loo" or a number of 0 … 1
        "auto": Ledoit–Wolf; "loo": the amount that maximises the likelihood of held-out rows.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    n_components : int or None
        Axes that `transform` keeps.
    store_covariance : bool
        Whether `covariance_` is available with more columns than rows too.
    tol : float
        Threshold of singular values for solver "svd".
    covariance_estimator : estimator or None
        Another estimate of the covariance; such a model is not updated.
    ddof : float
        The covariance is the sum of squares over n − ddof · k: 0 is maximum likelihood, 1 is unbiased (n − k).
    estimate : "plugin" or "bayes"
        "bayes": means and covariance are integrated out.
    exact : bool
        Keep products of columns as whole numbers of as many digits as they need: order, parts, engines and rows that
        were learned and forgotten change no bit of the model or of its file. Fits take 5 to 7 times as long.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept where a setting is fitted to
        held-out rows, and used to fit it again after `partial_fit`, `forget` and `+`. Saved models hold these rows. 0:
        no row is kept; such models cannot be updated, merged or forget rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_, class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        The linear scores.
    covariance_ : ndarray of shape (d, d)
        The covariance that all classes share; of given `priors`, Σ_y P(y) Σ_y.
    scalings_, xbar_, explained_variance_ratio_ : ndarrays
        The projection of `transform`: axes, origin, and share of the between-class variance of each axis.
    n_iter_ : int
        Steps of EM, if rows had missing cells.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    n_parameters_ : int
        Number of free parameters: means, covariances and k − 1 class priors.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    coef_names_ : list of str
        Names of the columns of the parameters: those of X, or what they are coded as, such as `sex=male`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    QuadraticDiscriminantAnalysis : Normal classes, each with its covariance.
    FisherDiscriminant : Fisher's direction, without normal densities.
    LogisticRegression : Log odds linear in the columns.

    Notes
    -----
    In a frame with categories or texts, every level but the first is a column of 0 and 1, and so is True of truth
    values; in a column of more than 20 levels, those of fewer than 10 rows share one. Dates are numbers of days,
    durations of seconds. A missing cell and a level that training did not have are integrated out; training rows
    without a category have the frequencies of its levels instead. Rows of `partial_fit` are read in the coding of the
    first ones. Models with the same levels can be added. Frames of numbers, and arrays, are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]).tolist(), model.transform(X).shape
    ([1], (6, 1))
    """

    _parameter_constraints: dict = {
        **SOLVED,
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

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
        ddof=0,
        estimate="plugin",
        exact=False,
        calibrate=False,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.ddof = ddof
        self.estimate = estimate
        self.exact = exact
        self.calibrate = calibrate
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _reader(self) -> TableReader:
        return replace(super()._reader(), least=2)

    def _spec(self) -> Spec:
        check_solver(self, "covariance estimator is not supported with svd solver. Try another solver")
        estimator = self.covariance_estimator
        return self._make_spec(
            partial(
                lda_family,
                self.solver,
                self.shrinkage,
                self.tol,
                self.ddof,
                self.estimate,
                self.priors is not None,
                bool(self.exact),
            ),
            tune=candidates(self, shrinkage=SHRINKAGES),
            calibrate=bool(self.calibrate),
            keep_rows=int(self.keep_rows),
            find_covariances=None if estimator is None else partial(estimated_covariances, estimator, True),
            check_setup=partial(check_components, self.n_components),
            check_rows=more_rows_than_classes,
        )

    def _check_additive(self) -> None:
        super()._check_additive()
        check_estimator_additive(self)

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, self._fitted_state().reader.d)
        return most if self.n_components is None else self.n_components

    def transform(self, X) -> np.ndarray:
        """X in the directions that separate the classes best, (n, n_components).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, components)
            The rows in the discriminant directions.
        """
        state = self._fitted_state()
        scalings = self._axes().scalings[:, : self._n_features_out]
        out = cells(state.reader.read(X, "transform")) @ scalings
        if self.solver == "svd":
            out -= self._base().centre @ scalings
        return state.reader.output(X).send(out)

    def _base(self) -> PooledGaussian:
        """The Gaussians of the state; with `estimate="bayes"`, those with the expected parameters."""
        state = self._fitted_state()
        return state.remember("base", lambda: pooled_gaussian(state))

    def _axes(self) -> Axes:
        """The directions that separate the classes best."""
        state = self._fitted_state()
        return state.remember("axes", lambda: discriminant_axes(state, self._base()))

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        state = self._fitted_state()
        found = state.posterior.scores.linear()
        if found is None:
            raise AttributeError('with `estimate="bayes"` scores are not linear in x: there are no coefficients')
        slope, constant = (0.0, 0.0) if self.solver == "svd" else self._base().shift()
        coef, bias = found.coef + slope, found.bias + constant + state.log_prior
        if len(self.classes_) == 2:
            coef, bias = coef[1:] - coef[:1], bias[1:] - bias[:1]
        return np.ascontiguousarray(coef), bias

    def decision_function(self, X) -> np.ndarray:
        """`x · coef_ + intercept_`: (n, k), or (n,) for two classes. Of more than two classes they are the
        `discriminant_scores`, with solver="svd" less a term that all classes share: scores about the overall mean.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, k), or (n,) for two classes
            The scores.
        """
        if self.solver != "svd":
            return super().decision_function(X)
        posterior = self._posterior()
        scores = posterior.joint_scores(X)
        return posterior.output(X).send(scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the linear scores, (1 or k, d)."""
        return self._fitted_state().reader.view(self._linear()[0])

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the linear scores, (1 or k,)."""
        return self._fitted_state().reader.view(self._linear()[1])

    @property
    def covariance_(self) -> np.ndarray:
        """The covariance that all classes share, (d, d). Given `priors` weight the covariances of the classes in it;
        the posterior of solver="svd" is that of the pooled covariance all the same, as in scikit-learn."""
        state = self._fitted_state()
        family, cov = state.family, self._base().covs[0]
        if isinstance(family, GaussianJoint) and family.by_class and not state.given:
            cov = family.mixed_by_priors(state.tally.parts[1])
        return state.reader.view(dense_covariance(self.store_covariance, cov))

    @property
    def scalings_(self) -> np.ndarray:
        """Axes of the projection, in columns."""
        return self._fitted_state().reader.view(self._axes().scalings)

    @property
    def xbar_(self) -> np.ndarray:
        """The overall mean, which `transform` subtracts."""
        return self._fitted_state().reader.view(self._base().centre)

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Share of the between-class variance along each axis."""
        return self._fitted_state().reader.view(self._axes().ratio[: self._n_features_out])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.array_api_support = self.solver == "svd"
        return tags


def lda_family(
    solver: str,
    shrinkage: Any,
    tol: float,
    ddof: float,
    estimate: str,
    given: bool,
    exact: bool,
    schema: Schema | None,
    known: Known,
) -> GaussianJoint | GaussianJointBayes:
    if estimate == "bayes":
        return GaussianJointBayes(1.0, exact=exact)
    if known.covariances:
        return GivenCovariances(1.0, covariances=known.covariances)
    if solver == "svd":
        return GaussianJoint(1.0, by_class=given, span=tol, tol=tol**2, ddof=ddof, exact=exact)
    amount = setting(shrinkage, "shrinkage", known, SHRINKAGES) or 0.0
    return GaussianJoint(1.0, amount, mix=given, ddof=ddof, exact=exact)


def class_priors(state: State) -> np.ndarray:
    """Class priors (k,): those given, or the class frequencies."""
    given = state.spec.prior.weights(state.classes)
    return state.n / state.n.sum() if given is None else given


def pooled_gaussian(state: State) -> PooledGaussian:
    p = state.params
    if isinstance(p, PooledGaussian):
        return p
    return PooledGaussian.of(p.mean, p.covs[0], class_priors(state) @ p.mean, 0.0)


def discriminant_axes(state: State, base: PooledGaussian) -> Axes:
    """The directions that separate the class means best."""
    priors, family = class_priors(state), state.family
    if isinstance(family, GaussianJointBayes):
        return Axes.from_inverse(base, priors)
    if family.span is not None:
        return Axes.from_means(base, priors, family.span)
    within, total = base.covs[0], total_covariance(state)
    if (
        isinstance(within, DenseCovariance)
        and isinstance(total, DenseCovariance)
        and within.least_correlation() > 1e-12
    ):
        return Axes.generalised(within.matrix, total.matrix)
    return Axes.from_inverse(base, priors)


def total_covariance(state: State) -> Covariance | None:
    """The covariance of all rows, shrunk like the one within classes; None: not known."""
    if state.given:
        return None
    family, t = state.family, state.tally.parts[1]
    if isinstance(family, GivenCovariances):
        return family.covariances[-1]
    if isinstance(t, Quartic):
        whole = t.collapse()
        total = shrink(DenseCovariance(whole.p11[0] / whole.n[0]), *ledoit_wolf(whole, 0))
        return total * float(t.n.sum() / family.free(t).sum())
    if not isinstance(t, Scatter):
        return None
    centred = t.mean - t.n @ t.mean / t.n.sum()
    total = DenseCovariance((t.scatter.sum(axis=0) + (centred * t.n[:, None]).T @ centred) / family.free(t).sum())
    return shrink(total, float(family.shrinkage))


class QuadraticDiscriminantAnalysis(DiscriminantAnalysis):
    """A Gaussian with its own covariance for each class: quadratic boundaries.

    Parameters are those of scikit-learn and some more. A class with a singular covariance (constant or collinear
    columns, too few rows) is no error: `tol` times the usual variances is added to it, and `singular_` names the class.
    In coded columns (see the notes), where a level that no row of a class has, or a number that a category determines,
    makes a covariance singular, all covariances are moved towards the pooled one first, by 0.97.

    `estimate="bayes"` integrates means and covariances out (families/gaussian_joint_bayes.py): a multivariate t for
    each class, with wide tails for few rows, defined for fewer rows than columns; `evidence_` is the log density of all
    rows.

    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` or `exact=True` they are
    left out.

    Parameters
    ----------
    solver : "svd" or "eigen"
        As in scikit-learn.
    shrinkage : None, "auto", "loo" or a number of 0 … 1
        "auto": Ledoit–Wolf; "loo": the amount that maximises the likelihood of held-out rows.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    reg_param : float
        Moves each covariance towards the identity, 0 … 1.
    store_covariance : bool
        Whether `covariance_` is available with more columns than rows too.
    tol : float
        Share of the usual variances that is added to a singular covariance.
    covariance_estimator : estimator or None
        Another estimate of the covariances; such a model is not updated.
    ddof : float
        Covariances are sums of squares over n − ddof of each class: 0 is maximum likelihood, 1 is unbiased.
    diagonal : bool
        Whether covariances of columns are 0: columns are independent given the class, as in `GaussianNB`.
    estimate : "plugin" or "bayes"
        "bayes": means and covariances are integrated out.
    exact : bool
        Keep products of columns as whole numbers of as many digits as they need: order, parts, engines and rows that
        were learned and forgotten change no bit of the model or of its file. Fits take 5 to 7 times as long.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept where a setting is fitted to
        held-out rows, and used to fit it again after `partial_fit`, `forget` and `+`. Saved models hold these rows. 0:
        no row is kept; such models cannot be updated, merged or forget rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_, class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    covariance_ : list of k ndarrays of shape (d, d)
        The covariance of each class.
    rotations_, scalings_ : lists of k ndarrays
        Axes of each class, and the variances along them.
    singular_ : list
        Classes with a singular covariance.
    n_iter_ : int
        Steps of EM, if rows had missing cells.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    n_parameters_ : int
        Number of free parameters: means, covariances and k − 1 class priors.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    coef_names_ : list of str
        Names of the columns of the parameters: those of X, or what they are coded as, such as `sex=male`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    LinearDiscriminantAnalysis : Normal classes with one covariance.
    RegularizedDiscriminantAnalysis : Between the two discriminant analyses.
    GaussianNB : Normal columns.

    Notes
    -----
    In a frame with categories or texts, every level but the first is a column of 0 and 1, and so is True of truth
    values; in a column of more than 20 levels, those of fewer than 10 rows share one. Dates are numbers of days,
    durations of seconds. A missing cell and a level that training did not have are integrated out; training rows
    without a category have the frequencies of its levels instead. Rows of `partial_fit` are read in the coding of the
    first ones. Models with the same levels can be added. Frames of numbers, and arrays, are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _coding_rule = GAUSSIAN_BY_CLASS
    _parameter_constraints: dict = {
        **SOLVED,
        "solver": [StrOptions({"svd", "eigen"})],
        "reg_param": [Interval(Real, 0, 1, closed="both")],
        "diagonal": ["boolean"],
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
        ddof=0,
        diagonal=False,
        estimate="plugin",
        exact=False,
        calibrate=False,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.ddof = ddof
        self.diagonal = diagonal
        self.estimate = estimate
        self.exact = exact
        self.calibrate = calibrate
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _spec(self) -> Spec:
        check_solver(self, "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        refuse_with_bayes(self, "reg_param")
        estimator, diagonal = self.covariance_estimator, self.diagonal
        if diagonal and (estimator is not None or self.estimate == "bayes"):
            other = "estimate='bayes'" if estimator is None else "a `covariance_estimator`"
            raise DataError(
                f"diagonal=True with {other}, whose covariances are full\n\n"
                "hint: leave one of them out; GaussianNB(estimate='bayes') has independent columns"
            )
        ridge = self.reg_param if self.solver == "svd" else 0.0
        return self._make_spec(
            partial(qda_family, self.shrinkage, ridge, self.tol, self.ddof, diagonal, self.estimate, bool(self.exact)),
            tune=candidates(self, shrinkage=SHRINKAGES),
            calibrate=bool(self.calibrate),
            keep_rows=int(self.keep_rows),
            find_covariances=None if estimator is None else partial(estimated_covariances, estimator, False),
            check_rows=partial(check_qda_rows, self.estimate),
        )

    def _check_additive(self) -> None:
        super()._check_additive()
        check_estimator_additive(self)

    @property
    def singular_(self) -> np.ndarray:
        """The classes with a singular covariance, which was regularised: more rows, or shrinkage, avoid it."""
        state = self._learned_state()
        return self.classes_[singular(state.family.gaussians(state.tally.parts[1])[1], self.tol)]

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The covariance of each class."""
        return self._views(partial(dense_covariance, self.store_covariance))

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The variances along each class's `rotations_`, from the largest."""
        return self._views(lambda cov: cov.spectrum()[0])

    @property
    def rotations_(self) -> list[np.ndarray]:
        """Axes of each class's covariance, from the longest."""
        return self._views(lambda cov: cov.spectrum()[1])

    def _views(self, f: Callable[[Covariance], np.ndarray]) -> list[np.ndarray]:
        state = self._fitted_state()
        return [state.reader.view(f(cov)) for cov in state.params.covs]


def qda_family(
    shrinkage: Any,
    ridge: float,
    tol: float,
    ddof: float,
    diagonal: bool,
    estimate: str,
    exact: bool,
    schema: Schema | None,
    known: Known,
) -> GaussianJoint | GaussianJointBayes:
    fallback = BLENDS[-1] if known.coded else 0.0
    if estimate == "bayes":
        return GaussianJointBayes(fallback=fallback, exact=exact)
    if known.covariances:
        return GivenCovariances(0.0, floor=tol, covariances=known.covariances)
    amount = setting(shrinkage, "shrinkage", known, SHRINKAGES) or 0.0
    return GaussianJoint(0.0, amount, ridge, ddof=ddof, diagonal=diagonal, floor=tol, fallback=fallback, exact=exact)


def check_qda_rows(estimate: str, rows: np.ndarray, classes: np.ndarray) -> None:
    if (rows == 1).any() and estimate != "bayes":
        raise DataError(
            f"y has only 1 sample in class {classes[rows == 1][0]}, covariance is ill defined.\n\n"
            "hint: use estimate='bayes', or RegularizedDiscriminantAnalysis: it uses rows of the other classes"
        )


class RegularizedDiscriminantAnalysis(DiscriminantAnalysis):
    """Gaussians with covariances between those of QDA and LDA, and shrunk to spheres (Friedman 1989).

    `blend` moves each class's covariance towards the pooled one (0: QDA, 1: LDA), `shrinkage` then moves it towards the
    scaled identity (0 … 1; for columns of comparable units. Or "auto": Ledoit–Wolf for each class before blending).
    Works for classes of one row, and for more columns than rows. "loo" for either takes the value of the least
    leave-one-out log loss of about 1,000 rows, which are sampled by content; where both are chosen, a coarse grid of
    them is refined around its minima.

    `estimate="bayes"` integrates means and covariances out: a multivariate t, with sums blended in the same way.
    Rows with missing cells are learned from by EM (`n_iter_` steps); with `shrinkage="auto"` or `exact=True` they are
    left out.

    Parameters
    ----------
    blend : float or "loo"
        Moves each covariance towards the pooled one, 0 … 1.
    shrinkage : float, "auto" or "loo"
        Moves it towards the scaled identity, 0 … 1.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    estimate : "plugin" or "bayes"
        "bayes": means and covariances are integrated out.
    exact : bool
        Keep products of columns as whole numbers of as many digits as they need: order, parts, engines and rows that
        were learned and forgotten change no bit of the model or of its file. Fits take 5 to 7 times as long.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept where a setting is fitted to
        held-out rows, and used to fit it again after `partial_fit`, `forget` and `+`. Saved models hold these rows. 0:
        no row is kept; such models cannot be updated, merged or forget rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_, class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    covariance_ : list of k ndarrays of shape (d, d)
        Covariances, blended and shrunk.
    n_iter_ : int
        Steps of EM, if rows had missing cells.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    n_parameters_ : int
        Number of free parameters: means, covariances and k − 1 class priors.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    coef_names_ : list of str
        Names of the columns of the parameters: those of X, or what they are coded as, such as `sex=male`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    LinearDiscriminantAnalysis : Normal classes with one covariance.
    QuadraticDiscriminantAnalysis : Normal classes, each with its covariance.

    Notes
    -----
    In a frame with categories or texts, every level but the first is a column of 0 and 1, and so is True of truth
    values; in a column of more than 20 levels, those of fewer than 10 rows share one. Dates are numbers of days,
    durations of seconds. A missing cell and a level that training did not have are integrated out; training rows
    without a category have the frequencies of its levels instead. Rows of `partial_fit` are read in the coding of the
    first ones. Models with the same levels can be added. Frames of numbers, and arrays, are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> RegularizedDiscriminantAnalysis(blend=0.5).fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1]]).tolist()
    [1]
    """

    _coding_rule = GAUSSIAN_BY_CLASS
    _parameter_constraints: dict = {
        "priors": PRIORS,
        "blend": [Interval(Real, 0, 1, closed="both"), StrOptions({"loo"})],
        "shrinkage": [StrOptions({"auto", "loo"}), Interval(Real, 0, 1, closed="both")],
        "estimate": [StrOptions({"plugin", "bayes"})],
        "exact": ["boolean"],
        "calibrate": ["boolean"],
        **SAMPLE,
        **LEDGER,
    }
    _tunable = {"blend": ("loo", BLENDS), "shrinkage": ("loo", SHRINKAGES)}

    def __init__(
        self,
        *,
        blend=0.5,
        shrinkage=0.0,
        priors=None,
        estimate="plugin",
        exact=False,
        calibrate=False,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.blend = blend
        self.shrinkage = shrinkage
        self.priors = priors
        self.estimate = estimate
        self.exact = exact
        self.calibrate = calibrate
        self.ledger = ledger
        self.keep_rows = keep_rows

    def _spec(self) -> Spec:
        refuse_with_bayes(self, "shrinkage")
        refuse_with_exact(self, "shrinkage")
        return self._make_spec(
            partial(rda_family, self.blend, self.shrinkage, self.estimate, bool(self.exact)),
            tune=candidates(self, blend=BLENDS, shrinkage=SHRINKAGES),
            calibrate=bool(self.calibrate),
            keep_rows=int(self.keep_rows),
        )

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The regularised covariance of each class (of all, where blend = 1)."""
        state = self._fitted_state()
        return [state.reader.view(cov.dense()) for cov in state.params.covs]


def rda_family(
    blend: Any, shrinkage: Any, estimate: str, exact: bool, schema: Schema | None, known: Known
) -> GaussianJoint | GaussianJointBayes:
    blend = setting(blend, "blend", known, BLENDS)
    if estimate == "bayes":
        return GaussianJointBayes(blend, exact=exact)
    return GaussianJoint(blend, setting(shrinkage, "shrinkage", known, SHRINKAGES), exact=exact)


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantAnalysis):
    """Fisher's discriminant, w = (Σ_k + Σ_l)⁻¹ (μ_k − μ_l): assumes means and covariances, but not Gaussians.

    The threshold is the minimax one: it bounds the error for every distribution with these moments. More than two
    classes: all pairs, coupled (`multi="pairwise"`), or the same within the leading `n_components` axes of the
    generalised eigenproblem (`multi="eigen"`). Where covariances agree, posteriors are those of LDA.

    Parameters
    ----------
    multi : "pairwise" or "eigen"
        How more than two classes are separated: by all pairs, or within the leading axes.
    n_components : int or None
        Axes that `multi="eigen"` and `transform` keep.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    exact : bool
        Keep products of columns as whole numbers of as many digits as they need: order, parts, engines and rows that
        were learned and forgotten change no bit of the model or of its file. Fits take 5 to 7 times as long.
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    priors_, class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    means_ : ndarray of shape (k, d)
        Means of each class and column.
    covariance_ : list of k ndarrays of shape (d, d)
        Covariance of each class.
    coef_, intercept_ : ndarrays of shape (pairs, d) and (pairs,)
        Log odds of each pair of classes: 2w, which points to the later class and is that of LDA where covariances
        agree. Of two classes, `decision_function(X)` is X @ coef_[0] + intercept_[0].
    fisher_ratio_ : ndarray of shape (pairs,)
        Variance between the classes over variance within them along each direction,
        (w·(μ_k − μ_l))² / (w·(Σ_k + Σ_l)w), which w maximises.
    n_iter_ : int
        Steps of EM, if rows had missing cells.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    coef_names_ : list of str
        Names of the columns of the parameters: those of X, or what they are coded as, such as `sex=male`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    LinearDiscriminantAnalysis : Normal classes with one covariance.

    Notes
    -----
    In a frame with categories or texts, every level but the first is a column of 0 and 1, and so is True of truth
    values; in a column of more than 20 levels, those of fewer than 10 rows share one. Dates are numbers of days,
    durations of seconds. A missing cell and a level that training did not have are integrated out; training rows
    without a category have the frequencies of its levels instead. Rows of `partial_fit` are read in the coding of the
    first ones. Models with the same levels can be added. Frames of numbers, and arrays, are used as they are.

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

    _parameter_constraints: dict = {
        "priors": PRIORS,
        "multi": [StrOptions({"pairwise", "eigen"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "exact": ["boolean"],
        **LEDGER,
    }

    def __init__(self, *, multi="pairwise", n_components=None, priors=None, exact=False, ledger=False):
        self.multi = multi
        self.n_components = n_components
        self.priors = priors
        self.exact = exact
        self.ledger = ledger

    def _reader(self) -> TableReader:
        return replace(super()._reader(), least=2)

    def _spec(self) -> Spec:
        within = None if self.multi == "pairwise" else self.n_components or ALL
        return self._make_spec(
            partial(fixed_family, Fisher(within, bool(self.exact))),
            check_setup=partial(check_components, self.n_components),
            check_rows=more_rows_than_classes,
        )

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The covariance of each class."""
        state = self._fitted_state()
        return [state.reader.view(cov.dense()) for cov in state.params.covs]

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, self._fitted_state().reader.d)
        return most if self.n_components is None else self.n_components

    def transform(self, X) -> np.ndarray:
        """X along the leading axes of the generalised eigenproblem, (n, n_components).

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.

        Returns
        -------
        ndarray of shape (n, components)
            The rows in the discriminant directions.
        """
        state = self._fitted_state()
        out = cells(state.reader.read(X, "transform")) @ state.params.axes(self._n_features_out)
        return state.reader.output(X).send(out)

    @property
    def coef_(self) -> np.ndarray:
        """The slopes of the log odds of all pairs of classes (1 : 0, 2 : 0, …, 2 : 1, …), (pairs, d): −2w each, so that
        they point to the later class, as in LDA. `decision_function(X)` of two classes is X @ coef_.T + intercept_; the
        pairs of more classes are coupled."""
        state = self._fitted_state()
        return state.reader.view(np.ascontiguousarray(-state.params.coef.table))

    @property
    def fisher_ratio_(self) -> np.ndarray:
        """Variance between classes over variance within classes along the direction of each pair, (pairs,); see
        `metrics.fisher_ratio`."""
        state = self._fitted_state()
        return state.reader.view(state.params.ratio)

    @property
    def intercept_(self) -> np.ndarray:
        """Twice the threshold of each pair, plus the log odds of the priors, (pairs,)."""
        state = self._fitted_state()
        prior, of = state.log_prior, pairs(len(self.classes_))
        with np.errstate(invalid="ignore"):  # classes without rows
            return state.reader.view(np.array([prior[b] - prior[a] for a, b in of]) - state.params.bias)
