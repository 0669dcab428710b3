"""Naive Bayes averaged over all 2^d subsets of its columns, in linear time (Dash and Cooper 2002).

A subset is the set of columns that depend on the class; the others have one density for all classes. The marginal
likelihood is a product over columns, so the posterior of subsets is too, and so is the average of 2^d models:

    p(x, c) = P(c) Π_j [ π_j p(x_j | c) + (1 − π_j) p(x_j) ]
    π_j / (1 − π_j) = prior odds · Π_c p(column j of class c) / p(column j of all rows)

π_j is the posterior probability that column j depends on the class; `estimation.dependence` computes the marginal
likelihoods. A missing cell is no evidence.

Leave-one-out takes the row out of the marginal likelihoods too: π is that of the other rows. An alpha or cuts chosen
from all rows stay.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.composites.product import Product
>>> from deciban.data.blocks import Codes, Mixed
>>> codes, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4), np.array([0, 0, 1, 1] * 4, dtype=np.int32)
>>> f = SubsetAverage(Product((Categorical(),), ((0, 1),), 2), (0.5, 0.5))
>>> x = Mixed((Codes(codes),), 16)
>>> np.exp(f.estimate(f.tally(x, y, None, 2)).log_in).round(3).tolist()  # the first is the class, the second is not
[1.0, 0.355]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.composites import best_of
from deciban.composites.best_of import BestOf
from deciban.composites.product import Product
from deciban.data.blocks import Codes, Mixed, Reals
from deciban.estimation.family import Family
from deciban.tallies import Bundle


@dataclass(frozen=True)
class ColumnLeftOut:
    """One column: its family, cells, tally, and parameters by class and of all classes as one."""

    family: Any
    own: Any
    alike: Any
    t: Any
    x: Reals | Codes

    def by_class(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """log p(x | c) (n, k), each row left out."""
        return self.family.leave_one_out(self.t, self.x, y, w, **self._known(self.own))

    def by_all(self, w: np.ndarray | None) -> np.ndarray:
        """log p(x) (n, 1), each row left out."""
        known = self._known(self.alike)
        return self.family.leave_one_out(self.t if known else self.t.collapse(), self.x, _one_class(self.x), w, **known)

    def odds(self, y: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Log Bayes factor that the column depends on the class, each row left out, (n,)."""
        weight = np.ones(self.x.n) if w is None else w
        return self.family.dependence_left_out(self.t, self.own, self.x, y, weight)

    def _known(self, p: Any) -> dict[str, Any]:
        return {"p": p} if self.family.chooses else {}


def _one_class(x: Reals | Codes) -> np.ndarray:
    return np.zeros(x.n, dtype=np.int32)


def columns_left_out(
    product: Product, own: tuple, alike: tuple, t: Bundle, x: Mixed
) -> Iterator[tuple[ColumnLeftOut, int]]:
    """Every column of every factor, and its column number in the table."""
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
            searched = family.chooses  # only these families take parameters in leave_one_out
            found, pooled = (mine.part([j]), ours.part([j])) if searched else (None, None)
            yield ColumnLeftOut(family, found, pooled, part.part([j]), one), place


@dataclass(frozen=True)
class Params:
    own: tuple  # parameters of the product, by class
    shared: tuple  # parameters of all classes as one
    log_in: np.ndarray  # (d,), log π
    log_out: np.ndarray  # (d,), log (1 − π)


@dataclass(frozen=True)
class SubsetAverage(Family):
    product: Product
    prior: tuple[float, ...]  # prior probability that a column depends on the class
    block, support = "mixed", "real"

    def row_width(self, k: int) -> int:
        return k * self.product.d

    def tally(self, x: Mixed, y, w, k: int) -> Bundle:
        return self.product.tally(x, y, w, k)

    def estimate(self, t: Bundle) -> Params:
        own = self.product.estimate(t)
        both = self.product.evidence_by_column(t, own) + self._log_prior()
        whole = np.logaddexp(*both)
        return Params(own, self.product.pooled(t, own), *(both - whole))

    def _log_prior(self) -> np.ndarray:
        """log prior probability that each column is in the subset, and that it is not, (2, d)."""
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

    @property
    def factorises(self) -> bool:
        return False  # a factor is an average of two

    def quotients(self, t: Bundle, p: Params) -> list[Any]:
        return self.product.quotients(t, p.own)

    def estimates(self, p: Params) -> dict[str, np.ndarray]:
        return self.product.estimates(p.own)

    def leave_one_out(self, t: Bundle, x: Mixed, y, w, p: Params | None = None) -> np.ndarray:
        p = self.estimate(t) if p is None else p
        x, lone = self.product.without_lone(t, x, y, w)
        n, k, d = x.n, t.k, self.product.d
        own, alike, odds = np.zeros((n, k, d)), np.zeros((n, 1, d)), np.zeros((n, d))
        prior = self._log_prior()
        for one, at in columns_left_out(self.product, p.own, p.shared, t, x):
            own[:, :, at] += one.by_class(y, w)
            alike[:, :, at] += one.by_all(w)
            odds[:, at] += one.odds(y, w)
        odds += prior[0] - prior[1]
        inside, outside = -np.logaddexp(0.0, -odds[:, None, :]), -np.logaddexp(0.0, odds[:, None, :])
        out = mixed(own, alike, inside, outside).sum(axis=2)
        out[lone] = np.nan  # removing the level changes the evidence: refit
        return out

    def evidence(self, t: Bundle) -> np.ndarray:
        """log of the average marginal likelihood of all subsets, (1,)."""
        self.product.evidence(t)  # raises if a factor has none
        both = self.product.evidence_by_column(t, self.product.estimate(t)) + self._log_prior()
        return np.logaddexp(*both).sum(keepdims=True)

    def grid(self, p: Params, k: int) -> list[np.ndarray]:
        return self.product.grid(p.own, k)

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Samples of the mixture: whether a column depends on the class is drawn for each row."""
        matters = rng.random((len(y), self.product.d)) < np.exp(p.log_in)
        own = self.product.sample(p.own, y, rng)
        alike = self.product.sample(p.shared, np.zeros_like(y), rng)
        return [np.where(matters[:, list(at)], a, b) for a, b, at in zip(own, alike, self.product.columns, strict=True)]


def mixed(own: np.ndarray, alike: np.ndarray, log_in: np.ndarray, log_out: np.ndarray) -> np.ndarray:
    """log (π e^own + (1 − π) e^alike); exactly `own` where both are equal, as for a missing cell."""
    return np.where(own == alike, own, np.logaddexp(own + log_in, alike + log_out))
