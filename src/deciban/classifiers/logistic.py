"""Logistic regression: P(class | x) = softmax(coef · x + intercept); a logistic function of one margin for two classes.

    coef = argmin  C Σ_i w_i loss_i  +  ½ (1 − l1_ratio) |coef|²  +  l1_ratio |coef|₁      no penalty on the intercept

scikit-learn's constructor, attributes and answers. Beside them: `solver="auto"` (the default) picks by shape; priors
may be changed at prediction; evidence in decibans.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression().fit([[0.0], [2.0], [3.0], [5.0]], ["no", "no", "yes", "yes"])
>>> model.predict([[1.0], [4.0]]).tolist(), model.coef_.round(3).tolist()
(['no', 'yes'], [[0.885]])
>>> model.predict_proba([[2.5]], priors=[0.9, 0.1]).round(3).tolist()
[[0.9, 0.1]]

What a fitted linear model of classes says about rows: scores, posteriors, odds, decisions and evidence.

Needs `coef_` (m, d), `intercept_` (m,), `classes_` and `class_count_`, where m is 1 for two classes; they are read anew
by every call, so a user may change them.

Inference for logistic regression: errors and tests, separation, the Laplace posterior.

`fit` leaves what it learned from by `_learn_inference`; the first question makes one more pass over those rows.

>>> from deciban import LogisticRegression
>>> model = LogisticRegression(C=1.0).fit([[0.0], [1.0], [1.0], [2.0]], ["no", "yes", "no", "yes"])
>>> model.summary().odds_ratio.round(2).tolist()
[[0.51, 1.96]]
>>> model.predict_proba([[1.0], [9.0]]).round(2).tolist()
[[0.5, 0.5], [0.0, 1.0]]
>>> model.predict_proba([[1.0], [9.0]], posterior="laplace").round(2).tolist()
[[0.5, 0.5], [0.22, 0.78]]

From a generative model to the logistic regression of the same posterior, where log p(x | class) is linear in x:

    P(class | x)  ∝  p(x | class) P(class)   ⇒   P(class | x) = softmax(coef · x + intercept)

>>> from deciban import BernoulliNB, LogisticRegression
>>> words = BernoulliNB().fit([[1, 0], [1, 1], [0, 1], [0, 1]], ["ham", "ham", "spam", "spam"])
>>> LogisticRegression.from_generative(words).coef_.round(3).tolist()
[[-2.197, 1.099]]

Logistic regression on data of any size: one pass finds the classes and a sample, then each step is a pass.

    rows → classes, weights, a sample → its minimum → { rows → loss, gradient, Hessian → step } until done

The sample is of the rows whose cells hash lowest, each with the weight of all that are the same, so it does not hang on
how the data are cut into batches.

>>> import pyarrow as pa
>>> from deciban import LogisticRegression
>>> rows = pa.table({"size": [0.0, 2.0, 3.0, 5.0], "label": ["no", "no", "yes", "yes"]})
>>> LogisticRegression().fit_on(rows).coef_.round(3).tolist()
[[0.885]]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils._param_validation import Hidden, Interval, InvalidParameterError, StrOptions

from deciban import decision, ops, progress
from deciban.classifiers.base import Classifier, context, unfitted
from deciban.data import frames
from deciban.data.blocks import Block, Counts, Reals, Table
from deciban.data.frames import shown_names
from deciban.decision import check_priors
from deciban.errors import DataError, DecibanError, SupportError, relocate
from deciban.explain.explanation import Explanation
from deciban.logistic import minimisation, profile_likelihood, settings
from deciban.logistic.firth import firth
from deciban.logistic.laplace import Posterior, as_coef
from deciban.logistic.likelihood import Prior, reference_coding
from deciban.logistic.minimisation import minimise_elsewhere
from deciban.logistic.objective import Distant, Objective, ObjectiveElsewhere
from deciban.logistic.path import (
    KEPT,
    PATIENCE,
    Fit,
    Path,
    StopWhenFlat,
    StopWhenWorse,
    check_strengths,
    deviations,
    grid,
    null,
    only_best,
    scorer,
    walk,
)
from deciban.logistic.separation import WIDE, Separation, SeparationWarning, certified, large_margins, separation
from deciban.logistic.summary import Summary
from deciban.logistic.training_rows import TrainingRows
from deciban.models.posterior import check_size
from deciban.progress import ProgressCallback
from deciban.rows import inputs
from deciban.rows.digests import row_digests
from deciban.rows.readers import ArrayKind, ArrayReader
from deciban.rows.rows import BatchRows, ColumnRoles, united
from deciban.solvers.base import Solution
from deciban.solvers.gradient import OnlineAverage
from deciban.tallies.basic import SumTuple

FLOAT = np.dtype(np.float64)
SQUARED = 1e150  # magnitudes up to which squares may be summed up


def as_floats(x: Block) -> Reals | Counts:
    """Rows of a dtype that the kernels know, converted once: every pass reads them."""
    assert isinstance(x, Reals | Counts)
    return x.rows(0, x.n)


def column_means(rows: Table) -> np.ndarray | None:
    """The mean of each column, (d,); None where rows are sparse, or weigh nothing."""
    weight = float(rows.n if rows.w is None else rows.w.sum())
    if not isinstance(rows.x, Reals) or not weight > 0:
        return None
    return ops.sums(rows.x, rows.y, rows.w, rows.k).total.sum(axis=0) / weight


def affine(x: Block, coef: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """x · coef + bias, (n, m); packing the coefficients is left out where there are fewer cells than they have."""
    x = as_floats(x)
    if x.cells >= coef.size:
        return ops.affine(x, coef, bias, strict=True)
    if isinstance(x, Reals):
        return x.values @ coef.T + bias
    at = x.indptr - x.indptr[0]
    return sparse.csr_array((x.stored, x.column_of(), at), shape=(x.n, x.d)) @ coef.T + bias


def overflows(x: Block) -> bool:
    """Whether the square of a cell is past all doubles."""
    values = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
    return float(np.abs(values).max(initial=0.0)) > SQUARED


def check_baseline(baseline: Any, d: int) -> np.ndarray:
    """A row to count evidence from, as doubles."""
    try:
        row = np.asarray(baseline, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty(0)
    if row.shape != (d,) or not ops.all_finite(row):
        raise DataError(
            f"`baseline` is not a row of {d} finite numbers\n\n"
            "hint: give one for each column, as X.mean(axis=0), or 0 to count from there"
        )
    return row


def refuse(x: Block, names: np.ndarray | None = None, only_if_not_finite: bool = False) -> None:
    """Say which cell made an answer that is no number; `names` are those of the columns."""
    values = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
    bad = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    if not bad.any():
        if only_if_not_finite:
            return
        inputs.raise_not_finite(x)
    missing = np.isnan(values)
    at = tuple(np.argwhere(missing if missing.any() else bad)[0])
    row, column = (x.row_of()[at[0]], x.column_of()[at[0]]) if isinstance(x, Counts) else at
    where = f"first in row {row}, {inputs.called(column, names)}"
    if missing.any():
        raise SupportError(
            f"Input X contains NaN ({where}), and LogisticRegression takes no missing values\n\n"
            "hint: MixedNB does; or fill them in first (sklearn.impute)"
        )
    raise SupportError(
        f"Input X contains infinity ({where}), and a linear score of it is no number\n\n"
        "hint: leave the row out, or put the largest value there that makes sense"
    )


FAR = 1e-3  # nats that another step may promise where coefficients count as the optimum
FIRTH = 1000  # steps of Fisher scoring; few are needed
SMALL = 1 << 24  # multiplications that a proof against separation may cost after every fit without penalty


def attributes(model: Any) -> dict[str, Any]:
    """What a logistic regression with the posterior of this model has learned, by name."""
    if not hasattr(model, "as_logistic"):
        raise DataError(
            f"{type(model).__name__} is no generative classifier with `as_logistic`\n\n"
            "hint: pass a fitted LinearDiscriminantAnalysis, MultinomialNB, PoissonNB or BernoulliNB"
        )
    state, view = model._fitted_state(), model.as_logistic()
    if (view.binarize or 0.0) >= 1.0:
        raise DataError(
            f"binarize={view.binarize:g} makes 0 and 1 the same, and a logistic regression takes cells as they are\n\n"
            "hint: binarize the columns to 0 and 1 first, and fit BernoulliNB with binarize=0"
        )
    k = len(view.classes_)
    if k < 2:
        raise DataError(f"the model has one class, {view.classes_.tolist()}\n\nhint: fit it on rows of two classes")
    if not (ops.all_finite(view.coef_) and ops.all_finite(view.intercept_)):
        raise DataError(
            f"this {type(model).__name__} calls some rows impossible, and no finite coefficient says so\n\n"
            "hint: smooth its counts (alpha > 0), and give every class a prior above 0"
        )
    posterior = state.posterior
    prior = np.exp(posterior.added)
    out = {
        "classes_": view.classes_,
        "coef_": np.array(view.coef_, dtype=np.float64),
        "intercept_": np.array(view.intercept_, dtype=np.float64),
        "class_count_": state.n.sum() * prior / prior.sum(),
        "n_features_in_": model.n_features_in_,
        "n_iter_": np.array([0], dtype=np.int32),
        "_origin": ArrayKind.plain,
    }
    theta = reference_coding(out["coef_"], out["intercept_"], True)
    out["_observed"] = TrainingRows(None, None, None, theta, k, True, posterior.candidates)
    if hasattr(model, "feature_names_in_"):
        out["feature_names_in_"] = model.feature_names_in_
    return out


SAMPLE = 1 << 20  # cells


@dataclass(frozen=True, eq=False)
class Found:
    """What the first pass finds."""

    classes: np.ndarray  # (k,)
    rows: np.ndarray  # (k,), how many rows each has
    mass: np.ndarray  # (k,), Σ w
    total: np.ndarray  # (k, d), Σ w x
    x: np.ndarray  # (s, d), the sample
    y: np.ndarray  # (s,), codes
    w: np.ndarray | None  # (s,)
    order: np.ndarray  # (s,)

    def __add__(self, other: Found) -> Found:
        classes = united(self.classes, other.classes) if len(self.rows) and len(other.rows) else None
        if classes is None:
            return self if len(self.rows) else other
        a, b = self._among(classes), other._among(classes)
        last = _last(np.concatenate([a.order, b.order]), a.x.shape[1])
        a, b = a._upto(last), b._upto(last)  # few of the rows, before they are copied
        both = Found(
            classes,
            a.rows + b.rows,
            a.mass + b.mass,
            a.total + b.total,
            np.concatenate([a.x, b.x]),
            np.concatenate([a.y, b.y]),
            None if a.w is None and b.w is None else np.concatenate([a.weights(), b.weights()]),
            np.concatenate([a.order, b.order]),
        )
        return both.thinned() if last is None else both

    def _among(self, classes: np.ndarray) -> Found:
        at = np.searchsorted(classes, self.classes)
        rows, mass = np.zeros(len(classes), dtype=np.int64), np.zeros(len(classes))
        total = np.zeros((len(classes), self.total.shape[1]))
        rows[at], mass[at], total[at] = self.rows, self.mass, self.total
        return replace(self, classes=classes, rows=rows, mass=mass, total=total, y=at[self.y].astype(np.int32))

    def weights(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.w is None else self.w

    def thinned(self) -> Found:
        """With those rows of the sample that come first."""
        d = self.x.shape[1]
        last = _last(self.order, d)
        if last is not None:
            return self._upto(last)
        found, most = self._joined(), sample_rows(d)
        return found._upto(np.partition(found.order, most - 1)[most - 1] if len(found.order) > most else None)

    def _joined(self) -> Found:
        """With rows that are the same as one of all their weight. They have one place in the order, so a sample of
        the first rows would else be of few different ones, where rows recur."""
        found = self._some(np.lexsort((self.y, self.order)))
        other = (np.diff(found.order, prepend=~found.order[:1]) != 0) | (np.diff(found.y, prepend=-1) != 0)
        first = np.flatnonzero(other)
        return replace(found._some(first), w=np.add.reduceat(found.weights(), first))

    def _upto(self, last: np.uint64 | None) -> Found:
        keep = None if last is None else self.order <= last
        return self if keep is None or keep.all() else self._some(keep)

    def _some(self, at: np.ndarray) -> Found:
        return replace(self, x=self.x[at], y=self.y[at], w=None if self.w is None else self.w[at], order=self.order[at])

    def sample(self) -> Table:
        """In an order of its own."""
        some = self._some(np.lexsort((*self.x.T[:4], self.y, self.order)))
        return Table(Reals(some.x), some.y, some.w, len(self.classes))


def _last(order: np.ndarray, d: int) -> np.uint64 | None:
    """The last place that a sample takes; None where rows recur."""
    order = np.sort(order)
    if (order[1:] == order[:-1]).any():
        return None
    return order[min(sample_rows(d), len(order)) - 1] if len(order) else np.uint64(0)


def sample_rows(d: int) -> int:
    return max(2 * d, min(1 << 15, SAMPLE // max(d, 1)))


def in_rows(table: Table) -> Table:
    """The same, cell after cell of a row, as many passes go through them."""
    return replace(table, x=as_floats(ops.in_rows(table.x)))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Finding:
    """batch → Found."""

    reading: ColumnRoles

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> Found:
        try:
            classes, rows = self.reading.table(batch)
            rows = in_rows(rows)
            x = rows.x.values  # type: ignore[union-attr]
            if not np.isfinite(x.sum()) and not np.isfinite(x).all():
                refuse(rows.x, np.array(self.reading.features, dtype=object))
        except DecibanError as wrong:
            raise relocate(wrong, names=self.reading.features) from None
        count = np.bincount(rows.y, minlength=rows.k)
        sums = ops.sums(rows.x, rows.y, rows.w, rows.k)  # type: ignore[arg-type]
        mass = ops.class_weights(rows.y, rows.w, rows.k)
        found = Found(classes, count, mass, sums.total, x, rows.y, rows.w, row_digests(rows.x))
        return found.thinned()


@dataclass(frozen=True, eq=False)
class Asked:
    """batch → what the objective of its rows, without penalty, says."""

    reading: ColumnRoles
    classes: np.ndarray
    share: np.ndarray | None  # weights of the classes
    intercept: bool
    what: str
    at: tuple[np.ndarray, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.reading.columns

    def __call__(self, batch: Any) -> SumTuple:
        try:
            rows = in_rows(self.reading.table(batch, self.classes)[1])
        except DecibanError as wrong:
            raise relocate(wrong, names=self.reading.features) from None
        rows = replace(rows, w=weighted(rows.y, rows.w, self.share))
        said = getattr(Objective.of(rows, intercept=self.intercept), self.what)(*self.at)
        return SumTuple(said if isinstance(said, tuple) else (said,))


def weighted(y: np.ndarray, w: np.ndarray | None, share: np.ndarray | None) -> np.ndarray | None:
    """Rows' weights times their classes'."""
    if share is None:
        return w
    return share[y] if w is None else share[y] * w


@dataclass(frozen=True, eq=False)
class Ask:
    """A question to all rows: one pass of the engine."""

    job: Any
    found: Found
    share: np.ndarray | None
    intercept: bool

    def __call__(self, what: str, *at: np.ndarray) -> tuple:
        asked = Asked(self.job.roles, self.found.classes, self.share, self.intercept, what, at)
        with np.errstate(all="ignore"):
            return self.job.total(asked).parts

    def of_columns(self, at: np.ndarray, intercept: bool) -> Ask:
        reading = self.job.roles
        some = replace(reading, features=tuple(reading.features[j] for j in at), kinds=())
        return replace(self, job=replace(self.job, roles=some), intercept=intercept)


class LogisticEvidence(NamedTuple):
    """Scores by column: base + parts.sum(axis=2), up to a term that all classes share."""

    base: np.ndarray  # (k,), of the row that is counted from
    parts: np.ndarray  # (n, k, d)
    columns: list[str]
    cells: np.ndarray  # (n, d)
    start: str  # what that row is called


@dataclass(frozen=True, eq=False)
class LogisticPosterior:
    """P(class | x) by scores that are linear in x; see `models.posterior.Posterior`."""

    classes: np.ndarray
    coef: np.ndarray  # (m, d), m = 1 for two classes, else k
    bias: np.ndarray  # (m,)
    counts: np.ndarray  # (k,), weights of the classes in the training rows
    shift: np.ndarray | float  # (k,), what other priors add to the scores: log (new / training)
    reader: ArrayReader
    means: np.ndarray | None  # (d,), of the training rows
    ranges: Callable[[], list[np.ndarray] | None]
    splits: ClassVar[bool] = True
    anchored: ClassVar[bool] = False  # a cell of 0 says nothing, wherever the column's values lie

    def under(self, priors: Any) -> LogisticPosterior:
        with np.errstate(divide="ignore"):
            given = np.log(check_priors(priors, self.classes))
        return replace(self, counts=np.exp(given), shift=given - self.added_prior())

    def added_prior(self) -> np.ndarray:
        return decision.log_prior(self.counts)

    def output(self, X: Any) -> ArrayKind:
        return self.reader.output(X)

    def decision(self, X: Any) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        scores = self._scores(X, "decision_function")
        return self.output(X).send(scores[:, 0] if scores.shape[1] == 1 else scores)

    def proba(self, X: Any) -> np.ndarray:
        out = ops.posterior(np.ascontiguousarray(self.joint_scores(X, "predict_proba")), logs=False)
        return out if type(X) is np.ndarray and X.dtype == FLOAT else self.output(X).send(out)

    def log_proba(self, X: Any) -> np.ndarray:
        return self.output(X).send_logs(
            ops.posterior(np.ascontiguousarray(self.joint_scores(X, "predict_log_proba")), logs=True)
        )

    def labels(self, X: Any) -> np.ndarray:
        scores = self._scores(X) if isinstance(self.shift, float) else self.joint_scores(X)
        best = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.output(X).send_labels(self.classes[best])

    def log_odds(self, X: Any, against: Any = None) -> np.ndarray:
        place = None if against is None else decision.class_index(against, self.classes)
        return self.output(X).send(decision.log_odds(self.joint_scores(X), place))

    def joint_scores(self, X: Any, method: str = "predict") -> np.ndarray:
        """A score for each class, (n, k), whose softmax is the posterior."""
        scores = self._scores(X, method)
        if scores.shape[1] == 1:
            scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
        return scores if isinstance(self.shift, float) else scores + self.shift

    def _scores(self, X: Any, method: str = "predict") -> np.ndarray:
        """x · coef + intercept, as doubles, (n, m)."""
        x = self.reader.read(X, method)
        coef, bias = np.asarray(self.coef, dtype=np.float64), np.asarray(self.bias, dtype=np.float64)
        with np.errstate(all="ignore"):
            if type(x) is Reals and x.values.dtype == FLOAT and x.values.size < coef.size:
                scores = x.values @ coef.T + bias
            else:
                scores = affine(x, coef, bias)
        if not ops.all_finite(scores):
            refuse(x, self.reader.names, only_if_not_finite=True)
        return scores

    # evidence by column

    @property
    def columns(self) -> list[str]:
        return self.reader.columns

    def candidates(self) -> list[np.ndarray] | None:
        return self.ranges()

    def block_of(self, columns: list[np.ndarray]) -> Block:
        return self.reader.block_of(columns)

    def evidence(self, X: Any, baseline: Any = 0) -> LogisticEvidence:
        """coef · distance from a row, by default from all 0; None: from the mean of the training rows."""
        x = self.reader.read(X)
        assert isinstance(x, Reals | Counts)
        check_size(x.n, len(self.classes), x.d)
        cells, coef, bias = x.dense(), self.coef, self.bias
        if not ops.all_finite(cells):
            refuse(x, self.reader.names)
        if len(coef) == 1:
            coef, bias = np.concatenate([np.zeros_like(coef), coef]), np.concatenate([np.zeros_like(bias), bias])
        coef, bias = coef.astype(np.float64), bias.astype(np.float64)
        at, start = self._start(baseline)
        if at is None:
            return LogisticEvidence(bias + self.shift, cells[:, None, :] * coef, self.columns, cells, start)
        row = check_baseline(at, x.d)
        parts = (cells - row)[:, None, :] * coef
        return LogisticEvidence(bias + coef @ row + self.shift, parts, self.columns, cells, start)

    def _start(self, baseline: Any) -> tuple[Any, str]:
        """The row to count evidence from (None: all 0), and what it is called."""
        if baseline is None and self.means is not None:
            return self.means, "mean row"
        zero = baseline is None or (np.ndim(baseline) == 0 and baseline == 0)
        return (None, "intercept") if zero else (baseline, "baseline")


class LogisticRegression(Classifier, LinearClassifierMixin, SparseCoefMixin):
    """Logistic regression of any number of classes, dense or sparse.

    Arguments are scikit-learn's. solver: "auto" picks by shape; "newton", "lbfgs", "newton-cg", "coordinate" (for
    l1_ratio > 0), "gradient", "sgd", or a name of scikit-learn's, which stands for the nearest of these. C: "auto", or
    a list to choose from, takes the best by rows held out (see `choosing`); `C_` is the one. verbose=1 shows progress.

    Parameters
    ----------
    penalty : "l2", "l1", "elasticnet", "jeffreys" or None
        "jeffreys" is Firth's; the others follow from `C` and `l1_ratio`.
    C : float, "auto" or a list
        Inverse strength of the penalty; inf: none. "auto" and a list: the best by held-out rows.
    l1_ratio : float
        Share of the L1 penalty, 0 … 1.
    tol, max_iter : float, int
        When a solver stops.
    fit_intercept, intercept_scaling : bool, float
        Whether there is an intercept, and how it is penalised by solver "liblinear".
    class_weight : mapping by class, "balanced" or None
        Weights of the classes.
    solver : str
        "auto", "newton", "lbfgs", "newton-cg", "coordinate", "gradient", "sgd", or a name of scikit-learn's.
    dual, random_state, verbose, warm_start, n_jobs
        As scikit-learn's.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Number (weight) of the training rows of each class.
    coef_, intercept_ : ndarrays of shape (1 or k, d) and (1 or k,)
        The linear scores: of the second of two classes, or of each.
    n_iter_ : ndarray of shape (1,)
        Steps of the solver.
    C_ : float
        The strength that was used.
    path_ : Path
        Held-out log loss of each C that was tried, where `C` was chosen.
    evidence_ : float
        log p(y | X), coefficients averaged out by Laplace's approximation.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, where the training rows had names.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), where they had one.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> LogisticRegression(C=10.0).fit(x, y).decision_function([[1.5], [3.0]]).round(2).tolist()
    [0.0, 3.98]
    """

    coef_: Any
    intercept_: Any
    class_count_: Any
    n_iter_: Any
    C_: float
    path_: Path
    _observed: TrainingRows
    _stream: OnlineAverage
    _origin = ArrayKind.plain
    _means: Any = None  # (d,), of the training rows, where every cell is stored
    _parameter_constraints: dict = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "jeffreys"}), None, Hidden(StrOptions({"deprecated"}))],
        "C": [Interval(Real, 0, None, closed="right"), StrOptions({"auto"}), list, tuple, np.ndarray],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": ["random_state"],
        "solver": [StrOptions({*settings.OURS, *settings.THEIRS})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="auto",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _validate_params(self) -> None:
        try:
            super()._validate_params()
        except InvalidParameterError as wrong:
            if not isinstance(self.penalty, str) or "'penalty'" not in str(wrong):
                raise
            names = "'l2', 'l1', 'elasticnet', None (maximum likelihood) or 'jeffreys' (Firth's penalty)"
            raise InvalidParameterError(f"{wrong}\n\nhint: {names}") from None

    # learning

    @classmethod
    def from_generative(cls, model, **arguments) -> Self:
        """A fitted logistic regression with the posterior of a generative model that is linear in x (LDA, multinomial,
        Poisson or Bernoulli naive Bayes …): its `as_logistic()`. With warm_start=True, `fit` goes on from there.

        >>> from deciban import LinearDiscriminantAnalysis
        >>> x, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
        >>> model = LogisticRegression.from_generative(LinearDiscriminantAnalysis().fit(x, y), warm_start=True)
        >>> model.coef_.round(2).tolist(), model.fit(x, y).coef_.round(2).tolist()
        ([[4.0]], [[0.92]])
        """
        out = cls(**arguments)
        out.__dict__.update(attributes(model))
        return out

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions."""
        self._validate_params()
        chosen = settings.read(self)
        with self._unchanged_on_failure():
            warm = self._parameters() if self.warm_start and "coef_" in self.__dict__ else None
            objective = self._objective(X, y, sample_weight, chosen)
            self._name_target(frames.target_name(y))
            start = self._start(objective, warm)
            with np.errstate(all="ignore"):  # what overflows is looked for afterwards
                answer = self._minimum(objective, start, chosen, sample_weight)
            if not np.isfinite(answer.value) or (answer.reason != "gradient" and overflows(objective.rows.x)):
                self._refuse(objective.rows.x)
            self._set(objective, answer.w)
            self._keep_means(objective.rows, 0.0)
            self.__dict__.pop("_stream", None)
            self.n_iter_ = self._origin.send_labels(np.array([answer.n_iter], dtype=np.int32))
            self._learn_inference(objective.rows.x, objective.rows.y, objective.rows.w)
        if not self._warn_separated() and not answer.converged:
            message = settings.not_converged(chosen.solver, answer.reason, answer.n_iter)
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None) -> Self:
        """Learn from more rows by the online rule θ ← θ + α (y − h(x)) x, whatever the solver: the average of θ over
        all rows so far, in their order. Near to `fit` after many rows, not equal. The first call names `classes`."""
        self._validate_params()
        chosen = self._settled(settings.read(self))
        first = "coef_" not in self.__dict__
        with self._unchanged_on_failure():
            x, y = inputs.training(self, X, y, "reals", reset=first)
            inputs.check_classes(self, classes)
            _, codes = inputs.labels(y, self.classes_)
            rows = self._rows(x, codes, sample_weight)
            if first:
                self._origin = ArrayKind.of(X)
            before = 0.0 if first else np.asarray(inputs.to_numpy(self.class_count_))
            self._keep_means(rows, 0.0 if first else float(np.sum(before)))
            self.class_count_ = self._origin.send(before + ops.class_weights(codes, rows.w, rows.k))
            objective = Objective.of(rows, chosen.l2, 0.0, self.fit_intercept, chosen.bias_l2)
            start = np.zeros(objective.size) if first else self._start(objective, self._parameters())
            stream: OnlineAverage = self.__dict__.get("_stream") or OnlineAverage.start(objective.table(start))
            stream = stream.read(rows, objective.ridge / (stream.past[0] + rows.n))
            if not np.isfinite(stream.mean).all():
                self._refuse(rows.x)
            self._set(objective, stream.mean.ravel())
            self._stream, self.C_ = stream, float(chosen.C)
            self.n_iter_ = self._origin.send_labels(np.array([1], dtype=np.int32))
        return self

    def objective(self, X, y, sample_weight=None) -> Objective:
        """What `fit` makes small for these rows: value, gradient and Hessian at any parameters (see `objectives`).

        >>> model = LogisticRegression().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f = model.objective([[0.0], [1.0], [3.0]], [0, 1, 1])
        >>> f.hessian(np.append(model.coef_, model.intercept_)).shape
        (2, 2)
        """
        return self._plain()._objective(X, y, sample_weight, self._settled(settings.read(self)))

    def _objective(self, X, y, sample_weight, chosen: settings.Settings) -> Objective:
        self._origin = ArrayKind.of(X) if chosen.solver != "liblinear" else ArrayKind.plain
        x, y = inputs.training(self, X, y, "reals", reset=True)
        self.classes_, codes = inputs.labels(y, None)
        rows = self._rows(x, codes, sample_weight)
        mass = ops.class_weights(codes, rows.w, rows.k)
        self._check_mass(mass, chosen.solver)
        self.class_count_ = self._origin.send(mass)
        return Objective.of(rows, chosen.l2, chosen.l1, self.fit_intercept, chosen.bias_l2, chosen.bias_l1)

    def _rows(self, x: Block, codes: np.ndarray, sample_weight) -> Table:
        w = self._weights(inputs.weights(sample_weight, codes), codes)
        return Table(as_floats(x), codes, w, len(self.classes_))

    def _check_mass(self, mass: np.ndarray, solver: str) -> None:
        """Whether there is something to tell apart: `mass` (k,) is the weight of each class."""
        check_classes(self.classes_, solver)
        if np.count_nonzero(mass) < 2:
            raise DataError(
                f"only class {self.classes_.tolist()[mass.argmax()]!r} has rows of positive weight, and at least 2 "
                "classes are needed\n\nhint: look at sample_weight and class_weight"
            )

    def _weights(self, w: np.ndarray | None, codes: np.ndarray) -> np.ndarray | None:
        """Rows' weights times their classes'."""
        if self.class_weight is None:
            return w
        return weighted(codes, w, self._shares(ops.class_weights(codes, w, len(self.classes_))))

    def _shares(self, mass: np.ndarray) -> np.ndarray | None:
        """The weight of each class, (k,), where there are any; `mass` is that of its rows."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            return mass.sum() / (len(mass) * np.where(mass > 0, mass, 1.0))
        share = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        if not (np.isfinite(share) & (share >= 0)).all():
            raise DataError(
                f"class_weight is {self.class_weight}, but weights are finite numbers ≥ 0\n\n"
                "hint: a class of weight 0 counts for nothing"
            )
        return share

    def _start(self, objective: Objective, warm: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        if warm is None:
            return np.zeros(objective.size)
        coef, bias = warm
        w = np.hstack([coef, bias[:, None]]) if self.fit_intercept else coef
        if w.shape != (objective.m, objective.p):
            raise DataError(
                f"warm_start: the last fit has coefficients {w.shape}, these rows need {(objective.m, objective.p)}\n\n"
                "hint: use a new model for other classes or columns"
            )
        return w.ravel().astype(np.float64)

    def _set(self, objective: Objective, w: np.ndarray) -> None:
        table = objective.table(w)
        coef, bias = (table[:, :-1], table[:, -1]) if objective.intercept else (table, np.zeros(len(table)))
        self.coef_ = self._origin.send(np.array(coef))
        self.intercept_ = self._origin.send(np.array(bias))

    def _plain(self) -> Self:
        out = object.__new__(type(self))
        out.__dict__.update(self.__dict__)
        return out

    # answers

    def decision_function(self, X) -> np.ndarray:
        """log odds of the second class (n,), or a score for each class (n, k)."""
        return self._posterior().decision(X)

    def predict_proba(self, X, *, priors=None, posterior=None) -> np.ndarray:
        """P(class | x), (n, k); `priors` replaces the class shares of the training rows for this call;
        posterior="laplace": coefficients averaged out, so less sure far from the rows that were learned."""
        if posterior is not None:
            own = self._posterior(priors)
            return own.output(X).send(self._averaged(own, X, posterior))
        return self._posterior(priors).proba(X)

    def explain(self, X, *, of=None, against=None, priors=None, baseline=None) -> Explanation:
        """Evidence for `of` (by default each row's most probable class) against another class (by default the most
        probable one beside it), by column and in decibans: first line + columns = log odds. Labels may differ by row:
        pass one for each.

        The evidence of a column is its coefficient times its cell's distance from the baseline; the first line is the
        log odds of the baseline.

        Parameters
        ----------
        baseline : array of shape (d,), 0 or None
            The row to count from. None: the mean of the training rows (the first line is "mean row"), or 0 where they
            were sparse, so that an absent word is no evidence. 0: the first line is the intercept. A row: "baseline".

        Examples
        --------
        >>> from deciban import LogisticRegression
        >>> model = LogisticRegression().fit([[36.5], [37.0], [37.5], [38.5]], ["well", "well", "ill", "ill"])
        >>> print(model.explain([[38.0]]))
        row 0: ill against well
          column    value  decibans
          mean row             +0.0            │
          x0           38      +2.2            │██████████
          total                +2.3  odds 1.7 : 1, P(ill) = 0.628
        >>> model.explain([[38.0]], baseline=0).to_frame().column.tolist()
        ['intercept', 'x0']
        """
        found = self._posterior(priors).evidence(X, baseline)
        return Explanation.of_parts(
            self.classes_,
            found.columns,
            found.cells,
            found.base,
            found.parts,
            of,
            against,
            start=found.start,
            **context(self, X),
        )

    def _posterior(self, priors: Any = None) -> LogisticPosterior:
        if "coef_" not in self.__dict__:
            raise unfitted(self)
        coef, bias, count = self.coef_, self.intercept_, self.class_count_
        if not all(type(a) is np.ndarray and a.ndim for a in (coef, bias, count)):
            coef, bias = self._parameters()
            count = np.asarray(inputs.to_numpy(count), dtype=np.float64)
        means = None if self._means is None else np.asarray(inputs.to_numpy(self._means), dtype=np.float64)
        out = LogisticPosterior(self.classes_, coef, bias, count, 0.0, self._reader(), means, self._ranges)
        return out if priors is None else out.under(priors)

    def _reader(self) -> ArrayReader:
        """What reads rows: columns as they were learned."""
        own = self.__dict__
        return ArrayReader(
            "LogisticRegression",
            keeps_kind=True,
            d=self.n_features_in_,
            names=own.get("feature_names_in_"),
            labels=tuple(own.get("_frame_names", ())),
            ignored=tuple(own.get("_left_out", ())),
            origin=self._origin,
        )

    def _ranges(self) -> list[np.ndarray] | None:
        """What columns range over, where that is known: a nomogram asks."""
        observed = self._current()
        return observed.ranges.candidates() if observed.ranged else None

    def _fitted_parameters(self) -> None:
        if "coef_" not in self.__dict__:
            raise unfitted(self)

    def _column_names(self) -> list[str]:
        return shown_names(self)

    def __sklearn_is_fitted__(self) -> bool:
        return "coef_" in self.__dict__

    # inference

    def summary(
        self,
        X=None,
        y=None,
        sample_weight=None,
        *,
        level: float = 0.95,
        robust: bool = False,
        reference=None,
        intervals: str = "wald",
    ) -> Summary:
        """Coefficients with errors, z, p, intervals and odds ratios, and measures of fit; prints as a table.

        Of the training rows, unless others (or those again, where they were too large to keep) are passed. `robust`:
        sandwich errors (HC0). With more than two classes, each is told against `reference`, by default the first.
        intervals="profile" (without penalty, and for Firth's): by likelihood ratio instead of errors.
        """
        if robust not in (True, False):
            raise DataError(f"robust is {robust!r}\n\nhint: True (sandwich errors, HC0) or False")
        observed = self._asked(X, y, sample_weight)
        found, kind = observed.curvature, self._penalised()
        notes, ends = [*self._of_penalty(kind), *self._of_fit(observed, kind)], None
        if intervals != "wald":
            ends = profile_likelihood.intervals(
                observed.design(), found.theta, self.classes_, intervals, kind, level, reference
            )
            notes.append(profile_likelihood.NOTE)
        used = float(np.count_nonzero(found.theta)) if kind == "l1" else None
        return Summary.of(
            found,
            self.classes_,
            self._column_names(),
            prior=self._gaussian(),
            level=level,
            robust=robust,
            reference=reference,
            errors=kind != "l1",
            parameters=used,
            notes=notes,
            ends=ends,
        )

    def separation(self, X=None, y=None, sample_weight=None) -> Separation:
        """Whether the classes are separated, by which columns; then there is no finite estimate without penalty.

        Of the training rows, or of these, for which no fit is needed.

        >>> from deciban import LogisticRegression
        >>> x = [[1, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 0]]
        >>> found = LogisticRegression().fit(x, [0, 0, 0, 1, 1]).separation()
        >>> found.kind, found.columns
        ('complete', ('x0', 'x1'))
        """
        if X is not None and "coef_" not in self.__dict__:
            model = self._plain()
            rows = model._objective(X, y, sample_weight, self._settled(settings.read(self))).rows
            return model._separation(rows.x, rows.y, rows.w)
        return self._separation(*self._asked(X, y, sample_weight).rows())

    @property
    def evidence_(self) -> float:
        """log p(y | X), coefficients averaged out (Laplace): choose C, or columns, by the largest. L2 penalty only."""
        self._fitted_parameters()
        if self._penalised() != "l2":
            raise AttributeError(
                "evidence needs a prior that is a density, and only an L2 penalty is one: Gaussian, of variance C\n\n"
                "hint: fit with a finite C, l1_ratio=0"
            )
        try:
            return self._laplace().evidence
        except DataError as unknown:  # rows that are not here any more: `hasattr` and `dir` ask, too
            raise AttributeError(str(unknown)) from None

    def sample_coef(self, n_samples: int = 1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw from the Laplace posterior: coef (n, 1 or k, d) and intercept (n, 1 or k), as `coef_`, `intercept_`."""
        posterior = self._laplace()
        rng = np.random.default_rng(check_random_state(random_state).randint(0, 2**31, size=4))
        coef, bias = self._parameters()
        whole = np.column_stack([bias, coef]) if self.fit_intercept else coef
        return as_coef(posterior.sample(n_samples, rng), self.fit_intercept, whole.mean(axis=0))

    def _jeffreys(self, rows: Table, advance: ProgressCallback) -> Solution:
        """Firth's estimate of these rows, parameters as an objective has them: intercepts last."""
        x, names = rows.x, self._column_names()
        cells = x.stored if isinstance(x, Counts) else x.values  # type: ignore[union-attr]
        if not ops.all_finite(cells):  # `fit` says which cell
            return Solution(np.zeros(0), "stuck", 0, np.nan, np.zeros(0))
        step = count(1)

        def watch(theta: np.ndarray, promise: float) -> bool:
            advance(next(step), slope=promise)
            return False

        settings: dict[str, Any] = {"fit_intercept": self.fit_intercept, "k": rows.k, "columns": names}
        fit = firth(x, rows.y, rows.w, max_iter=FIRTH, watch=watch, **settings)
        w = np.column_stack([fit.coef_, fit.intercept_]) if self.fit_intercept else fit.coef_
        reason = "gradient" if fit.reason == "converged" else fit.reason
        return Solution(w.ravel(), reason, fit.n_iter, -fit.penalised, np.zeros(w.size))

    def _learn_inference(self, X, y: np.ndarray, w: np.ndarray | None) -> None:
        """Remember rows, codes and weights (class weights in them), and where the fit ended; nothing is computed."""
        theta = reference_coding(*self._parameters(), self.fit_intercept)
        self._observed = TrainingRows(X, y, w, theta, len(self.classes_), self.fit_intercept)

    def _warn_separated(self) -> bool:
        """After a fit without penalty: say so where the classes are separated."""
        if self._penalised() != "none":
            return False
        observed = self._observed
        x, y, _ = observed.rows()
        if x.n * observed.theta.size**2 > SMALL and not large_margins(x, y, *self._parameters()):
            return False
        found = self._looked(observed)
        if found:
            warnings.warn(str(found), SeparationWarning, stacklevel=3)
        return bool(found)

    def _averaged(self, own: LogisticPosterior, X, posterior: str) -> np.ndarray:
        """P(class | x), (n, k), coefficients averaged out."""
        if posterior != "laplace":
            raise DataError(f"`posterior` is {posterior!r}\n\nhint: 'laplace', or None for the coefficients as fitted")
        chances = self._laplace().chances(own.reader.read(X))
        if isinstance(own.shift, float):
            return chances
        with np.errstate(divide="ignore"):
            moved = np.log(chances) + own.shift
        return ops.posterior(np.ascontiguousarray(moved), logs=False)

    def _laplace(self) -> Posterior:
        self._fitted_parameters()
        if self._penalised() == "l1":
            raise DataError(
                "an L1 penalty has a corner at 0, where no Gaussian fits: there is no Laplace posterior\n\n"
                "hint: fit with l1_ratio=0 on the columns that L1 chose"
            )
        return Posterior.of(self._current().curvature, self._gaussian())

    def _penalised(self) -> str:
        """Which penalty the settings mean: none, l2, l1 (alone or in an elastic net) or jeffreys."""
        if self.penalty == "jeffreys":
            return "jeffreys"
        if self.penalty is None or self._strength() == np.inf:
            return "none"
        ratio = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio or 0.0)
        return "l1" if ratio > 0 else "l2"

    def _strength(self) -> float:
        C = getattr(self, "C_", self.C)
        return float(C) if isinstance(C, Real) else np.inf  # yet to be chosen

    def _gaussian(self) -> Prior:
        if self._penalised() != "l2":
            return Prior()
        C = self._strength()
        return Prior(C, 1.0 / (C * self.intercept_scaling**2) if self.solver == "liblinear" else 0.0)

    def _asked(self, X, y, sample_weight) -> TrainingRows:
        self._fitted_parameters()
        observed = self._current()
        if X is None:
            return observed
        if y is None:
            raise DataError("X without y\n\nhint: pass both, summary(X, y), or neither")
        x = inputs.features(self, X, "reals")
        _, codes = inputs.labels(np.asarray(inputs.to_numpy(y)), self.classes_)
        if len(codes) != x.n:
            raise DataError(f"X has {x.n} rows and y {len(codes)}\n\nhint: pass the label of every row")
        w = self._weights(inputs.weights(sample_weight, codes), codes)
        seen = TrainingRows(x, codes, w, observed.theta, observed.k, observed.intercept)
        if not observed.alive and "curvature" not in observed.__dict__:
            self._observed = seen
        return seen

    def _current(self) -> TrainingRows:
        """What is known about the coefficients as they are now: rows learned in pieces, or before, do not count."""
        theta = reference_coding(*self._parameters(), self.fit_intercept)
        if "_observed" not in self.__dict__ or not np.array_equal(self._observed.theta, theta):
            self._observed = TrainingRows(None, None, None, theta, len(self.classes_), self.fit_intercept)
        return self._observed

    def _looked(self, observed: TrainingRows) -> Separation:
        """What separates the rows of a fit without penalty, looked for once; mostly the fit itself proves: nothing."""
        if observed.separated is None:
            sure = observed.theta.size <= WIDE and certified(observed.design(), observed.theta)
            observed.separated = Separation("none") if sure else self._separation(*observed.rows())
        return observed.separated

    def _separation(self, x, y, w) -> Separation:
        names = self._column_names()
        theta = self._current().theta if "coef_" in self.__dict__ and self._penalised() == "none" else None
        return separation(x, y, w, fit_intercept=self.fit_intercept, columns=names, classes=self.classes_, theta=theta)

    def _of_penalty(self, kind: str) -> list[str]:
        if kind == "none":
            return []
        if kind == "jeffreys":
            return [
                "Firth's estimate (Jeffreys' prior): errors by the information at it, log-likelihood without the prior"
            ]
        if kind == "l1":
            return [
                "an L1 penalty has no standard errors: chosen coefficients are shrunk, those left out are exactly 0"
            ]
        return [
            f"errors are those of the penalised estimate: the posterior's spread under a Gaussian prior of variance "
            f"C = {self._strength():g} (Laplace), without the bias to 0; parameters are counted as effective ones"
        ]

    def _of_fit(self, observed: TrainingRows, kind: str) -> list[str]:
        notes = []
        if self.class_weight is not None:
            notes.append("class weights count like repeated rows")
        known = kind == "none" and (observed.alive or observed.separated is not None)
        if known and (found := self._looked(observed)):
            notes.append(str(found).replace("\n\nhint: ", "; "))
        if kind in ("none", "l2") and (gain := observed.curvature.distance(self._gaussian())) > FAR and not notes:
            notes.append(
                f"the coefficients are not at the optimum of these rows: a step would gain {gain:.3g} nats; "
                "fit with a smaller tol"
            )
        return notes

    # penalties to choose from

    def path(self, X, y, Cs: Sequence[float] | None = None, sample_weight=None, *, held_out: Any = None) -> Path:
        """The fits of these rows from a strong penalty to a weak one; the model itself stays as it is.

        Cs: by default from all but no coefficients on, until a weaker penalty would change next to nothing. held_out:
        also the log loss of rows by fits without them: "loo" (approximate leave-one-out, L2 only), a number of folds,
        the fold of each row, a scikit-learn splitter, or "auto", what C="auto" takes.

        >>> from deciban import LogisticRegression
        >>> path = LogisticRegression(l1_ratio=1.0).path([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 1, 0, 1])
        >>> path.coef.shape == (len(path.Cs), 1, 2), path.coef[0].any()
        (True, np.False_)
        """
        self._validate_params()
        chosen = settings.read(self, C=1.0)
        if np.isinf(chosen.C):
            raise DataError(
                f"penalty={self.penalty!r} has no strength to vary\n\nhint: l1_ratio=0 (L2), 1 (L1) or between have"
            )
        model = self._plain()
        objective = model._objective(X, y, sample_weight, chosen)
        s = inputs.weights(sample_weight, objective.rows.y)
        start = objective.slope(null(objective))[0] / objective.weight
        fits, score = model._walk(
            objective, chosen, s, Cs, held_out, X, StopWhenFlat(start, PATIENCE) if Cs is None else None
        )
        if not all(fit.answer.converged for fit in fits):
            warnings.warn(
                "some fits of the path did not converge\n\nhint: increase max_iter", ConvergenceWarning, stacklevel=2
            )
        return model._as_path(objective, fits, score)

    def _settled(self, chosen: settings.Settings) -> settings.Settings:
        """Where C is yet to be chosen: with that of the last fit, or 1."""
        return chosen if chosen.among is None else chosen.at(getattr(self, "C_", 1.0))

    def _minimum(self, objective: Objective, start: np.ndarray, chosen: settings.Settings, sample_weight) -> Solution:
        """Fit with the penalty of the settings; sets `C_`, and `path_` where C was chosen."""
        self.__dict__.pop("path_", None)
        self.C_ = float(chosen.C)
        if chosen.among is not None:
            s = inputs.weights(sample_weight, objective.rows.y)
            Cs = None if isinstance(chosen.among, str) else chosen.among
            fits, score = self._walk(objective, chosen, s, Cs, "auto", None, StopWhenWorse(PATIENCE), KEPT)
            self.path_ = self._as_path(objective, fits, score)
            self.C_ = self.path_.C
            best = self.path_.best
            answer = replace(fits[best].answer, n_iter=sum(fit.answer.n_iter for fit in fits[: best + 1]))
            return minimisation.finish(chosen.solver, chosen.penalising(objective)(self.C_), answer, np.iinfo(int).max)
        with progress.progress_bar(self.verbose, "fit", self.tol * objective.weight) as advance:
            if self.penalty == "jeffreys":
                return self._jeffreys(objective.rows, advance)
            watch = progress.solver_callback(advance)
            answer = minimisation.minimise(chosen.solver, objective, start, self.tol, self.max_iter, watch)
            return minimisation.finish(chosen.solver, objective, answer, self.max_iter, watch)

    def _walk(
        self,
        objective: Objective,
        chosen: settings.Settings,
        s: np.ndarray | None,
        Cs: Sequence[float] | None,
        held_out: Any,
        X: Any,
        enough: Callable[[Fit], bool] | None = None,
        most: float = np.inf,
    ) -> tuple[list[Fit], Any]:
        """(the fits, what scored them); with more than `most` coefficients in all, only the best fit keeps its own."""
        start = null(objective)
        if not np.isfinite(objective.slope(start)[1]).all():
            self._refuse(objective.rows.x)
        steps = grid(objective, chosen.ratio) if Cs is None else check_strengths(Cs)
        with progress.progress_bar(self.verbose, "path") as advance:

            def minimise(f: Objective, w: np.ndarray) -> Solution:
                C = 1.0 / (f.ridge[0] + f.lasso[0])
                watch = progress.solver_callback(
                    advance, f"C = {C:.3g}", np.searchsorted(steps, 0.999 * C) / len(steps)
                )
                return minimisation.minimise(chosen.solver, f, w, self.tol, self.max_iter, watch)

            score = scorer(held_out, objective, chosen, s, X, minimise)
            fits = walk(chosen.penalising(objective), steps, start, minimise, score, enough)
            return (list(fits) if len(steps) * objective.size <= most else only_best(fits)), score

    def _as_path(self, objective: Objective, fits: list[Fit], score: Any) -> Path:
        d, kept = objective.rows.d, all(len(fit.answer.w) for fit in fits)
        tables = np.stack([objective.table(fit.answer.w) for fit in fits]) if kept else None
        bias = None if tables is None else tables[:, :, d:].sum(axis=2)  # 0 where there is none
        return Path(
            np.array([fit.C for fit in fits]),
            None if tables is None else tables[:, :, :d].copy(),
            bias,
            np.array([fit.answer.n_iter for fit in fits], dtype=np.int32),
            np.array([fit.log_loss for fit in fits]) if score else None,
            np.array([fit.loss for fit in fits]),
            score.name if score else "",
            self.classes_,
            tuple(self._column_names()),
            deviations(objective.rows),
        )

    # rows elsewhere

    def _learn_on(self, job: Any) -> None:
        chosen = settings.read(self)
        if chosen.among is not None or self.penalty == "jeffreys" or chosen.solver == "sgd":
            name = "C" if chosen.among is not None else "penalty" if self.penalty == "jeffreys" else "solver"
            settings_ = type(self).__name__, self.get_params(deep=False)
            reader = ArrayReader("LogisticRegression").of_columns(job.roles)
            rows = BatchRows(job, reader, settings_).collected(f"{name}={self.get_params()[name]!r}")
            assert isinstance(rows.table.x, Reals)
            self.fit(rows.table.x.dense(), rows.classes[rows.table.y], rows.table.w)
            self.feature_names_in_ = np.array(job.roles.features, dtype=object)
            if "path_" in self.__dict__:
                self.path_ = replace(self.path_, columns=tuple(job.roles.features))
            return
        with job.several() as again:
            self._solve_on(again, chosen)

    def _solve_on(self, job: Any, chosen: settings.Settings) -> None:
        found: Found | None = job.total(Finding(job.roles))
        if found is None or not found.rows.any():
            raise DataError("there are no rows to learn from\n\nhint: see whether the data have rows")
        self.classes_, self._origin = found.classes, ArrayKind.plain
        self.feature_names_in_ = np.array(job.roles.features, dtype=object)
        self.n_features_in_ = d = len(job.roles.features)
        share = self._shares(found.mass)
        mass = found.mass if share is None else found.mass * share
        self._check_mass(mass, chosen.solver)
        sample = found.sample()
        some = Objective.of(replace(sample, w=weighted(sample.y, sample.w, share)), intercept=self.fit_intercept)
        whole = Objective.of(sample, chosen.l2, chosen.l1, self.fit_intercept, chosen.bias_l2, chosen.bias_l1)
        rows = Distant(int(found.rows.sum()), d, len(found.classes))
        far = ObjectiveElsewhere.over(rows, some, float(mass.sum()), Ask(job, found, share, self.fit_intercept), whole)
        with progress.progress_bar(self.verbose, "fit", self.tol * far.weight) as advance:
            answer = minimise_elsewhere(chosen.solver, far, self.tol, self.max_iter, progress.solver_callback(advance))
        self._set(whole, answer.w)
        for name in ("_stream", "_observed", "path_"):
            self.__dict__.pop(name, None)
        self.class_count_, self.C_ = mass, float(chosen.C)
        self._means = (np.ones(len(mass)) if share is None else share) @ found.total / mass.sum()
        self.n_iter_ = np.array([answer.n_iter], dtype=np.int32)
        if not answer.converged:
            message = settings.not_converged(chosen.solver, answer.reason, answer.n_iter)
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    # inside

    def _keep_means(self, rows: Table, before: float) -> None:
        """The columns' means after these rows, too; those learned so far have the weight `before`."""
        means = column_means(rows)
        if before > 0 and means is not None:
            weight = float(rows.n if rows.w is None else rows.w.sum())
            known = None if self._means is None else np.asarray(inputs.to_numpy(self._means))
            means = None if known is None else (before * known + weight * means) / (before + weight)
        self._means = None if means is None else self._origin.send(means)

    def _parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) as NumPy's, dense."""
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else np.asarray(inputs.to_numpy(self.coef_))
        return coef, np.atleast_1d(np.asarray(inputs.to_numpy(self.intercept_)))

    def _refuse(self, x: Block, only_if_not_finite: bool = False) -> None:
        refuse(x, self.__dict__.get("feature_names_in_"), only_if_not_finite)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = self.solver in ("auto", "lbfgs")
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags


def check_classes(classes: np.ndarray, solver: str) -> None:
    """Whether there is something to tell apart, and the solver can."""
    if len(classes) < 2:
        raise DataError(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{classes.tolist()[0]!r}\n\nhint: a model of one class has nothing to learn"
        )
    if solver == "liblinear" and len(classes) > 2:
        raise DataError(
            "The 'liblinear' solver does not support multiclass classification (n_classes >= 3). Either use another "
            "solver or wrap the estimator in a OneVsRestClassifier to keep applying a one-versus-rest scheme.\n\n"
            "hint: Only binary classification is supported. For more classes take solver='auto'"
        )
