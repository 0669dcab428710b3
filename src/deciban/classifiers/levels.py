"""Naive Bayes over levels: every column nominal, codes 0, 1, …"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import ingest
from deciban.classifiers.counts import Discrete, Smoothed
from deciban.errors import DataError
from deciban.families.categorical import Categorical
from deciban.table import Block, Table
from deciban.tallies import Bundle


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
        ingest.check_levels(chunk.x)  # type: ignore[arg-type]
        return super()._tally_chunk(family, chunk)

    def _check_scored(self, chunk: Block, x: Block) -> None:
        if not ingest.supported(chunk, "level"):
            ingest.refuse_negative(x, type(self).__name__, self.__dict__.get("feature_names_in_"))

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
