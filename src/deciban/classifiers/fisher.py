"""Fisher's discriminant as a classifier."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions

from deciban import ingest
from deciban.classifiers.discriminant import Discriminant, cells, more_rows_than_classes
from deciban.classifiers.origin import same_library
from deciban.errors import DataError
from deciban.families.fisher import Fisher, pairs
from deciban.tallies import Bundle


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

    @same_library
    def transform(self, X) -> np.ndarray:
        """X along the leading axes of the generalised eigenproblem, (n, n_components)."""
        p = self._check_is_fitted().params
        x = ingest.features(self, X, self._reads)
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
