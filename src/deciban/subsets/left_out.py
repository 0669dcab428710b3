"""Columns by themselves with each row left out: their densities, and the evidence that they depend on the class.

Leaving row i out of a column's tally makes another tally; those of all rows stand side by side as columns of one, whose
evidences come at once. Of levels, what a row adds to the evidence is known from its own count.

>>> import numpy as np
>>> counts, codes, y = np.array([[3.0, 0.0], [0.0, 3.0]]), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
>>> odds_of_levels(counts, np.ones(1), codes, y, np.ones(6)).round(3)[[0, 5]].tolist()  # 60 / 12, in nats
[1.609, 1.609]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban.dirichlet import log_evidence
from deciban.families import best_of
from deciban.families.best_of import BestOf
from deciban.families.categorical import Categorical
from deciban.families.histogram import Histogram
from deciban.gaussian.independent import logs
from deciban.leaving.own_rows import moments_left
from deciban.product import Product
from deciban.subsets.evidence import alphas, evidences, mean, ways
from deciban.table import Codes, Mixed, Reals
from deciban.tallies import Bundle, Moments, Sums
from deciban.tallies.base import column, less


@dataclass(frozen=True)
class Leaf:
    """A column by itself: its family, what it was learned from and as, by class and by all as one."""

    family: Any
    own: Any
    alike: Any
    t: Any
    x: Reals | Codes

    def by_class(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """log p(x | c) (n, k), each row taken out."""
        return self.family.leave_one_out(self.t, self.x, y, w, **self._known(self.own))

    def by_all(self, w: np.ndarray | None) -> np.ndarray:
        """log p(x) (n, 1), each row taken out."""
        known = self._known(self.alike)
        return self.family.leave_one_out(self.t if known else self.t.collapse(), self.x, _nobody(self.x), w, **known)

    def odds(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """log evidence that the column depends on the class, over that it does not, without each row. (n,)"""
        weight = np.ones(self.x.n) if w is None else w
        return odds_left(self.family, self, y, weight)

    def _known(self, p: Any) -> dict[str, Any]:
        return {"p": p} if getattr(self.family, "searches", False) else {}


def _nobody(x: Reals | Codes) -> np.ndarray:
    return np.zeros(x.n, dtype=np.int32)


@singledispatch
def odds_left(family: Any, leaf: Leaf, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A column for each row, all of them without that row: their evidences at once."""
    in_logs = getattr(family, "shared", "") == "log_moments"
    cells = logs(leaf.x).values if in_logs else leaf.x.dense()  # type: ignore[union-attr, arg-type]
    if getattr(family, "above", None) is not None:
        cells = np.where(np.isnan(cells), np.nan, cells > family.above)
    apart, alike = evidences(family, None, _dropped(leaf.t, cells, y, w))
    return apart - alike


def _dropped(t: Any, cells: np.ndarray, y: np.ndarray, w: np.ndarray) -> Any:
    """The tally (k, n) whose column i is the only one of t without row i."""
    rows, k = np.arange(len(y)), t.k
    taken = np.where(np.isnan(cells), 0.0, w[:, None])
    n = np.repeat(np.broadcast_to(column(t.n), (k, 1)), len(y), axis=1)
    if isinstance(t, Sums):
        total = np.repeat(t.total, len(y), axis=1)
        total[y, rows] = less(total[y, rows], (np.nan_to_num(cells) * taken)[:, 0])
        n[y, rows] = less(n[y, rows], taken[:, 0])
        return Sums(n, total)
    own = moments_left(t, cells, y, w[:, None])
    mean, m2 = (np.repeat(a, len(y), axis=1) for a in (t.mean, t.m2))
    for whole, left in zip((n, mean, m2), own, strict=True):
        whole[y, rows] = np.broadcast_to(left, (len(y), 1))[:, 0]
    return Moments(n, mean, m2)


@odds_left.register
def _(family: Categorical, leaf: Leaf, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    return odds_of_levels(leaf.t.table, alphas(family), leaf.x.values[:, 0], y, w)


@odds_left.register
def _(family: Histogram, leaf: Leaf, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    codes = leaf.own.codes(leaf.x)[:, 0]
    return odds_of_levels(leaf.own.counts, alphas(family), codes, y, w) - ways(family, leaf.own, leaf.t)[0]


def odds_of_levels(counts: np.ndarray, grid: np.ndarray, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """From the counts (k, levels) of one column and the codes of the rows; nothing leaves with a missing cell."""
    pooled, nobody = counts.sum(axis=0, keepdims=True), np.zeros_like(y)
    return mean([_left(counts, a, codes, y, w) for a in grid]) - mean(
        [_left(pooled, a, codes, nobody, w) for a in grid]
    )


def _left(counts: np.ndarray, alpha: float, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """log evidence (n,) of the counts without each row."""
    levels = counts.shape[1]
    out = np.full(len(codes), log_evidence(counts, np.array([0, levels]), alpha).sum())
    there = (codes >= 0) & (codes < levels)
    out[there] -= _share(counts, alpha, codes[there], y[there], w[there])
    return out


def _share(counts: np.ndarray, alpha: float, codes: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """What each row has of the log evidence, the others being there before it."""
    own, whole = counts[y, codes], counts.sum(axis=1)[y]
    assumed = alpha * counts.shape[1]
    gained = gammaln(own + alpha) - gammaln(less(own, w) + alpha)
    return gained - gammaln(whole + assumed) + gammaln(less(whole, w) + assumed)


def leaves(product: Product, own: tuple, alike: tuple, t: Bundle, x: Mixed) -> Iterator[tuple[Leaf, int]]:
    """Every column of every factor, and its place in the table."""
    each = zip(product.factors, own, alike, t.parts, x.blocks, product.columns, strict=True)
    for family, mine, ours, part, block, at in each:
        if isinstance(family, BestOf):
            inside = leaves(mine.product, mine.inner, ours.inner, family.chosen(mine, part), best_of.split(mine, block))
            yield from ((leaf, at[j]) for leaf, j in inside)
            continue
        for j, place in enumerate(at):
            cells = np.ascontiguousarray(np.asarray(block.values)[:, [j]])
            one = Codes(cells) if isinstance(block, Codes) else Reals(cells)
            searched = getattr(family, "searches", False)  # who does not is never asked for parameters
            found, pooled = (mine.part([j]), ours.part([j])) if searched else (None, None)
            yield Leaf(family, found, pooled, part.part([j]), one), place
