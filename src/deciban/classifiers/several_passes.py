"""Logistic regression on data of any size: one pass finds the classes and a sample, then each step is a pass.

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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import ops, progress
from deciban.classifiers import logistic_settings as settings
from deciban.classifiers.linear_answers import as_floats, refuse
from deciban.classifiers.origin import Origin
from deciban.classifiers.parts import Reading, united
from deciban.errors import DataError, DecibanError, NotAdditiveError, placed
from deciban.folds import digests
from deciban.losses.far import Distant, Far
from deciban.losses.minimisation import minimise_elsewhere
from deciban.losses.objectives import Objective
from deciban.table import Reals, Table
from deciban.tallies.base import SumTuple

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

    reading: Reading

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
            raise placed(wrong, names=self.reading.features) from None
        count = np.bincount(rows.y, minlength=rows.k)
        sums = ops.sums(rows.x, rows.y, rows.w, rows.k)  # type: ignore[arg-type]
        mass = ops.class_weights(rows.y, rows.w, rows.k)
        found = Found(classes, count, mass, sums.total, x, rows.y, rows.w, digests(rows.x))  # type: ignore[arg-type]
        return found.thinned()


@dataclass(frozen=True, eq=False)
class Asked:
    """batch → what the objective of its rows, without penalty, says."""

    reading: Reading
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
            raise placed(wrong, names=self.reading.features) from None
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
        asked = Asked(self.job.reading, self.found.classes, self.share, self.intercept, what, at)
        with np.errstate(all="ignore"):
            return self.job.total(asked).parts

    def of_columns(self, at: np.ndarray) -> Ask:
        reading = self.job.reading
        some = replace(reading, features=tuple(reading.features[j] for j in at), kinds=())
        return replace(self, job=replace(self.job, reading=some))


class SeveralPasses:
    """Mixin of `LogisticRegression`: `fit_on`."""

    classes_: np.ndarray
    class_count_: Any
    n_iter_: Any
    C_: float
    penalty: Any
    fit_intercept: bool
    tol: float
    max_iter: int
    verbose: int
    _origin: Origin
    _means: Any
    _shares: Callable[[np.ndarray], np.ndarray | None]
    _set: Callable[[Objective, np.ndarray], None]
    _check_mass: Callable[[np.ndarray, str], None]

    def _learn_on(self, job: Any) -> None:
        chosen = settings.read(self)
        if chosen.among is not None or self.penalty == "jeffreys" or chosen.solver == "sgd":
            name = "C" if chosen.among is not None else "penalty" if self.penalty == "jeffreys" else "solver"
            raise NotAdditiveError(
                f"{name}={getattr(self, name)!r} needs all rows in memory, which `fit_on` does without\n\n"
                "hint: choose C on some of the rows by `fit` and give it as a number; for the online rule call "
                "`partial_fit` with one batch after the other"
            )
        with job.several() as again:
            self._solve_on(again, chosen)

    def _solve_on(self, job: Any, chosen: settings.Settings) -> None:
        found: Found | None = job.total(Finding(job.reading))
        if found is None or not found.rows.any():
            raise DataError("there are no rows to learn from\n\nhint: see whether the data have rows")
        self.classes_, self._origin = found.classes, Origin.plain
        self.feature_names_in_ = np.array(job.reading.features, dtype=object)
        self.n_features_in_ = d = len(job.reading.features)
        share = self._shares(found.mass)
        mass = found.mass if share is None else found.mass * share
        self._check_mass(mass, chosen.solver)
        sample = found.sample()
        some = Objective.of(replace(sample, w=weighted(sample.y, sample.w, share)), intercept=self.fit_intercept)
        whole = Objective.of(sample, chosen.l2, chosen.l1, self.fit_intercept, chosen.bias_l2, chosen.bias_l1)
        rows = Distant(int(found.rows.sum()), d, len(found.classes))
        far = Far.over(rows, some, float(mass.sum()), Ask(job, found, share, self.fit_intercept), whole)
        with progress.shown(self.verbose, "fit", self.tol * far.weight) as tell:
            answer = minimise_elsewhere(chosen.solver, far, self.tol, self.max_iter, progress.watching(tell))
        self._set(whole, answer.w)
        for name in ("_stream", "_observed", "path_"):
            self.__dict__.pop(name, None)
        self.class_count_, self.C_ = mass, float(chosen.C)
        self._means = (np.ones(len(mass)) if share is None else share) @ found.total / mass.sum()
        self.n_iter_ = np.array([answer.steps], dtype=np.int32)
        if not answer.converged:
            message = settings.not_converged(chosen.solver, answer.why, answer.steps)
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
