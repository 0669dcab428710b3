"""Learn feature weights (`weights="discriminative"`) from the tally of all rows and a sample of them.

Weights are fitted to held-out evidence: the rows of the sample are split into ten folds, and the evidence of a row
comes from the tally of all rows but those of its fold. Identical rows share a fold; if there are several of them, they
are in all folds in equal shares (`folds.assign_folds_to_unique_rows`). Folds depend on cells and classes only.

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
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from deciban import decision
from deciban.data.blocks import Counts, Table, borders
from deciban.errors import levels_up
from deciban.models import feature_weights as weighing
from deciban.models.feature_evidence import DenseEvidence, LinearEvidence, NoEvidence, SparseEvidence, column_evidence
from deciban.models.feature_weights import FeatureWeights, WeightedRows
from deciban.models.model import State
from deciban.rows.folds import EVERY, NOWHERE, UniqueRows, assign_folds_to_unique_rows
from deciban.rows.sample import SelectedRows

FOLDS = 10
FEWEST = 3  # distinct rows that a class needs for held-out evidence: one of two rows has no variance
CHUNK = 1 << 20  # least size of a chunk: rows × classes × columns
KEPT = 1 << 26  # largest size of all chunks that are kept in memory between steps


def weighted(state: State, rows: SelectedRows) -> State:
    """The state with feature weights."""
    k, d = len(state.classes), state.reader.d
    if k < 2 or rows.table.n == 0:
        return state.adjusted(weights=FeatureWeights(np.ones((k, d)), np.zeros(k), (), 0, "gradient"))
    pieces = held_out_pieces(state, *distinct_rows(rows))
    return state.adjusted(weights=warn_unconverged(weighing.fit(pieces, decision.log_prior(state.n), d)))


def distinct_rows(rows: SelectedRows) -> tuple[Table, np.ndarray, np.ndarray]:
    """(distinct rows with the total weight of their copies, the number of copies of each, factors of their losses)"""
    table = rows.table
    distinct = UniqueRows.of(rows.digest, table.y, table.weights() * rows.times, rows.times)
    return replace(table.take(distinct.at), w=distinct.weight), distinct.times, rows.share[distinct.at]


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


def held_out_pieces(state: State, table: Table, times: np.ndarray, share: np.ndarray) -> list[WeightedRows]:
    """Distinct rows, with this number of copies each, split into folds, with the evidence of all rows but their fold.
    The weights of the rows in a loss are multiplied by `share`."""
    fold = assign_folds_to_unique_rows(table.y, times, FOLDS, FEWEST)
    w = np.where(fold == EVERY, 1.0 / FOLDS, 1.0) * table.weights()
    chosen = state.family.fixed(state.params)  # families are chosen from all rows, their parameters learned from others
    met = np.zeros(table.k, dtype=int)
    held: list[tuple[Any, Table, np.ndarray]] = []
    for f in range(FOLDS):
        at = np.flatnonzero((fold == f) | (fold == EVERY))
        if len(at):
            part = replace(table.take(at), w=w[at])
            others = state.tally - state.tallied(part)
            met += np.bincount(part.y, minlength=table.k) > 0
            held.append((column_evidence(chosen, chosen.estimate(others.parts[1])), part, share[at]))
    # rows of classes in too few folds for held-out evidence determine only the biases
    rare, nothing = met < FEWEST, NoEvidence(table.k, state.reader.d)
    alone = np.flatnonzero(fold == NOWHERE)
    held.append((nothing, table.take(alone), share[alone]))
    keep = table.n * table.k * table.d <= KEPT
    out = []
    for evidence, part, factor in held:
        some = rare[part.y]
        for own, at in ((evidence, np.flatnonzero(~some)), (nothing, np.flatnonzero(some))):
            out += pieces_of(own, part.take(at), factor[at], keep)
    return out


def pieces_of(evidence: Any, table: Table, share: np.ndarray, keep: bool) -> list[WeightedRows]:
    """Rows with this evidence, in pieces of a moderate size; `keep`: whether the evidence stays in memory."""
    if table.n == 0:
        return []
    wide = table.d > weighing.DENSE and isinstance(evidence, LinearEvidence) and isinstance(table.x, Counts)
    w, out = table.weights() * share, []
    for start, stop in borders(table.n, table.x.cells if wide else table.n * table.k * table.d, CHUNK):
        part = table.rows(start, stop)
        found = SparseEvidence(evidence, part.x) if wide else DenseEvidence(evidence, part.x, keep)  # type: ignore[arg-type]
        out.append(WeightedRows(found, part.y, w[start:stop]))
    return out
