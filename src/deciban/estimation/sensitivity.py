"""How the scores of a family depend on its training rows: what standard errors of evidence are computed from.

The part of column j in the score of class c is a function of few parameters φ of that class, such as a mean and a log
variance. With row i of the class, of weight w, φ changes by w · f_i, its *influence*; a part changes by its slope s
times that. To first order the variance of s·φ over samples of rows is Σ_i w_i (s·f_i)², for rows of any distribution
(Huber 1967). Under the model itself it has a closed form:

    location and scale    φ = (m / s, log s²):   diag(1 / n, 2 / n) for normal columns
    shares of levels      φ = log θ:   Var = diag ψ'(a) − ψ'(Σ a), the Dirichlet posterior with counts a, ψ' trigamma
    rates                 φ = log rate:  ψ'(a), the Gamma posterior

Σ_i w_i f_i² does not know that a level without rows is uncertain; `excess` is what the Dirichlet posterior adds to it.

>>> import numpy as np
>>> from deciban.data.blocks import Codes
>>> levels = LevelShares.from_counts(np.array([[8.0, 0.0]]), np.array([0, 2]), 1.0)
>>> levels.variance(0).round(3).tolist(), round(float(levels.shared(0)[0]), 3)  # of log 9/10 and log 1/10, before …
([0.118, 1.645], 0.105)
>>> levels.influence(Codes(np.array([[0], [1]])), 0).round(3).tolist()
[[0.011, -0.1], [-0.1, 0.9]]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

from deciban.estimation.dirichlet import column_sums, spread

MOST = 1e100  # of a slope: its square is a double
LEFT = 0.99  # most of a variance that one row can be
TINY = 1e-300


def trigamma(a: np.ndarray) -> np.ndarray:
    """ψ'(a), 0 where a is 0: a share that is 0 for certain."""
    return np.where(a > 0, polygamma(1, np.maximum(a, 1e-12)), 0.0)


@dataclass(frozen=True, eq=False)
class Sensitivity(ABC):
    """Parameters of each class, their influences and slopes. `columns` are the columns of the family; a column may be
    there twice. A part depends on few of the parameters of levels, those that the row has: these have `codes` instead
    of slopes."""

    owner: np.ndarray  # (p,), the place in `columns` of each parameter's column
    columns: np.ndarray  # (d,), column numbers
    counted: np.ndarray  # (p,), whether it is the share of a level or a word
    coded: np.ndarray  # (p,), whether it is the share of a level, that has a code

    @abstractmethod
    def influence(self, x: Any, c: int) -> np.ndarray:
        """What a row of class c and weight 1 adds to the parameters of its class, (n, p)."""

    @abstractmethod
    def slopes(self, x: Any, c: int) -> np.ndarray:
        """The derivatives of the parts of class c by its parameters, those that are not coded; 0 where a cell is
        missing. (parameters, n)"""

    def codes(self, x: Any) -> np.ndarray:
        """The parameters whose derivatives are 1, one for each place in `coded_columns`; −1: none. (columns, n)"""
        return np.zeros((0, x.n), dtype=np.int64)

    @property
    def coded_columns(self) -> np.ndarray:
        """The places in `columns` that codes are of."""
        return np.zeros(0, dtype=np.int64)

    @abstractmethod
    def variance(self, c: int) -> np.ndarray:
        """The variance of each parameter under the model, (p,), before `shared` is subtracted."""

    def block(self) -> np.ndarray:
        """Numbers of the groups of parameters that a term of the covariance is common to, (p,)."""
        return np.zeros(len(self.owner), dtype=np.int64)

    def shared(self, c: int) -> np.ndarray:
        """What is subtracted from all variances and covariances in each group, (groups,)."""
        return np.zeros(1)

    def excess(self, c: int) -> np.ndarray:
        """Variance under the model that no influence shows, (p,)."""
        return np.zeros(len(self.owner))

    @property
    def moves(self) -> bool:
        """Whether `moved` may change coefficients."""
        return False

    def moved(self, x: Any, coef: np.ndarray) -> np.ndarray:
        """Coefficients (n, k, d) of the parts, where a part of one class follows that of another."""
        return coef


@dataclass(frozen=True, eq=False)
class LocationScale(Sensitivity):
    """Normal columns, or (with degrees of freedom) Student columns. The influence of a row is what leaving it out
    changes: one row may be most of a variance, so that its derivative says too little."""

    loc: np.ndarray  # (k, d)
    scale: np.ndarray  # (k, d), 1 / deviation; 0: no evidence
    n: np.ndarray  # (k, d), rows, with the prior's
    df: np.ndarray | None = None  # (k, d)

    @classmethod
    def of(cls, loc: np.ndarray, scale: np.ndarray, n: np.ndarray, df: np.ndarray | None = None) -> LocationScale:
        d = loc.shape[1]
        at = np.repeat(np.arange(d), 2)
        no = np.zeros(2 * d, dtype=bool)
        return cls(at, np.arange(d), no, no, loc, scale, np.broadcast_to(n, loc.shape), df)

    def _standardised(self, x: Any, c: int) -> tuple[np.ndarray, np.ndarray]:
        """(standardised cells (d, n), 0 where one is missing, which are there)"""
        z = np.array(x.dense().T, dtype=np.float64, order="C")
        z -= self.loc[c][:, None]
        z *= self.scale[c][:, None]
        missing = np.isnan(z)
        if missing.any():
            z[missing] = 0.0
        far = np.sqrt(MOST)
        return np.clip(z, -far, far, out=z), ~missing

    def influence(self, x: Any, c: int) -> np.ndarray:
        z, here = self._standardised(x, c)
        rest = np.maximum(self.n[c] - 1.0, 1.0)[:, None]
        out = np.empty((len(z), 2, x.n))
        out[:, 0] = z / rest
        out[:, 1] = -np.log1p(-np.minimum(z * z / rest, LEFT)) - np.log1p(1.0 / rest)
        out *= (here & (self.n[c] > 0)[:, None])[:, None]
        return out.reshape(-1, x.n).T

    def slopes(self, x: Any, c: int) -> np.ndarray:
        z, here = self._standardised(x, c)
        out = np.empty((len(z), 2, x.n))
        square = np.multiply(z, z, out=out[:, 1])
        if self.df is None:
            out[:, 0] = z
        else:
            pull = (self.df[c][:, None] + 1.0) / (self.df[c][:, None] + square)
            np.multiply(pull, z, out=out[:, 0])
            square *= pull
        square -= 1.0
        square *= 0.5
        if not here.all() or not (self.scale[c] > 0).all():
            square *= here & (self.scale[c] > 0)[:, None]
        return out.reshape(-1, x.n)

    def variance(self, c: int) -> np.ndarray:
        each = np.where(self.n[c] > 0, 1.0 / np.maximum(self.n[c], TINY), 0.0)
        return np.repeat(each, 2) * np.tile([1.0, 2.0], len(each))


@dataclass(frozen=True, eq=False)
class LogRates(Sensitivity):
    """One rate for each column, of counts (part x log rate − rate) or of waiting times (log rate − rate x). Where the
    rate is averaged out, the part is the log of a negative binomial; its slope is that of a change of all events."""

    rate: np.ndarray  # (k, d)
    events: np.ndarray  # (k, d), shape of the Gamma posterior of the rate
    times: bool  # whether cells are waiting times
    averaged: np.ndarray | None = None  # (k, d), rate of the Gamma posterior that is averaged over

    @classmethod
    def of(cls, rate: np.ndarray, events: np.ndarray, times: bool, averaged: np.ndarray | None = None) -> LogRates:
        d = rate.shape[1]
        no = np.zeros(d, dtype=bool)
        return cls(np.arange(d), np.arange(d), no, no, rate, np.broadcast_to(events, rate.shape), times, averaged)

    def slopes(self, x: Any, c: int) -> np.ndarray:
        if self.averaged is None:
            return self._distance(x, c)
        cells, rows = np.asarray(x.dense(), dtype=np.float64).T, self.averaged[c][:, None]
        events = self.rate[c][:, None] * rows
        slope = events * (digamma(events + cells) - digamma(events) - np.log1p(1.0 / rows))
        return np.where(np.isnan(slope), 0.0, np.clip(slope, -MOST, MOST))

    def _distance(self, x: Any, c: int) -> np.ndarray:
        """Slopes under the rate itself, (d, n): relative changes of the rate, times the events."""
        cells, rate = np.asarray(x.dense(), dtype=np.float64).T, self.rate[c][:, None]
        slope = 1.0 - rate * cells if self.times else cells - rate
        return np.where(np.isnan(slope), 0.0, np.clip(slope, -MOST, MOST))

    def influence(self, x: Any, c: int) -> np.ndarray:
        events = self.events[c]
        return self._distance(x, c).T * np.where(events > 0, 1.0 / np.maximum(events, TINY), 0.0)

    def variance(self, c: int) -> np.ndarray:
        return trigamma(self.events[c])


@dataclass(frozen=True, eq=False)
class Shares(Sensitivity):
    """Shares θ of levels or words, log θ = log a − log Σ a over each group."""

    count: np.ndarray  # (k, p), without pseudo-counts
    pseudo: np.ndarray  # (k, p), counts with pseudo-counts
    group: np.ndarray  # (p,), ascending

    def _of_group(self, values: np.ndarray) -> np.ndarray:
        """Sums over the groups, repeated for their parameters, along the last axis."""
        sums = self.sums(values)
        return sums[..., self.group]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the groups, (…, groups)."""
        first = np.flatnonzero(np.diff(self.group, prepend=-1))
        return np.add.reduceat(values, first, axis=-1) if len(first) else values[..., :0]

    @abstractmethod
    def counts(self, x: Any) -> np.ndarray:
        """How often each row has each level or word, (n, p)."""

    def slopes(self, x: Any, c: int) -> np.ndarray:
        return np.where(self.pseudo[c] > 0, self.counts(x), 0.0).T

    def influence(self, x: Any, c: int) -> np.ndarray:
        own, a = self.counts(x), self.pseudo[c]
        whole = self._of_group(a)
        part = np.where(a > 0, own / np.maximum(a, TINY), 0.0)
        return part - np.where(whole > 0, self._of_group(own) / np.maximum(whole, TINY), 0.0)

    def variance(self, c: int) -> np.ndarray:
        return trigamma(self.pseudo[c])

    def block(self) -> np.ndarray:
        return self.group

    def shared(self, c: int) -> np.ndarray:
        return trigamma(self.sums(self.pseudo[c]))

    def excess(self, c: int) -> np.ndarray:
        a = self.pseudo[c]
        return np.where(a > 0, np.maximum(trigamma(a) - self.count[c] / np.maximum(a, TINY) ** 2, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class LevelShares(Shares):
    """Levels of columns; rows are codes (n, d), −1 where a cell is missing."""

    offset: np.ndarray  # (d + 1,)
    read: Any = None  # block → codes; None: they are codes
    shared_by: Any = None  # what a row adds to the counts, where that is not 1 to its own level; (n, p) → (n, p)

    @classmethod
    def from_counts(
        cls, table: np.ndarray, offset: np.ndarray, alpha: Any, read: Any = None, shared_by: Any = None
    ) -> LevelShares:
        """From counts (k, levels of all columns) and pseudo-counts, one or one for each column."""
        levels = np.diff(offset)
        pseudo = table + spread(np.broadcast_to(np.asarray(alpha, dtype=np.float64), levels.shape), offset)
        empty = spread(column_sums(pseudo, offset) <= 0, offset)
        at = np.repeat(np.arange(len(levels)), levels)
        group = np.cumsum(np.diff(at, prepend=-1) > 0) - 1 if len(at) else at
        yes = np.ones(len(at), dtype=bool)
        own = at, np.arange(len(levels)), yes, yes
        return cls(*own, table, np.where(empty, 0.0, pseudo), group, offset, read, shared_by)

    @property
    def coded_columns(self) -> np.ndarray:
        return np.flatnonzero(np.diff(self.offset))  # those with levels

    def codes(self, x: Any) -> np.ndarray:
        codes = np.asarray(x.values if self.read is None else self.read(x)).T[self.coded_columns]
        known = (codes >= 0) & (codes < np.diff(self.offset)[self.coded_columns, None])
        return np.where(known, self.offset[self.coded_columns, None] + codes, -1)

    def slopes(self, x: Any, c: int) -> np.ndarray:
        return np.zeros((0, x.n))

    def counts(self, x: Any) -> np.ndarray:
        at = self.codes(x).T
        out = np.zeros((len(at), len(self.owner)))
        row, column = np.nonzero(at >= 0)
        out[row, at[row, column]] = 1.0
        return out

    def influence(self, x: Any, c: int) -> np.ndarray:
        own, a = self.counts(x), self.pseudo[c]
        here, whole = self._of_group(own), self._of_group(a)
        if self.shared_by is not None:
            own = self.shared_by(own)
        part = np.where(a > 0, own / np.maximum(a, TINY), 0.0)
        return part - np.where(whole > 0, here / np.maximum(whole, TINY), 0.0)


@dataclass(frozen=True, eq=False)
class PresenceShares(Shares):
    """Whether each column is absent or present: parameters 2j and 2j + 1."""

    read: Any  # block → cells (n, d)

    @classmethod
    def from_counts(cls, present: np.ndarray, n: np.ndarray, alpha: Any, read: Any) -> PresenceShares:
        """From sums and rows (k, d)."""
        k, d = present.shape
        count = np.stack([np.maximum(n - present, 0.0), present], axis=2).reshape(k, -1)
        pseudo = count + np.repeat(np.broadcast_to(np.asarray(alpha, dtype=np.float64), d), 2)
        at = np.repeat(np.arange(d), 2)
        yes = np.ones(2 * d, dtype=bool)
        return cls(at, np.arange(d), yes, ~yes, count, pseudo, at, read)

    def counts(self, x: Any) -> np.ndarray:
        cells = np.asarray(self.read(x), dtype=np.float64)
        both = np.stack([1.0 - cells, cells], axis=2).reshape(len(cells), -1)
        return np.where(np.isnan(both), 0.0, both)


@dataclass(frozen=True, eq=False)
class WordShares(Shares):
    """Words of one distribution, a column each."""

    @classmethod
    def from_counts(cls, total: np.ndarray, alpha: Any) -> WordShares:
        d = total.shape[1]
        pseudo = total + np.broadcast_to(np.asarray(alpha, dtype=np.float64), d)
        yes = np.ones(d, dtype=bool)
        own = np.arange(d), np.arange(d), yes, ~yes
        return cls(*own, total, pseudo, np.zeros(d, dtype=np.int64))

    def counts(self, x: Any) -> np.ndarray:
        return np.nan_to_num(np.asarray(x.dense(), dtype=np.float64))


@dataclass(frozen=True, eq=False)
class JoinedSensitivity(Sensitivity):
    """Those of several factors, each with its own columns, side by side."""

    parts: tuple[Sensitivity, ...]
    blocks_of: Any  # rows → a block for each factor

    @classmethod
    def of(cls, parts: Sequence[Sensitivity], columns: Sequence[Sequence[int]], blocks_of: Any) -> JoinedSensitivity:
        start = np.cumsum([0, *(len(one.columns) for one in parts)])
        none, no = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        return cls(
            np.concatenate([none, *(one.owner + at for one, at in zip(parts, start, strict=False))]),
            np.concatenate([none, *(np.array(at)[one.columns] for one, at in zip(parts, columns, strict=True))]),
            np.concatenate([no, *(one.counted for one in parts)]),
            np.concatenate([no, *(one.coded for one in parts)]),
            tuple(parts),
            blocks_of,
        )

    def influence(self, x: Any, c: int) -> np.ndarray:
        each = zip(self.parts, self.blocks_of(x), strict=True)
        return np.concatenate([np.zeros((x.n, 0)), *(one.influence(block, c) for one, block in each)], axis=1)

    def slopes(self, x: Any, c: int) -> np.ndarray:
        each = [one.slopes(block, c) for one, block in zip(self.parts, self.blocks_of(x), strict=True)]
        return each[0] if len(each) == 1 else np.concatenate([np.zeros((0, x.n)), *each])

    def codes(self, x: Any) -> np.ndarray:
        start = np.cumsum([0, *(len(one.owner) for one in self.parts)])
        each = [one.codes(block) for one, block in zip(self.parts, self.blocks_of(x), strict=True)]
        moved = [np.where(a >= 0, a + at, -1) for a, at in zip(each, start, strict=False)]
        return np.concatenate([np.zeros((0, x.n), dtype=np.int64), *moved])

    @cached_property
    def coded_columns(self) -> np.ndarray:
        start = np.cumsum([0, *(len(one.columns) for one in self.parts)])
        each = [one.coded_columns + at for one, at in zip(self.parts, start, strict=False)]
        return np.concatenate([*each, np.zeros(0, dtype=np.int64)]).astype(np.int64)

    def variance(self, c: int) -> np.ndarray:
        return np.concatenate([*(one.variance(c) for one in self.parts), np.zeros(0)])

    def block(self) -> np.ndarray:
        start = np.cumsum([0, *(len(one.shared(0)) for one in self.parts)])
        each = [one.block() + at for one, at in zip(self.parts, start, strict=False)]
        return np.concatenate([*each, np.zeros(0, dtype=np.int64)]).astype(np.int64)

    def shared(self, c: int) -> np.ndarray:
        return np.concatenate([*(one.shared(c) for one in self.parts), np.zeros(0)])

    def excess(self, c: int) -> np.ndarray:
        return np.concatenate([*(one.excess(c) for one in self.parts), np.zeros(0)])

    @property
    def moves(self) -> bool:
        return any(one.moves for one in self.parts)

    def moved(self, x: Any, coef: np.ndarray) -> np.ndarray:
        at, out = 0, []
        for one, block in zip(self.parts, self.blocks_of(x), strict=True):
            out.append(one.moved(block, coef[:, :, at : at + len(one.columns)]))
            at += len(one.columns)
        return np.concatenate(out, axis=2) if out else coef
