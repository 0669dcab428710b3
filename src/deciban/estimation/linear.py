"""Scores that are linear in x, or in columns made of x.

`Linear` are the parameters of every family whose log likelihood is linear in x (or in [x > above]).

log p(x | c) = Σ_j (share[c, j] + coef[c, j] x_j). A coefficient of −∞ (a probability of exactly 0) cannot be multiplied
by x = 0, so impossible cells are counted apart, in `veto`: one of them makes the row impossible, none changes nothing.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> p = Linear.of(np.log([[0.5, 0.5], [1.0, 1e-300]]), np.zeros((2, 2)))
>>> p.loglik(Reals(np.array([[2.0, 0.0]]))).round(2).tolist()
[[-1.39, 0.0]]

`LinearScores` are the scores of a posterior that is a logistic function of a design: its columns (`Term`) are cells,
products of two cells, and whether a cell is above a number or is a level.

>>> cells = np.array([[2.0, 1.0]])
>>> Term((0, 1)).values(cells).tolist(), Term((1,), level=1, levels=2).values(cells).tolist()
([2.0], [1.0])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError, SupportError
from deciban.ops.packed import Packed


@dataclass(frozen=True)
class Linear:
    coef: Packed  # (k, d)
    bias: np.ndarray  # (k,)
    share: np.ndarray | None  # (k, d): the part of the bias that belongs to each column; None: all 0
    veto: Linear | None = None

    @classmethod
    def of(cls, present: np.ndarray, absent: np.ndarray | None = None) -> Linear:
        """From what x_j = 1 and x_j = 0 add to the log likelihood, (k, d) each; −∞ is welcome."""
        finite = np.isfinite(present.sum()) and (absent is None or np.isfinite(absent.sum()))
        if finite:
            if absent is None:
                return cls(Packed.of(present), np.zeros(len(present)), None)
            return cls(Packed.of(present - absent), absent.sum(axis=1), absent)
        zero = np.zeros_like(present)
        absent = zero if absent is None else absent
        never1, never0 = np.isneginf(present), np.isneginf(absent)
        if not (np.isfinite(present) | never1).all() or not (np.isfinite(absent) | never0).all():
            raise SupportError(
                "log probabilities of this model are no numbers: its sums or settings are too large for float64\n\n"
                "hint: fit it on columns divided by a power of ten"
            )
        veto = cls.of(never1.astype(np.float64), never0.astype(np.float64))
        plain = cls.of(np.where(never1, 0.0, present), np.where(never0, 0.0, absent))
        return cls(plain.coef, plain.bias, plain.share, veto)

    def present(self) -> np.ndarray:
        """What x_j = 1 adds to the log likelihood, (k, d)."""
        out = self.coef.table if self.share is None else self.coef.table + self.share
        return out if self.veto is None else np.where(self.veto.present() > 0, -np.inf, out)

    def loglik(self, x: Reals | Counts, above: float | None = None) -> np.ndarray:
        out = ops.affine(x, self.coef, self.bias, self.share, above)
        if self.veto is not None:
            out[self.veto.loglik(x, above) > 0] = -np.inf
        return out

    def parts(self, x: Reals | Counts, above: float | None = None) -> np.ndarray:
        """loglik by column, (n, k, d)."""
        cells = x.dense()
        if above is not None:
            cells = np.where(np.isnan(cells), cells, cells > above)
        missing = np.isnan(cells)[:, None, :]
        cells = np.nan_to_num(cells)[:, None, :]
        share = 0.0 if self.share is None else self.share
        out = np.where(missing, 0.0, cells * self.coef.table + share)
        if self.veto is not None:
            out[self.veto.parts(x, above) > 0] = -np.inf
        return out

    def scores(self, above: float | None) -> LinearScores:
        """The log likelihood as a linear function."""
        if self.veto is not None:
            raise zero_probabilities()
        coef = self.coef.table
        share = np.zeros_like(coef) if self.share is None else self.share
        return LinearScores(coef, self.bias, share, above=above)


def zero_probabilities() -> DataError:
    """The error for coefficients that are not finite."""
    return DataError(
        "some probabilities are exactly 0, so their logs are −∞\n\nhint: smooth them (`alpha=1`), fit again"
    )


@dataclass(frozen=True)
class Term:
    """A column of a design."""

    places: tuple[int, ...]  # of the cells in their block: one, or two whose product it is
    above: float | None = None  # 1 where the cell is above it, else 0
    level: int | None = None  # 1 where the cell is this level, else 0
    levels: int = 0  # number of levels
    block: int = 0  # of rows in several blocks
    columns: tuple[int, ...] = ()  # of the cells in the table; (): the places

    def values(self, cells: np.ndarray) -> np.ndarray:
        """The column (n,), from all cells of the block; NaN where a cell is missing."""
        x = cells[:, self.places[0]]
        if self.level is not None:
            return np.where((x < 0) | (x >= self.levels), np.nan, x == self.level)
        if self.above is not None:
            return np.where(np.isnan(x), np.nan, x > self.above)
        return x * cells[:, self.places[1]] if len(self.places) == 2 else x


@dataclass(frozen=True)
class LinearScores:
    """bias[c] + Σ_j coef[c, j] · column j of the design; a missing cell takes back its share of the bias."""

    coef: np.ndarray  # (k, columns)
    bias: np.ndarray  # (k,)
    share: np.ndarray | None = None  # (k, columns); None: columns interact, so that no part of the bias is theirs
    terms: tuple[Term, ...] | None = None  # None: the cells themselves, or whether they are above `above`
    above: float | None = None

    def cell_order(self) -> np.ndarray | None:
        """The columns of the design in the order of the cells; None: they are not the cells themselves."""
        if self.terms is None:
            return np.arange(self.coef.shape[1])
        plain = all(len(one.places) == 1 and one.above is None and one.level is None for one in self.terms)
        order = np.argsort([(one.columns or one.places)[0] for one in self.terms])
        return order if plain and len({one.columns or one.places for one in self.terms}) == len(self.terms) else None

    def scaled(self, scale: Any, bias: np.ndarray) -> LinearScores:
        """scale · scores + bias."""
        share = None if self.share is None else scale * self.share
        return replace(self, coef=scale * self.coef, bias=scale * self.bias + bias, share=share)

    def taken(self, classes: list[int]) -> LinearScores:
        """The scores of some classes."""
        share = None if self.share is None else self.share[classes]
        return replace(self, coef=self.coef[classes], bias=self.bias[classes], share=share)

    def difference(self) -> LinearScores:
        """The second of two scores less the first."""
        a, b = self.taken([0]), self.taken([1])
        share = None if a.share is None or b.share is None else b.share - a.share
        return replace(self, coef=np.ascontiguousarray(b.coef - a.coef), bias=b.bias - a.bias, share=share)

    def explicit_terms(self) -> tuple[Term, ...]:
        """The terms, of cells too."""
        if self.terms is not None:
            return self.terms
        return tuple(Term((j,), self.above) for j in range(self.coef.shape[1]))

    @classmethod
    def product(cls, factors: list[LinearScores], columns: tuple[tuple[int, ...], ...]) -> LinearScores:
        """The sum of scores, each of its own block of rows and columns of the table."""
        terms = [
            replace(term, block=b, columns=tuple(at[j] for j in term.places))
            for b, (one, at) in enumerate(zip(factors, columns, strict=True))
            for term in one.explicit_terms()
        ]
        shares = [one.share for one in factors if one.share is not None]
        share = np.hstack(shares) if len(shares) == len(factors) else None
        bias = np.sum([one.bias for one in factors], axis=0)
        return cls(np.hstack([one.coef for one in factors]), bias, share, tuple(terms))


def quadratic_terms(d: int, products: bool) -> tuple[Term, ...]:
    """The cells, then their squares and, row by row, the products of two cells."""
    pairs = [(i, j) for i in range(d) for j in range(i, d if products else i + 1)]
    return tuple(Term(places) for places in [*((j,) for j in range(d)), *pairs])
