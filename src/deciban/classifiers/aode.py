"""Averaged one-dependence estimators (AODE)."""

from __future__ import annotations

from numbers import Real

from sklearn.utils._param_validation import Interval, StrOptions

from deciban.classifiers.structured import Structured
from deciban.families.aode import Aode


class AODE(Structured):
    """The average of all models in which one column is, beside the class, the parent of all others (A1DE).

    X is a dataframe or an array. Texts, booleans and categories are levels; numbers are cut into intervals that tell
    the classes apart. A missing cell counts for nothing in training; in prediction it is no parent, and is summed out
    where it is a child; so is a level never seen.

    Parameters
    ----------
    backoff : "auto" or a number
        How strongly a sparse table is drawn to the one without the parent, θ(x | c, p) = (n(x, c, p) + m θ(x | c) +
        alpha) / (n(c, p) + m + alpha · levels), and that to the one without the class. "auto": of each pair of columns,
        the strength m that makes held-out rows most probable. 0: none, plain (n + alpha) / (sum + alpha · levels).
    alpha : number
        Pseudo-count of every level in every table.
    least : number
        Rows (of any class) that have a level before it is a parent; Webb, Boughton and Wang (2005) used 30. Where no
        level of a row is one, the answer is naive Bayes'.
    cuts : "mdl", {column: numbers}, numbers, or None
        Where columns of numbers are cut. "mdl": as the rows of the first `fit` or `partial_fit` have it, by Fayyad and
        Irani's rule; one cut where that finds none and the class depends on it; each of up to 10 distinct numbers by
        itself where the classes of the rows say so. Numbers: as given (of a mapping, columns left out are cut as the
        rows have it). None: every distinct number is a level.
    missing : "ignore", "informative"
        What a missing cell is. "ignore": no evidence; it counts for nothing in training and is no parent in prediction.
        "informative": a level of its own, in every column that had missing cells in training (see `missing_`).
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

    Its memory is about classes · (Σ levels)² numbers. An average of products has no part for a column: `explain` says
    what each adds as they speak one after the other, averaged over the order of the columns and its reverse; the parts
    sum to the log odds.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Prior probability of each class.
    missing_ : list
        Columns whose missing cells are a level, by name.
    levels_ : dict
        Levels of each nominal column, by name.
    cuts_ : dict
        Where each column of numbers is cut, by name; another model takes it as `cuts`.
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
    >>> AODE().fit(X, y).predict(X).tolist() == y
    True
    """

    _parameter_constraints: dict = {
        "backoff": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "least": [Interval(Real, 0, None, closed="left")],
        **Structured._parameter_constraints,
    }

    def __init__(
        self,
        *,
        backoff="auto",
        alpha=1.0,
        least=1,
        cuts="mdl",
        missing="ignore",
        priors=None,
        class_weight=None,
        columns="align",
        calibrate=False,
    ):
        self.backoff = backoff
        self.alpha = alpha
        self.least = least
        self.cuts = cuts
        self.missing = missing
        self.priors = priors
        self.class_weight = class_weight
        self.columns = columns
        self.calibrate = calibrate

    def _structure(self) -> Aode:
        return Aode(float(self.alpha), self.backoff, float(self.least))
