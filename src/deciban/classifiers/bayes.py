"""Naive Bayes: Gaussian, Bernoulli, multinomial, complement and Poisson, with scikit-learn's names and numbers."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from deciban import decision
from deciban.classifiers.base import Generative
from deciban.classifiers.scoring import check_priors
from deciban.errors import DataError
from deciban.families.bernoulli import Bernoulli
from deciban.families.complement import Complement
from deciban.families.gaussian import Gaussian
from deciban.families.multinomial import Multinomial
from deciban.families.poisson import Poisson
from deciban.table import Table
from deciban.tallies import Bundle, Common

ALPHA_MIN = 1e-10


class GaussianNB(Generative):
    """Naive Bayes with a normal density for each column and class.

    Parameters are scikit-learn's (`priors`, `var_smoothing`) and `ddof` (1: sample variances). X may be dense or CSR,
    and may hold NaN: a missing cell counts for nothing in training and is integrated out in prediction.

    >>> import numpy as np
    >>> X, y = np.array([[-2.0, -1], [-1, -1], [1, 1], [2, 1]]), ["no", "no", "yes", "yes"]
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, -1]]).tolist(), model.theta_.tolist()
    (['no'], [[-1.5, -1.0], [1.5, 1.0]])
    >>> model.forget(X[:1], y[:1]).class_count_.tolist()
    [1.0, 2.0]
    """

    _keeps_kind = True
    _parameter_constraints: dict = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "ddof": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, priors=None, var_smoothing=1e-9, ddof=0):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.ddof = ddof

    def _family(self, tally: Bundle | None = None) -> Gaussian:
        return Gaussian(self.var_smoothing, self.ddof)

    # scikit-learn takes the variance that smoothing refers to over all rows, unweighted: a third tally

    def _tally_chunk(self, family: Gaussian, chunk: Table) -> Bundle:
        out = super()._tally_chunk(family, chunk)
        if chunk.w is None:
            return out
        unweighted = family.tally(chunk.x, np.zeros(chunk.n, dtype=np.int32), None, 1)  # type: ignore[arg-type]
        return Bundle((*out.parts, Common(unweighted)))

    def _tally(self, table: Table) -> Bundle:
        out = super()._tally(table)
        return out if table.w is not None else Bundle((*out.parts, Common(out.parts[1].collapse())))

    def _estimate(self, family: Gaussian, tally: Bundle) -> Any:
        return family.estimate(tally.parts[1], family.epsilon(tally.parts[2].part))

    def _leave_one_out(self, family: Gaussian, tally: Bundle, chunk: Table) -> np.ndarray:
        return family.leave_one_out(tally.parts[1], chunk.x, chunk.y, chunk.w, tally.parts[2].part)  # type: ignore[arg-type]

    def _check_settings(self) -> None:
        if self.priors is not None:
            check_priors(self.priors, self.classes_)

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return decision.log_prior(n)
        with np.errstate(divide="ignore"):
            return np.log(check_priors(self.priors, self.classes_))

    @property
    def means_(self) -> np.ndarray:
        """The same as `theta_`: the name that the discriminant classifiers use."""
        return self.theta_

    @property
    def theta_(self) -> np.ndarray:
        return self._view(self._check_is_fitted().params.mean)

    @property
    def var_(self) -> np.ndarray:
        return self._view(self._check_is_fitted().params.var)

    @property
    def epsilon_(self) -> float:
        fitted = self._check_is_fitted()
        return fitted.family.epsilon(fitted.tally.parts[2].part)

    @property
    def class_prior_(self) -> np.ndarray:
        return self._view(np.exp(self._check_is_fitted().log_prior))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.array_api_support = True
        return tags


class Discrete(Generative):
    """What the naive Bayes classifiers over counts and levels share: a class prior that may be fixed or even."""

    _parameter_constraints: dict = {"fit_prior": ["boolean"], "class_prior": ["array-like", None]}
    _reads = "counts"

    def _check_settings(self) -> None:
        if self.class_prior is not None and len(self.class_prior) != len(self.classes_):
            raise DataError("Number of priors must match number of classes.")

    def _log_prior(self, n: np.ndarray) -> np.ndarray:
        if self.class_prior is not None:
            with np.errstate(divide="ignore"):
                return np.log(np.asarray(self.class_prior, dtype=np.float64))
        return decision.log_prior(n) if self.fit_prior else decision.log_prior(np.ones(len(n)))

    @property
    def class_log_prior_(self) -> np.ndarray:
        return self._check_is_fitted().log_prior

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


class Smoothed(Discrete):
    """Counts with a pseudo-count `alpha`, one number or one for each column."""

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "force_alpha": ["boolean"],
    }

    def _check_alpha(self) -> Any:
        """alpha as it is used: not under 1e-10 unless forced."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise DataError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if alpha.min() < 0:
                raise DataError("All values in alpha must be greater than 0.")
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
        self._alpha = self._check_alpha()

    @property
    def feature_count_(self) -> np.ndarray:
        return self._check_is_fitted().tally.parts[1].total


class MultinomialNB(Smoothed):
    """Naive Bayes for counts, such as words: each row is a bag of draws from its class's distribution.

    >>> import numpy as np
    >>> model = MultinomialNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), ["ham", "ham", "spam"])
    >>> model.predict_proba(np.array([[1, 0, 1]])).round(3).tolist()
    [[0.655, 0.345]]
    """

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self, tally: Bundle | None = None) -> Multinomial:
        return Multinomial(self._alpha)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        return self._check_is_fitted().params.log_theta


class ComplementNB(Smoothed):
    """The complement variant of multinomial naive Bayes (Rennie et al. 2003), for unbalanced text.

    Its scores are a rule, not a density: they take no prior unless `priors=` is given. `sample` and `score_samples` use
    the multinomial that the same counts define.

    >>> import numpy as np
    >>> model = ComplementNB().fit(np.array([[2, 1, 0], [3, 0, 0], [0, 1, 4]]), [0, 0, 1])
    >>> model.predict(np.array([[0, 1, 1]])).tolist()
    [1]
    """

    _parameter_constraints: dict = {**Smoothed._parameter_constraints, "norm": ["boolean"]}

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _family(self, tally: Bundle | None = None) -> Complement:
        return Complement(self._alpha, self.norm)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        return self._check_is_fitted().params.weights

    @property
    def feature_all_(self) -> np.ndarray:
        return self.feature_count_.sum(axis=0)


class BernoulliNB(Smoothed):
    """Naive Bayes for presence and absence: absent features speak too. `binarize` is the threshold (None: X is 0 / 1).

    >>> import numpy as np
    >>> model = BernoulliNB().fit(np.array([[1, 0], [1, 1], [0, 1]]), ["a", "a", "b"])
    >>> model.as_logistic().coef_.round(3).tolist()
    [[-1.792, 0.693]]
    """

    _parameter_constraints: dict = {
        **Smoothed._parameter_constraints,
        "binarize": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self, tally: Bundle | None = None) -> Bernoulli:
        return Bernoulli(self._alpha, self.binarize)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        return self._check_is_fitted().params.log_present

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


class PoissonNB(Discrete):
    """Naive Bayes for event counts: each column Poisson, with a Gamma(`shape`, `exposure`) prior on its rate.

    >>> import numpy as np
    >>> model = PoissonNB(shape=0, exposure=0).fit(np.array([[1, 4], [3, 6], [9, 1]]), ["a", "a", "b"])
    >>> model.rate_.tolist()
    [[2.0, 5.0], [9.0, 1.0]]
    """

    _parameter_constraints: dict = {
        **Discrete._parameter_constraints,
        "shape": [Interval(Real, 0, None, closed="left")],
        "exposure": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, shape=1.0, exposure=1.0, fit_prior=True, class_prior=None):
        self.shape = shape
        self.exposure = exposure
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self, tally: Bundle | None = None) -> Poisson:
        return Poisson(self.shape, self.exposure)

    @property
    def rate_(self) -> np.ndarray:
        return self._check_is_fitted().params.rate
