"""Whether a column depends on the class: the evidence for and against, by column, and what all classes share.

Evidences are closed: Dirichlet for levels (and for the intervals of a histogram, whose cuts were looked for and cost
the logarithm of their number), normal–inverse-gamma for normal columns and their logarithms, gamma for counts. An alpha
that is left to the rows is averaged over its grid: the one that foretells rows best may be a tiny one, under which each
level that does occur is a surprise. A column's family is the same either way, so whatever does not depend on the class
(the `carrier`) cancels, and is left out.

>>> import numpy as np
>>> from deciban.families.categorical import Categorical
>>> from deciban.table import Codes
>>> f, codes = Categorical(), Codes(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4))
>>> t = f.tally(codes, np.array([0, 0, 1, 1] * 4, dtype=np.int32), None, 2)
>>> np.subtract(*evidences(f, None, t)).round(2).tolist()  # nats: the first column is the class, the second is not
[7.9, -0.6]
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import gammaln

from deciban.dirichlet import GRID, best_alpha, log_evidence, log_shares
from deciban.errors import DataError
from deciban.families.best_of import BestOf
from deciban.families.categorical import Categorical
from deciban.families.gamma_poisson import GammaPoisson
from deciban.families.gaussian import Gaussian
from deciban.families.histogram import Histogram
from deciban.families.lognormal import Lognormal
from deciban.families.poisson import Poisson
from deciban.families.student import Student
from deciban.packed import Packed
from deciban.product import Product
from deciban.tallies import Bundle, Cells, Crosstab
from deciban.tallies.base import column

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
def _(family: Histogram, p: Any, t: Cells) -> np.ndarray:
    return _of_levels(p.counts, p.offset, alphas(family)) - np.stack([ways(family, p, t), np.zeros(len(p.cuts))])


def alphas(family: Categorical | Histogram) -> np.ndarray:
    """The pseudo-counts that evidence is averaged over."""
    return GRID if isinstance(family.alpha, str) else np.array([family.alpha], dtype=np.float64)


def _of_levels(counts: np.ndarray, offset: np.ndarray, grid: np.ndarray) -> np.ndarray:
    pooled = counts.sum(axis=0, keepdims=True)
    return np.stack([mean([log_evidence(c, offset, a).sum(axis=0) for a in grid]) for c in (counts, pooled)])


def mean(terms: list[np.ndarray]) -> np.ndarray:
    """log of the mean of exponentials, over the first axis."""
    return np.logaddexp.reduce(terms, axis=0) - np.log(len(terms))


def ways(family: Histogram, p: Any, t: Cells) -> np.ndarray:
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
