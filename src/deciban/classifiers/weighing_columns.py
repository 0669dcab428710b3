"""Naive Bayes whose columns have weights: `weights="discriminative"` (see `weighing`).

Weights are fitted to rows that the counts have not seen: the rows are dealt into ten folds (those that are alike into
the same one), and the columns of each fold are heard from the tally of the others.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 200)
>>> x = rng.normal(size=(400, 1)) + 2.0 * (y == "b")[:, None]
>>> X = np.hstack([x, x + 0.1 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))])  # a column, its echo, and noise
>>> plain, weighted = GaussianNB().fit(X, y), GaussianNB(weights="discriminative").fit(X, y)
>>> weighted.feature_weights_.round(1).tolist()
[0.8, 0.3, 0.2]
>>> bool((plain.predict_proba(X).max(axis=1) > weighted.predict_proba(X).max(axis=1)).mean() > 0.9)  # more modest
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from deciban import decision
from deciban.classifiers import weighing_on_data as on_data
from deciban.classifiers.base import Fitted, Generative
from deciban.classifiers.leaving_out import LeavingOut
from deciban.errors import DataError, NotAdditiveError
from deciban.folds import folds_by_content
from deciban.table import Block, Counts, Mixed, Reals, Table, borders
from deciban.tallies import Bundle
from deciban.weighing import weights as weighing
from deciban.weighing.evidence import ByCoefficients, ByParts, Dense, Silence, Sparse, evidence_of

FOLDS = 10
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

    def _weights(self) -> weighing.Weights:
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
        if not hasattr(self._family(), "parts"):  # type: ignore[attr-defined]
            raise DataError(
                f"{self} has no evidence by column that weights could multiply\n\nhint: use estimate='plugin'"
            )

    def _tune(self, table: Table) -> None:
        super()._tune(table)  # type: ignore[misc]
        if self.weights is not None:
            self._fitted.weights = self._weigh(table)

    def _weigh(self, table: Table) -> weighing.Weights:
        k = table.k
        if table.w is not None and not table.w.all():
            table = _some(table, np.flatnonzero(table.w > 0))
        if k < 2 or table.n == 0:
            return weighing.Weights(np.ones((k, table.d)), np.zeros(k), (), 0, "gradient")
        return settled(weighing.fit(self._judged(table), decision.log_prior(self._fitted.tally.parts[0].n)))

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
        k, d, n = len(self.classes_), self.n_features_in_, whole.tally.parts[0].n  # type: ignore[attr-defined]
        if k < 2 or found is None:
            self._fitted.weights = weighing.Weights(np.ones((k, d)), np.zeros(k), (), 0, "gradient")
            return
        tallies = on_data.aligned(found.parts, whole)
        met = sum((t.parts[0].n > 0).astype(int) for t in tallies if t is not None)
        said = tuple(
            self._heard([t for g, t in enumerate(tallies) if g != f and t is not None], f, k)
            for f in range(on_data.FOLDS)
        )
        prior = decision.log_prior(n)
        layout = weighing.problem((), prior, d).layout
        judging = on_data.Judging(self._plain(), job.reading, said, np.asarray(met) < FEWEST, prior, layout)  # type: ignore[attr-defined]
        self._fitted.weights = settled(on_data.weigh(job, judging, found.sample, float(n.sum())))

    def _judged(self, table: Table) -> list[weighing.Piece]:
        """All rows, and what their columns say by the tally of the other folds."""
        fold = folds_by_content(_flat(table.x), table.y, FOLDS, table.w)
        met = np.bincount(table.y * (FOLDS + 1) + fold + 1, minlength=table.k * (FOLDS + 1)) > 0
        fold[(met.reshape(table.k, -1).sum(axis=1) < FEWEST)[table.y]] = -1  # too few to judge each other
        rows = {f: np.flatnonzero(fold == f) for f in np.unique(fold).tolist()}
        tallies = {f: self._tally(_some(table, at)) for f, at in rows.items()}
        size = table.n * table.k * table.d
        out = []
        for f, at in rows.items():
            here, said = _some(table, at), self._heard([tally for g, tally in tallies.items() if g != f], f, table.k)
            wide = table.d > weighing.DENSE and isinstance(said, ByCoefficients) and isinstance(table.x, Counts)
            for span in borders(here.n, here.x.cells if wide else here.n * table.k * table.d, CHUNK):
                part = here.rows(*span)
                found = Sparse(said, part.x) if wide else Dense(said, part.x, size <= KEPT)  # type: ignore[arg-type]
                out.append(weighing.Piece(found, part.y, np.ones(part.n) if part.w is None else part.w))
        return out

    def _heard(self, others: list[Bundle], fold: int, k: int) -> ByParts | ByCoefficients | Silence:
        """What columns say by the tallies of the other folds; nothing where nobody can judge: such rows teach the
        biases alone."""
        if fold < 0:
            return Silence(k)
        judge = Fitted(self, reduce(add, others))  # type: ignore[arg-type]
        return evidence_of(judge.family, judge.params)

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


def settled(found: weighing.Weights) -> weighing.Weights:
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


def _flat(x: Block) -> Reals | Counts:
    """All cells as numbers, to tell rows apart."""
    if isinstance(x, Mixed):
        return Reals(np.hstack([np.asarray(block.values, dtype=np.float64) for block in x.blocks]))
    return x if isinstance(x, Counts) else Reals(np.asarray(x.values))
