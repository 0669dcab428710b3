"""Gaussian naive Bayes, with scikit-learn's names and numbers.

Naive Bayes over counts and presences, with scikit-learn's names and numbers; and Poisson.

Naive Bayes over levels: every column nominal, codes 0, 1, …
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import decision
from deciban.classifiers.base import PRIORS, Generative, GivenPriors
from deciban.classifiers.feature_weights import CONSTRAINT, WeighingColumns
from deciban.data.blocks import Block, Table
from deciban.errors import DataError
from deciban.estimation.dirichlet import GRID
from deciban.families.bernoulli import Bernoulli
from deciban.families.categorical import Categorical
from deciban.families.complement import Complement
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.families.polya import Polya
from deciban.families.student import Student
from deciban.gaussian import columns as normals
from deciban.rows import inputs
from deciban.tallies import Bundle, SharedTally

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
        return Bundle((*out.parts, SharedTally(unweighted)))

    def _tally(self, table: Table) -> Bundle:
        out = super()._tally(table)
        return out if table.w is not None else Bundle((*out.parts, SharedTally(out.parts[1].collapse())))

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
        return normals.variance_smoothing(fitted.model._everything(fitted.tally), self._setting("var_smoothing"))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.array_api_support = True
        return tags


ALPHA_MIN = 1e-10


class Discrete(WeighingColumns, Generative):
    """What the naive Bayes classifiers over counts and levels share: a class prior that may be fixed or even, and
    columns that may have weights (`weights="discriminative"`)."""

    _parameter_constraints: dict = {
        "fit_prior": ["boolean"],
        "class_prior": PRIORS,
        "calibrate": ["boolean"],
        **CONSTRAINT,
    }
    _reads = "counts"

    def _check_settings(self) -> None:
        if self.class_prior is not None:
            decision.prior_weights(self.class_prior, self.classes_, "class_prior")

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.class_prior is not None:
            with np.errstate(divide="ignore"):
                return np.log(decision.prior_weights(self.class_prior, self.classes_, "class_prior"))
        return decision.log_prior(n) if self.fit_prior else decision.log_prior(np.ones(len(n)))

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Log prior of each class, (k,)."""
        return self._check_is_fitted().log_prior

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


class Smoothed(Discrete):
    """Counts with a pseudo-count `alpha`: one number, one for each column, or "auto" (by leave-one-out)."""

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like", StrOptions({"auto"})],
        "force_alpha": ["boolean"],
    }
    _tunable = {"alpha": ("auto", tuple(GRID.tolist()))}
    _classes_first = True

    def _check_alpha(self) -> Any:
        """alpha as it is used: not under 1e-10 unless forced."""
        alpha: Any = self._setting("alpha")
        alpha = alpha if isinstance(alpha, Real) else np.asarray(alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise DataError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if not (np.isfinite(alpha) & (alpha >= 0)).all():
                raise DataError("All values in alpha must be greater than 0.\n\nhint: and finite; 0 is no smoothing")
        if np.min(alpha) < ALPHA_MIN and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {ALPHA_MIN:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=4,
            )
            return np.maximum(alpha, ALPHA_MIN)
        return alpha

    def _check_settings(self) -> None:
        super()._check_settings()
        self._given_alpha = self._check_alpha()

    @property
    def _alpha(self) -> Any:
        return self._setting("alpha") if self._asked() else self._given_alpha

    @property
    def feature_count_(self) -> np.ndarray:
        """Sum of each column in each class, (k, d)."""
        return self._check_is_fitted().tally.parts[1].total


class MultinomialNB(Smoothed):
    """Naive Bayes for counts, such as words: each row is a bag of draws from its class's distribution.

    Parameters are scikit-learn's, and: `alpha="auto"` (by leave-one-out), `estimate="bayes"` (the distribution is
    averaged out, so that a word seen makes its return likelier: a Pólya urn), `calibrate=True` (honest probabilities).

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of every column; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha under 1e-10 is taken as it is.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors that are given.
    estimate : "plugin" or "bayes"
        "bayes": the distribution is averaged out, so that a word seen makes its return likelier (a Pólya urn).
    calibrate : bool
        Temper probabilities by leave-one-out.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
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
    >>> model = MultinomialNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), ["ham", "ham", "spam"])
    >>> model.predict_proba(np.array([[1, 0, 1]])).round(3).tolist()
    [[0.655, 0.345]]
    """

    _parameter_constraints: dict = {**Smoothed._parameter_constraints, "estimate": [StrOptions({"plugin", "bayes"})]}

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
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Multinomial | Polya:
        return (Polya if self.estimate == "bayes" else Multinomial)(self._alpha)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._check_is_fitted().params.log_theta


class ComplementNB(Smoothed):
    """The complement variant of multinomial naive Bayes (Rennie et al. 2003), for unbalanced text.

    Its scores are a rule, not a density: they take no prior unless `priors=` is given or columns have weights. `sample`
    and `score_samples` use the multinomial that the same counts define.

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of every column; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha under 1e-10 is taken as it is.
    fit_prior, class_prior
        As scikit-learn's; see above. `class_prior` may be a mapping by class or "uniform" too.
    norm : bool
        Whether weights are normalised.
    calibrate : bool
        Temper probabilities by leave-one-out.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
    feature_all_ : ndarray of shape (d,)
        Sum of each column over all classes.
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
    >>> model = ComplementNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), [0, 0, 1])
    >>> model.predict(np.array([[0, 1, 1]])).tolist()
    [1]
    """

    _parameter_constraints: dict = {**Smoothed._parameter_constraints, "norm": ["boolean"]}

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
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Complement:
        return Complement(self._alpha, self.norm)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._check_is_fitted().params.weights

    @property
    def feature_all_(self) -> np.ndarray:
        """Sum of each column over all classes, (d,)."""
        return self.feature_count_.sum(axis=0)


class BernoulliNB(Smoothed):
    """Naive Bayes for presence and absence: absent features speak too. `binarize` is the threshold (None: X is 0 / 1).

    Parameters
    ----------
    alpha : float, array of shape (d,) or "auto"
        Pseudo-count of presence and of absence; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha under 1e-10 is taken as it is.
    binarize : float or None
        Cells above it are present; None: X is 0 / 1.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors that are given.
    calibrate : bool
        Temper probabilities by leave-one-out.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    feature_count_ : ndarray of shape (k, d)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (k, d)
        Log probability of each column given the class.
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
    >>> model = BernoulliNB().fit(np.array([[1, 0], [1, 1], [0, 1]]), ["a", "a", "b"])
    >>> model.as_logistic().coef_.round(3).tolist()
    [[-1.792, 0.693]]
    """

    _parameter_constraints: dict = {
        **Smoothed._parameter_constraints,
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
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Bernoulli:
        return Bernoulli(self._alpha, self.binarize)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log probability of each column (or of its levels) given the class."""
        return self._check_is_fitted().params.log_present

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


class PoissonNB(GivenPriors, Discrete):
    """Naive Bayes for event counts: each column is Poisson, with a Gamma(`shape`, `exposure`) prior on its rate.

    Parameters
    ----------
    shape, exposure : float
        The Gamma prior of a rate: `shape` events in `exposure` rows.
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    estimate : "plugin" or "bayes"
        "bayes" averages over the rate: counts are negative binomial.
    calibrate : bool
        Temper probabilities by leave-one-out.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : ndarray of shape (k,)
        Labels, weight of the training rows of each, and prior.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    rate_ : ndarray of shape (k, d)
        Events a row, of each class and column.
    feature_weights_, class_feature_weights_, class_bias_, n_iter_
        What `weights="discriminative"` learned: weights of columns (d,), of columns by class (k, d), biases (k,),
        steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.
    evidence_ : float
        log p(X | y), parameters averaged out, with `estimate="bayes"`.
    tally_ : tally
        The sufficient statistics: what `partial_fit` adds to and `forget` subtracts from.
    tuned_ : dict
        Settings that held-out rows chose, and their values.

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
        **CONSTRAINT,
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
    ):
        self.shape = shape
        self.exposure = exposure
        self.priors = priors
        self.estimate = estimate
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Poisson | GammaPoisson:
        return (GammaPoisson if self.estimate == "bayes" else Poisson)(self.shape, self.exposure)

    @property
    def rate_(self) -> np.ndarray:
        """Events a row, of each class and column, (k, d)."""
        return self._check_is_fitted().params.rate


class CategoricalNB(Smoothed):
    """Naive Bayes for nominal columns coded 0, 1, …; NaN and levels never seen in training are no evidence.

    Parameters
    ----------
    alpha : float or "auto"
        Pseudo-count of every level; "auto": by leave-one-out.
    force_alpha : bool
        Whether an alpha under 1e-10 is taken as it is.
    fit_prior : bool
        Whether class priors are learned; False: uniform.
    class_prior : sequence, mapping by class, "uniform" or None
        Class priors that are given.
    min_categories : int, sequence or None
        Least number of levels of each column.
    calibrate : bool
        Temper probabilities by leave-one-out.
    weights : None or "discriminative"
        Weights of the columns, learned to predict the class.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_log_prior_ : ndarray of shape (k,)
        Log prior of each class.
    category_count_ : list of ndarrays of shape (k, levels)
        Counts of the levels of each column.
    feature_log_prob_ : list of ndarrays of shape (k, levels)
        Log probabilities of the levels of each column.
    n_categories_ : ndarray of shape (d,)
        Number of levels of each column.
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
    >>> model = CategoricalNB().fit(np.array([[0, 1], [0, 0], [1, 1]]), ["no", "yes", "yes"])
    >>> model.predict_proba(np.array([[1, 7]])).round(3).tolist()
    [[0.25, 0.75]]
    """

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "force_alpha": ["boolean"],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }
    _reads = "codes"

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
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.calibrate = calibrate
        self.weights = weights

    def _family(self, tally: Bundle | None = None) -> Categorical:
        return Categorical(self._alpha)

    def _least_levels(self) -> np.ndarray:
        """min_categories for each column."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise DataError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (self.n_features_in_,)):
            raise DataError(
                f"'min_categories' should have shape ({self.n_features_in_},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        return np.broadcast_to(least, (self.n_features_in_,))

    def _check_settings(self) -> None:
        super()._check_settings()
        self._least_levels()

    def _tally(self, table: Table) -> Bundle:
        n, crosstab = super()._tally(table).parts
        return Bundle((n, crosstab.relevel(np.maximum(crosstab.levels, self._least_levels()))))

    def _tally_chunk(self, family: Categorical, chunk: Table) -> Bundle:
        inputs.check_levels(chunk.x)  # type: ignore[arg-type]
        return super()._tally_chunk(family, chunk)

    def _check_scored(self, chunk: Block, x: Block) -> None:
        if not inputs.in_support(chunk, "level"):
            inputs.raise_negative(x, type(self).__name__, self.__dict__.get("feature_names_in_"))

    @property
    def category_count_(self) -> list[np.ndarray]:
        """Counts of the levels of each column, a list of (k, levels)."""
        return self.tally_.parts[1].columns()

    @property
    def n_categories_(self) -> np.ndarray:
        """Number of levels of each column, (d,)."""
        return self.tally_.parts[1].levels

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Log probability of each column (or of its levels) given the class."""
        return self._check_is_fitted().params.columns()

    feature_count_ = property()  # counts of levels are in `category_count_`

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        return tags
