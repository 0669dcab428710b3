"""Naive Bayes for tables: the classifiers of scikit-learn, with the same names and results, and Poisson."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from deciban.classifiers.base import LEDGER, PRIORS, SAMPLE, CodedColumns, Generative, Interval, StrOptions
from deciban.decision import Prior
from deciban.display import format_list
from deciban.errors import ColumnWarning, DataError, levels_up
from deciban.estimation.dirichlet import GRID
from deciban.explain.counts_table import CountsTable
from deciban.families.bernoulli import Bernoulli
from deciban.families.categorical import Categorical
from deciban.families.complement import Complement
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.families.polya import Polya
from deciban.families.student import Student
from deciban.models.feature_weights import FeatureWeights
from deciban.models.model import Known, Spec, State, fixed_family
from deciban.rows import inputs
from deciban.rows.coding import BINARY, INDICATORS, LEVELS
from deciban.rows.readers import ArrayReader, TableReader
from deciban.rows.sample import SIZE
from deciban.rows.schema import Schema
from deciban.tallies.ledger import key_from_setting

VAR_SMOOTHINGS = tuple(10.0**e for e in (-9, -8, -7, -6, -5, -4, -3.5, -3, -2.5, -2, -1.5, -1, -0.5, 0))
ALPHA_MIN = 1e-10
WEIGHTS: dict[str, list] = {"weights": [None, StrOptions({"discriminative"})]}
COUNTS: dict[str, list] = {
    "fit_prior": ["boolean"],
    "class_prior": PRIORS,
    "calibrate": ["boolean"],
    **SAMPLE,
    **WEIGHTS,
    **LEDGER,
    "alpha": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"auto"})],
    "force_alpha": ["boolean"],
}


class NaiveBayes(Generative):
    """Base of classifiers whose columns are independent given the class; columns may have feature weights."""

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Log prior of each class, (k,)."""
        return self._fitted_state().log_prior

    @property
    def feature_weights_(self) -> np.ndarray:
        """The weight of each column, (d,): the mean of `class_feature_weights_` over the classes. 1 is naive Bayes."""
        return self._feature_weights().table.mean(axis=0)

    @property
    def class_feature_weights_(self) -> np.ndarray:
        """The weight of each column by class, (k, d)."""
        return self._feature_weights().table

    @property
    def class_bias_(self) -> np.ndarray:
        """Bias added to the log prior of each class, (k,)."""
        return self._feature_weights().bias

    @property
    def n_iter_(self) -> int:
        """Number of steps of the fit of the weights."""
        return self._feature_weights().steps

    def _feature_weights(self) -> FeatureWeights:
        found = self._fitted_state().weights
        if found is None:
            raise AttributeError("columns have no weights\n\nhint: fit with weights='discriminative'")
        return found

    def _check_complete(self, state: State) -> None:
        """Warn of columns with a cell that no class makes possible."""
        for cell, columns in state.family.never_seen(state.tally.parts[1]).items():
            if columns.any():
                named = format_list(np.array(state.reader.columns)[columns])
                warnings.warn(
                    f"{named}: {cell} in no training row, so that with alpha=0 a row where it is {cell} is impossible "
                    "in every class and has the class priors as posterior\n\n"
                    "hint: use alpha > 0, or leave the column out",
                    ColumnWarning,
                    stacklevel=levels_up(),
                )

    def counts_table(self, *, fractions: bool = False) -> CountsTable:
        """The counts of each value of each column by class, as a table: pseudo-counts are not in them.

        Parameters
        ----------
        fractions : bool
            Whether to show P(value | class) as fractions, not reduced and with pseudo-counts, instead of counts.

        Returns
        -------
        CountsTable
            Prints as a table, in notebooks too; `to_frame()`, `to_dict()`. Columns of numbers have rows for their mean
            and deviation, where the density has them.

        Examples
        --------
        >>> from deciban import BernoulliNB
        >>> print(BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"]).counts_table(fractions=True))
        column  value    ham  spam
        x0      absent   1/4   2/3
                present  3/4   1/3
        x1      absent   2/4   1/3
                present  2/4   2/3
        class            2/3   1/3
        """
        return self._counts_table(self._fitted_state().reader.level_names, fractions)

    def _weighted_spec(self, family: Callable, prior: Prior, tune: Mapping | None = None, **more: Any) -> Spec:
        """A spec with the settings `calibrate` and `weights`."""
        if self.weights is not None and self.calibrate:
            raise DataError(
                "weights='discriminative' and calibrate=True both fit probabilities to held-out rows\n\n"
                "hint: leave out `calibrate`: the weights include a temperature and a bias for each class"
            )
        name, settings = type(self).__name__, self.get_params(deep=False)
        return Spec(
            name,
            settings,
            family,
            prior,
            tune or {},
            calibrate=bool(self.calibrate),
            feature_weights=self.weights is not None,
            ledger=key_from_setting(self.ledger),
            keep_rows=int(self.keep_rows),
            **more,
        )

    def _check_evidence_by_column(self, family: Any) -> None:
        """Raise an error for weights of a family without evidence by column."""
        if self.weights is not None and not family.has_parts:
            raise DataError(
                f"{self} has no evidence by column that weights could multiply\n\nhint: use estimate='plugin'"
            )


def candidates(setting: Any, name: str, values: tuple[float, ...]) -> dict[str, tuple[float, ...]]:
    """Entry of a setting in `Spec.tune`: its candidates, if it is "auto"."""
    return {name: values} if isinstance(setting, str) and setting == "auto" else {}


class GaussianNB(CodedColumns, NaiveBayes):
    """Naive Bayes with a normal density for each column and class.

    X may be dense or CSR, and may hold NaN: a missing cell is ignored in training and integrated out in prediction.
    With the default settings the results are those of scikit-learn. Columns that repeat each other count twice, unless
    `weights="discriminative"` fits a weight for each column.

    Parameters
    ----------
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    var_smoothing : float or "auto"
        Share of the largest variance that is added to all variances; "auto": the value that maximises the likelihood of
        held-out rows.
    ddof : float
        Variances are divided by n − ddof; 1: sample variances.
    variances : "own" or "shared"
        "shared": each column has one variance for all classes (divided by n − ddof · k), so that the posterior is
        linear in x (`as_logistic`): linear discriminant analysis with a diagonal covariance.
    estimate : "plugin" or "bayes"
        "bayes": mean and variance are integrated out (a Student t for each column, and `evidence_`).
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class (`feature_weights_`).
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
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Its logarithm.
    theta_, var_ : ndarrays of shape (k, d)
        Means and variances of each class and column.
    means_ : ndarray of shape (k, d)
        The same as `theta_`, by the name that discriminants use.
    epsilon_ : float
        The amount added to the variances.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
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
    MixedNB : A density for each column of a table of any type.
    LinearDiscriminantAnalysis : Normal classes with one covariance.
    QuadraticDiscriminantAnalysis : Normal classes, each with its covariance.

    Notes
    -----
    In a frame with categories or texts, every level is a column of 0 and 1, and so is True of truth values; dates are
    numbers of days, durations of seconds. A missing cell and a level that training did not have are no evidence, also
    in `partial_fit`, which reads rows in the coding of the first ones. Models with the same levels can be added. Frames
    of numbers, and arrays, are used as they are.

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

    _classes_first = True
    _parameter_constraints: dict = {
        "priors": PRIORS,
        "var_smoothing": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "ddof": [Interval(Real, 0, None, closed="left")],
        "variances": [StrOptions({"own", "shared"})],
        "estimate": [StrOptions({"plugin", "bayes"})],
        "calibrate": ["boolean"],
        **SAMPLE,
        **WEIGHTS,
        **LEDGER,
    }

    def __init__(
        self,
        *,
        priors=None,
        var_smoothing=1e-9,
        ddof=0,
        variances="own",
        estimate="plugin",
        calibrate=False,
        weights=None,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.ddof = ddof
        self.variances = variances
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(cls, theta, var, *, class_prior=None, classes=None, feature_names=None, **settings) -> Self:
        """The model with these means and variances.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        theta, var : array-like of shape (k, d)
            Mean and variance of each class and column.
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
        GaussianNB
            A fitted model.

        Examples
        --------
        >>> model = GaussianNB.from_parameters(theta=[[73.0]], var=[[6.2**2]])
        >>> np.exp(model.class_log_likelihood([[66.0]])).round(6).tolist()  # the density at 66
        [[0.034019]]
        """
        return cls._from_parameters({"theta": theta, "var": var}, class_prior, classes, feature_names, settings)

    def _reader(self) -> TableReader:
        return TableReader("GaussianNB", keeps_kind=True, rule=INDICATORS)

    def _spec(self) -> Spec:
        # scikit-learn computes the variance that smoothing refers to from unweighted rows. With feature weights, which
        # it does not have and which magnify the smoothing, row weights count as repetitions here too.
        shared, bayes = self.variances == "shared", self.estimate == "bayes"
        if shared and bayes:
            raise DataError(
                "variances='shared' with estimate='bayes', which integrates out a variance for each class\n\n"
                "hint: LinearDiscriminantAnalysis(estimate='bayes') integrates out one covariance for all classes"
            )
        family = partial(gaussian_family, self.var_smoothing, self.ddof, shared, bayes, unweighted=self.weights is None)
        tune = candidates(self.var_smoothing, "var_smoothing", VAR_SMOOTHINGS)
        return self._weighted_spec(family, Prior(self.priors), tune)

    @property
    def means_(self) -> np.ndarray:
        """`theta_` under the name that the discriminant classifiers use."""
        return self.theta_

    @property
    def theta_(self) -> np.ndarray:
        """Means of each class and column, (k, d)."""
        state = self._fitted_state()
        return state.reader.view(state.params.mean)

    @property
    def var_(self) -> np.ndarray:
        """Variances of each class and column, (k, d)."""
        state = self._fitted_state()
        return state.reader.view(state.params.var)

    @property
    def epsilon_(self) -> float:
        """The amount added to the variances."""
        state = self._learned_state()
        return state.family.epsilon(state.tally.parts[1])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.array_api_support = True
        return tags


def gaussian_family(
    smoothing: float | str,
    ddof: float,
    shared: bool,
    bayes: bool,
    schema: Schema | None,
    known: Known,
    *,
    unweighted: bool,
) -> Gaussian | Student:
    smoothing = known.tuned.get("var_smoothing", VAR_SMOOTHINGS[0]) if isinstance(smoothing, str) else smoothing
    return Student(smoothing=smoothing) if bayes else Gaussian(smoothing, ddof, shared=shared, unweighted=unweighted)


def check_alpha(alpha: Any, force: bool, d: int) -> Any:
    """The alpha in use: at least 1e-10 unless forced."""
    if isinstance(alpha, float) and (force or alpha >= ALPHA_MIN):
        return alpha
    alpha = alpha if isinstance(alpha, Real) else np.asarray(alpha, dtype=np.float64)
    if isinstance(alpha, np.ndarray):
        if alpha.shape[0] != d:
            raise DataError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {d}."
            )
        if not (np.isfinite(alpha) & (alpha >= 0)).all():
            raise DataError("All values in alpha must be greater than 0.\n\nhint: and finite; 0 is no smoothing")
    if np.min(alpha) < ALPHA_MIN and not force:
        warnings.warn(
            f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. "
            "Use `force_alpha=True` to keep alpha unchanged.",
            stacklevel=levels_up(),
        )
    return used_alpha(alpha, force)


def used_alpha(alpha: Any, force: bool) -> Any:
    """alpha, or the least value allowed."""
    if isinstance(alpha, float):
        return alpha if force or alpha >= ALPHA_MIN else ALPHA_MIN
    alpha = alpha if isinstance(alpha, Real) else np.asarray(alpha, dtype=np.float64)
    return np.maximum(alpha, ALPHA_MIN) if np.min(alpha) < ALPHA_MIN and not force else alpha


def check_count_setup(alpha: Any, force: bool, classes: np.ndarray, reader: Any) -> None:
    """Raise an error for an alpha whose shape does not match the columns."""
    if not isinstance(alpha, str):
        check_alpha(alpha, force, reader.d)


def count_family(
    make: Callable[..., Any], alpha: Any, force: bool, schema: Schema | None, known: Known, **more: Any
) -> Any:
    """A family with a pseudo-count."""
    own = known.tuned.get("alpha", GRID[0]) if isinstance(alpha, str) else used_alpha(alpha, force)
    return make(own, **more)


def count_spec(model: Any, make: Callable[..., Any], check: Callable | None = None, **more: Any) -> Spec:
    """The settings of a classifier of counts or levels with a pseudo-count; `more` are further settings of the
    family. `check(check of alpha, classes, reader)` raises for unsuitable settings."""
    check_alpha = partial(check_count_setup, model.alpha, model.force_alpha)
    return model._weighted_spec(
        partial(count_family, make, model.alpha, model.force_alpha, **more),
        Prior(model.class_prior, "class_prior", model.fit_prior, sum="kept"),
        candidates(model.alpha, "alpha", tuple(GRID.tolist())),
        check_setup=check_alpha if check is None else partial(check, check_alpha),
    )


def count_tags(tags: Any) -> Any:
    """The tags of classifiers of counts."""
    tags.input_tags.sparse = True
    tags.input_tags.allow_nan = True
    tags.input_tags.positive_only = True
    tags.classifier_tags.poor_score = True
    return tags


class MultinomialNB(NaiveBayes):
    """Naive Bayes for counts, such as word counts: each row is a multinomial sample of its class's distribution.

    With the default settings the results are those of scikit-learn.

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of every column; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha below 1e-10 is used unchanged.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors; None: see `fit_prior`.
    estimate : "plugin" or "bayes"
        "bayes": the distribution is integrated out, so that a repeated word counts for less (a Pólya urn).
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Feature weights, fitted by conditional likelihood (`feature_weights_`).
    coefficient : bool
        Whether densities (`class_log_likelihood`, `score_samples`, `log_likelihood`) are those of the counts, with the
        multinomial coefficient N! / Π x!, or those of the words in their order, as in scikit-learn. The posterior and
        `evidence_` do not depend on it.
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
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
    feature_prob_ : ndarray of shape (k, d)
        This probability.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
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
    ComplementNB : Counts, by the words of all other classes.
    PoissonNB : Independent counts.
    TextClassifier : Texts, read and classified.

    Examples
    --------
    >>> import numpy as np
    >>> model = MultinomialNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), ["ham", "ham", "spam"])
    >>> model.predict_proba(np.array([[1, 0, 1]])).round(3).tolist()
    [[0.655, 0.345]]
    """

    _classes_first = True
    _parameter_constraints: dict = {
        **COUNTS,
        "estimate": [StrOptions({"plugin", "bayes"})],
        "coefficient": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        estimate="plugin",
        calibrate=False,
        weights=None,
        coefficient=False,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights
        self.coefficient = coefficient
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(
        cls, feature_prob, length=None, *, class_prior=None, classes=None, feature_names=None, **settings
    ) -> Self:
        """The model with these probabilities of the columns.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        feature_prob : array-like of shape (k, d)
            Probability of each column (word) in each class; rows sum to 1.
        length : array-like of shape (k,) or None
            Mean sum of a row of each class, with which `sample` draws; None: the number of columns.
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
        MultinomialNB
            A fitted model.

        Examples
        --------
        >>> words = [[0.3, 0.5, 0.2], [0.6, 0.2, 0.2]]
        >>> model = MultinomialNB.from_parameters(words, classes=["spam", "ham"])
        >>> model.likelihood_ratio([[1, 3, 0]], "spam", "ham").round(4).tolist()  # 0.3 · 0.5³ over 0.6 · 0.2³
        [7.8125]
        """
        return cls._from_parameters(
            {"feature_prob": feature_prob, "length": length}, class_prior, classes, feature_names, settings
        )

    def _reader(self) -> ArrayReader:
        return ArrayReader("MultinomialNB", "counts")

    def _spec(self) -> Spec:
        family = Polya if self.estimate == "bayes" else Multinomial
        self._check_evidence_by_column(family)
        if (
            self.estimate == "bayes"
            and not isinstance(self.alpha, str)
            and self.force_alpha
            and np.min(self.alpha) <= 0
        ):
            raise DataError(
                f"alpha={self.alpha!r} and estimate='bayes': a distribution without a prior cannot be averaged out\n\n"
                "hint: use alpha > 0, or estimate='plugin'"
            )
        if self.estimate == "bayes" and self.coefficient:
            raise DataError(
                "coefficient=True and estimate='bayes': a Pólya urn draws words in their order\n\n"
                "hint: use estimate='plugin', or leave out `coefficient`"
            )
        return count_spec(self, family, **({} if self.estimate == "bayes" else {"coefficient": self.coefficient}))

    @property
    def feature_count_(self) -> np.ndarray:
        """Sum of each column in each class, (k, d)."""
        return self.tally_.parts[1].total

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._fitted_state().params.log_theta

    @property
    def feature_prob_(self) -> np.ndarray:
        """Probability of each column given the class, (k, d)."""
        return np.exp(self.feature_log_prob_)

    def __sklearn_tags__(self):
        return count_tags(super().__sklearn_tags__())


class ComplementNB(NaiveBayes):
    """The complement variant of multinomial naive Bayes (Rennie et al. 2003), for unbalanced text.

    Its scores are a rule, not a density: no prior is added unless `priors=` is given or columns have weights. `sample`
    and `score_samples` use the multinomial distribution of the same counts.

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of every column; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha below 1e-10 is used unchanged.
    fit_prior : bool
        Whether `class_log_prior_` is learned; False: uniform. Scores use it only with `weights`.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors for `class_log_prior_`; None: see `fit_prior`. Scores use them only with `weights`.
    norm : bool
        Whether the weights of each class are divided by their sum.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Feature weights, fitted by conditional likelihood (`feature_weights_`).
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
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
    feature_prob_, complement_prob_ : ndarray of shape (k, d)
        Probability of each column in the class, and in all other classes together.
    feature_all_ : ndarray of shape (d,)
        Sum of each column over all classes.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
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
    MultinomialNB : Counts of one total, such as words.
    TextClassifier : Texts, read and classified.

    Examples
    --------
    >>> import numpy as np
    >>> model = ComplementNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), [0, 0, 1])
    >>> model.predict(np.array([[0, 1, 1]])).tolist()
    [1]
    """

    _classes_first = True
    _parameter_constraints: dict = {**COUNTS, "norm": ["boolean"]}

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        norm=False,
        calibrate=False,
        weights=None,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.calibrate = calibrate
        self.weights = weights
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(
        cls,
        complement_prob,
        feature_prob,
        length=None,
        *,
        class_prior=None,
        classes=None,
        feature_names=None,
        **settings,
    ) -> Self:
        """The model with these probabilities of the columns.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        complement_prob : array-like of shape (k, d)
            Probability of each column in all other classes together, which scores are made of; rows sum to 1.
        feature_prob : array-like of shape (k, d)
            Probability of each column in the class, of which `sample` and `score_samples` are; rows sum to 1.
        length : array-like of shape (k,) or None
            Mean sum of a row of each class, with which `sample` draws; None: the number of columns.
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
        ComplementNB
            A fitted model.

        Examples
        --------
        >>> words = [[0.3, 0.7], [0.6, 0.4]]
        >>> ComplementNB.from_parameters(complement_prob=words[::-1], feature_prob=words).predict([[0, 2]]).tolist()
        [0]
        """
        return cls._from_parameters(
            {"complement_prob": complement_prob, "feature_prob": feature_prob, "length": length},
            class_prior,
            classes,
            feature_names,
            settings,
        )

    def _reader(self) -> ArrayReader:
        return ArrayReader("ComplementNB", "counts")

    def _spec(self) -> Spec:
        return count_spec(self, Complement, norm=self.norm)

    @property
    def feature_count_(self) -> np.ndarray:
        """Sum of each column in each class, (k, d)."""
        return self.tally_.parts[1].total

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._fitted_state().params.weights

    @property
    def feature_prob_(self) -> np.ndarray:
        """Probability of each column in the class itself, (k, d): what `sample` draws from."""
        return self._fitted_state().params.theta

    @property
    def complement_prob_(self) -> np.ndarray:
        """Probability of each column in all other classes together, (k, d)."""
        return np.exp(self._fitted_state().params.log_complement)

    @property
    def feature_all_(self) -> np.ndarray:
        """Sum of each column over all classes, (d,)."""
        return self.feature_count_.sum(axis=0)

    def __sklearn_tags__(self):
        return count_tags(super().__sklearn_tags__())


class BernoulliNB(CodedColumns, NaiveBayes):
    """Naive Bayes for presence and absence; the absence of a feature is evidence too.

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of presence and of absence; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha below 1e-10 is used unchanged.
    binarize : float or None
        Cells above it are present; None: X is 0 / 1.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors; None: see `fit_prior`.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Feature weights, fitted by conditional likelihood (`feature_weights_`).
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
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
    feature_prob_ : ndarray of shape (k, d)
        This probability.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
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
    CategoricalNB : Columns of levels.
    MultinomialNB : Counts of one total, such as words.

    Notes
    -----
    In a frame with categories or texts, every level is a column of 0 and 1, and so is True of truth values; of numbers,
    dates and durations it is whether they are above their median in training. A missing cell and a level that training
    did not have are no evidence, also in `partial_fit`, which reads rows in the coding of the first ones. Models with
    the same levels and medians can be added. Frames of numbers, and arrays, are used as they are.

    Examples
    --------
    >>> import numpy as np
    >>> model = BernoulliNB().fit(np.array([[1, 0], [1, 1], [0, 1]]), ["a", "a", "b"])
    >>> model.as_logistic().coef_.round(3).tolist()
    [[-1.792, 0.693]]
    """

    _classes_first = True
    _draws_coded = False
    _parameter_constraints: dict = {
        **COUNTS,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        binarize=0.0,
        fit_prior=True,
        class_prior=None,
        calibrate=False,
        weights=None,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrate = calibrate
        self.weights = weights
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(cls, feature_prob, *, class_prior=None, classes=None, feature_names=None, **settings) -> Self:
        """The model with these probabilities of presence.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        feature_prob : array-like of shape (k, d)
            Probability that each column is present, in each class.
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
        BernoulliNB
            A fitted model.

        Examples
        --------
        >>> model = BernoulliNB.from_parameters([[0.40, 0.21], [0.12, 0.13]], classes=["spam", "ham"])
        >>> model.likelihood_ratio([[0, 0], [0, 1], [1, 0], [1, 1]], "spam", "ham").round(3).tolist()
        [0.619, 1.101, 3.027, 5.385]
        """
        return cls._from_parameters({"feature_prob": feature_prob}, class_prior, classes, feature_names, settings)

    def _reader(self) -> TableReader:
        return TableReader("BernoulliNB", "counts", rule=BINARY)

    def _spec(self) -> Spec:
        return count_spec(self, Bernoulli, partial(check_binarize, self.binarize), above=self.binarize)

    @property
    def feature_count_(self) -> np.ndarray:
        """Sum of each column in each class, (k, d)."""
        return self.tally_.parts[1].total

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._fitted_state().params.log_present

    @property
    def feature_prob_(self) -> np.ndarray:
        """Probability that each column is present, given the class, (k, d)."""
        return np.exp(self.feature_log_prob_)

    def __sklearn_tags__(self):
        tags = count_tags(super().__sklearn_tags__())
        tags.input_tags.positive_only = False
        return tags


class PoissonNB(NaiveBayes):
    """Naive Bayes for event counts: each column is Poisson, with a Gamma(`shape`, `exposure`) prior on its rate.

    Parameters
    ----------
    shape, exposure : float
        The Gamma prior of a rate: `shape` events in `exposure` rows.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the class frequencies of the training rows.
    estimate : "plugin" or "bayes"
        "bayes": the rate is integrated out; counts are negative binomial.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Feature weights, fitted by conditional likelihood (`feature_weights_`).
    ledger : bool or LedgerKey
        Keep a keyed hash of every training row, so that `forget` refuses every row that was not learned; True: with a
        key that anybody knows.
    keep_rows : int
        Size of the sample of training rows (a quarter more are in reserve) that is kept where a setting is fitted to
        held-out rows, and used to fit it again after `partial_fit`, `forget` and `+`. Saved models hold these rows. 0:
        no row is kept; such models cannot be updated, merged or forget rows.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : ndarray of shape (k,)
        Labels, weight of the training rows of each, and prior.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    rate_ : ndarray of shape (k, d)
        Mean number of events per row, of each class and column.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they have one.
    evidence_ : float
        log p(X | y) with parameters integrated out, with `estimate="bayes"`.
    tally_ : tally
        The sufficient statistics, to which `partial_fit` adds and from which `forget` subtracts.
    sample_exact_ : bool
        Whether updates still equal a refit: no row of the sample that the model keeps was lost to `forget`.
    tuned_ : dict
        Settings chosen by held-out rows, and their values.

    See Also
    --------
    MultinomialNB : Counts of one total, such as words.
    MixedNB : A density for each column of a table of any type.

    Examples
    --------
    >>> import numpy as np
    >>> model = PoissonNB(shape=0, exposure=0).fit(np.array([[1, 4], [3, 6], [9, 1]]), ["a", "a", "b"])
    >>> model.rate_.tolist()
    [[2.0, 5.0], [9.0, 1.0]]
    """

    _parameter_constraints: dict = {
        "priors": PRIORS,
        "calibrate": ["boolean"],
        **SAMPLE,
        **WEIGHTS,
        "shape": [Interval(Real, 0, None, closed="left")],
        "exposure": [Interval(Real, 0, None, closed="left")],
        "estimate": [StrOptions({"plugin", "bayes"})],
    }

    def __init__(
        self,
        *,
        shape=1.0,
        exposure=1.0,
        priors=None,
        estimate="plugin",
        calibrate=False,
        weights=None,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.shape = shape
        self.exposure = exposure
        self.priors = priors
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(cls, rate, *, class_prior=None, classes=None, feature_names=None, **settings) -> Self:
        """The model with these rates.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        rate : array-like of shape (k, d)
            Mean number of events per row, of each class and column.
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
        PoissonNB
            A fitted model.

        Examples
        --------
        >>> model = PoissonNB.from_parameters([[2.0], [4.0]], class_prior=[0.75, 0.25])
        >>> model.predict_proba([[3]]).round(3).tolist()
        [[0.735, 0.265]]
        """
        return cls._from_parameters({"rate": rate}, class_prior, classes, feature_names, settings)

    def _reader(self) -> ArrayReader:
        return ArrayReader("PoissonNB", "counts")

    def _spec(self) -> Spec:
        family = (GammaPoisson if self.estimate == "bayes" else Poisson)(self.shape, self.exposure)
        if self.estimate == "bayes" and not (self.shape > 0 and self.exposure > 0):
            raise DataError(
                f"shape={self.shape:g}, exposure={self.exposure:g} and estimate='bayes': a rate without a prior cannot "
                "be averaged out\n\nhint: use shape > 0 and exposure > 0, or estimate='plugin'"
            )
        self._check_evidence_by_column(family)
        return self._weighted_spec(partial(fixed_family, family), Prior(self.priors))

    @property
    def rate_(self) -> np.ndarray:
        """Mean number of events per row, of each class and column, (k, d)."""
        return self._fitted_state().params.rate

    def __sklearn_tags__(self):
        return count_tags(super().__sklearn_tags__())


class CategoricalNB(NaiveBayes):
    """Naive Bayes for nominal columns coded 0, 1, …; NaN and unseen levels are no evidence.

    Parameters
    ----------
    alpha : float or "auto"
        Pseudo-count of every level; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha below 1e-10 is used unchanged.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors; None: see `fit_prior`.
    min_categories : int, sequence or None
        Least number of levels of each column.
    calibrate : bool
        Calibrate probabilities: fit a temperature and a bias for each class to leave-one-out predictions.
    weights : None or "discriminative"
        Feature weights, fitted by conditional likelihood (`feature_weights_`).
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
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    category_count_ : list of ndarrays of shape (k, levels)
        Counts of the levels of each column.
    feature_log_prob_ : list of ndarrays of shape (k, levels)
        Log probabilities of the levels of each column.
    feature_prob_ : list of ndarrays of shape (k, levels)
        These probabilities.
    n_categories_ : ndarray of shape (d,)
        Number of levels of each column.
    evidence_ : float
        log p(X | y) with parameters integrated out, where it has a closed form.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        Results of `weights="discriminative"`: weights of columns (d,), of columns by class (k, d), biases (k,),
        number of steps.
    n_parameters_, n_parameters_joint_ : int
        Number of free parameters, and that of a joint distribution without independent columns (where it is known).
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows have names.
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
    BernoulliNB : Columns of 0 and 1.
    MixedNB : A density for each column of a table of any type.

    Notes
    -----
    In a frame with categories or texts, their levels are known by name. Numbers, dates and durations of up to ten
    distinct values are levels, too; others are cut into ten cells of equal mass. A missing cell and a level that
    training did not have are no evidence, also in `partial_fit`, which reads rows in the coding of the first ones.
    Models with the same levels and cells can be added. Frames of numbers, and arrays, hold codes 0, 1, …

    Examples
    --------
    >>> import numpy as np
    >>> model = CategoricalNB().fit(np.array([[0, 1], [0, 0], [1, 1]]), ["no", "yes", "yes"])
    >>> model.predict_proba(np.array([[1, 7]])).round(3).tolist()
    [[0.25, 0.75]]
    """

    _classes_first = True
    _parameter_constraints: dict = {
        **COUNTS,
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha=1.0,
        force_alpha=True,
        fit_prior=True,
        class_prior=None,
        min_categories=None,
        calibrate=False,
        weights=None,
        ledger=False,
        keep_rows=SIZE,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.calibrate = calibrate
        self.weights = weights
        self.ledger = ledger
        self.keep_rows = keep_rows

    @classmethod
    def from_parameters(cls, feature_prob, *, class_prior=None, classes=None, feature_names=None, **settings) -> Self:
        """The model with these probabilities of the levels.

        The model predicts, explains, samples and can be saved; it has no rows, so it cannot be updated or merged.

        Parameters
        ----------
        feature_prob : list of array-likes of shape (k, levels)
            Probabilities of the levels 0, 1, … of each column, in each class; rows sum to 1.
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
        CategoricalNB
            A fitted model.

        Examples
        --------
        >>> model = CategoricalNB.from_parameters([[[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]]], classes=["a", "b"])
        >>> np.exp(model.class_log_likelihood([[1]])).round(2).tolist()
        [[0.5, 0.4]]
        """
        return cls._from_parameters({"feature_prob": feature_prob}, class_prior, classes, feature_names, settings)

    def _reader(self) -> TableReader:
        return TableReader("CategoricalNB", "codes", rule=LEVELS)

    def _spec(self) -> Spec:
        least: tuple = () if self.min_categories is None else tuple(np.atleast_1d(self.min_categories).tolist())
        return count_spec(self, Categorical, partial(check_categories, self.min_categories), least=least)

    @property
    def category_count_(self) -> list[np.ndarray]:
        """Counts of the levels of each column, a list of (k, levels)."""
        return self.tally_.parts[1].columns()

    @property
    def n_categories_(self) -> np.ndarray:
        """Number of levels of each column, (d,)."""
        return np.diff(self._fitted_state().params.offset)

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Log probability of each column (or of its levels) given the class."""
        return self._fitted_state().params.columns()

    @property
    def feature_prob_(self) -> list[np.ndarray]:
        """Probability of each level of each column given the class, a list of (k, levels)."""
        return [np.exp(logs) for logs in self.feature_log_prob_]

    def __sklearn_tags__(self):
        tags = count_tags(super().__sklearn_tags__())
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags


def check_binarize(above: float | None, check_alpha: Any, classes: np.ndarray, reader: Any) -> None:
    """Raise an error for a threshold that 0 and 1 of coded columns are both above, or both not."""
    check_alpha(classes, reader)
    if reader.coding is not None and above is not None and not 0 <= above < 1:
        raise DataError(
            f"binarize is {above:g}, and columns of this frame are coded as 0 and 1\n\nhint: binarize=0, the default"
        )


def check_categories(given: Any, check_alpha: Any, classes: np.ndarray, reader: Any) -> None:
    """Raise an error for `min_categories` that do not match the columns."""
    check_alpha(classes, reader)
    least = np.asarray(0 if given is None else given)
    if not np.issubdtype(least.dtype, np.signedinteger):
        raise DataError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
    if least.shape not in ((), (reader.d,)):
        raise DataError(
            f"'min_categories' should have shape ({reader.d},) when an array-like is provided. "
            f"Got {least.shape} instead."
        )
    if least.max(initial=0) >= inputs.MOST_LEVELS:
        raise DataError(
            f"'min_categories' is {least.max()}: a table with a cell for each would not fit\n\n"
            "hint: give the number of levels that a column has"
        )
