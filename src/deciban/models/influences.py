"""Posteriors without some of the training rows, all choices held: families, smoothing, cuts, structure, feature weights
and calibration are those of all rows.

A model is a view of sums, so that a group of rows is taken out by subtraction: `Family.loglik_without` and
`parts_without` give the scores of other rows after that, for many groups at once. Where a family has no closed form,
or digits would be lost, the group is subtracted from the tally and the parameters are estimated again.

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
>>> state = model._fitted_state()
>>> table, _ = model._table_of(state, [[0.0], [2.0]], ["a", "a"], None)
>>> logs = log_proba_without(state, table, np.arange(2), 2, state.posterior.block([[2.0]]))
>>> np.exp(logs).round(3).tolist()  # a class of one row has no spread: 2 is its only place
[[[1.0, 0.0]], [[0.0, 1.0]]]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import sub
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.blocks import Block, Reals, Table
from deciban.engines import threads
from deciban.errors import DataError
from deciban.estimation.left_out import LeftOut
from deciban.models import em
from deciban.models.calibration import Calibration
from deciban.models.evidence_errors import rescored
from deciban.models.feature_evidence import LinearEvidence, centred
from deciban.models.held_out import check_learned, held_out_prior, never_learned, second_stage_scores
from deciban.models.joint_tables import JointScores
from deciban.models.learn_feature_weights import weighted
from deciban.models.model import State, finite_sum
from deciban.models.posterior import (
    AveragedPosterior,
    CalibratedScores,
    WeightedScores,
    bias_of,
    resolved,
)
from deciban.rows.levels import recoded
from deciban.tallies import Bundle, Scatter

EM_NOTE = "one step of EM without the group, from the model of all rows"
CELLS = 1 << 17  # of the rows that are left out at a time: arrays of them stay in cache
MOST = 4096  # rows for which a second stage is fitted again
STEPS = 3  # of Newton's method, from the calibration of all rows
WIDE = 4096  # columns
LEAST = 64  # rows that are left out at a time, at least


@dataclass(frozen=True, eq=False)
class PosteriorsWithout:
    """Posteriors of q rows by all training rows, and without each group of them."""

    log_proba: np.ndarray  # (q, k)
    without: np.ndarray  # (groups, q, k), logarithms
    note: str = ""  # how they are approximated; "": they are exact

    def in_classes(self, own: np.ndarray, classes: np.ndarray) -> PosteriorsWithout:
        """The same in a longer list of classes; the others have probability 0."""
        if len(own) == len(classes):
            return self
        at = np.searchsorted(classes, own)

        def spread(logs: np.ndarray) -> np.ndarray:
            out = np.full((*logs.shape[:-1], len(classes)), -np.inf)
            out[..., at] = logs
            return out

        return PosteriorsWithout(spread(self.log_proba), spread(self.without), self.note)


def log_proba_without(
    state: State, table: Table, group: np.ndarray, groups: int, x: Block, priors: Any = None
) -> np.ndarray:
    """log P(class | x) (groups, q, k) of rows x, without each group of rows of a table; group (n,) are numbers 0, 1, …
    (of single rows: their order). `priors` replaces the learned class priors."""
    check_learned(state, table)
    x = x.rows(0, x.n)
    if groups == table.n:
        rows, spans = table, _even_spans(table)
        numbers = None
    else:
        order = np.argsort(group, kind="stable")
        rows, numbers = table.take(order), group[order]
        spans = _spans_of_groups(numbers, groups, _rows_at_a_time(table))
    whole = _class_weights(rows, numbers, groups)
    if (state.n.sum() - whole.sum(axis=1) <= 1e-9 * state.n.sum()).any():
        raise DataError("a group has all rows that the model learned\n\nhint: leave out fewer rows at a time")
    if priors is None:
        prior = _priors_without(state, whole)
    else:
        prior = np.broadcast_to(state.posterior.under(priors).added, whole.shape)
    out = np.empty((groups, x.n, len(state.classes)))

    def of(span: tuple[int, int, int, int]) -> None:
        first, last, start, stop = span
        some = rows.rows(start, stop)
        own = None if numbers is None else numbers[start:stop] - first
        out[first:last] = _Removal(state, some, own, last - first, priors).log_proba(x, prior[first:last])

    with threads.one_blas_thread():
        for _ in threads.map_ordered(spans, of):
            pass
    return out


def _even_spans(table: Table) -> list[tuple[int, int, int, int]]:
    ends = [*range(0, table.n, _rows_at_a_time(table)), table.n]
    return [(a, b, a, b) for a, b in pairwise(ends)]


def _rows_at_a_time(table: Table) -> int:
    """Sparse rows may be looked at column by column."""
    return max(LEAST, CELLS // max(1, min(table.d, WIDE), table.x.cells // max(1, table.n)))


def _spans_of_groups(numbers: np.ndarray, groups: int, step: int) -> list[tuple[int, int, int, int]]:
    """(first group, last group, first row, last row) of each span, from the ascending groups of rows."""
    ends = np.searchsorted(numbers, np.arange(groups + 1))
    out, first = [], 0
    while first < groups:
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + step, side="right")) - 1)
        last = min(last, groups, first + step)
        out.append((first, last, int(ends[first]), int(ends[last])))
        first = last
    return out


def _class_weights(table: Table, numbers: np.ndarray | None, groups: int) -> np.ndarray:
    """The weight of the rows of each class in each group, (groups, k)."""
    at = np.arange(table.n) if numbers is None else numbers
    flat = np.bincount(at * table.k + table.y, table.w, minlength=groups * table.k)
    return flat.reshape(groups, table.k).astype(np.float64)


def _priors_without(state: State, removed: np.ndarray) -> np.ndarray:
    """What is added to the scores, (groups, k): log priors by the weights of classes without each group."""
    own = state.family.log_prior
    if not state.posterior.added.any() or own is not None:
        return np.broadcast_to(state.posterior.added, removed.shape)
    left = np.maximum(state.n - removed, 0.0)
    left[left <= 1e-12 * state.n] = 0.0
    kinds, at = np.unique(left, axis=0, return_inverse=True) if len(left) <= 1 << 12 else _kinds(left)
    logs = np.stack([state.spec.prior.log(n, state.classes) for n in kinds])
    return logs[at.ravel()]


def _kinds(left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of an array and which of them each row is, by their bits."""
    keys = np.ascontiguousarray(left).view(f"V{left.itemsize * left.shape[1]}").ravel()
    _, first, at = np.unique(keys, return_index=True, return_inverse=True)
    return left[first], at


@dataclass(frozen=True, eq=False)
class _Removal:
    """Rows of a table that are left out of a state, in groups."""

    state: State
    table: Table
    group: np.ndarray | None  # (n,); None: every row is a group
    groups: int
    priors: Any

    def log_proba(self, x: Block, prior: np.ndarray) -> np.ndarray:
        """(groups, q, k)"""
        state = self.state
        scores = state.posterior.scores
        with np.errstate(all="ignore"):
            found = self._scores(scores, x)
        bias = bias_of(scores)
        out = np.full((self.groups, x.n, self.table.k), np.nan)
        if found is not None:
            open_groups = np.isnan(found).any(axis=(0, 2))
            for q, own in enumerate(found):
                joint = own + prior
                fallback = prior + bias
                out[:, q] = ops.posterior(np.ascontiguousarray(resolved(joint, fallback)), logs=True)
            out[open_groups] = np.nan
        odd = np.flatnonzero(np.isnan(out).any(axis=(1, 2)))
        for g in odd.tolist():
            out[g] = posterior_without(state, self._rows_of(g), self.priors)(x)
        return out

    def _rows_of(self, g: int) -> Table:
        if self.group is None:
            return self.table.rows(g, g + 1)
        start, stop = np.searchsorted(self.group, [g, g + 1])
        return self.table.rows(int(start), int(stop))

    def _scores(self, scores: Any, x: Block) -> np.ndarray | None:
        """(q, groups, k); NaN for groups, or None, where the state must be estimated again."""
        state, t = self.state, self.state.tally.parts[1]
        posterior = state.posterior
        if state.known.steps:
            return None
        if isinstance(posterior, AveragedPosterior) and posterior.gaps_in(x):
            return None
        family, params = state.family, state.params
        out = LeftOut.of(self.table.x.rows(0, self.table.n), self.table.y, self.table.w, self.group)
        if isinstance(scores, JointScores):
            rows, asked = scores.read(out.x), scores.read(x)  # type: ignore[arg-type]
            left = [scores.tables.scores_without(*one, out, *rows) for one in zip(*asked, strict=True)]
            return np.array(left).reshape(x.n, out.groups, self.table.k)
        if isinstance(scores, WeightedScores):
            return self._weighted(scores, out, x)
        found = family.loglik_without(t, params, out, x)
        if found is not None and isinstance(scores, CalibratedScores):
            scores.calibration.apply(found)
        return found

    def _weighted(self, scores: WeightedScores, out: LeftOut, x: Block) -> np.ndarray | None:
        state, t = self.state, self.state.tally.parts[1]
        family, params, weights = state.family, state.params, scores.weights
        if isinstance(scores.evidence, LinearEvidence):
            above = family.above
            ends = [[above + 1.0], [above]] if above is not None else [[1.0], [0.0]]
            probe = Reals(np.repeat(ends, x.d, axis=1))
            found = family.parts_without(t, params, out, probe)
            if found is None:
                return None
            whole = found.filled(out, family.parts(params, probe))
            lost = np.isnan(whole).any(axis=(0, 2, 3))
            present, absent = centred(whole[0]), centred(whole[1])
            cells = x.dense()  # type: ignore[union-attr]
            missing = np.isnan(cells)
            cells = np.where(missing, 0.0, cells if above is None else cells > above)
            parts = cells[:, None, None] * (present - absent) + absent
            parts *= ~missing[:, None, None]
        else:
            found = family.parts_without(t, params, out, x)
            if found is None:
                return None
            parts = found.filled(out, family.parts(params, x))
            lost = np.isnan(parts).any(axis=(0, 2, 3))
            parts = centred(parts)
        joint = np.einsum("qgkd,kd->qgk", parts, weights.table) + weights.bias
        joint[:, lost] = np.nan
        return joint


def posterior_without(state: State, rows: Table, priors: Any = None) -> Callable[[Block], np.ndarray]:
    """A function of rows x: log P(class | x) (q, k) by the state without these rows, its choices held."""
    left = state.with_tally(finite_sum(state.tally, _removed(state, rows), sub))
    if left.tally.short().any() and not state.known.steps:
        raise never_learned(state, rows, 0)
    left = left.pruned()
    family = left.family.held(state.tally.parts[1], state.params)
    with np.errstate(all="ignore"):
        params = family.estimate(left.tally.parts[1])
    scores = state.posterior.scores
    tables = scores.tables.tally - scores.tables.chosen.tally(rows) if isinstance(scores, JointScores) else None
    scores = rescored(scores, family, params, tables)
    if isinstance(scores, JointScores):
        scores = replace(scores, schema=left.reader.schema)
    posterior = left.posterior_by(scores)
    if priors is not None:
        posterior = posterior.under(priors)

    def log_proba(x: Block) -> np.ndarray:
        if left.reader.schema is not state.reader.schema:
            x = recoded(x, state.reader.schema, left.reader.schema)
        return posterior.block_log_proba(x)

    return log_proba


def _removed(state: State, rows: Table) -> Bundle:
    """The tally of rows; after EM, of their expected statistics by the Gaussians of all rows."""
    out = state.tallied(rows)
    t = state.tally.parts[1]
    if not state.known.steps or not isinstance(t, Scatter):
        return out
    batches = em.batches(rows.x.rows(0, rows.n), rows.y, rows.w, rows.k)  # type: ignore[arg-type]
    if not batches:
        return out
    gaussians = state.remember("em", lambda: em.gaussians_of(state))
    whole = out.parts[1].dense()
    for batch in batches:
        whole = whole + em.expected(batch, gaussians, t.pooled).tally
    return Bundle((out.parts[0], whole, *out.parts[2:]))


# the second stage again


def log_proba_refitted(
    state: State, table: Table, group: np.ndarray, groups: int, x: Block, priors: Any = None
) -> np.ndarray:
    """`log_proba_without`, with calibration and weights of columns fitted again to the rows that are left; tuned
    settings stay."""
    spec, sample = state.spec, state.sample
    if not (spec.calibrate or spec.weighted_by):
        return log_proba_without(state, table, group, groups, x, priors)
    if spec.interactions:
        raise DataError(
            "weights of joint tables are not fitted again without rows\n\nhint: leave out `second_stage`: they are held"
        )
    if table.n > MOST:
        raise DataError(
            f"calibration or weights are fitted again for each row or group, of {MOST:,} rows at most; these are "
            f"{table.n:,}\n\nhint: leave out `second_stage`, or pass fewer rows"
        )
    if sample is None:
        raise DataError(
            f"this {spec.name} keeps no rows to which calibration or weights could be fitted again\n\n"
            "hint: fit it with keep_rows above 0, or leave out `second_stage`"
        )
    check_learned(state, table)
    x = x.rows(0, x.n)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(groups + 1))
    out = np.empty((groups, x.n, len(state.classes)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the fit on all rows were given
        for g, (start, stop) in enumerate(pairwise(ends)):
            out[g] = _refitted(state, table.take(order[start:stop]), x, priors)
    return out


def _refitted(state: State, rows: Table, x: Block, priors: Any) -> np.ndarray:
    """log P(class | x) (q, k) by the state without some rows, its second stage fitted again from where it was."""
    left = state.minus(_removed(state, rows), rows)
    if left.short:
        raise never_learned(state, rows, 0)
    left = left.pruned()
    held = left.family.held(state.tally.parts[1], state.params)
    left.__dict__["family"] = held
    spec, sample = left.spec, left.sample
    assert sample is not None
    if spec.calibrate or spec.feature_weights:
        chosen = sample.selected(left.n)
        if spec.calibrate:
            scores, prior = second_stage_scores(left, chosen.table), held_out_prior(left, chosen.table)
            again = Calibration.fit(scores, prior, chosen.table.y, chosen.mass, start=state.calibration, steps=STEPS)
            left = left.adjusted(calibration=again)
        if spec.feature_weights:
            left = weighted(left, chosen)
    posterior = left.posterior if priors is None else left.posterior.under(priors)
    if left.reader.schema is not state.reader.schema:
        x = recoded(x, state.reader.schema, left.reader.schema)
    return posterior.block_log_proba(x)
