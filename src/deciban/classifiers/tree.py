"""Naive Bayes with a tree among the columns (TAN)."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from deciban.classifiers.reading_frames import some
from deciban.classifiers.structured import Structured
from deciban.classifiers.telling_network import DrawnNetwork
from deciban.errors import DataError
from deciban.families.tree import Tree


class TreeAugmentedNB(DrawnNetwork, Structured):
    """Naive Bayes where every column but one also depends on another: the tree of columns that tell most of each other.

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training and is summed out exactly in prediction; so is a
    level never seen.

    Parameters
    ----------
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without the parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c) +
        alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": of each column, the
        strengths m that make held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    root : column, or None
        Where the tree starts; by default at the column that tells most about all others.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is summed out in
        prediction. "informative": a level of its own, in every column that had missing cells in training
        (see `missing_`).
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

    Counts of all pairs of columns are kept: classes × Σ_(i < j) levels_i · levels_j numbers.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    parents_ : dict
        The column that each column depends on beside the class, by name; None: on none.
    information_ : ndarray of shape (d, d)
        Information that each pair of columns shares, given the class, in nats.
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
    >>> X = pd.DataFrame({"a": list("uuvvuuvv"), "b": list("xxyyyyxx"), "c": list("pqpqpqpq")})
    >>> y = ["same"] * 4 + ["other"] * 4  # whether a and b go together: neither tells anything by itself
    >>> model = TreeAugmentedNB().fit(X, y)
    >>> model.parents_, model.predict(X).tolist() == y
    ({'a': None, 'b': 'a', 'c': None}, True)
    """

    _parameter_constraints: dict = {
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "root": "no_validation",
        **Structured._parameter_constraints,
    }

    def __init__(
        self,
        *,
        backoff="auto",
        alpha=1.0,
        root=None,
        cuts="mdl",
        missing="ignore",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.backoff = backoff
        self.alpha = alpha
        self.root = root
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Tree:
        return Tree(float(self.alpha), self.backoff, self._place_of_root())

    def _place_of_root(self) -> int | None:
        names = self._schema.names
        if self.root is not None and self.root not in names:
            raise DataError(f"root is {self.root!r}, but the columns are {some(names)}\n\nhint: name one of them")
        return None if self.root is None else names.index(self.root)

    @property
    def parents_(self) -> dict[Any, Any]:
        """The column that each one depends on beside the class, by name; None: on the class alone."""
        names = self._schema.names
        return {
            name: None if parent < 0 else names[parent]
            for name, parent in zip(names, self._check_is_fitted().params.params.parents, strict=True)
        }

    @property
    def information_(self) -> Any:
        """I(X_i; X_j | class) of every two columns in nats, (d, d): what the tree is chosen by."""
        return self._check_is_fitted().params.params.information
