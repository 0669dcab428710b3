"""Learn the weights of columns (`weights="discriminative"`) from training rows, in memory or elsewhere.

Weights are fitted to rows that the counts have not seen: the rows are dealt into ten folds, and what the columns of a
fold say is taken from the tally of the others. Rows that are alike share a fold, unless there are several of them:
these are in all folds, in equal shares (`folds.dealt`). All kinds of rows are dealt where they fit into a sample; else
the sample's weights are where the steps over all rows begin, and a row's fold is its digest. Folds depend on cells and
classes alone: `fit_on` has those of `fit`.

>>> import numpy as np
>>> from deciban import GaussianNB
>>> rng = np.random.default_rng(0)
>>> y = np.repeat(["a", "b"], 200)
>>> x = rng.normal(size=(400, 1)) + 2.0 * (y == "b")[:, None]
>>> X = np.hstack([x, x + 0.1 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))])  # a column, its echo, and noise
>>> plain, weighted = GaussianNB().fit(X, y), GaussianNB(weights="discriminative").fit(X, y)
>>> weighted.feature_weights_.round(1).tolist()
[0.8, 0.3, 0.1]
>>> bool((plain.predict_proba(X).max(axis=1) > weighted.predict_proba(X).max(axis=1)).mean() > 0.9)  # more modest
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
from deciban.models.model import State, Tallying
from deciban.rows.folds import EVERY, NOWHERE, Kinds, dealt
from deciban.rows.rows import ArrayRows, Rows
from deciban.rows.sample import RowSample, digests
from deciban.tallies import Bundle
from deciban.tallies.basic import SumTuple

FOLDS = 10
FEWEST = 3  # different rows of a class, for each to be judged by the others: one of two would have no variance
CHUNK = 1 << 20  # numbers, rows × classes × columns, that a chunk has, at least
KEPT = 1 << 26  # and that all of them may have, to be kept from step to step


def weighted(state: State, rows: Rows) -> State:
    """The state with weights of its columns."""
    k, d = len(state.classes), state.reader.d
    assert rows.sample is not None
    if k < 2 or rows.sample.table.n == 0:
        return state.adjusted(weights=FeatureWeights(np.ones((k, d)), np.zeros(k), (), 0, "gradient"))
    prior = decision.log_prior(state.n)
    few, times, digest = distinct_rows(rows.sample)
    if rows.sample.complete:
        return state.adjusted(weights=settled(weighing.fit(dealt_pieces(state, few, times), prior, d)))
    fold_tallies = FoldTallying(state)
    tallies = rows.total(fold_tallies, fold_tallies.size).parts
    judges = Judges.of(state, {f: t for f, t in enumerate(tallies) if t.parts[0].n.any()})
    near = weighing.problem(judges.pieces(few, fold_of(digest)), prior, d)
    start = weighing.minimise(near, weighing.tempered(near)).w
    keep = isinstance(rows, ArrayRows) and rows.table.n * k * d <= KEPT
    sums = rows.mapped(JudgedRows(judges, keep), max(CHUNK // k, 1), keep)
    far = weighing.begun(replace(near, pieces=(), elsewhere=sums, mass=float(state.n.sum()), dear=not rows.in_memory))
    return state.adjusted(weights=settled(weighing.found(far, weighing.minimise(far, start))))


def distinct_rows(sample: RowSample) -> tuple[Table, np.ndarray, np.ndarray]:
    """(rows of which no two are alike, with the weight of all of a kind, how many there are of each, their digests)"""
    table, counts = sample.table, sample.counts()
    digest = digests(table.x, table.schema)
    kinds = Kinds.of(digest, table.y, table.weights() * counts, counts)
    return replace(table.take(kinds.at), w=kinds.weight), kinds.times, digest[kinds.at]


def settled(found: FeatureWeights) -> FeatureWeights:
    """The weights, with a warning where they are not the best."""
    if not found.converged:
        warnings.warn(
            f"the columns' weights have not settled after {found.steps} steps ({found.why})\n\n"
            "hint: look for columns of wild numbers; predictions are as good as the weights so far",
            ConvergenceWarning,
            stacklevel=levels_up(),
        )
    return found


def fold_of(digest: np.ndarray) -> np.ndarray:
    """The fold of each row where there are many, (n,)."""
    return (digest % np.uint64(FOLDS)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class FoldTallying:
    """rows → the tally of each fold."""

    state: State

    @property
    def size(self) -> int:
        """Numbers in the tallies."""
        return FOLDS * self.state.family.tally_size(len(self.state.classes), self.state.reader.d)

    def __call__(self, table: Table) -> SumTuple:
        fold, tallying = fold_of(digests(table.x, table.schema)), Tallying(self.state.spec, self.state.known)
        return SumTuple(tuple(tallying(table.take(np.flatnonzero(fold == f))) for f in range(FOLDS)))


@dataclass(frozen=True, eq=False)
class Judges:
    """What columns say to the rows of each fold: by the tallies of the others."""

    said: dict[int, Any]
    unknown: np.ndarray  # (k,), classes that too few can judge: their rows teach the biases alone
    silence: NoEvidence

    @classmethod
    def of(cls, state: State, tallies: dict[int, Bundle], alone: Bundle | None = None) -> Judges:
        """From the tallies of the folds, and of rows that are in no fold."""
        more = [] if alone is None else [alone]
        chosen = state.family.fixed(
            state.params
        )  # families are those of all rows; what they have learned is the folds'
        said = {}
        for f in tallies:
            others = reduce(add, [t for g, t in tallies.items() if g != f] + more)
            said[f] = column_evidence(chosen, chosen.estimate(others.parts[1]))
        k = len(state.classes)
        met = sum(((t.parts[0].n > 0).astype(int) for t in tallies.values()), np.zeros(k, dtype=int))
        return cls(said, met < FEWEST, NoEvidence(k, state.reader.d))

    def each(self, fold: np.ndarray, y: np.ndarray) -> Iterator[tuple[Any, np.ndarray]]:
        """(what is said, which rows hear it), of rows in these folds and of these classes."""
        place = np.where(self.unknown[y] | ~np.isin(fold, list(self.said)), NOWHERE, fold)
        for f in np.unique(place).tolist():
            yield self.said.get(f, self.silence), np.flatnonzero(place == f)

    def pieces(self, table: Table, fold: np.ndarray, keep: bool = True) -> list[WeightedRows]:
        """Rows, each judged by the folds that it is not in."""
        out = []
        for said, at in self.each(fold, table.y):
            here = table.take(at)
            wide = table.d > weighing.DENSE and isinstance(said, LinearEvidence) and isinstance(table.x, Counts)
            for span in borders(here.n, here.x.cells if wide else here.n * table.k * table.d, CHUNK):
                part = here.rows(*span)
                found = SparseEvidence(said, part.x) if wide else DenseEvidence(said, part.x, keep)  # type: ignore[arg-type]
                out.append(WeightedRows(found, part.y, part.weights()))
        return out


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """rows → the same, judged by the folds that they are not in."""

    judges: Judges
    keep: bool

    def __call__(self, table: Table) -> list[WeightedRows]:
        if table.w is not None and not table.w.all():
            table = table.take(np.flatnonzero(table.w > 0))
        if table.n == 0:
            return [WeightedRows(DenseEvidence(self.judges.silence, table.x, False), table.y, table.weights())]
        return self.judges.pieces(table, fold_of(digests(table.x, table.schema)), self.keep)


def dealt_pieces(state: State, table: Table, times: np.ndarray) -> list[WeightedRows]:
    """Rows no two of which are alike, each standing for so many, judged by the other folds that they are dealt into."""
    fold = dealt(table.y, times, FOLDS, FEWEST)
    common = fold == EVERY
    share = replace(table, w=np.where(common, 1.0 / FOLDS, 1.0) * table.weights())
    members = {f: np.flatnonzero((fold == f) | common) for f in range(FOLDS)}
    folds = {f: share.take(at) for f, at in members.items() if len(at)}
    alone = table.take(np.flatnonzero(fold == NOWHERE))
    tallies = {f: state.tallied(part) for f, part in folds.items()}
    judges = Judges.of(state, tallies, state.tallied(alone) if alone.n else None)
    keep = table.n * table.k * table.d <= KEPT
    out = [piece for f, part in folds.items() for piece in judges.pieces(part, np.full(part.n, f), keep)]
    return out + judges.pieces(alone, np.full(alone.n, NOWHERE), keep) if alone.n else out
