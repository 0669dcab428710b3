"""Kernel logistic regression: smooth scores of all columns together; the mathematics is in `models/kernel.py`.

>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, (200, 2))
>>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")  # no column alone says anything
>>> model = KernelLogisticRegression().fit(X, y)
>>> model.predict([[0.5, 0.5], [-0.5, 0.5]]).tolist()
['same', 'different']
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import ops
from deciban.classifiers.base import Interval, StrOptions, unfitted
from deciban.classifiers.discriminative import Discriminative
from deciban.classifiers.logistic import ONE_STEP
from deciban.data.blocks import Reals
from deciban.engines import threads
from deciban.errors import DataError, NotAdditiveError, levels_up
from deciban.logistic.laplace import Leverage
from deciban.logistic.likelihood import Prior, reference_coding
from deciban.logistic.settings import convergence_message
from deciban.models.influences import PosteriorsWithout
from deciban.models.kernel import BANDWIDTHS, STRENGTHS, KernelFit, distinct_rows, learn_kernel
from deciban.models.kernel_posterior import KernelPosterior
from deciban.rows import inputs
from deciban.rows.coding_pass import read_job
from deciban.rows.digests import row_digests
from deciban.rows.raw_rows import RawArrays
from deciban.rows.readers import warn_of_odd_columns
from deciban.rows.rows import ArrayRows, BatchJob, BatchRows

LARGEST_STEP = 4000  # coefficients up to which a Newton step without rows is made


class KernelLogisticRegression(Discriminative):
    """Logistic regression whose scores are sums of bumps around training rows, so that columns act together.

    Parameters
    ----------
    C : float or "auto"
        Inverse strength of the penalty; "auto": the value of the least log loss of held-out rows.
    bandwidth : float or "auto"
        Width of a bump, relative to the root mean square distance of two training rows; "auto": that of the least log
        loss of held-out rows.
    landmarks : int
        Number of bumps at most. Fit time grows with its square, prediction time in proportion to it.
    max_iter : int
        Largest number of steps of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    class_count_ : ndarray of shape (k,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (k,)
        Share of each class in these rows.
    C_, bandwidth_ : float
        The values that were used.
    held_out_ : dict
        Mean log loss of held-out rows, by bandwidth and C, where one of them was chosen.
    landmarks_ : ndarray of shape (m, d)
        The centres of bumps, as normal scores of the columns.
    dual_coef_, intercept_ : ndarrays of shape (k, m) and (k,)
        The height of each bump in the score of each class, and the score far from all of them.
    n_iter_ : int
        Number of steps of the solver.
    n_parameters_ : int
        Number of free coefficients, with the intercepts.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if the training rows had names.
    coef_names_ : list of str
        Names of the columns after coding: those of X, or what they are coded as, such as `sex=male`.
    target_name_ : str
        Name of the labels (`y.name`, or the target of `fit_on`), if they had one.

    See Also
    --------
    LogisticRegression : Scores that are linear in the columns; categories and missing cells of frames are coded alike.
    QuadraticDiscriminantAnalysis : A normal density for each class.

    Notes
    -----
    Columns become normal scores, so that the result does not depend on their units, nor on increasing functions of
    them. Up to 16,384 distinct rows are learned from; of more, a sample by content, at least a few of every class,
    whose weights add up to those of the class. Bandwidth and C are chosen in three folds of at most 1,000 distinct
    rows; of 2,000 rows and more, the choice is refined by a third of up to 4,000. The result does not depend on the
    order of the rows, and a weight is the same as copies. The landmarks are training rows, and so a model file holds
    them.

    Scores are not sums over columns. `explain` shares the log odds among columns along the straight line from the mean
    row to the row (integrated gradients), which adds up: mean row + columns = log odds.

    References
    ----------
    Zhu and Hastie (2005), Kernel logistic regression and the import vector machine. Williams and Seeger (2001), Using
    the Nyström method to speed up kernel machines. Sundararajan, Taly and Yan (2017), Axiomatic attribution for deep
    networks.

    Examples
    --------
    >>> angle = np.linspace(0.0, 6.2, 60)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(np.arange(60) % 2, 1.0, 2.0)[:, None]
    >>> model = KernelLogisticRegression().fit(X, np.where(np.arange(60) % 2, "inner", "outer"))
    >>> model.predict([[0.0, 1.0], [2.0, 0.0]]).tolist()
    ['inner', 'outer']
    """

    classes_: np.ndarray
    class_count_: np.ndarray
    C_: float
    bandwidth_: float
    held_out_: dict[tuple[float, float], float]
    n_iter_: int
    _kernel: Any
    _means: np.ndarray  # (d,), of the training rows
    _block: ClassVar[str] = "dense"
    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "landmarks": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, C="auto", *, bandwidth="auto", landmarks=1000, max_iter=500):
        self.C = C
        self.bandwidth = bandwidth
        self.landmarks = landmarks
        self.max_iter = max_iter

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn from rows X (n, d) with labels y; weights count like repetitions.

        Parameters
        ----------
        X : frame, array or sequence of rows
            The rows.
        y : sequence of labels, or the name of a column of X
            The class of each row.
        sample_weight : sequence of numbers, or None
            The weight of each row; None: 1 each.

        Returns
        -------
        self
            The fitted model.
        """
        self._validate_params()
        self._learn(self._read_rows(X, y, sample_weight))
        return self

    def _learn_on(self, job: BatchJob) -> None:
        with read_job(self._unfitted_reader(), job) as (job, reader, notes):
            rows = BatchRows(job, reader, (type(self).__name__, self.get_params(deep=False)))
            rows.raise_if_checkpoint()
            self._learn(rows.collected("kernel logistic regression"))
        if notes:
            warn_of_odd_columns(notes)

    def _learn(self, rows: ArrayRows) -> None:
        table, k = rows.table, len(rows.classes)
        assert isinstance(table.x, Reals)
        x, w = np.asarray(table.x.values, dtype=np.float64), table.weights()
        if not ops.all_finite(x):
            inputs.check_finite(table.x, rows.reader.names, type(self).__name__)
        count = ops.class_weights(table.y, table.w, k)
        if (count > 0).sum() < 2:
            raise DataError(
                f"the rows are of one class, {rows.classes[count > 0].tolist()}\n\n"
                "hint: a model of one class has nothing to learn"
            )
        with threads.one_blas_thread():
            found: KernelFit = learn_kernel(
                distinct_rows(x, table.y, w, k),
                BANDWIDTHS if self.bandwidth == "auto" else (float(self.bandwidth),),
                STRENGTHS if self.C == "auto" else (float(self.C),),
                self.landmarks,
                self.max_iter,
            )
            means = ops.moments(Reals(x), np.zeros(len(x), dtype=np.int32), table.w, 1).mean[0]
        with self._unchanged_on_failure():
            self._set_columns(rows)
            self._kernel, self.class_count_, self._means = found.scores, count, means
            self.C_, self.bandwidth_, self.n_iter_ = found.C, found.bandwidth, found.n_iter
            self.held_out_ = found.held_out
        if not found.converged:
            message = convergence_message("lbfgs", "max_iter", found.n_iter)
            warnings.warn(message, ConvergenceWarning, stacklevel=levels_up())

    @property
    def _is_fitted(self) -> bool:
        return "_kernel" in self.__dict__

    def _posterior(self, priors: Any = None) -> KernelPosterior:
        if not self._is_fitted:
            raise unfitted(self)
        out = KernelPosterior(self.classes_, self.class_count_, 0.0, self._reader(), self._kernel, self._means)
        return out if priors is None else out.under(priors)

    def _proba_without(
        self, rows: RawArrays, group: np.ndarray, groups: int, query: Any, refit: bool = False, priors: Any = None
    ) -> PosteriorsWithout:
        """By one Newton step from the coefficients of the features of the kernel, with these normal scores, landmarks,
        bandwidth and C."""
        own, k, reader = self._posterior(priors), len(self.classes_), self._reader()
        codes = inputs.labels(np.asarray(inputs.to_numpy(rows.labels)), self.classes_)[1]
        w = inputs.weights(rows.w, codes)
        if not np.allclose(ops.class_weights(codes, w, k), self.class_count_, rtol=1e-6):
            raise DataError(
                f"one step needs all rows that this {type(self).__name__} was fitted to: these have other weights of "
                "the classes\n\nhint: pass the rows, labels and weights of `fit`"
            )
        if (k - 1) * len(self._kernel.landmarks) > LARGEST_STEP:
            raise NotAdditiveError(
                f"a Newton step of {k - 1:,} × {len(self._kernel.landmarks):,} coefficients is too large\n\n"
                f"hint: fit with fewer landmarks, at most {LARGEST_STEP // (k - 1):,}"
            )
        x, coef = self._kernel.linear(own.cells(reader.read(rows.X)))
        points, _ = self._kernel.linear(own.cells(reader.read(query)))
        prior = Prior(self.C_ * (2.0 if k == 2 else 1.0))  # two classes have two scores here, and one there
        with threads.one_blas_thread():
            leverage = Leverage.of(Reals(x), codes, w, k)
            theta = reference_coding(coef, self._kernel.bias, True)
            without = leverage.without_groups(theta, prior, group, groups, Reals(points)) + own.shift
        shape = without.shape
        logs = ops.posterior(np.ascontiguousarray(without.reshape(-1, k)), logs=True).reshape(shape)
        scores = ops.posterior(np.ascontiguousarray(own.joint_scores(query)), logs=True)
        return PosteriorsWithout(scores, logs, ONE_STEP)

    def _chosen_settings(self) -> dict[str, Any]:
        return {"C": self.C_, "bandwidth": self.bandwidth_} if self.held_out_ else {}

    def _count_learned(self, rows: RawArrays, codes: np.ndarray) -> tuple[int, int]:
        """By landmarks, which are distinct training rows without their classes."""
        x = self._reader().read(rows.X)
        assert isinstance(x, Reals)
        asked = self._kernel.normal_scores(np.asarray(x.values, dtype=np.float64))
        known, distinct = row_digests(Reals(self._kernel.landmarks)), np.unique(row_digests(Reals(asked)))
        return int(np.isin(distinct, known).sum()), min(len(distinct), len(known))

    @property
    def landmarks_(self) -> np.ndarray:
        """The centres of bumps, as normal scores of the columns."""
        self._check_fitted()
        return self._kernel.landmarks

    @property
    def dual_coef_(self) -> np.ndarray:
        """The height of each bump in the score of each class."""
        self._check_fitted()
        return self._kernel.coef

    @property
    def intercept_(self) -> np.ndarray:
        """The score of each class far from all bumps."""
        self._check_fitted()
        return self._kernel.bias

    @property
    def n_parameters_(self) -> int:
        """Number of free coefficients, with the intercepts."""
        self._check_fitted()
        k, m = self._kernel.coef.shape
        return (k - 1) * (m + 1)
