"""Standard errors of the evidence of generative models. All choices are held: family, smoothing, cuts, weights,
calibration.

Two ways, by what is known of the family:

    influences    Σ_i w_i (g · f_i)² over training rows, where `Family.sensitivity` has a closed form: f_i is what row i
                  adds to the parameters, g the slope of the evidence. Rows of one class move its parameters together,
                  so the total has the variance of the sum of a row's influences on all columns. Without rows, the
                  model's own covariance of the parameters: normal, Gamma and Dirichlet posteriors.
    groups left   for all other families: rows are split into groups by their content, each group is left out, and the
    out           spread of the evidence is that of the (G − 1) / G Σ (without group − all)² (Quenouille 1956; Tukey
                  1958). Without rows, rows are drawn from the fitted densities.

Columns of levels and words have the variance of their Dirichlet posterior in both. Learned class priors are counts too.

>>> from deciban import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
>>> bars = model.explain([[2.0]], error="model")
>>> bars.error.round(1).tolist()  # √((1 + 1) / 4 + (1 + 16) / 4) nats, from z = 1 and z = −2
[[9.5]]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deciban.data.blocks import Block, Codes, Mixed, Reals, Table
from deciban.display import option
from deciban.engines import threads
from deciban.errors import DataError
from deciban.estimation.sensitivity import Sensitivity, trigamma
from deciban.explain.error_bars import Errors, Variances
from deciban.models.feature_evidence import column_evidence
from deciban.models.joint_tables import JointScores
from deciban.models.model import State, tally_of
from deciban.models.posterior import (
    AveragedPosterior,
    CalibratedScores,
    FamilyScores,
    Posterior,
    WeightedScores,
)
from deciban.rows.digests import stirred
from deciban.rows.sample import digests

GROUPS = 32  # of rows that are left out in turn
DRAWN = 4096  # rows drawn from a model that keeps none
WIDE = 2048  # parameters of a class whose covariance is formed
HELD = 1 << 23  # numbers of influences of a class that are held at once
CACHED = 1 << 16  # slopes that are held at once: they stay in cache
CHUNK = 1 << 21  # changes that are held at once
TINY = 1e-300
ROBUST = "from how much each training row moves it"
OWN = "under the model's own distributions: too narrow where these do not fit the columns"
DIRICHLET = "from the posterior of the counts"


def errors_of(
    state: State, posterior: Posterior, x: Block, kind: str, training: Table | None, given_priors: bool
) -> Errors:
    """The errors of rows x; `training`: training rows, by default those that the state keeps."""
    if state.given:
        raise DataError(
            f"the parameters of this {state.spec.name} were given: they have no standard errors\n\n"
            "hint: `fit` learns from rows"
        )
    if state.known.texts:
        raise DataError(
            f"this {state.spec.name} was saved without the texts of its training rows, which standard errors need\n\n"
            "hint: save it with rows=True"
        )
    if isinstance(posterior, AveragedPosterior) and posterior.gaps_in(x):
        raise DataError(
            "missing='average' averages posteriors over missing levels, which has no standard error\n\n"
            "hint: explain rows without missing levels, or fit with missing='ignore'"
        )
    rows = training
    if kind != "model" and rows is None and state.sample is not None and state.sample.table.n:
        rows = state.sample.all_rows()
    if kind == "model":
        rows = None
    closed = state.remember("sensitivity", lambda: _sensitivity(state))
    if kind == "robust" and rows is None:
        rows_of, own = option("`training=(X, y)`", "--training FILE"), option("error='model'", "--error model")
        raise DataError(
            f"this {state.spec.name} keeps no training rows, which error='robust' needs\n\n"
            f"hint: pass them, {rows_of}; or {own} takes the model's own distributions"
        )
    prior = np.zeros(len(state.classes))
    if not given_priors and state.spec.prior.given is None and state.spec.prior.learned and posterior.added.any():
        prior = trigamma(state.n)
    if closed is not None and not isinstance(posterior.scores, JointScores):
        make = lambda: RowInfluences.of(closed, rows, state.n)  # noqa: E731
        used = make() if training is not None else state.remember(f"influences {rows is None}", make)
        only_counts = bool(closed.counted.all())
        note = DIRICHLET if only_counts and rows is None else OWN if rows is None else ROBUST
        return InfluenceErrors(note, posterior, closed, used, x, prior, _shown(posterior.reader))
    if state.spec.structured and state.family.factorises:
        return TableErrors(DIRICHLET, posterior, state.tally.parts[1], x, prior, _shown(posterior.reader))
    return GroupErrors.of(state, posterior, rows, x, prior)


def _sensitivity(state: State) -> Sensitivity | None:
    if state.spec.structured:
        return None
    return state.family.sensitivity(state.tally.parts[1], state.params)


def _shown(reader: Any) -> np.ndarray:
    """The number of the column that each column of the model is shown as, (d,)."""
    return np.asarray(reader.shown_parts(np.eye(reader.d)[None])[0] != 0).argmax(axis=1)


# influences


@dataclass(frozen=True, eq=False)
class RowInfluences:
    """Sums of products of the influences of training rows, by class. Without rows: the covariance under the model."""

    sensitivity: Sensitivity
    rows: Table | None
    n: np.ndarray  # (k,), weights of the classes
    known: dict[int, ClassCovariance]
    columns: dict[int, ColumnVariances]

    @classmethod
    def of(cls, sensitivity: Sensitivity, rows: Table | None, n: np.ndarray) -> RowInfluences:
        return cls(sensitivity, rows, n, {}, {})

    def of_class(self, c: int) -> ClassCovariance:
        if c not in self.known:
            self.known[c] = self._of_class(c)
        return self.known[c]

    def by_column(self, c: int, place: np.ndarray, d: int) -> ColumnVariances:
        """What gives the variances of the parts of class c in d columns; the places of parameters never change."""
        if c not in self.columns:
            self.columns[c] = self.of_class(c).by_column(place, d)
        return self.columns[c]

    def _of_class(self, c: int) -> ClassCovariance:
        s, p = self.sensitivity, len(self.sensitivity.owner)
        excess, variance = s.excess(c), s.variance(c)
        if self.rows is None:
            return ClassCovariance(s, variance, s.shared(c), excess, None, None)
        own = np.flatnonzero(self.rows.y == c)
        w = self.rows.weights()[own]
        many = max(HELD // max(p, 1), 64)
        square = p <= WIDE
        if not square and len(own) > many:  # rows of a sample are in the order of their digests
            own, w = own[:many], w[:many]
        scale = self.n[c] / w.sum() if w.sum() > 0 else 0.0
        if not square:
            f = s.influence(self.rows.x.take(own), c) * np.sqrt(w * scale)[:, None]
            return ClassCovariance(s, variance, s.shared(c), excess, None, f)
        out = np.zeros((p, p))
        for start in range(0, len(own), many):
            some = slice(start, start + many)
            f = s.influence(self.rows.x.take(own[some]), c) * np.sqrt(w[some] * scale)[:, None]
            out += f.T @ f
        return ClassCovariance(s, variance, s.shared(c), excess, out, None)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives of sums of parts by the parameters of a class, up to a factor for each row: those of parameters
    without codes, and codes with their weights."""

    factor: np.ndarray  # (n,)
    dense: np.ndarray  # (parameters, n)
    codes: np.ndarray  # (columns, n); −1: none
    weight: np.ndarray  # (columns, n), 0 where there is none


@dataclass(frozen=True, eq=False)
class ClassCovariance:
    """The covariance of the parameters of a class."""

    sensitivity: Sensitivity
    variance: np.ndarray  # (p,), under the model
    shared: np.ndarray  # (groups,)
    excess: np.ndarray  # (p,)
    square: np.ndarray | None  # (p, p), from rows
    factor: np.ndarray | None  # (rows, p), instead of it; neither: there are no rows

    @property
    def has_rows(self) -> bool:
        return self.square is not None or self.factor is not None

    @cached_property
    def _dense(self) -> np.ndarray:
        """Parameters without codes."""
        return np.flatnonzero(~self.sensitivity.coded)

    @cached_property
    def _posterior(self) -> np.ndarray:
        """Variance of each parameter with a code under the model, (p,)."""
        return self.variance - self.shared[self.sensitivity.block()]

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray]:
        """(of parameters without codes, of these with all)"""
        assert self.square is not None
        rows = np.ascontiguousarray(self.square[self._dense])
        return rows[:, self._dense], rows

    def total(self, s: Slopes) -> np.ndarray:
        """The variance of the sum of all parts, (n,)."""
        return np.square(s.factor) * np.maximum(self._total(s), 0.0)

    def _total(self, s: Slopes) -> np.ndarray:
        many = len(s.codes)
        if not self.has_rows:
            group = indicator(self.sensitivity.block()[self._dense], len(self.shared))
            own = self.variance[self._dense] @ np.square(s.dense) - self.shared @ np.square(group.T @ s.dense)
            return own + (np.square(s.weight) * self._posterior[s.codes]).sum(axis=0)
        out = (np.square(s.weight) * self.excess[s.codes]).sum(axis=0)
        if self.sensitivity.counted[self._dense].any():
            out += self.excess[self._dense] @ np.square(s.dense)
        if self.factor is not None:
            moved = self.factor[:, self._dense] @ s.dense
            for code, weight in zip(s.codes, s.weight, strict=True):
                moved += self.factor[:, code] * weight
            return out + np.einsum("mn,mn->n", moved, moved)
        assert self.square is not None
        if len(s.dense):
            dense, rows = self._squares
            moved = dense @ s.dense
            for code, weight in zip(s.codes, s.weight, strict=True):
                moved += rows.take(code, axis=1, mode="clip") * (2.0 * weight)
            out += np.einsum("pn,pn->n", moved, s.dense)
        flat, width = self.square.ravel(), len(self.square)
        for j in range(many):
            start = s.codes[j] * width
            sums = flat.take(start + s.codes[j], mode="clip") * s.weight[j]
            for i in range(j):
                share = flat.take(start + s.codes[i], mode="clip")
                share *= s.weight[i]
                share *= 2.0
                sums += share
            out += s.weight[j] * sums
        return out

    def by_column(self, place: np.ndarray, d: int) -> ColumnVariances:
        """What gives the variances of the parts of parameters at each place (p,) of d columns."""
        of, dense = self.sensitivity, self._dense
        at = place_of_columns(of, place)[of.coded_columns]
        counted = of.counted[dense] | (not self.has_rows)
        each = dense[counted]
        pairs, which = np.unique(np.stack([place[each], of.block()[each]]), axis=1, return_inverse=True)
        shared = self.shared[pairs[1]]
        first, second, covariance = self._near(np.flatnonzero(~counted), place)
        return ColumnVariances(
            d,
            self._posterior,
            indicator(at, d).T.tocsr(),
            counted,
            weighted_indicator(place[each], self.variance[each], d).T.tocsr(),
            indicator(which.ravel(), pairs.shape[1]).T.tocsr(),
            weighted_indicator(pairs[0], shared, d).T.tocsr() if shared.any() else None,
            first,
            second,
            weighted_indicator(place[dense[first]], covariance, d).T.tocsr(),
        )

    def _near(self, some: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of parameters without codes at the same place, and their covariance, twice where they differ."""
        at = place[self._dense[some]]
        order = np.argsort(at, kind="stable")
        groups = np.split(some[order], np.flatnonzero(np.diff(at[order])) + 1) if len(some) else []
        pairs = [group[np.stack(np.triu_indices(len(group)))] for group in groups]
        a, b = np.concatenate([np.zeros((2, 0), dtype=np.int64), *pairs], axis=1)
        i, j = self._dense[a], self._dense[b]
        if self.square is not None:
            covariance = self.square[i, j]
        elif self.factor is not None:
            covariance = np.einsum("rp,rp->p", self.factor[:, i], self.factor[:, j])
        else:
            covariance = np.zeros(len(a))
        return a, b, covariance * np.where(a == b, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class ColumnVariances:
    """Variances of the parts of each column. Shares have the variance of their posterior, other parameters that of
    their pairs."""

    d: int
    posterior: np.ndarray  # (p,)
    coded: csr_array  # (d, coded columns)
    counted: np.ndarray  # which of the parameters without codes have the variance of their posterior
    own: csr_array  # (d, such parameters): their variances
    group: csr_array  # (groups, such parameters)
    shared: csr_array | None  # (d, groups)
    first: np.ndarray  # pairs of other parameters
    second: np.ndarray
    covariance: csr_array  # (d, pairs)

    def __call__(self, s: Slopes) -> np.ndarray:
        """(n, d)"""
        out = np.zeros((self.d, s.dense.shape[1]))
        if len(s.codes):
            out += self.coded @ (np.square(s.weight) * self.posterior[s.codes])
        if self.counted.any():
            own = s.dense if self.counted.all() else s.dense[self.counted]
            out += self.own @ np.square(own)
            if self.shared is not None:
                out -= self.shared @ np.square(self.group @ own)
        if len(self.first):
            both = s.dense[self.first]
            both *= s.dense[self.second]
            out += self.covariance @ both
        return (np.maximum(out, 0.0) * np.square(s.factor)).T


def place_of_columns(of: Sensitivity, place: np.ndarray) -> np.ndarray:
    """The place (columns,) of each column of a sensitivity, from those of its parameters."""
    out = np.zeros(len(of.columns), dtype=np.int64)
    out[of.owner] = place
    return out


def weighted_indicator(group: np.ndarray, values: np.ndarray, groups: int) -> csr_array:
    """(p, groups): values at the group of each of p things."""
    return csr_array((values, group, np.arange(len(group) + 1)), shape=(len(group), groups))


def indicator(group: np.ndarray, groups: int) -> csr_array:
    """(p, groups): 1 at the group of each of p things."""
    return csr_array((np.ones(len(group)), group, np.arange(len(group) + 1)), shape=(len(group), groups))


@dataclass(frozen=True, eq=False)
class InfluenceErrors(Errors):
    """By influences of rows, or by the model's covariances."""

    note: str
    posterior: Posterior
    sensitivity: Sensitivity
    covariances: RowInfluences
    x: Block
    prior: np.ndarray  # (k,), variances of log class priors, but for a common term
    shown: np.ndarray  # (d,), see `_shown`

    def variances(self, at: np.ndarray, coef: np.ndarray) -> Variances:
        d = int(self.shown.max(initial=-1)) + 1
        columns, total = np.zeros((len(at), d)), np.zeros(len(at))
        with threads.one_blas_thread():
            for rows, c, slope in self._slopes(at, coef):
                total[rows] += self.covariances.of_class(c).total(slope)
                columns[rows] += self.covariances.by_column(c, self._place, d)(slope)
        prior = coef**2 @ self.prior
        return Variances(prior, columns, np.maximum(total, 0.0) + prior)

    def totals(self, at: np.ndarray, coef: np.ndarray) -> np.ndarray:
        total = np.zeros(coef.shape[:2])
        with threads.one_blas_thread():
            for t in range(coef.shape[1]):
                for rows, c, slope in self._slopes(at, coef[:, t]):
                    total[rows, t] += self.covariances.of_class(c).total(slope)
        return np.maximum(total, 0.0) + coef**2 @ self.prior

    @cached_property
    def _place(self) -> np.ndarray:
        """The shown column of each parameter, (p,)."""
        return self.shown[self.sensitivity.columns[self.sensitivity.owner]]

    def _slopes(self, at: np.ndarray, coef: np.ndarray) -> Iterator[tuple[np.ndarray, int, Slopes]]:
        """(rows of `at`, a class, the slopes of Σ_c coef_c · score_c by its parameters)"""
        s = self.sensitivity
        alike = not (s.moves or isinstance(self.posterior.scores, WeightedScores))  # all columns have one coefficient
        dense = s.owner[~s.coded]
        step = max(CACHED // max(len(dense) + len(s.coded_columns), 1), 64)
        for start in range(0, len(at), step):
            some = np.arange(start, min(start + step, len(at)))
            whole = len(some) == self.x.n and bool((at[some] == np.arange(self.x.n)).all())
            x = self.x if whole else self.x.take(at[some])
            with np.errstate(all="ignore"):
                parts = by_parts(self.posterior.scores, coef[some], 1 if alike else len(self.shown))
                each = parts if alike else s.moved(x, parts[:, :, s.columns])
                codes = s.codes(x)
                for c in range(each.shape[1]):
                    used = np.flatnonzero((each[:, c] != 0).any(axis=1))
                    if len(used) == 0:
                        continue
                    block, own, part = x, codes, each[:, c]
                    if len(used) < len(some):
                        block, own, part = x.take(used), codes[:, used], part[used]
                    slope, there = s.slopes(block, c), (own >= 0).astype(np.float64)
                    if alike:
                        yield some[used], c, Slopes(part[:, 0], slope, own, there)
                    else:
                        part = part.T
                        there *= part[s.coded_columns]
                        yield some[used], c, Slopes(np.ones(len(used)), slope * part[dense], own, there)


def by_parts(scores: Any, coef: np.ndarray, d: int) -> np.ndarray:
    """Coefficients (n, k, d) of the parts of the family, from those of the scores (n, k)."""
    if isinstance(scores, WeightedScores):
        weighted = coef[:, :, None] * scores.weights.table
        return weighted - weighted.mean(axis=1, keepdims=True)  # evidence is relative to the mean over the classes
    if isinstance(scores, CalibratedScores):
        coef = coef * scores.calibration.temperature
    return np.broadcast_to(coef[:, :, None], (*coef.shape, d))


# posteriors of conditional tables


@dataclass(frozen=True, eq=False)
class TableErrors(Errors):
    """Of trees and networks: the shares of every row of every table have a Dirichlet posterior, all independent."""

    note: str
    posterior: Posterior
    tally: Any
    x: Block
    prior: np.ndarray  # (k,)
    shown: np.ndarray  # (d,)

    def variances(self, at: np.ndarray, coef: np.ndarray) -> Variances:
        scores, size = self.posterior.scores, 1.0
        if isinstance(scores, CalibratedScores):
            size = scores.calibration.temperature
        plain = scores if isinstance(scores, FamilyScores) else scores.plain
        with np.errstate(all="ignore"):
            found = plain.family.cell_factors(self.tally, plain.params, self.x.take(at).rows(0, len(at)))
        each = trigamma(found.numerator) - trigamma(found.denominator)
        each = np.where(np.isnan(found.power)[:, None, :], 0.0, np.nan_to_num(each))
        own = np.einsum("nk,nkm->nm", (coef * size) ** 2, np.maximum(each, 0.0))
        columns = own @ indicator(self.shown[found.columns], int(self.shown.max(initial=-1)) + 1)
        prior = coef**2 @ self.prior
        return Variances(prior, columns, columns.sum(axis=1) + prior)


# groups of rows that are left out


@dataclass(frozen=True, eq=False)
class GroupErrors(Errors):
    """By leaving out groups of rows."""

    note: str
    posterior: Posterior  # of all these rows
    without: tuple[Posterior, ...]  # of each group
    factor: float  # variance from the mean square of the changes
    x: Block
    prior: np.ndarray  # (k,)

    @classmethod
    def of(cls, state: State, posterior: Posterior, rows: Table | None, x: Block, prior: np.ndarray) -> GroupErrors:
        note = OWN if rows is None else ROBUST
        rows = drawn_rows(state) if rows is None else rows
        w, key = rows.weights(), digests(rows.x, rows.schema, state.reader.digested_names)
        family = state.family.fixed(state.params)
        group = groups_of(key, rows.y)
        many = min(GROUPS, rows.n)
        if many < 2:
            raise DataError("a standard error needs at least two training rows\n\nhint: fit on more rows")
        tallies = [tally_of(family, rows.take(np.flatnonzero(group == g))) for g in range(many)]
        joint = [_joint_tally(posterior.scores, rows.take(np.flatnonzero(group == g))) for g in range(many)]
        everything, pairs = sum_of(tallies), None if joint[0] is None else sum_of(joint)

        def of(tally: Any, tables: Any) -> Posterior:
            with np.errstate(all="ignore"):
                params = family.estimate(tally.parts[1])
            return replace(posterior, scores=rescored(posterior.scores, family, params, tables))

        without = tuple(
            of(everything - one, None if pairs is None else pairs - own)
            for one, own in zip(tallies, joint, strict=True)
        )
        copies = w.sum() / max(np.square(w).sum(), TINY)  # copies of a row are in one group
        factor = (many - 1) / many * w.sum() / state.n.sum() * copies
        return cls(note, of(everything, pairs), without, float(factor), x, prior)

    def variances(self, at: np.ndarray, coef: np.ndarray) -> Variances:
        out = []
        for rows, change in self._changes(at):
            own = np.einsum("nk,gnkd->gnd", coef[rows], change)
            out.append((np.square(own).sum(axis=0), np.square(own.sum(axis=2)).sum(axis=0)))
        columns, total = (np.concatenate(each) * self.factor for each in zip(*out, strict=True))
        prior = coef**2 @ self.prior
        return Variances(prior, columns, total + prior)

    def totals(self, at: np.ndarray, coef: np.ndarray) -> np.ndarray:
        out = [
            np.square(np.einsum("ntk,gnk->gnt", coef[rows], change.sum(axis=3))).sum(axis=0)
            for rows, change in self._changes(at)
        ]
        return np.concatenate(out) * self.factor + coef**2 @ self.prior

    def _changes(self, at: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(rows of `at`, the change of their parts without each group (groups, rows, k, columns))"""
        width = self.x.d * len(self.posterior.classes) * len(self.without)
        step = max(CHUNK // max(width, 1), 1)
        for start in range(0, max(len(at), 1), step):
            some = np.arange(start, min(start + step, len(at)))
            x = self.x.take(at[some]).rows(0, len(some))
            here = self.posterior.evidence(x).parts
            with np.errstate(all="ignore"):
                yield some, np.stack([np.nan_to_num(one.evidence(x).parts - here) for one in self.without])


def groups_of(key: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The group of each row (n,), by its digest, its class and which of its copies it is: any order of the rows gives
    the same groups, all of one size."""
    order = np.lexsort((y, key))
    new = np.append(True, (np.diff(key[order]) != 0) | (np.diff(y[order]) != 0))[: len(order)]
    first = np.flatnonzero(new)
    copy = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    mixed = stirred(key[order] + copy.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    out = np.empty(len(key), dtype=np.intp)
    out[order[np.argsort(mixed, kind="stable")]] = np.arange(len(key)) % GROUPS
    return out


def sum_of(tallies: Sequence[Any]) -> Any:
    out = tallies[0]
    for one in tallies[1:]:
        out = out + one
    return out


def _joint_tally(scores: Any, rows: Table) -> Any:
    """The tally of joint tables; None: there are none."""
    return scores.tables.chosen.tally(rows) if isinstance(scores, JointScores) else None


def rescored(scores: Any, family: Any, params: Any, tables: Any) -> Any:
    """The scores of other parameters, with the same weights and calibration."""
    if isinstance(scores, FamilyScores):
        return FamilyScores(family, params)
    plain = FamilyScores(family, params)
    if isinstance(scores, WeightedScores):
        return replace(scores, plain=plain, evidence=column_evidence(family, params))
    if isinstance(scores, JointScores):
        return replace(scores, plain=plain, tables=replace(scores.tables, tally=tables))
    return replace(scores, plain=plain)


def drawn_rows(state: State) -> Table:
    """Rows drawn from the densities of a model, the same ones every time."""
    share = state.n / state.n.sum()
    y = np.repeat(np.arange(len(share), dtype=np.int32), np.round(share * DRAWN).astype(np.int64))
    rng, schema = np.random.default_rng(0), state.reader.schema
    drawn = state.family.sample(state.params, y, rng)
    if schema is not None and not isinstance(drawn, list):
        raise DataError(
            f"standard errors of this {state.spec.name} need training rows, and it keeps none\n\n"
            f"hint: pass them, {option('`training=(X, y)`', '--training FILE')}"
        )
    kinds = [state.family.block] if schema is None else [family.block for family, _ in schema.groups]
    cells = zip([drawn] if schema is None else drawn, kinds, strict=True)
    blocks: list[Any] = [
        Codes(np.asarray(one, dtype=np.int64)) if kind == "codes" else Reals(np.asarray(one, dtype=np.float64))
        for one, kind in cells
    ]
    return Table(blocks[0] if schema is None else Mixed(tuple(blocks), len(y)), y, None, len(share), schema)
