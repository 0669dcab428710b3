"""The parameters of every family whose log likelihood is linear in x (or in [x > above]).

log p(x | c) = Σ_j (share[c, j] + coef[c, j] x_j). A coefficient of −∞ (a probability of exactly 0) cannot be multiplied
by x = 0, so impossible cells are counted apart, in `veto`: one of them makes the row impossible, none changes nothing.

>>> import numpy as np
>>> from deciban.data.blocks import Reals
>>> p = Linear.of(np.log([[0.5, 0.5], [1.0, 1e-300]]), np.zeros((2, 2)))
>>> p.loglik(Reals(np.array([[2.0, 0.0]]))).round(2).tolist()
[[-1.39, 0.0]]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deciban import ops
from deciban.data.blocks import Counts, Reals
from deciban.errors import DataError
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

    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """(coef, bias) of the log likelihood as a linear function."""
        if self.veto is not None:
            raise DataError(
                "some probabilities are exactly 0, so their logs are −∞\n\nhint: smooth them (`alpha=1`), fit again"
            )
        return self.coef.table, self.bias
