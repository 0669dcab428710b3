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
>>> from deciban.product import Product
>>> from deciban.table import Codes, Mixed
>>> codes, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 4), np.array([0, 0, 1, 1] * 4, dtype=np.int32)
>>> f = Subsets(Product((Categorical(),), ((0, 1),), 2), (0.5, 0.5))
>>> x = Mixed((Codes(codes),), 16)
>>> np.exp(f.estimate(f.tally(x, y, None, 2)).log_in).round(3).tolist()  # the first is the class, the second is not
[1.0, 0.355]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban.product import Product
from deciban.subsets.evidence import evidences, shared
from deciban.subsets.left_out import leaves
from deciban.table import Mixed
from deciban.tallies import Bundle


@dataclass(frozen=True)
class Params:
    own: tuple  # of the product, by class
    shared: tuple  # and of all classes as one
    log_in: np.ndarray  # (d,), log π
    log_out: np.ndarray  # (d,), log (1 − π)


@dataclass(frozen=True)
class Subsets:
    product: Product
    prior: tuple[float, ...]  # probability that a column matters, before any row was seen
    block, support = "mixed", "real"

    def width(self, prior: np.ndarray) -> int:
        """Numbers that a scored row needs."""
        return len(prior) * self.product.d

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
        for one, at in leaves(self.product, p.own, p.shared, t, x):
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

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Whether a column speaks of the class is drawn for each row: its density is that mixture."""
        matters = rng.random((len(y), self.product.d)) < np.exp(p.log_in)
        own = self.product.sample(p.own, y, rng)
        alike = self.product.sample(p.shared, np.zeros_like(y), rng)
        return [np.where(matters[:, list(at)], a, b) for a, b, at in zip(own, alike, self.product.columns, strict=True)]


def mixed(own: np.ndarray, alike: np.ndarray, log_in: np.ndarray, log_out: np.ndarray) -> np.ndarray:
    """log (π e^own + (1 − π) e^alike); exactly their own where both are the same, as of a missing cell."""
    return np.where(own == alike, own, np.logaddexp(own + log_in, alike + log_out))
