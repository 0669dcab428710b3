"""Learn feature weights (`weights="discriminative"`) from training rows, in memory or elsewhere.

Weights are fitted to held-out evidence: the rows are split into ten folds, and the evidence of a row comes from the
tally of the other folds. Identical rows share a fold; if there are several of them, they are in all folds in equal
shares (`folds.assign_folds_to_unique_rows`). If all distinct rows fit into a sample, the weights are fitted to these;
else the weights of the sample are the start of steps over all rows, and the fold of a row comes from its digest. Folds
depend on cells and classes only: `fit_on` has the same folds as `fit`.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 200)
>>> x = rng.normal(size=(400, 1)) + 2.0 * (y == "b")[:, None]
>>> X = np.hstack([x, x + 0.1 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))])  # a column, its copy, noise
>>> plain, weighted = GaussianNB().fit(X, y), GaussianNB(weights="discriminative").fit(X, y)
>>> weighted.feature_weights_.round(1).tolist()
[0.8, 0.3, 0.1]
>>> bool((plain.predict_proba(X).max(axis=1) > weighted.predict_proba(X).max(axis=1)).mean() > 0.9)  # less confident
True
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import decision
from deciban.data.blocks import Counts, Table, borders
from deciban.errors import levels_up
from deciban.models import feature_weights as weighing
from deciban.models.feature_evidence import DenseEvidence, LinearEvidence, NoEvidence, SparseEvidence, column_evidence
from deciban.models.feature_weights import FeatureWeights, WeightedRows
from deciban.models.model import State, TallyPass
from deciban.rows.folds import EVERY, NOWHERE, UniqueRows, assign_folds_to_unique_rows
from deciban.rows.rows import ArrayRows, Rows
from deciban.rows.sampling import RowSample, digests
from deciban.tallies import Bundle
from deciban.tallies.basic import SumTuple

FOLDS = 10
FEWEST = 3  # distinct rows that a class needs for held-out evidence: one of two rows has no variance
CHUNK = 1 << 20  # least size of a chunk: rows × classes × columns
KEPT = 1 << 26  # largest size of all chunks that are kept in memory between steps


def weighted(state: State, rows: Rows) -> State:
    """The state with feature weights."""
    k, d = len(state.classes), state.reader.d
    assert rows.sample is not None
    if k < 2 or rows.sample.table.n == 0:
        return state.adjusted(weights=FeatureWeights(np.ones((k, d)), np.zeros(k), (), 0, "gradient"))
    prior = decision.log_prior(state.n)
    few, times, digest = distinct_rows(rows.sample)
    if rows.sample.complete:
        return state.adjusted(weights=warn_unconverged(weighing.fit(split_pieces(state, few, times), prior, d)))
    fold_tallies = FoldTallyPass(state)
    tallies = rows.total(fold_tallies, fold_tallies.size).parts
    evidence = FoldEvidence.of(state, {f: t for f, t in enumerate(tallies) if t.parts[0].n.any()})
    near = weighing.problem(evidence.pieces(few, fold_of(digest)), prior, d)
    start = weighing.minimise(near, weighing.fit_temperature(near))
    if isinstance(rows, ArrayRows) and rows.table.n * k * d <= KEPT:
        every = replace(near, pieces=HeldOutEvidence(evidence, True)(rows.table))
    else:
        sums = rows.mapped(HeldOutEvidence(evidence, False), max(CHUNK // k, 1))
        every = replace(near, pieces=(), elsewhere=sums, mass=float(state.n.sum()), costly=not rows.in_memory)
    every = weighing.with_initial_strengths(every, start.internal.strengths)
    return state.adjusted(weights=warn_unconverged(weighing.found(every, weighing.minimise(every, start.w))))


def distinct_rows(sample: RowSample) -> tuple[Table, np.ndarray, np.ndarray]:
    """(distinct rows with the total weight of their copies, the number of copies of each, their digests)"""
    table, counts = sample.table, sample.counts()
    digest = digests(table.x, table.schema)
    distinct = UniqueRows.of(digest, table.y, table.weights() * counts, counts)
    return replace(table.take(distinct.at), w=distinct.weight), distinct.times, digest[distinct.at]


def warn_unconverged(found: FeatureWeights) -> FeatureWeights:
    """The weights; warns if the fit has not converged."""
    if not found.converged:
        warnings.warn(
            f"the feature weights have not converged after {found.steps} steps ({found.why})\n\n"
            "hint: look for columns with extreme values; predictions use the weights of the last step",
            ConvergenceWarning,
            stacklevel=levels_up(),
        )
    return found


def fold_of(digest: np.ndarray) -> np.ndarray:
    """Fold of each row, (n,), from its digest."""
    return (digest % np.uint64(FOLDS)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class FoldTallyPass:
    """rows → the tally of each fold."""

    state: State

    @property
    def size(self) -> int:
        """How many numbers the tallies hold."""
        return FOLDS * self.state.family.tally_size(len(self.state.classes), self.state.reader.d)

    def __call__(self, table: Table) -> SumTuple:
        fold, tally_pass = fold_of(digests(table.x, table.schema)), TallyPass(self.state.spec, self.state.known)
        return SumTuple(tuple(tally_pass(table.take(np.flatnonzero(fold == f))) for f in range(FOLDS)))


@dataclass(frozen=True, eq=False)
class FoldEvidence:
    """Evidence for the rows of each fold, by the tallies of the other folds."""

    by_fold: dict[int, Any]
    rare: np.ndarray  # (k,), classes in too few folds for held-out evidence: their rows determine only the biases
    no_evidence: NoEvidence

    @classmethod
    def of(cls, state: State, tallies: dict[int, Bundle], alone: Bundle | None = None) -> FoldEvidence:
        """From the tallies of the folds, and of rows in no fold."""
        more = [] if alone is None else [alone]
        # families are chosen from all rows, their parameters learned from the folds
        chosen = state.family.fixed(state.params)
        by_fold = {}
        for f in tallies:
            others = reduce(add, [t for g, t in tallies.items() if g != f] + more)
            by_fold[f] = column_evidence(chosen, chosen.estimate(others.parts[1]))
        k = len(state.classes)
        met = sum(((t.parts[0].n > 0).astype(int) for t in tallies.values()), np.zeros(k, dtype=int))
        return cls(by_fold, met < FEWEST, NoEvidence(k, state.reader.d))

    def each(self, fold: np.ndarray, y: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """(evidence, indices of the rows that it applies to), for rows in these folds and classes."""
        place = np.where(self.rare[y] | ~np.isin(fold, list(self.by_fold)), NOWHERE, fold)
        for f in np.unique(place).tolist():
            yield self.by_fold.get(f, self.no_evidence), np.flatnonzero(place == f)

    def pieces(self, table: Table, fold: np.ndarray, keep: bool = True) -> list[WeightedRows]:
        """The rows with held-out evidence: each by the folds that do not contain it."""
        out = []
        for evidence, at in self.each(fold, table.y):
            here = table.take(at)
            wide = table.d > weighing.DENSE and isinstance(evidence, LinearEvidence) and isinstance(table.x, Counts)
            for span in borders(here.n, here.x.cells if wide else here.n * table.k * table.d, CHUNK):
                part = here.rows(*span)
                found = SparseEvidence(evidence, part.x) if wide else DenseEvidence(evidence, part.x, keep)  # type: ignore[arg-type]
                out.append(WeightedRows(found, part.y, part.weights()))
        return out


@dataclass(frozen=True, eq=False)
class HeldOutEvidence:
    """rows → the rows with evidence by the folds that do not contain them."""

    evidence: FoldEvidence
    keep: bool

    def __call__(self, table: Table) -> list[WeightedRows]:
        if table.w is not None and not table.w.all():
            table = table.take(np.flatnonzero(table.w > 0))
        if table.n == 0:
            return [WeightedRows(DenseEvidence(self.evidence.no_evidence, table.x, False), table.y, table.weights())]
        return self.evidence.pieces(table, fold_of(digests(table.x, table.schema)), self.keep)


def split_pieces(state: State, table: Table, times: np.ndarray) -> list[WeightedRows]:
    """Distinct rows, with this number of copies each, split into folds; evidence by the other folds."""
    fold = assign_folds_to_unique_rows(table.y, times, FOLDS, FEWEST)
    common = fold == EVERY
    share = replace(table, w=np.where(common, 1.0 / FOLDS, 1.0) * table.weights())
    members = {f: np.flatnonzero((fold == f) | common) for f in range(FOLDS)}
    folds = {f: share.take(at) for f, at in members.items() if len(at)}
    alone = table.take(np.flatnonzero(fold == NOWHERE))
    tallies = {f: state.tallied(part) for f, part in folds.items()}
    evidence = FoldEvidence.of(state, tallies, state.tallied(alone) if alone.n else None)
    keep = table.n * table.k * table.d <= KEPT
    out = [piece for f, part in folds.items() for piece in evidence.pieces(part, np.full(part.n, f), keep)]
    return out + evidence.pieces(alone, np.full(alone.n, NOWHERE), keep) if alone.n else out
