"""Naive Bayes where each column depends on up to k others (KDB)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from deciban.classifiers.structured import Structured
from deciban.classifiers.telling_network import DrawnNetwork
from deciban.families.kdb import Kdb


class KDependenceBayes(DrawnNetwork, Structured):
    """Naive Bayes where each column also depends on up to k others: of those that tell more about the class, the ones
    that tell most about it.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training and is summed out exactly in prediction; so is a
    level never seen.

    Parameters
    ----------
    k : whole number
        Columns that one depends on beside the class, at most; 0 is naive Bayes. A column of many levels has fewer where
        its table would be too large (see `parents_`).
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without its last parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c)
        + alpha) / (n(c, p) + m + alpha · levels), and so on down to the one without the class. "auto": of each column,
        the strengths m that make held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "auto", "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is summed out in
        prediction. "informative": a level of its own, in every column that had missing cells in training. "auto": a
        level in columns whose missing cells depend on the class or on another column, if rows left out are more
        probable so, by two standard errors; else ignored (see `missing_`).
    priors : sequence, mapping by class, "uniform" or None
        Class priors; by default the classes' shares of the rows.
    class_weight : "balanced", {class: weight}, or None
        Multiplies the learned class shares: "balanced" is n / (k · n_c), so that all classes are equally probable
        beforehand. Densities are learned by class and stay the same.
    columns : "align", "strict"
        Columns at prediction that are not those of training, by name: a warning (one that is not there counts as
        missing, one that was never learned is ignored), or an error.
    calibrate : bool
        Fit a temperature and a bias for each class to leave-one-out predictions, so that probabilities are honest.

    It keeps the distinct rows, so that parents can be chosen anew as rows come and go: its memory is theirs.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The columns that each column depends on beside the class, by name.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Where each column of numbers is cut, by name; another model takes it as `cuts`.
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
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx")})
    >>> y = ["same"] * 4 + ["other"] * 4  # whether a and b go together: neither tells anything by itself
    >>> model = KDependenceBayes(k=1).fit(X, y)
    >>> model.parents_, model.predict(X).tolist() == y
    ({'a': [], 'b': ['a']}, True)
    """

    _parameter_constraints: dict = {
        "k": [Interval(Integral, 0, None, closed="left")],
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        **Structured._parameter_constraints,
        "missing": [StrOptions({"auto", "ignore", "informative"})],
    }

    def __init__(
        self,
        *,
        k=1,
        backoff="auto",
        alpha=1.0,
        cuts="mdl",
        missing="auto",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.k = k
        self.backoff = backoff
        self.alpha = alpha
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Kdb:
        return Kdb(int(self.k), float(self.alpha), self.backoff)

    @property
    def parents_(self) -> dict[Any, list]:
        """The columns that each one depends on beside the class, by name, the one that tells most first."""
        names = self._schema.names
        parents = self._check_is_fitted().params.params.parents
        return {name: [names[i] for i in own] for name, own in zip(names, parents, strict=True)}
