"""Naive Bayes averaged over all 2^d subsets of its columns, in linear time (Dash and Cooper 2002).

A subset says which columns depend on the class; the others have one density for all classes. Evidences of columns
multiply, so the posterior of subsets does too, and the average of 2^d models is a product over columns:

    p(x, c) = P(c) Π_j [ π_j p(x_j | c) + (1 − π_j) p(x_j) ]
    π_j / (1 − π_j) = prior odds · Π_c p(column j of class c) / p(column j of all rows)

π_j is the posterior probability that column j matters; `evidence` says where its evidences come from. A missing
cell says nothing either way.

A row left out leaves the evidences too, so π is that of the other rows; an alpha or cuts that all rows chose stay.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.composites.product import Product
>>> from deciban.data.blocks import Codes, Mixed
>>> codes, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4), np.array([0, 0, 1, 1] * 4, dtype=np.int32)
>>> f = SubsetAverage(Product((Categorical(),), ((0, 1),), 2), (0.5, 0.5))
>>> x = Mixed((Codes(codes),), 16)
>>> np.exp(f.estimate(f.tally(x, y, None, 2)).log_in).round(3).tolist()  # the first is the class, the second is not
[1.0, 0.355]

Columns by themselves with each row left out: their densities, and the evidence that they depend on the class.

Leaving row i out of a column's tally makes another tally; those of all rows stand side by side as columns of one, whose
evidences come at once. Of levels, what a row adds to the evidence is known from its own count.

>>> import numpy as np
>>> counts, codes, y = np.array([[3.0, 0.0], [0.0, 3.0]]), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1])
>>> odds_of_levels(counts, np.ones(1), codes, y, np.ones(6)).round(3)[[0, 5]].tolist()  # 60 / 12, in nats
[1.609, 1.609]

Whether a column depends on the class: the evidence for and against, by column, and what all classes share.

Evidences are closed: Dirichlet for levels (and for the intervals of a histogram, whose cuts were looked for and cost
the logarithm of their number), normal–inverse-gamma for normal columns and their logarithms, gamma for counts. An alpha
that is left to the rows is averaged over its grid: the one that foretells rows best may be a tiny one, under which each
level that does occur is a surprise. A column's family is the same either way, so whatever does not depend on the class
(the `carrier`) cancels, and is left out.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.data.blocks import Codes
>>> f, codes = Categorical(), Codes(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4))
>>> t = f.tally(codes, np.array([0, 0, 1, 1] * 4, dtype=np.int32), None, 2)
>>> np.subtract(*evidences(f, None, t)).round(2).tolist()  # nats: the first column is the class, the second is not
[7.9, -0.6]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban.composites import best_of
from deciban.composites.best_of import BestOf
from deciban.composites.product import Product
from deciban.data.blocks import Codes, Mixed, Reals
from deciban.errors import DataError
from deciban.estimation.dirichlet import GRID, best_alpha, log_evidence, log_shares
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import moments_left
from deciban.families.categorical import Categorical
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram
from deciban.families.lognormal import Lognormal
from deciban.families.poisson import Poisson
from deciban.families.student import Student
from deciban.gaussian.columns import logs
from deciban.ops.packed import Packed
from deciban.tallies import Bundle, Crosstab, GridCounts, Moments, Sums
from deciban.tallies.basic import column, subtract

JUDGE = Student(kappa=1.0)  # of columns that are normal: a prior worth one row


# evidence that a column depends on the class (first row), and that it does not: (2, d)


@singledispatch
def evidences(family: Any, p: Any, t: Any) -> np.ndarray:
    """By the family's own prior."""
    if not hasattr(family, "evidences"):
        raise DataError(
            f"{type(family).__name__} has no evidence by column, so nobody can say whether such a column matters\n\n"
            "hint: name another family for it, such as 'student', 'histogram' or 'categorical', or leave out `average`"
        )
    return _both(family, t)


def _both(family: Any, t: Any) -> np.ndarray:
    return np.stack([family.evidences(t).sum(axis=0), family.evidences(t.collapse())[0]])


@evidences.register(Gaussian)
@evidences.register(Lognormal)
def _(family: Any, p: Any, t: Any) -> np.ndarray:
    return _both(JUDGE, t)


@evidences.register(Poisson)
@evidences.register(GammaPoisson)
def _(family: Any, p: Any, t: Any) -> np.ndarray:
    """Every rate drawn from the Gamma(shape, exposure) of the family; factorials are the same in and out."""
    if family.shape <= 0 or family.exposure <= 0:
        raise DataError("a rate without a prior has no evidence\n\nhint: use shape > 0 and exposure > 0")

    def of(t: Any) -> np.ndarray:
        a = t.total + family.shape
        first = family.shape * np.log(family.exposure) - gammaln(family.shape)
        return first + gammaln(a) - a * np.log(column(t.n) + family.exposure)

    return np.stack([of(t).sum(axis=0), of(t.collapse())[0]])


@evidences.register
def _(family: Categorical, p: Any, t: Crosstab) -> np.ndarray:
    return _of_levels(t.table, t.offset, alphas(family))


@evidences.register
def _(family: Histogram, p: Any, t: GridCounts) -> np.ndarray:
    return _of_levels(p.counts, p.offset, alphas(family)) - np.stack(
        [log_number_of_cuts(family, p, t), np.zeros(len(p.cuts))]
    )


def alphas(family: Categorical | Histogram) -> np.ndarray:
    """The pseudo-counts that evidence is averaged over."""
    return GRID if isinstance(family.alpha, str) else np.array([family.alpha], dtype=np.float64)


def _of_levels(counts: np.ndarray, offset: np.ndarray, grid: np.ndarray) -> np.ndarray:
    pooled = counts.sum(axis=0, keepdims=True)
    return np.stack([mean([log_evidence(c, offset, a).sum(axis=0) for a in grid]) for c in (counts, pooled)])


def mean(terms: list[np.ndarray]) -> np.ndarray:
    """log of the mean of exponentials, over the first axis."""
    return np.logaddexp.reduce(terms, axis=0) - np.log(len(terms))


def log_number_of_cuts(family: Histogram, p: Any, t: GridCounts) -> np.ndarray:
    """log of how many places the cuts of each column may have had, where the classes chose them. (d,)"""
    if family.cuts != "mdl":
        return np.zeros(len(p.cuts))
    cuts = np.array([len(at) for at in p.cuts])
    places = np.maximum(np.diff(t.offset) - 1, cuts)
    return gammaln(places + 1) - gammaln(cuts + 1) - gammaln(places - cuts + 1)


@evidences.register
def _(family: BestOf, p: Any, t: Any) -> np.ndarray:
    return evidences(p.product, p.inner, family.chosen(p, t))


@evidences.register
def _(family: Product, p: tuple, t: Bundle) -> np.ndarray:
    out = np.zeros((2, family.d))
    for f, params, part, at in zip(family.factors, p, t.parts, family.columns, strict=True):
        out[:, list(at)] += evidences(f, params, part)
    return out


# parameters that all classes share, k = 1


@singledispatch
def shared(family: Any, p: Any, t: Any) -> Any:
    return family.estimate(t.collapse())


@shared.register
def _(family: Histogram, p: Any, t: Any) -> Any:
    """The same cuts, so that the same density within them cancels."""
    counts = p.counts.sum(axis=0, keepdims=True)
    alpha = best_alpha(counts, p.offset, np.inf) if family.alpha == "auto" else p.alpha
    return replace(p, counts=counts, alpha=alpha, packed=Packed.of(log_shares(counts, p.offset, alpha)))


@shared.register
def _(family: BestOf, p: Any, t: Any) -> Any:
    """The families that were chosen by class; there is nothing to limit between classes."""
    inner = shared(p.product, p.inner, family.chosen(p, t))
    return replace(p, inner=inner, limits=(None,) * len(inner))


@shared.register
def _(family: Product, p: tuple, t: Bundle) -> tuple:
    return tuple(shared(f, params, part) for f, params, part in zip(family.factors, p, t.parts, strict=True))


@dataclass(frozen=True)
class ColumnLeftOut:
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
        return {"p": p} if self.family.chooses else {}


def _nobody(x: Reals | Codes) -> np.ndarray:
    return np.zeros(x.n, dtype=np.int32)


@singledispatch
def odds_left(family: Any, leaf: ColumnLeftOut, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A column for each row, all of them without that row: their evidences at once."""
    in_logs = family.shared_tally == "log_moments"
    cells = logs(leaf.x).values if in_logs else leaf.x.dense()  # type: ignore[union-attr, arg-type]
    if family.above is not None:
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
        total[y, rows] = subtract(total[y, rows], (np.nan_to_num(cells) * taken)[:, 0])
        n[y, rows] = subtract(n[y, rows], taken[:, 0])
        return Sums(n, total)
    own = moments_left(t, cells, y, w[:, None])
    mean, m2 = (np.repeat(a, len(y), axis=1) for a in (t.mean, t.m2))
    for whole, left in zip((n, mean, m2), own, strict=True):
        whole[y, rows] = np.broadcast_to(left, (len(y), 1))[:, 0]
    return Moments(n, mean, m2)


@odds_left.register
def _(family: Categorical, leaf: ColumnLeftOut, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    return odds_of_levels(leaf.t.table, alphas(family), leaf.x.values[:, 0], y, w)


@odds_left.register
def _(family: Histogram, leaf: ColumnLeftOut, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    codes = leaf.own.codes(leaf.x)[:, 0]
    return (
        odds_of_levels(leaf.own.counts, alphas(family), codes, y, w) - log_number_of_cuts(family, leaf.own, leaf.t)[0]
    )


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
    gained = gammaln(own + alpha) - gammaln(subtract(own, w) + alpha)
    return gained - gammaln(whole + assumed) + gammaln(subtract(whole, w) + assumed)


def columns_left_out(
    product: Product, own: tuple, alike: tuple, t: Bundle, x: Mixed
) -> Iterator[tuple[ColumnLeftOut, int]]:
    """Every column of every factor, and its place in the table."""
    each = zip(product.factors, own, alike, t.parts, x.blocks, product.columns, strict=True)
    for family, mine, ours, part, block, at in each:
        if isinstance(family, BestOf):
            inside = columns_left_out(
                mine.product, mine.inner, ours.inner, family.chosen(mine, part), best_of.split(mine, block)
            )
            yield from ((leaf, at[j]) for leaf, j in inside)
            continue
        for j, place in enumerate(at):
            cells = np.ascontiguousarray(np.asarray(block.values)[:, [j]])
            one = Codes(cells) if isinstance(block, Codes) else Reals(cells)
            searched = family.chooses  # who does not is never asked for parameters
            found, pooled = (mine.part([j]), ours.part([j])) if searched else (None, None)
            yield ColumnLeftOut(family, found, pooled, part.part([j]), one), place


@dataclass(frozen=True)
class Params:
    own: tuple  # of the product, by class
    shared: tuple  # and of all classes as one
    log_in: np.ndarray  # (d,), log π
    log_out: np.ndarray  # (d,), log (1 − π)


@dataclass(frozen=True)
class SubsetAverage(Family):
    product: Product
    prior: tuple[float, ...]  # probability that a column matters, before any row was seen
    block, support = "mixed", "real"

    def row_width(self, k: int) -> int:
        return k * self.product.d

    def tally(self, x: Mixed, y, w, k: int) -> Bundle:
        return self.product.tally(x, y, w, k)

    def estimate(self, t: Bundle) -> Params:
        own = self.product.estimate(t)
        both = evidences(self.product, own, t) + self._log_prior()
        whole = np.logaddexp(*both)
        return Params(own, shared(self.product, own, t), *(both - whole))

    def _log_prior(self) -> np.ndarray:
        """log of the prior probabilities of in and out, (2, d)."""
        prior = np.array(self.prior)
        with np.errstate(divide="ignore"):
            return np.log(np.stack([prior, 1.0 - prior]))

    def loglik(self, p: Params, x: Mixed) -> np.ndarray:
        return self.parts(p, x).sum(axis=2)

    def parts(self, p: Params, x: Mixed) -> np.ndarray:
        own, alike = self.product.parts(p.own, x), self.product.parts(p.shared, x)
        return mixed(own, alike, p.log_in, p.log_out)

    def carrier(self, p: Params, x: Mixed) -> np.ndarray:
        return self.product.carrier(p.own, x)

    def leave_one_out(self, p: Params, t: Bundle, x: Mixed, y, w) -> np.ndarray:
        n, k, d = x.n, t.k, self.product.d
        own, alike, odds = np.zeros((n, k, d)), np.zeros((n, 1, d)), np.zeros((n, d))
        prior = self._log_prior()
        for one, at in columns_left_out(self.product, p.own, p.shared, t, x):
            own[:, :, at] += one.by_class(y, w)
            alike[:, :, at] += one.by_all(w)
            odds[:, at] += one.odds(y, w)
        odds += prior[0] - prior[1]
        return mixed(own, alike, -np.logaddexp(0.0, -odds[:, None, :]), -np.logaddexp(0.0, odds[:, None, :])).sum(
            axis=2
        )

    def evidence(self, t: Bundle) -> np.ndarray:
        """log of the average of the evidences of all subsets, (1,)."""
        for f in self.product.factors:
            if not hasattr(f, "evidence"):
                raise AttributeError(
                    f"{type(f).__name__} has no evidence in closed form\n\n"
                    "hint: name families that have, such as {'size': 'student'}"
                )
        both = evidences(self.product, self.product.estimate(t), t) + self._log_prior()
        return np.logaddexp(*both).sum(keepdims=True)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return self.product.grid(p.own, k)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Whether a column speaks of the class is drawn for each row: its density is that mixture."""
        matters = rng.random((len(y), self.product.d)) < np.exp(p.log_in)
        own = self.product.sample(p.own, y, rng)
        alike = self.product.sample(p.shared, np.zeros_like(y), rng)
        return [np.where(matters[:, list(at)], a, b) for a, b, at in zip(own, alike, self.product.columns, strict=True)]


def mixed(own: np.ndarray, alike: np.ndarray, log_in: np.ndarray, log_out: np.ndarray) -> np.ndarray:
    """log (π e^own + (1 − π) e^alike); exactly their own where both are the same, as of a missing cell."""
    return np.where(own == alike, own, np.logaddexp(own + log_in, alike + log_out))
