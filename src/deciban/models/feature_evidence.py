"""Evidence of each column for each class, which feature weights multiply: log p(x_j | c) less its mean over classes.

Units and other terms that all classes share cancel, so that a weight has the same meaning for every family. Where a
score is linear in x, so is the evidence. A cell is at most `MOST` nats of evidence against a class, compared with the
class that it fits best; for a linear family this holds for x_j = 1, and larger values may exceed it. A missing cell is
no evidence: 0.

>>> import numpy as np
>>> from deciban.families.poisson import Poisson
>>> from deciban.data.blocks import Reals
>>> f, x = Poisson(0.0, 0.0), Reals(np.array([[1.0], [4.0]]))
>>> evidence = column_evidence(f, f.estimate(f.tally(x, np.array([0, 1], dtype=np.int32), None, 2)))
>>> evidence.parts(x).round(3).tolist()  # 1.5 nats of the rate, and log 4 times the count
[[[0.807], [-0.807]], [[-1.273], [1.273]]]
>>> evidence.scores(x, np.array([[2.0], [2.0]])).round(3).tolist()
[[1.614, -1.614], [-2.545, 2.545]]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from deciban import ops
from deciban.data.blocks import Block, Counts, Reals
from deciban.estimation.linear import LinearScores

MOST = 50.0  # nats


def column_evidence(family: Any, params: Any) -> PartsEvidence | LinearEvidence:
    linear = family.linear_terms(params)
    if linear is not None:
        present = linear.present()
        absent = np.zeros_like(present) if linear.share is None else linear.share
        if linear.veto is not None:
            absent = np.where(linear.veto.share > 0, -np.inf, absent) if linear.veto.share is not None else absent
        present, absent = centred(present), centred(absent)
        return LinearEvidence(present - absent, absent, family.above)
    return PartsEvidence(family, params)


def centred(parts: np.ndarray) -> np.ndarray:
    """Parts (…, k, d), clipped at `MOST` below the best class, less their mean over the classes."""
    best = parts.max(axis=-2, keepdims=True)
    with np.errstate(invalid="ignore"):
        gap = np.maximum(parts - best, -MOST)
    gap[np.isnan(gap)] = 0.0  # impossible under all classes
    gap -= gap.mean(axis=-2, keepdims=True)
    return gap


@dataclass(frozen=True)
class PartsEvidence:
    """Evidence under any family with `parts`."""

    family: Any
    params: Any

    def parts(self, x: Block) -> np.ndarray:
        """(n, k, d)"""
        with np.errstate(all="ignore"):
            return centred(self.family.parts(self.params, x))

    def scores(self, x: Block, weights: np.ndarray) -> np.ndarray:
        """Σ_j weights[c, j] parts[i, c, j], (n, k)."""
        return np.einsum("nkd,kd->nk", self.parts(x), weights)


@dataclass(frozen=True)
class LinearEvidence:
    """Evidence under a linear family: parts[i, c, j] = share[c, j] + coef[c, j] x[i, j], or [x > above] for x."""

    coef: np.ndarray  # (k, d)
    share: np.ndarray  # (k, d)
    above: float | None

    def parts(self, x: Reals | Counts) -> np.ndarray:
        cells = x.dense()
        missing = np.isnan(cells)
        if self.above is not None:
            cells = (cells > self.above).astype(np.float64)
        out = np.nan_to_num(cells)[:, None, :] * self.coef + self.share
        if missing.any():
            out *= ~missing[:, None, :]
        return out

    def scores(self, x: Reals | Counts, weights: np.ndarray) -> np.ndarray:
        share = weights * self.share
        return ops.affine(x, weights * self.coef, share.sum(axis=1), share, self.above)

    def linear(self, weights: np.ndarray) -> LinearScores:
        """The scores as a linear function."""
        share = weights * self.share
        return LinearScores(weights * self.coef, share.sum(axis=1), share, above=self.above)


@dataclass(frozen=True)
class NoEvidence:
    """No column is evidence: all parts are 0."""

    k: int
    d: int

    def parts(self, x: Block) -> np.ndarray:
        return np.zeros((x.n, self.k, self.d))


@dataclass(frozen=True)
class DenseEvidence:
    """Parts of some rows, kept in memory or computed at each use."""

    evidence: Any  # has parts(x)
    x: Block
    kept: bool

    @cached_property
    def _kept(self) -> np.ndarray:
        return self.evidence.parts(self.x)

    def parts(self) -> np.ndarray:
        return self._kept if self.kept else self.evidence.parts(self.x)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return np.einsum("nkd,kd->nk", self.parts(), weights)

    def back(self, amounts: np.ndarray) -> np.ndarray:
        """Σ_i amounts[i, c] parts[i, c, j], (k, d)."""
        return np.einsum("nk,nkd->kd", amounts, self.parts())

    def spread(self, p: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Σ_i w_i times the variance over classes, by p (n, k), of each column's parts. (d,)"""
        parts = self.parts()
        mean = np.einsum("nk,nkd->nd", p, parts)
        return np.einsum("nk,nkd,nkd->d", p * w[:, None], parts, parts) - w @ mean**2


@dataclass(frozen=True)
class SparseEvidence:
    """Parts of sparse rows under a linear family; only stored cells are visited one by one."""

    evidence: LinearEvidence
    x: Counts
    kept: bool = True

    @cached_property
    def _cells(self) -> tuple[csr_array, csr_array | None]:
        """(cells, which are missing)"""
        stored = np.asarray(self.x.stored, dtype=np.float64)
        missing = np.isnan(stored)
        values = (
            np.nan_to_num(stored) if self.evidence.above is None else (stored > self.evidence.above).astype(np.float64)
        )
        at, shape = (self.x.column_of(), self.x.indptr - self.x.indptr[0]), (self.x.n, self.x.d)
        return csr_array((values, *at), shape=shape), csr_array(
            (missing * 1.0, *at), shape=shape
        ) if missing.any() else None

    def parts(self) -> np.ndarray:
        return self.evidence.parts(self.x)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        return self.evidence.scores(self.x, weights)

    def back(self, amounts: np.ndarray) -> np.ndarray:
        cells, missing = self._cells
        here = amounts.sum(axis=0)[:, None]
        if missing is not None:
            here = here - (missing.T @ amounts).T
        return (cells.T @ amounts).T * self.evidence.coef + here * self.evidence.share

    def spread(self, p: np.ndarray, w: np.ndarray) -> np.ndarray:
        # the sum as if all cells were 0, corrected by the stored cells
        cells, missing = self._cells
        coef, share, mass = self.evidence.coef, self.evidence.share, p * w[:, None]
        row, column = self.x.row_of(), cells.indices
        out = mass.sum(axis=0) @ share**2 - np.einsum("cj,ce,ej->j", share, mass.T @ p, share)
        sums = np.zeros((4, len(row)))  # of parts and their squares: of stored cells, and as if these were 0
        for c in range(p.shape[1]):
            q, zero = p[row, c], share[c, column]
            for at, part in ((0, cells.data * coef[c, column] + zero), (2, zero)):
                sums[at] += q * part
                sums[at + 1] += q * part**2
        stored = sums[1] - sums[0] ** 2
        if missing is not None:
            stored[missing.data > 0] = 0.0
        change = stored - (sums[3] - sums[2] ** 2)
        return out + np.bincount(column, w[row] * change, minlength=self.x.d)
