"""Naive Bayes whose columns have weights: `weights="discriminative"` (see `weighing`).

Weights are fitted to rows that the counts have not seen: the rows are dealt into ten folds, and what the columns of a
fold say is taken from the tally of the others. Rows that are alike share a fold, unless there are several of them:
these are in all folds, in equal shares (`folds.dealt`). Folds depend on cells and classes alone: `fit_on` has the same.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 200)
>>> x = rng.normal(size=(400, 1)) + 2.0 * (y == "b")[:, None]
>>> X = np.hstack([x, x + 0.1 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))])  # a column, its echo, and noise
>>> plain, weighted = GaussianNB().fit(X, y), GaussianNB(weights="discriminative").fit(X, y)
>>> weighted.feature_weights_.round(1).tolist()
[1.0, 0.1, 0.0]
>>> bool((plain.predict_proba(X).max(axis=1) > weighted.predict_proba(X).max(axis=1)).mean() > 0.9)  # more modest
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from deciban import decision
from deciban.classifiers.base import Fitted, Generative
from deciban.data.blocks import Counts, Table, borders
from deciban.errors import DataError, NotAdditiveError
from deciban.models import feature_weights as on_data
from deciban.models import feature_weights as weighing
from deciban.models.feature_evidence import DenseEvidence, LinearEvidence, NoEvidence, SparseEvidence, column_evidence
from deciban.models.held_out import LeavingOut
from deciban.rows.folds import EVERY, NOWHERE, Kinds, dealt
from deciban.tallies import Bundle

FOLDS = on_data.FOLDS
FEWEST = 3  # different rows of a class, for each to be judged by the others: one of two would have no variance
CHUNK = 1 << 20  # numbers, rows × classes × columns, that a chunk has, at least
KEPT = 1 << 26  # and that all of them may have, to be kept from step to step
CONSTRAINT = {"weights": [None, StrOptions({"discriminative"})]}


class FixedWeightsError(NotAdditiveError, AttributeError):
    """A model with weights has no such method; `hasattr` says so too."""


class Updating:
    """`partial_fit`, which models have only without weights."""

    def __get__(self, model: Any, kind: type) -> Callable:
        if model is None:
            return Generative.partial_fit
        if model.weights is not None:
            model._check_updatable()
        return super(WeighingColumns, model).partial_fit  # type: ignore[misc]


class WeighingColumns:
    """Mixin of the naive Bayes classifiers: needs what `Generative` has, and comes before it."""

    weights: str | None
    calibrate: bool
    classes_: np.ndarray
    _fitted: Any
    _check_is_fitted: Callable[[], Any]
    _tally: Callable[[Table], Bundle]

    # what users read

    @property
    def feature_weights_(self) -> np.ndarray:
        """The weight of each column, (d,): the mean of `class_feature_weights_` over the classes. 1 is naive Bayes."""
        return self._weights().table.mean(axis=0)

    @property
    def class_feature_weights_(self) -> np.ndarray:
        """The weight of each column by class, (k, d)."""
        return self._weights().table

    @property
    def class_bias_(self) -> np.ndarray:
        """What was added to each class's log prior, (k,)."""
        return self._weights().bias

    @property
    def n_iter_(self) -> int:
        """The steps in which the weights were found."""
        return self._weights().steps

    def _weights(self) -> weighing.FeatureWeights:
        found = self._check_is_fitted().weights
        if found is None:
            raise AttributeError("columns have no weights\n\nhint: fit with weights='discriminative'")
        return found

    # learning

    def _check_fit(self, table: Table, whole: bool) -> None:
        super()._check_fit(table, whole)  # type: ignore[misc]
        if self.weights is not None:
            self._check_weighable()

    def _check_weighable(self) -> None:
        if self.calibrate:
            raise DataError(
                "weights='discriminative' and calibrate=True both fit probabilities to held-out rows\n\n"
                "hint: leave out `calibrate`: weights have a temperature and a bias for each class among them"
            )
        if getattr(self, "missing", None) == "average":
            raise DataError(
                "missing='average' makes rows of levels that are not there, which weights know nothing of\n\n"
                "hint: with weights='discriminative' use missing='ignore' or 'informative'"
            )
        if not self._family().has_parts:  # type: ignore[attr-defined]
            raise DataError(
                f"{self} has no evidence by column that weights could multiply\n\nhint: use estimate='plugin'"
            )

    def _tune(self, table: Table) -> None:
        super()._tune(table)  # type: ignore[misc]
        if self.weights is not None:
            self._fitted.weights = self._weigh(table)

    def _weigh(self, table: Table) -> weighing.FeatureWeights:
        k = table.k
        if table.w is not None and not table.w.all():
            table = _some(table, np.flatnonzero(table.w > 0))
        if k < 2 or table.n == 0:
            return self._unweighted(k)
        prior, d = decision.log_prior(self._fitted.tally.parts[0].n), self._weighed_columns()
        kinds, times, order = self._kinds(table)
        if kinds.n <= on_data.SAMPLE:
            return settled(weighing.fit(self._judged(kinds, times), prior, d))
        fold = on_data.fold_of(on_data.order_of(table.x, getattr(self, "_schema", None)))
        judges = self._judges({f: self._tally(_some(table, np.flatnonzero(fold == f))) for f in np.unique(fold)}, k)
        few = on_data.smallest_digests(order)
        near = weighing.problem(self._pieces(_some(kinds, few), on_data.fold_of(order[few]), judges), prior, d)
        start = weighing.minimise(near, weighing.tempered(near)).w
        return settled(weighing.fit(self._pieces(table, fold, judges), prior, d, start))

    def _kinds(self, table: Table) -> tuple[Table, np.ndarray, np.ndarray]:
        """(rows of which no two are alike, how many each stands for, their digests), of rows that weigh something."""
        order = on_data.order_of(table.x, getattr(self, "_schema", None))
        kinds = Kinds.of(order, table.y, np.ones(table.n) if table.w is None else table.w)
        each = Table(table.x.take(kinds.at), table.y[kinds.at], kinds.weight, table.k)
        return each, kinds.times, order[kinds.at]

    def _unweighted(self, k: int) -> weighing.FeatureWeights:
        return weighing.FeatureWeights(np.ones((k, self._weighed_columns())), np.zeros(k), (), 0, "gradient")

    def _weighed_columns(self) -> int:
        """How many columns have a weight: that a cell is missing has none of its own."""
        return self.n_features_in_  # type: ignore[attr-defined]

    def _learn_on(self, job: Any) -> None:
        if self.weights is None:
            return super()._learn_on(job)  # type: ignore[misc]
        with job.several() as again:
            return self._weigh_on(again)

    def _weigh_on(self, job: Any) -> None:
        plain: Any = clone(self).set_params(weights=None)
        found, whole = on_data.folded(job, plain._bare(job.reading))
        whole = whole.ordered()
        self._name_columns(job.reading)  # type: ignore[attr-defined]
        self._take_part(whole)  # type: ignore[attr-defined]
        self._check_weighable()
        k, d, n = len(self.classes_), self._weighed_columns(), whole.tally.parts[0].n
        if k < 2 or found is None:
            self._fitted.weights = self._unweighted(k)
            return
        prior, reader = decision.log_prior(n), self._plain()  # type: ignore[attr-defined]
        few, times, order = found.sample.rows(reader, job.reading)
        if found.sample.complete:
            self._fitted.weights = settled(weighing.fit(self._judged(few, times), prior, d))
            return
        tallies = on_data.aligned(found.parts, whole)
        judges = self._judges({f: t for f, t in enumerate(tallies) if t is not None}, k)
        near = weighing.problem(self._pieces(few, on_data.fold_of(order), judges), prior, d)
        judging = on_data.WeightObjectiveBatch(reader, job.reading, judges, prior, near.layout)
        self._fitted.weights = settled(on_data.weigh(job, judging, near, float(n.sum())))

    def _judged(self, table: Table, times: np.ndarray) -> list[weighing.WeightedRows]:
        """Rows no two of which are alike, each standing for so many, and what their columns say by the tally of the
        other folds."""
        fold = dealt(table.y, times, FOLDS, FEWEST)
        common = fold == EVERY
        rows = {f: np.flatnonzero((fold == f) | common) for f in range(FOLDS)}
        share = np.where(common, 1.0 / FOLDS, 1.0) * (1.0 if table.w is None else table.w)
        folds = {f: _some(replace(table, w=share), at) for f, at in rows.items() if len(at)}
        alone = np.flatnonzero(fold == NOWHERE)
        judges = self._judges({f: self._tally(part) for f, part in folds.items()}, table.k, _some(table, alone))
        out = [piece for f, part in folds.items() for piece in self._pieces(part, np.full(part.n, f), judges)]
        silent = np.full(len(alone), NOWHERE)
        return out + self._pieces(_some(table, alone), silent, judges) if len(alone) else out

    def _judges(self, tallies: dict[int, Bundle], k: int, alone: Table | None = None) -> on_data.Judges:
        """What columns of each fold say by the tallies of the others, and of which classes nobody can judge: such rows
        teach the biases alone."""
        more = [] if alone is None or alone.n == 0 else [self._tally(alone)]
        said: dict[int, Any] = {}
        whole = self._fitted
        chosen = whole.family.fixed(whole.params)
        for f in tallies:
            judge = Fitted(self, reduce(add, [t for g, t in tallies.items() if g != f] + more))  # type: ignore[arg-type]
            judge.family = chosen  # families are those of all rows; what they have learned is the folds'
            said[f] = column_evidence(judge.family, judge.params)
        met = sum(((t.parts[0].n > 0).astype(int) for t in tallies.values()), np.zeros(k, dtype=int))
        return on_data.Judges(said, met < FEWEST, NoEvidence(k, self._weighed_columns()))

    def _pieces(self, table: Table, fold: np.ndarray, judges: on_data.Judges) -> list[weighing.WeightedRows]:
        """The rows of a table, each judged by the folds that it is not in."""
        size, out = table.n * table.k * table.d, []
        for said, at in judges.each(fold, table.y):
            here = _some(table, at)
            wide = table.d > weighing.DENSE and isinstance(said, LinearEvidence) and isinstance(table.x, Counts)
            for span in borders(here.n, here.x.cells if wide else here.n * table.k * table.d, CHUNK):
                part = here.rows(*span)
                found = SparseEvidence(said, part.x) if wide else DenseEvidence(said, part.x, size <= KEPT)  # type: ignore[arg-type]
                out.append(weighing.WeightedRows(found, part.y, np.ones(part.n) if part.w is None else part.w))
        return out

    # what weights forbid

    partial_fit = Updating()

    def _check_updatable(self) -> None:
        if self.weights is not None:
            raise FixedWeightsError(
                "weights='discriminative' looks at all rows at once: no update, merge or forgetting\n\n"
                "hint: fit again on all rows, or update a model without weights"
            )
        super()._check_updatable()  # type: ignore[misc]

    def leave_one_out(self, X, y, sample_weight=None, *, priors=None) -> np.ndarray:
        if self.weights is not None:
            raise FixedWeightsError(
                "weights='discriminative' hang on every row: none can be left out in closed form\n\n"
                "hint: deciban.cross_validate(model, X, y) fits anew for each fold"
            )
        return super().leave_one_out(X, y, sample_weight, priors=priors)  # type: ignore[misc]

    leave_one_out.__doc__ = LeavingOut.leave_one_out.__doc__


def settled(found: weighing.FeatureWeights) -> weighing.FeatureWeights:
    """The weights, with a warning where they are not the best."""
    if not found.converged:
        warnings.warn(
            f"the columns' weights have not settled after {found.steps} steps ({found.why})\n\n"
            "hint: look for columns of wild numbers; predictions are as good as the weights so far",
            ConvergenceWarning,
            stacklevel=6,
        )
    return found


def _some(table: Table, at: np.ndarray) -> Table:
    return Table(table.x.take(at), table.y[at], None if table.w is None else table.w[at], table.k)
