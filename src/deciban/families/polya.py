"""Word counts of a Pólya urn: each occurrence of a word makes its next one more probable.

The multinomial's θ is averaged out instead of estimated. With a = total + alpha and A = Σ a over the columns that are
not missing, N = Σ x:  log p(x | c) = log Γ(A) − log Γ(A + N) + Σ_j log Γ(a_j + x_j) − log Γ(a_j), words in their order.
Tally: `Sums`, as `multinomial`. Repeated words count for less than in the multinomial.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> f = Polya(alpha=1.0)
>>> t = f.tally(Reals(np.array([[1.0, 0.0]])), np.zeros(1, dtype=np.int32), None, 1)
>>> np.exp(f.loglik(f.estimate(t), Reals(np.array([[2.0, 0.0]])))).round(4).tolist()  # 2/3 · 3/4
[[0.5]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
from deciban.estimation.family import Family
from deciban.estimation.leave_one_out import remaining, row_totals, set_own
from deciban.tallies import Sums
from deciban.tallies.basic import column, divide


@dataclass(frozen=True)
class Params:
    mass: np.ndarray  # (k, d), a
    log_mass: np.ndarray  # (k, d), log Γ(a)
    length: np.ndarray  # (k,), mean number of words per row


@dataclass(frozen=True)
class Polya(Family):
    alpha: float | np.ndarray = 1.0
    block, support = "counts", "count"
    separate = True
    measure = "words in their order"
    columnwise = False  # a joint density of all columns
    has_parts = False

    def tally(self, x: Reals | Counts, y, w, k: int) -> Sums:
        return ops.sums(x, y, w, k)

    def estimate(self, t: Sums) -> Params:
        if not np.min(self.alpha) > 0:
            raise DataError("`alpha` is 0, so words that were not seen have no probability\n\nhint: use alpha > 0")
        mass = t.total + self.alpha
        length = divide(t.total, np.broadcast_to(column(t.n), t.total.shape)).sum(axis=1)
        return Params(mass, gammaln(mass), length)

    def loglik(self, p: Params, x: Reals | Counts) -> np.ndarray:
        words, row, col, v, missing = _stored(x)
        out = np.empty((x.n, len(p.mass)))
        for c, mass in enumerate(p.mass):
            balls = mass.sum() - np.bincount(row[missing], mass[col[missing]], minlength=x.n)
            terms = np.where(missing, 0.0, gammaln(mass[col] + v) - p.log_mass[c, col])
            out[:, c] = np.bincount(row, terms, minlength=x.n) + _whole(balls, words)
        return out

    def leave_one_out(self, t: Sums, x: Reals | Counts, y, w, p=None) -> np.ndarray:
        p = self.estimate(t)
        out = self.loglik(p, x)
        words, row, col, v, missing = _stored(x)
        taken = np.ones(x.n) if w is None else w
        hidden = np.bincount(row[missing], p.mass[y[row[missing]], col[missing]], minlength=x.n)
        balls = p.mass.sum(axis=1)[y] - words * taken - hidden
        alpha = np.broadcast_to(self.alpha, x.d)
        mass = remaining(t.total[y[row], col], v * taken[row]) + alpha[col]
        terms = np.where(missing, 0.0, gammaln(mass + v) - gammaln(mass))
        set_own(out, y, np.bincount(row, terms, minlength=x.n) + _whole(balls, words))
        return out

    def evidence(self, t: Sums) -> np.ndarray:
        """log marginal likelihood (k,) of each class's words in their order: that of the multinomial."""
        p = self.estimate(t)
        alpha = np.broadcast_to(self.alpha, t.total.shape[1])
        terms = p.log_mass - gammaln(alpha)
        return terms.sum(axis=1) + gammaln(alpha.sum()) - gammaln(p.mass.sum(axis=1))

    def sample(self, p: Params, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows whose number of words is Poisson with the class's mean length; each row draws its own θ."""
        shares = rng.standard_gamma(p.mass[y]) + 1e-300
        shares /= shares.sum(axis=1, keepdims=True)
        return rng.multinomial(rng.poisson(p.length[y]), shares).astype(np.float64)


def _stored(x: Reals | Counts) -> tuple[np.ndarray, ...]:
    """(words of each row; row, column and count of each cell that is not 0; whether it is missing)"""
    if isinstance(x, Counts):
        row, col, v = x.row_of(), x.column_of(), np.asarray(x.stored, dtype=np.float64)
    else:
        row, col = np.nonzero(x.values)  # NaN is not 0
        v = np.asarray(x.values[row, col], dtype=np.float64)
    return row_totals(x), row, col, np.nan_to_num(v), np.isnan(v)


def _whole(balls: np.ndarray, words: np.ndarray) -> np.ndarray:
    """log Γ(A) − log Γ(A + N); 0 for a row without words."""
    safe = np.where(words > 0, balls, 1.0)
    return gammaln(safe) - gammaln(safe + words)


FAMILY = Polya
